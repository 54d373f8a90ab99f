//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The npm package installs from its tarball, without a network and without running
// a script, and runs the program that it carries, as npx does.
func TestNpmPackage(t *testing.T) {
	t.Parallel()
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "npm_config_cache="+filepath.Join(t.TempDir(), "cache"), "LANG=C")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	packed := filepath.Join(dir, "packed")
	out := run(root(), "node", "release/npm.mjs", "9.8.7", packed, runtime.GOOS+"/"+runtime.GOARCH+"="+bin)
	tarballs, err := filepath.Glob(filepath.Join(packed, "*.tgz"))
	if err != nil || len(tarballs) != 2 || strings.Count(out, ".tgz") != 2 {
		t.Fatalf("packed %v, %v\n%s", tarballs, err, out)
	}
	user := filepath.Join(dir, "user")
	if err := os.MkdirAll(user, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, "package.json"), []byte(`{"name":"user","version":"1.0.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}, tarballs...)
	run(user, "npm", args...)
	if out := run(user, "npx", "--offline", "overtone-cli", "--version"); !strings.HasPrefix(out, "overtone version ") {
		t.Errorf("npx overtone-cli --version: %s", out)
	}
	if out := run(user, "npx", "--offline", "overtone", "workflow", "list", "--json"); !strings.Contains(out, `"schema": 1`) {
		t.Errorf("npx overtone workflow list: %s", out)
	}
	// What fails there fails here.
	cmd := exec.Command(filepath.Join(user, "node_modules", ".bin", "overtone"), "nope")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("overtone nope: %v", err)
	}
}
