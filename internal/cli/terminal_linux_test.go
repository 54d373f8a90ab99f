package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onPty runs the program on a terminal of 80 columns and so many rows, until it ends.
// answer is typed when something has been printed.
func onPty(t *testing.T, rows uint16, answer string, env []string, args ...string) (screen string, code int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal can be made: ", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(overtone(), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.Env, cmd.Dir = append([]string{"TERM=xterm", "PATH=" + os.Getenv("PATH"), "GORACE=" + quickRace}, env...), t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var out bytes.Buffer
	for buf := make([]byte, 4096); ; {
		n, err := master.Read(buf)
		if out.Write(buf[:n]); n > 0 && answer != "" {
			_, _ = master.WriteString(answer)
			answer = ""
		}
		if err != nil { // the other end is closed
			break
		}
	}
	_ = cmd.Wait() // the exit code tells
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// demoHome is a home with a session that went through a workflow, and one to compress.
func demoHome(t *testing.T) string {
	t.Helper()
	tmp := t.TempDir()
	cmd := exec.Command(overtone(), "demo", "--keep", "--json")
	cmd.Env = []string{"HOME=" + tmp, "TMPDIR=" + tmp, "LANG=C", "GORACE=" + quickRace}
	out, err := cmd.Output()
	var demo struct{ Home string }
	if err != nil || json.Unmarshal(out, &demo) != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	return demo.Home
}

// Every command runs on a terminal, in both languages: it ends, its words are complete,
// and where it takes long it shows how far it is. The clock runs fast, so that everything
// takes long.
func TestEveryCommandOnATerminal(t *testing.T) {
	t.Parallel()
	const old = "0de30000-0000-4000-8000-000000000002"
	// In this order: the first that reads the sessions has something to do.
	rows := []struct{ path, args string }{
		{"audit", ""},
		{"sessions", ""},
		{"compress", old + " --preset heavy"},
		{"recall", "importer"},
		{"continue", old + " --dry-run"},
		{"cleanup", "--dry-run"},
		{"compact explain", "--session demo"},
		{"compact packet", "--session " + old},
		{"completion", "bash"},
		{"config", ""},
		{"demo", ""},
		{"doctor", ""},
		{"help", "audit"},
		{"init", "--dry-run"},
		{"sessions rm", "nope"},
		{"timeline", "--session demo"},
		{"uninstall", "--dry-run"},
		{"version", ""},
		{"workflow list", ""},
		{"workflow show", "full"},
		{"workflow start", "quick --session t1"},
		{"workflow status", "--session t1"},
		{"workflow skip", "DOCS --session t1"},
		{"workflow restart", "DEV --session t1"},
		{"workflow run", "DEV --session t1"},
		{"workflow cancel", "--session t1"},
		{"workflow check", "quick"},
		{"workflow new", "mine --stages DEV,REVIEW+TEST"},
		{"workflow trust", "quick"},
		// They go on until they are stopped, or speak with a program.
		{"dashboard", "--help"},
		{"mcp", "--help"},
		{"watch codex", "--help"},
		{"watch claude", "--help"},
		{"watch opencode", "--help"},
	}
	progress := map[string]bool{"audit": true, "sessions": true, "compress": true}
	for _, lang := range []string{"en_US.UTF-8", "zh_TW.UTF-8"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			env := []string{"HOME=" + demoHome(t), "LANG=" + lang, "TICK=1", "PAGER=cat"}
			known := map[string]bool{}
			for _, row := range rows {
				known[row.path] = true
				screen, code := onPty(t, 24, "", env, append(strings.Fields(row.path), strings.Fields(row.args)...)...)
				if code < 0 || code > 2 || screen == "" || strings.Contains(screen, "%!") || strings.Contains(screen, "panic") {
					t.Errorf("overtone %s: exit %d\n%s", row.path, code, screen)
				}
				if drawn := strings.Contains(screen, "█]"); progress[row.path] && !drawn {
					t.Errorf("overtone %s shows no progress:\n%s", row.path, screen)
				}
			}
			var walk func(path []string)
			walk = func(path []string) {
				screen, _ := onPty(t, 24, "", append(env, "COLUMNS=400", "NO_COLOR=1"), append(path, "--help")...)
				_, list, more := strings.Cut(strings.Replace(screen, "指令：\n", "Commands:\n", 1), "\nCommands:\n")
				if !more {
					if name := strings.Join(path, " "); !known[name] {
						t.Errorf("no row runs overtone %s", name)
					}
					return
				}
				for line := range strings.Lines(strings.Split(list, "\n\n")[0]) {
					walk(append(path[:len(path):len(path)], strings.Fields(line)[0]))
				}
			}
			walk(nil)
		})
	}
}

// What is longer than the screen is read in the user's pager, and what is not, or is not
// wanted there, is printed.
func TestPager(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, row := range []struct {
		rows uint16
		args string
		env  string
		want bool
	}{
		{10, "workflow list --all", "", true},
		{60, "workflow list --all", "", false},
		{10, "workflow list --all --no-pager", "", false},
		{10, "workflow list --all --json", "", false},
		{10, "workflow list --all", "PAGER=cat", false},
		{10, "workflow list --all", "PAGER=", false},
		{10, "workflow list --all", "TERM=dumb", false},
		{10, "workflow list --all", "PAGER=no-such-pager", false},
	} {
		env := []string{"HOME=" + home, "LANG=C", "PAGER=sed s/^/paged/"}
		if row.env != "" {
			env = []string{"HOME=" + home, "LANG=C", row.env}
		}
		screen, code := onPty(t, row.rows, "", env, strings.Fields(row.args)...)
		if paged := strings.HasPrefix(screen, "paged"); code != 0 || paged != row.want || !strings.Contains(screen, "standard") {
			t.Errorf("%+v: exit %d, paged %v\n%s", row, code, paged, screen)
		}
	}
}

// Ctrl-C is 130, as everywhere, and said in a word.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	screen, code := onPty(t, 24, "\x03", []string{"HOME=" + home, "LANG=C", "NO_COLOR=1"}, "init")
	if code != 130 || !strings.HasSuffix(screen, "overtone: interrupted\n") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if list, _ := filepath.Glob(filepath.Join(home, ".claude", "*")); len(list) > 0 {
		t.Errorf("written: %q", list)
	}
}
