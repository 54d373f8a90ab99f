package hook

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// call is one hook call.
type call struct {
	env   Env
	event string
	host  string

	in    input
	cfg   config.Config
	lang  message.Lang
	rules workflow.Rules
	home  *store.Home
	sess  *store.Session
	now   time.Time

	complaint string
}

// input is the host's JSON. Fields are read when they are needed; one of a
// wrong type reads as missing.
type input struct{ raw gjson.Result }

func (in input) text(path string) string {
	r := in.raw.Get(path)
	if r.Type != gjson.String {
		return ""
	}
	return strings.ToValidUTF8(r.String(), "\uFFFD")
}

func (in input) has(path string) bool         { return in.raw.Get(path).Exists() }
func (in input) get(path string) gjson.Result { return in.raw.Get(path) }

// agentID is set on calls that come from inside a sub-agent.
func (in input) agentID() string { return in.text("agent_id") }

// main reports whether the call comes from the main thread.
func (in input) main() bool { return in.agentID() == "" }

// open reads stdin, settings and the session. A call without a session has
// nothing to do.
func (c *call) open() error {
	c.now = c.env.Now().UTC() // what is stored is UTC, and that needs no time zone file
	folders, err := store.FindFolders(c.env.Getenv)
	if err != nil {
		return err
	}
	c.home = store.New(folders.Root, folders.Claude, c.env.Now)
	c.loadConfig(folders.ShownClaude)
	data, err := io.ReadAll(io.LimitReader(c.env.Stdin, maxInput+1))
	if err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	if c.in, err = parseInput(data); err != nil {
		c.complain("safeReadStdin", err)
	}
	id := strings.TrimSpace(c.in.text("session_id"))
	for _, key := range []string{"CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"} {
		if id == "" {
			id = strings.TrimSpace(c.env.Getenv(key))
		}
	}
	if id == "" {
		return errQuiet
	}
	c.sess, err = c.home.Session(id)
	return err
}

func (c *call) loadConfig(contextDir string) {
	var problems []config.Problem
	c.cfg, problems = config.Load(c.home.ConfigFile(), c.env.Getenv)
	if len(problems) > 0 {
		c.complain("config", problems[0])
	}
	c.lang = message.Lang(c.cfg.Language)
	c.rules = Rules(c.cfg, contextDir)
}

// Rules are the engine's settings of a configuration.
func Rules(cfg config.Config, contextDir string) workflow.Rules {
	return workflow.Rules{
		MaxRetries: cfg.Workflow.MaxRetries, MaxCrashes: cfg.Workflow.MaxCrashes,
		BarrierTimeout: cfg.Workflow.BarrierTimeout, Strict: cfg.Strict, ContextDir: contextDir,
	}
}

func parseInput(data []byte) (input, error) {
	data = trimBOM(data)
	switch {
	case len(strings.TrimSpace(string(data[:min(len(data), 64)]))) == 0 && len(data) <= 64:
		return input{}, errors.New("stdin 為空")
	case len(data) > maxInput:
		return input{}, fmt.Errorf("stdin 讀取或解析失敗：over %d MiB", maxInput>>20)
	case !utf8.Valid(data):
		data = []byte(strings.ToValidUTF8(string(data), "\uFFFD"))
	}
	if !gjson.ValidBytes(data) {
		return input{}, errors.New("stdin 讀取或解析失敗：not valid JSON")
	}
	r := gjson.ParseBytes(data)
	if !r.IsObject() {
		return input{}, errors.New("stdin 讀取或解析失敗：not a JSON object")
	}
	return input{r}, nil
}

func trimBOM(data []byte) []byte {
	return []byte(strings.TrimPrefix(string(data), "\uFEFF"))
}

// projectRoot is where specs/ is looked for.
func (c *call) projectRoot() string {
	for _, dir := range []string{c.in.text("cwd"), c.env.Getenv("CLAUDE_PROJECT_ROOT"), c.env.Getenv("CLAUDE_PROJECT_DIR")} {
		if dir != "" {
			return dir
		}
	}
	return c.env.Dir
}
