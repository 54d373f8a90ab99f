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
	path, now := filepath.Join(h.firedDir(host), event), h.now()
	if info, err := os.Lstat(path); err == nil {
		// A marker from the future is a clock set back.
		if age := now.Sub(info.ModTime()); age >= 0 && age < firedEvery {
			return
		}
	}
	if RealFolder(h.root, h.firedDir(host)) != nil || os.MkdirAll(h.firedDir(host), dirPerm) != nil || writeLoose(path, nil) != nil {
		return
	}
	_ = os.Chtimes(path, now, now)
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
