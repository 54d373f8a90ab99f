package shellcmd

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// past dates everything that a fixture does, so that only the line under test
// writes the log now.
const past = "2024-03-01T12:00:00Z"

// fixture is one throw-away home: a repository in repo with a staged and an
// unstaged change, a second one in repo/sub with an unstaged change, a bare
// one, and stand-ins for programs that the machine may lack.
type fixture struct {
	root, repo, bin string
	env             []string
}

var template = sync.OnceValues(func() (string, error) {
	root, err := os.MkdirTemp(memory(), "shellcmd-template-")
	if err != nil {
		return "", err
	}
	f := fixture{root: filepath.Join(root, "home"), repo: filepath.Join(root, "home", "repo"), bin: filepath.Join(root, "bin")}
	f.setEnv()
	if err := os.MkdirAll(f.bin, 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.repo, 0o755); err != nil {
		return "", err
	}
	for name, body := range map[string]string{
		"sudo": "#!/bin/bash\nwhile [[ $1 == -* || $1 == *=* ]]; do case $1 in -u) shift 2;; --) shift; break;; *=*) export \"$1\"; shift;; *) shift;; esac; done\nexec \"$@\"\n",
		"doas": "#!/bin/bash\nwhile [[ $1 == -* ]]; do case $1 in -u) shift 2;; *) shift;; esac; done\nexec \"$@\"\n",
		"gh":   "#!/bin/bash\nif [ -n \"$FAKE_FAIL\" ]; then echo 'pull request create failed: GraphQL: No commits' >&2; exit 1; fi\nif [ -n \"$FAKE_EXISTS\" ]; then printf 'a pull request for branch \"x\" into branch \"main\" already exists:\\nhttps://example.test/o/r/pull/7\\n' >&2; exit 1; fi\ncase \"$*\" in *create*) echo https://example.test/o/r/pull/7;; *) echo ok;; esac\n",
		"gt":   "#!/bin/bash\nif [ -n \"$FAKE_FAIL\" ]; then echo 'ERROR: no stack' >&2; exit 1; fi\necho submitted\n",
	} {
		if err := os.WriteFile(filepath.Join(f.bin, name), []byte(body), 0o755); err != nil {
			return "", err
		}
	}
	out, code, err := f.run(`
git init -q -b main --template= && git config user.name T && git config user.email t@example.test && git config commit.gpgsign false
git config alias.ci commit
git config alias.cia 'ci -a'
git config alias.cm 'commit -m'
git config alias.bang '!git commit'
git config alias.save '!git add -A && git commit -m'
git config alias.dry 'commit --dry-run'
git config alias.lg 'log --oneline'
git config alias.say '!echo git commit'
printf 'one\n' > f; printf 'git commit -m x\n[main 1234567] fake\n 1 file changed\n' > notes.log
printf '#!/bin/bash\ngit commit -am released\n' > release.sh
printf '#!/bin/bash\ngit commit -qam released\n' > quiet.sh
printf '#!/bin/bash\necho "[main 1234567] not mine"\n' > show.sh
printf '#!/bin/bash\ncat "$@" >/dev/null; exit 0\n' > noop.sh
printf 'commit:\n\tgit commit -am made\nnothing:\n\t@true\n' > Makefile
chmod +x *.sh; printf 'out.txt\nsub\n' > .gitignore; git add -A; git commit -q -m first
printf 'two\n' > f; git commit -qam second
git checkout -q -b topic; printf t > t; git add t; git commit -qm 'topic work'; git checkout -q main
git init -q -b main --template= sub; cd sub; git config user.name S; git config user.email s@example.test
printf 1 > s; git add s; git commit -qm sub-first; printf 2 > s; cd ..
git -C sub repack -adq; git repack -adq; rm -rf .git/COMMIT_EDITMSG .git/branches .git/info .git/description sub/.git/info
printf 'three\n' > f; printf g > g; git add g
`, true)
	if err != nil {
		return "", err
	}
	if code != 0 {
		return "", errors.New(out)
	}
	return root, nil
})

// memory is a file system in memory where there is one that runs programs:
// hundreds of small repositories take seconds there and half a minute on a busy
// disk.
var memory = sync.OnceValue(func() string {
	const shm = "/dev/shm"
	dir, err := os.MkdirTemp(shm, "probe-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	prog := filepath.Join(dir, "true")
	if os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o700) != nil || exec.Command(prog).Run() != nil {
		return ""
	}
	return shm
})

func TestMain(m *testing.M) {
	jailed()
	code := m.Run()
	if root, err := template(); err == nil {
		os.RemoveAll(root)
	}
	os.Exit(code)
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp(memory(), "shellcmd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.CopyFS(root, os.DirFS(filepath.Join(from, "home"))); err != nil {
		t.Fatal(err)
	}
	f := fixture{root: root, repo: filepath.Join(root, "repo"), bin: filepath.Join(from, "bin")}
	f.setEnv()
	return f
}

func (f *fixture) setEnv() {
	f.env = []string{
		"HOME=" + f.root, "PATH=" + f.bin + ":" + os.Getenv("PATH"),
		// Less work for git beside the commit itself.
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0", "GIT_CONFIG_KEY_2=core.fsync", "GIT_CONFIG_VALUE_2=none",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "LC_ALL=C", "TZ=UTC",
	}
}

// run executes line with bash in the repository.
func (f fixture) run(line string, dated bool) (output string, exit int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = f.repo
	cmd.Env = f.env
	if dated {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "GIT_COMMITTER_DATE="+past, "GIT_AUTHOR_DATE="+past)
	}
	cmd.WaitDelay = time.Second
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err = cmd.Run()
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return buf.String(), ee.ExitCode(), nil
	}
	return buf.String(), 0, err
}

// commits is the truth: how many loose commit objects lie in the repositories.
// Those of the template are packed.
func (f fixture) commits(t *testing.T) int {
	t.Helper()
	n := 0
	for _, dir := range []string{"repo/.git", "repo/sub/.git", "fresh/.git"} {
		files, err := filepath.Glob(filepath.Join(f.root, dir, "objects", "??", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			z, err := zlib.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			kind := make([]byte, len("commit "))
			if _, err := io.ReadFull(z, kind); err == nil && string(kind) == "commit " {
				n++
			}
		}
	}
	return n
}
