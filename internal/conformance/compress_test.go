package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
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
		return call(in, &a, func() any { return transcript.Text(a.Entry) })
	case "estimateTokens(extractTextContent)":
		var a struct{ Entry json.RawMessage }
		return call(in, &a, func() any { return compress.EstimateTokens(transcript.Text(a.Entry)) })
	case "applyCompressedContent":
		var a struct {
			Entry          json.RawMessage
			CompressedText string
		}
		return call(in, &a, func() any { return json.RawMessage(transcript.SetText(a.Entry, a.CompressedText)) })
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
		}{MinTokens: config.Defaults().Compress.MinTokens}
		return onSession(in, &a, &a.Entries, func(s *vectorSession) any { return s.tasks(a.Turns, a.Mapping, a.MinTokens) })
	case "createCompressionTasks[fixture]":
		var a struct {
			FixtureJsonl string
			Band         compress.Band
		}
		return call(in, &a, func() any { return fixture(a.FixtureJsonl, a.Band) })
	case "applyCompressionResults":
		var a struct {
			Entries []json.RawMessage
			Results []task
		}
		return call(in, &a, func() any { return apply(a.Entries, a.Results) })
	case "identifyTurns":
		var a struct{ Entries []json.RawMessage }
		return onSession(in, &a, &a.Entries, func(s *vectorSession) any { return s.Turns(s.All()) })
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
	var res *compress.Result
	var entries any
	var err error
	if _, e := onSession(in, &a, &a.Entries, func(s *vectorSession) any {
		c := a.Config
		ms := time.Millisecond
		plan, e := compress.NewPlan(s.Session, compress.Options{
			Bands: a.Bands, Whole: true, MinTokens: c.MinTokens,
			Pool: compress.Pool{
				Concurrency: c.Concurrency, MaxAttempts: c.MaxAttempts,
				TimeoutInitial: time.Duration(c.TimeoutInitial) * ms, TimeoutIncrement: time.Duration(c.TimeoutIncrement) * ms,
				LargeThreshold: c.ThinkingThreshold, TargetHeavy: c.TargetHeavy, TargetStandard: c.TargetStandard,
			},
		})
		if e != nil {
			err = e
			return nil
		}
		if !reflect.DeepEqual(plan.Turns, a.Turns) || !plan.Nothing() {
			err = fmt.Errorf("turns %v, %d items: this vector needs a provider", plan.Turns, len(plan.Items))
			return nil
		}
		if _, res, err = plan.Packet(context.Background(), nil, compress.RunOptions{}); err == nil {
			entries, err = s.run(plan)
		}
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
	b, err := json.Marshal(res.Stats)
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

// run runs a plan that needs no provider and returns the entries of the session that
// it leaves to be resumed: the source, where no clone is worth making.
func (s *vectorSession) run(plan *compress.Plan) ([]json.RawMessage, error) {
	left := s.Path
	res, err := plan.Run(context.Background(), nil, compress.RunOptions{ID: transcript.NewID(s.Host, time.Now()), Now: time.Now()})
	switch {
	case err == nil:
		left = res.Clone.Path
		defer os.Remove(left)
	case !errors.Is(err, compress.ErrNothing):
		return nil, err
	}
	data, err := os.ReadFile(left)
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	for line := range bytes.Lines(data) {
		entries = append(entries, line)
	}
	return entries, nil
}

// apply puts the results of tasks where the product puts them in a clone.
func apply(entries []json.RawMessage, results []task) any {
	text := func(n int) string {
		if results[n].Result == nil {
			return ""
		}
		return *results[n].Result
	}
	applied := slices.Clone(entries)
	for i, n := range compress.Standing(len(results), len(entries), func(n int) (int32, bool) {
		return int32(results[n].MessageIndex), compress.Stands(results[n].Status, text(n))
	}) {
		applied[i] = transcript.SetText(entries[i], text(n))
	}
	return applied
}

// TestResultsForEntriesThatAreNotThere: the contract ignores them.
func TestResultsForEntriesThatAreNotThere(t *testing.T) {
	entries := []json.RawMessage{json.RawMessage(`{"type":"user","message":{"content":"first"}}`)}
	text := "short"
	for _, index := range []int{-1, 1, 7, 1 << 30} {
		got := apply(entries, []task{{MessageIndex: index, Status: compress.Success, Result: &text}})
		if d := cmp.Diff(any(entries), got); d != "" {
			t.Errorf("result for entry %d of 1 (-before +after):\n%s", index, d)
		}
	}
}

func fixture(jsonl string, band compress.Band) any {
	s, err := writeSession([]byte(jsonl))
	if err != nil {
		return err.Error()
	}
	defer os.Remove(s.Path)
	turns := s.Turns(s.All())
	short := []map[string]any{}
	for _, t := range s.tasks(turns, compress.MapTurns(turns, []compress.Band{band}), config.Defaults().Compress.MinTokens) {
		short = append(short, map[string]any{"messageIndex": t.MessageIndex, "entryType": t.EntryType, "estimatedTokens": t.EstimatedTokens})
	}
	return map[string]any{"turns": turns, "tasks": short}
}

// task is a message to be compressed as the contract writes it down; the product
// holds a plan's item, and an outcome when it is done.
type task struct {
	MessageIndex    int             `json:"messageIndex"`
	EntryType       string          `json:"entryType"`
	OriginalContent string          `json:"originalContent"`
	Level           compress.Level  `json:"level"`
	EstimatedTokens int             `json:"estimatedTokens"`
	Attempt         int             `json:"attempt"`
	TimeoutMs       int             `json:"timeoutMs"`
	Status          compress.Status `json:"status"`
	Result          *string         `json:"result,omitempty"`
	Error           string          `json:"error,omitempty"`
}

// vectorSession is a vector's entries as a session file, the only way in which the
// product meets entries.
type vectorSession struct {
	*transcript.Session
	lines [][]byte
}

func writeSession(jsonl []byte) (*vectorSession, error) {
	f, err := os.CreateTemp("", "vector-*.jsonl")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Write(jsonl); err != nil {
		return nil, err
	}
	s, err := transcript.Read(context.Background(), f.Name())
	if err != nil {
		return nil, err
	}
	out := &vectorSession{Session: s}
	for i := range s.Entries {
		raw, err := s.Raw(f, i)
		if err != nil {
			return nil, err
		}
		out.lines = append(out.lines, raw)
	}
	return out, nil
}

// onSession is call for a function over the entries of a session.
func onSession(in map[string]json.RawMessage, args any, entries *[]json.RawMessage, fn func(*vectorSession) any) (any, error) {
	var err error
	got, e := call(in, args, func() any {
		var b []byte
		for _, entry := range *entries {
			var line bytes.Buffer
			if err = json.Compact(&line, entry); err != nil {
				return nil
			}
			b = append(append(b, line.Bytes()...), '\n')
		}
		var s *vectorSession
		if s, err = writeSession(b); err != nil {
			return nil
		}
		defer os.Remove(s.Path)
		if len(s.Entries) != len(*entries) {
			err = fmt.Errorf("%d entries were read as %d", len(*entries), len(s.Entries))
			return nil
		}
		return fn(s)
	})
	return got, errors.Join(e, err)
}

func (s *vectorSession) tasks(turns []transcript.Turn, mapping []compress.Mapping, minTokens int) []task {
	items, _ := compress.Select(s.Session, s.All(), turns, mapping, compress.Options{MinTokens: minTokens})
	pool := compress.NewPool(config.Defaults().Compress)
	tasks := []task{}
	for _, it := range items {
		m := it.Waiting()
		tasks = append(tasks, task{
			MessageIndex: int(it.Entry), EntryType: it.Role(), OriginalContent: transcript.Text(s.lines[it.Entry]), Level: m.Level,
			EstimatedTokens: m.Before, Attempt: m.Attempts, Status: m.Status,
			TimeoutMs: int(compress.Timeout(m.Attempts, pool.TimeoutInitial, pool.TimeoutIncrement).Milliseconds()),
		})
	}
	return tasks
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
