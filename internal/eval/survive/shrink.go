package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// way is a manner to shrink what was compacted.
type way struct {
	name string
	compress.Choice
}

func ways() []way {
	list := []way{
		{"messages at 35 %, no tools", compress.Choice{Bands: "0-100:compress", Tools: "0-100:remove", Thinking: "remove"}},
		{"messages at 10 %, no tools", compress.Choice{Bands: "0-100:heavy-compress", Tools: "0-100:remove", Thinking: "remove"}},
	}
	for _, name := range compress.PresetNames() {
		list = append(list, way{"preset " + name, compress.Choice{Preset: name}})
	}
	return list
}

// shrunk is all that the model of a clone of the slice reads, had it been compressed
// instead of compacted.
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
	w.Users, w.Whole = "on", true
	o, err := w.Options(cfg, func(flag string) bool { return w.Preset == "" && flag == "bands" })
	if err != nil {
		return "", err
	}
	o.Pool = compress.NewPool(cfg)
	plan, err := compress.NewPlan(s, o)
	if err != nil {
		return "", err
	}
	note := &keptNote{CloneNote: catalog.NewCloneNote(s.ID, c.hand.Record.CWD, message.EN)}
	run := compress.RunOptions{ID: transcript.NewID(s.Host, time.Unix(0, 0)), Now: time.Unix(0, 0)}
	if w.Preset != "" {
		run.Note = note
	}
	res, err := plan.Run(ctx, compress.Builtin{}, run)
	if errors.Is(err, compress.ErrNothing) {
		return c.stated(c.data[c.from:c.to], w.Preset == "")
	}
	if err != nil {
		return "", err
	}
	clone, err := os.ReadFile(res.Clone.Path)
	if err != nil {
		return "", err
	}
	text, err := c.stated(clone, w.Preset == "")
	if !strings.Contains(text, note.text) { // Codex's has no events
		text += note.text
	}
	return text, err
}

// keptNote is a clone's note of which the text is kept.
type keptNote struct {
	catalog.CloneNote
	text string
}

func (n *keptNote) Note(states func(string) bool) string {
	n.text = n.CloneNote.Note(states)
	return n.text
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
	fmt.Printf("\n%-28s  %11s  %6s  %6s  %s\n", "Compressed, not compacted", "characters", "of all", "stated", "newest request whole")
	all := 0
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
		whole, asked := 0, 0
		for _, c := range list {
			if c.asked != "" {
				asked++
				if strings.Contains(of(c), c.asked) {
					whole++
				}
			}
		}
		size := meanUnits(list, of)
		all = cmp.Or(all, size)
		fmt.Printf("%-28s  %11s  %4.1f %%  %6.3f  %d of %d\n", name, message.Thousands(size), 100*float64(size)/float64(all),
			share(list, nil, func(c *compaction) []string { return []string{of(c)} }), whole, asked)
		return nil
	}
	if err := row("everything", func(c *compaction) (string, error) { return c.stated(c.data[c.from:c.to], false) }); err != nil {
		return err
	}
	if err := row("all messages, no tools", func(c *compaction) (string, error) { return c.stated(c.data[c.from:c.to], true) }); err != nil {
		return err
	}
	for _, w := range ways() {
		if err := row(w.name, func(c *compaction) (string, error) { return c.shrunk(w) }); err != nil {
			return err
		}
	}
	return row("the host's summary", func(c *compaction) (string, error) { return c.kept, nil })
}
