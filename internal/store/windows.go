package store

import (
	"encoding/json"
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// windowsFile keeps the context windows of models that a host has told, for
// those that no table knows.
const windowsFile = "windows.json"

// Window is the context window of a model as it was last told; 0 = never.
func (h *Home) Window(model string) int64 { return h.windows()[model] }

// Window is [Home.Window].
func (s *Session) Window(model string) int64 { return s.home.Window(model) }

// windows are the windows by model. A file that cannot be read counts as empty.
func (h *Home) windows() map[string]int64 {
	data, _ := config.ReadFile(filepath.Join(h.root, windowsFile), 1<<20)
	windows := map[string]int64{}
	if json.Unmarshal(data, &windows) != nil || windows == nil {
		return map[string]int64{}
	}
	return windows
}

const maxWindows = 200

// LearnWindow remembers a model's context window. When two sessions write at once, one of
// the windows is lost; its host will report it again.
func (h *Home) LearnWindow(model string, window int64) error {
	windows := h.windows()
	if model == "" || window <= 0 || windows[model] == window {
		return nil
	}
	if len(windows) >= maxWindows {
		clear(windows)
	}
	windows[model] = window
	return AtomicWrite(filepath.Join(h.root, windowsFile), JSONFile(windows), 0o600)
}
