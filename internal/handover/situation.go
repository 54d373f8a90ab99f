package handover

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Situation is how the work stands at the compaction. Its texts are data: each stands on
// one line, bounded and without secrets.
func (h Handover) Situation() compact.Situation {
	r := h.Record
	r.rebase()
	s := h.Work.Words.Situation(h.Manual, inlined(h.Work.Next, 160))
	s.Request, s.To, s.First, s.Question = inline(s.Request, 640), inline(s.To, 640), inline(s.First, 340), inline(s.Question, 240)
	s.Words, s.More = h.quoted()
	for _, u := range r.failing() {
		s.Failing = append(s.Failing, compact.Failure{Line: inline(u.line, maxRunLine), Output: inline(u.said, 200)})
	}
	s.Tree = h.tree()
	return s
}

// quoted are the user's words that are told, and how many others there are.
func (h Handover) quoted() ([]compact.Word, int) {
	h.Lang = message.EN // the longer labels: which words are told does not depend on the language
	beside := message.HandoverWords.In(h.Lang) + h.first() + message.HandoverMore.Format(h.Lang, h.Work.Words.Count)
	room := mostWords - message.Units(beside) - 3*len("\n- ")
	list, more := h.unkept().Quote(room, func(w compact.Word) int { return message.Units(h.word(w)) + len("\n- ") })
	if list == nil {
		list = []compact.Word{}
	}
	return list, more
}

// unkept are the user's words without what was typed and the host itself keeps beside its
// summary, but for the newest, which say what comes next.
func (h Handover) unkept() compact.Words {
	w := h.Work.Words
	newest := w.Newest()
	w.Heard = slices.DeleteFunc(slices.Clone(w.Heard), func(said compact.Word) bool {
		return said != newest && said.How == compact.Typed && said.In(h.Kept)
	})
	return w
}

func (h Handover) word(w compact.Word) string {
	text := quoted(w.Text, 640)
	switch {
	case w.How == compact.WithAnswer:
		return message.HandoverAnswer.Format(h.Lang, quoted(w.To, 220), text)
	case w.How == compact.WithRefusal:
		return message.HandoverRefusal.Format(h.Lang, text)
	case w.How == compact.WithCompact:
		return message.HandoverWithCompact.Format(h.Lang, text)
	case w.How == compact.AsPlan:
		return message.HandoverPlan.Format(h.Lang, text)
	case w.How == compact.AsGoal:
		return message.HandoverGoal.Format(h.Lang, text)
	case w.To != "":
		return message.HandoverTo.Format(h.Lang, text, quoted(w.To, 640))
	}
	return text
}

// first is the session's first message, which says what it is all about.
func (h Handover) first() string {
	w := h.Work.Words
	if w.First.Text == "" || w.Count < 2 || w.First.In(h.Kept) {
		return ""
	}
	return message.HandoverFirstWords.Format(h.Lang, h.word(w.First))
}

func inlined(list []string, most int) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = inline(text, most)
	}
	return out
}

// tree is what is changed and what was committed. Git knows better than the session.
func (h Handover) tree() compact.Tree {
	r, git := h.Record, h.Work.Tree
	t := compact.Tree{Known: git.Known, Changed: []string{}, Commits: []compact.TreeCommit{}}
	if git.Known {
		for _, f := range git.Dirty {
			t.Changed = append(t.Changed, inline(r.tidy(f), 400))
		}
	} else {
		for i := range r.files {
			if f := &r.files[i]; f.wrote >= 0 && f.wrote > r.commit {
				t.Changed = append(t.Changed, inline(f.path, 400))
			}
		}
	}
	add := func(c compact.TreeCommit) {
		c.Hash, c.Subject, c.By = inline(message.Head(c.Hash, 10), 10), inline(c.Subject, 100), inline(c.By, 60)
		t.Commits = append(t.Commits, c)
	}
	own := slices.Clone(h.Work.Commits)
	for _, m := range r.moved {
		if !slices.ContainsFunc(own, func(o shellcmd.Made) bool { return strings.HasPrefix(o.Hash, m.Hash) }) {
			own = append(own, m)
		}
	}
	for _, c := range git.Since {
		// A commit that was amended or rebased has another hash.
		if i := slices.IndexFunc(own, func(o shellcmd.Made) bool {
			return o.Hash != "" && strings.HasPrefix(c.Hash, o.Hash) || o.Subject != "" && o.Subject == c.Subject
		}); i >= 0 {
			c.By = compact.ByAgent
			own = slices.Delete(own, i, i+1)
		}
		add(c)
	}
	for _, o := range slices.Backward(own) {
		if git.has(o.Hash) {
			add(compact.TreeCommit{Hash: o.Hash, Subject: o.Subject, By: compact.ByAgent})
		}
	}
	return t
}

// words are the user's, newest first, with the session's first message at the end.
func (w *handoverWriter) words() []string {
	var out []string
	first, more := w.first(), w.now.More
	for _, said := range w.now.Words {
		if out = append(out, w.word(said)); said.How == w.Work.Words.First.How && said.Text == w.Work.Words.First.Text {
			first = ""
		}
	}
	if first != "" {
		out = append(out, first)
		more--
	}
	if len(w.unkept().Heard) < len(w.Work.Words.Heard) {
		out = append(out, message.HandoverKeptWords.In(w.Lang))
	} else if more > 0 {
		out = append(out, message.HandoverMore.Format(w.Lang, more))
	}
	return out
}

// state: how the work stands and what shows it, and what was at hand last.
func (w *handoverWriter) state() []string {
	r, state := w.Record, w.now.State
	var out []string
	if state != compact.StateUnderWay || w.Hold || w.Pursues { // else the last line says it
		out = append(out, message.Stands(string(state), "", string(w.now.Sign), w.Lang))
	}
	if d := r.last; d.what != "" && state == compact.StateUnderWay {
		what := inline(d.what, 160)
		switch d.kind {
		case host.EditDeed, host.CreateDeed:
			what = message.HandoverEditing.Format(w.Lang, what)
			if d.where != "" {
				what += ": " + inline(d.where, 80)
			}
		case host.ReadDeed:
			what = message.HandoverReading.Format(w.Lang, what)
		case host.RunDeed:
			what = code(extract.Head(d.what, 4*maxRunLine), maxRunLine)
		}
		switch {
		case d.open:
			out = append(out, message.HandoverStopped.Format(w.Lang, what))
		case d.failed:
			out = append(out, message.HandoverFailed.Format(w.Lang, what))
		default:
			out = append(out, message.HandoverLastStep.Format(w.Lang, what))
		}
	}
	// What comes next may answer it: then it has to be long enough to be answered.
	most := 200
	if state != compact.StateUnderWay {
		most = 1000
	}
	if said := message.OneLine(extract.Tail(r.said, most)); said != "" && !w.stated.says(said) {
		out = append(out, message.HandoverSaid.Format(w.Lang, quoted(said, most)))
	}
	return out
}

// failing: what was red when it was last run, and why.
func (w *handoverWriter) failing() []string {
	var out []string
	for _, f := range w.now.Failing[:min(len(w.now.Failing), 3)] {
		out = append(out, message.HandoverBroken.Format(w.Lang, code(f.Line, maxRunLine), quoted(f.Output, 200)))
	}
	return out
}

// tree: what is not committed, then the commits that the summary does not tell.
func (w *handoverWriter) tree() []string {
	var out []string
	t, text := w.now.Tree, message.HandoverWrote
	if t.Known {
		text = message.HandoverUnsaved
	}
	if len(t.Changed) > 0 {
		out = append(out, text.Format(w.Lang, inline(folded(t.Changed, 320, w.Lang), 400)))
	}
	for _, c := range t.Commits {
		if c.Hash != "" && w.stated.has(message.Head(c.Hash, 7)) {
			continue
		}
		line := message.PacketCommit.Format(w.Lang, c.Hash, quoted(c.Subject, 100))
		switch c.By {
		case compact.ByAgent:
			line = message.HandoverOwnCommit.Format(w.Lang, c.Hash, quoted(c.Subject, 100))
		case "":
		default:
			line = message.HandoverCommitBy.Format(w.Lang, c.Hash, quoted(c.Subject, 100), c.By)
		}
		out = append(out, line)
	}
	return out
}

// directive is the last line of a hand-over or a packet: it follows from how the work
// stands, and orders nothing that the user might not want. opens, hold and pursues are
// [Handover]'s.
func directive(s compact.Situation, opens, hold, pursues bool, l message.Lang) string {
	switch {
	case s.State == compact.StateAsked && s.Question != "":
		return message.HandoverAsk.Format(l, quoted(s.Question, 240))
	case pursues && !hold && !s.State.Refuses():
		return message.HandoverPursue.In(l)
	case hold, s.State.Refuses(), s.State.Waits() && !opens:
		return message.HandoverNextWord.In(l)
	case s.State == compact.StateCalled:
		return message.HandoverCalled.In(l)
	case opens, s.State == compact.StateUnderWay:
		return message.HandoverGo.In(l)
	}
	return ""
}
