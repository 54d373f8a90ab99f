package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// session is one to be placed: lines as the host's file has them, a whole JSON document
// of an older Gemini CLI, or, for opencode, rows of its database (see [rows]).
type session struct {
	name, project string
	host          host.Name
	id, cwd       string
	data          []byte
}

// home is a temporary one with sessions in it, and our own files.
type home struct {
	dir    string
	now    time.Time
	placed []placed
	db     *sql.DB // of opencode, while sessions are placed
}

type placed struct {
	session
	path string // of the file, or of the database
	hash [32]byte
}

func newHome(now time.Time) (*home, error) {
	dir, err := os.MkdirTemp("", "overtone-corpus-")
	return &home{dir: dir, now: now}, err
}

func (h *home) remove() error { return os.RemoveAll(h.dir) }

// opencodeSchema are the tables of opencode that are read.
var opencodeSchema = []string{
	`CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
		time_created integer NOT NULL, time_updated integer NOT NULL)`,
	`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`,
	`CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id)`,
	`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`,
	`CREATE INDEX part_message_id_id_idx ON part (message_id, id)`,
}

// place puts a session where its host would have it, and has it be an hour old.
func (h *home) place(s session) error {
	sub := map[host.Name]string{
		host.ClaudeCode: filepath.Join(".claude", "projects", dashed(s.cwd), s.id+".jsonl"),
		host.Codex:      filepath.Join(".codex", "sessions", "2026", "01", "01", "rollout-2026-01-01T00-00-00-"+s.id+".jsonl"),
		host.Copilot:    filepath.Join(".copilot", "session-state", s.id, "events.jsonl"),
		host.Gemini:     filepath.Join(".gemini", "tmp", "project", "chats", "session-2026-01-01T00-00-"+short(s.id)+geminiEnding(s.data)),
	}[s.host]
	path := filepath.Join(h.dir, sub)
	if s.host == host.Opencode {
		path = filepath.Join(h.dir, ".local", "share", "opencode", "opencode.db")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	h.placed = append(h.placed, placed{session: s, path: path})
	if s.host == host.Opencode {
		return h.insert(path, s)
	}
	if err := os.WriteFile(path, s.data, 0o600); err != nil {
		return err
	}
	old := h.now.Add(-time.Hour)
	return os.Chtimes(path, old, old)
}

// ready closes what is open and remembers what the sources are.
func (h *home) ready() (err error) {
	if h.db != nil {
		if err := h.db.Close(); err != nil {
			return err
		}
		h.db = nil
	}
	for i := range h.placed {
		if h.placed[i].hash, err = hashOf(h.placed[i].path); err != nil {
			return err
		}
	}
	return nil
}

// changed names the sources that are not what they were.
func (h *home) changed() (list []string) {
	for _, p := range h.placed {
		if now, err := hashOf(p.path); err != nil || now != p.hash {
			list = append(list, p.name)
		}
	}
	return list
}

func hashOf(path string) ([32]byte, error) {
	data, err := os.ReadFile(path)
	return sha256.Sum256(data), err
}

func dashed(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

func short(id string) string { return id[:min(8, len(id))] }

// geminiEnding: the older ones are one document.
func geminiEnding(data []byte) string {
	if _, rest, _ := bytes.Cut(data, []byte("\n")); bytes.HasPrefix(rest, []byte("  ")) {
		return ".json"
	}
	return ".jsonl"
}

// rows are a session of opencode's as lines, table, id, time and data with tabs between
// them, so that lines are changed here as in any other file.
func rows(export []byte) ([]byte, string, error) {
	var doc struct {
		Info     json.RawMessage
		Messages []struct {
			Info  json.RawMessage
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal(export, &doc); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	known := map[string]bool{}
	row := func(table string, v json.RawMessage) string {
		var about struct {
			ID   string
			Time struct{ Created int64 }
		}
		_ = json.Unmarshal(v, &about) // what is not there is empty
		// Where somebody has blackened the ids, they are numbers.
		if known[about.ID] || about.ID == "" || strings.Contains(about.ID, "REDACTED") {
			about.ID = fmt.Sprintf("%.3s_%06d", table, len(known))
		}
		known[about.ID] = true
		fmt.Fprintf(&out, "%s\t%s\t%d\t", table, about.ID, about.Time.Created)
		_ = json.Compact(&out, v) // it was read from JSON
		out.WriteByte('\n')
		return about.ID
	}
	id := row("session", doc.Info)
	for _, m := range doc.Messages {
		row("message", m.Info)
		for _, p := range m.Parts {
			row("part", p)
		}
	}
	return out.Bytes(), id, nil
}

// insert writes rows into opencode's database; a line that is none is left out.
func (h *home) insert(path string, s session) error {
	if h.db == nil {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			return err
		}
		h.db = db
		for _, text := range opencodeSchema {
			if _, err := db.Exec(text); err != nil {
				return err
			}
		}
	}
	tx, err := h.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or the error is told
	updated := h.now.Add(-time.Hour).UnixMilli()
	if _, err = tx.Exec(`INSERT INTO session VALUES (?,'p',NULL,'s',?,'t','1.18.33',1,?)`, s.id, s.cwd, updated); err != nil {
		return err
	}
	message := ""
	for line := range strings.SplitSeq(string(s.data), "\n") {
		f := strings.SplitN(line, "\t", 4)
		if len(f) < 4 {
			continue
		}
		// Ids are told apart by session: the same mutated one may be here many times.
		id := f[1] + "_" + s.id
		switch f[0] {
		case "message":
			message = id
			_, err = tx.Exec(`INSERT OR IGNORE INTO message VALUES (?,?,?,1,?)`, id, s.id, f[2], f[3])
		case "part":
			_, err = tx.Exec(`INSERT OR IGNORE INTO part VALUES (?,?,?,?,1,?)`, id, message, s.id, f[2], f[3])
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// environment is that of every command: this home and nothing of the real one.
func (h *home) environment() map[string]string {
	return map[string]string{"HOME": h.dir, "PATH": os.Getenv("PATH"), "TZ": "UTC", "LANG": "en_US.UTF-8"}
}

// run runs a command in this process.
func (h *home) run(args ...string) (stdout, stderr []byte, code int) {
	var out, errs bytes.Buffer
	env := h.environment()
	code = cli.Main(args, cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: h.dir, Called: "overtone",
		Getenv: func(name string) string { return env[name] },
		Environ: func() (list []string) {
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			return list
		},
		Now:   func() time.Time { return h.now },
		IsTTY: func(uintptr) bool { return false },
		Ancestors: func() ([]terminal.Process, error) {
			return nil, nil
		},
	})
	return out.Bytes(), errs.Bytes(), code
}
