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
	"strings"

	"golang.org/x/text/width"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// say prints a text to stdout.
func (a *app) say(t message.Text, args ...any) { fmt.Fprintln(a.env.Stdout, t.Format(a.lang, args...)) }

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

// table prints rows in columns; wide characters count as two.
func table(w io.Writer, rows [][]string) {
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
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
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
