package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Session files that an audit cannot read are named on the screen and on its page, and
// the others are audited; where none can be read, that is an error.
func TestAuditNamesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(home, ".claude", "projects", filepath.FromSlash(name)+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	line := func(id string) string {
		return `{"type":"user","uuid":"u1","sessionId":"` + id + `","cwd":"/w","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"go"}}` + "\n"
	}
	const good, closed, garbage, inside = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002", "33333333-0000-4000-8000-000000000003", "44444444-0000-4000-8000-000000000004"
	whole := write("-w/"+good, line(good), 0o600)
	write("-w/"+closed, line(closed), 0)
	write("-w/"+garbage, "\x1f\x8b\x08\x00\x00 half of an archive\n{\"type\":", 0o600)
	folder := filepath.Dir(write("-closed/"+inside, line(inside), 0o600))
	if err := os.Chmod(folder, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })

	audit := func(args ...string) (stdout, stderr string, code int) {
		cmd := exec.Command(overtone(), append([]string{"audit"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "LANG=C", "GORACE=" + quickRace}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if !asAnybody(func() { _ = cmd.Run() }) { // the exit code tells
			t.Skip("this system lets root read everything")
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	page := filepath.Join(home, "page.html")
	out, errs, code := audit("--html", page)
	if code != 3 || !strings.HasPrefix(out, "sessions 1 · files 1 ") {
		t.Errorf("exit %d: %.200s", code, out)
	}
	exported, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{closed, garbage} {
		if !strings.Contains(errs, "could not be read: ~/.claude/projects/-w/"+id+".jsonl\n") || !bytes.Contains(exported, []byte(id)) {
			t.Errorf("%s is not named: %s", id, errs)
		}
	}
	if !strings.Contains(errs, filepath.Base(folder)) {
		t.Errorf("the closed folder is not named: %s", errs)
	}
	if err := os.Remove(whole); err != nil {
		t.Fatal(err)
	}
	out, errs, code = audit()
	if code != 1 || out != "" || !strings.Contains(errs, "none of the 2 session files could be read") || !strings.Contains(errs, "\nhint: ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// asAnybody starts programs to which root's eyes are closed: they read what the mode of
// a file allows. It is false where that cannot be had.
func asAnybody(start func()) (ok bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with this function
		for _, right := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			if os.Geteuid() == 0 && unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0) != nil {
				return
			}
		}
		ok = true
		start()
	}()
	<-done
	return ok
}
