package host

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool, input string
		want        Deed
	}{
		"claude runs":      {"Bash", `{"command":"go test ./..."}`, Deed{Kind: RunDeed, Command: "go test ./..."}},
		"claude edits":     {"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, Deed{Kind: EditDeed, Files: []string{"/p/a.go"}}},
		"claude writes":    {"Write", `{"file_path":"/p/a.go","content":"x"}`, Deed{Kind: CreateDeed, Files: []string{"/p/a.go"}}},
		"claude reads":     {"Read", `{"file_path":"/p/a.go"}`, Deed{Kind: ReadDeed, Files: []string{"/p/a.go"}}},
		"a notebook":       {"NotebookEdit", `{"notebook_path":"/p/a.ipynb"}`, Deed{Kind: EditDeed, Files: []string{"/p/a.ipynb"}}},
		"claude plans":     {"TodoWrite", `{"todos":[{"content":"One","status":"completed"}]}`, Deed{Kind: PlanDeed, Done: []Event{PlanWritten{Steps: []Step{{Text: "One", Status: Completed}}}}}},
		"claude asks":      {"AskUserQuestion", `{"questions":[{"question":"Which?"}]}`, Deed{Kind: AskDeed, Question: "Which?"}},
		"codex runs":       {"shell", `{"command":["bash","-lc","ls -la"]}`, Deed{Kind: RunDeed, Command: "ls -la"}},
		"codex runs words": {"local_shell", `{"command":["git","status"]}`, Deed{Kind: RunDeed, Command: "git status"}},
		"codex executes":   {"exec_command", `{"cmd":"make"}`, Deed{Kind: RunDeed, Command: "make"}},
		"codex patches":    {"apply_patch", `"*** Begin Patch\n*** Update File: a.go\n@@\n*** Add File: b.go\n*** End Patch"`, Deed{Kind: EditDeed, Files: []string{"a.go", "b.go"}}},
		"codex scripts":    {"exec", `"const r = await tools.exec_command({cmd:\"rg -n \\\"x\\\" src\",\"workdir\":\"/p\"});"`, Deed{Kind: RunDeed, Command: `rg -n "x" src`}},
		"on Windows":       {"apply_patch", `"*** Begin Patch\r\n*** Update File: C:\\w\\new\\a.go\r\n*** End Patch"`, Deed{Kind: EditDeed, Files: []string{`C:\w\new\a.go`}}},
		"and in a script":  {"exec", `"await tools.apply_patch(\"*** Begin Patch\\n*** Update File: C:\\\\w\\\\new\\\\a.go\\n\");"`, Deed{Kind: EditDeed, Files: []string{`C:\w\new\a.go`}}},
		"a script patches": {"exec", `"await tools.apply_patch(\"*** Begin Patch\\n*** Update File: src/a.rs\\n\");"`, Deed{Kind: EditDeed, Files: []string{"src/a.rs"}}},
		"codex plans":      {"update_plan", `{"plan":[{"step":"One","status":"pending"}]}`, Deed{Kind: PlanDeed, Done: []Event{PlanWritten{Steps: []Step{{Text: "One", Status: Pending}}}}}},
		"a foreign tool":   {"mcp__x__y", `{"a":1}`, Deed{}},
		"broken input":     {"Bash", `{"command":`, Deed{Kind: RunDeed}},
	} {
		if d := cmp.Diff(c.want, Recorded(c.tool, json.RawMessage(c.input))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if d := cmp.Diff(TaskCreated{ID: "7", Text: "One"}, Created([]byte(`{"subject":"One"}`), "Task #7 created successfully: One")); d != "" {
		t.Error(d)
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result, output string
		failed         bool
		exit           int
		said           string
	}{
		"well":             {`"ok"`, "ok", false, 0, "ok"},
		"claude fails":     {`"x"`, "Exit code 2\nboom", true, 2, "Exit code 2\nboom"},
		"older codex":      {`{"output":"boom","metadata":{"exit_code":3}}`, "", false, 3, "boom"},
		"newer codex":      {`"x"`, "Chunk ID: 1\nProcess exited with code 101\nOutput:\nboom", false, 101, "Chunk ID: 1\nProcess exited with code 101\nOutput:\nboom"},
		"a script fails":   {`"x"`, "Script failed\nboom", false, 1, "Script failed\nboom"},
		"text with a code": {`"x"`, "all well", false, 0, "all well"},
	} {
		said, exit := Ended([]byte(c.result), c.output, c.failed)
		if said != c.said || exit == nil || *exit != c.exit {
			t.Errorf("%s: %q %v", name, said, *exit)
		}
	}
}
