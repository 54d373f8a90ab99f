package blueprint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// hostAgents are the agent types that hosts bring along.
var hostAgents = []string{"general-purpose", "Explore", "Plan", "claude", "default", "worker", "explorer"}

// agents are the agent types that a workflow may name here: ours, the hosts' own,
// and those in the folders of the project and the user. A name with a plugin's in
// front cannot be checked, and passes.
func agents(folders []string) []string {
	var list []string
	for _, s := range workflow.Stages() {
		list = append(list, workflow.AgentPrefix+s.Agent)
	}
	list = append(list, hostAgents...)
	for _, dir := range folders {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read has no agents
			}
			ext := filepath.Ext(path)
			if name := strings.TrimSuffix(e.Name(), ext); !e.IsDir() && (ext == ".md" || ext == ".toml") && !slices.Contains(list, name) {
				list = append(list, agentName(path, name))
			}
			return nil
		})
	}
	return list
}

// agentName is what an agent calls itself, in the head of its file; else the
// file's name.
func agentName(path, usual string) string {
	f, err := os.Open(path)
	if err != nil {
		return usual
	}
	defer f.Close()
	head := make([]byte, 2048)
	n, _ := f.Read(head) // a file that cannot be read has no name of its own
	for line := range strings.Lines(string(head[:n])) {
		for _, sep := range []string{":", "="} {
			if key, value, ok := strings.Cut(line, sep); ok && strings.TrimSpace(key) == "name" {
				if value = strings.Trim(strings.TrimSpace(value), `"'`); value != "" {
					return value
				}
			}
		}
	}
	return usual
}

// check finds what is wrong with a file in its place, beside what is wrong with it
// anywhere: agents that are not there, files that are not there.
func check(f File, problems []Problem, root string, agents []string) []Problem {
	for i, s := range f.Stages {
		at := func(field string) int {
			if n, ok := f.lines[i][field]; ok {
				return n
			}
			return f.lines[i]["stage"]
		}
		if a := s.Spec.Agent; a != "" && !slices.Contains(agents, a) &&
			(!strings.Contains(a, ":") || strings.HasPrefix(a, workflow.AgentPrefix)) {
			p := Problem{File: f.Path, Line: at("agent"), Text: message.Because(message.FlawAgent, a)}
			near := workflow.Nearest(a, agents)
			if ours := workflow.AgentPrefix + a; slices.Contains(agents, ours) {
				near = []string{ours}
			}
			if len(near) > 0 {
				p.Hint = message.Because(message.HintDidYouMean, near)
			} else {
				p.Hint = message.Because(message.HintFlawAgent, a)
			}
			problems = append(problems, p)
		}
		for _, file := range s.Spec.Context {
			if root != "" && !Inside(root, file) {
				problems = append(problems, Problem{File: f.Path, Line: at("context"), Text: message.Because(message.FlawNoFile, file)})
			}
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems
}

// Inside reports whether a file of the project is there, without leaving its
// folder by a link.
func Inside(root, file string) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer r.Close()
	info, err := r.Stat(filepath.FromSlash(file))
	return err == nil && info.Mode().IsRegular()
}

// Meant reads the file that is meant, by path or by name.
func (l Library) Meant(arg string) ([]Entry, error) {
	data, err := config.ReadFile(arg, 1<<20)
	if err == nil {
		path, err := filepath.Abs(filepath.Join(l.Dir, arg))
		if filepath.IsAbs(arg) {
			path, err = arg, nil
		}
		if err != nil {
			return nil, err
		}
		f, problems := parse(strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), path, data)
		return []Entry{{File: f, Problems: problems}}, nil
	}
	if f, problems, ok := l.Find(arg); ok {
		return []Entry{{File: f, Problems: problems}}, nil
	}
	if strings.ContainsRune(arg, filepath.Separator) || filepath.Ext(arg) != "" || !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", arg, err)
	}
	return nil, l.unknown(arg)
}

// Check tells what is wrong with workflows; folders hold the agents that
// people made themselves.
func (l Library) Check(t *terminal.Terminal, entries []Entry, folders []string) error {
	type problem struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	checked, found := []string{}, []problem{}
	root, agents := l.Project(), agents(folders)
	for _, e := range entries {
		checked = append(checked, cmp.Or(e.Path, e.Name))
		for _, p := range check(e.File, e.Problems, root, agents) {
			found = append(found, problem{p.File, p.Line, p.Text.In(t.Lang), p.Hint.In(t.Lang)})
			if !t.JSON {
				p.File = l.seen(p.File)
				fmt.Fprintln(t.Stdout, p.In(t.Lang))
				if hint := p.Hint.In(t.Lang); hint != "" {
					fmt.Fprintln(t.Stdout, "  "+t.In(message.HintLabel)+hint)
				}
			}
		}
	}
	if t.JSON {
		if err := t.PrintObject("checked", checked, "problems", found); err != nil {
			return err
		}
	}
	switch {
	case len(found) > 0:
		return message.Fail(message.CheckFound, len(found), len(checked))
	case t.JSON:
	case len(checked) == 0:
		t.Say(message.CheckNone, l.seen(folder(root, false)))
	default:
		t.Say(message.CheckFine, len(checked))
	}
	return nil
}

// seen is a path as seen from where somebody works.
func (l Library) seen(path string) string {
	if rel, err := filepath.Rel(l.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
