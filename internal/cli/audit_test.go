package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Session files that cannot be read are named, and where none could be read that is an
// error, which says what to do.
func TestUnreadFilesAreNamed(t *testing.T) {
	t.Parallel()
	var some []string
	for i := range 12 {
		some = append(some, fmt.Sprintf("/work/%d.jsonl", i))
	}
	for name, tc := range map[string]struct {
		report audit.Report
		want   []string
		fails  bool
		code   int
	}{
		"all were read": {audit.Report{Files: 3}, nil, false, 0},
		"one was not":   {audit.Report{Files: 3, Failed: some[:1]}, []string{"could not be read: /work/0.jsonl"}, false, 3},
		"many were not": {audit.Report{Files: 3, Failed: some}, []string{"/work/9.jsonl", "could not be read: 2 ("}, false, 3},
		"one met a fault": {audit.Report{Files: 3, Failed: some[:1], Faults: []*transcript.Fault{{Path: some[0], Reason: "out of range", At: "internal/x.go:1"}}}, []string{
			"could not be read: /work/0.jsonl: a fault of Overtone's own: out of range (internal/x.go:1)\n", "\nhint: all the rest was done",
		}, false, 3},
		"none was": {audit.Report{Failed: some[:2]}, []string{"/work/0.jsonl", "/work/1.jsonl"}, true, 1},
	} {
		var told bytes.Buffer
		a := newApp("overtone", Env{Stdout: &told, Stderr: &told, Getenv: func(k string) string {
			return map[string]string{"LANG": "en_US.UTF-8"}[k]
		}, IsTTY: func(uintptr) bool { return false }})
		err := a.unread(&tc.report)
		if code := a.Exit(err); code != tc.code {
			t.Errorf("%s: exit code %d", name, code)
		}
		if (err != nil) != tc.fails || err != nil && message.HintOf(err, message.EN) == "" {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range tc.want {
			if !strings.Contains(told.String(), w) {
				t.Errorf("%s: %q is missing in %q", name, w, &told)
			}
		}
		if len(tc.want) == 0 && told.Len() > 0 {
			t.Errorf("%s: %q", name, &told)
		}
		// What could not be read is no session that does not match.
		if told.Reset(); tc.fails {
			if tc.report.Print(&a.Terminal, a.short, false); told.Len() > 0 {
				t.Errorf("%s: printed %q", name, &told)
			}
		}
	}
}
