package transcript

import (
	"fmt"
	"os"
	"testing"
)

// A meter sees one point per request and each compaction of the main thread, and
// reads a file that grows from where it stopped.
func TestMeter(t *testing.T) {
	t.Parallel()
	path := write(t, userLine, answer("a1", "x", 1, ""), answer("a1", "x, its second line", 1, ""),
		answer("s1", "a sub-agent", 900, `,"isSidechain":true`), answer("a2", "y", 7, ""), "broken", "")
	var m Meter
	look := func(want string) {
		t.Helper()
		if err := m.Read(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range m.Points {
			got += fmt.Sprint(p.Tokens(), " ")
		}
		if got += fmt.Sprint(m.At, len(m.Packets)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	look("116 122 [] 0")
	look("116 122 [] 0")
	half := answer("a3", `<overtone-packet id="ovt-1-1">`, 2, "")
	add(boundaryLine + "\n" + half[:100])
	look("116 122 [2] 0")
	add(half[100:] + "\n")
	look("116 122 117 [2] 1")
	if c := m.Compactions[0]; c.Trigger != "auto" || c.PreTokens != 170_000 || c.Time == 0 {
		t.Errorf("%+v", c)
	}
	if err := os.WriteFile(path, []byte(answer("b1", "another file", 3, "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look("118 [] 0")
}
