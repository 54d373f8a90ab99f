package transcript_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// The queue's lines are written at once and the conversation's a little later, and the
// person's words are taken before the host's notices: words are told where the model read
// them, once.
func TestQueue(t *testing.T) {
	t.Parallel()
	const (
		notice  = `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01.000Z","content":"{\"task_id\":\"b1\",\"description\":\"Push\",\"task_type\":\"local_bash\"}"}`
		done    = `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01.000Z","content":"<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nFull transcript available at: /tmp/b1.output"}`
		typed   = `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:02.000Z","content":"commit each section"}`
		remove  = `{"type":"queue-operation","operation":"remove","timestamp":"2026-01-01T00:00:03.005Z"}`
		dequeue = `{"type":"queue-operation","operation":"dequeue","timestamp":"2026-01-01T00:00:03.005Z"}`
		call    = `{"type":"assistant","timestamp":"2026-01-01T00:00:00.500Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`
		result  = `{"type":"user","timestamp":"2026-01-01T00:00:03.001Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a.go"}]}}`
		answer  = `{"type":"assistant","timestamp":"2026-01-01T00:00:05.000Z","message":{"content":[{"type":"text","text":"Absolutely."}]}}`
		picture = `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01.000Z"}`
	)
	for name, c := range map[string]struct{ lines, want []string }{
		"before notices, behind the answer of the tool": {
			[]string{call, notice, done, typed, remove, result, answer, remove, remove},
			[]string{"call Bash ls", "result a.go", "user queued commit each section", "agent Absolutely."},
		},
		"where the file ends": {[]string{call, typed, remove, result}, []string{"call Bash ls", "result a.go", "user queued commit each section"}},
		"before a compaction": {
			[]string{call, typed, remove, result, `{"type":"system","subtype":"compact_boundary","timestamp":"2026-01-01T00:00:03.002Z"}`},
			[]string{"call Bash ls", "result a.go", "user queued commit each section", "compacted"},
		},
		"behind an old compaction that is written once more": {
			[]string{typed, `{"type":"system","subtype":"compact_boundary","timestamp":"2026-01-01T00:00:01.500Z"}`, call},
			[]string{"compacted", "call Bash ls", "user queued commit each section"},
		},
		"a notice that is named": {
			[]string{call, done, typed, `{"type":"queue-operation","operation":"remove","timestamp":"2026-01-01T00:00:03.005Z","content":"<task-notification>x</task-notification>"}`, result, answer},
			[]string{"call Bash ls", "result a.go", "agent Absolutely.", "user queued commit each section"},
		},
		"whatever it begins with": {
			[]string{
				`{"type":"queue-operation","operation":"enqueue","content":"<div>this</div> is not centred"}`, `{"type":"queue-operation","operation":"remove"}`,
				`{"type":"queue-operation","operation":"enqueue","content":"{\"amount\": 5} is refused"}`, `{"type":"queue-operation","operation":"remove"}`,
				`{"type":"queue-operation","operation":"enqueue","content":"/tmp/a.log says why"}`, `{"type":"queue-operation","operation":"remove"}`,
			},
			[]string{"user queued <div>this</div> is not centred", `user queued {"amount": 5} is refused`, "user queued /tmp/a.log says why"},
		},
		"as a message, in other escapes": {
			[]string{`{"type":"queue-operation","operation":"enqueue","content":"caf\u00e9 \"<b>\""}`, dequeue, `{"type":"user","message":{"content":"café \"\u003cb\u003e\""}}`},
			[]string{`user café "<b>"`},
		},
		"as a message that the queue does not tell": {
			[]string{typed, `{"type":"user","message":{"content":"commit each section"}}`, answer},
			[]string{"user commit each section", "agent Absolutely."},
		},
		"as a message with other words": {
			[]string{typed, dequeue, `{"type":"user","message":{"content":"commit each section [Pasted text]"}}`},
			[]string{"user commit each section [Pasted text]"},
		},
		"a slash command waits for the end of the turn": {
			[]string{
				`{"type":"queue-operation","operation":"enqueue","content":"/review the port"}`, typed, remove, answer, dequeue,
				`{"type":"user","timestamp":"2026-01-01T00:00:06.000Z","message":{"content":"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the port</command-args>"}}`,
			},
			[]string{"user queued commit each section", "agent Absolutely.", "user /review the port"},
		},
		"the name of a command is no word": {
			[]string{call, `{"type":"queue-operation","operation":"enqueue","content":"/exit"}`, result}, []string{"call Bash ls", "result a.go"},
		},
		"behind a picture": {
			[]string{picture, typed, dequeue, `{"type":"user","timestamp":"2026-01-01T00:00:02.000Z","message":{"content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}`, call, remove, result},
			[]string{"call Bash ls", "result a.go", "user queued commit each section"},
		},
		"passed on before the queue tells it": {
			[]string{typed, `{"type":"attachment","timestamp":"2026-01-01T00:00:02.000Z","attachment":{"type":"queued_command","prompt":"commit each section"}}`, remove, answer},
			[]string{"user queued commit each section", "agent Absolutely."},
		},
		"passed on after the queue tells it": {
			[]string{typed, remove, `{"type":"attachment","timestamp":"2026-01-01T00:00:02.000Z","attachment":{"type":"queued_command","prompt":"commit each section"}}`, answer, typed, remove},
			[]string{"user queued commit each section", "agent Absolutely.", "user queued commit each section"},
		},
	} {
		if d := cmp.Diff(c.want, told(t, transcript.Claude, transcript.Want{}, c.lines...)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// Words that still wait are of the time when they were typed: whoever compares it with
// that of a hook must not take what came later for older.
func TestWaitingSince(t *testing.T) {
	t.Parallel()
	lines := `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:02.000Z","content":"go on"}` + "\n" +
		`{"type":"assistant","timestamp":"2026-01-01T00:00:05.000Z","message":{"content":[{"type":"text","text":"Done."}]}}`
	at := ""
	if _, err := transcript.Events(t.Context(), strings.NewReader(lines), 0, transcript.Claude, transcript.Want{}, func(e *transcript.Event) {
		if e.Kind == transcript.UserSaid {
			at = transcript.Time(e.Time).UTC().Format("05")
		}
	}); err != nil || at != "02" {
		t.Errorf("the words are of second %q, %v", at, err)
	}
}

// In recorded sessions nothing that follows words from the queue is older than they are,
// and none are told twice in a row.
func TestQueueOfTheCorpus(t *testing.T) {
	t.Parallel()
	list := samples.Corpus()
	if len(list) == 0 {
		t.Skip("no corpus")
	}
	heard := 0
	for _, s := range list {
		if s.Host != "claude" {
			continue
		}
		data, err := samples.Read(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		queued, at := "", int64(0)
		if _, err := transcript.Events(context.Background(), bytes.NewReader(data), 0, transcript.Claude, transcript.Want{}, func(e *transcript.Event) {
			if queued != "" && e.Time > 0 && e.Time < at {
				t.Errorf("%s: %.60q stands before what it follows", samples.Name(s.Path), queued)
			}
			if queued != "" && e.Kind == transcript.UserSaid && e.Text() == queued {
				t.Errorf("%s: %.60q is told twice", samples.Name(s.Path), queued)
			}
			if queued = ""; e.Kind == transcript.UserSaid && e.How == transcript.Queued {
				heard++
				queued, at = e.Text(), e.Time
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if heard < 60 {
		t.Errorf("%d messages came through the queue", heard)
	}
}
