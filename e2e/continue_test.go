//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// These tests carry a session from one agent to another and ask a question there: what
// the model is sent has to hold the history, by what the mock of its API sees.

// What the recorded sessions hold: a request that stays whole, a name that only tools
// have named, a text that is too old to stay whole, and a secret.
const (
	lastRequest = "Now make loadLedger strict about empty rows, and keep the LEDGER-42 format."
	toolName    = "mergeLedgerBatches"
	leakedKey   = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	answerTold  = "Decision: loadLedger refuses empty rows with errEmptyRow, since a silent skip hid the bug."
)

func oldTurn(n int) (asked, said string) {
	return fmt.Sprintf("Question %d: what does the importer do with row %d?", n, n),
		strings.Repeat(fmt.Sprintf("I looked at the importer once more and walked through row %d step by step, which took a while. ", n), 12)
}

// recordedClaude is a session of Claude Code in a folder.
func recordedClaude(cwd string) []byte {
	var out strings.Builder
	last := ""
	line := func(typ string, content any) {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", strings.Count(out.String(), "\n")+1)
		l := map[string]any{"type": typ, "uuid": id, "parentUuid": nil, "sessionId": carriedClaude, "cwd": cwd, "version": "2.1.325", "timestamp": "2026-03-05T10:00:00.000Z", "message": map[string]any{"role": typ, "model": "claude-sonnet-4-5", "content": content}}
		if last != "" {
			l["parentUuid"] = last
		}
		last = id
		b, _ := json.Marshal(l)
		out.Write(append(b, '\n'))
	}
	text := func(s string) any { return []any{map[string]any{"type": "text", "text": s}} }
	for n := range 12 {
		asked, said := oldTurn(n)
		line("user", asked)
		line("assistant", text(said))
	}
	line("user", "The token is "+leakedKey+", never print it.")
	line("assistant", text("I will not."))
	line("user", lastRequest)
	line("assistant", []any{map[string]any{"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": map[string]any{"file_path": cwd + "/ledger.go", "old_string": "func " + toolName + "() {", "new_string": "func " + toolName + "(strict bool) {"}}})
	line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_1", "content": "The file has been updated."}})
	line("assistant", text(answerTold))
	return []byte(out.String())
}

const (
	carriedClaude = "5a1d0000-0000-4000-8000-000000000001"
	carriedCodex  = "01990000-0000-7000-8000-000000000001"
)

// recordedCodex is the same work in a rollout of Codex.
func recordedCodex(cwd string) []byte {
	var out strings.Builder
	line := func(typ string, payload map[string]any) {
		b, _ := json.Marshal(payload)
		fmt.Fprintf(&out, `{"timestamp":"2026-03-05T10:00:00.000Z","type":%q,"payload":%s}`+"\n", typ, b)
	}
	said := func(role, kind, text string) {
		line("response_item", map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}})
	}
	user := func(text string) { said("user", "input_text", text) }
	agent := func(text string) { said("assistant", "output_text", text) }
	line("session_meta", map[string]any{"id": carriedCodex, "timestamp": "2026-03-05T10:00:00.000Z", "cwd": cwd, "originator": "codex-tui", "cli_version": "0.166.0", "source": "cli"})
	for n := range 12 {
		asked, told := oldTurn(n)
		user(asked)
		agent(told)
	}
	user("The token is " + leakedKey + ", never print it.")
	agent("I will not.")
	user(lastRequest)
	line("response_item", map[string]any{"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": `{"cmd":"grep -n ` + toolName + ` ledger.go"}`})
	line("response_item", map[string]any{"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 0"})
	agent(answerTold)
	return []byte(out.String())
}

// writeClaude and writeCodex put a recorded session below an agent's own folder.
func writeClaude(t *testing.T, dir, cwd string) string {
	t.Helper()
	return recordSession(t, filepath.Join(dir, "projects", "p", carriedClaude+".jsonl"), recordedClaude(cwd))
}

func writeCodex(t *testing.T, dir, cwd string) string {
	t.Helper()
	return recordSession(t, filepath.Join(dir, "sessions", "2026", "03", "05", "rollout-2026-03-05T10-00-00-"+carriedCodex+".jsonl"), recordedCodex(cwd))
}

func recordSession(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// remembers checks that a request holds the history, as the note tells it, and no secret.
func remembers(t *testing.T, body string) {
	t.Helper()
	for _, want := range []string{lastRequest, answerTold, toolName, "overtone recall", "Question 3:"} {
		if !strings.Contains(body, want) {
			t.Errorf("the model does not see %q", want)
		}
	}
	if strings.Contains(body, leakedKey) {
		t.Error("the secret went to another vendor")
	}
	if _, said := oldTurn(3); strings.Contains(body, said) {
		t.Error("an old answer went out whole")
	}
}

// talks is a model behind two kinds of API that other agents speak, which writes down
// what it is sent.
type talks struct {
	URL    string
	mu     sync.Mutex
	bodies []string
}

func newTalks(t *testing.T) *talks {
	k := &talks{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			k.note(string(b))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Here."}}]}`+"\n\n")
			fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`+"\n\ndata: [DONE]\n\n")
		case strings.Contains(r.URL.Path, ":streamGenerateContent"):
			k.note(string(b))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Here."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}}`+"\n\n")
		case strings.Contains(r.URL.Path, ":countTokens"):
			fmt.Fprint(w, `{"totalTokens":10}`)
		default:
			fmt.Fprint(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Here."}]},"finishReason":"STOP"}]}`)
		}
	}))
	t.Cleanup(srv.Close)
	k.URL = srv.URL
	return k
}

func (k *talks) note(body string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bodies = append(k.bodies, body)
}

// sent is all that the model was sent, with the escapes of JSON undone.
func (k *talks) sent() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all strings.Builder
	for _, b := range k.bodies {
		var v any
		if json.Unmarshal([]byte(b), &v) == nil {
			walkStrings(v, func(s string) { all.WriteString(s + "\n") })
		}
	}
	return all.String()
}

func walkStrings(v any, fn func(string)) {
	switch v := v.(type) {
	case string:
		fn(v)
	case []any:
		for _, x := range v {
			walkStrings(x, fn)
		}
	case map[string]any:
		for _, x := range v {
			walkStrings(x, fn)
		}
	}
}

// other is a home with a program of an agent that has no world of its own.
type other struct {
	t             *testing.T
	home, project string
	env           []string
}

func newOther(t *testing.T, a agent, env ...string) *other {
	t.Helper()
	program := a.path(t)
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &other{t: t, home: filepath.Join(base, "home"), project: filepath.Join(base, "proj")}
	for _, dir := range []string{o.home, o.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o.env = append([]string{
		"PATH=" + strings.Join([]string{bin, filepath.Dir(program), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + o.home, "TMPDIR=" + base, "LC_CTYPE=C.UTF-8", "CI=1", "GIT_CONFIG_NOSYSTEM=1",
	}, env...)
	o.run("", "git", "init", "-q", "-b", "main")
	return o
}

// run runs a program in the project and returns what it printed.
func (o *other) run(in, name string, args ...string) string {
	o.t.Helper()
	for _, dir := range strings.Split(strings.TrimPrefix(o.env[0], "PATH="), string(os.PathListSeparator)) {
		if path := filepath.Join(dir, name); exec.Command("test", "-x", path).Run() == nil {
			name = path
			break
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = o.project, o.env, strings.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	timer := time.AfterFunc(3*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (o *other) write(name, text string) {
	o.t.Helper()
	path := filepath.Join(o.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// continued is what `overtone continue --json` tells.
func continued(t *testing.T, out string) (id, title string) {
	t.Helper()
	if i := strings.IndexByte(out, '{'); i > 0 {
		out = out[i:]
	}
	id, title = gjson.Get(out, "id").String(), gjson.Get(out, "title").String()
	if id == "" || title == "" || gjson.Get(out, "resume").String() == "" || gjson.Get(out, "redacted").Map()["github-token"].Int() == 0 && len(gjson.Get(out, "redacted").Map()) == 0 {
		t.Fatalf("continue: %s", out)
	}
	return id, title
}

// A session of Claude Code goes on in Codex, under its title.
func TestContinueClaudeInCodex(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t, func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Message: "Here.", Tokens: 3000} }, Unattended)
	path := writeClaude(t, filepath.Join(w.Home, ".claude"), w.Project)
	before := sum(t, path)
	id, title := continued(t, w.command(overtoneBinary(t), "continue", "--in", "codex", "--json"))
	for _, name := range []string{id, title} {
		n := len(w.Model.Requests())
		w.command(w.server, "exec", "resume", name, "PROBE")
		requests := w.Model.Requests()[n:]
		if len(requests) == 0 || requests[0].Compaction {
			t.Fatalf("%d requests of %s", len(requests), name)
		}
		var v any
		var all strings.Builder
		_ = json.Unmarshal(requests[0].Raw, &v)
		walkStrings(v, func(s string) { all.WriteString(s + "\n") })
		remembers(t, all.String())
	}
	if sum(t, path) != before {
		t.Error("the source was changed")
	}
	// What was gone on with is not removed by mistake.
	w.command(overtoneBinary(t), "sessions", "rm", id, "--yes", "--force")
	left, _ := filepath.Glob(filepath.Join(w.Codex, "sessions", "*", "*", "*", "*"+id+"*"))
	names, _ := os.ReadFile(filepath.Join(w.Codex, "session_index.jsonl"))
	if len(left) > 0 || strings.Contains(string(names), id) {
		t.Errorf("left over: %v, %s", left, names)
	}
}

// A session of Codex goes on in Claude Code, on each version.
func TestContinueCodexInClaude(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{}
		w := NewWorld(t, Overtone, p.Handle, v)
		path := writeCodex(t, filepath.Join(w.Home, ".codex"), w.Project)
		before := sum(t, path)
		id, title := continued(t, w.Exec("overtone", "continue", carriedCodex, "--in", "claude-code", "--json"))
		for _, name := range []string{id, title} {
			r := w.resumed(t, name)
			var all strings.Builder
			for _, m := range r.Messages {
				all.WriteString(m.Text() + "\n")
			}
			remembers(t, all.String())
		}
		if sum(t, path) != before {
			t.Error("the source was changed")
		}
		if len(summaries(w)) > 0 {
			t.Error("it was compacted")
		}
	})
}

// In the same agent a session goes on as a clone, which it resumes without compacting it.
func TestContinueInPlace(t *testing.T) {
	t.Parallel()
	t.Run("claude", func(t *testing.T) {
		t.Parallel()
		p := &Play{}
		w := NewWorld(t, Overtone, p.Handle)
		recordSession(t, host.Of(host.ClaudeCode).SessionPath(w.Config, w.Project, carriedClaude+".jsonl"), recordedClaude(w.Project))
		out := w.Exec("overtone", "continue", "--json")
		id := gjson.Get(out[strings.IndexByte(out, '{'):], "id").String()
		if r := w.resumed(t, id); id == carriedClaude || !r.Has(lastRequest) || !r.Has(toolName) || len(summaries(w)) > 0 {
			t.Errorf("%s: the model sees %s", out, r)
		}
	})
	t.Run("codex", func(t *testing.T) {
		t.Parallel()
		w := newCodexWorld(t, func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Message: "Here.", Tokens: 3000} }, Unattended)
		writeCodex(t, w.Codex, w.Project)
		id := gjson.Get(w.command(overtoneBinary(t), "continue", "--json"), "id").String()
		w.command(w.server, "exec", "resume", id, "PROBE")
		r := w.Model.Requests()[0]
		if id == carriedCodex || r.Compaction || r.Count(lastRequest) == 0 || r.Count(toolName) == 0 {
			t.Errorf("%s: the model sees %s", id, r.Raw)
		}
	})
}

// openCode is opencode with a model of its own.
func openCode(t *testing.T) (*other, *talks) {
	t.Helper()
	k := newTalks(t)
	o := newOther(t, agent{"opencode-1.18.33", "opencode", []string{"opencode-ai@1.18.33"}})
	o.write(".config/opencode/opencode.json", fmt.Sprintf(`{"model":"mock/m1","small_model":"mock/m1","autoupdate":false,"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"x"},"models":{"m1":{"tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`, k.URL+"/v1"))
	return o, k
}

// Sessions of Claude Code and of Codex go on in opencode, which lists them.
func TestContinueInOpencode(t *testing.T) {
	t.Parallel()
	for _, source := range []string{carriedClaude, carriedCodex} {
		t.Run(source[:4], func(t *testing.T) {
			t.Parallel()
			o, k := openCode(t)
			writeClaude(t, filepath.Join(o.home, ".claude"), o.project)
			writeCodex(t, filepath.Join(o.home, ".codex"), o.project)
			id, title := continued(t, o.run("", "overtone", "continue", source, "--in", "opencode", "--json"))
			if list := o.run("", "opencode", "session", "list"); !strings.Contains(list, id) || !strings.Contains(list, title[:20]) {
				t.Errorf("its list:\n%s", list)
			}
			o.run("PROBE", "opencode", "run", "-s", id, "-m", "mock/m1")
			remembers(t, k.sent())
			o.run("", "overtone", "sessions", "rm", id, "--yes")
			if list := o.run("", "opencode", "session", "list"); strings.Contains(list, id) {
				t.Errorf("it is not removed:\n%s", list)
			}
		})
	}
}

// A session of Claude Code goes on in Gemini CLI, which lists it, also when it was
// resumed before.
func TestContinueClaudeInGemini(t *testing.T) {
	t.Parallel()
	k := newTalks(t)
	o := newOther(t, agent{"gemini-0.61.0", "gemini", []string{"@google/gemini-cli@0.61.0", "node@24"}},
		"GEMINI_API_KEY=mock", "GOOGLE_GEMINI_BASE_URL="+k.URL, "GEMINI_CLI_TRUST_WORKSPACE=true")
	o.write(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"telemetry":{"enabled":false}}`)
	writeClaude(t, filepath.Join(o.home, ".claude"), o.project)
	id, title := continued(t, o.run("", "overtone", "continue", "--in", "gemini", "--json"))
	for range 2 {
		if list := o.run("", "gemini", "--list-sessions"); !strings.Contains(list, id) || !strings.Contains(list, title[:20]) {
			t.Fatalf("its list:\n%s", list)
		}
		o.run("", "gemini", "--resume", id, "-m", "gemini-2.5-pro", "-y", "-p", "PROBE")
	}
	remembers(t, k.sent())
	o.run("", "overtone", "sessions", "rm", id, "--yes", "--force")
	if list := o.run("", "gemini", "--list-sessions"); strings.Contains(list, title[:20]) {
		t.Errorf("it is not removed:\n%s", list)
	}
}

// A session of Codex goes on in Copilot CLI.
func TestContinueCodexInCopilot(t *testing.T) {
	t.Parallel()
	c := newCopilot(t, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("Here.").Tokens(5_000) })
	writeCodex(t, filepath.Join(c.home, ".codex"), c.project)
	id, _ := continued(t, c.exec("overtone", "continue", carriedCodex, "--in", "copilot", "--json"))
	c.ask("PROBE", "--resume="+id)
	var all strings.Builder
	for _, r := range c.API.Requests() {
		for _, m := range r.Messages {
			all.WriteString(m.Text() + "\n")
		}
	}
	remembers(t, all.String())
	c.exec("overtone", "sessions", "rm", id, "--yes", "--force")
	if _, err := os.Stat(filepath.Join(c.home, ".copilot", "session-state", id)); !os.IsNotExist(err) {
		t.Errorf("it is not removed: %v", err)
	}
}
