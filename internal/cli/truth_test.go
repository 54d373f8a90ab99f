package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/dashboard"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// world is a machine with sessions, a command line and a dashboard.
type world struct {
	t     *testing.T
	home  string
	vars  map[string]string
	clock time.Time
	base  string // of the dashboard
	token string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, home: t.TempDir(), clock: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	w.vars = map[string]string{"HOME": w.home, "LANG": "en_US.UTF-8"}
	s := dashboard.New(w.app(io.Discard, "").dashboardOptions())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.base, w.token = "http://"+l.Addr().String(), s.Token()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return w
}

func (w *world) env(out io.Writer, stdin string) Env {
	return Env{
		Stdin: strings.NewReader(stdin), Stdout: out, Stderr: io.Discard, Dir: w.home, Now: func() time.Time { return w.clock },
		IsTTY: func(uintptr) bool { return false }, Environ: func() []string { return nil }, Getenv: func(k string) string { return w.vars[k] },
	}
}

func (w *world) app(out io.Writer, stdin string) *app { return newApp("overtone", w.env(out, stdin)) }

// run runs a command and returns what it prints.
func (w *world) run(stdin string, args ...string) string {
	w.t.Helper()
	var out bytes.Buffer
	if code := Main(args, w.env(&out, stdin)); code != 0 {
		w.t.Fatalf("%q: exit %d", args, code)
	}
	return out.String()
}

// page asks the dashboard.
func (w *world) page(path string) gjson.Result {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+"/api/"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %d %s %v", path, res.StatusCode, body, err)
	}
	return gjson.ParseBytes(body)
}

// agree compares what all say of one session.
func (w *world) agree(id, path string) {
	t := w.t
	t.Helper()
	explain := gjson.Parse(w.run("", "compact", "explain", "--session", id, "--json"))
	detail := w.page("session?id=" + url.QueryEscape(id))
	handed := gjson.Parse(w.run("", "compact", "packet", "--session", id, "--json"))
	var listed, audited gjson.Result
	for _, r := range gjson.Parse(w.run("", "sessions", "--json", "-n", "1000")).Get("sessions").Array() {
		if r.Get("id").String() == id {
			listed = r
		}
	}
	for _, r := range gjson.Parse(w.run("", "audit", "--json")).Get("sessions").Array() {
		if r.Get("id").String() == id {
			audited = r
		}
	}
	same := func(what string, values ...any) {
		t.Helper()
		for i, v := range values {
			if r, ok := v.(gjson.Result); ok && r.IsObject() || r.IsArray() {
				values[i] = r.Value()
			}
			if fmt.Sprint(values[i]) != fmt.Sprint(values[0]) {
				t.Errorf("%s: %s: %v", id, what, values)
				return
			}
		}
	}
	for _, key := range []string{"verdict", "cause", "reason", "tier", "mode", "used", "window", "percentRemaining", "signals", "allowed"} {
		same(key, explain.Get(key), detail.Get("decision."+key))
	}
	same("hand-over", handed.Get("text"), w.page("packet?n=0&lang=zh-TW&id="+url.QueryEscape(id)).Get("text"))
	same("situation", explain.Get("situation"), detail.Get("situation"), handed.Get("situation"))
	status, err := w.app(io.Discard, "").mcpStatus(t.Context(), json.RawMessage(fmt.Sprintf(`{"session":%q}`, id)))
	if at := explain.Get("situation"); err != nil || at.Get("request").String() != "" && (!strings.Contains(status, at.Get("request").String()) || !strings.Contains(status, detail.Get("stands").String())) {
		t.Errorf("%s: MCP says %s %v, want %s", id, status, err, at)
	}
	same("requests", explain.Get("requests"), len(detail.Get("context.tokens").Array())+int(detail.Get("context.dropped").Int()))
	same("compactions", explain.Get("compactions"), len(detail.Get("compactions").Array()), handed.Get("compactions"), listed.Get("compactions"))
	own := listed.Get("cloneOf").String() == "" // what a clone has copied, an audit counts for its source
	if own {
		same("compactions", explain.Get("compactions"), len(audited.Get("compactions").Array()))
		same("peak", detail.Get("context.peak").Int(), audited.Get("peak").Int())
	}
	if used := explain.Get("used").Int(); used > 0 {
		same("used", used, listed.Get("liveTokens"))
	}
	for i, c := range slices.Backward(detail.Get("compactions").Array()) {
		if !own {
			break
		}
		theirs := audited.Get(fmt.Sprintf("compactions.%d", len(detail.Get("compactions").Array())-1-i))
		same("sizes", fmt.Sprint(theirs.Get("n"), theirs.Get("before"), theirs.Get("after")), fmt.Sprint(c.Get("n"), c.Get("before"), c.Get("after")))
	}
	// The hand-over is about the same request, and its last line fits the same state.
	text, request := handed.Get("text").String(), explain.Get("situation.request").String()
	if request != "" && !strings.Contains(text, message.Head(request, 60)) {
		t.Errorf("%s: the hand-over does not state %q:\n%s", id, request, text)
	}
	last := map[string]message.Text{"under-way": message.HandoverGo, "called": message.HandoverCalled, "interrupted": message.HandoverNextWord, "turn-over": message.HandoverNextWord}
	state := explain.Get("situation.state").String()
	if want, ok := last[state]; !ok && state != "unknown" && state != "asked" {
		t.Errorf("%s: the state is %q", id, state)
	} else if ok && !strings.Contains(text, want.EN) && !strings.Contains(text, want.ZH) {
		t.Errorf("%s: %s, and the hand-over ends with:\n%s", id, state, message.EndUnits(text, 300))
	}
	// What the host would tell its status line is what its file told last.
	if window := explain.Get("window").Int(); window > 0 && explain.Get("percentRemaining").Int() >= 0 {
		used := explain.Get("used").Int()
		in, _ := json.Marshal(map[string]any{"session_id": id, "transcript_path": path, "context_window": map[string]any{
			"context_window_size": window, "total_input_tokens": used - 1, "current_usage": map[string]any{"output_tokens": 1},
		}})
		line := w.run(string(in), "statusline")
		if want := message.StatusContext.Format(message.EN, int(explain.Get("percentRemaining").Int())); !strings.Contains(line, want) {
			t.Errorf("%s: the status line says %q, explain %s", id, line, want)
		}
		if _, signals, ok := strings.Cut(strings.TrimSpace(line), "% · "); ok {
			var names []string
			for _, s := range explain.Get("signals").Array() {
				names = append(names, s.String())
			}
			same("signals", signals, strings.Join(names, ", "))
		}
	}
}

// TestOneTruth: the explanation of a session, the dashboard, the lists, the status line
// and the hand-over say the same of it: situation, verdict, sizes, compactions. It holds
// for a session that nobody observed, for one that hooks have seen, for a clone, and for
// sessions that people recorded, where they are at hand.
func TestOneTruth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.home, ".claude", "projects", "-work-shop")
	put := func(to string, data []byte) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return to
	}
	const id = "11111111-1111-4111-8111-111111111111"
	path := put(filepath.Join(dir, id+".jsonl"), []byte(recorded(id)))
	w.agree(id, path)
	explain := gjson.Parse(w.run("", "compact", "explain", "--session", id, "--json"))
	if explain.Get("situation.state").String() != "turn-over" || explain.Get("situation.request").String() != "Now round them." || explain.Get("compactions").Int() != 1 || explain.Get("signals.0").String() != "agent_done" {
		t.Errorf("%s", explain)
	}

	// Seen by hooks.
	for _, e := range [][2]string{{"user-prompt-submit", `"prompt":"Now round them."`}, {"stop", `"last_assistant_message":"All done: the totals are rounded."`}} {
		w.run(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,%s}`, id, path, w.home, e[1]), "hook", e[0], "--host", "claude-code")
	}
	w.agree(id, path)

	// A clone that nobody has used, which is in the list that follows.
	clone := gjson.Parse(w.run("", "compress", id, "--preset", "fresh", "--json")).Get("result.id").String()

	found := samples.Find("compactions/*.jsonl.gz", "real/*.jsonl")
	for n, from := range found {
		data, err := samples.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n+1)
		to := filepath.Join(dir, id+".jsonl")
		if strings.HasPrefix(filepath.Base(from), "codex_") {
			to = filepath.Join(w.home, ".codex", "sessions", "2026", "07", "12", "rollout-2026-07-12T00-00-00-"+id+".jsonl")
		}
		put(to, data)
	}
	w.clock = w.clock.Add(time.Minute) // the page's list is new
	for _, r := range gjson.Parse(w.run("", "sessions", "--json", "-n", "1000")).Get("sessions").Array() {
		if r.Get("turns").Int() > 0 {
			w.agree(r.Get("id").String(), r.Get("path").String())
		}
		if r.Get("id").String() == clone {
			clone = ""
		}
	}
	if clone != "" {
		t.Errorf("the clone %q is not listed", clone)
	}
	// The page Audit and the command have the same default, and the same sums.
	costs := w.page("audit").Get("costs")
	for _, one := range gjson.Parse(w.run("", "audit", "--json")).Get("sessions").Array() {
		if cost := costs.Get(gjson.Escape(one.Get("id").Str)); cost.Get("usd").Raw != one.Get("usd").Raw || !cost.Exists() {
			t.Errorf("%s costs %s on the page, %s in the command", one.Get("id").Str, cost.Raw, one.Get("usd").Raw)
		}
	}
	if page, command := w.page("audit").Get("totals.@ugly").Raw, gjson.Parse(w.run("", "audit", "--json")).Get("totals.@ugly").Raw; page != command {
		t.Errorf("the page has %s, the command %s", page, command)
	}
	// The overview counts what the audit counts: no clone that nobody has used.
	compactions, unused := int64(0), 0
	for _, r := range w.page("sessions").Get("sessions").Array() {
		if r.Get("unused").Bool() {
			unused++
		} else {
			compactions += r.Get("info.compactions").Int()
		}
	}
	if want := w.page("audit").Get("totals.compactions").Int(); compactions != want || unused != 1 {
		t.Errorf("the overview counts %d compactions, the audit %d; unused clones: %d", compactions, want, unused)
	}
	t.Logf("%d recorded sessions", len(found))
}

// recorded is a session with a compaction, whose work is finished.
func recorded(id string) string {
	var b strings.Builder
	n := 0
	line := func(format string, args ...any) {
		n++
		fmt.Fprintf(&b, `{"uuid":"u%d","parentUuid":%s,"sessionId":%q,"cwd":"/work/shop","version":"2.1.197","isSidechain":false,"timestamp":"2026-03-01T09:%02d:00.000Z",%s}`+"\n",
			n, map[bool]string{true: "null", false: fmt.Sprintf(`"u%d"`, n-1)}[n == 1], id, n, fmt.Sprintf(format, args...))
	}
	answer := func(block string, read int) {
		line(`"type":"assistant","requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-opus-4-5","usage":{"input_tokens":10,"cache_creation_input_tokens":1000,"cache_read_input_tokens":%d,"output_tokens":500},"content":[%s]}`, n, n, read, block)
	}
	line(`"type":"user","message":{"role":"user","content":"Please make the totals strict."}`)
	answer(`{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/work/shop/cart.go"}}`, 150_000)
	line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"func loadCartTotals()"}]}`)
	line(`"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":152000}`)
	line(`"type":"user","isCompactSummary":true,"message":{"role":"user","content":"The totals are strict."}`)
	line(`"type":"user","message":{"role":"user","content":"Now round them."}`)
	answer(`{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/work/shop/cart.go","old_string":"a","new_string":"b"}}`, 120_000)
	line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"updated"}]}`)
	answer(`{"type":"text","text":"All done: the totals are rounded."}`, 121_000)
	line(`"type":"system","subtype":"turn_duration","durationMs":60000`)
	return b.String()
}
