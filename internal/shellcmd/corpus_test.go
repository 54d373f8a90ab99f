package shellcmd

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

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
// switched off. The shapes were made with the even lines, the odd ones judge them. The
// lines of unseen.txt were all written after the shapes: 13 of 435 were refused at first.
func TestReadingCorpus(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"reading.txt", "daily.txt", "unseen.txt"} {
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

// A command at the end of any word of a line is seen, and so is a redirection of any
// of its statements and another program in the place of any of its programs.
func TestCommandAnywhereIsSeen(t *testing.T) {
	t.Parallel()
	script := func(line string) *syntax.Stmt {
		f, err := parseScript(line, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		return f.Stmts[0]
	}
	part := func(word string) syntax.WordPart {
		return script("ls " + word).Cmd.(*syntax.CallExpr).Args[1].Parts[0]
	}
	evil := []syntax.WordPart{part("$(touch p)"), part("${x:-$(touch p)}"), part("$((a[$(touch p)]))")}
	n := 0
	lines := []string{
		"a+=(b c); a=(b); a[1]=c; x+=y; x=y z=$(ls); a[1]=$(ls)", "export LANG=C; LC_ALL=C ls", "[[ a == b || ! -f c && ( d -nt e ) || 1 -lt 2 || f =~ g || -n h ]]",
		"echo ${a/b/c} ${a:1:2} ${a#b} ${a[1]} ${a:-b} ${#a} $((1 + 2 ? (3) : -4))", "((1)); let 1; for ((1; 1; 1)); do ls; done", "case a in b | c) ls d ;; *) ls ;; esac", "select a in b c; do ls; done",
		"cat <<E <<<a <b 2>/dev/null 3<&0 >&2\nf $x\nE\n", "cat <(ls a) >(cat b) \"c$(ls d)\" $(ls e)", "if ls a; then ls b; elif ls c; then ls d; else ls e; fi", "while ls a; do ls b; done; until ls a; do ls b; done", "time ls a; ! ls b; { ls c; }; (ls d) & ls e |& cat",
		"bash -c 'ls a' b; find . -exec ls c {} +; ls | xargs -I{} ls d {}; timeout 5 env LC_ALL=C nice ls e",
	}
	for _, file := range []string{"reading.txt", "daily.txt"} {
		more, _ := corpus(t, file)
		lines = append(lines, more...)
	}
	for _, line := range lines {
		f, err := parseScript(line, syntax.LangBash)
		if ok, why := ReadOnly(line); err != nil || !ok && !strings.HasPrefix(line, "ldd") {
			t.Fatal(line, err, why.In(message.EN))
		}
		quoted := map[*syntax.Word]bool{} // here-documents that are not expanded
		syntax.Walk(f, func(node syntax.Node) bool {
			if r, ok := node.(*syntax.Redirect); ok && r.Hdoc != nil {
				quoted[r.Word] = true
				quoted[r.Hdoc] = r.Word.Lit() == ""
			}
			refused := func() {
				var b strings.Builder
				if err := syntax.NewPrinter().Print(&b, f); err != nil {
					t.Fatal(err)
				}
				if n++; !strings.Contains(b.String(), "touch p") {
					t.Errorf("lost: %s", b.String())
				} else if ok, _ := ReadOnly(b.String()); ok {
					t.Errorf("passes: %s", b.String())
				}
			}
			switch node := node.(type) {
			case *syntax.Word:
				parts := node.Parts
				for _, e := range evil {
					if node.Parts = append(parts[:len(parts):len(parts)], e); !quoted[node] {
						refused()
					}
				}
				node.Parts = parts
			case *syntax.Stmt:
				redirs := node.Redirs
				node.Redirs = append(redirs[:len(redirs):len(redirs)], script("ls > 'touch p'").Redirs...)
				refused()
				node.Redirs = redirs
			case *syntax.CallExpr:
				if args := node.Args; len(args) > 0 {
					node.Args = script("touch p").Cmd.(*syntax.CallExpr).Args
					refused()
					node.Args = args
				}
			}
			return true
		})
	}
	t.Logf("%d lines", n)
}
