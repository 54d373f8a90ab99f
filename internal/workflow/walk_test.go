package workflow

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

var update = flag.Bool("update", false, "write what the walks come to")

// TestWalks takes the engine through the walks in testdata/walks. The name of a file
// is the rule that it shows. A line that begins with > is an event, one that begins
// with - an event on the way to it:
//
//	> start [type=NAME] STAGE...                    STAGE(key=value,...) as a workflow's file would say it
//	> hand STAGE [id=ID] [agent=ID] [as=TYPE] [async] [: task]
//	> end [STAGE] [PASS|FAIL|died] [route=R] [severity=S] [file=F] [id=ID] [agent=ID] [as=TYPE] [length=N] [running=ID] [: hint]
//	> tick [running=ID], skip STAGE, restart STAGE, resume, sift STAGE..., recover [background], cancel : reason
//	> bind ID [id=ID] [as=TYPE], ask ID, drop [id=ID] [agent=ID], feature NAME
//
// Between events `- wait 5m` lets time pass, and `- rules KEY=VALUE...` changes the
// settings. Under each event stands what it came to: the outcome, what the timeline
// is told, what has changed in the state, and what the main agent is told.
func TestWalks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/walks/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no walks (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := takeWalk(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
				t.Errorf("-as written +as it went:\n%s", d)
			}
		})
	}
}

func takeWalk(t *testing.T, text string) string {
	t.Helper()
	w := &walk{t: t, rules: testRules(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "> "):
			out.WriteString(line + "\n")
			for _, l := range w.step(line[2:]) {
				out.WriteString(strings.TrimRight("  "+l, " ") + "\n")
			}
		case strings.HasPrefix(line, "- "):
			out.WriteString(line + "\n")
			w.step(line[2:])
		}
	}
	return out.String()
}

// walk is a run of the engine.
type walk struct {
	t     *testing.T
	rules Rules
	now   time.Time
	s     *State
}

// words are a line's arguments.
type words struct {
	args []string
	keys map[string]string
	text string // behind the colon
}

func (w words) arg(i int) string {
	if i < len(w.args) {
		return w.args[i]
	}
	return ""
}

func (w words) has(word string) bool { return slices.Contains(w.args, word) }

func (w *walk) step(line string) []string {
	line, text, _ := strings.Cut(line, " : ")
	a := words{keys: map[string]string{}, text: text}
	fields := strings.Fields(line)
	for _, f := range fields[1:] {
		if k, v, ok := strings.Cut(f, "="); ok && !strings.Contains(k, "(") {
			a.keys[k] = v
		} else {
			a.args = append(a.args, f)
		}
	}
	switch fields[0] {
	case "wait":
		w.now = w.now.Add(w.duration(a.arg(0)))
		return nil
	case "rules":
		w.set(a.keys)
		return nil
	}
	w.now = w.now.Add(time.Second)
	before := w.s
	if before == nil {
		before = &State{}
	}
	old := before.Encode()
	s, out := w.rules.Apply(w.s, w.event(fields[0], a))
	if !bytes.Equal(old, before.Encode()) {
		w.t.Errorf("%s changed the state that it was given", line)
	}
	if w.s = s; s == nil { // nothing has begun
		s = before
	}
	lines := append(outcomeLines(out), w.changes(before, s)...)
	if text := Instruction(s, out, message.EN); text != "" {
		lines = append(lines, said("says", text)...)
	}
	if fields[0] == "end" {
		lines = append(lines, said("person", strings.Join(Result(s, out, message.EN), "\n"))...)
	}
	if out.Kind == Denied {
		lines = append(lines, said("denies", DenyText(s, out, message.EN))...)
	}
	return lines
}

func said(who, text string) (lines []string) {
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, who+" | "+l)
	}
	return lines
}

func (w *walk) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *walk) number(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *walk) set(keys map[string]string) {
	for k, v := range keys {
		switch k {
		case "retries":
			w.rules.MaxRetries = w.number(v)
		case "crashes":
			w.rules.MaxCrashes = w.number(v)
		case "timeout":
			w.rules.BarrierTimeout = w.duration(v)
		case "strict":
			w.rules.Strict = v == "true"
		default:
			w.t.Fatalf("no rule %s", k)
		}
	}
}

func (w *walk) event(verb string, a words) Event {
	var running []string
	if r := a.keys["running"]; r != "" {
		running = strings.Split(r, ",")
	}
	switch verb {
	case "start":
		return w.start(a)
	case "hand":
		return Delegate{ID: a.keys["id"], AgentID: a.keys["agent"], Agent: a.keys["as"], Stage: w.stage(a), Async: a.has("async"), Task: a.text, At: w.now}
	case "end":
		ev := Completion{
			ID: a.keys["id"], AgentID: a.keys["agent"], Agent: a.keys["as"], Stage: w.stage(a), Died: a.has("died"),
			Length: w.number(a.keys["length"]), Running: running, At: w.now,
		}
		for verdict, route := range map[string]string{Pass: Next, Fail: Dev} {
			if a.has(verdict) {
				if r, ok := a.keys["route"]; ok {
					route = r
				}
				said := map[string]string{"verdict": verdict, "route": route, "severity": a.keys["severity"], "context_file": a.keys["file"], "hint": a.text}
				maps.DeleteFunc(said, func(_, v string) bool { return v == "" })
				raw, err := json.Marshal(said)
				if err == nil {
					ev.Route = new(Route)
					err = ev.Route.UnmarshalJSON(raw)
				}
				if err != nil {
					w.t.Fatal(err)
				}
			}
		}
		return ev
	case "tick":
		return Tick{At: w.now, Running: running}
	case "skip":
		return Skip{Stage: a.arg(0), At: w.now}
	case "resume":
		return Resume{}
	case "restart":
		return Restart{Stage: a.arg(0), At: w.now}
	case "sift":
		return Sift{Unwanted: a.args, At: w.now}
	case "recover":
		return Recover{Background: a.has("background")}
	case "cancel":
		return Cancel{Reason: a.text}
	case "bind":
		return Bind{ID: a.keys["id"], Agent: a.keys["as"], AgentID: a.arg(0)}
	case "ask":
		return Ask{AgentID: a.arg(0)}
	case "drop":
		return Drop{ID: a.keys["id"], AgentID: a.keys["agent"]}
	case "feature":
		return Feature{Name: a.arg(0)}
	}
	w.t.Fatalf("no event %s", verb)
	return nil
}

// stage is the stage that a line names, if it does.
func (w *walk) stage(a words) string {
	for _, word := range a.args {
		if !slices.Contains([]string{"async", "died", Pass, Fail}, word) {
			return word
		}
	}
	return ""
}

func (w *walk) start(a words) Event {
	ev := Start{SessionID: "s", WorkflowID: "w", Type: "quick", Stages: a.args, At: w.now}
	if t := a.keys["type"]; t != "" {
		ev.Type = t
	}
	if !strings.Contains(strings.Join(a.args, ""), "(") {
		return ev
	}
	var drafts []Draft
	for _, arg := range a.args {
		key, rest, _ := strings.Cut(strings.TrimSuffix(arg, ")"), "(")
		d := Draft{Key: key, Retries: unsaid}
		for _, part := range strings.Split(rest, ",") {
			k, v, _ := strings.Cut(part, "=")
			switch k {
			case "":
			case "agent":
				d.Spec.Agent = v
			case "run":
				d.Spec.Run = v
			case "when":
				d.Spec.When = append(d.Spec.When, v)
			case "judges":
				d.Spec.Judges = true
			case "barrier":
				d.Barrier = v
			case "timeout":
				d.BarrierTimeout = w.duration(v)
			case "retries":
				d.Retries = w.number(v)
			case "onfail":
				d.OnFail = v
			default:
				w.t.Fatalf("no key %s", k)
			}
		}
		drafts = append(drafts, d)
	}
	dag, flaws := NewGraph(drafts)
	for _, f := range flaws {
		w.t.Fatal(f.Text.In(message.EN))
	}
	ev.Stages, ev.Plan = nil, &Plan{DAG: dag, Origin: &Origin{Path: "mine.yaml"}}
	return ev
}

var kindNames = map[Kind]string{
	Nothing: "nothing", Started: "started", Delegated: "handed over", Untracked: "not followed", Denied: "denied", Advanced: "goes on",
	Waiting: "waits", RolledBack: "goes back", Redelegate: "again", GaveUp: "gives up", Finished: "finished", Aborted: "aborted", Cancelled: "cancelled",
	Refused: "refused", Duplicate: "known already", SkippedKind: "left out", Restarted: "restarted",
}

// outcomeLines shows what an event came to: only what is said.
func outcomeLines(o Outcome) []string {
	first := kindNames[o.Kind]
	add := func(when bool, format string, args ...any) {
		if when {
			first += fmt.Sprintf(", "+format, args...)
		}
	}
	add(o.Stage != "", "%s by %s", o.Stage, o.Agent)
	add(o.Result != "", "result %s", o.Result)
	add(o.Forced, "forced")
	add(o.Unverified, "unverified")
	add(len(o.Next) > 0, "next %s", strings.Join(o.Next, "+"))
	add(o.Target != "", "to %s", o.Target)
	add(len(o.Failed) > 0, "failed %s", strings.Join(o.Failed, "+"))
	add(o.Round > 0 || o.Max > 0, "round %d of %d", o.Round, o.Max)
	add(o.Group != "", "barrier %s", o.Group)
	add(len(o.Missing) > 0, "missing %s", strings.Join(o.Missing, "+"))
	add(len(o.waitingFor) > 0, "for %s", strings.Join(o.waitingFor, "+"))
	add(o.Late != "", "late %s", o.Late)
	add(len(o.Sifted) > 0, "sifted %s", strings.Join(o.Sifted, "+"))
	add(len(o.exhausted) > 0, "retries spent by %s", strings.Join(o.exhausted, "+"))
	add(len(o.Forget) > 0, "forgets %s", strings.Join(o.Forget, "+"))
	for _, r := range o.Reflect {
		add(true, "remembers %s round %d", r.Stage, r.Round)
	}
	lines := []string{first}
	if why := o.Reason.In(message.EN); why != "" {
		lines = append(lines, "because "+why)
	}
	if o.Route != nil && o.Route.Warning != "" {
		lines = append(lines, "warns "+o.Route.Warning)
	}
	if m := o.Merged; m != nil {
		lines = append(lines, fmt.Sprintf("merged %s %s in %s from %v: %s", m.Verdict, m.Severity, m.ContextFile, m.Sources, m.Hint))
	}
	for _, e := range o.Events {
		var b strings.Builder
		for _, f := range e.Data {
			fmt.Fprintf(&b, " %s=%v", f.Key, f.Value)
		}
		lines = append(lines, "timeline "+e.Type+b.String())
	}
	return lines
}

// changes lists what is different in the state, one line for each thing.
func (w *walk) changes(before, after *State) (lines []string) {
	old, now := stateLines(before), stateLines(after)
	for _, l := range now {
		if !slices.Contains(old, l) {
			lines = append(lines, "state "+l)
		}
	}
	// What has no line any more is gone.
	subject := func(l string) string { s, _, _ := strings.Cut(l, ": "); return s }
	for _, l := range old {
		if !slices.ContainsFunc(now, func(n string) bool { return subject(n) == subject(l) }) {
			lines = append(lines, "state "+subject(l)+": gone")
		}
	}
	return lines
}

// stateLines is a state, a line for each thing in it.
func stateLines(s *State) (lines []string) {
	add := func(when bool, format string, args ...any) {
		if when {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	add(s.Active || s.Ended != "", "run: %s, at %s %s %s", s.Phase(), s.CurrentStage, s.EndReason, s.FeatureName)
	for k, st := range s.Stages.All() {
		st.raw = ""
		route := ""
		if st.Verdict != nil {
			route = " " + st.Verdict.Verdict + "/" + st.Verdict.Route + "/" + st.Verdict.Severity
		}
		text := st.Status
		for _, word := range []string{st.Result, st.Mode, st.Agent, route, st.ContextFile, st.Reason} {
			if word != "" {
				text += " " + strings.TrimSpace(word)
			}
		}
		text += flags("forced", st.Forced, "unverified", st.Unverified, "to be skipped", st.SkipWanted)
		clock := func(stamp string) string { _, c, _ := strings.Cut(strings.TrimSuffix(stamp, ".000Z"), "T"); return c }
		add(true, "stage %s: %s %s–%s", k, text, clock(st.StartedAt), clock(st.CompletedAt))
		add(s.Retries[k] > 0, "retries of %s: %d of %d", k, s.Retries[k], s.maxRetries(k))
		add(s.Crashes[k] > 0, "crashes of %s: %d", k, s.Crashes[k])
		if rounds, _ := s.RetryHistory.Get(k); len(rounds) > 0 {
			raw, _ := json.Marshal(rounds)
			add(true, "history of %s: %s", k, raw)
		}
	}
	add(s.FailCount+s.RejectCount+s.RetroCount > 0, "counts: %d fail, %d reject, %d issues", s.FailCount, s.RejectCount, s.RetroCount)
	if p := s.PendingRetry; p != nil {
		add(true, "to mend: %v %s", p.Stages, p.ContextFile)
	}
	for k, g := range s.Barriers.All() {
		add(true, "barrier %s: %v of %d %v, next %s, resolved %v, since %s", k, g.Completed, g.Total, g.Siblings, g.Next, g.Resolved, time.UnixMilli(g.StartTime).UTC().Format(time.TimeOnly))
	}
	for k, a := range s.ActiveAgents.All() {
		add(true, "at work %s: %s", k, a.Stage)
	}
	for _, d := range s.Delegations {
		add(true, "hand-over %s: %s to %q%s", d.ID, d.Stage, d.AgentID, flags("open", d.Open, "done", d.Done, "asked", d.Asked, "background", d.Async))
	}
	return lines
}

// flags names those of the pairs that are true.
func flags(pairs ...any) (text string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			text += " " + pairs[i].(string)
		}
	}
	return text
}
