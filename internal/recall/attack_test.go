package recall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Several processes that find the same index damaged make one new one: none takes
// away what another is writing.
func TestDamageMetByMany(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	want := plant(t, c, 1, "the bittern hides in the reeds")
	for n := range 6 {
		c.file(t, 10+n, 60<<10)
	}
	search(t, c.open(), "bittern")
	dir := filepath.Join(c.home, ".overtone", folder)
	for round := range 8 {
		segs, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
		for _, s := range segs {
			info, err := os.Stat(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(s, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}
		// As if it had just been written to, so that all of them bring it up to date.
		appendTo(t, want, "\n")
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				res, err := c.open().Search(context.Background(), Query{Text: "bittern reeds"})
				if err != nil || !slices.Contains(paths(res), want) {
					t.Errorf("round %d: %v, %+v", round, err, res.Hits)
				}
			})
		}
		wg.Wait()
	}
}

// While another process brings the index up to date, what is there is searched, and
// the answer says that it may be behind.
func TestSaysThatItIsBehind(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	path := plant(t, c, 1, "the curlew calls at dusk")
	search(t, c.open(), "curlew")
	release, ok, err := store.TryLock(filepath.Join(c.home, ".overtone", folder, lockFile))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer release()
	appendTo(t, path, `{"type":"user","message":{"role":"user","content":"a second curlew"},"uuid":"bbbb0001-0000-4000-8000-000000000000"}`+"\n")
	x := c.open()
	x.patience = 0
	res := search(t, x, "curlew")
	if res.Total != 1 || !errors.Is(res.Outdated, ErrBusy) {
		t.Errorf("%d hits, %v", res.Total, res.Outdated)
	}
}

// A mistake of ours in one line is told, and hides neither the other lines nor the index.
func TestAFaultHidesOneLine(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	path := plant(t, c, 1, "the curlew calls at dusk")
	row := `{"type":"user","message":{"role":"user","content":"a curlew that nobody can read"},"uuid":"bbbb0001-0000-4000-8000-000000000000"}`
	appendTo(t, path, string(transcript.Mark([]byte(row), transcript.Marker{Source: "s", UUID: "u", Hash: strings.Repeat("a", 64)}))+"\n")
	appendTo(t, path, `{"type":"user","message":{"role":"user","content":"a second curlew"},"uuid":"bbbb0002-0000-4000-8000-000000000000"}`+"\n")
	x := c.open()
	x.opts.Original = func(string, string) (string, bool) { panic("out of cheese") }
	var faults []error
	x.opts.Fault = func(err error) { faults = append(faults, err) }
	res := search(t, x, "curlew")
	if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), path+": ") || !strings.Contains(faults[0].Error(), "out of cheese") {
		t.Errorf("told: %v", faults)
	}
	if res.Total != 2 || res.Outdated != nil {
		t.Errorf("%d hits, %v", res.Total, res.Outdated)
	}
}

// Names that are longer than most words, and scripts without spaces.
func TestFindsLongWords(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	c.file(t, 1, 20<<10)
	for i, ask := range [][2]string{
		{"FAIL TestThatAClonesLinesAreFoundByTheWordsOfTheirOriginals in 3 s", "TestThatAClonesLinesAreFoundByTheWordsOfTheirOriginals"},
		{"выбран высокопроизводительный вариант", "высокопроизводительного"},
		{"ตั้งค่าการเชื่อมต่อฐานข้อมูลใหม่แล้วทดสอบอีกครั้งหนึ่งเรียบร้อย", "ฐานข้อมูล"},
		{"ein Donaudampfschifffahrtsgesellschaftskapitän", "Donaudampfschifffahrtsgesellschaftskapitän"},
	} {
		want := plant(t, c, 100+i, ask[0])
		if res := search(t, c.open(), ask[1]); !slices.Contains(paths(res), want) {
			t.Errorf("%q: %+v", ask[1], res.Hits)
		}
	}
	blob := "QmFzZTY0IGJsb2JzIGFyZSBub3Qgd29yZHMgYnV0IGRhdGEgdGhhdCBub2JvZHkgYXNrcyBmb3I"
	var words []string
	newScanner().scan([]byte(blob), func(w []byte, _, _ int, _ bool) { words = append(words, string(w)) })
	if len(words) > 0 {
		t.Errorf("a blob gives %q", words)
	}
}

// The file of a session may lie in two folders, as where a project was moved: a
// reference finds the message in whichever has it.
func TestOneSessionInTwoFolders(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	first := plant(t, c, 1, "the dunlin of the first folder")
	b, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(filepath.Dir(first)), "-z-moved", filepath.Base(first))
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	row := strings.NewReplacer("first", "second", "aaaaaaa1-", "aaaaaaa2-").Replace(lines[len(lines)-1])
	appendTo(t, other, row+"\n")
	for _, where := range []string{"first", "second"} {
		res := search(t, c.open(), "dunlin "+where+" folder")
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Snippet, where) {
			t.Fatalf("%s: %+v", where, res.Hits)
		}
		o, err := c.open().Exact(context.Background(), res.Hits[0].Ref)
		if err != nil || o.Text != fmt.Sprintf("the dunlin of the %s folder", where) {
			t.Errorf("%s: %+v, %v", res.Hits[0].Ref, o, err)
		}
	}
}

// A place that damage made up is no text, and asks for no memory.
func TestPlaceOfNothing(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	path := plant(t, c, 1, "short")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x := c.open()
	for _, d := range []doc{{Size: 1<<32 - 1}, {Off: -5, Size: 10}, {Off: 1 << 62, Size: 10}} {
		if x.say(f, &candidate{doc: d, file: &file{host: "claude-code"}}) {
			t.Errorf("%+v says something", d)
		}
	}
}

// A folder that belongs to somebody else hides no other, and what is known of it is
// neither shown nor forgotten; the answer says that something is missing.
func TestFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("whoever runs this may read everything")
	}
	c := newCorpus(t, t.TempDir())
	closed := plant(t, c, 1, "the avocet of the first project")
	open := plant(t, c, 2, "the avocet of the second project")
	for _, known := range []bool{false, true} {
		if err := os.Chmod(filepath.Dir(closed), 0); err != nil {
			t.Fatal(err)
		}
		res := search(t, c.open(), "avocet project")
		if got := paths(res); !slices.Equal(got, []string{open}) || !errors.Is(res.Outdated, fs.ErrPermission) {
			t.Errorf("known %v: %q, %v", known, got, res.Outdated)
		}
		if err := os.Chmod(filepath.Dir(closed), 0o700); err != nil {
			t.Fatal(err)
		}
		read := int64(0)
		x := c.open()
		x.opts.Progress = func(done, _ int64) { read = done }
		res = search(t, x, "avocet project")
		if got := paths(res); len(got) != 2 || res.Outdated != nil || known && read > 0 {
			t.Errorf("known %v: %q, %v, %d bytes read", known, got, res.Outdated, read)
		}
	}
}

// Who interrupts while segments are merged waits no longer, and has an index.
func TestMergeInterrupted(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	want := plant(t, c, 1, "the dotterel is rare")
	x := c.open()
	search(t, x, "dotterel")
	var segs []*segment
	for range 3 {
		s, err := openSegment(x.segmentPath(x.man.segments[0].number), int64(x.man.segments[0].size))
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		segs = append(segs, s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := merge(ctx, filepath.Join(t.TempDir(), "m"), segs, func(uint32) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	k := &committer{x: x, m: x.man}
	if err := k.merge(ctx, x.man.segments, map[uint32]bool{x.man.files[0].number: true}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(x.dir, "*.tmp")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	if res := search(t, c.open(), "dotterel"); !slices.Contains(paths(res), want) {
		t.Errorf("%+v", res.Hits)
	}
}

// A name of which only a part that everybody writes was written is not found; one
// word that nobody wrote beside others is forgiven.
func TestNamesAndMissingWords(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	for n := range 40 {
		plant(t, c, 100+n, fmt.Sprintf("add the row number%d", n))
	}
	plant(t, c, 1, "the knot lands on the shore")
	if res := search(t, c.open(), "QuuxzipRow"); res.Total != 0 {
		t.Errorf("found %d", res.Total)
	}
	if res := search(t, c.open(), "row quuxzip"); res.Total == 0 {
		t.Error("a missing word is not forgiven")
	}
	if res := search(t, c.open(), "KnotQuuxzip"); res.Total != 1 {
		t.Errorf("found %d by a telling part", res.Total)
	}
}
