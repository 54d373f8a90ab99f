package workflow

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func (ev Delegate) apply(t *transition) {
	s := t.s
	if !s.Active {
		t.out.Kind = Untracked
		return
	}
	key := ev.Stage
	if ev.AgentID != "" && key == "" {
		for _, d := range slices.Backward(s.Delegations) {
			if d.AgentID == ev.AgentID {
				key = d.Stage
				break
			}
		}
		if key == "" {
			t.out.Kind = Untracked
			return
		}
	}
	if key == "" {
		base := StageOfAgent(ev.Agent)
		if base == "" {
			t.out.Kind = Untracked
			return
		}
		key = t.choose(base)
	}
	if !s.DAG.Has(key) && key == Base(key) {
		key = t.choose(key)
	}
	if !s.DAG.Has(key) {
		t.out.Kind = Untracked
		return
	}
	t.out.Stage, t.out.Agent = key, plainAgent(key)
	st := s.stage(key)
	node, _ := s.DAG.Get(key)
	missing := slices.DeleteFunc(slices.Clone(node.Deps), func(d string) bool { return finished(s.stage(d)) })
	switch {
	case len(missing) > 0:
		// All that stands in the way, not only the last link of the chain.
		var before []string
		for _, k := range s.DAG.Keys() {
			if k != key && !finished(s.stage(k)) && slices.Contains(s.DAG.downstream(k), key) {
				before = append(before, k)
			}
		}
		t.out.Missing = before
		t.refuse(Denied, message.DeniedDeps, key)
		t.out.emit(message.EventDelegationDenied, "stage", key, "missing", before)
		return
	case finished(st):
		t.refuse(Denied, message.DeniedDone, key)
		t.out.emit(message.EventDelegationDenied, "stage", key, "status", st.Status)
		return
	case st.Status == Failed:
		t.refuse(Denied, message.DeniedVoted, key)
		t.out.emit(message.EventDelegationDenied, "stage", key, "status", st.Status)
		return
	}
	if st.Status == Active {
		t.close(key)
	}
	t.update(key, func(st *StageState) {
		st.Status, st.Agent, st.StartedAt = Active, plainAgent(key), Stamp(ev.At)
	})
	name := plainAgent(key)
	for n := 2; s.ActiveAgents.Has(name); n++ {
		name = plainAgent(key) + "#" + strconv.Itoa(n)
	}
	s.ActiveAgents.Set(name, activeAgent{Stage: key, StartedAt: Stamp(ev.At)})
	id := ev.ID
	if id == "" {
		id = fmt.Sprintf("%s/%d", key, len(s.Delegations)+1)
	}
	s.Delegations = append(s.Delegations, delegation{
		ID: id, AgentID: ev.AgentID, Stage: key, Open: true, Async: ev.Async, At: Stamp(ev.At),
	})
	if b := node.Barrier; b != nil {
		g, ok := s.Barriers.Get(b.Group)
		if !ok {
			g = NewGroup(s.siblings(key), b.Next, 0)
			t.out.emit(message.EventParallelStart, "group", b.Group, "members", g.Siblings, "firstAgent", plainAgent(key))
		}
		g.StartTime = ev.At.UnixMilli()
		s.Barriers.Set(b.Group, g)
	}
	t.out.Kind = Delegated
	t.out.emit(message.EventStageStart, "stage", key, "agent", plainAgent(key))
	t.out.emit(message.EventAgentDelegate, "agent", plainAgent(key), "stage", key)
}

// choose picks the key that an agent of a base stage is meant for: one that may
// start, else one that runs, else the first that is not done, else any.
func (t *transition) choose(base string) string {
	var keys []string
	for _, k := range t.s.DAG.Keys() {
		if Base(k) == base {
			keys = append(keys, k)
		}
	}
	ready := t.s.Ready()
	for _, fits := range []func(string) bool{
		func(k string) bool { return slices.Contains(ready, k) },
		func(k string) bool { return t.s.stage(k).Status == Active },
		func(k string) bool { return t.s.stage(k).Status == Failed },
		func(k string) bool { return t.s.stage(k).Status == Pending },
		func(string) bool { return true },
	} {
		if i := slices.IndexFunc(keys, fits); i >= 0 {
			return keys[i]
		}
	}
	return ""
}

// close ends the open hand-overs of a stage: what they report later is stale.
func (t *transition) close(key string) {
	for i := range t.s.Delegations {
		if d := &t.s.Delegations[i]; d.Stage == key {
			d.Open = false
		}
	}
	for _, k := range slices.Clone(t.s.ActiveAgents.Keys()) {
		if a, _ := t.s.ActiveAgents.Get(k); a.Stage == key {
			t.s.ActiveAgents.Delete(k)
		}
	}
}

// free makes the stage of an agent that is gone pending again.
func (t *transition) free(key string) {
	t.close(key)
	t.update(key, func(st *StageState) { st.Status, st.StartedAt = Pending, "" })
}

func (ev Bind) apply(t *transition) {
	if ev.AgentID == "" {
		return
	}
	base := StageOfAgent(ev.Agent)
	if ev.ID == "" {
		for _, d := range t.s.Delegations {
			if d.Open && d.AgentID == ev.AgentID {
				return
			}
		}
	}
	for i := range t.s.Delegations {
		d := &t.s.Delegations[i]
		if ev.ID != "" && d.ID == ev.ID {
			d.AgentID, d.Async = ev.AgentID, d.Async || ev.Async
			return
		}
		if ev.ID == "" && d.Open && d.AgentID == "" && base != "" && Base(d.Stage) == base {
			d.AgentID = ev.AgentID
			return
		}
	}
}
