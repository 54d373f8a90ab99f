package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// resume deals with a packet that an earlier run of this session left open.
func (w *Claude) resume(ctx context.Context) error {
	if w.Session == "" || w.Transcript == nil || w.DryRun {
		return nil
	}
	s, err := newConversation(w.Session, host.ClaudeCode, w.Command.Dir, w.Options)
	if err != nil || !s.own.Delivery.Open() {
		return nil
	}
	ok, rec := s.leaseDelivery()
	defer s.giveBack()
	if !ok || !rec.Open() {
		return nil
	}
	s.report("adopted", message.WatchAdopted, rec.Receipt.ID)
	now := w.Now()
	step := func(e compact.ReceiptEvent) (ok bool) {
		rec.Receipt, ok = rec.Receipt.Step(e, now)
		return ok
	}
	trail := readTrail(w.Transcript(w.Session), rec.Receipt.ID, rec.Receipt.Created)
	reason := reasonNotStarted
	switch {
	case trail.arrived:
		step(compact.Arrived{ID: rec.Receipt.ID})
		s.storeProblem(s.saveDelivery(rec, false))
		return nil
	case trail.compacted && trail.wentOn:
		reason = reasonSuperseded
	case trail.compacted:
		step(compact.Missing{ID: rec.Receipt.ID})
		step(compact.Finished{Compaction: rec.Receipt.ID})
		if rec.Quiet {
			return w.leave(s, rec)
		}
		if step(compact.Opening{Via: compact.ViaQueue}) {
			if s.saveDelivery(rec, false) != nil {
				return nil
			}
			return w.deliver(ctx, rec)
		}
		reason = reasonExpired
	}
	step(compact.Missing{ID: rec.Receipt.ID})
	step(compact.Failed{Reason: string(reason)})
	s.storeProblem(s.saveDelivery(rec, false))
	s.report("void", message.WatchVoid, rec.Receipt.ID, reasonText(reason).In(s.opts.Words))
	return nil
}

// trail is what a transcript shows of a compaction.
type trail struct {
	compacted bool // there was one after the packet was written
	arrived   bool // the packet is in the conversation
	wentOn    bool // the agent has spoken since
}

func readTrail(path, packet string, since time.Time) trail {
	var t trail
	f, err := os.Open(path)
	if err != nil {
		return t
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil && !errors.Is(err, errTooLong) {
			return t
		}
		var e struct {
			Type    string    `json:"type"`
			Subtype string    `json:"subtype"`
			Time    time.Time `json:"timestamp"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch {
		case e.Subtype == "compact_boundary" && !e.Time.Before(since):
			t = trail{compacted: true}
		case t.compacted && e.Type == "assistant":
			t.wentOn = true
		case t.compacted && e.Type == "user" && bytes.Contains(line, []byte(packet)):
			t.arrived = true
		}
	}
}
