package setup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// tester is what tests and properties have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// codexHome is a home with the settings of Codex.
type codexHome struct {
	t    tester
	env  Env
	toml string
}

func newCodexHome(t tester, home string) codexHome {
	t.Helper()
	h := codexHome{t, envAt(t, home), filepath.Join(home, ".codex", "config.toml")}
	if err := os.MkdirAll(filepath.Dir(h.toml), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h codexHome) write(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.toml, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// read is the file's text, "" where there is none.
func (h codexHome) read() string {
	data, _ := os.ReadFile(h.toml)
	return string(data)
}

// file is what a plan makes of config.toml; nothing where it leaves it alone.
func (h codexHome) file(c change) (f host.File) {
	f.After = []byte(h.read())
	for _, one := range c.settings {
		if one.Path == h.toml {
			f = *one
		}
	}
	return f
}

func (h codexHome) plan() (*installation, error) {
	return h.env.planInstall(context.Background(), options(host.Of(host.Codex), ""))
}

func (h codexHome) init() (warnings []string, err error) {
	plan, err := h.plan()
	if err != nil {
		return nil, err
	}
	plan.files = nil // the plugin is not what this is about, and takes its time
	return plan.Warnings, plan.apply(context.Background())
}

func (h codexHome) removal() *removal {
	h.t.Helper()
	plan, err := h.env.planRemoval(host.All(), false)
	if err != nil {
		h.t.Fatal(err)
	}
	return plan
}

// uninstall returns the warnings that are about config.toml.
func (h codexHome) uninstall() []string {
	h.t.Helper()
	plan := h.removal()
	if err := plan.apply(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(plan.Warnings, func(w string) bool { return !strings.Contains(w, "config.toml") })
}

// means is what a file says, read by the library alone; "" is an error.
func means(text string) map[string]any {
	var v map[string]any
	if toml.Unmarshal([]byte(strings.TrimPrefix(text, bom)), &v) != nil {
		return nil
	}
	return v
}

// withOurs is what a file says when our server is added.
func withOurs(text string) map[string]any {
	v := means(text)
	if v["mcp_servers"] == nil {
		v["mcp_servers"] = map[string]any{}
	}
	servers := v["mcp_servers"].(map[string]any)
	entry, _ := servers["overtone"].(map[string]any)
	if entry == nil {
		entry = map[string]any{}
	}
	entry["command"], entry["args"] = "overtone", []any{"mcp"}
	entry["env_vars"] = []any{"CODEX_HOME", "CLAUDE_CONFIG_DIR", "OVERTONE_HOME"}
	servers["overtone"] = entry
	return v
}

func equal(a, b map[string]any) bool {
	return a != nil && b != nil && (reflect.DeepEqual(a, b) || fmt.Sprint(a) == fmt.Sprint(b))
}

// foreign is what others do to the file between init and uninstall: the file
// before init and what init added to it become what the file is, and what has to
// be left of it.
var foreign = map[string]func(before, block string) (now, left string){
	"Codex trusts hooks": func(before, block string) (now, left string) {
		const state = "\n[hooks.state]\n\n[hooks.state.\"/x/hooks.json:stop:9:9\"]\ntrusted_hash = \"sha256:01\"\n\n[windows]\nx = \"y\"\n"
		return before + block + state, before + "\n" + state
	},
	"approvals and switches": func(before, block string) (now, left string) {
		const more = "enabled = false\n\n[mcp_servers.overtone.tools.read]\napproval_mode = \"approve\"\n"
		const tables = "\n[mcp_servers.zed]\ncommand = \"zed\"\n"
		return before + block + more + tables, before + "\n" + tables
	},
	"approvals among tables": func(before, block string) (now, left string) {
		const tables = "\n[windows]\nx = \"y\"\n"
		return before + block + tables + "\n[mcp_servers.overtone.tools.read]\napproval_mode = \"approve\"\n# <<<\n", before + "\n" + tables + "# <<<\n"
	},
	"written anew": func(before, block string) (now, left string) {
		return before + strings.ReplaceAll(block, "# by overtone init", ""), before
	},
	"formatted": func(before, block string) (now, left string) {
		block = strings.NewReplacer(" = ", "=", `["mcp"]`, "[\n\t'mcp',\n]", "[mcp_servers.overtone]", `  [ "mcp_servers" . overtone ]`).Replace(block)
		return before + block + "\n", before
	},
	"notes of the user's": func(before, block string) (now, left string) {
		block = strings.Replace(block, "[mcp_servers.overtone]", "# the header\n[mcp_servers.overtone] # a server", 1)
		block = strings.Replace(block, "args =", "  # arguments\nargs =", 1)
		return before + block + "# <<< mine <<<", before + "\n# the header\n# a server\n# arguments\n# <<< mine <<<"
	},
	"above": func(before, block string) (now, left string) {
		rest, marked := strings.CutPrefix(before, bom)
		rest = "# first\n" + rest
		if marked {
			rest = bom + rest
		}
		return rest + block, rest
	},
	"taken out by hand": func(before, _ string) (now, left string) { return before + "\n[windows]\n", before + "\n[windows]\n" },
}

// lines are those of a text that are somebody's: neither empty nor our mark. A
// comment keeps its place, not its indentation.
func lines(text string) (list []string) {
	for line := range strings.Lines(strings.TrimPrefix(text, bom)) {
		if line = strings.TrimSpace(line); line != "" && line != "# by overtone init" {
			list = append(list, line)
		}
	}
	return list
}

// checkTables plans init for a file, and takes out what it adds after whatever
// others write in between. want is what init does, "" where that is not known.
// added reports that there was nothing of that name, and is by now.
func checkTables(t tester, h codexHome, before, want string) (added bool) {
	t.Helper()
	h.write(before)
	plan, err := h.plan()
	if err != nil {
		if want != "" && want != "refused" || message.HintOf(err, message.EN) == "" {
			t.Errorf("refused: %v", err)
		}
		if after := h.file(h.removal().change).After; string(after) != before {
			t.Errorf("uninstalled what was refused: %q", after)
		}
		return false
	}
	f := h.file(plan.change)
	after := string(f.After)
	added = after != before
	own := slices.ContainsFunc(plan.Warnings, func(w string) bool { return strings.Contains(w, "mcp_servers.overtone of yours") })
	switch {
	case want == "refused":
		t.Errorf("not refused: %q", after)
	case want != "" && own != (want == "own"):
		t.Errorf("own %v: %q", own, plan.Warnings)
	case want != "" && added != (want == "added"):
		t.Errorf("changed %v to %q", added, after)
	case strings.Contains(before, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n"):
		t.Errorf("ends of lines: %q", after)
	case added && (!strings.HasPrefix(after, before) || !equal(means(after), withOurs(before))):
		t.Errorf("%q became %q: %v", before, after, means(after))
	}
	if lookup(means(before), []string{"mcp_servers", "overtone"}) != nil {
		if after := h.file(h.removal().change).After; string(after) != before {
			t.Errorf("uninstalled what is the user's: %q", after)
		}
		return false // the user's own, or approvals without a server, which go with ours
	}
	for name, write := range foreign {
		now, left := write(before, after[len(before):])
		if strings.Contains(before, "\r\n") {
			now = strings.ReplaceAll(strings.ReplaceAll(now, "\r\n", "\n"), "\n", "\r\n")
		}
		if means(now) == nil {
			continue // such as a table twice
		}
		h.write(now)
		if again, err := h.plan(); err != nil || name != "taken out by hand" && string(h.file(again.change).After) != now {
			t.Errorf("%s, init again: %v, %q", name, err, now)
		}
		got, whose, _, err := takeTable([]byte(now), written(f.Edits[0], f.Edits[0].Path))
		if diff := cmp.Diff(lines(left), lines(string(got))); err != nil || whose == theirs || diff != "" || !equal(means(string(got)), means(left)) {
			t.Errorf("%s, uninstall of %q: %v, %v (-want +got):\n%s", name, now, err, whose, diff)
		}
		h.write(string(got))
		if again := h.file(h.removal().change).After; !bytes.Equal(again, got) {
			t.Errorf("%s, uninstall again: %q became %q", name, got, again)
		}
	}
	return added
}

// shapes are the files of testdata, each as it is and as other editors write it.
func shapes(t testing.TB, each func(name, want, text string)) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "codex.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		text := string(f.Data)
		want, _, _ := strings.Cut(f.Name, ":")
		want, _, _ = strings.Cut(want, ",")
		each(f.Name, want, text)
		each(f.Name+", CRLF", want, strings.ReplaceAll(text, "\n", "\r\n"))
		each(f.Name+", no newline at the end", want, strings.TrimSuffix(text, "\n"))
		each(f.Name+", byte order mark", want, bom+text)
	}
}

// Whatever form the settings have: after init they mean what they meant and our
// server, or nothing was written; uninstalling gives the user's bytes back, and
// keeps what others wrote.
func TestTables(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	n := 0
	shapes(t, func(name, want, text string) {
		n++
		t.Run(name, func(t *testing.T) {
			h := newCodexHome(t, t.TempDir())
			added := checkTables(t, h, text, want)
			if entries, err := os.ReadDir(filepath.Dir(h.env.Home.Root())); err != nil || len(entries) != 1 {
				t.Errorf("plans have written: %v, %v", entries, err)
			}
			h.write(text)
			if strings.Contains(name, ", ") || !added {
				return
			}
			// On disk: it takes its time.
			for _, between := range []string{"", "\n[windows]\nx = \"y\"\n"} {
				for range 2 {
					if _, err := h.init(); err != nil {
						t.Fatal(err)
					}
				}
				h.write(h.read() + between)
				for range 3 {
					if h.uninstall(); h.read() != text+between {
						t.Errorf("%q became %q", text+between, h.read())
					}
				}
				h.write(text)
			}
		})
	})
	if n < 100 {
		t.Errorf("%d shapes", n)
	}
}

// Generated settings.
func TestTablesProperty(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	h := newCodexHome(t, t.TempDir())
	rapid.Check(t, func(r *rapid.T) {
		h := h
		h.t = r
		checkTables(r, h, settings(r), "")
	})
}

// settings draws a file of Codex's settings, mostly valid.
func settings(r *rapid.T) string {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
	value := func() string {
		return pick("value", `"x"`, `'a # b'`, "1", "nan", "1979-05-27", "07:32", "true", "[1, 2]", "[\n  1, # one\n]", "{ a = 1 }", `{ "a b" = [{}] }`,
			"\"\"\"\n# by overtone init\n[mcp_servers.overtone]\n\"\"\"", "'''\n[x]'''", `"# >>> overtone >>>"`, "\"\\u00e9\"")
	}
	server := func() string { return pick("server", "a", "b", "overtone", `"overtone"`, "'overtone'", `"over tone"`) }
	var b strings.Builder
	filler := func() {
		for range rapid.IntRange(0, 2).Draw(r, "fillers") {
			b.WriteString(pick("filler", "\n", "# note\n", "# by overtone init\n", "# >>> overtone >>>\n", "# <<< overtone <<<\n", "  \t\n", "# [mcp_servers.overtone]\n", "#\n"))
		}
	}
	keys := func() {
		for i := range rapid.IntRange(0, 3).Draw(r, "keys") {
			filler()
			fmt.Fprintf(&b, pick("key", "k%d = %s\n", "  \"k %d\"=%s # c\n", "k.%d.x = %s\n"), i, value())
		}
	}
	keys()
	if pick("root servers", "none", "none", "some") == "some" {
		fmt.Fprintf(&b, pick("root form", "mcp_servers.%s.command = 'x'\n", "mcp_servers = { %s = { command = 'x' } }\n", "mcp_servers . %s = {command='x'}\n", "mcp_servers.%s = 3\n"), server())
	}
	for i := range rapid.IntRange(0, 4).Draw(r, "tables") {
		filler()
		switch pick("table", "other", "server", "server", "parent", "array") {
		case "other":
			fmt.Fprintf(&b, "[t%d]\n", i)
		case "array":
			fmt.Fprintf(&b, "[[list]]\n")
		case "server":
			fmt.Fprintf(&b, pick("header", "[mcp_servers.%s]\ncommand = 'x'\n", "[ \"mcp_servers\" . %s ] # c\nurl = 'x'\n", "[mcp_servers.%s.env]\n", "[mcp_servers.%s.tools.recall]\n"), server())
		case "parent":
			fmt.Fprintf(&b, pick("parent", "[mcp_servers]\n%s = { command = 'x' }\n", "[mcp_servers]\n%s.command = 'x'\n"), server())
			continue
		}
		keys()
	}
	filler()
	text := b.String()
	switch pick("as", "it is", "CRLF", "cut", "marked") {
	case "CRLF":
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case "cut":
		text = strings.TrimRight(text, "\n")
	case "marked":
		text = bom + text
	}
	return text
}

// Where the folder with our records is gone, our mark and the values still tell
// which table is ours; older marks do, too.
func TestTablesWithoutRecords(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const own = "[mcp_servers.overtone]\ncommand = \"overtone\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"CLAUDE_CONFIG_DIR\", \"OVERTONE_HOME\"]\n"
	const tui = "\n[tui]\ntheme = \"dark\"\n"
	for name, c := range map[string]struct{ text, want string }{
		"mark":              {"model = \"x\"\n\n# by overtone init\n" + own + tui, "model = \"x\"\n" + tui},
		"older marks":       {"model = \"x\"\n\n# >>> overtone >>>\n" + own + tui + "# <<< overtone <<<\n", "model = \"x\"\n" + tui},
		"text between":      {"# >>> overtone >>>\n# mine\n" + own + "# mine, too\n# <<< overtone <<<\n", "# mine\n# mine, too\n"},
		"no mark":           {own + tui, own + tui},
		"marks alone":       {"# >>> overtone >>>" + tui + "# <<< overtone <<<\n", "# >>> overtone >>>" + tui + "# <<< overtone <<<\n"},
		"another server":    {"# by overtone init\n[mcp_servers.overtone]\ncommand = \"mine\"\n", "# by overtone init\n[mcp_servers.overtone]\ncommand = \"mine\"\n"},
		"approvals":         {"# by overtone init\n" + own + "[mcp_servers.overtone.tools.recall]\napproval_mode = \"approve\"\n" + tui, tui},
		"not TOML":          {"# by overtone init\n" + own + own, "# by overtone init\n" + own + own},
		"nothing but marks": {"# by overtone init\n", "# by overtone init\n"},
	} {
		h := newCodexHome(t, t.TempDir())
		h.write(c.text)
		for n := range 2 {
			told := len(h.uninstall()) == 1
			if diff := cmp.Diff(c.want, h.read()); diff != "" || told != (name == "approvals" && n == 0) {
				t.Errorf("%s: told %v (-want +got):\n%s", name, told, diff)
			}
		}
	}
}

// A record of an earlier version, whose marks Codex has written between.
func TestTablesOfOlderRecords(t *testing.T) {
	t.Parallel()
	old := host.Edit{Path: []string{"overtone"}, Block: true, Value: "\n# >>> overtone >>>\n[mcp_servers.overtone]\ncommand = \"overtone\"\nargs = [\"mcp\"]\n# <<< overtone <<<\n"}
	now := "model = \"x\"\n" + strings.Replace(old.Value, "# <<<", "enabled = false\n\n[tui]\ntheme = \"dark\"\n# mine\n# <<<", 1)
	after, whose, more, err := takeTable([]byte(now), written(old, []string{"mcp_servers", "overtone"}))
	if want := "model = \"x\"\n\n[tui]\ntheme = \"dark\"\n# mine\n"; string(after) != want || whose != ours || len(more) != 1 || err != nil {
		t.Errorf("%q, %v, %v, %v", after, whose, more, err)
	}
}

// What the user makes of our table stays, and is told; what belongs to it alone
// goes, and is told; a file that was made for it goes with it.
func TestTableOfOursChanged(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, changed := range []string{
		"# by overtone init\n[mcp_servers.overtone]\ncommand = \"/opt/overtone\"\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\", \"CLAUDE_CONFIG_DIR\", \"OVERTONE_HOME\"]\n",
		"# by overtone init\n[mcp_servers.overtone]\ncommand = \"overtone\"\nargs = [\"mcp\"]\n",
		"# by overtone init\n[mcp_servers]\novertone = 3\n",
		// It could be taken out of its line only.
		"mcp_servers = { overtone = { command = \"overtone\", args = [\"mcp\"], env_vars = [\"CODEX_HOME\", \"CLAUDE_CONFIG_DIR\", \"OVERTONE_HOME\"] }, a = { command = \"x\" } }\n",
	} {
		h := newCodexHome(t, t.TempDir())
		if _, err := h.init(); err != nil {
			t.Fatal(err)
		}
		h.write(changed)
		if got := h.uninstall(); h.read() != changed || len(got) != 1 || !strings.Contains(got[0], "mcp_servers.overtone was changed since and stays") {
			t.Errorf("%q: %q, %q", changed, got, h.read())
		}
		if got := h.uninstall(); h.read() != changed || len(got) > 0 {
			t.Errorf("%q, again: %q, %q", changed, got, h.read())
		}
		if _, err := h.init(); err != nil || h.read() != changed {
			t.Errorf("init over it: %v, %q", err, h.read())
		}
	}

	h := newCodexHome(t, t.TempDir())
	if _, err := h.init(); err != nil {
		t.Fatal(err)
	}
	h.write(h.read() + "enabled = false\n[mcp_servers.overtone.tools.recall]\napproval_mode = \"approve\"\n")
	got := h.uninstall()
	if _, err := os.Stat(h.toml); err == nil || len(got) != 1 || !strings.Contains(got[0], "mcp_servers.overtone.enabled, mcp_servers.overtone.tools is below") {
		t.Errorf("added to: %v, %q, %q", err, got, h.read())
	}
}

// A file that is not valid keeps uninstall from nothing but itself, and doctor
// says that Codex cannot start.
func TestBrokenTables(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	h := newCodexHome(t, t.TempDir())
	h.write("model = \n")
	h.uninstall()
	h.write("")
	if _, err := h.init(); err != nil {
		t.Fatal(err)
	}
	tools := func() (found []host.Health) {
		for _, f := range h.env.Examine(context.Background(), nil) {
			if f.ID == "tools" {
				found = append(found, f.Status)
			}
		}
		return found
	}
	if got := tools(); len(got) > 0 {
		t.Errorf("installed: %v", got)
	}
	h.write("model = \"x\"\n")
	if got := tools(); !slices.Equal(got, []host.Health{host.Warn}) {
		t.Errorf("taken out: %v", got)
	}
	h.write("model = \n")
	if got := tools(); !slices.Equal(got, []host.Health{host.Broken}) {
		t.Errorf("broken: %v", got)
	}
	_, err := h.env.planRemoval(host.All(), false)
	if err == nil || !strings.Contains(err.Error(), "line 1, column") || message.HintOf(err, message.EN) == "" {
		t.Errorf("broken: %v", err)
	}
	_, err = h.init()
	if err == nil || !strings.Contains(err.Error(), "line 1, column") || message.HintOf(err, message.EN) == "" {
		t.Errorf("broken: %v", err)
	}
	h.write("mcp_servers = { a = { command = 'x' } }\n")
	_, err = h.init()
	if err == nil || !strings.Contains(err.Error(), "mcp_servers.overtone cannot be added") || !strings.Contains(message.HintOf(err, message.EN), `: overtone = { command = "overtone", args = ["mcp"], env_vars = ["CODEX_HOME", `) {
		t.Errorf("inline: %v, %s", err, message.HintOf(err, message.EN))
	}
}

// Bytes of any kind: adding and taking out are each other's inverse, up to the
// newline that ended the user's last line.
func FuzzTables(f *testing.F) {
	shapes(f, func(_, _, text string) { f.Add([]byte(text)) })
	f.Add([]byte(" "))
	s := host.Of(host.Codex).Setup(host.Place{})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := s.Blocks[0]
		file := host.File{Before: data}
		all, err := readTOML(data)
		if err != nil {
			return
		}
		if whose, more := claimed(all, b); whose != nobodys || len(more) > 0 || addTable(&file, b) != nil {
			return
		}
		if !bytes.HasPrefix(file.After, data) || !equal(means(string(file.After)), withOurs(string(data))) {
			t.Fatalf("%q became %q", data, file.After)
		}
		marks := bytes.Count(data, []byte("# by overtone init"))
		after, whose, more, err := takeTable(file.After, written(file.Edits[0], b.Key))
		if err != nil || whose != ours || len(more) > 0 {
			t.Fatalf("%q: %v, %v, %v", file.After, err, whose, more)
		}
		if got := bytes.TrimRight(after, "\r\n"); marks == 0 && !bytes.Equal(got, bytes.TrimRight(data, "\r\n")) {
			t.Fatalf("%q became %q", data, after)
		}
	})
}
