package team

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// diskSize is that of the disk of [smallDisk].
const diskSize = 32 << 20

// smallDisk is a hub whose streams lie on a small disk of its own, which nobody else
// sees. What the hub says goes to its log.
func smallDisk(a processArgs) error {
	streams := filepath.Join(a.Dir, "streams")
	_ = syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err := syscall.Mount("small", streams, "tmpfs", 0, fmt.Sprint("size=", diskSize)); err != nil {
		return err
	}
	n := Node{Dir: a.Dir, Listen: a.Listen, Tenant: "team", Keep: 24 * time.Hour, Now: time.Now}
	n.Note = func(text message.Text, args ...any) { fmt.Fprintln(os.Stderr, text.Format(message.EN, args...)) }
	return n.Serve(context.Background(), func(string) {})
}

// The shipper and doctor say that the disk of a hub is full, and the hub goes on
// by itself when there is room. Nothing that it had acknowledged is lost, and what came
// meanwhile comes afterwards, once.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	apart := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	probe := exec.Command("mount", "-t", "tmpfs", "none", t.TempDir())
	probe.SysProcAttr = apart
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no file system of one's own can be made here: %v %s", err, out)
	}
	n := Node{Dir: t.TempDir(), Listen: freePort(t), Tenant: "team", Keep: 24 * time.Hour, Now: time.Now}
	if err := os.Mkdir(n.path("streams"), 0o700); err != nil {
		t.Fatal(err)
	}
	set, err := n.Invite("laptop") // before the start: the hub's keys are made by one
	if err != nil {
		t.Fatal(err)
	}
	hub := &process{t: t, role: "small disk", args: processArgs{Dir: n.Dir, Listen: n.Listen}, apart: apart}
	hub.start()
	t.Cleanup(hub.kill)
	t.Cleanup(func() {
		if data, err := os.ReadFile(n.path("small disk.log")); t.Failed() {
			t.Logf("the hub: %s %v", data, err)
		}
	})
	m := &machine{t: t, set: set, dir: t.TempDir()}
	m.home = storeOf(m.dir)
	if err := set.Save(m.home.Root()); err != nil {
		t.Fatal(err)
	}
	m.letIn()

	// A shipper that runs all the time.
	var (
		mu   sync.Mutex
		said []string
		last Health
	)
	s := m.shipper()
	s.Once, s.Lang = false, message.EN
	s.Report = func(r Report) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, r.Text.In(message.EN))
	}
	ctx, cancel := context.WithCancel(t.Context())
	shipped := make(chan error, 1)
	go func() { shipped <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-shipped })
	until := func(what string, done func() bool) {
		t.Helper()
		until(t, func() error {
			if done() {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			return fmt.Errorf("%s; doctor: %+v; the shipper said %q", what, last, said)
		})
	}
	heard := func(part string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(strings.Join(said, "\n"), part)
		}
	}
	doctor := func() Health {
		h, err := Dial(m.set, Dialing{})
		if err != nil {
			return Health{Full: err.Error()}
		}
		defer h.Close()
		v, err := h.Doctor(t.Context(), m.home.Root(), time.Now)
		if err != nil {
			return Health{Full: err.Error()}
		}
		return v
	}
	events := func(n uint64) func() bool {
		return func() bool {
			waiting, err := (&Shipper{Home: m.home}).Waiting()
			last = doctor()
			return err == nil && waiting == 0 && last.Events >= n && last.Missing == 0 && last.Full == ""
		}
	}
	m.emit("s1", 1, 100)
	until("the first events arrive", events(100))

	ballast := filepath.Join("/proc", fmt.Sprint(hub.cmd.Process.Pid), "root", n.path("streams/ballast"))
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	filled, err := io.Copy(f, io.LimitReader(zeros{}, 2*diskSize))
	if f.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %d bytes, %v", filled, err)
	}
	until("doctor says it before anybody writes", func() bool { return strings.Contains(doctor().Full, "no space left") })
	m.emit("s1", 101, 1000)
	ended := make(chan error, 1)
	once := *m // of its events some may come through, unanswered
	once.home = storeOf(t.TempDir())
	once.emit("s2", 1, 500)
	go func() { ended <- once.shipper().Run(t.Context()) }()
	until("the shipper says it", heard("the hub stores nothing, its disk is full: no space left"))
	until("doctor says it", func() bool { return strings.Contains(doctor().Full, "no space left") })
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("ship --once: %v", err)
	}
	if err := m.dial().Why(t.Context(), fmt.Errorf("%w: lease", errNotAcknowledged)); !strings.Contains(err.Error(), "disk is full") || message.HintOf(err, message.EN) == "" {
		t.Errorf("a command that got no answer: %v", err)
	}
	if heard("the hub is away")() {
		t.Errorf("told as away, too: %q", said)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	until("all events arrive", events(1100))
	if got := all(t, m.dial()); got["laptop/s1"] != 1100 {
		t.Errorf("events: %v", got)
	}
	log, err := os.ReadFile(n.path("small disk.log"))
	if text := string(log); err != nil || !strings.Contains(text, "the disk of this hub is full: no space left") || !strings.Contains(text, "there is room on the disk again") {
		t.Errorf("the hub said: %s %v", log, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
