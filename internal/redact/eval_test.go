package redact_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

func encode(s string) string    { return base64.StdEncoding.EncodeToString([]byte(s)) }
func encodeURL(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// run is how much of a secret may not survive: this many characters in a row.
const run = 6

// score counts one half or class.
type score struct{ secrets, hit, looks, changed, extra int }

func (s *score) add(o score) {
	s.secrets += o.secrets
	s.hit += o.hit
	s.looks += o.looks
	s.changed += o.changed
	s.extra += o.extra
}

func (s score) recall() float64 { return float64(s.hit) / float64(max(s.secrets, 1)) }

// precision counts a look-alike that was changed at all, and whatever was taken
// out of a text with secrets without being one.
func (s score) precision() float64 {
	return float64(s.hit) / float64(max(s.hit+s.changed+s.extra, 1))
}

// survives returns a part of a secret that is still in the text. What the text
// around it holds as well, as the name of the service, does not count.
func survives(secret, out, around string) string {
	for line := range strings.SplitSeq(secret, "\n") {
		for i := 0; i+run <= len(line); i++ {
			if part := line[i : i+run]; strings.Contains(out, part) && !strings.Contains(around, part) {
				return line[i : i+run]
			}
		}
	}
	return ""
}

// judge scores one text and says what went wrong.
func judge(s sample) (score, []string) {
	out, _ := redact.Text(s.text)
	var sc score
	var wrong []string
	if len(s.secrets) == 0 {
		sc.looks = 1
		if out != s.text {
			sc.changed = 1
			wrong = append(wrong, fmt.Sprintf("changed: %q -> %q", s.text, out))
		}
		return sc, wrong
	}
	around := s.text
	for _, secret := range s.secrets {
		for line := range strings.SplitSeq(secret, "\n") {
			around = strings.ReplaceAll(around, line, " ")
		}
	}
	for _, secret := range s.secrets {
		sc.secrets++
		if part := survives(secret, out, around); part != "" {
			wrong = append(wrong, fmt.Sprintf("survives: %q of %q in %q", part, secret, out))
			continue
		}
		sc.hit++
	}
	for _, sp := range redact.Spans(s.text) {
		cut := s.text[sp.Start:sp.End]
		if !slices.ContainsFunc(s.secrets, func(secret string) bool {
			return survives(secret, cut, "") != "" || strings.Contains(secret, cut)
		}) {
			sc.extra++
			wrong = append(wrong, fmt.Sprintf("no secret: %q as %s in %q", cut, sp.Kind, s.text))
		}
	}
	return sc, wrong
}

func wholeCorpus() []sample { return append(corpus(secretGroups), corpus(lookalikeGroups)...) }

// The corpus holds what it must, and both halves pass.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var halves [2]score
	for _, s := range wholeCorpus() {
		sc, wrong := judge(s)
		halves[s.half].add(sc)
		if s.half == 0 {
			for _, w := range wrong {
				t.Logf("%s, %s: %.300s", s.class, s.form, w)
			}
		}
	}
	for i, h := range halves {
		if h.secrets < 300 || h.looks < 300 {
			t.Errorf("half %c: only %d secrets and %d look-alikes", 'A'+i, h.secrets, h.looks)
		}
		if h.recall() < 0.97 || h.precision() < 0.97 {
			t.Errorf("half %c: recall %.4f, precision %.4f, want 0.97", 'A'+i, h.recall(), h.precision())
		}
	}
}

// TestEval prints recall and precision for make eval.
func TestEval(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	type key struct {
		half int
		name string
	}
	scores := map[key]score{}
	note := func(k key, sc score) {
		s := scores[k]
		s.add(sc)
		scores[k] = s
	}
	for _, s := range wholeCorpus() {
		sc, _ := judge(s)
		note(key{s.half, s.class}, sc)
		note(key{s.half, "form: " + s.form}, sc)
		note(key{s.half, "~all"}, sc)
	}
	var keys []key
	for k := range scores {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(a.half-b.half, strings.Compare(a.name, b.name)) })
	for _, k := range keys {
		s := scores[k]
		line := fmt.Sprintf("redact half %c %-28s", 'A'+k.half, strings.TrimPrefix(k.name, "~"))
		if s.secrets > 0 {
			line += fmt.Sprintf(" recall %.3f (%d of %d)", s.recall(), s.hit, s.secrets)
		}
		if s.secrets > 0 {
			line += fmt.Sprintf(" precision %.3f", s.precision())
		}
		line += fmt.Sprintf(" false %d", s.changed+s.extra)
		if s.looks > 0 {
			line += fmt.Sprintf(" of %d look-alikes", s.looks)
		}
		fmt.Println(line)
	}
}

// BenchmarkQuality is how good the rules are on the half that they were not made on.
func BenchmarkQuality(b *testing.B) {
	var sum score
	for _, s := range wholeCorpus() {
		if s.half == 1 {
			sc, _ := judge(s)
			sum.add(sc)
		}
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(sum.recall(), "recall")
	b.ReportMetric(sum.precision(), "precision")
}

// A document is redacted as its strings are, stays one, and what is known already
// is left alone.
func TestJSON(t *testing.T) {
	t.Parallel()
	for _, s := range wholeCorpus() {
		want, _ := redact.Text(s.text)
		doc, err := json.Marshal(map[string]any{"id": "0b7c2f9e-3d51-4c58-9a35-6f1f0d3c2b1a", "at": "2026-03-01T09:30:00.120Z", "said": []string{s.text}})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Said []string }
		clean := redact.JSON(doc, nil)
		if err := json.Unmarshal(clean, &got); err != nil {
			t.Fatalf("%v: %s", err, clean)
		}
		if got.Said[0] != want {
			t.Errorf("%q: %q, as a text %q", s.text, got.Said[0], want)
		}
		if again := redact.JSON(clean, nil); string(again) != string(clean) {
			t.Errorf("%s: again %s", clean, again)
		}
		if same := redact.JSON(doc, doc); string(same) != string(doc) {
			t.Errorf("%s: known, and %s", doc, same)
		}
	}
}
