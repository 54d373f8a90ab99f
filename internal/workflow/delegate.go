package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func (ev Delegate) apply(t *transition) {
	key := t.target(ev)
	if !t.s.Active || !t.s.DAG.Has(key) {
		t.out.Kind = Untracked
		return
	}
	t.out.Stage, t.out.Agent = key, t.s.plainAgent(key)
	if !t.denied(key) {
		t.handOver(key, ev)
	}
}

// target is the stage key that a hand-over means; "" for none.
func (t *transition) target(ev Delegate) string {
	key := ev.Stage
	if ev.AgentID != "" && key == "" {
		for _, d := range slices.Backward(t.s.Delegations) {
			if d.AgentID == ev.AgentID {
				return d.Stage
			}
		}
		return ""
	}
	if key != "" && (t.s.DAG.Has(key) || key != Base(key)) {
		return key
	}
	_, keys := t.meant(key, ev.Agent)
	return t.choose(keys, ev.Task)
}

// meant lists the stages that a stage's name or an agent's type may stand for. base is
// the name of the stage where the list is empty.
func (t *transition) meant(stage, agent string) (base string, keys []string) {
	switch {
	case stage == "":
		base, keys = stageOfAgent(agent), t.s.keysOf(agent)
		if base == "" && len(keys) > 0 {
			base = Base(keys[0])
		}
	case t.s.DAG.Has(stage) && stage != Base(stage):
		base, keys = stage, []string{stage}
	default:
		base = stage
		for _, k := range t.s.DAG.Keys() {
			if Base(k) == stage {
				keys = append(keys, k)
			}
		}
	}
	return base, keys
}

// denied refuses a hand-over whose turn it is not, and says so.
func (t *transition) denied(key string) bool {
	s, st := t.s, t.s.stage(key)
	node, _ := s.DAG.Get(key)
	switch {
	case slices.ContainsFunc(node.Deps, func(d string) bool { return !finished(s.stage(d)) }):
		// All that stands in the way, not only the last link of the chain.
		for _, k := range s.DAG.Keys() {
			if k != key && !finished(s.stage(k)) && slices.Contains(s.DAG.downstream(k), key) {
				t.out.Missing = append(t.out.Missing, k)
			}
		}
		t.refuse(Denied, message.DeniedDeps, key)
		t.out.emit(message.EventDelegationDenied, "stage", key, "missing", t.out.Missing)
		return true
	case finished(st):
		t.refuse(Denied, message.DeniedDone, key)
	case t.givenUp(s, key):
		t.refuse(Denied, message.LoopDied, key, s.Crashes[key])
	case st.Status == Failed:
		t.refuse(Denied, message.DeniedVoted, key)
	default:
		return false
	}
	t.out.emit(message.EventDelegationDenied, "stage", key, "status", st.Status)
	return true
}

// handOver makes a stage active and its agent one at work.
func (t *transition) handOver(key string, ev Delegate) {
	s, agent := t.s, t.s.plainAgent(key)
	if s.stage(key).Status == Active {
		t.close(key)
	}
	t.update(key, func(st *StageState) {
		st.Status, st.Agent, st.StartedAt = Active, agent, Stamp(ev.At)
	})
	name := agent
	for n := 2; s.ActiveAgents.Has(name); n++ {
		name = agent + "#" + strconv.Itoa(n)
	}
	s.ActiveAgents.Set(name, activeAgent{Stage: key, StartedAt: Stamp(ev.At)})
	id := cmp.Or(ev.ID, fmt.Sprintf("%s/%d", key, len(s.Delegations)+1))
	s.Delegations = append(s.Delegations, delegation{
		ID: id, AgentID: ev.AgentID, Stage: key, Open: true, Async: ev.Async, At: Stamp(ev.At),
	})
	if b := s.DAG.barrier(key); b != nil {
		g, ok := s.Barriers.Get(b.Group)
		if !ok {
			g = NewGroup(s.siblings(key), b.Next, 0)
			t.out.emit(message.EventParallelStart, "group", b.Group, "members", g.Siblings, "firstAgent", agent)
		}
		g.StartTime = ev.At.UnixMilli()
		s.Barriers.Set(b.Group, g)
	}
	t.out.Kind = Delegated
	t.out.emit(message.EventStageStart, "stage", key, "agent", agent)
	t.out.emit(message.EventAgentDelegate, "agent", agent, "stage", key)
}

// choose picks the key that an agent is meant for: one that may start, first of all
// one that its task names, else one that runs, else the first that is not done,
// else any.
func (t *transition) choose(keys []string, task string) string {
	ready := t.s.Ready()
	for _, fits := range []func(string) bool{
		func(k string) bool { return slices.Contains(ready, k) && names(task, k) },
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

// names reports whether a text holds a stage's key as a word of its own.
func names(text, key string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], key)
		if j < 0 {
			return false
		}
		i += j + len(key)
		if !partOfKey(text[:i-len(key)], true) && !partOfKey(text[i:], false) {
			return true
		}
	}
}

// partOfKey reports whether the character where a text ends, or begins, could
// belong to a key.
func partOfKey(text string, end bool) bool {
	if text == "" {
		return false
	}
	c := text[0]
	if end {
		c = text[len(text)-1]
	}
	return c == '-' || c == '_' || c == ':' && !end && len(text) > 1 && text[1] > ' ' ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
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
		if ev.ID == "" && d.Open && d.AgentID == "" && t.s.WorksOn(ev.Agent, d.Stage) {
			d.AgentID = ev.AgentID
			return
		}
	}
}
