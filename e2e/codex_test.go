//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
)

// mind is a model that commits a slice when asked to work, answers everything
// else, and knows how full its context would be.
type mind struct {
	compaction func(codexmock.Request) codexmock.Reply
	tokens     int  // after work
	ask        bool // to leave the sandbox, which needs an approval
	said       string
	plan       bool // announce a step that stays open
}

// heldCompactions is a mind whose compactions last until they are let go: the one that has
// been asked for, or will be, and those to come, too, unless they are to be held again.
func heldCompactions(t *testing.T) (m mind, letGo func(again bool)) {
	var mu sync.Mutex
	hold, held := make(chan struct{}), make(chan struct{}, 99)
	m.compaction = func(codexmock.Request) codexmock.Reply {
		mu.Lock()
		defer mu.Unlock()
		held <- struct{}{}
		return codexmock.Reply{Message: "SUMMARY", Tokens: 3000, Wait: hold}
	}
	letGo = func(again bool) {
		receive(t, "held", held)
		mu.Lock()
		defer mu.Unlock()
		if close(hold); again {
			hold = make(chan struct{})
		}
	}
	return m, letGo
}

// Planning is the configuration of a session whose model may announce its steps.
const Planning = Unattended + "[tools.update_plan]\nenabled = true\n"

// toTheLetter sets that the packet itself opens a turn, whatever is open.
func (w *CodexWorld) toTheLetter() {
	w.write(filepath.Join(w.State, "config.yaml"), "compact:\n  resume: always\n")
}

const packetMark = "<overtone-packet"

func (m mind) script(r codexmock.Request) codexmock.Reply {
	if r.Compaction {
		if m.compaction != nil {
			return m.compaction(r)
		}
		return codexmock.Reply{Message: "SUMMARY OF THE WORK", Tokens: 3000}
	}
	tokens := m.tokens
	if tokens == 0 {
		tokens = 62_000
	}
	switch text, step := r.LastUser(); {
	case strings.HasPrefix(text, "[work]") && step == 0:
		args := map[string]any{"cmd": "date +%N >> a && git add a && git commit -m 'make a slice'"}
		if m.ask {
			args["sandbox_permissions"], args["justification"] = "require_escalated", "May I commit?"
		}
		calls := []codexmock.Call{{Name: "exec_command", Args: args}}
		if m.plan {
			steps := []any{map[string]any{"step": "port the parser", "status": "completed"}, map[string]any{"step": "port the printer", "status": "in_progress"}}
			calls = append([]codexmock.Call{{Name: "update_plan", Args: map[string]any{"plan": steps}}}, calls...)
		}
		return codexmock.Reply{Calls: calls, Tokens: 30_000}
	case strings.HasPrefix(text, "[work]"):
		return codexmock.Reply{Message: cmp.Or(m.said, "The slice is in place."), Tokens: tokens}
	case strings.Contains(text, packetMark):
		return codexmock.Reply{Message: "Carrying on.", Tokens: 15_000}
	default:
		return codexmock.Reply{Message: "Noted.", Tokens: 15_000}
	}
}

// Watch starts `overtone watch codex` on the daemon's socket and waits until it
// is connected.
func (w *CodexWorld) Watch(args ...string) *proc {
	w.t.Helper()
	p := w.overtone(append([]string{"watch", "codex", "--mode", "auto", "--debounce", "200ms", "--json"}, args...)...)
	p.await(w.t, `"what":"connected"`)
	return p
}

func (w *CodexWorld) overtone(args ...string) *proc {
	w.t.Helper()
	bin, err := buildOvertone()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.start(filepath.Join(bin, "overtone"), args...)
}

// told is a line of the watcher's output that has to come.
func told(what string) string { return fmt.Sprintf("%q:%q", "what", what) }

// kinds names the model's requests from the nth on, in their order, with the
// number of packets each one holds.
func (w *CodexWorld) kinds(from int) string {
	var out []string
	for _, r := range w.Model.Requests()[from:] {
		kind := "user"
		switch text, _ := r.LastUser(); {
		case r.Compaction:
			kind = "compaction"
		case strings.Contains(text, packetMark):
			kind = "packet"
		case strings.HasPrefix(text, "[work]"):
			kind = "work"
		}
		out = append(out, fmt.Sprintf("%s%d", kind, r.Count(packetMark)))
	}
	return strings.Join(out, " ")
}

func (w *CodexWorld) want(from int, kinds string) {
	w.t.Helper()
	if got := w.kinds(from); got != kinds {
		w.t.Errorf("the model was asked\n  %s\nwant\n  %s", got, kinds)
	}
}

func isCompaction(n note) bool {
	return n.Method == "item/completed" && n.Item.Type == "contextCompaction"
}

// TestCodexPacketFollowsCompaction is the whole cycle, twenty times: a commit,
// one compaction, one packet, first in the next request.
func TestCodexPacketFollowsCompaction(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.toTheLetter()
	w.Ready()
	w.Watch()
	for i := range 20 {
		u := w.User()
		from := len(w.Model.Requests())
		u.AwaitTurn(u.Say(fmt.Sprintf("[work] slice %d", i)))
		u.AwaitPacket()
		u.AwaitTurn(u.Say("and then?"))
		w.want(from, "work0 work0 compaction0 packet1 user1")
		if n := u.Seen(isCompaction); n != 1 || t.Failed() {
			t.Fatalf("run %d: %d compactions", i, n)
		}
	}
}

// TestCodexTwoWatchers: whoever is first acts, the other one looks on; what is open goes on
// once.
func TestCodexTwoWatchers(t *testing.T) {
	t.Parallel()
	for resume, then := range map[string]string{"always": "packet1 user1", "evidence": "packet2 user2"} {
		t.Run(resume, func(t *testing.T) {
			t.Parallel()
			w := NewCodexWorld(t, mind{plan: true}.script, Planning)
			w.write(filepath.Join(w.State, "config.yaml"), "compact:\n  resume: "+resume+"\n")
			w.Ready()
			a, b := w.Watch("--unattended"), w.Watch("--unattended")
			for i := range 4 {
				u := w.User()
				from := len(w.Model.Requests())
				u.AwaitTurn(u.Say(fmt.Sprintf("[work] slice %d", i)))
				u.AwaitPacket()
				u.AwaitTurn(u.Say("and then?"))
				w.want(from, "work0 work0 compaction0 "+then)
			}
			if n := strings.Count(a.output()+b.output(), told("delivered")); n != 4 {
				t.Errorf("%d deliveries reported, want 4", n)
			}
		})
	}
}

// TestCodexCompactionFails: nothing is injected, and the session goes on.
func TestCodexCompactionFails(t *testing.T) {
	t.Parallel()
	m := mind{compaction: func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Status: 500} }}
	w := NewCodexWorld(t, m.script, Unattended)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	p.await(t, told("void"))
	if s := u.AwaitTurn(u.Say("and then?")); s != "completed" {
		t.Errorf("the user's next turn ended %s", s)
	}
	w.want(0, "work0 work0 compaction0 user0")
}

// TestCodexCompactionInterrupted: the user presses Esc while Codex compacts.
func TestCodexCompactionInterrupted(t *testing.T) {
	t.Parallel()
	m := mind{compaction: func(r codexmock.Request) codexmock.Reply { return codexmock.Reply{Wait: r.Gone} }}
	w := NewCodexWorld(t, m.script, Unattended)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	n := u.Await("the compaction", func(n note) bool { return n.Method == "item/started" && n.Item.Type == "contextCompaction" })
	w.Requests(3) // the model is at it: before that Codex may not let itself be interrupted
	u.call("turn/interrupt", map[string]any{"threadId": u.Thread, "turnId": n.TurnID}, nil)
	if s := u.AwaitTurn(n.TurnID); s != "interrupted" {
		t.Errorf("the compaction ended %s", s)
	}
	p.await(t, told("void"))
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "work0 work0 compaction0 user0")
}

// TestCodexApprovalPending: the watcher neither answers nor acts.
func TestCodexApprovalPending(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{ask: true}.script, "approval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n")
	w.Ready()
	p := w.Watch()
	u := w.User()
	turn := u.Say("[work] slice")
	u.Await("the approval request", func(n note) bool { return slices.Contains(n.Status.ActiveFlags, "waitingOnApproval") })
	p.await(t, told("attached"))

	// A whole turn of another thread, decision and debounce included, is time
	// enough to do something wrong.
	other := w.User()
	other.AwaitTurn(other.Say("hello"))
	p.await(t, told("decision"))
	var r struct {
		Thread struct {
			Status struct {
				Type        string
				ActiveFlags []string
			}
		}
	}
	u.call("thread/read", map[string]any{"threadId": u.Thread}, &r)
	if s := r.Thread.Status; s.Type != "active" || !slices.Contains(s.ActiveFlags, "waitingOnApproval") {
		t.Errorf("the request was answered: %+v", s)
	}
	u.call("turn/interrupt", map[string]any{"threadId": u.Thread, "turnId": turn}, nil)
	u.AwaitTurn(turn)
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "work0 user0 user0")
}

// TestCodexKilledBetween kills the watcher between compaction and injection, at
// three different points. Its successor brings the packet, once.
func TestCodexKilledBetween(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(bool, WireMessage) bool{
		"before it knows that the compaction is done": func(out bool, m WireMessage) bool {
			return !out && m.Method == "item/completed" && m.Params.Item.Type == "contextCompaction"
		},
		"before its packet is sent": func(out bool, m WireMessage) bool {
			return out && m.Method == "thread/queue/add"
		},
		"before it knows that its packet was taken": func(out bool, m WireMessage) bool {
			return !out && strings.Contains(string(m.Result), "queuedSubmission")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewCodexWorld(t, mind{}.script, Unattended)
			w.toTheLetter()
			w.Ready()
			tap := w.Tap(stop)
			first := w.Watch("--socket", tap.Socket)
			u := w.User()
			u.AwaitTurn(u.Say("[work] slice"))
			<-tap.Stopped
			u.Await("the compaction", isCompaction)
			first.kill()

			second := w.Watch()
			second.await(t, told("adopted"))
			u.AwaitPacket()
			second.await(t, told("delivered"))
			u.AwaitTurn(u.Say("and then?"))
			w.want(0, "work0 work0 compaction0 packet1 user1")
		})
	}
}

// TestCodexConnectionLost: the watcher comes back and finishes what it began.
func TestCodexConnectionLost(t *testing.T) {
	t.Parallel()
	m, letGo := heldCompactions(t)
	w := NewCodexWorld(t, m.script, Unattended)
	w.toTheLetter()
	w.Ready()
	tap := w.Tap(nil)
	p := w.Watch("--socket", tap.Socket)
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	u.Await("the compaction", func(n note) bool { return n.Method == "item/started" && n.Item.Type == "contextCompaction" })
	tap.Cut()
	letGo(false)
	u.AwaitPacket()
	p.await(t, told("delivered"))
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "work0 work0 compaction0 packet1 user1")
}

// TestCodexQuickUser: a message that follows at once, as text queued in the
// terminal does, is never interrupted.
func TestCodexQuickUser(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.toTheLetter()
	w.Ready()
	p := w.Watch()
	for range 5 {
		u := w.User()
		u.AwaitTurn(u.Say("[work] slice"))
		if s := u.AwaitTurn(u.Say("[work] and another one")); s != "completed" {
			t.Errorf("the second turn ended %s", s)
		}
		u.AwaitPacket()
	}
	if !strings.Contains(p.output(), told("held")) {
		t.Error("the watcher never held back")
	}
}

// TestCodexPacketComesFirst: a message that is sent once the host has taken the packet comes
// after it, in a turn of its own. One that is faster comes before the packet, or the packet is
// stale and does not come at all: the host has no request that puts a packet only into a
// thread at rest.
func TestCodexPacketComesFirst(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"the packet is taken": false, "the message is faster": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewCodexWorld(t, mind{plan: true}.script, Planning)
			w.Ready()
			began, taken := make(chan struct{}), make(chan struct{})
			var request atomic.Value // that hands the packet over
			tap := w.Tap(func(out bool, m WireMessage) bool {
				switch {
				case early && !out && m.Method == "item/completed" && m.Params.Item.Type == "contextCompaction":
					<-began // the watcher hears of the compaction when the message's turn runs
				case !early && out && m.Method == "thread/inject_items":
					request.Store(string(m.ID))
				case !early && !out && m.Method == "" && request.Load() == string(m.ID):
					taken <- struct{}{}
				}
				return false
			})
			p := w.Watch("--socket", tap.Socket)
			for i := range 3 {
				u := w.User()
				from := len(w.Model.Requests())
				u.AwaitTurn(u.Say("[work] slice"))
				u.AwaitTurn(u.Await("the compaction", isCompaction).TurnID)
				if !early {
					receive(t, "answered to the watcher", taken)
				}
				turn := u.Say("hurry")
				if early {
					began <- struct{}{}
				}
				u.AwaitTurn(turn)
				p.awaitAny(t, i+1, told("delivered"), told("void"))
				w.comes(from, "hurry", early)
			}
		})
	}
}

// comes fails unless the newest request has the packet before a text of the user's, once, and
// nothing else of ours has asked the model; or, where the text may have been faster, behind it or not at all.
func (w *CodexWorld) comes(from int, text string, faster bool) (first bool) {
	w.t.Helper()
	const worked = "work0 work0 compaction0 "
	switch seen := w.order(text) + ": " + w.kinds(from); seen {
	case "packet " + text + ": " + worked + "user1":
		return true
	case text + ": " + worked + "user0",
		text + " packet: " + worked + "user1",
		// The packet came into the turn, which makes the model answer once more.
		text + " packet: " + worked + "user0 user1":
		if faster {
			return false
		}
		w.t.Errorf("the model saw %s", seen)
	default:
		w.t.Errorf("the model saw %s", seen)
	}
	return false
}

// order is where packets and a text of the user's stand in the newest request.
func (w *CodexWorld) order(text string) string {
	var order []string
	rs := w.Model.Requests()
	for _, it := range rs[len(rs)-1].Input {
		switch {
		case strings.Contains(it.Text, packetMark):
			order = append(order, "packet")
		case it.Text == text:
			order = append(order, text)
		}
	}
	return strings.Join(order, " ")
}

// TestCodexForeignCompaction: what the user compacts, where no hooks are, gets a
// packet of ours, which opens no turn and stands before the next message, once.
func TestCodexForeignCompaction(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("port the parser to the new lexer"))
	u.call("thread/compact/start", map[string]any{"threadId": u.Thread}, nil)
	u.AwaitTurn(u.Await("the compaction", isCompaction).TurnID)
	p.await(t, told("foreign"))
	p.await(t, told("delivered"))
	u.AwaitTurn(u.Say("and then?"))
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "user0 compaction0 user1 user1")
}

// TestCodexSuggest: without auto the watcher says so and does nothing.
func TestCodexSuggest(t *testing.T) { t.Parallel(); onCodexes(t, testCodexSuggest) }

func testCodexSuggest(t *testing.T, v Version) {
	w := NewCodexWorld(t, mind{}.script, Unattended, v)
	w.Ready()
	p := w.Watch("--mode", "suggest")
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	p.await(t, told("suggest"))
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, "work0 work0 user0")
	line := w.overtone("timeline", "--session", u.Thread, "--type", "compact:suggested", "--json")
	<-line.done
	if !strings.Contains(line.output(), `"type":"compact:suggested"`) {
		t.Errorf("timeline: %s", line.output())
	}
}

// TestCodexAgentPacket: the agent writes the packet, asked with the body of the
// prompt file as it is. When its words open a turn is set like for ours: always to the
// letter, on evidence behind the packet, and never.
func TestCodexAgentPacket(t *testing.T) {
	t.Parallel()
	const body = "# My prompt\n\n- keep   these   blanks\n"
	for resume, then := range map[string]string{"always": " packet1", "evidence": " packet2", "never": ""} {
		t.Run(resume, func(t *testing.T) {
			t.Parallel()
			m := mind{plan: true}
			w := NewCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
				if text, _ := r.LastUser(); text == body {
					return codexmock.Reply{Message: "THE AGENT'S OWN WORDS", Tokens: 62_000}
				}
				return m.script(r)
			}, Planning)
			w.write(filepath.Join(w.State, "auto-compact.md"), "---\npacket:\n  author: agent\n---\n"+body)
			w.write(filepath.Join(w.State, "config.yaml"), "compact:\n  resume: "+resume+"\n")
			w.Ready()
			alone := "--json" // given already
			if resume == "evidence" {
				alone = "--unattended"
			}
			p := w.Watch(alone)
			u := w.User()
			u.AwaitTurn(u.Say("[work] slice"))
			p.await(t, told("delivered"))
			if then != "" {
				u.AwaitPacket()
			}
			u.AwaitTurn(u.Say("and then?"))
			if text, _ := w.Model.Requests()[2].LastUser(); text != body {
				t.Errorf("the agent was asked %q, want %q", text, body)
			}
			last := then[max(0, len(then)-1):]
			w.want(0, "work0 work0 user0 compaction0"+then+" user"+cmp.Or(last, "1"))
			rs := w.Model.Requests()
			for _, it := range rs[len(rs)-1].Input {
				if strings.Contains(it.Text, packetMark) && strings.Contains(it.Text, "THE AGENT'S OWN WORDS") {
					return
				}
			}
			t.Errorf("the agent's words are not in its packet: %s", rs[len(rs)-1].Raw)
		})
	}
}

// TestCodexHeadless: with prompts the watcher is the front end. The second prompt
// waits while the first one's context is compacted, so that packet opens no turn; the
// last one's does. Codex keeps only what users said through a compaction.
func TestCodexHeadless(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.toTheLetter()
	w.Ready()
	p := w.overtone("watch", "codex", "--mode", "auto", "--debounce", "200ms", "--bin", w.server, "[work] one", "[work] two")
	<-p.done
	w.want(0, "work0 work0 compaction0 work1 work1 compaction1 packet1")
	if !p.cmd.ProcessState.Success() || strings.Count(p.output(), "The slice is in place.") != 2 {
		t.Errorf("%v\n%s", p.cmd.ProcessState, p.output())
	}
}
