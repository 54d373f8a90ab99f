package watch

import (
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// A thread is compacted when its turn has ended and nothing runs on, while its user reads.
// That alone opens no turn, whatever the setting.
func TestCodexAtTheEndOfATurn(t *testing.T) {
	said := func(items ...obj) func(*fakeServer) {
		return func(f *fakeServer) { f.turnOf("", "Port the parser.", "1. the lexer 2. the printer", 70_000, items...) }
	}
	agents := func(status string) func(*fakeServer) {
		return func(f *fakeServer) {
			f.push(obj{"method": "thread/started", "params": obj{"thread": obj{"id": "agent-7", "parentThreadId": fakeThread, "status": obj{"type": status}}}})
			said()(f)
		}
	}
	goal := func(status string) func(*fakeServer) {
		return func(f *fakeServer) {
			f.goal = obj{"objective": "x", "status": status, "updatedAt": 1}
			f.note("thread/goal/updated", obj{"goal": f.goal})
			said()(f)
		}
	}
	for name, c := range map[string]struct {
		set   func(*compact.Settings)
		who   func(*watcher)
		hooks [][2]string
		turns func(*fakeServer)
		want  string
	}{
		"it has ended":                {turns: said(), want: waits},
		"always":                      {set: func(s *compact.Settings) { s.Resume = compact.ResumeAlways }, turns: said(), want: waits},
		"nobody sits before it":       {who: alone, turns: said(), want: waits},
		"there is room":               {turns: func(f *fakeServer) { f.turnOf("", "Why?", "So.", 20_000) }},
		"it is not in the list":       {set: func(s *compact.Settings) { s.Trigger.AutoRequiresAnyBoundary = []string{"commit"} }, turns: said()},
		"a tool asks":                 {turns: said(questionItem())},
		"a plan waits":                {turns: said(planItem())},
		"a message waits":             {turns: func(f *fakeServer) { f.queue = []obj{{"id": "u", "clientUserMessageId": "user"}}; said()(f) }},
		"interrupted":                 {turns: func(f *fakeServer) { f.tokens(f.begin(), 70_000); f.end(f.begin(), turnInterrupted) }},
		"an agent is at work":         {turns: agents("active")},
		"an agent that has ended":     {turns: agents("idle"), want: waits},
		"a goal":                      {turns: goal(goalActive)},
		"a goal that its user paused": {turns: goal(goalPaused), want: waits},
		"a goal that is reached":      {turns: goal("complete"), want: waits},
		"a stage":                     {hooks: [][2]string{{"user-prompt-submit", `"prompt":"[workflow:quick] port it"`}}, turns: said()},
		"a workflow that rests":       {hooks: [][2]string{{"user-prompt-submit", `"prompt":"[workflow:quick] port it"`}, {"user-prompt-submit", `"prompt":"what is it?"`}}, turns: said(), want: waits},
		"words typed while it compacts": {turns: func(f *fakeServer) {
			f.afterCompact = func() { f.afterCompact = nil; f.turnOf("", "yes, do 1", "Fine.", 9_000) }
			said()(f)
		}, want: waits},
		"words typed at once": {turns: func(f *fakeServer) {
			said()(f)
			f.tokens(f.begin(), 71_000)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			watchFakeBy(t, c.set, c.who, func(t *testing.T, f *fakeServer, w *watcher) {
				storyHooks(t, w.Home, host.Codex, fakeThread, c.hooks...)
				f.locked(func() { c.turns(f) })
				settle()
				if got := f.posted(); got != c.want {
					t.Fatalf("posted %q, want %q: %s", got, c.want, w.news())
				}
				if c.want != "" {
					packetWaits(t, f, w)
				}
			})
		})
	}
}
