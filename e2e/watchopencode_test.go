//go:build e2e

package e2e

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// watcher is one `overtone watch opencode` on a server.
type watcher struct {
	kill func() // ends it as kill -9 does
	mu   sync.Mutex
	told []string // what each of its reports is about
}

func (o *opencodeServer) watch(args ...string) *watcher {
	o.t.Helper()
	cmd := o.command("overtone", append([]string{"watch", "opencode", "--json", "--mode", "auto", "--debounce", "100ms", "--url", o.url}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	w := &watcher{}
	killed := false
	w.kill = func() { killed = true; _ = cmd.Process.Kill() }
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			w.mu.Lock()
			w.told = append(w.told, gjson.Get(lines.Text(), "what").String()+" "+gjson.Get(lines.Text(), "text").String()+gjson.Get(lines.Text(), "output").String())
			w.mu.Unlock()
		}
	}()
	o.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-read
		if err := cmd.Wait(); err != nil && !killed {
			o.t.Errorf("the watcher ends: %v", err)
		}
		if o.t.Failed() {
			o.t.Logf("the watcher says\n%s", strings.Join(w.told, "\n"))
		}
	})
	return w
}

func (w *watcher) count(what string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.told {
		if strings.HasPrefix(t, what+" ") {
			n++
		}
	}
	return n
}

func (w *watcher) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.told, "\n")
}

// A watcher on a server with our plugin in it, which leaves compactions to it: after a
// turn with a commit it compacts, and the packet stands in the conversation, once. Without
// open work it opens no turn, unless compact.resume says always. With prompts it runs a
// session of its own.
func TestWatchOpencode(t *testing.T) {
	t.Parallel()
	tokens, summaries, says := 10_000, 0, "That is done."
	s := newOpencode(t, func(r *heard) spoken {
		switch {
		case r.Bare && strings.Contains(r.Body, "title"):
			return speak("a title", 100)
		case r.Bare:
			summaries++
			tokens = 6_000
			return speak("MOCK-SUMMARY: the lexer was looked at.", 1_000)
		case strings.HasPrefix(r.Last(), "Please write a lexer"):
			tokens = 70_000
			return callTool("bash", map[string]any{"command": strings.Replace(commitLexer, "commit -q", "commit -q --allow-empty", 1), "description": "commit"}, tokens)
		}
		return speak(says, tokens)
	})
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	o := s.serve()
	w := o.watch()
	o.eventually("it is connected", func() bool { return w.count("connected") == 1 })
	id := o.session()
	o.say(id, "hello")
	o.eventually("the session is watched", func() bool { return w.count("decision") == 1 })
	o.say(id, "Please write a lexer with a function called scanToken, and commit it.")
	o.eventually("the packet waits", func() bool { return w.count("left") == 1 })
	n := len(o.API.requests())
	o.say(id, "what was that?")
	o.say(id, "and now?")
	for _, r := range o.API.requests()[n:] {
		if r.Count(handed) != 1 || !r.Has("scanToken") {
			t.Errorf("%d hand-overs in %q", r.Count(handed), r.Texts[2:])
		}
	}
	if summaries != 1 || w.count("compacted") != 1 || len(o.API.requests()) != n+2 {
		t.Errorf("%d compactions, %d requests", summaries, len(o.API.requests())-n)
	}
	if out := s.exec("", "overtone", "timeline", "--session", id); strings.Count(out, "Continuation packet delivered") != 1 {
		t.Errorf("timeline\n%s", out)
	}

	config := filepath.Join(s.home, ".overtone", "config.yaml")
	s.change(config, "#resume: evidence", "resume: always")
	says = "The lexer is committed. Next I write the parser."
	o.say(id, "Please write a lexer once more, and commit it.")
	o.eventually("the packet opens a turn", func() bool { return w.count("delivered") == 1 })
	if last := o.API.last(); !strings.Contains(last.Last(), handed) || summaries != 2 {
		t.Errorf("%d compactions, then %q", summaries, last.Last())
	}
}

// watched waits for a watcher to have a session's lease: until then our plugin in the server
// compacts by itself.
func (o *opencodeServer) watched(w *watcher, id string) {
	o.t.Helper()
	n := w.count("decision")
	o.say(id, "hello")
	o.eventually("the session is watched", func() bool { return w.count("decision") > n })
}

// committer is a model that commits where it is asked to, and whose context is full then.
type committer struct {
	mu        sync.Mutex
	tokens    int
	summaries int
	hold      <-chan struct{} // what summaries wait for
}

func (c *committer) answer(r *heard) spoken {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Bare:
		c.summaries++
		c.tokens = 6_000
		return spoken{Text: "MOCK-SUMMARY: the lexer was looked at.", Tokens: 1_000, Until: c.hold}
	case strings.HasPrefix(r.Last(), "Please write a lexer"):
		c.tokens = 70_000
		return callTool("bash", map[string]any{"command": strings.Replace(commitLexer, "commit -q", "commit -q --allow-empty", 1), "description": "commit"}, c.tokens)
	case strings.HasPrefix(r.Last(), "look around"):
		return callTool("bash", map[string]any{"command": "echo LOOKED", "description": "look"}, c.tokens)
	}
	return speak("That is done.", max(c.tokens, 5_000))
}

func (c *committer) compactions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.summaries
}

const pleaseCommit = "Please write a lexer with a function called scanToken, and commit it."

// A server with a password, two watchers of which one is killed, a server that is started
// anew, in the middle of a compaction, too, and a session that is deleted: at each boundary
// there is one compaction, and one packet.
func TestWatchOpencodeAttacked(t *testing.T) {
	t.Parallel()
	c := &committer{}
	s := newOpencode(t, c.answer)
	s.env = append(s.env, "OPENCODE_SERVER_PASSWORD=sesame")
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	o := s.serve()
	alone := o.session() // our plugin gets in without being told the password
	o.say(alone, "hello")
	o.eventually("the plugin is told what is said", func() bool {
		files, _ := filepath.Glob(filepath.Join(s.home, ".overtone", "mirror", "opencode", "*", alone+".jsonl"))
		return len(files) == 1
	})
	blind := *s
	blind.env = append(slices.Clone(s.env), "OPENCODE_SERVER_PASSWORD=")
	locked := (&opencodeServer{station: &blind, url: o.url}).watch()
	o.eventually("it says that there is a password", func() bool { return locked.count("waiting") == 1 })
	if told := locked.all(); !strings.Contains(told, "set OPENCODE_SERVER_PASSWORD") {
		t.Errorf("without the password: %s", told)
	}

	both := []*watcher{o.watch(), o.watch()}
	total := func(what string) int { return both[0].count(what) + both[1].count(what) }
	o.eventually("they are connected", func() bool { return total("connected") == 2 })
	id := o.session()
	turn := func(compactions, left int) {
		t.Helper()
		n := len(o.API.requests())
		o.say(id, pleaseCommit)
		o.eventually("the packet waits", func() bool { return total("left") == left })
		o.say(id, "what was that?")
		if last := o.API.last(); last.Count(handed) != 1 || !last.Has("scanToken") {
			t.Errorf("%d hand-overs in %q", last.Count(handed), last.Texts[2:])
		}
		if got := c.compactions(); got != compactions || len(o.API.requests()) != n+3 {
			t.Errorf("%d compactions, %d requests", got, len(o.API.requests())-n)
		}
	}
	for _, w := range both {
		o.watched(w, id)
	}
	turn(1, 1)
	if both[0].count("left") == 0 {
		slices.Reverse(both)
	}
	both[0].kill()
	o.watched(both[1], id)
	turn(2, 2)

	o.stop()
	o.start()
	o.eventually("it is connected again", func() bool { return both[1].count("connected") == 2 })
	id = o.session()
	o.watched(both[1], id)
	turn(3, 3)

	// In the middle of a compaction.
	hold := make(chan struct{})
	c.mu.Lock()
	c.hold = hold
	c.mu.Unlock()
	id = o.session()
	o.watched(both[1], id)
	o.say(id, pleaseCommit)
	o.eventually("it compacts", func() bool { return c.compactions() == 4 })
	if n := both[1].count("warning"); n > 0 { // what is asked while a server dies may be one
		t.Errorf("%d warnings: %s", n, both[1].all())
	}
	o.kill()
	o.start()
	o.eventually("it gives the packet up", func() bool { return both[1].count("void") == 1 })
	close(hold)
	o.say(id, "what was that?")
	if last := o.API.last(); last.Has(handed) {
		t.Errorf("a packet without a compaction: %q", last.Texts[2:])
	}

	r, err := http.DefaultClient.Do(o.ask(http.MethodDelete, "/session/"+id, nil))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	o.eventually("the session is let go", func() bool { return both[1].count("detached") == 1 })
	if out := s.exec("", "overtone", "doctor"); strings.Contains(out, "✗") {
		t.Errorf("doctor says\n%s", out)
	}
}

// What a person types in the instant in which a compaction begins, and while it runs, is
// answered, and nothing of ours opens a turn beside it.
func TestWatchOpencodeTyping(t *testing.T) {
	t.Parallel()
	c := &committer{}
	s := newOpencode(t, c.answer)
	s.exec("", "overtone", "init", "--host", "opencode", "--mode", "auto", "--yes", "--lang", "en")
	o := s.serve()
	server, err := url.Parse(o.url)
	if err != nil {
		t.Fatal(err)
	}
	var before func(id string) // what happens before a compaction is asked for
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.FlushInterval = -1
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/session/"), "/summarize"); ok && before != nil {
			before(id)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	t.Cleanup(between.CloseClientConnections)
	w := (&opencodeServer{station: s, url: between.URL}).watch()
	o.eventually("it is connected", func() bool { return w.count("connected") == 1 })

	id := o.session()
	boundary := func() {
		t.Helper()
		o.watched(w, id)
		o.say(id, pleaseCommit)
	}
	// In the instant: the turn has begun, and has called a tool.
	said := make(chan struct{})
	typed := func(text string) (n int) {
		n = len(o.API.requests())
		go func() {
			o.say(id, text)
			said <- struct{}{}
		}()
		return n
	}
	before = func(string) {
		n := typed("look around please")
		o.eventually("the turn has begun", func() bool { return len(o.API.requests()) > n })
		before = nil
	}
	boundary()
	o.eventually("it is said again", func() bool { return w.count("cut") == 1 })
	receive(t, "said", said)
	o.eventually("and answered", func() bool { return strings.HasPrefix(o.API.last().Last(), "LOOKED") })
	last := o.API.last()
	if got := strings.Join(last.Texts, "\n"); last.Count(handed) != 1 || last.Count("look around please") < 1 || strings.LastIndex(got, handed) > strings.LastIndex(got, "look around please") {
		t.Errorf("%d hand-overs, the session is\n%s", last.Count(handed), o.messages(id))
	}

	// While it runs: the message waits for the summary, and is answered. No turn of ours.
	id = o.session()
	hold := make(chan struct{})
	c.mu.Lock()
	c.hold = hold
	c.mu.Unlock()
	boundary()
	o.eventually("it compacts", func() bool { return c.compactions() == 2 })
	n := typed("STOP here")
	o.eventually("the message is there", func() bool { return strings.Contains(o.messages(id), "STOP here") })
	close(hold)
	receive(t, "said", said)
	o.eventually("the packet waits", func() bool { return w.count("left") == 2 })
	if list := o.API.requests()[n:]; len(list) != 1 || list[0].Last() != "STOP here" {
		t.Errorf("%d requests, the session is\n%s", len(list), o.messages(id))
	}
	o.say(id, "what was that?")
	if last := o.API.last(); last.Count(handed) != 1 || w.count("delivered")+w.count("warning") > 0 {
		t.Errorf("%d hand-overs, the session is\n%s", last.Count(handed), o.messages(id))
	}
}
