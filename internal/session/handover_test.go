package session

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	}{
		"nothing was compacted":         {list: older[:1], heard: []string{"the first wish"}},
		"after an older one":            {list: older, heard: []string{"the second wish"}},
		"a rule of before our time":     {list: append([]string{userLine(0, "Never push to main.")}, older[1:]...), from: 1, heard: []string{"the second wish", "Never push to main."}},
		"a rule of the original":        {list: []string{boundaryLine(5), summaryLine(6, "All of it: /home/me/.claude/projects/p/original.jsonl"), userLine(10, "the second wish")}, original: `{"held":[{"text":"Never push to main.","hold":3}]}`, heard: []string{"the second wish", "Never push to main."}},
		"up to its own line":            {list: append(slices.Clone(older), boundaryLine(21), summaryLine(22, "about both"), userLine(30, "the third wish")), summary: "about both", written: true, heard: []string{"the second wish"}, lacks: []string{"the third wish"}},
		"without what was handed over":  {list: []string{userLine(1, "the first wish"), userLine(10, "the second wish")}, mark: Mark{At: at(5)}, heard: []string{"the second wish"}, lacks: []string{"the first wish"}},
		"with what was said before":     {list: older, words: `{"asks":[{"text":"an old wish"}]}`, heard: []string{"the second wish"}},
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
		k.Mark, k.From = tc.mark, 0
		for _, l := range tc.list[:tc.from] {
			k.From += int64(len(l)) + 1
		}
		p, err := ReadPast(t.Context(), s, lines(t, tc.list...), "/work", k)
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

func agentLine(minute int, text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"a%d","sessionId":"s1","timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`, minute, stamp(minute), text)
}

// said is what a hook was told a second after the host had written its line.
func said(minute int, text string) Prompt { return Prompt{text, at(minute).Add(time.Second)} }

// What a hook has heard and the file does not have yet is told, in order and once; what the
// file went on without is not.
func TestReadPastOfAFileThatLags(t *testing.T) {
	t.Parallel()
	first, answer := userLine(1, "Please write the parser."), agentLine(2, "It is written.")
	for name, tc := range map[string]struct {
		list  []string
		heard []Prompt
		mark  Mark
		told  []string // of the user's words, the newest first
		agent bool     // has spoken last
	}{
		"the file has all":           {list: []string{first, answer}, heard: []Prompt{said(1, "Please write the parser.")}, told: []string{"Please write the parser."}, agent: true},
		"the last prompt is missing": {list: []string{first, answer}, heard: []Prompt{said(1, "Please write the parser."), said(3, "Please write the lexer.")}, told: []string{"Please write the lexer.", "Please write the parser."}},
		"two prompts are missing":    {list: []string{first, answer}, heard: []Prompt{said(1, "Please write the parser."), said(3, "Please write the lexer."), said(4, "Please write the tests.")}, told: []string{"Please write the tests.", "Please write the lexer.", "Please write the parser."}},
		"only the answer is missing": {list: []string{first}, heard: []Prompt{said(1, "Please write the parser.")}, told: []string{"Please write the parser."}},
		"an answer and a prompt":     {list: []string{first}, heard: []Prompt{said(1, "Please write the parser."), said(3, "Please write the lexer.")}, told: []string{"Please write the lexer.", "Please write the parser."}},
		"the same once more":         {list: []string{first, answer}, heard: []Prompt{said(1, "Please write the parser."), said(3, "Please write the parser.")}, told: []string{"Please write the parser."}},
		"blocked, and another came":  {list: []string{first, answer, userLine(4, "Please write the tests.")}, heard: []Prompt{said(3, "Please write the lexer."), said(4, "Please write the tests.")}, told: []string{"Please write the tests.", "Please write the parser."}},
		"the file went on without":   {list: []string{first, agentLine(5, "It is written.")}, heard: []Prompt{said(3, "Please write the lexer.")}, told: []string{"Please write the parser."}, agent: true},
		"a command, as it is filed":  {list: []string{first, answer, userLine(3, "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the lexer of today</command-args>")}, heard: []Prompt{said(3, "/fix the lexer of today")}, told: []string{"the lexer of today", "Please write the parser."}},
		"handed over before":         {list: []string{first, answer, userLine(9, "Please write the tests.")}, heard: []Prompt{said(3, "Please write the lexer.")}, mark: Mark{At: at(4)}, told: []string{"Please write the tests."}},
		"an answer, and what to":     {list: []string{first, agentLine(2, "Shall I use XML?"), userLine(3, "yes, that")}, heard: []Prompt{said(3, "yes, that")}, told: []string{"yes, that", "Shall I use XML?", "Please write the parser."}},
		"a file without times":       {list: []string{`{"type":"user","uuid":"u","sessionId":"s1","message":{"role":"user","content":"Please write the parser."}}`}, heard: []Prompt{said(1, "Please write the parser."), said(3, "Please write the lexer.")}, told: []string{"Please write the parser."}},
	} {
		s, _ := open(t)
		p, err := ReadPast(t.Context(), s, lines(t, tc.list...), "/work", Attempt{N: 1, At: at(20), Mark: tc.mark, Heard: tc.heard})
		if err != nil {
			t.Fatal(err)
		}
		text := handover.Handover{ID: "p", Session: "s1", Record: p.Record, Work: p.Record.Work(), Lang: message.EN}.Text()
		if told := quotedWishes(text); !slices.Equal(told, tc.told) || p.Record.Words.Evidence.Has(compact.AgentLast) != tc.agent {
			t.Errorf("%s: %q, want %q in\n%s", name, told, tc.told, text)
		}
	}
}

// quotedWishes are the wishes that a hand-over quotes, in its order.
func quotedWishes(text string) []string {
	return regexp.MustCompile(`Please write the [a-z ]+\.|the lexer of today|yes, that|Shall I use XML\?`).FindAllString(text, -1)
}

// What was told from a hook is not told again when its line has come.
func TestALateLineIsToldOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	read := func(k Attempt, list ...string) (text string) {
		update(t, s, func(tx *Tx) error {
			tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "saved", Created: noon})
			if err := tx.KeepSummary("a summary"); err != nil {
				return err
			}
			k.Mark = tx.Memory.Mark
			past, err := ReadPast(t.Context(), s, lines(t, list...), "/work", k)
			if err != nil {
				return err
			}
			err = tx.HandOver(past, handover.Handover{ID: "p", Session: "s1", Work: past.Record.Work(), Lang: message.EN}, func(bool) string { return "" })
			text = tx.Memory.Compaction.Receipt.Text
			return err
		})
		return text
	}
	file := []string{userLine(1, "Please write the parser."), agentLine(2, "It is written.")}
	first := read(Attempt{N: 1, At: at(5), Heard: []Prompt{said(3, "Please write the lexer.")}, Typed: "Please write the audit down."}, file...)
	if got := quotedWishes(first); !slices.Equal(got, []string{"Please write the audit down.", "Please write the lexer.", "Please write the parser."}) {
		t.Fatalf("%q", got)
	}
	file = append(file, userLine(3, "Please write the lexer."), agentLine(4, "That, too."), boundaryLine(6), summaryLine(6, "both"), agentLine(8, "I go on."))
	if got := quotedWishes(read(Attempt{N: 2, At: at(9)}, file...)); !slices.Equal(got, []string{"Please write the audit down."}) {
		t.Errorf("%q", got)
	}
}

// A few prompts are remembered for a while, and not one that was blocked, stopped or taken
// back.
func TestHear(t *testing.T) {
	t.Parallel()
	texts := func(list []Prompt) (out []string) {
		for _, h := range list {
			out = append(out, h.Text)
		}
		return out
	}
	rest := func(tx *Tx) { tx.Rested(nil, false) }
	hear := func(text string) func(*Tx) { return func(tx *Tx) { tx.Hear(text); tx.Prompted() } }
	for name, tc := range map[string]struct {
		steps   []func(*Tx)
		manual  []string // what a compaction takes along that a person asks for
		auto    []string
		minutes int // that pass before the last step
	}{
		"one that is answered":         {steps: []func(*Tx){hear("a"), rest}, manual: []string{"a"}, auto: []string{"a"}},
		"one that is not":              {steps: []func(*Tx){hear("a")}, auto: []string{"a"}},
		"several":                      {steps: []func(*Tx){hear("a"), rest, hear("b"), rest}, manual: []string{"a", "b"}, auto: []string{"a", "b"}},
		"the first was taken back":     {steps: []func(*Tx){hear("a"), hear("b"), rest}, manual: []string{"b"}, auto: []string{"b"}},
		"the last was taken back":      {steps: []func(*Tx){hear("a"), rest, hear("b")}, auto: []string{"a", "b"}},
		"the newest few":               {steps: []func(*Tx){hear("a"), rest, hear("b"), rest, hear("c"), rest, hear("d"), rest, hear("e"), rest}, manual: []string{"b", "c", "d", "e"}, auto: []string{"b", "c", "d", "e"}},
		"the first is long since told": {steps: []func(*Tx){hear("a"), rest, hear("b")}, auto: []string{"b"}, minutes: 2},
		"a secret":                     {steps: []func(*Tx){hear("the key is ghp_" + "abcdefghij0123456789abcdefghij012345")}, auto: []string{"the key is [REDACTED:github-token]"}},
	} {
		for trigger, want := range map[string][]string{"manual": tc.manual, "auto": tc.auto} {
			s, _ := open(t)
			for i, step := range tc.steps {
				o := Options{Lang: message.EN, Now: noon}
				if i == len(tc.steps)-1 {
					o.Now = at(tc.minutes)
				}
				if err := Update(s, o, func(tx *Tx) error { step(tx); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			update(t, s, func(tx *Tx) error {
				if got := texts(tx.BeginCompaction(trigger, compact.Packet{}).Heard); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %q, want %q", name, trigger, got, want)
				}
				return nil
			})
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
			past, err := ReadPast(t.Context(), s, lines(t, tc.list...), "/work", Attempt{N: k.N, At: at(20)})
			if err != nil {
				return err
			}
			err = tx.HandOver(past, handover.Handover{ID: "p1", Session: "s1", Work: past.Record.Work(), Lang: message.EN}, func(bool) string { return "before it" })
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
			past, err := ReadPast(t.Context(), s, path, "/work", Attempt{N: 1, At: at(20)})
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
