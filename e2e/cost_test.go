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
)

// What a Bash call costs on the real host, with our hooks, with hooks that end at
// once (OVERTONE_DISABLE), and without any: the best of some runs of 70 calls, as
// the machine is never quiet. `make bench` asks for it.
func TestCostOfABashCall(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("OVERTONE_BENCH_HOST"))
	if rounds == 0 {
		t.Skip("OVERTONE_BENCH_HOST is the number of runs")
	}
	const calls = 70
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.MkdirAll(filepath.Join(empty, ".claude-plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, ".claude-plugin", "plugin.json"), []byte(`{"name":"empty","version":"0.1.0","description":"nothing"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	names := []string{"without hooks", "hooks that do nothing", "with hooks"}
	best := map[string]time.Duration{}
	for range rounds {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				p := &Play{Main: slices.Repeat([]Step{call(bash("true"))}, calls)}
				w := NewWorld(t, Overtone, p.Handle)
				switch name {
				case "without hooks":
					w.Plugin = empty
				case "hooks that do nothing":
					w.Setenv("OVERTONE_DISABLE", "1")
				}
				begin := time.Now()
				if r := w.Prompt("go").Result(); r.Text != "DONE" {
					t.Fatalf("result %+v", r)
				}
				took := time.Since(begin) / calls
				if old, ok := best[name]; !ok || took < old {
					best[name] = took
				}
			})
		}
	}
	for _, name := range names {
		fmt.Printf("Claude Code %s, %d Bash calls, %-22s %6.1f ms a call, %+.1f\n", Newest(t), calls, name+":",
			float64(best[name].Microseconds())/1000, float64((best[name]-best[names[0]]).Microseconds())/1000)
	}
}
