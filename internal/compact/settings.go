package compact

import (
	"math"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/prompt"
)

// Mode says what happens when a boundary is reached under pressure.
type Mode string

const (
	// ModeOff: nothing is watched.
	ModeOff Mode = "off"
	// ModeTag only writes the moment into the timeline.
	ModeTag Mode = "tag"
	// ModeSuggest tells the user.
	ModeSuggest Mode = "suggest"
	// ModeAuto compacts.
	ModeAuto Mode = "auto"
)

// Percent is a share in hundredths of a percent, so that thresholds such as
// 12.5 compare without rounding.
type Percent int64

// PercentOf converts a configured number.
func PercentOf(f float64) Percent { return Percent(math.Round(f * 100)) }

// Settings are the knobs of the policy and of packets.
type Settings struct {
	Mode Mode
	// Early, Ready, Asap and Emergency are the tiers' thresholds: a tier
	// holds while less than that is free.
	Early, Ready, Asap, Emergency Percent
	// Boundaries lists what counts; it narrows what a tier allows.
	Boundaries Signals
	Markers    Markers
	// AgentPackets says that the agent writes the packet, asked with Prompt.
	AgentPackets bool
	Prompt       string
	// MaxTail bounds the tail of the last output in a packet, in characters.
	MaxTail int
	// Expiry is how long a packet waits for its delivery.
	Expiry time.Duration
	// Window is the configured context window in tokens, Ceiling the configured
	// size from which a host's own compaction is not held back; 0 leaves either
	// to what is known of the host.
	Window, Ceiling int64
}

// Markers are the phrases that make an agent's message a signal.
type Markers struct {
	Done, NotDone, Shift, Conclusion []string
}

// From takes the settings out of a prompt file and the user's configuration.
func From(a prompt.AutoCompact, c config.Compact) Settings {
	s := Settings{
		Mode:         Mode(c.Mode),
		Window:       int64(c.ContextWindow),
		Ceiling:      int64(c.CeilingTokens),
		Early:        PercentOf(a.Trigger.EarlyPercentRemainingLT),
		Ready:        PercentOf(a.Trigger.ReadyPercentRemainingLT),
		Asap:         PercentOf(a.Trigger.AsapPercentRemainingLT),
		Emergency:    PercentOf(a.Trigger.EmergencyPercentRemainingLT),
		AgentPackets: a.Packet.Author == "agent",
		Prompt:       a.Body,
		MaxTail:      a.Packet.MaxTailChars,
		Expiry:       a.Packet.Expiry,
		Markers: Markers{
			Done: a.Markers.AgentDone, NotDone: a.Markers.AgentDoneNegative,
			Shift: a.Markers.TopicShift, Conclusion: a.Markers.ConcludingThought,
		},
	}
	for _, b := range a.Trigger.AutoRequiresAnyBoundary {
		s.Boundaries |= Of(Boundary(b))
	}
	return s
}

// Defaults are the settings of the built-in prompt file in mode suggest.
func Defaults() Settings {
	a, _ := prompt.ParseAutoCompact(prompt.DefaultAutoCompact(), "")
	return From(a, config.Defaults().Compact)
}
