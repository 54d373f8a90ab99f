package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// onPty runs the program on a terminal of 80 columns and so many rows, until it ends.
// answer is typed when something has been printed.
func onPty(t *testing.T, rows uint16, answer string, env []string, args ...string) (screen string, code int) {
	t.Helper()
	return programOnPty(t, overtone(), rows, answer, env, args...)
}

func programOnPty(t *testing.T, program string, rows uint16, answer string, env []string, args ...string) (screen string, code int) {
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
	cmd := exec.Command(program, args...)
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
	rows := []terminalRow{
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
		{"config get", "compact.mode"},
		{"config set", "compact.mode suggest"},
		{"demo", ""},
		{"doctor", ""},
		{"export", old},
		{"help", "audit"},
		{"init", "--host claude-code --dry-run"},
		{"sessions rm", "nope"},
		{"status", ""},
		{"timeline", "--session demo"},
		{"uninstall", "--dry-run"},
		{"version", ""},
		{"workflow list", ""},
		{"workflow show", "full"},
		{"workflow start", "quick --session t1"},
		{"workflow status", "--session t1"},
		{"workflow skip", "DOCS --session t1"},
		{"workflow restart", "DEV --session t1"},
		{"workflow resume", "--session t1"},
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
			for path, screen := range everyCommand(t, overtone(), env, rows) {
				if drawn := strings.Contains(screen, "█]"); progress[path] && !drawn {
					t.Errorf("overtone %s shows no progress:\n%s", path, screen)
				}
			}
		})
	}
}

// terminalRow is a command and what is typed behind it.
type terminalRow struct{ path, args string }

// everyCommand runs each command of a program on a terminal, and returns what it shows. A
// command of the program's help that no row runs is an error.
func everyCommand(t *testing.T, program string, env []string, rows []terminalRow) map[string]string {
	t.Helper()
	screens := map[string]string{}
	for _, row := range rows {
		screen, code := programOnPty(t, program, 24, "", env, append(strings.Fields(row.path), strings.Fields(row.args)...)...)
		screens[row.path] = screen
		if code < 0 || code > 2 || screen == "" || strings.Contains(screen, "%!") || strings.Contains(screen, "panic") {
			t.Errorf("%s %s: exit %d\n%s", filepath.Base(program), row.path, code, screen)
		}
	}
	var walk func(path []string)
	walk = func(path []string) {
		screen, _ := programOnPty(t, program, 24, "", append(env, "COLUMNS=400", "NO_COLOR=1"), append(path, "--help")...)
		_, list, more := strings.Cut(strings.Replace(screen, "指令：\n", "Commands:\n", 1), "\nCommands:\n")
		if !more {
			if name := strings.Join(path, " "); screens[name] == "" {
				t.Errorf("no row runs %s %s", filepath.Base(program), name)
			}
			return
		}
		for line := range strings.Lines(strings.Split(list, "\n\n")[0]) {
			walk(append(path[:len(path):len(path)], strings.Fields(line)[0]))
		}
	}
	walk(nil)
	return screens
}

// So does every command of overtone-team, on the machine that runs the hub. What people
// read there fits the terminal.
func TestEveryTeamCommandOnATerminal(t *testing.T) {
	t.Parallel()
	// Built as tests are, so that its libraries are compiled once.
	program := filepath.Join(t.TempDir(), "overtone-team")
	if text, err := exec.Command("go", "build", "-C", "../../team", "-o", program, "./cmd/overtone-team").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	const session = "0de30000-0000-4000-8000-000000000002"
	for _, lang := range []string{"en_US.UTF-8", "zh_TW.UTF-8"} {
		t.Run(lang, func(t *testing.T) {
			home, other := demoHome(t), t.TempDir()
			env := []string{"HOME=" + home, "LANG=" + lang, "PAGER=cat", "GIT_CONFIG_NOSYSTEM=1"}
			startHub(t, program, env)
			invitation := filepath.Join(other, "laptop.json")
			screens := everyCommand(t, program, env, []terminalRow{
				{"invite", "laptop --out " + invitation},
				{"share", filepath.Join(home, "project")},
				{"ship", "--install --dry-run"},
				{"ship", "--once"},
				{"timeline", ""},
				{"fleet", ""},
				{"handoff push", session},
				{"recall", "importer"},
				{"handoff pull", session},
				{"doctor", ""},
				{"up", "--listen nowhere"},
				{"help", "ship"},
				{"join", "--force " + invitation},
			})
			for _, path := range []string{"invite", "share", "ship", "timeline", "fleet", "handoff push", "recall", "handoff pull", "join"} {
				if strings.Contains(screens[path], "overtone-team: ") {
					t.Errorf("overtone-team %s fails:\n%s", path, screens[path])
				}
			}
			for _, args := range []string{"", "up", "invite", "join", "share", "ship", "handoff", "handoff push", "handoff pull", "timeline", "fleet", "recall", "doctor"} {
				screen, _ := programOnPty(t, program, 24, "", env, append(strings.Fields(args), "--help")...)
				for line := range strings.Lines(screen) {
					if terminal.Columns(strings.TrimSuffix(line, "\n")) > 80 {
						t.Errorf("overtone-team %s --help: %q is wider than the terminal", args, line)
					}
				}
			}
		})
	}
}

// startHub runs a hub until the test ends.
func startHub(t *testing.T, program string, env []string) {
	t.Helper()
	addr := ""
	for addr == "" {
		// Below what systems give to connections, so that nobody takes it meanwhile.
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10000+rand.IntN(20000))); err == nil {
			addr = l.Addr().String()
			l.Close()
		}
	}
	cmd := exec.Command(program, "up", "--json", "--listen", addr, "--machine", "hub")
	cmd.Env, cmd.Dir = env, t.TempDir()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	var up struct{ URL string }
	if err := json.NewDecoder(out).Decode(&up); err != nil || !strings.Contains(up.URL, addr) {
		t.Fatalf("hub: %q %v\n%s", up.URL, err, &errs)
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
	// less is told what our texts are written in; whoever has told it is not overruled.
	for set, want := range map[string]string{"LANG=C": "utf-8", "LESSCHARSET=latin1": "latin1"} {
		screen, _ := onPty(t, 10, "", []string{"HOME=" + home, "LANG=C", "PAGER=env", set}, "workflow", "list", "--all")
		if !strings.Contains(screen, "LESSCHARSET="+want+"\n") || strings.Count(screen, "LESSCHARSET") != 1 {
			t.Errorf("%s:\n%s", set, screen)
		}
	}
}

// How many more there are is said below the list, though the list waits for a pager.
func TestNotesComeAfterTheList(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-w")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"} {
		line := `{"type":"user","uuid":"a","sessionId":"` + id + `","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hello"}}`
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	screen, code := onPty(t, 24, "", []string{"HOME=" + home, "LANG=C"}, "sessions", "-n", "1")
	if code != 0 || !strings.Contains(screen, "hello") || !strings.HasSuffix(screen, "1 more; overtone sessions -n 2 lists all\n") {
		t.Errorf("exit %d\n%s", code, screen)
	}
}

// Ctrl-C is 130, as everywhere, and said in a word.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	screen, code := onPty(t, 24, "\x03", []string{"HOME=" + home, "LANG=C", "NO_COLOR=1"}, "init", "--host", "claude-code")
	if code != 130 || !strings.HasSuffix(screen, "overtone: interrupted\n") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if list, _ := filepath.Glob(filepath.Join(home, ".claude", "*")); len(list) > 0 {
		t.Errorf("written: %q", list)
	}
}
