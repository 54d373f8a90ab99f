package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Env is the world as the program sees it.
type Env = terminal.Env

// OSEnv is the real world.
func OSEnv() Env {
	dir, _ := os.Getwd()
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Dir: dir, Called: os.Args[0], Now: time.Now,
		IsTTY: func(fd uintptr) bool { return term.IsTerminal(int(fd)) },
		Ancestors: func() ([]terminal.Process, error) {
			list, err := ancestors()
			if err == nil && len(list) == maxAncestors { // who stands behind them is not known
				err = fmt.Errorf("%d processes or more", maxAncestors)
			}
			return list, err
		},
	}
}

// maxAncestors bounds a walk that changes while it is made.
const maxAncestors = 64

func (a *app) home() string { return a.folders().User }

// folders is where the user's files lie. Without a home the one we are in
// stands for it.
func (a *app) folders() store.Folders {
	f, _ := store.FindFolders(a.Getenv)
	return f
}

func (a *app) hostDir(h *host.Host) string { return h.Dir(a.folders().Find) }

// sessionDir is the folder that holds a host's session files, or our mirrors of them,
// which are brought up to date first. What cannot be read is as it was the last time.
func (a *app) sessionDir(h *host.Host) string {
	if !h.Mirrored {
		return a.hostDir(h)
	}
	root := a.store().Mirrors()
	if err := mirror.Refresh(context.Background(), h, a.folders().Find, root, a.Now()); err != nil {
		a.unlisted(message.MirrorProblem, h.Title, err)
	}
	return root
}

func (a *app) store() *store.Home {
	f := a.folders()
	h := store.New(f.Root, f.Claude, a.Now)
	h.OnWait(a.ctx, a.waits)
	return h
}

// waits says for what, and for whom, a command waits. It is said at once, also where a
// pager holds everything else back.
func (a *app) waits(path string) {
	who := message.WaitsForSomebody.In(a.Lang)
	if holder := store.Holder(path); holder != "" {
		who = message.WaitsForProcess.Format(a.Lang, holder)
	}
	fmt.Fprintln(a.Stderr, message.WaitsForLock.Format(a.Lang, a.folders().Short(path), who))
}

// hook is what a hook call sees of it.
func (a *app) hook() hook.Env {
	return hook.Env{
		Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr,
		Getenv: a.Getenv, Dir: a.Dir, Now: a.Now, Awake: hook.Awake, Version: terminal.Version,
	}
}

func (a *app) config() (config.Config, []config.Problem) {
	return config.Load(a.store().ConfigFile(), a.Getenv)
}

// chosen is the language of what is handed over: the user's choice, and of one who
// has never been asked, that of the command line.
func (a *app) chosen(cfg config.Config) message.Lang {
	if cfg.Chosen {
		return message.Lang(cfg.Language)
	}
	return a.Lang
}

func language(getenv func(string) string) message.Lang {
	if l, ok := message.Parse(getenv("OVERTONE_LANG")); ok {
		return l
	}
	l, _ := message.Locale(getenv)
	return l
}

// newApp is a program in its world. Nothing is printed but through a screen.
func newApp(name string, env Env) *app {
	env.Stdout, env.Stderr = terminal.NewScreen(env.Stdout), terminal.NewScreen(env.Stderr)
	return &app{Terminal: terminal.Terminal{Env: env, Lang: language(env.Getenv), Program: name}, ctx: context.Background()}
}

func (a *app) close() {
	terminal.Flush(a.Stdout)
	terminal.Flush(a.Stderr)
}
