package hook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

type call struct {
	env   Env
	event string
	host  *host.Host

	in    host.Call
	cfg   config.Config
	lang  message.Lang
	rules workflow.Rules
	home  *store.Home
	sess  *store.Session
	now   time.Time

	input  []byte // what in was decoded from
	busy   bool   // the lock was held for too long
	late   bool   // this call was put off, and is done now
	denied bool   // the guard said no
	took   bool   // texts that are handed out once are in the reply
	// repaired: a derived file was set aside, and what it told is not known.
	repaired bool
	failed   bool // the reply is not what the handler gave

	listed    bool // the model has kept a list of tasks
	complaint string
}

// open reads stdin, settings and the session. A call without a session has
// nothing to do.
func (c *call) open() error {
	c.now = c.env.Now().UTC() // what is stored is UTC, and that needs no time zone file
	folders, err := store.FindFolders(c.env.Getenv)
	if err != nil {
		return err
	}
	if c.host.Name != "" && c.host.Dir(folders.Find) != folders.Claude {
		folders = folders.WithoutClaude()
	}
	c.home = store.New(folders.Root, folders.Claude, c.env.Now)
	c.home.Limit(lockLimit)
	c.home.OnRepair(func(err error) {
		c.repaired = true
		c.complain("repair", err)
	})
	c.loadConfig(folders.ShownClaude)
	var in bytes.Buffer
	in.Grow(16 << 10) // most inputs are read at once
	if _, err := in.ReadFrom(io.LimitReader(c.env.Stdin, maxInput+1)); err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	data := in.Bytes()
	c.in = host.Call{Event: c.event}
	if data, err = checkInput(data); err != nil {
		c.complain("safeReadStdin", err)
	} else {
		c.in, c.input = c.host.Decode(c.event, data), data
	}
	c.mirror()
	id := strings.TrimSpace(c.in.Session)
	for _, key := range c.host.SessionEnv {
		id = cmp.Or(id, strings.TrimSpace(c.env.Getenv(key)))
	}
	if id == "" {
		return errQuiet
	}
	c.sess, err = c.home.Session(id)
	return err
}

// mirror has a call read our file of a session that its host keeps in another way.
func (c *call) mirror() {
	if !c.host.Mirrored || c.in.Transcript == "" || c.host.Steers {
		return
	}
	path, err := transcript.MirrorGemini(c.home.Mirrors(), filepath.Dir(c.in.Transcript), c.in.Session, c.in.Cwd, c.event == "stop")
	if err != nil {
		c.complain("mirror", err)
	}
	c.in.Transcript = path
}

func (c *call) loadConfig(contextDir string) {
	var problems []config.Problem
	c.cfg, problems = config.Load(c.home.ConfigFile(), c.env.Getenv)
	c.lang = message.Lang(c.cfg.Language)
	if c.host.Name != "" {
		// A call by no host prints the specifications' words, whatever the locale.
		c.lang = message.Spoken(c.lang, c.cfg.Chosen, c.env.Getenv)
	}
	if len(problems) > 0 {
		c.complain("config", errors.New(problems[0].In(string(c.lang))))
	}
	c.rules = session.Rules(c.cfg, contextDir)
}

func checkInput(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	switch {
	case len(strings.TrimSpace(string(data[:min(len(data), 64)]))) == 0 && len(data) <= 64:
		return nil, message.Fail(message.StdinEmpty)
	case len(data) > maxInput:
		return nil, message.Fail(message.StdinTooLong, maxInput>>20)
	case !utf8.Valid(data):
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if !store.ValidJSON(data) {
		return nil, message.Fail(message.StdinNotJSON)
	}
	if data = bytes.TrimSpace(data); data[0] != '{' {
		return nil, message.Fail(message.StdinNoObject)
	}
	return data, nil
}

// projectRoot is where specs/ is looked for: a session may begin in a folder below it.
func (c *call) projectRoot() string {
	if c.in.Cwd != "" {
		return rootOf(c.in.Cwd, c.env.Getenv("HOME"))
	}
	for _, key := range c.host.ProjectEnv {
		if dir := c.env.Getenv(key); dir != "" {
			return dir
		}
	}
	return c.env.Dir
}

// rootOf walks up to the folder that is a project: it has specs, a repository or
// settings of ours. The home, which has the last, is none.
func rootOf(dir, home string) string {
	for at := filepath.Clean(dir); filepath.IsAbs(at) && at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, name := range []string{"specs", ".git", ".overtone"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
	}
	return dir
}

// print writes the reply in the words of the host, and reports whether that has all of it.
// Nothing else is ever written to stdout; to a host that nobody knows, nothing at all.
func (c *call) print(r host.Reply) bool {
	if c.host == nil {
		return false
	}
	c.in.Event = c.event
	for _, text := range []*string{&r.Result, &r.System, &r.Context, &r.Person, &r.Deny, &r.Block, &r.Answer} {
		*text = redact.Clean(*text) // it goes to a model's service, and into the host's records
		if c.host.NoCommands {
			*text = strings.NewReplacer(
				"/overtone:cancel", "`overtone workflow cancel`", "/overtone:resume", "`overtone workflow resume`",
				"/overtone:auto", "`overtone workflow status`",
			).Replace(*text)
		}
	}
	out := c.host.Encode(&c.in, r)
	if len(out) == 0 {
		return true
	}
	_, err := c.env.Stdout.Write(out)
	if err != nil {
		c.complain("stdout", err)
	}
	return err == nil
}

// update changes the session under its lock.
func (c *call) update(f func(tx *session.Tx) error) error {
	deepen(false)
	o := session.Options{Rules: c.rules, Lang: c.lang, Now: c.now, Project: c.projectRoot()}
	o.Warn = func(err error) { c.complain(c.event, err) }
	err := session.Update(c.sess, o, func(tx *session.Tx) error {
		if err := c.discountSleep(tx); err != nil {
			return err
		}
		return f(tx)
	})
	c.busy = c.busy || errors.Is(err, store.ErrBusy)
	return err
}

// discountSleep takes the time out of what barriers have waited in which the machine
// slept, or by which its clock was set.
func (c *call) discountSleep(tx *session.Tx) error {
	if c.env.Awake == nil || !tx.Active() {
		return nil
	}
	awake := c.env.Awake()
	ahead, known := c.now.Add(-awake).UnixMilli(), tx.Memory.Ahead
	slept := time.Duration(ahead-known) * time.Millisecond
	if awake <= 0 || known != 0 && slept.Abs() < time.Minute {
		return nil
	}
	tx.Memory.Ahead = ahead
	if known == 0 || tx.Workflow.Barriers.Len() == 0 {
		return nil
	}
	_, err := tx.Apply(workflow.Slept{By: slept, At: c.now})
	return err
}

// deepen makes the stack as deep as a change of a session needs it while there is little on
// it. It would be doubled again and again otherwise, and all of it copied each time, which
// takes a fortieth of a call. The array is never touched: the frame has to have room for
// it, that is all.
//
//go:noinline
func deepen(touch bool) (sum byte) {
	if touch {
		var room [40 << 10]byte
		for i := range room {
			room[i] = sum
			sum += room[len(room)-1-i]
		}
	}
	return sum
}

// settings are read at the end of a turn and before a compaction, never on a
// tool's way.
func (c *call) settings() compact.Settings {
	set, problems := session.Settings(c.home, c.cfg.Compact)
	if len(problems) > 0 {
		c.complain("auto-compact", errors.New(problems[0].In(string(c.lang))))
	}
	return set
}

// seeSession remembers where the transcript is and which model writes it, and takes
// the size that the last compaction left as soon as it is told: a turn later it
// would be the size of that turn.
func (c *call) seeSession(tx *session.Tx) {
	w := &tx.Memory.Thread
	c.listed = slices.ContainsFunc(w.State.Plan.Steps, func(s host.Step) bool { return s.ID != "" })
	seen := host.SessionSeen{Transcript: c.in.Transcript, Model: c.in.Model}
	if seen.Model == "" && c.event == "session-start" {
		seen.Model = c.host.LargeModel(c.env.Getenv, c.home.ClaudeDir(), c.projectRoot())
	}
	if told := cmp.Or(c.in.Window, c.host.Window(c.env.Getenv)); told != w.Window {
		seen.Window = told
	}
	if seen.Window > 0 || seen.Transcript != "" && seen.Transcript != w.Transcript || seen.Model != "" && seen.Model != w.Model {
		tx.Observe(seen, compact.Settings{})
	}
	if n := len(w.History); n > 0 && w.History[n-1].After < 0 {
		tx.Measure()
	}
}

// command is the shell command that the call is about.
func (c *call) command() shellcmd.Observation { return c.observed(c.in.Tool.Command, c.in.Cwd) }

func (c *call) observed(line, cwd string) shellcmd.Observation {
	home := c.env.Getenv("HOME")
	return shellcmd.Observation{
		Line: line, Cwd: cwd, Home: home, Head: shellcmd.ReadHead, Aliases: shellcmd.UserAliases(cwd, home, c.env.Getenv), Taken: c.taken,
	}
}

// commandFinished is a shell command that has ended. Codex gives neither a duration nor
// an exit status.
func (c *call) commandFinished() host.CommandFinished {
	o := c.command()
	o.Ended = c.now
	if c.in.Tool.Timed {
		o.Started = c.now.Add(-c.in.Tool.Took)
	}
	o.Output, o.Exit = c.in.Tool.Output, c.in.Tool.Exit
	return host.CommandFinished{ID: c.in.Tool.ID, Observation: o}
}

// node is the context of a stage as its agent gets it.
func (c *call) node(tx *session.Tx, stage string) workflow.NodeContext {
	return c.rules.BuildNodeContext(tx.Workflow, stage, workflow.NodeOptions{
		SessionID: c.sess.ID(), Lang: c.lang,
		Exists: func(path string) bool {
			if o := tx.Workflow.Origin; o != nil && slices.Contains(tx.Workflow.DAG.Spec(stage).Context, path) {
				return blueprint.Inside(o.Root, path)
			}
			_, err := tx.ReadContext(path)
			c.unread(err)
			return err == nil
		},
	})
}

// shownPath is a path of the Claude folder as models are told it.
func (c *call) shownPath(path string) string {
	return c.rules.ContextDir + strings.TrimPrefix(path, c.home.ClaudeDir())
}
