package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/demo"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

func (a *app) demoCmd() *cobra.Command {
	var keep, full bool
	cmd := a.command("demo", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep, full) })
	AddFlags(cmd, map[string]any{"keep": &keep, "full": &full})
	return cmd
}

// demo plays the story. Hooks and commands run as they always do, only in a home
// of their own.
func (a *app) demo(ctx context.Context, keep, full bool) (err error) {
	// A reader that goes away (demo | head) must not keep the folder from being removed.
	signal.Ignore(syscall.SIGPIPE)
	begin := a.Now()
	temp := a.Getenv("TMPDIR")
	dir, err := os.MkdirTemp(temp, "overtone-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	demoPrinter{a, full}.Line(message.DemoIntro.In(a.Lang))
	report, err := demo.Play(ctx, demo.Options{
		Dir: dir, Lang: a.Lang, Now: a.Now, Version: terminal.Version, TempDir: temp, Keep: keep, Command: a.demoCommand, Audience: demoPrinter{a, full},
	})
	if err != nil {
		return err
	}
	took := a.Now().Sub(begin)
	if a.JSON {
		out := struct {
			Schema int `json:"schema"`
			demo.Report
			DurationMS int64  `json:"durationMs"`
			Home       string `json:"home,omitempty"`
		}{1, report, took.Milliseconds(), ""}
		if keep {
			out.Home = dir
		}
		return a.PrintJSON(out)
	}
	fmt.Fprintln(a.Stdout)
	a.Tell(message.DemoEnd, len(report.Steps), len(report.Claims), took.Round(10*time.Millisecond))
	if keep {
		a.Say(message.DemoKept, dir)
	}
	// From a checkout it is called by its path, as it is not on PATH.
	name := a.Called
	if name == "" || filepath.IsAbs(name) {
		name = a.Program
	}
	a.Prose(a.Stdout, a.Format(message.DemoNext, name))
	return nil
}

func (a *app) demoCommand(ctx context.Context, home demo.Home, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	sub := &app{Terminal: a.Terminal, ctx: a.ctx}
	sub.Stdin, sub.Stdout, sub.Stderr = strings.NewReader(""), &stdout, &stderr
	sub.Getenv, sub.Dir = home.Getenv, home.Dir
	sub.Environ = func() []string { return nil }
	root := sub.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return stdout.Bytes(), err
}

// demoPrinter shows the play to a person; with --json it keeps quiet. In short, only
// what is claimed is shown, and no step.
type demoPrinter struct {
	*app
	full bool
}

func (p demoPrinter) width() int { return p.Width(p.Stdout) }

func (p demoPrinter) Act(n int, title string) {
	line := message.DemoAct.Format(p.Lang, n, title)
	p.Line(fmt.Sprintf("\n━━ %s %s", line, strings.Repeat("━", max(0, p.width()-4-terminal.Columns(line)))))
}

func (p demoPrinter) Rows(rows [][]string) {
	if !p.JSON {
		p.Table(p.Stdout, rows)
	}
}

// Line breaks a text into lines that are indented alike, those of a list below its mark.
func (p demoPrinter) Line(text string) {
	if p.JSON {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		at := len(line) - len(strings.TrimLeft(line, " "))
		if mark, _, _ := strings.Cut(line[at:], " "); mark == "✔" || mark == "·" {
			at += len(mark) + 1
		}
		p.Item(line[:at], line[at:])
	}
}

// Step shows what came in, what went out and to whom, and what changed.
func (p demoPrinter) Step(s demo.Step) {
	if !p.full {
		return
	}
	line := fmt.Sprintf(" %2d ← %s  %s", s.N, demo.EventName(s.Event), s.Subject)
	if s.Output == nil {
		line += "   " + p.In(message.DemoSays("silent"))
	}
	p.Line("\n" + line)
	for _, part := range [][2]string{{"denied", s.Denied}, {"blocked", s.Blocked}, {"agent", s.Agent}, {"tool", s.Tool}, {"model", s.Model}, {"person", s.Person}} {
		if part[1] != "" {
			p.Line("    " + p.In(message.DemoSays("to."+part[0])))
			p.quote(part[1])
		}
	}
	var labels []string
	for _, typ := range s.Events {
		if label, ok := message.EventLabel(typ); ok {
			labels = append(labels, label.In(p.Lang))
		}
	}
	if len(labels) > 0 {
		p.Line("    " + message.DemoEvents.Format(p.Lang, strings.Join(labels, " · ")))
	}
	if s.Progress != "" {
		p.Line("    " + message.DemoProgress.Format(p.Lang, s.Progress))
	}
}

func (p demoPrinter) quote(text string) {
	const mark, most = "      │ ", 10
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, terminal.Wrap(line, p.width()-len("      | "))...)
		}
	}
	for _, line := range lines[:min(most, len(lines))] {
		p.Line(mark + line)
	}
	if rest := len(lines) - most; rest > 0 {
		p.Line(mark + message.DemoMore.Format(p.Lang, rest))
	}
}
