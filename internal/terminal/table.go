package terminal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Head is the names of a table's columns.
func (t *Terminal) Head(names ...message.Text) []string {
	row := make([]string, len(names))
	for i, n := range names {
		row[i] = t.In(n)
	}
	return row
}

// Table prints a head and rows in columns that fit: cells are cut, the last one is
// broken into lines, and where that leaves too little each row becomes a list.
func (t *Terminal) Table(w io.Writer, rows [][]string) { t.columns(w, rows, true) }

// Pairs prints names and what they are, without a head.
func (t *Terminal) Pairs(w io.Writer, rows [][]string) { t.columns(w, rows, false) }

// Plan says what a table of many columns does where there is little room. A date or
// a number that is cut tells nothing, so only the columns named here are.
type Plan struct {
	Cut   []int // may be cut at their end
	Paths []int // may be cut at their beginning, as a path's end says most
	Drop  []int // left out when that does not do, the first one first
	Early int   // so many of them go before names are cut short, the others after; 0 for all
	Right []int // numbers: their ends stand below each other
}

// Rows prints a table of one line for each row, by a plan.
func (t *Terminal) Rows(w io.Writer, rows [][]string, p Plan) {
	widths := measure(rows)
	for _, row := range rows {
		for _, i := range p.Right {
			if row[i] == "" {
				continue
			}
			row[i] = strings.Repeat(" ", widths[i]-Columns(row[i])) + row[i]
		}
	}
	room := t.Width(w)
	columns, ok := p.choose(widths, room)
	if !ok {
		t.stack(w, rows, true, room)
		return
	}
	for n, row := range rows {
		kept := make([]string, len(columns))
		for k, i := range columns {
			if kept[k] = Cut(row[i], widths[i]); slices.Contains(p.Paths, i) {
				kept[k] = cutFront(row[i], widths[i])
			}
		}
		rows[n] = kept
	}
	t.lines(w, rows, measure(rows), true)
}

// choose says which columns there is room for, and narrows widths. Rather than cut
// a name so that nobody knows it, a column is left out; only where none is left that
// may go for that names become that short.
func (p Plan) choose(widths []int, room int) (columns []int, ok bool) {
	all := len(p.Drop)
	for _, try := range []struct{ name, path, from, to int }{
		{leastName, leastName, 0, cmp.Or(p.Early, all)},
		{leastCut, leastPath, p.Early, p.Early},
		{leastName, leastName, p.Early, all},
		{leastCut, leastPath, 0, all},
	} {
		for dropped := try.from; dropped <= try.to; dropped++ {
			var had, least []int
			columns = columns[:0]
			for i, n := range widths {
				if slices.Contains(p.Drop[:dropped], i) {
					continue
				}
				columns, had, least = append(columns, i), append(had, n), append(least, n)
				if slices.Contains(p.Cut, i) {
					least[len(least)-1] = min(try.name, n)
				} else if slices.Contains(p.Paths, i) {
					least[len(least)-1] = min(try.path, n)
				}
			}
			if narrow(had, least, room) {
				for k, i := range columns {
					widths[i] = had[k]
				}
				return columns, true
			}
		}
	}
	return nil, false
}

func measure(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			cell = oneLine(cell)
			row[i] = cell
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	return widths
}

func (t *Terminal) columns(w io.Writer, rows [][]string, head bool) {
	widths := measure(rows)
	least := slices.Repeat([]int{leastCell}, len(widths))
	least[len(least)-1] = leastLast
	if room := t.Width(w); !narrow(widths, least, room) {
		t.stack(w, rows, head, room)
		return
	}
	t.lines(w, rows, widths, head)
}

func (t *Terminal) lines(w io.Writer, rows [][]string, widths []int, head bool) {
	for n, row := range rows {
		ink := Plain
		if head && n == 0 {
			ink = Heavy
		}
		t.row(w, row, widths, ink)
	}
}

const (
	gap       = 2
	leastCell = 8  // a column is not made narrower than this
	leastLast = 20 // nor the last one, which is broken into lines
	leastName = 24 // nor one that a plan cuts, while others can be left out
	leastCut  = 14 // nor then
	leastPath = 10 // nor a path
)

// narrow makes the widest columns narrower until the table has room; false when it cannot.
func narrow(widths, least []int, room int) bool {
	total := gap * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for total > room {
		widest := -1
		for i, n := range widths {
			if n > least[i] && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
		total--
	}
	return true
}

func (t *Terminal) row(w io.Writer, row []string, widths []int, ink Ink) {
	last, indent := len(row)-1, 0
	parts := Wrap(row[last], max(widths[last], 1))
	for last > 0 && row[last] == "" {
		last-- // nothing stands behind it, no spaces either
	}
	for i, cell := range row[:last] {
		cell = Cut(cell, widths[i])
		t.Ink(w, cmp.Or(ink, inkOf(cell)), cell)
		fmt.Fprint(w, strings.Repeat(" ", widths[i]-Columns(cell)+gap))
		indent += widths[i] + gap
	}
	if last < len(row)-1 {
		parts = []string{Cut(row[last], widths[last])}
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprint(w, strings.Repeat(" ", indent))
		}
		part = strings.TrimRight(part, " ")
		t.Ink(w, cmp.Or(ink, inkOf(part)), part)
		fmt.Fprintln(w)
	}
}

// stack prints each row as a list, for terminals too narrow for columns.
func (t *Terminal) stack(w io.Writer, rows [][]string, head bool, room int) {
	var names []string
	if head {
		names, rows = rows[0], rows[1:]
	}
	for _, row := range rows {
		for i, cell := range row {
			switch {
			case strings.TrimSpace(cell) == "":
			case i == 0:
				t.Bold(w, cell)
			default:
				cell = strings.TrimSpace(cell)
				if i < len(names) && names[i] != "" {
					cell = strings.TrimSpace(names[i]) + ": " + cell
				}
				for _, line := range Wrap(cell, room-gap) {
					fmt.Fprintln(w, "  "+line)
				}
			}
		}
	}
}

// Cut shortens a text to so many columns.
func Cut(s string, most int) string {
	if Columns(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += Columns(string(r)); n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}

func cutFront(s string, most int) string {
	over := Columns(s) - most
	if over <= 0 {
		return s
	}
	n := 0
	for i, r := range s {
		if n > over {
			return "…" + s[i:]
		}
		n += Columns(string(r))
	}
	return s
}

// Wrap breaks a text into lines, between words where it can.
func Wrap(s string, most int) []string {
	var lines []string
	for Columns(s) > most {
		n, at, space := 0, len(s), -1
		for i, r := range s {
			// Between Chinese characters there may be a break, but not before what
			// closes a phrase.
			if wide := Columns(string(r)) == 2; wide && i > 0 && !strings.ContainsRune("，。、；：）」！？", r) {
				space = i
			}
			if n += Columns(string(r)); n > most {
				at = i
				break
			}
			// A number and its sign stay together.
			if r == ' ' && !strings.HasPrefix(s[i:], " %") {
				space = i
			}
		}
		switch {
		case at < len(s) && s[at] == ' ' && !strings.HasPrefix(s[at:], " %"):
		case space > 0:
			at = space
		case at == 0: // one character that is wider than the room
			_, at = utf8.DecodeRuneInString(s)
		}
		lines = append(lines, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
	return append(lines, s)
}

// oneLine is a cell as it is printed, so that its width is the one it will have.
func oneLine(cell string) string {
	return string(appendSafe(nil, []byte(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(cell))))
}

// Columns is how many cells of a terminal a text takes.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == 0xFE0F || r == 0x200D:
		case r >= 0x1F300 && r <= 0x1FAFF:
			n += 2
		default:
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
			n++
		}
	}
	return n
}
