package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// watchedSchema is the newest form of the watcher's file that is understood.
const watchedSchema = 1

// Watched is what a watcher keeps of a session: the conversation as it has seen
// it, and the compaction that it asked for.
type Watched struct {
	Schema int       `json:"schema"`
	Host   host.Name `json:"host"`
	Cwd    string    `json:"cwd,omitempty"`
	Record Record    `json:"record,omitzero"`
	// Packets counts the packets written so far; it numbers the next one.
	Packets int `json:"packets"`
	compact.Thread
}

// Record is one compaction that a watcher started, with the receipt of its
// packet. It is written down before each step, so whoever reads it after a
// crash knows the last step that may have been taken.
type Record struct {
	// Trigger is the turn whose end led to the compaction. One turn leads to
	// at most one.
	Trigger string `json:"trigger,omitempty"`
	// Receipt names the packet, the compaction's turn and how far both are.
	Receipt compact.Receipt `json:"receipt,omitzero"`
}

// Open says that the record still waits for something.
func (r Record) Open() bool { return r.Receipt.ID != "" && !r.Receipt.State.Final() }

// Offered says that the packet may be on its way.
func (r Record) Offered() bool { return r.Receipt.State == compact.Delivering }

// ReadWatched is what watchers remember of a session, without the lock; ok is
// false where none has seen it.
func ReadWatched(s *store.Session) (w Watched, ok bool, err error) {
	return decodeWatched(s.Read(store.WatchFile))
}

func decodeWatched(data []byte, err error) (w Watched, ok bool, _ error) {
	if errors.Is(err, fs.ErrNotExist) {
		return w, false, nil
	}
	if err != nil {
		return w, false, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return Watched{}, false, fmt.Errorf("read %s: %w", store.WatchFile, err)
	}
	if w.Schema > watchedSchema {
		return Watched{}, false, fmt.Errorf("read %s: written by a newer version (schema %d)", store.WatchFile, w.Schema)
	}
	return w, true, nil
}

// UpdateWatched changes what watchers remember, puts the events on the timeline
// and returns what is now on disk. With loose it does not wait for the disk.
func UpdateWatched(s *store.Session, loose bool, f func(*Watched), events ...store.Event) (Watched, error) {
	var w Watched
	err := s.Update(func(tx *store.Tx) error {
		var err error
		if w, _, err = decodeWatched(tx.Read(store.WatchFile)); err != nil {
			return err
		}
		f(&w)
		w.Schema = watchedSchema
		data, err := json.MarshalIndent(w, "", "  ")
		if err != nil {
			return err
		}
		write := tx.Write
		if loose {
			write = tx.WriteLoose
		}
		if err := write(store.WatchFile, append(data, '\n')); err != nil {
			return err
		}
		return tx.Emit(events...)
	})
	return w, err
}

// WatcherOwns reports whether a watcher drives the session: it hands over
// packets of its own.
func WatcherOwns(s *store.Session) bool {
	// A packet that is under way will still arrive, even if the watcher died and
	// comes back later.
	if w, ok, err := ReadWatched(s); err == nil && ok && w.Record.Receipt.State != "" && !w.Record.Receipt.State.Final() {
		return true
	}
	release, free, err := s.TryLease(store.WatchLease)
	if err != nil {
		return false
	}
	if free {
		release()
	}
	return !free
}
