package transcript

import (
	"fmt"
	"os"
	"testing"
)

// Hand-overs are found in whole lines, and a file that grows is read on from where the
// last look ended.
func TestPackets(t *testing.T) {
	t.Parallel()
	path := write(t, userLine, answer("a1", "x", 1, ""), "broken", "")
	var p Packets
	look := func(want int) {
		t.Helper()
		if err := p.Read(t.Context(), path); err != nil || len(p.IDs) != want {
			t.Errorf("%v, %v, want %d", p.IDs, err, want)
		}
	}
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprint(f, text)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	look(0)
	half := answer("a3", `<overtone-packet id="ovt-1-1">`, 2, "")
	add(half[:len(half)-20])
	look(0)
	add(half[len(half)-20:] + "\n")
	look(1)
	add(answer("a4", `<overtone-packet id="ovt-1-2"> and <overtone-packet id="ovt-1-1">`, 2, "") + "\n")
	look(2)
	if err := os.WriteFile(path, []byte(answer("b1", "another file", 3, "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look(0)
}
