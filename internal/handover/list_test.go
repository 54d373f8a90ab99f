package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// TestWorth: which of two names is more likely to be needed again, for the room it takes.
func TestWorth(t *testing.T) {
	t.Parallel()
	r := &Record{size: 1000}
	for name, c := range map[string]struct{ more, less nameStat }{
		"met more often": {nameStat{count: 2, last: 1000}, nameStat{count: 1, last: 1000}},
		"newer":          {nameStat{count: 1, last: 1000}, nameStat{count: 1, last: 900}},
		"shorter":        {nameStat{text: "readRow", count: 1, last: 1000}, nameStat{text: "readRows", count: 1, last: 1000}},
	} {
		if more, less := r.worth(&c.more), r.worth(&c.less); more <= less {
			t.Errorf("%s: %v, %v", name, more, less)
		}
	}
	// Nothing else of a name counts: neither where it stands nor how it is written.
	for name, c := range map[string][2]nameStat{
		"a path":  {{text: "a_b.go", count: 1, path: true}, {text: "readAB", count: 1}},
		"defined": {{text: "readAB", count: 1, defined: true}, {text: "readAB", count: 1}},
	} {
		if a, b := r.worth(&c[0]), r.worth(&c[1]); a != b {
			t.Errorf("%s: %v, %v", name, a, b)
		}
	}
	if fresh, old := r.worth(&nameStat{count: 1, last: 1000}), r.worth(&nameStat{count: 1}); old != fresh/2 {
		t.Errorf("the oldest counts half: %v, %v", fresh, old)
	}
	if v := (&Record{}).worth(&nameStat{count: 1}); v != 1 {
		t.Errorf("in an empty slice: %v", v)
	}
}

// TestShare: a piece counts once for each name, a tool's input four times as much, and each
// the less the more names it holds.
func TestShare(t *testing.T) {
	t.Parallel()
	count := func(pieces ...string) float64 {
		r := NewRecord("/p")
		for _, text := range pieces {
			r.piece++
			r.names.share()
			rest, typed := strings.CutPrefix(text, "> ")
			r.count([]byte(rest), false, typed)
		}
		r.names.share()
		return r.names.list[r.Name([]byte("readRows"))].count
	}
	alone := count("readRows")
	for name, c := range map[string]struct{ more, less float64 }{
		"beside another one":  {alone, count("readRows writeRows")},
		"beside many":         {count("readRows writeRows"), count("readRows writeRows closeRows openRows")},
		"in two pieces":       {count("readRows", "readRows"), count("readRows readRows")},
		"beside one, not two": {count("readRows writeRows writeRows"), count("readRows writeRows closeRows")},
	} {
		if c.more <= c.less {
			t.Errorf("%s: %v, %v", name, c.more, c.less)
		}
	}
	if got := count("> readRows"); got != worthTyped*alone {
		t.Errorf("a tool's input: %v, another piece %v", got, alone)
	}
	if got := count("readRows readRows", "writeRows"); got != alone {
		t.Errorf("twice in a piece, and a piece without it: %v, once %v", got, alone)
	}
}

// TestRanked: the best come first; a secret does not come, nor what is stated.
func TestRanked(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	r.size = 1000
	r.names.list = []nameStat{
		{text: "heardName", count: 1, last: 1000},
		{text: "typedName", count: 4, last: 1000},
		{text: "secretOne", count: 9, last: 1000, secret: true},
		{text: "statedOne", count: 9, last: 1000},
		{text: "equalName", count: 1, last: 1000},
	}
	if got, want := r.ranked(func(n string) bool { return n == "statedOne" }), []string{"typedName", "equalName", "heardName"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.Top(2), []string{"statedOne", "typedName"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.Top(9); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// TestLacking: the best names that fit stand on one line; one that does not fit is passed
// over, and nothing is said twice.
func TestLacking(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	for _, text := range []string{"firstName", "aNameThatIsFarTooLongForWhatIsLeftOfTheRoom", "third"} {
		r.names.list = append(r.names.list, nameStat{text: text, count: 1})
	}
	r.names.list[1].count = 90
	title := "## " + message.HandoverNames.EN + "\n"
	no := func(string) bool { return false }
	for room, want := range map[int]string{
		1000:                  title + "aNameThatIsFarTooLongForWhatIsLeftOfTheRoom third firstName",
		len(title) + 20:       title + "third firstName",
		len(title) + 15:       title + "third",
		len(title):            "",
		len(title) - shortest: "",
		len(title) + shortest: title + "third",
	} {
		if got := r.Lacking(no, message.HandoverNames, room, message.EN); got != want {
			t.Errorf("%d: %q, want %q", room, got, want)
		}
	}
	if got := r.Lacking(func(string) bool { return true }, message.HandoverNames, 1000, message.EN); got != "" {
		t.Errorf("all is stated: %q", got)
	}
	// Whatever the names are, they keep to their room and stand once.
	rapid.Check(t, func(t *rapid.T) {
		r, room := NewRecord("/p"), rapid.IntRange(0, 300).Draw(t, "room")
		for i, n := range rapid.SliceOf(rapid.StringMatching(`[a-zA-Z_長]{1,40}`)).Draw(t, "names") {
			r.names.list = append(r.names.list, nameStat{text: n, count: float64(1 + i%5), last: int64(i)})
		}
		text := r.Lacking(no, message.HandoverNames, room, message.EN)
		names := strings.Fields(strings.TrimPrefix(text, title))
		slices.Sort(names)
		if message.Units(text) > room && text != "" || strings.Count(text, "\n") > 1 || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Fatalf("%d units of %d: %q", message.Units(text), room, text)
		}
	})
}

// TestWritten: a file has its folder only where another one has its name: that of the one
// that was worked on most.
func TestWritten(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	read, wrote := r.file("/p/a/x.go"), r.file("/p/b/x.go")
	r.file("/p/a/y.go")
	r.files[read].reads, r.files[wrote].writes = 2, 1
	for name, want := range map[string]string{"x.go": "b/x.go", "y.go": "y.go", "z.go": "z.go", "readRows": "readRows"} {
		if got := r.written(&nameStat{text: name}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if r.files[read].reads = 4; r.written(&nameStat{text: "x.go"}) != "a/x.go" {
		t.Error("four reads are more than one change")
	}
}

// TestPathsOfWindows: below the project's folder they are told without it, and with
// slashes, as git tells them; a file that is written both ways is one file.
func TestPathsOfWindows(t *testing.T) {
	t.Parallel()
	r := NewRecord(`D:\shop`)
	a := r.file(`D:\shop\src\cart.js`)
	if r.file("d:/shop/src/cart.js") != a || r.files[a].path != "src/cart.js" {
		t.Errorf("%+v", r.files)
	}
	r.file(`D:\shop\old\cart.js`)
	if r.files[a].reads = 2; r.written(&nameStat{text: "cart.js"}) != "src/cart.js" {
		t.Errorf("%q", r.written(&nameStat{text: "cart.js"}))
	}
	for path, want := range map[string]string{
		`a\b.js`:                  `a\b.js`, // a name with a backslash is no path of Windows
		`\\?\D:\shop\src\cart.js`: "src/cart.js",
		`\\?\d:\else\cart.js`:     "D:/else/cart.js",
		`\\box\share\a.js`:        "//box/share/a.js",
		`\\?\UNC\box\share\a.js`:  "//box/share/a.js",
		`\\?\`:                    "",
	} {
		if got := tidyPath(path, `D:\shop`); got != want {
			t.Errorf("%q is told as %q, want %q", path, got, want)
		}
	}
	for _, cwd := range []string{`\\?\D:\shop`, "d:/shop/", `D:\shop\`} {
		if got := tidyPath(`D:\shop\src\cart.js`, cwd); got != "src/cart.js" {
			t.Errorf("in %q it is %q", cwd, got)
		}
	}
	if got := tidyPath(`\\box\share\src\a.js`, `\\?\UNC\box\share`); got != "src/a.js" {
		t.Errorf("on a share: %q", got)
	}
}

// TestMixes: words that may be a secret, or a part of one.
func TestMixes(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"readRows": false, "x9Kq2Zr": true, "1a2b3c": false, "123456": false, "sha256sum": true, "aVeryLongNameOfThing": true, "aVeryLongNameOfThin": false, "1z": true, "a1": false, "": false,
	} {
		if got := mixes([]byte(word)); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

// TestOwn: what is known to be the project's own.
func TestOwn(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	for i, c := range []struct {
		name nameStat
		want bool
	}{
		{nameStat{text: "readRows", defined: true}, true},
		{nameStat{text: "readRows"}, false},
		{nameStat{text: "readRows", defined: true, secret: true}, false},
		{nameStat{text: "a.go", path: true, full: "in/a.go"}, true},
		{nameStat{text: "a.go", path: true, secret: true}, false},
		{nameStat{text: "a.js", path: true, full: "node_modules/x/a.js"}, false},
		{nameStat{text: "a.go", path: true, full: "/root/go/pkg/mod/x/a.go"}, false},
		{nameStat{text: "folder", path: true, full: "in/folder"}, false},
	} {
		r.names.list = append(r.names.list, c.name)
		if got := r.Own(i); got != c.want {
			t.Errorf("%+v: %v", c.name, got)
		}
	}
	if r.Names() != 8 || r.Name([]byte("nobody")) != -1 {
		t.Errorf("%d names, %d", r.Names(), r.Name([]byte("nobody")))
	}
}

// TestRebase: paths are written from where most of the work lies, if that is deep enough.
func TestRebase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		root  string
	}{
		"three of a kind":         {[]string{"/w/r/s/a.go", "/w/r/s/b.go", "/w/r/s/t/c.go"}, "/w/r/s/"},
		"two are too few":         {[]string{"/w/r/s/a.go", "/w/r/s/b.go"}, ""},
		"more than half below":    {[]string{"/p/a.go", "/p/b.go", "/p/c.go", "/p/d.go", "/w/r/s/a.go", "/w/r/s/b.go", "/w/r/s/c.go"}, ""},
		"half of them":            {[]string{"/p/a.go", "/p/b.go", "/p/c.go", "/w/r/s/a.go", "/w/r/s/b.go", "/w/r/s/c.go"}, "/w/r/s/"},
		"nothing in common":       {[]string{"/a/b/c/x.go", "/d/e/f/y.go", "/g/h/i/z.go", "/j/k/l/z.go"}, ""},
		"not deep":                {[]string{"/w/a.go", "/w/b.go", "/w/c.go"}, ""},
		"deep enough":             {[]string{"/w/r/a.go", "/w/r/b.go", "/w/r/c.go"}, "/w/r/"},
		"one that lies elsewhere": {[]string{"/etc/x/hosts", "/w/r/s/a.go", "/w/r/s/b.go", "/w/r/s/c.go", "/w/r/s/d.go"}, "/w/r/s/"},
		"on a drive":              {[]string{`D:\w\r\a.go`, `D:\w\r\b.go`, "d:/w/r/c.go"}, "D:/w/r/"},
		"names that begin alike":  {[]string{"/w/r/sa/a.go", "/w/r/sb/b.go", "/w/r/sc/c.go"}, "/w/r/"},
	} {
		r := NewRecord("/p")
		for _, f := range c.files {
			r.file(f)
		}
		if r.rebase(); r.root != c.root {
			t.Errorf("%s: %q, want %q", name, r.root, c.root)
		}
		if c.root != "" && r.known(c.root+"a.go") < 0 && r.known(c.root+"sa/a.go") < 0 {
			t.Errorf("%s: the files are lost: %v", name, r.at)
		}
	}
}

// TestDone: commits that are still there and that the summary does not name, git's first;
// steps and stages, the newest first, each once; what is open is not done.
func TestDone(t *testing.T) {
	t.Parallel()
	h := Handover{Record: NewRecord("/p"), Lang: message.EN}
	h.Work.Tree = Tree{Known: true, Dirty: []string{"/p/a.go"}, Commits: []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"}, Since: []compact.TreeCommit{{Hash: "eeeeeeeeeeee", Subject: "theirs", By: "Ann"}, {Hash: "ffffffffffff", Subject: "rebased"}}}
	h.Work.Commits = []shellcmd.Made{{Hash: "aaaaaaaaaaaa", Subject: "one"}, {Hash: "bbbbbbb", Subject: "two"}, {Hash: "ccccccc", Subject: "undone"}, {Hash: "ddddddd", Subject: "rebased"}, {Subject: "unnamed"}}
	h.Work.Steps, h.Work.Stages = []string{"Read the rows", "Write", "Open", "Write"}, []string{"PLAN", "DEV"}
	h.Work.Next = []string{"Open", "Later"}
	w := &handoverWriter{Handover: h, now: h.Situation(), stated: newStated("Commit bbbbbbb is made. read the rows.")}
	own := message.HandoverOwnCommit
	for name, c := range map[string]struct{ got, want []string }{
		"done": {w.done(), []string{"“Write”", message.HandoverStage.Format(message.EN, "DEV"), message.HandoverStage.Format(message.EN, "PLAN")}},
		"plan": {w.plan(), []string{"“Open”", "“Later”"}},
		"tree": {w.tree(), []string{
			message.HandoverUnsaved.Format(message.EN, "a.go"), message.HandoverCommitBy.Format(message.EN, "eeeeeeeeee", "“theirs”", "Ann"), own.Format(message.EN, "ffffffffff", "“rebased”"),
			own.Format(message.EN, "", "“unnamed”"), own.Format(message.EN, "aaaaaaaaaa", "“one”"),
		}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// TestBlunt: what could close a frame, or open one of a host's, cannot any more.
func TestBlunt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<b>": "<b>", "a < b": "a < b", "</x>": "‹/x>", "<!--": "‹!--", "<?xml": "‹?xml", "<System-reminder>": "‹System-reminder>", "<": "<", "plain": "plain",
	} {
		if got := blunt(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestSection: a title with as many lines as fit, and how many do not.
func TestSection(t *testing.T) {
	t.Parallel()
	if got := section2("T", []string{"one", "two"}, len("## T\n- one\n- two"), message.EN); got != "## T\n- one\n- two" {
		t.Errorf("%q", got)
	}
	if got := section2("T", []string{"one", "two"}, len("## T\n- one\n- two")-1, message.EN); got != "## T\n- one\n- "+message.HandoverMore.Format(message.EN, 1) {
		t.Errorf("%q", got)
	}
	if section2("T", []string{"one"}, 5, message.EN) != "" || section2("T", nil, 100, message.EN) != "" {
		t.Error("a title without a line")
	}
}

// What was handed over with a summary is no name of the slice that begins with it: each
// hand-over is of its own slice.
func TestSummaryWithoutItsPacket(t *testing.T) {
	t.Parallel()
	s := &tale{}
	s.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "They looked at `scanLedger`.\n\n<overtone-packet id=\"ovt-1-1\">\n## Names that the summary lacks\ngammaScan\n</overtone-packet>\n"}})
	if text := s.user("go on").handover(t, "").Text(); !strings.Contains(text, "scanLedger") || strings.Contains(text, "gammaScan") || strings.Count(text, "overtone-packet") != 2 {
		t.Error(text)
	}
}

// TestManyFiles: sixteen times as many files, of one folder, one name or neither, are about
// sixteen times the work.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"src/part%d.go", "part%d/mod.rs", "part%[1]d/part%[1]d.go"} {
		took := map[int]time.Duration{}
		for _, n := range []int{2_000, 32_000} {
			took[n] = time.Hour
			for range 3 {
				began := time.Now()
				r, paths := NewRecord("/p"), []string{}
				for i := range n {
					paths = append(paths, fmt.Sprintf(form, i))
					r.file(paths[i])
				}
				if text := folded(paths, 500, message.EN); message.Units(text) > 600 || !strings.HasPrefix(text, strings.SplitN(form, "part", 2)[0]) {
					t.Fatalf("%s: %q", form, text)
				}
				took[n] = min(took[n], time.Since(began))
			}
		}
		if took[32_000] > 64*took[2_000]+200*time.Millisecond {
			t.Errorf("%s: %v", form, took)
		}
	}
}
