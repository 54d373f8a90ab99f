package transcript

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

const (
	codexMeta  = `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"01900000-0000-7000-8000-000000000001","cwd":"/w"}}`
	codexCount = `{"timestamp":"2026-01-01T00:00:03.000Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":200000,"output_tokens":10,"total_tokens":200010},"model_context_window":258400}}}`
	codexSaid  = `{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A long answer that will be shortened."}]}}`
	codexAsked = `{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Please look."}]}}`
)

func codexFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-01900000-0000-7000-8000-000000000001.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The source's last report would make Codex compact the clone as soon as it is
// resumed.
func TestCodexCloneHasNoStaleUsage(t *testing.T) {
	t.Parallel()
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, codexSaid, codexCount))
	if !s.HasUsage {
		t.Fatal("the source has usage")
	}
	_, got := mustClone(t, s, Change{Touched: []int32{2}, Rewrite: func(_, _ int, e []byte) ([]byte, error) { return SetText(e, "Short."), nil }})
	if strings.Contains(string(got), "token_count") || !strings.Contains(string(got), "Short.") {
		t.Errorf("%s", got)
	}
}

// A note for the model is a developer's message without an event, so that no screen
// shows it. It is given the live context before it, and a line that is not ended is.
func TestCodexCloneHasANote(t *testing.T) {
	t.Parallel()
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, `{"timestamp":"2026-01-01T00:00:04.000Z","type":"compacted","payload":{"message":"so far"}}`, strings.Replace(codexSaid, `,"type"`, `,"ordinal":41,"type"`, 1)))
	live := ""
	_, got := mustClone(t, s, Change{Now: time.Now(), Note: func(r io.Reader) (string, error) {
		b, err := io.ReadAll(r)
		live = string(b)
		return "A \"note\".", err
	}})
	if strings.Contains(live, "Please look.") || !strings.Contains(live, "so far") || !strings.Contains(live, "A long answer") {
		t.Errorf("the live context is\n%s", live)
	}
	last := strings.TrimSuffix(string(got), "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	if !strings.Contains(last, `"role":"developer","content":[{"type":"input_text","text":"A \"note\"."}]`) || !strings.Contains(last, `"ordinal":42,`) || !json.Valid([]byte(last)) {
		t.Errorf("%s", got)
	}
}

// A rollout has no room for a title; Codex keeps names in a file of its own, to which
// one line is added.
func TestCodexCloneHasAName(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	day := filepath.Join(home, "sessions", "2026", "01", "01")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(day, "rollout-2026-01-01T00-00-00-01900000-0000-7000-8000-000000000001.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join([]string{codexMeta, codexAsked, codexSaid}, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := filepath.Join(home, codexNames)
	if err := os.WriteFile(names, []byte(`{"id":"x","thread_name":"old"}`+"\n"+`{"id":"x","thread_name":"new"}`+"\n{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := func(*host.Host) string { return home }
	s := mustRead(t, path)
	c, _ := mustClone(t, s, Change{Title: "A \"name\"", Now: time.Now()})
	if got, want := Names(dir), (map[string]string{"x": "new", c.ID: `A "name"`}); !maps.Equal(got, want) {
		b, _ := os.ReadFile(names)
		t.Errorf("names %v, want %v\n%s", got, want, b)
	}
	// Without a title, or where Codex does not look, nothing is written.
	mustClone(t, s, Change{Now: time.Now()})
	other := mustRead(t, codexFile(t, codexMeta, codexAsked, codexSaid))
	mustClone(t, other, Change{Title: "x", Now: time.Now()})
	if n := len(Names(dir)); n != 2 {
		t.Errorf("%d names", n)
	}
}

// What "codex archive" has put away cannot be resumed there; its clone lies where Codex
// looks, under its source's folder for names.
func TestCodexCloneOfAnArchivedSession(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "archived_sessions", "rollout-2026-01-01T00-00-00-01900000-0000-7000-8000-000000000001.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join([]string{codexMeta, codexAsked, codexSaid}, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := mustClone(t, mustRead(t, path), Change{Title: "a name", Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)})
	if want := filepath.Join(home, "sessions", "2026", "03", "04"); filepath.Dir(c.Path) != want {
		t.Errorf("the clone is in %s, want %s", filepath.Dir(c.Path), want)
	}
	if names := Names(func(*host.Host) string { return home }); names[c.ID] != "a name" {
		t.Errorf("names %v", names)
	}
}

// A rollout compacted in mid-turn goes on without a prompt, and is still a turn.
func TestCodexCompactedInMidTurnHasATurn(t *testing.T) {
	t.Parallel()
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, codexSaid,
		`{"timestamp":"2026-01-01T00:00:04.000Z","type":"compacted","payload":{"message":"so far"}}`, codexSaid, codexSaid))
	if turns := s.Turns(s.Live()); len(turns) != 1 || turns[0] != (Turn{Start: 1, End: 2}) {
		t.Errorf("%+v of %v", turns, s.Live())
	}
}

func TestLeftoversOfKilledRunsAreSwept(t *testing.T) {
	t.Parallel()
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, codexSaid))
	dir := filepath.Dir(s.Path)
	now := time.Now()
	old, fresh := filepath.Join(dir, ".overtone-clone-1.tmp"), filepath.Join(dir, ".overtone-clone-2.tmp")
	for path, at := range map[string]time.Time{old: now.Add(-2 * time.Hour), fresh: now} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Clone(t.Context(), s, Change{ID: NewID(Codex, now), Now: now}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Error("an old one stays")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("one that may be in use is gone")
	}
}

// Recorded requests repeat messages and calls; they are no conversation.
func TestRecordedRequestsAreNoConversation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var lines []string
	for _, typ := range []string{"api-request-blob", "api-request-shape", "prompt_snapshot"} {
		lines = append(lines, `{"type":"`+typ+`","sessionId":"s","uuid":"u-`+typ+`","message":{"role":"assistant","content":[{"type":"text","text":"hello there"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`)
	}
	lines = append(lines, `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}`)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustRead(t, path)
	for i := range 3 {
		if e := s.Entries[i]; e.Kind != Other || e.Text+e.Tool+e.Think != 0 || e.Has(ToolUse) {
			t.Errorf("%+v", e)
		}
	}
	if len(s.Pairs(s.All())) != 0 || len(s.Live()) != 1 {
		t.Errorf("pairs %v, live %v", s.Pairs(s.All()), s.Live())
	}
}
