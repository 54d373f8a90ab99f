//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

var buildTeam = build("./team/cmd/overtone-team")

// team runs a command of overtone-team in the world's project.
func (w *World) team(args ...string) string {
	w.t.Helper()
	dir, err := buildTeam()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(filepath.Join(dir, "overtone"), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("overtone-team %v: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

// other is a second machine: a home and a clone of the project of its own, with
// the same model.
func (w *World) other(name string) *World {
	w.t.Helper()
	b := *w
	base := w.t.TempDir()
	b.Home, b.Project = filepath.Join(base, "home-"+name), filepath.Join(base, "proj")
	b.Config = filepath.Join(b.Home, ".claude")
	b.env = maps.Clone(w.env)
	b.env["HOME"], b.env["CLAUDE_CONFIG_DIR"], b.env["TMPDIR"] = b.Home, b.Config, base
	if err := os.MkdirAll(b.Config, 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.Exec("git", "clone", "-q", w.Project, b.Project)
	return &b
}

// startHub makes the world's machine a hub, named a, and waits until it answers.
func (w *World) startHub() {
	w.t.Helper()
	addr := ""
	for addr == "" {
		// Below what systems give to connections, so that nobody takes it meanwhile.
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10000+rand.IntN(20000))); err == nil {
			addr = l.Addr().String()
			l.Close()
		}
	}
	dir, err := buildTeam()
	if err != nil {
		w.t.Fatal(err)
	}
	hub := w.command(filepath.Join(dir, "overtone"), "up", "--listen", addr, "--machine", "a")
	out, err := hub.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := hub.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = syscall.Kill(-hub.Process.Pid, syscall.SIGTERM)
		_ = hub.Wait()
	})
	up := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		up <- line
	}()
	select {
	case line := <-up:
		if !strings.Contains(line, addr) {
			w.t.Fatalf("hub: %s", line)
		}
	case <-time.After(3 * time.Minute):
		w.t.Fatal("the hub does not come up")
	}
}

// TestHandoffBetweenMachines: a session in the middle of a workflow moves from home
// A to home B. There the next request holds its history and the packet, once, and
// the workflow goes on to its end; A is told and does not go on.
func TestHandoffBetweenMachines(t *testing.T) {
	t.Parallel()
	onEach(t, testHandoffBetweenMachines)
}

func testHandoffBetweenMachines(t *testing.T, v Version) {
	// At A the model's server fails after the first stage: the work stands still.
	atA := &Relay{Before: func(_ *mockapi.Request, n int) *mockapi.Reply {
		if n == 0 {
			return nil
		}
		r := mockapi.Fail(500, "no more")
		return &r
	}}
	atB := &Relay{}
	var moved atomic.Bool
	a := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
		if moved.Load() {
			return atB.Handle(r)
		}
		return atA.Handle(r)
	}, v)
	a.startHub()
	b := a.other("b")
	invitation := filepath.Join(b.Home, "b.json")
	if err := os.WriteFile(invitation, []byte(a.team("invite", "b")), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		dir, _ := buildTeam()
		if err := b.command(filepath.Join(dir, "overtone"), "join", "--force", invitation).Run(); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("join: %v", err)
		}
	}

	const task = "[workflow:quick] add the flag --colour"
	id := a.Prompt(task).Result().SessionID
	if s := a.status(id); s.Phase == "COMPLETE" || len(s.Ready) == 0 {
		t.Fatalf("A is not in the middle of its workflow: %+v", s)
	}
	a.team("share", a.Project)
	a.team("handoff", "push", id)
	out := strings.TrimSpace(b.team("handoff", "pull", id, "--dir", b.Project))
	if want := fmt.Sprintf("cd %s && claude --resume %s", b.Project, id); out != want {
		t.Errorf("pull prints %q, want %q", out, want)
	}
	a.team("ship", "--once")
	moved.Store(true)
	before := len(a.API.Requests())

	r := b.Prompt("go on", "--resume", id).Result()
	if r.IsError || r.SessionID != id {
		t.Errorf("resumed: %+v", r)
	}
	requests := a.API.Requests()[before:]
	var mains []*mockapi.Request
	for _, q := range requests {
		if q.Kind == mockapi.Main {
			mains = append(mains, q)
		}
	}
	if len(mains) == 0 {
		t.Fatal("B asked nothing")
	}
	for _, q := range mains {
		if !q.Has("add the flag --colour") || q.Count("<overtone-packet id=") != 1 || q.Count("machine a to b")+q.Count("從機器 a 移到了 b") != 1 {
			t.Errorf("request %d: task %v, %d packets: %s", q.Seq, q.Has("add the flag --colour"), q.Count("<overtone-packet id="), q)
		}
	}
	finished(t, b, id)

	// A: nothing reaches the model, and the person is told.
	before = len(a.API.Requests())
	cmd := a.command(a.claude, a.claudeArgs([]string{"--resume", id, "and I"})...)
	said, _ := cmd.CombinedOutput()
	for _, q := range a.API.Requests()[before:] {
		if q.Kind == mockapi.Main {
			t.Errorf("A goes on: %s", q)
		}
	}
	if !strings.Contains(string(said), "overtone-team handoff pull "+id) {
		t.Errorf("A is not told: %s", said)
	}
}
