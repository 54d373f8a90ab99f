package shellcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadHead(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ setup, dir string }{
		"branch":            {"", "repo"},
		"below the root":    {"mkdir -p a/b", "repo/a/b"},
		"git directory":     {"", "repo/.git"},
		"detached":          {"git checkout -q --detach", "repo"},
		"packed":            {"git pack-refs --all", "repo"},
		"slash in name":     {"git checkout -q -b feature/x", "repo"},
		"worktree":          {"git worktree add -q ../wt topic", "wt"},
		"worktree packed":   {"git worktree add -q ../wt topic; git pack-refs --all", "wt"},
		"nested repository": {"", "repo/sub"},
		"bare":              {"git clone -q --bare . ../bare.git", "bare.git"},
		"submodule":         {"git -c protocol.file.allow=always submodule --quiet add ./sub mod", "repo/mod"},
		"no log":            {"rm -r .git/logs", "repo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if out, code, err := f.run(row.setup, true); err != nil || code != 0 {
				t.Fatal(code, err, out)
			}
			dir := filepath.Join(f.root, row.dir)
			out, _, err := f.run("cd "+quote(dir)+" && git rev-parse HEAD && git rev-parse --absolute-git-dir && git log -g -1 --format=%gs", false)
			if err != nil {
				t.Fatal(err)
			}
			lines := append(strings.Split(out, "\n"), "")
			h, err := ReadHead(dir)
			if err != nil {
				t.Fatal(err)
			}
			last := ""
			if n := len(h.Log); n > 0 {
				last = h.Log[n-1].Action + ": " + h.Log[n-1].Subject
			}
			if diff := cmp.Diff(lines[:3], []string{h.Hash, h.GitDir, last}); diff != "" {
				t.Errorf("(-git +ours):\n%s", diff)
			}
		})
	}
}

func TestReadHeadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadHead(dir); !errors.Is(err, errNoRepo) {
		// The temporary directory may lie inside a repository.
		t.Logf("no repository: %v", err)
	}
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/refs/x", "")
	for head, want := range map[string]string{
		"":                              "no reference",
		"garbage":                       "no reference",
		"ref: ../../../etc/passwd":      "odd reference",
		"ref: refs/heads/.invalid":      "reftable",
		strings.Repeat("a", 5000):       "larger than",
		"ref: /etc/passwd":              "odd reference",
		"ref: refs/heads/../../../../x": "odd reference",
	} {
		write(".git/HEAD", head)
		if _, err := ReadHead(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("HEAD %.40q: %v, want %q", head, err, want)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write(".git/logs/HEAD", "garbage\n"+strings.Repeat("0", 40)+" "+strings.Repeat("1", 40)+" A B <m> 1700000000 +0000\tcommit (initial): one: two\nhalf a li")
	h, err := ReadHead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Log) != 1 || h.Log[0].Subject != "one: two" || !h.Log[0].isCommit() || h.Hash != "" || h.Log[0].Time.Unix() != 1700000000 {
		t.Errorf("got %+v", h)
	}
	if whole := int64(len("garbage\n") + 40 + 1 + 40 + len(" A B <m> 1700000000 +0000\tcommit (initial): one: two\n")); h.LogSize != whole {
		t.Errorf("log size %d, want %d without the unfinished line", h.LogSize, whole)
	}
}

// Only the end of a long log is read, and offsets still fit.
func TestReadHeadLongLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git", "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git", "refs"), 0o700); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + " A <m> 1700000000 +0000\tcommit: x\n"
	log := strings.Repeat(line, 5000)
	for name, text := range map[string]string{"HEAD": strings.Repeat("b", 40) + "\n", "logs/HEAD": log} {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := ReadHead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.Log); n == 0 || n > 1000 || h.Log[n-1].Offset != int64(len(log)-len(line)) || h.Log[0].Offset%int64(len(line)) != 0 {
		t.Errorf("%d entries, last at %d", n, h.Log[n-1].Offset)
	}
}

func TestReadAliases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if out, code, err := f.run(`git config --global alias.ci 'commit -v' && git config --global alias.gl 'log -1'
git config alias.quoted '!f() { echo "a;b" # c; }; f' && git config alias.hash 'log "#1" ; x'
printf '[alias]\n\tcont = log \\\n  -3 ; comment\n[ALIAS] up = status\n[other]\n\tci = no\n[alias "sub"]\n\tci = no\n' >> .git/config`, true); err != nil || code != 0 {
		t.Fatal(code, err, out)
	}
	lookup := UserAliases(filepath.Join(f.repo, "sub", ".."), f.root, nil)
	for _, name := range []string{"ci", "gl", "quoted", "hash", "up", "CI", "cont"} {
		got, ok := lookup(name)
		out, _, err := f.run("git config alias."+name, false)
		// Which blanks of a continued line stay differs between versions of git.
		want := strings.TrimSuffix(out, "\n")
		if name == "cont" {
			got, want = strings.Join(strings.Fields(got), " "), "log -3"
		}
		if err != nil || !ok || got != want {
			t.Errorf("alias %s: ours %q, git's %q", name, got, out)
		}
	}
	if v, ok := lookup("sub"); ok {
		t.Errorf("sub is a section, not an alias: %q", v)
	}
}

// The user's aliases may lie in any of git's places, and the order is git's.
func TestUserAliasFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("[alias]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".config/git/config", "a = config\nb = config\n")
	write("xdg/git/config", "a = xdg\nb = xdg\n")
	write(".gitconfig", "a = home\n")
	write("global", "a = global\n")
	for _, c := range []struct {
		env  map[string]string
		a, b string
	}{
		{nil, "home", "config"},
		{map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, "xdg")}, "home", "xdg"},
		{map[string]string{"GIT_CONFIG_GLOBAL": filepath.Join(home, "global")}, "global", ""},
	} {
		lookup := UserAliases(home, home, func(name string) string { return c.env[name] })
		a, _ := lookup("a")
		b, _ := lookup("B")
		if a != c.a || b != c.b {
			t.Errorf("%v: a = %q, b = %q, want %q, %q", c.env, a, b, c.a, c.b)
		}
	}
}

func FuzzAliases(f *testing.F) {
	f.Add("[alias]\n\ta = b\n")
	f.Add("[alias]\na = \"b\\\n c\" # d\n[x\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		file := filepath.Join(dir, ".gitconfig")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		UserAliases(dir, dir, nil)("a")
	})
}
