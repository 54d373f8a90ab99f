package session

import (
	gocmp "cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// What is remembered of the main thread's place between its events: it works, it
// asked, it was refused, it rests.
func TestMainThreadIsFollowed(t *testing.T) {
	t.Parallel()
	large, small := host.Batch{Bytes: largeBatch, Last: "t1"}, host.Batch{Bytes: largeBatch - 1, Last: "t1"}
	busy := Threads{Resting: true, Resumed: true, Asked: true, Refused: 7, Batch: large, Step: noon.Add(-time.Hour)}
	agents := map[string]time.Time{"a1": noon.Add(-time.Minute)}
	for name, tc := range map[string]struct {
		before Threads
		do     func(*Tx)
		want   Threads
	}{
		"a step ends rest and refusal":         {busy, func(tx *Tx) { tx.Stepped(small) }, Threads{Resumed: true}},
		"a large round is remembered":          {busy, func(tx *Tx) { tx.Stepped(large) }, Threads{Resumed: true, Batch: large}},
		"a step beside agents has its time":    {Threads{Agents: agents}, func(tx *Tx) { tx.Stepped(host.Batch{}) }, Threads{Agents: agents, Step: noon}},
		"a tool answers what was held back":    {busy, func(tx *Tx) { tx.Works() }, Threads{Resting: true, Resumed: true, Batch: large, Step: busy.Step}},
		"a prompt begins a turn":               {busy, func(tx *Tx) { tx.Prompted() }, Threads{Step: noon, Refused: 7, Batch: large}},
		"a turn's end is rest":                 {Threads{Agents: agents, Asked: true, Resumed: true, Refused: 7, Batch: large}, func(tx *Tx) { tx.Rested([]string{"a2"}, false) }, Threads{Agents: agents, Resting: true, Running: []string{"a2"}}},
		"who is not listed at its end is gone": {Threads{Agents: map[string]time.Time{"a1": noon, "a2": noon}}, func(tx *Tx) { tx.Rested([]string{"a2"}, true) }, Threads{Agents: map[string]time.Time{"a2": noon}, Resting: true, Running: []string{"a2"}}},
		"an agent's step is its last sign":     {Threads{Agents: agents, Compacting: []AgentCompaction{{Agent: "a1"}, {Agent: "a2"}}}, func(tx *Tx) { tx.AgentStepped("a1") }, Threads{Agents: map[string]time.Time{"a1": noon}, Compacting: []AgentCompaction{{Agent: "a2"}}}},
		"an agent that ended is forgotten":     {Threads{Agents: agents, Compacting: []AgentCompaction{{Agent: "a1"}}}, func(tx *Tx) { tx.AgentEnded("a1") }, Threads{}},
	} {
		tx := &Tx{o: Options{Now: noon}, Memory: Memory{Threads: tc.before}}
		tc.do(tx)
		got, _ := json.Marshal(tx.Memory.Threads)
		want, _ := json.Marshal(tc.want)
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
	tx := &Tx{Memory: Memory{Threads: busy}}
	if first, again := tx.Prompted(), tx.Prompted(); !first || again {
		t.Errorf("the first prompt of a process: %v, then %v", first, again)
	}
	for name, tc := range map[string]struct {
		t    Threads
		b    host.Batch
		want bool
	}{
		"nothing": {Threads{}, small, false}, "agents work": {Threads{Agents: agents}, small, true}, "asked": {Threads{Asked: true}, small, true},
		"refused": {Threads{Refused: 1}, small, true}, "a large round before": {Threads{Batch: large}, host.Batch{}, true}, "a large round": {Threads{}, large, true},
	} {
		if got := tc.t.Notable(tc.b); got != tc.want {
			t.Errorf("%s: notable is %v", name, got)
		}
	}
}

// An agent that is killed says nothing: the list of them has an end.
func TestAgentsAreBounded(t *testing.T) {
	t.Parallel()
	tx := &Tx{o: Options{Now: noon}}
	for i := range 3 * maxAgents {
		tx.AgentStepped(fmt.Sprint("a", i))
		if n := len(tx.Memory.Threads.Agents); n > maxAgents {
			t.Fatalf("%d agents", n)
		}
		if i == maxAgents-1 && len(tx.Memory.Threads.Agents) != maxAgents {
			t.Errorf("of %d agents %d are known", maxAgents, len(tx.Memory.Threads.Agents))
		}
	}
}

// Compactions of sub-agents are told apart from the main thread's by their order: who
// began first begins anew first.
func TestAgentCompactionsInOrder(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := func(d time.Duration, f func(tx *Tx) error) {
		t.Helper()
		o := Options{Lang: message.EN, Now: noon.Add(d), Warn: func(err error) { t.Errorf("warning: %v", err) }}
		if err := Update(s, o, f); err != nil {
			t.Fatal(err)
		}
	}
	at(0, func(tx *Tx) error {
		if tx.AgentBegins() {
			t.Error("nobody compacts, and an agent begins anew")
		}
		if ours, _ := tx.AgentCompacted(""); ours {
			t.Error("nobody compacts, and an agent has compacted")
		}
		tx.BeginAgentCompaction("a1")
		return nil
	})
	at(time.Second, func(tx *Tx) error { tx.BeginCompaction("auto", compact.Packet{}); return nil })
	at(2*time.Second, func(tx *Tx) error { tx.BeginAgentCompaction("a2"); return nil })
	at(3*time.Second, func(tx *Tx) error {
		if !tx.AgentBegins() {
			t.Error("a1 was first")
		}
		if tx.AgentBegins() {
			t.Error("the main thread was before a2")
		}
		return tx.Confirm("")
	})
	at(4*time.Second, func(tx *Tx) error {
		if !tx.AgentBegins() || tx.AgentBegins() {
			t.Error("then a2, once")
		}
		return nil
	})
	at(5*time.Second, func(tx *Tx) error {
		for range 2 {
			if ours, err := tx.AgentCompacted(""); !ours || err != nil {
				t.Errorf("%v, %v", ours, err)
			}
		}
		if ours, err := tx.AgentCompacted("a9"); !ours || err != nil {
			t.Errorf("the host names an agent: %v, %v", ours, err)
		}
		return nil
	})
	var who []string
	list, _, err := s.Last(100, store.Filter{Types: []string{message.EventAgentCompact}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		who = append(who, e.Text("agentId"))
	}
	slices.Sort(who)
	if !slices.Equal(who, []string{"a1", "a2", "a9"}) {
		t.Errorf("compacted: %v", who)
	}
}

// session writes a transcript of Claude Code's whose last request had so many tokens.
func claudeFile(t *testing.T, name string, tokens int, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".jsonl")
	lines := append([]string{
		`{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"go"}}`,
		fmt.Sprintf(`{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-03-01T11:00:01.000Z","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":%d,"output_tokens":0}}}`, tokens),
	}, more...)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whose a compaction is, where the host does not say: of those that may ask, the
// largest context's.
func TestWhoseCompaction(t *testing.T) {
	t.Parallel()
	main := claudeFile(t, "s1", 100_000)
	// A thread that waits for its tools is not about to ask the model.
	calling := claudeFile(t, "s1", 100_000, `{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s1","timestamp":"2026-03-01T12:30:00.000Z","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Agent","input":{}}],"usage":{"input_tokens":100000,"output_tokens":0}}}`)
	big, small := claudeFile(t, "big", 150_000), claudeFile(t, "small", 40_000)
	files := map[string]string{"big": big, "small": small}
	for name, tc := range map[string]struct {
		agents  []string
		threads Threads
		want    string
		file    string
	}{
		"it waits for its tools":      {agents: []string{"small"}, want: "small", file: calling},
		"the main thread alone":       {nil, Threads{}, "", ""},
		"a smaller agent":             {[]string{"small"}, Threads{}, "", ""},
		"a larger agent":              {[]string{"big", "small"}, Threads{}, "big", ""},
		"the main thread rests":       {[]string{"small"}, Threads{Resting: true}, "small", ""},
		"it has asked already":        {[]string{"small"}, Threads{Asked: true}, "", ""},
		"it has asked, one is larger": {[]string{"big"}, Threads{Asked: true}, "big", ""},
	} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			tx.Observe(host.SessionSeen{Transcript: gocmp.Or(tc.file, main)}, compact.Settings{})
			tx.Memory.Threads = tc.threads
			for _, a := range tc.agents {
				tx.AgentStepped(a)
			}
			tx.Memory.Threads.Resting, tx.Memory.Threads.Asked = tc.threads.Resting, tc.threads.Asked
			if got := tx.Asks(func(_, agent string) string { return files[agent] }); got != tc.want {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
			return nil
		})
	}
}

// The gate refuses the main thread below a boundary, once: asked again at the same
// size, it opens, or the session would end.
func TestGateRefusesOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	path := claudeFile(t, "s1", 100_000)
	set := config.Defaults().Compact
	set.Mode = compact.ModeAuto
	ask := func() (open bool) {
		t.Helper()
		update(t, s, func(tx *Tx) (err error) {
			tx.Observe(host.SessionSeen{Transcript: path, Model: "claude-sonnet-4-5"}, compact.Settings{})
			open, err = tx.Gate(set)
			return err
		})
		return open
	}
	if ask() {
		t.Fatal("open")
	}
	if m := Read(s); m.Threads.Refused != 100_001 || !m.Threads.Asked || !m.Waits() {
		t.Errorf("%+v, waits %v", m.Threads, m.Waits())
	}
	if !ask() {
		t.Error("refused again, and nothing has happened since")
	}
	if m := Read(s); m.Threads.Refused != 0 {
		t.Errorf("open, and %d is refused", m.Threads.Refused)
	}
	update(t, s, func(tx *Tx) error { tx.Works(); return nil })
	if ask() {
		t.Error("open, though the thread has gone on since")
	}
}

// What the transcript does not tell yet counts: a round of tools that it lacks.
func TestGrownSinceItWasTold(t *testing.T) {
	t.Parallel()
	path := claudeFile(t, "s1", 1000)
	tx := &Tx{o: Options{Now: noon}}
	tx.Memory.Thread.Transcript = path
	tx.Memory.Thread.Usage = compact.Usage{Used: 1000, Window: 200_000}
	if got := tx.grown().Used; got != 1000 {
		t.Errorf("nothing has come: %d", got)
	}
	tx.Memory.Threads.Batch = host.Batch{Bytes: 9000, Last: "t9"}
	if got := tx.grown().Used; got != 4000 {
		t.Errorf("9,000 bytes on their way: %d", got)
	}
}
