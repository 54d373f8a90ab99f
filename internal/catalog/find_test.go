package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

var midday = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// place is a machine with sessions of hosts and of ours.
type place struct {
	t      *testing.T
	dir    string // of Claude Code's files
	env    map[string]string
	chosen string
	Finder
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), env: map[string]string{}}
	empty := t.TempDir()
	p.Finder = Finder{
		Home: store.New(t.TempDir(), t.TempDir(), func() time.Time { return midday }),
		Dir: func(h *host.Host) string {
			if h.Name == host.ClaudeCode {
				return p.dir
			}
			return filepath.Join(empty, string(h.Name))
		},
		Getenv: func(key string) string { return p.env[key] },
		Chosen: func(id string) { p.chosen = id },
	}
	return p
}

// file is a session of the host's, last changed before midday.
func (p *place) file(id, folder string, ago time.Duration) string {
	p.t.Helper()
	path := filepath.Join(p.dir, "projects", folder, id+".jsonl")
	text := `{"type":"user","uuid":"u1","sessionId":"` + id + `","cwd":"/work/` + folder + `","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"speed up the parser"}}` + "\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, midday.Add(-ago), midday.Add(-ago))); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// ours is a session that hooks have seen.
func (p *place) ours(id string) {
	p.t.Helper()
	s, err := p.Home.Session(id)
	if err == nil {
		err = s.Update(func(tx *store.Tx) error { return tx.Write("x", []byte("{}")) })
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

const (
	first  = "11111111-1111-4111-8111-111111111111"
	second = "12222222-2222-4222-8222-222222222222"
	third  = "33333333-3333-4333-8333-333333333333"
)

// A session is found by its name, the beginning of one, or what the host says in the
// environment; with recent, the one used last will do.
func TestSessionsAreFound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.file(first, "p1", time.Hour)
	p.file(second, "p2", 2*time.Hour)
	p.ours(third)
	for name, tc := range map[string]struct {
		id   string
		env  string
		want string
	}{
		"by name": {first, "", first}, "by its beginning": {"111", "", first}, "of ours": {"33", "", third}, "by the environment": {"", second, second},
		"the name before the environment": {first, second, first},
	} {
		p.env = map[string]string{"CLAUDE_SESSION_ID": tc.env, "CLAUDE_CODE_SESSION_ID": tc.env}
		s, file, err := p.Look(tc.id)
		if err != nil || s.ID() != tc.want {
			t.Errorf("%s: %v, %v", name, s, err)
			continue
		}
		if (file.Path != "") != (tc.want != third) {
			t.Errorf("%s: file %q", name, file.Path)
		}
	}
	// Hooks and the host may both know it: it is one all the same.
	p.ours(first)
	if s, _, err := p.Look("111"); err != nil || s.ID() != first {
		t.Errorf("known to both: %v, %v", s, err)
	}
	p.env = nil
	if s, file, err := p.Look(""); err != nil || s.ID() != third && file.Path != path || p.chosen != s.ID() {
		t.Errorf("the last used: %v, %q, %v", s, p.chosen, err)
	}
	if file, err := p.File(""); err != nil || file.ID != first || p.chosen != first {
		t.Errorf("the newest file: %+v, %q, %v", file, p.chosen, err)
	}
	if file, err := p.File("12"); err != nil || file.ID != second {
		t.Errorf("a file by its beginning: %+v, %v", file, err)
	}
	if names := p.Names(); !slices.Equal(names, []string{first, third, second}) && !slices.Equal(names, []string{third, first, second}) {
		t.Errorf("names %v", names)
	}
	if recent := p.Recent(5); !slices.Equal(slices.Sorted(slices.Values(recent)), []string{first, third}) {
		t.Errorf("recent %v", recent)
	}
}

// What cannot be found is told with a way out.
func TestSessionsThatAreNotFound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	told := func(err error, want, hint string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(message.HintOf(err, message.EN), hint) {
			t.Errorf("%v (%s), want %s (%s)", err, message.HintOf(err, message.EN), want, hint)
		}
	}
	_, err := p.Session("", false)
	told(err, "there are no sessions", "overtone demo")
	if _, ok := errors.AsType[message.Misuse](err); !ok {
		t.Errorf("%T", err)
	}
	_, err = p.File("")
	told(err, "there are no sessions", "overtone demo")
	p.file(first, "p1", time.Hour)
	p.file(second, "p2", time.Hour)
	p.ours(third)
	_, err = p.Session("", false)
	told(err, "session", third)
	_, err = p.Known("1", false)
	told(err, "sessions", first)
	_, err = p.Known("nothing-like-it", false)
	told(err, "nothing-like-it", "sessions")
	_, err = p.Known(first[:len(first)-1]+"2", false)
	told(err, "", first)
	_, err = p.Resolve("nothing-like-it")
	told(err, "nothing-like-it", "sessions")
	_, err = p.Known("../x", false)
	told(err, "", "")
	for n := range 6 {
		told(several("a", []string{"a0", "a1", "a2", "a3", "a4", "a5"}[:n+1]), "a", strings.Join([]string{"a0", "a1", "a2", "a3", "a4"}[:min(n+1, 5)], ", "))
	}
	if hint := message.HintOf(several("a", []string{"a0", "a1", "a2", "a3", "a4", "a5"}), message.EN); strings.Contains(hint, "a5") {
		t.Errorf("more than five: %s", hint)
	}
	p.ours(third[:30] + "444444")
	_, err = p.Known("3333", false)
	told(err, "\"3333\"", third)
	// One that nobody knows yet may be meant, by a command that makes it.
	if s, err := p.Session("brand-new", false); err != nil || s.ID() != "brand-new" {
		t.Errorf("%v, %v", s, err)
	}
	// What is shown has to be there, also when no command could make it.
	if _, _, err := p.Look("nothing-like-it"); err == nil {
		t.Error("a session that is not there is shown")
	}
	for n, want := range map[int]string{5: "a0, a1, a2, a3, a4", 6: "a0, a1, a2, a3, a4, …"} {
		told(FindHint(&transcript.Ambiguous{Prefix: "a", IDs: []string{"a0", "a1", "a2", "a3", "a4", "a5"}[:n]}), fmt.Sprint(`"a" matches `, n, " sessions"), want)
	}
	if err := FindHint(errors.New("other")); err.Error() != "other" || message.HintOf(err, message.EN) != "" {
		t.Errorf("%v", err)
	}
	if err := ReadHint("f", transcript.ErrUnknown); !strings.Contains(err.Error(), "f") || message.HintOf(err, message.EN) == "" {
		t.Errorf("%v", err)
	}
}

// Where no session is named, the three newest are offered, whoever knows them, each once.
func TestThreeSessionsAreOffered(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for n, id := range []string{first, second, third, "44444444-4444-4444-8444-444444444444"} {
		p.file(id, "p1", time.Duration(n+1)*time.Hour)
	}
	hint := func() string {
		t.Helper()
		_, err := p.Session("", false)
		return message.HintOf(err, message.EN)
	}
	if got := hint(); !strings.Contains(got, first+", "+second+", "+third) || strings.Contains(got, "4444") {
		t.Errorf("the hosts' own: %s", got)
	}
	p.ours(second)
	if got := hint(); !strings.Contains(got, second+", "+first+", "+third) {
		t.Errorf("with one that hooks have seen: %s", got)
	}
	if names := p.Names(); len(names) != 4 || names[0] != second {
		t.Errorf("a name stands twice: %v", names)
	}
}

// The session used last is the newest one, whether hooks or only its host know it.
func TestTheLastUsed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if id := p.lastUsed(); id != "" {
		t.Errorf("of none: %s", id)
	}
	p.ours(third)
	if id := p.lastUsed(); id != third {
		t.Errorf("no host has any: %s", id)
	}
	p = newPlace(t)
	path := p.file(first, "p1", time.Hour)
	if id := p.lastUsed(); id != first {
		t.Errorf("hooks have seen none: %s", id)
	}
	p.ours(third)
	if id := p.lastUsed(); id != third {
		t.Errorf("hooks have seen the newest: %s", id)
	}
	text := `{"type":"user","uuid":"u1","timestamp":"2099-03-01T11:00:00.000Z","message":{"role":"user","content":"hi"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if id := p.lastUsed(); id != first {
		t.Errorf("the host's is newer: %s", id)
	}
}

// A folder that cannot be read hides no other; it is an error where nothing else is there.
func TestAClosedFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	codex := filepath.Join(t.TempDir(), "codex")
	if err := errors.Join(os.MkdirAll(codex, 0o700), os.WriteFile(filepath.Join(codex, "sessions"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	dir := p.Dir
	p.Dir = func(h *host.Host) string {
		if h.Name == host.Codex {
			return codex
		}
		return dir(h)
	}
	var told error
	p.Closed = func(err error) { told = err }
	list := func() ([]Row, error) {
		rows, _, err := p.Newest(t.Context(), recall.Open(recall.Options{Root: p.Home.Root()}), midday, 5, Filter{})
		return rows, err
	}
	if rows, err := list(); err == nil || told != nil {
		t.Errorf("nothing else: %v, %v, told %v", rows, err, told)
	}
	p.file(first, "p1", time.Hour)
	if rows, err := list(); err != nil || len(rows) != 1 || told == nil {
		t.Errorf("beside others: %v, %v, told %v", rows, err, told)
	}
}

// The list: the newest first, as many as asked for, of a host or a project.
func TestNewestSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file(first, "p1", time.Hour)
	p.file(second, "p2", 2*time.Hour)
	p.file(third, "p1", 3*time.Hour)
	x := recall.Open(recall.Options{Root: p.Home.Root()})
	for name, tc := range map[string]struct {
		limit  int
		filter Filter
		want   []string
		more   int
	}{
		"all": {10, Filter{}, []string{first, second, third}, 0}, "two": {2, Filter{}, []string{first, second}, 1}, "none": {-1, Filter{}, nil, 3},
		"of a project": {10, Filter{Project: "WORK/p1"}, []string{first, third}, 0}, "one of a project": {1, Filter{Project: "p1"}, []string{first}, 1},
		"of another host": {10, Filter{Host: "codex"}, nil, 0}, "of this host": {10, Filter{Host: "claude-code"}, []string{first, second, third}, 0},
	} {
		rows, more, err := p.Newest(context.Background(), x, midday, tc.limit, tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, tc.want) || more != tc.more {
			t.Errorf("%s: %v and %d more", name, got, more)
		}
	}
	rows, _, _ := p.Newest(context.Background(), x, midday, 1, Filter{})
	if r := rows[0]; r.AgeSeconds != 3600 || r.Project != "/work/p1" || r.Turns != 1 || r.Host != "claude-code" || !r.Estimated || r.LiveTokens == 0 || r.Title == "" {
		t.Errorf("%+v", r)
	}
}

// A session is as old as its newest line, also where files were copied or restored: that
// decides which ones a short list shows.
func TestSessionsInTheOrderOfTheirAge(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	restored := p.file(first, "p1", 0)
	p.file(second, "p2", time.Minute)
	text, err := os.ReadFile(restored)
	if err == nil {
		err = os.WriteFile(restored, bytes.ReplaceAll(text, []byte("T11:"), []byte("T03:")), 0o600)
	}
	if err = errors.Join(err, os.Chtimes(restored, midday, midday)); err != nil {
		t.Fatal(err)
	}
	rows, _, err := p.Newest(context.Background(), recall.Open(recall.Options{Root: p.Home.Root()}), midday, 1, Filter{})
	if err != nil || len(rows) != 1 || rows[0].ID != second || rows[0].AgeSeconds != 3600 {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A clone that was not used since has reported nothing: what was reckoned when it was
// made stands for it.
func TestRowOfAClone(t *testing.T) {
	t.Parallel()
	file := transcript.File{ID: "c", Host: transcript.Claude, Folder: "-work-p", Size: 100, ModTime: midday.Add(time.Hour), Last: midday}
	made := compress.CloneRecord{ID: "c", Source: "s", Size: 100, Tokens: 700}
	change := func(f func(*compress.CloneRecord)) compress.CloneRecord { m := made; f(&m); return m }
	fact := recall.Fact{Tokens: 900, Estimate: 50}
	for name, tc := range map[string]struct {
		fact      recall.Fact
		clones    map[string]compress.CloneRecord
		tokens    int64
		estimated bool
		of        string
	}{
		"no clone":                         {fact, nil, 900, false, ""},
		"never told":                       {recall.Fact{Estimate: 50}, nil, 50, true, ""},
		"not used":                         {fact, map[string]compress.CloneRecord{"c": made}, 700, true, "s"},
		"not used, and never reckoned":     {fact, map[string]compress.CloneRecord{"c": change(func(m *compress.CloneRecord) { m.Tokens = 0 })}, 50, true, "s"},
		"used":                             {fact, map[string]compress.CloneRecord{"c": change(func(m *compress.CloneRecord) { m.Size = 99 })}, 900, false, "s"},
		"a clone that only its file knows": {recall.Fact{Tokens: 900, Source: "z"}, nil, 900, false, "z"},
	} {
		r := newRow(&file, &tc.fact, tc.clones, midday)
		if r.LiveTokens != tc.tokens || r.Estimated != tc.estimated || r.CloneOf != tc.of || r.Project != "-work-p" || r.AgeSeconds != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What the list prints; where one is a clone, all say what they are clones of.
func TestPrintRows(t *testing.T) {
	t.Parallel()
	row := Row{ID: first, Host: "claude-code", Project: "/work/p1", AgeSeconds: 60, LiveTokens: 1234, Compactions: 2, Size: 2048, Title: "parser"}
	clone := row
	clone.CloneOf, clone.Estimated = second, true
	var out, errs bytes.Buffer
	term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}, Lang: message.EN}
	PrintRows(term, []Row{row}, false, filepath.Base)
	if got := out.String(); strings.Contains(got, "CLONE") || !strings.Contains(got, "1,234") || strings.Contains(got, "~") || strings.Contains(got, "#") || !strings.Contains(got, "1m") || strings.Count(got, "\n") != 2 {
		t.Errorf("a list:\n%s", got)
	}
	out.Reset()
	PrintRows(term, []Row{{ID: first, Host: "claude-code", Unreadable: 3}, {ID: second, Host: "claude-code"}}, false, filepath.Base)
	if got := out.String(); strings.Count(got, "cannot be read") != 1 || !strings.Contains(got, message.RowUnreadable.Format(message.EN, 3)) {
		t.Errorf("one that cannot be read:\n%s", got)
	}
	// In a narrow terminal the size goes first, then how often it was compacted.
	for columns, dropped := range map[string][]string{"70": {"SIZE"}, "60": {"SIZE", "COMPACTED"}, "52": {"SIZE", "COMPACTED", "PROJECT"}} {
		out.Reset()
		term.Getenv = func(string) string { return columns }
		PrintRows(term, []Row{row}, false, filepath.Base)
		for _, name := range []string{"SIZE", "COMPACTED", "PROJECT", "HOST", "TOKENS", "AGE"} {
			if strings.Contains(out.String(), name) == slices.Contains(dropped, name) {
				t.Errorf("%s columns, %s:\n%s", columns, name, out.String())
			}
		}
	}
	term.Getenv = func(string) string { return "" }
	PrintRows(term, []Row{row, clone}, true, filepath.Base)
	if got := errs.String(); !strings.Contains(got, "~1,234") || !strings.Contains(got, second[:8]) || !strings.Contains(got, "\n2") {
		t.Errorf("a list to choose from:\n%s", got)
	}
}

// Only clones that were made here go, unused ones, and not the last copy of a session.
func TestRemoveClones(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	source, made := p.file(first, "p1", time.Hour), p.file(second, "p1", time.Hour)
	info, err := os.Stat(made)
	if err != nil {
		t.Fatal(err)
	}
	list := compress.ClonesIn(p.Home.Root())
	p.Remove = func(_ context.Context, _, _, path string) error { return os.Remove(path) }
	var out, errs bytes.Buffer
	remove := func(ref string, answer string, yes, force bool) error {
		t.Helper()
		term := &terminal.Terminal{Env: terminal.Env{
			Stdin: strings.NewReader(answer), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
			Now: func() time.Time { return midday }, IsTTY: func(uintptr) bool { return false },
		}, Lang: message.EN}
		return p.RemoveClones(context.Background(), term, filepath.Base, []string{ref}, yes, force)
	}
	refused := func(name string, err error) {
		t.Helper()
		if err == nil || message.HintOf(err, message.EN) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(made); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	refused("not made here", remove(second, "", true, false))
	record := compress.CloneRecord{ID: second, Source: first, From: source, Path: made, Size: info.Size() - 1, Host: "claude-code"}
	if err := list.Add(record); err != nil {
		t.Fatal(err)
	}
	refused("used since", remove(second, "", true, false))
	if err := remove("nothing-like-it", "", true, false); err == nil || !strings.Contains(err.Error(), "nothing-like-it") {
		t.Errorf("nobody's name: %v", err)
	}
	p.Titled = func() []Row { return []Row{{ID: second, Title: "speed up the parser"}} }
	if err := remove("the parser", "", true, true); err == nil {
		t.Error("what is removed is named, not found by its title")
	}
	// A file of that name elsewhere is nobody's clone.
	moved := record
	moved.Path = filepath.Join(t.TempDir(), "gone.jsonl")
	if err := list.Add(moved); err != nil {
		t.Fatal(err)
	}
	refused("another file of that name", remove(second, "", true, true))
	record.Size++
	if err := list.Add(record); err != nil {
		t.Fatal(err)
	}
	if lived, err := p.Lived(); err != nil || len(lived) != 1 || lived[0].ID != first {
		t.Errorf("lived: %v, %v", lived, err)
	}
	refused("nobody says yes", remove(second, "", false, false))
	if err := os.Rename(source, source+".away"); err != nil {
		t.Fatal(err)
	}
	refused("the last copy", remove(second, "", true, false))
	if lived, err := p.Lived(); err != nil || len(lived) != 1 || lived[0].ID != second {
		t.Errorf("the last copy lived: %v, %v", lived, err)
	}
	if err := os.Rename(source+".away", source); err != nil {
		t.Fatal(err)
	}
	if err := remove(second, "", true, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(made); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if _, err := os.Stat(source); err != nil {
		t.Errorf("the source is gone: %v", err)
	}
	if out.String() != message.RmDone.Format(message.EN, second, message.Bytes(info.Size()))+"\n" || len(list.All()) != 0 || errs.Len() > 0 {
		t.Errorf("%s, %s, %v", out.String(), errs.String(), list.All())
	}
	// One in a host's database has no file.
	if err := list.Add(compress.CloneRecord{ID: "database", Source: first, From: source, Host: "opencode", Created: "2026-03-01T11:00:00Z"}); err != nil {
		t.Fatal(err)
	}
	of := ""
	p.Remove = func(_ context.Context, host, id, path string) error { of = host + " " + id + " " + path; return nil }
	if err := remove("database", "", true, false); err != nil || of != "opencode database " {
		t.Errorf("in a database: %q, %v", of, err)
	}
	p.Remove = func(_ context.Context, _, _, path string) error { return os.Remove(path) }
	// Who is asked may keep one.
	kept := p.file(third, "p1", time.Hour)
	if err := list.Add(compress.CloneRecord{ID: third, Source: first, From: source, Path: kept, Size: info.Size(), Host: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"\n", "n\n", "yess\n", "Yes\n"} {
		out.Reset()
		stdin := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(stdin, []byte(answer), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		term := &terminal.Terminal{Env: terminal.Env{
			Stdin: in, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
			Now: func() time.Time { return midday }, IsTTY: func(uintptr) bool { return true },
		}, Lang: message.EN}
		err = p.RemoveClones(context.Background(), term, filepath.Base, []string{third}, false, false)
		in.Close()
		if err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
		if _, err := os.Stat(kept); (err == nil) != (answer != "Yes\n") || (out.Len() == 0) != (err == nil) {
			t.Errorf("%q: %v, said %q", answer, err, out.String())
		}
	}
	// One that was being removed when its remover was killed, where no list shows it.
	half := filepath.Join(t.TempDir(), "chats", "x.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(half), 0o700), os.WriteFile(half, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := list.Add(compress.CloneRecord{ID: "halfway", Source: first, From: source, Path: half, Size: 1, Host: "gemini", Removed: true}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(filepath.Dir(half), ".y.jsonl.overtone-7")
	if err := errors.Join(os.WriteFile(left, []byte("x"), 0o600), os.Chtimes(left, midday.Add(-2*time.Hour), midday.Add(-2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	if got := list.Standing(); !slices.Equal(got, []string{"halfway"}) {
		t.Errorf("standing: %q", got)
	}
	if err := remove("halfway", "", true, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) || len(list.All()) != 0 {
		t.Errorf("still there: %v, %v", err, list.All())
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a killed run left beside it is still there: %v", err)
	}
}
