package host

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-6d03985f/overtone/plugin"
)

// Every hook is a process that the host starts and waits for: none is registered
// twice for one tool, and tools that no hook has a use for start none.
func TestNewest_Row7_NothingIsRegisteredTwice(t *testing.T) {
	t.Parallel()
	data, err := fs.ReadFile(plugin.FS, "hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	processes := func(tool string, events ...string) (n int) {
		for event, groups := range file.Hooks {
			if !slices.Contains(events, event) {
				continue
			}
			for _, g := range groups {
				if g.Matcher == "" || regexp.MustCompile("^(?:"+g.Matcher+")$").MatchString(tool) {
					n += len(g.Hooks)
				}
			}
		}
		return n
	}
	for event := range file.Hooks {
		for _, tool := range []string{"Bash", "Agent", "Read", "Edit", "Write", "SendMessage", "TodoWrite", ""} {
			if n := processes(tool, event); n > 1 {
				t.Errorf("%s starts %d processes for %q", event, n, tool)
			}
		}
	}
	// Before, after, and once for all that the model asked for together.
	for tool, most := range map[string]int{"Bash": 3, "Edit": 3, "Read": 1, "Grep": 1, "WebFetch": 1, "SendMessage": 2, "mcp__x__y": 1} {
		if n := processes(tool, "PreToolUse", "PostToolUse", "PostToolBatch"); n > most {
			t.Errorf("a call of %s starts %d processes, want at most %d", tool, n, most)
		}
	}
}
