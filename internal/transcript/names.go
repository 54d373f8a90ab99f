package transcript

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// codexNames is where Codex keeps the names of its threads: a line each time one is
// named, of which the last counts. A rollout has no room for it.
const codexNames = "session_index.jsonl"

// Names are the names of sessions that do not stand in their files, by id; dir is
// the folder of a host's own files.
func Names(dir func(*host.Host) string) map[string]string {
	names := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir(host.Of(Codex)), codexNames))
	if err != nil {
		return names
	}
	for line := range bytes.Lines(b) {
		var id, name []byte
		if readObject(bytes.TrimSpace(line), str("id", &id), str("thread_name", &name)) && len(id) > 0 {
			names[unescape(id)] = unescape(name)
		}
	}
	return names
}

// nameRollout makes Codex list a rollout under a title; without one a clone looks
// like its source there. One that lies elsewhere is not on its list. Codex appends
// to the file, too: one write at its end is in nobody's way.
func nameRollout(path, id, title string, now time.Time) error {
	sessions := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(path))))
	if title == "" || filepath.Base(sessions) != host.Of(Codex).Sessions.Dir {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(sessions), codexNames), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var line []byte
	last := []byte{0}
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		if _, err := f.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			line = append(line, '\n') // somebody was killed while writing
		}
	}
	line = appendString(append(line, `{"id":`...), id)
	line = appendString(append(line, `,"thread_name":`...), title)
	line = appendString(append(line, `,"updated_at":`...), now.UTC().Format(time.RFC3339Nano))
	_, err = f.Write(append(line, "}\n"...))
	return err
}
