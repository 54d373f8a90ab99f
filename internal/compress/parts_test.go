package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// A model is told how short, who speaks, and where the text ends, whatever the text holds.
func TestPrompt(t *testing.T) {
	t.Parallel()
	first := prompt(Request{Text: "The CONTENT is CONTENT_ here.", TargetPercent: 35, Role: "user"})
	if !strings.Contains(first, "35") || !strings.Contains(first, "user") || !strings.HasSuffix(first, "\n<<<CONTENT__\nThe CONTENT is CONTENT_ here.\nCONTENT__\n") {
		t.Errorf("%s", first)
	}
	plain := prompt(Request{Text: "x", TargetPercent: 10, Role: "assistant"})
	for name, r := range map[string]Request{"a large text": {Text: "x", TargetPercent: 10, Role: "assistant", Large: true}, "another attempt": {Text: "x", TargetPercent: 10, Role: "assistant", Attempt: 1}} {
		if more := prompt(r); len(more) <= len(plain) {
			t.Errorf("%s is asked for in no other words", name)
		}
	}
	if promptTokens() < 50 {
		t.Errorf("the instructions count %d tokens", promptTokens())
	}
}

// Of a long result the middle goes; an image stays whole, half of one is worse than none.
func TestCutContent(t *testing.T) {
	t.Parallel()
	image, text := strings.Repeat("iVBORw0KGgo+/Az9", 200), strings.Repeat("a line of output ", 200)
	for name, tc := range map[string]struct {
		value string
		whole bool
	}{
		"a short result": {"ok", true}, "a long text": {text, false}, "an image": {image, true}, "a data address": {"data:image/png;base64," + text, true},
		"a long word that is no image": {strings.Repeat("a-b_c", 1000), false}, "an image with words in it": {"x y" + image, false},
	} {
		got := string(cutContent([]byte(fmt.Sprintf("%q", tc.value))))
		if whole := got == fmt.Sprintf("%q", tc.value); whole != tc.whole {
			t.Errorf("%s stays whole: %v, %d characters", name, whole, len(got))
		}
	}
	if got := string(cutArguments([]byte(fmt.Sprintf("%q", `{"command":"`+text+`","n":1.50}`)))); len(got) > len(text) || !strings.Contains(got, `\"n\":1.50`) {
		t.Errorf("arguments: %s", got)
	}
	if got := string(cutArguments([]byte(`"no json {"`))); got != `"no json {"` {
		t.Errorf("arguments that are none: %s", got)
	}
}

// What a run tells while it works, what the provider reported, and what is shown of
// messages that failed.
func TestProgressAndFailures(t *testing.T) {
	t.Parallel()
	c := &chat{}
	for i := range 8 {
		c.user(fmt.Sprintf("Part %d.", i))
		c.blocks(textBlock(long("It reads the file twice.")))
	}
	s := c.write(t)
	o := Options{Bands: ranges(t, ParseBands, "0-100:compress"), MinTokens: 20, Pool: defaultPool()}
	o.Pool.Concurrency, o.Pool.MaxAttempts = 1, 1
	p := plan(t, s, o)
	prov := &fake{do: func(_ context.Context, n int, _ Request) (Reply, error) {
		if n < 7 {
			return Reply{InputTokens: 5}, fmt.Errorf("broken %d", n)
		}
		return Reply{Text: "It reads the file twice.", InputTokens: 5, OutputTokens: 3}, nil
	}}
	var last Progress
	calls := 0
	res, err := p.Run(context.Background(), prov, RunOptions{ID: transcript.NewID(s.Host, runTime), Title: "Clone", Now: runTime, Progress: func(now Progress) {
		if now.Done < last.Done || now.Total != 8 || now.TotalTokens < now.Tokens {
			t.Errorf("%+v after %+v", now, last)
		}
		last = now
		calls++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 9 || last.Done != 8 || last.Failed != 7 || last.Cached != 0 || last.Tokens != last.TotalTokens {
		t.Errorf("%d calls, %+v", calls, last)
	}
	if res.InputTokens != 40 || res.OutputTokens != 3 || res.Stats.MessagesFailed != 7 || res.Stats.MessagesCompressed != 1 {
		t.Errorf("%d in, %d out, %+v", res.InputTokens, res.OutputTokens, res.Stats)
	}
	var out bytes.Buffer
	p.Session.CWD = "/work/my project"
	p.PrintResult(&terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dir: "/"}, Lang: message.EN}, res)
	text := out.String()
	if strings.Count(text, "broken") != 5 || !strings.Contains(text, "2 more") || !strings.Contains(text, "cd '/work/my project' && claude --resume") || !strings.Contains(text, "5") {
		t.Errorf("%s", text)
	}
	var all *AllFailed
	none := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{}, errors.New("broken") }}
	if _, err := plan(t, s, o).Run(context.Background(), none, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime}); !errors.As(err, &all) || len(all.Messages) != 8 {
		t.Errorf("%v", err)
	}
}

// Turns that a session does not have are passed over, and so is what lies beyond its end.
func TestSelectKeepsToTheSession(t *testing.T) {
	t.Parallel()
	c := &chat{}
	c.user(long("Please look at it."))
	c.blocks(textBlock(long("I had a look.")))
	s := c.write(t)
	band := &ranges(t, ParseBands, "0-100:compress")[0]
	turns := []transcript.Turn{{Start: -3, End: 9}}
	for _, tc := range []struct {
		turn, want int
		band       *Band
	}{{0, 2, band}, {0, 0, nil}, {1, 0, band}, {-1, 0, band}} {
		items, _ := Select(s, s.All(), turns, []Mapping{{tc.turn, tc.band}}, Options{MinTokens: 1})
		if len(items) != tc.want {
			t.Errorf("turn %d: %d messages, want %d", tc.turn, len(items), tc.want)
		}
	}
}
