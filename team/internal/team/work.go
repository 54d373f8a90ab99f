package team

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Work is where a session's work stands on its machine: the packet that it would
// be told now, its workflow and its reports. It is content, so it leaves only
// where the project is shared, redacted and encrypted; the conversation itself
// leaves only by a push.
type Work struct {
	Manifest
	session.Parcel
}

// workEvery is how often the work of one session is published at most: each time
// it goes out whole.
const workEvery = 10 * time.Second

func workName(id string) string { return "work/" + id }

// work publishes where a session stands, unless the hub has it.
func (s *Shipper) work(ctx context.Context, sess *store.Session) error {
	p, err := session.Pack(sess)
	if err != nil {
		return nil //nolint:nilerr // a state that cannot be read is for `overtone doctor`
	}
	sum := digestOf(p)
	if s.cur.Work[sess.ID()] == sum {
		return nil
	}
	at := findPlace(sess, s.Dir)
	man := Manifest{
		Schema: 1, Session: sess.ID(), Host: at.Host, Machine: s.Set.Machine, At: s.Now().UTC(), Folder: at.Cwd,
		Packet: redact.Clean(packetNow(sess, s.Settings, s.Lang, s.Now())),
	}
	if err := s.hub.putObject(ctx, workName(sess.ID()), func(w io.Writer) error { return writeBundle(w, man, "", 0, p) }); err != nil {
		return err
	}
	if s.cur.Work == nil {
		s.cur.Work = map[string]string{}
	}
	s.cur.Work[sess.ID()] = sum
	return s.cur.save(s.Home.Root())
}

// unshare takes back what was published of a session whose project is no longer
// shared.
func (s *Shipper) unshare(ctx context.Context, id string) error {
	if s.cur.Work[id] == "" {
		return nil
	}
	if err := s.hub.dropObject(ctx, workName(id)); err != nil {
		return err
	}
	delete(s.cur.Work, id)
	return s.cur.save(s.Home.Root())
}

func digestOf(p session.Parcel) string {
	sum := sha256.New()
	add := func(name string, data []byte) { fmt.Fprintf(sum, "%s %d\n%s\n", name, len(data), data) }
	add("workflow", p.Workflow)
	add("memory", p.Memory)
	for _, name := range slices.Sorted(maps.Keys(p.Reports)) {
		add("report/"+name, p.Reports[name])
	}
	return base64.RawStdEncoding.EncodeToString(sum.Sum(nil)[:12])
}

// packetNow is what a session would be told after a compaction: where the work
// stands, and what is next.
func packetNow(s *store.Session, set compact.Settings, lang message.Lang, now time.Time) string {
	mem := session.Read(s)
	var next []string
	if wf, err := session.Peek(s); err == nil && wf != nil && wf.Active {
		if step := workflow.NextStep(wf, lang); step != "" {
			next = append(next, step)
		}
	}
	if mem.Thread.Empty() && len(next) == 0 {
		return ""
	}
	facts := handover.FactsOf(mem.Thread, s.ID()+"/moved", mem.Compactions+1, now, next...)
	facts.Moved = true
	return handover.Write(facts, set, lang).Text
}

func (h *Hub) readWork(ctx context.Context, info objectInfo) (w Work, err error) {
	err = h.readObject(ctx, info, func(r io.Reader) (err error) {
		w.Manifest, w.Parcel, err = readBundle(r, io.Discard)
		return err
	})
	return w, err
}
