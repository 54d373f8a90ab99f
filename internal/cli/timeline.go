package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

func (a *app) timelineCmd() *cobra.Command {
	id, types, last, follow := "", "", 50, false
	cmd := a.aboutSession("timeline", &id, func(cmd *cobra.Command) error {
		filter, err := eventFilter(types)
		if err != nil {
			return err
		}
		if last < 1 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.AtLeastOne, "--last", last), message.HintHelp, cmd.CommandPath())}
		}
		s, _, err := a.finder().Look(id)
		if err != nil {
			return err
		}
		seen := slices.Contains(a.finder().Recent(math.MaxInt), s.ID())
		if follow {
			err := s.Follow(cmd.Context(), store.FollowOptions{Last: last, Filter: filter, Every: 250 * time.Millisecond}, func(e store.Entry) error {
				a.printEvent(e, 0)
				return nil
			})
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		entries, stats, err := s.Last(last, filter)
		if err != nil {
			return err
		}
		wide := 0
		for _, e := range entries {
			wide = max(wide, terminal.Columns(a.eventLabel(e)))
		}
		for _, e := range entries {
			a.printEvent(e, wide)
		}
		if len(entries) == 0 && !a.JSON {
			a.Note(message.TimelineEmpty, s.ID())
			switch {
			case types != "" && seen:
				a.Note(message.TimelineOther)
			case !seen:
				a.Note(message.TimelineUnseen, s.ID())
			}
		}
		if stats.Bad > 0 {
			a.Note(message.BadLines, stats.Bad)
		}
		return nil
	})
	a.sessionFlag(cmd, &id)
	AddFlags(cmd, map[string]any{"type": &types, "last": &last, "follow": &follow})
	_ = cmd.RegisterFlagCompletionFunc("type", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return message.EventTypes(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func eventFilter(types string) (store.Filter, error) {
	var f store.Filter
	if types == "" {
		return f, nil
	}
	for t := range strings.SplitSeq(types, ",") {
		t = strings.TrimSpace(t)
		if !slices.Contains(message.EventTypes(), t) {
			return f, message.Misuse{Err: message.WithHint(message.Fail(message.UnknownEvent, t), message.HintThereAre, message.EventTypes())}
		}
		f.Types = append(f.Types, t)
	}
	return f, nil
}

// printEvent prints an event; wide is the room for its name, where others are known.
func (a *app) printEvent(e store.Entry, wide int) {
	if a.JSON {
		fmt.Fprintf(a.Stdout, "{\"schema\":1,%s\n", bytes.TrimPrefix(bytes.TrimSpace(e.Raw), []byte("{")))
		return
	}
	when := e.TS
	if t := e.Time(); !t.IsZero() {
		when = t.Local().Format("01-02 15:04:05")
	}
	fmt.Fprintln(a.Stdout, when+"  "+a.eventText(e, wide))
}

func (a *app) eventLabel(e store.Entry) string {
	if text, ok := message.EventLabel(e.Type); ok {
		return text.In(a.Lang)
	}
	return e.Type
}

// eventText is an event without its time.
func (a *app) eventText(e store.Entry, wide int) string {
	var detail []string
	for _, f := range e.Data() {
		detail = append(detail, fmt.Sprintf("%s=%s", f.Key, strings.Trim(fmt.Sprintf("%s", f.Value), `"`)))
	}
	label := a.eventLabel(e)
	return fmt.Sprintf("%s%s  %s", label, strings.Repeat(" ", max(0, max(16, wide)-terminal.Columns(label))), strings.Join(detail, " "))
}

func (a *app) cleanupCmd() *cobra.Command {
	var dry bool
	cmd := a.command("cleanup", cobra.NoArgs, func(*cobra.Command, []string) error {
		cfg, _ := a.config()
		rep, err := a.store().Cleanup(store.CleanupOptions{
			MaxAge: time.Duration(cfg.Cleanup.AfterDays) * 24 * time.Hour, DryRun: dry, Active: session.ActiveWorkflow,
		})
		if err != nil {
			return err
		}
		if a.JSON {
			var failed []string
			for _, e := range rep.Failed {
				failed = append(failed, e.Error())
			}
			return a.PrintObject("dryRun", dry, "files", terminal.List(rep.Files), "sessions", terminal.List(rep.Sessions),
				"spared", terminal.List(rep.Spared), "failed", terminal.List(failed))
		}
		text := message.CleanupDone
		if dry {
			text = message.CleanupWould
		}
		for _, f := range append(rep.Files, rep.Sessions...) {
			fmt.Fprintln(a.Stdout, "  "+f)
		}
		a.Say(text, len(rep.Files), len(rep.Sessions))
		if n := len(rep.Spared); n > 0 {
			a.Say(message.CleanupSpared, n)
		}
		for _, e := range rep.Failed {
			fmt.Fprintln(a.Stderr, "overtone: "+e.Error())
		}
		if n := len(rep.Failed); n > 0 {
			return message.Fail(message.CleanupFailed, n)
		}
		return nil
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "")
	return cmd
}

// statuslineCmd is for the host's settings; it prints one line.
func (a *app) statuslineCmd() *cobra.Command {
	return a.command("statusline", cobra.NoArgs, func(*cobra.Command, []string) error {
		line := hook.StatusLine(a.hook())
		if a.JSON {
			return a.PrintObject("text", line)
		}
		fmt.Fprintln(a.Stdout, line)
		return nil
	})
}
