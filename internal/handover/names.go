package handover

import (
	"math"
	"sort"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type nameStat struct {
	text  string
	full  string  // the longest path that ended in it
	last  int64   // where it was met last, in bytes of the slice
	count float64 // of the pieces that hold it, each by what it is and how much else it holds
	piece int32   // the last piece that counted it
	path  bool    // of a file
	// secret: it is one, or a part of one. defined: a word such as func or class has stood
	// before it.
	secret, defined bool
}

// nameTable counts names. A slice of twenty megabytes holds some ten thousand
// different ones and mentions them a million times.
type nameTable struct {
	at   map[string]int32
	list []nameStat
	// held are the names of the piece that is read, typed says that it is a tool's input.
	held  []int32
	typed bool
}

// maxNames bounds the table; a slice with more names than that is data.
const maxNames = 200_000

// entry is the number of a name, -1 where there is no room for another.
func (t *nameTable) entry(base []byte, secret func([]byte) bool) int32 {
	if i, ok := t.at[string(base)]; ok {
		return i
	}
	if len(t.list) == maxNames {
		return -1
	}
	n := nameStat{text: string(base), piece: -1, secret: secret(base)}
	i := int32(len(t.list))
	t.at[n.text] = i
	t.list = append(t.list, n)
	return i
}

// share ends a piece. The more names one holds, the less it says of each: a listing of a
// folder is no sign that any of its files matters.
func (t *nameTable) share() {
	each := 1 / math.Log2(float64(2+len(t.held)))
	if t.typed {
		each *= worthTyped
	}
	for _, i := range t.held {
		t.list[i].count += each
	}
	t.held, t.typed = t.held[:0], false
}

// count reads the names of one string of the conversation; typed says that it is a
// tool's input.
func (r *Record) count(text []byte, escaped, typed bool) {
	if r.unnamed {
		return
	}
	r.names.typed = typed
	s := extract.NameScan{Text: text, Escaped: escaped}
	secrets := secretsOf{text: text}
	for {
		n, ok := s.Next()
		if !ok {
			return
		}
		i := r.names.entry(n.Base, secrets.hold)
		if i < 0 {
			continue
		}
		e := &r.names.list[i]
		e.last = r.pos
		if n.Defined {
			e.defined = true
			if typed && (r.last.kind == host.EditDeed || r.last.kind == host.CreateDeed) {
				r.last.where = e.text
			}
		}
		if e.piece != r.piece {
			e.piece = r.piece
			r.names.held = append(r.names.held, i)
		}
		if e.path = e.path || n.Path; n.Path && len(n.Text) > len(e.full) {
			e.full = string(n.Text)
		}
	}
}

// countIn reads the names of all strings of an event.
func (r *Record) countIn(p *transcript.Event, typed bool) {
	if !r.unnamed {
		p.Strings(func(_ string, inner transcript.Inner) { r.count(inner.Escaped(), true, typed) })
	}
}

// secretsOf finds out which names of a text are secrets, or parts of them: torn out
// of its surroundings a password looks like a name. Only the surroundings of names
// that may be one are looked at, once.
type secretsOf struct {
	text     []byte
	from, to int // what was looked at
	spans    []redact.Span
}

const (
	secretBefore = 4 << 10
	secretAfter  = 16 << 10
)

func (s *secretsOf) hold(name []byte) bool {
	if !mixes(name) {
		return false
	}
	at := cap(s.text) - cap(name) // a name is a part of its text
	end := at + len(name)
	if s.to == 0 || end+secretBefore > s.to && s.to < len(s.text) {
		s.from, s.to = max(0, at-secretBefore), min(len(s.text), at+secretAfter)
		s.spans = redact.Spans(string(s.text[s.from:s.to]))
	}
	i := sort.Search(len(s.spans), func(i int) bool { return s.from+s.spans[i].End > at })
	return i < len(s.spans) && s.from+s.spans[i].Start < end
}

// mixes reports a word of letters and digits that is no number.
func mixes(word []byte) bool {
	letters, digits, hex := 0, 0, true
	for _, c := range word {
		switch low := c | 0x20; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= low && low <= 'z':
			letters++
			hex = hex && low <= 'f'
		}
	}
	return len(word) >= 20 || digits > 0 && letters > 0 && !hex
}

// tidyPath makes paths of one file equal: below the working folder without it, and
// with slashes on Windows, where agents write both.
func tidyPath(path, cwd string) string {
	path, cwd = slashed(path), slashed(cwd)
	path = strings.TrimPrefix(path, "./")
	if cwd != "" {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(cwd, "/")+"/"); ok {
			path = rest
		}
	}
	return strings.TrimSuffix(path, "/")
}

// slashed writes a path of Windows with slashes. It is known by its drive or by the two
// backslashes that it begins with; \\?\ before either changes nothing but the rules by
// which Windows reads it.
func slashed(path string) string {
	path = strings.Replace(path, `\\?\UNC\`, `\\`, 1)
	path = strings.TrimPrefix(path, `\\?\`)
	if onDrive(path) {
		path = strings.ToUpper(path[:1]) + path[1:]
	} else if !strings.HasPrefix(path, `\\`) {
		return path
	}
	return strings.ReplaceAll(path, `\`, "/")
}

func onDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// rooted reports a path that begins at the root of a tree of files.
func rooted(path string) bool { return strings.HasPrefix(path, "/") || onDrive(path) }
