package situation

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// span is a text in a session's file: where it begins and how many bytes it has.
type span [2]int64

// label is what a reader found at one place of a session. The package's comment says
// what the fields mean.
type label struct {
	File  string
	Cut   int64
	Real  bool // a compaction of the file, with its own summary
	State string
	Shape string // what the place is an example of
	Lang  string
	Note  string

	Latest, Referent, Question []span
	Failing, Repaired          []failure
	Standing                   [][]span
	Fair, Loose                []span
	Commits, Gone              []span
	Edited, Clean              []span
	TreeClean                  bool `json:"tree_clean"`
	Open, Done                 []span
}

// failure is a command that failed; one of the things that it said is enough.
type failure struct {
	Command span
	Said    []span
}

// spans are all texts of a label.
func (l *label) spans() []span {
	out := slices.Concat(l.Latest, l.Referent, l.Question, l.Fair, l.Loose, l.Commits, l.Gone, l.Edited, l.Clean, l.Open, l.Done, slices.Concat(l.Standing...))
	for _, f := range slices.Concat(l.Failing, l.Repaired) {
		out = append(append(out, f.Command), f.Said...)
	}
	return out
}

func (l *label) name() string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(l.File), ".gz"), ".jsonl")
}

// half says which half of the labels a session belongs to: what is tuned is tuned on
// one of them, and the other shows what that is worth.
func half(session string) string {
	if sum := sha256.Sum256([]byte(session)); sum[0]>>4%2 == 0 {
		return "tuned"
	}
	return "unseen"
}

func labels(t *testing.T) []label {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "labels.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []label
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// folder is where the recorded sessions are.
func folder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("OVERTONE_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "shared", "samples")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", "..", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "real")); err != nil {
		t.Skip("no recorded sessions")
	}
	return dir
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// TestHalves: the halves are those that were written down before anything was tuned.
func TestHalves(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "halves.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for row := range strings.Lines(string(data)) {
		name, h, _ := strings.Cut(strings.TrimSpace(row), "\t")
		if written[name] = h; half(name) != h {
			t.Errorf("%s is written down as %s", name, h)
		}
	}
	for _, l := range labels(t) {
		if written[l.name()] == "" {
			t.Errorf("%s is in no half", l.name())
		}
	}
}

// TestSpans: each text of a label lies inside a string of the session's file, and each
// place is the beginning of a line.
func TestSpans(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files := map[string][]byte{}
	for _, l := range labels(t) {
		if files[l.File] == nil {
			files[l.File] = readFile(t, filepath.Join(dir, l.File))
		}
		data := files[l.File]
		if l.Cut > int64(len(data)) || l.Cut < int64(len(data)) && data[l.Cut-1] != '\n' {
			t.Errorf("%s: %d is no beginning of a line", l.File, l.Cut)
		}
		for _, s := range l.spans() {
			if s[0]+s[1] > l.Cut {
				t.Errorf("%s@%d: %v lies behind it", l.File, l.Cut, s)
			} else if !inString(data, s) {
				t.Errorf("%s@%d: %v is not inside a string", l.File, l.Cut, s)
			}
		}
	}
}

// inString reports whether a span lies between the quotes of one string of its line.
func inString(data []byte, s span) bool {
	start := int64(bytes.LastIndexByte(data[:s[0]], '\n') + 1)
	open := int64(-1)
	for i := start; i < s[0]+s[1]; i++ {
		switch {
		case data[i] == '\n':
			return false
		case data[i] == '\\' && open >= 0:
			i++
		case data[i] != '"':
		case open >= 0:
			open = -1
		default:
			open = i
		}
	}
	return open >= start && open < s[0]
}
