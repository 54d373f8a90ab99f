package blueprint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Encode writes a workflow's file.
func Encode(label message.Text, about string, stages []workflow.Draft) []byte {
	var b strings.Builder
	if label != (message.Text{}) {
		b.WriteString("label: " + labelText(label) + "\n")
	}
	if about != "" {
		b.WriteString("about: " + quote(about) + "\n")
	}
	if len(stages) == 0 {
		b.WriteString("stages: []\n")
		return []byte(b.String())
	}
	b.WriteString("stages:\n")
	for _, s := range stages {
		fields := stageText(s)
		if len(fields) == 1 {
			b.WriteString("  - " + quote(s.Key) + "\n")
			continue
		}
		for i, f := range fields {
			lead := "    "
			if i == 0 {
				lead = "  - "
			}
			b.WriteString(lead + f + "\n")
		}
	}
	return []byte(b.String())
}

// stageText is what is to say of a stage, a line each.
func stageText(s workflow.Draft) []string {
	out := []string{"stage: " + quote(s.Key)}
	add := func(when bool, key, value string) {
		if when {
			out = append(out, key+": "+value)
		}
	}
	sp := s.Spec
	add(sp.Agent != "", "agent", quote(sp.Agent))
	add(sp.Run != "", "run", quote(sp.Run))
	add(sp.RunTimeout != 0, "run_timeout", sp.RunTimeout.String())
	add(sp.Label != message.Text{}, "label", labelText(sp.Label))
	add(sp.Emoji != "", "emoji", quote(sp.Emoji))
	add(sp.Judges, "judges", "true")
	add(s.After != nil, "after", listText(s.After))
	add(s.OnFail != "", "on_fail", quote(s.OnFail))
	add(s.Retries >= 0, "retries", strconv.Itoa(s.Retries))
	add(s.Barrier != "", "barrier", quote(s.Barrier))
	add(s.BarrierTimeout != 0, "barrier_timeout", s.BarrierTimeout.String())
	add(len(sp.Context) > 0, "context", listText(sp.Context))
	add(len(sp.When) > 0, "when", "{paths: "+listText(sp.When)+"}")
	return out
}

func labelText(t message.Text) string {
	if t.ZH == t.EN {
		return quote(t.EN)
	}
	return "{zh: " + quote(t.ZH) + ", en: " + quote(t.EN) + "}"
}

func listText(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = quote(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quote writes a text that is nothing else to YAML: plain where every character is
// known to be harmless and it cannot be a number or a switch.
func quote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.' || r == '/')
	}) && ('a' <= s[0] && s[0] <= 'z' || 'A' <= s[0] && s[0] <= 'Z') &&
		!slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}, strings.ToLower(s))
	if plain {
		return s
	}
	return strconv.Quote(s)
}
