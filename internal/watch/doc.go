// Package watch drives live agent sessions from outside: it listens to what
// an agent does, asks the policy of package compact whether a natural boundary
// was reached, compacts the context and hands the agent its continuation
// packet, exactly once per compaction.
//
// Codex is reached through its app-server (Client). Each thread has a pure state
// machine, advance, that turns what the server reports into actions; the runner
// only carries actions out and feeds their results back. Claude Code is started
// and driven as a headless process, one message after the other.
//
// What always holds:
//
//   - A server request is never answered: approvals belong to the user.
//   - Nothing is done to a thread that is not idle, has queued messages, waits
//     for an approval or is in review.
//   - No turn is opened without evidence of open work, nor before a message of the
//     user's that waits; only the setting always opens one without evidence.
//   - What is about to be done is on disk before it is done, so a watcher that
//     is killed at any point is continued by the next one, without a second
//     packet.
//   - Of several watchers on one thread one acts; the others only look.
//
// It does not decide when to compact and does not write packets; package
// compact does both.
package watch
