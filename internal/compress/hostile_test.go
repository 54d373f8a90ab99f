package compress

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What crashes, other programs and ill will leave in session files: a run makes a
// clone that verifies or says that there is nothing to do; the source keeps its
// bytes, what cannot be read is copied, nothing is left beside.
func TestHostileSessions(t *testing.T) {
	t.Parallel()
	base := func() *chat {
		c := &chat{}
		for range 6 {
			c.user("We decided to keep internal/cfg/load.go because 14 users have it. " + long("question"))
			c.blocks(textBlock("Nobody should touch `load_row` before commit 4f1c2ab. " + long("answer")))
		}
		return c
	}
	add := func(lines ...string) func(*chat) {
		return func(c *chat) { c.lines = append(c.lines, lines...) }
	}
	answer := func(text string) func(*chat) { return func(c *chat) { c.blocks(textBlock(text)) } }
	for name, change := range map[string]func(*chat){
		"a line of megabytes": answer(strings.Repeat("word ", 200_000) + "end."),
		"a list of megabytes": func(c *chat) {
			var b strings.Builder
			for n := range 5_000 {
				fmt.Fprintf(&b, "- item_%d is in pkg%d/file.go:%d\n", n, n, n)
			}
			answer(b.String())(c)
		},
		"signs without end": answer(strings.Repeat("`", 50_000) + strings.Repeat("(", 50_000) + " a/b.go " + strings.Repeat("|", 20_000) + "\n" + strings.Repeat("- ", 20_000) + "\n" + strings.Repeat("a:\n", 20_000)),
		"zero bytes":        func(c *chat) { add(strings.Repeat("\x00", 5000))(c); c.user("a \x00 b " + long("question")) },
		"deep lists":        add(`{"type":"user","uuid":"d","parentUuid":null,"sessionId":"src","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`),
		"deep and open":     add(`{"type":"user","message":` + strings.Repeat(`{"a":[`, 50_000)),
		"a torn last line":  func(c *chat) { c.lines = append(c.lines, c.lines[3][:len(c.lines[3])/2]) },
		"wrong types": add(`{"type":"user","uuid":5,"parentUuid":[],"message":"x","sessionId":{}}`, `{"type":["user"],"message":{"content":{"a":1}}}`,
			`{"type":"assistant","uuid":"w","parentUuid":"00000012-0000-4000-8000-000000000000","sessionId":"src","timestamp":12,"message":{"content":[1,"x",null,{"type":"text","text":[1]},{"type":"text"},{"type":"tool_use","id":5,"input":"x"}],"usage":"no"}}`,
			`5`, `"str"`, `null`, `[]`),
		"the same uuid thrice": func(c *chat) { c.lines = append(c.lines, c.lines[3], c.lines[3]) },
		"a circle": func(c *chat) {
			c.lines[0] = strings.Replace(c.lines[0], `"parentUuid":null`, `"parentUuid":"`+c.last+`"`, 1)
		},
		"its own parent": func(c *chat) {
			c.lines[5] = strings.Replace(c.lines[5], `"parentUuid":"00000005`, `"parentUuid":"00000006`, 1)
		},
		"invalid UTF-8":     add(`{"parentUuid":"00000012-0000-4000-8000-000000000000","type":"user","uuid":"i","sessionId":"src","timestamp":"2026-01-01T00:20:00.000Z","message":{"role":"user","content":"` + "\xff\xfe\xc3( " + `\ud800 \udc00 ` + long("question") + `"}}`),
		"carriage returns":  func(c *chat) { c.lines = []string{strings.Join(c.lines, "\r\n")} },
		"two on one line":   func(c *chat) { c.lines[4] += c.lines[5]; c.lines = append(c.lines[:5], c.lines[6:]...) },
		"a byte order mark": func(c *chat) { c.lines[0] = "\ufeff" + c.lines[0] },
	} {
		for _, preset := range PresetNames() {
			t.Run(name+"/"+preset, func(t *testing.T) {
				t.Parallel()
				c := base()
				change(c)
				s := c.write(t)
				before, err := os.ReadFile(s.Path)
				if err != nil {
					t.Fatal(err)
				}
				d := Dir(t.TempDir())
				p := presetPlan(t, s, preset)
				if preset == "emergency" {
					// The harshest there is, users and the newest too.
					p = plan(t, s, Options{Bands: bands(t, "0-50:heavy-compress,50-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })})
				}
				res, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: "clone", Now: runTime, Refs: true})
				left := 1
				switch {
				case err == nil:
					left = 2
					clone := open(t, res.Clone.Path)
					if a, b := len(s.Turns(s.Live())), len(clone.Turns(clone.Live())); a != b {
						t.Errorf("%d turns, the source has %d", b, a)
					}
					originalsOf(t, d, clone, res)
				case !errors.Is(err, ErrNothing):
					t.Error(err)
				}
				if after, _ := os.ReadFile(s.Path); !bytes.Equal(before, after) {
					t.Error("the source changed")
				}
				if files := tree(t, filepath.Dir(s.Path)); len(files) != left {
					t.Errorf("files %q", files)
				}
			})
		}
	}
}

// originalsOf finds the original of every message that a clone marks.
func originalsOf(t *testing.T, d Dir, clone *transcript.Session, res *Result) {
	t.Helper()
	if len(tree(t, string(d))) == 0 {
		return // nothing was kept
	}
	known, marked := d.Originals(), 0
	raw, err := os.ReadFile(clone.Path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		m, ok := transcript.MarkerOf(bytes.TrimPrefix(line, []byte("\ufeff")))
		if !ok {
			continue
		}
		marked++
		if text, ok := known.Find(m.Hash); !ok || textHash(text) != m.Hash {
			t.Errorf("the original of %s is gone", m.UUID)
		}
	}
	if marked == 0 && res.Stats.MessagesCompressed > 0 {
		t.Error("nothing is marked")
	}
}
