package hook

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// readPast is how long the slice may be read: far more than a long one takes on a
// busy machine, far less than a host waits for its hook.
const readPast = 2 * time.Second

// past reads the slice that a compaction took out of the context. What cannot be
// read leaves what was saved.
func (c *call) past(m session.Memory) session.Past {
	k := m.Compaction
	empty := session.Past{Record: handover.NewRecord(c.projectRoot())}
	if !c.host.Delivers || k == nil || k.Status == session.Failed || c.in.Transcript == "" {
		return empty
	}
	ctx, cancel := context.WithTimeout(context.Background(), readPast)
	defer cancel()
	past, err := session.ReadPast(ctx, c.sess, c.in.Transcript, c.projectRoot(), *k, m.Thread.Words)
	if err != nil {
		// A file that is gone or is no session has nothing to tell.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, transcript.ErrUnknown) {
			c.complain("handover", err)
		}
		return empty
	}
	past.Tree = session.AskTree(c.projectRoot(), past.Record.Began(), c.env.Getenv)
	return past
}

// handover is what a hand-over is written from, beside the slice and its summary.
func (c *call) handover(tx *session.Tx, k *session.Attempt, past session.Past) handover.Handover {
	id := c.packetSession()
	if t := &tx.Memory.Thread; tx.Memory.Threads.Resting {
		past.Record.Rested(t.State.Slice.Last)
	}
	h := handover.Handover{
		ID: compact.PacketID(id, k.N), Session: c.sess.ID(), Lang: c.told(past.Record.Words),
		Work: handover.WorkOf(tx.Memory.Thread, past.Record, c.nextSteps(tx, c.openTasks(tx))...), Manual: k.Trigger == "manual",
	}
	h.Work.Tree = past.Tree
	if k.N > 1 {
		h.Replaces = compact.PacketID(id, k.N-1)
	}
	return h
}

// told is the language of what is handed over.
func (c *call) told(w compact.Words) message.Lang {
	if c.host.Name == "" {
		return c.lang
	}
	return message.Told(c.lang, c.cfg.Chosen, w.Lang(), c.env.Getenv)
}
