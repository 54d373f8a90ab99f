package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// talkative is a session of which builtin keeps some and marks some.
func talkative(t *testing.T) *transcript.Session {
	var c chat
	c.user("Please make the parser in internal/cfg/parse.go refuse empty keys, and never push to main. " + long("question"))
	c.blocks(textBlock(strings.Repeat("Looking at this from several sides was quite pleasant for everybody around. ", 8)))
	c.user(long("another"))
	c.blocks(textBlock("We decided to keep version 3 because 14 users still have it. " + long("answer")))
	return c.write(t)
}

// Messages of one turn of which nothing is kept have one mark, and its digits print them all.
func TestOneMarkForARun(t *testing.T) {
	t.Parallel()
	d := Dir(filepath.Join(t.TempDir(), "compress"))
	var c chat
	talk := func(what string) string {
		return strings.Repeat("Now let me have a quiet look at the "+what+" of it all. ", 4)
	}
	c.user("Please make the parser in internal/cfg/parse.go refuse empty keys, and never push to main.")
	for _, what := range []string{"beginning", "middle", "end"} {
		c.blocks(textBlock(talk(what)))
	}
	c.blocks(textBlock("We decided to keep version 3 because 14 users still have it. " + talk("rest")))
	c.blocks(textBlock(talk("evening")))
	c.blocks(textBlock("The parser refuses empty keys now. " + talk("remains")))
	o := Options{Bands: bands(t, "0-100:heavy-compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })}
	_, clone := runPlan(t, plan(t, c.write(t), o), Builtin{})
	raw, _ := os.ReadFile(clone.Path)
	var texts []string
	for line := range strings.Lines(string(raw)) {
		if _, ok := transcript.MarkerOf([]byte(line)); ok {
			texts = append(texts, transcript.Text([]byte(line)))
		}
	}
	want := []string{
		markOf(talk("beginning")) + " ×3", "…", "…", "We decided to keep version 3 because 14 users still have it.",
		markOf(talk("evening")), "The parser refuses empty keys now.",
	}
	if len(texts) > len(want) { // the request was shortened, too
		texts = texts[1:]
	}
	if d := cmp.Diff(want, texts); d != "" {
		t.Fatal(d)
	}
	all := strings.Join([]string{talk("beginning"), talk("middle"), talk("end")}, "\n\n")
	if got, ok := d.Originals().Find(markDigits(texts[0])); !ok || got != all {
		t.Errorf("%v, %q", ok, got)
	}
	if got, ok := d.Originals().Find(textHash(talk("beginning"))); !ok || got != talk("beginning") {
		t.Errorf("%v, %q", ok, got)
	}
	// Where a result may be refused, no mark stands for another message.
	o.Pool.KeepFacts = true
	res, _ := runPlan(t, plan(t, c.write(t), o), Builtin{})
	if raw, _ = os.ReadFile(res.Clone.Path); strings.Contains(string(raw), timesSign) || strings.Contains(string(raw), `"…"`) {
		t.Errorf("%s", raw)
	}
}

// What builtin replaced is found by the digits of its mark when the source is gone,
// and lies in one file for each run.
func TestOriginalsOutliveTheSource(t *testing.T) {
	t.Parallel()
	d := Dir(filepath.Join(t.TempDir(), "compress"))
	s := talkative(t)
	o := Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })}
	_, clone := runPlan(t, plan(t, s, o), Builtin{})
	if err := os.Remove(s.Path); err != nil {
		t.Fatal(err)
	}
	after := messages(t, clone)
	marks, refs := 0, 0
	raw, _ := os.ReadFile(clone.Path)
	for line := range strings.Lines(string(raw)) {
		m, ok := transcript.MarkerOf([]byte(line))
		if !ok {
			continue
		}
		refs++
		text, found := d.Originals().Find(m.Hash)
		if !found || textHash(text) != m.Hash {
			t.Errorf("%s: %q", m.Hash, text)
		}
		if got := transcript.Text([]byte(line)); strings.HasPrefix(got, markSign) {
			marks++
			if byMark, ok := d.Originals().Find(strings.TrimPrefix(got, markSign)); !ok || byMark != text {
				t.Errorf("%s: %q, %v", got, byMark, ok)
			}
		}
	}
	if marks == 0 || refs < 3 || len(after) != 4 {
		t.Fatalf("%d marks, %d compressed, %d messages", marks, refs, len(after))
	}
	if files := tree(t, string(d)); len(files) != 1 {
		t.Errorf("files %q", files)
	}
}

func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// Two runs may keep the same text. Two texts with the same digits are no answer,
// and a damaged line is none.
func TestOriginalsOfTwoRuns(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	write := func(id string, texts ...string) {
		o, err := d.keep(id, time.Unix(0, 0))
		for _, text := range texts {
			err = errors.Join(err, o.add(text, sha256.Sum256([]byte(text)), "result"))
		}
		if err = errors.Join(err, o.done()); err != nil {
			t.Fatal(err)
		}
	}
	first := map[string]string{}
	var a, b string
	for n := 0; b == ""; n++ {
		text := fmt.Sprint("text ", n)
		h := textHash(text)[:8]
		if other, ok := first[h]; ok {
			a, b = other, text
		}
		first[h] = text
	}
	digits := textHash(a)[:8]
	write("2", "something else", a)
	write("3", a)
	damaged := originalKey + digits + strings.Repeat("0", 56) + resultKey + strings.Repeat("0", 64) + `","text":"x"}` + "\n"
	for _, name := range []string{"1.jsonl", "4.jsonl"} {
		if err := os.WriteFile(filepath.Join(d.originals(), name), []byte("garbage\n"+strings.Repeat("g", 300)+"\n"+damaged+damaged[:160]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := d.Originals().Find(digits); !ok || got != a {
		t.Errorf("%q, %v", got, ok)
	}
	known := d.Originals()
	if _, ok := known.Find(textHash(b)); ok {
		t.Error("found before it is there")
	}
	write("5", b)
	if got, ok := d.Originals().Find(digits); ok {
		t.Errorf("one of two: %q", got)
	}
	if got, ok := known.Find(textHash(b)); !ok || got != b {
		t.Errorf("not found after it came: %q", got)
	}
	for _, text := range []string{a, b} {
		if got, ok := d.Originals().Find(textHash(text)); !ok || got != text {
			t.Errorf("all digits: %q", got)
		}
	}
}

// A copy that lost its marks is not compressed again.
func TestBuiltinKnowsItsResults(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	o := Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })}
	_, clone := runPlan(t, plan(t, talkative(t), o), Builtin{})
	raw, _ := os.ReadFile(clone.Path)
	var bare []string
	for l := range strings.Lines(strings.TrimSpace(string(raw))) {
		l = strings.TrimSuffix(l, "\n")
		if i := strings.Index(l, `,"overtone":`); i >= 0 {
			l = l[:i] + "}"
		}
		bare = append(bare, l)
	}
	again := plan(t, (&chat{lines: bare}).write(t), o)
	if len(again.Items) == 0 {
		t.Fatal("nothing to compress")
	}
	if _, err := again.Run(t.Context(), Builtin{}, RunOptions{ID: "x", Now: time.Unix(0, 0)}); !errors.Is(err, ErrNothing) {
		t.Errorf("compressed again: %v", err)
	}
}

// untilWritten is a context that ends as soon as a clone is written.
type untilWritten struct {
	context.Context
	dir  string
	size int64
}

func (c untilWritten) Err() error {
	left, _ := filepath.Glob(filepath.Join(c.dir, ".overtone-clone-*.tmp"))
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.Size() > c.size/2 {
			return context.Canceled
		}
	}
	return c.Context.Err()
}

// Ctrl-C while a clone that is written is verified and measured: it goes, nobody was
// told of it.
func TestInterruptedAfterTheClone(t *testing.T) {
	t.Parallel()
	var c chat
	c.user(long("question"))
	for range 1100 {
		c.blocks(textBlock("short"))
	}
	c.blocks(textBlock(long("answer")))
	s := c.write(t)
	d := Dir(t.TempDir())
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress"), MinTokens: 20, Pool: poolOf(func(p *Pool) { p.Cache = d })})
	ctx := untilWritten{t.Context(), filepath.Dir(s.Path), s.Size}
	if _, err := p.Run(ctx, Builtin{}, RunOptions{ID: "clone", Now: time.Unix(0, 0)}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if files := append(tree(t, filepath.Dir(s.Path)), tree(t, string(d))...); len(files) != 1 {
		t.Errorf("left %q", files)
	}
}

// What a killed run left is removed by a later one.
func TestOriginalsLeftBehindAreSwept(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	now := time.Now()
	if _, err := d.keep("killed", now); err != nil {
		t.Fatal(err)
	}
	if len(tree(t, string(d))) != 1 {
		t.Fatal("nothing begun")
	}
	o, err := d.keep("next", now.Add(2*time.Hour))
	if err = errors.Join(err, o.done()); err != nil {
		t.Fatal(err)
	}
	if files := tree(t, string(d)); len(files) != 1 || filepath.Base(files[0]) != "next.jsonl" {
		t.Errorf("left %q", files)
	}
}

// A run that fails, and one that is interrupted, leaves nothing.
func TestFailedRunKeepsNoOriginals(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	s := talkative(t)
	o := Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })}
	ctx, cancel := context.WithCancel(t.Context())
	p := plan(t, s, o)
	_, err := p.Run(ctx, Builtin{}, RunOptions{ID: "x", Now: time.Unix(0, 0), Progress: func(p Progress) {
		if p.Done == p.Total {
			cancel() // what follows is the clone
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if files := tree(t, string(d)); len(files) != 0 {
		t.Errorf("left %q", files)
	}
	if files := tree(t, filepath.Dir(s.Path)); len(files) != 1 {
		t.Errorf("left %q", files)
	}
	// Where nothing can be kept there is no clone: its references would lead nowhere.
	full := filepath.Join(t.TempDir(), "compress")
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Options.Pool.Cache = Dir(full)
	if _, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: "x", Now: time.Unix(0, 0)}); err == nil || !strings.Contains(err.Error(), "keep originals") {
		t.Error(err)
	}
	if files := tree(t, filepath.Dir(s.Path)); len(files) != 1 {
		t.Errorf("left %q", files)
	}
}
