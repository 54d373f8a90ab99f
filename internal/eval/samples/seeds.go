package samples

// Small are sessions of a few lines, one for each format that is read as lines, with
// what readers stumble over: for fuzzing to begin with.
func Small() []string {
	return []string{
		`{"type":"user","uuid":"a","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w","sessionId":"s","message":{"role":"user","content":"fix \"loadCart\" in /w/cart.go \ud83d\ude00"}}
{"type":"assistant","uuid":"b","parentUuid":"a","timestamp":"2026-03-01T09:00:01.000Z","requestId":"r","message":{"role":"assistant","id":"m","model":"claude-sonnet-4-5","usage":{"input_tokens":9,"output_tokens":3},"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"git commit -m 'x'"}},{"type":"text","text":"done\u00e9"}]}}
{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"Exit code 1\n[main 1234567] x"}]}]}}
{"type":"system","subtype":"compact_boundary","uuid":"d","timestamp":"2026-03-01T09:00:02.000Z","compactMetadata":{"trigger":"auto","preTokens":150000}}
{"type":"user","uuid":"e","parentUuid":"d","isCompactSummary":true,"message":{"role":"user","content":"Summary: loadCart"}}
{"type":"assistant","uuid":"f","parentUuid":"e","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"assistant","id":"n","usage":{"input_tokens":9,"output_tokens":3},"content":[{"type":"tool_use","id":"u","name":"Edit","input":{"file_path":"/w/cart.go","old_string":"loadCart()","new_string":"mergeCart()"}}]}}
`,
		`{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-000000000000","cwd":"/w","cli_version":"0.166.0"}}
{"timestamp":"2026-03-01T09:00:00.000Z","type":"turn_context","payload":{"model":"gpt-5-codex"}}
{"timestamp":"2026-03-01T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<codex_internal_context source=\"user_goal\">: \"a\\\"\n</"}]}}
{"timestamp":"2026-03-01T09:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c","arguments":"{\"cmd\":\"cat loadCart.go\"}"}}
{"timestamp":"2026-03-01T09:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Process exited with code 1\nOutput:\nmergeCart"}}
{"timestamp":"2026-03-01T09:00:04.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":5,"total_tokens":14},"last_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":5,"total_tokens":14},"model_context_window":100000}}}
{"timestamp":"2026-03-01T09:00:05.000Z","type":"compacted","payload":{"message":"mergeCart","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]}}
{"timestamp":"2026-03-01T09:00:06.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"d","arguments":"{\"cmd\":\"cat loadCart.go\"}"}}
`,
		`{"type":"session.start","data":{"sessionId":"s","copilotVersion":"1.0.102","selectedModel":"claude-sonnet-4-5","context":{"cwd":"/w"}},"timestamp":"2026-03-01T09:00:00.000Z"}
{"type":"user.message","data":{"content":"fix loadCart"},"timestamp":"2026-03-01T09:00:01.000Z"}
{"type":"session.usage_record","data":{"usage":{"model":"m","inputTokens":9,"outputTokens":1,"cacheReadTokens":20}},"timestamp":"2026-03-01T09:00:02.000Z"}
{"type":"assistant.message","data":{"content":"\\","toolRequests":[{"toolCallId":"t","name":"bash","arguments":{"command":"cat loadCart.go"}}]},"timestamp":"2026-03-01T09:00:03.000Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"the user said:\nno"}},"timestamp":"2026-03-01T09:00:04.000Z"}
{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":9010,"trigger":"manual","summaryContent":"half of loadCart"},"timestamp":"2026-03-01T09:00:05.000Z"}
`,
	}
}
