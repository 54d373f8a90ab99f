//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

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

// What we take for the window is what the host itself tells in its result, or, where that
// may be either, the smaller one for what acts by itself.
func TestWindow_ByTheHost(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		for _, model := range []string{"opus", "claude-opus-4-7", "claude-opus-5.5", "claude-sonnet-4-6", "my-gateway-model", "claude-sonnet-4-5[1m]"} {
			t.Run(model, func(t *testing.T) {
				if v.floor() && strings.HasSuffix(model, "[1m]") {
					t.Skip("a mark on the command line reaches neither hooks nor files of this version")
				}
				p := &Play{Main: []Step{say("DONE")}}
				w := NewWorld(t, Overtone, p.Handle, v)
				w.Model = model
				st := w.Prompt("go on")
				var told string
				events, err := json.Marshal(st.Events)
				if err != nil {
					t.Fatal(err)
				}
				if _, rest, ok := strings.Cut(string(events), `"contextWindow":`); ok {
					told = gjson.Parse(rest).Raw
				}
				got := gjson.Parse(w.Exec("overtone", "compact", "explain", "--session", st.Result().SessionID, "--json"))
				if told == "" || got.Get("window").String() != told {
					t.Errorf("the host has %s, explain says %s", told, got)
				}
			})
		}
	})
}

// A model that nobody knows: mode auto does not compact as soon as the host may, but at a
// boundary or where a small window would end, and doctor and explain say what is reckoned with.
func TestWindow_Unknown(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{}
		for range 4 {
			p.Main = append(p.Main, gateStep("echo a", 70_000))
		}
		p.Main = append(p.Main, say("DONE"))
		w := gateWorld(t, p.Handle, v)
		w.Model = "my-gateway-model"
		r := w.Prompt("go on").Result()
		if n := len(summaries(w)); n != 0 || r.Text != "DONE" {
			t.Errorf("%d compactions, %+v", n, r)
		}
		if v.floor() {
			return // it has the small one for certain
		}
		doctor, _ := w.command("overtone", "doctor", "--session", r.SessionID).CombinedOutput() // nothing is installed
		said := w.Exec("overtone", "compact", "explain", "--session", r.SessionID) + strings.Join(strings.Fields(string(doctor)), " ")
		if !strings.Contains(said, "the window is a guess") || !strings.Contains(said, "mode auto reckons with 200,000 tokens") {
			t.Error(said)
		}
	})
}
