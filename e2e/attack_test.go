//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// What happens to a person who does two things at once, on each version: two
// sessions in one folder, a message at the wrong instant, a host that is killed.

// remembered is what Overtone knows of a session.
func remembered(t *testing.T, w *World, session string) gjson.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Home, ".overtone", "sessions", session, "hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return gjson.ParseBytes(lines[len(lines)-1]).Get("watch")
}

// subjects are the commits that a session takes for its own.
func subjects(t *testing.T, w *World, session string) (list []string) {
	t.Helper()
	for _, c := range remembered(t, w, session).Get("state.slice.commits").Array() {
		list = append(list, c.Get("subject").String())
	}
	return list
}

// A command that ends well starts one process, one that fails another beside it.
func TestNewest_Row7_OneProcessPerCommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{call(bash("true")), call(bash("true"), bash("true")), call(bash("false"))}}
		w := NewWorld(t, Recorder, p.Handle, v)
		w.Prompt("go")
		if pre, post, failed := len(w.CallsOf("pre-tool-use")), len(w.CallsOf("post-tool-use")), len(w.CallsOf("post-tool-use-failure")); pre != 4 || post != 0 || failed != 1 {
			t.Errorf("before: %d, after: %d, failed: %d", pre, post, failed)
		}
	})
}

// Two sessions work in one folder at once. Each has its own commits, though the log
// of the repository has both's: also who fails to commit, and who runs a script.
func TestAttack_TwoSessionsInOneFolder(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		const await = `await() { until [ -e "$1" ]; do sleep 0.02; done; }; `
		scripts := map[string]*Play{
			"SESSION-A": {Main: []Step{
				call(bash(await + `await b0; echo 0 > a.txt; git add a.txt; git commit -qm 'of A, first' && touch a0`)),
				call(bash("true")),
				call(bash(await + `await b1; echo a > a.txt; git add a.txt; git commit -m 'of A' && touch a1`)),
				call(bash("true")),
				call(bash(await + `await b2; echo aa > a.txt; git add a.txt; git commit -qm 'of A, too' && touch a2`)),
			}},
			"SESSION-B": {Main: []Step{
				call(bash("sh wait.sh")),
				call(bash("true")),
				call(bash(await + `touch b1; await a1; git commit -m 'of B'`)), // nothing to commit
				call(bash("true")),
				call(bash(await + `touch b2; await a2; echo b > b.txt; git add b.txt; git commit -q -m 'of B'`)),
			}},
		}
		w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
			for mark, p := range scripts {
				if r.Has(mark) {
					return p.Handle(r)
				}
			}
			return mockapi.Text("?")
		}, v)
		w.Write(".gitignore", "a?\nb?\n")
		w.Write("wait.sh", "touch b0; until [ -e a0 ]; do sleep 0.02; done\n")
		w.Exec("git", "add", ".")
		w.Exec("git", "commit", "-qm", "ignore")
		ids := map[string]string{}
		var mu sync.Mutex
		var both sync.WaitGroup
		for mark := range scripts {
			both.Go(func() {
				r := w.Prompt("go on with " + mark).Result()
				mu.Lock()
				defer mu.Unlock()
				if ids[mark] = r.SessionID; r.Text != "DONE" {
					t.Errorf("%s: %+v", mark, r)
				}
			})
		}
		both.Wait()
		for mark, want := range map[string]string{"SESSION-A": "of A, first|of A|of A, too", "SESSION-B": "of B"} {
			if got := strings.Join(subjects(t, w, ids[mark]), "|"); got != want {
				t.Errorf("%s has %q, want %q", mark, got, want)
			}
		}
	})
}

// Commands that run on in the background, by themselves or because they took too long,
// commit when the turn is long over: each commit is known, once, as a boundary of the
// turn that hears of it. A server that runs beside all of it has none of them when it is
// stopped.
func TestNewest_Row7_CommitInTheBackground(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		behind := func(line string) mockapi.Block {
			return tool("Bash", map[string]any{"command": line, "run_in_background": true})
		}
		const wait = `until [ -e %s ]; do sleep 0.02; done; `
		slow := tool("Bash", map[string]any{"command": strings.ReplaceAll(wait, "%s", "go3") + `git commit --allow-empty -qm 'took too long'`, "timeout": 1000})
		var server string
		p := &Play{Main: []Step{
			call(behind("sh serve.sh")),
			func(r *mockapi.Request) mockapi.Reply {
				_, rest, _ := strings.Cut(r.Last(), "running in background with ID: ")
				server, _, _ = strings.Cut(rest, ".")
				return mockapi.Calls(bash("git commit --allow-empty -m 'in front'"))
			},
			say("READY"),
			call(behind(strings.ReplaceAll(wait, "%s", "go1") + `git commit --allow-empty -m 'in the background'`)),
			say("WAITING"), say("HEARD"),
			call(behind("sh script.sh")),
			say("WAITING"), say("HEARD"),
			call(slow),
			func(r *mockapi.Request) mockapi.Reply {
				if !strings.Contains(r.Last(), "moved to the background") {
					return mockapi.Text("BROKEN OFF") // as the floor does
				}
				return mockapi.Text("WAITING")
			},
			say("HEARD"),
			func(*mockapi.Request) mockapi.Reply {
				return mockapi.Calls(tool("TaskStop", map[string]any{"task_id": server}))
			},
			say("STOPPED"),
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Write("serve.sh", "while :; do sleep 0.1; done\n")
		w.Write("script.sh", "until [ -e go2 ]; do sleep 0.02; done; git commit --allow-empty -qm 'by a script'\n")
		s := w.Start()
		id := s.Ask("serve").SessionID
		boundary := func(when, subject string) {
			t.Helper()
			list := subjects(t, w, id)
			if n := len(list); n == 0 || list[n-1] != subject {
				t.Errorf("%s: commits %q", when, list)
			}
			var explained struct{ Signals []string }
			if err := json.Unmarshal([]byte(w.Exec("overtone", "compact", "explain", "--session", id, "--json")), &explained); err != nil || !slices.Contains(explained.Signals, "commit") {
				t.Errorf("%s: signals %v, %v", when, explained.Signals, err)
			}
		}
		boundary("in front", "in front")
		want := "in front"
		for i, subject := range []string{"in the background", "by a script", "took too long"} {
			ask := s.Ask("commit")
			if ask.Text == "BROKEN OFF" {
				s.Ask("so it is")
				break
			}
			if got := strings.Join(subjects(t, w, id), "|"); ask.Text != "WAITING" || got != want {
				t.Errorf("before: %q, %q, want %q", ask.Text, got, want)
			}
			w.Write(fmt.Sprintf("go%d", i+1), "")
			if heard := s.Result(); heard.Text != "HEARD" {
				t.Errorf("the turn that hears of it: %+v", heard)
			}
			boundary("heard", subject)
			want += "|" + subject
		}
		s.Ask("stop the server")
		s.Close()
		if got := strings.Join(subjects(t, w, id), "|"); got != want {
			t.Errorf("commits %q, want %q", got, want)
		}
		if left := remembered(t, w, id).Get("behind"); left.Exists() && left.Raw != "{}" {
			t.Errorf("still waited for: %s", left.Raw)
		}
	})
}

// A message that is typed while a command runs, and another as its turn ends: both
// reach the model, and the command's commit is known, once.
func TestAttack_TypingBesideACommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		var s *Session
		running := make(chan struct{})
		p := &Play{Main: []Step{
			func(*mockapi.Request) mockapi.Reply {
				close(running)
				return mockapi.Calls(bash("until [ -e typed ]; do sleep 0.02; done; echo a > a.txt; git add a.txt; git commit -m 'the slice'"))
			},
			func(*mockapi.Request) mockapi.Reply {
				s.Send("TYPED-2")
				return mockapi.Text("COMMITTED")
			},
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		s = w.Start()
		s.Send("commit the slice")
		<-running
		s.Send("TYPED-1")
		s.Control(map[string]any{"subtype": "get_context_usage"}) // answered after the message was read
		w.Write("typed", "")
		id := s.Result().SessionID
		for _, text := range []string{"TYPED-1", "TYPED-2"} {
			await(t, text+" in a request", func() bool {
				return slices.ContainsFunc(mains(w), func(r *mockapi.Request) bool { return r.Has(text) })
			})
		}
		s.Close()
		if got := strings.Join(subjects(t, w, id), "|"); got != "the slice" {
			t.Errorf("commits %q", got)
		}
		if left := remembered(t, w, id).Get("started"); left.Exists() && left.Raw != "{}" {
			t.Errorf("still waited for: %s", left.Raw)
		}
	})
}

// A message that is typed while the agent of a stage works, in the foreground, takes
// nothing from it: each stage is worked on once, and the model reads what was typed.
func TestAttack_TypingBesideAStage(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		work := newHeld(t)
		p := &Relay{Agents: map[string][]Step{"developer": {func(r *mockapi.Request) mockapi.Reply { return pass(r).Until(work.at()) }}}}
		w := NewWorld(t, Overtone, p.Handle, v)
		s := w.Start()
		s.Send("[workflow:quick-dev] fix it")
		receive(t, "working", work.reached)
		s.Send("TYPED-4")
		s.Control(map[string]any{"subtype": "get_context_usage"}) // answered after the message was read
		work.letGo()
		id := s.Result().SessionID
		s.untilComplete(id)
		s.Close()
		finished(t, w, id)
		for agent, n := range p.used {
			if n != 1 {
				t.Errorf("%s has worked %d times", agent, n)
			}
		}
		if !slices.ContainsFunc(mains(w), func(r *mockapi.Request) bool { return r.Has("TYPED-4") }) {
			t.Error("what was typed is lost")
		}
	})
}

// A message that is typed while the host compacts is not lost, and the packet is in
// every request after it, once.
func TestAttack_TypingBesideACompaction(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		var s *Session
		var once sync.Once
		p := &Play{}
		w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
			if r.Kind == mockapi.Summary {
				once.Do(func() { s.Send("TYPED-3") })
			}
			return p.Handle(r)
		}, v)
		s = w.Start()
		s.Ask("MARK-GOAL: write the slice")
		for range 3 {
			s.Ask("and so on")
		}
		s.Send("/compact")
		s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
		s.Result()
		s.Result() // of what was typed meanwhile
		s.Ask("still there?")
		s.Close()
		sums := summaries(w)
		if len(sums) != 1 {
			t.Fatalf("%d compactions", len(sums))
		}
		last := mains(w)[len(mains(w))-1]
		for _, text := range []string{"TYPED-3", "still there?"} {
			if last.Count(text) == 0 {
				t.Errorf("%s is lost", text)
			}
		}
		for _, r := range mains(w) {
			if r.Seq > sums[0].Seq {
				if packets := hookTextsOf(r, "SessionStart"); len(packets) != 1 || !strings.Contains(packets[0], "MARK-GOAL") {
					t.Errorf("request %d has %d packets: %q", r.Seq, len(packets), packets)
				}
			}
		}
	})
}

// The host is killed while a command runs that has just committed. Who resumes goes
// on; what was under way is let go, and the next commit is known.
func TestAttack_KilledInACommand(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{
			call(bash("echo a > a.txt; git add a.txt; git commit -qm 'before the end'; touch committed; sleep 30")),
			say("RESUMED"),
			call(bash("echo b > b.txt; git add b.txt; git commit -m 'after it'")),
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		s := w.Start()
		s.Send("commit")
		var init struct {
			SessionID string `json:"session_id"`
		}
		s.Wait("its beginning", func(e Event) bool { return e.Subtype == "init" }).Decode(t, &init)
		await(t, "commit", func() bool { _, err := os.Stat(filepath.Join(w.Project, "committed")); return err == nil })
		s.Kill()
		for _, prompt := range []string{"what happened?", "commit again"} {
			w.Prompt(prompt, "--resume", init.SessionID)
		}
		got := subjects(t, w, init.SessionID)
		if len(got) == 0 || got[len(got)-1] != "after it" {
			t.Errorf("commits %q", got)
		}
		if left := remembered(t, w, init.SessionID).Get("started"); left.Exists() && left.Raw != "{}" {
			t.Errorf("still waited for: %s", left.Raw)
		}
	})
}

// The host is killed while it compacts. Nothing was compacted, so nothing is handed
// over; the next compaction is, once.
func TestAttack_KilledInACompaction(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p, compaction := &Play{}, newHeld(t)
		w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
			if r.Kind == mockapi.Summary {
				return mockapi.Text(SummaryText).Until(compaction.at())
			}
			return p.Handle(r)
		}, v)
		s := w.Start()
		id := s.Ask("MARK-GOAL: write the slice").SessionID
		for range 3 {
			s.Ask("and so on")
		}
		s.Send("/compact")
		receive(t, "compacting", compaction.reached)
		s.Kill()
		compaction.letGo()
		before := len(mains(w))
		s = w.Start("--resume", id)
		s.Ask("go on")
		for _, r := range mains(w)[before:] {
			if n := len(hookTextsOf(r, "SessionStart")); n != 0 {
				t.Errorf("request %d has %d packets of a compaction that never was", r.Seq, n)
			}
		}
		s.Send("/compact")
		s.Wait("the compaction", func(e Event) bool { return e.Subtype == "compact_boundary" })
		s.Result()
		s.Ask("still there?")
		s.Close()
		last := mains(w)[len(mains(w))-1]
		if packets := hookTextsOf(last, "SessionStart"); len(packets) != 1 || !strings.Contains(packets[0], "MARK-GOAL") {
			t.Errorf("%d packets: %q", len(packets), packets)
		}
	})
}

// A session in a folder below the project is gone on with there, and then copied: the
// commits of each are its own, and a copy changes nothing of the original.
func TestAttack_ContinueAndForkBelow(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		commit := func(subject string) Step {
			return call(bash("git commit --allow-empty -m '" + subject + "'"))
		}
		p := &Play{Main: []Step{commit("first"), say("OK"), commit("second"), say("OK"), commit("of the copy"), say("OK"), commit("third"), say("OK")}}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Write("below/x.txt", "")
		w.Project = filepath.Join(w.Project, "below")
		first := w.Prompt("commit").Result().SessionID
		if again := w.Prompt("commit again", "--continue").Result().SessionID; again != first {
			t.Fatalf("another session goes on: %s, not %s", again, first)
		}
		before := remembered(t, w, first).Raw
		copied := w.Prompt("commit in a copy", "--continue", "--fork-session").Result().SessionID
		if copied == first {
			t.Fatal("not copied")
		}
		if after := remembered(t, w, first).Raw; after != before {
			t.Errorf("the copy has changed the original:\n%s\n%s", before, after)
		}
		w.Prompt("and once more", "--resume", first)
		for id, want := range map[string]string{first: "first|second|third", copied: "of the copy"} {
			if got := strings.Join(subjects(t, w, id), "|"); got != want {
				t.Errorf("commits %q, want %q", got, want)
			}
		}
	})
}

// await waits for what will happen.
func await(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(turnLimit); !happened(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s in %v", what, turnLimit)
		}
	}
}

// receive waits for a signal of a mock's, for as long as [await] waits.
func receive[T any](t testing.TB, what string, from <-chan T) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(turnLimit):
		t.Fatalf("nothing is %s in %v", what, turnLimit)
	}
}
