package compact

import (
	"slices"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// hostReserve is what Claude Code keeps of a window at most: from there on it
// refuses requests altogether.
const hostReserve = 23_000

// Ceiling is the size from which a host's own compaction must not be held back
// any longer. Below what the host keeps free, 27,000 tokens leave room for an
// answer that the transcript does not show yet. A lower one may be configured.
func Ceiling(s Settings, window int64) int64 {
	own := max(window-hostReserve-27_000, 0)
	if s.CeilingTokens > 0 {
		return min(int64(s.CeilingTokens), own)
	}
	return own
}

// Grown is the usage with what the conversation has gained since, in bytes. Three
// to a token is what the host itself reckons with, and more than text has.
func (u Usage) Grown(bytes int64) Usage {
	if u.Known() {
		u.Used += (bytes + 2) / 3
	}
	return u
}

// Ask is a host's question whether it may compact a context by itself now.
type Ask struct {
	Settings Settings
	// Decision is Decide's for the main thread.
	Decision Decision
	// Main is false when a sub-agent's context is meant.
	Main bool
	// Usage is that context's, with what has grown since it was told.
	Usage Usage
	// Again: it was refused before, and nothing has happened since: the turn
	// ended by that, or the model's server has refused the request.
	Again bool
	// Commits counts the commits in a row at which it was refused.
	Commits int
}

// guessedCommits is how often a gate that only guesses the window refuses at commits.
const guessedCommits = 2

// Answer is the gate's answer.
type Answer struct {
	Open bool
	// Packet says that the compaction is the main thread's: a packet goes
	// along, and the boundary is spent once the host confirms it.
	Packet bool
	Reason message.Reason
}

// Gate holds a host's own compaction back until a boundary or the ceiling. It
// stays open whenever it has no business to close: in other modes than auto, when
// the automation rests, and when the usage is not known. A closed gate that
// never opens would end the session.
func Gate(a Ask) Answer {
	switch {
	case a.Settings.Mode != ModeAuto || a.Decision.Verdict == Stopped:
		return Answer{Open: true, Packet: a.Main, Reason: a.Decision.Reason}
	case !a.Main:
		// No boundary of main's says anything about it, and it may end at its limit.
		return Answer{Open: true, Reason: message.Because(message.GateSubagent)}
	case !a.Usage.Known():
		return Answer{Open: true, Packet: true, Reason: message.Because(message.CompactUnknown)}
	case a.Again:
		return Answer{Open: true, Packet: true, Reason: message.Because(message.GateAgain)}
	case a.Decision.Verdict == DoCompact:
		return Answer{Open: true, Packet: true, Reason: a.Decision.Reason}
	case a.Usage.Least > 0 && a.Commits >= guessedCommits && slices.Contains(a.Decision.Signals, Commit):
		return Answer{Open: true, Packet: true, Reason: message.Because(message.GateGuessed, a.Commits)}
	case a.Usage.Used >= Ceiling(a.Settings, a.Usage.Window):
		return Answer{Open: true, Packet: true, Reason: message.Because(message.GateCeiling, a.Usage.Used, Ceiling(a.Settings, a.Usage.Window))}
	}
	return Answer{Reason: a.Decision.Reason}
}
