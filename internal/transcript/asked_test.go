package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/host"
)

var second = time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)

// The answer to one use of a tool is found where the file has grown since, with the host's
// own form of it.
func TestAnswerOf(t *testing.T) {
	t.Parallel()
	answered := func(id, content, more string) string {
		return node("user", "r", "u1", 2, `,"message":{"content":[{"type":"text","text":"t1"},{"type":"tool_result","tool_use_id":"`+id+`","content":`+content+more+`}]},"toolUseResult":{"stdout":"`+id+`"}`)
	}
	whole := ToolAnswer{Text: "r", Result: []byte(`{"stdout":"t1"}`), At: second}
	for name, tt := range map[string]struct {
		id    string
		lines []string
		from  int64
		want  ToolAnswer
		ok    bool
	}{
		"a text":                  {"t1", []string{userLine, answered("t1", `"r"`, "")}, 0, whole, true},
		"blocks":                  {"t1", []string{answered("t1", `[{"type":"image"},{"type":"text","text":"r"}]`, "")}, 0, whole, true},
		"failed":                  {"t1", []string{answered("t1", `"r"`, `,"is_error":true`)}, 0, ToolAnswer{Text: "r", Failed: true, Result: whole.Result, At: second}, true},
		"the first of two":        {"t1", []string{answered("t1", `"r"`, ""), answered("t1", `"s"`, "")}, 0, whole, true},
		"of another":              {"t1", []string{answered("t2", `"t1"`, "")}, 0, ToolAnswer{}, false},
		"before it began":         {"t1", []string{answered("t1", `"r"`, ""), userLine}, 30, ToolAnswer{}, false},
		"of a file that shrank":   {"t1", []string{answered("t1", `"r"`, "")}, 9999, whole, true},
		"not whole":               {"t1", []string{answered("t1", `"r"`, "")[:200]}, 0, ToolAnswer{}, false},
		"no use":                  {"", []string{answered("", `"r"`, "")}, 0, ToolAnswer{}, false},
		"the host has no form":    {"t1", []string{strings.Replace(answered("t1", `"r"`, ""), `{"stdout":"t1"}`, `"Error: t1"`, 1)}, 0, ToolAnswer{Text: "r", At: second}, true},
		"of an agent, not a user": {"t1", []string{strings.Replace(answered("t1", `"r"`, ""), `"type":"user"`, `"type":"progress"`, 1)}, 0, ToolAnswer{}, false},
	} {
		got, ok := AnswerOf(write(t, tt.lines...), tt.id, tt.from)
		if d := cmp.Diff(tt.want, got); d != "" || ok != tt.ok {
			t.Errorf("%s: %v %s", name, ok, d)
		}
	}
	if _, ok := AnswerOf(filepath.Join(t.TempDir(), "none"), "t1", 0); ok {
		t.Error("an answer in no file")
	}
}

// The host's note on a command in the background is found in each of its forms, and what
// was looked at is not looked at again.
func TestNoteOf(t *testing.T) {
	t.Parallel()
	const text = "<task-notification>\n<tool-use-id>t1</tool-use-id>\ndone</task-notification>"
	quoted := strconv.Quote(text)
	for name, line := range map[string]string{
		"queued":   node("queue-operation", "q", "", 2, `,"content":`+quoted),
		"said":     node("user", "q", "", 2, `,"message":{"content":`+quoted+`}`),
		"attached": node("attachment", "q", "", 2, `,"attachment":{"prompt":`+quoted+`}`),
	} {
		path := write(t, userLine, line, "")
		note, at, read := NoteOf(path, "t1", 0)
		info, _ := os.Stat(path)
		if note != text || !at.Equal(second) || read != info.Size() {
			t.Errorf("%s: %q at %v, read to %d of %d", name, note, at, read, info.Size())
		}
		if note, _, read := NoteOf(path, "t1", read); note != "" || read != info.Size() {
			t.Errorf("%s, once more: %q %d", name, note, read)
		}
		if note, _, _ := NoteOf(path, "t2", 0); note != "" {
			t.Errorf("%s, of another: %q", name, note)
		}
		cut := write(t, userLine, line)
		if note, _, read := NoteOf(cut, "t1", 0); note != "" || read != int64(len(userLine)+1) {
			t.Errorf("%s, under way: %q, read to %d", name, note, read)
		}
		if note, _, _ := NoteOf(path, "t1", info.Size()+9); note != text {
			t.Errorf("%s, of a file that shrank: %q", name, note)
		}
	}
	long := write(t, strings.Repeat("x", tailBound+5))
	if _, _, read := NoteOf(long, "t1", 0); read != tailBound {
		t.Errorf("a line without an end is read to %d", read)
	}
	if Noted(text) != (CallID{keyOf([]byte("t1"))}) || Noted("t1") != (CallID{}) || Noted(strings.Replace(text, "</tool", "", 1)) != (CallID{}) {
		t.Error("the use of a tool that a note names")
	}
	if IsNoteOf("x"+text, "t1") || !IsNoteOf(" \n"+text, "t1") || IsNoteOf(text, "t") {
		t.Error("what is a note")
	}
}

// Where a session stands is asked of its end.
func TestEndsOfSessions(t *testing.T) {
	t.Parallel()
	side := strings.Replace(answer("a2", "y", 7, `,"isSidechain":true`), "00:00:01", "00:00:09", 1)
	if u, ok := TailAgentUsage(write(t, answer("a1", "x", 1, ""), side)); !ok || u.Tokens() != 122 || u.Model != "claude-x" {
		t.Errorf("of an agent's own file: %+v %v", u, ok)
	}
	if u, _ := TailUsage(write(t, strings.Replace(answer("a1", "x", 1, ""), `"type"`, `"version":"2.1","type"`, 1))); u.Version != "2.1" {
		t.Errorf("the version: %+v", u)
	}
	path := write(t, userLine, answer("a1", "x", 1, ""), side)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	for off, want := range map[int64]time.Duration{info.Size(): time.Second, int64(len(userLine)) + 1: 0} {
		if got := TimeBefore(f, off, Claude); got != second.Add(want-2*time.Second).UnixMilli() {
			t.Errorf("before %d: %v", off, Time(got))
		}
	}
	if got := TimeBefore(f, 0, Claude); got != 0 {
		t.Errorf("before all: %d", got)
	}
	for name, tt := range map[string]struct{ line, want string }{
		"claude":  {`{"type":"user","cwd":"/w"}`, "/w"},
		"codex":   {`{"type":"session_meta","payload":{"cwd":"/w"}}`, "/w"},
		"copilot": {`{"type":"session.start","data":{"context":{"cwd":"/w"}}}`, "/w"},
		"broken":  {`{"cwd":"/w"`, ""}, "empty": {`{"cwd":""}`, ""}, "no text": {`{"cwd":7}`, ""},
	} {
		if got := FirstCWD(write(t, `{"type":"mode"}`, tt.line, `{"x":1}`)); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := FirstCWD(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}

// The usage of the first request since a compaction, and which entry tells it.
func TestFirstUsage(t *testing.T) {
	t.Parallel()
	count := func(n int) string {
		return `{"timestamp":"2026-01-01T00:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":` + strconv.Itoa(n) + `,"output_tokens":1}}}}`
	}
	chain := func(a string, parent string) string {
		return strings.Replace(a, `"parentUuid":"u1"`, `"parentUuid":"`+parent+`"`, 1)
	}
	for name, tt := range map[string]struct {
		lines  []string
		entry  int32
		tokens int64
		ok     bool
	}{
		"the first":            {[]string{userLine, answer("a1", "x", 1, ""), chain(answer("a2", "y", 7, ""), "a1")}, 1, 111, true},
		"since the compaction": {[]string{userLine, answer("a1", "x", 1, ""), boundaryLine, node("user", "u2", "b1", 2, say("go on")), chain(answer("a2", "y", 7, ""), "u2")}, 4, 117, true},
		"of nobody":            {[]string{userLine}, 0, 0, false},
		"of Codex":             {[]string{`{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}`, count(20), count(30)}, 1, 21, true},
	} {
		path := write(t, tt.lines...)
		s, err := Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		entry, u, ok := s.FirstUsage(f)
		f.Close()
		if entry != tt.entry || u.Tokens() != tt.tokens || ok != tt.ok {
			t.Errorf("%s: entry %d, %+v, %v", name, entry, u, ok)
		}
	}
}

// What a compression asks of an entry, and how it changes it.
func TestEntriesAreAskedAndChanged(t *testing.T) {
	t.Parallel()
	call := node("assistant", "a1", "u1", 2, part("m1", `{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"q":"which?"}}`))
	reply := node("user", "r1", "a1", 3, result("t1"))
	s, err := Read(t.Context(), write(t, userLine, call, reply))
	if err != nil {
		t.Fatal(err)
	}
	pairs := s.Pairs(s.Live())
	if len(pairs) != 1 || pairs[0].Call != 1 || !cmp.Equal(pairs[0].Entries, []int32{1, 2}) || s.CallIDOf(1) != pairs[0].ID || s.CallIDOf(2) != pairs[0].ID || s.CallIDOf(0) != (CallID{}) {
		t.Errorf("%+v", pairs)
	}
	if !s.Spoken(pairs[0]) || s.Fixed(pairs[0]) || s.Spoken(Pair{Entries: []int32{0}}) {
		t.Error("what the user was asked is his")
	}
	if in, out := ToolSize(Claude, []byte(call)), ToolSize(Claude, []byte(reply)); in != len(`{"q":"which?"}`) || out != len(`"r"`) || ToolSize(Claude, nil) != 0 || ToolSize(Claude, []byte("{")) != 0 {
		t.Errorf("%d, %d", in, out)
	}
	upper := func(v []byte) []byte { return MapStrings(v, strings.ToUpper) }
	for entry, want := range map[string]string{
		`{"input":{"a":["b"]},"c":1}`:                           `{"input":{"a":["B"]},"c":1}`,
		`{"payload":{"input":"b","x":"y"},"input":"c"}`:         `{"payload":{"input":"B","x":"y"},"input":"c"}`,
		`{"payload":{"x":"y"}}`:                                 `{"payload":{"x":"y"}}`,
		`{"c":1}`:                                               `{"c":1}`,
		`{"input":"a\"b` + "\u00e9" + `","n":1.50,"big":1e400}`: `{"input":"A\"B` + "\u00c9" + `","n":1.50,"big":1e400}`,
	} {
		if got := MapField([]byte(entry), "input", upper); string(got) != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
	if got := MapStrings([]byte(`{"a":"b`), strings.ToUpper); string(got) != `{"a":"b` {
		t.Errorf("%s", got)
	}
	for text, want := range map[string]string{"Exit code 2\nout": "out", "Exit code 2": "", "out\nExit code 2": "out\nExit code 2"} {
		if got := WithoutExit(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, tt := range []struct {
		h    Host
		want string
	}{{Claude, "u1"}, {Codex, "L3"}} {
		if got := Ref(tt.h, []byte(userLine), 3); got != tt.want {
			t.Errorf("%s: %s", tt.h, got)
		}
	}
	if size, uuid, ok := Name([]byte("\xef\xbb\xbf" + userLine + "{}")); !ok || string(uuid) != "u1" || size != len(userLine)+3 {
		t.Errorf("%d %s %v", size, uuid, ok)
	}
	if _, _, ok := Name([]byte("x")); ok {
		t.Error("no object has no name")
	}
}

// The blocks of a message are changed one by one, or taken out; what is not changed stays
// byte for byte, and a message that loses all of them is said to be empty.
func TestEditBlocks(t *testing.T) {
	t.Parallel()
	const one, two = `{"type":"text","text":"a"}`, `{"type":"tool_use","id":"t1"}`
	entry := func(content string) string { return `{"uuid":"u", "message":{"content":` + content + `}, "x":1}` }
	drop := func(names ...string) func(Block) []byte {
		return func(b Block) []byte {
			if slices.Contains(names, b.Type) {
				return nil
			}
			return b.Raw
		}
	}
	for name, c := range map[string]struct {
		entry string
		fn    func(Block) []byte
		want  string
		empty bool
	}{
		"nothing changed":    {entry("[" + one + " , " + two + "]"), drop(), entry("[" + one + " , " + two + "]"), false},
		"one taken out":      {entry("[" + one + "," + two + "]"), drop("text"), entry("[" + two + "]"), false},
		"another in place":   {entry("[" + one + "," + two + "]"), func(b Block) []byte { return []byte(`{"was":"` + b.Type + `"}`) }, entry(`[{"was":"text"},{"was":"tool_use"}]`), false},
		"all taken out":      {entry("[" + one + "," + two + "]"), drop("text", "tool_use"), entry("[]"), true},
		"none there":         {entry("[]"), drop("text"), entry("[]"), false},
		"a text, no blocks":  {entry(`"hello"`), drop("text"), entry(`"hello"`), false},
		"no message":         {`{"uuid":"u"}`, drop("text"), `{"uuid":"u"}`, false},
		"a message of Codex": {`{"type":"response_item","payload":{"type":"message","content":[` + one + `]}}`, drop("text"), `{"type":"response_item","payload":{"type":"message","content":[` + one + `]}}`, false},
	} {
		got, empty := EditBlocks([]byte(c.entry), c.fn)
		if string(got) != c.want || empty != c.empty {
			t.Errorf("%s: %s, empty %v", name, got, empty)
		}
	}
}

// A call and its result have one id, whoever asks for it.
func TestIDsOfBlocks(t *testing.T) {
	t.Parallel()
	var ids []CallID
	for _, block := range []string{`{"type":"tool_use","id":"t1"}`, `{"type":"tool_result","tool_use_id":"t1"}`, `{"type":"tool_result","tool_use_id":"t2"}`, `{"type":"text","id":"t1"}`} {
		EditBlocks([]byte(`{"message":{"content":[`+block+`]}}`), func(b Block) []byte { ids = append(ids, b.ID); return b.Raw })
	}
	if len(ids) != 4 || ids[0] != ids[1] || ids[1] == ids[2] || ids[3] != (CallID{}) {
		t.Errorf("%v", ids)
	}
}

// What a compaction names as kept is looked for; what cannot be read is counted.
func TestVerifyTellsWhatIsKept(t *testing.T) {
	t.Parallel()
	rep, err := Verify(t.Context(), write(t,
		node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", `{"type":"text","text":"x"}`)),
		node("system", "b1", "", 3, `,"subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"anchorUuid":"s1","uuids":["a1","gone"]}}`),
		node("user", "s1", "b1", 4, say("sum")), `{"type":`))
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(rep.Kept, map[string]bool{"a1": true, "s1": true}) || rep.lost != 1 || rep.Unreadable != 1 || rep.Messages != 3 || rep.clean() {
		t.Errorf("%+v", rep)
	}
	// One fault is enough, whichever, and two do not make up for each other.
	for _, r := range []Report{
		{Unreadable: 1},
		{lost: 1},
		{Duplicate: map[string]bool{"a": true}},
		{Dangling: map[string]string{"a": "b"}},
		{Unanswered: map[string]bool{"a": true}},
		{Orphaned: map[string]bool{"a": true}},
		{Incomplete: map[string]string{"a": "b"}},
		{Empty: map[string]bool{"a": true}},
		{Unreadable: 1, Empty: map[string]bool{"a": true}},
		{lost: 1, Duplicate: map[string]bool{"a": true}, Unanswered: map[string]bool{"a": true}},
	} {
		if r.clean() {
			t.Errorf("%+v is said to be clean", r)
		}
	}
	if r := (&Report{Messages: 3, Kept: map[string]bool{"a": true}}); !r.clean() {
		t.Error("nothing is wrong, and it is not said to be clean")
	}
}

// A message says what it lacks that its host requires.
func TestVerifyTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	rep, err := Verify(t.Context(), write(t,
		`{"parentUuid":null,"type":"user","uuid":"u0","message":{"role":"user","content":"a"}}`,
		node("user", "u1", "u0", 1, ""), node("user", "u2", "u1", 2, `,"message":{"role":"user"}`),
		node("assistant", "a1", "u2", 3, `,"message":{"id":"m1","content":[{"type":"text","text":"x"}]}`), node("assistant", "a2", "a1", 4, part("m2", `{"type":"text","text":"x"}`))))
	want := map[string]string{"u0": "timestamp", "u1": "message", "u2": "message.content", "a1": "message.model"}
	if err != nil || !cmp.Equal(rep.Incomplete, want) {
		t.Errorf("%v, %v", rep.Incomplete, err)
	}
	if rep, err := Verify(t.Context(), write(t, `{"hello":1}`)); err != nil || rep.Messages != 0 {
		t.Errorf("nobody's file: %+v, %v", rep, err)
	}
}

// Two lines of one name are told, and no others.
func TestDuplicateNames(t *testing.T) {
	t.Parallel()
	lines := []string{node("user", "u1", "", 1, say("a")), node("user", "u2", "u1", 2, say("b"))}
	for _, c := range []struct {
		lines []string
		want  map[string]bool
	}{{lines, map[string]bool{}}, {append(lines, node("user", "u2", "u1", 3, say("c"))), map[string]bool{"u2": true}}} {
		rep, err := Verify(t.Context(), write(t, c.lines...))
		if err != nil || !cmp.Equal(rep.Duplicate, c.want) {
			t.Errorf("%v, %v", rep.Duplicate, err)
		}
	}
}

// Events of a part of a file are those of its lines; a part that is no longer there begins
// anew.
func TestEventsOfAPart(t *testing.T) {
	t.Parallel()
	path := write(t, userLine, answer("a1", "x", 1, ""), node("user", "u2", "a1", 3, say("go on")), "")
	first, end := int64(len(userLine)+1), int64(1<<40)
	for _, tt := range []struct {
		from, to int64
		want     string
	}{
		{0, end, "hello x go on"}, {first, end, "x go on"}, {0, first, "hello"}, {end, end, "hello x go on"}, {-1, end, "hello x go on"},
	} {
		var got []string
		err := EventsIn(t.Context(), path, tt.from, tt.to, Want{}, func(e *Event) {
			if e.Kind == UserSaid || e.Kind == AgentSaid {
				got = append(got, e.Text())
			}
		})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("from %d to %d: %q, %v", tt.from, tt.to, got, err)
		}
	}
	got := 0
	if err := AllEvents(t.Context(), path, func(*Event) { got++ }); err != nil || got == 0 {
		t.Errorf("%d, %v", got, err)
	}
	if err := AllEvents(t.Context(), write(t, "no session"), func(*Event) {}); err == nil {
		t.Error("events of no session")
	}
	kept := Event{Keeps: []byte(`[{"type":"message","text":"a\nb"},{"text":"c"}]`)}
	if kept.Kept() != "a b\nc\n" {
		t.Errorf("%q", kept.Kept())
	}
}

// A name goes off Codex's list with its rollout, and takes no other along.
func TestForgetName(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	rollout := filepath.Join(home, host.Of(Codex).Sessions.Dir, "2026", "01", "01", "rollout-x.jsonl")
	if err := os.MkdirAll(filepath.Dir(rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(home, codexNames)
	if err := os.WriteFile(list, []byte(`{"id":"other","thread_name":"theirs"}`), 0o600); err != nil { // without its newline
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := NameRollout(rollout, id, "title "+id, cloneTime); err != nil {
			t.Fatal(err)
		}
	}
	names := func() map[string]string { return Names(func(*host.Host) string { return home }) }
	if d := cmp.Diff(map[string]string{"other": "theirs", "a": "title a", "b": "title b"}, names()); d != "" {
		t.Error(d)
	}
	if err := ForgetName(rollout, "a"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"other": "theirs", "b": "title b"}, names()); d != "" {
		t.Error(d)
	}
	before, _ := os.ReadFile(list)
	if err := ForgetName(rollout, "nobody"); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(list); string(after) != string(before) {
		t.Errorf("%s", after)
	}
	for _, elsewhere := range []string{filepath.Join(t.TempDir(), "rollout-x.jsonl"), filepath.Join(home, "a", "b", "c", "d", "rollout-x.jsonl")} {
		if err := NameRollout(elsewhere, "a", "title", cloneTime); err != nil || names()["a"] != "" {
			t.Errorf("%s: %v, %v", elsewhere, err, names())
		}
	}
}

// A mirror is fresh as long as its session is of the moment that it was stamped with.
func TestFreshMirrors(t *testing.T) {
	t.Parallel()
	m := Mirror{Path: write(t, userLine)}
	if m.Fresh(cloneTime) {
		t.Error("fresh before it is stamped")
	}
	if err := m.Stamp(cloneTime); err != nil || !m.Fresh(cloneTime) || m.Fresh(cloneTime.Add(time.Millisecond)) {
		t.Errorf("stamped: %v", err)
	}
	if (Mirror{Path: m.Path + "x"}).Fresh(cloneTime) {
		t.Error("a mirror that is gone is fresh")
	}
}
