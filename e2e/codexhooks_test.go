//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
)

// hookedCodex is a Codex with the hooks that init wrote, approved by its user,
// and without a watcher.
type hookedCodex struct {
	*CodexWorld
	tap  *Tap
	mu   sync.Mutex
	runs []HookRun
}

func newHookedCodex(t *testing.T, script codexmock.Script, config, mode string, on ...Version) *hookedCodex {
	t.Helper()
	w := &hookedCodex{CodexWorld: newCodexWorld(t, script, Unattended+config, on...)}
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	w.path = bin + string(os.PathListSeparator) + w.path
	w.run("init", "--host", "codex", "--yes", "--mode", mode)
	w.serve()
	w.Ready()
	w.approve()
	// What the hooks said is in no item: the front end is told beside them.
	w.tap = w.Tap(func(_ bool, m WireMessage) bool {
		if m.Method == "hook/completed" {
			w.mu.Lock()
			w.runs = append(w.runs, m.Params.Run)
			w.mu.Unlock()
		}
		return false
	})
	w.Socket = w.tap.Socket
	return w
}

// approve trusts every hook, as the user does in the terminal. The option that
// bypasses trust has no effect on an app-server.
func (w *hookedCodex) approve() {
	w.t.Helper()
	c := &User{Client: w.dial(), w: w.CodexWorld}
	defer c.Close()
	var list struct {
		Data []struct {
			Hooks    []struct{ Key, CurrentHash string }
			Warnings []any
			Errors   []any
		}
	}
	c.call("hooks/list", map[string]any{"cwds": []string{w.Project}}, &list)
	if len(list.Data) != 1 || len(list.Data[0].Hooks) == 0 || len(list.Data[0].Warnings)+len(list.Data[0].Errors) > 0 {
		w.t.Fatalf("hooks: %+v", list)
	}
	trusted := map[string]any{}
	for _, h := range list.Data[0].Hooks {
		trusted[h.Key] = map[string]any{"trusted_hash": h.CurrentHash}
	}
	c.call("config/batchWrite", map[string]any{
		"edits":            []any{map[string]any{"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}},
		"reloadUserConfig": true,
	}, nil)
}

// run is a command of overtone that must succeed.
func (w *hookedCodex) run(args ...string) string {
	w.t.Helper()
	p := w.overtone(args...)
	<-p.done
	if !p.cmd.ProcessState.Success() {
		w.t.Fatalf("overtone %v: %v\n%s", args, p.cmd.ProcessState, p.output())
	}
	return p.output()
}

func (w *hookedCodex) explain(u *User) gjson.Result {
	w.t.Helper()
	return gjson.Parse(w.run("compact", "explain", "--session", u.Thread, "--json"))
}

// events are the types on a thread's timeline, the oldest first.
func (w *hookedCodex) events(u *User) []string {
	w.t.Helper()
	var types []string
	for line := range strings.Lines(w.run("timeline", "--session", u.Thread, "--json")) {
		types = append(types, gjson.Get(line, "type").String())
	}
	return types
}

// hooks are the runs so far of an event. Whatever Codex found wrong with one is
// a failure.
func (w *hookedCodex) hooks(event string) []HookRun {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []HookRun
	for _, r := range w.runs {
		if r.Status != "completed" {
			w.t.Errorf("hook: %+v", r)
		}
		if r.EventName == event {
			out = append(out, r)
		}
	}
	return out
}

// said is what the runs of an event printed, of one kind.
func (w *hookedCodex) said(event, kind string) []string {
	w.t.Helper()
	var out []string
	for _, r := range w.hooks(event) {
		for _, e := range r.Entries {
			if e.Kind == kind {
				out = append(out, e.Text)
			}
		}
	}
	return out
}

// compact is a compaction that the user asks for.
func (u *User) compact() {
	u.w.t.Helper()
	u.call("thread/compact/start", map[string]any{"threadId": u.Thread}, nil)
	u.AwaitTurn(u.Await("the compaction", isCompaction).TurnID)
}

// packetIDs are the packets of a request, in its order.
func packetIDs(r codexmock.Request) []string {
	var ids []string
	for _, it := range r.Input {
		for _, rest := range strings.Split(it.Text, packetMark+` id="`)[1:] {
			id, _, _ := strings.Cut(rest, `"`)
			ids = append(ids, id)
		}
	}
	return ids
}

// The hooks see a commit that says nothing and a step of the plan.
func TestCodexHooksSignals(t *testing.T) { t.Parallel(); onCodexes(t, testCodexHooksSignals) }

func testCodexHooksSignals(t *testing.T, v Version) {
	plan := func(first, second string) codexmock.Call {
		return codexmock.Call{Name: "update_plan", Args: map[string]any{"plan": []any{
			map[string]any{"step": "write a", "status": first}, map[string]any{"step": "write b", "status": second},
		}}}
	}
	shell := func(cmd string) codexmock.Call {
		return codexmock.Call{Name: "exec_command", Args: map[string]any{"cmd": cmd}}
	}
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		reply := codexmock.Reply{Tokens: 30_000}
		text, step := r.LastUser()
		calls := map[string][]codexmock.Call{
			"none":  {shell("echo git commit -m x"), shell("git commit -m 'nothing to commit'")},
			"loud":  {shell("date > a && git add a && git commit -m 'make a slice'")},
			"quiet": {shell("date >> a && git add a"), shell("git commit -qm 'make another'")},
			"plan":  {plan("in_progress", "pending"), plan("completed", "in_progress")},
		}[text]
		if step < len(calls) {
			reply.Calls = calls[step : step+1]
		} else {
			reply.Message = "Noted."
		}
		return reply
	}, "[tools.update_plan]\nenabled = true\n", "suggest", v)
	for _, tt := range []struct{ say, want string }{
		{"none", `["turn_end"]`}, {"loud", `["commit","turn_end"]`}, {"quiet", `["commit","turn_end"]`}, {"plan", `["plan_checkpoint","plan_update","turn_end"]`},
	} {
		u := w.User()
		u.AwaitTurn(u.Say(tt.say))
		if got := w.explain(u); got.Get("signals|@ugly").Raw != tt.want || got.Get("window").Int() != 95_000 {
			t.Errorf("%s: %s, want the signals %s", tt.say, got.Raw, tt.want)
		}
	}
	if n := len(w.hooks("postToolUse")); n != 7 {
		t.Errorf("%d tools reported, want 7", n)
	}
}

// A compaction that the user asks for: the packet is in the next request, once,
// and stays one.
func TestCodexHooksManualCompaction(t *testing.T) {
	t.Parallel()
	onCodexes(t, testCodexHooksManualCompaction)
}

func testCodexHooksManualCompaction(t *testing.T, v Version) {
	w := newHookedCodex(t, mind{}.script, "", "suggest", v)
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	u.compact()
	if got := w.explain(u).Get("lastPacket").String(); !strings.HasSuffix(got, " compacted") {
		t.Errorf("before the next turn: %q", got)
	}
	u.AwaitTurn(u.Say("and then?"))
	u.AwaitTurn(u.Say("and now?"))
	w.want(0, "work0 work0 compaction0 user1 user1")
	rs := w.Model.Requests()
	at := slices.IndexFunc(rs[3].Input, func(it codexmock.Item) bool { return strings.Contains(it.Text, packetMark) })
	if it := rs[3].Input[at]; it.Role != "developer" || !strings.Contains(it.Text, "make a slice") || rs[3].Input[at+1].Text != "and then?" {
		t.Errorf("packet: %+v", it)
	}
	if got := w.explain(u).Get("lastPacket").String(); got != packetIDs(rs[3])[0]+" delivered via session-start" {
		t.Errorf("receipt: %q", got)
	}
	if got := w.said("sessionStart", "context"); len(got) != 1 {
		t.Errorf("the hook said %q", got)
	}

	// Another one: another packet, and each there is once.
	u.AwaitTurn(u.Say("[work] another"))
	u.compact()
	u.AwaitTurn(u.Say("[work] a third"))
	rs = w.Model.Requests()
	ids := packetIDs(rs[len(rs)-1])
	if n := len(ids); n == 0 || !strings.HasSuffix(ids[n-1], "-2") || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != n {
		t.Errorf("packets %q", ids)
	}
	// What a compaction left is known before the next turn fills it again.
	if got := w.said("stop", "warning"); len(got) != 3 {
		t.Errorf("the person was told %q", got)
	}
	var packets []string
	for _, e := range w.events(u) {
		if strings.HasPrefix(e, "packet:") {
			packets = append(packets, e)
		}
	}
	if want := []string{"packet:created", "packet:delivered", "packet:created", "packet:delivered"}; !slices.Equal(packets, want) {
		t.Errorf("timeline %q, want %q", packets, want)
	}
}

// The files of a patch stand in the packet. Only models with a tool for patches
// report them.
func TestCodexHooksPatch(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		switch _, step := r.LastUser(); {
		case r.Compaction:
			return codexmock.Reply{Message: "SUMMARY", Tokens: 3000}
		case step == 0 && r.Count("SUMMARY") == 0:
			return codexmock.Reply{Calls: []codexmock.Call{{
				Name: "apply_patch", Input: "*** Begin Patch\n*** Add File: sub/a new file.txt\n+hello\n*** End Patch\n",
			}}, Tokens: 9000}
		}
		return codexmock.Reply{Message: "Noted.", Tokens: 9000}
	}, "", "suggest")
	u := w.User()
	var r struct{ Thread struct{ ID string } }
	u.call("thread/start", map[string]any{"cwd": w.Project, "model": "gpt-5.5"}, &r)
	u.Thread = r.Thread.ID
	u.AwaitTurn(u.Say("write it"))
	u.compact()
	u.AwaitTurn(u.Say("and then?"))
	rs := w.Model.Requests()
	if last := rs[len(rs)-1]; len(packetIDs(last)) != 1 || last.Count("sub/a new file.txt") != 1 {
		t.Errorf("the packet does not name the file: %s", last.Raw)
	}
}

// Codex compacts by itself in the middle of a turn: the same turn goes on with
// the packet.
func TestCodexHooksAutoCompaction(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		if text, step := r.LastUser(); !r.Compaction && strings.HasPrefix(text, "[work]") && step == 0 && r.Count("SUMMARY") == 0 {
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{
				"cmd": "date > a && git add a && git commit -m 'make a slice'",
			}}}, Tokens: 80_000}
		}
		if r.Compaction {
			return codexmock.Reply{Message: "SUMMARY OF THE WORK", Tokens: 3000}
		}
		return codexmock.Reply{Message: "Noted.", Tokens: 9000}
	}, "model_auto_compact_token_limit = 70000\n", "auto")
	u := w.User()
	if s := u.AwaitTurn(u.Say("[work] slice")); s != "completed" {
		t.Errorf("the turn ended %s", s)
	}
	u.AwaitTurn(u.Say("and then?"))
	var got []string
	for _, r := range w.Model.Requests() {
		got = append(got, fmt.Sprintf("%v%d", r.Compaction, r.Count(packetMark)))
	}
	if want := []string{"false0", "true0", "false1", "false1"}; !slices.Equal(got, want) {
		t.Errorf("the model was asked %v, want %v", got, want)
	}
	if got := w.explain(u).Get("lastPacket").String(); !strings.HasSuffix(got, " delivered via session-start") {
		t.Errorf("receipt: %q", got)
	}
}

// A compaction that fails brings no packet, then or later.
func TestCodexHooksCompactionFails(t *testing.T) {
	t.Parallel()
	m := mind{compaction: func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Status: 500} }}
	w := newHookedCodex(t, m.script, "", "suggest")
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	u.call("thread/compact/start", map[string]any{"threadId": u.Thread}, nil)
	u.Await("the end of the compaction", func(n note) bool { return n.Method == "turn/completed" && n.Turn.Status == "failed" })
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "work0 work0 compaction0 user0")
	if got := w.explain(u).Get("lastPacket").String(); !strings.Contains(got, " dropped") {
		t.Errorf("receipt: %q", got)
	}
}

// A packet in Chinese has more tokens than Codex passes on by default; it must
// arrive as a whole, not as the name of a file.
func TestCodexHooksLongPacket(t *testing.T) {
	t.Parallel()
	long, named := strings.Repeat("把解析器移植到新的架構並且保留所有既有的行為與測試；", 200), ""
	for i := range 400 { // names in what the user says are not told: Codex keeps that
		named += fmt.Sprintf("解析器的 parseRule%d 與 ", i)
	}
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		if r.Compaction {
			return codexmock.Reply{Message: "SUMMARY", Tokens: 3000}
		}
		return codexmock.Reply{Message: long + named, Tokens: 15_000}
	}, "", "suggest")
	u := w.User()
	u.AwaitTurn(u.Say(long))
	u.AwaitTurn(u.Say("然後，" + long))
	u.compact()
	u.AwaitTurn(u.Say("and then?"))
	rs := w.Model.Requests()
	last := rs[len(rs)-1]
	for _, it := range last.Input {
		if i := strings.Index(it.Text, packetMark); i >= 0 {
			t.Logf("packet of %d characters", len([]rune(it.Text)))
			if !strings.HasSuffix(it.Text, "</overtone-packet>") || len([]rune(it.Text)) < 3000 {
				t.Errorf("packet cut: %s", it.Text)
			}
			return
		}
	}
	t.Errorf("no packet in %s", last.Raw)
}

// Hooks and a watcher: the watcher's compaction brings the watcher's packet and
// no second one. What the user compacts is the hooks' affair.
func TestCodexHooksNextToWatcher(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, mind{}.script, "", "auto")
	p := w.Watch()
	for i := range 3 {
		u := w.User()
		from := len(w.Model.Requests())
		u.AwaitTurn(u.Say(fmt.Sprintf("[work] slice %d", i)))
		u.AwaitTurn(u.Await("the compaction", isCompaction).TurnID)
		p.awaitN(t, told("delivered"), i+1)
		u.AwaitTurn(u.Say("and then?"))
		w.want(from, "work0 work0 compaction0 user1")
	}
	for _, event := range []string{"sessionStart", "userPromptSubmit"} {
		if got := w.said(event, "context"); len(got) > 0 {
			t.Errorf("%s said %q", event, got)
		}
	}
	if got := w.said("stop", "warning"); len(got) > 0 {
		t.Errorf("beside a watcher the hook suggested %q", got)
	}

	u := w.User()
	u.AwaitTurn(u.Say("hello"))
	u.compact()
	from := len(w.Model.Requests())
	u.AwaitTurn(u.Say("[work] slice"))
	u.AwaitTurn(u.Await("the compaction", isCompaction).TurnID)
	p.awaitN(t, told("delivered"), 4)
	u.AwaitTurn(u.Say("and then?"))
	w.want(from, "work1 work1 compaction1 user1")
	seen := map[string]bool{}
	for _, r := range w.Model.Requests()[from:] {
		for _, id := range packetIDs(r) {
			seen[id] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("packets %v, want the hooks' and the watcher's", seen)
	}
	if got := w.explain(u).Get("lastPacket").String(); !strings.HasSuffix(got, " delivered via history") {
		t.Errorf("the last packet is %q", got)
	}
}

// In mode suggest the person is told at a boundary, and the turn ends; in mode auto, too,
// where no watcher compacts. Both stand on the terminal's screen.
func TestCodexHooksSuggest(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"suggest", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newHookedCodex(t, mind{}.script, "", mode)
			u := w.User()
			u.AwaitTurn(u.Say("hello"))
			if got := w.said("stop", "warning"); len(got) > 0 {
				t.Errorf("without pressure the hook said %q", got)
			}
			for range 2 {
				if s := u.AwaitTurn(u.Say("[work] slice")); s != "completed" {
					t.Errorf("the turn ended %s", s)
				}
			}
			// The second time nothing has grown since.
			if got := w.said("stop", "warning"); len(got) != 1 || !strings.Contains(got[0], "/compact") || !strings.Contains(got[0], "commit") {
				t.Errorf("the person was told %q", got)
			}
			w.want(0, "user0 work0 work0 work0 work0")
			if n := len(w.hooks("stop")); n != 3 {
				t.Errorf("%d stops, want 3", n)
			}
			s := w.Terminal()
			s.Say("[work] slice")
			s.Wait("a good moment for /compact", 1)
		})
	}
}

// Whatever state our own files are in, no turn is disturbed. Only a workflow that cannot
// be read closes the guard, see guard-unread.txtar.
func TestCodexHooksHarmless(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, mind{}.script, "", "suggest")
	u := w.User()
	turns := func(what string) {
		t.Helper()
		from := len(w.Model.Requests())
		for _, text := range []string{"[work] slice", "and then?"} {
			if s := u.AwaitTurn(u.Say(text)); s != "completed" {
				t.Errorf("%s: the turn ended %s", what, s)
			}
		}
		u.compact()
		u.AwaitTurn(u.Say("and now?"))
		if got := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, w.kinds(from)); got != "work work user compaction user" {
			t.Errorf("%s: the model was asked %s", what, got)
		}
	}
	turns("intact")
	for _, f := range []string{"hooks.json", "timeline.jsonl", "watch.json"} {
		w.write(filepath.Join(w.State, "sessions", u.Thread, f), "{\"\x00")
	}
	w.write(filepath.Join(w.State, "config.yaml"), "compact: [")
	turns("damaged")
	if err := os.RemoveAll(w.State); err != nil {
		t.Fatal(err)
	}
	w.write(w.State, "")
	turns("not a folder")
	for _, event := range []string{"userPromptSubmit", "stop"} {
		if n := len(w.hooks(event)); n != 9 {
			t.Errorf("%d runs of %s, want 9", n, event)
		}
	}
}
