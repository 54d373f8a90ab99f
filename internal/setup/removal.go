package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

type removal struct {
	change
	setups []host.Setup
	open   []host.Manifest // the runs that are taken back
	folder string          // removed as a whole
	// reports is the folder of the reports of stages; "" where the host has one for them.
	reports string
	inside  []host.Plugin // folders of ours among those of hosts
	// service keeps a watcher running; nil without one.
	service *serviceChange
}

// planMode forgets mode auto: whoever installs again later has not asked for it.
// Settings that cannot be edited keep nobody from uninstalling.
func (r *removal) planMode(hosts []*host.Host) {
	if !slices.ContainsFunc(hosts, func(h *host.Host) bool { return h.Gates }) {
		return
	}
	f, err := r.load(r.env.Home.ConfigFile())
	if err == nil && f.Exists {
		// The file's word alone counts: a variable of the environment is not ours to
		// take back.
		if cfg, _ := config.Load(f.Path, func(string) string { return "" }); cfg.Compact.Mode != "auto" {
			return
		}
		if f.After, err = config.Set(f.After, "compact.mode", "suggest"); err == nil {
			r.own = append(r.own, &f)
		}
	}
	if err != nil {
		r.warn(message.WarnConfig, err.Error())
	}
}

// planService takes a watcher's service back, too.
func (r *removal) planService() {
	s, err := r.env.WatchService(runtime.GOOS, "")
	if err != nil {
		return // none is known here, so none was installed
	}
	if c, err := r.env.planService(s, true); err == nil && c.Changed {
		r.service = c
	}
}

// RemovalOptions are what uninstall was asked for.
type RemovalOptions struct {
	Hosts              []*host.Host
	Host               string // as it was named, "" for all
	DryRun, Yes, Purge bool
	Clones             int // that were made here and stay with their agents
}

// planRemoval says what would be taken back from the hosts; with purge,
// Overtone's own folder goes too.
func (e Env) planRemoval(hosts []*host.Host, purge bool) (*removal, error) {
	r := &removal{change: newChange(e, nil)}
	root := e.Home.Root()
	if purge && (holds(root, e.Folders.User) || holds(root, e.Dir)) {
		return nil, message.WithHint(message.Fail(message.PurgeRefused, root), message.HintPurge)
	}
	cfg, _ := e.config()
	for _, h := range hosts {
		s := e.setup(h, cfg.Compact)
		runs := r.runs(h.Name)
		if err := r.planUndo(s, runs); err != nil {
			return nil, err
		}
		r.setups, r.open = append(r.setups, s), append(r.open, runs...)
		if h.Watched {
			r.planService()
		}
		switch _, err := os.Lstat(s.Plugin.Dir); {
		case s.Plugin.Dir == "" || err != nil:
		case s.Plugin.Shared:
			if s.Plugin.There() {
				r.inside = append(r.inside, s.Plugin)
			}
		default:
			r.folder = s.Plugin.Dir
		}
	}
	if !purge && len(r.open) > 0 {
		r.planMode(hosts)
	}
	// Reports of stages that are not in Claude Code's own folder.
	if _, err := os.Lstat(e.Home.ClaudeDir()); err == nil && filepath.Dir(e.Home.ClaudeDir()) == root && len(hosts) == len(host.All()) {
		r.reports = e.Home.ClaudeDir()
	}
	r.describe()
	if r.service != nil {
		r.Files, r.Changed = append(r.Files, r.service.Files...), true
	}
	if _, err := os.Lstat(root); purge && err == nil {
		r.folder = root
	}
	var goes []string
	for _, p := range r.inside {
		goes = append(goes, p.Dir)
	}
	for _, dir := range append(goes, r.reports, r.folder) {
		if dir != "" {
			r.Files, r.Changed = append(r.Files, fileReport{Path: dir, Action: remove}), true
		}
	}
	return r, nil
}

// holds reports whether dir is below folder, or is it.
func holds(folder, dir string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && filepath.IsLocal(rel)
}

// planUndo takes back what the runs changed, in every file they changed. A file
// that no run is known for is rid of what bears our name.
func (r *removal) planUndo(s host.Setup, runs []host.Manifest) error {
	paths := []string{s.Settings}
	for _, b := range s.Blocks {
		paths = append(paths, b.Path)
	}
	beside := map[string][]host.Edit{}
	for _, b := range s.Beside {
		paths, beside[b.Path] = append(paths, b.Path), b.Edits
	}
	for _, m := range runs {
		for _, e := range m.Files {
			if !e.Keep && !slices.Contains(paths, e.Path) {
				paths = append(paths, e.Path)
			}
		}
	}
	for _, path := range paths {
		f, err := r.load(path)
		if err != nil {
			return err
		}
		kept, err := f.Undo(runs, func(data []byte, edits []host.Edit) ([]byte, []host.Edit, error) {
			return r.undoBlocks(s, path, data, edits)
		})
		if err == nil && len(host.Edits(runs, path)) == 0 {
			if edits := beside[path]; edits != nil {
				kept, err = f.DropOwn(edits)
			} else if path == s.Settings {
				own := append(slices.Clone(s.Edits), s.Rounds...)
				if ours, _ := s.StatusLine(f.Before); ours {
					status := *s.Status
					status.Own = true // in whichever form
					own = append(own, status)
				}
				kept, err = f.DropOwn(own)
			} else {
				r.dropBlocks(s, &f)
			}
		}
		if err != nil {
			return r.jsonHint(err, path)
		}
		for _, e := range kept {
			r.warn(message.WarnKept, r.env.Folders.Short(path), e.Key())
		}
		if f.Exists {
			r.settings = append(r.settings, &f)
		}
	}
	return nil
}

// undoBlocks takes tables out of a TOML file that runs have put there.
func (r *removal) undoBlocks(s host.Setup, path string, data []byte, edits []host.Edit) (after []byte, kept []host.Edit, err error) {
	for _, e := range edits {
		after, whose, more, err := takeTable(data, written(e, s.Blocks[0].Key))
		if err != nil {
			return nil, nil, err
		}
		if whose == theirs {
			kept = append(kept, e)
		}
		r.warnMore(path, more)
		data = after
	}
	return data, kept, nil
}

// dropBlocks takes tables of ours out of a TOML file that no run is known for: the
// comment above it must tell that we wrote it. A file that cannot be read is left alone.
func (r *removal) dropBlocks(s host.Setup, f *host.File) {
	for _, b := range s.Blocks {
		if after, whose, more, err := takeTable(f.After, b); b.Path == f.Path && marked(f.After, b) && err == nil && whose == ours {
			f.After = after
			r.warnMore(f.Path, more)
		}
	}
}

func (r *removal) warnMore(path string, more []string) {
	if len(more) > 0 {
		r.warn(message.WarnTableMore, r.env.Folders.Short(path), more)
	}
}

// apply gives the files back, has the hosts forget us, and removes our folders.
func (r *removal) apply(ctx context.Context) error {
	// First, so that a folder which is given back can go when it is empty.
	for _, p := range r.inside {
		store.SweepTemp(p.Dir, r.env.Now()) // else the folder would not be empty
		if err := p.Remove(); err != nil {
			return err
		}
	}
	for _, f := range r.settings {
		if err := r.env.write(f); err != nil {
			return err
		}
		f.Tidy()
	}
	for _, f := range r.own {
		if err := r.env.write(f); err != nil {
			return err
		}
	}
	for _, s := range r.setups {
		bin, err := exec.LookPath(s.Program)
		if err != nil || s.Unregister == nil {
			continue
		}
		if err := s.Unregister(ctx, bin, r.env.Environ()); err != nil {
			r.warn(message.WarnUnregister, err.Error())
		}
	}
	if r.service != nil {
		if err := r.service.apply(ctx); err != nil {
			return err
		}
		r.Warnings = append(r.Warnings, r.service.Warnings...)
	}
	for _, m := range r.open {
		if err := m.Close(); err != nil {
			return err
		}
	}
	for _, dir := range []string{r.reports, r.folder} {
		if dir != "" {
			if err := removeFolder(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFolder removes a folder, and what it is a link to.
func removeFolder(dir string) error {
	target, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = dir, nil
	}
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(target), os.RemoveAll(dir))
}
