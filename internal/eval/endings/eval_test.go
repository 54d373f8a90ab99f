// Package endings measures how well agent_done tells that an agent is done, on
// the last words of turns in recorded sessions of both hosts.
//
// The labels were set by hand: done where the message says that a piece of work
// is finished, whether or not it offers more; open for answers, findings, plans,
// proposals and questions. They name a message by file, line and hash; its text is
// not ours to keep.
package endings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// ending is one labelled message.
type ending struct {
	file, hash string
	line       int
	done       bool
}

func labels(t *testing.T) []ending {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "labels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []ending
	for row := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(row), "\t")
		n, err := strconv.Atoi(f[1])
		if err != nil || len(f) != 4 {
			t.Fatalf("label %q", row)
		}
		out = append(out, ending{file: f[0], line: n, hash: f[2], done: f[3] == "done"})
	}
	return out
}

// score counts what was found and what was not.
type score struct{ hit, wrong, missed, right int }

func (s score) precision() float64 { return float64(s.hit) / float64(s.hit+s.wrong) }
func (s score) recall() float64    { return float64(s.hit) / float64(s.hit+s.missed) }

func (s *score) add(found, done bool) {
	switch {
	case found && done:
		s.hit++
	case found:
		s.wrong++
	case done:
		s.missed++
	default:
		s.right++
	}
}

func TestEvalEndings(t *testing.T) {
	if len(samples.Find("real")) == 0 {
		t.Skip("no recorded sessions")
	}
	set := config.Defaults().Compact
	// The rules were written on the endings whose hash is even; the odd ones are
	// what they have not seen.
	var all, even, odd score
	files := map[string][][]byte{}
	for _, e := range labels(t) {
		if files[e.file] == nil {
			files[e.file] = read(t, filepath.Join(samples.Folder(), e.file))
		}
		text := message(files[e.file][e.line-1])
		if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:])[:len(e.hash)] != e.hash {
			t.Fatalf("%s:%d is another text", e.file, e.line)
		}
		thread := compact.Thread{}.Apply(host.TurnStarted{}, set).Apply(host.ToolActivity{}, set).Apply(host.AgentMessage{Text: text}, set)
		found := thread.Boundary().Has(compact.AgentDone)
		half := &even
		if strings.Contains("13579bdf", e.hash[:1]) {
			half = &odd
		}
		all.add(found, e.done)
		half.add(found, e.done)
		if found != e.done {
			t.Logf("%s:%d: found %v, labelled %v", e.file, e.line, found, e.done)
		}
	}
	for _, row := range []struct {
		name string
		score
	}{{"all", all}, {"tuned on", even}, {"not seen", odd}} {
		t.Logf("%-8s  %3d endings  recall %.3f  precision %.3f", row.name, row.hit+row.wrong+row.missed+row.right, row.recall(), row.precision())
	}
	if n := all.hit + all.wrong + all.missed + all.right; n < 150 || all.recall() < 0.9 || all.precision() < 0.95 {
		t.Errorf("%d endings, recall %.3f, precision %.3f", n, all.recall(), all.precision())
	}
}

func read(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := samples.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(data, []byte("\n"))
}

// message is the text of an agent's message, of either host.
func message(line []byte) string {
	type content []struct{ Type, Text string }
	var l struct {
		Message struct{ Content content }
		Payload struct{ Content content }
		Content content
	}
	_ = json.Unmarshal(line, &l)
	var parts []string
	for _, list := range []content{l.Message.Content, l.Payload.Content, l.Content} {
		for _, c := range list {
			switch c.Type {
			case "text", "output_text", "input_text":
				parts = append(parts, c.Text)
			}
		}
	}
	return strings.Join(parts, "\n")
}
