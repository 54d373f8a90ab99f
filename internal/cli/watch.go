package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/watch"
)

// watchFlags are those that both hosts have.
type watchFlags struct {
	mode     string
	once     bool
	dryRun   bool
	debounce time.Duration
	bin      string
}

func (a *app) watchCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch", Short: message.HelpWatch.In(a.lang), Long: message.HelpWatchLong.In(a.lang),
		Args: usageArgs(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.watchCodexCmd(), a.watchClaudeCmd())
	return cmd
}

func (a *app) watchFlags(cmd *cobra.Command, f *watchFlags, program string) {
	cmd.Flags().StringVar(&f.mode, "mode", "", message.HelpWatchMode.In(a.lang))
	cmd.Flags().BoolVar(&f.once, "once", false, message.HelpWatchOnce.In(a.lang))
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, message.HelpDryRun.In(a.lang))
	cmd.Flags().DurationVar(&f.debounce, "debounce", watch.DefaultWaits().Debounce, message.HelpWatchDebounce.In(a.lang))
	cmd.Flags().StringVar(&f.bin, "bin", program, message.HelpWatchBin.Format(a.lang, program))
	complete(cmd, "mode", modes)
}

func (a *app) watchCodexCmd() *cobra.Command {
	var (
		f                         watchFlags
		remote, socket, token, id string
		install, remove           bool
	)
	cmd := &cobra.Command{
		Use: "codex [PROMPT...]", Short: message.HelpWatchCodex.In(a.lang), Long: message.HelpWatchCodexLong.In(a.lang),
		Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, prompts []string) error {
			if remote != "" && socket != "" {
				return usageError{message.Fail(message.WatchBothAddress)}
			}
			if install && remove {
				return oneOf(cmd, "--install", "--uninstall")
			}
			if install || remove {
				return a.watchService(cmd.Context(), cmd, f.dryRun, remove)
			}
			opts, err := a.watchOptions(f)
			if err != nil {
				return err
			}
			if !f.dryRun && len(prompts) == 0 {
				// By this doctor knows that we run.
				if release, ok, err := a.env.store().TryLease(store.WatcherLease); err == nil && ok {
					defer release()
				}
			}
			w := &watch.Codex{Options: opts, Version: Version, Thread: id, Prompts: prompts, Dir: a.env.Dir}
			switch {
			case len(prompts) > 0 && remote == "" && socket == "":
				server := exec.Command(f.bin, "app-server")
				server.Stderr = a.env.Stderr
				server.Env = append(a.env.Environ(), "OVERTONE_DISABLE=1")
				w.At.Command = server
			case remote != "":
				w.At.URL = remote
				if token != "" {
					w.At.Token = a.env.Getenv(token)
				}
			case socket != "":
				w.At.Socket = socket
			default:
				w.At.Socket = host.CodexSocket(a.env.hostDir(host.Of(host.Codex)))
			}
			if err := w.At.Check(); err != nil {
				return usageError{err}
			}
			return watched(w.Run(cmd.Context()))
		},
	}
	a.watchFlags(cmd, &f, "codex")
	cmd.Flags().StringVar(&remote, "remote", "", message.HelpWatchRemote.In(a.lang))
	cmd.Flags().StringVar(&socket, "socket", "", message.HelpWatchSocket.In(a.lang))
	cmd.Flags().StringVar(&token, "remote-auth-token-env", "", message.HelpWatchToken.In(a.lang))
	cmd.Flags().StringVar(&id, "thread", "", message.HelpWatchThread.In(a.lang))
	cmd.Flags().BoolVar(&install, "install", false, message.HelpWatchInstall.In(a.lang))
	cmd.Flags().BoolVar(&remove, "uninstall", false, message.HelpWatchRemove.In(a.lang))
	return cmd
}

// watchService makes a service of the watcher, or takes it back. The service runs
// with what else was given on the command line.
func (a *app) watchService(ctx context.Context, cmd *cobra.Command, dry, remove bool) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"watch", "codex"}
	for _, name := range []string{"mode", "remote", "socket", "remote-auth-token-env", "debounce"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			args = append(args, "--"+name, f.Value.String())
		}
	}
	return a.changeService(ctx, func(e setup.Env) (setup.Service, error) { return e.WatchService(runtime.GOOS, program, args...) }, dry, remove)
}

// changeService shows and carries out what makes a service, or takes it back.
func (a *app) changeService(ctx context.Context, make func(setup.Env) (setup.Service, error), dry, remove bool) error {
	service, err := make(a.setup())
	if err != nil {
		return err
	}
	plan, err := a.setup().PlanService(service, remove)
	if err != nil {
		return err
	}
	plan.DryRun = dry
	s := &installer{a, initFlags{dry: dry, yes: true}, ctx}
	if err := s.carryOut(ctx, &plan.Report, plan.Apply); err != nil || a.json {
		return err
	}
	switch {
	case !plan.Changed:
		a.say(message.ServiceNothing)
	case dry:
		a.say(message.InitDry)
	case remove:
		a.say(message.ServiceRemoved)
	default:
		a.say(message.ServiceInstalled, service.Runs)
	}
	return nil
}

func (a *app) watchClaudeCmd() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use: "claude [PROMPT...] [-- CLAUDE-ARG...]", Short: message.HelpWatchClaude.In(a.lang), Long: message.HelpWatchClaudeLong.In(a.lang),
		Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			prompts, own := args, []string(nil)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				prompts, own = args[:n], args[n:]
			}
			opts, err := a.watchOptions(f)
			if err != nil {
				return err
			}
			claude := exec.Command(f.bin, host.HeadlessClaude(own)...)
			claude.Dir, claude.Stderr = a.env.Dir, a.env.Stderr
			claude.Env = append(a.env.Environ(), "OVERTONE_DISABLE=1")
			w := &watch.Claude{
				Options: opts, Command: claude,
				Prompts: a.prompts(cmd.Context(), prompts), Session: host.ResumedClaude(own),
				Transcript: func(id string) string { return host.ClaudeSession(a.env.folders().Claude, id) },
			}
			return watched(w.Run(cmd.Context()))
		},
	}
	a.watchFlags(cmd, &f, "claude")
	return cmd
}

// prompts are the arguments, or the lines of stdin.
func (a *app) prompts(ctx context.Context, args []string) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		next := slices.Values(args)
		if len(args) == 0 {
			next = func(yield func(string) bool) {
				in := bufio.NewScanner(a.env.Stdin)
				in.Buffer(nil, 1<<20)
				for in.Scan() && yield(in.Text()) {
				}
			}
		}
		for text := range next {
			if strings.TrimSpace(text) == "" {
				continue
			}
			select {
			case out <- text:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// watched: to stop watching is not a failure.
func watched(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (a *app) watchOptions(f watchFlags) (watch.Options, error) {
	if f.mode != "" && !slices.Contains(modes, f.mode) {
		return watch.Options{}, usageError{message.WithHint(message.Fail(message.WatchBadMode, f.mode), message.HintModes)}
	}
	cfg, _ := a.env.config()
	settings := a.policy(f.mode)
	if mode := settings().Mode; mode != compact.ModeAuto && !a.json {
		a.note(message.WatchSuggestMode, mode)
	}
	waits := watch.DefaultWaits()
	waits.Debounce = f.debounce
	return watch.Options{
		Home: a.env.store(), UserHome: a.env.home(), Getenv: a.env.Getenv, Settings: settings, Lang: a.chosen(cfg), Words: a.lang,
		Waits: waits, DryRun: f.dryRun, Once: f.once,
		Now: a.env.Now, Report: a.watchReport,
	}, nil
}

// policy returns a function that reads the policy's settings anew: the prompt
// file under the configuration. What is wrong in them is said once.
func (a *app) policy(mode string) func() compact.Settings {
	said := ""
	return func() compact.Settings {
		cfg, problems := a.env.config()
		if mode != "" {
			cfg.Compact.Mode = mode
		}
		set, more := session.Settings(a.env.store(), cfg.Compact)
		var lines []string
		for _, p := range append(problems, more...) {
			lines = append(lines, p.Error())
		}
		if text := strings.Join(lines, "\n"); text != said {
			said = text
			for _, l := range lines {
				fmt.Fprintln(a.env.Stderr, "[overtone/config] "+l)
			}
		}
		return set
	}
}

// watchReport prints one line per report. Only what a driven agent says is a
// result; with --json every report is one.
func (a *app) watchReport(r watch.Report) {
	if a.json {
		line := struct {
			Schema  int              `json:"schema"`
			TS      string           `json:"ts"`
			Session string           `json:"session,omitempty"`
			What    string           `json:"what"`
			Text    string           `json:"text,omitempty"`
			Output  string           `json:"output,omitempty"`
			Explain *decisionSummary `json:"decision,omitempty"`
		}{1, r.At.UTC().Format(time.RFC3339Nano), r.Session, r.What, r.Text.In(a.lang), r.Output, nil}
		if d := r.Decision; d != nil {
			line.Explain = &decisionSummary{d.Tier, d.PercentRemaining, d.Signals, d.Allowed, d.Verdict, d.Cause}
		}
		e := json.NewEncoder(a.env.Stdout)
		e.SetEscapeHTML(false)
		_ = e.Encode(line)
		return
	}
	if r.What == "output" {
		fmt.Fprintln(a.env.Stdout, r.Output)
		return
	}
	id := ""
	if r.Session != "" {
		id = r.Session[max(0, len(r.Session)-8):] + "  "
	}
	fmt.Fprintf(a.env.Stderr, "%s  %s%s\n", r.At.Local().Format(time.TimeOnly), id, r.Text.In(a.lang))
}

type decisionSummary struct {
	Tier             compact.Tier       `json:"tier"`
	PercentRemaining int                `json:"percentRemaining"`
	Signals          []compact.Boundary `json:"signals"`
	Allowed          []compact.Boundary `json:"allowed"`
	Verdict          compact.Verdict    `json:"verdict"`
	Cause            compact.Cause      `json:"cause"`
}
