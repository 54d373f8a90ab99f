//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// What a Bash call costs on the real host, with our hooks, with hooks that end at
// once (OVERTONE_DISABLE), with one hook that is an empty program, and without any.
// A call is the time from one request of the host to the next; of all of some runs
// of 70 calls the middle one tells, as the machine is never quiet and the host's
// start is nobody's cost. `make bench` asks for it.
func TestCostOfABashCall(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_HOST"))
	if rounds == 0 {
		t.Skip("OVERTONE_BENCH_HOST is the number of runs")
	}
	const calls = 70
	names := []string{"without hooks", "one empty program", "hooks that do nothing", "with hooks"}
	took := map[string][]time.Duration{}
	for range rounds {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				var last time.Time
				p := &Play{Main: slices.Repeat([]Step{call(bash("true"))}, calls)}
				w := NewWorld(t, Overtone, func(r *mockapi.Request) mockapi.Reply {
					if r.Kind == mockapi.Main {
						if now := time.Now(); !last.IsZero() {
							took[name] = append(took[name], now.Sub(last))
						}
						last = time.Now()
					}
					return p.Handle(r)
				})
				switch name {
				case "without hooks":
					w.Plugin = costPlugin(t, `{}`)
				case "one empty program":
					w.Plugin = costPlugin(t, `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true","args":[],"timeout":10}]}]}`)
				case "hooks that do nothing":
					w.Setenv("OVERTONE_DISABLE", "1")
				}
				if r := w.Prompt("go").Result(); r.Text != "DONE" {
					t.Fatalf("result %+v", r)
				}
			})
		}
	}
	middle := func(name string) float64 {
		list := slices.Sorted(slices.Values(took[name]))
		return float64(list[len(list)/2].Microseconds()) / 1000
	}
	added := func(name string) float64 { return middle(name) - middle(names[0]) }
	for _, name := range names {
		fmt.Printf("Claude Code %s, %d Bash calls, %-22s %6.1f ms a call, %+.1f\n", Newest(t), calls, name+":", middle(name), added(name))
	}
	fmt.Printf("Claude Code %s, %d Bash calls, hooks in empty programs: %.2f\n", Newest(t), calls, added("with hooks")/added("one empty program"))
}

// costPlugin is a plugin that has these hooks and nothing else.
func costPlugin(t *testing.T, hooks string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": `{"name":"empty","version":"0.1.0","description":"nothing"}`,
		"hooks/hooks.json":           `{"hooks":` + hooks + `}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
