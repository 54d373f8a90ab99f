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

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// fakeOpencode is a server with one session, in which a commit was just made.
type fakeOpencode struct {
	t         *testing.T
	dir       string
	summarize func(r *http.Request) bool // whether it works; nil: it does
	// answer is asked first, and says whether it has answered; may be nil.
	answer func(w http.ResponseWriter, r *http.Request) bool

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

// idle tells that the session is.
func (f *fakeOpencode) idle(w http.ResponseWriter) {
	fmt.Fprintf(w, "data: {\"directory\":%q,\"payload\":{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"ses_1\"}}}\n\n", f.dir)
	w.(http.Flusher).Flush()
}

// committed is a turn that ends with a commit.
func (f *fakeOpencode) committed(closer string) {
	f.add("user", "", `{"type":"text","text":"write a lexer"}`)
	f.add("assistant", `,"modelID":"m.1","providerID":"mock","tokens":{"input":70000,"output":1}`,
		`{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"git commit -m x"},"output":"[main 1a2b3c4] x\n 1 file changed\n","metadata":{"exit":0},"time":{"end":1}}},{"type":"text","text":"`+closer+`"}`)
}

// onServer is a watcher of the server, in mode auto.
func onServer(server *httptest.Server, home *store.Home, resume string, report func(Report)) *Opencode {
	s := config.Defaults().Compact
	s.Mode, s.Resume = compact.ModeAuto, resume
	return &Opencode{URL: server.URL, Options: Options{
		Home: home, Getenv: func(string) string { return "" }, Settings: func() compact.Settings { return s }, Lang: message.EN, Words: message.EN, Now: time.Now, Report: report,
	}}
}

func (f *fakeOpencode) summary() {
	f.add("assistant", `,"summary":true,"modelID":"m.1","providerID":"mock"`, `{"type":"text","text":"SUMMARY"}`)
}

func (f *fakeOpencode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.answer != nil && f.answer(w, r) {
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /global/event":
		f.idle(w)
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
		f.summary()
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
		"has asked":      {resume: compact.ResumeAlways, closer: "Shall I push it now?", want: []string{"compact", "compacted", "delivered"}, packets: 1, turns: 1},
		"nothing opens":  {resume: compact.ResumeEvidence, closer: "Next I write the parser.", want: []string{"compact", "compacted", "left"}, packets: 1},
		"fails":          {resume: compact.ResumeNever, closer: "That is done.", fails: true, want: []string{"compact", "void"}},
		"another's work": {resume: compact.ResumeNever, closer: "That is done.", killed: true, want: []string{"compact", "adopted", "left"}, packets: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeOpencode{t: t, dir: t.TempDir()}
			server := httptest.NewServer(f)
			defer server.Close()
			f.committed(tc.closer)
			home := testHome(t)
			var got []string
			var cancel context.CancelFunc
			watch := func(until ...string) {
				var ctx context.Context
				ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				w := onServer(server, home, tc.resume, func(r Report) {
					if slices.Contains([]string{"compact", "compacted", "left", "delivered", "void", "adopted", "foreign", "warning"}, r.What) {
						got = append(got, r.What)
					}
					if slices.Contains(until, r.What) {
						cancel()
					}
				})
				_ = w.Run(ctx) // it is cancelled
			}
			if tc.killed {
				summed := make(chan struct{})
				f.summarize = func(r *http.Request) bool {
					_, _ = io.Copy(io.Discard, r.Body) // only then is it known that the caller is gone
					cancel()
					<-r.Context().Done()
					f.summary()
					close(summed)
					return false // which nobody hears
				}
				watch()
				server.CloseClientConnections()
				<-summed
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

// A session that the watcher comes upon while it is at work: that it is idle is told later,
// and then its boundary counts, also where the turn ended between two questions to the server,
// or began and ended between two of them whether the session is idle.
func TestWatchOpencodeStillAtWork(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]string{
		"has answered":        "GET /session/status",
		"answers when read":   "GET /session/ses_1/message",
		"is at work when met": "GET /session/ses_1",
		"is read in a turn":   "GET /session/ses_1/message",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeOpencode{t: t, dir: t.TempDir()}
			f.committed("That is done.")
			rests := make(chan struct{})
			var once sync.Once
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				atWork := false
				asked := r.Method + " " + r.URL.Path
				if asked == until {
					once.Do(func() { atWork = true })
				}
				if atWork {
					defer close(rests)
				}
				select {
				case <-rests:
				default:
					atWork = true
				}
				switch {
				case asked == "GET /global/event":
					f.idle(w) // of the turn before
					<-rests
					f.idle(w)
					<-r.Context().Done()
					return true
				case asked == "GET /session/status" && atWork && name != "is read in a turn":
					fmt.Fprint(w, `{"ses_1":{"type":"busy"}}`)
					return true
				case asked == "GET /session/ses_1/message" && atWork:
					fmt.Fprintf(w, "[%s]", strings.NewReplacer(`"status":"completed"`, `"status":"running"`, `,"completed":`, `,"began":`).Replace(strings.Join(f.messages, ",")))
					return true
				}
				return false
			}
			server := httptest.NewServer(f)
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			why := ""
			_ = onServer(server, testHome(t), compact.ResumeNever, func(r Report) {
				switch r.What {
				case "compact":
					why = r.Text.In(message.EN)
				case "left":
					cancel()
				}
			}).Run(ctx) // it is cancelled
			if !strings.Contains(why, "commit") {
				t.Errorf("the boundary was forgotten: %q", why)
			}
		})
	}
}

// Hooks in the server tell of the same turns as the watcher does. Where they were quicker by
// more than one turn, the boundary that they have told stays what it is.
func TestWatchOpencodeBehindItsHooks(t *testing.T) {
	t.Parallel()
	f := &fakeOpencode{t: t, dir: t.TempDir()}
	met := make(chan struct{})
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method+" "+r.URL.Path != "GET /global/event" {
			return false
		}
		f.idle(w)
		<-met
		f.idle(w)
		<-r.Context().Done()
		return true
	}
	server := httptest.NewServer(f)
	defer server.Close()
	turn := func(said, answer string) {
		f.add("user", "", `{"type":"text","text":"`+said+`"}`)
		f.add("assistant", `,"modelID":"m.1","providerID":"mock","tokens":{"input":5000,"output":1}`, `{"type":"text","text":"`+answer+`"}`)
	}
	turn("hello", "Hello.")
	home := testHome(t)
	hooks := func() {
		turn("what was that?", "A greeting.")
		f.committed("That is done.")
		sess, err := home.Session("ses_1")
		if err == nil {
			_, err = session.UpdateThread(sess, func(th *compact.Thread) {
				for _, e := range []host.Event{
					host.TurnStarted{ID: "msg_2"},
					host.UserMessage{Text: "what was that?"},
					host.TurnEnded{},
					host.TurnStarted{ID: "msg_4"},
					host.UserMessage{Text: "write a lexer"},
					host.CommandStarted{ID: "c1"},
					host.CommandFinished{ID: "c1", Made: shellcmd.Verdict{Committed: true}},
				} {
					*th = th.Apply(e, compact.Settings{})
				}
			})
		}
		if err != nil {
			t.Error(err)
		}
		close(met)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	why, first := "", true
	_ = onServer(server, home, compact.ResumeNever, func(r Report) {
		switch {
		case r.What == "decision" && first:
			first = false
			hooks()
		case r.What == "decision":
			why = r.Text.In(message.EN)
			cancel()
		}
	}).Run(ctx) // it is cancelled
	if !strings.Contains(why, "commit") {
		t.Errorf("the boundary was forgotten: %q", why)
	}
}

// Nothing that a server does keeps a watcher from the next boundary: an event that is as
// long as a film, a connection that is lost while the boundary comes, an answer that never
// comes, a session that is deleted while it is compacted.
func TestWatchOpencodeOddServer(t *testing.T) {
	t.Parallel()
	type odd struct {
		*fakeOpencode
		n     int // connections
		again chan struct{}
	}
	event := func(r *http.Request) bool { return r.URL.Path == "/global/event" }
	for name, tc := range map[string]struct {
		answer func(o *odd, w http.ResponseWriter, r *http.Request) bool
		until  string
		left   int
	}{
		"a long event": {func(o *odd, w http.ResponseWriter, r *http.Request) bool {
			if !event(r) || o.n > 1 {
				return event(r)
			}
			fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", maxMessage+1))
			o.idle(w)
			<-r.Context().Done()
			return true
		}, "left", 1},
		"a lost connection": {func(o *odd, w http.ResponseWriter, r *http.Request) bool {
			switch {
			case event(r) && o.n == 1:
				o.idle(w)
				<-o.again
				o.committed("That is done.")
				return true
			case event(r):
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return true
			case strings.HasSuffix(r.URL.Path, "/message") && o.said("lexer") == 0:
				fmt.Fprint(w, "[]")
				w.(http.Flusher).Flush()
				close(o.again)
				return true
			}
			return false
		}, "left", 1},
		"no answer": {func(o *odd, w http.ResponseWriter, r *http.Request) bool {
			switch {
			case event(r):
				o.idle(w)
				<-o.again
				o.idle(w)
				<-r.Context().Done()
				return true
			case r.URL.Path == "/session/ses_1":
				select {
				case <-o.again:
				default:
					<-r.Context().Done()
					close(o.again)
					return true
				}
			}
			return false
		}, "left", 1},
		"deleted": {func(o *odd, w http.ResponseWriter, r *http.Request) bool {
			select {
			case <-o.again:
				if strings.HasPrefix(r.URL.Path, "/session/ses_1") {
					http.NotFound(w, r)
					return true
				}
			default:
				if strings.HasSuffix(r.URL.Path, "/summarize") {
					close(o.again)
					http.Error(w, "gone", http.StatusInternalServerError)
					return true
				}
			}
			return false
		}, "detached", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &odd{fakeOpencode: &fakeOpencode{t: t, dir: t.TempDir()}, again: make(chan struct{})}
			var mu sync.Mutex
			o.answer = func(w http.ResponseWriter, r *http.Request) bool {
				mu.Lock()
				if event(r) {
					o.n++
				}
				mu.Unlock()
				return tc.answer(o, w, r)
			}
			if name != "a lost connection" {
				o.committed("That is done.")
			}
			server := httptest.NewServer(o)
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			home := testHome(t)
			var got []string
			w := onServer(server, home, compact.ResumeNever, func(r Report) {
				mu.Lock()
				defer mu.Unlock()
				if got = append(got, r.What); r.What == tc.until {
					cancel()
				}
			})
			w.Waits.Compact = 3 * time.Second
			_ = w.Run(ctx) // it is cancelled
			server.CloseClientConnections()
			if !slices.Contains(got, tc.until) || o.said("overtone-packet id=") != tc.left {
				t.Errorf("%d packets, reports %q", o.said("overtone-packet id="), got)
			}
			sess, err := home.Session("ses_1")
			if err != nil {
				t.Fatal(err)
			}
			if own, _, err := session.ReadWatched(sess); err != nil || own.Delivery.Open() {
				t.Errorf("%v: a packet is left open: %+v", err, own.Delivery)
			}
			if release, ok, err := sess.TryLease(store.WatchLease); !ok || err != nil {
				t.Errorf("the lease is kept: %v", err)
			} else {
				release()
			}
		})
	}
}

// Where its user has taken messages back, the turns before them are not followed again.
func TestWatchOpencodeTakenBack(t *testing.T) {
	t.Parallel()
	f := &fakeOpencode{t: t, dir: t.TempDir()}
	said := func(text string) {
		f.add("user", "", `{"type":"text","text":"go on"}`)
		f.add("assistant", "", `{"type":"text","text":"`+text+`"}`)
	}
	said("one")
	said("two")
	said("three")
	server := httptest.NewServer(f)
	defer server.Close()
	var got []string
	w := onServer(server, testHome(t), compact.ResumeNever, func(Report) {})
	s := &served{id: "ses_1", dir: f.dir}
	for range 2 {
		list, err := w.look(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		s.follow(list)
		got = append(got, fmt.Sprintf("%d: %s", s.thread.Words.Count, s.thread.State.Slice.Last))
		f.messages = f.messages[:2]
		said("three anew")
		f.messages[2] = strings.Replace(f.messages[2], "msg_2", "msg_8", 1)
		f.messages[3] = strings.Replace(f.messages[3], "msg_3", "msg_9", 1)
	}
	if text := strings.Join(got, ","); text != "1: three,2: three anew" {
		t.Errorf("followed: %q", text)
	}
}

// An answer that its user has broken off is an interruption, whatever it said before; no
// setting opens a turn then.
func TestOpencodeInterrupted(t *testing.T) {
	t.Parallel()
	o := storyOptions(testHome(t))
	o.Settings = func() compact.Settings { return compact.Settings{Resume: compact.ResumeAlways} }
	c, err := newConversation("ses_1", host.Opencode, "/nowhere", o)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{conversation: c, id: "ses_1"}
	list := gjson.Parse(`[
{"info":{"id":"m1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"write a lexer"}]},
{"info":{"id":"m2","role":"assistant","time":{"created":2,"completed":3},"error":{"name":"MessageAbortedError"}},"parts":[{"type":"text","text":"I begin."}]}
]`).Array()
	if s.follow(list) {
		t.Error("it has ended by itself")
	}
	if state := c.thread.Situation().State; state != compact.StateInterrupted || !c.holds() {
		t.Errorf("%s, holds %v", state, c.holds())
	}
}
