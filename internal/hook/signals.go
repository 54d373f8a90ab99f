package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// PromptFile is the user's copy of the auto-compact prompt.
func PromptFile(home *store.Home) string { return filepath.Join(home.Root(), "auto-compact.md") }

// settings reads the prompt file; it is asked at the end of a turn and before a
// compaction, never on a tool's way.
func (c *call) settings() compact.Settings {
	file, problems := prompt.LoadAutoCompact(PromptFile(c.home), c.cfg.Compact.Overrides)
	if len(problems) > 0 {
		c.complain("auto-compact", problems[0])
	}
	return compact.From(file, c.cfg.Compact)
}

// watch applies an event of the session to the signals.
func (d *desk) watch(e host.Event, set compact.Settings) {
	d.mem.Watch = d.mem.Watch.Apply(e, set)
	d.dirty = true
}

// promptSeen starts a turn. What the host itself sends is no request.
func (d *desk) promptSeen(text string, note bool) {
	d.see()
	d.watch(host.TurnStarted{At: d.c.now}, compact.Settings{})
	if !note {
		d.watch(host.UserMessage{Text: text}, compact.Settings{})
	}
}

// see remembers where the transcript is and which model writes it, and takes
// the size that the last compaction left as soon as it is told: a turn later it
// would be the size of that turn.
func (d *desk) see() {
	w := &d.mem.Watch
	seen := host.SessionSeen{Transcript: d.c.in.Transcript, Model: d.c.in.Model}
	if seen.Transcript != "" && seen.Transcript != w.Transcript || seen.Model != "" && seen.Model != w.Model {
		d.watch(seen, compact.Settings{})
	}
	if n := len(w.History); n > 0 && w.History[n-1].After < 0 {
		d.measure()
	}
}

// measure takes the size of the context from the transcript.
func (d *desk) measure() {
	d.watch(usageSeen(transcript.TailUsage(d.mem.Watch.Transcript)), compact.Settings{})
}

func usageSeen(u transcript.Usage, ok bool) host.UsageSeen {
	if !ok {
		return host.UsageSeen{Used: -1}
	}
	return host.UsageSeen{Used: u.Tokens(), Window: u.Window, Model: u.Model}
}

// observation is a shell command as the host reports it.
func (c *call) observation() shellcmd.Observation {
	cwd := c.in.Cwd
	return shellcmd.Observation{
		Line: c.in.Tool.Command, Cwd: cwd, Home: c.env.Getenv("HOME"), Head: shellcmd.ReadHead,
		Aliases: shellcmd.UserAliases(cwd, c.env.Getenv("HOME"), c.env.Getenv),
	}
}

// markRepos remembers the repositories before a command that may commit.
func (c *call) markRepos() error {
	if c.in.Tool.Kind != host.ShellTool {
		return nil
	}
	marks := shellcmd.Snapshot(c.observation())
	id := c.in.Tool.ID
	if len(marks) == 0 || id == "" {
		return nil
	}
	return c.update(func(d *desk) error {
		d.watch(host.CommandStarted{ID: id, Observation: shellcmd.Observation{Before: marks}}, compact.Settings{})
		return nil
	})
}

// finished is a shell command that has ended. Codex gives neither a duration nor
// an exit status.
func (c *call) finished() host.CommandFinished {
	o := c.observation()
	o.Ended = c.now
	if c.in.Tool.Timed {
		o.Started = c.now.Add(-c.in.Tool.Took)
	}
	o.Output, o.Exit = c.in.Tool.Output, c.in.Tool.Exit
	return host.CommandFinished{ID: c.in.Tool.ID, Observation: o}
}

// idle reports whether a finished command changes nothing that is remembered and
// nothing waits for the main thread, as is usual. It looks into the memory
// without decoding it: that, and the lock, would cost such a call more than all
// else it does.
func (c *call) idle() bool {
	data, err := c.sess.Version(MemoryFile)
	if err != nil || !gjson.ValidBytes(data) {
		return false
	}
	m := gjson.ParseBytes(data)
	w := m.Get("watch")
	same := func(v, known string) bool { return v == "" || v == w.Get(known).String() }
	k := m.Get("compaction")
	settled := !k.Exists() || k.Get("status").String() == failed ||
		k.Get("status").String() == done && (!k.Get("receipt").Exists() || compact.ReceiptState(k.Get("receipt.state").String()).Final())
	if !settled || m.Get("outbox").Exists() || m.Get("thread").Exists() || w.Get("marks").Exists() ||
		!w.Get("state.worked").Bool() || w.Get("state.slice.failures").Exists() || !same(c.in.Transcript, "transcript") || !same(c.in.Model, "model") {
		return false
	}
	o := compact.Thread{Turn: w.Get("turn").Time()}.Observed(c.finished())
	if shellcmd.Checkpointed(o) {
		return false
	}
	return !shellcmd.Committed(o).Committed
}

// toolSeen takes what a finished tool tells.
func (d *desk) toolSeen() {
	d.see()
	if d.c.in.Tool.Kind == host.ShellTool {
		d.watch(d.c.finished(), compact.Settings{})
	}
	for _, e := range d.c.in.Tool.Done {
		d.watch(e, compact.Settings{})
	}
}

// decision weighs the turn, and leaves a line on the timeline when its outcome
// changed.
func (d *desk) decision(set compact.Settings) (compact.Decision, error) {
	w := &d.mem.Watch
	d.measure()
	dec := w.Decide(d.c.now, set)
	var news bool
	if *w, news = w.Announce(dec); !news {
		return dec, nil
	}
	return dec, d.tx.Emit(store.On(message.EventCompactDecision, "verdict", dec.Verdict, "cause", dec.Cause, "tier", dec.Tier,
		"percentRemaining", dec.PercentRemaining, "signals", dec.Signals, "reason", dec.Reason.In(d.c.lang)))
}

// turnEnded judges a finished turn. In mode suggest the person is told, once per
// growth of the context; hooks cannot compact by themselves.
func (d *desk) turnEnded(r *host.Reply) error {
	set := d.c.settings()
	w := &d.mem.Watch
	d.see()
	d.watch(host.AgentMessage{Text: d.c.in.Answer}, set)
	d.watch(host.TurnEnded{}, set)
	dec, err := d.decision(set)
	if err != nil {
		return err
	}
	var tell bool
	if *w, tell = w.Tell(dec, set); tell {
		r.Person = joinLines(r.Person, message.CompactNow.Format(d.c.lang, dec.PercentRemaining, boundaries(dec.Met)))
	}
	return nil
}

func boundaries(list []compact.Boundary) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = string(b)
	}
	return strings.Join(names, ", ")
}

// stageSeen counts a passed stage of ours as a boundary.
func (d *desk) stageSeen(out workflow.Outcome) {
	if out.Result != "" && out.Kind != workflow.Redelegate {
		d.watch(host.StageCompleted{Stage: out.Stage}, compact.Settings{})
	}
}

// gate answers Claude Code's question whether it may compact now. Anything it
// does not know opens it: a gate that never opens would end the session.
func (d *desk) gate(set compact.Settings) (compact.Answer, error) {
	w := &d.mem.Watch
	dec, err := d.decision(set)
	if err != nil {
		d.c.complain("timeline", err)
	}
	ask := compact.Ask{Settings: set, Decision: dec, Main: !d.ofSubagent(), Usage: w.Weigh(d.c.now, set).Usage}
	if !ask.Main {
		ask.Usage = w.Measure(usageSeen(transcript.TailAgentUsage(d.c.host.AgentTranscript(w.Transcript, d.mem.Thread))), set)
	}
	return compact.Gate(ask), nil
}

// packet is the text that carries the thread across a compaction: the workflow's
// recovery, then the note on the work itself.
func (d *desk) packet(n int, set compact.Settings, recovery string, tasks []string) compact.Packet {
	w := &d.mem.Watch
	session := d.c.sess.ID()
	if d.c.host.Watched {
		// A watcher of the thread numbers its own packets.
		session += "/hooks"
	}
	p := compact.Packet{ID: compact.PacketID(session, n), Created: d.c.now, Expires: d.c.now.Add(set.Expiry)}
	note := ""
	// Without a host there is nobody to hand the note to.
	if d.c.host.Delivers && !w.Empty() {
		note = compact.Write(w.Facts(session, n, d.c.now, d.nextSteps(tasks)...), set, d.c.lang).Text
	}
	p.Text = joinLines(recovery, note)
	return p
}

// nextSteps are the open steps beside the plan's: the workflow's, then tasks.
func (d *desk) nextSteps(tasks []string) []string {
	if d.state != nil && d.state.Active {
		if step := workflow.NextStep(d.state, d.c.lang); step != "" {
			return append([]string{step}, tasks...)
		}
	}
	return tasks
}

// Insight is what `overtone compact explain` shows of a session.
type Insight struct {
	Input    compact.Input
	Decision compact.Decision
	Suggest  compact.Suggestion
	Receipt  *compact.Receipt
	Workflow bool
}

// Explain reads a session's memory and decides as the hooks would, changing
// nothing.
func Explain(home *store.Home, sess *store.Session, env Env, transcriptPath string) (Insight, error) {
	c := &call{env: env, home: home, sess: sess, now: env.Now()}
	folders, err := store.FindFolders(env.Getenv)
	if err != nil {
		return Insight{}, err
	}
	c.loadConfig(folders.ShownClaude)
	m, err := c.recall()
	if err != nil {
		return Insight{}, err
	}
	s, err := Peek(sess)
	if err != nil {
		return Insight{}, err
	}
	watched, err := watchedCodex(sess)
	if err != nil {
		return Insight{}, err
	}
	if watched != nil {
		m.Watch.State, m.Watch.History = watched.State, watched.History
		m.Watch.Usage = watched.Usage
	}
	if transcriptPath == "" {
		transcriptPath = m.Watch.Transcript
	}
	c.in.Transcript = transcriptPath
	d := &desk{c: c, mem: m, state: s}
	set := c.settings()
	if watched == nil {
		m.Watch = m.Watch.Apply(usageSeen(transcript.TailUsage(transcriptPath)), set)
	}
	in := m.Watch.Weigh(c.now, set)
	out := Insight{Input: in, Decision: compact.Decide(in), Workflow: s != nil}
	if watched != nil && watched.Record.Receipt.ID != "" {
		out.Receipt = &watched.Record.Receipt
	}
	if k := m.Compaction; k != nil && k.Receipt != nil && (out.Receipt == nil || k.Receipt.Created.After(out.Receipt.Created)) {
		out.Receipt = k.Receipt
	}
	if s != nil {
		si, err := d.suggestInput()
		if err != nil {
			return out, err
		}
		out.Suggest = compact.Suggest(si)
	}
	return out, nil
}

// watcherMemory is what the watcher of a Codex thread remembers of it, as far as
// it explains a decision.
type watcherMemory struct {
	compact.Thread
	Record struct {
		Receipt compact.Receipt `json:"receipt"`
	} `json:"record"`
}

// watchedCodex reads the watcher's memory; nil when no watcher has seen the
// session.
func watchedCodex(sess *store.Session) (*watcherMemory, error) {
	data, err := sess.Read(store.WatchFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m watcherMemory
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s of session %s: %w", store.WatchFile, sess.ID(), err)
	}
	return &m, nil
}
