package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// hold takes the session's lock as another process would, until the test gives it
// back.
func (p *place) hold() (release func()) {
	p.t.Helper()
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s := p.session()
	go func() { done <- s.Update(func(*store.Tx) error { close(held); <-free; return nil }) }()
	<-held
	return sync.OnceFunc(func() {
		close(free)
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	})
}

// held runs a call while the lock is held.
func (p *place) held(event, in string) (stdout, stderr string) {
	p.t.Helper()
	begin := time.Now()
	stdout, stderr = p.call(event, "claude-code", in)
	if took := time.Since(begin); took > 4*time.Second {
		p.t.Errorf("%s waited for %s", event, took)
	}
	return stdout, stderr
}

func (p *place) count(event string) int {
	p.t.Helper()
	list, _, err := p.session().Last(1000, store.Filter{Types: []string{event}})
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

// With the lock held the guard still says no, and its event is not lost.
func TestGuardNeedsNoLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("user-prompt-submit", "claude-code", start)
	release := p.hold()
	defer release()
	const edit = `"tool_name":"Edit","tool_use_id":"t9","tool_input":{"file_path":"/x"}`
	out, errs := p.held("pre-tool-use", edit)
	if !strings.Contains(out, `"permissionDecision":"deny"`) {
		t.Errorf("not denied: %s", out)
	}
	if !strings.Contains(errs, store.ErrBusy.Error()) || strings.Count(errs, "\n") != 1 {
		t.Errorf("stderr: %q", errs)
	}
	release()
	if n := p.count(message.EventToolGuarded); n != 0 {
		t.Fatalf("%d events before the next call", n)
	}
	p.call("post-tool-batch", "claude-code", `"tool_calls":[]`)
	if n := p.count(message.EventToolGuarded); n != 1 {
		t.Errorf("%d events after the next call", n)
	}
}

// A host that waits too long for the guard runs the line: no line is worth that.
func TestGuardIsNotStalled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("user-prompt-submit", "claude-code", start)
	for _, line := range []string{
		strings.Repeat("env ", 20_000) + "true; touch F", strings.Repeat("xargs ", 15_000) + "true; touch F", "bash " + strings.Repeat("-e ", 30_000) + "-c 'touch F'", "xargs " + strings.Repeat("-n1 ", 20_000) + "touch F",
		strings.Repeat("[[ $( ", 40) + "touch F" + strings.Repeat(" | wc -l) -eq 1 ]]", 40), "git -c alias.x='!" + strings.Repeat("git x;", 5000) + "' x; overtone config",
	} {
		begin := time.Now()
		out, _ := p.call("pre-tool-use", "claude-code", `"tool_name":"Bash","tool_use_id":"t9","tool_input":{"command":`+strconv.Quote(line)+`}`)
		if took := time.Since(begin); took > 4*time.Second || !strings.Contains(out, `"permissionDecision":"deny"`) {
			t.Errorf("%.60s: %v, %s", line, took, out)
		}
	}
}

// A whole flow whose every call meets a held lock once ends like one that never
// does: the next call does what the one before could not.
func TestPutOffCallsAreRepaired(t *testing.T) {
	t.Parallel()
	flow := []step{
		{event: "session-start", in: `"source":"startup"`},
		{event: "user-prompt-submit", in: start},
		{event: "pre-tool-use", in: hireDev},
		{event: "subagent-start", in: devBegun},
		{event: "subagent-stop", in: devDone},
		{event: "post-tool-batch", in: `"tool_calls":[]`},
		{event: "pre-tool-use", in: hireRev},
		{event: "session-end", in: `"reason":"exit"`},
		{event: "session-start", in: `"source":"resume"`},
	}
	run := func(t *testing.T, hold int) *place {
		t.Helper()
		p := newPlace(t)
		p.call("session-end", "claude-code", "")
		for i, s := range flow {
			if i != hold {
				p.call(s.event, "claude-code", s.in)
				continue
			}
			if err := p.session().Update(func(*store.Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
			release := p.hold()
			p.held(s.event, s.in)
			release()
		}
		p.call("post-tool-batch", "claude-code", `"tool_calls":[]`)
		return p
	}
	stages := func(p *place) (list []string) {
		for k, st := range p.workflow().Stages.All() {
			list = append(list, k+" "+st.Status+" "+st.Result)
		}
		return list
	}
	types := func(p *place) (list []string) {
		entries, _, err := p.session().Last(1000, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			list = append(list, e.Type)
		}
		slices.Sort(list)
		return list
	}
	want := run(t, -1)
	for i, s := range flow {
		t.Run(fmt.Sprintf("%d %s", i, s.event), func(t *testing.T) {
			t.Parallel()
			got := run(t, i)
			if a, b := stages(want), stages(got); !slices.Equal(a, b) {
				t.Errorf("stages\n%q, want\n%q", b, a)
			}
			if a, b := types(want), types(got); !slices.Equal(a, b) {
				t.Errorf("events\n%q, want\n%q", b, a)
			}
			if list := got.session().Deferred(); len(list) > 0 {
				t.Errorf("left: %q", list)
			}
		})
	}
}

// A prompt that meets a held lock still reminds of the work, and the workflow it
// asks for starts with the next call.
func TestPromptWithoutLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("session-start", "claude-code", `"source":"startup"`)
	release := p.hold()
	p.held("user-prompt-submit", start)
	release()
	out, _ := p.call("post-tool-batch", "claude-code", `"tool_calls":[]`)
	if !strings.Contains(out, "overtone:developer") {
		t.Errorf("not told to begin: %s", out)
	}
	if s := p.workflow(); !s.Active || s.WorkflowType != "quick" {
		t.Errorf("workflow %+v", s)
	}
	release = p.hold()
	defer release()
	out, _ = p.held("user-prompt-submit", `"prompt":"go on"`)
	if !strings.Contains(out, workflow.Bar(p.workflow())) {
		t.Errorf("not reminded: %s", out)
	}
}

// Sixty-four writers, and somebody who holds the lock for more than a second: each
// call is on the timeline once.
func TestManyWritersAndAHeldLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("user-prompt-submit", "claude-code", start)
	release := p.hold()
	var wg sync.WaitGroup
	const writers = 64
	for i := range writers {
		at := p.now.Add(time.Duration(i) * time.Millisecond)
		wg.Go(func() {
			own := *p
			own.now = at
			own.call("session-end", "claude-code", fmt.Sprintf(`"reason":"r%d"`, i))
		})
	}
	wg.Wait() // each gives up by itself
	release()
	p.call("post-tool-batch", "claude-code", `"tool_calls":[]`)
	entries, _, err := p.session().Last(1000, store.Filter{Types: []string{message.EventSessionEnd}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range entries {
		seen[e.Text("reason")]++
	}
	for i := range writers {
		if n := seen[fmt.Sprintf("r%d", i)]; n != 1 {
			t.Errorf("call %d is there %d times", i, n)
		}
	}
}

// A report of an earlier round does not stand behind a new verdict.
func TestReportOfAnEarlierRoundIsGone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hire := func(id, kind string) {
		p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"`+id+`","tool_input":{"subagent_type":"overtone:`+kind+`","prompt":"go"}`)
	}
	stop := func(id, kind, text string) {
		p.call("subagent-stop", "claude-code", `"agent_id":"`+id+`","agent_type":"overtone:`+kind+`","last_assistant_message":"`+text+`"`)
	}
	const pass = `fine <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->`
	const fail = `# Broken\n\nthe map\n<!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"HIGH\"} -->`
	report := filepath.Join(p.dir, ".claude", "pipeline-context-s1-TEST.md")
	p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:quick] x"`)
	hire("t1", "developer")
	stop("a1", "developer", pass)
	hire("t2", "code-reviewer")
	hire("t3", "tester")
	stop("a2", "code-reviewer", pass)
	stop("a3", "tester", fail)
	if data, err := os.ReadFile(report); err != nil || !strings.Contains(string(data), "the map") {
		t.Fatalf("no report: %q, %v", data, err)
	}
	hire("t4", "developer")
	stop("a4", "developer", pass)
	hire("t5", "tester")
	if _, err := os.Stat(report); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the report of the first round is there: %v", err)
	}
	stop("a5", "tester", pass)
	if st, _ := p.workflow().Stages.Get("TEST"); st.Result != "pass" {
		t.Errorf("TEST: %+v", st)
	}
	if _, err := os.Stat(report); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a report that nobody wrote: %v", err)
	}
}
