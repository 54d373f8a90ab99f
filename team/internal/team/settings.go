package team

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Settings say which hub a machine belongs to, and who it is there. They hold
// keys: the file is its user's alone.
type Settings struct {
	Schema  int      `json:"schema"`
	Machine string   `json:"machine"`
	Tenant  string   `json:"tenant,omitempty"`
	Hub     []string `json:"hub"`
	// CA is the certificate that the hub's is checked against; "" for the system's.
	CA string `json:"ca,omitempty"`
	// Seed is the machine's nkey; Creds a credentials file, on a hub of somebody else's.
	Seed  string `json:"seed,omitempty"`
	Creds string `json:"creds,omitempty"`
	// Identity opens what is encrypted for the team, Recipients is whom it is encrypted for.
	Identity   string   `json:"identity,omitempty"`
	Recipients []string `json:"recipients,omitempty"`
	// Share lists the folders whose sessions' content may leave the machine.
	Share []string `json:"share,omitempty"`
	// Replicas is how many nodes keep each stream.
	Replicas int `json:"replicas,omitempty"`
}

const settingsSchema = 1

// folder is where everything of the team lies below $OVERTONE_HOME.
func folder(root string) string { return filepath.Join(root, "team") }

func settingsFile(root string) string { return filepath.Join(folder(root), "team.json") }

// Load reads the settings of a machine that has joined; of one that has not, the
// error says how.
func Load(root string) (Settings, error) {
	data, err := config.ReadFile(settingsFile(root), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, message.WithHint(message.Fail(message.TeamNone), message.HintTeamNone)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read %s: %w", settingsFile(root), err)
	}
	s, err := Parse(data)
	if err != nil {
		return s, fmt.Errorf("read %s: %w", settingsFile(root), err)
	}
	return s, nil
}

// Joined reports whether the machine belongs to a hub.
func Joined(root string) bool {
	_, err := os.Lstat(settingsFile(root))
	return err == nil
}

// Parse reads settings, or an invitation: they have one form.
func Parse(data []byte) (Settings, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, err
	}
	if s.Schema > settingsSchema {
		return s, fmt.Errorf("written by a newer version (schema %d)", s.Schema)
	}
	return s, s.check()
}

func (s Settings) check() error {
	if !ValidMachine(s.Machine) {
		return message.WithHint(message.Fail(message.TeamBadMachine, s.Machine), message.HintTeamMachine)
	}
	if len(s.Hub) == 0 {
		return message.Fail(message.TeamNoHub)
	}
	return nil
}

// Save writes the settings.
func (s Settings) Save(root string) error {
	s.Schema = settingsSchema
	if err := s.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder(root), 0o700); err != nil {
		return err
	}
	return store.AtomicWrite(settingsFile(root), s.Encode(), 0o600)
}

// Encode is the settings as a file.
func (s Settings) Encode() []byte {
	s.Schema = settingsSchema
	return store.JSONFile(s)
}

// shares reports whether the content of a session in that folder may leave.
func (s Settings) shares(cwd string) bool {
	if cwd == "" {
		return false
	}
	for _, dir := range s.Share {
		rel, err := filepath.Rel(dir, cwd)
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// ValidMachine accepts names that are one token of a subject and a file name.
func ValidMachine(name string) bool {
	return name != "" && len(name) <= 63 && strings.Trim(name, tokenBytes) == ""
}

// ValidToken accepts what can stand for a machine or a session in a subject.
func ValidToken(name string) bool {
	return name != "" && len(name) <= 128 && strings.Trim(name, tokenBytes) == ""
}

const tokenBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// MachineName makes a valid name of a host's.
func MachineName(host string) string {
	host, _, _ = strings.Cut(host, ".")
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(tokenBytes, r) {
			return r
		}
		return '-'
	}, host)
	if name = strings.Trim(name, "-"); name == "" {
		return "machine"
	}
	return name[:min(len(name), 63)]
}
