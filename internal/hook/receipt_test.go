package hook

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// A host that does not take what a hook prints gets it with the next one, and no
// receipt says otherwise.
func TestNothingIsDeliveredThatWasNotPrinted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("user-prompt-submit", "claude-code", start)
	p.call("pre-compact", "claude-code", `"trigger":"manual"`)
	code := Main([]string{"session-start", "--host", "claude-code"}, Env{
		Stdin: strings.NewReader(`{"session_id":"s1","source":"compact"}`), Stdout: deaf{}, Stderr: io.Discard,
		Getenv: func(key string) string { return map[string]string{"HOME": p.dir}[key] },
		Dir:    filepath.Join(p.dir, "project"), Now: func() time.Time { return p.now },
	})
	if n := p.count(message.EventSessionRecovery); code != 0 || n != 0 {
		t.Errorf("exit %d, %d receipts", code, n)
	}
	for i, want := range []bool{true, false} {
		out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":"go on"`)
		if got := strings.Contains(out, "speed up the parser"); got != want {
			t.Errorf("prompt %d: handed over %v: %s", i, got, out)
		}
	}
	if n := p.count(message.EventSessionRecovery); n != 1 {
		t.Errorf("%d receipts", n)
	}
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("closed") }
