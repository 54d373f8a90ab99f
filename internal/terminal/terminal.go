// Package terminal is how our programs speak to people: every text goes through a
// [Terminal], in one language, at a width that fits.
//
//   - Everything goes through a screen, which lets nothing from outside steer the
//     terminal.
//   - Results go to stdout, everything else (progress, notes, errors) to stderr.
//   - An error is one line, "overtone: what was being done: what went wrong",
//     and, where there is something to do about it, a line "hint: …".
//   - --json prints one JSON object with the number of its schema, and nothing else on
//     stdout.
//   - Colour, progress bars and a pager only on a terminal; colour and bars never with
//     NO_COLOR. Where nobody says how wide it is, a line has 100 columns.
//   - Times are stored in UTC and shown in local time.
//
// Packages that own a noun print it with what they are handed; commands decide what
// is printed, and when.
package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Env is the world as a program sees it. It is made once, in main; everything
// below is given what it needs of it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string
	Dir            string // working directory
	Called         string // as the program was called
	Now            func() time.Time
	IsTTY          func(fd uintptr) bool
	// Ancestors are the programs that this one was started by, the nearest first.
	Ancestors func() ([]Process, error)
}

// Process is a running program: its file and its arguments, and the variables that it was
// started with, where the system tells.
type Process struct{ Words, Environ []string }

// Terminal is where a program speaks and listens, and how.
type Terminal struct {
	Env
	Lang    message.Lang
	JSON    bool   // results are for programs: no notes, no progress
	NoPager bool   // long results run through, also on a terminal
	Program string // its name in error messages

	begun func() bool // something is held back for a pager; nil where nothing ever is
	later []string    // notes that come after it
	left  error       // what the command went on without
}

// In is a text in the terminal's language.
func (t *Terminal) In(text message.Text) string { return text.In(t.Lang) }

// Format is a text in the terminal's language, with its values.
func (t *Terminal) Format(text message.Text, args ...any) string { return text.Format(t.Lang, args...) }

// Say prints a text to stdout.
func (t *Terminal) Say(text message.Text, args ...any) {
	fmt.Fprintln(t.Stdout, t.Format(text, args...))
}

// Tell is Say for prose, which is broken into lines that fit. What people copy is
// left as it is.
func (t *Terminal) Tell(text message.Text, args ...any) {
	for line := range strings.SplitSeq(t.Format(text, args...), "\n") {
		t.fold(t.Stdout, line)
	}
}

// Prose prints text that is broken into lines that fit; a line that is laid out
// stays, but for what stands in a second column, which is broken within it.
func (t *Terminal) Prose(w io.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		switch at := secondColumn(line); {
		case !strings.HasPrefix(line, " "):
			t.fold(w, line)
		case at > 0 && t.Width(w) >= at+20:
			fmt.Fprint(w, line[:at]) // of one column for each letter
			t.below(w, at, line[at:])
		default:
			fmt.Fprintln(w, line)
		}
	}
}

// Item prints a text behind a mark; its further lines begin below its first.
func (t *Terminal) Item(mark, text string) {
	t.Ink(t.Stdout, inkOf(mark), mark)
	t.below(t.Stdout, Columns(mark), text)
}

// below ends a line of which so many columns are written.
func (t *Terminal) below(w io.Writer, at int, text string) {
	parts := []string{text}
	if room := t.Width(w); room > at {
		parts = Wrap(text, room-at)
	}
	fmt.Fprintln(w, strings.Join(parts, "\n"+strings.Repeat(" ", at)))
}

// secondColumn is where the second column of an indented line begins, 0 for none:
// behind its first two spaces in a row, as long as all before it is ASCII.
func secondColumn(line string) int {
	text := strings.TrimLeft(line, " ")
	name, rest, ok := strings.Cut(text, "  ")
	if !ok || len(name) != Columns(name) {
		return 0
	}
	return len(line) - len(strings.TrimLeft(rest, " "))
}

func (t *Terminal) fold(w io.Writer, line string) {
	fmt.Fprintln(w, strings.Join(Wrap(line, t.Width(w)), "\n"))
}

// Note prints a text to stderr, behind what was printed before it.
func (t *Terminal) Note(text message.Text, args ...any) { t.note(t.Format(text, args...)) }

func (t *Terminal) note(line string) {
	if t.begun != nil && t.begun() {
		t.later = append(t.later, line)
	} else {
		fmt.Fprintln(t.Stderr, line)
	}
}

// PrintJSON prints v, which must be an object, indented.
func (t *Terminal) PrintJSON(v any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintObject prints an object of names and their values, one after the other; the
// number of its schema stands before them.
func (t *Terminal) PrintObject(members ...any) error { return t.PrintSchema(1, members...) }

// PrintSchema is PrintObject for an object whose form has changed.
func (t *Terminal) PrintSchema(number int, members ...any) error {
	var b, out bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	fmt.Fprintf(&b, `{"schema":%d`, number)
	for i, m := range members {
		b.WriteByte(",:"[i%2])
		if err := e.Encode(m); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.Stdout, out.String())
	return err
}

// Decorated reports whether w is a terminal that may be decorated.
func (t *Terminal) Decorated(w io.Writer) bool {
	f, ok := File(w)
	return ok && t.IsTTY(f.Fd()) && t.Getenv("NO_COLOR") == "" && t.Getenv("TERM") != "dumb"
}

// LeaveOut names something that the command goes on without. The exit code tells of it.
func (t *Terminal) LeaveOut(err error) {
	t.note(message.ErrorText(err, t.Lang))
	if t.left == nil || message.HintOf(t.left, t.Lang) == "" {
		t.left = err
	}
}

// Exit prints an error and gives the exit code: the only place that decides it.
func (t *Terminal) Exit(err error) int {
	if err == nil && t.left != nil {
		t.hint(t.left)
		return 3
	}
	if err == nil {
		return 0
	}
	text, code := message.ErrorText(err, t.Lang), 1
	if _, ok := errors.AsType[message.Misuse](err); ok {
		code = 2
	}
	if errors.Is(err, context.Canceled) {
		text, code = t.In(message.Interrupted), 130 // as shells count Ctrl-C
	}
	t.Ink(t.Stderr, Bad, t.Program+":")
	fmt.Fprintln(t.Stderr, " "+text)
	t.hint(err)
	return code
}

func (t *Terminal) hint(err error) {
	if hint := message.HintOf(err, t.Lang); hint != "" {
		t.Ink(t.Stderr, Warn, t.In(message.HintLabel))
		fmt.Fprintln(t.Stderr, hint)
	}
}

// pipeWidth is how wide a line is where there is no terminal that has a width.
const pipeWidth = 100

// Width is how many columns there are to write to: $COLUMNS, else the terminal's.
func (t *Terminal) Width(w io.Writer) int {
	if n, err := strconv.Atoi(t.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 20)
	}
	if f, ok := File(w); ok && t.IsTTY(f.Fd()) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, 20)
		}
	}
	return pipeWidth
}

// Ink is what a word means to its reader.
type Ink string

const (
	Plain Ink = ""
	Good  Ink = "32"
	Warn  Ink = "33"
	Bad   Ink = "31"
	Place Ink = "36" // where something stands: of a difference
	Heavy Ink = "1"
)

// inkOf is the ink of a cell, or of a mark before a text, that is nothing but a verdict.
func inkOf(cell string) Ink {
	switch strings.TrimSpace(cell) {
	case "PASS", "pass", "✓":
		return Good
	case "ISSUES", "issues", "⚠":
		return Warn
	case "FAIL", "fail", "reject", "✗":
		return Bad
	}
	return Plain
}

// Ink writes a text in an ink, where that is seen.
func (t *Terminal) Ink(w io.Writer, ink Ink, text string) {
	if ink == Plain || !t.Decorated(w) {
		fmt.Fprint(w, text)
		return
	}
	// Only the program's own marks go around the screen.
	fmt.Fprint(Raw(w), "\x1b["+ink+"m")
	fmt.Fprint(w, text)
	fmt.Fprint(Raw(w), "\x1b[0m")
}

// Bold writes a line in bold where that is seen.
func (t *Terminal) Bold(w io.Writer, text string) {
	for _, line := range Wrap(text, t.Width(w)) {
		t.Ink(w, Heavy, line)
		fmt.Fprintln(w)
	}
}

// Diff prints the difference of a file.
func (t *Terminal) Diff(text string) {
	for line := range strings.Lines(text) {
		ink := Plain
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			ink = Heavy
		case line[0] == '+':
			ink = Good
		case line[0] == '-':
			ink = Bad
		case strings.HasPrefix(line, "@@"):
			ink = Place
		}
		body, end := strings.CutSuffix(line, "\n")
		t.Ink(t.Stdout, ink, body)
		if end {
			fmt.Fprintln(t.Stdout)
		}
	}
}

// Marked prints a text behind a mark, like Item, with some of its parts in bold, which
// are given by where they begin and end.
func (t *Terminal) Marked(mark, text string, bold [][2]int) {
	w := t.Stdout
	lines := []string{text}
	if room := t.Width(w) - Columns(mark); room > 0 {
		lines = Wrap(text, room)
	}
	from := 0
	for i, line := range lines {
		if i > 0 {
			mark = strings.Repeat(" ", Columns(mark))
		}
		fmt.Fprint(w, mark)
		// Only spaces are lost between lines.
		from += strings.Index(text[from:], line)
		end := from + len(line)
		for _, b := range bold {
			if b[1] <= from || b[0] >= end {
				continue
			}
			start, stop := max(b[0], from), min(b[1], end)
			fmt.Fprint(w, text[from:start])
			t.Ink(w, Heavy, text[start:stop])
			from = stop
		}
		fmt.Fprintln(w, text[from:end])
		from = end
	}
}

// Heading begins a part of a longer output.
func (t *Terminal) Heading(text message.Text) {
	fmt.Fprintln(t.Stdout)
	t.Bold(t.Stdout, t.In(text))
}

// Quote is a word as a shell reads it, for commands that people copy.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-~", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// List is l, never null in JSON.
func List[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// Dash is a list in a cell of a table.
func Dash(l []string) string {
	if len(l) == 0 {
		return "—"
	}
	return strings.Join(l, ", ")
}
