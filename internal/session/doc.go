// Package session is the state of one session: its workflow, what is known of its
// conversation, the texts that wait for its main thread, and the compaction under
// way. Hooks, commands and watchers share it.
//
// Everything is changed under the session's one lock, in [Update], and written
// in an order that a kill at any point leaves repairable: the workflow first,
// flushed and renamed, then what can be derived from it. Reading ([Peek], [Read])
// takes no lock.
//
// A conversation may have two observers, its hooks and a watcher. Both feed one
// thread: what is told twice counts once (see [compact.Thread]).
package session
