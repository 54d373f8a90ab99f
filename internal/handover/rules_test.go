package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// The last step tells what was read, and an edit which name it defined.
func TestLastStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*tale)
		want string
	}{
		"reading": {func(s *tale) { s.start("Read", map[string]any{"file_path": "/p/ledger.go"}) }, message.HandoverReading.Format(message.EN, "ledger.go")},
		"editing": {func(s *tale) { s.edit("ledger.go", "x", "func growBuffer() {}") }, message.HandoverEditing.Format(message.EN, "ledger.go") + ": growBuffer"},
	} {
		s := (&tale{}).user("Please write the importer.")
		c.do(s)
		if got := s.handover(t, "").Text(); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, got)
		}
	}
}

// Files that were written before the commit are in it; those after it are not.
func TestWrittenSinceTheCommit(t *testing.T) {
	t.Parallel()
	s := (&tale{}).user("Please write the importer.").edit("old.go", "x", "y").run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed", 0).edit("new.go", "x", "y")
	h := s.handover(t, "")
	if tree := h.Situation().Tree; !slices.Equal(tree.Changed, []string{"new.go"}) || tree.Known {
		t.Errorf("%+v", tree)
	}
	// What a command sends its output to is none of them, nor what an edit that failed or was
	// refused names.
	s.run("go test ./... > out.log 2>&1", "", 0).run("echo x >> notes.md", "", 0).run("sed -i s/x/y/ other.go", "", 0).run("sed -i s/x/y/ gone.go", "no such file", 1)
	s.start("Edit", map[string]any{"file_path": "/p/failed.go"}).end("String to replace not found", true).refuse("Edit", map[string]any{"file_path": "/p/refused.go"}, "not that one")
	if tree := s.handover(t, "").Situation().Tree; !slices.Equal(tree.Changed, []string{"new.go", "other.go"}) {
		t.Errorf("%+v", tree)
	}
}

// A commit is told with who made it: the agent's own is known by its hash or, rebased, by
// its subject; others by their authors. One that is gone is not told.
func TestWhoCommitted(t *testing.T) {
	t.Parallel()
	s := (&tale{}).user("Please write the importer.")
	for _, c := range []string{"1111111] one", "2222222] two", "3333333] gone"} {
		s.run("git commit -am x", "[main "+c+"\n 1 file changed", 0)
	}
	h := s.handover(t, "")
	h.Work.Tree = Tree{
		Known: true, Commits: []string{"4444444444444444", "5555555555555555", "1111111111111111"},
		Since: []compact.TreeCommit{{Hash: "5555555555555555", Subject: "docs", By: "Anna"}, {Hash: "4444444444444444", Subject: "two", By: "Bob"}, {Hash: "6666666666666666"}},
	}
	want := []compact.TreeCommit{{Hash: "5555555555", Subject: "docs", By: "Anna"}, {Hash: "4444444444", Subject: "two", By: compact.ByAgent}, {Hash: "6666666666"}, {Hash: "1111111", Subject: "one", By: compact.ByAgent}}
	if got := h.Situation().Tree.Commits; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for l, lines := range map[message.Lang][]string{
		message.EN: {"\n- commit 5555555555 “docs”, by Anna\n", "\n- your commit 4444444444 “two”\n", "\n- your commit 1111111 “one”"},
		message.ZH: {"\n- commit 5555555555 “docs”，作者 Anna\n", "\n- 你的 commit 4444444444 “two”\n"},
	} {
		h.Lang = l
		for _, line := range lines {
			if text := h.Text(); !strings.Contains(text, line) || strings.Contains(text, "gone") {
				t.Errorf("%q is not in\n%s", line, text)
			}
		}
	}
}

// What the agent's own command reverts or picks is the agent's, not that of whose name git
// writes; a hash that some other output shows is not.
func TestWhoReverted(t *testing.T) {
	t.Parallel()
	s := (&tale{}).user("Please take it back.").run("git commit -am x", "[main 1111111] one\n 1 file changed", 0).
		run("git revert --no-edit HEAD && git push", "[main 2222222] Revert \"one\"\n 1 file changed", 0).
		run("git cherry-pick topic && git commit --amend -m picked", "[main 3333333] topic\n[main 4444444] picked", 0).
		run("git log -1; cat notes", "[main 5555555] theirs", 0)
	h := s.handover(t, "")
	h.Work.Tree = Tree{Known: true, Commits: []string{"2222222222222222", "4444444444444444", "5555555555555555"}, Since: []compact.TreeCommit{
		{Hash: "5555555555555555", Subject: "theirs", By: "Anna"}, {Hash: "4444444444444444", Subject: "picked", By: "Anna"}, {Hash: "2222222222222222", Subject: `Revert "one"`, By: "Anna"},
	}}
	want := []compact.TreeCommit{
		{Hash: "5555555555", Subject: "theirs", By: "Anna"}, {Hash: "4444444444", Subject: "picked", By: compact.ByAgent}, {Hash: "2222222222", Subject: `Revert "one"`, By: compact.ByAgent},
	}
	if got := h.Situation().Tree.Commits; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The sections stand in the order in which a reader needs them.
func TestOrderOfTheHandOver(t *testing.T) {
	t.Parallel()
	s := importer().say("The rows come next.").plan("x Report errors", "> Document it", "o Ship it")
	var got []string
	for _, p := range s.handover(t, "").Parts() {
		got = append(got, p.Name)
	}
	want := []string{"header", "words", "state", "failing", "tree", "plan", "done", "commands", "names", "recall", "directive"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Nothing is said twice: neither that the user spoke last, nor what he said.
func TestSaidOnce(t *testing.T) {
	t.Parallel()
	const first, rule = "Please write the importer.", "Never push to main."
	text := (&tale{}).user(first).edit("a.go", "x", "y").say("Half of it is there.").user(rule).handover(t, "").Text()
	if !strings.Contains(text, "\n- "+message.Stands("called", "", "user-last", message.EN)+"\n") {
		t.Error(text)
	}
	for _, said := range []string{first, rule, "user-last", message.HandoverCalled.EN} {
		if n := strings.Count(text, said); n > 1 {
			t.Errorf("%q is told %d times:\n%s", said, n, text)
		}
	}
}

// Nothing follows a packet that has said it all.
func TestNothingLater(t *testing.T) {
	t.Parallel()
	h := (&tale{}).user("Please go on.").say("Fine.").handover(t, "All is told.")
	if got := h.Later("All is told."); got != "" {
		t.Errorf("%s", got)
	}
}

// Names have what the other sections leave of a hand-over's length, and no less than a
// share of their own; what follows a hand-over has that share.
func TestRoomOfNames(t *testing.T) {
	t.Parallel()
	h := longTale(400<<10).handover(t, "The rows are read.")
	if n := message.Units(h.Text()); n < length-40 || n > length {
		t.Errorf("%d characters", n)
	}
	_, later, _ := strings.Cut(h.Later("The rows are read."), "\n## ")
	h.Work.Words = said(strings.Split(strings.Repeat(strings.Repeat("It is slow. ", 40)+"\n", 8), "\n")...)
	for i := range 30 {
		h.Work.Next = append(h.Work.Next, fmt.Sprintf("step %d is open", i))
		h.Work.Steps = append(h.Work.Steps, fmt.Sprintf("step %d is done", 100+i))
	}
	i := slices.IndexFunc(h.Parts(), func(p Part) bool { return p.Name == "names" })
	for _, text := range []string{h.Parts()[i].Text, "## " + later} {
		if n := message.Units(text); n < leastNames-100 || n > leastNames+len(compact.PacketClose)+1 {
			t.Errorf("%d characters:\n%s", n, text)
		}
	}
}

// Commands are compared without the project's folder and the filters behind them, and
// paths are told from there.
func TestTidied(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"go vet /p/a.go": "go vet a.go", "cd /p && go test ./... 2>&1 | tail -5": "go test ./...", "cd /q && go vet": "cd /q && go vet", "a || grep x": "a || grep x", "|grep x": "", "go test\n": "go test", "cat <<E\nx\nE": ""} {
		if got := tidyCommand(in, "/p"); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := tidyCommand("go vet /p/a.go", ""); got != "go vet /p/a.go" {
		t.Errorf("without a folder: %q", got)
	}
	r := NewRecord("/p")
	r.root = "sub/"
	if got := r.tidy("/p/sub/x.go"); got != "x.go" {
		t.Errorf("%q", got)
	}
	if r.remember("", "ok", 0); len(r.runs) != 0 {
		t.Errorf("%+v", r.runs)
	}
	if r.remember("go test ./...", "ok  \tx\t0.1s", 0); len(r.runs) != 1 {
		t.Errorf("%+v", r.runs)
	}
}

// A command names its file from the folder it ran in, and one that changes a file in
// place reads none.
func TestFilesOfCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat a/b.go": "a/b.go", "sed -i s/x/y/ b.go": "", "cat a.go && cat a.go": "a.go", "cat a.go; cat b.go": "", "go test ./x.go": "", "head -5 'b.go' | grep x": "b.go",
	} {
		if got := FileRead(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	r := NewRecord("/p")
	whole := r.file("/p/internal/csv/reader.go")
	if got := r.file("csv/reader.go"); got != whole {
		t.Errorf("from the folder it is another file: %q", r.files[got].path)
	}
	if got := r.file("other/reader.go"); got == whole {
		t.Error("another folder's file is the same")
	}
}

// Whether the last step failed is told by its own status, also a command's that prints
// much; what is printed says nothing.
func TestLastStepFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*tale)
		want message.Text
	}{
		"a command":        {func(s *tale) { s.run("go build ./...", "a.go:1: undefined: x", 1) }, message.HandoverFailed},
		"with much output": {func(s *tale) { s.run("go build ./...", strings.Repeat("line\n", 40_000), 1) }, message.HandoverFailed},
		"behind a pipe":    {func(s *tale) { s.run("go test ./... | tail -3", "--- FAIL: TestRows\nFAIL", 0) }, message.HandoverLastStep},
		"that works":       {func(s *tale) { s.run("go build ./...", "", 0) }, message.HandoverLastStep},
		"a tool":           {func(s *tale) { s.start("Read", map[string]any{"file_path": "/p/a.go"}).end("no such file", true) }, message.HandoverFailed},
		"without its end":  {func(s *tale) { s.start("Bash", map[string]any{"command": "go build ./..."}) }, message.HandoverStopped},
	} {
		s := (&tale{}).user("Please write the importer.")
		c.do(s)
		head, _, _ := strings.Cut(c.want.EN, "%s")
		if text := s.handover(t, "").Text(); !strings.Contains(text, "\n- "+head) {
			t.Errorf("%s: want %q in\n%s", name, head, text)
		}
	}
}

// Paths of one folder are written with it once, and those that have no room are counted.
func TestFoldedPaths(t *testing.T) {
	t.Parallel()
	if got, want := folded([]string{"a/x.go", "b/z.go", "a/y.go"}, 100, message.EN), "a/{y.go, x.go}, b/z.go"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := folded([]string{"a/x.go", "b/z.go", "c/y.go"}, 8, message.EN); !strings.Contains(got, message.HandoverMore.Format(message.EN, 2)) {
		t.Errorf("%q", got)
	}
}
