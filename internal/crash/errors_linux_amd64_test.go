package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// fault runs a step in which one system call fails.
func (w world) fault(s step, at target) (last, stdout, stderr string, status syscall.WaitStatus) {
	w.t.Helper()
	scratch := w.t.TempDir()
	in := filepath.Join(scratch, "in")
	if err := os.WriteFile(in, w.input(s), 0o600); err != nil {
		w.t.Fatal(err)
	}
	var files []*os.File
	for i, name := range []string{in, filepath.Join(scratch, "out"), filepath.Join(scratch, "err")} {
		flag := os.O_RDWR | os.O_CREATE
		if i == 0 {
			flag = os.O_RDONLY
		}
		f, err := os.OpenFile(name, flag, 0o600)
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	_, last, status, err := trace(w.program, []string{"hook", s.event, "--host", "claude-code"}, &os.ProcAttr{Dir: w.dir, Env: w.env(), Files: files}, at)
	if err != nil {
		w.t.Skip("no tracing here: ", err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(scratch, name))
		if err != nil {
			w.t.Fatal(err)
		}
		return string(data)
	}
	return last, read("out"), read("err"), status
}

// Whatever call of whatever hook fails, the hook ends with 0 and with output that
// its host understands; and what then is not as it should be, said or on disk, is
// told in a line on stderr. `make test` takes a sample.
func TestErrorsAreTold(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	all := every > 0
	program := build(t)
	points, told, silent := 0, 0, 0
	for i, s := range story {
		if !all && i != 4 && i != 10 {
			continue
		}
		t.Run(fmt.Sprintf("%02d %s", i, s.event), func(t *testing.T) {
			before := start(t, program)
			for _, e := range story[:i] {
				before.call(e)
			}
			scratch := filepath.Join(t.TempDir(), "w")
			w := before.copyTo(scratch)
			says := times.ReplaceAllString(w.call(s), "T")
			for _, e := range story[i+1:] {
				w.call(e)
			}
			want := w.outcome()
			errnos := []syscall.Errno{syscall.EIO, syscall.ENOSPC}
			stride := max(every, 1)
			if !all {
				errnos, stride = errnos[i%2:][:1], 13
			}
			ends := map[string]string{} // how the story ends from a state on disk
			for _, errno := range errnos {
				for n := 1 + i%stride; ; n += stride {
					w := before.copyTo(scratch)
					last, stdout, stderr, status := w.fault(s, target{n: n, fails: errno})
					if last == "" {
						break
					}
					points++
					at := fmt.Sprintf("%s fails with %v (%d)", last, errno, n)
					if !status.Exited() || status.ExitStatus() != 0 {
						t.Errorf("%s: ends with %v: %s", at, status, stderr)
						continue
					}
					if stdout != "" && !json.Valid([]byte(stdout)) {
						t.Errorf("%s: prints %q", at, stdout)
					}
					if strings.Contains(stderr, "panic") {
						t.Errorf("%s: %s", at, stderr)
					}
					if stderr != "" {
						told++
						continue
					}
					id := w.print()
					if _, ok := ends[id]; !ok {
						for _, e := range story[i+1:] {
							w.call(e)
						}
						ends[id] = w.outcome()
					}
					toStdout := slices.Contains([]string{"write(1)", "write(2)"}, last)
					if got := ends[id]; got != want || !toStdout && times.ReplaceAllString(stdout, "T") != says {
						silent++
						t.Errorf("%s, and nobody is told; it says %q instead of %q, and ends otherwise:\n%s", at, stdout, says, diff(want, want, got))
					}
				}
			}
		})
	}
	t.Logf("%d errors, %d told, %d told to nobody", points, told, silent)
}
