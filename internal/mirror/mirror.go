// Package mirror keeps our files of sessions up to date that their hosts keep in
// another way than in lines, and gives clones of such sessions back to the hosts. It
// alone opens opencode's database, and only to read it.
//
// Hooks do not link it: what they need of a session is sent to them.
package mirror

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// often is how long a look at a host's sessions is good for: a command asks many times.
const often = 2 * time.Second

var looked = struct {
	sync.Mutex
	at map[string]time.Time
}{at: map[string]time.Time{}}

// Refresh brings the mirrors of a host's sessions in root up to date. find knows the
// user's home, as for [host.Host.Dir].
func Refresh(ctx context.Context, h *host.Host, find func(variable, usual string) string, root string, now time.Time) error {
	looked.Lock()
	defer looked.Unlock()
	mine := filepath.Join(root, h.Sessions.Dir)
	if since := now.Sub(looked.at[mine]); since >= 0 && since < often {
		return nil
	}
	looked.at[mine] = now
	if h.Name == host.Gemini {
		return refreshGemini(h.Dir(find), root, mine)
	}
	return refreshOpencode(ctx, opencodeDatabase(find), root, mine)
}

// Clone is a clone of a mirror that its host does not know yet.
type Clone struct {
	Source, From string // the session, and its mirror
	ID, Path     string // the clone, and its mirror
	Title, CWD   string
	Environ      []string
}

// Import gives the clone of a mirror to its host, as a session.
func Import(ctx context.Context, h *host.Host, c Clone, find func(variable, usual string) string, now time.Time) error {
	if h.Name == host.Gemini {
		return importGemini(c, h.Dir(find), now)
	}
	return importOpencode(ctx, c, find)
}

// Forget has a host delete a session: a clone that was given to it.
func Forget(ctx context.Context, h *host.Host, id string, find func(variable, usual string) string, environ []string) error {
	if h.Name == host.Gemini {
		return os.Remove(geminiFile(h.Dir(find), id))
	}
	ctx, cancel := context.WithTimeout(ctx, importWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Program, "session", "delete", id)
	cmd.Env, cmd.WaitDelay = environ, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s session delete: %w: %.300s", h.Program, err, bytes.TrimSpace(out))
	}
	return nil
}
