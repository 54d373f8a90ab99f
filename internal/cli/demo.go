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
)

func (a *app) demoCmd() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: message.HelpDemo.In(a.lang), Long: message.HelpDemoLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, message.HelpKeep.In(a.lang))
	return cmd
}

// demo plays the story. Hooks and commands run as they always do, only in a home
// of their own.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	// A reader that goes away (demo | head) must not keep the folder from being removed.
	signal.Ignore(syscall.SIGPIPE)
	begin := a.env.Now()
	temp := a.env.Getenv("TMPDIR")
	dir, err := os.MkdirTemp(temp, "overtone-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if !a.json {
		a.say(message.DemoIntro)
	}
	report, err := demo.Play(ctx, demo.Options{
		Dir: dir, Lang: a.lang, Now: a.env.Now, Version: Version, TempDir: temp, Command: a.demoCommand, Audience: demoPrinter{a},
	})
	if err != nil {
		return err
	}
	took := a.env.Now().Sub(begin)
	if a.json {
		out := struct {
			Schema int `json:"schema"`
			demo.Report
			DurationMS int64  `json:"durationMs"`
			Home       string `json:"home,omitempty"`
		}{1, report, took.Milliseconds(), ""}
		if keep {
			out.Home = dir
		}
		return a.printJSON(out)
	}
	fmt.Fprintln(a.env.Stdout)
	a.say(message.DemoEnd, len(report.Steps), len(report.Claims), took.Round(10*time.Millisecond))
	if keep {
		a.say(message.DemoKept, dir)
	} else {
		a.say(message.DemoGone)
	}
	a.say(message.DemoNext)
	return nil
}

// demoCommand runs a command of ours in the demo's home.
func (a *app) demoCommand(ctx context.Context, home demo.Home, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	sub := &app{env: a.env, lang: a.lang}
	sub.env.Stdin, sub.env.Stdout, sub.env.Stderr = strings.NewReader(""), &stdout, &stderr
	sub.env.Getenv, sub.env.Dir = home.Getenv, home.Dir
	sub.env.Environ = func() []string { return nil }
	root := sub.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return stdout.Bytes(), err
}

// demoPrinter shows the play to a person; with --json it keeps quiet.
type demoPrinter struct{ *app }

func (p demoPrinter) Act(n int, title string) {
	line := message.DemoAct.Format(p.lang, n, title)
	p.Line(fmt.Sprintf("\n━━ %s %s", line, strings.Repeat("━", max(0, 76-columns(line)))))
}

func (p demoPrinter) Line(text string) {
	if !p.json {
		fmt.Fprintln(p.env.Stdout, text)
	}
}

// Step shows what came in, what went out and to whom, what changed.
func (p demoPrinter) Step(s demo.Step) {
	silent := ""
	if s.Output == nil {
		silent = "   " + message.DemoSilent.In(p.lang)
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
			p.Line("    " + part.to.In(p.lang))
			p.quote(part.text)
		}
	}
	show := func(t message.Text, parts []string, between string) {
		if text := strings.Join(parts, between); text != "" {
			p.Line("    " + t.Format(p.lang, text))
		}
	}
	var labels, files []string
	for _, typ := range s.Events {
		if label, ok := message.EventLabel(typ); ok {
			labels = append(labels, label.In(p.lang))
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
			lines = append(lines, wrap(line, width)...)
		}
	}
	for _, line := range lines[:min(most, len(lines))] {
		p.Line("      │ " + line)
	}
	if rest := len(lines) - most; rest > 0 {
		p.Line("      │ " + message.DemoMore.Format(p.lang, rest))
	}
}
