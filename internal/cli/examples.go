package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// addExamples gives the commands a line to start from. A command line reads the same in
// every language.
func addExamples(root *cobra.Command) {
	for path, lines := range map[string][]string{
		"audit":            {"overtone audit --since 30d", "overtone audit --project shop --html audit.html", "overtone audit --policy other.yaml"},
		"config":           {"overtone config --changed"},
		"config get":       {"overtone config get compact.mode"},
		"config set":       {"overtone config set compact.mode auto", "overtone config set language en"},
		"version":          {"overtone version"},
		"completion":       {"source <(overtone completion bash)", `overtone completion zsh > "${fpath[1]}/_overtone"`, "overtone completion fish > ~/.config/fish/completions/overtone.fish"},
		"init":             {"overtone init --dry-run", "overtone init --host codex", "overtone init --mode auto --yes"},
		"timeline":         {"overtone timeline --session ID --last 20", "overtone timeline --follow --type stage:complete"},
		"compress":         {"overtone compress 3f2a --preset heavy --dry-run", "overtone compress 3f2a --bands 0-50:heavy-compress,50-80:compress"},
		"export":           {"overtone export 3f2a", "overtone export 3f2a -o session.html"},
		"continue":         {"overtone continue", "overtone continue --in codex --run", "overtone continue 3f2a --in gemini --dry-run"},
		"route check":      {"overtone route check --stage REVIEW --template standard answer.txt", "pbpaste | overtone route check"},
		"demo":             {"overtone demo"},
		"uninstall":        {"overtone uninstall --dry-run", "overtone uninstall --host codex"},
		"doctor":           {"overtone doctor", "overtone doctor --json"},
		"hook":             {`echo '{"session_id":"s1"}' | overtone hook pre-compact`},
		"workflow":         {"overtone workflow start quick", "overtone workflow status"},
		"workflow list":    {"overtone workflow list"},
		"workflow show":    {"overtone workflow show standard", "overtone workflow show standard --yaml", "overtone workflow show mine --stages DEV,REVIEW,TEST,DOCS"},
		"workflow start":   {"overtone workflow start quick --session 4619580b-78d8-4c54-b553-d75ffcda094f"},
		"workflow status":  {"overtone workflow status", "overtone workflow status --session 3f2a --json"},
		"workflow skip":    {"overtone workflow skip DOCS"},
		"workflow restart": {"overtone workflow restart DEV"},
		"workflow check":   {"overtone workflow check", "overtone workflow check .overtone/workflows/release.yaml"},
		"workflow new":     {"overtone workflow new release --stages PLAN,DEV,REVIEW+TEST,DOCS", "overtone workflow new release --stages DEV,TEST,DOCS --run 'TEST=make test'"},
		"workflow schema":  {"overtone workflow schema > workflow.schema.json"},
		"workflow trust":   {"overtone workflow trust release", "overtone workflow trust release --revoke"},
		"workflow run":     {"overtone workflow run TEST"},
		"workflow cancel":  {"overtone workflow cancel"},
		"workflow resume":  {"overtone workflow resume"},
		"route":            {"overtone route check answer.txt"},
		"compact":          {"overtone compact explain"},
		"compact explain":  {"overtone compact explain --session ID", "overtone compact explain --session ID --json"},
		"compact packet":   {"overtone compact packet --session 3f2a", "overtone compact packet --session 3f2a --compaction -1 --why"},
		"compact check":    {"overtone compact check --transcript session.jsonl"},
		"recall":           {"overtone recall 'rate limit'", "overtone recall 3f2a#8c1d", "overtone recall --project shop --host codex retry budget"},
		"mcp":              {`echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | overtone mcp`},
		"watch":            {"overtone watch codex --mode auto"},
		"watch codex":      {"overtone watch codex --mode auto", "overtone watch codex --remote ws://127.0.0.1:4500 --dry-run", "overtone watch codex --mode auto 'first task' 'second task'"},
		"watch opencode":   {"overtone watch opencode --mode auto", "overtone watch opencode --url http://127.0.0.1:4096 --dry-run"},
		"watch claude":     {"overtone watch claude --mode auto 'first task' 'second task' -- --model sonnet", "overtone watch claude < tasks.txt"},
		"sessions":         {"overtone sessions -n 50 --project shop", "overtone sessions --json"},
		"dashboard":        {"overtone dashboard --open", "overtone dashboard --port 7680"},
		"status":           {"overtone status", "overtone status --session 3f2a"},
		"sessions rm":      {"overtone sessions rm 3f2a"},
		"statusline":       {`echo '{"session_id":"s1"}' | overtone statusline`},
		"cleanup":          {"overtone cleanup --dry-run"},
	} {
		if c, _, err := root.Find(strings.Fields(path)); err == nil {
			c.Example = "  " + strings.Join(lines, "\n  ")
		}
	}
}
