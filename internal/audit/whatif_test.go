package audit

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// story makes up a trace: a number is a request that leaves the context at so many
// thousand tokens, "prompt" begins a turn, "commit" and "over" are marks. A minute passes
// with each.
func story(steps ...any) *trace {
	t := &trace{head: head{Models: []string{opus}}}
	for i, step := range steps {
		m := mark{at: len(t.requests), time: int64(i+1) * 60_000}
		switch step {
		case "prompt":
			m.turn = true
		case "commit":
			m.signals = compact.Commit.Signal()
		case "over":
			m.signals = compact.TurnEnd.Signal()
		default:
			t.requests = append(t.requests, request{time: m.time, tokens: Tokens{CacheRead: int64(step.(int)) * 1000}})
			continue
		}
		t.marks = append(t.marks, m)
	}
	return t
}

// played plays tiers that begin at 65, 50 and 40 % free.
func played(t *trace, name transcript.Host, window int64, boundaries ...string) player {
	set := config.Defaults().Compact
	g := &set.Trigger
	g.EarlyPercentRemainingLT, g.ReadyPercentRemainingLT, g.AsapPercentRemainingLT, g.AutoRequiresAnyBoundary = 65, 50, 40, boundaries
	r := rulesOf(name, t, set, window, 20_000)
	r.prices, r.ledger = []*host.Price{{Input: 1, Output: 5, Write: 1.25, Read: 0.1}}, ledgerOf(t)
	return play(t, r, 0)
}

// told says in a word each what was planned.
func told(list []Planned) (out []string) {
	for _, p := range list {
		text := fmt.Sprintf("%dk", p.Tokens/1000)
		switch {
		case len(p.Boundary) > 0:
			text += " at " + p.Boundary[0]
		case p.Between:
			text += " between"
		default:
			text += " struck"
		}
		if p.Wasted {
			text += ", wasted"
		}
		out = append(out, text)
	}
	return out
}

// The play does only what somebody could do: where no hook can refuse, nobody acts within
// a turn but the host, when its window is full; a compaction between turns strikes nobody;
// and one at the end of a turn that no other follows was in vain.
func TestPlayDoesWhatCanBeDone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		host   transcript.Host
		window int64
		steps  []any
		want   []string
	}{
		"an emergency in mid-turn":       {transcript.Codex, 100_000, []any{"prompt", 50, 86, 87, 88}, nil},
		"a full window in mid-turn":      {transcript.Codex, 100_000, []any{"prompt", 50, 91, 92}, []string{"91k struck"}},
		"an emergency when it has ended": {transcript.Codex, 100_000, []any{"prompt", 50, 86, "over", "prompt", 88}, []string{"86k between"}},
		"a commit, told at the end":      {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 66, 67, "over", "prompt", 68}, []string{"67k at commit"}},
		"the context shrinks a little":   {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 67, "over", "prompt", 66, "commit", 67, "over", "prompt", 68}, []string{"67k at commit"}},
		"the end of the thread":          {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 67, "over"}, []string{"67k at commit, wasted"}},
		"a turn that was broken off":     {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 67, "prompt", 68}, nil},
		"the ceiling at a prompt":        {transcript.Claude, 200_000, []any{"prompt", 50, 155, "over", "prompt", 156}, []string{"155k between"}},
		"the ceiling in mid-turn":        {transcript.Claude, 200_000, []any{"prompt", 50, 155, 156}, []string{"155k struck"}},
		"a ceiling by small steps":       {transcript.Claude, 200_000, []any{"prompt", 145, 150, 155, 160, 165, 168, 169}, []string{"168k struck"}},
		"a commit in mid-turn":           {transcript.Claude, 200_000, []any{"prompt", 50, 110, "commit", 111, 112}, []string{"110k at commit"}},
		"a commit, and other work since": {transcript.Claude, 200_000, []any{"prompt", 50, "commit", 90, 110, 111, "over"}, nil},
		"nothing asks at the very end":   {transcript.Claude, 200_000, []any{"prompt", 50, "commit", 155, "over"}, nil},
		"a prompt that nobody answered":  {transcript.Claude, 200_000, []any{"prompt", 50, "commit", 110, "over", "prompt", "prompt", 120}, []string{"110k at commit"}},
	} {
		trace := story(tc.steps...)
		p := played(trace, tc.host, tc.window, "commit")
		equal(t, name, told(p.planned), tc.want)
	}
}

// A request that grows by more than any before it, from just below the ceiling, is what
// the host would have refused.
func TestPlayCountsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		steps []any
		want  int
	}{
		"it fits":      {[]any{"prompt", 145, 150, 155, 160, 176}, 0},
		"it does not":  {[]any{"prompt", 145, 150, 155, 160, 178}, 1},
		"compacted by": {[]any{"prompt", 145, 150, 168, 178}, 0},
	} {
		trace := story(tc.steps...)
		p := played(trace, transcript.Claude, 200_000, "commit")
		equal(t, name, p.over, tc.want)
	}
}

// The end of a turn counts where the settings name it, from the tier ready on: before the
// first request of the next turn where a hook can hold the host back, else at once.
func TestPlayTurnEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		host   transcript.Host
		window int64
		steps  []any
		want   []string
		late   []string
	}{
		"with the next prompt":            {transcript.Claude, 200_000, []any{"prompt", 50, 130, "over", "prompt", 131, 132}, []string{"130k at turn_end"}, nil},
		"too early for it":                {transcript.Claude, 200_000, []any{"prompt", 50, 90, "over", "prompt", 91, 92}, nil, nil},
		"never within a turn":             {transcript.Claude, 200_000, []any{"prompt", 50, 90, "over", "prompt", 91, 130, 131}, nil, nil},
		"after a turn that broke off":     {transcript.Claude, 200_000, []any{"prompt", 50, 130, "prompt", 131}, nil, nil},
		"nobody types any more":           {transcript.Claude, 200_000, []any{"prompt", 50, 130, "over"}, nil, nil},
		"a local command in between":      {transcript.Claude, 200_000, []any{"prompt", 50, 130, "over", "prompt", "prompt", 131}, []string{"130k at turn_end"}, nil},
		"at once on Codex":                {transcript.Codex, 200_000, []any{"prompt", 50, 130, "over", "prompt", 131}, []string{"130k at turn_end"}, nil},
		"at once, though nothing follows": {transcript.Codex, 200_000, []any{"prompt", 50, 130, "over"}, []string{"130k at turn_end, wasted"}, nil},
		"hindsight takes the last one":    {transcript.Codex, 200_000, []any{"prompt", 60, "over", "prompt", 90, "over", "prompt", 181, 182}, nil, []string{"90k at turn_end"}},
	} {
		trace := story(tc.steps...)
		p := played(trace, tc.host, tc.window, "commit", "turn_end")
		if tc.late == nil {
			equal(t, name, told(p.planned), tc.want)
			continue
		}
		equal(t, name, told(p.late.plan), tc.late)
	}
}

// Whoever hates to wait at a prompt is not made to, and what was missed before a
// compaction strikes is told.
func TestPlayNotAtPrompt(t *testing.T) {
	t.Parallel()
	trace := story("prompt", 90, "commit", 105, "over", "prompt", 110, 115, "over", "prompt", 150, 151)
	set := config.Defaults().Compact
	set.Trigger.ReadyPercentRemainingLT = 50
	for _, at := range []bool{true, false} {
		set.AtPrompt = at
		r := rulesOf(transcript.Claude, trace, set, 200_000, 20_000)
		r.prices = make([]*host.Price, 1)
		p := play(trace, r, 0)
		if at {
			equal(t, "at a prompt", told(p.planned), []string{"105k at commit"})
			continue
		}
		equal(t, "not at a prompt", told(p.planned), []string{"150k struck"})
		equal(t, "missed", []int{p.planned[0].Past, p.planned[0].Turns}, []int{4, 2})
	}
}

// A turn has ended when the agent's words, or the host's, were the last of it: not after a
// tool, nor after an interruption.
func TestTurnsThatEnded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, tc := range map[string]struct {
		lines func(w *writer)
		want  int
	}{
		"answered": {func(w *writer) { w.answer("2", opus, usage{1}, text("Done.")) }, 1},
		"answered, then a local command": {func(w *writer) {
			w.answer("2", opus, usage{1}, text("Done."))
			w.prompt("<command-name>/model</command-name>\n<command-args></command-args>")
		}, 1},
		"at work": {func(w *writer) {
			w.answer("2", opus, usage{1}, text("I look."))
			w.call("3", opus, usage{1}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "x")
		}, 0},
		"interrupted": {func(w *writer) {
			w.answer("2", opus, usage{1}, text("I look."))
			w.prompt("[Request interrupted by user]")
		}, 0},
		"an agent works on": {func(w *writer) {
			w.call("2", opus, usage{1}, "Agent", map[string]any{"prompt": "look", "run_in_background": true}, "Launched.")
			w.answer("3", opus, usage{1}, text("An agent looks."))
			w.prompt("Fine.")
			w.prompt("<task-notification>\n<tool-use-id>toolu_2Agent</tool-use-id>\n<status>completed</status>\n</task-notification>")
			w.answer("4", opus, usage{1}, text("It has looked."))
		}, 1},
		"a shell works on": {func(w *writer) {
			w.call("2", opus, usage{1}, "Bash", map[string]any{"command": "make serve", "run_in_background": true}, "Running.")
			w.answer("3", opus, usage{1}, text("It runs."))
			w.prompt("Fine.")
			w.prompt("<task-notification>\n<tool-use-id>toolu_2Bash</tool-use-id>\n<status>completed</status>\n</task-notification>")
			w.answer("4", opus, usage{1}, text("It has ended."))
		}, 2},
	} {
		w := newWriter("s")
		w.prompt("Please make the totals strict.")
		w.call("1", opus, usage{1}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "x")
		tc.lines(w)
		w.prompt("And the prices.")
		w.call("4", opus, usage{1}, "Read", map[string]any{"file_path": "/work/shop/cart.py"}, "x")
		path := filepath.Join(root, "s.jsonl")
		write(t, root, "s.jsonl", w.out.Bytes())
		set := config.Defaults().Compact
		tr, err := read(t.Context(), transcript.File{Path: path, Host: transcript.Claude, Size: int64(w.out.Len())}, set, compact.NewMarks(set.Markers), false)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, m := range tr.marks {
			if m.signals.Has(compact.TurnEnd) {
				n++
				equal(t, name+": before the next prompt", tr.marks[i+1].turn && tr.marks[i+1].at == m.at, true)
			}
		}
		equal(t, name, n, tc.want)
	}
}

// What happened, the policy and hindsight are reckoned in the same way: a request reads
// what the cache holds, as long as it lives, and writes the rest; a compaction reads the
// context and writes a summary; and who waits depends on when it comes.
func TestPlayCosts(t *testing.T) {
	t.Parallel()
	// A minute passes with each step: the cache lives.
	trace := story("prompt", 100, 130, "over", "prompt", 140)
	p := played(trace, transcript.Claude, 200_000, "turn_end")
	equal(t, "as it was", p.was.Tokens, Tokens{CacheWrite: 100_000 + 30_000 + 10_000, CacheRead: 100_000 + 130_000})
	equal(t, "by the policy", p.paid.Tokens, Tokens{
		Output:     usualSummary,                            // of the compaction
		CacheRead:  100_000 + 130_000 + usualRead,           // the second request, the compaction, the third
		CacheWrite: 100_000 + 30_000 + (30_000 - usualRead), // 20,000 are left of 130,000, and grow by 10,000
	})
	usd := (5*usualSummary + 0.1*245_000 + 1.25*145_000) / 1e6
	near(t, "dollars", &p.paid.USD, usd)

	// An hour at the prompt: what the cache held is written again, or read once to compact.
	trace.marks[2].time += 60 * 60_000
	trace.requests[2].time += 60 * 60_000
	cold := played(trace, transcript.Claude, 200_000, "turn_end")
	equal(t, "cold, as it was", cold.was.Tokens, Tokens{CacheWrite: 100_000 + 30_000 + 140_000, CacheRead: 100_000})
	equal(t, "cold, by the policy", cold.paid.Tokens, Tokens{Output: usualSummary, Input: 130_000, CacheWrite: 100_000 + 30_000 + 15_000, CacheRead: 100_000 + usualRead})

	for name, tc := range map[string]struct {
		host transcript.Host
		plan Planned
		want Cost
	}{
		"in mid-work":               {transcript.Claude, Planned{}, Cost{WorkMS: 90_000}},
		"at a prompt":               {transcript.Claude, Planned{Between: true}, Cost{PromptMS: 90_000}},
		"while the user reads":      {transcript.Codex, Planned{Between: true, Request: 2, Time: 4 * 60_000}, Cost{PromptMS: 30_000}},
		"when nobody writes":        {transcript.Codex, Planned{Between: true, Request: 3, Time: 9 * 60_000}, Cost{}},
		"when nothing follows":      {transcript.Codex, Planned{Between: true, Wasted: true}, Cost{}},
		"while the host is at work": {transcript.Codex, Planned{}, Cost{WorkMS: 90_000}},
	} {
		trace := story("prompt", 100, 130, "over", "prompt", 140)
		r := rulesOf(tc.host, trace, config.Defaults().Compact, 200_000, 20_000)
		r.took = 90_000
		var c Cost
		c.await([]Planned{tc.plan}, trace, &r)
		equal(t, name, c, tc.want)
	}
}
