package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// TestWorth: which of two names is more likely to be needed again.
func TestWorth(t *testing.T) {
	t.Parallel()
	r := &Record{size: 1000}
	for name, c := range map[string]struct{ more, less nameStat }{
		"what was typed":           {nameStat{typed: 1, last: 1000}, nameStat{heard: 9, last: 1000}},
		"typed more often":         {nameStat{typed: 3, last: 1000}, nameStat{typed: 2, last: 1000}},
		"heard as well":            {nameStat{typed: 1, heard: 1, last: 1000}, nameStat{typed: 1, last: 1000}},
		"heard twice":              {nameStat{heard: 2, last: 1000}, nameStat{heard: 1, last: 1000}},
		"read in a file":           {nameStat{heard: 1, homing: homeSeen, last: 1000}, nameStat{heard: 1, last: 1000}},
		"a name rather than paths": {nameStat{heard: 1, homing: homeSeen, last: 1000}, nameStat{heard: 1, homing: homeSeen, path: true, last: 1000}},
		"a name rather than parts": {nameStat{heard: 1, homing: homeSeen, last: 1000}, nameStat{heard: 1, homing: homeSeen, part: true, last: 1000}},
		"no underscore":            {nameStat{text: "readRows", heard: 1, last: 1000}, nameStat{text: "read_rows", heard: 1, last: 1000}},
		"no local of an error":     {nameStat{text: "readRows", heard: 1, last: 1000}, nameStat{text: "readErr", heard: 1, last: 1000}},
		"a file's underscore":      {nameStat{text: "a_b.go", heard: 1, last: 1000, path: true}, nameStat{text: "a_b_go", heard: 1, last: 1000}},
		"newer":                    {nameStat{heard: 1, last: 1000}, nameStat{heard: 1, last: 900}},
	} {
		if more, less := r.worth(&c.more), r.worth(&c.less); more <= less {
			t.Errorf("%s: %v, %v", name, more, less)
		}
	}
	if a, b := r.worth(&nameStat{heard: 3, last: 1}), r.worth(&nameStat{heard: 30, last: 1}); a != b {
		t.Errorf("more than a few mentions tell something: %v, %v", a, b)
	}
	if fresh, old := r.worth(&nameStat{heard: 1, last: 1000}), r.worth(&nameStat{heard: 1}); old != fresh/2 {
		t.Errorf("the oldest counts half: %v, %v", fresh, old)
	}
	if v := (&Record{}).worth(&nameStat{heard: 1}); v != shareFree {
		t.Errorf("in an empty slice: %v", v)
	}
}

// TestPick: a folder is paid for once, and the more names of one file there are, the
// less welcome is the next one.
func TestPick(t *testing.T) {
	t.Parallel()
	file := func(path string, worth float64) candidate {
		return candidate{nameStat: &nameStat{text: path[strings.LastIndexByte(path, '/')+1:], path: true}, path: path, dir: folderOf(path), worth: worth, cost: 10}
	}
	name := func(text string, home int32, worth float64) candidate {
		return candidate{nameStat: &nameStat{text: text, home: home}, worth: worth, cost: 10}
	}
	order := func(pool ...candidate) string {
		var out []string
		for _, c := range pick(pool) {
			out = append(out, c.text)
		}
		return strings.Join(out, " ")
	}
	if got := order(file("a/b/one.go", 10), file("c/two.go", 9), file("a/b/three.go", 8)); got != "one.go three.go two.go" {
		t.Errorf("a folder is paid for again: %s", got)
	}
	if got := order(file("a/b/one.go", 10), file("a/two.go", 9.9), file("c/three.go", 9.95)); got != "three.go one.go two.go" && got != "one.go two.go three.go" {
		t.Errorf("a folder above is paid for again: %s", got)
	}
	if got := order(file("top.go", 5), name("free", -1, 5.1)); got != "free top.go" {
		t.Errorf("%s", got)
	}
	var crowdOf []candidate
	for i := range 20 {
		crowdOf = append(crowdOf, name(fmt.Sprint("n", i), 1, 10))
	}
	got := strings.Fields(order(append(crowdOf, name("other", 2, 6))...))
	if at := slices.Index(got, "other"); at < 6 || at > 7 { // 10/(1+n/10) = 6 at n = 7
		t.Errorf("another file's name comes after %d", at)
	}
	crowdOf = crowdOf[:0]
	for i := range 30 {
		crowdOf = append(crowdOf, name(fmt.Sprint("n", i), -1, 10))
	}
	got = strings.Fields(order(append(crowdOf, name("other", 2, 6))...))
	if at := slices.Index(got, "other"); at != len(crowdOf) { // names of no file do not crowd each other out
		t.Errorf("a file's name comes after %d", at)
	}
}

// TestLayOut: a file has its line, with what happened to it and the names that belong to
// it; a few names alone are not worth a line, and a folder in a path is stated.
func TestLayOut(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	a, b := r.file("/p/in/a.go"), r.file("/p/in/b.go")
	far := r.file("/" + strings.Repeat("far/", 20) + "c.go")
	r.files[a].writes, r.files[b].writes = 2, 1
	own := func(i int32) candidate {
		return candidate{nameStat: &nameStat{text: r.files[i].path, path: true}, path: r.files[i].path}
	}
	name := func(text string, home int32) candidate { return candidate{nameStat: &nameStat{text: text, home: home}} }
	others := message.HandoverOthers.In(message.EN)
	edited, twice := ", "+message.HandoverEdited.In(message.EN), ", "+message.HandoverEditedN.Format(message.EN, 2)
	for want, chosen := range map[string][]candidate{
		"in/\n a.go" + twice + ": one two\n b.go" + edited:  {own(a), name("one", a), own(b), name("two", a)},
		"in/a.go" + twice + "\n" + others + "one two three": {own(a), name("one", b), name("two", b), name("three", b)},
		"in/b.go" + edited + ": one two three four":         {name("one", b), name("two", b), name("three", b), name("four", b)},
		others + "one":          {name("one", far)},
		others + "free":         {name("free", -1)},
		others + "lost.go free": {name("free", -1), {nameStat: &nameStat{text: "lost.go", path: true, home: -1}}},
		others + "folder":       {{nameStat: &nameStat{text: "folder", path: true, home: -1}}},
		"in/new.go":             {{nameStat: &nameStat{text: "new.go", path: true}, path: "in/new.go"}},
		"":                      nil,
		"in/a.go" + twice + "\nx/y.go\n" + others + "one": {own(a), {nameStat: &nameStat{text: "y.go", path: true}, path: "x/y.go"}, name("one", -1)},
		"x/y/\n z.go w.go":   {{nameStat: &nameStat{text: "z.go", path: true}, path: "x/y/z.go"}, {nameStat: &nameStat{text: "w.go", path: true}, path: "x/y/w.go"}},
		"x/\n v.go\n y/z.go": {{nameStat: &nameStat{text: "z.go", path: true}, path: "x/y/z.go"}, {nameStat: &nameStat{text: "v.go", path: true}, path: "x/v.go"}},
		"/etc/hosts.txt":     {{nameStat: &nameStat{text: "hosts.txt", path: true}, path: "/etc/hosts.txt"}},
		"in/\n b.go" + edited + "\n v.go\n" + others + "free": {own(b), {nameStat: &nameStat{text: "v.go", path: true}, path: "in/v.go"}, {nameStat: &nameStat{text: "in", path: true, home: -1}}, name("free", -1)},
	} {
		if got := r.layOut(chosen, nil, message.EN); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := r.layOut([]candidate{own(a), name("one", a), own(b)}, []string{"in/a.go"}, message.EN), "in/\n a.go: one\n b.go"+edited; got != want {
		t.Errorf("that one of them was edited is told: %q, want %q", got, want)
	}
	r.files[a].created = true
	for _, told := range []bool{false, true} {
		if got := r.happened(a, told, message.EN); got != ", "+message.HandoverCreated.In(message.EN) {
			t.Errorf("%q", got)
		}
	}
	if r.happened(far, false, message.EN) != "" || r.happened(-1, false, message.EN) != "" {
		t.Error("nothing happened to it")
	}
}

// TestPathOf: of several files of a name the one that was worked on most; one that no
// tool worked on where it lies beside one.
func TestPathOf(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	read, wrote := r.file("/p/a/x.go"), r.file("/p/b/x.go")
	r.files[read].reads, r.files[wrote].writes = 2, 1
	far := r.file("/" + strings.Repeat("far/", 20) + "y.go")
	_ = far
	for want, e := range map[string]nameStat{
		"b/x.go": {text: "x.go"},
		"a/z.go": {text: "z.go", full: "/p/a/z.go"},
	} {
		if got := r.pathOf(&e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, e := range []nameStat{{text: "y.go"}, {text: "w.go", full: "/p/c/w.go"}, {text: "w.go", full: "w.go"}, {text: "folder", full: "/p/a/folder"}} {
		if got := r.pathOf(&e); got != "" {
			t.Errorf("%s: %q", e.full, got)
		}
	}
	if r.files[read].reads = 4; r.pathOf(&nameStat{text: "x.go"}) != "a/x.go" {
		t.Error("four reads are more than one change")
	}
}

// TestRanked: what is a secret, a library's, or a short part of a path does not come, and
// what is worth little, a sub-agent's own or a tag only where all are asked for.
func TestRanked(t *testing.T) {
	t.Parallel()
	r := NewRecord("/p")
	r.size = 1000
	r.names.list = []nameStat{
		{text: "typedName", typed: 1, last: 1000, home: -1},
		{text: "heardName", heard: 1, last: 1000, home: -1},
		{text: "secretName", typed: 9, last: 1000, home: -1, secret: true},
		{text: "abc", typed: 1, last: 1000, home: -1, part: true},
		{text: "abcd", typed: 1, last: 1000, home: -1, part: true, path: true},
		{text: "partUnused", heard: 9, last: 1000, home: -1, part: true},
		{text: "partAtHome", heard: 9, last: 1000, home: 0, part: true},
		{text: strings.Repeat("longName", 8), heard: 1, home: -1, path: true},
		{text: "Println", heard: 9, last: 1000, home: -1},
		{text: "reportedOnly", heard: 9, told: 9, last: 1000, home: -1},
		{text: "reportedToo", heard: 9, told: 8, last: 1000, home: -1},
		{text: "span", heard: 9, last: 1000, home: 0, part: true},
		{text: "spans", heard: 9, typed: 1, last: 1000, home: 0, part: true, path: true},
	}
	r.file("/p/a.go")
	names := func(which Choice) []string {
		var out []string
		for _, c := range r.ranked(func(n string) bool { return n == "heardName" }, which) {
			out = append(out, c.text)
		}
		slices.Sort(out)
		return out
	}
	if got, want := names(Worthy), []string{"abcd", strings.Repeat("longName", 8), "partAtHome", "reportedToo", "spans", "typedName"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := names(All), []string{"abcd", strings.Repeat("longName", 8), "partAtHome", "reportedOnly", "reportedToo", "span", "spans", "typedName"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := names(Lost), append(names(All), "Println"); len(got) != len(want) || !slices.Contains(got, "Println") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.Top(2); len(got) != 2 || got[0] != "spans" {
		t.Errorf("%q", got)
	}
	if got := r.Lacking(func(string) bool { return true }, All, message.HandoverNames, 1000, message.EN); got != "" {
		t.Errorf("%q", got)
	}
	if got := r.Lacking(func(string) bool { return false }, All, message.HandoverNames, 20, message.EN); got != "" {
		t.Errorf("there is no room: %q", got)
	}
}

// TestNamesOfSubAgents: what only a sub-agent's report named is told where no summary
// can tell it.
func TestNamesOfSubAgents(t *testing.T) {
	t.Parallel()
	s := &tale{}
	s.user("Please find the loader.")
	s.start("Task", map[string]any{"prompt": "find it"}).end("It is loadLedger in a/ledger.go, called by growBuffer.", false)
	s.run("grep -rn growBuffer .", "b.go:3: growBuffer()", 0)
	for summary, want := range map[string]bool{"The user looks for something.": false, "": true} {
		names := s.handover(t, summary).Names("", 2000)
		if strings.Contains(names, "loadLedger") != want || strings.Contains(names, "ledger.go") != want || !strings.Contains(names, "growBuffer") {
			t.Errorf("with the summary %q: %s", summary, names)
		}
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
	if got := r.pathOf(&nameStat{text: "cart.js"}); got != "src/cart.js" {
		t.Errorf("%q", got)
	}
	if got := tidyPath(`a\b.js`, `D:\shop`); got != `a\b.js` {
		t.Errorf("a name with a backslash is no path of Windows: %q", got)
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
	h.Work.Steps, h.Work.Stages = []string{"Read the rows", "Write", "Open", "Unsure", "Write"}, []string{"PLAN", "DEV"}
	h.Work.Next, h.Work.Unsure = []string{"Open", "Later"}, []string{"Unsure"}
	w := &handoverWriter{Handover: h, now: h.Situation(), stated: newStated("Commit bbbbbbb is made. read the rows.")}
	own := message.HandoverOwnCommit
	for name, c := range map[string]struct{ got, want []string }{
		"done": {w.done(), []string{"“Write”", message.HandoverStage.Format(message.EN, "DEV"), message.HandoverStage.Format(message.EN, "PLAN")}},
		"plan": {w.plan(), []string{"“Later”", message.HandoverUnsure.Format(message.EN, "“Unsure”")}},
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

// TestShorten: of a long request the beginning and the end, in the room that there is.
func TestShorten(t *testing.T) {
	t.Parallel()
	if got := shorten("just right", 10); got != "just right" {
		t.Errorf("%q", got)
	}
	got := shorten("begin "+strings.Repeat("x", 100)+" end", 30)
	if message.Units(got) != 30 || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, "x end") || !strings.Contains(got, " […] ") || strings.Index(got, " […] ") != 20 {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"<b>": "<b>", "a < b": "a < b", "</x>": "‹/x>", "<!--": "‹!--", "<?xml": "‹?xml", "<System-reminder>": "‹System-reminder>", "<": "<", "plain": "plain",
	} {
		if got := blunt(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
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
