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
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// The agent refuses to start inside another one and would join its session.
var agentVars = [...]string{
	"CLAUDECODE=", "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CODE_SSE_PORT=", "CLAUDE_CODE_SESSION_ID=", "OVERTONE_DISABLE=",
}

// claude asks through the claude program in print mode, with the user's own login.
// It runs in an empty folder, without tools, servers, skills or a saved session,
// and with our own hooks switched off: the text is only read.
func (s Service) claude(ctx context.Context, prompt string) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, transportError(ctx, err)
	}
	dir, err := os.MkdirTemp("", "overtone-claude-")
	if err != nil {
		return Answer{}, &Error{Kind: Missing, Err: fmt.Errorf("make a folder to run claude in: %w", err)}
	}
	defer os.RemoveAll(dir)
	cmd := s.command(ctx, dir, prompt)
	stdout, stderr := bounded{limit: maxReply + 1}, bounded{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Answer{}, transportError(ctx, ctx.Err())
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		// A program that ran and failed tells why; one that ended well may have left a
		// child behind that holds the pipe.
		return readResult(stdout.buf.Bytes(), stderr.buf.Bytes(), cmd.ProcessState.ExitCode())
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return Answer{}, &Error{Kind: Missing, Message: "claude is not installed, or not in PATH", Err: err}
	}
	return Answer{}, &Error{Kind: Network, Message: "run claude", Err: err}
}

// waitDelay is how long a killed program's children may hold its pipes open.
const waitDelay = 2 * time.Second

// command prepares the program. When ctx ends, it and everything it started are
// killed.
func (s Service) command(ctx context.Context, dir, prompt string) *exec.Cmd {
	// The program's own system prompt costs about 6,000 tokens for each question.
	system := message.ModelRole.In(message.EN)
	args := []string{
		"-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands", "--tools", "",
	}
	if s.Model != "" {
		args = append(args, "--model", s.Model)
	}
	cmd := exec.CommandContext(ctx, "claude", append(args, "--system-prompt", system)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, strings.NewReader(prompt), waitDelay
	cmd.Env = slices.DeleteFunc(slices.Clone(s.Env), func(v string) bool {
		return slices.ContainsFunc(agentVars[:], func(name string) bool { return strings.HasPrefix(v, name) })
	})
	cmd.Env = append(cmd.Env, "OVERTONE_DISABLE=1")
	ownGroup(cmd)
	return cmd
}

// bounded keeps the first bytes written to it and swallows the rest, so that a
// program that prints without end neither blocks nor fills the memory.
type bounded struct {
	buf   bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), b.limit-b.buf.Len())])
	return len(p), nil
}

// readResult finds the result in what the program printed: one object, or the
// list of all events when the user's settings make it verbose.
func readResult(stdout, stderr []byte, code int) (Answer, error) {
	if len(stdout) > maxReply {
		return Answer{}, &Error{Kind: BadReply, Err: errTooLong}
	}
	var r gjson.Result
	if all := gjson.ParseBytes(stdout); json.Valid(stdout) {
		for _, event := range all.Array() {
			if event.Get("type").String() == "result" {
				r = event
			}
		}
	}
	switch {
	case !r.Exists() && code != 0:
		text := string(stderr)
		if strings.TrimSpace(text) == "" {
			text = string(stdout)
		}
		return Answer{}, &Error{Kind: cliKind(0, text), Message: fmt.Sprintf("claude exited with code %d: %s", code, oneLine(text, ""))}
	case !r.Exists():
		return Answer{}, &Error{Kind: BadReply, Message: "claude printed no result"}
	}
	a := Answer{Text: r.Get("result").String(), Usage: counted(r.Get("usage"))}
	subtype, status := r.Get("subtype").String(), int(r.Get("api_error_status").Int())
	switch {
	case r.Get("is_error").Bool() || subtype != "success" && subtype != "":
		text := cmp.Or(a.Text, subtype)
		return a, &Error{Kind: cliKind(status, text), Status: status, Message: oneLine(text, "")}
	case a.Text == "":
		return a, errNoText
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
