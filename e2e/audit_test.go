//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

	theirs := counts(t, home, bin, "daily", "--offline", "--json")
	ours := counts(t, home, overtoneBinary(t), "audit", "--json")
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

// counts runs a program in a home and reads what it prints.
func counts(t *testing.T, home, name string, args ...string) gjson.Result {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"HOME=" + home, "TZ=UTC", "LANG=C", "NO_COLOR=1", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return gjson.ParseBytes(out)
}

// TestAuditAgreesWithCcusageOnRecordedSessions: on sessions that people recorded, both
// count the same on every day but for two known differences. The rows of one message
// repeat its usage while it is being written, with the output so far: ccusage 18 takes
// the first of them, the audit the largest. And what a sub-agent used stands in the
// parent's progress rows, where its own file may be gone: only the audit counts those.
// Both numbers are counted here a third time, from the rows themselves.
func TestAuditAgreesWithCcusageOnRecordedSessions(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("OVERTONE_SAMPLES")
	if samples == "" {
		samples = filepath.Join(root(), "..", "shared", "samples")
	}
	plain, _ := filepath.Glob(filepath.Join(samples, "real", "claude_*.jsonl"))
	packed, _ := filepath.Glob(filepath.Join(samples, "compactions", "*.jsonl.gz"))
	if len(plain)+len(packed) == 0 {
		t.Skip("no recorded sessions")
	}
	bin := ccusage.path(t)
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// What one message used: input, output when first told, largest output, cache
	// written, cache read.
	type used [5]int64
	type row struct {
		day  string
		side bool // told by a progress row only
		used used
	}
	rows := map[string]*row{}
	for i, path := range slices.Concat(plain, packed) {
		data, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				data, err = io.ReadAll(z)
			}
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			if !gjson.ValidBytes(line) {
				continue
			}
			v := gjson.ParseBytes(line)
			side := v.Get("type").String() == "progress"
			if side {
				v = v.Get("data.message")
			}
			usage := v.Get("message.usage")
			if v.Get("type").String() != "assistant" || !usage.Exists() {
				continue
			}
			id, out := v.Get("message.id").String()+" "+v.Get("requestId").String(), usage.Get("output_tokens").Int()
			if r, ok := rows[id]; ok {
				r.used[2] = max(r.used[2], out)
				r.side = r.side && side
				continue
			}
			rows[id] = &row{v.Get("timestamp").String()[:10], side, used{
				usage.Get("input_tokens").Int(), out, out,
				usage.Get("cache_creation_input_tokens").Int(), usage.Get("cache_read_input_tokens").Int(),
			}}
		}
	}
	main, all := map[string]used{}, map[string]used{}
	add := func(days map[string]used, r *row) {
		d := days[r.day]
		for i, n := range r.used {
			d[i] += n
		}
		days[r.day] = d
	}
	for _, r := range rows {
		if add(all, r); !r.side {
			add(main, r)
		}
	}
	theirs := map[string]gjson.Result{}
	for _, d := range counts(t, home, bin, "daily", "--offline", "--json").Get("daily").Array() {
		theirs[d.Get("date").String()] = d
	}
	ours := counts(t, home, overtoneBinary(t), "audit", "--json").Get("days").Array()
	if len(ours) != len(theirs) || len(ours) < 10 {
		t.Errorf("ccusage has %d days, the audit %d", len(theirs), len(ours))
	}
	for _, d := range ours {
		name := d.Get("name").String()
		for _, c := range []struct {
			theirs, ours     string
			inTheirs, inOurs int
		}{
			{"inputTokens", "input", 0, 0},
			{"outputTokens", "output", 1, 2},
			{"cacheCreationTokens", "cacheWrite", 3, 3},
			{"cacheReadTokens", "cacheRead", 4, 4},
		} {
			if x, y := theirs[name].Get(c.theirs).Int(), main[name][c.inTheirs]; x != y {
				t.Errorf("%s, %s: ccusage has %d, the rows of the main thread %d", name, c.theirs, x, y)
			}
			if x, y := d.Get("tokens."+c.ours).Int(), all[name][c.inOurs]; x != y {
				t.Errorf("%s, %s: the audit has %d, all rows %d", name, c.ours, x, y)
			}
		}
	}
}
