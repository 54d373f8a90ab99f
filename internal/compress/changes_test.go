package compress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// rollout writes a Codex session of one turn with the given items.
func rollout(t *testing.T, items ...string) *transcript.Session {
	t.Helper()
	const id = "01a1dd58-f3c3-75c2-aeba-5483adcbe0a9"
	line := func(typ, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00.000Z","type":%q,"payload":%s}`, typ, payload)
	}
	lines := []string{
		line("session_meta", fmt.Sprintf(`{"session_id":%q,"id":%q,"cwd":"/w"}`, id, id)),
		line("response_item", `{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"Please look."}]}`),
	}
	for _, item := range items {
		lines = append(lines, line("response_item", item))
	}
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-"+id+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

// TestCutCallsOfARollout: of a call that is cut short the strings of its arguments, of its
// input and of its output are, and nothing else; thinking stays unless it is to go.
func TestCutCallsOfARollout(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 200)
	short := strings.Repeat("x", cutUnits) + "..."
	s := rollout(t,
		`{"type":"reasoning","id":"r","summary":[],"encrypted_content":"`+line+`"}`,
		`{"type":"function_call","id":"f","name":"exec","arguments":"{\"cmd\":\"`+line+`\",\"n\":1.50}","call_id":"c1"}`,
		`{"type":"function_call_output","id":"o","call_id":"c1","output":"`+line+`"}`,
		`{"type":"custom_tool_call","id":"g","name":"patch","input":"`+line+`","call_id":"c2"}`,
		`{"type":"custom_tool_call_output","id":"p","call_id":"c2","output":"`+line+`"}`,
	)
	p := plan(t, s, Options{Tools: ranges(t, ParseTools, "0-100:truncate")})
	if p.Tools.Truncated != 2 || p.Tools.Removed != 0 || p.Tools.Thinking != 0 {
		t.Fatalf("%+v", p.Tools)
	}
	res, clone := runPlan(t, p, nil)
	raw, err := os.ReadFile(clone.Path)
	if err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{short: 4, line: 1, `\"cmd\":\"` + short + `\"`: 1, `\"n\":1.50`: 1, `"input":"` + short: 1, `"output":"` + short: 2, `"encrypted_content":"` + line: 1} {
		if got := strings.Count(string(raw), want); got != n {
			t.Errorf("%s is there %d times, want %d\n%s", want, got, n, raw)
		}
	}
	if d := res.After - p.Target; d < -5 || d > 5 {
		t.Errorf("%d tokens, promised %d", res.After, p.Target)
	}
	p = plan(t, s, Options{Thinking: ranges(t, ParseThinking, "remove")})
	if _, clone := runPlan(t, p, nil); p.Tools.Thinking != 1 || len(clone.Entries) != len(s.Entries)-1 {
		t.Errorf("%+v, %d entries of %d", p.Tools, len(clone.Entries), len(s.Entries))
	}
}

// TestThinkingBesideACall: thinking in an entry whose call is cut short stays.
func TestThinkingBesideACall(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("go on")
	c.blocks(thinking, toolUse("t1", long("echo")))
	c.result("t1", long("output"))
	_, clone := runPlan(t, plan(t, c.write(t), Options{Tools: ranges(t, ParseTools, "0-100:truncate")}), nil)
	raw, err := os.ReadFile(clone.Path)
	if err != nil || !strings.Contains(string(raw), thinking) || !strings.Contains(string(raw), `..."`) {
		t.Errorf("%v\n%s", err, raw)
	}
}

// TestImagesStay: what may be an image is not cut, from a thousand characters on.
func TestImagesStay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		strings.Repeat("aZ09+/=", 200):                            true,
		strings.Repeat("a", 1000):                                 true,
		strings.Repeat("a", 999):                                  false,
		strings.Repeat("a", 999) + "-":                            false,
		strings.Repeat("a", 1000) + "-":                           true, // the beginning tells
		strings.Repeat("a", 500) + "{" + strings.Repeat("a", 500): false,
		strings.Repeat("a", 500) + "@" + strings.Repeat("a", 500): false,
		strings.Repeat("a", 500) + ":" + strings.Repeat("a", 500): false,
	} {
		if got := base64ish(text); got != want {
			t.Errorf("%d characters, %.10s…: %v", len(text), text, got)
		}
	}
}

// TestReportOfARun: what came of each message and of all of them together; a second run is
// free, and says so.
func TestReportOfARun(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("The token is hunter2 and the file is internal/cfg/load.go, which " + long("question"))
	c.blocks(textBlock("The answer is in internal/cfg/save.go, and " + long("answer")))
	s := c.write(t)
	d := Dir(t.TempDir())
	o := Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) {
		p.Cache, p.Concurrency = d, 1
		p.Redact = func(text string) (string, []string) {
			if !strings.Contains(text, "hunter2") {
				return text, nil
			}
			return strings.ReplaceAll(text, "hunter2", "[gone]"), []string{"password"}
		}
	})}
	f := &fake{do: func(_ context.Context, n int, r Request) (Reply, error) {
		if n == 0 {
			return Reply{InputTokens: 2}, &refusedError{reason: reasonEmpty}
		}
		return Reply{Text: "short", InputTokens: 7, OutputTokens: 3}, nil
	}}
	for run := range 2 {
		res, err := plan(t, s, o).Run(t.Context(), f, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime})
		if err != nil {
			t.Fatal(err)
		}
		cached := 2 * run
		if res.Cached != cached || res.Redacted["password"] != 1 || res.Lost[extract.Path] != 2 || res.Mark != "" || len(f.calls) != 3 {
			t.Errorf("run %d: %d cached, redacted %v, lost %v, mark %q, %d calls", run, res.Cached, res.Redacted, res.Lost, res.Mark, len(f.calls))
		}
		if run == 0 && (res.InputTokens != 14 || res.OutputTokens != 6) || run == 1 && res.InputTokens+res.OutputTokens != 0 {
			t.Errorf("run %d: %d tokens in, %d out", run, res.InputTokens, res.OutputTokens)
		}
		for n, m := range res.Messages {
			if m.Status != Success || m.After != 2 || m.Before <= m.After || m.Lost == 0 || m.Cached != (run == 1) || m.Line != n+1 || m.Error != "" || run == 1 && m.Attempts != 0 {
				t.Errorf("run %d, message %d: %+v", run, n, m)
			}
			if (m.Ref != "") != (n == 0) { // one is enough as an example
				t.Errorf("run %d, message %d: reference %q", run, n, m.Ref)
			}
		}
		if a := res.Messages[0].Attempts + res.Messages[1].Attempts; run == 0 && a != 1 {
			t.Errorf("%d attempts failed", a)
		}
		st := res.Stats
		if st.MessagesCompressed != 2 || st.CompressedTokens != 4 || st.OriginalTokens != res.Messages[0].Before+res.Messages[1].Before {
			t.Errorf("run %d: %+v", run, st)
		}
	}
}

// TestMarkOfAResult: a result names the first mark, for recall.
func TestMarkOfAResult(t *testing.T) {
	t.Parallel()
	res, clone := runPlan(t, plan(t, talkative(t), Options{Bands: bands(t, "0-100:heavy-compress")}), Builtin{})
	first := ""
	for _, text := range texts(t, clone) {
		if IsMark(text) {
			first = text
			break
		}
	}
	if first == "" || res.Mark != first || res.Gone.Sentences == 0 {
		t.Errorf("the mark is %q, the first in the clone %q; gone %+v", res.Mark, first, res.Gone)
	}
}

// TestNoteWhereSomethingIsMissed: a model is told of what it could miss, and thinking is not.
func TestNoteWhereSomethingIsMissed(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	c.blocks(thinking, toolUse("t1", "ls"))
	c.result("t1", long("output"))
	c.blocks(textBlock(long("answer")))
	s := c.write(t)
	for name, tt := range map[string]struct {
		o    Options
		want bool
	}{
		"thinking is gone": {Options{Thinking: ranges(t, ParseThinking, "remove")}, false},
		"a call is gone":   {Options{Tools: ranges(t, ParseTools, "0-100:remove")}, true},
		"a call is cut":    {Options{Tools: ranges(t, ParseTools, "0-100:truncate")}, true},
		"texts are short":  {Options{Bands: bands(t, "0-100:compress")}, true},
	} {
		res, err := plan(t, s, tt.o).Run(t.Context(), &fake{do: cut}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime, Note: &noting{}})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(res.Clone.Path)
		if err != nil || strings.Contains(string(raw), "a note,") != tt.want {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
	// It costs some of what was saved, and the more the more there is to tell.
	for lost, want := range map[int]int{0: 100, 800: 200, 8999: 1224, 9000: 1225, 90_000: 1225} {
		if got := noteTokens(lost); got != want {
			t.Errorf("%d tokens lost: a note of %d, want %d", lost, got, want)
		}
	}
}

// TestRecordOfAClone: a clone is on the list with what it was made of; one that failed is not.
func TestRecordOfAClone(t *testing.T) {
	t.Parallel()
	s := compacted(t, 30_000)
	list := ClonesIn(t.TempDir())
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress")})
	id := transcript.NewID(s.Host, runTime)
	res, err := p.Run(t.Context(), &fake{do: cut}, RunOptions{ID: id, Now: runTime, Clones: list})
	if err != nil {
		t.Fatal(err)
	}
	want := CloneRecord{Schema: 1, ID: id, Source: s.ID, From: s.Path, Host: string(s.Host), Path: res.Clone.Path, Size: res.Clone.Bytes, Tokens: res.Host, Created: "2026-03-04T05:06:07Z"}
	if got := list.All()[id]; got != want || res.Host == 0 || res.Host >= 30_000 {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A clone that nobody could remove again is not made.
	before := tree(t, filepath.Dir(s.Path))
	if _, err := p.Run(t.Context(), &fake{do: cut}, RunOptions{ID: "other", Now: runTime, Clones: Clones(s.Path)}); err == nil || !strings.Contains(err.Error(), "list the clone") {
		t.Errorf("a clone that nobody can list: %v", err)
	}
	if after := tree(t, filepath.Dir(s.Path)); len(after) != len(before) {
		t.Errorf("left %q", after)
	}
	f := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{}, &fatalError{errors.New("401")} }}
	if _, err := p.Run(t.Context(), f, RunOptions{ID: "third", Now: runTime, Clones: list}); err == nil || len(list.All()) != 1 {
		t.Errorf("%v, %d on the list", err, len(list.All()))
	}
}

// TestSaidOnce: what two messages of a band say word for word stays in one of them.
func TestSaidOnce(t *testing.T) {
	t.Parallel()
	same := "We decided to keep version 3 because 14 users still have it."
	got := band(t, 90, "Go on.", same+" The parser in internal/cfg/load.go must not read the file twice.", "Go on.", same+" The writer in internal/cfg/save.go must not keep the file open.")
	if n := strings.Count(strings.Join(got, "\n"), same); n != 1 {
		t.Errorf("it is said %d times: %q", n, got)
	}
	// Of two that are worth the same the first one stays.
	got = band(t, 35, "Go on.", "We decided to keep column one because it is read. We decided to keep column two because it is read. We decided to keep column six because it is read. We decided to keep column ten because it is read.")
	if !strings.Contains(got[1], "column one") || strings.Contains(got[1], "column six") {
		t.Errorf("%q", got)
	}
}
