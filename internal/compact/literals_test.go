package compact

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// What decides how an agent goes on reads no natural language: in these packages no text of
// several words, and none in another script than Latin, is compared, matched or searched
// for. What is printed lives in package message; what hosts write into their files and what
// people type is told apart in package host.
var wordless = []string{"compact", "extract", "handover", "hook", "session", "watch", "workflow"}

// compressor are the files of package extract that only the compression of a text uses: it
// reads sentences to choose what of a text is kept, and whoever wants it gets the original.
var compressor = []string{"compare.go", "facts.go", "lists.go", "scan.go", "sentence.go", "word.go"}

// programs are marks of programs, which no field tells.
var programs = map[string]string{
	"This reverts commit ([0-9a-f]{40})": "git writes it into the message of a revert, and has no other sign of one",
	"prompt is too long: ":               "the API's error holds the size of the window in its text alone",
}

// matchers are the functions that compare or search, by their packages.
var matchers = map[string][]string{
	"strings": {"Contains", "ContainsAny", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "Fields", "FieldsSeq", "HasPrefix", "HasSuffix", "Index", "LastIndex", "NewReplacer", "Replace", "ReplaceAll", "Split", "SplitAfter", "SplitAfterSeq", "SplitN", "SplitSeq", "Trim", "TrimLeft", "TrimPrefix", "TrimRight", "TrimSuffix"},
	"slices":  {"Contains", "ContainsFunc", "Index", "IndexFunc"},
	"regexp":  {"Compile", "Match", "MatchString", "MustCompile"},
	"extract": {"NewPhrases"},
}

// sought are the arguments of a call that it compares with, or searches for.
func sought(pkg, name string, args []ast.Expr) (out []ast.Expr) {
	if pkg == "bytes" {
		pkg = "strings" // it has the same
	}
	if !slices.Contains(matchers[pkg], name) {
		return nil
	}
	for i, arg := range args {
		replacement := name == "NewReplacer" && i%2 == 1 || (name == "Replace" || name == "ReplaceAll") && i > 1
		if !replacement {
			out = append(out, arg)
		}
	}
	return out
}

// worded reports a text of two words or more, or in another script than Latin.
func worded(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) {
		return true
	}
	runs := strings.FieldsFunc(text, func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) })
	return slices.ContainsFunc(runs, func(run string) bool { return len(strings.Fields(run)) > 1 })
}

// searched are the texts that a package's files compare, match or search for, with where
// they stand. Names of its constants and tables count as what they stand for.
func searched(set *token.FileSet, files []*ast.File) map[string]token.Position {
	named := map[string]ast.Expr{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					if i < len(v.Values) {
						named[name.Name] = v.Values[i]
					}
				}
			}
			return true
		})
	}
	out := map[string]token.Position{}
	var texts func(e ast.Expr)
	texts = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
				out[text] = set.Position(e.Pos())
			}
		case *ast.Ident:
			if value := named[e.Name]; value != nil {
				delete(named, e.Name) // once, also where it names itself
				texts(value)
				named[e.Name] = value
			}
		case *ast.ParenExpr:
			texts(e.X)
		case *ast.SliceExpr:
			texts(e.X)
		case *ast.BinaryExpr: // texts that are put together
			texts(e.X)
			texts(e.Y)
		case *ast.CallExpr: // []byte("x")
			if _, conversion := e.Fun.(*ast.ArrayType); conversion {
				texts(e.Args[0])
			}
		case *ast.CompositeLit: // a table of texts
			for _, x := range e.Elts {
				if pair, ok := x.(*ast.KeyValueExpr); ok {
					x = pair.Key
				}
				if _, row := x.(*ast.CompositeLit); !row || nested(e.Type) {
					texts(x)
				}
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					texts(n.X)
					texts(n.Y)
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					texts(e)
				}
			case *ast.RangeStmt: // over a table, to try each of its entries
				texts(n.X)
			case *ast.IndexExpr: // of a table, by a text
				texts(n.X)
			case *ast.CallExpr:
				name, pkg := "", f.Name.Name
				switch fun := n.Fun.(type) {
				case *ast.Ident:
					name = fun.Name
				case *ast.SelectorExpr:
					if id, ok := fun.X.(*ast.Ident); ok {
						name, pkg = fun.Sel.Name, id.Name
					}
				}
				for _, arg := range sought(pkg, name, n.Args) {
					texts(arg)
				}
			}
			return true
		})
	}
	return out
}

// nested reports a table of tables: [][2]string.
func nested(table ast.Expr) bool {
	array, ok := table.(*ast.ArrayType)
	if ok {
		_, ok = array.Elt.(*ast.ArrayType)
	}
	return ok
}

func TestNoWordsDecide(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, pkg := range wordless {
		names, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pkg, names, err)
		}
		set := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			base := filepath.Base(name)
			if strings.HasSuffix(base, "_test.go") || pkg == "extract" && slices.Contains(compressor, base) {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			// A list may stand in a file of its own: library.txt tells names of libraries from a
			// project's, for an audit.
			if strings.Contains(string(source), "//go:embed") && base != "library.go" {
				t.Errorf("%s: what is in its file?", name)
			}
			f, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		for text, at := range searched(set, files) {
			switch {
			case !worded(text):
			case programs[text] != "":
				used[text] = true
			default:
				t.Errorf("%s: %q decides", at, text)
			}
		}
	}
	for text := range maps.Keys(programs) {
		if !used[text] {
			t.Errorf("%q is allowed, and nobody searches for it", text)
		}
	}
}

// The test itself finds what it is for.
func TestWordsThatDecideAreFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`return s == "do not"`: true,
		`return s != "stop"`:   false,
		`return s == "停"`:      true,
		`switch s { case "go", "go on": return true }; return false`:         true,
		`switch { case s == "go on": return true }; return false`:            true,
		`return strings.Contains(s, "go on")`:                                true,
		`return strings.HasSuffix(s, "？")`:                                   false,
		`return strings.HasPrefix(s, "2>&1")`:                                false,
		`return strings.Contains(s, " -w ")`:                                 false,
		`return bytes.HasPrefix([]byte(s), []byte("go on"))`:                 true,
		`return slices.Contains([]string{"go", "go on"}, s)`:                 true,
		`return slices.Contains(list, s)`:                                    true,
		`return strings.Contains(s, phrase)`:                                 true,
		`for _, w := range list { if w == s { return true } }; return false`: true,
		`return regexp.MustCompile("(?i)go  on").MatchString(s)`:             true,
		`return extract.NewPhrases([]string{"go on"}).In(s)`:                 true,
		`return table[s]`: true,
		`return strings.ReplaceAll(s, "go", "go on") == ""`:                                       false,
		`return strings.ReplaceAll(s, "go on", "go") == ""`:                                       true,
		`return slices.ContainsFunc(rows[:], func(r row) bool { return r.key == s })`:             false,
		`for _, p := range pairs { if strings.HasPrefix(s, p[0]) { return true } }; return false`: true,
		`panic("go on")`:               false,
		`return len("go on") > len(s)`: false,
	} {
		source := fmt.Sprintf("package p\nconst phrase = \"not \" + \"do it\"\nvar list = []string{\"go on\"}\nvar table = map[string]bool{\"go on\": true}\nvar pairs = [...][2]string{{\"go on\", \"x\"}}\nvar rows = [...]row{{\"a\", \"what is shown\"}}\nfunc f(s string) bool { %s }", body)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "p.go", source, 0)
		if err != nil {
			t.Fatal(body, err)
		}
		found := slices.ContainsFunc(slices.Collect(maps.Keys(searched(set, []*ast.File{f}))), worded)
		if found != want {
			t.Errorf("%s: %v", body, found)
		}
	}
}
