package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// cli asks through the claude program in print mode, with the user's own login.
// It runs in an empty folder, without tools, servers, skills or a saved session,
// and with our own hooks switched off: the text is only read.
type cli struct {
	// Path is the program; empty means claude from PATH.
	Path string
	// Model is an alias or name that the program knows; empty is its default.
	Model string
	// Env is the environment to start from.
	Env []string
	// Run runs a command; nil means Exec.
	Run func(context.Context, command) (output, error)
}

// command is one run of a program.
type command struct {
	Path  string
	Args  []string
	Env   []string
	Dir   string
	Stdin string
}

// output is what a program printed and how it ended.
type output struct {
	Stdout, Stderr []byte
	Code           int
}

// The agent refuses to start inside another one and would join its session.
var agentVars = [...]string{"CLAUDECODE=", "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CODE_SSE_PORT=", "CLAUDE_CODE_SESSION_ID=", "OVERTONE_DISABLE="}

type cliResult struct {
	Type    string   `json:"type"`
	Subtype string   `json:"subtype"`
	IsError bool     `json:"is_error"`
	Status  int      `json:"api_error_status"`
	Result  string   `json:"result"`
	Cost    *float64 `json:"total_cost_usd"`
	Usage   struct {
		InputTokens         int `json:"input_tokens"`
		CacheCreationTokens int `json:"cache_creation_input_tokens"`
		CacheReadTokens     int `json:"cache_read_input_tokens"`
		OutputTokens        int `json:"output_tokens"`
	} `json:"usage"`
}

// ask runs the program once.
func (c cli) ask(ctx context.Context, p Prompt) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, transportError(ctx, err)
	}
	dir, err := os.MkdirTemp("", "overtone-claude-")
	if err != nil {
		return Answer{}, &Error{Kind: Missing, Err: fmt.Errorf("make a folder to run claude in: %w", err)}
	}
	defer os.RemoveAll(dir)
	run := c.Run
	if run == nil {
		run = execute
	}
	out, err := run(ctx, c.command(dir, p))
	switch {
	case ctx.Err() != nil:
		return Answer{}, transportError(ctx, ctx.Err())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return Answer{}, &Error{Kind: Missing, Message: "claude is not installed, or not in PATH", Err: err}
	case err != nil:
		return Answer{}, &Error{Kind: Network, Message: "run claude", Err: err}
	}
	return readResult(out)
}

func (c cli) command(dir string, p Prompt) command {
	cmd := command{Path: c.Path, Dir: dir, Stdin: p.User}
	cmd.Path = cmp.Or(cmd.Path, "claude")
	cmd.Args = []string{"-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands", "--tools", ""}
	if c.Model != "" {
		cmd.Args = append(cmd.Args, "--model", c.Model)
	}
	system := p.System
	if system == "" {
		// The program's own one costs about 6,000 tokens for each question.
		system = message.ModelRole.In(message.EN)
	}
	cmd.Args = append(cmd.Args, "--system-prompt", system)
next:
	for _, v := range c.Env {
		for _, name := range agentVars {
			if strings.HasPrefix(v, name) {
				continue next
			}
		}
		cmd.Env = append(cmd.Env, v)
	}
	cmd.Env = append(cmd.Env, "OVERTONE_DISABLE=1")
	return cmd
}

// readResult finds the result in what the program printed: one object, or the
// list of all events when the user's settings make it verbose.
func readResult(out output) (Answer, error) {
	if len(out.Stdout) > maxReply {
		return Answer{}, &Error{Kind: BadReply, Err: errTooLong}
	}
	var events []cliResult
	data := bytes.TrimSpace(out.Stdout)
	if !bytes.HasPrefix(data, []byte("[")) {
		data = append(append([]byte("["), data...), ']')
	}
	err := json.Unmarshal(data, &events)
	var r *cliResult
	for i := range events {
		if events[i].Type == "result" {
			r = &events[i]
		}
	}
	switch {
	case r == nil && out.Code != 0:
		text := string(out.Stderr)
		if strings.TrimSpace(text) == "" {
			text = string(out.Stdout)
		}
		return Answer{}, &Error{Kind: cliKind(0, text), Message: fmt.Sprintf("claude exited with code %d: %s", out.Code, oneLine(text, ""))}
	case r == nil:
		return Answer{}, &Error{Kind: BadReply, Message: "claude printed no result", Err: err}
	}
	a := Answer{Text: r.Result, Usage: Usage{
		Input: r.Usage.InputTokens + r.Usage.CacheCreationTokens + r.Usage.CacheReadTokens, Output: r.Usage.OutputTokens, Cost: r.Cost,
	}}
	switch {
	case r.IsError || r.Subtype != "success" && r.Subtype != "":
		text := cmp.Or(r.Result, r.Subtype)
		return a, &Error{Kind: cliKind(r.Status, text), Status: r.Status, Message: oneLine(text, "")}
	case a.Text == "":
		return a, &Error{Kind: BadReply, Message: "no text"}
	}
	return a, nil
}

// cliKind tells what an error of the program means: by the status it reports,
// or, in versions that do not, by the few phrases that matter.
func cliKind(status int, text string) Kind {
	if status != 0 {
		return statusKind(status)
	}
	t := strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(t, w) })
	}
	switch {
	case has("/login", "invalid api key", "authentication", "credit balance", "401", "403"):
		return Auth
	case has("unknown option", "issue with the selected model"):
		return Missing
	case has("rate limit", "usage limit", "429"):
		return RateLimited
	case has("prompt is too long"):
		return BadRequest
	}
	return Server
}
