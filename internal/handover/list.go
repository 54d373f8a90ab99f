package handover

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// The ranking. In recorded sessions a name that stood in one tool's input was
// needed after a compaction several times as often as one that was only read; more
// inputs raise that ever more slowly, more than two or three mentions not at all. What
// was read of a file is worth more than what a program printed, or a path that no tool
// was given. A field, a constant or a local whose name has an underscore, or ends like
// readErr, was needed half as often as other names with as many uses. What was met last
// when the slice began counts half of what was met last at its end. Finer rankings, also learned ones, did not hold on other sessions; `make
// eval` shows what a change does.
const (
	worthTyped = 4.0 // of one tool input, against one mention
	mostHeard  = 2.5 // more mentions tell nothing
	shareHomed = 1.5 // of a mention, when it stood in a file
	shareFree  = 0.5 // when it did not, or is a path
	shareMinor = 0.5 // of a name that is seldom needed by its form
	// The room beside a name: the blank before it, and on a line of its own the
	// line end and what happened to the file.
	costName = 1.0
	costLine = 4.0
	// So many names of one file make the next one half as welcome: the tenth
	// file tells more than the sixtieth name of the first.
	crowd = 10.0
	// maxRanked is more than ever fits.
	maxRanked = 500
)

// worth is how likely a name is to be needed again, on a scale of its own.
func (r *Record) worth(e *nameStat) float64 {
	v := min(float64(e.heard), mostHeard)
	if e.typed == 0 {
		if e.homing > 0 && !e.path && !e.part {
			v *= shareHomed
		} else {
			v *= shareFree
		}
	} else {
		v += worthTyped * math.Sqrt(float64(e.typed))
	}
	if !e.path && (strings.Contains(e.text, "_") || strings.HasSuffix(e.text, "Err")) {
		v *= shareMinor
	}
	age := float64(r.size-e.last) / float64(max(1, r.size))
	return v * math.Exp2(-age)
}

// candidate is a name in the running for a place.
type candidate struct {
	*nameStat
	worth, cost float64
	path        string // of a file that gets a line
	dir         string
}

// Choice is which names are told.
type Choice uint8

const (
	// Worthy are those that are told beside a summary: none that only a sub-agent's
	// report had.
	Worthy Choice = iota
	// All that fit are told where no summary tells any.
	All
	// Lost are all that fit, those of libraries among them: a session without its tool
	// calls has lost these, too.
	Lost
)

// ranked are the names that the texts do not state yet, best first: by worth for
// the room that each takes beside those before it.
func (r *Record) ranked(stated func(string) bool, which Choice) []candidate {
	list := make([]candidate, 0, len(r.names.list))
	for i := range r.names.list {
		e := &r.names.list[i]
		switch {
		case e.secret, which != Lost && e.homing < homeDefined && extract.Library(e.text):
			continue
		case e.part && (len(e.text) <= minPart || e.typed == 0 && e.home < 0):
			continue // a folder or package counts only where somebody used it
		case which == Worthy && (e.typed+e.heard == e.told || e.part && e.typed == 0 && plainWord(e.text)):
			continue // a sub-agent's own, a tag, one of two words
		}
		list = append(list, candidate{nameStat: e, worth: r.worth(e), cost: float64(len(e.text)) + costName})
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.worth/b.cost, a.worth/a.cost), strings.Compare(a.text, b.text))
	})
	pool := list[:0]
	for _, c := range list {
		if len(pool) == maxRanked {
			break
		}
		if stated(c.text) {
			continue
		}
		if c.nameStat.path {
			if c.path = r.pathOf(c.nameStat); c.path != "" {
				c.dir = folderOf(c.path)
				c.cost += costLine
			}
		}
		pool = append(pool, c)
	}
	return pick(withoutSecrets(pool))
}

// withoutSecrets drops what only looks like a name.
func withoutSecrets(pool []candidate) []candidate {
	var all strings.Builder
	for _, c := range pool {
		all.WriteString(c.text + "\n" + c.path + "\n")
	}
	if _, found := redact.Text(all.String()); len(found) == 0 {
		return pool
	}
	return slices.DeleteFunc(pool, func(c candidate) bool {
		_, found := redact.Text(c.text + "\n" + c.path)
		return len(found) > 0
	})
}

// plainWord reports a word of small letters alone. After a slash, where no tool was
// given it, it is mostly a tag, an import, or one of two alternatives.
func plainWord(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// minPart is the longest name of a folder or package that says nothing.
const minPart = 3

// pick orders the candidates greedily: a folder is paid for once, and names of
// one file get dearer the more of them there are.
func pick(pool []candidate) []candidate {
	open := map[string]bool{"": true}
	from := map[int32]float64{}
	out := make([]candidate, 0, len(pool))
	for len(pool) > 0 {
		best, most := 0, -1.0
		for i := range pool {
			c := &pool[i]
			cost := c.cost
			switch {
			case c.dir != "" && !open[c.dir]:
				cost += float64(len(c.dir) - strings.LastIndexByte(c.dir[:len(c.dir)-1], '/'))
			case c.nameStat.path:
			case c.home >= 0:
				cost *= 1 + from[c.home]/crowd
			}
			if d := c.worth / cost; d > most {
				best, most = i, d
			}
		}
		c := pool[best]
		for d := c.dir; d != "" && !open[d]; d = folderOf(strings.TrimSuffix(d, "/")) {
			open[d] = true
		}
		if !c.nameStat.path {
			from[c.home]++
		}
		out = append(out, c)
		pool = slices.Delete(pool, best, best+1)
	}
	return out
}

// Lacking is the names that a text does not state, under a title, the best that fit
// into the room.
func (r *Record) Lacking(states func(name string) bool, which Choice, title message.Text, room int, l message.Lang) string {
	return r.lacking(states, nil, which, title, room, l)
}

// lacking is Lacking for a text that tells of some files that they were edited.
func (r *Record) lacking(states func(name string) bool, told []string, which Choice, title message.Text, room int, l message.Lang) string {
	r.rebase()
	rank := r.ranked(states, which)
	text := func(k int) string { return "## " + title.In(l) + "\n" + r.layOut(rank[:k], told, l) }
	k := sort.Search(len(rank), func(k int) bool { return message.Units(text(k+1)) > room })
	if k == 0 {
		return ""
	}
	return text(k)
}

// Top is the names that are most likely to be needed again, whoever states them.
func (r *Record) Top(n int) []string {
	var out []string
	for _, c := range r.ranked(func(string) bool { return false }, All) {
		if len(out) == n {
			break
		}
		out = append(out, c.text)
	}
	return out
}

// fileLine is a file with the names that belong to it.
type fileLine struct {
	path  string
	did   string // what happened to it
	names []string
	own   bool // its own name is one of the chosen
}

// layOut groups the chosen names by file and the files by folder. Of told it is known
// already that they were edited.
func (r *Record) layOut(chosen []candidate, told []string, l message.Lang) string {
	lines := map[string]*fileLine{}
	var order []*fileLine
	open := func(path string, file int32) *fileLine {
		f := lines[path]
		if f == nil {
			f = &fileLine{path: path, did: r.happened(file, slices.Contains(told, path), l)}
			lines[path] = f
			order = append(order, f)
		}
		return f
	}
	var files, names []string // that have no line of their own
	for _, c := range chosen {
		switch {
		case c.path != "":
			open(c.path, r.known(c.path)).own = true
		case c.nameStat.path && extract.FileName(c.text):
			files = append(files, c.text)
		case c.nameStat.path || c.home < 0 || far(r.files[c.home].path):
			names = append(names, c.text)
		default:
			f := open(r.files[c.home].path, c.home)
			f.names = append(f.names, c.text)
		}
	}
	root := &folder{}
	for _, f := range order {
		// A line that only says where a few names stand is dearer than they are.
		if !f.own && len(f.names) < 4 {
			names = append(names, f.names...)
			continue
		}
		root.add(f)
	}
	var b strings.Builder
	root.write(&b, "", "")
	// A folder that stands in a path needs no second place.
	written := b.String()
	others := slices.DeleteFunc(slices.Concat(files, names), func(name string) bool { return extract.States(written, name) })
	if len(others) > 0 {
		b.WriteString(message.HandoverOthers.In(l) + strings.Join(others, " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pathOf is the path to write for a file's name, "" where it is worth no line:
// only files that tools worked on, and what lies beside them.
func (r *Record) pathOf(e *nameStat) string {
	best, uses := "", int32(-1)
	for _, i := range r.byBase[e.text] {
		f := &r.files[i]
		if n := f.writes*3 + f.reads; n > uses {
			best, uses = f.path, n
		}
	}
	if best == "" && strings.Contains(e.text, ".") {
		full := r.tidy(e.full)
		if dir := folderOf(full); dir != "" && r.dirs[dir] {
			best = full
		}
	}
	if far(best) {
		return ""
	}
	return best
}

// far is a path outside the project that takes more room than it is worth.
func far(path string) bool { return len(path) > 60 && rooted(path) }

func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// folder is a node of the tree in which paths are written.
type folder struct {
	name    string // with its slash
	folders []*folder
	lines   []*fileLine
}

// add puts a line where its path leads. Lines and folders keep the order in
// which they came: the best first.
func (f *folder) add(l *fileLine) {
	rest := l.path
	for {
		i := strings.IndexByte(rest[min(1, len(rest)):], '/')
		if i < 0 {
			break
		}
		name := rest[:i+2]
		at := slices.IndexFunc(f.folders, func(s *folder) bool { return s.name == name })
		if at < 0 {
			at = len(f.folders)
			f.folders = append(f.folders, &folder{name: name})
		}
		f, rest = f.folders[at], rest[i+2:]
	}
	f.lines = append(f.lines, l)
}

// write writes a folder once and what is in it below it; one that holds a single thing
// shares its line, and so do files of which nothing more is told.
func (f *folder) write(b *strings.Builder, indent, prefix string) {
	prefix += inline(f.name, 120)
	if len(f.lines)+len(f.folders) > 1 && prefix != "" {
		b.WriteString(indent + prefix + "\n")
		indent, prefix = indent+" ", ""
	}
	var bare []string
	for _, line := range f.lines {
		base := inline(line.path[strings.LastIndexByte(line.path, '/')+1:], 120)
		switch {
		case len(line.names) > 0:
			b.WriteString(indent + prefix + base + line.did + ": " + strings.Join(line.names, " ") + "\n")
		case line.did != "":
			b.WriteString(indent + prefix + base + line.did + "\n")
		default:
			bare = append(bare, base)
		}
	}
	if len(bare) > 0 {
		b.WriteString(indent + prefix + strings.Join(bare, " ") + "\n")
	}
	for _, s := range f.folders {
		s.write(b, indent, prefix)
	}
}

// happened says in two words what was done to a file, unless it is told that it was
// edited.
func (r *Record) happened(file int32, told bool, l message.Lang) string {
	if file < 0 {
		return ""
	}
	switch f := &r.files[file]; {
	case f.created:
		return ", " + message.HandoverCreated.In(l)
	case told:
		return ""
	case f.writes > 1:
		return ", " + message.HandoverEditedN.Format(l, f.writes)
	case f.writes == 1:
		return ", " + message.HandoverEdited.In(l)
	}
	return ""
}
