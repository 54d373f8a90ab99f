package compress

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Pool runs jobs against a provider; NewPool makes one.
//
// Every attempt has its own time limit, and the request is cancelled with it.
// A failed attempt goes to the end of the queue, and waits there without
// holding a worker when the service asked for a pause; so neither a slow call
// nor a waiting one keeps others from running.
type Pool struct {
	Concurrency      int
	MaxAttempts      int
	TimeoutInitial   time.Duration
	TimeoutIncrement time.Duration
	// LargeThreshold is the size above which the stronger model is asked for.
	LargeThreshold int
	// TargetStandard and TargetHeavy are the wanted sizes in percent.
	TargetStandard int
	TargetHeavy    int
	Model          string
	// KeepFacts refuses results that lost a path, a number or code.
	KeepFacts bool
	// Redact cleans a text before it goes to the provider and names what it
	// took out; nil for a provider that keeps it on the machine.
	Redact func(text string) (clean string, found []string)
	// Cache, when set, is asked before the provider.
	Cache Cache
}

// NewPool is a pool with the settings of a configuration.
func NewPool(c config.Compress) Pool {
	return Pool{
		Concurrency: c.Concurrency, MaxAttempts: c.MaxAttempts,
		TimeoutInitial:   time.Duration(c.TimeoutInitialMS) * time.Millisecond,
		TimeoutIncrement: time.Duration(c.TimeoutIncrementMS) * time.Millisecond,
		LargeThreshold:   largeThreshold,
		TargetStandard:   c.Targets.Compress, TargetHeavy: c.Targets.HeavyCompress,
	}
}

// largeThreshold is the contract's bound between the two models.
const largeThreshold = 1000

func (p Pool) target(l Level) int {
	if l == HeavyCompress {
		return p.TargetHeavy
	}
	return p.TargetStandard
}

// Timeout is the time limit of an attempt, counted from 0: it grows twice and
// then stays.
func Timeout(attempt int, initial, increment time.Duration) time.Duration {
	return min(initial+time.Duration(attempt)*increment, initial+2*increment)
}

// job is one text, without the text: it is loaded when the job starts, so that
// a run does not hold all of them at once.
type job struct {
	Role   string
	Level  Level
	Tokens int
	band   int32
	amid   bool // of the agent's, and another one of his follows in the turn
}

type outcome struct {
	job    int
	Status Status
	// Text is the accepted result, Original what it stands for.
	Text, Original string
	Err            error
	Attempts       int // failed ones
	Cached         bool
	InputTokens    int
	OutputTokens   int
	// Lost are the facts that the result no longer states; gone what else is lost,
	// where the provider knows.
	Lost     []extract.Fact
	gone     *extract.Losses
	hash     [sha256.Size]byte // of Original
	Redacted []string
}

// Status is what became of a message.
type Status string

const (
	Pending Status = "pending" // its turn has not come
	Success Status = "success"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// errMade marks a text that is a result itself, errWhole one that is kept whole.
var (
	errMade  = errors.New("compressed before")
	errWhole = errors.New("kept whole")
)

// work takes the jobs one after another and reports each when it is final, from one
// goroutine, in order of completion. load gives a job's text and is called from
// many goroutines. It returns early when ctx ends, when a
// provider reports a Fatal error, or when done returns an error; jobs that
// are under way are cancelled and awaited first.
func (p Pool) work(ctx context.Context, prov Provider, jobs []job, load func(job int) (string, error), done func(outcome) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{Pool: p, prov: prov, jobs: jobs, load: load, results: make(chan attempt, p.Concurrency), due: make(chan turn)}
	if pr, ok := prov.(preparer); ok {
		var err error
		if r.prov, err = pr.prepare(ctx, jobs, func(j job) int { return p.target(j.Level) }, load); err != nil {
			return err
		}
		r.once = true
		if d, ok := p.Cache.(Dir); ok {
			r.made = d.results()
		}
		return ahead(ctx, jobs, func(n int) (attempt, error) {
			a := r.try(ctx, turn{job: int32(n)})
			return a, ctx.Err()
		}, func(_ int, a attempt) error { return r.settle(ctx, a, done) })
	}
	r.ready = make([]turn, len(jobs))
	for i := range jobs {
		r.ready[i] = turn{job: int32(i)}
	}
	var failure error
	for {
		if failure == nil {
			failure = ctx.Err()
		}
		for failure == nil && r.running < p.Concurrency && len(r.ready) > 0 {
			t := r.ready[0]
			r.ready = r.ready[1:]
			r.running++
			go func() { r.results <- r.try(ctx, t) }()
		}
		if r.running == 0 && (failure != nil || len(r.ready)+r.waiting == 0) {
			return failure
		}
		select {
		case a := <-r.results:
			r.running--
			if failure == nil {
				failure = r.settle(ctx, a, done)
			}
			if failure != nil {
				cancel()
			}
		case t := <-r.due:
			r.waiting--
			r.ready = append(r.ready, t)
		case <-ctx.Done():
			if failure == nil {
				failure = ctx.Err()
			}
			// The attempts see the same context; wait for them.
			for ; r.running > 0; r.running-- {
				<-r.results
			}
			return failure
		}
	}
}

type run struct {
	Pool
	prov    Provider
	jobs    []job
	load    func(int) (string, error)
	ready   []turn
	waiting int // turns that wait out a pause
	due     chan turn
	running int
	results chan attempt
	once    bool                // the provider decided on all results beforehand
	made    map[uint64]struct{} // known results, for a provider that decided beforehand
}

// turn is a job's place in the queue; n counts the attempts that failed.
type turn struct{ job, n int32 }

type attempt struct {
	job   int
	n     int
	out   outcome
	err   error
	final bool // no use in trying again
}

// settle decides what follows an attempt.
func (r *run) settle(ctx context.Context, a attempt, done func(outcome) error) error {
	if errors.Is(a.err, errMade) || errors.Is(a.err, errWhole) {
		a.out = outcome{job: a.job, Status: Skipped, Attempts: a.n}
		return done(a.out)
	}
	if a.err == nil {
		a.out.job, a.out.Status, a.out.Attempts = a.job, Success, a.n
		return done(a.out)
	}
	_, fatal := errors.AsType[*fatalError](a.err)
	_, fault := errors.AsType[*transcript.Fault](a.err)
	if fatal || fault {
		return a.err // a run that meets a fault of ours removes what it has written so far
	}
	a.n++
	if a.n >= r.MaxAttempts || a.final {
		a.out.job, a.out.Status, a.out.Attempts, a.out.Err = a.job, Failed, a.n, a.err
		a.out.Text = ""
		return done(a.out)
	}
	pause := r.pause(a)
	next := turn{int32(a.job), int32(a.n)}
	if pause <= 0 {
		r.ready = append(r.ready, next)
		return nil
	}
	r.waiting++
	time.AfterFunc(pause, func() {
		select {
		case r.due <- next:
		case <-ctx.Done():
		}
	})
	return nil
}

// maxPause bounds what a service may ask for; beyond it a person would rather
// see the message fail.
const maxPause = 2 * time.Minute

// pause is how long to wait before the next attempt: what the service asked
// for, else longer with each failure, spread a little so that the tasks of one
// burst do not return as one. A timeout or a refused result waits for nothing.
func (r *run) pause(a attempt) time.Duration {
	var refused *refusedError
	if errors.Is(a.err, errTimeout) || errors.As(a.err, &refused) {
		return 0
	}
	d := 500 * time.Millisecond << min(a.n-1, 4)
	d += time.Duration(a.job%10) * d / 50
	if limited, ok := errors.AsType[*rateLimitError](a.err); ok {
		d = max(d, limited.RetryAfter)
	}
	return min(d, maxPause)
}

// try takes one turn: known results first, then the provider.
func (r *run) try(ctx context.Context, t turn) (a attempt) {
	a = attempt{job: int(t.job), n: int(t.n)}
	defer transcript.Catch("", &a.err)
	text, err := r.load(a.job)
	if err != nil {
		a.err, a.final = err, true
		return a
	}
	a.out.Original, a.out.hash = text, sha256.Sum256([]byte(text))
	req := r.request(a, text)
	if r.Redact != nil {
		req.Text, a.out.Redacted = r.Redact(text)
		req.hash = sha256.Sum256([]byte(req.Text))
	}
	if r.once {
		if _, made := r.made[binary.BigEndian.Uint64(a.out.hash[:])]; made {
			a.err = errMade
			return a
		}
		r.ask(ctx, &a, req)
		return a
	}
	key := ""
	if r.Cache != nil {
		if _, made := r.Cache.Made(text); made {
			a.err = errMade
			return a
		}
		key = cacheKey(r.prov.Name(), req)
		if r.known(&a, key, req) {
			return a
		}
	}
	r.ask(ctx, &a, req)
	if a.err == nil && r.Cache != nil {
		// A cache that cannot be written costs a later run money, not this one.
		_ = r.Cache.Put(key, Accepted{Original: text, Result: a.out.Text, Level: req.Level, Provider: r.prov.Name(), Model: req.Model})
	}
	return a
}

func (r *run) request(a attempt, text string) Request {
	job := r.jobs[a.job]
	return Request{
		Text: text, Level: job.Level, TargetPercent: r.target(job.Level), Role: job.Role,
		Model: r.Model, Large: job.Tokens > r.LargeThreshold, Attempt: a.n, job: a.job, hash: a.out.hash, alone: r.KeepFacts,
	}
}

// known takes the cache's result, unless it would not pass today's checks.
func (r *run) known(a *attempt, key string, req Request) bool {
	rec, ok := r.Cache.Get(key)
	if !ok {
		return false
	}
	lost, err := r.check(req, rec.Result, false)
	if err != nil {
		return false
	}
	a.out.Text, a.out.Lost, a.out.Cached = rec.Result, lost, true
	return true
}

// ask sends one request with its own time limit and checks the answer.
func (r *run) ask(ctx context.Context, a *attempt, req Request) {
	limit, tctx := Timeout(a.n, r.TimeoutInitial, r.TimeoutIncrement), ctx
	if !r.once {
		var cancel context.CancelFunc
		tctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	reply, err := r.prov.Compress(tctx, req)
	a.out.InputTokens, a.out.OutputTokens = reply.InputTokens, reply.OutputTokens
	var rejected *rejectedError
	switch {
	case err != nil && errors.Is(context.Cause(tctx), errTimeout):
		a.err = timeoutError{message.Fail(message.CompressTimeout, limit)}
		return
	case err != nil:
		a.err, a.final = err, errors.As(err, &rejected)
		return
	}
	if r.once && reply.Text == req.Text {
		a.err = errWhole
		return
	}
	if r.Redact != nil {
		// A model may write what it was never sent: what it finds where it runs, or
		// knows from elsewhere. The clone and the cache shall not hold it.
		reply.Text, _ = r.Redact(reply.Text)
	}
	a.out.Text, a.out.gone = reply.Text, reply.gone
	if a.out.Lost, a.err = r.check(req, reply.Text, reply.gone != nil); a.err != nil {
		a.final = r.once
	}
}
