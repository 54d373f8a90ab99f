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

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func opencodeDatabase(find func(variable, usual string) string) string {
	return filepath.Join(find("XDG_DATA_HOME", filepath.Join(".local", "share")), "opencode", "opencode.db")
}

func openDatabase(path string) (*sql.DB, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fmt.Errorf("open %s: not a regular file", path)
	}
	const readOnly = "mode=ro&_pragma=busy_timeout(2000)&_pragma=query_only(1)"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: readOnly}).String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Check says why a host's sessions cannot be read, nil where they can, or where there are
// none. It writes nothing.
func Check(ctx context.Context, h *host.Host, find func(variable, usual string) string) error {
	if h.Name != host.Opencode {
		return nil
	}
	path := opencodeDatabase(find)
	db, err := openDatabase(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	for _, text := range [...]string{
		"id, parent_id, directory, title, version, time_updated FROM session",
		"id, session_id, time_created, data FROM message",
		"id, session_id, message_id, data FROM part",
	} {
		if _, _, err := query(ctx, db, "SELECT "+text+" LIMIT 0"); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return nil
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
	list, _, err := query(ctx, db, `SELECT id, json_object('id', id, 'parentID', parent_id, 'directory', directory, 'title', title, 'version', version, 'updated', time_updated) FROM session`)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	known := map[string]bool{}
	var errs []error
	for _, info := range list {
		m := transcript.OpencodeMirror(root, info)
		known[m.Path] = true
		at := time.UnixMilli(info.Get("updated").Int())
		if m.Fresh(at) {
			continue
		}
		// One session, or one row of it, that cannot be read hides no other.
		err := addOpencode(ctx, db, m)
		if err != nil {
			errs = append(errs, fmt.Errorf("session %s: %w", m.Session, err))
		}
		if err != nil && !errors.As(err, new(malformed)) {
			continue
		}
		if err := m.Stamp(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, forget(mine, known))...)
}

// malformed are the ids of rows whose data is no JSON object. They are left out.
type malformed []string

func (m malformed) Error() string { return "malformed and left out: " + strings.Join(m, ", ") }

// addOpencode mirrors what is new in a session. A [malformed] error comes with all the
// rest mirrored.
func addOpencode(ctx context.Context, db *sql.DB, m transcript.Mirror) error {
	newest := m.Newest()
	for _, since := range []string{newest, ""} {
		messages, bad, err := opencodeMessages(ctx, db, m.Session, since)
		if err != nil {
			return err
		}
		if gap, err := m.Add(transcript.OpencodeMessages(messages, false), since == ""); err != nil {
			return err
		} else if !gap && len(bad) > 0 {
			return bad
		} else if !gap {
			return nil
		}
	}
	return nil
}

// opencodeMessages are a session's messages from one on, "" for all, as the host's
// server tells them, in the order in which they were written: where the clock was set back,
// their times and ids are in another.
func opencodeMessages(ctx context.Context, db *sql.DB, session, since string) ([]gjson.Result, malformed, error) {
	messages, bad, err := query(ctx, db, `SELECT id, CASE WHEN json_valid(data) THEN json_set(data, '$.id', id, '$.sessionID', session_id) END FROM message
		WHERE session_id = ?1 AND (?2 = '' OR rowid >= (SELECT rowid FROM message WHERE id = ?2)) ORDER BY rowid`, session, since)
	if err != nil {
		return nil, nil, err
	}
	for i, info := range messages {
		parts, more, err := query(ctx, db, `SELECT id, CASE WHEN json_valid(data) THEN json_set(data, '$.id', id, '$.sessionID', session_id, '$.messageID', message_id) END
			FROM part WHERE message_id = ? ORDER BY id`, info.Get("id").String())
		if err != nil {
			return nil, nil, err
		}
		bad = append(bad, more...)
		raw := make([]string, len(parts))
		for n, p := range parts {
			raw[n] = p.Raw
		}
		messages[i] = gjson.Parse(`{"info":` + info.Raw + `,"parts":[` + strings.Join(raw, ",") + `]}`)
	}
	return messages, bad, nil
}

// query reads rows of an id and a JSON object each.
func query(ctx context.Context, db *sql.DB, text string, args ...any) (list []gjson.Result, bad malformed, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, data sql.NullString
		if err := rows.Scan(&id, &data); err != nil {
			return nil, nil, err
		}
		if v := gjson.Parse(data.String); v.IsObject() {
			list = append(list, v)
		} else {
			bad = append(bad, id.String)
		}
	}
	return list, bad, rows.Err()
}

// OpencodeSession is a session as `opencode import` takes it: what the host tells of it,
// and its messages.
func OpencodeSession(
	ctx context.Context, find func(variable, usual string) string, session string,
) (info gjson.Result, messages []gjson.Result, err error) {
	db, err := openDatabase(opencodeDatabase(find))
	if err != nil {
		return info, nil, err
	}
	defer db.Close()
	list, _, err := query(ctx, db, `SELECT id, json_object('id', id, 'slug', slug, 'projectID', project_id, 'directory', directory, 'title', title, 'version', version,
		'time', json_object('created', time_created, 'updated', time_updated)) FROM session WHERE id = ?`, session)
	if err != nil || len(list) == 0 {
		return info, nil, errors.Join(err, transcript.ErrNotFound)
	}
	messages, _, err = opencodeMessages(ctx, db, session, "")
	return list[0], messages, err
}
