package carry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type geminiLine struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Content   any    `json:"content"`
}

// gemini has no place that is hidden from the person.
func gemini() Target {
	t := known(host.Gemini)
	t.path = func(w World, talk Talk) string {
		dir := w.of(host.Gemini)
		return filepath.Join(dir, "tmp", geminiFolder(dir, realPath(talk.CWD)), "chats", geminiName(talk.Now))
	}
	t.give = giveGemini
	t.remove = func(_ context.Context, w World, id, path string) error {
		if file := mirror.GeminiFile(w.of(host.Gemini), id); file != "" && file != path { // path is our mirror
			if err := os.Remove(file); err != nil {
				return err
			}
		}
		return os.Remove(path)
	}
	t.after = func(_ World, talk Talk, path string) error {
		mark, err := os.OpenFile(filepath.Join(filepath.Dir(filepath.Dir(path)), geminiRoot), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = mark.WriteString(realPath(talk.CWD))
		return errors.Join(err, mark.Close())
	}
	t.write = func(talk Talk) ([]byte, error) {
		out := []any{geminiHead(talk.ID, hash(talk.CWD), talk.Title, talk.Now)}
		for _, l := range append(talk.Lines, Line{User: true, Text: talk.Note, At: talk.Now}) {
			m := geminiLine{transcript.NewID(t.Name, talk.Now), iso(l.At), geminiSaid, l.Text}
			if l.User {
				m.Type, m.Content = "user", geminiTyped(geminiSent(l.Text))
			}
			out = append(out, m)
		}
		return lines(out...)
	}
	return t
}

// geminiName is the name of a session's file. One that ends in the first digits of the
// session's id is deleted by the start that follows a resume: the host takes it for the
// empty file that it made.
func geminiName(now time.Time) string {
	return "session-" + now.UTC().Format("2006-01-02T15-04") + "-" + random(8) + ".jsonl"
}

// geminiHead is the first line of a session. What is older than its retention the host
// deletes, so that all times but those of the messages are of now.
func geminiHead(id, project, title string, now time.Time) map[string]string {
	return map[string]string{"sessionId": id, "projectHash": project, "startTime": iso(now), "lastUpdated": iso(now), "kind": "main", "summary": title}
}

// geminiTyped is the content of a user's message.
func geminiTyped(text string) []map[string]string { return []map[string]string{{"text": text}} }

// geminiSent makes a user's text one that goes to the model: it takes some beginnings
// for commands, and for context of its own.
func geminiSent(text string) string {
	for _, p := range [...]string{"/", "?", "<session_context>", "<hook_context>"} {
		if strings.HasPrefix(strings.TrimSpace(text), p) {
			return "> " + text
		}
	}
	return text
}

func hash(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:])
}

// geminiFolder is the name under which the host keeps what belongs to a folder: the one
// on its list, one that a marker says is the folder's, or a free one of the kind that it
// would choose.
func geminiFolder(dir, cwd string) string {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "projects.json"))
	if err == nil && json.Unmarshal(b, &known) == nil {
		if name := known.Projects[cwd]; name != "" && filepath.Base(name) == name {
			return name
		}
	}
	folders, _ := os.ReadDir(filepath.Join(dir, "tmp")) // there may be none yet
	for _, f := range folders {
		if owner, ok := geminiOwner(dir, f.Name()); ok && owner == cwd {
			return f.Name()
		}
	}
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(cwd)), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := cmp.Or(strings.Join(words, "-"), "project")
	for n, name := 0, slug; ; name = fmt.Sprintf("%s-%d", slug, n) {
		n++
		if _, owned := geminiOwner(dir, name); !owned && !slices.Contains(slices.Collect(maps.Values(known.Projects)), name) {
			return name
		}
	}
}

// geminiRoot is the file in which the host notes whose folder it is.
const geminiRoot = ".project_root"

func geminiOwner(dir, name string) (string, bool) {
	for _, base := range [...]string{"tmp", "history"} {
		if b, err := os.ReadFile(filepath.Join(dir, base, name, geminiRoot)); err == nil {
			return strings.TrimSpace(string(b)), true
		}
	}
	return "", false
}
