package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// Entry is one event read from a timeline.
type Entry struct {
	Raw  []byte // the line as it stands in the file, without its newline
	TS   string // as written; empty where the line has none
	Type string
}

// Time is when the event happened; the zero time where the line does not say.
func (e Entry) Time() time.Time {
	t, err := time.Parse(time.RFC3339, e.TS)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Text returns the member at a path such as "stage" or "progress.done"
// as text: strings unquoted, other values as their JSON, "" where there is none.
func (e Entry) Text(path string) string { return gjson.GetBytes(e.Raw, path).String() }

// Data returns the members that are not the timeline's own (ts, type, category,
// label), in the order of the line. Each value is a [json.RawMessage].
func (e Entry) Data() []Field {
	var data []Field
	gjson.ParseBytes(e.Raw).ForEach(func(k, v gjson.Result) bool {
		if !reserved(k.Str) {
			data = append(data, Field{Key: k.Str, Value: json.RawMessage(v.Raw)})
		}
		return true
	})
	return data
}

// Filter chooses entries. The zero filter takes all.
type Filter struct {
	Types []string // any of these types
}

func (f Filter) match(e Entry) bool { return len(f.Types) == 0 || slices.Contains(f.Types, e.Type) }

// mayMatch says, by looking at bytes only, whether a line can hold a wanted
// entry. It spares parsing the many lines that cannot. An escape may hide a
// type's letters, so lines with a backslash are parsed.
func (f Filter) mayMatch(line []byte) bool {
	if len(f.Types) == 0 || bytes.IndexByte(line, '\\') >= 0 {
		return true
	}
	return slices.ContainsFunc(f.Types, func(t string) bool { return bytes.Contains(line, []byte(t)) })
}

// ReadStats tells how much of a timeline was looked at.
type ReadStats struct {
	Lines int // lines looked at, blank ones aside
	Bad   int // of these: no JSON object with a type, broken off, or over 1 MiB
	Run   int // the most bad ones in a row
}

// maxWindow is how many bytes readers look at, beside the newest windowLines lines.
const maxWindow = 16 << 20

// Newest walks the timeline from its end, in file order reversed. It takes no
// lock, reads backwards in blocks, and goes no further than the newest 2,200
// lines (or 16 MiB), so its cost does not grow with the file. Bad lines are
// passed over. A missing timeline is empty; one that cannot be read yields one
// error and ends.
func (s *Session) Newest(filter Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, size, err := s.openTimeline()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if f == nil {
			return
		}
		defer f.Close()
		if err := newest(f, size, filter, nil, func(e Entry) bool { return yield(e, nil) }); err != nil {
			yield(Entry{}, err)
		}
	}
}

// Latest returns the last entry of a type among the newest 2,200 lines.
func (s *Session) Latest(typ string) (Entry, bool, error) {
	for e, err := range s.Newest(Filter{Types: []string{typ}}) {
		return e, err == nil, err
	}
	return Entry{}, false, nil
}

// Last returns the newest n entries that the filter takes, oldest first, out of
// the newest 2,200 lines. The stats cover the lines it had to look at.
func (s *Session) Last(n int, filter Filter) ([]Entry, ReadStats, error) {
	f, size, err := s.openTimeline()
	if f == nil {
		return nil, ReadStats{}, err
	}
	defer f.Close()
	var stats ReadStats
	entries, err := lastOf(f, size, n, filter, &stats)
	return entries, stats, err
}

func lastOf(f io.ReaderAt, size int64, n int, filter Filter, stats *ReadStats) (entries []Entry, err error) {
	if n > 0 {
		err = newest(f, size, filter, stats, func(e Entry) bool {
			entries = append(entries, e)
			return len(entries) < n
		})
	}
	slices.Reverse(entries)
	return entries, err
}

// openTimeline returns nil and no error where there is no timeline.
func (s *Session) openTimeline() (*os.File, int64, error) {
	err := s.checkDir()
	if err == nil {
		var f *os.File
		var info fs.FileInfo
		if f, info, err = openAs(s.path(TimelineFile), os.O_RDONLY); err == nil {
			return f, info.Size(), nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, 0, err
}

// newest hands the wanted entries of the first size bytes of f to yield, the
// last line first. With stats every line is checked and counted; without, lines
// that cannot be wanted are not even parsed.
func newest(f io.ReaderAt, size int64, filter Filter, stats *ReadStats, yield func(Entry) bool) error {
	count, run := 0, 0
	return LinesBack(f, size, maxWindow, func(line []byte) bool {
		if count++; count > windowLines {
			return false
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return true
		}
		if stats != nil {
			stats.Lines++
		} else if !filter.mayMatch(line) {
			return true
		}
		e, ok := parseEntry(line)
		if !ok {
			if stats != nil {
				stats.Bad++
				run++
				stats.Run = max(stats.Run, run)
			}
			return true
		}
		run = 0
		return !filter.match(e) || yield(e)
	})
}

// parseEntry reads a line that has no surrounding space. No entry is longer than maxLine.
func parseEntry(line []byte) (Entry, bool) {
	if len(line) == 0 || len(line) > maxLine || line[0] != '{' || !ValidJSON(line) {
		return Entry{}, false
	}
	typ, ts := gjson.GetBytes(line, "type"), gjson.GetBytes(line, "ts")
	if typ.Type != gjson.String || typ.Str == "" {
		return Entry{}, false
	}
	e := Entry{Raw: line, Type: typ.Str}
	if ts.Type == gjson.String {
		e.TS = ts.Str
	}
	return e, true
}
