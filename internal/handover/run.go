package handover

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

type executed struct {
	line   string // as it was typed, on one line
	script bool   // it has several lines: it is not typed again
	key    string // program and what it was told to do
	parts  []part
	passed int32
	last   int64 // where it ran last
	ok     bool  // how it ended then
	said   string

	passedAt int64 // where it passed last, -1 for never
}

const (
	maxRuns    = 2000
	maxRunLine = 160
)

// remember keeps how a command ended, by its exit status. One that was killed, or ran out
// of time, is left out.
func (r *Record) remember(line, output string, exit int) {
	switch exit {
	case 124, 130, 137, 143:
		return
	}
	key := cmp.Or(tidyCommand(line, r.CWD), line)
	parts := partsOf(key)
	if len(parts) == 0 {
		return
	}
	i, ok := r.runAt[key]
	if !ok {
		if len(r.runs) == maxRuns {
			return
		}
		i = len(r.runs)
		r.runAt[key] = i
		r.runs = append(r.runs, executed{key: CommandKey(key), parts: parts, passedAt: -1})
	}
	u := &r.runs[i]
	u.line, u.last, u.ok, u.said = message.OneLine(extract.Head(line, 4*maxRunLine)), r.pos, exit == 0, ""
	u.script = strings.Contains(strings.TrimSpace(line), "\n") || message.Units(u.line) > maxRunLine
	if u.ok {
		u.passed++
		u.passedAt = r.pos
	} else {
		u.said = complaint(output)
	}
}

// tidyCommand writes a command as one short line, without the folder that every
// one of them begins with and without the filters behind it.
func tidyCommand(line, cwd string) string {
	line = strings.TrimSpace(line)
	if first, rest, ok := strings.Cut(line, "\n"); ok {
		if strings.Contains(first, "<<") || strings.TrimSpace(rest) != "" {
			return "" // a script: it is not typed again
		}
		line = first
	}
	line = message.OneLine(line)
	if dir, rest, ok := strings.Cut(line, " && "); ok && strings.HasPrefix(dir, "cd ") {
		if d := strings.Trim(strings.TrimSpace(dir[3:]), `"'`); d == cwd {
			line = rest
		}
	}
	for {
		i := strings.LastIndex(line, "|")
		if i < 0 || i > 0 && line[i-1] == '|' {
			break
		}
		switch w, _, _ := strings.Cut(strings.TrimSpace(line[i+1:]), " "); w {
		case "tail", "head", "cat", "tee", "less", "grep", "rg", "sed", "awk", "sort", "wc":
			line = strings.TrimSpace(line[:i])
			continue
		}
		break
	}
	line = strings.TrimSpace(strings.TrimSuffix(line, "2>&1"))
	if cwd != "" {
		line = strings.ReplaceAll(line, strings.TrimSuffix(cwd, "/")+"/", "")
	}
	return line
}

// CommandKey is what a command does, in the words that stay when its arguments
// change; "" for one that only looks around.
func CommandKey(line string) string {
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "||", "&&"), "&&") {
		words := strings.Fields(part)
		for len(words) > 0 && beforeProgram(words[0]) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		prog := words[0][strings.LastIndexByte(words[0], '/')+1:]
		arg := func(i int) string {
			if i < len(words) {
				return words[i]
			}
			return ""
		}
		switch prog {
		case "cd", "ls", "cat", "grep", "rg", "find", "head", "tail", "sed", "awk", "echo", "pwd", "which", "wc", "diff", "test", "[", "export", "mkdir", "rm", "cp", "mv", "touch", "chmod", "sleep", "true", "tree", "file", "stat", "git", "gh", "curl", "wait", "for", "while", "if", "printf", "nl", "jq", "ps", "kill", "pkill", "set", "source", ".", "open", "tee":
			continue
		case "go", "cargo", "docker", "kubectl", "dotnet", "bundle", "poetry", "uv", "gradle", "./gradlew", "mvn", "terraform", "deno", "rake", "just", "task", "make", "bazel", "swift", "zig", "mix", "rails", "composer", "php", "flutter", "pip", "brew", "overtone":
			return prog + " " + arg(1)
		case "npm", "pnpm", "yarn", "bun", "mise", "npx", "pipenv", "hatch", "pdm":
			if a := arg(1); a == "run" || a == "exec" || a == "x" {
				return prog + " " + a + " " + arg(2)
			}
			return prog + " " + arg(1)
		case "python", "python3", "node", "ruby", "bash", "sh":
			if arg(1) == "-c" || arg(1) == "-e" || arg(1) == "-" || arg(1) == "" {
				continue
			}
			if arg(1) == "-m" {
				return prog + " -m " + arg(2)
			}
			return prog + " " + arg(1)
		}
		return prog
	}
	return ""
}

// beforeProgram reports what may stand before a program: a variable, a duration, or a
// program that runs another.
func beforeProgram(word string) bool {
	switch word {
	case "sudo", "time", "env", "timeout", "nice":
		return true
	}
	return strings.Contains(word, "=") || strings.Trim(word, "0123456789smh") == ""
}

// complaint is the line of a failed command's output that says why: the first that names
// the place of a mistake, else the last.
func complaint(output string) string {
	last := ""
	for line := range strings.Lines(extract.Tail(output, 8000)) {
		if line = strings.TrimSpace(line); located(line) {
			return line
		} else if line != "" {
			last = line
		}
	}
	return last
}

// located reports a line that names the place of a mistake: file.go:12:3: and what is
// wrong there.
func located(line string) bool {
	file, rest, ok := strings.Cut(line, ":")
	digits, what, more := strings.Cut(rest, ":")
	return ok && more && strings.Contains(file, ".") && !strings.Contains(file, " ") &&
		digits != "" && strings.Trim(digits, "0123456789") == "" &&
		len(strings.Trim(what, " :0123456789")) > 3 && !strings.HasPrefix(strings.TrimLeft(what, " :"), "#")
}

// FileRead is the file that a command prints, "" for none or several.
func FileRead(line string) string {
	file := ""
	for part := range strings.SplitSeq(strings.NewReplacer("&&", ";", "\n", ";", "|", ";").Replace(line), ";") {
		words := strings.Fields(part)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "cat", "sed", "head", "tail", "nl", "bat", "less", "more":
		default:
			continue
		}
		for _, w := range words[1:] {
			w = strings.Trim(w, `"'`)
			if w == "-i" {
				return ""
			}
			if w == "" || w[0] == '-' || strings.ContainsAny(w, "*$<>(){},=") || !pathLike(w) {
				continue
			}
			if file != "" && file != w {
				return ""
			}
			file = w
		}
	}
	return file
}

func pathLike(w string) bool {
	s := extract.NameScan{Text: []byte(w)}
	n, ok := s.Next()
	return ok && n.Path && len(n.Text) == len(strings.TrimRight(w, "./"))
}

// FilesChanged are the files that a command changes by name. A file that its output goes to
// is not among them.
func FilesChanged(line string) []string {
	signs := []string{"sed ", "mv ", " -w ", "--write", "perl "}
	if !slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(line, sign) }) {
		return nil
	}
	first, _, _ := strings.Cut(line, "<<")
	var files []string
	for part := range strings.SplitSeq(strings.NewReplacer("&&", ";", "\n", ";", "|", ";", ">", ";").Replace(first), ";") {
		words := strings.Fields(part)
		if len(words) < 2 {
			continue
		}
		writes := false
		from, to := 0, 0 // where a program stands among the words
		switch words[0] {
		case "sed", "perl":
			from, to = scriptAt(words)
			writes = slices.ContainsFunc(words[1:], func(w string) bool {
				return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") || w == "--in-place"
			})
		case "mv", "gofmt", "gofumpt", "goimports":
			writes = words[0] == "mv" || words[1] == "-w"
		case "git":
			writes = words[1] == "mv"
		default:
			writes = slices.Contains(words, "--write")
		}
		for i, w := range words[1:] {
			w = strings.Trim(w, `"'`)
			inside := i+1 >= from && i+1 < to
			if writes && !inside && w != "" && w[0] != '-' && !strings.ContainsAny(w, "*$(){},=") && pathLike(w) {
				files = append(files, w)
			}
		}
	}
	return files
}

// scriptAt is where the program of sed or perl stands among the words of its line,
// which are cut at blanks, quoted or not.
func scriptAt(words []string) (from, to int) {
	from = 1 + slices.IndexFunc(words[1:], func(w string) bool { return w[0] != '-' })
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "-") && strings.HasSuffix(w, "e") || w == "--expression" {
			from = i + 2
			break
		}
	}
	if from == 0 || from >= len(words) {
		return 0, 0
	}
	to = from + 1
	if q := words[from][0]; q == '\'' || q == '"' {
		for w := words[from][1:]; to < len(words) && (w == "" || w[len(w)-1] != q); to++ {
			w = words[to]
		}
	}
	return from, to
}

// works are the commands that work here, one of each kind, those that ran last first.
func (r *Record) works(stated func(string) bool) []executed {
	type group struct {
		best *executed
		last int64
	}
	groups := map[string]*group{}
	for i := range r.runs {
		u := &r.runs[i]
		if u.key == "" || u.script {
			continue
		}
		g := groups[u.key]
		if g == nil {
			g = &group{}
			groups[u.key] = g
		}
		g.last = max(g.last, u.last)
		if u.ok && (g.best == nil || cmp.Or(cmp.Compare(u.passed, g.best.passed), cmp.Compare(u.last, g.best.last)) > 0) {
			g.best = u
		}
	}
	var out []executed
	for _, g := range slices.SortedFunc(maps.Values(groups), func(a, b *group) int { return cmp.Compare(b.last, a.last) }) {
		if g.best != nil && !stated(g.best.line) {
			out = append(out, *g.best)
		}
	}
	return out
}

// TidyCommand writes a command as one short line that compares, "" for one that
// only looks around or is not typed twice.
func TidyCommand(line, cwd string) string {
	line = tidyCommand(line, cwd)
	if CommandKey(line) == "" {
		return ""
	}
	return line
}
