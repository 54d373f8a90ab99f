//go:build e2e

package e2e

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// ourTools are the tools that our texts name.
var ourTools = []string{"recall", "packet", "status"}

// The tools that our texts name work in a run that nobody sits before, with no
// permission but those that init has set; and recall does not find the call that asks.
func TestTools_Allowed(t *testing.T) { t.Parallel(); onEach(t, testToolsAllowed) }

func testToolsAllowed(t *testing.T, v Version) {
	var calls []mockapi.Block
	for _, name := range ourTools {
		input := map[string]any{}
		if name == "recall" {
			input = map[string]any{"query": "zebraCounter", "limit": 1}
		}
		calls = append(calls, tool("mcp__plugin_overtone_overtone__"+name, input))
	}
	calls = append(calls, bash("overtone recall zebraCounter"))
	p := &Play{Main: []Step{call(calls...), say("found")}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Exec("overtone", "init", "--yes", "--host", "claude-code", "--lang", "en")
	w.installed("Please count the zebras with zebraCounter.")
	all := mains(w)
	results := all[len(all)-1].Results()
	if len(results) != len(calls) {
		t.Fatalf("%d answers: %s", len(results), all[len(all)-1])
	}
	found := ""
	for _, r := range results {
		if r.IsError {
			t.Errorf("refused: %s", r.Text)
		}
		found += r.Text + "\n"
	}
	if strings.Count(found, "Please count the zebras") < 2 || strings.Contains(found, "overtone__recall") {
		t.Errorf("the tools say %s", found)
	}
}

// On Codex the same in a thread whose user is asked for everything else, and in exec,
// where there is nobody to ask.
func TestCodexTools_Allowed(t *testing.T) {
	t.Parallel()
	script := func(r codexmock.Request) codexmock.Reply {
		if text, step := r.LastUser(); strings.Contains(text, "zebraCounter") && step == 0 {
			var calls []codexmock.Call
			for _, name := range ourTools {
				args := map[string]any{}
				if name == "recall" {
					args = map[string]any{"query": "zebraCounter", "limit": 1}
				}
				calls = append(calls, codexmock.Call{Namespace: "mcp__overtone", Name: name, Args: args})
			}
			return codexmock.Reply{Calls: calls, Tokens: 9000}
		}
		return codexmock.Reply{Message: "Noted.", Tokens: 9000}
	}
	w := newCodexWorld(t, script, "approval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n")
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	w.path = bin + ":" + w.path
	p := w.overtone("init", "--host", "codex", "--yes")
	<-p.done
	check := func(where string) {
		t.Helper()
		rs := w.Model.Requests()
		var said []string
		for _, it := range rs[len(rs)-1].Input {
			if strings.Contains(it.Type, "output") {
				said = append(said, it.Text)
			}
		}
		if len(said) != len(ourTools) || !strings.Contains(said[0], "Please count the zebras") {
			t.Errorf("%s: the tools said %q", where, said)
		}
	}
	e := w.start(w.server, "exec", "--skip-git-repo-check", "Please count the zebras with zebraCounter.")
	<-e.done
	check("exec")
	w.serve()
	w.Ready()
	u := w.User()
	turn := u.Say("Please count the zebras with zebraCounter.")
	u.AwaitTurn(turn)
	check("app-server")
}

// On Copilot the same in a run that nobody sits before, with no permission on its command
// line; what its user denies there stays denied.
func TestCopilotTools_Allowed(t *testing.T) {
	t.Parallel()
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		if len(r.Results()) > 0 || !strings.Contains(r.Last(), "zebraCounter") {
			return mockapi.Text("Noted.").Tokens(1_000)
		}
		var calls []mockapi.Block
		for _, name := range ourTools {
			input := map[string]any{}
			if name == "recall" {
				input = map[string]any{"query": "zebraCounter", "limit": 1}
			}
			calls = append(calls, tool("overtone-"+name, input))
		}
		return mockapi.Calls(calls...).Tokens(1_000)
	})
	c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en")
	said := func(args ...string) string {
		t.Helper()
		c.exec(c.program, append(args, "-p", "Please count the zebras with zebraCounter.")...)
		all := c.API.Requests()
		results := all[len(all)-1].Results()
		if len(results) != len(ourTools) {
			t.Fatalf("%d answers: %s", len(results), all[len(all)-1])
		}
		text := ""
		for _, r := range results {
			text += r.Text + "\n"
		}
		return text
	}
	said() // the host writes a session's file down when its turn is over
	if text := said(); strings.Contains(text, "ermission") || !strings.Contains(text, "Please count the zebras") || strings.Contains(text, "overtone-recall") {
		t.Errorf("the tools say %s", text)
	}
	if text := said("--deny-tool=overtone"); strings.Count(text, "ermission to run this tool was denied") != len(ourTools) {
		t.Errorf("denied, the tools say %s", text)
	}
}

// TestCarries measures in what the model is sent how much of it is ours in a session
// without workflows: at most 1,200 characters on every host. The agents of workflows are
// on top of that, and only there.
func TestCarries(t *testing.T) {
	t.Parallel()
	const most = 1200
	check := func(t *testing.T, bare bool, n int) {
		t.Helper()
		t.Logf("without workflows %v: %d characters", bare, n)
		if n < 0 || bare && n > most {
			t.Errorf("%d characters of ours", n)
		}
	}
	t.Run("claude", func(t *testing.T) {
		t.Parallel()
		onEach(t, func(t *testing.T, v Version) {
			w := NewWorld(t, Overtone, (&Play{}).Handle, v)
			size := func() int {
				w.installed("hello")
				all := mains(w)
				return utf8.RuneCount(all[len(all)-1].Body)
			}
			size() // the first start of a home is longer
			before := size()
			w.Exec("overtone", "init", "--yes", "--host", "claude-code", "--lang", "en", "--no-workflows")
			check(t, true, size()-before)
			if all := mains(w); !bytes.Contains(all[len(all)-1].Body, []byte("mcp__plugin_overtone_overtone__recall")) {
				t.Error("the model has no tools of ours")
			}
			if out := w.Exec("overtone", "doctor", "--json"); !gjson.Get(out, `checks.#(id=="hooks").fired.stop`).Exists() {
				t.Errorf("no hook was called: %s", out)
			}
			w.Exec("overtone", "init", "--yes", "--host", "claude-code")
			check(t, false, size()-before)
		})
	})
	t.Run("copilot", func(t *testing.T) {
		t.Parallel()
		c := newCopilot(t, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("Noted.").Tokens(1_000) })
		size := func() int {
			c.ask("hello")
			all := c.API.Requests()
			return utf8.RuneCount(all[len(all)-1].Body)
		}
		before := size()
		c.exec("overtone", "init", "--host", "copilot", "--yes")
		check(t, true, size()-before)
	})
	t.Run("codex", func(t *testing.T) {
		t.Parallel()
		w := newSettingsWorld(t)
		// With any server the host adds three tools of its own; ours are in one namespace.
		ours := func() int {
			w.command(w.server, "exec", "--dangerously-bypass-hook-trust", "hello")
			all := w.Model.Requests()
			last := all[len(all)-1].Raw
			return utf8.RuneCountInString(gjson.GetBytes(last, `tools.#(name=="mcp__overtone")`).Raw) + strings.Count(string(last), "overtone:")*len("overtone:code-reviewer: {\\nREVIEW\\n}\\n")
		}
		w.command(w.overtone, "init", "--host", "codex", "--yes", "--lang", "en", "--no-workflows")
		n := ours()
		if n == 0 {
			t.Error("the model has no tools of ours")
		}
		check(t, true, n)
		w.command(w.overtone, "init", "--host", "codex", "--yes")
		check(t, false, ours())
	})
}
