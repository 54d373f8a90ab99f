package compress

import (
	"context"
	"slices"
	"testing"
	"time"
)

// BenchmarkPool runs 500 tasks of 200 ms, ten at a time, and reports how many
// times the ideal ten seconds it took.
func BenchmarkPool(b *testing.B) {
	f := &fake{do: func(ctx context.Context, n int, r Request) (Reply, error) {
		time.Sleep(200 * time.Millisecond)
		return cut(ctx, n, r)
	}}
	js := jobs(Compress, slices.Repeat([]int{50}, 500)...)
	var worst time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := runAll(context.Background(), b, defaultPool(), f, js); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(begin))
	}
	b.ReportMetric(worst.Seconds()/10, "×ideal")
}
