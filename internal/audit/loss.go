package audit

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What a compaction lost is what the agent needed after it and nothing told it any
// more: names of the project and commands of its own in the inputs of tools, which it
// had met before the compaction and which had not been before its eyes again until it
// used them. Before its eyes is what the host kept or put back, what tools answered,
// what the user and the host said, and what an edit replaces. Of what is needed in
// this way some stands in the summary, and more in the hand-over that we would have
// written knowing it. Names of libraries and numbers are nobody's loss.

// losses reads a compacted session once more, in full.
func (t *tracer) losses(ctx context.Context, f io.ReaderAt, file transcript.File) error {
	last := 0
	for i, e := range t.Compacted {
		if e.end > 0 {
			last = i
		}
	}
	l := lossReader{t: t, id: file.ID, last: last}
	if h, ok := host.Named(string(file.Host)); ok {
		l.putsBack = h.PutsBack
	}
	// The project's instructions stand before every request.
	for _, name := range [...]string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
		if !filepath.IsAbs(t.CWD) {
			break
		}
		if text, err := config.ReadFile(filepath.Join(t.CWD, name), maxRules); err == nil {
			l.rules = append(l.rules, text...)
		}
	}
	l.begin(compact.Words{}, 0)
	_, err := transcript.Events(ctx, io.NewSectionReader(f, 0, file.Size), 0, file.Host, transcript.Want{Attached: true}, l.event)
	if err != nil {
		return err
	}
	l.close()
	return nil
}

type lossReader struct {
	t        *tracer
	id       string
	putsBack int
	rules    []byte
	n        int // of compactions so far
	last     int
	from     int64
	rec      *handover.Record // nil behind the last compaction
	commands map[string]bool  // that were run in this slice
	files    []shownFile      // those that were read or changed last, the newest at the end
	reads    map[transcript.CallID]string
	kept     []byte // what the compaction at the end of the slice keeps of it
	keeping  bool
	after    *needs // what follows the compaction before, nil before the first
}

type shownFile struct {
	path string
	text []byte
}

const (
	// maxShown is how much of a file is put back: five thousand tokens.
	maxShown = 5_000 * charsPerToken
	maxFiles = 20
	maxRules = 256 << 10
)

func (l *lossReader) begin(words compact.Words, from int64) {
	l.rec, l.from = handover.NewRecord(l.t.CWD), from
	l.rec.Words = words
	l.commands, l.reads, l.kept, l.keeping = map[string]bool{}, map[transcript.CallID]string{}, nil, false
}

func (l *lossReader) event(p *transcript.Event) {
	switch p.Kind {
	case transcript.Compacted:
		l.boundary(p)
		return
	case transcript.Summarised:
		if l.after != nil && l.after.summary == "" {
			l.after.summary = p.Text()
		}
	default:
		if l.after != nil {
			l.after.take(p, l.t.CWD)
		}
	}
	if l.rec == nil {
		return
	}
	if p.Kind != transcript.Attached {
		l.rec.Add(p, p.Off-l.from)
	}
	if l.keeping = l.keeping || l.t.Compacted[l.n].keeps[string(p.UUID)]; l.keeping {
		p.Strings(func(_ string, inner transcript.Inner) { l.kept = appendPlain(l.kept, inner) })
	}
	switch p.Kind {
	case transcript.ToolBegan:
		d := host.Recorded(p.Tool, p.Raw)
		if d.Kind == host.RunDeed {
			if key := ownCommand(d.Command); key != "" {
				l.commands[key] = true
			}
		}
		for _, path := range d.Files {
			f := l.file(path)
			if d.Kind == host.ReadDeed {
				l.reads[p.ID], f.text = path, nil
				continue
			}
			p.Strings(func(key string, inner transcript.Inner) {
				if !replaced(key) {
					f.add(inner)
				}
			})
		}
	case transcript.ToolEnded:
		if path, ok := l.reads[p.ID]; ok {
			delete(l.reads, p.ID)
			f := l.file(path)
			p.Strings(func(_ string, inner transcript.Inner) { f.add(inner) })
		}
	}
}

// file moves a file to the end of those that were seen last.
func (l *lossReader) file(path string) *shownFile {
	f := shownFile{path: path}
	if i := slices.IndexFunc(l.files, func(f shownFile) bool { return f.path == path }); i >= 0 {
		f = l.files[i]
		l.files = slices.Delete(l.files, i, i+1)
	}
	l.files = append(l.files[max(0, len(l.files)+1-maxFiles):], f)
	return &l.files[len(l.files)-1]
}

func (f *shownFile) add(inner transcript.Inner) {
	if len(f.text) < maxShown {
		f.text = appendPlain(f.text, inner)
		f.text = f.text[:min(len(f.text), maxShown)]
	}
}

func (l *lossReader) boundary(p *transcript.Event) {
	words := compact.Words{}
	l.close()
	if l.n == len(l.t.Compacted) { // written since
		l.rec = nil
		return
	}
	if l.rec != nil {
		words = l.rec.Words
		if !l.rec.Empty() {
			l.after = l.needs(p)
		}
	}
	l.rec = nil
	l.n++
	if l.n <= l.last {
		l.begin(words, p.Off)
	}
}

// needs begins what follows a compaction with what the host leaves before the agent.
func (l *lossReader) needs(p *transcript.Event) *needs {
	n := &needs{
		event: &l.t.Compacted[l.n], rec: l.rec, commands: l.commands, summary: p.Text(), kept: p.Kept(), id: l.id, n: l.n + 1,
		told: make([]bool, l.rec.Names()), ran: map[string]bool{}, read: map[string]bool{}, toEdit: -1,
		unsure: map[string]Missing{},
	}
	n.tell(l.rules)
	n.tell(l.kept)
	for _, f := range l.files[max(0, len(l.files)-l.putsBack):] {
		n.tell([]byte(f.path))
		n.tell(f.text)
	}
	transcript.Texts(p.Keeps, func(inner transcript.Inner) {
		if text := inner.Text(); n.summary == "" || !strings.Contains(text, n.summary) {
			n.tell([]byte(text))
		}
	})
	return n
}

func (l *lossReader) close() {
	if l.after != nil {
		l.after.event.Loss = l.after.loss()
		if l.after.event.Summary == 0 {
			l.after.event.Summary = message.Units(l.after.summary)
		}
		l.after = nil
	}
}

type needs struct {
	event    *event
	rec      *handover.Record
	commands map[string]bool
	summary  string
	kept     string // beside it
	id       string
	n        int

	told  []bool // by number of a name
	texts []byte // what was told
	list  []Missing
	// unsure are names that the call with the id asked looks for, and that may be a
	// library's.
	unsure    map[string]Missing
	asked     transcript.CallID
	ran, read map[string]bool
	files     []string
	actions   int
	toEdit    int
}

func (n *needs) take(p *transcript.Event, cwd string) {
	switch p.Kind {
	case transcript.ToolBegan:
		n.call(p, cwd)
	case transcript.ToolEnded, transcript.UserSaid, transcript.HostSaid, transcript.Attached:
		p.Strings(func(_ string, inner transcript.Inner) {
			text := appendPlain(nil, inner)
			n.tell(text)
			if p.Kind == transcript.ToolEnded && p.ID == n.asked {
				n.confirm(text)
			}
		})
	}
}

// confirm takes the names that were looked for and are defined in the project, as the
// result shows.
func (n *needs) confirm(text []byte) {
	s := extract.NameScan{Text: text}
	for name, ok := s.Next(); ok; name, ok = s.Next() {
		if m, ok := n.unsure[string(name.Base)]; ok && name.Defined {
			n.list = append(n.list, m)
			delete(n.unsure, m.Text)
		}
	}
}

// maxTold bounds what is kept of what an agent was told.
const maxTold = 16 << 20

// tell takes a text that stands before the agent's eyes.
func (n *needs) tell(text []byte) {
	n.eachName(text, func(int, extract.Name) {})
	if len(n.texts) < maxTold {
		n.texts = append(append(n.texts, text...), '\n')
	}
}

// states reports whether something was told, also as a part of another word: of
// GetRewindPoints one can tell that there is a RewindPoint.
func (n *needs) states(what string) bool { return bytes.Contains(n.texts, []byte(what)) }

// eachName passes the names that were known and have not been told yet, once.
func (n *needs) eachName(text []byte, fn func(int, extract.Name)) {
	s := extract.NameScan{Text: text}
	for name, ok := s.Next(); ok; name, ok = s.Next() {
		if i := n.rec.Name(name.Base); i >= 0 && !n.told[i] {
			n.told[i] = true
			fn(i, name)
		}
	}
}

// appendPlain adds what a string says, as a line of its own.
func appendPlain(to []byte, inner transcript.Inner) []byte {
	had := len(to)
	if to = inner.Append(to); len(to) > had {
		to = append(to, '\n')
	}
	return to
}

func (n *needs) call(p *transcript.Event, cwd string) {
	n.actions++
	d := host.Recorded(p.Tool, p.Raw)
	files := d.Files
	switch d.Kind {
	case host.RunDeed:
		if f := handover.FileRead(d.Command); f != "" {
			files = []string{f}
		}
		if line := handover.TidyCommand(d.Command, cwd); line != "" && n.rec.HasRun(line) {
			n.ran[line] = true
		}
		if key := ownCommand(d.Command); n.commands[key] && !n.states(key) {
			n.tell([]byte(key))
			n.list = append(n.list, n.used(p, "command", key, d.Command))
		}
		if n.toEdit < 0 && len(handover.FilesChanged(d.Command)) > 0 {
			n.toEdit = n.actions - 1
		}
	case host.EditDeed, host.CreateDeed:
		files = nil
		if n.toEdit < 0 {
			n.toEdit = n.actions - 1
		}
	case host.ReadDeed:
	default:
		files = nil
	}
	for _, f := range files {
		if n.rec.HasRead(f) && !n.read[f] {
			n.read[f] = true
			n.files = append(n.files, f)
		}
	}
	// Of what an edit changes only what it adds comes from memory: no host edits what it
	// has not shown.
	var added [][]byte
	p.Strings(func(key string, inner transcript.Inner) {
		shown, adds := splitPatch(appendPlain(nil, inner))
		if replaced(key) {
			shown, adds = adds, nil
		}
		n.tell(shown)
		added = append(added, adds)
	})
	clear(n.unsure)
	n.asked = p.ID
	code := d.Kind != host.SearchDeed && d.Kind != host.RunDeed // lines of it, and not what runs or looks for them
	for _, text := range added {
		n.eachName(text, func(i int, name extract.Name) {
			word, line := string(name.Base), lineAround(text, name.Base)
			switch {
			case ordinary(word), n.states(word), code && coins(line, word):
			case n.rec.Own(i):
				n.list = append(n.list, n.used(p, "name", word, line))
			case !name.Path && (d.Kind == host.SearchDeed || d.Kind == host.RunDeed):
				n.unsure[redact.Clean(word)] = n.used(p, "name", word, line)
			}
		})
	}
	for _, text := range added {
		n.tell(text)
	}
}

func (n *needs) used(p *transcript.Event, kind, what, line string) Missing {
	return Missing{Text: redact.Clean(what), Kind: kind, Time: stamp(p.Time), Tool: p.Tool, Used: short(line)}
}

// replaced reports the keys under which tools are given what an edit replaces.
func replaced(key string) bool { return key == "old_string" || key == "oldString" || key == "old_str" }

// coins reports a line of code that makes a name up: it defines something, of which the
// name may be a parameter, or assigns to it.
func coins(line, name string) bool {
	s := extract.NameScan{Text: []byte(line)}
	for n, ok := s.Next(); ok; n, ok = s.Next() {
		if n.Defined {
			return true
		}
	}
	before, after, _ := strings.Cut(line, name)
	if strings.ContainsAny(before, "(.\"'`") {
		return false
	}
	left, right, ok := strings.Cut(after, "=")
	return ok && !strings.HasPrefix(right, "=") && !strings.ContainsAny(left, "(.!<>")
}

// loss compares what was needed with what the summary and a hand-over state.
func (n *needs) loss() *Loss {
	h := handover.Handover{
		ID: compact.PacketID(n.id, n.n), Session: n.id, Record: n.rec, Work: n.rec.Work(), Summary: n.summary, Kept: n.kept, Lang: message.EN,
	}
	text := h.Text()
	l := &Loss{
		Handover: message.Units(text), Summary: message.Units(n.summary), ReadAgain: len(n.files), RunAgain: len(n.ran),
	}
	for _, f := range n.files[:min(len(n.files), maxListed)] {
		l.Files = append(l.Files, redact.Clean(f))
	}
	if n.toEdit >= 0 {
		l.ToEdit = &n.toEdit
	}
	if n.summary == "" {
		l.Unreadable = 1 // whether it states what was needed nobody can say
		return l
	}
	l.Compactions = 1
	summary := message.OneLine(n.summary)
	for _, m := range n.list {
		k, states := &l.Names, extract.States
		if m.Kind == "command" {
			k, states = &l.Commands, strings.Contains
		}
		k.Needed++
		inSummary := states(summary, m.Text)
		m.Handover = states(text, m.Text)
		if inSummary {
			k.Summary++
		} else {
			l.Missing = append(l.Missing, m)
		}
		if inSummary || m.Handover {
			k.Handover++
		}
	}
	return l
}

const maxListed = 12

// ownCommand is what a command does where that is the project's own: the target of a
// makefile, a script of a package. "" for commands that every project has.
func ownCommand(line string) string {
	key := handover.CommandKey(line)
	words := strings.Fields(key)
	if len(words) < 2 {
		return ""
	}
	switch words[0] {
	case "make", "just", "task", "rake":
	case "npm", "pnpm", "yarn", "bun", "mise", "hatch", "pdm", "composer":
		if len(words) < 3 || words[1] != "run" {
			return ""
		}
	default:
		return ""
	}
	if target := words[len(words)-1]; strings.ContainsAny(target, "-=$") && target[0] == '-' || ordinary(target) {
		return ""
	}
	return key
}

// ordinary reports names that projects of all kinds have.
func ordinary(name string) bool {
	switch strings.ToLower(name) {
	case "test", "tests", "build", "lint", "fmt", "format", "install", "dev", "start", "check", "clean", "run", "all", "help", "ci", "typecheck", "type-check", "serve", "deploy",
		"package.json", "package-lock.json", "tsconfig.json", "go.mod", "go.sum", "cargo.toml", "cargo.lock", "pyproject.toml", "requirements.txt", "setup.py", "makefile", "dockerfile",
		"docker-compose.yml", "readme.md", "claude.md", "agents.md", "gemini.md", "changelog.md", "license", "license.md", "contributing.md", ".gitignore", ".env", "__init__.py", "index.js", "index.ts", "index.html", "index.tsx", "index.css",
		"main.go", "main.py", "main.ts", "main.js", "main.rs", "lib.rs", "mod.rs", "app.py", "app.js", "app.ts", "app.tsx", "settings.json", "config.yaml", "config.json", "mise.toml":
		return true
	}
	return false
}

// splitPatch tells what a patch shows of a file from what it adds. A text that is no
// patch adds all of it.
func splitPatch(text []byte) (shown, added []byte) {
	if !bytes.Contains(text, []byte("*** Begin Patch")) {
		return nil, text
	}
	for line := range bytes.Lines(text) {
		switch line[0] {
		case ' ', '-', '@':
			shown = append(shown, line...)
		default:
			added = append(added, line...)
		}
	}
	return shown, added
}

// lineAround is the line of a text in which a part of it stands, and of a long one what
// is next to it.
func lineAround(text, part []byte) string {
	const around = 120
	at := cap(text) - cap(part)
	from := max(bytes.LastIndexByte(text[:at], '\n')+1, at-around)
	to := len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		to = at + i
	}
	return strings.ToValidUTF8(string(text[from:min(to, at+around)]), "")
}

// median is the middle one, the mean of the two in an even list.
func median(list []float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.Sort(list)
	n := len(list) / 2
	m := list[n]
	if len(list)%2 == 0 {
		m = (list[n-1] + list[n]) / 2
	}
	return &m
}
