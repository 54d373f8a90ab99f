package compact

import (
	"math"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// Settings are the knobs of the policy and of packets: the section of the user's
// configuration, completed by the prompt file. Its zero value is mode off.
type Settings = config.Compact

// Mode says what happens when a boundary is reached under pressure.
type Mode = string

const (
	// ModeOff neither suggests, nor holds back, nor writes anything down.
	ModeOff Mode = "off"
	// ModeTag only writes the moment into the timeline.
	ModeTag Mode = "tag"
	// ModeSuggest tells the user.
	ModeSuggest Mode = "suggest"
	// ModeAuto compacts.
	ModeAuto Mode = "auto"
)

// AgentPackets says that the agent writes the packet, asked with the prompt
// file's body.
func AgentPackets(s Settings) bool { return s.PacketAuthor == "agent" }

// hundredths are those of a percent, so that thresholds such as 12.5 compare without
// rounding.
func hundredths(percent float64) int64 { return int64(math.Round(percent * 100)) }
