//go:build e2e

package e2e

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// watcher is one `overtone watch opencode` on a server.
type watcher struct {
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
		if err := cmd.Wait(); err != nil {
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

	s.change(config, "resume: always", "resume: never")
	says = "That is done."
	out := s.exec("", "overtone", "watch", "opencode", "--json", "--mode", "auto", "--debounce", "100ms", "--url", o.url, "Please write a lexer of your own, and commit it.", "what was that?")
	if n := strings.Count(out, `"what":"left"`) + strings.Count(out, `"what":"held"`); n != 1 || strings.Count(out, `"output":"That is done."`) != 2 {
		t.Errorf("prompts: %s", out)
	}
}
