package prompt

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
)

//go:embed auto-compact.md
var defaultAutoCompact string

// DefaultAutoCompact returns the built-in prompt file, for a user's copy.
func DefaultAutoCompact() []byte { return []byte(defaultAutoCompact) }

// AutoCompact is the prompt file that says when contexts are compacted and what
// an agent is asked to write before that.
type AutoCompact struct {
	Version int     `yaml:"version" min:"0" max:"1"`
	Trigger Trigger `yaml:"trigger"`
	Markers Markers `yaml:"markers"`
	Packet  Packet  `yaml:"packet"`
	Body    string  `yaml:"-"` // the Markdown after the front matter, as it is in the file
}

// Trigger holds the tiers' thresholds in percent of the window that is free, and
// the boundaries that count.
type Trigger struct {
	EarlyPercentRemainingLT     float64  `yaml:"early_percent_remaining_lt" min:"0" max:"100"`
	ReadyPercentRemainingLT     float64  `yaml:"ready_percent_remaining_lt" min:"0" max:"100"`
	AsapPercentRemainingLT      float64  `yaml:"asap_percent_remaining_lt" min:"0" max:"100"`
	EmergencyPercentRemainingLT float64  `yaml:"emergency_percent_remaining_lt" min:"0" max:"100"`
	AutoRequiresAnyBoundary     []string `yaml:"auto_requires_any_boundary" oneof:"commit pr_checkpoint plan_checkpoint plan_update agent_done topic_shift concluding_thought stage_complete"`
}

// Markers are the phrases that make an agent's message a signal.
type Markers struct {
	AgentDone         []string `yaml:"agent_done"`
	AgentDoneNegative []string `yaml:"agent_done_negative"`
	TopicShift        []string `yaml:"topic_shift"`
	ConcludingThought []string `yaml:"concluding_thought"`
}

// Packet shapes the continuation packet.
type Packet struct {
	Author       string        `yaml:"author" oneof:"watcher agent"`
	MaxTailChars int           `yaml:"max_tail_chars" min:"0" max:"20000"`
	Expiry       time.Duration `yaml:"expiry" min:"1m" max:"720h"`
}

// maxPrompt bounds a prompt file; more than that is no prompt.
const maxPrompt = 1 << 20

// LoadAutoCompact reads the prompt file at path over the built-in one and applies
// the user's settings on top. A missing file is no problem; whatever is wrong
// with it is told in one problem, so that a caller that reads it at every turn
// has one line to say.
func LoadAutoCompact(path string, over config.Overrides) (AutoCompact, []config.Problem) {
	a, problems := readAutoCompact(path)
	a.override(over)
	if n := len(problems) - 1; n > 0 {
		problems = problems[:1]
		problems[0].Msg += fmt.Sprintf(" (and %d more)", n)
	}
	return a, problems
}

func readAutoCompact(path string) (AutoCompact, []config.Problem) {
	if path == "" {
		return builtin(), nil
	}
	src, err := config.ReadFile(path, maxPrompt)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return builtin(), nil
	case err != nil:
		return builtin(), []config.Problem{{File: path, Msg: err.Error()}}
	}
	return ParseAutoCompact(src, path)
}

// ParseAutoCompact reads a prompt file over the built-in one and lists every
// problem: keys that cannot be used keep the built-in value, and so does an empty
// body.
func ParseAutoCompact(src []byte, file string) (AutoCompact, []config.Problem) {
	a := builtin()
	if string(src) == defaultAutoCompact {
		// The usual case, a copy that nobody edited: nothing is to be parsed.
		return a, nil
	}
	problems := a.parse(src, file)
	return a, problems
}

func (a *AutoCompact) parse(src []byte, file string) []config.Problem {
	front, line, body, ok := splitFront(src)
	if strings.TrimSpace(strings.TrimPrefix(body, "\ufeff")) != "" {
		a.Body = body
	}
	switch {
	case ok:
		return config.DecodeYAML(front, file, line, a)
	case line > 0:
		return []config.Problem{{File: file, Line: line, Column: 1, Msg: "front matter is not closed by a line \"---\""}}
	}
	return nil
}

func (a *AutoCompact) override(o config.Overrides) {
	set(&a.Trigger.EarlyPercentRemainingLT, o.Trigger.EarlyPercentRemainingLT)
	set(&a.Trigger.ReadyPercentRemainingLT, o.Trigger.ReadyPercentRemainingLT)
	set(&a.Trigger.AsapPercentRemainingLT, o.Trigger.AsapPercentRemainingLT)
	set(&a.Trigger.EmergencyPercentRemainingLT, o.Trigger.EmergencyPercentRemainingLT)
	set(&a.Trigger.AutoRequiresAnyBoundary, o.Trigger.AutoRequiresAnyBoundary)
	set(&a.Markers.AgentDone, o.Markers.AgentDone)
	set(&a.Markers.AgentDoneNegative, o.Markers.AgentDoneNegative)
	set(&a.Markers.TopicShift, o.Markers.TopicShift)
	set(&a.Markers.ConcludingThought, o.Markers.ConcludingThought)
	set(&a.Packet.Author, o.PacketAuthor)
	set(&a.Packet.MaxTailChars, o.Packet.MaxTailChars)
	set(&a.Packet.Expiry, o.Packet.Expiry)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
