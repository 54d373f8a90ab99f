package audit

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/cost"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// benchFiles writes OVERTONE_BENCH_MB (64 when not set) of sessions, one and a
// half megabytes each, with the mix of real ones: most bytes in tool results and
// their copies, one session in twelve compacted in its middle. 3,072 are 2,000
// files.
func benchFiles(b *testing.B) (files []transcript.File, size int64) {
	mb := 64
	if v := os.Getenv("OVERTONE_BENCH_MB"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(err)
		}
		mb = n
	}
	dir := b.TempDir()
	for n := 0; size < int64(mb)<<20; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", n))
		if err := benchSession(path, n, 3<<19); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
		files = append(files, transcript.File{Path: path, Host: transcript.Claude, ID: fmt.Sprint(n), Folder: "p", Size: info.Size(), ModTime: info.ModTime()})
	}
	return files, size
}

func benchSession(path string, seed int, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	common := fmt.Sprintf(`"userType":"external","cwd":"/workspace/project%d","sessionId":"%08d-0000-4000-8000-000000000000","version":"2.1.197","gitBranch":"main"`, seed%40, seed)
	say := strings.Repeat("The lock is taken before the file is read, so internal/store/lock.go line 42 cannot race; 測試也通過了。 ", 4)
	var n int64
	compacted := seed%12 != 0
	for i := 0; n < size; i++ {
		at := time.Unix(1767225600+int64(seed)*7000+int64(i)*20, 0).UTC().Format("2006-01-02T15:04:05.000Z")
		entry := func(typ, message, more string) {
			m, _ := fmt.Fprintf(w, `{"parentUuid":"%08x-1111-4222-8333-%012x","isSidechain":false,%s,"type":%q,"message":%s,"uuid":"%08x-1111-4222-8333-%012x","timestamp":%q%s}`+"\n", i, seed, common, typ, message, i+1, seed, at, more)
			n += int64(m)
		}
		code := strings.Repeat(fmt.Sprintf(`func (s *Store%d) Append%d(e Event) error {\n\tif err := s.lock(); err != nil {\n\t\treturn fmt.Errorf(\"append %%s: %%w\", e.Type, err)\n\t}\n`, i%50, i%70), 12)
		usage := fmt.Sprintf(`,"usage":{"input_tokens":10,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":300}`, 1800, 20000+i*1200)
		answer := func(block string) string {
			return fmt.Sprintf(`{"id":"msg_%d_%d","role":"assistant","model":"claude-opus-4-5","content":[%s]%s}`, seed, i, block, usage)
		}
		if i%9 == 0 {
			entry("user", `{"role":"user","content":"`+say+`"}`, "")
		}
		entry("assistant", answer(`{"type":"text","text":"`+say+`"}`), fmt.Sprintf(`,"requestId":"req_%d_%d"`, seed, i))
		name, input := "Read", fmt.Sprintf(`{"file_path":"/workspace/project/internal/store/file%d.go"}`, i%30)
		if i%25 == 24 {
			name, input, code = "Bash", `{"command":"git commit -am step"}`, `[main abc1234] step\n 1 file changed`
		}
		entry("assistant", answer(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}`, i, name, input)), fmt.Sprintf(`,"requestId":"req_%d_%d"`, seed, i))
		entry("user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]}`, i, code), fmt.Sprintf(`,"toolUseResult":{"type":"text","file":{"content":"%s","numLines":80}}`, code))
		if n > size/2 && !compacted {
			compacted = true
			m, _ := fmt.Fprintf(w, `{"parentUuid":null,"isSidechain":false,%s,"type":"system","subtype":"compact_boundary","timestamp":%q,"uuid":"x","compactMetadata":{"trigger":"auto","preTokens":150000}}`+"\n", common, at)
			n += int64(m)
			entry("user", `{"role":"user","content":"`+strings.Repeat(say, 20)+`"}`, `,"isCompactSummary":true`)
		}
	}
	return w.Flush()
}

// gjsonPass is the yardstick: five fields of every line.
func gjsonPass(b *testing.B, files []transcript.File) {
	n := int64(0)
	for _, f := range files {
		r, err := os.Open(f.Path)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewReaderSize(r, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				for _, v := range gjson.GetManyBytes(line, "type", "timestamp", "message.id", "requestId", "message.usage.output_tokens") {
					n += v.Int()
				}
			}
			if err == io.EOF {
				break
			}
		}
		r.Close()
	}
	if n == 0 {
		b.Fatal("nothing read")
	}
}

// BenchmarkAuditCold reads everything on one core: MB/s is the core's.
func BenchmarkAuditCold(b *testing.B) {
	files, size := benchFiles(b)
	o := Options{Files: files, Now: time.Unix(1790000000, 0), Loc: time.UTC, Settings: config.Defaults().Compact, Workers: 1}
	b.SetBytes(size)
	begin := cost.CPU()
	gjsonPass(b, files)
	yard := cost.CPU() - begin
	peak := watchHeap()
	begin = cost.CPU()
	b.ResetTimer()
	for b.Loop() {
		if r := run(b, o); r.Totals.Compactions == 0 {
			b.Fatal("no compactions")
		}
	}
	b.StopTimer()
	used := (cost.CPU() - begin) / time.Duration(b.N)
	b.ReportMetric(float64(size)/1e6/used.Seconds(), "MB/cpu-s")
	b.ReportMetric(float64(yard)/float64(used), "×gjson")
	b.ReportMetric(float64(peak())/1e6, "peakMB")
}

// BenchmarkAuditWarm asks again when nothing has changed, and for another policy.
func BenchmarkAuditWarm(b *testing.B) {
	files, size := benchFiles(b)
	o := Options{Files: files, Now: time.Unix(1790000000, 0), Loc: time.UTC, Settings: config.Defaults().Compact, Cache: filepath.Join(b.TempDir(), "audit.cache")}
	begin := time.Now()
	run(b, o)
	cold := time.Since(begin)
	peak := watchHeap()
	b.ResetTimer()
	for b.Loop() {
		run(b, o)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)*float64(3<<30)/float64(size), "ms/3GB")
	b.ReportMetric(float64(cold)*float64(b.N)/float64(b.Elapsed()), "×cold")
	b.ReportMetric(float64(peak())/1e6, "peakMB")
}

// watchHeap samples what the heap holds, garbage among it. It stops nothing: a
// stopped world would be part of what is measured.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	debug.FreeOSMemory()
	var most atomic.Uint64
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				metrics.Read(m)
				most.Store(max(most.Load(), m[0].Value.Uint64()+m[1].Value.Uint64()+m[2].Value.Uint64()))
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most.Load()
	}
}
