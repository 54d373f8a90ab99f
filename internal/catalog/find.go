package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Finder finds the session that a command is about.
type Finder struct {
	Home   *store.Home
	Dir    func(*host.Host) string // of a host's own files
	Getenv func(string) string
	// Chosen is told which session was taken where none was named; it may be nil.
	Chosen func(id string)
	// Titled are the sessions in a list; it may be nil where none is found by its title.
	Titled func() []Row
	// Remove takes away a clone that was made here; it may be nil where none is removed.
	Remove func(ctx context.Context, host, id, path string) error
	// Closed is told what could not be listed where other sessions were; it may be nil.
	Closed func(error)
}

// Session finds the session that a command changes: by flag, or by what the host
// puts into the environment of its tools. One that nobody knows yet may be meant
// by its whole name; with recent, the session used last may be.
func (f Finder) Session(id string, recent bool) (*store.Session, error) {
	s, _, err := f.find(id, recent, false)
	return s, err
}

// Look finds the session that a command shows. Any session that is listed will do,
// also one that no hook has seen, and a beginning of its name; one that is not
// there is an error. The file is empty where the host has none.
func (f Finder) Look(id string) (*store.Session, transcript.File, error) {
	return f.find(id, true, true)
}

// Known is Session for one that has to be there.
func (f Finder) Known(id string, recent bool) (*store.Session, error) {
	s, _, err := f.find(id, recent, true)
	return s, err
}

func (f Finder) chose(id string) {
	if f.Chosen != nil {
		f.Chosen(id)
	}
}

func (f Finder) find(id string, recent, must bool) (*store.Session, transcript.File, error) {
	none := transcript.File{}
	named := id != ""
	if !named {
		id = host.SessionFrom(f.Getenv)
	}
	if id == "" && recent {
		if id = f.lastUsed(); id != "" {
			f.chose(id)
		}
	}
	if id == "" {
		list := f.Recent(3)
		files, _ := f.newest() // what cannot be listed is not offered
		for _, file := range files[:min(len(files), 3)] {
			if len(list) < 3 && !slices.Contains(list, file.ID) {
				list = append(list, file.ID)
			}
		}
		if len(list) == 0 {
			return nil, none, NoneYet()
		}
		return nil, none, message.Misuse{Err: message.WithHint(message.Fail(message.NoSession), message.HintSession, list)}
	}
	file := none
	if named {
		var err error
		if id, file, err = f.whole(id, must); err != nil {
			return nil, none, err
		}
	} else if known, err := transcript.Resolve(id, f.Dir); err == nil {
		file = known
	}
	s, err := f.Home.Session(id)
	if err != nil {
		return nil, none, f.unknown(id)
	}
	return s, file, nil
}

// whole completes the beginning of a session's name.
func (f Finder) whole(id string, must bool) (string, transcript.File, error) {
	id = strings.TrimSuffix(id, "…") // as lists cut it
	var found []string
	for _, known := range f.Recent(math.MaxInt) {
		switch {
		case known == id:
			file, _ := transcript.Resolve(id, f.Dir) // the host may have removed it
			return id, file, nil
		case strings.HasPrefix(known, id):
			found = append(found, known)
		}
	}
	file, err := transcript.Resolve(id, f.Dir)
	var many *transcript.Ambiguous
	switch {
	case err == nil && file.ID != "":
		if !slices.Contains(found, file.ID) {
			found = append(found, file.ID)
		}
	case errors.As(err, &many):
		return "", file, FindHint(err)
	}
	switch {
	case len(found) == 1:
		return found[0], file, nil
	case len(found) > 1:
		return "", file, several(id, found)
	case !must:
		return id, transcript.File{}, nil
	}
	// State of an older version may be all there is.
	if s, err := f.Home.Session(id); err == nil {
		if state, err := session.Peek(s); state != nil || err != nil {
			return id, transcript.File{}, nil //nolint:nilerr // whoever reads it tells
		}
	}
	file, err = f.titled(id)
	return file.ID, file, err
}

// titled finds the one session that has these words in its title.
func (f Finder) titled(words string) (transcript.File, error) {
	if f.Titled == nil || strings.TrimSpace(words) == "" {
		return transcript.File{}, f.unknown(words)
	}
	var ids, told []string
	for _, row := range f.Titled() {
		if strings.Contains(strings.ToLower(row.Title), strings.ToLower(words)) {
			ids = append(ids, row.ID)
			told = append(told, fmt.Sprintf("%s (%s, %s)", row.ID, message.Short(message.OneLine(row.Title), 40), message.Age(time.Duration(row.AgeSeconds)*time.Second)))
		}
	}
	switch len(ids) {
	case 0:
		return transcript.File{}, f.unknown(words)
	case 1:
		return transcript.Resolve(ids[0], f.Dir)
	}
	return transcript.File{}, several(words, told)
}

// several is the answer to a name that many sessions have.
func several(name string, ids []string) error {
	list := slices.Clone(ids[:min(5, len(ids))])
	if len(ids) > 5 {
		list = append(list, "…")
	}
	return message.Misuse{Err: message.WithHint(message.Fail(message.AmbiguousID, name, len(ids)), message.HintSeveral, list)}
}

// unknown is the answer to a name that no session has.
func (f Finder) unknown(id string) error {
	err := message.Fail(message.NoSuchSession, id)
	if near := workflow.Closest(id, f.Names()); near != "" && near != id { // a state without a file has its name
		return message.Misuse{Err: message.WithHint(err, message.HintDidYouMean, near)}
	}
	return message.Misuse{Err: message.WithHint(err, message.HintSessions)}
}

// NoneYet is the answer where there is no session at all.
func NoneYet() error {
	return message.Misuse{Err: message.WithHint(message.Fail(message.NoSessions), message.HintNoSession)}
}

// lastUsed is the session used last, whoever knows it.
func (f Finder) lastUsed() string {
	id, when := "", time.Time{}
	if list, err := f.Home.Sessions(); err == nil && len(list) > 0 {
		id, when = list[0].ID, list[0].Modified
	}
	if files, err := f.newest(); err == nil && len(files) > 0 && files[0].Last.After(when) {
		id = cmp.Or(files[0].ID, id)
	}
	return id
}

// Names are all sessions that can be named, newest first.
func (f Finder) Names() []string {
	names := f.Recent(math.MaxInt)
	files, _ := transcript.List(f.Dir) // what cannot be listed is not offered
	for _, file := range files {
		if file.ID != "" && !slices.Contains(names, file.ID) {
			names = append(names, file.ID)
		}
	}
	return names
}

// Recent are the sessions that hooks have seen, newest first, at most n.
func (f Finder) Recent(n int) []string {
	list, err := f.Home.Sessions()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var ids []string
	for _, s := range list[:min(n, len(list))] {
		ids = append(ids, s.ID)
	}
	return ids
}

// Resolve finds a session and says what to do when it cannot.
func (f Finder) Resolve(ref string) (transcript.File, error) {
	file, err := transcript.Resolve(ref, f.Dir)
	// Where a host's folder cannot be read, it may be in there.
	if errors.Is(err, transcript.ErrNotFound) && !errors.Is(err, fs.ErrPermission) {
		return f.titled(ref)
	}
	return file, ReadHint(ref, FindHint(err))
}

// File finds the file of a session: by name, by what the host says in the
// environment, or the newest that somebody used.
func (f Finder) File(id string) (transcript.File, error) {
	id = cmp.Or(id, host.SessionFrom(f.Getenv))
	if id != "" {
		return f.Resolve(id)
	}
	list, err := f.newest()
	if len(list) == 0 {
		if err != nil {
			return transcript.File{}, err
		}
		return transcript.File{}, NoneYet()
	}
	f.chose(list[0].ID)
	return list[0], nil
}

// ReadHint says what to do about a file that no host has written.
func ReadHint(path string, err error) error {
	if errors.Is(err, transcript.ErrUnknown) {
		return message.WithHint(message.Fail(message.NotASession, path), message.HintSessions)
	}
	return err
}

// FindHint says what to do about a session that cannot be found. A name that none
// or several have is a wrong one.
func FindHint(err error) error {
	var many *transcript.Ambiguous
	switch {
	case errors.As(err, &many):
		return several(many.Prefix, many.IDs)
	case errors.Is(err, transcript.ErrNotFound) && !errors.Is(err, fs.ErrPermission):
		return message.Misuse{Err: message.WithHint(err, message.HintSessions)}
	case errors.Is(err, transcript.ErrNotFound):
		return message.WithHint(err, message.HintSessions)
	}
	return err
}

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
	made, here, used := compress.ClonesIn(f.Home.Root()).All(), carry.RealPath(dir), false
	unused := f.unused(made)
	var clones []string
	for _, file := range files {
		idle := unused(file)
		used = used || !idle
		if cwd := cmp.Or(made[file.ID].CWD, transcript.FirstCWD(file.Path)); cwd == "" || carry.RealPath(cwd) != here {
			continue
		}
		if !idle {
			f.chose(file.ID)
			return file, nil
		}
		clones = append(clones, file.ID)
	}
	switch {
	case len(clones) > 0:
		return transcript.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueClone, len(clones), clones[0]), message.HintContinueThis, clones[0])}
	case used:
		return transcript.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueNone, dir), message.HintContinueNone)}
	case err != nil:
		return transcript.File{}, err
	}
	return transcript.File{}, NoneYet()
}
