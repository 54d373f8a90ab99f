package message

import (
	"slices"
	"testing"
)

func TestEventLabels(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]struct{ label, category string }{
		"session:compact":            {"Context 壓縮", "session"},
		"session:compact-suggestion": {"Compact 建議", "session"},
		"workflow:start":             {"工作流啟動", "workflow"},
		"stage:retry":                {"階段重試", "stage"},
		"agent:orphan-cleanup":       {"孤兒代理清理", "agent"},
		"grader:score":               {"Grader 評分", "grader"},
		"specs:archive":              {"Specs 歸檔", "specs"},
		"error:fatal":                {"嚴重錯誤", "error"},
		"handoff:create":             {"交接建立", "handoff"},
		"system:warning":             {"系統警告", "system"},
	} {
		label, ok := EventLabel(typ)
		if !ok || label.ZH != want.label || EventCategory(typ) != want.category {
			t.Errorf("%s = %q, %q, %v; want %q, %q", typ, label.ZH, EventCategory(typ), ok, want.label, want.category)
		}
	}
	for _, typ := range []string{"", "session", "session:", "session:Compact", "zz:last", "session:compact "} {
		if _, ok := EventLabel(typ); ok {
			t.Errorf("%q is registered", typ)
		}
	}
}

// The types are in order, each once.
func TestEventTypesSorted(t *testing.T) {
	t.Parallel()
	types := EventTypes()
	if !slices.IsSorted(types) || len(slices.Compact(slices.Clone(types))) != len(types) {
		t.Errorf("event types are out of order, or repeated: %v", types)
	}
	for _, typ := range types {
		if _, ok := EventLabel(typ); !ok {
			t.Errorf("%s cannot be found", typ)
		}
	}
}
