//go:build e2e

// Package browser drives a headless Chromium: the distribution's, found on PATH or
// where OVERTONE_E2E_CHROMIUM says.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNone says that there is no browser, and how to get one.
var ErrNone = errors.New("no Chromium on PATH: apt-get install chromium, or name one in OVERTONE_E2E_CHROMIUM")

// Find is the browser's program.
func Find() (string, error) {
	if path := os.Getenv("OVERTONE_E2E_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Tab is a page with what it complained about.
type Tab struct {
	context.Context
	mu     sync.Mutex
	errors []string
}

// Start opens a browser with a profile of its own in dir. What it returns ends it.
func Start(ctx context.Context, dir string) (context.Context, func(), error) {
	path, err := Find()
	if err != nil {
		return nil, nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.Flag("lang", "en-US"),
		chromedp.Flag("font-render-hinting", "none"),
		// A name that somebody made to point here.
		chromedp.Flag("host-resolver-rules", "MAP rebound.test 127.0.0.1"), chromedp.Flag("disable-dev-shm-usage", true))
	alloc, stopAlloc := chromedp.NewExecAllocator(ctx, opts...)
	b, stop := chromedp.NewContext(alloc)
	if err := chromedp.Run(b); err != nil {
		stop()
		stopAlloc()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, func() { stop(); stopAlloc() }, nil
}

// Open opens a tab.
func Open(b context.Context) (*Tab, func(), error) {
	ctx, stop := chromedp.NewContext(b)
	t := &Tab{Context: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			t.errors = append(t.errors, "exception: "+e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				text := "console:"
				for _, a := range e.Args {
					text += " " + string(a.Value) + a.Description
				}
				t.errors = append(t.errors, text)
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				t.errors = append(t.errors, "log: "+e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err := chromedp.Run(ctx, log.Enable(), runtime.Enable()); err != nil {
		stop()
		return nil, nil, err
	}
	return t, stop, nil
}

// Errors are what the page has written to its console so far.
func (t *Tab) Errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.errors...)
}

// Do runs actions, within a time.
func (t *Tab) Do(limit time.Duration, actions ...chromedp.Action) error {
	ctx, stop := context.WithTimeout(t, limit)
	defer stop()
	return chromedp.Run(ctx, actions...)
}

// Size sets width and theme ("light" or "dark").
func Size(width, height int64, theme string) chromedp.Action {
	return chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
	}
}

// Picture is a PNG of the page, of all of it or of the window.
func Picture(out *[]byte, whole bool) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		data, err := page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithCaptureBeyondViewport(whole).Do(ctx)
		if err == nil && whole {
			_, _, _, _, _, size, merr := page.GetLayoutMetrics().Do(ctx)
			if merr != nil {
				return merr
			}
			data, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithCaptureBeyondViewport(true).
				WithClip(&page.Viewport{Width: size.Width, Height: min(size.Height, 12000), Scale: 1}).Do(ctx)
		}
		*out = data
		return err
	})
}

// Element is a PNG of one element.
func Element(selector string, out *[]byte) chromedp.Action {
	var box struct{ X, Y, Width, Height float64 }
	return chromedp.Tasks{
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().toJSON()`, selector), &box),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			*out, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithCaptureBeyondViewport(true).
				WithClip(&page.Viewport{X: box.X, Y: box.Y, Width: box.Width, Height: box.Height, Scale: 1}).Do(ctx)
			return err
		}),
	}
}
