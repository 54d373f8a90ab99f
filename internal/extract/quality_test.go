package extract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// The judge below shares no code with the extractor: what a fact is, and
// whether a text still has it, is said here by plain regular expressions.

type judgeKind struct {
	name  string
	find  *regexp.Regexp
	valid func(string) bool
	line  bool
}

var judgeKinds = []judgeKind{
	{name: "path", find: regexp.MustCompile(`(?:\.{1,2}/|~/|/)?(?:[A-Za-z0-9_@.-]+/)+[A-Za-z0-9_@.-]*[A-Za-z0-9_]|\b[A-Za-z0-9_-]+\.(?:go|md|ts|tsx|js|json|jsonl|py|rs|yaml|yml|toml|sh|sql|txt|lock|css|html)\b`)},
	{name: "identifier", find: regexp.MustCompile(`\b(?:[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+)\b`)},
	{name: "number", find: regexp.MustCompile(`\b\d+(?:[.,]\d+)*\b`)},
	{
		name: "error line", line: true, find: regexp.MustCompile(`(?m)^.*(?i:\berror\b|\bfailed\b|\bfailure\b|\bpanic\b|\bexception\b|\bfatal\b|Error:|錯誤|失敗|逾時).*$`),
		// A paragraph that mentions an error is prose.
		valid: func(s string) bool {
			return utf8.RuneCountInString(s) <= 160 && strings.Count(s, "。")+strings.Count(s, ". ") <= 1
		},
	},
	{
		name: "hash", find: regexp.MustCompile(`\b[0-9a-f]{7,40}\b`),
		valid: func(s string) bool { return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef") },
	},
}

// judgeFacts returns the distinct facts of one kind in text.
func judgeFacts(k judgeKind, text string) []string {
	var out []string
	for _, m := range k.find.FindAllString(text, -1) {
		m = strings.TrimSpace(m)
		if k.valid == nil || k.valid(m) {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judgeHas reports whether text still has the fact: an error line word for
// word, anything else with no letter, digit or underscore on either side.
func judgeHas(k judgeKind, text, fact string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], fact)
		if i < 0 {
			return false
		}
		i += at
		if k.line || !wordByte(text, i-1) && !wordByte(text, i+len(fact)) {
			return true
		}
		at = i + 1
	}
}

func wordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// score counts facts and those kept, per kind.
type score struct{ facts, kept [8]int }

// add judges one result. facts holds those of the original, per kind.
func (s *score) add(facts [][]string, result string) {
	for i, k := range judgeKinds {
		s.facts[i] += len(facts[i])
		for _, f := range facts[i] {
			if judgeHas(k, result, f) {
				s.kept[i]++
			}
		}
	}
}

func (s score) share(i int) float64 {
	if s.facts[i] == 0 {
		return 0
	}
	return float64(s.kept[i]) / float64(s.facts[i])
}

// all is the share of all facts together.
func (s score) all() float64 {
	f, k := 0, 0
	for i := range s.facts {
		f, k = f+s.facts[i], k+s.kept[i]
	}
	if f == 0 {
		return 0
	}
	return float64(k) / float64(f)
}

func unitsOf(s string) int { return len(utf16.Encode([]rune(s))) }

// headTo cuts text to n UTF-16 units.
func headTo(text string, n int) string {
	for i, r := range text {
		if n -= max(1, utf16.RuneLen(r)); n < 0 {
			return text[:i]
		}
	}
	return text
}

var judgeSentence = regexp.MustCompile(`[^\n。！？；]*?(?:[.!?](?:\s|$)|[。！？；]|\n|$)`)

// randomTo keeps randomly drawn sentences in their order, n UTF-16 units of
// them; the last one drawn is cut so that none of the size goes to waste.
func randomTo(rng *rand.Rand, text string, n int) string {
	all := judgeSentence.FindAllString(text, -1)
	keep := make([]string, len(all))
	for _, i := range rng.Perm(len(all)) {
		if n <= 0 {
			break
		}
		keep[i] = headTo(all[i], n)
		n -= unitsOf(keep[i])
	}
	return strings.Join(keep, "")
}

const randomRuns = 5

type measured struct {
	builtin, head, random score
	in, out               int
}

// measureQuality compresses every message to percent and does the same with
// both baselines, which are given the whole budget whether or not we used it.
func measureQuality(c corpus, percent int) measured {
	var m measured
	rngs := make([]*rand.Rand, randomRuns)
	for i := range rngs {
		rngs[i] = rand.New(rand.NewPCG(uint64(i), 7))
	}
	for i, text := range c.messages {
		facts := c.facts[i]
		got := Shorten(text, percent)
		size := budget(text, percent)
		m.in += unitsOf(text)
		m.out += unitsOf(got)
		m.builtin.add(facts, got)
		m.head.add(facts, headTo(text, size))
		for _, rng := range rngs {
			m.random.add(facts, randomTo(rng, text, size))
		}
	}
	return m
}

type corpus struct {
	name     string
	messages []string
	facts    [][][]string // of each message, of each kind
}

func corpora(tb testing.TB) []corpus {
	out := []corpus{
		{name: "generated en", messages: generateSession(1, english)},
		{name: "generated zh", messages: generateSession(2, chinese)},
	}
	if s := sampleMessages(tb); len(s) > 0 {
		out = append(out, corpus{name: "samples", messages: s})
	}
	for i := range out {
		for _, m := range out[i].messages {
			facts := make([][]string, len(judgeKinds))
			for k := range judgeKinds {
				facts[k] = judgeFacts(judgeKinds[k], m)
			}
			out[i].facts = append(out[i].facts, facts)
		}
	}
	return out
}

// sampleMessages reads the texts of users and assistants of recorded sessions,
// when there are any on this machine.
func sampleMessages(tb testing.TB) []string {
	dir := os.Getenv("OVERTONE_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "samples")
	}
	var files []string
	for _, pat := range []string{"claude_transcript*.jsonl", "codex_rollout*.jsonl", "real/*.jsonl"} {
		m, err := filepath.Glob(filepath.Join(dir, pat))
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, m...)
	}
	slices.Sort(files)
	var out []string
	for _, f := range files {
		out = append(out, fileMessages(tb, f)...)
	}
	return out
}

func fileMessages(tb testing.TB, name string) []string {
	type body struct {
		Type, Role string
		Content    json.RawMessage
	}
	var out []string
	seen := map[string]bool{}
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var e struct {
			Type             string
			Message, Payload body
		}
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			continue
		}
		b := e.Message
		if e.Payload.Type == "message" {
			b = e.Payload
		} else if e.Type != "user" && e.Type != "assistant" {
			continue
		}
		var text string
		if json.Unmarshal(b.Content, &text) != nil {
			var blocks []struct{ Type, Text string }
			if json.Unmarshal(b.Content, &blocks) != nil {
				continue
			}
			var parts []string
			for _, bl := range blocks {
				if strings.HasSuffix(bl.Type, "text") {
					parts = append(parts, bl.Text)
				}
			}
			text = strings.Join(parts, "\n")
		}
		if unitsOf(text) >= 80 && !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	if err := sc.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

func table(c corpus, percent int, m measured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %2d%%  %4d messages, %7d → %6d units (%.1f%%)\n", c.name, percent, len(c.messages), m.in, m.out, 100*float64(m.out)/float64(m.in))
	fmt.Fprintf(&b, "  %-11s %6s %8s %8s %8s\n", "kept", "facts", "builtin", "head", "random")
	row := func(name string, n int, a, h, r float64) {
		fmt.Fprintf(&b, "  %-11s %6d %7.1f%% %7.1f%% %7.1f%%\n", name, n, 100*a, 100*h, 100*r)
	}
	n := 0
	for i, k := range judgeKinds {
		row(k.name, m.builtin.facts[i], m.builtin.share(i), m.head.share(i), m.random.share(i))
		n += m.builtin.facts[i]
	}
	row("all", n, m.builtin.all(), m.head.all(), m.random.all())
	return b.String()
}

// check returns what is wrong with the shares at a target.
func check(percent int, what string, got, head, random float64) error {
	base := max(head, random)
	switch {
	case percent <= 10 && got < 2*base:
		return fmt.Errorf("%s: kept %.3f at %d%%, want at least twice the better baseline %.3f", what, got, percent, base)
	case percent > 10 && 1-got > (1-base)/2:
		return fmt.Errorf("%s: lost %.3f at %d%%, want at most half of what the better baseline loses, %.3f", what, 1-got, percent, 1-base)
	}
	return nil
}

func TestQuality(t *testing.T) {
	t.Parallel()
	for _, c := range corpora(t) {
		for _, percent := range []int{35, 10} {
			t.Run(fmt.Sprintf("%s/%d", c.name, percent), func(t *testing.T) {
				t.Parallel()
				m := measureQuality(c, percent)
				t.Log("\n" + table(c, percent, m))
				if err := check(percent, "all", m.builtin.all(), m.head.all(), m.random.all()); err != nil {
					t.Error(err)
				}
				for i, k := range judgeKinds {
					// A handful of facts says nothing about a share.
					if m.builtin.facts[i] < 20 {
						continue
					}
					if err := check(percent, k.name, m.builtin.share(i), m.head.share(i), m.random.share(i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

func BenchmarkQuality(b *testing.B) {
	for _, c := range corpora(b) {
		for _, percent := range []int{35, 10} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(c.name, " ", "-"), percent), func(b *testing.B) {
				var m measured
				for b.Loop() {
					m = measureQuality(c, percent)
				}
				fmt.Print(table(c, percent, m))
				b.ReportMetric(100*m.builtin.all(), "%builtin")
				b.ReportMetric(100*m.head.all(), "%head")
				b.ReportMetric(100*m.random.all(), "%random")
			})
		}
	}
}
