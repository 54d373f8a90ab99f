package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A progress line never breaks: one that did could not be drawn over.
func TestBarFits(t *testing.T) {
	t.Parallel()
	for _, room := range []string{"", "80", "40", "20"} {
		var out bytes.Buffer
		env := Env{Stderr: &out, Now: time.Now, Getenv: func(name string) string { return map[string]string{"COLUMNS": room}[name] }}
		b := &Bar{t: &Terminal{Env: env}, on: true}
		for done := range int64(5) {
			b.last = time.Time{}
			b.Update(done, 4, func(drawn string, _ time.Duration) string { return "讀取 session " + drawn + " 5.0 MB of 36.4 MB" })
		}
		b.Clear()
		most := map[string]int{"": 60, "80": 60, "40": 39, "20": 19}[room]
		for line := range strings.SplitSeq(out.String(), "\r") {
			if Columns(line) > most {
				t.Errorf("%s columns: %d of %q", room, Columns(line), line)
			}
		}
		if room == "" && !strings.Contains(out.String(), "["+strings.Repeat("█", 24)+"]") {
			t.Errorf("nothing is full: %q", out.String())
		}
	}
}

// What stands behind a mark, or in a second column, stays there on every line.
func TestHang(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	term := &Terminal{Env: Env{Stdout: &out, Getenv: func(string) string { return "40" }}}
	term.Item("✓ ", "the configuration is fine, and so is all the rest of it")
	term.Prose(&out, "  name  a text that is longer than there is room for in a line\n  overtone compress 3f2a --bands 0-50:heavy-compress")
	want := "✓ the configuration is fine, and so is\n  all the rest of it\n" +
		"  name  a text that is longer than there\n        is room for in a line\n  overtone compress 3f2a --bands 0-50:heavy-compress\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}
