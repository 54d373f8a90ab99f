package carry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// Options are how a story is told.
type Options struct {
	From string // the agent, as people write it
	Gone string // the folder that the session was in, where it goes on in another
	Lang message.Lang
	Now  time.Time
	// Keep is how much of the older texts together remains, in percent.
	Keep int
	// Kept is where the originals of shortened texts are kept; "" for nowhere.
	Kept compress.Dir
}

const (
	// summaryPercent is what remains at least of the summary that a compaction left:
	// nothing else tells what came before it.
	summaryPercent = 35
	// newestTurns stay whole at the end, as far as newestRoom goes: the newest request
	// and the newest answer always.
	newestTurns = 2
	newestRoom  = 6000
	// moderate is how long a user's message may be that stays whole, in UTF-16 units.
	moderate = 4000
	// ToolsTold is how many of the newest tools have a line each.
	ToolsTold = 24
	// namesRoom is how long the list of names may be.
	namesRoom = 6000
)

// Retold is a talk, and what was done to the texts.
type Retold struct {
	Talk
	Messages int    // of user and agent
	Short    int    // messages of them that are shortened
	Left     string // how much of these is left
	Tools    int    // calls, whose results are left out
	// Before and After are estimates of the conversation's tokens and of the talk's: to
	// either a host adds its instructions and tools.
	Before, After int
	Redacted      map[string]int

	short *compress.Shortened
}

// Tell makes a talk of a story.
func (s *Story) Tell(ctx context.Context, o Options) (*Retold, error) {
	t := &Retold{Redacted: map[string]int{}}
	title := redact.Clean(message.OneLine(s.Title))
	t.Title, t.CWD, t.Now = message.ContinueTitle.Format(o.Lang, message.Short(title, 60), o.From), s.CWD, o.Now
	pieces := slices.Clone(s.pieces)
	for i := range pieces {
		pieces[i].text = t.clean(pieces[i].text)
	}
	if err := t.shorten(ctx, pieces, o); err != nil {
		return nil, err
	}
	t.join(pieces, o.Lang)
	var all strings.Builder
	for _, l := range t.Lines {
		all.WriteString(l.Text + "\n")
	}
	t.Note = s.note(all.String(), len(t.Redacted) > 0, o)
	t.Before, t.After = int(s.context), compress.EstimateTokens(all.String()+t.Note)
	return t, nil
}

// Ends are the first line of the talk and those of its last turn.
func (t Talk) Ends() []Line {
	last := len(t.Lines) - 1
	for last > 0 && !t.Lines[last].User {
		last--
	}
	if last <= 0 {
		return t.Lines
	}
	return append(slices.Clone(t.Lines[:1]), t.Lines[last:]...)
}

// clean takes secrets out: the text goes to another vendor.
func (t *Retold) clean(text string) string {
	text, found := redact.Text(text)
	for _, f := range found {
		t.Redacted[f.Kind] += f.Count
	}
	return text
}

// shorten makes the older texts shorter.
func (t *Retold) shorten(ctx context.Context, pieces []piece, o Options) error {
	var said []compress.Passage
	var at []int
	turns, room, heard, spoke := 0, newestRoom, false, false
	amid := false // the text behind this one is the agent's, and gets shorter
	for i, p := range slices.Backward(pieces) {
		if p.tool {
			continue
		}
		t.Messages++
		size := message.Units(p.text)
		whole := o.Keep >= 100 || turns < newestTurns && size <= room || p.user && !p.summary && size <= moderate
		switch {
		case p.begins && !heard:
			whole, heard = true, true
		case !p.user && !spoke:
			whole, spoke = true, true
		}
		if room -= size; p.begins {
			turns++
		}
		if !whole {
			said, at = append(said, compress.Passage{User: p.user, Summary: p.summary, Amid: amid && !p.user, Text: p.text}), append(at, i)
		}
		amid = !whole && !p.user
	}
	slices.Reverse(said)
	slices.Reverse(at)
	t.Short = len(said)
	var err error
	if t.short, err = o.Kept.Shorten(ctx, o.Keep, max(o.Keep, summaryPercent), said, o.Now); err != nil {
		return err
	}
	before, after := 0, 0
	for n, text := range t.short.Texts {
		before, after = before+message.Units(said[n].Text), after+message.Units(text)
		pieces[at[n]].text = text
	}
	t.Left = message.Percent(int64(after), int64(before))
	return nil
}

// join puts what the agent said and did between two messages of the user into one.
func (t *Retold) join(pieces []piece, lang message.Lang) {
	for _, p := range pieces {
		if p.tool {
			t.Tools++
		}
	}
	tools := t.Tools
	var texts, names []string
	at := time.Time{}
	fold := func() {
		if len(names) > 0 {
			texts = append(texts, folded(names, lang))
			names = nil
		}
	}
	end := func() {
		if fold(); len(texts) > 0 {
			t.line(Line{Text: strings.Join(texts, "\n\n"), At: at}, lang)
			texts = nil
		}
	}
	for _, p := range pieces {
		switch {
		case p.user:
			end()
			t.line(Line{User: true, Summary: p.summary, Text: p.text, At: p.at}, lang)
		case !p.tool:
			texts, at = appendText(texts, p.text), p.at
		case tools > ToolsTold:
			tools--
			names, at = append(names, p.name), p.at
		default:
			fold()
			texts, at = appendTool(texts, p, lang), p.at
		}
	}
	end()
}

// line adds what one side said. A talk begins with the user, as a service may insist.
func (t *Retold) line(l Line, lang message.Lang) {
	last := t.Now
	if n := len(t.Lines); n > 0 {
		last = t.Lines[n-1].At
	} else if !l.User {
		t.line(Line{User: true, Text: message.ContinueBegins.In(lang), At: l.At}, lang)
	}
	if l.At.IsZero() {
		l.At = last
	}
	t.Lines = append(t.Lines, l)
}

// appendText adds a text of the agent's. Marks of messages stand side by side.
func appendText(texts []string, text string) []string {
	if n := len(texts); n > 0 && compress.IsMark(text) && compress.IsMark(texts[n-1][max(0, strings.LastIndex(" "+texts[n-1], " …")):]) {
		texts[n-1] += " " + text
		return texts
	}
	return append(texts, text)
}

const sign = "▸ "

// appendTool tells of a tool, below the tools before it.
func appendTool(texts []string, p piece, lang message.Lang) []string {
	line := sign + p.name
	if p.text != "" {
		line += ": " + p.text
	}
	switch p.end {
	case failed:
		line += " → " + message.ContinueFailed.In(lang)
	case refused:
		line += " → " + message.ContinueRefused.In(lang)
	case open:
		line += " → …"
	}
	if n := len(texts); n > 0 && strings.HasPrefix(texts[n-1], sign) {
		texts[n-1] += "\n" + line
		return texts
	}
	return append(texts, line)
}

func folded(names []string, lang message.Lang) string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s ×%d", n, count[n]))
	}
	return sign + message.ContinueTools.Format(lang, len(names), message.Short(strings.Join(parts, ", "), maxTold))
}

// note is what the model is told beside the talk: what this is, how the work stands,
// and the names that the talk does not state.
func (s *Story) note(said string, secrets bool, o Options) string {
	h := handover.Handover{
		ID: compact.PacketID(s.ID, 0), Session: s.ID, Record: s.record, Work: s.record.Work(), Summary: said, Lang: o.Lang, Hold: true,
	}
	head := message.ContinueHeader.Format(o.Lang, o.From, s.ID)
	if secrets {
		head += message.ContinueSecrets.In(o.Lang)
	}
	if o.Gone != "" {
		head += " " + message.MovedFolder.Format(o.Lang, o.Gone, s.CWD)
	}
	parts := []string{head}
	last := []string{}
	for _, p := range h.Parts() {
		switch p.Name {
		case "header", "names":
		case "recall", "directive":
			last = append(last, p.Text)
		default:
			parts = append(parts, p.Text)
		}
	}
	states := extract.Stated(said + strings.Join(parts, "\n"))
	if names := s.record.Lacking(states, message.ContinueNames, namesRoom, o.Lang); names != "" {
		parts = append(parts, names)
	}
	return compact.PacketOpen + ` id="` + h.ID + "\">\n" + strings.Join(append(parts, last...), "\n\n") + "\n" + compact.PacketClose
}
