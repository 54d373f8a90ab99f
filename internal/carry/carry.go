// Package carry writes a conversation as a session of another agent: one that its own
// list shows under a title and its own command resumes.
//
// [Read] takes a session's events apart, whichever host wrote them, into a [Story]. A
// story is told as a [Talk]: the texts of user and agent, the older ones shortened, a
// line for each tool, and a note with how the work stands, the names that the texts do
// not state, and where the originals are. One file for each agent writes a talk in that
// agent's format, as a value made from values; [Make] reads, writes and registers.
//
// A clone of a session whose host keeps it in another way than in lines is made from our
// mirror of it; [Target.Give] has the host take it.
//
// The source is only read. What is made is on the list of clones, so that it can be
// removed again and counts as a copy of its source.
package carry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// Talk is a conversation to go on with, in the words of no host.
type Talk struct {
	ID, Title, CWD string
	Now            time.Time
	Lines          []Line // the first is the user's
	// Note is for the model, at the end, and hidden from the person where the host can.
	Note string
}

// Line is what one side said, with the tools that it ran.
type Line struct {
	User bool
	Text string
	At   time.Time

	Summary bool // a compaction's, which stands as the user's words where an agent reads it
	note    bool // it is the talk's
}

func (t Talk) all() []Line {
	return append(slices.Clip(t.Lines), Line{User: true, Text: t.Note, At: t.Now, note: true})
}

// Target is an agent in whose format a talk can be written.
type Target struct {
	Name  host.Name
	Title string
	// Resume is the command that goes on with a session.
	Resume func(session string) string
	// write is the session in the agent's format.
	write func(World, Talk) ([]byte, error)
	// path is where the agent looks for it; nil where a program of the agent imports it.
	path func(w World, t Talk) string
	// bring has the agent's program import a file, and gives the session's id and path;
	// the path is "" where it is no file.
	bring func(ctx context.Context, w World, t Talk, file string) (id, path string, err error)
	// after is done when the file is in its place.
	after func(w World, t Talk, path string) error
	// Give has the agent take the clone of a mirror, as a session of its own. It gives the
	// file that the agent keeps it in, "" where that is a database.
	Give func(ctx context.Context, w World, c Clone) (path string, err error)
	// Remove takes away a session that was made.
	Remove func(ctx context.Context, w World, id, path string) error
}

// World is what a target touches.
type World struct {
	// Dir is the folder of an agent's own files, by the variable that names it and its
	// usual name below the home.
	Dir func(variable, usual string) string
	// Run runs a program in a folder and gives its output.
	Run func(ctx context.Context, dir, program string, args ...string) ([]byte, error)
}

func (w World) of(name host.Name) string { return host.Of(name).Dir(w.Dir) }

// Targets are the agents that a conversation can be carried to.
func Targets() []Target { return []Target{claude(), codex(), copilot(), opencode(), gemini()} }

// To finds a target by its name.
func To(name string) (Target, bool) {
	for _, t := range Targets() {
		if string(t.Name) == name {
			return t, true
		}
	}
	return Target{}, false
}

// Names are those of the targets.
func Names() []string {
	var names []string
	for _, t := range Targets() {
		names = append(names, string(t.Name))
	}
	return names
}

// known is a target that is one of our hosts, whose sessions and clones are files.
func known(name host.Name) Target {
	h := host.Of(name)
	return Target{
		Name: name, Title: h.Title, Resume: h.Resume,
		after:  func(World, Talk, string) error { return nil },
		Give:   func(_ context.Context, _ World, c Clone) (string, error) { return c.Path, nil },
		Remove: func(_ context.Context, _ World, _, path string) error { return os.Remove(path) },
	}
}

const isoTime = "2006-01-02T15:04:05.000Z"

func iso(t time.Time) string { return t.UTC().Format(isoTime) }

func lines(values ...any) ([]byte, error) {
	var out []byte
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = append(append(out, b...), '\n')
	}
	return out, nil
}

// random is n hexadecimal digits of chance.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)[:n]
}
