package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/seed-6d03985f/overtone"

// Every text of the product is formatted here, in both languages, with as many
// arguments as its callers give it, of their types. A text often reaches its
// arguments far from where it is named (in a table, through a helper that draws a
// progress line), so the test follows texts through the types of the whole module.
//
// What it cannot follow fails as well: a text that nobody is seen to use, arguments
// that do not stand at the call.
func TestTextsFitTheirCalls(t *testing.T) {
	t.Parallel()
	f := follow(t)
	reached := map[*found]bool{}
	for _, u := range f.uses {
		for text := range u.texts {
			reached[text] = true
			for _, l := range []Lang{ZH, EN} {
				if said := u.say(text, l); strings.Contains(said, "%!") {
					t.Errorf("%s: %s in %s is %q", f.fset.Position(u.at), text.name, l, said)
				}
			}
		}
	}
	for _, text := range f.texts {
		if !reached[text] && !f.read[text] {
			t.Errorf("%s: nobody is seen to use %s", f.fset.Position(text.at), text.name)
		}
	}
	for _, p := range f.problems {
		t.Error(p)
	}
	if len(f.texts) < 500 || len(f.uses) < 500 {
		t.Errorf("only %d texts and %d uses were found", len(f.texts), len(f.uses))
	}
}

// The test above finds what it is made for.
func TestVerbsAreChecked(t *testing.T) {
	t.Parallel()
	var text, number types.Type = types.Typ[types.String], types.Typ[types.Int]
	for _, row := range []struct {
		text string
		args []types.Type
		good bool
	}{
		{"reading %s", []types.Type{text}, true},
		{"reading", []types.Type{text}, false},
		{"reading %s %s", []types.Type{text}, false},
		{"%d of them", []types.Type{number}, true},
		{"%d of them", []types.Type{text}, false},
		{"%s of them", []types.Type{number}, false},
		{"%[2]d of %[1]s", []types.Type{text, number}, true},
		{"%[2]d times", []types.Type{text, number}, false},
		{"%v %v", []types.Type{text, number}, true},
		{"50 %", nil, false},
		{"50 %%", nil, true},
	} {
		said := use{args: row.args}.say(&found{Text: Text{EN: row.text}}, EN)
		if strings.Contains(said, "%!") == row.good {
			t.Errorf("%q with %d arguments: %s", row.text, len(row.args), said)
		}
	}
	if said := (use{plain: true}).say(&found{Text: Text{EN: "reading %s"}}, EN); !strings.Contains(said, "%!") {
		t.Errorf("a verb that is printed as it is: %s", said)
	}
}

// found is a text in the source.
type found struct {
	Text
	name string
	at   token.Pos
}

// use is one place where texts are made into a string.
type use struct {
	at    token.Pos
	texts map[*found]bool
	args  []types.Type
	plain bool // nothing is formatted: verbs would be read by people
}

func (u use) say(text *found, l Lang) string {
	if u.plain {
		if s := text.In(l); len(verbs(s)) > 0 || strings.Contains(s, "%%") {
			return "%! printed as it is: " + s
		}
		return text.In(l)
	}
	args := make([]any, len(u.args))
	for i, typ := range u.args {
		args[i] = &arg{typ: typ}
	}
	said := text.Format(l, args...)
	for i := range args {
		if !args[i].(*arg).printed {
			said += fmt.Sprintf("%%!(UNUSED %d)", i+1)
		}
	}
	return said
}

// arg stands for an argument of a type: it is printed by the verbs that suit it.
type arg struct {
	typ     types.Type
	printed bool
}

func (a *arg) Format(s fmt.State, verb rune) {
	a.printed = true
	if !strings.ContainsRune(suiting(a.typ), verb) {
		fmt.Fprintf(s, "%%!%c(%s)", verb, a.typ)
		return
	}
	_, _ = io.WriteString(s, "…")
}

// suiting are the verbs that print a value of a type as people expect.
func suiting(t types.Type) string {
	if isText(t) {
		return "s"
	}
	for _, method := range []string{"Error", "String"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, method); m != nil {
			return "svq"
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return "vsqdxft"
	case *types.Slice:
		if types.Identical(u.Elem(), types.Typ[types.Byte]) {
			return "svqx"
		}
		return suiting(u.Elem())
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsString != 0:
			return "svqx"
		case info&types.IsInteger != 0:
			return "dvx"
		case info&types.IsFloat != 0:
			return "fgv"
		case info&types.IsBoolean != 0:
			return "tv"
		}
	}
	return "" // the bare fields of a struct are nothing for people
}

// flow is what the source says about which texts may stand where. One set of
// values belongs to each variable, field and result, whatever the order in which
// the program runs; containers share the set of their elements.
type flow struct {
	fset  *token.FileSet
	info  *types.Info
	files []*ast.File

	texts    []*found
	literals map[*ast.CompositeLit]*found
	funcs    map[any]*function // by *types.Func or *ast.FuncLit
	methods  map[string][]*types.Func
	sets     map[any]map[any]bool // of *found and *function
	changed  bool
	carrying map[types.Type]bool

	uses      []use
	formatted map[*ast.CallExpr]bool // calls of In whose string is a format
	read      map[*found]bool        // those whose languages are read one by one
	problems  []string
}

// function is one of the module's functions.
type function struct {
	typ   *types.Signature
	body  *ast.BlockStmt
	text  int // the parameter that it formats with its last ones; receiver -1, none noText
	named string
}

const noText = -2

// result is the set of what a function returns at a place.
type result struct {
	f *function
	i int
}

func follow(t *testing.T) *flow {
	t.Helper()
	f := &flow{
		fset: token.NewFileSet(),
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		},
		literals: map[*ast.CompositeLit]*found{}, funcs: map[any]*function{}, methods: map[string][]*types.Func{},
		sets: map[any]map[any]bool{}, formatted: map[*ast.CallExpr]bool{}, carrying: map[types.Type]bool{}, read: map[*found]bool{},
	}
	f.load(t)
	f.declare()
	for f.changed = true; f.changed; {
		f.changed = false
		for _, file := range f.files {
			f.walk(file, f.step)
		}
	}
	for _, file := range f.files {
		f.walk(file, f.collect)
	}
	return f
}

// load reads the packages of both modules with their types; those of others come from
// what the build has compiled.
func (f *flow) load(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", modulePath+"/...")
	cmd.Dir = filepath.Join("..", "..", "team") // whose module knows both
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, own := map[string]string{}, map[string]*types.Package{}
	compiled := importer.ForCompiler(f.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	config := types.Config{Importer: importFunc(func(path string) (*types.Package, error) {
		if p := own[path]; p != nil {
			return p, nil
		}
		return compiled.Import(path)
	})}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !strings.HasPrefix(p.ImportPath, modulePath+"/") {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(f.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		if own[p.ImportPath], err = config.Check(p.ImportPath, f.fset, files, f.info); err != nil {
			t.Fatal(err)
		}
		f.files = append(f.files, files...)
	}
}

type importFunc func(string) (*types.Package, error)

func (i importFunc) Import(path string) (*types.Package, error) { return i(path) }

// declare finds the texts and the functions.
func (f *flow) declare() {
	for _, file := range f.files {
		name := ""
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				name = n.Names[0].Name
			case *ast.CompositeLit:
				if isText(f.info.TypeOf(n)) && len(n.Elts) > 0 {
					text := &found{name: name, at: n.Pos()}
					for _, e := range n.Elts {
						kv, ok := e.(*ast.KeyValueExpr)
						if !ok {
							f.problem(n, "a text without the names of its languages")
							continue
						}
						value := f.info.Types[kv.Value].Value
						if value == nil {
							return true // it is made of what a user wrote
						}
						if kv.Key.(*ast.Ident).Name == "ZH" {
							text.ZH = constant.StringVal(value)
						} else {
							text.EN = constant.StringVal(value)
						}
					}
					f.literals[n] = text
					f.texts = append(f.texts, text)
				}
			case *ast.FuncDecl:
				if fn, ok := f.info.Defs[n.Name].(*types.Func); ok {
					f.funcs[fn] = &function{typ: fn.Signature(), body: n.Body, text: noText, named: fn.FullName()}
					if fn.Signature().Recv() != nil {
						f.methods[fn.Name()] = append(f.methods[fn.Name()], fn)
					}
				}
			case *ast.FuncLit:
				f.funcs[n] = &function{typ: f.info.TypeOf(n).(*types.Signature), body: n.Body, text: noText, named: "a function"}
			}
			return true
		})
	}
	// A reason keeps its text and its arguments together until it is printed.
	for fn := range f.funcs {
		if fn, ok := fn.(*types.Func); ok && fn.FullName() == modulePath+"/internal/message.Because" {
			f.funcs[fn].text = 0
		}
	}
}

func isText(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Text" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == modulePath+"/internal/message"
}

// walk visits every node with the function that it stands in.
func (f *flow) walk(file *ast.File, visit func(ast.Node, *function)) {
	var in func(root ast.Node, fn *function)
	in = func(root ast.Node, fn *function) {
		ast.Inspect(root, func(n ast.Node) bool {
			inner := fn
			switch n := n.(type) {
			case nil:
				return false
			case *ast.FuncDecl:
				obj, _ := f.info.Defs[n.Name].(*types.Func)
				inner = f.funcs[obj]
			case *ast.FuncLit:
				inner = f.funcs[n]
			}
			if n != root && inner != fn {
				in(n, inner)
				return false
			}
			visit(n, fn)
			return true
		})
	}
	in(file, nil)
}

// step lets values flow through one statement or expression.
func (f *flow) step(n ast.Node, fn *function) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		f.assign(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			lhs[i] = name
		}
		f.assign(lhs, n.Values)
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{n.Key, n.Value} {
			if v != nil {
				f.store(v, f.eval(n.X))
			}
		}
	case *ast.SendStmt:
		f.store(n.Chan, f.eval(n.Value))
	case *ast.ReturnStmt:
		for i := range fn.typ.Results().Len() {
			switch {
			case len(n.Results) == 0:
				f.add(result{fn, i}, f.sets[fn.typ.Results().At(i)])
			case len(n.Results) < fn.typ.Results().Len():
				f.add(result{fn, i}, f.results(n.Results[0], i))
			default:
				f.add(result{fn, i}, f.eval(n.Results[i]))
			}
		}
	case *ast.CompositeLit:
		s, ok := deref(f.info.TypeOf(n)).Underlying().(*types.Struct)
		if !ok || isText(f.info.TypeOf(n)) {
			return
		}
		for i, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				f.add(origin(f.info.Uses[kv.Key.(*ast.Ident)]), f.eval(kv.Value))
			} else {
				f.add(origin(s.Field(i)), f.eval(e))
			}
		}
	case *ast.CallExpr:
		f.bind(n)
		f.wraps(n, fn)
	}
}

func (f *flow) assign(lhs, rhs []ast.Expr) {
	for i := range lhs {
		switch {
		case len(rhs) == len(lhs):
			f.store(lhs[i], f.eval(rhs[i]))
		case len(rhs) == 1:
			f.store(lhs[i], f.results(rhs[0], i))
		}
	}
}

// bind hands the arguments of a call to the parameters of whatever it may call.
func (f *flow) bind(call *ast.CallExpr) {
	callees, outside := f.callees(call)
	for _, fn := range callees {
		if recv := fn.typ.Recv(); recv != nil {
			if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				f.add(recv, f.eval(s.X))
			}
		}
		for i, a := range call.Args {
			if last := fn.typ.Params().Len() - 1; last >= 0 {
				f.add(fn.typ.Params().At(min(i, last)), f.eval(a))
			}
		}
	}
	if !outside {
		return
	}
	// Functions that we hand to others see the rest of what we hand them.
	for _, a := range call.Args {
		for v := range f.eval(a) {
			if fn, ok := v.(*function); ok {
				for i := range fn.typ.Params().Len() {
					for _, other := range call.Args {
						f.add(fn.typ.Params().At(i), f.eval(other))
					}
				}
			}
		}
	}
}

// wraps notes that a function formats one of its parameters with its last ones:
// whoever calls it gives the arguments.
func (f *flow) wraps(call *ast.CallExpr, fn *function) {
	text, args, ok := f.formats(call)
	if !ok || fn == nil || fn.text != noText || !call.Ellipsis.IsValid() || !fn.typ.Variadic() {
		return
	}
	if f.object(args[len(args)-1]) != types.Object(fn.typ.Params().At(fn.typ.Params().Len()-1)) {
		return
	}
	at := f.object(text)
	for i := range fn.typ.Params().Len() {
		if at == types.Object(fn.typ.Params().At(i)) {
			fn.text, f.changed = i, true
		}
	}
	if recv := fn.typ.Recv(); recv != nil && at == types.Object(recv) {
		fn.text, f.changed = -1, true
	}
}

// formats is the text of a call that formats one, and what follows it.
func (f *flow) formats(call *ast.CallExpr) (text ast.Expr, args []ast.Expr, ok bool) {
	if obj, isFunc := f.object(call.Fun).(*types.Func); isFunc && obj.Pkg() != nil && obj.Pkg().Path() == "fmt" && strings.HasSuffix(obj.Name(), "f") {
		at := 0
		if strings.HasPrefix(obj.Name(), "F") || strings.HasPrefix(obj.Name(), "A") {
			at = 1
		}
		if in, ok := ast.Unparen(call.Args[at]).(*ast.CallExpr); ok {
			if x, ok := f.spoken(in); ok {
				f.formatted[in] = true
				return x, call.Args[at+1:], true
			}
		}
		return nil, nil, false
	}
	callees, _ := f.callees(call)
	for _, fn := range callees {
		first := fn.typ.Params().Len() - 1
		switch {
		case fn.text == noText || len(call.Args) < first:
		case fn.text >= 0:
			return call.Args[fn.text], call.Args[first:], true
		default:
			return ast.Unparen(call.Fun).(*ast.SelectorExpr).X, call.Args[first:], true
		}
	}
	return nil, nil, false
}

// spoken is the text whose In is called.
func (f *flow) spoken(call *ast.CallExpr) (ast.Expr, bool) {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "In" {
		return nil, false
	}
	switch {
	case isText(deref(f.info.TypeOf(s.X))):
		return s.X, true
	case len(call.Args) == 1 && isText(f.info.TypeOf(call.Args[0])): // Terminal.In
		return call.Args[0], true
	}
	return nil, false
}

// collect notes who makes strings of texts, when all that flows has flown.
func (f *flow) collect(n ast.Node, fn *function) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if isText(deref(f.info.TypeOf(n.X))) && (n.Sel.Name == "ZH" || n.Sel.Name == "EN") {
			for text := range f.textsOf(n.X) {
				f.read[text] = true
			}
		}
	case *ast.CallExpr:
		if text, ok := f.spoken(n); ok {
			if f.formatted[n] {
				return
			}
			f.uses = append(f.uses, use{at: n.Pos(), texts: f.textsOf(text), plain: true})
			return
		}
		text, exprs, ok := f.formats(n)
		if !ok || fn != nil && fn.named == "("+modulePath+"/internal/message.Reason).In" {
			return
		}
		if n.Ellipsis.IsValid() {
			if fn == nil || fn.text == noText {
				f.problem(n, "the arguments of a text do not stand at the call")
			}
			return
		}
		u := use{at: n.Pos(), texts: f.textsOf(text)}
		for _, e := range exprs {
			u.args = append(u.args, f.info.TypeOf(e))
		}
		f.uses = append(f.uses, u)
	}
}

func (f *flow) problem(n ast.Node, what string) {
	f.problems = append(f.problems, fmt.Sprintf("%s: %s", f.fset.Position(n.Pos()), what))
}

func (f *flow) textsOf(e ast.Expr) map[*found]bool {
	texts := map[*found]bool{}
	for v := range f.eval(e) {
		if text, ok := v.(*found); ok {
			texts[text] = true
		}
	}
	return texts
}

// callees are the functions that a call may reach. outside is true where one of
// them is not ours.
func (f *flow) callees(call *ast.CallExpr) (fns []*function, outside bool) {
	if tv := f.info.Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
		return nil, tv.IsBuiltin()
	}
	if fn, ok := f.object(call.Fun).(*types.Func); ok {
		fn = fn.Origin()
		if own := f.funcs[fn]; own != nil {
			return []*function{own}, false
		}
		recv := fn.Signature().Recv()
		if recv == nil || !types.IsInterface(recv.Type()) {
			return nil, true
		}
		for _, m := range f.methods[fn.Name()] {
			if types.Implements(types.NewPointer(deref(m.Signature().Recv().Type())), recv.Type().Underlying().(*types.Interface)) {
				fns = append(fns, f.funcs[m])
			}
		}
		return fns, false
	}
	for v := range f.eval(call.Fun) {
		if fn, ok := v.(*function); ok {
			fns = append(fns, fn)
		}
	}
	return fns, false
}

// object is what a name stands for.
func (f *flow) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return cmp.Or(f.info.Uses[e], f.info.Defs[e])
	case *ast.SelectorExpr:
		return f.info.Uses[e.Sel]
	case *ast.IndexExpr: // a generic function
		if _, ok := f.info.TypeOf(e.X).(*types.Signature); ok {
			return f.object(e.X)
		}
	}
	return nil
}

// eval is the set of texts and functions that an expression may be.
func (f *flow) eval(e ast.Expr) map[any]bool {
	if !f.carries(f.info.TypeOf(e)) {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		obj := f.object(e)
		if fn, ok := obj.(*types.Func); ok {
			if own := f.funcs[fn.Origin()]; own != nil {
				return map[any]bool{own: true}
			}
			return nil
		}
		return f.sets[origin(obj)]
	case *ast.StarExpr:
		return f.eval(e.X)
	case *ast.UnaryExpr:
		return f.eval(e.X)
	case *ast.IndexExpr:
		return f.eval(e.X)
	case *ast.SliceExpr:
		return f.eval(e.X)
	case *ast.TypeAssertExpr:
		return f.eval(e.X)
	case *ast.FuncLit:
		return map[any]bool{f.funcs[e]: true}
	case *ast.CompositeLit:
		if text := f.literals[e]; text != nil {
			return map[any]bool{text: true}
		}
		all := map[any]bool{}
		if _, ok := deref(f.info.TypeOf(e)).Underlying().(*types.Struct); !ok {
			for _, el := range e.Elts {
				if kv, ok := el.(*ast.KeyValueExpr); ok {
					el = kv.Value
				}
				merge(all, f.eval(el))
			}
		}
		return all
	case *ast.CallExpr:
		return f.results(e, 0)
	}
	return nil
}

// carries is true for types whose values are texts, hold them, or are functions that
// take or return them. Structs are not: each of their fields has its own set.
func (f *flow) carries(t types.Type) bool {
	if t == nil {
		return true // a name that is being declared
	}
	if known, ok := f.carrying[t]; ok {
		return known
	}
	f.carrying[t] = false // a type that holds itself adds nothing
	yes := isText(t)
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		yes = yes || f.carries(u.Elem())
	case *types.Slice:
		yes = f.carries(u.Elem())
	case *types.Array:
		yes = f.carries(u.Elem())
	case *types.Chan:
		yes = f.carries(u.Elem())
	case *types.Map:
		yes = f.carries(u.Elem())
	case *types.Tuple:
		for v := range u.Variables() {
			yes = yes || f.carries(v.Type())
		}
	case *types.Signature:
		yes = f.carries(u.Params()) || f.carries(u.Results())
	case *types.Interface:
		_, yes = t.(*types.TypeParam)
	}
	f.carrying[t] = yes
	return yes
}

// results is the set of what a call returns at a place.
func (f *flow) results(e ast.Expr, i int) map[any]bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return f.eval(e) // v, ok := m[k]
	}
	all := map[any]bool{}
	callees, outside := f.callees(call)
	for _, fn := range callees {
		merge(all, f.sets[result{fn, i}])
	}
	if outside || f.info.Types[call.Fun].IsType() {
		for _, a := range call.Args {
			merge(all, f.eval(a))
		}
	}
	return all
}

// store adds values to what stands on the left of an assignment.
func (f *flow) store(e ast.Expr, values map[any]bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if obj := f.object(e); obj != nil {
			f.add(origin(obj), values)
		}
	case *ast.IndexExpr:
		f.store(e.X, values)
	case *ast.StarExpr:
		f.store(e.X, values)
	}
}

func (f *flow) add(key any, values map[any]bool) {
	if len(values) == 0 {
		return
	}
	if f.sets[key] == nil {
		f.sets[key] = map[any]bool{}
	}
	before := len(f.sets[key])
	merge(f.sets[key], values)
	f.changed = f.changed || len(f.sets[key]) > before
}

func merge(into, from map[any]bool) {
	for v := range from {
		into[v] = true
	}
}

// origin is the variable as it is declared, not as a generic type has it.
func origin(o types.Object) any {
	if v, ok := o.(*types.Var); ok {
		return v.Origin()
	}
	return o
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
