package blueprint

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Problem is something that keeps a file from being run.
type Problem struct {
	File string // "" = built in
	Line int    // 0 = the file as a whole
	Text message.Reason
	Hint message.Reason
}

// In is the problem on one line: "file:line: what is wrong".
func (p Problem) In(lang message.Lang) string {
	text := p.Text.In(lang)
	switch {
	case p.File == "":
		return text
	case p.Line == 0:
		return p.File + ": " + text
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ": " + text
}

// nowhere reports whether it is that a FAIL of the i-th stage goes nowhere.
func (p Problem) nowhere(i int, f File) bool {
	return p.Text.Text == message.FlawNowhere && i < len(f.lines) && p.Line == f.lines[i]["stage"]
}

// Fields of a file and of a stage in it, in the order that they are written.
var (
	fileFields  = []string{"name", "label", "about", "stages"}
	stageFields = []string{"stage", "agent", "run", "run_timeout", "label", "emoji", "judges", "after", "on_fail", "retries", "barrier", "barrier_timeout", "context", "when"}
)

// Limits of what a file says: it is shown to people, and handed to models.
const (
	maxLabel    = 40
	maxEmoji    = 8
	maxAbout    = 300
	maxRun      = 2000
	maxAgent    = 100
	maxContext  = 8
	maxPatterns = 32
	maxRetries  = 20
)

// parse reads a workflow. path is for the problems, and tells a built-in one from
// others.
func parse(name, path string, data []byte) (File, []Problem) {
	d := decoder{f: File{Name: name, Path: path, Source: data, Label: message.Text{ZH: name, EN: name}}}
	root, bad := config.ParseYAML(data, path)
	switch {
	case bad != nil:
		d.add(bad.Line, message.FlawSyntax, message.Text{ZH: bad.ZH, EN: bad.Msg})
	case root.Kind != config.Map:
		d.want(root.Line, "", message.WantMap)
	default:
		d.file(root)
	}
	if path != "" {
		d.checkName()
	}
	if len(d.problems) > 0 {
		return d.f, d.sorted()
	}
	dag, flaws := workflow.NewGraph(d.f.Stages)
	d.f.DAG = dag
	for _, flaw := range flaws {
		d.problems = append(d.problems, Problem{File: path, Line: d.line(flaw), Text: flaw.Text, Hint: flaw.Hint})
	}
	return d.f, d.sorted()
}

type decoder struct {
	f        File
	problems []Problem
	stages   int // the line of the list
}

func (d *decoder) add(line int, t message.Text, args ...any) *Problem {
	d.problems = append(d.problems, Problem{File: d.f.Path, Line: line, Text: message.Because(t, args...)})
	return &d.problems[len(d.problems)-1]
}

func (d *decoder) want(line int, key string, what message.Text) {
	key = cmp.Or(key, d.f.Name)
	d.add(line, what, key)
}

func (d *decoder) sorted() []Problem {
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
	return d.problems
}

// line is where a flaw of the graph stands.
func (d *decoder) line(f workflow.Flaw) int {
	if f.Stage < 0 || f.Stage >= len(d.f.lines) {
		return d.stages
	}
	if n, ok := d.f.lines[f.Stage][f.Field]; ok {
		return n
	}
	return d.f.lines[f.Stage]["stage"]
}

func (d *decoder) checkName() {
	switch {
	case !workflow.ValidName(d.f.Name):
		d.add(0, message.FlawName, d.f.Name).Hint = message.Because(message.HintFlawName)
	case Builtin(d.f.Name):
		d.add(0, message.FlawShadow, d.f.Name).Hint = message.Because(message.HintFlawShadow)
	}
}

// members walks a map; each key is known and there once.
func (d *decoder) members(n config.Node, known []string, f func(key string, m config.Member)) {
	seen := map[string]int{}
	for _, m := range n.Members {
		switch first, again := seen[m.Key]; {
		case again:
			d.add(m.Line, message.FlawAgain, m.Key, first)
		case !slices.Contains(known, m.Key):
			d.add(m.Line, message.FlawField, m.Key).Hint = workflow.Meant(m.Key, known, message.HintDidYouMean, message.HintFlawFields)
		default:
			seen[m.Key] = m.Line
			if m.Value.Kind != config.Null {
				f(m.Key, m)
			}
		}
	}
}

func (d *decoder) file(root config.Node) {
	found := false
	d.members(root, fileFields, func(key string, m config.Member) {
		v := m.Value
		switch key {
		case "name":
			if name := d.text(key, m, maxLabel); name != "" && name != d.f.Name {
				d.add(m.Line, message.FlawOther, name, d.f.Name).Hint = message.Because(message.HintFlawOther)
			}
		case "label":
			if l := d.label(m); l != (message.Text{}) {
				d.f.Label = l
			}
		case "about":
			d.f.About = d.text(key, m, maxAbout)
		case "stages":
			found, d.stages = true, m.Line
			if v.Kind != config.List {
				d.want(m.Line, key, message.WantStages)
				return
			}
			for _, item := range v.Items {
				d.stage(item)
			}
		}
	})
	if d.f.Path != "" && (!found || len(d.f.Stages) == 0) && len(d.problems) == 0 {
		d.add(max(1, d.stages), message.FlawNone)
	}
}

// stage reads an entry of the list: a name, or all that there is to say.
func (d *decoder) stage(n config.Node) {
	s := workflow.Draft{Retries: -1}
	lines := map[string]int{"stage": n.Line}
	switch n.Kind {
	case config.Scalar:
		s.Key = n.Text
	case config.Map:
		d.members(n, stageFields, func(key string, m config.Member) {
			lines[key] = m.Line
			d.field(&s, key, m)
		})
		if s.Key == "" {
			d.want(n.Line, "stage", message.WantText)
		}
		if line, ok := lines["run_timeout"]; ok && s.Spec.Run == "" {
			d.add(line, message.FlawRunOnly, "run_timeout")
		}
	default:
		d.want(n.Line, "stages", message.WantStages)
		return
	}
	d.f.Stages, d.f.lines = append(d.f.Stages, s), append(d.f.lines, lines)
}

func (d *decoder) field(s *workflow.Draft, key string, m config.Member) {
	switch key {
	case "stage":
		s.Key = d.text(key, m, maxLabel)
	case "agent":
		s.Spec.Agent = d.agent(key, m)
	case "run":
		s.Spec.Run = d.command(key, m)
	case "run_timeout":
		s.Spec.RunTimeout = d.duration(key, m, time.Second, 2*time.Hour)
	case "label":
		s.Spec.Label = d.label(m)
	case "emoji":
		s.Spec.Emoji = d.text(key, m, maxEmoji)
	case "judges":
		s.Spec.Judges = d.boolean(key, m)
	case "after":
		s.After = d.list(key, m)
	case "on_fail":
		s.OnFail = d.text(key, m, maxLabel)
	case "retries":
		s.Retries = d.number(key, m, 0, maxRetries)
	case "barrier":
		s.Barrier = d.text(key, m, maxLabel)
	case "barrier_timeout":
		s.BarrierTimeout = d.duration(key, m, time.Second, 24*time.Hour)
	case "context":
		s.Spec.Context = d.context(key, m)
	case "when":
		d.when(s, m)
	}
}

func (d *decoder) when(s *workflow.Draft, m config.Member) {
	if m.Value.Kind != config.Map {
		d.want(m.Line, "when", message.WantMap)
		return
	}
	d.members(m.Value, []string{"paths"}, func(key string, m config.Member) {
		s.Spec.When = d.list("when.paths", m)
		if len(s.Spec.When) > maxPatterns {
			d.add(m.Line, message.FlawLong, "when.paths", maxPatterns)
		}
		for _, p := range s.Spec.When {
			if len(p) > 200 || strings.Count(p, "**") > 4 || strings.Count(p, "/") > 32 || strings.Trim(p, "!/") == "" ||
				slices.Contains(strings.Split(strings.TrimPrefix(p, "!"), "/"), "..") {
				d.add(m.Line, message.FlawPattern, p).Hint = message.Because(message.HintFlawPattern)
			}
		}
	})
}

// context is files below the project's folder.
func (d *decoder) context(key string, m config.Member) []string {
	list := d.list(key, m)
	if len(list) > maxContext {
		d.add(m.Line, message.FlawLong, key, maxContext)
	}
	for i, file := range list {
		clean := path.Clean(filepath.ToSlash(file))
		if !filepath.IsLocal(filepath.FromSlash(clean)) || strings.ContainsAny(file, "\\\n") || len(file) > 200 {
			d.add(m.Line, message.FlawPath, file).Hint = message.Because(message.HintFlawPath)
			continue
		}
		list[i] = clean
	}
	return list
}

// agent is the name of an agent, which stands in texts for models: a word.
func (d *decoder) agent(key string, m config.Member) string {
	name := d.text(key, m, maxAgent)
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:/@", r)
	}) {
		d.want(m.Line, key, message.WantAgent)
		return ""
	}
	return name
}

// command is what a shell is to run. Who trusts it must have seen all of it, in the
// order in which it runs.
func (d *decoder) command(key string, m config.Member) string {
	m.Value.Text = strings.ReplaceAll(m.Value.Text, "\r\n", "\n")
	s := strings.TrimSpace(d.lines(key, m, maxRun))
	if strings.ContainsFunc(s, hidden) {
		d.want(m.Line, key, message.WantVisible)
		return ""
	}
	return s
}

// hidden reports whether a character of a command does not show itself, or changes
// how others are shown. What joins emoji may stay.
func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != 0x200d
}

func (d *decoder) text(key string, m config.Member, most int) string {
	s := d.lines(key, m, most)
	if strings.ContainsFunc(s, func(r rune) bool { return hidden(r) || r == '\n' || r == '\t' }) {
		d.want(m.Line, key, message.WantText)
		return ""
	}
	return s
}

func (d *decoder) lines(key string, m config.Member, most int) string {
	if m.Value.Kind != config.Scalar || strings.TrimSpace(m.Value.Text) == "" {
		d.want(m.Line, key, message.WantText)
		return ""
	}
	if n := message.Units(m.Value.Text); n > most {
		d.add(m.Line, message.FlawLong, key, most)
		return ""
	}
	return m.Value.Text
}

// label is a text for both languages, or one for each.
func (d *decoder) label(m config.Member) (t message.Text) {
	if m.Value.Kind == config.Scalar {
		s := d.text("label", m, maxLabel)
		return message.Text{ZH: s, EN: s}
	}
	if m.Value.Kind != config.Map {
		d.want(m.Line, "label", message.WantLabel)
		return t
	}
	d.members(m.Value, []string{"zh", "en"}, func(key string, m config.Member) {
		if s := d.text("label."+key, m, maxLabel); key == "zh" {
			t.ZH = s
		} else {
			t.EN = s
		}
	})
	t.ZH = cmp.Or(t.ZH, t.EN)
	t.EN = cmp.Or(t.EN, t.ZH)
	return t
}

func (d *decoder) list(key string, m config.Member) []string {
	list := []string{}
	switch m.Value.Kind {
	case config.Scalar:
		if s := d.text(key, m, 200); s != "" {
			list = append(list, s)
		}
	case config.List:
		for _, item := range m.Value.Items {
			if s := d.text(key, config.Member{Key: key, Line: item.Line, Value: item}, 200); s != "" {
				list = append(list, s)
			}
		}
	default:
		d.want(m.Line, key, message.WantList)
	}
	return list
}

func (d *decoder) boolean(key string, m config.Member) bool {
	switch {
	case m.Value.Kind == config.Scalar && !m.Value.Quoted && m.Value.Text == "true":
		return true
	case m.Value.Kind == config.Scalar && !m.Value.Quoted && m.Value.Text == "false":
		return false
	}
	d.want(m.Line, key, message.WantBool)
	return false
}

func (d *decoder) number(key string, m config.Member, lo, hi int) int {
	n, err := strconv.Atoi(m.Value.Text)
	switch {
	case m.Value.Kind != config.Scalar || m.Value.Quoted || err != nil:
		d.want(m.Line, key, message.WantNumber)
	case n < lo || n > hi:
		d.add(m.Line, message.FlawRange, key, strconv.Itoa(lo), strconv.Itoa(hi))
	}
	return n
}

func (d *decoder) duration(key string, m config.Member, lo, hi time.Duration) time.Duration {
	t, err := time.ParseDuration(m.Value.Text)
	switch {
	case m.Value.Kind != config.Scalar || err != nil:
		d.want(m.Line, key, message.WantDuration)
	case t < lo || t > hi:
		d.add(m.Line, message.FlawRange, key, lo.String(), hi.String())
	}
	return t
}
