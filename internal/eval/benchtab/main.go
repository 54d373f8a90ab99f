// Command benchtab makes the page of benchmarks from what `go test -bench` prints,
// or compares a run with that page: a ratio that has become worse by more than a
// quarter is an error. Only ratios and counts of what must not happen are compared;
// machines differ in everything else.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// worse is by how much a ratio may grow.
const worse = 1.25

// row is one number.
type row struct {
	Package, Name, Unit string
	Value               float64
}

func (r row) key() string { return r.Package + " " + r.Name + " " + r.Unit }

// parse reads the lines of a run: "== package" before each package's benchmarks.
func parse(in io.Reader) (rows []row, err error) {
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 1<<20)
	pkg := ""
	for scan.Scan() {
		fields := strings.Fields(scan.Text())
		if len(fields) == 2 && fields[0] == "==" {
			pkg = fields[1]
			continue
		}
		if what, cost, ok := strings.Cut(scan.Text(), ": "); ok && ofHost(what) {
			if r, ok := onHost(what, strings.Fields(cost)); ok {
				rows = append(rows, r)
			}
			continue
		}
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := procs.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", scan.Text(), err)
			}
			if v == 0 && fields[i+1] == "ns/op" {
				continue // the benchmark reports its own numbers
			}
			rows = append(rows, row{pkg, name, fields[i+1], v})
		}
	}
	return rows, scan.Err()
}

// procs is how many processors a benchmark had, behind its name.
var procs = regexp.MustCompile(`-[0-9]+$`)

// ofHost reports whether a line is about a host.
func ofHost(what string) bool {
	return slices.ContainsFunc(host.All(), func(h *host.Host) bool { return strings.HasPrefix(what, h.Title+" ") })
}

// onHost is a line of what calls cost on the real host.
func onHost(what string, cost []string) (row, bool) {
	if len(cost) == 0 {
		return row{}, false
	}
	v, err := strconv.ParseFloat(cost[0], 64)
	unit := "×"
	if len(cost) > 1 {
		unit = "ms a call"
	}
	return row{"on the host", what, unit, v}, err == nil
}

// shown is a value as people write it.
func shown(r row) string {
	if r.Unit == "ns/op" {
		d := time.Duration(r.Value)
		for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
			if d >= unit {
				return d.Round(unit / 100).String()
			}
		}
		return d.String()
	}
	if r.Value >= 1000 {
		return strconv.FormatFloat(r.Value, 'f', 0, 64)
	}
	return strconv.FormatFloat(r.Value, 'g', 4, 64)
}

// page is the table, with an anchor for each row that a number elsewhere can point to.
func page(rows []row, machine string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `make bench` on %s, %s. `make bench-check` fails where a ratio has become worse by more than 25 %%.\n\n", now.UTC().Format(time.DateOnly), machine)
	b.WriteString("| Package | Benchmark | Measure | Value |\n|---|---|---|---:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | <a id=\"%s\"></a>%s | %s | %s |\n", r.Package, anchor(r), r.Name, strings.Replace(r.Unit, "ns/op", "time", 1), shown(r))
	}
	return b.String()
}

func anchor(r row) string {
	return strings.ToLower(strings.NewReplacer("/", "-", " ", "-", "µ", "u", "%", "pct", ",", "").Replace(r.Name + "-" + r.Unit))
}

// read takes the rows of a page back.
func read(page string) (rows []row) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || !strings.Contains(cells[1], "</a>") {
			continue
		}
		_, name, _ := strings.Cut(cells[1], "</a>")
		v, err := strconv.ParseFloat(strings.TrimSuffix(cells[3], " |"), 64)
		if err != nil {
			continue
		}
		rows = append(rows, row{strings.TrimPrefix(cells[0], "| "), name, cells[2], v})
	}
	return rows
}

// compare lists the ratios that have become worse, and those that are gone.
func compare(old, now []row) (problems []string) {
	have := map[string]float64{}
	for _, r := range now {
		have[r.key()] = r.Value
	}
	for _, r := range old {
		less, more := smaller(r.Unit), larger(r.Unit)
		if !less && !more {
			continue
		}
		switch v, ok := have[r.key()]; {
		case ok && more && v < r.Value/worse:
			problems = append(problems, fmt.Sprintf("%s %s: %s is %.3g, was %.3g", r.Package, r.Name, r.Unit, v, r.Value))
		case ok && more:
		case !ok:
			problems = append(problems, fmt.Sprintf("%s %s: %s is no longer measured", r.Package, r.Name, r.Unit))
		case v > r.Value*worse:
			problems = append(problems, fmt.Sprintf("%s %s: %s is %.3g, was %.3g", r.Package, r.Name, r.Unit, v, r.Value))
		}
	}
	return problems
}

// smaller says that less of it is better: how many times something else it takes,
// and what must not happen at all.
func smaller(unit string) bool {
	return strings.Contains(unit, "ratio") || strings.HasPrefix(unit, "x-") || unit == "×ideal" || unit == "lost" || unit == "doubled"
}

// larger says that more of it is better.
func larger(unit string) bool {
	return unit == "×gjson" || unit == "recall" || unit == "precision" || strings.HasSuffix(unit, "-stated")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchtab:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	rows, err := parse(os.Stdin)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no benchmarks on stdin")
	}
	if len(args) == 2 && args[0] == "check" {
		data, err := os.ReadFile(args[1])
		if err != nil {
			return fmt.Errorf("%w; run make bench first", err)
		}
		if problems := compare(read(string(data)), rows); len(problems) > 0 {
			return fmt.Errorf("%d worse by more than 25 %%:\n%s", len(problems), strings.Join(problems, "\n"))
		}
		return nil
	}
	fmt.Print(page(rows, machine(), time.Now()))
	return nil
}

// machine is the processor and how many of it there are.
func machine() string {
	name := runtime.GOARCH
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				name = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%d × %s, %s, %s", runtime.NumCPU(), name, runtime.GOOS, runtime.Version())
}
