package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/session"
)

// served sends lines to one process and gives its answers, one for each.
func (p *place) served(lines ...string) (answers []gjson.Result) {
	p.t.Helper()
	stdout, stderr := p.raw("serve", "opencode", strings.ReplaceAll(strings.Join(lines, "\n"), "$DIR", p.dir)+"\n")
	if stderr != "" {
		p.t.Errorf("it complains: %s", stderr)
	}
	for line := range strings.Lines(stdout) {
		answers = append(answers, gjson.Parse(line))
	}
	if len(answers) != len(lines) {
		p.t.Fatalf("%d answers to %d calls: %s", len(answers), len(lines), stdout)
	}
	return answers
}

func ask(id int, event, input, more string) string {
	return fmt.Sprintf(`{"id":%d,"event":%q,"input":{"session_id":"ses_1","cwd":"$DIR/project"%s}%s}`, id, event, input, more)
}

const servedSession = `,"session":{"id":"ses_1","directory":"$DIR/project","title":"lexer","version":"1.18.33"}`

func message1(id, role, text, more string) string {
	return fmt.Sprintf(`{"info":{"id":"msg_%s","role":%q,"time":{"created":1772366400000,"completed":1772366401000}%s},"parts":[{"id":"prt_%s","type":"text","text":%q}]}`, id, role, more, id, text)
}

// One process answers call after call: what the host tells of a session goes into its
// mirror, and after a compaction the hand-over is written from it.
func TestServe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	said := message1("1", "user", "write a lexer with scanToken", "") + "," +
		message1("2", "assistant", "The lexer is there.", `,"modelID":"m1","tokens":{"input":50000,"output":20}`)
	answers := p.served(
		`{"id":1,"event":"hello","input":{}}`,
		ask(2, "user-prompt-submit", `,"prompt":"write a lexer with scanToken"`, ""),
		ask(3, "stop", `,"last_assistant_message":"The lexer is there."`, servedSession+`,"messages":[`+message1("2", "assistant", "x", "")+`],"all":false`),
		ask(4, "stop", `,"last_assistant_message":"The lexer is there."`, servedSession+`,"messages":[`+said+`],"all":true`),
		`no JSON`,
		ask(6, "pre-compact", `,"trigger":"manual"`, ""),
		// Typed while the host writes its summary.
		ask(7, "user-prompt-submit", `,"prompt":"and then?"`, ""),
		ask(8, "subagent-stop", `,"last_assistant_message":"SUMMARY"`, ""),
		ask(9, "session-start", `,"source":"compact"`, ""),
		ask(10, "session-start", `,"source":"compact"`, ""),
	)
	for i, a := range answers {
		if want := int64(i + 1); a.Get("id").Int() != want && i != 4 || !a.Get("out").IsObject() {
			t.Errorf("answer %d: %s", i, a)
		}
	}
	if a := answers[0].Get("out.agents.overtone:developer"); a.Get("mode").String() != "subagent" || a.Get("prompt").String() == "" {
		t.Errorf("hello: %s", a)
	}
	if !answers[2].Get("out.gap").Bool() || answers[3].Get("out.gap").Bool() {
		t.Errorf("gaps: %s %s", answers[2], answers[3])
	}
	if text := answers[8].Get("out.context").String(); !strings.Contains(text, "scanToken") || !strings.Contains(text, "<overtone-packet") {
		t.Errorf("the hand-over: %s", text)
	}
	if answers[9].Get("out.context").Exists() {
		t.Errorf("handed over twice: %s", answers[9])
	}
	files, _ := filepath.Glob(filepath.Join(p.dir, ".overtone", "mirror", "opencode", "*", "ses_1.jsonl"))
	if len(files) != 1 {
		t.Fatalf("mirrors: %v", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || bytes.Count(data, []byte("\n")) != 3 {
		t.Errorf("%v\n%s", err, data)
	}
}

// A message that is typed right behind an answer tells the end of the turn before it: what
// its few words answer stands in the hand-over.
func TestServeTypedBehind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	answers := p.served(
		ask(1, "user-prompt-submit", `,"prompt":"write a lexer","turn_id":"msg_1"`, ""),
		ask(2, "user-prompt-submit", `,"prompt":"the second","turn_id":"msg_3","last_assistant_message":"Shall I take zephyrine or quince?"`, ""),
		ask(3, "pre-compact", `,"trigger":"auto"`, ""),
		ask(4, "subagent-stop", `,"last_assistant_message":"SUMMARY"`, ""),
		ask(5, "session-start", `,"source":"compact"`, ""),
	)
	if text := answers[4].Get("out.context").String(); !strings.Contains(text, "zephyrine") || strings.Contains(text, "while you worked") {
		t.Errorf("the hand-over: %s", text)
	}
}

// A host that was killed in an answer and compacts before the next one is at work on
// nothing: the hand-over knows what the user has said since.
func TestServeAfterACut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cut := strings.Replace(message1("2", "assistant", "I beg", `,"modelID":"m1"`), `,"completed":1772366401000`, "", 1)
	said := message1("1", "user", "write a lexer", "") + "," + cut + "," + message1("3", "user", "name it zephyrine", "")
	answers := p.served(
		ask(1, "pre-compact", `,"trigger":"auto"`, servedSession+`,"messages":[`+said+`],"all":true,"settled":true`),
		ask(2, "subagent-stop", `,"last_assistant_message":"SUMMARY"`, ""),
		ask(3, "session-start", `,"source":"compact"`, ""),
	)
	if text := answers[2].Get("out.context").String(); !strings.Contains(text, "zephyrine") {
		t.Errorf("the hand-over: %s", text)
	}
}

// An agent of a stage that was started and has failed has died, which counts. One that
// somebody stopped, or that was never started, has not; either way its stage is free.
func TestServeAgentFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response string
		deaths   int
	}{
		"of an error":    {`{"metadata":{"sessionId":"ses_2"},"died_of":"APIError"}`, 1},
		"with the turn":  {`{"metadata":{"sessionId":"ses_2","interrupted":true}}`, 0},
		"in its session": {`{"metadata":{"sessionId":"ses_2"},"died_of":"MessageAbortedError"}`, 0},
		"never started":  {`{"metadata":{}}`, 0},
	} {
		p := newPlace(t)
		const task = `,"tool_name":"task","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"go"}`
		p.served(
			ask(1, "user-prompt-submit", `,"prompt":"[workflow:quick] speed up the parser"`, ""),
			ask(2, "pre-tool-use", task, ""),
			ask(3, "post-tool-use-failure", task+`,"error":"Subagent failed","tool_response":`+c.response, ""),
			ask(4, "post-tool-use-failure", task+`,"error":"Subagent failed","tool_response":`+c.response, ""),
		)
		s, err := session.Peek(p.sessionOf("ses_1"))
		if err != nil || s.Crashes["DEV"] != c.deaths || len(s.ActiveStages) != 0 {
			t.Errorf("%s: %v, deaths %v, at work %v", name, err, s.Crashes, s.ActiveStages)
		}
	}
}

// This host has no slash commands of ours: no text names one.
func TestServeNamesCommandsThatAreThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	answers := p.served(
		ask(1, "user-prompt-submit", `,"prompt":"[workflow:quick] speed up the parser"`, ""),
		ask(2, "pre-tool-use", `,"tool_name":"write","tool_use_id":"c1","tool_input":{"filePath":"$DIR/project/a.go","content":"x"}`, ""),
		ask(3, "user-prompt-submit", `,"prompt":"[workflow:standard] and the lexer"`, ""),
		ask(4, "stop", `,"last_assistant_message":"Shall I go on?"`, ""),
		ask(5, "stop", `,"last_assistant_message":"Shall I go on?"`, ""),
	)
	n := 0
	for _, a := range answers {
		n += strings.Count(a.Raw, "`overtone workflow cancel`")
		if strings.Contains(a.Raw, "/overtone:") {
			t.Errorf("%s", a)
		}
	}
	if n < 3 {
		t.Errorf("the way out is named %d times: %v", n, answers)
	}
}

// In mode auto the plugin is told to compact at a boundary, and to hold the host back
// until then; near the limit it is not held back.
func TestSteers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode, tool    string
		used          int
		compact, hold bool
	}{
		"a commit":        {"auto", "git commit -m x", 70_000, true, false},
		"no boundary":     {"auto", "ls", 45_000, false, true},
		"room":            {"auto", "git commit -m x", 5_000, false, true},
		"near the limit":  {"auto", "ls", 199_000, true, false},
		"another mode":    {"suggest", "git commit -m x", 70_000, false, false},
		"nothing is told": {"auto", "ls", 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(".overtone/config.yaml", "language: en\ncompact:\n  mode: "+tc.mode+"\n")
			p.now = p.now.AddDate(0, 0, 1)
			window, session := int64(200_000), ""
			if tc.used > 0 {
				session = servedSession + `,"messages":[` + message1("1", "user", "go", "") + "," +
					message1("2", "assistant", "x", fmt.Sprintf(`,"modelID":"m1","tokens":{"input":%d,"output":20}`, tc.used)) + `],"all":true`
			}
			if tc.used < 190_000 {
				window = 100_000
			}
			about := fmt.Sprintf(`,"model":"m1","context_window":{"context_window_size":%d}`, window)
			answers := p.served(
				ask(1, "user-prompt-submit", `,"prompt":"write a lexer"`+about, ""),
				ask(2, "post-tool-use", about+`,"tool_name":"bash","tool_use_id":"c1","tool_input":{"command":"`+tc.tool+`"},"tool_response":{"output":"[main 1a2b3c4] x\n 1 file changed\n","metadata":{"exit":0}}`, session),
			)
			out := answers[1].Get("out")
			if out.Get("compact").Bool() != tc.compact || out.Get("hold").Bool() != tc.hold || out.Get("steers").Bool() != (tc.mode == "auto") {
				t.Errorf("it says %s", out)
			}
		})
	}
}
