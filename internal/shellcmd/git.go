package shellcmd

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// gitCommit is one run of git commit that a line asks for.
type gitCommit struct {
	// Dir is the directory git works in, as command.Dir; DirKnown is false
	// when the line does not tell.
	Dir      string
	DirKnown bool
	// GitDir is the repository given by --git-dir or GIT_DIR, seen from Dir.
	GitDir string
	// Quiet says that a successful commit prints nothing the line shows.
	Quiet bool
	// Subject is the first line of the message where the line tells it.
	Subject string
	// Decides is as in command.
	Decides bool
	// Dated says that the committer date was set, so the reflog's time is
	// not the time of the commit.
	Dated bool
}

// gitCommits splits a line's commands into the commits they ask git for and the
// rest that could have made one unseen: scripts, unknown programs, unknown git
// subcommands. Only git commit counts, also behind an alias: merge, rebase,
// cherry-pick, revert, am and pull bring in or move work that is finished
// already, and commit-tree is plumbing. Forms that never commit (--dry-run,
// --short, --help) are left out.
//
// aliases gives the value of a git alias; it may be nil.
func gitCommits(cmds []command, aliases func(string) (string, bool)) (commits []gitCommit, opaque bool) {
	g := findGit(cmds, aliases)
	return g.commits, g.opaque
}

func findGit(cmds []command, aliases func(string) (string, bool)) gitFinder {
	g := gitFinder{aliases: aliases, fuel: maxSteps}
	for _, c := range cmds {
		g.command(c, 0)
	}
	return g
}

// maxCommits is how many commits of one line are looked for.
const maxCommits = 64

type gitFinder struct {
	aliases func(string) (string, bool)
	fuel    int
	commits []gitCommit
	opaque  bool
	moves   bool // git revert or cherry-pick is run
}

func (g *gitFinder) command(c command, depth int) {
	if len(c.Args) == 0 {
		return
	}
	// An alias may run itself, as often as it likes.
	if g.fuel -= 256; g.fuel < 0 {
		g.opaque = true
		return
	}
	if c.name() != "git" {
		g.opaque = g.opaque || !g.inert(c)
		return
	}
	g.call(c, parseGit(c), depth)
}

func (g *gitFinder) call(c command, call gitCall, depth int) {
	switch {
	case call.none:
	case call.sub == "" || depth > 5:
		g.opaque = true
	case call.sub == "commit":
		o := parseCommitOptions(call.args)
		if o.never {
			return
		}
		// A repository is read for each.
		if len(g.commits) == maxCommits {
			g.opaque = true
			return
		}
		g.commits = append(g.commits, gitCommit{
			Dir: call.dir, DirKnown: call.dirKnown, GitDir: call.gitDir,
			Quiet: o.quiet || c.Hidden, Subject: o.subject, Decides: c.Decides,
			Dated: slices.ContainsFunc(c.Env, func(a assign) bool { return a.Name == "GIT_COMMITTER_DATE" }),
		})
	case call.sub == "submodule":
		g.opaque = g.opaque || slices.ContainsFunc(call.args, func(a arg) bool { return a.Text == "foreach" })
	case strings.Contains(gitBuiltins, " "+call.sub+" "):
		g.moves = g.moves || call.sub == "revert" || call.sub == "cherry-pick"
	default:
		g.viaAlias(c, call, depth)
	}
}

func (g *gitFinder) viaAlias(c command, call gitCall, depth int) {
	value, ok := "", false
	if g.aliases != nil {
		value, ok = g.aliases(strings.ToLower(call.sub))
	}
	if !ok {
		g.opaque = true
		return
	}
	if script, ok := strings.CutPrefix(strings.TrimSpace(value), "!"); ok {
		// git runs sh -c 'script "$@"' with the arguments of the alias.
		texts := []string{script}
		for _, a := range call.args {
			texts = append(texts, quote(a.Text))
		}
		text := strings.Join(texts, " ")
		g.fuel -= 4 * len(text)
		inner, err := parse(text)
		if err != nil || g.fuel < 0 {
			g.opaque = true
			return
		}
		for _, i := range inner {
			i.Hidden = i.Hidden || c.Hidden
			i.Decides = i.Decides && c.Decides
			i.Env = append(slices.Clip(c.Env), i.Env...)
			if !rooted(i.Dir) {
				i.Dir = within(call.dir, i.Dir)
				i.DirKnown = i.DirKnown && call.dirKnown
			}
			g.command(i, depth+1)
		}
		return
	}
	next := c
	next.Dir, next.DirKnown = call.dir, call.dirKnown
	next.Args = []arg{{Text: "git"}}
	// git splits an alias at blanks and understands quotes, as a shell does.
	if words, err := parse("git " + value); err == nil && len(words) == 1 {
		next.Args = slices.Clone(words[0].Args)
	} else {
		for f := range strings.FieldsSeq(value) {
			next.Args = append(next.Args, literal(f))
		}
	}
	next.Args = append(next.Args, call.args...)
	again := parseGit(next)
	again.gitDir = cmp.Or(again.gitDir, call.gitDir)
	g.call(c, again, depth+1)
}

// gitCall is a git command line taken apart.
type gitCall struct {
	sub      string
	args     []arg
	dir      string
	dirKnown bool
	gitDir   string
	none     bool // --version, --help: nothing else is run
}

func parseGit(c command) gitCall {
	call := gitCall{dir: c.Dir, dirKnown: c.DirKnown}
	for _, a := range c.Env {
		if a.Name == "GIT_DIR" {
			call.gitDir = a.Value.Text
		}
	}
	args := c.Args[1:]
	i := 0
	value := func(attached string, ok bool) arg {
		if ok {
			return arg{Text: attached, Dynamic: args[i].Dynamic}
		}
		if i++; i < len(args) {
			return args[i]
		}
		return arg{}
	}
	for ; i < len(args); i++ {
		a := args[i].Text
		if a == "" && args[i].Dynamic {
			// Options in a variable, or the subcommand itself.
			if i+1 < len(args) && strings.HasPrefix(args[i+1].Text, "-") || i+1 == len(args) {
				return call
			}
			continue
		}
		if !strings.HasPrefix(a, "-") {
			call.sub, call.args = a, args[i+1:]
			break
		}
		name, attached, has := strings.Cut(a, "=")
		switch name {
		case "-C":
			v := value("", false)
			if v.Text == "" && v.Dynamic {
				call.dirKnown = false
				continue
			}
			call.dir, call.dirKnown = within(call.dir, v.Text), call.dirKnown || rooted(v.Text)
		case "-c":
			value("", false)
		case "--git-dir":
			call.gitDir = value(attached, has).Text
		case "--work-tree", "--namespace", "--super-prefix", "--attr-source", "--config-env":
			value(attached, has)
		case "--exec-path":
			call.none = !has
		case "--version", "-v", "--help", "-h", "--html-path", "--man-path", "--info-path":
			call.none = true
			return call
		}
	}
	if len(args) == 0 {
		call.none = true
	}
	return call
}

type commitOptions struct {
	never, quiet bool
	subject      string
}

// parseCommitOptions reads the options of git commit far enough to tell a
// message that says --dry-run from the option.
func parseCommitOptions(args []arg) (o commitOptions) {
	messages := 0
	values := named("--message", "--file", "--reuse-message", "--reedit-message", "--fixup", "--squash", "--author", "--date", "--template", "--trailer", "--cleanup", "--pathspec-from-file")
	for _, opt := range options(args, valueFlags{short: "mFCct", perhaps: "Su", long: values}) {
		switch opt.name {
		case "-m", "--message":
			if messages++; messages == 1 && !opt.value.Dynamic {
				o.subject, _, _ = strings.Cut(strings.TrimSpace(opt.value.Text), "\n")
				o.subject = strings.TrimSpace(o.subject)
			}
		case "-q", "--quiet":
			o.quiet = true
		case "-h", "--help", "-z", "--null", "--dry-run", "--porcelain", "--short", "--long":
			o.never = true
		}
	}
	return o
}

// gitBuiltins are the subcommands that make no commit by git commit's rules and
// cannot be replaced by an alias.
const gitBuiltins = " add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index " +
	"cherry cherry-pick clean clone column commit-graph commit-tree config count-objects credential describe diff diff-files diff-index diff-tree difftool " +
	"fast-export fast-import fetch fetch-pack for-each-ref format-patch fsck gc get-tar-commit-id grep gui hash-object help index-pack init init-db " +
	"instaweb interpret-trailers log ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file merge-tree mergetool mktag mktree multi-pack-index " +
	"mv name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace request-pull " +
	"rerere reset restore rev-list rev-parse revert rm send-email shortlog show show-branch show-ref sparse-checkout stage stash status stripspace switch " +
	"symbolic-ref tag update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree "

// inert reports whether a program other than git cannot commit: what it does is
// known and does not run other programs of the user.
func (g *gitFinder) inert(c command) bool {
	words := slices.Clone(c.Args)
	for i, a := range words {
		if !a.Dynamic {
			words[i] = literal(a.Text)
		}
	}
	check := newGuard(g.fuel)
	check.run(words)
	if g.fuel = check.fuel; check.err == nil {
		return true
	}
	if c.Args[0].Dynamic || c.Args[0].Text != c.name() && !systemPath(c.Args[0].Text) {
		return false
	}
	return strings.Contains(inert, " "+c.name()+" ")
}

// inert are programs that write, but make no commits.
const inert = " sort uniq tee date file tree hostname mkdir rmdir rm cp mv ln touch chmod chown install truncate mktemp dd split tar gzip gunzip zip unzip xz patch " +
	"xxd kill pkill clear reset alias unalias env curl wget gh glab kubectl docker podman journalctl systemctl aws gcloud az ping dig nc rsync scp brew apt " +
	"apt-get pip pip3 less more top "

// systemPath reports whether a program is given by a path of the system.
func systemPath(p string) bool {
	dir, name := path.Split(p)
	return name != "" && slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir)
}
