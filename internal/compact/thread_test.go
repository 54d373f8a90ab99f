package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

func run(set Settings, events ...host.Event) Thread {
	var s Thread
	for _, e := range events {
		if c, ok := e.(host.CommandFinished); ok {
			e = s.Judge(c)
		}
		s = s.Apply(e, set)
	}
	return s
}

func command(line, output string, exit int) host.CommandFinished {
	return host.CommandFinished{Observation: shellcmd.Observation{Line: line, Cwd: "/workspace/repo", Output: output, Exit: &exit}}
}

func planOf(list ...string) host.PlanWritten { return named("", list...) }

// named makes a plan of steps written as "x done", "> doing", "- open".
func named(id string, list ...string) host.PlanWritten {
	p := host.PlanWritten{Plan: id}
	for _, l := range list {
		mark, text, _ := strings.Cut(l, " ")
		status := map[string]host.Status{"x": host.Completed, ">": host.InProgress, "-": host.Pending}[mark]
		p.Steps = append(p.Steps, host.Step{Text: text, Status: status})
	}
	return p
}

// Apply asks no repository: the same events give the same thread, wherever and
// whenever they are replayed.
func TestApplyAsksNobody(t *testing.T) {
	t.Parallel()
	asked := func(string) (shellcmd.Head, error) {
		t.Error("a repository was read")
		return shellcmd.Head{}, nil
	}
	e := command("git commit -m x", "[main ba5e6c0] x\n", 0)
	e.Head, e.Running, e.ID = asked, true, "c1"
	e.Made = shellcmd.Verdict{Committed: true, Commits: []shellcmd.Made{{Hash: "ba5e6c0", Subject: "x"}}}
	e.Now = []shellcmd.Mark{{GitDir: "/g", Hash: "ba5e6c0"}}
	thread := Thread{}.MovedToBackground("c1", Command{Line: e.Line}, "b1").Apply(e, auto())
	if !thread.State.Seen.Has(Commit) || len(thread.State.Slice.Commits) != 1 {
		t.Errorf("%v, %v", thread.State.Seen.List(), thread.State.Slice.Commits)
	}
	if d := cmp.Diff(e.Now, thread.Background["c1"].Marks); d != "" {
		t.Errorf("where the command's repositories stand is not remembered: %s", d)
	}
}

// Only a command whose end can show a boundary is waited for; every boundary that an
// end shows could be expected before.
func TestMayShow(t *testing.T) {
	t.Parallel()
	head := func(string) (shellcmd.Head, error) { return shellcmd.Head{}, nil }
	for line, want := range map[string]bool{
		"git commit -m x": true, "gh pr create --fill": true, "gt submit": true, "go test ./...": false, "git diff": false, "ls": false, "echo gh": false,
	} {
		if got := MayShow(shellcmd.Observation{Line: line}); got != want {
			t.Errorf("%s: %v in a recorded session", line, got)
		}
	}
	if MayShow(shellcmd.Observation{Line: "git commit -m x", Head: head}) {
		t.Error("a command without a repository to commit to is waited for")
	}
	if !MayShow(shellcmd.Observation{Line: "make release", Head: head, Before: []shellcmd.Mark{{GitDir: "/g"}}}) {
		t.Error("a script that may commit is not waited for")
	}
}

// The forms in which Codex reports a finished command, as recorded from the
// real program.
func Test004_CommitFromExecCommandVariants(t *testing.T) {
	t.Parallel()
	made := "[main ba5e6c0] msg\n 1 file changed, 1 insertion(+)\n"
	for name, row := range map[string]struct {
		event host.CommandFinished
		want  Signals
	}{
		"root commit":       {command(`/bin/bash -lc 'git add f && git -c user.name=m commit -m one'`, "[main (root-commit) 13a3117] one\n", 0), setOf(Commit)},
		"amend":             {command(`/bin/bash -lc 'git commit --amend -m one'`, made, 0), setOf(Commit)},
		"alias":             {command(`/bin/bash -lc 'git config alias.ci commit && git ci -am x'`, made, 0), setOf(Commit)},
		"elsewhere":         {command(`/bin/bash -lc 'cd / && git -C "$OLDPWD" commit -am x'`, made, 0), setOf(Commit)},
		"push fails":        {command(`/bin/bash -lc 'git commit -am five && git push'`, made+"fatal: No configured push destination.\n", 128), setOf(Commit)},
		"script":            {command(`/bin/bash -lc 'bash s.sh'`, made, 0), setOf(Commit)},
		"quiet":             {command(`/bin/bash -lc 'git commit -qam quiet'`, "", 0), setOf(Commit)},
		"quiet, failed":     {command(`/bin/bash -lc 'git commit -qam quiet'`, "", 1), 0},
		"nothing to commit": {command(`/bin/bash -lc 'git commit -m x'`, "nothing to commit, working tree clean\n", 1), 0},
		"masked":            {command(`/bin/bash -lc 'git commit -m x; true'`, "nothing to commit, working tree clean\n", 0), 0},
		"dry run":           {command(`/bin/bash -lc 'git commit --dry-run -am x'`, "On branch main\n", 0), 0},
		"echo":              {command(`/bin/bash -lc "echo 'git commit is a command'"`, "git commit is a command\n", 0), 0},
		"search":            {command(`/bin/bash -lc "git log --grep='git commit'"`, "", 0), 0},
		"push":              {command(`git push`, "Everything up-to-date\n", 0), 0},
		"pull request":      {command(`gh pr create --fill`, "https://example.test/o/r/pull/1\n", 0), setOf(PRCheckpoint)},
		"not installed":     {command(`gh pr create --fill`, "bash: gh: command not found\n", 127), 0},
		"stack":             {command(`gt submit --stack`, "ok\n", 0), setOf(PRCheckpoint)},
		"both":              {command(`git commit -m x && gt ss`, made+"ok\n", 0), setOf(Commit, PRCheckpoint)},
	} {
		if got := run(auto(), host.TurnStarted{}, row.event).State.signals(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got.List(), row.want.List())
		}
	}
}

func Test004_PlanCheckpointFromUpdatePlan(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before []host.Event // in the turn before
		now    []host.Event
		want   bool
	}{
		"step completed":                {[]host.Event{planOf("> a", "- b")}, []host.Event{planOf("x a", "> b")}, true},
		"within one turn":               {nil, []host.Event{planOf("> a", "- b"), planOf("x a", "> b")}, true},
		"last step":                     {[]host.Event{planOf("x a", "> b")}, []host.Event{planOf("x a", "x b")}, true},
		"straight from pending":         {[]host.Event{planOf("- a", "- b")}, []host.Event{planOf("x a", "- b")}, true},
		"completed, steps added":        {[]host.Event{planOf("> a")}, []host.Event{planOf("x a", "- b", "- c")}, true},
		"completed and moved":           {[]host.Event{planOf("- a", "> b")}, []host.Event{planOf("x b", "- a")}, true},
		"reworded while completed":      {[]host.Event{planOf("> write tests", "- b")}, []host.Event{planOf("x tests written", "> b")}, true},
		"only started":                  {[]host.Event{planOf("- a", "- b")}, []host.Event{planOf("> a", "- b")}, false},
		"nothing changed":               {[]host.Event{planOf("x a", "- b")}, []host.Event{planOf("x a", "- b")}, false},
		"brand-new, partly completed":   {nil, []host.Event{planOf("x a", "- b")}, false},
		"replaced, partly completed":    {[]host.Event{planOf("> a", "- b")}, []host.Event{planOf("x c", "- d")}, false},
		"cleared":                       {[]host.Event{planOf("> a")}, []host.Event{planOf()}, false},
		"cleared and restored":          {[]host.Event{planOf("x a", "- b")}, []host.Event{planOf(), planOf("x a", "- b")}, false},
		"cleared, restored, completed":  {[]host.Event{planOf("> a", "- b")}, []host.Event{planOf(), planOf("x a", "- b")}, true},
		"blank steps":                   {[]host.Event{planOf("> a")}, []host.Event{planOf("x  ", "- ")}, false},
		"reopened":                      {[]host.Event{planOf("x a", "> b")}, []host.Event{planOf("> a", "> b")}, false},
		"completed step removed":        {[]host.Event{planOf("x a", "> b")}, []host.Event{planOf("> b")}, false},
		"completed step added":          {[]host.Event{planOf("> b", "- d")}, []host.Event{planOf("> b", "- d", "x c")}, false},
		"equal texts, one completed":    {[]host.Event{planOf("x run tests", "- run tests")}, []host.Event{planOf("x run tests", "x run tests")}, true},
		"equal texts, unchanged":        {[]host.Event{planOf("x run tests", "- run tests")}, []host.Event{planOf("x run tests", "- run tests")}, false},
		"older plan edited":             {[]host.Event{named("1", "> a"), named("2", "> b")}, []host.Event{named("1", "x a")}, false},
		"active plan after older edit":  {[]host.Event{named("1", "> a"), named("2", "> b")}, []host.Event{named("1", "x a"), named("2", "x b")}, true},
		"new named plan":                {[]host.Event{named("1", "> a")}, []host.Event{named("2", "x b", "- c")}, false},
		"older unnamed plan comes back": {[]host.Event{planOf("> a", "- b"), planOf("> c")}, []host.Event{planOf("x a", "- b")}, false},
		"Codex spelling": {
			[]host.Event{host.PlanWritten{Steps: []host.Step{{Text: "a", Status: "inProgress"}}}},
			[]host.Event{host.PlanWritten{Steps: []host.Step{{Text: "a", Status: "completed"}}}},
			true,
		},
		"task ids survive rewording": {
			[]host.Event{host.PlanWritten{Plan: "tasks", Steps: []host.Step{{ID: "1", Text: "a"}, {ID: "2", Text: "b"}}}},
			[]host.Event{host.PlanWritten{Plan: "tasks", Steps: []host.Step{{ID: "2", Text: "b"}, {ID: "1", Text: "A!", Status: host.Completed}}}},
			true,
		},
	} {
		events := append([]host.Event{host.TurnStarted{}}, row.before...)
		events = append(append(events, host.TurnEnded{}, host.TurnStarted{}), row.now...)
		if got := run(auto(), events...).State.signals().Has(PlanCheckpoint); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestSliceRemembersTheWork(t *testing.T) {
	t.Parallel()
	s := run(auto(), host.TurnStarted{}, planOf("> a", "- b"), host.FileChanged{File: "a.go"}, host.FileChanged{File: "b.go"}, host.FileChanged{File: "a.go"}, host.ToolActivity{},
		command("go test ./...", "ok\nFAIL x\n", 1), command("make lint", "bad\n", 2), command("make lint", "good\n", 0), command("go  test ./...", "FAIL y", 1),
		planOf("x a", "> b"), host.StageCompleted{Stage: "DEV"}, command("git commit -m one", "[main abcdef0] one\n", 0), host.AgentMessage{Text: "first"}, host.AgentMessage{Text: "second"}, host.AgentMessage{Text: " "})
	want := Slice{
		Commits: []shellcmd.Made{{Hash: "abcdef0", Subject: "one"}}, Files: []string{"b.go", "a.go"}, Steps: []string{"a"},
		Failures: []Failure{{"go test ./...", "FAIL y"}}, Stages: []string{"DEV"}, Last: "second",
	}
	if diff := cmp.Diff(want, s.State.Slice); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s = s.Apply(host.Compacted{}, auto())
	if diff := cmp.Diff(Slice{}, s.State.Slice); diff != "" || s.Boundary() != 0 {
		t.Errorf("after a compaction: %v %s", s.Boundary().List(), diff)
	}
	if !s.State.Worked || len(s.State.Plan.Steps) != 2 {
		t.Error("the turn and its plan go on after a compaction")
	}
}

func Test004_AgentDoneNeedsWorkAndNoDoubt(t *testing.T) {
	t.Parallel()
	work := host.ToolActivity{}
	for name, row := range map[string]struct {
		events []host.Event
		want   Signals
	}{
		"done after work":           {[]host.Event{work, host.AgentMessage{Text: "All tasks are done."}}, setOf(AgentDone)},
		"done before the last work": {[]host.Event{host.AgentMessage{Text: "The task is complete"}, work}, setOf(AgentDone)},
		"no work":                   {[]host.Event{host.AgentMessage{Text: "All tasks are done."}}, 0},
		"a plan alone is no work":   {[]host.Event{planOf("- a"), host.AgentMessage{Text: "The work is done."}}, setOf(PlanUpdate)},
		"doubt":                     {[]host.Event{work, host.AgentMessage{Text: "The task is complete, but the docs are not done."}}, 0},
		"taken back":                {[]host.Event{work, host.AgentMessage{Text: "The task is complete."}, host.AgentMessage{Text: "Wait, one test fails."}}, 0},
		"emphasis":                  {[]host.Event{work, host.AgentMessage{Text: "**The task\nis   complete**"}}, setOf(AgentDone)},
		"curly apostrophe":          {[]host.Event{work, host.AgentMessage{Text: "I’ve finished the parser."}}, setOf(AgentDone)},
		"part of a word":            {[]host.Event{work, host.AgentMessage{Text: "The task is completely different."}}, 0},
		"in a word":                 {[]host.Event{work, host.AgentMessage{Text: "Underneath the worktask is complete nonsense"}}, 0},
		"in a fence":                {[]host.Event{work, host.AgentMessage{Text: "Log:\n```\nthe task is done\n```\nmore to come"}}, 0},
		"after a fence":             {[]host.Event{work, host.AgentMessage{Text: "```\nx\n```\nThe task is done"}}, setOf(AgentDone)},
		"inline code":               {[]host.Event{work, host.AgentMessage{Text: "I print `the task is done` now"}}, 0},
		"block quote":               {[]host.Event{work, host.AgentMessage{Text: "> the task is done\n\nsays the issue"}}, 0},
		"quoted":                    {[]host.Event{work, host.AgentMessage{Text: `The label "the task is done" is wrong`}}, 0},
		"quoted in Chinese":         {[]host.Event{work, host.AgentMessage{Text: "按鈕「任務已完成」的顏色不對"}}, 0},
		"Chinese":                   {[]host.Event{work, host.AgentMessage{Text: "好的，任務已完成。"}}, setOf(AgentDone)},
		"Chinese inside a sentence": {[]host.Event{work, host.AgentMessage{Text: "這些都完成了吧abc"}}, setOf(AgentDone)},
		"Chinese doubt":             {[]host.Event{work, host.AgentMessage{Text: "部分完成，任務已完成一半，還需要測試"}}, 0},
		"topic shift":               {[]host.Event{work, host.AgentMessage{Text: "Moving on to the parser."}}, setOf(TopicShift)},
		"conclusion":                {[]host.Event{work, host.AgentMessage{Text: "In summary, it works."}}, setOf(ConcludingThought)},
		"shift without work":        {[]host.Event{host.AgentMessage{Text: "Moving on to the parser. In summary …"}}, 0},
		"our own packet":            {[]host.Event{work, host.AgentMessage{Text: "I was told:\n" + PacketOpen + " id=\"x\">\nthe task is done\n" + PacketClose + "\nso I go on"}}, 0},
		"an unfinished packet":      {[]host.Event{work, host.AgentMessage{Text: "I was told:\n" + PacketOpen + " id=\"x\">\nthe task is done\n"}}, 0},
		"a packet's turn":           {[]host.Event{host.TurnStarted{}, host.UserMessage{Ours: true}, work, command("git commit -m x", "[main abcdef0] x\n", 0), host.StageCompleted{Stage: "DEV"}, host.AgentMessage{Text: "All tasks are done."}}, setOf(Commit, StageComplete, AgentDone)},
		"user turn after it":        {[]host.Event{host.TurnStarted{}, host.UserMessage{Ours: true}, work, host.TurnStarted{}, work, host.AgentMessage{Text: "All tasks are done."}}, setOf(AgentDone)},
		"signals end with the turn": {[]host.Event{work, host.AgentMessage{Text: "All tasks are done."}, host.TurnEnded{}, host.TurnStarted{}, work}, 0},
	} {
		got := run(auto(), append([]host.Event{host.TurnStarted{}}, row.events...)...).State.signals()
		if got != row.want {
			t.Errorf("%s: %v, want %v", name, got.List(), row.want.List())
		}
	}
}

// Row 9 of the Codex findings: how agents really close.
func TestCodexRow9_TypicalClosers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Done.", "All done.", "Done! The parser reads both forms now.", "Implemented the retry, all tests pass.", "Fixed.",
		"Fixed the race in the pool.", "I've added the flag and a test for it.", "I have updated both files.", "Perfect! All tests pass.",
		"**Summary**\n\nI've successfully refactored the store.", "Reverted.", "Committed as 1a2b3c4.", "All set.", "The migration is complete.",
		"Updated the docs accordingly.", "✅ All checks pass.", "已完成。", "已修復測試。", "搞定，測試都過了。", "Code review complete.",
	} {
		if got := run(auto(), host.ToolActivity{}, host.AgentMessage{Text: text}).State.signals(); !got.Has(AgentDone) {
			t.Errorf("%q is not taken for an end", text)
		}
	}
	for _, text := range []string{
		"Done?", "Is it fixed? Let me look.", "Found it: the lock is taken twice. Shall I change it?", "I've hit a circular import.",
		"Here is how the gate works: it is fixed at start.", "Fixed widths are not supported by the grid; which do you prefer?",
		"The tests fail in CI. I am looking into it.", "I'd suggest option 2.",
		"部分完成，還需要測試。", "要先修復哪一個？",
	} {
		if got := run(auto(), host.ToolActivity{}, host.AgentMessage{Text: text}).State.signals(); got.Has(AgentDone) {
			t.Errorf("%q is taken for an end", text)
		}
	}
}

func Test004_MarkersComeFromTheSettings(t *testing.T) {
	t.Parallel()
	s := auto()
	s.Markers = config.Markers{AgentDone: []string{"Shipped It", " "}, AgentDoneNegative: []string{"not really"}, TopicShift: []string{"weiter mit"}, ConcludingThought: []string{"FAZIT"}}
	for text, want := range map[string]Signals{
		"we shipped it": setOf(AgentDone), "we shipped it, not really": 0, "all tasks are done": 0, "": 0,
		"Weiter mit Teil zwei.": setOf(TopicShift), "Fazit: gut": setOf(ConcludingThought), "fazite": 0, "weiter mitten": 0,
	} {
		if got := run(s, host.ToolActivity{}, host.AgentMessage{Text: text}).State.signals(); got != want {
			t.Errorf("%q: %v, want %v", text, got.List(), want.List())
		}
	}
}

// Agents say at the end that they are done; what stands far before it tells nothing.
func TestMarkersAreLookedForAtTheEnd(t *testing.T) {
	t.Parallel()
	marks := NewMarks(config.Defaults().Compact.Markers)
	long := strings.Repeat("它讀取一列。", maxMessage/15)
	if got := marks.In(long + "\n\nThe task is done."); !got.Has(AgentDone) {
		t.Errorf("at the end: %v", got.List())
	}
	if got := marks.In("The task is done.\n\n" + long); got.Has(AgentDone) {
		t.Errorf("%d bytes before the end: %v", len(long), got.List())
	}
}

// A host that can compact only when a turn begins still sees the last turn's
// boundary, until the new turn does something.
func TestBoundaryOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	commit := command("git commit -m x", "[main abcdef0] x\n", 0)
	s := run(auto(), host.TurnStarted{}, commit, host.TurnEnded{}, host.TurnStarted{})
	if s.Boundary() != setOf(Commit) || s.State.signals() != 0 {
		t.Errorf("boundary %v, signals %v", s.Boundary().List(), s.State.signals().List())
	}
	if b := s.Apply(host.ToolActivity{}, auto()).Boundary(); b != 0 {
		t.Errorf("after new work: %v", b.List())
	}
	if b := s.Apply(host.TurnStarted{}, auto()).Boundary(); b != 0 {
		t.Errorf("two turns later: %v", b.List())
	}
	if b := s.Apply(host.UserMessage{Ours: true}, auto()).Boundary(); b != 0 {
		t.Errorf("in our own turn: %v", b.List())
	}
	if b := s.Apply(host.Compacted{}, auto()).Boundary(); b != 0 {
		t.Errorf("spent: %v", b.List())
	}
}

func drawEvent(t *rapid.T) host.Event {
	words := rapid.SampledFrom([]string{"", "a", "b", "all tasks are done", "moving on to b", "「任務已完成」", "```", "x\x1b[31my", strings.Repeat("長", 9000)})
	id := rapid.SampledFrom([]string{"", "1", "2"})
	switch rapid.IntRange(0, 12).Draw(t, "event") {
	case 0:
		return host.TurnStarted{ID: id.Draw(t, "turn"), At: noon}
	case 1:
		return command(rapid.SampledFrom([]string{"git commit -m x", "ls", "gh pr create", "false", "("}).Draw(t, "line"), words.Draw(t, "out"), rapid.IntRange(0, 1).Draw(t, "exit"))
	case 2:
		var p host.PlanWritten
		p.Plan = rapid.SampledFrom([]string{"", "", "1", "2"}).Draw(t, "plan")
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			p.Steps = append(p.Steps, host.Step{Text: words.Draw(t, "text"), Status: rapid.SampledFrom([]host.Status{host.Pending, host.InProgress, host.Completed}).Draw(t, "status")})
		}
		return p
	case 3:
		return host.AgentMessage{Text: words.Draw(t, "message")}
	case 4:
		return host.FileChanged{File: words.Draw(t, "file")}
	case 5:
		return host.StageCompleted{Stage: words.Draw(t, "stage")}
	case 6:
		return host.TurnEnded{}
	case 7:
		return host.UserMessage{Text: words.Draw(t, "request"), Ours: rapid.Bool().Draw(t, "ours")}
	case 8:
		return host.CommandStarted{ID: id.Draw(t, "command"), Observation: shellcmd.Observation{Before: []shellcmd.Mark{{GitDir: "g"}}}}
	case 9:
		return host.TaskCreated{ID: id.Draw(t, "task"), Text: words.Draw(t, "text")}
	case 10:
		return host.TaskUpdated{
			ID: id.Draw(t, "task"), Text: words.Draw(t, "text"), Deleted: rapid.Bool().Draw(t, "deleted"),
			Status: rapid.SampledFrom([]host.Status{"", host.InProgress, host.Completed}).Draw(t, "status"),
		}
	case 11:
		return host.UsageSeen{Used: rapid.Int64Range(-1, 9).Draw(t, "used"), Window: rapid.Int64Range(0, 9).Draw(t, "window")}
	}
	return host.Compacted{ID: id.Draw(t, "compaction"), At: noon, After: -1}
}

// The state is a value: applying an event twice to the same state gives the same
// result, storing it in between changes nothing, and it stays small.
func TestThreadIsAValue(t *testing.T) {
	t.Parallel()
	set := auto()
	rapid.Check(t, func(t *rapid.T) {
		var s Thread
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
			var stored Thread
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
			s = next
		}
	})
}

func FuzzMarkers(f *testing.F) {
	f.Add("All tasks are done.")
	f.Add("```\n\"「『")
	f.Add(PacketOpen + PacketClose + PacketOpen)
	set := config.Defaults().Compact
	f.Fuzz(func(t *testing.T, text string) {
		run(set, host.ToolActivity{}, host.AgentMessage{Text: text})
		if got := run(set, host.ToolActivity{}, host.AgentMessage{Text: "```\n" + strings.NewReplacer("`", "", "~", "").Replace(text) + "\n```"}); got.State.signals() != 0 && !strings.Contains(text, "overtone-packet") {
			t.Errorf("a fenced text is a signal: %v", got.State.signals().List())
		}
	})
}

// Hosts that report one task at a time; what they tell of a task that is gone
// must not be looked for in the plan.
func TestTasksOneAtATime(t *testing.T) {
	t.Parallel()
	created := []host.Event{host.TaskCreated{ID: "1", Text: "a"}, host.TaskCreated{ID: "2", Text: "b"}}
	for name, row := range map[string]struct {
		events []host.Event
		want   []host.Step
	}{
		"created":            {nil, []host.Step{{ID: "1", Text: "a", Status: host.Pending}, {ID: "2", Text: "b", Status: host.Pending}}},
		"deleted, renamed":   {[]host.Event{host.TaskUpdated{ID: "2", Text: "c", Status: "deleted", Deleted: true}}, []host.Step{{ID: "1", Text: "a", Status: host.Pending}}},
		"updated after that": {[]host.Event{host.TaskUpdated{ID: "2", Deleted: true}, host.TaskUpdated{ID: "2", Text: "c", Deleted: true}}, []host.Step{{ID: "1", Text: "a", Status: host.Pending}}},
		"unknown":            {[]host.Event{host.TaskUpdated{ID: "9", Text: "c", Deleted: true}, host.TaskUpdated{Text: "d"}}, []host.Step{{ID: "1", Text: "a", Status: host.Pending}, {ID: "2", Text: "b", Status: host.Pending}}},
		"done and renamed":   {[]host.Event{host.TaskUpdated{ID: "1", Text: "A", Status: host.Completed}}, []host.Step{{ID: "1", Text: "A", Status: host.Completed}, {ID: "2", Text: "b", Status: host.Pending}}},
	} {
		got := run(auto(), append(slices.Clone(created), row.events...)...).State.Plan.Steps
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Messages are redacted and cut, and our own words are none.
func TestRequests(t *testing.T) {
	t.Parallel()
	key := "ghp_" + "abcdefghij0123456789abcdefghij012345"
	s := run(auto(), host.UserMessage{Text: "first " + key}, host.UserMessage{Text: " \n"}, host.UserMessage{Text: strings.Repeat("x", maxNewest-5) + " " + key},
		host.UserMessage{Text: PacketOpen + " id=\"x\">never\n" + PacketClose}, host.UserMessage{Text: "ours", Ours: true})
	first, latest := s.Words.First.Text, s.Words.Newest().Text
	if strings.Contains(first+latest, "abcdefghij") || !strings.HasPrefix(first, "first ") || !strings.HasPrefix(latest, "xxx") || len(latest) > maxNewest+2 || s.Words.Count != 2 {
		t.Errorf("first %.40q, latest of %d bytes ending in %q", first, len(latest), message.End(latest, 20))
	}
	if !s.State.Synthetic || s.Apply(host.TurnStarted{}, auto()).State.Synthetic {
		t.Error("whose turn it is")
	}
}

// What the window is: configured, told, or the model's.
func TestWindows(t *testing.T) {
	t.Parallel()
	set := auto()
	usage := func(events ...host.Event) Usage { return run(set, events...).Weigh(noon, set).Usage }
	for name, row := range map[string]struct{ got, want Usage }{
		"nothing told":     {usage(host.SessionSeen{Window: 9}), Usage{}},
		"the model's":      {usage(host.UsageSeen{Used: 5, Model: "claude-sonnet-4-5"}), Usage{Used: 5, Window: 200_000}},
		"nobody's":         {usage(host.UsageSeen{Used: 5}), Usage{Used: 5, Window: 0}},
		"a large model":    {usage(host.SessionSeen{Model: "m[1m]"}, host.UsageSeen{Used: 5}), Usage{Used: 5, Window: 1_000_000}},
		"told before":      {usage(host.SessionSeen{Window: 9}, host.UsageSeen{Used: 5}), Usage{Used: 5, Window: 9}},
		"told afterwards":  {usage(host.UsageSeen{Used: 5}, host.SessionSeen{Window: 9}), Usage{Used: 5, Window: 9}},
		"told with it":     {usage(host.UsageSeen{Used: 5, Window: 8}, host.UsageSeen{Used: 6}), Usage{Used: 6, Window: 8}},
		"no longer known":  {usage(host.UsageSeen{Used: 5}, host.UsageSeen{Used: -1}), Usage{}},
		"of another agent": {run(set, host.SessionSeen{Window: 9}).Measure(host.UsageSeen{Used: 3}, set), Usage{Used: 3, Window: 9}},
	} {
		if row.got != row.want {
			t.Errorf("%s: %+v, want %+v", name, row.got, row.want)
		}
	}
	set.ContextWindow = 7
	if got := usage(host.UsageSeen{Used: 5, Window: 8}); got != (Usage{Used: 5, Window: 7}) {
		t.Errorf("configured: %+v", got)
	}
}
