//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/plugin"
)

// change replaces texts in a file.
func (s *station) change(path string, pairs ...string) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(data), pairs[i]) {
			s.t.Fatalf("%s lacks %q", path, pairs[i])
		}
	}
	if err := os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(data))), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// opencodeChild puts a script between the plugin and our program: it leaves its process
// id in one file, and fails while there is another.
func (s *station) opencodeChild() (pid func() int, fail func()) {
	s.t.Helper()
	ids, broken := filepath.Join(s.home, "child"), filepath.Join(s.home, "broken")
	path := filepath.Join(s.home, ".config", "opencode", "plugin", "overtone.js")
	script := `[ -e "` + broken + `" ] && exit 1; echo $$ > "` + ids + `"; exec "$0" "$@"`
	s.change(path, "const COMMAND = [", `const COMMAND = ["sh", "-c", `+strconv.Quote(script)+", ")
	pid = func() int {
		s.t.Helper()
		n := 0
		s.eventually("the program runs", func() bool {
			data, _ := os.ReadFile(ids)
			n, _ = strconv.Atoi(strings.TrimSpace(string(data)))
			return n > 1
		})
		return n
	}
	fail = func() {
		s.t.Helper()
		if err := os.WriteFile(broken, nil, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return pid, fail
}

// When our program hangs, the host goes on all the same. In mode auto the host does not
// compact by itself while we wait for a boundary. When our program is gone it does, and
// not without end, although its context stays full.
func TestOpencodeGate(t *testing.T) {
	t.Parallel()
	tokens, summaries, looks := 100_000, 0, 0
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare:
			summaries++
			return speak("MOCK-SUMMARY: the folder was looked at.", 1_000)
		case looks > 0:
			looks--
			return callTool("bash", map[string]any{"command": "echo LOOKED", "description": "look"}, tokens)
		}
		return speak("It is a folder with files in it.", tokens)
	})
	// From 300,000 of 1,000,000 on the host compacts by itself: no tier has begun.
	settings := filepath.Join(s.home, ".config", "opencode", "opencode.json")
	s.change(settings, `{"context": 100000, "output": 8000}`, `{"context": 1000000, "input": 1000000, "output": 8000}`, `"share": "disabled",`, `"share": "disabled", "compaction": {"reserved": 700000},`)
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	child, fail := s.opencodeChild()
	o := s.serve()
	id := o.session()
	turn := func(text string, tools int) {
		t.Helper()
		looks = tools
		n := len(o.API.requests())
		o.say(id, text)
		if got := len(o.API.requests()) - n; got <= tools {
			t.Errorf("%q: %d requests", text, got)
		}
	}
	turn("have a look around", 1)
	if err := syscall.Kill(child(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	turn("look closer", 1)
	tokens = 320_000
	turn("look further", 3)
	if summaries != 0 {
		t.Fatalf("%d compactions at no boundary", summaries)
	}
	fail()
	if err := syscall.Kill(child(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	turn("look once more", 2)
	if summaries == 0 || summaries > 4 {
		t.Errorf("%d compactions by the host", summaries)
	}
}

// pluginProbe has the plugin of opencode do all it does, and tells what came of it.
const pluginProbe = `
import { Overtone } from './overtone.mjs'
const asked = []
const { HOST } = process.env
const said = (id, role, more) => ({ info: { id, role, sessionID: 'ses_1', time: { created: 1, completed: 2 }, ...more }, parts: [{ id: 'prt_' + id, type: 'text', text: 'look' }] })
const used = (input) => ({ tokens: { input, output: 1, cache: { read: 0, write: 0 } } })
const talk = [said('msg_1', 'user'), said('msg_2', 'assistant', used(90000)), said('msg_3', 'assistant', { summary: true }), said('msg_4', 'assistant', { finish: 'stop', ...used(HOST === 'works' ? 6000 : 90000) })]
let fails = false
const client = {
  session: {
    get: async ({ path }) => ({ data: { id: path.id, directory: '/p' } }),
    messages: () => (HOST === 'hangs' ? new Promise(() => {}) : fails ? Promise.reject(new Error('no')) : Promise.resolve({ data: talk })),
    summarize: async () => asked.push('summarize'),
    promptAsync: async () => asked.push('prompt'),
  },
  tui: { showToast: async () => {} },
}
const config = { compaction: { auto: true } }, args = { command: 'ls' }, answer = { output: 'a', metadata: { exit: 0 } }, parts = [{ type: 'text', text: 'go on' }], text = { text: 'SUMMARY' }
const about = { sessionID: 'ses_1' }, tool = { ...about, tool: 'bash', callID: 'c1', args }
const autos = []
const hooks = await Overtone({ client, directory: '/p' })
await hooks.config(config)
const prompt = () => hooks['chat.message'](about, { message: { id: 'msg_1', sessionID: 'ses_1' }, parts })
const began = Date.now()
await prompt()
await hooks['chat.params']({ ...about, agent: 'build', model: { id: 'm1', providerID: 'p', limit: { context: 100000 } } })
await hooks['tool.execute.before'](tool, { args })
await hooks['tool.execute.after'](tool, answer)
for (let n = 0; n < 3; n++) {
  autos.push(config.compaction.auto)
  await hooks['experimental.session.compacting'](about, {})
  await hooks['experimental.text.complete'](about, text)
}
autos.push(config.compaction.auto)
const took = Date.now() - began
await prompt()
autos.push(config.compaction.auto)
fails = HOST === 'fails'
await hooks.event({ event: { type: 'session.idle', properties: about } })
if (took > 2500 && HOST !== 'hangs') console.log('the turn took', took, 'ms')
console.log(JSON.stringify({ asked, autos, output: answer.output, text: text.text, parts: parts.length, args }))
`

// Whatever becomes of our program, or of the host's own answers, the plugin's hooks come
// to their end, change nothing, and the process can end. A program that does not answer is
// started three times, then it rests. A host that compacts again and again is stopped, not
// so one whose context each compaction has made smaller. What the host does not tell is not
// taken for a session without messages.
func TestOpencodePlugin(t *testing.T) {
	t.Parallel()
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		command []string
		env     string
		starts  int
	}{
		"ours":             {[]string{filepath.Join(bin, "overtone-hook")}, "", 0},
		"ours, host hangs": {[]string{filepath.Join(bin, "overtone-hook")}, "HOST=hangs", 0},
		"ours, host fails": {[]string{filepath.Join(bin, "overtone-hook")}, "HOST=fails", 0},
		"ours, host works": {[]string{filepath.Join(bin, "overtone-hook")}, "HOST=works", 0},
		"no program":       {[]string{"/no/such/program"}, "", 0},
		"ends at once":     {[]string{"sh", "-c", `echo x >> "$HOME/starts"`}, "", 3},
		"hangs":            {[]string{"sh", "-c", `echo x >> "$HOME/starts"; exec sleep 1000`}, "", 3},
		"floods":           {[]string{"sh", "-c", `echo x >> "$HOME/starts"; exec tr '\0' x < /dev/zero`}, "NODE_OPTIONS=--max-old-space-size=200", 3},
		"says nonsense":    {[]string{"sh", "-c", `echo x >> "$HOME/starts"; while read -r line; do echo "$line" | tr a-z A-Z; done`}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, out := probePlugin(t, pluginProbe, tc.env, tc.command...)
			loops := `"autos":[true,true,true,false,true]`
			if tc.env == "HOST=works" {
				loops = `"autos":[true,true,true,true,true]`
			}
			const want = `{"asked":[],"autos":[true,true,true,false,true],"output":"a","text":"SUMMARY","parts":1,"args":{"command":"ls"}}`
			if got := strings.TrimSpace(out); tc.command[0] != filepath.Join(bin, "overtone-hook") && got != want {
				t.Errorf("it did %s\nwant   %s", got, want)
			} else if !strings.Contains(got, loops) {
				t.Errorf("it did %s", got)
			}
			mirrors, _ := filepath.Glob(filepath.Join(home, ".overtone", "mirror", "opencode", "*", "ses_1.jsonl"))
			if told := strings.HasPrefix(name, "ours") && tc.env != "HOST=hangs"; told != (len(mirrors) == 1) {
				t.Errorf("mirrors: %q", mirrors)
			}
			starts, _ := os.ReadFile(filepath.Join(home, "starts"))
			if n := strings.Count(string(starts), "x"); n != tc.starts {
				t.Errorf("started %d times, want %d", n, tc.starts)
			}
		})
	}
}

// probePlugin has node run a script on the plugin, which calls a command as our program.
func probePlugin(t *testing.T, script, env string, command ...string) (home, out string) {
	t.Helper()
	home = t.TempDir()
	list, _ := json.Marshal(command)
	text := strings.NewReplacer(`const COMMAND = ["overtone-hook"]`, "const COMMAND = "+string(list), "const PATIENCE = 5000", "const PATIENCE = 1000").Replace(string(plugin.Opencode))
	for file, data := range map[string]string{"overtone.mjs": text, "probe.mjs": script} {
		if err := os.WriteFile(filepath.Join(home, file), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "probe.mjs")
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", env}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	timer := time.AfterFunc(2*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return home, string(said)
}

// turnsProbe holds turns that end in every way, and has the host tell of them too late, twice
// or not at all.
const turnsProbe = `
import { Overtone } from './overtone.mjs'
let talk = []
let compacted = 0, before = () => {}
const asked = []
const said = (id, role, more) => ({ info: { id, role, time: { created: 1, completed: 2 }, ...more }, parts: [{ type: 'text', text: 'said ' + id }] })
const client = {
  session: { get: async ({ path }) => ({ data: { id: path.id, directory: '/p' } }), messages: async () => ({ data: talk }), summarize: async () => { compacted++, before() }, promptAsync: async ({ body }) => { asked.push(body.parts[0].text) } },
  tui: { showToast: async () => {} },
}
const about = { sessionID: 'ses_1' }
const hooks = await Overtone({ client, directory: '/p' })
const prompt = async (id) => {
  await hooks['chat.message'](about, { message: { id, sessionID: 'ses_1' }, parts: [{ type: 'text', text: 'said ' + id }] })
  talk = [...talk, said(id, 'user')]
}
const answer = async (id, more) => {
  await hooks['chat.params']({ ...about, agent: 'build', model: { id: 'm1', providerID: 'p' } })
  talk = [...talk, said(id, 'assistant', { finish: 'stop', ...more })]
}
const event = (type) => hooks.event({ event: { type, properties: about } })
const idle = async () => { await event('session.idle'), await event('session.compacted') }
await prompt('1'), await answer('2'), await idle(), await idle() // told twice
await prompt('3'), await answer('4')
await prompt('5'), await idle(), await answer('6'), await idle() // right behind the answer
await prompt('7'), await answer('8'), await Promise.all([idle(), prompt('9')]) // in that instant
await answer('10', { error: { name: 'MessageAbortedError' } }), await idle(), await idle() // Esc
await prompt('11'), await answer('12', { finish: 'tool-calls' })
await prompt('13'), await answer('14'), await idle() // while a tool runs
await hooks['chat.params']({ ...about, agent: 'compaction', model: { id: 'm1', providerID: 'p' } })
talk.push(said('15', 'assistant', { summary: true, finish: 'stop' }))
await idle() // it was compacted
talk.push(said('16', 'user'), said('17', 'assistant', { finish: 'stop' }))
before = () => talk.push(said('18', 'user'), { info: { id: '19', role: 'user' }, parts: [{ type: 'compaction' }] }, said('20', 'assistant', { summary: true, finish: 'stop' }))
await answer('17b'), await event('session.idle') // a message comes as the host is asked to compact
while (!asked.length) await new Promise(setImmediate)
console.log(compacted, asked.join())
`

// The end of each turn that has ended by itself is told once, before what is said next. It
// comes with the message that was there before the host has told that it is idle. Our program
// wants a compaction at each: there is none beside a message.
func TestOpencodePluginTurns(t *testing.T) {
	t.Parallel()
	home, out := probePlugin(t, turnsProbe, "", "sh", "-c", `tee -a "$HOME/calls" | sed -u 's/.*"id":\([0-9]*\),"event":"stop.*/{"id":\1,"out":{"compact":true}}/;s/.*"id":\([0-9]*\),"event.*/{"id":\1,"out":{}}/'`)
	data, err := os.ReadFile(filepath.Join(home, "calls"))
	if err != nil || out != "4 said 18\n" {
		t.Fatalf("%v, compactions: %s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		call := gjson.Parse(line)
		if event := call.Get("event").String(); event == "post-compact" || event == "pre-compact" {
			continue
		}
		got = append(got, strings.TrimPrefix(strings.TrimSpace(call.Get("event").String()[:4]+" "+call.Get("input.turn_id").String()+" "+call.Get("input.last_assistant_message").String()), "user "))
	}
	const want = "1|stop  said 2|3|5 said 4|stop  said 6|7|9 said 8|11|13|stop  said 14|stop  said 17b"
	if text := strings.Join(got, "|"); text != want && text != strings.Replace(want, "7|9 said 8", "7|stop  said 8|9", 1) {
		t.Errorf("it was told\n%s\nwant\n%s", text, want)
	}
}

// Two hosts in one folder, each with a session of its own: each shows its own suggestion,
// and the compaction of one leaves the other as it was. A session that moves to the other
// host takes its hand-over along.
func TestOpencodeTwice(t *testing.T) {
	t.Parallel()
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare:
			return speak("MOCK-SUMMARY", 1_000)
		case strings.HasPrefix(r.Last(), "Please"):
			name := strings.Fields(r.Last())[2]
			return callTool("bash", map[string]any{"command": "echo x > " + name + " && git add " + name + " && git commit -q -m 'add " + name + "' && git log -1 --oneline", "description": "commit"}, 75_000)
		case r.Has("MOCK-SUMMARY"):
			return speak("I go on.", 5_000)
		}
		return speak("It is committed.", 75_000)
	})
	// The other's commit is somebody's in the same folder, and told as such.
	knows := func(r *heard, name string) bool {
		return strings.Contains(strings.ReplaceAll(strings.Join(r.Texts, "\n"), "“add "+name+".go”, by e2e", ""), name)
	}
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	both := []*opencodeServer{s.serve(), s.serve()}
	var ids []string
	for i, o := range both {
		ids = append(ids, o.session())
		o.say(ids[i], "Please write "+[]string{"scanToken.go", "parseTree.go"}[i]+" and commit it")
	}
	for _, o := range both {
		o.eventually("the suggestion is shown", func() bool { return o.shown("compact") == 1 })
	}
	both[0].compact(ids[0])
	for i, o := range both {
		o.say(ids[i], "what is left?")
		if last := o.API.last(); last.Count(handed) != 1-i || knows(last, []string{"parseTree", "scanToken"}[i]) {
			t.Errorf("host %d: %d hand-overs in %q", i, last.Count(handed), last.Texts[2:])
		}
	}
	both[1].say(ids[0], "and now, over here?")
	if last := s.API.last(); last.Count(handed) != 1 || !last.Has("scanToken") || knows(last, "parseTree") {
		t.Errorf("%d hand-overs in %q", last.Count(handed), last.Texts[2:])
	}
	if list := s.sessions(); len(list) != 2 || list[0].Compactions+list[1].Compactions != 1 {
		t.Errorf("sessions: %+v", list)
	}
}

// Who interrupts a workflow, by Esc or `POST /abort`, has the next word: whatever was under
// way, the model is asked nothing before it, and nothing behind a question of the user's.
func TestOpencodeInterrupted(t *testing.T) {
	t.Parallel()
	for _, under := range []string{"answer", "tool", "agent"} {
		for _, terminal := range []bool{false, true} {
			if terminal && under != "tool" {
				continue // the terminal's Esc is the same call
			}
			t.Run(under+map[bool]string{true: " in the terminal"}[terminal], func(t *testing.T) {
				t.Parallel()
				testOpencodeInterrupted(t, under, terminal)
			})
		}
	}
}

func testOpencodeInterrupted(t *testing.T, under string, terminal bool) {
	never := make(chan struct{})
	s := newOpencode(t, func(r *heard) spoken {
		child := strings.Contains(r.Body, "stage DEV of an Overtone workflow")
		switch {
		case r.Bare:
			return speak("title", 100)
		case r.Has("MARK-ASK"):
			return speak("SO-IT-IS", 1_000)
		case child, under == "answer":
			return spoken{Until: never}
		case under == "tool":
			return callTool("bash", map[string]any{"command": "tail -f /dev/null", "description": "wait"}, 1_000)
		}
		return callTool("task", map[string]any{"description": "dev", "prompt": "build it", "subagent_type": "overtone:developer"}, 1_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	const prompt, question = "[workflow:quick] speed up the parser", "why is it so slow? MARK-ASK"
	const rests = "Workflow quick rests"
	want := map[string]int{"answer": 1, "tool": 1, "agent": 2}[under]
	asked := func() bool { return len(s.API.requests()) == want }
	if terminal {
		term := s.terminal()
		term.Wait("mock", 1)
		term.Say(prompt)
		term.Wait("tail -f /dev/null", 1)
		term.Press("\x1b")
		term.Wait("again to interrupt", 1)
		term.Press("\x1b")
		term.Wait("interrupted", 1)
		term.Say(question)
		term.Wait(rests, 1)
	} else {
		o := s.serve()
		id := o.session()
		o.post("/session/"+id+"/prompt_async", map[string]any{"parts": []any{map[string]any{"type": "text", "text": prompt}}})
		s.eventually("the model is asked", asked)
		if under == "tool" {
			s.eventually("the tool runs", func() bool { return strings.Contains(o.get("/session/"+id+"/message").Raw, `"status":"running"`) })
		}
		o.post("/session/"+id+"/abort", nil)
		o.say(id, question)
		// The question's turn has ended, and with it all that the interruption could have started.
		s.eventually("the workflow rests", func() bool { return o.shown(rests) == 1 })
	}
	list := s.API.requests()
	if len(list) != want+1 || !list[want].Has("MARK-ASK") {
		t.Errorf("%d requests, want %d", len(list), want+1)
	}
	for _, r := range list {
		if r.Has("[Overtone loop") {
			t.Errorf("the model is asked to go on: %q", r.Last())
		}
	}
}

// A stage whose agents die is handed out three times, however often the model tries: then
// the workflow rests, the model is told so, and nothing is pushed. A folder of settings that
// OPENCODE_CONFIG_DIR names comes beside the usual one, in which the plugin is, here behind
// a link.
func TestOpencodeAgentDies(t *testing.T) {
	t.Parallel()
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare:
			return speak("title", 100)
		case strings.Contains(r.Body, "stage DEV of an Overtone workflow"):
			return spoken{Status: 400, Text: "mock crash"}
		case r.Has("the workflow rests") || r.Count("mock crash") > 9:
			return speak("SO-IT-IS", 1_000)
		}
		return callTool("task", map[string]any{"description": "dev", "prompt": "build it", "subagent_type": "overtone:developer"}, 1_000)
	})
	other := filepath.Join(s.home, "other")
	s.exec("", "cp", "-r", filepath.Join(s.home, ".config", "opencode"), other)
	s.env = append(s.env, "OPENCODE_CONFIG_DIR="+other)
	s.exec("", "ln", "-s", t.TempDir(), filepath.Join(s.home, ".config", "opencode", "plugin"))
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	o := s.serve()
	id := o.session()
	o.say(id, "[workflow:quick] speed up the parser")
	s.eventually("the user is told", func() bool { return o.shown("overtone workflow restart DEV") == 1 })
	list := s.API.requests()
	agents := 0
	for _, r := range list {
		if strings.Contains(r.Body, "stage DEV of an Overtone workflow") {
			agents++
		}
		if r.Has("[Overtone loop") {
			t.Errorf("the model is asked to go on: %q", r.Last())
		}
	}
	// The model asked for a fourth, which was refused.
	if last := list[len(list)-1]; agents != 3 || len(list) != 8 || !strings.Contains(last.Last(), "cannot be delegated") {
		t.Errorf("%d agents, %d requests, the last reads %q", agents, len(list), last.Last())
	}
}
