package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

var vectorsDir = flag.String("vectors", "testdata", "folder with the vector files")

// vectors reads the cases of all files in the folder that have the given key:
// "check" for the pipeline, "expected" for compression. The files' names are
// free; a case with neither key fails, so that none is passed over.
func vectors[C any](t *testing.T, key string) []C {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*vectorsDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vector files in %s (%v)", *vectorsDir, err)
	}
	var cases []C
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(file.Cases) == 0 {
			t.Errorf("%s has no cases", name)
		}
		for _, raw := range file.Cases {
			var keys map[string]json.RawMessage
			if err := json.Unmarshal(raw, &keys); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, check := keys["check"]
			_, expected := keys["expected"]
			if check == expected {
				t.Errorf("%s: case %s has not one of check and expected", name, keys["id"])
			}
			if _, ok := keys[key]; !ok {
				continue
			}
			var c C
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 && *vectorsDir == "testdata" {
		t.Fatalf("no cases with %s", key)
	}
	return cases
}

type pipelineCase struct {
	ID    string
	Fn    string
	Name  string
	Input json.RawMessage
	Check json.RawMessage
}

// The session id that the vectors assume.
const sid = "sid1"

// rules are the engine's with every setting at its default, as the vectors
// assume.
func rules() workflow.Rules { return session.Rules(config.Defaults(), "~/.claude") }

func TestPipeline(t *testing.T) {
	runners := map[string]func(*testing.T, pipelineCase){
		"parseRoute":              runParseRoute,
		"validateRoute":           runValidateRoute,
		"enforcePolicy":           runEnforcePolicy,
		"shouldStop":              runShouldStop,
		"templateToDag":           runTemplateToDAG,
		"mergeBarrierResults":     runMerge,
		"barrierSequence":         runBarrierSequence,
		"checkTimeout":            runCheckTimeout,
		"rebuildBarrierFromState": runRebuild,
		"ensureV4":                runEnsureV4,
		"derivePhase":             runDerivePhase,
		"writeReflection":         runWriteReflection,
		"getReadyStages":          runReady,
		"guardEvaluate":           runGuard,
		"buildNodeContext":        runNodeContext,
		"extractExplicitPipeline": runExplicit,
		"flow":                    runFlow,
	}
	for _, c := range vectors[pipelineCase](t, "check") {
		t.Run(c.ID, func(t *testing.T) {
			run, ok := runners[c.Fn]
			if !ok {
				t.Fatalf("unknown fn %q", c.Fn)
			}
			run(t, c)
		})
	}
}

// input decodes the arguments strictly: an argument the runner does not know is
// a failure.
func input(t *testing.T, c pipelineCase, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(c.Input)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("input: %v", err)
	}
}

func decode(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("check: %v", err)
	}
	return v
}

// subset checks want against got as the vectors' conventions say. full names the
// maps that are compared in full.
func subset(t *testing.T, path string, want, got any, full ...string) {
	t.Helper()
	w, ok := want.(map[string]any)
	if !ok {
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
		return
	}
	g, _ := got.(map[string]any)
	if g == nil {
		t.Errorf("%s = %v, want %v", path, got, want)
		return
	}
	for k, wv := range w {
		p := path + "." + k
		if base, ok := strings.CutSuffix(k, "_in"); ok {
			if !slices.ContainsFunc(wv.([]any), func(x any) bool { return reflect.DeepEqual(x, g[base]) }) {
				t.Errorf("%s = %v, want one of %v", p, g[base], wv)
			}
			continue
		}
		gv, there := g[k]
		switch {
		case wv == nil:
			if gv != nil && gv != "" {
				t.Errorf("%s = %v, want null or absent", p, gv)
			}
		case !there:
			t.Errorf("%s is missing, want %v (have %v)", p, wv, g)
		case slices.Contains(full, k):
			if !reflect.DeepEqual(wv, gv) {
				t.Errorf("%s = %v, want %v", p, gv, wv)
			}
		default:
			if wl, ok := wv.([]any); ok {
				if !reflect.DeepEqual(unordered(wl), unordered(gv)) {
					t.Errorf("%s = %v, want %v", p, gv, wv)
				}
				continue
			}
			if k == "context_file" {
				wv, gv = filepath.Base(fmt.Sprint(wv)), filepath.Base(fmt.Sprint(gv))
			}
			subset(t, p, wv, gv, full...)
		}
	}
}

// unordered is a list of names or files as the vectors compare them.
func unordered(v any) []string {
	list, _ := v.([]any)
	out := []string{}
	for _, x := range list {
		s := fmt.Sprint(x)
		if strings.Contains(s, "/") {
			s = filepath.Base(s)
		}
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}

// asJSON turns a value of the product into plain JSON.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, raw)
}

// checkRoute compares a route; warned is about its warning.
func checkRoute(t *testing.T, check json.RawMessage, r workflow.Route, found bool) {
	t.Helper()
	want := decode(t, check)
	if want == nil {
		if found {
			t.Errorf("got %+v, want null", r)
		}
		return
	}
	if !found {
		t.Fatal("got null")
	}
	w := want.(map[string]any)
	got := asJSON(t, r).(map[string]any)
	if warned, ok := w["warned"]; ok {
		if (r.Warning != "") != warned.(bool) {
			t.Errorf("warning = %q, want warned = %v", r.Warning, warned)
		}
		delete(w, "warned")
	}
	if n, ok := w["hint_len"]; ok {
		if l := len(utf16.Encode([]rune(r.Hint))); float64(l) != n.(float64) {
			t.Errorf("hint has %d units, want %v", l, n)
		}
		delete(w, "hint_len")
	}
	known := []string{"verdict", "route", "severity", "context_file", "hint", "warning", "barrierGroup"}
	for k := range w {
		if base := strings.TrimSuffix(k, "_in"); !slices.Contains(known, base) {
			if _, extra := got[base]; !extra {
				t.Errorf("unknown key %q", k)
			}
		}
	}
	subset(t, "route", w, got)
}

func runParseRoute(t *testing.T, c pipelineCase) {
	var in struct{ Lines []string }
	input(t, c, &in)
	r, ok := lastRoute(t, in.Lines)
	checkRoute(t, c.Check, r, ok)
}

// lastRoute reads an agent's transcript as the product does.
func lastRoute(t *testing.T, lines []string) (workflow.Route, bool) {
	t.Helper()
	file := strings.Join(lines, "\n") + "\n"
	texts, err := transcript.AssistantTexts(strings.NewReader(file), int64(len(file)), workflow.RouteLines)
	if err != nil {
		t.Fatal(err)
	}
	return workflow.LastRoute(texts)
}

func runValidateRoute(t *testing.T, c pipelineCase) {
	var in struct{ Parsed json.RawMessage }
	input(t, c, &in)
	r, ok := workflow.ParseRoute("<!-- PIPELINE_ROUTE: " + string(in.Parsed) + " -->")
	if ok {
		r = workflow.ValidateRoute(r)
	}
	checkRoute(t, c.Check, r, ok)
}

// fragment reads a piece of a state as the functions are given it: a missing
// field is empty.
func fragment(t *testing.T, raw json.RawMessage) *workflow.State {
	t.Helper()
	if raw = versioned(t, raw); raw == nil {
		return nil
	}
	s, err := workflow.Load(raw)
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	return s
}

// versioned is a piece of a state as a file of the engine's; nil where there is none.
func versioned(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	if _, ok := o["version"]; ok {
		return raw
	}
	if len(o) == 0 {
		return json.RawMessage(`{"version":4}`)
	}
	return json.RawMessage(strings.Replace(string(raw), "{", `{"version":4,`, 1))
}

func runEnforcePolicy(t *testing.T, c pipelineCase) {
	var in struct {
		Route workflow.Route
		State json.RawMessage
		Stage string
	}
	input(t, c, &in)
	checkRoute(t, c.Check, rules().EnforcePolicy(in.Route, fragment(t, in.State), in.Stage), true)
}

func runShouldStop(t *testing.T, c pipelineCase) {
	var in struct {
		Stage        string
		Verdict      *workflow.Route
		RetryCount   int
		RetryHistory []workflow.Round
		MaxRetries   int
	}
	input(t, c, &in)
	s := workflow.ShouldStop(in.Verdict, in.RetryCount, in.RetryHistory, in.MaxRetries)
	want := decode(t, c.Check).(map[string]any)
	for k, got := range map[string]bool{"has_warning": s.Warning != "", "has_note": s.Note != ""} {
		if w, ok := want[k]; ok {
			if w.(bool) != got {
				t.Errorf("%s = %v, want %v", k, got, w)
			}
			delete(want, k)
		}
	}
	subset(t, "stop", want, map[string]any{"stop": s.Stop, "reason": s.Reason, "action": s.Action, "warning": s.Warning, "note": s.Note})
}

func runTemplateToDAG(t *testing.T, c pipelineCase) {
	var in struct {
		PipelineID string
		Stages     []string
	}
	input(t, c, &in)
	dag, err := rules().TemplateToDAG(in.PipelineID, in.Stages)
	var want map[string]struct {
		Deps, Next []string
		OnFail     *string
		MaxRetries *int
		Barrier    *struct {
			Group    string
			Total    int
			Siblings []string
			Next     *string
		}
	}
	d := json.NewDecoder(strings.NewReader(string(c.Check)))
	d.DisallowUnknownFields()
	if e := d.Decode(&want); e != nil {
		t.Fatal(e)
	}
	if err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	if dag.Len() != len(want) {
		t.Fatalf("nodes %v, want %d", dag.Keys(), len(want))
	}
	set := func(l []string) []string { return slices.Sorted(slices.Values(l)) }
	for k, w := range want {
		n, ok := dag.Get(k)
		if !ok {
			t.Errorf("no node %s in %v", k, dag.Keys())
			continue
		}
		if !slices.Equal(set(n.Deps), set(w.Deps)) || !slices.Equal(set(n.Next), set(w.Next)) {
			t.Errorf("%s: deps %v next %v, want %v %v", k, n.Deps, n.Next, w.Deps, w.Next)
		}
		onFail := ""
		if w.OnFail != nil {
			onFail = *w.OnFail
		}
		if n.OnFail != onFail {
			t.Errorf("%s: onFail %q, want %q", k, n.OnFail, onFail)
		}
		if w.OnFail != nil && w.MaxRetries != nil && n.MaxRetries != *w.MaxRetries {
			t.Errorf("%s: maxRetries %d, want %d", k, n.MaxRetries, *w.MaxRetries)
		}
		switch {
		case w.Barrier == nil && n.Barrier != nil, w.Barrier != nil && n.Barrier == nil:
			t.Errorf("%s: barrier %v, want %v", k, n.Barrier, w.Barrier)
		case w.Barrier != nil:
			if n.Barrier.Group != w.Barrier.Group || n.Barrier.Total != w.Barrier.Total || !slices.Equal(set(n.Barrier.Siblings), set(w.Barrier.Siblings)) {
				t.Errorf("%s: barrier %+v, want %+v", k, n.Barrier, w.Barrier)
			}
		}
	}
}

type groupInput struct {
	Name      string
	Total     int
	Completed []string
	Results   json.RawMessage
	Next      *string
	Siblings  []string
	Resolved  bool
}

func (g groupInput) group(t *testing.T) workflow.Group {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"g": map[string]any{
		"total": g.Total, "completed": g.Completed, "results": g.Results, "next": g.Next, "siblings": g.Siblings, "resolved": g.Resolved,
	}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := workflow.ParseBarriers(raw)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := b.Get("g")
	return out
}

const mergedPath = "~/.claude/pipeline-context-" + sid + "-MERGED.md"

func mergedJSON(m workflow.Merged) map[string]any {
	out := map[string]any{"verdict": m.Verdict, "route": m.Route}
	for k, v := range map[string]string{"target": m.Target, "severity": m.Severity, "hint": m.Hint, "context_file": m.ContextFile} {
		if v != "" {
			out[k] = v
		}
	}
	sources := []any{}
	for _, s := range m.Sources {
		sources = append(sources, s.Path)
	}
	out["merged_sources"] = sources
	return out
}

func runMerge(t *testing.T, c pipelineCase) {
	var in struct{ Group groupInput }
	input(t, c, &in)
	subset(t, "merged", decode(t, c.Check), mergedJSON(workflow.MergeBarrierResults(in.Group.group(t), mergedPath)))
}

func runBarrierSequence(t *testing.T, c pipelineCase) {
	var in struct {
		Group groupInput
		Steps [][2]json.RawMessage
	}
	input(t, c, &in)
	g := in.Group.group(t)
	checks := decode(t, c.Check).([]any)
	if len(checks) != len(in.Steps) {
		t.Fatalf("%d checks for %d steps", len(checks), len(in.Steps))
	}
	for i, step := range in.Steps {
		var stage string
		var r workflow.Route
		if err := json.Unmarshal(step[0], &stage); err != nil {
			t.Fatal(err)
		}
		if string(step[1]) != "null" {
			if err := json.Unmarshal(step[1], &r); err != nil {
				t.Fatal(err)
			}
		}
		merged := g.Report(stage, r, mergedPath)
		got := map[string]any{"allComplete": g.Resolved}
		if merged != nil {
			got["merged"] = mergedJSON(*merged)
		}
		subset(t, fmt.Sprintf("step %d", i), checks[i], got)
	}
}

func runCheckTimeout(t *testing.T, c pipelineCase) {
	var in struct {
		AgeMs    int64
		Resolved bool
		Group    string
	}
	input(t, c, &in)
	now := time.UnixMilli(1_700_000_000_000)
	g := workflow.NewGroup([]string{"REVIEW", "TEST"}, "", now.UnixMilli()-in.AgeMs)
	g.Resolved = in.Resolved
	if got, want := g.TimedOut(now, rules().BarrierTimeout), decode(t, c.Check).(bool); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func runRebuild(t *testing.T, c pipelineCase) {
	var in struct{ State json.RawMessage }
	input(t, c, &in)
	var got workflow.Barriers
	if s := fragment(t, in.State); s != nil {
		got = workflow.RebuildBarriers(s)
	}
	want := decode(t, c.Check).(map[string]any)
	if got.Len() != len(want) {
		t.Fatalf("groups %v, want %v", got.Keys(), want)
	}
	for name, w := range want {
		g, ok := got.Get(name)
		if !ok {
			t.Fatalf("no group %s", name)
		}
		results := map[string]any{}
		for k, r := range g.Results.All() {
			results[k] = r.Verdict
		}
		m := map[string]any{"total": float64(g.Total), "completed": asJSON(t, g.Completed), "results": results, "siblings": asJSON(t, g.Siblings), "resolved": g.Resolved}
		if g.Next != "" {
			m["next"] = g.Next
		}
		if m["completed"] == nil {
			m["completed"] = []any{}
		}
		subset(t, name, w, m, "results")
	}
}

func runEnsureV4(t *testing.T, c pipelineCase) {
	var in struct{ State json.RawMessage }
	input(t, c, &in)
	out, err := workflow.EnsureV4(in.State)
	if err == nil {
		// What comes out is a state of the engine.
		_, err = workflow.Load(out)
	}
	want := decode(t, c.Check)
	if want == nil {
		if err == nil {
			t.Errorf("got %s, want a refusal", out)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, out).(map[string]any)
	w := want.(map[string]any)
	if w["unchanged"] == true {
		if !reflect.DeepEqual(got, decode(t, in.State)) {
			t.Errorf("changed: %v", got)
		}
		delete(w, "unchanged")
	}
	if absent, ok := w["absent"]; ok {
		for _, key := range absent.([]any) {
			var at any = got
			parts := strings.Split(key.(string), ".")
			for _, p := range parts[:len(parts)-1] {
				m, _ := at.(map[string]any)
				at = m[p]
			}
			if m, _ := at.(map[string]any); m != nil {
				if _, there := m[parts[len(parts)-1]]; there {
					t.Errorf("%s is still there", key)
				}
			}
		}
		delete(w, "absent")
	}
	subset(t, "state", w, got, "retries", "crashes", "retryHistory")
}

func runDerivePhase(t *testing.T, c pipelineCase) {
	var in struct{ State json.RawMessage }
	input(t, c, &in)
	if got, want := fragment(t, in.State).Phase(), decode(t, c.Check); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

var roundHeading = regexp.MustCompile(`(?m)^#+ Round (\d+).*$`)

func runWriteReflection(t *testing.T, c pipelineCase) {
	var in struct {
		Stage  string
		Writes []struct {
			Verdict    *workflow.Route
			RetryCount int
		}
	}
	input(t, c, &in)
	want := decode(t, c.Check).(map[string]any)
	text, before := "", 0
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	limit := func(key string, got int, where string) {
		if w, ok := want[key]; ok && float64(got) > w.(float64) {
			t.Errorf("%s: %d units, %s = %v", where, got, key, w)
		}
	}
	for i, w := range in.Writes {
		text = workflow.WriteReflection(text, workflow.Reflection{
			Stage: in.Stage, Round: w.RetryCount + 1, Route: w.Verdict, At: time.UnixMilli(1_700_000_000_000),
		}, message.ZH)
		limit("max_total_chars", units(text), fmt.Sprintf("write %d", i))
		at := roundHeading.FindAllStringIndex(text, -1)
		for j, m := range at {
			end := len(text)
			if j+1 < len(at) {
				end = at[j+1][0]
			}
			limit("max_round_chars", units(text[m[0]:end]), fmt.Sprintf("write %d, section %d", i, j))
		}
		if n, ok := want["after_truncation_rounds"]; ok && len(at) <= before && float64(len(at)) != n.(float64) {
			t.Errorf("write %d left %d rounds, want %v", i, len(at), n)
		}
		before = len(at)
	}
	var rounds []any
	for _, m := range roundHeading.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		rounds = append(rounds, float64(n))
	}
	for k, w := range want {
		switch k {
		case "rounds":
			if !reflect.DeepEqual(w, any(rounds)) {
				t.Errorf("rounds %v, want %v", rounds, w)
			}
		case "newest_round":
			if rounds[len(rounds)-1] != w {
				t.Errorf("newest round %v, want %v", rounds[len(rounds)-1], w)
			}
		case "contiguous":
			for i := 1; i < len(rounds); i++ {
				if (rounds[i].(float64) == rounds[i-1].(float64)+1) != w.(bool) {
					t.Errorf("rounds %v, want contiguous = %v", rounds, w)
				}
			}
		case "must_contain":
			for _, s := range w.([]any) {
				if !strings.Contains(text, s.(string)) {
					t.Errorf("%q is not in %q", s, text)
				}
			}
		case "max_round_chars", "max_total_chars", "after_truncation_rounds":
		default:
			t.Errorf("unknown key %q", k)
		}
	}
}

func runReady(t *testing.T, c pipelineCase) {
	var in struct{ State json.RawMessage }
	input(t, c, &in)
	got := []string{}
	if s := fragment(t, in.State); s != nil {
		got = append(got, s.Ready()...)
	}
	sort.Strings(got)
	if want := unordered(decode(t, c.Check)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func runGuard(t *testing.T, c pipelineCase) {
	var in struct {
		Tool, Input, State json.RawMessage
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		t.Fatal(err)
	}
	f := newFlowRun(t)
	if state := versioned(t, in.State); state != nil {
		if err := f.sess.Update(func(tx *store.Tx) error { return tx.Write(store.WorkflowFile, state) }); err != nil {
			t.Fatal(err)
		}
	}
	got := "allow"
	if f.hook("pre-tool-use", map[string]any{"tool_name": in.Tool, "tool_input": in.Input, "tool_use_id": "t1"}).HookSpecificOutput.PermissionDecision == "deny" {
		got = "block"
	}
	if want := decode(t, c.Check); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func runNodeContext(t *testing.T, c pipelineCase) {
	var in struct {
		DAG       json.RawMessage
		State     json.RawMessage
		Stage     string
		SessionID string
	}
	input(t, c, &in)
	s := fragment(t, in.State)
	if s == nil {
		s = &workflow.State{}
	}
	if len(in.DAG) > 0 {
		s.DAG = fragment(t, json.RawMessage(`{"dag":`+string(in.DAG)+`}`)).DAG
	}
	nc := rules().BuildNodeContext(s, in.Stage, workflow.NodeOptions{SessionID: in.SessionID, Exists: func(string) bool { return true }})
	text := nc.JSON()
	if n := len(utf16.Encode([]rune(text))); n > 2000 {
		t.Errorf("%d units", n)
	}
	if n := workflow.EstimateTokens(text); n >= 500 {
		t.Errorf("%d tokens", n)
	}
	got := decode(t, json.RawMessage(text)).(map[string]any)
	want := decode(t, c.Check).(map[string]any)
	if inc, ok := want["context_files_include"]; ok {
		have := unordered(got["context_files"])
		for _, f := range unordered(inc) {
			if !slices.Contains(have, f) {
				t.Errorf("context_files %v lack %s", have, f)
			}
		}
		delete(want, "context_files_include")
	}
	if rc, ok := want["retryContext"].(map[string]any); ok {
		g, _ := got["retryContext"].(map[string]any)
		if suffix, ok := rc["reflectionFile_suffix"]; ok {
			if !strings.HasSuffix(fmt.Sprint(g["reflectionFile"]), suffix.(string)) {
				t.Errorf("reflectionFile = %v, want …%v", g["reflectionFile"], suffix)
			}
			delete(rc, "reflectionFile_suffix")
		}
		if ne, ok := rc["hint_nonempty"]; ok {
			if (g["hint"] != "" && g["hint"] != nil) != ne.(bool) {
				t.Errorf("hint = %v", g["hint"])
			}
			delete(rc, "hint_nonempty")
		}
	}
	if env, ok := want["env"].(map[string]any); ok {
		// The vectors' environment keeps the origin's nesting.
		if f, ok := env["frontend"].(map[string]any); ok {
			env["frontend"] = f["detected"]
		}
	}
	subset(t, "context", want, got)
}

func runExplicit(t *testing.T, c pipelineCase) {
	var in struct{ Prompt string }
	input(t, c, &in)
	f := newFlowRun(t)
	f.hook("user-prompt-submit", map[string]any{"prompt": in.Prompt})
	var got any
	if s := f.state(); s.Active {
		got = s.WorkflowType
	} else if name, ok := workflow.Tag(in.Prompt); ok && name == "none" {
		got = name // it starts nothing
	}
	if want := decode(t, c.Check); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
