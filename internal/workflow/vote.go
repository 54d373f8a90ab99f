package workflow

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// vote casts a stage's verdict in its barrier and acts when it is decided.
func (t *transition) vote(key string, route Route, at time.Time) {
	s := t.s
	barrier := s.DAG.barrier(key)
	name := barrier.Group
	g, ok := s.Barriers.Get(name)
	if !ok {
		g = NewGroup(s.siblings(key), barrier.Next, 0)
	}
	g.StartTime = cmp.Or(g.StartTime, at.UnixMilli())
	t.update(key, func(st *StageState) {
		st.Status = Completed
		if route.Verdict == Fail {
			st.Status = Failed
		}
	})
	merged := g.Report(key, route, t.mergedPath())
	s.Barriers.Set(name, g)
	if merged != nil {
		t.resolve(name, *merged, at)
		return
	}
	if t.expire(name, at) {
		return
	}
	t.out.Kind, t.out.Group = Waiting, name
	t.out.waitingFor = g.Missing()
	t.out.Next = slices.DeleteFunc(s.Ready(), func(k string) bool { return !slices.Contains(g.Siblings, k) })
	t.out.emit(message.EventBarrierWaiting, "barrierGroup", name, "completedCount", len(g.Completed), "totalCount", g.Total,
		"completedStages", slices.Clone(g.Completed), "waitingStages", t.out.waitingFor)
}

func (t *transition) mergedPath() string {
	return t.contextPath(store.ContextName(t.s.SessionID, MergedContext))
}

// resolve acts on the merged result of a barrier.
func (t *transition) resolve(name string, m Merged, at time.Time) {
	t.out.Group = name
	t.out.emit(message.EventBarrierResolved, "barrierGroup", name, "verdict", m.Verdict, "next", m.Target, "severity", m.Severity)
	t.out.emit(message.EventParallelConverge, "group", name)
	g, _ := t.s.Barriers.Get(name)
	for _, k := range g.Completed {
		if !slices.Contains(m.Failed, k) {
			t.forget(k)
		}
	}
	if m.Verdict == Pass {
		t.advance(at)
		return
	}
	t.out.Merged = &m
	t.rollback(m.Failed, at)
}

// rollback sends the work back to the DEV in front of the failed stages, unless
// their retries are spent. What is counted is counted on the stages that
// failed; whatever lies behind that DEV is to be done again.
func (t *transition) rollback(failed []string, at time.Time) {
	s := t.s
	var again []string
	observed := map[string]Stop{}
	for _, k := range failed {
		st := s.stage(k)
		rounds, _ := s.RetryHistory.Get(k)
		stop := ShouldStop(st.Verdict, s.Retries[k], rounds, s.maxRetries(k))
		if stop.Stop || s.DAG.Rework(k) == "" {
			t.exhausted(k)
			continue
		}
		if t.out.Stop.Warning == "" {
			t.out.Stop = stop
		}
		again, observed[k] = append(again, k), stop
	}
	if len(again) == 0 {
		for _, k := range failed {
			t.update(k, func(st *StageState) { st.Status, st.Forced = Completed, true })
		}
		t.out.Forced, t.out.Failed, t.out.Merged = true, failed, nil
		t.advance(at)
		return
	}
	targets := t.targets(again)
	pending := &pendingRetry{}
	for _, k := range again {
		st := s.stage(k)
		s.Retries[k]++
		rounds, _ := s.RetryHistory.Get(k)
		round := Round{Verdict: Fail, Round: s.Retries[k]}
		if st.Verdict != nil {
			round.Severity, round.Hint = st.Verdict.Severity, st.Verdict.Hint
		}
		s.RetryHistory.Set(k, append(slices.Clone(rounds), round))
		pending.Stages = append(pending.Stages, retryStage{ID: k, Severity: round.Severity, Round: s.Retries[k]})
		t.out.Reflect = append(t.out.Reflect, Reflection{Stage: k, Round: s.Retries[k], Route: st.Verdict, At: at})
		o := observed[k]
		seen := []any{"stage", k, "failCount", s.Retries[k], "reason", o.Reason}
		if o.Warning != "" {
			seen = append(seen, "warning", o.Warning)
		}
		if o.Note != "" {
			seen = append(seen, "note", o.Note)
		}
		t.out.emit(message.EventStageRetry, seen...)
	}
	if t.out.Merged != nil {
		pending.ContextFile = t.out.Merged.ContextFile
	}
	s.PendingRetry = pending
	for _, target := range targets {
		// Somebody has to mend it, though it was left out before.
		t.update(target, func(st *StageState) {
			if st.SkipWanted = false; st.Status == Skipped {
				st.Status = Pending
			}
		})
		t.reset(s.DAG.downstream(target))
	}
	t.out.Kind, t.out.Target, t.out.Failed = RolledBack, targets[0], failed
	t.out.Round, t.out.Max = s.Retries[again[0]], s.maxRetries(again[0])
	t.out.Next = targets
}

// targets is where the work of failed stages goes back to, in the order of the
// work: one of them is done again by itself where another that leads to it is.
func (t *transition) targets(failed []string) []string {
	var all []string
	for _, k := range t.s.DAG.Keys() {
		if slices.ContainsFunc(failed, func(f string) bool { return t.s.DAG.Rework(f) == k }) {
			all = append(all, k)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(k string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o != k && t.s.DAG.leads(o, k) })
	})
}

// reset makes stages pending again and forgets the votes of their barriers. A
// failed stage keeps its report for whoever mends it; what it said is in the
// retry history.
func (t *transition) reset(keys []string) {
	for _, k := range keys {
		t.close(k)
		t.update(k, func(st *StageState) {
			if st.Status == Skipped && !st.Forced && st.Reason != sifted {
				return
			}
			st.Status, st.Result, st.Verdict, st.Reason = Pending, "", nil, ""
			st.Forced, st.Unverified, st.StartedAt, st.CompletedAt = false, false, "", ""
		})
	}
	t.s.resetBarriers(keys)
}

// apply lets barriers that waited too long go on.
func (ev Tick) apply(t *transition) {
	t.running = ev.Running
	if !t.s.Active {
		return
	}
	for _, name := range slices.Clone(t.s.Barriers.Keys()) {
		if t.expire(name, ev.At) {
			return
		}
	}
}

// apply moves the beginning of what is under way, never past the present.
func (ev Slept) apply(t *transition) {
	later := func(ms int64) int64 { return min(ms+ev.By.Milliseconds(), ev.At.UnixMilli()) }
	for name, g := range t.s.Barriers.clone().All() {
		if g.StartTime > 0 && !g.Resolved {
			g.StartTime = later(g.StartTime)
			t.s.Barriers.Set(name, g)
		}
		for _, k := range g.Siblings {
			if at, err := time.Parse(time.RFC3339, t.s.stage(k).StartedAt); err == nil && !g.Resolved {
				t.update(k, func(st *StageState) { st.StartedAt = Stamp(time.UnixMilli(later(at.UnixMilli()))) })
			}
		}
	}
}

// barrierMax is how long a barrier waits for an agent that is known to be at work.
const barrierMax = time.Hour

// atWork reports whether one who has not voted is listed as being at work, and
// the barrier has not waited too long for that: from when its first stage was
// handed over.
func (t *transition) atWork(g Group, missing []string, now time.Time) bool {
	created := g.StartTime
	for _, k := range g.Siblings {
		if at, err := time.Parse(time.RFC3339, t.s.stage(k).StartedAt); err == nil {
			created = min(created, at.UnixMilli())
		}
	}
	if now.UnixMilli()-created > barrierMax.Milliseconds() {
		return false
	}
	return slices.ContainsFunc(t.s.Delegations, func(d delegation) bool {
		return d.Open && d.AgentID != "" && slices.Contains(missing, d.Stage) && slices.Contains(t.running, d.AgentID)
	})
}

// patience is how long a barrier waits: as long as the file of one of its stages
// says, else as the rules do.
func (t *transition) patience(g Group) time.Duration {
	wait := time.Duration(0)
	for _, k := range g.Siblings {
		if b := t.s.DAG.barrier(k); b != nil {
			wait = max(wait, b.Timeout)
		}
	}
	return cmp.Or(wait, t.BarrierTimeout)
}

// expire decides a barrier whose time is up: a FAIL that was cast sends the
// work back, else it goes on without the missing votes, and says so. A stage
// that was never handed over is not late: it has only to be handed over.
func (t *transition) expire(name string, at time.Time) bool {
	s := t.s
	g, ok := s.Barriers.Get(name)
	if !ok || !g.TimedOut(at, t.patience(g)) {
		return false
	}
	missing := g.Missing()
	idle := func(k string) bool { return s.stage(k).Status != Active }
	if len(missing) == 0 || slices.ContainsFunc(missing, idle) || t.atWork(g, missing, at) {
		return false
	}
	g.Resolved = true
	s.Barriers.Set(name, g)
	t.out.Missing = missing
	t.out.emit(message.EventBarrierTimeout, "barrierGroup", name, "missing", missing)
	m := MergeBarrierResults(g, t.mergedPath())
	for _, k := range missing {
		t.close(k)
		t.update(k, func(st *StageState) {
			st.Status, st.Forced, st.Reason = Skipped, true, "barrier timeout"
		})
	}
	t.resolve(name, m, at)
	return true
}
