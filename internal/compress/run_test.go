package compress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

var runTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// chat builds a Claude Code session line by line.
type chat struct {
	lines []string
	last  string
	n     int
}

func (c *chat) add(typ, message, more string) string {
	c.n++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", c.n)
	parent := "null"
	if c.last != "" {
		parent = `"` + c.last + `"`
	}
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":%s,"type":%q,"uuid":%q,"sessionId":"src","timestamp":"2026-01-01T00:%02d:%02d.000Z","message":%s%s}`, parent, typ, id, c.n/60, c.n%60, message, more))
	c.last = id
	return id
}

func (c *chat) user(text string) {
	c.add("user", fmt.Sprintf(`{"role":"user","content":%q}`, text), "")
}

func (c *chat) blocks(blocks ...string) {
	c.add("assistant", fmt.Sprintf(`{"id":"m%d","model":"claude-x","role":"assistant","content":[%s],"usage":{"input_tokens":10,"output_tokens":1}}`, c.n, strings.Join(blocks, ",")), "")
}

func (c *chat) result(id, text string) {
	c.add("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text), `,"toolUseResult":{"stdout":"x"}`)
}

func textBlock(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func toolUse(id, arg string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q,"n":1.50}}`, id, arg)
}

const thinking = `{"type":"thinking","thinking":"hm","signature":"sig"}`

func (c *chat) write(t testing.TB) *transcript.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "src.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

func open(t testing.TB, path string) *transcript.Session {
	t.Helper()
	s, err := transcript.Read(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t testing.TB, s *transcript.Session, o Options) *Plan {
	t.Helper()
	if o.Pool.Concurrency == 0 {
		o.Pool = defaultPool()
	}
	if o.MinTokens == 0 {
		o.MinTokens = config.Defaults().Compress.MinTokens
	}
	p, err := NewPlan(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ranges(t testing.TB, parse func(string) ([]Band, error), s string) []Band {
	t.Helper()
	b, err := parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func runPlan(t testing.TB, p *Plan, prov Provider) (*Result, *transcript.Session) {
	t.Helper()
	res, err := p.Run(context.Background(), prov, RunOptions{ID: transcript.NewID(p.Session.Host, runTime), Title: "Clone", Now: runTime, Refs: true})
	if err != nil {
		t.Fatal(err)
	}
	return res, open(t, res.Clone.Path)
}

// messages decodes the live messages of a session.
func messages(t testing.TB, s *transcript.Session) []map[string]any {
	t.Helper()
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []map[string]any
	for _, i := range s.Live() {
		raw, err := s.Raw(f, int(i))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func long(s string) string { return strings.Repeat(s+" ", 40) }

func TestTC12ToolsAndBandsTogether(t *testing.T) {
	t.Parallel()
	var c chat
	for i := range 4 {
		c.user(long(fmt.Sprintf("question-%c", 'a'+i)))
		if i < 2 {
			id := fmt.Sprintf("t%d", i)
			c.blocks(thinking, textBlock(long("looking")), toolUse(id, "ls"))
			c.result(id, long("output"))
		}
		c.blocks(textBlock(long("answer")))
	}
	s := c.write(t)
	source, _ := os.ReadFile(s.Path)
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress"), Tools: ranges(t, ParseTools, "0-50:remove")})
	if p.Tools.Removed != 2 || len(p.Items) != 10 {
		t.Fatalf("plan %+v, %d items", p.Tools, len(p.Items))
	}
	res, clone := runPlan(t, p, &fake{do: cut})
	if res.Stats.MessagesCompressed != 10 || res.RemovedEntries != 2 {
		t.Errorf("%+v, %d removed", res.Stats, res.RemovedEntries)
	}
	text, _ := os.ReadFile(clone.Path)
	for _, gone := range []string{`"type":"tool_use"`, `"type":"tool_result"`, `"type":"thinking"`} {
		if bytes.Contains(text, []byte(gone)) {
			t.Errorf("%s is still there", gone)
		}
	}
	if after, _ := os.ReadFile(s.Path); !bytes.Equal(after, source) {
		t.Error("the source was changed")
	}
	if len(clone.Turns(clone.Live())) != 4 {
		t.Errorf("%d turns", len(clone.Turns(clone.Live())))
	}
}

func TestPlanCounts(t *testing.T) {
	t.Parallel()
	var c chat
	for range 10 {
		c.user(strings.Repeat("u", 400))
		c.blocks(textBlock(strings.Repeat("a", 800)))
	}
	c.add("user", `{"content":"<command-name>/x</command-name> `+long("x")+`"}`, "")
	p := plan(t, c.write(t), Options{Bands: bands(t, "0-50:heavy-compress,50-100:compress")})
	want := []bandPlan{
		{Band: p.Options.Bands[0], Turns: 6, Messages: 12, Tokens: 1800, Target: 378},
		{Band: p.Options.Bands[1], Turns: 5, Messages: 8, Tokens: 1200, Target: 444},
	}
	if d := cmp.Diff(want, p.Bands); d != "" {
		t.Error(d)
	}
	if p.Skipped[skipCommand] != 1 || (p.Small.Output+p.Large.Output) != 822 || (p.Small.Input+p.Large.Input) != 3000+20*promptTokens() || p.Tokens-p.Target != 2178 {
		t.Errorf("%+v", p)
	}
	off := plan(t, c.write(t), Options{Bands: bands(t, "0-100:compress"), NoUsers: true})
	if len(off.Items) != 10 || off.Skipped[skipUser] != 10 {
		t.Errorf("%d items, skipped %v", len(off.Items), off.Skipped)
	}
}

// What was compressed is marked, leads back to its original, and is left alone
// by the next run, on the clone and on a copy that lost its marks.
func TestCompressedOnlyOnce(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	c.blocks(textBlock(long("answer")))
	s := c.write(t)
	o := Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = Dir(t.TempDir()) })}
	f := &fake{do: cut}
	res, clone := runPlan(t, plan(t, s, o), f)
	again := plan(t, clone, o)
	if len(again.Items) != 0 || again.Skipped[skipDone] != 2 {
		t.Errorf("%d items, skipped %v", len(again.Items), again.Skipped)
	}
	if _, err := again.Run(t.Context(), f, RunOptions{ID: "x"}); !errors.Is(err, ErrNothing) {
		t.Errorf("second run: %v", err)
	}
	raw, _ := os.ReadFile(clone.Path)
	line := bytes.Split(raw, []byte("\n"))[0]
	m, ok := transcript.MarkerOf(line)
	if !ok || m.Source != "src" || m.UUID != transcript.Ref(transcript.Claude, line, 0) || m.Hash != textHash(long("question")) || m.Level != "compress" {
		t.Errorf("marker %+v", m)
	}
	if want := clone.ID + "#" + m.UUID; res.Messages[0].Ref != want {
		t.Errorf("ref %s, want %s", res.Messages[0].Ref, want)
	}
	// A fork by the host may drop unknown keys.
	var bare []string
	for _, l := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if i := strings.Index(l, `,"overtone":`); i >= 0 {
			l = l[:i] + "}"
		}
		bare = append(bare, l)
	}
	stripped := (&chat{lines: bare}).write(t)
	calls := len(f.calls)
	if _, err := plan(t, stripped, o).Run(t.Context(), f, RunOptions{ID: "x"}); !errors.Is(err, ErrNothing) || len(f.calls) != calls {
		t.Errorf("results compressed again: %v, %d calls", err, len(f.calls)-calls)
	}
}

func TestTruncateTools(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("go")
	c.blocks(toolUse("t1", long("echo")))
	c.result("t1", "one\ntwo\nthree\nfour")
	c.blocks(textBlock("done"))
	s := c.write(t)
	res, clone := runPlan(t, plan(t, s, Options{Tools: ranges(t, ParseTools, "0-100:truncate")}), nil)
	if res.Tools.Truncated != 1 || res.RemovedEntries != 0 {
		t.Errorf("%+v", res)
	}
	ms := messages(t, clone)
	input := ms[1]["message"].(map[string]any)["content"].([]any)[0].(map[string]any)["input"].(map[string]any)
	if got := input["command"].(string); !strings.HasSuffix(got, "...") || len(got) > 123 || input["n"] != 1.5 {
		t.Errorf("input %v", input)
	}
	if got := ms[2]["message"].(map[string]any)["content"].([]any)[0].(map[string]any)["content"]; got != "one\ntwo..." {
		t.Errorf("result %q", got)
	}
	raw, _ := os.ReadFile(clone.Path)
	if !bytes.Contains(raw, []byte(`"n":1.50`)) {
		t.Error("a number was rewritten")
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "",
		"short":                        "short",
		"a\nb":                         "a\nb",
		"a\nb\nlonger":                 "a\nb...",
		"a\nb\nc":                      "a\nb\nc", // the dots would not be shorter
		strings.Repeat("x", 200):       strings.Repeat("x", 120) + "...",
		strings.Repeat("😀", 100):       strings.Repeat("😀", 60) + "...",
		"x" + strings.Repeat("😀", 100): "x" + strings.Repeat("😀", 59) + "...",
		strings.Repeat("x", 110) + "  \n" + strings.Repeat("y", 90): strings.Repeat("x", 110) + "  \n" + strings.Repeat("y", 7) + "...",
	} {
		if got := cutMiddle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Kept messages of the last compaction stay where they are.
func TestToolsOfKeptMessagesStay(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("old")
	c.blocks(toolUse("t1", "ls"))
	call := c.last
	c.result("t1", "out")
	kept := c.last
	c.last = ""
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":null,"type":"system","subtype":"compact_boundary","uuid":"b","sessionId":"src","timestamp":"2026-01-01T00:00:30.000Z","compactMetadata":{"trigger":"auto","preTokens":1,"preservedMessages":{"anchorUuid":"00000004-0000-4000-8000-000000000000","uuids":[%q,%q]}}}`, call, kept))
	c.last = "b"
	c.add("user", `{"content":"summary"}`, `,"isCompactSummary":true`)
	c.last = kept
	c.user("new")
	s := c.write(t)
	p := plan(t, s, Options{Tools: ranges(t, ParseTools, "0-100:remove"), Thinking: ranges(t, ParseThinking, "remove")})
	if p.Tools.Removed != 0 || p.Tools.Kept != 1 || !p.Nothing() {
		t.Errorf("%+v", p.Tools)
	}
}

func TestAllFailedWritesNothing(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	s := c.write(t)
	f := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{}, &rejectedError{errors.New("400")} }}
	_, err := plan(t, s, Options{Bands: bands(t, "0-100:compress")}).Run(t.Context(), f, RunOptions{ID: "x"})
	var all *AllFailed
	if !errors.As(err, &all) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(s.Path)); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// A clone without tools is not what somebody wanted who asked for messages.
func TestAllFailedWritesNothingThoughToolsGo(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	c.blocks(toolUse("t1", "ls"))
	c.result("t1", long("output"))
	s := c.write(t)
	f := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{}, &rejectedError{errors.New("400")} }}
	o := Options{Bands: bands(t, "0-100:compress"), Tools: ranges(t, ParseTools, "0-100:remove")}
	var all *AllFailed
	if _, err := plan(t, s, o).Run(t.Context(), f, RunOptions{ID: "x"}); !errors.As(err, &all) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(s.Path)); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// noting writes which of some names the clone states.
type noting struct {
	names  []string
	events int
}

func (n *noting) Add(*transcript.Event, int64) { n.events++ }

func (n *noting) Note(states func(string) bool) string {
	text := "a note,"
	for _, name := range n.names {
		text += fmt.Sprintf(" %s %v", name, states(name))
	}
	return text
}

// The note ends the context of a clone, knows what the clone states, and is there once
// however often a clone is cloned.
func TestNote(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("Please look at asked_row.")
	c.blocks(toolUse("t1", "cat removed_row"))
	c.result("t1", long("output"))
	c.blocks(textBlock("It is said_row."))
	s := c.write(t)
	for range 2 {
		n := &noting{names: []string{"asked_row", "said_row", "removed_row"}}
		p := plan(t, s, Options{Tools: ranges(t, ParseTools, "0-100:remove"), Thinking: ranges(t, ParseThinking, "remove")})
		res, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime, Note: n})
		if err != nil {
			t.Fatal(err)
		}
		clone := open(t, res.Clone.Path)
		all := messages(t, clone)
		last := all[len(all)-1]
		if want := "a note, asked_row true said_row true removed_row false"; last["message"].(map[string]any)["content"] != want || last["isMeta"] != true || n.events == 0 {
			t.Errorf("after %d events: %v", n.events, last)
		}
		data, err := os.ReadFile(res.Clone.Path)
		if err != nil || strings.Count(string(data), "a note,") != 1 {
			t.Errorf("%v in\n%s", err, data)
		}
		// The clone is used, then cloned itself.
		next := `{"type":"user","uuid":"next","parentUuid":"` + last["uuid"].(string) + `","sessionId":"` + clone.ID + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"Go on."}}` + "\n" +
			`{"type":"assistant","uuid":"call","parentUuid":"next","sessionId":"` + clone.ID + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","model":"m","content":[` + toolUse("t2", "cat removed_row") + `]}}` + "\n" +
			`{"type":"user","uuid":"result","parentUuid":"call","sessionId":"` + clone.ID + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]}}` + "\n"
		if err := os.WriteFile(res.Clone.Path, append(data, next...), 0o600); err != nil {
			t.Fatal(err)
		}
		s = open(t, res.Clone.Path)
	}
}

func TestInterruptWritesNothing(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	c.blocks(textBlock(long("answer")))
	s := c.write(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
		if n == 1 {
			cancel()
			<-ctx.Done()
			return Reply{}, ctx.Err()
		}
		return cut(ctx, n, r)
	}}
	_, err := plan(t, s, Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Concurrency = 1 })}).Run(ctx, f, RunOptions{ID: "x"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(s.Path)); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

func TestCodexRollout(t *testing.T) {
	t.Parallel()
	id := "01a1dd58-f3c3-75c2-aeba-5483adcbe0a9"
	line := func(typ, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00.000Z","ordinal":1,"type":%q,"payload":%s}`, typ, payload)
	}
	msg := func(role, kind, text string) string {
		return line("response_item", fmt.Sprintf(`{"type":"message","id":"m","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, text))
	}
	lines := []string{
		line("session_meta", fmt.Sprintf(`{"session_id":%q,"id":%q,"cwd":"/w"}`, id, id)),
		msg("user", "input_text", "<environment_context>"+long("x")+"</environment_context>"),
		msg("user", "input_text", long("question")),
		line("event_msg", fmt.Sprintf(`{"type":"item_completed","thread_id":%q,"item":{"type":"UserMessage"}}`, id)),
		line("response_item", `{"type":"reasoning","id":"r","summary":[],"encrypted_content":"ENC"}`),
		line("response_item", `{"type":"function_call","id":"f","name":"exec","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}`),
		line("response_item", `{"type":"function_call_output","id":"o","call_id":"c1","output":"out"}`),
		msg("assistant", "output_text", long("answer")),
	}
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-"+id+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	p := plan(t, s, Options{Bands: bands(t, "0-100:heavy-compress"), Tools: ranges(t, ParseTools, "0-100:remove")})
	if len(p.Items) != 2 || p.Tools.Removed != 1 || p.Tools.Thinking != 1 {
		t.Fatalf("%d items, %+v", len(p.Items), p.Tools)
	}
	res, clone := runPlan(t, p, &fake{do: cut})
	if clone.ID != res.Clone.ID || filepath.Base(clone.Path) != "rollout-2026-03-04T05-06-07-"+clone.ID+".jsonl" {
		t.Errorf("clone %s", clone.Path)
	}
	raw, _ := os.ReadFile(clone.Path)
	if bytes.Contains(raw, []byte(id+`","cwd`)) || bytes.Count(raw, []byte(clone.ID)) != 3 {
		t.Errorf("ids in\n%s", raw)
	}
	got := strings.Split(strings.TrimSpace(string(raw)), "\n")
	leadBack(t, p, res, clone)
	if res.Example != clone.ID+"#L3" || res.Messages[1].Ref != clone.ID+"#L5" {
		t.Errorf("refs %s, %s", res.Example, res.Messages[1].Ref)
	}
	if len(got) != 5 || got[1] != lines[1] || !strings.Contains(got[2], `{"type":"input_text","text":"`) || !strings.Contains(got[4], `"output_text"`) {
		t.Errorf("%q", got)
	}
}

// leadBack checks that each message's reference names the line of the clone that
// leads back to it: where lines were left out, that is not the source's.
func leadBack(t *testing.T, p *Plan, res *Result, clone *transcript.Session) {
	t.Helper()
	raw := func(s *transcript.Session, i int) []byte {
		f, err := os.Open(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := s.Raw(f, i)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for n, m := range res.Messages {
		if m.Status != Success {
			continue
		}
		_, ref, _ := strings.Cut(m.Ref, "#")
		i := len(clone.Entries) - 1 // of copies the last counts
		for i >= 0 && transcript.Ref(clone.Host, raw(clone, i), int(clone.Entries[i].Line)) != ref {
			i--
		}
		if i < 0 {
			t.Errorf("%s names nothing", m.Ref)
			continue
		}
		original := sha256.Sum256([]byte(transcript.Text(raw(p.Session, int(p.Items[n].Entry)))))
		if mark, _ := transcript.MarkerOf(raw(clone, i)); mark.Hash != hex.EncodeToString(original[:]) {
			t.Errorf("%s leads to %+v, not to line %d", m.Ref, mark, m.Line)
		}
	}
}

// Every recorded session can be compressed; the clone verifies (Run checks) and
// shows the same turns.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	files := samples.Find("real/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions here")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), filepath.Base(file))
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			for _, o := range []Options{
				{Bands: bands(t, "0-50:heavy-compress,50-100:compress")},
				{Bands: bands(t, "0-100:compress"), Tools: ranges(t, ParseTools, "0-100:remove"), Thinking: ranges(t, ParseThinking, "remove")},
				{Bands: bands(t, "0-100:compress"), Tools: ranges(t, ParseTools, "0-50:remove,50-100:truncate"), Whole: true},
			} {
				p := plan(t, s, o)
				if p.Nothing() {
					continue
				}
				res, err := p.Run(t.Context(), &fake{do: func(_ context.Context, _ int, r Request) (Reply, error) { return Reply{Text: "short"}, nil }}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime.Add(time.Duration(len(o.Tools)) * time.Hour), Refs: true})
				if err != nil {
					t.Fatal(err)
				}
				if res.Stats.MessagesFailed > 0 {
					i := slices.IndexFunc(res.Messages, func(m Message) bool { return m.Status == Failed })
					t.Errorf("failed: %+v", res.Messages[i])
				}
				clone := open(t, res.Clone.Path)
				if got, want := len(clone.Turns(clone.Live())), len(s.Turns(s.Live())); got != want {
					t.Errorf("%d live turns, %d before", got, want)
				}
				leadBack(t, p, res, clone)
			}
		})
	}
}
