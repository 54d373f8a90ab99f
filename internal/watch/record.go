package watch

import (
	"encoding/json"
	"fmt"
	"time"
)

// RecordState says how far a compaction of ours has come.
type RecordState string

const (
	// RecordCompacting: the compaction was about to be asked for.
	RecordCompacting RecordState = "compacting"
	// RecordCompacted: the compaction is done, the packet is about to go out.
	RecordCompacted RecordState = "compacted"
	// RecordDelivered: the packet was seen in the thread.
	RecordDelivered RecordState = "delivered"
	// RecordVoid: there will be no packet; Reason says why.
	RecordVoid RecordState = "void"
)

// Record is the receipt of one compaction that a watcher started. It is
// written before each step, so whoever reads it after a crash knows the last
// step that may have been taken.
type Record struct {
	Schema int    `json:"schema"`
	Thread string `json:"thread"`
	// Trigger is the turn whose end led to the compaction. One turn leads to
	// at most one.
	Trigger string `json:"trigger"`
	// Packet is the packet's id. The app-server hands it back with the message.
	Packet string `json:"packet"`
	Text   string `json:"text"`
	// Turn is the compaction's own turn, once it is known.
	Turn    string      `json:"turn,omitempty"`
	State   RecordState `json:"state"`
	Reason  string      `json:"reason,omitempty"`
	Since   time.Time   `json:"since"`
	Expires time.Time   `json:"expires"`
}

const recordSchema = 1

// open says that the record still waits for something.
func (r Record) open() bool { return r.State == RecordCompacting || r.State == RecordCompacted }

func (r Record) encode() ([]byte, error) {
	r.Schema = recordSchema
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

func decodeRecord(b []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return Record{}, fmt.Errorf("read receipt: %w", err)
	}
	if r.Schema > recordSchema {
		return Record{}, fmt.Errorf("read receipt: written by a newer version (schema %d)", r.Schema)
	}
	return r, nil
}
