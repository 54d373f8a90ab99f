package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// TestLost: what counts as lost, and what does not. Before the compaction the agent has
// read rules.go with its function, then five other files, and has run a target of the
// project's own; the summary says nothing.
func TestLost(t *testing.T) {
	t.Parallel()
	grep := func(w *writer) {
		w.call("9", opus, usage{1, 0, 0, 1, 1}, "Grep", map[string]any{"pattern": "applyPriceRules"}, "3 files")
	}
	read := func(w *writer, file, text string) {
		w.n++
		w.call(fmt.Sprint("r", w.n), opus, usage{1, 0, 0, 1, 1}, "Read", map[string]any{"file_path": "/work/shop/" + file}, text)
	}
	bash := func(w *writer, line, output string) {
		w.n++
		w.call(fmt.Sprint("b", w.n), opus, usage{1, 0, 0, 1, 1}, "Bash", map[string]any{"command": line}, output)
	}
	edit := func(w *writer, old, now string) {
		w.n++
		w.call(fmt.Sprint("e", w.n), opus, usage{1, 0, 0, 1, 1}, "Edit", map[string]any{"file_path": "/work/shop/five.go", "old_string": old, "new_string": now}, "updated")
	}
	for name, tc := range map[string]struct {
		before  func(w *writer)
		keeps   map[string]any
		summary string
		rules   string // the project's instructions
		after   func(w *writer)
		want    string
	}{
		"a name that is looked for":      {after: grep, want: "applyPriceRules: Grep applyPriceRules"},
		"stated by the summary":          {after: grep, summary: "applyPriceRules is strict."},
		"told by a result":               {after: func(w *writer) { bash(w, "git diff", "+ applyPriceRules(x)"); grep(w) }},
		"told as a part of another name": {after: func(w *writer) { bash(w, "git diff", "+ mustapplyPriceRules2(x)"); grep(w) }},
		"told by the user":               {after: func(w *writer) { w.prompt("look at applyPriceRules"); grep(w) }},
		"told by the agent itself, once": {after: func(w *writer) { grep(w); grep(w) }, want: "applyPriceRules: Grep applyPriceRules"},
		"what an edit replaces is shown": {after: func(w *writer) { edit(w, "applyPriceRules(x)", "applyPriceRules(y)") }},
		"used in what an edit adds":      {after: func(w *writer) { edit(w, "a", "b\n\tapplyPriceRules(y)") }, want: "applyPriceRules: Edit applyPriceRules(y)"},
		"coined by what an edit adds":    {after: func(w *writer) { edit(w, "a", "func applyPriceRules(y int)") }},
		"a variable that is made":        {after: func(w *writer) { edit(w, "a", "applyPriceRules := 3") }},
		"a variable that a tool's code makes": {after: func(w *writer) {
			w.call("9", opus, usage{1, 0, 0, 1, 1}, "mcp__browser__run_code", map[string]any{"code": "const [applyPriceRules] = await all([\n])"}, "ok")
		}},
		"put back with its file": {before: func(w *writer) { read(w, "rules.go", "func applyPriceRules(x int)") }, after: grep},
		"put back with the beginning of its file": {before: func(w *writer) {
			for shift := range 6 { // wherever the limit cuts an escape
				read(w, "rules.go", "func applyPriceRules(x int)"+strings.Repeat("x", shift)+strings.Repeat("\\\x01", maxShown))
			}
		}, after: grep},
		"put back as the host tells": {after: func(w *writer) {
			w.line(map[string]any{"type": "attachment", "attachment": map[string]any{"type": "file", "filename": "rules.go", "content": "applyPriceRules"}})
			grep(w)
		}},
		"in the project's instructions": {rules: "Run `make smoke-all`, then look at applyPriceRules.", after: func(w *writer) { grep(w); bash(w, "make smoke-all", "ok") }},
		"kept by the compaction": {before: func(w *writer) {
			w.line(map[string]any{"uuid": "kept", "type": "user", "message": map[string]any{"role": "user", "content": "about applyPriceRules"}})
		}, keeps: map[string]any{"uuids": []string{"kept"}}, after: grep},
		"a name of a library":              {before: func(w *writer) { bash(w, "git diff", "os.MkdirAll(path)") }, after: func(w *writer) { bash(w, "grep -rn MkdirAll .", "os.MkdirAll(dir)") }},
		"the same, defined here":           {before: func(w *writer) { bash(w, "git diff", "func MkdirAll(path string)") }, after: func(w *writer) { bash(w, "grep -rn MkdirAll .", "") }, want: "MkdirAll: Bash grep -rn MkdirAll ."},
		"a name of an API, never defined":  {before: func(w *writer) { bash(w, "git diff", "s.CreateInvoice(x)") }, after: func(w *writer) { bash(w, "grep -rn CreateInvoice .", "a.go: s.CreateInvoice(x)") }},
		"a name that is found defined":     {before: func(w *writer) { bash(w, "git diff", "s.CreateInvoice(x)") }, after: func(w *writer) { bash(w, "grep -rn CreateInvoice .", "a.go:func CreateInvoice(x int)") }, want: "CreateInvoice: Bash grep -rn CreateInvoice ."},
		"a number":                         {before: func(w *writer) { bash(w, "curl localhost", "port 48123") }, after: func(w *writer) { bash(w, "curl localhost:48123", "") }},
		"a file that is read":              {after: func(w *writer) { read(w, "rules.go", "") }, want: "rules.go: Read /work/shop/rules.go"},
		"a file that every project has":    {before: func(w *writer) { bash(w, "ls /work/shop/", "/work/shop/package.json") }, after: func(w *writer) { read(w, "package.json", "") }},
		"a file of a library":              {before: func(w *writer) { bash(w, "ls x", "node_modules/left/padding.js") }, after: func(w *writer) { bash(w, "cat node_modules/left/padding.js", "") }},
		"a command of the project's own":   {after: func(w *writer) { bash(w, "make smoke-all 2>&1 | tail", "ok") }, want: "make smoke-all: Bash make smoke-all 2>&1 | tail"},
		"a command that every project has": {before: func(w *writer) { bash(w, "make test", "ok") }, after: func(w *writer) { bash(w, "make test", "ok") }},
		"a command told by a result":       {after: func(w *writer) { bash(w, "cat Makefile.txt", "run make smoke-all"); bash(w, "make smoke-all", "ok") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			w := newWriter("11111111-1111-4111-8111-111111111111")
			w.cwd = filepath.Join(root, "shop")
			if tc.rules != "" {
				write(t, root, "shop/CLAUDE.md", []byte(tc.rules))
			}
			w.prompt("Make the totals strict.")
			read(w, "rules.go", "func applyPriceRules(x int)")
			for _, f := range []string{"one", "two", "three", "four", "five"} {
				read(w, f+".go", "package shop")
			}
			bash(w, "make smoke-all", "ok")
			if tc.before != nil {
				tc.before(w)
			}
			w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150_000, "preservedMessages": tc.keeps}})
			w.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "The totals are strict. " + tc.summary}})
			tc.after(w)
			write(t, root, "s.jsonl", w.out.Bytes())
			file := transcript.File{Path: filepath.Join(root, "s.jsonl"), Host: transcript.Claude, ID: "s", Size: int64(w.out.Len())}
			r := run(t, Options{Files: []transcript.File{file}, Settings: settings(), Loc: time.UTC})
			var got []string
			loss := r.Sessions[0].Compactions[0].Loss
			for _, m := range loss.Missing {
				got = append(got, m.Text+": "+m.Tool+" "+m.Used)
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("lost:\n%s\nwant:\n%s", strings.Join(got, "\n"), tc.want)
			}
			if k := loss.all(); k.lost() != len(loss.Missing) {
				t.Errorf("%d of %d are lost, %d are listed", k.lost(), k.Needed, len(loss.Missing))
			}
		})
	}
}

// recorded are the recorded sessions of Claude Code with compactions, unpacked; none
// where they are not at hand.
func recorded(t *testing.T) []transcript.File {
	t.Helper()
	packed := samples.Find("compactions/*.jsonl.gz")
	if len(packed) == 0 {
		t.Skip("no recorded sessions")
	}
	var files []transcript.File
	for _, path := range packed {
		data, err := samples.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		id := samples.Name(path)
		to := filepath.Join(t.TempDir(), id+".jsonl")
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, transcript.File{Path: to, Host: transcript.Claude, ID: id, Size: int64(len(data))})
	}
	return files
}

// TestLostSurvivesAReader: on recorded sessions whoever looks finds what is listed as
// lost before the compaction and in the call that is named, and in no line in between
// but what the agent itself said or thought. How many there are was checked by hand.
func TestLostSurvivesAReader(t *testing.T) {
	t.Parallel()
	listed := 0
	for _, file := range recorded(t) {
		data, err := os.ReadFile(file.Path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(data, []byte("\n"))
		r := run(t, Options{Files: []transcript.File{file}, Settings: config.Defaults().Compact, Loc: time.UTC})
		for _, c := range r.Sessions[0].Compactions {
			if c.Loss == nil {
				continue
			}
			for _, m := range c.Loss.Missing {
				listed++
				n, known, used := 0, false, false
				for _, line := range lines {
					v := gjson.ParseBytes(line)
					if v.Get("subtype").String() == "compact_boundary" {
						n++
					}
					has := bytes.Contains(line, []byte(m.Text))
					at, _ := time.Parse(time.RFC3339, v.Get("timestamp").String())
					switch {
					case n < c.N:
						known = known || has
					case n > c.N || used || !has:
					case v.Get("type").String() != "assistant":
						t.Errorf("%.8s, compaction %d: %q stands in a line before it is used: %.200s", file.ID, c.N, m.Text, line)
					case v.Get(`message.content.#(type=="tool_use")`).Exists():
						used = true
						if stamp(at.UnixMilli()) != m.Time {
							t.Errorf("%.8s, compaction %d: %q is used at %v, not at %s", file.ID, c.N, m.Text, at, m.Time)
						}
					}
				}
				if !known || !used {
					t.Errorf("%.8s, compaction %d: %q was known: %v, used: %v", file.ID, c.N, m.Text, known, used)
				}
			}
		}
	}
	equal(t, "listed as lost", listed, 7)
}
