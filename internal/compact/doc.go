// Package compact decides when a context should be compacted. It is pure: what it
// needs to know comes in as values, what should happen comes back as values; hosts,
// files and clocks belong to its callers. Only Thread.Judge asks the repositories of a
// finished command, with the function that its caller hands in, before Apply learns
// of it.
//
// A Thread is the one observer of a conversation. Hooks and watchers feed it the
// events of package host, in any mixture: what is told twice counts once.
//
// When: Thread.Decide weighs the turn's signals against how full the context is.
// Gate answers a host that wants to compact by itself. The fuller the context
// is, the smaller the boundary that is good enough: early, ready, asap; in an
// emergency none is needed. What holds always:
//
//   - The configured list narrows what a tier allows and never widens it.
//   - Our own packets and the turns they open are no signals.
//   - After a compaction the context must have grown before the next one, and
//     compactions that do not help stop the automation.
//
// What survives is written by package handover; a Receipt makes sure that it reaches
// the agent once per compaction and never as a user's message in the middle of a
// turn.
//
// The package does not compact, does not read transcripts and does not talk to
// models; an agent-written packet is asked for by the packages above it.
package compact
