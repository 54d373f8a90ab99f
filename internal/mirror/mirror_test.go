package mirror_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// place is a home with hosts in it.
type place struct {
	t         *testing.T
	dir, root string
	now       time.Time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{t: t, dir: dir, root: filepath.Join(dir, "mirror"), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func (p *place) find(_, usual string) string { return filepath.Join(p.dir, usual) }

func (p *place) agent(name host.Name) carry.Target {
	target, _ := carry.To(string(name))
	return target
}

// world runs the programs that were written to bin.
func (p *place) world() carry.World {
	return carry.World{Dir: p.find, Run: func(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "bin", program), args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return out, err
	}}
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// refresh lists the mirrors of a host, by session, with their lines.
func (p *place) refresh(name host.Name) map[string]string {
	p.t.Helper()
	found, err := p.look(name)
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// look is refresh, with what could not be read.
func (p *place) look(name host.Name) (map[string]string, error) {
	p.t.Helper()
	p.now = p.now.Add(time.Minute)
	problem := mirror.Refresh(context.Background(), host.Of(name), p.find, p.root, p.now)
	found := map[string]string{}
	files, err := transcript.Everything(func(h *host.Host) string {
		if h.Name == name {
			return p.root
		}
		return filepath.Join(p.dir, "none")
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f.Path)
		if err != nil {
			p.t.Fatal(err)
		}
		found[f.ID] = string(data)
	}
	return found, problem
}

// opencodeSchema are the tables of opencode 1.18.33 that are read.
var opencodeSchema = []string{
	`PRAGMA journal_mode=WAL`,
	`CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL, directory text NOT NULL, path text,
		title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text,
		metadata text, cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
		tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL,
		revert text, permission text, agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer)`,
	`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL,
		FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE)`,
	`CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id)`,
	`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
		data text NOT NULL, FOREIGN KEY (message_id) REFERENCES message(id) ON DELETE CASCADE)`,
	`CREATE INDEX part_message_id_id_idx ON part (message_id, id)`,
}

// database makes opencode's.
func (p *place) database() *sql.DB {
	p.t.Helper()
	path := filepath.Join(p.dir, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { db.Close() })
	for _, text := range opencodeSchema {
		p.exec(db, text)
	}
	return db
}

func (p *place) session(db *sql.DB, id string, parent any, title string) {
	p.t.Helper()
	p.exec(db, `INSERT INTO session (id, parent_id, slug, project_id, directory, title, version, time_created, time_updated) VALUES (?,?,'s','p','/work/p',?,'1.18.33',1,2)`, id, parent, title)
}

func (p *place) exec(db *sql.DB, text string, args ...any) {
	p.t.Helper()
	if _, err := db.Exec(text, args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) message(db *sql.DB, session string, n int, info string, parts ...string) {
	p.t.Helper()
	p.row(db, session, n, `{"time":{"created":1772366400000,"completed":1772366401000},`+info+`}`, parts...)
}

// cut is an answer that the host was killed in.
func (p *place) cut(db *sql.DB, session string, n int, parts ...string) {
	p.t.Helper()
	p.row(db, session, n, `{"time":{"created":1772366400000},"role":"assistant","modelID":"m1","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}}`, parts...)
}

func (p *place) row(db *sql.DB, session string, n int, data string, parts ...string) {
	p.t.Helper()
	id, at := fmt.Sprintf("msg_%012dabcdefghijklmn", n), 1_772_366_400_000+n
	p.exec(db, `INSERT INTO message VALUES (?,?,?,?,?)`, id, session, at, at, data)
	for i, part := range parts {
		p.exec(db, `INSERT INTO part VALUES (?,?,?,?,?,?)`, fmt.Sprintf("prt_%012d%dbcdefghijklmn", n, i), id, session, at, at, part)
	}
	p.exec(db, `UPDATE session SET time_updated = ? WHERE id = ?`, at, session)
}

// Sessions of opencode are mirrored from its database, once, as they grow; a mirror
// goes with its session; nothing is written to the database.
func TestRefreshOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if got := p.refresh(host.Opencode); len(got) != 0 {
		t.Errorf("without a database: %v", got)
	}
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.session(db, "ses_2", "ses_1", "")
	p.message(db, "ses_1", 1, `"role":"user"`, `{"type":"text","text":"write a lexer"}`)
	p.message(db, "ses_2", 2, `"role":"user"`, `{"type":"text","text":"of a sub-agent"}`)
	got := p.refresh(host.Opencode)
	if len(got) != 2 || !strings.Contains(got["ses_1"], "write a lexer") || !strings.Contains(got["ses_2"], `"isSidechain":true`) {
		t.Errorf("%v", got)
	}
	p.message(db, "ses_1", 3, `"role":"assistant","modelID":"m1","tokens":{"input":7,"output":1}`, `{"type":"text","text":"there it is"}`)
	again := p.refresh(host.Opencode)
	if !strings.HasPrefix(again["ses_1"], got["ses_1"]) || strings.Count(again["ses_1"], "there it is") != 1 {
		t.Errorf("%s", again["ses_1"])
	}
	p.exec(db, `DELETE FROM session WHERE id = 'ses_1'`)
	if got := p.refresh(host.Opencode); got["ses_1"] != "" || got["ses_2"] == "" {
		t.Errorf("%v", got)
	}
}

const userSays, agentSays = `"role":"user"`, `"role":"assistant","modelID":"m1","tokens":{"input":7,"output":1}`

func text(s string) string { return `{"type":"text","text":"` + s + `"}` }

// An answer that was cut ends that answer, not the session: what came later is mirrored,
// and the tool that was cut with it has an end. The last answer may be under way.
func TestCutAnswerOfOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	p.cut(db, "ses_1", 2, text("I begin"), `{"type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"make"}}}`)
	if got := p.refresh(host.Opencode)["ses_1"]; !strings.Contains(got, "FIRST") || strings.Contains(got, "I begin") {
		t.Errorf("an answer that may be under way\n%s", got)
	}
	p.message(db, "ses_1", 3, userSays, text("SECOND"))
	p.cut(db, "ses_1", 4)
	p.message(db, "ses_1", 5, userSays, text("THIRD"))
	p.message(db, "ses_1", 6, agentSays, text("it is done"))
	p.message(db, "ses_1", 7, userSays, text("FOURTH"))
	p.cut(db, "ses_1", 8, text("under way"))
	got := p.refresh(host.Opencode)["ses_1"]
	var order []string
	for _, want := range []string{"FIRST", "I begin", "[Tool execution was interrupted]", "SECOND", "msg_000000000004", "THIRD", "it is done", "FOURTH"} {
		if strings.Count(got, `"`+want) >= 1 {
			order = append(order, want)
			_, got, _ = strings.Cut(got, `"`+want)
		} else {
			t.Errorf("%q is missing after %v", want, order)
		}
	}
	if strings.Contains(got, "under way") {
		t.Errorf("the last answer is under way, and mirrored\n%s", got)
	}
}

// What was written after the clock was set back is mirrored, too, behind what was there.
func TestClockOfOpencodeIsSetBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 8, userSays, text("FIRST"))
	p.message(db, "ses_1", 9, agentSays, text("done"))
	p.refresh(host.Opencode)
	p.message(db, "ses_1", 3, userSays, text("SECOND"))
	p.message(db, "ses_1", 4, agentSays, text("done again"))
	got := p.refresh(host.Opencode)["ses_1"]
	if first, second := strings.Index(got, "FIRST"), strings.Index(got, "SECOND"); first < 0 || second < first || !strings.Contains(got, "done again") {
		t.Errorf("%s", got)
	}
}

// A mirror that ends with a line too long to be looked at is written anew, not once more.
func TestLongMessageOfOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	p.message(db, "ses_1", 2, agentSays, text(strings.Repeat("x", 4<<20)))
	p.refresh(host.Opencode)
	p.message(db, "ses_1", 3, userSays, text("SECOND"))
	got := p.refresh(host.Opencode)["ses_1"]
	if strings.Count(got, "FIRST") != 1 || strings.Count(got, "SECOND") != 1 || strings.Count(got, `"customTitle"`) != 1 {
		t.Errorf("FIRST %d times, SECOND %d times", strings.Count(got, "FIRST"), strings.Count(got, "SECOND"))
	}
}

// A row that is no JSON hides itself, and is named; the rest of its session and every
// other session is mirrored.
func TestMalformedRowOfOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	for _, id := range []string{"ses_1", "ses_2"} {
		p.session(db, id, nil, "the lexer")
	}
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	p.row(db, "ses_1", 2, `{"role":"assist`, text("nobody's"))
	p.row(db, "ses_1", 3, `[1]`)
	p.message(db, "ses_1", 4, userSays, text("SECOND"), `{"type":`)
	p.message(db, "ses_1", 5, agentSays, text("it is done"))
	p.message(db, "ses_2", 6, userSays, text("THIRD"))
	got, err := p.look(host.Opencode)
	for id, want := range map[string][]string{"ses_1": {"FIRST", "SECOND", "it is done"}, "ses_2": {"THIRD"}} {
		for _, w := range want {
			if !strings.Contains(got[id], w) {
				t.Errorf("%s lacks %s\n%s", id, w, got[id])
			}
		}
	}
	for _, name := range []string{"session ses_1", "msg_000000000002", "msg_000000000003", "prt_0000000000041"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	if _, err := p.look(host.Opencode); err != nil {
		t.Errorf("named again, although nothing has changed: %v", err)
	}
}

// A database that is kept in another way is told, and what was mirrored before stays.
func TestUnknownSchemaOfOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	check := func() error { return mirror.Check(t.Context(), host.Of(host.Opencode), p.find) }
	if err := check(); err != nil {
		t.Errorf("without a database: %v", err)
	}
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	p.refresh(host.Opencode)
	if err := check(); err != nil {
		t.Error(err)
	}
	for _, change := range []string{`ALTER TABLE part RENAME COLUMN data TO body`, `ALTER TABLE session RENAME TO conversation`} {
		p.exec(db, change)
		p.exec(db, `UPDATE message SET time_updated = time_updated + 1`)
		if err := check(); err == nil || !strings.Contains(err.Error(), "opencode.db") || !strings.Contains(err.Error(), "no such") {
			t.Errorf("%s: %v", change, err)
		}
	}
	if got, err := p.look(host.Opencode); err == nil || !strings.Contains(got["ses_1"], "FIRST") {
		t.Errorf("%v %v", got, err)
	}
	if err := mirror.Check(t.Context(), host.Of(host.Gemini), p.find); err != nil {
		t.Error(err)
	}
}

// A clone is the session as the host has it, with what the mirror's clone says
// otherwise, under ids of its own.
func TestImportOpencode(t *testing.T) { // not in parallel: it starts a program that it has just written
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, `"role":"user"`, `{"type":"text","text":"write a long lexer"}`)
	p.message(db, "ses_1", 2, `"role":"assistant","modelID":"m1","tokens":{"input":90000,"output":1}`,
		`{"type":"text","text":"I look."}`, `{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a\nb","metadata":{"exit":2}}}`)
	source := p.refresh(host.Opencode)["ses_1"]
	clone := strings.NewReplacer("ses_1", "ses_9", "write a long lexer", "lexer", `Exit code 2\na\nb`, `Exit code 2\na […]`, `"input_tokens":90000`, `"input_tokens":12`).Replace(source)
	path := filepath.Join(p.root, "opencode", "-work-p", "ses_9.jsonl")
	const note = "33333333-3333-4333-8333-333333333333"
	clone += `{"type":"user","isMeta":true,"uuid":"` + note + `","sessionId":"ses_9","message":{"role":"user","content":"NOTE"}}` + "\n"
	p.write("mirror/opencode/-work-p/ses_9.jsonl", clone)
	p.write("bin/opencode", "#!/bin/sh\ncat \"$2\" > "+filepath.Join(p.dir, "taken")+"\necho Imported session: ses_9\n")
	c := carry.Clone{Now: p.now, Source: "ses_1", From: filepath.Join(p.root, "opencode", "-work-p", "ses_1.jsonl"), ID: "ses_9", Path: path, Title: "copy", CWD: p.dir}
	if _, err := p.agent(host.Opencode).Give(t.Context(), p.world(), c); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(p.dir, "taken"))
	doc := gjson.ParseBytes(data)
	if err != nil || doc.Get("info.id").String() != "ses_9" || doc.Get("info.title").String() != "copy" || strings.Contains(string(data), "ses_1") {
		t.Fatalf("%v %s", err, data)
	}
	for path, want := range map[string]string{
		"messages.0.parts.0.text": "lexer", "messages.1.parts.0.text": "I look.", "messages.1.parts.1.state.output": "a […]",
		"messages.2.parts.0.text": "NOTE", "messages.2.parts.0.synthetic": "true", "messages.1.parts.1.state.input.command": "ls", "messages.1.info.tokens.input": "12", "messages.1.info.modelID": "m1",
	} {
		if got := doc.Get(path).String(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	id := doc.Get("messages.0.info.id").String()
	now, err := os.ReadFile(path)
	if err != nil || len(now) != len(clone) || strings.Contains(string(now), note) || strings.Contains(source, id) || !strings.Contains(string(now), id) || doc.Get("messages.0.parts.0.messageID").String() != id {
		t.Errorf("ids: %v %s\n%s", err, id, now)
	}
	p.write("bin/opencode", "#!/bin/sh\necho \"$@\" > "+filepath.Join(p.dir, "asked")+"\n")
	if err := p.agent(host.Opencode).Remove(t.Context(), p.world(), "ses_9", path); err != nil {
		t.Fatal(err)
	}
	if asked, _ := os.ReadFile(filepath.Join(p.dir, "asked")); string(asked) != "session delete ses_9\n" {
		t.Errorf("asked %q", asked)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the mirror stays: %v", err)
	}
	p.write("mirror/opencode/-work-p/ses_9.jsonl", clone)
	p.write("bin/opencode", "#!/bin/sh\necho Imported session: another\n")
	if _, err := p.agent(host.Opencode).Give(t.Context(), p.world(), c); err == nil || !strings.Contains(err.Error(), "not taken") {
		t.Errorf("%v", err)
	}
	p.write("bin/opencode", "#!/bin/sh\necho no >&2\nexit 1\n")
	if _, err := p.agent(host.Opencode).Give(t.Context(), p.world(), c); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("%v", err)
	}
}

const geminiChat = `{"sessionId":"11111111-1111-4111-8111-111111111111","projectHash":"x","startTime":"2026-03-01T11:00:00.000Z","lastUpdated":"2026-03-01T11:00:00.000Z","kind":"main"}
{"$set":{"messages":[{"id":"m0","timestamp":"2026-03-01T11:00:00.000Z","type":"user","content":[{"text":"<session_context>x</session_context>"}]}]}}
{"id":"m1","timestamp":"2026-03-01T11:00:01.000Z","type":"user","content":[{"text":"write a long lexer"}]}
{"id":"m2","timestamp":"2026-03-01T11:00:02.000Z","type":"gemini","content":"I look.","tokens":{"input":9,"output":1,"cached":0},"model":"gemini-2.5-pro"}
{"id":"m2","timestamp":"2026-03-01T11:00:02.000Z","type":"gemini","content":"I look.","tokens":{"input":9,"output":1,"cached":0},"model":"gemini-2.5-pro","toolCalls":[{"id":"c1","name":"read_file","args":{"file_path":"a"},"result":[{"functionResponse":{"id":"c1","response":{"output":"long text"}}}],"status":"success"}]}
{"id":"m3","timestamp":"2026-03-01T11:00:03.000Z","type":"user","content":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"long text"}}}]}
{"$set":{"summary":"the lexer"}}
`

// Session files of Gemini CLI are mirrored; a clone is a file beside them, whose name
// does not end like its session's id.
func TestGeminiFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
	p.write(".gemini/tmp/p/chats/session-2026-03-01T11-00-11111111.jsonl", geminiChat)
	p.write(".gemini/tmp/p/chats/session-2026-03-01T11-05-11111111.jsonl", strings.SplitAfterN(geminiChat, "\n", 2)[0])
	const id, copied = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	source := p.refresh(host.Gemini)[id]
	if n := strings.Count(source, "\n"); n != 5 || !strings.Contains(source, `"cwd":"/work/p"`) || !strings.Contains(source, `"customTitle":"the lexer"`) {
		t.Errorf("%d lines\n%s", n, source)
	}
	p.write("mirror/gemini/-work-p/"+copied+".jsonl", strings.NewReplacer(id, copied, "write a long lexer", "lexer", "long text", "short").Replace(source))
	c := carry.Clone{Now: p.now, Source: id, From: filepath.Join(p.root, "gemini", "-work-p", id+".jsonl"), ID: copied, Path: filepath.Join(p.root, "gemini", "-work-p", copied+".jsonl"), Title: "copy"}
	if _, err := p.agent(host.Gemini).Give(t.Context(), p.world(), c); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(p.dir, ".gemini/tmp/p/chats/session-2026-03-01T12-*.jsonl"))
	if len(files) != 1 || strings.Contains(files[0], copied[:8]) {
		t.Fatalf("files: %v", files)
	}
	data, err := os.ReadFile(files[0])
	text := string(data)
	if err != nil || !strings.Contains(text, copied) || !strings.Contains(text, `"text":"lexer"`) || strings.Contains(text, "long") || strings.Count(text, "short") != 2 || strings.Contains(text, "session_context") {
		t.Errorf("%v\n%s", err, text)
	}
	if got := p.refresh(host.Gemini); len(got) != 2 || !strings.Contains(got[copied], "short") {
		t.Errorf("%v", got)
	}
	if err := p.agent(host.Gemini).Remove(t.Context(), p.world(), copied, c.Path); err != nil {
		t.Fatal(err)
	}
	if got := p.refresh(host.Gemini); len(got) != 1 || got[id] == "" {
		t.Errorf("%v", got)
	}
}

// After a resume a session has two files, one of them empty: whichever is older, the other
// one is mirrored. The mirror is of its file's moment, so that it is not written again.
func TestTwoFilesOfOneGeminiSession(t *testing.T) {
	t.Parallel()
	const id = "11111111-1111-4111-8111-111111111111"
	head := strings.SplitAfterN(geminiChat, "\n", 2)[0]
	for _, texts := range [][2]string{{geminiChat, head}, {head, geminiChat}} {
		p := newPlace(t)
		p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
		var full string
		for n, text := range texts {
			path := p.write(fmt.Sprintf(".gemini/tmp/p/chats/session-2026-03-01T11-0%d-11111111.jsonl", n), text)
			if err := os.Chtimes(path, p.now, p.now.Add(time.Duration(n-5)*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if text == geminiChat {
				full = path
			}
		}
		if got := p.refresh(host.Gemini); len(got) != 1 || strings.Count(got[id], "\n") != 5 {
			t.Errorf("%d sessions, %d lines", len(got), strings.Count(got[id], "\n"))
		}
		theirs, err1 := os.Stat(full)
		mine, err2 := os.Stat(filepath.Join(p.root, "gemini", "-work-p", id+".jsonl"))
		if err := errors.Join(err1, err2); err != nil || mine.ModTime().Sub(theirs.ModTime()).Abs() > time.Millisecond {
			t.Errorf("the mirror is of another moment: %v", err)
		}
	}
}

// A sub-agent's file lies in a folder of its session's name, and has a mirror of its own.
func TestSubAgentOfGemini(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if got := p.refresh(host.Gemini); len(got) != 0 {
		t.Errorf("without the host: %v", got)
	}
	const id = "11111111-1111-4111-8111-111111111111"
	p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
	p.write(".gemini/tmp/p/chats/session-2026-03-01T11-00-11111111.jsonl", geminiChat)
	p.write(".gemini/tmp/p/chats/"+id+"/look.jsonl", `{"sessionId":"look","projectHash":"x","kind":"subagent"}
{"id":"s1","timestamp":"2026-03-01T11:00:01.000Z","type":"user","content":[{"text":"of a sub-agent"}]}
`)
	p.refresh(host.Gemini)
	files, _ := filepath.Glob(filepath.Join(p.root, "gemini", "*", "*", "*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("mirrors of sub-agents: %v", files)
	}
	if data, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(data), "of a sub-agent") {
		t.Errorf("%v, %s", err, data)
	}
}

// A mirror that is as old as its session is not written again; one of a session that
// changed is.
func TestFreshMirrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
	chat := p.write(".gemini/tmp/p/chats/session-2026-03-01T11-00-11111111.jsonl", geminiChat)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	for name, c := range map[host.Name]struct {
		id     string
		change func()
	}{
		host.Gemini:   {"11111111-1111-4111-8111-111111111111", func() { _ = os.Chtimes(chat, p.now, p.now) }},
		host.Opencode: {"ses_1", func() { p.message(db, "ses_1", 2, agentSays, text("done")) }},
	} {
		p.refresh(name)
		files, _ := filepath.Glob(filepath.Join(p.root, string(name), "*", c.id+".jsonl"))
		if len(files) != 1 {
			t.Fatalf("%s: %v", name, files)
		}
		was, err := os.Stat(files[0])
		if err == nil {
			err = errors.Join(os.WriteFile(files[0], []byte("as it is"), 0o600), os.Chtimes(files[0], was.ModTime(), was.ModTime()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := p.refresh(name)[c.id]; got != "as it is" {
			t.Errorf("%s: written again: %s", name, got)
		}
		c.change()
		if got := p.refresh(name)[c.id]; got == "as it is" {
			t.Errorf("%s: the session changed, its mirror did not", name)
		}
	}
}

// What could not be read counts as not seen: the next look reads it.
func TestReadAgainAfterAnError(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, userSays, text("FIRST"))
	p.refresh(host.Opencode)
	p.message(db, "ses_1", 2, agentSays, text("done"))
	p.exec(db, `ALTER TABLE part RENAME TO elsewhere`)
	if _, err := p.look(host.Opencode); err == nil || !strings.Contains(err.Error(), "ses_1") {
		t.Errorf("without its parts: %v", err)
	}
	p.exec(db, `ALTER TABLE elsewhere RENAME TO part`)
	if got := p.refresh(host.Opencode)["ses_1"]; !strings.Contains(got, "done") {
		t.Errorf("%s", got)
	}
}

// geminiWhole is a session as versions before wrote it.
const geminiWhole = `{
  "sessionId": "44444444-4444-4444-8444-444444444444",
  "projectHash": "x",
  "messages": [
    {"id": "m1", "timestamp": "2026-01-22T19:41:13.809Z", "type": "user", "content": "write a long lexer"},
    {"id": "m2", "timestamp": "2026-01-22T19:41:14.809Z", "type": "info", "content": "an update is there"},
    {"id": "m3", "timestamp": "2026-01-22T19:41:15.809Z", "type": "gemini", "content": "I look.", "model": "gemini-2.5-flash",
      "tokens": {"input": 21326, "output": 37, "cached": 0, "thoughts": 44},
      "toolCalls": [{"id": "c1", "name": "read_file", "args": {"file_path": "a"}, "result": [{"functionResponse": {"id": "c1", "response": {"output": "long text"}}}]}]},
    {"id": "m4", "timestamp": "2026-01-22T19:41:16.809Z", "type": "user", "content": "<state_snapshot>what was done</state_snapshot>"},
    {"id": "m5", "timestamp": "2026-01-22T19:41:17.809Z", "type": "user", "content": "and now the parser"}
  ],
  "summary": "the lexer",
  "kind": "main"
}`

// A session that is one object is a session like any other: it is mirrored, and can be
// cloned; lines that go on with it count instead. One that is cut is named, and hides
// no other.
func TestWholeGeminiFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const id, copied, chats = "44444444-4444-4444-8444-444444444444", "22222222-2222-4222-8222-222222222222", ".gemini/tmp/p/chats/"
	p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
	p.write(chats+"session-2026-01-22T19-41-44444444.json", geminiWhole)
	p.write(chats+"session-2026-01-23T19-41-44444444.jsonl", `{"sessionId":"`+id+`","projectHash":"x","kind":"main"}`+"\n")
	p.write(chats+"session-2026-01-22T19-50-55555555.json", geminiWhole[:200])
	got, err := p.look(host.Gemini)
	source := got[id]
	for _, want := range []string{`"cwd":"/work/p"`, `"customTitle":"the lexer"`, "write a long lexer", "I look.", `"input_tokens":21326`, `"output_tokens":81`, "long text", "compact_boundary", "what was done", "and now the parser"} {
		if !strings.Contains(source, want) {
			t.Errorf("%q is missing in\n%s", want, source)
		}
	}
	if len(got) != 1 || strings.Contains(source, "update") || err == nil || !strings.Contains(err.Error(), "55555555.json") {
		t.Errorf("%d sessions, %v\n%s", len(got), err, source)
	}
	p.write("mirror/gemini/-work-p/"+copied+".jsonl", strings.NewReplacer(id, copied, "and now the parser", "parser").Replace(source))
	c := carry.Clone{Now: p.now, Source: id, From: filepath.Join(p.root, "gemini", "-work-p", id+".jsonl"), ID: copied, Path: filepath.Join(p.root, "gemini", "-work-p", copied+".jsonl"), Title: "copy"}
	path, err := p.agent(host.Gemini).Give(t.Context(), p.world(), c)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), `"text":"parser"`) || strings.Contains(string(data), "write a long lexer") || !strings.Contains(string(data), "what was done") {
		t.Errorf("%v\n%s", err, data)
	}
	p.write(chats+"session-2026-01-24T19-41-44444444.jsonl", `{"sessionId":"`+id+`","projectHash":"x","kind":"main"}
{"id":"m9","timestamp":"2026-01-24T11:00:01.000Z","type":"user","content":[{"text":"gone on"}]}
`)
	if got, _ := p.look(host.Gemini); !strings.Contains(got[id], "gone on") || strings.Contains(got[id], "I look.") {
		t.Errorf("%s", got[id])
	}
}

// A file that is no session of Gemini CLI's, and a folder that cannot be listed, are named;
// what has a session's name and is no file is nobody's.
func TestGeminiFilesThatAreNone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const id, chats = "44444444-4444-4444-8444-444444444444", ".gemini/tmp/p/chats/"
	p.write(chats+"session-2026-01-23T19-41-44444444.jsonl", `{"sessionId":"`+id+`","directories":["/work/p"]}
{"id":"m9","timestamp":"2026-01-24T11:00:01.000Z","type":"user","content":[{"text":"hello"}]}
`)
	p.write(chats+"session-empty.jsonl", "")
	p.write(chats+"session-folder.jsonl/x", "")
	p.write(chats+"session-folder.json/x", "")
	p.write(".gemini/tmp/a-file", "")
	if got := p.refresh(host.Gemini); len(got) != 1 || !strings.Contains(got[id], "hello") {
		t.Errorf("%v", got)
	}
	p.write(chats+"session-nothing.jsonl", "\x00\x00\x00\n")
	p.write(".gemini/tmp/q/chats", "")
	got, err := p.look(host.Gemini)
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "session-nothing.jsonl") || !strings.Contains(err.Error(), filepath.Join("q", "chats")) {
		t.Errorf("%v, %v", err, got)
	}
	if err := os.Rename(filepath.Join(p.dir, ".gemini", "tmp"), filepath.Join(p.dir, "away")); err != nil {
		t.Fatal(err)
	}
	p.write(".gemini/tmp", "")
	if got, err := p.look(host.Gemini); err == nil || len(got) != 1 {
		t.Errorf("what was mirrored before does not stay: %v, %v", err, got)
	}
}

// What is in the database's place and no file is named, and not waited for.
func TestNoDatabaseOfOpencode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".local/share/opencode/opencode.db/x", "")
	_, err1 := p.look(host.Opencode)
	err2 := mirror.Check(t.Context(), host.Of(host.Opencode), p.find)
	_, _, err3 := mirror.OpencodeSession(t.Context(), p.find, "ses_1")
	for _, err := range []error{err1, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Error(err)
		}
	}
}

// Whose folder a name of Gemini CLI's stands for is said by its list, or by a marker in one
// of two places; without either its sessions have none.
func TestGeminiOwners(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const chat = `{"sessionId":"ID","kind":"main"}` + "\n" + `{"id":"m1","timestamp":"2026-03-01T11:00:01.000Z","type":"user","content":[{"text":"hello"}]}` + "\n"
	p.write(".gemini/projects.json", `{"projects":{"/work/listed":"listed"}}`)
	p.write(".gemini/tmp/marked/.project_root", "/work/marked\n")
	p.write(".gemini/history/older/.project_root", "/work/older")
	for _, name := range []string{"listed", "marked", "older", "none"} {
		p.write(".gemini/tmp/"+name+"/chats/session-2026-03-01T11-00-"+name+".jsonl", strings.Replace(chat, "ID", name, 1))
	}
	got := p.refresh(host.Gemini)
	for name, cwd := range map[string]string{"listed": `"cwd":"/work/listed"`, "marked": `"cwd":"/work/marked"`, "older": `"cwd":"/work/older"`, "none": `"type":"user"`} {
		if !strings.Contains(got[name], cwd) || name == "none" && strings.Contains(got[name], "cwd") {
			t.Errorf("%s: %s", name, got[name])
		}
	}
	dir := filepath.Join(p.dir, ".gemini")
	if owner, ok := mirror.GeminiOwner(dir, "older"); owner != "/work/older" || !ok {
		t.Errorf("%s %v", owner, ok)
	}
	if _, ok := mirror.GeminiOwner(dir, "none"); ok {
		t.Error("an owner of nothing")
	}
	if file := mirror.GeminiFile(dir, "marked"); filepath.Base(file) != "session-2026-03-01T11-00-marked.jsonl" || mirror.GeminiFile(dir, "nobody") != "" {
		t.Errorf("%s", file)
	}
	if projects := mirror.GeminiProjects(dir); len(projects) != 1 || projects["listed"] != "/work/listed" {
		t.Errorf("%v", projects)
	}
	if err := os.Remove(filepath.Join(dir, "tmp", "none", "chats", "session-2026-03-01T11-00-none.jsonl")); err != nil {
		t.Fatal(err)
	}
	if got := p.refresh(host.Gemini); len(got) != 3 || got["none"] != "" {
		t.Errorf("%d mirrors", len(got))
	}
}

// A session as the importer takes it is all that the host's database has of it.
func TestOpencodeSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	db := p.database()
	p.session(db, "ses_1", nil, "the lexer")
	p.message(db, "ses_1", 1, `"role":"user"`, text("hello"), text("again"))
	p.message(db, "ses_1", 2, `"role":"assistant"`, text("I look."))
	info, messages, err := mirror.OpencodeSession(t.Context(), p.find, "ses_1")
	if err != nil || len(messages) != 2 || info.Get("id").String() != "ses_1" || info.Get("title").String() != "the lexer" || info.Get("projectID").String() != "p" || info.Get("time.updated").Int() == 0 {
		t.Fatalf("%s, %d messages, %v", info.Raw, len(messages), err)
	}
	first := messages[0]
	if first.Get("info.sessionID").String() != "ses_1" || first.Get("parts.#").Int() != 2 || first.Get("parts.1.text").String() != "again" || first.Get("parts.0.messageID").String() != first.Get("info.id").String() {
		t.Errorf("%s", first.Raw)
	}
	if _, _, err := mirror.OpencodeSession(t.Context(), p.find, "ses_2"); err == nil {
		t.Error("a session of nobody")
	}
	if err := mirror.Check(t.Context(), host.Of(host.Opencode), p.find); err != nil {
		t.Error(err)
	}
	if err := mirror.Check(t.Context(), host.Of(host.Opencode), func(_, usual string) string { return filepath.Join(p.dir, "none", usual) }); err != nil {
		t.Errorf("no database: %v", err)
	}
	p.exec(db, `DROP TABLE part`)
	if err := mirror.Check(t.Context(), host.Of(host.Opencode), p.find); err == nil || !strings.Contains(err.Error(), "opencode.db") {
		t.Errorf("a database without parts: %v", err)
	}
	if err := mirror.Check(t.Context(), host.Of(host.Gemini), p.find); err != nil {
		t.Error(err)
	}
	if _, _, err := mirror.OpencodeSession(t.Context(), p.find, "ses_1"); err == nil {
		t.Error("messages without parts")
	}
}

// A look is good for two seconds, and not for one that was taken later.
func TestOftenLookedAt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".gemini/projects.json", `{"projects":{"/work/p":"p"}}`)
	p.write(".gemini/tmp/p/chats/session-2026-03-01T11-00-11111111.jsonl", geminiChat)
	const id = "11111111-1111-4111-8111-111111111111"
	mirrors := func(after time.Duration) int {
		t.Helper()
		if err := mirror.Refresh(t.Context(), host.Of(host.Gemini), p.find, p.root, p.now.Add(after)); err != nil {
			t.Fatal(err)
		}
		found, _ := filepath.Glob(filepath.Join(p.root, "gemini", "*", id+".jsonl"))
		return len(found)
	}
	if n := mirrors(0); n != 1 {
		t.Fatalf("%d mirrors", n)
	}
	if err := os.RemoveAll(filepath.Join(p.root, "gemini")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{2*time.Second - 1, 0}, {2 * time.Second, 1}, {0, 1}} {
		if n := mirrors(step.after); n != step.want {
			t.Errorf("after %v: %d mirrors", step.after, n)
		}
	}
}

// A place that cannot hold mirrors is no reason to fail where there is nothing to mirror.
func TestNoPlaceForMirrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.root = filepath.Join(p.write("a-file", "x"), "mirror")
	if err := mirror.Refresh(t.Context(), host.Of(host.Gemini), p.find, p.root, p.now); err != nil {
		t.Error(err)
	}
}
