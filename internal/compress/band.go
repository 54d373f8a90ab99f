package compress

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Percent is an exact position in a session. A float cannot say where turn 29
// of 100 stands; a fraction can. The zero value is 0 %.
type Percent struct {
	rat  *big.Rat
	text string
}

// ParsePercent reads a decimal number such as 50 or 12.5.
func ParsePercent(s string) (Percent, error) {
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != '.' && c != '-':
			return Percent{}, fmt.Errorf("%q is not a number", s)
		}
	}
	// A bound on the length bounds the arithmetic.
	r, ok := new(big.Rat).SetString(s)
	if !ok || digits == 0 || len(s) > 32 {
		return Percent{}, fmt.Errorf("%q is not a number", s)
	}
	return Percent{r, s}, nil
}

func (p Percent) String() string {
	if p.rat == nil {
		return "0"
	}
	return p.text
}

// MarshalJSON writes the number as it was given.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads a JSON number, exactly.
func (p *Percent) UnmarshalJSON(b []byte) (err error) {
	*p, err = ParsePercent(string(b))
	return err
}

// Equal compares values, not spellings.
func (p Percent) Equal(q Percent) bool { return p.cmp(q) == 0 }

func (p Percent) value() *big.Rat {
	if p.rat == nil {
		return new(big.Rat)
	}
	return p.rat
}

func (p Percent) cmp(q Percent) int { return p.value().Cmp(q.value()) }

// turn is the first of n turns at or after the position: the smallest i with
// p·n ≤ 100·i.
func (p Percent) turn(n int) int {
	r := new(big.Rat).Mul(p.value(), big.NewRat(int64(n), 100))
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	switch {
	case q.Sign() < 0:
		return 0
	case !q.IsInt64() || q.Int64() > int64(n):
		return n
	}
	return int(q.Int64())
}

// Band is a range of a session, start included and end not, and how hard to
// compress the turns in it.
type Band struct {
	Start Percent `json:"start"`
	End   Percent `json:"end"`
	Level Level   `json:"level"`
}

func (b Band) String() string { return fmt.Sprintf("%s-%s:%s", b.Start, b.End, b.Level) }

// Mapping says in which band a turn lies; Band is nil where in none.
type Mapping struct {
	TurnIndex int   `json:"turnIndex"`
	Band      *Band `json:"band"`
}

// MapTurns assigns every turn to the first band that covers its position,
// 100·i/n percent for turn i of n. A turn is never split.
func MapTurns(turns []transcript.Turn, bands []Band) []Mapping {
	n := len(turns)
	out := make([]Mapping, n)
	for i := range out {
		out[i].TurnIndex = i
	}
	for b := range bands {
		for i := bands[b].Start.turn(n); i < bands[b].End.turn(n); i++ {
			if out[i].Band == nil {
				out[i].Band = &bands[b]
			}
		}
	}
	return out
}

// Levels of a tool range.
const (
	RemoveTools   Level = "remove"
	TruncateTools Level = "truncate"
)

// ParseBands reads a list such as 0-50:heavy-compress,50-80:compress. An empty
// list is no bands.
func ParseBands(s string) ([]Band, error) { return parseRanges(s, "band", Compress, HeavyCompress) }

// ParseTools reads a list such as 0-50:remove,50-80:truncate.
func ParseTools(s string) ([]Band, error) {
	return parseRanges(s, "tool range", RemoveTools, TruncateTools)
}

func parseRanges(s, what string, levels ...Level) ([]Band, error) {
	bands := []Band{}
	if strings.TrimSpace(s) == "" {
		return bands, nil
	}
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		span, level, ok := strings.Cut(part, ":")
		start, end, ok2 := strings.Cut(span, "-")
		if !ok || !ok2 {
			return nil, fmt.Errorf("%s %q: want START-END:LEVEL, such as 0-50:%s", what, part, levels[len(levels)-1])
		}
		var b Band
		var err error
		if b.Start, err = ParsePercent(strings.TrimSpace(start)); err != nil {
			return nil, fmt.Errorf("%s %q: start %w", what, part, err)
		}
		if b.End, err = ParsePercent(strings.TrimSpace(end)); err != nil {
			return nil, fmt.Errorf("%s %q: end %w", what, part, err)
		}
		b.Level = Level(strings.TrimSpace(level))
		bands = append(bands, b)
	}
	return bands, validateRanges(bands, what, levels...)
}

// Validate checks the bands of a run: each within 0 to 100 with its start
// before its end, a known level, and no two that overlap.
func Validate(bands []Band) error { return validateRanges(bands, "band", Compress, HeavyCompress) }

func validateRanges(bands []Band, what string, levels ...Level) error {
	hundred := Percent{big.NewRat(100, 1), "100"}
	for _, b := range bands {
		switch {
		case b.Start.cmp(Percent{}) < 0 || b.End.cmp(hundred) > 0 || b.End.cmp(Percent{}) < 0 || b.Start.cmp(hundred) > 0:
			return fmt.Errorf("%s %s: bounds must be between 0 and 100", what, b)
		case b.Start.cmp(b.End) >= 0:
			return fmt.Errorf("%s %s: start must be less than end", what, b)
		case !slices.Contains(levels, b.Level):
			return fmt.Errorf("%s %s: level must be one of %v", what, b, levels)
		}
	}
	sorted := slices.Clone(bands)
	slices.SortStableFunc(sorted, func(a, b Band) int { return a.Start.cmp(b.Start) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start.cmp(sorted[i-1].End) < 0 {
			if what == "band" {
				return fmt.Errorf("compression bands must not overlap: %s and %s", sorted[i-1], sorted[i])
			}
			return fmt.Errorf("%ss must not overlap: %s and %s", what, sorted[i-1], sorted[i])
		}
	}
	return nil
}
