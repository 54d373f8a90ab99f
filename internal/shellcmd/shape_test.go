package shellcmd

import (
	"os"
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
