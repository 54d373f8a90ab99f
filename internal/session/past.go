package session

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
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
	N    int       `json:"n"`  // the compaction
	At   time.Time `json:"at"` // when it began: one that failed has the number of the next
	Text string    `json:"text"`
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
	Record *handover.Record
	// Summary is the one in the file; Written says that the file tells of the
	// compaction already, so that there is no other.
	Summary string
	Written bool
	Kept    string // what the host leaves in the context beside it
	// Tree is what git tells of the working tree.
	Tree handover.Tree

	mark Mark // the newest piece in the record
}

// Mark is the newest piece of a session's file that was handed over: where its line
// began, and when it was written.
type Mark struct {
	Off int64     `json:"off"`
	At  time.Time `json:"at,omitzero"`
}

// ReadPast reads the slice that a compaction takes out of the context: what came
// after the compaction before it, up to its own line in the file, or the end. It
// takes no lock.
//
// Times tell what is what, places do not. Claude Code writes the line of a compaction
// when all hooks of that compaction have run, so that the next one meets it after the
// mark; after /compact, 2.1.197 writes old lines once more before it.
//
// What the user had said before is on disk; where it is not, as in a fork, in a session
// that is older than our hooks or has none, the file is read from its beginning.
//
// The file lags behind, on 2.1.197 by a tenth of a second: prompts that hooks have heard
// after its newest one are words of the user's as well. Where a person compacts and the
// turn has not ended, its prompt was blocked or stopped, and may have been taken back.
func ReadPast(ctx context.Context, s *store.Session, path, cwd string, k Attempt, heard compact.Words) (Past, error) {
	p := Past{Record: handover.NewRecord(cwd)}
	words, known := wordsOf(s)
	p.Record.Words = words
	start := int64(0)
	if known {
		start = k.From
	}
	from, fresh := k.From, false // fresh: nothing that follows was handed over
	told := int64(0)             // when the newest prompt was written down
	err := transcript.EventsFrom(ctx, path, start, func(piece *transcript.Event) {
		if piece.Kind == transcript.UserSaid && piece.How != transcript.Answered && piece.How != transcript.Rejected {
			told = max(told, piece.Time) // lines of the turn's end may stand before those of its prompt
		}
		if !known && piece.Kind == transcript.Summarised {
			if from, ok := forkedFrom(s, piece.Text()); ok {
				p.Record.Words = from
			}
		}
		switch {
		case piece.Off < k.From:
			p.Record.Listen(piece)
		case piece.Kind == transcript.About || piece.Kind == transcript.Counted:
			// Nothing that was said or done; a title has no time of its own, either.
		case !fresh && piece.Time > 0 && piece.Time <= k.Mark.At.UnixMilli():
		case piece.Kind == transcript.Compacted && piece.Time > 0 && piece.Time < k.At.UnixMilli():
			words := p.Record.Words
			p.Record, from, fresh = handover.NewRecord(cwd), piece.Off, true
			p.Record.Words = words
		case piece.Kind == transcript.Compacted:
			p.Written, p.Summary, p.Kept = true, piece.Text(), piece.Kept()
		case p.Written && p.Summary == "" && piece.Kind == transcript.Summarised:
			p.Summary = piece.Text()
		case !p.Written:
			p.Record.Add(piece, piece.Off-from)
			p.mark = Mark{piece.Off, transcript.Time(piece.Time)}
		}
	})
	if end := max(told, k.Mark.At.UnixMilli()); end > 0 && (k.Trigger != "manual" || heard.Over) {
		var newest time.Time
		if p.Record.Words, newest = p.Record.Words.Missed(heard, end); !newest.IsZero() {
			p.mark.At = newest // their lines will follow, and have been told
		}
	}
	p.Record.Words = p.Record.Words.Hear(k.Typed, compact.WithCompact, time.Time{})
	return p, err
}

// wordsOf is what the user had said up to a session's last compaction, as we wrote it
// down; a damaged file is forgotten.
func wordsOf(s *store.Session) (w compact.Words, known bool) {
	if s == nil {
		return w, false
	}
	return readJSON[compact.Words](s.Read(wordsFile))
}

// readJSON is a file's value; false where there is none, or a damaged one.
func readJSON[T any](data []byte, err error) (v T, ok bool) {
	if err != nil || json.Unmarshal(data, &v) != nil {
		return *new(T), false
	}
	return v, true
}

// forkedFrom is what the user had said in the session that this one is a copy of. The
// copy begins with the last compaction, whose summary names the file of the original.
func forkedFrom(s *store.Session, summary string) (compact.Words, bool) {
	end := strings.LastIndex(summary, ".jsonl")
	if s == nil || end < 0 {
		return compact.Words{}, false
	}
	other, err := s.Other(summary[strings.LastIndexAny(summary[:end], `/\`)+1 : end])
	if err != nil || other.ID() == s.ID() {
		return compact.Words{}, false
	}
	return wordsOf(other)
}

// SliceStart is where the session's file is to be read from to find the slice that
// is about to be compacted, and how far it was handed over. That is the mark; where
// there is none, the clock was set back, or the file was written anew, it is the last
// compaction in the file.
func (tx *Tx) SliceStart(path string) (int64, Mark) {
	mark, size := tx.Memory.Mark, FileSize(path)
	if mark.At.After(tx.o.Now) {
		mark = Mark{}
	}
	if mark.Off == 0 && tx.Memory.Searched {
		return min(tx.Memory.Offset, size), mark // a hook has searched already
	}
	if mark.Off > 0 && mark.Off < size {
		// The line of the compaction that was handed over stands behind the mark: the
		// rest of the file need not be searched.
		if _, ok := transcript.LastCompaction(path, min(size-mark.Off, maxSearch)); ok {
			return mark.Off, mark
		}
	}
	last := SliceStart(path)
	if mark.Off == 0 || last > 0 && last < mark.Off {
		return last, mark
	}
	return mark.Off, mark
}

// SliceStart is where the line after the last compaction of a session's file begins.
func SliceStart(path string) int64 {
	after, _ := transcript.LastCompaction(path, maxSearch)
	return after
}

// maxSearch bounds the search to some two milliseconds. A slice is a few megabytes
// at most; beyond, it is taken from the beginning of the file.
const maxSearch = 8 << 20

// maxSummary is far more than a model writes.
const maxSummary = 1 << 20

// KeepSummary remembers what the host told of its summary.
func (tx *Tx) KeepSummary(text string) error {
	return tx.writeJSON(summaryFile, summary{N: tx.Memory.Compaction.N, At: tx.Memory.Compaction.At, Text: redact.Start(text, maxSummary)})
}

// summary is the one of the compaction under way, if it was told.
func (tx *Tx) summary() string {
	s, ok := readJSON[summary](tx.Read(summaryFile))
	if k := tx.Memory.Compaction; !ok || s.N != k.N || !s.At.Equal(k.At) {
		return ""
	}
	return s.Text
}

// HandOver writes the packet of the compaction under way anew, from the slice
// that was compacted and in the knowledge of its summary. Where the summary is
// still to be told, what was saved stays. before is put in front of the text.
func (tx *Tx) HandOver(past Past, h handover.Handover, before func() string) error {
	k := tx.Memory.Compaction
	h.Record, h.Summary, h.Kept = past.Record, cmp.Or(tx.summary(), past.Summary), past.Kept
	if past.Record.Empty() || h.Summary == "" && !past.Written {
		return nil
	}
	basis := compact.BasisSummary
	if h.Summary == "" {
		basis = compact.BasisSlice
	}
	text := Paragraphs(before(), h.Text())
	if k.Receipt == nil {
		k.Receipt = new(compact.NewReceipt(compact.Packet{ID: h.ID, Created: tx.o.Now}))
		k.step(compact.Started{}, tx.o.Now)
	}
	k.Receipt = new(k.Receipt.Rewrite(text, basis))
	return tx.keepPast(past)
}

// keepPast remembers for the next compaction what the user said, and how far the
// session's file was handed over.
func (tx *Tx) keepPast(past Past) error {
	tx.Memory.Thread.Words, tx.Memory.Mark = past.Record.Words, past.mark
	return tx.writeJSON(wordsFile, past.Record.Words)
}

// keepHanded remembers what was handed over, for whoever asks.
func (tx *Tx) keepHanded(h Handed) error { return tx.writeJSON(handedFile, h) }

func (tx *Tx) writeJSON(name string, v any) error { return tx.Write(name, store.EncodeJSON(v)) }

// ReadHanded is what was handed over last; false where nothing was.
func ReadHanded(s *store.Session) (Handed, bool) { return readJSON[Handed](s.Read(handedFile)) }

// HandLater leaves in the outbox what a saved packet could not say, once the
// summary is told.
func (tx *Tx) HandLater(past Past, h handover.Handover) error {
	handed, ok := readJSON[Handed](tx.Read(handedFile))
	if !ok || handed.ID != h.ID || !handed.Saved() || handed.Later != "" || past.Record.Empty() {
		return nil
	}
	handed.Summary = h.Summary
	h.Record, h.Kept = past.Record, past.Kept
	if handed.Later = h.Later(handed.Text); handed.Later == "" {
		return nil
	}
	if err := tx.keepHanded(handed); err != nil {
		return err
	}
	if err := tx.keepPast(past); err != nil {
		return err
	}
	tx.Post(Message{Model: handed.Later})
	return tx.Emit(store.On(message.EventPacketLater, "id", handed.ID, "n", handed.N, "chars", message.Units(handed.Later)))
}

// Paragraphs are two texts with an empty line between them, where neither is empty.
func Paragraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
