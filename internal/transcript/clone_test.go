package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var cloneTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func mustClone(t testing.TB, s *Session, ch Change) (Cloned, []byte) {
	t.Helper()
	if ch.ID == "" {
		ch.ID = NewID(s.Host, cloneTime)
	}
	ch.Now = cloneTime
	c, err := Clone(context.Background(), s, ch)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != c.Bytes {
		t.Fatalf("%d bytes reported, %d written", c.Bytes, len(b))
	}
	return c, b
}

func copyTo(t testing.TB, path, name string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// A clone without changes differs from its source in session ids and the title
// line only; and putting the old ids back gives the source, byte for byte.
func TestRecordedClones(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"claude_[0-9t]*.jsonl", "codex_[0-9r]*.jsonl"} {
		for _, path := range recorded(t, pattern) {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				path := copyTo(t, path, filepath.Base(path))
				source, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				s := mustRead(t, path)
				c, got := mustClone(t, s, Change{})
				if ids := idsIn(t, path); s.Host == Claude && len(ids) == 1 || s.Host == Codex {
					old := s.ID
					if s.Host == Claude {
						old = ids[0]
					}
					back := bytes.ReplaceAll(got, []byte(c.ID), []byte(old))
					if !bytes.Equal(back, source) {
						t.Error("other bytes than the ids differ")
					}
				}
				again := mustRead(t, c.Path)
				if d := cmp.Diff(liveLines(s), liveLines(again)); d != "" {
					t.Errorf("live lines: %s", d)
				}
				after, _ := os.ReadFile(path)
				if !bytes.Equal(after, source) {
					t.Error("the source was changed")
				}
				if info, _ := os.Stat(c.Path); info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v", info.Mode())
				}
			})
		}
	}
}

func TestCloneTitleAndNames(t *testing.T) {
	t.Parallel()
	s := mustRead(t, write(t, userLine, answer("a1", "x", 1, "")))
	c, got := mustClone(t, s, Change{Title: "Clone: \"x\"\n"})
	if filepath.Base(c.Path) != c.ID+".jsonl" {
		t.Errorf("path %s", c.Path)
	}
	lines := strings.Split(string(got), "\n")
	want := fmt.Sprintf(`{"type":"custom-title","customTitle":"Clone: \"x\"\n","sessionId":%q}`, c.ID)
	if len(lines) != 4 || lines[2] != want || lines[3] != "" {
		t.Errorf("%q", lines)
	}
	if again := mustRead(t, c.Path); again.Title != `Clone: "x"` || !slices.Equal(idsIn(t, c.Path), []string{c.ID}) {
		t.Errorf("title %q, ids %v", again.Title, idsIn(t, c.Path))
	}
}

func TestCloneRemovesAndRelinks(t *testing.T) {
	t.Parallel()
	text := `{"type":"text","text":"x"}`
	path := write(t,
		node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", use("t1"))), node("user", "r1", "a1", 3, result("t1"))+"\r",
		node("assistant", "a2", "r1", 4, part("m2", text)), `{"type":"last-prompt","leafUuid":"r1"}`, node("user", "u2", "r1", 5, say("b")))
	s := mustRead(t, path)
	_, got := mustClone(t, s, Change{Removed: []int32{1, 2}})
	want := strings.Join([]string{
		node("user", "u1", "", 1, say("a")), node("assistant", "a2", "u1", 4, part("m2", text)), `{"type":"last-prompt","leafUuid":"u1"}`, node("user", "u2", "u1", 5, say("b")),
	}, "\n")
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	if _, err := Clone(t.Context(), s, Change{ID: NewID(Claude, cloneTime), Removed: []int32{2}}); err == nil || !strings.Contains(err.Error(), "tool calls without result: t1") {
		t.Errorf("half a pair removed: %v", err)
	}
}

// The host bridges a lost parent by time; when what it bridges to is removed,
// the clone says where the chain goes on.
func TestCloneKeepsBridges(t *testing.T) {
	t.Parallel()
	path := write(t,
		node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 20, part("m1", use("t1"))), node("user", "r1", "a1", 40, result("t1")),
		node("user", "u2", "lost", 44, say("b")), "")
	s := mustRead(t, path)
	_, got := mustClone(t, s, Change{Removed: []int32{1, 2}})
	want := node("user", "u1", "", 1, say("a")) + "\n" + node("user", "u2", "u1", 44, say("b")) + "\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// So it does where the written parent is in the file and a compaction has pruned it: a
// chain that goes on from before the last boundary, where an earlier one kept messages.
func TestCloneKeepsBridgesOverBoundaries(t *testing.T) {
	t.Parallel()
	path := write(t,
		node("user", "u1", "", 1, say("a")), node("user", "u2", "u1", 2, say("b")),
		node("system", "b1", "", 3, `,"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9,"preservedMessages":{"anchorUuid":"s1","uuids":["u2"]}}`),
		node("user", "s1", "b1", 4, say("first")+`,"isCompactSummary":true`),
		node("system", "b2", "", 5, `,"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9}`),
		node("user", "s2", "b2", 6, say("second")+`,"isCompactSummary":true`),
		node("assistant", "a1", "s2", 20, part("m1", use("t1"))), node("user", "r1", "a1", 40, result("t1")),
		node("user", "u3", "u1", 44, say("c")), "")
	s := mustRead(t, path)
	if d := cmp.Diff([]string{"a1", "r1", "s2", "u3"}, liveMessages(s, nil)); d != "" {
		t.Fatal(d)
	}
	c, _ := mustClone(t, s, Change{Removed: []int32{6, 7}})
	if d := cmp.Diff([]string{"s2", "u3"}, liveMessages(mustRead(t, c.Path), nil)); d != "" {
		t.Error(d)
	}
}

// When the last message goes, the clone says where to go on: another branch
// may stand last in the file.
func TestCloneKeepsItsEnd(t *testing.T) {
	t.Parallel()
	path := write(t,
		node("user", "u1", "", 1, say("a")), node("user", "x1", "u1", 2, say("dead")),
		node("assistant", "a1", "u1", 20, part("m1", use("t1"))), node("user", "r1", "a1", 40, result("t1")), "")
	s := mustRead(t, path)
	c, got := mustClone(t, s, Change{Removed: []int32{2, 3}})
	if want := fmt.Sprintf(`{"type":"last-prompt","leafUuid":"u1","explicit":true,"sessionId":%q}`, c.ID); !strings.Contains(string(got), want) {
		t.Errorf("%s", got)
	}
	if d := cmp.Diff([]string{"u1"}, liveMessages(mustRead(t, c.Path), nil)); d != "" {
		t.Error(d)
	}
}

// An interrupted or failed clone leaves nothing behind.
func TestCloneFailsWhole(t *testing.T) {
	t.Parallel()
	path := write(t, userLine, answer("a1", "x", 1, ""))
	s := mustRead(t, path)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	for name, run := range map[string]func() error{
		"cancelled": func() error { _, err := Clone(canceled, s, Change{ID: "x"}); return err },
		"rewrite": func() error {
			_, err := Clone(t.Context(), s, Change{ID: "x", Touched: []int32{0}, Rewrite: func(int, int, []byte) ([]byte, error) { return nil, broken }})
			return err
		},
		"verify": func() error {
			_, err := Clone(t.Context(), s, Change{ID: "x", Touched: []int32{0}, Rewrite: func(_, _ int, e []byte) ([]byte, error) { return SetText(e, ""), nil }})
			return err
		},
		"exists": func() error { _, err := Clone(t.Context(), s, Change{ID: "s"}); return err },
	} {
		if err := run(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for range 50 {
		if id := NewID(Claude, cloneTime); !uuid.MatchString(id) || id[14] != '4' {
			t.Error(id)
		}
		if id := NewID(Codex, cloneTime); !uuid.MatchString(id) || id[14] != '7' {
			t.Error(id)
		}
		if id := NewID(Opencode, cloneTime); !regexp.MustCompile(`^ses_[0-9a-f]{26}$`).MatchString(id) {
			t.Error(id)
		}
	}
	a, b := NewID(Codex, cloneTime), NewID(Codex, cloneTime.Add(time.Second))
	if a >= b {
		t.Error(a, b)
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	m := Marker{Source: "s", UUID: "u", Level: "compress", Hash: "ff"}
	out := Mark([]byte(`{"a":1}`), m)
	if got, ok := MarkerOf(out); !ok || got != m || !json.Valid(out) {
		t.Errorf("%s: %+v", out, got)
	}
	if _, ok := MarkerOf([]byte(`{"a":1}`)); ok {
		t.Error("a marker where none is")
	}
}

// genSession draws a session with branches, side chains, compactions, parallel
// calls, odd text, broken parents and broken lines.
func genSession(t *rapid.T) []string {
	var lines []string
	var ids []string
	second := 0
	open := []string{}
	texts := rapid.SampledFrom([]string{"x", "日本語😀", `a "quoted" \ text`, "line\nline", "é\u2028", strings.Repeat("long ", 40)})
	pick := func(label string) string {
		switch {
		case len(ids) == 0 || rapid.IntRange(0, 19).Draw(t, label+"?") == 0:
			return rapid.SampledFrom([]string{"", "gone-1", "gone-2"}).Draw(t, label)
		case rapid.IntRange(0, 3).Draw(t, label+"!") > 0:
			return ids[len(ids)-1]
		}
		return ids[rapid.IntRange(0, len(ids)-1).Draw(t, label)]
	}
	n := rapid.IntRange(1, 25).Draw(t, "n")
	for i := range n {
		second += rapid.IntRange(-1, 4).Draw(t, "dt")
		second = max(second, 0)
		id := fmt.Sprintf("n%d", i)
		if rapid.IntRange(0, 3).Draw(t, "uuid") == 0 {
			id = NewID(Claude, cloneTime)
		}
		more := `,"sessionId":` + rapid.SampledFrom([]string{`"old-session"`, `"other"`, `null`, `"` + "11111111-2222-3333-4444-555555555555" + `"`}).Draw(t, "sid")
		// A side chain may hang anywhere, but nothing of the main thread under it.
		side := rapid.IntRange(0, 9).Draw(t, "side") == 0
		if side {
			more += `,"isSidechain":true`
		}
		parent := pick("parent")
		text, _ := json.Marshal(texts.Draw(t, "text"))
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0, 1, 2:
			lines = append(lines, node("user", id, parent, second, more+`,"message":{"role":"user","content":`+string(text)+`}`))
		case 3, 4:
			lines = append(lines, node("assistant", id, parent, second, more+part("m"+id, `{"type":"text","text":`+string(text)+`},{"type":"thinking","thinking":"t","signature":"s"}`)))
		case 5, 6:
			calls := rapid.IntRange(1, 3).Draw(t, "calls")
			for c := range calls {
				cid := fmt.Sprintf("%s-%d", id, c)
				lines = append(lines, node("assistant", cid, parent, second, more+part("m"+id, use("t"+cid))))
				if !side {
					ids = append(ids, cid)
					open = append(open, cid)
				}
				if rapid.Bool().Draw(t, "fork") {
					parent = cid
				}
			}
			continue
		case 7, 8:
			if len(open) == 0 || side {
				continue
			}
			cid := open[0]
			open = open[1:]
			lines = append(lines, node("user", id, cid, second, more+result("t"+cid)))
		case 9:
			kept := ""
			more = strings.TrimSuffix(more, `,"isSidechain":true`)
			if len(ids) > 1 && rapid.Bool().Draw(t, "kept") {
				at := rapid.IntRange(0, len(ids)-1).Draw(t, "from")
				list, _ := json.Marshal(ids[at:])
				kept = fmt.Sprintf(`,"compactMetadata":{"trigger":"auto","preTokens":5,"preservedMessages":{"anchorUuid":"%s-s","uuids":%s}}`, id, list)
			}
			lines = append(lines, node("system", id, "", second, more+`,"subtype":"compact_boundary"`+kept), node("user", id+"-s", id, second, more+say("summary")+`,"isCompactSummary":true`))
			ids = append(ids, id+"-s")
			continue
		case 10:
			typ := rapid.SampledFrom([]string{"attachment", "progress", "system", "future-type"}).Draw(t, "type")
			lines = append(lines, node(typ, id, parent, second, more))
		case 11:
			lines = append(lines, rapid.SampledFrom([]string{
				"not json", "", `{"type":"mode","mode":"x","sessionId":"old-session"}`, `{"type":"last-prompt","leafUuid":"n0","sessionId":"old-session"}`,
				`{"type":"x","sessionId":"old-session"}{"type":"y","sessionId":"old-session"}`, `{"type":"queue-operation","content":"sessionId","n":1.0,"sessionId":"old-session"}` + "\r", "\x00\x00",
			}).Draw(t, "odd"))
			continue
		}
		if !side {
			ids = append(ids, id)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "newline") > 0 {
		lines = append(lines, "")
	}
	return lines
}

// Whatever is compressed or removed, the clone verifies, keeps every untouched
// line byte for byte, and shows the model the same messages.
func TestAnyCloneVerifies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		lines := genSession(t)
		path := filepath.Join(dir, fmt.Sprintf("s%d.jsonl", n))
		source := []byte(strings.Join(lines, "\n"))
		if err := os.WriteFile(path, source, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(context.Background(), path)
		if errors.Is(err, ErrUnknown) {
			t.Skip("no readable line")
		}
		if err != nil {
			t.Fatal(err)
		}
		ch := Change{ID: NewID(Claude, cloneTime), Now: cloneTime, Rewrite: func(_, _ int, e []byte) ([]byte, error) { return Mark(SetText(e, "短"), Marker{}), nil }}
		if rapid.Bool().Draw(t, "title") {
			ch.Title = "clone"
		}
		touched := map[int]bool{}
		for _, i := range s.Live() {
			if e := &s.Entries[i]; e.Text > 0 && rapid.Bool().Draw(t, "compress") {
				ch.Touched = append(ch.Touched, i)
				touched[int(e.Line)] = true
			}
		}
		slices.Sort(ch.Touched)
		pairs := s.Pairs(s.Live())
		gone := map[int]bool{}
		for _, p := range pairs {
			if !s.Fixed(p) && bare(s, p) && rapid.Bool().Draw(t, "remove") {
				for _, i := range p.Entries {
					ch.Removed = append(ch.Removed, i)
					gone[int(s.Entries[i].Line)] = true
				}
			}
		}
		slices.Sort(ch.Removed)
		ch.Removed = slices.Compact(ch.Removed)
		c, err := Clone(context.Background(), s, ch)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(path)
		if !bytes.Equal(now, source) {
			t.Fatal("the source was changed")
		}
		out := strings.Split(string(got), "\n")
		k := 0
		for i, l := range lines {
			if gone[i+1] || i == len(lines)-1 && l == "" {
				continue
			}
			if k >= len(out) {
				t.Fatalf("line %d is missing", i+1)
			}
			o := out[k]
			k++
			if touched[i+1] {
				continue
			}
			if len(ch.Removed) > 0 && (strings.Contains(l, "leafUuid") || parentOf(l) != parentOf(o)) {
				continue
			}
			for _, sid := range []string{"old-session", "other", "11111111-2222-3333-4444-555555555555"} {
				l = strings.ReplaceAll(l, `"sessionId":"`+sid+`"`, `"sessionId":"`+ch.ID+`"`)
			}
			if o != l {
				t.Fatalf("line %d:\n%q\nwant\n%q", i+1, o, l)
			}
		}
		after, err := Read(context.Background(), c.Path)
		if errors.Is(err, ErrUnknown) && len(ch.Removed) > 0 {
			return // everything that told the host was removed
		}
		if err != nil {
			t.Fatal(err)
		}
		left := liveMessages(s, ch.Removed)
		if len(left) == 0 && len(ch.Removed) > 0 {
			return // nothing to go on from; the host picks what it likes
		}
		if len(ch.Removed) > 0 && slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Parent == dangling }) {
			return // a guess by time among entries that share a second is no chain to keep
		}
		if d := cmp.Diff(left, liveMessages(after, nil)); d != "" {
			t.Fatalf("%s\n%s\n----\n%s", d, source, got)
		}
	})
}

// The index sees in any session what a naive reader sees.
func TestAnyIndexIsRight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "s.jsonl")
		lines := genSession(t)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(context.Background(), path)
		if errors.Is(err, ErrUnknown) {
			t.Skip("no readable line")
		}
		if err != nil {
			t.Fatal(err)
		}
		n := readNaiveClaude(quiet{}, path)
		if got := liveLines(s); !slices.Equal(n.live, got) || n.turns != len(s.Turns(s.Live())) || n.compactions != len(s.Compactions) || n.lines != s.Lines || n.bad != s.Unreadable {
			t.Fatalf("the naive reader sees %+v, the index %v, %d turns, %d compactions, %d lines, %d bad\n%s", n, got, len(s.Turns(s.Live())), len(s.Compactions), s.Lines, s.Unreadable, strings.Join(lines, "\n"))
		}
	})
}

// liveMessages are the uuids of what the model sees, without those given.
func liveMessages(s *Session, without []int32) []string {
	f, err := os.Open(s.Path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	out := []string{}
	for _, i := range s.Live() {
		if k := s.Entries[i].Kind; slices.Contains(without, i) || k != User && k != Assistant {
			continue
		}
		raw, err := s.Raw(f, int(i))
		if err != nil {
			panic(err)
		}
		out = append(out, Ref(Claude, raw, 0))
	}
	slices.Sort(out) // where joined entries stand may differ, which there are may not
	return out
}

type quiet struct{ testing.TB }

func (quiet) Helper() {}

func parentOf(line string) string {
	_, rest, _ := strings.Cut(line, `"parentUuid":`)
	p, _, _ := strings.Cut(rest, ",")
	return p
}

// idsIn lists the session ids that a file names.
func idsIn(t testing.TB, path string) []string {
	t.Helper()
	r, err := Verify(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(r.IDs))
}

// bare reports whether a pair's entries hold nothing else, so that they can go
// as a whole.
func bare(s *Session, p Pair) bool {
	for _, i := range p.Entries {
		if e := &s.Entries[i]; e.Text > 0 || e.Has(Thinking) || len(s.toolsOf(int(i))) != 1 {
			return false
		}
	}
	return true
}

// The host takes a session's size from its newest message when it resumes. A clone
// tells its own there, in each line of that message, and where going back to an earlier
// prompt would leave a message at the end that tells of more.
func TestCloneTellsItsOwnSize(t *testing.T) {
	t.Parallel()
	said := func(id, content string, tokens int) string {
		return fmt.Sprintf(`,"message":{"role":"assistant","id":%q,"model":"m","content":[%s],"usage":{"input_tokens":3,"cache_read_input_tokens":%d,"output_tokens":7,"iterations":[{"input_tokens":9}]}}`, id, content, tokens)
	}
	text := `{"type":"text","text":"x"}`
	lines := []string{
		node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, said("m1", text, 50_000)), node("user", "u2", "a1", 3, say("b")),
		node("assistant", "a2", "u2", 4, said("m2", text, 180_000)), node("assistant", "a3", "a2", 5, said("m2", use("t1"), 180_000)), node("user", "r1", "a3", 6, result("t1")),
	}
	s := mustRead(t, write(t, lines...))
	size := `"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":60000,"output_tokens":0}`
	for _, c := range []struct {
		name    string
		removed []int32
		want    []int // lines of the clone that tell its size
	}{{"nothing removed", nil, []int{3, 4}}, {"part of it removed", []int32{4, 5}, []int{3}}, {"all of it removed", []int32{3, 4, 5}, []int{1}}} {
		clone, got := mustClone(t, s, Change{Tokens: 60_000, Removed: c.removed})
		var told []int
		after := strings.Split(strings.TrimSpace(string(got)), "\n")
		for n, l := range after {
			if strings.Contains(l, size) {
				told = append(told, n)
			}
		}
		if !slices.Equal(told, c.want) {
			t.Errorf("%s: lines %v of %q", c.name, told, after)
		}
		if again := mustRead(t, clone.Path); again.Usage.Tokens() != 60_000 {
			t.Errorf("%s: the clone reports %d tokens", c.name, again.Usage.Tokens())
		}
	}
	clone, _ := mustClone(t, s, Change{Tokens: 20_000})
	back := mustRead(t, clone.Path)
	for _, i := range []int{1, 3, 4} { // gone back to the second prompt, the first message is the newest
		raw, err := os.ReadFile(clone.Path)
		e := back.Entries[i]
		if u, _ := claudeUsage(field(field(raw[e.Off:e.Off+int64(e.Len)], "message"), "usage")); err != nil || u.Tokens() != 20_000 {
			t.Errorf("line %d tells of %d tokens, %v", i, u.Tokens(), err)
		}
	}
	if clone, _ := mustClone(t, s, Change{}); mustRead(t, clone.Path).Usage != s.Usage {
		t.Error("a size that nobody told was changed")
	}
}

// A user can go back twenty turns and finds the clone's size there; what lies further
// back tells what it told.
func TestCloneTellsItsSizeForTwentyTurns(t *testing.T) {
	t.Parallel()
	var lines []string
	for n := range rewinds + 10 {
		asked, answered, before := fmt.Sprintf("u%d", n), fmt.Sprintf("a%d", n), ""
		if n > 0 {
			before = fmt.Sprintf("a%d", n-1)
		}
		lines = append(lines, node("user", asked, before, 2*n, say("a")), node("assistant", answered, asked, 2*n+1,
			fmt.Sprintf(`,"message":{"role":"assistant","id":"m%d","model":"m","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":90000,"output_tokens":7}}`, n)))
	}
	_, got := mustClone(t, mustRead(t, write(t, lines...)), Change{Tokens: 20_000})
	if n := strings.Count(string(got), `"cache_read_input_tokens":20000`); n != rewinds+1 {
		t.Errorf("%d answers tell the clone's size", n)
	}
	if first, _, _ := strings.Cut(string(got), `"cache_read_input_tokens":20000`); strings.Count(first, `"input_tokens":90000`) != 9 {
		t.Errorf("not the first ones tell their own")
	}
}

// A clone that cannot be written to its end, or is interrupted on the way, leaves
// nothing.
func TestCloneThatBreaksOff(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 3000 {
		b.WriteString(strings.Replace(codexSaid, "shortened", strings.Repeat("x", 500+n%7), 1) + "\n")
	}
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, strings.TrimSuffix(b.String(), "\n")))
	broken := errors.New("broken")
	for name, stop := range map[string]func(context.CancelFunc) error{
		"broken":      func(context.CancelFunc) error { return broken },
		"interrupted": func(cancel context.CancelFunc) error { cancel(); return nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ch := Change{ID: NewID(Codex, cloneTime), Now: cloneTime, Touched: []int32{2900}, Rewrite: func(_, _ int, e []byte) ([]byte, error) {
			return e, stop(cancel)
		}}
		ch.Measure = func(*Session) error {
			t.Errorf("%s: measured", name)
			return nil
		}
		_, err := Clone(ctx, s, ch)
		cancel()
		if !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if files, _ := os.ReadDir(filepath.Dir(s.Path)); len(files) != 1 {
			t.Errorf("%s: left %v", name, files)
		}
	}
}
