//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// station is one isolated host: a home, a project with a git repository and a model on
// loopback, without a network.
type station struct {
	t             *testing.T
	API           *dialects
	home, project string
	env           []string
	program       string
}

func newStation(t *testing.T, program string, answer func(*heard) spoken, env ...string) *station {
	t.Helper()
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	base := t.TempDir()
	stay(t, base)
	s := &station{t: t, API: newDialects(t, answer), home: filepath.Join(base, "home"), project: filepath.Join(base, "proj"), program: program}
	for _, dir := range []string{s.home, s.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append([]string{
		"PATH=" + strings.Join([]string{bin, filepath.Dir(program), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + s.home, "TMPDIR=" + base, "LC_CTYPE=C.UTF-8", "CI=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@localhost", "GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@localhost",
		// Whatever would leave the machine ends here.
		"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9",
		"no_proxy=127.0.0.1,localhost", "NO_PROXY=127.0.0.1,localhost", "npm_config_registry=http://127.0.0.1:9/", "npm_config_offline=true",
	}, env...)
	s.exec("", "git", "init", "-q", "-b", "main")
	return s
}

// exec runs a program to its end, with a text on its standard input.
func (s *station) exec(stdin, name string, args ...string) string {
	s.t.Helper()
	out, err := s.try(stdin, name, args...)
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func (s *station) command(name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) {
		for _, dir := range strings.Split(strings.TrimPrefix(s.env[0], "PATH="), string(os.PathListSeparator)) {
			if path := filepath.Join(dir, name); exec.Command("test", "-x", path).Run() == nil {
				name = path
				break
			}
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (s *station) try(stdin, name string, args ...string) (string, error) {
	cmd := s.command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(3*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	err := cmd.Wait()
	return out.String(), err
}

// doctor is what doctor says. It is asked again where a busy machine did not let a program
// say its version in time.
func (s *station) doctor() (out string) {
	for range 5 {
		if out, _ = s.try("", "overtone", "doctor"); !strings.Contains(out, "the version is not known") {
			break
		}
	}
	return out
}

// sessions is what `overtone sessions` lists.
func (s *station) sessions() (list []listed) {
	s.t.Helper()
	var doc struct{ Sessions []listed }
	if err := json.Unmarshal([]byte(s.exec("", "overtone", "sessions", "--json")), &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc.Sessions
}

type listed struct {
	ID, Host, Title string
	Compactions     int
}

func opencodeProgram(t *testing.T) string {
	t.Helper()
	list, err := underTest(host.Opencode)
	if err != nil {
		t.Fatal(err)
	}
	v := string(list[0])
	launcher := agent{"opencode-" + v, "opencode", []string{packages[host.Opencode] + "@" + v}}.path(t)
	// The program behind npm's launcher can be ended without leaving anything behind.
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(launcher)), "opencode-"+runtime.GOOS+"-*", "bin", "opencode"))
	if len(found) == 0 {
		t.Skipf("no program for this system beside %s", launcher)
	}
	return found[0]
}

// opencodeSettings have the line that the host would add by itself.
const opencodeSettings = `{
  "$schema": "https://opencode.ai/config.json",
  // the model on loopback
  "model": "mock/m1",
  "small_model": "mock/m1",
  "autoupdate": false,
  "share": "disabled",
  "permission": {"bash": "allow", "edit": "allow"},
  "provider": {
    "mock": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "%s/v1", "apiKey": "x"},
      "models": {"m1": {"tool_call": true, "limit": {"context": 100000, "output": 8000}}},
    },
  }, // one is enough
}
`

func newOpencode(t *testing.T, answer func(*heard) spoken) *station {
	t.Helper()
	s := newStation(t, opencodeProgram(t), answer,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	dir := filepath.Join(s.home, ".config", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	version := gjson.Get(s.exec("", "cat", filepath.Join(filepath.Dir(filepath.Dir(s.program)), "package.json")), "version").String()
	for name, text := range map[string]string{
		"opencode.json": fmt.Sprintf(opencodeSettings, s.API.http.URL),
		// What the host installs at its first start with a plugin, for which it would ask
		// the registry for more than a minute.
		"package.json": `{"dependencies": {"@opencode-ai/plugin": "` + version + `"}}`,
		"node_modules/@opencode-ai/plugin/package.json": `{"name": "@opencode-ai/plugin", "version": "` + version + `"}`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// opencodeServer is one `opencode serve`, driven as a terminal drives it.
type opencodeServer struct {
	*station
	url, port string
	password  string
	// stop ends it, kill does so at once; it may be started again.
	stop, kill func()

	mu     sync.Mutex
	toasts []string
}

// serve starts the host; the first start may take its time.
func (s *station) serve() *opencodeServer {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	o := &opencodeServer{station: s, url: "http://127.0.0.1:" + port, port: port}
	for _, v := range s.env {
		if text, ok := strings.CutPrefix(v, "OPENCODE_SERVER_PASSWORD="); ok {
			o.password = text
		}
	}
	o.start()
	return o
}

// start starts the server, at its address.
func (o *opencodeServer) start() {
	o.t.Helper()
	cmd := o.command(o.program, "serve", "--port", o.port, "--hostname", "127.0.0.1")
	log, err := os.OpenFile(filepath.Join(o.home, "serve-"+o.port+".log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	o.kill = func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	o.stop = sync.OnceFunc(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if log.Close(); o.t.Failed() {
			data, _ := os.ReadFile(log.Name())
			o.t.Logf("the server says\n%s", data)
		}
	})
	o.t.Cleanup(o.stop)
	// A request that comes while the server starts may never be answered.
	client := http.Client{Timeout: 10 * time.Second}
	o.eventually("the server answers", func() bool {
		r, err := client.Do(o.ask(http.MethodGet, "/session", nil))
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	})
	go o.listen()
}

// ask is a request to the server.
func (o *opencodeServer) ask(method, path string, body any) *http.Request {
	data, _ := json.Marshal(body)
	r, err := http.NewRequest(method, o.url+path, bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if o.password != "" {
		r.SetBasicAuth("opencode", o.password)
	}
	return r
}

// eventually waits for the host to have done something.
func (s *station) eventually(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it never happened: %s", what)
		}
	}
}

// listen collects what the host shows to a person.
func (o *opencodeServer) listen() {
	r, err := http.DefaultClient.Do(o.ask(http.MethodGet, "/event", nil))
	if err != nil {
		return
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if ok && gjson.Get(data, "type").String() == "tui.toast.show" {
			o.mu.Lock()
			o.toasts = append(o.toasts, gjson.Get(data, "properties.message").String())
			o.mu.Unlock()
		}
	}
}

func (o *opencodeServer) shown(text string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.toasts {
		n += strings.Count(t, text)
	}
	return n
}

func (o *opencodeServer) post(path string, body any) gjson.Result {
	o.t.Helper()
	client := http.Client{Timeout: 3 * time.Minute}
	r, err := client.Do(o.ask(http.MethodPost, path, body))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Body.Close()
	answer, _ := io.ReadAll(r.Body)
	if r.StatusCode >= 300 {
		o.t.Fatalf("%s: %s %s", path, r.Status, answer)
	}
	return gjson.ParseBytes(answer)
}

func (o *opencodeServer) get(path string) gjson.Result {
	o.t.Helper()
	r, err := http.DefaultClient.Do(o.ask(http.MethodGet, path, nil))
	if err != nil {
		o.t.Fatal(err)
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return gjson.ParseBytes(data)
}

func (o *opencodeServer) session() string {
	return o.post("/session", map[string]any{"title": "the lexer"}).Get("id").String()
}

// say is a turn, to its end.
func (o *opencodeServer) say(id, text string) {
	o.t.Helper()
	o.post("/session/"+id+"/message", map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}})
}

// compact is what /compact does.
func (o *opencodeServer) compact(id string) {
	o.t.Helper()
	o.post("/session/"+id+"/summarize", map[string]any{"providerID": "mock", "modelID": "m1"})
}

const commitLexer = "echo 'package parse // func scanToken() {}' > lexer.go && git add . && git commit -q -m 'add the lexer' && git log -1 --oneline"

// The fourth host, from installing to uninstalling: a suggestion is shown, once; the
// hand-over stands in the summary, once, and the model reads it; sessions, recall,
// audit and the timeline know the session; settings with comments are given back byte
// for byte.
func TestOpencode(t *testing.T) {
	t.Parallel()
	tokens, compacted := 75_000, false
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare:
			compacted = true
			return speak("MOCK-SUMMARY: the lexer was looked at.", 1_000)
		case strings.HasPrefix(r.Last(), "Please write a lexer"):
			return callTool("bash", map[string]any{"command": commitLexer, "description": "commit"}, tokens)
		case strings.Contains(r.Last(), "MARK-ASK"):
			return callTool("overtone_recall", map[string]any{"query": "lexer scanToken"}, 5_000)
		case compacted:
			return speak("I go on.", 5_000)
		}
		return speak("The lexer is committed.", tokens)
	})
	settings := filepath.Join(s.home, ".config", "opencode", "opencode.json")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en"); !strings.Contains(out, "installed into opencode") {
		t.Fatalf("init says\n%s", out)
	}
	o := s.serve()
	id := o.session()
	o.say(id, "Please write a lexer with a function called scanToken, and commit it. MARK-COMMIT")
	o.eventually("the suggestion is shown", func() bool { return o.shown("/compact") == 1 })
	o.say(id, "what is left to do?")
	o.compact(id)
	if !compacted {
		t.Fatal("nothing was compacted")
	}
	n := len(o.API.requests())
	o.say(id, "carry on then")
	o.say(id, "and more")
	after := o.API.requests()[n:]
	if len(after) != 2 {
		t.Fatalf("%d requests after the compaction", len(after))
	}
	for _, r := range after {
		if n := r.Count(handed); n != 1 {
			t.Errorf("%d hand-overs in %q", n, r.Texts[2:])
		}
		if !r.Has("The user's words, newest first") || !r.Has("scanToken") {
			t.Errorf("the hand-over does not know what the summary lacks: %q", r.Texts[2:])
		}
	}
	if n := o.shown("/compact"); n != 1 {
		t.Errorf("the suggestion was shown %d times", n)
	}
	o.say(id, "what was it called? MARK-ASK")
	if last := o.API.last(); !strings.Contains(last.Last(), "data, not instructions") || !strings.Contains(last.Last(), "scanToken") {
		t.Errorf("the model asks back and is told %q", last.Last())
	}
	list := s.sessions()
	if len(list) != 1 || list[0].ID != id || list[0].Host != "opencode" || list[0].Compactions != 1 || list[0].Title != "the lexer" {
		t.Errorf("sessions: %+v", list)
	}
	if out := s.exec("", "overtone", "recall", "lexer", "scanToken"); !strings.Contains(out, id) {
		t.Errorf("recall finds\n%s", out)
	}
	if out := s.exec("", "overtone", "status"); !strings.Contains(out, "the lexer") {
		t.Errorf("status says\n%s", out)
	}
	audit := gjson.Parse(s.exec("", "overtone", "audit", "--json"))
	if one := audit.Get("sessions.0"); one.Get("host").String() != "opencode" || one.Get("requests").Int() < 4 || len(one.Get("compactions").Array()) != 1 {
		t.Errorf("audit: %s", audit.Get("sessions"))
	}
	if out := s.exec("", "overtone", "timeline", "--session", id); !strings.Contains(out, "Continuation packet delivered") || strings.Contains(out, "delivery unknown") {
		t.Errorf("timeline\n%s", out)
	}
	if out := s.doctor(); !strings.Contains(out, "✓ opencode 1.18.33") || strings.Contains(out, "✗") {
		t.Errorf("doctor says\n%s", out)
	}

	// A clone in which the tools' outputs are short is a session of the host's, and
	// goes on; the original stays as it was.
	clone := gjson.Parse(s.exec("", "overtone", "compress", id, "--json", "--whole-file", "--tools", "0-100:remove", "--bands", "0-100:compress", "--min-tokens", "10"))
	copied := clone.Get("result.id").String()
	if !strings.HasPrefix(copied, "ses_") || clone.Get("resume").String() != "opencode -s "+copied {
		t.Fatalf("compress says %s", clone)
	}
	o.say(copied, "PROBE")
	if last := o.API.last(); !last.Has(handed) || last.Count("PROBE") != 1 || !last.Has("overtone recall") {
		t.Errorf("the clone sends %q", last.Texts[2:])
	}
	if list := s.sessions(); len(list) != 2 {
		t.Errorf("sessions: %+v", list)
	}

	s.exec("", "overtone", "uninstall", "--host", "opencode", "--yes")
	if now, err := os.ReadFile(settings); err != nil || string(now) != string(before) {
		t.Errorf("uninstall leaves %v\n%s", err, now)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(settings), "plugin", "overtone.js")); err == nil {
		t.Error("uninstall leaves the plugin behind")
	}
}

// Mode auto: at a boundary within a turn the session is compacted, and the turn goes
// on; at the end of a turn, too. Without a boundary nothing is compacted.
func TestOpencodeSteers(t *testing.T) {
	t.Parallel()
	tokens, summaries := 20_000, 0
	hold, again := make(chan struct{}), make(chan struct{})
	holds := map[int]<-chan struct{}{4: hold} // of summaries
	s := newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare:
			summaries++
			tokens = 6_000
			summary := speak("MOCK-SUMMARY: the lexer was looked at.", 1_000)
			summary.Until = holds[summaries]
			return summary
		case strings.Contains(last, "MARK-TALK"):
			return speak(ways, 72_000)
		case strings.Contains(last, "MARK-LOOK"):
			return callTool("bash", map[string]any{"command": "ls", "description": "look"}, tokens)
		case strings.Contains(last, "MARK-COMMIT"):
			// The step before the commit tells how full the context is.
			return callTool("bash", map[string]any{"command": "echo LOOKED", "description": "look"}, tokens)
		case strings.HasPrefix(last, "LOOKED"):
			return callTool("bash", map[string]any{"command": commitLexer, "description": "commit"}, tokens)
		}
		return speak("That is done.", tokens)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	o := s.serve()
	id := o.session()

	o.say(id, "have a look around MARK-LOOK")
	if summaries != 0 {
		t.Fatalf("%d compactions without a boundary", summaries)
	}
	tokens = 70_000
	n := len(o.API.requests())
	o.say(id, "Please write a lexer with a function called scanToken, and commit it. MARK-COMMIT")
	o.eventually("the session is compacted within the turn", func() bool { return summaries == 1 })
	o.eventually("the turn goes on with the hand-over", func() bool {
		for _, r := range o.API.requests()[n:] {
			if r.Count(handed) == 1 && r.Has("scanToken") {
				return true
			}
		}
		return false
	})
	if out := s.exec("", "overtone", "timeline", "--session", id); !strings.Contains(out, "Recovery delivered") {
		t.Errorf("timeline\n%s", out)
	}

	// Between two turns, below the host's own limit.
	tokens = 85_000
	o.say(id, "thank you, what was that?")
	o.eventually("the session is compacted after the turn", func() bool { return summaries == 2 })
	o.say(id, "and now?")
	if last := o.API.last(); last.Count(handed) != 1 || !last.Has("thank you, what was that?") {
		t.Errorf("the next turn reads %q", last.Texts[2:])
	}
	if summaries != 2 {
		t.Errorf("%d compactions", summaries)
	}

	// When nothing but the turn has ended. The next words refer to its answer.
	id = o.session()
	o.say(id, "how would you do it? MARK-TALK")
	o.eventually("the session is compacted at the end of the turn", func() bool { return summaries == 3 })
	o.say(id, "yes, do 1")
	if last := o.API.last(); last.Count(handed) != 1 || !last.Has("alphaScan") || last.Last() != "yes, do 1" {
		t.Errorf("%d hand-overs, the next turn reads %q", last.Count(handed), last.Texts[2:])
	}
	// What is typed while it compacts is answered, and so is what is typed in the instant.
	o.say(id, "and then? MARK-TALK")
	o.eventually("the session is compacted again", func() bool { return summaries == 4 })
	said := make(chan struct{})
	go func() {
		o.say(id, "TYPED MEANWHILE")
		close(said)
	}()
	o.eventually("the message is there", func() bool { return strings.Contains(o.messages(id), "TYPED MEANWHILE") })
	close(hold)
	receive(t, "said", said)
	if last := o.API.last(); last.Last() != "TYPED MEANWHILE" || last.Count(handed) != 1 {
		t.Errorf("%d hand-overs, the session is\n%s", last.Count(handed), o.messages(id))
	}
	o.say(id, "once more? MARK-TALK")
	o.say(id, "TYPED AT ONCE")
	o.eventually("it is answered", func() bool {
		return slices.ContainsFunc(o.API.requests(), func(r *heard) bool { return r.Last() == "TYPED AT ONCE" })
	})
	o.eventually("the host is idle", func() bool { return !strings.Contains(o.get("/session/status").Raw, "busy") })
	if text := o.messages(id); strings.Count(text, "TYPED AT ONCE") != 1 {
		t.Errorf("the session is\n%s", text)
	}

	// One that the host has taken, but not stored when it is asked to compact, is summed up
	// with the rest, and answered all the same.
	o.stop()
	holds[summaries+1] = again
	const typed = `"chat.message": async (input, output) => {`
	s.change(filepath.Join(s.home, ".config", "opencode", "plugin", "overtone.js"), typed, typed+" await new Promise((done) => setTimeout(done, 1000));")
	o.start()
	id = o.session()
	o.say(id, "in short? MARK-TALK")
	go o.say(id, "TYPED TOO EARLY")
	o.eventually("it is there", func() bool { return strings.Contains(o.messages(id), "TYPED TOO EARLY") })
	close(again)
	o.eventually("it is answered", func() bool {
		last := o.API.last()
		return last.Last() == "TYPED TOO EARLY" && last.Count(handed) == 1
	})
}

// Whatever is typed right behind an answer, the end of its turn is told, once, and before
// it: our program hears of as many as there were.
func TestOpencodeTypedBehind(t *testing.T) {
	t.Parallel()
	s := newOpencode(t, func(r *heard) spoken { return speak("answer to "+r.Last(), 5_000) })
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	calls := filepath.Join(s.home, "calls")
	s.change(filepath.Join(s.home, ".config", "opencode", "plugin", "overtone.js"), "const COMMAND = [", `const COMMAND = ["sh", "-c", `+strconv.Quote(`tee -a `+calls+` | "$0" "$@"`)+", ")
	o := s.serve()
	id := o.session()
	var want, got []string
	for n := range 8 {
		text := fmt.Sprintf("question %d", n)
		want = append(want, text, "answer to "+text)
		o.say(id, text)
	}
	s.eventually("the last end is told", func() bool {
		got = nil
		data, _ := os.ReadFile(calls) // it is there by now, or soon
		for line := range strings.Lines(string(data)) {
			input := gjson.Get(line, "input")
			for _, key := range []string{"last_assistant_message", "prompt"} {
				if text := input.Get(key).String(); text != "" {
					got = append(got, text)
				}
			}
		}
		return len(got) > 0 && got[len(got)-1] == want[len(want)-1]
	})
	if !slices.Equal(got, want) {
		t.Errorf("it was told\n%s", strings.Join(got, "\n"))
	}
}

// A workflow: the tag starts it, the main agent is kept from editing, the stage's agent
// works in a session of its own and may, and its end brings the next stage.
func TestOpencodeWorkflow(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		t.Run(fmt.Sprintf("terminal=%v", terminal), func(t *testing.T) {
			t.Parallel()
			testOpencodeWorkflow(t, terminal)
		})
	}
}

func testOpencodeWorkflow(t *testing.T, terminal bool) {
	var s *station
	s = newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		child := strings.Contains(r.Body, "stage DEV of an Overtone workflow")
		switch {
		case r.Bare:
			return speak("title", 100)
		case child && !strings.Contains(last, "Wrote file") && !strings.Contains(last, "successfully"):
			return callTool("write", map[string]any{"filePath": filepath.Join(s.project, "lexer.go"), "content": "package x"}, 1_000)
		case child:
			return speak("done\n<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->", 1_000)
		case strings.Contains(last, "MARK-START"):
			return callTool("bash", map[string]any{"command": "echo x > main.go", "description": "edit"}, 1_000)
		case strings.Contains(last, "overtone:developer") && r.Count("task_result") == 0:
			return callTool("task", map[string]any{"description": "dev", "prompt": "build it", "subagent_type": "overtone:developer"}, 1_000)
		}
		return speak("SO-IT-IS", 1_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	id := ""
	const prompt = "[workflow:quick] MARK-START speed up the parser"
	if terminal {
		term := s.terminal()
		term.Wait("mock", 1)
		term.Say(prompt)
		term.Wait("SO-IT-IS", 1)
	} else {
		o := s.serve()
		id = o.session()
		o.say(id, prompt)
	}
	list := s.API.requests()
	all := func(text string) (n int) {
		for _, r := range list {
			n += r.Count(text)
		}
		return n
	}
	if n := all("/overtone:"); n != 0 {
		t.Errorf("commands that this host does not have are named %d times", n)
	}
	if all("NODE_CONTEXT") == 0 {
		t.Error("the stage's agent has no node context")
	}
	if _, err := os.Stat(filepath.Join(s.project, "main.go")); err == nil {
		t.Error("the main agent has edited a file")
	}
	if _, err := os.Stat(filepath.Join(s.project, "lexer.go")); err != nil {
		t.Errorf("the stage's agent could not: %v", err)
	}
	if terminal {
		id = s.sessions()[0].ID
	}
	if out := s.exec("", "overtone", "timeline", "--session", id); !strings.Contains(out, "DEV") {
		t.Errorf("timeline\n%s", out)
	}
	s.eventually("the next stage is told", func() bool {
		list = s.API.requests()
		return all("REVIEW") > 0
	})
}

// An answer that was cut, by Ctrl-C before its first word and by a signal while its tool
// ran, ends that answer, not the session: audit knows every request that the model saw,
// recall finds what was said later, the hand-over knows the newest request, and the session
// goes on in another agent with it.
func TestOpencodeCut(t *testing.T) {
	t.Parallel()
	never, asked := make(chan struct{}), make(chan struct{}, 9)
	var s *station
	s = newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare:
			return speak("MOCK-SUMMARY: they looked around.", 100)
		case strings.Contains(last, "MARK-FIRST"):
			asked <- struct{}{}
			return spoken{Until: never}
		case strings.Contains(last, "MARK-THIRD"):
			said := callTool("bash", map[string]any{"command": "touch began; exec sleep 300", "description": "wait"}, 5_000)
			said.Text = "I wait."
			return said
		}
		return speak("the answer is zephyrine", 5_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	cut := func(prompt string, by syscall.Signal, begun func() bool, args ...string) {
		t.Helper()
		cmd := s.command(s.program, append([]string{"run"}, args...)...)
		cmd.Stdin = strings.NewReader(prompt)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("the answer has begun", begun)
		syscall.Kill(-cmd.Process.Pid, by)
		cmd.Wait()
	}
	cut("look around MARK-FIRST", syscall.SIGINT, func() bool { return len(asked) > 0 }, "--title", "the lexer")
	s.exec("name the quince MARK-SECOND", s.program, "run", "-c")
	cut("wait a while MARK-THIRD", syscall.SIGHUP, func() bool { _, err := os.Stat(filepath.Join(s.project, "began")); return err == nil }, "-c")
	s.exec("name the medlar MARK-FOURTH", s.program, "run", "-c")

	list := s.sessions()
	if len(list) != 1 {
		t.Fatalf("sessions: %+v", list)
	}
	id, saw := list[0].ID, len(s.API.requests())
	audit := gjson.Parse(s.exec("", "overtone", "audit", "--json"))
	if n := audit.Get("sessions.0.requests").Int(); saw != 4 || n != 4 {
		t.Errorf("the model saw %d requests, audit %d", saw, n)
	}
	for _, word := range []string{"quince", "medlar", "zephyrine"} {
		if out := s.exec("", "overtone", "recall", word); !strings.Contains(out, id) {
			t.Errorf("recall %s finds\n%s", word, out)
		}
	}
	made := gjson.Parse(s.exec("", "overtone", "continue", id, "--in", "claude-code", "--json"))
	if data, err := os.ReadFile(made.Get("path").String()); err != nil || !strings.Contains(string(data), "MARK-FOURTH") || !strings.Contains(string(data), "zephyrine") {
		t.Errorf("continue: %v %s\n%s", err, made, data)
	}
	o := s.serve()
	o.compact(id)
	o.say(id, "name the sorb MARK-FIFTH")
	last := o.API.last()
	if last.Count(handed) != 1 || !last.Has("newest first\n- “name the medlar MARK-FOURTH”") || last.Has("nobody has answered yet") {
		t.Errorf("the hand-over after a cut says %q", last.Texts[2:])
	}
}

// The ways in which a turn of opencode is cut. Afterwards two more turns are held, and what
// the model was sent is what audit, recall and continue know.
func TestOpencodeCutStories(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		under string // what is cut
		by    string // a signal to `run`; else what happens to the server
	}{
		{"answer", "SIGINT"},
		{"answer", "SIGTERM"},
		{"tool", "SIGHUP"},
		{"answer", "killed"},
		{"tool", "killed"},
		{"compaction", "killed"},
		{"answer", "aborted"},
		{"tool", "aborted"},
		{"agent", "aborted"},
	} {
		if os.Getenv("OVERTONE_E2E_SOAK") == "" && story.under != "compaction" && story.by != "SIGTERM" && story.under+story.by != "toolkilled" {
			continue // the others take a minute more, and are for make e2e-soak
		}
		t.Run(story.under+" "+story.by, func(t *testing.T) {
			t.Parallel()
			testOpencodeCutStory(t, story.under, story.by)
		})
	}
}

func testOpencodeCutStory(t *testing.T, under, by string) {
	never, asked := make(chan struct{}), make(chan struct{}, 9)
	var compactions atomic.Int32
	s := newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare && under == "compaction" && compactions.Add(1) == 1,
			strings.Contains(last, "CHILD-WORK"),
			strings.Contains(last, "MARK-CUT") && under == "answer":
			asked <- struct{}{}
			return spoken{Until: never}
		case r.Bare:
			return speak("MOCK-SUMMARY: they looked around.", 100)
		case strings.Contains(last, "MARK-CUT") && under == "tool":
			return callTool("bash", map[string]any{"command": "touch began; exec sleep 300", "description": "wait"}, 5_000)
		case strings.Contains(last, "MARK-CUT") && under == "agent":
			return callTool("task", map[string]any{"description": "look", "prompt": "CHILD-WORK", "subagent_type": "general"}, 5_000)
		}
		return speak("the answer is zephyrine", 5_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	begun := func() bool {
		_, err := os.Stat(filepath.Join(s.project, "began"))
		return err == nil || len(asked) > 0
	}
	const cut, second, third = "look around MARK-CUT", "name the quince MARK-SECOND", "name the medlar MARK-THIRD"
	if signal, ok := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}[by]; ok {
		cmd := s.command(s.program, "run", "--title", "the lexer")
		cmd.Stdin = strings.NewReader(cut)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("it has begun", begun)
		syscall.Kill(-cmd.Process.Pid, signal)
		cmd.Wait()
		s.exec(second, s.program, "run", "-c")
		s.exec(third, s.program, "run", "-c")
	} else {
		o := s.serve()
		id := o.session()
		path, body := "/prompt_async", map[string]any{"parts": []any{map[string]any{"type": "text", "text": cut}}}
		if under == "compaction" {
			o.say(id, "look around")
			path, body = "/summarize", map[string]any{"providerID": "mock", "modelID": "m1"}
		}
		go func() {
			if r, err := http.DefaultClient.Do(o.ask(http.MethodPost, "/session/"+id+path, body)); err == nil {
				r.Body.Close()
			}
		}()
		s.eventually("it has begun", begun)
		if by == "killed" {
			o.kill()
			o.start()
		} else {
			o.post("/session/"+id+"/abort", nil)
		}
		o.say(id, second)
		o.say(id, third)
	}
	var known int64
	audit := gjson.Parse(s.exec("", "overtone", "audit", "--json"))
	for _, one := range audit.Get("sessions").Array() {
		known += one.Get("requests").Int()
	}
	saw := s.API.count()
	if under == "compaction" {
		saw-- // a summary that was never written is none of a session's requests
	}
	t.Logf("the model saw %d requests, audit knows %d", saw, known)
	if int64(saw) != known {
		t.Errorf("the model saw %d requests, audit knows %d: %s", saw, known, audit.Get("sessions"))
	}
	list := s.sessions()
	if len(list) == 0 {
		t.Fatal("no session")
	}
	id := list[0].ID
	for _, word := range []string{"quince", "medlar", "zephyrine"} {
		if out := s.exec("", "overtone", "recall", word); !strings.Contains(out, id) {
			t.Errorf("recall %s finds\n%s", word, out)
		}
	}
	made := gjson.Parse(s.exec("", "overtone", "continue", id, "--in", "claude-code", "--json"))
	data, err := os.ReadFile(made.Get("path").String())
	if err != nil || !strings.Contains(string(data), third) || !strings.Contains(string(data), "zephyrine") {
		t.Errorf("continue: %v %s\n%s", err, made, data)
	}
}

// messages are who said what in a session, in short.
func (o *opencodeServer) messages(id string) string {
	o.t.Helper()
	var list []string
	for _, m := range o.get("/session/" + id + "/message").Array() {
		text := m.Get("info.role").String() + " " + m.Get("info.finish").String() + m.Get("info.error.name").String()
		for _, p := range m.Get("parts").Array() {
			text += fmt.Sprintf(" [%s %.60s]", p.Get("type"), p.Get("text"))
		}
		list = append(list, text)
	}
	return strings.Join(list, "\n")
}
