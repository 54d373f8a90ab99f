package shellcmd

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// example is a block of testdata/shapes.txt: how a shape begins, lines that it allows
// and near misses.
type example struct {
	shape         string
	allowed, near []string
}

func examples(t *testing.T) (list []example) {
	t.Helper()
	data, err := os.ReadFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		last := len(list) - 1
		switch line[:2] {
		case "> ":
			list = append(list, example{shape: line[2:]})
		case "+ ":
			list[last].allowed = append(list[last].allowed, line[2:])
		case "- ":
			list[last].near = append(list[last].near, line[2:])
		default:
			t.Fatalf("odd line: %s", line)
		}
	}
	return list
}

// tableShapes are the table's lines that are shapes.
func tableShapes() (lines []string) {
	for line := range strings.Lines(table) {
		if line != "\n" && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "# ") && line != "#\n" {
			lines = append(lines, line)
		}
	}
	return lines
}

// used lists the shapes that the commands of a line have, also those in substitutions.
func used(line string) (lines []string) {
	g := newGuard(maxSteps)
	g.exec = func(args []arg, _ *scope) {
		if len(args) > 0 {
			m, _ := find(base(args[0].Text), args[1:])
			lines = append(lines, m.line)
		}
		g.run(args)
	}
	g.script(line, syntax.LangBash)
	return lines
}

// Each shape allows a line that no other one allows in its place, and refuses one
// that differs little.
func TestShapes(t *testing.T) {
	t.Parallel()
	list := examples(t)
	lines := tableShapes()
	if len(list) != len(lines) {
		t.Errorf("%d shapes, examples for %d", len(lines), len(list))
	}
	for i, e := range list {
		if i >= len(lines) || !strings.HasPrefix(lines[i], e.shape) {
			t.Fatalf("example %d is for %q, the table has %q", i, e.shape, lines[min(i, len(lines)-1)])
		}
		if len(e.allowed) == 0 || len(e.near) == 0 {
			t.Errorf("%s: no line that it allows, or no near miss", e.shape)
		}
		for _, line := range e.allowed {
			if ok, why := ReadOnly(line); !ok {
				t.Errorf("%s: refused: %s: %s", e.shape, line, why.In(message.EN))
			} else if !slices.Contains(used(line), lines[i]) {
				t.Errorf("%s: allowed by another one: %s", e.shape, line)
			}
		}
		for _, line := range e.near {
			if ok, _ := ReadOnly(line); ok {
				t.Errorf("%s: passes: %s", e.shape, line)
			}
		}
	}
}

// A letter stands once in a cluster, names are defined, and no pattern that stands
// for an operand takes an option.
func TestShapesAreSound(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(table) {
		name, rest, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
		tokens := strings.Fields(rest)
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if strings.HasPrefix(line, "  ") && name[0] != '@' {
			tokens = []string{name} // a pattern
		}
		for _, token := range tokens {
			token = strings.Trim(token, "?*")
			switch {
			case token == "" || token == "/" || strings.Contains(token, "::"):
			case token[0] == '@' && definition(token) == "":
				t.Errorf("%s is not defined: %s", token, line)
			case token[0] == '[':
				for i, c := range token {
					if c != ':' && c != '~' && strings.ContainsRune(token[i+1:], c) {
						t.Errorf("%c twice in %s: %s", c, token, line)
					}
				}
			case token[0] == '/' && token[1] != '-' && token[1] != '\\' && !strings.HasPrefix(token, "/[-+]") || definition(token) != "" && token[0] != '@' && token != "SPECIAL" && token != "WRITEOUT":
				for _, option := range []string{"-o", "-opwn", "--output", "--output=pwn", "-exec", "-1"} {
					if is(token, option) {
						t.Errorf("%s takes %s: %s", token, option, line)
					}
				}
			}
		}
	}
}

// What the shapes allow is run with the real programs where they are installed, and
// leaves no trace in the folder.
func TestShapesAgainstRealPrograms(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	box := newSandbox(t)
	box.path = ":" + os.Getenv("PATH")
	box.build()
	ran := 0
	for _, e := range examples(t) {
		for _, line := range e.allowed {
			ran++
			if trace := box.run(line); trace != "" {
				t.Errorf("%s: %s", line, trace)
			}
		}
	}
	t.Logf("%d lines", ran)
}

// Every option that a program's help names, and every letter, is tried in front of
// operands and behind them: what passes is run, and leaves no trace. It takes
// minutes: OVERTONE_FUZZ_OPTIONS asks for it.
func TestOptionsAgainstRealPrograms(t *testing.T) {
	if os.Getenv("OVERTONE_FUZZ_OPTIONS") == "" {
		t.Skip("OVERTONE_FUZZ_OPTIONS is not set")
	}
	box := newSandbox(t)
	box.path, box.shells = ":"+os.Getenv("PATH"), box.shells[:1]
	box.build()
	lines, passed := 0, 0
	var batch []string
	flush := func() {
		if box.run(strings.Join(append(batch, "wait"), " </dev/null & ")) != "" {
			for _, line := range batch { // which one was it?
				if trace := box.run(line + " </dev/null"); trace != "" {
					t.Errorf("%s: %s", line, trace)
				}
			}
		}
		batch = nil
	}
	for _, command := range commands() {
		for _, line := range variants(command) {
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

func variants(command string) (lines []string) {
	options := []string{"--output", "--out", "--exec", "new", "f new", "x f new", "p f new", "1p f new"}
	for _, ask := range []string{"--help", "-h", "--git-completion-helper-all"} {
		cmd := exec.Command("timeout", "2", "bash", "-c", command+" "+ask+" </dev/null 2>&1 | head -c 60000")
		cmd.SysProcAttr = apart()
		out, _ := cmd.Output()
		options = append(options, regexp.MustCompile(`--[a-zA-Z][a-zA-Z0-9-]+`).FindAllString(string(out), -1)...)
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
