package compress

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCacheKeys: a result is used again for the same question only.
func TestCacheKeys(t *testing.T) {
	t.Parallel()
	base := Request{Text: "text", Level: Compress, TargetPercent: 35, Role: "user", Model: "m"}
	keys := map[string]string{cacheKey("p", base): "the question"}
	for name, key := range map[string]string{
		"another provider": cacheKey("q", base),
		"another text":     cacheKey("p", Request{Text: "other", Level: Compress, TargetPercent: 35, Role: "user", Model: "m"}),
		"another level":    cacheKey("p", Request{Text: "text", Level: HeavyCompress, TargetPercent: 35, Role: "user", Model: "m"}),
		"another target":   cacheKey("p", Request{Text: "text", Level: Compress, TargetPercent: 36, Role: "user", Model: "m"}),
		"another role":     cacheKey("p", Request{Text: "text", Level: Compress, TargetPercent: 35, Role: "assistant", Model: "m"}),
		"another model":    cacheKey("p", Request{Text: "text", Level: Compress, TargetPercent: 35, Role: "user", Model: "n"}),
		"the large model":  cacheKey("p", Request{Text: "text", Level: Compress, TargetPercent: 35, Role: "user", Model: "m", Large: true}),
	} {
		if other, ok := keys[key]; ok {
			t.Errorf("%s is %s", name, other)
		}
		keys[key] = name
	}
	again := base
	again.Attempt = 3
	if keys[cacheKey("p", again)] != "the question" {
		t.Error("another attempt is another question")
	}
}

// TestDamagedCache: what is not whole in a cache is not there.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	key, rec := textHash("key"), Accepted{Original: "an original", Result: "a result", Level: Compress, Provider: "p"}
	for name, damage := range map[string]func(d Dir) error{
		"no damage":          func(Dir) error { return nil },
		"the record is torn": func(d Dir) error { return os.WriteFile(d.path(key, ".json"), []byte(`{"result":"a re`), 0o600) },
		"it has no result": func(d Dir) error {
			return os.WriteFile(d.path(key, ".json"), []byte(`{"original":"an original"}`), 0o600)
		},
		"it is gone": func(d Dir) error { return os.Remove(d.path(key, ".json")) },
		"its pointers are torn": func(d Dir) error {
			return errors.Join(os.WriteFile(d.path(textHash(rec.Result), ".ref"), []byte(key[:9]), 0o600), os.WriteFile(d.path(textHash(rec.Original), ".org"), []byte(key[:9]), 0o600))
		},
		"it has other texts": func(d Dir) error {
			return os.WriteFile(d.path(key, ".json"), []byte(`{"original":"another","result":"other"}`), 0o600)
		},
	} {
		d := Dir(t.TempDir())
		if err := errors.Join(d.Put(key, rec), damage(d)); err != nil {
			t.Fatal(err)
		}
		whole := name == "no damage"
		if got, ok := d.Made(rec.Result); ok != whole || ok && got != rec {
			t.Errorf("%s: made %+v, %v", name, got, ok)
		}
		if got, ok := d.Originals().Find(textHash(rec.Original)[:12]); ok != whole || ok && got != rec.Original {
			t.Errorf("%s: found %q, %v", name, got, ok)
		}
		if got, ok := d.Get(key); ok != (whole || strings.HasPrefix(name, "its ") || strings.HasPrefix(name, "it has other")) {
			t.Errorf("%s: got %+v, %v", name, got, ok)
		}
	}
}

// TestCacheIsNoCondition: a cached result that would be refused today is made anew, and a
// cache that cannot be written fails nothing.
func TestCacheIsNoCondition(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	js := jobs(Compress, 50)
	text, _ := letters(js)(0)
	req := Request{Text: text, Level: Compress, TargetPercent: 35, Role: "assistant"}
	if err := d.Put(cacheKey("fake", req), Accepted{Original: text, Result: "See other/file.go, line 7."}); err != nil {
		t.Fatal(err)
	}
	f := &fake{do: cut}
	out, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Cache = d }), f, js)
	if err != nil || out[0].Status != Success || out[0].Cached || len(f.calls) != 1 {
		t.Errorf("%+v, %v after %d calls", out, err, len(f.calls))
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runAll(t.Context(), t, poolOf(func(p *Pool) { p.Cache = Dir(blocked) }), f, js); err != nil || out[0].Status != Success {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestResultsOfAModelStay: what a model made is known to the built-in provider, too.
func TestResultsOfAModelStay(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	made := "We decided to keep version 3 because 14 users still have it. " + long("answer")
	if err := d.Put(textHash("key"), Accepted{Original: made + "more", Result: made}); err != nil {
		t.Fatal(err)
	}
	var c chat
	c.user(long("question"))
	c.blocks(textBlock(made))
	p := plan(t, c.write(t), Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })})
	res, _ := runPlan(t, p, Builtin{})
	if res.Messages[0].Status != Success || res.Messages[1].Status != Skipped || res.Stats.MessagesSkipped != 1 {
		t.Errorf("%+v, %+v", res.Messages, res.Stats)
	}
}

// TestPauses: how long it is waited for another attempt. It doubles up to eight seconds,
// differs between messages, and is none where waiting changes nothing.
func TestPauses(t *testing.T) {
	t.Parallel()
	broken, s := errors.New("broken"), time.Second
	for _, c := range []struct {
		job, n int
		err    error
		want   time.Duration
	}{
		{0, 1, broken, s / 2},
		{0, 2, broken, s},
		{0, 3, broken, 2 * s},
		{0, 5, broken, 8 * s},
		{0, 9, broken, 8 * s},
		{5, 2, broken, s + s/10},
		{15, 2, broken, s + s/10},
		{0, 1, &rateLimitError{RetryAfter: 7 * s, Err: broken}, 7 * s},
		{0, 2, &rateLimitError{RetryAfter: s / 2, Err: broken}, s},
		{0, 1, &rateLimitError{RetryAfter: time.Hour, Err: broken}, 2 * time.Minute},
		{0, 1, &refusedError{reason: reasonEmpty}, 0},
		{0, 1, timeoutError{broken}, 0},
	} {
		if got := (&run{}).pause(attempt{job: c.job, n: c.n, err: c.err}); got != c.want {
			t.Errorf("message %d, attempt %d, %v: %v, want %v", c.job, c.n, c.err, got, c.want)
		}
	}
	for attempt, want := range []time.Duration{5 * s, 7 * s, 9 * s, 9 * s} {
		if got := Timeout(attempt, 5*s, 2*s); got != want {
			t.Errorf("attempt %d: %v, want %v", attempt, got, want)
		}
	}
}

// TestUnreadableText: a message that cannot be read fails at once; the others do not.
func TestUnreadableText(t *testing.T) {
	t.Parallel()
	for name, prov := range map[string]Provider{"a model": &fake{do: cut}, "builtin": Builtin{}} {
		js, read := jobs(Compress, 50, 50, 50), 0
		texts, broken := letters(js), errors.New("broken")
		var out []outcome
		err := poolOf(func(p *Pool) { p.Concurrency = 1 }).work(t.Context(), prov, js, func(n int) (string, error) {
			if n == 1 {
				read++
				return "", broken
			}
			return texts(n)
		}, func(o outcome) error {
			out = append(out, o)
			return nil
		})
		if name == "builtin" {
			// It decides on all of them together.
			if !errors.Is(err, broken) || len(out) != 0 {
				t.Errorf("%s: %v, %+v", name, err, out)
			}
			continue
		}
		if err != nil || len(out) != 3 || out[1].Status != Failed || out[1].Attempts != 1 || !errors.Is(out[1].Err, broken) || read != 1 || out[2].Status != Success {
			t.Errorf("%s: %v, %+v", name, err, out)
		}
	}
}

// TestNobodyTakesIt: a run ends with the error of who takes its results, and asks for
// nothing more.
func TestNobodyTakesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, broken := &fake{do: cut}, errors.New("broken")
		js := jobs(Compress, 50, 50, 50, 50)
		err := poolOf(func(p *Pool) { p.Concurrency = 1 }).work(t.Context(), f, js, letters(js), func(outcome) error { return broken })
		if !errors.Is(err, broken) || len(f.calls) != 1 {
			t.Errorf("%v after %d calls", err, len(f.calls))
		}
	})
}
