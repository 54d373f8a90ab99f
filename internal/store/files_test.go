package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Where our files lie: as the variables say, else below the home; without either,
// nowhere.
func TestFindFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for name, tc := range map[string]struct {
		env                 map[string]string
		root, claude, shown string
		fails               bool
	}{
		"the usual place":         {map[string]string{"HOME": root}, at(".overtone"), at(".claude"), "~/.claude", false},
		"a home on Windows":       {map[string]string{"USERPROFILE": root}, at(".overtone"), at(".claude"), "~/.claude", false},
		"chosen":                  {map[string]string{"HOME": root, "OVERTONE_HOME": at("o"), "CLAUDE_CONFIG_DIR": at("c")}, at("o"), at("c"), at("c"), false},
		"chosen as it would be":   {map[string]string{"HOME": root, "CLAUDE_CONFIG_DIR": at(".claude")}, at(".overtone"), at(".claude"), "~/.claude", false},
		"chosen without a home":   {map[string]string{"OVERTONE_HOME": at("o"), "CLAUDE_CONFIG_DIR": at("c")}, at("o"), at("c"), at("c"), false},
		"half chosen, no home":    {map[string]string{"OVERTONE_HOME": at("o")}, at("o"), "", "", true},
		"the other half, no home": {map[string]string{"CLAUDE_CONFIG_DIR": at("c")}, "", at("c"), at("c"), true},
	} {
		f, err := FindFolders(func(k string) string { return tc.env[k] })
		if (err != nil) != tc.fails {
			t.Errorf("%s: %v", name, err)
		}
		if tc.fails {
			continue
		}
		if f.Root != tc.root || f.Claude != tc.claude || f.ShownClaude != tc.shown {
			t.Errorf("%s: %+v", name, f)
		}
	}
	f, err := FindFolders(func(k string) string { return map[string]string{"HOME": root}[k] })
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{at("a", "b"): filepath.Join("~", "a", "b"), root: root, filepath.Dir(root): filepath.Dir(root), at("..", "x"): at("..", "x")} {
		if got := f.Short(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
	if got := (Folders{}).Short("/a"); got != "/a" {
		t.Errorf("without a home: %s", got)
	}
}

// A record is read as it was written, and one that ends too early is known to be bad.
func TestDecoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u, i, b := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "b")
		data := binary.AppendUvarint(nil, u)
		data = binary.AppendVarint(data, i)
		data = binary.AppendUvarint(data, uint64(len(b)))
		data = append(data, b...)
		d := Decoder{B: data}
		gotU, gotI := d.Uvarint(), d.Varint()
		if got := d.Take(d.Uvarint()); gotU != u || gotI != i || string(got) != string(b) || d.Bad || len(d.B) != 0 {
			t.Fatalf("%d %d %q, bad %v", gotU, gotI, got, d.Bad)
		}
		cut := Decoder{B: data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]}
		cut.Uvarint()
		cut.Varint()
		cut.Take(cut.Uvarint())
		if !cut.Bad || cut.Uvarint() != 0 || cut.Take(1) != nil {
			t.Fatalf("%d of %d bytes are good", len(cut.B), len(data))
		}
	})
}

// A model's window is remembered for its next session, and the list has an end.
func TestWindowsAreLearnt(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	s, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	if h.Window("m") != 0 {
		t.Error("nobody has told")
	}
	for _, tc := range []struct {
		model  string
		window int64
		want   int64
	}{{"m", 200_000, 200_000}, {"m", 0, 200_000}, {"m", -1, 200_000}, {"m", 1_000_000, 1_000_000}, {"", 5, 0}} {
		if err := h.LearnWindow(tc.model, tc.window); err != nil {
			t.Fatal(err)
		}
		if got := s.Window(tc.model); got != tc.want {
			t.Errorf("after %d: %d, want %d", tc.window, got, tc.want)
		}
	}
	for i := range maxWindows {
		if err := h.LearnWindow(fmt.Sprint("n", i), 7); err != nil {
			t.Fatal(err)
		}
	}
	if h.Window("m") != 0 || h.Window(fmt.Sprint("n", maxWindows-1)) != 7 {
		t.Errorf("the list has no end: %d, %d", h.Window("m"), h.Window(fmt.Sprint("n", maxWindows-1)))
	}
	for _, damaged := range []string{"{broken", "null", "[]"} {
		if err := os.WriteFile(filepath.Join(h.Root(), windowsFile), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if h.Window("n1") != 0 || h.LearnWindow("n1", 9) != nil || h.Window("n1") != 9 {
			t.Errorf("%s is not begun anew", damaged)
		}
	}
}

// The files of a session in the Claude folder go along when it moves: its own, of the
// known names, under the new session's id.
func TestReportsMove(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	from, _ := h.Session("s1")
	to, _ := h.Session("s2")
	for _, name := range []string{
		"pipeline-context-s1-QA.md", "reflection-memory-s1-QA.md", "barrier-state-s1.json",
		"pipeline-context-s1.md", "pipeline-context-s1-.md", "pipeline-context-s1-QA.txt", "pipeline-context-s1-a b.md", "barrier-state-s1.md", "pipeline-context-s3-QA.md",
		"pipeline-context-s1-" + strings.Repeat("X", 65) + ".md",
	} {
		if err := os.WriteFile(filepath.Join(h.ClaudeDir(), name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reports, err := from.Reports()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(reports)), []string{"barrier-state-.json", "pipeline-context--QA.md", "reflection-memory--QA.md"}; !slices.Equal(got, want) {
		t.Errorf("reports %v, want %v", got, want)
	}
	err = to.Update(func(tx *Tx) error {
		for name, data := range reports {
			if err := tx.WriteReport(name, data); err != nil {
				return err
			}
		}
		for _, bad := range []string{"settings.json", "pipeline-context-../x.md", "barrier-state-x"} {
			if tx.WriteReport(bad, nil) == nil {
				t.Errorf("%s is written", bad)
			}
		}
		if tx.WriteReport("pipeline-context--QA.md", make([]byte, maxContext+1)) == nil {
			t.Error("a report of any size is written")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(h.ClaudeDir(), "pipeline-context-s2-QA.md")); err != nil || string(data) != "pipeline-context-s1-QA.md" {
		t.Errorf("%s, %v", data, err)
	}
	lost := New(t.TempDir(), filepath.Join(t.TempDir(), "none"), time.Now)
	if s, _ := lost.Session("s1"); s != nil {
		if reports, err := s.Reports(); err != nil || len(reports) != 0 {
			t.Errorf("no folder: %v, %v", reports, err)
		}
	}
}

// What is of no use is given another name, and nothing of it is lost.
func TestMovedAside(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), func() time.Time { return time.Unix(7, 0) })
	var told []error
	h.OnRepair(func(err error) { told = append(told, err) })
	s, _ := h.Session("s1")
	err := s.Update(func(tx *Tx) error {
		if err := tx.Write("y.json", []byte("y")); err != nil {
			return err
		}
		path, err := tx.SetAside("y.json", errors.New("broken"))
		if err != nil || filepath.Base(path) != "y.json.damaged-19700101-000007.000000000" {
			t.Errorf("%s, %v", path, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "y" {
			t.Errorf("%s: %s, %v", path, data, err)
		}
		if _, err := tx.Read("y.json"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("still there: %v", err)
		}
		if len(told) != 1 || !strings.Contains(told[0].Error(), "y.json") || !strings.Contains(told[0].Error(), "broken") {
			t.Errorf("told %v", told)
		}
		for _, name := range []string{lockFile, TimelineFile, "../x"} {
			if _, err := tx.SetAside(name, errors.New("x")); err == nil || tx.Remove(name) == nil {
				t.Errorf("%s is moved or removed", name)
			}
		}
		if err := tx.Write("z.json", []byte("z")); err != nil {
			return err
		}
		return errors.Join(tx.Remove("z.json"), tx.Remove("z.json"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Jobs of the home and folders of others are claimed by one at a time.
func TestClaimsOfTheHome(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders are not locked there")
	}
	h := New(filepath.Join(t.TempDir(), "new"), t.TempDir(), time.Now)
	if h.Leased(WatcherLease) {
		t.Error("nobody has it")
	}
	if _, err := os.Stat(h.Root()); err == nil {
		t.Error("asking leaves a trace")
	}
	release, ok, err := h.TryLease(WatcherLease)
	if err != nil || !ok || !h.Leased(WatcherLease) {
		t.Fatal(ok, err)
	}
	if _, again, err := h.TryLease(WatcherLease); again || err != nil {
		t.Errorf("claimed twice: %v", err)
	}
	release()
	if h.Leased(WatcherLease) {
		t.Error("still taken")
	}
	path := filepath.Join(h.Root(), "x.lock")
	release, ok, err = TryLock(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, again, _ := TryLock(path); again {
		t.Error("locked twice")
	}
	release()
	if _, _, err := TryLock(filepath.Join(path, "below-a-file")); err == nil {
		t.Error("a lock below a file")
	}
	dir := t.TempDir()
	unlock, err := LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLockFolder(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("held by another, at once: %v", err)
	}
	if _, err := LockFolder(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("a folder is locked twice: %v", err)
	}
	unlock()
	if unlock, err = LockFolder(dir); err != nil {
		t.Fatal(err)
	}
	unlock()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("something is left: %v, %v", list, err)
	}
	if _, err := LockFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is locked")
	}
}

// A timeline's stamp tells whether it may hold something new.
func TestGrown(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	s, _ := h.Session("s1")
	if _, ok := s.Grown(); ok {
		t.Error("a timeline that is not there has grown")
	}
	emit := func() [2]int64 {
		t.Helper()
		if err := s.Update(func(tx *Tx) error { return tx.Emit(On("session:start")) }); err != nil {
			t.Fatal(err)
		}
		stamp, ok := s.Grown()
		if !ok {
			t.Fatal("no stamp")
		}
		return stamp
	}
	first := emit()
	if again, _ := s.Grown(); again != first {
		t.Errorf("%v became %v, and nothing was written", first, again)
	}
	if second := emit(); second[0] <= first[0] {
		t.Errorf("%v became %v", first, second)
	}
	if err := s.Reachable(); err != nil {
		t.Error(err)
	}
}

// Who reads on from a mark gets as many entries as it asked for, or as many bytes, and
// finds its place again where the file was rewritten; an entry that is gone is told.
func TestReadingOnFromAMark(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit := func(from, to int) {
		t.Helper()
		update(t, s, func(tx *Tx) error {
			for n := from; n <= to; n++ {
				if err := tx.Emit(On("stage:complete", "iteration", n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	after := func(m Mark, limit int, bytes int64) (numbers string, last Mark, lost bool) {
		t.Helper()
		list, lost, err := s.After(m, limit, bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			numbers += o.Text("iteration") + ":" + fmt.Sprint(o.Mark.Seq) + " "
			last = o.Mark
		}
		return numbers, last, lost
	}
	if got, _, lost := after(Mark{}, 9, 1<<20); got != "" || lost {
		t.Errorf("a timeline that is not there: %q, %v", got, lost)
	}
	emit(1, 5)
	if got, _, _ := after(Mark{}, 2, 1<<20); got != "1:1 2:2 " {
		t.Errorf("two of five: %q", got)
	}
	if got, _, _ := after(Mark{}, 9, 1); got != "1:1 " {
		t.Errorf("one byte is one entry: %q", got)
	}
	line := func() int64 {
		list, _, err := s.After(Mark{}, 1, 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return int64(len(list[0].Raw))
	}()
	if got, _, _ := after(Mark{}, 9, 2*line); got != "1:1 2:2 " {
		t.Errorf("the bytes of two: %q", got)
	}
	_, third, _ := after(Mark{}, 3, 1<<20)
	if got, _, lost := after(third, 9, 1<<20); got != "4:4 5:5 " || lost {
		t.Errorf("after the third: %q, %v", got, lost)
	}
	rewrite := func(change func(lines []string) []string) {
		t.Helper()
		data, err := os.ReadFile(s.path(TimelineFile))
		if err != nil {
			t.Fatal(err)
		}
		writeRaw(t, s.path(TimelineFile), strings.Join(change(strings.SplitAfter(string(data), "\n")), ""))
	}
	// The first line is trimmed away: all others have moved.
	rewrite(func(lines []string) []string { return lines[1:] })
	if got, _, lost := after(third, 9, 1<<20); got != "4:4 5:5 " || lost {
		t.Errorf("after a trim: %q, %v", got, lost)
	}
	if first, ok, err := s.First(third); err != nil || !ok || first.Seq != 1 {
		t.Errorf("the oldest that is left: %+v, %v, %v", first, ok, err)
	}
	if first, ok, _ := s.First(Mark{}); !ok || first != (Mark{}) {
		t.Errorf("nothing was read before: %+v, %v", first, ok)
	}
	// A damaged line is no entry and moves no number.
	rewrite(func(lines []string) []string { return append([]string{lines[0], lines[1], "broken\n"}, lines[2:]...) })
	if got, _, lost := after(third, 9, 1<<20); got != "4:4 5:5 " || lost {
		t.Errorf("past a damaged line: %q, %v", got, lost)
	}
	// The marked entry itself is gone.
	rewrite(func(lines []string) []string { return lines[3:] })
	if got, _, lost := after(third, 9, 1<<20); got != "4:5 5:6 " || !lost {
		t.Errorf("after a loss: %q, %v", got, lost)
	}
	if _, ok, _ := s.First(third); ok {
		t.Error("an entry that is gone is found")
	}
	// A line without its end is left for the next call.
	rewrite(func(lines []string) []string { return append(lines, `{"type":"stage:complete","iteration":6}`) })
	if got, _, _ := after(Mark{}, 9, 1<<20); got != "4:1 5:2 " {
		t.Errorf("half a line: %q", got)
	}
}

// A session that is used again while the clean-up looks at it stays.
func TestCleanupSparesWhoCameBack(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	update(t, s, func(tx *Tx) error { return tx.Write(WorkflowFile, []byte("{}")) })
	c := &cleanup{home: s.home, before: time.Now().Add(-time.Hour)}
	if err := c.removeSession(s); err == nil || !strings.Contains(err.Error(), "in use again") {
		t.Errorf("a session of this hour: %v", err)
	}
	if _, err := os.Stat(s.dir); err != nil {
		t.Fatal(err)
	}
	c.before = time.Now().Add(time.Hour)
	if err := c.removeSession(s); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// Nesting is bounded before a parser goes down it; brackets in strings do not count.
func TestDepthOfJSON(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"as deep as may be": {nested(maxDepth), true}, "deeper": {nested(maxDepth + 1), false},
		"many beside each other": {"[" + strings.Repeat("[],", maxDepth) + "[]]", true},
		"in a string":            {`"` + strings.Repeat("[", 2*maxDepth) + `"`, true},
		"behind a quoted quote":  {`["\"", ` + nested(maxDepth-1) + `]`, true},
		"deeper behind a string": {`["\"[", ` + nested(maxDepth) + `]`, false},
		"no JSON":                {"[", false},
	} {
		if got := ValidJSON([]byte(tc.text)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a look over the home calls left over: old half-written copies and folders on
// their way out; not what is young, and not a session that nobody used for long.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	update(t, s, func(tx *Tx) error { return tx.Write(WorkflowFile, []byte("{}")) })
	h := s.home
	age := func(path string, d time.Duration) {
		t.Helper()
		if err := os.Chtimes(path, clock.Add(-d), clock.Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	old, young := filepath.Join(s.dir, "old.tmp"), filepath.Join(s.dir, "young.tmp")
	trash := filepath.Join(h.sessionsDir(), trashPrefix+"x")
	for _, path := range []string{old, young, filepath.Join(trash, "y.tmp"), filepath.Join(h.root, trashPrefix+"file")} {
		writeRaw(t, path, "")
		age(path, leftoverAge+time.Second)
	}
	age(young, leftoverAge)
	for _, path := range []string{trash, s.dir, h.sessionsDir(), filepath.Join(s.dir, WorkflowFile)} {
		age(path, 100*time.Hour)
	}
	got, err := h.Health(1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(h.root)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, path := range got.Leftover {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, filepath.ToSlash(rel))
	}
	slices.Sort(left)
	if want := []string{"sessions/" + trashPrefix + "x", "sessions/s/old.tmp"}; !slices.Equal(left, want) {
		t.Errorf("left over: %v, want %v", left, want)
	}
	if len(got.Held) != 0 {
		t.Errorf("%+v", got)
	}
	if few, err := h.Health(2, 0); err != nil || few.Looked != 2 {
		t.Errorf("%+v, %v", few, err)
	}
}
