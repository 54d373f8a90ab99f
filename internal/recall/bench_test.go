package recall

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// benchCorpus makes generated sessions of twice OVERTONE_BENCH_MB megabytes and a
// bit, in files of 750 kB: of 1024, 2.2 GB in 3,000 files, as on a real machine.
func benchCorpus(b *testing.B) (*corpus, int64) {
	mb, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_MB"))
	if mb == 0 {
		mb = 14
	}
	mb = mb * 22 / 10
	c := newCorpus(b, b.TempDir())
	const size = 750 << 10
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
	cpu, start := cost.CPU(), time.Now()
	x := c.open()
	if err := x.refresh(context.Background()); err != nil {
		b.Fatal(err)
	}
	took, used := time.Since(start), cost.CPU()-cpu
	entries, _ := os.ReadDir(filepath.Join(c.home, ".overtone", folder))
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
	// Nothing changed, so nothing but names and times of files is looked at.
	b.Run("again", func(b *testing.B) {
		cpu, read := cost.CPU(), bytesRead()
		for b.Loop() {
			if err := c.open().refresh(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cost.CPU()-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		if read >= 0 {
			b.ReportMetric(float64(bytesRead()-read)/float64(b.N)/1024, "kB-read/op")
		}
	})
	for name, text := range map[string]string{
		"rare":   c.words[5000] + " " + c.words[9000] + " " + c.words[20000],
		"common": c.words[3] + " " + c.words[10] + " " + c.words[40] + " " + c.words[100],
		"typo":   c.words[5000] + " x" + c.words[9000][1:] + " " + c.words[300],
	} {
		b.Run(name, func(b *testing.B) {
			cpu := cost.CPU()
			hits := 0
			for b.Loop() {
				res, err := c.open().Search(context.Background(), Query{Text: text})
				if err != nil {
					b.Fatal(err)
				}
				hits = res.Total
			}
			b.ReportMetric(float64((cost.CPU()-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			b.ReportMetric(float64(hits), "hits")
		})
	}
}

// bytesRead is what this process has read from files so far, -1 where the system
// does not tell.
func bytesRead() int64 {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(b), "rchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return -1
	}
	return n
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
	cpu := cost.CPU()
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64((cost.CPU()-cpu).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}

// The worst text for an index: names that all differ, as a dump of a heap or of a
// lock file has them. Each is three words: the whole, and its parts.
func BenchmarkDistinctNames(b *testing.B) {
	const names, perLine = 900_000, 100
	c := newCorpus(b, b.TempDir())
	path := filepath.Join(c.home, ".claude", "projects", "-w-p", sessionID(1)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	name := func(i int) string {
		var w [7]byte
		for k, x := 0, uint64(i)*2654435761%8031810176; k < len(w); k++ {
			w[k] = byte('a' + x%26)
			x /= 26
		}
		return "load" + strings.ToUpper(string(w[:1])) + string(w[1:]) + "Row" + strconv.Itoa(i)
	}
	for i := range names {
		if i%perLine == 0 {
			fmt.Fprintf(&text, `{"type":"user","uuid":"%08d-0000-4000-8000-000000000000","message":{"role":"user","content":"`, i)
		}
		text.WriteString(name(i) + " ")
		if i%perLine == perLine-1 {
			text.WriteString("\"}}\n")
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	ask := func(x *Index, q string) int {
		res, err := x.Search(context.Background(), Query{Text: q})
		if err != nil {
			b.Fatal(err)
		}
		return res.Total
	}
	cpu, start := cost.CPU(), time.Now()
	if ask(c.open(), name(123_456)) != 1 {
		b.Fatal("a name is not found")
	}
	took, used := time.Since(start), cost.CPU()-cpu
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			time.Sleep(time.Nanosecond) // measured above, once
		}
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(used.Seconds(), "cpu-s")
		b.ReportMetric(float64(text.Len()>>20)/used.Seconds(), "MB/cpu-s")
	})
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			ask(c.open(), name(654_321))
		}
	})
	b.Run("typo", func(b *testing.B) {
		for b.Loop() {
			ask(c.open(), "x"+name(654_321)[1:])
		}
	})
}
