package redact

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
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
	for i, r := range table() {
		if i%9 == 0 {
			pieces = append(pieces, sample(&r), r.prefix)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), ""))
	})
}

func FuzzSpans(f *testing.F) {
	for i, r := range table() {
		if i%20 == 0 {
			f.Add("a " + sample(&r) + " b")
		}
	}
	for _, s := range []string{
		"", "password=\"hunter22\"", "a://b:c@d", "-----BEGIN PRIVATE KEY-----\n", "Authorization: Basic dXNlcjpwYXNz", "<password>x1y2z3w4</password>",
		"密碼：" + made(base62, 12), "mysql -p" + made(base62, 9), "| password |\n|--|\n| a1b2c3d4 |", "<a name=\"password\"><value>x1y2z3</value>", "password: |\n  a1b2c3d4", "h:5432:d:u:a1b2c3d4",
		"token: \\\"" + made(base62, 24) + "\\\"", "curl -u a:b1c2d3", "密碼: \xff", "eyJ.eyJ.", "1:A", "MNO.abcdef.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// hostile are texts that, repeated, keep the detectors busy everywhere.
var hostile = []string{
	"login a / ", "bob / Tiger!Lily77 / ",
	"token=", "password=", "a:", "a=\"", "password='", "://", "a://b:c", "@", "eyJ", "eyJ.", "eyJ-", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "--token ", "-u ", "curl -u a:",
	"sk-", "sk-ant-", "ghp_", "AKIA", "x.y.", "1|", "1:A", "8Q~", "-us1", "<password>", "\"password\",", "Bearer ", "a", "AAAA", "Authorization: ", "=", ":", "密",
	"password=\\\"", "[REDACTED:", "s.", "token: string = ", "pat.", "a.atlasv1.",
	"-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n", "Private-Lines: 1\n", "Private-Lines:", "password ", "password is ", "password for ", "password (", "密碼", "密碼：",
	"パスワード ", "mysql ", "mysql -p ", "curl -u ", "sshpass \"", "a:*:", "x:5432:a:b:", "|password", "| password |\n|--|\n", "||", "value=", "value: ", "1: ", "echo a ", "ENV ", "@tcp(", "\"d\":\"", "\\", "\\\"",
	" as password", "<a>", "<value>", "IDENTIFIED BY ", "login(", "\\n", "-p", "--", "password:\n", "key ", "AC", "a?password=", "password=a", "Cookie: ", "AZDO", "password->",
}

// Text that keeps the detectors busy everywhere takes time proportional to its
// length: four times the text takes no more than eight times as long.
func TestHostileTextTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	took := func(text string) time.Duration {
		start := time.Now()
		Spans(text)
		return time.Since(start)
	}
	for _, unit := range hostile {
		text := strings.Repeat(unit, (64<<10)/len(unit))
		small, large := took(text[:16<<10]), took(text)
		for try := 0; large > 25*time.Millisecond && large > 8*small; try++ {
			if try == 12 { // not the noise of the machine
				t.Errorf("%q: %v for 16 KiB, %v for 64 KiB", unit, small, large)
				break
			}
			small, large = max(small, took(text[:16<<10])), min(large, took(text))
		}
	}
}

// Ten megabytes of it, on one line and on many, take seconds.
func TestTenMegabytesOfHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	var b strings.Builder
	for b.Len() < 10<<20 {
		for _, unit := range hostile {
			b.WriteString(strings.Repeat(unit, (48<<10)/len(unit)))
		}
	}
	start := cost.CPU()
	Spans(b.String())
	if took := cost.CPU() - start; took > time.Minute { // under the race detector it takes ten times as long
		t.Errorf("%v for %d MiB", took, b.Len()>>20)
	} else {
		t.Logf("%v for %d MiB", took, b.Len()>>20)
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

// A text as hooks see them.
func BenchmarkText(b *testing.B) {
	text := strings.Repeat("Run the tests, then change internal/x.go:12 so that the token is read from the environment.\n", 12)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
