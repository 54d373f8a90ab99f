package workflow

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// NodeContext tells a stage's agent where it stands: what came before, what
// comes after, which reports to read and what failed last time.
type NodeContext struct {
	Node         nodeInfo      `json:"node"`
	ContextFiles []string      `json:"context_files"`
	Report       string        `json:"report_file,omitempty"`
	Env          *Environment  `json:"env"`
	RetryContext *retryContext `json:"retryContext"`
}

type nodeInfo struct {
	Stage   string      `json:"stage"`
	Prev    []string    `json:"prev"`
	Next    []string    `json:"next"`
	OnFail  *nodeOnFail `json:"onFail"`
	Barrier *barrierRef `json:"barrier"`
}

type nodeOnFail struct {
	Target       string `json:"target"`
	MaxRetries   int    `json:"maxRetries"`
	CurrentRound int    `json:"currentRound"`
}

// retryContext is there when the stage has to mend something.
type retryContext struct {
	FailedStage    string `json:"failedStage"`
	Round          int    `json:"round"`
	ReflectionFile string `json:"reflectionFile"`
	Hint           string `json:"hint"`
}

// Limits of a node context.
const (
	nodeContextUnits  = 2000
	nodeContextTokens = 500
)

// NodeOptions is what a node context needs beside the state.
type NodeOptions struct {
	SessionID string
	Lang      message.Lang           // of the hints
	Exists    func(path string) bool // whether a report is on disk
}

// BuildNodeContext derives the context of a stage from the state, every time
// anew. Where no report of the failed stage is on disk, the hint of its answer
// takes its place.
func (r Rules) BuildNodeContext(s *State, stage string, o NodeOptions) NodeContext {
	node, known := s.DAG.Get(stage)
	nc := NodeContext{
		Node:         nodeInfo{Stage: stage, Prev: emptyList(node.Deps), Next: []string{}},
		ContextFiles: []string{},
	}
	if known {
		nc.Node.Next = emptyList(s.DAG.NextOf(stage))
	}
	if node.OnFail != "" {
		nc.Node.OnFail = &nodeOnFail{Target: node.OnFail, MaxRetries: r.limit(node), CurrentRound: s.Retries[stage] + 1}
	}
	nc.Node.Barrier = node.Barrier
	add := func(file string) bool {
		if file == "" || !o.Exists(file) {
			return false
		}
		if !slices.Contains(nc.ContextFiles, file) {
			nc.ContextFiles = append(nc.ContextFiles, file)
		}
		return true
	}
	for _, dep := range node.Deps {
		// A predecessor's own report is named even before it is on disk: its agent may still be writing it.
		if file := s.stage(dep).ContextFile; path.Base(file) == store.ContextName(o.SessionID, dep) {
			nc.ContextFiles = append(nc.ContextFiles, file)
		} else {
			add(file)
		}
	}
	for _, file := range s.DAG.Spec(stage).Context {
		add(file)
	}
	if s.Quality(stage) {
		nc.Report = r.contextPath(store.ContextName(o.SessionID, stage))
	}
	if e := s.Environment; e.Language != "" || e.Framework != "" || e.Frontend {
		nc.Env = &e
	}
	if failed := s.failedFor(stage); len(failed) > 0 {
		worst := failed[0]
		read := false
		for _, f := range failed {
			read = add(s.stage(f).ContextFile) || read
		}
		if p := s.PendingRetry; p != nil {
			read = add(p.ContextFile) || read
		}
		rc := &retryContext{
			FailedStage: worst, Round: s.Retries[worst] + 1,
			ReflectionFile: r.contextPath(store.ReflectionName(o.SessionID, worst)),
		}
		rc.Hint = message.RetryHint.Format(o.Lang, worst, rc.ReflectionFile)
		if rounds, _ := s.RetryHistory.Get(worst); !read && len(rounds) > 0 {
			if hint := plainHint(rounds[len(rounds)-1].Hint); hint != "" {
				rc.Hint = message.RetryHintOnly.Format(o.Lang, worst, hint)
			}
		}
		nc.RetryContext = rc
	}
	return nc
}

// reportMark is how a quality report numbers and ranks its findings.
var reportMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:[CHML]-\d+|CRITICAL|HIGH|MEDIUM|LOW)\b[:：]?\s*`)
})

// plainHint is a hint without the marks of a report: the main agent sees it
// too, and must not take it for one.
func plainHint(hint string) string {
	return strings.TrimSpace(reportMark().ReplaceAllString(hint, ""))
}

// failedFor is the stages whose FAIL stage has to mend: the pending ones first,
// then by what is known of earlier rounds; one that has passed since comes last.
func (s *State) failedFor(stage string) []string {
	var failed []string
	if p := s.PendingRetry; p != nil {
		for _, r := range p.Stages {
			if s.DAG.Rework(r.ID) == stage {
				failed = append(failed, r.ID)
			}
		}
	}
	if len(failed) > 0 {
		return failed
	}
	for _, passed := range []bool{false, true} {
		for k, n := range s.DAG.All() {
			if n.OnFail == stage && s.Retries[k] > 0 && finished(s.stage(k)) == passed {
				return []string{k}
			}
		}
	}
	return nil
}

// JSON writes the context within its limits. What is dropped first is what the
// agent can find elsewhere: the hint's tail, then reports but the newest two.
func (nc NodeContext) JSON() string {
	fits := func() bool {
		s := nc.encode()
		return message.Units(s) <= nodeContextUnits && EstimateTokens(s) < nodeContextTokens
	}
	if rc := nc.RetryContext; !fits() && rc != nil {
		nc.RetryContext = new(*rc)
		nc.RetryContext.Hint = message.Cut(rc.Hint, 100)
	}
	for !fits() && len(nc.ContextFiles) > 2 {
		nc.ContextFiles = nc.ContextFiles[1:]
	}
	if !fits() { // absurd paths: keep their names, which lie in one known folder anyway
		for i, f := range nc.ContextFiles {
			nc.ContextFiles[i] = message.Cut(path.Base(f), 160)
		}
	}
	if !fits() {
		nc.ContextFiles, nc.Env = []string{}, nil
		nc.Node.Next, nc.Node.Prev = nc.Node.Next[:min(3, len(nc.Node.Next))], nc.Node.Prev[:min(3, len(nc.Node.Prev))]
	}
	return nc.encode()
}

// encode escapes <, > and &: the context is carried inside a comment.
func (nc NodeContext) encode() string {
	b, _ := json.Marshal(nc) // strings and numbers
	return string(b)
}

// Comment is the context as it is carried in a text.
func (nc NodeContext) Comment() string { return "<!-- NODE_CONTEXT: " + nc.JSON() + " -->" }

// EstimateTokens is a cautious guess: four Latin characters a token, one for
// every other one.
func EstimateTokens(s string) int {
	latin, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			latin++
		} else {
			other++
		}
	}
	return (latin+3)/4 + other
}
