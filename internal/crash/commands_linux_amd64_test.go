package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// deed is a command that writes. $CLAUDE and $CODEX stand for recorded sessions, $CLONE
// for a clone that is there.
type deed struct {
	command string
	in      string   // for its stdin
	before  []string // commands that make it possible once more; they may have nothing to do
	without []string // files that go before it, as patterns
	after   []string // commands that print the same lines when what they derived is made anew
	derived string
}

const hosts = " --host claude-code --host codex --host copilot --host opencode --host gemini"

// told is what a host tells a hook.
func told(more string) string {
	return `{"session_id":"$CLAUDE","transcript_path":"$TRANSCRIPT","cwd":"$HOME",` + more + `}`
}

// deeds are all commands that write, but for those that need an agent (watch, continue in
// agents that import), a hub, or a person at a terminal (workflow trust, and run, which
// needs trust).
var deeds = []deed{
	{command: "init --yes" + hosts, before: []string{"uninstall --yes"}},
	{command: "uninstall --yes", before: []string{"init --yes" + hosts}},
	{command: "uninstall --yes --purge", before: []string{"init --yes" + hosts}},
	{command: "config set compact.mode auto", before: []string{"config set compact.mode off"}},
	{command: "config set language en", without: []string{".overtone/config.yaml"}},
	{command: "sessions --json", without: []string{".overtone/mirror/gemini"}},
	{command: "audit --json --html page.html", after: []string{"audit --json"}, derived: ".overtone/audit.cache"},
	// The session that grows does not repeat these two words: of more than 400 messages that
	// are worth the same, any may be shown.
	{command: "recall pleasant --json", after: []string{"recall everybody --limit 100000", "recall parser --limit 100000"}, derived: ".overtone/index"},
	{command: "compress $CLAUDE --whole-file --preset heavy --json"},
	{command: "compress $CODEX --whole-file --preset emergency --json"},
	{command: "compress " + shrunk + " --bands 0-100:heavy-compress --json"},
	{command: "sessions rm $CLONE --yes", before: []string{"compress $CLAUDE --whole-file --preset heavy"}},
	{command: "sessions rm $CLONE --yes", before: []string{"continue $CODEX --in gemini"}},
	{command: "continue $CLAUDE --json"},
	{command: "continue $CLAUDE --in codex"},
	{command: "continue $CLAUDE --in gemini"},
	{command: "continue $CODEX --in claude-code"},
	{command: "compact packet $CLAUDE"},
	{command: "compact explain $CODEX"},
	{command: "workflow new mine --stages DEV,REVIEW", without: []string{".overtone/workflows/mine*", ".claude/workflows/mine*", "mine*"}},
	{command: "workflow start quick --session $CLAUDE", before: []string{"workflow cancel --session $CLAUDE"}},
	{command: "workflow skip TEST --session $CLAUDE", before: []string{"workflow cancel --session $CLAUDE", "workflow start quick --session $CLAUDE"}},
	{command: "workflow restart DEV --session $CLAUDE", before: []string{"workflow start quick --session $CLAUDE"}},
	{command: "workflow cancel --session $CLAUDE", before: []string{"workflow start quick --session $CLAUDE"}},
	{command: "hook pre-compact --host claude-code", in: told(`"trigger":"auto"`)},
	{command: "hook session-start --host claude-code", in: told(`"source":"compact"`)},
	{command: "hook user-prompt-submit --host claude-code", in: told(`"prompt":"go on"`)},
	{command: "hook stop --host claude-code", in: told(`"last_assistant_message":"done","background_tasks":[]`)},
	{command: "cleanup"},
}

// settings are files of the user's that init edits.
var settings = map[string]string{
	".claude/settings.json": "{ \"model\": \"opus\",\n\t\"hooks\": {},  \"n\": 12345678901234567890 }\n",
	".codex/config.toml":    "# mine\nmodel = \"x\"   # kept\n",
	".gemini/settings.json": "{\r\n  \"theme\": \"dark\"\r\n}",
}

// library is a world with recorded sessions of all hosts, or made-up ones.
type library struct {
	world
	sources map[string]fs.FileInfo // by path
	names   *strings.Replacer
	sound   map[string]fs.FileInfo // files that were looked at, as they were
	last    int                    // message of the session that grows
}

func newLibrary(t *testing.T, all bool) *library {
	t.Helper()
	l := &library{world: shelf(t), sources: map[string]fs.FileInfo{}, sound: map[string]fs.FileInfo{}, last: 7}
	args := []string{"-place", l.dir}
	if !all {
		args = append(args, "-sample")
	}
	placer := exec.Command(filepath.Join(filepath.Dir(l.program), "corpus"), args...)
	placer.Stderr = os.Stderr
	out, err := placer.Output()
	if err != nil {
		t.Fatal(err)
	}
	ids, sizes := map[string]string{}, map[string]int{}
	for line := range strings.Lines(string(out)) {
		var size int
		var host, id string
		if _, err := fmt.Sscan(line, &size, &host, &id); err != nil {
			t.Fatal(line, err)
		}
		if size > sizes[host] && size < 1<<20 {
			ids[host], sizes[host] = id, size
		}
	}
	t.Logf("%d sessions, %v", strings.Count(string(out), "\n"), ids)
	for name, text := range settings {
		path := filepath.Join(l.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	transcript := ""
	l.each(func(path string, info fs.FileInfo) {
		if rel, _ := filepath.Rel(l.dir, path); settings[filepath.ToSlash(rel)] == "" {
			l.sources[path] = info
		}
		if filepath.Base(path) == ids["claude-code"]+".jsonl" {
			transcript = path
		}
	})
	l.names = strings.NewReplacer("$CLAUDE", ids["claude-code"], "$CODEX", ids["codex"], "$TRANSCRIPT", transcript, "$HOME", l.dir)
	return l
}

// each visits all files.
func (l *library) each(visit func(path string, info fs.FileInfo)) {
	l.t.Helper()
	err := filepath.WalkDir(l.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			visit(path, info)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// do runs a command to its end. No command waits for somebody who was killed, and what
// uninstall gives back is what was there.
func (l *library) do(at, command string) (stdout, stderr string, err error) {
	l.t.Helper()
	stdout, stderr, err = l.run(strings.Fields(command)...)
	if strings.Contains(stderr, "waiting for") || strings.Contains(stderr, "panic") {
		l.t.Errorf("%s: then %s: %s", at, command, stderr)
	}
	if !strings.HasPrefix(command, "uninstall") {
		return stdout, stderr, err
	}
	for name, text := range settings {
		if got, readErr := os.ReadFile(filepath.Join(l.dir, name)); string(got) != text {
			l.t.Errorf("%s: then %s leaves %s as %q (%v %v %s)", at, command, name, got, readErr, err, stderr)
		}
	}
	return stdout, stderr, err
}

// temporary is a file under a name that nobody reads.
func temporary(path string) bool {
	name := filepath.Base(path)
	return filepath.Ext(name) == ".tmp" || name[0] == '.' && strings.Contains(name, ".overtone-")
}

// check looks at every file that is new or changed: none is half written, none is locked,
// no source has changed, and every session that is no source is known as a clone. It
// returns the clones.
func (l *library) check(at string) (clones []string) {
	l.t.Helper()
	known := map[string]string{}
	entries, _ := filepath.Glob(filepath.Join(l.dir, ".overtone", "clones", "*.json"))
	for _, path := range entries {
		var doc struct{ ID, Path string }
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &doc) != nil {
			l.t.Errorf("%s: %s holds %q", at, path, data)
		}
		known[doc.Path] = doc.ID
	}
	seen := 0
	l.each(func(path string, info fs.FileInfo) {
		rel, _ := filepath.Rel(l.dir, path)
		same := func(was fs.FileInfo) bool { return was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) }
		if was, ok := l.sources[path]; ok {
			if seen++; !same(was) {
				l.t.Errorf("%s: the source %s has changed", at, rel)
			}
			return
		}
		if temporary(path) {
			return
		}
		if !strings.HasPrefix(rel, ".overtone") && filepath.Ext(path) == ".jsonl" && filepath.Base(path) != "session_index.jsonl" { // Codex's list of titles
			if known[path] == "" {
				l.t.Errorf("%s: %s is no clone that is known", at, rel)
			}
			clones = append(clones, known[path])
		}
		if was, ok := l.sound[path]; ok && same(was) {
			return
		}
		l.sound[path] = info
		data, err := os.ReadFile(path)
		if err != nil {
			l.t.Fatal(err)
		}
		whole := true
		switch filepath.Ext(path) {
		case ".json":
			whole = json.Valid(data)
		case ".jsonl":
			whole = len(data) == 0 || bytes.HasSuffix(data, []byte("\n"))
			for line := range bytes.Lines(data) {
				whole = whole && json.Valid(line)
			}
		case ".html":
			whole = bytes.HasSuffix(bytes.TrimSpace(data), []byte("</html>"))
		case ".yaml", ".toml", ".md", ".js":
			whole = bytes.HasSuffix(data, []byte("\n"))
		}
		if !whole {
			l.t.Errorf("%s: %s is half written: %.300q", at, rel, data)
		}
		if name := filepath.Base(path); name == "lock" || filepath.Ext(name) == ".lock" {
			f, err := os.Open(path)
			if err != nil {
				l.t.Fatal(err)
			}
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				l.t.Errorf("%s: %s is locked: %v", at, rel, err)
			}
			f.Close()
			delete(l.sound, path)
		}
	})
	if seen != len(l.sources) {
		l.t.Errorf("%s: of %d sources %d are left", at, len(l.sources), seen)
	}
	return clones
}

// ready makes a command possible once more.
func (l *library) ready(at string, d deed) (args []string) {
	l.t.Helper()
	for _, id := range l.check(at) {
		if _, errs, err := l.do(at, "sessions rm "+id+" --yes"); err != nil {
			l.t.Errorf("%s: the clone cannot be removed: %s", at, errs)
		}
	}
	for _, pattern := range d.without {
		paths, _ := filepath.Glob(filepath.Join(l.dir, pattern))
		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	for _, command := range d.before {
		_, _, _ = l.do(at, l.names.Replace(command)) // a workflow may be started, or cancelled, already
	}
	// Something is new since the last time, and something is old.
	grown := filepath.Join(l.projects(), shrunk+".jsonl")
	f, err := os.OpenFile(grown, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	l.last++
	fmt.Fprintf(f, `{"parentUuid":"%08d-0000-4000-8000-000000000000","type":"user","message":{"role":"user","content":"It is pleasant to know zebra %d."},"uuid":"%08d-0000-4000-8000-000000000000","timestamp":"2026-01-01T00:01:00.000Z","sessionId":%q}`+"\n", l.last-1, l.last, l.last, shrunk)
	if err := f.Close(); err != nil {
		l.t.Fatal(err)
	}
	if l.sources[grown], err = os.Stat(grown); err != nil {
		l.t.Fatal(err)
	}
	if d.command == "cleanup" {
		old := filepath.Join(l.dir, ".overtone", "sessions", "old")
		_, _, _ = l.do(at, "workflow start quick --session old") // it may have been started before
		_, _, _ = l.do(at, "workflow cancel --session old")
		list, _ := filepath.Glob(filepath.Join(old, "*"))
		for _, path := range append(list, old) {
			then := time.Now().Add(-5 * 24 * time.Hour)
			if err := os.Chtimes(path, then, then); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	command := l.names.Replace(d.command)
	if strings.Contains(command, "$CLONE") {
		clones := l.check(at)
		if len(clones) != 1 {
			l.t.Fatalf("%s: the clones are %q", at, clones)
		}
		command = strings.ReplaceAll(command, "$CLONE", clones[0])
	}
	return strings.Fields(command)
}

// Killed anywhere, again and again in one home, no command that writes leaves a file half
// written, a lock, or a session that is not known as a clone; the command then still can
// be carried out, and what it left under other names goes. `make crash` kills each
// OVERTONE_KILLS times, with all recorded sessions in the home.
func TestCommandsKilledAtRandom(t *testing.T) {
	all := os.Getenv("OVERTONE_CRASH") != ""
	kills, _ := strconv.Atoi(os.Getenv("OVERTONE_KILLS"))
	if kills == 0 {
		kills = 1
	}
	seed, _ := strconv.ParseUint(os.Getenv("OVERTONE_SEED"), 10, 64)
	l := newLibrary(t, all)
	for _, command := range []string{"sessions --json", "audit --json", "recall pleasant"} {
		if _, errs, err := l.do("before", command); err != nil {
			t.Fatal(command, errs)
		}
	}
	sum, lived := 0, 0
	for i, d := range deeds {
		t.Run(d.command, func(t *testing.T) {
			l.t = t
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			in := []byte(l.names.Replace(d.in))
			undisturbed := func(at string) int {
				end := l.disturbed(target{}, in, l.ready(at, d)...)
				if end.status.ExitStatus() != 0 || strings.Contains(end.stderr, "waiting for") {
					t.Fatalf("%s: it ends with %d: %s", at, end.status.ExitStatus(), end.stderr)
				}
				return end.calls
			}
			calls := undisturbed("before")
			at := "not yet killed"
			killed := 0
			for tries := 0; killed < kills && tries < 4*kills; tries++ {
				end := l.disturbed(target{n: 1 + rnd.IntN(calls)}, in, l.ready(at, d)...)
				at = fmt.Sprintf("killed before %s (%d)", end.last, end.calls)
				if end.status.Signaled() {
					killed++
				} else {
					lived, calls = lived+1, end.calls // it had less to do than at first
					if end.status.ExitStatus() != 0 {
						t.Errorf("it ends with %d: %s", end.status.ExitStatus(), end.stderr)
					}
				}
				l.check(at)
			}
			sum += killed
			t.Logf("%d kills at %d calls", killed, calls)
			undisturbed("after all")
			for _, command := range d.after {
				got, _, _ := l.do("after all", command)
				if err := os.Rename(filepath.Join(l.dir, d.derived), filepath.Join(t.TempDir(), "aside")); err != nil {
					t.Fatal(err)
				}
				want, _, err := l.do("after all", command)
				// Of what is worth the same, any may be first; when it was made differs.
				made := func(line string) bool { return strings.Contains(line, `"made":`) }
				a, b := slices.DeleteFunc(strings.Split(got, "\n"), made), slices.DeleteFunc(strings.Split(want, "\n"), made)
				slices.Sort(a)
				slices.Sort(b)
				if diff := cmp.Diff(b, a); diff != "" {
					t.Errorf("%s, made anew and after kills: %.3000s %v", command, diff, err)
				}
			}
		})
	}
	l.t = t
	l.leftovers()
	t.Logf("seed %d: %d kills of %d commands, %d lived", seed, sum, len(deeds), lived)
}

// leftovers checks that files under temporary names go with later commands.
func (l *library) leftovers() {
	then := time.Now().Add(-2 * time.Hour)
	list := func(age bool) (left []string) {
		l.each(func(path string, info fs.FileInfo) {
			if temporary(path) {
				left = append(left, path)
				if err := os.Chtimes(path, then, then); age && err != nil {
					l.t.Fatal(err)
				}
			}
		})
		return left
	}
	before := list(true)
	for _, d := range deeds {
		if !strings.Contains(d.command, "$CLONE") {
			l.disturbed(target{}, []byte(l.names.Replace(d.in)), l.ready("leftovers", d)...)
		}
	}
	after := slices.DeleteFunc(list(false), func(path string) bool { return !slices.Contains(before, path) })
	if l.t.Logf("%d temporary files were left, %d after the next commands", len(before), len(after)); len(after) > 0 {
		l.t.Errorf("left: %q", after)
	}
}
