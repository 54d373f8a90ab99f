package catalog

import (
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// ToContinue finds the session to go on with: by name, by what the host says in the
// environment, or the newest of a folder that somebody used.
func (f Finder) ToContinue(ref, dir string) (transcript.File, error) {
	if ref == "" {
		ref = host.SessionFrom(f.Getenv)
	}
	if ref != "" {
		return f.Resolve(ref)
	}
	files, err := f.newest()
	here := realDir(dir)
	for _, file := range files {
		if cwd := transcript.FirstCWD(file.Path); cwd != "" && realDir(cwd) == here {
			f.chose(file.ID)
			return file, nil
		}
	}
	switch {
	case len(files) > 0:
		return transcript.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueNone, dir), message.HintContinueNone)}
	case err != nil:
		return transcript.File{}, err
	}
	return transcript.File{}, NoneYet()
}

func realDir(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
