//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// Version is one of the versions of Claude Code that the tests run.
type Version string

// claudes are the versions of Claude Code that the tests run, the newest first.
var claudes = sync.OnceValues(func() ([]Version, error) { return underTest(host.ClaudeCode) })

// codexes are those of Codex.
var codexes = sync.OnceValues(func() ([]Version, error) { return underTest(host.Codex) })

// packages are the hosts' names in the registry.
var packages = map[host.Name]string{
	host.ClaudeCode: "@anthropic-ai/claude-code",
	host.Codex:      "@openai/codex",
	host.Copilot:    "@github/copilot",
	host.Opencode:   "opencode-ai",
	host.Gemini:     "@google/gemini-cli",
}

// short is the name of a host in folders and in the environment.
func short(h host.Name) string {
	name, _, _ := strings.Cut(string(h), "-")
	return name
}

// asked is the version of a host that the environment asks for: OVERTONE_E2E_CLAUDE and
// its like.
func asked(h host.Name) string { return os.Getenv("OVERTONE_E2E_" + strings.ToUpper(short(h))) }

// notRun are the versions that doctor calls verified and that no test has started.
func notRun() (list []string) {
	for _, h := range host.All() {
		for _, v := range h.Verified {
			dir := short(h.Name) + "-" + v.String()
			if _, ok := installed.Load(dir); !ok && asked(h.Name) == "" {
				list = append(list, dir)
			}
		}
	}
	return list
}

// underTest are the versions that doctor calls verified, the newest first, or the
// one that the environment asks for ("latest" is what the registry calls so).
func underTest(h host.Name) ([]Version, error) {
	switch v := asked(h); v {
	case "":
	case "latest":
		out, err := exec.Command("npm", "view", packages[h], "version").Output()
		if err != nil {
			return nil, fmt.Errorf("ask the registry for the latest version: %w", err)
		}
		return []Version{Version(strings.TrimSpace(string(out)))}, nil
	default:
		return []Version{Version(v)}, nil
	}
	var list []Version
	for _, v := range slices.Backward(host.Of(h).Verified) {
		list = append(list, Version(v.String()))
	}
	return list, nil
}

// Newest is the newest version of Claude Code under test: what a user gets who
// installs it today.
func Newest(t testing.TB) Version { return versions(t)[0] }

// floor reports whether it is the oldest version that is supported, which does some
// things otherwise; it is not under test where another is asked for.
func (v Version) floor() bool { return string(v) == host.Of(host.ClaudeCode).Floor.String() }

func versions(t testing.TB) []Version {
	t.Helper()
	list, err := claudes()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// onEach runs a test on the newest and on the oldest version of Claude Code. What only
// shows that a text of ours reaches its reader needs one of them; what depends on how
// the host orders its steps needs both.
func onEach(t *testing.T, f func(t *testing.T, v Version)) {
	list := versions(t)
	on(t, slices.Compact([]Version{list[0], list[len(list)-1]}), f)
}

// onAll runs a test on all of them. Versions between the newest and the oldest need no
// more than what shows that they tell us the same.
func onAll(t *testing.T, f func(t *testing.T, v Version)) { on(t, versions(t), f) }

// onCodexes runs a test on all versions of Codex; the other tests run on the newest.
func onCodexes(t *testing.T, f func(t *testing.T, v Version)) {
	list, err := codexes()
	if err != nil {
		t.Fatal(err)
	}
	on(t, list, f)
}

func on(t *testing.T, list []Version, f func(t *testing.T, v Version)) {
	for _, v := range list {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			f(t, v)
		})
	}
}

// agent is a program from npm in a folder of its own, with the packages it needs;
// one without a name is a library.
type agent struct {
	dir, name string
	packages  []string
}

func claudeAgent(v Version) agent {
	// It needs a newer node than distributions have.
	return agent{"claude-" + string(v), "claude", []string{packages[host.ClaudeCode] + "@" + string(v), "node@24"}}
}

// Claude returns the path of Claude Code, the newest one.
func Claude(t testing.TB) string { return Newest(t).Claude(t) }

// Claude returns the path of this version. The node in the same folder is to
// come first on PATH.
func (v Version) Claude(t testing.TB) string { return claudeAgent(v).path(t) }

// Codex returns the path of the installed Codex CLI: the newest, unless another version is
// named.
func Codex(t testing.TB, on ...Version) string {
	t.Helper()
	list, err := codexes()
	if err != nil {
		t.Fatal(err)
	}
	v := string(append(on, list...)[0])
	return agent{"codex-" + v, "codex", []string{packages[host.Codex] + "@" + v}}.path(t)
}

// folder is where its packages lie.
func (a agent) folder() string {
	return filepath.Join(cmp.Or(os.Getenv("OVERTONE_E2E_DIR"), filepath.Join(root(), ".e2e")), a.dir)
}

func (a agent) path(t testing.TB) string {
	t.Helper()
	dir := a.folder()
	once, _ := installed.LoadOrStore(a.dir, sync.OnceValue(func() error { return a.install(dir) }))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules", ".bin", a.name)
}

var installed sync.Map // by folder

// install brings the agent into dir unless it is there. Two test processes may
// start at once, hence the lock.
func (a agent) install(dir string) error {
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
	if err := a.fetch(dir); err != nil || a.name == "" {
		return err
	}
	return a.runs(dir)
}

// fetch brings the packages into dir, which is there, unless it has them.
func (a agent) fetch(dir string) error {
	missing := false
	for _, p := range a.packages {
		at := strings.LastIndex(p, "@")
		have := packageVersion(dir, p[:at])
		missing = missing || have != p[at+1:] && !strings.HasPrefix(have, p[at+1:]+".")
	}
	if missing {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return errors.New("the end-to-end tests need npm to install the agents\n" +
				"hint: install Node.js, or set OVERTONE_E2E_DIR to a folder that has them")
		}
		args := append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--loglevel=error"}, a.packages...)
		cmd := exec.Command(npm, args...)
		home, err := os.MkdirTemp("", "overtone-e2e-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(home)
		// What a package runs when it is installed leaves the real home alone; npm's own
		// settings and cache are there.
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=")
		if real, err := os.UserHomeDir(); err == nil {
			for name, file := range map[string]string{"npm_config_userconfig": ".npmrc", "npm_config_cache": ".npm"} {
				if os.Getenv(name) == "" && os.Getenv(strings.ToUpper(name)) == "" {
					cmd.Env = append(cmd.Env, name+"="+filepath.Join(real, file))
				}
			}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("install %v into %s: %w\n%s", a.packages, dir, err, out)
		}
	}
	return nil
}

// runs starts the program once: npm reports success even when the platform's
// optional binary package was left out.
func (a agent) runs(dir string) error {
	home, err := os.MkdirTemp("", "overtone-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	bin := filepath.Join(dir, "node_modules", ".bin")
	cmd := exec.Command(filepath.Join(bin, a.name), "--version")
	cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s --version: %w\n%s\nhint: remove %s and run again", a.name, err, out, dir)
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

// build compiles main packages of this module once per run into a folder of their
// own, the first under the name "overtone", a second as "overtone-hook", and returns
// the folder.
func build(pkgs ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		base, err := binDir()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(base, filepath.Base(pkgs[0]))
		for i, pkg := range pkgs {
			name := []string{"overtone", host.HookProgram}[i]
			cmd := exec.Command("go", "build", "-C", pkg, "-tags", "e2e", "-o", filepath.Join(dir, name), ".")
			cmd.Dir = root()
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as `make build` does
			if out, err := cmd.CombinedOutput(); err != nil {
				return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
			}
		}
		return dir, nil
	})
}

var (
	buildOvertone = build("./cmd/overtone", "./cmd/overtone-hook")
	buildRecorder = build("./e2e/recorder", "./e2e/recorder")
)
