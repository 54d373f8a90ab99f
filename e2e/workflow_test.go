//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// status is what "overtone workflow status --json" says.
type status struct {
	WorkflowType string
	Phase        string
	CurrentStage string
	Stages       []stageStatus
	Ready        []string
	FailCount    int
	Unverified   int
}

type stageStatus struct{ Stage, Status, Result string }

func (w *World) status(session string) status {
	w.t.Helper()
	out := w.Exec("overtone", "workflow", "status", "--json", "--session", session)
	var s status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		w.t.Fatalf("status %s: %v", out, err)
	}
	return s
}

// finished asserts a workflow that came to its end.
func finished(t *testing.T, w *World, session string) {
	t.Helper()
	s := w.status(session)
	if s.Phase != "COMPLETE" {
		t.Errorf("phase %s, stages %v", s.Phase, s.Stages)
	}
	for _, st := range s.Stages {
		if st.Status != "completed" {
			t.Errorf("stage %s is %s", st.Stage, st.Status)
		}
	}
}

// untilComplete reads results until the workflow is over: background agents
// wake the main agent for turns of its own.
func (s *Session) untilComplete(session string) {
	s.w.t.Helper()
	for range 10 {
		if s.w.status(session).Phase == "COMPLETE" {
			return
		}
		s.Result()
	}
}

// hookTexts are what hooks added to the newest messages of a request.
func hookTexts(r *mockapi.Request) []string {
	var out []string
	for _, part := range strings.Split(r.Last(), "<system-reminder>")[1:] {
		part, _, _ = strings.Cut(part, "</system-reminder>")
		if _, text, ok := strings.Cut(part, " hook additional context: "); ok {
			out = append(out, text)
		}
	}
	return out
}

// neverToMain asserts that a text is in no request of the main agent.
func neverToMain(t *testing.T, w *World, text string) {
	t.Helper()
	for _, r := range mains(w) {
		if r.Has(text) {
			t.Errorf("request %d of the main agent has %q:\n%s", r.Seq, text, r.Last())
		}
	}
}

// The whole way, with a review that fails once: back to DEV, both barrier
// stages again, on to the end.
func TestWorkflowStandard(t *testing.T) { t.Parallel(); onAll(t, testWorkflowStandard) }

func testWorkflowStandard(t *testing.T, v Version) {
	const report = "SECRET-REPORT C-1 CRITICAL: the flag is ignored in flag.go:12"
	p := &Relay{Agents: map[string][]Step{
		"code-reviewer": {writeReport(report), failing("CRITICAL", "")},
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	r := w.Prompt("/overtone:standard add a flag").Result()
	if r.IsError {
		t.Errorf("result %+v", r)
	}
	got := agents(w)
	// The two barrier stages start together.
	for _, i := range []int{4, 7} {
		if i+1 < len(got) {
			slices.Sort(got[i : i+2])
		}
	}
	want := []string{
		"planner", "architect", "tester", "developer", "code-reviewer", "tester",
		"developer", "code-reviewer", "tester", "retrospective", "doc-updater",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("agents (-want +got):\n%s", diff)
	}
	finished(t, w, r.SessionID)
	neverToMain(t, w, "SECRET-REPORT")
	neverToMain(t, w, "C-1")

	// The second review has its own report; the first one is in the merged file.
	data, err := os.ReadFile(filepath.Join(w.Config, "pipeline-context-"+r.SessionID+"-MERGED.md"))
	if err != nil || !strings.Contains(string(data), report) {
		t.Errorf("merged report: %q, %v", data, err)
	}
	for _, name := range []string{"planner", "architect", "developer", "retrospective", "doc-updater"} {
		for _, r := range subs(w, name) {
			if nc, n := node(r); n != 1 || nc.Node.Stage == "" {
				t.Errorf("%s has %d node contexts: %+v", name, n, nc)
			}
		}
	}
	back := subs(w, "developer")[1]
	nc, _ := node(back)
	if nc.RetryContext == nil || nc.RetryContext.FailedStage != "REVIEW" || nc.RetryContext.ReflectionFile == "" {
		t.Errorf("DEV was sent back with %+v", nc)
	}
	if !back.Has("pipeline-context-"+r.SessionID) || back.Count(report) == 0 {
		t.Errorf("DEV does not know the report: %s", back.Prompt())
	}
	// Every request but the last names the next stage, in few words.
	m := mains(w)
	for _, r := range m[:len(m)-1] {
		texts := hookTexts(r)
		if len(delegations(strings.Join(texts, "\n"))) == 0 {
			t.Errorf("request %d tells the main agent nothing: %s", r.Seq, r.Last())
		}
		for _, text := range texts {
			if n := workflow.EstimateTokens(text); n >= 200 {
				t.Errorf("request %d: a routing text of %d tokens: %s", r.Seq, n, text)
			}
		}
	}
}

// REVIEW and TEST in one batch: the first to end says nothing, the join is told
// once.
func TestWorkflowBarrierJoin(t *testing.T) { t.Parallel(); onEach(t, testWorkflowBarrierJoin) }

func testWorkflowBarrierJoin(t *testing.T, v Version) {
	p := &Relay{}
	w := NewWorld(t, Overtone, p.Handle, v)
	r := w.Prompt("[workflow:quick] add a flag").Result()
	want := []string{"developer", "code-reviewer", "tester", "retrospective", "doc-updater"}
	got := agents(w)
	if len(got) > 2 {
		slices.Sort(got[1:3])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("agents (-want +got):\n%s", diff)
	}
	finished(t, w, r.SessionID)
	join := mains(w)[2]
	if got := delegations(join.Last()); len(got) != 1 || got[0].stage != "RETRO" {
		t.Errorf("after the batch: %s", join.Last())
	}
	if n := strings.Count(join.Last(), "overtone:retrospective"); n != 1 {
		t.Errorf("the next stage is named %d times: %s", n, join.Last())
	}
	for _, name := range []string{"code-reviewer", "tester"} {
		if nc, _ := node(subs(w, name)[0]); nc.Node.Barrier == nil || nc.Node.Barrier.Group != "post-dev" {
			t.Errorf("%s: %+v", name, nc)
		}
	}
}

// Background agents end while the main agent is idle: the outbox rides on the
// notification.
func TestWorkflowBackground(t *testing.T) { t.Parallel(); onEach(t, testWorkflowBackground) }

func testWorkflowBackground(t *testing.T, v Version) {
	first, second := make(chan struct{}), make(chan struct{})
	p := &Relay{Background: true, Agents: map[string][]Step{
		"developer":     {Step(pass).until(first)},
		"code-reviewer": {Step(pass).until(second)},
		"tester":        {Step(pass).until(second)},
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Start()
	res := s.Ask("[workflow:quick-dev] fix it")
	close(first)
	s.Result()
	close(second)
	s.untilComplete(res.SessionID)
	s.Ask("thank you")
	s.Close()
	got := agents(w)
	if len(got) > 2 {
		slices.Sort(got[1:3])
	}
	if diff := cmp.Diff([]string{"developer", "code-reviewer", "tester"}, got); diff != "" {
		t.Fatalf("agents (-want +got):\n%s", diff)
	}
	finished(t, w, res.SessionID)
	last := mains(w)[len(mains(w))-1]
	if n := last.Count("Pipeline [quick-dev] 完成"); n != 1 {
		t.Errorf("the end is told %d times", n)
	}
	// Stop must let go while agents work: a held turn would be a request more.
	for _, m := range mains(w) {
		if m.Has("Stop hook feedback") {
			t.Errorf("the turn was held while agents worked: %s", m.Last())
		}
	}
}

// A day passes while TEST is at work. Where the machine slept through it, TEST's FAIL counts,
// as no time has passed. Where it was awake its barrier has given up, and the FAIL, which
// moves nothing any more, is shown to the model and the person.
func TestWorkflowSlept(t *testing.T) {
	t.Parallel()
	for name, slept := range map[string]bool{"slept": true, "was awake": false} {
		t.Run(name, func(t *testing.T) { t.Parallel(); testWorkflowSlept(t, slept) })
	}
}

func testWorkflowSlept(t *testing.T, slept bool) {
	morning := make(chan struct{})
	p := &Relay{Background: true, Agents: map[string][]Step{"tester": {failing("HIGH", "").until(morning)}}}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	id := s.Ask("[workflow:quick] fix it").SessionID
	stage := func(key string) (st stageStatus) {
		for _, st = range w.status(id).Stages {
			if st.Stage == key {
				break
			}
		}
		return st
	}
	for stage("REVIEW").Status != "completed" || stage("TEST").Status != "active" {
		s.Result()
	}
	w.aDayPasses(id, slept)
	s.Ask("good morning, how is it going?")
	close(morning)
	for stage("TEST").Result != "fail" && w.status(id).FailCount == 0 {
		s.Result()
	}
	s.Ask("thank you")
	s.Close()
	if back := w.status(id).CurrentStage == "DEV"; back != slept {
		t.Errorf("its FAIL sends the work back: %v", back)
	}
	const late = "TEST 在 barrier 逾時之後才回報 FAIL"
	shown := slices.ContainsFunc(s.Seen().Events, func(e Event) bool {
		return e.Subtype == "informational" && strings.Contains(string(e.Raw), late)
	})
	told := mains(w)[len(mains(w))-1].Count(late)
	if shown == slept || told != map[bool]int{false: 1}[slept] {
		t.Errorf("a late FAIL is shown to the person: %v, told to the model %d times", shown, told)
	}
}

// aDayPasses makes all that Overtone has noted of a session a day older. The sum of what the
// machine has been awake is what it was: had it slept for that day, the clock would be a day
// further ahead of it than was noted. A hook that is at work ends first.
func (w *World) aDayPasses(session string, slept bool) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".overtone", "sessions", session)
	release := func() {}
	await(w.t, "the session's lock", func() (mine bool) {
		var err error
		if release, mine, err = store.TryLock(filepath.Join(dir, "lock")); err != nil {
			w.t.Fatal(err)
		}
		return mine
	})
	defer release()
	files, _ := filepath.Glob(filepath.Join(dir, "*.json*"))
	barriers, _ := filepath.Glob(filepath.Join(w.Config, "barrier-state-*.json"))
	const day = 24 * time.Hour
	clock := regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"|("ahead":)?\b1\d{12}\b`)
	for _, file := range append(files, barriers...) {
		data, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		data = clock.ReplaceAllFunc(data, func(found []byte) []byte {
			text := string(found)
			if at, err := time.Parse(`"`+time.RFC3339+`"`, text); err == nil {
				return []byte(at.Add(-day).Format(`"` + time.RFC3339Nano + `"`))
			}
			key, ms := "", text
			if at := strings.IndexByte(text, ':'); at >= 0 {
				key, ms = text[:at+1], text[at+1:]
			}
			n, err := strconv.ParseInt(ms, 10, 64)
			if err != nil || key != "" && !slept {
				return found
			}
			return []byte(key + strconv.FormatInt(n-day.Milliseconds(), 10))
		})
		if err := os.WriteFile(file, data, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// The host hands a background agent's last message to the main model as it is,
// so the agent is asked to say it in one line; the report goes to its file.
func TestWorkflowBackgroundReport(t *testing.T) {
	t.Parallel()
	const report = "SECRET-REPORT\n\n- C-1 CRITICAL flag.go:12 is wrong\n- C-2 HIGH flag.go:13 too"
	p := &Relay{Background: true, Agents: map[string][]Step{"code-reviewer": {failing("HIGH", report), failing("HIGH", "")}}}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	res := s.Ask("[workflow:quick-dev] fix it")
	s.untilComplete(res.SessionID)
	s.Close()
	finished(t, w, res.SessionID)
	neverToMain(t, w, "SECRET-REPORT")
	back := subs(w, "developer")
	if len(back) != 2 || !back[1].Has("SECRET-REPORT") {
		t.Errorf("the developer was sent back %d times, without the report", len(back)-1)
	}
}

// An agent that dies of an API error is delegated again; nothing moves on.
func TestWorkflowAgentCrash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent string }{{"developer"}, {"code-reviewer"}} {
		t.Run(c.agent, func(t *testing.T) {
			p := &Relay{Agents: map[string][]Step{c.agent: {fail(400, "mock crash")}}}
			w := NewWorld(t, Overtone, p.Handle)
			r := w.Prompt("[workflow:quick-dev] fix it").Result()
			count := 0
			for _, a := range agents(w) {
				if a == c.agent {
					count++
				}
			}
			if count != 2 {
				t.Errorf("agents %v", agents(w))
			}
			finished(t, w, r.SessionID)
		})
	}
	t.Run("in the background", func(t *testing.T) {
		p := &Relay{Background: true, Agents: map[string][]Step{"developer": {fail(400, "mock crash")}}}
		w := NewWorld(t, Overtone, p.Handle)
		s := w.Start()
		res := s.Ask("[workflow:single] fix it")
		s.untilComplete(res.SessionID)
		s.Close()
		if diff := cmp.Diff([]string{"developer", "developer"}, agents(w)); diff != "" {
			t.Errorf("agents (-want +got):\n%s", diff)
		}
		finished(t, w, res.SessionID)
	})
}

// A quality agent that forgets its marker is asked once, in place.
func TestWorkflowMissingMarker(t *testing.T) {
	t.Parallel()
	t.Run("answers when asked", func(t *testing.T) {
		p := &Relay{Agents: map[string][]Step{"code-reviewer": {say("Looks good to me."), pass}}}
		w := NewWorld(t, Overtone, p.Handle)
		r := w.Prompt("[workflow:review-only] look").Result()
		finished(t, w, r.SessionID)
		reqs := subs(w, "code-reviewer")
		if len(reqs) != 2 || !strings.Contains(reqs[1].Last(), "PIPELINE_ROUTE") {
			t.Fatalf("the reviewer got %v", reqs)
		}
		if s := w.status(r.SessionID); s.Unverified != 0 {
			t.Errorf("unverified %d", s.Unverified)
		}
	})
	t.Run("stays silent", func(t *testing.T) {
		p := &Relay{Agents: map[string][]Step{"code-reviewer": {say("Looks good."), say("Looks good."), pass}}}
		w := NewWorld(t, Overtone, p.Handle)
		r := w.Prompt("[workflow:review-only] look").Result()
		finished(t, w, r.SessionID)
		if diff := cmp.Diff([]string{"code-reviewer", "code-reviewer"}, agents(w)); diff != "" {
			t.Errorf("agents (-want +got):\n%s", diff)
		}
	})
}

// While a workflow is active the main agent only relays.
func TestWorkflowGuard(t *testing.T) {
	t.Parallel()
	write := func(name string) mockapi.Block {
		return tool("Write", map[string]any{"file_path": name, "content": "x"})
	}
	p := &Relay{
		Before: func(r *mockapi.Request, n int) *mockapi.Reply {
			if n == 0 {
				reply := mockapi.Calls(write("main.txt"), bash("echo x > shell.txt"), bash("git status --short"), bash("overtone workflow status"))
				return &reply
			}
			if n == 1 {
				reply := mockapi.Calls(mockapi.Delegate("overtone:doc-updater", "skip ahead"))
				return &reply
			}
			if n == 2 {
				reply := mockapi.Calls(mockapi.Delegate("overtone:developer", "do DEV"))
				return &reply
			}
			return nil
		},
		Agents: map[string][]Step{"developer": {call(write("dev.txt")), pass}},
	}
	w := NewWorld(t, Overtone, p.Handle)
	r := w.Prompt("[workflow:quick] add a flag").Result()
	finished(t, w, r.SessionID)
	for name, want := range map[string]bool{"main.txt": false, "shell.txt": false, "dev.txt": true} {
		if _, err := os.Stat(filepath.Join(w.Project, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	m := mains(w)
	results := m[1].Results()
	for i, denied := range []bool{true, true, false, false} {
		if i >= len(results) || strings.Contains(results[i].Text, "⛔") != denied {
			t.Errorf("call %d: denied %v wanted, got %+v", i, denied, results)
		}
	}
	if got := m[2].Results()[0].Text; !strings.Contains(got, "⛔") || !strings.Contains(got, "DEV") {
		t.Errorf("a stage out of order: %s", got)
	}
	if n := len(subs(w, "doc-updater")); n != 1 {
		t.Errorf("doc-updater ran %d times", n)
	}
}

func TestWorkflowStop(t *testing.T) {
	t.Parallel()
	t.Run("keeps the loop going", func(t *testing.T) {
		p := &Relay{Before: func(r *mockapi.Request, n int) *mockapi.Reply {
			if n == 1 {
				reply := mockapi.Text("I think that is enough.")
				return &reply
			}
			return nil
		}}
		w := NewWorld(t, Overtone, p.Handle)
		r := w.Prompt("[workflow:quick-dev] fix it").Result()
		finished(t, w, r.SessionID)
		if got := mains(w)[2].Last(); !strings.Contains(got, "Stop hook feedback:") {
			t.Errorf("after the early end: %s", got)
		}
	})
	t.Run("lets go", func(t *testing.T) {
		p := &Relay{Before: func(*mockapi.Request, int) *mockapi.Reply {
			reply := mockapi.Text("No.")
			return &reply
		}}
		w := NewWorld(t, Overtone, p.Handle)
		r := w.Prompt("[workflow:quick-dev] fix it").Result()
		if r.Text != "No." || len(mains(w)) < 2 || len(mains(w)) > 9 {
			t.Errorf("%d requests, result %+v", len(mains(w)), r)
		}
		if s := w.status(r.SessionID); s.Phase == "COMPLETE" {
			t.Errorf("status %+v", s)
		}
	})
	t.Run("does not touch a session without a workflow", func(t *testing.T) {
		w := NewWorld(t, Overtone, (&Play{}).Handle)
		w.Prompt("hello")
		if n := len(mains(w)); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// A message to an agent that is known resumes it: a new delegation of its
// stage, in the background.
func TestWorkflowSendMessage(t *testing.T) {
	t.Parallel()
	p := &Relay{
		Agents: map[string][]Step{"code-reviewer": {failing("HIGH", "SECRET-REPORT")}},
		Before: func(r *mockapi.Request, n int) *mockapi.Reply {
			if d := delegations(r.Last()); n > 1 && len(d) == 1 && d[0].stage == "DEV" {
				reply := mockapi.Call("SendMessage", map[string]any{"to": agentID(r), "message": "mend it", "summary": "mend it"})
				return &reply
			}
			return nil
		},
	}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	res := s.Ask("[workflow:quick-dev] fix it")
	s.untilComplete(res.SessionID)
	s.Close()
	finished(t, w, res.SessionID)
	if n := len(subs(w, "developer")); n != 2 {
		t.Errorf("the developer had %d requests", n)
	}
	neverToMain(t, w, "SECRET-REPORT")
}

// /overtone:auto leaves the choice to the model, which starts a workflow with
// the command line; nobody is asked for permission.
func TestWorkflowAuto(t *testing.T) {
	t.Parallel()
	p := &Relay{Before: func(r *mockapi.Request, n int) *mockapi.Reply {
		if n == 0 {
			reply := mockapi.Calls(bash("overtone workflow start quick-dev"))
			return &reply
		}
		return nil
	}}
	w := NewWorld(t, Overtone, p.Handle)
	w.Allow = ""
	r := w.Prompt("/overtone:auto mend the flag").Result()
	if !mains(w)[0].Has("Task: mend the flag") {
		t.Errorf("the model got %s", mains(w)[0].Last())
	}
	finished(t, w, r.SessionID)
}

func TestWorkflowCommands(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	defer close(hold)
	p := &Relay{Background: true, Agents: map[string][]Step{"developer": {say("NEVER").until(hold)}}}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	s.Ask("/overtone:status")
	if got := mains(w)[0].Last(); !strings.Contains(got, "Show the status above") {
		t.Errorf("status without a workflow: %s", got)
	}
	res := s.Ask("/overtone:quick add a flag")
	if st := w.status(res.SessionID); st.WorkflowType != "quick" || st.Phase != "DELEGATING" || st.Stages[0].Status != "active" {
		t.Fatalf("status %+v", st)
	}
	n := len(mains(w))
	s.Ask("/overtone:status")
	if got := mains(w)[n].Last(); !strings.Contains(got, "quick") || !strings.Contains(got, "DEV") {
		t.Errorf("status: %s", got)
	}
	s.Ask("/overtone:standard something else")
	if st := w.status(res.SessionID); st.WorkflowType != "quick" {
		t.Errorf("a second workflow replaced the first: %+v", st)
	}
	s.Ask("/overtone:cancel")
	if st := w.status(res.SessionID); st.Phase != "CANCELLED" {
		t.Errorf("after cancel: %+v", st)
	}
	n = len(mains(w))
	s.Ask("thank you")
	if got := len(mains(w)); got != n+1 {
		t.Errorf("%d requests after cancel", got-n)
	}
}

// The session ends in mid-stage, the process with it; a resumed session goes on.
func TestWorkflowResume(t *testing.T) {
	t.Parallel()
	review := newHeld(t)
	p := &Relay{Agents: map[string][]Step{"code-reviewer": {func(*mockapi.Request) mockapi.Reply { return mockapi.Text("NEVER").Until(review.at()) }}}}
	w := NewWorld(t, Overtone, p.Handle)
	s := w.Start()
	s.Send("[workflow:quick-dev] fix it")
	receive(t, "started", review.reached)
	var init struct {
		SessionID string `json:"session_id"`
	}
	s.Wait("init", func(e Event) bool { return e.Subtype == "init" }).Decode(t, &init)
	s.Kill()

	r := w.Prompt("[workflow:quick-dev]", "--resume", init.SessionID).Result()
	if r.SessionID != init.SessionID {
		t.Errorf("session %s became %s", init.SessionID, r.SessionID)
	}
	finished(t, w, r.SessionID)
}

func TestWorkflowDisabled(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, (&Relay{}).Handle)
	w.Setenv("OVERTONE_DISABLE", "1")
	w.Prompt("[workflow:quick] add a flag")
	if n := len(w.API.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if r := w.API.Requests()[0]; r.Has("➡️") {
		t.Errorf("a hook spoke: %s", r.Last())
	}
}
