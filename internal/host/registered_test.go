package host

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-6d03985f/overtone/plugin"
)

// Every hook is a process that the host starts, and mostly waits for: none is
// registered twice for one tool, tools that no hook has a use for start none, and
// one is started per command that ends well: how it ended stands in the session's file.
func TestNewest_Row7_NothingIsRegisteredTwice(t *testing.T) {
	t.Parallel()
	data, err := fs.ReadFile(plugin.FS, "hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Command string
				Async   bool
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	processes := func(async bool, tool string, events ...string) (n int) {
		for event, groups := range file.Hooks {
			if !slices.Contains(events, event) {
				continue
			}
			for _, g := range groups {
				if g.Matcher == "" || regexp.MustCompile("^(?:"+g.Matcher+")$").MatchString(tool) {
					for _, h := range g.Hooks {
						if h.Async == async {
							n++
						}
					}
				}
			}
		}
		return n
	}
	for event := range file.Hooks {
		for _, tool := range []string{"Bash", "Agent", "Read", "Edit", "Write", "SendMessage", "TodoWrite", ""} {
			if n := processes(false, tool, event) + processes(true, tool, event); n > 1 {
				t.Errorf("%s starts %d processes for %q", event, n, tool)
			}
		}
	}
	for tool, most := range map[string]int{"Bash": 1, "Edit": 1, "Write": 1, "Read": 0, "Grep": 0, "WebFetch": 0, "SendMessage": 1, "TodoWrite": 1, "mcp__x__y": 0} {
		if n := processes(false, tool, "PreToolUse", "PostToolUse", "PostToolBatch"); n > most {
			t.Errorf("the host waits for %d processes in a call of %s, want at most %d", n, tool, most)
		}
		if n := processes(false, tool, "PostToolUseFailure", "PostToolBatch"); tool == "Bash" && n > 0 {
			t.Errorf("the host waits for %d processes after a call of %s that failed", n, tool)
		}
	}
	if n := processes(true, "Bash", "PostToolUse") + processes(false, "Bash", "PostToolUse"); n > 0 {
		t.Errorf("the host starts %d processes after a command that ended well", n)
	}
	for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Agent", "Task", "SendMessage", "TaskStop", "TodoWrite", "TaskCreate", "TaskUpdate"} {
		if aside := processes(true, tool, "PostToolUse") == 1; aside != claudeHost.EndsUnwaited(kindOf(tool)) {
			t.Errorf("%s: told aside %v, handled so %v", tool, aside, !aside)
		}
	}
}
