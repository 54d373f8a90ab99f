package transcript

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// opencodeSession is a session with a tool that failed, a text of a plugin's, a
// compaction, and a message that is not done.
const opencodeSession = `[
{"info":{"id":"msg_1","role":"user","time":{"created":1772366400000}},"parts":[{"id":"prt_1","type":"text","text":"write a lexer"},{"id":"prt_2","type":"text","text":"from a plugin","synthetic":true},{"id":"prt_x","type":"text","text":"for the person","ignored":true}]},
{"info":{"id":"msg_2","role":"assistant","time":{"created":1772366401000,"completed":1772366402000},"modelID":"m1","tokens":{"input":100,"output":20,"reasoning":3,"cache":{"read":7,"write":1}}},"parts":[{"id":"prt_3","type":"step-start"},{"id":"prt_4","type":"reasoning","text":"hm"},{"id":"prt_5","type":"text","text":"I run it."},{"id":"prt_6","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"},"output":"no rule\n","metadata":{"exit":2}}}]},
{"info":{"id":"msg_3","role":"user","time":{"created":1772366403000}},"parts":[{"id":"prt_7","type":"compaction","auto":true}]},
{"info":{"id":"msg_4","role":"assistant","summary":true,"time":{"created":1772366404000,"completed":1772366405000},"modelID":"m1","tokens":{"input":9,"output":1}},"parts":[{"id":"prt_8","type":"text","text":"SUMMARY"}]},
{"info":{"id":"msg_5","role":"user","time":{"created":1772366406000}},"parts":[{"id":"prt_9","type":"text","text":"go on, the key is sk-ant-REDACTED-x"}]},
{"info":{"id":"msg_6","role":"assistant","time":{"created":1772366407000}},"parts":[{"id":"prt_10","type":"text","text":"at wo"}]}
]`

// A message of the agent's in which it calls no tool ends its turn, whichever host's it
// is; one that was broken off, or that calls a tool, does not.
func TestMirrorTellsTheEndOfATurn(t *testing.T) {
	t.Parallel()
	opencode := OpencodeMessages(gjson.Parse(`[
{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"id":"p1","type":"text","text":"write a lexer"}]},
{"info":{"id":"m2","role":"assistant","time":{"created":2,"completed":3}},"parts":[{"id":"p2","type":"text","text":"I run it."},{"id":"p3","type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"make"},"output":"ok"}}]},
{"info":{"id":"m3","role":"assistant","time":{"created":4,"completed":5}},"parts":[{"id":"p4","type":"text","text":"Done."}]},
{"info":{"id":"m4","role":"user","time":{"created":6}},"parts":[{"id":"p5","type":"text","text":"and a parser"}]},
{"info":{"id":"m5","role":"assistant","time":{"created":7,"completed":8},"error":{"name":"MessageAbortedError"}},"parts":[{"id":"p6","type":"text","text":"I beg"}]}
]`).Array(), false)
	r := geminiReader{at: map[string]int{}}
	for _, line := range []string{
		`{"sessionId":"s"}`,
		`{"id":"m1","type":"user","content":"write a lexer"}`,
		`{"id":"m2","type":"gemini","content":"I run it.","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"make"},"result":[{"functionResponse":{"response":{"output":"Output: ok"}}}]}]}`,
		`{"id":"m3","type":"gemini","content":"Done."}`,
		`{"id":"m4","type":"user","content":"and a parser"}`,
	} {
		r.line(gjson.Parse(line))
	}
	for name, c := range map[string]struct {
		m    Mirror
		list []HostMessage
		want string
	}{
		"opencode": {OpencodeMirror(t.TempDir(), gjson.Parse(`{"id":"ses_1","directory":"/p"}`)), opencode, "user agent began result agent ended user agent interrupted"},
		"gemini":   {GeminiMirror(t.TempDir(), "", GeminiFile{Session: "s", CWD: "/p"}), r.Messages, "user agent began result agent ended user"},
	} {
		if err := c.m.Write(c.list); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := EventsFrom(context.Background(), c.m.Path, 0, func(e *Event) {
			if e.Kind != Counted {
				got = append(got, map[EventKind]string{UserSaid: "user", AgentSaid: "agent", ToolBegan: "began", ToolEnded: "result", TurnEnded: "ended", Interrupted: "interrupted"}[e.Kind])
			}
		})
		if d := cmp.Diff(c.want, strings.Join(got, " ")); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

// An answer that an error ended says which one; one that was broken off does not.
func TestOpencodeErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failed, stopped bool
		text            string
	}{"APIError": {true, false, "overloaded"}, "MessageAbortedError": {false, true, ""}} {
		list := OpencodeMessages(gjson.Parse(`[{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"id":"p1","type":"text","text":"go"}]},
{"info":{"id":"m2","role":"assistant","time":{"created":2,"completed":3},"error":{"name":"`+name+`","data":{"message":"overloaded"}}},"parts":[{"id":"p2","type":"text","text":"I beg"}]}]`).Array(), false)
		if len(list) != 2 || list[1].Failed != c.failed || list[1].Stopped != c.stopped {
			t.Fatalf("%s: %+v", name, list)
		}
		said := ""
		for _, b := range list[1].Blocks[1:] {
			said += b.Text
		}
		if said != c.text {
			t.Errorf("%s: %+v", name, list[1].Blocks)
		}
	}
}

// A mirror tells what happened in a session like any file of a host, once, however
// often the messages are told.
func TestMirror(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	m := OpencodeMirror(root, gjson.Parse(`{"id":"ses_1","directory":"/work/p","title":"the lexer","version":"1.18.33"}`))
	if want := filepath.Join(root, "opencode", "-work-p", "ses_1.jsonl"); m.Path != want {
		t.Errorf("%s, want %s", m.Path, want)
	}
	all := gjson.Parse(opencodeSession).Array()
	if gap, err := m.Add(OpencodeMessages(all[3:], false), false); !gap || err != nil {
		t.Errorf("an end without a beginning: %v, %v", gap, err)
	}
	for _, part := range [][]gjson.Result{all[:2], all[1:4], all[:4], all, all[3:]} {
		if gap, err := m.Add(OpencodeMessages(part, false), part[0].Get("info.id").String() == "msg_1"); gap || err != nil {
			t.Errorf("gap %v, %v", gap, err)
		}
	}
	var got []string
	err := EventsFrom(context.Background(), m.Path, 0, func(e *Event) {
		kind := map[EventKind]string{
			About: "about", UserSaid: "user", HostSaid: "host", AgentSaid: "agent", ToolBegan: "began", ToolEnded: "ended", Counted: "counted", Compacted: "compacted", Summarised: "summary",
		}[e.Kind]
		switch e.Kind {
		case Counted:
			got = append(got, kind+" "+e.Usage.Model)
		case Compacted:
			got = append(got, kind+" "+e.Trigger)
		default:
			got = append(got, strings.TrimSpace(kind+" "+e.Text()))
		}
	})
	want := []string{
		"about", "user write a lexer", "host from a plugin", "counted m1", "agent I run it.", "began make", "ended Exit code 2\nno rule", "counted m1", "compacted auto", "summary SUMMARY",
		"user go on, the key is " + strings.TrimPrefix(redact.Clean("the key is sk-ant-REDACTED-x"), "the key is "),
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	s, err := Read(context.Background(), m.Path)
	if err != nil || s.Host != Opencode || s.ID != "ses_1" || s.Title != "the lexer" || s.CWD != "/work/p" || len(s.Compactions) != 1 {
		t.Errorf("%v %+v", err, s)
	}
	if u, ok := TailUsage(m.Path); ok {
		t.Errorf("usage of before the compaction: %+v", u)
	}
	// Where the agent is known to be at work on nothing, its last answer was cut, too.
	if list := OpencodeMessages(all, true); len(list) != 7 || list[6].Blocks[0].Text != "at wo" || list[6].Stopped || list[6].Failed {
		t.Errorf("settled: %+v", list)
	}
	made, err := Clone(context.Background(), s, Change{ID: NewID(Opencode, time.Now()), Title: "copy", Now: time.Now()})
	if data, _ := os.ReadFile(made.Path); err != nil || !strings.HasPrefix(made.ID, "ses_") || strings.Contains(string(data), `"ses_1"`) {
		t.Errorf("%v %+v\n%s", err, made, data)
	}
	os.Remove(made.Path)
	// Messages that were taken back are gone from the mirror, too.
	if gap, err := m.Add(OpencodeMessages(all[:1], false), true); gap || err != nil {
		t.Errorf("gap %v, %v", gap, err)
	}
	if data, _ := os.ReadFile(m.Path); strings.Contains(string(data), "SUMMARY") || !strings.Contains(string(data), "write a lexer") {
		t.Errorf("%s", data)
	}
	agent := OpencodeMirror(root, gjson.Parse(`{"id":"ses_2","parentID":"ses_1","directory":"/work/p"}`))
	if _, err := agent.Add(OpencodeMessages(all, false), true); err != nil {
		t.Fatal(err)
	}
	files, err := everythingIn(host.Of(Opencode), filepath.Join(root, "opencode"))
	if err != nil || len(files) != 2 || !files[0].Agent && !files[1].Agent {
		t.Errorf("%v %+v", err, files)
	}
}
