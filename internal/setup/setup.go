// Package setup installs Overtone in its hosts, takes it out again, and looks
// after it: init, uninstall, doctor.
//
// It looks first and writes nothing before it is told to: a plan is a [Report] of
// what would change, which is shown on a terminal and agreed to, and Apply makes it
// so. What differs between hosts is asked of the host.
package setup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Env is what the package needs of the world.
type Env struct {
	Folders store.Folders
	Home    *store.Home
	Hook    string // the program for hooks, see [HookProgram]
	Dir     string // working directory
	Getenv  func(string) string
	Environ func() []string
	Now     func() time.Time
	Version string // of the product
	Build   string // the same with the revision, as --version prints it
	Lang    message.Lang
	// Progress is told how many programs of how many have said their version; may be nil.
	Progress func(done, total int64)

	versions map[string]asked // of programs that were asked
}

type asked struct {
	host.Version
	err error
}

// Ask asks the programs of hosts for their versions, all at once: each takes up to seconds
// to start.
func (e *Env) Ask(ctx context.Context, hosts []*host.Host) {
	e.versions = map[string]asked{}
	var bins []string
	for _, h := range hosts {
		if bin, err := exec.LookPath(h.Program); err == nil {
			bins = append(bins, bin)
		}
	}
	var wait sync.WaitGroup
	var mutex sync.Mutex
	e.tell(0, len(bins))
	for _, bin := range bins {
		wait.Go(func() {
			v, err := host.Ask(ctx, bin, e.Environ())
			mutex.Lock()
			defer mutex.Unlock()
			e.versions[bin] = asked{v, err}
			e.tell(len(e.versions), len(bins))
		})
	}
	wait.Wait()
}

func (e *Env) tell(done, total int) {
	if e.Progress != nil {
		e.Progress(int64(done), int64(total))
	}
}

// version is what a program that was asked calls itself.
func (e *Env) version(ctx context.Context, bin string) (host.Version, error) {
	if a, ok := e.versions[bin]; ok {
		return a.Version, a.err
	}
	return host.Ask(ctx, bin, e.Environ())
}

func (e Env) config() (config.Config, []config.Problem) {
	return config.Load(e.Home.ConfigFile(), e.Getenv)
}

// write replaces a file of a host's, and takes away what killed runs left beside it.
func (e Env) write(f *host.File) error {
	store.SweepTemp(filepath.Dir(f.Target), e.Now())
	return f.Write()
}

func (e Env) backups() host.Backups {
	return host.Backups{Dir: filepath.Join(e.Home.Root(), "backup")}
}

// setup is the installation in a host, with or without workflows as it is.
func (e Env) setup(h *host.Host, cfg config.Compact) host.Setup {
	s := e.setupWith(h, cfg, false)
	if s.Bare() {
		return e.setupWith(h, cfg, true)
	}
	return s
}

func (e Env) setupWith(h *host.Host, cfg config.Compact, noWorkflows bool) host.Setup {
	return h.Setup(host.Place{
		User: e.Folders.User, Dir: h.Dir(e.Folders.Find), Root: e.Home.Root(), Hook: e.Hook, Project: e.Dir, Getenv: e.Getenv,
		Window: cfg.NativeWindow, Percent: cfg.NativePercent, NoWorkflows: noWorkflows,
	})
}

// Report is what a run would change, or has.
type Report struct {
	Schema   int          `json:"schema"`
	Host     string       `json:"host,omitempty"`
	DryRun   bool         `json:"dryRun"`
	Changed  bool         `json:"changed"`
	Mode     string       `json:"mode,omitempty"`
	Language string       `json:"language,omitempty"`
	Files    []fileReport `json:"files"`
	Backup   string       `json:"backup,omitempty"`
	Warnings []string     `json:"warnings"`
}

type action string

const (
	create action = "create"
	edit   action = "edit"
	remove action = "remove"
	keep   action = "keep"
)

type fileReport struct {
	Path   string `json:"path"`
	Action action `json:"action"`
	Diff   string `json:"diff,omitempty"`
	Count  int    `json:"count,omitempty"` // files below the plugin's folder

	keys []string // that are written
}

type change struct {
	Report
	env      Env
	settings []*host.File // the host's, undone by uninstall
	own      []*host.File // ours, of which it takes back mode auto alone
}

func newChange(e Env, h *host.Host) change {
	c := change{env: e, Report: Report{Schema: 1, Files: []fileReport{}, Warnings: []string{}}}
	if h != nil {
		c.Host = string(h.Name)
	}
	return c
}

func (c *change) warn(t message.Text, args ...any) {
	c.Warnings = append(c.Warnings, t.Format(c.env.Lang, args...))
}

// runs are those that were not undone.
func (c *change) runs(name host.Name) []host.Manifest {
	runs, err := c.env.backups().Open(name)
	if err != nil {
		c.warn(message.WarnConfig, err.Error())
	}
	return runs
}

func (c *change) load(path string) (host.File, error) {
	f, err := host.Open(path)
	if err != nil {
		err = c.jsonHint(err, path)
	}
	return f, err
}

func (c *change) jsonHint(err error, path string) error {
	return message.WithHint(err, message.HintBrokenJSON, c.env.Folders.Short(path))
}

func (c *change) describe() {
	for _, f := range append(slices.Clone(c.own), c.settings...) {
		r := fileReport{Path: f.Path, Action: keep}
		switch {
		case !f.Changed():
		case f.Gone:
			r.Action = remove
		case !f.Exists:
			r.Action = create
		default:
			r.Action = edit
		}
		if f.Changed() && (f.Exists || slices.Contains(c.settings, f)) {
			r.Diff, r.keys = c.diff(f), keys(f)
		}
		c.Files = append(c.Files, r)
	}
	c.Changed = slices.ContainsFunc(c.Files, func(r fileReport) bool { return r.Action != keep })
}

// keys are those of a file that are written: a variable by its name, any other by the
// first part of its path.
func keys(f *host.File) (list []string) {
	if f.Gone {
		return nil
	}
	for _, e := range f.Edits {
		key := ""
		switch {
		case e.Block:
			key = "mcp_servers"
		case len(e.Path) > 1 && e.Path[0] == "env":
			key = e.Path[1]
		case len(e.Path) > 0:
			key = e.Path[0]
		}
		list = append(list, key)
	}
	return list
}

func (c *change) diff(f *host.File) string {
	before, after := c.env.Folders.Short(f.Path), c.env.Folders.Short(f.Path)
	if !f.Exists {
		before = os.DevNull
	}
	now := f.After
	if f.Gone {
		after, now = os.DevNull, nil
	}
	return string(diff.Diff(before, f.Before, after, now))
}

// self compares this program with the one that hooks will find. Either may be
// unknown.
func self() (path, found string, same bool) {
	path, _ = os.Executable()
	found, err := exec.LookPath("overtone")
	if err != nil {
		return path, "", false
	}
	x, err1 := os.Stat(path)
	y, err2 := os.Stat(found)
	return path, found, err1 == nil && err2 == nil && os.SameFile(x, y)
}

// HookProgram is the program for hooks that lies beside this one, "" where there is
// none. A folder on PATH comes first: what a package manager puts there stays when it
// replaces the files behind.
func HookProgram() string {
	path, found, same := self()
	places := []string{path}
	if same {
		places = []string{found, path}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		places = append(places, real)
	}
	for _, p := range places {
		p = filepath.Join(filepath.Dir(p), host.HookProgram)
		if hook, err := exec.LookPath(p); err == nil && filepath.IsAbs(hook) {
			return hook
		}
	}
	return ""
}
