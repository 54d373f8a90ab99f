package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
)

const (
	guardEdit = `"tool_name":"Edit","tool_use_id":"g1","tool_input":{"file_path":"a.go"}`
	guardRun  = `"tool_name":"Bash","tool_use_id":"g2","tool_input":{"command":"touch a.go"}`
	guardLook = `"tool_name":"Bash","tool_use_id":"g3","tool_input":{"command":"git status"}`
	aWord     = `"prompt":"edit main.go yourself, no agents"`
)

// answer is what the guard says: allow where it says nothing.
func answer(out string) string {
	if out == "" {
		return "allow"
	}
	return gjson.Get(out, "hookSpecificOutput.permissionDecision").String()
}

// Claude Code has another shell on Windows. Of its lines only plain words are understood.
func TestGuardReadsNoPowerShell(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	for line, want := range map[string]string{
		"git status": "allow", "overtone workflow status": "allow", "cat C:/a/b.go": "allow", "Set-Content a.go x": "deny", "touch a.go": "deny", "ls | sort {touch a.go}": "deny",
		"cat $(touch a.go)": "deny", "echo x > a.go": "deny", "ls; ls": "deny", "ls `ls": "deny", `ls\nls`: "deny", "": "deny", `echo \u00e9`: "deny",
	} {
		out, _ := p.call("pre-tool-use", "claude-code", `"tool_name":"PowerShell","tool_use_id":"g4","tool_input":{"command":"`+line+`"}`)
		if answer(out) != want {
			t.Errorf("%q: %s", line, out)
		}
	}
}

// While the turn is the user's, what the main agent may not do is asked of him where the
// host can ask, and else refused; both name the two commands that settle it. With no word
// of his since the stage was handed out it is refused as ever. Sub-agents work.
func TestGuardAsksTheUser(t *testing.T) {
	t.Parallel()
	for _, h := range []string{"claude-code", "codex"} {
		for name, tool := range map[string]string{"an edit": guardEdit, "a line": guardRun} {
			if h == "codex" {
				tool = strings.Replace(tool, `"Edit","tool_use_id":"g1","tool_input":{"file_path":"a.go"}`, `"apply_patch","tool_use_id":"g1","tool_input":{"command":"*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch"}`, 1)
			}
			t.Run(name+", "+h, func(t *testing.T) {
				t.Parallel()
				p := begun(t, h)
				armed := func(when string) {
					t.Helper()
					out, _ := p.call("pre-tool-use", h, tool)
					if answer(out) != "deny" || !strings.Contains(out, "You relay work") || strings.Contains(out, "systemMessage") {
						t.Errorf("%s: %s", when, out)
					}
				}
				armed("armed")
				p.call("user-prompt-submit", h, aWord)
				want, cancel, resume := "ask", "/overtone:cancel", "/overtone:resume"
				if h == "codex" {
					want, cancel, resume = "deny", "`overtone workflow cancel`", "`overtone workflow resume`"
				}
				for range 2 {
					out, _ := p.call("pre-tool-use", h, tool)
					reason := gjson.Get(out, "hookSpecificOutput.permissionDecisionReason").String()
					if answer(out) != want || !strings.Contains(reason, cancel) || !strings.Contains(reason, resume) || strings.Contains(reason, "You relay work") {
						t.Errorf("rests: %s", out)
					}
					if told := gjson.Get(out, "systemMessage").String(); h == "claude-code" && told != reason {
						t.Errorf("the person is told %q", told)
					}
					if h == "codex" && strings.Contains(out, "/overtone:") {
						t.Errorf("a command that the host has not: %s", out)
					}
				}
				if n := p.count(message.EventToolGuarded); n != 3 {
					t.Errorf("%d events", n)
				}
				if out, _ := p.call("pre-tool-use", h, guardLook); out != "" {
					t.Errorf("a line that only reads: %s", out)
				}
				if out, _ := p.call("pre-tool-use", h, tool+`,"agent_id":"a1","agent_type":"overtone:developer"`); out != "" {
					t.Errorf("a sub-agent: %s", out)
				}
				hire := hireDev
				if h == "codex" {
					hire = `"tool_name":"spawn_agent","tool_use_id":"t1","tool_input":{"agent_type":"overtone:developer","message":"build"}`
				}
				p.call("pre-tool-use", h, hire)
				armed("a stage is handed out")
			})
		}
	}
	// opencode has neither a question nor commands of the plugin.
	o := begun(t, "opencode")
	o.call("user-prompt-submit", "opencode", aWord)
	out, _ := o.call("pre-tool-use", "opencode", `"tool_name":"edit","tool_use_id":"g1","tool_input":{"filePath":"a.go"}`)
	if reason := gjson.Get(out, "deny").String(); !strings.Contains(reason, "`overtone workflow cancel`") || !strings.Contains(reason, "`overtone workflow resume`") || strings.Contains(reason, "/overtone:") {
		t.Errorf("opencode: %s", out)
	}
	// The specifications' own call knows no rest.
	p := newPlace(t)
	p.call("user-prompt-submit", "", start)
	p.call("user-prompt-submit", "", aWord)
	if out, _ := p.call("pre-tool-use", "", guardEdit); answer(out) != "deny" || !strings.Contains(out, "You relay work") {
		t.Errorf("plain: %s", out)
	}
}

// Whatever is wrong while a workflow rests, no answer lets the tool run unasked: what
// cannot be decided is refused, and what only a person may do is never asked.
func TestGuardThatAsksStaysClosed(t *testing.T) {
	t.Parallel()
	state := func(p *place, name string) string { return filepath.Join(p.dir, ".overtone", "sessions", "s1", name) }
	for name, c := range map[string]struct {
		spoil func(t *testing.T, p *place)
		in    string
		want  string
	}{
		"nothing":                {nil, guardRun, "ask"},
		"a text waits":           {func(_ *testing.T, p *place) { p.leave("REVIEW has ended") }, guardRun, "ask"},
		"the lock is busy":       {func(t *testing.T, p *place) { t.Cleanup(p.hold()) }, guardRun, "deny"},
		"the lock is busy, edit": {func(t *testing.T, p *place) { t.Cleanup(p.hold()) }, guardEdit, "deny"},
		"the state is damaged":   {func(_ *testing.T, p *place) { p.write(".overtone/sessions/s1/workflow.json", "{{{") }, guardRun, "deny"},
		"the state is newer":     {func(_ *testing.T, p *place) { p.write(".overtone/sessions/s1/workflow.json", `{"version":99}`) }, guardEdit, "deny"},
		// What a damaged memory knew of the user's words is lost.
		"the memory is damaged": {func(_ *testing.T, p *place) { p.write(".overtone/sessions/s1/"+session.MemoryFile, "{{{\n") }, guardEdit, "deny"},
		"the memory cannot be read": {func(t *testing.T, p *place) {
			blocked(t, state(p, session.MemoryFile))
		}, guardRun, "deny"},
		"the timeline is damaged": {func(t *testing.T, p *place) {
			blocked(t, state(p, "timeline.jsonl"))
		}, guardRun, "ask"},
		"to trust a file":     {nil, `"tool_name":"Bash","tool_use_id":"g","tool_input":{"command":"overtone workflow trust quick"}`, "deny"},
		"to trust and change": {nil, `"tool_name":"Bash","tool_use_id":"g","tool_input":{"command":"touch a; overtone workflow trust quick"}`, "deny"},
		"a file of ours":      {nil, `"tool_name":"Write","tool_use_id":"g","tool_input":{"file_path":"$DIR/.overtone/trusted.json","content":"{}"}`, "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begun(t, "claude-code")
			p.call("user-prompt-submit", "claude-code", aWord)
			if c.spoil != nil {
				c.spoil(t, p)
			}
			out, errs := p.call("pre-tool-use", "claude-code", c.in)
			if answer(out) != c.want || gjson.Get(out, "hookSpecificOutput.permissionDecisionReason").String() == "" {
				t.Errorf("%s\n%s", out, errs)
			}
			if name == "a text waits" && (!strings.Contains(out, "REVIEW has ended") || len(p.memory().Outbox) != 0) {
				t.Errorf("what waited is lost: %s", out)
			}
		})
	}
}

// leave is what a hook of another thread leaves for the main one.
func (p *place) leave(text string) {
	p.t.Helper()
	if err := session.Update(p.session(), session.Options{Now: p.now}, func(tx *session.Tx) error {
		tx.Leave(session.Message{Model: text})
		return nil
	}); err != nil {
		p.t.Fatal(err)
	}
}

// blocked puts a folder in a file's place.
func blocked(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// A refusal that could not be recorded is recorded by the next call, and asks nobody
// about a tool that did not run.
func TestLateGuardAsksNobody(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	p.call("user-prompt-submit", "claude-code", aWord)
	release := p.hold()
	defer release()
	if out, _ := p.held("pre-tool-use", guardEdit); answer(out) != "deny" {
		t.Errorf("busy: %s", out)
	}
	release()
	if out, _ := p.call("post-tool-batch", "claude-code", `"tool_calls":[]`); out != "" || p.count(message.EventToolGuarded) != 1 {
		t.Errorf("later: %s, %d events", out, p.count(message.EventToolGuarded))
	}
	if m := p.memory(); len(m.Outbox) != 0 {
		t.Errorf("waits: %v", m.Outbox)
	}
}

// Words that met a held lock make the turn the user's as well: at once in what the model
// is told, and with the next call for whoever pushes and guards.
func TestWordsWithoutLock(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	release := p.hold()
	defer release()
	if out, _ := p.held("user-prompt-submit", aWord); strings.Contains(out, "overtone:developer") || !strings.Contains(out, "The user's message comes first") {
		t.Errorf("the model is told %s", out)
	}
	release()
	if out, _ := p.call("pre-tool-use", "claude-code", guardEdit); answer(out) != "ask" {
		t.Errorf("the guard: %s", out)
	}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) {
		t.Errorf("stop: %s", out)
	}
	release = p.hold()
	defer release()
	if out, _ := p.held("session-start", `"source":"resume"`); strings.Contains(out, "overtone:developer") || !strings.Contains(out, "The user's message comes first") {
		t.Errorf("resumed: %s", out)
	}
}
