package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

type shownRow struct {
	ID string `json:"id"`
	// Info is null for a session that only our own files know.
	Info   any       `json:"info"`
	Work   *progress `json:"work,omitempty"`
	Unused bool      `json:"unused,omitempty"` // see [Row]

	modified time.Time
	stamp    uint64
	version  int // of the list, when it last changed
}

type progress struct {
	Type       string `json:"type"`
	Phase      string `json:"phase"`
	Stage      string `json:"stage,omitempty"`
	Active     bool   `json:"active"`
	Done       int    `json:"done"`
	Total      int    `json:"total"`
	Agents     int    `json:"agents"`
	Unverified int    `json:"unverified"`
	Failed     int    `json:"failed"`
}

func progressOf(s *workflow.State) *progress {
	if s == nil || s.WorkflowType == "" {
		return nil
	}
	done, total := s.Progress()
	// Where agents are at work, that is where it stands, not at the stage after them.
	var at []string
	for _, a := range s.ActiveAgents.All() {
		if a.Stage != "" && !slices.Contains(at, a.Stage) {
			at = append(at, a.Stage)
		}
	}
	return &progress{
		s.WorkflowType, s.Phase(), cmp.Or(strings.Join(at, " ∥ "), s.CurrentStage), s.Active, done, total, s.ActiveAgents.Len(), s.Unverified(), s.FailCount + s.RejectCount,
	}
}

// lister keeps the list of sessions, so that any number of streams cost one look.
type lister struct {
	server *Server
	mu     sync.Mutex
	at     time.Time
	rows   []shownRow
	files  map[string]Row
	known  map[string]seenWork
	// version counts the lists that differ from the one before; pages say which
	// one they have.
	version int
	had     map[string]shownRow
	gone    map[string]int
}

type seenWork struct {
	modified time.Time
	work     *progress
}

const listAge = 1500 * time.Millisecond

// get is the list, the newest session first, and the files by id.
func (l *lister) get(ctx context.Context) ([]shownRow, map[string]Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.server
	now := s.Now()
	if l.files != nil && now.Sub(l.at) < listAge && !now.Before(l.at) {
		return l.rows, l.files, nil
	}
	files, err := s.Sessions(ctx)
	if err != nil {
		return nil, nil, err
	}
	ours, err := l.works()
	if err != nil {
		return nil, nil, err
	}
	rows := make([]shownRow, 0, len(files)+len(ours))
	byID := make(map[string]Row, len(files))
	for _, f := range files {
		if _, twice := byID[f.ID]; twice {
			continue
		}
		byID[f.ID] = f
		rows = append(rows, shownRow{ID: f.ID, Info: f.Info, Work: ours[f.ID].work, Unused: f.Unused, modified: f.ModTime})
	}
	for id, w := range ours {
		if _, listed := byID[id]; !listed {
			rows = append(rows, shownRow{ID: id, Work: w.work, modified: w.modified})
		}
	}
	// What is at work comes first, as that is what people come to see.
	slices.SortStableFunc(rows, func(a, b shownRow) int {
		x, y := a.Work != nil && a.Work.Active, b.Work != nil && b.Work.Active
		switch {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return b.modified.Compare(a.modified)
	})
	l.compare(rows)
	l.rows, l.files, l.at = rows, byID, now
	return rows, byID, nil
}

// compare notes which rows are other than before.
func (l *lister) compare(rows []shownRow) {
	next := l.version + 1
	had := make(map[string]shownRow, len(rows))
	if l.gone == nil {
		l.gone = map[string]int{}
	}
	for i := range rows {
		row := &rows[i]
		text, _ := json.Marshal(row) // what does not encode is told when it is sent
		row.stamp, row.version = stamp(text), next
		if old, ok := l.had[row.ID]; ok && old.stamp == row.stamp {
			row.version = old.version
		} else {
			l.version = next
		}
		had[row.ID] = *row
		delete(l.gone, row.ID)
	}
	for id := range l.had {
		if _, ok := had[id]; !ok {
			l.gone[id], l.version = next, next
		}
	}
	l.had = had
}

// since is what is new to a page that has an earlier version of the list.
func (l *lister) since(ctx context.Context, version int) (changed []shownRow, gone []string, now int, err error) {
	rows, _, err := l.get(ctx)
	if err != nil {
		return nil, nil, version, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, gone = []shownRow{}, []string{}
	for _, row := range rows {
		if row.version > version {
			changed = append(changed, row)
		}
	}
	for id, v := range l.gone {
		if v > version {
			gone = append(gone, id)
		}
	}
	return changed, gone, l.version, nil
}

// works are the workflows of our own sessions; unchanged ones are not read again.
func (l *lister) works() (map[string]seenWork, error) {
	list, err := l.server.Store.Sessions()
	if err != nil {
		return nil, err
	}
	known := make(map[string]seenWork, len(list))
	for _, info := range list {
		w, ok := l.known[info.ID]
		if !ok || !w.modified.Equal(info.Modified) || w.work != nil && w.work.Active {
			w = seenWork{modified: info.Modified}
			if sess, err := l.server.Store.Session(info.ID); err == nil {
				// A state that cannot be read is shown where it is looked at.
				state, _ := session.Peek(sess)
				w.work = progressOf(state)
			}
		}
		known[info.ID] = w
	}
	l.known = known
	return known, nil
}

func (s *Server) sessions(r *http.Request) (any, error) {
	rows, _, version, err := s.list.since(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	return object{"schema": 1, "version": version, "sessions": rows}, nil
}

// state is what the page needs to know before anything else.
func (s *Server) state(r *http.Request) (any, error) {
	lang := s.lang(r)
	var events []object
	for _, typ := range message.EventTypes() {
		text, _ := message.EventLabel(typ)
		events = append(events, object{"type": typ, "category": message.EventCategory(typ), "label": text.In(lang)})
	}
	cfg := s.Config()
	set, _ := session.Settings(s.Store, cfg.Compact)
	// Where each tier of urgency begins, in percent of the window that is free.
	tiers := []object{
		{"name": "early", "remaining": set.Trigger.EarlyPercentRemainingLT},
		{"name": "ready", "remaining": set.Trigger.ReadyPercentRemainingLT},
		{"name": "asap", "remaining": set.Trigger.AsapPercentRemainingLT},
		{"name": "emergency", "remaining": set.Trigger.EmergencyPercentRemainingLT},
	}
	return object{
		"schema": 1, "version": s.Version, "lang": lang, "texts": message.DashboardTexts(lang), "events": events,
		"tiers": tiers, "mode": set.Mode, "audit": s.Audit != nil, "fleet": s.hasFleet(),
	}, nil
}

func stamp(parts ...[]byte) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}
