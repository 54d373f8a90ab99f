package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustApply(t interface{ Fatal(...any) }, src string, edits []Edit) (string, []Edit) {
	after, done, err := Apply([]byte(src), edits)
	if err != nil {
		t.Fatal(err)
	}
	return string(after), done
}

func TestApplyFollowsTheFile(t *testing.T) {
	t.Parallel()
	set := Edit{Path: []string{"on", "x@y"}, Value: `{"a":[1]}`}
	rule := Edit{Path: []string{"permissions", "allow"}, Value: `"Read(~/x-*)"`, Append: true}
	for name, c := range map[string]struct {
		src, want string
		edits     []Edit
	}{
		"no file": {"", "{\n  \"on\": {\n    \"x@y\": {\n      \"a\": [\n        1\n      ]\n    }\n  }\n}\n", []Edit{set}},
		"two spaces": {
			"{\n  \"a\": 1\n}\n",
			"{\n  \"a\": 1,\n  \"permissions\": {\n    \"allow\": [\n      \"Read(~/x-*)\"\n    ]\n  }\n}\n",
			[]Edit{rule},
		},
		"tabs, no newline at the end": {
			"{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\"\n\t\t]\n\t}\n}",
			"{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\",\n\t\t\t\"Read(~/x-*)\"\n\t\t]\n\t}\n}",
			[]Edit{rule},
		},
		"array on one line": {
			"{\n    \"permissions\": {\"allow\": [\"A\", \"B\"], \"deny\": []}\n}\n",
			"{\n    \"permissions\": {\"allow\": [\"A\", \"B\", \"Read(~/x-*)\"], \"deny\": []}\n}\n",
			[]Edit{rule},
		},
		"all on one line": {`{"a":1}`, `{"a":1,"permissions":{"allow":["Read(~/x-*)"]}}`, []Edit{rule}},
		"one line with spaces": {
			`{ "a": 1 }`, `{ "a": 1, "on": {"x@y":{"a":[1]}} }`, []Edit{set},
		},
		"windows line ends": {
			"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"on\": {\r\n    \"x@y\": {\r\n      \"a\": [\r\n        1\r\n      ]\r\n    }\r\n  }\r\n}\r\n", []Edit{set},
		},
		"byte order mark": {bom + `{"on":{"x@y":0}}`, bom + `{"on":{"x@y":{"a":[1]}}}`, []Edit{set}},
		"empty containers": {
			"{\n  \"on\": { },\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n",
			"{\n  \"on\": {\n    \"x@y\": {\n      \"a\": [\n        1\n      ]\n    }\n  },\n  \"permissions\": {\n    \"allow\": [\n      \"Read(~/x-*)\"\n    ]\n  }\n}\n",
			[]Edit{set, rule},
		},
		"a key that stands twice": {
			`{"on":{"x@y":1},"on":{"x@y":2}}`, `{"on":{"x@y":1},"on":{"x@y":{"a":[1]}}}`, []Edit{set},
		},
		"large numbers and odd strings stay": {
			`{"n":12345678901234567890.0e+1,"s":"\u00e9\/<>"}`, `{"n":12345678901234567890.0e+1,"s":"\u00e9\/<>","on":{"x@y":{"a":[1]}}}`, []Edit{set},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, done := mustApply(t, c.src, c.edits)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
			again, more := mustApply(t, got, c.edits)
			if again != got || len(more) > 0 {
				t.Errorf("a second time changes it: %v\n%s", more, again)
			}
			back, kept, err := revert([]byte(got), done)
			if err != nil || len(kept) > 0 {
				t.Fatalf("revert: kept %v, %v", kept, err)
			}
			if want := c.src; string(back) != want && (want != "" || !empty(back, false)) {
				t.Errorf("reverted:\n%q\nwant\n%q", back, want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	edits := []Edit{{Path: []string{"env", "X"}, Value: `"1"`}, {Path: []string{"permissions", "allow"}, Value: `"r"`, Append: true}}
	for src, want := range map[string]string{
		"{\n  \"a\": 1,\n}":              "line 3, column 1: invalid character '}' looking for beginning of object key string",
		"{\"a\": 1":                      "line 1, column 7: unexpected end of JSON input",
		"// note\n{}":                    "line 1, column 1: invalid character '/' looking for beginning of value",
		"[]":                             "not a JSON object",
		"null":                           "not a JSON object",
		`{"env": 5}`:                     "env is not an object",
		`{"env": null}`:                  "env is not an object",
		`{"permissions": {"allow": {}}}`: "permissions.allow is not an array",
		`{"permissions": []}`:            "permissions is not an object",
	} {
		_, _, err := Apply([]byte(src), edits)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
		var s *syntaxError
		if strings.HasPrefix(want, "line") != errors.As(err, &s) {
			t.Errorf("%s: %T", src, err)
		}
	}
}

// What the user did since is theirs.
func TestRevertAfterEdits(t *testing.T) {
	t.Parallel()
	edits := []Edit{
		{Path: []string{"plugins", "o"}, Value: "true", Own: true},
		{Path: []string{"allow"}, Value: `"r1"`, Append: true},
		{Path: []string{"allow"}, Value: `"r2"`, Append: true},
		{Path: []string{"window"}, Value: "100"},
	}
	after, done := mustApply(t, `{"window": 7, "z": 1}`, edits)
	for name, c := range map[string]struct {
		replace [2]string
		want    string
		kept    int
	}{
		"window changed":     {[2]string{`"window": 100`, `"window": 50`}, `{"window": 50, "z": 1}`, 1},
		"switched off":       {[2]string{`true`, `false`}, `{"window": 7, "z": 1}`, 0},
		"rule removed":       {[2]string{`"r1",`, ``}, `{"window": 7, "z": 1}`, 0},
		"rules removed":      {[2]string{`"r1", "r2"`, ``}, `{"window": 7, "z": 1}`, 0},
		"rule added":         {[2]string{`"r2"`, `"r2","mine"`}, `{"window": 7, "z": 1, "allow": ["mine"]}`, 0},
		"rule added before":  {[2]string{`"r1"`, `"mine","r1"`}, `{"window": 7, "z": 1, "allow": ["mine"]}`, 0},
		"member added":       {[2]string{`true`, `true, "p": false`}, `{"window": 7, "z": 1, "plugins": {"p": false}}`, 0},
		"reformatted":        {[2]string{`"z": 1`, "\n\n\"z\"  :  1"}, "{\"window\": 7, \n\n\"z\"  :  1}", 0},
		"container replaced": {[2]string{`["r1", "r2"]`, `"x"`}, `{"window": 7, "z": 1, "allow": "x"}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Compact elements as they were inserted: ["r1","r2"].
			text := strings.Replace(after, `["r1","r2"]`, `["r1", "r2"]`, 1)
			src := strings.Replace(text, c.replace[0], c.replace[1], 1)
			if src == text {
				t.Fatalf("%q is not in %s", c.replace[0], text)
			}
			got, kept, err := revert([]byte(src), done)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("from %s (-want +got):\n%s", src, diff)
			}
			if len(kept) != c.kept {
				t.Errorf("kept %v, want %d", kept, c.kept)
			}
		})
	}
}

// A group of hooks is recognised by its command, unless it was merged by hand.
func TestMark(t *testing.T) {
	t.Parallel()
	e := Edit{Path: []string{"hooks", "Stop"}, Append: true, Mark: "overtone hook stop", Value: `{"hooks":[{"command":"overtone hook stop"}]}`}
	src := `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]},{"hooks":[{"command":"overtone hook stop","timeout":3}]}]}}`
	got, done := mustApply(t, src, []Edit{e})
	want := `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]},{"hooks":[{"command":"overtone hook stop"}]}]}}`
	if got != want {
		t.Errorf("an older group is not replaced: %s", got)
	}
	if back, _, _ := revert([]byte(got), done); string(back) != src {
		t.Errorf("reverted: %s", back)
	}
	gone, kept, _ := revert([]byte(src), []Edit{e})
	if string(gone) != `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}` || len(kept) > 0 {
		t.Errorf("a group of ours that was changed is not removed: %s %v", gone, kept)
	}
	merged := `{"hooks":{"Stop":[{"hooks":[{"command":"mine"},{"command":"overtone hook stop"}]}]}}`
	if got, done := mustApply(t, merged, []Edit{e}); got != merged || len(done) > 0 {
		t.Errorf("a merged group is edited: %s", got)
	}
	if got, kept, _ := revert([]byte(merged), []Edit{e}); string(got) != merged || len(kept) != 1 {
		t.Errorf("a merged group is removed: %s", got)
	}
}

// layout writes a JSON value with random white space.
func layout(t *rapid.T, b *strings.Builder, depth int) {
	space := func() {
		b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\t", "\r\n    ", "  \n\n"}).Draw(t, "space"))
	}
	key := func() string {
		return rapid.SampledFrom([]string{`"a"`, `"b.c"`, `"permissions"`, `"allow"`, `"enabledPlugins"`, `"env"`, `"\u0065nv"`, `"overtone@overtone"`, `"hooks"`, `"Stop"`, `"é\"}"`}).Draw(t, "key")
	}
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = 4
	} else if depth > 3 && kind > 3 {
		kind = 0
	}
	switch kind {
	case 4, 5:
		open, end := "{", "}"
		if kind == 5 {
			open, end = "[", "]"
		}
		b.WriteString(open)
		space()
		for i := range rapid.IntRange(0, 3).Draw(t, "n") {
			if i > 0 {
				b.WriteString(",")
				space()
			}
			if kind == 4 {
				b.WriteString(key())
				space()
				b.WriteString(":")
				space()
			}
			layout(t, b, depth+1)
			space()
		}
		b.WriteString(end)
	default:
		b.WriteString(rapid.SampledFrom([]string{"1", "-2.5e10", `"x,]}{"`, `"\\"`, "true", "null", `"r1"`}).Draw(t, "scalar"))
	}
}

func anyEdits() []Edit {
	return []Edit{
		{Path: []string{"enabledPlugins", "overtone@overtone"}, Value: "true", Own: true},
		{Path: []string{"permissions", "allow"}, Value: `"r1"`, Append: true},
		{Path: []string{"permissions", "allow"}, Value: `"r2"`, Append: true},
		{Path: []string{"autoCompactWindow"}, Value: "100000"},
		{Path: []string{"env", "PCT"}, Value: `"60"`},
		{Path: []string{"hooks", "Stop"}, Value: `{"hooks":[{"command":"overtone hook stop"}]}`, Append: true, Mark: "overtone hook stop"},
	}
}

// Whatever the file looks like: applying keeps it JSON, applying twice is
// applying once, and undoing gives every byte back, also around an edit of the
// user's.
func TestApplyRevertProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		layout(t, &b, 0)
		src := b.String()
		after, done, err := Apply([]byte(src), anyEdits())
		if err != nil {
			return // a key that holds something else: refused, tested above
		}
		if !json.Valid(after) {
			t.Fatalf("not JSON:\n%s\nfrom\n%s", after, src)
		}
		for _, e := range anyEdits() {
			if !Holds(after, e) {
				t.Fatalf("%v is missing in\n%s", e.Path, after)
			}
		}
		if again, more, err := Apply(after, anyEdits()); err != nil || len(more) > 0 || !bytes.Equal(again, after) {
			t.Fatalf("a second time: %v %v\n%s", more, err, again)
		}
		back, kept, err := revert(after, done)
		if err != nil {
			t.Fatal(err)
		}
		// A key of ours that was there before with another value is the one
		// thing that does not come back.
		if string(back) != src && !hasOwn(src) {
			t.Fatalf("not what it was: kept %v\n%q\nwant\n%q\napplied\n%s", kept, back, src, after)
		}
		user := []Edit{{Path: []string{"zz", "top"}, Value: `{"n":1}`}}
		edited, theirs, err := Apply(after, user)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err = revert(edited, done)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(back) || !Holds(back, user[0]) {
			t.Fatalf("the user's edit is lost:\n%s", back)
		}
		if left, _, _ := revert(back, theirs); !hasOwn(src) && string(decodeText(left)) != string(decodeText([]byte(src))) {
			t.Fatalf("undone around an edit:\n%s\nwant\n%s", left, src)
		}
	})
}

func hasOwn(src string) bool { return strings.Contains(src, "overtone@overtone") }

// decodeText is a JSON text's meaning, as text.
func decodeText(data []byte) []byte {
	out, _ := json.Marshal(decode(string(data)))
	return out
}

func FuzzApply(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":[{"b":"\"}"}]}`, "{\n\t\"hooks\": {\"Stop\": []}\n}\n", bom + "{}", `{"a":1,}`, "{\"permissions\":{\"allow\":[\"r1\"]}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		after, done, err := Apply(src, anyEdits())
		if err != nil {
			return
		}
		if !json.Valid(bytes.TrimPrefix(after, []byte(bom))) {
			t.Fatalf("not JSON: %q from %q", after, src)
		}
		back, _, err := revert(after, done)
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte(bom)))) > 0 && !bytes.Contains(src, []byte("overtone")) && !bytes.Contains(src, []byte(`\`)) && !bytes.Equal(back, src) {
			t.Fatalf("reverted %q, want %q", back, src)
		}
	})
}
