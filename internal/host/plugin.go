package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/plugin"
)

// Plugin is a folder that a host loads, and what belongs into it.
type Plugin struct {
	Dir   string
	Hooks string                       // the file in it that names the hooks' commands; "" where none does
	files func() ([]PluginFile, error) // nil: there is none
	// Shared: the folder lies among the host's own. What else is in it is the
	// user's, and stays.
	Shared bool
}

// Files are the files below the folder.
func (p Plugin) Files() ([]PluginFile, error) {
	if p.files == nil {
		return nil, nil
	}
	return p.files()
}

// PluginFile is one file below the plugin's folder.
type PluginFile struct {
	Name string // with slashes
	Data []byte
}

// pluginFiles are the files that install the plugin in fsys. Its hooks call the
// program for hooks wherever that lies, else overtone on PATH.
func (p Place) pluginFiles(fsys fs.FS) ([]PluginFile, error) {
	list := []PluginFile{{".claude-plugin/marketplace.json", []byte(`{
  "name": "` + pluginName + `",
  "owner": {"name": "Overtone"},
  "plugins": [{"name": "` + pluginName + `", "source": "./` + pluginName + `"}]
}
`)}}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || p.NoWorkflows && (strings.HasPrefix(name, "agents/") || strings.HasPrefix(name, "commands/")) {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		switch {
		case name != "hooks/hooks.json":
		case p.Hook == "":
			data = []byte(strings.NewReplacer(`"`+HookProgram+`"`, `"overtone"`, `"args": [`, `"args": ["hook", `).Replace(string(data)))
		default:
			data = bytes.ReplaceAll(data, []byte(quote(HookProgram)), []byte(quote(p.Hook)))
		}
		list = append(list, PluginFile{pluginName + "/" + name, data})
		return err
	})
	return list, err
}

// pluginAgent is an agent of the plugin: what it is for, and what it is told.
type pluginAgent struct{ name, about, body string }

func pluginAgents() (list []pluginAgent) {
	names, _ := fs.Glob(plugin.FS, "agents/*.md") // the pattern is a good one
	for _, name := range names {
		data, _ := fs.ReadFile(plugin.FS, name) // part of the program
		_, rest, _ := strings.Cut(string(data), "---\n")
		head, body, _ := strings.Cut(rest, "\n---\n")
		a := pluginAgent{name: strings.TrimSuffix(path.Base(name), ".md"), body: strings.TrimSpace(body)}
		for line := range strings.Lines(head) {
			if text, ok := strings.CutPrefix(line, "description:"); ok {
				a.about = strings.Trim(strings.TrimSpace(text), `"`)
			}
		}
		list = append(list, a)
	}
	return list
}

// PluginState is how a folder differs from the plugin.
type PluginState struct {
	Missing, Changed, Extra []string // names, with slashes
}

// Intact reports whether the folder is the plugin.
func (s PluginState) Intact() bool { return len(s.Missing)+len(s.Changed)+len(s.Extra) == 0 }

// Compare looks at the folder.
func (p Plugin) Compare(files []PluginFile) (PluginState, error) {
	var s PluginState
	if p.files == nil {
		return s, nil
	}
	if _, err := os.Stat(p.Dir); err != nil && exists(p.Dir) {
		return s, fmt.Errorf("follow the link %s: %w", p.Dir, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(p.path(f.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.Missing = append(s.Missing, f.Name)
		case err != nil:
			return s, err
		case !bytes.Equal(data, f.Data):
			s.Changed = append(s.Changed, f.Name)
		}
	}
	if p.Shared {
		return s, nil
	}
	err := filepath.WalkDir(p.Dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !slices.ContainsFunc(files, func(f PluginFile) bool { return p.path(f.Name) == path }) {
			var rel string
			rel, err = filepath.Rel(p.Dir, path)
			s.Extra = append(s.Extra, filepath.ToSlash(rel))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

func (p Plugin) path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

func (p Plugin) has(f PluginFile) bool { return exists(p.path(f.Name)) }

// Write makes the folder the plugin: what differs is written, what an older
// version left is removed.
func (p Plugin) Write(files []PluginFile, s PluginState) error {
	for _, f := range files {
		if !slices.Contains(s.Missing, f.Name) && !slices.Contains(s.Changed, f.Name) {
			continue
		}
		path := p.path(f.Name)
		// A folder that is not ours alone may be a link of the user's.
		if err := store.RealFolder(filepath.Dir(p.Dir), filepath.Dir(path)); err != nil && !p.Shared {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := store.AtomicWrite(path, f.Data, 0o600); err != nil {
			return err
		}
	}
	for _, name := range s.Extra {
		if err := os.Remove(p.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// Bare reports whether the installation that is there has no workflows: hooks, but none
// of the agents, nor the permission to read what stages report.
func (s Setup) Bare() bool {
	if s.bare != nil {
		return s.bare()
	}
	settings, err := os.ReadFile(s.Settings)
	if err != nil || !s.Present(settings) || bytes.Contains(settings, []byte("pipeline-context-")) {
		return false
	}
	files, err := s.Plugin.Files()
	agents := slices.DeleteFunc(files, func(f PluginFile) bool { return !s.Plugin.Shared && !strings.Contains(f.Name, "/agents/") })
	return err == nil && len(agents) > 0 && !slices.ContainsFunc(agents, s.Plugin.has) &&
		(s.Plugin.Hooks == "" || exists(s.Plugin.path(s.Plugin.Hooks)))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// There reports whether any of the files is.
func (p Plugin) There() bool {
	files, _ := p.Files() // without files there is nothing
	return slices.ContainsFunc(files, p.has)
}

// Remove takes the files out of a shared folder, and the folder, with the one it
// lies in, where nothing else is left there.
func (p Plugin) Remove() error {
	files, err := p.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Remove(p.path(f.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// Neither goes while something is in it, and no link of the user's does.
	for _, dir := range []string{p.Dir, filepath.Dir(p.Dir)} {
		if at, err := os.Lstat(dir); err != nil || !at.IsDir() || os.Remove(dir) != nil {
			return nil //nolint:nilerr // what is left there is not ours
		}
	}
	return nil
}
