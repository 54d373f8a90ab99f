package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// What a hook costs is measured against the least a Go program can cost: one
// that reads stdin and prints. All of it in one run, turn about, because a
// machine's speed changes from minute to minute and a ratio hardly does.

// floor is that program.
const floor = `package main

import (
	"io"
	"os"
)

func main() {
	io.Copy(io.Discard, os.Stdin)
	os.Stdout.WriteString("{\"result\":\"\"}\n")
}
`

// build compiles a program as `make build` does: without cgo, because loading the
// C library would cost more than everything else a hook does before it reads
// its input. The program is written anew, as an installation does: what a linker
// leaves in the system's cache lies there in single pages, and starts slower.
func build(tb testing.TB, pkg, out string) string {
	tb.Helper()
	linked := filepath.Join(tb.TempDir(), "linked")
	cmd := exec.Command("go", "build", "-trimpath", "-o", linked, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	program, err := os.ReadFile(linked)
	if err == nil {
		err = os.WriteFile(out, program, 0o700)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func buildOvertone(tb testing.TB) string {
	return build(tb, "../../cmd/overtone", filepath.Join(tb.TempDir(), "overtone"))
}

func buildHook(tb testing.TB) string {
	return build(tb, "../../cmd/overtone-hook", filepath.Join(tb.TempDir(), "overtone-hook"))
}

func buildFloor(tb testing.TB) string {
	dir := tb.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte(floor), 0o600); err != nil {
		tb.Fatal(err)
	}
	return build(tb, src, filepath.Join(dir, "floor"))
}

// world is a home with one session at work.
type world struct {
	home, transcript string
	// What every call finds, restored before it.
	state, memory []byte
	timeline      int64
}

const (
	benchSession = "4619580b-78d8-4c54-b553-d75ffcda094f"
	benchAnswer  = `Done. <!-- PIPELINE_ROUTE: {"verdict":"PASS","route":"NEXT"} -->`
	benchEvent   = `{"ts":"2026-03-01T09:30:00.120Z","type":"tool:failure","category":"tool","label":"工具失敗","toolName":"Bash","error":"exit status 1","n":%d}` + "\n"
	benchEntry   = `{"parentUuid":"%[1]s","isSidechain":false,"type":"assistant","uuid":"%[2]s","sessionId":"` + benchSession + `","timestamp":"2026-03-01T09:30:00.120Z",` +
		`"message":{"id":"msg_%[2]s","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%[3]q}],` +
		`"usage":{"input_tokens":12,"cache_creation_input_tokens":900,"cache_read_input_tokens":60000,"output_tokens":220}}}` + "\n"
)

func (w *world) session() string {
	return filepath.Join(w.home, ".overtone", "sessions", benchSession)
}

// newWorld makes a home with that many other sessions, events and transcript
// bytes. The transcript is a hole with a real end, where hooks read it.
func newWorld(tb testing.TB, bin string, sessions, events int, size int64) *world {
	tb.Helper()
	w := &world{home: tb.TempDir()}
	w.transcript = filepath.Join(w.home, ".claude", "projects", "p", benchSession+".jsonl")
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, dir := range []string{w.session(), filepath.Dir(w.transcript)} {
		check(os.MkdirAll(dir, 0o700))
	}
	text := strings.Repeat("The importer reads one row after the other and keeps none of them. ", 8)
	check(fill(w.transcript, size, func(f io.Writer) {
		fmt.Fprintln(f)
		for i := range int(min(size, 16<<20)/800) + 20 {
			fmt.Fprintf(f, benchEntry, fmt.Sprintf("%08d", i), fmt.Sprintf("%08d", i+1), text)
		}
	}))
	for _, c := range []*contender{
		w.call(bin, "user-prompt-submit", "", "prompt", "[workflow:standard] an importer"),
		w.call(bin, "pre-tool-use", "", "tool_name", "Agent", "tool_use_id", "t1", "tool_input.subagent_type", "overtone:planner", "tool_input.prompt", "plan it"),
		w.call(bin, "subagent-stop", "", "agent_type", "overtone:planner", "agent_id", "a0", "last_assistant_message", benchAnswer),
		w.call(bin, "post-tool-use", "", "tool_name", "Agent", "tool_use_id", "t1"),
		w.call(bin, "pre-tool-use", "", "tool_name", "Agent", "tool_use_id", "t2", "tool_input.subagent_type", "overtone:architect", "tool_input.prompt", "design it"),
		w.call(bin, "post-tool-use", "", "tool_name", "Bash", "tool_input.command", "go test ./...", "tool_response.stdout", "ok"),
	} {
		check(c.exec())
	}
	var err error
	w.state, err = os.ReadFile(filepath.Join(w.session(), "workflow.json"))
	check(err)
	w.memory, err = os.ReadFile(filepath.Join(w.session(), "hooks.jsonl"))
	check(err)
	for i := range sessions {
		dir := filepath.Join(w.home, ".overtone", "sessions", fmt.Sprintf("other-%05d", i))
		check(os.Mkdir(dir, 0o700))
		check(os.WriteFile(filepath.Join(dir, "workflow.json"), w.state, 0o600))
	}
	// The events of the calls above stay at the end, behind all the others.
	recent, err := os.ReadFile(w.timelineFile())
	check(err)
	check(fill(w.timelineFile(), 0, func(f io.Writer) {
		for i := range events {
			fmt.Fprintf(f, benchEvent, i)
		}
		f.Write(recent)
	}))
	info, err := os.Stat(w.timelineFile())
	check(err)
	w.timeline = info.Size()
	return w
}

func (w *world) timelineFile() string { return filepath.Join(w.session(), "timeline.jsonl") }

// fill writes a file that begins with a hole.
func fill(path string, hole int64, body func(io.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := f.Seek(hole, io.SeekStart); err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	body(b)
	return errors.Join(b.Flush(), f.Close())
}

// reset puts the session back to where it was, so that every call finds the
// same work to do.
func (w *world) reset() error {
	return errors.Join(
		os.WriteFile(filepath.Join(w.session(), "workflow.json"), w.state, 0o600),
		os.WriteFile(filepath.Join(w.session(), "hooks.jsonl"), w.memory, 0o600),
		os.Truncate(w.timelineFile(), w.timeline),
	)
}

// contender is one program with one input.
type contender struct {
	name  string
	argv  []string
	stdin []byte
	world *world
	event string // a timeline event that proves its work; "" = it has none
	took  []time.Duration
}

// run is a call in the world as it was.
func (c *contender) run() error {
	if c.world != nil {
		if err := c.world.reset(); err != nil {
			return err
		}
	}
	if err := c.exec(); err != nil || c.event == "" {
		return err
	}
	return c.proof()
}

func (c *contender) exec() error {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stdin = bytes.NewReader(c.stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if w := c.world; w != nil {
		cmd.Dir, cmd.Env = w.home, []string{"HOME=" + w.home}
	}
	begin := time.Now()
	_, err := cmd.Output()
	c.took = append(c.took, time.Since(begin))
	if err == nil && stderr.Len() > 0 {
		err = errors.New(stderr.String())
	}
	return err
}

// proof looks for the event among what the call appended.
func (c *contender) proof() error {
	f, err := os.Open(c.world.timelineFile())
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(c.world.timeline, io.SeekStart); err != nil {
		return err
	}
	added, err := io.ReadAll(f)
	if err == nil && !bytes.Contains(added, []byte(c.event)) {
		err = fmt.Errorf("no %s in %q", c.event, added)
	}
	return err
}

func (c *contender) median() time.Duration {
	t := slices.Clone(c.took)
	slices.Sort(t)
	return t[len(t)/2]
}

// call is a hook call of the session; proof is the event it leaves.
func (w *world) call(bin, event, proof string, kv ...string) *contender {
	in := []byte(`{"session_id":"` + benchSession + `"}`)
	for i, kv := 0, slices.Concat([]string{"transcript_path", w.transcript, "cwd", w.home}, kv); i < len(kv); i += 2 {
		in = store.SetJSON(in, kv[i], kv[i+1])
	}
	return &contender{name: event, argv: []string{bin, event, "--host", "claude-code"}, stdin: in, world: w, event: proof}
}

// hookCalls are the calls that hosts make most, and the one that writes most.
func hookCalls(bin string, w *world) []*contender {
	return []*contender{
		w.call(bin, "post-tool-use", "", "tool_name", "Bash", "tool_input.command", "go test ./...", "tool_response.stdout", strings.Repeat("ok\n", 1000)),
		w.call(bin, "pre-compact", message.EventSessionCompact, "trigger", "auto"),
		w.call(bin, "subagent-stop", message.EventStageComplete, "agent_type", "overtone:architect", "agent_id", "a1", "last_assistant_message", benchAnswer),
	}
}

// costs are the medians of one race, as ratios.
type costs struct {
	name         string
	took         time.Duration
	floor, large float64 // to the floor; of the large home to the empty one
}

// race lets the hooks run in an empty and in a large home, and the floor.
func race(tb testing.TB, rounds, sessions, events int, size int64) []costs {
	tb.Helper()
	bin := buildHook(tb)
	least := &contender{name: "floor", argv: []string{buildFloor(tb)}, stdin: []byte(`{}`)}
	small, large := hookCalls(bin, newWorld(tb, bin, 0, 0, 0)), hookCalls(bin, newWorld(tb, bin, sessions, events, size))
	all := slices.Concat([]*contender{least}, small, large)
	for i := range rounds + 3 {
		for _, c := range all {
			if err := c.run(); err != nil {
				tb.Fatalf("%s: %v", c.name, err)
			}
			if i < 3 { // caches are cold
				c.took = nil
			}
		}
	}
	var out []costs
	for i, c := range small {
		out = append(out, costs{
			name: c.name, took: c.median(),
			floor: float64(c.median()) / float64(least.median()),
			large: float64(large[i].median()) / float64(c.median()),
		})
	}
	return out
}

// The goals: post-tool-use at most 1.45, pre-compact 1.8, subagent-stop, which waits
// for the disk, at most 3 times the floor; and at most 1.2 times that in a home
// with ten thousand sessions, a million events and a gigabyte of transcript, but for
// pre-compact, which looks through the newest 8 MB for an earlier compaction.
func BenchmarkHook(b *testing.B) {
	for _, c := range race(b, 151, 10_000, 1_000_000, 1<<30) {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() { // timed above
			}
			b.ReportMetric(float64(c.took.Nanoseconds()), "ns/op")
			b.ReportMetric(c.floor, "x-floor")
			b.ReportMetric(c.large, "x-large-home")
		})
	}
}

// A busy machine bends even ratios, so this test only notices what is clearly
// wrong, and looks again before it says so.
func TestHookBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of processes")
	}
	limits := map[string]struct{ floor, large float64 }{"post-tool-use": {4, 2}, "pre-compact": {5, 3}, "subagent-stop": {10, 2}}
	var wrong []string
	for range 3 {
		wrong = nil
		for _, c := range race(t, 21, 500, 50_000, 256<<20) {
			t.Logf("%-14s %6.2f ms, %.2f x floor, large home %.2f x", c.name, float64(c.took.Microseconds())/1000, c.floor, c.large)
			if l := limits[c.name]; c.floor > l.floor || c.large > l.large {
				wrong = append(wrong, fmt.Sprintf("%s: %.2f times the floor (limit %g), %.2f times in a large home (limit %g)", c.name, c.floor, l.floor, c.large, l.large))
			}
		}
		if wrong == nil {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}
