//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/internal/blueprint"
)

// stylistMark is how the mock recognises an agent that is the project's own.
const stylistMark = "You are the stylist of this project."

const releaseYAML = `label: {zh: 發布, en: Release}
stages:
  - DEV
  - stage: CHECK
    run: test -f fixed.txt || { echo BROKEN-BUILD; exit 3; }
  - stage: STYLE
    agent: stylist
    judges: true
    context: [README.md]
  - stage: E2E
    when: {paths: ["src/**"]}
  - DOCS
`

// A workflow of the project's own: its agent, a command that fails, sends the work
// back and passes, and a stage that is left out because nothing was changed for it.
func TestWorkflowFile(t *testing.T) { t.Parallel(); onEach(t, testWorkflowFile) }

func testWorkflowFile(t *testing.T, v Version) {
	p := &Relay{Agents: map[string][]Step{
		"developer": {pass, call(bash("touch fixed.txt")), pass},
		"stylist":   {failing("HIGH", "") /* no way back but DEV */, pass},
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Write(".overtone/workflows/release.yaml", releaseYAML)
	w.Write(".claude/agents/stylist.md", "---\nname: stylist\ndescription: Looks at style.\n---\n\n"+stylistMark+"\n")
	w.Exec("git", "add", ".")
	w.Exec("git", "commit", "-q", "-m", "release")
	w.Exec("overtone", "workflow", "check", "release")
	// The person's part, which needs a terminal.
	f, problems, ok := blueprint.Library{Dir: w.Project}.Find("release")
	if !ok || len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := blueprint.Trust(filepath.Join(w.Home, ".overtone"), f, time.Now()); err != nil {
		t.Fatal(err)
	}
	r := w.Prompt("[workflow:release] cut 1.4").Result()
	want := []string{"developer", "developer", "stylist", "developer", "stylist", "doc-updater"}
	if diff := cmp.Diff(want, agents(w)); diff != "" {
		t.Fatalf("agents (-want +got):\n%s", diff)
	}
	s := w.status(r.SessionID)
	var stages []string
	for _, st := range s.Stages {
		stages = append(stages, st.Stage+" "+st.Status+" "+st.Result)
	}
	if diff := cmp.Diff([]string{"DEV completed pass", "CHECK completed pass", "STYLE completed pass", "E2E skipped ", "DOCS completed pass"}, stages); diff != "" || s.Phase != "COMPLETE" {
		t.Errorf("%s, stages (-want +got):\n%s", s.Phase, diff)
	}
	neverToMain(t, w, "BROKEN-BUILD")
	back := subs(w, "developer")[1]
	if nc, _ := node(back); nc.RetryContext == nil || nc.RetryContext.FailedStage != "CHECK" || back.Count("BROKEN-BUILD") == 0 {
		t.Errorf("DEV was sent back with %+v: %s", nc, back.Prompt())
	}
	style := subs(w, "stylist")[0]
	if nc, n := node(style); n != 1 || !slices.Contains(nc.ContextFiles, "README.md") || !style.Has("The last line of your answer") && !style.Has("最後一行必須是") {
		t.Errorf("STYLE knows %+v: %s", nc, style.Prompt())
	}
}

// codexRelay plays a main agent on Codex that does what the hooks say, and its
// sub-agents.
type codexRelay struct {
	mu     sync.Mutex
	stages []string // that sub-agents were asked for, in order
	seen   []string // what the main agent was shown
	mended []string // what a sub-agent at DEV was told
	closed map[string]bool
	tried  bool
	failed bool
	wait   int // how long it waits for agents, in milliseconds; the host's least is ten seconds
}

var closeRE = regexp.MustCompile(`done with close_agent: ([0-9a-f, -]+)`)

var codexDelegateRE = regexp.MustCompile(`(overtone:[a-z0-9-]+) \(([A-Z0-9:a-z-]+)\)`)

func (c *codexRelay) answer(r codexmock.Request) codexmock.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, it := range r.Input {
		if m := nodeContextRE.FindStringSubmatch(it.Text); m != nil {
			return c.stage(r, m[1], it.Text)
		}
	}
	// What is new: behind the last thing that the model itself said or called.
	from := 0
	for i, it := range r.Input {
		if it.Type == "function_call" || it.Role == "assistant" {
			from = i + 1
		}
	}
	text := ""
	var ids []string
	for _, it := range r.Input[from:] {
		text += it.Text + "\n"
		if id := gjson.Get(it.Text, "agent_id").String(); id != "" && it.Type == "function_call_output" {
			ids = append(ids, id)
		}
	}
	c.seen = append(c.seen, text)
	reply := codexmock.Reply{Tokens: 1000}
	if len(ids) > 0 {
		reply.Calls = append(reply.Calls, codexmock.Call{Name: "wait_agent", Namespace: "multi_agent_v1", Args: map[string]any{"targets": ids, "timeout_ms": max(c.wait, 10_000)}})
		return reply
	}
	if !c.tried && strings.Contains(text, "➡️") {
		c.tried = true
		reply.Calls = append(reply.Calls, codexmock.Call{Name: "exec_command", Args: map[string]any{"cmd": "touch evil.txt"}})
		return reply
	}
	spawned := false
	for line := range strings.Lines(text) {
		if m := closeRE.FindStringSubmatch(line); m != nil && !spawned {
			for _, id := range strings.Split(m[1], ", ") {
				if !c.closed[id] {
					c.closed[id] = true
					reply.Calls = append(reply.Calls, codexmock.Call{Name: "close_agent", Namespace: "multi_agent_v1", Args: map[string]any{"target": id}})
				}
			}
		}
		if !strings.Contains(line, "➡️") || spawned {
			continue
		}
		spawned = true
		for _, m := range codexDelegateRE.FindAllStringSubmatch(line, -1) {
			reply.Calls = append(reply.Calls, codexmock.Call{Name: "spawn_agent", Namespace: "multi_agent_v1", Args: map[string]any{"agent_type": m[1], "message": "do " + m[2]}})
		}
	}
	if len(reply.Calls) == 0 {
		// Whichever of two agents ends first ends the wait for both.
		if m := regexp.MustCompile(`targets: ([0-9a-f, -]+);`).FindStringSubmatch(text); m != nil {
			reply.Calls = append(reply.Calls, codexmock.Call{Name: "wait_agent", Namespace: "multi_agent_v1", Args: map[string]any{"targets": strings.Split(m[1], ", "), "timeout_ms": max(c.wait, 10_000)}})
			return reply
		}
		reply.Message = "RELAY-IDLE"
	}
	return reply
}

func (c *codexRelay) stage(r codexmock.Request, raw, told string) codexmock.Reply {
	var nc nodeContext
	if err := json.Unmarshal([]byte(raw), &nc); err != nil {
		panic(err)
	}
	f := map[string]string{"verdict": "PASS", "route": "NEXT"}
	if nc.Node.Barrier != nil {
		f["route"], f["barrierGroup"] = "BARRIER", nc.Node.Barrier.Group
	}
	asked := strings.Contains(r.Input[len(r.Input)-1].Text, "PIPELINE_ROUTE")
	report := ""
	if nc.Node.Stage == "REVIEW" && (!c.failed || asked) {
		f["verdict"], f["severity"], f["hint"] = "FAIL", "HIGH", "look at main.go"
		if !asked {
			report = "SECRET-REPORT one\n\n- two\n- three\n- four\n- five\n\n"
		}
		c.failed = true
	}
	if !asked {
		c.stages = append(c.stages, nc.Node.Stage)
	}
	if nc.Node.Stage == "DEV" {
		c.mended = append(c.mended, told)
	}
	return codexmock.Reply{Message: fmt.Sprintf("%s%s is over.\n\n%s", report, nc.Node.Stage, marker(f)), Tokens: 1000}
}

// DEV → REVIEW ∥ TEST → DOCS on the real Codex, with a review that fails once: agents
// in its own form, Node Context, verdicts, the barrier, the way back, the guard and
// a turn that goes on until all is done.
func TestCodexWorkflow(t *testing.T) {
	t.Parallel()
	c := &codexRelay{closed: map[string]bool{}, wait: 60_000}
	w := newHookedCodex(t, c.answer, "", "suggest")
	c.ships(w.CodexWorld)
	u := w.User()
	u.AwaitTurn(u.Say("[workflow:ship] add a flag"))
	c.shipped(w, u.Thread)
}

// The same under `codex exec`: one turn that nobody sits before carries the workflow to
// its end.
func TestCodexWorkflowExec(t *testing.T) {
	t.Parallel()
	c := &codexRelay{closed: map[string]bool{}, wait: 60_000}
	w := newHookedCodex(t, c.answer, "", "suggest")
	c.ships(w.CodexWorld)
	e := w.start(w.server, "exec", "--json", "[workflow:ship] add a flag")
	<-e.done
	_, thread, _ := strings.Cut(e.output(), `"thread_id":"`)
	thread, _, _ = strings.Cut(thread, `"`)
	c.shipped(w, thread)
}

// ships gives the project the workflow that a codexRelay plays.
func (c *codexRelay) ships(w *CodexWorld) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.Project, ".overtone", "workflows"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(w.Project, ".overtone", "workflows", "ship.yaml"), "stages: [DEV, REVIEW, TEST, DOCS]\n")
}

// shipped checks how that workflow went.
func (c *codexRelay) shipped(w *hookedCodex, thread string) {
	t := w.t
	t.Helper()
	s := gjson.Parse(w.run("workflow", "status", "--session", thread, "--json"))
	if s.Get("phase").String() != "COMPLETE" || s.Get(`stages.#(stage=="REVIEW").retries`).Int() != 1 {
		t.Errorf("status %s", s.Raw)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	got := slices.Clone(c.stages)
	for _, i := range []int{1, 4} {
		if i+1 < len(got) {
			slices.Sort(got[i : i+2])
		}
	}
	if diff := cmp.Diff([]string{"DEV", "REVIEW", "TEST", "DEV", "REVIEW", "TEST", "DOCS"}, got); diff != "" {
		t.Fatalf("stages (-want +got):\n%s\nmain saw:\n%s", diff, strings.Join(c.seen, "\n----\n"))
	}
	if len(c.mended) != 2 || !strings.Contains(c.mended[1], `"failedStage":"REVIEW"`) || !strings.Contains(c.mended[1], "SECRET-REPORT") {
		t.Errorf("DEV was told %q", c.mended)
	}
	for _, text := range c.seen {
		if strings.Contains(text, "SECRET-REPORT") {
			t.Errorf("the main agent saw the report: %s", text)
		}
	}
	if _, err := os.Stat(filepath.Join(w.Project, "evil.txt")); err == nil {
		t.Error("the main agent changed a file")
	}
}

// A machine that has Codex and no other agent: init without a word prepares Codex alone,
// a workflow runs, and nothing of ours lies where another agent's user would look. After
// uninstall nothing of ours lies among Codex's files, after a purge nowhere.
func TestCodexOnlyMachine(t *testing.T) {
	t.Parallel()
	c := &codexRelay{closed: map[string]bool{}, failed: true}
	w := &hookedCodex{CodexWorld: newCodexWorld(t, c.answer, Unattended)}
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	// The usual places, and a PATH on which no other agent can be.
	only := filepath.Join(filepath.Dir(w.Home), "bin")
	old := w.Codex
	w.Codex, w.State = filepath.Join(w.Home, ".codex"), filepath.Join(w.Home, ".overtone")
	w.Socket = filepath.Join(w.Codex, "app-server-control", "app-server-control.sock")
	errs := []error{os.Rename(old, w.Codex), os.Mkdir(only, 0o700), os.Symlink(w.server, filepath.Join(only, "codex"))}
	for _, name := range []string{"sh", "bash", "git", "cat", "touch", "env", "true"} {
		if path, err := exec.LookPath(name); err == nil {
			errs = append(errs, os.Symlink(path, filepath.Join(only, name)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	w.path = bin + string(os.PathListSeparator) + only
	settings := filepath.Join(w.Codex, "config.toml")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if out := w.run("init", "--yes", "--lang", "en"); !strings.Contains(out, "installed into codex") || strings.Count(out, "installed into") != 1 {
		t.Errorf("init says\n%s", out)
	}
	w.serve()
	w.Ready()
	w.approve()
	u := w.User()
	u.AwaitTurn(u.Say("[workflow:quick] add a flag"))
	if s := gjson.Parse(w.run("workflow", "status", "--session", u.Thread, "--json")); s.Get("phase").String() != "COMPLETE" {
		t.Errorf("status %s", s.Raw)
	}
	// list is what lies in the home.
	list := func(what string) (names []string) {
		t.Helper()
		err := filepath.WalkDir(w.Home, func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(w.Home, path)
			names = append(names, name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s:\n%s", what, strings.Join(names, "\n"))
		return names
	}
	top := func() (dirs []string) {
		entries, err := os.ReadDir(w.Home)
		for _, e := range entries {
			dirs = append(dirs, e.Name())
		}
		if err != nil {
			t.Fatal(err)
		}
		return dirs
	}
	list("after a workflow")
	if diff := cmp.Diff([]string{".codex", ".overtone"}, top()); diff != "" {
		t.Errorf("the home (-want +got):\n%s", diff)
	}
	w.run("uninstall", "--yes")
	for _, name := range list("after uninstall") {
		if strings.HasPrefix(name, ".codex") && (strings.Contains(name, "overtone") || filepath.Base(name) == "hooks.json") {
			t.Errorf("uninstall leaves %s", name)
		}
	}
	// What its user has approved is Codex's to keep.
	now, err := os.ReadFile(settings)
	if kept, _, _ := strings.Cut(string(now), "\n[hooks.state"); err != nil || strings.TrimSpace(kept) != strings.TrimSpace(string(before)) {
		t.Errorf("%v: config.toml is\n%s", err, now)
	}
	w.run("uninstall", "--purge", "--yes")
	if diff := cmp.Diff([]string{".codex"}, top()); diff != "" {
		t.Errorf("after a purge (-want +got):\n%s", diff)
	}
}
