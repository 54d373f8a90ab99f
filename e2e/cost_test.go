//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// What a Bash call costs on the real host: without a hook, with one that is an empty
// program, with one that is an empty Go program (what the language costs before a line
// of ours runs), and with ours. The plugin starts one process for a command that ends
// well (TestNewest_Row7_OneProcessPerCommand), so one session can have them all: the
// host starts a hook only for the commands that its `if` names. They come in a mixed
// order, because the host has a rhythm of its own and whatever comes in step with it
// looks slow. A call is the time from one request of the host to the next, and the
// middle of all tells. `make bench` asks for it.
func TestCostOfABashCall(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_HOST"))
	if rounds == 0 {
		t.Skip("OVERTONE_BENCH_HOST is the number of runs of 70 calls of each kind")
	}
	const calls = 70
	kinds := []struct{ name, command, hook string }{
		{"without hooks", "true none", ""},
		{"one empty program", "true empty", `"command":"true","args":[]`},
		{"an empty Go program", "true go", fmt.Sprintf(`"command":%q,"args":[]`, emptyGo(t))},
		{"with hooks", "true ours", `"command":"overtone-hook","args":["pre-tool-use","--host","claude-code"]`},
	}
	var hooks []string
	for _, k := range kinds {
		if k.hook != "" {
			hooks = append(hooks, fmt.Sprintf(`{"type":"command","if":"Bash(%s)",%s,"timeout":10}`, k.command, k.hook))
		}
	}
	took := make([][]time.Duration, len(kinds))
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			order := rand.New(rand.NewPCG(uint64(round), 0)).Perm(calls * len(kinds))
			p := &Play{}
			for _, n := range order {
				p.Main = append(p.Main, call(bash(kinds[n%len(kinds)].command)))
			}
			var last time.Time
			n := 0
			w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
				if r.Kind == mockapi.Main {
					if now := time.Now(); !last.IsZero() {
						k := order[n] % len(kinds)
						took[k] = append(took[k], now.Sub(last))
						n++
					}
					last = time.Now()
				}
				return p.Handle(r)
			})
			w.API.AtOnce = true
			w.Plugin = costPlugin(t, `{"PreToolUse":[{"matcher":"Bash","hooks":[`+strings.Join(hooks, ",")+`]}]}`)
			w.Limit = 10 * time.Minute
			if r := w.Prompt("go").Result(); r.Text != "DONE" {
				t.Fatalf("result %+v", r)
			}
		})
	}
	middle := func(k int) float64 {
		list := slices.Sorted(slices.Values(took[k]))
		return float64(list[len(list)/2].Microseconds()) / 1000
	}
	added := func(k int) float64 { return middle(k) - middle(0) }
	for i, k := range kinds {
		fmt.Printf("Claude Code %s, %d Bash calls, %-22s %6.1f ms a call, %+.1f\n", Newest(t), calls, k.name+":", middle(i), added(i))
	}
	fmt.Printf("Claude Code %s, %d Bash calls, hooks in empty programs: %.2f\n", Newest(t), calls, added(3)/added(1))
	fmt.Printf("Claude Code %s, %d Bash calls, hooks in empty Go programs: %.2f\n", Newest(t), calls, added(3)/added(2))
}

// emptyGo builds a Go program that does nothing.
func emptyGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "empty")
	build := exec.Command("go", "build", "-o", program, "main.go")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// costPlugin is a plugin that has these hooks and nothing else.
func costPlugin(t *testing.T, hooks string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": `{"name":"empty","version":"0.1.0","description":"nothing"}`,
		"hooks/hooks.json":           `{"hooks":` + hooks + `}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pace is a model that calls the shell again and again, and takes the time from one
// request to the next.
type pace struct {
	calls, left int
	last        time.Time
	took        []time.Duration
}

// next reports whether the model calls once more.
func (p *pace) next() bool {
	now := time.Now()
	if !p.last.IsZero() {
		p.took = append(p.took, now.Sub(p.last))
	}
	if p.left--; p.left < 0 {
		p.last = time.Time{}
		return false
	}
	p.last = time.Now()
	return true
}

// shells are the hosts beside Claude Code: each starts an agent, with our hooks or
// without, and gives what sends it a prompt.
var shells = []struct {
	name  host.Name
	start func(t *testing.T, ours bool, p *pace) (turn func())
}{
	{host.Codex, func(t *testing.T, ours bool, p *pace) func() {
		script := func(codexmock.Request) codexmock.Reply {
			if p.next() {
				return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": "true"}}}, Tokens: 1_000}
			}
			return codexmock.Reply{Message: "Noted.", Tokens: 1_000}
		}
		var u *User
		if ours {
			u = newHookedCodex(t, script, "", "suggest").User()
		} else {
			w := NewCodexWorld(t, script, Unattended)
			w.Ready()
			u = w.User()
		}
		return func() { u.AwaitTurn(u.Say("go")) }
	}},
	{host.Copilot, func(t *testing.T, ours bool, p *pace) func() {
		c := newCopilot(t, func(*mockapi.Request) mockapi.Reply {
			if p.next() {
				return mockapi.Calls(tool("bash", map[string]any{"command": "true", "description": "nothing"}))
			}
			return mockapi.Text("Noted.")
		})
		if ours {
			c.exec("overtone", "init", "--host", "copilot", "--yes")
		}
		return func() { c.ask("go") }
	}},
	{host.Opencode, func(t *testing.T, ours bool, p *pace) func() {
		s := newOpencode(t, p.speak("bash"))
		if ours {
			s.exec("", "overtone", "init", "--host", "opencode", "--yes")
		}
		o := s.serve()
		id := o.session()
		return func() { o.say(id, "go") }
	}},
	{host.Gemini, func(t *testing.T, ours bool, p *pace) func() {
		s := newGemini(t, p.speak("run_shell_command"))
		if ours {
			s.exec("", "overtone", "init", "--host", "gemini", "--yes")
		}
		return func() { s.prompt("go") }
	}},
}

func (p *pace) speak(tool string) func(*heard) spoken {
	return func(r *heard) spoken {
		if !r.Bare && p.next() {
			// Gemini CLI takes the same call again and again for a loop.
			return callTool(tool, map[string]any{"command": "true " + strconv.Itoa(p.left), "description": "nothing"}, 1_000)
		}
		return speak("Noted.", 1_000)
	}
}

// What a shell command costs on the other hosts, with our hooks and without: two agents
// of each take turns, and the first turn of each only warms it up. The middle of all
// calls tells. `make bench` asks for it.
func TestCostOfAShellCall(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_HOST"))
	if rounds == 0 {
		t.Skip("OVERTONE_BENCH_HOST is the number of turns of 25 calls of each kind")
	}
	const calls = 25 // Gemini CLI asks its model after thirty whether it runs in circles
	for _, h := range shells {
		t.Run(string(h.name), func(t *testing.T) {
			var both [2]*pace
			var turns [2]func()
			for i := range both {
				both[i] = &pace{}
				turns[i] = h.start(t, i == 1, both[i])
			}
			for round := range rounds + 1 {
				for n := range both {
					p := both[(round+n)%2]
					p.left, p.last = calls, time.Time{}
					if turns[(round+n)%2](); round == 0 {
						p.took = nil
					}
				}
			}
			versions, err := underTest(h.name)
			if err != nil {
				t.Fatal(err)
			}
			middle := func(i int) float64 {
				list := slices.Sorted(slices.Values(both[i].took))
				if len(list) < rounds*calls {
					t.Fatalf("%d calls, want %d", len(list), rounds*calls)
				}
				return float64(list[len(list)/2].Microseconds()) / 1000
			}
			for i, kind := range []string{"without hooks:", "with hooks:"} {
				fmt.Printf("%s %s, %d shell calls, %-14s %6.1f ms a call, %+.1f\n", host.Of(h.name).Title, versions[0], calls, kind, middle(i), middle(i)-middle(0))
			}
		})
	}
}
