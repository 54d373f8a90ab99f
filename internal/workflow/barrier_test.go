package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A group that nobody has been handed a stage of is rebuilt empty, and does not
// get into the file before its first hand-over.
func TestRebuildBarriersNotBegun(t *testing.T) {
	t.Parallel()
	s, err := Load([]byte(`{"workflowType":"mine","stages":{"DEV":{"status":"completed"},"REVIEW":{},"TEST":{},"DOCS":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	b := RebuildBarriers(s)
	g, ok := b.Get("post-dev")
	if !ok || g.Total != 2 || g.Next != "DOCS" || g.Resolved || g.StartTime != 0 || len(g.Completed) != 0 {
		t.Errorf("rebuilt %+v, %v", g, ok)
	}
	if s.AttachBarriers(nil) || s.Barriers.Len() != 0 {
		t.Errorf("attached %v", s.Barriers.Keys())
	}
}

// A rejected stage of the older shape is completed and has no verdict; its vote is
// a FAIL all the same.
func TestOlderRejectVotes(t *testing.T) {
	t.Parallel()
	s, err := Load([]byte(`{"workflowType":"mine","rejectCount":1,"stages":{"DEV":{"status":"completed","result":"pass"},
		"REVIEW":{"status":"completed","result":"reject"},"TEST":{"status":"active","result":null},"DOCS":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.AttachBarriers(nil)
	next, out := testRules().Apply(s, Completion{Agent: "tester", Route: &Route{Verdict: Pass, Route: Next}})
	if out.Kind != RolledBack || !cmp.Equal(out.Failed, []string{"REVIEW"}) {
		t.Errorf("outcome %+v", out)
	}
	if got := next.Ready(); !cmp.Equal(got, []string{"DEV"}) || next.RejectCount != 1 || next.Retries["REVIEW"] != 1 {
		t.Errorf("ready %v, rejected %d, retries %v", got, next.RejectCount, next.Retries)
	}
}

func TestPlainHint(t *testing.T) {
	t.Parallel()
	for hint, want := range map[string]string{
		"":                           "",
		"check the nil map":          "check the nil map",
		"C-1 CRITICAL: sql; H-1: x":  "sql; x",
		"HIGH：逾時；M-12 重試":            "逾時；重試",
		"C-1 CRITICAL":               "",
		"the LOWER bound, HIGHLIGHT": "the LOWER bound, HIGHLIGHT",
	} {
		if diff := cmp.Diff(want, plainHint(hint)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", hint, diff)
		}
	}
}
