package blueprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// genFile draws a workflow of any shape that the format allows: orders and graphs,
// barriers, ways back, retries, commands, conditions, repeated stages. What the
// reader refuses is drawn again.
func genFile(t *rapid.T) File {
	return rapid.Custom(func(t *rapid.T) File {
		n := rapid.IntRange(1, 9).Draw(t, "stages")
		var stages []workflow.Draft
		var keys []string
		for i := range n {
			base := rapid.SampledFrom([]string{"DEV", "DEV", "REVIEW", "TEST", "QA", "E2E", "DOCS", "ALPHA", "BETA"}).Draw(t, "base")
			s := workflow.Draft{Key: base, Retries: -1}
			if base == "ALPHA" || base == "BETA" || rapid.IntRange(0, 3).Draw(t, "own") == 0 {
				if rapid.Bool().Draw(t, "command") {
					s.Spec.Run = "true"
				} else {
					s.Spec.Agent = rapid.SampledFrom([]string{"mine", "yours", "general-purpose"}).Draw(t, "agent")
					s.Spec.Judges = rapid.Bool().Draw(t, "judges")
				}
			}
			s.Key = fmt.Sprintf("%s:s%d", base, i)
			if rapid.IntRange(0, 2).Draw(t, "graph") == 0 && i > 0 {
				s.After = rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, min(2, i), func(s string) string { return s }).Draw(t, "after")
			}
			switch rapid.IntRange(0, 3).Draw(t, "back") {
			case 0:
				s.OnFail = workflow.Nowhere
			case 1:
				s.OnFail = rapid.SampledFrom(append(slices.Clone(keys), s.Key)).Draw(t, "on_fail")
			}
			if rapid.IntRange(0, 2).Draw(t, "limit") == 0 {
				s.Retries = rapid.IntRange(0, 3).Draw(t, "retries")
			}
			if rapid.IntRange(0, 2).Draw(t, "joined") == 0 {
				s.Barrier = rapid.SampledFrom([]string{"one", "two", workflow.Nowhere}).Draw(t, "barrier")
				if rapid.Bool().Draw(t, "patient") {
					s.BarrierTimeout = time.Duration(rapid.IntRange(1, 900).Draw(t, "wait")) * time.Second
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "conditional") == 0 {
				s.Spec.When = []string{rapid.SampledFrom([]string{"a/**", "*.go"}).Draw(t, "when")}
			}
			stages, keys = append(stages, s), append(keys, s.Key)
		}
		f, problems := parse("mine", "mine.yaml", Encode(message.Text{}, "", stages))
		if len(problems) > 0 {
			// Most often a FAIL that goes nowhere, or a barrier of one: set right, the
			// shape stays.
			for i := range stages {
				for _, p := range problems {
					switch {
					case p.nowhere(i, f):
						stages[i].OnFail = workflow.Nowhere
					case p.Text.Text == message.FlawAlone:
						if p.Line == f.lines[i]["barrier"] {
							stages[i].Barrier, stages[i].BarrierTimeout = workflow.Nowhere, 0
						}
					case p.Text.Text == message.FlawAhead && p.Line == f.lines[i]["on_fail"]:
						stages[i].OnFail = workflow.Nowhere
					}
				}
			}
			f, problems = parse("mine", "mine.yaml", Encode(message.Text{}, "", stages))
		}
		if len(problems) > 0 {
			f.Stages = nil
		}
		return f
	}).Filter(func(f File) bool { return len(f.Stages) > 0 }).Draw(t, "file")
}

// machine drives the engine as hooks and commands do, in any order.
type machine struct {
	*rapid.T
	rules     workflow.Rules
	s         *workflow.State
	now       time.Time
	log       []workflow.Event
	open      map[string]string // hand-overs that were made, and their stages
	n         int
	rollbacks map[string]int
	counted   map[string]int // completions that counted, by hand-over
	lossy     bool           // a file was lost that the events do not tell of
}

func (m *machine) apply(ev workflow.Event) workflow.Outcome {
	before := m.s.Encode()
	next, out := m.rules.Apply(m.s, ev)
	if !bytes.Equal(before, m.s.Encode()) {
		m.Fatalf("Apply(%T) changed its input", ev)
	}
	m.log = append(m.log, ev)
	m.s = next
	for _, r := range out.Reflect {
		m.rollbacks[r.Stage]++
		node, _ := next.DAG.Get(r.Stage)
		if m.rollbacks[r.Stage] > node.MaxRetries {
			m.Fatalf("%s sent the work back %d times, limit %d", r.Stage, m.rollbacks[r.Stage], node.MaxRetries)
		}
	}
	m.invariants(ev, out)
	return out
}

func (m *machine) invariants(ev workflow.Event, out workflow.Outcome) {
	if !m.s.Active {
		if m.s.Ended == "" {
			m.Fatalf("over without a word after %#v", ev)
		}
		return
	}
	if len(m.s.Ready()) == 0 && len(m.s.ActiveStages) == 0 {
		m.Fatalf("deadlock after %#v\n%s\nbarriers %s", ev, m.s.Encode(), m.s.Barriers.Encode())
	}
	for k, n := range m.s.DAG.All() {
		st, _ := m.s.Stages.Get(k)
		if st.Status != workflow.Active {
			continue
		}
		for _, d := range n.Deps {
			if dep, _ := m.s.Stages.Get(d); dep.Status != workflow.Completed && dep.Status != workflow.Skipped {
				m.Fatalf("%s is at work before %s is done, after %#v", k, d, ev)
			}
		}
	}
	for _, k := range out.Next {
		if st, _ := m.s.Stages.Get(k); st.Status != workflow.Pending && out.Kind != workflow.Redelegate {
			m.Fatalf("%s is to be handed over and is %s, after %#v", k, st.Status, ev)
		}
	}
}

func (m *machine) handOver(key string) {
	m.n++
	id := fmt.Sprintf("d%d", m.n)
	if out := m.apply(workflow.Delegate{ID: id, Stage: key, AgentID: "a" + id, At: m.now}); out.Kind != workflow.Delegated {
		m.Fatalf("%s is ready and was refused: %s", key, out.Reason.In(message.EN))
	}
	m.open[id] = key
}

func (m *machine) complete(id string, route *workflow.Route) {
	ev := workflow.Completion{ID: id, Route: route, At: m.now}
	if rapid.Bool().Draw(m.T, "by agent") {
		ev = workflow.Completion{AgentID: "a" + id, Route: route, At: m.now}
	}
	out := m.apply(ev)
	if out.Result != "" {
		m.counted[id]++
	}
	if m.counted[id] > 1 {
		m.Fatalf("the completion of %s counted twice", m.open[id])
	}
}

func (m *machine) route() *workflow.Route {
	if rapid.IntRange(0, 7).Draw(m.T, "silent") == 0 {
		return nil
	}
	return &workflow.Route{
		Verdict:  rapid.SampledFrom([]string{workflow.Pass, workflow.Pass, workflow.Fail, workflow.Fail, "perhaps"}).Draw(m.T, "verdict"),
		Route:    rapid.SampledFrom([]string{workflow.Next, workflow.Dev, workflow.Dev, workflow.Barrier, workflow.Complete, "LEFT"}).Draw(m.T, "route"),
		Severity: rapid.SampledFrom([]string{"", "LOW", "HIGH"}).Draw(m.T, "severity"),
	}
}

// sift is what the shell does where stages depend on the files that were changed.
func (m *machine) sift() {
	var files []string
	if rapid.Bool().Draw(m.T, "program") {
		files = append(files, "main.go")
	}
	if rapid.Bool().Draw(m.T, "folder") {
		files = append(files, "a/b/c.txt")
	}
	for m.s.Asks() {
		unwanted := m.s.Unwanted(files)
		if len(unwanted) == 0 {
			return
		}
		m.apply(workflow.Sift{Unwanted: unwanted, At: m.now})
	}
}

func (m *machine) step() {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(m.T, "seconds")) * time.Second)
	var ids []string
	for id := range m.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	keys := m.s.DAG.Keys()
	switch rapid.SampledFrom([]string{"hand over", "hand over", "hand over", "complete", "complete", "complete", "complete", "again", "time", "lost", "drop", "skip", "restart", "disk"}).Draw(m.T, "op") {
	case "hand over":
		if ready := m.s.Ready(); len(ready) > 0 {
			m.handOver(rapid.SampledFrom(ready).Draw(m.T, "ready"))
		}
	case "complete", "again": // of a hand-over that is open, stale or done
		if len(ids) > 0 {
			m.complete(rapid.SampledFrom(ids).Draw(m.T, "hand-over"), m.route())
		}
	case "time":
		m.now = m.now.Add(time.Duration(rapid.IntRange(0, 1200).Draw(m.T, "wait")) * time.Second)
		m.apply(workflow.Tick{At: m.now})
	case "lost":
		m.apply(workflow.Recover{Background: true})
	case "drop":
		if len(ids) > 0 {
			m.apply(workflow.Drop{ID: rapid.SampledFrom(ids).Draw(m.T, "dropped")})
		}
	case "skip":
		if rapid.IntRange(0, 3).Draw(m.T, "really") == 0 {
			m.apply(workflow.Skip{Stage: rapid.SampledFrom(keys).Draw(m.T, "skipped"), At: m.now})
		}
	case "restart":
		if rapid.IntRange(0, 5).Draw(m.T, "really") == 0 {
			m.apply(workflow.Restart{Stage: rapid.SampledFrom(keys).Draw(m.T, "restarted"), At: m.now})
			clear(m.rollbacks)
		}
	case "disk":
		s, err := workflow.Load(m.s.Encode())
		if err != nil {
			m.Fatal(err)
		}
		file := m.s.Barriers.Encode()
		if rapid.IntRange(0, 2).Draw(m.T, "damage") == 0 {
			// Since when a barrier waits is then only known from its stages.
			file, m.lossy = []byte("{broken"), true
		}
		s.AttachBarriers(file)
		if !bytes.Equal(s.Encode(), m.s.Encode()) {
			m.Fatalf("the state changed on disk:\n%s\n%s", m.s.Encode(), s.Encode())
		}
		m.s = s
	}
	if m.s.Active {
		m.sift()
	}
}

// Every workflow that the reader takes can be run to its end, whatever happens on
// the way: no deadlock, bounded rollbacks, each completion counts once, and the
// same events give the same state.
func TestEveryFileRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := genFile(t)
		m := &machine{
			T: t, now: time.UnixMilli(1_700_000_000_000), open: map[string]string{}, rollbacks: map[string]int{}, counted: map[string]int{},
			rules: workflow.Rules{MaxRetries: rapid.IntRange(0, 3).Draw(t, "max"), MaxCrashes: 3, BarrierTimeout: 5 * time.Minute, ContextDir: "~/.claude", Strict: rapid.Bool().Draw(t, "strict")},
		}
		start := workflow.Start{SessionID: "s", WorkflowID: "w", Type: "mine", Plan: &workflow.Plan{DAG: f.DAG, Origin: &workflow.Origin{Path: "mine.yaml"}}, At: m.now}
		var out workflow.Outcome
		if m.s, out = m.rules.Apply(nil, start); out.Kind != workflow.Started {
			t.Fatalf("not started: %s", out.Reason.In(message.EN))
		}
		m.sift()
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			if !m.s.Active {
				break
			}
			m.step()
		}
		// From wherever it stands, work that passes ends it; files are changed, so that
		// no stage is left out for that any more.
		for i := 0; m.s.Active; i++ {
			if i > 200 {
				t.Fatalf("no end:\n%s\nbarriers %s", m.s.Encode(), m.s.Barriers.Encode())
			}
			m.now = m.now.Add(time.Second)
			for _, k := range m.s.Ready() {
				if st, _ := m.s.Stages.Get(k); st.Status == workflow.Pending && m.s.Active {
					m.handOver(k)
				}
			}
			for _, k := range slices.Clone(m.s.ActiveStages) {
				if m.s.Active {
					m.apply(workflow.Completion{Stage: k, Route: &workflow.Route{Verdict: workflow.Pass, Route: workflow.Next}, At: m.now})
				}
			}
		}
		if m.lossy {
			return
		}
		replay, _ := m.rules.Apply(nil, start)
		for _, ev := range m.log {
			replay, _ = m.rules.Apply(replay, ev)
		}
		if !sameJSON(t, replay.Encode(), m.s.Encode()) {
			t.Fatalf("replay differs:\n%s\n%s", replay.Encode(), m.s.Encode())
		}
	})
}

// sameJSON compares two states; a trip to the disk may move a member.
func sameJSON(t *rapid.T, a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatal("not JSON")
	}
	return reflect.DeepEqual(x, y)
}
