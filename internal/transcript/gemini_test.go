package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// geminiLines is a session file as the host writes it: a message of the agent's is
// written again with the calls of its tools, a resume and a compression write
// everything anew, and what a compression keeps has other names then.
var geminiLines = func() []string {
	message := func(id, kind, text, more string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-01T11:00:00.000Z","type":%q,"content":[{"text":%q}]%s}`, id, kind, text, more)
	}
	calls := func(ids ...string) string {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"id":%q,"name":"read_file","args":{},"result":[{"functionResponse":{"id":%q,"response":{"output":"text"}}}],"status":"success"}`, id, id))
		}
		return `,"tokens":{"input":7,"output":1},"toolCalls":[` + strings.Join(list, ",") + `]`
	}
	answer := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-01T11:00:00.000Z","type":"user","content":[{"functionResponse":{"response":{"output":"text"}}}]}`, id)
	}
	all := func(messages ...string) string { return `{"$set":{"messages":[` + strings.Join(messages, ",") + `]}}` }
	const header, touched = `{"sessionId":"s1","projectHash":"x","kind":"main"}`, `{"$set":{"lastUpdated":"2026-03-01T11:00:00.000Z"}}`
	context := message("m0", "user", "<session_context>x</session_context>", "")
	return []string{
		header, all(context),
		message("m1", "user", "write a lexer", ""), touched,
		message("m2", "gemini", "I look.", `,"tokens":{"input":7,"output":1}`), touched,
		message("m2", "gemini", "I look.", calls("c1", "c2")), answer("m3"), touched,
		message("m4", "gemini", "There it is.", `,"tokens":{"input":9,"output":1}`), touched,
		header, all(context), `{"$set":{"sessionId":"s1"}}`, all(context, message("m1", "user", "write a lexer", ""), message("m4", "gemini", "There it is.", "")),
		message("m5", "user", "and tests", ""), touched,
		message("m6", "gemini", "I write.", ""), message("m6", "gemini", "I write.", calls("c3")),
		all(context, message("n1", "user", "<state_snapshot>SUMMARY</state_snapshot>", ""), message("n2", "gemini", "Got it.", ""), message("n3", "user", "and tests", "")),
		message("n3", "user", "and tests", ""), answer("m7"), touched,
		message("m8", "gemini", "Tests are there.", ""), message("m9", "user", "thanks", ""), message("m10", "gemini", "You are welcome.", ""), touched,
	}
}()

// What the agent thought is told, where it says anything. A file that is one object, on
// many lines, says whose it is like one of lines.
func TestGeminiThoughts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session-1-s1.json")
	text := `{
  "sessionId": "s1",
  "messages": [
    {"id": "m1", "timestamp": "2026-03-01T11:00:00.000Z", "type": "user", "content": "write it"},
    {"id": "m2", "timestamp": "2026-03-01T11:00:01.000Z", "type": "gemini", "content": [{"text": "I look."}, {"inlineData": {}}, {"text": "And see."}], "thoughts": [{"subject": "The lexer", "description": "It is long."}, {}]},
    {"id": "m3", "timestamp": "2026-03-01T11:00:02.000Z", "type": "gemini", "content": "", "thoughts": [{"subject": "Short", "description": ""}]}
  ]
}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	about, err := GeminiAbout(path)
	if err != nil || about.Session != "s1" {
		t.Errorf("%+v, %v", about, err)
	}
	file, err := ReadGemini(path)
	if err != nil || len(file.Messages) != 3 {
		t.Fatalf("%+v, %v", file, err)
	}
	if d := cmp.Diff([]HostBlock{{Thought: "The lexer\nIt is long."}, {Text: "I look.\nAnd see."}, {Thought: "Short"}}, append(file.Messages[1].Blocks, file.Messages[2].Blocks...)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Whenever a hook looks at a session, and whoever else has mirrored it meanwhile, the
// mirror tells in the end what the whole file tells.
func TestGeminiGrows(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "session-1-s1.jsonl")
	write := func(n int) {
		if err := os.WriteFile(file, []byte(strings.Join(geminiLines[:n], "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(root string, over bool) string {
		path, err := MirrorGemini(root, folder, "s1", "/work/p", over)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(path) // "" before there is anything
		return string(data)
	}
	write(len(geminiLines))
	want := look(t.TempDir(), true)
	if strings.Count(want, `"isCompactSummary":true`) != 1 || strings.Count(want, `"tool_result"`) != 3 {
		t.Fatalf("the whole file tells\n%s", want)
	}
	for step := 1; step <= 4; step++ {
		for over := range 5 {
			root := t.TempDir()
			for n := 1; n < len(geminiLines); n += step {
				write(n)
				look(root, over > 0 && n%over == 0)
			}
			write(len(geminiLines))
			if got := look(root, true); got != want {
				t.Errorf("every %d lines, over %d: %s", step, over, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
		}
	}
}

// What was mirrored is not read again: here it cannot be.
func TestGeminiReadsTheEnd(t *testing.T) {
	t.Parallel()
	root, folder := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "session-1-s1.jsonl")
	text := strings.Join(geminiLines[:11], "\n") + "\n"
	look := func(data string) string {
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		path, err := MirrorGemini(root, folder, "s1", "/work/p", true)
		if err != nil {
			t.Fatal(err)
		}
		mirror, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(mirror)
	}
	before := look(text)
	head, rest, _ := strings.Cut(text, "\n")
	kept := strings.Index(rest, `{"id":"m4"`)
	gone := head + "\n" + strings.Repeat(" ", kept-1) + "\n" + rest[kept:]
	after := look(gone + geminiLines[15] + "\n" + `{"$set":{"summary":"the lexer"}}` + "\n")
	if !strings.HasPrefix(after, before) || strings.Count(after, "and tests") != 1 || !strings.Contains(after, `"customTitle":"the lexer"`) || !strings.Contains(before, "write a lexer") {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

func TestGeminiWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"session-1.jsonl": strings.Join(geminiLines, "\n"),
		"session-1.json":  "{\n  \"sessionId\": \"s1\",\n  \"messages\": [{\"id\": \"m1\", \"type\": \"user\", \"content\": \"go\"}]\n}",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("\ufeff"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		about, _ := GeminiAbout(path)
		if g, err := ReadGemini(path); err != nil || g.Session != "s1" || len(g.Messages) == 0 || about.Session != "s1" {
			t.Errorf("%s: session %q with %d messages: %v", name, g.Session, len(g.Messages), err)
		}
	}
}

// A line of brackets would overflow the stack of a reader that calls itself for each, which
// ends the process; it is passed over like any that cannot be read.
func TestGeminiWithADeepLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	deep := `{"id":"m0","content":` + strings.Repeat("[", 12_000_000)
	text := strings.Join([]string{geminiLines[0], deep, strings.Join(geminiLines[1:], "\n")}, "\n")
	path := filepath.Join(folder, "session-1-s1.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if g, err := ReadGemini(path); err != nil || len(g.Messages) == 0 {
		t.Errorf("%d messages: %v", len(g.Messages), err)
	}
}

// What Gemini CLI 0.61 writes where its user breaks a turn off, answers a question of the
// agent's, and judges its plan.
func TestGeminiUserSteers(t *testing.T) {
	t.Parallel()
	call := func(tool, args, response, status, shown string) string {
		return `{"id":"m2","timestamp":"2026-01-02T10:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"` + tool + `","args":` + args +
			`,"result":[{"functionResponse":{"response":` + response + `}}],"status":"` + status + `","resultDisplay":"` + shown + `"}]}`
	}
	for name, tc := range map[string]struct {
		line string
		kind EventKind
		how  How
		text string
	}{
		"Esc while it speaks": {`{"id":"m2","timestamp":"2026-01-02T10:00:02Z","type":"info","content":"Request cancelled."}`, Interrupted, 0, ""},
		"Esc in a command":    {call("run_shell_command", `{"command":"make"}`, `{"error":"[Operation Cancelled] Reason: Operation cancelled by user"}`, "cancelled", ""), Interrupted, 0, ""},
		"an answer":           {call("ask_user", `{"questions":[{"question":"Which unit?","header":"Unit"}]}`, `{"output":"{\"answers\":{\"0\":\"Only cents\"}}"}`, "success", "**User answered:**"), UserSaid, Answered, "Only cents"},
		"a question put away": {call("ask_user", `{"questions":[{"question":"Which unit?"}]}`, `{"output":"User dismissed ask_user dialog without answering."}`, "success", "User dismissed dialog"), ToolEnded, 0, "User dismissed ask_user dialog without answering."},
		"a plan approved":     {call("exit_plan_mode", `{"plan_filename":"rename.md"}`, `{"output":"Plan approved. Switching to Default mode."}`, "success", "Plan approved: /w/plans/rename.md"), UserSaid, Approved, "rename.md"},
		"a plan refused":      {call("exit_plan_mode", `{"plan_filename":"rename.md"}`, `{"output":"Plan rejected. User feedback: keep the old name\n\nThe plan is stored at: /w/plans/rename.md\nRevise the plan based on the feedback."}`, "success", "Feedback: keep the old name"), UserSaid, Rejected, "keep the old name"},
		"a plan put away":     {call("exit_plan_mode", `{"plan_filename":"rename.md"}`, `{"output":"User cancelled the plan approval dialog."}`, "success", "Cancelled"), ToolEnded, 0, "User cancelled the plan approval dialog."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			lines := []string{
				`{"sessionId":"s1","kind":"main","directories":["/work/p"]}`,
				`{"id":"m1","timestamp":"2026-01-02T10:00:01Z","type":"user","content":[{"text":"Please write it."}]}`, tc.line,
			}
			if err := os.WriteFile(filepath.Join(folder, "session-1-s1.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			path, err := MirrorGemini(t.TempDir(), folder, "s1", "/work/p", true)
			if err != nil {
				t.Fatal(err)
			}
			var kind EventKind
			var how How
			var text string
			if err := EventsFrom(t.Context(), path, 0, func(e *Event) {
				if e.Kind != Counted && e.Kind != About {
					kind, how, text = e.Kind, e.How, e.Text()
				}
			}); err != nil {
				t.Fatal(err)
			}
			if kind != tc.kind || how != tc.how && kind == UserSaid || kind != Interrupted && text != tc.text {
				t.Errorf("%v %v %q", kind, how, text)
			}
		})
	}
}
