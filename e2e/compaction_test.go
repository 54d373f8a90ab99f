//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// recovery is the first line of the recovery text.
const recovery = "[Overtone 狀態恢復（compact 後）]"

// summaries returns the summariser's requests.
func summaries(w *World) []*mockapi.Request {
	var out []*mockapi.Request
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Summary {
			out = append(out, r)
		}
	}
	return out
}

// hookTextsOf are the texts a hook's event added to a request.
func hookTextsOf(r *mockapi.Request, event string) []string {
	var out []string
	for _, m := range r.Messages {
		for _, part := range strings.Split(m.Text(), "<system-reminder>")[1:] {
			part, _, _ = strings.Cut(part, "</system-reminder>")
			if _, text, ok := strings.Cut(part, event+" hook additional context: "); ok {
				out = append(out, text)
			}
		}
	}
	return out
}

// recovered asserts that the first main request after the n-th summary has the
// recovery text once, and that no later one has it twice.
func recovered(t *testing.T, w *World, n int) {
	t.Helper()
	sums := summaries(w)
	if len(sums) <= n {
		t.Fatalf("%d compactions", len(sums))
	}
	seq := sums[n].Seq
	last := sums[n].Messages[len(sums[n].Messages)-1].Text()
	for _, text := range []string{recovery, `"result"`, `"systemMessage"`, `"decision"`} {
		if strings.Contains(last, text) {
			t.Errorf("the summariser is told %s: %s", text, last)
		}
	}
	first := true
	for _, r := range mains(w) {
		if r.Seq < seq || n+1 < len(sums) && r.Seq > sums[n+1].Seq {
			continue
		}
		if got := r.Count(recovery); got != 1 {
			t.Errorf("request %d after the compaction has the recovery text %d times (first: %v)", r.Seq, got, first)
		}
		first = false
	}
	if first {
		t.Error("no request after the compaction")
	}
}

// The user compacts while a background agent works; the next request has the
// state, the outbox still delivers, and the workflow ends as it should.
func TestCompactManual(t *testing.T) { t.Parallel(); onAll(t, testCompactManual) }

func testCompactManual(t *testing.T, v Version) {
	release := make(chan struct{})
	p := &Relay{Background: true, Agents: map[string][]Step{"developer": {Step(pass).until(release)}}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Write("specs/features/in-progress/add-flag/tasks.md", "---\nfeature: add-flag\n---\n\n## Tasks\n\n- [x] read the code\n- [ ] write the flag\n")
	s := w.Start()
	res := s.Ask("[workflow:quick-dev] fix it")
	s.Send("/compact keep the names")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	close(release)
	s.untilComplete(res.SessionID)
	s.Close()
	finished(t, w, res.SessionID)
	recovered(t, w, 0)
	after := mains(w)
	for _, r := range after {
		if r.Has(recovery) {
			if !r.Has("quick-dev") || !r.Has("write the flag") {
				t.Errorf("recovery text: %s", r.Last())
			}
			break
		}
	}
}

// The host compacts by itself in mid-turn, between two stages.
func TestCompactAuto(t *testing.T) { t.Parallel(); onAll(t, testCompactAuto) }

func testCompactAuto(t *testing.T, v Version) {
	compacted := false
	p := &Relay{}
	p.Usage = func(n int) int {
		// The third request crosses the threshold of 67,000, once.
		if n == 2 && !compacted {
			compacted = true
			return 80_000
		}
		return 10_000
	}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	st := w.Prompt("[workflow:quick] add a flag")
	r := st.Result()
	if n := len(st.Find("system", "compact_boundary")); n != 1 {
		t.Errorf("%d compactions", n)
	}
	finished(t, w, r.SessionID)
	recovered(t, w, 0)
}

// Two compactions: one text each, the old one is summarised away.
func TestCompactTwice(t *testing.T) { t.Parallel(); onEach(t, testCompactTwice) }

func testCompactTwice(t *testing.T, v Version) {
	release := make(chan struct{})
	defer close(release)
	p := &Relay{Background: true, Agents: map[string][]Step{"developer": {Step(pass).until(release)}}}
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Start()
	res := s.Ask("[workflow:quick-dev] fix it")
	for range 2 {
		s.compact()
		s.Ask("how is it going?")
		s.Ask("and now?")
	}
	s.Close()
	recovered(t, w, 0)
	recovered(t, w, 1)
	knewTheSummary(t, w, res.SessionID, 2)
}

// compact is what a person does who types /compact.
func (s *Session) compact() {
	s.w.t.Helper()
	s.Send("/compact")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
}

// knewTheSummary asserts how often something was handed over in a session, each time
// in the knowledge of the summary.
func knewTheSummary(t *testing.T, w *World, session string, times int) {
	t.Helper()
	out := w.Exec("overtone", "timeline", "--session", session, "--type", "session:recovery-delivered", "--json")
	if n, knew := strings.Count(out, "\n"), strings.Count(out, `"basis":"summary"`); n != times || knew != times {
		t.Errorf("%d hand-overs, %d of them in the knowledge of the summary, want %d:\n%s", n, knew, times, out)
	}
}

// parts are what a session of many compactions is about, one after the other.
var parts = []string{"alpha", "beta", "gamma", "delta"}

// lookAt is a command that shows a part's name, which no summary has.
func lookAt(part string) string { return "echo 'func " + part + "Scan() {}'" }

// handedEach asserts that every request between two compactions has the hand-over of
// the first of them, once, and that it speaks of what was done before that one, and
// after the one before it.
func handedEach(t *testing.T, w *World, ask func(part string) string) {
	t.Helper()
	sums := summaries(w)
	if len(sums) != len(parts) {
		t.Fatalf("%d compactions", len(sums))
	}
	got := make([]int, len(parts))
	for _, r := range mains(w) {
		n := -1
		for n+1 < len(sums) && r.Seq > sums[n+1].Seq {
			n++
		}
		if n < 0 {
			continue
		}
		got[n]++
		texts := hookTextsOf(r, "SessionStart")
		if len(texts) != 1 || strings.Count(texts[0], handed) != 1 {
			t.Errorf("request %d, after compaction %d, has %d hand-overs: %q", r.Seq, n+1, len(texts), texts)
			continue
		}
		for _, want := range []string{"-" + strconv.Itoa(n+1) + `">`, parts[n] + "Scan", "“" + ask(parts[n]) + "”"} {
			if !strings.Contains(texts[0], want) {
				t.Errorf("request %d, after compaction %d: %q is missing in\n%s", r.Seq, n+1, want, texts[0])
			}
		}
		for _, old := range parts[:n] {
			if strings.Contains(texts[0], old+"Scan") { // the user's words go along, what was worked on does not
				t.Errorf("request %d, after compaction %d: %q was handed over before:\n%s", r.Seq, n+1, old, texts[0])
			}
		}
	}
	if slices.Contains(got, 0) {
		t.Errorf("requests after each compaction: %d", got)
	}
}

// A person compacts four times, and in between goes on in a new process.
func TestCompactFourTimes(t *testing.T) { t.Parallel(); onEach(t, testCompactFourTimes) }

func testCompactFourTimes(t *testing.T, v Version) {
	p := &Play{}
	for _, part := range parts {
		p.Main = append(p.Main, call(bash(lookAt(part))), say("Seen."), say("Sure."))
	}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Configure("language: en\n")
	ask := func(part string) string { return "Please write the " + part + " lexer." }
	s := w.Start()
	var res Result
	for i, part := range parts {
		if i == 2 {
			s.Close()
			s = w.Start("--resume", res.SessionID)
		}
		res = s.Ask(ask(part))
		s.Ask("go on")
		s.compact()
	}
	s.Ask("go on")
	s.Close()
	handedEach(t, w, ask)
	knewTheSummary(t, w, res.SessionID, len(parts))
}

// The host compacts by itself four times, in one turn.
func TestCompactAutoFourTimes(t *testing.T) { t.Parallel(); onEach(t, testCompactAutoFourTimes) }

func testCompactAutoFourTimes(t *testing.T, v Version) {
	p := &Play{}
	for _, part := range parts {
		for _, tokens := range []int{10_000, 10_000, 10_000, 80_000} {
			p.Main = append(p.Main, func(*mockapi.Request) mockapi.Reply {
				return mockapi.Calls(bash(lookAt(part))).Tokens(tokens)
			})
		}
	}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Configure("language: en\n")
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	res := w.Prompt("Please write all lexers.").Result()
	handedEach(t, w, func(string) string { return "Please write all lexers." })
	knewTheSummary(t, w, res.SessionID, len(parts))
}

// A compaction that does not happen (too little to sum up) leaves no text
// behind for a later request.
func TestCompactRefusedByHost(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, (&Play{}).Handle)
	s := w.Start()
	s.Ask("/compact")
	s.Ask("hello")
	s.Close()
	for _, r := range mains(w) {
		if r.Has(recovery) {
			t.Errorf("a recovery text without a compaction: %s", r.Last())
		}
	}
}

// The user interrupts a stage and compacts; the recovery text is part of the
// conversation, so a resumed session still has it, once, and goes on.
func TestCompactResume(t *testing.T) {
	t.Parallel()
	review := newHeld(t)
	p := &Relay{Agents: map[string][]Step{"code-reviewer": {func(*mockapi.Request) mockapi.Reply { return mockapi.Text("NEVER").Until(review.at()) }}}}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	s.Send("[workflow:quick-dev] fix it")
	receive(t, "started", review.reached)
	s.Control(map[string]any{"subtype": "interrupt"})
	res := s.Result()
	s.Send("/compact")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	s.Close()
	w.Prompt("[workflow:quick-dev]", "--resume", res.SessionID)
	recovered(t, w, 0)
	finished(t, w, res.SessionID)
}

// gateWorld lets the host ask for a compaction from 67,000 tokens on, and
// Overtone decide (mode auto).
func gateWorld(t *testing.T, h mockapi.Handler, on ...Version) *World {
	w := NewWorld(t, Overtone, h, on...)
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	w.Configure("compact:\n  mode: auto\n")
	return w
}

// gateStep is a shell command after which the context has that many tokens, or
// few once it was compacted. The host writes its transcript a little late, so a
// hook may see a size one step after it was reached: what must be noticed stays
// for two steps.
func gateStep(command string, tokens int) Step {
	return func(r *mockapi.Request) mockapi.Reply {
		if r.Has("MOCK-SUMMARY") {
			return mockapi.Calls(bash(command)).Tokens(10_000)
		}
		return mockapi.Calls(bash(command)).Tokens(tokens)
	}
}

const gateCommit = "echo x > a.txt && git add a.txt && git commit -q -m 'add a' && git log -1 --oneline"

// Without a boundary the gate stays shut, however often the host asks; in the
// same turn a commit opens it, and the packet is in the next request, once.
func TestCompactGate(t *testing.T) {
	t.Parallel()
	for _, refusals := range []int{0, 1, 2, 3, 4, 6, 10} {
		t.Run(fmt.Sprint(refusals), func(t *testing.T) {
			t.Parallel()
			var p Play
			for range 3 {
				p.Main = append(p.Main, gateStep("echo small", 10_000))
			}
			for range refusals {
				p.Main = append(p.Main, gateStep("echo large", 130_000))
			}
			p.Main = append(p.Main, gateStep(gateCommit, 130_000), gateStep("echo on", 130_000), gateStep("echo and on", 130_000))
			w := gateWorld(t, p.Handle)
			st := w.Prompt("add the file a.txt; MARK-GOAL")
			if r := st.Result(); r.Text != "DONE" {
				t.Errorf("result %+v", r)
			}
			sums := summaries(w)
			if len(sums) != 1 {
				t.Fatalf("%d compactions", len(sums))
			}
			before, after := 0, 0
			for _, r := range mains(w) {
				if r.Seq < sums[0].Seq {
					before++
					continue
				}
				after++
				packet := hookTextsOf(r, "SessionStart")
				if len(packet) != 1 || !strings.Contains(packet[0], "MARK-GOAL") {
					t.Errorf("request %d has %d packets: %q", r.Seq, len(packet), packet)
				}
			}
			// The request after the commit at the latest is a compacted one, or the
			// next one where the transcript was late.
			if want := 3 + refusals + 1; before != want && before != want+1 || before+after != want+3 {
				t.Errorf("%d requests before and %d after the compaction, want %d and 3", before, after, want)
			}
		})
	}
}

// A commit is a boundary until the next tools have answered: then other work is under way,
// and a context that is full by then is not compacted in its midst.
func TestCompactGatePasses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := Play{Main: []Step{gateStep("echo small", 10_000), gateStep(gateCommit, 10_000), gateStep("echo small", 10_000)}}
		for range 4 {
			p.Main = append(p.Main, gateStep("echo large", 130_000))
		}
		w := gateWorld(t, p.Handle, v)
		r := w.Prompt("add the file a.txt").Result()
		if n := len(summaries(w)); n != 0 || r.Text != "DONE" {
			t.Errorf("%d compactions, %+v", n, r)
		}
	})
}

// A sub-agent that grows asks by the same hook with the same input. Main's commit
// is not spent on it: it is compacted without a packet, and main behind its own next commit.
func TestCompactGateSubagent(t *testing.T) { t.Parallel(); onEach(t, testCompactGateSubagent) }

func testCompactGateSubagent(t *testing.T, v Version) {
	p := Play{
		Main: []Step{
			gateStep("echo small", 10_000), gateStep(gateCommit, 10_000),
			call(mockapi.Foreground("overtone:planner", "look around")),
			gateStep("echo large", 130_000), gateStep(strings.ReplaceAll(gateCommit, "a.txt", "b.txt"), 130_000),
			gateStep("echo on", 130_000), gateStep("echo and on", 130_000),
		},
		Agents: map[string][]Step{"planner": {
			gateStep("echo 1", 10_000), gateStep("echo 2", 10_000), gateStep("echo 3", 80_000), gateStep("echo 4", 80_000),
			gateStep("echo 5", 80_000), gateStep("echo 6", 80_000), say("seen"),
		}},
	}
	w := gateWorld(t, p.Handle, v)
	if r := w.Prompt("MARK-GOAL").Result(); r.Text != "DONE" {
		t.Errorf("result %+v", r)
	}
	sums := summaries(w)
	if len(sums) != 2 || sums[0].Agent != "planner" || sums[1].Agent != "" {
		t.Fatalf("compactions: %v", sums)
	}
	for _, r := range w.API.Requests() {
		packets := len(hookTextsOf(r, "SessionStart"))
		switch {
		case r.Kind == mockapi.Subagent:
			if packets != 0 {
				t.Errorf("request %d of the sub-agent has %d packets", r.Seq, packets)
			}
		case r.Kind == mockapi.Main && r.Seq > sums[1].Seq && packets != 1:
			t.Errorf("request %d of main has %d packets", r.Seq, packets)
		}
	}
}

// Whatever the boundary, the gate opens at the ceiling: a session must never
// run into the host's own limit.
func TestCompactGateCeiling(t *testing.T) { t.Parallel(); onEach(t, testCompactGateCeiling) }

func testCompactGateCeiling(t *testing.T, v Version) {
	var p Play
	for i := range 8 {
		tokens := 80_000 + 15_000*i
		p.Main = append(p.Main, func(r *mockapi.Request) mockapi.Reply {
			if r.Has("MOCK-SUMMARY") {
				tokens = 10_000
			}
			return mockapi.Calls(bash("echo step")).Tokens(tokens)
		})
	}
	w := gateWorld(t, p.Handle, v)
	st := w.Prompt("go")
	if r := st.Result(); r.Text != "DONE" || r.TerminalReason != "completed" {
		t.Errorf("result %+v", r)
	}
	if n := len(summaries(w)); n != 1 {
		t.Errorf("%d compactions", n)
	}
	if seq := summaries(w)[0].Seq; seq < 4 {
		t.Errorf("compacted before the ceiling, at request %d", seq)
	}
}

// A sub-agent's own compaction looks to the hooks like one of the main thread.
// It gets no recovery text, and the main thread's is still delivered later.
func TestCompactSubagent(t *testing.T) { t.Parallel(); onEach(t, testCompactSubagent) }

func testCompactSubagent(t *testing.T, v Version) {
	big := func(command string) Step {
		return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(bash(command)).Tokens(80_000) }
	}
	p := &Relay{Agents: map[string][]Step{"developer": {
		call(bash("echo one")), call(bash("echo two")), big("echo three"), call(bash("echo four")), pass,
	}}}
	p.Usage = func(n int) int {
		if n == 2 {
			return 80_000
		}
		return 10_000
	}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	r := w.Prompt("[workflow:quick] add a flag").Result()
	finished(t, w, r.SessionID)
	sums := summaries(w)
	if len(sums) != 2 || sums[0].Agent != "developer" || sums[1].Agent != "" {
		t.Fatalf("compactions: %v", sums)
	}
	// It is told for what it is.
	if out := w.Exec("overtone", "timeline", "--session", r.SessionID, "--type", "agent:compact", "--json"); strings.Count(out, "\n") != 1 {
		t.Errorf("the agent's compaction in the timeline: %s", out)
	}
	for _, r := range w.API.Requests() {
		want := 0
		if r.Kind == mockapi.Main && r.Seq > sums[1].Seq {
			want = 1
		}
		if got := r.Count(recovery); got != want {
			t.Errorf("request %d of %s %s has the recovery text %d times, want %d", r.Seq, r.Kind, r.Agent, got, want)
		}
	}
}
