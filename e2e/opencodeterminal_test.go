//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// terminal starts the host in a terminal.
func (s *station) terminal(args ...string) *Terminal {
	s.t.Helper()
	return openTerminal(s.t, s.command, s.home, strings.Join(append([]string{s.program}, args...), " "))
}

// opencode in its own terminal, as its user sees it. The suggestion is a toast. In mode auto
// the session is compacted at a boundary within a turn, which goes on, and after a turn; the
// hand-over stands in the summary on the screen, and once in each request that follows.
func TestOpencodeTerminal(t *testing.T) {
	t.Parallel()
	tokens, summaries := 75_000, 0
	s := newOpencode(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case r.Bare && strings.Contains(r.Body, "title generator"):
			return speak("the lexer", 100)
		case r.Bare:
			summaries++
			tokens = 6_000
			return speak("MOCK-SUMMARY: the lexer was looked at.", 1_000)
		case strings.HasPrefix(last, "Please"):
			// The step before the commit tells how full the context is.
			return callTool("bash", map[string]any{"command": "echo LOOKED", "description": "look"}, tokens)
		case strings.HasPrefix(last, "LOOKED"):
			return callTool("bash", map[string]any{"command": strings.Replace(commitLexer, "commit -q", "commit -q --allow-empty", 1), "description": "commit"}, tokens)
		case r.Has("MARK-FOURTH"):
			return speak("ANSWER-4", tokens)
		case r.Has("MARK-THIRD"):
			return speak("ANSWER-3", tokens)
		case r.Has("MARK-SECOND"):
			return speak("ANSWER-2", tokens)
		}
		return speak("ANSWER-1", tokens)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--yes", "--lang", "en")
	term := s.terminal()
	term.Wait("mock", 1)
	term.Say("Please write scanToken and commit it")
	term.Wait("boundary(commit): a good moment for /compact.", 1) // for fifteen seconds
	term.Wait("ANSWER-1", 1)

	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes")
	term.Say("Please commit it once more MARK-SECOND")
	term.Wait("Hand-over after a compaction", 1)
	term.Wait("ANSWER-2", 1)
	if last := s.API.last(); last.Count(handed) != 1 || !last.Has("scanToken") || !last.Has("MARK-SECOND") {
		t.Errorf("the turn goes on with %q", last.Texts[2:])
	}

	// Who types as fast as this test is quicker than the hook that learns at the end of the
	// turn how much the compaction has freed.
	s.eventually("the end of the turn is told", func() bool {
		files, _ := filepath.Glob(filepath.Join(s.home, ".overtone", "mirror", "opencode", "*", "*.jsonl"))
		return slices.ContainsFunc(files, func(f string) bool {
			data, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(data), "ANSWER-2")
		})
	})
	tokens = 85_000
	term.Say("what was that MARK-THIRD")
	term.Wait("replaces ovt-", 1)
	term.Say("and now MARK-FOURTH")
	term.Wait("ANSWER-4", 1)
	if last := s.API.last(); last.Count(handed) != 1 || !last.Has("MARK-THIRD") {
		t.Errorf("the next turn reads %q", last.Texts[2:])
	}
	if summaries != 2 || term.count("a good moment for /compact") > 1 {
		t.Errorf("%d compactions", summaries)
	}
}
