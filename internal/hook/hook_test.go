package hook

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// place is a home and a project that nobody else uses.
type place struct {
	t     *testing.T
	dir   string
	now   time.Time
	hosts []*host.Host
	env   map[string]string
	awake func() time.Duration
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	for _, dir := range []string{"project", ".overtone", ".claude"} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write(".overtone/config.yaml", "language: en\n")
	return p
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// call runs a hook; in is the input's fields beside session and folder.
func (p *place) call(event, name, in string) (stdout, stderr string) {
	p.t.Helper()
	fields := `"session_id":"s1","cwd":` + string(mustJSON(p.t, filepath.Join(p.dir, "project")))
	if in != "" {
		fields += "," + strings.ReplaceAll(in, "$DIR", p.dir)
	}
	return p.raw(event, name, "{"+fields+"}")
}

func (p *place) raw(event, name, stdin string) (stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	args := []string{event}
	if name != "" {
		args = append(args, "--host", name)
	}
	env := map[string]string{"HOME": p.dir}
	maps.Copy(env, p.env)
	code := Main(args, Env{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: filepath.Join(p.dir, "project"),
		Getenv: func(key string) string { return env[key] }, Now: func() time.Time { return p.now }, Version: "test", Hosts: p.hosts, Awake: p.awake,
	})
	if code != 0 {
		p.t.Errorf("hook %s exits with %d", event, code)
	}
	p.now = p.now.Add(time.Second)
	return out.String(), errs.String()
}

func (p *place) session() *store.Session { return p.sessionOf("s1") }

func (p *place) sessionOf(id string) *store.Session {
	p.t.Helper()
	s, err := store.New(filepath.Join(p.dir, ".overtone"), filepath.Join(p.dir, ".claude"), time.Now).Session(id)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *place) memory() session.Memory {
	p.t.Helper()
	m := session.Read(p.session())
	return m
}

func (p *place) workflow() *workflow.State {
	p.t.Helper()
	s, err := session.Peek(p.session())
	if err != nil || s == nil {
		p.t.Fatalf("workflow: %v, %v", s, err)
	}
	return s
}

func mustJSON(t *testing.T, s string) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// A workflow that could not be written down is not said to run, and not passed over
// in silence either.
func TestWorkflowThatIsNotStartedIsTold(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{"a state that nobody can read": ".overtone/sessions/s1/workflow.json", "no place for sessions": ".overtone/sessions"} {
		p := newPlace(t)
		p.write(damage, "{broken")
		for _, h := range []string{"claude-code", "codex"} {
			out, errs := p.call("user-prompt-submit", h, start)
			if !strings.Contains(out, `"systemMessage":"⚠️ Workflow quick was not started: `) || !strings.Contains(out, `"additionalContext":"⚠️ Workflow quick was not started: `) || errs == "" {
				t.Errorf("%s, %s: %s%s", name, h, out, errs)
			}
			if out, _ := p.call("user-prompt-submit", h, `"prompt":"go on"`); out != "" {
				t.Errorf("%s, %s: %s", name, h, out)
			}
		}
	}
}

// step is one call of a story: what it must say (nothing at all where nothing is
// listed), and what is then true.
type step struct {
	event, in string
	says      []string
	never     string
	then      func(t *testing.T, p *place)
}

const (
	start    = `"prompt":"[workflow:quick] speed up the parser"`
	hireDev  = `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer","prompt":"make it fast"}`
	devBegun = `"agent_id":"a1","agent_type":"overtone:developer"`
	devDone  = devBegun + `,"last_assistant_message":"done <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->"`
	hireRev  = `"tool_name":"Agent","tool_use_id":"t2","tool_input":{"subagent_type":"overtone:code-reviewer","prompt":"look at it"}`
)

func stage(key string, want string) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		t.Helper()
		if st, _ := p.workflow().Stages.Get(key); st.Status != want {
			t.Errorf("stage %s is %s, want %s", key, st.Status, want)
		}
	}
}

func files(want ...string) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		t.Helper()
		if got := p.memory().Thread.State.Slice.Files; !slices.Equal(got, want) {
			t.Errorf("files: %q, want %q", got, want)
		}
	}
}

func happened(event string, times int) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		t.Helper()
		list, _, err := p.session().Last(100, store.Filter{Types: []string{event}})
		if err != nil || len(list) != times {
			t.Errorf("%d times %s (%v), want %d", len(list), event, err, times)
		}
	}
}

// TestHooks tells, for each host, stories in which each of its hooks is called.
func TestHooks(t *testing.T) {
	t.Parallel()
	claude, codex := string(host.ClaudeCode), string(host.Codex)
	stories := []struct {
		name, host string
		steps      []step
	}{
		{"a session without work says nothing", claude, []step{
			{event: "session-start", in: `"source":"startup"`, then: happened(message.EventSessionStart, 1)},
			{event: "stop"},
			{event: "post-tool-batch"},
			{event: "session-end", in: `"reason":"exit"`, then: happened(message.EventSessionEnd, 0)},
		}},
		{"a stage is handed over, done, and told on once", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{`"hookEventName":"UserPromptSubmit"`, `"additionalContext"`, "DEV"}},
			{event: "pre-tool-use", in: `"tool_name":"Edit","tool_input":{"file_path":"a.go"}`, says: []string{`"permissionDecision":"deny"`}},
			{event: "pre-tool-use", in: `"tool_name":"Bash","tool_input":{"command":"git status"}`},
			{event: "pre-tool-use", in: hireDev, says: []string{`"updatedInput"`, "make it fast", "NODE_CONTEXT"}, never: `"allow"`, then: stage("DEV", workflow.Active)},
			{event: "subagent-start", in: devBegun},
			{event: "subagent-stop", in: devDone, then: stage("DEV", workflow.Completed)},
			{event: "subagent-stop", in: devDone, then: happened(message.EventStageComplete, 1)},
			{event: "post-tool-use", in: hireDev + `,"tool_response":{"agentId":"a1","content":[{"type":"text","text":"done"}]}`, says: []string{`"additionalContext"`, "REVIEW"}},
			{event: "post-tool-batch"},
			{event: "stop", says: []string{`"decision":"block"`}},
			{event: "session-end", then: happened(message.EventSessionEnd, 1)},
		}},
		{"a quality agent is asked for its verdict once", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{"DEV"}},
			{event: "pre-tool-use", in: hireDev, says: []string{"updatedInput"}},
			{event: "subagent-stop", in: devDone},
			{event: "pre-tool-use", in: hireRev, says: []string{"updatedInput"}},
			{event: "subagent-start", in: `"agent_id":"a2","agent_type":"overtone:code-reviewer"`},
			{event: "subagent-stop", in: `"agent_id":"a2","agent_type":"overtone:code-reviewer","last_assistant_message":"fine"`, says: []string{`"decision":"block"`, "PIPELINE_ROUTE"}},
		}},
		{"an agent dies of an error", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{"DEV"}},
			{event: "pre-tool-use", in: hireDev, says: []string{"updatedInput"}},
			{event: "subagent-start", in: devBegun},
			{event: "stop-failure", in: devBegun, then: stage("DEV", workflow.Pending)},
		}},
		{"the Agent tool is refused", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{"DEV"}},
			{event: "pre-tool-use", in: hireDev, says: []string{"updatedInput"}, then: stage("DEV", workflow.Active)},
			{event: "post-tool-use-failure", in: hireDev + `,"error":"denied"`, then: stage("DEV", workflow.Pending)},
		}},
		{"what tools did is remembered", claude, []step{
			{event: "post-tool-use", in: `"tool_name":"Write","tool_input":{"file_path":"a.go","content":"x"}`, then: files("a.go")},
			{event: "post-tool-use", in: `"tool_name":"NotebookEdit","tool_input":{"notebook_path":"b.ipynb"}`, then: files("a.go", "b.ipynb")},
			{event: "post-tool-use-failure", in: `"tool_name":"Bash","tool_input":{"command":"go test"},"error":"Exit code 2\nFAIL"`, then: func(t *testing.T, p *place) {
				if f := p.memory().Thread.State.Slice.Failures; len(f) != 1 || f[0].Line != "go test" {
					t.Errorf("failures: %v", f)
				}
			}},
			{event: "post-tool-use", in: `"tool_name":"Bash","tool_input":{"command":"go test"},"tool_response":{"stdout":"ok"}`, then: func(t *testing.T, p *place) {
				if f := p.memory().Thread.State.Slice.Failures; len(f) != 0 {
					t.Errorf("failures: %v", f)
				}
			}},
		}},
		{"a task is deleted and renamed at once", claude, []step{
			{event: "post-tool-use", in: `"tool_name":"TaskCreate","tool_input":{"subject":"one"},"tool_response":{"task":{"id":"1"}}`},
			{event: "post-tool-use", in: `"tool_name":"TaskCreate","tool_input":{"subject":"two"},"tool_response":{"task":{"id":"2"}}`},
			{event: "post-tool-use", in: `"tool_name":"TaskUpdate","tool_input":{"taskId":"2","status":"deleted","subject":"gone"}`, then: func(t *testing.T, p *place) {
				if steps := p.memory().Thread.State.Plan.Steps; len(steps) != 1 || steps[0].Text != "one" {
					t.Errorf("plan: %v", steps)
				}
			}},
		}},
		{"a compaction is survived, once", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{"DEV"}},
			{event: "pre-compact", in: `"trigger":"manual"`, then: happened(message.EventPacketCreated, 1)},
			{event: "session-start", in: `"source":"compact"`, says: []string{`"additionalContext"`, "speed up the parser"}},
			{event: "session-start", in: `"source":"compact"`},
			{event: "post-compact", then: happened(message.EventSessionCompactConfirm, 1)},
			{event: "user-prompt-submit", in: `"prompt":"go on"`, says: []string{"quick"}, never: "speed up", then: happened(message.EventPacketDelivered, 1)},
		}},
		{"a compaction that nothing confirms has failed", claude, []step{
			{event: "user-prompt-submit", in: start, says: []string{"DEV"}},
			{event: "pre-compact", in: `"trigger":"manual"`},
			{event: "user-prompt-submit", in: `"prompt":"go on"`, says: []string{"quick"}, then: happened(message.EventSessionCompactFailed, 1)},
		}},
		{"a sub-agent's compaction is not the main thread's", claude, []step{
			{event: "user-prompt-submit", in: `"prompt":"go"`},
			{event: "post-tool-batch", in: `"agent_id":"a9"`},
			{event: "pre-compact", in: `"trigger":"auto"`, then: happened(message.EventPacketCreated, 0)},
			{event: "session-start", in: `"source":"compact"`},
			{event: "post-compact", then: func(t *testing.T, p *place) {
				if m := p.memory(); m.Compaction != nil || m.Compactions != 0 {
					t.Errorf("counted: %+v", m.Compaction)
				}
			}},
		}},
		{"Codex tells a plan, a patch and a command", codex, []step{
			{event: "user-prompt-submit", in: `"prompt":"add a flag"`},
			{event: "post-tool-use", in: `"tool_name":"update_plan","tool_input":{"plan":[{"step":"one","status":"in_progress"}]}`},
			{event: "post-tool-use", in: `"tool_name":"apply_patch","tool_response":"Success. Updated the following files:\nM a.go\nA b.go\n"`, then: files("a.go", "b.go")},
			{event: "post-tool-use", in: `"tool_name":"Bash","tool_input":{"command":"false"},"tool_response":{"stdout":"no"}`, then: func(t *testing.T, p *place) {
				// Codex does not say how a command ended.
				if f := p.memory().Thread.State.Slice.Failures; len(f) != 0 {
					t.Errorf("failures: %v", f)
				}
			}},
			{event: "stop", in: `"last_assistant_message":"there"`},
			{event: "pre-compact", in: `"trigger":"auto"`, then: happened(message.EventPacketCreated, 1)},
			{event: "post-compact", then: happened(message.EventSessionCompactConfirm, 1)},
			{event: "session-start", in: `"source":"compact"`, says: []string{`"additionalContext"`, "add a flag", "b.go"}},
		}},
		{"Codex routes: an agent is briefed as it begins, and waited for", codex, []step{
			{event: "user-prompt-submit", in: start, says: []string{"overtone:developer"}},
			{event: "pre-tool-use", in: `"tool_name":"apply_patch","tool_input":{"command":"x"}`, says: []string{`"permissionDecision":"deny"`}},
			{event: "pre-tool-use", in: `"tool_name":"spawn_agent","tool_use_id":"c1","tool_input":{"agent_type":"overtone:developer","message":"build"}`},
			{event: "subagent-start", in: `"agent_id":"a1","agent_type":"overtone:developer"`, says: []string{"NODE_CONTEXT", "DEV"}},
			{event: "stop", says: []string{`"decision":"block"`, "wait_agent", "a1"}},
			{event: "subagent-stop", in: `"agent_id":"a1","agent_type":"overtone:developer","last_assistant_message":"<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->"`},
			{event: "post-tool-use", in: `"tool_name":"multi_agent_v1wait_agent","tool_use_id":"c2"`, says: []string{"close_agent", "a1", "REVIEW"}},
		}},
		{"another host, whose file tells what its hooks do not", "copilot", []step{
			{event: "session-start", in: `"source":"new"`},
			{event: "user-prompt-submit", in: `"prompt":"[workflow:quick] add a flag"`, says: []string{`{"additionalContext":`}, never: "hookSpecificOutput"},
			{event: "post-tool-use", in: `"tool_name":"create","tool_input":{"path":"b.go"}`, then: files("b.go")},
			{event: "post-tool-use", in: `"tool_name":"Bash","tool_input":{"command":"make"},"tool_result":{"text_result_for_llm":"ok\n<shellId: 0 completed with exit code 0>"}`},
			{event: "stop"},
			{event: "pre-compact", in: `"trigger":"auto"`, then: happened(message.EventPacketCreated, 1)},
			{event: "user-prompt-submit", in: `"prompt":"and now?"`, then: happened(message.EventPacketDelivered, 0)},
		}},
		{"a plugin that acts on what it is told", "opencode", []step{
			{event: "session-start", in: `"source":"startup"`},
			{event: "user-prompt-submit", in: start, says: []string{`{"context":`, "overtone:developer"}, never: "hookSpecificOutput"},
			{event: "pre-tool-use", in: `"tool_name":"edit","tool_input":{"filePath":"a.go"}`, says: []string{`{"deny":`}},
			{event: "pre-tool-use", in: `"tool_name":"task","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build"}`, says: []string{`{"prompt":`, "NODE_CONTEXT", "build"}},
			{event: "subagent-start", in: `"agent_id":"ses_2","agent_type":"overtone:developer"`},
			{event: "pre-tool-use", in: `"agent_id":"ses_2","agent_type":"overtone:developer","tool_name":"edit","tool_input":{"filePath":"a.go"}`},
			{event: "post-tool-use", in: `"tool_name":"task","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer"},"tool_response":{"output":"<task_result>\ndone\n<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->\n</task_result>","metadata":{"sessionId":"ses_2"}}`, says: []string{"REVIEW"}, then: stage("DEV", workflow.Completed)},
			{event: "post-tool-use", in: `"tool_name":"write","tool_input":{"filePath":"b.go"},"tool_response":{"output":"ok"}`, then: files("b.go")},
			{event: "post-tool-use", in: `"tool_name":"todowrite","tool_input":{"todos":[{"content":"one","status":"pending"}]},"tool_response":{}`},
			{event: "stop", says: []string{`{"block":`}},
			{event: "pre-compact", in: `"trigger":"auto"`, then: happened(message.EventPacketCreated, 1)},
			{event: "session-start", in: `"source":"compact"`, says: []string{`{"context":`, "speed up the parser"}},
			{event: "post-compact", then: happened(message.EventSessionCompactConfirm, 1)},
		}},
		{"a host that only its file tells of a compaction", "gemini", []step{
			{event: "session-start", in: `"source":"startup","transcript_path":"$DIR/chats/session-1-s1.jsonl"`},
			{event: "user-prompt-submit", in: `"prompt":"[workflow:quick] add a flag","transcript_path":"$DIR/chats/session-1-s1.jsonl"`, says: []string{`"hookEventName":"BeforeAgent"`, `"additionalContext"`, `"systemMessage"`}, then: func(_ *testing.T, p *place) {
				p.write("chats/session-1-s1.jsonl", geminiSession)
				p.write("chats/session-2-s1.jsonl", `{"sessionId":"s1","projectHash":"x","kind":"main"}`+"\n")
			}},
			{event: "post-tool-use", in: `"transcript_path":"$DIR/chats/session-2-s1.jsonl","tool_name":"write_file","tool_input":{"file_path":"b.go"},"tool_response":{"llmContent":"ok"}`, says: []string{`"hookEventName":"AfterTool"`, "overtone-packet", "scanToken"}, then: files("b.go")},
			{event: "post-tool-use", in: `"transcript_path":"$DIR/chats/session-2-s1.jsonl","tool_name":"run_shell_command","tool_input":{"command":"make"},"tool_response":{"llmContent":"Output: no\nExit Code: 2\nProcess Group PGID: 7"}`, then: func(t *testing.T, p *place) {
				if f := p.memory().Thread.State.Slice.Failures; len(f) != 1 || f[0].Line != "make" {
					t.Errorf("failures: %v", f)
				}
			}},
			{event: "stop", in: `"transcript_path":"$DIR/chats/session-2-s1.jsonl","prompt_response":"there"`},
			{event: "user-prompt-submit", in: `"prompt":"go on","transcript_path":"$DIR/chats/session-2-s1.jsonl"`, then: happened(message.EventPacketDelivered, 1)},
		}},
		{"the specifications' output", "", []step{
			{event: "session-start", says: []string{`{"result":""}`}},
			{event: "user-prompt-submit", in: start, says: []string{`"systemMessage"`, `"result":""`}},
			{event: "pre-tool-use", in: `"tool_name":"Write","tool_input":{"file_path":"a.go"}`, says: []string{`"permissionDecision":"deny"`}},
			{event: "pre-tool-use", in: hireDev, says: []string{`{"result":""}`}},
			{event: "subagent-start", in: devBegun, says: []string{`{"result":""}`}},
			{event: "post-tool-use", in: `"tool_name":"apply_patch","tool_response":"Success. Updated the following files:\nM a.go\n"`, says: []string{`{"result":""}`}, then: files("a.go")},
			{event: "subagent-stop", in: devDone, says: []string{`"result":`, `"systemMessage":`, "REVIEW"}, then: func(t *testing.T, p *place) {
				if n := len(p.memory().Outbox); n != 0 {
					t.Errorf("%d texts wait for a host that is not there", n)
				}
			}},
			{event: "post-tool-use-failure", in: `"tool_name":"Read","error":"no such file"`, says: []string{`{"result":""}`}, then: happened(message.EventToolFailure, 1)},
			{event: "post-tool-batch", says: []string{`{"result":""}`}},
			{event: "stop", says: []string{`"decision":"block"`}},
			{event: "stop-failure", says: []string{`{"result":""}`}},
			{event: "pre-compact", says: []string{`"systemMessage"`, "quick"}},
			{event: "post-compact", says: []string{`{"result":""}`}},
			{event: "session-end", says: []string{`{"result":""}`}},
		}},
	}
	called := map[string]bool{}
	for _, st := range stories {
		for _, s := range st.steps {
			called[st.host+" "+s.event] = true
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for i, s := range st.steps {
				stdout, stderr := p.call(s.event, st.host, s.in)
				if stderr != "" {
					t.Errorf("%d %s complains: %s", i, s.event, stderr)
				}
				if len(s.says) == 0 && stdout != "" {
					t.Errorf("%d %s says %s", i, s.event, stdout)
				}
				for _, want := range s.says {
					if !strings.Contains(stdout, want) {
						t.Errorf("%d %s: no %q in %s", i, s.event, want, stdout)
					}
				}
				if s.never != "" && strings.Contains(stdout, s.never) {
					t.Errorf("%d %s: %q in %s", i, s.event, s.never, stdout)
				}
				if s.then != nil {
					s.then(t, p)
				}
			}
		})
	}
	var names []string
	for _, e := range events {
		names = append(names, e.name)
	}
	if d := cmp.Diff(host.Plain().Events, names); d != "" {
		t.Error(d)
	}
	for _, h := range append(host.All(), host.Plain()) {
		for _, event := range h.Events {
			if !called[string(h.Name)+" "+event] {
				t.Errorf("no story in which %q calls %s", h.Name, event)
			}
		}
	}
}

// geminiSession is a session of Gemini CLI in which a compression has taken away what
// was asked.
const geminiSession = `{"sessionId":"s1","projectHash":"x","startTime":"2026-03-01T11:00:00.000Z","lastUpdated":"2026-03-01T11:00:00.000Z","kind":"main"}
{"$set":{"messages":[{"id":"m0","timestamp":"2026-03-01T11:00:00.000Z","type":"user","content":[{"text":"<session_context>x</session_context>"}]}]}}
{"id":"m1","timestamp":"2026-03-01T11:00:01.000Z","type":"user","content":[{"text":"write a lexer with scanToken"}]}
{"id":"m2","timestamp":"2026-03-01T11:00:02.000Z","type":"gemini","content":"I write it.","tokens":{"input":600000,"output":20,"cached":0},"model":"gemini-2.5-pro"}
{"id":"m2","timestamp":"2026-03-01T11:00:02.000Z","type":"gemini","content":"I write it.","tokens":{"input":600000,"output":20,"cached":0},"model":"gemini-2.5-pro","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"lexer.go","content":"x"},"result":[{"functionResponse":{"response":{"output":"ok"}}}],"status":"success"}]}
{"$set":{"messages":[{"id":"m0","timestamp":"2026-03-01T11:00:00.000Z","type":"user","content":[{"text":"<session_context>x</session_context>"}]},{"id":"n1","timestamp":"2026-03-01T12:00:01.000Z","type":"user","content":[{"text":"<state_snapshot>SUMMARY</state_snapshot>"}]},{"id":"n2","timestamp":"2026-03-01T12:00:01.000Z","type":"gemini","content":[{"text":"Got it."}]},{"id":"n3","timestamp":"2026-03-01T12:00:01.000Z","type":"user","content":[{"text":"write a lexer with scanToken"}]}]}}
`

// A command under the user's git aliases is a commit for the hooks, wherever git
// keeps them.
func TestAliasesOfTheUser(t *testing.T) {
	t.Parallel()
	for _, file := range []string{".gitconfig", ".config/git/config"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(file, "[alias]\n\tci = commit\n")
			p.call("user-prompt-submit", "claude-code", `"prompt":"commit it"`)
			p.call("post-tool-use", "claude-code", `"tool_name":"Bash","tool_input":{"command":"git ci -m x"},"tool_response":{"stdout":"[main 1a2b3c4] x\n 1 file changed, 1 insertion(+)\n"}`)
			if seen := p.memory().Thread.Boundary(); !seen.Has(compact.Commit) {
				t.Errorf("signals: %v", seen.List())
			}
		})
	}
}

// What an older version left is read, and a damaged memory is forgotten.
func TestOlderMemory(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"older":   `{"outbox":[{"model":"REVIEW is next","at":"2026-03-01T11:00:00Z"}],"thread":"a1","watch":{"state":{"worked":true,"seen":["commit"],"said":[],"before":[],"plan":{},"slice":{}},"first":"begin","latest":"do it","words":{"latest":{"text":"do it"},"goal":"write the parser","goalAt":1,"heard":[{"text":"do it"}],"count":2}}}`,
		"damaged": `{"outbox":[`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(".overtone/sessions/s1/"+session.MemoryFile, line+"\n")
			stdout, stderr := p.call("post-tool-batch", "claude-code", "")
			if told := strings.Contains(stdout, "REVIEW is next"); told != (name == "older") || stderr != "" {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
			if name == "older" {
				if m := p.memory(); len(m.Threads.Agents) != 0 || len(m.Outbox) != 0 || m.Thread.Words.Newest().Text != "do it" || m.Thread.Words.First.Text != "" || m.Thread.Words.Count != 2 || !m.Thread.Boundary().Has(compact.Commit) {
					t.Errorf("%+v", m)
				}
			}
		})
	}
}

// A command that changes nothing writes nothing.
func TestIdleCommandWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const in = `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"}`
	p.call("user-prompt-submit", "claude-code", `"prompt":"look"`)
	p.call("post-tool-use", "claude-code", in)
	path := filepath.Join(p.dir, ".overtone", "sessions", "s1", session.MemoryFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p.call("post-tool-use", "claude-code", in)
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("written: %d bytes, then %d (%v)", len(before), len(after), err)
	}
}
