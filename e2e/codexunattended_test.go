//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
)

// goal is how Codex asks for the next turn of a goal.
const goalMark = `source="goal"`

// goalWorld is a model that commits in each of so many turns, and then says that its goal
// is reached.
func goalWorld(t *testing.T, turns int) (*CodexWorld, *User) {
	t.Helper()
	var (
		mu    sync.Mutex
		count int
		used  = 10_000
	)
	w := NewCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		mu.Lock()
		defer mu.Unlock()
		text, step := r.LastUser()
		switch {
		case r.Compaction:
			used = 10_000
			return codexmock.Reply{Message: "SUMMARY", Tokens: 3000}
		case !strings.Contains(text, goalMark):
			return codexmock.Reply{Message: "Noted.", Tokens: 2000}
		case step == 0 && count < turns:
			used += 9_000
			args := map[string]any{"cmd": "date +%N >> a && git add a && git commit -m 'make a slice'"}
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: args}}, Tokens: used}
		case step == 0:
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "update_goal", Args: map[string]any{"status": "complete"}}}, Tokens: used}
		}
		count++
		return codexmock.Reply{Message: fmt.Sprintf("Part %d is in place.", count), Tokens: used}
	}, Unattended)
	w.Ready()
	return w, w.User()
}

// pursue gives the thread its goal.
func (u *User) pursue() {
	u.w.t.Helper()
	u.AwaitTurn(u.Say("hello"))
	u.call("thread/goal/set", map[string]any{"threadId": u.Thread, "objective": "PORT THE WHOLE PARSER", "origin": "user"}, nil)
}

// goal waits until the goal has a status.
func (u *User) goal(status string) {
	u.w.t.Helper()
	deadline := time.Now().Add(2 * codexWait)
	var r struct{ Goal struct{ Status string } }
	for r.Goal.Status != status {
		if time.Now().After(deadline) {
			u.w.t.Fatalf("the goal is %s after %s", r.Goal.Status, u.w.kinds(0))
		}
		time.Sleep(100 * time.Millisecond)
		u.call("thread/goal/get", map[string]any{"threadId": u.Thread}, &r)
	}
}

func (u *User) reached() { u.w.t.Helper(); u.goal("complete") }

// The watcher is killed after it has paused the goal, between two of its turns: the next
// watcher sets it going, and compacts.
func TestCodexRow4_GoalOfAKilledWatcher(t *testing.T) {
	t.Parallel()
	w, u := goalWorld(t, 8)
	// From the pause on the watcher hears nothing: how far it comes is not left to luck.
	var asked atomic.Bool
	tap := w.Tap(func(out bool, m WireMessage) bool {
		if out && m.Method == "thread/goal/set" {
			asked.Store(true)
		}
		return !out && asked.Load()
	})
	p := w.Watch("--socket", tap.Socket)
	u.pursue()
	<-tap.Stopped
	u.goal("paused")
	p.kill()
	doctor := w.overtone("doctor")
	<-doctor.done
	if said := strings.Join(strings.Fields(doctor.output()), " "); !strings.Contains(said, "a goal of Codex rests, because its watcher died while it compacted: "+u.Thread+" PORT THE WHOLE PARSER") || !strings.Contains(said, "/goal resume") {
		t.Errorf("doctor says\n%s", doctor.output())
	}
	second := w.Watch()
	second.await(t, told("resumed"))
	u.reached()
	if !strings.Contains(w.kinds(0), "compaction") {
		t.Errorf("nothing was compacted: %s", w.kinds(0))
	}
}

// The watcher is killed when the context is compacted and the packet is not there yet: the
// next one brings the packet first, and then sets the goal going.
func TestCodexRow4_GoalOfAKilledWatcherCompacted(t *testing.T) {
	t.Parallel()
	w, u := goalWorld(t, 8)
	tap := w.Tap(func(out bool, m WireMessage) bool { return out && m.Method == "thread/inject_items" })
	p := w.Watch("--socket", tap.Socket)
	u.pursue()
	<-tap.Stopped
	p.kill()
	w.Watch().await(t, told("resumed"))
	u.reached()
	w.packetsFirst()
}

// packetsFirst checks that compactions fall between turns, and that the request after
// each has one packet, with the goal in it.
func (w *CodexWorld) packetsFirst() (compactions int) {
	w.t.Helper()
	rs := w.Model.Requests()
	for i, q := range rs {
		if !q.Compaction {
			continue
		}
		compactions++
		// Between two turns: the request before ended a turn, the one after has
		// the packet with the goal in it.
		if _, step := rs[i-1].LastUser(); step == 0 {
			w.t.Errorf("compaction %d fell into a turn", compactions)
		}
		if i+1 < len(rs) {
			says(w.t, packetIn(w.t, rs[i+1]), []string{"PORT THE WHOLE PARSER", "The goal goes on:"}, []string{"The next word is the user's"})
		}
	}
	return compactions
}

// TestCodexRow4Goal: turns of a goal follow each other without a pause. The watcher
// lets the goal rest, compacts between two of them, and the packet is what the next
// one begins with; the goal goes on until it is reached.
func TestCodexRow4_Goal(t *testing.T) {
	t.Parallel()
	const turns = 12
	w, u := goalWorld(t, turns)
	w.Watch()
	u.pursue()
	u.reached()
	compactions := w.packetsFirst()
	if compactions < 2 {
		t.Errorf("%d compactions in %d turns: %s", compactions, turns, w.kinds(0))
	}
	t.Logf("%d compactions in %d turns of a goal", compactions, turns)
}

// A run of the watcher's own: while nobody sits before it, what was asked for goes on
// until the agent is done or leaves the next word to the user.
func TestCodexHeadless_Unattended(t *testing.T) {
	t.Parallel()
	var (
		mu sync.Mutex
		m  mind
	)
	w := NewCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		mu.Lock()
		defer mu.Unlock()
		return m.script(r)
	}, Unattended)
	w.Ready()
	const worked = "work0 work0 compaction0"
	for _, c := range []struct{ name, said, flag, want string }{
		{"open", "The slice is in place.", "--unattended", worked + " packet2"},
		{"somebody is there", "The slice is in place.", "--json", worked},
		{"a question in prose", "The slice is in place. Shall I deploy it now?", "--unattended", worked + " packet2"},
		{"done", "All tasks are done.", "--unattended", worked},
	} {
		mu.Lock()
		m = mind{said: c.said}
		mu.Unlock()
		from := len(w.Model.Requests())
		p := w.overtone("watch", "codex", "--mode", "auto", "--debounce", "200ms", "--bin", w.server, c.flag, "[work] one")
		<-p.done
		t.Log(c.name)
		w.want(from, c.want)
		if !p.cmd.ProcessState.Success() {
			t.Errorf("%s: %v\n%s", c.name, p.cmd.ProcessState, p.output())
		}
	}
}

// TestCodexRow2OpenQuestion: no turn is opened; the packet stands before the answer.
func TestCodexRow2_OpenQuestion(t *testing.T) {
	t.Parallel()
	m := mind{said: "The slice is committed. Shall I run it against production now?"}
	w := NewCodexWorld(t, m.script, Unattended)
	w.Ready()
	p := w.Watch()
	u := w.User()
	u.AwaitTurn(u.Say("[work] slice"))
	p.await(t, told("delivered"))
	time.Sleep(time.Second) // what should not happen would happen now
	w.want(0, "work0 work0 compaction0")
	u.AwaitTurn(u.Say("yes, do"))
	w.want(0, "work0 work0 compaction0 user1")
	rs := w.Model.Requests()
	var order []string
	for _, it := range rs[len(rs)-1].Input {
		switch {
		case strings.Contains(it.Text, packetMark):
			order = append(order, it.Role+" packet")
		case it.Text == "yes, do":
			order = append(order, "answer")
		}
	}
	if got := strings.Join(order, ", "); got != "developer packet, answer" {
		t.Errorf("the model saw %s", got)
	}
}

// aim is a tap that holds back the request to compact until a turn has begun: where the
// host has not recorded what opened that turn, it drops it. fire says that it is held.
func (w *CodexWorld) aim() (tap *Tap, fire chan struct{}) {
	fire = make(chan struct{})
	var held atomic.Bool
	began := make(chan struct{}, 1)
	return w.Tap(func(out bool, m WireMessage) bool {
		switch {
		case out && m.Method == "thread/compact/start":
			held.Store(true)
			fire <- struct{}{}
			select {
			case <-began:
			case <-time.After(5 * time.Second):
			}
		case !out && m.Method == "turn/started" && held.Swap(false):
			began <- struct{}{}
		}
		return false
	}), fire
}

// answered counts the requests from the nth on that answer a text.
func (w *CodexWorld) answered(from int, text string) (n int) {
	for _, q := range w.Model.Requests()[from:] {
		if last, _ := q.LastUser(); strings.Contains(last, text) && !q.Compaction {
			n++
		}
	}
	return n
}

// TestCodexRow6CutMessage aims at the instant of the compaction. What the host has
// recorded of a message that it cuts comes back and is answered, after the packet. What it
// has dropped, and nobody has heard, the agent asks its user for.
func TestCodexRow6_CutMessage(t *testing.T) { t.Parallel(); onCodexes(t, cutByTheHost) }

func cutByTheHost(t *testing.T, v Version) {
	w := NewCodexWorld(t, mind{}.script, Unattended, v)
	w.Ready()
	tap, fire := w.aim()
	p := w.Watch("--socket", tap.Socket)
	shots, again, asked := soak(10), 0, 0
	for i := range shots {
		u := w.User()
		from := len(w.Model.Requests())
		u.AwaitTurn(u.Say("[work] slice"))
		<-fire
		text := fmt.Sprintf("CUT ME %d.", i)
		u.Say(text)
		// Either cuts the other: where the message has ended the compaction there is no packet.
		p.awaitAny(t, i+1, told("delivered"), told("void"))
		await(t, "answer", func() bool { return w.answered(from, text)+w.answered(from, "ask for it again") > 0 })
		again, asked = again+w.answered(from, text), asked+w.answered(from, "ask for it again")
	}
	t.Logf("%d shots: %d answered, %d asked for, %d reported", shots, again, asked, strings.Count(p.output(), told("cut")))
	if asked > strings.Count(p.output(), told("cut")) {
		t.Error(p.output())
	}
}

// TestCodexTerminal_CutMessage: what is typed in Codex's own terminal stands in a file of
// its, so nothing of it is lost, whatever the host has recorded.
func TestCodexTerminal_CutMessage(t *testing.T) {
	t.Parallel()
	onCodexes(t, cutInTheTerminal)
}

func cutInTheTerminal(t *testing.T, v Version) {
	w := NewCodexWorld(t, mind{}.script, Unattended, v)
	w.Ready()
	tap, fire := w.aim()
	p := w.Watch("--socket", tap.Socket, "--debounce", "2s")
	shots := soak(5)
	for i := range shots {
		from := len(w.Model.Requests())
		dir := filepath.Join(w.Home, strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		term := openTerminal(t, func(name string, args ...string) *exec.Cmd {
			cmd := exec.Command(name, args...)
			cmd.Dir, cmd.Env = w.Project, w.environ()
			return cmd
		}, dir, w.server+" --remote unix://"+w.Socket)
		term.Wait("mock-model", 1)
		term.until("[work] slice", "[work] slice")
		term.Press(keyEnter)
		term.Wait("The slice is in place.", 1)
		text := fmt.Sprintf("CUT ME %d.", i)
		term.Type(text)
		<-fire
		term.Press(keyEnter)
		p.awaitAny(t, i+1, told("delivered"), told("void"))
		await(t, "answer", func() bool { return w.answered(from, text) > 0 })
		if n := w.answered(from, "ask for it again"); n != 0 {
			t.Errorf("the agent asked %d times for what stands in the terminal's file", n)
		}
	}
	t.Logf("%d shots: all answered, %d cut by the host", shots, strings.Count(p.output(), told("cut")))
}

// TestCodexRow14Thread: a thread that is not there is an error; a newborn one is there.
func TestCodexRow14_Thread(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.Ready()
	p := w.overtone("watch", "codex", "--thread", "01a1dcd2-c159-7253-aaf4-47a046f30755")
	<-p.done
	if p.cmd.ProcessState.Success() || !strings.Contains(p.output(), "there is no thread") {
		t.Errorf("%v: %s", p.cmd.ProcessState, p.output())
	}
	// A new thread without a turn is there, although it has no file yet.
	u := w.User()
	q := w.Watch("--thread", u.Thread)
	u.AwaitTurn(u.Say("[work] slice"))
	q.await(t, told("delivered"))
}

// TestCodexRow14TwoHomes: watchers that do not know of each other interrupt each
// other's compactions; the agent has a packet all the same, and one only.
func TestCodexRow14_TwoHomes(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	w.Ready()
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{w.State, w.State + "2"} {
		p := w.startEnv([]string{"OVERTONE_HOME=" + home}, bin+"/overtone", "watch", "codex", "--mode", "auto", "--debounce", "200ms", "--json")
		p.await(t, told("connected"))
	}
	for range 4 {
		u := w.User()
		from := len(w.Model.Requests())
		u.AwaitTurn(u.Say("[work] slice"))
		time.Sleep(4 * time.Second)
		u.AwaitTurn(u.Say("and then?"))
		rs := w.Model.Requests()
		if n := rs[len(rs)-1].Count(packetMark); n != 1 {
			t.Errorf("%d packets: %s", n, w.kinds(from))
		}
	}
}
