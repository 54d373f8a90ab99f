package hook

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Before the first request of a turn the gate lets a compaction go, though nothing but the
// turn before has ended: which request is the first is known by structure.
func TestGateAtAPrompt(t *testing.T) {
	t.Parallel()
	n := 0
	prompt := func(p *place, text, more string) {
		n++
		p.call("user-prompt-submit", "claude-code", fmt.Sprintf(`"prompt":%q,"prompt_id":"p%d"%s,%s`, text, n, more, p.usage(145_000)))
	}
	batch := func(p *place) {
		p.call("post-tool-batch", "claude-code", `"tool_calls":[{"tool_use_id":"t1","tool_response":"x"}],`+p.usage(145_000))
	}
	stop := func(p *place, tasks string) {
		p.call("stop", "claude-code", `"last_assistant_message":"1. the lexer 2. the printer","background_tasks":[`+tasks+`],`+p.usage(145_000))
	}
	turn := func(p *place, tasks string) {
		prompt(p, "port the parser", "")
		batch(p)
		stop(p, tasks)
	}
	begin := func(p *place, source string) {
		p.call("session-start", "claude-code", fmt.Sprintf(`"source":%q,%s`, source, p.usage(145_000)))
	}
	for name, c := range map[string]struct {
		config string
		play   func(p *place)
		open   bool
	}{
		"where nothing is known":     {"", func(p *place) { prompt(p, "go on", "") }, true},
		"after a turn":               {"", func(p *place) { turn(p, ""); prompt(p, "yes, do 1", "") }, true},
		"a command is a prompt":      {"", func(p *place) { turn(p, ""); prompt(p, "/review", "") }, true},
		"after reads":                {"", func(p *place) { turn(p, ""); prompt(p, "yes, do 1", ""); batch(p) }, false},
		"typed while it works":       {"", func(p *place) { turn(p, ""); prompt(p, "yes", ""); batch(p); n--; prompt(p, "and 2", "") }, false},
		"a note of the host's":       {"", func(p *place) { turn(p, ""); prompt(p, "<task-notification>done</task-notification>", "") }, false},
		"after a note's turn":        {"", func(p *place) { turn(p, ""); prompt(p, "<task-notification>x", ""); stop(p, ""); prompt(p, "yes", "") }, true},
		"after Esc":                  {"", func(p *place) { prompt(p, "port it", ""); batch(p); prompt(p, "no, the lexer", "") }, false},
		"after a kill":               {"", func(p *place) { prompt(p, "port it", ""); batch(p); begin(p, "resume"); prompt(p, "go on", "") }, false},
		"at the resume after a kill": {"", func(p *place) { prompt(p, "port it", ""); batch(p); begin(p, "resume") }, false},
		"after an error": {"", func(p *place) {
			prompt(p, "port it", "")
			p.call("stop-failure", "claude-code", `"error":"500"`)
			prompt(p, "go on", "")
		}, false},
		"after a resume":                        {"", func(p *place) { turn(p, ""); begin(p, "resume"); prompt(p, "yes, do 1", "") }, true},
		"at a resume":                           {"", func(p *place) { turn(p, ""); begin(p, "resume") }, true},
		"at a resume where nothing is known":    {"", func(p *place) { begin(p, "resume") }, true},
		"somebody else's Stop hook sends it on": {"", func(p *place) { turn(p, "") }, false},
		"a turn of words only, sent on":         {"", func(p *place) { prompt(p, "why?", ""); stop(p, "") }, false},
		"an agent runs on":                      {"", func(p *place) { turn(p, `{"id":"a1","type":"subagent","status":"running"}`); prompt(p, "yes", "") }, false},
		"a shell runs on":                       {"", func(p *place) { turn(p, `{"id":"b1","type":"shell","status":"running"}`); prompt(p, "yes", "") }, true},
		"the user does not want to wait":        {"  at_prompt: false\n", func(p *place) { turn(p, ""); prompt(p, "yes", "") }, false},
		"nor after a commit": {"  at_prompt: false\n", func(p *place) {
			prompt(p, "port it", "")
			p.call("post-tool-use", "claude-code", `"tool_name":"Bash","tool_use_id":"b1","tool_input":{"command":"git commit -m x"},"tool_response":{"stdout":"[main abc1234] x\n 1 file changed","stderr":""},`+p.usage(145_000))
			stop(p, "")
			prompt(p, "yes", "")
		}, false},
		"the boundary is not in the list":        {"  trigger:\n    auto_requires_any_boundary: [commit]\n", func(p *place) { turn(p, ""); prompt(p, "yes", "") }, false},
		"the boundary by the name of its origin": {"  trigger:\n    auto_requires_any_boundary: [turn_complete]\n", func(p *place) { turn(p, ""); prompt(p, "yes", "") }, true},
		"a stage goes on": {"", func(p *place) {
			prompt(p, "[workflow:quick] build it", "")
			p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build","run_in_background":true}`)
			stop(p, "")
			prompt(p, "/overtone:resume", "")
		}, false},
		"a workflow rests": {"", func(p *place) {
			prompt(p, "[workflow:quick] build it", "")
			stop(p, "")
			stop(p, "")
			prompt(p, "wait, what is a lexer?", "")
		}, true},
	} {
		p := newPlace(t)
		p.write(".overtone/config.yaml", "language: en\ncompact:\n  mode: auto\n  context_window: 200000\n"+c.config)
		c.play(p)
		out, errs := p.call("pre-compact", "claude-code", `"trigger":"auto",`+p.usage(145_000))
		if open := !strings.Contains(out, `"block"`); open != c.open || errs != "" {
			t.Errorf("%s: open %v, %s", name, open, errs)
		}
	}
}

// The status line says when a compaction is due that comes with the next message, in both
// languages.
func TestStatusLineTellsTheNextCompaction(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"language: en\ncompact:\n  mode: auto\n":                     "27% context left · turn_end · compacts with your next message",
		"language: zh-TW\ncompact:\n  mode: auto\n":                  "context 剩 27% · turn_end · 壓縮：隨你的下一則訊息",
		"language: en\ncompact:\n  mode: auto\n  at_prompt: false\n": "27% context left · turn_end",
		"language: en\n": "27% context left · turn_end",
	} {
		p := newPlace(t)
		p.write(".overtone/config.yaml", config)
		p.call("user-prompt-submit", "claude-code", `"prompt":"port it",`+p.usage(145_000))
		p.call("stop", "claude-code", `"last_assistant_message":"There are two ways.",`+p.usage(145_000))
		var errs strings.Builder
		line := StatusLine(Env{
			Stdin:  strings.NewReader(`{"session_id":"s1","context_window":{"context_window_size":200000,"total_input_tokens":145000}}`),
			Stderr: &errs, Getenv: func(key string) string { return map[string]string{"HOME": p.dir}[key] }, Now: func() time.Time { return p.now },
		})
		if line != want || errs.String() != "" {
			t.Errorf("%s: %q, %s", config, line, errs.String())
		}
	}
}
