//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// ccusage is the tool whose totals people know. Later versions are native programs
// that the registry at hand does not have.
var ccusage = agent{"ccusage-18.0.11", "ccusage", []string{"ccusage@18.0.11"}}

// TestAuditAgreesWithCcusage: the tokens of each day are those of the tool that
// people know, on the same files and without a network.
func TestAuditAgreesWithCcusage(t *testing.T) {
	t.Parallel()
	bin := ccusage.path(t)
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-work-shop")
	write := func(name string, lines ...string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	row := func(day, n int, side bool) string {
		b, err := json.Marshal(map[string]any{
			"type": "assistant", "uuid": fmt.Sprintf("u%d", n), "isSidechain": side, "sessionId": "s", "cwd": "/work/shop", "version": "2.1.197", "requestId": fmt.Sprintf("req_%d", n),
			"timestamp": fmt.Sprintf("2026-03-%02dT12:%02d:00.000Z", day, n%60),
			"message": map[string]any{
				"role": "assistant", "id": fmt.Sprintf("msg_%d", n), "model": "claude-sonnet-4-5-20250929", "content": []any{map[string]any{"type": "text", "text": "x"}},
				"usage": map[string]any{"input_tokens": n, "cache_creation_input_tokens": 100 * n, "cache_read_input_tokens": 1000 * n, "output_tokens": 7 * n},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const main, fork = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	// Rows of one message repeat, a fork repeats its origin, agents have files of
	// their own.
	write(main+".jsonl", row(1, 1, false), row(1, 1, false), row(1, 2, false), row(2, 3, false), "{\"torn")
	write(fork+".jsonl", row(1, 1, false), row(1, 2, false), row(2, 4, false))
	write(main+"/subagents/agent-a.jsonl", row(2, 5, true), row(2, 5, true))

	run := func(name string, args ...string) gjson.Result {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = []string{"HOME=" + home, "TZ=UTC", "LANG=C", "NO_COLOR=1", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return gjson.ParseBytes(out)
	}
	theirs := run(bin, "daily", "--offline", "--json")
	ours := run(overtoneBinary(t), "audit", "--json")
	for _, keys := range [][2]string{{"inputTokens", "input"}, {"outputTokens", "output"}, {"cacheCreationTokens", "cacheWrite"}, {"cacheReadTokens", "cacheRead"}} {
		if x, y := theirs.Get("totals."+keys[0]).Int(), ours.Get("totals.tokens."+keys[1]).Int(); x != y || x == 0 {
			t.Errorf("%s: ccusage has %d, the audit %d", keys[0], x, y)
		}
	}
	for i, day := range theirs.Get("daily").Array() {
		if x, y := day.Get("totalTokens").Int(), ours.Get(fmt.Sprintf("days.%d.tokens", i)); day.Get("date").String() != ours.Get(fmt.Sprintf("days.%d.name", i)).String() ||
			x != y.Get("input").Int()+y.Get("output").Int()+y.Get("cacheWrite").Int()+y.Get("cacheRead").Int() {
			t.Errorf("%s: ccusage has %d, the audit %s", day.Get("date"), x, y)
		}
	}
}
