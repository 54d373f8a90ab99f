package hook

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// compaction is one attempt of the host to compact the main thread, and the
// receipt of what was handed back afterwards.
type compaction struct {
	N         int    `json:"n"`
	Trigger   string `json:"trigger,omitempty"`
	At        string `json:"at"`
	Text      string `json:"text,omitempty"` // what the model gets back
	Status    string `json:"status"`         // begun, done, failed
	Delivered string `json:"delivered,omitempty"`
	Via       string `json:"via,omitempty"`
	Sub       bool   `json:"sub,omitempty"` // of a sub-agent: not ours to act on
}

const (
	begun  = "begun"
	done   = "done"
	failed = "failed"
)

// settled: nothing is left to do about it.
func (k *compaction) settled() bool {
	return k.Status == failed || k.Status == done && (k.Delivered != "" || k.Text == "")
}

// preCompact saves what must survive, records the attempt, and prints it. The
// host's compaction is never stopped by an error here.
func (c *call) preCompact() (reply, error) {
	s, err := Peek(c.sess)
	if err != nil || s == nil && c.host == "" {
		return reply{}, err
	}
	var r reply
	err = c.update(func(d *desk) error {
		if d.ofSubagent() {
			d.mem.Compaction, d.dirty = &compaction{At: workflow.Stamp(c.now), Status: begun, Sub: true}, true
			return nil
		}
		k := &compaction{N: d.mem.Compactions + 1, Trigger: c.in.text("trigger"), At: workflow.Stamp(c.now), Status: begun}
		d.mem.Compaction, d.dirty = k, true
		if d.state == nil {
			return nil
		}
		if err := d.tx.Emit(store.On(message.EventSessionCompact, "workflowType", d.state.WorkflowType,
			"currentStage", d.state.CurrentStage, "trigger", c.in.text("trigger"))); err != nil {
			return err
		}
		r.System = d.recovery()
		if d.state.Active {
			k.Text = r.System
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return r, nil
}

// ofSubagent tells a sub-agent's own compaction from main's: the host's input is
// the same, so the thread that was last seen at work decides.
func (d *desk) ofSubagent() bool { return d.c.host == claudeCode && d.mem.Thread != "" }

// recovery is 001's text of the session.
func (d *desk) recovery() string {
	s, c := d.state, d.c
	rec := compact.Recovery{
		WorkflowType: s.WorkflowType, Bar: workflow.Bar(s), FailCount: s.FailCount, RejectCount: s.RejectCount,
	}
	if s.CurrentStage != "" {
		rec.Stage = workflow.Describe(s.CurrentStage, c.lang)
	}
	for k, a := range s.ActiveAgents.All() {
		name, _, _ := strings.Cut(k, "#")
		rec.Agents = append(rec.Agents, message.RecoveryAgent.Format(c.lang, name, a.Stage))
	}
	_, rec.Tasks = c.tasks(s, "")
	return rec.Text(c.lang)
}

// postCompact confirms that a compaction happened, and where the transcript
// stood: what is counted from now on is counted from there.
func (c *call) postCompact() (reply, error) {
	m, err := c.recall()
	if err != nil || m.Compaction == nil {
		return reply{}, err
	}
	return reply{}, c.update(func(d *desk) error {
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

// confirm marks the compaction as done. Both SessionStart(compact) and
// PostCompact prove it; the first one counts.
func (d *desk) confirm() error {
	k := d.mem.Compaction
	size := fileSize(d.c.in.text("transcript_path"))
	if k.Status != done {
		k.Status = done
		d.mem.Compactions = k.N
		if err := d.tx.Emit(store.On(message.EventSessionCompactConfirm, "n", k.N, "trigger", k.Trigger, "transcriptSize", size)); err != nil {
			return err
		}
	}
	d.mem.Offset, d.dirty = size, true
	return nil
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
func (c *call) deliverAfterCompact(via string) (reply, error) {
	var r reply
	err := c.update(func(d *desk) error {
		if d.mem.Compaction != nil && d.mem.Compaction.Sub {
			return nil
		}
		if d.mem.Compaction == nil && d.state != nil && d.state.Active {
			// PreCompact did not run, or its memory is gone: the state is not.
			d.mem.Compaction = &compaction{N: d.mem.Compactions + 1, At: workflow.Stamp(c.now), Status: begun, Text: d.recovery()}
		}
		if d.mem.Compaction == nil {
			_, tasks := c.tasks(d.state, "")
			r.Context, r.System = tasks, tasks
			return nil
		}
		if err := d.confirm(); err != nil {
			return err
		}
		return d.deliver(via, &r)
	})
	return r, err
}

// deliver hands the text over and writes the receipt.
func (d *desk) deliver(via string, r *reply) error {
	k := d.mem.Compaction
	if k == nil || k.Delivered != "" || k.Text == "" {
		return nil
	}
	k.Delivered, k.Via, d.dirty = workflow.Stamp(d.c.now), via, true
	r.Context, r.System = k.Text, k.Text
	return d.tx.Emit(store.On(message.EventSessionRecovery, "n", k.N, "via", via))
}

// settleCompaction runs at the next main-thread hook after a compaction: one
// that nothing confirmed has failed, one that was not delivered is delivered
// with the next prompt.
func (d *desk) settleCompaction(event string, r *reply) error {
	k := d.mem.Compaction
	if k == nil || k.settled() {
		return nil
	}
	d.dirty = true
	if k.Sub {
		d.mem.Compaction = nil
		return nil
	}
	if k.Status == begun {
		k.Status, k.Text = failed, ""
		return d.tx.Emit(store.On(message.EventSessionCompactFailed, "n", k.N, "trigger", k.Trigger))
	}
	if event == "user-prompt-submit" {
		return d.deliver(event, r)
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

// size is the bytes of the main transcript since its last compaction. The hooks
// know where that was; for a compaction from before their time the end of the
// file is searched, once.
func (d *desk) size() (int64, bool) {
	path := d.c.in.text("transcript_path")
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	if d.mem.Offset == 0 && !d.mem.Searched && info.Size() > d.c.cfg.Compact.ThresholdBytes {
		d.mem.Searched, d.dirty = true, true
		if since, err := transcript.BytesSinceCompaction(path); err == nil && since.Compacted {
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
		Pending: !d.state.Done(),
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
