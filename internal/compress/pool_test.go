package compress

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// fake is a provider that follows a script.
type fake struct {
	mu    sync.Mutex
	calls []Request
	do    func(ctx context.Context, n int, r Request) (Reply, error)
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Compress(ctx context.Context, r Request) (Reply, error) {
	f.mu.Lock()
	n := len(f.calls)
	f.calls = append(f.calls, r)
	f.mu.Unlock()
	return f.do(ctx, n, r)
}

func defaultPool() Pool { return NewPool(config.Defaults().Compress) }

// poolOf is the default pool with some fields changed.
func poolOf(change func(*Pool)) Pool {
	p := defaultPool()
	change(&p)
	return p
}

// cut is a reply of the wanted share of the text.
func cut(_ context.Context, _ int, r Request) (Reply, error) {
	return Reply{Text: r.Text[:len(r.Text)*r.TargetPercent/100]}, nil
}

func jobs(level Level, tokens ...int) []job {
	var out []job
	for _, n := range tokens {
		out = append(out, job{Role: "assistant", Level: level, Tokens: n})
	}
	return out
}

// letters are the texts of jobs.
func letters(js []job) func(int) (string, error) {
	return func(i int) (string, error) { return strings.Repeat(string(rune('a'+i%26)), 4*js[i].Tokens), nil }
}

func runAll(ctx context.Context, t testing.TB, p Pool, prov Provider, js []job) ([]outcome, error) {
	t.Helper()
	out := make([]outcome, len(js))
	err := p.work(ctx, prov, js, letters(js), func(o outcome) error {
		out[o.job] = o
		return nil
	})
	return out, err
}

func TestTC01Compress(t *testing.T) {
	t.Parallel()
	f := &fake{do: cut}
	out, err := runAll(t.Context(), t, defaultPool(), f, jobs(Compress, 50, 100, 150))
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out {
		if o.Status != Success || o.Attempts != 0 || EstimateTokens(o.Text) == 0 {
			t.Errorf("job %d: %+v", i, o)
		}
	}
	for _, c := range f.calls {
		if c.Level != Compress || c.TargetPercent != 35 || c.Large {
			t.Errorf("request %+v", c)
		}
	}
	if len(f.calls) != 3 {
		t.Errorf("%d calls", len(f.calls))
	}
}

func TestTC02HeavyCompress(t *testing.T) {
	t.Parallel()
	f := &fake{do: cut}
	if _, err := runAll(t.Context(), t, defaultPool(), f, jobs(HeavyCompress, 100, 200)); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.calls {
		if c.Level != HeavyCompress || c.TargetPercent != 10 || c.Large {
			t.Errorf("request %+v", c)
		}
	}
}

func TestTC06RetryThenSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limits []time.Duration
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			d, _ := ctx.Deadline()
			limits = append(limits, time.Until(d))
			if n == 0 {
				return Reply{}, errors.New("server error")
			}
			return cut(ctx, n, r)
		}}
		out, err := runAll(t.Context(), t, defaultPool(), f, jobs(Compress, 50))
		if err != nil || out[0].Status != Success || out[0].Attempts != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		if d := cmp.Diff([]time.Duration{5 * time.Second, 10 * time.Second}, limits); d != "" {
			t.Error(d)
		}
	})
}

func TestTC07FinalFailure(t *testing.T) {
	t.Parallel()
	s := session(t, 1, 100, 100)
	synctest.Test(t, func(t *testing.T) {
		f := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{}, errors.New("always") }}
		pool := defaultPool()
		pool.Concurrency = 1
		text, res, err := plan(t, s, Options{Bands: bands(t, "0-100:compress"), Pool: pool}).Packet(t.Context(), f, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, strings.Repeat("u", 400)) || !strings.Contains(text, strings.Repeat("a", 400)) {
			t.Errorf("a failed message did not stay as it was: %s", text)
		}
		for _, m := range res.Messages {
			if m.Status != Failed || m.Attempts != 4 || m.Error != "always" || m.After != m.Before {
				t.Errorf("%+v", m)
			}
		}
		if len(f.calls) != 8 {
			t.Errorf("%d calls", len(f.calls))
		}
		if want := (Stats{MessagesFailed: 2, OriginalTokens: 200, CompressedTokens: 200}); res.Stats != want {
			t.Errorf("%+v", res.Stats)
		}
	})
}

// session writes a session of n turns whose messages have the given tokens.
func session(t testing.TB, n int, user, assistant int) *transcript.Session {
	var c chat
	for range n {
		c.turn(user, assistant)
	}
	return c.write(t)
}

func (c *chat) turn(user, assistant int) {
	c.user(strings.Repeat("u", 4*user))
	c.blocks(textBlock(strings.Repeat("a", 4*assistant)))
}

func TestTC08Stats(t *testing.T) {
	t.Parallel()
	var c chat
	c.turn(100, 200)
	c.turn(150, 250)
	for range 4 {
		c.turn(100, 200)
	}
	res, _ := runPlan(t, plan(t, c.write(t), Options{Bands: bands(t, "0-50:compress"), Pool: defaultPool()}), &fake{do: cut})
	if want := (Stats{MessagesCompressed: 6, OriginalTokens: 1000, CompressedTokens: 351, TokensRemoved: 649, ReductionPercent: 65}); res.Stats != want {
		t.Errorf("%+v, want %+v", res.Stats, want)
	}
}

// A failed message keeps its size on both sides: it saves nothing.
func TestStatsCountFailuresAsUnchanged(t *testing.T) {
	t.Parallel()
	s := session(t, 1, 100, 900)
	synctest.Test(t, func(t *testing.T) {
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			if r.Text[0] == 'a' {
				return Reply{}, errors.New("no")
			}
			return cut(ctx, n, r)
		}}
		_, res, err := plan(t, s, Options{Bands: bands(t, "0-100:compress"), Pool: defaultPool()}).Packet(t.Context(), f, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := (Stats{MessagesCompressed: 1, MessagesFailed: 1, OriginalTokens: 1000, CompressedTokens: 935, TokensRemoved: 65, ReductionPercent: 7}); res.Stats != want {
			t.Errorf("%+v, want %+v", res.Stats, want)
		}
	})
}

func TestTC09LargeModel(t *testing.T) {
	t.Parallel()
	f := &fake{do: cut}
	if _, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Concurrency = 1 }), f, jobs(Compress, 1000, 1001)); err != nil {
		t.Fatal(err)
	}
	if f.calls[0].Large || !f.calls[1].Large {
		t.Errorf("large %v, %v", f.calls[0].Large, f.calls[1].Large)
	}
	if strings.Contains(prompt(f.calls[0]), "long") || !strings.Contains(prompt(f.calls[1]), "long") {
		t.Error("the prompt does not follow the size")
	}
}

func TestTC13Concurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, peak atomic.Int32
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			peak.Store(max(peak.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			if n == 2 {
				return Reply{}, &refusedError{reason: reasonFormat}
			}
			return cut(ctx, n, r)
		}}
		begin := time.Now()
		out, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Concurrency = 5 }), f, jobs(Compress, slices.Repeat([]int{50}, 15)...))
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range out {
			if o.Status != Success {
				t.Errorf("job %d: %+v", i, o)
			}
		}
		// Three rounds of five, and the one that failed rolls to a fourth.
		if took := time.Since(begin); len(f.calls) != 16 || peak.Load() != 5 || took != 4*time.Second {
			t.Errorf("%d calls, %d at once, %v", len(f.calls), peak.Load(), took)
		}
	})
}

func TestTC15ReplyParsing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw, want string
		bad             bool
	}{
		{"plain", `{"text":"compressed"}`, "compressed", false},
		{"wrong key", `{"wrong":"format"}`, "", true},
		{"no json", `not json`, "", true},
		{"fenced", "```json\n{\"text\":\"compressed\"}\n```", "compressed", false},
		{"fenced on one line", "```{\"text\":\"compressed\"}```", "compressed", false},
		{"preamble", "Here it is:\n{\"text\":\"compressed\"} Done.", "compressed", false},
		{"a fence inside the text", `{"text":"run ` + "```bash\\nls\\n```" + ` now"}`, "run ```bash\nls\n``` now", false},
		{"a fence inside the text inside a fence", "```json\n{\"text\":\"run ```sh\\nls``` now\"}\n```", "run ```sh\nls``` now", false},
		{"two objects", `{"note":"x"}{"text":"second"}`, "second", false},
		{"braces before", `use {x} then {"text":"a {b} c"}`, "a {b} c", false},
		{"text is no string", `{"text":5}`, "", true},
		{"empty", ``, "", true},
		{"unclosed fence", "```json\n{\"text\":\"compressed\"}", "compressed", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseReply(tt.raw)
			if got != tt.want || (err != nil) != tt.bad {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := viaModel("m", func(context.Context, string, Request) (Reply, error) {
			if n++; n == 1 {
				return Reply{Text: "sorry"}, nil
			}
			return Reply{Text: `{"text":"short"}`}, nil
		})
		out, err := runAll(t.Context(), t, defaultPool(), m, jobs(Compress, 50))
		if err != nil || out[0].Text != "short" || out[0].Attempts != 1 {
			t.Errorf("an unreadable reply is retried: %+v, %v", out, err)
		}
	})
}

func TestTimeoutAbortsTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended []time.Duration
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			begin := time.Now()
			<-ctx.Done()
			ended = append(ended, time.Since(begin))
			return Reply{}, ctx.Err()
		}}
		out, err := runAll(t.Context(), t, defaultPool(), f, jobs(Compress, 50))
		if err != nil || out[0].Status != Failed || !errors.Is(out[0].Err, errTimeout) {
			t.Fatalf("%+v, %v", out, err)
		}
		s := time.Second
		if d := cmp.Diff([]time.Duration{5 * s, 10 * s, 15 * s, 15 * s}, ended); d != "" {
			t.Error(d)
		}
	})
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			switch r.Text[0] {
			case 'a':
				if n == 0 {
					return Reply{}, &rateLimitError{RetryAfter: 30 * time.Second, Err: errors.New("429")}
				}
				if time.Since(begin) < 30*time.Second {
					t.Error("did not wait for Retry-After")
				}
			case 'b':
				return Reply{}, &rejectedError{errors.New("400 too long")}
			}
			return cut(ctx, n, r)
		}}
		out, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Concurrency = 1 }), f, jobs(Compress, 50, 50, 50))
		if err != nil {
			t.Fatal(err)
		}
		if out[0].Status != Success || out[2].Status != Success {
			t.Errorf("%+v", out)
		}
		if out[1].Status != Failed || out[1].Attempts != 1 {
			t.Errorf("a rejected text was tried again: %+v", out[1])
		}
		// The pause of the first held nobody up.
		if f.calls[1].Text[0] != 'b' || f.calls[2].Text[0] != 'c' {
			t.Error("order")
		}
	})
}

func TestFatalStopsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			if n == 0 {
				return Reply{}, &fatalError{errors.New("401 bad key")}
			}
			<-ctx.Done()
			return Reply{}, ctx.Err()
		}}
		_, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Concurrency = 2 }), f, jobs(Compress, slices.Repeat([]int{50}, 40)...))
		var fatal *fatalError
		if !errors.As(err, &fatal) || len(f.calls) > 2 {
			t.Errorf("%v after %d calls", err, len(f.calls))
		}
	})
}

func TestCancelEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			if n == 0 {
				return Reply{}, &rateLimitError{RetryAfter: time.Minute, Err: errors.New("429")}
			}
			<-ctx.Done()
			return Reply{}, ctx.Err()
		}}
		begin := time.Now()
		_, err := runAll(ctx, t, poolOf(func(p *Pool) { p.Concurrency = 3 }), f, jobs(Compress, slices.Repeat([]int{50}, 40)...))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// A slow call keeps one worker busy and nobody else waiting.
func TestNoHeadOfLineBlocking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			d := 100 * time.Millisecond
			if n == 0 {
				d = 4 * time.Second
			}
			time.Sleep(d)
			return cut(ctx, n, r)
		}}
		begin := time.Now()
		if _, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Concurrency = 2 }), f, jobs(Compress, slices.Repeat([]int{50}, 41)...)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestPoolThroughput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
			time.Sleep(200 * time.Millisecond)
			return cut(ctx, n, r)
		}}
		begin := time.Now()
		if _, err := runAll(t.Context(), t, defaultPool(), f, jobs(Compress, slices.Repeat([]int{50}, 500)...)); err != nil {
			t.Fatal(err)
		}
		if took, ideal := time.Since(begin), 10*time.Second; took > ideal*11/10 {
			t.Errorf("took %v, ideal %v", took, ideal)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	original := "The build failed in internal/store/lock.go at line 42 because commit 3f2a9c1d changed the order of the two calls; run `go test ./...` again."
	tests := []struct {
		name, result string
		keep         bool
		want         reason
	}{
		{"shorter", "Build failed in internal/store/lock.go line 42; commit 3f2a9c1d changed the call order; run `go test ./...`.", true, ""},
		{"empty", " \n", false, reasonEmpty},
		{"longer", original + " Really.", false, reasonLonger},
		{"the same", original, false, reasonLonger},
		{"invented path", "Failed in internal/store/key.go line 42.", false, reasonInvented},
		{"invented number", "Failed in internal/store/lock.go line 43.", false, reasonInvented},
		{"invented hash", "Commit deadbeef1 broke internal/store/lock.go.", false, reasonInvented},
		{"invented url", "See https://example.com/x for lock.go.", false, reasonInvented},
		{"lost facts", "The build failed.", false, ""},
		{"claims a success", "The build works in internal/store/lock.go.", false, reasonClaim},
		{"lost facts must not", "The build failed.", true, reasonLost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lost, err := checkResult(original, tt.result, markOf(original), tt.keep, false)
			var r *refusedError
			switch errors.As(err, &r); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (r == nil || r.reason != tt.want):
				t.Errorf("%v, want %s", err, tt.want)
			case tt.name == "lost facts" && len(lost) == 0:
				t.Error("the loss was not counted")
			}
		})
	}
}

// A model that keeps a statement and loses its denial, or reports a success that
// was none, is asked again; an honest answer is taken.
func TestUntrueAnswersAreRefused(t *testing.T) {
	t.Parallel()
	text := "The cache must not be shared between the workers of one host. Lint passes. The integration tests failed twice in the same place, and nobody knows why yet."
	for answer, why := range map[string]reason{
		"The cache must be shared between the workers of one host.":  reasonUndenied,
		"Integration tests passed; lint passes.":                     reasonClaim,
		"Cache must not be shared between workers. Lint passes.":     "",
		"Integration tests failed twice, nobody knows why. Lint ok.": "",
	} {
		f := &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{Text: answer}, nil }}
		var out outcome
		err := poolOf(func(p *Pool) { p.MaxAttempts = 2 }).work(t.Context(), f, []job{{Level: Compress, Tokens: 40}}, func(int) (string, error) { return text, nil }, func(o outcome) error {
			out = o
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var r *refusedError
		switch errors.As(out.Err, &r); {
		case why == "" && out.Status != Success:
			t.Errorf("%q: %v", answer, out.Err)
		case why != "" && (r == nil || r.reason != why || len(f.calls) != 2):
			t.Errorf("%q: %v after %d calls", answer, out.Err, len(f.calls))
		}
	}
}

// Homes have brackets, stars and question marks in their names.
func TestOriginalInAnOddFolder(t *testing.T) {
	t.Parallel()
	d := Dir(filepath.Join(t.TempDir(), "h[o]me", "a*b?"))
	text := "what was said"
	if err := d.Put(textHash("key"), Accepted{Original: text, Result: "said"}); err != nil {
		t.Fatal(err)
	}
	if got, ok := d.Originals().Find(textHash(text)[:8]); !ok || got != text {
		t.Errorf("%q, %v", got, ok)
	}
	for _, bad := range []string{"", textHash(text)[:7], "????????", "../../..", textHash("other")[:8]} {
		if got, ok := d.Originals().Find(bad); ok {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestCacheMakesASecondRunFree(t *testing.T) {
	t.Parallel()
	f := &fake{do: cut}
	p := poolOf(func(p *Pool) { p.Cache = Dir(t.TempDir()) })
	js := jobs(Compress, 50, 100)
	first, err := runAll(t.Context(), t, p, f, js)
	if err != nil {
		t.Fatal(err)
	}
	second, err := runAll(t.Context(), t, p, f, js)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.calls) != 2 {
		t.Errorf("%d calls", len(f.calls))
	}
	for i := range second {
		if !second[i].Cached || second[i].Text != first[i].Text {
			t.Errorf("%+v", second[i])
		}
		if rec, ok := p.Cache.Made(first[i].Text); !ok || rec.Original != first[i].Original {
			t.Errorf("result %d is not known as one: %+v", i, rec)
		}
	}
	if _, ok := p.Cache.Made("never made"); ok {
		t.Error("a foreign text is known")
	}
	p.TargetStandard = 50
	if _, err := runAll(t.Context(), t, p, f, js); err != nil || len(f.calls) != 4 {
		t.Errorf("another target is another result: %d calls, %v", len(f.calls), err)
	}
}

func TestRedactedBeforeItLeaves(t *testing.T) {
	t.Parallel()
	f := &fake{do: func(_ context.Context, _ int, r Request) (Reply, error) { return Reply{Text: "key [REDACTED]"}, nil }}
	p := poolOf(func(p *Pool) {
		p.Redact = func(s string) (string, []string) {
			return strings.ReplaceAll(s, "hunter2", "[REDACTED]"), []string{"password"}
		}
	})
	text := "the key is hunter2, do not tell " + strings.Repeat("x", 100)
	var out outcome
	err := p.work(t.Context(), f, []job{{Level: Compress, Tokens: 40}}, func(int) (string, error) { return text, nil }, func(o outcome) error {
		out = o
		return nil
	})
	if err != nil || out.Status != Success {
		t.Fatalf("%+v, %v", out, err)
	}
	// What it writes by itself is cleaned before it is kept.
	p.Cache = Dir(t.TempDir())
	f.do = func(context.Context, int, Request) (Reply, error) { return Reply{Text: "the key is hunter2"}, nil }
	if err := p.work(t.Context(), f, []job{{Level: Compress, Tokens: 40}}, func(int) (string, error) { return text, nil }, func(o outcome) error {
		out = o
		return nil
	}); err != nil || out.Text != "the key is [REDACTED]" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, ok := p.Cache.Made("the key is [REDACTED]"); !ok {
		t.Error("the cache has another text")
	}
	if strings.Contains(f.calls[0].Text, "hunter2") || !slices.Equal(out.Redacted, []string{"password"}) {
		t.Errorf("sent %q, redacted %v", f.calls[0].Text, out.Redacted)
	}
}

// A model that declines has compressed nothing.
func TestAnswersThatAreAside(t *testing.T) {
	t.Parallel()
	original := "Do not change internal/store/lock.go, because the lock file must not be removed. TestLock fails with a timeout after 30 seconds, and we did not fix it yet. 鎖檔不可移除，測試仍然失敗。"
	for answer, want := range map[string]bool{
		"I'm sorry, I can't help with that.":                                     true,
		"Sure! Here is what I would suggest doing next about your question.":     true,
		"抱歉，我無法協助處理這項請求。":                                                        true,
		"Do not change internal/store/lock.go; TestLock fails after 30 seconds.": false,
		"The lock file stays: TestLock still times out, unfixed.":                false,
		"鎖檔不可移除。":                                                                false,
		"Done.":                                                                  false,
	} {
		m := viaModel("m", func(context.Context, string, Request) (Reply, error) {
			b, err := json.Marshal(map[string]string{"text": answer})
			return Reply{Text: string(b)}, err
		})
		_, err := m.Compress(t.Context(), Request{Text: original})
		if r, refused := errors.AsType[*refusedError](err); refused != want || refused && r.reason != reasonAside {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
