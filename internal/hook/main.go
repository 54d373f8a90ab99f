// Package hook is one call of a host's hook: read stdin, decide, act, print.
//
// It never breaks its host. Whatever goes wrong (bad input, a full disk, a
// read-only home, a bug) ends in one line on stderr, an output that is safe for
// the event, and exit code 0. A Go panic would exit with 2, which hosts read as
// "block", so everything runs under recover.
//
// Without a host the output is what the specifications print ({"result":""},
// systemMessage). With one, it is what that host understands: nothing at all
// where there is nothing to say, and else the field that reaches the right
// reader.
//
// Everything a call changes it changes under the session's lock. A call that
// has nothing to do takes no lock and writes nothing.
package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// Env is what a call may use of the world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Dir            string
	Now            func() time.Time
	Awake          func() time.Duration // [Awake]; nil and 0 stand for a machine that never sleeps
	Version        string
	// Hosts are those that may call; nil stands for all that are known.
	Hosts []*host.Host
}

// maxInput bounds what is read from stdin. A tool's output may be large, but
// nothing here needs more.
const maxInput = 32 << 20

// Main runs `overtone hook EVENT [--host NAME]`, or serve in the place of an event. It
// always returns 0.
func Main(args []string, env Env) int {
	if len(args) > 0 && args[0] == "serve" {
		return serve(args[1:], env)
	}
	if env.Getenv("OVERTONE_DISABLE") == "1" {
		return 0
	}
	event, name, err := parseArgs(args)
	c := &call{env: env, event: event}
	var unknown error
	c.host, unknown = env.find(name)
	defer c.speakUp()
	if err = cmp.Or(err, unknown); err != nil {
		c.complain("args", err)
		c.print(host.Reply{})
		return 0
	}
	r := c.run()
	c.steer(&r)
	c.acknowledge(c.print(r))
	return 0
}

func parseArgs(args []string) (event, name string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--host" && i+1 < len(args):
			i++
			name = args[i]
		case strings.HasPrefix(arg, "--host="):
			name = strings.TrimPrefix(arg, "--host=")
		case strings.HasPrefix(arg, "-"):
			return event, name, fmt.Errorf("unknown flag %s", arg)
		case event == "":
			event = arg
		default:
			return event, name, fmt.Errorf("unexpected argument %s", arg)
		}
	}
	if handler(event) == nil {
		return event, name, fmt.Errorf("unknown event %q", event)
	}
	return event, name, nil
}

func (e Env) find(name string) (*host.Host, error) {
	for _, h := range e.Hosts {
		if string(h.Name) == name {
			return h, nil
		}
	}
	if name == "" {
		return host.Plain(), nil
	}
	if h, ok := host.Named(name); ok {
		return h, nil
	}
	return nil, fmt.Errorf("unknown host %s (%s)", name, strings.Join(host.Names(), ", "))
}

// events are the hooks, in the order of a session, and what each does.
var events = [...]struct {
	name string
	run  func(*call) (host.Reply, error)
}{
	{"session-start", (*call).sessionStart},
	{"user-prompt-submit", (*call).userPromptSubmit},
	{"pre-tool-use", (*call).preToolUse},
	{"post-tool-use", (*call).postToolUse},
	{"post-tool-use-failure", (*call).postToolUseFailure},
	{"post-tool-batch", (*call).postToolBatch},
	{"subagent-start", (*call).subagentStart},
	{"subagent-stop", (*call).subagentStop},
	{"stop", (*call).stop},
	{"stop-failure", (*call).stopFailure},
	{"pre-compact", (*call).preCompact},
	{"post-compact", (*call).postCompact},
	{"session-end", (*call).sessionEnd},
}

func handler(event string) func(*call) (host.Reply, error) {
	for _, e := range events {
		if e.name == event {
			return e.run
		}
	}
	return nil
}

var errQuiet = errors.New("nothing to do")

// run does the call and turns every failure into the safe reply.
func (c *call) run() (r host.Reply) {
	defer func() {
		if p := recover(); p != nil {
			c.complain("safeRun", fmt.Errorf("panic: %v", p))
			r, c.failed = c.undecided(), true
		}
	}()
	if err := c.open(); err != nil {
		if !errors.Is(err, errQuiet) {
			c.complain("safeRun", err)
		}
		return host.Reply{}
	}
	c.home.MarkFired(string(c.host.Name), c.event)
	c.catchUpLate()
	told, err := c.noticed()
	if err == nil {
		r, err = handler(c.event)(c)
	}
	r.Context = session.Paragraphs(told.Context, r.Context)
	if errors.Is(err, errQuiet) && r.Context != "" {
		err = nil
	}
	if c.busy {
		if err != nil {
			r, c.failed = c.withoutLock(), true
		}
		c.putOff()
		return r
	}
	switch {
	case errors.Is(err, errQuiet):
		return host.Reply{}
	case err != nil:
		c.complain("safeRun", err)
		c.failed = true
		return c.notStarted(err)
	}
	return r
}

// acknowledge records that the texts which the call took from the session are
// printed, or that they are not: delivered means printed. A call that is killed
// before this leaves them in doubt, and the next one says so.
func (c *call) acknowledge(printed bool) {
	if !c.took || c.sess == nil {
		return
	}
	if err := session.Acknowledge(c.sess, c.now, printed && !c.failed); err != nil {
		c.complain("receipt", err)
	}
}

// complain says what went wrong. One cause often fails twice, and a person who
// reads stderr needs one line: the first, or the one that ended the call.
func (c *call) complain(where string, err error) {
	if c.complaint != "" && where != "safeRun" {
		return
	}
	text := err.Error()
	if told, ok := errors.AsType[message.Error](err); ok {
		text = told.Reason.In(c.lang)
	}
	c.complaint = fmt.Sprintf("[overtone/%s] %s", where, strings.ReplaceAll(strings.TrimSpace(text), "\n", " "))
}

// speakUp prints the complaint, at the end of a call.
func (c *call) speakUp() {
	if c.complaint != "" {
		fmt.Fprintln(c.env.Stderr, redact.Clean(c.complaint))
	}
}
