package shellcmd

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// corpus reads a file of lines; ⏎ stands for a newline, # begins a class.
func corpus(t testing.TB, file string) (lines, classes []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	class := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			class = name
			continue
		}
		lines, classes = append(lines, strings.ReplaceAll(line, "⏎", "\n")), append(classes, class)
	}
	return lines, classes
}

// What agents read with every day must pass: the guard that says no too often is
// switched off. The shapes were made with the even lines, the odd ones judge them.
func TestReadingCorpus(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"reading.txt", "daily.txt"} {
		t.Run(file, func(t *testing.T) { reading(t, file) })
	}
}

func reading(t *testing.T, file string) {
	lines, _ := corpus(t, file)
	if len(lines) < 300 {
		t.Errorf("%d lines, want at least 300", len(lines))
	}
	for half, name := range []string{"tuned on", "held out"} {
		n, denied := 0, 0
		for i := half; i < len(lines); i += 2 {
			n++
			if ok, why := ReadOnly(lines[i]); !ok {
				denied++
				t.Logf("denied: %s: %s", lines[i], why.In(message.EN))
			}
		}
		t.Logf("%s: %d of %d denied (%.1f %%)", name, denied, n, 100*float64(denied)/float64(n))
		if float64(denied) > 0.03*float64(n) {
			t.Errorf("%s: more than 3 %% denied", name)
		}
	}
}

// Nothing that writes, runs foreign code or decides for the user may pass, and
// each refusal says why in both languages.
func TestWritingCorpus(t *testing.T) {
	t.Parallel()
	lines, classes := corpus(t, "writing.txt")
	seen := map[string]int{}
	for i, line := range lines {
		seen[classes[i]]++
		ok, why := ReadOnly(line)
		if ok {
			t.Errorf("%s: passes: %s", classes[i], line)
		} else if en, zh := why.In(message.EN), why.In(message.ZH); en == "" || zh == "" || en == zh || strings.Contains(en, "%!") {
			t.Errorf("%s: reason %q, %q", line, en, zh)
		}
	}
	t.Logf("%d lines in %d classes: %v", len(lines), len(seen), seen)
}
