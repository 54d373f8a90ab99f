package handover

import (
	"cmp"
	"slices"
	"strings"
)

// A command that was red is listed as failing as long as nothing shows that it was
// repaired: it passed itself, or one that does the same, more of it, or a part of it.
// Runs are compared by what they are for, because the same tests are started in many
// ways.

type part struct {
	purpose purpose
	key     string // program and what it was told to do
	variant string // of tests that a wider name does not hold: integration
	paths   []string
	names   []string // of tests
}

type purpose uint8

const (
	otherwise purpose = iota
	formats
	builds
	lints
	tests
	merges // and rebases
	commits
	pushes
)

// partsOf are the programs of a line that do something.
func partsOf(line string) []part {
	var out []part
	line, _, _ = strings.Cut(line, "<<") // what a here-document holds is no program
	for text := range strings.SplitSeq(strings.NewReplacer("||", "&&", ";", "&&", "\n", "&&").Replace(line), "&&") {
		text = strings.TrimSpace(text)
		p := part{key: CommandKey(text)}
		words := strings.Fields(text)
		if p.key != "" {
			p.read(words)
		} else if p.purpose = gitPurpose(words); p.purpose == otherwise {
			continue
		} else {
			p.key = words[0] + " " + words[1]
		}
		out = append(out, p)
	}
	return out
}

func gitPurpose(words []string) purpose {
	if len(words) < 2 || words[0] != "git" {
		return otherwise
	}
	switch words[1] {
	case "rebase", "merge", "cherry-pick", "pull", "am", "revert":
		return merges
	case "commit":
		return commits
	case "push":
		return pushes
	}
	return otherwise
}

// read finds out what a program is for, and on what it was let loose.
func (p *part) read(words []string) {
	value := "" // the flag whose value comes next
	for i, w := range words {
		w = strings.Trim(w, `"'`)
		flag, of, assigned := strings.Cut(w, "=")
		switch {
		case value != "":
			if names(value) {
				p.names = append(p.names, strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("|^$() ", r) })...)
			}
			value = ""
		case strings.HasPrefix(w, "-"):
			switch {
			case assigned && names(flag):
				between := func(r rune) bool { return strings.ContainsRune("|^$()", r) }
				p.names = append(p.names, strings.FieldsFunc(strings.Trim(of, `"'`), between)...)
			case !assigned && (names(flag) || valued(flag)):
				value = flag
			}
		case assigned && i < 4:
		default:
			base := strings.ToLower(w[strings.LastIndexByte(w, '/')+1:])
			head, variant, _ := strings.Cut(base, ":")
			if head == base {
				if h, v, ok := strings.Cut(base, "-"); ok && purposeOf(h) != otherwise && purposeOf(base) == otherwise {
					head, variant = h, v
				}
			}
			if is := purposeOf(head); is != otherwise && i < 5 && len(p.paths)+len(p.names) == 0 {
				if p.purpose = max(p.purpose, is); variant != "" && is == tests {
					p.variant = variant
				}
				continue
			}
			if p.purpose == otherwise {
				continue // still the program and its runner
			}
			file, test, _ := strings.Cut(w, "::")
			file = strings.Trim(strings.TrimSuffix(strings.TrimPrefix(file, "./"), "..."), "/.")
			if strings.Trim(file, "0123456789smh") != "" && !strings.ContainsAny(file, "<>&|") {
				if strings.ContainsAny(w, "/.") {
					p.paths = append(p.paths, file)
				} else {
					p.names = append(p.names, file)
				}
			}
			if test != "" {
				p.names = append(p.names, strings.Split(test, "::")...)
			}
		}
	}
	if p.key == "make " {
		p.purpose = builds
	}
}

// names reports a flag that chooses tests by name, valued one with another value.
func names(flag string) bool {
	switch flag {
	case "-run", "--run", "-k", "-t", "--grep", "-g", "--filter", "--tests", "--test", "-bench", "-only", "--testNamePattern", "-m":
		return true
	}
	return false
}

func valued(flag string) bool {
	switch flag {
	case "-count", "-timeout", "-p", "-o", "-tags", "-n", "-c", "-C", "--config", "--timeout", "-j", "--project", "--manifest-path", "--maxfail", "--reporter", "-coverprofile", "--tb", "-f":
		return true
	}
	return false
}

func purposeOf(word string) purpose {
	switch word {
	case "test", "tests", "pytest", "jest", "vitest", "rspec", "ctest", "tox", "nox", "phpunit", "nextest", "mocha", "ava", "playwright", "cypress", "unittest", "gotestsum", "spec", "e2e", "ci", "verify":
		return tests
	case "lint", "golangci-lint", "eslint", "ruff", "flake8", "pylint", "mypy", "pyright", "clippy", "vet", "staticcheck", "typecheck", "tsc", "biome", "rubocop", "shellcheck", "stylelint", "oxlint", "check", "checks":
		return lints
	case "fmt", "gofmt", "gofumpt", "goimports", "prettier", "black", "format", "isort", "rustfmt":
		return formats
	case "build", "compile", "assemble", "package", "webpack", "vite", "cmake", "ninja", "gcc", "clang", "javac", "rustc":
		return builds
	}
	return otherwise
}

// repairs reports whether that p passed leaves it open at least whether f is still red.
func (p *part) repairs(f *part) bool {
	switch {
	case p.purpose == otherwise || f.purpose == otherwise:
		return p.key == f.key
	case p.purpose == f.purpose:
	case f.purpose == builds, f.purpose == formats:
		if p.purpose != tests && p.purpose != lints {
			return false
		}
	case f.purpose == merges && p.purpose == commits, f.purpose == commits && p.purpose == pushes:
	default:
		return false
	}
	return (p.variant == f.variant || f.variant == "") && meet(p.paths, f.paths) && meet(p.names, f.names)
}

// meet reports whether two choices have something in common; none is everything.
func meet(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return strings.Contains(x, y) || strings.Contains(y, x) })
	})
}

// failing are the runs that are red as far as is known, the newest first. Of two that
// do the same the newer one tells more.
func (r *Record) failing() []executed {
	var red, out []executed
	for i := range r.runs {
		if u := &r.runs[i]; !u.ok && !r.repaired(u) {
			red = append(red, *u)
		}
	}
	slices.SortFunc(red, func(a, b executed) int { return cmp.Compare(b.last, a.last) })
	for _, u := range red {
		if !slices.ContainsFunc(out, func(newer executed) bool { return newer.bearsOn(&u) }) {
			out = append(out, u)
		}
	}
	return out
}

// bearsOn reports whether how one line ended says something of another that has failed.
// Which of its programs failed is not known, but formatters seldom do.
func (u *executed) bearsOn(failed *executed) bool {
	alone := !slices.ContainsFunc(failed.parts, func(p part) bool { return p.purpose != formats })
	for i := range u.parts {
		for k := range failed.parts {
			if (alone || failed.parts[k].purpose != formats) && u.parts[i].repairs(&failed.parts[k]) {
				return true
			}
		}
	}
	return false
}

// repaired reports whether a line that failed has passed since, in one form or another.
func (r *Record) repaired(u *executed) bool {
	later := 0
	for i := range r.runs {
		v := &r.runs[i]
		if v.last > u.last {
			later++
		}
		if v.passedAt > u.last && v.bearsOn(u) {
			return true
		}
	}
	// What is neither a test nor a build was tried, and given up.
	return later > 3 && !slices.ContainsFunc(u.parts, func(p part) bool { return p.purpose != otherwise })
}
