package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// asideTurn plays a turn in which an agent commits, opens a pull request, edits and
// fails, and then one in which it only talks. The processes that tell the ends of its
// tools come when the test says.
type asideTurn struct {
	*place
	log   string // the session's file so far
	moves string // the repository's log
	ended []func()
	said  strings.Builder // by processes that nobody waits for
}

const (
	asideCommit = "4444444444444444444444444444444444444444"
	asideZero   = "1111111111111111111111111111111111111111"
)

func newAsideTurn(t *testing.T) *asideTurn {
	p := &asideTurn{place: newPlace(t)}
	p.head(asideZero, asideZero, "start")
	return p
}

// head is what git leaves of a commit.
func (p *asideTurn) head(before, hash, subject string) {
	p.write("project/.git/HEAD", "ref: refs/heads/main\n")
	p.write("project/.git/objects/x", "")
	p.write("project/.git/refs/heads/main", hash+"\n")
	p.moves += fmt.Sprintf("%s %s a <a@x> %d +0000\tcommit: %s\n", before, hash, p.now.Unix(), subject)
	p.write("project/.git/logs/HEAD", p.moves)
}

func (p *asideTurn) hook(event, in string) (stdout string) {
	p.t.Helper()
	out, errs := p.call(event, "claude-code", `"transcript_path":"$DIR/t.jsonl",`+in)
	if errs != "" {
		p.t.Errorf("%s: %s", event, errs)
	}
	return out
}

// tool is one call: what it does, what the file gets, and the process that tells.
func (p *asideTurn) tool(id, name, input, result string, failed bool, do func()) {
	use := fmt.Sprintf(`"prompt_id":"p1","tool_name":%q,"tool_input":%s,"tool_use_id":%q`, name, input, id)
	p.hook("pre-tool-use", use)
	if do != nil {
		do()
	}
	response, event, answer := `"tool_response":`+result, "post-tool-use", `"content":"ok"`
	own := `,"toolUseResult":` + result
	if failed {
		response, event, answer, own = `"error":`+result, "post-tool-use-failure", `"is_error":true,"content":`+result, ""
	}
	p.log += fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,%s}]}%s}`, p.now.Format(time.RFC3339Nano), id, answer, own) + "\n"
	p.write("t.jsonl", p.log)
	p.ended = append(p.ended, func() { p.said.WriteString(p.hook(event, use+","+response)) })
}

func (p *asideTurn) thread() compact.Thread { return p.memory().Thread }

// When the ends of tools are told, in what order, how often, and whether at all,
// changes nothing that counts: what the turn has reached is known when it ends, once,
// it is not the next turn's, and a turn that is over stays over.
func TestNewest_Row7_EndsMayBeToldAnyTime(t *testing.T) {
	t.Parallel()
	const never = 0
	for when := never; when < 1<<4; when++ {
		for _, backwards := range []bool{false, true} {
			t.Run(fmt.Sprintf("%04b/%v", when, backwards), func(t *testing.T) {
				t.Parallel()
				p := newAsideTurn(t)
				tell := func(slot int) {
					if when&(1<<slot) == 0 {
						return
					}
					list := slices.Clone(p.ended)
					if backwards {
						slices.Reverse(list)
					}
					for _, f := range list {
						f()
					}
				}
				p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Publish the parser."`)
				p.tool("t1", "Bash", `{"command":"git commit -qm parser"}`, `{"stdout":"","stderr":""}`, false, func() {
					p.head(asideZero, asideCommit, "parser")
				})
				p.tool("t2", "Bash", `{"command":"gh pr create --fill"}`, `{"stdout":"https://x.example/o/r/pull/7\n","stderr":""}`, false, nil)
				p.tool("t3", "Edit", `{"file_path":"/w/a.go"}`, `{}`, false, nil)
				p.tool("t4", "Bash", `{"command":"make check"}`, `"Exit code 2\nno rule"`, true, nil)

				tell(0)
				p.hook("stop", `"prompt_id":"p1","last_assistant_message":"It is published. Shall I delete the old branch?"`)
				tell(1)
				th := p.thread()
				if got := th.Boundary(); !got.Has(compact.Commit) || !got.Has(compact.PRCheckpoint) {
					t.Errorf("at the end of the turn: %v", got)
				}
				if state, sign := th.Words.State(false); state != compact.StateTurnOver {
					t.Errorf("after the turn's end it is %s by %s", state, sign)
				}
				p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"What is a parser?"`)
				tell(2)
				p.hook("stop", `"prompt_id":"p2","last_assistant_message":"A program that reads. Done."`)
				tell(3)

				th = p.thread()
				if th.State.Worked || th.State.Seen != 0 {
					t.Errorf("the second turn: worked %v, %v", th.State.Worked, th.State.Seen)
				}
				var commits []string
				for _, c := range th.State.Slice.Commits {
					commits = append(commits, c.Hash)
				}
				if !slices.Equal(commits, []string{asideCommit}) {
					t.Errorf("commits: %q", commits)
				}
				if when != never && (!slices.Equal(th.State.Slice.Files, []string{"/w/a.go"}) || len(th.State.Slice.Failures) != 1) {
					t.Errorf("what the tools told is lost: %+v", th.State.Slice)
				}
				if len(th.Started) > 0 {
					t.Errorf("still waited for: %v", th.Started)
				}
				if p.said.Len() > 0 {
					t.Errorf("a process that nobody hears says %s", p.said.String())
				}
			})
		}
	}
}

// Where no process tells that a command ended well, the next one that is waited for
// reads it: the next tool knows of the commit, and the log's later entries, which are
// another session's in the same folder, are nobody's here.
func TestNewest_Row7_NextToolLearnsTheEnd(t *testing.T) {
	t.Parallel()
	const theirs = "5555555555555555555555555555555555555555"
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	p.tool("t1", "Bash", `{"command":"./release.sh"}`, `{"stdout":"v2","stderr":""}`, false, func() {
		p.head(asideZero, asideCommit, "release 2")
	})
	p.now = p.now.Add(time.Minute)
	p.head(asideCommit, theirs, "theirs")
	p.now = p.now.Add(time.Minute)
	p.hook("pre-tool-use", `"tool_name":"Edit","tool_use_id":"t2","tool_input":{"file_path":"/w/a.go"}`)
	th := p.thread()
	if c := th.State.Slice.Commits; len(c) != 1 || c[0].Hash != asideCommit || !th.Boundary().Has(compact.Commit) || len(th.Started) > 0 {
		t.Errorf("commits %v, %v, still waited for: %v", c, th.Boundary(), th.Started)
	}
}

// Two sessions work in one folder, one commits: the other, whose own command did not,
// or was refused, or of whose end nothing is known, does not take it for its own.
func TestNewest_Row7_AnotherSessionsCommit(t *testing.T) {
	t.Parallel()
	const theirs = "5555555555555555555555555555555555555555"
	for name, c := range map[string]struct {
		line, result string
		failed, lost bool
		mine         bool
	}{
		"nothing to commit":           {line: "git commit -m mine", result: `"Exit code 1\nnothing to commit, working tree clean"`, failed: true},
		"masked":                      {line: "git commit -m \"$M\" || true", result: `{"stdout":"nothing to commit, working tree clean\n","stderr":""}`},
		"a hook says no":              {line: "git commit -F msg", result: `"Exit code 1\nlint: 3 errors"`, failed: true},
		"refused":                     {line: "git commit -F msg", result: `"The user does not want to proceed with this tool use."`, failed: true},
		"a refused script":            {line: "./release.sh", result: `"The user does not want to proceed with this tool use."`, failed: true},
		"quiet, with another message": {line: "git commit -qm mine; true", result: `{"stdout":"","stderr":""}`, mine: true},
		"end lost, message":           {line: "git commit -m mine", lost: true},
		"end lost, none":              {line: "git commit -F msg", lost: true},
		"end lost, script":            {line: "./release.sh", lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAsideTurn(t)
			p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
			input := `{"command":` + string(mustJSON(t, c.line)) + `}`
			commit := func() { p.head(asideZero, theirs, "theirs") }
			if c.lost {
				p.hook("pre-tool-use", `"prompt_id":"p1","tool_name":"Bash","tool_use_id":"t1","tool_input":`+input)
				commit()
			} else {
				p.tool("t1", "Bash", input, c.result, c.failed, commit)
			}
			p.hook("stop", `"prompt_id":"p1","last_assistant_message":"So."`)
			if th := p.thread(); len(th.State.Slice.Commits) > 0 || th.Boundary().Has(compact.Commit) {
				t.Errorf("%v, %v", th.State.Slice.Commits, th.Boundary())
			}
			// The same with a commit of its own is its own.
			p = newAsideTurn(t)
			p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
			if c.mine {
				p.tool("t1", "Bash", input, c.result, c.failed, func() { p.head(asideZero, asideCommit, "mine") })
				p.hook("stop", `"prompt_id":"p1","last_assistant_message":"So."`)
				if th := p.thread(); len(th.State.Slice.Commits) != 1 {
					t.Errorf("its own: %v", th.State.Slice.Commits)
				}
			}
		})
	}
}

// A script that runs while another session commits does not take that commit for its
// own: whoever commits has said so before. A commit that nobody has announced is the
// script's.
func TestNewest_Row7_AnnouncedCommit(t *testing.T) {
	t.Parallel()
	const theirs = "5555555555555555555555555555555555555555"
	for name, c := range map[string]struct {
		announced string
		want      int
	}{
		"announced":          {`git commit -qm theirs`, 1},
		"message not known":  {`git commit -qF msg`, 0},
		"another announced":  {`git commit -qm other`, 2},
		"in another folder":  {`git -C /elsewhere commit -qm theirs`, 2},
		"nothing was said":   {`ls`, 2},
		"too long ago to be": {``, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAsideTurn(t)
			p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
			p.tool("t1", "Bash", `{"command":"./release.sh"}`, `{"stdout":"","stderr":""}`, false, func() {
				line := c.announced
				if line == "" {
					line = "git commit -qm theirs"
				}
				p.call("pre-tool-use", "claude-code", `"session_id":"s2","tool_name":"Bash","tool_use_id":"x1","tool_input":{"command":"`+line+`"}`)
				if c.announced == "" {
					p.now = p.now.Add(time.Hour)
				}
				p.head(asideZero, theirs, "theirs")
				p.head(theirs, asideCommit, "release 2")
			})
			p.hook("stop", `"prompt_id":"p1","last_assistant_message":"So."`)
			if th := p.thread(); len(th.State.Slice.Commits) != c.want {
				t.Errorf("%v, want %d", th.State.Slice.Commits, c.want)
			}
		})
	}
}

// What is announced is stored, so it holds no secret.
func TestAnnouncedHoldsNoSecret(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	p.hook("pre-tool-use", `"tool_name":"Bash","tool_use_id":"x1","tool_input":{"command":"git commit -qm 'use `+secret+`'"}`)
	data, err := os.ReadFile(filepath.Join(p.dir, ".overtone", "commits.jsonl"))
	if err != nil || bytes.Contains(data, []byte(secret)) || !bytes.Contains(data, []byte("use ")) {
		t.Errorf("announced %q, %v", data, err)
	}
}

// A prompt that comes while a command runs does not lose its end; one whose host has
// died is asked for once more, and then let go.
func TestNewest_Row7_PromptBesideACommand(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Publish the parser."`)
	use := `"tool_name":"Bash","tool_input":{"command":"git commit -qF msg"},`
	p.hook("pre-tool-use", use+`"tool_use_id":"dead"`)
	p.tool("t1", "Bash", `{"command":"git commit -qF msg"}`, `{"stdout":"","stderr":""}`, false, func() {
		p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"And the lexer."`)
		p.head(asideZero, asideCommit, "parser")
		p.now = p.now.Add(time.Second)
	})
	p.hook("stop", `"prompt_id":"p2","last_assistant_message":"Both."`)
	if th := p.thread(); !th.Boundary().Has(compact.Commit) || len(th.State.Slice.Commits) != 1 {
		t.Errorf("the turn goes on: %v, %v", th.Boundary(), th.State.Slice.Commits)
	}
	p.hook("user-prompt-submit", `"prompt_id":"p3","prompt":"What is a lexer?"`)
	if th := p.thread(); len(th.Started) > 0 {
		t.Errorf("still waited for: %v", th.Started)
	}
}

// A command that has failed and works now is no failure any more.
func TestNewest_Row7_FailureIsMended(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	p.tool("t1", "Bash", `{"command":"grep -c x a.txt"}`, `"Exit code 2\nno such file"`, true, nil)
	p.ended[0]()
	p.tool("t2", "Bash", `{"command":"ls"}`, `{"stdout":"a.txt","stderr":""}`, false, nil)
	if th := p.thread(); len(th.State.Slice.Failures) != 1 || len(th.Started) > 0 {
		t.Fatalf("%+v, %v", th.State.Slice.Failures, th.Started)
	}
	p.tool("t3", "Bash", `{"command":"grep -c x a.txt"}`, `{"stdout":"1","stderr":""}`, false, nil)
	p.hook("stop", `"prompt_id":"p1","last_assistant_message":"So."`)
	if th := p.thread(); len(th.State.Slice.Failures) > 0 {
		t.Errorf("%+v", th.State.Slice.Failures)
	}
}

// However many commands run side by side, the end of each is learned.
func TestNewest_Row7_SideBySide(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	for i := range 12 {
		p.hook("pre-tool-use", fmt.Sprintf(`"tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":"./job.sh %d"}`, i, i))
	}
	p.head(asideZero, asideCommit, "job 0")
	for i := range 12 {
		out := ""
		if i == 0 {
			out = "[main 44444444] job 0"
		}
		p.log += fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"ok"}]},"toolUseResult":{"stdout":%q}}`, p.now.Format(time.RFC3339Nano), i, out) + "\n"
	}
	p.write("t.jsonl", p.log)
	p.hook("stop", `"prompt_id":"p1","last_assistant_message":"So."`)
	if th := p.thread(); len(th.State.Slice.Commits) != 1 || len(th.Started) > 0 {
		t.Errorf("%v, still waited for: %v", th.State.Slice.Commits, th.Started)
	}
}

// What waits for the main thread is handed over before its next tool, once, not by
// the process that nobody hears; and a call that is refused does not take it.
func TestNewest_Row7_OutboxGoesBeforeTheNextTool(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	err := session.Update(p.session(), session.Options{Now: p.now, Warn: func(err error) { t.Error(err) }}, func(tx *session.Tx) error {
		tx.Leave(session.Message{Model: "ROUTE"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bash := `"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}`
	if out := p.hook("post-tool-use", bash+`,"tool_response":{"stdout":"a"}`); out != "" {
		t.Errorf("aside: %s", out)
	}
	if out := p.hook("pre-tool-use", `"tool_name":"Bash","tool_use_id":"t2","tool_input":{"command":"overtone workflow trust x"}`); strings.Contains(out, "ROUTE") || !strings.Contains(out, "deny") {
		t.Errorf("refused: %s", out)
	}
	if out := p.hook("pre-tool-use", bash); !strings.Contains(out, `"additionalContext":"ROUTE"`) || strings.Contains(out, "permissionDecision") {
		t.Errorf("before: %s", out)
	}
	if out := p.hook("pre-tool-use", bash); out != "" {
		t.Errorf("again: %s", out)
	}
}

// A gate that has refused is not made to refuse again by the late end of a tool
// from before: that would hide that the turn does not get on.
func TestNewest_Row7_LateEndLeavesTheGate(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	p.tool("t1", "Bash", `{"command":"make"}`, `{"stdout":"","stderr":""}`, false, nil)
	err := session.Update(p.session(), session.Options{Now: p.now, Warn: func(err error) { t.Error(err) }}, func(tx *session.Tx) error {
		tx.Memory.Threads.Refused, tx.Memory.Threads.Asked = 100, true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.ended[0]()
	if th := p.memory().Threads; th.Refused != 100 || !th.Asked {
		t.Errorf("refused %d, asked %v", th.Refused, th.Asked)
	}
	p.hook("pre-tool-use", `"tool_name":"Bash","tool_use_id":"t2","tool_input":{"command":"ls"}`)
	if th := p.memory().Threads; th.Refused != 0 {
		t.Error("the next tool does not say that the turn goes on")
	}
}

// The plugin has the host wait for a tool's end exactly where it is not told aside.
func TestNewest_Row7_PlainHookIsAsItWas(t *testing.T) {
	t.Parallel()
	for _, h := range []*host.Host{host.Plain(), host.Of(host.Codex), host.Of(host.Copilot)} {
		if h.EndsUnwaited(host.ShellTool) {
			t.Errorf("%q tells the ends of commands aside", h.Name)
		}
	}
	p := newPlace(t)
	out, _ := p.call("post-tool-use", "", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":""}`)
	if out != `{"result":""}` && strings.TrimSpace(out) != `{"result":""}` {
		t.Errorf("plain: %q", out)
	}
}

// behind is a command that runs on in the background: the file says so at once.
func (p *asideTurn) behind(id, line, task string) {
	p.hook("pre-tool-use", fmt.Sprintf(`"prompt_id":"p1","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q,"run_in_background":true}`, id, line))
	p.log += fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"Command running in background with ID: %s."}]},"toolUseResult":{"stdout":"","backgroundTaskId":%q}}`, p.now.Format(time.RFC3339Nano), id, task, task) + "\n"
	p.write("t.jsonl", p.log)
}

// note is what the host queues when such a command is over.
func (p *asideTurn) note(id, task, summary, output string) string {
	file := p.write(task+".output", output)
	note := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<tool-use-id>%s</tool-use-id>\n<output-file>%s</output-file>\n<status>completed</status>\n<summary>Background command \"x\" %s</summary>\n</task-notification>", task, id, file, summary)
	p.log += fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"content":%s}`, p.now.Format(time.RFC3339Nano), mustJSON(p.t, note)) + "\n"
	return note
}

// A command that runs on in the background commits when it does, in a turn, between
// two or in a later one, and is over, is stopped or dies: the commit counts once, for the
// turn that hears of it, and a note of the host's is no word of the user's.
func TestNewest_Row7_BehindCommits(t *testing.T) {
	t.Parallel()
	stop := func(p *asideTurn, prompt, said string, shells ...string) {
		list := []string{}
		for _, id := range shells {
			list = append(list, fmt.Sprintf(`{"id":%q,"type":"shell","status":"running"}`, id))
		}
		p.hook("stop", fmt.Sprintf(`"prompt_id":%q,"last_assistant_message":%q,"background_tasks":[%s]`, prompt, said, strings.Join(list, ",")))
	}
	const open = "Shall I go on meanwhile?"
	for name, c := range map[string]struct {
		line string
		// heard plays from the end of the first turn on.
		heard   func(p *asideTurn)
		want    string
		working bool // it is still waited for
	}{
		"a note opens a turn": {"sleep 9; git commit -m mine", func(p *asideTurn) {
			p.head(asideZero, asideCommit, "mine")
			note := p.note("b1", "t1", "completed (exit code 0)", "[main 4444444] mine\n")
			p.write("t.jsonl", p.log)
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":`+string(mustJSON(p.t, note)))
			if w := p.thread().Words; w.Count != 1 || w.Last == compact.LastUser {
				p.t.Errorf("the note is taken for the user's words: %+v", w)
			}
			p.hook("pre-tool-use", `"prompt_id":"p2","tool_name":"Bash","tool_use_id":"x","tool_input":{"command":"ls"}`)
			stop(p, "p2", "Committed.")
		}, "mine", false},
		"the file does not have it yet": {"./job.sh", func(p *asideTurn) {
			p.head(asideZero, asideCommit, "mine")
			note := p.note("b1", "t1", "completed (exit code 0)", "")
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":`+string(mustJSON(p.t, note)))
			stop(p, "p2", "Committed.")
		}, "mine", false},
		"a note in the turn": {"git commit -qF msg", func(p *asideTurn) {
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"Yes, go on."`)
			p.head(asideZero, asideCommit, "mine")
			p.note("b1", "t1", "completed (exit code 0)", "")
			p.write("t.jsonl", p.log)
			stop(p, "p2", "Committed.")
		}, "mine", false},
		"it says that it failed": {"git commit -m mine", func(p *asideTurn) {
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"Yes, go on."`)
			p.head(asideZero, asideCommit, "theirs")
			p.note("b1", "t1", "failed with exit code 1", "nothing to commit, working tree clean\n")
			p.write("t.jsonl", p.log)
			stop(p, "p2", "It failed.")
		}, "", false},
		"stopped": {"./job.sh", func(p *asideTurn) {
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"Stop it."`)
			p.head(asideZero, asideCommit, "mine")
			stop(p, "p2", "Stopped.")
		}, "mine", false},
		"so far": {"git commit -m mine && ./deploy.sh", func(p *asideTurn) {
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"Yes, go on."`)
			p.head(asideZero, asideCommit, "mine")
			stop(p, "p2", "It deploys.", "t1")
		}, "mine", true},
		"it runs on": {"./serve.sh", func(p *asideTurn) {
			for i := 2; i < 6; i++ {
				p.hook("user-prompt-submit", fmt.Sprintf(`"prompt_id":"p%d","prompt":"And?"`, i))
				stop(p, fmt.Sprint("p", i), "It serves.", "t1")
			}
		}, "", true},
		"its host has died": {"./serve.sh", func(p *asideTurn) {
			p.hook("session-start", `"source":"resume"`)
			p.head(asideZero, asideCommit, "of who knows whom")
			p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"And?"`)
			stop(p, "p2", "Gone.")
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAsideTurn(t)
			p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
			p.behind("b1", c.line, "t1")
			p.now = p.now.Add(time.Second)
			stop(p, "p1", open, "t1")
			if th := p.thread(); th.Boundary().Has(compact.Commit) || len(th.Started) > 0 || len(th.Background) != 1 {
				t.Fatalf("at first: %v, %v, %v", th.Boundary(), th.Started, th.Background)
			}
			p.now = p.now.Add(time.Minute)
			c.heard(p)
			check := func(when string, boundary bool) {
				t.Helper()
				th := p.thread()
				var subjects []string
				for _, m := range th.State.Slice.Commits {
					subjects = append(subjects, m.Subject)
				}
				if got := strings.Join(subjects, "|"); got != c.want || th.Boundary().Has(compact.Commit) != boundary || (len(th.Background) > 0) != c.working {
					t.Errorf("%s: %q, %v, still waited for: %v", when, got, th.Boundary(), th.Background)
				}
			}
			check("heard", c.want != "")
			for _, prompt := range []string{"p8", "p9"} { // the next turn's it is not
				p.now = p.now.Add(time.Minute)
				p.hook("user-prompt-submit", fmt.Sprintf(`"prompt_id":%q,"prompt":"What is a parser?"`, prompt))
				p.hook("pre-tool-use", `"tool_name":"Bash","tool_use_id":"l","tool_input":{"command":"ls"}`)
				var shells []string
				if c.working {
					shells = []string{"t1"}
				}
				stop(p, prompt, "It reads.", shells...)
				check(prompt, false)
			}
		})
	}
}

// What a server that runs on does not take, when it is over: the commits that others of
// the same session have made meanwhile.
func TestNewest_Row7_BehindTakesNothingTwice(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Go."`)
	p.behind("b1", "./serve.sh", "t1")
	p.tool("t1", "Bash", `{"command":"./release.sh"}`, `{"stdout":"","stderr":""}`, false, func() { p.head(asideZero, asideCommit, "release") })
	p.hook("stop", `"prompt_id":"p1","last_assistant_message":"Released.","background_tasks":[{"id":"t1","type":"shell","status":"running"}]`)
	p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"Stop the server."`)
	p.hook("pre-tool-use", `"prompt_id":"p2","tool_name":"Bash","tool_use_id":"x","tool_input":{"command":"ls"}`)
	p.hook("stop", `"prompt_id":"p2","last_assistant_message":"Stopped.","background_tasks":[]`)
	if th := p.thread(); len(th.State.Slice.Commits) != 1 || th.Boundary().Has(compact.Commit) || len(th.Background) > 0 {
		t.Errorf("%v, %v, %v", th.State.Slice.Commits, th.Boundary(), th.Background)
	}
}

// Two silent scripts run in two sessions of one repository, and it has a new commit: one
// of them has it, whichever asks first, and however often; a session that is alone has
// its own, whatever was announced before and is over.
func TestNewest_Row7_OneCommitOneSession(t *testing.T) {
	t.Parallel()
	script := func(p *asideTurn, of, id string) {
		p.call("pre-tool-use", "claude-code", fmt.Sprintf(`"session_id":%q,"transcript_path":"$DIR/%s.jsonl","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":"./job.sh"}`, of, of, id))
	}
	over := func(p *asideTurn, of, id string) (commits int) {
		p.write(of+".jsonl", fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]},"toolUseResult":{"stdout":""}}`, p.now.Format(time.RFC3339Nano), id)+"\n")
		for range 2 {
			p.call("stop", "claude-code", fmt.Sprintf(`"session_id":%q,"transcript_path":"$DIR/%s.jsonl","last_assistant_message":"So."`, of, of))
		}
		m := session.Read(p.sessionOf(of))
		return len(m.Thread.State.Slice.Commits)
	}
	for name, order := range map[string][]string{"first": {"s2", "s3"}, "second": {"s3", "s2"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAsideTurn(t)
			script(p, "s2", "of s2")
			script(p, "s3", "of s3")
			p.head(asideZero, asideCommit, "of one of them")
			first, second := over(p, order[0], "of "+order[0]), over(p, order[1], "of "+order[1])
			if first != 1 || second != 0 {
				t.Errorf("%d and %d", first, second)
			}
		})
	}
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		p := newAsideTurn(t)
		// Another has said that it commits, with what message it did not say; it is over.
		p.call("pre-tool-use", "claude-code", `"session_id":"s2","transcript_path":"$DIR/s2.jsonl","tool_name":"Bash","tool_use_id":"a","tool_input":{"command":"git commit -qF msg"}`)
		if n := over(p, "s2", "a"); n != 0 {
			t.Fatalf("%d commits", n)
		}
		p.now = p.now.Add(time.Second)
		script(p, "s3", "b")
		p.head(asideZero, asideCommit, "mine")
		if n := over(p, "s3", "b"); n != 1 {
			t.Errorf("%d commits of the one that runs", n)
		}
	})
}

// A command in the background wakes nobody who waits for a stage: it does not keep a
// workflow from going on, as an agent there does.
func TestNewest_Row7_BehindHoldsNoWorkflow(t *testing.T) {
	t.Parallel()
	for typ, goes := range map[string]bool{"shell": true, "subagent": false} {
		p := newAsideTurn(t)
		p.hook("user-prompt-submit", start)
		out := p.hook("stop", `"last_assistant_message":"So.","background_tasks":[{"id":"b1","type":"`+typ+`","status":"running"}]`)
		if strings.Contains(out, `"block"`) != goes {
			t.Errorf("%s: %s", typ, out)
		}
	}
}

// What is typed into a turn that runs has that turn's name, and does not end it: what the
// turn has reached still counts when it ends, and the words are the user's.
func TestNewest_Row7_TypedIntoTheTurn(t *testing.T) {
	t.Parallel()
	p := newAsideTurn(t)
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Publish the parser."`)
	p.tool("t1", "Bash", `{"command":"git commit -qm parser"}`, `{"stdout":"","stderr":""}`, false, func() { p.head(asideZero, asideCommit, "parser") })
	p.hook("user-prompt-submit", `"prompt_id":"p1","prompt":"Write the notes, too, please."`)
	p.tool("t2", "Bash", `{"command":"ls"}`, `{"stdout":"a","stderr":""}`, false, nil)
	p.hook("stop", `"prompt_id":"p1","last_assistant_message":"Both."`)
	if th := p.thread(); !th.Boundary().Has(compact.Commit) || !th.State.Worked || th.Words.Newest().Text != "Write the notes, too, please." {
		t.Errorf("%v, worked %v, %q", th.Boundary(), th.State.Worked, th.Words.Newest().Text)
	}
	p.hook("user-prompt-submit", `"prompt_id":"p2","prompt":"What is a parser?"`)
	p.tool("t3", "Bash", `{"command":"ls"}`, `{"stdout":"a","stderr":""}`, false, nil)
	p.hook("stop", `"prompt_id":"p2","last_assistant_message":"It reads."`)
	if th := p.thread(); th.Boundary().Has(compact.Commit) {
		t.Errorf("the next turn: %v", th.Boundary())
	}
}
