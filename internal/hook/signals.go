package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// watching is what the hooks remember for 004: the signals of the turn and what
// a packet will be written from.
type watching struct {
	State   compact.State        `json:"state"`
	History []compact.Compaction `json:"history,omitempty"`
	// First and Latest are the user's requests.
	First  string `json:"first,omitempty"`
	Latest string `json:"latest,omitempty"`
	// Turn is when the turn began.
	Turn time.Time `json:"turn,omitzero"`
	// Marks are the repositories before a command that may commit, by tool use.
	Marks map[string][]shellcmd.Mark `json:"marks,omitempty"`
	// Transcript and Model are the host's, as last seen.
	Transcript string `json:"transcript,omitempty"`
	Model      string `json:"model,omitempty"`
	// Window is the context's size as the status line was told it.
	Window int64 `json:"window,omitempty"`
	// Said is the last decision on the timeline, as one word each.
	Said string `json:"said,omitempty"`
	// Told is the size at which the person was last told to compact.
	Told int64 `json:"told,omitempty"`
}

const (
	keepRequest = 2000 // characters of a request
	keepHistory = 16
	keepMarks   = 8
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
	return compact.From(file, compact.Mode(c.cfg.Compact.Mode))
}

// watch applies an event of the session to the signals.
func (d *desk) watch(e compact.Event, set compact.Settings) {
	d.mem.Watch.State = d.mem.Watch.State.Apply(e, set)
	d.dirty = true
}

// promptSeen starts a turn. What the host itself sends is no request.
func (d *desk) promptSeen(text string, note bool) {
	w := &d.mem.Watch
	d.see()
	ours := strings.Contains(text, "<overtone-packet")
	d.watch(compact.TurnStarted{Synthetic: ours}, compact.Settings{})
	w.Turn = d.c.now
	if note || ours || strings.TrimSpace(text) == "" {
		return
	}
	text, _ = redact.Text(cutRunes(text, keepRequest))
	d.watch(compact.UserMessage{Text: text}, compact.Settings{})
	if w.First == "" {
		w.First = text
	}
	w.Latest = text
}

// see remembers where the transcript is and which model writes it, and takes
// the size that the last compaction left as soon as it is told: a turn later it
// would be the size of that turn.
func (d *desk) see() {
	w := &d.mem.Watch
	if p := d.c.in.text("transcript_path"); p != "" && p != w.Transcript {
		w.Transcript, d.dirty = p, true
	}
	if m := d.c.in.text("model"); m != "" && m != w.Model {
		w.Model, d.dirty = m, true
	}
	if n := len(w.History); n > 0 && w.History[n-1].After < 0 {
		d.measured(d.usage(w.Transcript))
	}
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// observation is a shell command as the host reports it.
func (c *call) observation() shellcmd.Observation {
	cwd := c.in.text("cwd")
	return shellcmd.Observation{
		Line: c.in.text("tool_input.command"), Cwd: cwd, Home: c.env.Getenv("HOME"), Head: shellcmd.ReadHead,
		Aliases: shellcmd.UserAliases(cwd, c.env.Getenv("HOME"), c.env.Getenv),
	}
}

// markRepos remembers the repositories before a command that may commit.
func (c *call) markRepos() error {
	if c.in.text("tool_name") != "Bash" {
		return nil
	}
	marks := shellcmd.Snapshot(c.observation())
	id := c.in.text("tool_use_id")
	if len(marks) == 0 || id == "" {
		return nil
	}
	return c.update(func(d *desk) error {
		w := &d.mem.Watch
		if w.Marks == nil || len(w.Marks) >= keepMarks {
			w.Marks = map[string][]shellcmd.Mark{}
		}
		w.Marks[id], d.dirty = marks, true
		return nil
	})
}

// signals reports whether a tool's end may be a signal.
func signals(tool string) bool {
	switch tool {
	case "Bash", "TodoWrite", "TaskCreate", "TaskUpdate", "update_plan", "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch":
		return true
	}
	return false
}

// finished is a shell command that has ended. Without a duration the beginning
// of its turn has to do: Codex gives neither that nor an exit status.
func (c *call) finished(failed bool, turn time.Time) shellcmd.Observation {
	o := c.observation()
	o.Started, o.Ended = turn, c.now
	if ms := c.in.get("duration_ms"); ms.Type == gjson.Number {
		o.Started = c.now.Add(-time.Duration(ms.Int()) * time.Millisecond)
	}
	o.Output, o.Exit = c.outcome(failed)
	return o
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
	same := func(input, known string) bool {
		v := c.in.text(input)
		return v == "" || v == w.Get(known).String()
	}
	k := m.Get("compaction")
	settled := !k.Exists() || k.Get("status").String() == failed ||
		k.Get("status").String() == done && (!k.Get("receipt").Exists() || compact.ReceiptState(k.Get("receipt.state").String()).Final())
	if !settled || m.Get("outbox").Exists() || m.Get("thread").Exists() || w.Get("marks").Exists() ||
		!w.Get("state.worked").Bool() || w.Get("state.slice.failures").Exists() || !same("transcript_path", "transcript") || !same("model", "model") {
		return false
	}
	o := c.finished(false, w.Get("turn").Time())
	if shellcmd.Checkpointed(o) {
		return false
	}
	return !shellcmd.Committed(o).Committed
}

// toolSeen reduces a finished tool to a signal.
func (d *desk) toolSeen(tool string, failed bool) {
	c, w := d.c, &d.mem.Watch
	d.see()
	switch tool {
	case "Bash":
		id := c.in.text("tool_use_id")
		o := c.finished(failed, w.Turn)
		o.Before = w.Marks[id]
		delete(w.Marks, id)
		d.watch(compact.CommandFinished{Observation: o}, compact.Settings{})
	case "TodoWrite", "update_plan":
		d.watch(compact.PlanUpdated{Steps: steps(c.in.get("tool_input"))}, compact.Settings{})
	case "TaskCreate", "TaskUpdate":
		if plan, ok := taskPlan(w.State.Plan.Steps, tool, c.in); ok {
			d.watch(compact.PlanUpdated{Plan: w.State.Plan.ID, Steps: plan}, compact.Settings{})
		}
	case "apply_patch":
		d.watch(compact.ToolActivity{Tool: tool}, compact.Settings{})
		for _, file := range patched(c.in.text("tool_response")) {
			d.watch(compact.ToolActivity{Tool: tool, File: file}, compact.Settings{})
		}
	default:
		file := c.in.text("tool_input.file_path")
		if file == "" {
			file = c.in.text("tool_input.notebook_path")
		}
		d.watch(compact.ToolActivity{Tool: tool, File: file}, compact.Settings{})
	}
}

// outcome is a shell command's output and exit status. Claude Code reports a
// failure as an event of its own; Codex gives the output only.
func (c *call) outcome(failed bool) (string, *int) {
	if failed {
		text, code := c.in.text("error"), 1
		if rest, ok := strings.CutPrefix(text, "Exit code "); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				code = n
			}
		}
		return text, &code
	}
	resp := c.in.get("tool_response")
	if resp.Type == gjson.String {
		return resp.String(), nil
	}
	zero := 0
	exit := &zero
	if c.host == codex || resp.Get("interrupted").Bool() || resp.Get("backgroundTaskId").Exists() {
		exit = nil
	}
	return resp.Get("stdout").String() + "\n" + resp.Get("stderr").String(), exit
}

// patched reads the files that Codex's apply_patch says it changed.
func patched(output string) []string {
	_, list, _ := strings.Cut(output, "Success. Updated the following files:\n")
	var files []string
	for line := range strings.Lines(list) {
		if kind, file, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " "); ok {
			switch kind {
			case "A", "M", "D":
				files = append(files, file)
			}
		}
	}
	return files
}

// steps reads a plan that is written as a whole.
func steps(in gjson.Result) []compact.Step {
	var out []compact.Step
	read := func(list, text string) {
		in.Get(list).ForEach(func(_, s gjson.Result) bool {
			out = append(out, compact.Step{ID: s.Get("id").String(), Text: s.Get(text).String(), Status: compact.Status(s.Get("status").String())})
			return true
		})
	}
	read("todos", "content")
	read("plan", "step")
	return out
}

// taskPlan edits the plan for hosts that report one task at a time.
func taskPlan(plan []compact.Step, tool string, in input) ([]compact.Step, bool) {
	plan = slices.Clone(plan)
	if tool == "TaskCreate" {
		id := in.text("tool_response.task.id")
		if id == "" {
			id = in.get("tool_response.id").String()
		}
		return append(plan, compact.Step{ID: id, Text: in.text("tool_input.subject"), Status: compact.Pending}), true
	}
	id := in.get("tool_input.taskId").String()
	i := slices.IndexFunc(plan, func(s compact.Step) bool { return s.ID == id && id != "" })
	if i < 0 {
		return nil, false
	}
	switch status := in.text("tool_input.status"); status {
	case "deleted":
		plan = slices.Delete(plan, i, i+1)
	case "":
	default:
		plan[i].Status = compact.Status(status)
	}
	if text := in.text("tool_input.subject"); text != "" {
		plan[i].Text = text
	}
	return plan, true
}

// usage is how full a context is. The window is the configured one, or the one
// the host tells, or the model's.
func (d *desk) usage(path string) compact.Usage {
	u, ok := transcript.TailUsage(path)
	return d.usageOf(u, ok)
}

func (d *desk) usageOf(u transcript.Usage, ok bool) compact.Usage {
	if !ok {
		return compact.Usage{}
	}
	window := u.Window
	if window == 0 {
		window = d.mem.Watch.Window
	}
	if window == 0 {
		window = modelWindow(d.mem.Watch.Model, u.Model)
	}
	if w := d.c.cfg.Compact.ContextWindow; w > 0 {
		window = int64(w)
	}
	return compact.Usage{Used: u.Tokens(), Window: window}
}

// modelWindow is the context window of a Claude model; the host marks the large
// one in the model's name.
func modelWindow(names ...string) int64 {
	for _, n := range names {
		if strings.Contains(n, "[1m]") {
			return 1_000_000
		}
	}
	return 200_000
}

// decision weighs the turn, and leaves a line on the timeline when its outcome
// changed.
func (d *desk) decision(set compact.Settings, u compact.Usage) (compact.Decision, error) {
	w := &d.mem.Watch
	d.measured(u)
	dec := compact.Decide(compact.Input{
		Settings: set, Usage: u, Signals: w.State.Boundary(), Synthetic: w.State.Synthetic, History: w.History, Now: d.c.now,
	})
	said := string(dec.Verdict) + "/" + string(dec.Cause) + "/" + string(dec.Tier)
	if said == w.Said {
		return dec, nil
	}
	first := w.Said == ""
	w.Said, d.dirty = said, true
	if first && (dec.Verdict == compact.Wait || dec.Verdict == compact.IsOff) {
		return dec, nil
	}
	return dec, d.tx.Emit(store.On(message.EventCompactDecision, "verdict", dec.Verdict, "cause", dec.Cause, "tier", dec.Tier,
		"percentRemaining", dec.PercentRemaining, "signals", dec.Signals, "reason", dec.Reason.In(d.c.lang)))
}

// measured completes the last compaction with the size it left.
func (d *desk) measured(u compact.Usage) {
	w := &d.mem.Watch
	if n := len(w.History); n > 0 && w.History[n-1].After < 0 && u.Known() {
		w.History[n-1].After, d.dirty = u.Used, true
	}
}

// turnEnded judges a finished turn. In mode suggest the person is told, once per
// growth of the context; hooks cannot compact by themselves.
func (d *desk) turnEnded(r *reply) error {
	set := d.c.settings()
	w := &d.mem.Watch
	d.see()
	d.watch(compact.AgentMessage{Text: d.c.in.text("last_assistant_message")}, set)
	d.watch(compact.TurnEnded{}, set)
	u := d.usage(w.Transcript)
	dec, err := d.decision(set, u)
	if err != nil {
		return err
	}
	if dec.Verdict == compact.DoSuggest && (w.Told == 0 || u.Used < w.Told || u.Used-w.Told >= compact.RearmGrowth(u.Window)) {
		w.Told = u.Used
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
		d.watch(compact.StageCompleted{Stage: out.Stage}, compact.Settings{})
	}
}

// gate answers Claude Code's question whether it may compact now. Anything it
// does not know opens it: a gate that never opens would end the session.
func (d *desk) gate(set compact.Settings) (compact.Answer, error) {
	w := &d.mem.Watch
	main := d.usage(w.Transcript)
	dec, err := d.decision(set, main)
	if err != nil {
		d.c.complain("timeline", err)
	}
	ask := compact.Ask{Mode: set.Mode, Decision: dec, Main: !d.ofSubagent(), Usage: main}
	if !ask.Main {
		base := strings.TrimSuffix(w.Transcript, ".jsonl")
		ask.Usage = d.usageOf(transcript.TailAgentUsage(filepath.Join(base, "subagents", "agent-"+filepath.Base(d.mem.Thread)+".jsonl")))
	}
	if c := int64(d.c.cfg.Compact.CeilingTokens); c > 0 && ask.Usage.Known() && ask.Usage.Used >= c {
		return compact.Answer{Open: true, Packet: ask.Main}, nil
	}
	return compact.Gate(ask), nil
}

// packet is the text that carries the thread across a compaction: the workflow's
// recovery, then the note on the work itself.
func (d *desk) packet(n int, set compact.Settings, recovery string, tasks []string) compact.Packet {
	w := &d.mem.Watch
	session := d.c.sess.ID()
	if d.c.host == codex {
		// A watcher of the thread numbers its own packets.
		session += "/hooks"
	}
	p := compact.Packet{ID: compact.PacketID(session, n), Created: d.c.now, Expires: d.c.now.Add(set.Expiry)}
	note := ""
	// Without a host there is nobody to hand the note to.
	if d.c.host != "" && (w.First != "" || w.State.Worked || len(w.State.Slice.Files)+len(w.State.Slice.Commits)+len(w.State.Slice.Steps) > 0) {
		f := compact.Facts{
			Session: session, Ordinal: n, Now: d.c.now, First: w.First, Latest: w.Latest,
			Slice: w.State.Slice, Next: d.nextSteps(tasks), Decisions: w.State.Decisions, Last: w.State.Slice.Last,
		}
		note = compact.Write(f, set, d.c.lang, func(s string) string { s, _ = redact.Text(s); return s }).Text
	}
	p.Text = joinLines(recovery, note)
	return p
}

// nextSteps are the open steps of the plan, then of the workflow, then tasks.
func (d *desk) nextSteps(tasks []string) []string {
	var next []string
	for _, s := range d.mem.Watch.State.Plan.Steps {
		if s.Status == compact.InProgress {
			next = append(next, s.Text)
		}
	}
	for _, s := range d.mem.Watch.State.Plan.Steps {
		if s.Status == compact.Pending {
			next = append(next, s.Text)
		}
	}
	if d.state != nil && d.state.Active {
		if step := workflow.NextStep(d.state, d.c.lang); step != "" {
			next = append(next, step)
		}
	}
	return append(next, tasks...)
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
	}
	if transcriptPath == "" {
		transcriptPath = m.Watch.Transcript
	}
	raw, err := json.Marshal(map[string]string{"transcript_path": transcriptPath})
	if err != nil {
		return Insight{}, err
	}
	c.in = input{gjson.ParseBytes(raw)}
	d := &desk{c: c, mem: m, state: s}
	set := c.settings()
	in := compact.Input{
		Settings: set, Usage: d.usage(transcriptPath), Signals: m.Watch.State.Boundary(),
		Synthetic: m.Watch.State.Synthetic, History: m.Watch.History, Now: c.now,
	}
	if watched != nil {
		in.Usage = watched.Usage.known()
	}
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
	State   compact.State        `json:"state"`
	History []compact.Compaction `json:"history"`
	Usage   watcherUsage         `json:"usage"`
	Record  struct {
		Receipt compact.Receipt `json:"receipt"`
	} `json:"record"`
}

type watcherUsage struct {
	Used   int64 `json:"used"`
	Window int64 `json:"window"`
}

func (u watcherUsage) known() compact.Usage { return compact.Usage{Used: u.Used, Window: u.Window} }

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
