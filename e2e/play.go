//go:build e2e

package e2e

import (
	"sync"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// Step makes one answer of a scripted model.
type Step func(*mockapi.Request) mockapi.Reply

// say answers with text.
func say(text string) Step {
	return func(*mockapi.Request) mockapi.Reply { return mockapi.Text(text) }
}

// call answers with tool calls in one message.
func call(blocks ...mockapi.Block) Step {
	return func(*mockapi.Request) mockapi.Reply { return mockapi.Calls(blocks...) }
}

// fail answers with an API error.
func fail(status int, text string) Step {
	return func(*mockapi.Request) mockapi.Reply { return mockapi.Fail(status, text) }
}

// until holds a step's answer back until ch is closed.
func (s Step) until(ch <-chan struct{}) Step {
	return func(r *mockapi.Request) mockapi.Reply { return s(r).Until(ch) }
}

// tool is a tool call.
// held is a point at which answers of a model wait: a compaction under which somebody types,
// or in which the host is killed.
type held struct {
	reached, release chan struct{} // an answer has come to it; they may go on
	first, over      sync.Once
}

func newHeld(t *testing.T) *held {
	h := &held{reached: make(chan struct{}), release: make(chan struct{})}
	t.Cleanup(h.letGo)
	return h
}

// at is what an answer waits for that has come to the point.
func (h *held) at() <-chan struct{} {
	h.first.Do(func() { close(h.reached) })
	return h.release
}

func (h *held) letGo() { h.over.Do(func() { close(h.release) }) }

func tool(name string, input map[string]any) mockapi.Block {
	return mockapi.Block{Tool: name, Input: input}
}

// bash is a call of the shell.
func bash(command string) mockapi.Block { return tool("Bash", map[string]any{"command": command}) }

// SummaryText is what the scripted summariser answers.
const SummaryText = "<analysis>mock</analysis>\n<summary>MOCK-SUMMARY of the conversation</summary>"

// Play is a scripted model: the answers of each thread, in order. A thread that
// has used up its steps says "DONE".
type Play struct {
	Main   []Step
	Agents map[string][]Step // by the agent's name, without the plugin's

	mu   sync.Mutex
	used map[string]int
}

// Handle is the mock's handler.
func (p *Play) Handle(r *mockapi.Request) mockapi.Reply {
	var steps []Step
	switch r.Kind {
	case mockapi.Main:
		steps = p.Main
	case mockapi.Subagent:
		steps = p.Agents[r.Agent]
	case mockapi.Summary:
		return mockapi.Text(SummaryText)
	}
	p.mu.Lock()
	if p.used == nil {
		p.used = make(map[string]int)
	}
	thread := string(r.Kind) + r.Agent
	n := p.used[thread]
	p.used[thread]++
	p.mu.Unlock()
	if n < len(steps) {
		return steps[n](r)
	}
	return mockapi.Text("DONE")
}
