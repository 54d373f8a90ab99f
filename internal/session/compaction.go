package session

import (
	"os"
	"strconv"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Attempt is one attempt of the host to compact the main thread, with the
// receipt of what is handed back afterwards.
type Attempt struct {
	N       int              `json:"n"`
	Trigger string           `json:"trigger,omitempty"`
	Turn    string           `json:"turn,omitempty"` // the host's name for its turn
	At      time.Time        `json:"at"`
	Status  string           `json:"status"` // begun, done, failed
	Receipt *compact.Receipt `json:"receipt,omitempty"`
	Before  int64            `json:"before,omitempty"` // tokens
	// By is the process that prints the packet, PrintAt when it began.
	By      int       `json:"by,omitempty"`
	PrintAt time.Time `json:"printAt,omitzero"`
	// From is where the session's file is read from to find the slice, Mark how far
	// it had been handed over before.
	From int64 `json:"from,omitempty"`
	Mark Mark  `json:"mark,omitzero"`
	// Typed is what was typed behind /compact; the session's file tells it too late.
	Typed string `json:"said,omitempty"`
}

// Summarised reports whether the host may tell the summary of the main thread's
// compaction now.
func (k *Attempt) Summarised() bool { return k != nil && k.Status == begun }

// How far a compaction is.
const (
	begun  = "begun"
	done   = "done"
	Failed = "failed"
)

// settled: nothing is left to do about it.
func (k *Attempt) settled() bool {
	return k.Status == Failed || k.Status == done && (k.Receipt == nil || k.Receipt.State.Final())
}

// step moves the receipt; true means that the text is to be handed out now.
func (k *Attempt) step(e compact.ReceiptEvent, now time.Time) bool {
	if k.Receipt == nil {
		return false
	}
	r, out := k.Receipt.Step(e, now)
	k.Receipt = &r
	return out
}

// repeat: hosts may ask more than once for one compaction.
const repeat = 10 * time.Second

// Repeated reports whether the host has just begun to compact already.
func (tx *Tx) Repeated() bool {
	k := tx.Memory.Compaction
	return k != nil && k.Status == begun && tx.o.Now.Sub(k.At) < repeat
}

// BeginCompaction records an attempt; packet is what is to survive it.
func (tx *Tx) BeginCompaction(trigger string, packet compact.Packet) *Attempt {
	k := &Attempt{N: tx.Memory.Compactions + 1, Trigger: trigger, At: tx.o.Now, Status: begun}
	if packet.Text != "" {
		k.Receipt = new(compact.NewReceipt(packet))
		k.step(compact.Started{}, tx.o.Now)
	}
	tx.Memory.Compaction = k
	return k
}

// Confirm marks the compaction as done and spends the boundary that opened the
// gate: an attempt that was allowed may still fail. Both SessionStart(compact)
// and PostCompact prove it; the first one counts. What is counted from now on is
// counted from the transcript's present end.
func (tx *Tx) Confirm(transcript string) error {
	k := tx.Memory.Compaction
	size := FileSize(transcript)
	tx.Memory.Offset, tx.Memory.Noise = size, Noise{Read: size}
	if k.Status == done {
		return nil
	}
	k.Status = done
	tx.Memory.Compactions = k.N
	k.step(compact.Finished{}, tx.o.Now)
	tx.Observe(host.Compacted{ID: k.Turn, At: k.At, Before: k.Before, After: -1, Ours: k.Trigger == "auto"}, compact.Settings{})
	// A hook that was killed after this line has left no other trace of it.
	e, ok, err := tx.Session().Latest(message.EventSessionCompactConfirm)
	if err == nil && ok && e.Text("n") == strconv.Itoa(k.N) && !e.Time().Before(k.At.Truncate(time.Millisecond)) {
		return nil
	}
	return tx.Emit(store.On(message.EventSessionCompactConfirm, "n", k.N, "trigger", k.Trigger, "transcriptSize", size))
}

// FileSize is how long a file is, 0 for one that is not there.
func FileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Deliver hands out what survived the compaction, once; "" where it was handed out
// before, or is too old. The caller prints it and tells [Acknowledge].
func (tx *Tx) Deliver(via compact.Channel) (string, error) {
	k := tx.Memory.Compaction
	if k == nil || k.Receipt == nil {
		return "", nil
	}
	id, text := k.Receipt.ID, k.Receipt.Text
	if !k.step(compact.Opening{Via: via}, tx.o.Now) {
		if k.Receipt.State != compact.Expired {
			return "", nil
		}
		return "", tx.Emit(store.On(message.EventPacketExpired, "id", id, "n", k.N))
	}
	if err := tx.keepHanded(Handed{N: k.N, ID: id, Basis: k.Receipt.Basis, Text: text, Summary: tx.summary()}); err != nil {
		tx.o.Warn(err)
	}
	k.By, k.PrintAt = os.Getpid(), tx.o.Now
	return text, nil
}

// Settle runs at the next hook of the main thread after a compaction: one that
// nothing confirmed has failed, one that was not delivered is delivered with the
// next prompt (the text it returns), and a session that goes on has what was
// handed to it.
func (tx *Tx) Settle(prompt bool) (string, error) {
	k := tx.Memory.Compaction
	if k == nil || k.settled() {
		return "", nil
	}
	switch {
	case k.Status == begun:
		k.Status = Failed
		k.step(compact.Failed{Reason: "not confirmed"}, tx.o.Now)
		if tx.Workflow == nil {
			return "", nil
		}
		return "", tx.Emit(store.On(message.EventSessionCompactFailed, "n", k.N, "trigger", k.Trigger))
	case k.Receipt.State == compact.Printing && printing(k.By, k.PrintAt, tx.o.Now):
		return "", nil
	case k.Receipt.State == compact.Printing:
		id := k.Receipt.ID
		k.step(compact.Doubted{}, tx.o.Now)
		tx.Leave(Message{Model: message.PacketUnknown.Format(tx.o.Lang, id, tx.Session().ID())})
		return "", tx.Emit(store.On(message.EventPacketUnknown, "id", id, "n", k.N, "via", k.Receipt.Via))
	case k.Receipt.State == compact.Delivering:
		id := k.Receipt.ID
		k.step(compact.Arrived{ID: id}, tx.o.Now)
		return "", tx.Emit(store.On(message.EventPacketDelivered, "id", id, "n", k.N, "via", k.Receipt.Via))
	case prompt:
		return tx.Deliver(compact.ViaPrompt)
	}
	return "", nil
}
