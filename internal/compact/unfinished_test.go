package compact

import (
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

func threadOf(events ...host.Event) (t Thread) {
	for _, e := range events {
		t = t.Apply(e, auto())
	}
	return t
}

// What a command began with is what was seen before it; without that, when the turn began.
func TestObservedBefore(t *testing.T) {
	t.Parallel()
	th := Thread{
		Started:    map[string]Command{"a": {Marks: []shellcmd.Mark{{GitDir: "/a"}}}},
		Background: map[string]Command{"b": {Marks: []shellcmd.Mark{{GitDir: "/b"}}}},
	}
	for id, want := range map[string]string{"a": "/a", "b": "/b", "c": ""} {
		got := ""
		if before := th.Observed(host.CommandFinished{ID: id}).Before; len(before) > 0 {
			got = before[0].GitDir
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	// The turn's beginning may be told late, and once.
	th = threadOf(host.TurnStarted{ID: "1"}, host.TurnStarted{ID: "1", At: noon}, host.TurnStarted{ID: "1", At: noon.Add(time.Hour)})
	for told, want := range map[time.Time]time.Time{{}: noon, noon.Add(time.Minute): noon.Add(time.Minute)} {
		if got := th.Observed(host.CommandFinished{Observation: shellcmd.Observation{Started: told}}).Started; !got.Equal(want) {
			t.Errorf("told %s: began %s, want %s", told, got, want)
		}
	}
}

// A compaction that several observers tell of counts once, and opens the way for the next
// suggestion.
func TestCompactedOnce(t *testing.T) {
	t.Parallel()
	th := Thread{SuggestedAt: 7}
	for _, id := range []string{"k1", "k1", "k2", "", ""} {
		th = th.Apply(host.Compacted{ID: id, At: noon, Before: 90, After: 10}, auto())
	}
	if len(th.History) != 4 || th.SuggestedAt != 0 {
		t.Errorf("%d compactions, suggested %d", len(th.History), th.SuggestedAt)
	}
}

// A command that has ended is work, though nothing else of the turn was seen; one that has
// only begun does not decide on what the agent proposed.
func TestCommandsAreWork(t *testing.T) {
	t.Parallel()
	if th := threadOf(host.TurnStarted{ID: "1"}, command("make", "", 0)); !th.State.Worked {
		t.Error("a command is no work")
	}
	proposed := append(working("Port the parser.", "Here is the plan."), host.Proposed{}, host.TurnStarted{ID: "2"})
	for name, c := range map[string]struct {
		e    host.Event
		want State
	}{
		"a command that has only begun": {began("c", "make", noon), StateAsked}, "a size": {host.UsageSeen{}, StateAsked},
		"a command": {command("make", "", 0), StateUnderWay}, "a file": {host.FileChanged{File: "b.go"}, StateUnderWay}, "a tool": {host.ToolActivity{}, StateUnderWay},
	} {
		if got := threadOf(append(proposed, c.e)...).Situation().State; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A plan that is told again as it was is no news.
func TestPlanUpdateNeedsNews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again host.PlanWritten
		want  bool
	}{"the same": {planOf("> a", "- b"), false}, "another step": {planOf("> a", "- b", "- c"), true}} {
		th := threadOf(host.TurnStarted{ID: "1"}, planOf("> a", "- b"), host.TurnStarted{ID: "2"}, c.again)
		if got := th.State.Seen.Has(PlanUpdate); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
