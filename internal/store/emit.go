package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// unknownEvent is the error for an event type that [message.EventTypes] does not
// list. It has the Chinese text whatever the language: tools match it.
type unknownEvent string

func (e unknownEvent) Error() string { return message.UnknownEvent.Format(message.ZH, string(e)) }

// Event is something that happened, to be put on the timeline.
type Event struct {
	Type string // one of message's Event constants
	Data Fields
}

// On makes an event from alternating keys and values:
//
//	store.On(message.EventStageComplete, "stage", "DEV", "result", "pass")
//
// It panics when a key is not a string or lacks its value.
func On(typ string, pairs ...any) Event {
	return Event{Type: typ, Data: Pairs(pairs...)}
}

// timeLayout is ISO 8601 with exactly three digits of milliseconds, so that
// times compare as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Limits of the timeline. A trim leaves keepLines; the next one happens when
// more than windowLines are found, so that rewriting the file is rare.
// trimStep is how often the size is looked at. maxLine is the longest line
// that is written or believed.
const (
	keepLines   = 2000
	windowLines = 2200
	trimStep    = 16 << 10
	maxLine     = 1 << 20
)

// Emit appends events to the timeline: all of them or, where one is of an
// unknown type or cannot be encoded, none. Fields named ts, type, category or
// label are dropped; those four are the timeline's own.
//
// The lines go out in one write and are not flushed to disk: the timeline tells
// what happened, the state file is what holds.
func (tx *Tx) Emit(events ...Event) error {
	lines, err := tx.Lines(events...)
	if err == nil {
		err = tx.EmitLines(lines)
	}
	return err
}

// Lines are the lines of events, as [Tx.Emit] would append them now.
func (tx *Tx) Lines(events ...Event) ([]byte, error) {
	var lines bytes.Buffer
	ts := tx.s.home.now().UTC().Format(timeLayout)
	for _, e := range events {
		start := lines.Len()
		if err := encode(&lines, ts, e); err != nil {
			return nil, err
		}
		if lines.Len()-start > maxLine {
			return nil, fmt.Errorf("emit %s: event larger than %d bytes", e.Type, maxLine)
		}
	}
	return redact.JSON(lines.Bytes(), nil), nil
}

// EmitLines appends lines of [Tx.Lines].
func (tx *Tx) EmitLines(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if err := tx.appendLines(lines); err != nil {
		return fmt.Errorf("append to timeline: %w", err)
	}
	return nil
}

// EmitMissing appends those of the lines that are not among the newest of the
// timeline: a process that was killed may have written some of them.
func (tx *Tx) EmitMissing(lines []byte) error {
	have := map[string]bool{}
	for e, err := range tx.s.Newest(Filter{}) {
		if err != nil {
			break
		}
		have[string(e.Raw)] = true
		if len(have) >= keepLines {
			break
		}
	}
	var missing []byte
	for line := range bytes.Lines(lines) {
		if !have[string(bytes.TrimSpace(line))] {
			missing = append(missing, line...)
		}
	}
	return tx.EmitLines(missing)
}

// Record appends events to the timeline of a session that is there; one that is
// not stays away, and that is no error.
func (s *Session) Record(events ...Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock(false, blocking)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock session %s: %w", s.id, err)
	}
	defer unlock()
	return (&Tx{s: s}).Emit(events...)
}

// encode writes the line of one event: ts, type, category, label, then the
// data in the order given. The label on disk is always the Chinese one.
func encode(w *bytes.Buffer, ts string, e Event) error {
	label, ok := message.EventLabel(e.Type)
	if !ok {
		return unknownEvent(e.Type)
	}
	line := Pairs("ts", ts, "type", e.Type, "category", message.EventCategory(e.Type), "label", label.ZH)
	for i, f := range e.Data {
		// The last of several fields with one key wins.
		again := func(later Field) bool { return later.Key == f.Key }
		if !reserved(f.Key) && !slices.ContainsFunc(e.Data[i+1:], again) {
			line = append(line, f)
		}
	}
	raw, err := line.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode event %s: %w", e.Type, err)
	}
	w.Write(append(raw, '\n'))
	return nil
}

func reserved(key string) bool {
	return key == "ts" || key == "type" || key == "category" || key == "label"
}

func (tx *Tx) appendLines(lines []byte) error {
	path := tx.s.path(TimelineFile)
	f, info, err := tx.s.home.openDerived(path)
	if err != nil {
		return err
	}
	defer f.Close()
	before := info.Size()
	n, err := appendWhole(f, before, lines)
	if err != nil {
		return err
	}
	after := before + int64(n)
	if before/trimStep != after/trimStep {
		// The events are on the timeline, so a failed trim is no failure of
		// Emit. The file is a little longer until the next step tries again.
		_ = trim(f, after, path)
	}
	return nil
}

// trim cuts the timeline to its newest lines when it has grown past the window.
//
// Who appends decides, by the size of the file, and not a counter in memory: a
// hook process lives for one or two events, so a counter would never get
// anywhere. Whenever an append moves the size across a multiple of trimStep,
// and only then, the lines are counted; that is one append in a hundred or so.
//
// No event is lost to the rewrite. Appending and trimming both happen under the
// session's lock, so between reading the old file and the rename nobody adds a
// line to it. Readers take no lock: one that has the old file open sees it
// unchanged to its end, one that opens after the rename sees the new file.
func trim(f *os.File, size int64, path string) error {
	// Far more than a timeline ever has; what is before it goes, too.
	data, err := readRange(f, max(0, size-4*maxWindow), size)
	if err != nil || bytes.Count(data, []byte{'\n'}) <= windowLines {
		return err
	}
	from := len(data)
	for range keepLines + 1 {
		from = bytes.LastIndexByte(data[:from], '\n')
	}
	// Flushed, unlike appends: it is rare, and what a power failure would take
	// here is not the last few lines but all of them.
	return replace(path, true, writeAll(data[from+1:]))
}
