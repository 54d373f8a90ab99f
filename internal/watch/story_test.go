package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// What the storyteller's agent is asked, does and says.
const (
	storyAsked  = "Port the parser.\nNever push."
	storyLine   = "git commit -m one"
	storyOutput = "[main abcdef0] one\n 1 file changed\n"
	storyFailed = "make lint"
	storySaid   = "All tasks are done."
)

// told is what a thread knows of the story.
type told struct {
	First   string
	Heard   []string
	Count   int
	State   compact.State
	Signals []compact.Boundary
	Plan    []host.Step
	Slice   compact.Slice
}

func tell(t compact.Thread) told {
	var heard []string
	for _, w := range t.Words.Heard {
		heard = append(heard, w.Text)
	}
	return told{t.Words.First.Text, heard, t.Words.Count, t.Situation().State, t.Boundary().List(), t.State.Plan.Steps, t.State.Slice}
}

func storyThread(t *testing.T, home *store.Home, id string) compact.Thread {
	t.Helper()
	s, err := home.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	_, thread, err := session.ReadWatched(s)
	if err != nil {
		t.Fatal(err)
	}
	return thread
}

// storyHooks tells the story by hooks, one call after the other.
func storyHooks(t *testing.T, home *store.Home, name host.Name, id string, calls ...[2]string) {
	t.Helper()
	for _, c := range calls {
		var out, errs bytes.Buffer
		env := map[string]string{"HOME": home.Root(), "OVERTONE_HOME": home.Root()}
		hook.Main([]string{c[0], "--host", string(name)}, hook.Env{
			Stdin: strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":"/nowhere","turn_id":"u1",%s}`, id, c[1])), Stdout: &out, Stderr: &errs, Dir: "/nowhere",
			Getenv: func(key string) string { return env[key] }, Now: time.Now,
		})
		if errs.Len() > 0 {
			t.Errorf("hook %s: %s", c[0], errs.String())
		}
	}
}

func storyClaudeHooks(t *testing.T, home *store.Home, id string) {
	tool := func(name, input, response string) [2]string {
		return [2]string{"post-tool-use", fmt.Sprintf(`"tool_name":%q,"tool_use_id":"x","tool_input":%s,"tool_response":%s`, name, input, response)}
	}
	storyHooks(t, home, host.ClaudeCode, id,
		[2]string{"user-prompt-submit", fmt.Sprintf(`"prompt":%q`, storyAsked)},
		tool("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}`, `{}`),
		tool("Edit", `{"file_path":"a.go"}`, `{}`),
		tool("Bash", fmt.Sprintf(`{"command":%q}`, storyLine), fmt.Sprintf(`{"stdout":%q,"stderr":"","interrupted":false}`, storyOutput)),
		[2]string{"post-tool-use-failure", fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%q},"error":"Exit code 2\nbad"`, storyFailed)},
		[2]string{"post-tool-use-failure", `"tool_name":"Edit","tool_input":{"file_path":"never.go"},"error":"no such file"`},
		tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}`, `{}`),
		[2]string{"stop", fmt.Sprintf(`"last_assistant_message":%q`, storySaid)},
	)
}

func storyCodexHooks(t *testing.T, home *store.Home, id string) {
	tool := func(name, input, response string) [2]string {
		return [2]string{"post-tool-use", fmt.Sprintf(`"tool_name":%q,"tool_use_id":"x","tool_input":%s,"tool_response":%q`, name, input, response)}
	}
	storyHooks(t, home, host.Codex, id,
		[2]string{"user-prompt-submit", fmt.Sprintf(`"prompt":%q`, storyAsked)},
		tool("update_plan", `{"plan":[{"step":"a","status":"in_progress"},{"step":"b","status":"pending"}]}`, "Plan updated"),
		tool("apply_patch", `{}`, "Success. Updated the following files:\nM a.go\n"),
		tool("Bash", fmt.Sprintf(`{"command":%q}`, storyLine), storyOutput),
		tool("update_plan", `{"plan":[{"step":"a","status":"completed"},{"step":"b","status":"in_progress"}]}`, "Plan updated"),
		[2]string{"stop", fmt.Sprintf(`"last_assistant_message":%q`, storySaid)},
	)
}

func storyOptions(home *store.Home) Options {
	return Options{
		Home: home, Settings: func() compact.Settings { return config.Defaults().Compact }, Lang: message.EN, Words: message.EN,
		Waits: DefaultWaits(), Now: time.Now, Report: func(Report) {},
	}
}

func storyItems(t *testing.T, home *store.Home, id string) {
	w := &Codex{Options: storyOptions(home), threads: map[string]*thread{}, ignored: map[string]bool{}}
	w.client = newClient(t.Context(), &deaf{})
	defer w.client.Close()
	th := &thread{info: wireThread{ID: id}}
	w.threads[id] = th
	w.subscribedTo(th, wireThread{ID: id, Cwd: "/nowhere"})
	say := func(method, params string) {
		w.handle(Inbound{Method: method, Params: json.RawMessage(fmt.Sprintf(`{"threadId":%q,"turnId":"u1",%s}`, id, params))})
	}
	item := func(n int, fields string) { say("item/completed", fmt.Sprintf(`"item":{"id":"i%d",%s}`, n, fields)) }
	plan := func(a, b string) {
		say("turn/plan/updated", fmt.Sprintf(`"plan":[{"step":"a","status":%q},{"step":"b","status":%q}]`, a, b))
	}
	say("turn/started", `"turn":{"id":"u1","status":"inProgress"}`)
	item(1, fmt.Sprintf(`"type":"userMessage","content":[{"type":"text","text":%q}]`, storyAsked))
	plan("inProgress", "pending")
	item(2, `"type":"fileChange","status":"completed","changes":[{"path":"a.go"}]`)
	item(3, fmt.Sprintf(`"type":"commandExecution","command":%q,"cwd":"/nowhere","status":"completed","aggregatedOutput":%q,"exitCode":0`, storyLine, storyOutput))
	item(4, fmt.Sprintf(`"type":"commandExecution","command":%q,"cwd":"/nowhere","status":"failed","aggregatedOutput":"Exit code 2\nbad","exitCode":2`, storyFailed))
	item(5, `"type":"fileChange","status":"failed","changes":[{"path":"never.go"}]`)
	plan("completed", "inProgress")
	item(6, fmt.Sprintf(`"type":"agentMessage","text":%q`, storySaid))
	say("turn/completed", `"turn":{"id":"u1","status":"completed"}`)
}

func storyStream(t *testing.T, home *store.Home, id string) {
	w := &Claude{Options: storyOptions(home), turn: claudeTurn{prompt: storyAsked}}
	line := func(format string, args ...any) { w.line(fmt.Appendf(nil, format, args...)) }
	n := 0
	use := func(name, input, result string, failed bool) {
		n++
		line(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]}}`, n, name, input)
		line(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%q,"is_error":%v}]},"tool_use_result":{}}`, n, result, failed)
	}
	line(`{"type":"system","subtype":"init","session_id":%q,"cwd":"/nowhere","model":"m"}`, id)
	use("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}`, "ok", false)
	use("Edit", `{"file_path":"a.go"}`, "ok", false)
	use("Bash", fmt.Sprintf(`{"command":%q}`, storyLine), storyOutput, false)
	use("Bash", fmt.Sprintf(`{"command":%q}`, storyFailed), "Exit code 2\nbad", true)
	use("Edit", `{"file_path":"never.go"}`, "no such file", true)
	use("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}`, "ok", false)
	line(`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`, storySaid)
	line(`{"type":"result","result":%q}`, storySaid)
	w.sess.turnEnded(false)
}

// Whoever tells the story of a turn, and however many do, the thread is the same.
func TestOneStoryOneThread(t *testing.T) {
	t.Parallel()
	want := told{
		First: "Port the parser. Never push.", Heard: []string{"Port the parser. Never push."}, Count: 1, State: compact.StateTurnOver,
		Signals: []compact.Boundary{compact.Commit, compact.PlanCheckpoint, compact.PlanUpdate, compact.AgentDone},
		Plan:    []host.Step{{Text: "a", Status: host.Completed}, {Text: "b", Status: host.InProgress}},
		Slice: compact.Slice{
			Commits: []shellcmd.Made{{Hash: "abcdef0", Subject: "one"}}, Files: []string{"a.go"}, Steps: []string{"a"},
			Failures: []compact.Failure{{Line: storyFailed, Output: "Exit code 2 bad"}}, Last: storySaid,
		},
	}
	type teller func(*testing.T, *store.Home, string)
	for name, tellers := range map[string][]teller{
		"hooks of Claude Code":   {storyClaudeHooks},
		"hooks of Codex":         {storyCodexHooks},
		"items of an app-server": {storyItems},
		"stream of Claude Code":  {storyStream},
		"hooks, then items":      {storyCodexHooks, storyItems},
		"items, then hooks":      {storyItems, storyCodexHooks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := testHome(t)
			for _, f := range tellers {
				f(t, home, "s1")
			}
			want := want
			if name == "hooks of Codex" {
				want.Slice.Failures = nil // they tell no exit status
			}
			if diff := cmp.Diff(want, tell(storyThread(t, home, "s1"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A compaction that hooks and watcher both see is one.
func TestOneCompactionCountsOnce(t *testing.T) {
	t.Parallel()
	home := testHome(t)
	storyItems(t, home, "s1")
	storyHooks(t, home, host.Codex, "s1",
		[2]string{"pre-compact", `"trigger":"manual"`}, [2]string{"session-start", `"source":"compact"`}, [2]string{"post-compact", `"trigger":"manual"`})
	w := &Codex{Options: storyOptions(home), threads: map[string]*thread{}, ignored: map[string]bool{}}
	w.client = newClient(t.Context(), &deaf{})
	defer w.client.Close()
	th := &thread{info: wireThread{ID: "s1"}}
	w.threads["s1"] = th
	w.subscribedTo(th, wireThread{ID: "s1", Cwd: "/nowhere"})
	w.item(th, "u1", host.CodexItem{ID: "c", Type: host.CodexCompaction}, false)
	if got := storyThread(t, home, "s1"); len(got.History) != 1 || got.Compaction != "u1" || len(got.State.Slice.Files) > 0 {
		t.Errorf("%+v, %q", got.History, got.Compaction)
	}
}
