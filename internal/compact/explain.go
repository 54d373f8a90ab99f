package compact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Explain says in words what Decide looked at and why it decided so, one
// condition per line.
func Explain(in Input, d Decision, l message.Lang) string {
	s, t := in.Settings, in.Settings.Trigger
	lines := []string{message.ExplainVerdict.Format(l, string(d.Verdict), d.Reason.In(l))}
	tier := string(d.Tier)
	if in.Usage.Known() {
		used, window := message.Thousands(int(in.Usage.Used)), message.Thousands(int(in.Usage.Window))
		lines = append(lines, message.ExplainUsage.Format(l, d.PercentRemaining, used, window))
		if in.Usage.Least > 0 {
			lines = append(lines, message.ExplainGuess.In(l))
		}
	} else {
		lines, tier = append(lines, message.ExplainUsageUnknown.In(l)), message.AuditUnknown.In(l)
	}
	lines = append(lines,
		message.ExplainTier.Format(l, tier, percentText(t.EarlyPercentRemainingLT), percentText(t.ReadyPercentRemainingLT),
			percentText(t.AsapPercentRemainingLT), percentText(t.EmergencyPercentRemainingLT)),
		message.ExplainSignals.Format(l, orNone(d.Signals, l)))
	if d.Tier == emergency {
		lines = append(lines, message.ExplainAllowedAll.In(l))
	} else {
		lines = append(lines, message.ExplainAllowed.Format(l, orNone(d.Allowed, l)))
	}
	if len(in.History) > 0 {
		growth := message.Thousands(int(rearmGrowth(in.Usage.Window)))
		lines = append(lines, message.ExplainRearm.Format(l, growth, message.Thousands(int(d.Rearm))))
	}
	return strings.Join(append(lines, message.ExplainMode.Format(l, s.Mode)), "\n")
}

func orNone(list []Boundary, l message.Lang) string {
	if len(list) == 0 {
		return message.ExplainNone.In(l)
	}
	return Names(list)
}

func names(s Signals) string { return Names(s.List()) }

// Names are boundaries as people read them.
func Names(list []Boundary) string {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = string(b)
	}
	return strings.Join(texts, ", ")
}

// percentText writes a threshold without a needless fraction: 85, 12.5.
func percentText(share float64) string {
	return strconv.FormatFloat(float64(hundredths(share))/100, 'f', -1, 64)
}

// Next is when a compaction that only waits for the end of a turn will come.
type Next string

const (
	AtNextPrompt Next = "next-prompt" // with the user's next words
	AtTurnEnd    Next = "turn-end"
)

// Next says it, "" where the end of a turn will not be enough, or is reached. Asks is set
// for a host that asks before each request.
func (in Input) Next(asks bool) Next {
	asks = asks && in.Settings.Mode == ModeAuto
	over := in.Signals.Has(TurnEnd)
	in.Signals |= TurnEnd.Signal()
	switch d := Decide(in); {
	case d.Cause != causeBoundary || !slices.Contains(d.Met, TurnEnd), asks && !in.Settings.AtPrompt, over && !asks:
		return ""
	case asks:
		return AtNextPrompt
	}
	return AtTurnEnd
}

// In says it in words.
func (n Next) In(l message.Lang) string {
	switch n {
	case AtNextPrompt:
		return message.NextPrompt.In(l)
	case AtTurnEnd:
		return message.NextTurnEnd.In(l)
	}
	return ""
}
