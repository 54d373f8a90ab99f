package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/demo"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

func (a *app) demoCmd() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: message.HelpDemo.In(a.Lang), Long: message.HelpDemoLong.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, message.HelpKeep.In(a.Lang))
	return cmd
}

// demo plays the story. Hooks and commands run as they always do, only in a home
// of their own.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
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
	if !a.JSON {
		a.Say(message.DemoIntro)
	}
	report, err := demo.Play(ctx, demo.Options{
		Dir: dir, Lang: a.Lang, Now: a.Now, Version: terminal.Version, TempDir: temp, Command: a.demoCommand, Audience: demoPrinter{a},
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
	a.Say(message.DemoEnd, len(report.Steps), len(report.Claims), took.Round(10*time.Millisecond))
	if keep {
		a.Say(message.DemoKept, dir)
	} else {
		a.Say(message.DemoGone)
	}
	a.Say(message.DemoNext)
	return nil
}

// demoCommand runs a command of ours in the demo's home.
func (a *app) demoCommand(ctx context.Context, home demo.Home, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	sub := &app{a.Terminal}
	sub.Stdin, sub.Stdout, sub.Stderr = strings.NewReader(""), &stdout, &stderr
	sub.Getenv, sub.Dir = home.Getenv, home.Dir
	sub.Environ = func() []string { return nil }
	root := sub.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return stdout.Bytes(), err
}

// demoPrinter shows the play to a person; with --json it keeps quiet.
type demoPrinter struct{ *app }

func (p demoPrinter) Act(n int, title string) {
	line := message.DemoAct.Format(p.Lang, n, title)
	p.Line(fmt.Sprintf("\n━━ %s %s", line, strings.Repeat("━", max(0, 76-terminal.Columns(line)))))
}

func (p demoPrinter) Line(text string) {
	if !p.JSON {
		fmt.Fprintln(p.Stdout, text)
	}
}

// Step shows what came in, what went out and to whom, what changed.
func (p demoPrinter) Step(s demo.Step) {
	silent := ""
	if s.Output == nil {
		silent = "   " + message.DemoSilent.In(p.Lang)
	}
	p.Line(fmt.Sprintf("\n %2d ← %s  %s%s", s.N, demo.EventName(s.Event), s.Subject, silent))
	for _, part := range []struct {
		to   message.Text
		text string
	}{
		{message.DemoDenied, s.Denied},
		{message.DemoBlocked, s.Blocked},
		{message.DemoAgent, s.Agent},
		{message.DemoTool, s.Tool},
		{message.DemoModel, s.Model},
		{message.DemoPerson, s.Person},
	} {
		if part.text != "" {
			p.Line("    " + part.to.In(p.Lang))
			p.quote(part.text)
		}
	}
	show := func(t message.Text, parts []string, between string) {
		if text := strings.Join(parts, between); text != "" {
			p.Line("    " + t.Format(p.Lang, text))
		}
	}
	var labels, files []string
	for _, typ := range s.Events {
		if label, ok := message.EventLabel(typ); ok {
			labels = append(labels, label.In(p.Lang))
		}
	}
	for _, f := range s.Files {
		if f != demo.StateFile { // the progress shows it
			files = append(files, f)
		}
	}
	show(message.DemoEvents, labels, " · ")
	show(message.DemoFiles, files, "   ")
	show(message.DemoProgress, []string{s.Progress}, "")
}

// quote prints the beginning of a text, indented and wrapped.
func (p demoPrinter) quote(text string) {
	const most, width = 10, 108
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, terminal.Wrap(line, width)...)
		}
	}
	for _, line := range lines[:min(most, len(lines))] {
		p.Line("      │ " + line)
	}
	if rest := len(lines) - most; rest > 0 {
		p.Line("      │ " + message.DemoMore.Format(p.Lang, rest))
	}
}
