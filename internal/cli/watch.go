//go:build !demo

package cli

import (
	"bufio"
	"cmp"
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
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/watch"
)

// watchFlags are those that all hosts have.
type watchFlags struct {
	mode     string
	alone    bool
	dryRun   bool
	debounce time.Duration
	bin      string
}

func (a *app) watchCmd() *cobra.Command {
	cmd := a.group("watch")
	cmd.AddCommand(a.watchCodexCmd(), a.watchClaudeCmd(), a.watchOpencodeCmd())
	return cmd
}

func (a *app) watchFlags(cmd *cobra.Command, f *watchFlags, program string) {
	f.debounce, f.bin = watch.DefaultWaits().Debounce, program
	AddFlags(cmd, map[string]any{"mode": &f.mode, "unattended": &f.alone, "dry-run": &f.dryRun, "debounce": &f.debounce})
	if program != "" {
		AddFlags(cmd, map[string]any{"bin": &f.bin})
	}
	complete(cmd, "mode", modes)
}

func (a *app) watchCodexCmd() *cobra.Command {
	var (
		f                         watchFlags
		remote, socket, token, id string
		install, remove           bool
	)
	cmd := a.command("codex [PROMPT...]", cobra.ArbitraryArgs, func(cmd *cobra.Command, prompts []string) error {
		if remote != "" && socket != "" {
			return message.Misuse{Err: message.Fail(message.WatchBothAddress)}
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
			if release, ok, err := a.store().TryLease(store.WatcherLease); err == nil && ok {
				defer release()
			}
		}
		w := &watch.Codex{Options: opts, Version: terminal.Version, Thread: id, Prompts: prompts, Dir: a.Dir}
		switch {
		case len(prompts) > 0 && remote == "" && socket == "":
			server := exec.Command(f.bin, "app-server")
			server.Stderr = a.Stderr
			server.Env = append(a.Environ(), "OVERTONE_DISABLE=1")
			w.At.Command = server
		case remote != "":
			w.At.URL = remote
			if token != "" {
				w.At.Token = a.Getenv(token)
			}
		case socket != "":
			w.At.Socket = socket
		default:
			w.At.Socket = host.CodexSocket(a.hostDir(host.Of(host.Codex)))
		}
		if err := w.At.Check(); err != nil {
			return message.Misuse{Err: err}
		}
		return watched(w.Run(cmd.Context()))
	})
	a.watchFlags(cmd, &f, "codex")
	AddFlags(cmd, map[string]any{
		"remote": &remote, "socket": &socket, "remote-auth-token-env": &token, "thread": &id, "install": &install, "uninstall": &remove,
	})
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
	for _, name := range []string{"mode", "remote", "socket", "remote-auth-token-env", "debounce", "unattended"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			args = append(args, "--"+name+"="+f.Value.String())
		}
	}
	e := a.setup()
	service, err := e.WatchService(runtime.GOOS, program, args...)
	if err != nil {
		return err
	}
	return e.ChangeService(ctx, &a.Terminal, service, dry, remove)
}

func (a *app) watchClaudeCmd() *cobra.Command {
	var f watchFlags
	cmd := a.command("claude [PROMPT...] [-- CLAUDE-ARG...]", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		prompts, own := args, []string(nil)
		if n := cmd.ArgsLenAtDash(); n >= 0 {
			prompts, own = args[:n], args[n:]
		}
		opts, err := a.watchOptions(f)
		if err != nil {
			return err
		}
		claude := exec.Command(f.bin, host.HeadlessClaude(own)...)
		claude.Dir, claude.Stderr = a.Dir, a.Stderr
		claude.Env = append(a.Environ(), "OVERTONE_DISABLE=1")
		w := &watch.Claude{
			Options: opts, Command: claude,
			Prompts: a.prompts(cmd.Context(), prompts), Session: host.ResumedClaude(own),
			Transcript: func(id string) string { return host.ClaudeSession(a.folders().Claude, id) },
		}
		return watched(w.Run(cmd.Context()))
	})
	a.watchFlags(cmd, &f, "claude")
	return cmd
}

func (a *app) watchOpencodeCmd() *cobra.Command {
	var f watchFlags
	url, id := "http://127.0.0.1:4096", ""
	cmd := a.command("opencode", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		opts, err := a.watchOptions(f)
		if err != nil {
			return err
		}
		w := &watch.Opencode{
			Options: opts, URL: url, Session: id,
			User: cmp.Or(a.Getenv("OPENCODE_SERVER_USERNAME"), "opencode"), Password: a.Getenv("OPENCODE_SERVER_PASSWORD"),
		}
		return watched(w.Run(cmd.Context()))
	})
	a.watchFlags(cmd, &f, "")
	AddFlags(cmd, map[string]any{"url": &url, "session": &id})
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
				in := bufio.NewScanner(a.Stdin)
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
		return watch.Options{}, message.Misuse{Err: message.WithHint(message.Fail(message.WatchBadMode, f.mode), message.HintModes)}
	}
	cfg, _ := a.config()
	settings := a.policy(f.mode)
	if mode := settings().Mode; mode != compact.ModeAuto && !a.JSON {
		a.Note(message.WatchSuggestMode, mode)
	}
	waits := watch.DefaultWaits()
	waits.Debounce = f.debounce
	return watch.Options{
		Home: a.store(), UserHome: a.home(), Getenv: a.Getenv, Settings: settings, Lang: a.chosen(cfg), Chosen: cfg.Chosen, Words: a.Lang,
		Waits: waits, DryRun: f.dryRun, Unattended: f.alone,
		Now: a.Now, Report: a.watchReport,
	}, nil
}

// policy returns a function that reads the policy's settings anew: the prompt
// file under the configuration. What is wrong in them is said once.
func (a *app) policy(mode string) func() compact.Settings {
	said := ""
	return func() compact.Settings {
		cfg, problems := a.config()
		if mode != "" {
			cfg.Compact.Mode = mode
		}
		set, more := session.Settings(a.store(), cfg.Compact)
		var lines []string
		for _, p := range append(problems, more...) {
			lines = append(lines, p.In(string(a.Lang)))
		}
		if text := strings.Join(lines, "\n"); text != said {
			said = text
			for _, l := range lines {
				fmt.Fprintln(a.Stderr, "[overtone/config] "+l)
			}
		}
		return set
	}
}

// watchReport prints one line per report. Only what a driven agent says is a
// result; with --json every report is one.
func (a *app) watchReport(r watch.Report) {
	if a.JSON {
		line := struct {
			Schema  int              `json:"schema"`
			TS      string           `json:"ts"`
			Session string           `json:"session,omitempty"`
			What    string           `json:"what"`
			Text    string           `json:"text,omitempty"`
			Output  string           `json:"output,omitempty"`
			Explain *decisionSummary `json:"decision,omitempty"`
		}{1, r.At.UTC().Format(time.RFC3339Nano), r.Session, r.What, r.Text.In(a.Lang), r.Output, nil}
		if d := r.Decision; d != nil {
			line.Explain = &decisionSummary{d.Tier, d.PercentRemaining, d.Signals, d.Allowed, d.Verdict, d.Cause}
		}
		e := json.NewEncoder(a.Stdout)
		e.SetEscapeHTML(false)
		_ = e.Encode(line)
		return
	}
	if r.What == "output" {
		fmt.Fprintln(a.Stdout, r.Output)
		return
	}
	id := ""
	if r.Session != "" {
		id = r.Session[max(0, len(r.Session)-8):] + "  "
	}
	fmt.Fprintf(a.Stderr, "%s  %s%s\n", r.At.Local().Format(time.TimeOnly), id, r.Text.In(a.Lang))
}

type decisionSummary struct {
	Tier             compact.Tier       `json:"tier"`
	PercentRemaining int                `json:"percentRemaining"`
	Signals          []compact.Boundary `json:"signals"`
	Allowed          []compact.Boundary `json:"allowed"`
	Verdict          compact.Verdict    `json:"verdict"`
	Cause            compact.Cause      `json:"cause"`
}
