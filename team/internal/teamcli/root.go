// Package teamcli is the command line of overtone-team. It speaks as package cli
// does, by its [cli.Shell]; what the commands do is in package team.
package teamcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

// Main runs the program and returns its exit code.
func Main(args []string, env cli.Env) int {
	return cli.RunProgram("overtone-team", args, env, func(sh *cli.Shell) []*cobra.Command {
		return (&program{sh}).commands()
	})
}

type program struct{ *cli.Shell }

func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{p.up(), p.invite(), p.join(), p.share(), p.ship(), p.handoff(), p.timeline(), p.fleet(), p.recall(), p.doctor()}
}

// hub connects with this machine's settings.
func (p *program) hub() (*team.Hub, team.Settings, error) {
	s, err := team.Load(p.Home().Root())
	if err != nil {
		return nil, s, err
	}
	h, err := team.Dial(s, team.Dialing{})
	return h, s, err
}

func (p *program) up() *cobra.Command {
	var (
		n       team.Node
		hub     []string
		creds   string
		caFile  string
		machine string
	)
	cmd := p.Command("up", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if machine == "" {
			name, _ := os.Hostname()
			machine = team.MachineName(name)
		}
		if n.Replicas == 0 {
			n.Replicas = 1
			if n.Cluster != "" {
				n.Replicas = 3
			}
		}
		if !team.ValidMachine(n.Tenant) {
			return message.Misuse{Err: message.WithHint(message.Fail(message.TeamBadMachine, n.Tenant), message.HintTeamMachine)}
		}
		if len(hub) > 0 {
			return p.prepare(cmd.Context(), hub, creds, caFile, machine, n)
		}
		if _, _, err := net.SplitHostPort(n.Listen); err != nil {
			return message.Misuse{Err: message.WithHint(fmt.Errorf("--listen: %w", err), message.HintHelp, cmd.CommandPath())}
		}
		n.Dir, n.Now, n.Note = team.NodeDir(p.Home().Root()), p.Now, p.Note
		// The machine that runs the hub is one of the team.
		if !team.Joined(p.Home().Root()) {
			s, err := n.Invite(machine)
			if err != nil {
				return err
			}
			if err := s.Save(p.Home().Root()); err != nil {
				return err
			}
		}
		return n.Serve(cmd.Context(), func(url string) {
			if p.JSON {
				_ = p.PrintObject("url", url, "tenant", n.Tenant)
				return
			}
			p.Say(message.TeamUp, url, n.Tenant)
		})
	})
	n.Listen, n.Tenant, n.Keep = "127.0.0.1:4222", "team", 30*24*time.Hour
	cli.AddFlags(cmd, map[string]any{
		"listen": &n.Listen, "name": &n.Names, "tenant": &n.Tenant, "hub": &hub, "creds": &creds, "ca": &caFile, "machine": &machine,
		"node": &n.Name, "cluster": &n.Cluster, "route": &n.Routes, "alone": &n.Alone, "replicas": &n.Replicas, "keep": &n.Keep,
	})
	return cmd
}

// prepare uses a cluster that is there: streams and buckets are made, and this
// machine is the first of its team.
func (p *program) prepare(ctx context.Context, hub []string, creds, caFile, machine string, n team.Node) error {
	root := p.Home().Root()
	s, err := team.Load(root)
	if err != nil {
		identity, recipient, err := team.NewIdentity()
		if err != nil {
			return err
		}
		s = team.Settings{Machine: machine, Identity: identity, Recipients: []string{recipient}}
	}
	s.Hub, s.Tenant, s.Replicas = hub, n.Tenant, n.Replicas
	if creds != "" {
		if s.Creds, err = filepath.Abs(creds); err != nil {
			return err
		}
	}
	if caFile != "" {
		ca, err := os.ReadFile(caFile)
		if err != nil {
			return err
		}
		s.CA = string(ca)
	}
	if err := team.Prepare(ctx, s, n.Keep, s.Machine); err != nil {
		return err
	}
	if err := s.Save(root); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintObject("hub", team.OpenHubs(hub), "machine", s.Machine)
	}
	p.Say(message.TeamPrepared, strings.Join(team.OpenHubs(hub), ", "), s.Machine)
	return nil
}

func (p *program) invite() *cobra.Command {
	var (
		names  []string
		listen string
		tenant string
		keep   time.Duration
		revoke bool
		out    string
	)
	cmd := p.Command("invite MACHINE", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) (err error) {
		w := p.Stdout
		if out != "" && !revoke {
			// Its mode is no affair of the shell's umask, and an invitation that could not
			// be written would have replaced the machine's key.
			f, openErr := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(openErr, fs.ErrExist) {
				return message.Misuse{Err: message.WithHint(message.Fail(message.TeamOutExists, out), message.HintTeamOutExists)}
			}
			if openErr != nil {
				return openErr
			}
			defer func() {
				if err = cmp.Or(err, f.Close()); err != nil {
					_ = os.Remove(out)
				}
			}()
			w = f
		}
		root := p.Home().Root()
		own, err := team.Load(root)
		if err != nil {
			return err
		}
		var s team.Settings
		if _, err := os.Stat(team.NodeDir(root)); err == nil {
			n := team.Node{Dir: team.NodeDir(root), Names: names, Listen: listen, Tenant: tenant, Replicas: own.Replicas, Now: p.Now}
			if revoke {
				if err := n.Revoke(args[0]); err != nil {
					return err
				}
				p.Note(message.TeamRevoked, args[0])
				return nil
			}
			if s, err = n.Invite(args[0]); err != nil {
				return err
			}
			if !cmd.Flags().Changed("listen") && len(names) == 0 {
				s.Hub = own.Hub
			}
		} else {
			// On somebody else's hub its keys are its owner's affair.
			if own.Seed != "" || revoke {
				return message.WithHint(message.Fail(message.TeamNoNode), message.HintTeamNoNode)
			}
			s = own
			s.Machine, s.Creds, s.Share, s.Hub = args[0], "", nil, team.OpenHubs(own.Hub)
			if !team.ValidMachine(s.Machine) {
				return message.Misuse{Err: message.WithHint(message.Fail(message.TeamBadMachine, s.Machine), message.HintTeamMachine)}
			}
			if err := team.Prepare(cmd.Context(), own, keep, own.Machine, s.Machine); err != nil {
				return err
			}
		}
		p.Note(message.TeamInvited, s.Machine)
		_, err = w.Write(s.Encode())
		return err
	})
	listen, tenant, keep = "127.0.0.1:4222", "team", 30*24*time.Hour
	cli.AddFlags(cmd, map[string]any{"out": &out, "revoke": &revoke, "name": &names, "listen": &listen, "tenant": &tenant, "keep": &keep})
	return cmd
}

// joinPatience is how long a hub may take to hear of a machine that was invited.
const joinPatience = 5 * time.Second

func (p *program) join() *cobra.Command {
	var (
		force bool
		creds string
		hub   []string
	)
	cmd := p.Command("join FILE", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		root := p.Home().Root()
		if old, err := team.Load(root); err == nil && !force {
			return message.WithHint(message.Fail(message.TeamJoinedOther, old.Machine), message.HintTeamJoined)
		}
		var (
			data []byte
			err  error
		)
		if args[0] == "-" {
			data, err = io.ReadAll(io.LimitReader(p.Stdin, 1<<20))
		} else {
			data, err = os.ReadFile(args[0])
		}
		if err != nil {
			return message.WithHint(err, message.HintTeamInvite)
		}
		s, err := team.Parse(data)
		if err != nil {
			return message.WithHint(message.Fail(message.TeamBadInvite, args[0], err), message.HintTeamInvite)
		}
		s.Share = nil // is for the person here to say
		if creds != "" {
			if s.Creds, err = filepath.Abs(creds); err != nil {
				return err
			}
		}
		if len(hub) > 0 {
			s.Hub = hub
		}
		h, err := team.DialNew(cmd.Context(), s, joinPatience)
		if err != nil {
			return err
		}
		h.Close()
		if err := s.Save(root); err != nil {
			return err
		}
		if p.JSON {
			return p.PrintObject("machine", s.Machine, "hub", team.OpenHubs(s.Hub))
		}
		p.Say(message.TeamJoined, s.Machine)
		return nil
	})
	cli.AddFlags(cmd, map[string]any{"force": &force, "creds": &creds, "hub": &hub})
	return cmd
}

func (p *program) share() *cobra.Command {
	var remove bool
	cmd := p.Command("share [FOLDER]", cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		root := p.Home().Root()
		s, err := team.Load(root)
		if err != nil {
			return err
		}
		if len(args) == 1 {
			if s.Share, err = p.shared(s.Share, args[0], remove); err != nil {
				return err
			}
			if err := s.Save(root); err != nil {
				return err
			}
		}
		if p.JSON {
			return p.PrintObject("share", append([]string{}, s.Share...))
		}
		if len(s.Share) == 0 {
			p.Say(message.TeamSharesNone)
			return nil
		}
		p.Say(message.TeamSharing)
		for _, dir := range s.Share {
			fmt.Fprintln(p.Stdout, "  "+dir)
		}
		return nil
	})
	cmd.Flags().BoolVar(&remove, "remove", false, "")
	return cmd
}

// shared is the list with a folder more, or less. Hosts know folders by their real
// path, so that is what is entered; one that is not there would be shared in
// name only.
func (p *program) shared(list []string, folder string, remove bool) ([]string, error) {
	dir := folder
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	dir = filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	left := slices.DeleteFunc(slices.Clone(list), func(d string) bool { return d == dir || d == real })
	if remove {
		if len(left) == len(list) {
			return nil, message.Fail(message.TeamNeverShared, dir)
		}
		return left, nil
	}
	if info, err := os.Stat(real); folder == "" || err != nil || !info.IsDir() {
		return nil, message.Misuse{Err: message.WithHint(message.Fail(message.TeamNotAFolder, cmp.Or(folder, `""`)), message.HintTeamNotFolder)}
	}
	return append(left, real), nil
}

func (p *program) ship() *cobra.Command {
	var (
		once, install, remove, dry bool
		every                      time.Duration
	)
	cmd := p.Command("ship", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		s, err := team.Load(p.Home().Root())
		if err != nil {
			return err
		}
		if install || remove {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			return p.Service(cmd.Context(), func(e setup.Env) (setup.Service, error) { return e.ShipService(runtime.GOOS, program, "ship") }, dry, remove)
		}
		set, lang := p.packets()
		sh := &team.Shipper{
			Home: p.Home(), Set: s, Dir: p.HostDir, Version: terminal.Version, Every: every, Once: once, Now: p.Now, Report: p.report,
			Settings: set, Lang: lang,
		}
		if err := sh.Run(cmd.Context()); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	every = time.Second
	cli.AddFlags(cmd, map[string]any{"once": &once, "every": &every, "install": &install, "uninstall": &remove, "dry-run": &dry})
	cmd.MarkFlagsMutuallyExclusive("install", "uninstall")
	return cmd
}

// report prints what a shipper says: with --json as a result, else as a note.
func (p *program) report(r team.Report) {
	if p.JSON {
		members := []any{"ts", r.At.UTC(), "what", r.What, "text", r.Text.In(p.Lang)}
		if r.Events > 0 {
			members = append(members, "events", r.Events)
		}
		if r.Sessions > 0 {
			members = append(members, "sessions", r.Sessions)
		}
		_ = p.PrintObject(members...)
		return
	}
	fmt.Fprintf(p.Stderr, "%s  %s\n", r.At.Local().Format(time.TimeOnly), r.Text.In(p.Lang))
}

func (p *program) timeline() *cobra.Command {
	var (
		q      team.Query
		types  string
		since  time.Duration
		follow bool
	)
	cmd := p.Command("timeline", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		filter, err := p.EventFilter(types)
		if err != nil {
			return err
		}
		for _, name := range []string{q.Machine, q.Session} {
			if name != "" && !team.ValidToken(name) {
				return message.Misuse{Err: message.Fail(message.TeamBadMachine, name)}
			}
		}
		if q.Last < 1 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.AtLeastOne, "--last", q.Last), message.HintHelp, cmd.CommandPath())}
		}
		h, _, err := p.hub()
		if err != nil {
			return err
		}
		defer h.Close()
		q.Types, q.Since = filter.Types, p.Now().Add(-since)
		seen := team.Seen{}
		list, next, err := h.Recent(cmd.Context(), q, seen)
		if err != nil {
			return err
		}
		for _, e := range list {
			p.printEvent(e)
		}
		for follow {
			select {
			case <-cmd.Context().Done():
				return nil
			case <-time.After(250 * time.Millisecond):
			}
			next, err = h.Events(cmd.Context(), q, next, seen, func(e team.Event) error {
				p.printEvent(e)
				return nil
			})
			if err != nil && cmd.Context().Err() == nil {
				p.Note(message.TeamOffline, err.Error())
			}
		}
		if len(list) == 0 && !p.JSON {
			p.Note(message.TeamNoEvents)
		}
		return nil
	})
	since, q.Last = 24*time.Hour, 50
	cli.AddFlags(cmd, map[string]any{"machine": &q.Machine, "session": &q.Session, "type": &types, "since": &since, "last": &q.Last, "follow": &follow})
	return cmd
}

func (p *program) printEvent(e team.Event) {
	shown := e.Shown()
	if p.JSON {
		raw := strings.TrimPrefix(strings.TrimSpace(string(shown.Raw)), "{")
		fmt.Fprintf(p.Stdout, "{\"schema\":1,\"machine\":%q,\"session\":%q,\"seq\":%d,%s\n", e.Machine, e.Session, e.Seq, raw)
		return
	}
	when := shown.TS
	if t := e.Time(); !t.IsZero() {
		when = t.Local().Format("01-02 15:04:05")
	}
	shown.Raw = team.Readable(shown.Raw)
	fmt.Fprintf(p.Stdout, "%s  %s/%s  %s\n", when, e.Machine, short(e.Session), p.Event(shown))
}

func short(id string) string { return id[:min(8, len(id))] }

func (p *program) fleet() *cobra.Command {
	var everything bool
	cmd := p.Command("fleet", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		h, _, err := p.hub()
		if err != nil {
			return err
		}
		defer h.Close()
		f, err := h.Fleet(cmd.Context())
		if err != nil {
			return err
		}
		_ = h.SaveFleet(f, p.Home().Root(), p.Now()) // for the dashboard; a full disk is no reason to say nothing here
		f.Sort()
		if !everything {
			f.States = slices.DeleteFunc(f.States, func(v team.State) bool { return v.Ended && v.Phase != "DELEGATING" })
		}
		if p.JSON {
			return p.PrintObject("machines", append([]team.Beat{}, f.Beats...), "sessions", append([]team.State{}, f.States...), "leases", f.Leases)
		}
		if len(f.Beats)+len(f.States) == 0 {
			p.Say(message.TeamNobody)
			return nil
		}
		p.printFleet(f)
		return nil
	})
	cmd.Flags().BoolVar(&everything, "all", false, "")
	return cmd
}

func (p *program) printFleet(f team.Fleet) {
	rows := [][]string{{p.In(message.FleetMachine), p.In(message.FleetSeen)}}
	for _, b := range f.Beats {
		rows = append(rows, []string{b.Machine, p.ago(b.At)})
	}
	p.Table(p.Stdout, rows)
	if len(f.States) == 0 {
		return
	}
	fmt.Fprintln(p.Stdout)
	rows = [][]string{{
		p.In(message.FleetMachine), p.In(message.FleetSession), p.In(message.ColProject), p.In(message.ColStage),
		p.In(message.FleetLeft), p.In(message.FleetPacket), p.In(message.FleetLast), p.In(message.FleetHolder),
	}}
	for _, v := range f.States {
		stage := "-"
		if v.Workflow != "" {
			stage = fmt.Sprintf("%s %s %d/%d", v.Workflow, v.Stage, v.Done, v.Total)
		}
		left, packet, holder := "-", "-", ""
		if v.Left >= 0 {
			left = fmt.Sprintf("%d%%", v.Left)
		}
		if v.Packet != "" {
			packet = v.Packet + " " + v.PacketState
		}
		if l, ok := f.Leases[v.Session]; ok {
			holder = l.Holder + " (" + string(l.Phase) + ")"
		}
		last, _ := time.Parse(time.RFC3339, v.Last)
		rows = append(rows, []string{v.Machine, short(v.Session), v.Project, stage, left, packet, p.ago(last), holder})
	}
	p.Table(p.Stdout, rows)
}

func (p *program) ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return message.Age(p.Now().Sub(t))
}
