//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
)

// settingsWorld is a Codex whose settings are under test.
type settingsWorld struct {
	*CodexWorld
	file, overtone string
}

func newSettingsWorld(t *testing.T) settingsWorld {
	t.Helper()
	w := newCodexWorld(t, func(codexmock.Request) codexmock.Reply { return codexmock.Reply{Message: "Noted.", Tokens: 100} }, Unattended)
	bin := overtoneBinary(t)
	w.path = filepath.Dir(bin) + string(os.PathListSeparator) + w.path
	return settingsWorld{w, filepath.Join(w.Codex, "config.toml"), bin}
}

func (w settingsWorld) read() string {
	w.t.Helper()
	data, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// servers are the names of the servers that Codex lists; it does not start with
// settings that it refuses.
func (w settingsWorld) servers() (names string, starts bool) {
	w.t.Helper()
	cmd := exec.Command(w.server, "mcp", "list", "--json")
	cmd.Dir, cmd.Env = w.Project, w.environ()
	out, err := cmd.Output()
	return gjson.GetBytes(out, "@this.#.name").Raw, err == nil && gjson.ValidBytes(out)
}

// init reports whether overtone accepts the settings.
func (w settingsWorld) init() bool {
	w.t.Helper()
	cmd := exec.Command(w.overtone, "init", "--host", "codex", "--yes")
	cmd.Dir, cmd.Env = w.Project, w.environ()
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "hint: ") {
		w.t.Errorf("init: %v\n%s", err, out)
	}
	return err == nil
}

// settingsShapes are the settings that the tests of package setup know.
func settingsShapes(t *testing.T) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join(root(), "internal", "setup", "testdata", "codex.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a.Files
}

// appServer is a Codex that is asked over its standard input.
type appServer struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	n   int
}

func newAppServer(t *testing.T, bin, dir string, env []string) *appServer {
	t.Helper()
	cmd := exec.Command(bin, "app-server")
	cmd.Dir, cmd.Env = dir, env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &appServer{t: t, in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 16<<20)
	s.call("initialize", `{"clientInfo":{"name":"e2e","title":null,"version":"0"},"capabilities":{"experimentalApi":true,"requestAttestation":false}}`)
	fmt.Fprintln(in, `{"method":"initialized"}`)
	return s
}

func (s *appServer) call(method, params string) gjson.Result {
	s.t.Helper()
	s.n++
	fmt.Fprintf(s.in, `{"id":%d,"method":%q,"params":%s}`+"\n", s.n, method, params)
	for s.out.Scan() {
		if m := gjson.Parse(s.out.Text()); m.Get("id").Int() == int64(s.n) && !m.Get("method").Exists() {
			if m.Get("error").Exists() {
				s.t.Fatalf("%s: %s", method, m.Raw)
			}
			return m.Get("result")
		}
	}
	s.t.Fatalf("%s: no answer from Codex: %v", method, s.out.Err())
	return gjson.Result{}
}

// user is the user's file as Codex reads it.
func (s *appServer) user() map[string]any {
	s.t.Helper()
	layers := s.call("config/read", `{"includeLayers":true}`).Get("layers")
	m := map[string]any{}
	if raw := layers.Get(`#(name.type=="user").config`).Raw; raw == "" || json.Unmarshal([]byte(raw), &m) != nil {
		s.t.Fatalf("no layer of the user's: %s", layers.Raw)
	}
	return m
}

// set has Codex write to the user's file, as its terminal does.
func (s *appServer) set(key, value string) {
	s.t.Helper()
	s.call("config/batchWrite", fmt.Sprintf(`{"edits":[{"keyPath":%q,"value":%s,"mergeStrategy":"upsert"}],"reloadUserConfig":true}`, key, value))
}

// without is what Codex reads when some servers are taken out.
func without(m map[string]any, names ...string) map[string]any {
	if servers, ok := m["mcp_servers"].(map[string]any); ok {
		for _, name := range names {
			delete(servers, name)
		}
		if len(servers) == 0 {
			delete(m, "mcp_servers")
		}
	}
	return m
}

// Codex starts after init, whatever form its settings have, with the user's
// servers and ours, and means what it meant after uninstall, also when it has
// written to the file in between.
func TestCodexSettings(t *testing.T) {
	for i, f := range settingsShapes(t) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			w := newSettingsWorld(t)
			text := string(f.Data)
			other := []string{strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimSuffix(text, "\n"), "\uFEFF" + text}[i%3]
			for _, text := range []string{text, other} {
				w.write(w.file, text)
				before, starts := w.servers()
				leftover := strings.Contains(f.Name, "left behind")
				if starts == (strings.Contains(f.Name, "broken") || leftover) {
					t.Fatalf("Codex starts before init: %v", starts)
				}
				accepted := w.init()
				after, now := w.servers()
				switch kind, _, _ := strings.Cut(f.Name, ":"); kind {
				case "added":
					if !accepted || !now || !sameNames(before, after) {
						t.Errorf("%q: starts %v, servers %s became %s", text, now, before, after)
					}
				case "own", "same":
					if !accepted || !now || before != after || w.read() != text {
						t.Errorf("%q: accepted %v, starts %v, %s became %s", text, accepted, now, before, after)
					}
				default:
					if accepted || starts != now || w.read() != text {
						t.Errorf("%q: accepted %v, starts %v", text, accepted, now)
					}
				}
				for range 2 {
					w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
					if again, now := w.servers(); again != before || now != starts || w.read() != text {
						t.Errorf("uninstall made %q of %q: %s", w.read(), text, again)
					}
				}
			}
			if !strings.HasPrefix(f.Name, "added") || strings.Contains(f.Name, "left behind") {
				return
			}
			w.write(w.file, text)
			w.init()
			s := newAppServer(t, w.server, w.Project, w.environ())
			// All that its terminal writes, in the order of a first session.
			s.set("hooks.state", `{"/x/hooks.json:stop:9:9":{"trusted_hash":"sha256:00"}}`)
			s.set("tui.theme", `"light"`)
			s.set("shell_environment_policy.set", `{"Z":"1"}`)
			s.set("mcp_servers.overtone.tools.recall.approval_mode", `"approve"`)
			check := func(what string) {
				t.Helper()
				want, kept := without(s.user(), "overtone"), w.read()
				if w.init(); w.read() != kept {
					t.Errorf("%s: init again made %q of %q", what, w.read(), kept)
				}
				for range 2 {
					w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
					if diff := cmp.Diff(want, without(s.user())); diff != "" {
						t.Errorf("%s: %q of %q (-want +got):\n%s", what, w.read(), kept, diff)
					}
					if _, starts := w.servers(); !starts {
						t.Errorf("%s: Codex does not start with %q", what, w.read())
					}
				}
				// Codex gives the headers the quotes and spaces of their neighbours.
				ours := "# by overtone init\ncommand = \"overtone\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"CLAUDE_CONFIG_DIR\", \"OVERTONE_HOME\"]\n" +
					"enabled = false\napproval_mode = \"approve\"\n"
				for line := range strings.Lines(kept) {
					if header := strings.HasPrefix(line, "[") && strings.Contains(line, ".overtone"); !header && !strings.Contains(ours, line) && !strings.Contains(w.read(), line) {
						t.Errorf("%s: %q is gone: %q", what, line, w.read())
					}
				}
			}
			check("tables of Codex's")
			w.write(w.file, text)
			w.init()
			w.command(w.server, "mcp", "add", "zed", "--", "zed", "serve")
			s.set("mcp_servers.overtone.enabled", `false`)
			s.set("tui.theme", `"light"`)
			check("mcp add")
			w.write(w.file, text)
			w.init()
			w.command(w.server, "mcp", "remove", "overtone")
			want := s.user()
			w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
			if diff := cmp.Diff(want, s.user()); diff != "" {
				t.Errorf("mcp remove (-want +got):\n%s", diff)
			}
		})
	}
}

// sameNames reports whether after has the names of before, and ours.
func sameNames(before, after string) bool {
	want := map[string]bool{"overtone": true}
	for _, n := range gjson.Parse(before).Array() {
		want[n.String()] = true
	}
	got := map[string]bool{}
	for _, n := range gjson.Parse(after).Array() {
		got[n.String()] = true
	}
	return cmp.Equal(want, got)
}

// Two shapes in one file are many more: with whatever init accepts Codex starts,
// if it did before, and init refuses only servers that are written inline.
func TestCodexSettingsMixed(t *testing.T) {
	t.Parallel()
	w := newSettingsWorld(t)
	shapes := settingsShapes(t)
	tried, refused := 0, 0
	for i, a := range shapes {
		for j, b := range shapes {
			if (i+7*j)%14 > 0 {
				continue
			}
			text := string(a.Data) + string(b.Data)
			w.write(w.file, text)
			before, starts := w.servers()
			if !starts {
				continue
			}
			tried++
			if w.init() {
				if after, starts := w.servers(); !starts || !sameNames(before, after) {
					t.Errorf("%s and %s: starts %v, servers %s became %s:\n%s", a.Name, b.Name, starts, before, after, w.read())
				}
			} else if refused++; !strings.Contains(text, "mcp_servers = {") || w.read() != text {
				t.Errorf("%s and %s: refused", a.Name, b.Name)
			}
			w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
			if w.read() != text {
				t.Errorf("%s and %s: %q became %q", a.Name, b.Name, text, w.read())
			}
		}
	}
	t.Logf("%d files, %d refused", tried, refused)
	if tried < 50 {
		t.Errorf("%d files", tried)
	}
}

// Wherever the settings lie: behind a link, in a folder that is one, as a file that may
// only be read. The link stays one, the mode stays, and so does each byte. What is no file
// is refused.
func TestCodexSettingsPlaces(t *testing.T) {
	t.Parallel()
	w := newSettingsWorld(t)
	base := w.read()
	dots := filepath.Join(w.Home, "dots")
	real := filepath.Join(dots, "codex.toml")
	ok := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	relative, err := filepath.Rel(w.Codex, real)
	ok(err, os.MkdirAll(dots, 0o700))
	for _, tc := range []struct {
		name  string
		make  func()
		takes bool
	}{
		{"a link", func() { ok(os.WriteFile(real, []byte(base), 0o640), os.Symlink(relative, w.file)) }, true},
		{"a link to a link", func() {
			ok(os.WriteFile(real, []byte(base), 0o600), os.Symlink(real, real+".now"), os.Symlink(real+".now", w.file))
		}, true},
		{"only to be read", func() { ok(os.WriteFile(w.file, []byte(base), 0o400)) }, true},
		{"a link to nothing", func() { ok(os.Symlink(real, w.file)) }, false},
		{"a folder", func() { ok(os.Mkdir(w.file, 0o700)) }, false},
	} {
		ok(os.RemoveAll(w.file), os.RemoveAll(real), os.RemoveAll(real+".now"))
		tc.make()
		link, _ := os.Readlink(w.file) // "" of a file
		if accepted := w.init(); accepted != tc.takes {
			t.Errorf("%s: accepted %v", tc.name, accepted)
		}
		if !tc.takes {
			continue
		}
		before, err := os.Stat(w.file)
		ok(err)
		if names, starts := w.servers(); !starts || names != `["overtone"]` {
			t.Errorf("%s: starts %v with %s", tc.name, starts, names)
		}
		for range 2 {
			w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
			now, err := os.Stat(w.file)
			ok(err)
			if is, _ := os.Readlink(w.file); is != link || now.Mode() != before.Mode() || w.read() != base {
				t.Errorf("%s: a link to %q of mode %v: %q", tc.name, is, now.Mode(), w.read())
			}
		}
	}
	// The folder itself.
	ok(os.RemoveAll(w.file), os.WriteFile(w.file, []byte(base), 0o600), os.Rename(w.Codex, dots+"/codex"), os.Symlink("h/dots/codex", w.Codex))
	if !w.init() {
		t.Error("the folder is a link: refused")
	}
	if names, starts := w.servers(); !starts || names != `["overtone"]` {
		t.Errorf("the folder is a link: starts %v with %s", starts, names)
	}
	w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
	if info, err := os.Lstat(w.Codex); err != nil || info.Mode()&os.ModeSymlink == 0 || w.read() != base {
		t.Errorf("the folder is a link: %v, %v, %q", info, err, w.read())
	}
}

// Whole turns: with our server, with a server of the user's of the same name, and
// after uninstall with what Codex has written.
func TestCodexSettingsExec(t *testing.T) {
	t.Parallel()
	w := newSettingsWorld(t)
	base := w.read()
	turn := func(what string) {
		t.Helper()
		n := len(w.Model.Requests())
		w.command(w.server, "exec", "hello")
		if len(w.Model.Requests()) == n {
			t.Errorf("%s: the model was not asked", what)
		}
	}
	w.init()
	turn("installed")
	if rs := w.Model.Requests(); !strings.Contains(string(rs[len(rs)-1].Raw), "mcp__overtone") {
		t.Errorf("the model has no tools of ours: %.3000s", rs[len(rs)-1].Raw)
	}
	audit := gjson.Parse(w.command(w.overtone, "audit", "--json"))
	if one := audit.Get("sessions.0"); one.Get("host").String() != "codex" || one.Get("requests").Int() != 1 {
		t.Errorf("audit: %s", audit)
	}
	w.command(w.server, "mcp", "add", "zed", "--", "true")
	w.command(w.overtone, "uninstall", "--host", "codex", "--yes")
	turn("uninstalled")
	w.write(w.file, base+"\n[mcp_servers.'overtone']\ncommand = \"true\"\n")
	w.init()
	turn("the user's own")
}
