package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"strings"
	"time"
)

// corpus makes sessions up: an agent that reads and edits files of a project,
// is compacted, and goes on with names that its summary states in part.
func corpus() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range 6 {
			if !yield(fmt.Sprintf("made-up-%d", i+1), madeUp(uint64(i+1))) {
				return
			}
		}
	}
}

// author writes the lines of one made-up session.
type author struct {
	rand *rand.Rand
	out  bytes.Buffer
	n    int
}

const madeUpDir = "/work/shop"

func (a *author) line(typ string, content any, more map[string]any) {
	role := typ
	l := map[string]any{
		"type": typ, "uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", a.n), "sessionId": "made-up", "cwd": madeUpDir, "isSidechain": false,
		"timestamp": time.Date(2026, 3, 1, 9, 0, a.n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"),
		"message":   map[string]any{"role": role, "content": content},
	}
	if a.n > 0 {
		l["parentUuid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", a.n-1)
	}
	maps.Copy(l, more)
	a.n++
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // maps of strings
	}
	a.out.Write(append(b, '\n'))
}

func (a *author) tool(name string, input map[string]any, result string) {
	id := fmt.Sprintf("toolu_%06d", a.n)
	a.line("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}}, nil)
	a.line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result}}, nil)
}

func (a *author) pick(words []string) string { return words[a.rand.IntN(len(words))] }

// identifier makes a name such as loadCartTotals.
func (a *author) identifier() string {
	verbs := []string{"load", "save", "parse", "merge", "render", "check", "fetch", "apply", "build", "count"}
	nouns := []string{"Cart", "Order", "Price", "Stock", "Invoice", "Coupon", "Address", "Payment", "Customer", "Basket"}
	kinds := []string{"Totals", "Lines", "State", "Index", "Errors", "Rules", "Cache", "Queue", "Labels", "Fields"}
	return a.pick(verbs) + a.pick(nouns) + a.pick(kinds)
}

// madeFile is a file of the project.
type madeFile struct {
	path  string
	names []string
}

func (f madeFile) text() string {
	var b strings.Builder
	for _, n := range f.names {
		fmt.Fprintf(&b, "def %s(value):\n    return value\n\n", n)
	}
	return b.String()
}

func (a *author) project() []madeFile {
	var files []madeFile
	for _, dir := range []string{"shop/cart", "shop/order", "shop/web", "tests"} {
		for range 4 {
			f := madeFile{path: dir + "/" + strings.ToLower(a.identifier()) + ".py"}
			for range 8 {
				f.names = append(f.names, a.identifier())
			}
			files = append(files, f)
		}
	}
	return files
}

func (a *author) work(files []madeFile, rounds int) {
	for range rounds {
		f := files[a.rand.IntN(len(files))]
		path := madeUpDir + "/" + f.path
		switch a.rand.IntN(4) {
		case 0, 1:
			a.tool("Read", map[string]any{"file_path": path}, f.text())
		case 2:
			n := a.pick(f.names)
			a.tool("Edit", map[string]any{"file_path": path, "old_string": "def " + n + "(value):", "new_string": "def " + n + "(value, strict=False):"}, "The file has been updated.")
		default:
			a.tool("Bash", map[string]any{"command": "pytest " + f.path}, "12 passed in 0.4s")
		}
	}
}

func madeUp(seed uint64) []byte {
	a := &author{rand: rand.New(rand.NewPCG(seed, 7))}
	files := a.project()
	a.line("user", "Please make the totals of the cart strict. Never push to main.", nil)
	a.work(files, 60)
	a.line("assistant", []any{map[string]any{"type": "text", "text": "Now I will update the order's rules."}}, nil)
	a.work(files[:6], 30)
	a.line("system", nil, map[string]any{"subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150000}})
	var summary strings.Builder
	summary.WriteString("This session is being continued. The cart's totals are made strict.\n")
	for _, f := range files[:6] {
		fmt.Fprintf(&summary, "- %s: %s, %s\n", f.path, f.names[0], f.names[1])
	}
	a.line("user", summary.String(), map[string]any{"isCompactSummary": true})
	// From memory: edits of names that were not read again.
	for range 12 {
		f := files[a.rand.IntN(6)]
		a.tool("Edit", map[string]any{"file_path": madeUpDir + "/" + f.path, "old_string": a.pick(f.names) + "(value)", "new_string": a.pick(f.names) + "(value)"}, "The file has been updated.")
	}
	return a.out.Bytes()
}
