package cli_test

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// Commands that take long show on a terminal how far they are, in words that are
// complete. The clock runs fast, so that everything takes long.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh-TW"} {
		for _, row := range []struct {
			args []string
			want string
		}{
			{[]string{"audit"}, " / "},
			{[]string{"recall", "store"}, " / "},
			{[]string{"compress", serviceSession, "--bands", "0-100:compress"}, " 2/2 · "},
		} {
			env, out, _ := compressWorld(t, map[string]string{"OVERTONE_LANG": lang, "COLUMNS": "200"})
			screen, err := os.Create(env.Dir + "/screen")
			if err != nil {
				t.Fatal(err)
			}
			defer screen.Close()
			env.Stderr = screen
			env.IsTTY = func(uintptr) bool { return true }
			begin, ticks := time.Now(), atomic.Int64{}
			env.Now = func() time.Time { return begin.Add(time.Duration(ticks.Add(1)) * time.Second) }
			code := cli.Main(row.args, env)
			shown, err := os.ReadFile(screen.Name())
			if err != nil {
				t.Fatal(err)
			}
			if lang == "en" {
				row.want = strings.ReplaceAll(row.want, " / ", " of ")
			}
			if code != 0 || !strings.Contains(string(shown), "█]") || !strings.Contains(string(shown), row.want) {
				t.Errorf("%s %q: exit %d, no progress in %q", lang, row.args, code, shown)
			}
			if strings.Contains(string(shown)+out.String(), "%!") {
				t.Errorf("%s %q: %s%s", lang, row.args, shown, out)
			}
		}
	}
}
