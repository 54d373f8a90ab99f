package team

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// BenchmarkShip is how fast a backlog goes out to one embedded hub, on the disk
// that TMPDIR is on: each event is flushed before it is acknowledged.
func BenchmarkShip(b *testing.B) {
	for _, place := range []string{"memory", "disk"} {
		b.Run(place, func(b *testing.B) {
			n := Node{Dir: b.TempDir(), Listen: freePort(b), Tenant: "team", Keep: time.Hour, Now: time.Now}
			if place == "memory" {
				n.Dir = fastDir(b)
			}
			runNode(b, n)
			const events = 2000
			m := n.machine(b, "alpha")
			var took time.Duration
			shipped := 0
			for i := range b.N {
				m.emit(fmt.Sprint("s", i), 1, events)
				begin := time.Now()
				m.ship()
				took += time.Since(begin)
				shipped += events
				if i == 9 {
					break // enough to tell
				}
			}
			b.ReportMetric(float64(shipped)/took.Seconds(), "events/s")
		})
	}
}

// BenchmarkLag is how long after it happened an event is on the hub, at some
// hundred events a second and the shipper's own pace.
func BenchmarkLag(b *testing.B) {
	n := Node{Dir: fastDir(b), Listen: freePort(b), Tenant: "team", Keep: time.Hour, Now: time.Now}
	runNode(b, n)
	m := n.machine(b, "alpha")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		s := m.shipper()
		s.Once, s.Every = false, 100*time.Millisecond
		done <- s.Run(ctx)
	}()
	count := min(b.N*10, 1000)
	for i := range count {
		m.emit("s1", 1+i, 1)
		time.Sleep(3 * time.Millisecond)
	}
	h := m.dial()
	var lags []time.Duration
	for deadline := time.Now().Add(30 * time.Second); len(lags) < count && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		lags = lags[:0]
		if _, err := h.Events(ctx, Query{}, 0, Seen{}, func(e Event) error {
			lags = append(lags, e.At.Sub(e.Time()))
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	slices.Sort(lags)
	b.ReportMetric(float64(lags[len(lags)/2].Milliseconds()), "ms-p50")
	b.ReportMetric(float64(lags[len(lags)*99/100].Milliseconds()), "ms-p99")
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric(float64(mem.HeapInuse)/(1<<20), "MB-heap-with-hub")
}

// BenchmarkHookWithHub compares a prompt's hook on a machine that belongs to a hub
// to one that does not: hooks know nothing of hubs.
func BenchmarkHookWithHub(b *testing.B) {
	n := Node{Dir: fastDir(b), Listen: freePort(b), Tenant: "team", Keep: time.Hour, Now: time.Now}
	runNode(b, n)
	with, without := n.machine(b, "alpha"), n.machine(b, "beta")
	if err := os.RemoveAll(folder(without.home.Root())); err != nil {
		b.Fatal(err)
	}
	rounds := max(20, min(b.N, 400))
	var took [2][]time.Duration
	for i := range rounds {
		for j, m := range []*machine{with, without} {
			begin := time.Now()
			m.call("user-prompt-submit", host.ClaudeCode, map[string]any{"session_id": "s1", "cwd": "/", "prompt": fmt.Sprint("go on ", i)})
			took[j] = append(took[j], time.Since(begin))
		}
	}
	for j := range took {
		slices.Sort(took[j])
	}
	b.ReportMetric(float64(took[0][rounds/4])/float64(took[1][rounds/4]), "ratio-with-hub")
	b.ReportMetric(float64(took[0][rounds/4].Microseconds()), "µs-with-hub")
}
