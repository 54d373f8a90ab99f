package compress

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What comes of the jobs is taken in their order, once each, whatever their size.
func TestAheadTakesInOrder(t *testing.T) {
	t.Parallel()
	var js []job
	for n := range 3000 {
		tokens := n % 7
		if n%100 == 99 {
			tokens = aheadTokens + n
		}
		js = append(js, job{Tokens: tokens})
	}
	var waiting, most atomic.Int64
	var got []int
	err := ahead(t.Context(), js, func(n int) (int, error) {
		most.Store(max(most.Load(), waiting.Add(int64(js[n].Tokens))))
		return n * n, nil
	}, func(n, made int) error {
		if made != n*n {
			return fmt.Errorf("job %d got %d", n, made)
		}
		got = append(got, n)
		waiting.Add(-int64(js[n].Tokens))
		return nil
	})
	if err != nil || len(got) != len(js) || !slices.IsSorted(got) {
		t.Fatalf("%d of %d taken, %v", len(got), len(js), err)
	}
	if bound := int64(2*aheadTokens + len(js)); most.Load() > bound {
		t.Errorf("%d tokens at once, at most %d", most.Load(), bound)
	}
}

// Whatever ends it, nothing runs on, and who takes sees nothing behind it.
func TestAheadEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		do, take func(cancel context.CancelFunc, n int) error
		want     func(error) bool
	}{
		"do fails": {
			do: func(_ context.CancelFunc, n int) error {
				if n == 700 {
					return broken
				}
				return nil
			},
			want: func(err error) bool { return errors.Is(err, broken) },
		},
		"do panics": {
			do: func(_ context.CancelFunc, n int) error {
				if n == 700 {
					panic("out of cheese")
				}
				return nil
			},
			want: func(err error) bool {
				fault, ok := errors.AsType[*transcript.Fault](err)
				return ok && fault.Reason == "out of cheese" && strings.Contains(fault.At, "ahead_test.go")
			},
		},
		"take fails": {
			take: func(_ context.CancelFunc, n int) error {
				if n == 699 {
					return broken
				}
				return nil
			},
			want: func(err error) bool { return errors.Is(err, broken) },
		},
		"interrupted": {
			take: func(cancel context.CancelFunc, n int) error {
				if n == 699 {
					cancel()
				}
				return nil
			},
			want: func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		"interrupted at the end": {
			take: func(cancel context.CancelFunc, n int) error {
				if n == 19_999 {
					cancel()
				}
				return nil
			},
			want: func(err error) bool { return errors.Is(err, context.Canceled) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var ended atomic.Bool
			taken := 0
			err := ahead(ctx, make([]job, 20_000), func(n int) (int, error) {
				if ended.Load() {
					t.Error("runs on")
				}
				if c.do != nil {
					return n, c.do(cancel, n)
				}
				return n, nil
			}, func(n, _ int) error {
				taken = n + 1
				if c.take != nil {
					return c.take(cancel, n)
				}
				return nil
			})
			ended.Store(true)
			if !c.want(err) {
				t.Errorf("ended with %v", err)
			}
			if taken > 20_000 || name == "do fails" && taken > 700 {
				t.Errorf("%d taken", taken)
			}
		})
	}
}

// ticking is a context that ends when it was asked some times.
type ticking struct {
	context.Context
	left *atomic.Int64
}

func (c ticking) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Ctrl-C while it is chosen what to keep: it is looked for it many times on the way.
func TestChoosingIsInterrupted(t *testing.T) {
	t.Parallel()
	js := make([]job, 4000)
	s := newSelection(Tuned(), js, func(job) int { return 30 })
	for n := range js {
		text := fmt.Sprintf("The file internal/part%d.go is read by load%dRow. It must not be changed. All %d tests pass.", n, n, n)
		s.read(n, text, unitsOf(text, waiting))
	}
	for left := range int64(8) {
		ctx := ticking{t.Context(), new(atomic.Int64)}
		ctx.left.Store(left)
		again := *s
		again.units, again.mentions = slices.Clone(s.units), slices.Clone(s.mentions)
		again.said, again.open = map[uint64]int32{}, make([]bool, len(js))
		if c, err := again.choose(ctx); c != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d looks: %v", left, err)
		}
	}
}

// A fault of ours, or of a provider, leaves nothing behind.
func TestPanicLeavesNothing(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	s := talkative(t)
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })})
	f := &fake{do: func(context.Context, int, Request) (Reply, error) { panic("out of cheese") }}
	_, err := p.Run(t.Context(), f, RunOptions{ID: "x", Now: time.Unix(0, 0)})
	if err == nil || !strings.Contains(err.Error(), "out of cheese") || len(f.calls) > p.Options.Pool.Concurrency {
		t.Errorf("%v after %d calls", err, len(f.calls))
	}
	if files := append(tree(t, string(d)), tree(t, filepath.Dir(s.Path))...); len(files) != 1 {
		t.Errorf("left %q", files)
	}
}
