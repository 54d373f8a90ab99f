package message

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// eachLiteral calls fn for every Text literal of this package.
func eachLiteral(t *testing.T, fn func(at token.Position, text Text)) {
	t.Helper()
	fset := token.NewFileSet()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			fields := map[string]string{}
			for _, el := range lit.Elts {
				kv, ok := el.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				key, ok := kv.Key.(*ast.Ident)
				if !ok {
					return true
				}
				if s, ok := stringConst(kv.Value); ok {
					fields[key.Name] = s
				}
			}
			_, zh := fields["ZH"]
			_, en := fields["EN"]
			if !zh && !en {
				return true
			}
			texts++
			fn(fset.Position(lit.Pos()), Text{fields["ZH"], fields["EN"]})
			return true
		})
	}
	if texts == 0 {
		t.Fatal("no texts found: the test reads the wrong place")
	}
}

// Every Text literal of this package has both languages with the same verbs.
func TestEveryTextInBothLanguages(t *testing.T) {
	t.Parallel()
	eachLiteral(t, func(at token.Position, text Text) {
		if strings.TrimSpace(text.ZH) == "" || strings.TrimSpace(text.EN) == "" {
			t.Errorf("%s: a language is missing", at)
		}
		if z, e := verbs(text.ZH), verbs(text.EN); !slices.Equal(z, e) {
			t.Errorf("%s: verbs differ: ZH %v, EN %v", at, z, e)
		}
	})
}

// One thing has one Chinese word: what the table of CONTRIBUTING.md says is not to be
// used stands in no text, nor on the pages that people read in Chinese. Labels of events
// are not asked: they stand in files that people have.
func TestChineseWords(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	_, table, _ := strings.Cut(read("../../CONTRIBUTING.md"), "| English | 中文 | not |\n|---|---|---|\n")
	instead := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			break
		}
		for word := range strings.SplitSeq(strings.TrimSpace(cells[3]), "、") {
			instead[word] = strings.TrimSpace(cells[2])
		}
	}
	if len(instead) < 10 {
		t.Fatalf("the table has %d words", len(instead))
	}
	look := func(where, text string) {
		t.Helper()
		for word, want := range instead {
			if strings.Contains(text, word) {
				t.Errorf("%s: %s, where the word is %s: %s", where, word, want, text)
			}
		}
	}
	eachLiteral(t, func(at token.Position, text Text) { look(at.String(), text.ZH) })
	eachText(dashboardTexts, func(key string, text Text) { look("dashboard: "+key, text.ZH) })
	eachText(nameTexts, func(key string, text Text) { look("names: "+key, text.ZH) })
	eachText(demoTexts, func(key string, text Text) { look("demo: "+key, text.ZH) })
	EachHelp(func(name string, text Text) { look("help of "+name, text.ZH) })
	_, readme, _ := strings.Cut(read("../../README.md"), "## 繁體中文")
	for name, page := range map[string]string{"README.md": readme, "docs/words.md": read("../../docs/words.md")} {
		for line := range strings.Lines(page) {
			look(name, line)
		}
	}
}

// So has every line of the tables.
func TestTablesInBothLanguages(t *testing.T) {
	t.Parallel()
	place := regexp.MustCompile(`\{\d\}`)
	for name, table := range map[string]string{"events": eventTexts, "dashboard": dashboardTexts, "names": nameTexts} {
		known := map[string]bool{}
		eachText(table, func(key string, text Text) {
			zh, en := place.FindAllString(text.ZH, -1), place.FindAllString(text.EN, -1)
			slices.Sort(zh)
			slices.Sort(en)
			if key == "" || known[key] || text.ZH == "" || text.EN == "" || strings.ContainsAny(text.ZH+text.EN, "\t") || !slices.Equal(zh, en) {
				t.Errorf("%s: %q %+v", name, key, text)
			}
			known[key] = true
		})
		if least := map[string]int{"events": 80, "dashboard": 80, "names": 50}[name]; len(known) < least {
			t.Errorf("%s: %d texts", name, len(known))
		}
	}
}

// So has every turn of the demo.
func TestDemoTurns(t *testing.T) {
	t.Parallel()
	turns := DemoTurns()
	for i, turn := range turns {
		for _, part := range []string{turn.Ask.ZH, turn.Ask.EN, turn.Tell.ZH, turn.Tell.EN, turn.Command, turn.Output} {
			if part == "" || strings.Contains(part, `\`) || strings.Contains(turn.Ask.EN+turn.Tell.EN, "\t") {
				t.Errorf("turn %d: %+v", i, turn)
			}
		}
	}
	if len(turns) != 10 {
		t.Errorf("%d turns", len(turns))
	}
}

// So has what command lines say of themselves, but for the examples.
func TestHelpInBothLanguages(t *testing.T) {
	t.Parallel()
	of, texts := "", 0
	known := map[string]bool{}
	EachHelp(func(name string, text Text) {
		if name == "$" {
			return
		}
		if name != "" && !strings.HasPrefix(name, "--") {
			of = name
		}
		if key := of + name; text.ZH == "" || text.EN == "" || strings.Contains(text.EN, "\t") || known[key] || !slices.Equal(verbs(text.ZH), verbs(text.EN)) {
			t.Errorf("%s %s: %+v", of, name, text)
		}
		known[of+name] = true
		texts++
	})
	if texts < 200 {
		t.Errorf("%d texts", texts)
	}
}

var verb = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*\d*(\.\d+)?[a-zA-Z]`)

func verbs(s string) []string {
	v := verb.FindAllString(strings.ReplaceAll(s, "%%", ""), -1)
	if slices.ContainsFunc(v, func(x string) bool { return strings.Contains(x, "[") }) {
		slices.Sort(v)
	}
	return v
}

func stringConst(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, ok1 := stringConst(e.X)
		b, ok2 := stringConst(e.Y)
		return a + b, ok1 && ok2
	case *ast.ParenExpr:
		return stringConst(e.X)
	}
	return "", false
}

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Lang{"zh_TW.UTF-8": ZH, "zh-Hant": ZH, "en_US.UTF-8": EN, "C": EN, "POSIX": EN, "C.UTF-8": EN} {
		if got, ok := Parse(in); !ok || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", in, got, ok, want)
		}
	}
	if _, ok := Parse(""); ok {
		t.Error("an empty name is no language")
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		all, messages, lang string
		want                Lang
		named               bool
	}{
		{"", "", "", EN, false},
		{"", "", "C", EN, true},
		{"", "", "C.UTF-8", EN, true},
		{"", "POSIX", "zh_TW.UTF-8", EN, true},
		{"", "", "en_US.UTF-8", EN, true},
		{"", "", "zh_TW.UTF-8", ZH, true},
		{"", "", "zh_CN", ZH, true},
		{"de_DE.UTF-8", "zh_TW", "zh_TW", EN, true},
		{"", "zh_TW", "en_US", ZH, true},
	} {
		getenv := func(k string) string {
			return map[string]string{"LC_ALL": row.all, "LC_MESSAGES": row.messages, "LANG": row.lang}[k]
		}
		if l, named := Locale(getenv); l != row.want || named != row.named {
			t.Errorf("%+v: %s %v", row, l, named)
		}
		// A choice holds whatever the locale says.
		if l := Spoken(ZH, true, getenv); l != ZH {
			t.Errorf("%+v: the choice gives way to %s", row, l)
		}
	}
}

// TestTold: a hand-over speaks the configured language, else the session's, else the
// locale's.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chosen  bool
		session Lang
		locale  string
		want    Lang
	}{
		{true, EN, "en_US.UTF-8", ZH},
		{false, EN, "zh_TW.UTF-8", EN},
		{false, ZH, "C", ZH},
		{false, "", "zh_TW.UTF-8", ZH},
		{false, "", "C.UTF-8", EN},
		{false, "", "POSIX", EN},
		{false, "", "", EN},
	} {
		if got := Told(ZH, c.chosen, c.session, func(string) string { return c.locale }); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
