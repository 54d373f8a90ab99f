package blueprint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Create writes a new workflow of a list of stages, and shows it.
func (l Library) Create(t *terminal.Terminal, name, list, label string, runs []string, home bool) error {
	stages, err := parseStages(list)
	if err != nil {
		return err
	}
	for _, r := range runs {
		key, command, ok := strings.Cut(r, "=")
		at := slices.IndexFunc(stages, func(s workflow.Draft) bool { return s.Key == strings.ToUpper(strings.TrimSpace(key)) })
		if !ok || at < 0 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.NewBadRun, r), message.HintNewRun)}
		}
		stages[at].Spec.Run = strings.TrimSpace(command)
	}
	text := message.Text{ZH: name, EN: name}
	if label != "" {
		text = message.Text{ZH: label, EN: label}
	}
	path := filepath.Join(folder(l.Project(), false), name+suffix)
	if home {
		path = filepath.Join(folder(l.Home, true), name+suffix)
	}
	f, problems := parse(name, path, Encode(text, "", stages))
	// A stage that judges and has nowhere to go back to says so, instead of failing
	// the check.
	if len(problems) > 0 {
		for i := range stages {
			if stages[i].OnFail == "" && slices.ContainsFunc(problems, func(p Problem) bool { return p.nowhere(i, f) }) {
				stages[i].OnFail = workflow.Nowhere
			}
		}
		f, problems = parse(name, path, Encode(text, "", stages))
	}
	if len(problems) > 0 {
		p := problems[0]
		return message.Misuse{Err: message.Hinted{Err: message.Fail(message.Verbatim, p.Text.In(t.Lang)), Hint: p.Hint}}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err = writeNew(path, append([]byte(message.NewHead.Format(t.Lang, name)), f.Source...))
	if errors.Is(err, fs.ErrExist) {
		return message.WithHint(message.Fail(message.NewThere, l.seen(path)), message.HintNewThere)
	}
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintObject("name", name, "file", path, "stages", f.DAG.Keys())
	}
	t.Say(message.NewWritten, l.seen(path))
	fmt.Fprint(t.Stdout, draw(f.DAG, t.Lang))
	t.Say(message.NewNext, l.seen(path), name)
	if f.Runs() {
		t.Say(message.NewTrust, name)
	}
	return nil
}

// writeNew writes a file that must not be there yet, whoever else writes it now, and
// which is whole once it is there.
func writeNew(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".overtone-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err == nil {
		err = os.Link(file.Name(), path)
	}
	_ = os.Remove(file.Name()) // it has its name, or is none
	return err
}
