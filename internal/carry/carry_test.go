package carry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

var midday = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

// session writes a session of Claude Code line by line.
type session struct {
	cwd   string
	lines []string
}

func (s *session) add(typ string, content any, more ...string) {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.lines)+1)
	parent := "null"
	if n := len(s.lines); n > 0 {
		parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
	}
	b, err := json.Marshal(content)
	if err != nil {
		panic(err) // strings and maps
	}
	s.lines = append(s.lines, fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s1","cwd":%q,"timestamp":"2026-03-05T11:00:%02d.000Z"%s,"message":{"role":%q,"model":"m","content":%s}}`,
		typ, id, parent, s.cwd, len(s.lines)%60, strings.Join(more, ""), typ, b))
}

func (s *session) user(text string) { s.add("user", text) }
func (s *session) agent(text string) {
	s.add("assistant", []any{map[string]any{"type": "text", "text": text}})
}

func (s *session) tool(name string, input map[string]any) {
	s.add("assistant", []any{map[string]any{"type": "tool_use", "id": fmt.Sprint("t", len(s.lines)), "name": name, "input": input}})
}

func (s *session) result(text string, failed bool) {
	s.add("user", []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprint("t", len(s.lines)-1), "content": text, "is_error": failed}})
}

func (s *session) write(t *testing.T) transcript.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	data := []byte(strings.Join(s.lines, "\n") + "\n")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return transcript.File{Path: path, ID: "s1", Host: transcript.Claude, Size: int64(len(data))}
}

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// work is a session with old turns, a secret, tools and a last answer.
func work(cwd string) *session {
	s := &session{cwd: cwd}
	for n := range 10 {
		s.user(fmt.Sprintf("Question %d about the importer?", n))
		s.agent(strings.Repeat(fmt.Sprintf("I looked at row %d of the importer and went on to the next one after that. ", n), 20))
	}
	s.user("The token is " + secret + ".")
	s.agent("I keep it to myself.")
	s.user("/review is what I typed, make loadLedger strict.")
	s.tool("Edit", map[string]any{"file_path": cwd + "/ledger.go", "old_string": "mergeBatches()", "new_string": "mergeBatches(strict)"})
	s.result("updated", false)
	s.tool("Bash", map[string]any{"command": "go test ./...\necho done"})
	s.result("Exit code 1\nFAIL", true)
	s.agent("Decision: loadLedger refuses empty rows.")
	return s
}

func tell(t *testing.T, file transcript.File, kept compress.Dir) *Retold {
	t.Helper()
	story, err := Read(t.Context(), file, file.Size)
	if err != nil {
		t.Fatal(err)
	}
	told, err := story.Tell(t.Context(), Options{From: "Claude Code", Lang: message.EN, Now: midday, Keep: 10, Kept: kept})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// Of a story the newest turns and what the user said are told whole, older answers are
// shortened to texts whose originals are kept, tools have a line each, and secrets stay.
func TestAStoryIsTold(t *testing.T) {
	t.Parallel()
	cwd, kept := t.TempDir(), compress.Dir(t.TempDir())
	file := work(cwd).write(t)
	before, _ := os.ReadFile(file.Path)
	told := tell(t, file, kept)
	var all strings.Builder
	for i, l := range told.Lines {
		if i == 0 && !l.User || i > 0 && l.User == told.Lines[i-1].User {
			t.Errorf("line %d: %+v", i, l)
		}
		all.WriteString(l.Text + "\n")
	}
	for _, want := range []string{
		"Question 3 about the importer?", "/review is what I typed, make loadLedger strict.", "Decision: loadLedger refuses empty rows.",
		"▸ Edit: ledger.go\n", "▸ Bash: go test ./... echo done → failed",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is not told:\n%s", want, all.String())
		}
	}
	old := strings.Repeat("I looked at row 3 of the importer and went on to the next one after that. ", 20)
	if strings.Contains(all.String(), old) {
		t.Error("an old answer is told whole")
	}
	if strings.Contains(all.String()+told.Note, secret) || len(told.Redacted) != 1 || !strings.Contains(told.Note, "Secrets are redacted") {
		t.Errorf("secrets: %v", told.Redacted)
	}
	for _, want := range []string{"Claude Code", "overtone recall", "mergeBatches", "make loadLedger strict"} {
		if !strings.Contains(told.Note, want) {
			t.Errorf("the note lacks %q:\n%s", want, told.Note)
		}
	}
	if err := told.short.Keep("made"); err != nil {
		t.Fatal(err)
	}
	// A mark has the first digits of this.
	sum := sha256.Sum256([]byte(strings.TrimSpace(old)))
	if text, ok := kept.Originals().Find(hex.EncodeToString(sum[:])); !ok || text != strings.TrimSpace(old) {
		t.Errorf("the original of an old answer is %q", text)
	}
	if after, _ := os.ReadFile(file.Path); string(after) != string(before) {
		t.Error("the source was changed")
	}
}

// The note tells the situation that every other view of the session tells.
func TestTheNoteTellsTheSituation(t *testing.T) {
	t.Parallel()
	s := work(t.TempDir())
	s.user("Make it read-only by default. Never push to main.")
	s.tool("Bash", map[string]any{"command": "go test ./ledger"})
	s.result("Exit code 1\nledger.go:3:1: undefined: strict", true)
	s.agent("The test is red.")
	s.tool("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Shall I take the flag back?"}}})
	file := s.write(t)
	story, err := Read(t.Context(), file, file.Size)
	if err != nil {
		t.Fatal(err)
	}
	at := handover.Handover{Record: story.record, Work: story.record.Work(), Lang: message.EN, Hold: true}.Situation()
	if at.State != compact.StateAsked || at.Question != "Shall I take the flag back?" || at.Request != "Make it read-only by default. Never push to main." {
		t.Errorf("%+v", at)
	}
	note := tell(t, file, "").Note
	want := []string{at.Request, at.Question, message.Stands(string(at.State), "", string(at.Sign), message.EN), at.First}
	for _, f := range at.Failing {
		want = append(want, f.Line, f.Output)
	}
	for _, w := range at.Words {
		want = append(want, w.Text)
	}
	want = append(want, at.Tree.Changed...)
	if len(want) < 8 {
		t.Errorf("the situation tells little: %+v", at)
	}
	for _, text := range want {
		if !strings.Contains(note, text) {
			t.Errorf("the note lacks %q:\n%s", text, note)
		}
	}
}

// A compaction whose summary only the vendor can read tells nobody what came before it: all
// of the session is told then.
func TestASummaryThatNobodyReads(t *testing.T) {
	t.Parallel()
	s := &session{cwd: "/w"}
	s.user("Make the parser strict.")
	s.agent("I begin with scanToken.")
	s.lines = append(s.lines, `{"type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-000000000003","parentUuid":null,"sessionId":"s1","timestamp":"2026-03-05T11:00:02.000Z","compactMetadata":{"trigger":"auto"}}`)
	s.add("user", " ", `,"isCompactSummary":true`)
	s.agent("I go on with growBuffer.")
	var all strings.Builder
	for _, l := range tell(t, s.write(t), "").Lines {
		all.WriteString(l.Text + "\n")
	}
	for _, want := range []string{"Make the parser strict.", "I begin with scanToken.", "I go on with growBuffer."} {
		if strings.Count(all.String(), want) != 1 {
			t.Errorf("%q is not told once:\n%s", want, all.String())
		}
	}
}

// What a compaction left is told with what came after it, and the request that is worked
// on, though it came before.
func TestACompactedStory(t *testing.T) {
	t.Parallel()
	s := &session{cwd: "/w"}
	s.user("Make the parser strict.")
	s.agent("I begin with scanToken.")
	s.lines = append(s.lines, `{"type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-000000000003","parentUuid":null,"sessionId":"s1","timestamp":"2026-03-05T11:00:02.000Z","compactMetadata":{"trigger":"auto"}}`)
	s.add("user", "The parser is being made strict; scanToken is done.", `,"isCompactSummary":true`)
	s.agent("I go on with growBuffer.")
	told := tell(t, s.write(t), "")
	var got []string
	for i, l := range told.Lines {
		got = append(got, l.Text)
		if l.Summary != (i == 0) { // the rest is the user's and the agent's own
			t.Errorf("%q is a summary: %v", l.Text, l.Summary)
		}
	}
	want := []string{"The parser is being made strict; scanToken is done.", "Make the parser strict.", "I go on with growBuffer."}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if request := "Make the parser strict."; !strings.Contains(told.Note, request) { // what was done before it is not told
		t.Errorf("the note lacks %q:\n%s", request, told.Note)
	}
}

// What was typed while the agent worked, and stands in the queue's lines alone, is told
// with what is left of a compaction.
func TestWordsOfTheQueueAreTold(t *testing.T) {
	t.Parallel()
	s := &session{cwd: "/w"}
	s.user("Make the parser strict.")
	s.lines = append(s.lines, `{"type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-000000000002","parentUuid":null,"sessionId":"s1","timestamp":"2026-03-05T11:00:01.000Z","compactMetadata":{"trigger":"auto"}}`)
	s.add("user", "The parser is being made strict.", `,"isCompactSummary":true`)
	s.tool("Bash", map[string]any{"command": "ls"})
	s.result("a.go", false)
	n := len(s.lines) // the lines of the queue are none of the chain
	s.agent("Fine, and the lexer.")
	s.lines = slices.Insert(s.lines, n, `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-05T11:00:03.500Z","content":"And the lexer!"}`,
		`{"type":"queue-operation","operation":"remove","timestamp":"2026-03-05T11:00:04.500Z"}`)
	var all strings.Builder
	for _, l := range tell(t, s.write(t), "").Lines {
		all.WriteString(l.Text + "\n")
	}
	if got := all.String(); strings.Count(got, "And the lexer!") != 1 || strings.Index(got, "And the lexer!") > strings.Index(got, "Fine, and the lexer.") {
		t.Errorf("%s", got)
	}
}

// The turn under way is left out of a session that is being written to, and no other: a
// call that never ended hangs in its own turn.
func TestLastWholeTurn(t *testing.T) {
	t.Parallel()
	ls := map[string]any{"command": "ls"}
	hangs := func(s *session) { s.user("And the scanner?"); s.tool("Bash", ls) }
	system := func(s *session, subtype string) {
		s.lines = append(s.lines, fmt.Sprintf(`{"type":"system","subtype":%q,"uuid":"00000000-0000-4000-8000-%012d","sessionId":"s1","timestamp":"2026-03-05T11:00:02.000Z"}`, subtype, len(s.lines)+1))
	}
	for name, tc := range map[string]struct {
		whole, more func(*session)
		open        string
		messages    int
	}{
		"over":            {more: func(*session) {}},
		"asked":           {more: func(s *session) { s.user("And now the lexer?") }, open: "And now the lexer?", messages: 1},
		"a tool runs":     {more: func(s *session) { s.user("And the lexer?"); s.tool("Bash", ls) }, open: "And the lexer?", messages: 1},
		"a tool ended":    {more: func(s *session) { s.user("And the lexer?"); s.tool("Bash", ls); s.result("x", false) }, open: "And the lexer?", messages: 1},
		"answered":        {more: func(s *session) { s.user("And the lexer?"); s.agent("Here.") }},
		"interrupted":     {more: func(s *session) { s.user("And the lexer?"); s.user("[Request interrupted by user]") }},
		"a local command": {more: func(s *session) { s.user("<command-name>/clear</command-name>") }},

		"a call hangs, the next turn is over": {whole: hangs, more: func(s *session) { s.user("And the lexer?"); s.agent("Here.") }},
		"a call hangs, the next turn runs": {
			whole: hangs, more: func(s *session) { s.user("And the lexer?"); s.agent("I look."); s.tool("Bash", ls) }, open: "And the lexer?", messages: 2,
		},
		"a call hangs before a compaction, behind which it was answered": {more: func(s *session) {
			hangs(s)
			system(s, "compact_boundary")
			s.add("user", "The parser is strict.", `,"isCompactSummary":true`)
			s.agent("Here.")
		}},
		"a call hangs before a compaction, behind which the turn goes on": {whole: func(s *session) {
			hangs(s)
			system(s, "compact_boundary")
			s.add("user", "The parser is strict.", `,"isCompactSummary":true`)
		}, more: func(s *session) { s.agent("I look."); s.tool("Bash", ls) }, open: "And the scanner?", messages: 1},
		"words with /compact are none to the agent": {more: func(s *session) {
			s.user("And the lexer?")
			s.user("<command-name>/compact</command-name>\n<command-args>keep the names</command-args>")
			n := len(s.lines) - 1
			s.lines[n] = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s.lines[n]) // as the host writes it
		}, open: "And the lexer?", messages: 1},
		"an answer of the service's is none of the agent's": {more: func(s *session) {
			s.user("And the lexer?")
			s.add("assistant", []any{map[string]any{"type": "text", "text": "API Error: 529"}}, `,"isApiErrorMessage":true`)
			s.tool("Bash", ls)
		}, open: "And the lexer?", messages: 1},
		"the host says that the turn is over": {more: func(s *session) { hangs(s); system(s, "turn_duration") }},
		"the agent speaks on after a turn whose call hangs": {more: func(s *session) {
			hangs(s)
			system(s, "turn_duration")
			s.agent("What ran in the background has ended.")
		}},
		"a plan that was approved": {more: func(s *session) { s.add("user", "Do this: the lexer.", `,"planContent":"the lexer"`) }, open: "Do this: the lexer.", messages: 1},
		"a plan that was approved in its turn": {
			more: func(s *session) {
				s.user("Plan the lexer.")
				s.tool("ExitPlanMode", map[string]any{"plan": "1. the lexer"})
				s.result("You can now proceed.", false)
			}, open: "Plan the lexer.", messages: 2,
		},
		"words that wait in the queue": {whole: func(s *session) { s.agent("That is all.") }, more: func(s *session) {
			s.lines = append(s.lines, `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-05T11:00:09.000Z","content":"And the lexer?"}`)
		}, open: "And the lexer?", messages: 1},
	} {
		s := &session{cwd: "/w"}
		s.user("Make the parser strict.")
		s.agent("Done.")
		if tc.whole != nil {
			tc.whole(s)
		}
		whole := s.write(t).Size
		tc.more(s)
		file := s.write(t)
		got, err := LastWhole(t.Context(), file)
		want := Turns{End: file.Size, Open: tc.open, Messages: tc.messages}
		if tc.open != "" {
			want.End = whole
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, want %+v, %v", name, got, want, err)
		}
	}
}

// Of recorded sessions that are read as if they were being written to, at most the last
// turn is left out, and none that Codex says is over.
func TestRecordedSessionsAreWhole(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]transcript.Host{"claude": transcript.Claude, "codex": transcript.Codex} {
		paths := samples.Find("../corpus/" + name + "/*.jsonl.gz")
		if len(paths) == 0 {
			t.Skip("no recorded sessions")
		}
		cut := 0
		for _, path := range paths {
			data, err := samples.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			file := transcript.File{Path: filepath.Join(t.TempDir(), "s.jsonl"), Host: h, Size: int64(len(data))}
			if err := os.WriteFile(file.Path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := LastWhole(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if got.End == file.Size {
				continue
			}
			cut++
			left := 0
			err = transcript.AllEvents(t.Context(), file.Path, func(e *transcript.Event) {
				if _, said := saidIn(e); e.Kind == transcript.UserSaid && e.How == transcript.Typed && said && e.Off >= got.End {
					left++
				}
			})
			began, ended := bytes.LastIndex(data, []byte(`"type":"task_started"`)), bytes.LastIndex(data, []byte(`"type":"task_complete"`))
			if err != nil || left > 1 || ended > began {
				t.Errorf("%s: %+v leaves %d turns out, the last one began at %d and ended at %d: %v", samples.Name(path), got, left, began, ended, err)
			}
		}
		t.Logf("%s: %d of %d end within a turn", name, cut, len(paths))
		if cut*4 > len(paths) {
			t.Errorf("%s: %d of %d sessions are cut", name, cut, len(paths))
		}
	}
}

// What is written for a host of ours is read back by its reader: the same texts, in
// order, under the title, on the list of clones, and gone when it is removed.
func TestWrittenSessionsAreRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{string(host.ClaudeCode), string(host.Codex)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, root, cwd := t.TempDir(), t.TempDir(), t.TempDir()
			source := work(cwd).write(t)
			told := tell(t, source, compress.CacheIn(root))
			told.Title = "the title"
			w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }}
			target, ok := To(name)
			if !ok {
				t.Fatal("no target")
			}
			list := compress.ClonesIn(root)
			made, err := target.Make(t.Context(), w, told, source, list)
			if err != nil {
				t.Fatal(err)
			}
			dir := func(h *host.Host) string { return h.Dir(w.Dir) }
			file, err := transcript.Resolve(made.ID, dir)
			if err != nil || file.Path != made.Path {
				t.Fatalf("%+v, %v", file, err)
			}
			if c := list.All()[made.ID]; c.Source != "s1" || c.Size != file.Size || c.Host != name {
				t.Errorf("%+v", c)
			}
			var got []Line
			err = transcript.AllEvents(t.Context(), made.Path, func(e *transcript.Event) {
				if e.Kind == transcript.UserSaid || e.Kind == transcript.AgentSaid {
					got = append(got, Line{User: e.Kind == transcript.UserSaid, Text: e.Text()})
				}
			})
			if err != nil || len(got) != len(told.Lines) {
				t.Fatalf("%d of %d lines, %v", len(got), len(told.Lines), err)
			}
			for i, l := range told.Lines {
				if got[i].User != l.User || got[i].Text != l.Text {
					t.Errorf("line %d: %+v, want %+v", i, got[i], l)
				}
			}
			s, err := transcript.Read(t.Context(), made.Path)
			title := s.Title
			if n := transcript.Names(dir)[made.ID]; n != "" {
				title = n
			}
			if err != nil || title != "the title" || s.CWD != cwd {
				t.Errorf("%q in %s, %v", title, s.CWD, err)
			}
			if err := target.Remove(t.Context(), w, made.ID, made.Path); err != nil {
				t.Fatal(err)
			}
			if _, err := transcript.Resolve(made.ID, dir); !errors.Is(err, transcript.ErrNotFound) {
				t.Errorf("removed: %v", err)
			}
			if n := transcript.Names(dir)[made.ID]; n != "" {
				t.Errorf("its name stays: %s", n)
			}
		})
	}
}

// A folder of Windows stands in every agent's session as it is, and reads back so; what the
// talk says of files there is kept.
func TestFoldersOfWindows(t *testing.T) {
	t.Parallel()
	for _, cwd := range []string{`C:\Users\me\new shop`, `\\?\C:\Users\me\shop`, `\\box\team\shop`} {
		for _, name := range Names() {
			root := t.TempDir()
			s := work(cwd)
			s.user(`look at ` + cwd + `\src\table.go`)
			s.agent(`I changed ` + cwd + `\src\table.go.`)
			source := s.write(t)
			told := tell(t, source, compress.CacheIn(root))
			if told.CWD != cwd {
				t.Fatalf("the folder is read as %q", told.CWD)
			}
			data, ranIn := "", ""
			w := World{Dir: func(_, usual string) string { return filepath.Join(root, usual) }, Run: func(_ context.Context, dir, _ string, args ...string) ([]byte, error) {
				ranIn = dir
				for _, a := range args {
					if b, err := os.ReadFile(a); err == nil {
						data = string(b)
					}
				}
				return []byte(`{"ok":true,"sessionId":"c1"} ` + gjson.Get(data, "info.id").String()), nil
			}}
			target, _ := To(name)
			made, err := target.Make(t.Context(), w, told, source, compress.ClonesIn(root))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if made.Path != "" {
				if b, err := os.ReadFile(made.Path); err == nil {
					data = string(b)
				}
				if rel, err := filepath.Rel(root, made.Path); err != nil || !filepath.IsLocal(rel) || strings.ContainsAny(rel, `\:?`) {
					t.Errorf("%s: its file is %q", name, made.Path)
				}
			}
			quoted, _ := json.Marshal(cwd + `\src\table.go`)
			if n := strings.Count(data, strings.Trim(string(quoted), `"`)); n < 2 {
				t.Errorf("%s: the file is named %d times in\n%s", name, n, data)
			}
			switch host.Name(name) {
			case host.ClaudeCode, host.Codex:
				if got := transcript.FirstCWD(made.Path); got != cwd {
					t.Errorf("%s: the folder reads back as %q", name, got)
				}
			case host.Gemini:
				if b, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(made.Path)), mirror.GeminiRoot)); string(b) != cwd {
					t.Errorf("%s: the marker says %q, %v", name, b, err)
				}
			case host.Opencode:
				if at := gjson.Get(data, `messages.#(info.role=="assistant").info.path.cwd`).String(); ranIn != cwd || at != cwd {
					t.Errorf("%s: imported in %q as of %q", name, ranIn, at)
				}
			}
		}
	}
}

// Where an agent's own program imports a session, its answer tells the id; a program that
// fails leaves nothing on the list.
func TestImportedSessions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer, id string
		made, gone string // the command lines
	}{
		"copilot": {
			`{"ok":true,"sessionId":"c1"}`, "c1", "copilot sessions import FILE --name the title --working-directory CWD --output json", "",
		},
		"opencode": {"Imported session: ID", "ses_", "opencode import FILE", "opencode session delete ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			cwd := t.TempDir()
			source := work(cwd).write(t)
			ran, data, fails := "", "", false
			w := World{Dir: func(_, usual string) string { return filepath.Join(root, usual) }, Run: func(_ context.Context, _, program string, args ...string) ([]byte, error) {
				ran = program + " " + strings.Join(args, " ")
				for _, a := range args {
					if b, err := os.ReadFile(a); err == nil {
						data, ran = string(b), strings.Replace(ran, a, "FILE", 1)
					}
				}
				if fails {
					return nil, errors.New("no")
				}
				var doc struct{ Info struct{ ID string } }
				_ = json.Unmarshal([]byte(data), &doc) // only opencode's has an id
				return []byte(strings.ReplaceAll(tc.answer, "ID", doc.Info.ID)), nil
			}}
			target, _ := To(name)
			list := compress.ClonesIn(root)
			told := tell(t, source, compress.CacheIn(root))
			told.Title = "the title"
			made, err := target.Make(t.Context(), w, told, source, list)
			if err != nil || !strings.HasPrefix(made.ID, tc.id) || list.All()[made.ID].Source != "s1" || ran != strings.Replace(tc.made, "CWD", cwd, 1) {
				t.Fatalf("%s: %+v, %v, %v", ran, made, err, list.All())
			}
			ran = ""
			if !strings.Contains(data, "make loadLedger strict") || strings.Contains(data, secret) {
				t.Errorf("%s", data)
			}
			if name == "copilot" { // which has made its session
				writeFile(t, "", made.Path)
			}
			if err := target.Remove(t.Context(), w, made.ID, made.Path); err != nil || ran != strings.Replace(tc.gone, "ID", made.ID, 1) {
				t.Error(ran, err)
			}
			if _, err := os.Stat(made.Path); err == nil {
				t.Errorf("%s stays", made.Path)
			}
			fails = true
			if _, err := target.Make(t.Context(), w, tell(t, source, compress.CacheIn(root)), source, list); err == nil || len(list.All()) != 1 {
				t.Errorf("a program that fails: %v, %v", err, list.All())
			}
			left, _ := filepath.Glob(filepath.Join(string(compress.CacheIn(root)), "originals", "*"))
			if len(left) > 1 {
				t.Errorf("originals of what failed: %v", left)
			}
		})
	}
}

// What opencode's importer puts into its database, and the file that Gemini CLI is given,
// are seen as sessions of these hosts when they are next looked at: the same texts under the
// title, from the folder, and the note is nobody's words.
func TestSessionsThatHostsKeepAreRead(t *testing.T) {
	t.Parallel()
	for _, name := range []host.Name{host.Opencode, host.Gemini} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			home, root := opencodeHome(t), t.TempDir()
			cwd := RealPath(t.TempDir())
			source := work(cwd).write(t)
			told := tell(t, source, compress.CacheIn(root))
			told.Title = "the title"
			w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }, Run: importer(home)}
			target, _ := To(string(name))
			made, err := target.Make(t.Context(), w, told, source, compress.ClonesIn(root))
			if err != nil {
				t.Fatal(err)
			}
			mirrors := filepath.Join(home, "mirror")
			if err := mirror.Refresh(t.Context(), host.Of(name), w.Dir, mirrors, midday); err != nil {
				t.Fatal(err)
			}
			found, _ := filepath.Glob(filepath.Join(mirrors, "*", "*", made.ID+".jsonl"))
			if len(found) != 1 {
				t.Fatalf("%q of %+v", found, made)
			}
			var got []string
			if err := transcript.AllEvents(t.Context(), found[0], func(e *transcript.Event) {
				if e.Kind == transcript.UserSaid && e.How == transcript.Typed || e.Kind == transcript.AgentSaid {
					got = append(got, e.Text())
				}
			}); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, l := range told.Lines {
				text := l.Text
				if name == host.Gemini && l.User {
					text = geminiSent(text)
				}
				want = append(want, text)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			s, err := transcript.Read(t.Context(), found[0])
			if err != nil || s.Title != "the title" || s.CWD != cwd {
				t.Errorf("%q in %s, %v", s.Title, s.CWD, err)
			}
		})
	}
}

// importer does what `opencode import FILE` does, as far as a session is read: a row for the
// session, in the folder it is run in, one for each message and one for each of their parts.
func importer(home string) func(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	return func(_ context.Context, dir, program string, args ...string) ([]byte, error) {
		if program != "opencode" || len(args) != 2 || args[0] != "import" {
			return nil, fmt.Errorf("%s %q", program, args)
		}
		b, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		db, err := sql.Open("sqlite", filepath.Join(home, ".local", "share", "opencode", "opencode.db"))
		if err != nil {
			return nil, err
		}
		defer db.Close()
		info := gjson.GetBytes(b, "info")
		session := info.Get("id").String()
		if _, err := db.Exec(`INSERT INTO session VALUES (?, NULL, ?, 'p', ?, ?, ?, ?, ?)`, session, info.Get("slug").String(), dir, info.Get("title").String(),
			info.Get("version").String(), info.Get("time.created").Int(), info.Get("time.updated").Int()); err != nil {
			return nil, err
		}
		for _, m := range gjson.GetBytes(b, "messages").Array() {
			id := m.Get("info.id").String()
			if m.Get("info.sessionID").String() != session {
				return nil, fmt.Errorf("a message of another session: %s", m.Raw)
			}
			if _, err := db.Exec(`INSERT INTO message VALUES (?, ?, ?, ?)`, id, session, m.Get("info.time.created").Int(), m.Get("info").Raw); err != nil {
				return nil, err
			}
			for _, p := range m.Get("parts").Array() {
				if p.Get("messageID").String() != id || p.Get("sessionID").String() != session {
					return nil, fmt.Errorf("a part of another message: %s", p.Raw)
				}
				if _, err := db.Exec(`INSERT INTO part VALUES (?, ?, ?, ?)`, p.Get("id").String(), session, id, p.Raw); err != nil {
					return nil, err
				}
			}
		}
		return []byte("Imported session: " + session), nil
	}
}

// Gemini CLI keeps a folder's sessions under a name: the one on its list, the one whose
// marker names the folder, else a free one.
func TestGeminiFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := func(name, owner string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "tmp", name), 0o700), os.WriteFile(filepath.Join(dir, "tmp", name, mirror.GeminiRoot), []byte(owner), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "projects.json"), []byte(`{"projects":{"/w/listed":"known","/w/else":"my-shop-1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mark("marked", "/w/marked")
	mark("my-shop", "/w/other/my-shop")
	for cwd, want := range map[string]string{"/w/listed": "known", "/w/marked": "marked", "/w/My Shop": "my-shop-2", "/w/new_One": "new-one", "/w/az09.AZ": "az09-az", "/w/文件": "project"} {
		if got := geminiFolder(dir, cwd); got != want {
			t.Errorf("%s: %s, want %s", cwd, got, want)
		}
	}
	for text, want := range map[string]string{"/review": "> /review", "? why": "> ? why", "why": "why", "<hook_context>x": "> <hook_context>x"} {
		if got := geminiSent(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Every target has a command to go on, and is found by its name.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if target, ok := To(name); !ok || target.Title == "" || !strings.Contains(target.Resume("ID"), "ID") || target.write == nil || (target.path == nil) == (target.bring == nil) {
			t.Errorf("%s: %+v", name, target)
		}
	}
	if _, ok := To("nobody"); ok {
		t.Error("nobody")
	}
}

// Codex refuses a session of no provider in its terminal, and hides one of another.
func TestCodexProvider(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"": "openai",
		"model = \"m\"\nmodel_provider = \"azure\" # ours\n[model_providers.azure]\nname = \"Azure\"\n": "azure",
		"model_provider='local'":                 "local",
		"[profiles.x]\nmodel_provider = \"y\"\n": "openai",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := codexProvider(dir); got != want {
			t.Errorf("%q: %s, want %s", config, got, want)
		}
	}
}
