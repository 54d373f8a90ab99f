package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Group is a barrier: stages that run side by side and go on together.
type Group struct {
	Total     int               `file:"total"`
	Completed []string          `file:"completed"`
	Results   orderedMap[Route] `file:"results"`
	Next      string            `file:"next,null"` // "" = the workflow ends behind it
	Siblings  []string          `file:"siblings"`
	StartTime int64             `file:"startTime"` // ms; when the last of them was handed over
	Resolved  bool              `file:"resolved"`
}

func (g Group) object() (o object) {
	o.fields(g)
	return o
}

// NewGroup is a barrier nobody has voted in.
func NewGroup(siblings []string, next string, start int64) Group {
	return Group{Total: len(siblings), Siblings: slices.Clone(siblings), Next: next, StartTime: start}
}

func (g Group) clone() Group {
	g.Completed, g.Siblings = slices.Clone(g.Completed), slices.Clone(g.Siblings)
	g.Results = g.Results.clone(same)
	return g
}

// Report casts a vote. The first one of a stage counts; repeats, votes of
// stages that do not belong here and votes after the decision change nothing.
// The vote that makes it complete yields the merged result, once.
func (g *Group) Report(stage string, r Route, mergedPath string) *Merged {
	stranger := len(g.Siblings) > 0 && !slices.Contains(g.Siblings, stage)
	if g.Resolved || stranger || g.Results.Has(stage) {
		return nil
	}
	g.Completed = append(g.Completed, stage)
	g.Results.Set(stage, r)
	if len(g.Completed) < g.Total {
		return nil
	}
	g.Resolved = true
	return new(MergeBarrierResults(*g, mergedPath))
}

// TimedOut reports whether the group has waited longer than limit.
func (g Group) TimedOut(now time.Time, limit time.Duration) bool {
	return !g.Resolved && g.StartTime > 0 && now.UnixMilli()-g.StartTime > limit.Milliseconds()
}

// Missing is the siblings that have not voted.
func (g Group) Missing() []string {
	return slices.DeleteFunc(slices.Clone(g.Siblings), func(s string) bool { return g.Results.Has(s) })
}

// Merged is the common result of a barrier: the worst case wins.
type Merged struct {
	Verdict     string
	Route       string
	Target      string // the stage behind the barrier, on a PASS
	Severity    string
	Hint        string
	ContextFile string   // the merged report
	Sources     []Source // what goes into it
	Failed      []string // worst first
}

// Source is a stage's report.
type Source struct{ Stage, Path string }

// MergedContext stands in the place of a stage in the name of the file that joins
// the reports of a barrier.
const MergedContext = "MERGED"

// contextPath is the path of a file in the Claude folder, as models get it.
func (r Rules) contextPath(name string) string {
	return strings.TrimSuffix(r.ContextDir, "/") + "/" + name
}

// MergeBarrierResults joins the votes of a full group; mergedPath is where the
// failed stages' reports will be joined.
func MergeBarrierResults(g Group, mergedPath string) Merged {
	type vote struct {
		stage string
		route Route
	}
	var resultFail []vote
	for _, stage := range g.Completed {
		if r, ok := g.Results.Get(stage); ok && r.Verdict == Fail {
			resultFail = append(resultFail, vote{stage, r})
		}
	}
	if len(resultFail) == 0 {
		m := Merged{Verdict: Pass, Route: Next, Target: g.Next}
		if g.Next == "" {
			m.Route = Complete
		}
		return m
	}
	severity := func(v vote) int {
		if n := rank(v.route.Severity); n >= 0 {
			return n
		}
		return rank("MEDIUM")
	}
	slices.SortStableFunc(resultFail, func(a, b vote) int { return cmp.Compare(severity(a), severity(b)) })
	m := Merged{Verdict: Fail, Route: Dev, Severity: severities[severity(resultFail[0])]}
	var hints []string
	for _, v := range resultFail {
		m.Failed = append(m.Failed, v.stage)
		if v.route.Hint != "" {
			hints = append(hints, v.route.Hint)
		}
		if v.route.ContextFile != "" {
			m.Sources = append(m.Sources, Source{v.stage, v.route.ContextFile})
		}
	}
	m.Hint = strings.Join(hints, "; ")
	if len(m.Sources) > 0 {
		m.ContextFile = mergedPath
	}
	return m
}

// Barriers is the content of barrier-state-{sid}.json: groups by name.
type Barriers struct{ orderedMap[Group] }

func (b Barriers) clone() Barriers { return Barriers{b.orderedMap.clone(Group.clone)} }

// ParseBarriers reads the file.
func ParseBarriers(data []byte) (Barriers, error) {
	var b Barriers
	o, err := parseObject(data)
	if err != nil {
		return b, fmt.Errorf("read barriers: %w", err)
	}
	for k := range o.All() {
		v := o.member(k)
		if !v.IsObject() {
			return b, fmt.Errorf("read barriers: group %s: want an object, got %s", k, kind(v))
		}
		var g Group
		readFields(v.Get, &g)
		b.Set(k, g)
	}
	return b, nil
}

// Encode writes the file.
func (b Barriers) Encode() []byte { return store.JSONFile(b.object()) }

// RebuildBarriers derives the groups from the state, which is the source of
// truth. A group that none of its stages has been handed over for is empty.
func RebuildBarriers(s *State) Barriers {
	var b Barriers
	for k, n := range s.DAG.All() {
		ref := n.Barrier
		if ref == nil || b.Has(ref.Group) {
			continue
		}
		siblings := s.siblings(k)
		g := NewGroup(siblings, ref.Next, 0)
		failed := false
		for _, sib := range siblings {
			st := s.stage(sib)
			if st.Status == Completed || st.Status == Failed {
				r := Route{Verdict: Pass, Route: Barrier, BarrierGroup: ref.Group}
				// The older shape completes a rejected stage, too.
				if st.Status == Failed || !st.Forced && (st.Result == resultFail || st.Result == resultReject) {
					r.Verdict = Fail
				}
				if st.Verdict != nil {
					r = *st.Verdict
				}
				failed = failed || r.Verdict == Fail && st.Status == Failed
				g.Completed = append(g.Completed, sib)
				g.Results.Set(sib, r)
			}
			if t, err := time.Parse(time.RFC3339, st.StartedAt); err == nil {
				g.StartTime = max(g.StartTime, t.UnixMilli())
			}
		}
		g.Resolved = len(siblings) > 0 && len(g.Completed) == len(siblings) && !failed
		b.Set(ref.Group, g)
	}
	return b
}

// siblings is the voters of a stage's barrier; a skipped stage has no vote.
func (s *State) siblings(key string) []string {
	b := s.DAG.barrier(key)
	if b == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.Siblings), func(k string) bool { return s.stage(k).Status == Skipped })
}

// AttachBarriers gives a loaded state its barrier file. A file that is missing,
// broken, or behind the state (the process died between the two writes) is
// rebuilt; the second result says that a file was there and could not be used.
func (s *State) AttachBarriers(file []byte) (rebuilt bool) {
	want := RebuildBarriers(s)
	got, err := ParseBarriers(file)
	for _, k := range slices.Clone(want.Keys()) {
		g, _ := want.Get(k)
		begun := func(sib string) bool {
			return slices.Contains([]string{Active, Completed, Failed}, s.stage(sib).Status)
		}
		if !slices.ContainsFunc(g.Siblings, begun) {
			want.Delete(k)
			continue
		}
		have, ok := got.Get(k)
		if ok && slices.Equal(sorted(have.Completed), sorted(g.Completed)) && have.Resolved == g.Resolved {
			want.Set(k, have)
			continue
		}
		if ok && have.StartTime > 0 {
			g.StartTime = have.StartTime
			want.Set(k, g)
		}
		rebuilt = rebuilt || len(file) > 0
	}
	s.Barriers = want
	return rebuilt || len(file) > 0 && err != nil
}

func sorted(l []string) []string { return slices.Sorted(slices.Values(l)) }

// resetBarriers forgets the votes of keys, and opens their groups again.
func (s *State) resetBarriers(keys []string) {
	touched := map[string]string{}
	for _, k := range keys {
		if b := s.DAG.barrier(k); b != nil && s.Barriers.Has(b.Group) {
			touched[b.Group] = k
		}
	}
	for _, name := range slices.Sorted(maps.Keys(touched)) {
		old, _ := s.Barriers.Get(name)
		g := NewGroup(s.siblings(touched[name]), old.Next, 0)
		for _, k := range old.Completed {
			if r, ok := old.Results.Get(k); ok && !slices.Contains(keys, k) && slices.Contains(g.Siblings, k) {
				g.Completed = append(g.Completed, k)
				g.Results.Set(k, r)
			}
		}
		s.Barriers.Set(name, g)
	}
}

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
