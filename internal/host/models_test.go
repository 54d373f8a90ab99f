package host

import (
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The window is that of the model which the host reports; of one that nobody
// knows nothing is said.
func TestModelWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  int64
	}{
		{[]string{"claude-opus-5-5"}, 1_000_000},
		{[]string{"claude-sonnet-4-5"}, 200_000},
		{[]string{"claude-sonnet-4-5-20250929"}, 200_000},
		{[]string{"claude-opus-4-20250514"}, 200_000},
		{[]string{"us.anthropic.claude-sonnet-4-5-20250929-v1:0"}, 200_000},
		{[]string{"claude-sonnet-4-5[1m]"}, 1_000_000},
		{[]string{"", "claude-haiku-5-5@20261001"}, 1_000_000},
		{[]string{"claude-opus-4-9"}, 0},
		{[]string{"somebody-else"}, 0},
		{nil, 0},
	} {
		if got := ModelWindow(c.names...); got != c.want {
			t.Errorf("%q: %d, want %d", c.names, got, c.want)
		}
	}
	if _, err := time.Parse(time.DateOnly, gjson.Get(modelsFile, "date").String()); err != nil || gjson.Get(modelsFile, "source").String() == "" {
		t.Errorf("the table does not say when and where it comes from: %v", err)
	}
}
