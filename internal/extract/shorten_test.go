package extract

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkExtract holds for every text and every target.
func checkExtract(t interface{ Fatalf(string, ...any) }, text string, percent int) {
	got := Shorten(text, percent)
	text = string([]rune(text)) // stray bytes are read as U+FFFD
	if n := unitsOf(got); n > budget(text, percent) {
		t.Fatalf("%d units at %d%%, budget %d:\n%q\n%q", n, percent, budget(text, percent), text, got)
	}
	if !utf8.ValidString(got) {
		t.Fatalf("invalid UTF-8: %q of %q", got, text)
	}
	if again := Shorten(text, percent); again != got {
		t.Fatalf("differs from run to run: %q, %q", got, again)
	}
	if twice := Shorten(got, percent); unitsOf(twice) > unitsOf(got) {
		t.Fatalf("grows when repeated: %q, %q", got, twice)
	}
	for _, w := range strings.FieldsFunc(got, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(w) >= 3 && !strings.Contains(text, w) {
			t.Fatalf("%q is not in the original:\n%q\n%q", w, text, got)
		}
	}
	if made := Invented(Facts(text), Facts(got)); made != nil {
		t.Fatalf("invented %v at %d%%:\n%q\n%q", made, percent, text, got)
	}
}

func TestExtractProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkExtract(t, anyText().Draw(t, "text"), rapid.IntRange(-1, 110).Draw(t, "percent"))
	})
}

func TestExtractPropertiesOfSessions(t *testing.T) {
	t.Parallel()
	for _, lang := range []tongue{english, chinese} {
		for i, m := range generateSession(9, lang) {
			checkExtract(t, m, 3+i%60)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("We decided to keep a/b.go:12:3 because 3fa9c01 broke 1,234 tests.\nerror: no", 35)
	f.Add("我們決定改用 internal/x.go，因為第3輪失敗。其他沒有問題！", 10)
	f.Add("```go\nx := 1\n```\n- item\n1. `one` **two**", 20)
	f.Add("1,2,345 \xff https://x.org/a", 50)
	f.Fuzz(func(t *testing.T, text string, percent int) { checkExtract(t, text, percent) })
}

func TestExtract(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		percent    int
		want       string
	}{
		{"empty", "", 35, ""},
		{"whole", "as it is.", 100, "as it is."},
		{
			"decision and its reason", "Thanks, that looks really good to me and I am happy with it. We decided to drop the cache because it was never hit. Let me know what you think about all of this.", 35,
			"decided drop cache because never hit.",
		},
		{
			"facts first when there is room for nothing else", "So I had a look at what is going on in there and it turns out that internal/store/lock.go:42 never releases the lock, and that is the reason why commit 3fa9c01 was reverted by the team last week.", 30,
			"internal/store/lock.go:42 3fa9c01",
		},
		{
			"error line word for word", "I ran it again and this time it printed something new that I have not seen before today.\nfatal: unable to open 'x.lock': File exists\nI have no idea where that comes from, to be honest with you.", 30,
			"fatal: unable to open 'x.lock': File exists",
		},
		{
			"Chinese", "好的，我先看看目前的狀況，再跟你說明。我們決定改用 internal/lock.go 的做法，因為舊的做法會失敗。其他的部分之後再說吧，應該不急。", 35,
			"決定改用 internal/lock.go 的做法，",
		},
		{"one long word", strings.Repeat("x", 100), 35, strings.Repeat("x", 35)},
		{"one long number", strings.Repeat("7", 100), 35, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, Shorten(tt.text, tt.percent)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// hostile texts are one line, one word or one repeated sign.
func hostile(n int) map[string]string {
	return map[string]string{
		"words on one line": strings.Repeat("the pool waits for lock ", n/24),
		"one word":          strings.Repeat("x", n),
		"one path":          strings.Repeat("a/b.", n/4),
		"numbers":           strings.Repeat("1,2,", n/4),
		"groups":            strings.Repeat("1,234,", n/6),
		"minified":          strings.Repeat(`{"fooBar":12,"b":"x/y.go"},`, n/27),
		"Chinese, no stops": strings.Repeat("重試迴圈", n/12),
		"ticks":             strings.Repeat("`", n),
		"tick words":        strings.Repeat("` a", n/3),
		"colons":            strings.Repeat("a::", n/3),
		"dots":              strings.Repeat("a.", n/2),
		"commas":            strings.Repeat("，", n/3),
		"hashes":            strings.Repeat("3fa9c01 ", n/8),
		"lines of errors":   strings.Repeat("error: x\n", n/9),
		"newlines":          strings.Repeat("\n", n),
		"fences":            strings.Repeat("```\n", n/4),
		"invalid bytes":     strings.Repeat("\xff\xfe", n/2),
		"slashes":           strings.Repeat("/", n),
		"closing tags":      strings.Repeat("</", n/2),
		"abbreviations":     strings.Repeat("e.g. ", n/5),
	}
}

func TestExtractTimeIsLinear(t *testing.T) {
	for name, text := range hostile(1 << 20) {
		start := time.Now()
		Shorten(text, 10)
		// It takes some 50 ms; a quadratic pass would take minutes.
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: %v for 1 MB", name, d)
		}
	}
}

func TestExtractHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile(1 << 13) {
		for _, percent := range []int{1, 10, 35, 90} {
			checkExtract(t, text, percent)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	run := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Shorten(text, 10)
			}
		})
	}
	run("en", strings.Join(generateSession(3, english), "\n"))
	run("zh", strings.Join(generateSession(3, chinese), "\n"))
	for _, name := range []string{"words on one line", "minified", "numbers"} {
		run(name, hostile(1 << 20)[name])
	}
}
