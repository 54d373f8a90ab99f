package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (a *app) demoCmd() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: message.HelpDemo.In(a.lang), Long: message.HelpDemoLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, message.HelpKeep.In(a.lang))
	return cmd
}

// demo plays the story. Hooks and commands run as they always do, only in a home
// of their own.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	// A reader that goes away (demo | head) must not keep the folder from being removed.
	signal.Ignore(syscall.SIGPIPE)
	begin := a.env.Now()
	dir, err := os.MkdirTemp(a.env.Getenv("TMPDIR"), "overtone-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	d, err := newDemo(a, dir)
	if err != nil {
		return err
	}
	if !a.json {
		a.say(message.DemoIntro)
	}
	if err := d.play(ctx); err != nil {
		return err
	}
	took := a.env.Now().Sub(begin)
	if a.json {
		out := struct {
			Schema     int            `json:"schema"`
			Steps      []demoStep     `json:"steps"`
			Claims     []demoClaim    `json:"claims"`
			Compress   map[string]any `json:"compress"`
			DurationMS int64          `json:"durationMs"`
			Home       string         `json:"home,omitempty"`
		}{1, d.steps, d.claims, d.compressed, took.Milliseconds(), ""}
		if keep {
			out.Home = dir
		}
		return a.printJSON(out)
	}
	fmt.Fprintln(a.env.Stdout)
	a.say(message.DemoEnd, len(d.steps), len(d.claims), took.Round(10*time.Millisecond))
	if keep {
		a.say(message.DemoKept, dir)
	} else {
		a.say(message.DemoGone)
	}
	a.say(message.DemoNext)
	return nil
}

// demo is a play: a home, a session in it, and what happened so far.
type demo struct {
	*app
	env        Env // of the throw-away home
	home       string
	project    string
	transcript string
	sess       *store.Session

	act    string
	acts   int
	steps  []demoStep
	claims []demoClaim
	files  map[string]string // content by path, as last seen
	events int               // on the timeline, as last seen
	bar    string

	compressed map[string]any
}

// demoStep is one hook call.
type demoStep struct {
	N        int             `json:"n"`
	Act      string          `json:"act"`
	Event    string          `json:"event"`
	Subject  string          `json:"subject"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"` // null: nothing was printed
	Model    string          `json:"model,omitempty"`
	Person   string          `json:"person,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Denied   string          `json:"denied,omitempty"`
	Blocked  string          `json:"blocked,omitempty"`
	Progress string          `json:"progress,omitempty"`
	Events   []string        `json:"events"`
	Files    []string        `json:"files"`
}

// demoClaim is something the demo says and has checked.
type demoClaim struct {
	Step int    `json:"step"`
	Text string `json:"text"`
}

const demoSession = "demo"

func newDemo(a *app, dir string) (*demo, error) {
	d := &demo{app: a, env: a.env, home: dir, project: filepath.Join(dir, "project"), files: map[string]string{}}
	vars := map[string]string{"HOME": dir, "OVERTONE_LANG": string(a.lang), "TMPDIR": a.env.Getenv("TMPDIR")}
	d.env.Getenv = func(key string) string { return vars[key] }
	d.env.Environ = func() []string { return nil }
	d.env.Dir = d.project
	d.transcript = filepath.Join(dir, ".claude", "projects", "-project", demoSession+".jsonl")
	for _, p := range []string{d.project, filepath.Dir(d.transcript)} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(d.project, "go.mod"), []byte("module example.com/api\n\ngo 1.26\n"), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.transcript, nil, 0o600); err != nil {
		return nil, err
	}
	sess, err := d.env.store().Session(demoSession)
	d.sess = sess
	return d, err
}

// scene begins an act.
func (d *demo) scene(title message.Text) {
	d.acts++
	d.act = title.In(d.lang)
	if d.json {
		return
	}
	line := message.DemoAct.Format(d.lang, d.acts, d.act)
	fmt.Fprintf(d.app.env.Stdout, "\n━━ %s %s\n", line, strings.Repeat("━", max(0, 76-columns(line))))
}

// demoFields is a host's input beyond what every call has.
type demoFields map[string]any

// call is a hook call as Claude Code makes it. subject says in a few words what
// the host sent.
func (d *demo) call(event, subject string, in demoFields) (demoStep, error) {
	input := map[string]any{
		"session_id": demoSession, "transcript_path": d.transcript, "cwd": d.project,
		"hook_event_name": eventName(event), "permission_mode": "default",
	}
	for k, v := range in {
		input[k] = v
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return demoStep{}, err
	}
	var stdout, stderr bytes.Buffer
	hook.Main([]string{event, "--host", "claude-code"}, hook.Env{
		Stdin: bytes.NewReader(raw), Stdout: &stdout, Stderr: &stderr,
		Getenv: d.env.Getenv, Dir: d.env.Dir, Now: d.env.Now, Version: Version,
	})
	if stderr.Len() > 0 {
		return demoStep{}, fmt.Errorf("hook %s: %s", event, strings.TrimSpace(stderr.String()))
	}
	s := demoStep{N: len(d.steps) + 1, Act: d.act, Event: event, Subject: subject, Input: raw, Events: []string{}, Files: []string{}}
	if stdout.Len() > 0 {
		s.Output = stdout.Bytes()
		s.read(gjson.ParseBytes(s.Output))
	}
	if err := d.look(&s); err != nil {
		return s, err
	}
	d.steps = append(d.steps, s)
	if !d.json {
		d.print(s)
	}
	return s, nil
}

// read sorts an answer by its reader.
func (s *demoStep) read(out gjson.Result) {
	specific := out.Get("hookSpecificOutput")
	s.Model = specific.Get("additionalContext").String()
	s.Person = out.Get("systemMessage").String()
	s.Agent = specific.Get("updatedInput.prompt").String()
	s.Tool = specific.Get("updatedToolOutput.content.0.text").String()
	s.Denied = specific.Get("permissionDecisionReason").String()
	if out.Get("decision").String() == "block" {
		s.Blocked = out.Get("reason").String()
	}
}

// look finds out what a call changed.
func (d *demo) look(s *demoStep) error {
	state, err := hook.Peek(d.sess)
	if err != nil {
		return err
	}
	if state != nil {
		if bar := workflow.Bar(state); bar != d.bar {
			d.bar, s.Progress = bar, bar
		}
	}
	entries, _, err := d.sess.Last(10_000, store.Filter{})
	if err != nil {
		return err
	}
	for _, e := range entries[d.events:] {
		s.Events = append(s.Events, e.Type)
	}
	d.events = len(entries)
	files, err := d.snapshot()
	if err != nil {
		return err
	}
	for path, text := range files {
		switch old, ok := d.files[path]; {
		case !ok:
			s.Files = append(s.Files, "+ "+path)
		case old != text:
			s.Files = append(s.Files, "~ "+path)
		}
	}
	for path := range d.files {
		if _, ok := files[path]; !ok {
			s.Files = append(s.Files, "- "+path)
		}
	}
	slices.SortFunc(s.Files, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	d.files = files
	return nil
}

// snapshot reads what Overtone wrote, without its bookkeeping: locks, the memory
// between hooks, and the timeline, which is shown as events.
func (d *demo) snapshot() (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.home, path)
		if err != nil {
			return err
		}
		switch {
		case path == d.project || path == filepath.Join(d.home, ".claude", "projects") || path == filepath.Join(d.home, ".overtone", "hooks"):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		switch e.Name() {
		case "lock", "hooks.jsonl", "timeline.jsonl", "last-cleanup":
			return nil
		}
		data, err := os.ReadFile(path)
		files["~/"+filepath.ToSlash(rel)] = string(data)
		return err
	})
	return files, err
}

// claim states something that must hold; a demo that says what is not so fails.
func (d *demo) claim(ok bool, t message.Text, args ...any) error {
	text := t.Format(d.lang, args...)
	if !ok {
		return fail(message.DemoFailed, len(d.steps), text)
	}
	d.claims = append(d.claims, demoClaim{len(d.steps), text})
	if !d.json {
		fmt.Fprintln(d.app.env.Stdout, "  "+message.DemoHolds.Format(d.lang, text))
	}
	return nil
}

// command runs a command of ours in the throw-away home and returns its JSON.
func (d *demo) command(ctx context.Context, args ...string) (gjson.Result, error) {
	var stdout, stderr bytes.Buffer
	sub := &app{env: d.env, lang: d.lang}
	sub.env.Stdin, sub.env.Stdout, sub.env.Stderr = strings.NewReader(""), &stdout, &stderr
	root := sub.root()
	root.SetArgs(append(args, "--json"))
	if err := root.ExecuteContext(ctx); err != nil {
		return gjson.Result{}, fmt.Errorf("overtone %s: %w", args[0], err)
	}
	return gjson.ParseBytes(stdout.Bytes()), nil
}

// eventName is the host's name of an event: PreToolUse for pre-tool-use.
func eventName(event string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(event, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// print shows a step: what came in, what went out and to whom, what changed.
func (d *demo) print(s demoStep) {
	w := d.app.env.Stdout
	silent := ""
	if s.Output == nil {
		silent = "   " + message.DemoSilent.In(d.lang)
	}
	fmt.Fprintf(w, "\n %2d ← %s  %s%s\n", s.N, eventName(s.Event), s.Subject, silent)
	for _, part := range []struct {
		to   message.Text
		text string
	}{
		{message.DemoDenied, s.Denied},
		{message.DemoBlocked, s.Blocked},
		{message.DemoAgent, s.Agent},
		{message.DemoTool, s.Tool},
		{message.DemoModel, s.Model},
		{message.DemoPerson, s.Person},
	} {
		if part.text != "" {
			fmt.Fprintln(w, "    "+part.to.In(d.lang))
			d.quote(w, part.text)
		}
	}
	var labels []string
	for _, typ := range s.Events {
		if label, ok := message.EventLabel(typ); ok {
			labels = append(labels, label.In(d.lang))
		}
	}
	show := func(t message.Text, text string) {
		if text != "" {
			fmt.Fprintln(w, "    "+t.Format(d.lang, text))
		}
	}
	show(message.DemoEvents, strings.Join(labels, " · "))
	var files []string
	for _, f := range s.Files {
		// The state changes with nearly every step, as the progress shows.
		if f != "~ ~/.overtone/sessions/"+demoSession+"/"+store.WorkflowFile {
			files = append(files, f)
		}
	}
	show(message.DemoFiles, strings.Join(files, "   "))
	show(message.DemoProgress, s.Progress)
}

// quote prints the beginning of a text, indented and wrapped.
func (d *demo) quote(w io.Writer, text string) {
	const most, width = 10, 108
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, wrap(line, width)...)
		}
	}
	for _, line := range lines[:min(most, len(lines))] {
		fmt.Fprintln(w, "      │ "+line)
	}
	if rest := len(lines) - most; rest > 0 {
		fmt.Fprintln(w, "      │ "+message.DemoMore.Format(d.lang, rest))
	}
}

// wrap breaks a line after so many columns.
func wrap(s string, n int) []string {
	var lines []string
	from, used := 0, 0
	for i, r := range s {
		c := columns(string(r))
		if used+c > n {
			lines, from, used = append(lines, s[from:i]), i, 0
		}
		used += c
	}
	return append(lines, s[from:])
}
