package watch

import (
	"fmt"
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

const (
	waits  = "thread/compact/start thread/inject_items"
	goesOn = "thread/compact/start thread/inject_items thread/queue/add"
)

// packetWaits checks the packet of a thread in which the next word is the user's.
func packetWaits(t *testing.T, f *fakeServer, w *watcher) {
	t.Helper()
	text := injected(f.find("thread/inject_items")[0])
	if strings.Contains(text, message.HandoverGo.EN) || strings.Contains(text, "Carry on") || !strings.Contains(text, "The next word is the user's.") {
		t.Errorf("the packet does not wait:\n%s", text)
	}
	if r := savedDelivery(t, w.Home).Receipt; r.State != compact.Delivered || r.Via != compact.ViaHistory {
		t.Errorf("receipt = %s", r)
	}
}

// With a step of the plan open in each of them: whatever the agent says at the end of its
// turn, the next word is its user's.
func TestClosers(t *testing.T) {
	for name, texts := range map[string][]string{
		"asking": {
			"The slice is committed. Shall I run it against production now?", "Committed.\n\n**Do you want me to push it?**", "已提交。要現在部署嗎？", "¿Lo despliego ahora?", "Soll ich weitermachen?", "デプロイしますか", "Which store?\n\n1. SQLite\n2. Postgres",
		},
		"waiting": {
			"I will wait for your go-ahead before deploying.", "Decision needed: SQLite or Postgres.", "Awaiting your review.", "The migration is prepared; let me know.", "Ready for review.", "Blocked: the credentials are missing.", "Standing by.",
			"等待確認後再部署。", "Espero tu confirmación antes de continuar.", "承認をお待ちしています。", "Жду вашего решения.", "J'attends la validation.", "Ich warte auf die Freigabe.", "Aguardo a aprovação.", "승인을 기다리고 있습니다.",
			"The plan is below.\n\n<proposed_plan>\n- drop the table\n</proposed_plan>",
		},
		"stopped":  {"I have stopped. Nothing was deployed.", "已停止，沒有動任何檔案。", "Paused here."},
		"finished": {"All tasks are done.", "Everything is finished and committed.", "全部完成。"},
		"working": {
			"The slice is in place.", "The parser is done; the printer comes next.", "Step 1 of 2 is committed, moving on.", "解析器完成，接下來處理印表機。", "次はプリンタを移植します。", "Парсер готов, дальше принтер.", "El analizador está listo; sigo con la impresora.",
		},
	} {
		for _, said := range texts {
			t.Run(name+"/"+said, func(t *testing.T) {
				watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
					f.locked(func() { f.planned("Port the parser and the printer.", said, "parser", "*printer") })
					settle()
					if got := f.posted(); got != waits {
						t.Fatalf("posted %q, want %q", got, waits)
					}
					packetWaits(t, f, w)
				})
			})
		}
	}
}

// What the user said last, with a step of the plan open, opens no turn either, whatever it
// is: he sits before it.
func TestLastWords(t *testing.T) {
	for _, row := range []struct {
		name  string
		turns func(f *fakeServer)
	}{
		{"stop", func(f *fakeServer) {
			f.turnOf("", "stop, do nothing more", "Understood.", 70_000, commitItem())
		}},
		{"a plain question", func(f *fakeServer) {
			f.turnOf("", "How many tests are there?", "There are 40 of them.", 93_000)
		}},
		{"a question that needed a look", func(f *fakeServer) {
			f.turnOf("", "How many tests are there?", "There are 40 of them.", 93_000, commitItem())
		}},
		{"thanks", func(f *fakeServer) { f.turnOf("", "thanks", "Fine.", 93_000) }},
		{"no", func(f *fakeServer) { f.turnOf("", "no", "Fine, it stays.", 93_000, commitItem()) }},
		{"stopped, then thanked", func(f *fakeServer) {
			f.turnOf("", "stop here", "Understood.", 50_000)
			f.turnOf("", "thanks", "Fine.", 93_000, commitItem())
		}},
		{"Esc, then a question", func(f *fakeServer) {
			x := f.begin()
			f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": "continue"}}})
			f.end(x, turnInterrupted)
			f.turnOf("", "What would the next step delete?", "The old table.", 93_000, commitItem())
		}},
		{"Esc, then thanks", func(f *fakeServer) {
			f.end(f.begin(), turnInterrupted)
			f.turnOf("", "thanks", "Fine.", 93_000, commitItem())
		}},
		{"a goal that its user has paused", func(f *fakeServer) {
			f.note("thread/goal/updated", obj{"goal": obj{"objective": "x", "status": goalPaused, "updatedAt": 3}})
			f.turnOf("", "continue", "The lexer is ported.", 70_000, commitItem())
		}},
		{"Esc, then go on", func(f *fakeServer) {
			x := f.begin()
			f.end(x, turnInterrupted)
			f.turnOf("", "continue", "The lexer is ported.", 70_000, commitItem())
		}},
		{"another request, without a plan", func(f *fakeServer) {
			f.turnOf("", "Please bump the version.", "The version is bumped.", 70_000, commitItem())
		}},
		{"go on", func(f *fakeServer) { f.turnOf("", "continue", "The lexer is ported.", 70_000, commitItem()) }},
		{"a plan to approve", func(f *fakeServer) {
			f.turnOf("", "continue", "Here it is.", 93_000, commitItem(), planItem())
		}},
		{"a question in the host's form", func(f *fakeServer) {
			f.turnOf("", "continue", "The lexer is ported.", 93_000, commitItem(), questionItem())
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
				f.locked(func() {
					x := f.begin()
					f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": "Port the parser and the printer."}}})
					f.note("turn/plan/updated", obj{"turnId": x.id, "plan": []any{obj{"step": "parser", "status": "completed"}, obj{"step": "printer", "status": "inProgress"}}})
					f.item(x, obj{"type": "agentMessage", "text": "The parser is ported."})
					f.tokens(x, 9_000)
					f.end(x, turnCompleted)
					row.turns(f)
				})
				settle()
				if got := f.posted(); got != waits {
					t.Fatalf("posted %q, want %q", got, waits)
				}
				packetWaits(t, f, w)
			})
		})
	}
}

func planItem() obj { return obj{"type": "plan", "text": "- drop the table"} }

func questionItem() obj {
	return obj{"type": "agentMessage", "text": "Choose.", "questions": []any{obj{"id": "q"}}}
}

// A turn is opened for a stage that does not rest, where nobody sits before the agent, and
// with the setting always; never while a tool asks something.
func TestWhatOpensATurn(t *testing.T) {
	const (
		opens   = "thread/compact/start thread/queue/add"
		request = "Port the parser."
	)
	prompt := func(text string) [2]string { return [2]string{"user-prompt-submit", fmt.Sprintf(`"prompt":%q`, text)} }
	begins := prompt("[workflow:quick] port the parser")
	always := func(s *compact.Settings) { s.Resume = compact.ResumeAlways }
	never := func(s *compact.Settings) { s.Resume = compact.ResumeNever }
	said := func(items ...obj) func(f *fakeServer) {
		return func(f *fakeServer) {
			f.turnOf("", request, "A part is in place.", 93_000, append([]obj{commitItem()}, items...)...)
		}
	}
	done := func(f *fakeServer) { f.turnOf("", request, "All tasks are done.", 93_000, commitItem()) }
	for name, c := range map[string]struct {
		set   func(*compact.Settings)
		who   func(*watcher)
		hooks [][2]string
		turns func(*fakeServer)
		want  string
	}{
		"nothing does":                          {turns: said(), want: waits},
		"a stage":                               {hooks: [][2]string{begins}, turns: said(), want: goesOn},
		"a stage, but never":                    {set: never, hooks: [][2]string{begins}, turns: said(), want: waits},
		"a stage, and a question of a tool":     {hooks: [][2]string{begins}, turns: said(questionItem()), want: waits},
		"a stage, and a plan to approve":        {hooks: [][2]string{begins}, turns: said(planItem()), want: waits},
		"a stage, and a word of the user's":     {hooks: [][2]string{begins, prompt("fine")}, turns: said(), want: waits},
		"nobody sits before it":                 {who: alone, turns: said(), want: goesOn},
		"nobody sits before it, but never":      {who: alone, set: never, turns: said(), want: waits},
		"nobody sits before it, a tool asks":    {who: alone, turns: said(questionItem()), want: waits},
		"nobody sits before it, a plan waits":   {who: alone, turns: said(planItem()), want: waits},
		"nobody sits before it, and it is done": {who: alone, turns: done, want: waits},
		"always":                                {set: always, turns: said(), want: opens},
		"always, even when it is done":          {set: always, turns: done, want: opens},
		"always, a tool asks":                   {set: always, turns: said(questionItem()), want: waits},
		"always, a plan waits":                  {set: always, turns: said(planItem()), want: waits},
	} {
		t.Run(name, func(t *testing.T) {
			watchFakeBy(t, c.set, c.who, func(t *testing.T, f *fakeServer, w *watcher) {
				storyHooks(t, w.Home, host.Codex, fakeThread, c.hooks...)
				f.locked(func() { c.turns(f) })
				settle()
				if got := f.posted(); got != c.want {
					t.Fatalf("posted %q, want %q: %s", got, c.want, w.news())
				}
				if c.want != opens {
					packetWaits(t, f, w)
				}
			})
		})
	}
}

// No setting opens a turn while a tool asks, a plan waits, or after an interruption.
func TestRefuses(t *testing.T) {
	t.Parallel()
	home := testHome(t)
	sess, err := home.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	asked := compact.Words{}.Hear("Port the parser.", compact.Typed, time.Time{})
	proposed := asked.Said("Here is a plan.")
	proposed.Proposed = true
	for name, c := range map[string]struct {
		words compact.Words
		holds bool
	}{
		"the user's words last":    {asked, false},
		"a tool last":              {asked.Worked(), false},
		"the turn is over":         {asked.Said("A part is in place.").Ended(false), false},
		"interrupted":              {asked.Worked().Ended(true), true},
		"interrupted, and called":  {asked.Ended(true).Hear("go on", compact.Typed, time.Time{}), false},
		"a tool asks":              {asked.Worked().AsksWith("Which?"), true},
		"a tool asks, turn over":   {asked.Worked().AsksWith("Which?").Ended(false), true},
		"a plan waits":             {proposed, true},
		"a plan waits, turn over":  {proposed.Ended(false), true},
		"a plan that was answered": {proposed.Ended(false).Hear("yes", compact.Typed, time.Time{}).Said("Fine.").Ended(false), false},
	} {
		for _, s := range []conversation{
			{sess: sess, settings: compact.Settings{Resume: compact.ResumeAlways}, thread: compact.Thread{Words: c.words}},
			{sess: sess, settings: compact.Settings{Resume: compact.ResumeEvidence}, opts: Options{Unattended: true}, thread: compact.Thread{Words: c.words}},
		} {
			if got := s.holds(); got != c.holds {
				t.Errorf("%s, %s: holds %v", name, s.settings.Resume, got)
			}
		}
	}
}

// An interruption that nobody watched counts, too.
func TestInterruptedBeforeTheWatch(t *testing.T) {
	watchFakeWith(t, func(f *fakeServer, home *store.Home) {
		w := newWatcher(f.t, home, func(s *compact.Settings) { s.Mode = compact.ModeTag })
		stop := w.connect(f.t, f)
		synctest.Wait()
		f.locked(func() { f.planned("Port the parser and the printer.", "The parser is ported.", "parser", "*printer") })
		settle()
		stop()
		f.closed, f.out = false, make(chan []byte, 10_000)
		f.end(f.begin(), turnInterrupted)
		f.out = make(chan []byte, 10_000)
	}, func(t *testing.T, f *fakeServer, w *watcher) {
		f.locked(func() { f.turnOf("", "thanks", "Fine.", 93_000, commitItem()) })
		settle()
		if got := f.posted(); got != waits {
			t.Errorf("posted %q, want %q: %s", got, waits, w.news())
		}
	})
}

// The next prompt of a run is a message that waits.
func TestNextPromptComesFirst(t *testing.T) {
	watchFakeWith(t, func(f *fakeServer, _ *store.Home) {
		f.onPrompt = func() { f.planned("port it", "The parser is done.", "parser", "*printer") }
	}, func(t *testing.T, f *fakeServer, w *watcher) {
		w.Prompts, w.Dir, w.Unattended = []string{"one", "two"}, "/nowhere", true
		w.open()
		settle()
		settle()
		if got, want := f.posted(), "turn/start "+waits+" turn/start "+goesOn; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
	})
}

// The setting decides before anything else.
func TestResumeSetting(t *testing.T) {
	for _, row := range []struct{ set, author, want string }{
		{"never", "watcher", waits},
		{"never", "agent", "thread/sample " + waits},
		{"evidence", "agent", "thread/sample " + waits},
		{"always", "agent", "thread/sample thread/compact/start thread/queue/add"},
	} {
		t.Run(row.set+" "+row.author, func(t *testing.T) {
			set := func(s *compact.Settings) { s.Resume, s.PacketAuthor = row.set, row.author }
			watchFake(t, set, func(t *testing.T, f *fakeServer, w *watcher) {
				f.sample = func(string) (string, *rpcError) { return "MY OWN WORDS", nil }
				f.locked(func() { f.planned("port it", "The parser is done.", "parser", "*printer") })
				settle()
				if got := f.posted(); got != row.want {
					t.Fatalf("posted %q, want %q", got, row.want)
				}
				if row.set != "always" {
					packetWaits(t, f, w)
				}
			})
		})
	}
}

// A stage that rests for the hooks, because of words that only they took for a remark,
// rests for the watcher, too.
func TestStageThatRestsWaits(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		const said = "я сам гляну что там вышло"
		storyHooks(t, w.Home, host.Codex, fakeThread,
			[2]string{"user-prompt-submit", `"prompt":"[workflow:quick] port the parser"`},
			[2]string{"user-prompt-submit", `"prompt":"` + said + `"`},
			[2]string{"stop", `"last_assistant_message":"Хорошо."`})
		f.locked(func() { f.turnOf("", said, "Хорошо.", 70_000, commitItem()) })
		settle()
		if got := f.posted(); got != waits {
			t.Errorf("posted %q, want %q: %s", got, waits, w.news())
		}
	})
}

// What the user types into the terminal during the compaction is sent when that has
// ended: its turn comes first, and nothing of ours follows it.
func TestTypedMessageComesFirst(t *testing.T) {
	watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
		f.locked(func() {
			f.afterCompact = func() {
				f.afterCompact = nil
				f.turnOf("", "STOP", "Nothing was deployed.", 9_000)
			}
			f.planned("Deploy it.", "The parser is done.", "parser", "*deploy")
		})
		settle()
		if got := f.posted(); got != waits {
			t.Errorf("posted %q, want %q", got, waits)
		}
	})
}

// A goal that its user pauses or stops while we compact stays paused; one that
// rests only because of us goes on, after the packet.
func TestGoalDuringTheCompaction(t *testing.T) {
	for _, row := range []struct {
		name, want string
		meanwhile  func(f *fakeServer)
	}{
		{"nobody says anything", "goal:paused " + waits + " goal:active", func(*fakeServer) {}},
		{"paused by its user, in the same second", "goal:paused " + waits, func(f *fakeServer) { f.note("thread/goal/updated", obj{"goal": f.goal}) }},
		{"paused by its user, later", "goal:paused " + waits, func(f *fakeServer) {
			f.stamp++
			f.goal = obj{"objective": "x", "status": goalPaused, "updatedAt": f.stamp}
		}},
		{"stopped by its user", "goal:paused " + waits, func(f *fakeServer) {
			f.afterCompact = func() { f.turnOf("", "STOP", "Nothing was deployed.", 9_000) }
		}},
		{"asked something by its user", "goal:paused " + waits, func(f *fakeServer) {
			f.afterCompact = func() { f.turnOf("", "how far is it?", "Half of it is there.", 9_000) }
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			watchFake(t, nil, func(t *testing.T, f *fakeServer, w *watcher) {
				var x *fakeTurn
				f.locked(func() {
					f.goal = obj{"objective": "x", "status": goalActive, "updatedAt": 1}
					f.meanwhile = func() { row.meanwhile(f) }
					f.turnOf("", "hello", "Hello.", 5000)
					f.note("thread/goal/updated", obj{"goal": f.goal})
					x = f.begin()
					f.item(x, commitItem())
					f.item(x, obj{"type": "agentMessage", "text": "A part is in place."})
					f.tokens(x, 70_000)
				})
				time.Sleep(time.Second)
				f.locked(func() { f.end(x, turnCompleted) })
				settle()
				if got := f.posted(); got != row.want {
					t.Errorf("posted %q, want %q: %s", got, row.want, w.news())
				}
			})
		})
	}
}

// A watcher that comes after another one reads the end of the thread again: what the user
// said there is no new word of his, and a turn that has ended is over.
func TestNextWatcherHearsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, f := testHome(t), newFake(t)
		f.goal = obj{"objective": "x", "status": goalActive, "updatedAt": 1}
		first := newWatcher(t, home, nil)
		stop := first.connect(t, f)
		synctest.Wait()
		f.locked(func() { f.silent = "thread/inject_items" })
		var x *fakeTurn
		f.locked(func() {
			x = f.begin()
			f.item(x, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": "Port it all."}}})
			f.item(x, commitItem())
			f.item(x, obj{"type": "agentMessage", "text": "A part is in place."})
			f.tokens(x, 70_000)
		})
		time.Sleep(time.Second)
		f.locked(func() { f.end(x, turnCompleted) })
		time.Sleep(3 * time.Second)
		stop()
		if got := f.posted(); got != "goal:paused "+waits {
			t.Fatalf("posted %q", got)
		}
		known := storyThread(t, home, fakeThread).Words

		g := newFake(t)
		g.turns, g.goal = f.turns, f.goal
		second := newWatcher(t, home, nil)
		defer second.connect(t, g)()
		settle()
		if got, want := g.posted(), "thread/inject_items goal:active"; got != want {
			t.Errorf("posted %q, want %q: %s", got, want, second.news())
		}
		words := second.threads[fakeThread].thread.Words
		if state, _ := words.State(false); words.Count != known.Count || state != compact.StateTurnOver {
			t.Errorf("%d messages, %d before; %s", words.Count, known.Count, state)
		}
	})
}

// On a restart the packet comes first, then the goal goes on.
func TestGoalWaitsForTheOpenPacket(t *testing.T) {
	watchFakeWith(t, func(f *fakeServer, home *store.Home) {
		f.goal = obj{"objective": "x", "status": goalPaused, "updatedAt": 7}
		f.workTurn(turnCompleted)
		f.compactNow()
		for len(f.out) > 0 {
			<-f.out
		}
		s, _ := home.Session(fakeThread)
		packet := compact.Packet{ID: host.PacketPrefix + "x-1", Text: message.HandoverNextWord.EN, Wait: true, Created: time.Now(), Expires: time.Now().Add(time.Hour)}
		r, _ := compact.NewReceipt(packet).Step(compact.Started{}, time.Now())
		if _, _, err := session.UpdateWatched(s, false, func(m *session.Watched, _ *compact.Thread) []store.Event {
			m.Packets, m.Goal = 1, &session.PausedGoal{Updated: 7, Heard: 2}
			m.Delivery = session.Delivery{Trigger: "turn-1", Quiet: true, Receipt: r}
			return nil
		}); err != nil {
			f.t.Fatal(err)
		}
	}, func(t *testing.T, f *fakeServer, w *watcher) {
		settle()
		if got, want := f.posted(), "thread/inject_items goal:active"; got != want {
			t.Errorf("posted %q, want %q: %s", got, want, w.news())
		}
	})
}
