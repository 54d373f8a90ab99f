//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// A model whose window is large by its name, and small by the host's version or by a
// variable: the gate of mode auto opens in time, and the run does not end at the host's
// limit. A commit at every step is refused twice at most while the window is a guess.
func TestWindow_NotByTheName(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{"as it is": "", "by a variable": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, v Version) {
				var p Play
				for i := range 8 {
					tokens := 80_000 + 14_000*i
					command := fmt.Sprintf("echo %d > a.txt && git add a.txt && git commit -q -m 'step %d' && git log -1 --oneline", i, i)
					p.Main = append(p.Main, func(r *mockapi.Request) mockapi.Reply {
						if r.Has("MOCK-SUMMARY") {
							tokens = 10_000
						}
						return mockapi.Calls(bash(command)).Tokens(tokens)
					})
				}
				w := gateWorld(t, p.Handle, v)
				w.Model = "claude-opus-4-8"
				if env != "" {
					w.env["CLAUDE_CODE_DISABLE_1M_CONTEXT"] = env
				}
				st := w.Prompt("go")
				if r := st.Result(); r.Text != "DONE" || r.TerminalReason != "completed" {
					t.Errorf("result %+v", r)
				}
				sums := summaries(w)
				if len(sums) == 0 || len(sums) > 2 {
					t.Fatalf("%d compactions", len(sums))
				}
				before := 0
				for _, r := range mains(w) {
					if r.Seq < sums[0].Seq {
						before++
					}
				}
				if before > 5 {
					t.Errorf("%d requests before the compaction", before)
				}
			})
		})
	}
}

// A name that says [1m] is believed.
func TestWindow_Marked(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{gateStep("echo a", 150_000), say("DONE")}}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Model = ""
		w.Settings(map[string]any{"model": "claude-sonnet-4-5[1m]"})
		r := w.Prompt("go on").Result()
		if got := w.Exec("overtone", "compact", "explain", "--session", r.SessionID, "--json"); !strings.Contains(got, `"window": 1000000`) {
			t.Error(got)
		}
	})
}
