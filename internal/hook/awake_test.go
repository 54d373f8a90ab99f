package hook

import (
	"testing"
	"time"
)

// What the machine has slept is known from one call to the next, in a workflow only; what
// the clock and the time awake gain together is none of it.
func TestSleepIsSeen(t *testing.T) {
	t.Parallel()
	if Awake() < 0 {
		t.Error("awake before it was started")
	}
	p := newPlace(t)
	began, slept := p.now, time.Duration(0)
	p.awake = func() time.Duration { return time.Hour + p.now.Sub(began) - slept }
	ahead := func() time.Duration {
		p.call("user-prompt-submit", "claude-code", `"prompt":"go on"`)
		return time.Duration(p.memory().Ahead)*time.Millisecond - time.Duration(began.Add(-time.Hour).UnixMilli())*time.Millisecond
	}
	p.call("user-prompt-submit", "claude-code", `"prompt":"hello"`)
	if got := p.memory().Ahead; got != 0 {
		t.Errorf("remembered without a workflow: %d", got)
	}
	p.call("user-prompt-submit", "claude-code", start)
	for _, step := range []struct{ passed, slept time.Duration }{{time.Minute, 0}, {2 * time.Hour, 0}, {24 * time.Hour, 23 * time.Hour}} {
		p.now, slept = p.now.Add(step.passed), slept+step.slept
		if got := ahead(); got != slept {
			t.Errorf("after %v: %v ahead, slept %v", step.passed, got, slept)
		}
	}
}
