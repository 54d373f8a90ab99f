package host

import (
	"strings"
	"testing"
)

// Files of hosts that read comments: what is added is JSON to them, and undoing gives
// every byte back, also where somebody else edited the file in between.
func TestCommentsStay(t *testing.T) {
	t.Parallel()
	edits := []Edit{
		{Path: []string{"mcp", "overtone"}, Value: `{"type":"local","enabled":true}`, Own: true, Comments: true},
		{Path: []string{"hooks", "AfterTool"}, Append: true, Value: `{"command":"overtone"}`, Mark: "overtone", Comments: true},
	}
	for name, before := range map[string]string{
		"empty":               "",
		"an object":           "{}",
		"no comments":         "{\n  \"a\": 1\n}\n",
		"a line comment":      "{\n  // about a\n  \"a\": 1 // the number\n}\n",
		"a trailing comma":    "{\n  \"a\": 1, // the number\n}\n",
		"commas in a line":    `{"a":[1,2,],"mcp":{"x":{},},}`,
		"comments only":       "{\n  // nothing yet\n}\n",
		"a block":             "{\n  \"a\": 1 /* of\n two lines */\n}\n",
		"a comment as a text": "{\n  \"a\": \"// no, 'tis /* none */\",\n  \"mcp\": {\n    \"other\": {}, // theirs\n  },\n}\n",
		"crlf":                "{\r\n\t\"a\": 1, // x\r\n\t\"mcp\": {\r\n\t\t// none\r\n\t},\r\n}\r\n",
		"at both ends":        "// settings\n{\n  \"mcp\": {\n    \"other\": {} /* theirs */\n  }\n}\n// end\n",
		"hooks of others":     "{\n  \"hooks\": {\n    \"AfterTool\": [\n      {\"command\": \"x\"}, // theirs\n    ]\n  }\n}\n",
	} {
		after, done, err := Apply([]byte(before), edits)
		if err != nil || len(done) != 2 {
			t.Errorf("%s: %v, %d edits", name, err, len(done))
			continue
		}
		for _, e := range edits {
			if !Holds(after, e) {
				t.Errorf("%s: %s is not in\n%s", name, e.Key(), after)
			}
		}
		if again, more, err := Apply(after, edits); err != nil || len(more) > 0 || string(again) != string(after) {
			t.Errorf("%s: applied twice: %v\n%s", name, err, again)
		}
		for line := range strings.Lines(before) {
			if _, comment, ok := strings.Cut(line, "//"); ok && !strings.Contains(string(after), comment) {
				t.Errorf("%s: %q is lost in\n%s", name, comment, after)
			}
		}
		back, kept, err := revert(after, done)
		if want := strings.TrimSuffix(before, "\n"); err != nil || len(kept) > 0 || strings.TrimSuffix(string(back), "\n") != want && (before != "" || string(back) != "{}\n") {
			t.Errorf("%s: %v, kept %d\n%q\nwant\n%q\nafter\n%s", name, err, len(kept), back, before, after)
		}
	}
	if _, _, err := Apply([]byte("{\n // x\n a: 1\n}"), edits); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v", err)
	}
	if _, _, err := Apply([]byte("{// x\n}"), []Edit{{Path: []string{"a"}, Value: "1"}}); err == nil {
		t.Error("a host that reads no comments gets none")
	}
}
