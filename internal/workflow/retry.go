package workflow

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

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

// Stop is the answer of ShouldStop.
type Stop struct {
	Stop    bool
	Reason  string
	Action  string // NEXT, FORCE_NEXT or RETRY
	Warning string
	Note    string
}

// ShouldStop decides whether an iteration ends: on a PASS, or when the retries
// are spent. A stall or a trend is only observed.
func ShouldStop(verdict *Route, retryCount int, history []Round, maxRetries int) Stop {
	if verdict != nil && verdict.Verdict == Pass {
		return Stop{Stop: true, Reason: "quality-gate-passed", Action: "NEXT"}
	}
	if retryCount >= maxRetries {
		return Stop{Stop: true, Reason: "max-retries-exhausted", Action: "FORCE_NEXT"}
	}
	st := Stop{Reason: "retry", Action: "RETRY"}
	if n := len(history); n >= 2 {
		a, b := rank(history[n-2].Severity), rank(history[n-1].Severity)
		switch {
		case a < 0 || b < 0:
		case a == b:
			st.Reason = "convergence-stall-observed"
			st.Warning = fmt.Sprintf("severity stayed %s for two rounds", history[n-1].Severity)
		case b > a:
			st.Note = fmt.Sprintf("severity improved from %s to %s", history[n-2].Severity, history[n-1].Severity)
		}
	}
	return st
}

// rank is 0 for the worst severity, -1 for none.
func rank(severity string) int { return slices.Index(severities[:], severity) }

func (t *transition) exhausted(key string) {
	if limit := t.s.maxRetries(key); t.s.Retries[key] >= limit {
		t.out.exhausted = append(t.out.exhausted, key)
		t.out.emit(message.EventRetryExhausted, "stage", key, "retryCount", t.s.Retries[key], "reason", "max-retries-exhausted")
	}
}

// limit is how often a stage may send the work back.
func (r Rules) limit(n node) int {
	if n.MaxRetries == unsaid {
		return r.MaxRetries
	}
	return n.MaxRetries
}

// fillIn sets the limits that the file does not give.
func (r Rules) fillIn(s *State) {
	for k, n := range s.DAG.All() {
		n.MaxRetries = r.limit(n)
		s.DAG.Set(k, n)
	}
}

// maxRetries is the limit of a stage in a state that Apply gave.
func (s *State) maxRetries(stage string) int {
	n, _ := s.DAG.Get(stage)
	return n.MaxRetries
}
