package recall

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// corpus writes session files of both hosts that look like real ones: prose with
// a vocabulary that follows Zipf's law, tool results with paths, numbers and
// hashes, and the metadata around them, which is half of a real file.
type corpus struct {
	home  string
	rnd   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newCorpus(tb testing.TB, home string) *corpus {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	c := &corpus{home: home, rnd: r, zipf: rand.NewZipf(r, 1.1, 8, 59_999)}
	syllables := strings.Fields("ta re mi lo ku sen dor vi pa ne gri stu cla mon ber ti fo wa zel qui hu ja")
	ends := strings.Fields("s ed ing er ion ly ment able al  ")
	for i := range 60_000 {
		w := ""
		for n := i + 7; n > 0; n /= len(syllables) {
			w += syllables[n%len(syllables)]
		}
		c.words = append(c.words, w+ends[i%len(ends)])
	}
	return c
}

func (c *corpus) dir(h *host.Host) string {
	return h.Dir(func(_, usual string) string { return filepath.Join(c.home, usual) })
}

func (c *corpus) open() *Index {
	return Open(Options{Root: filepath.Join(c.home, ".overtone"), Dir: c.dir})
}

func (c *corpus) prose(b *strings.Builder, n int) {
	for range n {
		b.WriteString(c.words[c.zipf.Uint64()])
		b.WriteByte(' ')
	}
}

func (c *corpus) output(b *strings.Builder, lines int) {
	for i := range lines {
		name := c.words[c.rnd.IntN(4000)]
		fmt.Fprintf(b, "internal/%s/%s.go:%d:\tfunc new%s%s(ctx) ", c.words[c.rnd.IntN(400)], name, 17*i, strings.ToUpper(name[:1]), name[1:])
		if i%8 == 0 {
			fmt.Fprintf(b, "%08x ", c.rnd.Uint32())
		}
		c.prose(b, 6)
		b.WriteByte('\n')
	}
}

func sessionID(n int) string { return fmt.Sprintf("c0ffee00-0000-4000-8000-%012d", n) }

// file writes one session of about size bytes.
func (c *corpus) file(tb testing.TB, n, size int) string {
	tb.Helper()
	path := filepath.Join(c.home, ".claude", "projects", fmt.Sprintf("-w-p%d", n%50), sessionID(n)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	defer w.Flush()
	for at, i := 0, 0; at < size; i++ {
		var text strings.Builder
		role, content := "assistant", ""
		switch i % 4 {
		case 0:
			role = "user"
			c.prose(&text, 5+c.rnd.IntN(60))
			content = strconv.Quote(text.String())
		case 1:
			c.prose(&text, 20+c.rnd.IntN(200))
			content = `[{"type":"text","text":` + strconv.Quote(text.String()) + `}]`
		case 2:
			c.prose(&text, 8)
			content = `[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":` + strconv.Quote("go test "+text.String()) + `}}]`
		case 3:
			role = "user"
			c.output(&text, 4+c.rnd.IntN(60))
			content = `[{"type":"tool_result","tool_use_id":"toolu_1","content":` + strconv.Quote(text.String()) + `}]`
		}
		k, _ := fmt.Fprintf(w, `{"parentUuid":"%08d-0000-4000-8000-%012d","isSidechain":false,"userType":"external","cwd":"/w/p%d","sessionId":"%s","version":"2.1.197","gitBranch":"main","type":"%s","message":{"role":"%s","content":%s,"usage":{"input_tokens":4,"cache_creation_input_tokens":3921,"cache_read_input_tokens":120311,"output_tokens":211}},"uuid":"%08d-0000-4000-8000-%012d","timestamp":"2026-01-%02dT10:00:00.000Z","toolUseResult":%s}`+"\n",
			i, n, n%50, sessionID(n), role, role, content, i+1, n, 1+n%28, strconv.Quote(text.String()))
		at += k
	}
	return path
}
