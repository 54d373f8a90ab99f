package workflow

import (
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func (ev Cancel) apply(t *transition) {
	if !t.s.Active {
		t.refuse(Refused, message.NotRunning, t.s.WorkflowType)
		return
	}
	t.end(endCancelled, ev.Reason)
	t.out.Kind = Cancelled
	var done []string
	for k, st := range t.s.Stages.All() {
		if finished(st) {
			done = append(done, k)
		}
	}
	t.out.emit(message.EventPipelineCancelled, "reason", ev.Reason, "completedStages", emptyList(done))
}

func (ev Skip) apply(t *transition) {
	st, ok := t.s.Stages.Get(ev.Stage)
	t.out.Stage = ev.Stage
	switch {
	case !t.s.Active:
		t.refuse(Refused, message.NotRunning, t.s.WorkflowType)
	case !ok:
		t.refuse(Refused, message.RefusedOutside, ev.Stage)
	case st.Status == Active:
		t.refuse(Refused, message.RefusedActive, ev.Stage)
	case st.Status != Pending:
		t.refuse(Refused, message.DeniedDone, ev.Stage)
	default:
		t.update(ev.Stage, func(st *StageState) { st.SkipWanted = true })
		t.advance(ev.At)
		if t.out.Kind == Advanced {
			t.out.Kind = SkippedKind
		}
	}
}

// sifted is why a stage was left out that nothing was changed for.
const sifted = "when"

// sifted reports whether a stage was left out because nothing was changed for it.
func (st StageState) sifted() bool { return st.Status == Skipped && st.Reason == sifted }

func (ev Sift) apply(t *transition) {
	if !t.s.Active {
		return
	}
	ready := t.s.Ready()
	for _, k := range ev.Unwanted {
		if slices.Contains(ready, k) && len(t.s.DAG.Spec(k).When) > 0 {
			t.update(k, func(st *StageState) { st.SkipWanted, st.Reason = true, sifted })
			t.out.Sifted = append(t.out.Sifted, k)
		}
	}
	if len(t.out.Sifted) > 0 {
		t.advance(ev.At)
	}
}

// leaveOut skips a stage. It reports whether that decided the barrier the stage
// should have voted in.
func (t *transition) leaveOut(key string, at time.Time) (decided bool) {
	t.update(key, func(st *StageState) { st.Status, st.SkipWanted, st.CompletedAt = Skipped, false, Stamp(at) })
	delete(t.s.Crashes, key)
	skip := []any{"stage", key}
	if why := t.s.stage(key).Reason; why != "" {
		skip = append(skip, "reason", why)
	}
	t.out.emit(message.EventStageSkip, skip...)
	barrier := t.s.DAG.barrier(key)
	if barrier == nil {
		return false
	}
	g, ok := t.s.Barriers.Get(barrier.Group)
	if !ok || g.Resolved {
		return false
	}
	g.Siblings = t.s.siblings(key)
	g.Total = len(g.Siblings)
	g.Resolved = g.Total > 0 && len(g.Completed) >= g.Total
	if t.s.Barriers.Set(barrier.Group, g); g.Resolved {
		t.resolve(barrier.Group, MergeBarrierResults(g, t.mergedPath()), at)
	}
	return g.Resolved
}

func (ev Restart) apply(t *transition) {
	if !t.s.DAG.Has(ev.Stage) {
		t.refuse(Refused, message.RefusedOutside, ev.Stage)
		return
	}
	keys := t.s.DAG.downstream(ev.Stage)
	for _, k := range keys {
		delete(t.s.Retries, k)
		delete(t.s.Crashes, k)
		t.s.RetryHistory.Delete(k)
		t.out.Forget = append(t.out.Forget, k)
		// Who left a stage out wants it left out of the next round, too, unless it is
		// the one to be done again. It votes again before it is left out again.
		t.update(k, func(st *StageState) {
			st.SkipWanted = k != ev.Stage && (st.SkipWanted || st.Status == Skipped && !st.Forced && st.Reason != sifted)
			if st.Status == Skipped {
				st.Status = Pending
			}
		})
	}
	t.reset(keys)
	t.s.PendingRetry = nil
	t.s.Active, t.s.Ended, t.s.EndReason = true, "", ""
	t.out.emit(message.EventWorkflowRestart, "stage", ev.Stage, "stages", keys)
	t.advance(ev.At)
	t.out.Kind, t.out.Stage = Restarted, ev.Stage
}

func (ev Resume) apply(t *transition) {
	t.untouched = true
	for _, k := range t.s.DAG.Keys() {
		if t.givenUp(t.s, k) {
			delete(t.s.Crashes, k)
			t.untouched = false
		}
	}
}

// apply frees stages whose agents ended without a word.
func (ev Recover) apply(t *transition) {
	if !t.s.Active {
		return
	}
	async := map[string]bool{}
	for _, d := range t.s.Delegations {
		if d.Open {
			async[d.Stage] = d.Async
		}
	}
	for _, k := range t.s.stagesWith(Active) {
		if async[k] && !ev.Background {
			continue
		}
		t.free(k)
		t.out.emit(message.EventAgentOrphanCleanup, "stage", k, "agent", t.s.plainAgent(k))
	}
	t.out.Next = t.s.Ready()
}
