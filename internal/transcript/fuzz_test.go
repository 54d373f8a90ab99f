package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// Whatever the bytes are, what happened in them can be told, in whole and in part.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		userLine + "\n" + answer("a1", "x", 1, "") + "\n" + boundaryLine + "\r\n" + userLine,
		`{"type":"user","message":{"content":"<command-name>/compact</command-name><command-args>a\\</command-args>"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<codex_internal_context source=\"user_goal\">: \"a\\\"\n</"}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"\ud83d\ude00\\n\n\u00e9"}]}]}}`,
		`{"type":"assistant.message","data":{"content":"\\","toolRequests":[{"toolCallId":"t","name":"x","arguments":{"a":"\u00e9"}}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, host := range []Host{Claude, Codex, Copilot} {
			_, err := Events(t.Context(), bytes.NewReader(data), 0, host, Want{Agents: true, Attached: true}, func(e *Event) {
				_, _, _ = e.CWD(), e.Title(), e.Text()
				for n := range min(40, len(e.Raw)) {
					e.Tail(n)
				}
				e.Strings(func(_ string, inner Inner) {
					if plain := string(inner.Append(nil)); strings.ToValidUTF8(plain, "\uFFFD") != plain && string([]rune(plain)) != inner.Text() {
						t.Fatalf("%q is %q and %q", inner.Escaped(), plain, inner.Text())
					}
				})
				Texts(e.Keeps, func(inner Inner) { _ = inner.Text() })
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever the bytes are: no panic, every entry is a JSON object at its place,
// no byte is counted twice, and how the bytes arrive does not matter.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{
		userLine + "\n" + answer("a1", "x", 1, "") + "\n" + boundaryLine + "\r\n" + userLine,
		"\xef\xbb\xbf" + userLine + userLine + "\n\n\x00\x00",
		node("assistant", "a1", "a1", 1, part("m1", use("t1"))) + "\n" + node("user", "r1", "a1", 2, result("t1")),
		`{"type":"last-prompt","leafUuid":null,"explicit":true}` + "\n{\"type\":\"user\",\"uuid\":\"\\u0075\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\\ude00\"}]}}",
		`{"timestamp":"2026-01-01T00:00:00.000Z","type":"compacted","payload":{"message":""}}` + "\n" + `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":9}}`,
		`{"uuid":"b","type":"system","subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"anchorUuid":"b","uuids":["b","b"]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, host := range []Host{Claude, Codex} {
			s, err := index(bytes.NewReader(data), int64(len(data)), "x.jsonl", host)
			if err != nil {
				t.Fatal(err)
			}
			if s.Size != int64(len(data)) {
				t.Fatalf("%d of %d bytes", s.Size, len(data))
			}
			end := int64(0)
			for i := range s.Entries {
				e := &s.Entries[i]
				if e.Off < end || e.Off+int64(e.Len) > s.Size {
					t.Fatalf("entry %d at %d+%d, after %d", i, e.Off, e.Len, end)
				}
				end = e.Off + int64(e.Len)
				raw := data[e.Off:end]
				if !json.Valid(raw) || raw[0] != '{' {
					t.Fatalf("entry %d is %q", i, raw)
				}
				if e.Parent >= int32(len(s.Entries)) || e.Parent < dangling {
					t.Fatalf("entry %d has parent %d", i, e.Parent)
				}
				if want := Text(raw); e.Kind == User && host == Claude && (want != "") != (e.Text > 0) {
					t.Fatalf("entry %d: text %q, %d units", i, want, e.Text)
				}
				EditBlocks(raw, func(b Block) []byte { return b.Raw })
			}
			live := s.Live()
			seen := map[int32]bool{}
			for _, i := range live {
				if seen[i] {
					t.Fatalf("entry %d is live twice", i)
				}
				seen[i] = true
			}
			s.Turns(live)
			s.Pairs(live)
			again, err := index(iotest.HalfReader(bytes.NewReader(data)), 0, "x.jsonl", host)
			if err != nil {
				t.Fatal(err)
			}
			again.Live()
			if d := cmp.Diff(s.Entries, again.Entries, cmp.AllowUnexported(Entry{})); d != "" {
				t.Fatal(d)
			}
		}
	})
}
