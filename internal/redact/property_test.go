package redact

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func check(t interface{ Fatalf(string, ...any) }, text string) {
	starts := map[int]bool{len(text): true}
	for i := range text {
		starts[i] = true
	}
	last := 0
	for _, s := range Spans(text) {
		if s.Start < last || s.End <= s.Start || s.End > len(text) || s.Kind == "" {
			t.Fatalf("span %+v after %d in %q", s, last, text)
		}
		if !starts[s.Start] || !starts[s.End] {
			t.Fatalf("span %+v cuts a character of %q", s, text)
		}
		last = s.End
	}
	once, _ := Text(text)
	if twice, found := Text(once); twice != once {
		t.Fatalf("not stable: %q, then %q, %v", once, twice, found)
	}
	if utf8.ValidString(text) && !utf8.ValidString(once) {
		t.Fatalf("%q became %q", text, once)
	}
}

// Secrets glued to each other, to names, signs and quotes in any order.
func TestSpansAreSoundAndTextIsStable(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"password", "token", "api_key", "Authorization", "secret", "heroku", " ", "=", ": ", "\"", "'", "`", "\\\"", "\n", "\\n", ",", ";", "&", "<", ">", "</", "(", ")",
		"://", "user:", "@", "/", "-", "--", "-u ", "curl ", ".", "~", "|", "密碼", "🔑", "\xff", "[REDACTED:secret]", "[REDACTED:", "]", "Bearer ", "Basic ", "%3D", "\x1b[1m",
		"hunter22", made(hexChars, 40), made(base62, 24), made(base62, 40), made(digits, 15), "8Q~", "-us12", "-----BEGIN ", "PRIVATE KEY-----", "-----END ", "string", "x",
	}
	for i := range prefixed {
		if i%9 == 0 {
			pieces = append(pieces, sample(&prefixed[i]), prefixed[i].prefix)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), ""))
	})
}

func FuzzSpans(f *testing.F) {
	for i := range prefixed {
		if i%20 == 0 {
			f.Add("a " + sample(&prefixed[i]) + " b")
		}
	}
	for _, s := range []string{
		"", "password=\"hunter22\"", "a://b:c@d", "-----BEGIN PRIVATE KEY-----\n", "Authorization: Basic dXNlcjpwYXNz", "<password>x1y2z3w4</password>",
		"token: \\\"" + made(base62, 24) + "\\\"", "curl -u a:b1c2d3", "密碼: \xff", "eyJ.eyJ.", "1:A", "MNO.abcdef.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// Text that keeps the detectors busy everywhere takes no more than a small
// multiple of the time of other text.
func TestHostileTextTakesLinearTime(t *testing.T) {
	t.Parallel()
	units := []string{
		"token=", "password=", "a:", "a=\"", "password='", "://", "a://b:c", "@", "eyJ", "eyJ.", "eyJ-", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "--token ", "-u ", "curl -u a:",
		"sk-", "sk-ant-", "ghp_", "AKIA", "x.y.", "1|", "1:A", "8Q~", "-us1", "<password>", "\"password\",", "Bearer ", "a", "AAAA", "Authorization: ", "=", ":", "密",
		"password=\\\"", "[REDACTED:", "s.", "token: string = ", "pat.", "a.atlasv1.",
	}
	for _, unit := range units {
		text := strings.Repeat(unit, (64<<10)/len(unit))
		start := time.Now()
		Spans(text)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q: %v for 64 KiB", unit, took)
		} else if took > 100*time.Millisecond {
			t.Logf("%q: %v for 64 KiB", unit, took)
		}
	}
}

func BenchmarkSpans(b *testing.B) {
	prose := strings.Repeat("The scanner walks over the text once and calls a detector where a byte gives a secret away. ", 12000)
	code := strings.Repeat("\tif err := s.load(ctx, name); err != nil {\n\t\treturn fmt.Errorf(\"load %s: %w\", name, err)\n\t}\n\ttoken := s.tokens[i]\n", 9000)
	lines := strings.Repeat(`{"type":"assistant","uuid":"0b7c2f9e-3d51-4c58-9a35-6f1f0d3c2b1a","sessionId":"s1","message":{"role":"assistant","content":[{"type":"text","text":"Done. See internal/x.go:12 and run: go test ./..."}],"usage":{"input_tokens":1234,"output_tokens":56}}}`+"\n", 4000)
	secrets := strings.Repeat("GITHUB_TOKEN=ghp"+"_"+made(base62, 36)+"\npassword: hunter22\n", 12000)
	for _, bb := range []struct{ name, text string }{{"prose", prose}, {"code", code}, {"jsonl", lines}, {"chinese", strings.Repeat("掃描器只走訪一次文字，遇到可疑的位元組才呼叫偵測器。", 14000)}, {"secrets", secrets}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				Spans(bb.text)
			}
		})
	}
}
