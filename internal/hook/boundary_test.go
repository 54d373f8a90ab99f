package hook

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Most commands change nothing that counts, and hooks write nothing for them. Whether
// one counts the thread alone decides: whatever boundary it sees in a finished command,
// also in one that only reads, is known at the end of the turn, on every host.
func TestNoBoundaryOfACommandIsDropped(t *testing.T) {
	t.Parallel()
	for line, output := range map[string]string{
		"ls":                          "a.go\n",
		"go test ./...":               "ok  \tm/p\t0.1s\n",
		"npm test":                    "12 passing\n",
		"make check":                  "all checks passed\n",
		"pytest -q":                   "12 passed in 0.1s\n",
		"git status --short":          "",
		"git log -1":                  "commit 1a2b3c4\n",
		"git push":                    "main -> main\n",
		"gh pr view 7":                "https://x.example/o/r/pull/7\n",
		"gh pr checks 7":              "All checks were successful\n",
		"gh pr create --fill":         "https://x.example/o/r/pull/7\n",
		"gh pr merge 7 --squash":      "Squashed and merged pull request #7\n",
		"gt submit":                   "https://x.example/o/r/pull/7\n",
		"cd sub && gh pr close 7":     "Closed pull request #7\n",
		"gh pr create --fill | cat":   "https://x.example/o/r/pull/7\n",
		"gh pr review 7 --approve -b": "",
	} {
		exit := 0
		known := compact.Thread{}.Apply(host.CommandFinished{ID: "t2", Observation: shellcmd.Observation{Line: line, Output: output, Exit: &exit}}, compact.Settings{}).Boundary()
		for _, name := range host.Names() {
			t.Run(name+"/"+line, func(t *testing.T) {
				t.Parallel()
				p := newAsideTurn(t)
				call := func(event, in string) {
					if _, errs := p.call(event, name, in); errs != "" {
						t.Errorf("%s: %s", event, errs)
					}
				}
				for n, c := range [][2]string{{"ls", "a.go\n"}, {line, output}} {
					said := string(mustJSON(t, c[1]))
					tool := "Bash"
					switch name {
					case string(host.Opencode):
						tool = "bash"
					case string(host.Gemini):
						tool = "run_shell_command"
					}
					use := fmt.Sprintf(`"prompt_id":"p1","tool_name":"`+tool+`","tool_use_id":"t%d","tool_input":{"command":%s}`, n, mustJSON(t, c[0]))
					call("pre-tool-use", `"transcript_path":"$DIR/t.jsonl",`+use)
					p.log += fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]},"toolUseResult":{"stdout":%s,"stderr":""}}`, p.now.Format("2006-01-02T15:04:05.000Z"), n, said, said) + "\n"
					p.write("t.jsonl", p.log)
					if name != string(host.ClaudeCode) { // which starts no process for a command that ended well
						result := `"tool_response":` + said
						if name == string(host.Copilot) {
							result = `"tool_result":{"text_result_for_llm":` + string(mustJSON(t, c[1]+"<shellId: 0 completed with exit code 0>")) + `}`
						}
						if name == string(host.Opencode) {
							result = `"tool_response":{"output":` + said + `,"metadata":{"exit":0}}`
						}
						if name == string(host.Gemini) {
							result = `"tool_response":{"llmContent":` + string(mustJSON(t, "Output: "+c[1]+"\nProcess Group PGID: 7")) + `}`
						}
						call("post-tool-use", use+","+result)
					}
				}
				call("stop", `"transcript_path":"$DIR/t.jsonl","prompt_id":"p1","last_assistant_message":"I had a look."`)
				if got := p.memory().Thread.Boundary(); !slices.Equal(got.List(), known.List()) {
					t.Errorf("the hooks know of %v, the thread sees %v", got.List(), known.List())
				}
			})
		}
	}
}

// What is told late counts for the turn that it belongs to: a turn that is over keeps
// what its agent asked and learns what it had reached; another turn has neither worked
// nor reached anything because an old one had. What was done stands in any case.
func TestLateEndsCountForTheirOwnTurn(t *testing.T) {
	t.Parallel()
	commit := host.CommandFinished{
		ID: "c1", Observation: shellcmd.Observation{Line: "git commit -m x"},
		Made: shellcmd.Verdict{Committed: true, Commits: []shellcmd.Made{{Hash: asideCommit, Subject: "x"}}},
	}
	for name, tc := range map[string]struct {
		another, over  bool
		reached, works bool // by the turn that is known now
	}{
		"while the turn runs":    {false, false, true, true},
		"when the turn is over":  {false, true, true, false},
		"when another turn runs": {true, true, false, false},
	} {
		tx := &session.Tx{}
		tx.Observe(host.TurnStarted{ID: "p1"}, compact.Settings{})
		tx.Observe(host.CommandStarted{ID: "c1", Observation: commit.Observation}, compact.Settings{})
		observeAfterTurn(tx, tc.another, tc.over, func() { tx.Observe(commit, compact.Settings{}) })
		th := tx.Memory.Thread
		if got := th.State.Seen.Has(compact.Commit); got != tc.reached {
			t.Errorf("%s: the turn has committed: %v", name, got)
		}
		if th.State.Worked != tc.works {
			t.Errorf("%s: the turn has worked: %v", name, th.State.Worked)
		}
		if len(th.State.Slice.Commits) != 1 || len(th.Started) != 0 || !slices.Equal(th.Ended, []string{"c1"}) {
			t.Errorf("%s: commits %v, under way %v, ended %v", name, th.State.Slice.Commits, th.Started, th.Ended)
		}
	}
}
