package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// follow runs Follow until fn returns an error or the test is over.
func follow(t *testing.T, s *Session, opts FollowOptions) (entries <-chan Entry, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ch, done := make(chan Entry, 100_000), make(chan error, 1)
	opts.Every = time.Millisecond
	go func() {
		done <- s.Follow(ctx, opts, func(e Entry) error { ch <- e; return nil })
	}()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() { _ = stop() })
	return ch, stop
}

func expect(t *testing.T, ch <-chan Entry, seq int64) {
	t.Helper()
	select {
	case e := <-ch:
		if number(e, "seq") != seq {
			t.Fatalf("got %s, want event %d", e.Raw, seq)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("event %d never came", seq)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit(t, s, On("tool:used", "seq", 1), On("tool:used", "seq", 2), On("session:end", "seq", 0), On("tool:used", "seq", 3))
	ch, stop := follow(t, s, FollowOptions{Last: 2, Filter: Filter{Types: []string{"tool:used"}}})
	expect(t, ch, 2)
	expect(t, ch, 3)
	emit(t, s, On("session:end", "seq", 0), On("tool:used", "seq", 4))
	expect(t, ch, 4)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("Follow ended with %v", err)
	}
}

func TestFollowBeforeTheSessionExists(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	ch, _ := follow(t, s, FollowOptions{Last: 5})
	emit(t, s, On("tool:used", "seq", 1))
	expect(t, ch, 1)
	// Cleaned up and used again.
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	emit(t, s, On("tool:used", "seq", 2, "again", true))
	expect(t, ch, 2)
	// Emptied by hand.
	if err := os.Truncate(s.path(TimelineFile), 0); err != nil {
		t.Fatal(err)
	}
	emit(t, s, On("tool:used", "seq", 3))
	expect(t, ch, 3)
}

func TestFollowUnfinishedLine(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	writeRaw(t, s.path(TimelineFile), `{"type":"tool:used","seq":1}`+"\n"+`{"type":"tool:`)
	ch, _ := follow(t, s, FollowOptions{Last: 5})
	expect(t, ch, 1)
	f, err := os.OpenFile(s.path(TimelineFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	long := `{"type":"tool:used","seq":9,"x":"` + strings.Repeat("y", maxLine) + `"}` + "\n"
	if _, err := f.WriteString(`used","seq":2}` + "\n" + "rubbish\n" + long + `{"type":"tool:used","seq":3}` + "\n"); err != nil {
		t.Fatal(err)
	}
	expect(t, ch, 2)
	expect(t, ch, 3)
}

// Trims between two looks, however many, neither repeat nor drop an event, as
// long as no more than what a trim keeps was added.
func TestFollowAcrossTrims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "store")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := testHome(dir).Session("s")
		if err != nil {
			t.Fatal(err)
		}
		var seen, added int64
		var mark Mark
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			err := s.Update(func(tx *Tx) error {
				var batch []Event
				for n := rapid.IntRange(0, keepLines).Draw(t, "added"); n > 0; n-- {
					batch = append(batch, On("tool:used", "seq", added))
					added++
				}
				for part := range slices.Chunk(batch, 40) {
					if err := tx.Emit(part...); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			mark, err = s.each(mark, Filter{}, func(e Entry) error {
				if number(e, "seq") != seen {
					return fmt.Errorf("got %s, want event %d", e.Raw, seen)
				}
				seen++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if seen != added {
				t.Fatalf("saw %d of %d events", seen, added)
			}
		}
	})
}

func TestFollowErrors(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit(t, s, On("tool:used"))
	boom := errors.New("boom")
	if err := s.Follow(context.Background(), FollowOptions{Last: 1, Every: time.Millisecond}, func(Entry) error { return boom }); err != boom {
		t.Errorf("Follow returned %v", err)
	}
	if err := errors.Join(os.Remove(s.path(TimelineFile)), os.Mkdir(s.path(TimelineFile), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(context.Background(), FollowOptions{Every: time.Millisecond}, func(Entry) error { return nil }); !errors.Is(err, errNotRegular) {
		t.Errorf("a folder: %v", err)
	}
}
