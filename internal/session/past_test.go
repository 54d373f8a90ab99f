package session

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Lines of a session's file, at minutes after noon.
func userLine(minute int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s1","timestamp":%q,"message":{"role":"user","content":%q}}`, minute, stamp(minute), text)
}

func boundaryLine(minute int) string {
	return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":"b%d","sessionId":"s1","timestamp":%q,"compactMetadata":{"trigger":"auto"}}`, minute, stamp(minute))
}

func summaryLine(minute int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"s%d","sessionId":"s1","isCompactSummary":true,"timestamp":%q,"message":{"role":"user","content":%q}}`, minute, stamp(minute), text)
}

func at(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }

func stamp(minute int) string { return at(minute).Format("2006-01-02T15:04:05.000Z") }

func lines(t *testing.T, list ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wordsAt are words of the user's that a hook has heard.
func wordsAt(minute int, text string) compact.Words {
	return compact.Words{}.Hear(text, compact.Typed, at(minute))
}

// The slice of a compaction is what came after the one before it, up to its own line.
func TestReadPast(t *testing.T) {
	t.Parallel()
	k := Attempt{N: 2, At: at(20), Status: begun}
	older := []string{userLine(1, "the first wish"), boundaryLine(5), summaryLine(6, "about the first wish"), userLine(10, "the second wish")}
	for name, tc := range map[string]struct {
		list     []string
		mark     Mark
		words    string
		from     int    // the line at which the slice begins
		original string // the words of a session of that name
		summary  string
		written  bool
		heard    []string // of the user
		lacks    []string
		hooks    compact.Words
		trigger  string
	}{
		"nothing was compacted":         {list: older[:1], heard: []string{"the first wish"}},
		"after an older one":            {list: older, heard: []string{"the second wish"}},
		"a rule of before our time":     {list: append([]string{userLine(0, "Never push to main.")}, older[1:]...), from: 1, heard: []string{"the second wish", "Never push to main."}},
		"a rule of the original":        {list: []string{boundaryLine(5), summaryLine(6, "All of it: /home/me/.claude/projects/p/original.jsonl"), userLine(10, "the second wish")}, original: `{"heard":[{"text":"Never push to main."}],"count":1}`, heard: []string{"the second wish", "Never push to main."}},
		"up to its own line":            {list: append(slices.Clone(older), boundaryLine(21), summaryLine(22, "about both"), userLine(30, "the third wish")), summary: "about both", written: true, heard: []string{"the second wish"}, lacks: []string{"the third wish"}},
		"without what was handed over":  {list: []string{userLine(1, "the first wish"), userLine(10, "the second wish")}, mark: Mark{At: at(5)}, heard: []string{"the second wish"}, lacks: []string{"the first wish"}},
		"with what was said before":     {list: older, words: `{"first":{"text":"the very first wish"},"heard":[{"text":"an old wish"}],"count":9}`, heard: []string{"the second wish", "an old wish", "first message: “the very first wish”"}},
		"what only hooks have heard":    {list: older, hooks: wordsAt(12, "the third wish"), heard: []string{"the third wish", "the second wish"}},
		"heard and written":             {list: older, hooks: wordsAt(12, "the second wish"), heard: []string{"words, newest first\n- “the second wish”\n- “the first wish”\n\n"}},
		"heard before the newest line":  {list: older, hooks: wordsAt(9, "taken back"), heard: []string{"the second wish"}, lacks: []string{"taken back"}},
		"typed, stopped and compacted":  {list: older, trigger: "manual", hooks: wordsAt(12, "taken back"), heard: []string{"the second wish"}, lacks: []string{"taken back"}},
		"answered and compacted":        {list: older, trigger: "manual", hooks: wordsAt(12, "the third wish").Said("Done.").Ended(false), heard: []string{"the third wish"}},
		"damaged words are forgotten":   {list: older, words: `{"first`, heard: []string{"the second wish"}},
		"a summary belongs to its line": {list: append(slices.Clone(older), summaryLine(15, "a stray one")), heard: []string{"the second wish"}},
	} {
		s, _ := open(t)
		if tc.words != "" {
			if err := s.Update(func(tx *store.Tx) error { return tx.Write(wordsFile, []byte(tc.words)) }); err != nil {
				t.Fatal(err)
			}
		}
		if tc.original != "" {
			other, err := s.Other("original")
			if err == nil {
				err = other.Update(func(tx *store.Tx) error { return tx.Write(wordsFile, []byte(tc.original)) })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		k.Mark, k.From, k.Trigger = tc.mark, 0, tc.trigger
		for _, l := range tc.list[:tc.from] {
			k.From += int64(len(l)) + 1
		}
		p, err := ReadPast(t.Context(), s, lines(t, tc.list...), "/work", k, tc.hooks)
		if err != nil {
			t.Fatal(err)
		}
		if p.Summary != tc.summary || p.Written != tc.written || p.Record.Empty() {
			t.Errorf("%s: summary %q, written %v, empty %v", name, p.Summary, p.Written, p.Record.Empty())
		}
		text := handover.Handover{ID: "p", Session: "s1", Record: p.Record, Work: p.Record.Work(), Lang: message.EN}.Text()
		for _, want := range tc.heard {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		for _, not := range tc.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in\n%s", name, not, text)
			}
		}
	}
}

// A file is read from the mark, and from its last compaction where the mark is of no
// use.
func TestSliceStart(t *testing.T) {
	t.Parallel()
	first, boundary, last := userLine(1, "one"), boundaryLine(5), userLine(10, "two")
	path := lines(t, first, boundary, last)
	after := int64(len(first) + 1 + len(boundary) + 1)
	for name, tc := range map[string]struct {
		mark Mark
		from int64
	}{
		"no mark":                    {Mark{}, after},
		"a mark behind it":           {Mark{Off: after + 5, At: at(-1)}, after},
		"a mark before it":           {Mark{Off: 3, At: at(-1)}, 3},
		"a mark of a clock set back": {Mark{Off: 3, At: at(1)}, after},
	} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			tx.Memory.Mark = tc.mark
			from, mark := tx.SliceStart(path)
			if from != tc.from || !mark.At.IsZero() && mark != tc.mark {
				t.Errorf("%s: from %d, %+v; want %d", name, from, mark, tc.from)
			}
			return nil
		})
	}
	if from := SliceStart(lines(t, first, last)); from != 0 {
		t.Errorf("never compacted, and read from %d", from)
	}
	if from := SliceStart(filepath.Join(t.TempDir(), "none")); from != 0 {
		t.Errorf("no file, and read from %d", from)
	}
}

// What is handed over is written anew once the summary, or the file's own line, is
// there; before that what was saved stays.
func TestHandOverKnowsTheSummary(t *testing.T) {
	t.Parallel()
	wish := userLine(10, "rename the parser in parser.go")
	for name, tc := range map[string]struct {
		list  []string
		told  string
		basis compact.Basis
	}{
		"nothing is told":         {list: []string{wish}, basis: compact.BasisSaved},
		"the host tells":          {list: []string{wish}, told: "a summary", basis: compact.BasisSummary},
		"the file tells":          {list: []string{wish, boundaryLine(21), summaryLine(22, "a summary")}, basis: compact.BasisSummary},
		"the file has no summary": {list: []string{wish, boundaryLine(21)}, basis: compact.BasisSlice},
	} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			k := tx.BeginCompaction("auto", compact.Packet{ID: "p1", Text: "saved", Created: noon})
			if tc.told != "" {
				if err := tx.KeepSummary(tc.told); err != nil {
					return err
				}
			}
			past, err := ReadPast(t.Context(), s, lines(t, tc.list...), "/work", Attempt{N: k.N, At: at(20)}, compact.Words{})
			if err != nil {
				return err
			}
			err = tx.HandOver(past, handover.Handover{ID: "p1", Session: "s1", Work: past.Record.Work(), Lang: message.EN}, func() string { return "before it" })
			r := tx.Memory.Compaction.Receipt
			written := tc.basis != compact.BasisSaved
			if r.Basis != tc.basis && !(r.Basis == "" && !written) || strings.HasPrefix(r.Text, "before it\n\n") != written {
				t.Errorf("%s: by %q\n%s", name, r.Basis, r.Text)
			}
			if data, err := tx.Read(wordsFile); (err == nil) != written || written && !strings.Contains(string(data), "rename the parser") {
				t.Errorf("%s: words %s, %v", name, data, err)
			}
			if tx.Memory.Mark.At.IsZero() == written {
				t.Errorf("%s: mark %+v", name, tx.Memory.Mark)
			}
			return err
		})
	}
}

// The rest of a saved packet is left once, and only for the packet that was handed over.
func TestHandLater(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		handed Handed
		later  bool
	}{
		"a saved one":          {Handed{N: 1, ID: "p1", Basis: compact.BasisSaved, Text: "short"}, true},
		"one that knew it all": {Handed{N: 1, ID: "p1", Basis: compact.BasisSummary, Text: "short"}, false},
		"another one":          {Handed{N: 1, ID: "p0", Basis: compact.BasisSaved, Text: "short"}, false},
		"told before":          {Handed{N: 1, ID: "p1", Basis: compact.BasisSaved, Text: "short", Later: "more"}, false},
	} {
		s, _ := open(t)
		path := lines(t, userLine(10, "look at internal/parser/parser.go and internal/lexer/lexer.go"))
		update(t, s, func(tx *Tx) error {
			tx.BeginCompaction("auto", compact.Packet{ID: "p1", Text: "saved"})
			if err := tx.keepHanded(tc.handed); err != nil {
				return err
			}
			past, err := ReadPast(t.Context(), s, path, "/work", Attempt{N: 1, At: at(20)}, compact.Words{})
			if err != nil {
				return err
			}
			return tx.HandLater(past, handover.Handover{ID: "p1", Session: "s1", Summary: "a summary", Work: past.Record.Work(), Lang: message.EN})
		})
		m := Read(s)
		handed, ok := ReadHanded(s)
		if left := len(m.Outbox) == 1; left != tc.later || !ok || tc.later && (handed.Later != m.Outbox[0].Model || handed.Summary != "a summary" || !strings.Contains(handed.Later, "parser.go")) {
			t.Errorf("%s: %+v, handed %+v", name, m.Outbox, handed)
		}
	}
}

// A hook that was killed after it had written the line does not write it again.
func TestConfirmedOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	begin := func(tx *Tx) { tx.BeginCompaction("auto", compact.Packet{}) }
	update(t, s, func(tx *Tx) error {
		begin(tx)
		if err := tx.Confirm(""); err != nil {
			return err
		}
		tx.Memory.Compactions, tx.Memory.Compaction.Status = 0, begun // as it was before the kill
		return tx.Confirm("")
	})
	update(t, s, func(tx *Tx) error { begin(tx); return tx.Confirm("") })
	entries, _, err := s.Last(10, store.Filter{Types: []string{message.EventSessionCompactConfirm}})
	if err != nil || len(entries) != 2 || entries[0].Text("n") != "1" || entries[1].Text("n") != "2" {
		t.Errorf("%d lines, %v", len(entries), err)
	}
}

// A stage that is handed over again has no report of the round before.
func TestReportOfAnEarlierRound(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	o := Options{Rules: workflow.Rules{MaxRetries: 3, MaxCrashes: 3, BarrierTimeout: time.Minute}, Lang: message.EN, Now: noon, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	err := Update(s, o, func(tx *Tx) error {
		if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW"}, At: noon}); err != nil {
			return err
		}
		if _, err := tx.Apply(workflow.Skip{Stage: "DEV", At: noon}); err != nil {
			return err
		}
		if err := tx.WriteContext("REVIEW", []byte("of the first round")); err != nil {
			return err
		}
		out, err := tx.Apply(workflow.Delegate{ID: "d1", Stage: "REVIEW", At: noon})
		if err != nil || out.Kind != workflow.Delegated {
			t.Errorf("%+v, %v", out, err)
		}
		if tx.Reported("REVIEW") {
			t.Error("the report of an earlier round is still there")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What git tells of a working tree: what is changed, staged or new, and the commits
// that were not taken back.
func TestAskTree(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), "2026-03-01T09:00:00Z"
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Anna", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_COMMITTER_DATE=" + at}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir}[name] }
	since := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	if tree := AskTree(dir, since, getenv); tree.Known {
		t.Errorf("no repository, and %+v", tree)
	}
	if tree := AskTree(dir, time.Time{}, nil); tree.Known {
		t.Errorf("no environment, and %+v", tree)
	}
	git("init", "-q")
	write("changed.go", "one")
	git("add", ".")
	git("commit", "-qm", "first")
	first := git("rev-parse", "HEAD")
	at = "2026-03-01T11:00:00Z"
	write("undone.go", "x")
	git("add", ".")
	git("commit", "-qm", "second")
	second := git("rev-parse", "HEAD")
	git("revert", "--no-edit", second)
	write("changed.go", "another")
	write("staged.go", "s")
	git("add", "staged.go")
	write("new.go", "n")
	var tree handover.Tree
	for range 20 { // on a busy machine git may take longer than a hook waits
		if tree = AskTree(dir, since, getenv); tree.Known {
			break
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	var dirty []string
	for _, file := range tree.Dirty {
		rel, _ := filepath.Rel(real, file)
		dirty = append(dirty, rel)
	}
	slices.Sort(dirty)
	if !tree.Known || !slices.Equal(dirty, []string{"changed.go", "new.go", "staged.go"}) {
		t.Errorf("%v: %v", tree.Known, dirty)
	}
	if !slices.Contains(tree.Commits, first) || slices.Contains(tree.Commits, second) || len(tree.Commits) != 2 {
		t.Errorf("commits %v, want %s and the revert", tree.Commits, first)
	}
	if len(tree.Since) != 1 || tree.Since[0].Hash != git("rev-parse", "HEAD") || tree.Since[0].By != "Anna" || !strings.HasPrefix(tree.Since[0].Subject, "Revert") {
		t.Errorf("since then %+v, want the revert alone", tree.Since)
	}
}
