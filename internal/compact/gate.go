package compact

import "github.com/seed-6d03985f/overtone/internal/message"

// ceiling is the size from which a host's own compaction must not be held back
// any longer. Claude Code refuses requests altogether from 23,000 tokens below
// the model's window on; another 27,000 leave room for the largest single step
// and for a usage that is one message old. Small windows keep half.
// A lower one may be configured.
func ceiling(s Settings, window int64) int64 {
	own := max(window-50_000, window/2)
	if s.CeilingTokens > 0 {
		return min(int64(s.CeilingTokens), own)
	}
	return own
}

// Ask is a host's question whether it may compact a context by itself now.
type Ask struct {
	Settings Settings
	// Decision is Decide's for the main thread.
	Decision Decision
	// Main is false when a sub-agent's context is meant.
	Main bool
	// Usage is that context's.
	Usage Usage
}

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
	case !a.Usage.Known():
		return Answer{Open: true, Packet: a.Main, Reason: message.Because(message.CompactUnknown)}
	case a.Main && a.Decision.Verdict == DoCompact:
		return Answer{Open: true, Packet: true, Reason: a.Decision.Reason}
	case a.Usage.Used >= ceiling(a.Settings, a.Usage.Window):
		return Answer{Open: true, Packet: a.Main, Reason: message.Because(message.GateCeiling, a.Usage.Used, ceiling(a.Settings, a.Usage.Window))}
	case !a.Main:
		return Answer{Reason: message.Because(message.GateSubagent)}
	}
	return Answer{Reason: a.Decision.Reason}
}
