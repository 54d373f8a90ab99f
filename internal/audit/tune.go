package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Trial is a setting of the tiers, and what it would have come to.
type Trial struct {
	Early float64 `json:"early"`
	Ready float64 `json:"ready"`
	Asap  float64 `json:"asap"`
	// Boundaries are those that count.
	Boundaries []string `json:"boundaries"`
	WhatIf     WhatIf   `json:"whatIf"`
	// Frontier: no other trial interrupts as rarely with fewer compactions. Chosen is
	// the one that is advised, Now the one in force.
	Frontier bool `json:"frontier"`
	Chosen   bool `json:"chosen"`
	Now      bool `json:"now"`
}

// all is how many compactions a trial would have made.
func (t *Trial) all() int { return t.WhatIf.policy() }

func (t *Trial) name(l message.Lang) string {
	text := fmt.Sprintf("%g / %g / %g", t.Early, t.Ready, t.Asap)
	if slices.ContainsFunc(t.Boundaries, isTurnEnd) {
		text += " " + message.TuneTurn.In(l)
	}
	return text
}

func isTurnEnd(name string) bool { return compact.Boundary(name).Signal() == compact.TurnEnd.Signal() }

// Tune plays settings of the tiers over the sessions, the one in force first, all with and
// without the end of a turn as a boundary. It advises the fewest compactions that interrupt
// no more often than those of the one in force and cost no more.
func Tune(ctx context.Context, o Options) ([]Trial, *Report, error) {
	r, _, err := Run(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return r.trials(), r, nil
}

func (r *Report) trials() []Trial {
	o := r.options
	o.trial = true
	now := o.Settings.Trigger
	grid := []Trial{{Early: now.EarlyPercentRemainingLT, Ready: now.ReadyPercentRemainingLT, Asap: now.AsapPercentRemainingLT, Boundaries: now.AutoRequiresAnyBoundary, Now: true}}
	without := slices.DeleteFunc(slices.Clone(now.AutoRequiresAnyBoundary), isTurnEnd)
	for _, boundaries := range [][]string{append(slices.Clip(without), string(compact.TurnEnd)), without} {
		for early := 85.0; early >= 35; early -= 10 {
			for _, step := range [...]float64{10, 15, 0} {
				grid = append(grid, Trial{Early: early, Ready: early - step, Asap: max(early-2*step, 5), Boundaries: boundaries})
			}
		}
	}
	var trials []Trial
	for _, t := range grid {
		set := &o.Settings.Trigger
		set.EarlyPercentRemainingLT, set.ReadyPercentRemainingLT, set.AsapPercentRemainingLT, set.AutoRequiresAnyBoundary = t.Early, t.Ready, t.Asap, t.Boundaries
		t.WhatIf = analyse(r.list, o).Totals.WhatIf
		trials = append(trials, t)
	}
	best := 0
	for i := range trials {
		t := &trials[i]
		t.Frontier = !slices.ContainsFunc(trials, func(o Trial) bool {
			return o.WhatIf.Forced <= t.WhatIf.Forced && o.all() <= t.all() && (o.WhatIf.Forced < t.WhatIf.Forced || o.all() < t.all())
		})
		if t.WhatIf.Forced <= trials[0].WhatIf.Forced && t.WhatIf.Cost.Policy.USD <= trials[0].WhatIf.Cost.Policy.USD && t.all() < trials[best].all() {
			best = i
		}
	}
	trials[best].Chosen = true
	return trials
}

// mostTuned is how many requests a report may have that says by itself what [Tune] would
// change: that takes a second for so many.
const mostTuned = 40_000

// advice says what [Tune] would change.
func (r *Report) advice(l message.Lang) string {
	if r.Totals.Requests > mostTuned {
		return message.TuneLooks.In(l)
	}
	trials := r.trials()
	chosen := &trials[slices.IndexFunc(trials, func(t Trial) bool { return t.Chosen })]
	if chosen.Now {
		return message.TuneKeeps.In(l)
	}
	return message.TuneWould.Format(l, chosen.name(l), chosen.all(), trials[0].all(), chosen.WhatIf.Forced, trials[0].WhatIf.Forced)
}

// PrintTrials shows the frontier beside what happened and hindsight, and what is advised.
func (r *Report) PrintTrials(t *terminal.Terminal, trials []Trial) {
	w := &r.Totals.WhatIf
	row := func(name string, forced, all int, sent int64, c *Cost) []string {
		return []string{name, strconv.Itoa(forced), strconv.Itoa(all), w.mean(sent), c.dollars(), waitText(c.PromptMS), waitText(c.WorkMS)}
	}
	rows := [][]string{
		t.Head(message.TuneSetting, message.AuditForced, message.AuditAll, message.AuditMean, message.AuditCost, message.AuditWaitPrompt, message.AuditWaitWork),
		row(message.AuditHappened.In(t.Lang), w.HappenedMid, w.Happened, w.Sent, &w.Cost.Happened),
	}
	chosen := &trials[0]
	shown := slices.Clone(trials) // those that interrupt least come first
	slices.SortStableFunc(shown, func(x, y Trial) int { return cmp.Or(x.WhatIf.Forced-y.WhatIf.Forced, x.all()-y.all()) })
	for i := range shown {
		x := &shown[i]
		if x.Chosen {
			chosen = x
		}
		if !x.Frontier && !x.Chosen && !x.Now {
			continue
		}
		name := x.name(t.Lang)
		if x.Now {
			name += " · " + message.TuneNow.In(t.Lang)
		}
		if x.Chosen {
			name += " ←"
		}
		rows = append(rows, row(name, x.WhatIf.Forced, x.all(), x.WhatIf.PolicySent, &x.WhatIf.Cost.Policy))
	}
	rows = append(rows, row(message.AuditLate.In(t.Lang), w.LateForced, w.late(), w.LateSent, &w.Cost.Late))
	t.Rows(t.Stdout, rows, terminal.Plan{Drop: []int{3, 5, 6}, Right: []int{1, 2, 3, 4, 5, 6}})
	t.Tell(message.AuditReckoned)
	if chosen.Now {
		t.Tell(message.TuneKeep)
		return
	}
	t.Tell(message.TuneAdvice, chosen.name(t.Lang), chosen.all(), trials[0].all(), chosen.WhatIf.Forced, trials[0].WhatIf.Forced)
}
