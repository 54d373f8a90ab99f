package situation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// madeUp is a session in which everything happens that the judge reads.
func madeUp(t *testing.T) *Session {
	t.Helper()
	var s Script
	s.User("Please round the totals of the cart. Never push to main.")
	s.Plan(nil, "Round the cart's totals", "Write the tests", "Update the docs", "Announce it")
	s.Edit("shop/cart.py")
	s.Edit("shop/order.py")
	s.Plan([]string{"Round the cart's totals"}, "Write the tests", "Update the docs", "Announce it")
	s.Run("git commit -am 'Round totals'", "[main 1a2b3c4] Round totals\n 2 files changed, 4 insertions(+)", false)
	s.Edit("shop/cart.py")
	s.Run("pytest shop", "Exit code 1\nE   AssertionError: expected 12.30\n1 failed, 3 passed", true)
	s.Agent("One test is red. Shall I change the rounding of the tax, too?")
	session, err := NewSession(t.TempDir(), "made-up", s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestRead: all that the judge knows comes out of a text, in both languages.
func TestRead(t *testing.T) {
	t.Parallel()
	s := madeUp(t)
	for _, lang := range []message.Lang{message.EN, message.ZH} {
		got, err := Read(s.HandOver(int64(len(s.Data)), false, lang).Text())
		if err != nil {
			t.Fatal(err)
		}
		want := Situation{
			Lang:    lang,
			Request: []string{"Please round the totals of the cart. Never push to main."},
			Words:   []string{"Please round the totals of the cart. Never push to main."},
			State:   Goes,
			Failing: []Failure{{"pytest shop", "1 failed, 3 passed"}},
			Tree:    Tree{Commits: []string{"1a2b3c4"}},
			// A file was edited since the plan was written, so its title claims nothing.
			Plan: Plan{Done: []string{"Round the cart's totals"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", lang, diff)
		}
	}
	if _, err := Read("<overtone-packet id=\"x\">\n**Do something.**\n</overtone-packet>"); err == nil {
		t.Error("an unknown directive is read")
	}
}

// TestJudge: a hand-over that tells everything is right in everything, and each thing
// that is not so is a false claim.
func TestJudge(t *testing.T) {
	t.Parallel()
	// Labels point into this text.
	data := ""
	at := func(text string) span {
		data += text + "\n"
		return span{int64(len(data) - len(text) - 1), int64(len(text))}
	}
	l := label{
		State: "asked", Real: true, Latest: []span{at("round the totals")}, Referent: []span{at("the rounding of the tax")}, Question: []span{at("Shall I change")},
		Failing:  []failure{{at("pytest shop"), []span{at("expected 12.30")}}},
		Repaired: []failure{{at("make lint"), []span{at("unused")}}},
		Standing: [][]span{{at("Never push"), at("never push to main")}}, Fair: []span{at("no new files")},
		Commits: []span{at("1a2b3c4d5e")}, Gone: []span{at("9f8e7d6c")},
		Clean: []span{at("/work/shop/shop/order.py")}, Open: []span{at("Write the tests")}, Done: []span{at("Round the cart's totals")},
	}
	told := Situation{
		Request: []string{"Please round the totals"}, Words: []string{"the rounding of the tax", "“never push to main”"}, State: Asks, Question: "Shall I change it?",
		Failing: []Failure{{"pytest shop", "E expected 12.30"}}, Tree: Tree{Commits: []string{"1a2b3c4"}, Uncommitted: []string{"shop/cart.py"}}, Plan: Plan{Next: []string{"Write the tests"}, Done: []string{"Round the cart's totals"}},
	}
	if v := (judge{[]byte(data), &l, told, ""}).verdict(); len(v.misses)+len(v.claims) > 0 || v.of[standing] != 1 || v.of[state] != 1 {
		t.Errorf("missed %q, false %v", v.misses, v.claims)
	}
	for name, c := range map[string]struct {
		change func(*Situation)
		miss   string
		claim  string
	}{
		"an older request":     {func(s *Situation) { s.Request = []string{"add a page"} }, latest, ""},
		"many quotes":          {func(s *Situation) { s.Request = append(s.Request, "a", "b", "c") }, latest, ""},
		"no referent":          {func(s *Situation) { s.Words = s.Words[1:] }, referent, ""},
		"carries on":           {func(s *Situation) { s.State = Goes }, state, ""},
		"nothing red":          {func(s *Situation) { s.Failing = nil }, failing, ""},
		"red without a reason": {func(s *Situation) { s.Failing[0].Said = "exit 1" }, explained, ""},
		"no rule":              {func(s *Situation) { s.Words = s.Words[:1] }, standing, ""},
		"a committed file":     {func(s *Situation) { s.Tree.Uncommitted = []string{"shop/order.py"} }, "", falseTree},
		"a replaced commit":    {func(s *Situation) { s.Tree.Commits = append(s.Tree.Commits, "9f8e7d6") }, "", falseCommit},
		"a repaired failure":   {func(s *Situation) { s.Failing = append(s.Failing, Failure{"make lint", "unused"}) }, "", falseFailure},
		"a step that is done":  {func(s *Situation) { s.Plan.Next = append(s.Plan.Next, "Round the cart's totals") }, "", falseStep},
		"a step that is open":  {func(s *Situation) { s.Plan.Done = append(s.Plan.Done, "Write the…") }, "", falseCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			s := told
			s.Failing = append([]Failure(nil), told.Failing...)
			c.change(&s)
			v := judge{[]byte(data), &l, s, ""}.verdict()
			if c.miss != "" && (v.hits[c.miss] == v.of[c.miss] || v.of[c.miss] == 0) {
				t.Errorf("%s is not missed", c.miss)
			}
			if c.claim != "" && (len(v.claims) != 1 || v.claims[0].kind != c.claim) {
				t.Errorf("false claims %v", v.claims)
			}
			if c.claim == "" && len(v.claims) > 0 {
				t.Errorf("false claims %v", v.claims)
			}
		})
	}
}

func TestUnfold(t *testing.T) {
	t.Parallel()
	want := []string{"a/b.go", "a/c.go", "d/e.go", "f.go"}
	if diff := cmp.Diff(want, unfold("a/{b.go, c.go}, d/e.go, f.go")); diff != "" {
		t.Error(diff)
	}
}
