package compress

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func presetPlan(t *testing.T, s *transcript.Session, name string) *Plan {
	t.Helper()
	return chosenPlan(t, s, Choice{Preset: name, Users: "on"})
}

// chosenPlan is what a command with these flags plans.
func chosenPlan(t *testing.T, s *transcript.Session, f Choice, flags ...string) *Plan {
	t.Helper()
	o, err := f.Options(config.Defaults().Compress, func(flag string) bool { return slices.Contains(flags, flag) })
	if err != nil {
		t.Fatal(err)
	}
	return plan(t, s, o)
}

// What a user says stays whole, unless bands are named.
func TestUsersMessages(t *testing.T) {
	t.Parallel()
	var c chat
	for n := range 6 {
		c.user(long("question"))
		c.blocks(textBlock(long("answer")))
		c.user(strings.Repeat(fmt.Sprintf("A line %d of a log that was pasted.\n", n), 200))
		c.blocks(textBlock(long("answer")))
	}
	s := c.write(t)
	for _, tt := range []struct {
		name        string
		choice      Choice
		flags       []string
		short, long int
	}{
		{"preset", Choice{Preset: "heavy", Users: "on"}, nil, 0, 0},
		{"preset, users off", Choice{Preset: "heavy", Users: "off"}, []string{"users"}, 0, 0},
		{"preset, users on", Choice{Preset: "heavy", Users: "on"}, []string{"users"}, 3, 3},
		{"bands", Choice{Bands: "0-50:compress", Users: "on"}, []string{"bands"}, 3, 3},
		{"bands, users off", Choice{Bands: "0-50:compress", Users: "off"}, []string{"bands", "users"}, 0, 0},
	} {
		short, long := 0, 0
		for _, it := range chosenPlan(t, s, tt.choice, tt.flags...).Items {
			switch {
			case it.User && it.Tokens > 1000:
				long++
			case it.User:
				short++
			}
		}
		if short != tt.short || long != tt.long {
			t.Errorf("%s: %d short and %d long messages are compressed, want %d and %d", tt.name, short, long, tt.short, tt.long)
		}
	}
}

// What each preset does to a session of ten turns with a call in each: tools and
// thinking first, users never, the newest turns not.
func TestPresets(t *testing.T) {
	t.Parallel()
	var c chat
	for n := range 10 {
		c.user(long("question"))
		c.blocks(thinking, toolUse(fmt.Sprint("t", n), strings.Repeat("echo something ", 30)))
		c.result(fmt.Sprint("t", n), long("output"))
		c.blocks(textBlock(long("answer")))
	}
	s := c.write(t)
	for name, want := range map[string]struct{ removed, cut, texts, heavy int }{
		"routine":   {5, 2, 0, 0}, // the newest three are spared
		"heavy":     {8, 0, 5, 0}, // of the last two none is left to cut
		"emergency": {9, 0, 9, 5},
		"fresh":     {10, 0, 8, 8}, // no call is left, the newest two answers are
	} {
		p := presetPlan(t, s, name)
		heavy, users := 0, 0
		for _, it := range p.Items {
			if it.Level == HeavyCompress {
				heavy++
			}
			if it.User {
				users++
			}
			if int(it.Turn) >= len(p.Turns)-p.Options.Newest {
				t.Errorf("%s: a message of turn %d is compressed", name, it.Turn)
			}
		}
		got := struct{ removed, cut, texts, heavy int }{p.Tools.Removed, p.Tools.Truncated, len(p.Items), heavy}
		if got != want || users > 0 {
			t.Errorf("%s: %+v with %d of users, want %+v", name, got, users, want)
		}
		if _, clone := runPlan(t, p, Builtin{}); len(clone.Turns(clone.Live())) != 10 {
			t.Errorf("%s: the clone has %d turns", name, len(clone.Turns(clone.Live())))
		}
	}
}

// However much was said in the newest turns: of a clone that is to be gone on with they
// fill a tenth of the window, the newest request first.
func TestNewestTurnsHaveABound(t *testing.T) {
	t.Parallel()
	var c chat
	answer := strings.Repeat("The importer walks through every row of the ledger once more. ", 400) // 6,200 tokens
	c.user("Look at the importer.")
	for n := range 8 {
		c.blocks(textBlock(fmt.Sprint(n) + answer))
	}
	request := "Now do the same for these rows:\n" + strings.Repeat("row, amount, currency and date\n", 1000) // 7,800 tokens
	c.user(request)
	for n := range 8 {
		c.blocks(textBlock(fmt.Sprint("again ", n) + answer))
	}
	s := c.write(t)
	for _, name := range []string{"emergency", "fresh"} {
		p := presetPlan(t, s, name)
		res, clone := runPlan(t, p, Builtin{})
		all := strings.Join(texts(t, clone), "\n")
		if !strings.Contains(all, request) || !strings.Contains(all, "again 7"+answer) || strings.Contains(all, "again 2"+answer) {
			t.Errorf("%s: the newest request, the newest answer or too much stays", name)
		}
		if limit := host.SmallWindow * newestShare / 100 * 2; res.After > limit {
			t.Errorf("%s: the clone has %d tokens of %d, more than %d", name, res.After, res.Before, limit)
		}
	}
}

// Where the newest turns hold most of what tools said, as a session of one turn
// does, they are no refuge: their messages stay, and of their calls the last eight.
func TestPresetsOnOneTurn(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	for n := range 20 {
		c.blocks(thinking, toolUse(fmt.Sprint("t", n), strings.Repeat("echo something ", 30)))
		c.result(fmt.Sprint("t", n), long("output"))
	}
	c.blocks(textBlock(long("answer")))
	s := c.write(t)
	for _, name := range PresetNames() {
		p := presetPlan(t, s, name)
		if len(p.Items) != 0 {
			t.Errorf("%s: %d messages of the only turn are compressed", name, len(p.Items))
		}
		want := 20 - newestCalls
		if name == "fresh" {
			want = 20
		}
		if got := p.Tools.Removed + p.Tools.Truncated; got != want {
			t.Errorf("%s: %d calls, want %d", name, got, want)
		}
		if name == "emergency" && p.Tools.Truncated != 0 {
			t.Errorf("%s cuts %d calls short, it removes", name, p.Tools.Truncated)
		}
	}
	if p := presetPlan(t, s, "emergency"); !p.Few() {
		t.Error("no warning that there are few turns")
	}
	// Of a turn that holds little of it nothing goes.
	c = chat{}
	for n := range 4 {
		c.user("go")
		c.blocks(toolUse(fmt.Sprint("t", n), "ls"))
		c.result(fmt.Sprint("t", n), strings.Repeat("x", 4000>>n))
	}
	if p := presetPlan(t, c.write(t), "emergency"); p.Tools.Removed != 3 {
		t.Errorf("%d calls removed, want the three of older turns", p.Tools.Removed)
	}
}
