//go:build e2e

package e2e

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// full answers whatever does not begin with [work] in a context that is nearly full:
// the watcher compacts after it without a boundary.
func (m mind) full(answer string) codexmock.Script {
	return func(r codexmock.Request) codexmock.Reply {
		text, _ := r.LastUser()
		if r.Compaction || strings.HasPrefix(text, "[work]") || strings.Contains(text, packetMark) || text == "and then?" {
			return m.script(r)
		}
		return codexmock.Reply{Message: answer, Tokens: 90_000}
	}
}

// waits checks that nothing of ours opens a turn after the compaction, and that the
// packet stands before what the user says next, and says so.
func (w *CodexWorld) waits(u *User, p *proc, kinds string) {
	w.t.Helper()
	p.await(w.t, told("delivered"))
	time.Sleep(2 * time.Second) // what should not happen would happen now
	w.want(0, kinds)
	u.AwaitTurn(u.Say("and then?"))
	w.want(0, kinds+" user1")
	if got := w.order("and then?"); got != "packet and then?" {
		w.t.Errorf("the model saw %s", got)
	}
	rs := w.Model.Requests()
	for _, it := range rs[len(rs)-1].Input {
		if !strings.Contains(it.Text, packetMark) {
			continue
		}
		if it.Role != "developer" || strings.Contains(it.Text, message.HandoverGo.EN) || !strings.Contains(it.Text, message.HandoverNextWord.EN) {
			w.t.Errorf("the packet does not wait, as %s:\n%s", it.Role, it.Text)
		}
	}
	if strings.Contains(p.output(), told("opened")) {
		w.t.Errorf("a turn was opened: %s", p.output())
	}
}

// With a step of the plan open: no turn is opened against the user's last words.
func TestCodexResume_LastWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, answer string }{
		"stop":            {"stop, do nothing more", "Understood."},
		"plain question":  {"How many tests are there?", "There are 40 of them."},
		"waiting closer":  {"continue", "I will wait for your go-ahead before deploying."},
		"a plan in words": {"continue", "Here it is.\n<proposed_plan>\n- drop the table\n</proposed_plan>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewCodexWorld(t, mind{plan: true, tokens: 20_000}.full(c.answer), Planning)
			w.Ready()
			p := w.Watch()
			u := w.User()
			u.AwaitTurn(u.Say("[work] slice"))
			u.AwaitTurn(u.Say(c.said))
			w.waits(u, p, "work0 work0 user0 compaction0")
		})
	}
}

// The user presses Esc in the middle of the work, and only asks something.
func TestCodexResume_Interrupted(t *testing.T) {
	t.Parallel()
	m := mind{plan: true, tokens: 20_000}
	script := m.full("The old table.")
	w := NewCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		if text, _ := r.LastUser(); text == "continue" && !r.Compaction {
			return codexmock.Reply{Wait: r.Gone}
		}
		return script(r)
	}, Planning)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	turn := u.Say("continue")
	w.Requests(3)
	u.call("turn/interrupt", map[string]any{"threadId": u.Thread, "turnId": turn}, nil)
	u.AwaitTurn(turn)
	u.AwaitTurn(u.Say("What would the next step delete?"))
	w.waits(u, p, "work0 work0 user0 user0 compaction0")
}

// A plan of Codex's plan mode that nobody has approved.
func TestCodexResume_ProposedPlan(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{plan: true, tokens: 20_000}.full("Here it is.\n<proposed_plan>\n- drop the table\n</proposed_plan>\n"), Planning)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	var r struct{ Turn struct{ ID string } }
	mode := map[string]any{"mode": "plan", "settings": map[string]any{"model": "mock-model", "reasoning_effort": nil, "developer_instructions": nil}}
	u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input("continue"), "collaborationMode": mode}, &r)
	u.AwaitTurn(r.Turn.ID)
	w.waits(u, p, "work0 work0 user0 compaction0")
}

// Where nobody sits before it, work goes on: the packet is there first, then a note that
// opens the turn, once.
func TestCodexResume_OpenStep(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{plan: true}.script, Planning)
	w.Ready()
	p := w.Watch("--unattended")
	for i := range 5 {
		u := w.User()
		from := len(w.Model.Requests())
		u.AwaitTurn(u.Say("[work] slice"))
		u.AwaitPacket()
		p.awaitN(t, told("opened"), i+1)
		u.AwaitTurn(u.Say("and then?"))
		w.want(from, "work0 work0 compaction0 packet2 user2")
		note, _ := w.Model.Requests()[from+3].LastUser()
		if !strings.Contains(note, "[work] slice") || !strings.Contains(note, message.HandoverGo.EN) {
			t.Errorf("note: %s", note)
		}
	}
}

// A STOP that is queued during the compaction runs its own turn, with the packet
// before it, and nothing of ours opens one; also to the letter of the setting always.
func TestCodexRow8_QueuedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"evidence", "always"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			m, letGo := heldCompactions(t)
			m.plan = true
			w := NewCodexWorld(t, m.script, Planning)
			if set == "always" {
				w.toTheLetter()
			}
			w.Ready()
			p := w.Watch()
			// The host begins the message's turn as soon as the compaction has ended, and may
			// be faster than the watcher; not every time.
			first, runs, asked := 0, 0, 0
			for ; runs < 2 || runs < 20 && first == 0; runs++ {
				u := w.User()
				from := len(w.Model.Requests())
				u.AwaitTurn(u.Say("[work] slice"))
				u.Await("the compaction", func(n note) bool { return n.Method == "item/started" && n.Item.Type == "contextCompaction" })
				u.call("thread/queue/add", map[string]any{"threadId": u.Thread, "clientUserMessageId": "mine", "input": input("STOP")}, nil)
				letGo(true)
				n := u.Await("the queued message", func(n note) bool {
					return n.Method == "item/completed" && n.Item.Type == "userMessage" && n.Item.ClientID == "mine"
				})
				u.AwaitTurn(n.TurnID)
				p.awaitAny(t, runs+1, told("delivered"), told("void"))
				if w.comes(from, "STOP", true) {
					first++
				}
				asked += len(w.Model.Requests()) - from
			}
			t.Logf("%s: the packet came first in %d of %d runs", set, first, runs)
			if first == 0 {
				t.Error("the packet never came first")
			}
			// What was opened in a thread after its run has asked the model, too.
			if n := len(w.Model.Requests()); n != asked {
				t.Errorf("the model was asked %d times, %d of them in the runs", n, asked)
			}
		})
	}
}

// The watcher is killed around the packet that opens no turn; the next one brings it
// once, or knows that it is there.
func TestCodexResume_Killed(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func() func(bool, WireMessage) bool{
		"before its packet is sent": func() func(bool, WireMessage) bool {
			return func(out bool, m WireMessage) bool { return out && m.Method == "thread/inject_items" }
		},
		"before it knows that its packet was taken": func() func(bool, WireMessage) bool {
			var sent sync.Once
			asked := make(chan struct{})
			return func(out bool, m WireMessage) bool {
				if out && m.Method == "thread/inject_items" {
					sent.Do(func() { close(asked) })
				}
				select {
				case <-asked:
					return !out
				default:
					return false
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewCodexWorld(t, mind{}.script, Unattended)
			w.Ready()
			tap := w.Tap(stop())
			first := w.Watch("--socket", tap.Socket)
			u := w.User()
			u.AwaitTurn(u.Say("[work] slice"))
			<-tap.Stopped
			u.Await("the compaction", isCompaction)
			first.kill()

			second := w.Watch()
			second.await(t, told("adopted"))
			second.await(t, told("delivered"))
			u.AwaitTurn(u.Say("and then?"))
			w.want(0, "work0 work0 compaction0 user1")
		})
	}
}

// The watcher is ended and started again while the host compacts: what is open goes on,
// once and behind the packet; where the user has said STOP meanwhile, nothing of ours opens
// a turn.
func TestCodexResume_Restarted(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"", "STOP"} {
		t.Run("said "+said, func(t *testing.T) {
			t.Parallel()
			m, letGo := heldCompactions(t)
			m.plan = true
			w := NewCodexWorld(t, m.script, Planning)
			w.Ready()
			alone := "--json" // given already
			if said == "" {
				alone = "--unattended"
			}
			p := w.Watch(alone)
			u := w.User()
			u.AwaitTurn(u.Say("[work] slice"))
			w.Requests(3) // the compaction's
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			<-p.done
			if said != "" {
				u.call("thread/queue/add", map[string]any{"threadId": u.Thread, "clientUserMessageId": "mine", "input": input(said)}, nil)
			}
			second := w.Watch(alone)
			second.await(t, told("adopted"))
			letGo(false)
			if said == "" {
				u.AwaitPacket()
				second.await(t, told("opened"))
				w.want(0, "work0 work0 compaction0 packet2")
				return
			}
			n := u.Await("the queued message", func(n note) bool {
				return n.Method == "item/completed" && n.Item.Type == "userMessage" && n.Item.ClientID == "mine"
			})
			u.AwaitTurn(n.TurnID)
			second.awaitAny(t, 1, told("delivered"), told("void"))
			u.AwaitTurn(u.Say("and then?"))
			if kinds := w.kinds(0); strings.Contains(kinds, "packet") || strings.Contains(second.output(), told("opened")) {
				t.Errorf("a turn of ours: %s\n%s", kinds, second.output())
			}
			t.Logf("%s, in the order %s", w.kinds(0), w.order("STOP"))
		})
	}
}
