package catalog

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Tongue chooses the language of a hand-over: it is told that of the user's own texts in
// the session, "" where too little was said.
type Tongue func(session message.Lang) message.Lang

// Speaks is a tongue that knows one language.
func Speaks(l message.Lang) Tongue { return func(message.Lang) message.Lang { return l } }

// Survey is what would be handed over at a compaction of a recorded session, and
// what its summary states and lacks. It is made from the session's file alone, so
// it works for sessions that no hook has seen.
type Survey struct {
	// N is the compaction, from 1; 0 stands for one that happened now. Total
	// counts those in the file.
	N, Total int
	Summary  string
	Text     string
	// Parts are the sections of the text.
	Parts []handover.Part
	// States and Lacks are the names most likely to be needed again: those that
	// the summary states, and those that it does not. More is how many other names of
	// the session it does not state.
	States, Lacks []string
	More          int
	// Situation is how the work stood.
	Situation compact.Situation
	// Nothing says that the file holds nothing of what the compaction took out.
	Nothing bool

	path string
	to   int64 // where the line of the compaction begins
}

// surveyed is how many names are shown beside a summary.
const surveyed = 40

// NewSurvey reads a session's file. n is the compaction, 0 for one that happened
// now, negative for the last.
func NewSurvey(ctx context.Context, file transcript.File, n int, tongue Tongue) (Survey, error) {
	s := Survey{N: n, path: file.Path, to: math.MaxInt64}
	err := transcript.AllEvents(ctx, file.Path, func(p *transcript.Event) {
		if p.Kind == transcript.Compacted {
			s.Total++
		}
	})
	if err != nil {
		return Survey{}, ReadHint(file.Path, err)
	}
	switch {
	case s.Total == 0 && s.N != 0:
		return Survey{}, message.Misuse{Err: message.WithHint(message.Fail(message.NeverCompacted), message.HintPacketNow)}
	case s.N > s.Total:
		return Survey{}, message.Misuse{Err: message.Fail(message.NoCompaction, s.N, s.Total)}
	case s.N < 0:
		s.N = s.Total
	}
	// The slice before the nth compaction is the nth; the one that goes on now
	// comes after all of them.
	want := cmp.Or(s.N, s.Total+1)
	record, slice, from, trigger, kept := handover.NewRecord(transcript.FirstCWD(file.Path)), 1, int64(0), "", ""
	err = transcript.AllEvents(ctx, file.Path, func(p *transcript.Event) {
		switch {
		case p.Kind == transcript.Compacted:
			slice++
			from = p.Off
			if slice == want+1 {
				s.Summary, s.to, trigger, kept = p.Text(), p.Off, p.Trigger, p.Kept()
			}
		case slice == want:
			record.Add(p, p.Off-from)
		case slice < want:
			record.Listen(p)
		case slice == want+1 && s.Summary == "" && p.Kind == transcript.Summarised:
			s.Summary = p.Text()
		}
	})
	if err != nil {
		return Survey{}, err
	}
	h := handover.Handover{
		ID: compact.PacketID(file.ID, want), Session: file.ID, Record: record, Work: record.Work(), Summary: s.Summary, Kept: kept, Lang: tongue(record.Words.Lang()), Manual: trigger == "manual",
	}
	s.Situation, s.Nothing = h.Situation(), record.Empty()
	if want > 1 {
		h.Replaces = compact.PacketID(file.ID, want-1)
	}
	s.Parts = h.Parts()
	s.Text = h.Frame(s.Parts)
	for i, name := range record.Top(math.MaxInt) {
		switch states := extract.States(s.Summary, name); {
		case i >= surveyed && !states:
			s.More++
		case i >= surveyed:
		case states:
			s.States = append(s.States, name)
		default:
			s.Lacks = append(s.Lacks, name)
		}
	}
	return s, nil
}
