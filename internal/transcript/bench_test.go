package transcript

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
)

// benchSize is 64 MB, or OVERTONE_BENCH_MB: the full measurement takes 1024.
func benchSize(b *testing.B) int64 {
	mb := 64
	if v := os.Getenv("OVERTONE_BENCH_MB"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(err)
		}
		mb = n
	}
	return int64(mb) << 20
}

// writeLongSession generates a session with the mix that real ones show: most
// bytes in tool results and their toolUseResult copies, one block per line.
func writeLongSession(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var n int64
	id := func(i int) string { return fmt.Sprintf("%08x-1111-4222-8333-%012x", i, i) }
	common := `"userType":"external","cwd":"/workspace/project","sessionId":"00000000-0000-4000-8000-000000000000","version":"2.1.197","gitBranch":"main"`
	code := strings.Repeat(`func (s *Store) Append(e Event) error {\n\tif err := s.lock(); err != nil {\n\t\treturn fmt.Errorf(\"append %s: %w\", e.Type, err)\n\t}\n`, 20)
	text := strings.Repeat("The lock is taken before the file is read, so internal/store/lock.go line 42 cannot race; 測試也通過了。 ", 6)
	parent := "null"
	for i := 0; n < size; i += 5 {
		at := time.Unix(1767225600+int64(i), 0).UTC().Format("2006-01-02T15:04:05.000Z")
		entry := func(k int, typ, message, more string) {
			m, _ := fmt.Fprintf(w, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":%q%s,%s}`+"\n", parent, typ, message, id(i+k), at, more, common)
			n += int64(m)
			parent = `"` + id(i+k) + `"`
		}
		usage := `,"usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":50000,"output_tokens":300}`
		entry(0, "user", fmt.Sprintf(`{"role":"user","content":"%s"}`, text), "")
		entry(1, "assistant", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"%s","signature":"c2ln"}]%s}`, i, text, usage), "")
		entry(2, "assistant", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/workspace/project/internal/store/lock.go"}}]%s}`, i, i, usage), "")
		entry(3, "user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]}`, i, code), fmt.Sprintf(`,"toolUseResult":{"type":"text","file":{"filePath":"/workspace/project/internal/store/lock.go","content":"%s","numLines":80}}`, code))
		entry(4, "assistant", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-x","content":[{"type":"text","text":"%s"}]%s}`, i+4, text, usage), "")
	}
	return w.Flush()
}

func benchFile(b *testing.B) (string, int64) {
	b.Helper()
	size := benchSize(b)
	path := filepath.Join(b.TempDir(), "00000000-0000-4000-8000-000000000000.jsonl")
	if err := writeLongSession(path, size); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	return path, info.Size()
}

// gjsonPass is the yardstick: one pass that asks gjson for five fields of every
// line.
func gjsonPass(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			b.Fatal(err)
		}
		if len(line) > 0 {
			gjson.GetManyBytes(line, "type", "uuid", "parentUuid", "message.content.0.type", "message.usage.input_tokens")
		}
		if err == io.EOF {
			return
		}
	}
}

// compare runs work and the yardstick in turn on one core, so that a noisy
// machine disturbs both, and reports the ratio of their best times.
func compare(b *testing.B, work func(path string)) {
	path, _ := benchFile(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	peak := cost.Memory()
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		begin := time.Now()
		work(path)
		best[0] = min(best[0], time.Since(begin))
		b.StopTimer()
		begin = time.Now()
		gjsonPass(b, path)
		best[1] = min(best[1], time.Since(begin))
		b.StartTimer()
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "×gjson")
	b.ReportMetric(float64(peak())/(1<<20), "peakMB")
}

// BenchmarkRead is a plan's cost: the index, the live context and the turns.
func BenchmarkRead(b *testing.B) {
	compare(b, func(path string) {
		s, err := Read(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		if len(s.Turns(s.Live())) == 0 {
			b.Fatal("no turns")
		}
	})
}

// BenchmarkClone rewrites every text of a session that was read before, and
// verifies the clone.
func BenchmarkClone(b *testing.B) {
	var s *Session
	compare(b, func(path string) {
		if s == nil {
			var err error
			if s, err = Read(context.Background(), path); err != nil {
				b.Fatal(err)
			}
		}
		ch := Change{ID: NewID(Claude, time.Now()), Title: "clone"}
		for _, i := range s.Live() {
			if s.Entries[i].Text > 80 {
				ch.Touched = append(ch.Touched, i)
			}
		}
		ch.Rewrite = func(_, _ int, e []byte) ([]byte, error) { return Mark(SetText(e, "short text"), Marker{}), nil }
		c, err := Clone(context.Background(), s, ch)
		if err != nil {
			b.Fatal(err)
		}
		os.Remove(c.Path)
	})
}
