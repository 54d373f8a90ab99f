package handover

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// Facts are what a packet is written from. Everything in it is data from the
// session; nothing is trusted to be short or clean.
type Facts struct {
	Session string
	// Ordinal counts the session's compactions from 1.
	Ordinal int
	Now     time.Time
	// Words are the user's, Situation how the work stands; Goal is what a host pursues.
	Words     compact.Words
	Situation compact.Situation
	Goal      string
	// Slice is what was done since the last compaction.
	Slice compact.Slice
	// Decision is why the context is compacted; the zero value says nothing.
	Decision compact.Decision
	// Moved says that nothing was compacted: the session goes on elsewhere.
	Moved bool
	// Opens and Pursues are [Handover]'s.
	Opens, Pursues bool
}

func (f Facts) header(l message.Lang) string {
	if f.Moved {
		return message.PacketHeaderMoved.In(l)
	}
	return message.PacketHeader.In(l)
}

func (f Facts) last(l message.Lang) string {
	return directive(f.Situation, f.Opens, false, f.Pursues, l)
}

// Write writes the packet. Secrets are taken out of each fact before anything is
// cut.
func Write(f Facts, s compact.Settings, l message.Lang) compact.Packet {
	id, last := compact.PacketID(f.Session, f.Ordinal), f.last(l)
	parts := append([]string{f.header(l)}, f.parts(packetMax-message.Units(frame(id, "", f.header(l), last)), s, l)...)
	return compact.Packet{ID: id, Text: frame(id, "", append(parts, last)...), Created: f.Now, Expires: f.Now.Add(s.Packet.Expiry)}
}

// Adopt makes a packet of a text that the agent wrote, with the same marks and
// bounds as one of ours. An empty text gives false.
func Adopt(text string, f Facts, s compact.Settings, l message.Lang) (compact.Packet, bool) {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		return compact.Packet{}, false
	}
	id, last := compact.PacketID(f.Session, f.Ordinal), ""
	if !f.Opens {
		last = f.last(l)
	}
	if room := packetMax - message.Units(frame(id, "", f.header(l), "…\n", last)); message.Units(text) > room {
		// The end holds the next step and the directive.
		text = message.Cut(text, room/2) + "…\n" + message.EndUnits(text, room-room/2)
	}
	return compact.Packet{ID: id, Text: frame(id, "", f.header(l), text, last), Created: f.Now, Expires: f.Now.Add(s.Packet.Expiry)}, true
}

// frame marks texts as a note by a machine, and part what follows a packet of that id. A
// model must be able to tell it from its user's words, and our own reader from its agent's.
func frame(id, part string, texts ...string) string {
	if part != "" {
		part = `" part="` + part
	}
	texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
	return compact.PacketOpen + ` id="` + id + part + "\">\n" + strings.Join(texts, "\n\n") + "\n" + compact.PacketClose
}

// clean makes a foreign text fit to stand inside a packet.
func clean(text string) string {
	return redact.Clean(strings.ReplaceAll(message.Plain(strings.ReplaceAll(text, "\r\n", "\n")), "overtone-packet", "overtone packet"))
}

// section is a part of a packet: a title and either items or one text.
type section struct {
	title message.Text
	items []string
	// text is kept from its end when tail is set, else from its beginning.
	text string
	tail bool
	most int // UTF-16 units
}

// A section never takes more than its share of the packet, however long the
// session's facts are, and leaves some of it to each of those behind it.
const (
	mostRequest  = 1500
	mostList     = 1800
	mostTail     = 4000
	mostWhy      = 400
	mostItem     = 320
	leastSection = 500
)

func (f Facts) parts(room int, s compact.Settings, l message.Lang) []string {
	newest := f.Words.Newest()
	first, latest, last := clean(cmp.Or(f.Goal, f.Words.First.Text)), clean(newest.Text), strings.TrimSpace(clean(f.Slice.Last))
	if latest == first {
		latest = ""
	} else if newest.To != "" {
		latest += "\n↩ " + clean(newest.To)
	}
	tail := message.End(last, s.Packet.MaxTailChars)
	if tail != "" && len(tail) < len(last) {
		tail = "…" + tail
	}
	var avoid []string
	for _, x := range slices.Backward(f.Slice.Failures) {
		avoid = append(avoid, message.PacketFailed.Format(l, x.Line, x.Output))
	}
	list := slices.DeleteFunc([]section{
		{title: message.PacketGoal, text: first, most: mostRequest},
		{title: message.PacketLatest, text: latest, most: mostRequest},
		{title: message.PacketDone, items: tidy(f.done(l)), most: mostList},
		{title: message.PacketNext, items: tidy(f.Situation.Plan), most: mostList},
		{title: message.PacketDecisions, items: tidy(f.said(l)), most: mostList},
		{title: message.PacketAvoid, items: tidy(avoid), most: mostList},
		{title: message.PacketTail, text: tail, tail: true, most: mostTail},
		{title: message.PacketWhy, text: f.Decision.Reason.In(l), most: mostWhy},
	}, func(p section) bool { return len(p.items) == 0 && p.text == "" })
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = p.fit(min(p.most, room-leastSection*(len(list)-1-i)-len("\n\n")), l)
		room -= message.Units(parts[i]) + len("\n\n")
	}
	return parts
}

// said are the user's words without those that stand as goal and latest, the newest first.
func (f Facts) said(l message.Lang) (out []string) {
	list, _ := f.Words.Quote(mostWords, func(w compact.Word) int { return message.Units(w.Text) + message.Units(w.To) })
	for _, w := range list {
		if w.Text != f.Words.Newest().Text && (f.Goal != "" || w.Text != f.Words.First.Text) {
			out = append(out, Handover{Lang: l}.word(w))
		}
	}
	return out
}

// done is what the slice brought, the newest first.
func (f Facts) done(l message.Lang) (done []string) {
	for _, c := range slices.Backward(f.Slice.Commits) {
		done = append(done, message.PacketCommit.Format(l, message.Head(c.Hash, 12), c.Subject))
	}
	for _, st := range slices.Backward(f.Slice.Steps) {
		done = append(done, message.PacketStep.Format(l, st))
	}
	for _, st := range slices.Backward(f.Slice.Stages) {
		done = append(done, message.PacketStage.Format(l, st))
	}
	files := slices.Clone(f.Slice.Files)
	slices.Reverse(files)
	for chunk := range slices.Chunk(files, 5) {
		done = append(done, message.PacketFiles.Format(l, strings.Join(chunk, ", ")))
	}
	return done
}

// tidy are items on one line each, without what is said twice.
func tidy(items []string) (out []string) {
	for _, it := range items {
		if it = message.OneLine(clean(it)); message.Units(it) > mostItem {
			it = message.Cut(it, mostItem*2/3) + "…" + message.EndUnits(it, mostItem-mostItem*2/3-1)
		}
		if it != "" && !slices.Contains(out, it) {
			out = append(out, it)
		}
	}
	return out
}

func (p section) fit(n int, l message.Lang) string {
	if p.items != nil {
		return section2(p.title.In(l), p.items, n-len("\n- ")-message.Units(message.HandoverMore.Format(l, len(p.items))), l)
	}
	head, text := "## "+p.title.In(l)+"\n", p.text
	// Each line costs two units for its mark; cutting the marked text from the end may
	// leave half a mark, so the text itself is cut.
	fits := func(text string) bool { return message.Units(head+quote(text)) <= n }
	cut := func(n int) string {
		if p.tail {
			return "…" + message.EndUnits(p.text, n)
		}
		return message.Cut(p.text, n) + "…"
	}
	if !fits(text) {
		text = cut(sort.Search(n, func(i int) bool { return !fits(cut(i + 1)) }))
	}
	return head + quote(text)
}

// quote marks every line as quoted: it is what somebody else said.
func quote(text string) string {
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// FactsOf are what a packet is written from; more are open steps from elsewhere,
// a workflow or a task list.
func FactsOf(t compact.Thread, session string, ordinal int, now time.Time, more ...string) Facts {
	return Facts{Session: session, Ordinal: ordinal, Now: now, Words: t.Words, Situation: t.Situation(more...), Slice: t.State.Slice}
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
		w.Next = t.Open()
	}
	w.Stages = s.Slice.Stages
	w.Next = append(w.Next, more...)
	return w
}

// GoOn is the note that opens a turn after the packet of that id: it names the open
// step, and is the only one that tells the agent to carry on.
func GoOn(id, step string, l message.Lang) string {
	return frame(id, "go", message.PacketGoOn.Format(l, quoted(step, 160)), message.HandoverGo.In(l))
}
