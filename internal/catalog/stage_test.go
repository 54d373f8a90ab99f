package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// A stage that is a command is run from a file that the user trusts, when its turn has
// come: the exit status is the verdict, the output the report.
func TestRunStage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell, and to know which processes live")
	}
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(".overtone/workflows/mine.yaml", `name: mine
label: mine
stages:
  - DEV
  - stage: CHECK
    run: 'echo "$OVERTONE_STAGE of $OVERTONE_SESSION"; echo no luck; test -f fixed'
  - stage: SLOW
    run: sleep 60
    run_timeout: 1s
    on_fail: none
  - DOCS
`)
	home := store.New(t.TempDir(), t.TempDir(), time.Now)
	s, err := home.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	lib := blueprint.Library{Dir: root, Home: home.Root()}
	file, problems, ok := lib.Find("mine")
	if !ok || len(problems) > 0 {
		t.Fatal(ok, problems)
	}
	o := session.Options{Rules: session.Rules(config.Defaults(), "~/.claude"), Lang: message.EN, Now: midday, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	var out bytes.Buffer
	run := func(stage string, asJSON bool) (string, error) {
		t.Helper()
		out.Reset()
		term := &terminal.Terminal{Env: terminal.Env{
			Stdout: &out, Stderr: &bytes.Buffer{}, Getenv: os.Getenv, Environ: os.Environ, Now: time.Now, IsTTY: func(uintptr) bool { return false },
		}, Lang: message.EN, JSON: asJSON}
		err := RunStage(context.Background(), term, home.Root(), s, stage, o)
		return out.String(), err
	}
	apply := func(ev workflow.Event) {
		t.Helper()
		if err := session.Update(s, o, func(tx *session.Tx) error { _, err := tx.Apply(ev); return err }); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(stage, why string) {
		t.Helper()
		if _, err := run(stage, false); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", stage, err, why)
		}
	}
	pass := &workflow.Route{Verdict: workflow.Pass, Route: workflow.Next}
	refused("CHECK", "no workflow")
	apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "mine", Plan: lib.Plan(file), At: midday})
	refused("NOWHERE", "NOWHERE")
	refused("DEV", "DEV")
	if _, err := run("DEV", false); message.HintOf(err, message.EN) != "there are: CHECK, SLOW" {
		t.Errorf("which stages are commands: %s", message.HintOf(err, message.EN))
	}
	refused("check", "not trusted")
	if err := blueprint.Trust(home.Root(), file, midday); err != nil {
		t.Fatal(err)
	}
	refused("check", "DEV")
	apply(workflow.Completion{Stage: "DEV", At: midday, Route: pass})

	text, err := run("check", false)
	if err != nil || !strings.Contains(text, "CHECK FAIL") || !strings.Contains(text, "overtone:developer") {
		t.Errorf("%s, %v", text, err)
	}
	report, err := os.ReadFile(s.ContextPath("CHECK"))
	if err != nil || !strings.Contains(string(report), "CHECK of s1\nno luck") {
		t.Errorf("%s, %v", report, err)
	}
	state, err := session.Peek(s)
	if err != nil || state.Retries["CHECK"] != 1 {
		t.Fatalf("%+v, %v", state.Retries, err)
	}
	if rounds, _ := state.RetryHistory.Get("CHECK"); len(rounds) != 1 || rounds[0].Severity != "HIGH" || !strings.HasSuffix(rounds[0].Hint, "no luck") {
		t.Errorf("%+v", rounds)
	}
	apply(workflow.Completion{Stage: "DEV", At: midday, Route: pass})
	write("fixed", "")
	if text, err = run("CHECK", true); err != nil {
		t.Fatal(err)
	}
	var told struct {
		Stage, Verdict, Report string
		Exit                   int
		Next                   []string
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil || told.Stage != "CHECK" || told.Verdict != "PASS" || told.Exit != 0 || len(told.Next) != 1 || told.Next[0] != "SLOW" || filepath.Base(told.Report) != filepath.Base(s.ContextPath("CHECK")) {
		t.Errorf("%s, %v", text, err)
	}
	if m := session.Read(s); !m.Thread.Boundary().Has(compact.StageComplete) || len(m.Outbox) != 0 {
		t.Errorf("a stage that is complete is no boundary: %+v", m)
	}

	// While another process runs it, it is busy; a process that is gone is not.
	apply(workflow.Delegate{ID: "other", Stage: "SLOW", AgentID: session.RunnerID(os.Getppid()), At: midday})
	refused("SLOW", "running")
	apply(workflow.Drop{ID: "other"})
	apply(workflow.Delegate{ID: "dead", Stage: "SLOW", AgentID: session.RunnerID(1 << 30), At: midday})
	if text, err = run("SLOW", false); err != nil || !strings.Contains(text, "SLOW FAIL") || !strings.Contains(text, "1s") {
		t.Errorf("%s, %v", text, err)
	}
	apply(workflow.Cancel{})
	refused("SLOW", "not running")

	// One that passes tells it, and what comes next, in words, too.
	apply(workflow.Start{SessionID: "s1", WorkflowID: "again", Type: "mine", Plan: lib.Plan(file), At: midday})
	apply(workflow.Completion{Stage: "DEV", At: midday, Route: pass})
	if text, err = run("CHECK", false); err != nil || !strings.HasPrefix(text, "✅ CHECK PASS (") || !strings.Contains(text, "SLOW") {
		t.Errorf("%s, %v", text, err)
	}
}

// What a recorded session's compactions hand over, from its file alone.
func TestSurvey(t *testing.T) {
	t.Parallel()
	line := func(kind, id, content string) string {
		return `{"type":"` + kind + `","uuid":"` + id + `","sessionId":"s1","cwd":"/w","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"` + kind + `","content":` + content + `}}`
	}
	user := func(id, text string) string { return line("user", id, `"`+text+`"`) }
	agent := func(id, text string) string { return line("assistant", id, `[{"type":"text","text":"`+text+`"}]`) }
	boundary := func(id string) string {
		return `{"type":"system","subtype":"compact_boundary","uuid":"` + id + `","sessionId":"s1","timestamp":"2026-03-01T11:00:00.000Z","compactMetadata":{"trigger":"auto"}}`
	}
	summary := func(id, text string) string {
		return `{"type":"user","uuid":"` + id + `","sessionId":"s1","isCompactSummary":true,"timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"` + text + `"}}`
	}
	file := func(lines ...string) transcript.File {
		t.Helper()
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return transcript.File{Path: path, ID: "s1", Host: transcript.Claude}
	}
	twice := file(
		user("u1", "Please speed up the parser in parse.go."), agent("a1", "parse.go calls `scanToken` and `growBuffer`."), boundary("b1"), summary("s1", "We work on parse.go and scanToken."),
		user("u2", "Now rename `lexLine` to `readLine` in lexer.go."), agent("a2", "`lexLine` is in lexer.go."), boundary("b2"), summary("s2", "A rename."),
		user("u3", "And document `foldCase`."), agent("a3", "`foldCase` is in fold.go."),
	)
	for name, tc := range map[string]struct {
		n, want         int
		summary, tells  string
		states, unknown string
	}{
		"the first":  {1, 1, "We work on parse.go and scanToken.", "growBuffer", "scanToken", "growBuffer"},
		"the second": {2, 2, "A rename.", "lexLine", "", "lexLine"},
		"the last":   {-1, 2, "A rename.", "lexLine", "", "lexLine"},
		"now":        {0, 0, "", "foldCase", "", "foldCase"},
	} {
		got, err := NewSurvey(context.Background(), twice, tc.n, Speaks(message.EN))
		if err != nil {
			t.Fatal(err)
		}
		if got.N != tc.want || got.Total != 2 || got.Summary != tc.summary || !strings.Contains(got.Text, tc.tells) {
			t.Errorf("%s: %+v", name, got)
		}
		if stands, err := Stands(context.Background(), twice); tc.n == 0 && (err != nil || !reflect.DeepEqual(stands, got.Situation)) {
			t.Errorf("stands: %+v, the hand-over says %+v (%v)", stands, got.Situation, err)
		}
		if tc.states != "" && !strings.Contains(strings.Join(got.States, " "), tc.states) || !strings.Contains(strings.Join(got.Lacks, " "), tc.unknown) {
			t.Errorf("%s: states %v, lacks %v", name, got.States, got.Lacks)
		}
	}
	all, err := Surveys(context.Background(), twice, Speaks(message.EN))
	if err != nil || len(all) != 2 || all[0].Summary != "We work on parse.go and scanToken." || all[1].Summary != "A rename." {
		t.Errorf("all of them: %+v, %v", all, err)
	}
	// What the user asked for before the compaction before still stands.
	if !strings.Contains(all[1].Text, "speed up the parser") {
		t.Errorf("the second forgets the first request:\n%s", all[1].Text)
	}
	// The second says which one it replaces.
	for n, want := range []bool{false, true} {
		if strings.Contains(all[n].Text, message.HandoverReplaces.Format(message.EN, compact.PacketID("s1", 1))) != want {
			t.Errorf("number %d:\n%s", n+1, all[n].Text)
		}
	}
	if _, err := NewSurvey(context.Background(), twice, 3, Speaks(message.EN)); err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("the third of two: %v", err)
	}
	never := file(user("u1", "Please speed up the parser."))
	if _, err := NewSurvey(context.Background(), never, -1, Speaks(message.EN)); err == nil || message.HintOf(err, message.EN) == "" {
		t.Errorf("never compacted: %v", err)
	}
	if got, err := NewSurvey(context.Background(), never, 0, Speaks(message.EN)); err != nil || got.Total != 0 || got.Text == "" {
		t.Errorf("now, never before: %+v, %v", got, err)
	}
	if _, err := NewSurvey(context.Background(), file("no session"), 0, Speaks(message.EN)); err == nil {
		t.Error("a file of nobody's")
	}
}
