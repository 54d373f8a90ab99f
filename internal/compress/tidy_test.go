package compress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// shelf is a folder of sessions, the list of clones and what is kept for them.
type shelf struct {
	t    *testing.T
	list Clones
	kept Dir
	dir  string
}

func newShelf(t *testing.T) (shelf, *transcript.Session) {
	s := talkative(t)
	return shelf{t, ClonesIn(t.TempDir()), Dir(t.TempDir()), filepath.Dir(s.Path)}, s
}

// clone compresses a session.
func (s shelf) clone(of *transcript.Session, b string) *transcript.Session {
	s.t.Helper()
	o := Options{Bands: bands(s.t, b), Tools: ranges(s.t, ParseTools, "0-100:truncate"), Pool: poolOf(func(p *Pool) { p.Cache = s.kept })}
	res, err := plan(s.t, of, o).Run(s.t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(of.Host, runTime), Now: time.Now(), Clones: s.list})
	if err != nil {
		s.t.Fatal(err)
	}
	return open(s.t, res.Clone.Path)
}

// remove takes clones away and tidies.
func (s shelf) remove(clones ...*transcript.Session) Tidied {
	s.t.Helper()
	var ids []string
	for _, c := range clones {
		if err := os.Remove(c.Path); err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	return s.tidy(time.Now(), ids...)
}

func (s shelf) tidy(now time.Time, ids ...string) Tidied {
	s.t.Helper()
	var files []transcript.File
	for _, path := range tree(s.t, s.dir) {
		info, err := os.Stat(path)
		if err != nil {
			s.t.Fatal(err)
		}
		files = append(files, transcript.File{Path: path, ID: strings.TrimSuffix(filepath.Base(path), ".jsonl"), ModTime: info.ModTime()})
	}
	got, err := Tidy(s.t.Context(), s.list, s.kept, files, ids, now)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// whole checks that every reference in a clone leads to its text.
func (s shelf) whole(c *transcript.Session) {
	s.t.Helper()
	raw, err := os.ReadFile(c.Path)
	if err != nil {
		s.t.Fatal(err)
	}
	refs := 0
	for line := range bytes.Lines(raw) {
		if m, ok := transcript.MarkerOf(line); ok {
			refs++
			if text, ok := s.kept.Originals().Find(m.Hash); !ok || textHash(text) != m.Hash {
				s.t.Errorf("%s leads nowhere", m.Hash)
			}
		}
	}
	if refs == 0 {
		s.t.Error("no references")
	}
}

func (s shelf) files() int { return len(s.kept.originalFiles()) }

// What was kept for a clone goes with it. Another clone of the same session has
// its own.
func TestOriginalsGoWithTheirClone(t *testing.T) {
	t.Parallel()
	s, src := newShelf(t)
	a, b := s.clone(src, "0-100:compress"), s.clone(src, "0-100:heavy-compress")
	if got := s.tidy(time.Now()); got.Freed != 0 || len(got.Stays) != 0 || got.Busy || s.files() != 2 {
		t.Fatalf("nothing is gone: %+v", got)
	}
	if got := s.remove(a); got.Freed == 0 || len(got.Stays) != 0 || s.files() != 1 || len(s.list.All()) != 1 {
		t.Errorf("%+v", got)
	}
	s.whole(b)
	if got := s.remove(b); got.Freed == 0 || s.files() != 0 || len(s.list.All()) != 0 {
		t.Errorf("%+v", got)
	}
}

// A clone's clone, and a fork that the host made of one, take references with them;
// what these lead to stays for as long as they are there.
func TestOriginalsStayForWhoRefersToThem(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(s shelf, c *transcript.Session) *transcript.Session{
		"clone": func(s shelf, c *transcript.Session) *transcript.Session {
			raw, err := os.ReadFile(c.Path)
			if err != nil {
				s.t.Fatal(err)
			}
			more := chat{lines: strings.Split(strings.TrimSpace(string(raw)), "\n"), n: 90}
			more.user(long("one more"))
			if err := os.WriteFile(c.Path, []byte(strings.Join(more.lines, "\n")+"\n"), 0o600); err != nil {
				s.t.Fatal(err)
			}
			return s.clone(open(s.t, c.Path), "0-100:compress")
		},
		"fork": func(s shelf, c *transcript.Session) *transcript.Session {
			raw, err := os.ReadFile(c.Path)
			if err != nil {
				s.t.Fatal(err)
			}
			path := filepath.Join(s.dir, "fork.jsonl")
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				s.t.Fatal(err)
			}
			return open(s.t, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, src := newShelf(t)
			a := s.clone(src, "0-100:compress")
			b := other(s, a)
			if err := os.Remove(src.Path); err != nil {
				t.Fatal(err)
			}
			got := s.remove(a)
			if got.Freed != 0 || len(got.Stays) != 1 || got.Stays[0].Clone != a.ID || got.Stays[0].For != strings.TrimSuffix(filepath.Base(b.Path), ".jsonl") || got.Stays[0].Size == 0 {
				t.Errorf("%+v", got)
			}
			s.whole(b)
			if got = s.remove(b); got.Freed == 0 || len(got.Stays) != 0 || s.files() != 0 || len(s.list.All()) != 0 {
				t.Errorf("%+v, %d files", got, s.files())
			}
		})
	}
}

// The digits of a mark in any text are a reference, too, wherever a buffer ends.
func TestRefersAcrossBuffers(t *testing.T) {
	t.Parallel()
	digits := map[uint32]struct{}{0x0a1b2c3d: {}}
	path := filepath.Join(t.TempDir(), "x")
	for _, text := range []string{"…#0a1b2c3d", `\u2026#0a1b2c3d`, `"sha256":"0a1b2c3d`} {
		for cut := range len(text) + 1 {
			data := slices.Concat(bytes.Repeat([]byte("a# \"sha255\":"), window/10)[:window-cut], []byte(text))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if ok, err := refers(t.Context(), path, digits); !ok || err != nil {
				t.Fatalf("%s at %d: %v, %v", text, cut, ok, err)
			}
		}
	}
	if err := os.WriteFile(path, []byte("…#0a1b2c3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, err := refers(t.Context(), path, digits); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// A record comes before its clone. One whose clone never came goes after an hour;
// until then whoever makes it may need anything. A disk that is not there is no
// clone that is gone.
func TestTidyOfRunsThatDied(t *testing.T) {
	t.Parallel()
	s, src := newShelf(t)
	a := s.clone(src, "0-100:compress")
	if err := os.Rename(a.Path, a.Path+".away"); err != nil {
		t.Fatal(err)
	}
	if got := s.tidy(time.Now()); !got.Busy || s.files() != 1 || len(s.list.All()) != 1 {
		t.Errorf("%+v", got)
	}
	s.dir = t.TempDir() // or the file under its other name would need them
	if got := s.tidy(time.Now().Add(2 * time.Hour)); got.Busy || got.Freed == 0 || s.files() != 0 || len(s.list.All()) != 0 {
		t.Errorf("%+v", got)
	}
	away := filepath.Join(t.TempDir(), "disk", "projects", "p", "c.jsonl")
	if err := s.list.Add(CloneRecord{ID: "c", Path: away, Created: "2026-01-01T00:00:00Z"}); err != nil {
		t.Fatal(err)
	}
	if s.tidy(time.Now()); len(s.list.All()) != 1 {
		t.Error("a clone on another disk is forgotten")
	}
}

// A session that is removed while it is compressed gives no clone: who removed it
// may have taken what the clone refers to.
func TestSourceRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	s, src := newShelf(t)
	p := plan(t, src, Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = s.kept })})
	_, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: "x", Now: time.Now(), Clones: s.list, Progress: func(p Progress) {
		if p.Done == 1 {
			_ = os.Remove(src.Path)
		}
	}})
	if !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "no such file")) {
		t.Error(err)
	}
	if left := append(tree(t, s.dir), append(tree(t, string(s.kept)), tree(t, string(s.list))...)...); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// TestRecordsOfClones: which records are of clones that are gone. One in a database of its
// agent's has no file that could be missing.
func TestRecordsOfClones(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	dir := t.TempDir()
	there := filepath.Join(dir, "there.jsonl")
	if err := os.WriteFile(there, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone.jsonl")
	for name, c := range map[string]struct {
		record     CloneRecord
		removed    string
		busy, kept bool
	}{
		"it is there":                     {CloneRecord{Path: there, Created: at(-24 * time.Hour)}, "", false, true},
		"it is gone":                      {CloneRecord{Path: gone, Created: at(-24 * time.Hour)}, "", false, false},
		"it is being made":                {CloneRecord{Path: gone, Created: at(-time.Minute)}, "", true, true},
		"for an hour":                     {CloneRecord{Path: gone, Created: at(-time.Hour)}, "", true, true},
		"for longer":                      {CloneRecord{Path: gone, Created: at(-time.Hour - time.Second)}, "", false, false},
		"by a clock that is ahead":        {CloneRecord{Path: gone, Created: at(time.Hour)}, "", true, true},
		"by one that is far ahead":        {CloneRecord{Path: gone, Created: at(time.Hour + time.Second)}, "", false, false},
		"nobody knows since when":         {CloneRecord{Path: gone, Created: "yesterday"}, "", false, false},
		"just removed":                    {CloneRecord{Path: gone, Created: at(-time.Minute)}, "c", false, false},
		"another was removed":             {CloneRecord{Path: gone, Created: at(-time.Minute)}, "d", true, true},
		"removed before":                  {CloneRecord{Path: gone, Created: at(-time.Minute), Removed: true}, "", false, false},
		"in a database":                   {CloneRecord{Created: at(-24 * time.Hour)}, "", false, true},
		"in a database, and just removed": {CloneRecord{Created: at(-24 * time.Hour)}, "c", false, false},
	} {
		list, kept := ClonesIn(t.TempDir()), Dir(t.TempDir())
		c.record.ID = "c"
		o, err := kept.keep("c", now)
		if err = errors.Join(err, list.Add(c.record), o.add("text", sha256.Sum256([]byte("text")), "t"), o.done()); err != nil {
			t.Fatal(err)
		}
		got, err := Tidy(t.Context(), list, kept, nil, []string{c.removed}, now)
		_, known := list.All()["c"]
		if err != nil || got.Busy != c.busy || known != c.kept || (len(kept.originalFiles()) == 1) != c.kept || (got.Freed > 0) == c.kept {
			t.Errorf("%s: %+v, %v, on the list %v", name, got, err, known)
		}
	}
}

// TestWhoNeedsOriginals: it is written down who needs the originals of a clone that is
// gone; a session that nobody has touched since before they were made cannot.
func TestWhoNeedsOriginals(t *testing.T) {
	t.Parallel()
	s, src := newShelf(t)
	a := s.clone(src, "0-100:compress")
	raw, err := os.ReadFile(a.Path)
	fork := filepath.Join(s.dir, "fork.jsonl")
	if err = errors.Join(err, os.WriteFile(fork, raw, 0o600), os.Remove(a.Path)); err != nil {
		t.Fatal(err)
	}
	if got := s.tidy(time.Now(), a.ID); len(got.Stays) != 1 || got.Stays[0].For != "fork" {
		t.Fatalf("%+v", got)
	}
	if c := s.list.All()[a.ID]; !c.Removed || c.NeededBy != "fork" || c.Source != src.ID || c.Host != string(src.Host) || c.Size != a.Size {
		t.Errorf("%+v", c)
	}
	// Another may need them when the first does no more.
	if err := os.Rename(fork, filepath.Join(s.dir, "second.jsonl")); err != nil {
		t.Fatal(err)
	}
	if s.tidy(time.Now()); s.list.All()[a.ID].NeededBy != "second" {
		t.Errorf("%+v", s.list.All()[a.ID])
	}
	fork = filepath.Join(s.dir, "second.jsonl")
	// Who cannot be read may need them; who is interrupted has not looked at all.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, f := range map[string]struct {
		ctx  context.Context
		path string
	}{"a folder": {t.Context(), s.dir}, "interrupted": {ctx, src.Path}} {
		got, err := Tidy(f.ctx, s.list, s.kept, []transcript.File{{Path: f.path, ID: "x", ModTime: time.Now()}}, nil, time.Now())
		if err == nil || got.Freed != 0 || s.files() != 1 {
			t.Errorf("%s: %+v, %v, %d files", name, got, err, s.files())
		}
	}
	// One that is gone by now needs nothing, nor does one that is older.
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(fork, long, long); err != nil {
		t.Fatal(err)
	}
	gone := transcript.File{Path: filepath.Join(s.dir, "nothing.jsonl"), ID: "nothing", ModTime: time.Now()}
	got, err := Tidy(t.Context(), s.list, s.kept, []transcript.File{gone, {Path: fork, ID: "fork", ModTime: long}}, nil, time.Now())
	if err != nil || got.Freed == 0 || len(got.Stays) != 0 || s.files() != 0 || len(s.list.All()) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestListOfClones: a clone is on the list under its own id, whatever else lies there.
func TestListOfClones(t *testing.T) {
	t.Parallel()
	list := ClonesIn(t.TempDir())
	if all := list.All(); len(all) != 0 {
		t.Errorf("%v", all)
	}
	if err := errors.Join(list.Add(CloneRecord{ID: "a", Source: "s"}), list.Add(CloneRecord{ID: "b"})); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"c.json": `{"id":"a"}`, "d.json": `{"id":"d"`, "README": "x"} {
		if err := os.WriteFile(filepath.Join(string(list), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := list.All()
	if len(all) != 2 || all["a"].Source != "s" || all["a"].Schema != 1 || all["b"].ID != "b" {
		t.Errorf("%+v", all)
	}
	if err := list.forget("a"); err != nil || len(list.All()) != 1 {
		t.Errorf("%v, %+v", err, list.All())
	}
	// No id leads out of the folder.
	if err := list.Add(CloneRecord{ID: `../../x\y`}); err != nil || len(tree(t, filepath.Dir(string(list)))) != 4+1 {
		t.Errorf("%v, %q", err, tree(t, filepath.Dir(string(list))))
	}
}
