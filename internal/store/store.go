// Package store keeps sessions on disk. It is the only package that knows
// paths; what the files mean is the business of others, to whom a state file
// is bytes.
//
// Two roots are used. Under $OVERTONE_HOME each session has a folder:
//
//	config.yaml
//	last-cleanup                      its modification time limits clean-ups
//	hooks/<host>/<event>              its modification time is when the host last called the event
//	sessions/<session id>/
//	    lock                          guards everything below and the files of the session in the Claude folder
//	    workflow.json                 state, replaced atomically
//	    timeline.jsonl                events, appended, the newest 2,000 lines kept
//	    <other small files>
//
// In the Claude folder ($CLAUDE_CONFIG_DIR or ~/.claude) lie the files that
// agents read and write by name: pipeline-context-{sid}-{STAGE}.md,
// reflection-memory-{sid}-{STAGE}.md, barrier-state-{sid}.json.
//
// Invariants:
//
//   - Every read-modify-write of a session happens inside [Session.Update],
//     under one blocking lock. No update is lost, however many processes run.
//   - A file is replaced by rename, never written in place, so a reader needs
//     no lock and a process killed at any point leaves the old or the new file.
//     The timeline is the exception: it grows by whole lines.
//   - Nothing from outside leaves the two roots: session ids are checked
//     against an allow-list, file names hold no separators, and no symbolic
//     link below a root is followed. The roots themselves may be links, as
//     people keep them in dotfile repositories.
//   - Whatever of a session is written goes through package redact first: events,
//     states, reports, calls that are put off. Only what is new is looked at.
//   - Files have mode 0600, folders 0700.
//   - No cost grows with the size of a timeline or the number of sessions,
//     except for [Home.Sessions] and [Home.Cleanup], which list folders.
//
// The package reads no environment and no clock; both come in through [New].
package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// errSessionID reports a session id that is not 1 to 128 letters, digits,
// hyphens or underscores.
var errSessionID = errors.New("invalid session id")

const (
	dirPerm  = 0o700
	filePerm = 0o600
)

// Home is the two folders that hold everything. It is cheap: nothing on disk is
// touched until a method needs it.
type Home struct {
	root, claude string
	now          func() time.Time
	patience     *patience
	waiting      func(path string) // may be nil, and so may ended
	ended        <-chan struct{}
	repaired     func(error)
}

// New returns the home in root ($OVERTONE_HOME) and claudeDir
// ($CLAUDE_CONFIG_DIR or ~/.claude), both absolute.
func New(root, claudeDir string, now func() time.Time) *Home {
	return &Home{root: filepath.Clean(root), claude: filepath.Clean(claudeDir), now: now}
}

// Root is $OVERTONE_HOME.
func (h *Home) Root() string { return h.root }

// ClaudeDir is the folder of Claude Code's own files.
func (h *Home) ClaudeDir() string { return h.claude }

// ConfigFile is the path of the configuration, which need not exist.
func (h *Home) ConfigFile() string { return filepath.Join(h.root, "config.yaml") }

// Mirrors is the folder of our files of sessions that hosts keep in another way, with a
// folder for each host.
func (h *Home) Mirrors() string { return filepath.Join(h.root, "mirror") }

func (h *Home) sessionsDir() string { return filepath.Join(h.root, "sessions") }

// Session returns the session with this id, or an error that is
// [errSessionID]. Nothing is created before the first [Session.Update].
func (h *Home) Session(id string) (*Session, error) {
	if !validID(id) {
		return nil, fmt.Errorf("%w %q", errSessionID, id)
	}
	return &Session{home: h, id: id, dir: filepath.Join(h.sessionsDir(), id)}, nil
}

// SessionInfo is one line of a listing.
type SessionInfo struct {
	ID string
	// Modified is when a file of the session was last created or replaced.
	// Events alone do not move it.
	Modified time.Time
}

// Sessions lists the sessions, the most recently modified first.
func (h *Home) Sessions() ([]SessionInfo, error) {
	entries, err := h.listSessions()
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var list []SessionInfo
	for _, e := range entries {
		if !e.IsDir() || !validID(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed by a clean-up since the listing
		}
		list = append(list, SessionInfo{ID: e.Name(), Modified: info.ModTime()})
	}
	slices.SortFunc(list, func(a, b SessionInfo) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// listSessions lists the folder of sessions, which need not exist.
func (h *Home) listSessions() ([]fs.DirEntry, error) {
	err := realDir(h.sessionsDir())
	if err == nil {
		return os.ReadDir(h.sessionsDir())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
}

// Other is another session of the same home.
func (s *Session) Other(id string) (*Session, error) { return s.home.Session(id) }

func validID(id string) bool {
	return len(id) >= 1 && len(id) <= 128 && plainBytes(id)
}

// plainBytes says whether s holds only characters that are harmless in a file
// name everywhere.
func plainBytes(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || !plainByte(byte(r)) })
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
