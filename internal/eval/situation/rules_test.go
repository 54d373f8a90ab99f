package situation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// rows are the lines of a file of tab-separated fields.
func rows(t *testing.T, name string, fields int) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for row := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != fields {
			t.Fatalf("%s: %q", name, row)
		}
		out = append(out, f)
	}
	return out
}

// ruleSession has three prompts, the last of which is another task, and words that are
// no rule though they sound like one. The rule comes in one of four ways: as a prompt, in
// a task, as words with which a tool is refused, or as the answer to a question.
func ruleSession(how, rule, near string, task Task) []byte {
	var s Script
	prompts := []string{task.First, near, task.Second}
	switch how {
	case "task":
		prompts[0] += " " + rule
	case "prompt":
		prompts = []string{near + "\n" + task.First, rule, task.Second}
	}
	for i, p := range prompts {
		s.User(p)
		s.Edit("shop/cart.py")
		switch {
		case i == 0 && how == "rejected":
			s.Reject(rule)
		case i == 0 && how == "answer":
			s.Ask("Which prices are meant?", rule)
		}
		s.Edit("shop/page.py")
		if i < 2 {
			s.Agent(task.Report)
		}
	}
	return s.Bytes()
}

// TestEvalRules prints how many standing rules a hand-over tells, in the shapes and
// languages that people use.
func TestEvalRules(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	type sum struct{ told, request, of int }
	sums := map[string]*sum{}
	near := rows(t, "nearmisses.tsv", 4)
	for i, r := range rows(t, "rules.tsv", 4) {
		half, lang, how, rule := r[0], r[1], r[2], r[3]
		own := slices.DeleteFunc(slices.Clone(near), func(n []string) bool { return n[0] != lang })
		miss := own[i%len(own)]
		session, err := NewSession(t.TempDir(), "made-up", ruleSession(how, rule, strings.ReplaceAll(miss[2], `\n`, "\n"), Tasks[lang]))
		if err != nil {
			t.Fatal(err)
		}
		told, err := Read(session.HandOver(int64(len(session.Data)), false, message.EN).Text())
		if err != nil {
			t.Fatal(err)
		}
		states := func(list []string, text string) bool {
			return slices.ContainsFunc(list, func(q string) bool { return strings.Contains(plain(q), plain(strings.Trim(text, ".。"))) })
		}
		kept := states(told.Words, rule)
		for _, g := range []string{half, half + " " + how, half + " " + lang} {
			if sums[g] == nil {
				sums[g] = &sum{}
			}
			if sums[g].of++; kept {
				sums[g].told++
			}
			if states(told.Request, Tasks[lang].Second) {
				sums[g].request++
			}
		}
		if !kept {
			t.Logf("%s: %s (%s) is not told: %s", half, lang, how, rule)
		}
	}
	for _, h := range []string{"tuned", "unseen"} {
		for _, g := range []string{"", " prompt", " task", " rejected", " answer", " en", " de", " fr", " es", " ja", " ru", " zh-TW", " zh-CN"} {
			if s := sums[h+g]; s != nil {
				t.Logf("%-16s rules told %d/%d (%d %%), the last task comes first %d/%d", h+g, s.told, s.of, 100*s.told/s.of, s.request, s.of)
			}
		}
	}
}

// TestRuleSessions: there are as many rules in each half, and every language has what
// a session needs.
func TestRuleSessions(t *testing.T) {
	t.Parallel()
	halves := map[string]int{}
	for _, r := range rows(t, "rules.tsv", 4) {
		halves[r[0]]++
		if Tasks[r[1]].First == "" || !slices.Contains([]string{"prompt", "task", "rejected", "answer"}, r[2]) {
			t.Errorf("%q", r)
		}
	}
	if halves["tuned"] != 22 || halves["unseen"] != 22 {
		t.Errorf("%v", halves)
	}
	for _, n := range rows(t, "nearmisses.tsv", 4) {
		if !strings.Contains(n[2], n[3]) || Tasks[n[0]].First == "" {
			t.Errorf("%q", n)
		}
	}
}
