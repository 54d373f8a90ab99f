package compress

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// TestWhatCounts: words of four letters, names of several words, numbers that measure.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "one two": 0, "four": 1, "the quick brown foxes": 3, "load_row": 1, "a-b-c-d": 0, "掃描": 1, "掃描器": 1, "掃描文字": 2,
		"word掃描word": 3, "これはペンです": 1, "four4four": 2,
	} {
		if got := contentWords(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
	for name, want := range map[string]bool{"loadRow": true, "load_row": true, "JSON": false, "P1": false, "_emphasis_": false, "Row": false, "aB": true, "x": false} {
		if got := hump(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	for _, c := range []struct {
		number, behind string
		want           bool
	}{
		{"12", "ms", true},
		{"12", " ms.", true},
		{"40", " %", true},
		{"200", " commits", true},
		{"3", " 個", true},
		{"3", "", false},
		{"3", " of", false},
		{"3", " days", true},
		{"2", "×", true},
		{"12k", "", true},
		{"5", " x", true},
		{"5", " y", false},
		{"5", "  commits", false},
	} {
		if got := measured(c.number, c.behind); got != c.want {
			t.Errorf("%s%s: %v", c.number, c.behind, got)
		}
	}
	if hashOf(extract.Path, "a") == hashOf(extract.Identifier, "a") || hashOf(extract.Path, "a") == hashOf(extract.Path, "b") || hashOf(extract.Path, "ab") == hashOf(extract.Path, "ba") {
		t.Error("two facts are one")
	}
}

// TestSight: what one look at a unit shows.
func TestSight(t *testing.T) {
	t.Parallel()
	unit := func(kind extract.UnitKind, cues extract.Cue) extract.Unit {
		return extract.Unit{Kind: kind, Cues: cues, Lead: -1}
	}
	s := extract.Sentence
	for name, c := range map[string]struct {
		x                  sight
		talk, option, idle bool
		cues               int
	}{
		"a step that is next":        {x: sight{Unit: unit(s, extract.Narration), words: 9}, talk: true, idle: true},
		"with a decision":            {x: sight{Unit: unit(s, extract.Narration|extract.Decided), words: 9}},
		"with a reason":              {x: sight{Unit: unit(s, extract.Narration|extract.Reason), words: 9, names: 1}, talk: true},
		"with a denial and a name":   {x: sight{Unit: unit(s, extract.Narration|extract.Denied), words: 9, names: 1}, cues: 1},
		"with a denial, without one": {x: sight{Unit: unit(s, extract.Narration|extract.Denied), words: 9}, talk: true, idle: true, cues: 1},
		"by the user":                {x: sight{Unit: unit(s, extract.Narration), words: 9, user: true}},
		"an option":                  {x: sight{Unit: unit(s, extract.Open|extract.Rule), words: 9}, option: true},
		"one that was chosen":        {x: sight{Unit: unit(s, extract.Open|extract.Decided|extract.Rule), words: 9}, cues: 1},
		"an answer":                  {x: sight{Unit: unit(s, extract.Rule), words: 9, asked: true}, option: true},
		"two cues":                   {x: sight{Unit: unit(s, extract.Rule|extract.Denied), words: 9}, cues: 2},
		"led by what decides":        {x: sight{Unit: unit(s, extract.Rule), words: 9, leads: true}, cues: 2},
		"in bold":                    {x: sight{Unit: unit(s, 0), text: "**The bug.** It fails", words: 9}, cues: 1},
		"bold later":                 {x: sight{Unit: unit(s, 0), text: "It fails **here** always", words: 9}},
		"a title":                    {x: sight{Unit: unit(extract.Lead, extract.Reason|extract.Denied), text: "# Why", words: 9}, idle: true, cues: 1},
		"a lead that says why":       {x: sight{Unit: unit(extract.Lead, extract.Reason), words: 8}, idle: true},
		"a line of a verdict":        {x: sight{Unit: unit(s, 0), text: "**Status:** DONE", words: 2}, cues: 1},
		"a question at the end":      {x: sight{Unit: unit(s, extract.Question), words: 2, closes: true}},
		"a question before":          {x: sight{Unit: unit(s, extract.Question), words: 2}, idle: true},
		"for the window":             {x: sight{Unit: unit(s, 0), text: "::git-commit{}", words: 9, names: 3}, idle: true},
		"code":                       {x: sight{Unit: unit(extract.CodeLine, 0), words: 2}},
		"code that says nothing":     {x: sight{Unit: unit(extract.CodeLine, 0), words: 1, names: 1}, idle: true},
		"code with names":            {x: sight{Unit: unit(extract.CodeLine, 0), words: 1, names: 2}},
		"text set as code":           {x: sight{Unit: unit(extract.CodeLine, 0), text: "It fails because:", words: 4, names: 2}, idle: true},
		"a class":                    {x: sight{Unit: unit(extract.CodeLine, 0), text: "class Store:", words: 3, names: 2}},
		"a row":                      {x: sight{Unit: unit(extract.Row, 0), words: 6}},
		"a bare row":                 {x: sight{Unit: unit(extract.Row, 0), words: 5}, idle: true},
		"a row with a name":          {x: sight{Unit: unit(extract.Row, 0), words: 1, names: 1}},
		"a verdict":                  {x: sight{Unit: unit(s, extract.Decided), words: 1}},
		"a name alone":               {x: sight{Unit: unit(extract.Item, 0), words: 2, names: 1}, idle: true},
		"two names":                  {x: sight{Unit: unit(extract.Item, 0), words: 2, names: 2}},
		"an item of three words":     {x: sight{Unit: unit(extract.Item, 0), words: 3}},
		"filler":                     {x: sight{Unit: unit(s, 0), words: 4}, idle: true},
		"a sentence":                 {x: sight{Unit: unit(s, 0), words: 5}},
		"the cause":                  {x: sight{Unit: unit(s, extract.Trouble), words: 2}, idle: true, cues: 1},
		"the cause, told":            {x: sight{Unit: unit(s, extract.Trouble), words: 3}, cues: 1},
		"done":                       {x: sight{Unit: unit(s, extract.Done), words: 2}},
		"by the user, brief":         {x: sight{Unit: unit(s, 0), words: 2, user: true}},
		"by the user, a word":        {x: sight{Unit: unit(s, 0), words: 1, user: true}, idle: true},
	} {
		if c.x.talk() != c.talk || c.x.option() != c.option || c.x.idle() != c.idle || c.x.cues() != c.cues {
			t.Errorf("%s: talk %v, option %v, idle %v, %d cues", name, c.x.talk(), c.x.option(), c.x.idle(), c.x.cues())
		}
	}
	for text, says := range map[string]bool{"do it": true, `<img width="20" src="a.png" />`: false, "<task>do it</task>": true} {
		if (sight{user: true, text: text}).says() != says || (sight{text: text}).says() {
			t.Errorf("what a user quotes or shows is not what he says: %q", text)
		}
	}
}

// TestReplies: an answer is an object with a text, in a fence or among chatter.
func TestReplies(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"text":"a"}`: "a", " {\"text\":\"a\"}\n": "a", "Here:\n```json\n{\"text\":\"a\"}\n```": "a", "```\n{\"text\":\"a\"}": "a", "```{\"text\":\"a\"}```": "a",
		`Sure: {"text":"a"} Done.`: "a", `{"x":1} {"text":"a"}`: "a",
	} {
		if got, err := parseReply(raw); err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "a", `{"text":1}`, `{"x":"a"}`, "```\nno\n```"} {
		if got, err := parseReply(raw); err == nil {
			t.Errorf("%q: %q", raw, got)
		}
	}
	_, err := parseReply(strings.Repeat("x", 200))
	if refused, ok := errors.AsType[*refusedError](err); !ok || len(refused.Detail) != 100 {
		t.Errorf("%v", err)
	}
}

// TestRanges: bounds are inclusive, an end lies behind its start, and two may touch.
func TestRanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0-100:compress": true, "0-50:compress,50-100:heavy-compress": true, "50-100:compress,0-50:compress": true,
		"0-51:compress,50-100:compress": false, "50-50:compress": false, "60-50:compress": false, "0-101:compress": false, "100-100:compress": false, "0-50:other": false,
	} {
		_, err := ParseBands(text)
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
