package situation

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// recorded are the labelled sessions.
type recorded struct {
	dir, tmp string
	open     map[string]*Session
}

func (r *recorded) session(t *testing.T, l *label) *Session {
	t.Helper()
	if s := r.open[l.File]; s != nil {
		return s
	}
	s, err := NewSession(r.tmp, l.name(), readFile(t, filepath.Join(r.dir, l.File)))
	if err != nil {
		t.Fatal(err)
	}
	r.open = map[string]*Session{l.File: s} // labels of one file follow each other
	return s
}

// total sums verdicts up.
type total struct {
	places  int
	hits    map[string]int
	of      map[string]int
	claims  map[string]int
	speaks  map[string]int // by locale
	claimed int
	goes    int // at so many places going on is right
}

func (s *total) add(l *label, v *verdict) {
	if s.places++; l.State == "working" {
		s.goes++
	}
	for m, n := range v.of {
		s.of[m] += n
		s.hits[m] += v.hits[m]
	}
	for _, c := range v.claims {
		s.claims[c.kind]++
		s.claimed++
	}
}

func (s *total) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d places", s.places)
	for _, m := range []string{latest, referent, state, failing, standing, explained, committed, planned} {
		if s.of[m] > 0 {
			fmt.Fprintf(&b, "  %s %d/%d (%d %%)", m, s.hits[m], s.of[m], 100*s.hits[m]/s.of[m])
		}
		if m == state {
			fmt.Fprintf(&b, ", always going on %d", s.goes)
		}
	}
	for _, locale := range locales {
		fmt.Fprintf(&b, "  language with %s %d/%d", locale, s.speaks[locale], s.places)
	}
	fmt.Fprintf(&b, "  false claims %d", s.claimed)
	for _, k := range []string{falseTree, falseCommit, falseFailure, falseStep, falseCompleted} {
		fmt.Fprintf(&b, ", %s %d", k, s.claims[k])
	}
	return b.String()
}

var locales = []string{"C.UTF-8", "en_US.UTF-8"}

// speaks is the language in which the product hands over where none is configured.
func speaks(w compact.Words, locale string) message.Lang {
	return message.Told(message.Lang(config.Defaults().Language), false, w.Lang(), func(name string) string {
		if name == "LANG" {
			return locale
		}
		return ""
	})
}

func (l *label) language() message.Lang {
	if l.Lang == "zh" {
		return message.ZH
	}
	return message.EN
}

// TestEvalSituation prints what hand-overs tell of the situation, of the half that may
// be looked at and of the other one. OVERTONE_EVAL_SHOW prints the hand-overs of a
// place, NAME@OFFSET, or of all whose names begin so.
func TestEvalSituation(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	sessions := recorded{dir: folder(t), tmp: t.TempDir()}
	show := os.Getenv("OVERTONE_EVAL_SHOW")
	groups := []string{"all", "tuned", "unseen", "recorded compactions", "other places"}
	sums := map[string]*total{}
	for _, g := range groups {
		sums[g] = &total{hits: map[string]int{}, of: map[string]int{}, claims: map[string]int{}, speaks: map[string]int{}}
	}
	for _, l := range labels(t) {
		s := sessions.session(t, &l)
		h := s.HandOver(l.Cut, l.Real, l.language())
		text := h.Text()
		told, err := Read(text)
		if err != nil {
			t.Fatalf("%s@%d: %v:\n%s", l.name(), l.Cut, err, text)
		}
		v := judge{s.Data, &l, told, h.Summary}.verdict()
		place := fmt.Sprintf("%s@%d", l.name(), l.Cut)
		kind := "other places"
		if l.Real {
			kind = "recorded compactions"
		}
		for _, g := range []string{"all", half(l.name()), kind} {
			sums[g].add(&l, v)
			for _, locale := range locales {
				if speaks(h.Record.Words, locale) == l.language() {
					sums[g].speaks[locale]++
				}
			}
		}
		// Who works on the code reads the misses of one half, and the sums of the other.
		if half(l.name()) == "tuned" {
			for _, m := range v.misses {
				t.Logf("%s (%s) misses %s", place, l.Shape, m)
			}
			for _, c := range v.claims {
				t.Logf("%s (%s) says falsely: %s: %s", place, l.Shape, c.kind, c.what)
			}
		}
		if show != "" && strings.HasPrefix(place, show) {
			t.Logf("%s: %s\n%s", place, l.Note, text)
		}
	}
	for _, g := range groups {
		t.Logf("%-20s %s", g, sums[g])
	}
}

// TestEvalIsTheProducts: what is judged is what the product hands over.
func TestEvalIsTheProducts(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	sessions := recorded{dir: folder(t), tmp: t.TempDir()}
	seen := map[string]int{}
	for _, l := range labels(t) {
		s := sessions.session(t, &l)
		data, n := s.Data[:l.Cut], 0
		if l.Real {
			seen[l.File]++
			data, n = s.Data, seen[l.File]
		} else if seen[l.File] > 0 {
			continue
		}
		path := filepath.Join(t.TempDir(), s.Name+".jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		survey, err := catalog.NewSurvey(context.Background(), transcript.File{Path: path, ID: s.Name}, n, func(message.Lang) message.Lang { return message.EN })
		if err != nil {
			t.Fatal(err)
		}
		if ours := s.HandOver(l.Cut, l.Real, message.EN).Text(); ours != survey.Text {
			t.Errorf("%s@%d: %s", l.name(), l.Cut, firstDifference(ours, survey.Text))
		}
	}
}

func firstDifference(a, b string) string {
	rows := strings.Split(b, "\n")
	for i, row := range strings.Split(a, "\n") {
		if i >= len(rows) || row != rows[i] {
			return fmt.Sprintf("line %d: %q, the product says %q", i+1, row, cmp.Or(append(rows, "")[min(i, len(rows))], "nothing"))
		}
	}
	return "the product says more"
}
