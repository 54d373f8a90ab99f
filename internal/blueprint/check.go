package blueprint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// hostAgents are the agent types that hosts bring along.
var hostAgents = []string{"general-purpose", "Explore", "Plan", "claude", "default", "worker", "explorer"}

// Agents are the agent types that a workflow may name here: ours, the hosts' own,
// and those in the folders of the project and the user. A name with a plugin's in
// front cannot be checked, and passes.
func Agents(folders []string) []string {
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

// Check finds what is wrong with a file in its place, beside what is wrong with it
// anywhere: agents that are not there, files that are not there.
func Check(f File, problems []Problem, root string, agents []string) []Problem {
	for i, s := range f.Stages {
		at := func(field string) int {
			if n, ok := f.lines[i][field]; ok {
				return n
			}
			return f.lines[i]["stage"]
		}
		if a := s.Spec.Agent; a != "" && !slices.Contains(agents, a) && (!strings.Contains(a, ":") || strings.HasPrefix(a, workflow.AgentPrefix)) {
			p := Problem{File: f.Path, Line: at("agent"), Text: message.Because(message.FlawAgent, a)}
			near := workflow.Nearest(a, agents)
			if ours := workflow.AgentPrefix + a; slices.Contains(agents, ours) {
				near = []string{ours}
			}
			if len(near) > 0 {
				p.Hint = message.Because(message.HintFlawNear, strings.Join(near, ", "))
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
