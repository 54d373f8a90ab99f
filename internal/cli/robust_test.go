package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// hosts that a hook may be called for; "" is none.
var hosts = []string{"", "claude-code", "codex"}

// inputs are what Claude Code sends, by event, cut to what matters.
func inputs() map[string][]string {
	const head = `{"session_id":"s1","transcript_path":"t.jsonl","cwd":".","permission_mode":"default",`
	const marker = `<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->`
	return map[string][]string{
		"session-start":      {head + `"source":"startup"}`, head + `"source":"compact"}`, head + `"source":"resume","model":"m"}`},
		"user-prompt-submit": {head + `"prompt":"[workflow:quick] x"}`, head + `"prompt":"<task-notification><task-id>a1</task-id></task-notification>"}`},
		"pre-tool-use": {
			head + `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer","prompt":"go","run_in_background":false}}`,
			head + `"tool_name":"Bash","tool_use_id":"t2","tool_input":{"command":"make"}}`,
			head + `"agent_id":"a1","agent_type":"overtone:tester","tool_name":"Write","tool_use_id":"t3","tool_input":{"file_path":"~/.claude/pipeline-context-s1-TEST.md","content":"x"}}`,
		},
		"post-tool-use": {
			head + `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer","prompt":"go"},"tool_response":{"status":"completed","agentId":"a1","content":[{"type":"text","text":"` + marker + `"}],"totalTokens":5}}`,
			head + `"tool_name":"Bash","tool_use_id":"t2","tool_input":{"command":"git commit -m x"},"tool_response":{"stdout":"[main 1234567] x","stderr":"","interrupted":false}}`,
			head + `"tool_name":"SendMessage","tool_use_id":"t3","tool_input":{"to":"a1"},"tool_response":{"success":true,"resumedAgentId":"a1"}}`,
			head + `"tool_name":"TaskStop","tool_use_id":"t4","tool_input":{"task_id":"a1"},"tool_response":{"task_id":"a1"}}`,
		},
		"post-tool-use-failure": {head + `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer"},"error":"no such agent","is_interrupt":false}`},
		"post-tool-batch":       {head + `"tool_calls":[{"tool_name":"Read","tool_input":{},"tool_response":"x"}]}`, head + `"agent_id":"a1","agent_type":"overtone:tester","tool_calls":[]}`},
		"subagent-start":        {head + `"agent_id":"a1","agent_type":"overtone:developer"}`},
		"subagent-stop":         {head + `"agent_id":"a1","agent_type":"overtone:developer","stop_hook_active":false,"agent_transcript_path":"a.jsonl","last_assistant_message":"` + marker + `","background_tasks":[]}`},
		"stop":                  {head + `"stop_hook_active":false,"last_assistant_message":"done","background_tasks":[{"id":"a1","type":"subagent","status":"running"}]}`},
		"stop-failure":          {head + `"agent_id":"a1","agent_type":"overtone:developer","error":"rate_limit","last_assistant_message":"API Error"}`},
		"pre-compact":           {head + `"trigger":"auto","custom_instructions":""}`},
		"post-compact":          {head + `"trigger":"auto","compact_summary":"x"}`},
		"session-end":           {head + `"reason":"exit"}`},
	}
}

// recorded adds what a real Claude Code was seen to send, where that is at hand.
func recorded(t *testing.T) map[string][]string {
	t.Helper()
	all := inputs()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "samples", "claude_hook_stdin_samples.jsonl"))
	if err != nil {
		t.Log("without the recorded inputs: ", err)
		return all
	}
	for line := range bytes.Lines(data) {
		var name strings.Builder
		for i, r := range gjson.GetBytes(line, "event").String() {
			if i > 0 && r >= 'A' && r <= 'Z' {
				name.WriteByte('-')
			}
			name.WriteRune(r)
		}
		event := strings.ToLower(name.String())
		if !slices.Contains(host.Plain().Events, event) {
			continue
		}
		in := store.SetJSON(gjson.GetBytes(line, "stdin").Raw, "session_id", "s1")
		all[event] = append(all[event], in)
	}
	return all
}

// newHome is a home with a workflow in mid-work, as the environment of a process.
func newHome(t testing.TB) (home string, env []string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "GORACE=" + quickRace}
	cmd := exec.Command(overtone(), "workflow", "start", "quick", "--session", "s1")
	cmd.Env, cmd.Dir = env, home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return home, env
}

// each runs f for every event and host, some at a time. n counts the calls, so
// that each can take its share of what there is to try.
func each(t *testing.T, f func(n int, event, host string) error) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, event := range host.Plain().Events {
		for j, host := range hosts {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if err := f(i*len(hosts)+j, event, host); err != nil {
					t.Errorf("%s --host %q: %v", event, host, err)
				}
			})
		}
	}
	wg.Wait()
}

// check runs a hook and tells what a host would mind.
func check(env []string, dir, event, host string, stdin []byte) (stdout, stderr []byte, err error) {
	args := []string{event}
	if host != "" {
		args = append(args, "--host", host)
	}
	stdout, stderr, err = runHook(env, dir, stdin, args...)
	if err != nil {
		return stdout, stderr, fmt.Errorf("%w: %s", err, stderr)
	}
	if n := bytes.Count(stderr, []byte("\n")); n > 1 {
		return stdout, stderr, fmt.Errorf("%d lines on stderr: %s", n, stderr)
	}
	return stdout, stderr, hostSafe(stdout, stderr, host != "")
}

func TestHooksSurviveBadInput(t *testing.T) {
	t.Parallel()
	bad := []string{
		"", " \n\t", "{broken", `{"session_id":"s1","prompt":"x`, "[]", `"x"`, "null", "7", "true", `{}{}`,
		"\xff\xfe\x00{", "// {}", strings.Repeat("[", 20_000),
	}
	home, env := newHome(t)
	before := state(t, home)
	each(t, func(n int, event, host string) error {
		for i, in := range bad {
			if (i+n)%2 == 1 && in != "" {
				continue
			}
			stdout, stderr, err := check(env, home, event, host, []byte(in))
			if err != nil {
				return fmt.Errorf("%.20q: %w", in, err)
			}
			if host == "" && string(stdout) != `{"result":""}` || host != "" && len(stdout) > 0 {
				return fmt.Errorf("%.20q: printed %s", in, stdout)
			}
			if !bytes.HasPrefix(stderr, []byte("[overtone/safeReadStdin] ")) {
				return fmt.Errorf("%.20q: stderr %q", in, stderr)
			}
		}
		return nil
	})
	if after := state(t, home); after != before {
		t.Errorf("bad input changed the state:\n%s\n%s", before, after)
	}
}

// A byte order mark, and bytes that are not UTF-8 inside a text, are no reason
// to overlook the rest.
func TestHooksReadAroundDamage(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"byte order mark": "\ufeff" + `{"session_id":"s1"}`,
		"bytes in a text": `{"session_id":"s1","custom_instructions":"` + "\xff\xfe\xc3" + `"}`,
		"lone surrogate":  `{"session_id":"s1","custom_instructions":"\ud83d"}`,
		"NUL":             `{"session_id":"s1","custom_instructions":"\u0000"}`,
		"twice":           `{"session_id":"s1","session_id":"s1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			stdout, stderr, err := check(env, home, "pre-compact", "", []byte(in))
			if err != nil || len(stderr) > 0 {
				t.Fatalf("%v: %s", err, stderr)
			}
			if !strings.Contains(gjson.GetBytes(stdout, "systemMessage").String(), "工作流：quick") {
				t.Errorf("no recovery text: %s", stdout)
			}
		})
	}
}

func TestHooksSurviveLargeInput(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	filler := strings.Repeat("很長 long ", 50<<20/12)
	for name, in := range map[string]string{
		"object": `{"session_id":"s1","tool_name":"Read","tool_response":"` + filler + `"}`,
		"broken": `{"session_id":"s1","tool_response":"` + filler,
	} {
		for _, event := range []string{"post-tool-use", "subagent-stop", "user-prompt-submit"} {
			start := time.Now()
			_, stderr, err := check(env, home, event, "claude-code", []byte(in))
			if err != nil {
				t.Errorf("%s of %d MB: %v", name, len(in)>>20, err)
			}
			t.Logf("%s: %s, %d MB: %s, %s", event, name, len(in)>>20, time.Since(start).Round(time.Millisecond), bytes.TrimSpace(stderr))
		}
	}
}

// Every field of every input in turn has a wrong type, or is missing: whatever
// the hook makes of it, the host sees nothing but what it may see. This many
// calls run in this process.
func TestHooksSurviveWrongTypes(t *testing.T) {
	t.Parallel()
	for event, list := range recorded(t) {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			home, _ := newHome(t)
			file := filepath.Join(home, ".overtone", "sessions", "s1", "workflow.json")
			seed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, in := range list {
				// The next input meets the same state.
				if err := os.WriteFile(file, seed, 0o600); err != nil {
					t.Fatal(err)
				}
				for _, path := range paths(gjson.Parse(in), "") {
					for j, wrong := range []string{"null", "7", `"x"`, "[]", `{"a":{"b":[1]}}`, ""} {
						survives(t, home, event, hosts[(i+j)%len(hosts)], in, path, wrong)
					}
				}
			}
		})
	}
}

// survives calls a hook with one member of its input replaced, or without it.
func survives(t *testing.T, home, event, host, in, path, wrong string) {
	t.Helper()
	mutant := store.SetJSON(in, path, json.RawMessage(wrong))
	if wrong == "" { // the member goes, with the comma behind or before it
		mutant = regexp.MustCompile(`"[^"]*": *\x00 *,|,? *"[^"]*": *\x00`).ReplaceAllString(store.SetJSON(in, path, json.RawMessage("\x00")), "")
	}
	if !json.Valid([]byte(mutant)) {
		t.Fatalf("%s of %s: %s", path, in, mutant)
	}
	args := []string{"hook", event}
	if host != "" {
		args = append(args, "--host", host)
	}
	var stdout, stderr bytes.Buffer
	code := cli.Main(args, cli.Env{
		Stdin: strings.NewReader(mutant), Stdout: &stdout, Stderr: &stderr, Dir: home, Now: time.Now,
		Getenv: func(key string) string {
			return map[string]string{"HOME": home, "OVERTONE_QUIET": "1"}[key]
		},
		Environ: func() []string { return nil },
	})
	err := hostSafe(stdout.Bytes(), stderr.Bytes(), host != "")
	if code != 0 || err != nil || bytes.Contains(stderr.Bytes(), []byte("panic")) {
		t.Errorf("%s --host %q, %s = %s: exit %d, %v: %s\n%s", event, host, path, wrong, code, err, stderr.String(), mutant)
	}
}

// paths lists the members of an object, those of objects inside included.
func paths(v gjson.Result, prefix string) []string {
	var list []string
	v.ForEach(func(k, m gjson.Result) bool {
		p := prefix + k.String()
		if m.IsArray() || strings.Contains(k.String(), ".") {
			list = append(list, p)
			return true
		}
		list = append(list, p)
		if m.IsObject() {
			list = append(list, paths(m, p+".")...)
		}
		return true
	})
	return list
}

// All events as a real host sends them, as processes, in a home that cannot be
// used in some way. Root may write anywhere, so things of another kind stand in
// the way. Hosts must not notice.
func TestHooksSurviveAnUnusableHome(t *testing.T) {
	t.Parallel()
	session := filepath.Join(".overtone", "sessions", "s1")
	file := func(path string) func(t *testing.T, home string) {
		return func(t *testing.T, home string) {
			t.Helper()
			full := filepath.Join(home, path)
			if err := os.RemoveAll(full); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte("in the way\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := func(path string) func(t *testing.T, home string) {
		return func(t *testing.T, home string) {
			t.Helper()
			full := filepath.Join(home, path)
			if err := os.RemoveAll(full); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(full, "full"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(path string) func(t *testing.T, home string) {
		return func(t *testing.T, home string) {
			t.Helper()
			full := filepath.Join(home, path)
			target := filepath.Join(filepath.Dir(home), "elsewhere")
			if err := os.Rename(full, target); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, full); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]struct {
		spoil func(t *testing.T, home string)
		env   []string
		shell string
	}{
		"overtone's home is a file":   {spoil: file(".overtone")},
		"sessions is a file":          {spoil: file(filepath.Join(".overtone", "sessions"))},
		"the session is a file":       {spoil: file(session)},
		"the session is a link":       {spoil: link(session)},
		"the Claude folder is a file": {spoil: file(".claude")},
		"the state is a folder":       {spoil: folder(filepath.Join(session, "workflow.json"))},
		"the lock is a folder":        {spoil: folder(filepath.Join(session, "lock"))},
		"the timeline is a folder":    {spoil: folder(filepath.Join(session, "timeline.jsonl"))},
		"the memory is a folder":      {spoil: folder(filepath.Join(session, "hooks.jsonl"))},
		"the barrier is a folder":     {spoil: folder(filepath.Join(".claude", "barrier-state-s1.json"))},
		"the settings are a folder":   {spoil: folder(filepath.Join(".overtone", "config.yaml"))},
		"no home":                     {env: []string{"HOME="}},
		"a relative home":             {env: []string{"HOME=nowhere/at/all"}},
		"a home under a file":         {env: []string{"OVERTONE_HOME=/dev/null/x", "CLAUDE_CONFIG_DIR=/dev/null/y"}},
		"a full disk":                 {shell: "ulimit -f 0; "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, env := newHome(t)
			if c.spoil != nil {
				c.spoil(t, home)
			}
			env = append(env, c.env...)
			dir := t.TempDir()
			for _, event := range host.Plain().Events {
				for i, in := range inputs()[event] {
					host := hosts[i%2]
					args := []string{"hook", event}
					if host != "" {
						args = append(args, "--host", host)
					}
					cmd := exec.Command("sh", "-c", c.shell+`exec "$0" "$@"`, overtone())
					cmd.Args = append(cmd.Args, args...)
					cmd.Env, cmd.Dir, cmd.Stdin = env, dir, strings.NewReader(in)
					var stdout, stderr bytes.Buffer
					cmd.Stdout, cmd.Stderr = &stdout, &stderr
					if err := cmd.Run(); err != nil {
						t.Errorf("%s: %v: %s", event, err, stderr.String())
					}
					if err := hostSafe(stdout.Bytes(), stderr.Bytes(), host != ""); err != nil {
						t.Errorf("%s: %v", event, err)
					}
					if bytes.Contains(stderr.Bytes(), []byte("panic")) || bytes.Count(stderr.Bytes(), []byte("\n")) > 1 {
						t.Errorf("%s: %s", event, stderr.String())
					}
				}
			}
			if list := tree(t, dir); name != "a relative home" && len(list) > 1 {
				t.Errorf("files in the project: %v", list)
			}
		})
	}
}

// A session id is part of a path. Whatever it holds, nothing is made outside the
// folders that are ours, and nothing of ours is named by it.
func TestHooksKeepToTheirFolders(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	before := tree(t, filepath.Dir(home))
	ids := []string{
		"../../x", "..", ".", "/etc/x", "a/b", `a\b`, "a b", "a:b", "s1\x00", "s1\n.", "~", "$HOME", "%2e%2e",
		strings.Repeat("a", 129), "日本", ".hidden", "-x/../../y",
	}
	each(t, func(n int, event, host string) error {
		for i, id := range ids {
			if i > 0 && (i+n)%4 != 0 {
				continue
			}
			in := store.SetJSON(inputs()[event][0], "session_id", id)
			stdout, stderr, err := check(env, home, event, host, []byte(in))
			if err != nil {
				return fmt.Errorf("%q: %w", id, err)
			}
			if !bytes.HasPrefix(stderr, []byte("[overtone/safeRun] ")) {
				return fmt.Errorf("%q: stderr %q, stdout %s", id, stderr, stdout)
			}
		}
		return nil
	})
	if after := tree(t, filepath.Dir(home)); !slices.Equal(before, after) {
		t.Errorf("files came or went:\n%v\n%v", before, after)
	}
}

func tree(t *testing.T, root string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Switched off, hooks print nothing, write nothing and read nothing.
func TestHooksSwitchedOff(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	env = append(env, "OVERTONE_DISABLE=1")
	before := state(t, home)
	each(t, func(_ int, event, host string) error {
		stdout, stderr, err := runHook(env, home, []byte(inputs()[event][0]), event, "--host="+host)
		if len(stdout) > 0 || len(stderr) > 0 {
			return fmt.Errorf("printed %s%s", stdout, stderr)
		}
		return err
	})
	if after := state(t, home); after != before {
		t.Errorf("the state changed: %s", after)
	}
}

// A wrong call is our own mistake or the user's; the host must still not notice.
func TestHooksSurviveWrongCalls(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	for _, args := range [][]string{
		{}, {"nope"}, {"PreCompact"}, {"stop", "--host", "vim"}, {"stop", "--nope"}, {"stop", "stop"}, {"stop", "--host"}, {"--host", "claude-code"},
	} {
		stdout, stderr, err := runHook(env, home, []byte(`{"session_id":"s1"}`), args...)
		if err != nil || bytes.Count(stderr, []byte("\n")) != 1 {
			t.Errorf("%q: %v: %q", args, err, stderr)
		}
		if err := hostSafe(stdout, stderr, len(stdout) == 0); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// The inputs of all events, one after the other, in every order of hosts: the
// outputs are what a host may see.
func TestHooksAsRecorded(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	all := recorded(t)
	for _, event := range slices.Sorted(maps.Keys(all)) {
		for i, in := range all[event] {
			for _, host := range []string{"", "claude-code"} {
				if _, stderr, err := check(env, home, event, host, []byte(in)); err != nil || len(stderr) > 0 {
					t.Errorf("%s %d --host %q: %v: %s", event, i, host, err, stderr)
				}
			}
		}
	}
}

// state is everything that hooks keep about session s1.
func state(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, ".overtone", "sessions", "s1")
	var b strings.Builder
	for _, name := range []string{"workflow.json", "timeline.jsonl", "hooks.jsonl"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}
