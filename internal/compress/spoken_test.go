package compress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// heard is all that a user said in a session, wherever he said it.
func heard(t *testing.T, path string) (list []string) {
	t.Helper()
	if err := transcript.EventsFrom(context.Background(), path, 0, func(e *transcript.Event) {
		if e.Kind == transcript.UserSaid {
			list = append(list, strings.TrimSpace(e.Text()))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// spoken checks that every preset leaves all that a user said, and says it.
func spoken(t *testing.T, s *transcript.Session, want ...string) {
	t.Helper()
	said := heard(t, s.Path)
	for _, w := range want {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, w) }) {
			t.Fatalf("the session does not say %q: %q", w, said)
		}
	}
	for _, name := range PresetNames() {
		res, err := presetPlan(t, s, name).Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime})
		if errors.Is(err, ErrNothing) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		left := strings.Join(heard(t, res.Clone.Path), "\n")
		for _, w := range append(slices.Clone(want), said...) {
			if !strings.Contains(left, w) {
				t.Errorf("%s: %q is gone", name, w)
			}
		}
		if err := os.Remove(res.Clone.Path); err != nil {
			t.Fatal(err)
		}
	}
}

var pasted = strings.Repeat("A line of a log that was pasted into the prompt, and meant.\n", 300)

func TestUsersWordsInClaudeCode(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("Port the parser. " + pasted)
	c.blocks(`{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which unit?"}]}}`)
	c.add("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"q","content":"User has answered your questions: \"Which unit?\"=\"Cents, you decide the rest\". You can now continue with the user's answers in mind."}]}`, `,"toolUseResult":{"questions":[{"question":"Which unit?"}],"answers":{"Which unit?":"Cents, you decide the rest"}}`)
	c.blocks(toolUse("r", "rm -rf build"))
	c.add("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"r","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nnever touch the build folder"}]}`, "")
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":%q,"type":"attachment","uuid":"a0000000-0000-4000-8000-000000000000","sessionId":"src","timestamp":"2026-01-01T00:10:00.000Z","attachment":{"type":"queued_command","prompt":"and keep the old names"}}`, c.last))
	c.last = "a0000000-0000-4000-8000-000000000000"
	for n := range 6 {
		c.blocks(textBlock(long("answer")), toolUse(fmt.Sprint("t", n), "ls"))
		c.result(fmt.Sprint("t", n), long("output"))
		c.user(fmt.Sprint("go on ", n))
	}
	spoken(t, c.write(t), "Cents, you decide the rest", "never touch the build folder", "and keep the old names", strings.TrimSpace(pasted))
}

func TestUsersWordsInCodex(t *testing.T) {
	t.Parallel()
	items := []string{
		`{"type":"function_call","id":"f0","name":"request_user_input","arguments":"{\"questions\":[{\"id\":\"a\",\"question\":\"Which unit?\"}]}","call_id":"q"}`,
		`{"type":"function_call_output","id":"o0","call_id":"q","output":"{\"answers\":{\"a\":{\"answers\":[\"Cents, you decide the rest\"]}}}"}`,
	}
	for n := range 6 {
		items = append(items,
			fmt.Sprintf(`{"type":"function_call","id":"f","name":"exec","arguments":"{\"cmd\":\"ls\"}","call_id":"c%d"}`, n),
			fmt.Sprintf(`{"type":"function_call_output","id":"o","call_id":"c%d","output":%q}`, n, long("output")),
			fmt.Sprintf(`{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":%q}]}`, long("answer")),
			fmt.Sprintf(`{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":%q}]}`, fmt.Sprint("go on ", n, " ", pasted)))
	}
	spoken(t, rollout(t, items...), "Cents, you decide the rest", "go on 3")
}

func TestUsersWordsInMirrors(t *testing.T) {
	t.Parallel()
	var opencode []string
	opencode = append(opencode,
		fmt.Sprintf(`{"info":{"id":"m0","role":"user","time":{"created":1}},"parts":[{"id":"p0","type":"text","text":%q}]}`, "Port it. "+pasted),
		`{"info":{"id":"m1","role":"assistant","time":{"created":2,"completed":3}},"parts":[{"id":"p1","type":"tool","tool":"question","callID":"q","state":{"status":"completed","input":{"questions":[{"question":"Which unit?"}]},"output":"User has answered your questions: \"Which unit?\"=\"Cents, you decide the rest\"."}},{"id":"p2","type":"tool","tool":"bash","callID":"r","state":{"status":"error","input":{"command":"rm"},"error":"The user rejected permission to use this specific tool call with the following feedback: never touch the build folder"}}]}`)
	for n := range 6 {
		opencode = append(opencode,
			fmt.Sprintf(`{"info":{"id":"m%d","role":"assistant","time":{"created":%d,"completed":%d}},"parts":[{"id":"pa%d","type":"text","text":%q},{"id":"pb%d","type":"tool","tool":"bash","callID":"c%d","state":{"status":"completed","input":{"command":"ls"},"output":%q}}]}`, 10+2*n, 10+2*n, 10+2*n, n, long("answer"), n, n, long("output")),
			fmt.Sprintf(`{"info":{"id":"m%d","role":"user","time":{"created":%d}},"parts":[{"id":"pc%d","type":"text","text":"go on %d"}]}`, 11+2*n, 11+2*n, n, n))
	}
	m := transcript.OpencodeMirror(t.TempDir(), gjson.Parse(`{"id":"ses_1","directory":"/p"}`))
	if err := m.Write(transcript.OpencodeMessages(gjson.Parse("["+strings.Join(opencode, ",")+"]").Array(), false)); err != nil {
		t.Fatal(err)
	}
	s := open(t, m.Path)
	spoken(t, s, "go on 0", strings.TrimSpace(pasted))
	for _, name := range PresetNames() {
		res, err := presetPlan(t, s, name).Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Cents, you decide the rest", "never touch the build folder"} {
			if b, err := os.ReadFile(res.Clone.Path); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s: %q is gone, %v", name, want, err)
			}
		}
	}
}

// What anybody said in a recorded session is in every preset's clone of it.
func TestUsersWordsInRecordedSessions(t *testing.T) {
	t.Parallel()
	files := samples.Find("real/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), filepath.Base(f))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		said := heard(t, s.Path)
		for _, name := range PresetNames() {
			p := presetPlan(t, s, name)
			if p.Nothing() || s.Legacy {
				continue
			}
			res, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, time.Unix(0, 0)), Now: time.Unix(0, 0)})
			if err != nil {
				t.Fatal(err)
			}
			left := strings.Join(heard(t, res.Clone.Path), "\n")
			lost := 0
			for _, w := range said {
				if !strings.Contains(left, w) {
					lost++
					t.Logf("%s, %s: %.80q", filepath.Base(f), name, w)
				}
			}
			if lost > 0 {
				t.Errorf("%s, %s: %d of %d are gone", filepath.Base(f), name, lost, len(said))
			}
			_ = os.Remove(res.Clone.Path)
		}
	}
}

func TestUsersWordsInGemini(t *testing.T) {
	t.Parallel()
	message := func(n int, fields string) string {
		return fmt.Sprintf(`{"id":"m%d","timestamp":"2026-01-02T10:%02d:00Z",%s}`, n, n, fields)
	}
	call := func(n int, tool, args, output, status string) string {
		return message(n, fmt.Sprintf(`"type":"gemini","content":%q,"toolCalls":[{"id":"c%d","name":%q,"args":%s,"result":[{"functionResponse":{"response":{"output":%q}}}],"status":%q}]`, long("answer"), n, tool, args, output, status))
	}
	lines := []string{
		`{"sessionId":"s1","kind":"main","directories":["/work/p"]}`,
		message(1, fmt.Sprintf(`"type":"user","content":[{"text":%q}]`, "Port it. "+pasted)),
		call(2, "ask_user", `{"questions":[{"question":"Which unit?"}]}`, `{"answers":{"0":"Cents, you decide the rest"}}`, "success"),
		call(3, "exit_plan_mode", `{"plan_filename":"rename.md"}`, "Plan rejected. User feedback: never touch the build folder\n\nThe plan is stored at: /w/plans/rename.md\nRevise the plan based on the feedback.", "success"),
	}
	for n := range 6 {
		lines = append(lines, call(4+2*n, "run_shell_command", `{"command":"ls"}`, long("output"), "success"), message(5+2*n, fmt.Sprintf(`"type":"user","content":[{"text":"go on %d"}]`, n)))
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "session-1-s1.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := transcript.MirrorGemini(t.TempDir(), folder, "s1", "/work/p", true)
	if err != nil {
		t.Fatal(err)
	}
	spoken(t, open(t, path), "Cents, you decide the rest", "never touch the build folder", "go on 0", strings.TrimSpace(pasted))
}
