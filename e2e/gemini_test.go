//go:build e2e

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
)

const geminiSettings = `{
  // how to get in
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"sessionRetention": {"enabled": false}, "enableAutoUpdate": false}, // see the notes
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}
`

func newGemini(t *testing.T, answer func(*heard) spoken) *station {
	t.Helper()
	list, err := underTest(host.Gemini)
	if err != nil {
		t.Fatal(err)
	}
	v := string(list[0])
	s := newStation(t, agent{"gemini-" + v, "gemini", []string{packages[host.Gemini] + "@" + v}}.path(t), answer,
		"GEMINI_API_KEY=mock", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_SANDBOX=false")
	s.env = append(s.env, "GOOGLE_GEMINI_BASE_URL="+s.API.http.URL)
	dir := filepath.Join(s.home, ".gemini")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(geminiSettings), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// prompt is a turn without a terminal.
func (s *station) prompt(text string, args ...string) string {
	s.t.Helper()
	return s.exec("", s.program, append([]string{"-m", "gemini-2.5-pro", "-y", "-p", text}, args...)...)
}

// The fifth host, from installing to uninstalling: after a compression that only its
// file tells of, the hand-over comes with the next tool or prompt, once; sessions,
// recall, audit and the timeline know the session; settings with comments are given
// back byte for byte.
func TestGemini(t *testing.T) {
	t.Parallel()
	tokens, compacted := 20_000, false
	s := newGemini(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case strings.Contains(r.Body, "state_snapshot") && r.Bare:
			compacted, tokens = true, 5_000
			return speak("<state_snapshot><overall_goal>MOCK-SUMMARY</overall_goal></state_snapshot>", 1_000)
		case r.Bare:
			return speak("the lexer", 100)
		case strings.HasPrefix(last, "Please write a lexer"):
			return callTool("run_shell_command", map[string]any{"command": commitLexer, "description": "commit"}, tokens)
		case strings.Contains(last, "MARK-ASK"):
			return callTool("mcp_overtone_recall", map[string]any{"query": "lexer scanToken"}, tokens)
		case strings.Contains(last, "MARK-LOOK"):
			return callTool("run_shell_command", map[string]any{"command": "ls", "description": "look"}, tokens)
		}
		return speak("The lexer is committed.", tokens)
	})
	settings := filepath.Join(s.home, ".gemini", "settings.json")
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en"); !strings.Contains(out, "installed into gemini") {
		t.Fatalf("init says\n%s", out)
	}
	s.prompt("Please write a lexer with a function called scanToken, and commit it. MARK-COMMIT")
	tokens = 600_000
	s.prompt("what is left to do?", "--resume", "latest")
	if list := s.sessions(); len(list) != 1 || list[0].Host != "gemini" {
		t.Fatalf("sessions: %+v", list)
	}
	id := s.sessions()[0].ID
	n := len(s.API.requests())
	// The count is not carried over a resume: the first request of this turn tells it,
	// the second compresses.
	s.prompt("have a look MARK-LOOK", "--resume", id)
	if !compacted {
		t.Fatal("nothing was compressed")
	}
	s.prompt("carry on then", "--resume", id)
	s.prompt("and more", "--resume", id)
	after := s.API.requests()[n:]
	last := after[len(after)-1]
	if n := last.Count("overtone-packet id="); n != 1 || !last.Has("scanToken") {
		t.Errorf("%d hand-overs in %q", n, last.Texts[1:])
	}
	s.prompt("what was it called? MARK-ASK", "--resume", id)
	if last := s.API.last(); !strings.Contains(last.Last(), "data, not instructions") || !strings.Contains(last.Last(), "scanToken") {
		t.Errorf("the model asks back and is told %q", last.Last())
	}
	list := s.sessions()
	if len(list) != 1 || list[0].Compactions != 1 {
		t.Errorf("sessions: %+v", list)
	}
	if out := s.exec("", "overtone", "recall", "lexer", "scanToken"); !strings.Contains(out, id) {
		t.Errorf("recall finds\n%s", out)
	}
	audit := gjson.Parse(s.exec("", "overtone", "audit", "--json"))
	if one := audit.Get("sessions.0"); one.Get("host").String() != "gemini" || one.Get("requests").Int() < 4 || len(one.Get("compactions").Array()) != 1 {
		t.Errorf("audit: %s", audit.Get("sessions"))
	}
	if out := s.exec("", "overtone", "timeline", "--session", id); !strings.Contains(out, "Continuation packet delivered") || strings.Contains(out, "delivery unknown") {
		t.Errorf("timeline\n%s", out)
	}
	if out := s.doctor(); !strings.Contains(out, "✓ Gemini CLI 0.61.0") || strings.Contains(out, "may delete a session") {
		t.Errorf("doctor says\n%s", out)
	}

	// A clone in which texts are short and tools' outputs are gone goes on.
	clone := gjson.Parse(s.exec("", "overtone", "compress", id, "--json", "--whole-file", "--tools", "0-100:remove", "--bands", "0-100:compress", "--min-tokens", "10"))
	copied := clone.Get("result.id").String()
	if clone.Get("resume").String() != "gemini --resume "+copied {
		t.Fatalf("compress says %s", clone)
	}
	s.prompt("PROBE", "--resume", copied)
	if last := s.API.last(); !last.Has("MOCK-SUMMARY") || last.Count("PROBE") != 1 || last.Has("lexer.go\nProcess Group") {
		t.Errorf("the clone sends %q", last.Texts[2:])
	}
	if list := s.sessions(); len(list) != 2 {
		t.Errorf("sessions: %+v", list)
	}

	s.exec("", "overtone", "uninstall", "--host", "gemini", "--yes")
	if now, err := os.ReadFile(settings); err != nil || string(now) != string(before) {
		t.Errorf("uninstall leaves %v\n%s", err, now)
	}
}

// After a second compression the newest hand-over stands once. The host keeps the newest
// third of a conversation word for word, and no hook can take anything out of it: where the
// older hand-over is in there, the newest says that it replaces that one.
func TestGeminiTwice(t *testing.T) {
	t.Parallel()
	tokens, compacted := 20_000, 0
	s := newGemini(t, func(r *heard) spoken {
		last := r.Last()
		switch {
		case strings.Contains(r.Body, "state_snapshot") && r.Bare:
			compacted, tokens = compacted+1, 5_000
			return speak("<state_snapshot><overall_goal>MOCK-SUMMARY</overall_goal></state_snapshot>", 1_000)
		case r.Bare:
			return speak("the lexer", 100)
		case strings.HasPrefix(last, "Please write a lexer"):
			return callTool("run_shell_command", map[string]any{"command": commitLexer, "description": "commit"}, tokens)
		case strings.Contains(last, "MARK-LOOK"):
			return callTool("run_shell_command", map[string]any{"command": "ls", "description": "look"}, tokens)
		}
		return speak("The lexer is committed.", tokens)
	})
	s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en")
	s.prompt("Please write a lexer with a function called scanToken, and commit it.")
	id := s.sessions()[0].ID
	packets := regexp.MustCompile(`overtone-packet id=\\*"(ovt-\w+-\d+)`)
	var seen []string
	for n := 1; n <= 2; n++ {
		tokens = 600_000
		s.prompt("what is left to do?", "--resume", id)
		s.prompt("have a look MARK-LOOK", "--resume", id) // its second request compresses
		s.prompt("carry on then", "--resume", id)
		s.prompt("and more", "--resume", id)
		last := s.API.last()
		var stand []string
		for _, m := range packets.FindAllStringSubmatch(strings.Join(last.Texts, "\n"), -1) {
			stand = append(stand, m[1])
		}
		t.Logf("after %d compressions: %v", n, stand)
		if compacted < n || len(stand) == 0 || len(stand) > n {
			t.Fatalf("%d compressions, %v in %q", compacted, stand, last.Texts[1:])
		}
		newest := stand[len(stand)-1]
		if slices.Contains(seen, newest) || slices.Contains(stand[:len(stand)-1], newest) {
			t.Errorf("%v stands, after %v", stand, seen)
		}
		for _, old := range stand[:len(stand)-1] {
			if !last.Has("It replaces " + old) {
				t.Errorf("%s stands, and nothing says that %s replaces it", old, newest)
			}
		}
		seen = append(seen, newest)
	}
}

// Where settings switch hooks off the host calls none of ours, and doctor names the file and
// the setting; once they are on again the host calls them.
func TestGeminiHooksOff(t *testing.T) {
	t.Parallel()
	s := newGemini(t, func(*heard) spoken { return speak("Done.", 5_000) })
	user, project := filepath.Join(s.home, ".gemini", "settings.json"), filepath.Join(s.project, ".gemini", "settings.json")
	s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en")
	installed, err := os.ReadFile(user)
	if err != nil {
		t.Fatal(err)
	}
	fired := filepath.Join(s.home, ".overtone", "hooks", "gemini")
	for _, off := range []struct{ file, settings, says string }{
		{user, `"hooksConfig": {"enabled": false}`, "hooksConfig.enabled = false"},
		{user, `"hooksConfig": {"disabled": ["overtone"]}`, "hooksConfig.disabled"},
		{project, `"hooksConfig": {"enabled": false}`, "hooksConfig.enabled = false"},
	} {
		text := "{" + off.settings + "}"
		if off.file == user {
			text = strings.Replace(string(installed), "{", "{"+off.settings+",", 1)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(off.file), 0o700), os.WriteFile(off.file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		s.prompt("hello")
		if entries, err := os.ReadDir(fired); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the host has called %v, %v", off.settings, entries, err)
		}
		// A switch that is off is broken, so doctor's exit is not 0.
		if out, _ := s.try("", "overtone", "doctor"); !strings.Contains(out, "hooks are switched off in Gemini CLI") || !strings.Contains(out, off.says) {
			t.Errorf("%s: doctor says\n%s", off.settings, out)
		}
		if err := errors.Join(os.WriteFile(user, installed, 0o600), os.RemoveAll(project)); err != nil {
			t.Fatal(err)
		}
	}
	s.prompt("hello")
	if entries, err := os.ReadDir(fired); err != nil || len(entries) == 0 {
		t.Errorf("with hooks on again the host has called %v, %v", entries, err)
	}
	if out := s.exec("", "overtone", "doctor"); strings.Contains(out, "switched off") {
		t.Errorf("with hooks on again doctor says\n%s", out)
	}
}

// Gemini CLI in its own terminal: at a boundary its user is shown, once, that it is a good
// moment to compact.
func TestGeminiTerminal(t *testing.T) {
	t.Parallel()
	s := newGemini(t, func(r *heard) spoken {
		switch {
		case r.Bare:
			return speak("the lexer", 100)
		case strings.HasPrefix(r.Last(), "Please"):
			return callTool("run_shell_command", map[string]any{"command": commitLexer, "description": "commit"}, 800_000)
		case strings.HasPrefix(r.Last(), "what"):
			return speak("ANSWER-2", 800_000)
		}
		return speak("ANSWER-1", 800_000)
	})
	// From half of its window on the host would compress by itself.
	s.change(filepath.Join(s.home, ".gemini", "settings.json"), `"privacy":`, `"model": {"compressionThreshold": 0.95}, "privacy":`)
	s.exec("", "overtone", "init", "--host", "gemini", "--yes", "--lang", "en")
	term := s.terminal("-m", "gemini-2.5-pro", "-y")
	term.Wait("Type your message", 1)
	term.Say("Please write scanToken and commit it")
	term.Wait("ANSWER-1", 1)
	term.Wait("a good moment for /compact", 1)
	term.write("what was that")
	term.Wait("what was that", 1)
	term.until(keyEnter, "ANSWER-2") // one that comes at once is taken for a part of the text
	if n := term.count("a good moment for /compact"); n != 1 {
		t.Errorf("shown %d times", n)
	}
}
