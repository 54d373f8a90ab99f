package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// fakeServer is an app-server in memory with one thread. It does what the real
// one was seen to do; what a test needs otherwise, it sets.
type fakeServer struct {
	t   *testing.T
	out chan []byte

	mu     sync.Mutex
	closed bool
	posts  []fakePost
	thread map[string]any
	turns  []*fakeTurn // oldest first
	queue  []map[string]any

	compaction turnStatus // how compactions end; "" for completed
	sample     func(prompt string) (string, *rpcError)
	silent     string // a method that is never answered
	resumable  bool
	unloaded   bool // the thread is not in the list of loaded ones
	goal       obj  // the thread's goal
	stamp      int  // of the goal
	onTurnEnd  func()
	onCompact  func() // before a compaction begins
	onPrompt   func() // instead of a turn that commits
	hold       bool   // the queue does not move
	unknown    bool   // there is no such thread

	meanwhile    func() // when a compaction is asked for that takes its time
	afterCompact func() // right after a compaction's turn
}

type fakePost struct {
	Method string
	Params map[string]any
}

type fakeTurn struct {
	id     string
	status turnStatus
	items  []map[string]any
}

const fakeThread = "01a1dcd2-c159-7253-aaf4-47a046f30755"

func newFake(t *testing.T) *fakeServer {
	return &fakeServer{
		t: t, out: make(chan []byte, 10_000), resumable: true,
		thread: map[string]any{
			"id": fakeThread, "ephemeral": false, "parentThreadId": nil, "preview": "build it",
			"cwd": "/nowhere", "path": "/nowhere/rollout.jsonl", "status": map[string]any{"type": "idle"},
		},
	}
}

func (f *fakeServer) read(ctx context.Context) ([]byte, error) {
	select {
	case b, ok := <-f.out:
		if !ok {
			return nil, io.EOF
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fakeServer) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.out)
	}
	return nil
}

func (f *fakeServer) write(_ context.Context, b []byte) error {
	var in struct {
		ID     int64          `json:"id"`
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errors.New("closed")
	}
	if in.ID == 0 {
		return nil
	}
	f.posts = append(f.posts, fakePost{in.Method, in.Params})
	if in.Method == f.silent {
		return nil
	}
	result, rpc, after := f.answer(in.Method, in.Params)
	if rpc != nil {
		f.push(map[string]any{"id": in.ID, "error": rpc})
	} else {
		f.push(map[string]any{"id": in.ID, "result": result})
	}
	if after != nil {
		after()
	}
	return nil
}

func (f *fakeServer) push(v any) {
	if f.closed {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		f.t.Error(err)
	}
	f.out <- b
}

func (f *fakeServer) note(method string, params map[string]any) {
	if method != "thread/started" {
		params["threadId"] = fakeThread
	}
	f.push(map[string]any{"method": method, "params": params})
}

type obj = map[string]any

func (f *fakeServer) answer(method string, p obj) (result any, rpc *rpcError, after func()) {
	switch method {
	case "thread/loaded/list":
		if f.unloaded {
			return obj{"data": []any{}}, nil, nil
		}
		return obj{"data": []any{fakeThread}}, nil, nil
	case "thread/read":
		if f.unknown {
			return nil, &rpcError{-32600, "thread not loaded"}, nil
		}
		return obj{"thread": f.thread}, nil, nil
	case "thread/resume":
		if !f.resumable {
			return nil, &rpcError{-32600, "no rollout found for thread id"}, nil
		}
		return obj{"thread": f.thread}, nil, nil
	case "thread/turns/list":
		data := []any{}
		for _, t := range slices.Backward(f.turns) {
			items := []any{}
			for _, it := range t.items {
				if p["itemsView"] == "full" || it["type"] == host.CodexUserMessage {
					items = append(items, it)
				}
			}
			data = append(data, obj{"id": t.id, "status": t.status, "items": items})
		}
		return obj{"data": data, "nextCursor": nil}, nil, nil
	case "thread/items/list":
		data := []any{}
		for _, t := range f.turns {
			for _, it := range t.items {
				if t.id == p["turnId"] {
					data = append(data, obj{"turnId": t.id, "item": it})
				}
			}
		}
		return obj{"data": data, "nextCursor": nil}, nil, nil
	case "thread/queue/list":
		return obj{"data": f.queue, "nextCursor": nil}, nil, nil
	case "thread/queue/delete":
		f.queue = nil
		return obj{"deleted": true}, nil, nil
	case "thread/queue/add":
		q := obj{"id": "q1", "clientUserMessageId": p["clientUserMessageId"]}
		return obj{"queuedSubmission": q}, nil, func() {
			f.queue = append(f.queue, q)
			if !f.hold {
				f.dispatch()
			}
		}
	case "thread/inject_items":
		return obj{}, nil, nil
	case "thread/goal/get":
		return obj{"goal": f.goal}, nil, nil
	case "thread/goal/set":
		f.stamp++
		f.goal = obj{"objective": f.goal["objective"], "status": p["status"], "updatedAt": f.stamp}
		goal := f.goal
		return obj{"goal": goal}, nil, func() {
			f.note("thread/goal/updated", obj{"goal": goal})
			if p["status"] == goalActive && f.onTurnEnd != nil && f.thread["status"].(obj)["type"] == "idle" {
				f.onTurnEnd()
			}
		}
	case "thread/start":
		return obj{"thread": f.thread}, nil, nil
	case "turn/start":
		id := obj{"turn": obj{"id": fmt.Sprintf("turn-%d", len(f.turns)+1)}}
		if client, ok := p["clientUserMessageId"].(string); ok {
			return id, nil, func() { f.packetTurn(client) }
		}
		if f.onPrompt != nil {
			return id, nil, f.onPrompt
		}
		return id, nil, func() { f.workTurn(turnCompleted) }
	case "thread/compact/start":
		if f.meanwhile == nil {
			return obj{}, nil, f.compactNow
		}
		return obj{}, nil, func() {
			f.meanwhile()
			go func() {
				time.Sleep(time.Second)
				f.locked(f.compactNow)
			}()
		}
	case "thread/sample":
		text, rpc := f.sample(p["prompt"].(string))
		return obj{"text": text}, rpc, nil
	}
	return obj{}, nil, nil
}

func (f *fakeServer) status(kind string) {
	f.thread["status"] = obj{"type": kind}
	f.note("thread/status/changed", obj{"status": f.thread["status"]})
}

func (f *fakeServer) begin() *fakeTurn {
	t := &fakeTurn{id: fmt.Sprintf("turn-%d", len(f.turns)+1), status: turnRunning}
	f.turns = append(f.turns, t)
	f.status("active")
	f.note("turn/started", obj{"turn": obj{"id": t.id, "status": t.status}})
	return t
}

func (f *fakeServer) item(t *fakeTurn, it obj) {
	it["id"] = fmt.Sprintf("%s-item-%d", t.id, len(t.items)+1)
	started := obj{"type": it["type"], "id": it["id"], "clientId": it["clientId"]}
	f.note("item/started", obj{"turnId": t.id, "item": started})
	t.items = append(t.items, it)
	f.note("item/completed", obj{"turnId": t.id, "item": it})
}

func (f *fakeServer) tokens(t *fakeTurn, n int) {
	f.note("thread/tokenUsage/updated", obj{"turnId": t.id, "tokenUsage": obj{
		"last": obj{"totalTokens": n}, "modelContextWindow": 100_000,
	}})
}

func (f *fakeServer) end(t *fakeTurn, s turnStatus) {
	t.status = s
	f.status("idle")
	f.note("turn/completed", obj{"turn": obj{"id": t.id, "status": s}})
}

func (f *fakeServer) compactNow() {
	if f.onCompact != nil {
		f.onCompact()
	}
	t := f.begin()
	f.note("item/started", obj{"turnId": t.id, "item": obj{"type": host.CodexCompaction, "id": "c"}})
	f.tokens(t, 70_000)
	if f.compaction != "" {
		f.end(t, f.compaction)
		return
	}
	f.tokens(t, 3_000)
	f.tokens(t, 6_000)
	t.items = append(t.items, obj{"type": host.CodexCompaction, "id": "c"})
	f.note("item/completed", obj{"turnId": t.id, "item": t.items[0]})
	f.end(t, turnCompleted)
	if f.afterCompact != nil {
		f.afterCompact()
	}
}

// dispatch runs what is queued.
func (f *fakeServer) dispatch() {
	for len(f.queue) > 0 {
		id := f.queue[0]["clientUserMessageId"].(string)
		f.queue = f.queue[1:]
		f.packetTurn(id)
	}
}

func (f *fakeServer) packetTurn(client string) {
	t := f.begin()
	f.item(t, obj{"type": host.CodexUserMessage, "clientId": client, "content": []any{obj{"type": "text", "text": "packet"}}})
	f.item(t, obj{"type": "agentMessage", "text": "on it"})
	f.tokens(t, 12_000)
	f.end(t, turnCompleted)
}

// work is a turn of the user's that commits; extra items come before its end.
func (f *fakeServer) work(status turnStatus, extra ...obj) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workTurn(status, extra...)
}

func (f *fakeServer) workTurn(status turnStatus, extra ...obj) {
	t := f.begin()
	f.item(t, obj{"type": host.CodexUserMessage, "content": []any{obj{"type": "text", "text": "make the next slice\nNever push to the shared branch."}}})
	f.item(t, obj{
		"type": "commandExecution", "command": `/bin/bash -lc "git commit -m 'the slice'"`, "cwd": "/nowhere",
		"status": "completed", "exitCode": 0, "aggregatedOutput": "[main 1a2b3c4] the slice\n 1 file changed\n",
	})
	for _, it := range extra {
		f.item(t, it)
	}
	f.item(t, obj{"type": "agentMessage", "text": "The slice is committed."})
	f.tokens(t, 70_000)
	f.end(t, status)
}

// posted lists the methods the watcher used, without the looking around.
func (f *fakeServer) posted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, p := range f.posts {
		switch p.Method {
		case "thread/compact/start", "thread/queue/add", "thread/queue/delete", "thread/queue/reorder", "turn/start", "thread/sample", "thread/sample/cancel", "turn/interrupt", "turn/steer",
			"thread/inject_items", "thread/unsubscribe":
			out = append(out, p.Method)
		case "thread/goal/set":
			out = append(out, "goal:"+p.Params["status"].(string))
		}
	}
	return strings.Join(out, " ")
}

func (f *fakeServer) find(method string) []obj {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []obj
	for _, p := range f.posts {
		if p.Method == method {
			out = append(out, p.Params)
		}
	}
	return out
}

// watcher is a Codex under test with its reports.
type watcher struct {
	*Codex
	mu      sync.Mutex
	reports []Report
}

func newWatcher(t *testing.T, home *store.Home, set func(*compact.Settings)) *watcher {
	s := config.Defaults().Compact
	s.Mode = compact.ModeAuto
	if set != nil {
		set(&s)
	}
	w := &watcher{}
	w.Codex = &Codex{Options: Options{
		Waits: DefaultWaits(),
		Home:  home, Settings: func() compact.Settings { return s }, Lang: message.EN, Words: message.EN,
		Now: time.Now, Report: func(r Report) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reports = append(w.reports, r)
		},
	}, threads: map[string]*thread{}, ignored: map[string]bool{}, agents: map[string]*agent{}}
	return w
}

// news lists the reports' kinds.
func (w *watcher) news() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, r := range w.reports {
		out = append(out, r.What)
	}
	return strings.Join(out, " ")
}

// connect serves f until the returned function is called, which waits.
func (w *watcher) connect(t *testing.T, f *fakeServer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		c := newClient(context.WithoutCancel(ctx), f)
		err := w.serve(ctx, c)
		_ = c.Close()
		w.lost()
		done <- err
	}()
	return func() {
		cancel()
		<-done
		w.giveUp()
	}
}

func timeline(t *testing.T, home *store.Home) []string {
	t.Helper()
	s, err := home.Session(fakeThread)
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := s.Last(100, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Type)
	}
	return out
}

// rollout gives the thread a file that tells its size.
func (f *fakeServer) rollout(t *testing.T, tokens int) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	line := fmt.Sprintf(`{"timestamp":"2026-11-15T01:29:22.000Z","type":"event_msg","payload":{"type":"token_count","info":`+
		`{"total_token_usage":{"total_tokens":%[1]d},"last_token_usage":{"input_tokens":%[1]d,"cached_input_tokens":0,"output_tokens":0,"total_tokens":%[1]d},"model_context_window":100000}}}`, tokens)
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.thread["path"] = path
}
