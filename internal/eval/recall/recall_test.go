// Package recall_test asks the index of the recorded sessions forty questions
// whose answers are known. The sessions are not part of the repository: only
// the words of the questions are, and where the answer stands.
package recall_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// recorded puts the recorded sessions where their hosts would and returns the
// folders, and each session's name by its path.
func recorded(tb testing.TB) (home string, names map[string]string) {
	tb.Helper()
	found := samples.Find("real/*.jsonl", "compactions/*.jsonl.gz")
	if len(found) == 0 {
		tb.Skip("no recorded sessions; set OVERTONE_SAMPLES")
	}
	home, names = tb.TempDir(), map[string]string{}
	for i, path := range found {
		name := samples.Name(path)
		to := filepath.Join(home, ".claude", "projects", "-w", fmt.Sprintf("5e550000-0000-4000-8000-%012d.jsonl", i))
		if strings.HasPrefix(name, "codex") {
			to = filepath.Join(home, ".codex", "sessions", "2026", "01", "02", fmt.Sprintf("rollout-2026-01-02T03-04-05-5e550000-0000-7000-8000-%012d.jsonl", i))
		}
		names[to] = name
		if err := unpack(path, to); err != nil {
			tb.Fatal(err)
		}
	}
	return home, names
}

func unpack(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	data, err := samples.Read(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

func open(home string) *recall.Index {
	return recall.Open(recall.Options{
		Root: filepath.Join(home, ".overtone"),
		Dir: func(h *host.Host) string {
			return h.Dir(func(_, usual string) string { return filepath.Join(home, usual) })
		},
	})
}

// question is one row of the table: where the answer stands, the beginning of
// its text's SHA-256, and three ways to ask for it.
type question struct {
	name string
	line int
	hash string
	asks [3]string
}

// kinds are the ways to ask, and how many of forty have to be among the first
// three hits.
var kinds = [3]struct {
	name string
	goal int
}{{"exact words", 38}, {"word forms", 34}, {"one wrong word", 28}}

const table = "testdata/questions.tsv"

func questions(tb testing.TB) []question {
	tb.Helper()
	b, err := os.ReadFile(table)
	if err != nil {
		tb.Fatal(err)
	}
	var list []question
	for row := range strings.Lines(string(b)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != 6 {
			tb.Fatalf("%s: %q", table, row)
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, question{f[0], n, f[2], [3]string(f[3:])})
	}
	return list
}

// hashAt is the hash of what stands on a line.
func hashAt(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	h := transcript.Claude
	if strings.Contains(path, "rollout-") {
		h = transcript.Codex
	}
	for row := range bytes.Lines(b) {
		if n--; n > 0 {
			continue
		}
		s, _, _ := transcript.Say(row, h, nil)
		sum := sha256.Sum256(s.Text)
		return hex.EncodeToString(sum[:6])
	}
	return ""
}

// Each question is asked in three ways; the answer, or an entry that says the
// same, has to be among the first three hits.
func TestEvalRecall(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	home, names := recorded(t)
	paths := map[string]string{}
	for path, name := range names {
		paths[name] = path
	}
	list := questions(t)
	x := open(home)
	var got, first [3]int
	for _, q := range list {
		if h := hashAt(paths[q.name], q.line); h != q.hash {
			t.Errorf("%s:%d: the recording is another one: %s", q.name, q.line, h)
			continue
		}
		for k, ask := range q.asks {
			res, err := x.Search(context.Background(), recall.Query{Text: ask, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(res.Hits, func(h recall.Hit) bool { return hashAt(h.Path, h.Line) == q.hash })
			if at == 0 {
				first[k]++
			}
			if at >= 0 && at < 3 {
				got[k]++
				continue
			}
			t.Logf("%s: %q: place %d of %s:%d", kinds[k].name, ask, at+1, q.name, q.line)
			if testing.Verbose() && os.Getenv("OVERTONE_EVAL") == "2" {
				for _, h := range res.Hits[:min(3, len(res.Hits))] {
					t.Logf("    %.1f %s:%d %s %s", h.Score, names[h.Path], h.Line, h.Role, h.Snippet)
				}
			}
		}
	}
	for k, kind := range kinds {
		t.Logf("%s: %d of %d among the first three, %d in first place", kind.name, got[k], len(list), first[k])
		if got[k] < kind.goal || 100*first[k] < 85*len(list) {
			t.Errorf("%s: %d, want %d, and 85 of a hundred in first place", kind.name, got[k], kind.goal)
		}
	}
}

// Questions in other words than the text's, by fifteen: of the first thirty three
// quarters have the answer in first place (85 of a hundred had it with a list of synonyms
// that was written for these questions), and wherever one of the words stands something is
// found. The first fifteen were looked at while the ranking was made, the second were
// not; the third share hardly a word with the text, which a search by words cannot bridge,
// and show how far it comes.
func TestEvalOtherWords(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	home, names := recorded(t)
	paths := map[string]string{}
	for path, name := range names {
		paths[name] = path
	}
	b, err := os.ReadFile("testdata/otherwords.tsv")
	if err != nil {
		t.Fatal(err)
	}
	x := open(home)
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")[1:]
	const group = 15
	first := make([]int, (len(rows)+group-1)/group)
	for i, row := range rows {
		f := strings.Split(row, "\t")
		n, err := strconv.Atoi(f[1])
		if err != nil || len(f) != 4 {
			t.Fatal(row)
		}
		answers := strings.Split(f[2], ",")
		if h := hashAt(paths[f[0]], n); h != answers[0] {
			t.Errorf("%s:%d: the recording is another one: %s", f[0], n, h)
			continue
		}
		res, err := x.Search(context.Background(), recall.Query{Text: f[3], Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if res.Total == 0 {
			t.Errorf("%q: nothing", f[3])
		}
		at := slices.IndexFunc(res.Hits, func(h recall.Hit) bool { return slices.Contains(answers, hashAt(h.Path, h.Line)) })
		if at == 0 {
			first[i/group]++
			continue
		}
		t.Logf("%q: place %d of %s:%s, fewer %v", f[3], at+1, f[0], f[1], res.Fewer)
		if os.Getenv("OVERTONE_EVAL") == "2" {
			for _, h := range res.Hits[:min(3, len(res.Hits))] {
				t.Logf("    %.1f %s:%d %s %s", h.Score, names[h.Path], h.Line, h.Role, h.Snippet)
			}
		}
	}
	t.Logf("first place: %d of %d each", first, group)
	if 4*(first[0]+first[1]) < 3*2*group {
		t.Error("want three quarters of the first thirty")
	}
}
