package compact

import (
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Compaction is one that worked.
type Compaction struct {
	At time.Time `json:"at"`
	// Before and After are the context's tokens; After is -1 until the host
	// has told the new size.
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// Foreign is set when the user or the host compacted, not we.
	Foreign bool `json:"foreign,omitempty"`
}

// Input is all that Decide looks at.
type Input struct {
	Settings Settings
	Usage    Usage
	// Signals are those of the turn, from Thread.Boundary, and TurnEnd where the turn is over
	// and nothing runs on, or the next one has not sent its first request yet.
	Signals Signals
	// History holds the session's compactions, oldest first.
	History []Compaction
	Now     time.Time
}

// Verdict is what to do now.
type Verdict string

const (
	DoCompact Verdict = "compact"
	DoSuggest Verdict = "suggest"
	DoTag     Verdict = "tag"
	Wait      Verdict = "wait"
	// Stopped: compacting does not help; the automation rests.
	Stopped Verdict = "stopped"
	IsOff   Verdict = "off"
)

// Cause names the reason of a decision, for programs.
type Cause string

const (
	causeBoundary   Cause = "boundary"
	causeEmergency  Cause = "emergency"
	causeOff        Cause = "off"
	causeUnknown    Cause = "usage-unknown"
	causeRoom       Cause = "room"
	causeNoBoundary Cause = "no-boundary"
	causeTooSmall   Cause = "boundary-too-small"
	causePlanOnly   Cause = "plan-only"
	causeFresh      Cause = "just-compacted"
	causeRearm      Cause = "rearm"
	causeNoShrink   Cause = "not-shrinking"
	causeTooFast    Cause = "too-fast"
)

// Decision is the answer of Decide.
type Decision struct {
	Tier             Tier
	PercentRemaining int // -1 when not known
	Signals          []Boundary
	// Allowed are the boundaries that would do now. It is empty in an
	// emergency, which needs none.
	Allowed []Boundary
	// Met are the signals among them.
	Met     []Boundary
	Verdict Verdict
	Cause   Cause
	Reason  message.Reason
	// Rearm is how many more tokens the context has to grow before the next
	// compaction, 0 when it may happen.
	Rearm int64
}

// Decide weighs the turn's signals against how full the context is.
func Decide(in Input) Decision {
	s := in.Settings
	tier := tierOf(s.Trigger, in.Usage)
	allowed := tier.allows() & counting(s.Trigger)
	signals := in.Signals
	met := signals & allowed
	d := Decision{
		Tier: tier, PercentRemaining: in.Usage.Remaining(),
		Signals: signals.List(), Allowed: allowed.List(), Met: met.List(),
		Rearm: rearm(in.Usage, in.History), Verdict: Wait,
	}
	because := func(c Cause, t message.Text, args ...any) Decision {
		d.Cause, d.Reason = c, message.Because(t, args...)
		return d
	}
	switch {
	case s.Mode == ModeOff || s.Mode == "":
		d.Verdict = IsOff
		return because(causeOff, message.CompactOff)
	case !in.Usage.Known():
		return because(causeUnknown, message.CompactUnknown)
	}
	if d.Cause, d.Reason = diverges(in.History, in.Now); d.Cause != "" {
		d.Verdict = Stopped
		return d
	}
	switch {
	case tier == noTier:
		t := s.Trigger // early begins first, unless somebody set it otherwise
		first := max(t.EarlyPercentRemainingLT, t.ReadyPercentRemainingLT, t.AsapPercentRemainingLT, t.EmergencyPercentRemainingLT)
		return because(causeRoom, message.CompactRoom, d.PercentRemaining, percentText(first))
	case len(in.History) > 0 && in.History[len(in.History)-1].After < 0:
		return because(causeFresh, message.CompactFresh)
	case d.Rearm > 0:
		return because(causeRearm, message.CompactRearm, d.Rearm)
	case tier == emergency:
		d.act(s.Mode)
		return because(causeEmergency, message.CompactEmergency, d.PercentRemaining, percentText(s.Trigger.EmergencyPercentRemainingLT))
	case signals == 0:
		return because(causeNoBoundary, message.CompactNoBoundary, string(tier), names(allowed))
	case met == 0:
		return because(causeTooSmall, message.CompactTooSmall, string(tier), names(allowed), names(signals))
	case tier != asap && met&^planOnly() == 0 && signals&breaks() == 0:
		return because(causePlanOnly, message.CompactPlanOnly, string(tier), names(breaks()))
	}
	d.act(s.Mode)
	return because(causeBoundary, message.CompactBoundary, names(met), string(tier), d.PercentRemaining)
}

func (d *Decision) act(m Mode) {
	switch m {
	case ModeAuto:
		d.Verdict = DoCompact
	case ModeSuggest:
		d.Verdict = DoSuggest
	default:
		d.Verdict = DoTag
	}
}

// planOnly are the boundaries that come in the middle of a thought: agents tick
// off steps while they work. In the early tiers they need a second sign.
func planOnly() Signals { return setOf(PlanCheckpoint, PlanUpdate) }

// breaks are the signs that the agent itself sees a break.
func breaks() Signals { return setOf(AgentDone, TopicShift, ConcludingThought) }

// rearmGrowth is by how many tokens a context must have grown since its last
// compaction: two percent of the window, at least 64; 256 for an unknown window.
func rearmGrowth(window int64) int64 {
	if window <= 0 {
		return 256
	}
	return max(window/50, 64)
}

func rearm(u Usage, history []Compaction) int64 {
	n := len(history)
	if n == 0 || history[n-1].After < 0 {
		return 0
	}
	return max(0, rearmGrowth(u.Window)-(u.Used-history[n-1].After))
}

const (
	// A compaction that frees less than a tenth has not helped. One may be bad
	// luck, two in a row will not be better the third time.
	minFreed     = 10 // percent
	maxFruitless = 2
	// Three compactions within five minutes cost more than they bring: each
	// reads the whole context. After an hour the work has moved on.
	fastCount  = 3
	fastWithin = 5 * time.Minute
	fastRest   = time.Hour
)

// diverges is the convergence guard. Only our own compactions count, and only
// those after the last foreign one: whoever compacts by hand starts afresh.
func diverges(history []Compaction, now time.Time) (Cause, message.Reason) {
	own := newest(history, maxHistory)
	for i, c := range slices.Backward(own) {
		if c.Foreign {
			own = own[i+1:]
			break
		}
	}
	fruitless := 0
	for _, c := range slices.Backward(own) {
		if c.After < 0 || c.Before <= 0 || (c.Before-c.After)*100 >= c.Before*minFreed {
			break
		}
		fruitless++
	}
	if fruitless >= maxFruitless {
		return causeNoShrink, message.Because(message.CompactNoShrink, fruitless, minFreed)
	}
	if n := len(own); n >= fastCount {
		first, last := own[n-fastCount].At, own[n-1].At
		if last.Sub(first) < fastWithin && now.Sub(last) < fastRest {
			return causeTooFast, message.Because(message.CompactTooFast, fastCount, int(fastWithin/time.Minute), int(fastRest/time.Minute))
		}
	}
	return "", message.Reason{}
}
