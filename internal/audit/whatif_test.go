package audit

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
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

// wide are settings whose tiers begin at 65, 50 and 40 % free.
func wide(boundaries ...string) compact.Settings {
	set := config.Defaults().Compact
	t := &set.Trigger
	t.EarlyPercentRemainingLT, t.ReadyPercentRemainingLT, t.AsapPercentRemainingLT, t.AutoRequiresAnyBoundary = 65, 50, 40, boundaries
	return set
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
		"the end of the thread":          {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 67, "over"}, []string{"67k at commit, wasted"}},
		"a turn that was broken off":     {transcript.Codex, 100_000, []any{"prompt", 50, "commit", 67, "prompt", 68}, nil},
		"the ceiling at a prompt":        {transcript.Claude, 200_000, []any{"prompt", 50, 155, "over", "prompt", 156}, []string{"155k between"}},
		"the ceiling in mid-turn":        {transcript.Claude, 200_000, []any{"prompt", 50, 155, 156}, []string{"155k struck"}},
		"a ceiling by small steps":       {transcript.Claude, 200_000, []any{"prompt", 145, 150, 155, 160, 165, 168, 169}, []string{"168k struck"}},
		"nothing asks at the very end":   {transcript.Claude, 200_000, []any{"prompt", 50, "commit", 155, "over"}, nil},
		"a prompt that nobody answered":  {transcript.Claude, 200_000, []any{"prompt", 50, "commit", 110, "over", "prompt", "prompt", 120}, []string{"110k at commit"}},
	} {
		trace := story(tc.steps...)
		p := play(trace, rulesOf(tc.host, trace, wide("commit"), tc.window, 20_000), 0)
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
		p := play(trace, rulesOf(transcript.Claude, trace, wide("commit"), 200_000, 20_000), 0)
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
		p := play(trace, rulesOf(tc.host, trace, wide("commit", "turn_end"), tc.window, 20_000), 0)
		if tc.late == nil {
			equal(t, name, told(p.planned), tc.want)
			continue
		}
		equal(t, name, told(p.late.plan), tc.late)
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
