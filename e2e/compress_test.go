//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// These tests prove that a compressed clone is a session for its host: they
// compare what the host sends to the model after resuming it with the texts
// that the clone holds.

func essay(topic string) string {
	return strings.Repeat("We looked at "+topic+" in internal/"+topic+"/main.go and decided, after some discussion that I repeat here, to keep line 42 as it is. ", 8)
}

// clone is what `overtone compress --json` reports.
type clone struct{ id, path string }

func (w *World) compress(t *testing.T, session string, args ...string) clone {
	t.Helper()
	out := w.Exec("overtone", append([]string{"compress", session, "--json"}, args...)...)
	return clone{gjson.Get(out, "result.id").String(), gjson.Get(out, "result.path").String()}
}

// compressed are the texts of the lines that a clone changed.
func compressed(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range bytes.Split(data, []byte("\n")) {
		if level := gjson.GetBytes(line, "overtone.level"); !level.Exists() || level.String() == "note" {
			continue
		}
		c := gjson.GetBytes(line, "message.content")
		if !c.Exists() {
			c = gjson.GetBytes(line, "payload.content")
		}
		if c.Type == gjson.String {
			out = append(out, c.String())
			continue
		}
		for _, b := range c.Array() {
			if t := b.Get("text"); t.Exists() {
				out = append(out, t.String())
			}
		}
	}
	return out
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}

// resumed asks a session for one more turn and returns the request it made.
func (w *World) resumed(t *testing.T, id string) *mockapi.Request {
	t.Helper()
	before := len(mains(w))
	w.Prompt("PROBE", "--resume", id)
	all := mains(w)
	if len(all) == before {
		t.Fatalf("session %s made no request", id)
	}
	return all[before]
}

// holds checks that a request has every text, and that each tool call is
// answered in the message behind it.
func holds(t *testing.T, r *mockapi.Request, texts []string) {
	t.Helper()
	var all []string
	for _, m := range r.Messages {
		for _, c := range m.Content {
			if c.Type == "text" {
				all = append(all, c.Text)
			}
		}
	}
	joined := strings.Join(all, "\x00")
	for _, text := range texts {
		if !strings.Contains(joined, strings.TrimSpace(text)) {
			t.Errorf("the model does not see %q", text)
		}
	}
	for i, m := range r.Messages {
		for _, c := range m.Content {
			if c.Type != "tool_use" {
				continue
			}
			answered := false
			if i+1 < len(r.Messages) {
				for _, next := range r.Messages[i+1].Content {
					answered = answered || next.Type == "tool_result" && next.ID == c.ID
				}
			}
			if !answered {
				t.Errorf("call %s is not answered", c.ID)
			}
		}
	}
}

func TestCompressedCloneResumes(t *testing.T) {
	t.Parallel()
	onEach(t, cloneResumes)
}

func cloneResumes(t *testing.T, v Version) {
	p := &Play{Main: []Step{
		call(bash("echo TOOL-OUTPUT-ONE")), say(essay("store")),
		call(bash("echo TOOL-OUTPUT-TWO")), say(essay("hook")),
	}}
	w := NewWorld(t, Overtone, p.Handle, v)
	w.Allow = "Bash"
	id := w.Prompt("FIRST " + essay("cli")).Result().SessionID
	w.Prompt("SECOND "+essay("watch"), "--resume", id)
	files, _ := filepath.Glob(filepath.Join(w.Config, "projects", "*", id+".jsonl"))
	if len(files) != 1 {
		t.Fatalf("session files %v", files)
	}
	before := sum(t, files[0])

	c := w.compress(t, id, "--bands", "0-50:heavy-compress,50-100:compress", "--title", "E2E clone")
	texts := compressed(t, c.path)
	if len(texts) != 4 {
		t.Fatalf("%d messages compressed", len(texts))
	}
	r := w.resumed(t, c.id)
	holds(t, r, texts)
	for _, gone := range []string{essay("cli"), essay("store"), essay("watch"), essay("hook")} {
		if r.Has(gone) {
			t.Error("an original text reached the model")
		}
	}
	for _, kept := range []string{"TOOL-OUTPUT-ONE", "TOOL-OUTPUT-TWO"} {
		if !r.Has(kept) {
			t.Errorf("%s is lost", kept)
		}
	}

	if !r.Has("<overtone-clone>") || !r.Has("overtone recall") {
		t.Error("the clone is not explained to its model")
	}

	bare := w.compress(t, id, "--bands", "0-100:compress", "--tools", "0-50:remove,50-100:truncate", "--thinking", "remove")
	r = w.resumed(t, bare.id)
	holds(t, r, compressed(t, bare.path))
	if r.Has("TOOL-OUTPUT-ONE") || !r.Has("TOOL-OUTPUT-TWO") {
		t.Error("the wrong tools were removed")
	}

	fresh := w.compress(t, id, "--preset", "fresh")
	if r = w.resumed(t, fresh.id); r.Has("TOOL-OUTPUT-TWO") || !r.Has("SECOND "+essay("watch")) || !r.Has("<overtone-clone>") {
		t.Error("fresh: tools are left, or the newest request is not, or nothing is explained")
	}

	if sum(t, files[0]) != before {
		t.Error("the source was changed")
	}
	// The title makes it findable.
	if n := len(mains(w)); w.Prompt("PROBE", "--resume", "E2E clone").Result().IsError || len(mains(w)) == n {
		t.Error("the clone is not found by its title")
	}
}

// The clone of a session whose folder is not there goes on in the folder that the command
// was called in: the host finds it from there, and its model is told.
func TestCloneOfAGoneFolderResumes(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, v Version) {
		p := &Play{Main: []Step{call(bash("echo TOOL-OUTPUT-ONE")), say(essay("store"))}}
		w := NewWorld(t, Overtone, p.Handle, v)
		w.Allow = "Bash"
		id := w.Prompt("FIRST " + essay("cli")).Result().SessionID
		was := w.Project
		w.Project = was + "-moved"
		if err := os.Rename(was, w.Project); err != nil {
			t.Fatal(err)
		}
		c := w.compress(t, id, "--bands", "0-100:compress")
		r := w.resumed(t, c.id)
		holds(t, r, compressed(t, c.path))
		if !r.Has("TOOL-OUTPUT-ONE") || !r.Has("folder was "+was+" and is "+w.Project+" now") {
			t.Error("a tool is lost, or the model is not told where it is")
		}
	})
}

// What a request reported of the source says nothing about its clone: a session
// near its limit is compacted before anything else when it is resumed, its clone
// is not.
func TestCompressedCloneIsNotCompacted(t *testing.T) {
	t.Parallel()
	onEach(t, cloneIsNotCompacted)
}

func cloneIsNotCompacted(t *testing.T, v Version) {
	large := func(s Step) Step {
		return func(r *mockapi.Request) mockapi.Reply { return s(r).Tokens(80_000) }
	}
	p := &Play{Main: []Step{say(strings.Repeat(essay("store"), 1200)), say(essay("hook")), large(say(essay("watch")))}}
	w := NewWorld(t, Overtone, p.Handle, v)
	id := w.Prompt("FIRST " + essay("cli")).Result().SessionID
	w.Prompt("SECOND "+essay("watch"), "--resume", id)
	w.Settings(map[string]any{"autoCompactWindow": 100_000})
	w.Prompt("THIRD "+essay("hook"), "--resume", id)
	compactions := func(id string) int {
		n := len(summaries(w))
		w.resumed(t, id)
		return len(summaries(w)) - n
	}
	for _, args := range [][]string{{"--bands", "0-100:compress", "--tools", "0-100:truncate"}, {"--preset", "fresh"}} {
		if compactions(w.compress(t, id, args...).id) != 0 {
			t.Errorf("%v: the clone is compacted when it is resumed", args)
		}
	}
	if compactions(id) == 0 {
		t.Error("the source is not compacted either: this test shows nothing")
	}
}

// Every recorded session can be compressed, and the host takes the clone.
func TestRecordedClonesResume(t *testing.T) {
	t.Parallel()
	found := samples.Find("real/claude_*.jsonl")
	if len(found) == 0 {
		t.Skip("no recorded sessions here")
	}
	p := &Play{}
	w := NewWorld(t, Overtone, p.Handle)
	project := filepath.Join(w.Config, "projects", regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(w.Project, "-"))
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, sample := range found {
		data, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i+1)
		path := filepath.Join(project, id+".jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := sum(t, path)
		for _, args := range [][]string{
			{"--bands", "0-100:compress", "--tools", "0-100:truncate"},
			{"--preset", "emergency"},
			{"--preset", "fresh"},
		} {
			t.Run(filepath.Base(sample)+" "+strings.Join(args, " "), func(t *testing.T) {
				c := w.compress(t, id, args...)
				holds(t, w.resumed(t, c.id), compressed(t, c.path))
				if sum(t, path) != before {
					t.Error("the source was changed")
				}
			})
		}
	}
}

// command runs a program in the world's project.
func (w *CodexWorld) command(name string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.Project, w.environ()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, errs.String())
	}
	return string(out)
}

func overtoneBinary(t *testing.T) string {
	t.Helper()
	dir, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "overtone")
}

// A rollout's last count of tokens is what codex goes by when it resumes: a
// session near its limit is compacted before anything else, its clone is not.
func TestCompressedRolloutIsNotCompacted(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		if r.Compaction {
			return codexmock.Reply{Message: "A summary.", Tokens: 2000}
		}
		if text, _ := r.LastUser(); strings.HasPrefix(text, "PROBE") {
			return codexmock.Reply{Message: "Here.", Tokens: 3000}
		}
		return codexmock.Reply{Message: essay("store"), Tokens: 80000}
	}, "model_auto_compact_token_limit = 70000\n"+Unattended)
	bin := overtoneBinary(t)
	w.command(w.server, "exec", "FIRST "+essay("cli"))
	files, _ := filepath.Glob(filepath.Join(w.Codex, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("rollouts %v", files)
	}
	out := w.command(bin, "compress", files[0], "--json", "--bands", "0-100:compress")
	compactions := func(id string) (n, of int) {
		from := len(w.Model.Requests())
		w.command(w.server, "exec", "resume", id, "PROBE")
		for _, r := range w.Model.Requests()[from:] {
			of++
			if r.Compaction {
				n++
			}
		}
		return n, of
	}
	if n, of := compactions(gjson.Get(out, "result.id").String()); n != 0 || of == 0 {
		t.Errorf("%d of %d requests of the clone compact it", n, of)
	}
	name := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
	if n, _ := compactions(name[len(name)-36:]); n == 0 {
		t.Error("the source is not compacted either: this test shows nothing")
	}
}

// The same bands on a rollout, which codex resumes.
func TestCompressedRolloutResumes(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		if text, step := r.LastUser(); strings.HasPrefix(text, "FIRST") && step == 0 {
			return codexmock.Reply{Calls: []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": "echo TOOL-OUTPUT"}}}}
		}
		return codexmock.Reply{Message: essay("store"), Tokens: 1000}
	}, Unattended)
	run := w.command
	bin := overtoneBinary(t)
	run(w.server, "exec", "FIRST "+essay("cli"))
	files, _ := filepath.Glob(filepath.Join(w.Codex, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("rollouts %v", files)
	}
	before := sum(t, files[0])
	for _, tools := range []string{"0-100:truncate", "0-100:remove"} {
		out := run(bin, "compress", files[0], "--json", "--bands", "0-100:compress", "--tools", tools, "--title", "E2E "+tools)
		id, path := gjson.Get(out, "result.id").String(), gjson.Get(out, "result.path").String()
		texts := compressed(t, path)
		if len(texts) != 2 {
			t.Fatalf("%d messages compressed", len(texts))
		}
		n := len(w.Model.Requests())
		run(w.server, "exec", "resume", id, "PROBE")
		requests := w.Model.Requests()
		if len(requests) == n {
			t.Fatal("no request")
		}
		r := requests[n]
		for _, text := range texts {
			quoted, _ := json.Marshal(text)
			if !bytes.Contains(r.Raw, quoted) {
				t.Errorf("the model does not see %q", text)
			}
		}
		if r.Count("<overtone-clone>") != 1 || r.Count("overtone recall") == 0 {
			t.Errorf("tools %s: the clone is explained %d times to its model", tools, r.Count("<overtone-clone>"))
		}
		var types []string
		for _, item := range r.Input {
			types = append(types, item.Type)
		}
		kept := strings.HasSuffix(tools, "truncate")
		if slices.Contains(types, "function_call") != kept || slices.Contains(types, "function_call_output") != kept {
			t.Errorf("tools %s: the model sees %v", tools, types)
		}
		if r.Count(essay("store")) > 0 || r.Count("FIRST "+essay("cli")) > 0 {
			t.Error("an original text reached the model")
		}
		// The title makes it findable.
		n = len(w.Model.Requests())
		run(w.server, "exec", "resume", "E2E "+tools, "PROBE")
		if requests := w.Model.Requests()[n:]; len(requests) == 0 || !slices.ContainsFunc(texts, func(text string) bool { return requests[0].Count(text) > 0 }) {
			t.Errorf("the clone is not found by its title: %d requests", len(requests))
		}
	}
	if sum(t, files[0]) != before {
		t.Error("the source was changed")
	}
}

// Every recorded rollout can be compressed, and codex takes the clone: the model sees
// its texts, each call with its answer, and nothing is compacted first. One of them
// was compacted in mid-turn here, and goes on without a prompt.
func TestRecordedRolloutsResume(t *testing.T) {
	t.Parallel()
	found := samples.Find("real/codex_*.jsonl")
	if len(found) == 0 {
		t.Skip("no recorded sessions here")
	}
	w := newCodexWorld(t, func(r codexmock.Request) codexmock.Reply {
		return codexmock.Reply{Message: "Here.", Tokens: 3000}
	}, Unattended)
	bin := overtoneBinary(t)
	for n, sample := range append(found, "midturn") {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			id := fmt.Sprintf("01900000-0000-7000-8000-%012d", n+1)
			path := filepath.Join(w.Codex, "sessions", "2026", "01", "01", "rollout-2026-01-01T00-00-00-"+id+".jsonl")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, recordedRollout(t, sample, found, id), 0o600); err != nil {
				t.Fatal(err)
			}
			before := sum(t, path)
			for _, args := range [][]string{{"--bands", "0-100:compress", "--tools", "0-100:truncate"}, {"--preset", "emergency"}} {
				cmd := exec.Command(bin, append([]string{"compress", path, "--json"}, args...)...)
				cmd.Dir, cmd.Env = w.Project, w.environ()
				out, err := cmd.Output()
				clone := gjson.GetBytes(out, "result.path").String()
				if err != nil || clone == "" {
					t.Logf("%v: no clone", args) // nothing to do, or a format that codex no longer opens
					continue
				}
				from := len(w.Model.Requests())
				w.command(w.server, "exec", "resume", "--skip-git-repo-check", gjson.GetBytes(out, "result.id").String(), "PROBE")
				requests := w.Model.Requests()[from:]
				if len(requests) == 0 || requests[0].Compaction {
					t.Fatalf("%v: %d requests", args, len(requests))
				}
				r := requests[0]
				for _, text := range compressed(t, clone) {
					if r.Count(text) == 0 {
						t.Errorf("%v: the model does not see %q", args, text)
					}
				}
				calls := map[string]int{}
				for _, item := range r.Input {
					switch {
					case strings.HasSuffix(item.Type, "_output"):
						calls[item.CallID]--
					case strings.HasSuffix(item.Type, "_call"):
						calls[item.CallID]++
					}
				}
				for id, n := range calls {
					if n != 0 && id != "" { // a search of the service has neither id nor answer
						t.Errorf("%v: call %s and its answer do not match", args, id)
					}
				}
			}
			if sum(t, path) != before {
				t.Error("the source was changed")
			}
		})
	}
}

// recordedRollout is a sample under another id; "midturn" is the one with the most
// calls, with a compaction between a call's answer and the next call.
func recordedRollout(t *testing.T, sample string, samples []string, id string) []byte {
	t.Helper()
	midturn := sample == "midturn"
	if midturn {
		calls := func(path string) int {
			if data := bytes.Join(rolloutLines(t, path), nil); !bytes.Contains(data, []byte(`"type":"compacted"`)) {
				return bytes.Count(data, []byte(`_call_output"`))
			}
			return 0
		}
		sample = slices.MaxFunc(samples, func(a, b string) int { return calls(a) - calls(b) })
	}
	lines := rolloutLines(t, sample)
	old := gjson.GetBytes(lines[0], "payload.id").String()
	var out [][]byte
	for n, line := range lines {
		if old != "" {
			line = bytes.ReplaceAll(line, []byte(old), []byte(id))
		}
		line = bytes.ReplaceAll(line, []byte(`"model_provider":"openai"`), []byte(`"model_provider":"mock"`))
		out = append(out, line)
		if midturn && 2*n > len(lines) && strings.HasSuffix(gjson.GetBytes(line, "payload.type").String(), "_call_output") {
			midturn = false
			out = append(out, []byte(`{"timestamp":"2026-01-01T00:00:00.000Z","type":"compacted","payload":{"message":"A summary of the first half.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"A summary of the first half."}]}]}}`))
		}
	}
	return append(bytes.Join(out, []byte("\n")), '\n')
}

func rolloutLines(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}
