package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Listening reports whether somebody can be asked.
func (t *Terminal) Listening() bool {
	in, ok := t.Stdin.(*os.File)
	return ok && t.IsTTY(in.Fd())
}

// Ask reads an answer from a person at a terminal; where nobody sits, that is a
// misuse.
func (t *Terminal) Ask(ctx context.Context, question string, nobody message.Text) (string, error) {
	if !t.Listening() {
		return "", message.Misuse{Err: message.Fail(nobody)}
	}
	fmt.Fprint(t.Stderr, question+" ")
	return ReadLine(ctx, t.Stdin)
}

// ReadLine waits for a line or for the end of ctx: Ctrl-C must work at a prompt.
func ReadLine(ctx context.Context, r io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		var line []byte
		// Byte by byte: a buffer would swallow the next answer.
		for b := make([]byte, 1); ; {
			n, err := r.Read(b)
			switch {
			case n > 0 && b[0] != '\n':
				line = append(line, b[0])
				continue
			case n == 0 && err == nil:
				continue
			case n == 0 && len(line) == 0: // the end of the input, and no answer
				got <- answer{err: message.Fail(message.Interrupted)}
				return
			}
			got <- answer{line: strings.TrimSpace(string(line))}
			return
		}
	}()
	select {
	case a := <-got:
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
