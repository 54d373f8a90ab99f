package handover

import (
	"cmp"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// State is how the work stands when the context is compacted.
type State uint8

const (
	// Unknown: nothing shows whether anything is left to do.
	Unknown State = iota
	// Working: the agent was in the middle of something.
	Working
	// Called: the user has said something that nobody has answered yet.
	Called
	// Finished: the agent has ended its turn, and nothing is open.
	Finished
	// Asked: the agent has asked its user something, or waits for a decision.
	Asked
	// Stopped: the user has interrupted the work, or told the agent to stop.
	Stopped
)

// state is how the work stands, and the question that is open. What shows it is the
// last thing that happened, and the last words of both sides.
func (r *Record) state(words compact.Words, next []string) (state State, question string) {
	if r.open != "" {
		return Asked, r.open
	}
	stopped := r.interrupted || extract.Stops(words.Latest.Text)
	switch r.ended {
	case transcript.ToolBegan, transcript.ToolEnded:
		if stopped && r.interrupted {
			return Stopped, ""
		}
		return Working, ""
	case transcript.UserSaid:
		if stopped {
			return Stopped, ""
		}
		return Called, ""
	case transcript.AgentSaid:
	default:
		if stopped {
			return Stopped, ""
		}
		return Unknown, ""
	}
	done := saysDone(r.said) || len(r.thread.State.Plan.Steps) > 0 && len(next) == 0
	switch {
	case words.Asked != "":
		return Asked, words.Asked
	case stopped:
		return Stopped, ""
	case done && len(next) == 0:
		return Finished, ""
	case extract.Yields(r.said):
		said := extract.Tail(r.said, 2000)
		return Asked, cmp.Or(extract.LastSentence(said), message.OneLine(said))
	case extract.Announces(r.said):
		return Working, ""
	case extract.Wonders(words.Latest.Text):
		return Finished, "" // it was asked something, and has answered
	}
	return Unknown, ""
}

// request: the user's last words come first, word for word, with what they answer;
// then the task that they belong to.
func (w *handoverWriter) request() []string {
	u := w.Work.Words
	var out []string
	latest := u.Latest
	switch {
	case latest.Text == "":
	case latest.To != "":
		out = append(out, message.HandoverLatestTo.Format(w.Lang, quoted(shorten(latest.Text, 420), 430), quoted(latest.To, 480)))
	default:
		out = append(out, message.HandoverLatest.Format(w.Lang, quoted(shorten(latest.Text, 420), 430)))
	}
	if goal := u.Goal; goal != "" && message.OneLine(goal) != message.OneLine(latest.Text) {
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

// standing are the user's rules, the newest first.
func (w *handoverWriter) standing() []string {
	var out []string
	for _, h := range slices.Backward(w.Work.Words.Held) {
		switch {
		case h.Hold == extract.Guard:
			out = append(out, message.HandoverGuarded.Format(w.Lang, quoted(h.Text, 240)))
		case h.Hold == extract.Lasting:
			out = append(out, message.HandoverHeld.Format(w.Lang, quoted(h.Text, 240)))
		}
	}
	return out
}

// decisions are the agent's that the summary does not tell.
func (w *handoverWriter) decisions() []string {
	var out []string
	for _, d := range slices.Backward(w.Work.Words.Decided) {
		if !w.stated.says(d) {
			out = append(out, message.HandoverDecided.Format(w.Lang, quoted(d, 160)))
		}
	}
	return out
}

// directive is the last line: what to do, or not, fits how the work stands.
func (w *handoverWriter) directive() string {
	state, question := w.state()
	switch {
	case state == Asked:
		return message.HandoverAsk.Format(w.Lang, quoted(question, 240))
	case state == Finished:
		return message.HandoverFinished.In(w.Lang)
	case state == Stopped:
		return message.HandoverStop.In(w.Lang)
	case w.Hold || state == Unknown:
		return message.HandoverHold.In(w.Lang)
	case state == Called:
		return message.HandoverCalled.In(w.Lang)
	}
	return goOn(w.Work.Words, w.Lang)
}

func (w *handoverWriter) state() (State, string) { return w.Record.state(w.Work.Words, w.Work.Next) }
