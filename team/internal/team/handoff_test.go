package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (m *machine) mover() *Mover {
	return &Mover{Home: m.home, Set: m.set, Hub: m.dial(), Dir: m.hostDir, Lang: message.EN, Now: time.Now, Environ: os.Environ(), Settings: compact.Settings{}}
}

// project makes a folder with one commit, the same on every machine.
func project(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		git(t, dir, args...)
	}
	return dir
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// call runs a hook of the machine and returns what it prints.
func (m *machine) call(event string, h host.Name, input map[string]any) string {
	m.t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		m.t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	env := map[string]string{"HOME": m.dir, "OVERTONE_HOME": m.home.Root(), "CLAUDE_CONFIG_DIR": m.home.ClaudeDir(), "OVERTONE_LANG": "en"}
	hook.Main([]string{event, "--host", string(h)}, hook.Env{
		Stdin: bytes.NewReader(data), Stdout: &out, Stderr: &stderr, Getenv: func(k string) string { return env[k] }, Dir: m.dir, Now: time.Now, Version: "test",
	})
	if stderr.Len() > 0 {
		m.t.Errorf("%s: %s", event, stderr.String())
	}
	return out.String()
}

const (
	claudeID = "11111111-2222-4333-8444-555555555555"
	codexID  = "019a2222-2222-7333-8444-555555555555"
	planted  = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
)

func writeClaude(t testing.TB, m *machine, cwd string) string {
	t.Helper()
	path := host.Of(host.ClaudeCode).SessionPath(m.hostDir(host.Of(host.ClaudeCode)), cwd, claudeID+".jsonl")
	var b strings.Builder
	line := func(v map[string]any) {
		v["sessionId"], v["cwd"], v["timestamp"] = claudeID, cwd, "2026-01-01T00:00:00Z"
		data, _ := json.Marshal(v)
		b.Write(append(data, '\n'))
	}
	line(map[string]any{"type": "user", "uuid": "u1", "parentUuid": nil, "message": map[string]any{"role": "user", "content": "Build the parser with token " + planted}})
	line(map[string]any{"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": map[string]any{"role": "assistant", "id": "msg_1", "content": []any{
		map[string]any{"type": "thinking", "thinking": "the token is " + planted, "signature": "c2lnbmF0dXJl"},
		map[string]any{"type": "text", "text": "Looking at " + cwd + "/main.go"},
	}}})
	line(map[string]any{"type": "user", "uuid": "u2", "parentUuid": "a1", "message": map[string]any{"role": "user", "content": "Go on"}})
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHandoffClaude(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	dirA, dirB := project(t, "parser"), project(t, "parser")
	path := writeClaude(t, a, dirA)
	call := func(m *machine, event, dir string, more ...string) string {
		in := map[string]any{"session_id": claudeID, "transcript_path": path, "cwd": dir}
		for i := 0; i < len(more); i += 2 {
			in[more[i]] = more[i+1]
		}
		return m.call(event, host.ClaudeCode, in)
	}
	call(a, "session-start", dirA, "source", "startup")
	call(a, "user-prompt-submit", dirA, "prompt", "[workflow:quick] Build the parser")
	sa, _ := a.home.Session(claudeID)
	if err := sa.Update(func(tx *store.Tx) error { return tx.WriteContext("REVIEW", []byte("found "+planted)) }); err != nil {
		t.Fatal(err)
	}

	if _, err := a.mover().Push(ctx, claudeID, false); err == nil || !strings.Contains(err.Error(), "not shared") {
		t.Fatalf("pushed without consent: %v", err)
	}
	a.set.Share = []string{dirA}
	if _, err := b.mover().Pull(ctx, claudeID, PullOptions{Cwd: dirB}); err == nil {
		t.Fatal("pulled what nobody pushed")
	}
	if got := call(a, "user-prompt-submit", dirA, "prompt", "still here"); strings.Contains(got, `"block"`) {
		t.Fatalf("refused before it was pushed: %s", got)
	}
	if _, err := a.mover().Push(ctx, claudeID[:8], false); err != nil {
		t.Fatal(err)
	}
	if got := call(a, "user-prompt-submit", dirA, "prompt", "go on"); !strings.Contains(got, `"block"`) || !strings.Contains(got, "offered") {
		t.Errorf("an offered session goes on: %s", got)
	}

	// Taken back before anybody came, it goes on; offered again, it does not.
	back, err := a.mover().Pull(ctx, claudeID, PullOptions{})
	if err != nil || !back.Back {
		t.Fatalf("%+v %v", back, err)
	}
	if got := call(a, "user-prompt-submit", dirA, "prompt", "go on"); strings.Contains(got, `"block"`) {
		t.Errorf("refused after it was taken back: %s", got)
	}
	pushed, err := a.mover().Push(ctx, claudeID, false)
	if err != nil {
		t.Fatal(err)
	}

	// Another commit is refused, and leaves the offer as it was.
	git(t, dirB, "commit", "-q", "--allow-empty", "-m", "second")
	if _, err := b.mover().Pull(ctx, claudeID, PullOptions{Folder: dirB}); !errors.Is(err, errGit) {
		t.Fatalf("another commit: %v", err)
	}
	git(t, dirB, "reset", "-q", "--hard", "HEAD~1")
	got, err := b.mover().Pull(ctx, claudeID, PullOptions{Folder: dirB})
	if err != nil {
		t.Fatal(err)
	}
	if got.Lease.Token <= pushed.Lease.Token || got.Resume != "claude --resume "+claudeID || got.Folder != dirB {
		t.Errorf("%+v", got)
	}
	if _, err := a.mover().Pull(ctx, claudeID, PullOptions{}); err == nil {
		t.Error("held by two")
	}

	// The file: readable, without secrets, in the folder of this machine.
	data, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), planted) {
		t.Errorf("a secret travelled: %s", data)
	}
	if strings.Contains(string(data), `"thinking":"`) || !strings.Contains(string(data), "[REDACTED:thinking]") {
		t.Errorf("a signed thought was changed: %s", data)
	}
	if !strings.Contains(string(data), "Looking at "+dirA) {
		t.Error("what was said has changed")
	}
	for line := range bytes.Lines(data) {
		if cwd := gjson.GetBytes(line, "cwd").String(); cwd != dirB {
			t.Errorf("cwd %s", cwd)
		}
	}
	rep, err := transcript.Verify(ctx, got.Path)
	if err != nil || rep.Unreadable+len(rep.Dangling)+len(rep.Empty)+len(rep.Duplicate) > 0 || rep.Messages != 3 {
		t.Errorf("%+v %v", rep, err)
	}

	// The workflow goes on, the packet is said once.
	sb, _ := b.home.Session(claudeID)
	wf, err := session.Peek(sb)
	if err != nil || wf == nil || !wf.Active || wf.WorkflowType != "quick" {
		t.Fatalf("workflow: %+v %v", wf, err)
	}
	reports, err := sb.Reports()
	if err != nil || len(reports) != 1 || strings.Contains(fmt.Sprintf("%s", reports), planted) {
		t.Errorf("reports: %s %v", reports, err)
	}
	path = got.Path
	call(b, "session-start", dirB, "source", "resume")
	first := call(b, "user-prompt-submit", dirB, "prompt", "go on")
	if strings.Contains(first, `"block"`) || strings.Count(first, "overtone-packet id=") != 1 || !strings.Contains(first, "has moved from machine alpha to beta") || !strings.Contains(first, dirB) {
		t.Errorf("first prompt: %s", first)
	}
	if again := call(b, "user-prompt-submit", dirB, "prompt", "go on"); strings.Contains(again, "overtone-packet") || strings.Contains(again, "has moved") {
		t.Errorf("said twice: %s", again)
	}

	// A hears who has it.
	sh := a.shipper()
	if err := sh.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := call(a, "user-prompt-submit", dirA, "prompt", "me again"); !strings.Contains(got, `"block"`) || !strings.Contains(got, "machine beta") {
		t.Errorf("A goes on: %s", got)
	}
	if got := call(a, "session-start", dirA, "source", "resume"); !strings.Contains(got, "machine beta") {
		t.Errorf("A is not told: %s", got)
	}

	// And back, with what was added: the old file is kept.
	f, err := os.OpenFile(got.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, `{"type":"user","uuid":"u3","parentUuid":"u2","cwd":%q,"sessionId":%q,"message":{"role":"user","content":"said at B"}}`+"\n", dirB, claudeID)
	f.Close()
	b.set.Share = []string{dirB}
	if _, err := b.mover().Push(ctx, claudeID, false); err != nil {
		t.Fatal(err)
	}
	home, err := a.mover().Pull(ctx, claudeID, PullOptions{Folder: dirA})
	if err != nil {
		t.Fatal(err)
	}
	data, err = os.ReadFile(home.Path)
	if err != nil || !strings.Contains(string(data), "said at B") || home.Backup == "" {
		t.Errorf("%s %v %+v", data, err, home)
	}
	if got := call(a, "user-prompt-submit", dirA, "prompt", "at last"); strings.Contains(got, `"block"`) {
		t.Errorf("refused at home: %s", got)
	}
	if got := call(b, "user-prompt-submit", dirB, "prompt", "and I?"); !strings.Contains(got, `"block"`) {
		t.Errorf("B goes on: %s", got)
	}
}

func TestHandoffCodex(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	dirA, dirB := project(t, "parser"), project(t, "parser")
	codex := host.Of(host.Codex)
	path := codex.SessionPath(a.hostDir(codex), dirA, "rollout-2026-01-02T03-04-05-"+codexID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	rollout := `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"` + codexID + `","timestamp":"2026-01-02T03:04:05Z","cwd":"` + dirA + `","originator":"codex","cli_version":"0.166.0"}}
{"timestamp":"2026-01-02T03:04:06Z","type":"turn_context","payload":{"cwd":"` + dirA + `/sub","model":"gpt"}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"token ` + planted + `"}]}}
`
	if err := os.WriteFile(path, []byte(rollout), 0o600); err != nil {
		t.Fatal(err)
	}
	a.call("user-prompt-submit", host.Codex, map[string]any{"session_id": codexID, "transcript_path": path, "cwd": dirA, "prompt": "Build the parser", "turn_id": "1"})
	a.set.Share = []string{filepath.Dir(dirA)}
	if _, err := a.mover().Push(ctx, path, false); err != nil {
		t.Fatal(err)
	}
	got, err := b.mover().Pull(ctx, codexID, PullOptions{Folder: dirB})
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(b.hostDir(codex), "sessions", "2026", "01", "02", filepath.Base(path))
	if got.Path != want || got.Resume != "codex resume "+codexID {
		t.Errorf("%+v", got)
	}
	data, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if gjson.Get(lines[0], "payload.cwd").String() != dirB || gjson.Get(lines[1], "payload.cwd").String() != filepath.Join(dirB, "sub") || strings.Contains(string(data), planted) {
		t.Errorf("%s", data)
	}
	first := b.call("user-prompt-submit", host.Codex, map[string]any{"session_id": codexID, "transcript_path": got.Path, "cwd": dirB, "prompt": "go on", "turn_id": "2"})
	if strings.Count(first, "overtone-packet id=") != 1 {
		t.Errorf("first prompt: %s", first)
	}
	if got := a.call("user-prompt-submit", host.Codex, map[string]any{"session_id": codexID, "transcript_path": path, "cwd": dirA, "prompt": "go on", "turn_id": "2"}); !strings.Contains(got, `"block"`) {
		t.Errorf("A goes on: %s", got)
	}
}

// TestFenced: who was stopped in the middle of a pull, for longer than its lease,
// changes nothing when it wakes.
func TestFenced(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b, c := n.machine(t, "alpha"), n.machine(t, "beta"), n.machine(t, "gamma")
	dir := project(t, "parser")
	writeClaude(t, a, dir)
	a.set.Share = []string{dir}
	if _, err := a.mover().Push(ctx, claudeID, false); err != nil {
		t.Fatal(err)
	}
	// B takes the lease and stops there.
	stale, err := b.dial().take(ctx, claudeID, phaseTaking, time.Hour, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.mover().Pull(ctx, claudeID, PullOptions{Folder: dir}); err == nil {
		t.Fatal("held by two")
	}
	if stale, err = b.dial().renew(ctx, stale, phaseTaking, time.Second, time.Now); err != nil {
		t.Fatal(err)
	}
	until(t, func() error {
		_, err := c.mover().Pull(ctx, claudeID, PullOptions{Folder: dir})
		return err
	})
	if _, err := b.dial().renew(ctx, stale, phaseHeld, time.Minute, time.Now); !errors.Is(err, errLeaseLost) {
		t.Errorf("a stale holder takes it: %v", err)
	}
	// Nor does it when its own clock says that all is well.
	stopped := func() time.Time { return stale.Expires.Add(-time.Second) }
	if _, err := b.dial().renew(ctx, stale, phaseHeld, time.Minute, stopped); !errors.Is(err, errLeaseLost) {
		t.Errorf("a stale holder with a stopped clock takes it: %v", err)
	}
	if err := b.dial().announce(ctx, bundle{Session: claudeID, Machine: "beta", Token: 1}); !errors.Is(err, errLeaseLost) {
		t.Errorf("a stale holder's bundle counts: %v", err)
	}
}

// TestHereAlready: what was pushed never replaces what was done since at the
// machine that has it. Its lease ended while it slept, and nobody had it since: its
// shipper gets it back, and so does a pull; a machine that was somewhere else all
// the time does not get in between.
func TestHereAlready(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	dirA, dirB := project(t, "parser"), project(t, "parser")
	writeClaude(t, a, dirA)
	a.set.Share = []string{dirA}
	if _, err := a.mover().Push(ctx, claudeID, false); err != nil {
		t.Fatal(err)
	}
	got, err := b.mover().Pull(ctx, claudeID[:8], PullOptions{Folder: dirB, Anyway: true})
	if err != nil {
		t.Fatal(err)
	}
	const later = `{"type":"user","uuid":"later","cwd":"x","message":{"role":"user","content":"done at beta"}}` + "\n"
	f, err := os.OpenFile(got.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(later); err != nil {
		t.Fatal(err)
	}
	f.Close()
	kept := func(what string) {
		t.Helper()
		if data, err := os.ReadFile(got.Path); err != nil || !strings.HasSuffix(string(data), later) {
			t.Errorf("%s: what was done here is gone: %v", what, err)
		}
		sess, err := b.home.Session(claudeID)
		if err != nil {
			t.Fatal(err)
		}
		if m := session.ReadMoved(sess); m.Away(time.Now()) {
			t.Errorf("%s: it does not go on: %+v", what, m)
		}
	}
	again, err := b.mover().Pull(ctx, claudeID, PullOptions{})
	if err != nil || !again.Back || again.Resume != got.Resume || again.Folder != got.Folder {
		t.Errorf("pulled twice: %+v %v", again, err)
	}
	kept("pulled twice")
	if _, err := b.mover().Pull(ctx, claudeID, PullOptions{Folder: dirA, Anyway: true}); err == nil {
		t.Error("pulled over what was done here")
	}
	kept("pulled into another folder")

	// The lease ends, as it does while a machine sleeps.
	sleep := func() {
		t.Helper()
		sess, err := b.home.Session(claudeID)
		if err != nil {
			t.Fatal(err)
		}
		h := b.dial()
		cur, err := h.lease(ctx, claudeID)
		if err != nil {
			t.Fatal(err)
		}
		if cur, err = h.renew(ctx, cur, phaseHeld, time.Second, time.Now); err != nil {
			t.Fatal(err)
		}
		if err := writeMoved(sess, "beta", cur, time.Now()); err != nil {
			t.Fatal(err)
		}
		until(t, func() error {
			cur, err := h.lease(ctx, claudeID)
			if err == nil && (cur.Holder != "" || !session.ReadMoved(sess).Away(time.Now())) {
				err = fmt.Errorf("the lease does not end: %+v", cur)
			}
			return err
		})
	}
	sleep()
	b.ship()
	kept("after sleep, shipped")
	sleep()
	if again, err := b.mover().Pull(ctx, claudeID, PullOptions{}); err != nil || !again.Back {
		t.Errorf("pulled after sleep: %+v %v", again, err)
	}
	kept("after sleep, pulled")

	// Alpha, which handed it over, cannot offer it again, even to a hub that has
	// forgotten; but it can have it back after beta's lease has ended.
	sleep()
	a.ship()
	if _, err := a.mover().Push(ctx, claudeID, false); err == nil {
		sess, _ := a.home.Session(claudeID)
		t.Errorf("alpha offers what beta has: %+v", session.ReadMoved(sess))
	}
	if _, err := a.mover().Pull(ctx, claudeID, PullOptions{}); err != nil {
		t.Fatal(err)
	}
	b.ship()
	sess, err := b.home.Session(claudeID)
	if err != nil {
		t.Fatal(err)
	}
	if m := session.ReadMoved(sess); !m.Away(time.Now()) || m.Holder != "alpha" {
		t.Errorf("beta goes on: %+v", m)
	}
}

// TestHalfOffered: a machine that died after it had told its own hooks, and before
// it had told the hub, gets its session back; not so from a hub that was made anew,
// which cannot know whether somebody took it.
func TestHalfOffered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a := n.machine(t, "alpha")
	dir := project(t, "parser")
	writeClaude(t, a, dir)
	sess, err := a.home.Session(claudeID)
	if err != nil {
		t.Fatal(err)
	}
	h := a.dial()
	lease, err := h.take(ctx, claudeID, phaseTaking, takingFor, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	lease.Phase = phaseOffered
	if err := writeMoved(sess, "alpha", lease, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := a.mover().Pull(ctx, claudeID, PullOptions{}); err != nil || !got.Back || session.ReadMoved(sess).Away(time.Now()) {
		t.Errorf("%+v %v", got, err)
	}
	lease.Token += 1000
	if err := writeMoved(sess, "alpha", lease, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := a.mover().Pull(ctx, claudeID, PullOptions{}); err == nil {
		t.Errorf("a hub that was made anew gives it back: %+v", got)
	}
	if got, err := a.mover().Pull(ctx, claudeID, PullOptions{Anyway: true}); err != nil || !got.Back {
		t.Errorf("anyway: %+v %v", got, err)
	}

	// That it goes on here, a hub knows of which nothing was pushed to.
	if b, _, err := h.bundle(ctx, claudeID); err != nil || b.Holder != "alpha" || b.Held == 0 || b.Token != 0 {
		t.Errorf("%+v %v", b, err)
	}
	if got, err := a.mover().Pull(ctx, claudeID[:8], PullOptions{}); err != nil || !got.Back {
		t.Errorf("by the beginning of its id: %+v %v", got, err)
	}

	// Who is interrupted leaves nothing half done.
	a.set.Share = []string{dir}
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.mover().Push(stop, claudeID, false); err == nil || session.ReadMoved(sess).Away(time.Now()) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestRecallShared: a search finds whatever content was shared, conversations and
// work, without secrets, and no longer what was taken back.
func TestRecallShared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	dir := project(t, "parser")
	path := writeClaude(t, a, dir)
	a.call("user-prompt-submit", host.ClaudeCode, map[string]any{"session_id": claudeID, "transcript_path": path, "cwd": dir, "prompt": "[workflow:quick] teach it zebras"})
	sess, err := a.home.Session(claudeID)
	if err != nil {
		t.Fatal(err)
	}
	if err := sess.Update(func(tx *store.Tx) error {
		return tx.WriteContext("REVIEW", []byte("the tokenizer forgets quaggas; key "+planted))
	}); err != nil {
		t.Fatal(err)
	}
	search := func(words string) (refs []string) {
		t.Helper()
		lib := Library{Hub: b.dial(), Root: b.home.Root()}
		if _, problems, err := lib.Update(ctx); err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		list, total, err := lib.Search(ctx, recall.Query{Text: words, Limit: 10}, "")
		if err != nil || total < len(list) {
			t.Fatal(total, err)
		}
		for _, f := range list {
			if f.Machine != "alpha" || f.Session != claudeID || strings.Contains(f.Snippet, planted) {
				t.Errorf("%q: %+v", words, f)
			}
			refs = append(refs, fmt.Sprint(f.Ref[len(claudeID):], " ", f.Work))
		}
		slices.Sort(refs)
		return refs
	}
	a.ship()
	if got := search("quaggas"); got != nil {
		t.Errorf("found before it was shared: %v", got)
	}
	a.set.Share = []string{dir}
	a.ship()
	if diff := cmp.Diff([]string{"#pipeline-context-REVIEW true"}, search("quaggas")); diff != "" {
		t.Errorf("report (-want +got)\n%s", diff)
	}
	if got := search("zebras"); !slices.Contains(got, "#packet true") {
		t.Errorf("packet: %v", got)
	}
	if got := search("Looking"); got != nil {
		t.Errorf("a conversation that was not pushed: %v", got)
	}
	if _, err := a.mover().Push(ctx, claudeID, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"#a1 false"}, search("Looking")); diff != "" {
		t.Errorf("conversation (-want +got)\n%s", diff)
	}
	a.set.Share = nil
	a.ship()
	if got := search("quaggas"); got != nil {
		t.Errorf("found after it was taken back: %v", got)
	}
}

// TestWork: where the work stands leaves the machine for a project that is shared,
// without secrets and readable to the team alone, from the moment it is shared to
// the moment it is not.
func TestWork(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	dir := project(t, "parser")
	path := writeClaude(t, a, dir)
	a.call("user-prompt-submit", host.ClaudeCode, map[string]any{"session_id": claudeID, "transcript_path": path, "cwd": dir, "prompt": "[workflow:quick] build the parser with " + planted})
	done := make(chan error, 1)
	go func() {
		s := a.shipper()
		s.Once = false
		done <- s.Run(ctx)
	}()
	h := b.dial()
	work := func(h *Hub) (Work, error) {
		info, ok, err := h.object(ctx, "alpha", workName(claudeID))
		if err != nil || !ok {
			return Work{}, fmt.Errorf("nothing of alpha: %w", err)
		}
		return h.readWork(ctx, info)
	}
	until := func(what string, ok func(Work, error) bool) (w Work) {
		t.Helper()
		until(t, func() (err error) {
			if w, err = work(h); ok(w, err) {
				return nil
			}
			return fmt.Errorf("%s: %+v %w", what, w, err)
		})
		return w
	}
	until("not shared", func(_ Work, err error) bool { return err != nil && strings.Contains(err.Error(), "alpha") })

	a.set.Share = []string{dir}
	if err := a.set.Save(a.home.Root()); err != nil {
		t.Fatal(err)
	}
	w := until("shared", func(_ Work, err error) bool { return err == nil })
	st, err := workflow.Load(w.Workflow)
	if err != nil || st.WorkflowType != "quick" || !strings.Contains(w.Packet, "parser") || w.Folder != dir || w.Machine != "alpha" {
		t.Errorf("%+v %v", w, err)
	}
	if strings.Contains(w.Packet, "compacted") || strings.Contains(w.Packet, "壓縮") {
		t.Errorf("nothing was compacted:\n%s", w.Packet)
	}
	if all := fmt.Sprint(w.Packet, string(w.Workflow), string(w.Memory)); strings.Contains(all, planted) {
		t.Errorf("a secret left: %s", all)
	}
	key := b.set.Identity
	b.set.Identity = ""
	if w, err := work(b.dial()); err == nil {
		t.Errorf("read without the key: %+v", w)
	}
	b.set.Identity = key

	a.set.Share = nil
	if err := a.set.Save(a.home.Root()); err != nil {
		t.Fatal(err)
	}
	until("no longer shared", func(_ Work, err error) bool { return err != nil })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
