package compact

import "slices"

// HostReserve is what Claude Code keeps of a window at most: from there on it refuses
// requests altogether. It compacts by itself when leastStep less is free. mostStep covers
// all but one in a thousand of the recorded requests.
const (
	HostReserve = 23_000
	leastStep   = 10_000
	mostStep    = 27_000
)

// Ceiling is the size from which a host's own compaction must not be held back any
// longer: below what the host keeps free there is room for one more step of this session,
// which may be by a quarter larger than the largest so far, as the transcript may not show
// the last one yet. Without any step (0) that is mostStep. The ceiling is never above the
// host's own. A lower one may be configured.
func Ceiling(s Settings, window, step int64) int64 {
	room := int64(mostStep)
	if step > 0 {
		room = min(max(step+step/4, leastStep), mostStep)
	}
	own := max(window-HostReserve-room, 0)
	if s.CeilingTokens > 0 {
		return min(int64(s.CeilingTokens), own)
	}
	return own
}

// Grown adds what the conversation has gained since, in bytes. It counts a token for every
// three bytes, as the host does; text has more bytes to a token.
func (u Usage) Grown(bytes int64) Usage {
	if u.Known() {
		u.Used += (bytes + 2) / 3
	}
	return u
}

// Ask is a host's question whether it may compact the main thread by itself now.
// Sub-agents are never held back: no boundary of the main thread's says anything about
// them, and one may end at its limit.
type Ask struct {
	Settings Settings
	Decision Decision
	// Usage is the context's, with what has grown since it was told.
	Usage Usage
	// Step is the most by which one request has grown the context, 0 where nobody knows.
	Step int64
	// Again: it was refused before, and nothing has happened since: the turn
	// ended by that, or the model's server has refused the request.
	Again bool
	// Commits counts the commits in a row at which it was refused.
	Commits int
}

// guessedCommits is how often a gate that only guesses the window refuses at commits.
const guessedCommits = 2

// Gate reports whether a host may compact now: it holds the host's own compaction back
// until a boundary or the ceiling. It stays open whenever it has no business to close: in
// other modes than auto, when the automation rests, and when the usage is not known. A
// closed gate that never opens would end the session.
func Gate(a Ask) bool {
	switch {
	case a.Settings.Mode != ModeAuto, a.Decision.Verdict == Stopped, a.Decision.Verdict == DoCompact:
		return true
	case !a.Usage.Known(), a.Again:
		return true
	case a.Usage.Least > 0 && a.Commits >= guessedCommits && slices.Contains(a.Decision.Signals, Commit):
		return true
	}
	return a.Usage.Used >= Ceiling(a.Settings, a.Usage.Window, a.Step)
}
