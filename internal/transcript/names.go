package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// codexNames is the file in which Codex keeps the names of its threads, as a rollout has
// no place for one. Each naming adds a line, and the last line of a thread counts.
const codexNames = "session_index.jsonl"

// Names are the names of sessions that do not stand in their files, by id; dir is
// the folder of a host's own files.
func Names(dir func(*host.Host) string) map[string]string {
	names := map[string]string{}
	h := host.Of(Copilot)
	spaces, _ := filepath.Glob(filepath.Join(dir(h), h.Sessions.Dir, "*", "workspace.yaml")) // the pattern is a good one
	for _, path := range spaces {
		b, _ := os.ReadFile(path) // one that cannot be read names nothing
		for line := range strings.Lines(string(b)) {
			if name, ok := strings.CutPrefix(line, "name:"); ok {
				names[filepath.Base(filepath.Dir(path))] = yamlText(strings.TrimSpace(name))
			}
		}
	}
	b, _ := os.ReadFile(filepath.Join(dir(host.Of(Codex)), codexNames)) // there may be none
	for line := range bytes.Lines(b) {
		var id, name []byte
		if readObject(bytes.TrimSpace(line), str("id", &id), str("thread_name", &name)) && len(id) > 0 {
			names[unescape(id)] = unescape(name)
		}
	}
	return names
}

// yamlText is a text that stands on one line of YAML, quoted or not; "" for another.
func yamlText(v string) string {
	switch text, err := strconv.Unquote(v); {
	case err == nil && v[0] == '"':
		return text
	case len(v) > 1 && v[0] == '\'' && v[len(v)-1] == '\'':
		return strings.ReplaceAll(v[1:len(v)-1], "''", "'")
	case v == "" || v == "null" || strings.IndexByte("|>\"'&*!", v[0]) >= 0:
		return ""
	}
	return v
}

// NameRollout makes Codex list a rollout under a title; without one a clone looks
// like its source there. One that lies elsewhere is not on its list. Codex appends
// to the file, too: one write at its end is in nobody's way.
func NameRollout(path, id, title string, now time.Time) error {
	file := namesOf(path)
	if title == "" || file == "" {
		return nil
	}
	line := store.Pairs("id", id, "thread_name", title, "updated_at", now.UTC().Format(time.RFC3339Nano))
	return store.AppendLines(file, appendLine(nil, line))
}

// namesOf is where the name of a rollout stands; "" for one that lies elsewhere.
func namesOf(path string) string {
	sessions := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(path))))
	if filepath.Base(sessions) != host.Of(Codex).Sessions.Dir {
		return ""
	}
	return filepath.Join(filepath.Dir(sessions), codexNames)
}

// ForgetName takes the name of a rollout that is gone off Codex's list. Codex may append
// to the list at the same time: then a name that nobody has stays on it.
func ForgetName(path, id string) error {
	file := namesOf(path)
	before, err := os.ReadFile(file)
	if err != nil {
		return ignoreMissing(err)
	}
	var rest []byte
	for line := range bytes.Lines(before) {
		var named []byte
		if !readObject(bytes.TrimSpace(line), str("id", &named)) || unescape(named) != id {
			rest = append(rest, line...)
		}
	}
	if now, err := os.Stat(file); err != nil || now.Size() != int64(len(before)) || len(rest) == len(before) {
		return err
	}
	return store.AtomicWrite(file, rest, 0o600)
}
