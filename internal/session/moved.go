package session

import (
	"encoding/json"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// MovedFile says which machine may go on with a session that a team moves. It is
// written by `overtone-team` and read by hooks, which ask no network.
const MovedFile = "team.json"

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
	data, err := s.Read(MovedFile)
	if err != nil {
		return nil
	}
	var m Moved
	// A file that cannot be read must not keep anybody from working.
	if json.Unmarshal(data, &m) != nil || m.Machine == "" || m.Holder == "" {
		return nil
	}
	return &m
}

// Away reports whether the session must not go on here: another machine has it, it
// is offered to others, or our lease ran out before it could be renewed, so that
// somebody else may have it by now.
func (m *Moved) Away(now time.Time) bool {
	return m != nil && (m.Holder != m.Machine || m.Phase != "held" || now.After(m.Expires))
}

// WriteMoved writes it down.
func WriteMoved(s *store.Session, m Moved) error {
	m.Schema = 1
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return s.Update(func(tx *store.Tx) error { return tx.Write(MovedFile, append(data, '\n')) })
}
