//go:build e2e

// Command recorder stands in for overtone and overtone-hook in the end-to-end tests.
// Called as "overtone-hook EVENT …", it appends the call to $RECORDER_DIR/calls.jsonl and
// prints $RECORDER_DIR/EVENT.out, or EVENT.N.out for the N-th call of the event
// (from 1), when such a file exists. An updatedToolOutput that is a string stands
// for the call's own tool_response with that text as its only content: the host
// takes the field only in the tool's exact shape.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

type call struct {
	Time  time.Time       `json:"time"`
	Args  []string        `json:"args"`
	Event string          `json:"event"`
	N     int             `json:"n"`
	Stdin json.RawMessage `json:"stdin"`
	Env   []string        `json:"env"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
	}
}

func run() error {
	dir := os.Getenv("RECORDER_DIR")
	c := call{Time: time.Now(), Args: os.Args[1:]}
	if len(c.Args) > 0 && c.Args[0] == "mcp" {
		return errors.New("a recorder has no tools")
	}
	if len(c.Args) > 0 && filepath.Base(os.Args[0]) == "overtone-hook" {
		c.Event = c.Args[0]
		stdin, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		if !json.Valid(stdin) {
			return fmt.Errorf("%s: stdin is not JSON: %q", c.Event, stdin)
		}
		c.Stdin = stdin
	}
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "CLAUDE") {
			c.Env = append(c.Env, e)
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "calls.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	// Hooks of parallel agents overlap, and N counts them.
	if err := syscall.Flock(int(log.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	dec := json.NewDecoder(log)
	for {
		var old call
		if dec.Decode(&old) != nil {
			break
		}
		if old.Event == c.Event {
			c.N++
		}
	}
	c.N++
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := log.Write(append(line, '\n')); err != nil {
		return err
	}
	for _, name := range []string{fmt.Sprintf("%s.%d.out", c.Event, c.N), c.Event + ".out"} {
		out, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			_, err = os.Stdout.Write(expand(out, c.Stdin))
			return err
		}
	}
	return nil
}

func expand(out, stdin []byte) []byte {
	const field = "hookSpecificOutput.updatedToolOutput"
	text := gjson.GetBytes(out, field)
	if text.Type != gjson.String {
		return out
	}
	response := gjson.GetBytes(stdin, "tool_response").Raw
	response = store.SetJSON(response, "content", []map[string]string{{"type": "text", "text": text.Str}})
	return store.SetJSON(out, field, json.RawMessage(response))
}
