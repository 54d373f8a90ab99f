package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Whatever call of whatever hook fails, the hook ends with 0 and with output that
// its host understands; and what then is not as it should be, said or on disk, is
// told in a line on stderr. `make test` takes a sample.
func TestErrorsAreTold(t *testing.T) {
	every, _ := strconv.Atoi(os.Getenv("OVERTONE_CRASH")) // call, or every so manieth
	all := every > 0
	program := build(t)
	points, told, silent := 0, 0, 0
	for i, s := range story {
		if !all && i != 4 && i != 10 {
			continue
		}
		t.Run(fmt.Sprintf("%02d %s", i, s.event), func(t *testing.T) {
			before := start(t, program)
			for _, e := range story[:i] {
				before.call(e)
			}
			scratch := filepath.Join(t.TempDir(), "w")
			w := before.copyTo(scratch)
			says := times.ReplaceAllString(w.call(s), "T")
			for _, e := range story[i+1:] {
				w.call(e)
			}
			want := w.outcome()
			errnos := []syscall.Errno{syscall.EIO, syscall.ENOSPC}
			stride := max(every, 1)
			if !all {
				errnos, stride = errnos[i%2:][:1], 13
			}
			ends := map[string]string{} // how the story ends from a state on disk
			for _, errno := range errnos {
				for n := 1 + i%stride; ; n += stride {
					w := before.copyTo(scratch)
					end := w.hook(s, target{n: n, fails: errno})
					last, stdout, stderr, status := end.last, end.stdout, end.stderr, end.status
					if last == "" {
						break
					}
					points++
					at := fmt.Sprintf("%s fails with %v (%d)", last, errno, n)
					if !status.Exited() || status.ExitStatus() != 0 {
						t.Errorf("%s: ends with %v: %s", at, status, stderr)
						continue
					}
					if stdout != "" && !json.Valid([]byte(stdout)) {
						t.Errorf("%s: prints %q", at, stdout)
					}
					if strings.Contains(stderr, "panic") {
						t.Errorf("%s: %s", at, stderr)
					}
					if stderr != "" {
						told++
						continue
					}
					id := w.print()
					if _, ok := ends[id]; !ok {
						for _, e := range story[i+1:] {
							w.call(e)
						}
						ends[id] = w.outcome()
					}
					toStdout := slices.Contains([]string{"write(1)", "write(2)"}, last)
					if got := ends[id]; got != want || !toStdout && times.ReplaceAllString(stdout, "T") != says {
						silent++
						t.Errorf("%s, and nobody is told; it says %q instead of %q, and ends otherwise:\n%s", at, stdout, says, diff(want, want, got))
					}
				}
			}
		})
	}
	t.Logf("%d errors, %d told, %d told to nobody", points, told, silent)
}
