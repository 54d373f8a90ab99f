package host

import "testing"

func TestCopilotHooks(t *testing.T) {
	t.Parallel()
	c := decodeCopilot("post-tool-use", []byte(`{"hook_event_name":"PostToolUse","session_id":"s1","cwd":"/p","tool_name":"Bash","tool_input":{"command":"make"},"tool_result":{"result_type":"success","text_result_for_llm":"no rule\n<shellId: 0 completed with exit code 2>"}}`))
	if c.Session != "s1" || !c.Main() || c.Tool.Kind != ShellTool || c.Tool.Command != "make" || c.Tool.Output != "no rule" || c.Tool.Exit == nil || *c.Tool.Exit != 2 {
		t.Errorf("%+v", c)
	}
	for text, known := range map[string]bool{"plain": false, "<shellId: 0 completed with exit code x>": false, "<shellId: 1 is still running>": false, "a\n<shellId: 1 completed with exit code 0>": true} {
		if _, exit := copilotEnd(text); (exit != nil) != known {
			t.Errorf("%q: exit %v", text, exit)
		}
	}
	c = decodeCopilot("user-prompt-submit", []byte(`{"session_id":"a1","agent_id":"a1","parent_agent_id":"s1","prompt":"explore"}`))
	if c.Session != "s1" || c.Main() {
		t.Errorf("a sub-agent: %+v", c)
	}
	c = decodeCopilot("post-tool-use", []byte(`{"session_id":"s1","tool_name":"create","tool_input":{"path":"/p/a.go","file_text":"x"}}`))
	if c.Tool.File != "/p/a.go" || len(c.Tool.Done) != 2 {
		t.Errorf("%+v", c.Tool)
	}
	r := Reply{Context: "know", Person: "see", Refuse: true, Block: "on"}
	for event, want := range map[string]string{
		"session-start": `{"additionalContext":"know"}`, "user-prompt-submit": `{"additionalContext":"know"}`, "post-tool-use": `{"additionalContext":"know"}`,
		"pre-compact": "", "stop": "",
	} {
		got := string(encodeCopilot(&Call{Event: event}, r))
		if trim(got) != want {
			t.Errorf("%s: %s", event, got)
		}
	}
	if v, ok := parseVersion("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'"); !ok || v != (Version{1, 0, 102}) {
		t.Errorf("version %v %v", v, ok)
	}
}

func trim(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}
