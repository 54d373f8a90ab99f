//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Terminal is an agent in a terminal, from script(1): keys go in, and what the agent
// draws is kept.
type Terminal struct {
	t     *testing.T
	shown string // the file of all that was drawn
	mu    sync.Mutex
	keys  io.Writer
}

const (
	keyEnter    = "\r"
	keyEsc      = "\x1b"
	keyShiftTab = "\x1b[Z"

	keyClearLine = "\x15"
)

// openTerminal starts a program in a terminal; command makes its process.
func openTerminal(t *testing.T, command func(name string, args ...string) *exec.Cmd, dir, line string) *Terminal {
	t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("there is no script(1) to make a terminal")
	}
	s := &Terminal{t: t, shown: filepath.Join(dir, fmt.Sprintf("terminal-%d", time.Now().UnixNano()))}
	cmd := command(script, "-qfec", ""+fmt.Sprintf("stty cols %d rows %d", terminalCols, terminalRows)+"; exec "+line, s.shown)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	if s.keys, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { s.answer(over) })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", s.Screen())
		}
		close(over)
		endTerminal(t, cmd.Process.Pid)
		_ = cmd.Wait()
		wg.Wait()
		awaitHooks(cmd.Dir)
	})
	return s
}

// awaitHooks waits for hooks that an agent has left behind in a folder; they are short.
func awaitHooks(dir string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		names, _ := filepath.Glob("/proc/[0-9]*/comm")
		if !slices.ContainsFunc(names, func(name string) bool {
			comm, err := os.ReadFile(name)
			at, gone := os.Readlink(filepath.Join(filepath.Dir(name), "cwd"))
			return err == nil && gone == nil && at == dir && strings.TrimSpace(string(comm)) == host.HookProgram
		}) {
			return
		}
	}
}

// answer says where the cursor is, as a terminal does that is asked. Codex does not
// start without.
func (s *Terminal) answer(over <-chan struct{}) {
	for asked := 0; ; {
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
		data, _ := os.ReadFile(s.shown) // it is being written
		for n := strings.Count(string(data), "\x1b[6n"); asked < n; asked++ {
			s.write("\x1b[1;1R")
		}
	}
}

func (s *Terminal) write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.keys, text) // the terminal may be gone
}

// Press presses a key.
func (s *Terminal) Press(key string) { s.write(key) }

// The size of the terminals.
const terminalRows, terminalCols = 50, 160

// Screen is what the terminal shows and has shown, without blanks.
func (s *Terminal) Screen() string {
	data, _ := os.ReadFile(s.shown)
	return draw(string(data), terminalRows, terminalCols)
}

// Wait waits until a text was shown so many times.
func (s *Terminal) Wait(text string, times int) {
	s.t.Helper()
	await(s.t, strconv.Quote(text)+" on the screen", func() bool { return s.count(text) >= times })
}

// count counts a text on the screen.
func (s *Terminal) count(text string) int {
	return strings.Count(s.Screen(), strings.Join(strings.Fields(text), ""))
}

// Say types a message and sends it when it is there.
func (s *Terminal) Say(text string) {
	s.t.Helper()
	s.Type(text)
	s.write(keyEnter)
}

// Type types a message.
func (s *Terminal) Type(text string) {
	s.t.Helper()
	times := strings.Count(s.Screen(), strings.Join(strings.Fields(text), ""))
	s.write(text)
	s.Wait(text, times+1)
}

// enter presses Enter until a message was taken: an agent that is not ready yet leaves it
// in the input line.
func (s *Terminal) enter(taken func() bool) {
	s.t.Helper()
	next := time.Now()
	await(s.t, "message that was taken", func() bool {
		if now := time.Now(); now.After(next) && !taken() {
			s.write(keyEnter)
			next = now.Add(2 * time.Second)
		}
		return taken()
	})
}

// Terminal starts Claude Code in a terminal, set up by init.
func (w *World) Terminal(lang string, args ...string) *Terminal {
	w.t.Helper()
	w.Exec("overtone", "init", "--yes", "--statusline", "--host", "claude-code", "--lang", lang)
	line := append([]string{w.claude, "--model", Model, "--permission-mode", "acceptEdits", "--allowedTools=Bash"}, args...)
	s := w.screen(strings.Join(line, " "))
	ready := message.StatusContext.EN
	if lang != "en" {
		ready = message.StatusContext.ZH
	}
	s.Wait(fmt.Sprintf(ready, 100), 1) // our status line
	return s
}

// screen runs a command of the shell in a terminal, where Claude Code asks nothing that a
// person answers on the first day.
func (w *World) screen(command string) *Terminal {
	w.t.Helper()
	answered, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "lastOnboardingVersion": string(w.Version),
		"customApiKeyResponses": map[string]any{"approved": []string{w.env["ANTHROPIC_API_KEY"]}},
		"projects":              map[string]any{w.Project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Config, ".claude.json"), answered, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return openTerminal(w.t, w.command, w.Home, command)
}

// endTerminal ends all that runs in the terminal of script(1), which is a session of
// its own, and then script itself. What is left alive would write into a folder that
// is being removed.
func endTerminal(t *testing.T, script int) {
	t.Helper()
	sessions := map[string]bool{}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		alive := 0
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range stats {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // it is gone
			}
			// pid (name) state parent group session …
			_, rest, _ := strings.Cut(string(data), ") ")
			f := strings.Fields(rest)
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil || len(f) < 4 || f[0] == "Z" {
				continue
			}
			if f[1] == strconv.Itoa(script) && f[3] == strconv.Itoa(pid) {
				sessions[f[3]] = true
			}
			if sessions[f[3]] && pid != script {
				alive++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if alive == 0 || time.Now().After(end) {
			break
		}
	}
	_ = syscall.Kill(script, syscall.SIGKILL)
}

// session is the session of the main agent, once it has asked its model.
func (w *World) session() string {
	w.t.Helper()
	await(w.t, "request of the main agent", func() bool { return len(mains(w)) > 0 })
	return mains(w)[0].Session
}

// Stages stay in the foreground in the terminal, too, where the newest Claude Code takes
// no word about that from hooks: of a report that an agent repeats in its last message
// not a character reaches the main model.
func TestTerminal_Stages(t *testing.T) { t.Parallel(); onEach(t, testTerminalStages) }

func testTerminalStages(t *testing.T, v Version) {
	p, line := repeatedReports()
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Terminal("zh-TW")
	s.Say("[workflow:quick] add a flag")
	id := w.session()
	await(t, "end of the workflow", func() bool { return w.status(id).Phase == "COMPLETE" })
	s.Wait("RELAY-IDLE", 1)
	finished(t, w, id)
	for _, m := range mains(w) {
		if m.Has(line) || m.Has("<task-notification>") {
			t.Errorf("a report reaches the main model: %s", m.Last())
		}
	}
	if n := len(mains(w)); n > 7 {
		t.Errorf("%d requests of the main agent", n)
	}
}

// The user takes the word in his terminal: by Esc and a question, by another request, in
// plan mode. No turn is pushed on, he is told once that the workflow rests, and one word
// of his sets it going again. A tag that he only speaks of costs a line for him, and
// nothing else.
func TestTerminal_NeverAgainstTheUser(t *testing.T) { t.Parallel(); onEach(t, testTerminalAgainst) }

func testTerminalAgainst(t *testing.T, v Version) {
	begun := make(chan struct{})
	p := &Relay{Before: func(r *mockapi.Request, n int) *mockapi.Reply {
		reply := mockapi.Text(fmt.Sprintf("ANSWER-%d", n))
		switch {
		case n == 1: // before the first answer Esc would take the message back
			reply = mockapi.Calls(bash("true"))
		case n == 2:
			close(begun)
			reply = reply.Until(make(chan struct{}))
		case n > 5:
			return nil
		}
		return &reply
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Terminal("zh-TW")
	s.Say("what does [workflow:single] do?")
	s.Wait("ANSWER-0", 1)
	s.Wait("只是被提到", 1)
	s.Say("[workflow:single] fix it")
	receive(t, "begun", begun)
	s.Press(keyEsc)
	s.Wait("Interrupted", 1)
	s.Say("which file is that?")
	s.Wait("ANSWER-3", 1)
	s.Wait("等你的下一句話", 1)
	s.Say("rename the variable in it")
	s.Wait("ANSWER-4", 1)
	s.until(keyShiftTab, "plan mode on")
	s.Say("add a flag to it")
	s.Wait("ANSWER-5", 1)
	s.until(keyShiftTab, "accept edits on")
	list := mains(w)
	if len(list) != 6 {
		t.Errorf("%d requests of the main agent", len(list))
	}
	if list[0].Has("➡️") || list[0].Has("只是被提到") {
		t.Errorf("the model was told of a tag: %s", list[0])
	}
	for _, r := range list[3:] {
		if texts := strings.Join(hookTexts(r), "\n"); strings.Contains(r.Last(), "Stop hook feedback") || strings.Count(texts, "overtone:developer") > 1 {
			t.Errorf("pushed: %s\n%s", texts, r.Last())
		}
	}
	s.Say("[workflow:single]")
	id := w.session()
	await(t, "end of the workflow", func() bool { return w.status(id).Phase == "COMPLETE" })
}

// until presses a key until the screen says something.
func (s *Terminal) until(key, text string) {
	s.t.Helper()
	text = strings.Join(strings.Fields(text), "")
	shown := func() bool { return strings.Contains(s.Screen(), text) }
	for range 6 {
		s.Press(key)
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !shown(); time.Sleep(50 * time.Millisecond) {
		}
		if shown() {
			return
		}
	}
	s.t.Fatalf("%q is not on the screen", text)
}

// A message that is taken back with Esc before its answer was not said, also where it was
// sent while a hook of the turn before still ran: the workflow that it has started is gone,
// and what its user says instead is not answered with a push.
func TestTerminal_TakenBack(t *testing.T) {
	t.Parallel()
	for _, queued := range []bool{false, true} {
		t.Run(map[bool]string{false: "typed", true: "queued"}[queued], func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, v Version) { testTerminalTakenBack(t, v, queued) })
		})
	}
}

func testTerminalTakenBack(t *testing.T, v Version, queued bool) {
	begun := make(chan struct{})
	p := &Relay{Before: func(_ *mockapi.Request, n int) *mockapi.Reply {
		reply := mockapi.Text(fmt.Sprintf("ANSWER-%d", n))
		if n == 1 {
			close(begun)
			reply = reply.Until(make(chan struct{}))
		}
		return &reply
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	began, release := filepath.Join(w.Home, "began"), filepath.Join(w.Home, "release")
	if queued {
		waits := map[string]any{"type": "command", "command": "touch " + began + "; until [ -e " + release + " ]; do sleep 0.02; done"}
		w.Settings(map[string]any{"hooks": map[string]any{"Stop": []any{map[string]any{"hooks": []any{waits}}}}})
	}
	s := w.Terminal("zh-TW")
	s.Say("hello")
	s.Wait("ANSWER-0", 1)
	if queued {
		await(t, "hook", func() bool { _, err := os.Stat(began); return err == nil })
	}
	s.Say("[workflow:single] fix it")
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	receive(t, "begun", begun)
	// The host writes its file a tenth of a second late: a person is slower, this test is not.
	await(t, "message in the session's file", func() bool { return w.holds("*", `"content":"[workflow:single] fix it"`) })
	// It stands in the input line again, and is replaced.
	s.Press(keyEsc)
	await(t, "message in the input line", func() bool {
		return !strings.Contains(s.Screen(), "esctointerrupt") && strings.Contains(s.Screen(), "❯[workflow:single]fixit\n─")
	})
	s.Press(keyClearLine)
	s.Say("rename the variable in main.go")
	s.Wait("ANSWER-2", 1)
	list := mains(w)
	if last := list[len(list)-1]; len(list) != 3 || strings.Contains(last.Last(), "overtone:developer（") {
		t.Errorf("%d requests: %s", len(list), last.Last())
	}
	if st := w.status(w.session()); st.Phase == "DEV" || len(st.Ready) > 0 {
		t.Errorf("the workflow is %+v", st)
	}
}

// A commit in a context that fills up is answered with a line on the screen. What is typed
// while the host compacts is read with the packet before it, in one request, and no
// workflow is pushed on behind it.
func TestTerminal_Compaction(t *testing.T) { t.Parallel(); onEach(t, testTerminalCompaction) }

func testTerminalCompaction(t *testing.T, v Version) {
	compaction := newHeld(t)
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		switch last := r.Last(); {
		case r.Kind == mockapi.Summary:
			return mockapi.Text(SummaryText).Until(compaction.at())
		case r.Kind == mockapi.Main && strings.Contains(last, "STOP here"):
			return mockapi.Text("I-HAVE-STOPPED").Tokens(30_000)
		case r.Kind == mockapi.Main && strings.Contains(last, "thanks"):
			return mockapi.Text("NOT-AT-ALL").Tokens(30_000)
		}
		return claudeMind(r)
	}, v)
	s := w.Terminal("zh-TW")
	s.Say("[work] one")
	s.Wait("現在是執行 /compact 的好時機", 1)
	s.Say("[workflow:single] fix it")
	s.Wait("沒有進展", 1) // it was pushed on, and let go
	before := len(mains(w))
	s.Say("/compact")
	receive(t, "compacting", compaction.reached)
	s.Say("STOP here")
	compaction.letGo()
	s.Wait("I-HAVE-STOPPED", 1)
	s.Say("thanks")
	s.Wait("NOT-AT-ALL", 1)
	list := mains(w)[before:]
	if len(list) != 2 || !strings.HasSuffix(list[0].Last(), "STOP here") || len(hookTextsOf(list[0], "SessionStart")) != 1 || !strings.Contains(list[1].Last(), "thanks") {
		t.Errorf("%d requests after the compaction: %v", len(list), list)
	}
}

// An agent of a stage works behind the terminal: a question meanwhile is answered and
// nothing is pushed on. One that is stopped is not waited for, and its stage is done again
// when its user lets it go on. Where he wants to look first, its end begins nothing.
func TestTerminal_Background(t *testing.T) { t.Parallel(); onEach(t, testTerminalBackground) }

func testTerminalBackground(t *testing.T, v Version) {
	working := make(chan struct{}, 2)
	never, release := make(chan struct{}), make(chan struct{})
	defer close(never)
	held := func(until <-chan struct{}) Step {
		return func(r *mockapi.Request) mockapi.Reply {
			working <- struct{}{}
			return pass(r).Until(until)
		}
	}
	p := &Relay{Background: true, Agents: map[string][]Step{"developer": {held(never), held(release)}}}
	p.Before = func(r *mockapi.Request, _ int) *mockapi.Reply {
		var reply mockapi.Reply
		switch last := r.Last(); {
		case strings.Contains(last, "end that agent"): // 2.1.197 may leave a sent message in its input line
			reply = mockapi.Call("TaskStop", map[string]any{"task_id": agentID(r)})
		case strings.Contains(last, "what is it doing"):
			reply = mockapi.Text("IT-BUILDS")
		case strings.Contains(last, "Successfully stopped task"):
			reply = mockapi.Text("IT-IS-ENDED")
		default:
			return nil
		}
		return &reply
	}
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Terminal("zh-TW")
	s.Say("[workflow:quick-dev] fix it")
	receive(t, "working", working)
	s.Wait("RELAY-IDLE", 1)
	s.Say("what is it doing?")
	s.Wait("IT-BUILDS", 1)
	s.Say("end that agent")
	s.Wait("IT-IS-ENDED", 1)
	s.Wait("等你的下一句話", 1)
	for _, r := range mains(w) {
		if r.Has("Stop hook feedback") {
			t.Errorf("pushed: %s", r.Last())
		}
	}
	again := func() {
		s.Press(keyClearLine) // of a message that 2.1.197 has left there
		s.Say("[workflow:quick-dev]")
	}
	again()
	receive(t, "working", working)
	s.Wait("RELAY-IDLE", 2)
	s.Say("let me look at it before the review")
	s.Wait("RELAY-IDLE", 3)
	close(release)
	s.Wait("等你的下一句話", 2)
	for _, r := range mains(w) {
		if r.Has("overtone:code-reviewer（") {
			t.Errorf("told to begin the review: %s", r.Last())
		}
	}
	again()
	id := w.session()
	await(t, "end of the workflow", func() bool { return w.status(id).Phase == "COMPLETE" })
	if n := p.used["developer"]; n != 2 {
		t.Errorf("DEV was done %d times", n)
	}
}

// Terminal starts Codex in a terminal; it finds the app-server by itself.
func (w *CodexWorld) Terminal() *Terminal {
	w.t.Helper()
	s := openTerminal(w.t, func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = w.Project, w.environ()
		return cmd
	}, w.Home, w.server)
	s.Wait("mock-model", 1)
	return s
}

// Codex in its terminal: after Esc and a question nothing is pushed on, and the user is
// told that the workflow rests.
func TestCodexTerminal_NeverAgainstTheUser(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		if text, _ := r.LastUser(); strings.Contains(text, "[workflow:single]") {
			return codexmock.Reply{Wait: r.Gone}
		}
		return codexmock.Reply{Message: "IT-IS-MAIN", Tokens: 1000}
	}, "", "suggest")
	s := w.Terminal()
	s.Say("[workflow:single] add a flag")
	w.Requests(1)
	s.Press(keyEsc)
	s.Wait("interrupted", 1)
	s.Say("which file is that?")
	s.Wait("IT-IS-MAIN", 1)
	s.Wait("the next word is yours", 1)
	for _, r := range w.Model.Requests() {
		if r.Count("[Overtone loop") > 0 {
			t.Errorf("pushed: %s", r.Raw)
		}
	}
}

// What is typed into Codex's terminal while the watcher compacts is read first, with the
// packet before it, although a step of the plan is open; nothing of ours opens a turn.
func TestCodexTerminal_TypedMeanwhile(t *testing.T) {
	t.Parallel()
	m, letGo := heldCompactions(t)
	m.plan = true
	w := NewCodexWorld(t, m.script, Planning)
	w.Ready()
	p := w.Watch()
	s := w.Terminal()
	s.Say("[work] slice")
	p.await(t, told("compact"))
	s.Wait("Compacting", 1)
	s.Say("STOP here")
	letGo(false)
	s.Wait("Noted.", 1)
	p.awaitAny(t, 1, told("delivered"), told("void"))
	for _, q := range w.Model.Requests() {
		if text, _ := q.LastUser(); strings.Contains(text, packetMark) || strings.Contains(text, message.HandoverGo.EN) {
			t.Errorf("a turn of ours: %s", w.kinds(0))
		}
	}
	// As the host begins its turn before the watcher has heard of the compaction's end.
	if got := w.order("STOP here"); got != "packet STOP here" && got != "STOP here" && got != "STOP here packet" {
		t.Errorf("the model saw %s", got)
	}
	t.Logf("%s, in the order %s", w.kinds(0), w.order("STOP here"))
}
