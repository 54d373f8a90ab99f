package session

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// PromptFile is the user's copy of the auto-compact prompt.
func PromptFile(home *store.Home) string { return filepath.Join(home.Root(), "auto-compact.md") }

// Settings reads the prompt file, which rules when to compact and what is handed
// over. It is asked at the end of a turn and before a compaction, never on a
// tool's way.
func Settings(home *store.Home, cfg config.Compact) (compact.Settings, []config.Problem) {
	return prompt.LoadAutoCompact(PromptFile(home), cfg)
}

// Insight is what `overtone compact explain` shows of a session.
type Insight struct {
	Input    compact.Input
	Decision compact.Decision
	Suggest  compact.Suggestion
	Receipt  *compact.Receipt
	Workflow bool
	// Next is when the end of a turn will be enough.
	Next compact.Next
}

// Explain decides as the hooks would, or as the watcher that has seen the
// session, changing nothing. Without a path the transcript is the one last seen,
// or, of a session that nobody observed, the one that is known otherwise; fill tells
// what stands in it, and whether its host asks before each request.
func Explain(
	home *store.Home, s *store.Session, cfg config.Compact, now time.Time, path, otherwise string,
	fill func(path string, in *compact.Input) (asks bool),
) (Insight, error) {
	m := Read(s)
	state, err := Peek(s)
	if err != nil {
		return Insight{}, err
	}
	watched, thread, err := ReadWatched(s)
	if err != nil {
		return Insight{}, err
	}
	path = cmp.Or(path, thread.Transcript, otherwise)
	set, _ := Settings(home, cfg) // what is wrong in it, `overtone config` says
	if watched.Host == "" || !thread.Usage.Known() {
		thread = named(thread, path)
		thread = thread.Apply(usageSeen(s, thread, transcript.TailUsage, path), set)
	}
	m.Thread = thread
	in := m.Weigh(state, now, set)
	asks := fill != nil && fill(path, &in)
	if asks && set.Mode == compact.ModeAuto && !set.AtPrompt && in.Signals.Has(compact.TurnEnd) {
		in.Signals = 0
	}
	out := Insight{Input: in, Decision: compact.Decide(in), Workflow: state != nil}
	if !m.RunsOn(state) {
		out.Next = in.Next(asks)
	}
	if watched.Delivery.Receipt.ID != "" {
		out.Receipt = &watched.Delivery.Receipt
	}
	if k := m.Compaction; k != nil && k.Receipt != nil && (out.Receipt == nil || k.Receipt.Created.After(out.Receipt.Created)) {
		out.Receipt = k.Receipt
	}
	si, err := m.SuggestInput(s, state, cfg, path)
	if err != nil {
		return out, err
	}
	out.Suggest = compact.Suggest(si)
	return out, nil
}

// SuggestInput is what 000's suggestion to compact depends on. Without a workflow,
// nothing is pending.
func (m *Memory) SuggestInput(s *store.Session, state *workflow.State, cfg config.Compact, path string) (compact.SuggestInput, error) {
	in := compact.SuggestInput{
		Mode: cfg.Mode, ThresholdBytes: cfg.ThresholdBytes, MinStages: cfg.MinStagesSinceCompact, Pending: state != nil && state.HasPending(),
	}
	in.Size, in.SizeKnown = m.size(path, cfg.ThresholdBytes)
	if err := countStages(s, &in); err != nil || !compact.Suggest(in).Suggest {
		return in, err
	}
	// A damaged timeline is an error: what stood in it is not known. A line that
	// broke off costs that line only; more than one in a row is damage. It is looked
	// for only when all else is in favour, as that reads every line.
	_, stats, err := s.Last(math.MaxInt, store.Filter{})
	if err == nil && stats.Run > 1 {
		err = fmt.Errorf("timeline of session %s: %d damaged lines", s.ID(), stats.Bad)
	}
	return in, err
}

// searchBytes is how far back a compaction is looked for, at least: some
// milliseconds. Beyond the threshold it only makes the number shown exact.
const searchBytes = 8 << 20

// noiseBytes bounds what one call looks through for lines that are no
// conversation; the next one goes on from there.
const noiseBytes = 4 << 20

// size is the bytes of the main transcript since its last compaction. The hooks
// know where that was; for a compaction from before their time the end of the
// file is searched, once.
func (m *Memory) size(path string, threshold int64) (int64, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	if m.Offset == 0 && !m.Searched && info.Size() > threshold {
		m.Searched = true
		m.Offset, _ = transcript.LastCompaction(path, max(searchBytes, threshold))
	}
	if m.Offset > info.Size() {
		// Another file than the one we knew.
		m.Offset, m.Noise = 0, Noise{}
	}
	size := info.Size() - m.Offset
	if size <= threshold {
		return size, true // whatever is noise in it
	}
	if m.Noise.Read < m.Offset || m.Noise.Read > info.Size() {
		m.Noise = Noise{Read: m.Offset}
	}
	// What cannot be read counts as conversation.
	if noise, read, err := transcript.CountNoise(path, m.Noise.Read, noiseBytes); err == nil {
		m.Noise = Noise{Read: read, Bytes: m.Noise.Bytes + noise}
	}
	return size - m.Noise.Bytes, true
}

// countStages fills in how many stages were completed since the last compaction
// and the last suggestion. A compaction that failed does not count.
func countStages(s *store.Session, in *compact.SuggestInput) error {
	void, stages := 0, 0
	filter := store.Filter{Types: []string{
		message.EventStageComplete, message.EventSessionCompact, message.EventSessionCompactFailed, message.EventSessionCompactSuggest,
	}}
	for e, err := range s.Newest(filter) {
		if err != nil {
			return err
		}
		switch e.Type {
		case message.EventStageComplete:
			stages++
		case message.EventSessionCompactFailed:
			void++
		case message.EventSessionCompactSuggest:
			if !in.Suggested {
				in.Suggested, in.SinceSuggest = true, stages
			}
		case message.EventSessionCompact:
			if void > 0 {
				void--
				continue
			}
			in.Compacted, in.SinceCompact = true, stages
			return nil
		}
	}
	return nil
}
