//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// What changed in the newest Claude Code, and where both versions broke us: one
// test for each.

// A stage's agent works in the foreground, also where the host's default is the
// background: of a report that it repeats in its last message, not a character
// reaches the main model, and a run takes no more requests than it has steps.
func TestNewest_AgentsInBackgroundByDefault(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p, line := repeatedReports()
		w := NewWorld(t, Overtone, p.Handle, v)
		r := w.Prompt("[workflow:quick] add a flag").Result()
		finished(t, w, r.SessionID)
		leaked := 0
		for _, m := range mains(w) {
			leaked += m.Count(line) * len(line)
		}
		if leaked > 0 {
			t.Errorf("%d characters of the report reach the main model", leaked)
		}
		// DEV, the two of the barrier in one, RETRO, DOCS: each is a hand-over,
		// and one request is the last word.
		if n := len(mains(w)); n > 7 {
			t.Errorf("%d requests of the main agent", n)
		}
		for _, m := range mains(w) {
			if m.Has("<task-notification>") {
				t.Errorf("an agent of a stage worked in the background: %s", m.Last())
			}
		}
	})
}

// repeatedReports is a run whose agents repeat a report of so many lines in their last
// message.
func repeatedReports() (p *Relay, line string) {
	line = "SECRET-REPORT finding: flag.go:12 ignores the flag, and flag.go:13 hides it."
	report := strings.Repeat(line+"\n", 200)
	repeats := func(r *mockapi.Request) mockapi.Reply {
		reply := pass(r)
		reply.Blocks[0].Text = report + "\n" + reply.Blocks[0].Text
		return reply
	}
	return &Relay{Agents: map[string][]Step{
		"code-reviewer": {writeReport(report), repeats, repeats, repeats},
		"tester":        {repeats, repeats, repeats},
	}}, line
}

// The prompt's hook may come before the shell of a command: what ends a workflow
// must not be told in one breath with what to do next.
func TestNewest_CancelIsToldAlone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Relay{Before: func(*mockapi.Request, int) *mockapi.Reply {
			reply := mockapi.Text("No.")
			return &reply
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		s := w.Start()
		r := s.Ask("[workflow:quick-dev] fix it")
		before := len(mains(w))
		s.Ask("/overtone:cancel")
		s.Close()
		told := mains(w)[before:]
		if len(told) == 0 {
			t.Fatal("the command did not reach the model")
		}
		if last := told[0].Last(); len(delegations(last)) > 0 {
			t.Errorf("cancelled, and yet: %s", last)
		}
		if s := w.status(r.SessionID); s.Phase == "COMPLETE" || len(s.Ready) > 0 {
			t.Errorf("after the cancellation: %+v", s)
		}
	})
}

// often runs a test that races, on every version; OVERTONE_E2E_SOAK says how many
// times.
func often(t *testing.T, f func(t *testing.T, v Version)) {
	onEach(t, func(t *testing.T, v Version) {
		for i := range soak(1) {
			t.Run(strconv.Itoa(i), func(t *testing.T) { f(t, v) })
		}
	})
}

// soak is how often to do what races: usually few times, or as OVERTONE_E2E_SOAK says.
func soak(usual int) int {
	n, _ := strconv.Atoi(os.Getenv("OVERTONE_E2E_SOAK"))
	return max(n, usual)
}

// busy is a sub-agent that works in small steps until it is told to end.
func busy(done <-chan struct{}) func(*mockapi.Request) mockapi.Reply {
	return func(*mockapi.Request) mockapi.Reply {
		select {
		case <-done:
			return mockapi.Text("seen")
		default:
			return mockapi.Calls(bash("true")).Tokens(10_000)
		}
	}
}

// packetsOf counts the packets in the requests of main after the n-th summary,
// and in all of the sub-agents'.
func packetsOf(w *World, n int) (main []int, agents int) {
	sums := summaries(w)
	for _, r := range w.API.Requests() {
		packets := len(hookTextsOf(r, "SessionStart"))
		switch {
		case r.Kind == mockapi.Subagent:
			agents += packets
		case r.Kind == mockapi.Main && len(sums) > n && r.Seq > sums[n].Seq:
			main = append(main, packets)
		}
	}
	return main, agents
}

// A person compacts while a background agent works: the packet is main's, once,
// and doctor knows of it.
func TestNewest_Row1_ManualCompactWithBusyAgent(t *testing.T) {
	t.Parallel()
	often(t, func(t *testing.T, v Version) {
		done := make(chan struct{})
		step := busy(done)
		p := &Play{
			Main:   []Step{gateStep("echo a", 10_000), gateStep("echo b", 10_000), call(mockapi.Background("overtone:planner", "look around"))},
			Agents: map[string][]Step{"planner": slices.Repeat([]Step{step}, 500)},
		}
		w := NewWorld(t, Overtone, p.Handle, v)
		s := w.Start()
		res := s.Ask("MARK-GOAL")
		s.Send("/compact")
		s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
		s.Result()
		s.Ask("go on")
		close(done)
		s.Close()
		main, agents := packetsOf(w, 0)
		if len(main) == 0 || slices.ContainsFunc(main, func(n int) bool { return n != 1 }) || agents != 0 {
			t.Errorf("packets in main's requests %v, in the agent's %d", main, agents)
		}
		if out := w.Exec("overtone", "doctor", "--session", res.SessionID); !strings.Contains(out, "compact") || strings.Contains(out, "was not compacted yet") {
			t.Errorf("doctor says:\n%s", out)
		}
	})
}

// The host compacts main while a background agent comes back from its tools all
// the time: the last thread that was seen is mostly the agent's.
func TestNewest_Row1_AutoCompactWithBusyAgent(t *testing.T) {
	t.Parallel()
	often(t, func(t *testing.T, v Version) {
		done := make(chan struct{})
		step := busy(done)
		p := &Play{
			Main: []Step{
				gateStep("echo a", 10_000), gateStep("echo b", 10_000), call(mockapi.Background("overtone:planner", "look around")),
				gateStep("sleep 0.3", 10_000), gateStep("sleep 0.3", 80_000), gateStep("sleep 0.3", 80_000), gateStep("echo on", 10_000),
				func(*mockapi.Request) mockapi.Reply { close(done); return mockapi.Text("DONE") },
			},
			Agents: map[string][]Step{"planner": slices.Repeat([]Step{step}, 500)},
		}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Settings(map[string]any{"autoCompactWindow": 100_000})
		w.Prompt("MARK-GOAL").Result()
		if n := len(summaries(w)); n != 1 {
			t.Fatalf("%d compactions", n)
		}
		main, agents := packetsOf(w, 0)
		if len(main) == 0 || slices.ContainsFunc(main, func(n int) bool { return n != 1 }) || agents != 0 {
			t.Errorf("packets in main's requests %v, in the agent's %d", main, agents)
		}
	})
}

// One large step past the host's own limit, in mode auto and with no boundary in
// sight: the gate sees it coming, and the session lives.
func TestNewest_Row2_GateNeverEndsASession(t *testing.T) {
	t.Parallel()
	// The mock's usage stands for all that was said before.
	step := func(tokens int, blocks ...mockapi.Block) Step {
		return func(r *mockapi.Request) mockapi.Reply {
			if r.Has("MOCK-SUMMARY") {
				tokens = 10_000
			}
			return mockapi.Calls(blocks...).Tokens(tokens)
		}
	}
	for name, c := range map[string]struct {
		tokens, files int
	}{
		"two large files at 148,000":  {148_000, 2},
		"eight in parallel at 60,000": {60_000, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, v Version) {
				p := &Play{}
				w := gateWorld(t, p.Handle, v)
				var reads []mockapi.Block
				for i := range c.files {
					file := fmt.Sprintf("large%d.txt", i)
					w.Write(file, strings.Repeat("the quick brown fox jumps over it\n", 1_750))
					reads = append(reads, tool("Read", map[string]any{"file_path": filepath.Join(w.Project, file)}))
				}
				p.Main = []Step{step(10_000, bash("echo a")), step(10_000, bash("echo b")), step(c.tokens, reads...), step(c.tokens, bash("echo on"))}
				s := w.Start()
				for range 4 {
					if r := s.Ask("go on"); r.IsError || r.TerminalReason != "completed" {
						t.Errorf("result %+v", r)
					}
				}
				s.Close()
			})
		})
	}
}

// What the model's server refuses as too long, the host compacts to save the
// turn; a turn that was lost is not lost twice.
func TestNewest_Row2_GateLetsTheRescueThrough(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		long := func(r *mockapi.Request) mockapi.Reply {
			if r.Has("MOCK-SUMMARY") {
				return mockapi.Text("SAVED").Tokens(10_000)
			}
			return mockapi.Fail(400, "prompt is too long: 210000 tokens > 200000 maximum")
		}
		p := &Play{Main: append([]Step{gateStep("echo a", 10_000), gateStep("echo b", 80_000), gateStep("echo c", 80_000)}, slices.Repeat([]Step{long}, 12)...)}
		w := gateWorld(t, p.Handle, v)
		s := w.Start()
		r := s.Ask("go on")
		if r.Text != "SAVED" {
			r = s.Ask("go on")
		}
		s.Close()
		if r.Text != "SAVED" {
			t.Errorf("result %+v", r)
		}
	})
}

// The model that a user gets who names none: its window is known without a status
// line, what hooks say reaches it (as messages of their own where the host does
// so), and it is not told to use tools that it does not have.
func TestNewest_DefaultModel(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{gateStep("echo a", 150_000), say("DONE")}}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Model = ""
		w.Write("specs/features/in-progress/flag/tasks.md", "---\nfeature: flag\n---\n\n## Tasks\n\n- [ ] MARK-TASK\n")
		r := w.Prompt("go on").Result()
		var explained struct {
			Window int64 `json:"window"`
		}
		if err := json.Unmarshal([]byte(w.Exec("overtone", "compact", "explain", "--session", r.SessionID, "--json")), &explained); err != nil {
			t.Fatal(err)
		}
		main := mains(w)
		window := int64(1_000_000)
		if v.floor() {
			window = 200_000 // what it has for every name without a mark
		}
		if explained.Window != window {
			t.Errorf("the window of %s is taken for %d", main[0].Model, explained.Window)
		}
		if !main[0].Has("MARK-TASK") {
			t.Errorf("what SessionStart said is not in the request: %s", main[0])
		}
		for _, m := range main {
			if !slices.Contains(m.Tools, "TaskCreate") && m.Has("TaskCreate") && !strings.Contains(m.System, "TaskCreate") {
				t.Errorf("told to use a tool that it does not have: %s", m)
			}
		}
	})
}

// The point from which the host asks to compact is where it was: 67,000 of a
// window of 100,000, or the percentage that is set.
func TestNewest_ThresholdsUnchanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tokens, compactions int
		percent             string
	}{
		"below":             {60_000, 0, ""},
		"above":             {72_000, 1, ""},
		"below 60 per cent": {42_000, 0, "60"},
		"above 60 per cent": {54_000, 1, "60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, v Version) {
				p := &Play{Main: []Step{gateStep("echo a", 5_000), gateStep("echo b", 5_000), gateStep("echo c", c.tokens), gateStep("echo d", c.tokens)}}
				w := NewWorld(t, Overtone, p.Handle, v)
				settings := map[string]any{"autoCompactWindow": 100_000}
				if c.percent != "" {
					settings["env"] = map[string]string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": c.percent}
				}
				w.Settings(settings)
				w.Prompt("go on").Result()
				if n := len(summaries(w)); n != c.compactions {
					t.Errorf("%d compactions at %d, want %d", n, c.tokens, c.compactions)
				}
			})
		})
	}
}

// A fork has a name of its own and leaves the original's workflow as it is.
func TestNewest_Row5_ForkLeavesTheOriginal(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Relay{Before: func(*mockapi.Request, int) *mockapi.Reply {
			reply := mockapi.Text("No.")
			return &reply
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		r := w.Prompt("[workflow:quick] add a flag").Result()
		before := w.status(r.SessionID)
		fork := w.Prompt("and now?", "--resume", r.SessionID, "--fork-session").Result()
		if fork.SessionID == r.SessionID {
			t.Fatalf("the fork is called like the original: %s", fork.SessionID)
		}
		after := w.status(r.SessionID)
		if before.Phase != after.Phase || !slices.Equal(before.Ready, after.Ready) {
			t.Errorf("the original was %+v and is %+v", before, after)
		}
		if _, err := os.Stat(filepath.Join(w.Home, ".overtone", "sessions", fork.SessionID, "workflow.json")); err == nil {
			t.Error("the fork has a workflow that nobody started")
		}
	})
}

// What hooks say in the way of the model, the newest calls an error, in its own words,
// and the text of a turn that is kept going comes twice. Ours read well so: they say
// what to do next, and saying it twice asks for nothing else.
func TestNewest_WordsOfRefusals(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{call(bash("echo hi")), say("FIRST"), say("SECOND")}}
		w := NewWorld(t, Recorder, p.Handle, v)
		w.Answer("pre-tool-use", specific("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": "DENIED"}))
		w.Answer("stop.1", map[string]any{"decision": "block", "reason": "KEEP-GOING"})
		w.Prompt("go")
		reqs := mains(w)
		want, times := "PreToolUse:Bash hook error: DENIED", 2
		if v.floor() {
			want, times = "DENIED", 1
		}
		if got := reqs[1].Results()[0].Text; !strings.HasPrefix(got, want) {
			t.Errorf("a denial reads %q", got)
		}
		if n := reqs[2].Count("KEEP-GOING"); n != times || !strings.HasSuffix(reqs[2].Last(), "Stop hook feedback:\nKEEP-GOING") {
			t.Errorf("the text that keeps a turn going comes %d times: %q", n, reqs[2].Last())
		}
	})
}
