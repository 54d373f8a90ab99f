package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// writer makes up a session of Claude Code, line by line.
type writer struct {
	out   bytes.Buffer
	clock time.Time
	n     int
	id    string
	cwd   string
	side  bool
}

func newWriter(id string) *writer {
	return &writer{clock: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), id: id, cwd: "/work/shop"}
}

func (w *writer) at(clock string) *writer {
	t, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		panic(err)
	}
	w.clock = time.Date(2026, 3, w.clock.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	return w
}

func (w *writer) line(fields map[string]any) {
	w.n++
	l := map[string]any{
		"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", w.n), "sessionId": w.id, "cwd": w.cwd, "version": "2.1.197",
		"isSidechain": w.side, "timestamp": w.clock.Format("2006-01-02T15:04:05.000Z"),
	}
	for k, v := range fields {
		l[k] = v
	}
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false) // as the host writes
	if err := e.Encode(l); err != nil {
		panic(err)
	}
}

func (w *writer) prompt(text string) {
	w.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

// usage is input, written for five minutes, written for an hour, read, output.
type usage [5]int64

func (u usage) json() map[string]any {
	return map[string]any{
		"input_tokens": u[0], "cache_creation_input_tokens": u[1] + u[2], "cache_read_input_tokens": u[3], "output_tokens": u[4],
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": u[1], "ephemeral_1h_input_tokens": u[2]},
	}
}

func (w *writer) answer(msg, model string, u usage, block map[string]any) {
	w.line(map[string]any{"type": "assistant", "requestId": "req_" + msg, "message": map[string]any{
		"role": "assistant", "id": "msg_" + msg, "model": model, "usage": u.json(), "content": []any{block},
	}})
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func (w *writer) call(msg, model string, u usage, tool string, input map[string]any, result string) {
	id := "toolu_" + msg + tool
	w.answer(msg, model, u, map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input})
	w.clock = w.clock.Add(time.Second)
	w.line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": result},
	}}, "toolUseResult": map[string]any{"stdout": result}})
}

const opus = "claude-opus-4-5-20251101"

// known is the corpus whose answers are known: one session of Claude Code with
// a sub-agent, a copy of its beginning, and one of Codex.
func known(t testing.TB) (dir func(*host.Host) string, root string) {
	root = t.TempDir()
	main := newWriter("11111111-1111-4111-8111-111111111111")
	main.prompt("Please make the totals strict.")
	main.at("09:00:10").answer("1", opus, usage{10, 20_000, 0, 0, 5}, text("I will look."))
	// The same message again, with the rest of its answer.
	main.call("1", opus, usage{10, 20_000, 0, 0, 120}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "def loadCartTotals(value):\ndef applyPriceRules(value):")
	main.at("09:01:00").call("2", opus, usage{5, 30_000, 0, 20_010, 200}, "Bash", map[string]any{"command": "pytest tests/test_cart.py -q"}, "12 passed in 0.4s, port 48123")
	main.at("09:02:00").call("3", opus, usage{5, 40_000, 0, 50_015, 100}, "Bash", map[string]any{"command": `git commit -am "strict totals"`}, "[main abc1234] strict totals\n 1 file changed, 2 insertions(+)")
	// Eighteen minutes later the cache is gone.
	main.at("09:20:00").call("4", opus, usage{5, 120_015, 0, 0, 300}, "Edit", map[string]any{"file_path": "/work/shop/cart.py", "old_string": "a", "new_string": "b"}, "updated")
	main.at("09:21:00").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150_000, "durationMs": 42_000}})
	main.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": strings.Repeat("In cart.py loadCartTotals is strict now. ", 100)}})
	main.at("09:21:10").call("5", opus, usage{3, 5_000, 20_000, 15_000, 50}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "nothing of note")
	main.at("09:21:20").call("6", opus, usage{3, 100, 0, 40_003, 50}, "Edit", map[string]any{"file_path": "/work/shop/cart.py", "old_string": "applyPriceRules(x)", "new_string": "loadCartTotals(y, 48123)"}, "updated")
	main.at("09:21:30").call("7", opus, usage{3, 100, 0, 40_106, 50}, "Bash", map[string]any{"command": "pytest tests/test_cart.py -q"}, "12 passed")
	main.at("09:22:00").prompt("<command-name>/compact</command-name>\n<command-args></command-args>")
	main.prompt("<local-command-stderr>Error: Not enough messages to compact.</local-command-stderr>")
	main.at("09:23:00").call("8", opus, usage{3, 100, 0, 40_209, 50}, "Bash", map[string]any{"command": `git commit -am more`}, "[main abc1235] more\n 1 file changed")
	write(t, root, ".claude/projects/-work-shop/"+main.id+".jsonl", main.out.Bytes())

	agent := newWriter(main.id)
	agent.side = true
	agent.at("09:10:00").answer("a1", "claude-haiku-4-5-20251001", usage{100, 1_000, 0, 0, 10}, text("found"))
	write(t, root, ".claude/projects/-work-shop/"+main.id+"/subagents/agent-a1.jsonl", agent.out.Bytes())

	// A fork begins with a copy of what was said before it.
	fork := newWriter("22222222-2222-4222-8222-222222222222")
	fork.at("09:00:10").answer("1", opus, usage{10, 20_000, 0, 0, 120}, text("I will look."))
	fork.clock = fork.clock.AddDate(0, 0, 1)
	fork.at("10:00:00").answer("f1", "glm-4.7", usage{7, 0, 0, 0, 3}, text("another way"))
	write(t, root, ".claude/projects/-work-shop/"+fork.id+".jsonl", fork.out.Bytes())

	write(t, root, ".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-33333333-3333-4333-8333-333333333333.jsonl", []byte(codexKnown))
	return func(h *host.Host) string {
		if h.Name == host.Codex {
			return filepath.Join(root, ".codex")
		}
		return filepath.Join(root, ".claude")
	}, root
}

const codexKnown = `{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"33333333-3333-4333-8333-333333333333","cwd":"/work/other","cli_version":"0.166.0"}}
{"timestamp":"2026-03-02T09:00:00.000Z","type":"turn_context","payload":{"cwd":"/work/other","model":"gpt-9"}}
{"timestamp":"2026-03-02T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix the parser."}]}}
{"timestamp":"2026-03-02T09:00:05.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{\"cmd\":\"git commit -am parser\"}"}}
{"timestamp":"2026-03-02T09:00:06.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Process exited with code 0\n[main abc1236] parser\n 1 file changed"}}
{"timestamp":"2026-03-02T09:00:07.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":90000,"cached_input_tokens":0,"output_tokens":500,"total_tokens":90500},"last_token_usage":{"input_tokens":90000,"cached_input_tokens":0,"output_tokens":500,"total_tokens":90500},"model_context_window":100000}}}
{"timestamp":"2026-03-02T09:00:08.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":90000,"cached_input_tokens":0,"output_tokens":500,"total_tokens":90500},"last_token_usage":{"input_tokens":90000,"cached_input_tokens":0,"output_tokens":500,"total_tokens":90500},"model_context_window":100000}}}
{"timestamp":"2026-03-02T09:00:28.000Z","type":"compacted","payload":{"message":"","replacement_history":[]}}
{"timestamp":"2026-03-02T09:00:29.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":90000,"cached_input_tokens":0,"output_tokens":500,"total_tokens":90500},"last_token_usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"total_tokens":9000},"model_context_window":100000}}}
{"timestamp":"2026-03-02T09:00:40.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":102000,"cached_input_tokens":8000,"output_tokens":600,"total_tokens":102600},"last_token_usage":{"input_tokens":12000,"cached_input_tokens":8000,"output_tokens":100,"total_tokens":12100},"model_context_window":100000}}}
`

func write(t testing.TB, root, name string, data []byte) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// settings are ones whose tiers the made-up sessions reach.
func settings() compact.Settings {
	s := config.Defaults().Compact
	s.Trigger.EarlyPercentRemainingLT, s.Trigger.ReadyPercentRemainingLT, s.Trigger.AsapPercentRemainingLT = 85, 75, 65
	return s
}

func options(t testing.TB, dir func(*host.Host) string, cache string) Options {
	t.Helper()
	files, err := transcript.Everything(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Files: files, Now: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC), Loc: time.UTC, Settings: settings(), Cache: cache, Workers: 2,
	}
}

func run(t testing.TB, o Options) *Report {
	t.Helper()
	r, kept, err := Run(context.Background(), o)
	if err != nil || kept != nil {
		t.Fatal(err, kept)
	}
	return r
}

func session(t testing.TB, r *Report, prefix string) *Session {
	t.Helper()
	for i := range r.Sessions {
		if strings.HasPrefix(r.Sessions[i].ID, prefix) {
			return &r.Sessions[i]
		}
	}
	t.Fatalf("no session %s", prefix)
	return nil
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Report{})); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func near(t testing.TB, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-6 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func ptr[T any](v T) *T { return &v }

// TestKnownAnswers: every number of the report on a corpus whose answers were
// reckoned by hand.
func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	dir, _ := known(t)
	r := run(t, options(t, dir, ""))

	equal(t, "files", r.Files, 4)
	equal(t, "sessions", len(r.Sessions), 3)
	s := session(t, r, "1111")
	// The sub-agent's request and tokens are the session's.
	equal(t, "tokens", s.Tokens, Tokens{
		Input: 10 + 5 + 5 + 5 + 3 + 3 + 3 + 3 + 100, Output: 120 + 200 + 100 + 300 + 4*50 + 10,
		CacheWrite: 20_000 + 30_000 + 40_000 + 120_015 + 25_000 + 300 + 1_000, CacheHour: 20_000, CacheRead: 20_010 + 50_015 + 15_000 + 40_003 + 40_106 + 40_209,
	})
	equal(t, "requests", s.Requests, 9)
	equal(t, "agents", s.Agents, 1)
	equal(t, "turns", s.Turns, 2)
	equal(t, "actions", s.Actions, 8)
	equal(t, "models", s.Models, []string{opus, "claude-haiku-4-5-20251001"})
	equal(t, "window", s.Window, int64(200_000))
	equal(t, "peak", s.Peak, int64(150_000)) // before the compaction
	equal(t, "boundaries", s.Boundaries, map[string]int{"commit": 2})
	equal(t, "cache", s.Cache, Cache{
		Written: 236_315, Read: 205_343, ByCompaction: 25_000,
		// 120,015 written, of which the context had grown by 120,020 − 90,020.
		ByExpiry: 90_015, Expired: 1, ExpiryUSD: 90_015 * (6.25 - 0.5) / 1e6,
	})
	// Opus 4.5: 5 in, 25 out, 6.25 and 10 written, 0.5 read; Haiku 4.5: 1, 5, 1.25.
	near(t, "cost", s.USD, (37*5+920*25+(235_315-20_000)*6.25+20_000*10+205_343*0.5+100*1+10*5+1_000*1.25)/1e6)
	equal(t, "failed", s.Failed, []Failure{{"2026-03-01T09:22:00Z", "Error: Not enough messages to compact."}})
	equal(t, "points", len(s.Context), 8)
	equal(t, "point", s.Context[3], Point{time.Date(2026, 3, 1, 9, 20, 0, 0, time.UTC).UnixMilli(), 120_320})

	if len(s.Compactions) != 1 {
		t.Fatal(len(s.Compactions))
	}
	c := s.Compactions[0]
	loss, payback := c.Loss, c.Payback
	c.Loss, c.Payback = nil, nil
	equal(t, "compaction", c, Compaction{
		N: 1, Time: "2026-03-01T09:21:00Z", Trigger: "auto", Before: 150_000, After: 40_003, WaitMS: ptr(int64(42_000)), At: []string{"commit"},
		Earlier: &Near{"commit", 1, 1139}, Later: &Near{"commit", 4, 121}, WhatIf: "boundary",
	})
	equal(t, "loss", loss, &Loss{
		// The file with its names is put back by the host, and pytest every project has:
		// the test's file is all that had to be known.
		Names: Kept{1, 0, 1}, Handover: loss.Handover, Summary: 4100,
		ReadAgain: 1, RunAgain: 1, ToEdit: ptr(1), Compactions: 1, Files: []string{"/work/shop/cart.py"},
		Missing: []Missing{{"test_cart.py", "name", true, "2026-03-01T09:21:30Z", "Bash", "pytest tests/test_cart.py -q"}},
	})
	// 1 + (5·1025 + 0.1·15,000 + 1.25·5,000 + 2·20,000 + 3) / (0.1·(150,000 − 40,003))
	want := 1 + (5*1025+0.1*15_000+1.25*5_000+2*20_000+3)/(0.1*(150_000-40_003))
	near(t, "break-even", &payback.N, want)
	equal(t, "followed", payback.Followed, 4)

	// Without our packets it is unknown what glm costs.
	fork := session(t, r, "2222")
	equal(t, "fork", fork.Tokens, Tokens{Input: 7, Output: 3})
	equal(t, "fork's price", fork.USD, (*float64)(nil))
	equal(t, "fork's window", fork.Window, int64(200_000))

	x := session(t, r, "3333")
	equal(t, "codex", x.Tokens, Tokens{Input: 94_000, Output: 600, CacheRead: 8_000})
	equal(t, "codex requests", x.Requests, 2)
	equal(t, "codex compactions", len(x.Compactions), 1)
	xc := x.Compactions[0]
	equal(t, "codex sizes", []int64{xc.Before, xc.After, *xc.WaitMS}, []int64{90_500, 12_000, 20_000})
	equal(t, "codex mid-work", []bool{xc.MidWork, xc.WaitEstimated}, []bool{false, true})
	equal(t, "codex summary", xc.Loss.Unreadable, 1)
	equal(t, "codex boundary", xc.At, []string{"commit"})

	tot := r.Totals
	equal(t, "totals", []int{tot.Sessions, tot.Requests, tot.Compactions, tot.Auto, tot.Manual, tot.Failed, tot.MidWork, tot.AtBoundary, tot.WaitKnown}, []int{3, 12, 2, 1, 0, 1, 0, 2, 2})
	equal(t, "wait", tot.WaitMS, int64(62_000))
	equal(t, "total tokens", tot.Tokens.total(), s.Tokens.total()+fork.Tokens.total()+x.Tokens.total())
	// What is known is added up, what is not is counted beside it.
	equal(t, "unpriced", tot.Unpriced, fork.Tokens.total()+x.Tokens.total())
	near(t, "total cost", tot.USD, *s.USD)
	equal(t, "lost", []Kept{tot.Lost.Names, tot.Lost.Commands}, []Kept{{1, 0, 1}, {}})
	// The summary of Codex's cannot be read: it is not among those that were judged.
	equal(t, "judged", []int{tot.Lost.Compactions, tot.Lost.Unreadable}, []int{1, 1})
	equal(t, "judged in words", r.judged(message.EN), "1 of 2 compactions; the summary cannot be read (encrypted): 1")
	// By the policy the first session is compacted at its commit, and again never;
	// Codex's window is full within a turn, where nobody can act.
	got := tot.WhatIf
	got.Cost = WhatIf{}.Cost // see TestPlayCosts
	equal(t, "what if", got, WhatIf{
		Happened: 2, HappenedBoundary: 2, Boundary: 1, Forced: 1, LateBoundary: 1, LateForced: 1, Requests: 11,
		// The fork's copy of the first request is not asked again.
		Sent:       20_130 + 50_215 + 90_120 + 120_320 + 40_053 + 40_156 + 40_259 + 40_362 + 10 + 90_500 + 12_100,
		PolicySent: 20_130 + 50_215 + 90_120 + 70_203 + 99_883 + 99_986 + 100_089 + 100_192 + 10 + 90_500 + 12_000,
		LateSent:   20_130 + 50_215 + 90_120 + 120_320 + 99_883 + 99_986 + 100_089 + 100_192 + 10 + 90_500 + 12_000,
	})
	equal(t, "planned", s.Planned, []Planned{{Time: time.Date(2026, 3, 1, 9, 2, 1, 0, time.UTC).UnixMilli(), Tokens: 90_120, Tier: "asap", Boundary: []string{"commit"}, Past: 2, Request: 3}})

	names := func(list []Bucket) (out []string) {
		for _, b := range list {
			out = append(out, fmt.Sprintf("%s %d %d %d", b.Name, b.Sessions, b.Requests, b.Compactions))
		}
		return out
	}
	equal(t, "days", names(r.Days), []string{"2026-03-01 1 9 1", "2026-03-02 2 3 1"})
	equal(t, "projects", names(r.Projects), []string{"/work/shop 2 10 1", "/work/other 1 2 1"})
	equal(t, "models", names(r.Models), []string{opus + " 1 8 1", "gpt-9 1 2 1", "claude-haiku-4-5-20251001 1 1 0", "glm-4.7 1 1 0"})
	for _, list := range [][]Bucket{r.Days, r.Projects, r.Models} {
		sum := Tokens{}
		for _, b := range list {
			sum.add(b.Tokens)
		}
		equal(t, "sum", sum, tot.Tokens)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	o := options(t, dir, filepath.Join(root, "audit.cache"))
	o.Host = "codex"
	equal(t, "host", len(run(t, o).Sessions), 1)
	o.Host, o.Project = "", "SHOP"
	r := run(t, o)
	equal(t, "project", len(r.Sessions), 2)
	equal(t, "its agent", session(t, r, "1111").Agents, 1)
	o.Project, o.Since = "", time.Date(2026, 3, 1, 9, 21, 5, 0, time.UTC)
	r = run(t, o)
	equal(t, "since", []int{r.Totals.Requests, r.Totals.Compactions, r.Totals.Failed}, []int{7, 1, 1})
	o.Since = time.Date(2026, 3, 1, 9, 20, 30, 0, time.UTC)
	equal(t, "since before it", run(t, o).Totals.Compactions, 2)
	o.Since = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	equal(t, "nothing", len(run(t, o).Sessions), 0)
}

// TestAnotherPolicy: what another policy would have done is played from the same
// traces.
func TestAnotherPolicy(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	o := options(t, dir, filepath.Join(root, "audit.cache"))
	run(t, o)
	o.Settings.Trigger.AutoRequiresAnyBoundary = []string{"pr_checkpoint"}
	w := run(t, o).Totals.WhatIf
	// Without a boundary that counts, it is compacted where the window is full.
	equal(t, "no boundary", []int{w.Happened, w.Boundary, w.Forced, w.LateBoundary, w.LateForced, w.NotNeeded}, []int{2, 0, 2, 0, 2, 0})
	o.Settings.Trigger.EmergencyPercentRemainingLT = 70
	equal(t, "emergency at 30 %", run(t, o).Totals.WhatIf.Forced > 1, true)
}

// TestOwnPrices: the user's prices are those of models that the table does not know,
// and of those that it does.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	dir, _ := known(t)
	o := options(t, dir, "")
	o.Prices = map[string]config.Price{"gpt-9": {Input: 2, Output: 10, CacheRead: 0.5}, "claude-opus": {}, "glm": {Input: 1, Output: 1}}
	r := run(t, o)
	near(t, "codex", session(t, r, "3333").USD, (94_000*2+600*10+8_000*0.5)/1e6)
	near(t, "fork", session(t, r, "2222").USD, 10/1e6)
	near(t, "Haiku alone", session(t, r, "1111").USD, (100*1+10*5+1_000*1.25)/1e6)
	equal(t, "unpriced", r.Totals.Unpriced, int64(0))
	equal(t, "source", strings.HasSuffix(r.Prices.Source, " + config.yaml"), true)
}

// TestCache: what is found in the cache is what would be read; anything that is
// wrong with it means reading again.
func TestCache(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	path := filepath.Join(root, "home", "audit.cache")
	o := options(t, dir, path)
	first := run(t, o)
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range o.Files {
		if c := openCache(path, o.Settings); c.find(f) == nil {
			t.Errorf("%s is not kept", f.Path)
		}
	}
	for what, change := range map[string]func(*transcript.File){
		"another size": func(f *transcript.File) { f.Size++ }, "another time": func(f *transcript.File) { f.ModTime = f.ModTime.Add(1) }, "another file": func(f *transcript.File) { f.Path += "x" },
	} {
		f := o.Files[0]
		if change(&f); openCache(path, o.Settings).find(f) != nil {
			t.Errorf("%s: what is kept is taken for it", what)
		}
	}
	equal(t, "warm", run(t, o), first)
	for name, data := range map[string][]byte{"empty": nil, "garbage": []byte("garbage"), "cut": kept[:len(kept)/2], "flipped": flip(kept)} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		equal(t, name, run(t, o), first)
	}
	// A session that went on is read again, the others are not.
	f, err := os.OpenFile(session(t, first, "2222").Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	more := newWriter("22222222-2222-4222-8222-222222222222")
	more.answer("f2", "glm-4.7", usage{1000, 0, 0, 0, 1}, text("more"))
	if _, err := f.Write(more.out.Bytes()); err != nil {
		t.Fatal(err)
	}
	f.Close()
	o = options(t, dir, path)
	equal(t, "went on", session(t, run(t, o), "2222").Tokens.Input, int64(1007))
	// Two at once, and a place that cannot be written.
	done := make(chan *Report)
	for range 2 {
		go func() {
			r, _, _ := Run(context.Background(), o)
			done <- r
		}()
	}
	equal(t, "at once", <-done, <-done)
	o.Cache = filepath.Join(path, "not a folder")
	r, notKept, err := Run(context.Background(), o)
	if err != nil || notKept == nil || len(r.Sessions) != 3 {
		t.Error(err, notKept)
	}
}

// Who gives up in the middle keeps what was read.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	o := options(t, dir, filepath.Join(root, "home", "audit.cache"))
	ctx, giveUp := context.WithCancel(context.Background())
	o.Workers, o.Progress = 1, func(int64, int64) { giveUp() }
	if r, _, err := Run(ctx, o); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	kept := 0
	for _, f := range o.Files {
		if openCache(o.Cache, o.Settings).find(f) != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d files are kept of %d, one of which was read", kept, len(o.Files))
	}
	again := o
	again.Progress, again.Cache = nil, ""
	o.Progress = nil
	equal(t, "the rest", run(t, o), run(t, again))
}

func flip(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 0x40
	return b
}

// What a session used that recorded no request is not known, and not nothing.
func TestUnrecordedIsUnknown(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, ".copilot/session-state/5555-s/events.jsonl", []byte(`{"type":"session.start","data":{"sessionId":"5555-s","copilotVersion":"1.0.40","context":{"cwd":"/work/lexer"}},"timestamp":"2026-03-01T09:00:00.000Z"}
{"type":"user.message","data":{"content":"Please write a lexer."},"timestamp":"2026-03-01T09:00:01.000Z"}
{"type":"assistant.message","data":{"content":"Done.","toolRequests":[]},"timestamp":"2026-03-01T09:00:03.000Z"}
`))
	dir := func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}
	r := run(t, options(t, dir, ""))
	if len(r.Sessions) != 1 || r.Sessions[0].USD != nil || r.Totals.USD != nil || len(r.Projects) != 1 || r.Projects[0].USD != nil {
		t.Errorf("%+v", r.Totals.Bucket)
	}
	empty := run(t, options(t, func(*host.Host) string { return filepath.Join(root, "none") }, ""))
	if empty.Totals.USD == nil || *empty.Totals.USD != 0 {
		t.Errorf("nothing costs nothing: %+v", empty.Totals.Bucket)
	}
}

// Copilot CLI's sessions: what sub-agents used counts, what they did is no boundary.
func TestCopilotIsAudited(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, ".copilot/session-state/5555-s/events.jsonl", []byte(`{"type":"session.start","data":{"sessionId":"5555-s","copilotVersion":"1.0.102","context":{"cwd":"/work/lexer"}},"timestamp":"2026-03-01T09:00:00.000Z"}
{"type":"user.message","data":{"content":"Please write a lexer."},"timestamp":"2026-03-01T09:00:01.000Z"}
{"type":"session.usage_record","data":{"usage":{"model":"claude-sonnet-4-5","inputTokens":9000,"outputTokens":10,"cacheReadTokens":8000,"cacheWriteTokens":0,"maxPromptTokens":128000}},"timestamp":"2026-03-01T09:00:02.000Z"}
{"type":"assistant.message","data":{"content":"I commit.","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{"command":"git commit -am lexer"}}]},"timestamp":"2026-03-01T09:00:03.000Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"[main abc1234] lexer\n 1 file changed"}},"timestamp":"2026-03-01T09:00:04.000Z"}
{"type":"assistant.message","agentId":"a1","data":{"content":"","toolRequests":[{"toolCallId":"t2","name":"bash","arguments":{"command":"git commit -am theirs"}}]},"timestamp":"2026-03-01T09:00:05.000Z"}
{"type":"session.usage_record","agentId":"a1","data":{"usage":{"model":"claude-sonnet-4-5","inputTokens":77,"outputTokens":1,"maxPromptTokens":128000}},"timestamp":"2026-03-01T09:00:06.000Z"}
{"type":"session.compaction_complete","data":{"success":false},"timestamp":"2026-03-01T09:00:07.000Z"}
{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":9010,"trigger":"manual","summaryContent":"The lexer is committed.","compactionTokensUsed":{"model":"claude-sonnet-4-5","inputTokens":9100,"outputTokens":40,"cacheReadTokens":9000}},"timestamp":"2026-03-01T09:00:08.000Z"}
{"type":"session.usage_record","data":{"usage":{"model":"claude-sonnet-4-5","inputTokens":3000,"outputTokens":5,"maxPromptTokens":128000}},"timestamp":"2026-03-01T09:00:09.000Z"}
`))
	dir := func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}
	r := run(t, options(t, dir, ""))
	if len(r.Sessions) != 1 {
		t.Fatalf("%d sessions", len(r.Sessions))
	}
	s := r.Sessions[0]
	equal(t, "id", s.ID, "5555-s")
	equal(t, "host", s.Host, "copilot")
	equal(t, "project", s.Project, "/work/lexer")
	equal(t, "title", s.Title, "Please write a lexer.")
	equal(t, "turns", s.Turns, 1)
	equal(t, "requests, with that of the compaction", s.Requests, 4)
	equal(t, "input", s.Tokens.Input, int64(1000+77+100+3000))
	equal(t, "read from the cache", s.Tokens.CacheRead, int64(8000+9000))
	equal(t, "window", s.Window, int64(128_000))
	equal(t, "boundaries", s.Boundaries, map[string]int{"commit": 1})
	equal(t, "compactions", len(s.Compactions), 1)
	equal(t, "trigger", s.Compactions[0].Trigger, "manual")
	equal(t, "before", s.Compactions[0].Before, int64(9010))
	if o := options(t, dir, ""); len(run(t, Options{Files: o.Files, Now: o.Now, Loc: o.Loc, Settings: o.Settings, Host: "codex"}).Sessions) != 0 {
		t.Error("another host's")
	}
}

// TestHostile: files that are no sessions, cannot be read or end in the middle.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	write(t, root, ".claude/projects/x/44444444-4444-4444-8444-444444444444.jsonl", []byte("{\"type\":\"user\n\x00\x00\n[]\n{}{\n"+strings.Repeat("{\"a\":", 20_000)))
	write(t, root, ".claude/projects/x/55555555-5555-4555-8555-555555555555.jsonl", nil)
	w := newWriter("66666666-6666-4666-8666-666666666666")
	w.prompt("</title><script>alert(1)</script>\x1b[31m\u202e")
	w.at("09:00:10").answer("s", "<b>model</b>", usage{-5, 1 << 40, 0, 0, 1}, text("x"))
	w.at("09:00:20").answer("s2", "<b>model</b>", usage{5, 1, 0, 0, 1}, text("x"))
	w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": "none"})
	w.line(map[string]any{"type": "assistant", "message": map[string]any{"usage": "none", "content": map[string]any{"a": 1}}})
	write(t, root, ".claude/projects/x/"+w.id+".jsonl", append(w.out.Bytes(), "{\"type\":\"user\n\x00\x00\n[]\n{}{\n"...))
	r := run(t, options(t, dir, ""))
	equal(t, "sessions", len(r.Sessions), 5)
	if len(r.Failed) != 1 || !strings.Contains(r.Failed[0], "44444444-4444") {
		t.Errorf("what holds nothing is not named: %q", r.Failed)
	}
	if r.Unreadable == 0 {
		t.Error("no line was called unreadable")
	}
}

// TestFaults: a mistake of ours in some sessions leaves these out, names them, and the rest
// is audited; what was read wrong is not kept.
func TestFaults(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	var spoilt []string
	for i := range 3 {
		w := newWriter(fmt.Sprintf("7777777%d-7777-4777-8777-777777777777", i))
		w.prompt("x")
		write(t, root, ".claude/projects/x/"+w.id+".jsonl", w.out.Bytes())
		spoilt = append(spoilt, filepath.Join(root, ".claude/projects/x", w.id+".jsonl"))
	}
	o := options(t, dir, filepath.Join(root, "audit.cache"))
	whole := run(t, o)
	o.Cache = filepath.Join(root, "other.cache")
	o.read = func(ctx context.Context, file transcript.File) (*trace, error) {
		if slices.Contains(spoilt, file.Path) {
			return nil, errors.New(file.Path[len(file.Path)+1:])
		}
		return read(ctx, file, o.Settings, compact.NewMarks(o.Settings.Markers), true)
	}
	r := run(t, o)
	slices.Sort(r.Failed)
	equal(t, "named", r.Failed, spoilt)
	equal(t, "faults", len(r.Faults), 3)
	for _, f := range r.Faults {
		if !slices.Contains(spoilt, f.Path) || !strings.Contains(f.Reason, "out of range") || !strings.HasPrefix(f.At, "internal/audit/audit_test.go:") {
			t.Errorf("%+v", f)
		}
	}
	equal(t, "the rest", []int{r.Totals.Sessions, r.Totals.Requests, r.Totals.Compactions}, []int{whole.Totals.Sessions - 3, whole.Totals.Requests, whole.Totals.Compactions})
	o.read = nil
	if again := run(t, o); len(again.Failed) != 0 || again.Totals.Sessions != whole.Totals.Sessions {
		t.Errorf("%v, %d sessions", again.Failed, again.Totals.Sessions)
	}
}

// TestGone: a file that is gone when it is read is no failure, one that cannot be
// read is named.
func TestGone(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	o := options(t, dir, "")
	o.Files = append(o.Files, transcript.File{Path: filepath.Join(root, "gone.jsonl"), Host: transcript.Claude, ID: "gone"},
		transcript.File{Path: root, Host: transcript.Claude, ID: "folder", Size: 10})
	equal(t, "failed", run(t, o).Failed, []string{root})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Run(ctx, o); err == nil {
		t.Error("a cancelled run has a result")
	}
}

// naive adds up usage the slow way: every row of every line, the largest of the
// rows of one message.
func naive(t *testing.T, path string) (sum, first Tokens) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Type, RequestID string
		IsAPIError      bool `json:"isApiErrorMessage"`
		Message         struct {
			ID, Model string
			Usage     *struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
				Write  int64 `json:"cache_creation_input_tokens"`
				Read   int64 `json:"cache_read_input_tokens"`
			}
		}
	}
	type key struct{ id, request string }
	most, seen := map[key]Tokens{}, map[key]bool{}
	var objects []json.RawMessage
	for line := range bytes.Lines(data) {
		// Two objects may stand on one line, and the last one may be cut off.
		for dec := json.NewDecoder(bytes.NewReader(line)); ; {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				break
			}
			objects = append(objects, raw)
		}
	}
	for _, raw := range objects {
		var r row
		_ = json.Unmarshal(raw, &r) // fields of other shapes
		if r.Type == "progress" {
			// What a sub-agent did stands in the parent's file, too.
			var p struct {
				Data struct{ Message json.RawMessage }
			}
			_ = json.Unmarshal(raw, &p)
			_ = json.Unmarshal(p.Data.Message, &r)
		}
		u := r.Message.Usage
		if r.Type != "assistant" || u == nil || r.Message.Model == "<synthetic>" || r.IsAPIError {
			continue
		}
		now := Tokens{Input: u.Input, Output: u.Output, CacheWrite: u.Write, CacheRead: u.Read}
		k := key{r.Message.ID, r.RequestID}
		if k.id == "" {
			sum.add(now)
			first.add(now)
			continue
		}
		if !seen[k] {
			seen[k] = true
			first.add(now)
		}
		m := most[k]
		most[k] = Tokens{Input: max(m.Input, now.Input), Output: max(m.Output, now.Output), CacheWrite: max(m.CacheWrite, now.CacheWrite), CacheRead: max(m.CacheRead, now.CacheRead)}
	}
	for _, m := range most {
		sum.add(m)
	}
	return sum, first
}

// TestRecorded: the totals of recorded sessions are those of a slow reader.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../../shared/samples/real/claude_*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, Options{Files: []transcript.File{{Path: path, Host: transcript.Claude, ID: "s", Size: info.Size(), ModTime: info.ModTime()}}, Settings: config.Defaults().Compact, Loc: time.UTC})
		want, _ := naive(t, path)
		got := r.Totals.Tokens
		got.CacheHour = 0
		equal(t, filepath.Base(path), got, want)
	}
}

// A reader who sees more compactions by the policy is told what to compare, and why
// there are more; nothing of it where it is not so.
func TestWhatIfWords(t *testing.T) {
	t.Parallel()
	r := &Report{Policy: Policy{Early: 85}}
	r.Totals.WhatIf = WhatIf{Happened: 15, HappenedMid: 10, HappenedBoundary: 2, Boundary: 65, Forced: 2, Requests: 10, Sent: 1_050_000, PolicySent: 870_000}
	for l, want := range map[message.Lang][]string{
		message.EN: {"10 of 15 as it was, 2 of 67 with the policy", "more in all because the policy does not wait", "--tune"},
		message.ZH: {"實際 15 次中有 10 次，依政策 67 次中有 2 次", "合計較多，是因為政策不等視窗滿", "--tune"},
	} {
		text := strings.Join(r.whatIfWords(l, message.TuneLooks.In(l)), "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%v: %q is missing in\n%s", l, w, text)
			}
		}
	}
	for _, tc := range []struct {
		was, now Cost
		want     string
	}{
		{Cost{USD: 2, WorkMS: 60_000}, Cost{USD: 1, PromptMS: 30_000}, "would have paid: $1.00 (as it was $2.00), waiting 30s (as it was 1m 00s), of that in mid-work 0s (as it was 1m 00s)"},
		{Cost{USD: 2, WorkMS: 60_000}, Cost{USD: 1, PromptMS: 90_000}, "would have paid in money, not in time"},
		{Cost{USD: 1, WorkMS: 60_000}, Cost{USD: 2, PromptMS: 30_000}, "would have paid in time, not in money"},
		{Cost{USD: 1, WorkMS: 60_000}, Cost{USD: 2, WorkMS: 90_000}, "would not have paid"},
		{Cost{USD: 1, WorkMS: 60_000}, Cost{USD: 1, WorkMS: 90_000}, "would not have paid"},
		{Cost{Unpriced: 9, WorkMS: 60_000}, Cost{Unpriced: 9, WorkMS: 30_000}, "would have paid: – (as it was –)"},
	} {
		w := &r.Totals.WhatIf
		w.Cost.Happened, w.Cost.Policy = tc.was, tc.now
		if text := strings.Join(r.whatIfWords(message.EN, ""), "\n"); !strings.Contains(text, tc.want) {
			t.Errorf("%q is missing in\n%s", tc.want, text)
		}
	}
	r.Totals.WhatIf.Boundary = 3
	if text := strings.Join(r.whatIfWords(message.EN, ""), "\n"); strings.Contains(text, "more in all") {
		t.Errorf("5 for 15 are more:\n%s", text)
	}
	if got := r.whatIfTable(message.EN)[1]; got[0] != message.AuditForced.EN || got[1] != "10" || got[2] != "2" {
		t.Errorf("first row: %q", got)
	}
}

// A model may be run with its large window without saying so: then a context that
// outgrew the window it is known by had a million tokens of room. What the host tells,
// and what other traces have seen of the model, comes before what the table knows.
func TestWindowOfATrace(t *testing.T) {
	t.Parallel()
	used := func(model string, window int64, tokens ...int64) *trace {
		tr := &trace{head: head{Window: window}}
		if model != "" {
			tr.Models = []string{model}
		}
		for _, n := range tokens {
			tr.requests = append(tr.requests, request{tokens: Tokens{Input: n}})
		}
		return tr
	}
	const small = "claude-sonnet-4-5"
	side := used(small, 0, 100)
	side.requests = append(side.requests, request{side: true, tokens: Tokens{Input: 500_000}})
	compacted := used(small, 0, 100)
	compacted.Compacted = []event{{Pre: 300_000}}
	for name, tc := range map[string]struct {
		tr    *trace
		known int64
		want  int64
	}{
		"by the table":                       {used(small, 0, 150_000), 0, 200_000},
		"as large as it is":                  {used(small, 0, 200_000), 0, 200_000},
		"outgrown":                           {used(small, 0, 200_001), 0, 1_000_000},
		"outgrown, but not by a million":     {used(small, 0, 1_000_000), 0, 1_000_000},
		"outgrown by more than any window":   {used(small, 0, 1_000_001), 0, 200_000},
		"outgrown before a compaction":       {compacted, 0, 1_000_000},
		"a sub-agent's context says nothing": {side, 0, 200_000},
		"as the host told it":                {used(small, 400_000, 150_000), 500_000, 400_000},
		"as it was seen elsewhere":           {used(small, 0, 150_000), 400_000, 400_000},
		"of a model that nobody knows":       {used("nobody-1", 0, 150_000), 0, 0},
		"of no model":                        {used("", 0, 150_000), 0, 0},
	} {
		if got := windowOf(tc.tr, func(string) int64 { return tc.known }); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
	if got := windowOf(used(small, 0, 1), nil); got != 200_000 {
		t.Errorf("nobody has seen any: %d", got)
	}
}

// Tune plays other tiers over the sessions: one is advised, which makes no more
// compactions than the one in force and interrupts no more often.
func TestTune(t *testing.T) {
	t.Parallel()
	dir, _ := known(t)
	trials, r, err := Tune(t.Context(), options(t, dir, ""))
	if err != nil || r == nil || len(trials) < 10 || !trials[0].Now {
		t.Fatalf("%v, %d trials", err, len(trials))
	}
	chosen := 0
	for i := range trials {
		x := &trials[i]
		if x.Chosen {
			chosen++
			if x.all() > trials[0].all() || x.WhatIf.Forced > trials[0].WhatIf.Forced {
				t.Errorf("%s is worse than what is in force", x.name(message.EN))
			}
		}
		for j := range trials {
			if o := &trials[j]; x.Frontier && o.WhatIf.Forced < x.WhatIf.Forced && o.all() < x.all() {
				t.Errorf("%s is beaten by %s", x.name(message.EN), o.name(message.EN))
			}
		}
	}
	if chosen != 1 {
		t.Errorf("%d are advised", chosen)
	}
	best := trials[slices.IndexFunc(trials, func(x Trial) bool { return x.Chosen })]
	want := "would change nothing"
	if !best.Now {
		want = fmt.Sprintf("would advise %s: %d compactions instead of %d", best.name(message.EN), best.all(), trials[0].all())
	}
	if got := r.advice(message.EN); !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	if words := r.Told(message.EN).Words; !slices.Contains(words, r.advice(message.EN)) {
		t.Errorf("pages say something else than the command: %q", words)
	}
	r.Totals.Requests = mostTuned + 1
	equal(t, "many requests", r.advice(message.EN), message.TuneLooks.EN)
}

// A compaction is in mid-work, at a boundary or between turns, and every number of a
// page agrees with that: the headline, the counts and what the policy is compared with,
// also where a file does not tell its window.
func TestStruckAgrees(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	strike := func(id, model string, mid, boundary bool) {
		w := newWriter(id)
		w.prompt("Please make the totals strict.")
		w.call("1"+id, model, usage{10, 150_000, 0, 0, 5}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "x")
		if boundary {
			w.call("2"+id, model, usage{10, 0, 0, 150_000, 5}, "Bash", map[string]any{"command": "git commit -am x"}, "[main abc1234] x\n 1 file changed")
		}
		if !mid {
			w.answer("3"+id, model, usage{10, 0, 0, 150_000, 5}, text("I looked."))
		}
		w.at("10:00:00").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150_000 + len(id)}})
		w.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "s"}})
		w.answer("4"+id, model, usage{10, 0, 0, 20_000, 5}, text("Going on."))
		write(t, root, ".claude/projects/-work-shop/"+id+".jsonl", w.out.Bytes())
	}
	strike("a", opus, true, false)
	strike("bb", opus, true, true)
	strike("ccc", opus, false, false)
	strike("dddd", "nobody-1", true, false)
	strike("eeeee", "nobody-1", true, true)
	strike("ffffff", "nobody-1", false, false)
	r := run(t, options(t, func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}, ""))
	tot, w := &r.Totals, &r.Totals.WhatIf
	equal(t, "struck", []int{tot.Compactions, tot.MidWork, tot.AtBoundary}, []int{6, 2, 2})
	equal(t, "compared", []int{w.Happened, w.HappenedMid, w.HappenedBoundary, w.Unknown, w.Between}, []int{6, 2, 2, 3, 1})
	equal(t, "in every column", []bool{w.Forced >= 1, w.Boundary >= 1, w.LateForced >= 1, w.LateBoundary >= 1}, []bool{true, true, true, true})
	for _, s := range r.Sessions {
		if c := s.Compactions[0]; c.MidWork && len(c.At) > 0 {
			t.Errorf("%s is both in mid-work and at a boundary", s.ID)
		}
	}
	for i, row := range r.whatIfTable(message.EN)[1:5] {
		equal(t, "row", row[1], []string{"2", "2", "2", "6"}[i])
	}
	equal(t, "headline", strings.HasPrefix(r.shortLines(message.EN)[0], "Struck in mid-work: 2 of 6 compactions."), true)
}

// A file that begins with a compaction shows nothing to compare it with, though its
// window is known: that is the reason which is given.
func TestNothingBeforeACompaction(t *testing.T) {
	t.Parallel()
	w := &WhatIf{}
	w.happened(&Compaction{WhatIf: "unknown"}, false)
	w.happened(&Compaction{WhatIf: "unknown"}, true)
	w.happened(&Compaction{WhatIf: "unknown"}, true)
	w.happened(&Compaction{WhatIf: "forced"}, true)
	equal(t, "unknown", []int{w.Happened, w.Unknown, w.Unseen}, []int{4, 3, 1})
	r := &Report{}
	r.Totals.WhatIf = *w
	words := r.whatIfWords(message.EN, "")
	equal(t, "why", words[len(words)-2:], []string{
		"Compactions in windows of unknown size: 2. Every column counts them as they happened.",
		"Compactions before which the file shows nothing: 1. Every column counts them as they happened, without the waiting.",
	})
}

// A compaction at the beginning of a file came nobody knows where: it counts neither as in
// mid-work nor as between turns, also where the agent goes on by itself.
func TestNobodyKnowsWhere(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for id, prompt := range map[string]bool{"a": false, "bb": true} {
		w := newWriter(id)
		if prompt {
			w.prompt("Please make the totals strict.")
		}
		w.at("10:00:00").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150_000 + len(id)}})
		w.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "s"}})
		w.call("1"+id, opus, usage{10, 0, 0, 20_000, 5}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "x")
		write(t, root, ".claude/projects/-work-shop/"+id+".jsonl", w.out.Bytes())
	}
	r := run(t, options(t, func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}, ""))
	equal(t, "unseen", session(t, r, "a").Compactions[0].Unseen, true)
	equal(t, "behind a prompt", session(t, r, "bb").Compactions[0].Unseen, false)
	w := &r.Totals.WhatIf
	equal(t, "counts", []int{r.Totals.Compactions, r.Totals.MidWork, w.between(), w.Placeless}, []int{2, 0, 1, 1})
	for i, row := range r.whatIfTable(message.EN)[3:6] {
		equal(t, "row", row[1:], [][]string{{"1", "1", "1"}, {"1", "1", "1"}, {"2", "2", "2"}}[i])
	}
}

// Weeks begin on Monday, blocks with the hour of a host's first request: five hours later
// the next may begin. What periods add up to is what days do.
func TestPeriods(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for id, days := range map[string]map[string][]string{
		"a": {"2026-03-01": {"09:59:00"}, "2026-03-02": {"10:30:00", "14:59:59", "15:00:00"}},
		"b": {"2026-03-02": {"11:00:00"}, "2026-04-01": {"00:30:00"}},
	} {
		w := newWriter(id)
		n := 0
		for _, day := range slices.Sorted(maps.Keys(days)) {
			for _, clock := range days[day] {
				at, _ := time.Parse(time.DateTime, day+" "+clock)
				w.clock = at
				n++
				w.answer(fmt.Sprint(id, n), opus, usage{10, 0, 0, 0, 5}, text("x"))
			}
		}
		write(t, root, ".claude/projects/-work-shop/"+id+".jsonl", w.out.Bytes())
	}
	o := options(t, func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}, "")
	type row struct {
		Name               string
		Requests, Sessions int
	}
	for period, want := range map[Period][]row{
		"":    nil,
		Week:  {{"2026-02-23", 1, 1}, {"2026-03-02", 4, 2}, {"2026-03-30", 1, 1}},
		Month: {{"2026-03", 5, 2}, {"2026-04", 1, 1}},
		Block: {{"2026-03-01T09:00:00Z", 1, 1}, {"2026-03-02T10:00:00Z", 3, 2}, {"2026-03-02T15:00:00Z", 1, 1}, {"2026-04-01T00:00:00Z", 1, 1}},
	} {
		o.Period = period
		r := run(t, o)
		var got []row
		sum := 0.0
		for _, p := range r.Periods {
			got = append(got, row{p.Name, p.Requests, p.Sessions})
			sum += *p.USD
		}
		equal(t, string(period), got, want)
		if period != "" {
			near(t, string(period), r.Totals.USD, sum)
		}
	}
}

// What the head of a report counts is in its tables, too: sessions without a request,
// those of which no folder is known, and compactions before which there was none. The
// time of a session is also that of the first versions' only line that has one.
func TestTablesAddUp(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	begins := newWriter("44444444-4444-4444-8444-444444444444")
	begins.at("12:00:00").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 990_000}})
	begins.answer("b1", opus, usage{1, 0, 0, 50_000, 1}, text("on"))
	write(t, root, ".claude/projects/-work-shop/"+begins.id+".jsonl", begins.out.Bytes())
	silent := newWriter("55555555-5555-4555-8555-555555555555")
	silent.prompt("Nobody answers.")
	write(t, root, ".claude/projects/-work-shop/"+silent.id+".jsonl", silent.out.Bytes())
	write(t, root, ".codex/sessions/2025/08/06/rollout-2025-08-06T18-02-11-66666666-6666-4666-8666-666666666666.jsonl",
		[]byte(`{"id":"66666666-6666-4666-8666-666666666666","timestamp":"2025-08-06T18:02:11.653Z","instructions":"x"}`+"\n"+
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]}`+"\n"))
	r := run(t, options(t, dir, ""))
	equal(t, "totals", []int{r.Totals.Sessions, r.Totals.Compactions}, []int{6, 3})
	count := func(list []Bucket) (sessions, compactions int) {
		for _, b := range list {
			sessions, compactions = sessions+b.Sessions, compactions+b.Compactions
		}
		return sessions, compactions
	}
	sessions, compactions := count(r.Projects)
	equal(t, "by project", []int{sessions, compactions}, []int{6, 3})
	_, compactions = count(r.Models)
	equal(t, "by model", compactions, 3)
	_, compactions = count(r.Days)
	equal(t, "by day", compactions, 3)
	unknown := r.Models[slices.IndexFunc(r.Models, func(b Bucket) bool { return b.Name == unknownModel })]
	equal(t, "unknown model", []int{unknown.Sessions, unknown.Compactions}, []int{2, 1})
	nowhere := r.Projects[slices.IndexFunc(r.Projects, func(b Bucket) bool { return b.Name == "" })]
	equal(t, "no folder", nowhere.Sessions, 1)
	first, _ := r.span()
	equal(t, "from", first, "2025-08-06T18:02:11Z")
}

// An id is cut where it still names its session among those of the report, and the
// compaction that is worth a look is the one that lost most, of those the newest.
func TestNewestNamesAndAdvises(t *testing.T) {
	t.Parallel()
	compacted := func(id, at string, losses ...*Loss) Session {
		s := Session{ID: id}
		for i, l := range losses {
			s.Compactions = append(s.Compactions, Compaction{N: i + 1, Time: at, Loss: l})
		}
		return s
	}
	lost := func(n int) *Loss { return &Loss{Compactions: 1, Names: Kept{Needed: n}} }
	sealed := &Loss{Unreadable: 1}
	const one, two, other = "01a1dcd2-bbdb-7c93-b58f-71ccdba722b3", "01a1dcd2-ca0c-7323-b948-5efbf6f5537b", "728f640d-0000-4000-8000-000000000000"
	for name, c := range map[string]struct {
		sessions []Session
		want     string
	}{
		"the one that lost most":   {[]Session{compacted(one, "2026-03-03T00:00:00Z", lost(0)), compacted(two, "2026-03-02T00:00:00Z", lost(1), lost(4)), compacted(other, "2026-03-01T00:00:00Z", lost(4))}, "packet 01a1dcd2-ca0c --compaction 2\n"},
		"of none the newest":       {[]Session{compacted(other, "2026-03-01T00:00:00Z", lost(0)), compacted(one, "2026-03-03T00:00:00Z", lost(0)), compacted(two, "2026-03-04T00:00:00Z", sealed)}, "packet 01a1dcd2-bbdb --compaction 1\n"},
		"one that can be told":     {[]Session{compacted(one, "2026-03-03T00:00:00Z", nil, sealed), compacted(other, "2026-03-01T00:00:00Z", lost(0))}, "packet 728f640d-0000 --compaction 1\n"},
		"no two are cut alike":     {[]Session{compacted(one, "2026-03-03T00:00:00Z", nil), compacted(two, "2026-03-03T00:00:00Z", nil)}, "  01a1dcd2-c…  "},
		"eight characters suffice": {[]Session{compacted(one, "2026-03-03T00:00:00Z", nil), compacted(other, "2026-03-03T00:00:00Z", nil)}, "  01a1dcd2…  "},
	} {
		var out bytes.Buffer
		term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}, Lang: message.EN}
		printer{Terminal: term, Report: &Report{Sessions: c.sessions}}.newest()
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %q is missing in\n%s", name, c.want, out.String())
		}
	}
}

// A copy of a session that was used since adds what is new in it, and nothing that its
// source has told: no requests, no compactions, nothing that the policy would have done.
func TestUsedCopyCountsOnce(t *testing.T) {
	t.Parallel()
	dir, root := known(t)
	before := run(t, options(t, dir, "")).Totals
	const source = ".claude/projects/-work-shop/11111111-1111-4111-8111-111111111111.jsonl"
	data, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		t.Fatal(err)
	}
	const id = "77777777-7777-4777-8777-777777777777"
	w := newWriter(id)
	w.out.Write(bytes.ReplaceAll(data, []byte("11111111-1111-4111-8111-111111111111"), []byte(id)))
	w.at("11:00:00").answer("new", opus, usage{1, 0, 0, 50_000, 1}, text("on"))
	write(t, root, ".claude/projects/-work-shop/"+id+".jsonl", w.out.Bytes())
	o := options(t, dir, "")
	// As the catalogue lists them: copies behind their sources.
	slices.SortStableFunc(o.Files, func(a, b transcript.File) int {
		return strings.Compare(a.ID, b.ID)
	})
	r := run(t, o)
	after := r.Totals
	equal(t, "compactions", []int{after.Compactions, after.MidWork, after.AtBoundary, after.Failed}, []int{before.Compactions, before.MidWork, before.AtBoundary, before.Failed})
	equal(t, "requests", after.Requests, before.Requests+1)
	equal(t, "lost", after.Lost.Names, before.Lost.Names)
	// The copy goes on behind the last commit, where the source ends: there the policy
	// compacts.
	equal(t, "what if", []int{after.WhatIf.Happened, after.WhatIf.policy(), after.WhatIf.late(), after.WhatIf.Requests}, []int{before.WhatIf.Happened, before.WhatIf.policy() + 1, before.WhatIf.late(), before.WhatIf.Requests + 1})
	equal(t, "whose", len(session(t, r, "1111").Compactions), 1)
}

// Days on which nothing happened are listed, too; a clock that was wrong once makes no
// list of decades.
func TestEmptyDays(t *testing.T) {
	t.Parallel()
	var got []string
	for _, d := range withEmpty([]Bucket{{Name: "1970-01-01"}, {Name: "2026-02-27"}, {Name: "2026-03-02"}}) {
		got = append(got, d.Name)
	}
	equal(t, "days", got, []string{"1970-01-01", "2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"})
}

// What a sub-agent used counts once, in full: its parent's file may hold the beginning of
// an answer only, and all that there is when its own file is gone.
func TestSubAgentCountsOnce(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"with its own file": true, "without": false} {
		root := t.TempDir()
		row := func(output int64) map[string]any {
			return map[string]any{"type": "assistant", "isSidechain": true, "requestId": "req_a", "timestamp": "2026-03-01T09:00:30.000Z", "message": map[string]any{
				"role": "assistant", "id": "msg_a", "model": opus, "usage": usage{10, 0, 0, 100, output}.json(), "content": []any{},
			}}
		}
		w := newWriter("11111111-1111-4111-8111-111111111111")
		w.prompt("go")
		w.answer("1", opus, usage{1, 0, 0, 0, 7}, text("x"))
		w.line(map[string]any{"type": "progress", "data": map[string]any{"type": "agent_progress", "message": row(3)}})
		write(t, root, ".claude/projects/-work-shop/"+w.id+".jsonl", w.out.Bytes())
		want := Tokens{Input: 11, Output: 10, CacheRead: 100}
		if own {
			a := newWriter(w.id)
			a.line(row(90))
			write(t, root, ".claude/projects/-work-shop/"+w.id+"/subagents/agent-a.jsonl", a.out.Bytes())
			want.Output = 97
		}
		r := run(t, options(t, func(h *host.Host) string {
			return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
		}, ""))
		for what, s := range map[string]Spent{"session": r.Sessions[0].Spent, "total": r.Totals.Spent, "day": r.Days[0].Spent, "model": r.Models[0].Spent, "project": r.Projects[0].Spent} {
			equal(t, name+", "+what, s.Tokens, want)
			equal(t, name+", requests, "+what, s.Requests, 2)
			near(t, name+", price, "+what, s.USD, (float64(want.Input)*5+float64(want.Output)*25+float64(want.CacheRead)*0.5)/1e6)
		}
	}
}

// An answer that was cut has told no usage: it is a request, and says nothing of how full
// the context was.
func TestCutAnswerIsARequest(t *testing.T) {
	t.Parallel()
	report := func(cut bool) *Report {
		root := t.TempDir()
		w := newWriter("11111111-1111-4111-8111-111111111111")
		w.prompt("go")
		w.at("09:00:10").answer("1", opus, usage{10, 50_000, 0, 0, 7}, text("x"))
		if cut {
			w.answer("2", opus, usage{}, text("x"))
		}
		w.at("09:00:30").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto"}})
		w.at("09:00:40").answer("3", opus, usage{10, 20_000, 0, 0, 7}, text("y"))
		write(t, root, ".claude/projects/-work-shop/"+w.id+".jsonl", w.out.Bytes())
		return run(t, options(t, func(h *host.Host) string {
			return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
		}, ""))
	}
	whole, cut := report(false), report(true)
	for what, s := range map[string]Spent{"session": cut.Sessions[0].Spent, "total": cut.Totals.Spent, "day": cut.Days[0].Spent, "model": cut.Models[0].Spent, "project": cut.Projects[0].Spent} {
		equal(t, "requests, "+what, s.Requests, 3)
	}
	equal(t, "tokens", cut.Totals.Tokens, whole.Totals.Tokens)
	equal(t, "compaction", cut.Sessions[0].Compactions, whole.Sessions[0].Compactions)
	equal(t, "what if", cut.Sessions[0].WhatIf, whole.Sessions[0].WhatIf)
}

// Days on which nothing happened are not shown; one whose session recorded no use is.
func TestDaysInUse(t *testing.T) {
	t.Parallel()
	used, empty, silent := Bucket{Name: "used", Spent: Spent{Requests: 1}}, Bucket{Name: "empty"}, Bucket{Name: "silent", Sessions: 1}
	equal(t, "days", inUse([]Bucket{empty, used, empty, empty, silent, empty}), []Bucket{used, silent})
}

// An audit since a day neither begins before it nor counts a file that tells no times.
func TestSinceADay(t *testing.T) {
	t.Parallel()
	a := analysis{from: 1}
	equal(t, "without times", a.takes(&traced{trace: &trace{}}, nil), false)
	a.from = 0
	equal(t, "all of it", a.takes(&traced{trace: &trace{}}, nil), true)
	r := Report{Since: "2026-03-01T00:00:00Z", Sessions: []Session{{Start: "2026-01-05T15:02:01Z", End: "2026-03-02T10:00:00Z"}}}
	first, last := r.span()
	equal(t, "span", []string{first, last}, []string{"2026-03-01T00:00:00Z", "2026-03-02T10:00:00Z"})
}
