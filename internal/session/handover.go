package session

import (
	"context"
	"encoding/json"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Files of a session that belong to its compactions. They are not part of the
// memory: every hook would have to carry them along.
const (
	// summaryFile is the host's summary, as soon as it is told.
	summaryFile = "summary.json"
	// wordsFile is what the user had said up to the last compaction.
	wordsFile = "words.json"
	// handedFile is what was handed over last.
	handedFile = "handover.json"
)

// summary is what the host's model made of a slice.
type summary struct {
	N    int    `json:"n"` // the compaction
	Text string `json:"text"`
}

// Handed is what was handed over after a compaction.
type Handed struct {
	N       int           `json:"n"`
	ID      string        `json:"id"`
	Basis   compact.Basis `json:"basis"`
	Text    string        `json:"text"`
	Later   string        `json:"later,omitempty"`
	Summary string        `json:"summary,omitempty"`
}

// Saved reports that it is what had been saved before the compaction.
func (h Handed) Saved() bool { return h.Basis == compact.BasisSaved }

// Past is what a session's file tells of the slice that was compacted.
type Past struct {
	Record *compact.Record
	// Summary is the one in the file; Written says that the file tells of the
	// compaction already, so that there is no other.
	Summary string
	Written bool
	// Changed are files that commands changed, as far as a working tree tells.
	Changed []string
}

// ReadPast reads a slice: from an offset up to the next compaction, or the end.
// It takes no lock.
func ReadPast(ctx context.Context, s *store.Session, path, cwd string, from int64) (Past, error) {
	p := Past{Record: compact.NewRecord(cwd)}
	if s != nil {
		// Without a file, nothing was said before; a damaged one is forgotten.
		if data, err := s.Read(wordsFile); err == nil && json.Unmarshal(data, &p.Record.Words) != nil {
			p.Record.Words = compact.Words{}
		}
	}
	err := transcript.ReadPart(ctx, path, from, func(piece *transcript.Piece) {
		switch {
		case piece.Kind == transcript.BoundaryPiece:
			p.Written, p.Summary = true, piece.Text()
		case p.Written && p.Summary == "" && piece.Kind == transcript.SummaryPiece:
			p.Summary = piece.Text()
		case !p.Written:
			p.Record.Add(piece, piece.Off-from)
		}
	})
	return p, err
}

// SliceStart is where the slice that is about to be compacted begins. For a
// compaction from before our time the file is searched.
func (tx *Tx) SliceStart(path string) int64 {
	if tx.Memory.Offset > 0 {
		return tx.Memory.Offset
	}
	return SliceStart(path)
}

// SliceStart searches a session's file for its last compaction, and is where the
// line after it begins.
func SliceStart(path string) int64 {
	since, err := transcript.BytesSinceCompaction(path, maxSearch)
	if err != nil || !since.Compacted {
		return 0
	}
	return fileSize(path) - since.Bytes
}

// maxSearch bounds the search to some two milliseconds. A slice is a few megabytes
// at most; beyond, it is taken from the beginning of the file.
const maxSearch = 8 << 20

// maxSummary is far more than a model writes.
const maxSummary = 1 << 20

// KeepSummary remembers what the host told of its summary.
func (tx *Tx) KeepSummary(text string) error {
	data, err := json.Marshal(summary{N: tx.Memory.Compaction.N, Text: redact.Start(text, maxSummary)})
	if err != nil {
		return err
	}
	return tx.Write(summaryFile, data)
}

// summary is the one of the compaction under way, if it was told.
func (tx *Tx) summary() string {
	var s summary
	data, err := tx.Read(summaryFile)
	if err != nil || json.Unmarshal(data, &s) != nil || s.N != tx.Memory.Compaction.N {
		return ""
	}
	return s.Text
}

// HandOver writes the packet of the compaction under way anew, from the slice
// that was compacted and in the knowledge of its summary. Where the summary is
// still to be told, what was saved stays. before is put in front of the text, and
// may depend on whether the agent has to wait.
func (tx *Tx) HandOver(past Past, h compact.Handover, before func(wait bool) string) error {
	k := tx.Memory.Compaction
	h.Record, h.Summary = past.Record, tx.summary()
	basis := compact.BasisSummary
	if h.Summary == "" {
		h.Summary = past.Summary
	}
	switch {
	case past.Record.Empty():
		return nil
	case h.Summary != "":
	case past.Written:
		basis = compact.BasisSlice
	default:
		return nil
	}
	text := joinLines(before(h.Waits()), h.Text())
	if k.Receipt == nil {
		receipt := compact.NewReceipt(compact.Packet{ID: h.ID, Created: tx.o.Now})
		k.Receipt = &receipt
		k.step(compact.Started{}, tx.o.Now)
	}
	r := k.Receipt.Rewrite(text, basis)
	k.Receipt = &r
	return tx.keepWords(past)
}

// keepWords remembers what the user said for the next compaction.
func (tx *Tx) keepWords(past Past) error {
	tx.Memory.Thread.Words = past.Record.Words
	data, err := json.Marshal(past.Record.Words)
	if err != nil {
		return err
	}
	return tx.Write(wordsFile, data)
}

// keepHanded remembers what was handed over, for whoever asks.
func (tx *Tx) keepHanded(h Handed) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return tx.Write(handedFile, data)
}

// ReadHanded is what was handed over last; false where nothing was.
func ReadHanded(s *store.Session) (Handed, bool) {
	var h Handed
	data, err := s.Read(handedFile)
	return h, err == nil && json.Unmarshal(data, &h) == nil
}

// HandLater leaves in the outbox what a saved packet could not say, once the
// summary is told.
func (tx *Tx) HandLater(past Past, h compact.Handover) error {
	handed, ok := Handed{}, false
	if data, err := tx.Read(handedFile); err == nil {
		ok = json.Unmarshal(data, &handed) == nil && handed.ID == h.ID
	}
	if !ok || !handed.Saved() || handed.Later != "" || past.Record.Empty() {
		return nil
	}
	handed.Summary = h.Summary
	h.Record = past.Record
	if handed.Later = h.Later(handed.Text); handed.Later == "" {
		return nil
	}
	if err := tx.keepHanded(handed); err != nil {
		return err
	}
	if err := tx.keepWords(past); err != nil {
		return err
	}
	tx.Post(Message{Model: handed.Later})
	return tx.Emit(store.On(message.EventPacketLater, "id", handed.ID, "n", handed.N, "chars", message.Units(handed.Later)))
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
