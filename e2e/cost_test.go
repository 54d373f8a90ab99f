//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// What a Bash call costs on the real host, without a hook, with one that is an empty
// program, with ours told to do nothing (OVERTONE_DISABLE), and with ours. The plugin
// starts one process for a command that ends well (TestNewest_Row7_OneProcessPerCommand),
// so one session can have them all in turn, each call under the load of its
// neighbours: the host starts a hook only for the commands that its `if` names. A
// call is the time from one request of the host to the next, and the middle of all
// tells. `make bench` asks for it.
func TestCostOfABashCall(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_HOST"))
	if rounds == 0 {
		t.Skip("OVERTONE_BENCH_HOST is the number of runs of 70 calls of each kind")
	}
	const calls = 70
	kinds := []struct{ name, command, hook string }{
		{"without hooks", "true none", ""},
		{"one empty program", "true empty", `"command":"true","args":[]`},
		{"hooks that do nothing", "true disabled", `"command":"overtone","args":["hook","pre-tool-use","--host","claude-code"]`},
		{"with hooks", "true ours", `"command":"overtone","args":["hook","pre-tool-use","--host","claude-code"]`},
	}
	took := map[string][]time.Duration{}
	for range rounds {
		for _, disabled := range []bool{false, true} {
			t.Run(fmt.Sprintf("disabled=%v", disabled), func(t *testing.T) {
				var hooks string
				var mine []string // the names of this session's calls, in turn
				p := &Play{}
				for _, k := range kinds {
					if (k.name == "hooks that do nothing") != disabled && k.name != "without hooks" && k.name != "one empty program" {
						continue
					}
					mine = append(mine, k.name)
					if k.hook != "" {
						hooks += fmt.Sprintf(`,{"type":"command","if":"Bash(%s)",%s,"timeout":10}`, k.command, k.hook)
					}
				}
				for n := range calls * len(mine) {
					name := mine[n%len(mine)]
					i := slices.IndexFunc(kinds, func(k struct{ name, command, hook string }) bool { return k.name == name })
					p.Main = append(p.Main, call(bash(kinds[i].command)))
				}
				var last time.Time
				n := 0
				w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
					if r.Kind == mockapi.Main {
						if now := time.Now(); !last.IsZero() {
							name := mine[n%len(mine)]
							took[name] = append(took[name], now.Sub(last))
							n++
						}
						last = time.Now()
					}
					return p.Handle(r)
				})
				w.Plugin = costPlugin(t, `{"PreToolUse":[{"matcher":"Bash","hooks":[`+hooks[1:]+`]}]}`)
				w.Limit = 10 * time.Minute
				if disabled {
					w.Setenv("OVERTONE_DISABLE", "1")
				}
				if r := w.Prompt("go").Result(); r.Text != "DONE" {
					t.Fatalf("result %+v", r)
				}
			})
		}
	}
	middle := func(name string) float64 {
		list := slices.Sorted(slices.Values(took[name]))
		return float64(list[len(list)/2].Microseconds()) / 1000
	}
	added := func(name string) float64 { return middle(name) - middle(kinds[0].name) }
	for _, k := range kinds {
		fmt.Printf("Claude Code %s, %d Bash calls, %-22s %6.1f ms a call, %+.1f\n", Newest(t), calls, k.name+":", middle(k.name), added(k.name))
	}
	fmt.Printf("Claude Code %s, %d Bash calls, hooks in empty programs: %.2f\n", Newest(t), calls, added("with hooks")/added("one empty program"))
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
