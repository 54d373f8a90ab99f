package compact

import "time"

// Suspect is a thread that may be the one that asks to compact, on a host that
// does not say which.
type Suspect struct {
	ID string // the sub-agent; "" = the main thread
	// Usage is the thread's, with what has grown since.
	Usage Usage
	// Step is when it was last seen to come back from its tools, or from the
	// person.
	Step time.Time
	// Away: it rests, or waits for its tools, and so cannot be about to ask the
	// model.
	Away bool
	// Asked: it has asked already since its last step.
	Asked bool
}

// Whose tells which thread asks to compact. Hosts ask before a request of a
// thread whose context is large, once: so it is not one that is away, not one
// that has asked, and of the others the largest.
func Whose(main Suspect, agents []Suspect) string {
	best := main
	for _, a := range agents {
		switch {
		case best.ID == "" && best.Away:
			best = a
		case best.ID == "" && best.Asked && a.Usage.Used*2 >= best.Usage.Used:
			best = a
		case a.Usage.Used > best.Usage.Used, a.Usage.Used == best.Usage.Used && a.Step.After(best.Step):
			best = a
		}
	}
	return best.ID
}
