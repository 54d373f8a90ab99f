package teamcli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

func (p *program) handoff() *cobra.Command {
	cmd := p.Group("handoff")
	cmd.AddCommand(p.push(), p.pull())
	return cmd
}

// mover is what moves sessions; it ends with its connection.
func (p *program) mover() (*team.Mover, error) {
	h, s, err := p.hub()
	if err != nil {
		return nil, err
	}
	set, lang := p.packets()
	return &team.Mover{Home: p.Home(), Set: s, Hub: h, Dir: p.HostDir, Settings: set, Lang: lang, Now: p.Now, Environ: p.Environ()}, nil
}

// packets is how packets are written here, and in which language.
func (p *program) packets() (compact.Settings, message.Lang) {
	cfg, _ := p.Config()
	set, _ := session.Settings(p.Home(), cfg.Compact) // what is wrong in it, `overtone config` says
	return set, message.Spoken(message.Lang(cfg.Language), cfg.Chosen, p.Getenv)
}

func (p *program) push() *cobra.Command {
	var force bool
	cmd := p.Command("push SESSION", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		m, err := p.mover()
		if err != nil {
			return err
		}
		defer m.Hub.Close()
		out, err := m.Push(cmd.Context(), args[0], force)
		if err != nil {
			return catalog.FindHint(m.Hub.Why(cmd.Context(), err))
		}
		man := out.Manifest
		if p.JSON {
			return p.PrintObject("session", man.Session, "host", string(man.Host), "folder", man.Folder, "bytes", out.Bytes, "git", man.Git, "token", out.Lease.Token)
		}
		p.Say(message.TeamPushed, man.Session, message.Bytes(out.Bytes), man.Session)
		if man.Git.Dirty > 0 {
			p.Note(message.TeamPushedDirty, man.Git.Dirty)
		}
		return nil
	})
	cmd.Flags().BoolVar(&force, "force", false, "")
	return cmd
}

func (p *program) pull() *cobra.Command {
	var o team.PullOptions
	cmd := p.Command("pull SESSION", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		m, err := p.mover()
		if err != nil {
			return err
		}
		defer m.Hub.Close()
		o.Cwd = p.Dir
		out, err := m.Pull(cmd.Context(), args[0], o)
		if err != nil {
			return m.Hub.Why(cmd.Context(), err)
		}
		if p.JSON {
			members := []any{"session", out.Manifest.Session, "from", out.Manifest.Machine, "folder", out.Folder, "path", out.Path}
			if out.Backup != "" {
				members = append(members, "backup", out.Backup)
			}
			if out.Last != "" {
				members = append(members, "last", out.Last)
			}
			return p.PrintObject(append(members, "resume", out.Resume, "token", out.Lease.Token)...)
		}
		if out.Back {
			p.Note(message.TeamPulledBack, out.Manifest.Session)
		} else {
			p.Note(message.TeamPulled, out.Manifest.Session, out.Manifest.Machine)
		}
		if out.Last != "" {
			p.Note(message.TeamPulledOld, out.Last, out.Manifest.Machine)
		}
		if out.Backup != "" {
			p.Note(message.TeamBackup, out.Backup)
		}
		fmt.Fprintf(p.Stdout, "cd %s && %s\n", terminal.Quote(out.Folder), out.Resume)
		return nil
	})
	cmd.Flags().StringVar(&o.Folder, "dir", "", "")
	cmd.Flags().BoolVar(&o.Anyway, "anyway", false, "")
	return cmd
}
