package session

import (
	"errors"
	"io/fs"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// movedFile says which machine may go on with a session that a team moves. It is
// written by `overtone-team` and read by hooks, which ask no network.
const movedFile = "team.json"

// Moved is a session's lease, as this machine knows it.
type Moved struct {
	Schema  int       `json:"schema"`
	Machine string    `json:"machine"` // this one
	Holder  string    `json:"holder"`
	Token   uint64    `json:"token"`
	Phase   string    `json:"phase"` // offered, held
	Expires time.Time `json:"expires"`
	At      time.Time `json:"at"`
}

// ReadMoved is what is known of a session's lease; nil for one that never moved,
// which is nearly all of them and costs one look.
func ReadMoved(s *store.Session) *Moved {
	// A file that cannot be read must not keep anybody from working.
	m, ok := readJSON[Moved](s.Read(movedFile))
	if !ok || m.Machine == "" || m.Holder == "" {
		return nil
	}
	return &m
}

// Away reports whether the session must not go on here: another machine has it, it
// is offered to others, or our lease ran out before it could be renewed, so that
// somebody else may have it by now. A clock that was set back behind the moment at which
// the lease was written says nothing about its end.
func (m *Moved) Away(now time.Time) bool {
	return m != nil && (m.Holder != m.Machine || m.Phase != "held" || now.After(m.Expires) || m.SetBack(now))
}

// SetBack reports whether the clock was set back since the lease was written. A clock
// that is kept right by the network goes back by less than a minute.
func (m *Moved) SetBack(now time.Time) bool { return now.Add(time.Minute).Before(m.At) }

// Parcel is a session as it travels to another machine.
type Parcel struct {
	Workflow []byte            // workflow.json; nil for none
	Memory   []byte            // the newest version of [MemoryFile]; nil for none
	Reports  map[string][]byte // see [store.Session.Reports]
}

// Pack reads a session for its journey.
func Pack(s *store.Session) (p Parcel, err error) {
	if p.Workflow, err = s.Read(store.WorkflowFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if p.Memory, err = s.Version(MemoryFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	p.Reports, err = s.Reports()
	return p, err
}

// Unpack makes the session here what it was there. transcript is where its
// conversation lies now; note waits for the next prompt, to be said once.
func Unpack(s *store.Session, p Parcel, o Options, transcript, note string, events ...store.Event) error {
	return s.Update(func(raw *store.Tx) error {
		if p.Workflow != nil {
			st, err := workflow.Load(p.Workflow)
			if err != nil {
				return err
			}
			st.SessionID = s.ID()
			if err := raw.Write(store.WorkflowFile, st.Encode()); err != nil {
				return err
			}
		}
		for name, data := range p.Reports {
			if err := raw.WriteReport(name, data); err != nil {
				return err
			}
		}
		m, _ := decodeMemory(p.Memory, nil) // without one it is empty
		// Of the other machine's processes nothing is left, and its files lie
		// elsewhere. A compaction that was not over there never will be.
		m.Printing, m.Offset, m.Searched, m.Mark, m.Noise, m.Threads = nil, 0, false, Mark{}, Noise{}, Threads{}
		if k := m.Compaction; k != nil && !k.settled() {
			m.Compaction = nil
		}
		m.Thread.Transcript, m.Thread.Started = transcript, nil
		if note != "" {
			m.Outbox = append(m.Outbox, Message{Model: note, At: workflow.Stamp(o.Now)})
		}
		if err := raw.AppendVersion(MemoryFile, store.EncodeJSON(m)); err != nil {
			return err
		}
		return raw.Emit(events...)
	})
}

// WriteMoved writes it down.
func WriteMoved(s *store.Session, m Moved) error {
	m.Schema = 1
	return s.Update(func(tx *store.Tx) error { return tx.Write(movedFile, store.JSONFile(m)) })
}

// ForgetMoved makes a session one that never moved.
func ForgetMoved(s *store.Session) error {
	return s.Update(func(tx *store.Tx) error { return tx.Remove(movedFile) })
}
