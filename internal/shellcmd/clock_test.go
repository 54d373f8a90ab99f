package shellcmd

import (
	"testing"
	"time"
)

// git dates a commit by a clock that may be a tick behind ours: in the first
// milliseconds of a second the commit seems older than the command that made it.
func TestCommittedAcrossASecond(t *testing.T) {
	t.Parallel()
	second := time.Unix(1_700_000_001, 0)
	head := func(string) (Head, error) {
		return Head{GitDir: "/r/.git", Hash: "abc", LogSize: 100, Log: []logEntry{
			{New: "abc", Time: second.Add(-time.Second), Action: "commit", Subject: "x"},
		}}, nil
	}
	for after, want := range map[time.Duration]bool{3 * time.Millisecond: true, 900 * time.Millisecond: false} {
		o := Observation{Line: "git commit -qm x", Cwd: "/r", Head: head, Started: second.Add(after), Ended: second.Add(after + 20*time.Millisecond)}
		if v := Committed(o); v.Committed != want {
			t.Errorf("%v into the second: %+v, want %v", after, v, want)
		}
	}
}
