//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// What changed in the newest Claude Code, and where both versions broke us: one
// test for each.

// A stage's agent works in the foreground, also where the host's default is the
// background: of a report that it repeats in its last message, not a character
// reaches the main model, and a run takes no more requests than it has steps.
func TestNewest_AgentsInBackgroundByDefault(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		line := "SECRET-REPORT finding: flag.go:12 ignores the flag, and flag.go:13 hides it."
		report := strings.Repeat(line+"\n", 200)
		repeats := func(r *mockapi.Request) mockapi.Reply {
			reply := pass(r)
			reply.Blocks[0].Text = report + "\n" + reply.Blocks[0].Text
			return reply
		}
		p := &Relay{Agents: map[string][]Step{
			"code-reviewer": {writeReport(report), repeats, repeats, repeats},
			"tester":        {repeats, repeats, repeats},
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		r := w.Prompt("[workflow:quick] add a flag").Result()
		finished(t, w, r.SessionID)
		leaked := 0
		for _, m := range mains(w) {
			leaked += m.Count("SECRET-REPORT") * len(line)
		}
		if leaked > 0 {
			t.Errorf("%d characters of the report reach the main model", leaked)
		}
		// DEV, the two of the barrier in one, RETRO, DOCS: each is a hand-over,
		// and one request is the last word.
		if n := len(mains(w)); n > 7 {
			t.Errorf("%d requests of the main agent", n)
		}
		for _, m := range mains(w) {
			if m.Has("<task-notification>") {
				t.Errorf("an agent of a stage worked in the background: %s", m.Last())
			}
		}
	})
}

// The prompt's hook may come before the shell of a command: what ends a workflow
// must not be told in one breath with what to do next.
func TestNewest_CancelIsToldAlone(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Relay{Before: func(*mockapi.Request, int) *mockapi.Reply {
			reply := mockapi.Text("No.")
			return &reply
		}}
		w := NewWorld(t, Overtone, p.Handle, v)
		s := w.Start()
		r := s.Ask("[workflow:quick-dev] fix it")
		before := len(mains(w))
		s.Ask("/overtone:cancel")
		s.Close()
		told := mains(w)[before:]
		if len(told) == 0 {
			t.Fatal("the command did not reach the model")
		}
		if last := told[0].Last(); len(delegations(last)) > 0 {
			t.Errorf("cancelled, and yet: %s", last)
		}
		if s := w.status(r.SessionID); s.Phase == "COMPLETE" || len(s.Ready) > 0 {
			t.Errorf("after the cancellation: %+v", s)
		}
	})
}
