package compact

import (
	"bytes"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// use says where a name was met. What an agent wrote itself into a tool is what
// it will write again; what a tool printed is mostly noise.
type use uint8

const (
	heard use = iota // texts and results
	typed            // a tool's input
	edits            // the text that an edit puts into a file
)

// nameStat is what is known of one name.
type nameStat struct {
	text   string
	full   string // the longest path that ended in it
	last   int64  // where it was met last, in bytes of the slice
	typed  int32  // tool inputs that hold it
	heard  int32  // other pieces
	piece  int32  // the last piece that counted it
	home   int32  // the file it belongs to, -1 for none
	homing uint8  // how sure that is
	path   bool   // of a file
	part   bool   // the last part of a path that is no file's: a folder, a package
}

// How sure it is that an identifier belongs to a file.
const (
	homeSeen    = 1 + iota // stood in what was read of it
	homeLine               // a line began with the file's path
	homeEdited             // was part of an edit
	homeDefined            // was defined there
)

// nameTable counts names. A slice of twenty megabytes holds some ten thousand
// different ones and mentions them a million times.
type nameTable struct {
	at   map[string]int32
	list []nameStat
}

// maxNames bounds the table; a slice with more names than that is data.
const maxNames = 200_000

func (t *nameTable) entry(base []byte) *nameStat {
	if i, ok := t.at[string(base)]; ok {
		return &t.list[i]
	}
	if len(t.list) == maxNames {
		return nil
	}
	n := nameStat{text: string(base), home: -1, piece: -1}
	t.at[n.text] = int32(len(t.list))
	t.list = append(t.list, n)
	return &t.list[len(t.list)-1]
}

// count reads the names of one string of the conversation; file is what it
// belongs to, -1 for nothing.
func (r *Record) count(text []byte, escaped bool, u use, file int32) {
	s := extract.NameScan{Text: text, Escaped: escaped}
	line, lineFile := -1, int32(-1)
	for {
		n, ok := s.Next()
		if !ok {
			return
		}
		e := r.names.entry(n.Base)
		if e == nil {
			continue
		}
		e.last = r.pos
		if e.piece != r.piece {
			e.piece = r.piece
			if u == heard {
				e.heard++
			} else {
				e.typed++
			}
		}
		if n.Path {
			suffixed := bytes.IndexByte(n.Base, '.') > 0
			e.part = e.part || !suffixed
			if suffixed || file < 0 {
				e.path = true
				if len(n.Text) > len(e.full) {
					e.full = string(n.Text)
				}
				if n.Lead && file < 0 {
					line, lineFile = n.Line, r.known(string(n.Text))
				}
				continue
			}
		}
		home, homing := file, uint8(homeSeen)
		switch {
		case file >= 0 && n.Defined:
			homing = homeDefined
			if u == edits {
				r.last.where = e.text
			}
		case u == edits:
			homing = homeEdited
		case file < 0 && n.Line == line && lineFile >= 0:
			home, homing = lineFile, homeLine
		}
		if home >= 0 && homing >= e.homing {
			e.home, e.homing = home, homing
		}
	}
}

// tidyPath makes paths of one file equal: below the working folder without it.
func tidyPath(path, cwd string) string {
	path = strings.TrimPrefix(path, "./")
	if cwd != "" {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(cwd, "/")+"/"); ok {
			path = rest
		}
	}
	return strings.TrimSuffix(path, "/")
}
