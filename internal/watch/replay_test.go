package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// recorded reads what one client received in a recorded session with the real
// Codex. The recordings are not part of this repository.
func recorded(t *testing.T, name, client string) []frame {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "samples", name))
	if err != nil {
		t.Skip("no recorded sessions here")
	}
	defer f.Close()
	var out []frame
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxMessage)
	for in.Scan() {
		var l struct {
			Client, Dir string
			Msg         json.RawMessage
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Dir != "<-" || client != "" && l.Client != client {
			continue
		}
		m, err := parseFrame(l.Msg)
		if err != nil {
			t.Fatalf("%s: %v", l.Msg, err)
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		t.Fatalf("nothing recorded for %q in %s", client, name)
	}
	return out
}

// deaf is a connection that swallows everything and stays silent.
type deaf struct{ posts []string }

func (d *deaf) read(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (d *deaf) write(_ context.Context, b []byte) error {
	f, _ := parseFrame(b)
	d.posts = append(d.posts, f.Method)
	return nil
}

func (d *deaf) close() error { return nil }

// replayed is a watcher without a server, subscribed to one thread.
func replayed(t *testing.T, id string) (*Codex, *deaf, *thread) {
	t.Helper()
	s := config.Defaults().Compact
	s.Mode = compact.ModeAuto
	d := &deaf{}
	w := &Codex{Options: Options{
		Waits: DefaultWaits(),
		Home:  store.New(t.TempDir(), t.TempDir(), time.Now), Settings: func() compact.Settings { return s },
		Lang: message.EN, Words: message.EN, Now: time.Now, Report: func(Report) {},
	}, threads: map[string]*thread{}, ignored: map[string]bool{}}
	w.client = newClient(t.Context(), d)
	t.Cleanup(func() { _ = w.client.Close() })
	th := &thread{info: wireThread{ID: id}}
	w.threads[id] = th
	w.subscribedTo(th, wireThread{ID: id, Cwd: "/workspace/repo"})
	w.feed(th, attached{})
	return w, d, th
}

func TestReplayRecordedSessions(t *testing.T) {
	for name, client := range map[string]string{
		"codex_appserver_transcript.jsonl":             "",
		"codex_appserver_two_clients_transcript.jsonl": "tui_stand_in",
	} {
		t.Run(name, func(t *testing.T) {
			frames := recorded(t, name, client)
			var id string
			for _, f := range frames {
				if n, thread := parseNotice(f.Params); f.Method == "thread/started" && n.Thread.watched() {
					id = thread
				}
			}
			w, _, th := replayed(t, id)
			var decided []string
			w.Report = func(r Report) {
				if d := r.Decision; d != nil {
					decided = append(decided, string(d.Tier)+"/"+string(d.Verdict)+"/"+string(d.Cause))
				}
			}
			th.opts.Report = w.Report
			var packets int
			for _, f := range frames {
				if f.Method == "" || !wanted(f.Method) {
					continue
				}
				w.handle(Inbound{Method: f.Method, Params: f.Params})
				if th.cycle.Phase == settling {
					if !slices.Contains(th.decision.Signals, compact.Commit) {
						t.Errorf("signals = %v", th.decision.Signals)
					}
				}
				if n, _ := parseNotice(f.Params); n.Item != nil && n.Item.ClientID != "" && f.Method == "item/completed" {
					packets++
				}
			}
			if len(decided) == 0 || !strings.Contains(strings.Join(decided, " "), "/compact/boundary") {
				t.Errorf("decisions = %v", decided)
			}
			if packets != 1 {
				t.Errorf("%d packets recorded", packets)
			}
			if n := len(th.thread.History); n != 1 || th.thread.History[0].Before != 62000 || th.thread.History[0].After > 7000 {
				t.Errorf("history = %+v", th.thread.History)
			}
			if th.thread.Usage.Window != 95000 {
				t.Errorf("usage = %+v", th.thread.Usage)
			}
		})
	}
}

// The fourteen recorded commands: commits and things that look like one.
func TestReplayCommitItems(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "samples", "codex_commit_items.jsonl"))
	if err != nil {
		t.Skip("no recorded sessions here")
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxMessage)
	for in.Scan() {
		m, err := parseFrame(in.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		n, _ := parseNotice(m.Params)
		w, _, th := replayed(t, "thread")
		w.item(th, "turn", *n.Item, false)
		got := th.thread.Boundary().Has(compact.Commit)
		// git's own line is in the output of every one that committed, but
		// for the quiet ones, where only the exit code is left here.
		want := strings.Contains(n.Item.Output, "] ") && strings.Contains(n.Item.Output, "changed") ||
			strings.Contains(n.Item.Command, "commit -q") && *n.Item.ExitCode == 0
		if got != want {
			t.Errorf("commit = %v, want %v: %s\n%s", got, want, n.Item.Command, n.Item.Output)
		}
	}
}

func FuzzNotice(f *testing.F) {
	for _, m := range []string{"thread/started", "turn/started", "turn/completed", "item/started", "item/completed", "turn/plan/updated", "thread/tokenUsage/updated", "thread/status/changed", "thread/closed"} {
		f.Add(m, []byte(`{"threadId":"t","turnId":"u","thread":{"id":"t"},"turn":{"id":"u","status":"completed"},"item":{"type":"commandExecution","id":"i","command":"git commit","cwd":"/x","exitCode":0},"tokenUsage":{"last":{"totalTokens":9},"modelContextWindow":10},"plan":[{"step":"a","status":"completed"}],"status":{"type":"idle"}}`))
		f.Add(m, []byte(`{"threadId":"t","turn":null,"item":{"type":"contextCompaction"},"plan":[null]}`))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		s := config.Defaults().Compact
		s.Mode = compact.ModeAuto
		w := &Codex{Options: Options{
			Waits: DefaultWaits(),
			Home:  store.New(t.TempDir(), t.TempDir(), time.Now), Settings: func() compact.Settings { return s }, Now: time.Now, DryRun: true, Report: func(Report) {},
		}, threads: map[string]*thread{}, ignored: map[string]bool{}}
		w.client = newClient(t.Context(), &deaf{})
		defer w.client.Close()
		th := &thread{}
		w.threads["t"] = th
		w.subscribedTo(th, wireThread{ID: "t"})
		for range 2 {
			w.handle(Inbound{Method: method, Params: params})
		}
	})
}
