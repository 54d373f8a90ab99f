package handover

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Situation is how the work stands at the compaction. Its texts are data: each stands on
// one line, bounded and without secrets.
func (h Handover) Situation() compact.Situation {
	r, words := h.Record, h.Work.Words
	r.rebase()
	if words.Evidence.Has(compact.AgentLast) {
		words = words.Closed(r.said, compact.NewMarks(config.Defaults().Compact.Markers).In(r.said))
	}
	s := words.Situation(len(r.thread.State.Plan.Steps) > 0, h.Work.Next, h.Work.Unsure)
	s.Request, s.To = inline(shorten(s.Request, 420), 430), inline(s.To, 480)
	if s.State == compact.StateAsked {
		s.Question = inline(cmp.Or(s.Question, extract.Tail(r.said, 2000)), 240)
	}
	for _, u := range r.failing() {
		s.Failing = append(s.Failing, compact.Failure{Line: inline(u.core(), maxRunLine), Output: inline(u.said, 200)})
	}
	s.Tree = h.tree()
	for i := range s.Standing {
		s.Standing[i].Text = inline(s.Standing[i].Text, 240)
	}
	s.Decisions = inlined(s.Decisions, 160)
	s.Plan = inlined(slices.DeleteFunc(slices.Clone(s.Plan), func(st string) bool { return slices.Contains(h.Work.Steps, st) }), 160)
	s.Unsure = inlined(s.Unsure, 100)
	return s
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
		t.Commits = append(t.Commits, compact.TreeCommit{Hash: inline(message.Head(c.Hash, 10), 10), Subject: inline(c.Subject, 100), By: inline(c.By, 60)})
	}
	own := slices.Clone(h.Work.Commits)
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

// request: the user's last words come first, word for word, with what they answer;
// then the task that they belong to.
func (w *handoverWriter) request() []string {
	u := w.Work.Words
	var out []string
	switch {
	case w.now.Request == "":
	case w.now.To != "":
		out = append(out, message.HandoverLatestTo.Format(w.Lang, quoted(shorten(w.now.Request, 430), 430), quoted(w.now.To, 480)))
	default:
		out = append(out, message.HandoverLatest.Format(w.Lang, quoted(shorten(w.now.Request, 430), 430)))
	}
	if goal := u.Goal; goal != "" && message.OneLine(goal) != message.OneLine(u.Latest.Text) {
		out = append(out, message.HandoverGoal.Format(w.Lang, quoted(shorten(goal, 560), 570)))
	}
	for _, a := range slices.Backward(u.Since) {
		if a.Task > 0 && a.Task <= w.Record.before { // the summary before this one told of it
			a = compact.Reply{Text: compact.Holding(a.Text)}
		}
		switch {
		case a.Text == "", a.To == "" && slices.ContainsFunc(u.Held, func(h compact.Held) bool { return h.Hold >= extract.Lasting && h.Text == a.Text }):
		case a.Task > 0:
			out = append(out, message.HandoverEarlier.Format(w.Lang, quoted(a.Text, 300)))
		case a.To == "", message.Units(a.Text) > 60:
			out = append(out, message.HandoverSince.Format(w.Lang, quoted(a.Text, 300)))
		default:
			out = append(out, message.HandoverAnswer.Format(w.Lang, quoted("… "+message.EndUnits(a.To, 110), 120), quoted(a.Text, 160)))
		}
	}
	return out
}

// state: how the work stands and what shows it, and what was at hand last.
func (w *handoverWriter) state() []string {
	r := w.Record
	stands, out := message.StateOf(string(w.now.State), "", w.Lang), []string{}
	if d := r.last; d.what != "" && !r.Words.Evidence.Has(compact.AgentLast|compact.UserLast) {
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
			what = code(tidyOr(d.what, r.CWD), 160)
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
	// The last step shows that work is under way, and the state itself who has spoken last.
	if w.now.State != compact.StateCalled && (w.now.State != compact.StateWorking || len(out) == 0) {
		stands = message.HandoverState.Format(w.Lang, stands, message.ShownBy(w.now.Evidence.List(), w.Lang))
	}
	out = append([]string{stands}, out...)
	if said := extract.LastSentence(prose(extract.Tail(r.said, 2000))); said != "" && !w.stated.says(said) && !r.Words.Evidence.Has(compact.UserLast) {
		out = append(out, message.HandoverSaid.Format(w.Lang, quoted(said, 200)))
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
		line := message.HandoverCommit.Format(w.Lang, c.Hash, quoted(c.Subject, 100))
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

// standing are the user's rules, the newest first.
func (w *handoverWriter) standing() []string {
	var out []string
	for _, rule := range w.now.Standing {
		if rule.Text == w.now.Request {
			continue // it is said already
		}
		text := message.HandoverHeld
		if rule.Ask {
			text = message.HandoverGuarded
		}
		out = append(out, text.Format(w.Lang, quoted(rule.Text, 240)))
	}
	return out
}

// decisions are the agent's that the summary does not tell.
func (w *handoverWriter) decisions() []string {
	var out []string
	for _, d := range w.now.Decisions {
		if !w.stated.says(d) {
			out = append(out, message.HandoverDecided.Format(w.Lang, quoted(d, 160)))
		}
	}
	return out
}

// plan: the open steps, then those that may be done by now.
func (w *handoverWriter) plan() []string {
	var out, unsure []string
	for _, st := range w.now.Plan {
		out = append(out, quoted(st, 160))
	}
	for _, st := range w.now.Unsure[:min(len(w.now.Unsure), 3)] {
		unsure = append(unsure, quoted(st, 100))
	}
	if len(unsure) > 0 {
		out = append(out, message.HandoverUnsure.Format(w.Lang, strings.Join(unsure, ", ")))
	}
	return out
}

// directive is the last line: what to do, or not, fits how the work stands.
func (w *handoverWriter) directive() string {
	switch state := w.now.State; {
	case state == compact.StateAsked:
		return message.HandoverAsk.Format(w.Lang, quoted(w.now.Question, 240))
	case state == compact.StateFinished:
		return message.HandoverFinished.In(w.Lang)
	case state == compact.StateStopped:
		return message.HandoverStop.In(w.Lang)
	case w.Hold || state == compact.StateUnknown:
		return message.HandoverHold.In(w.Lang)
	case state == compact.StateCalled:
		return message.HandoverCalled.In(w.Lang)
	}
	return goOn(w.Work.Words, w.Lang)
}
