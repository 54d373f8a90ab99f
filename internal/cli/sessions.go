package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// sessionInfo is one row of the list.
type sessionInfo struct {
	ID          string `json:"id"`
	Host        string `json:"host"`
	Path        string `json:"path"`
	Project     string `json:"project"`
	Title       string `json:"title"`
	Modified    string `json:"modified"`
	AgeSeconds  int64  `json:"ageSeconds"`
	LiveTokens  int64  `json:"liveTokens"`
	Estimated   bool   `json:"estimated"`
	Compactions int    `json:"compactions"`
	Turns       int    `json:"turns"`
	Size        int64  `json:"size"`
	Unreadable  int    `json:"unreadableLines"`
	// CloneOf is the session that a clone was made from.
	CloneOf string `json:"cloneOf,omitempty"`
}

// sessionFilter chooses sessions; the zero value takes all.
type sessionFilter struct{ host, project string }

func (a *app) sessionsCmd() *cobra.Command {
	limit := 20
	var filter sessionFilter
	cmd := &cobra.Command{
		Use: "sessions", Short: message.HelpSessions.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if filter.host != "" {
				if _, err := namedHost(filter.host); err != nil {
					return err
				}
			}
			rows, more, err := a.newestSessions(cmd.Context(), limit, filter)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(struct {
					Schema   int           `json:"schema"`
					Sessions []sessionInfo `json:"sessions"`
					More     int           `json:"more"`
				}{1, rows, more})
			}
			switch {
			case len(rows)+more > 0:
				a.sessionTable(rows, false)
			case filter != sessionFilter{}:
				a.Note(message.SessionsNone)
			default:
				a.Note(message.NoSessions)
			}
			if more > 0 {
				a.Note(message.SessionsMore, more)
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, message.HelpLimit.In(a.Lang))
	cmd.Flags().StringVar(&filter.host, "host", "", message.HelpHostFilter.In(a.Lang))
	cmd.Flags().StringVar(&filter.project, "project", "", message.HelpProjectFilter.In(a.Lang))
	complete(cmd, "host", host.Names())
	cmd.AddCommand(a.sessionsRmCmd())
	return cmd
}

// newestSessions are the hosts' sessions, at most limit of those that the filter
// takes, and how many more there are.
func (a *app) newestSessions(ctx context.Context, limit int, filter sessionFilter) ([]sessionInfo, int, error) {
	files, err := transcript.List(a.hostDir)
	if err != nil {
		return nil, 0, err
	}
	if filter.host != "" {
		files = slices.DeleteFunc(files, func(f transcript.File) bool { return string(f.Host) != filter.host })
	}
	limit = max(limit, 0)
	show := files
	// A project is known only when its file was read.
	if filter.project == "" {
		show = files[:min(limit, len(files))]
	}
	x, clear := a.index()
	facts, err := x.Facts(ctx, show)
	clear()
	if err != nil {
		return nil, 0, err
	}
	clones := a.clones().All()
	rows, more := []sessionInfo{}, len(files)-len(show)
	for i := range show {
		row := a.sessionInfo(&show[i], &facts[i], clones)
		switch {
		case !strings.Contains(strings.ToLower(row.Project), strings.ToLower(filter.project)):
		case len(rows) == limit:
			more++
		default:
			rows = append(rows, row)
		}
	}
	return rows, more, nil
}

// sessionInfo makes a row. A session that cannot be read is listed by what its
// file shows.
func (a *app) sessionInfo(f *transcript.File, fact *recall.Fact, clones map[string]compress.CloneRecord) sessionInfo {
	age := a.Now().Sub(f.ModTime)
	info := sessionInfo{
		ID: cmp.Or(fact.ID, f.ID), Host: string(f.Host), Path: f.Path, Project: cmp.Or(fact.CWD, f.Folder), Size: f.Size,
		Modified: f.ModTime.UTC().Format(time.RFC3339), AgeSeconds: int64(max(0, age).Seconds()),
		Title: fact.Title, Compactions: fact.Compactions, Turns: fact.Turns, Unreadable: fact.Unreadable,
		LiveTokens: fact.Tokens, CloneOf: fact.Source,
	}
	made, ours := clones[info.ID]
	if ours {
		info.CloneOf = made.Source
	}
	// What a clone's last request reported is its source's, until it is used.
	if info.LiveTokens == 0 || ours && f.Size == made.Size {
		info.LiveTokens, info.Estimated = fact.Estimate, true
	}
	return info
}

// liveTokens is what the last request reported; before the first one after a
// compaction, an estimate.
func liveTokens(s *transcript.Session) (n int64, estimated bool) {
	if s.HasUsage {
		return s.Usage.Tokens(), false
	}
	return recall.Estimate(s), true
}

func (a *app) sessionTable(rows []sessionInfo, numbered bool) {
	head := []string{}
	if numbered {
		head = append(head, "#")
	}
	cols := []message.Text{message.ColID, message.ColHost, message.ColProject, message.ColAge, message.ColTokens, message.ColCompacted, message.ColSize}
	// The mark of clones takes room only where there are some.
	cloned := slices.ContainsFunc(rows, func(r sessionInfo) bool { return r.CloneOf != "" })
	if cloned {
		cols = append(cols, message.ColClone)
	}
	for _, t := range append(cols, message.ColTitle) {
		head = append(head, t.In(a.Lang))
	}
	out := [][]string{head}
	for i, r := range rows {
		row := []string{}
		if numbered {
			row = append(row, fmt.Sprint(i+1))
		}
		tokens := message.Thousands(int(r.LiveTokens))
		if r.Estimated {
			tokens = "~" + tokens
		}
		row = append(row, message.Short(r.ID, 13), r.Host, message.Tail(a.short(r.Project), 32), age(time.Duration(r.AgeSeconds)*time.Second), tokens, fmt.Sprint(r.Compactions), message.Bytes(r.Size))
		if cloned {
			row = append(row, message.Short(r.CloneOf, 13))
		}
		out = append(out, append(row, message.Short(r.Title, 48)))
	}
	w := a.Stdout
	if numbered {
		w = a.Stderr
	}
	a.Table(w, out)
}

// removed is a clone that `sessions rm` took away.
type removed struct {
	ID     string `json:"id"`
	Source string `json:"cloneOf"`
	Host   string `json:"host"`
	Path   string `json:"path"`
	Size   int64  `json:"size"`
}

func (a *app) sessionsRmCmd() *cobra.Command {
	var yes, force bool
	cmd := &cobra.Command{
		Use: "rm CLONE...", Short: message.HelpSessionsRm.In(a.Lang), Long: message.HelpSessionsRmLong.In(a.Lang),
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.removeClones(cmd.Context(), args, yes, force) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return slices.Sorted(maps.Keys(a.clones().All())), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, message.HelpYes.In(a.Lang))
	cmd.Flags().BoolVar(&force, "force", false, message.HelpForceRm.In(a.Lang))
	return cmd
}

// removeClones checks all of the sessions before the first one goes.
func (a *app) removeClones(ctx context.Context, refs []string, yes, force bool) error {
	clones := a.clones().All()
	gone := []removed{}
	for _, ref := range refs {
		f, err := a.resolve(ref)
		if err != nil {
			return err
		}
		c, ours := clones[f.ID]
		switch {
		case !ours || c.Path != f.Path:
			return message.WithHint(message.Fail(message.RmNoClone, f.ID), message.HintRmNoClone)
		case f.Size != c.Size && !force:
			return message.WithHint(message.Fail(message.RmUsed, f.ID, message.Bytes(f.Size), message.Bytes(c.Size)), message.HintRmUsed)
		}
		gone = append(gone, removed{f.ID, c.Source, string(f.Host), f.Path, f.Size})
	}
	if !yes && (a.JSON || !a.Listening()) {
		return message.Misuse{Err: message.WithHint(message.Fail(message.RmNeedYes), message.HintRmNeedYes)}
	}
	done := gone[:0]
	for _, r := range gone {
		if !yes {
			fmt.Fprint(a.Stderr, message.AskRm.Format(a.Lang, r.ID, message.Bytes(r.Size), a.short(r.Path)))
			line, err := terminal.ReadLine(ctx, a.Stdin)
			if err != nil {
				return err
			}
			if l := strings.ToLower(line); l != "y" && l != "yes" {
				a.Note(message.RmKept, r.ID)
				continue
			}
		}
		if err := os.Remove(r.Path); err != nil {
			return err
		}
		if err := a.clones().Forget(r.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if done = append(done, r); !a.JSON {
			a.Say(message.RmDone, r.ID, message.Bytes(r.Size))
		}
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Schema  int       `json:"schema"`
			Removed []removed `json:"removed"`
		}{1, done})
	}
	return nil
}

func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}
