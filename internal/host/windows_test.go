package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The window is that of the model which the host reports; of one that nobody
// knows nothing is said.
func TestModelWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  int64
	}{
		{[]string{"claude-opus-5-5"}, 1_000_000},
		{[]string{"claude-sonnet-4-5"}, 200_000},
		{[]string{"claude-sonnet-4-5-20250929"}, 200_000},
		{[]string{"claude-opus-4-20250514"}, 200_000},
		{[]string{"us.anthropic.claude-sonnet-4-5-20250929-v1:0"}, 200_000},
		{[]string{"claude-sonnet-4-5[1m]"}, 1_000_000},
		{[]string{"", "claude-haiku-5-5@20261001"}, 1_000_000},
		{[]string{"claude-opus-4-9"}, 0},
		{[]string{"gemini-2.5-pro"}, 1_048_576},
		{[]string{"models/gemini-3.1-pro-preview"}, 1_048_576},
		{[]string{"gemma-4-31b-it"}, 256_000},
		{[]string{"somebody-else"}, 0},
		{nil, 0},
	} {
		if got := ModelWindow(c.names...); got != c.want {
			t.Errorf("%q: %d, want %d", c.names, got, c.want)
		}
	}
	if _, err := time.Parse(time.DateOnly, gjson.Get(modelsFile, "date").String()); err != nil || gjson.Get(modelsFile, "source").String() == "" {
		t.Errorf("the table does not say when and where it comes from: %v", err)
	}
}

// What nobody has told is guessed: the largest window it may be, and the least that it
// is. More than the small one in use proves the large one.
func TestGuessWindow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		told, seen  int64
		models      []string
		most, least int64
	}{
		{0, 0, []string{"claude-opus-5-5"}, 1_000_000, 200_000},
		{0, 200_000, []string{"claude-opus-5-5"}, 1_000_000, 200_000},
		{0, 200_001, []string{"claude-opus-5-5"}, 1_000_000, 1_000_000},
		{200_000, 0, []string{"claude-opus-5-5"}, 200_000, 200_000},
		{0, 0, []string{"claude-sonnet-4-5"}, 200_000, 200_000},
		{0, 210_000, []string{"claude-sonnet-4-5"}, 1_000_000, 1_000_000},
		{0, 0, []string{"claude-sonnet-4-5[1m]", "claude-sonnet-4-5"}, 1_000_000, 1_000_000},
		{0, 0, []string{"opus[1m]", "claude-opus-4-5"}, 1_000_000, 1_000_000},
		{0, 0, []string{"opus[1m]", "claude-haiku-4-5"}, 200_000, 200_000},
		{0, 0, []string{"gemini-2.5-pro"}, 1_048_576, 1_048_576},
		{0, 0, []string{"nobody-knows"}, 0, 0},
		{0, 300_000, []string{"nobody-knows"}, 0, 0},
		{128_000, 0, []string{"nobody-knows"}, 128_000, 128_000},
	} {
		if most, least := GuessWindow(row.told, row.seen, row.models...); most != row.most || least != row.least {
			t.Errorf("%+v: %d, %d", row, most, least)
		}
	}
	for value, want := range map[string]int64{"1": 200_000, "true": 200_000, "0": 0, "": 0, "false": 0} {
		env := map[string]string{"CLAUDE_CODE_DISABLE_1M_CONTEXT": value}
		if got := claudeHost.Window(func(k string) string { return env[k] }); got != want {
			t.Errorf("%q: %d", value, got)
		}
	}
	dir, project := t.TempDir(), t.TempDir()
	none := func(string) string { return "" }
	settings := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(settings, []byte(`{"model":"opus[1m]"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := claudeHost.LargeModel(none, dir, project); got != "opus[1m]" {
		t.Errorf("settings: %q", got)
	}
	if got := claudeHost.LargeModel(func(string) string { return "sonnet" }, dir, project); got != "" {
		t.Errorf("the variable wins: %q", got)
	}
	if got := codexHost.LargeModel(none, dir, project); got != "" {
		t.Errorf("codex: %q", got)
	}
	if got := codexHost.Window(func(string) string { return "1" }); got != 0 {
		t.Errorf("codex: %d", got)
	}
}

// The oldest version has the small window for every model without a mark, later ones the
// large one for those that no table knows.
func TestClaudeWindow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		version, model string
		want           int64
	}{
		{"2.1.197", "claude-opus-4-7", SmallWindow},
		{"2.1.197", "my-gateway-model", SmallWindow},
		{"2.1.325", "my-gateway-model", LargeWindow},
		{"2.1.325", "claude-sonnet-4-6", 0},
		{"", "my-gateway-model", 0},
		{"next", "my-gateway-model", 0},
	} {
		if got := ClaudeWindow(row.version, row.model); got != row.want {
			t.Errorf("%s, %s: %d, want %d", row.version, row.model, got, row.want)
		}
	}
}
