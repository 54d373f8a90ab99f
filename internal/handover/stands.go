package handover

// Situation is how the work stands, as every view of a session tells it.
type Situation struct {
	// State is the name of a [State].
	State string `json:"state"`
	// Request is what the user said last, To what it answers.
	Request string `json:"request"`
	To      string `json:"to,omitempty"`
	// Question is what the agent waits to be told.
	Question string `json:"question,omitempty"`
}

// Situation is the one that the hand-over's request and its last line are about.
func (h Handover) Situation() Situation {
	state, question := h.Record.state(h.Work.Words, h.Work.Next)
	latest := h.Work.Words.Latest
	return Situation{State: state.String(), Request: inline(shorten(latest.Text, 420), 430), To: inline(latest.To, 480), Question: inline(question, 240)}
}

func (s State) String() string {
	switch s {
	case Working:
		return "working"
	case Called:
		return "called"
	case Finished:
		return "finished"
	case Asked:
		return "asked"
	case Stopped:
		return "stopped"
	}
	return "unknown"
}
