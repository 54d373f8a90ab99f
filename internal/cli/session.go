package cli

import (
	"errors"
	"io/fs"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// sessionFlag adds --session to a command.
func (a *app) sessionFlag(cmd *cobra.Command, id *string) {
	cmd.PersistentFlags().StringVar(id, "session", "", message.HelpSession.In(a.lang))
	_ = cmd.RegisterFlagCompletionFunc("session", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.recentSessions(50), cobra.ShellCompDirectiveNoFileComp
	})
}

// session finds the session a command is about: by flag, or by what the host
// puts into the environment of its tools. With recent, a command that only looks
// may fall back to the session used last.
func (a *app) session(id string, recent bool) (*store.Session, error) {
	if id == "" {
		id = host.SessionFrom(a.env.Getenv)
	}
	if id == "" && recent {
		if last := a.recentSessions(1); len(last) > 0 {
			id = last[0]
			if !a.json {
				a.note(message.UsingSession, id)
			}
		}
	}
	if id == "" {
		list := a.recentSessions(3)
		if len(list) == 0 {
			return nil, usageError{message.WithHint(message.Fail(message.NoSession), message.HintNoSession)}
		}
		return nil, usageError{message.WithHint(message.Fail(message.NoSession), message.HintSession, strings.Join(list, ", "))}
	}
	full, err := a.fullID(id)
	if err != nil {
		return nil, err
	}
	s, err := a.env.store().Session(full)
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// fullID completes an id that was shortened. One that no session begins with is
// taken as it is: it may be a session's that is new to us.
func (a *app) fullID(id string) (string, error) {
	var found []string
	for _, known := range a.recentSessions(math.MaxInt) {
		if known == id {
			return id, nil
		}
		if strings.HasPrefix(known, id) {
			found = append(found, known)
		}
	}
	switch len(found) {
	case 0:
		return id, nil
	case 1:
		return found[0], nil
	}
	return "", usageError{message.WithHint(message.Fail(message.AmbiguousID, id), message.HintSession, strings.Join(found[:min(5, len(found))], ", "))}
}

func (a *app) recentSessions(n int) []string {
	list, err := a.env.store().Sessions()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var ids []string
	for _, s := range list[:min(n, len(list))] {
		ids = append(ids, s.ID)
	}
	return ids
}
