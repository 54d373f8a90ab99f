package session

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// 002: the reports of those who failed in a barrier are joined in one file, worst
// first, each bounded; one that is not there is named.
func TestMergedReport(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	o := Options{Rules: Rules(config.Defaults(), "~/.claude"), Lang: message.EN, Now: noon, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	fail := func(stage, severity string) workflow.Completion {
		return workflow.Completion{Stage: stage, At: noon, Route: &workflow.Route{Verdict: "FAIL", Route: "DEV", Severity: severity, Hint: "see", ContextFile: s.ContextPath(stage)}}
	}
	err := Update(s, o, func(tx *Tx) error {
		for _, ev := range []workflow.Event{
			workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW", "TEST", "SECURITY"}, At: noon},
			workflow.Completion{Stage: "DEV", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}},
		} {
			if _, err := tx.Apply(ev); err != nil {
				return err
			}
		}
		if err := errors.Join(tx.WriteContext("REVIEW", []byte("low matters")), tx.WriteContext("SECURITY", []byte(strings.Repeat("é", mergedMax)))); err != nil {
			return err
		}
		for _, ev := range []workflow.Event{fail("REVIEW", "LOW"), fail("TEST", "HIGH"), fail("SECURITY", "CRITICAL")} {
			if _, err := tx.Apply(ev); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.ContextPath(workflow.MergedContext))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var at []int
	for _, part := range []string{"SECURITY", message.MergedCut.In(message.EN), "TEST", message.MergedMissing.In(message.EN), "REVIEW", "low matters"} {
		at = append(at, strings.Index(text, part))
	}
	if !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("places %v in %.200s", at, text)
	}
	if len(text) > mergedMax+1000 || strings.Count(text, "\n---\n") != 2 || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("%d bytes", len(text))
	}
	// What failed is remembered for whoever mends it, and forgotten when it passes.
	reflection := func() error {
		return s.Update(func(tx *store.Tx) error { _, err := tx.Reflection("REVIEW"); return err })
	}
	if err := reflection(); err != nil {
		t.Errorf("no reflection: %v", err)
	}
	err = Update(s, o, func(tx *Tx) error {
		for _, stage := range []string{"DEV", "REVIEW", "TEST", "SECURITY"} {
			if _, err := tx.Apply(workflow.Completion{Stage: stage, At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := reflection(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still remembered: %v", err)
	}
}

// A stage that nothing was changed for is left out in the step that would have made it
// the next one.
func TestSift(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	root := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "HOME="+root, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "start")
	if err := os.WriteFile(filepath.Join(root, "api.go"), []byte("package x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dag, flaws := workflow.NewGraph([]workflow.Draft{
		{Key: "DEV"}, {Key: "UI", Spec: workflow.Spec{Agent: "painter", When: []string{"web"}}}, {Key: "API", Spec: workflow.Spec{Agent: "builder", When: []string{"*.go"}}},
	})
	if len(flaws) > 0 {
		t.Fatal(flaws[0].Text.In(message.EN))
	}
	s, _ := open(t)
	o := Options{Rules: Rules(config.Defaults(), "~/.claude"), Lang: message.EN, Now: noon, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	err := Update(s, o, func(tx *Tx) error {
		plan := &workflow.Plan{DAG: dag, Origin: &workflow.Origin{Path: "f", Root: root, Commit: git("rev-parse", "HEAD")}}
		if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "mine", Plan: plan, At: noon}); err != nil {
			return err
		}
		out, err := tx.Apply(workflow.Completion{Stage: "DEV", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}})
		if !slices.Equal(out.Next, []string{"API"}) || !slices.Equal(out.Sifted, []string{"UI"}) || out.Stage != "DEV" {
			t.Errorf("next %v, sifted %v, %s", out.Next, out.Sifted, out.Stage)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, known := blueprint.Changed(&workflow.Origin{Root: t.TempDir(), Commit: "x"}); known {
		t.Error("it is known what changed where there is no repository")
	}
}

// The clean-up spares a session whose workflow is at work, or cannot be read.
func TestActiveWorkflowIsSpared(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{"": false, "{broken": true, `{"version":4,"pipelineActive":true}`: true, `{"version":4}`: false} {
		var raw []byte
		if data != "" {
			raw = []byte(data)
		}
		if got := ActiveWorkflow("s", raw); got != want {
			t.Errorf("%q: %v", data, got)
		}
	}
}

// A workflow that cannot be read comes with a way out: another program, or a new start.
func TestUnreadWorkflow(t *testing.T) {
	t.Parallel()
	for text, hint := range map[string]string{`{"version":99}`: message.HintUpgrade.Format(message.EN, "overtone"), `{broken`: message.HintUnread.Format(message.EN, "s1")} {
		s, memory := open(t)
		if err := errors.Join(os.MkdirAll(filepath.Dir(memory), 0o700), os.WriteFile(filepath.Join(filepath.Dir(memory), store.WorkflowFile), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := State(s); err == nil || message.HintOf(err, message.EN) != hint {
			t.Errorf("%s: %v (%s)", text, err, message.HintOf(err, message.EN))
		}
		if err := Update(s, Options{Now: noon}, func(*Tx) error { return nil }); err == nil {
			t.Errorf("%s: changed", text)
		}
	}
	s, _ := open(t)
	if state, err := State(s); state != nil || err != nil {
		t.Errorf("%v, %v", state, err)
	}
}

// The engine's settings are the user's.
func TestRules(t *testing.T) {
	t.Parallel()
	c := config.Defaults()
	c.Workflow.MaxRetries, c.Workflow.MaxCrashes, c.Workflow.BarrierTimeout, c.Strict = 7, 8, 9*time.Minute, true
	if got, want := Rules(c, "dir"), (workflow.Rules{MaxRetries: 7, MaxCrashes: 8, BarrierTimeout: 9 * time.Minute, Strict: true, ContextDir: "dir"}); got != want {
		t.Errorf("%+v", got)
	}
}

// A workflow that rests goes on when a stage was handed out, when it is let go on, and
// when another one starts; nothing else that happens to its stages moves it.
func TestRestsUntil(t *testing.T) {
	t.Parallel()
	start := func(id string) workflow.Start {
		return workflow.Start{SessionID: "s1", WorkflowID: id, Type: "quick", Stages: []string{"DEV", "REVIEW"}, At: noon}
	}
	apply := func(list ...workflow.Event) func(*Tx) error {
		return func(tx *Tx) error {
			for _, ev := range list {
				if _, err := tx.Apply(ev); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		do    func(*Tx) error
		rests bool
	}{
		"a stage is handed out":        {apply(workflow.Delegate{ID: "d2", Stage: "DEV", At: noon}), false},
		"it is let go on":              {(*Tx).Resume, false},
		"another starts":               {apply(workflow.Cancel{}, start("w2")), false},
		"a stage comes back":           {apply(workflow.Completion{ID: "d1", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}}), true},
		"its agent dies":               {apply(workflow.Drop{ID: "d1"}), true},
		"its agent gets a name":        {apply(workflow.Bind{ID: "d1", AgentID: "a1"}), true},
		"a stage whose turn it is not": {apply(workflow.Delegate{ID: "d2", Stage: "REVIEW", At: noon}), true},
		"one that there is not":        {apply(workflow.Delegate{ID: "d2", Stage: "DOCS", At: noon}), true},
		"one more cannot start":        {apply(start("w2")), true},
	} {
		s, _ := open(t)
		update(t, s, apply(start("w1"), workflow.Delegate{ID: "d1", Stage: "DEV", At: noon}))
		update(t, s, func(tx *Tx) error {
			tx.Memory.Loop.Rests, tx.Memory.Loop.LetGo, tx.Memory.Loop.Iteration = true, true, 7
			tx.Observe(host.UserMessage{Text: "and now?"}, compact.Settings{})
			return nil
		})
		update(t, s, c.do)
		if m := Read(s); m.Loop.Rests != c.rests {
			t.Errorf("%s: %+v", name, m.Loop)
		} else if called := m.Thread.Words.Last == compact.LastUser; name == "a stage is handed out" && called {
			t.Errorf("%s: the words have no answer yet", name)
		}
	}
}
