// Package blueprint reads workflows that are files: the built-in ones, which are
// part of the program, a project's (.overtone/workflows/NAME.yaml) and the user's
// own (workflows/NAME.yaml in Overtone's folder). A project's wins over the
// user's; a built-in name cannot be taken.
//
// A file is read whole or not at all: what is wrong with it is a list of [Problem]s
// with line and hint, and costs nobody else anything. Reading finds one file by
// its name; only a list, or a name that nobody has, looks at the others.
//
// The package draws and writes workflows, too, and knows which files the user
// trusts to run commands. What a graph means is package workflow's business.
package blueprint

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// builtinNames is the order that people see them in: first those that a list begins with.
var builtinNames = [...]string{
	"single", "quick", "standard", "full", "secure", "tdd", "debug", "refactor", "product", "review-only",
	"security-only", "build-fix", "e2e-only", "diagnose", "clean", "db-review", "product-full", "discovery", "quick-dev", "fix", "test-first",
	"ui-only", "docs-only", "security", "none",
}

// usual is how many of them a list shows that is not asked for all.
const usual = 10

// sameAs is the workflow that a name is another one for, "" for a workflow of its own.
func sameAs(name string) string {
	switch name {
	case "fix":
		return "single"
	case "security":
		return "quick-dev"
	}
	return ""
}

// Builtin reports whether a name is a built-in workflow's.
func Builtin(name string) bool { return slices.Contains(builtinNames[:], name) }

// File is a workflow that was read.
type File struct {
	Name   string
	Path   string // "" = built in
	Label  message.Text
	About  string // what it is for
	Stages []workflow.Draft
	DAG    workflow.DAG
	Source []byte

	lines []map[string]int // of each stage, and of each of its keys
}

const maxFile = 64 << 10

const suffix = ".yaml"

// Library is where workflows are looked for.
type Library struct {
	Dir  string // where somebody works; its project is found from there
	Home string // Overtone's folder
}

// folder is where a project, or a home, keeps its workflows.
func folder(root string, home bool) string {
	if home {
		return filepath.Join(root, "workflows")
	}
	return filepath.Join(root, ".overtone", "workflows")
}

// Project is the folder of the project that Dir lies in: the nearest one with
// workflows, else with a repository, else Dir itself.
func (l Library) Project() string {
	for dir := filepath.Clean(l.Dir); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(folder(dir, false)); err == nil && info.IsDir() && folder(dir, false) != folder(l.Home, true) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return filepath.Clean(l.Dir)
		}
	}
}

// folders are searched in this order.
func (l Library) folders() []string {
	var list []string
	if l.Dir != "" {
		list = append(list, folder(l.Project(), false))
	}
	if l.Home != "" {
		list = append(list, folder(l.Home, true))
	}
	return slices.Compact(list)
}

// Find reads the workflow of a name. It is not there if ok is false; with problems,
// it is there and cannot be run.
func (l Library) Find(name string) (f File, problems []Problem, ok bool) {
	if data, err := fs.ReadFile(builtin, "builtin/"+cmp.Or(sameAs(name), name)+suffix); err == nil {
		f, problems = parse(name, "", data)
		return f, problems, true
	}
	if !workflow.ValidName(name) {
		return f, nil, false
	}
	for _, dir := range l.folders() {
		if f, problems, ok := read(dir, name); ok {
			return f, problems, true
		}
	}
	return f, nil, false
}

// read reads the workflow of a name in a folder. One that cannot be read is there,
// with a problem.
func read(dir, name string) (f File, problems []Problem, ok bool) {
	path := filepath.Join(dir, name+suffix)
	data, err := config.ReadFile(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil, false
	case err != nil:
		return File{Name: name, Path: path}, []Problem{{File: path, Text: message.Because(message.Verbatim, err.Error())}}, true
	}
	f, problems = parse(name, path, data)
	return f, problems, true
}

// Entry is a workflow in a list.
type Entry struct {
	File
	Problems []Problem
	Hidden   bool // a file of the home that the project's covers
}

// List reads all workflows, the built-in ones first.
func (l Library) List() []Entry {
	var list []Entry
	for _, name := range builtinNames {
		f, problems, _ := l.Find(name)
		list = append(list, Entry{f, problems, false})
	}
	return append(list, l.Own()...)
}

// Own reads the workflows that are not built in.
func (l Library) Own() []Entry {
	var list []Entry
	for _, dir := range l.folders() {
		for _, name := range names(dir) {
			hidden := slices.ContainsFunc(list, func(o Entry) bool { return o.Name == name })
			if f, problems, ok := read(dir, name); ok {
				list = append(list, Entry{f, problems, hidden})
			}
		}
	}
	return list
}

// Names are the workflows that can be started, without a look into their files.
func (l Library) Names() []string {
	list := slices.Clone(builtinNames[:])
	for _, dir := range l.folders() {
		for _, name := range names(dir) {
			if workflow.ValidName(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func names(dir string) []string {
	entries, _ := os.ReadDir(dir) // a missing folder has none
	var list []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() {
			list = append(list, name)
		}
	}
	return list
}

// Plan is what a run of the workflow begins with.
func (l Library) Plan(f File) *workflow.Plan {
	p := &workflow.Plan{DAG: f.DAG}
	if f.Path == "" {
		return p
	}
	p.Origin = &workflow.Origin{Path: f.Path, Hash: hash(f.Source), Root: l.Project()}
	if slices.ContainsFunc(f.Stages, func(d workflow.Draft) bool { return len(d.Spec.When) > 0 }) {
		if head, err := shellcmd.ReadHead(p.Origin.Root); err == nil {
			p.Origin.Commit = head.Hash
		}
	}
	return p
}

// Runs reports whether a workflow has commands of its own.
func (f File) Runs() bool {
	return slices.ContainsFunc(f.Stages, func(d workflow.Draft) bool { return d.Spec.Run != "" })
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
