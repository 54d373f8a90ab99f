package shellcmd

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Observation is what is known about one finished command line. Only Line is
// needed; every other field adds evidence.
type Observation struct {
	Line string
	// Cwd is the absolute directory in which the line started, Home the
	// user's home directory.
	Cwd, Home string
	// Output is what the line printed, as far as the host kept it.
	Output string
	// Exit is the line's exit status, nil when the host does not tell.
	Exit *int
	// Started and Ended are the host's times.
	Started, Ended time.Time
	// Until is when the line was over, where its repositories are looked at
	// later: what came after is somebody else's.
	Until time.Time
	// Unheard says that how the line ended is not known, or that it may not have
	// run at all: of what is new in a log only a commit with the line's own
	// message is taken for its own.
	Unheard bool
	// Before holds the repositories as they were before the line ran.
	Before []Mark
	// Head reads a repository as it is now, usually ReadHead. Nil means that
	// no repository may be read.
	Head func(dir string) (Head, error)
	// Taken reports whether somebody else has said that he makes such a commit; nil
	// means that nobody has. It is asked of commits that nothing but the time ties
	// to the line.
	Taken func(gitDir, subject string, at time.Time) bool
	// Aliases gives git aliases; nil means none.
	Aliases func(name string) (string, bool)
}

// Made is a commit that was seen.
type Made struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject,omitempty"`
}

// Verdict is the answer of Committed.
type Verdict struct {
	Committed bool
	Commits   []Made
}

// dirs lists the directories in which line may commit, for Snapshot.
func dirs(o Observation) []string {
	dirs := []string{o.Cwd}
	cmds, err := parse(o.Line)
	if err != nil {
		return dirs
	}
	commits, opaque := gitCommits(cmds, o.Aliases)
	if len(commits) == 0 && !opaque {
		return nil
	}
	for _, c := range commits {
		if dir, ok := c.repo(o); ok && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Asked is a commit that a line asks git for in so many words.
type Asked struct {
	GitDir  string
	Subject string // "" where the line does not tell
}

// Asks lists the commits that the line asks for.
func Asks(o Observation) (list []Asked) {
	cmds, err := parse(o.Line)
	if err != nil {
		return nil
	}
	commits, _ := gitCommits(cmds, o.Aliases)
	for _, c := range commits {
		dir, ok := c.repo(o)
		if !ok {
			continue
		}
		if gitDir, err := findGitDir(dir); err == nil {
			list = append(list, Asked{GitDir: gitDir, Subject: c.Subject})
		}
	}
	return list
}

// Snapshot reads the marks of the repositories in which the line may commit.
// Taken before the line runs, they make Committed exact. It reads nothing for
// a line that cannot commit.
func Snapshot(o Observation) []Mark {
	if o.Head == nil {
		return nil
	}
	var marks []Mark
	for _, dir := range dirs(o) {
		if h, err := o.Head(dir); err == nil && !slices.ContainsFunc(marks, func(m Mark) bool { return m.GitDir == h.GitDir }) {
			marks = append(marks, h.mark())
		}
	}
	return marks
}

// repo is the directory in which the commit's repository is found.
func (c gitCommit) repo(o Observation) (string, bool) {
	if !c.DirKnown {
		return "", false
	}
	dir, err := resolve(c.Dir, o.Cwd, o.Home)
	if err != nil {
		return "", false
	}
	if c.GitDir == "" {
		return dir, true
	}
	dir, err = resolve(within(dir, c.GitDir), o.Cwd, o.Home)
	return dir, err == nil
}

// Committed judges whether the line made a commit with git commit.
//
// A line that runs neither git commit nor anything unknown did not. Otherwise
// the repository's log decides where it can be compared with a mark or with the
// line's times; then git's own output line; and only where both are missing the
// exit status, if it can only be 0 when the commit worked. So a commit followed
// by a failing push counts, and a masked "nothing to commit" does not.
func Committed(o Observation) Verdict {
	cmds, err := parse(o.Line)
	var commits []gitCommit
	opaque := err != nil
	if err == nil {
		commits, opaque = gitCommits(cmds, o.Aliases)
	}
	if len(commits) == 0 && !opaque {
		return Verdict{}
	}
	printed := printedCommits(o)
	repos := o.inspect(commits)
	settled := len(repos.seen) > 0 && !repos.missing
	if len(commits)+len(printed) > 0 {
		o.Taken = nil
	}
	for _, r := range repos.seen {
		if made := o.own(r.made(o, printed), commits, opaque, printed); len(made) > 0 {
			return Verdict{Committed: true, Commits: made}
		}
		if r.marked && !r.logged {
			if len(commits) > 0 && r.head.Hash != r.mark.Hash && !o.Unheard {
				return Verdict{Committed: true, Commits: []Made{{Hash: r.head.Hash}}}
			}
			settled = settled && r.head.Hash == r.mark.Hash
			continue
		}
		settled = settled && r.logged && (r.marked || !o.Started.IsZero() && !r.dated)
	}
	if settled {
		return Verdict{}
	}
	if len(printed) > 0 && (len(commits) > 0 || len(repos.seen) == 0) {
		return Verdict{Committed: true, Commits: printed}
	}
	if len(commits) == 0 {
		return Verdict{}
	}
	for _, c := range commits {
		// A commit that is not quiet prints something, worked or not: where
		// the output is empty, the host did not keep it.
		if (c.Quiet || o.Output == "") && c.Decides && o.Exit != nil && *o.Exit == 0 {
			return Verdict{Committed: true}
		}
	}
	return Verdict{}
}

// Moved lists the commits that a line made of others, by git revert or cherry-pick, as far
// as git printed them. They bring in or take back work that is finished already, so they
// are no [Verdict.Commits]; but it is the line that made them.
func Moved(o Observation) []Made {
	printed := printedCommits(o)
	if len(printed) == 0 {
		return nil
	}
	if cmds, err := parse(o.Line); err != nil || !findGit(cmds, o.Aliases).moves {
		return nil
	}
	return printed
}

type repoState struct {
	head   Head
	mark   Mark
	marked bool
	logged bool
	dated  bool // the line sets the time of its commits
}

type repoStates struct {
	seen    []repoState
	missing bool // a repository of the line could not be read
}

func (o Observation) inspect(commits []gitCommit) repoStates {
	var out repoStates
	if o.Head == nil {
		out.missing = true
		return out
	}
	look := func(dir string) {
		h, err := o.Head(dir)
		if err != nil {
			out.missing = true
			return
		}
		if slices.ContainsFunc(out.seen, func(r repoState) bool { return r.head.GitDir == h.GitDir }) {
			return
		}
		r := repoState{head: h, logged: len(h.Log) > 0, dated: slices.ContainsFunc(commits, func(c gitCommit) bool { return c.Dated })}
		if i := slices.IndexFunc(o.Before, func(m Mark) bool { return m.GitDir == h.GitDir }); i >= 0 {
			r.mark, r.marked = o.Before[i], true
			// A log that shrank was rewritten: its offsets mean nothing.
			r.logged = h.LogSize >= r.mark.LogSize && h.LogSize > 0
		}
		out.seen = append(out.seen, r)
	}
	for _, c := range commits {
		if dir, ok := c.repo(o); ok {
			look(dir)
		} else {
			out.missing = true
		}
	}
	if len(commits) == 0 && o.Cwd != "" {
		look(o.Cwd)
	}
	return out
}

// made lists the commits in a repository's log that belong to the line.
func (r repoState) made(o Observation, printed []Made) []Made {
	if !r.logged {
		return nil
	}
	var out []Made
	for _, e := range r.head.Log {
		if !e.isCommit() {
			continue
		}
		mine := false
		switch {
		case r.marked:
			mine = e.Offset >= r.mark.LogSize && (o.Until.IsZero() || !e.Time.After(o.Until) || r.dated)
		case !o.Started.IsZero():
			// The log has whole seconds, of a clock that may be a tick behind.
			mine = !e.Time.Before(o.Started.Add(-clockTick).Truncate(time.Second)) && (o.Ended.IsZero() || !e.Time.After(o.Ended))
		default:
			mine = slices.ContainsFunc(printed, func(m Made) bool { return strings.HasPrefix(e.New, m.Hash) })
		}
		if mine && (o.Taken == nil || !o.Taken(r.head.GitDir, e.Subject, e.Time)) {
			out = append(out, Made{Hash: e.New, Subject: e.Subject})
		}
	}
	return out
}

// own are those of a log's new commits that can be the line's. Others work in the
// same folder, and commit while it runs: what git printed names them, a message in
// the line tells them apart, and a commit that says that it failed made none.
func (o Observation) own(made []Made, commits []gitCommit, opaque bool, printed []Made) []Made {
	named := func(m Made) bool {
		return slices.ContainsFunc(printed, func(p Made) bool { return strings.HasPrefix(m.Hash, p.Hash) })
	}
	whole := len(o.Output) < outputKept
	failed := o.Exit != nil && whole && (*o.Exit != 0 || nothingCommitted(o.Output))
	worked := false // what the log says of it, the line does not
	mine := slices.DeleteFunc(slices.Clone(made), func(m Made) bool {
		if named(m) || opaque && !o.Unheard && len(commits)+len(printed) == 0 {
			return false
		}
		return !slices.ContainsFunc(commits, func(c gitCommit) bool {
			switch {
			case !c.Quiet && (failed || whole && len(printed) > 0):
				return false
			case c.Subject == "":
				return !o.Unheard
			}
			worked = worked || c.Decides && o.Exit != nil && *o.Exit == 0
			return strings.Contains(m.Subject, c.Subject)
		})
	})
	if len(mine) == 0 && worked { // a hook of the repository has written another message
		return made
	}
	return mine
}

// outputKept is how much output a host keeps whole, of all that are known.
const outputKept = 10_000

// nothingCommitted reports whether git commit says so.
func nothingCommitted(output string) bool {
	return strings.Contains(output, "nothing to commit") || strings.Contains(output, "no changes added to commit") ||
		strings.Contains(output, "nothing added to commit")
}

// clockTick is how far git's clock may lag: it asks the kernel for seconds, and
// is told those of the last timer tick. A commit in the first milliseconds of a
// second was dated before its own start.
const clockTick = 20 * time.Millisecond

// commitLine is what git prints for a new commit: the branch (or a translated
// "detached HEAD"), a note for the first commit, the hash, the subject.
var commitLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\[([^\[\]\n]+) ([0-9a-f]{7,64})\] (.*)$`)
})

// printedCommits finds git's own lines in the output. A line that stands
// letter for letter in the command was echoed from there.
func printedCommits(o Observation) []Made {
	// Most outputs hold no such line, and compiling the pattern costs a hook as
	// much as all its parsing.
	if !strings.HasPrefix(o.Output, "[") && !strings.Contains(o.Output, "\n[") {
		return nil
	}
	var out []Made
	for _, m := range commitLine().FindAllStringSubmatch(o.Output, 1000) {
		if strings.Contains(o.Line, strings.TrimRight(m[0], "\r")) {
			continue
		}
		out = append(out, Made{Hash: m[2], Subject: strings.TrimRight(m[3], "\r")})
	}
	return out
}
