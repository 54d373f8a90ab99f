package endings

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/situation"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// opens reports whether a watcher would open a turn after a compaction, of a turn that has
// worked. A step of the plan is open unless the agent is finished.
func (e invention) opens() bool {
	set := config.Defaults().Compact
	task := situation.Tasks[e.lang]
	second := host.InProgress
	if e.who == "agent" && e.label == "finished" {
		second = host.Completed
	}
	t := compact.Thread{}.Apply(host.TurnStarted{ID: "1"}, set).Apply(host.UserMessage{Text: task.First}, set).
		Apply(host.PlanWritten{Steps: []host.Step{{Text: "one", Status: host.Completed}, {Text: "two", Status: second}}}, set).
		Apply(host.ToolActivity{}, set)
	if e.who == "agent" {
		t = t.Apply(host.AgentMessage{Text: e.text}, set).Apply(host.TurnEnded{}, set)
	} else {
		t = t.Apply(host.AgentMessage{Text: task.Report}, set).Apply(host.TurnEnded{}, set).
			Apply(host.TurnStarted{ID: "2"}, set).Apply(host.UserMessage{Text: e.text}, set).
			Apply(host.ToolActivity{}, set).Apply(host.AgentMessage{Text: task.Report}, set).Apply(host.TurnEnded{}, set)
	}
	return t.OpenWork("") != ""
}

// pushes reports whether the Stop hook would keep the turn of a workflow going.
func (e invention) pushes(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".overtone"), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	call := func(event string, fields map[string]string) string {
		fields["session_id"], fields["cwd"] = "s1", dir
		in, _ := json.Marshal(fields)
		var out bytes.Buffer
		hook.Main([]string{event, "--host", "claude-code"}, hook.Env{
			Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &out, Dir: dir,
			Getenv: func(key string) string { return map[string]string{"HOME": dir}[key] }, Now: func() time.Time { now = now.Add(time.Second); return now },
		})
		return out.String()
	}
	task := situation.Tasks[e.lang]
	if out := call("user-prompt-submit", map[string]string{"prompt": "[workflow:quick] " + task.First}); !strings.Contains(out, "overtone:developer") {
		t.Fatalf("not started: %s", out)
	}
	said := e.text
	if e.who == "user" {
		call("user-prompt-submit", map[string]string{"prompt": e.text})
		said = task.Report
	}
	return strings.Contains(call("stop", map[string]string{"last_assistant_message": said}), `"decision":"block"`)
}

// After no ending that leaves the next word to the user is a turn opened or pushed on,
// and after nine of ten that say what comes next the work is carried on. A workflow goes
// on past an agent that calls its own part finished.
func TestActing(t *testing.T) {
	t.Parallel()
	var against []string
	open, opened, pushed := 0, 0, 0
	for _, e := range invented(t) {
		opens, pushes := e.opens(), e.pushes(t)
		if e.who == "agent" && e.label == "working" {
			open++
			if opens {
				opened++
			} else {
				t.Logf("not opened: %s", e.text)
			}
			if pushes {
				pushed++
			} else {
				t.Logf("not pushed: %s", e.text)
			}
			continue
		}
		if opens {
			against = append(against, "opened: "+e.label+": "+e.text)
		}
		if pushes && e.label != "finished" || pushes && e.who == "user" {
			against = append(against, "pushed: "+e.label+": "+e.text)
		}
	}
	t.Logf("%d endings, %d against the user; of %d open ones %d opened and %d pushed on", len(invented(t)), len(against), open, opened, pushed)
	if len(against) > 0 || opened*10 < open*9 || pushed*10 < open*9 {
		t.Errorf("against the user:\n%s", strings.Join(against, "\n"))
	}
}
