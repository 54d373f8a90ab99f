package shellcmd

import (
	"slices"
	"strings"
)

// ReadOnly reports whether every command of line is known to read only, or is
// overtone itself. Words that depend on run time are trusted only where no
// value of them could write; output into a file other than the null device,
// an unknown program or a line that cannot be parsed gives false.
func ReadOnly(line string) bool {
	cmds, err := parse(line)
	if err != nil {
		return false
	}
	for _, c := range cmds {
		if !c.readOnly() {
			return false
		}
	}
	return true
}

func (c command) readOnly() bool {
	if len(c.Writes) > 0 || slices.ContainsFunc(c.Via, writingWrapper) || slices.ContainsFunc(c.Env, harmful) {
		return false
	}
	if len(c.Args) == 0 {
		return true
	}
	prog := c.Args[0]
	if prog.Dynamic {
		return false
	}
	name := c.name()
	if name == "overtone" {
		return prog.Text == name || strings.HasPrefix(prog.Text, "/")
	}
	if prog.Text != name && !systemPath(prog.Text) {
		return false
	}
	args := c.Args[1:]
	if reader(name) {
		return true
	}
	switch name {
	case "git":
		return gitReadOnly(c)
	case "gh":
		return ghReadOnly(args)
	case "find":
		return noOption(args, "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls") && noneBegins(args, "-fprint", "-exec", "-ok")
	case "rg":
		return noneBegins(args, "--pre", "--hostname-bin")
	case "sort":
		return noShort(args, "o", "kSTt") && noneBegins(args, "--o", "--comp")
	case "base64", "base32":
		return noneBegins(args, "-o", "--o")
	case "uniq":
		return len(operands(args)) <= 1 && !slices.ContainsFunc(args, arg.maybeOption)
	case "tee":
		return len(args) == 0 || len(args) == 1 && args[0].Text == "/dev/null" && !args[0].Dynamic
	case "tree":
		return noOption(args, "-o", "-R") && noneBegins(args, "-o")
	case "date":
		return noShort(args, "s", "dfrI") && noneBegins(args, "--s") && datePlain(args)
	case "file":
		return noShort(args, "C", "mFPf") && noneBegins(args, "--c")
	case "hostname":
		return len(operands(args)) == 0 && noShort(args, "FbI", "") && noneBegins(args, "--file", "--boot")
	case "less", "more":
		return noShort(args, "oOk", "bhjpPtTxyzD") && noneBegins(args, "--log-file", "--LOG-FILE", "--lesskey", "+")
	case "yq":
		return noShort(args, "isw", "oIp") && noneBegins(args, "--i", "--s")
	case "sed", "gsed":
		return sedReadOnly(args)
	case "awk", "gawk", "mawk", "nawk":
		return awkReadOnly(args)
	case "env":
		return len(args) == 0
	case "command":
		return len(args) > 0 && (args[0].Text == "-v" || args[0].Text == "-V")
	case "go":
		return goReadOnly(args)
	case "npm", "pnpm", "yarn":
		return first(args, "ls", "list", "view", "info", "outdated", "why", "--version", "-v") && (len(args) < 2 || noneBegins(args, "--json=", "--output"))
	}
	return versionOnly(name, args)
}

// reader names the programs that write nothing whatever their arguments are,
// and the shell's own commands that change only the shell.
func reader(name string) bool {
	switch name {
	case ":", "true", "false", "echo", "printf", "test", "[", "pwd", "cd", "pushd", "popd", "dirs", "set", "shopt", "unset", "export",
		"declare", "local", "readonly", "typeset", "read", "shift", "getopts", "exit", "return", "break",
		"continue", "wait", "type", "times", "let", "ulimit", "umask",
		"ls", "dir", "vdir", "cat", "tac", "head", "tail", "grep", "egrep", "fgrep", "zgrep", "wc", "nl", "od", "hexdump", "strings",
		"cut", "tr", "paste", "join", "comm", "cmp", "diff", "diff3", "fold", "fmt", "column", "rev", "expand", "unexpand", "tsort",
		"zcat", "bzcat", "xzcat", "zstdcat", "stat", "du", "df", "which", "whereis", "basename", "dirname", "realpath", "readlink",
		"printenv", "id", "whoami", "groups", "who", "w", "uname", "nproc", "uptime", "free", "ps", "pgrep", "lsof", "tty",
		"locale", "getconf", "seq", "sleep", "cal", "jq", "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum",
		"sha512sum", "shasum", "b2sum", "numfmt", "factor", "tokei", "lscpu", "lsblk", "lsb_release":
		return true
	}
	return false
}

func writingWrapper(name string) bool {
	switch name {
	case "env", "command", "builtin", "exec", "nice", "ionice", "timeout", "gtimeout", "stdbuf", "xargs", "setsid", "sudo", "doas",
		"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "eval", "caffeinate", "taskset", "nohup", "unbuffer", "chronic":
		return false
	}
	return true
}

// harmful reports whether an assignment can make a reading program run another
// program or load code.
func harmful(a assign) bool {
	switch a.Name {
	case "GIT_PAGER", "PAGER", "MANPAGER", "GH_PAGER":
		return a.Value.Dynamic || a.Value.Text != "cat" && a.Value.Text != ""
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_LITERAL_PATHSPECS":
		return false
	case "PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "LESSOPEN", "LESSCLOSE", "LESS",
		"EDITOR", "VISUAL", "BROWSER", "RIPGREP_CONFIG_PATH", "GOFLAGS", "AWKPATH", "HOME", "XDG_CONFIG_HOME":
		return true
	}
	for _, p := range []string{"GIT_", "LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "BASH_FUNC_"} {
		if strings.HasPrefix(a.Name, p) {
			return true
		}
	}
	return false
}

// maybeOption reports whether a word could turn out to be an option.
func (a arg) maybeOption() bool {
	return a.Dynamic && (a.Prefix == "" || a.Prefix[0] == '-')
}

// operands are the words that are not options.
func operands(args []arg) []arg {
	var out []arg
	for i, a := range args {
		if a.Text == "--" && !a.Dynamic {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a.Text, "-") || a.Text == "-" {
			out = append(out, a)
		}
	}
	return out
}

func noOption(args []arg, names ...string) bool {
	return !slices.ContainsFunc(args, func(a arg) bool { return a.maybeOption() || slices.Contains(names, a.Text) })
}

func noneBegins(args []arg, prefixes ...string) bool {
	return !slices.ContainsFunc(args, func(a arg) bool {
		return a.maybeOption() || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(a.Text, p) })
	})
}

// noShort reports whether none of the short options is set. Those in values
// take a value, which is not looked at.
func noShort(args []arg, names, values string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.maybeOption() {
			return false
		}
		if a.Text == "--" {
			return true
		}
		if len(a.Text) < 2 || a.Text[0] != '-' || a.Text[1] == '-' {
			continue
		}
		for j := 1; j < len(a.Text); j++ {
			if strings.IndexByte(names, a.Text[j]) >= 0 {
				return false
			}
			if strings.IndexByte(values, a.Text[j]) >= 0 {
				if j == len(a.Text)-1 {
					i++
				}
				break
			}
		}
	}
	return true
}

func first(args []arg, names ...string) bool {
	return len(args) > 0 && !args[0].Dynamic && slices.Contains(names, args[0].Text)
}

// datePlain reports that date is not given a time to set.
func datePlain(args []arg) bool {
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "-d" || a == "-r" || a == "-f" || a == "--date" || a == "--reference" || a == "--file":
			i++
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return false
		}
	}
	return true
}

func goReadOnly(args []arg) bool {
	if !first(args, "version", "list", "doc", "env", "help") {
		return false
	}
	if args[0].Text == "env" {
		return noOption(args, "-w", "-u", "--w", "--u")
	}
	return noneBegins(args, "-toolexec", "--toolexec", "-exec", "--exec", "-http", "--http", "-modfile", "-mod=mod", "--mod=mod")
}

// versionOnly accepts common tools that are only asked for their version.
func versionOnly(name string, args []arg) bool {
	if len(args) != 1 || args[0].Dynamic {
		return false
	}
	switch args[0].Text {
	case "--version", "-V", "-v", "-version", "--help":
	default:
		return false
	}
	switch name {
	case "bash", "sh", "zsh", "python", "python3", "pip", "pip3", "uv", "node", "npx", "bun", "deno", "cargo", "rustc", "rustup", "java", "javac",
		"ruby", "gem", "perl", "php", "gcc", "clang", "make", "cmake", "docker", "kubectl", "terraform", "claude", "codex", "gt", "gofmt",
		"jj", "hg", "svn", "curl", "wget", "tmux", "sqlite3", "psql", "tsc", "eslint", "prettier", "ruff", "black", "mypy", "pytest":
		return args[0].Text != "-v" || name == "node" || name == "php"
	}
	return false
}

func ghReadOnly(args []arg) bool {
	if slices.ContainsFunc(args, arg.maybeOption) {
		return false
	}
	words := plainWords(args, valueFlags{"R", []string{"--repo"}}, 2)
	for _, f := range optionNames(args, valueFlags{}) {
		if f == "--web" || f == "-w" {
			return false
		}
	}
	if len(words) == 0 {
		return len(args) > 0
	}
	if words[0] == "search" || words[0] == "status" || words[0] == "version" || words[0] == "help" {
		return true
	}
	if words[0] == "api" {
		return noneBegins(args, "-X", "--method", "-f", "-F", "--field", "--raw-field", "--input")
	}
	if len(words) < 2 {
		return true
	}
	switch words[0] {
	case "pr":
		return slices.Contains([]string{"view", "list", "ls", "checks", "diff", "status"}, words[1])
	case "issue", "run", "repo", "release", "workflow", "label", "gist", "secret", "variable", "auth", "cache", "ruleset":
		return slices.Contains([]string{"view", "list", "ls", "status"}, words[1])
	}
	return false
}

func gitReadOnly(c command) bool {
	call := parseGit(c)
	if call.none {
		return true
	}
	if call.exec || slices.ContainsFunc(call.config, riskyConfig) {
		return false
	}
	// A word in front of the subcommand that is not known could be anything.
	for _, a := range c.Args[1 : len(c.Args)-len(call.args)] {
		if a.Dynamic {
			return false
		}
	}
	args := call.args
	if slices.ContainsFunc(beforeDashes(args), arg.maybeOption) {
		return false
	}
	rest := operands(args)
	switch call.sub {
	case "log", "diff", "show", "shortlog", "whatchanged", "diff-tree", "diff-index", "diff-files", "range-diff", "format-rev":
		return noneBegins(beforeDashes(args), "--ou", "--ext-diff")
	case "status", "blame", "annotate", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe", "cat-file", "name-rev", "merge-base",
		"for-each-ref", "show-ref", "show-branch", "var", "version", "help", "count-objects", "check-ignore", "check-attr", "cherry",
		"verify-commit", "verify-tag", "get-tar-commit-id", "check-ref-format", "check-mailmap", "patch-id":
		return true
	case "grep":
		return noShort(args, "O", "efABCm") && noneBegins(beforeDashes(args), "--op")
	case "ls-remote":
		return noneBegins(args, "--u", "--e") && !slices.ContainsFunc(rest, func(a arg) bool { return strings.Contains(a.Text, "::") })
	case "symbolic-ref":
		return len(rest) <= 1 && noShort(args, "dm", "") && noneBegins(args, "--d")
	case "reflog":
		return len(rest) == 0 || !slices.Contains([]string{"expire", "delete", "write", "drop"}, rest[0].Text)
	case "stash":
		return first(args, "list", "show")
	case "worktree", "notes":
		return first(args, "list") || call.sub == "notes" && first(args, "show")
	case "submodule":
		return len(args) == 0 || first(args, "status", "summary")
	case "bisect":
		return first(args, "log")
	case "remote":
		return len(args) == 0 || first(args, "show", "get-url") || len(rest) == 0
	case "config":
		return gitConfigReadOnly(args, rest)
	case "branch":
		return gitBranchReadOnly(args, rest)
	case "tag":
		return gitTagReadOnly(args, rest)
	}
	return false
}

func beforeDashes(args []arg) []arg {
	if i := slices.IndexFunc(args, func(a arg) bool { return a.Text == "--" && !a.Dynamic }); i >= 0 {
		return args[:i]
	}
	return args
}

// riskyConfig reports whether git -c KEY=VALUE could make a reading command
// run a program.
func riskyConfig(kv string) bool {
	key, value, _ := strings.Cut(strings.ToLower(kv), "=")
	switch key {
	case "core.quotepath", "core.abbrev", "log.showsignature", "log.date", "diff.renames", "diff.context", "diff.noprefix", "diff.algorithm",
		"status.short", "grep.linenumber", "core.optionallocks":
		return false
	case "core.pager":
		return value != "cat" && value != ""
	}
	if strings.HasPrefix(key, "pager.") {
		return value != "false" && value != "cat"
	}
	return !strings.HasPrefix(key, "color.") && !strings.HasPrefix(key, "advice.") && !strings.HasPrefix(key, "user.") && !strings.HasPrefix(key, "column.")
}

func listFilter(opt string) bool {
	for _, p := range []string{"--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--sort", "--format"} {
		if opt == p || strings.HasPrefix(opt, p+"=") {
			return true
		}
	}
	return false
}

func gitBranchReadOnly(args, rest []arg) bool {
	list := false
	for _, a := range args {
		if a.Text == "--" {
			break
		}
		if !strings.HasPrefix(a.Text, "-") {
			continue
		}
		switch {
		case a.Text == "--list" || a.Text == "-l" || listFilter(a.Text):
			list = true
		case strings.HasPrefix(a.Text, "--"):
			name, _, _ := strings.Cut(a.Text, "=")
			if !slices.Contains([]string{"--all", "--remotes", "--show-current", "--verbose", "--color", "--no-color", "--column", "--no-column", "--abbrev", "--no-abbrev", "--ignore-case", "--omit-empty"}, name) {
				return false
			}
		case strings.Trim(a.Text, "-avrli") != "":
			return false
		default:
			list = list || strings.Contains(a.Text, "l")
		}
	}
	return list || len(rest) == 0
}

func gitTagReadOnly(args, rest []arg) bool {
	list := false
	for _, a := range beforeDashes(args) {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case !strings.HasPrefix(a.Text, "-"):
		case name == "-l" || name == "--list" || strings.Trim(name, "0123456789") == "-n" || listFilter(a.Text):
			list = true
		case !slices.Contains([]string{"-i", "--ignore-case", "--column", "--no-column", "--color", "--no-color", "--omit-empty"}, name):
			return false
		}
	}
	return list || len(rest) == 0
}

func gitConfigReadOnly(args, rest []arg) bool {
	for _, a := range beforeDashes(args) {
		name, _, _ := strings.Cut(a.Text, "=")
		switch name {
		case "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list", "-l":
			return true
		case "--global", "--system", "--local", "--worktree", "--show-origin", "--show-scope", "--name-only", "--null", "-z", "--type", "--bool",
			"--int", "--path", "--file", "-f", "--blob", "--includes", "--no-includes", "--default", "--all", "--regexp", "--value", "--bool-or-int", "--expiry-date":
		default:
			if strings.HasPrefix(name, "-") {
				return false
			}
		}
	}
	if first(rest, "get", "list") {
		return true
	}
	return len(rest) == 1 && strings.Contains(rest[0].Text, ".")
}
