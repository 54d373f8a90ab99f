package compress

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/cost"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
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

// benchSession writes a session of OVERTONE_BENCH_MB megabytes, 64 by default:
// most bytes in tool results, as in real ones, and texts that name other things
// in each turn.
func benchSession(b *testing.B) (path string, size int64) {
	mb, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_MB"))
	if mb == 0 {
		mb = 64
	}
	path = filepath.Join(b.TempDir(), "00000000-0000-4000-8000-000000000000.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	code := strings.Repeat(`func (s *Store) Append(e Event) error {\n\tif err := s.lock(); err != nil {\n\t\treturn err\n\t}\n`, 40)
	parent := "null"
	line := func(n int, typ, content, more string) {
		id := fmt.Sprintf("%08x-1111-4222-8333-%012x", n, n)
		k, _ := fmt.Fprintf(w, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"model":"m","content":%s},"uuid":%q,"timestamp":"2026-01-01T00:00:00.000Z"%s,"cwd":"/w","sessionId":"00000000-0000-4000-8000-000000000000","version":"2.1.197"}`+"\n", parent, typ, typ, content, id, more)
		size += int64(k)
		parent = `"` + id + `"`
	}
	for n := 0; size < int64(mb)<<20; n += 4 {
		name := fmt.Sprintf("pkg%d/part%d.go", n%977, n%7919)
		line(n, "user", fmt.Sprintf(`"Please look at internal/%s and tell me why load%dRow fails in line %d. Do not change the tests. It was fine before commit %07x, and nobody touched it since then, as far as I know."`, name, n, n%900, n*2654435761%(1<<28)), "")
		line(n+1, "assistant", fmt.Sprintf(`[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/w/internal/%s"}}]`, n, name), "")
		line(n+2, "user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]`, n, code), fmt.Sprintf(`,"toolUseResult":{"file":{"content":"%s"}}`, code))
		line(n+3, "assistant", fmt.Sprintf(`[{"type":"text","text":"I looked at it for a while. The cause is that load%dRow returns nil when the row is empty, and internal/%s treats nil as the end of the table. I decided to return an error instead, because %d callers already check for one.\n\n- internal/%s: load%dRow returns errEmpty%d\n- all %d tests pass now\n\nShall I commit it?"}]`, n, name, n%40, name, n, n, n%300), "")
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return path, size
}

// BenchmarkRun is what a user waits for: the plan of a long session, its clone with every
// message compressed, read back and checked, and the clone of preset fresh.
func BenchmarkRun(b *testing.B) {
	path, size := benchSession(b)
	plan := func(b *testing.B, choice Choice) *Plan {
		s, err := transcript.Read(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		choice.Users = "on"
		c := config.Defaults().Compress
		o, err := choice.Options(c, func(flag string) bool { return flag == "bands" && choice.Bands != "" })
		if err != nil {
			b.Fatal(err)
		}
		o.Pool = defaultPool()
		p, err := NewPlan(s, o)
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	measure := func(b *testing.B, do func()) {
		b.SetBytes(size)
		peak, cpu := cost.Memory(), cost.CPU()
		for b.Loop() {
			do()
		}
		b.ReportMetric(float64(size>>20)*float64(b.N)/(cost.CPU()-cpu).Seconds(), "MB/cpu-s")
		b.ReportMetric(float64(peak())/(1<<20), "peakMB")
	}
	run := func(b *testing.B, p *Plan, note Noter) {
		res, err := p.Run(b.Context(), Builtin{}, RunOptions{ID: transcript.NewID(p.Session.Host, time.Now()), Now: time.Now(), Note: note})
		if err != nil {
			b.Fatal(err)
		}
		os.Remove(res.Clone.Path)
	}
	bands := Choice{Bands: "0-50:heavy-compress,50-100:compress"}
	b.Run("plan", func(b *testing.B) { measure(b, func() { plan(b, bands) }) })
	b.Run("clone", func(b *testing.B) {
		defer debug.SetGCPercent(debug.SetGCPercent(40)) // as the command has it
		p := plan(b, bands)
		measure(b, func() { run(b, p, nil) })
	})
	b.Run("fresh", func(b *testing.B) {
		defer debug.SetGCPercent(debug.SetGCPercent(40))
		measure(b, func() { run(b, plan(b, Choice{Preset: "fresh"}), benchNote{handover.NewNames("/w")}) })
	})
}

// benchNote writes the names that a clone lacks, as the command has it.
type benchNote struct{ *handover.Record }

func (n benchNote) Note(states func(string) bool) string {
	return n.Lacking(states, message.CloneNames, 4500, message.EN)
}
