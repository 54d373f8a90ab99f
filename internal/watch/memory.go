package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

const (
	memoryFile   = store.WatchFile
	leaseFile    = store.WatchLease
	memorySchema = 1
)

// memory is what is kept of a session between watchers.
type memory struct {
	Schema int       `json:"schema"`
	Host   host.Name `json:"host"`
	Cwd    string    `json:"cwd,omitempty"`
	Record record    `json:"record,omitzero"`
	// Packets counts the packets written so far; it numbers the next one.
	Packets int `json:"packets"`
	compact.Thread
}

// sessionFile is a session on disk. A dry one reads once and never writes.
type sessionFile struct {
	sess   *store.Session
	dry    bool
	shadow *memory // what a dry one would have written
	unlock func()  // gives the lease back; nil without one
}

func (d *sessionFile) load() (memory, error) {
	if d.shadow != nil {
		return *d.shadow, nil
	}
	m, err := decodeMemory(d.sess.Read(memoryFile))
	if d.dry {
		d.shadow = &m
	}
	return m, err
}

func decodeMemory(b []byte, err error) (memory, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return memory{}, nil
	}
	if err != nil {
		return memory{}, err
	}
	var m memory
	if err := json.Unmarshal(b, &m); err != nil {
		return memory{}, fmt.Errorf("read %s: %w", memoryFile, err)
	}
	if m.Schema > memorySchema {
		return memory{}, fmt.Errorf("read %s: written by a newer version (schema %d)", memoryFile, m.Schema)
	}
	return m, nil
}

// update changes the memory under the session's lock, puts the events on the
// timeline and returns what is now on disk.
func (d *sessionFile) update(fn func(*memory), events ...store.Event) (memory, error) {
	return d.write(false, fn, events...)
}

// write is update; with loose it does not wait for the disk.
func (d *sessionFile) write(loose bool, fn func(*memory), events ...store.Event) (memory, error) {
	if d.dry {
		m, err := d.load()
		if err == nil {
			fn(&m)
			d.shadow = &m
		}
		return m, err
	}
	var m memory
	err := d.sess.Update(func(tx *store.Tx) error {
		var err error
		if m, err = decodeMemory(tx.Read(memoryFile)); err != nil {
			return err
		}
		fn(&m)
		m.Schema = memorySchema
		b, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		put := tx.Write
		if loose {
			put = tx.WriteLoose
		}
		if err := put(memoryFile, append(b, '\n')); err != nil {
			return err
		}
		if len(events) > 0 {
			return tx.Emit(events...)
		}
		return nil
	})
	return m, err
}

func (d *sessionFile) emit(events ...store.Event) error {
	if d.dry || len(events) == 0 {
		return nil
	}
	return d.sess.Update(func(tx *store.Tx) error { return tx.Emit(events...) })
}

// lease claims the session; it is no error to have it already.
func (d *sessionFile) lease() (bool, error) {
	if d.unlock != nil {
		return true, nil
	}
	release, ok, err := d.sess.TryLease(leaseFile)
	if ok {
		d.unlock = release
	}
	return ok, err
}

func (d *sessionFile) release() {
	if d.unlock != nil {
		d.unlock()
		d.unlock = nil
	}
}
