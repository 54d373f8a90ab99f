package carry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
)

// mirrored are the lines of a mirror by their ids.
func mirrored(lines ...string) map[string]gjson.Result {
	list := map[string]gjson.Result{}
	for _, l := range lines {
		v := gjson.Parse(l)
		list[v.Get("uuid").String()] = v
	}
	return list
}

func userLine(id, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"message":{"role":"user","content":[{"type":"text","text":%q}]}}`, id, text)
}

func agentLine(id, content string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"message":{"role":"assistant","content":[%s],"usage":{"input_tokens":9,"cache_creation_input_tokens":2,"cache_read_input_tokens":1,"output_tokens":4}}}`, id, content)
}

func answerLine(id, call, content string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}}`, id, call, content)
}

const (
	saidX    = `{"type":"text","text":"x"}`
	saidY    = `{"type":"text","text":"y"}`
	thoughtX = `{"type":"thinking","thinking":"t"}`
	callX    = `{"type":"tool_use","id":"p1","name":"bash","input":{"command":"ls"}}`
	callY    = `{"type":"tool_use","id":"p1","name":"bash","input":{"command":"l […]"}}`
)

// A message of opencode's is given back as its host wrote it, but for what the clone says
// otherwise.
func TestChangedMessagesOfOpencode(t *testing.T) {
	t.Parallel()
	const (
		user = `{"info":{"id":"m","role":"user"},"parts":[{"id":"a","type":"text","text":"x"},{"id":"b","type":"text","text":"put","synthetic":true},{"id":"f","type":"file"}]}`
		both = `{"info":{"id":"m","role":"assistant","tokens":{"input":9}},"parts":[{"id":"a","type":"text","text":"x"},{"id":"b","type":"text","text":"more"},` +
			`{"id":"r","type":"reasoning","text":"t"},{"id":"p1","type":"tool","state":{"status":"completed","input":{"command":"ls"},"output":"long"}}]}`
	)
	whole := []string{agentLine("m", strings.Join([]string{saidX, thoughtX, callX}, ",")), answerLine("m/results", "p1", `"Exit code 2\nlong"`)}
	for _, tt := range []struct {
		name, message string
		before, after []string
		want          map[string]string // by path; "" for what is not there
	}{
		{"untouched", both, whole, whole, map[string]string{
			"parts.#": "4", "parts.0.text": "x", "parts.1.text": "more", "parts.2.text": "t", "parts.3.state.output": "long", "info.tokens.input": "9",
		}},
		{"unknown to the mirror", both, nil, nil, map[string]string{"parts.#": "4", "parts.2.text": "t", "parts.3.state.input.command": "ls"}},
		{"a text is another", both, whole, []string{agentLine("m", strings.Join([]string{saidY, thoughtX, callX}, ",")), whole[1]}, map[string]string{
			"parts.#": "3", "parts.0.text": "y", "parts.1.id": "r", "parts.2.state.output": "long",
		}},
		{"texts and thoughts are gone", both, whole, []string{agentLine("m", callX), whole[1]}, map[string]string{"parts.#": "1", "parts.0.id": "p1"}},
		{"the call is gone", both, whole, []string{agentLine("m", saidX+","+thoughtX)}, map[string]string{"parts.#": "3", "parts.2.id": "r", "parts.3": ""}},
		{
			"call and answer are shorter", both, whole,
			[]string{agentLine("m", strings.Join([]string{saidX, thoughtX, callY}, ",")), answerLine("m/results", "p1", `[{"type":"text","text":"Exit code 2\nl […]"}]`)},
			map[string]string{"parts.3.state.input.command": "l […]", "parts.3.state.output": "l […]", "parts.3.state.status": "completed"},
		},
		{"all of it is gone", both, whole, nil, map[string]string{"": ""}},
		{"a request tells another size", both, whole, []string{strings.Replace(whole[0], `"input_tokens":9`, `"input_tokens":90`, 1), whole[1]}, map[string]string{
			"info.tokens.input": "93", "info.tokens.output": "4", "info.tokens.total": "97", "parts.#": "4",
		}},
		{"its only part is gone", `{"info":{"id":"m","role":"assistant"},"parts":[{"id":"a","type":"text","text":"x"}]}`, []string{agentLine("m", saidX)}, nil, map[string]string{"": ""}},
		{"it never had a part", `{"info":{"id":"m","role":"assistant"},"parts":[]}`, []string{agentLine("m", saidX)}, []string{agentLine("m", saidX)}, map[string]string{"info.id": "m", "parts.#": "0"}},
		{"the user's is gone", user, []string{userLine("m", "x")}, nil, map[string]string{"": ""}},
		{"what was put beside it changes", user, []string{userLine("m", "x"), userLine("m/host", "put")}, []string{userLine("m", "x"), userLine("m/host", "other")}, map[string]string{
			"parts.0.text": "x", "parts.1.text": "other", "parts.2.id": "f",
		}},
		{"what was put beside it is gone", user, []string{userLine("m", "x"), userLine("m/host", "put")}, []string{userLine("m", "y")}, map[string]string{
			"parts.#": "2", "parts.0.text": "y", "parts.1.id": "f",
		}},
		{"put alone", user, []string{userLine("m", "x")}, []string{userLine("m", "y")}, map[string]string{"parts.#": "2", "parts.0.text": "y", "parts.1.id": "f"}},
	} {
		got := changed(gjson.Parse(tt.message), "m", mirrored(tt.before...), mirrored(tt.after...))
		if (got == "") != (len(tt.want) == 1 && tt.want[""] == "" && tt.want["parts.#"] == "") {
			t.Errorf("%s: %s", tt.name, got)
			continue
		}
		for path, want := range tt.want {
			if v := gjson.Get(got, path); path != "" && v.String() != want {
				t.Errorf("%s: %s is %q, want %q in\n%s", tt.name, path, v.String(), want, got)
			}
		}
	}
}

// The same for Gemini CLI, whose answers stand in two places.
func TestChangedMessagesOfGemini(t *testing.T) {
	t.Parallel()
	const (
		agent = `{"id":"m","type":"gemini","content":"x","thoughts":[{"subject":"s"}],"toolCalls":[` +
			`{"id":"p1","args":{},"result":[{"functionResponse":{"response":{"output":"long"}}}]},{"id":"p2","result":[{"functionResponse":{"response":{"output":"b"}}}]}]}`
		user   = `{"id":"u","type":"user","content":[{"text":"x"}]}`
		answer = `{"id":"r","type":"user","content":[{"functionResponse":{"id":"p1","response":{"output":"long"}}},{"functionResponse":{"id":"p2","response":{"output":"b"}}}]}`
	)
	whole := []string{agentLine("m", saidX+","+thoughtX), answerLine("m/results", "p1", `"long"`), answerLine("n/results", "p2", `"b"`), userLine("u", "x")}
	for _, tt := range []struct {
		name, message string
		after         []string
		want          map[string]string
	}{
		{"untouched", agent, whole, map[string]string{"content": "x", "thoughts.#": "1", "toolCalls.#": "2", "toolCalls.0.result.0.functionResponse.response.output": "long"}},
		{"a text is another", agent, append([]string{agentLine("m", saidY+","+thoughtX)}, whole[1:]...), map[string]string{"content": "y", "thoughts.#": "1", "toolCalls.#": "2"}},
		{"thoughts are gone", agent, append([]string{agentLine("m", saidX)}, whole[1:]...), map[string]string{"content": "x", "thoughts.#": "0"}},
		{"the message is gone", agent, whole[1:], map[string]string{"": ""}},
		{"an answer is shorter", agent, []string{whole[0], answerLine("m/results", "p1", `"Exit code 1\nl"`), whole[2]}, map[string]string{
			"toolCalls.0.result.0.functionResponse.response.output": "l", "toolCalls.1.result.0.functionResponse.response.output": "b",
		}},
		{"a call is gone", agent, []string{whole[0], whole[2]}, map[string]string{"toolCalls.#": "1", "toolCalls.0.id": "p2"}},
		{"an error is no output", strings.Replace(agent, `"output":"b"`, `"error":"b"`, 1), whole, map[string]string{
			"toolCalls.1.result.0.functionResponse.response.error": "b", "toolCalls.1.result.0.functionResponse.response.output": "",
		}},
		{"what is no text stays beside a text that does", strings.Replace(user, `{"text":"x"}`, `{"text":"x"},{"inlineData":{"data":"AA=="}}`, 1), whole, map[string]string{
			"content.0.text": "x", "content.1.inlineData.data": "AA==",
		}},
		{"the user's is another", user, []string{userLine("u", "y")}, map[string]string{"content.0.text": "y", "content.#": "1"}},
		{"one answer of a list is gone", answer, []string{whole[0], whole[2]}, map[string]string{"content.#": "1", "content.0.functionResponse.id": "p2"}},
		{"all answers are gone", answer, whole[:1], map[string]string{"": ""}},
		{"what the mirror does not know stays", strings.ReplaceAll(answer, `"p`, `"q`), whole[:1], map[string]string{"content.#": "2"}},
	} {
		got := changedGemini(gjson.Parse(tt.message), mirrored(whole...), mirrored(tt.after...))
		_, gone := tt.want[""]
		if (got == "") != gone {
			t.Errorf("%s: %q", tt.name, got)
		}
		for path, want := range tt.want {
			if v := gjson.Get(got, path); path != "" && v.String() != want {
				t.Errorf("%s: %s is %q, want %q in\n%s", tt.name, path, v.String(), want, got)
			}
		}
	}
}

// What a session file of Gemini CLI leaves the model: each message as it was written last,
// from the last compression on, without the context that is written anew.
func TestGeminiMessages(t *testing.T) {
	t.Parallel()
	const (
		head    = `{"sessionId":"s","kind":"main"}` + "\n"
		context = `{"$set":{"messages":[{"id":"m0","type":"user","content":[{"text":"<session_context>x"}]},{"id":"m1","type":"user","content":[{"text":"kept"}]}]}}` + "\n"
		said    = `{"id":"m2","type":"gemini","content":"I look."}` + "\n"
		again   = `{"id":"m2","type":"gemini","content":"I looked."}` + "\n"
		shared  = `{"id":"m2","type":"user","content":[{"functionResponse":{"id":"c"}}]}` + "\n"
		summary = `{"$set":{"messages":[{"id":"m7","type":"user","content":[{"text":"<state_snapshot>done"}]},{"id":"m8","type":"gemini","content":"Got it."}]}}` + "\n"
	)
	for data, want := range map[string][]string{
		"":                                       nil,
		head + context:                           {"m1 user"},
		head + context + said + again + shared:   {"m1 user", "m2 gemini", "m2 user"},
		head + said + context:                    {"m2 gemini"}, // what there is altogether is known already
		head + context + said + summary:          {"m7 user", "m8 gemini"},
		head + context + said + summary + shared: {"m7 user", "m8 gemini", "m2 user"},
		head + `{"type":"info"}` + "\n":          nil,
	} {
		var got []string
		for _, m := range geminiMessages([]byte(data)) {
			got = append(got, m.Get("id").String()+" "+m.Get("type").String())
			if m.Get("content").String() == "I look." && strings.Contains(data, again) {
				t.Errorf("an older message: %s", m.Raw)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", data, d)
		}
	}
}

// A new id sorts where the old one does and is as long.
func TestLikeID(t *testing.T) {
	t.Parallel()
	for old, head := range map[string]string{"msg_0123456789ababcdefghijklmn": "msg_0123456789ab", "prt_0123456789ab01234567": "prt_0123456789ab"} {
		got := likeID(old)
		if !strings.HasPrefix(got, head) || len(got) != len(old) || got == old || got == likeID(old) {
			t.Errorf("%s: %s", old, got)
		}
	}
	if got := likeID("msg_short"); !strings.HasPrefix(got, "msg_") || len(got) != len("msg_")+26 {
		t.Errorf("%s", got)
	}
}

// Only what the clone adds for the model is its note.
func TestNoteOf(t *testing.T) {
	t.Parallel()
	const note = `{"uuid":"n","isMeta":true,"message":{"content":"NOTE"}}`
	if id, text := noteOf(mirrored(userLine("u", "x")), mirrored(userLine("u", "x"), userLine("v", "y"), note)); id != "n" || text != "NOTE" {
		t.Errorf("%s %q", id, text)
	}
	if id, text := noteOf(mirrored(note), mirrored(note, userLine("v", "y"))); id != "" || text != "" {
		t.Errorf("%s %q", id, text)
	}
}

// writeFile puts a file below a folder.
func writeFile(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

// opencodeHome is a home with a session of opencode's in its database.
func opencodeHome(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		`CREATE TABLE session (id text, parent_id text, slug text, project_id text, directory text, title text, version text, time_created integer, time_updated integer)`,
		`CREATE TABLE message (id text, session_id text, time_created integer, data text)`,
		`CREATE TABLE part (id text, session_id text, message_id text, data text)`,
		`INSERT INTO session VALUES ('ses_1', NULL, 's', 'p', '/work/p', 'the lexer', '1.18.33', 1, 2)`,
		`INSERT INTO message VALUES ('msg_000000000001abcdefghijklmn', 'ses_1', 1000, '{"role":"user","agent":"plan","model":{"modelID":"mine","providerID":"me"},"time":{"created":1000}}')`,
		`INSERT INTO part VALUES ('prt_000000000001abcdefghijklmn', 'ses_1', 'msg_000000000001abcdefghijklmn', '{"type":"text","text":"write a long lexer"}')`,
		`INSERT INTO message VALUES ('msg_000000000002abcdefghijklmn', 'ses_1', 2000, '{"role":"assistant","modelID":"m1","time":{"created":2000,"completed":3000},"tokens":{"input":9,"output":1}}')`,
		`INSERT INTO part VALUES ('prt_000000000002abcdefghijklmn', 'ses_1', 'msg_000000000002abcdefghijklmn', '{"type":"text","text":"I look."}')`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// A clone is handed to opencode's importer as the session that its host has, under new ids,
// which the mirror has from then on; what the importer does not take is an error, and the
// mirror stays as it was.
func TestGiveOpencode(t *testing.T) {
	t.Parallel()
	home, doc, answer, ranIn := opencodeHome(t), "", "Imported session: ses_9", ""
	var fails error
	w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }, Run: func(_ context.Context, dir, program string, args ...string) ([]byte, error) {
		if program != "opencode" || len(args) != 2 || args[0] != "import" {
			return nil, fmt.Errorf("%s %q", program, args)
		}
		b, err := os.ReadFile(args[1])
		doc, ranIn = string(b), dir
		return []byte(answer), errors.Join(err, fails)
	}}
	root := filepath.Join(home, "mirror")
	if err := mirror.Refresh(t.Context(), host.Of(host.Opencode), w.Dir, root, midday); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(root, "opencode", "-work-p", "ses_1.jsonl")
	before, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	const note = "33333333-3333-4333-8333-333333333333"
	clone := strings.NewReplacer("ses_1", "ses_9", "write a long lexer", "lexer").Replace(string(before)) +
		`{"type":"user","isMeta":true,"uuid":"` + note + `","sessionId":"ses_9","message":{"role":"user","content":"NOTE"}}` + "\n"
	path := writeFile(t, clone, root, "opencode", "-work-p", "ses_9.jsonl")
	target, _ := To(string(host.Opencode))
	c := Clone{Source: "ses_1", From: from, ID: "ses_9", Path: path, Title: "copy", CWD: "/work/p", Now: midday}
	if kept, err := target.Give(t.Context(), w, c); err != nil || kept != "" {
		t.Fatalf("%q, %v", kept, err)
	}
	for path, want := range map[string]string{
		"info.id": "ses_9", "info.title": "copy", "info.directory": "/work/p", "messages.#": "3",
		"messages.0.parts.0.text": "lexer", "messages.1.parts.0.text": "I look.", "messages.1.info.modelID": "m1",
		"messages.2.parts.0.text": "NOTE", "messages.2.parts.0.synthetic": "true", "messages.2.info.role": "user",
		"messages.2.info.agent": "plan", "messages.2.info.model.modelID": "mine", "messages.2.info.time.created": "2001", "messages.2.info.sessionID": "ses_9",
	} {
		if got := gjson.Get(doc, path).String(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	now, err := os.ReadFile(path)
	if err != nil || ranIn != "/work/p" || len(now) != len(clone) || strings.Contains(doc, "ses_1") {
		t.Errorf("%v, in %s, %d bytes of %d\n%s", err, ranIn, len(now), len(clone), doc)
	}
	for n, old := range []string{"msg_000000000001abcdefghijklmn", "msg_000000000002abcdefghijklmn", note} {
		id := gjson.Get(doc, fmt.Sprintf("messages.%d.info.id", n)).String()
		if id == old || strings.Contains(doc, old) || !strings.Contains(string(now), `"`+id) || gjson.Get(doc, fmt.Sprintf("messages.%d.parts.0.messageID", n)).String() != id {
			t.Errorf("%s is %s in\n%s\n%s", old, id, doc, now)
		}
	}
	writeFile(t, clone, path)
	for _, bad := range []func(){
		func() { answer = "Imported session: another" },
		func() { answer, fails = "Imported session: ses_9", errors.New("no") },
		func() { fails, c.Source = nil, "ses_2" },
		func() { c.Source, c.From = "ses_1", filepath.Join(root, "gone.jsonl") },
	} {
		bad()
		if _, err := target.Give(t.Context(), w, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
		if now, _ := os.ReadFile(path); string(now) != clone {
			t.Errorf("the mirror has changed: %s", now)
		}
	}
}

// The note of a clone goes behind the newest message, be it the only one; a session in which
// nothing was said has no place for one.
func TestGiveShortSessionsOfOpencode(t *testing.T) {
	t.Parallel()
	home, doc := opencodeHome(t), ""
	w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }, Run: func(_ context.Context, _, _ string, args ...string) ([]byte, error) {
		b, err := os.ReadFile(args[1])
		doc = string(b)
		return []byte("Imported session: ses_9"), err
	}}
	db, err := sql.Open("sqlite", filepath.Join(home, ".local", "share", "opencode", "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		`INSERT INTO session VALUES ('ses_one', NULL, 's', 'p', '/work/p', 'one', '1.18.33', 1, 2)`,
		`INSERT INTO session VALUES ('ses_none', NULL, 's', 'p', '/work/p', 'none', '1.18.33', 1, 2)`,
		`INSERT INTO message VALUES ('msg_000000000003abcdefghijklmn', 'ses_one', 1000, '{"role":"user","time":{"created":1000}}')`,
		`INSERT INTO part VALUES ('prt_000000000003abcdefghijklmn', 'ses_one', 'msg_000000000003abcdefghijklmn', '{"type":"text","text":"Why?"}')`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	target, _ := To(string(host.Opencode))
	for source, want := range map[string][]string{"ses_one": {"Why?", "NOTE"}, "ses_none": nil} {
		from := writeFile(t, "", home, source+".jsonl")
		clone := writeFile(t, `{"type":"user","isMeta":true,"uuid":"33333333-3333-4333-8333-333333333333","message":{"role":"user","content":"NOTE"}}`+"\n", home, "copy-of-"+source)
		_, err := target.Give(t.Context(), w, Clone{Source: source, From: from, ID: "ses_9", Path: clone, Title: "copy", CWD: "/work/p", Now: midday})
		var got []string
		for _, text := range gjson.Get(doc, "messages.#.parts.0.text").Array() {
			got = append(got, text.String())
		}
		if d := cmp.Diff(want, got); err != nil || d != "" || gjson.Get(doc, "info.id").String() != "ses_9" {
			t.Errorf("%s: %v %s\n%s", source, err, d, doc)
		}
	}
}

// A clone of a session of Gemini CLI is a file beside it, which the next look at the host's
// files finds as it was made.
func TestGiveGemini(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const id, copied = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	w := World{Dir: func(_, usual string) string { return filepath.Join(home, usual) }}
	chats := filepath.Join(home, ".gemini", "tmp", "p", "chats")
	writeFile(t, "/work/p", chats, "..", mirror.GeminiRoot)
	writeFile(t, `{"sessionId":"`+id+`","projectHash":"hash","startTime":"2026-03-01T11:00:00.000Z","kind":"main"}
{"id":"m1","timestamp":"2026-03-01T11:00:01.000Z","type":"user","content":[{"text":"write a long lexer"}]}
{"id":"m2","timestamp":"2026-03-01T11:00:02.000Z","type":"gemini","content":"I look.","model":"g"}
`, chats, "session-2026-03-01T11-00-11111111.jsonl")
	root := filepath.Join(home, "mirror")
	if err := mirror.Refresh(t.Context(), host.Of(host.Gemini), w.Dir, root, midday); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(root, "gemini", "-work-p", id+".jsonl")
	before, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	clone := strings.NewReplacer(id, copied, "write a long lexer", "lexer").Replace(string(before)) +
		`{"type":"user","isMeta":true,"uuid":"n1","message":{"role":"user","content":"NOTE"}}` + "\n"
	path := writeFile(t, clone, root, "gemini", "-work-p", copied+".jsonl")
	target, _ := To(string(host.Gemini))
	c := Clone{Source: id, From: from, ID: copied, Path: path, Title: "copy", Now: midday}
	file, err := target.Give(t.Context(), w, c)
	if err != nil || filepath.Dir(file) != chats || strings.Contains(filepath.Base(file), copied[:8]) || !strings.HasPrefix(filepath.Base(file), "session-2026-03-05T12-00-") {
		t.Fatalf("%s, %v", file, err)
	}
	data, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for n, want := range []map[string]string{
		{"sessionId": copied, "projectHash": "hash", "summary": "copy", "kind": "main", "startTime": "2026-03-05T12:00:00.000Z"},
		{"id": "m1", "type": "user", "content.0.text": "lexer"},
		{"id": "m2", "type": "gemini", "content": "I look.", "model": "g"},
		{"id": "n1", "type": "user", "content.0.text": "NOTE", "timestamp": "2026-03-05T12:00:00.000Z"},
	} {
		for path, want := range want {
			if got := gjson.Get(lines[n], path).String(); len(lines) != 4 || got != want {
				t.Errorf("line %d of %d: %s is %q, want %q", n, len(lines), path, got, want)
			}
		}
	}
	mine, err1 := os.Stat(path)
	theirs, err2 := os.Stat(file)
	if err := errors.Join(err1, err2); err != nil || !mine.ModTime().Equal(theirs.ModTime()) {
		t.Errorf("the mirror is not of the file's moment: %v", err)
	}
	for _, bad := range []Clone{{Source: "nobody", From: from, ID: copied, Path: path}, {Source: id, From: from + "x", ID: copied, Path: path}} {
		if _, err := target.Give(t.Context(), w, bad); err == nil {
			t.Errorf("%+v is given", bad)
		}
	}
	if err := target.Remove(t.Context(), w, copied, path); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{file, path} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s stays: %v", gone, err)
		}
	}
	if _, err := os.Stat(from); err != nil {
		t.Error(err)
	}
}

// Clones of hosts whose sessions are files are theirs already.
func TestGiveFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []host.Name{host.ClaudeCode, host.Codex, host.Copilot} {
		target, _ := To(string(name))
		if path, err := target.Give(t.Context(), World{}, Clone{Path: "/c.jsonl"}); err != nil || path != "/c.jsonl" {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
}

// Many tools are one line; of marks that stand for messages several stand on one.
func TestManyToolsAreFolded(t *testing.T) {
	t.Parallel()
	s := &session{cwd: "/w"}
	s.user("Read all of it.")
	for n := range ToolsTold + 6 {
		s.tool("Read", map[string]any{"file_path": fmt.Sprintf("/w/f%d.go", n)})
		s.result("x", n == ToolsTold)
		if n == 2 {
			s.tool("Grep", map[string]any{"pattern": "loader"})
			s.result("The user doesn't want to proceed with this tool use.", true)
		}
	}
	s.agent("Read.")
	told := tell(t, s.write(t), "")
	if len(told.Lines) != 2 || told.Tools != ToolsTold+7 {
		t.Fatalf("%d tools in %+v", told.Tools, told.Lines)
	}
	text := told.Lines[1].Text
	for _, want := range []string{"Grep ×1, Read ×6", "▸ Read: f6.go\n", "▸ Read: f24.go → failed\n", "▸ Read: f29.go\n\nRead."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "f5.go") || strings.Count(text, "▸") != 1+ToolsTold {
		t.Errorf("%s", text)
	}
	if ends := told.Ends(); len(ends) != 2 || !ends[0].User {
		t.Errorf("%+v", ends)
	}
}

// The ends of a talk are its first line and its last turn.
func TestEnds(t *testing.T) {
	t.Parallel()
	line := func(user bool, text string) Line { return Line{User: user, Text: text} }
	a, b, c, d := line(true, "a"), line(false, "b"), line(true, "c"), line(false, "d")
	for _, tt := range []struct{ lines, want []Line }{
		{nil, nil}, {[]Line{a}, []Line{a}}, {[]Line{a, b}, []Line{a, b}}, {[]Line{a, b, c, d}, []Line{a, c, d}}, {[]Line{a, b, c}, []Line{a, c}},
	} {
		if got := (Talk{Lines: tt.lines}).Ends(); !cmp.Equal(got, tt.want, cmp.AllowUnexported(Line{})) {
			t.Errorf("%+v: %+v", tt.lines, got)
		}
	}
}

// A session that stands where one would be made is not written over, and leaves no record.
func TestWhatIsThereIsKept(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	source := work(t.TempDir()).write(t)
	there := writeFile(t, "mine", root, "p", "there.jsonl")
	target, _ := To(string(host.Codex))
	after := 0
	target.path = func(World, Talk) string { return there }
	target.after = func(World, Talk, string) error { after++; return nil }
	w := World{Dir: func(_, usual string) string { return filepath.Join(root, usual) }}
	list := compress.ClonesIn(root)
	_, err := target.Make(t.Context(), w, tell(t, source, compress.CacheIn(root)), source, list)
	if data, _ := os.ReadFile(there); err == nil || !strings.Contains(err.Error(), "already exists") || string(data) != "mine" || len(list.All()) != 0 || after != 0 {
		t.Errorf("%v, %s, %v, after %d", err, data, list.All(), after)
	}
	there = filepath.Join(root, "p", "new.jsonl")
	made, err := target.Make(t.Context(), w, tell(t, source, compress.CacheIn(root)), source, list)
	info, _ := os.Stat(there)
	record := list.All()[made.ID]
	if err != nil || made.Path != there || after != 1 || record.Path != there || record.From != source.Path || record.Created != "2026-03-05T12:00:00Z" || record.Size != info.Size() || record.Tokens == 0 {
		t.Errorf("%+v, %+v, %v", made, record, err)
	}
}

// What Copilot's importer answers has to name one session of its own.
func TestAnswersOfCopilot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	source := work(t.TempDir()).write(t)
	for answer, want := range map[string]string{
		`{"ok":true,"sessionId":"c1"}`: "c1", `warning: old` + "\n" + `{"sessionId":"c1"}`: "c1",
		`{"sessionId":"../c1"}`: "", `{"sessionId":""}`: "", `{"sessionId":"c1"`: "", "": "", "c1": "",
	} {
		w := World{
			Dir: func(_, usual string) string { return filepath.Join(root, usual) },
			Run: func(context.Context, string, string, ...string) ([]byte, error) { return []byte(answer), nil },
		}
		target, _ := To(string(host.Copilot))
		list := compress.ClonesIn(t.TempDir())
		made, err := target.Make(t.Context(), w, tell(t, source, compress.CacheIn(root)), source, list)
		if made.ID != want || (err == nil) != (want != "") || len(list.All()) != len(want)/2 {
			t.Errorf("%s: %+v, %v", answer, made, err)
		}
	}
}

// Where no folder can be made for a session, nothing is put on the list.
func TestNoRoomForASession(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	source := work(t.TempDir()).write(t)
	file := writeFile(t, "", root, "file")
	target, _ := To(string(host.ClaudeCode))
	target.path = func(World, Talk) string { return filepath.Join(file, "p", "s.jsonl") }
	list := compress.ClonesIn(root)
	if _, err := target.Make(t.Context(), World{Dir: func(_, usual string) string { return usual }}, tell(t, source, compress.CacheIn(root)), source, list); err == nil || len(list.All()) != 0 {
		t.Errorf("%v, %v", err, list.All())
	}
}

// Marks that stand for messages stand side by side, other texts apart.
func TestMarksStandTogether(t *testing.T) {
	t.Parallel()
	const a, b = "…#0123abcd", "…#4567abcd"
	for _, tt := range []struct{ texts, want []string }{
		{[]string{a, b}, []string{a + " " + b}},
		{[]string{a, b, a}, []string{a + " " + b + " " + a}},
		{[]string{a + " ×3", "…", b}, []string{a + " ×3 … " + b}},
		{[]string{"x", a}, []string{"x", a}},
		{[]string{a, "x"}, []string{a, "x"}},
		{[]string{"x", "y"}, []string{"x", "y"}},
	} {
		var got []string
		for _, text := range tt.texts {
			got = appendText(got, text)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q: %s", tt.texts, d)
		}
	}
}
