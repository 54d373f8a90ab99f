package hook

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// claudeTale is a session file as Claude Code writes it: a request, a file that
// was read and edited, and whatever ends it.
func claudeTale(end ...string) string {
	lines := []string{
		`{"type":"user","uuid":"1","timestamp":"2026-03-01T11:59:01Z","message":{"role":"user","content":"Please speed up the parser. Never push to main."}}`,
		`{"type":"assistant","uuid":"2","timestamp":"2026-03-01T11:59:02Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"$DIR/project/parse/lexer.go"}}]}}`,
		`{"type":"user","uuid":"3","timestamp":"2026-03-01T11:59:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"func scanToken() {}\nfunc knownToSummary() {}"}]}}`,
		`{"type":"assistant","uuid":"4","timestamp":"2026-03-01T11:59:04Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"$DIR/project/parse/lexer.go","old_string":"x","new_string":"func scanToken() { peekToken() }"}}]}}`,
		`{"type":"user","uuid":"5","timestamp":"2026-03-01T11:59:05Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}}`,
	}
	return strings.Join(append(lines, end...), "\n") + "\n"
}

const (
	onTranscript = `"transcript_path":"$DIR/t.jsonl"`
	summariser   = onTranscript + `,"agent_id":"sum","agent_type":"","last_assistant_message":"<analysis>peekToken is mentioned here</analysis>\n<summary>The parser gets faster; knownToSummary is done.</summary>"`
)

func (p *place) tale(text string) { p.write("t.jsonl", strings.ReplaceAll(text, "$DIR", p.dir)) }

// told is the text for the model in a reply.
func told(t *testing.T, reply string) string {
	t.Helper()
	if reply == "" {
		return ""
	}
	var r struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil {
		t.Fatalf("%s: %v", reply, err)
	}
	return r.HookSpecificOutput.AdditionalContext
}

func (p *place) events(typ string) []store.Entry {
	p.t.Helper()
	list, _, err := p.session().Last(100, store.Filter{Types: []string{typ}})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// The summary is told between PreCompact and SessionStart: the hand-over says
// what it lacks, once.
func TestHandoverKnowsTheSummaryInTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.tale(claudeTale())
	p.call("user-prompt-submit", "claude-code", onTranscript+`,"prompt":"Please speed up the parser. Never push to main."`)
	if out, _ := p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"auto"`); out != "" {
		t.Errorf("the summariser's prompt gets %q", out)
	}
	if out, _ := p.call("subagent-stop", "claude-code", summariser); out != "" {
		t.Errorf("the summariser is told %q", out)
	}
	out, errs := p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	text := told(t, out)
	for _, want := range []string{"scanToken", "peekToken", "parse/lexer.go", "- “Please speed up the parser. Never push to main.”", message.HandoverGo.EN} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing\n%s\n%s", want, text, errs)
		}
	}
	if strings.Contains(text, "knownToSummary") {
		t.Errorf("said again:\n%s", text)
	}
	if out, _ := p.call("post-compact", "claude-code", onTranscript+`,"trigger":"auto","compact_summary":"<summary>The same.</summary>"`); out != "" {
		t.Errorf("post-compact says %q", out)
	}
	for range 2 {
		if out, _ := p.call("post-tool-use", "claude-code", onTranscript+`,"tool_name":"Read","tool_input":{}`); out != "" {
			t.Errorf("said twice: %q", out)
		}
	}
	if e := p.events(message.EventSessionRecovery); len(e) != 1 || e[0].Text("basis") != string(compact.BasisSummary) {
		t.Errorf("receipt: %v", e)
	}
	handed, ok := session.ReadHanded(p.session())
	if !ok || handed.Text != text || handed.Basis != compact.BasisSummary || !strings.Contains(handed.Summary, "knownToSummary") || strings.Contains(handed.Summary, "analysis") {
		t.Errorf("handed: %+v", handed)
	}

	// The next one names what it replaces.
	p.tale(claudeTale(`{"type":"user","uuid":"6","timestamp":"2026-03-01T11:59:06Z","message":{"role":"user","content":"Now the printer, please."}}`))
	p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"manual"`)
	p.call("subagent-stop", "claude-code", summariser)
	out, _ = p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	for _, want := range []string{"It replaces " + handed.ID + ".", "Now the printer, please.", "Never push to main."} {
		if !strings.Contains(told(t, out), want) {
			t.Errorf("%q is missing\n%s", want, told(t, out))
		}
	}
}

// A compaction that a person asks for opens no turn: what is handed over after it
// does not tell the agent to carry on, whatever it was at, in the saved text and in
// the one that knows the summary. After an automatic one it turns to the words that
// nobody has answered, also where the session's file does not have them yet.
func TestHandoverAfterAManualCompactionWaits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-code", "codex"} {
		for _, slice := range []string{claudeTale(), ""} {
			for trigger, want := range map[string]bool{"manual": true, "auto": false} {
				p := newPlace(t)
				p.tale(slice)
				p.call("user-prompt-submit", name, onTranscript+`,"prompt":"Stop here. Do not delete anything."`)
				p.call("pre-compact", name, onTranscript+`,"trigger":"`+trigger+`"`)
				out, errs := p.call("session-start", name, onTranscript+`,"source":"compact"`)
				text := told(t, out)
				if got := strings.Contains(text, message.HandoverNextWord.EN); text == "" || got != want || got == strings.Contains(text, message.HandoverCalled.EN) || strings.Contains(text, message.HandoverGo.EN) {
					t.Errorf("%s, %s:\n%s\n%s", name, trigger, text, errs)
				}
			}
		}
	}
}

// Files that commands changed count as changed, and what git knows to be committed
// does not: git was asked, not the session.
func TestHandoverSeesWhatCommandsChanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	project := filepath.Join(p.dir, "project")
	file := p.write("project/gen/table.go", "one")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=m", "-c", "user.email=m@example.test", "commit", "-qm", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = project, append(os.Environ(), "HOME="+p.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p.write("project/gen/table.go", "two, and longer")
	at := time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	p.tale(claudeTale())
	p.call("user-prompt-submit", "claude-code", onTranscript+`,"prompt":"Please speed up the parser."`)
	p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"auto"`)
	p.call("subagent-stop", "claude-code", summariser)
	out, _ := p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	if !strings.Contains(told(t, out), "changed, not committed: gen/table.go\n") {
		t.Errorf("%s", told(t, out))
	}
}

// Where the summary comes too late, what was saved is handed over and the rest
// follows, once.
func TestHandoverFollowsTheSummary(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.tale(claudeTale())
	p.call("user-prompt-submit", "claude-code", onTranscript+`,"prompt":"Please speed up the parser."`)
	p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"auto"`)
	out, _ := p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	if text := told(t, out); !strings.Contains(text, "speed up the parser") || strings.Contains(text, "peekToken") {
		t.Errorf("saved text: %s", text)
	}
	p.call("post-compact", "claude-code", onTranscript+`,"trigger":"auto","compact_summary":"<summary>knownToSummary is done.</summary>"`)
	p.call("post-compact", "claude-code", onTranscript+`,"trigger":"auto","compact_summary":"<summary>knownToSummary is done.</summary>"`)
	out, _ = p.call("post-tool-batch", "claude-code", onTranscript)
	text := told(t, out)
	if !strings.Contains(text, "peekToken") || !strings.Contains(text, `part="names"`) || strings.Contains(text, "knownToSummary") {
		t.Errorf("the rest: %q", text)
	}
	if out, _ := p.call("post-tool-batch", "claude-code", onTranscript); out != "" {
		t.Errorf("said twice: %q", out)
	}
	if e := p.events(message.EventSessionRecovery); len(e) != 1 || e[0].Text("basis") != string(compact.BasisSaved) {
		t.Errorf("receipt: %v", e)
	}
	if e := p.events(message.EventPacketLater); len(e) != 1 {
		t.Errorf("%d times later", len(e))
	}
}

// On a host whose file tells of the compaction before the session goes on, the
// summary is read there; an encrypted one is none, and the receipt says so.
func TestHandoverReadsTheRollout(t *testing.T) {
	t.Parallel()
	rollout := func(compacted string) string {
		return strings.Join([]string{
			`{"timestamp":"2026-03-01T12:00:00.000Z","type":"session_meta","payload":{"id":"s1"}}`,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Please speed up the parser."}]}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat parse/lexer.go\"]}","call_id":"c1"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"func scanToken() {}\nfunc knownToSummary() {}"}}`,
			compacted,
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}}`,
		}, "\n") + "\n"
	}
	for name, c := range map[string]struct {
		compacted string
		basis     compact.Basis
		again     bool // what the summary, or a message beside it, states is said again
	}{
		"a summary":           {`{"type":"compacted","payload":{"message":"knownToSummary is done."}}`, compact.BasisSummary, false},
		"one in the history":  {`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Another language model started: knownToSummary"}]}]}}`, compact.BasisSummary, false},
		"an encrypted one":    {`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"zzz"}]}}`, compact.BasisSlice, true},
		"messages beside it":  {`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Leave knownToSummary alone."}]},{"type":"compaction","encrypted_content":"zzz"}]}}`, compact.BasisSlice, false},
		"nothing at all told": {`{"type":"compacted","payload":{}}`, compact.BasisSlice, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.tale(rollout(""))
			p.call("user-prompt-submit", "codex", onTranscript+`,"turn_id":"1","prompt":"Please speed up the parser."`)
			p.call("pre-compact", "codex", onTranscript+`,"turn_id":"2","trigger":"auto"`)
			p.tale(rollout(c.compacted))
			p.call("post-compact", "codex", onTranscript+`,"turn_id":"2","trigger":"auto"`)
			out, errs := p.call("session-start", "codex", onTranscript+`,"source":"compact"`)
			text := told(t, out)
			if !strings.Contains(text, "scanToken") || strings.Contains(text, "knownToSummary") != c.again {
				t.Errorf("%s\n%s", text, errs)
			}
			if e := p.events(message.EventSessionRecovery); len(e) != 1 || e[0].Text("basis") != string(c.basis) {
				t.Errorf("receipt: %v", e)
			}
		})
	}
}

// Words and compactions of sub-agents are never the main thread's, on any host.
func TestCodexRow1_SubagentsWordsAreNotTheUsers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.tale(claudeTale())
			p.call("user-prompt-submit", name, onTranscript+`,"prompt":"Please speed up the parser."`)
			p.call("user-prompt-submit", name, onTranscript+`,"agent_id":"a1","prompt":"Explore the code. Never edit anything."`)
			if th := p.memory().Thread; th.Words.Newest().Text != "Please speed up the parser." || th.Words.Count != 1 {
				t.Errorf("%+v", th.Words)
			}
			for _, call := range []struct{ event, in string }{
				{"pre-compact", `"trigger":"auto","agent_id":"a1"`},
				{"session-start", `"source":"compact","agent_id":"a1"`},
				{"post-compact", `"trigger":"auto","agent_id":"a1"`},
				{"post-tool-use", `"tool_name":"Read","tool_input":{}`},
				{"user-prompt-submit", `"prompt":"and now?"`},
			} {
				if out, _ := p.call(call.event, name, onTranscript+","+call.in); strings.Contains(out, "overtone-packet") {
					t.Errorf("%s: %s", call.event, out)
				}
			}
			if m := p.memory(); m.Compactions != 0 || len(m.Thread.History) != 0 {
				t.Errorf("%d compactions", m.Compactions)
			}
		})
	}
}

// A manual compaction is the main thread's, whoever works behind it.
func TestNewest_Row1_ManualCompactionIsTheMainThreads(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.tale(claudeTale())
	p.call("user-prompt-submit", "claude-code", onTranscript+`,"prompt":"Please speed up the parser."`)
	p.call("post-tool-batch", "claude-code", onTranscript+`,"agent_id":"a1"`)
	p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"manual"`)
	p.call("subagent-stop", "claude-code", summariser)
	out, _ := p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	if !strings.Contains(told(t, out), "peekToken") {
		t.Errorf("%s", out)
	}
}

// Where the agent has asked its user something, nothing tells it to go on: not
// the hand-over, and not the workflow's text in front of it.
func TestHandoverLetsAQuestionStand(t *testing.T) {
	t.Parallel()
	asked := `{"type":"assistant","uuid":"6","timestamp":"2026-03-01T11:59:06Z","message":{"role":"assistant","content":[{"type":"text","text":"It is fast now. Should I push it?"}]}}`
	p := newPlace(t)
	p.tale(claudeTale(asked))
	p.call("user-prompt-submit", "claude-code", onTranscript+`,`+start)
	p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"manual"`)
	p.call("subagent-stop", "claude-code", summariser)
	out, _ := p.call("session-start", "claude-code", onTranscript+`,"source":"compact"`)
	text := told(t, out)
	if !strings.Contains(text, "Should I push it?") || strings.Contains(text, message.RecoveryDirective.EN) || strings.Contains(text, message.HandoverGo.EN) {
		t.Errorf("%s", text)
	}
	if !strings.Contains(text, "quick") {
		t.Errorf("the workflow is lost:\n%s", text)
	}
}

// The order not to ask stands in a workflow's recovery only where no word of the user's is
// the last, and the workflow does not rest: in the text that knows the summary, in the one
// that was saved before it, and in the one that comes with a prompt. The specifications'
// own call always has it.
func TestRecoveryOrders(t *testing.T) {
	t.Parallel()
	const word, ended = `"prompt":"what is the reviewer for?"`, `"last_assistant_message":"It reads."`
	hired := step{event: "pre-tool-use", in: hireDev}
	for name, c := range map[string]struct {
		steps   []step
		trigger string
		orders  bool
	}{
		"a stage was handed out":       {[]step{hired}, "auto", true},
		"his words let it go on":       {[]step{{event: "user-prompt-submit", in: word}, hired}, "auto", true},
		"the prompt that started it":   {nil, "auto", false},
		"he has said something":        {[]step{hired, {event: "user-prompt-submit", in: word}}, "auto", false},
		"he was answered, it rests":    {[]step{hired, {event: "user-prompt-submit", in: word}, {event: "stop", in: ended}, {event: "pre-tool-use", in: guardLook}}, "auto", false},
		"he lets it go on":             {[]step{hired, {event: "user-prompt-submit", in: word}, {event: "stop", in: ended}, {event: "user-prompt-submit", in: resume}, {event: "pre-tool-use", in: guardLook}}, "auto", true},
		"he asks for the compaction":   {[]step{hired}, "manual", false},
		"a note after the words of it": {[]step{hired, {event: "user-prompt-submit", in: noted}}, "auto", true},
	} {
		for _, how := range []string{"summary", "saved", "prompt", "note", "plain"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				p, h := newPlace(t), "claude-code"
				if how == "plain" {
					h = ""
				}
				p.tale(claudeTale())
				play := func(event, in string) string {
					out, _ := p.call(event, h, onTranscript+","+in)
					return out
				}
				play("user-prompt-submit", start)
				for _, st := range c.steps {
					play(st.event, st.in)
				}
				out := play("pre-compact", `"trigger":"`+c.trigger+`"`)
				if how == "summary" {
					p.call("subagent-stop", h, summariser)
				}
				orders := c.orders
				switch how {
				case "summary", "saved":
					out = play("session-start", `"source":"compact"`)
				case "prompt", "note":
					// Its hook has failed, as where the lock was busy.
					if err := session.Update(p.session(), session.Options{Now: p.now}, func(tx *session.Tx) error { return tx.Confirm("") }); err != nil {
						t.Fatal(err)
					}
					in := noted
					if how == "prompt" {
						in, orders = word, false
					}
					out = play("user-prompt-submit", in)
				case "plain":
					orders = true
				}
				if got := strings.Contains(out, message.RecoveryDirective.EN); got != orders || !strings.Contains(out, message.RecoveryTitle.EN) {
					t.Errorf("%s", out)
				}
			})
		}
	}
}

// What cannot be read leaves what was saved.
func TestHandoverFallsBack(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"no transcript":      `"source":"compact"`,
		"a missing one":      `"source":"compact","transcript_path":"$DIR/gone.jsonl"`,
		"one that is a fifo": `"source":"compact","transcript_path":"/dev/null"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.call("user-prompt-submit", "claude-code", `"prompt":"Please speed up the parser."`)
			p.call("pre-compact", "claude-code", `"trigger":"auto"`)
			p.call("subagent-stop", "claude-code", summariser)
			out, _ := p.call("session-start", "claude-code", in)
			if !strings.Contains(told(t, out), "speed up the parser") {
				t.Errorf("%s", out)
			}
		})
	}
}

// What PreCompact prints would stand in the summariser's instructions, and make the
// host throw away the summary that it has prepared. It prints nothing, whatever the
// state, beside the refusal in mode auto.
func TestNewest_PreCompactSaysNothing(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(p *place){
		"nothing known":  func(*place) {},
		"a conversation": func(p *place) { p.tale(claudeTale()) },
		"a workflow":     func(p *place) { p.call("user-prompt-submit", "claude-code", start) },
		"a stage at work": func(p *place) {
			p.call("user-prompt-submit", "claude-code", start)
			p.call("pre-tool-use", "claude-code", hireDev)
		},
		"a compaction that nobody followed": func(p *place) { p.call("pre-compact", "claude-code", `"trigger":"auto"`) },
		"a broken memory":                   func(p *place) { p.write(".overtone/sessions/s1/hooks.jsonl", "{{{\n") },
		"a broken workflow":                 func(p *place) { p.write(".overtone/sessions/s1/workflow.json", "{{{") },
		"a newer workflow":                  func(p *place) { p.write(".overtone/sessions/s1/workflow.json", `{"version":99}`) },
		"broken settings":                   func(p *place) { p.write(".overtone/config.yaml", ": : :") },
	} {
		for _, trigger := range []string{"manual", "auto", "", "never-heard-of"} {
			t.Run(name+"/"+trigger, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				prepare(p)
				if out, _ := p.call("pre-compact", "claude-code", onTranscript+`,"trigger":"`+trigger+`","custom_instructions":null`); out != "" {
					t.Errorf("prints %s", out)
				}
			})
		}
	}
}

// After a compaction the person is told of it in one line, once, unless a setting says no;
// a plain hook, which has no host, says nothing of its own.
func TestThePersonIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		host, trigger, settings, want string
	}{
		"automatic":        {"claude-code", "auto", "", message.CompactedAtWork.EN},
		"by hand":          {"claude-code", "manual", "", message.CompactedByHand.EN},
		"in Chinese":       {"claude-code", "manual", "language: zh-TW\n", message.CompactedByHand.ZH},
		"not wanted":       {"claude-code", "auto", "language: en\ncompact:\n  announce: false\n", ""},
		"nobody's program": {"", "auto", "", ""},
	} {
		p := newPlace(t)
		if tc.settings != "" {
			p.write(".overtone/config.yaml", tc.settings)
		}
		p.tale(claudeTale())
		p.call("user-prompt-submit", tc.host, onTranscript+`,"prompt":"Please speed up the parser. Never push to main."`)
		p.call("pre-compact", tc.host, onTranscript+`,"trigger":"`+tc.trigger+`"`)
		p.call("subagent-stop", tc.host, summariser)
		out, _ := p.call("session-start", tc.host, onTranscript+`,"source":"compact"`)
		person := gjson.Get(out, "systemMessage").String()
		if tc.host == "" {
			person = ""
		}
		if !strings.HasPrefix(person, tc.want) || (person == "") != (tc.want == "") || tc.want != "" && !strings.Contains(person, "overtone compact packet --session s1 --compaction -1") {
			t.Errorf("%s: %q\n%s", name, person, out)
		}
		if out, _ := p.call("session-start", tc.host, onTranscript+`,"source":"compact"`); tc.host != "" && gjson.Get(out, "systemMessage").Exists() {
			t.Errorf("%s: told twice: %s", name, out)
		}
	}
}
