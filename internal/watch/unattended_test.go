package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Each test is a row of what an adversarial run against the real host found.

// watchFake runs a test against a fake server.
func watchFake(t *testing.T, set func(*compact.Settings), test func(t *testing.T, f *fakeServer, w *watcher)) {
	watchFakeBy(t, set, nil, test)
}

// alone is a watcher of a run that nobody sits before.
func alone(w *watcher) { w.Unattended = true }

// watchFakeBy runs a test against a fake server, with a watcher that is not like others.
func watchFakeBy(t *testing.T, set func(*compact.Settings), change func(*watcher), test func(t *testing.T, f *fakeServer, w *watcher)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		w := newWatcher(t, testHome(t), set)
		if change != nil {
			change(w)
		}
		defer w.connect(t, f)()
		synctest.Wait()
		test(t, f, w)
	})
}

// watchFakeWith runs a test against a fake server and a home in which something
// has happened before.
func watchFakeWith(t *testing.T, before func(*fakeServer, *store.Home), test func(t *testing.T, f *fakeServer, w *watcher)) {
	synctest.Test(t, func(t *testing.T) {
		f, home := newFake(t), testHome(t)
		before(f, home)
		w := newWatcher(t, home, nil)
		defer w.connect(t, f)()
		synctest.Wait()
		test(t, f, w)
	})
}

func (f *fakeServer) locked(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// turn is a turn without a commit, whose user says and is answered something.
func (f *fakeServer) turnOf(client, text, answer string, tokens int, items ...obj) *fakeTurn {
	t := f.begin()
	if text != "" {
		f.item(t, obj{"type": host.CodexUserMessage, "clientId": client, "content": []any{obj{"type": "text", "text": text}}})
	}
	for _, it := range items {
		f.item(t, it)
	}
	f.item(t, obj{"type": "agentMessage", "text": answer})
	f.tokens(t, tokens)
	f.end(t, turnCompleted)
	return t
}

// planned is a turn of the user's that commits, with a plan; "*" marks the step
// that is under way, those before it are completed.
func (f *fakeServer) planned(asked, answer string, steps ...string) {
	x := f.begin()
	f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": asked}}})
	var plan []any
	status := "completed"
	for _, st := range steps {
		if text, ok := strings.CutPrefix(st, "*"); ok {
			plan, status = append(plan, obj{"step": text, "status": "inProgress"}), "pending"
			continue
		}
		plan = append(plan, obj{"step": st, "status": status})
	}
	f.note("turn/plan/updated", obj{"turnId": x.id, "plan": plan})
	f.item(x, commitItem())
	f.item(x, obj{"type": "agentMessage", "text": answer})
	f.tokens(x, 70_000)
	f.end(x, turnCompleted)
}

func commitItem() obj {
	return obj{
		"type": "commandExecution", "command": `/bin/bash -lc "git commit -m 'the slice'"`, "cwd": "/nowhere",
		"status": "completed", "exitCode": 0, "aggregatedOutput": "[main 1a2b3c4] the slice\n 1 file changed\n",
	}
}

func packetText(o obj) string { return o["input"].([]any)[0].(obj)["text"].(string) }

func injected(o obj) string {
	return o["items"].([]any)[0].(obj)["content"].([]any)[0].(obj)["text"].(string)
}

func TestCodexRow2_NoTurnForAnOpenQuestion(t *testing.T) {
	for _, row := range []struct{ name, said string }{
		{"open question", "The slice is committed. Shall I run it against production now?"},
		{"all done", "All tasks are done."},
		{"question in bold", "Committed.\n\n**Do you want me to push it?**"},
		{"質問", "已提交。要現在部署嗎？"},
	} {
		t.Run(row.name, func(t *testing.T) {
			watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
				f.locked(func() { f.turnOf("", "make it", row.said, 70_000, commitItem()) })
				settle()
				if got, want := f.posted(), "thread/compact/start thread/inject_items"; got != want {
					t.Fatalf("posted %q, want %q", got, want)
				}
				if text := injected(f.find("thread/inject_items")[0]); !strings.Contains(text, "1a2b3c4") {
					t.Errorf("packet: %s", text)
				}
				r := savedDelivery(t, w.Home)
				if r.Receipt.State != compact.Delivered || r.Receipt.Via != compact.ViaHistory {
					t.Errorf("receipt = %s", r.Receipt)
				}
			})
		})
	}
}

// Where nobody sits before the agent it goes on. The packet stands in the thread first;
// the note that opens the turn is the only one to say so.
func TestCodexRow2_OpenWorkGoesOn(t *testing.T) {
	watchFakeBy(t, nil, alone, func(t *testing.T, f *fakeServer, w *watcher) {
		f.locked(func() { f.planned("port it", "The parser is done.", "parser", "*printer") })
		settle()
		if got, want := f.posted(), "thread/compact/start thread/inject_items thread/queue/add"; got != want {
			t.Fatalf("posted %q, want %q", got, want)
		}
		packet, note := injected(f.find("thread/inject_items")[0]), f.find("thread/queue/add")[0]
		if !strings.Contains(packet, message.HandoverNextWord.EN) || strings.Contains(packet, message.HandoverGo.EN) {
			t.Errorf("packet: %s", packet)
		}
		if text := packetText(note); !strings.Contains(text, "“port it”") || !strings.Contains(text, message.HandoverGo.EN) || note["clientUserMessageId"] != savedDelivery(t, w.Home).Receipt.ID+"-go" {
			t.Errorf("note %v", note)
		}
		if news := w.news(); !strings.Contains(news, "delivered") || !strings.Contains(news, "opened") {
			t.Errorf("reports: %s", news)
		}
		s, _ := w.Home.Session(fakeThread)
		if _, ok, _ := s.TryLease(store.WatchLease); !ok {
			t.Error("the lease was kept")
		}
	})
}

func TestCodexRow3_DeadWatcherReleasesTheHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		w := newWatcher(t, home, nil)
		stop := w.connect(t, f)
		synctest.Wait()
		f.silent = "thread/inject_items"
		f.work(turnCompleted)
		time.Sleep(3 * time.Second)
		stop()
		s, _ := home.Session(fakeThread)
		if r := savedDelivery(t, home); !r.Open() {
			t.Fatalf("record = %+v", r)
		}
		if !session.WatcherOwns(s, time.Now()) {
			t.Error("a successor may still come")
		}
		if session.WatcherOwns(s, time.Now().Add(11*time.Minute)) {
			t.Error("nobody came, and the hooks are still mute")
		}
	})
}

// chain makes the fake's goal start a turn whenever one has ended, as Codex does.
func (f *fakeServer) chain(turns int, tokens func(n int) int) *int {
	n := 0
	f.goal = obj{"objective": "Port the whole parser", "status": goalActive, "updatedAt": 1}
	f.onTurnEnd = func() {
		if n == turns || f.goal["status"] != goalActive {
			return
		}
		n++
		id := n
		go func() {
			f.locked(func() {
				if f.goal["status"] != goalActive || f.thread["status"].(obj)["type"] != "idle" {
					n--
					return
				}
				x := f.begin()
				f.item(x, commitItem())
				f.mu.Unlock()
				time.Sleep(200 * time.Millisecond) // a turn takes its time
				f.mu.Lock()
				f.item(x, obj{"type": "agentMessage", "text": fmt.Sprintf("Part %d is committed.", id)})
				f.tokens(x, tokens(id))
				f.end(x, turnCompleted)
				f.onTurnEnd()
			})
		}()
	}
	return &n
}

func TestCodexRow4_GoalTurnsAreCompacted(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		done := 0
		f.locked(func() {
			turns := f.chain(6, func(n int) int {
				if n < 3 {
					return 10_000
				}
				return 70_000
			})
			f.turnOf("", "hello", "Hello.", 5000)
			f.note("thread/goal/updated", obj{"goal": f.goal})
			f.onTurnEnd()
			done = *turns
		})
		settle()
		_ = done
		got := f.posted()
		if want := "goal:paused thread/compact/start thread/inject_items goal:active"; !strings.HasPrefix(got, want) {
			t.Fatalf("posted %q, want first %q", got, want)
		}
		if text := injected(f.find("thread/inject_items")[0]); !strings.Contains(text, "Port the whole parser") {
			t.Errorf("the objective is not in the packet:\n%s", text)
		}
		if f.goal["status"] != goalActive {
			t.Errorf("goal = %v", f.goal)
		}
		s, _ := w.Home.Session(fakeThread)
		if m, _, err := session.ReadWatched(s); err != nil || m.Goal != nil {
			t.Errorf("watched = %+v, %v", m, err)
		}
		if _, ok, _ := s.TryLease(store.WatchLease); !ok {
			t.Error("the lease was kept")
		}
	})
}

// What its user decides about a goal holds, and a goal that rests because of a
// watcher that died is set going by the next one.
func TestCodexRow4_GoalOfOthers(t *testing.T) {
	paused := obj{"objective": "x", "status": goalPaused, "updatedAt": 7}
	for _, row := range []struct {
		name string
		own  session.PausedGoal
		goal obj
		want string
	}{
		{"left by a predecessor", session.PausedGoal{Updated: 7, Heard: 1}, paused, "goal:active"},
		{"left before the answer came", session.PausedGoal{Heard: 1}, paused, "goal:active"},
		{"its user has said something since", session.PausedGoal{Updated: 7}, paused, ""},
		{"paused by its user since", session.PausedGoal{Updated: 5, Heard: 1}, paused, ""},
		{"reached", session.PausedGoal{Updated: 7, Heard: 1}, obj{"objective": "x", "status": "complete", "updatedAt": 8}, ""},
		{"cleared", session.PausedGoal{Updated: 7, Heard: 1}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home, f := testHome(t), newFake(t)
				f.goal = row.goal
				s, _ := home.Session(fakeThread)
				if _, _, err := session.UpdateWatched(s, false, func(m *session.Watched, _ *compact.Thread) []store.Event {
					m.Goal = &row.own
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				w := newWatcher(t, home, nil)
				defer w.connect(t, f)()
				settle()
				if got := f.posted(); got != row.want {
					t.Errorf("posted %q, want %q", got, row.want)
				}
				if m, _, _ := session.ReadWatched(s); m.Goal != nil {
					t.Errorf("still remembered: %+v", m.Goal)
				}
			})
		})
	}
}

// A watcher that is told to stop leaves no goal behind.
func TestCodexRow4_GoalGoesOnAfterTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		f.goal = obj{"objective": "x", "status": goalActive, "updatedAt": 1}
		w := newWatcher(t, home, nil)
		stop := w.connect(t, f)
		synctest.Wait()
		f.locked(func() {
			x := f.begin()
			f.item(x, commitItem())
			f.tokens(x, 70_000)
		})
		time.Sleep(time.Second)
		if got := f.posted(); got != "goal:paused" {
			t.Fatalf("posted %q", got)
		}
		stop()
		if got := f.posted(); got != "goal:paused goal:active" {
			t.Errorf("posted %q", got)
		}
	})
}

// A watch that ends while it compacts leaves the goal to the next one, which brings the
// packet first; one that its user has stopped is left to him.
func TestGoalAtTheEndOfTheWatch(t *testing.T) {
	for name, end := range map[string]func(*fakeServer, *fakeTurn){
		"while it compacts": func(f *fakeServer, x *fakeTurn) {
			f.silent = "thread/compact/start"
			f.end(x, turnCompleted)
		},
		"stopped by its user": func(f *fakeServer, x *fakeTurn) {
			f.silent = "thread/goal/get"
			f.end(x, turnInterrupted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home, f := testHome(t), newFake(t)
				f.goal = obj{"objective": "x", "status": goalActive, "updatedAt": 1}
				w := newWatcher(t, home, nil)
				stop := w.connect(t, f)
				synctest.Wait()
				var x *fakeTurn
				f.locked(func() {
					x = f.begin()
					f.item(x, commitItem())
					f.item(x, obj{"type": "agentMessage", "text": "A part is in place."})
					f.tokens(x, 70_000)
				})
				time.Sleep(time.Second)
				f.locked(func() { end(f, x) })
				time.Sleep(5 * time.Second)
				f.locked(func() { f.silent = "" })
				stop()
				if got := f.posted(); !strings.HasPrefix(got, "goal:paused") || strings.Contains(got, "goal:active") {
					t.Errorf("posted %q: %s", got, w.news())
				}
			})
		})
	}
}

func TestCodexRow5_PacketTurnCounts(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		f.work(turnCompleted)
		settle()
		f.locked(func() { f.turnOf("ovt-someone-9", "packet", "And another slice.", 88_000, commitItem()) })
		settle()
		if n := len(f.find("thread/compact/start")); n != 2 {
			t.Errorf("%d compactions, want 2: %s", n, f.posted())
		}
	})
}

// What was sent in the instant of the compaction is sent again, once: as the host has it,
// as its terminal or a hook have it, else the agent asks for it.
func TestCodexRow6_CutMessageComesBack(t *testing.T) {
	const text, all = "and the printer", "thread/compact/start thread/inject_items thread/queue/add"
	keep := func(t *testing.T, f *fakeServer, id string, at time.Time) {
		line, _ := json.Marshal(obj{"session_id": id, "ts": at.Unix(), "text": text})
		file, err := os.OpenFile(host.CodexHistory(f.thread["path"].(string)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(file, "%s\n", line)
			_ = file.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, row := range []struct {
		name, want, back string
		end              turnStatus
		cut              func(t *testing.T, f *fakeServer, w *watcher, x *fakeTurn)
	}{
		{"recorded by the host", all, text, "", func(_ *testing.T, f *fakeServer, _ *watcher, x *fakeTurn) {
			f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": text}}})
		}},
		{"the compaction fails", "thread/compact/start thread/queue/add", text, turnFailed, func(_ *testing.T, f *fakeServer, _ *watcher, x *fakeTurn) {
			f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": text}}})
		}},
		{"typed in the terminal", all, text, "", func(t *testing.T, f *fakeServer, _ *watcher, _ *fakeTurn) {
			keep(t, f, fakeThread, time.Now())
			keep(t, f, "another", time.Now())
		}},
		{"typed long ago", all, "", "", func(t *testing.T, f *fakeServer, _ *watcher, _ *fakeTurn) {
			keep(t, f, fakeThread, time.Now().Add(-2*time.Second))
		}},
		{"heard by a hook", all, text, "", func(t *testing.T, _ *fakeServer, w *watcher, _ *fakeTurn) {
			s, err := w.Home.Session(fakeThread)
			if err == nil {
				_, err = session.UpdateThread(s, func(th *compact.Thread) { th.Words = th.Words.Hear(text, compact.Typed, time.Now()) })
			}
			if err != nil {
				t.Error(err)
			}
		}},
		{"dropped by the host", all, "", "", func(*testing.T, *fakeServer, *watcher, *fakeTurn) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			here := filepath.Join(t.TempDir(), "sessions", "2026", "11", "15", "rollout.jsonl")
			watchFakeWith(t, func(f *fakeServer, _ *store.Home) { f.thread["path"] = here }, func(t *testing.T, f *fakeServer, w *watcher) {
				f.locked(func() {
					f.compaction = row.end
					f.onCompact = func() {
						f.onCompact = nil
						x := f.begin()
						row.cut(t, f, w, x)
						f.end(x, turnInterrupted)
					}
				})
				f.work(turnCompleted)
				settle()
				if got := f.posted(); got != row.want {
					t.Fatalf("posted %q, want %q", got, row.want)
				}
				if !strings.Contains(w.news(), "cut") {
					t.Errorf("not said: %s", w.news())
				}
				last := f.find("thread/queue/add")[0]
				got, ours := packetText(last), strings.HasPrefix(last["clientUserMessageId"].(string), host.PacketPrefix)
				if row.back != "" && (got != row.back || ours) || row.back == "" && (!strings.Contains(got, "ask for it again") || !ours) {
					t.Errorf("put back: %v", last)
				}
				if n := strings.Count(strings.Join(timeline(t, w.Home), " "), message.EventMessageCut); n != 1 {
					t.Errorf("%d entries on the timeline", n)
				}
			})
		})
	}
}

// A message that waits is read before anything of ours acts: the packet stands
// before it and opens no turn, whatever the setting.
func TestCodexRow8_QueuedMessages(t *testing.T) {
	for name, set := range map[string]func(*compact.Settings){"evidence": nil, "always": toTheLetter} {
		t.Run(name, func(t *testing.T) {
			watchFake(t, set, func(t *testing.T, f *fakeServer, w *watcher) {
				f.locked(func() {
					f.meanwhile = func() {
						f.queue = append(f.queue, obj{"id": "u1", "clientUserMessageId": "user"})
						f.note("thread/queue/changed", obj{})
					}
					f.afterCompact = func() { f.queue = nil; f.turnOf("user", "STOP", "Stopped.", 9000) }
					f.planned("port it", "The parser is done.", "parser", "*printer")
				})
				settle()
				if got, want := f.posted(), "thread/compact/start thread/inject_items"; got != want {
					t.Fatalf("posted %q, want %q", got, want)
				}
				if text := injected(f.find("thread/inject_items")[0]); !strings.Contains(text, message.HandoverNextWord.EN) || strings.Contains(text, message.HandoverGo.EN) {
					t.Errorf("packet: %s", text)
				}
				if r := savedDelivery(t, w.Home).Receipt; r.State != compact.Delivered || r.Via != compact.ViaHistory {
					t.Errorf("receipt = %s", r)
				}
			})
		})
	}
	t.Run("a stale packet goes", func(t *testing.T) {
		watchFake(t, toTheLetter, func(t *testing.T, f *fakeServer, w *watcher) {
			f.hold = true
			f.work(turnCompleted)
			time.Sleep(3 * time.Second)
			f.locked(func() { f.turnOf("user", "something else", "ok", 9000) })
			settle()
			if got, want := f.posted(), "thread/compact/start thread/queue/add thread/queue/delete"; got != want {
				t.Errorf("posted %q, want %q", got, want)
			}
			if r := savedDelivery(t, w.Home).Receipt; r.State != compact.Dropped || r.Reason != string(reasonSuperseded) {
				t.Errorf("receipt = %s", r)
			}
		})
	})
}

func TestCodexRow12_RunningSubAgentIsInThePacket(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		f.locked(func() {
			f.push(obj{"method": "thread/started", "params": obj{"thread": obj{"id": "agent-7", "parentThreadId": fakeThread, "status": obj{"type": "active"}}}})
			f.push(obj{"method": "thread/started", "params": obj{"thread": obj{"id": "agent-8", "parentThreadId": fakeThread, "status": obj{"type": "idle"}}}})
		})
		f.work(turnCompleted)
		settle()
		text := injected(f.find("thread/inject_items")[0])
		if !strings.Contains(text, "agent-7") || strings.Contains(text, "agent-8") {
			t.Errorf("packet: %s", text)
		}
	})
}

func TestCodexRow14_FailingCompactionRests(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		f.compaction = turnFailed
		f.rollout(t, 70_000)
		for range 4 {
			f.work(turnCompleted)
			time.Sleep(30 * time.Second)
		}
		if n := len(f.find("thread/compact/start")); n != 1 {
			t.Errorf("%d attempts within two minutes", n)
		}
		time.Sleep(5 * time.Minute)
		f.work(turnCompleted)
		time.Sleep(30 * time.Second)
		if n := len(f.find("thread/compact/start")); n != 2 {
			t.Errorf("%d attempts after a rest", n)
		}
	})
}

func TestCodexRow14_QuietThreadIsLetGo(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		f.locked(func() { f.turnOf("", "hello", "Hello.", 5000) })
		time.Sleep(linger + time.Second)
		if got := f.posted(); got != "thread/unsubscribe" {
			t.Fatalf("posted %q", got)
		}
		// An unload is no reason to load it again; a new turn is one to listen.
		before := len(f.find("thread/resume"))
		f.locked(func() { f.note("thread/status/changed", obj{"status": obj{"type": "notLoaded"}}) })
		synctest.Wait()
		if n := len(f.find("thread/resume")); n != before {
			t.Error("loaded again")
		}
		f.rollout(t, 70_000)
		f.work(turnCompleted)
		settle()
		if got, want := f.posted(), "thread/unsubscribe thread/compact/start thread/inject_items"; got != want {
			t.Errorf("posted %q, want %q: %s", got, want, w.news())
		}
	})
}

func TestCodexRow14_UnknownThreadIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.resumable, f.unknown = false, true
		w := newWatcher(t, testHome(t), nil)
		w.Thread = "01a1dcd2-0000-7253-aaf4-47a046f30755"
		c := newClient(t.Context(), f)
		defer c.Close()
		if err := w.serve(t.Context(), c); err != errDone || w.err == nil || !strings.Contains(w.err.Error(), w.Thread) {
			t.Errorf("serve = %v, %v", err, w.err)
		}
		w.giveUp()
	})
}

// A daemon that dies between a compaction and the end of its turn shows that turn
// as interrupted; the compaction holds all the same.
func TestCodexRow14_CompactedInATurnThatWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		w := newWatcher(t, home, nil)
		stop := w.connect(t, f)
		synctest.Wait()
		f.silent = "thread/compact/start"
		f.work(turnCompleted)
		time.Sleep(3 * time.Second)
		stop()

		g := newFake(t)
		g.turns = f.turns
		g.compactNow()
		g.turns[len(g.turns)-1].status = turnInterrupted
		for len(g.out) > 0 {
			<-g.out
		}
		second := newWatcher(t, home, nil)
		defer second.connect(t, g)()
		settle()
		if got := g.posted(); got != "thread/inject_items" {
			t.Errorf("posted %q", got)
		}
		if r := savedDelivery(t, home).Receipt; r.State != compact.Delivered {
			t.Errorf("receipt = %s", r)
		}
	})
}

// A foreign compaction that a hook has seen coming is the hooks' business, and one
// that has a packet of another watcher's is that one's.
func TestForeignCompactionOfOthers(t *testing.T) {
	for _, row := range []struct {
		name  string
		other func(f *fakeServer, home *store.Home, id string)
	}{
		{"hooks", func(f *fakeServer, home *store.Home, id string) {
			storyHooks(f.t, home, host.Codex, id, [2]string{"pre-compact", `"trigger":"manual"`})
		}},
		{"another watcher", func(f *fakeServer, _ *store.Home, _ string) { f.afterCompact = func() { f.packetTurn("ovt-other-1") } }},
	} {
		t.Run(row.name, func(t *testing.T) {
			watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
				f.locked(func() { f.turnOf("", "hello", "Hello.", 5000) })
				settle()
				row.other(f, w.Home, fakeThread)
				f.locked(f.compactNow)
				settle()
				if got := f.posted(); got != "" {
					t.Errorf("posted %q", got)
				}
			})
		})
	}
}
