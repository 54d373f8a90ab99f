package transcript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func pieces(t *testing.T, h transcript.Host, lines ...string) []string {
	t.Helper()
	var out []string
	err := transcript.Pieces(context.Background(), strings.NewReader(strings.Join(lines, "\n")), 0, h, func(p *transcript.Piece) {
		failed := ""
		if p.Failed {
			failed = "!"
		}
		out = append(out, fmt.Sprintf("%d%s%s %s", p.Kind, failed, p.Tool, p.Text()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPiecesOfClaude(t *testing.T) {
	t.Parallel()
	got := pieces(t, transcript.Claude,
		`{"type":"user","message":{"role":"user","content":"Fix \"it\"\nplease"}}`,
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"a skill"}}`,
		`{"type":"user","isSidechain":true,"message":{"role":"user","content":"for a sub-agent"}}`,
		`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"the summary"}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":1}}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"boom"}]}]},"toolUseResult":{"stdout":"again"}}`,
		`{"type":"system","subtype":"x","content":"no"}`,
		`not json`,
		`{"type":"user","message":{"role":"user","content":"one"}}{"type":"user","message":{"role":"user","content":"two"}}`,
		`{"type":"user","message":{"role":"user","content":"torn`,
	)
	want := []string{"1 Fix \"it\"\nplease", "2 a skill", "3 the summary", "2 <system-reminder>x</system-reminder>", "4 I will.", "5Bash ls", "6! boom", "1 one", "1 two"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestPiecesOfCodex(t *testing.T) {
	t.Parallel()
	got := pieces(t, transcript.Codex,
		`{"type":"session_meta","payload":{"id":"x"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>y</environment_context>"},{"type":"input_text","text":"Fix it"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a.go\\n\",\"metadata\":{\"exit_code\":0}}"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"Done"}]}}`,
		`{"type":"event_msg","payload":{"type":"user_message","message":"Fix it"}}`,
		`{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"zzz"}}`,
	)
	want := []string{"2 <environment_context>y</environment_context>", "1 Fix it", "4 I will.", "5shell bash\n-lc\nls", "6 a.go\n", "5apply_patch *** Begin Patch", "6 Done"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// What the summariser said stands like an answer before the compaction; it is
// none.
func TestPiecesLeaveTheSummariserOut(t *testing.T) {
	t.Parallel()
	got := pieces(t, transcript.Codex,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Shall I?"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The work so far."}]}}`,
		`{"type":"compacted","payload":{"message":"Another language model began. The work so far."}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Last words."}]}}`,
	)
	want := []string{"4 Shall I?", "7 Another language model began. The work so far.", "4 Last words."}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Tail decodes the end of a long result at a line's start.
func TestPieceTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`line \"x\"\n`, 1000) + `the end`
	err := transcript.Pieces(context.Background(), strings.NewReader(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"`+long+`"}]}}`), 0, transcript.Claude, func(p *transcript.Piece) {
		tail := p.Tail(100)
		if len(tail) > 100 || !strings.HasSuffix(tail, "\nthe end") || !strings.HasPrefix(tail, `line "x"`) {
			t.Errorf("%q", tail)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every recorded session can be read in pieces.
func TestPiecesOfSamples(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "samples", "real", "*.jsonl"))
	if root := os.Getenv("OVERTONE_SAMPLES"); root != "" {
		files, _ = filepath.Glob(filepath.Join(root, "real", "*.jsonl"))
	}
	if len(files) == 0 {
		t.Skip("no samples")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h := transcript.Claude
		if strings.HasPrefix(filepath.Base(file), "codex") {
			h = transcript.Codex
		}
		calls, results := 0, 0
		err = transcript.Pieces(context.Background(), strings.NewReader(string(data)), 0, h, func(p *transcript.Piece) {
			switch p.Kind {
			case transcript.CallPiece:
				calls++
			case transcript.ResultPiece:
				results++
			}
			_ = p.Text()
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(data) > 100_000 && (calls == 0 || results == 0) {
			t.Errorf("%s: %d calls, %d results", filepath.Base(file), calls, results)
		}
	}
}
