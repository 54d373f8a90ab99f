package workflow

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Spec is what a workflow's file says of a stage. The run keeps it in its graph:
// whoever changes the file changes the next run. A stage without one is as the
// registry has it.
type Spec struct {
	Agent      string        `file:"agent,omit"` // the agent type that the host starts; "" = the registry's
	Label      message.Text  `file:"label,omit"`
	Emoji      string        `file:"emoji,omit"`
	Judges     bool          `file:"judges,omit"`  // its verdict must be explicit
	Context    []string      `file:"context,omit"` // files of the project to read first
	Run        string        `file:"run,omit"`     // a command whose exit status is the verdict
	RunTimeout time.Duration `file:"runTimeoutMs,ms"`
	When       []string      `file:"when.paths"`    // patterns of paths; without a change in any of them it is left out
	NoRework   bool          `file:"noRework,omit"` // a FAIL goes nowhere, and the work goes on
}

// plain reports whether the registry says it all.
func (s Spec) plain() bool {
	return s.Agent == "" && s.Label == message.Text{} && s.Emoji == "" && !s.Judges && len(s.Context) == 0 &&
		s.Run == "" && s.RunTimeout == 0 && len(s.When) == 0 && !s.NoRework
}

// Origin is where a run's workflow was read, if it is not a built-in one.
type Origin struct {
	Path   string `file:"path"`        // the file
	Hash   string `file:"hash"`        // of its bytes
	Root   string `file:"root"`        // the project that its paths belong to
	Commit string `file:"commit,omit"` // where the project stood when the run began; "" = unknown
}

// Info is all that is known of a stage of the graph: what its file says, over what
// the registry has of its name.
func (d DAG) Info(key string) (Stage, bool) {
	st, known := Lookup(key)
	n, ok := d.Get(key)
	if !ok || n.Spec == nil {
		return st, known
	}
	sp := n.Spec
	if !known {
		st = Stage{Key: Base(key), Label: message.Text{ZH: key, EN: key}, Emoji: "🔹", failure: resultFail}
	}
	if sp.Label != (message.Text{}) {
		st.Label = sp.Label
	}
	if sp.Emoji != "" {
		st.Emoji = sp.Emoji
	}
	if sp.Agent != "" {
		st.Agent = unprefixed(sp.Agent)
	}
	st.quality = st.quality || sp.Judges
	if sp.Run != "" {
		st.Agent, st.quality = runner, true
	}
	return st, true
}

// runner stands in the place of an agent where a command is run.
const runner = "run"

// Spec is what the file of a stage says; the zero value where none does.
func (d DAG) Spec(key string) Spec {
	if n, _ := d.Get(key); n.Spec != nil {
		return *n.Spec
	}
	return Spec{}
}

// AgentOf is the agent type that the host starts for a stage; "" for a command,
// and for a stage that nobody knows.
func (d DAG) AgentOf(key string) string {
	sp := d.Spec(key)
	switch {
	case sp.Run != "":
		return ""
	case sp.Agent != "":
		return sp.Agent
	}
	return AgentOf(key)
}

// Describe is "emoji label" of a stage in lang, or " key" for an unknown one, as
// the recovery text has always shown it.
func (s *State) Describe(key string, lang message.Lang) string {
	st, ok := s.DAG.Info(key)
	if !ok {
		return " " + key
	}
	return st.Emoji + " " + st.Label.In(lang)
}

// Quality reports whether a stage judges work: its verdict must be explicit, and
// its report stays out of the main agent's context.
func (s *State) Quality(key string) bool {
	st, _ := s.DAG.Info(key)
	return st.quality
}

// plainAgent is the agent of a stage, without its plugin's name.
func (s *State) plainAgent(key string) string {
	st, _ := s.DAG.Info(key)
	return st.Agent
}

// resultOf is the stored result of a verdict: pass, or fail under the name that
// belongs to the stage.
func (s *State) resultOf(key, verdict string) string {
	if verdict != Fail {
		return resultPass
	}
	if st, ok := s.DAG.Info(key); ok {
		return st.failure
	}
	return resultFail
}

// Follows reports whether an agent type works on a stage of this workflow, or on
// one of the registry's.
func (s *State) Follows(agentType string) bool {
	return agentType != "" && (stageOfAgent(agentType) != "" || len(s.keysOf(agentType)) > 0)
}

// keysOf is the stages that an agent type works on.
func (s *State) keysOf(agentType string) []string {
	var keys []string
	for _, k := range s.DAG.Keys() {
		if s.WorksOn(agentType, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// WorksOn reports whether a stage is an agent's. A plugin's name is compared where
// both have one: hosts leave it out, and people do.
func (s *State) WorksOn(agentType, key string) bool {
	want := s.DAG.Spec(key)
	switch {
	case agentType == "" || want.Run != "":
		return false
	case want.Agent == "":
		st, ok := Lookup(key)
		return ok && st.Agent == unprefixed(agentType)
	}
	return agentType == want.Agent ||
		unprefixed(agentType) == unprefixed(want.Agent) && (unprefixed(agentType) == agentType || unprefixed(want.Agent) == want.Agent)
}

// Unwanted is the stages whose turn it is and that nothing was changed for: no
// file matches their patterns.
func (s *State) Unwanted(changed []string) []string {
	var keys []string
	for _, k := range s.Ready() {
		when := s.DAG.Spec(k).When
		matches := func(file string) bool { return matchAny(when, file) }
		if len(when) > 0 && !slices.ContainsFunc(changed, matches) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Asks reports whether it depends on the files that were changed which stages are
// next.
func (s *State) Asks() bool {
	return s.Active && slices.ContainsFunc(s.Ready(), func(k string) bool { return len(s.DAG.Spec(k).When) > 0 })
}

// matchAny reports whether a path, with slashes, matches one of the patterns. A
// pattern that begins with ! takes back what those before it match.
func matchAny(patterns []string, file string) bool {
	found := false
	for _, p := range patterns {
		if rest, not := strings.CutPrefix(p, "!"); not {
			found = found && !matchPath(rest, file)
		} else {
			found = found || matchPath(p, file)
		}
	}
	return found
}

// matchPath reports whether a path matches a pattern: * and ? within a name, ** for
// any number of folders, a folder for all that is in it.
func matchPath(pattern, file string) bool {
	return matchParts(strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(file, "/"))
}

func matchParts(pattern, file []string) bool {
	for i, p := range pattern {
		if p == "**" {
			for j := range len(file) - i + 1 {
				if matchParts(pattern[i+1:], file[i+j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(file) || !matchName(p, file[i]) {
			return false
		}
	}
	// What is left lies in a folder that matched.
	return true
}

// matchName matches one name; * and ? are all that means something.
func matchName(pattern, name string) bool {
	ok, err := path.Match(strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(pattern), name)
	return ok && err == nil
}
