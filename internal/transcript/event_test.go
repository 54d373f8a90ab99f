package transcript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// told writes events as lines: what happened, how it went, what was said.
func told(t *testing.T, h transcript.Host, want transcript.Want, lines ...string) []string {
	t.Helper()
	var out []string
	last := int64(0)
	_, err := transcript.Events(context.Background(), strings.NewReader(strings.Join(lines, "\n")), 0, h, want, func(e *transcript.Event) {
		if e.Off < last || e.End <= e.Off || e.Kind == transcript.Compacted && e.Off == last && last > 0 {
			t.Errorf("an event at %d to %d follows one at %d", e.Off, e.End, last)
		}
		last = e.Off
		words := []string{[...]string{"", "about", "user", "host", "agent", "call", "result", "used", "compacted", "summary", "interrupted", "ended", "attached"}[e.Kind]}
		words = append(words, [...]string{"", "queued", "answered", "rejected", "with /compact", "aimed", "approved"}[e.How])
		if e.Side {
			words = append(words, "aside")
		}
		if e.Failed {
			words = append(words, "failed")
		}
		if e.Refused {
			words = append(words, "refused")
		}
		words = append(words, e.Tool)
		if e.Kind == transcript.Counted {
			if e.Side && e.Time == 0 {
				t.Error("what a sub-agent used has no day")
			}
			words = append(words, fmt.Sprint(e.Usage.Tokens()), e.Usage.Model)
		} else {
			words = append(words, e.Text())
		}
		out = append(out, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEventsOfClaude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  []string
		ask   transcript.Want
	}{
		"texts": {lines: []string{
			`{"type":"user","message":{"role":"user","content":"Fix \"it\"\nplease"}}`,
			`{"type":"user","isMeta":true,"message":{"role":"user","content":"a skill"}}`,
			`{"type":"user","isSidechain":true,"message":{"role":"user","content":"for a sub-agent"}}`,
			`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"the summary"}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}`,
		}, want: []string{`user Fix "it" please`, "host a skill", "compacted", "summary the summary", "host <system-reminder>x</system-reminder>"}},
		"tools": {lines: []string{
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":1}}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"boom"}]}]},"toolUseResult":{"stdout":"again"}}`,
		}, want: []string{"agent I will.", "call Bash ls", "result failed boom"}},
		"lines that cannot be read": {lines: []string{
			`{"type":"system","subtype":"x","content":"no"}`,
			`not json`,
			`{"type":"user","message":{"role":"user","content":"one"}}{"type":"user","message":{"role":"user","content":"two"}}`,
			`{"type":"user","message":{"role":"user","content":"torn`,
		}, want: []string{"user one", "user two"}},
		"typed while the agent worked": {lines: []string{
			`{"isSidechain":false,"attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"},"type":"attachment","uuid":"u"}`,
			`{"isSidechain":false,"attachment":{"type":"queued_command","prompt":[{"type":"text","text":"and that"}]},"type":"attachment"}`,
			`{"isSidechain":false,"attachment":{"type":"queued_command","prompt":"<task-notification>x</task-notification>"},"type":"attachment"}`,
			`{"isSidechain":false,"attachment":{"type":"task_reminder","content":"no"},"type":"attachment"}`,
		}, want: []string{"user queued and this", "user queued and that", "host queued <task-notification>x</task-notification>"}},
		"what the host puts before the model, where it is asked for": {ask: transcript.Want{Attached: true}, lines: []string{
			`{"isSidechain":false,"attachment":{"type":"file","filename":"a.go","content":{"text":"func a()"}},"type":"attachment"}`,
			`{"isSidechain":false,"attachment":{"type":"queued_command","prompt":"and this"},"type":"attachment"}`,
		}, want: []string{"attached file a.go func a()", "user queued and this"}},
		"typed while the agent worked, and nowhere else": {lines: []string{
			`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01.000Z","content":"in mid-turn"}`,
			`{"type":"queue-operation","operation":"remove","timestamp":"2026-01-01T00:00:02.000Z"}`,
			`{"type":"queue-operation","operation":"enqueue","content":"as a message"}`,
			`{"type":"queue-operation","operation":"dequeue"}`,
			`{"type":"user","message":{"content":"as a message"}}`,
			`{"type":"queue-operation","operation":"enqueue","content":"beside the tools"}`,
			`{"type":"queue-operation","operation":"remove"}`,
			`{"attachment":{"type":"queued_command","prompt":"beside the tools"},"type":"attachment"}`,
			`{"type":"queue-operation","operation":"enqueue","content":"beside the tools, first"}`,
			`{"attachment":{"type":"queued_command","prompt":"beside the tools, first"},"type":"attachment"}`,
			`{"type":"queue-operation","operation":"remove"}`,
			`{"type":"queue-operation","operation":"enqueue","content":"taken back"}`,
			`{"type":"queue-operation","operation":"popAll","content":"taken back"}`,
			`{"type":"queue-operation","operation":"enqueue","content":"<agent-notification>x</agent-notification>"}`,
			`{"type":"queue-operation","operation":"enqueue","content":"waits for the compaction"}`,
			`{"type":"system","subtype":"compact_boundary"}`,
			`{"type":"queue-operation","operation":"dequeue"}`,
			`{"type":"queue-operation","operation":"dequeue"}`,
			`{"type":"user","message":{"content":"waits for the compaction"}}`,
			`{"type":"queue-operation","operation":"enqueue","content":"waits still"}`,
		}, want: []string{
			"user queued in mid-turn", "user as a message", "user queued beside the tools", "user queued beside the tools, first",
			"user queued waits for the compaction", "compacted", "user waits for the compaction", "user queued waits still",
		}},
		"a tool that the user refused, with and without words": {lines: []string{
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nno, \"never\" floats\n\nNote: The user's next message may contain a correction or preference."}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."}]}}`,
			`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t4","is_error":true,"content":"use decimals instead"}]},"toolUseResult":"Error: use decimals instead","toolDenialKind":"permission-rule","holdsPersonsWords":true}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"The user doesn't want to proceed with this tool use, says the file"}]}}`,
		}, want: []string{
			`result failed refused The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said: no, "never" floats Note: The user's next message may contain a correction or preference.`,
			`user rejected no, "never" floats`,
			"result failed refused The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
			"interrupted [Request interrupted by user for tool use]",
			"result failed refused use decimals instead", "user rejected use decimals instead",
			"result The user doesn't want to proceed with this tool use, says the file",
		}},
		"an answer to a question": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"q","content":"User has answered your questions: \"Which?\"=\"The \"second\" one\", \"Where?\"=\"Here\". You can now continue with the user's answers in mind."}]}}`,
		}, want: []string{"call AskUserQuestion Which?", `result User has answered your questions: "Which?"="The "second" one", "Where?"="Here". You can now continue with the user's answers in mind.`, `user answered The "second" one Here`}},
		"an answer that is none of the choices": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"q","content":"The user answered: \"Which?\"=\"None. Never fractions\". Read the answers carefully, and follow what they actually say."}]}}`,
		}, want: []string{"call AskUserQuestion Which?", `result The user answered: "Which?"="None. Never fractions". Read the answers carefully, and follow what they actually say.`, `user answered None. Never fractions`}},
		"answers in fields": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"},{"question":"Where?"}]}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"q","content":"User has answered your questions. You can now continue with the user's answers in mind."}]},"toolUseResult":{"questions":[{"question":"Which?"}],"answers":{"Which?":"The \"second\", \"=\"one","Where?":"Here"}}}`,
		}, want: []string{"call AskUserQuestion Which? Where?", "result User has answered your questions. You can now continue with the user's answers in mind.", `user answered The "second", "="one Here`}},
		"questions that were refused": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which?"}]}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"q","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n    Start by asking them what they would like to clarify."}]},"toolUseResult":"Error: x"}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse cents"}]}}`,
		}, want: []string{
			"call AskUserQuestion Which?",
			"result failed refused The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said: The user wants to clarify these questions. Start by asking them what they would like to clarify.",
			"result failed refused The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said: use cents", "user rejected use cents",
		}},
		"a plan that was approved": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"p","name":"ExitPlanMode","input":{"plan":"1. rename"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"p","is_error":true,"content":"no, another name"}]},"holdsPersonsWords":true}`,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"r","name":"ExitPlanMode","input":{"plan":"1. \"rename\""}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"r","content":"You can now proceed."}]},"toolUseResult":{"plan":null}}`,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"s","name":"ExitPlanMode","input":{"plan":"x"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"s","content":"You can now proceed."}]},"toolUseResult":{"plan":"1. \"rename\" both","filePath":"/p.md"}}`,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"ExitPlanMode","input":{}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"You can now proceed."}]}}`,
			`{"type":"user","planContent":"1. go","message":{"content":"Implement the following plan:\n\n1. go"}}`,
		}, want: []string{
			"call ExitPlanMode 1. rename", "result failed refused no, another name", "user rejected no, another name",
			`call ExitPlanMode 1. "rename"`, "result You can now proceed.", `user approved 1. "rename"`,
			"call ExitPlanMode x", "result You can now proceed.", `user approved 1. "rename" both`,
			"call ExitPlanMode", "result You can now proceed.",
			"user approved Implement the following plan: 1. go",
		}},
		"typed with /compact": {lines: []string{
			`{"type":"user","message":{"content":"<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>keep the port</command-args>"}}`,
			`{"type":"user","message":{"content":"<command-name>/compact</command-name>\n<command-args></command-args>"}}`,
			`{"type":"user","message":{"content":"<command-name>/review</command-name>\n<command-args>the port</command-args>"}}`,
		}, want: []string{"user with /compact keep the port", "user with /compact", "user /review the port"}},
		"what a person typed stays whole, without what the host put around it": {lines: []string{
			`{"type":"user","message":{"content":"<div>this</div> is not centred"}}`,
			`{"type":"user","message":{"content":"[Request interrupted by user] is what I read"}}`,
			`{"type":"user","message":{"content":"@main.py add type hints"}}`,
			`{"type":"user","message":{"content":[{"type":"text","text":"[Image #1] like \u003cthis\u003e"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}`,
			`{"type":"user","message":{"content":"<system-reminder>\nA task runs.\n</system-reminder>\n\nCan we \"colour\" it?"}}`,
			`{"type":"user","message":{"content":"<command-message>review</command-message>\n<command-name>/review</command-name>"}}`,
			`{"type":"user","message":{"content":"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"}}`,
			`{"type":"user","message":{"content":"<task-notification>\n<task-id>b</task-id>\n</task-notification>\nRead the output file to retrieve the result: /tmp/b.output"}}`,
		}, want: []string{
			"user <div>this</div> is not centred", "user [Request interrupted by user] is what I read", "user @main.py add type hints", "user [Image #1] like <this>",
			`user Can we "colour" it?`, "user /review", "host <command-name>/clear</command-name> <command-message>clear</command-message> <command-args></command-args>",
			"host <task-notification> <task-id>b</task-id> </task-notification> Read the output file to retrieve the result: /tmp/b.output",
		}},
		"an approved plan": {lines: []string{
			`{"type":"user","message":{"role":"user","content":"Implement the following plan:\n\n# Round\n\nIf you need details, read /s.jsonl"},"planContent":"# Round","uuid":"u"}`,
			`{"type":"user","planContent":null,"message":{"role":"user","content":"Implement the following plan:\n\n# Floor"}}`,
		}, want: []string{"user approved Implement the following plan: # Round", "user Implement the following plan: # Floor"}},
		"the end of a turn": {ask: transcript.Want{Agents: true}, lines: []string{
			`{"type":"assistant","message":{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`,
			`{"type":"assistant","message":{"stop_reason":null,"content":[{"type":"text","text":"On its way."}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}`,
			`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}],"stop_reason":"stop_sequence"}}`,
			`{"type":"system","subtype":"turn_duration","durationMs":5}`,
			`{"type":"system","subtype":"stop_hook_summary","hookCount":1}`,
			`{"type":"system","subtype":"away_summary","content":"x"}`,
			`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"Found."}],"stop_reason":"end_turn"}}`,
		}, want: []string{"call Bash ls", "agent On its way.", "agent Done.", "ended", "host No response requested.", "ended", "ended", "ended", "agent aside Found.", "ended aside"}},
		"a tool of the model's server, and one that says nothing": {lines: []string{
			`{"type":"assistant","message":{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"ports"}}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"true"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`,
		}, want: []string{"call web_search ports", "result", "call Bash true", "result"}},
		"a compaction": {lines: []string{
			`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":5}}`,
			`{"type":"system","subtype":"compact_boundary","isSidechain":true}`,
		}, want: []string{"compacted"}},
		"usage, also of a sub-agent whose own file may be gone": {ask: transcript.Want{Agents: true}, lines: []string{
			`{"type":"assistant","requestId":"r1","message":{"id":"m1","model":"opus","usage":{"input_tokens":2,"output_tokens":3},"content":[{"type":"text","text":"hi"}]}}`,
			`{"type":"progress","data":{"message":{"type":"assistant","message":{"model":"haiku","id":"m2","content":[],"usage":{"input_tokens":7,"output_tokens":1}},"timestamp":"2026-02-03T04:28:15.671Z","requestId":"r2"},"type":"agent_progress"}}`,
			`{"type":"progress","data":{"type":"hook_progress"}}`,
			`{"type":"assistant","message":{"id":"m3","model":"<synthetic>","usage":{"input_tokens":2},"content":[{"type":"text","text":"limit"}]},"isApiErrorMessage":true}`,
		}, want: []string{"used 5 opus", "agent hi", "used aside 8 haiku", "agent failed limit"}},
		"a progress line is not asked for": {lines: []string{
			`{"type":"progress","data":{"message":{"type":"assistant","message":{"model":"haiku","id":"m2","usage":{"input_tokens":7}}}}}`,
		}},
		"a request beside the conversation repeats it": {lines: []string{`{"type":"api-request-blob","message":{"content":"again"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, told(t, transcript.Claude, c.ask, c.lines...)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestEventsOfCodex(t *testing.T) {
	t.Parallel()
	got := told(t, transcript.Codex, transcript.Want{},
		`{"type":"session_meta","payload":{"id":"x"}}`,
		`{"type":"turn_context","payload":{"model":"gpt"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>y</environment_context>"},{"type":"input_text","text":"Fix it"}]}}`,
		`{"type":"event_msg","payload":{"type":"user_message","message":"Fix it"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]}}`,
		`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":3,"output_tokens":2}}}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a.go\\n\",\"metadata\":{\"exit_code\":0}}"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"Done"}]}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"patch rejected by user"}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"request_user_input","arguments":"{\"questions\":[{\"id\":\"a\",\"question\":\"Which?\"}]}","call_id":"c4"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c4","output":"{\"answers\":{\"a\":{\"answers\":[\"this\"]}}}"}}`,
		`{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`,
		`{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"zzz"}}`,
		`{"type":"response_item","payload":{"type":"local_shell_call","action":{"command":["ls"]},"call_id":"c5"}}`,
		`{"type":"response_item","payload":{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"ports"}}}`,
		`{"type":"response_item","payload":{"type":"tool_search_call","call_id":"c6","status":"completed","execution":"client","arguments":{"query":"agents","limit":5}}}`,
		`{"type":"response_item","payload":{"type":"tool_search_output","call_id":"c6","status":"completed","execution":"client","tools":[{"type":"namespace","name":"agents"}]}}`,
		`{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"I will."}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<codex_internal_context source=\"user_goal\">\nUser set the goal: \"Port \"all\" of it\"\n</codex_internal_context>"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<codex_internal_context source=\"user_goal\">\nThe goal is gone.\n</codex_internal_context>"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<codex_internal_context source=\"goal\">\nContinue working. Never stop.\n</codex_internal_context>"}]}}`,
	)
	want := []string{
		"about", "host <environment_context>y</environment_context>", "user Fix it", "agent I will.", "used 5 gpt", "call shell bash -lc ls", "result a.go",
		"call apply_patch *** Begin Patch", "result Done", "result refused patch rejected by user",
		"call request_user_input a Which?", "result this", "user answered this", "interrupted", "call local_shell ls",
		"call web_search search ports", "result", "call tool_search agents", "result", "ended",
		`user aimed Port "all" of it`, `host <codex_internal_context source="user_goal"> The goal is gone. </codex_internal_context>`, `host <codex_internal_context source="goal"> Continue working. Never stop. </codex_internal_context>`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Codex tells what was typed in an event behind the message that it puts to the model.
func TestTypedInCodex(t *testing.T) {
	t.Parallel()
	item := func(texts ...string) string {
		for i, text := range texts {
			texts[i] = fmt.Sprintf(`{"type":"input_text","text":%q}`, text)
		}
		return `{"type":"response_item","payload":{"type":"message","role":"user","content":[` + strings.Join(texts, ",") + `]}}`
	}
	typed := func(text string) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"user_message","message":%q}}`, text)
	}
	const (
		said  = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I see."}]}}`
		ended = `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"1","last_agent_message":"I see."}}`
		ide   = "# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nfix a.go\n"
	)
	for name, c := range map[string]struct{ lines, want []string }{
		"an item without an event is the host's, in a file that has them": {
			[]string{item("<environment_context>x</environment_context>"), item("one"), typed("one"), said, ended, item("Capabilities of a plugin"), item("two"), typed("two"), said, item("more of it"), said},
			[]string{"host <environment_context>x</environment_context>", "user one", "agent I see.", "ended", "host Capabilities of a plugin", "user two", "agent I see.", "host more of it", "agent I see."},
		},
		"the first rollouts have no events": {
			[]string{item("# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"), item("one"), said, item("<user_instructions>x</user_instructions>"), item("two"), said},
			[]string{"host # AGENTS.md instructions for /p <INSTRUCTIONS> x </INSTRUCTIONS>", "user one", "agent I see.", "host <user_instructions>x</user_instructions>", "user two", "agent I see."},
		},
		"pictures": {
			[]string{item("<image name=[Image #1]>", "</image>", "[Image #1] like this", "and that"), typed("[Image #1] like this\nand that"), said},
			[]string{"host <image name=[Image #1]>", "host </image>", "user [Image #1] like this and that", "agent I see."},
		},
		"what the host adds behind it": {
			[]string{item("one", "<skill>x</skill>"), typed("one"), said}, []string{"host <skill>x</skill>", "user one", "agent I see."},
		},
		"from an editor": {[]string{item(ide), typed(ide), said}, []string{"user fix a.go", "agent I see."}},
		"an event alone": {[]string{typed("one"), said}, []string{"user one", "agent I see."}},
		"the event is still to come": {
			[]string{item("one"), typed("one"), said, item("two")}, []string{"user one", "agent I see.", "user two"},
		},
		"the turn was stopped": {
			[]string{item("one"), typed("one"), item("<turn_aborted>\nThe user interrupted it.\n</turn_aborted>")}, []string{"user one", "interrupted <turn_aborted> The user interrupted it. </turn_aborted>"},
		},
	} {
		if d := cmp.Diff(c.want, told(t, transcript.Codex, transcript.Want{}, c.lines...)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// What the summariser said stands like an answer before the compaction; it is
// none.
func TestEventsLeaveTheSummariserOut(t *testing.T) {
	t.Parallel()
	said := func(text string) string {
		return `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}`
	}
	const count = `{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":3}}}}`
	got := told(t, transcript.Codex, transcript.Want{},
		said("Shall I?"), count, said("The work so far."), count,
		`{"type":"compacted","payload":{"message":"Another language model began. The work so far."}}`,
		said("Last words."), count,
	)
	want := []string{"agent Shall I?", "used 3", "used 3", "compacted Another language model began. The work so far.", "agent Last words.", "used 3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Tail decodes the end of a long result at a line's start.
func TestEventTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`line \"x\"\n`, 1000) + `the end`
	line := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` + long + `"}]}}`
	_, err := transcript.Events(context.Background(), strings.NewReader(line), 0, transcript.Claude, transcript.Want{}, func(e *transcript.Event) {
		tail := e.Tail(100)
		if len(tail) > 100 || !strings.HasSuffix(tail, "\nthe end") || !strings.HasPrefix(tail, `line "x"`) {
			t.Errorf("%q", tail)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Who skims sees the same prompts, answers and calls as who reads everything.
func TestEventsOfSamples(t *testing.T) {
	t.Parallel()
	files := samples.Find("real/*.jsonl")
	if len(files) == 0 {
		t.Skip("no samples")
	}
	for _, file := range files {
		h := transcript.Claude
		if strings.HasPrefix(filepath.Base(file), "codex") {
			h = transcript.Codex
		}
		count := func(want transcript.Want) map[transcript.EventKind]int {
			data, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			n := map[transcript.EventKind]int{}
			if _, err := transcript.Events(context.Background(), data, 0, h, want, func(e *transcript.Event) {
				n[e.Kind]++
				_ = e.Text()
			}); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			return n
		}
		all, skimmed := count(transcript.Want{}), count(transcript.Want{Results: func() bool { return false }})
		if all[transcript.ToolBegan] > 20 && all[transcript.ToolEnded] == 0 || skimmed[transcript.ToolEnded] > 0 {
			t.Errorf("%s: %v, skimmed %v", filepath.Base(file), all, skimmed)
		}
		delete(all, transcript.ToolEnded)
		for _, kind := range []transcript.EventKind{transcript.AgentSaid, transcript.ToolBegan, transcript.Counted, transcript.Compacted} {
			if all[kind] != skimmed[kind] {
				t.Errorf("%s: %d events of kind %d, skimmed %d", filepath.Base(file), all[kind], kind, skimmed[kind])
			}
		}
	}
}

// A line that is broken counts once, whoever reads the file: the index, who reads
// everything, and who passes over most of it. A line that is whole never does.
func TestUnreadableLinesAreTheSameForAll(t *testing.T) {
	t.Parallel()
	typed := `{"type":"user","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"go"}}`
	result := `{"type":"user","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"%s"}]},"toolUseResult":"%s"}`
	progress := `{"type":"progress","data":{"type":"agent_progress","message":{"requestId":"r","timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"m","model":"x","usage":{"input_tokens":1}}}},"uuid":"u","timestamp":"2026-01-02T03:04:06.000Z"}`
	output := `{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"%s"}}`
	for name, c := range map[string]struct {
		host transcript.Host
		line string
		want int
	}{
		"a result":                               {transcript.Claude, fmt.Sprintf(result, "x", "x"), 0},
		"a result with a broken escape":          {transcript.Claude, fmt.Sprintf(result, `\user`, "x"), 1},
		"a broken escape behind the result":      {transcript.Claude, fmt.Sprintf(result, "x", `\user`), 1},
		"what a sub-agent used":                  {transcript.Claude, progress, 0},
		"what a sub-agent used, cut off":         {transcript.Claude, progress[:len(progress)-9], 1},
		"a type that nobody asks for":            {transcript.Claude, `{"type":"file-history-snapshot","snapshot":{}}`, 0},
		"a type that nobody asks for, cut off":   {transcript.Claude, `{"type":"file-history-snapshot","snapshot":{`, 1},
		"two lines in one":                       {transcript.Claude, fmt.Sprintf(result, "x", "x") + typed, 0},
		"two lines in one, the second is broken": {transcript.Claude, fmt.Sprintf(result, "x", "x") + typed[:40], 1},
		"zero bytes":                             {transcript.Claude, "\x00\x00", 1},
		"an answer of Codex's":                   {transcript.Codex, fmt.Sprintf(output, "x"), 0},
		"an answer with a broken escape":         {transcript.Codex, fmt.Sprintf(output, `\user`), 1},
	} {
		text := strings.Join([]string{typed, c.line, "", typed}, "\n") + "\n"
		if c.host == transcript.Codex {
			text = strings.ReplaceAll(text, typed, `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-000000000000","cwd":"/p"}}`)
		}
		path := filepath.Join(t.TempDir(), "rollout-2026-01-02T03-04-05-019f0000-0000-7000-8000-000000000000.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := transcript.Read(context.Background(), path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Unreadable != c.want {
			t.Errorf("%s: the index counts %d, want %d", name, s.Unreadable, c.want)
		}
		for _, want := range []transcript.Want{{}, {Agents: true}, {Agents: true, Results: func() bool { return false }}} {
			n, err := transcript.Events(context.Background(), strings.NewReader(text), 0, c.host, want, func(*transcript.Event) {})
			if err != nil || n != c.want {
				t.Errorf("%s: who skims (%v) counts %d (%v), want %d", name, want.Results != nil, n, err, c.want)
			}
		}
	}
}

// The summary of a compaction of Codex's is its message, else the one that begins the new
// history; whatever else stands in there.
func TestSummaryOfCodex(t *testing.T) {
	t.Parallel()
	message := func(role, text string) string {
		return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	const began = "Another language model started to solve this problem. All is well."
	for line, want := range map[string]string{
		`{"message":"In short.","replacement_history":[` + message("user", began) + `]}`:                                         "compacted In short.",
		`{"message":"","replacement_history":[7,` + message("user", "Fix it.") + `,` + message("user", began) + `]}`:             "compacted " + began,
		`{"message":"","replacement_history":[` + message("assistant", began) + `,{"type":"compaction"},null]}`:                  "compacted",
		`{"message":"","replacement_history":[` + message("user", "Fix it.") + `,"` + strings.ReplaceAll(began, `"`, "") + `"]}`: "compacted",
	} {
		got := told(t, transcript.Codex, transcript.Want{}, `{"type":"session_meta","payload":{"id":"x"}}`, `{"type":"compacted","payload":`+line+`}`)
		if len(got) != 2 || got[1] != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// The first versions of Codex wrote items without an envelope, behind one line that names
// the session.
func TestEventsOfTheFirstCodex(t *testing.T) {
	t.Parallel()
	got := told(t, transcript.Codex, transcript.Want{},
		`{"id":"66666666-6666-4666-8666-666666666666","timestamp":"2025-08-06T18:02:11.653Z","instructions":null}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it"}]}`,
		`{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"I will."}]}`,
	)
	if d := cmp.Diff([]string{"about", "user Fix it", "agent I will."}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Two requests of one message's name are two; the lines of one message are one.
func TestRequestsAreToldApart(t *testing.T) {
	t.Parallel()
	line := func(msg, request string) string {
		return `{"type":"assistant",` + request + `"timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"` + msg + `","model":"m","usage":{"input_tokens":1},"content":[{"type":"text","text":"x"}]}}`
	}
	var keys []uint64
	_, err := transcript.Events(t.Context(), strings.NewReader(strings.Join([]string{
		line("m1", `"requestId":"r1",`), line("m1", `"requestId":"r1",`), line("m1", `"requestId":"r2",`), line("m2", `"requestId":"r1",`), line("m1", ""), line("m1", ""),
	}, "\n")), 0, transcript.Claude, transcript.Want{}, func(e *transcript.Event) {
		if e.Kind == transcript.Counted {
			keys = append(keys, e.Key)
		}
	})
	if err != nil || len(keys) != 6 {
		t.Fatal(keys, err)
	}
	same := func(a, b int) bool { return keys[a] == keys[b] }
	if !same(0, 1) || same(0, 2) || same(0, 3) || same(2, 3) || same(0, 4) || !same(4, 5) {
		t.Errorf("%x", keys)
	}
}

// Members have no order: who skims a rollout that some program has sorted sees what
// stands in it.
func TestMembersHaveNoOrder(t *testing.T) {
	t.Parallel()
	const rollout = `{"payload":{"cwd":"/p","id":"019f0000-0000-7000-8000-000000000000"},"type":"session_meta"}
{"payload":{"info":{"last_token_usage":{"input_tokens":7,"output_tokens":1},"total_token_usage":{"input_tokens":7,"output_tokens":1}},"type":"token_count"},"type":"event_msg"}
{"payload":{"arguments":"{}","call_id":"c","name":"exec_command","type":"function_call"},"type":"response_item"}
`
	n := map[transcript.EventKind]int{}
	if _, err := transcript.Events(t.Context(), strings.NewReader(rollout), 0, transcript.Codex, transcript.Want{Results: func() bool { return false }}, func(e *transcript.Event) { n[e.Kind]++ }); err != nil {
		t.Fatal(err)
	}
	if n[transcript.About] != 1 || n[transcript.Counted] != 1 || n[transcript.ToolBegan] != 1 {
		t.Errorf("events %v", n)
	}
}
