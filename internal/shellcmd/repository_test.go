package shellcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// git runs a program that the configuration of a bare repository names. One that came
// with a clone is not the user's: a line that leads git into it is refused, and a line
// that leads into ordinary repositories, worktrees and folders is not.
func TestRepositoriesThatCame(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	run := func(line string) {
		t.Helper()
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	run(`commit() { git -C "$1" -c user.name=t -c user.email=t@example.test commit -q --allow-empty -m one; }
		for r in clone plain clone/nested; do git init -q -b main --template= $r; commit $r; done
		git -C clone worktree add -q ../tree; mkdir -p clone/sub/deep plain/sub tree/sub; git clone -q --bare plain mine.git; ln -s clone/sub/came.git link
		git init -q --template= came; commit came; mv came/.git clone/sub/came.git; mkdir clone/sub/came.git/work
		git -C clone/sub/came.git config core.bare false; git -C clone/sub/came.git config core.worktree "$PWD/clone/sub/came.git/work"; git -C clone/sub/came.git config core.fsmonitor "touch $PWD/ran; false"
		git -C clone add -f sub; for d in clone/sub/came.git/refs/heads clone/sub/deep; do [ -d $d ]; done`)
	ran := func() bool { return os.Remove(filepath.Join(home, "ran")) == nil }
	for _, c := range []struct {
		dir, line string
		refused   bool
	}{
		{"clone", "git -C sub/came.git status", true},
		{"clone", "cd sub/came.git && git status", true},
		{"clone", "cd sub; (cd came.git; git diff)", true},
		{"clone", "for i in 1 2; do git status; cd sub; cd came.git; done", true},
		{"clone", "git -C sub -C came.git/refs status", true},
		{"clone", "git -C sub/deep/../came.git status", true},
		{"clone", "bash -c 'cd sub/came.git/work && git status'", true},
		{"clone", "x=sub/came.git; git -C \"$x\" status", true},
		{"clone", "for d in sub/*; do git -C \"$d\" status; done", true},
		{"clone", "find . -name HEAD -execdir git status \\;", true},
		{"clone", "cd -P -- sub/came.git && git status", true},
		{"clone", "git -C ~/clone/sub/came.git status", true},
		{"clone", "cd \"$HOME\"/clone/sub/came.git; git status", true},
		{"clone/sub/came.git", "git status", true},
		{".", "git -C link status", true},
		{"plain", "cd ../link && git status", true},
		{"clone", "git status; cat sub/came.git/config", false},
		{"clone", "cd sub/came.git && ls", false},
		{"clone", "git -C sub/deep log; git -C nested status -s; git -C ../tree diff; git -C ~/plain log", false},
		{"clone", "cd nested && git log --oneline; cd - && git status", false},
		{"clone", "cd && git -C plain status", false},
		{"tree/sub", "git status && git -C .. log", false},
		{"plain", "cd \"$(git rev-parse --show-toplevel)\" && git status", false},
		{"plain", "for d in sub .; do git -C \"$d\" status; done", false},
		{"plain", "git -C ../mine.git log && git -C .git log", false},
		{".", "git -C mine.git log --oneline", false},
		{"mine.git", "git log", false},
	} {
		ok, why := Place{Dir: filepath.Join(home, c.dir), Home: home}.ReadOnly(c.line)
		if ok == c.refused || c.refused && why.text != message.GuardBrought {
			t.Errorf("in %s: %s: passes: %v %s", c.dir, c.line, ok, why.In(message.EN))
		}
		run("cd " + c.dir + "\n" + c.line + "\ntrue")
		if ran := ran(); ran != c.refused {
			t.Errorf("in %s: %s: ran what the repository says: %v", c.dir, c.line, ran)
		}
	}
}
