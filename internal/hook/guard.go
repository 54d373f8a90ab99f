package hook

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// guard keeps the main agent a relay while a workflow runs.
func (c *call) guard(rest host.Reply) (host.Reply, error) {
	tool := c.in.Tool
	if !c.cfg.Workflow.Guard {
		return rest, nil
	}
	s, err := session.Peek(c.sess)
	if err != nil {
		return c.closed(rest, err)
	}
	if s == nil {
		return rest, nil
	}
	reason := ""
	readOnly := func(line string) bool {
		ok, why := c.place().ReadOnly(line)
		if !ok {
			reason = why.In(c.lang)
		}
		return ok
	}
	if c.late && !c.denied || !c.late && workflow.Guard(s, tool.Kind.Edits(), tool.Command, readOnly) {
		return rest, nil
	}
	c.denied = true
	rests := false
	err = c.update(func(tx *session.Tx) error {
		rests = tx.Active() && c.host.Delivers && c.rests(tx)
		return tx.Emit(store.On(message.EventToolGuarded, "toolName", tool.Name))
	})
	r := host.Reply{Deny: workflow.GuardText(s, tool.Name, reason, c.lang)}
	switch {
	case err != nil:
		c.complain("timeline", err)
	case rests && !c.late && rest.Deny == "":
		// The turn is the user's: so is the answer.
		r.Deny, r.Ask = message.GuardRests.Format(c.lang, s.WorkflowType, tool.Name), c.host.Asks
		if r.Ask {
			r.Person = r.Deny
		}
	}
	return r, nil
}

// place is where a command is run.
func (c *call) place() shellcmd.Place {
	return shellcmd.Place{Dir: cmp.Or(c.in.Cwd, c.env.Dir), Home: c.env.Getenv("HOME")}
}

// closed is the guard's answer where the state cannot be read: whether a workflow
// runs is not known, so the main agent reads, asks and delegates only. Where not even
// the folder is there, no workflow has ever run.
func (c *call) closed(rest host.Reply, err error) (host.Reply, error) {
	tool := c.in.Tool
	if c.host.Name == "" || c.late || errors.Is(err, syscall.ENOTDIR) {
		return rest, err
	}
	reads := tool.Kind == host.ShellTool && tool.Command != ""
	if reads {
		reads, _ = c.place().ReadOnly(tool.Command)
	}
	if reads || tool.Kind != host.ShellTool && !tool.Kind.Edits() {
		return rest, err
	}
	c.denied = true
	c.complain("guard", err)
	way := message.GuardUnreadCancel.Format(c.lang, c.sess.ID())
	if errors.Is(err, workflow.ErrNewer) {
		way = message.GuardUnreadNewer.Format(c.lang, way)
	}
	emit := c.sess.Update(func(tx *store.Tx) error { return tx.Emit(store.On(message.EventToolGuarded, "toolName", tool.Name)) })
	if emit != nil {
		c.complain("timeline", emit)
	}
	return host.Reply{
		Deny:   message.GuardUnread.Format(c.lang, tool.Name) + "\n" + way,
		Person: message.GuardUnreadPerson.Format(c.lang, c.sess.ID()) + way,
	}, nil
}

// undecided is the answer of a call that panicked. What makes the guard panic must not
// open it.
func (c *call) undecided() host.Reply {
	tool := c.in.Tool
	if c.event != "pre-tool-use" || c.host.Name == "" || c.sess == nil || c.late || !c.in.Main() || !c.cfg.Workflow.Guard {
		return host.Reply{}
	}
	s, err := session.Peek(c.sess)
	if err != nil || s == nil || !s.Active || tool.Kind != host.ShellTool && !tool.Kind.Edits() {
		return host.Reply{}
	}
	return host.Reply{Deny: workflow.GuardText(s, tool.Name, "", c.lang)}
}

// ownFile is the first file of ours that a tool would write, "" for none. It belongs to
// the user, whoever asks: what is trusted, settings, the states of sessions. While a
// workflow runs, so do the host's settings, which call the guard. Reports of stages and
// workflows that are files are for agents to write.
func (c *call) ownFile(tool host.Tool) string {
	for _, file := range tool.Changes() {
		if slices.ContainsFunc(c.spellings(file), c.isOwn) {
			return file
		}
	}
	return ""
}

func (c *call) isOwn(path string) bool {
	if name, ok := below(c.home.ClaudeDir(), path); ok && filepath.Dir(c.home.ClaudeDir()) == c.home.Root() {
		return store.IsState(name)
	}
	if rest, ok := below(c.home.Root(), path); ok {
		first, _, _ := strings.Cut(rest, string(filepath.Separator))
		return !strings.EqualFold(first, "workflows")
	}
	if name, ok := below(c.home.ClaudeDir(), path); ok && store.IsState(name) {
		return true
	}
	if c.host.Name == "" {
		return false
	}
	folders, _ := store.FindFolders(c.env.Getenv)
	dir := c.host.Dir(folders.Find)
	name, ok := below(dir, path)
	if !ok {
		return false
	}
	if s, err := session.Peek(c.sess); err == nil && (s == nil || !s.Active) {
		return false
	}
	files := c.host.SettingsFiles(host.Place{User: folders.User, Dir: dir, Root: folders.Root})
	return slices.ContainsFunc(files, func(f string) bool { return strings.EqualFold(f, filepath.Join(dir, name)) })
}

// spellings are the files that a path may mean: as a host that takes ".." out of the
// text reads it, and as the system does that follows links first.
func (c *call) spellings(path string) []string {
	path = filepath.FromSlash(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = c.env.Getenv("HOME") + rest
	}
	if !filepath.IsAbs(path) {
		path = c.place().Dir + string(filepath.Separator) + path
	}
	clean := filepath.Clean(path)
	return slices.Compact([]string{clean, followed(clean, maxLinks), followed(path, maxLinks)})
}

const maxLinks = 40 // the system's own limit

// followed is a path without links. What is not there yet stays as it is written, but a
// link that leads to nothing is followed as well: writing through it makes the file.
func followed(path string, links int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || links == 0 {
		return real
	}
	dir, name := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
	if name == "" {
		return path
	}
	if to, err := os.Readlink(filepath.Join(dir, name)); err == nil && name != ".." {
		if !filepath.IsAbs(to) {
			to = dir + to
		}
		return followed(to, links-1)
	}
	return filepath.Join(followed(dir, links), name)
}

// below is the rest of a path inside a folder, under any name of the folder. Case is
// never told apart: a file system that does has no such folder beside ours.
func below(dir, path string) (string, bool) {
	info, err := os.Stat(dir)
	for at := path; ; at = filepath.Dir(at) {
		there, missing := os.Stat(at)
		if strings.EqualFold(at, dir) || err == nil && missing == nil && os.SameFile(info, there) {
			rest := strings.TrimPrefix(path[len(at):], string(filepath.Separator))
			return rest, rest != ""
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}
