//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// The versions whose behaviour the hooks rely on.
const (
	ClaudeVersion = "2.1.197"
	CodexVersion  = "0.166.0"
)

var packages = map[string]string{
	"@anthropic-ai/claude-code": ClaudeVersion,
	"@openai/codex":             CodexVersion,
}

// Claude returns the path of the installed Claude Code.
func Claude(t testing.TB) string { return agent(t, "claude") }

// Codex returns the path of the installed Codex CLI.
func Codex(t testing.TB) string { return agent(t, "codex") }

func agent(t testing.TB, name string) string {
	t.Helper()
	dir, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules", ".bin", name)
}

var installed = sync.OnceValues(func() (string, error) {
	dir := os.Getenv("OVERTONE_E2E_DIR")
	if dir == "" {
		dir = filepath.Join(root(), ".e2e")
	}
	return dir, install(dir)
})

// install brings the pinned agents into dir unless they are there. Two test
// processes may start at once, hence the lock.
func install(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "install.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}

	args := []string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error"}
	missing := false
	for name, version := range packages {
		args = append(args, name+"@"+version)
		missing = missing || packageVersion(dir, name) != version
	}
	if missing {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return errors.New("the end-to-end tests need npm to install the agents\n" +
				"hint: install Node.js, or set OVERTONE_E2E_DIR to a folder that has them under node_modules")
		}
		if out, err := exec.Command(npm, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("install the agents into %s: %w\n%s", dir, err, out)
		}
	}
	return runs(dir)
}

// runs starts each binary once: npm reports success even when the platform's
// optional binary package was left out.
func runs(dir string) error {
	home, err := os.MkdirTemp("", "overtone-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	for _, name := range []string{"claude", "codex"} {
		cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", name), "--version")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run %s --version: %w\n%s\nhint: remove %s and run again", name, err, out, dir)
		}
	}
	return nil
}

func packageVersion(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var p struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &p) != nil {
		return ""
	}
	return p.Version
}

// root is the repository's folder.
func root() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		panic("no caller information")
	}
	return filepath.Dir(filepath.Dir(file))
}

// PluginDir is the plugin under test.
func PluginDir() string { return filepath.Join(root(), "plugin") }

// binDir holds what a run builds; TestMain removes it.
var binDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "overtone-e2e-bin-") })

// build compiles a main package of this module once per run into a folder of
// its own, under the name "overtone", and returns the folder.
func build(pkg string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		base, err := binDir()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(base, filepath.Base(pkg))
		cmd := exec.Command("go", "build", "-tags", "e2e", "-o", filepath.Join(dir, "overtone"), pkg)
		cmd.Dir = root()
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		return dir, nil
	})
}

var (
	buildOvertone = build("./cmd/overtone")
	buildRecorder = build("./e2e/recorder")
)
