package compress

import "github.com/seed-6d03985f/overtone/internal/message"

// Preset is a named choice of options. Tools and thinking come first: they are
// four fifths of what can be saved on typical sessions, and the agent can look
// them up again. What users said stays, and so do the newest turns.
type Preset struct {
	Name, Bands, Tools, Thinking string
	Newest                       int
	NoCalls                      bool
}

// defaultPreset is what is done when nothing is said.
const defaultPreset = "routine"

// presets are ordered from gentle to harsh.
func presets() []Preset {
	return []Preset{
		{"routine", "", "0-50:remove,50-100:truncate", "remove", 3, false},
		{"heavy", "0-50:compress", "0-80:remove,80-100:truncate", "remove", 2, false},
		{"emergency", "0-50:heavy-compress,50-100:compress", "0-100:remove", "remove", 1, false},
		{"fresh", "0-100:heavy-compress", "0-100:remove", "remove", 2, true},
	}
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Preset, error) {
	for _, p := range presets() {
		if p.Name == name {
			return p, nil
		}
	}
	return Preset{}, message.WithHint(message.Fail(message.BadPreset, name), message.HintThereAre, names(PresetNames()))
}

// ParseThinking reads "remove" for all of it, or ranges such as 0-80:remove.
func ParseThinking(s string) ([]Band, error) {
	if s == "remove" {
		s = "0-100:remove"
	}
	return parseRanges(s, "--thinking", removeTools)
}

// PresetNames are the names of the presets, from gentle to harsh.
func PresetNames() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return names
}
