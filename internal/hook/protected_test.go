package hook

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// A panic while the guard decides does not let the tool pass.
func TestPanicKeepsTheGuardClosed(t *testing.T) {
	root := t.TempDir()
	home := store.New(root, root, time.Now)
	s, err := home.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	start := func(active bool) {
		state := &workflow.State{SessionID: "s1", WorkflowType: "quick", Active: active}
		if err := s.Update(func(tx *store.Tx) error { return tx.Write(store.WorkflowFile, state.Encode()) }); err != nil {
			t.Fatal(err)
		}
		if got, err := session.Peek(s); err != nil || got.Active != active {
			t.Fatal(got, err)
		}
	}
	run := func(event, tool string) string {
		var out, errs bytes.Buffer
		opened := false
		env := Env{
			Stdin: strings.NewReader(`{"session_id":"s1","tool_name":"` + tool + `","tool_input":{"file_path":"~/x","command":"cat ~/x"}}`), Stdout: &out, Stderr: &errs,
			Getenv: func(key string) string {
				switch key {
				case "OVERTONE_HOME", "CLAUDE_CONFIG_DIR":
					opened = true
					return root
				case "HOME":
					if opened {
						panic("boom")
					}
				}
				return ""
			},
			Dir: root, Now: time.Now,
		}
		if code := Main([]string{event, "--host", "claude-code"}, env); code != 0 || tool == "Edit" && event == "pre-tool-use" && !strings.Contains(errs.String(), "boom") {
			t.Fatal(code, errs.String())
		}
		return out.String()
	}
	start(true)
	if got := run("pre-tool-use", "Edit"); !strings.Contains(got, `"deny"`) {
		t.Errorf("an edit: %q", got)
	}
	if got := run("post-tool-use", "Edit"); got != "" {
		t.Errorf("another event: %q", got)
	}
	start(false)
	if got := run("pre-tool-use", "Edit"); got != "" {
		t.Errorf("without a workflow: %q", got)
	}
}
