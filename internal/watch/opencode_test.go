package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// fakeOpencode is a server with one session, in which a commit was just made.
type fakeOpencode struct {
	t         *testing.T
	dir       string
	summarize func(r *http.Request) bool // whether it works; nil: it does

	mu       sync.Mutex
	messages []string
}

func (f *fakeOpencode) add(role, more, parts string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now().UnixMilli()
	f.messages = append(f.messages, fmt.Sprintf(`{"info":{"id":"msg_%d","role":%q,"time":{"created":%d,"completed":%d}%s},"parts":[%s]}`, len(f.messages), role, now, now, more, parts))
}

// said counts the messages with a text.
func (f *fakeOpencode) said(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.messages {
		n += strings.Count(m, text)
	}
	return n
}

func (f *fakeOpencode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /global/event":
		fmt.Fprintf(w, "data: {\"directory\":%q,\"payload\":{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"ses_1\"}}}\n\n", f.dir)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "GET /session/ses_1":
		fmt.Fprintf(w, `{"id":"ses_1","directory":%q,"title":"x","version":"1.18.33"}`, f.dir)
	case "GET /session/ses_1/message":
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Fprintf(w, "[%s]", strings.Join(f.messages, ","))
	case "GET /config/providers":
		fmt.Fprint(w, `{"providers":[{"id":"mock","models":{"m.1":{"limit":{"context":100000}}}}]}`)
	case "GET /session/status":
		fmt.Fprint(w, `{}`)
	case "POST /session/ses_1/summarize":
		if f.summarize != nil && !f.summarize(r) {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		f.add("assistant", `,"summary":true,"modelID":"m.1","providerID":"mock"`, `{"type":"text","text":"SUMMARY"}`)
		fmt.Fprint(w, `true`)
	case "POST /session/ses_1/message":
		var in struct {
			NoReply bool
			Parts   []json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			f.t.Error(err)
		}
		f.add("user", "", string(in.Parts[0]))
		if !in.NoReply {
			f.add("assistant", `,"modelID":"m.1","providerID":"mock","tokens":{"input":5000,"output":1}`, `{"type":"text","text":"I go on."}`)
		}
		fmt.Fprint(w, `{}`)
	default:
		f.t.Errorf("%s %s", r.Method, r.URL)
	}
}

// A packet goes into the conversation once, whatever becomes of the compaction, and of a
// watcher that ends in the middle of it.
func TestWatchOpencodeServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resume, closer string
		fails, killed  bool
		want           []string // what is reported, of that which counts
		packets, turns int
	}{
		"waits":          {resume: compact.ResumeNever, closer: "Next I write the parser.", want: []string{"compact", "compacted", "left"}, packets: 1},
		"goes on":        {resume: compact.ResumeAlways, closer: "Next I write the parser.", want: []string{"compact", "compacted", "delivered"}, packets: 1, turns: 1},
		"has asked":      {resume: compact.ResumeAlways, closer: "Shall I push it now?", want: []string{"compact", "compacted", "left"}, packets: 1},
		"fails":          {resume: compact.ResumeNever, closer: "That is done.", fails: true, want: []string{"compact", "void"}},
		"another's work": {resume: compact.ResumeNever, closer: "That is done.", killed: true, want: []string{"compact", "adopted", "left"}, packets: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeOpencode{t: t, dir: t.TempDir()}
			server := httptest.NewServer(f)
			defer server.Close()
			f.add("user", "", `{"type":"text","text":"write a lexer"}`)
			f.add("assistant", `,"modelID":"m.1","providerID":"mock","tokens":{"input":70000,"output":1}`,
				`{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"git commit -m x"},"output":"[main 1a2b3c4] x\n 1 file changed\n","metadata":{"exit":0},"time":{"end":1}}},{"type":"text","text":"`+tc.closer+`"}`)
			s := config.Defaults().Compact
			s.Mode, s.Resume = compact.ModeAuto, tc.resume
			home := testHome(t)
			var got []string
			var cancel context.CancelFunc
			watch := func(until ...string) {
				var ctx context.Context
				ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				w := &Opencode{URL: server.URL, Options: Options{
					Home: home, Getenv: func(string) string { return "" }, Settings: func() compact.Settings { return s }, Lang: message.EN, Words: message.EN, Now: time.Now,
					Report: func(r Report) {
						if slices.Contains([]string{"compact", "compacted", "left", "delivered", "void", "adopted", "foreign", "warning"}, r.What) {
							got = append(got, r.What)
						}
						if slices.Contains(until, r.What) {
							cancel()
						}
					},
				}}
				_ = w.Run(ctx) // it is cancelled
			}
			if tc.killed {
				f.summarize = func(r *http.Request) bool {
					_, _ = io.Copy(io.Discard, r.Body) // only then is it known that the caller is gone
					cancel()
					<-r.Context().Done()
					return true
				}
				watch()
				server.CloseClientConnections()
				for end := time.Now().Add(time.Minute); f.said("SUMMARY") == 0 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
			}
			if tc.fails {
				f.summarize = func(*http.Request) bool { return false }
			}
			watch("left", "delivered", "void")
			if !slices.Equal(got, tc.want) {
				t.Errorf("reports %q, want %q", got, tc.want)
			}
			if n := f.said("overtone-packet id="); n != tc.packets {
				t.Errorf("%d packets", n)
			}
			if n := f.said("I go on."); n != tc.turns {
				t.Errorf("%d turns", n)
			}
		})
	}
}
