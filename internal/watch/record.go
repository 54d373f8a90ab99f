package watch

import (
	"github.com/seed-6d03985f/overtone/internal/compact"
)

// record is one compaction that a watcher started, with the receipt of its
// packet. It is written down before each step, so whoever reads it after a
// crash knows the last step that may have been taken.
type record struct {
	// Trigger is the turn whose end led to the compaction. One turn leads to
	// at most one.
	Trigger string `json:"trigger,omitempty"`
	// Receipt names the packet, the compaction's turn and how far both are.
	Receipt compact.Receipt `json:"receipt,omitzero"`
}

// open says that the record still waits for something.
func (r record) open() bool { return r.Receipt.ID != "" && !r.Receipt.State.Final() }

// offered says that the packet may be on its way.
func (r record) offered() bool { return r.Receipt.State == compact.Delivering }
