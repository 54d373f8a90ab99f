package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
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
}

func (a *app) sessionsCmd() *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use: "sessions", Short: message.HelpSessions.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.newestSessions(cmd.Context(), limit)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Schema   int           `json:"schema"`
					Sessions []sessionInfo `json:"sessions"`
				}{1, rows})
			}
			if len(rows) == 0 {
				a.note(message.NoSessions)
				return nil
			}
			a.sessionTable(rows, false)
			return nil
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, message.HelpLimit.In(a.lang))
	return cmd
}

// newestSessions are the hosts' sessions, at most limit.
func (a *app) newestSessions(ctx context.Context, limit int) ([]sessionInfo, error) {
	files, err := transcript.List(a.env.hostDir)
	if err != nil {
		return nil, err
	}
	rows := []sessionInfo{}
	for _, f := range files[:min(max(limit, 0), len(files))] {
		info, err := a.sessionInfo(ctx, f)
		if err != nil {
			return nil, err
		}
		rows = append(rows, info)
	}
	return rows, nil
}

// sessionInfo reads a session for the list. One that cannot be read is listed
// by what its file shows.
func (a *app) sessionInfo(ctx context.Context, f transcript.File) (sessionInfo, error) {
	age := a.env.Now().Sub(f.ModTime)
	info := sessionInfo{
		ID: f.ID, Host: string(f.Host), Path: f.Path, Project: f.Folder, Size: f.Size,
		Modified: f.ModTime.UTC().Format(time.RFC3339), AgeSeconds: int64(max(0, age).Seconds()),
	}
	s, err := transcript.Read(ctx, f.Path)
	if ctx.Err() != nil {
		return info, ctx.Err()
	}
	if err != nil {
		return info, nil //nolint:nilerr // a file that cannot be read is listed all the same
	}
	if s.CWD != "" {
		info.Project = s.CWD
	}
	if s.ID != "" {
		info.ID = s.ID
	}
	info.Title = s.Title
	info.Compactions = len(s.Compactions)
	info.Turns = len(s.Turns(s.Live()))
	info.Unreadable = s.Problems.Unreadable()
	info.LiveTokens, info.Estimated = liveTokens(s)
	return info, nil
}

// liveTokens is what the last request reported; before the first one after a
// compaction, an estimate.
func liveTokens(s *transcript.Session) (n int64, estimated bool) {
	if s.HasUsage {
		return s.Usage.Tokens(), false
	}
	for _, i := range s.Live() {
		e := &s.Entries[i]
		n += (int64(e.Text) + int64(e.Tool) + int64(e.Think) + 3) / 4
	}
	return n, true
}

func (a *app) sessionTable(rows []sessionInfo, numbered bool) {
	head := []string{}
	if numbered {
		head = append(head, "#")
	}
	for _, t := range []message.Text{message.ColID, message.ColProject, message.ColAge, message.ColTokens, message.ColCompacted, message.ColSize, message.ColTitle} {
		head = append(head, t.In(a.lang))
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
		out = append(out, append(row, message.Short(r.ID, 13), a.homePath(r.Project, 32), age(time.Duration(r.AgeSeconds)*time.Second), tokens, fmt.Sprint(r.Compactions), message.Bytes(r.Size), message.Short(r.Title, 48)))
	}
	w := a.env.Stdout
	if numbered {
		w = a.env.Stderr
	}
	table(w, out)
}

// homePath shortens a path for a table: the home folder as ~, the end of what
// is too long.
func (a *app) homePath(p string, limit int) string {
	if rest, ok := strings.CutPrefix(p, a.env.home()+string(filepath.Separator)); ok && a.env.home() != "" {
		p = filepath.Join("~", rest)
	}
	if r := []rune(p); len(r) > limit {
		return "…" + string(r[len(r)-limit+1:])
	}
	return p
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
