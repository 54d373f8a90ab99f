package compress

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Accepted is one accepted result. It keeps the original too, so that recall
// works when the host has cleaned the source away.
type Accepted struct {
	Original string `json:"original"`
	Result   string `json:"result"`
	Level    Level  `json:"level"`
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// Cache remembers accepted results by content, so that a second run pays
// nothing and a result is known when it is met again.
type Cache interface {
	Get(key string) (Accepted, bool)
	Put(key string, r Accepted) error
	// Made finds the record whose result is exactly text.
	Made(text string) (Accepted, bool)
}

// cacheVersion changes when prompts or checks change so much that old results
// should not be reused.
const cacheVersion = "1"

func cacheKey(provider string, r Request) string {
	h := sha256.New()
	for _, s := range []string{cacheVersion, provider, r.Model, string(r.Level), fmt.Sprint(r.TargetPercent, r.Large), r.Role, r.Text} {
		fmt.Fprintf(h, "%d:%s;", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func textHash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// Dir is a cache in a folder: one file per record, named by its key, and one
// pointer per result. Files appear whole or not at all.
type Dir string

// CacheIn is the cache below our folder.
func CacheIn(root string) Dir { return Dir(filepath.Join(root, "compress")) }

func (d Dir) Get(key string) (Accepted, bool) {
	var r Accepted
	b, err := os.ReadFile(d.path(key, ".json"))
	if err != nil || json.Unmarshal(b, &r) != nil || r.Result == "" {
		return Accepted{}, false
	}
	return r, true
}

func (d Dir) Put(key string, r Accepted) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := d.write(d.path(key, ".json"), b); err != nil {
		return fmt.Errorf("cache result: %w", err)
	}
	// The original's own hash leads back to it: two originals may have one result.
	for name, ext := range map[string]string{textHash(r.Result): ".ref", textHash(r.Original): ".org"} {
		if err := d.write(d.path(name, ext), []byte(key)); err != nil {
			return fmt.Errorf("cache result: %w", err)
		}
	}
	return nil
}

// cached finds the original of a model's result by the first digits of its hash.
func (d Dir) cached(digits string) (string, bool) {
	// Not a glob: a home may have brackets in its name.
	files, err := os.ReadDir(filepath.Join(string(d), digits[:2]))
	if err != nil {
		return "", false
	}
	found := slices.DeleteFunc(files, func(f os.DirEntry) bool {
		return !strings.HasPrefix(f.Name(), digits) || filepath.Ext(f.Name()) != ".org"
	})
	if len(found) != 1 {
		return "", false
	}
	key, err := os.ReadFile(filepath.Join(string(d), digits[:2], found[0].Name()))
	if err != nil || len(key) != 2*sha256.Size {
		return "", false
	}
	r, ok := d.Get(string(key))
	return r.Original, ok && strings.HasPrefix(textHash(r.Original), digits)
}

func (d Dir) Made(text string) (Accepted, bool) {
	key, err := os.ReadFile(d.path(textHash(text), ".ref"))
	if err != nil || len(key) != 2*sha256.Size {
		return Accepted{}, false
	}
	r, ok := d.Get(string(key))
	return r, ok && r.Result == text
}

func (d Dir) path(key, ext string) string {
	return filepath.Join(string(d), key[:2], filepath.Base(key)+ext)
}

func (d Dir) write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return store.LooseWrite(path, b, 0o600)
}
