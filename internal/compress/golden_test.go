package compress

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The golden files show what is left of sessions that were written for them, for
// people to read: does it still make sense, is anything told wrongly?
func TestGolden(t *testing.T) {
	t.Parallel()
	talks, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(talks) == 0 {
		t.Fatal(talks, err)
	}
	for _, talk := range talks {
		for _, percent := range []int{35, 10} {
			t.Run(fmt.Sprint(filepath.Base(talk), " at ", percent), func(t *testing.T) {
				t.Parallel()
				b, err := os.ReadFile(talk)
				if err != nil {
					t.Fatal(err)
				}
				var jobs []job
				var texts []string
				for _, m := range strings.Split(string(b), "=== ")[1:] {
					role, text, _ := strings.Cut(m, "\n")
					jobs = append(jobs, job{Role: role})
					texts = append(texts, strings.TrimSpace(text))
				}
				p, err := Builtin{}.prepare(t.Context(), jobs, func(job) int { return percent }, func(n int) (string, error) { return texts[n], nil })
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				for n := range jobs {
					r, err := p.Compress(t.Context(), Request{Text: texts[n], Role: jobs[n].Role, job: n})
					if err != nil {
						t.Fatal(err)
					}
					said, _, _ := strings.Cut(r.Text, "\n… (") // names alone deny nothing
					if _, err := checkResult(texts[n], said, markOf(texts[n]), false, false); err != nil && r.Text != texts[n] {
						t.Errorf("message %d: %v", n, err)
					}
					fmt.Fprintf(&got, "=== %s\n%s\n", jobs[n].Role, r.Text)
				}
				golden := fmt.Sprintf("%s.%d", strings.TrimSuffix(talk, ".txt"), percent)
				if *update {
					if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), got.String()); d != "" {
					t.Errorf("-want +got, read it and run with -update:\n%s", d)
				}
			})
		}
	}
}
