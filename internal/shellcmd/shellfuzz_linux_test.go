package shellcmd

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// TestGuardAgainstRealShell writes random lines from a grammar and runs those
// that the guard allows, in bash and in zsh: in a jail, with a PATH that holds the
// reading programs and, for everything else, stand-ins that record being run.
// A line that was allowed must leave no trace. A sample of the denied lines is
// run too, so that the test would notice a grammar without teeth.
//
// OVERTONE_FUZZ_LINES says how many lines, OVERTONE_FUZZ_SEED which.
func TestGuardAgainstRealShell(t *testing.T) {
	t.Parallel()
	want, _ := strconv.Atoi(os.Getenv("OVERTONE_FUZZ_LINES"))
	if want == 0 {
		want = 300
	}
	seed, _ := strconv.ParseUint(os.Getenv("OVERTONE_FUZZ_SEED"), 10, 64)
	reading, _ := corpus(t, "reading.txt")
	writing, _ := corpus(t, "writing.txt")
	const workers = 2
	shells := shells(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var jails []*jail
	lines, allowed, denied, teeth := 0, 0, 0, 0
	for n := range workers {
		jail := newJail(t, "")
		wg.Add(1)
		go func() {
			defer wg.Done()
			g := grammar{rand.New(rand.NewPCG(seed, uint64(n))), append(reading[:len(reading):len(reading)], writing...)}
			for range want / workers {
				line := g.line()
				ok, _ := ReadOnly(line)
				sample := !ok && g.n(want) < min(150, want/10)
				trace := ""
				if ok || sample {
					trace = jail.run(line, shells)
				}
				mu.Lock()
				lines++
				switch {
				case ok:
					if allowed++; trace != "" {
						t.Errorf("allowed, but %s: %q", trace, line)
					}
				case sample:
					if denied++; trace != "" {
						teeth++
					}
				}
				mu.Unlock()
			}
		}()
		jails = append(jails, jail)
	}
	wg.Wait()
	cut := 0
	for _, jail := range jails {
		jail.prove() // it still holds, and sees
		cut += jail.cut
	}
	t.Logf("seed %d, %d shells: %d lines, %d allowed and run; of %d denied ones that were run %d wrote or ran something; %d did not end within a second", seed, len(shells), lines, allowed, denied, teeth, cut)
	if denied > 50 && teeth < denied/10 || allowed < lines/50 {
		t.Errorf("the grammar has no teeth: %d of %d denied lines did anything, %d of %d were allowed", teeth, denied, allowed, lines)
	}
}

// What the shapes allow is run with the real programs where they are installed, and
// leaves no trace in the folder.
func TestShapesAgainstRealPrograms(t *testing.T) {
	t.Parallel()
	shells, jail := shells(t), newJail(t, ":"+os.Getenv("PATH"))
	ran := 0
	for _, e := range examples(t) {
		for _, line := range e.allowed {
			ran++
			if trace := jail.run(line, shells); trace != "" {
				t.Errorf("%s: %s", line, trace)
			}
		}
	}
	t.Logf("%d lines", ran)
}

// Some forms that people type can write where nobody expects it: a file of the project
// or a database says so. They are refused, with a form that cannot; both are run beside
// such files.
func TestFormsAgainstWhatMakesThemWrite(t *testing.T) {
	t.Parallel()
	shells, jail := shells(t)[:1], newJail(t, "")
	for _, c := range []struct{ refused, named, instead, prefix string }{
		{"python3 -m json.tool package.json", "python3 -I -m json.tool", "python3 -I -m json.tool package.json", ""},
		{"sqlite3 -readonly views.db 'select * from v'", "sqlite3 -readonly -safe", "sqlite3 -readonly -safe views.db 'select * from v'", ""},
		{"sqlite3 -readonly views.db '.shell touch p'", "sqlite3 -readonly -safe", "sqlite3 -readonly -safe views.db .tables", ""},
		{"sqlite3 -readonly -safe views.db '.trace pwn'", "'select …'", "sqlite3 -readonly -safe views.db 'select credits from t'", ""},
		{"sqlite3 -readonly -safe views.db '.testcase x'", "'select …'", "sqlite3 -readonly -safe views.db .schema", ""},
		{"curl -s https://10.0.0.1/", "curl -q -s URL", "curl -q -s https://10.0.0.1/", "CURL_HOME=sub "},
		{"curl -s -q https://10.0.0.1/", "curl -q -s URL", "curl -qs https://10.0.0.1/", "CURL_HOME=sub "},
		{"git fetch --dry-run ./other", "git ls-remote", "git ls-remote ./other", ""},
	} {
		program, _, _ := strings.Cut(c.refused, " ")
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("no %s", program)
			continue
		}
		if trace := jail.ask(order{Line: c.prefix + c.refused, Shells: shells, Patient: true}).Trace; trace == "" {
			t.Errorf("does not write: %s", c.refused)
		}
		if trace := jail.ask(order{Line: c.prefix + c.instead, Shells: shells, Patient: true}).Trace; trace != "" {
			t.Errorf("%s: %s", c.instead, trace)
		}
		if ok, why := ReadOnly(c.instead); !ok {
			t.Errorf("refused: %s: %s", c.instead, why.In(message.EN))
		}
		if ok, why := ReadOnly(c.refused); ok {
			t.Errorf("passes: %s", c.refused)
		} else if !strings.Contains(why.In(message.EN), c.named) || !strings.Contains(why.In(message.ZH), c.named) {
			t.Errorf("%s: %q does not name %s", c.refused, why.In(message.EN), c.named)
		}
	}
}

// Every option that a program's help names, and every letter, is tried in front of
// operands and behind them: what passes is run, and leaves no trace. It takes
// minutes: OVERTONE_FUZZ_OPTIONS asks for it.
func TestOptionsAgainstRealPrograms(t *testing.T) {
	if os.Getenv("OVERTONE_FUZZ_OPTIONS") == "" {
		t.Skip("OVERTONE_FUZZ_OPTIONS is not set")
	}
	shells, jail := shells(t)[:1], newJail(t, ":"+os.Getenv("PATH"))
	lines, passed := 0, 0
	var batch []string
	flush := func() {
		if jail.run(strings.Join(append(batch, "wait"), " </dev/null & "), shells) != "" {
			for _, line := range batch { // which one was it?
				if trace := jail.run(line+" </dev/null", shells); trace != "" {
					t.Errorf("%s: %s", line, trace)
				}
			}
		}
		batch = nil
	}
	for _, command := range commands() {
		for _, line := range variants(jail, command) {
			if lines++; func() bool { ok, _ := ReadOnly(line); return ok }() {
				if passed++; len(batch) == 12 {
					flush()
				}
				batch = append(batch, line)
			}
		}
		flush()
	}
	t.Logf("%d lines, %d passed and were run", lines, passed)
}

// commands are the table's programs that are installed and answer by themselves, with
// their subcommands.
func commands() (list []string) {
	skip := strings.Fields("sleep top tmux systemctl journalctl docker podman kubectl gh npm pip pip3 cargo rustup apt apt-cache ping dig host curl go dpkg dpkg-query bash sh dash ash zsh")
	for _, line := range tableShapes() {
		names, rest, _ := strings.Cut(strings.TrimLeft(line, "#=/"), " ")
		for name := range strings.SplitSeq(names, "|") {
			if _, err := exec.LookPath(name); err != nil || slices.Contains(skip, name) {
				continue
			}
			words := []string{name}
			if name == "git" || name == "openssl" || name == "ip" {
				_, rest, _ := strings.Cut(" "+rest, "} ")
				subs, _, _ := strings.Cut(rest, " ")
				words = nil
				for sub := range strings.SplitSeq(strings.TrimSpace(subs), "|") {
					words = append(words, name+" "+strings.TrimPrefix(sub, "?"))
				}
			}
			list = append(list, words...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func variants(jail *jail, command string) (lines []string) {
	options := []string{"--output", "--out", "--exec", "new", "f new", "x f new", "p f new", "1p f new"}
	for _, ask := range []string{"--help", "-h", "--git-completion-helper-all"} {
		help := jail.ask(order{Line: command + " " + ask + " </dev/null 2>&1 | head -c 60000", Shells: []string{"bash -c"}, Output: true}).Output
		options = append(options, regexp.MustCompile(`--[a-zA-Z][a-zA-Z0-9-]+`).FindAllString(help, -1)...)
	}
	for c := '0'; c <= 'z'; c++ {
		options = append(options, "-"+string(c), "-n"+string(c))
	}
	slices.Sort(options)
	for _, o := range slices.Compact(options) {
		if !strings.ContainsAny(o, "`;<>[\\]^?@:") {
			for _, form := range []string{"%", "%=new f", "%new f", "% new f", "% f new", "f % new", "f %=new"} {
				lines = append(lines, command+" "+strings.ReplaceAll(form, "%", o))
			}
		}
	}
	return lines
}
