package compact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Every event in every state of a receipt: what it becomes, and whether the packet is
// handed out (!). Where nothing stands, the event changes nothing.
func TestReceiptTable(t *testing.T) {
	t.Parallel()
	states := []ReceiptState{Created, Compacting, Done, Printing, Delivering, Delivered, Expired, Dropped, Unknown}
	for _, row := range []struct {
		name string
		e    ReceiptEvent
		want [9]string
	}{
		{"Started", Started{"c"}, [9]string{"compacting"}},
		{"Finished", Finished{"c"}, [9]string{"compacted", "compacted"}},
		{"Finished, another's", Finished{"d"}, [9]string{}},
		{"Failed", Failed{"c", "broken"}, [9]string{"dropped", "dropped", "dropped"}},
		{"Failed, another's", Failed{"d", "broken"}, [9]string{}},
		{"SessionStart", Opening{Via: ViaSessionStart, Running: true}, [9]string{"printing!", "printing!", "printing!"}},
		{"a prompt", Opening{Via: ViaPrompt}, [9]string{2: "printing!"}},
		{"the queue", Opening{Via: ViaQueue}, [9]string{2: "delivering!"}},
		{"the queue, in a turn", Opening{Via: ViaQueue, Running: true}, [9]string{}},
		{"the history", Opening{Via: ViaHistory, Running: true}, [9]string{2: "printing!"}},
		{"Printed", Printed{}, [9]string{3: "delivering"}},
		{"Doubted", Doubted{}, [9]string{3: "unknown"}},
		{"Arrived", Arrived{"p"}, [9]string{"delivered", "delivered", "delivered", "delivered", "delivered"}},
		{"Arrived, another", Arrived{"q"}, [9]string{}},
		{"Missing", Missing{"p"}, [9]string{3: "compacted", 4: "compacted"}},
		{"Missing, another", Missing{"q"}, [9]string{}},
	} {
		for i, state := range states {
			before := Receipt{ID: "p", State: state, Text: "know", Compaction: "c", Created: noon, Expires: noon.Add(time.Hour)}
			after, hand := before.Step(row.e, noon)
			want := row.want[i]
			if want == "" {
				want = string(state)
			}
			got := string(after.State)
			if hand {
				got += "!"
			}
			if got != want {
				t.Errorf("%s while %s: %s, want %s", row.name, state, got, want)
			}
			// The text goes with the end, except where nobody knows whether it arrived.
			if ended := !state.Final() && after.State.Final(); ended && (after.Text == "") == (after.State == Unknown) || ended && !after.Ended.Equal(noon) || !ended && after.Text != "know" {
				t.Errorf("%s while %s: text %q, ended %s", row.name, state, after.Text, after.Ended)
			}
			// What may be on its way cannot expire.
			late, _ := before.Step(row.e, noon.Add(time.Hour))
			if expires := !state.Final() && state != Printing && state != Delivering; (late.State == Expired) != (expires || state == Expired) {
				t.Errorf("%s while %s, an hour later: %s", row.name, state, late.State)
			}
			if rewritten := before.Rewrite("new", BasisSummary); (rewritten.Text == "new") != (i < 3) || (rewritten.Basis == BasisSummary) != (i < 3) {
				t.Errorf("while %s the text becomes %q", state, rewritten.Text)
			}
		}
	}
	r := Receipt{ID: "p", State: Delivering, Via: ViaQueue, Reason: "interrupted"}
	if r, hand := r.Step(Missing{"p"}, noon); hand || r.State != Dropped || r.String() != "p dropped via queue: interrupted" {
		t.Errorf("failed on its way, and missing: %s", r)
	}
}

func began(id, line string, at time.Time) host.CommandStarted {
	return host.CommandStarted{ID: id, Observation: shellcmd.Observation{Line: line, Started: at, Cwd: "/w"}}
}

// Commands whose end may tell where the work stands are remembered until it is told:
// after the second prompt nobody asks any more, and an end counts once.
func TestCommandsUnderWay(t *testing.T) {
	t.Parallel()
	th := Thread{}.Apply(began("c1", "git commit", noon), auto()).Apply(began("", "nameless", noon), auto())
	if len(th.Started) != 1 || th.Started["c1"].Cwd != "/w" || !th.Started["c1"].At.Equal(noon) {
		t.Fatalf("%+v", th.Started)
	}
	once := th.SeenByPrompt("c1")
	if !once.Started["c1"].PromptSince || th.Started["c1"].PromptSince {
		t.Errorf("after a prompt: %+v", once.Started)
	}
	if twice := once.SeenByPrompt("c1"); len(twice.Started) != 0 || !slices.Equal(twice.Ended, []string{"c1"}) {
		t.Errorf("after two: %+v, %v", twice.Started, twice.Ended)
	}
	behind := once.MovedToBackground("c1", once.Started["c1"], "task-7")
	if c := behind.Background["c1"]; len(behind.Started) != 0 || c.Task != "task-7" || c.PromptSince {
		t.Errorf("in the background: %+v, %+v", behind.Started, behind.Background)
	}
	end := command("git commit -m x", "[main abcdef0] x\n", 0)
	end.ID = "c1"
	end = Thread{}.Judge(end)
	for name, from := range map[string]Thread{"in the foreground": th, "in the background": behind} {
		ended := from.Apply(end, auto())
		if len(ended.Started)+len(ended.Background) != 0 || !slices.Equal(ended.Ended, []string{"c1"}) || !ended.Boundary().Has(Commit) || len(ended.State.Slice.Commits) != 1 {
			t.Errorf("%s: %+v", name, ended)
		}
		next := ended.Apply(host.TurnStarted{ID: "t2"}, auto()).Apply(end, auto())
		if next.Boundary().Has(Commit) && next.State.Worked || len(next.State.Slice.Commits) != 1 {
			t.Errorf("%s: told again, it counts again", name)
		}
	}
	if gone := behind.Forget("c1"); len(gone.Background) != 0 || !slices.Equal(gone.Ended, []string{"c1"}) || len(behind.Background) != 1 {
		t.Errorf("forgotten: %+v", gone)
	}
	// What is not kept may do anything.
	if long := (Thread{}).Apply(began("c1", strings.Repeat("x", maxLine+1), noon), auto()); long.Started["c1"].Line != "sh" {
		t.Errorf("a line of %d bytes is kept", len(long.Started["c1"].Line))
	}
	if long := (Thread{}).Apply(began("c1", strings.Repeat("x", maxLine), noon), auto()); len(long.Started["c1"].Line) != maxLine {
		t.Errorf("a line of %d bytes is not kept", maxLine)
	}
}

// What is remembered of a long session has an end: the newest stays.
func TestAThreadIsBounded(t *testing.T) {
	t.Parallel()
	var th Thread
	const many = 300
	for i := range many {
		n := fmt.Sprint(i)
		at := noon.Add(time.Duration(i) * time.Minute)
		made := command("git commit -m "+n, fmt.Sprintf("[main %07x] %s\n", i+1<<20, n), 0)
		made.ID = "done" + n
		th = th.Apply(began("c"+n, "git commit", at), auto()).Apply(host.FileChanged{File: "f" + n}, auto()).Apply(made, auto()).
			Apply(command("make "+n, "bad", 1), auto()).Apply(host.StageCompleted{Stage: "S" + n}, auto()).Apply(host.Compacted{ID: "k" + n, At: at}, auto()).
			Forget("gone" + n)
	}
	for i := range many {
		n := fmt.Sprint(i)
		th = th.Apply(host.FileChanged{File: "f" + n}, auto()).Apply(command("make "+n, "bad", 1), auto()).Apply(host.StageCompleted{Stage: "S" + n}, auto()).
			Apply(Thread{}.Judge(command("git commit -m "+n, fmt.Sprintf("[main %07x] %s\n", i+1<<20, n), 0)), auto())
	}
	s := th.State.Slice
	for name, tc := range map[string]struct{ got, want int }{
		"commands": {len(th.Started), maxStarted}, "ends": {len(th.Ended), maxEnded}, "compactions": {len(th.History), maxHistory}, "commits": {len(s.Commits), maxCommits},
		"files": {len(s.Files), maxFiles}, "failures": {len(s.Failures), maxFailures}, "stages": {len(s.Stages), maxStages},
	} {
		if tc.got != tc.want {
			t.Errorf("%d %s, want %d", tc.got, name, tc.want)
		}
	}
	last := fmt.Sprint(many - 1)
	if s.Files[maxFiles-1] != "f"+last || s.Stages[maxStages-1] != "S"+last || s.Commits[maxCommits-1].Subject != last || s.Failures[maxFailures-1].Line != "make "+last || !th.History[maxHistory-1].At.Equal(noon.Add((many-1)*time.Minute)) {
		t.Errorf("not the newest: %+v", s)
	}
	if _, ok := th.Started["c"+last]; !ok || slices.Contains(slices.Collect(maps.Keys(th.Started)), "c0") {
		t.Errorf("not the newest commands: %v", slices.Sorted(maps.Keys(th.Started)))
	}
}

// How hosts write the state of a step.
func TestStatesOfSteps(t *testing.T) {
	t.Parallel()
	for said, want := range map[host.Status]host.Status{
		"completed": host.Completed, "Done": host.Completed, "in_progress": host.InProgress, "inProgress": host.InProgress, "in-progress": host.InProgress,
		"pending": host.Pending, "": host.Pending, "todo": host.Pending, "cancelled": host.Pending,
	} {
		got := normal([]host.Step{{Text: "a  b\nc", Status: said}, {}})
		if len(got) != 1 || got[0].Status != want || got[0].Text != "a b c" {
			t.Errorf("%q: %+v", said, got)
		}
	}
	many := make([]host.Step, 2*maxPlan)
	for i := range many {
		many[i].Text = strings.Repeat("x", 2*maxStep)
	}
	if got := normal(many); len(got) != maxPlan || len(got[0].Text) != maxStep {
		t.Errorf("%d steps of %d characters", len(got), len(got[0].Text))
	}
}

// What a packet is written from: the user's words, the slice, and the open steps with the
// current one first.
func TestFactsOfAThread(t *testing.T) {
	t.Parallel()
	if !(Thread{}).Empty() {
		t.Error("a conversation that nobody has seen has something to tell")
	}
	for name, e := range map[string]host.Event{"a request": host.UserMessage{Text: "Please speed up the parser."}, "a tool": host.ToolActivity{}, "a file": host.FileChanged{File: "a.go"}} {
		if (Thread{}).Apply(e, auto()).Empty() {
			t.Errorf("%s is nothing to tell", name)
		}
	}
	th := run(auto(), host.TurnStarted{}, host.UserMessage{Text: "Please speed up the parser."}, host.FileChanged{File: "a.go"}, planOf("- first", "> second", "x third"), planOf("- first", "> second", "x third", "- fourth"))
	if th.Words.First.Text != "Please speed up the parser." || th.Words.Newest().Text != th.Words.First.Text || !cmp.Equal(th.State.Slice.Files, []string{"a.go"}) {
		t.Errorf("%+v", th)
	}
	if want := []string{"second", "first", "fourth"}; !cmp.Equal(th.Open(), want) {
		t.Errorf("open %v, want %v", th.Open(), want)
	}
}

// The gate must not hold the host back beyond the ceiling: what the host keeps for
// itself, and room for a step as this session makes them, below the window; never above
// the host's own moment, and lower where that is configured.
func TestCeiling(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		configured         int
		window, step, want int64
	}{
		{0, 200_000, 0, 150_000},
		{0, 40_000, 0, 0},
		{100_000, 200_000, 0, 100_000},
		{1, 200_000, 0, 1},
		{180_000, 200_000, 0, 150_000},
		{-5, 200_000, 0, 150_000},
		{0, 200_000, 1, 167_000},
		{0, 200_000, 8_000, 167_000},
		{0, 200_000, 16_000, 157_000},
		{0, 200_000, 70_000, 150_000},
		{0, 200_000, -1, 150_000},
		{160_000, 200_000, 1, 160_000},
		{160_000, 200_000, 16_000, 157_000},
		{0, 1_000_000, 1, 967_000},
		{0, 30_000, 1, 0},
	} {
		if got := Ceiling(Settings{CeilingTokens: tc.configured}, tc.window, tc.step); got != tc.want {
			t.Errorf("%d of %d after a step of %d: %d, want %d", tc.configured, tc.window, tc.step, got, tc.want)
		}
	}
	grows := run(auto(), host.UsageSeen{Used: 90_000, Window: 200_000}, host.UsageSeen{Used: 96_000}, host.UsageSeen{Used: 97_000}, host.UsageSeen{Used: -1}, host.UsageSeen{Used: 40_000}, host.UsageSeen{Used: 41_000})
	if grows.Step != 6_000 {
		t.Errorf("largest step %d", grows.Step)
	}
	full := Ask{Settings: auto(), Decision: Decision{Verdict: Wait}, Usage: Usage{Used: 160_000, Window: 200_000}}
	if !Gate(full) {
		t.Error("closed at a size that is too large for a step that nobody knows")
	}
	if full.Step = 6_000; Gate(full) {
		t.Error("open, though the steps of this session are small")
	}
	if got := (Usage{Used: 10, Window: 100}).Grown(7).Used; got != 13 {
		t.Errorf("seven bytes more: %d", got)
	}
	if got := (Usage{Used: -1}).Grown(700); got.Known() || got.Used != -1 {
		t.Errorf("an unknown size has grown: %+v", got)
	}
}

// At first, that nothing is to be done is no news; that the automation rests is.
func TestFirstAnnouncement(t *testing.T) {
	t.Parallel()
	for verdict, news := range map[Verdict]bool{Wait: false, IsOff: false, DoCompact: true, DoSuggest: true, DoTag: true, Stopped: true} {
		th, got := Thread{}.Announce(Decision{Verdict: verdict})
		if got != news {
			t.Errorf("%s is news: %v", verdict, got)
		}
		if _, again := th.Announce(Decision{Verdict: verdict}); again {
			t.Errorf("%s is news twice", verdict)
		}
		if _, changed := th.Announce(Decision{Verdict: verdict, Cause: causeRearm}); !changed {
			t.Errorf("%s for another cause is no news", verdict)
		}
	}
}
