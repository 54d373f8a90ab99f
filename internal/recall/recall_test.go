package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// said is one planted message, and what finds it.
var planted = []struct {
	text string
	asks []string
}{
	{
		"We decided to keep the retry budget at three attempts because the queue overflowed last week.",
		[]string{"retry budget three attempts", "retries budgeted attempt", "retry bugdet three attempts", "budget three attempts elephant", "why did the queue overflow"},
	},
	{
		"The walrus importer drops every second row when barrierTimeout is negative.",
		[]string{"walrus importer rows", "barrierTimeout negative", "barrier timeout negative", "walrus importing dropped", "walrsu importer"},
	},
	{
		"Bisecting ended at commit 9f3c2ab81d7e4405aa10bc33de0f5566778899aa, the one that renamed the parser.",
		[]string{"9f3c2ab8", "9f3c2ab81d7e4405aa10bc33de0f5566778899aa", "bisect ends renaming parser"},
	},
	{
		"快取的逾時設定從五分鐘改成三十秒，因為使用者抱怨資料太舊。",
		[]string{"逾時設定", "快取 三十秒", "使用者抱怨資料", "逾時設訂 快取"},
	},
	{
		"データベースの接続プールを二十に増やしました。",
		[]string{"接続プール", "データベース 増やし"},
	},
	{
		"연결 풀의 크기를 스무 개로 늘렸습니다.",
		[]string{"연결 크기", "늘렸습니다"},
	},
	{
		"Мы решили хранить настройки в отдельном файле конфигурации.",
		[]string{"настройки конфигурации", "настройка конфигурация файл"},
	},
}

func plant(tb testing.TB, c *corpus, n int, text string) string {
	tb.Helper()
	path := c.file(tb, n, 20<<10)
	row := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%s},"uuid":"aaaaaaa%d-0000-4000-8000-000000000000","timestamp":"2026-02-01T10:00:00.000Z","cwd":"/w/x","sessionId":"%s"}`+"\n", quoted(text), n, sessionID(n))
	appendTo(tb, path, row)
	return path
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func appendTo(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		tb.Fatal(err)
	}
}

func search(tb testing.TB, x *Index, text string) Result {
	tb.Helper()
	res, err := x.Search(context.Background(), Query{Text: text})
	if err != nil {
		tb.Fatalf("search %q: %v", text, err)
	}
	return res
}

func paths(res Result) (list []string) {
	for _, h := range res.Hits {
		list = append(list, h.Path)
	}
	return list
}

// Among megabytes of noise each message is the first hit of every way to ask for
// it: its words, other forms of them, one mistyped, one that is not there.
func TestFindsWhatIsKnown(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	want := map[int]string{}
	for n := range 40 {
		c.file(t, n, 50<<10)
	}
	for i, p := range planted {
		want[i] = plant(t, c, 100+i, p.text)
	}
	x := c.open()
	for i, p := range planted {
		for _, ask := range p.asks {
			res := search(t, x, ask)
			if len(res.Hits) == 0 || res.Hits[0].Path != want[i] {
				t.Errorf("%q: %+v", ask, res.Hits[:min(2, len(res.Hits))])
				continue
			}
			h := res.Hits[0]
			if len(h.Marks) == 0 || h.Role != "user" || !strings.HasSuffix(h.Ref, fmt.Sprintf("#aaaaaaa%d-0000-4000-8000-000000000000", 100+i)) {
				t.Errorf("%q: %+v", ask, h)
			}
			o, err := x.Exact(context.Background(), h.Ref)
			if err != nil || o.Text != p.text || o.Line != h.Line {
				t.Errorf("Exact(%s) = %+v, %v", h.Ref, o, err)
			}
		}
	}
	if res := search(t, x, "zzzzqqqq"); res.Total != 0 {
		t.Errorf("found %+v", res.Hits)
	}
	if res := search(t, x, "?! …"); res.Total != 0 {
		t.Errorf("found %+v", res.Hits)
	}
}

// Only what is new is read: a grown file from where it ended, and nothing at all
// when nothing changed.
func TestOnlyWhatIsNewIsRead(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	path := plant(t, c, 1, "the heron stands in the shallow water")
	for n := range 5 {
		c.file(t, 10+n, 30<<10)
	}
	total := func() (read int64) {
		x := c.open()
		x.opts.Progress = func(done, _ int64) { read = done }
		search(t, x, "heron")
		return read
	}
	if total() < 150<<10 {
		t.Error("the first search read less than there is")
	}
	before := snapshot(t, c)
	if n := total(); n != 0 {
		t.Errorf("%d bytes read though nothing changed", n)
	}
	if after := snapshot(t, c); after != before {
		t.Errorf("a search that found nothing new wrote: %s, before %s", after, before)
	}
	row := `{"type":"user","message":{"role":"user","content":"a second heron came"},"uuid":"bbbb0001-0000-4000-8000-000000000000","timestamp":"2026-02-01T10:00:00.000Z"}` + "\n"
	appendTo(t, path, row)
	if n := total(); n != int64(len(row)) {
		t.Errorf("%d bytes read, want %d", n, len(row))
	}
	if res := search(t, c.open(), "heron"); res.Total != 2 {
		t.Errorf("found %+v", res.Hits)
	}
	// A line that is not whole yet is left for later, one without its newline is
	// whole; neither is counted twice.
	appendTo(t, path, `{"type":"user","message":{"role":"user","content":"a third hero`)
	if res := search(t, c.open(), "heron"); res.Total != 2 {
		t.Errorf("found %+v", res.Hits)
	}
	appendTo(t, path, `n landed"},"uuid":"bbbb0002-0000-4000-8000-000000000000"}`)
	appendTo(t, path, "")
	if res := search(t, c.open(), "third heron"); res.Total == 0 || !strings.Contains(res.Hits[0].Snippet, "third heron landed") {
		t.Errorf("found %+v", res.Hits)
	}
	lines := search(t, c.open(), "third heron").Hits[0].Line
	appendTo(t, path, "\n"+row)
	res := search(t, c.open(), "second heron")
	if res.Hits[0].Copies != 1 {
		t.Errorf("found %+v", res.Hits)
	}
	o, err := c.open().Exact(context.Background(), fmt.Sprintf("%s#L%d", sessionID(1), lines))
	if err != nil || o.Text != "a third heron landed" {
		t.Errorf("line %d: %+v, %v", lines, o, err)
	}
	// Rewritten in place, it is read anew; removed, it is gone.
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(row, "heron", "stork")+strings.Repeat(row, 3000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := search(t, c.open(), "stork"); res.Total != 1 {
		t.Errorf("found %+v", res.Hits)
	}
	if res := search(t, c.open(), "shallow water"); res.Total != 0 {
		t.Errorf("found %+v", res.Hits)
	}
	os.Remove(path)
	if res := search(t, c.open(), "stork heron"); slices.Contains(paths(res), path) {
		t.Errorf("found %+v", res.Hits)
	}
}

func snapshot(tb testing.TB, c *corpus) string {
	tb.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(filepath.Join(c.home, ".overtone"), func(p string, e fs.DirEntry, err error) error {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime())
		}
		return err
	})
	return b.String()
}

// However the segments came about, the answers are those of an index that was
// made in one go; and there are never many of them.
func TestManySmallUpdates(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	x := c.open()
	r := rand.New(rand.NewPCG(3, 4))
	var files []string
	for i := range 120 {
		switch k := r.IntN(10); {
		case k < 6 || len(files) < 3:
			files = append(files, plant(t, c, 1000+i, fmt.Sprintf("the pelican number%d flies over pier%d", i, i%7)))
		case k < 8:
			appendTo(t, files[r.IntN(len(files))], fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"late pelican %d"},"uuid":"cccc%04d-0000-4000-8000-000000000000","timestamp":"2026-02-01T10:00:00.000Z"}`+"\n", i, i))
		default:
			n := r.IntN(len(files))
			os.Remove(files[n])
			files = slices.Delete(files, n, n+1)
		}
		search(t, x, "pelican")
	}
	if n := len(x.man.segments); n > 3*mergeAt {
		t.Errorf("%d segments", n)
	}
	fresh := newCorpus(t, c.home)
	y := fresh.open()
	y.dir = filepath.Join(t.TempDir(), folder)
	for _, ask := range []string{"pelican", "pelican pier3", "late pelican", "pelicans flying over piers", "number57"} {
		a, b := search(t, x, ask), search(t, y, ask)
		refs := func(res Result) (list []string) {
			for _, h := range res.Hits {
				list = append(list, h.Ref)
			}
			slices.Sort(list)
			return list
		}
		if a.Total != b.Total || ask != "pelican" && ask != "late pelican" && !slices.Equal(refs(a), refs(b)) {
			t.Errorf("%q: %d hits, %d in one go\n%v\n%v", ask, a.Total, b.Total, refs(a), refs(b))
		}
	}
}

// What is interrupted goes on where it was, and nothing is there twice.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	for n := range 12 {
		c.file(t, n, 1200<<10)
	}
	x := c.open()
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		x.opts.Progress = func(done, total int64) {
			if done > total/4 {
				cancel()
			}
		}
		if err := x.refresh(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	x.opts.Progress = func(int64, int64) {}
	search(t, x, "tare")
	y := c.open()
	y.dir = filepath.Join(t.TempDir(), folder)
	search(t, y, "tare")
	count := func(x *Index) (n uint64) {
		for _, s := range x.man.segments {
			n += s.docs
		}
		return n
	}
	if count(x) != count(y) || count(x) == 0 {
		t.Errorf("%d documents, want %d", count(x), count(y))
	}
}

// Two processes may search at once; neither waits for the other once there is an
// index.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	want := plant(t, c, 1, "an albatross crossed the bay")
	for n := range 20 {
		c.file(t, 10+n, 50<<10)
	}
	done := make(chan error, 4)
	for range 4 {
		go func() {
			res, err := c.open().Search(context.Background(), Query{Text: "albatross"})
			if err == nil && !slices.Contains(paths(res), want) {
				err = fmt.Errorf("found %+v", res.Hits)
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Whatever happens to its files, a search ends with an answer: a damaged index is
// made anew, or its damage does not show.
func TestDamage(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	want := plant(t, c, 1, "the cormorant dries its wings")
	c.file(t, 2, 200<<10)
	search(t, c.open(), "cormorant")
	dir := filepath.Join(c.home, ".overtone", folder)
	for _, pattern := range []string{manifestFile, "*.seg"} {
		for _, how := range []string{"empty", "half", "zeros", "older", "gone"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(files) != 1 {
				t.Fatal(files)
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			switch how {
			case "empty":
				b = nil
			case "half":
				b = b[:len(b)/2]
			case "zeros":
				clear(b)
			case "older":
				b = append([]byte("overtone recall 0\n"), b...)
			}
			if err := os.WriteFile(files[0], b, 0o600); err != nil {
				t.Fatal(err)
			}
			if how == "gone" {
				os.Remove(files[0])
			}
			if res := search(t, c.open(), "cormorant wings"); !slices.Contains(paths(res), want) {
				t.Errorf("%s %s: found %+v", pattern, how, res.Hits)
			}
		}
	}
	segs, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	whole, err := os.ReadFile(segs[0])
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		b := bytes.Clone(whole)
		for range rapid.IntRange(1, 20).Draw(r, "flips") {
			b[rapid.IntRange(0, len(b)-1).Draw(r, "at")] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
		}
		s, err := openBytes(t, b)
		if err != nil {
			return
		}
		defer s.close()
		words := parse("cormorant wings tare flyng xcormorant 99")
		if answer([]*segment{s}, words) != nil {
			return
		}
		var norms [256]float32
		_, _, _ = s.accumulate(words, &norms, 1)
		_, _ = merge(context.Background(), filepath.Join(t.TempDir(), "m"), []*segment{s}, func(uint32) bool { return true })
	})
}

func openBytes(t *testing.T, b []byte) (*segment, error) {
	f := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(f, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return openSegment(f, int64(len(b)))
}

// No file of the index holds a secret, and none is for others to read.
func TestStoresNoSecrets(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	const secret = "ghp_R7kQ2mX9vB4nT8wL1cZ5sD3fG6hJ0pA2yUeW"
	plant(t, c, 1, "export GITHUB_TOKEN="+secret+" before the deployment of the kingfisher")
	path := plant(t, c, 2, "nothing here")
	appendTo(t, path, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Login","input":{"user":"osprey","password":"hunter2horse7battery"}}]},"uuid":"dddd0001-0000-4000-8000-000000000000"}`+"\n")
	x := c.open()
	res := search(t, x, "kingfisher deployment")
	if res.Total != 1 || strings.Contains(res.Hits[0].Snippet, secret) || !strings.Contains(res.Hits[0].Snippet, "kingfisher") {
		t.Errorf("found %+v", res.Hits)
	}
	if res := search(t, x, "osprey"); res.Total != 1 || strings.Contains(res.Hits[0].Snippet, "hunter2") {
		t.Errorf("found %+v", res.Hits)
	}
	for _, ask := range []string{secret, "hunter2horse7battery"} {
		if res := search(t, x, ask); res.Total != 0 {
			t.Errorf("%q: found %+v", ask, res.Hits)
		}
	}
	_, err := x.Facts(context.Background(), []transcript.File{{Path: path, Host: transcript.Claude, ID: sessionID(2)}})
	if err != nil {
		t.Fatal(err)
	}
	_ = filepath.WalkDir(filepath.Join(c.home, ".overtone"), func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		info, _ := e.Info()
		if e.IsDir() {
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
				t.Errorf("%s: mode %v", p, info.Mode())
			}
			return nil
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", p, info.Mode())
		}
		b, _ := os.ReadFile(p)
		for _, s := range []string{"r7kq2mx9vb4n", "hunter2horse"} {
			if bytes.Contains(bytes.ToLower(b), []byte(s)) {
				t.Errorf("%s holds a secret", p)
			}
		}
		return nil
	})
}

// What a list shows is read once per change of a file.
func TestFacts(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	path := plant(t, c, 1, "the first request")
	c.file(t, 2, 10<<10)
	read := func() ([]Fact, int64) {
		files, err := transcript.List(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(files, func(a, b transcript.File) int { return strings.Compare(a.ID, b.ID) })
		x := c.open()
		read := int64(0)
		x.opts.Progress = func(done, _ int64) { read = done }
		list, err := x.Facts(context.Background(), files)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		return list, read
	}
	first, n := read()
	if n == 0 || first[0].CWD == "" || first[0].Turns == 0 || first[0].Estimate == 0 {
		t.Errorf("%+v, %d bytes read", first, n)
	}
	again, n := read()
	if n != 0 || !slices.Equal(first, again) {
		t.Errorf("%+v, %d bytes read; want %+v", again, n, first)
	}
	appendTo(t, path, `{"type":"custom-title","customTitle":"a new title","sessionId":"x"}`+"\n")
	info, _ := os.Stat(path)
	if third, n := read(); third[0].Title != "a new title" || n != info.Size() {
		t.Errorf("%+v, %d bytes read", third, n)
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, family := range []string{
		"configure configured configuring configuration configures", "test tests tested testing", "retry retries retried retrying",
		"stop stops stopped stopping", "index indexed indexing", "truncate truncated truncation truncating", "delete deletes deleted deletion",
		"connect connection connections connected", "happy happier", "failing failed fails fail", "cache cached caching caches", "mismatch mismatches mismatched",
	} {
		words := strings.Fields(family)
		want := string(term([]byte(words[0])))
		for _, w := range words {
			if got := string(term([]byte(w))); got != want && w != "happier" {
				t.Errorf("term(%s) = %s, want %s as of %s", w, got, want, words[0])
			}
		}
	}
	for _, w := range []string{"process", "bus", "this", "analysis", "ring", "bed"} {
		if got := string(term([]byte(w))); got != w && w != "process" && w != "analysis" {
			t.Errorf("term(%s) = %s", w, got)
		}
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Don't panic: v2 of foo_bar":   "don panic v2 of foo bar",
		"parseHTTPRequest2":            "parsehttprequest2 parse http request2",
		`quoted\nline`:                 "quoted line",
		"逾時設定":                         "逾时 时设 设定 定",
		"用 Go 寫":                       "用 go 写",
		"Ünïcode Straße":               "unicode strasse",
		"a 1 ab":                       "ab",
		strings.Repeat("x", 200) + "!": "",
		"接続プール2個":                      "接続 続プ プー ール 个",
	} {
		var got []string
		newScanner().scan([]byte(text), func(w []byte, start, end int, _ bool) {
			got = append(got, string(w))
			if start < 0 || end > len(text) || start >= end {
				t.Errorf("%q: %q at %d-%d", text, w, start, end)
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The signature never hides a word that is near enough.
func TestSignature(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z]{4,12}`)
	rapid.Check(t, func(r *rapid.T) {
		v, w := []byte(word.Draw(r, "v")), []byte(word.Draw(r, "w"))
		if rapid.Bool().Draw(r, "edit") {
			w = bytes.Clone(v)
			for range rapid.IntRange(0, 2).Draw(r, "edits") {
				i := rapid.IntRange(0, len(w)-1).Draw(r, "i")
				switch rapid.IntRange(0, 3).Draw(r, "kind") {
				case 0:
					w[i] = 'q'
				case 1:
					w = slices.Insert(w, i, 'z')
				case 2:
					w = slices.Delete(w, i, i+1)
				default:
					if i > 0 {
						w[i], w[i-1] = w[i-1], w[i]
					}
				}
			}
		}
		var m meter
		for limit := 1; limit <= 2; limit++ {
			if d := m.edits(v, w, limit); d <= limit && !near(signature(v), signature(w), limit, 1) {
				r.Fatalf("%s and %s are %d edits apart, but look further", v, w, d)
			}
		}
		if a, b := min(m.edits(v, w, 3), 4), min(m.edits(w, v, 3), 4); a != b {
			r.Fatalf("edits(%s, %s) = %d, and %d the other way round", v, w, a, b)
		}
	})
}

func FuzzSearch(f *testing.F) {
	c := newCorpus(f, f.TempDir())
	plant(f, c, 1, "the seed of it all")
	x := c.open()
	f.Add("seed of it")
	f.Add("逾時 seeed \xff\x00 #L1")
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := x.Search(context.Background(), Query{Text: q}); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Exact(context.Background(), q); err == nil && !strings.Contains(q, "#") {
			t.Fatalf("%q is a reference", q)
		}
	})
}

// Codex shows a text before it writes the answer down. Of a turn that was stopped the
// shown text is all there is, and it is found; otherwise the answer is found once.
func TestStoppedTurnOfCodex(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".codex", "sessions", "2026", "03", "05")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(typ, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-05T10:00:00.000Z","type":%q,"payload":%s}`+"\n", typ, payload)
	}
	user := func(text string) string {
		return line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quoted(text)+`}]}`)
	}
	item := func(text string) string {
		return line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+quoted(text)+`}]}`)
	}
	event := func(text string) string {
		return line("event_msg", `{"type":"agent_message","message":`+quoted(text)+`}`)
	}
	stopped := line("event_msg", `{"type":"turn_aborted","reason":"interrupted"}`)
	id := "01990000-0000-7000-8000-000000000001"
	text := line("session_meta", `{"id":"`+id+`","timestamp":"2026-03-05T10:00:00.000Z","cwd":"/w"}`) +
		user("begin") + event("The heron nests early.") + item("The heron nests early.") +
		user("more") + item("The otter dives late.") + event("The otter dives late.") + stopped +
		user("again") + event("The walrus importer drops rows.") + stopped +
		user("and") + event("The badger was only shown.") + user("end")
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-03-05T10-00-00-"+id+".jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x := (&corpus{home: home}).open()
	for ask, want := range map[string]string{"heron nests": "L4", "otter dives": "L6", "walrus importer": "L10", "badger shown": "L13"} {
		res := search(t, x, ask)
		if len(res.Hits) != 1 || res.Hits[0].Ref != id+"#"+want || res.Hits[0].Copies != 0 || res.Hits[0].Role != "assistant" {
			t.Errorf("%s: %+v", ask, res.Hits)
			continue
		}
		if o, err := x.Exact(t.Context(), res.Hits[0].Ref); err != nil || !strings.Contains(o.Text, strings.Fields(ask)[0]) {
			t.Errorf("%s: %+v, %v", ask, o, err)
		}
	}
}

// A project is named as its session's file means it, whichever way JSON writes that.
func TestProjectIsUnescaped(t *testing.T) {
	t.Parallel()
	c := &corpus{home: t.TempDir()}
	dir := filepath.Join(c.home, ".claude", "projects", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for n, cwd := range []string{`D:\\work\\shop`, `\/srv\/shop`, `/srv/\u00fcber`} {
		appendTo(t, filepath.Join(dir, sessionID(n)+".jsonl"), `{"type":"user","message":{"role":"user","content":"the cormorant wings"},"uuid":"aaaaaaaa-0000-4000-8000-000000000000","timestamp":"2026-02-01T10:00:00.000Z","cwd":"`+cwd+`","sessionId":"`+sessionID(n)+`"}`+"\n")
	}
	x := c.open()
	for _, want := range []string{`D:\work\shop`, "/srv/shop", "/srv/über"} {
		res, err := x.Search(t.Context(), Query{Text: "cormorant wings", Project: want})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Project != want {
			t.Errorf("%s: %+v, %v", want, res.Hits, err)
		}
	}
}
