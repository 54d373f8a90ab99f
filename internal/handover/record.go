package handover

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Record is what one pass over a slice of a session leaves: names, files,
// commands, the plan, the user's words. It is fed piece by piece and keeps no
// whole text, so its size follows the number of names, not the slice's.
type Record struct {
	// CWD is the project's folder: paths below it are written without it.
	CWD string
	// Words are the user's; what was said before the slice may be set first.
	Words compact.Words

	bare     bool   // only names are asked for, no words
	unnamed  bool   // only how the work stands is asked for, no names
	root     string // of the paths, where that is not CWD
	names    nameTable
	byBase   map[string][]int32 // files by their names
	files    []touched
	at       map[string]int32
	runs     []executed
	runAt    map[string]int
	thread   compact.Thread  // only its plan and commits
	moved    []shellcmd.Made // commits that its commands made of others
	commit   int64           // where the last commit was made, -1 for none
	edits    int             // of files since the plan was written
	calls    map[transcript.CallID]call
	last     deed
	said     string // the end of the agent's last text
	question string // of a tool, the one that was answered last
	began    int64  // when, in milliseconds
	size     int64
	pos      int64
	piece    int32
}

type touched struct {
	path          string
	reads, writes int32
	wrote         int64 // where in the slice; -1 for never
}

type call struct {
	tool  string
	deed  host.Deed
	input []byte  // of a TaskCreate
	wrote []int32 // the files that it changes, if it works
}

type deed struct {
	kind   host.DeedKind
	what   string
	where  string // what an edit defines
	id     transcript.CallID
	open   bool // its result is not there
	failed bool
}

// NewRecord begins a record.
func NewRecord(cwd string) *Record {
	return &Record{
		CWD: cwd, commit: -1,
		at: map[string]int32{}, byBase: map[string][]int32{}, runAt: map[string]int{}, calls: map[transcript.CallID]call{},
		names: nameTable{at: make(map[string]int32, 4096)},
	}
}

// NewNames begins a record that is asked for names alone. It costs a fourth: most of
// the work is to tell what the user wants.
func NewNames(cwd string) *Record {
	r := NewRecord(cwd)
	r.bare = true
	return r
}

// NewStanding begins a record that is asked only how the work stands. It counts no names.
func NewStanding(cwd string) *Record {
	r := NewRecord(cwd)
	r.unnamed = true
	return r
}

// Heard is a new record that has heard what this one has, for the slice behind it.
func (r *Record) Heard() *Record {
	n := NewRecord(r.CWD)
	n.unnamed = r.unnamed
	n.Words, n.thread, n.said, n.question, n.calls = r.Words, r.thread, r.said, r.question, maps.Clone(r.calls)
	return n
}

// Add takes the next piece. off counts from the start of the slice.
func (r *Record) Add(p *transcript.Event, off int64) {
	switch p.Kind {
	case transcript.Interrupted, transcript.TurnEnded:
		r.Words = r.Words.Ended(p.Kind == transcript.Interrupted)
		return
	case transcript.About, transcript.Counted:
		return // nothing that was said or done
	}
	if r.piece == 0 {
		r.began = p.Time
	}
	r.pos = off
	r.size = max(r.size, off)
	r.piece++
	r.names.share()
	switch p.Kind {
	case transcript.Compacted, transcript.HostSaid: // the host's words are no names of the work
		return
	case transcript.ToolBegan:
		r.call(p)
	case transcript.ToolEnded:
		r.result(p)
	case transcript.UserSaid:
		text := p.Text()
		if !r.bare {
			r.hear(p.How, text)
		}
		r.count([]byte(text), false, false)
	case transcript.AgentSaid:
		text := extract.Undirected(p.Text())
		if !r.bare {
			r.answered(text, p.Failed)
		}
		r.count([]byte(text), false, false)
	case transcript.Summarised: // behind opencode's stands what was handed over with it
		r.count([]byte(host.Typed(p.Text())), false, false)
	default:
		r.countIn(p, false)
	}
}

// answered takes a message of the agent's. An error that the host shows in its place ends
// the turn.
func (r *Record) answered(text string, failed bool) {
	if failed {
		r.Words = r.Words.Ended(false)
		return
	}
	if r.Words = r.Words.Said(text); strings.TrimSpace(text) != "" {
		r.said = text[max(0, len(text)-maxSaidEnd):]
	}
}

// Rested takes how the turn ended, as the host told it: its file may lag behind.
func (r *Record) Rested(said string) {
	if r.Words.Last != compact.LastAgent {
		r.answered(extract.Undirected(said), false)
	}
	r.Words = r.Words.Ended(false)
}

// Began is when the slice began; zero where its host tells no times.
func (r *Record) Began() time.Time { return transcript.Time(r.began) }

// maxSaidEnd is how much of the agent's last text is kept, in bytes: enough to take
// the secrets out of what is told of it.
const maxSaidEnd = 16 << 10

// Listen takes a piece from before the slice: of that only the user's words and
// the plan still matter.
func (r *Record) Listen(p *transcript.Event) {
	switch p.Kind {
	case transcript.UserSaid:
		r.hear(p.How, p.Text())
	case transcript.AgentSaid:
		r.answered(extract.Undirected(p.Text()), p.Failed)
	case transcript.Interrupted, transcript.TurnEnded:
		r.Words = r.Words.Ended(p.Kind == transcript.Interrupted)
	case transcript.ToolBegan:
		r.Words = r.Words.Worked()
		c := call{tool: p.Tool, deed: host.Recorded(p.Tool, p.Raw)}
		switch {
		case c.tool == "TaskCreate":
			c.input = slices.Clone(p.Raw)
		case c.deed.Kind != host.AskDeed:
			for _, e := range c.deed.Done {
				r.planned(e)
			}
			return
		}
		r.calls[p.ID] = c
	case transcript.ToolEnded:
		if c, ok := r.calls[p.ID]; ok {
			delete(r.calls, p.ID)
			r.answer(c, p)
		}
	}
	r.thread.State.Slice = compact.Slice{}
}

// hear takes what the user said. What he chose among the agent's own options stands
// beside its question.
func (r *Record) hear(how transcript.How, text string) {
	if how == transcript.Answered {
		r.Words = r.Words.Answer(r.question, text)
		return
	}
	r.Words = r.Words.Hear(text, hows[how], time.Time{})
}

// hows are the ways in which words come, as they are kept.
var hows = [...]compact.How{
	transcript.Typed: compact.Typed, transcript.Queued: compact.Typed, transcript.Answered: compact.WithAnswer, transcript.Rejected: compact.WithRefusal,
	transcript.WithCompact: compact.WithCompact, transcript.Aimed: compact.AsGoal, transcript.Approved: compact.AsPlan,
}

// answer takes the result of a question or of a task's making.
func (r *Record) answer(c call, p *transcript.Event) {
	switch {
	case c.deed.Kind == host.AskDeed:
		r.Words, r.question = r.Words.AsksWith(""), c.deed.Question
	case c.input != nil:
		r.planned(host.Created(c.input, p.Text()))
	}
}

func (r *Record) call(p *transcript.Event) {
	r.Words = r.Words.Worked()
	c := call{tool: p.Tool, deed: host.Recorded(p.Tool, p.Raw)}
	d := c.deed
	if p.Tool == "TaskCreate" {
		c.input = slices.Clone(p.Raw)
	}
	r.Words.Proposed = p.Tool == "ExitPlanMode" || p.Tool == "exit_plan_mode" // a plan waits for approval
	r.last = deed{kind: d.Kind, id: p.ID, open: true}
	switch d.Kind {
	case host.RunDeed:
		r.last.what = d.Command
		if f := FileRead(d.Command); f != "" {
			r.files[r.file(f)].reads++
		}
		for _, f := range FilesChanged(d.Command) {
			c.wrote = append(c.wrote, r.file(f))
		}
	case host.AskDeed:
		r.Words = r.Words.AsksWith(d.Question)
	case host.PlanDeed:
		for _, e := range d.Done {
			r.planned(e)
		}
	}
	for _, f := range d.Files {
		i := r.file(f)
		r.last.what = r.files[i].path
		if d.Kind == host.ReadDeed {
			r.files[i].reads++
		} else {
			c.wrote = append(c.wrote, i)
		}
	}
	r.countIn(p, true)
	r.calls[p.ID] = c
}

func (r *Record) planned(e host.Event) {
	r.thread, r.edits = r.thread.Apply(e, compact.Settings{}), 0
}

// maxOutput is how much of a command's output is looked at, from its end.
const maxOutput = 64 << 10

func (r *Record) result(p *transcript.Event) {
	c := r.calls[p.ID]
	delete(r.calls, p.ID)
	if p.ID == r.last.id {
		r.last.open, r.last.failed = false, p.Failed
	}
	r.Words = r.Words.Worked()
	worked := !p.Failed && !p.Refused
	if c.deed.Kind == host.RunDeed {
		worked = r.ran(c.deed.Command, p)
	} else {
		r.answer(c, p)
	}
	for _, i := range c.wrote {
		if worked {
			r.wrote(i)
		}
	}
	r.countIn(p, false)
}

// ran takes the end of a command, and says whether it worked.
func (r *Record) ran(line string, p *transcript.Event) bool {
	raw := p.Raw
	output := ""
	if len(raw) <= maxOutput {
		output = p.Text()
	} else {
		output = p.Tail(maxOutput)
	}
	output, exit := host.Ended(raw, output, p.Failed)
	if strings.Contains(line, "git") {
		end := host.CommandFinished{Observation: shellcmd.Observation{Line: line, Output: output, Exit: exit}}
		if end = r.thread.Judge(end); end.Made.Committed {
			r.commit = r.pos
			r.thread = r.thread.Apply(end, compact.Settings{})
		}
		r.moved = append(r.moved, shellcmd.Moved(end.Observation)...)
	}
	worked := exit == nil || *exit == 0
	if p.ID == r.last.id {
		r.last.failed = !worked
	}
	if !p.Refused && exit != nil {
		r.remember(line, output, *exit)
	}
	return worked
}

// wrote notes that a tool has changed a file.
func (r *Record) wrote(i int32) {
	f := &r.files[i]
	f.writes++
	f.wrote = r.pos
	r.edits++
}

func (r *Record) file(path string) int32 {
	path = tidyPath(path, r.CWD)
	if i, ok := r.at[path]; ok {
		return i
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	// A command that ran in a folder names its files from there. Where hundreds share a name
	// that is not looked for: each would be compared with all the others.
	if !rooted(path) && len(r.byBase[base]) < 100 {
		var match []int32
		for _, i := range r.byBase[base] {
			if strings.HasSuffix(r.files[i].path, "/"+path) {
				match = append(match, i)
			}
		}
		if len(match) == 1 {
			r.at[path] = match[0]
			return match[0]
		}
	}
	i := int32(len(r.files))
	r.at[path] = i
	r.byBase[base] = append(r.byBase[base], i)
	r.files = append(r.files, touched{path: path, wrote: -1})
	return i
}

// rebase finds the folder in which most of the work lies outside of CWD, and
// writes paths from there: a session may be started anywhere.
func (r *Record) rebase() {
	var far []string
	for i := range r.files {
		if p := r.files[i].path; rooted(p) {
			far = append(far, folderOf(p))
		}
	}
	if len(far) < 3 || len(far)*2 < len(r.files) || r.root != "" {
		return
	}
	slices.Sort(far)
	// Half of them lie between the quarters of the sorted list.
	low, high := far[len(far)/4], far[len(far)-1-len(far)/4]
	n := 0
	for n < len(low) && n < len(high) && low[n] == high[n] {
		n++
	}
	root := folderOf(low[:n])
	if strings.Count(root, "/") < 3 {
		return
	}
	r.root = root
	r.at = map[string]int32{}
	for i := range r.files {
		f := &r.files[i]
		f.path = strings.TrimPrefix(f.path, root)
		r.at[f.path] = int32(i)
	}
	r.last.what = strings.TrimPrefix(r.last.what, root)
}

// known is the index of a file that tools worked on already, -1 for another.
func (r *Record) known(path string) int32 {
	if i, ok := r.at[r.tidy(path)]; ok {
		return i
	}
	return -1
}

func (r *Record) tidy(path string) string {
	path = tidyPath(path, r.CWD)
	if r.root != "" {
		path = strings.TrimPrefix(path, r.root)
	}
	return path
}

// Empty says that the slice holds nothing that a hand-over could tell.
func (r *Record) Empty() bool { return r.piece == 0 }

// Work is what was done and what is left, as the slice itself tells it.
func (r *Record) Work() Work {
	return Work{Commits: r.thread.State.Slice.Commits, Steps: r.thread.State.Slice.Steps, Next: r.thread.Open(), Words: r.Words}
}

// What an audit asks of a record: whether something that an agent used after a
// compaction had been met before it.

// Name is the number of a name that the slice holds, -1 for one that it does not.
func (r *Record) Name(base []byte) int {
	if i, ok := r.names.at[string(base)]; ok {
		return int(i)
	}
	return -1
}

// Own reports whether a name is known to be the project's own: that of a file which no
// library brought, or of something that was defined in what the slice shows.
func (r *Record) Own(name int) bool {
	n := &r.names.list[name]
	if n.secret || n.defined {
		return !n.secret
	}
	libraries := []string{"node_modules/", "site-packages/", "/pkg/mod/", "/vendor/", "/.cargo/", "/usr/"}
	return n.path && extract.FileName([]byte(n.text)) &&
		!slices.ContainsFunc(libraries, func(dir string) bool { return strings.Contains(n.full, dir) })
}

// Names is how many names there are.
func (r *Record) Names() int { return len(r.names.list) }

// HasRead reports whether a file was read.
func (r *Record) HasRead(path string) bool {
	i := r.known(path)
	return i >= 0 && r.files[i].reads > 0
}

// HasRun reports whether a command line was run, in the words of [TidyCommand].
func (r *Record) HasRun(line string) bool {
	_, ok := r.runAt[line]
	return ok
}
