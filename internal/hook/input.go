package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// call is one hook call.
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
	c.home = store.New(folders.Root, folders.Claude, c.env.Now)
	c.loadConfig(folders.ShownClaude)
	data, err := io.ReadAll(io.LimitReader(c.env.Stdin, maxInput+1))
	if err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	c.in = host.Call{Event: c.event}
	if data, err = checkInput(data); err != nil {
		c.complain("safeReadStdin", err)
	} else {
		c.in = c.host.Decode(c.event, data)
	}
	id := strings.TrimSpace(c.in.Session)
	for _, key := range c.host.SessionEnv {
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

// checkInput makes sure that the input is a JSON object.
func checkInput(data []byte) ([]byte, error) {
	data = trimBOM(data)
	switch {
	case len(strings.TrimSpace(string(data[:min(len(data), 64)]))) == 0 && len(data) <= 64:
		return nil, errors.New("stdin 為空")
	case len(data) > maxInput:
		return nil, fmt.Errorf("stdin 讀取或解析失敗：over %d MiB", maxInput>>20)
	case !utf8.Valid(data):
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if !gjson.ValidBytes(data) {
		return nil, errors.New("stdin 讀取或解析失敗：not valid JSON")
	}
	if data = bytes.TrimSpace(data); data[0] != '{' {
		return nil, errors.New("stdin 讀取或解析失敗：not a JSON object")
	}
	return data, nil
}

func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\uFEFF")) }

// projectRoot is where specs/ is looked for.
func (c *call) projectRoot() string {
	if c.in.Cwd != "" {
		return c.in.Cwd
	}
	for _, key := range c.host.ProjectEnv {
		if dir := c.env.Getenv(key); dir != "" {
			return dir
		}
	}
	return c.env.Dir
}
