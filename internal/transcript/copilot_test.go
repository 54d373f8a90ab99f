package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// copilotFile is a session as Copilot CLI 1.0.102 writes it, without what does not
// matter here.
const copilotFile = `{"type":"session.start","data":{"sessionId":"s-1","copilotVersion":"1.0.102","selectedModel":"claude-sonnet-4-5","context":{"cwd":"/w/proj"}},"id":"1","timestamp":"2026-11-15T13:00:00.000Z","parentId":null}
{"type":"hook.start","data":{"hookType":"userPromptSubmitted","input":{"prompt":"not this"}},"id":"2","timestamp":"2026-11-15T13:00:01.000Z","parentId":"1"}
{"type":"user.message","data":{"content":"Please port the parser.","transformedContent":"<x>Please port the parser.</x>"},"id":"3","timestamp":"2026-11-15T13:00:02.000Z","parentId":"2"}
{"type":"session.usage_record","data":{"usage":{"model":"claude-sonnet-4-5","inputTokens":9000,"outputTokens":10,"cacheReadTokens":8000,"cacheWriteTokens":0,"maxPromptTokens":128000}},"id":"4","timestamp":"2026-11-15T13:00:03.000Z","parentId":"3"}
{"type":"assistant.message","data":{"model":"claude-sonnet-4-5","content":"I look.","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{"command":"go test ./..."}}]},"id":"5","timestamp":"2026-11-15T13:00:04.000Z","parentId":"4"}
{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"shellExecution":{"exitCode":1},"result":{"content":"FAIL parser"}},"id":"6","timestamp":"2026-11-15T13:00:05.000Z","parentId":"5"}
{"type":"user.message","agentId":"a1","data":{"content":"Explore. Never edit."},"id":"7","timestamp":"2026-11-15T13:00:06.000Z","parentId":"6"}
{"type":"session.usage_record","agentId":"a1","data":{"usage":{"inputTokens":77,"outputTokens":1,"maxPromptTokens":128000}},"id":"8","timestamp":"2026-11-15T13:00:07.000Z","parentId":"7"}
`

const copilotBoundary = `{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":9010,"trigger":"manual","summaryContent":"The parser is half ported."},"id":"9","timestamp":"2026-11-15T13:00:08.000Z","parentId":"8"}
`

func copilotSession(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s-1", "events.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCopilotSession(t *testing.T) {
	t.Parallel()
	path := copilotSession(t, copilotFile)
	s, err := Read(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Host != Copilot || s.ID != "s-1" || s.CWD != "/w/proj" || s.Title != "Please port the parser." || s.Version != "1.0.102" || s.Unreadable != 0 {
		t.Errorf("%s %s %s %q %s %+v", s.Host, s.ID, s.CWD, s.Title, s.Version, s.Unreadable)
	}
	want := Usage{Input: 1000, CacheRead: 8000, Output: 10, Window: 128_000, Model: "claude-sonnet-4-5"}
	if !s.HasUsage || s.Usage != want {
		t.Errorf("usage %+v", s.Usage)
	}
	if u, ok := TailUsage(path); !ok || u != want {
		t.Errorf("tail %+v", u)
	}
	if at := CompactedAt(path); !at.IsZero() {
		t.Errorf("compacted at %s", at)
	}
	if said, err := LastAssistantTexts(path, 30); err != nil || len(said) != 1 || said[0] != "I look." {
		t.Errorf("said %q, %v", said, err)
	}
	if _, err := Clone(context.Background(), s, Change{ID: "x", Now: time.Now()}); err == nil {
		t.Error("a clone of a file is no session, and was made")
	}
}

func TestCopilotCompaction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		n    int
	}{
		"done":       {copilotBoundary, 1},
		"failed":     {strings.Replace(copilotBoundary, `"success":true`, `"success":false`, 1), 0},
		"an agent's": {strings.Replace(copilotBoundary, `"data"`, `"agentId":"a1","data"`, 1), 0},
		"quoted":     {`{"type":"user.message","data":{"content":"what is \"session.compaction_complete\"?"},"id":"9","timestamp":"2026-11-15T13:00:08.000Z"}` + "\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := copilotSession(t, copilotFile+c.line)
			s, err := Read(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			after, ok := LastCompaction(path, 1<<20)
			if len(s.Compactions) != c.n || ok != (c.n == 1) || CompactedAt(path).IsZero() != (c.n == 0) || s.HasUsage != (c.n == 0) {
				t.Errorf("%d compactions, %v, %s, usage %v", len(s.Compactions), ok, CompactedAt(path), s.HasUsage)
			}
			if c.n == 1 && after != s.Size {
				t.Errorf("%+v, %d of %d", s.Compactions[0], after, s.Size)
			}
		})
	}
}

func TestEventsOfCopilot(t *testing.T) {
	t.Parallel()
	var got []string
	// A message without a request for a tool ends the turn; a sub-agent's is none of it.
	const last = `{"type":"assistant.message","agentId":"a1","data":{"content":"Explored.","toolRequests":[]},"id":"10","timestamp":"2026-11-15T13:00:09.000Z"}
{"type":"assistant.message","data":{"content":"Done.","toolRequests":[]},"id":"11","timestamp":"2026-11-15T13:00:09.000Z"}
`
	_, err := Events(context.Background(), strings.NewReader(copilotFile+copilotBoundary+last), 0, Copilot, Want{}, func(e *Event) {
		got = append(got, strings.Join([]string{[...]string{"", "about", "user", "host", "agent", "call", "result", "used", "compacted", "summary", "interrupted", "ended"}[e.Kind], e.Tool, e.Text()}, "|"))
		if e.Kind == ToolEnded && !e.Failed {
			t.Error("a command that failed is taken for one that did not")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"about||", "user||Please port the parser.", "used||", "agent||I look.", "call|bash|go test ./...", "result||FAIL parser", "compacted||The parser is half ported.", "agent||Done.", "ended||"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestCopilotCountsItsSummaries: the request that wrote a summary is one, in the words of
// older versions, too; where nothing was told of it, none is counted.
func TestCopilotCountsItsSummaries(t *testing.T) {
	t.Parallel()
	for spent, want := range map[string]Usage{
		`"inputTokens":212569,"outputTokens":4152,"cacheReadTokens":193024,"cacheWriteTokens":7,"model":"gpt-5.5"`: {Input: 19538, CacheRead: 193024, CacheCreation: 7, Output: 4152, Model: "gpt-5.5"},
		`"input":1000,"output":500,"cachedInput":200`:                                                              {Input: 800, CacheRead: 200, Output: 500, Model: "claude-sonnet-4-5"},
		``: {},
	} {
		line := strings.Replace(copilotBoundary, `"success":true`, `"success":true,"compactionTokensUsed":{`+spent+`}`, 1)
		var got Usage
		compacted := false
		_, err := Events(context.Background(), strings.NewReader(copilotFile+line), 0, Copilot, Want{}, func(e *Event) {
			if e.Kind == Counted && e.Off > int64(len(copilotFile))-10 {
				got = e.Usage
			}
			compacted = compacted || e.Kind == Compacted
		})
		if err != nil || !compacted || got != want {
			t.Errorf("%s: %+v, %v", spent, got, err)
		}
		if u, ok := TailUsage(copilotSession(t, copilotFile+line)); ok {
			t.Errorf("after a compaction the context is as large as its request: %+v", u)
		}
	}
}

// TestCopilotNames: a session is called by the name that the host has for it.
func TestCopilotNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for id, name := range map[string]string{"a": "name: the title", "b": `name: "two: \"x\""`, "c": `name: 'it''s one'`, "d": "name: >-\n  folded", "e": "cwd: /w", "f": "name:"} {
		path := filepath.Join(dir, "session-state", id, "workspace.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("id: "+id+"\n"+name+"\nuser_named: true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Names(func(*host.Host) string { return dir })
	for id, want := range map[string]string{"a": "the title", "b": `two: "x"`, "c": "it's one", "d": "", "e": "", "f": ""} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
}

func TestSayOfCopilot(t *testing.T) {
	t.Parallel()
	var got []string
	for line := range strings.Lines(copilotFile + copilotBoundary) {
		s, _, ok := Say([]byte(line), Copilot, nil)
		if !ok {
			t.Fatalf("cannot read %s", line)
		}
		if s.Role != SaidNothing {
			got = append(got, s.Role.String()+": "+string(s.Text))
		}
	}
	want := []string{"user: Please port the parser.", "assistant: I look.\nbash\ngo test ./...", "tool: FAIL parser", "user: Explore. Never edit.", "summary: The parser is half ported."}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// Words of the user's that come without a prompt: with a refusal, as the answer to a
// question of the agent's tool, behind /compact. What the host says in his place is no
// word of his.
func TestCopilotWordsOfTheUser(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t1","name":"create","arguments":{"path":"a.py"}},{"toolCallId":"t2","name":"ask_user","arguments":{"message":"Which unit?"}},{"toolCallId":"t3","name":"create","arguments":{"path":"b.py"}}]}}`,
		`{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":false,"error":{"message":"The user rejected this tool call. User feedback: No, never floats.","code":"denied"}}}`,
		`{"type":"tool.execution_complete","data":{"toolCallId":"t2","success":true,"result":{"content":"User responded: Only whole cents","detailedContent":"User responded:\nunit: x"}}}`,
		`{"type":"tool.execution_complete","data":{"toolCallId":"t3","success":false,"error":{"message":"Parent directory does not exist","code":"failure"}}}`,
		`{"type":"user.message","data":{"content":"Keep going until it is done.","isAutopilotContinuation":true}}`,
		`{"type":"user.message","data":{"content":"How to read a PDF.","source":"skill-pdf"}}`,
		`{"type":"user.message","data":{"content":"Also the delta rates.","delivery":"steering"}}`,
		`{"type":"session.compaction_complete","data":{"success":true,"trigger":"manual","customInstructions":"keep the audit trail in mind","summaryContent":"S"}}`,
	}
	var got []string
	_, err := Events(context.Background(), strings.NewReader(strings.Join(lines, "\n")+"\n"), 0, Copilot, Want{}, func(e *Event) {
		kind := map[EventKind]string{UserSaid: "user", HostSaid: "host", ToolEnded: "result", Compacted: "compacted"}[e.Kind]
		if kind != "" {
			got = append(got, fmt.Sprint(kind, " ", e.How, " ", e.Failed, " ", e.Refused, " ", e.Text()))
		}
	})
	want := []string{
		"result 0 true true The user rejected this tool call. User feedback: No, never floats.", fmt.Sprint("user ", Rejected, " false false No, never floats."),
		"result 0 false false User responded: Only whole cents", fmt.Sprint("user ", Answered, " false false Only whole cents"),
		"result 0 true false Parent directory does not exist",
		"host 0 false false Keep going until it is done.", "host 0 false false How to read a PDF.",
		"user 0 false false Also the delta rates.",
		fmt.Sprint("user ", WithCompact, " false false keep the audit trail in mind"), "compacted 0 false false S",
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
