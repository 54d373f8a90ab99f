package endings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/situation"
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
