package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// A thread with a goal starts its next turn as soon as one has ended, so there is
// no moment in which it could be compacted. A goal that is paused while its turn
// runs does not disturb that turn, not even the agent's word that the goal is
// reached; it only keeps the next one from starting. So the goal rests from the
// moment in which the policy wants to compact until the packet is delivered, or
// until it turns out that nothing is compacted after all.
//
// That the goal rests is on disk before it does: whoever comes after a crash sets
// it going again.

type wireGoal struct {
	Objective string `json:"objective"`
	Status    string `json:"status"`
	Updated   int64  `json:"updatedAt"`
}

const (
	goalActive  = "active"
	goalPaused  = "paused"
	goalBlocked = "blocked"
)

// open says that the goal is still to be reached.
func (g *wireGoal) open() bool { return g != nil && (g.Status == goalActive || g.Status == goalPaused) }

func (w *Codex) askGoal(t *thread, then func(known bool)) {
	ask(w, "thread/goal/get", map[string]any{"threadId": t.info.ID}, func(n notice, err error) {
		if err == nil {
			t.goal = n.Goal
		}
		then(err == nil)
	})
}

// pauseGoal lets the goal rest when the running turn is to be the last one before
// a compaction.
func (w *Codex) pauseGoal(t *thread) {
	if t.goal == nil || t.goal.Status != goalActive || t.own.Goal != nil || t.resuming || w.DryRun || t.cycle.Phase != watching {
		return
	}
	if d := t.thread.Decide(w.Now(), t.settings); d.Verdict != compact.DoCompact || t.rests() {
		return
	}
	if ok, err := t.lease(); err != nil || !ok {
		return // another watcher sees to it
	}
	if t.keepGoal(&session.PausedGoal{Objective: t.goal.Objective, Heard: t.thread.Words.Count}) != nil {
		t.giveBack()
		return
	}
	t.report("paused", message.WatchGoalPaused)
	t.pauses = 0
	w.setGoal(t, goalPaused, func(g *wireGoal, err error) {
		switch {
		case refused(err):
			w.problem(err)
			w.forgetGoal(t)
		case g != nil && t.own.Goal != nil:
			t.goal = g
			own := *t.own.Goal
			own.Updated = g.Updated
			_ = t.keepGoal(&own)
		}
	})
}

// goalSet is told that somebody has set the goal. The server's stamp counts seconds,
// but it tells of each pause: the second one while the goal rests is its user's.
func (w *Codex) goalSet(t *thread, n notice) {
	if t.own.Goal == nil || n.Goal == nil || n.Goal.Status != goalPaused || n.TurnID != "" {
		return
	}
	if t.pauses++; t.pauses > 1 {
		t.report("paused", message.WatchGoalLeft)
		w.forgetGoal(t)
	}
}

// resumeGoal sets a goal going that rests because of us, once nothing is left to
// wait for: the packet is in the thread, or nothing is compacted. What somebody
// else has decided about the goal meanwhile holds.
func (w *Codex) resumeGoal(t *thread) {
	own := t.own.Goal
	if own == nil || t.resuming || !t.subscribed || t.cycle.Phase != watching || t.own.Delivery.Open() {
		return
	}
	if t.cycle.Turn != "" && !t.thread.State.Synthetic {
		return // at its end the policy is asked again
	}
	if ok, err := t.lease(); err != nil || !ok {
		return
	}
	t.resuming = true
	done := func() {
		t.resuming = false
		w.forgetGoal(t)
	}
	w.askGoal(t, func(known bool) {
		status := goalActive
		switch {
		case !known:
			t.resuming = false
			return
		case !rests(own, t.goal):
			done()
			return
		case t.stopped():
			t.report("paused", message.WatchGoalLeft)
			done()
			return
		case t.endedHow == turnFailed:
			status = goalBlocked // as the host does it
		}
		w.setGoal(t, status, func(g *wireGoal, err error) {
			switch {
			case err == nil && g != nil:
				t.goal = g
				t.report("resumed", message.WatchGoalResumed)
			case !refused(err):
				t.resuming = false // the line is down; after that we try again
				return
			}
			w.problem(err)
			done()
		})
	})
}

// stopped says that the user has stopped the thread, or has said something since we let
// its goal rest: after that a goal goes on only when its user says so.
func (t *thread) stopped() bool {
	return t.endedHow == turnInterrupted || t.own.Goal != nil && t.thread.Words.Count > t.own.Goal.Heard
}

// letGo sets resting goals going before the watch ends. One whose packet is not there yet
// waits for the next watcher, which brings that first.
func (w *Codex) letGo() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, t := range w.threads {
		if t.conversation == nil || t.own.Goal == nil || t.own.Delivery.Open() {
			continue
		}
		var n notice
		err := w.client.Call(ctx, "thread/goal/get", map[string]any{"threadId": t.id}, &n)
		if err == nil && rests(t.own.Goal, n.Goal) && !t.stopped() {
			err = w.client.Call(ctx, "thread/goal/set", map[string]any{"threadId": t.id, "status": goalActive, "origin": "automatic"}, nil)
		}
		if err == nil {
			_ = t.keepGoal(nil)
		}
	}
}

// rests says that a goal rests because of us: nobody has decided about it since.
func rests(own *session.PausedGoal, g *wireGoal) bool {
	return g != nil && g.Status == goalPaused && (own.Updated == 0 || g.Updated == own.Updated)
}

func (w *Codex) setGoal(t *thread, status string, then func(*wireGoal, error)) {
	params := map[string]any{"threadId": t.id, "status": status, "origin": "automatic"}
	ask(w, "thread/goal/set", params, func(n notice, err error) {
		then(n.Goal, err)
	})
}

func (w *Codex) forgetGoal(t *thread) {
	_ = t.keepGoal(nil)
	if !t.cycle.Phase.underWay() {
		t.giveBack()
	}
}

// keepGoal writes down that the goal rests because of us, or no longer does.
func (s *conversation) keepGoal(g *session.PausedGoal) error {
	s.own.Goal = g
	return s.update(false, func(w *session.Watched, _ *compact.Thread) []store.Event {
		w.Goal = g
		return nil
	})
}

// holds says that the packet opens no turn. Only to the letter of the setting
// always it does; else it stands in the thread before all that is said next, and
// what opens a turn comes later, see [Codex.resume].
func (t *thread) holds() bool {
	return t.settings.Resume != compact.ResumeAlways || t.own.Goal != nil || t.goal.open() || t.refuses() || t.atTurnEnd()
}

// busy says that the goal is pursued, or that a sub-agent is at work.
func (w *Codex) busy(t *thread) bool {
	_, agents := w.more(t)
	return t.goal != nil && t.goal.Status == goalActive || len(agents) > 0
}

// pursues says that the goal goes on by itself once the packet is there: neither has its
// user paused it, nor has he said anything since we did.
func (t *thread) pursues() bool {
	return t.goal.open() && (t.own.Goal != nil && !t.stopped() || t.goal.Status == goalActive)
}

// more are the goal and the sub-agents that are still at work.
func (w *Codex) more(t *thread) (goal string, steps []string) {
	if t.goal.open() {
		goal = t.goal.Objective
	}
	for _, id := range slices.Sorted(maps.Keys(w.agents)) {
		if a := w.agents[id]; a.parent == t.id && a.active {
			steps = append(steps, message.WatchAgentRuns.Format(t.lang(), id))
		}
	}
	return goal, steps
}
