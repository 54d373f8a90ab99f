package host

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Texts are what people are told about a host while Overtone is installed in it
// or looked after.
type Texts struct {
	Fire     message.Text // hint: no hook was called
	Next     message.Text // after installing
	NextAuto message.Text // the same, in mode auto only
	Changed  message.Text // commands of hooks that were there have changed
	NoClone  message.Text // why a copy of a session cannot be resumed; none where it can
}

// Place is where an installation goes.
type Place struct {
	User string // the user's home
	Dir  string // the host's own folder, see [Host.Dir]
	Root string // Overtone's folder
	// Project is the folder in which the program was called, Getenv its environment:
	// settings that are only looked at may lie where they say.
	Project string
	Getenv  func(string) string
	Hook    string // the program for hooks; "" where there is none
	// Window and Percent are the point from which a host that can be told so asks
	// to compact in mode auto; 0 leaves it alone.
	Window, Percent int
	// NoWorkflows leaves out what only workflows need: agents and commands.
	NoWorkflows bool
}

// Setup is an installation in a host: what it changes, and how one sees that it
// is there.
type Setup struct {
	*Host
	Settings string // the file that is edited
	Edits    []Edit // what installs the hooks
	Auto     []Edit // what mode auto adds
	Status   *Edit  // what shows our status line; nil where the host has none
	// Rounds is what adds the hook at the end of every round of tools, a process
	// more for each; see [Host.NeedsRounds].
	Rounds []Edit
	Blocks []Block  // tables that are added to TOML files
	Beside []Beside // what else is edited
	// Plugin is the folder of files that the host loads, with its content; none
	// where hooks are only named in the settings.
	Plugin Plugin

	// Present reports whether settings show signs of an installation: one of the edits,
	// where the host says nothing else.
	Present func(settings []byte) bool
	// Check says what is wrong with the settings, which can be edited; path is how
	// the user is shown where they are.
	Check func(f File, path string) []Finding
	// Register has the host's program notice the installation, and Unregister takes
	// that back after the settings were cleared. Nil where it does so in time by itself.
	Register, Unregister func(ctx context.Context, bin string, env []string) error

	outdated func() bool // the plugin is an earlier version's; may be nil
	bare     func() bool // it has no workflows; nil where the files tell
}

// Beside is a file of JSON that is edited beside the settings.
type Beside struct {
	Path  string
	Edits []Edit
}

// Block is a table that is added to a TOML file of the host's.
type Block struct {
	Path string   // the file
	Key  []string // the name of the table
	Text string   // its header and its lines, all of them below Key
	// Marks are comment lines by which a table is known to be ours. The first is
	// written above it; the others were written by earlier versions.
	Marks []string
}

// Setup is the installation in a place. What a host does not say of its settings follows
// from the edits.
func (h *Host) Setup(p Place) Setup {
	s := h.setup(p)
	if s.Host = h; s.Present == nil {
		s.Present = func(settings []byte) bool { return len(lacking(settings, s.Edits)) < len(s.Edits) }
	}
	return s
}

// SettingsFiles are the files of the host's in which our hooks stand.
func (h *Host) SettingsFiles(p Place) []string {
	if h.setup == nil {
		return nil
	}
	s := h.setup(p)
	files := []string{s.Settings}
	for _, b := range s.Blocks {
		files = append(files, b.Path)
	}
	for _, b := range s.Beside {
		files = append(files, b.Path)
	}
	return files
}

// HasAuto reports whether mode auto changes the settings.
func (h *Host) HasAuto() bool { return len(h.autoKeys) > 0 }

// IsAuto reports whether an edit belongs to mode auto.
func (h *Host) IsAuto(e Edit) bool { return slices.Contains(h.autoKeys, e.Key()) }

// StatusLine tells whose status line settings hold: ours, of any version, another
// one's, or nobody's.
func (s Setup) StatusLine(settings []byte) (ours, taken bool) {
	if s.Status == nil {
		return false, false
	}
	d, err := parse(settings, s.Status.Comments)
	if err != nil {
		return false, false
	}
	at, there := d.find(s.Status.Path)
	return there && isStatusLine(gjson.Get(d.valueAt(at), "command").String()), there
}

// Outdated reports whether what an earlier version wrote is in place, or what this
// one wrote while the program for hooks lay elsewhere.
func (s Setup) Outdated(settings []byte) bool {
	ours, _ := s.StatusLine(settings)
	return slices.ContainsFunc(slices.Concat(s.Edits, s.Rounds), func(e Edit) bool {
		there, exact := holds(settings, e)
		return there && !exact
	}) || ours && !Holds(settings, *s.Status) || s.outdated != nil && s.outdated()
}

// IsRounds reports whether an edit adds the hook at the end of a round of tools.
func (s Setup) IsRounds(e Edit) bool {
	return slices.ContainsFunc(s.Rounds, func(r Edit) bool { return r.Key() == e.Key() })
}

// Readable says why settings cannot be edited; nil where they can.
func (s Setup) Readable(settings []byte) error {
	_, err := parse(settings, commented(s.Edits))
	return err
}

// Health is how good or bad a finding is. Only Broken is broken; a note is
// neither good nor bad.
type Health string

const (
	Fine   Health = "ok"
	Note   Health = "note"
	Warn   Health = "warn"
	Broken Health = "fail"
)

// Finding is the outcome of one check.
type Finding struct {
	ID     string
	Status Health
	Text   message.Reason
	Hint   message.Reason // what to do about it; may be empty
}

func found(id string, status Health, t message.Text, args ...any) Finding {
	return Finding{ID: id, Status: status, Text: message.Because(t, args...)}
}

func (f Finding) advise(t message.Text, args ...any) Finding {
	f.Hint = message.Because(t, args...)
	return f
}

// lacking lists the keys of edits that settings do not hold.
func lacking(settings []byte, edits []Edit) []string {
	var keys []string
	for _, e := range edits {
		if !Holds(settings, e) {
			keys = append(keys, e.Key())
		}
	}
	return keys
}

// checkHooks says whether settings lack something of ours.
func checkHooks(id string, bad Health, path string, lacks []string, name Name) Finding {
	if len(lacks) > 0 {
		return found(id, bad, message.DoctorNoKeys, path, strings.Join(lacks, ", ")).advise(message.HintInitHost, name)
	}
	return found(id, Fine, message.DoctorSettings, path)
}
