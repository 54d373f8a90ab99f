package watch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// TestMain lets the test binary play Claude Code.
func TestMain(m *testing.M) {
	if mode := os.Getenv("FAKE_CLAUDE"); mode != "" {
		fakeClaude(mode)
		return
	}
	os.Exit(m.Run())
}

// fakeClaude answers each message with the events that Claude Code sends. What
// it was told goes to the file in FAKE_LOG.
func fakeClaude(mode string) {
	log, err := os.OpenFile(os.Getenv("FAKE_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	out := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	used := 10_000
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			Type    string
			ID      string `json:"request_id"`
			Message struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		if m.Type == "control_request" {
			out(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"totalTokens":%d,"rawMaxTokens":200000}}}`, m.ID, used)
			continue
		}
		text := m.Message.Content[0].Text
		said := text
		for _, c := range m.Message.Content[1:] {
			said += "\n+ " + c.Text
		}
		fmt.Fprintf(log, "%q\n", said)
		out(`{"type":"system","subtype":"init","session_id":"s1","cwd":"/nowhere","model":"m"}`)
		switch {
		case text == slashCompact && mode == "fail":
			out(`{"type":"result","subtype":"success","session_id":"s1","is_error":false,"result":"Not enough messages to compact."}`)
			continue
		case text == slashCompact:
			used = 20_000
			out(`{"type":"system","subtype":"status","status":null,"compact_result":"success","session_id":"s1"}`)
			out(`{"type":"system","subtype":"compact_boundary","session_id":"s1","uuid":"b","compact_metadata":{"trigger":"manual","pre_tokens":130000,"post_tokens":1000}}`)
		case strings.HasPrefix(text, "work"), strings.HasPrefix(text, "plan"):
			used = 140_000
			if strings.HasPrefix(text, "plan") {
				out(`{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","id":"t0","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}}]}}`)
				out(`{"type":"user","session_id":"s1","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"t0","content":"ok"}]},"tool_use_result":{}}`)
			}
			out(`{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git commit -m one"}}],"usage":{"input_tokens":120000,"output_tokens":1}}}`)
			out(`{"type":"user","session_id":"s1","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"[main abcdef1] one\n 1 file changed"}]},"tool_use_result":{"interrupted":false}}`)
			out(`{"type":"assistant","session_id":"s1","parent_tool_use_id":"sub","message":{"content":[{"type":"text","text":"from a sub-agent"}],"usage":{"input_tokens":9}}}`)
		}
		if text == "talk" {
			used = 140_000
		}
		reply := "ok"
		if text == "MY PROMPT" {
			reply = "MY PACKET"
		}
		out(`not an event`)
		out(`{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d}}}`, reply, used)
		out(`{"type":"result","subtype":"success","session_id":"s1","result":%q,"modelUsage":{"m":{"contextWindow":200000}}}`, reply)
	}
}

func runClaude(t *testing.T, mode string, set func(*compact.Settings), change func(*Claude), prompts ...string) (told, news []string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_CLAUDE="+mode, "FAKE_LOG="+log)
	s := config.Defaults().Compact
	s.Mode = compact.ModeAuto
	if set != nil {
		set(&s)
	}
	ch := make(chan string, len(prompts))
	for _, p := range prompts {
		ch <- p
	}
	close(ch)
	w := &Claude{
		Options: Options{
			Waits: DefaultWaits(),
			Home:  testHome(t), Settings: func() compact.Settings { return s }, Lang: message.EN, Words: message.EN, Now: time.Now,
			Report: func(r Report) { news = append(news, r.What) },
		},
		Command: cmd, Prompts: ch,
	}
	if change != nil {
		change(w)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(log)
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var text string
		_ = json.Unmarshal([]byte(l), &text)
		if strings.HasPrefix(text, "<overtone-packet") {
			packet, with, rides := strings.Cut(text, "</overtone-packet>\n+ ")
			text = "PACKET"
			if strings.Contains(packet, "MY PACKET") {
				text = "PACKET of the agent"
			}
			if rides {
				text += " + " + with
			}
			if rides != strings.Contains(packet, message.HandoverNextWord.EN) {
				text += ", and its last line is wrong"
			}
		}
		told = append(told, text)
	}
	return told, news
}

func TestClaude(t *testing.T) {
	t.Parallel()
	alone := func(w *Claude) { w.Unattended = true }
	tests := []struct {
		name    string
		mode    string
		set     func(*compact.Settings)
		change  func(*Claude)
		prompts []string
		want    []string
	}{
		{name: "room", prompts: []string{"hello", "again"}, want: []string{"hello", "again"}},
		{name: "boundary", set: toTheLetter, prompts: []string{"work"}, want: []string{"work", "/compact", "PACKET"}},
		{name: "nothing is open", prompts: []string{"work"}, want: []string{"work", "/compact"}},
		{name: "a step is open", prompts: []string{"plan"}, want: []string{"plan", "/compact"}},
		{name: "nobody sits before it", change: alone, prompts: []string{"work"}, want: []string{"work", "/compact", "PACKET"}},
		{name: "never", set: func(s *compact.Settings) { s.Resume = compact.ResumeNever }, prompts: []string{"plan"}, want: []string{"plan", "/compact"}},
		{name: "a message waits", prompts: []string{"plan", "again"}, want: []string{"plan", "/compact", "PACKET + again"}},
		{name: "a message waits, to the letter", set: toTheLetter, prompts: []string{"work", "again"}, want: []string{"work", "/compact", "PACKET + again"}},
		{name: "the turn is over", set: toTheLetter, prompts: []string{"talk"}, want: []string{"talk", "/compact"}},
		{name: "the turn is over, nobody sits before it", change: alone, prompts: []string{"talk"}, want: []string{"talk", "/compact"}},
		{name: "the turn is over, a message waits", prompts: []string{"talk", "hello"}, want: []string{"talk", "hello", "/compact"}},
		{name: "fails", mode: "fail", prompts: []string{"work", "again"}, want: []string{"work", "/compact", "again"}},
		{
			name: "agent's packet", set: func(s *compact.Settings) { s.PacketAuthor, s.Prompt = "agent", "MY PROMPT" },
			change: alone, prompts: []string{"plan"}, want: []string{"plan", "MY PROMPT", "/compact", "PACKET of the agent"},
		},
		{
			name: "agent's packet, a message waits", set: func(s *compact.Settings) { s.PacketAuthor, s.Prompt = "agent", "MY PROMPT" },
			prompts: []string{"plan", "again"}, want: []string{"plan", "MY PROMPT", "/compact", "PACKET of the agent + again"},
		},
		{name: "suggest", set: func(s *compact.Settings) { s.Mode = compact.ModeSuggest }, prompts: []string{"work", "again"}, want: []string{"work", "again"}},
		{name: "dry run", change: func(w *Claude) { w.DryRun = true }, prompts: []string{"work", "again"}, want: []string{"work", "again"}},
		{name: "larger window", set: func(s *compact.Settings) { s.ContextWindow = 1_000_000 }, prompts: []string{"work"}, want: []string{"work"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			mode := tt.mode
			if mode == "" {
				mode = "ok"
			}
			got, news := runClaude(t, mode, tt.set, tt.change, tt.prompts...)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("told (-want +got):\n%s\n%v", d, news)
			}
		})
	}
}

// A tag starts nothing in a run that a watcher drives, which says so.
func TestClaudeRoutesNothing(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{"[workflow:quick] add a flag": true, "what does [workflow:quick] do?": false, "hello": false} {
		if _, news := runClaude(t, "ok", nil, nil, prompt); slices.Contains(news, "warning") != want {
			t.Errorf("%q: %v", prompt, news)
		}
	}
}

// A run that ended between compaction and packet is finished by the next one.
func TestClaudeResumes(t *testing.T) {
	t.Parallel()
	created := time.Now().Add(-time.Minute)
	boundary := fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","timestamp":%q}`, created.Add(time.Second).Format(time.RFC3339Nano))
	older := fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","timestamp":%q}`, created.Add(-time.Hour).Format(time.RFC3339Nano))
	arrived := `{"type":"user","message":{"content":"<overtone-packet id=\"ovt-x-1\">"}}`
	spoke := `{"type":"assistant","message":{"content":[{"type":"text","text":"So."}]}}`
	tests := []struct {
		name  string
		state compact.ReceiptState
		lines []string
		want  []string
		end   compact.ReceiptState
		quiet bool
		late  bool // the packet is past its time, and one compaction was asked for
	}{
		{"compacted", compact.Compacting, []string{spoke, boundary}, []string{"PACKET", "hello"}, compact.Delivered, false, false},
		{"handed out and lost", compact.Delivering, []string{boundary}, []string{"PACKET", "hello"}, compact.Delivered, false, false},
		{"arrived", compact.Delivering, []string{boundary, arrived, spoke}, []string{"hello"}, compact.Delivered, false, false},
		{"not compacted", compact.Compacting, []string{older, spoke}, []string{"hello"}, compact.Dropped, false, false},
		{"waits for the user", compact.Compacting, []string{spoke, boundary}, []string{"PACKET + hello"}, compact.Delivered, true, false},
		{"went on", compact.Compacting, []string{boundary, spoke}, []string{"hello"}, compact.Dropped, false, false},
		{"too late", compact.Compacting, []string{spoke, boundary}, []string{"hello"}, compact.Expired, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s1.jsonl")
			if err := os.WriteFile(path, []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var sess *store.Session
			got, news := runClaude(t, "ok", nil, func(w *Claude) {
				w.Session, w.Transcript = "s1", func(string) string { return path }
				s, err := w.Home.Session("s1")
				if err != nil {
					t.Fatal(err)
				}
				sess = s
				if _, _, err := session.UpdateWatched(s, false, func(m *session.Watched, _ *compact.Thread) []store.Event {
					m.Packets = 1
					text := "<overtone-packet id=\"ovt-x-1\">"
					if tt.quiet {
						text += message.HandoverNextWord.EN + "</overtone-packet>"
					}
					expires := created.Add(time.Hour)
					if tt.late {
						expires = created.Add(time.Second)
					}
					m.Delivery = session.Delivery{Trigger: "t", Quiet: tt.quiet, Receipt: compact.Receipt{
						ID: "ovt-x-1", State: tt.state, Text: text, Created: created, Expires: expires,
					}}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}, "hello")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s\n%v", diff, news)
			}
			m, _, err := session.ReadWatched(sess)
			if err != nil || m.Delivery.Receipt.State != tt.end {
				t.Errorf("record = %s, %v; want %s", m.Delivery.Receipt, err, tt.end)
			}
		})
	}
}

func FuzzClaudeEvent(f *testing.F) {
	for _, s := range []string{
		`{"type":"system","subtype":"init","session_id":"s1"}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"TaskUpdate","input":{"taskId":"1","status":"deleted"}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]}}`,
		`{"type":"system","subtype":"compact_boundary"}`, `{"type":"result"}`, `[]`, `x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		w := &Claude{Options: Options{
			Waits: DefaultWaits(),
			Home:  testHome(t), Settings: func() compact.Settings { return config.Defaults().Compact }, Now: time.Now, DryRun: true, Report: func(Report) {},
		}}
		w.line([]byte(`{"type":"system","subtype":"init","session_id":"s1"}`))
		w.line([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`))
		w.line(line)
		w.line(line)
	})
}
