package transcript

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func FuzzSkip(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e+3,{"b":"\u00e9\"\\"}],"c":null,"d":true}`, `[]`, `{}`, `""`, `"\ud83d\ude00"`, `[1,]`, `{"a"}`, `{"a":1,}`,
		`01`, `1.`, `-`, `"\x"`, `"\u12g4"`, "\"a\tb\"", `{"a":1}{"b":2}`, `nul`, "\"\xff\xfe\"", `[[[[[[[[[[]]]]]]]]]]`, `[}`, `{"a":[}`,
		`"aaaaaaa\`, `"aaaaaa\n\t\t\u0041\n\`, `"aaaaaa\n\t\t\u0041\n\"bbbbbbbb\\"`, `"\n\t\u00zz"`, "\"plain text\\nwith \xff and \\ud800 in it\\n\"", `"\n\n\n\n\n\n\n\n\n"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		start := space(b, 0)
		end := skip(b, start)
		whole := end >= 0 && space(b, end) == len(b)
		if want := json.Valid(b); whole != want {
			t.Fatalf("%q: valid %v, want %v", b, whole, want)
		}
		if !whole || b[start] != '"' {
			return
		}
		var want string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		raw := b[start+1 : end-1]
		got := unescape(raw)
		if got != want {
			t.Fatalf("%q: decoded %q, want %q", b, got, want)
		}
		if n, m := units(raw), len(utf16.Encode([]rune(got))); n != m {
			t.Fatalf("%q: %d units, want %d", b, n, m)
		}
		var again string
		if err := json.Unmarshal(appendString(nil, got), &again); err != nil || again != got {
			t.Fatalf("%q: written %s, %v", b, appendString(nil, got), err)
		}
	})
}

// Whatever the bytes are, decoding them ends, and their length is that of what comes out:
// also where the inside of a string was cut within an escape.
func FuzzUnescape(f *testing.F) {
	f.Add([]byte(`\`))
	f.Add([]byte(`a\q\u12\ud83d\ude0`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := unescape(b)
		if n, m := units(b), len(utf16.Encode([]rune(got))); n != m {
			t.Fatalf("%q: %d units, want %d of %q", b, n, m, got)
		}
	})
}

func TestAStringThatIsCut(t *testing.T) {
	t.Parallel()
	const whole = `a\\b\"c\u00e9d\ud83d\ude00\n`
	want := map[int]string{
		2: `a\`, 3: `a\`, 5: `a\b\`, 8: `a\b"c\`, 9: `a\b"c\u`, 13: `a\b"cé`, 15: `a\b"céd\`,
		20: "a\\b\"céd\uFFFD", 25: "a\\b\"céd\uFFFD\\ude0", 26: `a\b"céd😀`, 27: `a\b"céd😀\`, 28: "a\\b\"céd😀\n",
	}
	for n := range len(whole) + 1 {
		for from := range n {
			unescape([]byte(whole[from:n]))
			units([]byte(whole[from:n]))
		}
		if text, ok := want[n]; ok && unescape([]byte(whole[:n])) != text {
			t.Errorf("%s: %q, want %q", whole[:n], unescape([]byte(whole[:n])), text)
		}
	}
}

func TestSkipDeep(t *testing.T) {
	t.Parallel()
	ok := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if skip([]byte(ok), 0) != len(ok) {
		t.Error("5000 levels refused")
	}
	if bad := strings.Repeat("[", maxDepth+1); skip([]byte(bad), 0) != -1 {
		t.Error("endless depth accepted")
	}
}

// Replacing a text changes nothing else of the entry.
func TestSetTextKeepsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		block := rapid.SampledFrom([]string{`{"type":"text","text":"x"}`, `{"type":"image","n":1.50}`, `{ "type" : "tool_use", "input":{"b":1,"a":2}}`, `7`, `{"type":"text"}`})
		list := rapid.SliceOfN(block, 0, 5).Draw(t, "blocks")
		entry := `{"big":12345678901234567890, "message" : {"z":1,"content": [` + strings.Join(list, " , ") + `] ,"a":2},"type":"user"}`
		out := SetText([]byte(entry), text)
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		// As decoding sees it: bytes that are not UTF-8 cannot survive JSON.
		if got, want := Text(out), strings.ToValidUTF8(text, "\uFFFD"); len([]rune(got)) != len([]rune(text)) || strings.ToValidUTF8(got, "\uFFFD") != got || want == "" && got != "" {
			t.Fatalf("text %q, want %q", got, text)
		}
		before, after, _ := strings.Cut(entry, "[")
		_, after, _ = strings.Cut(after, "]")
		if !strings.HasPrefix(string(out), before) || !strings.HasSuffix(string(out), after) {
			t.Fatalf("surroundings changed: %s", out)
		}
		var kept []string
		for _, b := range list {
			if !strings.Contains(b, `"text"`) {
				kept = append(kept, b)
			}
		}
		for _, b := range kept {
			if !strings.Contains(string(out), b) {
				t.Fatalf("block %s lost in %s", b, out)
			}
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, entry, want string }{
		{"claude string", `{"type":"user","message":{"content":"a\nb"}}`, "a\nb"},
		{"claude blocks", `{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"text":"b","type":"text"}]}}`, "a\nb"},
		{"codex blocks", `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}`, "a"},
		{"codex bare", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`, "a"},
		{"codex types mean nothing on claude", `{"message":{"content":[{"type":"input_text","text":"a"}]}}`, ""},
		{"queue operation", `{"type":"queue-operation","content":"x"}`, ""},
		{"tool result", `{"message":{"content":[{"type":"tool_result","content":"x"}]}}`, ""},
		{"not an object", `[]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, Text([]byte(tt.entry))); d != "" {
				t.Error(d)
			}
		})
	}
}

// A text is as long as its host counts, in units of UTF-16; surrogates come in pairs of
// escapes, and one alone is no letter.
func TestUnitsAndSurrogates(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{"": 0, "a": 1, "\u00e9": 1, "\uffff": 1, "\U00010000": 2, "😀": 2, `\n`: 1, `\u00e9x`: 2, `\ud83d\ude00`: 2} {
		if got := units([]byte(raw)); got != want {
			t.Errorf("%q: %d", raw, got)
		}
	}
	for raw, want := range map[string]string{`\ud83d\ude00!`: "😀!", `\ud83dde00`: "\ufffdde00", `\u00e9\u00e8`: "éè", `\ude00\ud83d`: "\ufffd\ufffd", `\ud83d\u0041`: "\ufffdA"} {
		if got := unescape([]byte(raw)); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	var texts []string
	Texts([]byte(`{"type":"image","data":"AAAA","media_type":"image/png","image_url":"u","text":"kept","list":[{"type":"t","text":"too"}]}`), func(inner Inner) { texts = append(texts, inner.Text()) })
	if strings.Join(texts, " ") != "kept too" {
		t.Errorf("%q", texts)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(1, 4102444800000).Draw(t, "ms")
		want := Time(ms)
		if got := parseTime([]byte(want.Format("2006-01-02T15:04:05.000Z"))); got != ms {
			t.Fatalf("%v: %d, want %d", want, got, ms)
		}
	})
	for in, want := range map[string]int64{"": 0, "x": 0, "2026-0x-01T00:00:00.000Z": 0, "2026-01-01T00:00:00Z": 1767225600000, "2026-01-01T01:00:00.5+01:00": 1767225600500} {
		if got := parseTime([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

// What is no time is none, and not one that is older than all that was asked for: what was
// used at year one would be in no sum.
func TestTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"2026-01-01T00:00:00.123Z": 1767225600123, "2026-01-01T01:00:00.123456789+01:00": 1767225600123, "": 0, "yesterday": 0, "1767225600": 0,
		"0001-01-01T00:00:00Z": 0, "1969-12-31T23:59:59.999Z": 0,
	} {
		if got := parseTime([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
