package host

import (
	"reflect"
	"testing"
)

// A plan that is none leaves no step behind, which would be open for good.
func TestCodexPlanOfNothing(t *testing.T) {
	t.Parallel()
	for plan, want := range map[string]Event{
		`[{"step":"a","status":"completed"}]`: PlanWritten{Steps: []Step{{Text: "a", Status: Completed}}},
		`[]`:                                  PlanWritten{},
		`null`:                                PlanWritten{},
		`"a"`:                                 PlanWritten{},
		``:                                    PlanWritten{},
	} {
		if got := CodexPlan([]byte(plan)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", plan, got)
		}
	}
}
