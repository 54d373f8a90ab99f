package team

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// cursor is how far the shipper has come. It may be lost, or older than the truth:
// then the hub is asked.
type cursor struct {
	Schema int `json:"schema"`
	// Hub tells hubs apart: when its stream was made.
	Hub string `json:"hub"`
	// Pos is a place in the hub's stream: what we published up to there has been
	// acknowledged.
	Pos      uint64                `json:"pos"`
	Sessions map[string]store.Mark `json:"sessions"`
	// Work is a digest of what the hub has of where each shared session stands.
	Work map[string]string `json:"work,omitempty"`
	// Lost counts how often a timeline had been trimmed past what was shipped.
	Lost int `json:"lost,omitempty"`
}

func cursorFile(root string) string { return filepath.Join(folder(root), "cursor.json") }

func loadCursor(root string) (cursor, error) {
	c := cursor{Schema: 1, Sessions: map[string]store.Mark{}}
	data, err := os.ReadFile(cursorFile(root))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	var old cursor
	if json.Unmarshal(data, &old) != nil || old.Sessions == nil {
		return c, nil //nolint:nilerr // damaged: as good as lost
	}
	if old.Schema > 1 {
		return c, fmt.Errorf("read %s: written by a newer version (schema %d)", cursorFile(root), old.Schema)
	}
	return old, nil
}

// save does not wait for the disk: what is lost is told again, under the same ids.
func (c cursor) save(root string) error {
	if err := os.MkdirAll(folder(root), 0o700); err != nil {
		return err
	}
	return store.LooseWrite(cursorFile(root), store.EncodeJSON(c), 0o600)
}
