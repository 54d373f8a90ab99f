package catalog

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// cloned puts a session on the list of clones, as large as it is.
func (p *place) cloned(path, id, source string) {
	p.t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = compress.ClonesIn(p.Home.Root()).Add(compress.CloneRecord{
			ID: id, Source: source, From: path, Path: path, Host: string(host.ClaudeCode), Size: info.Size(), Tokens: 700, Created: "2026-03-01T11:00:00Z",
		})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// What goes on is the session that is named, the one that the host is in, or the newest of
// the folder that somebody used; a clone that nobody used is named, not taken.
func TestToContinue(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if _, err := p.ToContinue("", "/work/p1"); err == nil || !strings.Contains(err.Error(), message.NoSessions.EN) {
		t.Errorf("no session at all: %v", err)
	}
	p.file(first, "p1", time.Hour)
	p.file(second, "p1", 2*time.Hour)
	clone := p.file(third, "p1", 0)
	p.cloned(clone, third, first)
	older := p.file("44444444-4444-4444-8444-444444444444", "p2", 0)
	p.cloned(older, "44444444-4444-4444-8444-444444444444", first)
	for name, tc := range map[string]struct{ ref, env, dir, want, chosen string }{
		"by name":                  {second, "", "/work/p1", second, ""},
		"the host's own":           {"", second, "/work/p1", second, ""},
		"the name before the host": {third, second, "/work/p1", third, ""},
		"the newest that was used": {"", "", "/work/p1", first, first},
		"of the folder only":       {"", "", "/work/p1/", first, first},
	} {
		p.chosen, p.env = "", map[string]string{"CLAUDE_SESSION_ID": tc.env, "CLAUDE_CODE_SESSION_ID": tc.env}
		dir := strings.TrimSuffix(tc.dir, "/")
		if file, err := p.ToContinue(tc.ref, dir); err != nil || file.ID != tc.want || p.chosen != tc.chosen {
			t.Errorf("%s: %s, chosen %q, %v", name, file.ID, p.chosen, err)
		}
	}
	p.env = nil
	clone = p.file("55555555-5555-4555-8555-555555555555", "p2", time.Hour)
	p.cloned(clone, "55555555-5555-4555-8555-555555555555", first)
	var misuse message.Misuse
	if _, err := p.ToContinue("", "/work/p2"); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "44444444") {
		t.Errorf("of two clones alone the newest: %v", err)
	}
	if _, err := p.ToContinue("", "/work/none"); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "/work/none") {
		t.Errorf("a folder without sessions: %v", err)
	}
}

// A clone counts as used once its own file has changed; a file of the host's beside our
// mirror of it tells more, and of a database the time.
func TestUnusedClones(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.file(first, "p1", 0)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	made := midday.Add(-time.Hour)
	for name, tc := range map[string]struct {
		record compress.CloneRecord
		file   transcript.File
		want   bool
	}{
		"as it was made":            {compress.CloneRecord{Path: path, Size: 9}, transcript.File{Path: path, Host: host.ClaudeCode, Size: 9}, true},
		"written to":                {compress.CloneRecord{Path: path, Size: 9}, transcript.File{Path: path, Host: host.ClaudeCode, Size: 10}, false},
		"moved, of a host's files":  {compress.CloneRecord{Path: "/gone", Size: 9}, transcript.File{Path: path, Host: host.ClaudeCode, Size: 9}, true},
		"the host's file as it was": {compress.CloneRecord{Path: path, Size: info.Size()}, transcript.File{Path: "/mirror", Host: host.Gemini, Size: 1}, true},
		"the host's file has grown": {compress.CloneRecord{Path: path, Size: info.Size() - 1}, transcript.File{Path: "/mirror", Host: host.Gemini, Size: 1}, false},
		"the host's file is gone":   {compress.CloneRecord{Path: path + "x", Size: 1}, transcript.File{Path: "/mirror", Host: host.Gemini, Size: 1}, false},
		"imported just now":         {compress.CloneRecord{Created: made.Format(time.RFC3339)}, transcript.File{Path: "/mirror", Host: host.Opencode, ModTime: made.Add(importing)}, true},
		"changed since the import":  {compress.CloneRecord{Created: made.Format(time.RFC3339)}, transcript.File{Path: "/mirror", Host: host.Opencode, ModTime: made.Add(importing + time.Second)}, false},
		"nobody knows when":         {compress.CloneRecord{Created: "?"}, transcript.File{Path: "/mirror", Host: host.Opencode}, false},
	} {
		if got := unused(tc.record, tc.file); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	p.cloned(path, first, second)
	p.file(second, "p1", time.Hour)
	if !p.Unused()(transcript.File{ID: first, Path: path, Host: host.ClaudeCode, Size: info.Size()}) || p.Unused()(transcript.File{ID: second, Path: path, Host: host.ClaudeCode, Size: info.Size()}) {
		t.Error("the list of clones is not asked")
	}
	files, err := p.Lived()
	if err != nil || len(files) != 1 || files[0].ID != second {
		t.Errorf("%+v, %v", files, err)
	}
}

// A session is found by words of its title, where only one has them.
func TestTitledSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file(first, "p1", time.Hour)
	p.file(second, "p2", time.Hour)
	p.Titled = func() []Row {
		return []Row{{ID: first, Title: "Speed up the PARSER", AgeSeconds: 7200}, {ID: second, Title: "Speed up the lexer"}}
	}
	for words, want := range map[string]string{"the parser": first, "LEXER": second, "": "", "  ": "", "speed up": "", "ledger": ""} {
		file, err := p.titled(words)
		if file.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", words, file.ID, err)
		}
		if words == "speed up" && !strings.Contains(message.HintOf(err, message.EN), first+" (Speed up the PARSER, 2h), "+second+" (Speed up the lexer, 0s)") {
			t.Errorf("several: %v, %s", err, message.HintOf(err, message.EN))
		}
	}
	if file, err := p.Resolve("the parser"); err != nil || file.ID != first {
		t.Errorf("%s, %v", file.ID, err)
	}
}

// A clone's note says what it is a copy of, where it goes on, and which names its text lacks.
func TestCloneNote(t *testing.T) {
	t.Parallel()
	n := NewCloneNote("s1", "/w", message.EN)
	n.Add(&transcript.Event{Kind: transcript.UserSaid, Raw: []byte(`"look at growBuffer in parse.go"`)}, 1)
	all, none := func(string) bool { return true }, func(string) bool { return false }
	text := n.Note(none)
	for _, want := range []string{"<overtone-clone>\n", "s1", "growBuffer", "parse.go", message.CloneNames.EN, "\n</overtone-clone>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	n.Moved = "It goes on in /v."
	if text := n.Note(all); strings.Contains(text, "growBuffer") || !strings.Contains(text, " It goes on in /v.\n</overtone-clone>") {
		t.Errorf("%s", text)
	}
}

// A session is looked at in one place: what its file tells of it, and, of a clone that
// nobody used, what it was made with.
func TestView(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.file(first, "p1", 0)
	line := `{"type":"assistant","uuid":"a1","sessionId":"` + first + `","timestamp":"2026-03-01T11:00:01.000Z","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5",` +
		`"content":[{"type":"text","text":"Shall I?"}],"usage":{"input_tokens":10,"cache_read_input_tokens":50000,"output_tokens":300}}}` + "\n"
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	s, err2 := p.Home.Session(first)
	file, err3 := transcript.At(path)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	view := func() View {
		t.Helper()
		v, err := NewView(t.Context(), p.Home, s, file, "", config.Defaults(), midday)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := view(); v.Moment.Context != 50310 || v.Input.Usage.Used != 50310 && v.Input.Usage.Used != 50010 || v.Situation == nil || v.Situation.Request != "speed up the parser" {
		t.Errorf("%+v, %+v", v.Moment, v.Situation)
	}
	if v := view(); v.Input.Signals != 0 || len(v.Input.History) != 0 {
		t.Errorf("nothing has happened: %+v", v.Input)
	}
	// What no hook has seen is told by the file.
	seen, err := os.ReadFile(path)
	if err == nil {
		commit := strings.NewReplacer(`"a1"`, `"a2"`, `{"type":"text","text":"Shall I?"}`, `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git commit -am x"}}`).Replace(line) +
			`{"type":"user","uuid":"r2","sessionId":"` + first + `","timestamp":"2026-03-01T11:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[main abc1234] x\n 1 file changed"}]}}` + "\n"
		err = os.WriteFile(path, append(seen, commit...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if v := view(); !v.Input.Signals.Has(compact.Commit) {
		t.Errorf("a commit: %v", v.Input.Signals.List())
	}
	if err := os.WriteFile(path, seen, 0o600); err != nil {
		t.Fatal(err)
	}
	p.cloned(path, first, second)
	if v := view(); v.Moment.Context != 700 || !v.Moment.Last.IsZero() {
		t.Errorf("of a clone: %+v", v.Moment)
	}
	v, err := NewView(t.Context(), p.Home, s, transcript.File{}, "", config.Defaults(), midday)
	if err != nil || v.Moment.Context != 0 || v.Situation != nil {
		t.Errorf("without a file: %+v, %v", v, err)
	}
}
