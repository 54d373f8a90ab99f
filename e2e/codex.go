//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/internal/watch"
)

// CodexWorld is one isolated Codex: a home, a project with a git repository, a
// mock model and a running app-server on a unix socket.
type CodexWorld struct {
	Model   *codexmock.Server
	Home    string // HOME
	Codex   string // CODEX_HOME
	State   string // OVERTONE_HOME
	Project string
	Socket  string

	t      *testing.T
	server string // the codex program
	path   string // PATH of every process
}

// codexWait bounds every single wait of these tests, of which one is a whole workflow, on
// machines that do much else.
const codexWait = 3 * time.Minute

// NewCodexWorld starts an app-server whose model is script. config is added to
// its config.toml. It waits for a free slot.
func NewCodexWorld(t *testing.T, script codexmock.Script, config string, on ...Version) *CodexWorld {
	t.Helper()
	w := newCodexWorld(t, script, config, on...)
	w.serve()
	return w
}

// serve starts the app-server; options go before the command.
func (w *CodexWorld) serve(options ...string) {
	w.t.Helper()
	w.start(w.server, append(options, "app-server", "--listen", "unix://")...)
}

// newCodexWorld is the world without its app-server.
func newCodexWorld(t *testing.T, script codexmock.Script, config string, on ...Version) *CodexWorld {
	t.Helper()
	codex := codexBinary(t, on...)
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })

	model, err := codexmock.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	// Unix socket paths are short; t.TempDir() is too long for one.
	dir, err := os.MkdirTemp("", "otcx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	stay(t, dir)
	w := &CodexWorld{
		Model: model, Home: filepath.Join(dir, "h"), Codex: filepath.Join(dir, "c"), State: filepath.Join(dir, "o"),
		Project: filepath.Join(dir, "p"),
		t:       t, server: codex, path: os.Getenv("PATH"),
	}
	w.Socket = filepath.Join(w.Codex, "app-server-control", "app-server-control.sock")
	for _, d := range []string{w.Home, w.Codex, w.State, w.Project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.git("init", "-q", "-b", "main")
	w.write(filepath.Join(w.Codex, "config.toml"), fmt.Sprintf(`model = "mock-model"
model_provider = "mock"
model_context_window = 100000
%s
[model_providers.mock]
name = "mock"
base_url = %q
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[projects.%q]
trust_level = "trusted"
`, config, model.URL, w.Project))

	t.Cleanup(func() {
		if files, _ := filepath.Glob(filepath.Join(w.State, "sessions", "*", "watch.json")); t.Failed() {
			for _, f := range files {
				b, _ := os.ReadFile(f)
				t.Logf("%s:\n%s", f, b)
			}
		}
	})
	return w
}

// codexBinary is the program behind npm's launcher: a process that is killed
// must be the app-server itself, not a parent that leaves it behind.
func codexBinary(t testing.TB, on ...Version) string {
	t.Helper()
	modules := filepath.Dir(filepath.Dir(Codex(t, on...)))
	found, _ := filepath.Glob(filepath.Join(modules, "@openai", "codex-*", "vendor", "*", "bin", "codex"))
	if len(found) != 1 {
		t.Fatalf("native Codex binaries under %s: %v, want one", modules, found)
	}
	return found[0]
}

// Unattended is the configuration of a session that asks nothing.
const Unattended = "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n"

func (w *CodexWorld) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *CodexWorld) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.Project
	cmd.Env = w.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *CodexWorld) environ(extra ...string) []string {
	return append([]string{
		"PATH=" + w.path,
		"HOME=" + w.Home, "CODEX_HOME=" + w.Codex, "OVERTONE_HOME=" + w.State, "LANG=en_US.UTF-8",
		"GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@example.invalid",
		"GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@example.invalid",
	}, extra...)
}

// proc is a process of the test with its output.
type proc struct {
	cmd  *exec.Cmd
	done chan struct{}
	// printed is signalled when there is more output.
	printed chan struct{}
	mu      sync.Mutex
	out     bytes.Buffer
}

func (p *proc) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.printed <- struct{}{}:
	default:
	}
	return p.out.Write(b)
}

func (p *proc) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// await waits until the process has printed text.
func (p *proc) await(t *testing.T, text string) {
	t.Helper()
	p.awaitN(t, text, 1)
}

// awaitN waits until the process has printed text n times.
func (p *proc) awaitN(t *testing.T, text string, n int) {
	t.Helper()
	p.awaitAny(t, n, text)
}

// awaitAny waits until the process has printed the texts n times, taken together.
func (p *proc) awaitAny(t *testing.T, n int, texts ...string) {
	t.Helper()
	printed := func() (count int) {
		for _, text := range texts {
			count += strings.Count(p.output(), text)
		}
		return count
	}
	deadline := time.After(codexWait)
	for printed() < n {
		select {
		case <-p.printed:
		case <-p.done:
			t.Fatalf("ended before it printed %q:\n%s", texts, p.output())
		case <-deadline:
			t.Fatalf("did not print %q:\n%s", texts, p.output())
		}
	}
}

// kill ends the process at once, as kill -9 does, and waits for it.
func (p *proc) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (w *CodexWorld) start(name string, args ...string) *proc { return w.startEnv(nil, name, args...) }

func (w *CodexWorld) startEnv(env []string, name string, args ...string) *proc {
	w.t.Helper()
	p := &proc{cmd: exec.Command(name, args...), done: make(chan struct{}), printed: make(chan struct{}, 1)}
	p.cmd.Dir = w.Project
	p.cmd.Env = w.environ(env...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	w.t.Cleanup(func() {
		p.kill()
		if w.t.Failed() {
			w.t.Logf("%s %s:\n%s", filepath.Base(name), strings.Join(args, " "), p.output())
		}
	})
	return p
}

// User is a front end: a second client of the app-server, as the TUI is one.
type User struct {
	*watch.Client
	Thread string
	w      *CodexWorld
	seen   []watch.Inbound
}

// Ready waits until the app-server answers.
func (w *CodexWorld) Ready() {
	w.t.Helper()
	_ = w.dial().Close()
}

func (w *CodexWorld) dial() *watch.Client {
	w.t.Helper()
	deadline := time.Now().Add(codexWait)
	for {
		c, err := watch.Dial(context.Background(), watch.Endpoint{Socket: w.Socket}, "e2e_user", "0")
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			w.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// User connects a front end and opens a thread.
func (w *CodexWorld) User() *User {
	w.t.Helper()
	c := w.dial()
	w.t.Cleanup(func() { _ = c.Close() })
	u := &User{Client: c, w: w}
	var r struct{ Thread struct{ ID string } }
	u.call("thread/start", map[string]any{"cwd": w.Project}, &r)
	u.Thread = r.Thread.ID
	return u
}

func (u *User) call(method string, params, result any) {
	u.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), codexWait)
	defer cancel()
	if err := u.Call(ctx, method, params, result); err != nil {
		u.w.t.Fatal(err)
	}
}

// Say starts a turn and returns its id.
func (u *User) Say(text string) string {
	u.w.t.Helper()
	var r struct{ Turn struct{ ID string } }
	u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input(text)}, &r)
	return r.Turn.ID
}

func input(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}

// note is one notification, decoded as far as these tests look.
type note struct {
	Method string
	TurnID string
	Turn   struct{ ID, Status string }
	Item   struct {
		Type     string
		ClientID string `json:"clientId"`
		Status   string
	}
	Status struct {
		Type        string
		ActiveFlags []string
	}
}

func decode(in watch.Inbound) note {
	var n note
	_ = json.Unmarshal(in.Params, &n)
	n.Method = in.Method
	return n
}

// next waits for what arrives next.
func (u *User) next(ctx context.Context) (watch.Inbound, error) {
	for {
		in, ok, err := u.Next()
		if ok || err != nil {
			return in, err
		}
		select {
		case <-u.Ready():
		case <-ctx.Done():
			return in, ctx.Err()
		}
	}
}

// Await reads notifications until one fits.
func (u *User) Await(what string, fits func(note) bool) note {
	u.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), codexWait)
	defer cancel()
	for {
		in, err := u.next(ctx)
		if err != nil {
			u.w.t.Fatalf("waiting for %s: %v", what, err)
		}
		u.seen = append(u.seen, in)
		if n := decode(in); fits(n) {
			return n
		}
	}
}

// AwaitTurn waits for the end of a turn and returns its status.
func (u *User) AwaitTurn(id string) string {
	u.w.t.Helper()
	return u.Await("the end of turn "+id, func(n note) bool { return n.Method == "turn/completed" && n.Turn.ID == id }).Turn.Status
}

// AwaitPacket waits for the end of the turn that a packet opened.
func (u *User) AwaitPacket() {
	u.w.t.Helper()
	n := u.Await("a packet", func(n note) bool {
		return n.Method == "item/completed" && n.Item.Type == "userMessage" && n.Item.ClientID != ""
	})
	u.AwaitTurn(n.TurnID)
}

// Seen counts notifications that fit among those read so far.
func (u *User) Seen(fits func(note) bool) int {
	n := 0
	for _, in := range u.seen {
		if fits(decode(in)) {
			n++
		}
	}
	return n
}

// Requests waits until the model was asked at least n times.
func (w *CodexWorld) Requests(n int) []codexmock.Request {
	w.t.Helper()
	timeout := time.After(codexWait)
	for {
		changed := w.Model.Changed()
		if rs := w.Model.Requests(); len(rs) >= n {
			return slices.Clone(rs)
		}
		select {
		case <-changed:
		case <-timeout:
			w.t.Fatalf("the model was asked %d times, want %d", len(w.Model.Requests()), n)
		}
	}
}
