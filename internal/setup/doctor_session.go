package setup

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (d *doctor) checkSession(s *store.Session) {
	if s == nil {
		d.add("session", host.Note, message.DoctorNoSession)
		return
	}
	_, stats, err := s.Last(math.MaxInt, store.Filter{})
	switch {
	case err != nil:
		d.add("timeline", host.Broken, message.DoctorUnread, s.ID(), store.TimelineFile, err.Error()).advise(d, message.HintDisk)
	case stats.Bad > 0:
		d.add("timeline", host.Warn, message.DoctorBadLines, s.ID(), stats.Bad).advise(d, message.HintBadLines)
	default:
		d.add("timeline", host.Fine, message.DoctorTimeline, s.ID(), stats.Lines)
	}
	switch state, err := session.Peek(s); {
	case errors.Is(err, workflow.ErrNewer):
		d.add("workflow", host.Broken, message.DoctorUnread, s.ID(), store.WorkflowFile, err.Error()).
			advise(d, message.HintUpgrade, "overtone")
	case err != nil:
		d.add("workflow", host.Broken, message.DoctorUnread, s.ID(), store.WorkflowFile, err.Error()).advise(d, message.HintUnread, s.ID())
	case state != nil:
		d.add("workflow", host.Fine, message.DoctorState)
	}
	memory := session.Read(s)
	if k := memory.Compaction; k != nil {
		d.checkReceipt(s, k)
	} else {
		d.checkPacket(s)
	}
	cfg, _ := d.config() // checkConfig tells its problems
	if t := memory.Thread; cfg.Compact.ContextWindow == 0 && (t.Usage.Least > 0 || t.Usage.Used > 0 && !t.Usage.Known()) {
		model := cmp.Or(t.Model, "?")
		d.add("window", host.Note, message.DoctorGuess, model, message.Thousands(host.SmallWindow)).advise(d, message.HintGuess)
	}
}

// running is how long a compaction may take before nobody believes in it.
const running = 10 * time.Minute

// checkReceipt says what became of the session's last compaction, and of the
// text that was saved for it.
func (d *doctor) checkReceipt(s *store.Session, k *session.Attempt) {
	const id = "receipt"
	n, trigger, r := k.N, cmp.Or(k.Trigger, "?"), cmp.Or(k.Receipt, &compact.Receipt{})
	switch {
	case k.Summarised() && d.Now().Sub(k.At) < running:
		d.add(id, host.Note, message.DoctorRunning, n, trigger)
		return
	case k.Summarised(), k.Status == session.Failed:
		d.add(id, host.Warn, message.DoctorFailed, n, trigger)
		return
	}
	switch r.State {
	case "":
		d.add(id, host.Fine, message.DoctorEmpty, n, trigger)
	case compact.Delivered:
		d.add(id, host.Fine, message.DoctorReceipt, n, trigger, r.Via)
	case compact.Printing, compact.Unknown:
		d.add(id, host.Warn, message.DoctorUnknown, n, trigger).advise(d, message.HintLost, s.ID())
	case compact.Delivering:
		d.add(id, host.Fine, message.DoctorHanded, n, trigger, r.Via)
	case compact.Expired, compact.Dropped:
		d.add(id, host.Warn, message.DoctorLost, n, trigger, cmp.Or(r.Reason, string(r.State))).advise(d, message.HintLost, s.ID())
	default:
		d.add(id, host.Warn, message.DoctorWaiting, n, trigger).advise(d, message.HintWaiting)
	}
}

// checkPacket is checkReceipt for a session whose compactions a watcher drives:
// the timeline has the receipt.
func (d *doctor) checkPacket(s *store.Session) {
	filter := store.Filter{Types: []string{
		message.EventPacketCreated, message.EventPacketDelivered, message.EventPacketExpired, message.EventPacketUnknown,
		message.EventSessionCompactFailed,
	}}
	for e, err := range s.Newest(filter) {
		if err != nil {
			return // told above
		}
		label, _ := message.EventLabel(e.Type)
		text := label.In(d.Lang)
		if t := e.Time(); !t.IsZero() {
			text += " · " + t.Local().Format("01-02 15:04")
		}
		status := host.Warn
		if e.Type == message.EventPacketDelivered {
			status = host.Fine
		}
		f := d.add("receipt", status, message.DoctorPacket, text)
		if status == host.Warn {
			f.advise(d, message.HintLost, s.ID())
		}
		return
	}
	d.add("receipt", host.Note, message.DoctorNoCompact, s.ID())
}
