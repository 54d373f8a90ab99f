package workflow

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// find tells which stage a completion ends. The host's id of the hand-over is
// the surest sign, the agent's id the next, the stage alone the last.
func (t *transition) find(ev Completion) (key string, ok bool) {
	s := t.s
	base, keys := t.meant(ev.Stage, ev.Agent)
	for _, match := range []func(delegation) bool{
		func(d delegation) bool { return ev.ID != "" && d.ID == ev.ID },
		func(d delegation) bool { return ev.AgentID != "" && d.AgentID == ev.AgentID },
		func(d delegation) bool {
			return d.Open && (d.Stage == base || slices.Contains(keys, d.Stage)) && (ev.AgentID == "" || d.AgentID == "")
		},
	} {
		for _, d := range slices.Backward(s.Delegations) {
			if match(d) {
				if key = d.Stage; d.Open {
					return key, true
				}
			}
		}
		if key != "" {
			return key, false
		}
	}
	if key = t.choose(keys, ""); key == "" {
		return base, false
	}
	// Nobody saw the hand-over: count the answer if the stage could have run.
	st := s.stage(key)
	return key, st.Status == Active || slices.Contains(s.Ready(), key)
}

// StageOf is the stage that a completion would end.
func (s *State) StageOf(ev Completion) string {
	key, _ := (&transition{s: s}).find(ev)
	return key
}

func (ev Completion) apply(t *transition) {
	s := t.s
	t.running = ev.Running
	key, open := t.find(ev)
	t.out.Stage, t.out.Agent = key, s.plainAgent(key)
	switch {
	case !open && slices.ContainsFunc(s.Delegations, func(d delegation) bool {
		// The hand-over that it names was closed by a completion before, and not by
		// something that made it stale.
		return d.Done && (ev.ID != "" && d.ID == ev.ID || ev.AgentID != "" && d.AgentID == ev.AgentID)
	}):
		t.out.Kind = Duplicate
	case !open && s.DAG.Has(key) && (finished(s.stage(key)) || s.stage(key).Status == Failed):
		t.out.Kind = Duplicate
		if g, ok := t.late(key, ev); ok {
			t.out.emit(message.EventStageRefused, "stage", key, "barrierGroup", g, "reason", "late")
			t.out.Late = s.stage(key).Verdict.Verdict
		}
	case !s.Active:
		t.refuse(Refused, message.RefusedInactive, key)
	case key == "":
		t.refuse(Refused, message.RefusedUnknown, ev.Agent)
	case !s.DAG.Has(key):
		t.refuse(Refused, message.RefusedOutside, key)
	case !open:
		t.refuse(Refused, message.RefusedStale, key)
	default:
		t.answer(key, ev)
	}
	if t.out.Kind == Refused {
		t.out.emit(message.EventStageRefused, "stage", key, "agent", unprefixed(ev.Agent), "reason", t.out.Reason.In(message.ZH))
	}
}

// late records the vote of a stage that the barrier did not wait for.
func (t *transition) late(key string, ev Completion) (group string, ok bool) {
	st, barrier := t.s.stage(key), t.s.DAG.barrier(key)
	if st.Status != Skipped || !st.Forced || barrier == nil || ev.Route == nil || st.Verdict != nil {
		return "", false
	}
	route := t.EnforcePolicy(ValidateRoute(*ev.Route), t.s, key)
	t.update(key, func(st *StageState) {
		st.Verdict, st.Result, st.CompletedAt = &route, t.s.resultOf(key, route.Verdict), Stamp(ev.At)
	})
	return barrier.Group, true
}

const leakLength = 500

// answer takes what a stage's agent said, or that it said nothing.
func (t *transition) answer(key string, ev Completion) {
	s := t.s
	for i := range s.Delegations {
		if d := &s.Delegations[i]; d.Open && d.Stage == key {
			d.Done = true
		}
	}
	// A report belongs into its file: an answer this long carries it along.
	if s.Quality(key) && ev.Length > leakLength {
		t.out.emit(message.EventSafetyTranscriptLeak, "stage", key, "responseLength", ev.Length)
	}
	if ev.Route == nil && t.crashed(key, ev.Died) {
		return
	}
	route := t.verdict(key, ev.Route)
	t.out.Route, t.out.Unverified, t.out.Result = &route, route.Unverified, s.resultOf(key, route.Verdict)
	t.close(key)
	t.update(key, func(st *StageState) {
		st.Verdict, st.Unverified, st.Forced, st.Reason = &route, route.Unverified, false, ""
		st.Result, st.CompletedAt = t.out.Result, Stamp(ev.At)
		if route.ContextFile != "" {
			st.ContextFile = route.ContextFile
		}
	})
	switch t.out.Result {
	case resultFail:
		s.FailCount++
		t.out.emit(message.EventAgentError, "agent", s.plainAgent(key), "stage", key, "reason", "agent 回報 fail")
	case resultReject:
		s.RejectCount++
	case resultIssues:
		s.RetroCount++
	}
	t.out.emit(message.EventAgentComplete, "agent", s.plainAgent(key), "stage", key, "result", t.out.Result)
	t.out.emit(message.EventStageComplete, "stage", key, "result", t.out.Result)
	t.decide(key, route, ev.At)
}

// crashed counts an answer without a marker. It is true where the stage is not done:
// work that was never done is not done by default, only a verdict is given up on.
func (t *transition) crashed(key string, died bool) bool {
	if !t.s.Quality(key) && !died {
		delete(t.s.Crashes, key) // its agent lives
		return false
	}
	t.s.Crashes[key]++
	n := t.s.Crashes[key]
	again := n < t.MaxCrashes
	what := message.EventAgentCrash
	if died {
		what = message.EventAgentDied
	}
	t.out.emit(what, "stage", key, "crashCount", n, "willRetry", again)
	switch {
	case again:
		t.out.Kind, t.out.Next = Redelegate, []string{key}
	case !t.s.Quality(key):
		t.out.Kind = GaveUp
	default:
		return false
	}
	t.free(key)
	t.out.Round, t.out.Max, t.out.died = n, t.MaxCrashes, died
	return true
}

// GivenUp is a stage that may start and is handed out no more, because its agents have
// died again and again; "" where there is none. The workflow rests until somebody leaves
// the stage out, does it again, lets the work go on ([Resume]) or stops it.
func (r Rules) GivenUp(s *State) string {
	for _, k := range s.Ready() {
		if r.givenUp(s, k) {
			return k
		}
	}
	return ""
}

func (r Rules) givenUp(s *State, key string) bool {
	n := s.Crashes[key]
	return n > 0 && n >= r.MaxCrashes && !s.Quality(key)
}

// verdict is what an answer comes to: nil is a PASS that nobody said, and every
// correction is recorded.
func (t *transition) verdict(key string, said *Route) Route {
	route := Route{Verdict: Pass, Route: Next, Unverified: true}
	if said == nil {
		route.warn("no valid PIPELINE_ROUTE in the answer, taken as PASS")
		t.out.emit(message.EventRouteFallback, "stage", key, "warning", route.Warning)
	} else {
		delete(t.s.Crashes, key)
		route = ValidateRoute(*said)
	}
	if route.Unverified && t.Strict {
		route.Verdict, route.Route, route.Severity, route.Unverified = Fail, Dev, "HIGH", false
		route.warn("strict: an answer without a verdict is a FAIL")
	}
	route = t.EnforcePolicy(route, t.s, key)
	undone := func(k string) bool { return k != key && !finished(t.s.stage(k)) }
	if route.Route == Complete && route.Verdict == Pass && slices.ContainsFunc(t.s.DAG.Keys(), undone) {
		route.Route = Next
		route.warn("COMPLETE before the last stage, taken as NEXT")
	}
	if said != nil && route.Warning != "" {
		t.out.emit(message.EventRouteCorrected, "stage", key, "warning", route.Warning)
		if said.Route != route.Route && route.Route != Barrier && route.Verdict == Pass {
			t.out.corrected = cmp.Or(said.Route, "?") + " → " + route.Route
		}
	}
	return route
}

func (t *transition) decide(key string, route Route, at time.Time) {
	s := t.s
	switch {
	case route.Route == Abort:
		t.update(key, func(st *StageState) { st.Status, st.Reason = Failed, route.Hint })
		t.end(endAborted, route.Hint)
		t.out.Kind, t.out.Reason = Aborted, message.Because(message.Verbatim, route.Hint)
		t.out.emit(message.EventPipelineAborted, "stage", key, "reason", route.Hint)
		t.out.emit(message.EventWorkflowAbort, "workflowType", s.WorkflowType, "failCount", s.FailCount, "rejectCount", s.RejectCount)
	case route.Route == Barrier && t.s.DAG.barrier(key) != nil: // without one it is taken as NEXT
		t.vote(key, route, at)
	case route.Verdict == Fail && route.Route == Dev:
		t.rollback([]string{key}, at)
	default:
		t.pass(key, route, at)
	}
}

// pass completes a stage and lets the work go on.
func (t *transition) pass(key string, route Route, at time.Time) {
	failed := route.Verdict == Fail && t.out.Result != resultIssues
	t.update(key, func(st *StageState) { st.Status, st.Forced = Completed, failed })
	t.out.Forced = failed
	if failed {
		t.exhausted(key)
	} else {
		t.forget(key)
	}
	t.advance(at)
}

// forget drops the reflections of a stage that failed before and passed now.
func (t *transition) forget(key string) {
	if t.s.Retries[key] > 0 {
		t.out.Forget = append(t.out.Forget, key)
	}
	if p := t.s.PendingRetry; p != nil {
		p.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(r retryStage) bool { return r.ID == key })
		if len(p.Stages) == 0 {
			t.s.PendingRetry = nil
		}
	}
}

// advance leaves out what is to be skipped, ends the run when all is done, and
// else names what may be handed over now.
func (t *transition) advance(at time.Time) {
	s := t.s
	for again := true; again; {
		again = false
		for _, k := range s.Ready() {
			if s.stage(k).SkipWanted {
				if t.leaveOut(k, at) {
					return
				}
				again = true
			}
		}
	}
	if s.Done() {
		t.end(endComplete, "")
		t.out.Kind = Finished
		duration := int64(0)
		if begin, err := time.Parse(time.RFC3339, s.CreatedAt); err == nil {
			duration = max(0, at.Sub(begin).Milliseconds())
		}
		t.out.emit(message.EventWorkflowComplete, "workflowType", s.WorkflowType, "failCount", s.FailCount,
			"rejectCount", s.RejectCount, "unverified", s.Unverified(), "duration", duration)
		return
	}
	t.out.Kind, t.out.Next = Advanced, s.Ready()
	if len(t.out.Next) == 0 {
		t.out.waitingFor = s.stagesWith(Active)
	}
}

func (t *transition) end(how, reason string) {
	t.s.Active, t.s.Ended, t.s.EndReason = false, how, reason
	t.s.PendingRetry = nil
	for i := range t.s.Delegations {
		t.s.Delegations[i].Open = false
	}
	for _, k := range t.s.stagesWith(Active) {
		t.update(k, func(st *StageState) { st.Status, st.Reason = Pending, how })
	}
}
