//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// A stage's agent that dies of an error of the model's server is seen, and its stage
// offered again.
func TestCodexPush_DiedAgent(t *testing.T) {
	t.Parallel()
	c := &codexRelay{closed: map[string]bool{}, tried: true, failed: true, wait: 60_000}
	var (
		mu   sync.Mutex
		died int
	)
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		for _, it := range r.Input {
			if nodeContextRE.MatchString(it.Text) {
				mu.Lock()
				defer mu.Unlock()
				if died++; died == 1 {
					return codexmock.Reply{Status: 400}
				}
			}
		}
		return c.answer(r)
	}, "", "suggest")
	u := w.User()
	u.AwaitTurn(u.Say("[workflow:single] add a flag"))
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := strings.Join(c.seen, "\n----\n")
	if !strings.Contains(seen, "The DEV agent died of an error (1/3)") || strings.Contains(seen, "at work") || strings.Contains(seen, "/overtone:") {
		t.Errorf("the main agent saw %s", seen)
	}
	if s := w.run("workflow", "status", "--session", u.Thread, "--json"); gjson.Get(s, "phase").String() != "COMPLETE" {
		t.Errorf("status %s", s)
	}
}

// A stage's agent that somebody ends while it works, in its own thread or by the main
// agent, is not at work any more: nobody is told to wait for it, and its stage is offered
// again.
func TestCodexPush_KilledAgent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"interrupted", "archived", "closed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := &codexRelay{closed: map[string]bool{}, tried: true, failed: true}
			var (
				mu   sync.Mutex
				once sync.Once
				died int
			)
			waits, working := make(chan struct{}), make(chan struct{})
			w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
				for _, it := range r.Input {
					if nodeContextRE.MatchString(it.Text) {
						mu.Lock()
						died++
						first := died == 1
						mu.Unlock()
						if first {
							close(working)
							return codexmock.Reply{Wait: r.Gone}
						}
					}
				}
				reply := c.answer(r)
				if len(reply.Calls) == 1 && reply.Calls[0].Name == "wait_agent" {
					once.Do(func() {
						reply.Wait = working
						if how == "closed" {
							id := reply.Calls[0].Args.(map[string]any)["targets"].([]string)[0]
							reply.Calls[0] = codexmock.Call{Name: "close_agent", Namespace: "multi_agent_v1", Args: map[string]any{"target": id}}
						}
						close(waits)
					})
				}
				return reply
			}, "", "suggest")
			u := w.User()
			turn := u.Say("[workflow:single] add a flag")
			<-waits
			<-working
			agent := w.agents()[0]
			switch how {
			case "interrupted":
				var r struct{ Data []struct{ ID string } }
				u.call("thread/turns/list", map[string]any{"threadId": agent, "limit": 1}, &r)
				u.call("turn/interrupt", map[string]any{"threadId": agent, "turnId": r.Data[0].ID}, nil)
			case "archived":
				u.call("thread/archive", map[string]any{"threadId": agent}, nil)
			}
			u.AwaitTurn(turn)
			if how == "interrupted" { // by its user, who is told and has the next word
				if got := strings.Join(w.said("stop", "warning"), "\n"); strings.Count(got, "the next word is yours") != 1 {
					t.Errorf("the person was told %q", got)
				}
				u.AwaitTurn(u.Say("[workflow:single]"))
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if died != 2 || strings.Contains(strings.Join(c.seen[1:], "\n"), "at work") {
				t.Errorf("%d agents at DEV; the main agent saw %s", died, strings.Join(c.seen[1:], "\n----\n"))
			}
			if s := w.run("workflow", "status", "--session", u.Thread, "--json"); gjson.Get(s, "phase").String() != "COMPLETE" {
				t.Errorf("status %s", s)
			}
		})
	}
}

// agents are the threads of sub-agents that the main agent was told of.
func (w *hookedCodex) agents() (ids []string) {
	for _, r := range w.Model.Requests() {
		for _, it := range r.Input {
			if id := gjson.Get(it.Text, "agent_id").String(); id != "" && it.Type == "function_call_output" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// The user takes the word while a workflow is at work: by Esc and a question, by another
// request, in plan mode. No turn is pushed on, and the model is not told to delegate;
// one word of his sets it going again.
func TestPush_NeverAgainstTheUser(t *testing.T) { t.Parallel(); onEach(t, testPushAgainst) }

func testPushAgainst(t *testing.T, v Version) {
	begun := make(chan struct{})
	p := &Relay{Before: func(r *mockapi.Request, n int) *mockapi.Reply {
		reply := mockapi.Text("It is main.go.")
		switch {
		case n == 0:
			close(begun)
			reply = reply.Until(make(chan struct{}))
		case strings.HasSuffix(strings.TrimSpace(r.Last()), "[workflow:single]"):
			return nil
		case n > 3:
			return nil
		}
		return &reply
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	s := w.Start()
	s.Send("[workflow:single] fix it")
	receive(t, "begun", begun)
	s.Control(map[string]any{"subtype": "interrupt"})
	s.Result()
	s.Ask("which file is that?")
	s.Ask("rename the variable in it")
	s.Control(map[string]any{"subtype": "set_permission_mode", "mode": "plan"})
	s.Ask("add a flag to it")
	list := mains(w)
	if len(list) != 4 {
		t.Errorf("%d requests of the main agent", len(list))
	}
	for _, r := range list[1:] {
		if texts := strings.Join(hookTexts(r), "\n"); strings.Contains(r.Last(), "Stop hook feedback") || strings.Count(texts, "overtone:developer") > 1 {
			t.Errorf("pushed: %s\n%s", texts, r.Last())
		}
	}
	s.Control(map[string]any{"subtype": "set_permission_mode", "mode": "default"})
	r := s.Ask("[workflow:single]")
	finished(t, w, r.SessionID)
}

// A tag that is only spoken of starts nothing, and the model hears nothing of it.
func TestTag_OnlyWhereItIsAskedFor(t *testing.T) { t.Parallel(); onEach(t, testTags) }

func testTags(t *testing.T, v Version) {
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply { return mockapi.Text("Noted.") }, v)
	s := w.Start()
	for _, prompt := range []string{"what does [workflow:single] do?", "do not use [workflow:single]", "please [workflow:single] add a flag", "explain this:\n```\n[workflow:single] x\n```"} {
		s.Ask(prompt)
	}
	list := mains(w)
	if len(list) != 4 {
		t.Errorf("%d requests", len(list))
	}
	for _, r := range list {
		if r.Has("Delegate overtone:") || r.Has("is set up") || r.Has("only mentioned") {
			t.Errorf("the model was told of it: %s", r)
		}
	}
	r := s.Ask("Please do it this way:\n[workflow:single] add a flag")
	if st := w.status(r.SessionID); st.WorkflowType != "single" {
		t.Errorf("status %+v", st)
	}
}

// The same on Codex: Esc, then another thing, then a question. The request that follows
// names no hand-over, and the turn ends when the agent ends it.
func TestCodexPush_Interrupted(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		if text, _ := r.LastUser(); strings.Contains(text, "[workflow:single]") {
			return codexmock.Reply{Wait: r.Gone}
		}
		return codexmock.Reply{Message: "It is main.go.", Tokens: 1000}
	}, "", "suggest")
	u := w.User()
	turn := u.Say("[workflow:single] add a flag")
	w.Requests(1)
	u.call("turn/interrupt", map[string]any{"threadId": u.Thread, "turnId": turn}, nil)
	u.AwaitTurn(turn)
	for i, prompt := range []string{"rename the variable in main.go please", "which file is that?"} {
		u.AwaitTurn(u.Say(prompt))
		list := w.Requests(2 + i)
		if len(list) != 2+i {
			t.Fatalf("%d requests after %q", len(list), prompt)
		}
		last := list[len(list)-1].Input
		for j := len(last) - 1; j >= 0 && last[j].Role != "assistant"; j-- {
			if strings.Contains(last[j].Text, "[Overtone loop") {
				t.Errorf("%q is answered with a push: %s", prompt, last[j].Text)
			}
		}
	}
}

// In Codex's plan mode nothing is pushed on: the user wants a plan.
func TestCodexPush_PlanMode(t *testing.T) {
	t.Parallel()
	w := newHookedCodex(t, func(r codexmock.Request) codexmock.Reply {
		return codexmock.Reply{Message: "Noted.", Tokens: 1000}
	}, "", "suggest")
	u := w.User()
	var r struct{ Turn struct{ ID string } }
	mode := map[string]any{"mode": "plan", "settings": map[string]any{"model": "mock-model", "reasoning_effort": nil, "developer_instructions": nil}}
	u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input("[workflow:single] add a flag"), "collaborationMode": mode}, &r)
	u.AwaitTurn(r.Turn.ID)
	if n := len(w.Requests(1)); n != 1 {
		t.Errorf("%d requests", n)
	}
	mode["mode"] = "default"
	u.call("turn/start", map[string]any{"threadId": u.Thread, "input": input("[workflow:single]"), "collaborationMode": mode}, &r)
	u.AwaitTurn(r.Turn.ID)
	if n := len(w.Requests(2)); n < 3 {
		t.Errorf("%d requests: out of plan mode it is not pushed on", n)
	}
}

// Where nothing is routed, a tag is answered with a line that says so: by the model on
// Copilot, by the watcher in a run that it drives.
func TestTag_WhereNothingIsRouted(t *testing.T) {
	t.Parallel()
	t.Run("copilot", func(t *testing.T) {
		t.Parallel()
		c := newCopilot(t, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("Noted.").Tokens(1_000) })
		c.exec("overtone", "init", "--host", "copilot", "--yes", "--lang", "en")
		c.ask("[workflow:quick] add a flag")
		if n := len(with(c.API.Requests(), "does nothing here")); n != 1 {
			t.Errorf("%d requests with the line", n)
		}
	})
	t.Run("watch claude", func(t *testing.T) {
		t.Parallel()
		w := NewWorld(t, Overtone, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("Noted.").Tokens(1_000) })
		p := w.driveClaude([]string{"[workflow:quick] add a flag"})
		p.finish(t)
		if out := p.output(); !strings.Contains(out, "routes no workflows") && !strings.Contains(out, "不會路由工作流") || len(mains(w)) != 1 {
			t.Errorf("%d requests\n%s", len(mains(w)), out)
		}
	})
}

// Thirty prompts with a commit each, while the context fills up, give at most six
// suggestions.
func TestSuggest_ThirtyCommits(t *testing.T) { t.Parallel(); onEach(t, testThirtyCommits) }

func testThirtyCommits(t *testing.T, v Version) {
	var (
		mu   sync.Mutex
		used = 20_000
	)
	w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		if len(r.Results()) == 0 || !strings.Contains(r.Last(), "step") {
			used = min(used+4_500, 150_000)
			return mockapi.Calls(bash("date +%N >> a.txt && git add a.txt && git commit -q -m step && git log -1 --format=%s")).Tokens(used)
		}
		return mockapi.Text("Noted.").Tokens(used)
	}, v)
	s := w.Start()
	for range 30 {
		s.Ask("go on with the next slice, please")
	}
	s.Close()
	// The stream does not show what hooks say to a person; the session's file does.
	told := 0
	files, _ := filepath.Glob(filepath.Join(w.Config, "projects", "*", "*.jsonl"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "/compact") && strings.Contains(line, "💾") {
				told++
			}
		}
	}
	if out := w.Exec("git", "-C", w.Project, "log", "--oneline"); strings.Count(out, "step") < 30 {
		t.Errorf("commits: %s", out)
	}
	if told < 1 || told > 5 {
		t.Errorf("%d suggestions", told)
	}
}
