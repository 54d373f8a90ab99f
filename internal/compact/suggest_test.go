package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// 000: a compaction is suggested when the transcript is larger than the threshold, a
// stage is left, and enough stages have passed since the last compaction and the last
// suggestion. All four have to hold.
func TestSuggest(t *testing.T) {
	t.Parallel()
	good := SuggestInput{Size: 6_500_000, SizeKnown: true, Pending: true, ThresholdBytes: 5_000_000, MinStages: 2}
	for name, tc := range map[string]struct {
		change func(*SuggestInput)
		failed string // the condition that does not hold; "" = it is suggested
	}{
		"never compacted":                   {func(*SuggestInput) {}, ""},
		"exactly the threshold":             {func(in *SuggestInput) { in.Size = 5_000_000 }, "transcriptSize"},
		"a byte more":                       {func(in *SuggestInput) { in.Size = 5_000_001 }, ""},
		"of unknown size":                   {func(in *SuggestInput) { in.SizeKnown = false }, "transcriptSize"},
		"the last stage":                    {func(in *SuggestInput) { in.Pending = false }, "pendingStages"},
		"a stage after a compaction":        {func(in *SuggestInput) { in.Compacted, in.SinceCompact = true, 1 }, "stagesSinceCompact"},
		"two stages after a compaction":     {func(in *SuggestInput) { in.Compacted, in.SinceCompact = true, 2 }, ""},
		"a stage after a suggestion":        {func(in *SuggestInput) { in.Suggested, in.SinceSuggest = true, 1 }, "stagesSinceSuggestion"},
		"two stages after a suggestion":     {func(in *SuggestInput) { in.Suggested, in.SinceSuggest = true, 2 }, ""},
		"one stage is enough, if so wished": {func(in *SuggestInput) { in.Compacted, in.SinceCompact, in.MinStages = true, 1, 1 }, ""},
	} {
		in := good
		tc.change(&in)
		s := Suggest(in)
		var failed []string
		for _, c := range s.Conditions {
			if !c.OK {
				failed = append(failed, c.Name)
			}
		}
		if got := strings.Join(failed, ", "); got != tc.failed || s.Suggest != (tc.failed == "") || s.Size != in.Size || (s.Reason != "") != s.Suggest {
			t.Errorf("%s: %+v", name, s)
		}
	}
	in := good
	in.SizeKnown, in.Compacted, in.SinceCompact = false, true, 7
	if got, want := fmt.Sprint(Suggest(in).Conditions), "[{transcriptSize ? > 5.0MB false} {pendingStages true true true} {stagesSinceCompact 7 ≥ 2 true} {stagesSinceSuggestion — ≥ 2 true}]"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// 000: sizes in base 1000, rounded half up on the exact value of the double.
func TestFormatSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0B", 500: "500B", 999: "999B", 1000: "1KB", 1499: "1KB", 1500: "2KB", 800_000: "800KB", 999_499: "999KB", 999_999: "1000KB",
		1_000_000: "1.0MB", 1_049_999: "1.0MB", 1_250_000: "1.3MB", 6_500_000: "6.5MB", 9_949_999: "9.9MB", 9_950_001: "10.0MB", 12_345_678_900: "12345.7MB",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if text := SuggestText(6_500_000, message.ZH); !strings.Contains(text, "6.5MB") || !strings.Contains(text, "/compact") {
		t.Errorf("%q", text)
	}
}
