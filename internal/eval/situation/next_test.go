package situation

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// boundary is a compaction of a recorded session.
type boundary struct {
	off     int64
	first   bool // nothing of the conversation stands before it
	trigger string
	next    string // who acted first after it: agent, user, nobody
}

// boundaries are the compactions of a session. What came next is read from the events
// behind each, by no rule of the product's.
func (s *Session) boundaries() (list []boundary) {
	before := false
	open := func() *boundary {
		if n := len(list); n > 0 && list[n-1].next == "" {
			return &list[n-1]
		}
		return nil
	}
	s.events(s.Data, func(e *transcript.Event) {
		switch e.Kind {
		case transcript.Compacted:
			if b := open(); b != nil {
				b.next = "nobody"
			}
			list = append(list, boundary{off: e.Off, first: !before, trigger: e.Trigger})
			before = false
		case transcript.AgentSaid, transcript.ToolBegan, transcript.ToolEnded:
			before = true
			if b := open(); b != nil {
				b.next = "agent"
			}
		case transcript.HostSaid:
			// A notice of a task that ran in the background opens a turn by itself.
			if b := open(); b != nil && strings.Contains(e.Text(), "<task-notification>") {
				b.next = "nobody"
			}
		case transcript.UserSaid:
			if e.How == transcript.WithCompact {
				return
			}
			before = true
			if b := open(); b != nil {
				b.next = "user"
			}
		}
	})
	if b := open(); b != nil {
		b.next = "nobody"
	}
	return list
}

// TestEvalNext prints whether the last line of each hand-over agrees with who acted first
// after the compaction, over all recorded ones, by project.
func TestEvalNext(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	list := samples.Corpus()
	for _, path := range samples.Find("compactions/*.jsonl*", "real/*.jsonl*") {
		list = append(list, samples.Session{Path: path, Project: "older samples"})
	}
	if len(list) == 0 {
		t.Skip("no recorded sessions")
	}
	show, tmp := os.Getenv("OVERTONE_EVAL_SHOW"), t.TempDir()
	right, all, words, states := map[string]int{}, map[string]int{}, 0, map[string]int{}
	for _, one := range list {
		if one.Host == "opencode" || one.Host == "gemini" {
			continue // no file of lines
		}
		s, err := NewSession(tmp, samples.Name(one.Path), readFile(t, one.Path))
		if err != nil {
			continue
		}
		for i, b := range s.boundaries() {
			h := s.HandOver(b.off, true, message.EN)
			text := h.Text()
			got, err := Read(text)
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
			now := h.Situation()
			agrees := got.State == Goes && b.next == "agent" || (got.State == Waits || got.State == Asks) && b.next != "agent" || got.State == "" && b.first
			if all[one.Project]++; agrees {
				right[one.Project]++
			} else {
				t.Logf("%s #%d, %s: %s (%s), next %s", s.Name, i+1, b.trigger, now.State, now.Sign, b.next)
			}
			states[fmt.Sprintf("%s (%s), %s, next %s", now.State, now.Sign, b.trigger, b.next)]++
			n := 0
			for _, p := range h.Parts() {
				if p.Name == "words" {
					n = message.Units(p.Text)
				}
			}
			words = max(words, n)
			if show != "" && strings.HasPrefix(fmt.Sprintf("%s#%d", s.Name, i+1), show) {
				fmt.Println(text)
			}
		}
		os.Remove(filepath.Join(tmp, s.Name+".jsonl"))
	}
	sum, of := 0, 0
	for _, p := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%-40s %3d of %3d\n", p, right[p], all[p])
		sum, of = sum+right[p], of+all[p]
	}
	for _, k := range slices.Sorted(maps.Keys(states)) {
		fmt.Printf("%4d  %s\n", states[k], k)
	}
	fmt.Printf("last lines that agree with what came next: %d of %d; the longest section of words %d characters\n", sum, of, words)
	if sum*100 < of*98 {
		t.Errorf("%d of %d", sum, of)
	}
}
