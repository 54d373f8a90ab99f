package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// way is a manner to shrink what was compacted.
type way struct {
	name                   string
	bands, tools, thinking string
	newest                 int
	users                  bool // their messages are compressed too
}

func ways() ([]way, error) {
	list := []way{
		{name: "messages at 35 %, no tools", bands: "0-100:compress", tools: "0-100:remove", thinking: "remove", users: true},
		{name: "messages at 10 %, no tools", bands: "0-100:heavy-compress", tools: "0-100:remove", thinking: "remove", users: true},
	}
	for _, name := range []string{"routine", "heavy", "emergency"} {
		p, err := compress.PresetNamed(name)
		if err != nil {
			return nil, err
		}
		list = append(list, way{"preset " + name, p.Bands, p.Tools, p.Thinking, p.Newest, false})
	}
	return list, nil
}

// shrunk is all that a clone of the slice states, had it been compressed instead
// of compacted.
func (c *compaction) shrunk(w way) (string, error) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "00000000-0000-4000-8000-000000000000.jsonl")
	if err := os.WriteFile(file, c.data[c.from:c.to], 0o600); err != nil {
		return "", err
	}
	ctx := context.Background()
	s, err := transcript.Read(ctx, file)
	if err != nil {
		return "", err
	}
	cfg := config.Defaults().Compress
	o := compress.Options{NoUsers: !w.users, Newest: w.newest, Whole: true, MinTokens: cfg.MinTokens, Pool: compress.NewPool(cfg)}
	if o.Bands, err = compress.ParseBands(w.bands); err != nil {
		return "", err
	}
	if o.Tools, err = compress.ParseTools(w.tools); err != nil {
		return "", err
	}
	if o.Thinking, err = compress.ParseThinking(w.thinking); err != nil {
		return "", err
	}
	plan, err := compress.NewPlan(s, o)
	if err != nil {
		return "", err
	}
	res, err := plan.Run(ctx, compress.Builtin{}, compress.RunOptions{ID: transcript.NewID(s.Host, time.Unix(0, 0)), Now: time.Unix(0, 0)})
	if errors.Is(err, compress.ErrNothing) {
		return c.stated(c.data[c.from:c.to], w.users)
	}
	if err != nil {
		return "", err
	}
	clone, err := os.ReadFile(res.Clone.Path)
	if err != nil {
		return "", err
	}
	return c.stated(clone, w.users)
}

// stated is the text of lines: all of it, or the messages alone, without tools,
// thinking and an earlier compaction's summary.
func (c *compaction) stated(lines []byte, messages bool) (string, error) {
	var b strings.Builder
	_, err := transcript.Events(context.Background(), bytes.NewReader(lines), 0, c.host, transcript.Want{}, func(p *transcript.Event) {
		if !messages || p.Kind == transcript.UserSaid || p.Kind == transcript.AgentSaid {
			b.WriteString(p.Text() + "\n")
		}
	})
	return b.String(), err
}

// shrinking shows how many of the needed names are still stated when the slice is
// compressed on a clone instead of being compacted.
func shrinking(list []*compaction) error {
	all, err := ways()
	if err != nil {
		return err
	}
	fmt.Printf("\n%-28s  %11s  %6s\n", "Compressed, not compacted", "characters", "stated")
	row := func(name string, text func(c *compaction) (string, error)) error {
		texts := map[*compaction]string{}
		for _, c := range list {
			t, err := text(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			texts[c] = t
		}
		of := func(c *compaction) string { return texts[c] }
		fmt.Printf("%-28s  %11s  %6.2f\n", name, message.Thousands(meanUnits(list, of)), share(list, nil, func(c *compaction) []string { return []string{of(c)} }))
		return nil
	}
	if err := row("everything", func(c *compaction) (string, error) { return c.stated(c.data[c.from:c.to], false) }); err != nil {
		return err
	}
	if err := row("all messages, no tools", func(c *compaction) (string, error) { return c.stated(c.data[c.from:c.to], true) }); err != nil {
		return err
	}
	for _, w := range all {
		if err := row(w.name, func(c *compaction) (string, error) { return c.shrunk(w) }); err != nil {
			return err
		}
	}
	return row("the host's summary", func(c *compaction) (string, error) { return c.summary, nil })
}
