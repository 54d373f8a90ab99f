//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// ways is an answer that the next words refer to.
const ways = "There are two ways. 1. port the lexer with alphaScan first 2. leave it as it is. Which one?"

// A turn of twenty reads, after which the context is nearly full, is not taken for the
// beginning of a turn. The next prompt is one, also in a new process: there the session is
// compacted, and what "yes, do 1" refers to is in the request, with one packet.
func TestTurnEnd_AtThePrompt(t *testing.T) {
	t.Parallel()
	for _, resumed := range []bool{false, true} {
		onEach(t, func(t *testing.T, v Version) {
			p := &Play{}
			w := gateWorld(t, p.Handle, v)
			w.Write("a.txt", "nothing")
			for i := range 23 { // the first few are small: the host writes its file a little late
				p.Main = append(p.Main, func(*mockapi.Request) mockapi.Reply {
					return mockapi.Calls(tool("Read", map[string]any{"file_path": filepath.Join(w.Project, "a.txt")})).Tokens(min(i/3*140_000+10_000, 140_000))
				})
			}
			p.Main = append(p.Main, func(*mockapi.Request) mockapi.Reply { return mockapi.Text(ways).Tokens(145_000) })
			for range 2 {
				p.Main = append(p.Main, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("Fine.").Tokens(10_000) })
			}
			s := w.Start()
			res := s.Ask("look around, MARK-GOAL")
			if n := len(summaries(w)); n != 0 {
				t.Fatalf("%d compactions in a turn of reads", n)
			}
			if resumed {
				s.Close()
				w.Prompt("yes, do 1", "--resume", res.SessionID)
				w.Prompt("thanks", "--resume", res.SessionID)
			} else {
				s.Ask("yes, do 1")
				s.Ask("thanks")
				s.Close()
			}
			sums := summaries(w)
			if len(sums) != 1 || sums[0].Has("yes, do 1") {
				t.Fatalf("%d compactions", len(sums))
			}
			after := mains(w)[24:]
			if len(after) != 2 || !strings.HasSuffix(strings.TrimSpace(after[0].Last()), "yes, do 1") {
				t.Errorf("%d requests follow", len(after))
			}
			for _, r := range after {
				packets := hookTextsOf(r, "SessionStart")
				if len(packets) != 1 || !strings.Contains(packets[0], ways) || !strings.Contains(packets[0], "MARK-GOAL") {
					t.Errorf("request %d has %d packets: %q", r.Seq, len(packets), packets)
				}
			}
		})
	}
}

// On Codex the thread is compacted when the turn has ended. No turn is opened, also where
// packets open turns, and what is typed in the instant of the compaction is not lost.
func TestTurnEnd_Codex(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		if text, _ := r.LastUser(); !r.Compaction && strings.HasPrefix(text, "[talk]") {
			return codexmock.Reply{Message: ways, Tokens: 70_000}
		}
		return mind{}.script(r)
	}, Unattended)
	w.toTheLetter()
	w.Ready()
	var fire atomic.Pointer[func()]
	tap := w.Tap(func(out bool, m WireMessage) bool {
		if shoot := fire.Swap(nil); out && m.Method == "thread/compact/start" && shoot != nil {
			(*shoot)()
		} else if shoot != nil {
			fire.Store(shoot)
		}
		return false
	})
	p := w.Watch("--socket", tap.Socket)
	u := w.User()
	u.AwaitTurn(u.Say("[talk] how would you do it?"))
	u.Await("the compaction", isCompaction)
	p.await(t, told("delivered"))
	u.AwaitTurn(u.Say("yes, do 1"))
	w.want(0, "user0 compaction0 user1")
	if last := w.Model.Requests()[2]; last.Count("alphaScan") == 0 {
		t.Error("what 1 was is not in the request")
	}

	typed := make(chan string, 1)
	shoot := func() { typed <- u.Say("TYPED AT ONCE") }
	fire.Store(&shoot)
	from := len(w.Model.Requests())
	u.AwaitTurn(u.Say("[talk] and then?"))
	receive(t, "typed", typed)
	deadline := time.Now().Add(codexWait)
	for answered := false; !answered && !strings.Contains(p.output(), told("cut")); {
		for _, r := range w.Model.Requests()[from:] {
			text, _ := r.LastUser()
			answered = answered || !r.Compaction && text == "TYPED AT ONCE"
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is neither answered nor reported: %s", p.output())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// On opencode the session is compacted when the turn has ended, and no turn is opened. What
// is typed while the summary is written is quoted in the packet and answered behind it, once.
func TestTurnEnd_Opencode(t *testing.T) {
	t.Parallel()
	compaction := newHeld(t)
	var compactions atomic.Int32
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare && strings.Contains(r.Body, "title generator"):
			return speak("the lexer", 100)
		case r.Bare:
			compactions.Add(1)
			return spoken{Text: "MOCK-SUMMARY: it was looked at.", Tokens: 1_000, Until: compaction.at()}
		case compactions.Load() > 0:
			return speak("Fine.", 6_000)
		}
		return speak(ways, 85_000)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	o := s.serve()
	id := o.session()
	o.say(id, "look around, MARK-GOAL")
	receive(t, "the compaction", compaction.reached)
	o.post("/session/"+id+"/prompt_async", map[string]any{"parts": []any{map[string]any{"type": "text", "text": "yes, do 1"}}})
	o.eventually("the message is there", func() bool { return strings.Contains(o.messages(id), "yes, do 1") })
	compaction.letGo()
	o.eventually("it is answered", func() bool { return strings.Contains(o.messages(id), "Fine.") })
	list := o.API.requests()
	last := list[len(list)-1]
	if last.Count(handed) != 1 || last.Last() != "yes, do 1" || last.Count("yes, do 1") != 2 || !last.Has("alphaScan") || !last.Has("MARK-GOAL") {
		t.Errorf("the model reads %q", last.Texts[1:])
	}
	var asked int
	for _, r := range list {
		if !r.Bare {
			asked++
		}
	}
	if n := compactions.Load(); asked != 2 || n != 1 {
		t.Errorf("%d turns, %d compactions", asked, n)
	}
}
