package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func TestEmitLines(t *testing.T) {
	t.Parallel()
	const at = `{"ts":"2026-03-01T09:30:00.120Z",`
	cases := []struct {
		name  string
		event Event
		want  string
	}{
		{
			"001 5.1 compaction", On("session:compact", "workflowType", "quick", "currentStage", "REVIEW"),
			`"type":"session:compact","category":"session","label":"Context 壓縮","workflowType":"quick","currentStage":"REVIEW"}`,
		},
		{
			"000 suggestion", On("session:compact-suggestion", "transcriptSize", 6500000, "stage", "DEV", "agent", "developer"),
			`"type":"session:compact-suggestion","category":"session","label":"Compact 建議","transcriptSize":6500000,"stage":"DEV","agent":"developer"}`,
		},
		{"no data", On("session:start"), `"type":"session:start","category":"session","label":"工作階段開始"}`},
		{
			"the order given is kept", On("tool:used", "z", 1, "a", 2, "m", 3),
			`"type":"tool:used","category":"tool","label":"工具使用","z":1,"a":2,"m":3}`,
		},
		{
			"own members cannot be overridden", On("tool:used", "type", "x", "ts", "y", "category", "z", "label", "l", "ok", true),
			`"type":"tool:used","category":"tool","label":"工具使用","ok":true}`,
		},
		{
			"the last of equal keys wins", On("tool:used", "a", 1, "b", 2, "a", 3),
			`"type":"tool:used","category":"tool","label":"工具使用","b":2,"a":3}`,
		},
		{
			"no HTML escapes, one line", On("tool:failure", "error", "a<b> & \"c\"\nd", "é\n", json.RawMessage("{\n\"n\": [1,\n2]}")),
			`"type":"tool:failure","category":"tool","label":"工具失敗","error":"a<b> & \"c\"\nd","é\n":{"n":[1,2]}}`,
		},
		{
			"null and lists", On("barrier:waiting", "next", nil, "waitingStages", []string{"TEST:2"}),
			`"type":"barrier:waiting","category":"barrier","label":"Barrier 等待中","next":null,"waitingStages":["TEST:2"]}`,
		},
	}
	s := testSession(t)
	var want strings.Builder
	for _, c := range cases {
		emit(t, s, c.event)
		want.WriteString(at + c.want + "\n")
	}
	if diff := cmp.Diff(want.String(), readRaw(t, s.path(TimelineFile))); diff != "" {
		t.Error(diff)
	}
}

func TestEmitRefuses(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit(t, s, On("session:start"))
	before := readRaw(t, s.path(TimelineFile))
	err := s.Update(func(tx *Tx) error { return tx.Emit(On("session:end"), On("no:such", "a", 1)) })
	if err == nil || err.Error() != "未知的 timeline 事件類型：no:such" {
		t.Errorf("unknown type: %v", err)
	}
	for name, e := range map[string]Event{
		"a value JSON cannot hold": On("session:end", "f", func() {}),
		"a huge event":             On("session:end", "f", strings.Repeat("x", maxLine)),
	} {
		if err := s.Update(func(tx *Tx) error { return tx.Emit(On("session:end"), e) }); err == nil {
			t.Errorf("%s went through", name)
		}
	}
	if got := readRaw(t, s.path(TimelineFile)); got != before {
		t.Errorf("a refused batch left %q", got)
	}
	for _, typ := range message.EventTypes() {
		emit(t, s, On(typ))
	}
	if _, stats, err := s.Last(1000, Filter{}); err != nil || stats.Bad != 0 || stats.Lines != 1+len(message.EventTypes()) {
		t.Errorf("%+v, %v", stats, err)
	}
}

// What a dead writer left unfinished does not take the next event with it.
func TestEmitAfterTornLine(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	writeRaw(t, s.path(TimelineFile), `{"type":"session:start"}`+"\n"+`{"ts":"2026`)
	emit(t, s, On("session:end"))
	entries, stats, err := s.Last(10, Filter{})
	if err != nil || stats != (ReadStats{Lines: 3, Bad: 1, Run: 1}) {
		t.Errorf("%+v, %v", stats, err)
	}
	if got := types(entries); !slices.Equal(got, []string{"session:start", "session:end"}) {
		t.Errorf("entries %v", got)
	}
}

func types(entries []Entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Type
	}
	return list
}

func TestEntry(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit(t, s, On("loop:advance", "iteration", 3, "progress", map[string]any{"done": 3}, "note", "a\"b", "none", nil))
	e, ok, err := s.Latest("loop:advance")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if e.TS != "2026-03-01T09:30:00.120Z" || !e.Time().Equal(clock) {
		t.Errorf("time %q, %v", e.TS, e.Time())
	}
	got := []any{number(e, "iteration"), e.Text("progress.done"), e.Text("note"), e.Text("none"), e.Text("absent")}
	if diff := cmp.Diff([]any{int64(3), "3", `a"b`, "", ""}, got); diff != "" {
		t.Error(diff)
	}
	want := []Field{{Key: "iteration", Value: json.RawMessage("3")}, {Key: "progress", Value: json.RawMessage(`{"done":3}`)}, {Key: "note", Value: json.RawMessage(`"a\"b"`)}, {Key: "none", Value: json.RawMessage("null")}}
	if diff := cmp.Diff(want, e.Data()); diff != "" {
		t.Error(diff)
	}
	if !(Entry{TS: "soon"}).Time().IsZero() {
		t.Error("a time that is none")
	}
}

func TestReadersOnBadLines(t *testing.T) {
	t.Parallel()
	const good = `{"ts":"t","type":"stage:complete","category":"stage","n":%d}` + "\n"
	deep := strings.Repeat(`{"a":[`, 300_000)
	var file strings.Builder
	fmt.Fprintf(&file, good, 1)
	for _, bad := range []string{
		`{"type":"stage:complete"`, `["stage:complete"]`, `"stage:complete"`, `null`, `7`, `{}`, `{"ts":"x"}`, `{"type":7}`, `{"type":""}`, `{"type":null}`,
		"{\"type\":\"stage:complete\",\"x\":\"\x00\"}", "\x00\x00", `{"type":"stage:complete"} {"type":"stage:complete"}`, "stage:complete",
		`{"type":"stage:complete","x":"` + strings.Repeat("y", maxLine) + `"}`, deep[:maxLine-10], `{"type":"stage:complete","x":` + deep[:maxLine/2],
	} {
		file.WriteString(bad + "\n")
	}
	file.WriteString("\n   \r\n")
	fmt.Fprintf(&file, strings.TrimSuffix(good, "\n")+"\r\n", 2)
	fmt.Fprintf(&file, `{"type":"stage\u003acomplete","category":"stage","n":3}`+"\n")
	file.WriteString(`{"type":"stage:comp`)
	s := testSession(t)
	writeRaw(t, s.path(TimelineFile), file.String())
	entries, stats, err := s.Last(100, Filter{})
	if err != nil || stats != (ReadStats{Lines: 21, Bad: 18, Run: 17}) {
		t.Errorf("%+v, %v", stats, err)
	}
	for i, e := range entries {
		if number(e, "n") != int64(i+1) {
			t.Errorf("entry %d is %s", i, e.Raw)
		}
	}
	if len(entries) != 3 {
		t.Errorf("%d entries", len(entries))
	}
	if e, ok, err := s.Latest("stage:complete"); !ok || err != nil || number(e, "n") != 3 {
		t.Errorf("Latest = %s, %v, %v", e.Raw, ok, err)
	}
}

// A complete object counts even where its newline is missing.
func TestReadLastLineWithoutNewline(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	writeRaw(t, s.path(TimelineFile), `{"type":"session:start"}`)
	if e, ok, err := s.Latest("session:start"); !ok || err != nil || e.TS != "" {
		t.Errorf("Latest = %+v, %v, %v", e, ok, err)
	}
}

func TestReadersOnMissingAndUnreadable(t *testing.T) {
	t.Parallel()
	read := func(s *Session) []error {
		_, ok, err1 := s.Latest("session:start")
		entries, _, err2 := s.Last(3, Filter{})
		if ok || len(entries) > 0 {
			t.Error("entries out of nothing")
		}
		return []error{err1, err2}
	}
	s := testSession(t)
	for i, err := range read(s) {
		if err != nil {
			t.Errorf("reader %d, no session: %v", i, err)
		}
	}
	update(t, s, func(*Tx) error { return nil })
	for i, err := range read(s) {
		if err != nil {
			t.Errorf("reader %d, no timeline: %v", i, err)
		}
	}
	if err := os.Mkdir(s.path(TimelineFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, err := range read(s) {
		if err == nil {
			t.Errorf("reader %d: no error for a folder", i)
		}
	}
	emit(t, s, On("session:start"))
	if list, _, err := s.Last(9, Filter{}); err != nil || len(list) != 1 {
		t.Errorf("the folder was not set aside: %d entries, %v", len(list), err)
	}
	if os.Getuid() != 0 {
		if err := errors.Join(os.Remove(s.path(TimelineFile)), os.WriteFile(s.path(TimelineFile), nil, 0)); err != nil {
			t.Fatal(err)
		}
		for i, err := range read(s) {
			if !errors.Is(err, os.ErrPermission) {
				t.Errorf("reader %d: %v", i, err)
			}
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	emit(t, s, On("stage:start", "n", 1), On("session:compact", "n", 2), On("stage:complete", "n", 3),
		On("agent:complete", "n", 4), On("stage:complete", "n", 5, "note", "session:compact"))
	for _, c := range []struct {
		n      int
		filter Filter
		want   []int64
	}{
		{10, Filter{}, []int64{1, 2, 3, 4, 5}},
		{2, Filter{}, []int64{4, 5}},
		{0, Filter{}, nil},
		{-1, Filter{}, nil},
		{10, Filter{Types: []string{"stage:complete", "session:compact"}}, []int64{2, 3, 5}},
	} {
		entries, _, err := s.Last(c.n, c.filter)
		var got []int64
		for _, e := range entries {
			got = append(got, number(e, "n"))
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("Last(%d, %+v): %v %s", c.n, c.filter, err, diff)
		}
	}
}

// LinesBack agrees with splitting the whole file, for any content.
func TestLinesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "\r", strings.Repeat("b", 64<<10), strings.Repeat("c", 300<<10), strings.Repeat("d", maxLine+1)}),
			rapid.StringMatching(`[a-z]{0,200}`))
		data := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		checkLinesBack(t, []byte(data), int64(rapid.IntRange(0, len(data)+1).Draw(t, "limit")))
	})
}

func checkLinesBack(t interface{ Fatalf(string, ...any) }, data []byte, limit int64) {
	seen := string(data[max(0, len(data)-int(limit)):])
	want := strings.Split(seen, "\n")
	if len(seen) < len(data) {
		want = want[1:] // the limit may have cut it
	}
	want = slices.DeleteFunc(want, func(l string) bool { return l == "" })
	slices.Reverse(want)
	var got []string
	err := LinesBack(bytes.NewReader(data), int64(len(data)), limit, func(line []byte) bool {
		got = append(got, string(line))
		return true
	})
	if err != nil {
		t.Fatalf("LinesBack: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Fatalf("lines differ: %.500s", diff)
	}
}

func FuzzTimeline(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"ts":"2026-03-01T09:30:00.120Z","type":"session:compact","category":"session","label":"Context 壓縮"}` + "\n" + `{"type":"stage:complete"`))
	f.Add([]byte("{\"type\":\"a\\u0000\"}\r\n[[[[\x00\xff{\"type\":{}}\n{\"type\":\"stage:complete\",\"type\":\"x\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkLinesBack(t, data, maxWindow)
		var stats ReadStats
		all, err := lastOf(bytes.NewReader(data), int64(len(data)), windowLines, Filter{}, &stats)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Lines != stats.Bad+len(all) {
			t.Errorf("%+v, but %d entries", stats, len(all))
		}
		for _, e := range all {
			if !json.Valid(e.Raw) || e.Type == "" {
				t.Errorf("took %q", e.Raw)
			}
			e.Time()
			e.Data()
			e.Text("stage")
			// Filtering by bytes first finds what filtering by value finds.
			filter := Filter{Types: []string{e.Type}}
			quick, _ := lastOf(bytes.NewReader(data), int64(len(data)), windowLines, filter, nil)
			slow, _ := lastOf(bytes.NewReader(data), int64(len(data)), windowLines, filter, &ReadStats{})
			if len(quick) == 0 || len(quick) != len(slow) {
				t.Errorf("%q: %d entries with the byte filter, %d without", e.Type, len(quick), len(slow))
			}
		}
	})
}

// Trimming works although each process, here each update, adds a line or two.
func TestTrim(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	const n = 6000
	longest := 0
	for i := range n {
		emit(t, s, On("tool:used", "seq", i))
		if i%50 == 0 {
			longest = max(longest, strings.Count(readRaw(t, s.path(TimelineFile)), "\n"))
		}
	}
	if longest <= windowLines-100 || longest > windowLines+300 {
		t.Errorf("the timeline grew to %d lines", longest)
	}
	entries, stats, err := s.Last(keepLines, Filter{})
	if err != nil || len(entries) != keepLines || stats.Bad != 0 {
		t.Fatalf("%d entries, %+v, %v", len(entries), stats, err)
	}
	for i, e := range entries {
		if number(e, "seq") != int64(n-keepLines+i) {
			t.Fatalf("entry %d is %s", i, e.Raw)
		}
	}
	if info, err := os.Stat(s.path(TimelineFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode after a trim: %v, %v", info.Mode(), err)
	}
}

func TestTrimKeepsExactly(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{1, keepLines, windowLines, windowLines + 1, 3 * windowLines} {
		path := filepath.Join(t.TempDir(), "timeline.jsonl")
		var file strings.Builder
		for i := range lines {
			fmt.Fprintln(&file, i)
		}
		writeRaw(t, path, file.String())
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := trim(f, int64(file.Len()), path); err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(readRaw(t, path))
		want := lines
		if lines > windowLines {
			want = keepLines
		}
		if len(got) != want || got[0] != strconv.Itoa(lines-want) || got[want-1] != strconv.Itoa(lines-1) {
			t.Errorf("%d lines became %d, %s to %s", lines, len(got), got[0], got[len(got)-1])
		}
	}
}

// Many processes append while the timeline is trimmed: no line is torn, and of
// each writer the newest events are all there.
func TestManyWritersAndTrimming(t *testing.T) {
	const writers, events = 12, 800
	s := testSession(t)
	children := make([]*exec.Cmd, writers)
	for i := range children {
		children[i] = startChild(t, "emit", filepath.Dir(s.home.Root()), strconv.Itoa(events), strconv.Itoa(i))
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	entries, stats, err := s.Last(windowLines, Filter{})
	if err != nil || stats.Bad != 0 || len(entries) < keepLines {
		t.Fatalf("%d entries, %+v, %v", len(entries), stats, err)
	}
	next := map[string]int64{}
	last := map[string]int64{}
	for _, e := range entries {
		w, seq := e.Text("writer"), number(e, "seq")
		if want, ok := next[w]; ok && seq != want {
			t.Fatalf("writer %s: event %d where %d should be", w, seq, want)
		}
		next[w], last[w] = seq+1, seq
	}
	for w, seq := range last {
		// A batch may go a little past the number asked for.
		if seq < events-1 {
			t.Errorf("writer %s: the last event is %d", w, seq)
		}
	}
}
