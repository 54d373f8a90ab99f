package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Named reads the workflow of a name, or makes one of the stages that are given in
// its place.
func (l Library) Named(name, custom string, rules workflow.Rules, lang message.Lang) (File, error) {
	if custom != "" {
		stages, err := parseStages(custom)
		if err != nil {
			return File{}, err
		}
		var keys []string
		for _, s := range stages {
			if _, ok := workflow.Lookup(s.Key); !ok && s.Spec.Agent == "" {
				return File{}, badStage(s.Key)
			}
			keys = append(keys, s.Key)
		}
		// A list of known stages is as it has always been: what the registry says of
		// them is enough.
		if plainStages(stages) {
			dag, err := rules.TemplateToDAG(name, keys)
			if err != nil {
				return File{}, message.Misuse{Err: err}
			}
			return File{Name: name, Label: message.Text{ZH: name, EN: name}, Stages: stages, DAG: dag}, nil
		}
		f, problems := parse(name, "", Encode(message.Text{}, "", stages))
		return f, broken(problems, lang)
	}
	f, problems, ok := l.Find(name)
	if !ok {
		return f, l.unknown(name)
	}
	return f, broken(problems, lang)
}

// unknown is the answer to a name that nothing has.
func (l Library) unknown(name string) error {
	known, fail := l.Names(), message.Fail(message.UnknownTemplate, name)
	if near := workflow.Nearest(name, l.Names()); len(near) > 0 {
		return message.Misuse{Err: message.WithHint(fail, message.HintNearAll, near, known)}
	}
	return message.Misuse{Err: message.WithHint(fail, message.HintThereAre, known)}
}

func badStage(key string) error {
	return message.Misuse{Err: message.WithHint(message.Fail(message.BadStage, key), message.HintThereAre, workflow.StageNames())}
}

// broken is the answer to a file that cannot be run.
func broken(problems []Problem, lang message.Lang) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	err := message.Fail(message.Verbatim, p.In(lang))
	if p.File == "" {
		return message.Misuse{Err: err}
	}
	return message.WithHint(err, message.HintCheckFile, p.File)
}

func plainStages(stages []workflow.Draft) bool {
	return !slices.ContainsFunc(stages, func(s workflow.Draft) bool { return s.Spec.Agent != "" || s.Barrier != "" })
}

// parseStages reads a list such as "PLAN,DEV,LINT=my-linter,REVIEW+TEST": what is
// joined by + runs side by side.
func parseStages(text string) ([]workflow.Draft, error) {
	var list []workflow.Draft
	groups := 0
	for part := range strings.SplitSeq(text, ",") {
		members := strings.Split(part, "+")
		if len(members) > 1 {
			groups++
		}
		for _, m := range members {
			key, agent, _ := strings.Cut(strings.TrimSpace(m), "=")
			base, suffix, has := strings.Cut(strings.TrimSpace(key), ":")
			key = strings.ToUpper(base)
			if has {
				key += ":" + suffix
			}
			if key == "" {
				return nil, badStage(strings.TrimSpace(text))
			}
			s := workflow.Draft{Key: key, Retries: -1, Spec: workflow.Spec{Agent: strings.TrimSpace(agent)}}
			if len(members) > 1 {
				s.Barrier = fmt.Sprintf("side-by-side-%d", groups)
			}
			list = append(list, s)
		}
	}
	return list, nil
}
