package store

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
)

func TestSetJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		doc, path string
		value     any
		want      string
	}{
		{`{}`, "a", "x", `{"a":"x"}`},
		{` { } `, "a", 1, ` {"a":1 } `},
		{"{\r\n  \"b\" : 12345678901234567890\r\n}\n", "a", nil, "{\r\n  \"b\" : 12345678901234567890,\"a\":null\r\n}\n"},
		{`{"a" :  "old" , "b":1.0}`, "a", "<new> & \"more\"\n", `{"a" :  "<new> & \"more\"\n" , "b":1.0}`},
		{`{"a":{"b":1,"c":2}}`, "a.b", json.RawMessage(`[ 1 ]`), `{"a":{"b":[ 1 ],"c":2}}`},
		{`{"x":1}`, "a.b.c", true, `{"x":1,"a":{"b":{"c":true}}}`},
		{`{"a":{"b":{}}}`, "a.b.c", true, `{"a":{"b":{"c":true}}}`},
		{`{"a":7}`, "a.b", 1, `{"a":{"b":1}}`},
		{`{"a":[{"b":1},{"b":2}]}`, "a.1.b", 3, `{"a":[{"b":1},{"b":3}]}`},
		{`{"s":"a \" } {"}`, "t", 1, `{"s":"a \" } {","t":1}`},
		{`{"a":1,"a":2}`, "a", 3, `{"a":3,"a":2}`}, // the first, which gjson reads
		{"", "a", 1, ""},
		{"}", "a", 1, "}"},
		{`[{"b":1}]`, "a", 1, `[{"b":1}]`},
	} {
		if got := SetJSON(tc.doc, tc.path, tc.value); got != tc.want {
			t.Errorf("%s of %s: %s, want %s", tc.path, tc.doc, got, tc.want)
		}
	}
}

// Whatever valid object it is, the result is one, the value is there, and what was
// around it stays.
func FuzzSetJSON(f *testing.F) {
	f.Add(`{"a":{"b":[1,"}"]}}`, "b", "c", "x")
	f.Fuzz(func(t *testing.T, doc, key, inner, value string) {
		for _, k := range []string{key, inner} {
			for _, c := range k {
				if c < 'a' || c > 'z' {
					t.Skip()
				}
			}
		}
		if key == "" || inner == "" || !gjson.Parse(doc).IsObject() || !ValidJSON([]byte(doc)) {
			SetJSON(doc, "a.b", value) // it does not panic
			return
		}
		for _, path := range []string{key, key + "." + inner} {
			out := SetJSON(doc, path, value)
			var said string
			if err := json.Unmarshal([]byte(gjson.Get(out, path).Raw), &said); err != nil || !json.Valid([]byte(out)) {
				t.Fatalf("%s of %q: %q", path, doc, out)
			}
			if again := SetJSON(out, path, value); again != out {
				t.Fatalf("%s of %q: %q, again %q", path, doc, out, again)
			}
		}
	})
}
