//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// copilot is one isolated Copilot CLI: a home, a project with a git repository and
// a mock model, without a network.
type copilot struct {
	t             *testing.T
	API           *mockapi.Server
	home, project string
	env           []string
	program       string
}

func newCopilot(t *testing.T, h mockapi.Handler) *copilot {
	t.Helper()
	list, err := underTest(host.Copilot)
	if err != nil {
		t.Fatal(err)
	}
	v := string(list[0])
	launcher := agent{"copilot-" + v, "copilot", []string{packages[host.Copilot] + "@" + v, "node@24"}}.path(t)
	// The program behind npm's launcher can be ended without leaving anything behind.
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(launcher)), "@github", "copilot-"+runtime.GOOS+"-*", "copilot"))
	if len(found) != 1 {
		t.Skipf("no program for this system beside %s", launcher)
	}
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	base := t.TempDir()
	stay(t, base)
	c := &copilot{t: t, API: mockapi.New(h, nil), home: filepath.Join(base, "home"), project: filepath.Join(base, "proj"), program: found[0]}
	t.Cleanup(c.API.Close)
	for _, dir := range []string{c.home, c.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{
		"PATH=" + strings.Join([]string{bin, filepath.Dir(found[0]), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + c.home, "TMPDIR=" + base, "LC_CTYPE=C.UTF-8", "CI=1",
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_MODEL=" + Model,
		"COPILOT_PROVIDER_BASE_URL=" + c.API.URL(), "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=mock",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@localhost", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@localhost",
	}
	c.exec("git", "init", "-q", "-b", "main")
	t.Cleanup(func() {
		if t.Failed() {
			for _, r := range c.API.Requests() {
				t.Log(r)
			}
		}
	})
	return c
}

func (c *copilot) exec(name string, args ...string) string {
	c.t.Helper()
	return c.execUntil(nil, name, args...)
}

// execUntil runs a program to its end, or until over says that it has done its work:
// then it has a moment to end by itself.
func (c *copilot) execUntil(over func() bool, name string, args ...string) string {
	c.t.Helper()
	for _, dir := range strings.Split(strings.TrimPrefix(c.env[0], "PATH="), string(os.PathListSeparator)) {
		if path := filepath.Join(dir, name); !filepath.IsAbs(name) && exec.Command("test", "-x", path).Run() == nil {
			name = path
			break
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.project, c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(3*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				c.t.Fatalf("%s %v: %v\n%s", name, args, err, out.String())
			}
			return out.String()
		case <-time.After(100 * time.Millisecond):
			if over == nil || !over() {
				continue
			}
		}
		select {
		case <-ended:
		case <-time.After(3 * time.Second):
			cmd.Process.Signal(syscall.SIGTERM)
			<-ended
		}
		return out.String()
	}
}

// compact asks for a compaction. Now and then the host has long done it and waits a
// minute for its own events ("the event poll loop may be wedged", 1.0.102), as a
// person would not.
func (c *copilot) compact() {
	c.t.Helper()
	before := c.compactions()
	c.execUntil(func() bool { return c.compactions() > before }, c.program, "--allow-all-tools", "-p", "/compact", "--continue")
}

// compactions counts those of all sessions.
func (c *copilot) compactions() (n int) {
	files, _ := filepath.Glob(filepath.Join(c.home, ".copilot", "session-state", "*", "events.jsonl"))
	for _, f := range files {
		data, _ := os.ReadFile(f) // it is being written
		n += strings.Count(string(data), `"session.compaction_complete"`)
	}
	return n
}

func (c *copilot) ask(text string, args ...string) string {
	c.t.Helper()
	return c.exec(c.program, append([]string{"--allow-all-tools", "-p", text}, args...)...)
}

// The third host, from installing to uninstalling: a compaction is followed by the
// hand-over, once, with the next thing that the model reads; a suggestion is passed
// on by the model, as hooks cannot show anything; sessions and recall know its
// files; and nothing is left behind.
func TestCopilot(t *testing.T) {
	t.Parallel()
	tokens, compacted := 20_000, false
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		last := r.Last()
		switch {
		case strings.Contains(last, "create a detailed summary"):
			compacted = true
			return mockapi.Text("<overview>MOCK-SUMMARY: the lexer was looked at.</overview>").Tokens(1_000)
		case strings.Contains(last, "MARK-COMMIT") && !compacted:
			return mockapi.Calls(tool("bash", map[string]any{"command": "echo 'package parse // func scanToken() {}' > lexer.go && git add . && git commit -q -m 'add the lexer' && git log -1 --oneline", "description": "commit"})).Tokens(tokens)
		case compacted:
			return mockapi.Text("I go on.").Tokens(5_000)
		}
		return mockapi.Text("The lexer is committed.").Tokens(tokens)
	})
	if out := c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en"); !strings.Contains(out, "installed into copilot") {
		t.Fatalf("init says\n%s", out)
	}
	hooks := filepath.Join(c.home, ".copilot", "hooks", "overtone.json")
	if _, err := os.Stat(hooks); err != nil {
		t.Fatal(err)
	}

	// 90,000 of 128,000 and a commit: whoever reads the next answer is told. From
	// 80 per cent on the host compacts by itself.
	tokens = 90_000
	c.ask("Please write a lexer with a function called scanToken, and commit it. MARK-COMMIT")
	c.ask("what is left to do?", "--continue")
	const told = "passing this line on to the user"
	if n := len(with(c.API.Requests(), told)); n != 1 {
		t.Errorf("%d requests tell of the suggestion", n)
	}

	c.compact()
	if !compacted {
		t.Fatal("nothing was compacted")
	}
	before := len(c.API.Requests())
	c.ask("carry on then", "--continue")
	c.ask("and more", "--continue")
	after := c.API.Requests()[before:]
	if len(after) < 2 {
		t.Fatalf("%d requests after the compaction", len(after))
	}
	for _, r := range after {
		if n := r.Count(handed); n != 1 {
			t.Errorf("%d hand-overs in %s", n, r)
		}
	}
	if !after[0].Has("scanToken") {
		t.Errorf("the hand-over does not know what the summary lacks: %s", after[0].Last())
	}

	var sessions struct {
		Sessions []struct {
			ID, Host    string
			Compactions int
		}
	}
	if err := json.Unmarshal([]byte(c.exec("overtone", "sessions", "--json")), &sessions); err != nil {
		t.Fatal(err)
	}
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].Host != "copilot" || sessions.Sessions[0].Compactions != 1 {
		t.Fatalf("sessions: %+v", sessions)
	}
	id := sessions.Sessions[0].ID
	if out := c.exec("overtone", "recall", "lexer", "scanToken"); !strings.Contains(out, id) {
		t.Errorf("recall finds\n%s", out)
	}
	var audit struct {
		Sessions []struct {
			ID, Host    string
			Requests    int
			Compactions []json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(c.exec("overtone", "audit", "--json")), &audit); err != nil {
		t.Fatal(err)
	}
	if len(audit.Sessions) != 1 || audit.Sessions[0].Host != "copilot" || audit.Sessions[0].Requests == 0 || len(audit.Sessions[0].Compactions) != 1 {
		t.Errorf("audit: %+v", audit)
	}
	if out := c.exec("overtone", "timeline", "--session", id); !strings.Contains(out, "Continuation packet delivered") || strings.Contains(out, "delivery unknown") {
		t.Errorf("timeline\n%s", out)
	}
	if out := c.exec("overtone", "doctor"); !strings.Contains(out, "✓ Copilot CLI") || !strings.Contains(out, "5 of 5 hooks have fired") {
		t.Errorf("doctor says\n%s", out)
	}
	c.exec("overtone", "uninstall", "--host", "copilot", "--yes")
	if _, err := os.Stat(hooks); err == nil {
		t.Error("uninstall leaves the hooks behind")
	}
}

// In mode auto nothing compacts this host: the user is told, once for one state.
func TestCopilot_Auto(t *testing.T) {
	t.Parallel()
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		if strings.Contains(r.Last(), "MARK-COMMIT") && len(r.Results()) == 0 {
			return mockapi.Calls(tool("bash", map[string]any{"command": "date +%N >> a && git add . && git commit -q -m step && git log -1 --oneline", "description": "commit"})).Tokens(90_000)
		}
		return mockapi.Text("It is committed.").Tokens(90_000)
	})
	c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en", "--mode", "auto")
	c.ask("Please commit it. MARK-COMMIT")
	for range 3 {
		c.ask("what is left to do?", "--continue")
	}
	if n := len(with(c.API.Requests(), "passing this line on to the user")); n != 1 {
		t.Errorf("%d requests tell of the suggestion", n)
	}
}

// Copilot in its terminal: the suggestion is passed on by the model, which is told of it
// once. What is typed while the host compacts is read with the hand-over, which says to
// wait, and nothing of ours opens a turn.
func TestCopilot_Terminal(t *testing.T) {
	t.Parallel()
	compaction := newHeld(t)
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		switch last := r.Last(); {
		case strings.Contains(last, "create a detailed summary"):
			return mockapi.Text("<overview>MOCK-SUMMARY: the lexer was looked at.</overview>").Tokens(1_000).Until(compaction.at())
		case strings.Contains(last, "STOP here"):
			return mockapi.Text("I-HAVE-STOPPED").Tokens(5_000)
		case strings.Contains(last, "passing this line on"):
			return mockapi.Text("TOLD-BY-OVERTONE").Tokens(90_000)
		case strings.Contains(last, "MARK-COMMIT") && len(r.Results()) == 0:
			return mockapi.Calls(tool("bash", map[string]any{"command": "echo x > lexer.go && git add . && git commit -q -m 'add the lexer' && git log -1 --oneline", "description": "commit"})).Tokens(90_000)
		}
		return mockapi.Text("IT-IS-COMMITTED").Tokens(90_000)
	})
	c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en")
	s := c.terminal()
	s.Type("Please commit it. MARK-COMMIT")
	s.enter(func() bool { return len(c.API.Requests()) > 0 })
	s.Wait("IT-IS-COMMITTED", 1)
	s.Type("what is left to do?")
	s.enter(func() bool { return len(with(c.API.Requests(), "what is left to do?")) > 0 })
	s.Wait("TOLD-BY-OVERTONE", 1)
	before := len(c.API.Requests())
	s.Type("/compact")
	s.enter(func() bool { return len(c.API.Requests()) > before })
	receive(t, "compacting", compaction.reached)
	s.Type("STOP here")
	s.Press(keyEnter)
	s.Wait("Queued", 1)
	compaction.letGo()
	s.Wait("I-HAVE-STOPPED", 1)
	after := c.API.Requests()[before:]
	if len(after) != 2 || !after[1].Has("STOP here") || after[1].Count(handed) != 1 || after[1].Has(message.HandoverGo.EN) {
		t.Errorf("after the compaction: %v", after)
	}
}

// terminal starts Copilot in a terminal, in a folder that it trusts.
func (c *copilot) terminal() *Terminal {
	c.t.Helper()
	settings, err := json.Marshal(map[string]any{"trustedFolders": []string{c.project}, "banner": "never", "showTipsOnStartup": false})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range []string{"config.json", "settings.json"} {
		if err := os.WriteFile(filepath.Join(c.home, ".copilot", name), settings, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	return openTerminal(c.t, func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = c.project, c.env
		return cmd
	}, c.home, c.program+" --allow-all-tools")
}

func with(requests []*mockapi.Request, text string) (found []*mockapi.Request) {
	for _, r := range requests {
		if strings.Contains(r.Last(), text) {
			found = append(found, r)
		}
	}
	return found
}

// What Copilot CLI adds to the variables of its shell tool's commands tells that they are
// its own: a person who is to trust a workflow file is asked elsewhere.
func TestCopilot_Variables(t *testing.T) {
	t.Parallel()
	c := newCopilot(t, func(r *mockapi.Request) mockapi.Reply {
		if len(r.Results()) > 0 {
			return mockapi.Text("That is all.").Tokens(1_000)
		}
		return mockapi.Calls(tool("bash", map[string]any{"command": "env", "description": "list variables"})).Tokens(1_000)
	})
	c.ask("List the variables.")
	all := c.API.Requests()
	results := all[len(all)-1].Results()
	if len(results) != 1 {
		t.Fatalf("%d answers: %s", len(results), all[len(all)-1])
	}
	var added []string
	for line := range strings.Lines(results[0].Text) {
		if line = strings.TrimSpace(line); !slices.Contains(c.env, line) {
			added = append(added, line)
		}
	}
	if agent := host.AgentIn(added); agent != "copilot" {
		t.Errorf("the agent is %q, by %q", agent, added)
	}
	t.Logf("%q", added)
}
