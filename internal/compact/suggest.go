package compact

import (
	"fmt"
	"math"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// SuggestInput is what is known when a stage has passed.
type SuggestInput struct {
	Mode           Mode
	Size           int64 // of the transcript since its last compaction
	SizeKnown      bool
	Pending        bool // a stage has not been begun
	Compacted      bool // there was a compaction
	SinceCompact   int  // stages completed since
	Suggested      bool // there was a suggestion after the last compaction
	SinceSuggest   int  // stages completed since
	ThresholdBytes int64
	MinStages      int
}

// Suggestion is the verdict, and how each condition stands.
type Suggestion struct {
	Suggest    bool
	Reason     string
	Size       int64
	Conditions []Condition
}

// Condition is one thing that must hold.
type Condition struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Want  string `json:"want"`
	OK    bool   `json:"ok"`
}

// Suggest decides whether to suggest a compaction: the transcript is large, work
// is left, and neither a compaction nor a suggestion was just now.
func Suggest(in SuggestInput) Suggestion {
	cool := func(name string, was bool, since int) Condition {
		value := "—"
		if was {
			value = strconv.Itoa(since)
		}
		return Condition{name, value, fmt.Sprintf("≥ %d", in.MinStages), !was || since >= in.MinStages}
	}
	size := Condition{"transcriptSize", "?", "> " + FormatSize(in.ThresholdBytes), in.SizeKnown && in.Size > in.ThresholdBytes}
	if in.SizeKnown {
		size.Value = FormatSize(in.Size)
	}
	s := Suggestion{Suggest: true, Size: in.Size, Conditions: []Condition{
		size,
		{"pendingStages", strconv.FormatBool(in.Pending), "true", in.Pending},
		cool("stagesSinceCompact", in.Compacted, in.SinceCompact),
		cool("stagesSinceSuggestion", in.Suggested, in.SinceSuggest),
	}}
	if in.Mode == ModeOff {
		s.Conditions = append(s.Conditions, Condition{"mode", ModeOff, "≠ " + ModeOff, false})
	}
	for _, c := range s.Conditions {
		s.Suggest = s.Suggest && c.OK
	}
	if s.Suggest {
		s.Reason = fmt.Sprintf("transcript 大小 %s 超過閾值 %s", FormatSize(in.Size), FormatSize(in.ThresholdBytes))
	}
	return s
}

// SuggestText is the line that follows the stage's own.
func SuggestText(size int64, lang message.Lang) string {
	return message.CompactSuggestion.Format(lang, FormatSize(size))
}

// FormatSize writes bytes in base 1000, rounded as the origin's language rounds:
// half up, on the exact value of the double. Go's %.1f rounds half to even.
func FormatSize(n int64) string {
	switch {
	case n >= 1_000_000:
		mb := float64(n) / 1e6
		if n%500_000 == 250_000 { // exactly between two tenths
			mb = math.Nextafter(mb, math.Inf(1))
		}
		return strconv.FormatFloat(mb, 'f', 1, 64) + "MB"
	case n >= 1_000:
		return strconv.FormatInt(int64(math.Floor(float64(n)/1e3+0.5)), 10) + "KB"
	}
	return strconv.FormatInt(n, 10) + "B"
}
