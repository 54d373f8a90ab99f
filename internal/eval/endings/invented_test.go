package endings

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/situation"
	"github.com/seed-6d03985f/overtone/internal/host"
	words "github.com/seed-6d03985f/overtone/internal/message"
)

// invention is an ending of our own: the last words of the agent, or of its user, in
// one of eight languages. The agent is waiting for leave, asking something, finished or
// working on; its user has stopped it, is finished, wants it to wait, or an answer.
type invention struct {
	lang, who, label, text, question string
}

func invented(t *testing.T) []invention {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "invented.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []invention
	for row := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != 5 {
			t.Fatalf("ending %q", row)
		}
		out = append(out, invention{f[0], f[1], f[2], strings.ReplaceAll(f[3], `\n`, "\n"), f[4]})
	}
	return out
}

// half is decided by the text.
func (e invention) half() string {
	if sum := sha256.Sum256([]byte(strings.ReplaceAll(e.text, "\n", `\n`))); sum[0]>>4%2 == 0 {
		return "tuned"
	}
	return "unseen"
}

// told is what a hand-over says after a session with that ending.
func (e invention) told(t *testing.T) situation.Situation {
	t.Helper()
	var s situation.Script
	task := situation.Tasks[e.lang]
	s.User(task.First)
	s.Edit("shop/cart.py")
	if e.who == "user" {
		s.Agent(task.Report)
		s.User(e.text)
	} else {
		s.Agent(e.text)
	}
	session, err := situation.NewSession(t.TempDir(), "made-up", s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	told, err := situation.Read(session.HandOver(int64(len(session.Data)), false, words.EN).Text())
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// right reports whether what is told fits the ending.
func (e invention) right(s situation.Situation) bool {
	switch e.label {
	case "working":
		return s.State == situation.Goes
	case "asking":
		return s.State == situation.Asks && strings.Contains(s.Question, e.question)
	}
	return s.State != situation.Goes
}

// TestEvalInvented prints how well a hand-over knows whether to go on, and agent_done
// whether the agent is done, after endings of our own in eight languages.
func TestEvalInvented(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	set := config.Defaults().Compact
	right, of, done := map[string]int{}, map[string]int{}, map[string]*score{"tuned": {}, "unseen": {}}
	for _, e := range invented(t) {
		told := e.told(t)
		for _, g := range []string{"", " " + e.who, " " + e.label, " " + e.lang} {
			if of[e.half()+g]++; e.right(told) {
				right[e.half()+g]++
			}
		}
		if !e.right(told) {
			t.Logf("%s: %s %s: %s, and the hand-over %s %q: %s", e.half(), e.lang, e.who, e.label, told.State, told.Question, e.text)
		}
		if e.who == "agent" {
			thread := compact.Thread{}.Apply(host.TurnStarted{}, set).Apply(host.ToolActivity{}, set).Apply(host.AgentMessage{Text: e.text}, set)
			done[e.half()].add(thread.Boundary().Has(compact.AgentDone), e.label == "finished")
		}
	}
	for _, h := range []string{"tuned", "unseen"} {
		for _, g := range []string{"", " agent", " user", " waiting", " asking", " stopped", " finished", " working", " en", " zh-TW", " zh-CN", " de", " fr", " es", " ja", " ru"} {
			if n := of[h+g]; n > 0 {
				t.Logf("%-16s going on or not is right %d/%d (%d %%)", h+g, right[h+g], n, 100*right[h+g]/n)
			}
		}
		t.Logf("%-16s agent_done finds %d of %d, and %d that are not done", h, done[h].hit, done[h].hit+done[h].missed, done[h].wrong)
	}
}

// TestInvented: each language has every kind of ending of an agent, in whole.
func TestInvented(t *testing.T) {
	t.Parallel()
	kinds := map[string][]string{}
	for _, e := range invented(t) {
		if e.who == "agent" {
			kinds[e.lang] = append(kinds[e.lang], e.label)
		}
		if (e.label == "asking") != (e.question != "") || !strings.Contains(e.text, e.question) {
			t.Errorf("%q", e)
		}
	}
	for lang, list := range kinds {
		for _, k := range []string{"waiting", "asking", "finished", "working"} {
			if !slices.Contains(list, k) {
				t.Errorf("%s has no ending that is %s", lang, k)
			}
		}
	}
	if len(kinds) != 8 {
		t.Errorf("%d languages", len(kinds))
	}
}
