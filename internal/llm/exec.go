package llm

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// How long a killed program's children may hold its pipes open.
const waitDelay = 2 * time.Second

// execute runs a command. When ctx ends, the program and everything it started are
// killed. A program that ran and failed is no error here.
func execute(ctx context.Context, c command) (output, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin = strings.NewReader(c.Stdin)
	stdout, stderr := bounded{limit: maxReply + 1}, bounded{limit: maxErrorReply}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	err := cmd.Run()
	out := output{Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.Bytes()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		out.Code = exit.ExitCode()
		err = nil
	case errors.Is(err, exec.ErrWaitDelay):
		// It ended well; a child it left behind holds the pipe.
		err = nil
	}
	return out, err
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
