// Package mirror keeps our files of sessions up to date that their hosts keep in
// another way than in lines. It alone opens opencode's database, and only to read it.
//
// Hooks do not link it: what they need of a session is sent to them.
package mirror

import (
	"context"
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
