package compress

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Defaults of a run.
const (
	MinTokens        = 20
	TargetStandard   = 35
	TargetHeavy      = 10
	LargeThreshold   = 1000
	Concurrency      = 10
	MaxAttempts      = 4
	TimeoutInitial   = 5 * time.Second
	TimeoutIncrement = 5 * time.Second
)

// EstimateTokens counts four UTF-16 code units as a token, rounded up.
func EstimateTokens(text string) int { return message.Tokens(message.Units(text)) }

// ExtractText is the text of a message: its string, or its text blocks joined
// by newlines. The text of tool results is not part of it.
func ExtractText(entry []byte) string { return transcript.Text(entry) }

// ApplyText returns a copy of entry with its text replaced.
func ApplyText(entry []byte, text string) []byte { return transcript.SetText(entry, text) }

// IdentifyTurns cuts a whole file into turns.
func IdentifyTurns(entries []json.RawMessage) []transcript.Turn {
	turns := []transcript.Turn{}
	for i, e := range entries {
		if transcript.StartsTurn(e) {
			if len(turns) > 0 {
				turns[len(turns)-1].End = i - 1
			}
			turns = append(turns, transcript.Turn{Start: i})
		}
	}
	if len(turns) > 0 {
		turns[len(turns)-1].End = len(entries) - 1
	}
	return turns
}

// Status is where a task stands.
type Status string

const (
	Pending Status = "pending"
	Success Status = "success"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Task is one message to be compressed.
type Task struct {
	MessageIndex    int     `json:"messageIndex"`
	EntryType       string  `json:"entryType"`
	OriginalContent string  `json:"originalContent"`
	Level           Level   `json:"level"`
	EstimatedTokens int     `json:"estimatedTokens"`
	Attempt         int     `json:"attempt"`
	TimeoutMs       int     `json:"timeoutMs"`
	Status          Status  `json:"status"`
	Result          *string `json:"result,omitempty"`
	Error           string  `json:"error,omitempty"`
}

// CreateTasks lists the user and assistant messages of the banded turns that
// have at least minTokens tokens, in the order of the mapping.
func CreateTasks(entries []json.RawMessage, turns []transcript.Turn, mapping []Mapping, minTokens int) []Task {
	tasks := []Task{}
	for _, m := range mapping {
		if m.Band == nil || m.TurnIndex < 0 || m.TurnIndex >= len(turns) {
			continue
		}
		t := turns[m.TurnIndex]
		for i := max(0, t.Start); i <= t.End && i < len(entries); i++ {
			typ := transcript.EntryType(entries[i])
			if typ != "user" && typ != "assistant" {
				continue
			}
			text := ExtractText(entries[i])
			tokens := EstimateTokens(text)
			if tokens < minTokens {
				continue
			}
			tasks = append(tasks, Task{
				MessageIndex: i, EntryType: typ, OriginalContent: text, Level: m.Band.Level,
				EstimatedTokens: tokens, TimeoutMs: int(TimeoutInitial.Milliseconds()), Status: Pending,
			})
		}
	}
	return tasks
}

// ApplyResults returns the entries with the results of the successful tasks.
// Entries without one are returned as they are, not copied.
func ApplyResults(entries []json.RawMessage, tasks []Task) []json.RawMessage {
	out := append([]json.RawMessage{}, entries...)
	for _, t := range tasks {
		if t.Status == Success && t.Result != nil && t.MessageIndex >= 0 && t.MessageIndex < len(entries) {
			out[t.MessageIndex] = ApplyText(entries[t.MessageIndex], *t.Result)
		}
	}
	return out
}

// Stats counts what a run did. A message that failed keeps its tokens on both
// sides.
type Stats struct {
	MessagesCompressed int `json:"messagesCompressed"`
	MessagesSkipped    int `json:"messagesSkipped"`
	MessagesFailed     int `json:"messagesFailed"`
	OriginalTokens     int `json:"originalTokens"`
	CompressedTokens   int `json:"compressedTokens"`
	TokensRemoved      int `json:"tokensRemoved"`
	ReductionPercent   int `json:"reductionPercent"`
}

func (s *Stats) finish() {
	s.TokensRemoved = s.OriginalTokens - s.CompressedTokens
	s.ReductionPercent = 0
	if s.OriginalTokens > 0 {
		s.ReductionPercent = (200*s.TokensRemoved + s.OriginalTokens) / (2 * s.OriginalTokens)
	}
}

// Config is what Messages needs to know beyond the bands; zero fields take the
// defaults.
type Config struct {
	Pool
	MinTokens int
}

// Messages compresses entries in memory: the whole of the contract's feature
// without files. No provider is needed when there is nothing to do.
func Messages(ctx context.Context, p Provider, entries []json.RawMessage, turns []transcript.Turn, bands []Band, c Config) ([]json.RawMessage, []Task, Stats, error) {
	var stats Stats
	if err := Validate(bands); err != nil {
		return nil, nil, stats, err
	}
	if len(bands) == 0 {
		return entries, []Task{}, stats, nil
	}
	if c.MinTokens == 0 {
		c.MinTokens = MinTokens
	}
	mapping := MapTurns(turns, bands)
	tasks := CreateTasks(entries, turns, mapping, c.MinTokens)
	stats.MessagesSkipped = len(CreateTasks(entries, turns, mapping, 1)) - len(tasks)
	if len(tasks) > 0 {
		jobs := make([]Job, len(tasks))
		for i := range tasks {
			jobs[i] = Job{Role: tasks[i].EntryType, Level: tasks[i].Level, Tokens: tasks[i].EstimatedTokens}
		}
		text := func(i int) (string, error) { return tasks[i].OriginalContent, nil }
		err := c.Run(ctx, p, jobs, text, func(o Outcome) error {
			o.apply(&tasks[o.Job])
			return nil
		})
		if err != nil {
			return nil, nil, stats, err
		}
	}
	for i := range tasks {
		t := &tasks[i]
		stats.OriginalTokens += t.EstimatedTokens
		if t.Status == Success {
			stats.MessagesCompressed++
			stats.CompressedTokens += EstimateTokens(*t.Result)
		} else {
			stats.MessagesFailed++
			stats.CompressedTokens += t.EstimatedTokens
		}
	}
	stats.finish()
	return ApplyResults(entries, tasks), tasks, stats, nil
}
