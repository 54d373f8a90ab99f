package compress

import (
	"context"
	"runtime"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

const (
	// partTokens and partJobs are how much is done at once: one message takes less
	// time than a goroutine.
	partTokens = 16 << 10
	partJobs   = 256
	// aheadTokens bounds what waits to be taken, so that large messages do not pile
	// up in memory; a larger one is done alone.
	aheadTokens = 512 << 10
)

// ahead does something for each job on other goroutines, ahead of who takes what
// came of it: take is called on this one, in the order of the jobs. It returns
// early when ctx ends or one of the two fails; nothing is done any more when it has
// returned.
func ahead[T any](ctx context.Context, jobs []job, do func(n int) (T, error), take func(n int, made T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var begun []chan part[T]
	defer func() {
		cancel()
		for _, c := range begun {
			<-c
		}
	}()
	next, waiting, most := 0, 0, 2*runtime.GOMAXPROCS(0)
	for next < len(jobs) || len(begun) > 0 {
		for next < len(jobs) && len(begun) < most {
			p := part[T]{first: next, tokens: jobs[next].Tokens}
			end := next + 1
			for end < len(jobs) && end-next < partJobs && p.tokens+jobs[end].Tokens <= partTokens {
				p.tokens += jobs[end].Tokens
				end++
			}
			if len(begun) > 0 && waiting+p.tokens > aheadTokens {
				break
			}
			p.made = make([]T, end-next)
			c := make(chan part[T], 1)
			go func() {
				p.err = p.do(ctx, do)
				c <- p
			}()
			begun, next, waiting = append(begun, c), end, waiting+p.tokens
		}
		p := <-begun[0]
		begun, waiting = begun[1:], waiting-p.tokens
		if p.err != nil {
			return p.err
		}
		for i, made := range p.made {
			if err := take(p.first+i, made); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

type part[T any] struct {
	first, tokens int
	made          []T
	err           error
}

func (p *part[T]) do(ctx context.Context, do func(n int) (T, error)) (err error) {
	defer transcript.Catch("", &err)
	for i := range p.made {
		if err = ctx.Err(); err != nil {
			return err
		}
		if p.made[i], err = do(p.first + i); err != nil {
			return err
		}
	}
	return nil
}
