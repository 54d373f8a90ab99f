// Package host is what differs between the agents that Overtone sits beside: the
// settings they read, how the hooks get there, and which versions are known to
// behave.
//
// The files that are edited belong to the user. So:
//
//   - JSON is edited by spans after it was found valid: order, indentation,
//     line ends and every byte that is not ours stay. What is not JSON is never
//     written.
//   - Before a file changes, its bytes and a manifest of the edits are kept
//     (see [Backups]). Undoing gives the old bytes back if the file is as we
//     left it, and otherwise takes out our members only.
//   - A link stays a link: the file behind it is replaced, whole, by rename.
//   - Nothing is written that is there already.
//
// The package decides nothing about when to install and prints nothing. It reads
// no environment and no clock: paths, environment and time come in.
package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Name is a host's name, as on the command line and in our files.
type Name string

const (
	ClaudeCode Name = "claude-code"
	Codex      Name = "codex"
	Copilot    Name = "copilot"
	Opencode   Name = "opencode"
	Gemini     Name = "gemini"
)

// Host is one agent, and all that differs between it and the others. Each has a
// file of its own.
type Host struct {
	Name Name
	// Title is its name as people write it.
	Title string
	// Program is what the user starts.
	Program string
	// Floor is the oldest version whose hooks are known to behave. Below it they
	// may not load at all where NeedsFloor says so.
	Floor      Version
	NeedsFloor bool
	// Verified are the versions that the end-to-end tests run, oldest first. A
	// newer one than the last most likely works, but nobody has seen it.
	Verified []Version
	// Events are the hooks that it calls, as `overtone hook` names them; Core ones
	// come with every session.
	Events, Core []string
	// SessionEnv and ProjectEnv are the variables in which it names the session
	// and the project to the programs it starts, the most telling first.
	SessionEnv, ProjectEnv []string

	// Delivers: what a hook says reaches a model and a person.
	Delivers bool
	// Gates: a hook may refuse a compaction. Mode auto depends on it, so the program
	// is tried before mode auto is set up.
	Gates bool
	// AsksAgents: a hook may send a sub-agent that ends back to work.
	AsksAgents bool
	// Loops: a hook may keep a turn going, stage after stage.
	Loops bool
	// AgentsCompact: a sub-agent's own compaction is reported like the main
	// thread's, without a sign of whose it is in versions before NamesAgents.
	AgentsCompact bool
	NamesAgents   Version
	// CommandEnd reads how a command ended from the answer in the session's file. It is
	// set for hosts that wait for no process at the end of a command or an edit: there
	// the file alone tells that a command ended well. A failure or an edit is reported
	// by a process that may come late, out of order, after its turn, or never, and whose
	// output nobody reads.
	CommandEnd func(text string, failed bool, result json.RawMessage) (output string, exit *int)
	// BackgroundTask reads, from the same answer, under which name the command runs on
	// in the background; "" where it is over. BackgroundEnd reads how it ended from what
	// the host writes to the model then.
	BackgroundTask func(result json.RawMessage) (task string)
	BackgroundEnd  func(note string) (output string, exit *int)
	// PutsBack is how many of the files that were read last it puts into the context
	// again after a compaction, whether or not its session file shows that.
	PutsBack int
	// ForksAsResumed: before that version a copy of a session begins like the
	// original that is resumed, with its name.
	ForksAsResumed bool
	// NoStages: it has no agents that could be stages of a workflow.
	NoStages bool
	// FileTells: no hook tells that a compaction is over, or what the agent said
	// last; the session's file does.
	FileTells bool
	// Unannounced: nor does a hook tell that one begins.
	Unannounced bool
	// TurnOver reads, where FileTells, whether a line of the session's file says that
	// the newest turn is over; told is false for a line that says nothing of it.
	TurnOver func(line []byte) (over, told bool)
	// Plans reads, where no hook says so, whether a line of the session's file says that
	// the newest turn is one of plan mode.
	Plans func(line []byte) (plans, told bool)
	// NoPerson: what a hook says to the person is not shown; the model has to
	// pass it on.
	NoPerson bool
	// BriefsAtStart: what a sub-agent has to know goes to it as it begins; its prompt
	// cannot be changed without answering for the person.
	BriefsAtStart bool
	// WaitTool is how the main agent waits for sub-agents, where their end does not
	// wake it; "" where it does.
	WaitTool string
	// CloseTool ends a sub-agent that is done, where it would count as one at work
	// until then.
	CloseTool string
	// AgentFile is a sub-agent's session file, beside that of the main thread, and Aborted
	// reads whether a line of it says that somebody has interrupted its newest turn. They
	// are set where nothing else tells: such an agent is waited for in vain.
	AgentFile func(main, agent string, now time.Time) string
	Aborted   func(line []byte) (aborted, told bool)
	// NoCommands: it has no slash commands of the plugin.
	NoCommands bool
	// Asks: a hook can leave it to the person whether a tool may run.
	Asks bool
	// window is the context's that its environment tells, 0 for nothing.
	window func(getenv func(string) string) int64
	// model is the model that its environment or its settings choose, "" for none; dir
	// is the folder of its own files.
	model func(getenv func(string) string, dir, project string) string
	// Watched: a watcher may drive its threads and hand over packets of its own.
	Watched bool
	// Steers: what calls the hooks can compact when a reply says so, and can keep the
	// host from doing it by itself.
	Steers bool
	// Mirrored: its sessions are no files of lines. We keep a file of our own of each,
	// in Claude Code's form, which the rest reads.
	Mirrored bool

	// Decode reads a hook's input, which is a valid JSON object.
	Decode func(event string, payload []byte) Call
	// Encode writes a hook's output; nothing at all where there is nothing to
	// say.
	Encode func(in *Call, r Reply) []byte
	// Resume is the command that goes on with a session.
	Resume func(session string) string
	// Sessions is where it keeps its session files.
	Sessions SessionFiles
	// AgentTranscript is where a sub-agent's session is kept; "" = nowhere.
	AgentTranscript func(transcript, agent string) string

	Texts Texts
	// SettingsCheck is the name of the check of the settings.
	SettingsCheck string

	dirVar, dirName string // the folder of its own files: variable, and name below the home
	dirBelow        string // where they lie in it; "" = right there
	autoKeys        []string
	setup           func(Place) Setup
}

// SessionFiles tells a host's session files from the others in its folder.
type SessionFiles struct {
	Dir       string // below the host's own folder
	Depth     int    // how many folders stand between it and the files, at most
	Prefix    string // of the files' names
	ByProject bool   // the first folder is named after the project
	Except    string // a prefix of files that are not sessions; "" = none
	Archive   string // where those lie that the user has put away, beside Dir; "" = nowhere
}

// Match reports whether a file is called like a session.
func (s SessionFiles) Match(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && strings.HasPrefix(name, s.Prefix) && (s.Except == "" || !strings.HasPrefix(name, s.Except))
}

// Folders are those with sessions, below the host's own.
func (s SessionFiles) Folders() []string {
	if s.Archive == "" {
		return []string{s.Dir}
	}
	return []string{s.Dir, s.Archive}
}

// All are the hosts, the usual one first.
func All() []*Host { return []*Host{&claudeHost, &codexHost, &copilotHost, &opencodeHost, &geminiHost} }

// Names are those of the hosts, in the same order.
func Names() []string {
	var names []string
	for _, h := range All() {
		names = append(names, string(h.Name))
	}
	return names
}

// Named finds a host. "" is none, for which there is [Plain].
func Named(name string) (*Host, bool) {
	for _, h := range All() {
		if string(h.Name) == name {
			return h, true
		}
	}
	return nil, false
}

// Of is the host with a name that is known to be one.
func Of(name Name) *Host {
	h, _ := Named(string(name))
	return h
}

// SessionFrom is the session that a host names in the environment of what it
// starts.
func SessionFrom(getenv func(string) string) string {
	for _, h := range All() {
		for _, key := range h.SessionEnv {
			if id := getenv(key); id != "" {
				return id
			}
		}
	}
	return ""
}

// Dir is the folder of the host's own files. find knows the user's home: it
// gives the folder that a variable names, else the usual one.
func (h *Host) Dir(find func(variable, usual string) string) string {
	return filepath.Join(find(h.dirVar, h.dirName), h.dirBelow)
}

// Version is major, minor and patch.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Less compares two versions.
func (v Version) Less(o Version) bool { return slices.Compare(v[:], o[:]) < 0 }

// LargeModel is the model that the host's environment or settings choose, where its name
// says that the large window is on; "" otherwise.
func (h *Host) LargeModel(getenv func(string) string, dir, project string) string {
	if h.model != nil {
		if m := h.model(getenv, dir, project); marksLarge(m) {
			return m
		}
	}
	return ""
}

// Window is the size of the context's window that the host's environment tells, 0 where
// it tells nothing.
func (h *Host) Window(getenv func(string) string) int64 {
	if h.window == nil {
		return 0
	}
	return h.window(getenv)
}

// Newer reports whether a version is newer than all that were verified.
func (h *Host) Newer(v Version) bool {
	return len(h.Verified) > 0 && h.Verified[len(h.Verified)-1].Less(v)
}

// EndsUnwaited is true for tools whose end this host reports in a process that it does
// not wait for: the report may come late, twice or never.
func (h *Host) EndsUnwaited(k Kind) bool {
	return h.CommandEnd != nil && (k == ShellTool || k.Edits())
}

// TellsWhose reports whether a version says whose a compaction is.
func (h *Host) TellsWhose(version string) bool {
	v, ok := parseVersion(version)
	return ok && h.AgentsCompact && !v.Less(h.NamesAgents)
}

// NeedsRounds reports whether the end of every round of tools has to be told: to
// the gate of mode auto, which weighs what a round has brought, and in a version
// that does not say whose a compaction is. One that is not known is the newest.
func (h *Host) NeedsRounds(mode string, v Version) bool {
	return h.Gates && mode == "auto" || h.AgentsCompact && v != Version{} && v.Less(h.NamesAgents)
}

// parseVersion finds the version in what a program prints for --version:
// "2.1.197 (Claude Code)", "codex-cli 0.166.0", "GitHub Copilot CLI 1.0.102.".
func parseVersion(text string) (Version, bool) {
	for word := range strings.FieldsSeq(text) {
		word, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(word, "v"), "."), "-")
		word, _, _ = strings.Cut(word, "+")
		var v Version
		parts := strings.Split(word, ".")
		ok := len(parts) == len(v)
		for i := 0; ok && i < len(v); i++ {
			n, err := strconv.ParseUint(parts[i], 10, 31)
			v[i], ok = int(n), err == nil
		}
		if ok {
			return v, true
		}
	}
	return Version{}, false
}

// versionWait bounds a program that is asked for its version.
const versionWait = 20 * time.Second

// packages are those of npm whose programs are as old as they say. Copilot CLI is none: it
// may run a newer copy of itself.
var packages = []string{"@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "opencode-ai"}

// packaged is the version of a program from npm: to start Node takes a second or two.
func packaged(bin string) (Version, bool) {
	path, err := filepath.EvalSymlinks(bin)
	path = filepath.ToSlash(path)
	for _, name := range packages {
		at := strings.LastIndex(path, "/node_modules/"+name+"/")
		if err != nil || at < 0 {
			continue
		}
		var manifest struct{ Version string }
		if data, err := os.ReadFile(path[:at] + "/node_modules/" + name + "/package.json"); err == nil && json.Unmarshal(data, &manifest) == nil {
			return parseVersion(manifest.Version)
		}
	}
	return Version{}, false
}

// Ask is the version of a program: its package's, else what it says when it is run.
func Ask(ctx context.Context, bin string, env []string) (Version, error) {
	if v, ok := packaged(bin); ok {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "--version")
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Version{}, fmt.Errorf("run %s --version: %w", bin, err)
	}
	v, ok := parseVersion(string(out))
	if !ok {
		return Version{}, fmt.Errorf("run %s --version: no version in %.80q", bin, out)
	}
	return v, nil
}
