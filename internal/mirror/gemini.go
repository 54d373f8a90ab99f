package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// refreshGemini mirrors the session files of Gemini CLI that have changed, and removes
// the mirrors of those that are gone: tmp/PROJECT/chats/session-*.jsonl, the same
// ending in .json of older versions, and chats/SESSION/*.jsonl of sub-agents.
func refreshGemini(dir, root, mine string) error {
	folders := GeminiProjects(dir)
	known := map[string]bool{}
	var errs []error
	projects, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, project := range projects {
		folder := filepath.Join(dir, "tmp", project.Name(), "chats")
		if _, err := os.ReadDir(folder); err != nil { // a pattern finds nothing where it is closed to us
			if !errors.Is(err, fs.ErrNotExist) && project.IsDir() {
				errs = append(errs, err)
			}
			continue
		}
		agents, _ := filepath.Glob(filepath.Join(folder, "*", "*.jsonl")) // the pattern is a good one
		for _, path := range append(transcript.GeminiFiles(folder), agents...) {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			g, err := transcript.GeminiAbout(path)
			if err == nil && g.Session == "" && info.Size() > 0 {
				err = fmt.Errorf("%s: its first line names no session", path)
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			slug := filepath.Base(filepath.Dir(folder))
			if g.CWD = cmp.Or(g.CWD, folders[slug]); g.CWD == "" {
				g.CWD, _ = GeminiOwner(dir, slug)
			}
			m := transcript.GeminiMirror(root, path, g)
			// After a resume there are two files of one session, one of them empty.
			if g.Session == "" || !g.Agent && transcript.GeminiSession(filepath.Dir(path), g.Session) != path {
				continue
			}
			known[m.Path] = true
			if m.Fresh(info.ModTime()) {
				continue
			}
			whole, err := transcript.ReadGemini(path)
			if err == nil {
				m.Title = whole.Title
				err = m.Write(whole.Messages)
			}
			if err == nil {
				err = m.Stamp(info.ModTime())
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, forget(mine, known))...)
}

// GeminiFile is the file that a session is kept in, "" where there is none.
func GeminiFile(dir, id string) string {
	folders, _ := filepath.Glob(filepath.Join(dir, "tmp", "*", "chats")) // the pattern is a good one
	for _, f := range folders {
		if path := transcript.GeminiSession(f, id); path != "" {
			return path
		}
	}
	return ""
}

// GeminiProjects are the folders behind the names that the host gave them.
func GeminiProjects(dir string) map[string]string {
	folders := map[string]string{}
	data, _ := os.ReadFile(filepath.Join(dir, "projects.json")) // without it, sessions have no folder
	gjson.GetBytes(data, "projects").ForEach(func(folder, slug gjson.Result) bool {
		folders[slug.String()] = folder.String()
		return true
	})
	return folders
}

// GeminiRoot is the file in which the host notes whose folder it is.
const GeminiRoot = ".project_root"

// GeminiOwner is the folder that a name stands for, where the host has noted it.
func GeminiOwner(dir, name string) (string, bool) {
	for _, base := range [...]string{"tmp", "history"} {
		if b, err := os.ReadFile(filepath.Join(dir, base, name, GeminiRoot)); err == nil {
			return strings.TrimSpace(string(b)), true
		}
	}
	return "", false
}

func forget(root string, known map[string]bool) error {
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil && path == root { // nothing was mirrored there, and $OVERTONE_HOME may be no folder
			return nil
		}
		if err == nil && strings.HasSuffix(path, ".jsonl") && !known[path] {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
