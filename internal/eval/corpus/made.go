package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

func rand64(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// member and list are JSON, to write lines with.
type (
	member = map[string]any
	list   = []any
)

// deed is one round of a made-up story: the user's words, a tool, the agent's answer,
// what the request used, and whether the context was compacted after it.
type deed struct {
	at                           time.Time
	prompt, file, output, answer string
	tokens                       tokens
	compacted                    bool
}

// madeUp are sessions in the shapes of the recorded ones, three of each host.
func madeUp(seed uint64) (all []session) {
	for n := range 3 {
		r := rand64(seed + uint64(n))
		var story []deed
		for i := range 40 {
			file := fmt.Sprintf("/work/shop/src/%s_%d.go", []string{"cart", "order", "price"}[r.IntN(3)], r.IntN(9))
			story = append(story, deed{
				at:     time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC),
				prompt: fmt.Sprintf("Please check the file %s; \"total\" is wrong \\ by %d €, 修正它 😀.\nSee <b>line</b> %d.", file, r.IntN(100), i), file: file,
				output: strings.Repeat(fmt.Sprintf("func loadCart%d() {\n\treturn \x1b[31m\"é\u2028\"\n}\n", r.IntN(50)), 1+r.IntN(60)),
				answer: "It was `applyCoupon`, which counted twice. The test in " + file + " shows it.",
				tokens: tokens{Input: 100 + int64(i), Output: 50 + r.Int64N(100), CacheRead: 1000 * int64(i%20)}, compacted: i%20 == 19,
			})
		}
		for i, write := range []func(*lines, []deed){claudeLines, codexLines, copilotLines, opencodeRows, geminiLines} {
			h := host.All()[i].Name
			w := &lines{id: fmt.Sprintf("%d%d000000-0000-4000-8000-%012d", i+1, n, n)}
			write(w, story)
			all = append(all, session{name: fmt.Sprintf("made-up-%s-%d", h, n), host: h, id: w.id, cwd: "/work/shop", data: w.out.Bytes()})
		}
	}
	return all
}

// lines writes a session's.
type lines struct {
	id  string
	n   int
	out bytes.Buffer
}

func (l *lines) add(v member) string {
	l.n++
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	l.out.Write(append(b, '\n'))
	return l.name(l.n)
}

func (l *lines) name(n int) string { return fmt.Sprintf("%s-%04d", l.id[:8], n) }

func claudeLines(l *lines, story []deed) {
	parent := any(nil)
	say := func(d deed, typ string, content any, more member) {
		v := member{"type": typ, "uuid": l.name(l.n + 1), "parentUuid": parent, "sessionId": l.id, "cwd": "/work/shop", "version": "2.1.197", "isSidechain": false, "timestamp": iso(d.at, l.n)}
		message := member{"role": typ, "content": content}
		for k, x := range more {
			if k == "usage" || k == "id" || k == "model" {
				message[k] = x
			} else {
				v[k] = x
			}
		}
		if v["message"] = message; typ == "system" {
			delete(v, "message")
		}
		parent = l.add(v)
	}
	for i, d := range story {
		say(d, "user", d.prompt, nil)
		use := member{"id": fmt.Sprint("msg_", l.id[:8], i), "model": "claude-sonnet-4-5", "requestId": fmt.Sprint("req_", l.id[:8], i), "usage": member{
			"input_tokens": d.tokens.Input, "output_tokens": d.tokens.Output, "cache_read_input_tokens": d.tokens.CacheRead, "cache_creation_input_tokens": 0,
		}}
		call := fmt.Sprintf("toolu_%s%d", l.id[:8], i)
		say(d, "assistant", list{member{"type": "tool_use", "id": call, "name": "Read", "input": member{"file_path": d.file}}}, use)
		say(d, "user", list{member{"type": "tool_result", "tool_use_id": call, "content": d.output}}, nil)
		say(d, "assistant", list{member{"type": "text", "text": d.answer}}, use)
		if d.compacted {
			parent = nil
			say(d, "system", nil, member{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": member{"trigger": "auto", "preTokens": 150000}})
			say(d, "user", "This session is being continued. The summary: "+d.answer, member{"isCompactSummary": true})
		}
	}
}

func codexLines(l *lines, story []deed) {
	say := func(d deed, typ string, payload member) {
		l.add(member{"timestamp": iso(d.at, l.n), "type": typ, "payload": payload})
	}
	words := func(role, kind, text string) member {
		return member{"type": "message", "role": role, "content": list{member{"type": kind, "text": text}}}
	}
	say(story[0], "session_meta", member{"id": l.id, "cwd": "/work/shop", "cli_version": "0.166.0", "originator": "codex_cli_rs", "timestamp": iso(story[0].at, 0)})
	say(story[0], "turn_context", member{"cwd": "/work/shop", "model": "gpt-5-codex"})
	var sum tokens
	for i, d := range story {
		say(d, "response_item", words("user", "input_text", d.prompt))
		say(d, "event_msg", member{"type": "user_message", "message": d.prompt})
		call := fmt.Sprint("call_", i)
		arguments, _ := json.Marshal(member{"cmd": "cat " + d.file}) // a map of texts
		say(d, "response_item", member{"type": "function_call", "name": "exec_command", "call_id": call, "arguments": string(arguments)})
		say(d, "response_item", member{"type": "function_call_output", "call_id": call, "output": "Process exited with code 0\nOutput:\n" + d.output})
		sum = used{"a": sum, "b": d.tokens}.sum()
		count := func(t tokens) member {
			in := t.Input + t.CacheRead
			return member{"input_tokens": in, "cached_input_tokens": t.CacheRead, "output_tokens": t.Output, "total_tokens": in + t.Output}
		}
		say(d, "event_msg", member{"type": "token_count", "info": member{"total_token_usage": count(sum), "last_token_usage": count(d.tokens), "model_context_window": 258400}})
		say(d, "response_item", words("assistant", "output_text", d.answer))
		if d.compacted {
			say(d, "compacted", member{"message": "The summary: " + d.answer})
		}
	}
}

func copilotLines(l *lines, story []deed) {
	say := func(d deed, typ string, data member) {
		l.add(member{"type": typ, "data": data, "id": l.name(l.n + 1), "timestamp": iso(d.at, l.n), "parentId": l.name(l.n)})
	}
	say(story[0], "session.start", member{"sessionId": l.id, "copilotVersion": "1.0.102", "selectedModel": "claude-sonnet-4-5", "context": member{"cwd": "/work/shop"}})
	for i, d := range story {
		say(d, "user.message", member{"content": d.prompt})
		call := fmt.Sprint("t", i)
		say(d, "session.usage_record", member{"usage": member{
			"model": "claude-sonnet-4-5", "inputTokens": d.tokens.Input + d.tokens.CacheRead, "outputTokens": d.tokens.Output, "cacheReadTokens": d.tokens.CacheRead, "cacheWriteTokens": 0,
		}})
		say(d, "assistant.message", member{"model": "claude-sonnet-4-5", "content": "I look.", "toolRequests": list{member{"toolCallId": call, "name": "bash", "arguments": member{"command": "cat " + d.file}}}})
		say(d, "tool.execution_complete", member{"toolCallId": call, "success": true, "result": member{"content": d.output}})
		say(d, "assistant.message", member{"model": "claude-sonnet-4-5", "content": d.answer})
	}
}

func geminiLines(l *lines, story []deed) {
	l.add(member{"sessionId": l.id, "projectHash": "x", "startTime": iso(story[0].at, 0), "lastUpdated": iso(story[0].at, 0), "kind": "main"})
	for i, d := range story {
		l.add(member{"id": fmt.Sprint("u", i, l.id), "timestamp": iso(d.at, l.n), "type": "user", "content": list{member{"text": d.prompt}}})
		l.add(member{
			"id": fmt.Sprint("a", i, l.id), "timestamp": iso(d.at, l.n), "type": "gemini", "content": d.answer, "model": "gemini-2.5-pro",
			"tokens": member{"input": d.tokens.Input + d.tokens.CacheRead, "output": d.tokens.Output, "cached": d.tokens.CacheRead, "thoughts": 3},
			"toolCalls": list{member{
				"id": fmt.Sprint("read_file-", i), "name": "read_file", "args": member{"file_path": d.file}, "status": "success",
				"result": list{member{"functionResponse": member{"id": fmt.Sprint("read_file-", i), "name": "read_file", "response": member{"output": d.output}}}},
			}},
		})
	}
}

func opencodeRows(l *lines, story []deed) {
	row := func(table, id string, d deed, v member) {
		fmt.Fprintf(&l.out, "%s\t%s\t%d\t", table, id, d.at.UnixMilli()+int64(l.n))
		l.add(v)
	}
	l.id = "ses_" + strings.ReplaceAll(l.id, "-", "")
	for i, d := range story {
		ask, answer := fmt.Sprintf("msg_%04d", 2*i), fmt.Sprintf("msg_%04d", 2*i+1)
		row("message", ask, d, member{"role": "user", "time": member{"created": d.at.UnixMilli()}})
		row("part", ask+"p", d, member{"type": "text", "text": d.prompt})
		row("message", answer, d, member{
			"role": "assistant", "modelID": "m1", "providerID": "mock", "time": member{"created": d.at.UnixMilli(), "completed": d.at.UnixMilli() + 500},
			"tokens": member{"input": d.tokens.Input, "output": d.tokens.Output, "reasoning": 2, "cache": member{"read": d.tokens.CacheRead, "write": 0}},
		})
		row("part", answer+"p1", d, member{"type": "tool", "tool": "read", "callID": fmt.Sprint("c", i), "state": member{"status": "completed", "input": member{"filePath": d.file}, "output": d.output}})
		row("part", answer+"p2", d, member{"type": "text", "text": d.answer})
	}
}

func iso(t time.Time, n int) string {
	return t.Add(time.Duration(n%1000) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}
