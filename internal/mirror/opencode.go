package mirror

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	_ "modernc.org/sqlite" // the driver

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// opencodeDatabase is where opencode keeps its sessions.
func opencodeDatabase(find func(variable, usual string) string) string {
	return filepath.Join(find("XDG_DATA_HOME", filepath.Join(".local", "share")), "opencode", "opencode.db")
}

func openDatabase(path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: "mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)"}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// refreshOpencode mirrors the sessions that have changed, and removes the mirrors of
// those that are gone.
func refreshOpencode(ctx context.Context, path, root, mine string) error {
	db, err := openDatabase(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := query(ctx, db, `SELECT json_object('id', id, 'parentID', parent_id, 'directory', directory, 'title', title, 'version', version, 'updated', time_updated) FROM session`)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	known := map[string]bool{}
	for _, info := range list {
		m := transcript.OpencodeMirror(root, info)
		known[m.Path] = true
		at := time.UnixMilli(info.Get("updated").Int())
		if m.Fresh(at) {
			continue
		}
		if err := addOpencode(ctx, db, m); err != nil {
			return fmt.Errorf("read session %s: %w", m.Session, err)
		}
		if err := m.Stamp(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return forget(mine, known)
}

// addOpencode mirrors what is new in a session.
func addOpencode(ctx context.Context, db *sql.DB, m transcript.Mirror) error {
	newest, _ := m.Newest()
	for _, since := range []string{newest, ""} {
		messages, err := opencodeMessages(ctx, db, m.Session, since)
		if err != nil {
			return err
		}
		if gap, err := m.Add(transcript.OpencodeMessages(messages), since == ""); err != nil || !gap {
			return err
		}
	}
	return nil
}

// opencodeMessages are a session's messages from one on, "" for all, as the host's
// server tells them.
func opencodeMessages(ctx context.Context, db *sql.DB, session, since string) ([]gjson.Result, error) {
	messages, err := query(ctx, db, `SELECT json_set(data, '$.id', id, '$.sessionID', session_id) FROM message
		WHERE session_id = ?1 AND (?2 = '' OR time_created >= (SELECT time_created FROM message WHERE id = ?2)) ORDER BY time_created, id`, session, since)
	if err != nil {
		return nil, err
	}
	for i, info := range messages {
		parts, err := query(ctx, db, `SELECT json_set(data, '$.id', id, '$.sessionID', session_id, '$.messageID', message_id) FROM part WHERE message_id = ? ORDER BY id`, info.Get("id").String())
		if err != nil {
			return nil, err
		}
		raw := make([]string, len(parts))
		for n, p := range parts {
			raw[n] = p.Raw
		}
		messages[i] = gjson.Parse(`{"info":` + info.Raw + `,"parts":[` + strings.Join(raw, ",") + `]}`)
	}
	return messages, nil
}

// query reads rows of one JSON text each.
func query(ctx context.Context, db *sql.DB, text string, args ...any) ([]gjson.Result, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []gjson.Result
	for rows.Next() {
		var data string
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		list = append(list, gjson.Parse(data))
	}
	return list, rows.Err()
}

// OpencodeSession is a session as `opencode import` takes it: what the host tells of it,
// and its messages.
func OpencodeSession(ctx context.Context, find func(variable, usual string) string, session string) (info gjson.Result, messages []gjson.Result, err error) {
	db, err := openDatabase(opencodeDatabase(find))
	if err != nil {
		return info, nil, err
	}
	defer db.Close()
	list, err := query(ctx, db, `SELECT json_object('id', id, 'slug', slug, 'projectID', project_id, 'directory', directory, 'title', title, 'version', version,
		'time', json_object('created', time_created, 'updated', time_updated)) FROM session WHERE id = ?`, session)
	if err != nil || len(list) == 0 {
		return info, nil, errors.Join(err, transcript.ErrNotFound)
	}
	messages, err = opencodeMessages(ctx, db, session, "")
	return list[0], messages, err
}
