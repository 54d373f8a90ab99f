package compact

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Thread is what is known of one conversation: what a packet is written from,
// what the policy decides on, what was said about it. It is a value, fed with
// events by whoever can hear the host (hooks, a watcher), and stored as JSON in
// between; its zero value is a conversation that nobody has seen yet.
type Thread struct {
	State state `json:"state"`
	// Words are the user's, and what happened last.
	Words Words `json:"words,omitzero"`
	// History holds the compactions, oldest first; Compaction is the host's
	// name for the newest.
	History    []Compaction `json:"history,omitempty"`
	Compaction string       `json:"compaction,omitempty"`
	// Usage is how full the context was when it was last told.
	Usage Usage `json:"usage,omitzero"`
	// Turn is when the turn began, TurnID the host's name for it.
	Turn   time.Time `json:"turn,omitzero"`
	TurnID string    `json:"turnId,omitempty"`
	// Prompt is the host's name for what began the turn.
	Prompt string `json:"prompt,omitempty"`
	// Started are the commands under way whose end may tell where the work
	// stands, by their ids; Ended are the newest of those that were told: however
	// many tell an end, it counts once.
	Started map[string]Command `json:"started,omitempty"`
	Ended   []string           `json:"ended,omitempty"`
	// Background are those of them that go on in the background.
	Background map[string]Command `json:"behind,omitempty"`
	// Transcript, Model and Window are the host's, as last told. Peak is the most that
	// the context has held, Step the most by which it has grown at once.
	Transcript string `json:"transcript,omitempty"`
	Model      string `json:"model,omitempty"`
	Window     int64  `json:"window,omitempty"`
	Peak       int64  `json:"peak,omitempty"`
	Step       int64  `json:"step,omitempty"`
	// Noted is the last decision that was left on the timeline, SuggestedAt the size at
	// which the person was last told to compact, SuggestedStep how far it may grow from there.
	Noted         string `json:"said,omitempty"`
	SuggestedAt   int64  `json:"told,omitempty"`
	SuggestedStep int64  `json:"tellIn,omitempty"`
}

// state is the turn's signals and the work since the last compaction.
type state struct {
	// Synthetic is set in a turn that our own packet opened. It counts like any
	// other: that is where the work goes on, for hours where nobody types.
	Synthetic bool `json:"synthetic,omitempty"`
	// Heard is set once the turn's prompt was told, Worked once the turn ran a command or
	// a tool.
	Heard  bool `json:"heard,omitempty"`
	Worked bool `json:"worked,omitempty"`
	// Begins is set in a turn that follows one which has ended, until its first tools have:
	// up to there it has sent one request at most.
	Begins bool `json:"begins,omitempty"`
	// Seen are the turn's signals from deeds, Spoken those from the agent's last
	// message, which count only in a turn that worked.
	Seen   Signals `json:"seen"`
	Spoken Signals `json:"said"`
	// Rounds counts the rounds of tools that have ended in the turn, where the host tells:
	// all of them while a signal or a command under way may grow old. SeenIn is the newest
	// round that showed a signal, and Passed are those that only older ones showed.
	Rounds int     `json:"rounds,omitempty"`
	SeenIn int     `json:"seenIn,omitempty"`
	Passed Signals `json:"passed,omitempty"`
	// Before are the signals of the turn before this one.
	Before Signals `json:"before"`
	// Plan is the active plan as last seen, Plans the names of all so far.
	Plan  plan     `json:"plan"`
	Plans []string `json:"plans,omitempty"`
	// Slice is what was done since the last compaction.
	Slice Slice `json:"slice"`
}

type plan struct {
	ID    string      `json:"id,omitempty"`
	Steps []host.Step `json:"steps,omitempty"`
}

// Slice is what a packet tells of the work since the last compaction. All of
// its lists are bounded and keep the newest.
type Slice struct {
	Commits  []shellcmd.Made `json:"commits,omitempty"`
	Files    []string        `json:"files,omitempty"`
	Steps    []string        `json:"steps,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Stages   []string        `json:"stages,omitempty"`
	Last     string          `json:"last,omitempty"`
}

// Command is one before it ran.
type Command struct {
	Line  string          `json:"line,omitempty"`
	Cwd   string          `json:"cwd,omitempty"`
	At    time.Time       `json:"at,omitzero"`
	File  int64           `json:"file,omitempty"`  // how long the session's file was
	Marks []shellcmd.Mark `json:"marks,omitempty"` // the repositories in which it may commit
	// PromptSince: a prompt has come since it began.
	PromptSince bool   `json:"stale,omitempty"`
	Round       int    `json:"round,omitempty"` // of the turn, in which it began
	Task        string `json:"task,omitempty"`  // the host's name for it in the background
}

// Failure is a command that did not work.
type Failure struct {
	Line   string `json:"line"`
	Output string `json:"said,omitempty"` // the end of its output
}

const (
	maxCommits  = 20
	maxFiles    = 60
	maxSteps    = 30
	maxFailures = 10
	maxStages   = 20
	maxLast     = 8000 // characters of the last message that are kept
	maxPlans    = 16
	maxPlan     = 100 // steps of a plan that are looked at
	maxHistory  = 20  // the policy looks at the last few
	maxStarted  = 16
	maxEnded    = 32
	maxLine     = 64 << 10 // bytes of a command that are kept while it runs
	maxStep     = 500      // characters of a step's text
)

// Apply returns the thread after an event. The thread it is given is not changed.
func (t Thread) Apply(e host.Event, set Settings) Thread {
	t.State = t.State.clone()
	s := &t.State
	switch e := e.(type) {
	case host.SessionSeen:
		if e.Model != "" && t.Model != "" && e.Model != t.Model {
			t.Peak = 0 // what one model holds proves nothing of another
		}
		t.Transcript, t.Model = cmp.Or(e.Transcript, t.Transcript), cmp.Or(e.Model, t.Model)
		t.see(e.Window)
	case host.TurnStarted:
		t.turnStarted(e)
	case host.TurnEnded:
		t.Words, s.Begins = t.Words.Ended(e.Interrupted), false
		s.SeenIn, s.Passed = s.Rounds, 0 // all that it has shown counts once more
	case host.UserMessage:
		t.asked(e)
	case host.AgentMessage:
		t.answered(e, set)
	case host.Proposed:
		t.Words.Proposed = true
	case host.CommandStarted:
		t.starts(e)
	case host.CommandFinished:
		t.ran(e)
	case host.PlanWritten:
		t.planned(e)
	case host.TaskCreated:
		t.planned(host.PlanWritten{Plan: s.Plan.ID, Steps: append(slices.Clone(s.Plan.Steps), host.Step{ID: e.ID, Text: e.Text})})
	case host.TaskUpdated:
		t.task(e)
	case host.FileChanged:
		s.Worked = true
		s.changed(e.File)
	case host.ToolActivity:
		s.Worked = true
	case host.StageCompleted:
		s.see(setOf(StageComplete), s.Rounds)
		s.Slice.Stages = newest(append(s.Slice.Stages, message.Head(message.OneLine(e.Stage), 100)), maxStages)
	case host.UsageSeen:
		t.used(e)
	case host.Compacted:
		t.compacted(e)
	}
	switch e.(type) {
	case host.CommandStarted, host.CommandFinished, host.FileChanged, host.ToolActivity,
		host.PlanWritten, host.TaskCreated, host.TaskUpdated:
		if s.Worked { // an agent that works on does not wait for an answer
			t.Words = t.Words.Worked()
		}
	}
	return t
}

func (s state) signals() Signals {
	if !s.Worked {
		return s.Seen
	}
	return s.Seen | s.Spoken
}

// see takes the signals of a round of tools.
func (s *state) see(shown Signals, round int) {
	switch {
	case shown == 0:
	case round < s.SeenIn:
		s.Passed |= shown &^ s.Seen
	case round > s.SeenIn:
		s.Passed, s.SeenIn = s.Seen, round
		fallthrough
	default:
		s.Passed &^= shown
	}
	s.Seen |= shown
}

// Ages reports that the end of a round of tools makes a signal older, or a command whose
// end may show one.
func (t Thread) Ages() bool {
	s := t.State
	return len(t.Started) > 0 || s.signals() != 0 && s.Rounds <= s.SeenIn+1
}

// Boundary is the turn's signals: in the midst of a turn those of its last round of tools
// alone, as another piece of work has begun behind an older one. For a host that can only
// compact at the start of a turn the last one's hold as long as the new one has done nothing.
func (t Thread) Boundary() Signals {
	s := t.State
	switch {
	case !s.Worked && s.Seen == 0 && !s.Synthetic:
		return s.Before
	case s.Rounds > s.SeenIn+1:
		return 0
	}
	s.Seen &^= s.Passed
	return s.signals()
}

// Over reports that the turn has ended, and that nothing is asked.
func (t Thread) Over() bool {
	state, _ := t.Words.State(false)
	return state == StateTurnOver
}

// Rests reports that no turn is open, as far as anybody knows. One that was interrupted, or
// died, is.
func (t Thread) Rests() bool {
	state, _ := t.Words.State(false)
	return state == StateTurnOver || state == StateUnknown
}

// Begins reports that the user's words have opened a turn which has done nothing yet.
func (t Thread) Begins() bool { return t.State.Begins && t.State.Heard && !t.State.Worked }

// turnStarted begins a turn, once.
func (t *Thread) turnStarted(e host.TurnStarted) {
	if e.ID != "" && e.ID == t.TurnID {
		if t.Turn.IsZero() {
			t.Turn = e.At
		}
		return
	}
	if e.ID == "" && e.Prompt != "" && e.Prompt == t.Prompt {
		return // typed into the turn that runs, which goes on
	}
	s := &t.State
	s.Before = s.signals()
	s.Seen, s.Spoken, s.Heard, s.Worked, s.Synthetic, s.Begins = 0, 0, false, false, false, t.Rests()
	s.Rounds, s.SeenIn, s.Passed = 0, 0, 0
	t.TurnID, t.Prompt, t.Turn = e.ID, e.Prompt, e.At
}

// asked takes a message of the user's, once however many observers tell of it. What we
// wrote ourselves is no such message, and makes the turn ours. It is known by its id or its
// mark alone, as hosts report it like a user's.
func (t *Thread) asked(e host.UserMessage) {
	if e.Ours || strings.Contains(e.Text, PacketOpen) {
		t.State.Synthetic = true
		return
	}
	heard := t.Words.Hear(e.Text, Typed, e.At)
	if t.State.Heard && heard.Newest().Text == t.Words.Newest().Text {
		return
	}
	t.Words, t.State.Heard = heard, true
}

func (t *Thread) answered(e host.AgentMessage, set Settings) {
	s := &t.State
	s.Spoken = NewMarks(set.Markers).In(e.Text)
	if strings.TrimSpace(e.Text) != "" {
		s.Slice.Last = extract.Tail(extract.Undirected(e.Text), maxLast)
		t.Words = t.Words.Said(dropPackets(e.Text))
	}
}

// starts remembers a command whose end may tell where the work stands.
func (t *Thread) starts(e host.CommandStarted) {
	if e.ID == "" {
		return
	}
	c := Command{Line: e.Line, Cwd: e.Cwd, At: e.Started, File: e.File, Marks: e.Before, Round: t.State.Rounds}
	if len(c.Line) > maxLine {
		c.Line = "sh" // what is not kept may do anything
	}
	t.Started = with(t.Started, e.ID, c)
}

// with is the list with one more. Commands whose end was never told must not pile up:
// the oldest goes.
func with(list map[string]Command, id string, c Command) map[string]Command {
	out := map[string]Command{}
	maps.Copy(out, list)
	for _, known := out[id]; !known && len(out) >= maxStarted; {
		ids := slices.Sorted(maps.Keys(out))
		delete(out, slices.MinFunc(ids, func(a, b string) int { return out[a].At.Compare(out[b].At) }))
	}
	out[id] = c
	return out
}

// MovedToBackground remembers that a command runs on in the background, under the host's
// name for it there.
func (t Thread) MovedToBackground(id string, c Command, task string) Thread {
	c.Task, c.PromptSince = task, false
	t.Started = maps.Clone(t.Started)
	delete(t.Started, id)
	t.Background = with(t.Background, id, c)
	return t
}

// Observed completes what a host tells of a finished command with what was seen
// before it.
func (t Thread) Observed(e host.CommandFinished) shellcmd.Observation {
	o := e.Observation
	if o.Started.IsZero() {
		o.Started = t.Turn
	}
	if c, ok := t.Started[e.ID]; ok {
		o.Before = c.Marks
	} else if c, ok := t.Background[e.ID]; ok {
		o.Before = c.Marks
	}
	return o
}

// Judge asks the repositories what a finished command has committed, for [Thread.Apply],
// which asks nobody.
func (t Thread) Judge(e host.CommandFinished) host.CommandFinished {
	o := t.Observed(e)
	e.Made = shellcmd.Committed(o)
	if e.Running {
		e.Now = shellcmd.Snapshot(o)
	}
	return e
}

// SeenByPrompt remembers that a prompt has come while the end of a command was still
// unknown. The command may run beside the new turn, or have died with its host. When
// a second prompt comes, it is forgotten.
func (t Thread) SeenByPrompt(id string) Thread {
	c := t.Started[id]
	if c.PromptSince {
		return t.Forget(id)
	}
	c.PromptSince = true
	t.Started = maps.Clone(t.Started)
	t.Started[id] = c
	return t
}

// Forget lets go of a command whose end nobody will tell.
func (t Thread) Forget(id string) Thread {
	t.Started, t.Background = maps.Clone(t.Started), maps.Clone(t.Background)
	delete(t.Started, id)
	delete(t.Background, id)
	t.Ended = newest(append(slices.Clone(t.Ended), id), maxEnded)
	return t
}

func (t *Thread) ran(e host.CommandFinished) {
	if e.ID != "" && slices.Contains(t.Ended, e.ID) {
		return
	}
	s, o, round := &t.State, t.Observed(e), t.State.Rounds
	if c, ok := t.Started[e.ID]; ok {
		round = c.Round // its end may be told later
	}
	if c, ok := t.Background[e.ID]; ok && e.Running {
		c.Marks = e.Now // what it has done by now counts once
		t.Background = with(t.Background, e.ID, c)
	} else if _, under := t.Started[e.ID]; ok || under {
		*t = t.Forget(e.ID)
	}
	s.Worked = true
	e.Observation = o
	s.see(Shown(e), min(round, s.Rounds))
	if n := len(s.Slice.Commits); n > 0 && e.Made.Committed && strings.Contains(o.Line, "--amend") {
		s.Slice.Commits = s.Slice.Commits[:n-1] // the new one has taken its place
	}
	// Within a second, or a turn, a log does not tell which line made which.
	for _, c := range e.Made.Commits {
		s.Slice.Commits = slices.DeleteFunc(s.Slice.Commits, func(o shellcmd.Made) bool { return o == c })
	}
	s.Slice.Commits = newest(append(s.Slice.Commits, e.Made.Commits...), maxCommits)
	if o.Exit == nil || e.Running {
		return
	}
	// The same command failing again is one finding, with the newest words.
	line := FailureLine(o.Line)
	s.Slice.Failures = slices.DeleteFunc(s.Slice.Failures, func(f Failure) bool { return f.Line == line })
	if *o.Exit != 0 {
		f := Failure{Line: line, Output: message.End(message.OneLine(extract.Tail(o.Output, 2000)), 300)}
		s.Slice.Failures = newest(append(s.Slice.Failures, f), maxFailures)
	}
}

// FailureLine is how a command that failed is remembered.
func FailureLine(line string) string {
	return message.Head(message.OneLine(extract.Head(line, 600)), 300)
}

func (s *state) changed(file string) {
	if file = message.Head(message.OneLine(extract.Head(file, 800)), 400); file == "" {
		return
	}
	s.Slice.Files = slices.DeleteFunc(s.Slice.Files, func(f string) bool { return f == file })
	s.Slice.Files = newest(append(s.Slice.Files, file), maxFiles)
}

// task changes one step of the plan, for hosts that report one at a time.
func (t *Thread) task(e host.TaskUpdated) {
	s := &t.State
	steps := slices.Clone(s.Plan.Steps)
	i := slices.IndexFunc(steps, func(st host.Step) bool { return e.ID != "" && st.ID == e.ID })
	switch {
	case i < 0:
		return
	case e.Deleted:
		steps = slices.Delete(steps, i, i+1)
	default:
		steps[i].Text, steps[i].Status = cmp.Or(e.Text, steps[i].Text), cmp.Or(e.Status, steps[i].Status)
	}
	t.planned(host.PlanWritten{Plan: s.Plan.ID, Steps: steps})
}

// used takes the context's size. Where the size after a compaction is not known yet, the
// first size that differs from the one before it is taken for it: a file may lag behind.
func (t *Thread) used(e host.UsageSeen) {
	t.see(e.Window)
	t.Peak = max(t.Peak, e.Used)
	if t.Usage.Used > 0 {
		t.Step = max(t.Step, e.Used-t.Usage.Used)
	}
	t.Usage = t.Measure(e, Settings{})
	if n := len(t.History); n > 0 && t.History[n-1].After < 0 && e.Used != t.History[n-1].Before && t.Usage.Known() {
		t.History = slices.Clone(t.History)
		t.History[n-1].After = e.Used
	}
}

// see takes the window's size, also for the usage that is known already.
func (t *Thread) see(window int64) {
	if window <= 0 {
		return
	}
	t.Window = window
	if t.Usage != (Usage{}) {
		t.Usage.Window, t.Usage.Least = window, 0
	}
}

// Measure says how full a context of the thread is. The window is the configured
// one, else the one the host tells, else a guess.
func (t Thread) Measure(e host.UsageSeen, set Settings) Usage {
	if e.Used < 0 {
		return Usage{}
	}
	window := cmp.Or(int64(set.ContextWindow), e.Window, t.Window)
	u := Usage{Used: e.Used, Window: window}
	if window == 0 {
		var least int64
		if u.Window, least = host.GuessWindow(e.Known, max(t.Peak, e.Used), t.Model, e.Model); least < u.Window {
			u.Least = least
		}
	}
	return u
}

// Weigh is all that the policy looks at. Where the window is only guessed, mode auto uses
// the smaller guess, and a suggestion the larger one.
func (t Thread) Weigh(now time.Time, set Settings) Input {
	u := t.Usage
	switch {
	case set.ContextWindow > 0 && u.Known():
		u.Window, u.Least = int64(set.ContextWindow), 0
	case set.Mode == ModeAuto && u.Least > 0:
		u.Window = u.Least
	}
	return Input{Settings: set, Usage: u, Signals: t.Boundary(), History: t.History, Now: now}
}

// Decide weighs the turn.
func (t Thread) Decide(now time.Time, set Settings) Decision { return Decide(t.Weigh(now, set)) }

// Announce remembers a decision and says whether it belongs on the timeline: when
// its outcome changed. That nothing is to be done is no news at first.
func (t Thread) Announce(d Decision) (Thread, bool) {
	said := string(d.Verdict) + "/" + string(d.Cause) + "/" + string(d.Tier)
	if said == t.Noted {
		return t, false
	}
	first := t.Noted == ""
	t.Noted = said
	return t, !first || d.Verdict != Wait && d.Verdict != IsOff
}

// Tell says whether to show a suggestion now: once, and again after each further fifth of
// the room that was free at first, and at least a tenth of the window. That makes five times
// at most, and once for a context that swings. A context that has shrunk to half was
// compacted, cleared or rewound, and begins anew. While the agent waits for an answer
// nothing is suggested, unless room is short.
func (t Thread) Tell(d Decision, set Settings) (Thread, bool) {
	u := t.Weigh(time.Time{}, set).Usage
	if u.Known() && u.Used <= t.SuggestedAt/2 {
		t.SuggestedAt, t.SuggestedStep = 0, 0
	}
	state, _ := t.Words.State(false)
	waits := state == StateAsked && d.Tier != asap && d.Tier != emergency
	if waits || d.Verdict != DoSuggest || t.SuggestedAt > 0 && u.Used < t.SuggestedAt+t.SuggestedStep {
		return t, false
	}
	t.SuggestedAt, t.SuggestedStep = u.Used, max(t.SuggestedStep, (u.Window-u.Used)/5, u.Window/10)
	return t, true
}

// compacted counts a compaction once, however often it is reported, and begins a new
// slice.
func (t *Thread) compacted(e host.Compacted) {
	if e.ID != "" && e.ID == t.Compaction {
		return
	}
	s := &t.State
	s.Seen, s.Spoken, s.Before, s.Passed = 0, 0, 0, 0
	s.Slice = Slice{}
	t.Compaction, t.SuggestedAt, t.SuggestedStep = e.ID, 0, 0
	if e.After >= 0 && t.Usage.Known() {
		t.Usage.Used = e.After
	}
	now := Compaction{At: e.At, Before: e.Before, After: e.After, Foreign: !e.Ours}
	t.History = newest(append(slices.Clone(t.History), now), maxHistory)
}

// Empty says that there is nothing yet that a packet could tell.
func (t Thread) Empty() bool {
	s := t.State.Slice
	return t.Words.Count == 0 && !t.State.Worked && len(s.Files)+len(s.Commits)+len(s.Steps) == 0
}

// open are the steps that are left, the current first.
func (t Thread) Open() []string {
	var now, later []string
	for _, st := range t.State.Plan.Steps {
		switch st.Status {
		case host.InProgress:
			now = append(now, st.Text)
		case host.Pending:
			later = append(later, st.Text)
		}
	}
	return append(now, later...)
}

// planned finds out whether a step of the active plan was completed.
//
// The active plan is the newest one. Where the host does not name plans, an
// update that shares no step with the last version is a new plan. What a new
// plan already contains was not done now; an empty plan is a clear that the next
// update may take back; a plan that was replaced before stays replaced.
func (t *Thread) planned(e host.PlanWritten) {
	s := &t.State
	steps := normal(e.Steps)
	if len(steps) == 0 {
		return
	}
	switch {
	case e.Plan != s.Plan.ID && slices.Contains(s.Plans, e.Plan):
		return
	case e.Plan != s.Plan.ID || len(s.Plan.Steps) == 0 || e.Plan == "" && unrelated(s.Plan.Steps, steps):
		if s.Plan.ID != "" {
			s.Plans = newest(append(s.Plans, s.Plan.ID), maxPlans)
		}
		s.Plan = plan{ID: e.Plan, Steps: steps}
		s.see(setOf(PlanUpdate), s.Rounds)
		return
	}
	done := completed(s.Plan.Steps, steps)
	if len(done) > 0 {
		s.see(setOf(PlanCheckpoint), s.Rounds)
		s.Slice.Steps = slices.DeleteFunc(s.Slice.Steps, func(o string) bool { return slices.Contains(done, o) })
		s.Slice.Steps = newest(append(s.Slice.Steps, done...), maxSteps)
	}
	if !slices.Equal(s.Plan.Steps, steps) {
		s.see(setOf(PlanUpdate), s.Rounds)
	}
	s.Plan.Steps = steps
}

// normal bounds the steps and writes their status in one way.
func normal(list []host.Step) []host.Step {
	var out []host.Step
	for _, st := range list {
		st.Text = message.Head(message.OneLine(extract.Head(st.Text, 2*maxStep)), maxStep)
		if st.Text == "" && st.ID == "" {
			continue
		}
		switch host.Status(strings.ToLower(string(st.Status))) {
		case host.Completed, "done":
			st.Status = host.Completed
		case host.InProgress, "inprogress", "in-progress":
			st.Status = host.InProgress
		default:
			st.Status = host.Pending
		}
		if out = append(out, st); len(out) == maxPlan {
			break
		}
	}
	return out
}

// keys tells steps apart: by the host's name or by their text, where equal texts
// are counted.
func keys(steps []host.Step) []string {
	seen := map[string]int{}
	out := make([]string, len(steps))
	for i, st := range steps {
		k := "id\x00" + st.ID
		if st.ID == "" {
			k = "text\x00" + st.Text
		}
		out[i] = k + strings.Repeat("\x00", seen[k])
		seen[k]++
	}
	return out
}

func unrelated(old, now []host.Step) bool {
	before := keys(old)
	return !slices.ContainsFunc(keys(now), func(k string) bool { return slices.Contains(before, k) })
}

// completed lists the steps that were open before and are completed now. A step
// that was reworded while it was ticked off is known by its place, if its old
// text is gone and the plan has kept its length.
func completed(old, now []host.Step) []string {
	before, after := keys(old), keys(now)
	var out []string
	for i, st := range now {
		if st.Status != host.Completed {
			continue
		}
		j := slices.Index(before, after[i])
		if j < 0 && len(old) == len(now) && !slices.Contains(after, before[i]) {
			j = i
		}
		if j >= 0 && old[j].Status != host.Completed {
			out = append(out, st.Text)
		}
	}
	return out
}

// clone copies the lists that are changed in place.
func (s state) clone() state {
	sl := &s.Slice
	sl.Commits, sl.Files, sl.Steps = slices.Clone(sl.Commits), slices.Clone(sl.Files), slices.Clone(sl.Steps)
	sl.Failures, sl.Stages = slices.Clone(sl.Failures), slices.Clone(sl.Stages)
	s.Plans = slices.Clone(s.Plans)
	return s
}

func newest[T any](list []T, most int) []T {
	return list[max(0, len(list)-most):]
}
