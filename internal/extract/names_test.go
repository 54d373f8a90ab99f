package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

func names(text string, escaped bool) []string {
	s := extract.NameScan{Text: []byte(text), Escaped: escaped}
	var out []string
	for n, ok := s.Next(); ok; n, ok = s.Next() {
		out = append(out, string(n.Base))
	}
	return out
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"path gives its base", "see cmd/app/setup.go:12 and /etc/hosts.", "setup.go hosts"},
		{"file name by its suffix", "README.md, go.mod, v1.2.3, e.g. this", "README.md go.mod"},
		{"shapes of identifiers", "newEnableCmd NewClient HTTPServer max_count MAX_COUNT plain Word WORD", "newEnableCmd NewClient HTTPServer max_count MAX_COUNT"},
		{"short ones are locals", "idX aB_c loopVar", "loopVar"},
		{"parts of a qualified name", "cmd.RunE(strategy.GetState)", "GetState"},
		{"names inside a path are not counted again", "internal/state_test.go", "state_test.go"},
		{"words of hosts are none", "/dev/null in_progress TodoWrite files_with_matches", ""},
		{"ids are none", "run/6f0c2a3b-1111-4222-8333-444455556666 a1b2c3d4e5f6 x/0123abcd target/deps/shop-8a0695384558359c a/main-55c641d.css a/main-55c64", "main-55c64"},
		{"ids of GitHub's are none", "PRRT_kwDOIvux3s6QiX6j BOT_kgDOCCSy2w MAX_k8s_nodes HTTP_kind_of_call get_kwDOIvux3s6QiX6j", "MAX_k8s_nodes HTTP_kind_of_call get_kwDOIvux3s6QiX6j"},
		{"quoted bytes of an address are no letters", "?file=src%2Fmain.rs%60loadTotals printf %d_total %5Bmax_rows%5", "main.rs loadTotals d_total max_rows"},
		{"patterns are none", "*_test.go src/*.ts", ""},
		{"calls are no files", "resp.json() and resp.json", "resp.json"},
		{"beside ideographs", "請看internal/store/lock.go的TakeLease", "lock.go TakeLease"},
		{"a leading underscore", "_privateField __init__", "_privateField"},
		{"an address is no file", "https://api.example.org/repos/followers see https://example.org/a/setup.go", ""},
		{"nor is any part of one", "http://localhost:4040/src/cart.ts (https://example.org/u/a%5Bb%5D/gists?utm_source=cr_app&utm_medium=x#anchor_name) https://example.org/$HOST_NAME", "cart.ts HOST_NAME"},
		{"a tag that closes is none", `</thead></mySection>text \u003c/div\u003e`, ""},
		{"a terminal's controls are no letters", `\u001b[0;0H\u001b[JRefreshing \u001b[31mloadTotals`, "loadTotals"},
		{"two words are no path", "application/json and/or true/false owner/repo", ""},
		{"a folder is one", "./internal /opt/tool pkg/app/server", "internal tool server"},
		{"ranges, versions and sizes are none", "main...HEAD origin/main..HEAD actions/checkout@9c091bb21b7c a/b/tool@v4 16px/24px a/b/24px 24px", ""},
		{"what is left of a secret is none", "REDACTED KEY_REDACTED", ""},
		{"sessions and what we keep of them are none", "/home/u/.claude/projects/-w/agent-a1b2c3.jsonl /home/u/.overtone/sessions/x/workflow.json /home/u/.codex/sessions/2026/rollout.jsonl", ""},
		{"quoted line ends are no letters", `"\nagentLoop\tchunkFiles" lineA\nlineBeta \u003eBugbotRule \x1bcolourName \bGetState label:\nlabelName`, "agentLoop chunkFiles lineBeta BugbotRule colourName GetState labelName"},
		{"folders of Windows", `C:\repo\names\table.go src\names.go \`, "table.go names.go"},
		{"flags", "--dry-run --output_file=x", "output_file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(strings.Fields(c.want), names(c.text, false)); d != "" && c.want != "" || c.want == "" && len(names(c.text, false)) > 0 {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// What is inside a JSON string is read as it stands there.
func TestNamesEscaped(t *testing.T) {
	t.Parallel()
	got := names(`first line\nnewName\tother.go\"quotedName\" \u003ctagName\u003e C:\\dir\\win.go "one\\nagentLoop\\ttwoTabs\\\\nthriceQuoted\\u003eBugbotRule" C:\\new\\names.go src\\test\\table.go \u00`, true)
	want := []string{"newName", "other.go", "quotedName", "tagName", "win.go", "agentLoop", "twoTabs", "thriceQuoted", "BugbotRule", "names.go", "table.go"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestNamesDefined(t *testing.T) {
	t.Parallel()
	s := extract.NameScan{Text: []byte("a/file.go:3: undefined: missingName\nfunc (s *Store) takeLease() error {\nreturn takeLease\n")}
	type row struct {
		Base    string
		Defined bool
	}
	var got []row
	for n, ok := s.Next(); ok; n, ok = s.Next() {
		got = append(got, row{string(n.Base), n.Defined})
	}
	want := []row{{"file.go", false}, {"missingName", false}, {"takeLease", true}, {"takeLease", false}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"in cmd/setup.go here", "setup.go", true},
		{"mysetup.go", "setup.go", false},
		{"setup.gold", "setup.go", false},
		{"newName2 newName", "newName", true},
		{"new_newName", "newName", false},
		{"", "x", false},
		{"x", "", false},
	} {
		if got := extract.States(c.text, c.name); got != c.want {
			t.Errorf("States(%q, %q) = %v", c.text, c.name, got)
		}
	}
}

// Asked for many names, a text states what it states for each alone.
func FuzzStated(f *testing.F) {
	f.Add("in cmd/setup.go here: .setup.go mysetup.go", "setup.go")
	f.Add("a.a.b .a.a.b", ".a.b")
	f.Add("檔案x 檔案", "檔案")
	f.Fuzz(func(t *testing.T, text, name string) {
		stated := extract.Stated(text)
		for i := range len(name) + 1 {
			for _, n := range []string{name[i:], name[:i]} {
				if got, want := stated(n), extract.States(text, n); got != want {
					t.Fatalf("Stated(%q)(%q) = %v", text, n, got)
				}
			}
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add("a/b.go newName \\u12", true)
	f.Fuzz(func(t *testing.T, text string, escaped bool) {
		s := extract.NameScan{Text: []byte(text), Escaped: escaped}
		for n, ok := s.Next(); ok; n, ok = s.Next() {
			if len(n.Base) < 3 || !strings.Contains(text, string(n.Text)) {
				t.Fatalf("%q is no part of the text", n.Text)
			}
		}
	})
}
