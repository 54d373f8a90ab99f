package compact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

func run(set Settings, events ...Event) State {
	var s State
	for _, e := range events {
		s = s.Apply(e, set)
	}
	return s
}

func command(line, output string, exit int) CommandFinished {
	return CommandFinished{shellcmd.Observation{Line: line, Cwd: "/workspace/repo", Output: output, Exit: &exit}}
}

func plan(list ...string) PlanUpdated { return named("", list...) }

// named makes a plan of steps written as "x done", "> doing", "- open".
func named(id string, list ...string) PlanUpdated {
	p := PlanUpdated{Plan: id}
	for _, l := range list {
		mark, text, _ := strings.Cut(l, " ")
		status := map[string]Status{"x": Completed, ">": InProgress, "-": Pending}[mark]
		p.Steps = append(p.Steps, Step{Text: text, Status: status})
	}
	return p
}

// The forms in which Codex reports a finished command, as recorded from the
// real program.
func Test004_CommitFromExecCommandVariants(t *testing.T) {
	t.Parallel()
	made := "[main ba5e6c0] msg\n 1 file changed, 1 insertion(+)\n"
	for name, row := range map[string]struct {
		event CommandFinished
		want  Signals
	}{
		"root commit":       {command(`/bin/bash -lc 'git add f && git -c user.name=m commit -m one'`, "[main (root-commit) 13a3117] one\n", 0), Of(Commit)},
		"amend":             {command(`/bin/bash -lc 'git commit --amend -m one'`, made, 0), Of(Commit)},
		"alias":             {command(`/bin/bash -lc 'git config alias.ci commit && git ci -am x'`, made, 0), Of(Commit)},
		"elsewhere":         {command(`/bin/bash -lc 'cd / && git -C "$OLDPWD" commit -am x'`, made, 0), Of(Commit)},
		"push fails":        {command(`/bin/bash -lc 'git commit -am five && git push'`, made+"fatal: No configured push destination.\n", 128), Of(Commit)},
		"script":            {command(`/bin/bash -lc 'bash s.sh'`, made, 0), Of(Commit)},
		"quiet":             {command(`/bin/bash -lc 'git commit -qam quiet'`, "", 0), Of(Commit)},
		"quiet, failed":     {command(`/bin/bash -lc 'git commit -qam quiet'`, "", 1), 0},
		"nothing to commit": {command(`/bin/bash -lc 'git commit -m x'`, "nothing to commit, working tree clean\n", 1), 0},
		"masked":            {command(`/bin/bash -lc 'git commit -m x; true'`, "nothing to commit, working tree clean\n", 0), 0},
		"dry run":           {command(`/bin/bash -lc 'git commit --dry-run -am x'`, "On branch main\n", 0), 0},
		"echo":              {command(`/bin/bash -lc "echo 'git commit is a command'"`, "git commit is a command\n", 0), 0},
		"search":            {command(`/bin/bash -lc "git log --grep='git commit'"`, "", 0), 0},
		"push":              {command(`git push`, "Everything up-to-date\n", 0), 0},
		"pull request":      {command(`gh pr create --fill`, "https://example.test/o/r/pull/1\n", 0), Of(PRCheckpoint)},
		"not installed":     {command(`gh pr create --fill`, "bash: gh: command not found\n", 127), 0},
		"stack":             {command(`gt submit --stack`, "ok\n", 0), Of(PRCheckpoint)},
		"both":              {command(`git commit -m x && gt ss`, made+"ok\n", 0), Of(Commit, PRCheckpoint)},
	} {
		if got := run(auto(), TurnStarted{}, row.event).Signals(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got.List(), row.want.List())
		}
	}
}

func Test004_PlanCheckpointFromUpdatePlan(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before []Event // in the turn before
		now    []Event
		want   bool
	}{
		"step completed":                {[]Event{plan("> a", "- b")}, []Event{plan("x a", "> b")}, true},
		"within one turn":               {nil, []Event{plan("> a", "- b"), plan("x a", "> b")}, true},
		"last step":                     {[]Event{plan("x a", "> b")}, []Event{plan("x a", "x b")}, true},
		"straight from pending":         {[]Event{plan("- a", "- b")}, []Event{plan("x a", "- b")}, true},
		"completed, steps added":        {[]Event{plan("> a")}, []Event{plan("x a", "- b", "- c")}, true},
		"completed and moved":           {[]Event{plan("- a", "> b")}, []Event{plan("x b", "- a")}, true},
		"reworded while completed":      {[]Event{plan("> write tests", "- b")}, []Event{plan("x tests written", "> b")}, true},
		"only started":                  {[]Event{plan("- a", "- b")}, []Event{plan("> a", "- b")}, false},
		"nothing changed":               {[]Event{plan("x a", "- b")}, []Event{plan("x a", "- b")}, false},
		"brand-new, partly completed":   {nil, []Event{plan("x a", "- b")}, false},
		"replaced, partly completed":    {[]Event{plan("> a", "- b")}, []Event{plan("x c", "- d")}, false},
		"cleared":                       {[]Event{plan("> a")}, []Event{plan()}, false},
		"cleared and restored":          {[]Event{plan("x a", "- b")}, []Event{plan(), plan("x a", "- b")}, false},
		"cleared, restored, completed":  {[]Event{plan("> a", "- b")}, []Event{plan(), plan("x a", "- b")}, true},
		"blank steps":                   {[]Event{plan("> a")}, []Event{plan("x  ", "- ")}, false},
		"reopened":                      {[]Event{plan("x a", "> b")}, []Event{plan("> a", "> b")}, false},
		"completed step removed":        {[]Event{plan("x a", "> b")}, []Event{plan("> b")}, false},
		"completed step added":          {[]Event{plan("> b", "- d")}, []Event{plan("> b", "- d", "x c")}, false},
		"equal texts, one completed":    {[]Event{plan("x run tests", "- run tests")}, []Event{plan("x run tests", "x run tests")}, true},
		"equal texts, unchanged":        {[]Event{plan("x run tests", "- run tests")}, []Event{plan("x run tests", "- run tests")}, false},
		"older plan edited":             {[]Event{named("1", "> a"), named("2", "> b")}, []Event{named("1", "x a")}, false},
		"active plan after older edit":  {[]Event{named("1", "> a"), named("2", "> b")}, []Event{named("1", "x a"), named("2", "x b")}, true},
		"new named plan":                {[]Event{named("1", "> a")}, []Event{named("2", "x b", "- c")}, false},
		"older unnamed plan comes back": {[]Event{plan("> a", "- b"), plan("> c")}, []Event{plan("x a", "- b")}, false},
		"Codex spelling": {
			[]Event{PlanUpdated{Steps: []Step{{Text: "a", Status: "inProgress"}}}},
			[]Event{PlanUpdated{Steps: []Step{{Text: "a", Status: "completed"}}}},
			true,
		},
		"task ids survive rewording": {
			[]Event{PlanUpdated{Plan: "tasks", Steps: []Step{{ID: "1", Text: "a"}, {ID: "2", Text: "b"}}}},
			[]Event{PlanUpdated{Plan: "tasks", Steps: []Step{{ID: "2", Text: "b"}, {ID: "1", Text: "A!", Status: Completed}}}},
			true,
		},
	} {
		events := append([]Event{TurnStarted{}}, row.before...)
		events = append(append(events, TurnEnded{}, TurnStarted{}), row.now...)
		if got := run(auto(), events...).Signals().Has(PlanCheckpoint); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestSliceRemembersTheWork(t *testing.T) {
	t.Parallel()
	s := run(auto(), TurnStarted{}, plan("> a", "- b"), ToolActivity{"Edit", "a.go"}, ToolActivity{"Edit", "b.go"}, ToolActivity{"Edit", "a.go"}, ToolActivity{Tool: "Read"},
		command("go test ./...", "ok\nFAIL x\n", 1), command("make lint", "bad\n", 2), command("make lint", "good\n", 0), command("go  test ./...", "FAIL y", 1),
		plan("x a", "> b"), StageCompleted{"DEV"}, command("git commit -m one", "[main abcdef0] one\n", 0), AgentMessage{"first"}, AgentMessage{"second"}, AgentMessage{" "})
	want := Slice{
		Commits: []shellcmd.Made{{Hash: "abcdef0", Subject: "one"}}, Files: []string{"b.go", "a.go"}, Steps: []string{"a"},
		Failures: []Failure{{"go test ./...", "FAIL y"}}, Stages: []string{"DEV"}, Last: "second",
	}
	if diff := cmp.Diff(want, s.Slice); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s = s.Apply(Compacted{}, auto())
	if diff := cmp.Diff(Slice{}, s.Slice); diff != "" || s.Boundary() != 0 {
		t.Errorf("after a compaction: %v %s", s.Boundary().List(), diff)
	}
	if !s.Worked || len(s.Plan.Steps) != 2 {
		t.Error("the turn and its plan go on after a compaction")
	}
}

func Test004_AgentDoneNeedsWorkAndNoDoubt(t *testing.T) {
	t.Parallel()
	work := ToolActivity{Tool: "Edit"}
	for name, row := range map[string]struct {
		events []Event
		want   Signals
	}{
		"done after work":           {[]Event{work, AgentMessage{"All tasks are done."}}, Of(AgentDone)},
		"done before the last work": {[]Event{AgentMessage{"The task is complete"}, work}, Of(AgentDone)},
		"no work":                   {[]Event{AgentMessage{"All tasks are done."}}, 0},
		"a plan alone is no work":   {[]Event{plan("- a"), AgentMessage{"The work is done."}}, Of(PlanUpdate)},
		"doubt":                     {[]Event{work, AgentMessage{"The task is complete, but the docs are not done."}}, 0},
		"taken back":                {[]Event{work, AgentMessage{"The task is complete."}, AgentMessage{"Wait, one test fails."}}, 0},
		"emphasis":                  {[]Event{work, AgentMessage{"**The task\nis   complete**"}}, Of(AgentDone)},
		"curly apostrophe":          {[]Event{work, AgentMessage{"I’ve finished the parser."}}, Of(AgentDone)},
		"part of a word":            {[]Event{work, AgentMessage{"The task is completely different."}}, 0},
		"in a word":                 {[]Event{work, AgentMessage{"Underneath the worktask is complete nonsense"}}, 0},
		"in a fence":                {[]Event{work, AgentMessage{"Log:\n```\nthe task is done\n```\nmore to come"}}, 0},
		"after a fence":             {[]Event{work, AgentMessage{"```\nx\n```\nThe task is done"}}, Of(AgentDone)},
		"inline code":               {[]Event{work, AgentMessage{"I print `the task is done` now"}}, 0},
		"block quote":               {[]Event{work, AgentMessage{"> the task is done\n\nsays the issue"}}, 0},
		"quoted":                    {[]Event{work, AgentMessage{`The label "the task is done" is wrong`}}, 0},
		"quoted in Chinese":         {[]Event{work, AgentMessage{"按鈕「任務已完成」的顏色不對"}}, 0},
		"Chinese":                   {[]Event{work, AgentMessage{"好的，任務已完成。"}}, Of(AgentDone)},
		"Chinese inside a sentence": {[]Event{work, AgentMessage{"這些都完成了吧abc"}}, Of(AgentDone)},
		"Chinese doubt":             {[]Event{work, AgentMessage{"部分完成，任務已完成一半，還需要測試"}}, 0},
		"topic shift":               {[]Event{work, AgentMessage{"Moving on to the parser."}}, Of(TopicShift)},
		"conclusion":                {[]Event{work, AgentMessage{"In summary, it works."}}, Of(ConcludingThought)},
		"shift without work":        {[]Event{AgentMessage{"Moving on to the parser. In summary …"}}, 0},
		"our own packet":            {[]Event{work, AgentMessage{"I was told:\n" + packetOpen + " id=\"x\">\nthe task is done\n" + packetClose + "\nso I go on"}}, 0},
		"an unfinished packet":      {[]Event{work, AgentMessage{"I was told:\n" + packetOpen + " id=\"x\">\nthe task is done\n"}}, 0},
		"synthetic turn":            {[]Event{TurnStarted{Synthetic: true}, work, command("git commit -m x", "[main abcdef0] x\n", 0), StageCompleted{"DEV"}, AgentMessage{"All tasks are done."}}, 0},
		"user turn after it":        {[]Event{TurnStarted{Synthetic: true}, work, TurnStarted{}, work, AgentMessage{"All tasks are done."}}, Of(AgentDone)},
		"signals end with the turn": {[]Event{work, AgentMessage{"All tasks are done."}, TurnEnded{}, TurnStarted{}, work}, 0},
	} {
		got := run(auto(), append([]Event{TurnStarted{}}, row.events...)...).Signals()
		if got != row.want {
			t.Errorf("%s: %v, want %v", name, got.List(), row.want.List())
		}
	}
}

func Test004_MarkersComeFromTheSettings(t *testing.T) {
	t.Parallel()
	s := auto()
	s.Markers = Markers{Done: []string{"Shipped It", " "}, NotDone: []string{"not really"}, Shift: []string{"weiter mit"}, Conclusion: []string{"FAZIT"}}
	for text, want := range map[string]Signals{
		"we shipped it": Of(AgentDone), "we shipped it, not really": 0, "all tasks are done": 0, "": 0,
		"Weiter mit Teil zwei.": Of(TopicShift), "Fazit: gut": Of(ConcludingThought), "fazite": 0, "weiter mitten": 0,
	} {
		if got := run(s, ToolActivity{}, AgentMessage{text}).Signals(); got != want {
			t.Errorf("%q: %v, want %v", text, got.List(), want.List())
		}
	}
}

// A host that can compact only when a turn begins still sees the last turn's
// boundary, until the new turn does something.
func TestBoundaryOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	commit := command("git commit -m x", "[main abcdef0] x\n", 0)
	s := run(auto(), TurnStarted{}, commit, TurnEnded{}, TurnStarted{})
	if s.Boundary() != Of(Commit) || s.Signals() != 0 {
		t.Errorf("boundary %v, signals %v", s.Boundary().List(), s.Signals().List())
	}
	if b := s.Apply(ToolActivity{}, auto()).Boundary(); b != 0 {
		t.Errorf("after new work: %v", b.List())
	}
	if b := s.Apply(TurnStarted{}, auto()).Boundary(); b != 0 {
		t.Errorf("two turns later: %v", b.List())
	}
	if b := s.Apply(TurnStarted{Synthetic: true}, auto()).Boundary(); b != 0 {
		t.Errorf("in our own turn: %v", b.List())
	}
	if b := s.Spend().Boundary(); b != 0 {
		t.Errorf("spent: %v", b.List())
	}
}

func drawEvent(t *rapid.T) Event {
	words := rapid.SampledFrom([]string{"", "a", "b", "all tasks are done", "moving on to b", "「任務已完成」", "```", "x\x1b[31my", strings.Repeat("長", 9000)})
	switch rapid.IntRange(0, 7).Draw(t, "event") {
	case 0:
		return TurnStarted{rapid.Bool().Draw(t, "synthetic")}
	case 1:
		return command(rapid.SampledFrom([]string{"git commit -m x", "ls", "gh pr create", "false", "("}).Draw(t, "line"), words.Draw(t, "out"), rapid.IntRange(0, 1).Draw(t, "exit"))
	case 2:
		var p PlanUpdated
		p.Plan = rapid.SampledFrom([]string{"", "", "1", "2"}).Draw(t, "plan")
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			p.Steps = append(p.Steps, Step{Text: words.Draw(t, "text"), Status: rapid.SampledFrom([]Status{Pending, InProgress, Completed}).Draw(t, "status")})
		}
		return p
	case 3:
		return AgentMessage{words.Draw(t, "message")}
	case 4:
		return ToolActivity{"Edit", words.Draw(t, "file")}
	case 5:
		return StageCompleted{words.Draw(t, "stage")}
	case 6:
		return TurnEnded{}
	}
	return Compacted{}
}

// The state is a value: applying an event twice to the same state gives the same
// result, storing it in between changes nothing, and it stays small.
func TestStateIsAValue(t *testing.T) {
	t.Parallel()
	set := auto()
	rapid.Check(t, func(t *rapid.T) {
		var s State
		for range rapid.IntRange(1, 80).Draw(t, "n") {
			e := drawEvent(t)
			before := fmt.Sprintf("%+v", s)
			next := s.Apply(e, set)
			if fmt.Sprintf("%+v", s) != before {
				t.Fatalf("Apply(%T) changed its input", e)
			}
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var stored State
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(next)
			b, _ := json.Marshal(stored.Apply(e, set))
			if string(a) != string(b) {
				t.Fatalf("%T: stored in between\n%s\n%s", e, a, b)
			}
			if len(a) > 512<<10 {
				t.Fatalf("state of %d bytes", len(a))
			}
			if next.Synthetic && next.Signals() != 0 {
				t.Fatalf("signals in a synthetic turn: %v", next.Signals().List())
			}
			s = next
		}
	})
}

func FuzzMarkers(f *testing.F) {
	f.Add("All tasks are done.")
	f.Add("```\n\"「『")
	f.Add(packetOpen + packetClose + packetOpen)
	set := Defaults()
	f.Fuzz(func(t *testing.T, text string) {
		run(set, ToolActivity{}, AgentMessage{text})
		if got := run(set, ToolActivity{}, AgentMessage{"```\n" + strings.NewReplacer("`", "", "~", "").Replace(text) + "\n```"}); got.Signals() != 0 && !strings.Contains(text, "overtone-packet") {
			t.Errorf("a fenced text is a signal: %v", got.Signals().List())
		}
	})
}
