//go:build unix

// Command mutate finds rules that no test protects. It changes a package in one small
// place after another (a < becomes a <=, a condition always false, a statement is
// gone), and runs the package's own tests: where they still pass, the rule that stood
// there can be broken without anybody noticing.
//
//	mutate [-n 100] [-seed 1] [-min 70] PACKAGE|FILE.go[,FILE.go]...
//
// It takes a sample of the changes, the same one for the same source and seed. A
// change in code that no test runs is counted as alive without a run, and a change
// that does not compile is none. One test program holds the changes of all functions and
// switches one of them on; a change outside of functions is compiled alone. Both come
// from overlays: the sources are not touched. Only tests that reach the changed place are run.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	var o options
	flag.IntVar(&o.n, "n", 100, "`changes` to try in each package")
	flag.Uint64Var(&o.seed, "seed", 1, "of the sample")
	flag.IntVar(&o.workers, "j", 2, "changes to try at a time")
	atLeast := flag.Int("min", 70, "fail where fewer than this `percent` are killed")
	flag.Parse()
	failed := false
	for _, arg := range flag.Args() {
		c, err := o.try(arg)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", arg, err)
			os.Exit(1)
		}
		percent := 100 * c.killed / max(1, c.killed+c.alive+c.bare)
		failed = failed || percent < *atLeast
		fmt.Printf("%-22s %3d killed (%d by their time), %3d alive, %3d not covered: %d %% (%s)\n", arg, c.killed, c.late, c.alive, c.bare, percent, c.took.Round(time.Second))
	}
	if failed {
		fmt.Fprintf(os.Stderr, "fewer than %d %% of the changes were noticed\n", *atLeast)
		os.Exit(1)
	}
}

type options struct {
	n, workers int
	seed       uint64
}

// counts of what became of the changes.
type counts struct {
	killed, alive, bare int
	late                int // of the killed: they took too long
	took                time.Duration
}

// suite is a package's tests.
type suite struct {
	dir string // of the package
	tmp string
	// Where Go keeps what it has fetched and built, which lies in the home otherwise.
	modules, cache string

	joined string // the program with many changes

	all    []string // the names of the tests
	took   map[string]time.Duration
	covers []cover
}

// cover says which tests run which part of which file.
type cover struct {
	file           string
	from, to       int // lines
	fromCol, toCol int
	tests          map[string]bool
}

// try takes a package, or some files of it.
func (o options) try(arg string) (c counts, err error) {
	began := time.Now()
	s := suite{dir: arg}
	var files []string
	if strings.HasSuffix(arg, ".go") {
		for file := range strings.SplitSeq(arg, ",") {
			files = append(files, filepath.Base(file))
		}
		s.dir = filepath.Dir(arg[:strings.IndexByte(arg+",", ',')])
	} else if files, err = list(arg); err != nil {
		return c, err
	}
	if s.tmp, err = os.MkdirTemp("", "mutate-*"); err != nil {
		return c, err
	}
	defer os.RemoveAll(s.tmp)
	if err := s.measure(o.workers); err != nil {
		return c, err
	}
	all, err := o.sample(s.dir, files)
	if err != nil {
		return c, err
	}
	if err := s.join(all[:min(len(all), o.n+o.n/2)]); err != nil {
		return c, err
	}
	verdicts := make([]verdict, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, viable := 0, 0
	take := func() (n int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(all) || viable >= o.n || err != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range o.workers {
		wg.Go(func() {
			for n, ok := take(); ok; n, ok = take() {
				v, e := s.judge(all[n], n)
				mu.Lock()
				if verdicts[n] = v; v != unviable {
					if viable++; viable%10 == 0 && viable < o.n {
						fmt.Fprintf(os.Stderr, "%s: %d of %d\n", arg, viable, o.n)
					}
				}
				err = errors.Join(err, e)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// Whichever ended first, the first of the sample count.
	var left []mutant
	for n, v := range verdicts[:next] {
		switch {
		case c.killed+c.alive+c.bare == o.n:
		case v == killed || v == late:
			c.killed++
			if v == late {
				c.late++
				fmt.Println("timed out", all[n])
			}
		case v == alive:
			c.alive++
			left = append(left, all[n])
		case v == bare:
			c.bare++
			all[n].text += " (not covered)"
			left = append(left, all[n])
		}
	}
	slices.SortFunc(left, func(a, b mutant) int { return cmp.Or(cmp.Compare(a.path, b.path), a.from-b.from) })
	for _, m := range left {
		fmt.Println("alive", m)
	}
	c.took = time.Since(began)
	return c, err
}

// list is the files of a package that are built here.
func list(dir string) ([]string, error) {
	out, err := exec.Command("go", "list", "-C", dir, "-f", `{{join .GoFiles "\n"}}`, ".").Output()
	return strings.Fields(string(out)), err
}

// sample puts the changes of the files into an order of chance, which the seed and the
// lines determine: an edit elsewhere in a file leaves those of the other lines as they are.
func (o options) sample(dir string, files []string) ([]mutant, error) {
	var all []mutant
	for _, name := range files {
		path := filepath.Join(dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, err := mutants(path, src)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	same := map[string]int{}
	for i := range all {
		m := &all[i]
		where := m.path + "\x00" + m.around() + "\x00" + m.text
		h := fnv.New64a()
		fmt.Fprint(h, where, same[where])
		m.order = rand.NewPCG(o.seed, h.Sum64()).Uint64()
		same[where]++
	}
	slices.SortStableFunc(all, func(a, b mutant) int { return cmp.Compare(a.order, b.order) })
	return all, nil
}

// quick is how long a test may take to be run before the others: most changes are noticed
// by one of these.
const quick = 300 * time.Millisecond

// measure runs each test by itself on the package as it is, to know what it reaches
// and how long it takes.
func (s *suite) measure(workers int) error {
	folders, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return err
	}
	s.modules, s.cache, _ = strings.Cut(strings.TrimSpace(string(folders)), "\n")
	bin := filepath.Join(s.tmp, "plain.test")
	if out, err := s.build(bin, nil, "-cover"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	names, err := s.run(bin, time.Minute, "-test.list", ".")
	if err != nil {
		return fmt.Errorf("%w\n%s", err, names)
	}
	at := map[string]int{}
	s.took = map[string]time.Duration{}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(workers)
	for _, test := range strings.Fields(string(names)) {
		if strings.HasPrefix(test, "Benchmark") {
			continue
		}
		g.Go(func() error {
			profile := filepath.Join(s.tmp, test+".cover")
			var out []byte
			var err error
			var began time.Time
			for range 3 { // on a busy machine a test may run out of its time
				began = time.Now()
				if out, err = s.run(bin, 5*time.Minute, "-test.run", "^"+test+"$", "-test.coverprofile", profile); err == nil {
					break
				}
			}
			if err != nil {
				return fmt.Errorf("%s fails on what is there: %w\n%s", test, err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			s.all, s.took[test] = append(s.all, test), time.Since(began)
			return s.read(profile, test, at)
		})
	}
	return g.Wait()
}

// read adds what a test reached, by the lines of a profile such as
// "module/dir/file.go:12.34,15.2 3 1".
func (s *suite) read(profile, test string, at map[string]int) error {
	data, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		place, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "mode:") {
			continue
		}
		n, known := at[place]
		if !known {
			n = len(s.covers)
			at[place] = n
			c := cover{tests: map[string]bool{}}
			file, span, _ := strings.Cut(place, ":")
			c.file = filepath.Base(file)
			if _, err := fmt.Sscanf(span, "%d.%d,%d.%d", &c.from, &c.fromCol, &c.to, &c.toCol); err != nil {
				return fmt.Errorf("%s: %w", place, err)
			}
			s.covers = append(s.covers, c)
		}
		if !strings.HasSuffix(rest, " 0") {
			s.covers[n].tests[test] = true
		}
	}
	return nil
}

// tests are those that reach a place; all of them for a place outside of functions.
func (s *suite) tests(m mutant) (run []string, inside bool) {
	var best *cover
	for i := range s.covers {
		c := &s.covers[i]
		if c.file != filepath.Base(m.path) || m.line < c.from || m.line > c.to || m.line == c.from && m.column < c.fromCol || m.line == c.to && m.column > c.toCol {
			continue
		}
		// Blocks lie in one another; the last to begin is the innermost.
		if best == nil || c.from > best.from || c.from == best.from && c.fromCol > best.fromCol {
			best = c
		}
	}
	if best == nil {
		return s.all, false
	}
	for t := range best.tests {
		run = append(run, t)
	}
	slices.Sort(run)
	return run, true
}

type verdict int

const (
	unviable verdict = iota // it does not compile
	killed
	alive
	bare // nothing runs the place
	late // its tests did not come to an end
)

// judge runs the tests on a changed package.
func (s *suite) judge(m mutant, id int) (verdict, error) {
	run, inside := s.tests(m)
	if inside && len(run) == 0 && m.joined {
		return bare, nil
	}
	bin := filepath.Join(s.tmp, strconv.Itoa(id)+".test")
	defer os.Remove(bin)
	if m.refused {
		return unviable, nil
	} else if m.joined {
		if err := os.Link(s.joined, bin); err != nil {
			return 0, err
		}
	} else if out, err := s.build(bin, map[string][]byte{m.path: m.apply(m.src)}); err != nil && len(out) == 0 {
		return 0, err
	} else if err != nil {
		return unviable, nil
	}
	if inside && len(run) == 0 {
		return bare, nil
	}
	for _, slow := range []bool{false, true} {
		list := slices.DeleteFunc(slices.Clone(run), func(t string) bool { return s.took[t] > quick != slow })
		if len(list) == 0 {
			continue
		}
		// Beside others a run takes longer; one that hangs shall not take forever. Five times
		// as long is no load any more, but a loop without an end, or a lock nobody opens.
		limit := 20 * time.Second
		for _, t := range list {
			limit += 5 * s.took[t]
		}
		switch out, err := s.run(bin, limit+10*time.Second, "-test.failfast", "-test.timeout", limit.String(), "-test.run", "^("+strings.Join(list, "|")+")$"); {
		case err == nil:
		case bytes.Contains(out, []byte("panic: test timed out after")):
			return late, nil
		default:
			return killed, nil
		}
	}
	return alive, nil
}

// lean halves the time that the compiler takes for a package, and has it name all errors.
const lean = "-gcflags=-l -e"

// build makes the test program, with other text in some of its files.
func (s *suite) build(bin string, changed map[string][]byte, flags ...string) ([]byte, error) {
	dir, err := os.MkdirTemp(s.tmp, "sources-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for path, text := range changed {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		replace[abs] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[abs], text, 0o600); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return nil, err
	}
	return exec.Command("go", slices.Concat([]string{"test", "-C", s.dir, "-c", "-vet=off", "-ldflags=-w", lean, "-overlay", overlay, "-o", bin}, flags, []string{"."})...).CombinedOutput()
}

// join builds the program with many changes.
func (s *suite) join(all []mutant) error {
	for n := range all {
		all[n].joined = all[n].switchable
	}
	s.joined = filepath.Join(s.tmp, "joined.test")
	for {
		files, err := join(all)
		if err != nil {
			return err
		}
		out, err := s.build(s.joined, files)
		if err == nil {
			break
		}
		known := true
		for _, place := range regexp.MustCompile(`\bmutant(\d+)\.go:\d`).FindAllSubmatch(out, -1) {
			n, _ := strconv.Atoi(string(place[1]))
			known = known && all[n].refused
			all[n].joined, all[n].refused = false, true
		}
		if known {
			return fmt.Errorf("all changes together: %w\n%s", err, out)
		}
	}
	var out []byte
	var err error
	for range 3 { // on a busy machine one may run out of its time
		if out, err = s.run(s.joined, 10*time.Minute, "-test.failfast"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the tests fail with all changes switched off: %w\n%s", err, out)
}

// memory bounds a changed program: a loop that no longer ends may append for ever.
const memory = 8 << 20 // in kB, as ulimit counts

// run starts a test program in its package's folder, with a home and a temporary
// folder of its own, and ends all that it leaves behind.
func (s *suite) run(bin string, limit time.Duration, args ...string) ([]byte, error) {
	home, err := os.MkdirTemp(s.tmp, "home-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", slices.Concat([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory), bin}, args)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "GOMODCACHE="+s.modules, "GOCACHE="+s.cache)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nothing is left of most
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a program that it started held its output
	}
	return out.Bytes(), err
}

func oneLine(text string) string {
	if text == "" {
		return "nothing"
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 100 {
		text = string(r[:100]) + "…"
	}
	return text
}
