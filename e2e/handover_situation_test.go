//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// answer waits until the host asks its front end for a tool's permission, and answers.
func (s *Session) answer(tool string, reply func(input gjson.Result) map[string]any) {
	s.w.t.Helper()
	e := s.Wait("the question for "+tool, func(e Event) bool {
		return e.Type == "control_request" && gjson.GetBytes(e.Raw, "request.tool_name").String() == tool
	})
	s.write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": gjson.GetBytes(e.Raw, "request_id").String(), "response": reply(gjson.GetBytes(e.Raw, "request.input")),
	}})
}

// lastHanded is the hand-over that the newest request of the main agent has.
func lastHanded(t *testing.T, w *World) string {
	t.Helper()
	list := mains(w)
	texts := hookTextsOf(list[len(list)-1], "SessionStart")
	if len(texts) != 1 {
		t.Fatalf("%d hand-overs in %s", len(texts), list[len(list)-1])
	}
	return texts[0]
}

// says asserts what a hand-over tells and what it does not.
func says(t *testing.T, text string, want, never []string) {
	t.Helper()
	for _, x := range want {
		if !strings.Contains(text, x) {
			t.Errorf("%q is missing in\n%s", x, text)
		}
	}
	for _, x := range never {
		if strings.Contains(text, x) {
			t.Errorf("%q is in\n%s", x, text)
		}
	}
}

// A user refuses a Write and says why, answers a question of the agent's tool, has a
// commit undone and another reverted, by the agent itself, compacts with words of his own, and types while the agent works: each
// stands in the hand-over that follows, and nothing that did not come to pass does.
func TestSituation(t *testing.T) { t.Parallel(); onAll(t, testSituation) }

func testSituation(t *testing.T, v Version) {
	running := make(chan struct{})
	p := &Play{Main: []Step{
		call(bash("echo 'func scanLedger() {}'")),
		nil, // the Write, of a file whose folder is known later
		call(tool("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
			"question": "Which unit do amounts have?", "header": "Unit", "multiSelect": false,
			"options": []any{map[string]any{"label": "Cents", "description": "whole cents"}, map[string]any{"label": "Euros", "description": "with a fraction"}},
		}}})),
		call(bash("echo b > beta.txt && git add beta.txt && git commit -q -m 'Add the beta ledger' && git log -1 --oneline")),
		call(bash("git reset -q --hard HEAD~1")),
		call(bash("echo c > gamma.txt && git add gamma.txt && git commit -q -m 'Add the gamma ledger' && git revert --no-edit HEAD")),
		say("The beta ledger is taken back."),
		say("Sure."),
		func(*mockapi.Request) mockapi.Reply {
			close(running)
			return mockapi.Calls(bash("until [ -e typed ]; do sleep 0.02; done; rm typed; echo 'func scanGamma() {}'")).Tokens(20_000)
		},
		func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(bash("echo one")).Tokens(80_000) },
		say("Both are looked at."),
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Configure("language: en\n")
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	p.Main[1] = call(tool("Write", map[string]any{"file_path": w.Project + "/ledger.py", "content": "total = 0.1"}))
	s := w.Start("--permission-prompt-tool", "stdio", "--permission-mode", "default")
	s.Send("Please write the ledger.")
	s.answer("Write", func(gjson.Result) map[string]any {
		words := "No, use the decimal module, never floats."
		if v.floor() { // its front ends write what its terminal does, and nothing else marks it
			words = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n" + words
		}
		return map[string]any{"behavior": "deny", "message": words}
	})
	s.answer("AskUserQuestion", func(in gjson.Result) map[string]any {
		return map[string]any{"behavior": "allow", "updatedInput": map[string]any{
			"questions": in.Get("questions").Value(), "answers": map[string]any{"Which unit do amounts have?": "Only whole cents, never fractions"},
		}}
	})
	res := s.Result()
	s.Send("/compact keep the audit trail in mind")
	s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
	s.Result()
	s.Ask("go on")
	says(t, lastHanded(t, w),
		[]string{"“keep the audit trail in mind”", "never floats", "“Only whole cents, never fractions”", "Which unit do amounts have?", "scanLedger", `Revert "Add the gamma ledger"`},
		[]string{"not committed", "Add the beta ledger", "ledger\"”, by", message.HandoverGo.EN})

	s.Send("Please look at the gamma rates.")
	receive(t, "running", running)
	s.Send("Also check the delta rates, and leave the old ones alone.")
	s.Control(map[string]any{"subtype": "get_context_usage"}) // answered after the message was read
	w.Write("typed", "")
	s.Result()
	s.Close()
	says(t, lastHanded(t, w), []string{"newest first\n- “Also check the delta rates, and leave the old ones alone.”", "Please look at the gamma rates.", "never floats"}, []string{"not committed"})
	knewTheSummary(t, w, res.SessionID, 2)

	// A copy of the session has another name, and the same user. 2.1.197 writes its lines,
	// the old ones among them, a tenth of a second after its first prompt: no model
	// answers and sums up as fast as the mock does.
	s = w.Start("--resume", res.SessionID, "--fork-session")
	fork := s.Ask("Please sum the rates up.").SessionID
	if fork == res.SessionID {
		t.Fatal("the fork is called like the original")
	}
	await(t, "the lines of the fork", func() bool { return w.holds(fork, `"DONE"`) })
	s.compact()
	s.Ask("go on")
	s.Close()
	says(t, lastHanded(t, w), []string{"newest first\n- “Please sum the rates up.”", "never floats"}, nil)
}

// ruleRows are rules that users set, in eight languages.
func ruleRows(t *testing.T) (rules []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "internal", "eval", "situation", "testdata", "rules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(row, "\n"), "\t"); f[0] == "unseen" {
			rules = append(rules, f[3])
		}
	}
	if len(rules) != 22 {
		t.Fatalf("%d rules", len(rules))
	}
	return rules
}

// kept counts the rules that a hand-over tells.
func kept(t *testing.T, text string, rules []string) (n int) {
	t.Helper()
	for _, rule := range rules {
		if strings.Contains(text, strings.Trim(rule, ".。")) {
			n++
		} else {
			t.Logf("not told: %s", rule)
		}
	}
	return n
}

// Rules in sessions of three prompts: each comes with one of them, and the hand-over
// tells it.
func TestSituationRules(t *testing.T) { t.Parallel(); onEach(t, testSituationRules) }

func testSituationRules(t *testing.T, v Version) {
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Summary {
			return mockapi.Text(SummaryText)
		}
		return mockapi.Text("Noted.").Tokens(10_000)
	}, v)
	w.Configure("language: en\n")
	all, n := ruleRows(t), 0
	s := w.Start()
	for rules := range slices.Chunk(all, 3) {
		for i := range 3 {
			prompt := "Please add part " + strconv.Itoa(i+1) + " of the report."
			if i < len(rules) {
				prompt += "\n" + rules[i]
			}
			s.Ask(prompt)
		}
		s.compact()
		s.Ask("go on")
		n += kept(t, lastHanded(t, w), rules)
		s.Ask("/clear")
	}
	s.Close()
	if n < 20 {
		t.Errorf("%d of %d rules are told", n, len(all))
	}
}

// codexLooks is a model that looks at the part that it is asked for, and at nothing else.
func codexLooks(r codexmock.Request) codexmock.Reply {
	text, step := r.LastUser()
	if r.Compaction {
		return codexmock.Reply{Message: "SUMMARY OF THE WORK", Tokens: 3000}
	}
	for _, part := range parts {
		if strings.Contains(text, "the "+part+" lexer") && step == 0 {
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": lookAt(part)}}}, Tokens: 9000}
		}
	}
	if strings.HasPrefix(text, "[undo]") {
		cmds := []string{"echo b > beta.txt && git add beta.txt && git commit -m 'Add the beta ledger'", "git reset -q --hard HEAD~1"}
		if step < len(cmds) {
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": cmds[step]}}}, Tokens: 9000}
		}
	}
	return codexmock.Reply{Message: "Seen.", Tokens: 9000}
}

// Codex, compacted four times: each hand-over knows its summary, tells of its own slice,
// and not of a commit that was undone. In a thread of its own the user refuses a patch,
// answers a question of the agent's tool, and types while the agent works. Words with a
// refusal, and words behind /compact, are nothing that Codex knows.
func TestCodexSituation(t *testing.T) { t.Parallel(); onCodexes(t, testCodexSituation) }

func testCodexSituation(t *testing.T, v Version) {
	work := newHeld(t)
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		text, step := r.LastUser()
		if !strings.Contains(text, "Please write the ledger") || r.Compaction {
			return codexLooks(r)
		}
		switch step {
		case 0:
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "apply_patch", Input: "*** Begin Patch\n*** Add File: ledger.py\n+total = 0.1\n*** End Patch\n"}}, Tokens: 9000}
		case 1:
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "request_user_input", Args: map[string]any{"questions": []any{map[string]any{
				"id": "unit", "header": "Unit", "question": "Which unit do amounts have?", "options": []any{
					map[string]any{"label": "Cents", "description": "whole cents"}, map[string]any{"label": "Euros", "description": "with a fraction"},
				},
			}}}}}, Tokens: 9000}
		}
		return codexmock.Reply{Message: "I look at the rates.", Wait: work.at(), Tokens: 9000}
	}, "", "suggest", v)
	w.tap.Answer = func(method string) any {
		switch method {
		case "item/fileChange/requestApproval":
			return map[string]any{"decision": "decline"}
		case "item/tool/requestUserInput":
			return map[string]any{"answers": map[string]any{"unit": map[string]any{"answers": []string{"Only whole cents, never fractions"}}}}
		}
		return nil
	}
	w.git("commit", "-q", "--allow-empty", "-m", "start")

	u := w.User()
	var thread struct{ Thread struct{ ID string } }
	u.call("thread/start", map[string]any{"cwd": w.Project, "model": "gpt-5.5", "approvalPolicy": "on-request", "sandbox": "read-only"}, &thread)
	u.Thread = thread.Thread.ID
	var began struct{ Turn struct{ ID string } }
	u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input("Please write the ledger."), "collaborationMode": codexMode("plan")}, &began)
	receive(t, "working", work.reached)
	u.call("turn/steer", map[string]any{"threadId": u.Thread, "expectedTurnId": began.Turn.ID, "input": input("No, use the decimal module, never floats.")}, nil)
	work.letGo()
	u.AwaitTurn(began.Turn.ID)
	if seen := w.Model.Requests(); seen[len(seen)-1].Count("patch rejected by user") != 1 {
		t.Errorf("the patch was not refused: %s", seen[len(seen)-1].Raw)
	}
	u.compact()
	u.AwaitTurn(u.Say("go on"))
	rs := w.Model.Requests()
	says(t, packetIn(t, rs[len(rs)-1]),
		[]string{"newest first\n- “No, use the decimal module, never floats.”", message.HandoverKeptWords.EN, "“Only whole cents, never fractions”", "Which unit do amounts have?"},
		[]string{"Please write the ledger.", "not committed", "edited: ledger.py", message.HandoverGo.EN, message.HandoverGo.ZH})

	u = w.User()
	for i, part := range parts {
		u.AwaitTurn(u.Say("[undo] the change of before, please"))
		ask := "Please write the " + part + " lexer. Never push to " + part + "."
		u.AwaitTurn(u.Say(ask))
		u.compact()
		u.AwaitTurn(u.Say("go on"))
		rs := w.Model.Requests()
		ids := packetIDs(rs[len(rs)-1])
		if len(ids) == 0 || !strings.HasSuffix(ids[len(ids)-1], "-"+strconv.Itoa(i+1)) {
			t.Fatalf("hand-overs %q after compaction %d", ids, i+1)
		}
		text := newestPacket(rs[len(rs)-1])
		says(t, text, []string{"“" + ask + "”", part + "Scan", "Never push to " + part}, []string{"Add the beta ledger", "not committed"})
		for _, old := range parts[:i] {
			if strings.Contains(text, old+"Scan") {
				t.Errorf("%s was handed over before:\n%s", old, text)
			}
		}
	}
	out := w.run("timeline", "--session", u.Thread, "--type", "session:recovery-delivered", "--json")
	if n := strings.Count(out, `"basis":"summary"`); n != len(parts) {
		t.Errorf("%d hand-overs know the summary:\n%s", n, out)
	}
}

// The rules on Codex, where a session of three prompts costs little: the model has each
// before it.
func TestCodexSituationRules(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, codexLooks, "", "suggest")
	all, n := ruleRows(t), 0
	for rules := range slices.Chunk(all, 3) {
		u := w.User()
		for i := range 3 {
			prompt := fmt.Sprintf("Please add part %d of the report.", i+1)
			if i < len(rules) {
				prompt += "\n" + rules[i]
			}
			u.AwaitTurn(u.Say(prompt))
		}
		u.compact()
		u.AwaitTurn(u.Say("go on"))
		rs := w.Model.Requests()
		// The host keeps what was typed, the hand-over quotes the newest of it.
		packetIn(t, rs[len(rs)-1])
		var read strings.Builder
		for _, it := range rs[len(rs)-1].Input {
			read.WriteString(it.Text + "\n")
		}
		n += kept(t, read.String(), rules)
	}
	if n < 20 {
		t.Errorf("%d of %d rules are told", n, len(all))
	}
}

// Copilot CLI, compacted four times: each hand-over tells of its own slice and of the
// rule that came with it, and not of a commit that was undone.
func TestCopilotSituation(t *testing.T) {
	t.Parallel()
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		last := r.Last()
		switch i := slices.IndexFunc(parts, func(part string) bool { return strings.Contains(last, "the "+part+" lexer") }); {
		case strings.Contains(last, "create a detailed summary"):
			return mockapi.Text("<overview>MOCK-SUMMARY: a lexer was looked at.</overview>").Tokens(1_000)
		case i >= 0 && !strings.Contains(last, handed):
			undone := "; echo b > beta.txt && git add . && git commit -q -m 'Add the beta ledger' && git log -1 --oneline; git reset -q --hard HEAD~1"
			return mockapi.Calls(tool("bash", map[string]any{"command": lookAt(parts[i]) + undone, "description": "look"})).Tokens(20_000)
		}
		return mockapi.Text("Seen.").Tokens(20_000)
	})
	c.exec("git", "commit", "-q", "--allow-empty", "-m", "start")
	c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en")
	args := []string{}
	for i, part := range parts {
		ask := "Please write the " + part + " lexer. Never push to " + part + "."
		c.ask(ask, args...)
		args = []string{"--continue"}
		c.compact()
		before := len(c.API.Requests())
		c.ask("go on", args...)
		list := c.API.Requests()
		if len(list) == before {
			t.Fatal("no request after the compaction")
		}
		r := list[len(list)-1]
		if n := r.Count(handed); n != 1 {
			t.Fatalf("%d hand-overs after compaction %d: %s", n, i+1, r)
		}
		says(t, handedTo(r), []string{"-" + strconv.Itoa(i+1) + `">`, "“" + ask + "”", part + "Scan", "Never push to " + part}, []string{"Add the beta ledger", "not committed"})
	}
	var sessions struct{ Sessions []struct{ ID string } }
	if err := json.Unmarshal([]byte(c.exec("overtone", "sessions", "--json")), &sessions); err != nil || len(sessions.Sessions) != 1 {
		t.Fatalf("sessions %+v, %v", sessions, err)
	}
	out := c.exec("overtone", "timeline", "--session", sessions.Sessions[0].ID, "--type", "session:recovery-delivered", "--json")
	if n := strings.Count(out, `"basis":"summary"`); n != len(parts) {
		t.Errorf("%d hand-overs know the summary:\n%s", n, out)
	}
}

// handedTo is the hand-over in a request, "" without one.
func handedTo(r *mockapi.Request) (text string) {
	for _, m := range r.Messages {
		if _, rest, ok := strings.Cut(m.Text(), handed); ok {
			text, _, _ = strings.Cut(rest, "</overtone-packet>")
		}
	}
	return text
}

// Terminal starts Copilot CLI in a terminal, in a folder that its user trusts.
func (c *copilot) Terminal(args ...string) *Terminal {
	c.t.Helper()
	trusted, _ := json.Marshal(map[string]any{"trustedFolders": []string{c.project}})
	if err := os.WriteFile(filepath.Join(c.home, ".copilot", "config.json"), trusted, 0o600); err != nil {
		c.t.Fatal(err)
	}
	s := openTerminal(c.t, func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = c.project, c.env
		return cmd
	}, c.home, strings.Join(append([]string{c.program, "--screen-reader"}, args...), " "))
	s.Wait("? help", 1)
	return s
}

// answerWith types a text into a question, and sends it when it is there.
func (s *Terminal) answerWith(text string) {
	s.t.Helper()
	s.write(text)
	s.Wait(text, 1)
	s.write(keyEnter)
}

// compactIn compacts in the terminal, and is the hand-over of the prompt that follows.
func (c *copilot) compactIn(s *Terminal, words string) string {
	c.t.Helper()
	done := c.compactions()
	c.orders(s, strings.TrimSpace("/compact "+words), func() bool { return c.compactions() > done })
	return handedTo(c.asks(s, "go on"))
}

// orders gives the host a command. The agent is at work until its last hook has ended,
// which nothing on the screen tells: then the host refuses, and is told once more.
func (c *copilot) orders(s *Terminal, line string, done func() bool) {
	c.t.Helper()
	const refuses = "cannotrunwhiletheagentisactive"
	seen := strings.Count(s.Screen(), refuses)
	s.Say(line)
	await(c.t, "the end of "+line, func() bool {
		if n := strings.Count(s.Screen(), refuses); n > seen {
			seen = n
			s.Say(line)
		}
		return done()
	})
}

// sessions counts those that the host has begun.
func (c *copilot) sessions() int {
	list, _ := filepath.Glob(filepath.Join(c.home, ".copilot", "session-state", "*"))
	return len(list)
}

// asks says something in the terminal, and is the request that it leads to.
func (c *copilot) asks(s *Terminal, text string) *mockapi.Request {
	c.t.Helper()
	before := len(c.API.Requests())
	s.Say(text)
	await(c.t, "the answer to "+text, func() bool { return len(c.API.Requests()) > before })
	list := c.API.Requests()
	return list[len(list)-1]
}

// Copilot CLI in its terminal: the user refuses a file and says why, answers a question
// of the agent's tool, types while a command runs, and compacts with words of his own:
// each stands in the hand-over. Then the rules, in sessions of three prompts.
func TestCopilotTerminal_Situation(t *testing.T) {
	t.Parallel()
	var c *copilot
	replies := 0
	c = newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		last := r.Last()
		switch {
		case strings.Contains(last, "create a detailed summary"):
			return mockapi.Text("<overview>MOCK-SUMMARY: it was looked at.</overview>").Tokens(1_000)
		case strings.HasSuffix(last, "Please write the ledger."):
			return mockapi.Calls(tool("create", map[string]any{"path": c.project + "/ledger.py", "file_text": "total = 0.1"})).Tokens(20_000)
		case strings.HasPrefix(last, "The user rejected"):
			return mockapi.Calls(tool("ask_user", map[string]any{"message": "Which unit do amounts have?", "requestedSchema": map[string]any{
				"type": "object", "properties": map[string]any{"unit": map[string]any{"type": "string", "title": "Unit"}}, "required": []string{"unit"},
			}})).Tokens(20_000)
		case strings.HasPrefix(last, "User responded"):
			return mockapi.Calls(tool("bash", map[string]any{"command": "touch running; until [ -e typed ]; do sleep 0.05; done; rm typed running", "description": "wait"})).Tokens(20_000)
		}
		replies++
		return mockapi.Text(fmt.Sprintf("Noted %d.", replies)).Tokens(20_000)
	})
	c.exec("git", "commit", "-q", "--allow-empty", "-m", "start")
	c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en")
	s := c.Terminal("--allow-tool", "shell")

	s.Say("Please write the ledger.")
	s.Wait("tell Copilot what to do differently", 1)
	s.Press("3")
	s.Wait("Current selection: 3.", 1)
	s.answerWith("No, use the decimal module, never floats.")
	s.Wait("Copilot needs information", 1)
	s.answerWith("Only whole cents, never fractions")
	await(t, "the command", func() bool { _, err := os.Stat(filepath.Join(c.project, "running")); return err == nil })
	s.Say("Also check the delta rates.")
	if err := os.WriteFile(filepath.Join(c.project, "typed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	await(t, "the agent's answer to it", func() bool {
		list := c.API.Requests()
		return list[len(list)-1].Has("Also check the delta rates.")
	})
	says(t, c.compactIn(s, "keep the audit trail in mind"),
		[]string{"typed with /compact: “keep the audit trail in mind”", "- “Also check the delta rates.”", "never floats", "Also check the delta rates.", "“Only whole cents, never fractions”", "Which unit do amounts have?"},
		[]string{"not committed", "edited: ledger.py", message.HandoverGo.EN})

	all, n := ruleRows(t), 0
	for rules := range slices.Chunk(all, 3) {
		begun := c.sessions()
		c.orders(s, "/clear", func() bool {
			now := s.Screen() // what is typed too early is said in the old session
			return c.sessions() > begun && strings.Contains(now, "Startedafreshsession") && !strings.Contains(now, "goon")
		})
		for i := range 3 {
			prompt := fmt.Sprintf("Please add part %d of the report.", i+1)
			if i < len(rules) {
				prompt += " " + rules[i]
			}
			c.asks(s, prompt)
		}
		text := c.compactIn(s, "")
		told := kept(t, text, rules)
		if n += told; told < len(rules) {
			t.Log(text)
		}
	}
	if n < 20 {
		t.Errorf("%d of %d rules are told", n, len(all))
	}
}
