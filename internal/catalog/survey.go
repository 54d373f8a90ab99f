package catalog

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Tongue chooses the language of a hand-over: it is told that of the user's own texts in
// the session, "" where too little was said.
type Tongue func(session message.Lang) message.Lang

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
	// the session it does not state. Handed are those of Lacks that the hand-over states,
	// MoreHanded counts those of the others.
	States, Lacks, Handed []string
	More, MoreHanded      int
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
	total := 0
	err := transcript.AllEvents(ctx, file.Path, func(p *transcript.Event) {
		if p.Kind == transcript.Compacted {
			total++
		}
	})
	if err != nil {
		return Survey{}, ReadHint(file.Path, err)
	}
	switch {
	case total == 0 && n != 0:
		return Survey{}, message.Misuse{Err: message.WithHint(message.Fail(message.NeverCompacted), message.HintPacketNow)}
	case n > total:
		return Survey{}, message.Misuse{Err: message.Fail(message.NoCompaction, n, total)}
	case n < 0:
		n = total
	}
	// The slice before the nth compaction is the nth; the one that goes on now
	// comes after all of them.
	want := cmp.Or(n, total+1)
	list, err := surveys(ctx, file, tongue, func(n int) bool { return n == want })
	if err != nil {
		return Survey{}, err
	}
	s := list[0]
	s.N, s.Total = n, total
	return s, nil
}

// Surveys reads a session's file for all its compactions at once.
func Surveys(ctx context.Context, file transcript.File, tongue Tongue) ([]Survey, error) {
	list, err := surveys(ctx, file, tongue, func(int) bool { return true })
	if err != nil {
		return nil, ReadHint(file.Path, err)
	}
	return list[:len(list)-1], nil // the last would happen now
}

// Stands reads how the work of a session stands, in one pass.
func Stands(ctx context.Context, file transcript.File) (compact.Situation, error) {
	before := handover.NewStanding(transcript.FirstCWD(file.Path))
	now := before.Heard()
	err := transcript.AllEvents(ctx, file.Path, func(p *transcript.Event) {
		if p.Kind == transcript.Compacted {
			now = before.Heard()
			return
		}
		now.Add(p, p.Off)
		before.Listen(p)
	})
	return handover.Handover{Session: file.ID, Record: now, Work: now.Work(), Lang: message.EN}.Situation(), err
}

// part is what one compaction took out, and what it put there.
type part struct {
	n                      int
	record                 *handover.Record // nil where nobody wants it
	from, to               int64
	summary, kept, trigger string
}

// surveys are those of the wanted parts of a session, in order.
func surveys(ctx context.Context, file transcript.File, tongue Tongue, wanted func(n int) bool) (list []Survey, err error) {
	before := handover.NewRecord(transcript.FirstCWD(file.Path)) // what was said in the parts before
	begin := func(n int, from int64) part {
		p := part{n: n, from: from, to: math.MaxInt64}
		if wanted(n) {
			p.record = before.Heard()
		}
		return p
	}
	last, now := part{}, begin(1, 0)
	end := func(p part) {
		if p.record != nil {
			list = append(list, p.survey(file, tongue))
		}
	}
	err = transcript.AllEvents(ctx, file.Path, func(p *transcript.Event) {
		if p.Kind == transcript.Compacted {
			end(last)
			last = now
			last.summary, last.to, last.trigger, last.kept = p.Text(), p.Off, p.Trigger, p.Kept()
			now = begin(last.n+1, p.Off)
			return
		}
		if last.record != nil && last.summary == "" && p.Kind == transcript.Summarised {
			last.summary = p.Text()
		}
		if now.record != nil {
			now.record.Add(p, p.Off-now.from)
		}
		before.Listen(p)
	})
	end(last)
	end(now)
	return list, err
}

func (p part) survey(file transcript.File, tongue Tongue) Survey {
	s := Survey{N: p.n, Summary: p.summary, path: file.Path, to: p.to}
	h := handover.Handover{
		ID: compact.PacketID(file.ID, p.n), Session: file.ID, Record: p.record, Work: p.record.Work(), Summary: p.summary, Kept: p.kept, Lang: tongue(p.record.Words.Lang()), Manual: p.trigger == "manual",
	}
	s.Situation, s.Nothing = h.Situation(), p.record.Empty()
	if p.n > 1 {
		h.Replaces = compact.PacketID(file.ID, p.n-1)
	}
	s.Parts = h.Parts()
	s.Text = h.Frame(s.Parts)
	stated, given := extract.Stated(s.Summary), extract.Stated(s.Text)
	for i, name := range p.record.Top(math.MaxInt) {
		states, likely := stated(name), i < surveyed
		handed := !states && given(name)
		switch {
		case states && likely:
			s.States = append(s.States, name)
		case states:
		case likely:
			s.Lacks = append(s.Lacks, name)
			if handed {
				s.Handed = append(s.Handed, name)
			}
		default:
			s.More++
			if handed {
				s.MoreHanded++
			}
		}
	}
	return s
}

// NameRows is a table of the names that a summary states, those that it lacks, and which of
// these were handed over.
func NameRows(l message.Lang, states, lacks, handed []string) [][]string {
	rows := [][]string{{message.ColStates.In(l), message.ColLacks.In(l), message.ColHanded.In(l)}}
	for i := range max(len(states), len(lacks)) {
		row := []string{"", "", ""}
		if i < len(states) {
			row[0] = states[i]
		}
		if i < len(lacks) {
			if row[1] = lacks[i]; slices.Contains(handed, row[1]) {
				row[2] = "✔"
			}
		}
		rows = append(rows, row)
	}
	return rows
}
