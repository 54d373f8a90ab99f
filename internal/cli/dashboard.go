package cli

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/dashboard"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (a *app) dashboardCmd() *cobra.Command {
	var port uint16
	cmd := a.command("dashboard", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.dashboard(cmd.Context(), port) })
	AddFlags(cmd, map[string]any{"port": &port})
	return cmd
}

func (a *app) dashboard(ctx context.Context, port uint16) error {
	// Loopback, and nothing else, whatever a flag may say.
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return message.WithHint(message.Fail(message.DashboardPort, port), message.HintPort)
	}
	s := dashboard.New(a.dashboardOptions())
	url := s.URL(l.Addr())
	if a.JSON {
		if err := a.PrintObject("url", url, "token", s.Token()); err != nil {
			return err
		}
	} else {
		a.Say(message.DashboardAt, url)
		a.Note(message.DashboardStop)
	}
	return s.Serve(ctx, l)
}

func (a *app) exportCmd() *cobra.Command {
	out := ""
	cmd := a.command("export SESSION", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		file, err := a.finder().File(args[0])
		if err != nil {
			return err
		}
		var page bytes.Buffer
		if err := dashboard.New(a.dashboardOptions()).ExportSession(cmd.Context(), &page, file); err != nil {
			return err
		}
		if out == "-" {
			_, err = a.Stdout.Write(page.Bytes())
			return err
		}
		path := cmp.Or(out, file.ID+".html")
		// What was said is the user's own: nobody else on the machine may read it.
		if err := a.writePage(path, page.Bytes(), 0o600); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintObject("session", file.ID, "path", path, "bytes", page.Len())
		}
		a.Say(message.ExportWrote, path, message.Bytes(int64(page.Len())))
		return nil
	})
	cmd.ValidArgsFunction = a.completeSession
	AddFlags(cmd, map[string]any{"output,o": &out})
	return cmd
}

func (a *app) dashboardOptions() dashboard.Options {
	quiet := *a
	quiet.JSON = true // no progress: nobody looks at the terminal
	return dashboard.Options{
		Store: a.store(), Now: a.Now, Lang: a.Lang, Version: terminal.ThisBuild().String(),
		Config: func() config.Config {
			cfg, _ := a.config() // `overtone config` tells its problems
			return cfg
		},
		Tongue: func(session message.Lang) message.Lang {
			cfg, _ := a.config()
			return a.tongue(cfg)(session)
		},
		Sessions: quiet.dashboardSessions,
		Index: func() *recall.Index {
			x, _ := quiet.index()
			return x
		},
		Audit: quiet.dashboardAudit,
		Shown: a.folders().Short,
	}
}

func (a *app) dashboardSessions(ctx context.Context) ([]dashboard.Row, error) {
	infos, _, err := a.newestSessions(ctx, 1<<30, catalog.Filter{}, nil)
	if err != nil {
		return nil, err
	}
	unused := a.finder().Unused()
	rows := make([]dashboard.Row, len(infos))
	for i, info := range infos {
		at, _ := time.Parse(time.RFC3339, info.Modified)
		info.AgeSeconds = 0 // it would be another row every second
		info.Title = message.Short(message.OneLine(info.Title), 300)
		info.Path = ""
		file := transcript.File{Path: infos[i].Path, Host: host.Name(info.Host), ID: info.ID, Size: info.Size, ModTime: at}
		rows[i] = dashboard.Row{File: file, Info: info, Title: info.Title, Project: info.Project, Unused: unused(file)}
	}
	return rows, nil
}

// dashboardAudit is the report of `overtone audit`, without what the page does not
// draw: of thousands of sessions that would be most of it.
func (a *app) dashboardAudit(ctx context.Context, since string, l message.Lang) (any, error) {
	o := a.auditOptions()
	var err error
	if o.Since, err = sinceTime(since, o.Now); err != nil {
		return nil, err
	}
	if o.Files, err = a.finder().Lived(); err != nil && len(o.Files) == 0 {
		return nil, err
	}
	r, _, err := audit.Run(ctx, o) // a cache that cannot be kept is no news here
	if err != nil {
		return nil, err
	}
	costs := make(map[string]audit.Spent, len(r.Sessions))
	for _, s := range r.Sessions {
		costs[s.ID] = s.Spent
	}
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s audit.Session) bool { return len(s.Compactions) == 0 })
	slices.SortStableFunc(r.Sessions, func(x, y audit.Session) int { return len(y.Compactions) - len(x.Compactions) })
	r.Sessions = r.Sessions[:min(50, len(r.Sessions))]
	for i := range r.Sessions {
		s := &r.Sessions[i]
		s.Context, s.Planned, s.Path = nil, nil, ""
		for k := range s.Compactions {
			s.Compactions[k].Loss = nil
		}
	}
	return auditPage{r, r.Told(l), costs}, nil
}

type auditPage struct {
	*audit.Report
	Told  audit.Told             `json:"told"`
	Costs map[string]audit.Spent `json:"costs,omitempty"` // by session
}
