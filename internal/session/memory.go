package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// MemoryFile is the journal of what hooks and watchers of a session remember
// between two events.
const MemoryFile = "hooks.jsonl"

// Memory is derived or short-lived: losing it costs a message, never the state.
type Memory struct {
	Outbox []Message `json:"outbox,omitempty"`
	// Printing are messages that hooks have taken and are about to print.
	Printing   []Batch  `json:"printing,omitempty"`
	Milestone  string   `json:"told,omitempty"` // the milestone of the last message
	Compaction *Attempt `json:"compaction,omitempty"`
	// Compactions counts the confirmed ones, Offset is the transcript's size at
	// the last of them.
	Compactions int   `json:"compactions,omitempty"`
	Offset      int64 `json:"offset,omitempty"`
	Searched    bool  `json:"searched,omitempty"` // for a compaction before our time
	// Mark is how far the session's file has been handed over.
	Mark Mark `json:"mark,omitzero"`
	// Noise is how much after Offset is no conversation; up to Read it is counted.
	Noise Noise `json:"noise,omitzero"`
	Loop  Loop  `json:"loop,omitzero"`
	// Hinted: the user was told how to ask for a workflow.
	Hinted bool `json:"hinted,omitempty"`
	// Ahead is what lies between the clock and the time that the machine was awake, in
	// milliseconds: it grows while the machine sleeps.
	Ahead int64 `json:"ahead,omitempty"`
	// Threads is what tells whose a compaction is, and whether the gate may refuse.
	Threads Threads `json:"threads,omitzero"`
	// Thread is the conversation, as hooks and watchers have seen it.
	Thread compact.Thread `json:"watch,omitzero"`

	unread bool // it could not be read just now
}

// Noise is what a transcript holds beside the conversation.
type Noise struct {
	Read  int64 `json:"read"`
	Bytes int64 `json:"bytes,omitempty"`
}

// Message is a text that waits for the next hook of the main thread.
type Message struct {
	Model  string `json:"model,omitempty"`
	Person string `json:"person,omitempty"`
	At     string `json:"at,omitempty"`
}

// Batch is what one hook has taken to print.
type Batch struct {
	By       int       `json:"by"` // its process
	At       time.Time `json:"at"`
	Messages []Message `json:"messages"`
}

// printTime is how long a hook may take to print: far longer than it does.
const printTime = 10 * time.Second

// printing reports whether a process that was about to print may still do so.
func printing(by int, at, now time.Time) bool {
	// A process takes its time before it waits for the lock, so at may lie after now.
	if by == os.Getpid() || now.Sub(at).Abs() > printTime {
		return false
	}
	return Alive(by)
}

// Alive reports whether a process is there.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// runnerPrefix marks a hand-over to a process of ours, which runs a stage's command.
const runnerPrefix = "pid:"

// RunnerID stands in the place of an agent's id where a process runs a stage.
func RunnerID(pid int) string { return runnerPrefix + strconv.Itoa(pid) }

// RunBy is the process behind such an id.
func RunBy(agentID string) (pid int, ok bool) {
	rest, ok := strings.CutPrefix(agentID, runnerPrefix)
	if !ok {
		return 0, false
	}
	pid, err := strconv.Atoi(rest)
	return pid, err == nil && pid > 0
}

// DropDeadRuns frees the stages of commands whose process is gone.
func (tx *Tx) DropDeadRuns() error {
	if !tx.Active() {
		return nil
	}
	for _, d := range slices.Clone(tx.Workflow.Delegations) {
		if pid, ok := RunBy(d.AgentID); ok && d.Open && !Alive(pid) {
			if _, err := tx.Apply(workflow.Drop{ID: d.ID}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Loop is how often the Stop hook has kept a workflow going.
type Loop struct {
	Iteration int    `json:"iteration,omitempty"`
	Stuck     int    `json:"stuck,omitempty"`
	At        string `json:"seen,omitempty"` // the state at the last block
	Workflow  string `json:"workflow,omitempty"`
	LetGo     bool   `json:"letGo,omitempty"`
	// Block is what the last block said, and where the work stood then.
	Block string `json:"said,omitempty"`
	// Rests: since the last stage was handed out the user has said something that is no
	// command, or has stopped a turn or an agent. The turn is his until a stage is handed
	// out, or he lets the workflow go on.
	Rests bool `json:"rests,omitempty"`
	// Waits counts the answers by which the host said that agents are at work.
	Waits int `json:"waits,omitempty"`
}

// Read is what is remembered of a session, without the lock.
// One that cannot be read is empty, and something may wait in it: whoever asks goes
// on to a change, which reads it once more or sets it aside.
func Read(s *store.Session) Memory {
	m, err := decodeMemory(s.Version(MemoryFile))
	if err != nil {
		return Memory{unread: true}
	}
	return m
}

func decodeMemory(data []byte, err error) (Memory, error) {
	var m Memory
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	// A damaged memory is forgotten: the state is elsewhere.
	if json.Unmarshal(data, &m) != nil {
		return Memory{}, nil //nolint:nilerr // see above
	}
	return m, nil
}

// Unread reports that the memory could not be read: what it holds is not known.
func (m *Memory) Unread() bool { return m.unread }

// Waits reports whether the next hook of the main thread has something to do.
func (m *Memory) Waits() bool {
	return m.unread || len(m.Outbox) > 0 || len(m.Printing) > 0 || m.Compaction != nil && !m.Compaction.settled() || m.Threads.Refused != 0
}

// Glance is what a call needs to know before it decides whether it has anything to
// do. It is read without decoding the memory: that, and the lock, would cost such a
// call more than all else it does.
type Glance struct {
	Waits    bool      // see [Memory.Waits]
	Resting  bool      // the main thread's turn is over
	Worked   bool      // the turn has run a tool
	Failures bool      // a command has failed since the last compaction; see [Glance.Failed]
	Turn     time.Time // when the turn began

	transcript, model string
	started, failures gjson.Result
}

// Look glances at a session; ok is false where nothing is remembered of it.
func Look(s *store.Session) (g Glance, ok bool) {
	data, err := s.Version(MemoryFile)
	if err != nil || !store.ValidJSON(data) {
		return g, false
	}
	m := gjson.ParseBytes(data)
	w, k := m.Get("watch"), m.Get("compaction")
	settled := !k.Exists() || k.Get("status").String() == Failed ||
		k.Get("status").String() == done && (!k.Get("receipt").Exists() || compact.ReceiptState(k.Get("receipt.state").String()).Final())
	return Glance{
		Waits:   !settled || m.Get("outbox").Exists() || m.Get("printing").Exists() || m.Get("threads.refused").Exists(),
		Resting: m.Get("threads.resting").Bool(), Worked: w.Get("state.worked").Bool(),
		Failures: w.Get("state.slice.failures").Exists(), Turn: w.Get("turn").Time(),
		transcript: w.Get("transcript").String(), model: w.Get("model").String(),
		started: w.Get("started"), failures: w.Get("state.slice.failures"),
	}, true
}

// MayAwait reports whether the end of a command may be waited for. It looks at bytes only.
func MayAwait(s *store.Session) bool {
	data, err := s.Version(MemoryFile)
	return err == nil && bytes.Contains(data, []byte(`"started":`))
}

// Failed reports whether this very command has failed, and not worked since.
func (g Glance) Failed(line string) (failed bool) {
	if !g.Failures {
		return false
	}
	line = compact.FailureLine(line)
	g.failures.ForEach(func(_, f gjson.Result) bool {
		failed = f.Get("line").String() == line
		return !failed
	})
	return failed
}

// Started reports whether the end of a command is waited for; "" stands for any.
func (g Glance) Started(id string) bool {
	if id == "" {
		return g.started.Exists()
	}
	return g.started.Get(gjson.Escape(id)).Exists()
}

// Knows reports whether where the session is, and its model, are known already.
func (g Glance) Knows(transcript, model string) bool {
	same := func(v, known string) bool { return v == "" || v == known }
	return same(transcript, g.transcript) && same(model, g.model)
}

// Idle reports whether a command that ended well, and committed nothing, leaves
// all as it is and nothing waits for the main thread, as is usual.
func (g Glance) Idle(transcript, model string) bool {
	return !g.Waits && !g.Started("") && g.Worked && !g.Failures && g.Knows(transcript, model)
}

// milestone is how far the work has come, whoever is at it.
func milestone(s *workflow.State) string {
	h := fnv.New64a()
	for k, st := range s.Stages.All() {
		if st.Status == workflow.Active {
			st.Status = workflow.Pending
		}
		fmt.Fprintf(h, "%s=%s/%d/%d ", k, st.Status, s.Retries[k], s.Crashes[k])
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
