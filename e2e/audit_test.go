//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// ccusage is the tool whose totals people know.
var ccusage = agent{"ccusage-20.0.24", "ccusage", []string{"ccusage@20.0.24"}}

// used is what a day used: input, output, cache written, cache read; and its price.
type used struct {
	tokens [4]int64
	usd    float64
}

// byCcusage and byAudit are what the two count by day, on the same files and without a
// network; days with nothing are left out.
func byCcusage(t *testing.T, home string) map[string]used {
	t.Helper()
	days := map[string]used{}
	for _, d := range counts(t, home, ccusage.path(t), "daily", "--offline", "--json").Get("daily").Array() {
		days[d.Get("period").String()] = used{[4]int64{d.Get("inputTokens").Int(), d.Get("outputTokens").Int(), d.Get("cacheCreationTokens").Int(), d.Get("cacheReadTokens").Int()}, d.Get("totalCost").Float()}
	}
	return days
}

func byAudit(t *testing.T, home string) map[string]used {
	t.Helper()
	days := map[string]used{}
	for _, d := range counts(t, home, overtoneBinary(t), "audit", "--json").Get("days").Array() {
		if n := d.Get("tokens"); d.Get("requests").Int() > 0 {
			days[d.Get("name").String()] = used{[4]int64{n.Get("input").Int(), n.Get("output").Int(), n.Get("cacheWrite").Int(), n.Get("cacheRead").Int()}, d.Get("usd").Float()}
		}
	}
	return days
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

// differ are the days on which the two differ in a token, or by a cent.
func differ(theirs, ours map[string]used) []string {
	var out []string
	for _, day := range slices.Sorted(maps.Keys(merged(theirs, ours))) {
		if x, y := theirs[day], ours[day]; x.tokens != y.tokens || math.Abs(x.usd-y.usd) > 0.005 {
			out = append(out, fmt.Sprintf("%s: ccusage %v $%.4f, audit %v $%.4f", day, x.tokens, x.usd, y.tokens, y.usd))
		}
	}
	return out
}

func merged(a, b map[string]used) map[string]used {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// TestAuditAgreesWithCcusage: the tokens and the price of each day are those of the tool
// that people know. Where they are not, a row of docs/audit.md says so and why; the test
// prints it with both numbers.
func TestAuditAgreesWithCcusage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root(), "docs", "audit.md"))
	if err != nil {
		t.Fatal(err)
	}
	const main, fork = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	type object = map[string]any
	// row is an answer: its number, how long it is, and what else is to be said of it.
	row := func(day, n, output int, more object) object {
		message := object{
			"role": "assistant", "id": fmt.Sprintf("msg_%d", n), "model": "claude-sonnet-4-5-20250929", "content": []any{object{"type": "text", "text": "x"}},
			"usage": object{"input_tokens": n, "cache_creation_input_tokens": 100 * n, "cache_read_input_tokens": 1000 * n, "output_tokens": output},
		}
		v := object{
			"type": "assistant", "uuid": fmt.Sprintf("u%d-%d", n, output), "isSidechain": false, "sessionId": "s", "cwd": "/work/shop", "version": "2.1.197", "requestId": fmt.Sprintf("req_%d", n),
			"timestamp": fmt.Sprintf("2026-03-%02dT12:%02d:00.000Z", day, n%60), "message": message,
		}
		for k, x := range more {
			switch {
			case k == "model" || k == "usage":
				message[k] = x
			case x == nil:
				delete(v, k)
			default:
				v[k] = x
			}
		}
		return v
	}
	side := object{"isSidechain": true}
	progress := func(v object) object {
		return object{"type": "progress", "uuid": "p", "timestamp": v["timestamp"], "sessionId": "s", "cwd": "/work/shop", "data": object{"type": "agent_progress", "message": v}}
	}
	// codex is a session of Codex with requests at some times.
	codex := func(id string, more object, model string, requests ...string) []any {
		meta := object{"id": id, "timestamp": "2026-03-01T12:00:00.000Z", "cwd": "/work/shop", "cli_version": "0.166.0"}
		maps.Copy(meta, more)
		out := []any{object{"timestamp": "2026-03-01T12:00:00.000Z", "type": "session_meta", "payload": meta}}
		if model != "" {
			out = append(out, object{"timestamp": "2026-03-01T12:00:00.000Z", "type": "turn_context", "payload": object{"cwd": "/work/shop", "model": model}})
		}
		for i, at := range requests {
			n := i + 1
			last := object{"input_tokens": 1000 * n, "cached_input_tokens": 100 * n, "output_tokens": 7 * n, "reasoning_output_tokens": 0, "total_tokens": 1007 * n}
			sum := n * (n + 1) / 2
			total := object{"input_tokens": 1000 * sum, "cached_input_tokens": 100 * sum, "output_tokens": 7 * sum, "reasoning_output_tokens": 0, "total_tokens": 1007 * sum}
			out = append(out, object{"timestamp": at, "type": "event_msg", "payload": object{"type": "token_count", "info": object{"total_token_usage": total, "last_token_usage": last}}})
		}
		return out
	}
	const rollout = ".codex/sessions/2026/03/01/rollout-2026-03-01T12-00-00-"
	for name, tc := range map[string]struct {
		files map[string][]any
		// row is the beginning of the row on the page that explains the difference.
		row string
	}{
		"rows that repeat, a fork, a sub-agent, a torn line": {files: map[string][]any{
			main:                         {row(1, 1, 7, nil), row(1, 1, 7, nil), row(1, 2, 14, nil), row(2, 3, 21, nil), "torn"},
			fork:                         {row(1, 1, 7, nil), row(1, 2, 14, nil), row(2, 4, 28, nil)},
			main + "/subagents/agent-a1": {row(2, 5, 35, side), row(2, 5, 35, side)},
		}},
		"an answer that grows, over midnight":           {files: map[string][]any{main: {row(1, 1, 1, nil), row(2, 1, 50, nil)}}},
		"an answer that is longer in a fork":            {files: map[string][]any{main: {row(1, 1, 7, nil)}, fork: {row(1, 1, 70, nil), row(1, 3, 9, nil)}}},
		"a sub-agent whose file is gone":                {files: map[string][]any{main: {row(1, 1, 7, nil), progress(row(1, 2, 9, side))}}},
		"a sub-agent in its parent's and in its file":   {files: map[string][]any{main: {row(1, 1, 7, nil), progress(row(1, 2, 3, side))}, main + "/subagents/agent-a1": {row(1, 2, 9, side)}}},
		"a sub-agent in its parent's file alone, later": {files: map[string][]any{main: {row(1, 1, 7, nil), progress(row(1, 2, 3, side)), progress(row(1, 2, 9, side))}}},
		"rows without ids":                              {files: map[string][]any{main: {row(1, 1, 7, object{"requestId": nil}), row(1, 1, 7, object{"requestId": nil})}}},
		"an hour's cache":                               {files: map[string][]any{main: {row(1, 1, 7, object{"usage": object{"input_tokens": 1, "output_tokens": 7, "cache_creation_input_tokens": 100_000, "cache_creation": object{"ephemeral_5m_input_tokens": 40_000, "ephemeral_1h_input_tokens": 60_000}}})}}},
		"a model that nobody knows":                     {files: map[string][]any{main: {row(1, 1, 7, object{"model": "nobody-1"})}}},
		"a text of the host's":                          {row: "a text that the host wrote itself", files: map[string][]any{main: {row(1, 1, 7, nil), row(1, 2, 9, object{"model": "<synthetic>"})}}},
		"an error of the service":                       {row: "an error of the service", files: map[string][]any{main: {row(1, 1, 7, nil), row(1, 2, 9, object{"isApiErrorMessage": true})}}},
		"a request that is long": {row: "a request that is dearer because it is long", files: map[string][]any{
			main: {row(1, 1, 7, object{"usage": object{"input_tokens": 150_000, "output_tokens": 7, "cache_creation_input_tokens": 100_000}})},
		}},
		"a session of Codex":                 {files: map[string][]any{rollout + main: codex(main, nil, "gpt-5.1-codex", "2026-03-01T12:01:00.000Z", "2026-03-01T12:02:00.000Z")}},
		"a session of Codex without a model": {row: "a Codex session that names no model", files: map[string][]any{rollout + main: codex(main, nil, "", "2026-03-01T12:01:00.000Z", "2026-03-01T12:02:00.000Z", "2026-03-01T12:03:00.000Z")}},
		"a fork of Codex without its original": {row: "a Codex fork whose original is gone", files: map[string][]any{
			rollout + fork: codex(fork, object{"forked_from_id": main}, "gpt-5.1-codex", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000Z", "2026-03-01T12:05:00.000Z"),
		}},
		"JSON with spaces": {row: "a line whose JSON has spaces", files: map[string][]any{
			main: {row(1, 1, 7, nil), json.RawMessage(`{"type": "assistant", "uuid": "w", "sessionId": "s", "cwd": "/work/shop", "version": "2.1.197", "requestId": "req_9", "timestamp": "2026-03-01T12:30:00.000Z", "message": {"role": "assistant", "id": "msg_9", "model": "claude-sonnet-4-5-20250929", "content": [], "usage": {"input_tokens": 9, "output_tokens": 9}}}`)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for file, rows := range tc.files {
				var text bytes.Buffer
				for _, r := range rows {
					if r == "torn" {
						text.WriteString(`{"torn`)
						continue
					}
					if raw, ok := r.(json.RawMessage); ok {
						text.Write(append(raw, '\n')) // as it is
						continue
					}
					e := json.NewEncoder(&text)
					e.SetEscapeHTML(false) // as the host writes
					if err := e.Encode(r); err != nil {
						t.Fatal(err)
					}
				}
				if !strings.HasPrefix(file, ".") {
					file = ".claude/projects/-work-shop/" + file
				}
				path := filepath.Join(home, filepath.FromSlash(file)+".jsonl")
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			theirs, ours := byCcusage(t, home), byAudit(t, home)
			got := differ(theirs, ours)
			if len(theirs) == 0 || (len(got) > 0) != (tc.row != "") {
				t.Fatalf("ccusage has %v, the audit %v", theirs, ours)
			}
			if tc.row == "" {
				return
			}
			at := bytes.Index(page, []byte("| "+tc.row))
			if at < 0 {
				t.Fatalf("no row of docs/audit.md begins with %q:\n%s", tc.row, strings.Join(got, "\n"))
			}
			line, _, _ := bytes.Cut(page[at:], []byte("\n"))
			t.Logf("%s\n%s", line, strings.Join(got, "\n"))
		})
	}
}

// TestAuditAgreesWithCcusageOnRecordedSessions: on sessions that people recorded, with
// Claude Code and with Codex, both count the same on every day, and the same price.
func TestAuditAgreesWithCcusageOnRecordedSessions(t *testing.T) {
	t.Parallel()
	files := samples.Find("real/claude_*.jsonl", "real/codex_*.jsonl", "compactions/*.jsonl.gz")
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	home := t.TempDir()
	for i, path := range files {
		data, err := samples.Read(path)
		name := fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i)
		to := filepath.Join(home, ".claude", "projects", "-work", name)
		if strings.HasPrefix(filepath.Base(path), "codex_") {
			to = filepath.Join(home, ".codex", "sessions", "2026", "07", "12", "rollout-2026-07-12T00-00-00-"+name)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	theirs, ours := byCcusage(t, home), byAudit(t, home)
	for _, d := range differ(theirs, ours) {
		t.Error(d)
	}
	if len(ours) < 10 {
		t.Errorf("%d days", len(ours))
	}
	t.Logf("%d days are equal, to the token and to the cent", len(ours))
}
