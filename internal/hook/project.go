package hook

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// NewWorkflowID names a run: its time, so that ids sort, and some randomness.
func NewWorkflowID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// DetectEnvironment reads off the project's manifest files what it is made of.
// It is asked once, when a workflow starts.
func DetectEnvironment(root string) workflow.Environment {
	if root == "" {
		return workflow.Environment{}
	}
	return workflow.DetectEnvironment(func(name string) (string, bool) {
		data, err := config.ReadFile(filepath.Join(root, name), 1<<20)
		return string(data), err == nil
	})
}
