package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t testing.TB, lines ...string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	boundaryLine = `{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z","compactMetadata":{"trigger":"auto","preTokens":170000}}`
	userLine     = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hello"}}`
)

func answer(uuid, text string, input int, more string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:01.000Z"%s,"message":{"id":"m-%s","role":"assistant","model":"claude-x","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":5}}}`, uuid, more, uuid, text, input)
}

func TestTailUsage(t *testing.T) {
	t.Parallel()
	codexCount := `{"timestamp":"2026-01-01T00:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":99999},"last_token_usage":{"input_tokens":900,"cached_input_tokens":400,"output_tokens":100,"total_tokens":1000},"model_context_window":258400}}}`
	tests := []struct {
		name  string
		lines []string
		want  int64
		ok    bool
	}{
		{"last of several", []string{userLine, answer("a1", "x", 1, ""), answer("a2", "y", 7, "")}, 122, true},
		{"torn last line", []string{answer("a1", "x", 1, ""), answer("a2", "y", 7, "")[:200]}, 116, true},
		{"side chain ignored", []string{answer("a1", "x", 1, ""), answer("a2", "y", 7, `,"isSidechain":true`)}, 116, true},
		{"synthetic ignored", []string{answer("a1", "x", 1, ""), strings.Replace(answer("a2", "y", 7, ""), "claude-x", "<synthetic>", 1)}, 116, true},
		{"none since the compaction", []string{answer("a1", "x", 1, ""), boundaryLine, userLine}, 0, false},
		{"one since the compaction", []string{answer("a1", "x", 1, ""), boundaryLine, answer("a2", "y", 2, "")}, 117, true},
		{"a quoted boundary is no boundary", []string{answer("a1", "x", 1, ""), strings.Replace(userLine, "hello", `\"compact_boundary\"`, 1)}, 116, true},
		{"codex", []string{codexCount, `{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":null}}`}, 1000, true},
		{"empty file", nil, 0, false},
		{"crlf and nul tail", []string{answer("a1", "x", 1, "") + "\r", "\x00\x00\x00"}, 116, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u, ok := TailUsage(write(t, tt.lines...))
			if u.Tokens() != tt.want || ok != tt.ok {
				t.Errorf("tokens %d, %v; want %d, %v", u.Tokens(), ok, tt.want, tt.ok)
			}
		})
	}
	if _, ok := TailUsage(filepath.Join(t.TempDir(), "none")); ok {
		t.Error("usage of a missing file")
	}
}

func TestLastCompaction(t *testing.T) {
	t.Parallel()
	long := strings.Replace(userLine, "hello", strings.Repeat("x", 1<<19), 1)
	tests := []struct {
		name   string
		lines  []string
		behind int // bytes of the file, -1 for no compaction
	}{
		{"none", []string{userLine, ""}, -1},
		{"after the last of two", []string{boundaryLine, userLine, boundaryLine, userLine, ""}, len(userLine) + 1},
		{"boundary is the last line", []string{userLine, boundaryLine}, 0},
		{"mentioned in a text", []string{boundaryLine, `{"type":"user","uuid":"u","x":["compact_boundary"]}`, ""}, 52},
		{"codex", []string{`{"timestamp":"t","type":"compacted","payload":{"message":""}}`, `{"a":1}`}, 7},
		{"far back", []string{boundaryLine, long, long, ""}, 2*len(long) + 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.lines...)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if after, ok := LastCompaction(path, 1<<30); ok != (tt.behind >= 0) || ok && info.Size()-after != int64(tt.behind) {
				t.Errorf("%d of %d bytes, %v; want %d behind it", after, info.Size(), ok, tt.behind)
			}
		})
	}
}

func TestLastAssistantTexts(t *testing.T) {
	t.Parallel()
	p := write(t, answer("a0", "too far", 1, ""), answer("a1", "one", 1, ""), userLine, answer("a2", "two\nlines", 1, `,"isSidechain":true`), "not json")
	got, err := LastAssistantTexts(p, 4)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "two\nlines"}, got); d != "" {
		t.Error(d)
	}
}

// A hook's cost may not grow with the file: the reads are bounded, which shows
// as the same answer in the same time for a sparse file of a terabyte.
func TestTailCostIsBounded(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "big.jsonl")
	f, err := os.Create(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := "\n" + answer("a1", "x", 1, "") + "\n"
	if _, err := f.WriteAt([]byte(end), 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	begin := time.Now()
	if u, ok := TailUsage(p); !ok || u.Tokens() != 116 {
		t.Errorf("usage %v %v", u, ok)
	}
	if after, ok := LastCompaction(p, 32<<20); ok {
		t.Errorf("a compaction at %d", after)
	}
	if texts, err := LastAssistantTexts(p, 30); err != nil || len(texts) != 1 {
		t.Errorf("texts %v, %v", texts, err)
	}
	if d := time.Since(begin); d > time.Minute { // a terabyte takes hours
		t.Errorf("took %v", d)
	}
}

// A turn was stopped where the host's own line says so, whole, and no agent has spoken since.
func TestStopped(t *testing.T) {
	t.Parallel()
	user := func(text, more string) string {
		return fmt.Sprintf(`{"type":"user","timestamp":"2026-01-01T00:00:00.000Z"%s,"message":{"role":"user","content":%q}}`, more, text)
	}
	stop := `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`
	agent := answer("a1", "I look.", 1, "")
	for name, c := range map[string]struct {
		lines   []string
		back    string
		stopped bool
	}{
		"stopped":                           {[]string{user("Fix it", ""), agent, stop}, "", true},
		"stopped, the next prompt is there": {[]string{user("Fix it", ""), agent, stop, user("and now", "")}, "", true},
		"stopped, then a command":           {[]string{agent, stop, user("<command-name>/clear</command-name>\n<command-args></command-args>", ""), user("<local-command-stdout></local-command-stdout>", "")}, "", true},
		"stopped, then words, then answer":  {[]string{stop, user("Fix it", ""), agent}, "", false},
		"stopped, then other words":         {[]string{stop, user("<div>this</div> first", "")}, "", false},
		"never":                             {[]string{user("Fix it", ""), agent}, "", false},
		"the mark was typed":                {[]string{agent, user("[Request interrupted by user] is what I read", "")}, "", false},
		"given back":                        {[]string{agent, user("Fix <this>", `,"promptSource":"typed"`)}, "Fix <this>", true},
		"given back, queued":                {[]string{agent, user("Fix <this>", `,"promptSource":"queued"`)}, "Fix <this>", true},
		"codex":                             {[]string{`{"type":"event_msg","payload":{"type":"turn_aborted"}}`, `{"type":"response_item","payload":{"type":"message","role":"user"}}`}, "", true},
		"codex, and it goes on":             {[]string{`{"type":"event_msg","payload":{"type":"turn_aborted"}}`, `{"type":"response_item","payload":{"type":"message","role":"assistant"}}`}, "", false},
	} {
		if back, stopped := Stopped(write(t, c.lines...), "and now"); back != c.back || stopped != c.stopped {
			t.Errorf("%s: %q, %v", name, back, stopped)
		}
	}
}

// Claude Code names the model at the beginning of a session as its user chose it.
func TestStatedModel(t *testing.T) {
	t.Parallel()
	const line = `{"type":"attachment","attachment":{"type":"model","identity":{"modelId":"claude-sonnet-4-5[1m]"}},"uuid":"u"}`
	for name, row := range map[string]struct{ text, want string }{
		"stated":    {userLine + "\n" + line + "\n" + userLine + "\n", "claude-sonnet-4-5[1m]"},
		"torn":      {userLine + "\n" + line[:60], ""},
		"not yet":   {userLine + "\n", ""},
		"empty":     {"", ""},
		"long head": {strings.Repeat(" ", modelBound) + "\n" + line + "\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := StatedModel(path); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	if got := StatedModel(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Error(got)
	}
}
