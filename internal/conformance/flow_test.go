package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

type flowStep struct {
	Op       string
	Stage    string
	Route    json.RawMessage
	Text     string
	Group    string
	Total    int
	Next     *string
	Siblings []string
	Ms       int64
}

// flowRun plays a whole run through the product's hooks: what the vectors call a
// delegation is a PreToolUse of the Task tool, a completion a SubagentStop with a
// transcript of one entry.
type flowRun struct {
	t     *testing.T
	home  string
	sess  *store.Session
	now   time.Time
	calls int
	last  string // what the last completion told the main thread
}

func newFlowRun(t *testing.T) *flowRun {
	t.Helper()
	f := &flowRun{t: t, home: t.TempDir(), now: time.UnixMilli(1_700_000_000_000)}
	for _, dir := range []string{".claude", ".overtone", "project"} {
		if err := os.Mkdir(filepath.Join(f.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if f.sess, err = store.New(filepath.Join(f.home, ".overtone"), f.claude(), func() time.Time { return f.now }).Session(sid); err != nil {
		t.Fatal(err)
	}
	return f
}

// claude is the folder of 002's files.
func (f *flowRun) claude() string { return filepath.Join(f.home, ".claude") }

// printed is what a hook says.
type printed struct {
	SystemMessage      string
	HookSpecificOutput struct{ PermissionDecision string }
}

// hook is one call of a hook by the specifications' rules, without a host.
func (f *flowRun) hook(event string, in map[string]any) (out printed) {
	f.t.Helper()
	f.now = f.now.Add(time.Second)
	in["session_id"], in["cwd"] = sid, filepath.Join(f.home, "project")
	payload, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	hook.Main([]string{event}, hook.Env{
		Stdin: bytes.NewReader(payload), Stdout: &stdout, Stderr: &stderr, Dir: filepath.Join(f.home, "project"),
		Getenv: func(key string) string { return map[string]string{"HOME": f.home}[key] }, Now: func() time.Time { return f.now }, Version: "test",
	})
	// A barrier's file that nobody can read is the one thing a hook may complain of.
	if text := stderr.String(); text != "" && !strings.Contains(text, "barrier") {
		f.t.Errorf("hook %s: %s", event, text)
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		f.t.Fatalf("hook %s printed %s: %v", event, &stdout, err)
	}
	return out
}

// start begins the workflow with the stages of the vector, whatever the catalogue
// says of its name; no hook and no command does that.
func (f *flowRun) start(ev workflow.Start) {
	f.t.Helper()
	o := session.Options{Rules: rules(), Lang: message.ZH, Now: f.now, Warn: func(err error) { f.t.Error(err) }}
	err := session.Update(f.sess, o, func(tx *session.Tx) error {
		out, err := tx.Apply(ev)
		if err == nil && out.Kind != workflow.Started {
			err = errors.New(out.Reason.In(message.EN))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// state is the session's workflow as the next hook would find it.
func (f *flowRun) state() *workflow.State {
	f.t.Helper()
	s := &workflow.State{}
	o := session.Options{Rules: rules(), Lang: message.ZH, Now: f.now, Warn: func(err error) { f.t.Error(err) }}
	err := session.Update(f.sess, o, func(tx *session.Tx) error {
		if tx.Workflow != nil {
			s = tx.Workflow
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// delegate reports whether the hand-over was allowed.
func (f *flowRun) delegate(stage string) bool {
	f.t.Helper()
	f.calls++
	out := f.hook("pre-tool-use", map[string]any{
		"tool_name": "Task", "tool_use_id": fmt.Sprint("t", f.calls),
		"tool_input": map[string]any{"subagent_type": workflow.AgentOf(stage), "prompt": "do it"},
	})
	return out.HookSpecificOutput.PermissionDecision == ""
}

func (f *flowRun) complete(stage, text string) {
	f.t.Helper()
	line, err := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
	if err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join(f.home, "project", "agent.jsonl")
	if err := os.WriteFile(file, append(line, '\n'), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.last = f.hook("subagent-stop", map[string]any{"agent_type": workflow.AgentOf(stage), "agent_transcript_path": file}).SystemMessage
	instruction, _, _ := strings.Cut(f.last, "<!-- NODE_CONTEXT:")
	if n := workflow.EstimateTokens(instruction); n >= 200 {
		f.t.Errorf("system message of %d tokens: %s", n, instruction)
	}
}

// events is what the timeline holds: types, and beside each hand-over its stage.
func (f *flowRun) events() (types []string) {
	f.t.Helper()
	entries, _, err := f.sess.Last(1<<20, store.Filter{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		types = append(types, e.Type)
		if e.Type == message.EventAgentDelegate {
			types = append(types, "delegate "+e.Text("stage"))
		}
	}
	return types
}

// reflections are the stages of which a reflection memory is on disk.
func (f *flowRun) reflections() (stages []string) {
	for _, k := range f.state().Stages.Keys() {
		if _, err := os.Stat(filepath.Join(f.claude(), store.ReflectionName(sid, k))); err == nil {
			stages = append(stages, k)
		}
	}
	return stages
}

func (f *flowRun) barrierFile() string {
	return filepath.Join(f.claude(), "barrier-state-"+sid+".json")
}

func (f *flowRun) writeBarriers(data []byte) {
	f.t.Helper()
	if err := os.WriteFile(f.barrierFile(), data, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// ageBarrier moves the start of a group into the past; one that is not there yet
// is made.
func (f *flowRun) ageBarrier(st flowStep) {
	f.t.Helper()
	var b workflow.Barriers
	if data, err := os.ReadFile(f.barrierFile()); err == nil {
		if b, err = workflow.ParseBarriers(data); err != nil {
			f.t.Fatal(err)
		}
	}
	g, ok := b.Get(st.Group)
	if !ok {
		next := ""
		if st.Next != nil {
			next = *st.Next
		}
		g = workflow.NewGroup(st.Siblings, next, 0)
	}
	g.StartTime = f.now.UnixMilli() - st.Ms
	b.Set(st.Group, g)
	f.writeBarriers(b.Encode())
}

func runFlow(t *testing.T, c pipelineCase) {
	var in struct {
		Pipeline    string
		Stages      []string
		Environment json.RawMessage
		Steps       []flowStep
	}
	input(t, c, &in)
	f := newFlowRun(t)
	var env workflow.Environment
	if len(in.Environment) > 0 {
		env = fragment(t, json.RawMessage(`{"environment":`+string(in.Environment)+`}`)).Environment
	}
	if in.Pipeline != "none" {
		f.start(workflow.Start{SessionID: sid, WorkflowID: "w1", Type: in.Pipeline, Stages: in.Stages, Environment: env, At: f.now})
	}
	allowed := map[string]bool{}
	silent := map[int]bool{}
	for i, st := range in.Steps {
		if s := f.state(); !s.Active && s.Ended != "" {
			break
		}
		switch st.Op {
		case "delegate":
			allowed[fmt.Sprint(i)] = f.delegate(st.Stage)
		case "complete":
			f.complete(st.Stage, "done\n<!-- PIPELINE_ROUTE: "+string(st.Route)+" -->")
			silent[i] = f.last == ""
		case "complete_text":
			f.complete(st.Stage, st.Text)
			silent[i] = f.last == ""
		case "corrupt_barrier":
			f.writeBarriers([]byte("\x00{not json"))
		case "age_barrier":
			f.ageBarrier(st)
		default:
			t.Fatalf("unknown op %q", st.Op)
		}
	}
	checkFlow(t, c, f, allowed, silent)
}

// ours translates the vectors' event names: one event has one name here, that of
// the older registry where both had it.
func ours(name string) string {
	switch name {
	case "delegation.start":
		return "agent:delegate"
	case "pipeline.start", "task.classified":
		return "workflow:start"
	case "pipeline.complete":
		return "workflow:complete"
	}
	return strings.Replace(name, ".", ":", 1)
}

func checkFlow(t *testing.T, c pipelineCase, f *flowRun, allowed map[string]bool, silent map[int]bool) {
	check := decode(t, c.Check).(map[string]any)
	events := f.events()
	wantAllowed, _ := check["delegate_allowed"].(map[string]any)
	for i, got := range allowed {
		want := true
		if w, ok := wantAllowed[i]; ok {
			want = w == true || w == "allowed"
		}
		if got != want {
			t.Errorf("step %s: delegation allowed = %v, want %v", i, got, want)
		}
	}
	for k, w := range check {
		switch k {
		case "delegate_allowed":
		case "step_silent":
			for _, i := range w.([]any) {
				if s, ran := silent[int(i.(float64))]; !ran || !s {
					t.Errorf("step %v is not silent", i)
				}
			}
		case "warn_message":
			if strings.Contains(f.last, "⚠") != w.(bool) {
				t.Errorf("last message %q, want a warning = %v", f.last, w)
			}
		case "last_message_mentions":
			for _, stage := range w.([]any) {
				if !mentions(f.last, stage.(string)) {
					t.Errorf("last message %q does not mention %v", f.last, stage)
				}
			}
		case "events_include":
			for _, e := range w.([]any) {
				if !slices.Contains(events, ours(e.(string))) {
					t.Errorf("no event %v in %v", e, events)
				}
			}
		case "events_exclude":
			for _, e := range w.([]any) {
				if slices.Contains(events, ours(e.(string))) {
					t.Errorf("event %v in %v", e, events)
				}
			}
		case "max_rollbacks":
			n := 0
			for _, e := range events {
				if e == message.EventStageRetry {
					n++
				}
			}
			if float64(n) > w.(float64) {
				t.Errorf("%d rollbacks, want at most %v", n, w)
			}
		case "barrier_resolved_before":
			at, del := slices.Index(events, message.EventBarrierResolved), slices.Index(events, "delegate "+w.(string))
			if at < 0 || del >= 0 && del < at {
				t.Errorf("barrier:resolved does not come before %v: %v", w, events)
			}
		case "final":
			checkFinal(t, w.(map[string]any), f)
		default:
			t.Errorf("unknown key %q", k)
		}
	}
}

func mentions(text, stage string) bool {
	st, _ := workflow.Lookup(stage)
	return strings.Contains(text, stage) || st.Agent != "" && strings.Contains(text, st.Agent)
}

func checkFinal(t *testing.T, final map[string]any, f *flowRun) {
	s := f.state()
	names := func(l []string) []string { return append([]string{}, slices.Sorted(slices.Values(l))...) }
	list := func(key string, want any, got []string) {
		if w := unordered(want); !slices.Equal(w, names(got)) {
			t.Errorf("%s = %v, want %v", key, got, want)
		}
	}
	nonZero := func(m map[string]int) map[string]any {
		out := map[string]any{}
		for k, v := range m {
			if v != 0 {
				out[k] = float64(v)
			}
		}
		return out
	}
	withoutZero := func(w any) map[string]any {
		m := maps.Clone(w.(map[string]any))
		maps.DeleteFunc(m, func(_ string, v any) bool { return v == 0.0 })
		return m
	}
	for k, w := range final {
		switch k {
		case "pipelineActive":
			if s.Active != w.(bool) {
				t.Errorf("pipelineActive = %v, want %v", s.Active, w)
			}
		case "activeStages":
			list(k, w, s.ActiveStages)
		case "retries":
			if got := nonZero(s.Retries); !reflect.DeepEqual(got, withoutZero(w)) {
				t.Errorf("retries = %v, want %v", got, w)
			}
		case "crashes":
			if got := nonZero(s.Crashes); !reflect.DeepEqual(got, withoutZero(w)) {
				t.Errorf("crashes = %v, want %v", got, w)
			}
		case "stages":
			for stage, status := range w.(map[string]any) {
				st, ok := s.Stages.Get(stage)
				if !ok {
					st.Status = workflow.Pending
				}
				if st.Status != status {
					t.Errorf("stage %s is %s, want %v", stage, st.Status, status)
				}
			}
		case "phase":
			if s.Phase() != w {
				t.Errorf("phase = %s, want %v", s.Phase(), w)
			}
		case "ready":
			list(k, w, s.Ready())
		case "all_done":
			if s.Done() != w.(bool) {
				t.Errorf("all_done = %v, want %v", s.Done(), w)
			}
		case "retryHistory_keys":
			var keys []string
			for stage, rounds := range s.RetryHistory.All() {
				if len(rounds) > 0 {
					keys = append(keys, stage)
				}
			}
			list(k, w, keys)
		case "reflection_stages":
			list(k, w, f.reflections())
		case "barrier_group":
			g, _ := s.Barriers.Get("post-dev")
			results := map[string]any{}
			for stage, r := range g.Results.All() {
				results[stage] = asJSON(t, r)
			}
			completed, _ := asJSON(t, g.Completed).([]any)
			if completed == nil {
				completed = []any{}
			}
			subset(t, k, w, map[string]any{"total": float64(g.Total), "completed": completed, "results": results, "resolved": g.Resolved, "next": g.Next})
		case "next_delegation":
			if !strings.Contains(f.last, workflow.AgentOf(w.(string))) || !strings.Contains(f.last, `"stage":"`+w.(string)+`"`) {
				t.Errorf("last message %q does not instruct to delegate %v", f.last, w)
			}
		default:
			t.Errorf("unknown key final.%s", k)
		}
	}
}
