package store

import (
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// TestAfter: whatever is appended, trimmed and damaged in between, who reads on
// from its mark gets every entry once, in order, under the number it had, unless
// it was trimmed away unread; then a number is left out.
func TestAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "outbox-")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := testHome(dir).Session("s1")
		if err != nil {
			r.Fatal(err)
		}
		written, mark := 0, Mark{}
		got, seq, lostSome := 0, uint64(0), false
		read := func(limit int) {
			list, lost, err := s.After(mark, limit, 1<<20)
			if err != nil {
				r.Fatal(err)
			}
			for i, o := range list {
				var n int
				fmt.Sscan(o.Text("iteration"), &n)
				if mark.Seq == 0 {
					// What was trimmed before the first look has no number.
					lostSome = n != 1
					if o.Mark.Seq != 1 {
						r.Fatalf("the first entry as %d", o.Mark.Seq)
					}
				} else if lost && i == 0 {
					lostSome = true
					if n <= got || o.Mark.Seq != seq+2 {
						r.Fatalf("after a loss: entry %d as %d, had %d as %d", n, o.Mark.Seq, got, seq)
					}
				} else if n != got+1 || o.Mark.Seq != seq+1 {
					r.Fatalf("entry %d as %d, had %d as %d", n, o.Mark.Seq, got, seq)
				}
				got, seq, mark = n, o.Mark.Seq, o.Mark
			}
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0, 1:
				n := rapid.IntRange(1, 900).Draw(r, "n")
				var events []Event
				for range n {
					written++
					events = append(events, On(message.EventStageComplete, "iteration", written))
				}
				if err := s.Update(func(tx *Tx) error { return tx.Emit(events...) }); err != nil {
					r.Fatal(err)
				}
			case 2:
				read(rapid.IntRange(1, 1000).Draw(r, "limit"))
			case 3:
				f, err := os.OpenFile(s.path(TimelineFile), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					continue
				}
				fmt.Fprint(f, rapid.SampledFrom([]string{"nonsense\n", "\n", `{"type":`, `{"no":"type"}` + "\n"}).Draw(r, "damage"))
				f.Close()
			}
			if mark.Seq > 0 {
				first, ok, err := s.First(mark)
				if err != nil {
					r.Fatal(err)
				}
				if ok {
					list, _, err := s.After(first, 1, 1<<20)
					if err != nil {
						r.Fatal(err)
					}
					if len(list) == 1 && !lostSome && list[0].Text("iteration") != fmt.Sprint(list[0].Mark.Seq) {
						r.Fatalf("told again: %v as %d", list[0].Text("iteration"), list[0].Mark.Seq)
					}
				}
			}
		}
		for before := -1; got != before; {
			before = got
			read(1000)
		}
		if got != written {
			r.Fatalf("%d of %d", got, written)
		}
	})
}
