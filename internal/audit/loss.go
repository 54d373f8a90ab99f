package audit

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What a compaction lost is what the agent used after it from memory: names,
// commands and numbers in its tools' inputs that it had met before, and that
// nothing after the compaction had told it again. Of those, some stand in the
// summary, and more in the hand-over that we would have written knowing it.

const (
	maxNumbers = 50_000
	maxListed  = 12
)

// losses reads a compacted session once more, in full.
func (t *tracer) losses(ctx context.Context, f io.ReaderAt, file transcript.File) error {
	last := 0
	for i, e := range t.Compacted {
		if e.end > 0 {
			last = i
		}
	}
	l := lossReader{t: t, id: file.ID, rec: handover.NewRecord(t.CWD), numbers: map[string]bool{}, runs: map[transcript.CallID]bool{}, last: last}
	_, err := transcript.Events(ctx, io.NewSectionReader(f, 0, file.Size), 0, file.Host, transcript.Want{}, l.event)
	if err != nil {
		return err
	}
	l.close()
	return nil
}

type lossReader struct {
	t       *tracer
	id      string
	n       int // of compactions so far
	last    int
	from    int64
	rec     *handover.Record // nil behind the last compaction
	numbers map[string]bool  // known in this slice
	runs    map[transcript.CallID]bool
	after   *needs // what follows the compaction before, nil before the first
}

func (l *lossReader) event(p *transcript.Event) {
	switch p.Kind {
	case transcript.Compacted:
		l.boundary(p)
		return
	case transcript.Summarised:
		if l.after != nil && l.after.summary == "" {
			l.after.summary = p.Text()
		}
	default:
		if l.after != nil {
			l.after.take(p, l.t.CWD)
		}
	}
	if l.rec == nil {
		return
	}
	l.rec.Add(p, p.Off-l.from)
	switch p.Kind {
	case transcript.ToolBegan:
		if host.Recorded(p.Tool, p.Raw).Kind == host.RunDeed {
			l.runs[p.ID] = true
		}
		l.know(p)
	case transcript.ToolEnded:
		// Numbers in a file's text are its own business.
		if l.runs[p.ID] && len(p.Raw) <= maxOutput {
			l.know(p)
		}
		delete(l.runs, p.ID)
	case transcript.UserSaid, transcript.AgentSaid:
		l.know(p)
	}
}

func (l *lossReader) know(p *transcript.Event) {
	p.Strings(func(_ string, inner []byte) {
		eachNumber(inner, func(n []byte) {
			if len(l.numbers) < maxNumbers && !l.numbers[string(n)] {
				l.numbers[string(n)] = true
			}
		})
	})
}

func (l *lossReader) boundary(p *transcript.Event) {
	words := compact.Words{}
	l.close()
	// A summary alone, without a boundary, is an event too; those have no slice
	// of their own here.
	for l.n < len(l.t.Compacted) && l.t.Compacted[l.n].off != p.Off {
		l.n++
	}
	if l.n == len(l.t.Compacted) {
		l.rec = nil
		return
	}
	if l.rec != nil {
		words = l.rec.Words
		if !l.rec.Empty() {
			l.after = &needs{
				event: &l.t.Compacted[l.n], rec: l.rec, numbers: l.numbers, summary: p.Text(), id: l.id, n: l.n + 1,
				told: make([]bool, l.rec.Names()), toldNumbers: map[string]bool{}, ran: map[string]bool{}, read: map[string]bool{}, toEdit: -1,
			}
		}
	}
	l.rec = nil
	if l.n < l.last {
		l.rec = handover.NewRecord(l.t.CWD)
		l.rec.Words = words
		l.from = p.Off
	}
	l.numbers, l.runs = map[string]bool{}, map[transcript.CallID]bool{}
	l.n++
}

func (l *lossReader) close() {
	if l.after != nil {
		l.after.event.Loss = l.after.loss()
		if l.after.event.Summary == 0 {
			l.after.event.Summary = message.Units(l.after.summary)
		}
		l.after = nil
	}
}

// needs is what an agent did after a compaction.
type needs struct {
	event   *event
	rec     *handover.Record
	numbers map[string]bool
	summary string
	id      string
	n       int

	told        []bool // by number of a name
	texts       []byte // what was told, without escapes
	toldNumbers map[string]bool
	names       []string
	needNumbers []string
	commands    []string
	ran, read   map[string]bool
	files       []string
	actions     int
	toEdit      int
}

func (n *needs) take(p *transcript.Event, cwd string) {
	switch p.Kind {
	case transcript.ToolBegan:
		n.call(p, cwd)
	case transcript.ToolEnded, transcript.UserSaid:
		n.tell(p)
	}
}

// maxTold bounds what is kept of what an agent was told.
const maxTold = 16 << 20

func (n *needs) tell(p *transcript.Event) {
	p.Strings(func(_ string, inner []byte) {
		n.keep(inner)
		n.eachName(inner, func(int, extract.Name) {})
		eachNumber(inner, func(num []byte) {
			if n.numbers[string(num)] && !n.toldNumbers[string(num)] {
				n.toldNumbers[string(num)] = true
			}
		})
	})
}

// eachName passes the names that were known and have not been told yet, once.
func (n *needs) eachName(text []byte, fn func(int, extract.Name)) {
	s := extract.NameScan{Text: text, Escaped: true}
	for name, ok := s.Next(); ok; name, ok = s.Next() {
		if i := n.rec.Name(name.Base); i >= 0 && !n.told[i] {
			n.told[i] = true
			fn(i, name)
		}
	}
}

// keep adds to what was told. A name may stand there as a part of another, which
// the scan for names does not pass.
func (n *needs) keep(inner []byte) {
	if len(n.texts) > maxTold {
		return
	}
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+2 > len(inner) {
			n.texts = append(append(n.texts, inner...), '\n')
			return
		}
		n.texts = append(append(n.texts, inner[:i]...), ' ')
		inner = inner[i+2:]
	}
}

func (n *needs) call(p *transcript.Event, cwd string) {
	n.actions++
	d := host.Recorded(p.Tool, p.Raw)
	files := d.Files
	switch d.Kind {
	case host.RunDeed:
		if f := handover.FileRead(d.Command); f != "" {
			files = []string{f}
		}
		if line := handover.TidyCommand(d.Command, cwd); line != "" && n.rec.HasRun(line) && !n.ran[line] {
			n.ran[line] = true
			n.commands = append(n.commands, line)
		}
		if n.toEdit < 0 && len(handover.FilesChanged(d.Command)) > 0 {
			n.toEdit = n.actions - 1
		}
	case host.EditDeed, host.CreateDeed:
		files = nil
		if n.toEdit < 0 {
			n.toEdit = n.actions - 1
		}
	case host.ReadDeed:
	default:
		files = nil
	}
	for _, f := range files {
		if n.rec.HasRead(f) && !n.read[f] {
			n.read[f] = true
			n.files = append(n.files, f)
		}
	}
	defer p.Strings(func(_ string, inner []byte) { n.keep(inner) })
	p.Strings(func(_ string, inner []byte) {
		n.eachName(inner, func(_ int, name extract.Name) {
			if text := string(name.Base); !extract.States(unsafe.String(unsafe.SliceData(n.texts), len(n.texts)), text) {
				n.names = append(n.names, text)
			}
		})
		eachNumber(inner, func(num []byte) {
			if n.numbers[string(num)] && !n.toldNumbers[string(num)] {
				n.toldNumbers[string(num)] = true
				n.needNumbers = append(n.needNumbers, string(num))
			}
		})
	})
}

// loss compares what was needed with what the summary and a hand-over state.
func (n *needs) loss() *Loss {
	h := handover.Handover{
		ID: compact.PacketID(n.id, n.n), Session: n.id, Record: n.rec, Work: n.rec.Work(), Summary: n.summary, Lang: message.EN,
	}
	text := h.Text()
	l := &Loss{
		Handover: message.Units(text), Summary: message.Units(n.summary), ReadAgain: len(n.files), RunAgain: len(n.commands),
		Compactions: 1,
	}
	for _, f := range n.files[:min(len(n.files), maxListed)] {
		l.Files = append(l.Files, safe(f))
	}
	if n.toEdit >= 0 {
		l.ToEdit = &n.toEdit
	}
	if n.summary == "" {
		l.Unreadable = 1
	}
	compare := func(kind string, list []string, states func(text, what string) bool) Kept {
		k := Kept{Needed: len(list)}
		for _, what := range list {
			inSummary, inOurs := states(n.summary, what), states(text, what)
			if inSummary {
				k.Summary++
			} else if room := maxListed - count(l.Missing, kind); room > 0 {
				l.Missing = append(l.Missing, Missing{safe(what), kind, inOurs})
			}
			if inSummary || inOurs {
				k.Handover++
			}
		}
		return k
	}
	l.Names = compare("name", n.names, extract.States)
	l.Commands = compare("command", n.commands, func(text, line string) bool { return strings.Contains(message.OneLine(text), line) })
	l.Numbers = compare("number", n.needNumbers, extract.States)
	return l
}

func count(list []Missing, kind string) int {
	n := 0
	for i := range list {
		if list[i].Kind == kind {
			n++
		}
	}
	return n
}

// eachNumber finds numbers of three digits or more that stand alone: 8080, 1.25,
// 10:30, 41,250.
func eachNumber(b []byte, fn func([]byte)) {
	for i := 0; i < len(b); {
		if b[i] < '0' || b[i] > '9' {
			i++
			continue
		}
		start, digits := i, 0
		for i < len(b) && (b[i] >= '0' && b[i] <= '9' || (b[i] == '.' || b[i] == ',' || b[i] == ':') && i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '9') {
			if b[i] >= '0' && b[i] <= '9' {
				digits++
			}
			i++
		}
		if digits >= 3 && digits <= 15 && (start == 0 || !wordByte(b[start-1]) || start > 1 && b[start-2] == '\\') && (i == len(b) || !wordByte(b[i])) {
			fn(b[start:i])
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c == '/' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// median is the middle one, the mean of the two in an even list.
func median(list []float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.Sort(list)
	n := len(list) / 2
	m := list[n]
	if len(list)%2 == 0 {
		m = (list[n-1] + list[n]) / 2
	}
	return &m
}
