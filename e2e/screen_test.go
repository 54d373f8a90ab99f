//go:build e2e

package e2e

import (
	"strconv"
	"strings"

	"golang.org/x/text/width"
)

// screen draws what a program writes to a terminal. Agents only write what has changed
// and step over the rest, so their output cannot be read without drawing it.
type screen struct {
	rows, cols int
	cells      [][]rune
	row, col   int
	above      []string // what has scrolled away
}

// draw is all that a terminal of that size has shown, line by line, without blanks.
func draw(output string, rows, cols int) string {
	s := &screen{rows: rows, cols: cols}
	for range rows {
		s.cells = append(s.cells, make([]rune, cols))
	}
	in := []rune(output)
	for i := 0; i < len(in); i++ {
		switch r := in[i]; r {
		case '\x1b':
			i = s.escape(in, i+1)
		case '\r':
			s.col = 0
		case '\n':
			s.down()
		case '\b':
			s.col = max(0, s.col-1)
		default:
			s.put(r)
		}
	}
	lines := s.above
	for _, row := range s.cells {
		lines = append(lines, text(row))
	}
	return strings.Join(lines, "\n")
}

// text is a row without blanks.
func text(row []rune) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r == ' ' || r == '\u00a0' {
			return -1
		}
		return r
	}, string(row))
}

func (s *screen) put(r rune) {
	if r < ' ' || r == '\ufe0f' {
		return
	}
	cells := 1
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		cells = 2
	}
	if s.col+cells > s.cols {
		s.col = 0
		s.down()
	}
	s.cells[s.row][s.col] = r
	if cells == 2 {
		s.cells[s.row][s.col+1] = 0
	}
	s.col += cells
}

func (s *screen) down() {
	if s.row++; s.row < s.rows {
		return
	}
	s.row = s.rows - 1
	s.above = append(s.above, text(s.cells[0]))
	s.cells = append(s.cells[1:], make([]rune, s.cols))
}

// escape takes a sequence that begins behind its escape character, and returns where it
// ends.
func (s *screen) escape(in []rune, i int) int {
	if i >= len(in) {
		return i
	}
	switch in[i] {
	case ']', 'P', '_', '^': // until the bell, or until a backslash behind an escape
		for ; i < len(in) && in[i] != '\a' && in[i] != '\\'; i++ {
		}
		return i
	case '(', ')':
		return i + 1
	case '[':
	default:
		return i
	}
	from := i + 1
	for i = from; i < len(in) && (in[i] < '@' || in[i] > '~'); i++ {
	}
	if i >= len(in) {
		return i
	}
	var n [2]int
	for k, p := range strings.SplitN(string(in[from:i]), ";", 2) {
		n[k], _ = strconv.Atoi(p) // what is no number is left out
	}
	by := max(1, n[0])
	switch in[i] {
	case 'A':
		s.row = max(0, s.row-by)
	case 'B':
		s.row = min(s.rows-1, s.row+by)
	case 'C':
		s.col = min(s.cols-1, s.col+by)
	case 'D':
		s.col = max(0, s.col-by)
	case 'G':
		s.col = min(s.cols, by) - 1
	case 'd':
		s.row = min(s.rows, by) - 1
	case 'H', 'f':
		s.row, s.col = min(s.rows, by)-1, min(s.cols, max(1, n[1]))-1
	case 'J':
		s.erase(n[0], true)
	case 'K':
		s.erase(n[0], false)
	}
	return i
}

// erase clears behind the cursor, before it, or all, of the row or of the screen.
func (s *screen) erase(what int, all bool) {
	for y, row := range s.cells {
		for x := range row {
			behind := y > s.row || y == s.row && x >= s.col
			if (all || y == s.row) && (what >= 2 || what == 1 && !behind || what == 0 && behind) {
				row[x] = 0
			}
		}
	}
}
