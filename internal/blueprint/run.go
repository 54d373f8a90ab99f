package blueprint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a stage's command.
const (
	RunTimeout = 10 * time.Minute // where the file says nothing
	maxOutput  = 64 << 10         // of what it prints, half from its beginning, half from its end
)

// Ran is how a command ended.
type Ran struct {
	Exit     int // -1: it did not end by itself
	Output   string
	TimedOut bool
	Took     time.Duration
	Err      error // it could not be started
}

// Run runs a command line with the shell, in a folder. What it prints goes to live,
// too. A command that does not end in time is ended with all that it started.
func Run(ctx context.Context, line, dir string, env []string, limit time.Duration, live io.Writer, now func() time.Time) Ran {
	limit = cmp.Or(limit, RunTimeout)
	begin := now()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, 2*time.Second
	ownGroup(cmd)
	out := &bounded{live: live}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	r := Ran{Output: out.String(), Took: now().Sub(begin), TimedOut: errors.Is(context.Cause(ctx), errTime)}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case r.TimedOut || ctx.Err() != nil:
		r.Exit = -1
	case errors.As(err, &exit):
		r.Exit = exit.ExitCode()
	case errors.Is(err, exec.ErrWaitDelay): // it ended, something that it started did not
	default:
		r.Exit, r.Err = -1, err
	}
	return r
}

var errTime = errors.New("the time is up")

// bounded keeps the beginning and the end of what is written to it.
type bounded struct {
	mu   sync.Mutex
	live io.Writer
	head []byte
	tail []byte
	lost int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live != nil {
		_, _ = b.live.Write(p) // whoever looks on may go away
	}
	n := len(p)
	room := max(0, maxOutput/2-len(b.head))
	b.head = append(b.head, p[:min(room, n)]...)
	p = p[min(room, n):]
	b.tail = append(b.tail, p...)
	if over := len(b.tail) - maxOutput/2; over > 0 {
		b.lost += over
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return n, nil
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out bytes.Buffer
	out.Write(b.head)
	if b.lost > 0 {
		fmt.Fprintf(&out, "\n… %d bytes …\n", b.lost)
	}
	out.Write(b.tail)
	text := out.String()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text
}
