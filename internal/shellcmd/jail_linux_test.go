package shellcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// jail is a process that runs lines where a guard that fails does no harm. It is this
// test's own program, started again: first under a user id without rights, then in
// namespaces of its own (users, mounts, network, processes, host name), where all that
// was mounted is read-only and one file system in memory is the only place to write
// to; what it starts has no capabilities even there. Where namespaces cannot be made
// there is only the user id, and only programs that read are on its PATH.
type jail struct {
	t       *testing.T
	weak    bool // there are no namespaces
	cut     int  // how many lines had to be ended
	orders  *json.Encoder
	answers *json.Decoder
}

// order is a line for the jail to run, in each of these shells.
type order struct {
	Line   string
	Shells []string
	Output bool // is asked for
	// Patient lets it run for longer than a second: it is meant to end by itself.
	Patient bool
}

// answer is what became of a line. Trace is what it left behind, "" if nothing. Exit is
// the first that is not 0, or -1 where it had to be ended.
type answer struct {
	Trace, Output string
	Exit          int
}

// nobody is a user without rights on every Linux.
const nobody = 65534

// shells are those that run a line.
func shells(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	list := []string{"bash --norc --noprofile -c"}
	switch _, err := exec.LookPath("zsh"); {
	case err == nil:
		list = append(list, "zsh -f -c")
	case whole():
		t.Fatal("zsh is not installed: the whole run compares with bash and with zsh (Debian: apt-get install zsh)")
	default:
		t.Log("zsh is not installed: lines are run by bash only")
	}
	return list
}

// whole says that not a sample is asked for but the whole run, which leaves nothing out.
func whole() bool { return os.Getenv("OVERTONE_FUZZ_LINES") != "" }

// newJail starts a jail, and proves that it holds. Behind the jail's own programs those
// of path are found.
func newJail(t *testing.T, path string) *jail {
	t.Helper()
	j, err := startJail(t, "outer", path)
	if err != nil && os.Getuid() == 0 && path == "" {
		t.Logf("no namespaces here (%v): lines are run by a user without rights, with reading programs only", err)
		if j, err = startJail(t, "inner", ""); err == nil {
			j.weak = true
		}
	}
	switch {
	case err != nil && whole():
		t.Fatalf("no namespaces here: %v", err)
	case err != nil:
		t.Skipf("no namespaces here, what runs would run on this machine: %v", err)
	}
	j.prove()
	return j
}

func startJail(t *testing.T, stage, path string) (*jail, error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir, cmd.Env = "/", []string{jailStage + "=" + stage, jailPath + "=" + path, "PATH=" + os.Getenv("PATH")}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	j := &jail{t: t, orders: json.NewEncoder(in), answers: json.NewDecoder(out)}
	if err := j.answers.Decode(&answer{}); err != nil {
		_ = cmd.Wait()
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return j, nil
}

func (j *jail) ask(o order) (a answer) {
	if err := j.orders.Encode(o); err != nil {
		j.t.Errorf("the jail is gone: %v", err)
	} else if err := j.answers.Decode(&a); err != nil {
		j.t.Errorf("the jail is gone after %q: %v", o.Line, err)
	}
	return a
}

// run runs a line in all shells and tells what it left behind, and in which of them.
func (j *jail) run(line string, shells []string) string {
	a := j.ask(order{Line: line, Shells: shells})
	j.cut += count(a.Exit < 0, 1)
	if a.Trace == "" || len(shells) == 1 {
		return a.Trace
	}
	for _, shell := range shells {
		if trace := j.ask(order{Line: line, Shells: []string{shell}}).Trace; trace != "" {
			return strings.Fields(shell)[0] + ": " + trace
		}
	}
	return a.Trace
}

// prove runs canaries: lines that try to get out of the jail must fail, and lines that
// write inside it must be seen.
func (j *jail) prove() {
	j.t.Helper()
	here, err := os.Getwd()
	if err != nil {
		j.t.Fatal(err)
	}
	places := []string{here}
	if !j.weak {
		places = append(places, "/var/tmp", "/dev/shm") // where everybody may write
	}
	name := "canary-" + strconv.Itoa(os.Getpid())
	escapes := []string{fmt.Sprintf("date -s @%d", time.Now().Unix())}
	for _, place := range places {
		escapes = append(escapes, "echo x > "+quote(filepath.Join(place, name)))
		j.t.Cleanup(func() { _ = os.Remove(filepath.Join(place, name)) })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		j.t.Fatal(err)
	}
	defer listener.Close()
	if !j.weak {
		escapes = append(escapes, fmt.Sprintf("echo x > /dev/tcp/127.0.0.1/%d", listener.Addr().(*net.TCPAddr).Port))
	}
	for _, shell := range shells(j.t) {
		ask := func(line string) answer {
			return j.ask(order{Line: line, Shells: []string{shell}, Output: true, Patient: true})
		}
		for _, line := range escapes {
			if a := ask(line); a.Exit == 0 {
				j.t.Fatalf("the jail does not hold: %s: %s", line, a.Output)
			}
		}
		for _, line := range []string{"touch p", "echo x > pwn", "echo x >> f", ": > sub/k; exit 1", "echo x > ../tmp/y", "echo x > pwn & wait"} {
			if a := ask(line); a.Trace == "" {
				j.t.Fatalf("the jail does not see what happens in it: %s: %s", line, a.Output)
			}
		}
		if a := ask("ls; git status > /dev/null && cat f g"); a.Trace != "" || a.Exit != 0 {
			j.t.Fatalf("the jail sees what does not happen: %+v", a)
		}
	}
	for _, place := range places {
		if _, err := os.Lstat(filepath.Join(place, name)); err == nil {
			j.t.Fatalf("the jail does not hold: %s was written to", place)
		}
	}
}

const jailStage, jailPath = "OVERTONE_JAIL", "OVERTONE_JAIL_PATH"

// jailed is the jail's side. It returns where there is no jail.
func jailed() {
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	switch os.Getenv(jailStage) {
	case "outer":
		cmd := exec.Command("/proc/self/exe")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), jailStage+"=inner")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Pdeathsig:   syscall.SIGKILL,
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		must(cmd.Run())
	case "inner":
		dir := "/tmp/jail"
		if os.Getpid() == 1 {
			runtime.LockOSThread() // capabilities are a thread's, and this one starts the lines
			must(closeDoors())
			must(os.Mkdir(dir, 0o700))
		} else {
			var err error
			dir, err = os.MkdirTemp("", "jail-")
			must(err)
		}
		b := &sandbox{root: filepath.Join(dir, "root"), log: filepath.Join(dir, "log"), path: os.Getenv(jailPath)}
		must(b.build())
		orders, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
		must(answers.Encode(answer{}))
		for o := (order{}); orders.Decode(&o) == nil; o = (order{}) {
			a, err := b.run(o)
			must(err)
			must(answers.Encode(a))
		}
		_ = os.RemoveAll(dir)
	default:
		return
	}
	os.Exit(0)
}

// closeDoors makes all that is mounted read-only, but for a new /tmp, and gives up all
// rights for what is started from here.
func closeDoors() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("read-only mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=256m,mode=700"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	// Without it the shells work, too: a container may forbid it.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// sandbox is a folder in which lines are run and watched.
type sandbox struct {
	root string
	log  string // of the stand-ins, outside of root
	path string // where programs are found behind the sandbox's own
	was  map[string]string
}

const standIns = "rm mv cp touch mkdir ln chmod dd evil x y ed patch install sudo pager rsh zsh split truncate"

func (b *sandbox) build() error {
	var failed error
	must := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	must(os.RemoveAll(b.root))
	for _, d := range []string{"bin", "home", "tmp", "work/sub", "work/evil", "work/-d"} {
		must(os.MkdirAll(filepath.Join(b.root, d), 0o755))
	}
	script := []byte("#!/bin/bash\n[ -t 0 ]; echo \"$0 $*\" >> " + quote(b.log) + "\n")
	for _, name := range strings.Fields(standIns) {
		must(os.WriteFile(filepath.Join(b.root, "bin", name), script, 0o755))
	}
	own := "#!/bin/bash\ncase \" $* \" in *' --help '*) ;; *' init '*|*' trust '*) echo \"$0 $*\" >> " + quote(b.log) + ";; esac\n"
	must(os.WriteFile(filepath.Join(b.root, "bin/overtone"), []byte(own), 0o755))
	for _, name := range strings.Fields(readers) {
		if p, err := exec.LookPath(name); err == nil {
			must(os.Symlink(p, filepath.Join(b.root, "bin", name)))
		}
		must(os.WriteFile(filepath.Join(b.root, "work/evil", name), script, 0o755)) // what PATH=evil would find
	}
	for name, text := range map[string]string{
		"f": "one\ntwo\n3\n", "g": "a[$(touch p)]\n", "h.go": "package h\n", "a b": "x\n", "-o": "x\n", "-delete": "x\n", "--output=pwn": "x\n", "-i": "x\n", "sub/k": "-o\n",
		// What makes programs write that were asked to read.
		"json.py": "open('pwn', 'w')\n", "sub/.curlrc": "trace = pwn\n", "views.sql": "create table t(credits); create view v as select edit('x', 'touch p');",
		"env": "touch p\n", "x.sed": "w pwn\n", "opts": "--plugin=./evil/x.so\n",
		"go.mod": "module h\n", "package.json": "{}\n", "main.tf": "a   = 1\n", "Cargo.toml": "[package]\nname = \"h\"\nversion = \"0.1.0\"\n[lib]\npath = \"h.go\"\n",
	} {
		must(os.WriteFile(filepath.Join(b.root, "work", name), []byte(text), 0o644))
	}
	cmd := exec.Command("bash", "-c", "git init -q -b main --template= . && git -c user.name=t -c user.email=t@example.test commit -q --allow-empty -m one && git tag v0; "+
		"tar cf a.tar f; tar czf a.tgz f; gzip -k f; xz -k f; bzip2 -k f; zstd -q f; zip -q a.zip f h.go; "+
		"sqlite3 views.db < views.sql; git init -q --template= other && git -C other -c user.name=t -c user.email=t@example.test commit -q --allow-empty -m two; true")
	cmd.Dir, cmd.Env = filepath.Join(b.root, "work"), append(os.Environ(), "HOME="+filepath.Join(b.root, "home"), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		must(fmt.Errorf("%w: %s", err, out))
	}
	_ = os.Remove(b.log)
	var err error
	b.was, err = b.list()
	must(err)
	return failed
}

func (b *sandbox) list() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(b.root, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(b.root, p)
		// git status refreshes its index, which is no change that anyone sees.
		// What a program keeps for itself in the home is its own business.
		if err != nil || rel == "bin" || rel == "home" && b.path != "" || rel == "work/evil" || rel == "work/.git/index" {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			out[rel] = err.Error()
		case d.IsDir():
			out[rel] = info.Mode().String()
		default:
			h := fnv.New64a()
			if data, err := os.ReadFile(p); err == nil {
				h.Write(data)
			}
			out[rel] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), h.Sum64())
		}
		return nil
	})
	return out, err
}

// run carries out an order. What a line changed is put back.
func (b *sandbox) run(o order) (a answer, err error) {
	for _, shell := range o.Shells {
		var out bytes.Buffer
		if exit := b.start(append(strings.Fields(shell), o.Line), o, &out); a.Exit == 0 {
			a.Exit = exit
		}
		a.Output += out.String()
	}
	if data, err := os.ReadFile(b.log); err == nil {
		a.Trace = "ran " + strings.TrimSpace(strings.ReplaceAll(string(data), b.root, ""))
	}
	now, err := b.list()
	if err != nil {
		return a, err
	}
	for name, what := range now {
		if b.was[name] != what {
			a.Trace += " changed " + name
		}
	}
	for name := range b.was {
		if now[name] == "" {
			a.Trace += " removed " + name
		}
	}
	if a.Trace != "" {
		err = b.build()
	}
	return a, err
}

// start runs a command and waits for it, as long as the order says, and a moment for what it
// left in the background.
func (b *sandbox) start(argv []string, o order, out *bytes.Buffer) int {
	limit := time.Second
	if o.Patient {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(b.root, "work")
	cmd.Env = []string{"PATH=" + filepath.Join(b.root, "bin") + b.path, "HOME=" + filepath.Join(b.root, "home"), "TMPDIR=" + filepath.Join(b.root, "tmp"), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if o.Output {
		cmd.Stdout, cmd.Stderr = out, out
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // what it ends with is asked for only of canaries
	if cmd.Process == nil {
		return -1
	}
	if os.Getpid() != 1 {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return cmd.ProcessState.ExitCode()
	}
	// All other processes of the jail are this line's.
	late := time.AfterFunc(200*time.Millisecond, func() { _ = syscall.Kill(-1, syscall.SIGKILL) })
	defer late.Stop()
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return cmd.ProcessState.ExitCode()
		}
	}
}
