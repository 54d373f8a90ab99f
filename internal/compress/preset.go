package compress

import "fmt"

// Preset is a named choice of options, as they would be given by hand.
type Preset struct{ Name, Bands, Tools, Thinking string }

// presets are ordered from gentle to harsh.
func presets() []Preset {
	return []Preset{
		{"routine", "0-50:compress", "0-50:truncate", "remove"},
		{"heavy", "0-50:heavy-compress,50-80:compress", "0-50:remove,50-80:truncate", "remove"},
		{"emergency", "0-80:heavy-compress,80-95:compress", "0-90:remove,90-95:truncate", "remove"},
	}
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Preset, error) {
	var names []string
	for _, p := range presets() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("unknown preset %q: want one of %v", name, names)
}

// ParseThinking reads "remove" for all of it, or ranges such as 0-80:remove.
func ParseThinking(s string) ([]Band, error) {
	if s == "remove" {
		s = "0-100:remove"
	}
	return parseRanges(s, "thinking range", removeTools)
}
