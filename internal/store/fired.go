package store

import (
	"os"
	"path/filepath"
	"time"
)

// firedEvery is how exact the times of [Home.Fired] are: a marker younger than
// this is left alone, so that a hook pays one look at one file.
const firedEvery = time.Hour

func (h *Home) firedDir(host string) string { return filepath.Join(h.root, "hooks", host) }

// MarkFired notes that a host called an event just now. It is evidence for
// people who ask whether the hooks work, so nothing depends on it: whatever goes
// wrong is ignored, and calls without a host are not counted.
func (h *Home) MarkFired(host, event string) {
	if host == "" || checkName(host) != nil || checkName(event) != nil {
		return
	}
	h.touch(filepath.Join(h.firedDir(host), event), firedEvery)
}

// touch gives a marker the time of now, unless it is younger than every, and reports
// whether it did.
func (h *Home) touch(path string, every time.Duration) bool {
	dir, now := filepath.Dir(path), h.now()
	if info, err := os.Lstat(path); err == nil {
		// A marker from the future is a clock set back, not a reason to wait.
		if age := now.Sub(info.ModTime()); age >= 0 && age < every {
			return false
		}
	}
	if dir != h.root && RealFolder(h.root, dir) != nil || os.MkdirAll(dir, dirPerm) != nil || writeLoose(path, nil) != nil {
		return false
	}
	return os.Chtimes(path, now, now) == nil
}

// Fired tells when a host last called each event, at most an hour too early.
// Events that were never called are missing.
func (h *Home) Fired(host string) map[string]time.Time {
	if checkName(host) != nil || RealFolder(h.root, h.firedDir(host)) != nil {
		return nil
	}
	entries, err := os.ReadDir(h.firedDir(host))
	if err != nil {
		return nil
	}
	fired := make(map[string]time.Time, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && checkName(e.Name()) == nil {
			fired[e.Name()] = info.ModTime()
		}
	}
	return fired
}
