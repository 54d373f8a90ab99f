package crash

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// step is one call of the story.
type step struct{ event, in string }

const (
	pass = `fine\n<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->`
	fail = `# Report\n\nthe map is read without its lock\n<!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"HIGH\",\"hint\":\"guard the map\"} -->`
)

func agent(event, id, kind, more string) step {
	return step{event, `"agent_id":"` + id + `","agent_type":"overtone:` + kind + `"` + more}
}

func hire(id, kind string) step {
	return step{"pre-tool-use", `"tool_name":"Agent","tool_use_id":"` + id + `","tool_input":{"subagent_type":"overtone:` + kind + `","prompt":"go"}`}
}

func back(id, agent, kind, text string) step {
	return step{"post-tool-use", `"tool_name":"Agent","tool_use_id":"` + id + `","tool_input":{"subagent_type":"overtone:` + kind +
		`","prompt":"go"},"tool_response":{"status":"completed","agentId":"` + agent + `","content":[{"type":"text","text":"` + text + `"}]}`}
}

// story has each hook of a session at least once: work, two reviews in parallel of
// which one fails, a compaction, a guarded edit, the end.
var story = []step{
	{"session-start", `"source":"startup"`},
	{"user-prompt-submit", `"prompt":"[workflow:quick] speed up the parser"`},
	hire("t1", "developer"),
	agent("subagent-start", "a1", "developer", ""),
	agent("subagent-stop", "a1", "developer", `,"last_assistant_message":"`+pass+`"`),
	back("t1", "a1", "developer", pass),
	hire("t2", "code-reviewer"),
	hire("t3", "tester"),
	agent("subagent-stop", "a2", "code-reviewer", `,"last_assistant_message":"`+pass+`"`),
	agent("subagent-stop", "a3", "tester", `,"last_assistant_message":"`+fail+`"`),
	{"post-tool-batch", `"tool_calls":[]`},
	{"pre-compact", `"trigger":"manual"`},
	{"session-start", `"source":"compact"`},
	{"post-compact", `"trigger":"manual"`},
	{"user-prompt-submit", `"prompt":"go on"`},
	{"pre-tool-use", `"tool_name":"Edit","tool_use_id":"t9","tool_input":{"file_path":"/x"}`},
	{"post-tool-use-failure", `"tool_name":"Bash","tool_use_id":"t8","tool_input":{"command":"make"},"error":"exit 2"`},
	{"stop", `"last_assistant_message":"done","background_tasks":[]`},
	hire("t4", "developer"),
	agent("stop-failure", "a4", "developer", `,"error":"rate_limit"`),
	{"session-end", `"reason":"exit"`},
	{"session-start", `"source":"resume"`},
	{"post-tool-batch", `"tool_calls":[]`},
}

// sample are the steps that `make test` kills: a start, a completion, the end of a
// barrier, a hand-over and the prompt after it, a denial, a turn's end.
var sample = []int{1, 4, 9, 12, 14, 15, 17}

// world is a home and a project on disk.
type world struct {
	t       *testing.T
	program string
	dir     string
}

func (w world) env() []string {
	return []string{"HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "OVERTONE_QUIET=1"}
}

func (w world) input(s step) []byte {
	return []byte(`{"session_id":"s1","cwd":"` + filepath.Join(w.dir, "project") + `",` + s.in + `}`)
}

// call runs a step undisturbed and returns what it printed.
func (w world) call(s step) string {
	w.t.Helper()
	cmd := exec.Command(w.program, "hook", s.event, "--host", "claude-code")
	cmd.Env, cmd.Dir, cmd.Stdin = w.env(), w.dir, bytes.NewReader(w.input(s))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%s: %v: %s", s.event, err, stderr.String())
	}
	return stdout.String()
}

// hook runs a step and kills it, or lets a call fail.
func (w world) hook(s step, at target) ended {
	w.t.Helper()
	return w.disturbed(at, w.input(s), "hook", s.event, "--host", "claude-code")
}

// copyTo makes a copy of everything.
func (w world) copyTo(dir string) world {
	w.t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		w.t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		w.t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := os.Stat(filepath.Join(w.dir, strings.TrimPrefix(path, dir)))
		if err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime(), info.ModTime())
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return world{w.t, w.program, dir}
}

var (
	times = regexp.MustCompile(`"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"?|\d{8}-\d{6}-[0-9a-f]{8}|"startTime": ?\d+`)
	names = regexp.MustCompile(`"type":"([^"]+)".*?(?:"stage":"([^"]*)")?`)
)

// outcome is what counts in the end: the state, what agents read, the tasks, and
// which events there are.
func (w world) outcome() string {
	w.t.Helper()
	var b strings.Builder
	read := func(path string) string {
		data, err := os.ReadFile(filepath.Join(w.dir, path))
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return times.ReplaceAllString(string(data), "T")
	}
	fmt.Fprintf(&b, "state %s\ntasks %s\n", read(".overtone/sessions/s1/workflow.json"), read("project/specs/features/in-progress/f/tasks.md"))
	list, err := filepath.Glob(filepath.Join(w.dir, ".claude", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range list {
		if filepath.Ext(path) == ".tmp" {
			continue // an interrupted write, which the next one removes
		}
		rel, _ := filepath.Rel(w.dir, path)
		fmt.Fprintf(&b, "%s %s\n\x00", rel, read(rel))
	}
	var events []string
	for line := range strings.Lines(read(".overtone/sessions/s1/timeline.jsonl")) {
		m := names.FindStringSubmatch(line)
		if m == nil {
			continue // torn: it costs that line
		}
		stage := regexp.MustCompile(`"stage":"([^"]*)"`).FindStringSubmatch(line)
		if stage == nil {
			stage = []string{"", ""}
		}
		// Whether a text has arrived is another question, and what a decision
		// weighs is a memory that may be lost.
		if strings.HasPrefix(m[1], "packet:") || m[1] == "session:recovery-delivered" || m[1] == "compact:decision" || m[1] == "barrier:rebuilt" || strings.HasPrefix(m[1], "loop:") {
			continue
		}
		events = append(events, m[1]+" "+stage[1])
	}
	slices.Sort(events)
	fmt.Fprintf(&b, "events %s\n", strings.Join(events, "\n"))
	return b.String()
}

// print identifies what is on disk, times of files aside.
func (w world) print() string {
	w.t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %v\n", strings.TrimPrefix(path, w.dir), e.Type())
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h.Write(times.ReplaceAll(data, []byte("T")))
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "overtone-crash-*")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir, "../../cmd/overtone", "../eval/corpus")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "overtone"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program)) // a temporary folder
	}
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func start(t *testing.T, program string) world {
	t.Helper()
	w := world{t, program, filepath.Join(t.TempDir(), "w")}
	tasks := filepath.Join(w.dir, "project", "specs", "features", "in-progress", "f", "tasks.md")
	if err := os.MkdirAll(filepath.Dir(tasks), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tasks, []byte("- [ ] DEV\n- [ ] REVIEW\n- [ ] TEST\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// Killed before any system call of any hook, the story ends as if the call had
// happened, or as if it had not. In doubt the hand-over is not repeated, and no
// receipt claims what was not printed. `make test` takes a sample of the calls that
// change something, `make crash` all calls there are.
func TestKilledAnywhere(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	all := every > 0
	program := build(t)
	points, checked := 0, 0
	for i, s := range story {
		if !all && !slices.Contains(sample, i) {
			continue
		}
		t.Run(fmt.Sprintf("%02d %s", i, s.event), func(t *testing.T) {
			before := start(t, program)
			for _, e := range story[:i] {
				before.call(e)
			}
			scratch := filepath.Join(t.TempDir(), "w")
			// The project's path is part of the inputs, so every run has the same.
			run := func(skip bool) string {
				w := before.copyTo(scratch)
				if !skip {
					w.call(s)
				}
				for _, e := range story[i+1:] {
					w.call(e)
				}
				return w.outcome()
			}
			with, without := run(false), run(true)
			seen := map[string]bool{}
			stride := max(every, 1)
			if !all {
				stride = 9
			}
			for n := 1 + i%stride; ; n += stride {
				w := before.copyTo(scratch)
				end := w.hook(s, target{n: n, every: all})
				if end.status.Exited() && end.status.ExitStatus() != 0 {
					t.Fatalf("%s ends with %d", s.event, end.status.ExitStatus())
				}
				points++
				id := w.print()
				if !seen[id] {
					seen[id] = true
					checked++
					told := 0
					for _, e := range story[i+1:] {
						told += strings.Count(w.call(e), "<overtone-packet")
					}
					if got := w.outcome(); got != with && got != without {
						t.Errorf("killed before %s (%d) it ends otherwise:\n%s", end.last, n, diff(with, without, got))
					}
					if told > 1 {
						t.Errorf("killed before %s (%d): handed over %d times", end.last, n, told)
					}
				}
				if !end.status.Signaled() || !all && n > 2*stride {
					break
				}
			}
		})
	}
	t.Logf("%d points, %d different states", points, checked)
}

// diff shows the lines that neither of the two has.
func diff(with, without, got string) string {
	var b strings.Builder
	count := func(s string) map[string]int {
		m := map[string]int{}
		for line := range strings.Lines(s) {
			m[line]++
		}
		return m
	}
	a, o, g := count(with), count(without), count(got)
	for line, n := range g {
		if n != a[line] || n != o[line] {
			fmt.Fprintf(&b, "%d (with %d, without %d) %s", n, a[line], o[line], line)
		}
	}
	for line, n := range a {
		if g[line] == 0 {
			fmt.Fprintf(&b, "0 (with %d, without %d) %s", n, o[line], line)
		}
	}
	return b.String()
}
