//go:build e2e

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

const (
	mainSession    = "7c1f3b52-0d0e-4b6e-9a41-5f2f6d0c9a10"
	earlierSession = "51a00004-0000-4000-8000-000000000004" // no hook has seen it
)

// terminalCommands are what the terminal's picture shows, each up to a line that
// begins so: the rest is more of the same.
var terminalCommands = []struct{ line, until string }{
	{"overtone audit", "WHAT IF"},
	{"overtone compact packet --session 7c1f --compaction 1", "## Commands"},
}

// stage is a home with something to see in it.
type stage struct {
	home, bin string
	now       time.Time
}

func (s stage) set() error {
	for _, f := range []func() error{s.main, s.others, s.work} {
		if err := f(); err != nil {
			return fmt.Errorf("%w: %w", errStage, err)
		}
	}
	return nil
}

type fields = map[string]any

// talk writes a conversation of Claude Code.
type talk struct {
	id, cwd string
	at      time.Time
	lines   []string
	parent  any
	n, used int
}

func (t *talk) line(typ string, more fields) {
	t.n++
	id := fmt.Sprintf("%s-%012d", t.id[:23], t.n)
	v := fields{"parentUuid": t.parent, "isSidechain": false, "userType": "external", "cwd": t.cwd, "sessionId": t.id, "version": "2.1.325", "type": typ, "uuid": id, "timestamp": t.at.Format("2006-01-02T15:04:05.000Z")}
	for k, x := range more {
		v[k] = x
	}
	var data strings.Builder
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false) // nor does the host
	_ = e.Encode(v)        // maps of strings
	t.lines, t.parent = append(t.lines, strings.TrimSuffix(data.String(), "\n")), id
}

func (t *talk) user(text string) {
	t.line("user", fields{"message": fields{"role": "user", "content": text}})
}

// step is an answer with a tool call and its result; grow is by how much the context
// grew.
func (t *talk) step(grow int, said, tool string, input fields, result string) {
	t.at = t.at.Add(47 * time.Second)
	t.used += grow
	call := fmt.Sprintf("toolu_%06d", t.n)
	t.line("assistant", fields{"message": fields{
		"id": fmt.Sprintf("msg_%s_%06d", t.id[:8], t.n), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
		"content": []fields{{"type": "text", "text": said}, {"type": "tool_use", "id": call, "name": tool, "input": input}},
		"usage":   fields{"input_tokens": 4, "cache_creation_input_tokens": grow, "cache_read_input_tokens": t.used - grow, "output_tokens": 320},
	}})
	t.at = t.at.Add(9 * time.Second)
	t.line("user", fields{"message": fields{"role": "user", "content": []fields{{"type": "tool_result", "tool_use_id": call, "content": result}}}})
}

func (s stage) save(dir, id string, lines []string, at time.Time) error {
	path := filepath.Join(s.home, dir, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}

// work is so many steps on some files, with a commit now and then.
func (t *talk) work(files []string, from, n, grow int) {
	for i := from; i < from+n; i++ {
		f := files[i%len(files)]
		name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		switch {
		case i%13 == 12:
			t.step(700, "That part is done.", "Bash", fields{"command": "git commit -am '" + name + ": as agreed'"}, fmt.Sprintf("[main %07x] %s: as agreed\n 2 files changed, %d insertions(+), 8 deletions(-)", 0x3a41b7+i*7919, name, 20+i))
		case i%3 == 0:
			t.step(grow, "Reading "+f+" to see how keys are counted.", "Read", fields{"file_path": t.cwd + "/" + f}, "func (b *Bucket) Take(key string) (wait time.Duration, ok bool)\n// refillRate tokens a second, burstSize at most")
		case i%3 == 1:
			t.step(grow+900, "The bucket must refill by elapsed time, not by ticks.", "Edit", fields{"file_path": t.cwd + "/" + f, "old_string": "ticks", "new_string": "elapsed"}, "edited")
		default:
			t.step(grow+400, "Running the tests.", "Bash", fields{"command": "go test ./" + filepath.Dir(files[0]) + " -run TestBucketRefill -count=1"}, "ok  \tshop/internal/limit\t0.21s\nRetryAfterSeconds=7 burstSize=60")
		}
	}
}

// compacted is a compaction by the host, wherever the work stands.
func (t *talk) compacted(took time.Duration, summary string, left int) {
	t.at = t.at.Add(took)
	t.parent = nil
	t.line("system", fields{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": fields{"trigger": "auto", "preTokens": t.used, "durationMs": took.Milliseconds()}})
	t.line("user", fields{"isCompactSummary": true, "message": fields{"role": "user", "content": "This session is being continued from a previous conversation. " + summary}})
	t.used = left
}

// main is the session that the pictures look at.
func (s stage) main() error {
	t := &talk{id: mainSession, cwd: "/home/mei/shop-api", at: s.now.Add(-98 * time.Minute), used: 21_000}
	t.user("[workflow:standard] Add a rate limit to the public API: 60 requests a minute for each key, 429 with Retry-After beyond. Keep the retry budget of the worker at 3.")
	files := []string{"internal/limit/bucket.go", "internal/limit/bucket_test.go", "cmd/api/server.go", "internal/limit/store.go", "docs/limits.md", "internal/worker/retry.go"}
	keys := t.cwd + "/internal/limit/keys.go"
	for range 3 {
		t.step(900, "Keys come from the header, else they are anonymous.", "Read", fields{"file_path": keys}, "func KeyFromHeader(r *http.Request) (TenantKey, bool)\nconst anonymousBurst = 10")
		t.step(900, "Anonymous keys share one bucket.", "Edit", fields{"file_path": keys, "old_string": "return anonymousBurst", "new_string": "return KeyFromHeader(r).Burst(anonymousBurst)"}, "edited")
		t.step(400, "A soak over all keys.", "Bash", fields{"command": "make limit-soak TENANTS=40"}, "soak: 40 tenants, 0 leaks")
	}
	for _, f := range []string{"errors.go", "render.go", "routes.go"} { // the host puts back the files that were read last
		t.step(900, "How errors are answered.", "Read", fields{"file_path": t.cwd + "/internal/api/" + f}, "package api")
	}
	t.work(files, 0, 35, 2_600)
	t.compacted(24*time.Second, "The user wants a rate limit on the public API. bucket.go and server.go were changed; TestBucketRefill passes.", 38_000)
	t.line("attachment", fields{"attachment": fields{"type": "hook_additional_context", "content": []string{`<overtone-packet id="` + compact.PacketID(mainSession, 1) + `">` + "\nretry budget stays 3 (internal/worker/retry.go)\n</overtone-packet>"}}})
	t.step(900, "The server has to ask for the key first.", "Edit", fields{"file_path": t.cwd + "/cmd/api/routes.go", "old_string": "limit(mux)", "new_string": "limit(mux, KeyFromHeader, anonymousBurst)"}, "edited")
	t.step(400, "The soak again.", "Bash", fields{"command": "make limit-soak TENANTS=40"}, "soak: 40 tenants, 0 leaks")
	t.work(files, 44, 25, 2_100)
	t.user("Good. The 429 needs a Retry-After header in whole seconds.")
	t.work(files, 71, 4, 1_500)
	return s.save(".claude/projects/-home-mei-shop-api", mainSession, t.lines, s.now)
}

// others are more sessions for the list.
func (s stage) others() error {
	for i, o := range []struct {
		title, cwd   string
		hours, steps int
		files        []string
	}{
		{"Move the importer to streaming reads", "/home/mei/importer", 3, 62, []string{"reader/stream.go", "reader/stream_test.go", "cmd/import/main.go", "reader/limits.go", "docs/import.md"}},
		{"Why does the nightly build fail on arm64?", "/home/mei/build", 7, 16, []string{"ci/nightly.yaml", "tools/cross.go"}},
		{"Sketch the billing export", "/home/mei/shop-api", 26, 71, []string{"billing/export.go", "billing/export_test.go", "billing/ledger.go", "api/invoices.go"}},
		{"Replace the date picker", "/home/mei/shop-web", 50, 30, []string{"src/picker/calendar.ts", "src/picker/input.ts", "src/form.ts"}},
		{"Upgrade to the new session format", "/home/mei/importer", 75, 88, []string{"format/v2.go", "format/v2_test.go", "format/migrate.go", "cmd/import/flags.go", "docs/format.md"}},
	} {
		at := s.now.Add(-time.Duration(o.hours) * time.Hour)
		id := fmt.Sprintf("51a%05d-0000-4000-8000-0000000000%02d", i, i)
		t := &talk{id: id, cwd: o.cwd, at: at.Add(-2 * time.Hour), used: 18_000}
		t.user(o.title)
		// The host compacts when the window is full, which is where it is.
		done := min(o.steps, 47)
		t.work(o.files, 0, done, 2_900)
		if done < o.steps {
			t.compacted(time.Duration(31+9*i)*time.Second, o.title+". "+filepath.Base(o.files[0])+" was changed and its tests pass.", 41_000)
			t.work(o.files, done, o.steps-done, 2_400)
		}
		if err := s.save(".claude/projects/"+strings.ReplaceAll(o.cwd, "/", "-"), id, t.lines, at); err != nil {
			return err
		}
	}
	for i, title := range []string{"Port the limiter to the edge worker", "Fix the flaky retry test"} {
		at := s.now.Add(-time.Duration(2+20*i) * time.Hour)
		id := fmt.Sprintf("0199f0aa-0000-7000-8000-0000000000%02d", i)
		stamp := at.Format("2006-01-02T15:04:05.000Z")
		line := func(typ string, payload fields) string {
			data, _ := json.Marshal(fields{"timestamp": stamp, "type": typ, "payload": payload}) // maps of strings
			return string(data)
		}
		lines := []string{
			line("session_meta", fields{"id": id, "timestamp": stamp, "cwd": "/home/mei/edge", "originator": "codex_cli_rs", "cli_version": "0.166.0"}),
			line("response_item", fields{"type": "message", "role": "user", "content": []fields{{"type": "input_text", "text": title}}}),
			line("response_item", fields{"type": "message", "role": "assistant", "content": []fields{{"type": "output_text", "text": "The retry budget is 3 there, too; I keep it."}}}),
			line("event_msg", fields{"type": "token_count", "info": fields{"last_token_usage": fields{"input_tokens": 61_000 + 9_000*i, "cached_input_tokens": 52_000, "output_tokens": 900, "total_tokens": 61_900 + 9_000*i}, "model_context_window": 258_400}}),
		}
		if err := s.save(".codex/sessions/"+at.Format("2006/01/02"), "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id, lines, at); err != nil {
			return err
		}
	}
	return nil
}

// work steps the workflow: a review that sent the work back once, and now review
// and test side by side.
func (s stage) work() error {
	root := filepath.Join(s.home, ".overtone")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "config.yaml"), []byte("language: en\n"), 0o600); err != nil {
		return err
	}
	now := s.now.Add(-70 * time.Minute)
	home := store.New(root, filepath.Join(s.home, ".claude"), func() time.Time { return now })
	sess, err := home.Session(mainSession)
	if err != nil {
		return err
	}
	rules := session.Rules(config.Defaults(), "~/.claude")
	step := func(minutes int, events []store.Event, list ...workflow.Event) error {
		now = now.Add(time.Duration(minutes) * time.Minute)
		return session.Update(sess, session.Options{Rules: rules, Lang: message.EN, Now: now, Warn: func(error) {}}, func(tx *session.Tx) error {
			for _, ev := range list {
				out, err := tx.Apply(ev)
				if err != nil {
					return err
				}
				if out.Kind == workflow.Refused || out.Kind == workflow.Denied {
					return fmt.Errorf("%T is refused: %s", ev, out.Reason.In(message.EN))
				}
			}
			return tx.Emit(events...)
		})
	}
	n := 0
	give := func(agent, stage string) workflow.Event {
		n++
		return workflow.Delegate{ID: fmt.Sprint("d", n), Agent: agent, Stage: stage, At: now}
	}
	take := func(agent, stage, verdict, route, hint string) workflow.Event {
		r := workflow.Route{Verdict: verdict, Route: route, Hint: hint}
		if verdict == "FAIL" {
			r.Severity = "HIGH"
		}
		return workflow.Completion{Agent: agent, Stage: stage, Route: &r, At: now}
	}
	decided := func(verdict, cause, tier string, free int, reason string, signals ...string) []store.Event {
		return []store.Event{store.On(message.EventCompactDecision, "verdict", verdict, "cause", cause, "tier", tier, "percentRemaining", free, "signals", signals, "reason", reason)}
	}
	packet := compact.PacketID(mainSession, 1)
	for _, f := range []func() error{
		func() error {
			return step(0, nil, workflow.Start{SessionID: mainSession, WorkflowID: "w1", Type: "standard", Stages: []string{"PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST", "RETRO", "DOCS"}, Feature: "rate-limit", At: now})
		},
		func() error { return step(1, nil, give("planner", "PLAN")) },
		func() error { return step(4, nil, take("planner", "PLAN", "PASS", "NEXT", "")) },
		func() error {
			return step(1, decided("wait", "boundary-too-small", "early", 78, "tier early needs one of: pr_checkpoint, plan_checkpoint, stage_complete; this turn has shown: plan_update", "plan_update"), give("architect", "ARCH"))
		},
		func() error {
			return step(6, nil, take("architect", "ARCH", "PASS", "NEXT", ""), give("tester", "TEST"))
		},
		func() error {
			return step(5, nil, take("tester", "TEST", "PASS", "NEXT", ""), give("developer", "DEV"))
		},
		func() error {
			return step(14, decided("suggest", "boundary", "asap", 34, "commit at tier asap with 34% free", "commit", "stage_complete"), take("developer", "DEV", "PASS", "NEXT", ""))
		},
		func() error {
			return step(2, []store.Event{store.On(message.EventPacketCreated, "id", packet, "n", 1, "chars", 4871)}, give("code-reviewer", "REVIEW"), give("tester", "TEST:2"))
		},
		func() error {
			return step(1, []store.Event{store.On(message.EventSessionCompactConfirm, "n", 1, "trigger", "auto", "transcriptSize", 1_204_811), store.On(message.EventPacketDelivered, "id", packet, "n", 1, "via", "session-start")})
		},
		func() error {
			return step(6, nil, take("tester", "TEST:2", "PASS", "BARRIER", ""), take("code-reviewer", "REVIEW", "FAIL", "BARRIER", "the map in bucket.go:42 has no lock"))
		},
		func() error { return step(1, nil, give("developer", "DEV")) },
		func() error {
			return step(11, decided("wait", "rearm", "ready", 71, "the context has to grow by 4000 more tokens since the last compaction", "stage_complete"), take("developer", "DEV", "PASS", "NEXT", ""))
		},
		func() error { return step(15, nil, give("code-reviewer", "REVIEW"), give("tester", "TEST:2")) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
