package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Shell lets another program of ours speak as this one does: flags, --json, help,
// errors, exit codes.
type Shell struct{ app *app }

// RunProgram runs a program whose commands build makes.
func RunProgram(name string, short, long message.Text, args []string, env Env, build func(*Shell) []*cobra.Command) int {
	a := newApp(name, env)
	defer a.close()
	root := a.newRoot(name, short, long)
	root.AddCommand(build(&Shell{a})...)
	a.speak(root)
	return a.run(root, args)
}

// Env is the world.
func (s *Shell) Env() Env { return s.app.Env }

// Lang is the language of the command line.
func (s *Shell) Lang() message.Lang { return s.app.Lang }

// JSON reports whether --json was given.
func (s *Shell) JSON() bool { return s.app.JSON }

// Say prints a text to stdout, Note one to stderr.
func (s *Shell) Say(t message.Text, args ...any) { s.app.Say(t, args...) }

// Note prints a text to stderr.
func (s *Shell) Note(t message.Text, args ...any) { s.app.Note(t, args...) }

// PrintJSON prints an object.
func (s *Shell) PrintJSON(v any) error { return s.app.PrintJSON(v) }

// Table prints rows in columns.
func (s *Shell) Table(rows [][]string) { s.app.Table(s.app.Stdout, rows) }

// Usage makes an error one of usage: exit code 2.
func (s *Shell) Usage(err error) error { return message.Misuse{Err: err} }

// Args makes a wrong number of arguments an error of usage.
func (s *Shell) Args(check cobra.PositionalArgs) cobra.PositionalArgs { return usageArgs(check) }

// Home is the store of this user.
func (s *Shell) Home() *store.Home { return s.app.store() }

// HostDir is the folder of a host's own files.
func (s *Shell) HostDir(h *host.Host) string { return s.app.hostDir(h) }

// Event is an event of a timeline in one line, without its time.
func (s *Shell) Event(e store.Entry) string { return s.app.eventText(e) }

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

// FindHint says what to do about a session that cannot be found.
func (s *Shell) FindHint(err error) error { return session.FindHint(err) }

// Config is the user's settings.
func (s *Shell) Config() (config.Config, []config.Problem) { return s.app.config() }

// Quote is a word as a shell reads it.
func (s *Shell) Quote(word string) string { return terminal.Quote(word) }
