package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// sessionFlag adds --session to a command.
func (a *app) sessionFlag(cmd *cobra.Command, id *string) {
	cmd.PersistentFlags().StringVar(id, "session", "", message.HelpSession.In(a.Lang))
	_ = cmd.RegisterFlagCompletionFunc("session", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.offered(), cobra.ShellCompDirectiveNoFileComp
	})
}

// offered are the sessions that a shell completes, newest first.
func (a *app) offered() []string {
	names := a.sessionNames()
	return names[:min(len(names), 50)]
}

// completeSession offers sessions for a command's arguments.
func (a *app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.offered(), cobra.ShellCompDirectiveNoFileComp
}

// session finds the session that a command changes: by flag, or by what the host
// puts into the environment of its tools. One that nobody knows yet may be meant
// by its whole name; with recent, the session used last may be.
func (a *app) session(id string, recent bool) (*store.Session, error) {
	s, _, err := a.find(id, recent, false)
	return s, err
}

// look finds the session that a command shows. Any session that is listed will do,
// also one that no hook has seen, and a beginning of its name; one that is not
// there is an error. The file is empty where the host has none.
func (a *app) look(id string) (*store.Session, transcript.File, error) { return a.find(id, true, true) }

func (a *app) find(id string, recent, must bool) (*store.Session, transcript.File, error) {
	none := transcript.File{}
	named := id != ""
	if !named {
		id = host.SessionFrom(a.Getenv)
	}
	if id == "" && recent {
		if id = a.lastUsed(); id != "" && !a.JSON {
			a.Note(message.UsingSession, id)
		}
	}
	if id == "" {
		list := a.recentSessions(3)
		if len(list) == 0 {
			return nil, none, message.Misuse{Err: message.WithHint(message.Fail(message.NoSession), message.HintNoSession)}
		}
		return nil, none, message.Misuse{Err: message.WithHint(message.Fail(message.NoSession), message.HintSession, strings.Join(list, ", "))}
	}
	file := none
	if named {
		var err error
		if id, file, err = a.whole(id, must); err != nil {
			return nil, none, err
		}
	} else if f, err := transcript.Resolve(id, a.hostDir); err == nil {
		file = f
	}
	s, err := a.store().Session(id)
	if err != nil {
		return nil, none, message.Misuse{Err: err}
	}
	return s, file, nil
}

// whole completes the beginning of a session's name.
func (a *app) whole(id string, must bool) (string, transcript.File, error) {
	var found []string
	for _, known := range a.recentSessions(math.MaxInt) {
		switch {
		case known == id:
			f, _ := transcript.Resolve(id, a.hostDir) // the host may have removed it
			return id, f, nil
		case strings.HasPrefix(known, id):
			found = append(found, known)
		}
	}
	f, err := transcript.Resolve(id, a.hostDir)
	var many *transcript.Ambiguous
	switch {
	case err == nil && f.ID != "":
		if !slices.Contains(found, f.ID) {
			found = append(found, f.ID)
		}
	case errors.As(err, &many):
		return "", f, message.Misuse{Err: a.findHint(err)}
	}
	switch {
	case len(found) == 1:
		return found[0], f, nil
	case len(found) > 1:
		return "", f, message.Misuse{Err: message.WithHint(message.Fail(message.AmbiguousID, id), message.HintSession, strings.Join(found[:min(5, len(found))], ", "))}
	case !must:
		return id, transcript.File{}, nil
	}
	// State of an older version may be all there is.
	if s, err := a.store().Session(id); err != nil {
		return "", f, message.Misuse{Err: err}
	} else if state, err := session.Peek(s); state != nil || err != nil {
		return id, transcript.File{}, nil //nolint:nilerr // whoever reads it tells
	}
	hint := message.HintSessions
	if near := nearest(id, a.sessionNames()); near != "" {
		return "", f, message.Misuse{Err: message.WithHint(message.Fail(message.NoSuchSession, id), message.HintDidYouMean, near)}
	}
	return "", f, message.Misuse{Err: message.WithHint(message.Fail(message.NoSuchSession, id), hint)}
}

// lastUsed is the session used last, whoever knows it.
func (a *app) lastUsed() string {
	id, when := "", time.Time{}
	if list, err := a.store().Sessions(); err == nil && len(list) > 0 {
		id, when = list[0].ID, list[0].Modified
	}
	if files, err := transcript.List(a.hostDir); err == nil && len(files) > 0 && files[0].ModTime.After(when) {
		id = cmp.Or(files[0].ID, id)
	}
	return id
}

// sessionNames are all sessions that can be named, newest first.
func (a *app) sessionNames() []string {
	names := a.recentSessions(math.MaxInt)
	files, _ := transcript.List(a.hostDir) // what cannot be listed is not offered
	for _, f := range files {
		if f.ID != "" && !slices.Contains(names, f.ID) {
			names = append(names, f.ID)
		}
	}
	return names
}

func (a *app) recentSessions(n int) []string {
	list, err := a.store().Sessions()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var ids []string
	for _, s := range list[:min(n, len(list))] {
		ids = append(ids, s.ID)
	}
	return ids
}
