package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// node writes one line of a small session; seconds order it in time.
func node(typ, uuid, parent string, second int, more string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"parentUuid":%s,"type":%q,"uuid":%q,"timestamp":"2026-01-01T00:%02d:%02d.000Z"%s}`, p, typ, uuid, second/60, second%60, more)
}

func say(text string) string { return fmt.Sprintf(`,"message":{"role":"user","content":%q}`, text) }

func part(msg, block string) string {
	return fmt.Sprintf(`,"message":{"id":%q,"model":"m","content":[%s]}`, msg, block)
}

func use(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"A","input":{}}`, id)
}

func result(id string) string {
	return fmt.Sprintf(`,"message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"r"}]}`, id)
}

func TestLive(t *testing.T) {
	t.Parallel()
	text := `{"type":"text","text":"x"}`
	tests := []struct {
		name  string
		lines []string
		want  string // uuids of the live entries, in order
	}{
		{"plain", []string{node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text))}, "u1 a1"},
		{"through attachments and over progress", []string{
			node("user", "u1", "", 1, say("a")), node("attachment", "t1", "u1", 2, ""), node("progress", "p1", "t1", 3, ""), node("assistant", "a1", "p1", 4, part("m1", text)),
		}, "u1 t1 a1"},
		{"the last branch", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "a1", 3, say("b")), node("user", "u3", "a1", 4, say("c")),
		}, "u1 a1 u3"},
		{"a side chain at the end is ignored", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "s1", "a1", 3, say("s")+`,"isSidechain":true`),
		}, "u1 a1"},
		{"stops at a compaction", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)),
			node("system", "b1", "", 3, `,"subtype":"compact_boundary","logicalParentUuid":"a1"`), node("user", "s1", "b1", 4, say("sum")+`,"isCompactSummary":true`), node("user", "u2", "s1", 5, say("b")),
		}, "b1 s1 u2"},
		{"a microcompaction is passed", []string{
			node("user", "u1", "", 1, say("a")), node("system", "b1", "u1", 3, `,"subtype":"microcompact_boundary"`), node("user", "u2", "b1", 5, say("b")),
		}, "u1 b1 u2"},
		{"kept messages hang under the summary", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "a1", 3, say("b")), node("assistant", "a2", "u2", 4, part("m2", text)),
			node("system", "b1", "", 5, `,"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9,"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"},"preservedMessages":{"anchorUuid":"s1","uuids":["u2","a2"]}}`),
			node("user", "s1", "b1", 6, say("sum")+`,"isCompactSummary":true`), node("user", "u3", "a2", 7, say("c")),
		}, "b1 s1 u2 a2 u3"},
		{"a kept segment given by its ends", []string{
			node("user", "u1", "", 1, say("a")), node("user", "u2", "u1", 3, say("b")), node("assistant", "a2", "u2", 4, part("m2", text)),
			node("system", "b1", "", 5, `,"subtype":"compact_boundary","compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"}}`),
			node("user", "s1", "b1", 6, say("sum")), node("user", "u3", "s1", 7, say("c")),
		}, "b1 s1 u2 a2 u3"},
		{"kept messages in another file", []string{
			node("system", "b1", "", 5, `,"subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"anchorUuid":"s1","uuids":["x1","x2"]}}`),
			node("user", "s1", "b1", 6, say("sum")), node("attachment", "t1", "s1", 7, ""), node("user", "u3", "t1", 8, say("c")),
		}, "b1 s1 t1 u3"},
		{"parallel calls", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", use("t1"))), node("assistant", "a2", "a1", 3, part("m1", use("t2"))),
			node("user", "r1", "a1", 4, result("t1")), node("user", "r2", "a2", 5, result("t2")), node("assistant", "a3", "r2", 6, part("m2", text)),
		}, "u1 a1 a2 r1 r2 a3"},
		{"calls forked from one parent", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", use("t1"))), node("assistant", "a2", "u1", 3, part("m1", use("t2"))),
			node("user", "r1", "a1", 4, result("t1")), node("user", "r2", "a2", 5, result("t2")), node("assistant", "a3", "r2", 6, part("m2", text)),
		}, "u1 a2 a1 r1 r2 a3"},
		{"a result that names no call hangs under its message", []string{
			node("assistant", "a1", "", 1, part("m1", use("t1"))), node("assistant", "a2", "a1", 3, part("m1", use("t2"))),
			node("user", "r1", "a1", 4, result("other")), node("user", "r2", "a2", 5, result("t2")), node("assistant", "a3", "r2", 6, part("m2", text)),
		}, "a1 a2 r1 r2 a3"},
		{"a result that hangs elsewhere is found by its call", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", use("t1"))), node("assistant", "a2", "a1", 3, part("m1", use("t2"))),
			node("user", "r1", "u1", 4, result("t1")), node("user", "r2", "a2", 5, result("t2")), node("assistant", "a3", "r2", 6, part("m2", text)),
		}, "u1 a1 a2 r1 r2 a3"},
		{"but not a sub-agent's", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", use("t1"))), node("assistant", "a2", "a1", 3, part("m1", use("t2"))),
			node("user", "r1", "u1", 4, result("t1")+`,"isSidechain":true`), node("user", "r2", "a2", 5, result("t2")), node("assistant", "a3", "r2", 6, part("m2", text)),
		}, "u1 a1 a2 r2 a3"},
		{"a lost parent is bridged within five seconds", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "gone", 6, say("b")),
		}, "u1 a1 u2"},
		{"and not beyond", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "gone", 8, say("b")),
		}, "u2"},
		{"a cycle ends", []string{node("user", "u1", "a1", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text))}, "u1 a1"},
		{"its own parent", []string{node("user", "u1", "u1", 1, say("a"))}, "u1"},
		{"parent after child", []string{node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u1", "", 1, say("a")), node("user", "u2", "a1", 3, say("b"))}, "u1 a1 u2"},
		{"the later of two with one uuid", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "gone", 2, part("m1", text)), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "a1", 3, say("b")),
		}, "u1 a1 u2"},
		{"an explicit rewind", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "a1", 3, say("b")), `{"type":"last-prompt","leafUuid":"a1","explicit":true}`,
		}, "u1 a1"},
		{"a stale note", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), `{"type":"last-prompt","leafUuid":"u1"}`, node("user", "u2", "a1", 3, say("b")),
		}, "u1 a1 u2"},
		{"a note the last entry does not descend from", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), `{"type":"last-prompt","leafUuid":"a1"}`, node("user", "u2", "u1", 3, say("b")),
		}, "u1 a1"},
		{"a note of before a compaction", []string{
			node("user", "u1", "", 1, say("a")), node("assistant", "a1", "u1", 2, part("m1", text)), `{"type":"last-prompt","leafUuid":"a1","explicit":true}`,
			node("system", "b1", "", 3, `,"subtype":"compact_boundary"`), node("user", "s1", "b1", 4, say("sum")), node("user", "u2", "s1", 5, say("b")),
		}, "b1 s1 u2"},
		{"cleared", []string{node("user", "u1", "", 1, say("a")), `{"type":"last-prompt","leafUuid":null,"explicit":true}`}, ""},
		{"no messages", []string{`{"type":"mode","mode":"x","sessionId":"s"}`}, ""},
		{"glued line", []string{node("user", "u1", "", 1, say("a")) + node("assistant", "a1", "u1", 2, part("m1", text)), node("user", "u2", "a1", 3, say("b"))}, "u1 a1 u2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.lines...)
			s := mustRead(t, path)
			names := map[int32]string{}
			for k, i := range s.nodes {
				for _, n := range strings.Fields("u1 u2 u3 a1 a2 a3 b1 s1 t1 r1 r2 p1") {
					if keyOf([]byte(n)) == k {
						names[i] = n
					}
				}
			}
			var got []string
			for _, i := range s.Live() {
				got = append(got, names[i])
			}
			if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLiveCodexRollback(t *testing.T) {
	t.Parallel()
	msg := func(role, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}}`, role, text)
	}
	path := write(t,
		`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"0199a213-81c0-7800-8aa1-bbab2a035a53","cwd":"/w","cli_version":"0.1"}}`,
		msg("user", "<environment_context>x</environment_context>"), msg("user", "one"), msg("assistant", "1"), msg("user", "two"), msg("assistant", "2"),
		`{"timestamp":"2026-01-01T00:00:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`, msg("user", "three"))
	s := mustRead(t, path)
	if d := cmp.Diff([]int{2, 3, 4, 8}, liveLines(s)); d != "" {
		t.Error(d)
	}
	if n := len(s.Turns(s.Live())); n != 2 {
		t.Errorf("%d turns", n)
	}
	if s.ID != "0199a213-81c0-7800-8aa1-bbab2a035a53" || s.CWD != "/w" || s.Title != "one" {
		t.Errorf("id %q, cwd %q, title %q", s.ID, s.CWD, s.Title)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	ok := node("user", "u1", "", 1, say("a"))
	path := write(t, "\xef\xbb\xbf"+ok+"\r", "", "not json", ok[:20]+"\x00", ok+`{"type":"mode","sessionId":"s"}`, "\x00\x00", `{"type":"user","message":{"content":"x"}}`, ok+" trailing", ok[:30])
	s := mustRead(t, path)
	if s.Unreadable != 5 || !s.bom || !s.torn || s.Lines != 9 || len(s.Entries) != 5 {
		t.Errorf("%d of %d lines unreadable, %d entries, bom %v, torn %v", s.Unreadable, s.Lines, len(s.Entries), s.bom, s.torn)
	}
}

func TestNotASession(t *testing.T) {
	t.Parallel()
	if _, err := Read(t.Context(), write(t, `{"hello":1}`, "x")); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("error %v", err)
	}
	if s, err := Read(t.Context(), write(t)); err != nil || len(s.Live()) != 0 {
		t.Errorf("empty file: %v", err)
	}
	if _, err := Read(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") { // a pipe would be waited for
		t.Errorf("read a folder: %v", err)
	}
}
