package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Shell lets another program of ours speak as this one does: flags, --json, help,
// errors, exit codes.
type Shell struct {
	*terminal.Terminal
	app *app
}

// RunProgram runs a program whose commands build makes.
func RunProgram(name string, args []string, env Env, build func(*Shell) []*cobra.Command) int {
	a := newApp(name, env)
	defer a.close()
	root := a.newRoot(name)
	root.AddCommand(build(&Shell{&a.Terminal, a})...)
	a.speak(root)
	return a.run(root, args)
}

// Command is a command, whose texts stand in the table of package message.
func (s *Shell) Command(use string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return s.app.command(use, args, run)
}

// Group is a command that only has others below it.
func (s *Shell) Group(use string) *cobra.Command { return s.app.group(use) }

// Home is the store of this user.
func (s *Shell) Home() *store.Home { return s.app.store() }

// HostDir is the folder that holds a host's sessions, or our mirrors of them.
func (s *Shell) HostDir(h *host.Host) string { return s.app.sessionDir(h) }

// Event is an event of a timeline in one line, without its time.
func (s *Shell) Event(e store.Entry) string { return s.app.eventText(e, 0) }

// EventFilter reads a list of event types.
func (s *Shell) EventFilter(types string) (store.Filter, error) { return eventFilter(types) }

// Service makes a service, or takes one back, showing what it does.
func (s *Shell) Service(ctx context.Context, make func(setup.Env) (setup.Service, error), dry, remove bool) error {
	e := s.app.setup()
	service, err := make(e)
	if err != nil {
		return err
	}
	return e.ChangeService(ctx, &s.app.Terminal, service, dry, remove)
}

// Config is the user's settings.
func (s *Shell) Config() (config.Config, []config.Problem) { return s.app.config() }
