package handover

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// packetMax is the longest packet, in UTF-16 units. Together with a recovery
// text it stays below the 10,000 from which on Claude Code shows the model only
// a preview of a hook's context.
const packetMax = 7900

// Facts are what a packet is written from. Everything in it is data from the
// session; nothing is trusted to be short or clean.
type Facts struct {
	Session string
	// Ordinal counts the session's compactions from 1.
	Ordinal int
	Now     time.Time
	// First and Latest are the user's first and latest requests.
	First, Latest string
	// Slice is what was done since the last compaction.
	Slice compact.Slice
	// Next are the open steps of plan, tasks or workflow, the current first.
	Next []string
	// Decisions are invariants and decisions that must hold on.
	Decisions []string
	// Decision is why the context is compacted; the zero value says nothing.
	Decision compact.Decision
	// Moved says that nothing was compacted: the session goes on elsewhere.
	Moved bool
	// Hold is [Handover.Hold].
	Hold bool
}

func (f Facts) header(l message.Lang) string {
	if f.Moved {
		return message.PacketHeaderMoved.In(l)
	}
	return message.PacketHeader.In(l)
}

// Write writes the packet. Secrets are taken out of each fact before anything is
// cut.
func Write(f Facts, s compact.Settings, l message.Lang) compact.Packet {
	w := packetWriter{lang: l, last: message.PacketDirective.In(l)}
	if f.Hold {
		w.last = message.HandoverHold.In(l)
	}
	w.facts(f, s)
	id := compact.PacketID(f.Session, f.Ordinal)
	room := packetMax - message.Units(wrap(id, f.header(l), ""))
	return compact.Packet{ID: id, Text: wrap(id, f.header(l), w.render(room)), Created: f.Now, Expires: f.Now.Add(s.Packet.Expiry)}
}

// Adopt makes a packet of a text that the agent wrote, with the same marks and
// bounds as one of ours. An empty text gives false.
func Adopt(text string, f Facts, s compact.Settings, l message.Lang) (compact.Packet, bool) {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		return compact.Packet{}, false
	}
	id := compact.PacketID(f.Session, f.Ordinal)
	last := ""
	if f.Hold {
		last = "\n\n" + message.HandoverHold.In(l)
	}
	room := packetMax - message.Units(wrap(id, f.header(l), last))
	if message.Units(text) > room {
		// The end holds the next step and the directive.
		text = message.Cut(text, room/2-1) + "…\n" + message.EndUnits(text, room-room/2-1)
	}
	return compact.Packet{ID: id, Text: wrap(id, f.header(l), text+last), Created: f.Now, Expires: f.Now.Add(s.Packet.Expiry)}, true
}

// wrap marks a text as a note by a machine. A model must be able to tell it from
// its user's words, and our own reader from its agent's.
func wrap(id, header, body string) string {
	return compact.PacketOpen + ` id="` + id + "\">\n" + header + "\n\n" + body + "\n" + compact.PacketClose
}

// wrapPart marks what follows a packet of that id.
func wrapPart(id, part, body string) string {
	return compact.PacketOpen + ` id="` + id + `" part="` + part + "\">\n" + body + "\n" + compact.PacketClose
}

// clean makes a foreign text fit to stand inside a packet.
func clean(text string) string {
	text = strings.ReplaceAll(message.Plain(strings.ReplaceAll(text, "\r\n", "\n")), "overtone-packet", "overtone packet")
	text, _ = redact.Text(text)
	return text
}

// section is a part of a packet: a title and either items or one text.
type section struct {
	title string
	items []string
	// text is kept from its end when tail is set, else from its beginning.
	text string
	tail bool
	most int // UTF-16 units
}

type packetWriter struct {
	lang     message.Lang
	last     string // the directive
	sections []section
}

// A section never takes more than its share of the packet, however long the
// session's facts are.
const (
	mostRequest = 1500
	mostList    = 1800
	mostTail    = 4000
	mostItem    = 320
)

func (w *packetWriter) facts(f Facts, s compact.Settings) {
	first, latest := strings.TrimSpace(clean(f.First)), strings.TrimSpace(clean(f.Latest))
	w.text(message.PacketGoal, first, mostRequest)
	if latest != first {
		w.text(message.PacketLatest, latest, mostRequest)
	}
	var done []string
	for _, c := range slices.Backward(f.Slice.Commits) {
		done = append(done, message.PacketCommit.Format(w.lang, message.Head(c.Hash, 12), c.Subject))
	}
	for _, st := range slices.Backward(f.Slice.Steps) {
		done = append(done, message.PacketStep.Format(w.lang, st))
	}
	for _, st := range slices.Backward(f.Slice.Stages) {
		done = append(done, message.PacketStage.Format(w.lang, st))
	}
	if n := len(f.Slice.Files); n > 0 {
		files := slices.Clone(f.Slice.Files)
		slices.Reverse(files)
		for chunk := range slices.Chunk(files, 5) {
			done = append(done, message.PacketFiles.Format(w.lang, strings.Join(chunk, ", ")))
		}
	}
	w.list(message.PacketDone, done)
	w.list(message.PacketNext, f.Next)
	w.list(message.PacketDecisions, f.Decisions)
	var avoid []string
	for _, x := range slices.Backward(f.Slice.Failures) {
		avoid = append(avoid, message.PacketFailed.Format(w.lang, x.Line, x.Said))
	}
	w.list(message.PacketAvoid, avoid)
	last := strings.TrimSpace(clean(f.Slice.Last))
	if kept := message.End(last, s.Packet.MaxTailChars); kept != "" {
		if len(kept) < len(last) {
			kept = "…" + kept
		}
		w.sections = append(w.sections, section{title: message.PacketTail.In(w.lang), text: kept, tail: true, most: mostTail})
	}
	if reason := f.Decision.Reason.In(w.lang); reason != "" {
		w.text(message.PacketWhy, reason, 400)
	}
}

func (w *packetWriter) text(title message.Text, text string, most int) {
	if text != "" {
		w.sections = append(w.sections, section{title: title.In(w.lang), text: text, most: most})
	}
}

func (w *packetWriter) list(title message.Text, items []string) {
	var out []string
	for _, it := range items {
		it = message.OneLine(clean(it))
		if it == "" || slices.Contains(out, it) {
			continue
		}
		if message.Units(it) > mostItem {
			it = message.Cut(it, mostItem-1) + "…"
		}
		out = append(out, it)
	}
	if len(out) > 0 {
		w.sections = append(w.sections, section{title: title.In(w.lang), items: out, most: mostList})
	}
}

// render lays the sections out within the room. Where there is not room for
// all, each gets the same share and what short ones leave goes to the long ones.
func (w *packetWriter) render(room int) string {
	room -= message.Units(w.last)
	want := make([]int, len(w.sections))
	for i, s := range w.sections {
		room -= message.Units("## " + s.title + "\n" + "\n\n")
		want[i] = min(s.most, message.Units(s.full()))
	}
	share := fairShare(want, max(0, room))
	var b strings.Builder
	for i, s := range w.sections {
		b.WriteString("## " + s.title + "\n" + s.fit(min(want[i], share), w.lang) + "\n\n")
	}
	return b.String() + w.last
}

// fairShare is the largest amount that everybody may take at most, so that all
// together stay within the room.
func fairShare(want []int, room int) int {
	sorted := slices.Sorted(slices.Values(want))
	for i, w := range sorted {
		if left := len(sorted) - i; w*left > room {
			return room / left
		}
		room -= w
	}
	if n := len(sorted); n > 0 {
		return sorted[n-1]
	}
	return 0
}

func (s section) full() string {
	if s.items == nil {
		return quote(s.text)
	}
	return "- " + strings.Join(s.items, "\n- ")
}

// fit is the section within n units.
func (s section) fit(n int, l message.Lang) string {
	full := s.full()
	if message.Units(full) <= n {
		return full
	}
	if s.items == nil {
		// Each line costs two units for its mark; cutting the marked text
		// from the end may leave half a mark, so the text itself is cut.
		return quote(s.shorten(n))
	}
	mark := message.PacketMore.Format(l, len(s.items))
	used, kept := message.Units(mark), 0
	for _, it := range s.items {
		cost := message.Units("- " + it + "\n")
		if used+cost > n {
			break
		}
		used, kept = used+cost, kept+1
	}
	if kept == 0 {
		return message.Cut("- "+s.items[0], max(0, n-1)) + "…"
	}
	more := message.PacketMore.Format(l, len(s.items)-kept)
	return "- " + strings.Join(s.items[:kept], "\n- ") + "\n" + more
}

// shorten cuts the text so that it fits n units once it is quoted.
func (s section) shorten(n int) string {
	lo, hi := 0, message.Units(s.text)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if message.Units(quote(s.cut(mid))) <= n {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return s.cut(lo)
}

func (s section) cut(n int) string {
	if s.tail {
		return "…" + message.EndUnits(s.text, max(0, n-1))
	}
	return message.Cut(s.text, max(0, n-1)) + "…"
}

// quote marks every line as quoted: it is what somebody else said.
func quote(text string) string {
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// FactsOf are what a packet is written from; more are open steps from elsewhere,
// a workflow or a task list.
func FactsOf(t compact.Thread, session string, ordinal int, now time.Time, more ...string) Facts {
	return Facts{
		Session: session, Ordinal: ordinal, Now: now, First: t.First, Latest: t.Latest,
		Slice: t.State.Slice, Next: append(t.Open(), more...), Decisions: t.Words.Lines(),
	}
}

// WorkOf is what a hand-over tells of the work: what the conversation's observers
// know, and what only the slice that was compacted tells. more are open steps
// from elsewhere.
func WorkOf(t compact.Thread, r *Record, more ...string) Work {
	w := r.Work()
	s := t.State
	if len(s.Slice.Commits) > 0 {
		w.Commits = s.Slice.Commits
	}
	if len(s.Slice.Steps) > 0 {
		w.Steps = s.Slice.Steps
	}
	if len(s.Plan.Steps) > 0 {
		w.Next, w.Unsure = r.steps(t.Open())
	}
	w.Stages = s.Slice.Stages
	w.Next = append(w.Next, more...)
	return w
}

// GoOn is the note that opens a turn after the packet of that id: it names the open
// step, and is the only one that tells the agent to carry on.
func GoOn(w compact.Words, id, step string, l message.Lang) string {
	return wrapPart(id, "go", message.PacketGoOn.Format(l, quoted(step, 160))+"\n\n"+goOn(w, l))
}

// goOn is the directive of a packet or a note that opens a turn.
func goOn(w compact.Words, l message.Lang) string {
	guard := ""
	for _, h := range w.Held {
		if h.Hold == extract.Guard {
			guard = h.Text
		}
	}
	if guard != "" {
		return message.HandoverGoGuard.Format(l, quoted(guard, 200))
	}
	return message.HandoverGo.In(l)
}
