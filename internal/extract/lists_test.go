package extract

import (
	"strings"
	"testing"
)

// Every word of the lists is found, however it is written, and not inside another.
func TestCues(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(cueWords) {
		name, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			continue
		}
		cue := cueNames[name]
		for w := range strings.SplitSeq(list, ", ") {
			w, stem := strings.CutSuffix(w, "*")
			for _, text := range []string{w, "- **" + strings.ToUpper(w) + "** 7", strings.ReplaceAll(w, "'", "’") + ", or so"} {
				if cuesOf(text)&cue == 0 {
					t.Errorf("%q: no %s", text, name)
				}
			}
			if stem && cuesOf("the "+w+"ing")&cue == 0 {
				t.Errorf("%qing: no %s", w, name)
			}
			if unspaced([]rune(w)[0]) || strings.ContainsAny(w, " '") {
				continue // found anywhere, or told by their parts
			}
			for _, text := range []string{"xx" + w, "`" + w + "` xx"} {
				if cuesOf(text)&cue != 0 {
					t.Errorf("%q: %s", text, name)
				}
			}
			if inside := cuesOf("one two " + w); (inside&cue != 0) != (cue&atStart == 0) {
				t.Errorf("%q behind other words: %b", w, inside)
			}
		}
	}
}

func TestCuesOfSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Cue{
		"":                       0,
		"Zeile eins":             0,
		"It hadn’t AIN'T":        Back | Denied,
		"must":                   Duty,
		"You must not":           Duty | Rule | Denied,
		"must, not":              Duty | Denied | Rule,
		"decision":               Choice,
		"decision: keep":         Decided | Choice,
		"Is it so?":              Question | Argued,
		"Really (?)":             Question,
		"a `never` b":            0,
		"a ` never":              Denied | Rule,
		"\xff\xe4 x y not":       Denied,
		strings.Repeat("a", 300): 0,
		"trade-OFF":              Choice,
		"必須改":                    Rule,
		"如果沒改":                   Argued | Denied,
		"但看過":                    Contrast,
		"нельзя так":             Rule | Denied,
		"- **Let me** look":      Narration,
		"We let me look":         0,
	} {
		if got := cuesOf(text); got != want {
			t.Errorf("%q: %016b, want %016b", text, got, want)
		}
	}
}
