package recall

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// benchCorpus makes generated sessions of
// OVERTONE_BENCH_MB megabytes in files of 700 kB, as on a real machine.
func benchCorpus(b *testing.B) (*corpus, int64) {
	mb, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_MB"))
	if mb == 0 {
		mb = 30
	}
	c := newCorpus(b, b.TempDir())
	const size = 700 << 10
	for n := range mb << 20 / size {
		c.file(b, n, size)
	}
	return c, int64(mb) << 20
}

// What a first search costs, and then each: the files are looked at, the index is
// opened, asked, and the best texts are read. The clock says little on a busy
// machine, so the processor's time is told as well.
func BenchmarkSearch(b *testing.B) {
	c, size := benchCorpus(b)
	cpu, start := cpuTime(), time.Now()
	x := c.open()
	if err := x.Update(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	took, used := time.Since(start), cpuTime()-cpu
	entries, _ := os.ReadDir(filepath.Join(c.home, ".overtone", Folder))
	bytes := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			time.Sleep(time.Nanosecond) // measured above, once
		}
		b.ReportMetric(float64(size>>20)/took.Seconds(), "MB/s")
		b.ReportMetric(float64(size>>20)/used.Seconds(), "MB/cpu-s")
		b.ReportMetric(float64(100*bytes/size), "%size")
		b.ReportMetric(float64(len(entries)-2), "segments")
	})
	for name, text := range map[string]string{
		"rare":   c.words[5000] + " " + c.words[9000] + " " + c.words[20000],
		"common": c.words[3] + " " + c.words[10] + " " + c.words[40] + " " + c.words[100],
		"typo":   c.words[5000] + " x" + c.words[9000][1:] + " " + c.words[300],
	} {
		b.Run(name, func(b *testing.B) {
			cpu := cpuTime()
			hits := 0
			for b.Loop() {
				res, err := c.open().Search(context.Background(), Query{Text: text})
				if err != nil {
					b.Fatal(err)
				}
				hits = res.Total
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			b.ReportMetric(float64(hits), "hits")
		})
	}
}

// A list of 5,000 sessions of which all is known.
func BenchmarkSessions5000(b *testing.B) {
	c := newCorpus(b, b.TempDir())
	for n := range 5000 {
		c.file(b, n, 1)
	}
	list := func() {
		files, err := transcript.List(c.dir)
		if err != nil || len(files) != 5000 {
			b.Fatal(len(files), err)
		}
		if _, err := c.open().Facts(context.Background(), files); err != nil {
			b.Fatal(err)
		}
	}
	list()
	cpu := cpuTime()
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}
