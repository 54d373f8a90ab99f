package catalog

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// View is what is said of a session by whoever shows it: how full it is, what is
// decided about it and why, which compactions it had and how its work stands. It is
// made in one place, so that no two ways of looking at a session disagree.
type View struct {
	session.Insight
	// Moment is what its file tells; zero where there is none.
	Moment audit.Moment
	// Situation is what a hand-over would say now; nil without a file.
	Situation *compact.Situation
}

// NewView looks at a session. Path names another transcript than the one that hooks
// have seen; file is the host's, where it has one.
func NewView(ctx context.Context, home *store.Home, sess *store.Session, file transcript.File, path string, cfg config.Config, now time.Time) (View, error) {
	var v View
	var err error
	v.Insight, err = session.Explain(home, sess, cfg.Compact, now, path, file.Path, func(path string, in *compact.Input) bool {
		if path == "" {
			return false
		}
		at, err := transcript.At(path)
		if err != nil {
			return false
		}
		v.Moment = momentOf(ctx, home, at, cfg.Prices, in)
		if s, err := Stands(ctx, at); err == nil {
			v.Situation = &s
		}
		h, known := host.Named(string(at.Host))
		return known && h.Gates
	})
	return v, err
}

// momentOf reads where a session stands from its file, and fills in what no hook has
// observed.
func momentOf(ctx context.Context, home *store.Home, file transcript.File, prices map[string]config.Price, in *compact.Input) audit.Moment {
	m, err := audit.Now(ctx, file, in.Settings, home.Window, prices)
	if err != nil {
		return audit.Moment{}
	}
	// A clone that was not used since has reported nothing yet.
	if made, ok := compress.ClonesIn(home.Root()).All()[file.ID]; ok && unused(made, file) {
		if s, err := transcript.Read(ctx, file.Path); err == nil {
			m.Context, m.Window = cmp.Or(made.Tokens, recall.Estimate(s)), cmp.Or(in.Usage.Window, m.Window)
			m.Last, m.Expires, m.Repaid, m.Signals = time.Time{}, time.Time{}, 0, 0
			in.Usage = compact.Usage{}
		}
	}
	if !in.Usage.Known() && m.Context > 0 {
		in.Usage = compact.Usage{Used: m.Context, Window: cmp.Or(int64(in.Settings.ContextWindow), m.Window)}
	}
	if in.Signals == 0 && len(in.History) == 0 {
		in.Signals, in.History = m.Signals, m.History()
	}
	return m
}
