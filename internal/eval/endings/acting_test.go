package endings

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/situation"
	"github.com/seed-6d03985f/overtone/internal/hook"
	words "github.com/seed-6d03985f/overtone/internal/message"
)

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

// Whatever the user says, in whichever language: no turn of a workflow is pushed on, the
// hand-over quotes the words first, and its last line turns to them. What an agent says
// changes nothing: a workflow whose stage was handed out goes on.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for _, e := range invented(t) {
		told := e.told(t)
		if e.who == "agent" {
			if told.State == situation.Asks {
				t.Errorf("read as a question: %s", e.text)
			}
			continue
		}
		if e.pushes(t) {
			t.Errorf("pushed: %s: %s", e.label, e.text)
		}
		if want := words.OneLine(e.text); len(told.Request) == 0 || told.Request[0] != want || told.State != situation.Goes {
			t.Errorf("%s: told is %q, %s", want, told.Request, told.State)
		}
	}
}
