package teamcli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

// An invitation holds keys: in a file it is for its owner alone, it replaces nothing,
// and one that was not made leaves no file.
func TestInvitationInAFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root := filepath.Join(home, ".overtone")
	node := team.Node{Dir: team.NodeDir(root), Listen: "127.0.0.1:4222", Tenant: "team", Now: time.Now}
	s, err := node.Invite("hub")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(root); err != nil {
		t.Fatal(err)
	}
	invite := func(machine, file string) (int, string) {
		var out, errs bytes.Buffer
		env := cli.OSEnv()
		env.Getenv = func(k string) string { return map[string]string{"HOME": home, "LANG": "C"}[k] }
		env.Stdout, env.Stderr = &out, &errs
		code := Main([]string{"invite", machine, "--out", file}, env)
		if out.Len() > 0 {
			t.Errorf("printed %q", out.String())
		}
		return code, errs.String()
	}
	file := filepath.Join(home, "laptop.json")
	if code, errs := invite("laptop", file); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
	before, _ := os.ReadFile(file)
	if code, errs := invite("laptop", file); code != 2 {
		t.Errorf("a second one: exit %d: %s", code, errs)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the first one was replaced")
	}
	bad := filepath.Join(home, "bad.json")
	if code, errs := invite("no name", bad); code == 0 {
		t.Errorf("a bad name: exit %d: %s", code, errs)
	}
	if _, err := os.Stat(bad); !os.IsNotExist(err) {
		t.Errorf("it left a file: %v", err)
	}
}
