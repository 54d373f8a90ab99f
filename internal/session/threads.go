package session

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Threads is the main thread beside its sub-agents, as far as a compaction needs
// to know.
type Threads struct {
	// Agents are the sub-agents at work, with their last step.
	Agents map[string]time.Time `json:"agents,omitempty"`
	// Step is the main thread's last step while agents are at work. Resting: its
	// turn is over.
	Step    time.Time `json:"step,omitzero"`
	Resting bool      `json:"resting,omitempty"`
	// Resumed: a process has begun with this session, or with a copy of it that
	// will have a name of its own; the first prompt tells.
	Resumed bool `json:"resumed,omitempty"`
	// Asked: the main thread has asked to compact since its last step.
	Asked bool `json:"asked,omitempty"`
	// Running are the agents that the host listed when the turn ended.
	Running []string `json:"running,omitempty"`
	// Refused is the size at which the gate refused the main thread, and nothing
	// has happened since; 0 = it did not.
	Refused int64 `json:"refused,omitempty"`
	// Commits counts the commits in a row at which the gate refused, Commit is the last.
	Commits int    `json:"commits,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Batch is the last large round of tools, which the transcript may lack.
	Batch host.Batch `json:"batch,omitzero"`
	// Compacting are the compactions of sub-agents under way, on a host that does
	// not say whose they are.
	Compacting []AgentCompaction `json:"compacting,omitempty"`
}

// AgentCompaction is a compaction of a sub-agent.
type AgentCompaction struct {
	Agent string    `json:"agent"`
	At    time.Time `json:"at"`
	Done  bool      `json:"done,omitempty"` // the host has begun anew
}

// largeBatch is the size from which a round of tools is worth a write: smaller
// ones are within the gate's margin.
const largeBatch = 8 << 10

// Notable reports whether the end of a round of tools of the main thread is to be
// remembered.
func (t Threads) Notable(b host.Batch) bool {
	return len(t.Agents) > 0 || t.Asked || t.Refused != 0 || t.Batch.Bytes > 0 || b.Bytes >= largeBatch
}

// Stepped takes a step of the main thread: it goes on.
func (tx *Tx) Stepped(b host.Batch) {
	t := &tx.Memory.Threads
	t.Step, t.Resting, t.Asked, t.Refused, t.Batch = time.Time{}, false, false, 0, host.Batch{}
	tx.Memory.Thread.State.Begins = false
	tx.Memory.Thread.State.Rounds++
	if len(t.Agents) > 0 {
		t.Step = tx.o.Now
	}
	if b.Bytes >= largeBatch {
		t.Batch = b
	}
}

// Works takes a tool of the main thread: the request that the gate held back has
// had its answer.
func (tx *Tx) Works() { tx.Memory.Threads.Asked, tx.Memory.Threads.Refused = false, 0 }

// Prompted begins a turn of the main thread, and says whether it is the first of
// a process. What it was refused stays: a turn that the host ended for want of
// room shows no other sign.
func (tx *Tx) Prompted() (first bool) {
	t := &tx.Memory.Threads
	first = t.Resumed
	t.Resting, t.Asked, t.Resumed, t.Step = false, false, false, tx.o.Now
	return first
}

// Rested ends a turn of the main thread.
func (tx *Tx) Rested(background []string, listed bool) {
	t := &tx.Memory.Threads
	t.Resting, t.Asked, t.Resumed, t.Refused, t.Batch = true, false, false, 0, host.Batch{}
	t.Running = slices.Clone(background)
	if listed {
		// An agent that died of an error may have said nothing.
		t.Agents = maps.Clone(t.Agents)
		maps.DeleteFunc(t.Agents, func(id string, _ time.Time) bool { return !slices.Contains(background, id) })
	}
}

// RunsOn reports whether an agent, or a stage of the workflow, goes on when the main
// thread's turn has ended. What runs in a shell does not count.
func (m *Memory) RunsOn(w *workflow.State) bool {
	return len(m.Threads.Agents)+len(m.Threads.Running) > 0 ||
		w != nil && w.Active && (len(w.ActiveStages) > 0 || !m.Loop.LetGo && !m.Loop.Rests)
}

// Weigh is all that the policy looks at, whether the turn is over included.
func (m *Memory) Weigh(w *workflow.State, now time.Time, set compact.Settings) compact.Input {
	in := m.Thread.Weigh(now, set)
	if m.Thread.Over() && !m.RunsOn(w) {
		in.Signals |= compact.TurnEnd.Signal()
	}
	return in
}

// maxAgents bounds the agents that are remembered: one that is killed says
// nothing.
const maxAgents = 64

// AgentStepped takes a step of a sub-agent.
func (tx *Tx) AgentStepped(id string) {
	t := &tx.Memory.Threads
	agents := map[string]time.Time{}
	if len(t.Agents) < maxAgents {
		maps.Copy(agents, t.Agents)
	}
	agents[id] = tx.o.Now
	t.Agents = agents
	t.drop(id)
}

// AgentEnded forgets a sub-agent.
func (tx *Tx) AgentEnded(id string) {
	t := &tx.Memory.Threads
	t.Agents = maps.Clone(t.Agents)
	delete(t.Agents, id)
	t.drop(id)
}

// drop forgets the compaction of an agent: it has ended, or goes on.
func (t *Threads) drop(id string) {
	t.Compacting = slices.DeleteFunc(slices.Clone(t.Compacting), func(k AgentCompaction) bool { return k.Agent == id })
}

// Asks tells whose a compaction is that the host wants to begin: "" is the main
// thread's. files says where a sub-agent's transcript is.
func (tx *Tx) Asks(files func(transcript, agent string) string) string {
	t, path := tx.Memory.Threads, tx.Memory.Thread.Transcript
	tx.Measure()
	since, calling := transcript.Calling(path)
	main := compact.Suspect{Usage: tx.grown(), Step: t.Step, Away: t.Resting || calling && since.After(t.Step), Asked: t.Asked}
	var agents []compact.Suspect
	for _, id := range slices.Sorted(maps.Keys(t.Agents)) {
		w := tx.Memory.Thread
		u := w.Measure(usageSeen(tx.Session(), w, transcript.TailAgentUsage, files(path, id)), compact.Settings{})
		agents = append(agents, compact.Suspect{ID: id, Usage: u, Step: t.Agents[id]})
	}
	return compact.Whose(main, agents)
}

// grown is the main thread's usage with what has come since it was told.
func (tx *Tx) grown() compact.Usage {
	t := tx.Memory.Threads
	size, seen := transcript.Growth(tx.Memory.Thread.Transcript, t.Batch.Last)
	if !seen {
		size += t.Batch.Bytes
	}
	return tx.Memory.Thread.Usage.Grown(size)
}

// AwaitBatch waits for the last large round of tools to stand in the transcript, and
// with it the size that the model told when it asked for them: a step may weigh
// more than the gate's margin. It takes no lock, so that nobody waits with it.
func AwaitBatch(s *store.Session) {
	for range 20 {
		if m := Read(s); m.batched() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// batched reports whether the last large round of tools stands in the transcript.
func (m *Memory) batched() bool {
	last := m.Threads.Batch.Last
	if last == "" {
		return true
	}
	_, seen := transcript.Growth(m.Thread.Transcript, last)
	return seen
}

// Gate answers the main thread's question whether it may be compacted now, and
// remembers a refusal.
func (tx *Tx) Gate(set compact.Settings) (open bool, err error) {
	t := &tx.Memory.Threads
	settled := tx.Memory.batched()
	w := &tx.Memory.Thread
	if !set.AtPrompt {
		w.State.Before = 0 // what the last turn has shown counts at a prompt alone
	}
	d, err := tx.Decide(set, set.AtPrompt && (w.Begins() || t.Resumed && w.Rests()))
	u := tx.Memory.Thread.Weigh(tx.o.Now, set).Usage
	grown := tx.grown()
	grown.Window, grown.Least = u.Window, u.Least
	if !settled {
		grown = compact.Usage{Used: -1}
	}
	open = compact.Gate(compact.Ask{
		Settings: set, Decision: d, Usage: grown, Step: tx.Memory.Thread.Step,
		Again: t.Refused != 0 && t.Refused == u.Used+1, Commits: t.Commits,
	})
	t.Asked, t.Refused = true, 0
	if open {
		t.Commits, t.Commit = 0, ""
		return true, err
	}
	t.Refused = u.Used + 1
	made := tx.Memory.Thread.State.Slice.Commits
	if len(made) > 0 && slices.Contains(d.Signals, compact.Commit) && made[len(made)-1].Hash != t.Commit {
		t.Commits, t.Commit = t.Commits+1, made[len(made)-1].Hash
	}
	return false, err
}

// BeginAgentCompaction records that a sub-agent compacts: what follows is not the
// main thread's.
func (tx *Tx) BeginAgentCompaction(id string) {
	t := &tx.Memory.Threads
	t.drop(id)
	t.Compacting = append(t.Compacting, AgentCompaction{Agent: id, At: tx.o.Now})
}

// AgentBegins takes the host's word that a thread begins anew after its
// compaction, and says whether it is a sub-agent's: of those under way, the one
// that was begun first.
func (tx *Tx) AgentBegins() bool {
	t := &tx.Memory.Threads
	i := slices.IndexFunc(t.Compacting, func(k AgentCompaction) bool { return !k.Done })
	if i < 0 {
		return false
	}
	if k := tx.Memory.Compaction; k != nil && k.Status == begun && k.At.Before(t.Compacting[i].At) {
		return false
	}
	t.Compacting = slices.Clone(t.Compacting)
	t.Compacting[i].Done = true
	return true
}

// AgentCompacted takes the end of a sub-agent's compaction, if it is one; id is
// the agent's where the host names it.
func (tx *Tx) AgentCompacted(id string) (bool, error) {
	t := &tx.Memory.Threads
	i := slices.IndexFunc(t.Compacting, func(k AgentCompaction) bool { return k.Done })
	if id == "" && i < 0 {
		return false, nil
	}
	if id == "" {
		id = t.Compacting[i].Agent
	}
	t.drop(id)
	return true, tx.Emit(store.On(message.EventAgentCompact, "agentId", cmp.Or(id, "?")))
}
