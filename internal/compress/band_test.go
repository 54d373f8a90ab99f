package compress

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func turnsOf(n int) []transcript.Turn {
	turns := make([]transcript.Turn, n)
	for i := range turns {
		turns[i] = transcript.Turn{Start: 2 * i, End: 2*i + 1}
	}
	return turns
}

func bands(t testing.TB, s string) []Band {
	t.Helper()
	b, err := ParseBands(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func levels(ms []Mapping) string {
	var out []string
	for _, m := range ms {
		switch {
		case m.Band == nil:
			out = append(out, "-")
		case m.Band.Level == HeavyCompress:
			out = append(out, "H")
		default:
			out = append(out, "C")
		}
	}
	return strings.Join(out, "")
}

func TestTC03MultipleBands(t *testing.T) {
	t.Parallel()
	got := levels(MapTurns(turnsOf(10), bands(t, "0-30:heavy-compress,50-80:compress")))
	if want := "HHH--CCC--"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTC04TurnCohesion(t *testing.T) {
	t.Parallel()
	if got, want := levels(MapTurns(turnsOf(10), bands(t, "0-45:compress"))), "CCCCC-----"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTC05MinimumTokens(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("Short")
	c.blocks(textBlock(strings.Repeat("x", 100)))
	s := c.write(t)
	turns := s.Turns(s.All())
	got, skipped := Select(s, s.All(), turns, MapTurns(turns, bands(t, "0-100:compress")), Options{MinTokens: config.Defaults().Compress.MinTokens})
	if d := cmp.Diff([]Item{{Entry: 1, Tokens: 25, Level: Compress}}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Skip]int{skipShort: 1}, skipped); d != "" {
		t.Error(d)
	}
}

func TestTC10EmptyBands(t *testing.T) {
	t.Parallel()
	p := plan(t, session(t, 1, 50, 50), Options{})
	if _, err := p.Run(t.Context(), nil, RunOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
	if !p.Nothing() || p.Target != p.Tokens {
		t.Errorf("%+v", p)
	}
}

func TestTC11Overlap(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"0-50:compress,40-70:compress", "compression bands must not overlap"},
		{"40-70:compress,0-50:compress", "compression bands must not overlap"},
		{"0-50:compress,0-50:compress", "compression bands must not overlap"},
		{"50-50:compress", "start must be less than end"},
		{"60-50:compress", "start must be less than end"},
		{"0-101:compress", "between 0 and 100"},
		{"0-50:hard", "level must be one of compress, heavy-compress"},
		{"0-50", "want START-END:LEVEL"},
		{"x-50:compress", `start "x" is not a number`},
		{"0-1e9:compress", `end "1e9" is not a number`},
		{"0-50:compress,,50-60:compress", "want START-END:LEVEL"},
		{"0-.:compress", "is not a number"},
	}
	for _, tt := range tests {
		if _, err := ParseBands(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.in, err, tt.want)
		}
	}
	for _, ok := range []string{"", "0-50:compress,50-100:heavy-compress", "12.5-37.5:compress", " 0 - 10 : compress "} {
		if _, err := ParseBands(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	if _, err := ParseTools("0-50:remove,50-80:truncate"); err != nil {
		t.Error(err)
	}
	if _, err := ParseTools("0-50:compress"); err == nil {
		t.Error("a band level as a tool level")
	}
}

// A turn lies in a band when start·n ≤ 100·i < end·n, which integers in
// thousandths show exactly.
func TestMapTurnsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 400).Draw(t, "n")
		a := rapid.IntRange(0, 99999).Draw(t, "start")
		b := rapid.IntRange(a+1, 100000).Draw(t, "end")
		num := func(v int) string { return fmt.Sprintf("%d.%03d", v/1000, v%1000) }
		list, err := ParseBands(num(a) + "-" + num(b) + ":compress")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range MapTurns(make([]transcript.Turn, n), list) {
			if want := a*n <= 100000*i && 100000*i < b*n; (m.Band != nil) != want {
				t.Fatalf("turn %d of %d in %s: %v", i, n, list[0], m.Band != nil)
			}
		}
	})
}
