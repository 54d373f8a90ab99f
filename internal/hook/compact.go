package hook

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// compaction is one attempt of the host to compact the main thread, with the
// receipt of what is handed back afterwards.
type compaction struct {
	N       int              `json:"n"`
	Trigger string           `json:"trigger,omitempty"`
	At      time.Time        `json:"at"`
	Status  string           `json:"status"` // begun, done, failed
	Receipt *compact.Receipt `json:"receipt,omitempty"`
	Before  int64            `json:"before,omitempty"` // tokens
	Sub     bool             `json:"sub,omitempty"`    // of a sub-agent: not ours to act on
}

const (
	begun  = "begun"
	done   = "done"
	failed = "failed"
)

// settled: nothing is left to do about it.
func (k *compaction) settled() bool {
	return k.Status == failed || k.Status == done && (k.Receipt == nil || k.Receipt.State.Final())
}

// step moves the receipt; true means that the text is to be handed out now.
func (k *compaction) step(e compact.ReceiptEvent, now time.Time) bool {
	if k.Receipt == nil {
		return false
	}
	r, out := k.Receipt.Step(e, now)
	k.Receipt = &r
	return out
}

// repeat: hosts may ask more than once for one compaction.
const repeat = 10 * time.Second

// preCompact answers the gate, saves what must survive, records the attempt, and
// prints it. The host's compaction is never stopped by an error here.
func (c *call) preCompact() (host.Reply, error) {
	if !c.host.Delivers {
		if s, err := Peek(c.sess); err != nil || s == nil {
			return host.Reply{}, err
		}
	}
	if c.watcherOwns() {
		return host.Reply{}, errQuiet
	}
	var r host.Reply
	err := c.update(func(d *desk) error {
		d.see()
		set := c.settings()
		trigger := c.in.Trigger
		if c.host.Gates && trigger == "auto" && set.Mode == compact.ModeAuto {
			answer, err := d.gate(set)
			if err != nil {
				return err
			}
			if !answer.Open {
				r.Refuse = true
				return nil
			}
		}
		if d.ofSubagent() {
			d.mem.Compaction, d.dirty = &compaction{At: c.now, Status: begun, Sub: true}, true
			return nil
		}
		var err error
		r.System, err = d.prepare(trigger, set)
		return err
	})
	if err != nil {
		return host.Reply{}, err
	}
	return r, nil
}

// prepare records the attempt with what is to survive it, and returns 001's text.
// One write tells the timeline of both.
func (d *desk) prepare(trigger string, set compact.Settings) (recovery string, err error) {
	c := d.c
	again := c.host.Delivers && d.mem.Compaction != nil && d.mem.Compaction.Status == begun && c.now.Sub(d.mem.Compaction.At) < repeat
	k := &compaction{N: d.mem.Compactions + 1, Trigger: trigger, At: c.now, Status: begun}
	var events []store.Event
	active := d.state != nil && d.state.Active
	if d.state != nil {
		events = append(events, compactEvent(d.state, trigger))
		recovery = d.recovery()
	}
	if active || c.host.Delivers {
		d.measure()
		k.Before = d.mem.Watch.Usage.Used
		kept := ""
		if active {
			kept = recovery
		}
		if p := d.packet(k.N, set, kept, d.openTasks()); p.Text != "" {
			receipt := compact.NewReceipt(p)
			k.Receipt = &receipt
			k.step(compact.Started{}, c.now)
			events = append(events, store.On(message.EventPacketCreated, "id", p.ID, "n", k.N, "chars", len(p.Text)))
		}
	}
	if !again && len(events) > 0 {
		if err := d.tx.Emit(events...); err != nil {
			return "", err
		}
	}
	d.mem.Compaction, d.dirty = k, true
	return recovery, nil
}

// watcherOwns: where a watcher drives the thread, it hands its own packet over.
func (c *call) watcherOwns() bool {
	if !c.host.Watched {
		return false
	}
	// A packet of the watcher's that is under way will still arrive, even if the
	// watcher died and comes back later.
	if data, err := c.sess.Read(store.WatchFile); err == nil {
		if state := gjson.GetBytes(data, "record.receipt.state").String(); state != "" && !compact.ReceiptState(state).Final() {
			return true
		}
	}
	release, ok, err := c.sess.TryLease(store.WatchLease)
	if err != nil {
		return false
	}
	if ok {
		release()
	}
	return !ok
}

func compactEvent(s *workflow.State, trigger string) store.Event {
	e := store.On(message.EventSessionCompact, "workflowType", s.WorkflowType, "currentStage", s.CurrentStage)
	if trigger != "" {
		e.Data = append(e.Data, store.Field{Key: "trigger", Value: trigger})
	}
	return e
}

// openTasks are the feature's open tasks, for a packet without a workflow.
func (d *desk) openTasks() []string {
	if d.state != nil && d.state.Active {
		return nil // they stand in the recovery text
	}
	f, ok, err := prompt.ActiveFeature(d.c.projectRoot(), "")
	if err != nil || !ok {
		return nil
	}
	return f.Unchecked
}

// ofSubagent tells a sub-agent's own compaction from main's: the host's input is
// the same, so the thread that was last seen at work decides.
func (d *desk) ofSubagent() bool { return d.c.host.AgentsCompact && d.mem.Thread != "" }

// recovery is 001's text of the session.
func (d *desk) recovery() string {
	s, c := d.state, d.c
	rec := compact.Recovery{
		WorkflowType: s.WorkflowType, Bar: workflow.Bar(s), FailCount: s.FailCount, RejectCount: s.RejectCount,
		MaxRetries: c.cfg.Workflow.MaxRetries,
	}
	if s.CurrentStage != "" {
		rec.Stage = workflow.Describe(s.CurrentStage, c.lang)
	}
	for k, a := range s.ActiveAgents.All() {
		name, _, _ := strings.Cut(k, "#")
		rec.Agents = append(rec.Agents, message.RecoveryAgent.Format(c.lang, name, a.Stage))
	}
	_, rec.Tasks = c.tasks(s, message.PendingTasks)
	return rec.Text(c.lang)
}

// postCompact confirms that a compaction happened, and where the transcript
// stood: what is counted from now on is counted from there.
func (c *call) postCompact() (host.Reply, error) {
	m, err := c.recall()
	if err != nil || m.Compaction == nil {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(d *desk) error {
		k := d.mem.Compaction
		if k == nil {
			return nil
		}
		if k.Sub {
			d.mem.Compaction, d.dirty = nil, true
			return nil
		}
		return d.confirm()
	})
}

// confirm marks the compaction as done and spends the boundary that opened the
// gate: an attempt that was allowed may still fail. Both SessionStart(compact)
// and PostCompact prove it; the first one counts.
func (d *desk) confirm() error {
	k := d.mem.Compaction
	size := fileSize(d.c.in.Transcript)
	d.mem.Offset, d.dirty = size, true
	if k.Status == done {
		return nil
	}
	k.Status = done
	d.mem.Compactions = k.N
	k.step(compact.Finished{}, d.c.now)
	d.watch(host.Compacted{At: k.At, Before: k.Before, After: -1, Ours: k.Trigger == "auto"}, compact.Settings{})
	return d.tx.Emit(store.On(message.EventSessionCompactConfirm, "n", k.N, "trigger", k.Trigger, "transcriptSize", size))
}

func fileSize(path string) int64 {
	if path == "" {
		return 0
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// deliverAfterCompact is SessionStart after a compaction: the saved text goes to
// the model, once.
func (c *call) deliverAfterCompact() (host.Reply, error) {
	if c.watcherOwns() {
		return host.Reply{}, errQuiet
	}
	var r host.Reply
	err := c.update(func(d *desk) error {
		d.see()
		k := d.mem.Compaction
		if k != nil && k.Sub {
			return nil
		}
		feature, tasks := c.tasks(d.state, message.PendingTasks)
		if err := d.tie(feature); err != nil {
			return err
		}
		if k != nil && k.Status == failed {
			k = nil
		}
		if k == nil && d.state != nil && d.state.Active {
			// PreCompact did not run, or its memory is gone: the state is not.
			set := c.settings()
			k = &compaction{N: d.mem.Compactions + 1, At: c.now, Status: begun}
			receipt := compact.NewReceipt(d.packet(k.N, set, d.recovery(), nil))
			k.Receipt = &receipt
			d.mem.Compaction, d.dirty = k, true
		}
		if k == nil {
			r.Context, r.System = tasks, tasks
			return nil
		}
		if err := d.confirm(); err != nil {
			return err
		}
		return d.deliver(compact.ViaSessionStart, &r)
	})
	return r, err
}

// deliver hands the text over and writes the receipt.
func (d *desk) deliver(via compact.Channel, r *host.Reply) error {
	k := d.mem.Compaction
	if k == nil || k.Receipt == nil {
		return nil
	}
	id, text := k.Receipt.ID, k.Receipt.Text
	d.dirty = true
	if !k.step(compact.Opening{Via: via}, d.c.now) {
		if k.Receipt.State == compact.Expired {
			return d.tx.Emit(store.On(message.EventPacketExpired, "id", id, "n", k.N))
		}
		return nil
	}
	r.Context, r.System = text, text
	return d.tx.Emit(store.On(message.EventSessionRecovery, "n", k.N, "id", id, "via", via))
}

// settleCompaction runs at the next main-thread hook after a compaction: one
// that nothing confirmed has failed, one that was not delivered is delivered
// with the next prompt, and a session that goes on has what was handed to it.
func (d *desk) settleCompaction(event string, r *host.Reply) error {
	k := d.mem.Compaction
	if k == nil || k.settled() {
		return nil
	}
	d.dirty = true
	switch {
	case k.Sub:
		d.mem.Compaction = nil
		return nil
	case k.Status == begun:
		k.Status = failed
		k.step(compact.Failed{Reason: "not confirmed"}, d.c.now)
		if d.state == nil {
			return nil
		}
		return d.tx.Emit(store.On(message.EventSessionCompactFailed, "n", k.N, "trigger", k.Trigger))
	case k.Receipt.State == compact.Delivering:
		id := k.Receipt.ID
		k.step(compact.Arrived{ID: id}, d.c.now)
		return d.tx.Emit(store.On(message.EventPacketDelivered, "id", id, "n", k.N, "via", k.Receipt.Via))
	case event == "user-prompt-submit":
		return d.deliver(compact.ViaPrompt, r)
	}
	return nil
}

// suggest is 000's suggestion: after a PASS, and at most every few stages.
// Whatever it cannot find out means no suggestion, and never an error.
func (d *desk) suggest(out workflow.Outcome) (string, error) {
	if out.Result != "pass" || !d.state.Active || out.Kind == workflow.RolledBack || out.Kind == workflow.Redelegate {
		return "", nil
	}
	in, err := d.suggestInput()
	if err != nil {
		return "", nil //nolint:nilerr // 000: degrade silently
	}
	s := compact.Suggest(in)
	if !s.Suggest {
		return "", nil
	}
	err = d.tx.Emit(store.On(message.EventSessionCompactSuggest, "transcriptSize", s.Size, "reason", s.Reason,
		"stage", out.Stage, "agent", out.Agent))
	if err != nil {
		return "", nil //nolint:nilerr // as above
	}
	return compact.SuggestText(s.Size, d.c.lang), nil
}

// searchBytes is how far back a compaction is looked for, at least: some
// milliseconds. Beyond the threshold it only makes the number shown exact.
const searchBytes = 8 << 20

// size is the bytes of the main transcript since its last compaction. The hooks
// know where that was; for a compaction from before their time the end of the
// file is searched, once.
func (d *desk) size() (int64, bool) {
	path := d.c.in.Transcript
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	if d.mem.Offset == 0 && !d.mem.Searched && info.Size() > d.c.cfg.Compact.ThresholdBytes {
		d.mem.Searched, d.dirty = true, true
		if since, err := transcript.BytesSinceCompaction(path, max(searchBytes, d.c.cfg.Compact.ThresholdBytes)); err == nil && since.Compacted {
			d.mem.Offset = info.Size() - since.Bytes
		}
	}
	if d.mem.Offset > info.Size() {
		// Another file than the one we knew.
		d.mem.Offset, d.dirty = 0, true
	}
	return info.Size() - d.mem.Offset, true
}

func (d *desk) suggestInput() (compact.SuggestInput, error) {
	cfg := d.c.cfg.Compact
	in := compact.SuggestInput{
		ThresholdBytes: cfg.ThresholdBytes, MinStages: cfg.MinStagesSinceCompact,
		Pending: d.state.HasPending(),
	}
	in.Size, in.SizeKnown = d.size()
	return in, CountStages(d.c.sess, &in)
}

// CountStages fills in how many stages were completed since the last compaction
// and the last suggestion. A compaction that failed does not count. A damaged
// timeline is an error: what stood in it is not known. It is looked for only
// when all else is in favour, as that reads every line.
func CountStages(sess *store.Session, in *compact.SuggestInput) error {
	if err := countStages(sess, in); err != nil || !compact.Suggest(*in).Suggest {
		return err
	}
	_, stats, err := sess.Last(math.MaxInt, store.Filter{})
	if err == nil && stats.Bad > 0 {
		err = fmt.Errorf("timeline of session %s: %d damaged lines", sess.ID(), stats.Bad)
	}
	return err
}

func countStages(sess *store.Session, in *compact.SuggestInput) error {
	void, stages := 0, 0
	filter := store.Filter{Types: []string{message.EventStageComplete, message.EventSessionCompact, message.EventSessionCompactFailed, message.EventSessionCompactSuggest}}
	for e, err := range sess.Newest(filter) {
		if err != nil {
			return err
		}
		switch e.Type {
		case message.EventStageComplete:
			stages++
		case message.EventSessionCompactFailed:
			void++
		case message.EventSessionCompactSuggest:
			if !in.Suggested {
				in.Suggested, in.SinceSuggest = true, stages
			}
		case message.EventSessionCompact:
			if void > 0 {
				void--
				continue
			}
			in.Compacted, in.SinceCompact = true, stages
			return nil
		}
	}
	return nil
}
