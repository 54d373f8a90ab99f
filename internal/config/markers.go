package config

import (
	_ "embed"
	"strings"
	"sync"
)

// AutoCompact is the built-in prompt file: when a context is compacted, and what an
// agent is asked to write before that.
//
//go:embed auto-compact.md
var AutoCompact string

// defaultMarkers are the phrases of the built-in prompt file. Each stands on a line of
// its own there: the YAML library would cost every hook half a millisecond. Nobody changes
// the lists.
var defaultMarkers = sync.OnceValue(func() (m Markers) {
	lists := map[string]*[]string{
		"agent_done:": &m.AgentDone, "agent_done_negative:": &m.AgentDoneNegative,
		"topic_shift:": &m.TopicShift, "concluding_thought:": &m.ConcludingThought,
	}
	var list *[]string
	front, _, _ := strings.Cut(AutoCompact[len("---"):], "\n---")
	for line := range strings.Lines(front) {
		line = strings.TrimSpace(line)
		if phrase, ok := strings.CutPrefix(line, "- "); ok {
			*list = append(*list, strings.Trim(phrase, `"`))
		} else if l, ok := lists[line]; ok {
			list = l
		}
	}
	return m
})
