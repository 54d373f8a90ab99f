//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// Model is the model the tests ask for: its window is 200k, so compaction
// thresholds are small numbers.
const Model = "claude-sonnet-4-5"

// slots keeps the machine usable: an agent takes most of a core while it starts.
var slots = make(chan struct{}, 2)

// World is one isolated home with one project and one model.
type World struct {
	API     *mockapi.Server
	Home    string
	Config  string // CLAUDE_CONFIG_DIR
	Project string
	Records string // the recorder's folder; "" when the real binary is used
	Plugin  string // the plugin's folder
	Version Version
	Allow   string        // tools that need no permission; there is nobody to ask
	Model   string        // "" = the host's own choice
	Limit   time.Duration // of one Prompt; 0 = turnLimit

	t      *testing.T
	env    map[string]string
	bin    string
	claude string
	typed  io.Reader // what `watch claude` reads; nil for nothing
}

// Binary chooses what the plugin's hooks call.
type Binary int

const (
	Overtone Binary = iota // the program under test
	Recorder               // the stand-in that writes calls down
)

// NewWorld makes a home, a project with a git repository and a model that
// answers with h. It waits for a free slot.
//
// The agent is the newest Claude Code unless another version is named.
func NewWorld(t *testing.T, b Binary, h mockapi.Handler, on ...Version) *World {
	t.Helper()
	v := Newest(t)
	if len(on) > 0 {
		v = on[0]
	}
	builder := buildOvertone
	if b == Recorder {
		builder = buildRecorder
	}
	bin, err := builder()
	if err != nil {
		t.Fatal(err)
	}
	agent := v.Claude(t)
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })

	// A short path: the agent names its session folder after the project's.
	base := t.TempDir()
	stay(t, base)
	w := &World{
		t:       t,
		API:     mockapi.New(h, agentMarks(t)),
		Home:    filepath.Join(base, "home"),
		Project: filepath.Join(base, "proj"),
		Allow:   "Bash",
		Model:   Model,
		Version: v,
		claude:  agent,
		bin:     bin,
	}
	t.Cleanup(w.API.Close)
	w.Config = filepath.Join(w.Home, ".claude")
	w.Plugin = w.writePlugin(filepath.Join(base, "overtone"))
	for _, d := range []string{w.Config, w.Project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = map[string]string{
		"PATH":                    strings.Join([]string{bin, filepath.Dir(agent), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME":                    w.Home,
		"TMPDIR":                  base,
		"LC_CTYPE":                "C.UTF-8",
		"CLAUDE_CONFIG_DIR":       w.Config,
		"ANTHROPIC_BASE_URL":      w.API.URL(),
		"ANTHROPIC_API_KEY":       "sk-ant-mock",
		"DISABLE_TELEMETRY":       "1",
		"DISABLE_AUTOUPDATER":     "1",
		"DISABLE_ERROR_REPORTING": "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		// Without this a 5xx answer is retried for minutes.
		"CLAUDE_CODE_MAX_RETRIES": "0",
		"GIT_CONFIG_NOSYSTEM":     "1",
		"GIT_AUTHOR_NAME":         "e2e", "GIT_AUTHOR_EMAIL": "e2e@localhost",
		"GIT_COMMITTER_NAME": "e2e", "GIT_COMMITTER_EMAIL": "e2e@localhost",
	}
	if b == Recorder {
		w.Records = filepath.Join(base, "records")
		if err := os.MkdirAll(w.Records, 0o755); err != nil {
			t.Fatal(err)
		}
		w.env["RECORDER_DIR"] = w.Records
	}
	w.Write("README.md", "# project\n")
	w.Exec("git", "init", "-q", "-b", "main")
	w.Exec("git", "add", ".")
	w.Exec("git", "commit", "-q", "-m", "start")
	t.Cleanup(func() {
		if t.Failed() {
			for _, r := range w.API.Requests() {
				t.Log(r)
			}
		}
	})
	return w
}

// holds reports whether the file of a session holds a text; a session may be a pattern.
func (w *World) holds(session, text string) bool {
	files, _ := filepath.Glob(filepath.Join(w.Config, "projects", "*", session+".jsonl"))
	return slices.ContainsFunc(files, func(f string) bool {
		data, err := os.ReadFile(f)
		return err == nil && bytes.Contains(data, []byte(text))
	})
}

// Setenv adds to the environment of the agent and its hooks.
func (w *World) Setenv(key, value string) { w.env[key] = value }

// Settings writes the user's settings.json.
func (w *World) Settings(v any) {
	w.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Config, "settings.json"), data, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// rounds reports whether init would add the hook at the end of a round of tools.
// The recorder has it always: it shows what the host does.
func (w *World) rounds() bool {
	config, err := os.ReadFile(filepath.Join(w.Home, ".overtone", "config.yaml"))
	auto := err == nil && bytes.Contains(config, []byte("mode: auto")) || w.env["OVERTONE_COMPACT_MODE"] == "auto"
	return w.Records != "" || auto || !host.Of(host.ClaudeCode).TellsWhose(string(w.Version))
}

// roundHooks are the settings that init adds for it.
func (w *World) roundHooks() map[string]any {
	w.t.Helper()
	hooks := map[string]any{}
	for _, e := range w.setup("").Rounds {
		var v any
		if err := json.Unmarshal([]byte(e.Value), &v); err != nil {
			w.t.Fatal(err)
		}
		hooks[e.Path[1]] = []any{v}
	}
	return hooks
}

// setup is what init installs, with what is Overtone's in a folder.
func (w *World) setup(root string) host.Setup {
	return host.Of(host.ClaudeCode).Setup(host.Place{User: w.Home, Dir: w.Config, Root: root, Hook: filepath.Join(w.bin, host.HookProgram)})
}

// writePlugin writes the plugin as init does, and returns its folder.
func (w *World) writePlugin(root string) string {
	w.t.Helper()
	p := w.setup(root).Plugin
	files, err := p.Files()
	if err != nil {
		w.t.Fatal(err)
	}
	state, err := p.Compare(files)
	if err == nil {
		err = p.Write(files, state)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return filepath.Join(p.Dir, "overtone")
}

// Configure writes Overtone's settings.
func (w *World) Configure(yaml string) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".overtone")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// Write creates a file in the project.
func (w *World) Write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.Project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// Exec runs a program in the project with the world's environment and returns
// what it printed.
func (w *World) Exec(name string, args ...string) string {
	w.t.Helper()
	cmd := w.command(name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (w *World) command(name string, args ...string) *exec.Cmd {
	if name == "overtone" {
		name = filepath.Join(w.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = w.Project
	for _, k := range slices.Sorted(maps.Keys(w.env)) {
		cmd.Env = append(cmd.Env, k+"="+w.env[k])
	}
	// The agent starts hooks and tools of its own; a group can be ended whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = nil
	return cmd
}

func (w *World) claudeArgs(args []string) []string {
	out := []string{
		"-p", "--plugin-dir", w.Plugin, "--permission-mode", "acceptEdits",
		"--output-format", "stream-json", "--verbose",
	}
	if w.Model != "" {
		out = append(out, "--model", w.Model)
	}
	if w.Allow != "" {
		out = append(out, "--allowedTools="+w.Allow)
	}
	if w.rounds() {
		settings, err := json.Marshal(map[string]any{"hooks": w.roundHooks()})
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, "--settings", string(settings))
	}
	return append(out, args...)
}

// Event is one line of the agent's stream-json output.
type Event struct {
	Type    string
	Subtype string
	Raw     json.RawMessage
}

// Decode reads the event into v.
func (e Event) Decode(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(e.Raw, v); err != nil {
		t.Fatalf("decode %s: %v", e.Raw, err)
	}
}

// Result is the last event of a turn.
type Result struct {
	SessionID      string `json:"session_id"`
	Text           string `json:"result"`
	IsError        bool   `json:"is_error"`
	TerminalReason string `json:"terminal_reason"`
	NumTurns       int    `json:"num_turns"`
}

// Prompt runs "claude -p text" to its end and returns its stream.
func (w *World) Prompt(text string, args ...string) Stream {
	w.t.Helper()
	cmd := w.command(w.claude, w.claudeArgs(append(args, text))...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	timer := time.AfterFunc(cmp.Or(w.Limit, turnLimit), func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	timedOut := !timer.Stop()
	st := Stream{t: w.t, Events: events(w.t, &out), Stderr: errs.String()}
	if timedOut {
		w.t.Fatalf("claude -p %q did not end in %v\nstderr: %s\nlast events: %s", text, turnLimit, errs.String(), st.tail())
	}
	if err != nil && len(st.Events) == 0 {
		w.t.Fatalf("claude -p %q: %v\nstderr: %s", text, err, errs.String())
	}
	return st
}

// turnLimit is far longer than any turn takes: a machine may be busy.
const turnLimit = 3 * time.Minute

// Stream is the output of a finished run.
type Stream struct {
	Events []Event
	Stderr string
	t      testing.TB
}

// Result returns the last result event.
func (s Stream) Result() Result {
	s.t.Helper()
	var r Result
	for _, e := range s.Events {
		if e.Type == "result" {
			e.Decode(s.t, &r)
		}
	}
	if r.SessionID == "" {
		s.t.Fatalf("no result event\nstderr: %s\nlast events: %s", s.Stderr, s.tail())
	}
	return r
}

// Find returns the events of a type and subtype.
func (s Stream) Find(kind, subtype string) []Event {
	var out []Event
	for _, e := range s.Events {
		if e.Type == kind && e.Subtype == subtype {
			out = append(out, e)
		}
	}
	return out
}

func (s Stream) tail() string {
	var b strings.Builder
	for _, e := range s.Events[max(0, len(s.Events)-5):] {
		fmt.Fprintf(&b, "\n%.500s", e.Raw)
	}
	return b.String()
}

func events(t testing.TB, r io.Reader) []Event {
	var out []Event
	scan(r, func(e Event) { out = append(out, e) }, func(line string) { t.Logf("not an event: %s", line) })
	return out
}

func scan(r io.Reader, event func(Event), other func(string)) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var e Event
		line := bytes.Clone(sc.Bytes())
		if json.Unmarshal(line, &e) != nil || e.Type == "" {
			other(string(line))
			continue
		}
		e.Raw = line
		event(e)
	}
}

// Session is a long-lived agent that takes user messages on its stdin.
type Session struct {
	w      *World
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *syncBuffer
	events chan Event
	seen   []Event
	nextID int
	done   chan struct{}
}

// Start starts a session; the test's end stops it.
func (w *World) Start(args ...string) *Session {
	w.t.Helper()
	cmd := w.command(w.claude, w.claudeArgs(append([]string{"--input-format", "stream-json"}, args...))...)
	s := &Session{w: w, cmd: cmd, stderr: &syncBuffer{}, events: make(chan Event, 4096), done: make(chan struct{})}
	cmd.Stderr = s.stderr
	var err error
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		defer close(s.events)
		scan(stdout, func(e Event) { s.events <- e }, func(string) {})
		cmd.Wait()
	}()
	w.t.Cleanup(s.Close)
	return s
}

// Close ends the session: end of input, and the process group if that is not
// enough.
func (s *Session) Close() {
	s.stdin.Close()
	timer := time.AfterFunc(5*time.Second, func() { syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	for range s.events {
	}
	<-s.done
}

// Kill ends the session at once, as a crash would.
func (s *Session) Kill() {
	syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	s.Close()
}

// Send sends a user message.
func (s *Session) Send(text string) {
	s.w.t.Helper()
	s.write(map[string]any{
		"type":    "user",
		"message": map[string]any{"role": "user", "content": text},
	})
}

// Ask sends a user message and waits for the turn's result.
func (s *Session) Ask(text string) Result {
	s.w.t.Helper()
	s.Send(text)
	return s.Result()
}

// Result waits for the next result event.
func (s *Session) Result() Result {
	s.w.t.Helper()
	var r Result
	s.Wait("a result", func(e Event) bool { return e.Type == "result" }).Decode(s.w.t, &r)
	return r
}

// Wait reads events until one matches.
func (s *Session) Wait(what string, match func(Event) bool) Event {
	s.w.t.Helper()
	limit := time.After(turnLimit)
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				s.w.t.Fatalf("agent ended while waiting for %s\nstderr: %s", what, s.stderr)
			}
			s.seen = append(s.seen, e)
			if match(e) {
				return e
			}
		case <-limit:
			s.w.t.Fatalf("no %s in %v\nstderr: %s\nlast events: %s", what, turnLimit, s.stderr, Stream{Events: s.seen}.tail())
		}
	}
}

// Control sends a control request and returns the agent's answer.
func (s *Session) Control(request map[string]any) json.RawMessage {
	s.w.t.Helper()
	s.nextID++
	id := fmt.Sprintf("req-%d", s.nextID)
	s.write(map[string]any{"type": "control_request", "request_id": id, "request": request})
	e := s.Wait("a control response", func(e Event) bool {
		return e.Type == "control_response" && bytes.Contains(e.Raw, []byte(`"`+id+`"`))
	})
	return e.Raw
}

// Seen returns the events read so far.
func (s *Session) Seen() Stream { return Stream{Events: s.seen, Stderr: s.stderr.String(), t: s.w.t} }

func (s *Session) write(v any) {
	s.w.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.w.t.Fatal(err)
	}
	if _, err := s.stdin.Write(append(data, '\n')); err != nil {
		s.w.t.Fatalf("write to the agent: %v\nstderr: %s", err, s.stderr)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// agentMarks maps each agent of the plugin to the start of its prompt, by which
// the mock recognises its requests.
func agentMarks(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(PluginDir(), "agents", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no agents in %s: %v", PluginDir(), err)
	}
	marks := make(map[string]string)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		if !ok {
			t.Fatalf("%s has no front matter", f)
		}
		mark, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
		marks[strings.TrimSuffix(filepath.Base(f), ".md")] = mark
	}
	marks["stylist"] = stylistMark
	return marks
}
