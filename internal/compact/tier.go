package compact

import "github.com/seed-6d03985f/overtone/internal/config"

// Tier says how urgent a compaction is.
type Tier string

const (
	// noTier: there is room enough, or the window's size is not known.
	noTier    Tier = "none"
	early     Tier = "early"
	ready     Tier = "ready"
	asap      Tier = "asap"
	emergency Tier = "emergency"
)

// Usage is how full a context is, in tokens. The percentage is of the whole
// window; a host's own display may leave out a base that it always needs.
//
// Least is the window that there is at least, where its size is only guessed: 0 means
// that it is known.
type Usage struct {
	Used   int64 `json:"used"`
	Window int64 `json:"window"`
	Least  int64 `json:"least,omitempty"`
}

// Known reports whether the usage says anything. Windows that no model has are
// a reader's mistake, and keeping them out keeps the arithmetic exact.
func (u Usage) Known() bool { return u.Window > 0 && u.Window < 1<<48 && u.Used >= 0 }

// Remaining is the free share of the window in whole percent, rounded down and
// kept within 0 and 100; -1 when it is not known.
func (u Usage) Remaining() int {
	if !u.Known() {
		return -1
	}
	return int(max(0, u.Window-u.Used) * 100 / u.Window)
}

// Below reports whether strictly less than a share, in percent, is free. It multiplies instead of
// dividing, so no threshold is missed by rounding.
func (u Usage) Below(share float64) bool {
	return max(0, u.Window-u.Used)*100_00 < hundredths(share)*u.Window
}

// tierOf is the tier of the usage under the given thresholds.
func tierOf(t config.Trigger, u Usage) Tier {
	switch {
	case !u.Known():
		return noTier
	case u.Below(t.EmergencyPercentRemainingLT):
		return emergency
	case u.Below(t.AsapPercentRemainingLT):
		return asap
	case u.Below(t.ReadyPercentRemainingLT):
		return ready
	case u.Below(t.EarlyPercentRemainingLT):
		return early
	}
	return noTier
}
