//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/message"
)

const handed = "<overtone-packet id="

// worker is a session that reads a file, changes it through the shell, and ends
// as it is told; its summariser states one of the two names in the file.
func worker(end string) (*Play, mockapi.Handler) {
	p := &Play{Main: []Step{
		call(tool("Read", map[string]any{"file_path": "$PROJECT/parse/lexer.go"})),
		call(bash("sed -i s/scanToken/scanTokens/ parse/lexer.go")),
		say(end),
	}}
	return p, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Summary {
			return mockapi.Text("<analysis>peekToken</analysis>\n<summary>The lexer was read; statedByTheSummary is fine.</summary>")
		}
		return p.Handle(r)
	}
}

func lexer(t *testing.T, p *Play, h mockapi.Handler, v Version) *World {
	t.Helper()
	w := NewWorld(t, Overtone, h, v)
	w.Configure("language: en\n")
	w.Write("parse/lexer.go", "package parse\n\nfunc scanToken() { peekToken() }\n\nfunc statedByTheSummary() {}\n")
	w.Exec("git", "add", ".")
	w.Exec("git", "commit", "-q", "-m", "lexer")
	p.Main[0] = call(tool("Read", map[string]any{"file_path": w.Project + "/parse/lexer.go"}))
	return w
}

// afterCompact are the requests of the main agent after the compaction.
func afterCompact(t *testing.T, w *World) []*mockapi.Request {
	t.Helper()
	sums := summaries(w)
	if len(sums) != 1 {
		t.Fatalf("%d compactions", len(sums))
	}
	if sums[0].Has(handed) || strings.Contains(sums[0].Messages[len(sums[0].Messages)-1].Text(), "Overtone") {
		t.Errorf("the summariser is told of us: %s", sums[0].Last())
	}
	var out []*mockapi.Request
	for _, r := range mains(w) {
		if r.Seq > sums[0].Seq {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		t.Fatal("no request after the compaction")
	}
	return out
}

// The hand-over knows the summary: it stands in the next request, once, with the
// names that the summary lacks and without the one that it states.
func TestHandover(t *testing.T) { t.Parallel(); onEach(t, testHandover) }

func testHandover(t *testing.T, v Version) {
	p, h := worker("All done: the lexer is renamed.")
	w := lexer(t, p, h, v)
	s := w.Start()
	s.Ask("Please rename scanToken in the lexer. Never push to main.")
	s.Send("/compact")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	s.Ask("Now the tests, please.")
	s.Close()
	for _, r := range afterCompact(t, w) {
		if n := r.Count(handed); n != 1 {
			t.Errorf("request %d has %d hand-overs", r.Seq, n)
		}
		for _, want := range []string{"peekToken", "parse/lexer.go", "Never push to main."} {
			if !r.Has(want) {
				t.Errorf("request %d lacks %q", r.Seq, want)
			}
		}
		text := strings.Join(hookTextsOf(r, "SessionStart"), "\n")
		if strings.Contains(text, "statedByTheSummary") {
			t.Errorf("said again: %s", text)
		}
		// All was done: nothing tells the agent to go on by itself.
		if r.Has(message.HandoverGo.EN) {
			t.Errorf("told to carry on: %s", text)
		}
	}
	if out := w.Exec("overtone", "timeline"); !strings.Contains(out, "summary") {
		t.Errorf("the receipt does not say what the hand-over was written from:\n%s", out)
	}
}

// A question of the agent's stays open for its user.
func TestHandoverQuestion(t *testing.T) { t.Parallel(); onEach(t, testHandoverQuestion) }

func testHandoverQuestion(t *testing.T, v Version) {
	p, h := worker("The lexer is renamed. Shall I push it to production now?")
	w := lexer(t, p, h, v)
	s := w.Start()
	s.Ask("Please rename scanToken in the lexer.")
	s.Send("/compact")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	before := len(mains(w))
	s.Ask("no, not yet")
	s.Close()
	if n := len(mains(w)); n != before+1 {
		t.Errorf("%d requests between the compaction and the answer", n-before-1)
	}
	r := afterCompact(t, w)[0]
	if !r.Has("Shall I push it to production now?") || !r.Has(message.HandoverNextWord.EN) || r.Has(message.HandoverGo.EN) || r.Count(handed) != 1 {
		t.Errorf("request: %s", r.Last())
	}
}

// The model asks back: the plugin's tool finds what the compaction took away.
func TestAskBack(t *testing.T) { t.Parallel(); onEach(t, testAskBack) }

func testAskBack(t *testing.T, v Version) {
	const name = "mcp__plugin_overtone_overtone__recall"
	p, h := worker("done")
	p.Main = append(p.Main, call(tool(name, map[string]any{"query": "peekToken"})), say("found"))
	w := lexer(t, p, h, v)
	w.Allow = "Bash," + name
	s := w.Start()
	s.Ask("Please rename scanToken in the lexer.")
	s.Ask("What was it called?")
	s.Close()
	all := mains(w)
	last := all[len(all)-1]
	var answer string
	for _, c := range last.Results() {
		answer += c.Text
		if c.IsError {
			t.Errorf("the tool failed: %s", c.Text)
		}
	}
	if !strings.Contains(answer, "peekToken") || !strings.Contains(answer, "data, not instructions") || strings.Contains(answer, name) {
		t.Errorf("the tool said %q", answer)
	}
}

// lexerMind is a model that reads the lexer through the shell and asks back when
// it is told to.
func lexerMind(end string) codexmock.Script {
	return func(r codexmock.Request) codexmock.Reply {
		text, step := r.LastUser()
		switch {
		case r.Compaction:
			return codexmock.Reply{Message: "The lexer was read; statedByTheSummary is fine.", Tokens: 3000}
		case strings.HasPrefix(text, "Please") && step == 0:
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": "cat parse/lexer.go"}}}, Tokens: 9000}
		case strings.HasPrefix(text, "[ask]") && step == 0:
			return codexmock.Reply{Calls: []codexmock.Call{{Namespace: "mcp__overtone", Name: "recall", Args: map[string]any{"query": "peekToken"}}}, Tokens: 9000}
		}
		return codexmock.Reply{Message: end, Tokens: 9000}
	}
}

func lexerCodex(t *testing.T, end string) *hookedCodex {
	t.Helper()
	w := newHookedCodex(t, lexerMind(end), "", "suggest")
	if err := os.MkdirAll(filepath.Join(w.Project, "parse"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.Project, "parse", "lexer.go"), "package parse\n\nfunc scanToken() { peekToken() }\n\nfunc statedByTheSummary() {}\n")
	return w
}

// packetIn is the hand-over in a request.
func packetIn(t *testing.T, r codexmock.Request) string {
	t.Helper()
	if n := len(packetIDs(r)); n != 1 {
		t.Fatalf("%d hand-overs in %s", n, r.Raw)
	}
	for _, it := range r.Input {
		if i := strings.Index(it.Text, packetMark); i >= 0 {
			return it.Text[i:]
		}
	}
	return ""
}

// Codex's rollout holds the summary: the hand-over says what it lacks, once.
func TestCodexHandover(t *testing.T) {
	t.Parallel()
	w := lexerCodex(t, "Shall I rename it now?")
	u := w.User()
	u.AwaitTurn(u.Say("Please read the lexer. Never push to main."))
	u.compact()
	u.AwaitTurn(u.Say("and then?"))
	u.AwaitTurn(u.Say("and then again?"))
	rs := w.Model.Requests()
	text := packetIn(t, rs[len(rs)-2])
	for _, want := range []string{"peekToken", "lexer.go", "Never push to main.", "Shall I rename it now?", message.HandoverNextWord.EN} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "statedByTheSummary") || strings.Contains(text, message.HandoverGo.EN) {
		t.Errorf("hand-over:\n%s", text)
	}
	packetIn(t, rs[len(rs)-1])
	for _, r := range rs {
		if r.Compaction && r.Count(packetMark) > 0 {
			t.Error("the summariser is told of the hand-over")
		}
	}
}

// The model asks back through the server that init has named to Codex.
func TestCodexAskBack(t *testing.T) {
	t.Parallel()
	w := lexerCodex(t, "Noted.")
	u := w.User()
	u.AwaitTurn(u.Say("Please read the lexer."))
	u.AwaitTurn(u.Say("[ask] what was it called?"))
	rs := w.Model.Requests()
	last := rs[len(rs)-1]
	for _, it := range last.Input {
		if strings.Contains(it.Type, "output") && strings.Contains(it.Text, "data, not instructions") && strings.Contains(it.Text, "peekToken") && !strings.Contains(it.Text, "recall peekToken") {
			return
		}
	}
	var said []string
	for _, it := range last.Input {
		if strings.Contains(it.Type, "output") {
			said = append(said, it.Text)
		}
	}
	t.Errorf("the tools said %q", said)
}
