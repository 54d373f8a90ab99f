package compress

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// percent is an exact position in a session. A float cannot say where turn 29
// of 100 stands; a fraction can. The zero value is 0 %.
type percent struct {
	rat  *big.Rat
	text string
}

// parsePercent reads a decimal number such as 50 or 12.5.
func parsePercent(s string) (percent, error) {
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != '.' && c != '-':
			return percent{}, fmt.Errorf("%q is not a number", s)
		}
	}
	// A bound on the length bounds the arithmetic.
	r, ok := new(big.Rat).SetString(s)
	if !ok || digits == 0 || len(s) > 32 {
		return percent{}, fmt.Errorf("%q is not a number", s)
	}
	return percent{r, s}, nil
}

func (p percent) String() string {
	if p.rat == nil {
		return "0"
	}
	return p.text
}

// MarshalJSON writes the number as it was given.
func (p percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads a JSON number, exactly.
func (p *percent) UnmarshalJSON(b []byte) (err error) {
	*p, err = parsePercent(string(b))
	return err
}

// Equal compares values, not spellings.
func (p percent) Equal(q percent) bool { return p.cmp(q) == 0 }

func (p percent) value() *big.Rat {
	if p.rat == nil {
		return new(big.Rat)
	}
	return p.rat
}

func (p percent) cmp(q percent) int { return p.value().Cmp(q.value()) }

// turn is the first of n turns at or after the position: the smallest i with
// p·n ≤ 100·i.
func (p percent) turn(n int) int {
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
	Start percent `json:"start"`
	End   percent `json:"end"`
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
	removeTools   Level = "remove"
	truncateTools Level = "truncate"
)

// ParseBands reads a list such as 0-50:heavy-compress,50-80:compress. An empty
// list is no bands.
func ParseBands(s string) ([]Band, error) { return parseRanges(s, "--bands", Compress, HeavyCompress) }

// ParseTools reads a list such as 0-50:remove,50-80:truncate.
func ParseTools(s string) ([]Band, error) {
	return parseRanges(s, "--tools", removeTools, truncateTools)
}

func parseRanges(s, what string, levels ...Level) ([]Band, error) {
	bands := []Band{}
	if strings.TrimSpace(s) == "" {
		return bands, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		span, level, ok := strings.Cut(part, ":")
		start, end, ok2 := strings.Cut(span, "-")
		if !ok || !ok2 {
			return nil, message.Fail(message.BadRange, what, part, levels[len(levels)-1])
		}
		var b Band
		var err error
		if b.Start, err = parsePercent(strings.TrimSpace(start)); err != nil {
			return nil, message.Fail(message.BadRangeStart, what, part, start)
		}
		if b.End, err = parsePercent(strings.TrimSpace(end)); err != nil {
			return nil, message.Fail(message.BadRangeEnd, what, part, end)
		}
		b.Level = Level(strings.TrimSpace(level))
		bands = append(bands, b)
	}
	return bands, validateRanges(bands, what, levels...)
}

func names[S ~string](list []S) []string {
	text := make([]string, len(list))
	for i, s := range list {
		text[i] = string(s)
	}
	return text
}

// validateRanges checks that each range lies within 0 to 100 with its start
// before its end and a known level, and that no two overlap.
func validateRanges(bands []Band, what string, levels ...Level) error {
	hundred := percent{big.NewRat(100, 1), "100"}
	for _, b := range bands {
		switch {
		case b.Start.cmp(percent{}) < 0 || b.End.cmp(hundred) > 0 || b.End.cmp(percent{}) < 0 || b.Start.cmp(hundred) > 0:
			return message.Fail(message.BadRangeBounds, what, b)
		case b.Start.cmp(b.End) >= 0:
			return message.Fail(message.BadRangeOrder, what, b)
		case !slices.Contains(levels, b.Level):
			return message.Fail(message.BadRangeLevel, what, b, names(levels))
		}
	}
	sorted := slices.Clone(bands)
	slices.SortStableFunc(sorted, func(a, b Band) int { return a.Start.cmp(b.Start) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Start.cmp(sorted[i-1].End) < 0 {
			if what == "--bands" {
				return message.Fail(message.BandsOverlap, sorted[i-1], sorted[i])
			}
			return message.Fail(message.RangesOverlap, what, sorted[i-1], sorted[i])
		}
	}
	return nil
}
