package carry

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Story is what was said and done in the context of a session, in order.
type Story struct {
	ID, Title, CWD string
	pieces         []piece
	record         *handover.Record
	summary        bool  // of a compaction stands in it
	context        int64 // an estimate of its tokens, without the host's instructions and tools
}

// piece is a text of the user or the agent, or a tool that ran.
type piece struct {
	user, tool bool
	begins     bool // a turn
	summary    bool // of what a compaction took out
	text       string
	name       string // of the tool
	at         time.Time
	deed       host.DeedKind
	end        outcome
}

type outcome uint8

const (
	open outcome = iota
	worked
	failed
	refused
)

// Turns tells the last whole turn of a session from the one that is under way.
type Turns struct {
	// End is where the last whole turn ends, the size of the file where none is under way.
	End int64
	// Open is what the user asked for in the turn that is under way, Messages how much
	// was said in it so far.
	Open     string
	Messages int
}

// LastWhole reads where the last whole turn of a session ends. A turn is over when the
// agent said something and no tool runs, when the user stopped it or the host says so, and
// when the next one has begun: a call whose end was never written hangs in its own turn
// only. What a compaction left is whole, too, though the turn goes on behind it.
func LastWhole(ctx context.Context, file transcript.File) (Turns, error) {
	var t Turns
	over, running, asked, read := true, map[transcript.CallID]bool{}, "", int64(0)
	err := events(ctx, file, file.Size, func(e *transcript.Event) {
		switch e.Kind {
		case transcript.UserSaid:
			text, said := saidIn(e)
			if !said {
				return
			}
			if begins(e) && (over || e.How != transcript.Queued) {
				clear(running)
				t.End, t.Messages, asked = max(e.Off, read), 0, text
			}
			t.Messages++
			over = over && !begins(e)
		case transcript.AgentSaid:
			if !e.Failed {
				t.Messages++
			}
			over = len(running) == 0
		case transcript.Compacted, transcript.Summarised:
			clear(running)
			t.End, t.Messages = e.End, 0
		case transcript.Interrupted, transcript.TurnEnded:
			clear(running)
			over = true
		case transcript.ToolBegan:
			running[e.ID], over = true, false
		case transcript.ToolEnded:
			delete(running, e.ID)
			over = false
		}
		read = e.End // words from the queue have no line of their own
	})
	if over {
		return Turns{End: file.Size}, err
	}
	t.Open = cmp.Or(message.OneLine(asked), "…")
	return t, err
}

func events(ctx context.Context, file transcript.File, end int64, fn func(*transcript.Event)) error {
	f, err := os.Open(file.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = transcript.Events(ctx, io.NewSectionReader(f, 0, end), 0, file.Host, transcript.Want{}, fn)
	return err
}

// Read takes the context of a session apart, up to an offset of its file. What a
// compaction took out of it, and what the user has gone back behind, is not told.
func Read(ctx context.Context, file transcript.File, end int64) (*Story, error) {
	index, err := transcript.ReadTo(ctx, file.Path, end)
	if err != nil {
		return nil, err
	}
	from := int64(0)
	if n := len(index.Compactions); n > 0 {
		from = index.Compactions[n-1].End
	}
	s, err := read(ctx, file, end, index, from)
	// A summary that only the vendor can read tells nobody else what came before it.
	if err == nil && from > 0 && !s.summary {
		s, err = read(ctx, file, end, index, 0)
	}
	return s, err
}

func read(ctx context.Context, file transcript.File, end int64, index *transcript.Session, from int64) (*Story, error) {
	s := &Story{ID: cmp.Or(file.ID, index.ID), Title: index.Title, CWD: index.CWD, record: handover.NewRecord(index.CWD)}
	var live []int64
	s.context = recall.Estimate(index)
	for _, i := range index.Live() {
		live = append(live, index.Entries[i].Off)
	}
	slices.Sort(live)
	ran := map[transcript.CallID]int{}
	var before Story // what came before: of that, the request that is worked on
	err := events(ctx, file, end, func(e *transcript.Event) {
		if e.Off < from && e.Kind != transcript.Compacted {
			s.record.Listen(e)
		} else {
			s.record.Add(e, e.Off-from)
		}
		if n, _ := slices.BinarySearch(live, e.Off); from > 0 && (n == len(live) || live[n] >= e.End) {
			if e.Kind == transcript.UserSaid {
				before.add(e, nil)
			}
			return
		}
		s.add(e, ran)
	})
	asked := func(p piece) bool { return p.begins }
	if n := len(before.pieces); n > 0 && !slices.ContainsFunc(s.pieces, asked) {
		s.pieces = slices.Insert(s.pieces, min(1, len(s.pieces)), before.pieces[n-1])
	}
	return s, err
}

func (s *Story) add(e *transcript.Event, ran map[transcript.CallID]int) {
	p := piece{at: transcript.Time(e.Time)}
	switch e.Kind {
	case transcript.UserSaid:
		var said bool
		if p.text, said = saidIn(e); !said {
			return
		}
		p.user, p.begins = true, begins(e)
	case transcript.Summarised, transcript.Compacted:
		p.user, p.summary, p.text = true, true, e.Text()
		s.summary = s.summary || strings.TrimSpace(p.text) != ""
	case transcript.AgentSaid:
		if e.Failed {
			return
		}
		p.text = e.Text()
	case transcript.ToolBegan:
		p.tool, p.name = true, e.Tool
		p.text, p.deed = s.told(e)
		ran[e.ID] = len(s.pieces)
		s.pieces = append(s.pieces, p)
		return
	case transcript.ToolEnded:
		if n, ok := ran[e.ID]; ok {
			s.pieces[n].end = ended(e, s.pieces[n].deed)
			delete(ran, e.ID)
		}
		return
	default:
		return
	}
	if p.text = strings.TrimSpace(p.text); p.text != "" {
		s.pieces = append(s.pieces, p)
	}
}

// begins reports words of the user's that may begin a turn.
func begins(e *transcript.Event) bool {
	return e.How == transcript.Typed || e.How == transcript.Queued || e.How == transcript.Approved && e.ID == transcript.CallID{}
}

// saidIn is what a user said, without what hosts wrap around it; false for what is no
// word to the agent, such as a command of the host's.
func saidIn(e *transcript.Event) (string, bool) {
	text := e.Text()
	return text, text != "" && e.How != transcript.WithCompact
}

// told is what a tool was asked for, on one line.
func (s *Story) told(e *transcript.Event) (string, host.DeedKind) {
	d := host.Recorded(e.Tool, e.Raw)
	text := d.Command
	switch {
	case text != "":
	case len(d.Files) > 0:
		text = strings.Join(d.Files, ", ")
	case d.Question != "":
		text = d.Question
	default:
		e.Strings(func(_ string, inner transcript.Inner) {
			if text == "" {
				text = inner.Text()
			}
		})
	}
	if s.CWD != "" {
		text = strings.ReplaceAll(text, s.CWD+"/", "")
	}
	return message.Short(message.OneLine(text), maxTold), d.Kind
}

// maxTold is how much is told of what a tool was asked for.
const maxTold = 120

func ended(e *transcript.Event, deed host.DeedKind) outcome {
	bad := e.Failed
	if !bad && deed == host.RunDeed {
		_, exit := host.Ended(e.Raw, e.Tail(1<<10), false)
		bad = exit != nil && *exit != 0
	}
	switch {
	case e.Refused:
		return refused
	case bad:
		return failed
	}
	return worked
}
