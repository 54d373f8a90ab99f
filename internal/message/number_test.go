package message

import (
	"strings"
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

// A number is told to a tenth only as long as that says something, and in one form.
func TestDecimal(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0.04: "0.0", 3.25: "3.2", 9.94: "9.9", 9.96: "10", 12.5: "13", 20496: "20,496"} {
		if got := Decimal(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

// What the commands of the demo's last lines do stands in one column, however the program
// was called.
func TestDemoNextInOneColumn(t *testing.T) {
	t.Parallel()
	for _, l := range []Lang{ZH, EN} {
		for _, name := range []string{"overtone", "./bin/overtone"} {
			lines := strings.Split(DemoNext.Format(l, name), "\n")[1:]
			want := 2 + len(name) + len(" init --dry-run    ")
			for _, line := range lines {
				if at := strings.LastIndex(line, "  ") + 2; at != want {
					t.Errorf("%q: column %d, want %d", line, at, want)
				}
			}
		}
	}
}

// A hint that speaks of a column calls it as the list does.
func TestHintNamesTheColumnOfClones(t *testing.T) {
	t.Parallel()
	for _, l := range []Lang{ZH, EN} {
		name := ColClone.In(l)
		if l == ZH {
			name = "「" + name + "」"
		}
		if hint := HintRmNoClone.In(l); !strings.Contains(hint, name) {
			t.Errorf("%q does not name %q", hint, name)
		}
	}
}
