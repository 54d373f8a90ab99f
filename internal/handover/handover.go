package handover

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Work is what a hand-over tells of the work beside its names.
type Work struct {
	Commits []shellcmd.Made
	Steps   []string // finished
	Stages  []string // finished, of our workflow
	Next    []string // open, the current first
	Tree    Tree
	Words   compact.Words
}

// Tree is what git tells of the working tree at the compaction.
type Tree struct {
	// Known is false where git was not asked, or has not answered in time: then
	// nothing is said of what is committed and what is not.
	Known   bool
	Dirty   []string             // changed or new, and not committed
	Commits []string             // those that can be reached and were not reverted, newest first
	Since   []compact.TreeCommit // of them, those of the branch since the last compaction, by their authors
}

// has reports whether a commit is still there, by its hash or the head of it.
func (t Tree) has(hash string) bool {
	return hash == "" || !t.Known || slices.ContainsFunc(t.Commits, func(c string) bool { return strings.HasPrefix(c, hash) })
}

// Handover is all that a hand-over is written from.
type Handover struct {
	ID       string
	Session  string
	Replaces string // the id of the one before it
	Record   *Record
	Work     Work
	// Summary is the host's; without one the hand-over cannot know what was
	// said already.
	Summary string
	Kept    string // what the host leaves in the context beside it
	Lang    message.Lang
	// Manual says that a person has asked for the compaction, Opens that the text itself
	// opens a turn, Hold that a word of the user's comes before anything else, Pursues that
	// the host goes on with the goal by itself.
	Manual, Opens, Hold, Pursues bool
}

// Part is one section of a hand-over.
type Part struct {
	Name string
	Text string
}

// Text is the hand-over.
func (h Handover) Text() string { return h.Frame(h.Parts()) }

// Frame is the text that its sections make.
func (h Handover) Frame(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return frame(h.ID, "", texts...)
}

// Parts are the sections in order, the frame's lines among them.
func (h Handover) Parts() []Part {
	w := handoverWriter{Handover: h, now: h.Situation(), stated: newStated(h.Summary + "\n" + h.Kept)}
	parts := []Part{{"header", w.header()}}
	add := func(name string, title message.Text, lines []string, most int) {
		if text := section2(title.In(h.Lang), lines, most, h.Lang); text != "" {
			w.stated.add(text)
			parts = append(parts, Part{name, text})
		}
	}
	add("words", message.HandoverWords, w.words(), mostWords)
	add("state", message.HandoverNow, w.state(), mostState)
	add("failing", message.HandoverFailing, w.failing(), mostFailing)
	add("tree", message.HandoverTree, w.tree(), mostTree)
	add("plan", w.planTitle(), w.plan(), mostNext)
	add("done", message.HandoverDone, w.done(), mostDone)
	add("commands", message.HandoverCommands, w.commands(), mostCommands)
	last := []Part{{"recall", message.HandoverRecall.Format(h.Lang, h.Session)}}
	if text := directive(w.now, h.Opens, h.Hold, h.Pursues, h.Lang); text != "" {
		last = append(last, Part{"directive", text})
	}
	used := message.Units(h.Frame(slices.Concat(parts, last))) + len("\n\n")
	if names := w.names(min(max(leastNames, length-used), packetMax-used)); names != "" {
		parts = append(parts, Part{"names", names})
	}
	return append(parts, last...)
}

// Names is the section of names alone, which depends on the summary most, without
// what was handed over before.
func (h Handover) Names(handed string, room int) string {
	h.Record.rebase()
	w := handoverWriter{Handover: h, stated: newStated(h.Summary + "\n" + h.Kept + "\n" + handed)}
	return w.names(room)
}

// Later is what follows a packet that was handed over before the summary was
// known: the names that neither of them states.
func (h Handover) Later(handed string) string {
	names := h.Names(handed, min(leastNames, packetMax-message.Units(handed)))
	if names == "" {
		return ""
	}
	head := message.HandoverLater.Format(h.Lang, inline(h.ID, 60))
	return frame(h.ID, "names", head, names)
}

// names is the section of the names that nothing before it states.
func (w *handoverWriter) names(room int) string {
	title := message.HandoverNames
	if w.Summary == "" {
		title = message.HandoverAllNames
	}
	return w.Record.Lacking(w.stated.has, title, room, w.Lang)
}

// planTitle says how old the plan is: agents forget to tick steps off.
func (w *handoverWriter) planTitle() message.Text {
	n := w.Record.edits
	if n == 0 || len(w.Record.thread.State.Plan.Steps) == 0 {
		return message.HandoverNext
	}
	return message.Text{ZH: message.HandoverNextOld.Format(message.ZH, n), EN: message.HandoverNextOld.Format(message.EN, n)}
}

func (w *handoverWriter) plan() []string {
	var out []string
	for _, st := range w.now.Plan {
		out = append(out, quoted(st, 160))
	}
	return out
}

func section2(title string, lines []string, most int, l message.Lang) string {
	var b strings.Builder
	b.WriteString("## " + title)
	used := message.Units(b.String())
	for i, line := range lines {
		cost := message.Units(line) + 3
		if used+cost > most {
			if i == 0 {
				return ""
			}
			b.WriteString("\n- " + message.HandoverMore.Format(l, len(lines)-i))
			break
		}
		used += cost
		b.WriteString("\n- " + line)
	}
	if len(lines) == 0 {
		return ""
	}
	return b.String()
}

type handoverWriter struct {
	Handover
	now    compact.Situation
	stated *statedText
}

func (w *handoverWriter) header() string {
	head := message.HandoverHeader.In(w.Lang)
	if w.Replaces != "" {
		head += message.HandoverReplaces.Format(w.Lang, inline(w.Replaces, 60))
	}
	if w.Record.root != "" {
		head += message.HandoverRoot.Format(w.Lang, inline(w.Record.root, 120))
	}
	return head
}

// done: steps and stages that are finished and that the summary does not tell.
func (w *handoverWriter) done() []string {
	var out []string
	for _, st := range slices.Backward(w.Work.Steps) {
		if line := quoted(st, 140); !slices.Contains(w.Work.Next, st) && !w.stated.says(st) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, st := range slices.Backward(w.Work.Stages) {
		out = append(out, message.HandoverStage.Format(w.Lang, inline(st, 60)))
	}
	return out
}

func (w *handoverWriter) commands() []string {
	var out []string
	passed := w.Record.works(w.stated.says)
	for _, u := range passed[:min(len(passed), 5)] {
		out = append(out, code(u.line, maxRunLine))
	}
	return out
}

// statedText answers whether a name or a sentence stands in what the model
// has in front of it already.
type statedText struct {
	text   string
	folded string
	states func(name string) bool
}

func newStated(text string) *statedText {
	s := &statedText{}
	s.add(text)
	return s
}

func (s *statedText) add(text string) {
	s.text += text + "\n"
	s.folded, s.states = "", nil
}

func (s *statedText) has(name string) bool {
	if s.states == nil {
		s.states = extract.Stated(s.text)
	}
	return s.states(name)
}

// says compares without regard to case and white space.
func (s *statedText) says(sentence string) bool {
	if s.folded == "" {
		s.folded = strings.ToLower(message.OneLine(s.text))
	}
	return strings.Contains(s.folded, strings.ToLower(message.OneLine(sentence)))
}

// Everything that comes out of the session is data. It stands on one line, its
// tags are blunted so that none can close the frame around it, and secrets are
// taken out before anything is cut.

// inline is foreign text inside a line of ours.
func inline(text string, most int) string {
	text = strings.ReplaceAll(blunt(redact.Clean(message.OneLine(text))), "overtone-packet", "overtone packet")
	if message.Units(text) > most {
		text = message.Cut(text, most-1) + "…"
	}
	return text
}

// quoted is foreign text in quotation marks that it cannot close.
func quoted(text string, most int) string {
	return "“" + strings.NewReplacer("“", "\"", "”", "\"").Replace(inline(text, most)) + "”"
}

// code is a command line in backticks that it cannot close.
func code(text string, most int) string {
	return "`" + strings.ReplaceAll(inline(text, most), "`", "'") + "`"
}

// blunt takes the edge off tags and comments.
func blunt(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '<' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '!' || text[i+1] == '?' || frameTag(text[i+1:])) {
			b.WriteString("‹")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// frameTag reports the tags in which hosts and we wrap what is ours to say.
func frameTag(rest string) bool {
	low := strings.ToLower(rest[:min(len(rest), 24)])
	tags := []string{
		"overtone", "system", "user", "human", "assistant", "command-", "local-command", "task-", "bash-", "function", "tool", "antml",
		"result", "instruction", "environment", "permission", "turn_", "persona", "skill",
	}
	return slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(low, tag) })
}

// folded writes paths with shared folders once: a/{b.go, c.go}, d/e.go.
func folded(paths []string, most int, l message.Lang) string {
	type group struct {
		dir   string
		files []string
	}
	var groups []*group
	at := map[string]*group{}
	for _, p := range slices.Backward(paths) {
		dir := folderOf(p)
		if at[dir] == nil {
			at[dir] = &group{dir: dir}
			groups = append(groups, at[dir])
		}
		at[dir].files = append(at[dir].files, p[len(dir):])
	}
	var parts []string
	used, left := 0, len(paths)
	for _, g := range groups {
		fit, size := g.files[:1], used+message.Units(g.dir+g.files[0])
		for _, f := range g.files[1:] {
			if size += len(", ") + message.Units(f); size > most {
				break
			}
			fit = g.files[:len(fit)+1]
		}
		text := g.dir + fit[0]
		if len(fit) > 1 {
			text = g.dir + "{" + strings.Join(fit, ", ") + "}"
		}
		if used > 0 && used+message.Units(text) > most {
			break
		}
		used += message.Units(text) + 2
		left -= len(fit)
		parts = append(parts, text)
	}
	if left > 0 {
		parts = append(parts, message.HandoverMore.Format(l, left))
	}
	return strings.Join(parts, ", ")
}
