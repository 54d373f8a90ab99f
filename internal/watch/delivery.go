package watch

import (
	"bytes"
	"context"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// delivery is a packet on its way, for the drivers that take one step after the other
// and wait for each. Codex's threads have a cycle instead.
type delivery struct {
	*conversation
	session.Delivery
}

// step moves the receipt and reports whether the packet is to go out.
func (d *delivery) step(e compact.ReceiptEvent) (out bool) {
	d.Receipt, out = d.Receipt.Step(e, d.opts.Now())
	return out
}

func (d *delivery) save(events ...store.Event) error {
	return d.saveDelivery(d.Delivery, false, events...)
}

// begin writes the delivery of a packet down, before the compaction is asked for.
func (s *conversation) begin(packet compact.Packet) (*delivery, error) {
	d := &delivery{s, session.Delivery{Trigger: packet.ID, Receipt: compact.NewReceipt(packet), Quiet: packet.Wait}}
	d.step(compact.Started{})
	err := d.save(store.On(message.EventPacketCreated, "packet", packet.ID))
	if err == nil {
		s.report("compact", message.WatchCompacting, s.decision.Reason.In(s.opts.Words))
	}
	return d, err
}

// handOver has the packet put into the conversation. An error of send leaves it open: the
// next look tells whether it arrived.
func (d *delivery) handOver(via compact.Channel, send func() error) (sent bool, err error) {
	if !d.step(compact.Opening{Via: via}) {
		d.void(reasonExpired)
		return false, nil
	}
	if d.save() != nil {
		return false, nil //nolint:nilerr // reported; without a delivery on disk nothing is handed over
	}
	if err := send(); err != nil {
		return false, err
	}
	what, text := "delivered", message.WatchDelivered
	if d.Quiet {
		what, text = "left", message.WatchLeft
	}
	_ = d.arrived(store.On(message.EventPacketDelivered, "packet", d.Receipt.ID, "via", string(via)))
	d.report(what, text, d.Receipt.ID)
	return true, nil
}

// finished: the compaction is done. The packet is written anew in the knowledge of its
// summary; where its user has spoken meanwhile, it opens no turn.
func (d *delivery) finished(compaction string, spoke func() bool) {
	d.step(compact.Finished{Compaction: compaction})
	if text, basis := d.rewritten(); text != "" {
		d.Receipt = d.Receipt.Rewrite(text, basis)
	}
	if !d.Quiet && spoke() {
		d.Quiet, d.Receipt = true, d.Receipt.Rewrite(d.waiting, d.Receipt.Basis)
	}
}

// arrived notes that the packet is in the conversation.
func (d *delivery) arrived(events ...store.Event) error {
	d.step(compact.Arrived{ID: d.Receipt.ID})
	return d.save(events...)
}

// drop closes the delivery without its packet.
func (d *delivery) drop(r reason, events ...store.Event) error {
	d.step(compact.Missing{ID: d.Receipt.ID})
	d.step(compact.Failed{Reason: string(r)})
	return d.save(events...)
}

// void gives the packet up, and says so.
func (d *delivery) void(r reason) {
	_ = d.drop(r, store.On(message.EventSessionCompactFailed, "packet", d.Receipt.ID, "reason", string(r)))
	d.failed(r)
	d.report("void", message.WatchVoid, d.Receipt.ID, reasonText(r).In(d.opts.Words))
}

// adopt deals with a packet that an earlier run, or an error, left open. It is true where
// the transcript shows that the compaction worked and the packet is still to be handed over.
func (d *delivery) adopt(ctx context.Context, path string) (open bool) {
	d.report("adopted", message.WatchAdopted, d.Receipt.ID)
	switch trail := readTrail(ctx, path, d.Receipt.ID, d.Receipt.Created); {
	case trail.arrived:
		_ = d.arrived() // reported
	case trail.compacted && !trail.wentOn:
		d.step(compact.Missing{ID: d.Receipt.ID})
		d.step(compact.Finished{Compaction: d.Receipt.ID})
		return true
	case trail.compacted:
		d.void(reasonSuperseded)
	default:
		d.void(reasonNotStarted)
	}
	return false
}

// trail is what a transcript shows of a compaction.
type trail struct {
	compacted bool // there was one after the packet was written
	arrived   bool // the packet is in the conversation
	wentOn    bool // the agent has spoken since
}

func readTrail(ctx context.Context, path, packet string, since time.Time) (t trail) {
	_ = transcript.AllEvents(ctx, path, func(e *transcript.Event) { // a file that is not there shows nothing
		switch e.Kind {
		case transcript.Compacted:
			if !transcript.Time(e.Time).Before(since) {
				t = trail{compacted: true}
			}
		case transcript.AgentSaid, transcript.ToolBegan:
			t.wentOn = t.compacted
		case transcript.UserSaid, transcript.HostSaid:
			t.arrived = t.arrived || t.compacted && bytes.Contains(e.Raw, []byte(packet))
		}
	})
	return t
}
