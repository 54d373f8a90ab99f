//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

func TestMain(m *testing.M) {
	if list, err := claudes(); err == nil && os.Getenv("OVERTONE_E2E_CLAUDE") != "" {
		fmt.Printf("Claude Code %s (verified: %v)\n", list[0], host.Of(host.ClaudeCode).Verified)
	}
	code := m.Run()
	if dir, err := binDir(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}
