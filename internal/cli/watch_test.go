package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Row 14 of the Codex findings: who has never been asked for a language gets
// packets in that of his locale; who has been, in the one he chose.
func TestCodexRow14_PacketsFollowTheLocale(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		locale, config, variable string
		want                     message.Lang
	}{
		{"en_US.UTF-8", "", "", message.EN},
		{"zh_TW.UTF-8", "", "", message.ZH},
		{"en_US.UTF-8", "language: zh-TW\n", "", message.ZH},
		{"zh_TW.UTF-8", "language: en\n", "", message.EN},
		{"en_US.UTF-8", "", "zh-TW", message.ZH},
	} {
		home := t.TempDir()
		if row.config != "" {
			if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(row.config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		vars := map[string]string{"HOME": home, "OVERTONE_HOME": home, "LANG": row.locale, "OVERTONE_LANG": row.variable}
		env := Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(k string) string { return vars[k] }, Now: time.Now, Dir: home}
		o, err := newApp("overtone", env).watchOptions(watchFlags{})
		if err != nil || o.Lang != row.want {
			t.Errorf("%+v: %s, %v", row, o.Lang, err)
		}
	}
}
