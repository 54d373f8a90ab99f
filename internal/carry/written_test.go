package carry

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/mirror"
)

var update = flag.Bool("update", false, "write what the tests see into testdata")

// chance are ids, which differ from run to run.
var chance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:(msg_|prt_)([0-9a-f]{12})[0-9a-f]{14})|-[0-9a-f]{8}\.jsonl`)

// What is written for each agent, to the byte, and where: these are other programs' files.
func TestWrittenFormats(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, "model_provider = \"azure\"\n", home, ".codex", "config.toml")
	w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }}
	early := midday.Add(-time.Hour)
	talk := Talk{ID: "ID", Title: "the title", CWD: "/w/My Shop", Now: midday, Note: "the <note>", Lines: []Line{
		{User: true, Text: "/review it & say \"so\"", At: early}, {Text: "I did.", At: early}, {User: true, Text: "Go on.", At: early.Add(time.Minute)}, {Text: "Gone.", At: early.Add(time.Minute)},
	}}
	var out strings.Builder
	for _, target := range Targets() {
		data, err := target.write(w, talk)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if target.Name == host.Opencode {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			data, _ = json.MarshalIndent(v, "", " ")
			text = string(data) + "\n"
		}
		h := host.Of(target.Name)
		fmt.Fprintf(&out, "== %s\n", target.Name)
		if target.path != nil {
			text = filepath.ToSlash(target.path(w, talk)) + "\n" + text
		}
		ids := map[string]string{}
		text = chance.ReplaceAllStringFunc(text, func(id string) string {
			if m := chance.FindStringSubmatch(id); m[1] != "" {
				return m[1] + m[2] + "…"
			}
			if ids[id] == "" {
				ids[id] = fmt.Sprintf("ID%d", len(ids)+1)
			}
			return ids[id]
		})
		out.WriteString(strings.NewReplacer(home, "HOME", h.Floor.String(), "FLOOR", h.Verified[len(h.Verified)-1].String(), "NEWEST").Replace(text))
	}
	path := filepath.Join("testdata", "written.txt")
	if *update {
		writeFile(t, out.String(), path)
	}
	want, err := os.ReadFile(path)
	if d := cmp.Diff(string(want), out.String()); err != nil || d != "" {
		t.Errorf("%s: %v (-want +got; -update writes it):\n%s", path, err, d)
	}
}

// What the agent's own files need beside a session: Gemini CLI's folder says whose it is,
// and says so once.
func TestWhatStandsBesideASession(t *testing.T) {
	t.Parallel()
	target, _ := To(string(host.Gemini))
	path := filepath.Join(t.TempDir(), "my-shop", "chats", "s.jsonl")
	writeFile(t, "", path)
	owner := filepath.Join(filepath.Dir(filepath.Dir(path)), mirror.GeminiRoot)
	for _, cwd := range []string{"/w/a", "/w/b"} {
		if err := target.after(World{}, Talk{CWD: cwd}, path); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(owner); err != nil || string(data) != "/w/a" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if err := target.after(World{}, Talk{CWD: "/w/a"}, filepath.Join(t.TempDir(), "no", "chats", "s.jsonl")); err == nil {
		t.Error("a folder that is not there is marked")
	}
}

// A session of Copilot's is a folder, which goes as a whole; a file that stands elsewhere
// takes nothing along.
func TestRemoveCopilot(t *testing.T) {
	t.Parallel()
	target, _ := To(string(host.Copilot))
	dir := t.TempDir()
	session, other := writeFile(t, "", dir, "c1", "events.jsonl"), writeFile(t, "", dir, "elsewhere", "events.jsonl")
	beside := writeFile(t, "", dir, "elsewhere", "mine")
	for _, path := range []string{session, other} {
		if err := target.Remove(t.Context(), World{}, "c1", path); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Dir(session)); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
	if _, err := os.Lstat(beside); err != nil {
		t.Error(err)
	}
}

// Removing a session that is not there is told, by every agent's own way.
func TestRemoveWhatIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []host.Name{host.ClaudeCode, host.Codex, host.Gemini} {
		target, _ := To(string(name))
		w := World{Dir: func(_, usual string) string { return filepath.Join(dir, usual) }}
		if err := target.Remove(t.Context(), w, "s1", filepath.Join(dir, "s1.jsonl")); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// piecesOf are texts of turns, the user's and the agent's by turns.
func piecesOf(texts ...string) (list []piece) {
	for n, text := range texts {
		list = append(list, piece{user: n%2 == 0, begins: n%2 == 0, text: text})
	}
	return list
}

// Which texts stay whole: the newest request and the newest answer whatever their size, the
// two newest turns as far as there is room, what the user said as far as it is moderate, and
// all where all is kept.
func TestWhichTextsStayWhole(t *testing.T) {
	t.Parallel()
	long := func(n int) string {
		return strings.TrimSpace(strings.Repeat("One more sentence stands here. ", n/31+1)[:n-1]) + "."
	}
	for _, tt := range []struct {
		name   string
		pieces []piece
		keep   int
		short  string // those that are shorter, from the front
		given  int    // those that were to be
	}{
		{"the newest are large", piecesOf(long(9000), long(9000)), 10, "--", 0},
		{"three turns", piecesOf("a", long(1500), "b", long(1500), "c", long(1500)), 10, "-s----", 1},
		{"no room for two", piecesOf("a", long(1500), "b", long(3000), "c", long(4000)), 10, "-s-s--", 2},
		{"just room for two", piecesOf("a", long(1500), "b", long(1997), "c", long(4001)), 10, "-s----", 1},
		{"the user's are long", piecesOf(long(4000), "x", long(4200), "y", "c", "z", "d", "e"), 10, "--------", 3},
		{"all is kept", piecesOf(long(9000), long(9000), "b", long(9000), "c", long(9000)), 100, "------", 0},
		{"nearly all is kept", piecesOf(long(9000), long(9000), "b", long(9000), "c", long(9000)), 99, "-s-s--", 3},
		{"a summary is no user's", append([]piece{{user: true, summary: true, text: long(3000)}}, piecesOf("a", "x", "b", "y")...), 10, "-----", 1},
	} {
		told := &Retold{}
		before := append([]piece(nil), tt.pieces...)
		if err := told.shorten(t.Context(), tt.pieces, Options{Keep: tt.keep, Lang: message.EN, Now: midday}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, p := range tt.pieces {
			if p.text == before[i].text {
				got += "-"
			} else {
				got += "s"
			}
		}
		if got != tt.short || told.Messages != len(tt.pieces) || told.Short != tt.given {
			t.Errorf("%s: %s, want %s; %d of %d, want %d", tt.name, got, tt.short, told.Short, told.Messages, tt.given)
		}
	}
}

// A talk begins with the user, ends each line at the time of what is newest in it, and takes
// the time of the line before where nobody tells one.
func TestLinesOfATalk(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return midday.Add(time.Duration(n) * time.Minute) }
	told := &Retold{Talk: Talk{Now: midday}}
	told.join([]piece{
		{text: "I begin.", at: at(1)},
		{tool: true, name: "Read", text: "a.go", at: at(2), end: worked},
		{tool: true, name: "Bash", at: at(3)},
		{user: true, text: "Stop.", at: at(4)},
		{text: "Yes."},
		{tool: true, name: "Edit", text: "b.go", end: refused},
		{text: "Fine.", at: at(6)},
	}, message.EN)
	want := []Line{
		{User: true, Text: message.ContinueBegins.EN, At: at(3)},
		{Text: "I begin.\n\n▸ Read: a.go\n▸ Bash → …", At: at(3)},
		{User: true, Text: "Stop.", At: at(4)},
		{Text: "Yes.\n\n▸ Edit: b.go → " + message.ContinueRefused.EN + "\n\nFine.", At: at(6)},
	}
	if d := cmp.Diff(want, told.Lines, cmp.AllowUnexported(Line{})); d != "" || told.Tools != 3 {
		t.Errorf("%d tools, %s", told.Tools, d)
	}
	var many []piece // one more than have a line each
	for range ToolsTold + 1 {
		many = append(many, piece{tool: true, name: "Read", end: worked})
	}
	told = &Retold{Talk: Talk{Now: midday}}
	told.join(many, message.EN)
	if l := told.Lines; len(l) != 2 || !strings.Contains(l[1].Text, "Read ×1") || strings.Count(l[1].Text, "\n▸ Read") != ToolsTold {
		t.Errorf("%+v", l)
	}
	told = &Retold{Talk: Talk{Now: midday}}
	told.join([]piece{{user: true, text: "a"}, {text: "b", at: at(2)}, {user: true, text: "c"}}, message.EN)
	if l := told.Lines; len(l) != 3 || !l[0].At.Equal(midday) || !l[2].At.Equal(at(2)) {
		t.Errorf("%+v", l)
	}
}

// The note says that secrets were taken out and that the folder is another, where that is so.
func TestWhatTheNoteSays(t *testing.T) {
	t.Parallel()
	file := work(t.TempDir()).write(t)
	story, err := Read(t.Context(), file, file.Size)
	if err != nil {
		t.Fatal(err)
	}
	if note := (&Story{ID: "s2", record: handover.NewRecord("/w")}).note("", false, Options{From: "Codex", Lang: message.EN}); strings.Contains(note, "\n\n\n") {
		t.Errorf("an empty part:\n%s", note)
	}
	for _, o := range []Options{{From: "Codex", Lang: message.EN}, {From: "Codex", Gone: "/gone", Lang: message.ZH}} {
		for _, secrets := range []bool{false, true} {
			note := story.note("", secrets, o)
			if strings.Contains(note, message.ContinueSecrets.In(o.Lang)) != secrets || strings.Contains(note, message.MovedFolder.Format(o.Lang, "/gone", story.CWD)) != (o.Gone != "") ||
				!strings.Contains(note, message.ContinueHeader.Format(o.Lang, "Codex", "s1")) || strings.Count(note, "overtone recall") == 0 {
				t.Errorf("%+v, secrets %v:\n%s", o, secrets, note)
			}
		}
	}
}

// What a tool was asked for is its command, its files, its question, else the first text,
// on one line, without the folder, and not long.
func TestWhatAToolIsAskedFor(t *testing.T) {
	t.Parallel()
	s := &session{cwd: "/w"}
	s.user("Go.")
	for _, in := range []struct {
		name  string
		input map[string]any
	}{
		{"Bash", map[string]any{"command": "cat /w/a.go\n/w/b.go"}},
		{"Edit", map[string]any{"file_path": "/w/a.go", "old_string": "x", "new_string": "y"}},
		{"WebSearch", map[string]any{"query": "how to"}},
		{"Bash", map[string]any{"command": strings.Repeat("word ", 60)}},
		{"AskUserQuestion", map[string]any{"questions": []any{map[string]any{"header": "Rows", "question": "Empty rows, too?"}}}},
	} {
		s.tool(in.name, in.input)
		s.result("fine", false)
	}
	s.agent("Done.")
	told := tell(t, s.write(t), compress.Dir(""))
	lines := strings.Split(told.Lines[1].Text, "\n")
	asked := slices.Index(lines, "▸ AskUserQuestion: Empty rows, too?")
	want := []string{"▸ Bash: cat a.go b.go", "▸ Edit: a.go", "▸ WebSearch: how to"}
	if d := cmp.Diff(want, lines[:3]); d != "" || asked != 4 {
		t.Error(d, lines)
	}
	if n := message.Units(strings.TrimPrefix(lines[3], "▸ Bash: ")); n > maxTold || n < maxTold-8 {
		t.Errorf("%d units: %s", n, lines[3])
	}
}
