package compress

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Progress is what a run tells while it works.
type Progress struct {
	Done, Total int // messages
	Failed      int
	Cached      int
	Tokens      int // of the messages that are done
	TotalTokens int
}

// RunOptions are what a run needs from the outside.
type RunOptions struct {
	ID       string // of the clone
	Dir      string // the folder that it lies in; "" is that of its source
	Title    string
	Now      time.Time
	Progress func(Progress)
	// Clones is the list that the clone is put on; "" for none.
	Clones Clones
	// Refs fills in each message's reference in the report.
	Refs bool
	// Note writes the text that explains the clone to its model; nil for none.
	Note Noter
}

// Noter writes a note for the model of a clone. It is told what happened in the
// context that is compressed, then asked for the text, given which names the clone
// states by itself.
type Noter interface {
	Add(e *transcript.Event, off int64)
	Note(states func(name string) bool) string
}

// noteTokens is about how long the note of a clone is that lost so much: it names what
// is gone, as far as there is room.
func noteTokens(lost int) int { return min(100+lost/8, 1225) }

// Message is the report on one message.
type Message struct {
	Line     int    `json:"line"`
	Ref      string `json:"ref"`
	Level    Level  `json:"level"`
	Status   Status `json:"status"`
	Before   int    `json:"tokensBefore"`
	After    int    `json:"tokensAfter"`
	Attempts int    `json:"attempts"`
	Cached   bool   `json:"cached"`
	Lost     int    `json:"lostFacts"`
	Error    string `json:"error,omitempty"`

	err error
}

// Why is the error in a language.
func (m *Message) Why(lang message.Lang) string { return message.ErrorText(m.err, lang) }

// Result is what a run did.
type Result struct {
	Clone    transcript.Cloned
	Stats    Stats
	Messages []Message
	Lost     map[extract.Kind]int // facts lost, by kind
	Redacted map[string]int       // secrets kept from the provider, by rule
	Cached   int
	// InputTokens and OutputTokens are what the provider reported.
	InputTokens, OutputTokens int
	RemovedEntries            int
	Tools                     ToolPlan
	// Before and After are the tokens of the whole context, counted alike on the
	// source and on the clone.
	Before, After int
	// Host is what the host will report of the clone, with its instructions and
	// tools; an estimate, 0 where it never reported anything.
	Host int64
	// Example is a reference that recall takes, "" where no message was compressed.
	Example string
	// Mark is the first message of which only a mark is left, "" for none.
	Mark string
	// Gone counts what no longer stands in the texts word for word.
	Gone extract.Losses
}

// AllFailed is the error of a run in which no message could be compressed.
type AllFailed struct {
	Messages []Message
}

func (e *AllFailed) Error() string {
	return fmt.Sprintf("none of %d messages could be compressed; first error: %s", len(e.Messages), e.Messages[0].Error)
}

// Run compresses the plan's messages and writes the clone. Nothing is written
// when it fails or ctx ends.
func (p *Plan) Run(ctx context.Context, prov Provider, o RunOptions) (*Result, error) {
	if p.Nothing() {
		return nil, ErrNothing
	}
	src, err := p.source()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	res := &Result{Lost: map[extract.Kind]int{}, Redacted: map[string]int{}, Messages: make([]Message, len(p.Items)), Tools: p.Tools}
	kept := &results{}
	defer kept.Close()
	listening, enough := context.WithCancel(ctx)
	heard := p.listen(listening, o.Note)
	defer func() {
		enough()
		_ = heard()
	}()
	if err := p.compress(ctx, prov, src, o, res, kept); err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done {
			kept.originals.drop()
			if o.Clones != "" {
				_ = o.Clones.forget(o.ID) // where it came so far
			}
		}
	}()
	if err := p.came(res); err != nil {
		return nil, err
	}
	if res.Stats.MessagesCompressed+p.Tools.Removed+p.Tools.Truncated == 0 {
		o.Note = nil // nothing that a model could miss
	}
	ch, err := p.change(src, o, kept, res)
	if err != nil {
		return nil, err
	}
	ch.Measure = func(clone *transcript.Session) error {
		res.Before, res.After = p.Tokens, contextTokens(clone, p.Options.Whole)
		return nil
	}
	ch.Ready = func(c transcript.Cloned) error { return p.register(c, o, res.Host, kept) }
	if o.Note != nil {
		ch.Note = func(live io.Reader) (string, error) {
			states, err := p.names(ctx, live)
			if err := cmp.Or(err, heard()); err != nil {
				return "", err
			}
			return o.Note.Note(func(name string) bool { _, ok := states[name]; return ok }), nil
		}
	}
	if res.Clone, err = transcript.Clone(ctx, p.Session, ch); err != nil {
		return nil, err
	}
	done = true
	return res, nil
}

// came is the error of a run of which nothing came that is worth a clone.
func (p *Plan) came(res *Result) error {
	switch {
	case len(p.Items) == 0 || res.Stats.MessagesCompressed > 0:
		return nil
	case res.Stats.MessagesFailed > 0:
		// Who asked for messages would take a clone without tools for what he wanted.
		return &AllFailed{res.Messages}
	case len(p.edits) == 0:
		return ErrNothing
	}
	return nil
}

// lost is how many tokens of the context go, of a plan or of what came of it, less those
// of the note that tells a model of it.
func (p *Plan) lost(res *Result, note bool) int {
	n, touched := p.Tokens-p.Target, len(p.Items)
	if res != nil {
		n, touched = p.Tools.Tokens+res.Stats.TokensRemoved, res.Stats.MessagesCompressed
	} else if p.Session.Legacy {
		return n // it becomes a text
	}
	if note && touched+p.Tools.Removed+p.Tools.Truncated > 0 {
		n -= noteTokens(n)
	}
	return n
}

// listen tells who writes the note what happened in the context, while its messages
// are compressed, and returns how to wait for it.
func (p *Plan) listen(ctx context.Context, to Noter) (wait func() error) {
	if to == nil || len(p.Session.Live()) == 0 {
		return func() error { return nil }
	}
	from := p.Session.Entries[slices.Min(p.Session.Live())].Off
	done := make(chan error, 1)
	go func() { done <- p.tell(ctx, to, from) }()
	return sync.OnceValue(func() error { return <-done })
}

func (p *Plan) tell(ctx context.Context, to Noter, from int64) (err error) {
	defer transcript.Catch(p.Session.Path, &err)
	return transcript.EventsFrom(ctx, p.Session.Path, from, func(e *transcript.Event) {
		if e.Off < p.Session.Size { // it may go on while it is read
			to.Add(e, e.Off-from)
		}
	})
}

func (p *Plan) names(ctx context.Context, live io.Reader) (map[string]struct{}, error) {
	found := map[string]struct{}{}
	_, err := transcript.Events(ctx, live, 0, p.Session.Host, transcript.Want{}, func(e *transcript.Event) {
		e.Strings(func(_ string, inner transcript.Inner) {
			s := extract.NameScan{Text: inner.Escaped(), Escaped: true}
			for n, ok := s.Next(); ok; n, ok = s.Next() {
				if _, had := found[string(n.Base)]; !had {
					found[string(n.Base)] = struct{}{}
				}
			}
		})
	})
	return found, err
}

// register makes a clone known that is whole but has no name yet. This is the
// order in which nothing is lost, whenever the process ends: a record without its
// clone is swept, a clone without its record would be taken for somebody's session.
func (p *Plan) register(c transcript.Cloned, o RunOptions, tokens int64, kept *results) error {
	if o.Clones != "" {
		err := o.Clones.Add(CloneRecord{
			ID: c.ID, Source: p.Session.ID, From: p.Session.Path, Host: string(p.Session.Host), Path: c.Path, Size: c.Bytes,
			Tokens: tokens, Created: o.Now.UTC().Format(time.RFC3339), CWD: p.Session.CWD,
		})
		if err != nil {
			return fmt.Errorf("list the clone: %w", err)
		}
	}
	if err := kept.originals.done(); err != nil {
		return err
	}
	// Who removes a clone removes its file, then asks the list who needs what it
	// leaves. We are on the list by now: one of the two sees the other.
	_, err := os.Stat(p.Session.Path)
	return err
}

// Packet compresses the plan's messages and returns the history as a text, for
// a host that cannot open the session: messages only, tools and thinking stay
// out.
func (p *Plan) Packet(ctx context.Context, prov Provider, o RunOptions) (string, *Result, error) {
	src, err := p.source()
	if err != nil {
		return "", nil, err
	}
	defer src.Close()
	res := &Result{Lost: map[extract.Kind]int{}, Redacted: map[string]int{}, Messages: make([]Message, len(p.Items))}
	// Nobody would remove the originals of a text again; they are in the source.
	kept := &results{printed: true}
	defer kept.Close()
	if err := p.compress(ctx, prov, src, o, res, kept); err != nil {
		return "", nil, err
	}
	items := p.standing(kept)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", o.Title)
	for _, i := range p.View {
		if !p.said(i) {
			continue
		}
		var text string
		if n, ok := items[i]; ok {
			text, _, err = kept.get(n)
		} else {
			var raw []byte
			raw, err = p.Session.Raw(src, int(i))
			text = transcript.Text(raw)
		}
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", role(p.Session.Entries[i].Kind == transcript.User), text)
	}
	res.Before, res.After = p.Tokens, EstimateTokens(b.String())
	return b.String(), res, nil
}

// largeRoom is up to what size the room for an entry is used again.
const largeRoom = 1 << 20

func (p *Plan) compress(ctx context.Context, prov Provider, src *os.File, o RunOptions, res *Result, kept *results) error {
	if len(p.Items) == 0 {
		return nil
	}
	jobs := make([]job, len(p.Items))
	prog := Progress{Total: len(p.Items)}
	for n := range p.Items {
		it := &p.Items[n]
		prog.TotalTokens += int(it.Tokens)
		jobs[n] = job{Role: it.Role(), Level: it.Level, Tokens: int(it.Tokens), band: it.Band, amid: p.amid(n)}
		res.Messages[n] = it.Waiting()
		res.Messages[n].Line = int(p.Session.Entries[it.Entry].Line)
	}
	var rooms sync.Pool
	load := func(n int) (string, error) {
		room, _ := rooms.Get().(*[]byte)
		if room == nil {
			room = new([]byte)
		}
		raw, err := p.Session.RawIn(*room, src, int(p.Items[n].Entry))
		if err != nil {
			return "", err
		}
		text := transcript.Text(raw)
		if cap(raw) <= largeRoom {
			*room = raw
			rooms.Put(room)
		}
		return text, nil
	}
	if o.Progress != nil {
		o.Progress(prog)
	}
	if d, ok := p.Options.Pool.Cache.(Dir); ok && !kept.printed {
		var err error
		if kept.originals, err = d.keep(cmp.Or(o.ID, transcript.NewID(p.Session.Host, o.Now)), o.Now); err != nil {
			return err
		}
	}
	stats := &res.Stats
	stats.MessagesSkipped = p.Skipped[skipShort]
	err := p.Options.Pool.work(ctx, prov, jobs, load, func(out outcome) error {
		it := &p.Items[out.job]
		m := &res.Messages[out.job]
		m.Status, m.Attempts, m.Cached, m.Lost = out.Status, out.Attempts, out.Cached, len(out.Lost)
		res.InputTokens += out.InputTokens
		res.OutputTokens += out.OutputTokens
		for _, r := range out.Redacted {
			res.Redacted[r]++
		}
		prog.Done++
		prog.Tokens += m.Before
		switch out.Status {
		case Success:
			m.After = EstimateTokens(out.Text)
			for _, f := range out.Lost {
				res.Lost[f.Kind]++
			}
			if out.gone != nil {
				res.Gone.Add(*out.gone)
			} else {
				res.Gone.Add(extract.Missing(unitsOf(out.Original, waiting), out.Original, out.Text, it.User))
			}
			if out.Cached {
				res.Cached++
				prog.Cached++
			}
			if digits := markDigits(out.Text); res.Mark == "" && digits != "" {
				res.Mark = markSign + digits
			}
			stats.MessagesCompressed++
			stats.OriginalTokens += m.Before
			stats.CompressedTokens += m.After
			if err := kept.put(out, len(p.Items)); err != nil {
				return err
			}
			if err := kept.originals.add(out.Original, out.hash, out.Text); err != nil {
				return err
			}
		case Skipped:
			stats.MessagesSkipped++
		default:
			m.err, m.Error = out.Err, out.Err.Error()
			prog.Failed++
			stats.MessagesFailed++
			stats.OriginalTokens += m.Before
			stats.CompressedTokens += m.Before
		}
		if o.Progress != nil {
			o.Progress(prog)
		}
		return nil
	})
	stats.finish()
	if err != nil {
		kept.originals.drop()
	}
	return err
}

// change turns the results into what the clone does differently.
func (p *Plan) change(src *os.File, o RunOptions, kept *results, res *Result) (transcript.Change, error) {
	res.Host = p.asHostCounts(p.lost(res, o.Note != nil))
	ch := transcript.Change{ID: o.ID, Dir: o.Dir, Title: o.Title, Now: o.Now, Tokens: res.Host}
	items := p.standing(kept)
	touched := slices.Collect(maps.Keys(items))
	for _, i := range p.edits {
		raw, err := p.Session.Raw(src, int(i))
		if err != nil {
			return ch, err
		}
		if _, gone := p.editTools(i, raw); gone {
			ch.Removed = append(ch.Removed, i)
		} else if _, both := items[i]; !both {
			touched = append(touched, i)
		}
	}
	slices.Sort(touched)
	ch.Touched = touched
	res.RemovedEntries = len(ch.Removed)
	if o.Note != nil { // in place of the one that a clone's clone has already
		for _, i := range p.View {
			if e := &p.Session.Entries[i]; e.Has(transcript.Marked) && (e.Has(transcript.Meta) || e.Kind == transcript.System) {
				ch.Removed = append(ch.Removed, i)
			}
		}
		slices.Sort(ch.Removed)
	}
	edits := map[int32]bool{}
	for _, i := range p.edits {
		edits[i] = true
	}
	ch.Rewrite = func(i, line int, entry []byte) ([]byte, error) {
		if edits[int32(i)] {
			entry, _ = p.editTools(int32(i), entry)
		}
		n, ok := items[int32(i)]
		if !ok {
			return entry, nil
		}
		text, hash, err := kept.get(n)
		if err != nil {
			return nil, err
		}
		if o.Refs || res.Example == "" {
			res.Messages[n].Ref = o.ID + "#" + transcript.Ref(p.Session.Host, entry, line)
			res.Example = cmp.Or(res.Example, res.Messages[n].Ref)
		}
		return transcript.Mark(transcript.SetText(entry, text), transcript.Marker{
			Source: p.Session.ID, UUID: transcript.Ref(p.Session.Host, entry, int(p.Session.Entries[i].Line)), Level: string(res.Messages[n].Level), Hash: hash,
		}), nil
	}
	return ch, nil
}

// Stats counts what a run did. A message that failed keeps its tokens on both
// sides.
type Stats struct {
	MessagesCompressed int `json:"messagesCompressed"`
	MessagesSkipped    int `json:"messagesSkipped"`
	MessagesFailed     int `json:"messagesFailed"`
	OriginalTokens     int `json:"originalTokens"`
	CompressedTokens   int `json:"compressedTokens"`
	TokensRemoved      int `json:"tokensRemoved"`
	ReductionPercent   int `json:"reductionPercent"`
}

func (s *Stats) finish() {
	s.TokensRemoved = s.OriginalTokens - s.CompressedTokens
	s.ReductionPercent = 0
	if s.OriginalTokens > 0 {
		s.ReductionPercent = (200*s.TokensRemoved + s.OriginalTokens) / (2 * s.OriginalTokens)
	}
}
