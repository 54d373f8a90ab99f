//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// fullTokens is what the model reported last of a rollout that is to be compacted, and
// fullTimes how often each old answer is repeated to come near it.
const fullTokens, fullTimes = 80_000, 24

// recordedCodex is the same work in a rollout of Codex, with old answers of so many times
// their length.
func recordedCodex(cwd string, times int) []byte {
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
		agent(strings.Repeat(told, times))
	}
	user("The token is " + leakedKey + ", never print it.")
	agent("I will not.")
	user(lastRequest)
	line("response_item", map[string]any{"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": `{"cmd":"grep -n ` + toolName + ` ledger.go"}`})
	line("response_item", map[string]any{"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 0"})
	agent(answerTold)
	used := map[string]any{"input_tokens": fullTokens, "cached_input_tokens": 0, "output_tokens": 1, "reasoning_output_tokens": 0, "total_tokens": fullTokens + 1}
	line("event_msg", map[string]any{"type": "token_count", "info": map[string]any{"total_token_usage": used, "last_token_usage": used, "model_context_window": 100_000}})
	return []byte(out.String())
}

const (
	carriedOpencode = "ses_0000000000010000000000001"
	carriedGemini   = "6e1d0000-0000-4000-8000-000000000001"
)

// recordedOpencode is the same work, without the secret, for opencode's import.
func recordedOpencode(cwd string) []byte {
	type object = map[string]any
	at := time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC).UnixMilli()
	var messages []any
	last := ""
	message := func(user bool, parts ...object) {
		n := len(messages) + 1
		id := fmt.Sprintf("msg_%012d", n)
		info := object{"id": id, "sessionID": carriedOpencode, "role": "user", "agent": "build", "time": object{"created": at + int64(n)}, "model": object{"providerID": "mock", "modelID": "m1"}}
		if user {
			last = id
		} else {
			info["role"], info["time"], info["parentID"] = "assistant", object{"created": at + int64(n), "completed": at + int64(n)}, last
			info["mode"], info["path"], info["cost"], info["modelID"], info["providerID"] = "build", object{"cwd": cwd, "root": cwd}, 0, "m1", "mock"
			info["tokens"] = object{"input": 0, "output": 0, "reasoning": 0, "cache": object{"read": 0, "write": 0}}
		}
		for i, p := range parts {
			p["id"], p["sessionID"], p["messageID"] = fmt.Sprintf("prt_%06d%06d", n, i), carriedOpencode, id
		}
		messages = append(messages, object{"info": info, "parts": parts})
	}
	text := func(s string) object { return object{"type": "text", "text": s} }
	for n := range 12 {
		asked, said := oldTurn(n)
		message(true, text(asked))
		message(false, text(said))
	}
	message(true, text(lastRequest))
	message(false, object{"type": "tool", "tool": "bash", "callID": "c1", "state": object{
		"status": "completed", "input": object{"command": "grep -n " + toolName + " ledger.go", "description": "x"}, "output": strings.Repeat("ledger.go:12: the same row once more\n", 40),
		"title": "grep", "metadata": object{}, "time": object{"start": at, "end": at},
	}}, text(answerTold))
	b, _ := json.Marshal(object{"info": object{"id": carriedOpencode, "slug": "x", "title": "The ledger", "version": "1.18.33", "time": object{"created": at, "updated": at}}, "messages": messages})
	return b
}

// recordedGemini is the same in a file of Gemini CLI, which it would remove if it were old.
func recordedGemini() []byte {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	var out strings.Builder
	line := func(v map[string]any) {
		b, _ := json.Marshal(v)
		out.Write(append(b, '\n'))
	}
	message := func(typ string, content any, more map[string]any) {
		v := map[string]any{"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", out.Len()), "timestamp": now, "type": typ, "content": content}
		maps.Copy(v, more)
		line(v)
	}
	user := func(text string) { message("user", []any{map[string]any{"text": text}}, nil) }
	line(map[string]any{"sessionId": carriedGemini, "projectHash": "any", "startTime": now, "lastUpdated": now, "kind": "main", "summary": "The ledger"})
	for n := range 12 {
		asked, said := oldTurn(n)
		user(asked)
		message("gemini", said, nil)
	}
	user(lastRequest)
	message("gemini", "", map[string]any{"toolCalls": []any{map[string]any{
		"id": "c1", "name": "run_shell_command", "args": map[string]any{"command": "grep -n " + toolName + " ledger.go"}, "status": "success", "timestamp": now,
		"result": []any{map[string]any{"functionResponse": map[string]any{"id": "c1", "name": "run_shell_command", "response": map[string]any{"output": strings.Repeat("the same row once more\n", 60)}}}},
	}}})
	message("gemini", answerTold, nil)
	return []byte(out.String())
}

// writeClaude and writeCodex put a recorded session below an agent's own folder.
func writeClaude(t *testing.T, dir, cwd string) string {
	t.Helper()
	return recordSession(t, filepath.Join(dir, "projects", "p", carriedClaude+".jsonl"), recordedClaude(cwd))
}

func writeCodex(t *testing.T, dir, cwd string, times int) string {
	t.Helper()
	return recordSession(t, filepath.Join(dir, "sessions", "2026", "03", "05", "rollout-2026-03-05T10-00-00-"+carriedCodex+".jsonl"), recordedCodex(cwd, times))
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

func (k *talks) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bodies = nil
}

// sent is all that the model was sent, with the escapes of JSON undone.
func (k *talks) sent() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all strings.Builder
	for _, b := range k.bodies {
		all.WriteString(stringsIn([]byte(b)))
	}
	return all.String()
}

// stringsIn is all texts of a JSON value.
func stringsIn(data []byte) string {
	var v any
	var all strings.Builder
	_ = json.Unmarshal(data, &v) // what is none has no texts
	walkStrings(v, func(s string) { all.WriteString(s + "\n") })
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
	stay(t, base)
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
	if listed := w.listed(); listed[id] != title {
		t.Errorf("the picker lists %v", listed)
	}
	for _, name := range []string{id, title} {
		n := len(w.Model.Requests())
		w.command(w.server, "exec", "resume", name, "PROBE")
		requests := w.Model.Requests()[n:]
		if len(requests) == 0 || requests[0].Compaction {
			t.Fatalf("%d requests of %s", len(requests), name)
		}
		remembers(t, stringsIn(requests[0].Raw))
	}
	n := len(w.Model.Requests())
	env := w.environ("PATH=" + filepath.Dir(w.server) + string(os.PathListSeparator) + w.path)
	runsIn(t, w.Home, w.Project, env, carriedClaude+" --in codex", func(s *Terminal) { s.Wait("mock-model", 1) }, func() string {
		var all strings.Builder
		for _, r := range w.Model.Requests()[n:] {
			all.WriteString(stringsIn(r.Raw))
		}
		return all.String()
	})
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

// listed are the sessions that Codex's picker shows, with their names: it asks its
// app-server for them.
func (w *CodexWorld) listed() map[string]string {
	w.t.Helper()
	w.serve()
	c := w.dial()
	defer c.Close()
	var list struct{ Data []struct{ ID, Name string } }
	(&User{Client: c, w: w}).call("thread/list", map[string]any{"cwd": w.Project}, &list)
	out := map[string]string{}
	for _, s := range list.Data {
		out[s.ID] = s.Name
	}
	return out
}

// A session of Codex goes on in Claude Code, on each version.
func TestContinueCodexInClaude(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{}
		w := NewWorld(t, Overtone, p.Handle, v)
		was := w.Project
		if v.floor() {
			was += "-gone" // it goes on where the command was called
		}
		path := writeCodex(t, filepath.Join(w.Home, ".codex"), was, 1)
		before := sum(t, path)
		id, title := continued(t, w.Exec("overtone", "continue", carriedCodex, "--in", "claude-code", "--json"))
		w.screen(w.claude+" --resume").Wait(title[:40], 1)
		for _, name := range []string{id, title} {
			r := w.resumed(t, name)
			var all strings.Builder
			for _, m := range r.Messages {
				all.WriteString(m.Text() + "\n")
			}
			remembers(t, all.String())
			if told := strings.Contains(all.String(), "folder was "+was+" and is "+w.Project+" now"); told != v.floor() {
				t.Errorf("the model is told of another folder: %v", told)
			}
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
		onEach(t, func(t *testing.T, v Version) {
			p := &Play{}
			w := NewWorld(t, Overtone, p.Handle, v)
			recordSession(t, host.Of(host.ClaudeCode).SessionPath(w.Config, w.Project, carriedClaude+".jsonl"), recordedClaude(w.Project))
			if v == Newest(t) {
				w.runs(t)
				return
			}
			out := w.Exec("overtone", "continue", "--json")
			id := gjson.Get(out[strings.IndexByte(out, '{'):], "id").String()
			if r := w.resumed(t, id); id == carriedClaude || !r.Has(lastRequest) || !r.Has(toolName) || len(summaries(w)) > 0 {
				t.Errorf("%s: the model sees %s", out, r)
			}
		})
	})
	t.Run("codex", func(t *testing.T) {
		t.Parallel()
		w := newCodexWorld(t, func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Message: "Here.", Tokens: 3000} }, "model_auto_compact_token_limit = 70000\n"+Unattended)
		writeCodex(t, w.Codex, w.Project, fullTimes)
		id := gjson.Get(w.command(overtoneBinary(t), "continue", "--json"), "id").String()
		w.command(w.server, "exec", "resume", id, "PROBE")
		r := w.Model.Requests()[0]
		if id == carriedCodex || r.Compaction || r.Count(lastRequest) == 0 || r.Count(toolName) == 0 {
			t.Errorf("%s: the model sees %s", id, r.Raw)
		}
		n := len(w.Model.Requests())
		w.command(w.server, "exec", "resume", carriedCodex, "PROBE")
		if requests := w.Model.Requests()[n:]; len(requests) == 0 || !requests[0].Compaction {
			t.Error("the source is not compacted either: this test shows nothing")
		}
	})
	t.Run("opencode", func(t *testing.T) {
		t.Parallel()
		o, k := openCode(t)
		o.write("long.json", string(recordedOpencode(o.project)))
		o.run("", "opencode", "import", filepath.Join(o.home, "long.json"))
		id := o.shortened("opencode", carriedOpencode)
		o.run("PROBE", "opencode", "run", "-s", id, "-m", "mock/m1")
		remembers(t, k.sent())
		k.forget()
		runsIn(t, o.home, o.project, o.env, carriedOpencode, func(*Terminal) {}, k.sent)
	})
	t.Run("gemini", func(t *testing.T) {
		t.Parallel()
		o, k := geminiCLI(t)
		o.write(".gemini/projects.json", fmt.Sprintf(`{"projects":{%q:"proj"}}`, o.project))
		o.write(".gemini/tmp/proj/.project_root", o.project)
		o.write(".gemini/tmp/proj/chats/session-2026-03-05T10-00-other.jsonl", string(recordedGemini()))
		id := o.shortened("gemini", carriedGemini)
		o.run("", "gemini", "--resume", id, "-m", "gemini-2.5-pro", "-y", "-p", "PROBE")
		remembers(t, k.sent())
		k.forget()
		runsIn(t, o.home, o.project, o.env, carriedGemini, func(s *Terminal) { s.Wait("Type your message", 1) }, k.sent)
	})
}

// runs goes on in a terminal at once, by --run, and asks there.
func (w *World) runs(t *testing.T) {
	t.Helper()
	s := w.screen(filepath.Join(w.bin, "overtone") + " continue --run")
	s.Wait(answerTold, 1)
	s.Say("PROBE")
	for end := time.Now().Add(turnLimit); len(mains(w)) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was asked")
		}
	}
	if r := mains(w)[0]; !r.Has("PROBE") || !r.Has(lastRequest) || !r.Has(toolName) || len(summaries(w)) > 0 {
		t.Errorf("the model sees %s", r)
	}
}

// runsIn goes on in a terminal at once, by --run, where the agent shows what was said and
// sends it with the next question; ready waits until it listens.
func runsIn(t *testing.T, dir, cwd string, env []string, args string, ready func(*Terminal), asked func() string) {
	t.Helper()
	s := openTerminal(t, func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		// Some agents draw nothing where they take themselves for a job of CI.
		cmd.Dir, cmd.Env = cwd, slices.DeleteFunc(slices.Clone(env), func(v string) bool { return v == "CI=1" })
		return cmd
	}, dir, overtoneBinary(t)+" continue "+args+" --run")
	s.Wait("LEDGER-42", 1)
	ready(s)
	// Who has only just drawn himself may not read keys yet.
	s.until("PROBE", "PROBE")
	s.Press(keyEnter)
	await(t, "question", func() bool { return strings.Contains(asked(), "PROBE") })
	if all := asked(); !strings.Contains(all, lastRequest) || !strings.Contains(all, toolName) {
		t.Errorf("the model sees %s", all)
	}
}

// shortened continues a session in its own agent, which has to be worth it.
func (o *other) shortened(agent, session string) string {
	o.t.Helper()
	out := gjson.Parse(o.run("", "overtone", "continue", session, "--json"))
	id := out.Get("id").String()
	if id == "" || id == session || out.Get("host").String() != agent || out.Get("tokensAfter").Int()*2 > out.Get("tokensBefore").Int() {
		o.t.Fatalf("continue: %s", out)
	}
	return id
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
			writeCodex(t, filepath.Join(o.home, ".codex"), o.project, 1)
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

// geminiCLI is Gemini CLI with a model of its own.
func geminiCLI(t *testing.T) (*other, *talks) {
	t.Helper()
	k := newTalks(t)
	o := newOther(t, agent{"gemini-0.61.0", "gemini", []string{"@google/gemini-cli@0.61.0", "node@24"}},
		"GEMINI_API_KEY=mock", "GOOGLE_GEMINI_BASE_URL="+k.URL, "GEMINI_CLI_TRUST_WORKSPACE=true")
	o.write(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"telemetry":{"enabled":false}}`)
	return o, k
}

// A session of Claude Code goes on in Gemini CLI, which lists it, also when it was
// resumed before.
func TestContinueClaudeInGemini(t *testing.T) {
	t.Parallel()
	o, k := geminiCLI(t)
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
	writeCodex(t, filepath.Join(c.home, ".codex"), c.project, 1)
	id, title := continued(t, c.exec("overtone", "continue", carriedCodex, "--in", "copilot", "--json"))
	openTerminal(t, func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = c.project, slices.Clone(c.env)
		return cmd
	}, c.home, c.program+" --resume").Wait(title[:40], 1)
	sent := func() string {
		var all strings.Builder
		for _, r := range c.API.Requests() {
			for _, m := range r.Messages {
				all.WriteString(m.Text() + "\n")
			}
		}
		return all.String()
	}
	runsIn(t, c.project, c.project, c.env, carriedCodex+" --in copilot", func(s *Terminal) {
		const dialog = "Doyoutrustthefilesinthisfolder?"
		s.Wait(dialog, 1)
		s.Press(keyEnter)
		await(t, "trust", func() bool { return !strings.Contains(s.Screen(), dialog) })
	}, sent)
	c.ask("PROBE", "--resume="+id)
	remembers(t, sent())
	c.exec("overtone", "sessions", "rm", id, "--yes", "--force")
	if _, err := os.Stat(filepath.Join(c.home, ".copilot", "session-state", id)); !os.IsNotExist(err) {
		t.Errorf("it is not removed: %v", err)
	}
}
