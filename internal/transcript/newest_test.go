package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// The end of a turn is in the file once the hook that is told of it is.
func TestNewestTells(t *testing.T) {
	t.Parallel()
	const (
		asked   = `{"type":"user.message","data":{"content":"go on"}}`
		said    = `{"type":"assistant.message","data":{"content":"done"}}`
		told    = `{"type":"hook.start","data":{"hookType":"agentStop"}}`
		another = `{"type":"hook.start","data":{"hookType":"postToolUse"}}`
	)
	for _, c := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{asked, said}, false},
		{[]string{asked, another, said}, false},
		{[]string{asked, said, told}, true},
		{[]string{asked, said, told, `{"type":"hook.end"}`}, true},
		{[]string{asked, said, told, asked, said}, false},
	} {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := transcript.Newest(path, host.Of(host.Copilot).TurnOver); got != c.want {
			t.Errorf("%v: %v", c.lines, got)
		}
	}
	if transcript.Newest(filepath.Join(t.TempDir(), "none"), host.Of(host.Copilot).TurnOver) {
		t.Error("a file that is not there has no end")
	}
}
