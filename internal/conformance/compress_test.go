package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type compressCase struct {
	Fn, Name string
	Input    map[string]json.RawMessage
	Expected json.RawMessage
}

// TestCompress runs every vector of session compression. A function or an
// argument this file does not know is a failure, not a skip.
func TestCompress(t *testing.T) {
	for _, c := range vectors[compressCase](t, "expected") {
		t.Run(c.Fn+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			before, err := json.Marshal(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runCompress(c.Fn, c.Input, c.Expected)
			if err != nil {
				t.Fatal(err)
			}
			out, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(value(t, c.Expected), value(t, out)); d != "" {
				t.Errorf("-expected +got:\n%s", d)
			}
			if after, _ := json.Marshal(c.Input); !bytes.Equal(before, after) {
				t.Error("the input was changed")
			}
		})
	}
}

func runCompress(fn string, in map[string]json.RawMessage, expected json.RawMessage) (any, error) {
	switch fn {
	case "estimateTokens":
		var a struct{ Text string }
		return call(in, &a, func() any { return compress.EstimateTokens(a.Text) })
	case "extractTextContent":
		var a struct{ Entry json.RawMessage }
		return call(in, &a, func() any { return compress.ExtractText(a.Entry) })
	case "estimateTokens(extractTextContent)":
		var a struct{ Entry json.RawMessage }
		return call(in, &a, func() any { return compress.EstimateTokens(compress.ExtractText(a.Entry)) })
	case "applyCompressedContent":
		var a struct {
			Entry          json.RawMessage
			CompressedText string
		}
		return call(in, &a, func() any { return json.RawMessage(compress.ApplyText(a.Entry, a.CompressedText)) })
	case "mapTurnsToBands":
		var a struct {
			Turns []transcript.Turn
			Bands []compress.Band
		}
		return call(in, &a, func() any { return compress.MapTurns(a.Turns, a.Bands) })
	case "mapTurnsToBands[one]":
		var a struct {
			TotalTurns, TurnIndex int
			Bands                 []compress.Band
		}
		return call(in, &a, func() any { return compress.MapTurns(make([]transcript.Turn, a.TotalTurns), a.Bands)[a.TurnIndex].Band })
	case "createCompressionTasks":
		a := struct {
			Entries   []json.RawMessage
			Turns     []transcript.Turn
			Mapping   []compress.Mapping
			MinTokens int
		}{MinTokens: compress.MinTokens}
		return call(in, &a, func() any { return compress.CreateTasks(a.Entries, a.Turns, a.Mapping, a.MinTokens) })
	case "createCompressionTasks[fixture]":
		var a struct {
			FixtureJsonl string
			Band         compress.Band
		}
		return call(in, &a, func() any { return fixture(a.FixtureJsonl, a.Band) })
	case "applyCompressionResults":
		var a struct {
			Entries []json.RawMessage
			Results []compress.Task
		}
		return call(in, &a, func() any { return compress.ApplyResults(a.Entries, a.Results) })
	case "identifyTurns":
		var a struct{ Entries []json.RawMessage }
		return call(in, &a, func() any { return compress.IdentifyTurns(a.Entries) })
	case "calculateTimeout":
		var a struct{ Attempt, TimeoutInitial, TimeoutIncrement int }
		return call(in, &a, func() any {
			ms := time.Millisecond
			return compress.Timeout(a.Attempt, time.Duration(a.TimeoutInitial)*ms, time.Duration(a.TimeoutIncrement)*ms) / ms
		})
	case "compressMessages":
		return compressMessages(in, expected)
	}
	return nil, fmt.Errorf("unknown function %q", fn)
}

func compressMessages(in map[string]json.RawMessage, expected json.RawMessage) (any, error) {
	var a struct {
		Entries []json.RawMessage
		Turns   []transcript.Turn
		Bands   []compress.Band
		Config  struct {
			Concurrency, TimeoutInitial, TimeoutIncrement, MaxAttempts, MinTokens, ThinkingThreshold, TargetHeavy, TargetStandard int
		}
	}
	var err error
	var entries []json.RawMessage
	var stats compress.Stats
	if _, e := call(in, &a, func() any {
		c := a.Config
		ms := time.Millisecond
		entries, _, stats, err = compress.Messages(context.Background(), nil, a.Entries, a.Turns, a.Bands, compress.Config{
			MinTokens: c.MinTokens,
			Pool: compress.Pool{
				Concurrency: c.Concurrency, MaxAttempts: c.MaxAttempts,
				TimeoutInitial: time.Duration(c.TimeoutInitial) * ms, TimeoutIncrement: time.Duration(c.TimeoutIncrement) * ms,
				LargeThreshold: c.ThinkingThreshold, TargetHeavy: c.TargetHeavy, TargetStandard: c.TargetStandard,
			},
		})
		return nil
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	// Of the statistics only the keys that the vector gives are compared.
	var want struct {
		Entries json.RawMessage
		Stats   map[string]json.RawMessage
	}
	if err := strict(expected, &want); err != nil {
		return nil, err
	}
	b, err := json.Marshal(stats)
	if err != nil {
		return nil, err
	}
	var all, some map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	some = map[string]any{}
	for k := range want.Stats {
		v, ok := all[k]
		if !ok {
			return nil, fmt.Errorf("unknown statistic %q", k)
		}
		some[k] = v
	}
	return map[string]any{"entries": entries, "stats": some}, nil
}

func fixture(jsonl string, band compress.Band) any {
	var entries []json.RawMessage
	for _, line := range bytes.Split([]byte(jsonl), []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			entries = append(entries, line)
		}
	}
	turns := compress.IdentifyTurns(entries)
	tasks := compress.CreateTasks(entries, turns, compress.MapTurns(turns, []compress.Band{band}), compress.MinTokens)
	short := []map[string]any{}
	for _, t := range tasks {
		short = append(short, map[string]any{"messageIndex": t.MessageIndex, "entryType": t.EntryType, "estimatedTokens": t.EstimatedTokens})
	}
	return map[string]any{"turns": turns, "tasks": short}
}

// call decodes the arguments, refusing any that args has no field for.
func call(in map[string]json.RawMessage, args any, fn func() any) (any, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if err := strict(b, args); err != nil {
		return nil, err
	}
	return fn(), nil
}

func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("decode %s: %w", reflect.TypeOf(v), err)
	}
	return nil
}

func value(t *testing.T, b []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}
