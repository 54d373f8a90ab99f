//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// These tests pin what the host does. The hooks are built on it, so a version
// of the host that breaks one of them needs a change in Overtone, and this is
// where it shows first.

// names lists the events of calls, with the tool's or agent's name.
func names(calls []Call) []string {
	var out []string
	for _, c := range calls {
		name := c.Event
		for _, extra := range []string{c.Input.ToolName, c.Input.Source} {
			if extra != "" {
				name += " " + extra
			}
		}
		if c.Input.AgentID != "" {
			name += " [" + c.Input.AgentType + "]"
		}
		out = append(out, name)
	}
	return out
}

func TestHostFiresEveryEvent(t *testing.T) { t.Parallel(); onAll(t, testHostFiresEveryEvent) }

func testHostFiresEveryEvent(t *testing.T, v Version) {
	p := &Play{
		Main: []Step{
			call(mockapi.Foreground("overtone:developer", "work"), bash("exit 3")),
			say("TURN-ONE"),
			call(mockapi.Foreground("overtone:nobody", "work")),
			call(mockapi.Foreground("overtone:tester", "work")),
			say("TURN-TWO"),
		},
		Agents: map[string][]Step{
			"developer": {call(bash("echo inside")), say("SUB-ANSWER")},
			// The newest tries again.
			"tester": {fail(400, "mock crash"), fail(400, "mock crash"), fail(400, "mock crash")},
		},
	}
	// The newest tries again, and again.
	p.Main = append(p.Main, slices.Repeat([]Step{fail(400, "main is broken")}, 20)...)
	w := NewWorld(t, Recorder, p.Handle, v)
	s := w.Start()
	s.Ask("one")
	s.Ask("two")
	s.Send("/compact keep the names")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	s.Ask("three")
	// The host does not wait for this hook, not even when it ends.
	for end := time.Now().Add(20 * time.Second); !slices.Contains(names(w.Calls()), "stop-failure") && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	s.Close()

	calls := w.Calls()
	seen := make(map[string]bool)
	for _, c := range calls {
		seen[c.Event] = true
		if want := hookEvents[c.Input.HookEventName]; c.Event != want {
			t.Errorf("%s was called for %s", c.Event, c.Input.HookEventName)
		}
		if diff := cmp.Diff([]string{c.Event, "--host", "claude-code"}, c.Args); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
		if c.Input.SessionID != calls[0].Input.SessionID || !slices.Contains(c.Env, "CLAUDE_CODE_SESSION_ID="+c.Input.SessionID) {
			t.Errorf("%s: session %s, environment %v", c.Event, c.Input.SessionID, c.Env)
		}
		if !gjson.GetBytes(c.Stdin, "transcript_path").Exists() || !gjson.GetBytes(c.Stdin, "cwd").Exists() {
			t.Errorf("%s lacks common fields: %s", c.Event, c.Stdin)
		}
	}
	for _, event := range hookEvents {
		if !seen[event] {
			t.Errorf("%s did not fire", event)
		}
	}

	// Parallel calls of one batch come in any order; what follows is the set.
	got := names(calls)
	for _, want := range []string{
		"session-start startup",
		"pre-tool-use Agent", "pre-tool-use Bash",
		"subagent-start [overtone:developer]",
		"pre-tool-use Bash [overtone:developer]", "post-tool-batch [overtone:developer]",
		"subagent-stop [overtone:developer]",
		"post-tool-use-failure Bash", "post-tool-use-failure Agent",
		"post-tool-use Agent", "post-tool-batch", "stop",
		"stop-failure [overtone:tester]", "stop-failure",
		"pre-compact", "subagent-stop []", "session-start compact", "post-compact",
		"session-end",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no call %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if slices.Contains(got, "subagent-stop [overtone:tester]") {
		t.Error("an agent that died of an API error has a SubagentStop")
	}

	field := func(event, path string) string {
		for _, c := range w.CallsOf(event) {
			if v := gjson.GetBytes(c.Stdin, path); v.Exists() {
				return v.String()
			}
		}
		return "(none)"
	}
	for _, c := range []struct{ event, path, want string }{
		{"user-prompt-submit", "prompt", "one"},
		{"subagent-stop", "last_assistant_message", "SUB-ANSWER"},
		{"stop", "last_assistant_message", "TURN-ONE"},
		{"pre-compact", "trigger", "manual"},
		{"pre-compact", "custom_instructions", "keep the names"},
		{"post-compact", "compact_summary", SummaryText},
		{"stop-failure", "last_assistant_message", "API Error: 400 mock crash"},
		{"session-end", "reason", "other"},
	} {
		if got := field(c.event, c.path); got != c.want {
			t.Errorf("%s: %s = %q, want %q", c.event, c.path, got, c.want)
		}
	}
	// Of the end of a command the host does not wait to hear.
	ends := w.CallsOf("post-tool-use")
	agent := slices.IndexFunc(ends, func(c Call) bool { return c.Input.ToolName == "Agent" })
	if agent < 0 {
		t.Fatalf("no PostToolUse(Agent) in %v", got)
	}
	post := gjson.GetBytes(ends[agent].Stdin, "tool_response")
	stop := w.CallsOf("subagent-stop")[0].Input
	if post.Get("agentId").String() != stop.AgentID || !strings.Contains(post.Get("content.#.text").String(), "SUB-ANSWER") {
		t.Errorf("PostToolUse(Agent) %s does not belong to SubagentStop of %s", post, stop.AgentID)
	}
}

func TestHostShowsTheHookARawCommand(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Recorder, (&Play{}).Handle)
	w.Prompt("/overtone:quick add a  flag")
	s := w.Start()
	s.Ask("/overtone:quick add a  flag")
	s.Close()
	prompts := w.CallsOf("user-prompt-submit")
	if len(prompts) != 2 {
		t.Fatalf("%d prompts", len(prompts))
	}
	for i, c := range prompts {
		if c.Input.Prompt != "/overtone:quick add a  flag" {
			t.Errorf("prompt %d: %q", i, c.Input.Prompt)
		}
		if r := w.API.Requests()[i]; r.Count("[workflow:quick] add a  flag") != 1 {
			t.Errorf("the model got %s", r.Last())
		}
	}
}

// The floor runs a command's shell before the prompt's hook, the newest after it.
func TestHostRunsShellOfCommands(t *testing.T) { t.Parallel(); onEach(t, testHostRunsShellOfCommands) }

func testHostRunsShellOfCommands(t *testing.T, v Version) {
	w := NewWorld(t, Recorder, (&Play{}).Handle, v)
	w.Answer("", "STATUS-TEXT")
	w.Allow = "" // the command brings its own permission
	r := w.Prompt("/overtone:status", "--permission-mode", "default").Result()
	var order []string
	for _, c := range w.Calls() {
		order = append(order, strings.Join(c.Args, " "))
		if c.Event == "" && !slices.Contains(c.Env, "CLAUDE_CODE_SESSION_ID="+r.SessionID) {
			t.Errorf("the command does not know its session: %v", c.Env)
		}
	}
	i := slices.Index(order, "workflow status")
	j := slices.Index(order, "user-prompt-submit --host claude-code")
	if i < 0 || j < 0 || v.floor() != (i < j) {
		t.Errorf("order of calls: %q", order)
	}
	if !w.API.Requests()[0].Has("STATUS-TEXT") {
		t.Error("the command's output did not reach the model")
	}
}

func TestHostTakesUpdatedInputWithoutAllow(t *testing.T) {
	t.Parallel()
	p := &Play{
		Main:   []Step{call(mockapi.Foreground("overtone:developer", "original"))},
		Agents: map[string][]Step{"developer": {say("SUB")}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	w.Answer("pre-tool-use", specific("PreToolUse", map[string]any{"updatedInput": map[string]any{
		"subagent_type": "overtone:developer", "description": "d", "prompt": "REWRITTEN", "run_in_background": false,
	}}))
	w.Answer("subagent-start", specific("SubagentStart", map[string]any{"additionalContext": "START-CONTEXT"}))
	w.Prompt("go", "--permission-mode", "default")
	sub := w.API.Requests()[1]
	if !sub.Has("REWRITTEN") || sub.Has("original") || sub.Count("START-CONTEXT") != 1 {
		t.Errorf("sub-agent's prompt: %s", sub.Prompt())
	}
	// The main model keeps seeing what it wrote.
	if r := w.API.Requests()[2]; r.Has("REWRITTEN") || !r.Has("original") {
		t.Error("the main model sees the rewritten prompt")
	}
	if in := gjson.GetBytes(w.CallsOf("post-tool-use")[0].Stdin, "tool_input.prompt").String(); in != "REWRITTEN" {
		t.Errorf("PostToolUse has prompt %q", in)
	}
	if in := gjson.GetBytes(w.CallsOf("post-tool-batch")[0].Stdin, "tool_calls.0.tool_input.prompt").String(); in != "original" {
		t.Errorf("PostToolBatch has prompt %q", in)
	}
}

func TestHostReplacesAnAgentsReport(t *testing.T) {
	t.Parallel()
	p := &Play{
		Main:   []Step{call(mockapi.Foreground("overtone:code-reviewer", "r"), mockapi.Foreground("overtone:tester", "t"))},
		Agents: map[string][]Step{"code-reviewer": {say("SECRET-REPORT")}, "tester": {say("SECRET-REPORT")}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	w.Answer("post-tool-use", specific("PostToolUse", map[string]any{"updatedToolOutput": "ONE-LINE", "additionalContext": "ROUTE"}))
	w.Answer("post-tool-batch", specific("PostToolBatch", map[string]any{"additionalContext": "JOIN"}))
	w.Prompt("go")
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Main && r.Has("SECRET-REPORT") {
			t.Errorf("request %d has the report", r.Seq)
		}
	}
	last := w.API.Requests()[3]
	if last.Count("ONE-LINE") != 2 || last.Count("PostToolUse:Agent hook additional context: ROUTE") != 2 || last.Count("PostToolBatch hook additional context: JOIN") != 1 {
		t.Errorf("main got %s", last.Last())
	}
}

func TestHostStopBlock(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Recorder, (&Play{Main: []Step{say("FIRST"), say("SECOND")}}).Handle)
	w.Answer("stop.1", map[string]any{"decision": "block", "reason": "KEEP-GOING"})
	if r := w.Prompt("go").Result(); r.Text != "SECOND" {
		t.Errorf("result %+v", r)
	}
	if last := w.API.Requests()[1].Last(); !strings.HasSuffix(last, "Stop hook feedback:\nKEEP-GOING") {
		t.Errorf("main got %q", last)
	}
	stops := w.CallsOf("stop")
	if len(stops) != 2 || stops[0].Input.StopHookActive || !stops[1].Input.StopHookActive {
		t.Errorf("stops: %v", names(stops))
	}
}

func TestHostSubagentStopBlock(t *testing.T) {
	t.Parallel()
	p := &Play{
		Main:   []Step{call(mockapi.Foreground("overtone:tester", "t"))},
		Agents: map[string][]Step{"tester": {say("SUB-ONE"), say("SUB-TWO")}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	w.Answer("subagent-stop.1", map[string]any{"decision": "block", "reason": "ADD-MARKER"})
	w.Prompt("go")
	stops := w.CallsOf("subagent-stop")
	if len(stops) != 2 || stops[0].Input.AgentID != stops[1].Input.AgentID || !stops[1].Input.StopHookActive {
		t.Errorf("stops: %v", names(stops))
	}
	if n := len(w.CallsOf("post-tool-use")); n != 1 {
		t.Errorf("%d PostToolUse", n)
	}
	reqs := w.API.Requests()
	if got := reqs[2].Last(); !strings.HasSuffix(got, "Stop hook feedback:\nADD-MARKER") {
		t.Errorf("sub-agent got %q", got)
	}
	if reqs[3].Has("SUB-ONE") || !reqs[3].Has("SUB-TWO") {
		t.Errorf("main got %s", reqs[3].Last())
	}
}

// A process that the host need not wait for: the next request goes out while it
// still runs. What PreToolUse says reaches the model.
func TestHostDoesNotWaitAside(t *testing.T) { t.Parallel(); onEach(t, testHostDoesNotWaitAside) }

func testHostDoesNotWaitAside(t *testing.T, v Version) {
	dir := t.TempDir()
	began, go1, ended := filepath.Join(dir, "began"), filepath.Join(dir, "go"), filepath.Join(dir, "ended")
	script := filepath.Join(dir, "hook.sh")
	text := fmt.Sprintf("cat >/dev/null; : >'%s'; while [ ! -e '%s' ]; do sleep 0.05; done; : >'%s'\n", began, go1, ended)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	await := func(path string) bool {
		for end := time.Now().Add(turnLimit / 2); !exists(path) && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		return exists(path)
	}
	p := &Play{Main: []Step{
		call(bash("echo one")),
		func(r *mockapi.Request) mockapi.Reply {
			if !await(began) || exists(ended) {
				t.Errorf("the host has waited: began %v, ended %v", exists(began), exists(ended))
			}
			if r.Count("BEFORE-THE-TOOL") != 1 {
				t.Errorf("the model reads PreToolUse's words %d times", r.Count("BEFORE-THE-TOOL"))
			}
			if err := os.WriteFile(go1, nil, 0o600); err != nil {
				t.Error(err)
			}
			await(ended)
			return mockapi.Text("DONE")
		},
	}}
	w := NewWorld(t, Recorder, p.Handle, v)
	w.Answer("pre-tool-use", specific("PreToolUse", map[string]any{"additionalContext": "BEFORE-THE-TOOL"}))
	w.Plugin = costPlugin(t, `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"overtone-hook","args":["pre-tool-use","--host","claude-code"],"timeout":10}]}],`+
		`"PostToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sh","args":["`+script+`"],"timeout":60,"async":true}]}]}`)
	if r := w.Prompt("go").Result(); r.Text != "DONE" {
		t.Errorf("result %+v", r)
	}
}

func TestHostDeny(t *testing.T) {
	t.Parallel()
	p := &Play{Main: []Step{call(tool("Write", map[string]any{"file_path": "a.txt", "content": "x"}))}}
	w := NewWorld(t, Recorder, p.Handle)
	w.Answer("pre-tool-use", specific("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": "DENIED"}))
	w.Prompt("go")
	pre := w.CallsOf("pre-tool-use")[0]
	if got, want := gjson.GetBytes(pre.Stdin, "tool_input.file_path").String(), filepath.Join(w.Project, "a.txt"); got != want {
		t.Errorf("file_path %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(w.Project, "a.txt")); !os.IsNotExist(err) {
		t.Errorf("the file was written: %v", err)
	}
	if got := w.API.Requests()[1].Results()[0].Text; !strings.HasPrefix(got, "DENIED") {
		t.Errorf("tool result %q", got)
	}
	if len(w.CallsOf("post-tool-use"))+len(w.CallsOf("post-tool-use-failure")) != 0 || len(w.CallsOf("post-tool-batch")) != 1 {
		t.Errorf("calls %v", names(w.Calls()))
	}
}

// A sub-agent cannot write into the configuration folder, whatever the rules
// say; it cannot read there without a rule.
func TestHostGuardsItsFolder(t *testing.T) {
	t.Parallel()
	const name = "pipeline-context-abc-REVIEW.md"
	p := &Play{
		Main: []Step{call(mockapi.Foreground("overtone:tester", "t"))},
		Agents: map[string][]Step{"tester": {
			call(tool("Write", map[string]any{"file_path": "~/.claude/" + name, "content": "REPORT"})),
			call(bash("echo REPORT > ~/.claude/" + name)),
			call(tool("Read", map[string]any{"file_path": "~/.claude/settings.json"})),
			say("SUB"),
		}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	w.Settings(map[string]any{"permissions": map[string]any{"allow": []string{"Write", "Edit", "Bash", "Edit(~/.claude/**)"}}})
	w.Answer("pre-tool-use.2", specific("PreToolUse", map[string]any{"permissionDecision": "allow"}))
	w.Prompt("go")
	if _, err := os.Stat(filepath.Join(w.Config, name)); !os.IsNotExist(err) {
		t.Errorf("the agent wrote the file: %v", err)
	}
	var results []string
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Subagent && len(r.Messages) > 1 {
			results = append(results, firstLine(r.Results()[0].Text))
		}
	}
	for i, want := range []string{"sensitive file", "sensitive file", "requested permissions to read"} {
		if i >= len(results) || !strings.Contains(results[i], want) {
			t.Errorf("result %d: %q", i, results)
		}
	}
}

func TestHostBackgroundAgent(t *testing.T) {
	t.Parallel()
	first, second := make(chan struct{}), make(chan struct{})
	p := &Play{
		Main: []Step{
			call(mockapi.Background("overtone:developer", "work")),
			say("WAITING"),
			func(r *mockapi.Request) mockapi.Reply {
				return mockapi.Call("SendMessage", map[string]any{"to": agentID(r), "message": "again", "summary": "once more"})
			},
			say("WAITING"),
		},
		Agents: map[string][]Step{"developer": {say("FIRST").until(first), say("SECOND").until(second)}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	s := w.Start()
	s.Ask("go")
	close(first)
	s.Result() // the notification's turn: SendMessage, WAITING
	close(second)
	s.Result() // the second notification's
	s.Close()

	calls := w.Calls()
	got := slices.DeleteFunc(names(calls), func(s string) bool {
		return !strings.Contains(s, "developer") && !strings.Contains(s, "Agent") && !strings.Contains(s, "SendMessage") &&
			!strings.HasPrefix(s, "user-prompt") && s != "stop"
	})
	want := []string{
		"user-prompt-submit", "pre-tool-use Agent", "subagent-start [overtone:developer]", "post-tool-use Agent", "stop",
		"subagent-stop [overtone:developer]", "user-prompt-submit",
		"post-tool-use SendMessage", "subagent-start [overtone:developer]",
	}
	if len(got) < len(want) {
		t.Fatalf("calls %v", got)
	}
	// The agent's start and the end of the call that launched it overlap.
	if got[2] == want[3] {
		got[2], got[3] = got[3], got[2]
	}
	if got[7] == want[8] {
		got[7], got[8] = got[8], got[7]
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	stop := w.CallsOf("stop")[0]
	id := w.CallsOf("subagent-start")[0].Input.AgentID
	if got := gjson.GetBytes(stop.Stdin, "background_tasks.0.id").String(); got != id {
		t.Errorf("Stop knows background task %q, want %q", got, id)
	}
	post := w.CallsOf("post-tool-use")
	if got := gjson.GetBytes(post[0].Stdin, "tool_response.status").String(); got != "async_launched" {
		t.Errorf("status %q", got)
	}
	if got := gjson.GetBytes(post[1].Stdin, "tool_response.resumedAgentId").String(); got != id {
		t.Errorf("resumed %q, want %q", got, id)
	}
	var notes []string
	for _, c := range w.CallsOf("user-prompt-submit")[1:] {
		if !strings.HasPrefix(c.Input.Prompt, "<task-notification>\n<task-id>"+id+"</task-id>") {
			t.Errorf("prompt %q", c.Input.Prompt)
		}
		notes = append(notes, c.Input.Prompt)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "<result>FIRST</result>") || !strings.Contains(notes[1], "<result>SECOND</result>") {
		t.Errorf("notifications %q", notes)
	}
}

func TestHostDeadAgents(t *testing.T) {
	t.Parallel()
	t.Run("background agent with an API error", func(t *testing.T) {
		p := &Play{
			Main:   []Step{call(mockapi.Background("overtone:developer", "work")), say("WAITING")},
			Agents: map[string][]Step{"developer": {fail(500, "mock crash")}},
		}
		w := NewWorld(t, Recorder, p.Handle)
		w.Prompt("go")
		if len(w.CallsOf("subagent-stop")) != 0 {
			t.Error("it has a SubagentStop")
		}
		f := w.CallsOf("stop-failure")
		if len(f) != 1 || f[0].Input.AgentID == "" || f[0].Input.Error != "server_error" {
			t.Errorf("StopFailure: %+v", f)
		}
	})
	t.Run("background agent that is stopped", func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		p := &Play{
			Main: []Step{
				call(mockapi.Background("overtone:developer", "work")),
				func(r *mockapi.Request) mockapi.Reply {
					return mockapi.Call("SendMessage", map[string]any{"to": agentID(r), "message": "hurry", "summary": "hurry"})
				},
				func(r *mockapi.Request) mockapi.Reply {
					return mockapi.Call("TaskStop", map[string]any{"task_id": agentID(r)})
				},
			},
			Agents: map[string][]Step{"developer": {say("NEVER").until(hold)}},
		}
		w := NewWorld(t, Recorder, p.Handle)
		w.Prompt("go")
		if n := len(w.CallsOf("subagent-stop")) + len(w.CallsOf("stop-failure")); n != 0 {
			t.Errorf("calls %v", names(w.Calls()))
		}
		post := w.CallsOf("post-tool-use")
		if got := gjson.GetBytes(post[1].Stdin, "tool_response").String(); strings.Contains(got, "resumedAgentId") || !strings.Contains(got, "queued") {
			t.Errorf("message to a running agent: %s", got)
		}
		id := w.CallsOf("subagent-start")[0].Input.AgentID
		if got := gjson.GetBytes(post[2].Stdin, "tool_input.task_id").String(); post[2].Input.ToolName != "TaskStop" || got != id {
			t.Errorf("TaskStop: %s", post[2].Stdin)
		}
	})
	t.Run("foreground agent and the user interrupts", func(t *testing.T) {
		work := newHeld(t)
		p := &Play{
			Main:   []Step{call(mockapi.Foreground("overtone:developer", "work"))},
			Agents: map[string][]Step{"developer": {func(*mockapi.Request) mockapi.Reply { return mockapi.Text("NEVER").Until(work.at()) }}},
		}
		w := NewWorld(t, Recorder, p.Handle)
		s := w.Start()
		s.Send("go")
		receive(t, "started", work.reached)
		s.Control(map[string]any{"subtype": "interrupt"})
		s.Result()
		s.Ask("next")
		s.Close()
		want := []string{
			"session-start startup", "user-prompt-submit", "pre-tool-use Agent", "subagent-start [overtone:developer]",
			"user-prompt-submit", "stop", "session-end",
		}
		if diff := cmp.Diff(want, names(w.Calls())); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// A message sent while a turn runs reaches the model in that turn. The floor tells no
// UserPromptSubmit of it, newer versions do: the event does not mean that the main agent
// was idle.
func TestHostQueuedMessage(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		work := newHeld(t)
		p := &Play{
			Main:   []Step{call(mockapi.Foreground("overtone:developer", "work"))},
			Agents: map[string][]Step{"developer": {func(*mockapi.Request) mockapi.Reply { return mockapi.Text("SUB").Until(work.at()) }}},
		}
		w := NewWorld(t, Recorder, p.Handle, v)
		s := w.Start()
		s.Send("go")
		receive(t, "started", work.reached)
		s.Send("and this too")
		s.Control(map[string]any{"subtype": "get_context_usage"}) // answered after the message was read
		work.letGo()
		s.Result()
		s.Close()
		want := 2
		if v.floor() {
			want = 1
		}
		if n := len(w.CallsOf("user-prompt-submit")); n != want {
			t.Errorf("%d prompts, want %d", n, want)
		}
		if reqs := w.API.Requests(); !reqs[len(reqs)-1].Has("and this too") {
			t.Error("the message did not reach the model")
		}
	})
}

// A program that is gone breaks nothing: the host says so on its stderr alone.
func TestHostWithoutBinary(t *testing.T) {
	t.Parallel()
	p := &Play{Main: []Step{call(bash("echo hi"))}}
	w := NewWorld(t, Recorder, p.Handle)
	w.Setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
	w.bin = filepath.Join(t.TempDir(), "gone")
	w.Plugin = w.writePlugin(t.TempDir())
	st := w.Prompt("go")
	if r := st.Result(); r.Text != "DONE" || r.IsError {
		t.Errorf("result %+v", r)
	}
	for _, r := range w.API.Requests() {
		// Of the tools that could not be connected the host tells by itself.
		if (r.Has("not found in") || r.Has("no such file")) && !r.Has("MCP servers are configured but failed to connect") {
			t.Errorf("the model reads of the missing binary: %s", r.Last())
		}
	}
	if !strings.Contains(st.Stderr, "no such file or directory") {
		t.Errorf("stderr: %s", st.Stderr)
	}
}

// agentID finds the id the host told the main model.
func agentID(r *mockapi.Request) string {
	for _, m := range r.Messages {
		if _, rest, ok := strings.Cut(m.Text(), "agentId: "); ok {
			return strings.Fields(rest)[0]
		}
	}
	panic(fmt.Sprintf("request %d names no agent", r.Seq))
}

func TestHostCompaction(t *testing.T) {
	t.Parallel()
	packet := specific("SessionStart", map[string]any{"additionalContext": "PACKET-TEXT"})
	after := func(w *World) []*mockapi.Request {
		seq := summaries(w)[0].Seq
		return slices.DeleteFunc(mains(w), func(r *mockapi.Request) bool { return r.Seq < seq })
	}
	t.Run("manual", func(t *testing.T) {
		p := &Play{Main: []Step{call(bash("echo one")), say("TURN-ONE")}}
		w := NewWorld(t, Recorder, p.Handle)
		w.Answer("session-start.2", packet)
		w.Answer("pre-compact", "FOR-THE-SUMMARISER")
		s := w.Start()
		s.Ask("one")
		s.Send("/compact")
		s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
		s.Result()
		s.Ask("two")
		s.Ask("three")
		s.Close()
		if n := len(w.CallsOf("user-prompt-submit")); n != 3 {
			t.Errorf("%d prompts: /compact is none", n)
		}
		if !summaries(w)[0].Has("FOR-THE-SUMMARISER") {
			t.Error("what PreCompact prints does not reach the summariser")
		}
		for _, r := range after(w) {
			if r.Count("PACKET-TEXT") != 1 {
				t.Errorf("request %d has the packet %d times", r.Seq, r.Count("PACKET-TEXT"))
			}
		}
	})
	t.Run("automatic, in mid-turn", func(t *testing.T) {
		big := func(b mockapi.Block) Step {
			return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(b).Tokens(80_000) }
		}
		p := &Play{Main: []Step{
			call(bash("echo one")), call(bash("echo two")), big(bash("echo three")), call(bash("echo four")), say("END"),
		}}
		w := NewWorld(t, Recorder, p.Handle)
		w.Settings(map[string]any{"autoCompactWindow": 100_000})
		w.Answer("session-start.2", packet)
		w.Prompt("go")
		got := slices.DeleteFunc(names(w.Calls()), func(name string) bool { return name == "post-tool-use Bash" })
		i := slices.Index(got, "pre-compact")
		if i < 0 || len(got) < i+4 {
			t.Fatalf("calls %v", got)
		}
		want := []string{"post-tool-batch", "pre-compact", "subagent-stop []", "session-start compact", "post-compact"}
		if diff := cmp.Diff(want, got[i-1:i+4]); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if n := len(after(w)); n != 2 {
			t.Errorf("%d requests after the compaction", n)
		}
		for _, r := range after(w) {
			if r.Count("PACKET-TEXT") != 1 || !r.Has("MOCK-SUMMARY") {
				t.Errorf("request %d has the packet %d times", r.Seq, r.Count("PACKET-TEXT"))
			}
		}
	})
	t.Run("automatic, blocked", func(t *testing.T) {
		big := func(b mockapi.Block) Step {
			return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(b).Tokens(80_000) }
		}
		p := &Play{Main: []Step{
			call(bash("echo one")), big(bash("echo two")), big(bash("echo three")), big(bash("echo four")), say("END"),
		}}
		w := NewWorld(t, Recorder, p.Handle)
		w.Settings(map[string]any{"autoCompactWindow": 100_000})
		w.Answer("pre-compact", map[string]any{"decision": "block"})
		if r := w.Prompt("go").Result(); r.Text != "END" {
			t.Errorf("result %+v", r)
		}
		if len(summaries(w)) != 0 || len(w.CallsOf("pre-compact")) != 3 || len(w.CallsOf("post-compact")) != 0 {
			t.Errorf("calls %v", names(w.Calls()))
		}
	})
}
