package host

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// codexHost is Codex CLI. Its sub-agents are threads of their own.
var codexHost = Host{
	Name: Codex, Program: "codex", Floor: Version{0, 166, 0}, dirVar: "CODEX_HOME", dirName: ".codex",
	Events:   []string{"session-start", "user-prompt-submit", "post-tool-use", "pre-compact", "post-compact", "stop"},
	Delivers: true, Watched: true,
	Decode: decodeCodex, Encode: encodeHooks,
}

// CodexFile is the path of the user's hooks in Codex's home.
func CodexFile(home string) string { return filepath.Join(home, "hooks.json") }

// codexHook is one event that Codex reports. One that speaks gives the model
// texts that must arrive whole.
type codexHook struct {
	event, command, matcher string
	speaks                  bool
}

// codexHooks: a compaction from its beginning to the packet, and the tools whose
// results are boundaries. Sessions otherwise start and end unreported.
var codexHooks = [...]codexHook{
	{"SessionStart", "session-start", "compact", true},
	{"UserPromptSubmit", "user-prompt-submit", "", true},
	{"PostToolUse", "post-tool-use", "Bash|apply_patch|update_plan", false},
	{"PreCompact", "pre-compact", "", false},
	{"PostCompact", "post-compact", "", false},
	{"Stop", "stop", "", false},
}

// CodexEdits add the hooks to hooks.json. Each goes to the end of its event:
// Codex remembers the user's approval of a hook by its place in the list.
func CodexEdits() []Edit {
	var edits []Edit
	for _, h := range codexHooks {
		command := "overtone hook " + h.command + " --host codex"
		matcher := ""
		if h.matcher != "" {
			matcher = `"matcher":` + quote(h.matcher) + `,`
		}
		limit := ""
		if h.speaks {
			// Beyond 2,500 tokens Codex would cut the middle out and name a
			// file instead; a packet has bounds of its own.
			limit = `,"additionalContextLimit":0`
		}
		edits = append(edits, Edit{
			Path: []string{"hooks", h.event}, Append: true, Mark: command,
			Value: fmt.Sprintf(`{%s"hooks":[{"type":"command","command":%s,"timeout":10%s}]}`, matcher, quote(command), limit),
		})
	}
	return edits
}

// CodexApproved counts which of the hooks in hooks.json (at path) the user has
// decided about, according to Codex's config.toml. Nothing is ever approved from
// here.
func CodexApproved(path string, hooks, configTOML []byte) (approved, total int) {
	if !gjson.ValidBytes(hooks) {
		return 0, 0
	}
	for _, h := range codexHooks {
		for i, group := range gjson.GetBytes(hooks, "hooks."+h.event).Array() {
			for j, hook := range group.Get("hooks").Array() {
				if !strings.Contains(hook.Get("command").String(), "overtone hook "+h.command+" --host codex") {
					continue
				}
				total++
				key := fmt.Sprintf("%s:%s:%d:%d", path, strings.ReplaceAll(h.command, "-", "_"), i, j)
				if bytes.Contains(configTOML, []byte(key)) {
					approved++
				}
			}
		}
	}
	return approved, total
}
