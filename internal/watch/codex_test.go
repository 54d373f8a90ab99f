package watch

import (
	"os"
	"path/filepath"
	"slices"
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

func testHome(t *testing.T) *store.Home {
	return store.New(t.TempDir(), t.TempDir(), time.Now)
}

// settle lets the watcher do all it will do within a minute.
func settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func savedDelivery(t *testing.T, home *store.Home) session.Delivery {
	t.Helper()
	s, err := home.Session(fakeThread)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := session.ReadWatched(s)
	if err != nil {
		t.Fatal(err)
	}
	return m.Delivery
}

// toTheLetter is the setting in which the packet itself opens a turn.
func toTheLetter(s *compact.Settings) { s.Resume = compact.ResumeAlways }

func TestCodexCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		w := newWatcher(t, home, toTheLetter)
		defer w.connect(t, f)()
		synctest.Wait()
		f.work(turnCompleted)
		settle()
		if got, want := f.posted(), "thread/compact/start thread/queue/add"; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
		r := savedDelivery(t, home).Receipt
		if r.State != compact.Delivered || r.Compaction != "turn-2" {
			t.Errorf("receipt = %s, compaction %s", r, r.Compaction)
		}
		add := f.find("thread/queue/add")[0]
		if add["clientUserMessageId"] != r.ID || !strings.HasPrefix(r.ID, host.PacketPrefix) {
			t.Errorf("client id %v, packet %s", add["clientUserMessageId"], r.ID)
		}
		text := add["input"].([]any)[0].(obj)["text"].(string)
		for _, want := range []string{"build it", "make the next slice", "1a2b3c4", "The slice is committed.", "Never push to the shared branch."} {
			if !strings.Contains(text, want) {
				t.Errorf("the packet lacks %q:\n%s", want, text)
			}
		}
		want := []string{
			message.EventCompactDecision, message.EventPacketCreated, message.EventCompactExecuted,
			message.EventPacketDelivered, message.EventCompactDecision,
		}
		if got := timeline(t, home); !slices.Equal(got, want) {
			t.Errorf("timeline = %v\nwant %v", got, want)
		}

		// A packet's turn that does nothing leads nowhere; a user's does.
		f.mu.Lock()
		f.packetTurn("ovt-someone-else-9")
		f.mu.Unlock()
		settle()
		f.work(turnCompleted)
		settle()
		if n := len(f.find("thread/compact/start")); n != 2 {
			t.Errorf("%d compactions, want 2", n)
		}
	})
}

func TestCodexHoldsBack(t *testing.T) {
	tests := []struct {
		name   string
		set    func(*compact.Settings)
		before func(*fakeServer, *watcher)
		status turnStatus
		extra  []obj
		news   string // must be among the reports
	}{
		{name: "suggest", set: func(s *compact.Settings) { s.Mode = compact.ModeSuggest }, news: "suggest"},
		{name: "tag", set: func(s *compact.Settings) { s.Mode = compact.ModeTag }, news: "decision"},
		{name: "off", set: func(s *compact.Settings) { s.Mode = compact.ModeOff }, news: "attached"},
		{name: "dry run", before: func(_ *fakeServer, w *watcher) { w.DryRun = true }, news: "decision"},
		{name: "queued message", before: func(f *fakeServer, _ *watcher) {
			f.queue = []obj{{"id": "u", "clientUserMessageId": "user"}}
		}, news: "held"},
		{name: "review", extra: []obj{{"type": itemReviewEnter}}, news: "held"},
		{name: "review is over", extra: []obj{{"type": itemReviewEnter}, {"type": itemReviewExit}}, news: "delivered"},
		{name: "failed turn", status: turnFailed, news: "attached"},
		{name: "interrupted turn", status: turnInterrupted, news: "attached"},
		{name: "other thread", before: func(_ *fakeServer, w *watcher) { w.Thread = "another" }},
		{name: "sub-agent", before: func(f *fakeServer, _ *watcher) { f.thread["parentThreadId"] = "p" }},
		{name: "ephemeral", before: func(f *fakeServer, _ *watcher) { f.thread["ephemeral"] = true }},
		{name: "no answer", before: func(f *fakeServer, _ *watcher) { f.silent = "thread/queue/list" }, news: "held"},
		{name: "another watcher", before: func(_ *fakeServer, w *watcher) {
			s, _ := w.Home.Session(fakeThread)
			release, ok, err := s.TryLease(store.WatchLease)
			if !ok || err != nil {
				t.Fatal("no lease", err)
			}
			t.Cleanup(release)
		}, news: "held"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				w := newWatcher(t, testHome(t), tt.set)
				if tt.before != nil {
					tt.before(f, w)
				}
				defer w.connect(t, f)()
				synctest.Wait()
				if tt.status == "" {
					tt.status = turnCompleted
				}
				f.work(tt.status, tt.extra...)
				settle()
				want := ""
				if tt.news == "delivered" {
					want = "thread/compact/start thread/inject_items"
				}
				if got := f.posted(); got != want {
					t.Errorf("posted %q, want %q", got, want)
				}
				if news := strings.Fields(w.news()); tt.news != "" && !slices.Contains(news, tt.news) {
					t.Errorf("reports %v lack %s", news, tt.news)
				}
				if w.DryRun {
					if _, err := os.Stat(w.Home.Root() + "/sessions"); err == nil {
						t.Error("a dry run wrote something")
					}
				}
			})
		})
	}
}

func TestCodexCompactionComesToNothing(t *testing.T) {
	for _, status := range []turnStatus{turnFailed, turnInterrupted} {
		t.Run(string(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home, f := testHome(t), newFake(t)
				f.compaction = status
				w := newWatcher(t, home, nil)
				defer w.connect(t, f)()
				synctest.Wait()
				f.work(turnCompleted)
				settle()
				if got := f.posted(); got != "thread/compact/start" {
					t.Errorf("posted %q", got)
				}
				if r := savedDelivery(t, home).Receipt; r.State != compact.Dropped || r.Reason != string(endReason(status)) {
					t.Errorf("receipt = %s", r)
				}
			})
		})
	}
}

func TestCodexAgentPacket(t *testing.T) {
	tests := []struct {
		name   string
		sample func(string) (string, *rpcError)
		silent string
		want   string // in the packet
		posted string
	}{
		{name: "written", sample: func(string) (string, *rpcError) { return "MY OWN WORDS", nil }, want: "MY OWN WORDS", posted: "thread/sample thread/compact/start thread/queue/add"},
		{name: "refused", sample: func(string) (string, *rpcError) { return "", &rpcError{-32600, "stale"} }, want: "1a2b3c4", posted: "thread/sample thread/compact/start thread/queue/add"},
		{name: "empty", sample: func(string) (string, *rpcError) { return " ", nil }, want: "1a2b3c4", posted: "thread/sample thread/compact/start thread/queue/add"},
		{name: "too slow", silent: "thread/sample", want: "1a2b3c4", posted: "thread/sample thread/sample/cancel thread/compact/start thread/queue/add"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.sample, f.silent = tt.sample, tt.silent
				const body = "# Prompt\n\n  as it is \n"
				w := newWatcher(t, testHome(t), func(s *compact.Settings) { s.PacketAuthor, s.Prompt, s.Resume = "agent", body, compact.ResumeAlways })
				defer w.connect(t, f)()
				synctest.Wait()
				f.work(turnCompleted)
				settle()
				settle()
				if got := f.posted(); got != tt.posted {
					t.Errorf("posted %q, want %q", got, tt.posted)
				}
				sample := f.find("thread/sample")[0]
				if sample["prompt"] != body || sample["expectedTurnId"] != "turn-1" {
					t.Errorf("sample = %v", sample)
				}
				text := f.find("thread/queue/add")[0]["input"].([]any)[0].(obj)["text"].(string)
				if !strings.Contains(text, tt.want) || !strings.HasPrefix(text, "<overtone-packet") {
					t.Errorf("packet:\n%s", text)
				}
			})
		})
	}
}

// A thread's first turn is over before we may listen to it.
func TestCodexNewbornThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.resumable, f.unloaded = false, true
		f.rollout(t, 70_000)
		w := newWatcher(t, testHome(t), nil)
		defer w.connect(t, f)()
		synctest.Wait()
		f.mu.Lock()
		f.note("thread/started", obj{"thread": f.thread})
		f.mu.Unlock()
		f.work(turnCompleted)
		synctest.Wait()
		f.mu.Lock()
		f.resumable = true
		f.mu.Unlock()
		settle()
		if got, want := f.posted(), "thread/compact/start thread/inject_items"; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
	})
}

// What ended before we came is history; what ends while the line is down counts.
func TestCodexLateAndLostLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.work(turnCompleted)
		w := newWatcher(t, testHome(t), nil)
		stop := w.connect(t, f)
		settle()
		if got := f.posted(); got != "" {
			t.Errorf("acted on history: %q", got)
		}
		stop()

		g := newFake(t)
		g.turns = f.turns
		g.rollout(t, 70_000)
		g.work(turnCompleted)
		for len(g.out) > 0 {
			<-g.out
		}
		defer w.connect(t, g)()
		settle()
		if got, want := g.posted(), "thread/compact/start thread/inject_items"; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
	})
}

// A watcher that cannot write its receipt down does nothing.
func TestCodexCannotSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		w := newWatcher(t, home, nil)
		inner := w.Report
		w.Report = func(r Report) {
			inner(r)
			if r.What == "decision" {
				// watch.json turns into a folder.
				path := filepath.Join(home.Root(), "sessions", fakeThread, store.WatchFile)
				_ = os.Remove(path)
				_ = os.MkdirAll(filepath.Join(path, "x"), 0o700)
			}
		}
		defer w.connect(t, f)()
		synctest.Wait()
		f.work(turnCompleted)
		settle()
		if got := f.posted(); got != "" {
			t.Errorf("posted %q", got)
		}
		if !strings.Contains(w.news(), "warning") {
			t.Errorf("reports: %s", w.news())
		}
	})
}

// A watcher dies at each point of its way; the next one finishes.
func TestCodexSuccessor(t *testing.T) {
	for _, row := range []struct {
		lost, want string
		set        func(*compact.Settings)
	}{
		{"thread/compact/start", "thread/queue/add", toTheLetter},
		{"thread/queue/add", "thread/queue/add", toTheLetter},
		{"thread/compact/start", "thread/inject_items", nil},
		{"thread/inject_items", "thread/inject_items", nil},
	} {
		lost := row.lost
		t.Run(lost+" "+row.want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home, f := testHome(t), newFake(t)
				first := newWatcher(t, home, row.set)
				stop := first.connect(t, f)
				synctest.Wait()
				f.silent = lost
				f.work(turnCompleted)
				time.Sleep(3 * time.Second)
				stop()

				g := newFake(t)
				g.turns = f.turns
				if lost == "thread/compact/start" {
					g.compactNow() // it had arrived after all
					for len(g.out) > 0 {
						<-g.out
					}
				}
				second := newWatcher(t, home, row.set)
				defer second.connect(t, g)()
				settle()
				if got := g.posted(); got != row.want {
					t.Errorf("posted %q, want %q", got, row.want)
				}
				if r := savedDelivery(t, home).Receipt; r.State != compact.Delivered {
					t.Errorf("receipt = %s", r)
				}
				if !strings.Contains(second.news(), "adopted") {
					t.Errorf("reports: %s", second.news())
				}
			})
		})
	}
}

// With prompts of its own the watcher ends when the last one is dealt with.
func TestCodexHeadless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		w := newWatcher(t, testHome(t), toTheLetter)
		w.Prompts, w.Dir = []string{"one", "two"}, "/nowhere"
		c := newClient(t.Context(), f)
		defer c.Close()
		if err := w.serve(t.Context(), c); err != errDone {
			t.Errorf("serve = %v", err)
		}
		w.giveUp()
		// The second prompt waits while the first one's context is compacted.
		if got, want := f.posted(), "turn/start thread/compact/start thread/inject_items turn/start thread/compact/start thread/queue/add"; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
		if start := f.find("thread/start")[0]; start["approvalPolicy"] != "never" || start["cwd"] != "/nowhere" {
			t.Errorf("thread/start = %v", start)
		}
		if n := strings.Count(w.news(), "output"); n != 3 {
			t.Errorf("%d outputs, want 3: %s", n, w.news())
		}
	})
}

func TestCodexForeignCompaction(t *testing.T) {
	for _, mode := range []compact.Mode{compact.ModeAuto, compact.ModeOff} {
		t.Run(mode, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { foreignCompaction(t, mode) }) })
	}
}

func foreignCompaction(t *testing.T, mode compact.Mode) {
	home, f := testHome(t), newFake(t)
	w := newWatcher(t, home, func(s *compact.Settings) { s.Mode = mode })
	defer w.connect(t, f)()
	synctest.Wait()
	f.mu.Lock()
	f.compactNow()
	f.mu.Unlock()
	settle()
	// Nobody else has a packet: ours stands before the user's next message,
	// and opens no turn.
	if got := f.posted(); got != "thread/inject_items" || !strings.Contains(w.news(), "foreign") {
		t.Errorf("posted %q, reports %s", got, w.news())
	}
	s, _ := home.Session(fakeThread)
	_, m, err := session.ReadWatched(s)
	if err != nil || len(m.History) != 1 || !m.History[0].Foreign || m.History[0].After != 6000 {
		t.Errorf("history = %+v, %v", m.History, err)
	}
}
