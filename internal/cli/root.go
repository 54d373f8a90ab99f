// Package cli is the command line: commands, flags, help. Exit codes are 0 done,
// 1 failed, 2 wrong usage, 3 done but for something that was left out and named, 130
// interrupted. `overtone hook` is dispatched before the command tree is built: hosts call
// it on every tool use, and it always exits 0.
package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type app struct {
	terminal.Terminal
	ctx context.Context // ends when the command is to
	// lists: the command is about all sessions.
	lists bool
}

// Main runs the program and returns its exit code.
func Main(args []string, env Env) int {
	a := newApp("overtone", env)
	defer a.close()
	hosted := len(args) > 0 && (args[0] == "hook" || args[0] == "statusline")
	if hosted && !hook.Brace() {
		return 0
	}
	if len(args) > 0 && args[0] == "hook" && !slices.Contains(args, "--help") {
		return hook.Main(args[1:], a.hook())
	}
	code := a.run(a.root(), args)
	if hosted {
		code = min(code, 1)
	}
	return code
}

func (a *app) run(root *cobra.Command, args []string) int {
	if a.home() == "" && a.Getenv("OVERTONE_HOME") == "" {
		return a.Exit(message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Where nobody reads any longer the command ends, but not before it has put away what
	// it has begun. The system would end it at once.
	ctx, end := context.WithCancel(ctx)
	defer end()
	a.ctx = ctx
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	terminal.OnError(a.Stdout, func(err error) {
		if errors.Is(err, syscall.EPIPE) {
			end()
		}
	})
	root.SetArgs(args)
	err := execute(ctx, root)
	failed := terminal.WriteError(a.Stdout)
	if failed != nil && (errors.Is(err, context.Canceled) || errors.Is(err, syscall.EPIPE)) {
		err = nil // it was given up for that
	}
	code := a.Exit(err)
	if errors.Is(failed, syscall.EPIPE) {
		return max(code, 1) // who reads has seen enough (demo | head) and needs no word about it
	}
	// What could not be written was not said: a full disk is no success.
	if failed != nil && !errors.Is(err, failed) {
		code = max(code, a.Exit(message.Fail(message.NotWritten, failed)))
	}
	return code
}

// execute runs a command. A fault of ours is an error like any other: Go's own exit code
// for it is that of a wrong usage.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	defer transcript.Catch("", &err)
	return root.ExecuteContext(ctx)
}

func (a *app) root() *cobra.Command {
	root := a.newRoot("overtone")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if f, ok := terminal.File(a.Stdout); ok && !a.JSON && a.IsTTY(f.Fd()) { // a person reads it
			return a.here(cmd.Context())
		}
		return help(cmd, args)
	}
	for _, c := range []*cobra.Command{
		a.auditCmd(),
		a.demoCmd(),
		a.initCmd(),
		a.uninstallCmd(),
		a.doctorCmd(),
		a.statusCmd(),
		a.workflowCmd(),
		a.routeCmd(),
		a.compactCmd(),
		a.mcpCmd(),
		a.timelineCmd(),
		a.compressCmd(),
		a.continueCmd(),
		a.recallCmd(),
		a.sessionsCmd(),
		a.dashboardCmd(),
		a.exportCmd(),
		a.watchCmd(),
		a.statuslineCmd(),
		a.cleanupCmd(),
		a.configCmd(),
		a.completionCmd(),
		a.versionCmd(),
		a.hookHelpCmd(),
	} {
		root.AddCommand(c)
	}
	// What only machines, or those who build upon it, call is not what people choose from.
	for _, path := range []string{"hook", "route", "compact check", "workflow schema", "statusline"} {
		if c, _, err := root.Find(strings.Fields(path)); err == nil {
			c.Hidden = true
		}
	}
	for _, path := range []string{"audit", "sessions", "recall", "timeline", "config", "doctor", "compact packet", "workflow list", "workflow show"} {
		if c, _, err := root.Find(strings.Fields(path)); err == nil {
			a.paged(c)
		}
	}
	a.speak(root)
	return root
}

// paged has a command's output read in a pager, where it is long. What goes on until it
// is stopped is read as it comes.
func (a *app) paged(c *cobra.Command) {
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if f := cmd.Flags().Lookup("follow"); f == nil || !f.Changed {
			defer a.Page()()
		}
		return run(cmd, args)
	}
}

// newRoot is a program without its commands.
func (a *app) newRoot(name string) *cobra.Command {
	root := a.group(name)
	root.Version, root.SilenceUsage, root.SilenceErrors = terminal.ThisBuild().String(), true, true
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "")
	root.PersistentFlags().BoolVar(&a.NoPager, "no-pager", false, "")
	return root
}

// hookHelpCmd only documents `overtone hook`, which never gets here.
func (a *app) hookHelpCmd() *cobra.Command {
	return &cobra.Command{Use: "hook EVENT [--host " + strings.Join(host.Names(), "|") + "]", Run: func(*cobra.Command, []string) {}}
}
