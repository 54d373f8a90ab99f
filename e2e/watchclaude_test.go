//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// claudeMind commits when asked to work and fills its context with it.
func claudeMind(r *mockapi.Request) mockapi.Reply { return claudeSays("The slice is in place.")(r) }

// claudeSays is claudeMind with other last words.
func claudeSays(said string) mockapi.Handler {
	return func(r *mockapi.Request) mockapi.Reply { return claudeWork(r, said) }
}

func claudeWork(r *mockapi.Request, said string) mockapi.Reply {
	switch last := r.Last(); {
	case r.Kind == mockapi.Summary:
		return mockapi.Text("<summary>SUMMARY OF THE WORK</summary>").Tokens(142_000)
	case r.Kind != mockapi.Main:
		return mockapi.Text("ok")
	case strings.Contains(last, packetMark):
		return mockapi.Text("Carrying on.").Tokens(30_000)
	case len(r.Results()) > 0 && strings.Contains(last, "make a slice"):
		return mockapi.Text(said).Tokens(142_000)
	case strings.Contains(last, "[work]"):
		return mockapi.Call("Bash", map[string]any{
			"command": "date +%N >> a && git add a && git commit -m 'make a slice'", "description": "commit",
		}).Tokens(130_000)
	}
	return mockapi.Text("Noted.").Tokens(30_000)
}

// driveClaude starts `overtone watch claude`; own goes to claude.
func (w *World) driveClaude(prompts []string, own ...string) *proc {
	w.t.Helper()
	args := append([]string{"watch", "claude", "--mode", "auto", "--json", "--bin", w.claude}, prompts...)
	args = append(args, "--", "--plugin-dir", w.Plugin, "--model", Model, "--permission-mode", "acceptEdits", "--allowedTools=Bash")
	cmd := w.command("overtone", append(args, own...)...)
	p := &proc{cmd: cmd, done: make(chan struct{}), printed: make(chan struct{}, 1)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.typed, p, p
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	w.t.Cleanup(func() {
		p.kill()
		if w.t.Failed() {
			w.t.Log(p.output())
		}
	})
	return p
}

func (p *proc) finish(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(codexWait):
		t.Fatalf("did not end:\n%s", p.output())
	}
	if !p.cmd.ProcessState.Success() {
		t.Fatalf("%v\n%s", p.cmd.ProcessState, p.output())
	}
}

// wantKinds compares the main agent's requests, with the packets in each.
func (w *World) wantKinds(want string) {
	w.t.Helper()
	w.wantKindsFrom(0, want)
}

func (w *World) wantKindsFrom(from int, want string) {
	w.t.Helper()
	var out []string
	for _, r := range w.API.Requests()[from:] {
		kind := "user"
		switch last := r.Last(); {
		case r.Kind == mockapi.Summary:
			kind = "compaction"
		case r.Kind != mockapi.Main:
			continue
		case strings.Contains(last, packetMark):
			kind = "packet"
		case strings.Contains(last, "[work]"), strings.Contains(last, "make a slice"):
			kind = "work"
		}
		out = append(out, fmt.Sprintf("%s%d", kind, r.Count(packetMark)))
	}
	if got := strings.Join(out, " "); got != want {
		w.t.Errorf("the model was asked\n  %s\nwant\n  %s", got, want)
	}
}

// TestWatchClaude: commit, compaction, one packet, first in the next request;
// although the plugin's hooks are there and a low native window is configured.
func TestWatchClaude(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, claudeMind)
	w.Settings(map[string]any{"hooks": w.roundHooks(), "autoCompactWindow": 100_000, "env": map[string]any{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60"}})
	w.Configure("compact:\n  mode: auto\n  resume: always\n")
	p := w.driveClaude([]string{"[work] one", "and then?", "[work] two"})
	p.finish(t)
	// A prompt that waits has the packet before it; the last one's opens a turn.
	w.wantKinds("work0 work0 compaction0 packet1 work1 work1 compaction1 packet1")
	if out := p.output(); strings.Count(out, told("left")) != 1 || strings.Count(out, told("delivered")) != 1 {
		t.Errorf("reports: %s", out)
	}
}

// What is typed while `watch claude` compacts is read in one turn with the packet before
// it, also to the letter of the setting always.
func TestWatchClaude_TypedMeanwhile(t *testing.T) {
	t.Parallel()
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Summary {
			fmt.Fprintln(typed, "STOP here")
			typed.Close()
		}
		return claudeMind(r)
	})
	w.Configure("compact:\n  mode: auto\n  resume: always\n")
	w.typed = in
	fmt.Fprintln(typed, "[work] one")
	w.driveClaude(nil).finish(t)
	w.wantKinds("work0 work0 compaction0 packet1")
	rs := w.API.Requests()
	if last := rs[len(rs)-1].Last(); strings.Index(last, packetMark) > strings.Index(last, "STOP here") || strings.Contains(last, message.HandoverGo.EN) || strings.Contains(last, message.HandoverGo.ZH) {
		t.Errorf("the model reads %s", last)
	}
}

// In a run that `watch claude` drives, a turn is opened only for work of which there is
// proof, or which was asked for while nobody sits before it; what the last words leave to
// the user waits for his next prompt, with the packet before it.
func TestWatchClaudeResume(t *testing.T) { t.Parallel(); onEach(t, testWatchClaudeResume) }

func testWatchClaudeResume(t *testing.T, v Version) {
	var (
		mu   sync.Mutex
		said string
	)
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		return claudeWork(r, said)
	}, v)
	const worked, waits = "work0 work0 compaction0", "The slice is in place. Shall I deploy it now?"
	for _, c := range []struct {
		name, resume, said string
		args               []string
		want, told         string
	}{
		{"a question", "evidence", waits, []string{"[work] one"}, worked, "left"},
		{"a question, then his answer", "evidence", waits, []string{"[work] one", "no, not yet"}, worked + " packet1", "left"},
		{"no proof", "evidence", "The slice is in place.", []string{"[work] one"}, worked, "left"},
		{"nobody there", "evidence", "The slice is in place.", []string{"--unattended", "[work] one"}, worked + " packet1", "delivered"},
		{"nobody there, and a question in prose", "evidence", waits, []string{"--unattended", "[work] one"}, worked + " packet1", "delivered"},
		{"nobody there, and done", "evidence", "All tasks are done.", []string{"--unattended", "[work] one"}, worked, "left"},
		{"never", "never", "The slice is in place.", []string{"--unattended", "[work] one"}, worked, "left"},
	} {
		mu.Lock()
		said = c.said
		mu.Unlock()
		w.Configure("compact:\n  mode: auto\n  resume: " + c.resume + "\n")
		from := len(w.API.Requests())
		p := w.driveClaude(c.args)
		p.finish(t)
		t.Log(c.name)
		w.wantKindsFrom(from, c.want)
		if strings.Count(p.output(), told(c.told)) != 1 {
			t.Errorf("%s: %s", c.name, p.output())
		}
	}
}

// TestWatchClaudeAgentPacket: the agent is asked with the body of the prompt
// file as it is, and its words come back: in a turn of their own where that is set or
// work is open that nobody sits before, else before the user's next prompt.
func TestWatchClaudeAgentPacket(t *testing.T) {
	t.Parallel()
	const body = "# My prompt\n\n- keep   these   blanks"
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Main && strings.HasSuffix(r.Last(), body) {
			return mockapi.Text("THE AGENT'S OWN WORDS").Tokens(142_000)
		}
		return claudeMind(r)
	})
	const worked = "work0 work0 user0 compaction0"
	for _, c := range []struct {
		resume string
		args   []string
		want   string
	}{
		{"always", []string{"[work] one"}, worked + " packet1"},
		{"evidence", []string{"--unattended", "[work] one"}, worked + " packet1"},
		{"evidence", []string{"[work] one"}, worked},
		{"evidence", []string{"[work] one", "and then?"}, worked + " packet1"},
		{"never", []string{"--unattended", "[work] one"}, worked},
		{"never", []string{"--unattended", "[work] one", "and then?"}, worked + " packet1"},
	} {
		w.Configure("compact:\n  packet_author: agent\n  resume: " + c.resume + "\n")
		if err := os.WriteFile(filepath.Join(w.Home, ".overtone", "auto-compact.md"), []byte("---\nversion: 1\n---\n"+body), 0o600); err != nil {
			t.Fatal(err)
		}
		from := len(w.API.Requests())
		w.driveClaude(c.args).finish(t)
		t.Log(c.resume, c.args)
		w.wantKindsFrom(from, c.want)
		rs := w.API.Requests()
		if last := rs[len(rs)-1].Last(); c.want != worked && !strings.Contains(last, "THE AGENT'S OWN WORDS") {
			t.Errorf("packet: %s", last)
		}
	}
}

// TestWatchClaudeCompactionFails: no packet, and the run goes on.
func TestWatchClaudeCompactionFails(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Summary {
			return mockapi.Fail(400, "no")
		}
		return claudeMind(r)
	})
	p := w.driveClaude([]string{"[work] one", "and then?"})
	p.finish(t)
	if out := p.output(); !strings.Contains(out, told("void")) || strings.Contains(out, told("delivered")) {
		t.Error("the packet was not withheld")
	}
	for _, r := range w.API.Requests() {
		if r.Has(packetMark) {
			t.Errorf("a packet in %s", r)
		}
	}
}

// TestWatchClaudeKilled: the run dies while Claude Code compacts, or while the
// packet is under way. Resumed, there is one packet.
func TestWatchClaudeKilled(t *testing.T) {
	t.Parallel()
	const id = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
	for name, waits := range map[string]func(*mockapi.Request) bool{
		"while it compacts":             func(r *mockapi.Request) bool { return r.Kind == mockapi.Summary },
		"while the packet is under way": func(r *mockapi.Request) bool { return r.Kind == mockapi.Main && strings.Contains(r.Last(), packetMark) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			point := newHeld(t)
			w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
				reply := claudeMind(r)
				if waits(r) {
					reply = reply.Until(point.at())
				}
				return reply
			})
			w.Configure("compact:\n  mode: auto\n  resume: always\n")
			p := w.driveClaude([]string{"[work] one"}, "--session-id", id)
			select {
			case <-point.reached:
			case <-time.After(codexWait):
				t.Fatalf("never reached:\n%s", p.output())
			}
			_ = p.cmd.Process.Kill()
			point.letGo()
			<-p.done
			// Claude Code ends by itself, once it has done what it was at and its
			// input is gone.
			w.settle(id)

			w.driveClaude([]string{"and then?"}, "--resume", id).finish(t)
			rs := w.API.Requests()
			if got := rs[len(rs)-1].Count(packetMark); got != 1 {
				t.Errorf("%d packets in the last request", got)
			}
		})
	}
}

// settle waits until nobody works in the project any more, and writes to a session's file.
func (w *World) settle(id string) {
	w.t.Helper()
	await(w.t, "end of the agent", func() bool {
		dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
		return !slices.ContainsFunc(dirs, func(dir string) bool {
			at, err := os.Readlink(dir)
			return err == nil && at == w.Project
		})
	})
	var before int64 // where processes do not tell
	for quiet := 0; quiet < 10; quiet++ {
		var size int64
		files, _ := filepath.Glob(filepath.Join(w.Config, "projects", "*", id+".jsonl"))
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				size += info.Size()
			}
		}
		if size != before {
			before, quiet = size, 0
		}
		time.Sleep(100 * time.Millisecond)
	}
}
