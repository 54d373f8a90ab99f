package catalog

import (
	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// ToContinue finds the session to go on with: by name, by what the host says in the
// environment, or the newest of a folder that somebody used. A clone that nobody used is
// none that somebody means without naming it: where a folder has nothing else, it is named.
func (f Finder) ToContinue(ref, dir string) (transcript.File, error) {
	if ref == "" {
		ref = host.SessionFrom(f.Getenv)
	}
	if ref != "" {
		return f.Resolve(ref)
	}
	files, err := transcript.List(f.Dir)
	unused, here, clone, used := f.Unused(), carry.RealPath(dir), "", false
	for _, file := range files {
		idle := unused(file)
		used = used || !idle
		if idle && clone != "" {
			continue // the newest is named
		}
		if cwd := transcript.FirstCWD(file.Path); cwd == "" || carry.RealPath(cwd) != here {
			continue
		}
		if !idle {
			f.chose(file.ID)
			return file, nil
		}
		clone = file.ID
	}
	switch {
	case clone != "":
		return transcript.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueClone, clone), message.HintContinueThis, clone)}
	case used:
		return transcript.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueNone, dir), message.HintContinueNone)}
	case err != nil:
		return transcript.File{}, err
	}
	return transcript.File{}, NoneYet()
}
