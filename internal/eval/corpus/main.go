// Command corpus runs every command that reads sessions on recorded sessions of all
// hosts, each alone in a home and all in one, and on seeded accidents of each: cut, with
// escapes at every phase, with lines that are doubled, mixed, joined or missing, with
// bytes and types that nobody expects.
//
// A step is a fault where it panics, hangs, prints JSON that is none, a sum that is not
// that of its rows, or tokens that another reader counts in another way; where a clone
// does not verify, and where a source has changed.
//
// The sessions are those of package samples; without them some are made up in their
// shapes, and it says so. Homes are temporary. -sample takes few of all and is for CI.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/host"
)

type options struct {
	sample             bool
	seed               uint64
	cuts, parts, tries int
	only               string
	program, place     string
}

func main() {
	o := options{}
	flag.BoolVar(&o.sample, "sample", false, "a fixed sample of sessions and accidents")
	flag.Uint64Var(&o.seed, "seed", 1, "of the accidents")
	flag.IntVar(&o.cuts, "cuts", 12, "into how many pieces a session is cut")
	flag.IntVar(&o.parts, "size", 100_000, "the size of the part of a session that accidents happen to")
	flag.IntVar(&o.tries, "tries", 0, "how many accidents happen to each session, chosen by the seed; 0 for all")
	flag.StringVar(&o.only, "only", "", "only sessions whose name contains this")
	flag.StringVar(&o.program, "program", filepath.Join("bin", "overtone"), "the program of the steps that are processes of their own")
	flag.StringVar(&o.place, "place", "", "only put the sessions into this home, and print the size, agent and id of each")
	flag.Parse()
	if o.sample {
		o.tries = tried
	}
	var err error
	if o.program, err = filepath.Abs(o.program); err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// run runs all of it and prints what came of it.
func run(o options) error {
	list, told, err := sessions(o)
	if err != nil {
		return err
	}
	began := time.Now()
	now := began.Truncate(time.Second)
	if o.place != "" {
		return place(o.place, now, list)
	}
	fmt.Println(told)
	r := &report{slow: map[string]time.Duration{}, refused: map[string][]string{}}

	// Each alone, then its accidents.
	each(list, func(s session) {
		r.alone(now, s, s.data)
		rnd := rand.New(rand.NewPCG(o.seed, hashName(s.name)))
		base := part(s.data, o.parts, rnd)
		small := mutations(base, o.cuts, rnd)
		if o.tries > 0 {
			rnd.Shuffle(len(small), func(i, j int) { small[i], small[j] = small[j], small[i] })
			small = small[:min(o.tries, len(small))]
		}
		defer r.progress(len(list))
		for _, m := range small {
			spoilt := s
			spoilt.name, spoilt.data = s.name+", "+m.name, m.data
			if len(bytes.TrimSpace(m.data)) == 0 {
				continue
			}
			want := []byte(nil)
			if m.same {
				want = base
			}
			r.alone(now, spoilt, want)
			r.mutations.Add(1)
		}
	})
	if err := r.together(now, list, o); err != nil {
		return err
	}
	r.print(len(list), time.Since(began))
	if n := len(r.faults); n > 0 {
		return fmt.Errorf("%d faults", n)
	}
	return nil
}

// place puts all sessions into one home.
func place(dir string, now time.Time, list []session) error {
	h := &home{dir: dir, now: now}
	for _, s := range list {
		if err := h.place(s); err != nil {
			return err
		}
		fmt.Printf("%d\t%s\t%s\n", len(s.data), s.host, s.id)
	}
	return h.ready()
}

// hashName has the accidents of a session be the same whichever others there are.
func hashName(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// each runs fn for all sessions, on all cores, the largest first.
func each(list []session, fn func(session)) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b session) int { return cmp.Compare(len(b.data), len(a.data)) })
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				fn(list[i])
			}
		})
	}
	wg.Wait()
}

// A session of the sample is at most that large, one of that many of its host, and has
// that many accidents.
const sampled, every, tried = 1 << 20, 5, 8

// sessions are those that are recorded, else made-up ones.
func sessions(o options) (list []session, told string, err error) {
	add := func(s session, path string) error {
		data, err := samples.Read(path)
		if err != nil {
			return err
		}
		if s.data = data; s.host == host.Opencode {
			if s.data, s.id, err = rows(data); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
		}
		list = append(list, s)
		return nil
	}
	names := map[string]host.Name{"claude": host.ClaudeCode, "codex": host.Codex, "copilot": host.Copilot, "gemini": host.Gemini, "opencode": host.Opencode}
	for _, c := range samples.Corpus() {
		s := session{name: samples.Name(c.Path), project: c.Project, host: names[c.Host], id: c.ID, cwd: c.CWD}
		if err := add(s, c.Path); err != nil {
			return nil, "", err
		}
	}
	for _, path := range samples.Find("compactions/*.jsonl*", "real/*.jsonl*", "claude_transcript_main.jsonl", "codex_rollout*.jsonl", "gemini_session*.jsonl", "opencode_export.json") {
		name := samples.Name(path)
		s := session{name: name, host: host.ClaudeCode, id: name, cwd: "/work/samples"}
		for prefix, h := range names {
			if strings.HasPrefix(name, prefix) {
				s.host = h
			}
		}
		if err := add(s, path); err != nil {
			return nil, "", err
		}
		if s := &list[len(list)-1]; s.host == host.Codex || s.host == host.Gemini {
			s.id = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(list))
		}
	}
	recorded := len(list)
	if recorded == 0 {
		list = madeUp(o.seed)
	}
	list = distinct(list)
	if o.only != "" {
		list = slices.DeleteFunc(list, func(s session) bool { return !strings.Contains(s.name, o.only) })
	}
	if o.sample && recorded > 0 {
		list = sample(list)
	}
	count := map[host.Name]int{}
	size := 0
	for _, s := range list {
		count[s.host]++
		size += len(s.data)
	}
	told = fmt.Sprintf("%d sessions (%d MB):", len(list), size>>20)
	for _, h := range host.All() {
		told += fmt.Sprintf(" %d %s", count[h.Name], h.Title)
	}
	if recorded == 0 {
		told += fmt.Sprintf(". No recorded sessions beside %s: these are made up in their shapes.", samples.Folder())
	}
	return list, told, nil
}

// sample is a few of each host, the same ones every time.
func sample(list []session) (few []session) {
	seen := map[host.Name]int{}
	for _, s := range list {
		if len(s.data) > sampled {
			continue
		}
		if n := seen[s.host]; n%every == 0 || s.host == host.Gemini {
			few = append(few, s)
		}
		seen[s.host]++
	}
	return few
}

// distinct gives sessions that share an id others: copies of one session in one home
// would be one.
func distinct(list []session) []session {
	seen := map[string]bool{}
	for i := range list {
		s := &list[i]
		if s.host == host.Gemini {
			continue // its file says it
		}
		if seen[s.id] || s.id == "" || s.host == host.Codex && len(s.id) != 36 || strings.ContainsAny(s.id, "/\\ ") {
			s.id = fmt.Sprintf("00000000-0000-4000-9000-%012d", i)
		}
		seen[s.id] = true
	}
	return list
}
