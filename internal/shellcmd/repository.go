package shellcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Place is where a line is run.
type Place struct{ Dir, Home string }

// routes are the ways that a line takes to other folders, in no order: which cd comes
// first, and how often, is not followed.
type routes struct {
	to   []arg
	lost bool // to a folder that only the shell knows
}

// follow notes where a command leads, if it does.
func (r *routes) follow(name string, args []arg) {
	for i, a := range args {
		switch {
		case name == "git" && a.is("-C") && i+1 < len(args):
			r.to = append(r.to, args[i+1])
		case name == "find" && a.is("-execdir"):
			r.lost = true
		case (name == "cd" || name == "pushd") && (a.Dynamic || !matches(`^-([PLeqs]*|-|\d+)$`, a.Text)):
			r.to = append(r.to, a)
			r.lost = r.lost || i > 0 && !strings.HasPrefix(args[i-1].Text, "-") // cd OLD NEW
		}
	}
	if name == "cd" && len(args) == 0 {
		r.to = append(r.to, arg{Text: "~", Dynamic: true, home: true})
	}
}

// maxFolders is how many folders a line may lead to.
const maxFolders = 64

// folders are all that the line may lead to from a place.
func (r *routes) folders(p Place) []string {
	list := []string{p.Dir}
	for i := 0; i < len(list) && len(list) <= maxFolders; i++ {
		for _, a := range r.to {
			next := a.Text
			switch {
			case a.home && (next == "~" || strings.HasPrefix(next, "~/")):
				next = p.Home + next[1:]
			case a.Dynamic:
				r.lost = true
				continue
			case !filepath.IsAbs(next):
				next = list[i] + "/" + next
			}
			// A shell takes .. out of the text, git asks the system, which follows links first.
			for _, dir := range []string{filepath.Clean(next), followed(next)} {
				if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(list, dir) {
					list = append(list, dir)
				}
			}
		}
	}
	return list
}

func followed(path string) string {
	real, _ := filepath.EvalSymlinks(path)
	return real
}

// repositories refuses a line that runs git where it would obey a configuration that came
// with a clone: that of a bare repository among its files.
func (g *guard) repositories(p Place) {
	if g.err != nil || !g.git || p.Dir == "" {
		return
	}
	list := g.folders(p)
	for _, dir := range list {
		if len(list) > maxFolders || brought(dir) {
			g.refuse(message.GuardBrought, dir)
		}
	}
	if g.lost && bringsAny(p.Dir) {
		g.refuse(message.GuardBrought, p.Dir)
	}
}

// brought reports whether git, in a folder, finds a bare repository that lies in another
// one. No clone brings what is called .git.
func brought(dir string) bool {
	if slices.Contains(strings.Split(dir, string(filepath.Separator)), ".git") {
		return false
	}
	for ; !isGitDir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return false
		}
	}
	_, err := findGitDir(filepath.Dir(dir))
	return err == nil
}

// bringsAny reports whether the repository around a folder has a bare one among the files
// that it keeps. An index of version 4 does not spell its paths out.
func bringsAny(dir string) bool {
	gitDir, err := findGitDir(dir)
	if err != nil {
		return false
	}
	index, err := config.ReadFile(filepath.Join(gitDir, "index"), 64<<20)
	return err != nil && !os.IsNotExist(err) || bytes.HasPrefix(index, []byte("DIRC\x00\x00\x00\x04")) ||
		bytes.Contains(bytes.ToUpper(index), []byte("/HEAD\x00"))
}
