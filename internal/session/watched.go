package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// watchedSchema is the newest form of the watcher's file that is understood.
const watchedSchema = 1

// Watched is what watchers keep of a session beside its thread: the compaction
// that one of them asked for.
type Watched struct {
	Schema   int       `json:"schema"`
	Host     host.Name `json:"host"`
	Cwd      string    `json:"cwd,omitempty"`
	Delivery Delivery  `json:"record,omitzero"`
	// Packets counts the packets written so far; it numbers the next one.
	Packets int `json:"packets"`
	// Goal is the thread's goal that a watcher has paused for a compaction, and
	// must set going again.
	Goal *PausedGoal `json:"goal,omitempty"`
}

// PausedGoal is a goal that rests because of us.
type PausedGoal struct {
	Objective string `json:"objective,omitempty"`
	// Updated is the host's stamp of our pause, 0 while it is not known. Another
	// stamp means that somebody else has decided about the goal since.
	Updated int64 `json:"updated,omitempty"`
	// Heard is how many messages the user had typed by then.
	Heard int `json:"heard,omitempty"`
}

// Delivery is one compaction that a watcher started, with the receipt of its
// packet. It is written down before each step, so whoever reads it after a
// crash knows the last step that may have been taken.
type Delivery struct {
	// Trigger is the turn whose end led to the compaction. One turn leads to
	// at most one.
	Trigger string `json:"trigger,omitempty"`
	// Receipt names the packet, the compaction's turn and how far both are.
	Receipt compact.Receipt `json:"receipt,omitzero"`
	// Quiet packets open no turn: they stand before the user's next message.
	Quiet bool `json:"quiet,omitempty"`
	// Cut is a user's message that the host cut off for our compaction.
	Cut *CutMessage `json:"cut,omitempty"`
}

// CutMessage is a message of the user's that was put aside by the host.
type CutMessage struct {
	ID    string          `json:"id"`              // ours for it, when it comes back
	Input json.RawMessage `json:"input,omitempty"` // the message, in the host's form, if that has it
	Back  bool            `json:"back"`            // it was handed to the queue again
}

// Open says that the packet still waits for something.
func (d Delivery) Open() bool { return d.Receipt.ID != "" && !d.Receipt.State.Final() }

// Offered says that the packet may be on its way.
func (d Delivery) Offered() bool {
	return d.Receipt.State == compact.Delivering || d.Receipt.State == compact.Printing
}

// ReadWatched is what watchers remember of a session, and its thread, without the
// lock.
func ReadWatched(s *store.Session) (Watched, compact.Thread, error) {
	w, err := decodeWatched(s.Read(store.WatchFile))
	if err != nil {
		return Watched{}, compact.Thread{}, err
	}
	return w, Read(s).Thread, nil
}

var errWatched = errors.New("damaged")

func decodeWatched(data []byte, err error) (Watched, error) {
	var w Watched
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return Watched{}, fmt.Errorf("read %s: %w: %w", store.WatchFile, errWatched, err)
	}
	if w.Schema > watchedSchema {
		return Watched{}, fmt.Errorf("read %s: written by a newer version (schema %d)", store.WatchFile, w.Schema)
	}
	return w, nil
}

// UpdateThread changes the thread of a session that is watched, and returns it.
func UpdateThread(s *store.Session, f func(*compact.Thread)) (compact.Thread, error) {
	var m Memory
	err := s.Update(func(tx *store.Tx) error {
		return changeMemory(tx, &m, func() error {
			f(&m.Thread)
			return nil
		})
	})
	return m.Thread, err
}

// UpdateWatched changes what watchers remember, with the thread, puts on the
// timeline what f returns, and gives back what is now on disk. With loose it does
// not wait for the disk.
func UpdateWatched(s *store.Session, loose bool, f func(*Watched, *compact.Thread) []store.Event) (Watched, compact.Thread, error) {
	var (
		w Watched
		m Memory
	)
	err := s.Update(func(tx *store.Tx) error {
		return changeMemory(tx, &m, func() error {
			old, err := tx.Read(store.WatchFile)
			if w, err = decodeWatched(old, err); errors.Is(err, errWatched) {
				_, err = tx.SetAside(store.WatchFile, err)
			}
			if err != nil {
				return err
			}
			events := f(&w, &m.Thread)
			w.Schema = watchedSchema
			write := tx.Write
			if loose {
				write = tx.WriteLoose
			}
			if data := store.JSONFile(w); !bytes.Equal(data, old) {
				if err := write(store.WatchFile, data); err != nil {
					return err
				}
			}
			return tx.Emit(events...)
		})
	})
	return w, m.Thread, err
}

// HooksCompact reports whether a hook has seen a compaction begin since: hooks
// then hand over what survives it.
func HooksCompact(s *store.Session, since time.Time) bool {
	k := Read(s).Compaction
	return k != nil && !k.At.Before(since)
}

// DecideWatched weighs the turn of a watched thread, end says whether that is over; the
// events are for the timeline.
func DecideWatched(t *compact.Thread, now time.Time, set compact.Settings, end bool, lang message.Lang) (compact.Decision, []store.Event) {
	in := t.Weigh(now, set)
	if end {
		in.Signals |= compact.TurnEnd.Signal()
	}
	d := compact.Decide(in)
	next, news := t.Announce(d)
	if *t = next; !news {
		return d, nil
	}
	return d, []store.Event{store.On(message.EventCompactDecision, "verdict", d.Verdict, "cause", d.Cause, "tier", d.Tier,
		"percentRemaining", d.PercentRemaining, "signals", d.Signals, "reason", d.Reason.In(lang))}
}

// successor is how long a watcher that died may take to come back: a packet of
// its is then still under way. It is counted from the packet's writing, and the
// compaction itself takes minutes.
const successor = 10 * time.Minute

// WatcherOwns reports whether a watcher drives the session: it hands over
// packets of its own. One that died and has not come back no longer does.
func WatcherOwns(s *store.Session, now time.Time) bool {
	w, err := decodeWatched(s.Read(store.WatchFile))
	if err == nil && w.Delivery.Open() && now.Sub(w.Delivery.Receipt.Created) < successor {
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
