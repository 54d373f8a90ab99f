// Package demo plays three stories through the real hooks, in a home that is thrown
// away: what a compaction takes and what comes back, a workflow with a review that
// fails, and an old session made smaller. It checks what it says: a claim that does not
// hold ends the play with an error.
//
// It prints nothing; what happens is told to an [Audience] as it happens, and
// returned as a [Report].
package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Options are what a play needs of the world.
type Options struct {
	Dir     string // an empty folder: the throw-away home
	Lang    message.Lang
	Now     func() time.Time
	Version string
	TempDir string // $TMPDIR
	Keep    bool   // the home stays when the play is over
	// Command runs a command of ours in the throw-away home and returns what it
	// prints.
	Command func(ctx context.Context, home Home, args ...string) ([]byte, error)
	Audience
}

// Home is the environment that the play's hooks and commands see.
type Home struct {
	Dir    string // working directory
	Getenv func(string) string
}

// Audience is told what happens.
type Audience interface {
	Act(n int, title string)
	Step(Step)
	// Line is a remark between steps, Rows are a table.
	Line(text string)
	Rows(rows [][]string)
}

// Report is what happened.
type Report struct {
	Steps    []Step         `json:"steps"`
	Claims   []Claim        `json:"claims"`
	Compress map[string]any `json:"compress"`
}

// Step is one hook call.
type Step struct {
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
}

// Claim is something the demo says and has checked.
type Claim struct {
	Step int    `json:"step"`
	Text string `json:"text"`
}

const sessionID = "demo"

// play is a home, a session in it, and what happened so far.
type play struct {
	Options
	Report
	home       Home
	project    string
	transcript string
	store      *store.Home
	sess       *store.Session

	act    string
	events int // on the timeline, as last seen
	bar    string
	err    error // the first thing that went wrong: the play is over then
}

// failed remembers an error, and reports whether there was one before or now.
func (d *play) failed(err error) bool {
	d.err = cmp.Or(d.err, err)
	return d.err != nil
}

// Play plays the story.
func Play(ctx context.Context, o Options) (Report, error) {
	claude := filepath.Join(o.Dir, ".claude")
	d := &play{Options: o, project: filepath.Join(o.Dir, "project"), transcript: filepath.Join(claude, "projects", "-project", sessionID+".jsonl")}
	vars := map[string]string{"HOME": o.Dir, "OVERTONE_LANG": string(o.Lang), "TMPDIR": o.TempDir}
	d.home = Home{d.project, func(key string) string { return vars[key] }}
	for path, text := range map[string]string{filepath.Join(d.project, "go.mod"): "module example.com/api\n\ngo 1.26\n", d.transcript: ""} {
		d.failed(os.MkdirAll(filepath.Dir(path), 0o700))
		d.failed(os.WriteFile(path, []byte(text), 0o600))
	}
	d.store = store.New(filepath.Join(o.Dir, ".overtone"), claude, o.Now)
	var err error
	d.sess, err = d.store.Session(sessionID)
	d.failed(err)
	d.play(ctx)
	return d.Report, d.err
}

// fields is a host's input beyond what every call has.
type fields map[string]any

// call is a hook call as Claude Code makes it. subject says in a few words what
// the host sent.
func (d *play) call(event, subject string, in fields) Step {
	input := map[string]any{
		"session_id": sessionID, "transcript_path": d.transcript, "cwd": d.project,
		"hook_event_name": EventName(event), "permission_mode": "default",
	}
	maps.Copy(input, in)
	raw, err := json.Marshal(input)
	if d.failed(err) {
		return Step{}
	}
	var stdout, stderr bytes.Buffer
	hook.Main([]string{event, "--host", "claude-code"}, hook.Env{
		Stdin: bytes.NewReader(raw), Stdout: &stdout, Stderr: &stderr,
		Getenv: d.home.Getenv, Dir: d.home.Dir, Now: d.Now, Version: d.Version,
	})
	if stderr.Len() > 0 {
		d.failed(fmt.Errorf("hook %s: %s", event, strings.TrimSpace(stderr.String())))
		return Step{}
	}
	s := Step{N: len(d.Steps) + 1, Act: d.act, Event: event, Subject: subject, Input: raw, Events: []string{}}
	if stdout.Len() > 0 {
		s.Output = stdout.Bytes()
		s.read(gjson.ParseBytes(s.Output))
	}
	d.look(&s)
	d.Steps = append(d.Steps, s)
	d.Step(s)
	return s
}

func (s *Step) read(out gjson.Result) {
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

func (d *play) look(s *Step) {
	state, err := session.Peek(d.sess)
	d.failed(err)
	if state != nil {
		if bar := workflow.Bar(state); bar != d.bar {
			d.bar, s.Progress = bar, bar
		}
	}
	entries, _, err := d.sess.Last(10_000, store.Filter{})
	d.failed(err)
	for _, e := range entries[min(d.events, len(entries)):] {
		s.Events = append(s.Events, e.Type)
	}
	d.events = len(entries)
}

// file reads a file, which is empty after a failure.
func (d *play) file(path string) []byte {
	data, err := os.ReadFile(path)
	d.failed(err)
	return data
}

// claim states something that must hold; a demo that says what is not so fails.
func (d *play) claim(ok bool, t message.Text, args ...any) {
	text := t.Format(d.Lang, args...)
	if !ok {
		d.failed(message.Fail(message.DemoFailed, len(d.Steps), text))
	}
	if d.err == nil {
		d.Claims = append(d.Claims, Claim{len(d.Steps), text})
		d.Line("  " + message.DemoHolds.Format(d.Lang, text))
	}
}

// command runs a command of ours in the throw-away home and returns its JSON.
func (d *play) command(ctx context.Context, args ...string) gjson.Result {
	if d.err != nil {
		return gjson.Result{}
	}
	out, err := d.Command(ctx, d.home, append(args, "--json")...)
	if err != nil {
		d.failed(fmt.Errorf("overtone %s: %w", args[0], err))
	}
	return gjson.ParseBytes(out)
}

// EventName is the host's name of an event: PreToolUse for pre-tool-use.
func EventName(event string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(event, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
