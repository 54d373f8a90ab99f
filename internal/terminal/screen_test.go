package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile holds one of each kind of character that must not reach a terminal.
const hostile = "a\x1b]52;c;aGk=\x07b\x1b[2Jc\u009bd\u202ee\u2066f\x7fg\x00h\u2028i\rj\U000e0041k"

func FuzzScreen(f *testing.F) {
	f.Add([]byte(hostile), 3)
	f.Add([]byte("plain, 中文 🎵\r\n\tx"), 1)
	f.Add([]byte{0x9b, '3', '1', 'm', 0xc2, 0x9b, 0xe2, 0x80}, 5)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var out, parts bytes.Buffer
		one, many := NewScreen(&out), NewScreen(&parts)
		write := func(w interface{ Write([]byte) (int, error) }, p []byte) {
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, len(p), err)
			}
		}
		write(one, in)
		Flush(one)
		at := 0
		if len(in) > 0 {
			at = (cut%len(in) + len(in)) % len(in)
		}
		write(many, in[:at])
		write(many, in[at:])
		Flush(many)
		if !bytes.Equal(out.Bytes(), parts.Bytes()) {
			t.Fatalf("cut at %d: %q, else %q", at, parts.String(), out.String())
		}
		if !utf8.Valid(out.Bytes()) {
			t.Fatalf("%q", out.String())
		}
		for i, r := range out.String() {
			returns := r == '\r' && strings.HasPrefix(out.String()[i:], "\r\n")
			if steers(r) && r != '\n' && r != '\t' && !returns || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' && !returns {
				t.Fatalf("%U in %q", r, out.String())
			}
		}
		// In JSON nothing is lost.
		if data, err := json.Marshal(string(in)); err == nil {
			var before, after string
			if err := json.Unmarshal(data, &before); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(appendSafe(nil, data), &after); err != nil || before != after {
				t.Fatalf("%q became %q: %v", before, after, err)
			}
		}
	})
}

func TestTableOfHostileCells(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &Terminal{Env: Env{Getenv: func(string) string { return "" }}}
	a.Table(&out, [][]string{{"one\ntwo", "x"}, {hostile, "y"}})
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, out.String())
	}
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && steers(r) }) {
		t.Errorf("%q", out.String())
	}
}
