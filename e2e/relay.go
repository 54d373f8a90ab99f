//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// Relay plays a main agent that knows nothing but what the hooks tell it: it
// delegates to the agents named in the newest routing text and otherwise ends
// its turn. A workflow that runs to its end under a Relay proves that each text
// reached the model, in time and in a form that can be followed.
type Relay struct {
	// Agents hold the answers of each agent, in order; a stage that has no more
	// answers passes.
	Agents map[string][]Step
	// Before is asked first for every request of the main agent; nil lets the
	// relay answer.
	Before func(r *mockapi.Request, n int) *mockapi.Reply
	// Background makes the relay start every agent in the background.
	Background bool
	// Usage is what a main request claims to have cost, by its number.
	Usage func(n int) int

	mu   sync.Mutex
	main int
	used map[string]int
}

// Handle is the mock's handler.
func (p *Relay) Handle(r *mockapi.Request) mockapi.Reply {
	switch r.Kind {
	case mockapi.Summary:
		return mockapi.Text(SummaryText)
	case mockapi.Subagent:
		return p.agent(r)
	case mockapi.Side:
		return mockapi.Text("side")
	}
	p.mu.Lock()
	n := p.main
	p.main++
	p.mu.Unlock()
	reply := p.relay(r, n)
	if p.Usage != nil {
		reply = reply.Tokens(p.Usage(n))
	}
	return reply
}

func (p *Relay) relay(r *mockapi.Request, n int) mockapi.Reply {
	if p.Before != nil {
		if reply := p.Before(r, n); reply != nil {
			return *reply
		}
	}
	var blocks []mockapi.Block
	for _, d := range delegations(r.Last()) {
		if p.Background {
			blocks = append(blocks, mockapi.Background(d.agent, "do "+d.stage))
		} else {
			blocks = append(blocks, mockapi.Delegate(d.agent, "do "+d.stage))
		}
	}
	for _, line := range runRE.FindAllStringSubmatch(r.Last(), -1) {
		blocks = append(blocks, bash(line[1]))
	}
	if blocks == nil {
		return mockapi.Text("RELAY-IDLE")
	}
	return mockapi.Calls(blocks...)
}

func (p *Relay) agent(r *mockapi.Request) mockapi.Reply {
	p.mu.Lock()
	if p.used == nil {
		p.used = make(map[string]int)
	}
	n := p.used[r.Agent]
	p.used[r.Agent]++
	p.mu.Unlock()
	if steps := p.Agents[r.Agent]; n < len(steps) {
		return steps[n](r)
	}
	return pass(r)
}

type delegation struct{ agent, stage string }

var (
	delegateRE = regexp.MustCompile(`([a-z][a-z0-9:-]+)（([A-Z0-9:a-z-]+)）`)
	runRE      = regexp.MustCompile("➡️ 執行 `(overtone workflow run [^`]+)`")
)

// delegations finds what the routing lines of a text ask for, each stage once.
func delegations(text string) []delegation {
	var out []delegation
	seen := make(map[string]bool)
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "➡️") {
			continue
		}
		for _, m := range delegateRE.FindAllStringSubmatch(line, -1) {
			if !seen[m[2]] {
				seen[m[2]] = true
				out = append(out, delegation{m[1], m[2]})
			}
		}
	}
	return out
}

// nodeContext is the part of the Node Context the tests look at.
type nodeContext struct {
	Node struct {
		Stage   string   `json:"stage"`
		Prev    []string `json:"prev"`
		Next    []string `json:"next"`
		Barrier *struct {
			Group string `json:"group"`
		} `json:"barrier"`
	} `json:"node"`
	ReportFile   string   `json:"report_file"`
	ContextFiles []string `json:"context_files"`
	RetryContext *struct {
		FailedStage    string `json:"failedStage"`
		Round          int    `json:"round"`
		ReflectionFile string `json:"reflectionFile"`
		Hint           string `json:"hint"`
	} `json:"retryContext"`
}

var nodeContextRE = regexp.MustCompile(`<!-- NODE_CONTEXT: (\{.*?\}) -->`)

// node reads the Node Context out of a sub-agent's conversation: the last one
// counts, the number says how many there are.
func node(r *mockapi.Request) (nc nodeContext, count int) {
	for _, m := range r.Messages {
		for _, hit := range nodeContextRE.FindAllStringSubmatch(m.Text(), -1) {
			count++
			nc = nodeContext{}
			if err := json.Unmarshal([]byte(hit[1]), &nc); err != nil {
				panic(fmt.Sprintf("node context %s: %v", hit[1], err))
			}
		}
	}
	return nc, count
}

// marker is the route marker an agent ends with.
func marker(fields map[string]string) string {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return "<!-- PIPELINE_ROUTE: " + string(data) + " -->"
}

// pass answers as the agents' prompts ask for a stage that is done.
func pass(r *mockapi.Request) mockapi.Reply {
	nc, _ := node(r)
	f := map[string]string{"verdict": "PASS", "route": "NEXT"}
	if nc.Node.Barrier != nil {
		f["route"], f["barrierGroup"] = "BARRIER", nc.Node.Barrier.Group
	}
	return mockapi.Text("PASSED-" + r.Agent + "\n\n" + marker(f))
}

// failing answers with a FAIL of a severity; report, if not empty, stands in
// the message as it does when an agent could not write its file.
func failing(severity, report string) Step {
	return func(r *mockapi.Request) mockapi.Reply {
		nc, _ := node(r)
		f := map[string]string{"verdict": "FAIL", "route": "DEV", "severity": severity, "hint": "look at flag.go", "context_file": nc.ReportFile}
		if nc.Node.Barrier != nil {
			f["route"], f["barrierGroup"] = "BARRIER", nc.Node.Barrier.Group
		}
		text := "One problem was found.\n\n" + marker(f)
		if report != "" {
			text = report + "\n\n" + text
		}
		return mockapi.Text(text)
	}
}

// writeReport calls Write on the report's path.
func writeReport(report string) Step {
	return func(r *mockapi.Request) mockapi.Reply {
		nc, _ := node(r)
		return mockapi.Call("Write", map[string]any{"file_path": nc.ReportFile, "content": report})
	}
}

// agents lists the sub-agents' first requests in order of arrival: which stages
// really ran.
func agents(w *World) []string {
	var out []string
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Subagent && len(r.Messages) == 1 {
			out = append(out, r.Agent)
		}
	}
	return out
}

// mains returns the main agent's requests.
func mains(w *World) []*mockapi.Request {
	var out []*mockapi.Request
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Main {
			out = append(out, r)
		}
	}
	return out
}

// subs returns the requests of one sub-agent.
func subs(w *World, agent string) []*mockapi.Request {
	var out []*mockapi.Request
	for _, r := range w.API.Requests() {
		if r.Kind == mockapi.Subagent && r.Agent == agent {
			out = append(out, r)
		}
	}
	return out
}
