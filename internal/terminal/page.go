package terminal

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// Page holds back what is printed from now on, where it is read on a terminal; what it
// returns shows it, in the user's pager if it is longer than the screen: $PAGER, else
// less. With PAGER=cat, or nothing in it, there is none.
func (t *Terminal) Page() (show func()) {
	s, ok := t.Stdout.(*screen)
	f, isFile := File(t.Stdout)
	words := t.pager()
	if !ok || !isFile || t.JSON || !t.IsTTY(f.Fd()) || t.Getenv("TERM") == "dumb" || len(words) == 0 || words[0] == "cat" {
		return func() {}
	}
	_, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || rows <= 0 {
		return func() {}
	}
	var held bytes.Buffer
	s.divert(&held, f)
	t.begun = func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return held.Len() > 0
	}
	return func() {
		t.begun = nil
		defer func() {
			for _, line := range t.later {
				fmt.Fprintln(t.Stderr, line)
			}
			t.later = nil
		}()
		s.divert(f, nil)
		if bytes.Count(held.Bytes(), []byte("\n")) >= rows {
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(held.Bytes()), f, Raw(t.Stderr)
			// less takes a locale that is not installed, as in containers, for ASCII.
			if cmd.Env = append([]string{"LESSCHARSET=utf-8"}, t.Environ()...); t.Getenv("LESS") == "" {
				// Colours pass, and the text stays on the screen when it is left.
				cmd.Env = append(cmd.Env, "LESS=FRX")
			}
			if cmd.Start() == nil {
				_ = cmd.Wait() // how somebody leaves a pager is no failure of ours
				return
			}
		}
		_ = s.pass(held.Bytes()) // a failure is told and remembered
	}
}

func (t *Terminal) pager() []string {
	if t.NoPager {
		return nil
	}
	for _, v := range t.Environ() {
		if pager, set := strings.CutPrefix(v, "PAGER="); set {
			return strings.Fields(pager)
		}
	}
	return []string{"less"}
}
