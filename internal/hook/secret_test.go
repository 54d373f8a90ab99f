package hook

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// vault makes secrets of every class and knows them again, whole or in part.
type vault struct {
	rng   *rand.Rand
	parts map[string]string // stretches of the secrets, and of which
}

// stretch is how much of a secret must not be seen anywhere.
const stretch = 12

func newVault() *vault {
	return &vault{rand.New(rand.NewPCG(7, 14)), map[string]string{}}
}

func (v *vault) make(class, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[v.rng.IntN(len(alphabet))]
	}
	for i := 0; i+stretch <= n; i++ {
		v.parts[string(b[i:i+stretch])] = class
	}
	return string(b)
}

// leaks tells which secrets a text holds a part of.
func (v *vault) leaks(text string) map[string]string {
	found := map[string]string{}
	for i := 0; i+stretch <= len(text); i++ {
		if class, ok := v.parts[text[i:i+stretch]]; ok {
			found[class] = text[max(0, i-80):min(len(text), i+40)]
		}
	}
	return found
}

const (
	lowNumber = "abcdefghijklmnopqrstuvwxyz0123456789"
	mixed     = lowNumber + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	upNumber  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// all is a text with one secret of each class, in the forms agents show.
func (v *vault) all() string {
	pem := func(class, before string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s-----BEGIN RSA PRIVATE "+"KEY-----\n", fmt.Sprintf(before, 1))
		for i := range 12 {
			b.WriteString(fmt.Sprintf(before, i+2) + v.make(class, mixed, 64) + "\n")
		}
		return b.String() + fmt.Sprintf(before, 14) + "-----END RSA PRIVATE " + "KEY-----\n"
	}
	return strings.Join([]string{
		pem("key, numbered", "%6d→"), pem("key, commented", "# %.0d"),
		"資料庫密碼：" + v.make("Chinese label", mixed, 16) + "。",
		"パスワード：" + v.make("Japanese label", mixed, 16),
		"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSB" + v.make("kubeconfig", mixed, 200),
		"//registry.npmjs.org/:_authToken=npm_" + v.make("npmrc", mixed, 36),
		"machine example.com login me password " + v.make("netrc", mixed, 20),
		"db.example.com:5432:app:me:" + v.make("pgpass", mixed, 20),
		"mysql -u root -p" + v.make("mysql", mixed, 16) + " app",
		"sshpass -p " + v.make("sshpass", mixed, 16) + " ssh me@example.com",
		"CREATE USER me IDENTIFIED BY '" + v.make("sql", mixed, 16) + "';",
		"ENV API_TOKEN " + v.make("dockerfile", mixed, 32),
		"export GITHUB_TOKEN=ghp_" + v.make("github", mixed, 36),
		"aws_access_key_id = AKIA" + v.make("aws id", upNumber, 16) + "\naws_secret_access_key = " + v.make("aws", mixed, 40),
		"Authorization: Bearer " + v.make("bearer", mixed, 40),
		"postgres://me:" + v.make("url", mixed, 18) + "@db.example.com/app",
		`{"client_secret":"` + v.make("json", mixed, 32) + `"}`,
		"sk-ant-api03-" + v.make("model key", mixed, 80),
		"the password is " + v.make("prose", "23456789kmnpXYZ", 14) + ".",
	}, "\n")
}

// dense is a text in which every place that could be cut is within a secret.
func (v *vault) dense(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString("ghp_" + v.make("dense", mixed, 36) + " ")
	}
	return b.String()
}

// structural fields keep the story going; they get their secrets in a round of
// their own.
var structural = map[string]bool{
	"session_id": true, "source": true, "trigger": true, "tool_name": true, "tool_use_id": true, "agent_id": true, "agent_type": true, "cwd": true,
	"transcript_path": true, "agent_transcript_path": true, "subagent_type": true, "agentId": true, "status": true, "hook_event_name": true,
	"id": true, "taskId": true, "type": true, "model": true, "permission_mode": true, "turn_id": true, "file_path": true, "reason": true,
}

// plant puts a text into the string fields of an input: behind what is there, or,
// where that ends with a verdict, before it.
func plant(t *testing.T, in, text string, which func(name string) bool) string {
	t.Helper()
	var walk func(v gjson.Result, path string)
	walk = func(v gjson.Result, path string) {
		switch {
		case v.IsObject():
			v.ForEach(func(k, v gjson.Result) bool {
				walk(v, strings.TrimPrefix(path+"."+k.Str, "."))
				return true
			})
		case v.IsArray():
			for i, v := range v.Array() {
				walk(v, fmt.Sprintf("%s.%d", path, i))
			}
		case v.Type == gjson.String && which(path[strings.LastIndexByte(path, '.')+1:]):
			said := v.Str + "\n" + text
			if i := strings.Index(v.Str, "<!-- PIPELINE"); i >= 0 {
				hint, err := json.Marshal("see " + text)
				if err != nil {
					t.Fatal(err)
				}
				said = v.Str[:i] + text + "\n" + strings.Replace(v.Str[i:], `"HINT"`, string(hint), 1)
			}
			in = store.SetJSON(in, path, said)
		}
	}
	walk(gjson.Parse(in), "")
	return in
}

const (
	storyPass = `Looked at it.\nAll is well.\n<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\",\"hint\":\"HINT\"} -->`
	storyFail = `# Report\n\nnot yet\n<!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"HIGH\",\"hint\":\"HINT\"} -->`
)

// secretStory has every event, with every field that a host sends.
func secretStory() []step {
	hire := func(id, kind string) step {
		return step{event: "pre-tool-use", in: `"tool_name":"Agent","tool_use_id":"` + id + `","tool_input":{"subagent_type":"overtone:` + kind + `","description":"do it","prompt":"go"}`}
	}
	back := func(id, agent, kind, text string) step {
		return step{event: "post-tool-use", in: `"tool_name":"Agent","tool_use_id":"` + id + `","tool_input":{"subagent_type":"overtone:` + kind + `","prompt":"go"},"tool_response":{"status":"completed","agentId":"` + agent + `","content":[{"type":"text","text":"` + text + `"}]}`}
	}
	stop := func(id, kind, text string) step {
		return step{event: "subagent-stop", in: `"agent_id":"` + id + `","agent_type":"overtone:` + kind + `","agent_transcript_path":"$DIR/agent.jsonl","last_assistant_message":"` + text + `"`}
	}
	tool := func(event, name, id, input, result string) step {
		return step{event: event, in: `"tool_name":"` + name + `","tool_use_id":"` + id + `","tool_input":` + input + result}
	}
	return []step{
		{event: "session-start", in: `"source":"startup","model":"claude-sonnet-4-5"`},
		{event: "user-prompt-submit", in: `"prompt":"Make the importer fast. Never print what is in the settings."`},
		tool("pre-tool-use", "Bash", "b1", `{"command":"make test","description":"run"}`, ""),
		tool("post-tool-use", "Bash", "b1", `{"command":"make test","description":"run"}`, `,"tool_response":{"stdout":"FAIL","stderr":"broken","interrupted":false}`),
		tool("post-tool-use-failure", "Bash", "b2", `{"command":"make lint"}`, `,"error":"Exit code 2"`),
		tool("post-tool-use", "TodoWrite", "b3", `{"todos":[{"content":"first","status":"in_progress","activeForm":"doing"},{"content":"second","status":"pending","activeForm":"x"}]}`, `,"tool_response":{}`),
		tool("post-tool-use", "TaskCreate", "b4", `{"subject":"third","description":"more"}`, `,"tool_response":{"task":{"id":"7","subject":"third"}}`),
		tool("post-tool-use", "TaskUpdate", "b5", `{"taskId":"7","status":"in_progress","subject":"third"}`, `,"tool_response":{"success":true}`),
		tool("post-tool-use", "Edit", "b6", `{"file_path":"/p/a.go","old_string":"x","new_string":"y"}`, `,"tool_response":{"filePath":"/p/a.go"}`),
		tool("post-tool-use", "update_plan", "b7", `{"explanation":"so","plan":[{"step":"one","status":"completed"},{"step":"two","status":"pending"}]}`, `,"tool_response":"Plan updated"`),
		tool("post-tool-use", "apply_patch", "b8", `{"command":"*** Begin Patch\n*** Update File: b.go\n*** End Patch"}`, `,"tool_response":"Exit code: 1\nOutput:\nno"`),
		tool("post-tool-use", "AskUserQuestion", "b9", `{"questions":[{"question":"Which?","options":[{"label":"a"}]}]}`, `,"tool_response":{"answers":{"Which?":"a"}}`),
		{event: "stop", in: `"last_assistant_message":"We decided to use the pool.\n\nShall I go on?\n1. yes\n2. no","background_tasks":[{"id":"x","type":"shell","status":"running","description":"d","command":"sleep"}]`},
		{event: "user-prompt-submit", in: `"prompt":"[workflow:quick] speed up the parser"`},
		hire("t1", "developer"),
		{event: "subagent-start", in: `"agent_id":"a1","agent_type":"overtone:developer"`},
		tool("pre-tool-use", "Edit", "g1", `{"file_path":"/p/a.go","old_string":"x"}`, ""),
		tool("pre-tool-use", "Bash", "g2", `{"command":"rm -rf build"}`, ""),
		tool("post-tool-use-failure", "Bash", "g3", `{"command":"make"}`, `,"error":"exit 2"`),
		stop("a1", "developer", storyPass), back("t1", "a1", "developer", storyPass),
		hire("t2", "code-reviewer"), hire("t3", "tester"),
		{event: "pre-tool-use", in: `"agent_id":"a3","agent_type":"overtone:tester","tool_name":"Write","tool_use_id":"w1","tool_input":{"file_path":"$DIR/.claude/pipeline-context-s1-TEST.md","content":"# what I found"}`},
		stop("a2", "code-reviewer", storyFail), stop("a3", "tester", storyFail),
		{event: "post-tool-batch", in: `"tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"x"},"tool_response":"text"}]`},
		{event: "pre-compact", in: `"trigger":"manual","custom_instructions":"keep it"`},
		{event: "subagent-stop", in: `"agent_id":"","agent_type":"","last_assistant_message":"<analysis>x</analysis><summary>The importer is half done.</summary>"`},
		{event: "session-start", in: `"source":"compact","model":"claude-sonnet-4-5"`},
		{event: "post-compact", in: `"trigger":"manual","compact_summary":"The importer is half done."`},
		{event: "user-prompt-submit", in: `"prompt":"go on"`},
		hire("t4", "developer"),
		{event: "stop-failure", in: `"agent_id":"a4","agent_type":"overtone:developer","error":"rate_limit","last_assistant_message":"API Error"`},
		{event: "stop-failure", in: `"error":"rate_limit","error_details":"429","last_assistant_message":"API Error"`},
		{event: "stop", in: `"last_assistant_message":"done"`},
		{event: "session-end", in: `"reason":"exit"`},
		{event: "session-start", in: `"source":"resume"`},
	}
}

// secretTranscript is a session's file, in which all has been said.
func secretTranscript(name, text string) string {
	q := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	if name == "codex" {
		item := func(payload string) string {
			return `{"timestamp":"2026-03-01T11:00:00.000Z","type":"response_item","payload":` + payload + "}\n"
		}
		return `{"timestamp":"2026-03-01T11:00:00.000Z","type":"session_meta","payload":{"id":"s1","cwd":"/p"}}` + "\n" +
			item(`{"type":"message","role":"user","content":[{"type":"input_text","text":`+q("Make it fast.\n"+text)+`}]}`) +
			item(`{"type":"function_call","name":"shell","call_id":"c1","arguments":`+q(`{"command":["bash","-lc",`+q("make "+text)+`]}`)+`}`) +
			item(`{"type":"function_call_output","call_id":"c1","output":`+q(`{"output":`+q("FAIL "+text)+`,"metadata":{"exit_code":2}}`)+`}`) +
			item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+q("We decided to use the pool. "+text+"\nShall I?")+`}]}`)
	}
	n := 0
	line := func(typ, message string) string {
		n++
		return fmt.Sprintf(`{"parentUuid":"u%d","isSidechain":false,"type":%q,"uuid":"u%d","sessionId":"s1","cwd":"/p","timestamp":"2026-03-01T11:00:%02d.000Z","message":%s}`+"\n", n-1, typ, n, n, message)
	}
	return line("user", `{"role":"user","content":`+q("Make it fast.\n"+text)+`}`) +
		line("assistant", `{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":`+q("make "+text)+`}}]}`) +
		line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":`+q("Exit code 2\n"+text)+`}]}`) +
		line("assistant", `{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"c2","name":"Edit","input":{"file_path":"/p/a.go","old_string":"a","new_string":`+q(text)+`}}]}`) +
		line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"ok"}]}`) +
		line("assistant", `{"id":"m3","role":"assistant","content":[{"type":"text","text":`+q("We decided to use the pool. "+text+"\nShall I?")+`}]}`)
}

// Whatever a host tells, no secret in it is stored by us or said again. What the
// main agent asks a sub-agent is handed on as it is, and is the host's.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{""}, host.Names()...) {
		for _, round := range []string{"texts", "cuts", "names"} {
			t.Run(name+"/"+round, func(t *testing.T) {
				t.Parallel()
				v := newVault()
				text, which := v.all(), func(field string) bool { return !structural[field] }
				switch round {
				case "cuts":
					text = v.dense(20_000)
				case "names":
					text = v.dense(200)
					which = func(field string) bool {
						return structural[field] && field != "session_id" && field != "cwd" && field != "agent_type" && field != "subagent_type" && field != "tool_name" && field != "status"
					}
				}
				p := newPlace(t)
				p.write(".overtone/config.yaml", "language: en\nauto_compact:\n  mode: suggest\n")
				p.write("project/specs/importer/tasks.md", "- [ ] DEV: "+strings.ReplaceAll(text, "\n", " ")+"\n- [ ] REVIEW\n")
				p.write("session.jsonl", secretTranscript(name, text))
				printed := 0
				for _, st := range secretStory() {
					in := plant(t, strings.ReplaceAll(`{"session_id":"s1","cwd":"$DIR/project","transcript_path":"$DIR/session.jsonl",`+st.in+"}", "$DIR", p.dir), text, which)
					stdout, stderr := p.raw(st.event, name, in)
					printed += len(stdout)
					// The agent's prompt goes back to the host that sent it.
					for at, prompt := range map[string]string{"hookSpecificOutput.updatedInput": "hookSpecificOutput.updatedInput.prompt", "prompt": "prompt"} {
						if handed := gjson.Get(stdout, prompt); handed.Exists() {
							ours, _, _ := strings.Cut(handed.Str, "\n---\n")
							stdout = store.SetJSON(stdout, at, ours)
						}
					}
					for class, at := range v.leaks(stdout) {
						t.Errorf("%s prints %s: …%s", st.event, class, at)
					}
					for class, at := range v.leaks(stderr) {
						t.Errorf("%s complains with %s: …%s", st.event, class, at)
					}
					if t.Failed() {
						return
					}
				}
				if printed == 0 {
					t.Error("nothing was printed")
				}
				kept := 0
				for _, dir := range []string{".overtone", ".claude"} {
					err := filepath.WalkDir(filepath.Join(p.dir, dir), func(path string, d fs.DirEntry, err error) error {
						if err != nil || d.IsDir() {
							return err
						}
						data, err := os.ReadFile(path)
						kept += len(data)
						for class, at := range v.leaks(string(data)) {
							t.Errorf("%s keeps %s: …%s", strings.TrimPrefix(path, p.dir), class, at)
						}
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				// Hosts that only compact keep less.
				if kept < 5000 || round == "texts" && (name == "" || name == "claude-code") && p.workflow().WorkflowType != "quick" {
					t.Errorf("a story that keeps %d bytes", kept)
				}
			})
		}
	}
}

// A call that is put off waits without its secrets, too.
func TestNoSecretWaits(t *testing.T) {
	t.Parallel()
	v := newVault()
	p := newPlace(t)
	p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:quick] x"`)
	in, err := json.Marshal(v.all())
	if err != nil {
		t.Fatal(err)
	}
	held, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = p.session().Update(func(*store.Tx) error {
			close(held)
			_, stderr := p.call("post-tool-use-failure", "claude-code", `"tool_name":"Bash","tool_use_id":"b","tool_input":{"command":"make"},"error":`+string(in))
			if !strings.Contains(stderr, "the next call records") {
				t.Errorf("not put off: %s", stderr)
			}
			return nil
		})
	}()
	<-held
	<-done
	names := p.session().Deferred()
	if len(names) != 1 {
		t.Fatalf("%d calls wait", len(names))
	}
	data, ok := p.session().TakeDeferred(names[0])
	if !ok || len(data) < 500 {
		t.Fatalf("%d bytes wait", len(data))
	}
	for class, at := range v.leaks(string(data)) {
		t.Errorf("%s waits: %s", class, at)
	}
}
