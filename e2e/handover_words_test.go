//go:build e2e

package e2e

import (
	"encoding/base64"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// typed is a prompt as people type them.
type typed struct {
	text  string
	words string // that are quoted as the latest; "" for all
}

// typedPrompts begin like something else than words: a file, a picture, a tag; or the
// request stands before or behind a long log, or a very long one. Each is followed by a
// compaction at once, and the hand-over quotes it as what was said last.
func typedPrompts() []typed {
	log := strings.Repeat("2026-01-02T10:00:00Z INFO worker 7 took job 4711 from the queue\n", 320)
	return []typed{
		{"@main.py add type hints, and never push", ""},
		{"[Image #1] make the header look like this, in blue", ""},
		{log + "Why does job 4711 come back?", "Why does job 4711 come back?"},
		{"Please look why job 4712 hangs.\n" + log, "Please look why job 4712 hangs."},
		{strings.Repeat(log, 48) + "Why is job 4715 lost?", "Why is job 4715 lost?"}, // a megabyte
		{"<div> around the header is too wide, make it narrow", ""},
	}
}

// picture is what comes with a prompt that speaks of one, "" for others.
func (p typed) picture() string {
	if strings.HasPrefix(p.text, "[Image #1]") {
		return "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	}
	return ""
}

// quoted asserts that a hand-over quotes the prompt as what was said last.
func (p typed) quoted(t *testing.T, text string) {
	t.Helper()
	words := p.words
	if words == "" {
		words = p.text
	}
	_, rest, _ := strings.Cut(text, message.HandoverWords.EN+"\n")
	if line, _, _ := strings.Cut(rest, "\n"); !strings.Contains(line, words) {
		t.Errorf("%q is not the latest in\n%s", words, text)
	}
}

func TestTypedPrompts(t *testing.T) { t.Parallel(); onEach(t, testTypedPrompts) }

func testTypedPrompts(t *testing.T, v Version) {
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if r.Kind == mockapi.Summary {
			return mockapi.Text(SummaryText)
		}
		return mockapi.Text("Noted.").Tokens(10_000)
	}, v)
	w.Configure("language: en\n")
	w.Write("main.py", "def main(): pass\n")
	prose := strings.Repeat("the worker has taken the next job from its queue and is done with it\n", 300)
	s := w.Start()
	s.Ask("Please write the parser.")
	for _, p := range append(typedPrompts(),
		typed{prose + "Why does job 4713 come back?", "Why does job 4713 come back?"},
		typed{"Please look why job 4714 hangs.\n" + prose, "Please look why job 4714 hangs."},
		typed{"<skill> has to be written in lower case", "skill> has to be written in lower case"}, // its edge is taken off
		typed{`{"amount": 1} is what I get, it must be 100`, ""},
		typed{"$PATH is not set in the service", ""},
		typed{"+1 for the second proposal", ""},
		typed{"API Error is what I see in the log, look at it", ""},
	) {
		content := []any{map[string]any{"type": "text", "text": p.text}}
		if data := p.picture(); data != "" {
			content = append(content, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": data}})
		}
		s.write(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}})
		s.Result()
		s.compact()
		s.Ask("go on")
		p.quoted(t, lastHanded(t, w))
	}
	s.Close()
}

// In one session: the user stops a command by Esc and asks something instead, at which
// the host compacts; then a plan waits for his approval, is approved, and the host compacts
// while it is carried out. Each time the hand-over tells whose word is next.
func TestInterruptedAndPlanned(t *testing.T) { t.Parallel(); onEach(t, testInterruptedAndPlanned) }

func testInterruptedAndPlanned(t *testing.T, v Version) {
	const plan = "# Plan\n1. Rename scanLedger to readLedger.\n2. Keep the old name for a release."
	full := func(command string) Step {
		return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(bash(command)).Tokens(80_000) }
	}
	light := func(command string) Step {
		return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(bash(command)).Tokens(20_000) }
	}
	p := &Play{Main: []Step{
		light("echo 'func scanLedger() {}'"), light("echo two"), full("touch began; sleep 300"),
		func(*mockapi.Request) mockapi.Reply { return mockapi.Text("It is ledger.go.").Tokens(20_000) },
		light("echo three"), call(tool("ExitPlanMode", map[string]any{"plan": plan})),
		light("echo 'func readLedger() {}'"), full("echo four"), say("It is renamed."),
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Configure("language: en\n")
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	s := w.Start("--permission-prompt-tool", "stdio")
	stands := func(state compact.State) { // its file may lag behind
		id := w.session()
		await(t, string(state), func() bool {
			return gjson.Get(w.Exec("overtone", "compact", "packet", "--session", id, "--json"), "situation.state").String() == string(state)
		})
	}
	s.Send("Please write the ledger.")
	await(t, "command", func() bool { _, err := os.Stat(filepath.Join(w.Project, "began")); return err == nil })
	s.Control(map[string]any{"subtype": "interrupt"})
	s.Result()
	stands(compact.StateInterrupted)
	s.Ask("Which file is that in?")
	says(t, lastHanded(t, w), []string{"newest first\n- “Which file is that in?”\n- “Please write the ledger.”", message.HandoverCalled.EN}, nil)

	s.Control(map[string]any{"subtype": "set_permission_mode", "mode": "plan"})
	s.Send("Plan how to rename it, and change nothing before I approve it.")
	s.answer("ExitPlanMode", func(gjson.Result) map[string]any {
		stands(compact.StateAsked)
		return map[string]any{"behavior": "allow", "updatedInput": map[string]any{"plan": plan}}
	})
	s.Result()
	s.Close()
	says(t, lastHanded(t, w), []string{
		"newest first\n- a plan that the user approved: “# Plan 1. Rename scanLedger to readLedger.", "“Plan how to rename it, and change nothing before I approve it.”", message.HandoverGo.EN,
	}, nil)
}

// newestPacket is the last of the hand-overs in a request: Codex keeps the earlier ones.
func newestPacket(r codexmock.Request) (text string) {
	for _, it := range r.Input {
		if at := strings.LastIndex(it.Text, packetMark); at >= 0 {
			text = it.Text[at:]
		}
	}
	return text
}

// codexMode is a mode of collaboration, plan or default.
func codexMode(name string) map[string]any {
	return map[string]any{"mode": name, "settings": map[string]any{"model": "gpt-5.5", "reasoning_effort": nil, "developer_instructions": nil}}
}

// The same on Codex, and in the thread of it: words that are typed in mid-turn, at which
// the host compacts; Esc and a question, at which it does so; a plan that waits for its
// user, and that he approves.
func TestCodexTypedPrompts(t *testing.T) {
	t.Parallel()
	shell := func(cmd string, tokens int) codexmock.Reply {
		return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": cmd}}}, Tokens: tokens}
	}
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		text, step := r.LastUser()
		switch {
		case r.Compaction:
			return codexmock.Reply{Message: "SUMMARY OF THE WORK", Tokens: 3000}
		case text == "Please write the ledger." && step == 0:
			return shell("until [ -e typed ]; do sleep 0.02; done; rm typed", 80_000)
		case text == "Please write the scanner." && step == 0:
			return shell("sleep 300", 80_000)
		case text == "Plan how to rename it, and change nothing before I approve it.":
			return codexmock.Reply{Message: "Here it is.\n<proposed_plan>\n1. Rename scanLedger to readLedger.\n</proposed_plan>\n", Tokens: 9000}
		case text == "Implement the plan." && step == 0:
			return shell("echo 'func readLedger() {}'", 80_000)
		}
		return codexmock.Reply{Message: "Noted.", Tokens: 9000}
	}, "model_auto_compact_token_limit = 70000\n", "suggest")
	newest := func() string {
		rs := w.Model.Requests()
		return newestPacket(rs[len(rs)-1])
	}
	reads := func(text string) {
		t.Helper()
		rs := w.Model.Requests()
		if last, _ := rs[len(rs)-1].LastUser(); last != text {
			t.Errorf("the model reads last %q", last)
		}
	}
	u := w.User()
	u.AwaitTurn(u.Say("Please write the parser."))
	for _, p := range typedPrompts() {
		items := input(p.text)
		if data := p.picture(); data != "" {
			items = append(items, map[string]any{"type": "image", "url": "data:image/png;base64," + data})
		}
		var r struct{ Turn struct{ ID string } }
		u.call("turn/start", map[string]any{"threadId": u.Thread, "input": items}, &r)
		u.AwaitTurn(r.Turn.ID)
		u.compact()
		u.AwaitTurn(u.Say("go on"))
		p.quoted(t, newest())
	}

	runs := func(n note) bool { return n.Method == "item/started" && n.Item.Type == "commandExecution" }
	turn := u.Say("Please write the ledger.")
	u.Await("the command", runs)
	u.call("turn/steer", map[string]any{"threadId": u.Thread, "expectedTurnId": turn, "input": input("STOP, do not push anything.")}, nil)
	w.write(filepath.Join(w.Project, "typed"), "")
	u.AwaitTurn(turn)
	// The host has it wait for the compaction; the model reads it behind the hand-over.
	reads("STOP, do not push anything.")
	says(t, newest(), []string{"newest first\n- “Please write the ledger.”", message.HandoverGo.EN}, nil)

	turn = u.Say("Please write the scanner.")
	u.Await("the command", runs)
	u.call("turn/interrupt", map[string]any{"threadId": u.Thread, "turnId": turn}, nil)
	u.AwaitTurn(turn)
	u.AwaitTurn(u.Say("Which file is that in?")) // at which the host compacts first
	reads("Which file is that in?")
	// What the host keeps is not quoted again; what it had to drop for the long prompts is.
	says(t, newest(), []string{"newest first\n- “Please write the scanner.”, after you had said “Noted.”\n", "“Please write the parser.”", message.HandoverKeptWords.EN, message.HandoverNextWord.EN}, []string{"STOP, do not push"})
	if rs := w.Model.Requests(); rs[len(rs)-1].Count("STOP, do not push anything.") == 0 {
		t.Errorf("the host has not kept it: %s", rs[len(rs)-1].Raw)
	}

	mode := func(name, text string) {
		var r struct{ Turn struct{ ID string } }
		u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input(text), "collaborationMode": codexMode(name)}, &r)
		u.AwaitTurn(r.Turn.ID)
	}
	mode("plan", "Plan how to rename it, and change nothing before I approve it.")
	says(t, w.run("compact", "packet", "--session", u.Thread), []string{"newest first\n- “Plan how to rename it, and change nothing before I approve it.”", message.HandoverNextWord.EN}, nil)
	mode("default", "Implement the plan.")
	says(t, newest(), []string{"newest first\n- “Implement the plan.”, after you had said “Here it is. <proposed_plan> 1. Rename scanLedger to readLedger.", message.HandoverGo.EN}, nil)
}

// newestHanded is the last of the hand-overs in a request. Gemini CLI has it in a tool's
// answer, or behind a prompt, escaped.
func (h *heard) newestHanded() (text string) {
	for _, said := range h.Texts {
		if gjson.Valid(said) {
			said = gjson.Get(said, "output").String()
		}
		said = html.UnescapeString(said)
		if at := strings.LastIndex(said, handed); at >= 0 {
			text, _, _ = strings.Cut(said[at:], "</overtone-packet>")
		}
	}
	return text
}

// ownSlice asserts that the hand-over after the i-th part tells of that one alone.
func ownSlice(t *testing.T, text string, i int) {
	t.Helper()
	for k, part := range parts {
		if (k == i) != strings.Contains(text, part+"Scan") {
			t.Errorf("part %d, of %s:\n%s", i, part, text)
		}
	}
}

// The same on opencode, each hand-over of its own slice; and words in mid-turn, at which
// the host compacts, Esc and a question, its plan agent.
func TestOpencodeTypedPrompts(t *testing.T) {
	t.Parallel()
	part := "" // that the next answer looks at
	s := newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare:
			return speak("MOCK-SUMMARY: it was looked at.", 1_000)
		case part != "":
			command := lookAt(part)
			part = ""
			return callTool("bash", map[string]any{"command": command, "description": "look"}, 5_000)
		case strings.Contains(last, "Please write the ledger."):
			return callTool("bash", map[string]any{"command": "until [ -e typed ]; do sleep 0.02; done; rm typed", "description": "wait"}, 95_000)
		case strings.Contains(last, "Please write the scanner."):
			return callTool("bash", map[string]any{"command": "tail -f /dev/null", "description": "wait"}, 5_000)
		}
		return speak("Noted.", 5_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	if err := os.WriteFile(filepath.Join(s.project, "main.py"), []byte("def main(): pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.serve()
	id := o.session()
	text := func(said string) map[string]any { return map[string]any{"type": "text", "text": said} }
	compacted := func() string {
		o.compact(id)
		o.say(id, "go on")
		return o.API.last().newestHanded()
	}
	o.say(id, "Please write the parser.")
	for i, p := range typedPrompts() {
		list := []any{text(p.text)}
		if data := p.picture(); data != "" {
			list = append(list, map[string]any{"type": "file", "mime": "image/png", "filename": "header.png", "url": "data:image/png;base64," + data})
		}
		if strings.HasPrefix(p.text, "@main.py") {
			list = append(list, map[string]any{"type": "file", "mime": "text/plain", "filename": "main.py", "url": "file://" + filepath.Join(s.project, "main.py")})
		}
		if i < len(parts) {
			part = parts[i]
		}
		o.post("/session/"+id+"/message", map[string]any{"parts": list})
		handed := compacted()
		p.quoted(t, handed)
		ownSlice(t, handed, i)
	}

	running := func() bool { return strings.Contains(o.get("/session/"+id+"/message").Raw, `"status":"running"`) }
	later := func(said string) {
		o.post("/session/"+id+"/prompt_async", map[string]any{"parts": []any{text(said)}})
	}
	later("Please write the ledger.")
	o.eventually("the tool runs", running)
	later("STOP, do not push anything.")
	if err := os.WriteFile(filepath.Join(s.project, "typed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.say(id, "thanks") // the host answers all three behind the compaction
	says(t, o.API.last().newestHanded(), []string{"- “STOP, do not push anything.”\n- “Please write the ledger.”", message.HandoverCalled.EN}, nil)

	later("Please write the scanner.")
	o.eventually("the tool runs", running)
	o.post("/session/"+id+"/abort", nil)
	says(t, s.exec("", "overtone", "compact", "packet", "--session", id), []string{"newest first\n- “Please write the scanner.”", "the user has interrupted the turn"}, nil)
	o.say(id, "Which file is that in?")
	says(t, compacted(), []string{"newest first\n- “Which file is that in?”\n- “Please write the scanner.”", message.HandoverNextWord.EN}, nil)

	o.post("/session/"+id+"/message", map[string]any{"agent": "plan", "parts": []any{text("Plan how to rename it, and change nothing before I approve it.")}})
	says(t, compacted(), []string{"newest first\n- “Plan how to rename it, and change nothing before I approve it.”", message.HandoverNextWord.EN}, nil)
	o.say(id, "I approve it, go ahead.")
	says(t, compacted(), []string{"newest first\n- “I approve it, go ahead.”, after you had said “Noted.”\n", "“Plan how to rename it, and change nothing before I approve it.”"}, nil)
}

// The same on Gemini CLI, in one session that goes on in a new process with each prompt:
// the host compresses within the turn, and the hand-over comes with the next tool.
func TestGeminiTypedPrompts(t *testing.T) {
	t.Parallel()
	part, step := "", 0 // what the turn looks at, and how far it is
	s := newGemini(t, func(r *heard) spoken {
		look := func(command string, tokens int) spoken {
			return callTool("run_shell_command", map[string]any{"command": command, "description": "look"}, tokens)
		}
		switch {
		case r.Bare && strings.Contains(r.Body, "state_snapshot"):
			return speak("<state_snapshot><overall_goal>MOCK-SUMMARY</overall_goal></state_snapshot>", 1_000)
		case r.Bare:
			return speak("the parser", 100)
		}
		switch step++; {
		case part == "" || step > 2:
			return speak("Noted.", 5_000)
		case step == 1: // so full that the next request is compressed
			return look(lookAt(part), 600_000)
		}
		return look("true", 5_000)
	})
	s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en")
	if err := os.WriteFile(filepath.Join(s.project, "main.py"), []byte("def main(): pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	picture, err := base64.StdEncoding.DecodeString(typedPrompts()[1].picture())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.project, "header.png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(text string, args ...string) {
		step = 0
		s.exec(text, s.program, append([]string{"-m", "gemini-2.5-pro", "-y"}, args...)...)
	}
	ask("Please write the parser.")
	ask("Please write the lexer.", "--resume", "latest")
	id := s.sessions()[0].ID
	for i, p := range typedPrompts() {
		if p.picture() != "" { // it takes none but files from its standard input
			p.text = strings.Replace(p.text, "[Image #1]", "@header.png", 1)
		}
		part = parts[i%len(parts)]
		ask(p.text, "--resume", id)
		handed := s.API.last().newestHanded()
		p.quoted(t, handed)
		ownSlice(t, handed, i%len(parts))
		says(t, handed, []string{message.HandoverGo.EN}, []string{"def main"}) // what the host puts behind a prompt is not the user's
	}
}

// Gemini CLI in its terminal: words in mid-turn, which wait for the turn's end and follow
// the compression within it; Esc and a question; a plan that waits for its user, and that
// he approves.
func TestGeminiInterruptedAndPlanned(t *testing.T) {
	t.Parallel()
	shell := func(command string, tokens int) spoken {
		return callTool("run_shell_command", map[string]any{"command": command, "description": "work"}, tokens)
	}
	s := newGemini(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare && strings.Contains(r.Body, "state_snapshot"):
			return speak("<state_snapshot><overall_goal>MOCK-SUMMARY</overall_goal></state_snapshot>", 1_000)
		case r.Bare:
			return speak("the ledger", 100)
		case strings.HasPrefix(last, "Please write the ledger"):
			return shell("touch began; until [ -e typed ]; do sleep 0.02; done; rm began", 600_000)
		case strings.HasPrefix(last, "Please write the scanner"):
			return shell("touch began; tail -f /dev/null", 5_000)
		case strings.HasPrefix(last, "Plan how"):
			return callTool("exit_plan_mode", map[string]any{"plan_filename": "rename.md"}, 5_000)
		}
		return speak("ANSWERED", 5_000)
	})
	s.change(filepath.Join(s.home, ".gemini", "settings.json"), `"enableAutoUpdate"`, `"plan": {"enabled": true, "directory": "plans"}, "enableAutoUpdate"`)
	s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en")
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(s.project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("plans/rename.md", "# Plan\n1. Rename scanLedger to readLedger.\n")
	began := func() bool { _, err := os.Stat(filepath.Join(s.project, "began")); return err == nil }
	open := func(args ...string) *Terminal {
		term := s.terminal(append([]string{"-m", "gemini-2.5-pro"}, args...)...)
		term.Wait("Type your message", 1)
		return term
	}
	// say types words and sends them until the model hears them: an Enter that comes at
	// once is taken for a part of the text.
	say := func(term *Terminal, words string, heard func() bool) {
		t.Helper()
		term.Type(words)
		term.enter(heard)
	}
	hears := func(words string) func() bool {
		return func() bool { rs := s.API.requests(); return len(rs) > 0 && rs[len(rs)-1].Has(words) }
	}
	packet := func() string { return s.exec("", "overtone", "compact", "packet", "--session", s.sessions()[0].ID) }
	compressed := func(term *Terminal) string {
		n := term.count("Chat history compressed")
		say(term, "/compress", func() bool { return term.count("Chat history compressed") > n })
		asked := len(s.API.requests())
		say(term, "go on", func() bool { return len(s.API.requests()) > asked })
		return s.API.last().newestHanded()
	}

	term := open("-y")
	say(term, "Please write the ledger.", began)
	say(term, "STOP, do not push anything.", func() bool { return term.count("Queued") > 0 })
	put("typed", "")
	await(t, "the words that waited", hears("STOP"))
	say(term, "Please write the scanner.", began)
	term.Press("\x1b")
	term.Wait("Request cancelled", 1)
	await(t, "the interruption", func() bool { return strings.Contains(packet(), "the user has interrupted the turn") })
	says(t, packet(), []string{"newest first\n- “Please write the scanner.”", "- “STOP, do not push anything.”", message.HandoverNextWord.EN}, nil)
	say(term, "Which file is that in", hears("Which file")) // a question mark alone is a key of the host's
	says(t, compressed(term), []string{"newest first\n- “Which file is that in”\n- “Please write the scanner.”", message.HandoverNextWord.EN}, nil)
	term.Say("/quit")

	term = open("--approval-mode", "plan", "--resume", "latest")
	say(term, "Plan how to rename it, and change nothing before I approve it.", hears("Plan how"))
	term.Wait("Ready to start implementation", 1)
	says(t, packet(), []string{"newest first\n- “Plan how to rename it, and change nothing before I approve it.”", message.HandoverNextWord.EN}, nil)
	term.enter(func() bool { return term.count("Plan approved") > 0 })
	await(t, "the answer", hears("Plan approved"))
	says(t, compressed(term), []string{"newest first\n- a plan that the user approved: “rename.md”\n- “Plan how to rename it, and change nothing before I approve it.”", message.HandoverNextWord.EN}, nil)
}
