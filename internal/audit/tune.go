package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Trial is a setting of the tiers, and what it would have come to.
type Trial struct {
	Early  float64 `json:"early"`
	Ready  float64 `json:"ready"`
	Asap   float64 `json:"asap"`
	WhatIf WhatIf  `json:"whatIf"`
	// Frontier: no other trial interrupts as rarely with fewer compactions. Chosen is
	// the one that is advised, Now the one in force.
	Frontier bool `json:"frontier"`
	Chosen   bool `json:"chosen"`
	Now      bool `json:"now"`
}

// all is how many compactions a trial would have made.
func (t *Trial) all() int { return t.WhatIf.policy() }

func (t *Trial) name() string { return fmt.Sprintf("%g / %g / %g", t.Early, t.Ready, t.Asap) }

// Tune plays settings of the tiers over the sessions, the one in force first. It advises
// the fewest compactions that interrupt no more often than those of the one in force.
func Tune(ctx context.Context, o Options) ([]Trial, *Report, error) {
	now := o.Settings.Trigger
	tiers := [][3]float64{{now.EarlyPercentRemainingLT, now.ReadyPercentRemainingLT, now.AsapPercentRemainingLT}}
	for early := 85.0; early >= 35; early -= 10 {
		for _, step := range [...]float64{10, 15, 0} {
			tiers = append(tiers, [3]float64{early, early - step, max(early-2*step, 5)})
		}
	}
	var (
		trials []Trial
		first  *Report
	)
	for _, t := range tiers {
		set := &o.Settings.Trigger
		set.EarlyPercentRemainingLT, set.ReadyPercentRemainingLT, set.AsapPercentRemainingLT = t[0], t[1], t[2]
		r, _, err := Run(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = r
		}
		trials = append(trials, Trial{Early: t[0], Ready: t[1], Asap: t[2], WhatIf: r.Totals.WhatIf, Now: len(trials) == 0})
	}
	best := 0
	for i := range trials {
		t := &trials[i]
		t.Frontier = !slices.ContainsFunc(trials, func(o Trial) bool {
			return o.WhatIf.Forced <= t.WhatIf.Forced && o.all() <= t.all() && (o.WhatIf.Forced < t.WhatIf.Forced || o.all() < t.all())
		})
		if t.WhatIf.Forced <= trials[0].WhatIf.Forced && t.all() < trials[best].all() {
			best = i
		}
	}
	trials[best].Chosen = true
	return trials, first, nil
}

// PrintTrials shows the frontier beside what happened and hindsight, and what is advised.
func (r *Report) PrintTrials(t *terminal.Terminal, trials []Trial) {
	w := &r.Totals.WhatIf
	row := func(name string, forced, all int, sent, read int64) []string {
		return []string{name, strconv.Itoa(forced), strconv.Itoa(all), w.mean(sent), message.Rounded(read), r.waits(all)}
	}
	rows := [][]string{
		t.Head(message.TuneSetting, message.AuditForced, message.AuditAll, message.AuditMean, message.AuditReads, message.AuditWaits),
		row(message.AuditHappened.In(t.Lang), w.HappenedMid, w.Happened, w.Sent, w.Read),
	}
	chosen := &trials[0]
	for i := range trials {
		x := &trials[i]
		if x.Chosen {
			chosen = x
		}
		if !x.Frontier && !x.Chosen && !x.Now {
			continue
		}
		name := x.name()
		if x.Now {
			name += " · " + message.TuneNow.In(t.Lang)
		}
		if x.Chosen {
			name += " ←"
		}
		rows = append(rows, row(name, x.WhatIf.Forced, x.all(), x.WhatIf.PolicySent, x.WhatIf.PolicyRead))
	}
	rows = append(rows, row(message.AuditLate.In(t.Lang), w.LateForced, w.late(), w.LateSent, w.LateRead))
	t.Rows(t.Stdout, rows, terminal.Plan{Drop: []int{4}, Right: []int{1, 2, 3, 4, 5}})
	if chosen.Now {
		t.Tell(message.TuneKeep)
		return
	}
	t.Tell(message.TuneAdvice, chosen.name(), chosen.all(), trials[0].all(), chosen.WhatIf.Forced, trials[0].WhatIf.Forced)
}
