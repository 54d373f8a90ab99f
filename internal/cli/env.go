package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Env is the world as the program sees it. It is made once, in main; everything
// below is given what it needs of it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string
	Dir            string // working directory
	Now            func() time.Time
	IsTTY          func(fd uintptr) bool
}

// OSEnv is the real world.
func OSEnv() Env {
	dir, _ := os.Getwd()
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Dir: dir, Now: time.Now,
		IsTTY: func(fd uintptr) bool { return term.IsTerminal(int(fd)) },
	}
}

// home is the user's home folder.
func (e Env) home() string { return e.folders().User }

// folders is where the user's files lie. Without a home the one we are in
// stands for it.
func (e Env) folders() store.Folders {
	f, _ := store.FindFolders(e.Getenv)
	return f
}

// hostDir is the folder of a host's own files.
func (e Env) hostDir(h *host.Host) string { return h.Dir(e.folders().Find) }

func (e Env) store() *store.Home {
	f := e.folders()
	return store.New(f.Root, f.Claude, e.Now)
}

// hook is what a hook call sees of it.
func (e Env) hook() hook.Env {
	return hook.Env{
		Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr,
		Getenv: e.Getenv, Dir: e.Dir, Now: e.Now, Version: Version,
	}
}

func (e Env) config() (config.Config, []config.Problem) {
	return config.Load(e.store().ConfigFile(), e.Getenv)
}

// chosen is the language of what is handed over: the user's choice, and of one who
// has never been asked, that of the command line.
func (a *app) chosen(cfg config.Config) message.Lang {
	if cfg.Chosen {
		return message.Lang(cfg.Language)
	}
	return a.lang
}

// lang is the language of the command line: the locale's.
func (e Env) lang() message.Lang {
	if l, ok := message.Parse(e.Getenv("OVERTONE_LANG")); ok {
		return l
	}
	l, _ := message.Locale(e.Getenv)
	return l
}
