package crash

import (
	"bytes"
	"encoding/json"
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
	"syscall"
	"testing"
	"time"
)

const shrunk = "11111111-aaaa-4bbb-8ccc-000000000001"

// shelf is a world with a session to compress.
func shelf(t *testing.T) world {
	t.Helper()
	w := world{t, build(t), filepath.Join(t.TempDir(), "w")}
	var b strings.Builder
	parent := "null"
	for n := range 8 {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		typ, message := "user", `{"role":"user","content":"Please make the parser refuse empty keys in file `+strconv.Itoa(n)+`, and never push to main. It was quite pleasant for everybody around, as far as I know."}`
		if n%2 == 1 {
			typ, message = "assistant", `{"id":"m`+strconv.Itoa(n)+`","role":"assistant","model":"claude-x","content":[{"type":"text","text":"We decided to keep version `+strconv.Itoa(n)+
				` because users still have it. Looking at this from several sides was quite pleasant for everybody around. Nothing else is worth a word."}],"usage":{"input_tokens":10,"output_tokens":5}}`
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":%q,"sessionId":%q,"version":"2.1.197"}`+"\n", parent, typ, message, id, n, w.dir, shrunk)
		parent = `"` + id + `"`
	}
	if err := os.MkdirAll(w.projects(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.projects(), shrunk+".jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w world) projects() string { return filepath.Join(w.dir, ".claude", "projects", "-w") }

var compression = []string{"compress", shrunk, "--bands", "0-100:heavy-compress", "--json"}

// run runs a command undisturbed.
func (w world) run(args ...string) (stdout, stderr string, err error) {
	w.t.Helper()
	cmd := exec.Command(w.program, args...)
	cmd.Env, cmd.Dir = w.env(), w.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// ended is how a disturbed command ended.
type ended struct {
	calls                int    // that could have been disturbed
	last, stdout, stderr string // last is the call that was not made
	status               syscall.WaitStatus
}

// disturbed runs a command and kills it, or lets a call fail.
func (w world) disturbed(at target, in []byte, args ...string) (e ended) {
	w.t.Helper()
	scratch := w.t.TempDir()
	if err := os.WriteFile(filepath.Join(scratch, "in"), in, 0o600); err != nil {
		w.t.Fatal(err)
	}
	var files []*os.File
	for _, name := range []string{"in", "out", "err"} {
		f, err := os.OpenFile(filepath.Join(scratch, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	var err error
	e.calls, e.last, e.status, err = trace(w.program, args, &os.ProcAttr{Dir: w.dir, Env: w.env(), Files: files}, at)
	if errors.Is(err, syscall.EPERM) {
		w.t.Skip("no tracing here: ", err)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for name, to := range map[string]*string{"out": &e.stdout, "err": &e.stderr} {
		data, err := os.ReadFile(filepath.Join(scratch, name))
		if err != nil {
			w.t.Fatal(err)
		}
		*to = string(data)
	}
	return e
}

// left lists the files below a folder of the world.
func (w world) left(dir string) (names []string) {
	w.t.Helper()
	err := filepath.WalkDir(filepath.Join(w.dir, dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		names = append(names, e.Name())
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return names
}

var created = regexp.MustCompile(`"created":"[^"]*"`)

// later makes everything two hours older.
func (w world) later() {
	w.t.Helper()
	then := time.Now().Add(-2 * time.Hour)
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if filepath.Base(filepath.Dir(path)) == "clones" {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, created.ReplaceAll(b, []byte(`"created":"`+then.UTC().Format(time.RFC3339)+`"`)), 0o600); err != nil {
				return err
			}
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// clones are the sessions beside the source.
func (w world) clones() (ids []string) {
	for _, name := range w.left(".claude/projects") {
		if id, ok := strings.CutSuffix(name, ".jsonl"); ok && id != shrunk && !strings.HasPrefix(name, ".") {
			ids = append(ids, id)
		}
	}
	return ids
}

// usable checks that each clone is known as one and can be removed, that the source
// is as it was, and that a later run finds its way and leaves nothing of the first.
func (w world) usable(at string, source []byte) {
	w.t.Helper()
	for _, id := range w.clones() {
		list, errs, err := w.run("sessions", "--json")
		if err != nil || !strings.Contains(list, `"cloneOf":"`+shrunk+`"`) && !strings.Contains(list, `"cloneOf": "`+shrunk+`"`) {
			w.t.Errorf("%s: the clone is listed as a session: %v %s %s", at, err, list, errs)
		}
		if _, errs, err := w.run("sessions", "rm", id, "--yes"); err != nil {
			w.t.Errorf("%s: the clone cannot be removed: %s", at, errs)
		}
	}
	w.later()
	out, errs, err := w.run(compression...)
	if err != nil {
		w.t.Errorf("%s: no later run: %s", at, errs)
		return
	}
	var doc struct{ Result struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		w.t.Fatal(err)
	}
	if _, errs, err := w.run("sessions", "rm", doc.Result.ID, "--yes"); err != nil {
		w.t.Errorf("%s: %s", at, errs)
	}
	if got, err := os.ReadFile(filepath.Join(w.projects(), shrunk+".jsonl")); err != nil || !bytes.Equal(got, source) {
		w.t.Errorf("%s: the source is changed: %v", at, err)
	}
	for _, dir := range []string{".claude/projects", ".overtone/compress", ".overtone/clones"} {
		if names := slices.DeleteFunc(w.left(dir), func(n string) bool { return n == shrunk+".jsonl" }); len(names) > 0 {
			w.t.Errorf("%s: %s holds %q", at, dir, names)
		}
	}
}

// Killed before any call that changes something, a compression leaves the source as
// it is and no clone that would be taken for a session of its own.
func TestCompressKilledAnywhere(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	before := shelf(t)
	source, err := os.ReadFile(filepath.Join(before.projects(), shrunk+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	scratch, named, points := filepath.Join(t.TempDir(), "w"), 0, 0
	stride := max(every, 1)
	if every == 0 {
		stride = 6
	}
	for n := min(stride, 4); ; n += stride {
		w := before.copyTo(scratch)
		end := w.disturbed(target{n: n}, nil, compression...)
		if !end.status.Signaled() {
			if end.status.ExitStatus() != 0 || len(w.clones()) != 1 {
				t.Errorf("undisturbed it ends with %d: %s", end.status.ExitStatus(), end.stderr)
			}
			break
		}
		points++
		if len(w.clones()) > 0 {
			named++
		}
		w.usable(fmt.Sprintf("killed before %s (%d)", end.last, n), source)
	}
	if t.Logf("%d points, %d of them with a clone", points, named); every == 1 && named == 0 {
		t.Error("the clone was never there")
	}
}

// Whatever call fails, there is a clone and it is known, or none and an error says
// so, with a hint where the disk is to blame.
func TestCompressErrorsAreTold(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	before := shelf(t)
	source, err := os.ReadFile(filepath.Join(before.projects(), shrunk+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(t.TempDir(), "w")
	errnos, stride := []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO}, max(every, 1)
	if every == 0 {
		errnos, stride = errnos[:1], 17
	}
	points, told := 0, 0
	for _, errno := range errnos {
		for n := 1; ; n += stride {
			w := before.copyTo(scratch)
			end := w.disturbed(target{n: n, fails: errno}, nil, compression...)
			last, stdout, stderr, status := end.last, end.stdout, end.stderr, end.status
			if last == "" {
				break
			}
			points++
			at := fmt.Sprintf("%s fails with %v (%d)", last, errno, n)
			if strings.Contains(stderr, "panic") || !status.Exited() {
				t.Errorf("%s: %v %s", at, status, stderr)
				continue
			}
			if status.ExitStatus() == 0 {
				if len(w.clones()) != 1 || !json.Valid([]byte(stdout)) {
					t.Errorf("%s, and it says it is done: %v %s %s", at, w.clones(), stdout, stderr)
				}
			} else {
				told++
				if stderr == "" || errno != syscall.EIO && strings.Contains(stderr, errno.Error()) && !strings.Contains(stderr, "hint: ") {
					t.Errorf("%s: %q", at, stderr)
				}
				// Of a clone whose report could not be printed there is nothing to undo.
				if len(w.clones()) > 0 && !strings.HasPrefix(last, "write(1)") {
					t.Errorf("%s: it says it failed, and left %v: %s", at, w.clones(), stderr)
				}
			}
			w.usable(at, source)
		}
	}
	t.Logf("%d errors, %d told", points, told)
}

// Whatever call of a search fails while a session has grown, it answers, if need be
// from what was known before, or an error says why not; and the next one finds all.
func TestRecallErrorsAreTold(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	before := shelf(t)
	if _, errs, err := before.run("recall", "pleasant"); err != nil {
		t.Fatal(errs)
	}
	f, err := os.OpenFile(filepath.Join(before.projects(), shrunk+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"parentUuid":null,"type":"user","message":{"role":"user","content":"It is pleasant to know a zebra."},"uuid":"99999999-0000-4000-8000-000000000000","timestamp":"2026-01-01T00:01:00.000Z","sessionId":"` + shrunk + `"}` + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(t.TempDir(), "w")
	errnos, stride := []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO}, max(every, 1)
	if every == 0 {
		errnos, stride = errnos[:1], 29
	}
	points, told, behind := 0, 0, 0
	for _, errno := range errnos {
		for n := 1; ; n += stride {
			w := before.copyTo(scratch)
			end := w.disturbed(target{n: n, fails: errno}, nil, "recall", "pleasant")
			last, stdout, stderr, status := end.last, end.stdout, end.stderr, end.status
			if last == "" {
				break
			}
			points++
			at := fmt.Sprintf("%s fails with %v (%d)", last, errno, n)
			switch {
			case strings.Contains(stderr, "panic") || !status.Exited():
				t.Errorf("%s: %v %s", at, status, stderr)
			case status.ExitStatus() == 0 && strings.Contains(stderr, "brought up to date"):
				behind++
				fallthrough
			case status.ExitStatus() == 0:
				if !strings.Contains(stdout, shrunk) {
					t.Errorf("%s: nothing found: %s %s", at, stdout, stderr)
				}
			default:
				told++
				if stderr == "" || errno != syscall.EIO && last != "write(1)" && strings.Contains(stderr, errno.Error()) && !strings.Contains(stderr, "hint: ") {
					t.Errorf("%s: %q", at, stderr)
				}
			}
			if out, errs, err := w.run("recall", "zebra"); err != nil || !strings.Contains(out, "99999999") {
				t.Errorf("%s: then: %v %s %s", at, err, out, errs)
			}
		}
	}
	t.Logf("%d errors, %d told, %d answered from before", points, told, behind)
}
