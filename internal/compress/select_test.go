package compress

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// band compresses texts as one band; the roles alternate.
func band(t interface{ Fatalf(string, ...any) }, percent int, texts ...string) []string {
	jobs := make([]job, len(texts))
	for i := range jobs {
		jobs[i].Role = []string{"user", "assistant"}[i%2]
	}
	load := func(n int) (string, error) { return texts[n], nil }
	p, err := Builtin{}.prepare(bg, jobs, func(job) int { return percent }, load)
	if err != nil {
		t.Fatalf("%v", err)
	}
	out := make([]string, len(texts))
	for n := range texts {
		r, err := p.Compress(bg, Request{Text: texts[n], job: n})
		if err != nil {
			t.Fatalf("%v", err)
		}
		out[n] = r.Text
	}
	return out
}

var bg = context.Background()

func markOf(text string) string { return (&Request{Text: text}).mark() }

func TestBandSpendsWhereItIsWorthMost(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("Looking at this from several sides was quite pleasant for everybody around. ", 8)
	got := band(t, 35,
		"Please make the parser in internal/cfg/parse.go refuse empty keys.",
		talk,
		"Never push to main.",
		"We decided to keep version 3 because 14 users still have it. "+talk,
	)
	if strings.Count(strings.Join(got, "\n"), "Looking at") > 1 {
		t.Errorf("the same is said twice: %q", got)
	}
	for n, want := range map[int]string{0: "internal/cfg/parse.go", 2: "Never push to main.", 3: "We decided to keep version 3 because 14 users still have it."} {
		if !strings.Contains(got[n], want) {
			t.Errorf("%d: %q lacks %q", n, got[n], want)
		}
	}
}

// A review that fails is not taken for a pass because its passes are many.
func TestVerdictAgainstStays(t *testing.T) {
	t.Parallel()
	review := `## Report

❌ **Issues found**

1. **Trailer in the message**: the commit has a trailer of its own, and the plan says that no commit may have one.

**All other requirements met:**
- ✅ Only docs/search/GUIDE.md was modified
- ✅ The heading is ` + "`## Response Format`" + ` (H2)
- ✅ The block was inserted with ` + "`Search:`" + ` in front of it
- ✅ One commit (6184fe5) with the right subject
- ✅ The table of contents has an entry for it, and no other entry was changed`
	for _, percent := range []int{35, 20, 10} {
		if got := band(t, percent, "Go on.", review)[1]; !strings.Contains(got, "❌ **Issues found**") {
			t.Errorf("at %d %%: %q", percent, got)
		}
	}
}

// Where little is kept of a message, what it is about is kept first.
func TestDetailsComeAfterWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	report := "I have hit a cycle of imports here.\n\n## Options\n\n1. Keep them where they are\n2. A new package `sessionid`\n   - Both `pathNames` and `sessionStore` import it\n   - It has `EntireID()` and `ModelID()`\n3. Move `ValidateID` away\n\nI would recommend the second one because it is clean and makes the dependencies explicit, rather than hiding them."
	talk := strings.Repeat("Looking at this from several sides was quite pleasant for everybody around. ", 20)
	got := band(t, 10, "Go on.", report, "Go on.", talk)[1]
	if !strings.Contains(got, "I would recommend the second one") {
		t.Errorf("%q", got)
	}
}

// What might be done is no decision until somebody chose it.
func TestOptionsAreNoDecisions(t *testing.T) {
	t.Parallel()
	for lead, chosen := range map[string]string{
		"Some options:":         "I'd suggest the second one, because nobody has to learn a new word for it.",
		"## Alternatives":       "We decided to take the second one, since nobody has to learn it.",
		"There are three ways:": "Recommendation: the second one, because all of them know it already.",
	} {
		text := lead + "\n\n1. The rows must never be sorted here, because each reader sorts them again\n2. The reader should sort them instead, since it knows the order\n3. The rows must always be sorted twice, because some readers cannot sort\n\n" + chosen
		got := band(t, 40, "Go on.", text)[1]
		if !strings.Contains(got, chosen) || strings.Contains(got, "must") {
			t.Errorf("%q", got)
		}
		if gone := extract.Missing(unitsOf(text, waiting), text, chosen, false); gone.Decisions != 0 || gone.Sentences != 3 {
			t.Errorf("%s: %+v", lead, gone)
		}
	}
	if gone := extract.Missing(unitsOf("Rules:\n1. The rows must never be sorted here", waiting), "Rules:\n1. The rows must never be sorted here", "", false); gone.Decisions != 1 {
		t.Errorf("a rule is none: %+v", gone)
	}
}

// What a user answers means nothing without the question, and the question nothing without
// what it is about.
func TestQuestionAtTheEndStaysWithWhatItAsks(t *testing.T) {
	t.Parallel()
	talk := "Most of the people who were asked had a look at the rows of the view on the wall. "
	text := strings.Repeat(talk, 3) + "\n\nOne query for each batch of 50 rows would do.\n\nWant me to go that way?"
	whole := "One query for each batch of 50 rows would do.\nWant me to go that way?"
	asked := false
	for percent := 5; percent <= 90; percent++ {
		got := band(t, percent, "Go on.", text)[1]
		if strings.Contains(got, "Want me") && !strings.Contains(strings.ReplaceAll(got, "\n\n", "\n"), whole) {
			t.Errorf("at %d %%: %q", percent, got)
		}
		asked = asked || strings.Contains(got, "Want me")
	}
	if !asked {
		t.Error("the question is never kept")
	}
	if got := band(t, 90, "Go on.", "Both were seen. Want me to go that way?\n\n## Nothing below"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	// Behind a list it is about the list.
	text = strings.Repeat(talk, 3) + "\n\n**What shall the sign be for?**\n\n- **A.** To tell who wrote the lines of the answer\n- **B.** Something else\n\nWhich is the nearest?"
	for percent := 5; percent <= 90; percent++ {
		got := band(t, percent, "Go on.", text)[1]
		if strings.Contains(got, "Which is") && !strings.Contains(got, "What shall") {
			t.Errorf("at %d %%: %q", percent, got)
		}
	}
}

// Questions that a message ends with wait for an answer, all of them: in a list, and above
// the lines of which one is to be chosen.
func TestAllQuestionsAtTheEndStay(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("Most of the people who were asked had a look at `internal/a/b.go` on the wall. ", 8)
	for name, tail := range map[string]string{
		"list":  "Two points are open:\n\n- Which colour should the wall have?\n- Who of them paints the wall?",
		"below": "All of these are done:\n\n- " + talk[:200] + "\n- " + talk[:200] + "\n\nWhat now, then?\n[A] Paint the wall\n[B] Leave it\n\n::git-push{branch=\"main\"}",
		"menu":  "Que fait-on ?\n\n[A] Peindre le mur  \n[P] Le laisser  \n[C] Continuer",
		"lines": "How shall we go on with it?\n\n[A] Paint the wall\n[B] Leave it",
	} {
		got := band(t, 10, "Go on.", talk+"\n\n"+tail)[1]
		for line := range strings.Lines(tail) {
			if line = strings.TrimSpace(line); (strings.HasSuffix(line, "?") || strings.HasPrefix(line, "[")) && !strings.Contains(got, line) {
				t.Errorf("%s: %q lacks %q", name, got, line)
			}
		}
	}
}

// What goes on behind a fence is kept with what it goes on from, and so are the lines below
// a colon.
func TestNothingGoesOnFromNothing(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("It was a long and winding afternoon with much talk about the weather. ", 6)
	text := talk + "\n\nI changed `a/check.sh` to say:\n\n```sh\necho no\n```\n\nand send it to `stderr` while keeping `exit 1`.\n\nVerified with:\n`cargo fmt`\n`cargo test wild_card`\n\n" + talk
	for percent := 5; percent <= 90; percent++ {
		got := band(t, percent, "Go on.", text)[1]
		got, _, _ = strings.Cut(got, "… (")
		if strings.Contains(got, "and send") && !strings.Contains(got, "I changed") || strings.Contains(got, "`cargo") && !strings.Contains(got, "Verified with:") {
			t.Errorf("at %d %%: %q", percent, got)
		}
	}
}

// Of what a user pastes each line is kept once, and what he says above it first.
func TestPastedLinesAreKeptOnce(t *testing.T) {
	t.Parallel()
	text := "The view prints this warning now:\n" + strings.Repeat("at http://localhost:3000/chunk.js:30815:13\nat div\n", 30) + "\nCan you find out why?"
	got := band(t, 35, text)[0]
	if strings.Count(got, "30815") > 1 || !strings.Contains(got, "Can you find out why?") || !strings.Contains(got, "this warning") {
		t.Errorf("%q", got)
	}
}

// What a user begins with is what he wants, with a colon, too, and the code that he shows
// comes with what he says about it.
func TestUsersLeadStays(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("The rows of the view on the wall are green, and people had a look at them. ", 6)
	if got := band(t, 20, "Look at the list of names together with the resume command:\n\n- `loadRow`\n- `saveRow`\n\n"+talk)[0]; !strings.HasPrefix(got, "Look at the list") {
		t.Errorf("%q", got)
	}
	for percent := 5; percent <= 90; percent++ {
		got := band(t, percent, "Others do this:\n\n```\nflagNames = append(flagNames, one.Name)\n```\n\n"+talk)[0]
		if strings.Contains(got, "flagNames") && !strings.Contains(got, "Others do this:") {
			t.Errorf("at %d %%: %q", percent, got)
		}
	}
}

// A user who repeats himself means it; what an agent repeats adds nothing.
func TestUserMaySayItAgain(t *testing.T) {
	t.Parallel()
	same := "Please cut the long names in the list of the view so that the rest can be read."
	got := band(t, 35, same+" It was on the wall.", "We decided that the names stay.", same+" It was on the left.", "We decided that the names stay. Nothing else.")
	if !strings.Contains(got[0], same) || !strings.Contains(got[2], same) {
		t.Errorf("%q", got)
	}
}

// A longer message ends with what came out.
func TestConclusionComesBeforeTheLike(t *testing.T) {
	t.Parallel()
	middle := "The reader is fast enough when the rows are few."
	end := "The writer is fast enough when the rows are few."
	steps := "\n\n- the view on the wall\n- the view on the left\n- the plan of the week\n\n"
	if got := band(t, 30, "Go on.", "The view on the wall is green since people painted it. Everybody had a look. "+middle+steps+end)[1]; !strings.Contains(got, end) || strings.Contains(got, middle) {
		t.Errorf("%q", got)
	}
}

// What is quoted as code is one name, whatever it is made of.
func TestQuotedCodeIsOneName(t *testing.T) {
	t.Parallel()
	s := newSelection(Tuned(), []job{{Role: "assistant"}}, nil)
	for text, want := range map[string]int{"Most have `session_count: 1` now.": 1, "It is `loadRow` and 14 ms.": 2, "See `cat internal/a/one.go` there.": 2} {
		s.ids = s.ids[:0]
		clear(s.known)
		s.names(unitsOf(text, waiting)[0], text)
		if len(s.ids) != want {
			t.Errorf("%q: %d names", text, len(s.ids))
		}
	}
}

// However little is kept: a message that decides something keeps it before another
// gets a second sentence.
func TestEachMessageBeforeASecondSentence(t *testing.T) {
	t.Parallel()
	many := "We decided to keep `loadRow` in internal/cfg/load.go because 14 users have it. We decided to drop `saveRow` in internal/cfg/save.go because 15 users lost rows by it. " +
		"We decided to move `parseRow` to internal/cfg/parse.go because 16 users want it there."
	one := "The table of names on the wall is old, so we should print it again, because two of the people on it left."
	got := band(t, 60, "x", many, "x", one)
	if got[3] != one || !strings.Contains(got[1], "We decided") {
		t.Errorf("%q", got)
	}
}

// Names say nothing about what became of them: however little is kept, none of them
// outlives the label above it.
func TestShortLabelStays(t *testing.T) {
	t.Parallel()
	for label, kept := range map[string]string{"**Removed:**": "`LaneState`", "Failed:": "`TestLanes`"} {
		text := "The lanes are gone from the view, which was a wish of many people here.\n\n" + label + "\n- Types of lanes (`LanePosition`, " + kept + ")\n- Some styles that only lanes had\n\n" +
			"The grey colour of hashes in all lines of the view was liked by everybody who had a look at it this week."
		for percent := 5; percent <= 90; percent++ {
			got := strings.ReplaceAll(band(t, percent, "Go on.", text)[1], "\n…", "")
			if strings.Contains(got, "\n- ") != strings.Contains(got, label+"\n- ") || strings.HasPrefix(got, "- ") {
				t.Errorf("at %d %%: %q", percent, got)
			}
		}
		if got := band(t, 60, "Go on.", text)[1]; !strings.Contains(got, kept) {
			t.Errorf("at 60 %%: %q", got)
		}
	}
}

// What was before does not read like what is now.
func TestBeforeAndAfterStay(t *testing.T) {
	t.Parallel()
	text := "The plan is simpler now, as two of three reviewers had asked for it.\n\n**Before (the original plan):**\n- `TelemetryConfig` struct with three fields\n- A suite of `entire telemetry` commands\n\n**After (the simplified plan):**\n- A single `TelemetryEnabled` field\n- A prompt in `entire enable`"
	for percent := 5; percent <= 90; percent++ {
		got := band(t, percent, "Go on.", text)[1]
		got, _, _ = strings.Cut(got, "… (")
		for label, items := range map[string][]string{"**Before": {"TelemetryConfig", "suite"}, "**After": {"TelemetryEnabled", "prompt"}} {
			for _, item := range items {
				if strings.Contains(got, item) && !strings.Contains(got, label) {
					t.Fatalf("at %d %%: %q lacks %q", percent, got, label)
				}
			}
		}
	}
}

// What somebody wrote in a line weighs more than a line of what he pasted.
func TestBriefWishStays(t *testing.T) {
	t.Parallel()
	pasted := strings.Repeat("The operator should look at the panel and note the reading of the gauge in the book. ", 9)
	got := band(t, 20, "Please keep the old names as well.", "I will.", pasted+"\n\n"+strings.ReplaceAll(pasted, "panel", "valve"), "Fine, noted all of it.")
	if got[0] != "Please keep the old names as well." {
		t.Errorf("%q", got)
	}
}

func TestGoverningLeadStays(t *testing.T) {
	t.Parallel()
	text := "Do not touch:\n- internal/a/one.go\n- internal/b/two.go\n\n" + strings.Repeat("It was a long and winding afternoon with much talk about nothing. ", 10)
	got := band(t, 15, text)[0]
	if strings.Contains(got, "one.go") && !strings.Contains(got, "Do not touch:") {
		t.Errorf("%q", got)
	}
}

// What names the file of a line comes with the line.
func TestLeadWithNamesStays(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("It was a long and winding afternoon with much talk about the weather. ", 10)
	got := band(t, 25, "x", talk+"\n\nThe limit in `internal/cfg/load.go:42` and `maxRows`:\n\n```\nconst maxRows = 20 // was loadLimit\n```\n")[1]
	if !strings.Contains(got, "internal/cfg/load.go:42") || !strings.Contains(got, "const maxRows") {
		t.Errorf("%q", got)
	}
}

func TestHalfAStatementIsNotKept(t *testing.T) {
	t.Parallel()
	got := band(t, 60, "x", "The check in `load_row` is wrong because it compares too early, which nobody saw for a year.\n\n```\nif state.SessionID != currentSessionID &&\n\tstate.CheckpointCount > minCheckpoints {\n```\n")[1]
	if strings.Contains(got, "&&") {
		t.Errorf("%q", got)
	}
}

// The sentence that a message leads up to outlives the names above it, and a
// verdict the reasons for it.
func TestWhatItLeadsUpToStays(t *testing.T) {
	t.Parallel()
	names := "Each run goes through these:\n1. `OpenStore()` makes a session and takes its lock\n2. `ReadIndex()` reads what the last run left behind\n3. `WriteRows()` compares the rows with what was read\n4. `CloseStore()` writes the rest and lets the lock go\n\n"
	for _, tt := range []struct{ text, want string }{
		{names + "Given that no process outlives its run, the report of a stale cache cannot be right.", "cannot be right."},
		{"## Review\n\n" + names + "### Assessment\n\n**APPROVED**", "**APPROVED**"},
		{names + "I would take `ReadIndex()` because:\n- it is the only one that `maxRows` knows", "I would take"},
	} {
		got := band(t, 45, "x", tt.text)[1]
		if !strings.Contains(got, tt.want) || len(got) > len(tt.text)*3/4 {
			t.Errorf("%q lacks %q", got, tt.want)
		}
	}
}

// Agents end what they decide with a colon when they do it next; what only announces
// stays out.
func TestColonIsNoReasonToDropADecision(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("It was a long and winding afternoon with much talk about the weather. ", 3)
	got := band(t, 50, "x", talk+"The simplest fix is to avoid diff stats for uncommitted checkpoints, because they are wrong:", "x", talk+"Here are the next steps of the work that is left to do:")
	if !strings.Contains(got[1], "The simplest fix") || strings.Contains(got[3], "Here are") {
		t.Errorf("%q", got)
	}
}

// What is so now is a result; what is done now is talk.
func TestNowIsNoTalk(t *testing.T) {
	t.Parallel()
	got := band(t, 30, "x", "Done. Now each row of the table has its own counter, so the total below the table comes out right. Now let me run the tests of the table once more and look at what they print.", "x", "Now update the tests of the table and run them once more, as was asked for.")
	if !strings.Contains(got[1], "Now each row") || strings.Contains(got[1], "let me") || got[3] != markOf("Now update the tests of the table and run them once more, as was asked for.") {
		t.Errorf("%q", got)
	}
}

// A recommendation outlives the answers among which it chooses.
func TestAnswersToAQuestionAreOptions(t *testing.T) {
	t.Parallel()
	text := "**Question 3: which size?**\n\n- **A. A line** — never in the way, because it must not cost much\n- **B. A block** — always readable, but it should not be wide\n- **D. Something else** — tell me\n\nMy lean: **B** — the block keeps the mascot recognisable. Which one?"
	if got := band(t, 20, "x", text)[1]; !strings.HasSuffix(got, "My lean: **B** — the block keeps the mascot recognisable. Which one?") || strings.Contains(got, "- **A.") {
		t.Errorf("%q", got)
	}
}

// What points back says nothing alone.
func TestPointingSentenceBringsItsReference(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("It was a long and winding afternoon with much talk about nothing. ", 10)
	for _, percent := range []int{10, 20, 35} {
		got := band(t, percent, "x", "The merge order changes with the locale of whoever runs it. This breaks `load_row` in internal/cfg/load.go because rows come unsorted.\n\n"+talk)[1]
		if strings.Contains(got, "This breaks") && !strings.Contains(got, "The merge order") {
			t.Errorf("%d: %q", percent, got)
		}
		item := "- **Later turns** — " + strings.Repeat("only the first answer of a call gets the header line, and later ones do not print it again. ", 3) + "Reason: the header marks the entry point."
		if got := band(t, percent, "x", item+"\n\n"+talk)[1]; strings.Contains(got, "Reason:") && !strings.Contains(got, "again. Reason:") {
			t.Errorf("%d: %q", percent, got)
		}
	}
}

// The answer below a heading of a form is kept with it or not at all, an acronym
// makes no statement of talk, and what an agent does next is no result.
func TestRemnants(t *testing.T) {
	t.Parallel()
	form := "### Which model were you using?\n\ngpt-4.1\n\n### What is the expected behavior?\n\n_No response_\n\nThe key in .bash_profile is ignored by load_config since version 0.12.0.\n"
	for _, percent := range []int{10, 35, 60, 90} {
		got := band(t, percent, form)[0]
		if strings.Contains(got, "gpt-4.1") && !strings.Contains(got, "Which model") || strings.Contains(got, "_No response_") && !strings.Contains(got, "expected behavior") {
			t.Errorf("%d: %q", percent, got)
		}
	}
	got := band(t, 60, "x", "Good, the JSON output works. The tests in internal/cfg/load_test.go pass now. Let me run all of them to make sure nothing is broken.")[1]
	if strings.Contains(got, "Good,") || strings.Contains(got, "Let me") || !strings.Contains(got, "load_test.go") {
		t.Errorf("%q", got)
	}
}

// A name that is made of words is needed word for word; an acronym is not, and
// what is quoted is meant.
func TestNamesBeforeAcronyms(t *testing.T) {
	t.Parallel()
	got := band(t, 60, "x", "The JSON and the TOML of the CLI go through the API of the TUI here. The view of the wall goes to the left of the harbour. The rows of loadRow go through save_row and parseKey over here.")[1]
	if !strings.Contains(got, "loadRow") || strings.Contains(got, "TOML") {
		t.Errorf("%q", got)
	}
	got = band(t, 60, "x", "The folder that is meant here is the one that is called `src/` today. The folder that is meant here is the one that is called src now.")[1]
	if !strings.Contains(got, "`src/`") {
		t.Errorf("%q", got)
	}
}

// Whatever the texts and the room: what holds a decision or a request keeps one, and so
// never becomes a mark while narration stays.
func TestNoDecisionBecomesAMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		holds := map[string]string{} // what is never a mark, by its text
		draw := func(user bool) string {
			decision := rapid.SampledFrom([]string{
				"We decided to keep version %d because fourteen users still have it.", "Never push commit %d to main.", "The import fails because row %d has no key, so the check comes too late.",
				"我建議保留第 %d 版，因為還有人在用。", "**Root cause:** the lock of file %d is taken twice, which no test shows.",
			})
			request := rapid.SampledFrom([]string{"Please make the parser refuse key %d.", "Why does step %d take so long?", "請把第 %d 行改成別的。"})
			talk := rapid.SampledFrom([]string{"Let me look at file%d.go now.", "Great, now I will run the tests of part %d again.", "Here is what I see in `run_%d` and internal/run/main.go:", "Good question, let me check number %d."})
			telling := decision
			if user {
				telling = request
			}
			var parts []string
			tells := ""
			for range rapid.IntRange(1, 6).Draw(t, "sentences") {
				n++
				from := talk
				if rapid.IntRange(0, 3).Draw(t, "tells") == 0 {
					from = telling
				}
				parts = append(parts, fmt.Sprintf(from.Draw(t, "sentence"), n))
				if from == telling {
					tells = parts[len(parts)-1]
				}
			}
			text := strings.Join(parts, rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "join"))
			if tells != "" {
				holds[text] = tells
			}
			return text
		}
		var texts []string
		for i := range rapid.IntRange(1, 12).Draw(t, "messages") {
			texts = append(texts, draw(i%2 == 0))
		}
		percent := rapid.IntRange(0, 40).Draw(t, "percent")
		for i, got := range band(t, percent, texts...) {
			if tells := holds[texts[i]]; tells != "" && got == markOf(texts[i]) {
				t.Fatalf("at %d %%, %q becomes a mark in spite of %q", percent, texts[i], tells)
			}
		}
	})
}

// Any text can be shortened, also one that is all headings, code or quotation.
func FuzzBand(f *testing.F) {
	for _, seed := range []string{"# Heading", "## A\n\n## B", "| a: |\n|---|", "```\nls\n```", "> quoted", "- one:\n  - two?", "Shall I?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		band(t, 10, text, text, "Go on.")
	})
}

// However little room there is, of a longer message of an agent's the first sentence stays
// and the question that it ends with; of a user's what it begins with, its title and the
// whole of the list that it ends with.
func TestBeginningAndEndStay(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("The rows of the view on the wall are green, and people had a look at them. ", 9)
	plan := "Implement the following plan:\n\n# Plan: sort the harbour list\n\n## Context\n\n" + talk + "\n\nKeep the tests green."
	rules := "Look into the harbour list.\n\n" + talk + "\n\nThe rules are:\n- nothing breaks\n- no new names\n- easy to maintain"
	for name, tt := range map[string]struct {
		user bool
		text string
		want []string
	}{
		"a first sentence":    {text: "Done. The harbour list is sorted by its tide since this morning. " + talk, want: []string{"The harbour list is sorted by"}},
		"below talk":          {text: "Here is what I found:\n\nThe harbour list is not sorted at all. " + talk, want: []string{"The harbour list is not sorted at all."}},
		"a first item":        {text: "Here is what I did:\n\n- `sortList` takes the tide\n- the view is green\n\n" + talk, want: []string{"Here is what I did:", "`sortList` takes the tide"}},
		"a question":          {text: talk + "\n\nShall I sort the harbour list by tide now?", want: []string{"Shall I sort"}},
		"and what follows it": {text: talk + "\n\nShall I sort the harbour list by tide now? It takes a minute.", want: []string{"Shall I sort"}},
		"above its answers":   {text: talk + "\n\nWhich order shall the harbour list have?\n\n- the tide\n- the name", want: []string{"Which order"}},
		"with its options":    {text: talk + "\n\nWhich order shall the harbour list have?\n\n- the tide\n- the name of the ship", want: []string{"Which order", "- the tide", "- the name of the ship"}},
		"a preface of a user's": {
			user: true, text: "What do you think of this? Tell me before you change anything:\n\n" + talk + "\n\nNothing else.",
			want: []string{"What do you think of this? Tell me before you change anything:", "Nothing else."},
		},
		"a plan of a user's": {user: true, text: plan, want: []string{"Implement the following plan:", "# Plan: sort the harbour list", "Keep the tests green."}},
		"rules of a user's":  {user: true, text: rules, want: []string{"Look into the harbour list.", "nothing breaks", "no new names", "easy to maintain"}},
	} {
		texts := []string{"Go on.", tt.text}
		if tt.user {
			texts = []string{tt.text}
		}
		got := band(t, 10, texts...)[len(texts)-1]
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		if len(got) > len(tt.text)/2 {
			t.Errorf("%s: %d of %d bytes", name, len(got), len(tt.text))
		}
	}
}

// A short message that ends a turn stays whole, and what was asked before is asked again;
// what announces the call of a tool goes.
func TestEndsOfTurnsStay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The rows of the view on the wall are green, and people had a look at them. ", 9) + "\n\nShall I go on with step two?"
	short := "Committed. The files that are left were changed before this."
	got := band(t, 10, "Go on.", long, "Go on.", short, "Go on.", long)
	if got[3] != short || !strings.Contains(got[1], "Shall I go on") || !strings.Contains(got[5], "Shall I go on") {
		t.Errorf("%q", got)
	}
	amid := sight{Unit: extract.Unit{Kind: extract.Sentence, Lead: -1}, text: "The list of the harbour takes `loadRow` now:", names: 1, words: 4, amid: true, of: 1}
	if !amid.idle() {
		t.Error("an announcement is kept")
	}
	if amid.amid = false; amid.idle() {
		t.Error("at the end of a turn it is none")
	}
}

// A heading that names something stays above what is said of it, and a sign stands for the
// sections that are left out.
func TestSectionsLeftOutAreSigned(t *testing.T) {
	t.Parallel()
	text := "All of it is in.\n\n### Fixed `loadRow` (list.go)\nIt must not read the file twice because it is locked.\n\n### The view\nPeople had a look at the wall and at the left.\n\n" +
		"### Fixed `sortRow` (sort.go)\nIt must not sort the list twice because it is slow."
	want := "### Fixed `loadRow` (list.go)\nIt must not read the file twice because it is locked.\n…\n\n### Fixed `sortRow` (sort.go)\nIt must not sort the list twice because it is slow."
	if got := band(t, 75, "Go on.", text)[1]; !strings.HasSuffix(got, want) {
		t.Errorf("%q", got)
	}
}

// An item of an item stands where it stood.
func TestNestedItemsStayNested(t *testing.T) {
	t.Parallel()
	text := "We decided this:\n\n1. `loadRow` must stay as it is:\n   - because `sortRow` needs `maxRows` of it\n   - because `viewRow` needs `minRows` of it"
	if got := band(t, 99, "Go on.", text+"\n\nOthers had a look.")[1]; !strings.Contains(got, "\n   - because `sortRow`") {
		t.Errorf("%q", got)
	}
}

// Where items or rows of a list are left out and others are kept, a sign stands for them;
// where all of it goes, none does.
func TestItemsLeftOutAreSigned(t *testing.T) {
	t.Parallel()
	list := "Both are in `8d8be6a`:\n\n1. The `Writer` goes into `explain.go` or `read.go`, not `os.Stdout`\n2. The view on the wall is green, as people say\n3. The view on the left is green, as people say"
	if got := band(t, 60, "Go on.", list)[1]; !strings.Contains(got, ":\n…\n3. ") {
		t.Errorf("%q", got)
	}
	table := "| file | why |\n|---|---|\n| the first | the view on the wall |\n| the second | the view on the left of the wall |\n| the third | the view on the right of the wall |\n| `a/load.go` | `maxRows` is wrong because of `minRows` |"
	if got := band(t, 60, "Go on.", table)[1]; !strings.Contains(got, "| file | why |\n|---|---|\n…\n| `a/load.go`") {
		t.Errorf("%q", got)
	}
	if got := band(t, 20, "Go on.", "We decided to keep `loadRow` as it is.\n\nOthers had a look:\n\n- the view on the wall\n- the view on the left\n- the plan of the week")[1]; strings.Contains(got, "…") {
		t.Errorf("%q", got)
	}
}

// Whatever the texts: the band keeps its budget but for one sentence of each message that
// says something, every result is a mark or whole units of its text in order, and a
// second run says the same.
func TestBandProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`([A-Za-z]{1,9}[ ,]|[a-z]{1,5}/[a-z]{2,4}\.go |[0-9]{1,4} |但不|\. |\n- |\n|: |`+"`x_y` "+`|not |。){1,60}`), 1, 8).Draw(t, "texts")
		percent := rapid.IntRange(0, 100).Draw(t, "percent")
		got := band(t, percent, texts...)
		budget, used := 0, 0
		for n, text := range texts {
			budget += max(message.Units(text)*percent/100, markUnits)
			used += message.Units(got[n])
			if got[n] == text {
				continue
			}
			if _, err := checkResult(text, got[n], markOf(text), false, true); err != nil {
				t.Fatalf("%q of %q: %v", got[n], text, err)
			}
			if got[n] == markOf(text) {
				continue
			}
			// One unit may be the beginning of the next, so every way to take
			// the text apart counts.
			said, _, _ := strings.Cut(got[n], "\n… (") // the names of what is left out
			rests := map[string]bool{strings.ReplaceAll(said, "\n…", ""): true}
			for _, u := range unitsOf(text, waiting) {
				for _, rest := range slices.Collect(maps.Keys(rests)) {
					if after, ok := strings.CutPrefix(rest, text[u.Start:u.End]); ok {
						rests[strings.TrimLeft(after, " \t\n")] = true
					}
				}
			}
			if !rests[""] {
				t.Fatalf("%q is not made of whole units of %q", got[n], text)
			}
		}
		least := 0 // without any room, and then a sentence of each
		for n, text := range band(t, 0, texts...) {
			longest := 0
			for _, u := range unitsOf(texts[n], waiting) {
				longest = max(longest, message.Units(texts[n][u.Start:u.End]))
			}
			least += message.Units(text) + longest
		}
		if used > max(budget, least)+len(texts)*markUnits {
			t.Fatalf("%d of %d units used", used, budget)
		}
		if again := band(t, percent, texts...); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("differs from run to run: %q, %q", got, again)
		}
	})
}

func TestMark(t *testing.T) {
	t.Parallel()
	m := markOf("some text")
	if message.Units(m) != markUnits {
		t.Errorf("%q has %d units", m, message.Units(m))
	}
	text := "see internal/a/b.go for the 42 reasons"
	if lost, err := checkResult(text, markOf(text), markOf(text), false, false); err != nil || len(lost) == 0 {
		t.Errorf("a mark is refused: %v, lost %v", err, lost)
	}
	if _, err := checkResult(text, markOf("another"), markOf(text), false, false); err == nil {
		t.Error("another text's mark is taken")
	}
}

// What is named in what goes stands in brackets behind the sign for it: names that nothing
// kept states, none twice, and none of a user's.
func TestNamesOfWhatGoesAreListed(t *testing.T) {
	t.Parallel()
	text := "We decided to keep `loadRow` as it is, because others need it.\n\n" + strings.Repeat("Somebody had a look at `view.go:12`, internal/a/b.go and `loadRow` on the wall. ", 8)
	got := band(t, 20, strings.ReplaceAll(text, "decided", "chose"), text)
	if want := "\n… (view.go, internal/a/b.go)"; !strings.HasSuffix(got[1], want) || strings.Contains(got[0], "… (") {
		t.Errorf("%q", got)
	}
}

// No sign stands before the first thing that is kept.
func TestNothingIsSignedAtTheStart(t *testing.T) {
	t.Parallel()
	text := "Fine, it is there ✅\n\n- The remote is private and empty\n- The remote `origin` is `internal/a/b.go`\n- The commit is on it\n\nNext could be:\n1. The rules of the branch\n2. The secrets of it"
	for percent := 5; percent <= 90; percent++ {
		if got := band(t, percent, "Go on.", text)[1]; strings.HasPrefix(got, "\n") {
			t.Errorf("at %d %%: %q", percent, got)
		}
	}
}

// The first thing that is said may stand in a fence below it, and it may be brief.
func TestWhatWasCommittedStays(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("Then everybody went on with the plan of the week, as it stands on the wall. ", 6)
	got := band(t, 10, "Go on.", "Committed the guard:\n\n```text\n5ff03a7 Require the guard\n```\n\n"+talk)[1]
	if !strings.HasPrefix(got, "Committed the guard:\n\n```text\n5ff03a7") {
		t.Errorf("%q", got)
	}
}
