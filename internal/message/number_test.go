package message

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 80 * time.Hour: "3d",
	} {
		if got := Age(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		before, after int
		want          string
	}{
		{100, 40, "−60%"}, {1000, 444, "−56%"}, {100, 100, "±0%"}, {1000, 999, "±0%"}, {100, 150, "+50%"}, {0, 3, "±0%"}, {1000, 1, "−99%"}, {1000, 0, "−100%"},
	} {
		if got := Change(tc.before, tc.after); got != tc.want {
			t.Errorf("from %d to %d: %s, want %s", tc.before, tc.after, got, tc.want)
		}
	}
}
