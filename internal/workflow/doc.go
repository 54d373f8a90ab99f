// Package workflow is the engine: it routes multi-stage work by what the stages'
// agents answer. It is pure. There is no file, no clock and no randomness in it
// (of package store it uses names and the form of an event):
//
//	state, outcome := rules.Apply(state, event)
//
// An event is something that happened (a hand-over, an answer, time passing), an
// outcome is what the shell has to do about it (texts, files, timeline). The same
// events give the same state, however often they are replayed.
//
// Invariants, which the property tests drive random schedules against:
//   - Until a run is over, something can be done: a stage is ready, an agent is
//     at work, or a barrier runs out of time.
//   - A stage sends the work back at most its maxRetries times.
//   - A barrier is decided by all its votes, or by time, and then says so.
//   - A completion counts once, whoever reports it, in whatever order.
//   - A PASS that nobody said is marked unverified for good.
//
// The state file keeps what it does not know, and the order of its stages.
package workflow
