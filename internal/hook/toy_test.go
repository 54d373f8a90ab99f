package hook

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// toy is a host like no other: other names for everything, and one line of text
// for an answer. In the tree it would be host/toy.go, its line in host.All, its
// line in the help of --host, and its page in the documentation; a reader of its
// session files would be a fifth file.
func toy() *host.Host {
	return &host.Host{
		Name: "toy", Program: "toy", Events: []string{"user-prompt-submit", "pre-tool-use", "post-tool-use", "subagent-stop", "stop", "pre-compact", "session-start"},
		Delivers: true, Gates: true, Loops: true,
		Decode: func(event string, payload []byte) host.Call {
			var in struct {
				Run, Dir, Say, Answer, Helper, Why string
				Do                                 struct{ What, Line, File, To, Task string }
			}
			c := host.Call{Event: event}
			if json.Unmarshal(payload, &in) != nil {
				return c
			}
			c.Session, c.Cwd, c.Prompt, c.Answer, c.AgentType, c.Source, c.Trigger = in.Run, in.Dir, in.Say, in.Answer, in.Helper, in.Why, in.Why
			c.Tool = host.Tool{Name: in.Do.What, ID: "1", Command: in.Do.Line, File: in.Do.File}
			switch in.Do.What {
			case "sh":
				c.Tool.Kind, c.Tool.Exit = host.ShellTool, new(int)
			case "put":
				c.Tool.Kind, c.Tool.Done = host.EditTool, []host.Event{host.FileChanged{File: in.Do.File}}
			case "hand":
				c.Tool.Kind, c.Tool.Agent = host.AgentTool, host.Agent{Type: in.Do.To, Prompt: in.Do.Task}
			}
			return c
		},
		Encode: func(in *host.Call, r host.Reply) []byte {
			switch {
			case r.Deny != "":
				return []byte("no: " + r.Deny)
			case r.Block != "":
				return []byte("on: " + r.Block)
			case r.Refuse:
				return []byte("later")
			case r.Prompt != "":
				return []byte("ask: " + r.Prompt)
			case r.Context != "":
				return []byte("know: " + r.Context)
			}
			return nil
		},
	}
}

func TestToyHost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.hosts = []*host.Host{toy()}
	for i, s := range []struct {
		event, in, says string
		then            func(*testing.T, *place)
	}{
		{event: "user-prompt-submit", in: `{"run":"s1","say":"[workflow:quick] knit a scarf"}`, says: "know: "},
		{event: "pre-tool-use", in: `{"run":"s1","do":{"what":"put","file":"scarf"}}`, says: "no: "},
		{event: "pre-tool-use", in: `{"run":"s1","do":{"what":"sh","line":"ls"}}`},
		{event: "pre-tool-use", in: `{"run":"s1","do":{"what":"hand","to":"overtone:developer","task":"knit"}}`, says: "ask: <!-- NODE_CONTEXT", then: stage("DEV", workflow.Active)},
		{event: "subagent-stop", in: `{"run":"s1","helper":"overtone:developer","answer":"<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->"}`, then: stage("DEV", workflow.Completed)},
		{event: "post-tool-use", in: `{"run":"s1","do":{"what":"put","file":"scarf"}}`, says: "know: ", then: files("scarf")},
		{event: "post-tool-use", in: `{"run":"s1","do":{"what":"sh","line":"gh pr create"}}`, then: func(t *testing.T, p *place) {
			if seen := p.memory().Thread.Boundary(); !seen.Has(compact.PRCheckpoint) {
				t.Errorf("signals: %v", seen.List())
			}
		}},
		{event: "stop", in: `{"run":"s1","answer":"resting"}`, says: "on: "},
		{event: "pre-compact", in: `{"run":"s1","why":"manual"}`, then: happened(message.EventPacketCreated, 1)},
		{event: "session-start", in: `{"run":"s1","why":"compact"}`, says: "know: "},
	} {
		stdout, stderr := p.raw(s.event, "toy", s.in)
		if stderr != "" || s.says == "" && stdout != "" || !strings.HasPrefix(stdout, s.says) {
			t.Errorf("%d %s: %q, %q", i, s.event, stdout, stderr)
		}
		if s.then != nil {
			s.then(t, p)
		}
	}
	if stdout, stderr := p.raw("stop", "unheard-of", `{}`); stdout != "" || !strings.Contains(stderr, "unknown host") {
		t.Errorf("an unknown host: %q, %q", stdout, stderr)
	}
}

// TestOnlyHostsKnowHosts: outside of host, of the readers of session files and of eval,
// nothing compares a host's name, and nothing lists their names. What differs is asked
// of the host. (To shellcmd the names are programs.)
func TestOnlyHostsKnowHosts(t *testing.T) {
	t.Parallel()
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.BasicLit:
			return slices.ContainsFunc(host.Names(), func(n string) bool { return e.Value == `"`+n+`"` })
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok && (x.Name == "host" || x.Name == "transcript") {
				return slices.Contains([]string{"ClaudeCode", "Claude", "Codex", "Copilot"}, e.Sel.Name)
			}
		}
		return false
	}
	set := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "host" || d.Name() == "transcript" || d.Name() == "mirror" || d.Name() == "eval" || d.Name() == "testdata" || d.Name() == "shellcmd") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && (named(n.X) || named(n.Y)) {
					t.Errorf("%s compares a host's name", set.Position(n.Pos()))
				}
			case *ast.BasicLit:
				listed := slices.DeleteFunc(host.Names(), func(name string) bool { return !strings.Contains(n.Value, name) })
				if len(listed) > 1 {
					t.Errorf("%s lists hosts by hand: %s", set.Position(n.Pos()), listed)
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					if named(e) {
						t.Errorf("%s switches on a host's name", set.Position(e.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
