package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// carried is all that a session states in which the work goes on in another agent, had
// it been continued instead of compacted.
func (c *compaction) carried() (string, error) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := transcript.File{Path: filepath.Join(dir, "s.jsonl"), Host: c.host, ID: "s", Size: c.to}
	if err := os.WriteFile(file.Path, c.data[:c.to], 0o600); err != nil {
		return "", err
	}
	story, err := carry.Read(context.Background(), file, c.to)
	if err != nil {
		return "", err
	}
	told, err := story.Tell(context.Background(), carry.Options{From: "A", Lang: message.EN, Now: time.Unix(0, 0), Keep: 10})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, l := range told.Lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String() + told.Note, nil
}

// continuing shows how many of the needed names a continued session states, and in how
// many of them the user's latest request stands whole.
func continuing(list []*compaction) error {
	texts := map[*compaction]string{}
	whole, asked, all := 0, 0, 0
	for _, c := range list {
		text, err := c.carried()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		texts[c] = text
		everything, err := c.stated(c.data[c.from:c.to], false)
		if err != nil {
			return err
		}
		all += message.Units(everything)
		latest := ""
		c.pieces(c.from, c.to, func(p *transcript.Event) {
			if p.Kind == transcript.UserSaid && p.How == transcript.Typed {
				latest = strings.TrimSpace(p.Text())
			}
		})
		if latest != "" {
			asked++
			if strings.Contains(text, latest) {
				whole++
			}
		}
	}
	of := func(c *compaction) string { return texts[c] }
	mean := meanUnits(list, of)
	fmt.Printf("%-28s  %11s  %4.1f %%  %6.3f  %d of %d\n", "continued in another agent", message.Thousands(mean),
		100*float64(mean*len(list))/float64(max(1, all)), share(list, nil, func(c *compaction) []string { return []string{of(c)} }), whole, asked)
	return nil
}
