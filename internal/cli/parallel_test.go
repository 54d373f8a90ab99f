package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// fields is the input of a hook.
type fields map[string]any

func (f fields) json() []byte {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return data
}

const (
	passed = `fine <!-- PIPELINE_ROUTE: {"verdict":"PASS","route":"NEXT"} -->`
	failed = `not yet <!-- PIPELINE_ROUTE: {"verdict":"FAIL","route":"DEV","severity":"HIGH","hint":"guard the nil map"} -->`
)

// call is one hook of a race.
type call struct {
	event string
	in    fields
}

func preTool(sid, agent, id string, async bool) call {
	return call{"pre-tool-use", fields{"session_id": sid, "tool_name": "Agent", "tool_use_id": id, "tool_input": fields{
		"subagent_type": "overtone:" + agent, "prompt": "go", "run_in_background": async,
	}}}
}

func launch(sid, agent, id, agentID string) call {
	return call{"post-tool-use", fields{
		"session_id": sid, "tool_name": "Agent", "tool_use_id": id,
		"tool_input":    fields{"subagent_type": "overtone:" + agent, "run_in_background": true},
		"tool_response": fields{"status": "async_launched", "agentId": agentID},
	}}
}

func agentStart(sid, agent, agentID string) call {
	return call{"subagent-start", fields{"session_id": sid, "agent_id": agentID, "agent_type": "overtone:" + agent}}
}

func agentStop(sid, agent, agentID, text string) call {
	return call{"subagent-stop", fields{"session_id": sid, "agent_id": agentID, "agent_type": "overtone:" + agent, "last_assistant_message": text}}
}

func postTool(sid, agent, id, agentID, text string) call {
	return call{"post-tool-use", fields{
		"session_id": sid, "tool_name": "Agent", "tool_use_id": id,
		"tool_input": fields{"subagent_type": "overtone:" + agent},
		"tool_response": fields{
			"status": "completed", "agentId": agentID, "totalTokens": 9,
			"content": []fields{{"type": "text", "text": text}},
		},
	}}
}

func otherTool(sid string) call {
	return call{"post-tool-use", fields{"session_id": sid, "tool_name": "Read", "tool_use_id": "r", "tool_input": fields{}, "tool_response": fields{}}}
}

// atOnce runs the calls at once, as processes, and returns what the model was told.
func atOnce(env []string, dir string, calls []call) (texts []string, err error) {
	calls = slices.Clone(calls)
	rand.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	outs, errs := make([][]byte, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			stdout, stderr, err := runHook(env, dir, c.in.json(), c.event, "--host", "claude-code")
			if err == nil && len(stderr) > 0 {
				err = fmt.Errorf("%s", stderr)
			}
			if err == nil {
				err = hostSafe(stdout, stderr, true)
			}
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.event, err)
			}
			outs[i] = stdout
		})
	}
	wg.Wait()
	for i := range calls {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if text := gjson.GetBytes(outs[i], "hookSpecificOutput.additionalContext").String(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// Agents that run side by side end side by side, and the host calls several
// hooks for each. Whatever their order: every stage counts, once, and the main
// agent is told what follows, once.
func TestParallelStops(t *testing.T) {
	t.Parallel()
	runs := 100
	if testing.Short() {
		runs = 10
	}
	const reviewer, tester = "code-reviewer", "tester"
	for _, c := range []struct {
		name   string
		steps  func(sid string) [][]call // each step is a race
		stages map[string]string         // status at the end
		told   string                    // in exactly one text
		events map[string]int            // on the timeline, by a part of the line
		counts string                    // failCount/rejectCount/retries
	}{
		{
			name: "both pass",
			steps: func(sid string) [][]call {
				return [][]call{
					{preTool(sid, reviewer, "t1", false), preTool(sid, tester, "t2", false)},
					{agentStart(sid, reviewer, "a1"), agentStart(sid, tester, "a2")},
					{
						agentStop(sid, reviewer, "a1", passed), agentStop(sid, tester, "a2", passed),
						postTool(sid, reviewer, "t1", "a1", passed), postTool(sid, tester, "t2", "a2", passed),
					},
					{{"post-tool-batch", fields{"session_id": sid, "tool_calls": []any{}}}},
				}
			},
			stages: map[string]string{"DEV": "completed", "REVIEW": "completed", "TEST": "completed", "RETRO": "pending"},
			told:   "overtone:retrospective（RETRO）",
			events: map[string]int{`"stage:complete"`: 3, `"barrier:resolved"`: 1, `"stage:start"`: 2, `"stage:retry"`: 0},
			counts: "0/0/{}",
		},
		{
			name: "one fails",
			steps: func(sid string) [][]call {
				return [][]call{
					{preTool(sid, reviewer, "t1", false), preTool(sid, tester, "t2", false)},
					{
						agentStop(sid, reviewer, "a1", failed), agentStop(sid, tester, "a2", passed),
						postTool(sid, reviewer, "t1", "a1", failed), postTool(sid, tester, "t2", "a2", passed),
						agentStop(sid, reviewer, "a1", failed),
					},
					{{"post-tool-batch", fields{"session_id": sid, "tool_calls": []any{}}}},
				}
			},
			stages: map[string]string{"DEV": "pending", "REVIEW": "pending", "TEST": "pending", "RETRO": "pending"},
			told:   "overtone:developer（DEV）",
			events: map[string]int{`"stage:complete"`: 3, `"barrier:resolved"`: 1, `"stage:retry"`: 1},
			counts: `0/1/{"REVIEW":1}`,
		},
		{
			name: "in the background",
			steps: func(sid string) [][]call {
				return [][]call{
					{preTool(sid, reviewer, "t1", true), preTool(sid, tester, "t2", true)},
					{launch(sid, reviewer, "t1", "a1"), launch(sid, tester, "t2", "a2"), agentStart(sid, tester, "a2")},
					{
						agentStop(sid, reviewer, "a1", passed), agentStop(sid, tester, "a2", failed),
						agentStop(sid, tester, "a2", failed), otherTool(sid),
					},
					{{"user-prompt-submit", fields{"session_id": sid, "prompt": "<task-notification></task-notification>"}}},
				}
			},
			stages: map[string]string{"DEV": "pending", "REVIEW": "pending", "TEST": "pending", "RETRO": "pending"},
			told:   "overtone:developer（DEV）",
			events: map[string]int{`"stage:complete"`: 3, `"barrier:resolved"`: 1, `"stage:retry"`: 1},
			counts: `1/0/{"TEST":1}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			if _, err := atOnce(env, home, []call{agentStop("s1", "developer", "a0", passed)}); err != nil {
				t.Fatal(err)
			}
			if _, err := atOnce(env, home, []call{otherTool("s1")}); err != nil {
				t.Fatal(err)
			}
			// Runs of one case take turns: it is the hooks of one session that race.
			for n := range runs {
				sid := fmt.Sprintf("run%d", n)
				copySession(t, home, "s1", sid)
				var texts []string
				for _, step := range c.steps(sid) {
					told, err := atOnce(env, home, step)
					if err != nil {
						t.Fatalf("run %d: %v", n, err)
					}
					texts = append(texts, told...)
				}
				dir := filepath.Join(home, ".overtone", "sessions", sid)
				state, err := os.ReadFile(filepath.Join(dir, "workflow.json"))
				if err != nil {
					t.Fatal(err)
				}
				bad := func(format string, args ...any) {
					t.Helper()
					timeline, _ := os.ReadFile(filepath.Join(dir, "timeline.jsonl"))
					t.Fatalf("run %d: %s\ntold: %q\n%s\n%s", n, fmt.Sprintf(format, args...), texts, timeline, state)
				}
				for stage, want := range c.stages {
					if got := gjson.GetBytes(state, "stages."+stage+".status").String(); got != want {
						bad("%s is %s, not %s", stage, got, want)
					}
				}
				if a := gjson.GetBytes(state, "activeStages").Raw + gjson.GetBytes(state, "activeAgents").Raw; a != "[]{}" {
					bad("still active: %s", a)
				}
				if got := fmt.Sprintf("%d/%d/%s", gjson.GetBytes(state, "failCount").Int(), gjson.GetBytes(state, "rejectCount").Int(), compact(gjson.GetBytes(state, "retries").Raw)); got != c.counts {
					bad("counts are %s, not %s", got, c.counts)
				}
				if n := strings.Count(strings.Join(texts, "\n"), c.told); n != 1 {
					bad("%q was told %d times", c.told, n)
				}
				timeline, err := os.ReadFile(filepath.Join(dir, "timeline.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				for part, want := range c.events {
					if got := bytes.Count(timeline, []byte(part)); got != want {
						bad("%d × %s, not %d", got, part, want)
					}
				}
				for line := range bytes.Lines(timeline) {
					if !json.Valid(line) {
						bad("broken line: %s", line)
					}
				}
			}
		})
	}
}

// BenchmarkExactlyOnce counts: the ends of two agents, each told by two hooks, all
// four at once, in so many sessions.
func BenchmarkExactlyOnce(b *testing.B) {
	home, env := newHome(b)
	if _, err := atOnce(env, home, []call{agentStop("s1", "developer", "a0", passed)}); err != nil {
		b.Fatal(err)
	}
	const runs = 50
	lost, doubled := 0, 0
	count := func(got, want int) {
		lost += max(0, want-got)
		doubled += max(0, got-want)
	}
	for n := range runs {
		sid := fmt.Sprintf("once%d", n)
		copySession(b, home, "s1", sid)
		var texts []string
		for _, step := range [][]call{
			{preTool(sid, "code-reviewer", "t1", false), preTool(sid, "tester", "t2", false)},
			{
				agentStop(sid, "code-reviewer", "a1", passed), agentStop(sid, "tester", "a2", passed),
				postTool(sid, "code-reviewer", "t1", "a1", passed), postTool(sid, "tester", "t2", "a2", passed),
			},
			{{"post-tool-batch", fields{"session_id": sid, "tool_calls": []any{}}}},
		} {
			told, err := atOnce(env, home, step)
			if err != nil {
				b.Fatal(err)
			}
			texts = append(texts, told...)
		}
		timeline, err := os.ReadFile(filepath.Join(home, ".overtone", "sessions", sid, "timeline.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		count(bytes.Count(timeline, []byte(`"stage:complete"`)), 3)
		count(strings.Count(strings.Join(texts, "\n"), "overtone:retrospective（RETRO）"), 1)
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(2*runs, "completions")
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(float64(doubled), "doubled")
}

// copySession makes a session that stands where another one does.
func copySession(t testing.TB, home, from, to string) {
	t.Helper()
	src, dst := filepath.Join(home, ".overtone", "sessions", from), filepath.Join(home, ".overtone", "sessions", to)
	if err := os.Mkdir(dst, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"workflow.json", "timeline.jsonl"} {
		data, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte(`"`+from+`"`), []byte(`"`+to+`"`))
		if err := os.WriteFile(filepath.Join(dst, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Whenever a hook is killed, the state on disk is the one from before or the one
// from after, and the next call goes on from there.
func TestKilledHooks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	home, env := newHome(t)
	killed := map[string]int{}
	for n := range 60 {
		sid := fmt.Sprintf("k%d", n)
		copySession(t, home, "s1", sid)
		in := agentStop(sid, "developer", "a1", passed).in.json()
		cmd := exec.Command(overtone(), "hook", "subagent-stop", "--host", "claude-code")
		cmd.Env, cmd.Dir, cmd.Stdin = env, home, bytes.NewReader(in)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(9000)) * time.Microsecond)
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()

		file := filepath.Join(home, ".overtone", "sessions", sid, "workflow.json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := workflow.Load(data)
		if err != nil {
			t.Fatalf("killed in the middle: %v\n%s", err, data)
		}
		dev, _ := s.Stages.Get("DEV")
		killed[dev.Status]++
		if dev.Status == "completed" && dev.Result != "pass" || dev.Status != "completed" && dev.Status != "pending" {
			t.Fatalf("neither before nor after: %+v", dev)
		}

		// The host's other hook of the same end, then the main agent goes on.
		stdout, stderr, err := runHook(env, home, postTool(sid, "developer", "t1", "a1", passed).in.json(), "post-tool-use", "--host", "claude-code")
		if err != nil || len(stderr) > 0 {
			t.Fatalf("%v: %s", err, stderr)
		}
		if !bytes.Contains(stdout, []byte("overtone:code-reviewer（REVIEW）")) {
			t.Errorf("DEV was %s; the main agent is not told what follows: %s", dev.Status, stdout)
		}
		for _, c := range []call{agentStop(sid, "code-reviewer", "a2", passed), agentStop(sid, "tester", "a3", passed)} {
			if _, stderr, err := runHook(env, home, c.in.json(), c.event, "--host", "claude-code"); err != nil || len(stderr) > 0 {
				t.Fatalf("%v: %s", err, stderr)
			}
		}
		if data, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		if got := gjson.GetBytes(data, "currentStage").String(); got != "RETRO" {
			t.Fatalf("after the repair the current stage is %s:\n%s", got, data)
		}
	}
	t.Logf("DEV when killed: %v", killed)
}
