package cli

// How the command line speaks. All printing of the program is in this package.
//
//   - Everything goes through a screen, which lets nothing from outside steer the
//     terminal.
//   - Results go to stdout, everything else (progress, notes, errors) to stderr.
//   - An error is one line, "overtone: what was being done: what went wrong",
//     and, where there is something to do about it, a line "hint: …".
//   - --json prints one JSON object with "schema": 1, and nothing else on stdout.
//   - Colour and progress bars only on a terminal, and never with NO_COLOR.
//   - Times are stored in UTC and shown in local time.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// say prints a text to stdout.
func (a *app) say(t message.Text, args ...any) { fmt.Fprintln(a.env.Stdout, t.Format(a.lang, args...)) }

// tell is say for prose, which is broken into lines that fit. What people copy is
// left as it is.
func (a *app) tell(t message.Text, args ...any) {
	text := t.Format(a.lang, args...)
	room := a.width(a.env.Stdout)
	if room == 0 {
		fmt.Fprintln(a.env.Stdout, text)
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(a.env.Stdout, strings.Join(wrap(line, room), "\n"))
	}
}

// note prints a text to stderr.
func (a *app) note(t message.Text, args ...any) {
	fmt.Fprintln(a.env.Stderr, t.Format(a.lang, args...))
}

// printJSON prints v, which must be an object, indented.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.env.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// tty reports whether w is a terminal that may be decorated.
func (a *app) tty(w io.Writer) bool {
	f, ok := file(w)
	return ok && a.env.IsTTY(f.Fd()) && a.env.Getenv("NO_COLOR") == "" && a.env.Getenv("TERM") != "dumb"
}

// usageError is a wrong call: exit code 2.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// exit prints an error and gives the exit code: the only place that decides it.
func (a *app) exit(err error) int {
	if err == nil {
		return 0
	}
	text := err.Error()
	var u message.Error
	if errors.As(err, &u) {
		text = u.Reason.In(a.lang)
	}
	fmt.Fprintln(a.env.Stderr, a.program()+": "+text)
	var h message.Hinted
	if errors.As(err, &h) {
		fmt.Fprintln(a.env.Stderr, "hint: "+h.Hint.In(a.lang))
	}
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// width is how many columns there are to write to, 0 where nobody says: $COLUMNS,
// else the terminal's.
func (a *app) width(w io.Writer) int {
	if n, err := strconv.Atoi(a.env.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 20)
	}
	if f, ok := file(w); ok && a.env.IsTTY(f.Fd()) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, 20)
		}
	}
	return 0
}

// bold writes a text in bold where that is seen.
func (a *app) bold(w io.Writer, text string) {
	if !a.tty(w) {
		fmt.Fprintln(w, text)
		return
	}
	// Only the program's own marks go around the screen.
	fmt.Fprint(raw(w), "\x1b[1m")
	fmt.Fprint(w, text)
	fmt.Fprint(raw(w), "\x1b[0m")
	fmt.Fprintln(w)
}

// table prints a head and rows in columns that fit: cells are cut, the last one is
// broken into lines, and where that leaves too little each row becomes a list.
func (a *app) table(w io.Writer, rows [][]string) { a.columns(w, rows, true) }

// pairs prints names and what they are, without a head.
func (a *app) pairs(w io.Writer, rows [][]string) { a.columns(w, rows, false) }

func (a *app) columns(w io.Writer, rows [][]string, head bool) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			cell = oneLine(cell)
			row[i] = cell
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	if room := a.width(w); room > 0 && !fit(widths, room) {
		a.stack(w, rows, head, room)
		return
	}
	for n, row := range rows {
		for _, line := range layOut(row, widths) {
			if head && n == 0 {
				a.bold(w, line)
			} else {
				fmt.Fprintln(w, line)
			}
		}
	}
}

const (
	gap       = 2
	leastCell = 8  // a column is not made narrower than this
	leastLast = 20 // nor the last one, which is broken into lines
)

// fit narrows the widest columns until the table has room; false when it cannot.
func fit(widths []int, room int) bool {
	total := gap * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for total > room {
		widest := -1
		for i, n := range widths {
			least := leastCell
			if i == len(widths)-1 {
				least = leastLast
			}
			if n > least && (widest < 0 || n > widths[widest]) {
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

// layOut is a row as lines: cells are cut to their columns, the last one goes on
// below itself.
func layOut(row []string, widths []int) []string {
	var b strings.Builder
	indent := 0
	for i, cell := range row[:len(row)-1] {
		cell = cut(cell, widths[i])
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+gap))
		indent += widths[i] + gap
	}
	parts := wrap(row[len(row)-1], max(widths[len(row)-1], 1))
	lines := []string{strings.TrimRight(b.String()+parts[0], " ")}
	for _, p := range parts[1:] {
		lines = append(lines, strings.Repeat(" ", indent)+p)
	}
	return lines
}

// stack prints each row as a list, for terminals too narrow for columns.
func (a *app) stack(w io.Writer, rows [][]string, head bool, room int) {
	var names []string
	if head {
		names, rows = rows[0], rows[1:]
	}
	for _, row := range rows {
		for i, cell := range row {
			switch {
			case cell == "":
			case i == 0:
				for _, line := range wrap(cell, room) {
					a.bold(w, line)
				}
			default:
				if i < len(names) && names[i] != "" {
					cell = names[i] + ": " + cell
				}
				for _, line := range wrap(cell, room-gap) {
					fmt.Fprintln(w, "  "+line)
				}
			}
		}
	}
}

// cut shortens a text to so many columns.
func cut(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += columns(string(r)); n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks a text into lines, between words where it can.
func wrap(s string, most int) []string {
	var lines []string
	for columns(s) > most {
		n, at, space := 0, len(s), -1
		for i, r := range s {
			// Between Chinese characters there may be a break, but not before what
			// closes a phrase.
			if wide := columns(string(r)) == 2; wide && i > 0 && !strings.ContainsRune("，。、；：）」！？", r) {
				space = i
			}
			if n += columns(string(r)); n > most {
				at = i
				break
			}
			if r == ' ' {
				space = i
			}
		}
		switch {
		case at < len(s) && s[at] == ' ':
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

// columns is how many cells of a terminal a text takes.
func columns(s string) int {
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
