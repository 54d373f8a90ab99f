package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// errProbe says that a probe did not find out anything.
var errProbe = errors.New("the probe was not conclusive")

// probeWait bounds a probe; it takes about three seconds.
const probeWait = 60 * time.Second

const (
	probeBlocks = 3 // attempts to compact that the hook refuses
	probeSteps  = 7 // tool calls the model makes
)

// probeClaude finds out whether the claude program lets a PreCompact hook refuse a
// compaction: it runs a session against a model on loopback that claims to be
// nearly full, refuses a few times, then gives in. It is honoured if the
// compaction came after giving in and not before.
//
// Home, settings and project are thrown away, no key and no text of the user's
// is used, and nothing leaves the machine. path is the PATH to run it with.
func probeClaude(ctx context.Context, bin, path string) (honoured bool, err error) {
	dir, err := os.MkdirTemp("", "overtone-probe-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	log, err := probeHome(dir)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	model := &probeModel{}
	server := &http.Server{Handler: model, ReadHeaderTimeout: probeWait}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(ln) })
	defer func() {
		_ = server.Close()
		served.Wait()
	}()

	cmd := exec.CommandContext(ctx, bin, "-p", "--model", "claude-sonnet-4-5", "--allowedTools=Bash", "--output-format", "json", "go on")
	cmd.Dir, cmd.WaitDelay = filepath.Join(dir, "project"), time.Second
	cmd.Env = []string{
		"PATH=" + path, "HOME=" + dir, "TMPDIR=" + dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "claude"),
		"ANTHROPIC_BASE_URL=http://" + ln.Addr().String(), "ANTHROPIC_API_KEY=probe",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_MAX_RETRIES=0", "OVERTONE_DISABLE=1",
	}
	out, runErr := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return false, fmt.Errorf("%w: %w", errProbe, context.Cause(ctx))
	}
	calls, _ := os.ReadFile(log)
	before, _, compacted := strings.Cut(string(calls), "post\n")
	refused := strings.Count(before, "pre\n")
	switch {
	case compacted:
		return refused > probeBlocks, nil
	case runErr != nil:
		return false, fmt.Errorf("%w: %w: %.300s", errProbe, runErr, bytes.TrimSpace(out))
	case refused == 0:
		return false, fmt.Errorf("%w: the hook was never called", errProbe)
	}
	return false, fmt.Errorf("%w: there was no compaction, allowed or not", errProbe)
}

// probeHome writes settings and hook of the probe; log is where the hook notes
// its calls.
func probeHome(dir string) (log string, err error) {
	log = filepath.Join(dir, "log")
	script := filepath.Join(dir, "hook.sh")
	hook := func(event string) any {
		return []any{map[string]any{"hooks": []any{map[string]any{
			"type": "command", "command": fmt.Sprintf("sh '%s' %s", script, event), "timeout": 10,
		}}}}
	}
	settings, err := json.Marshal(map[string]any{
		"autoCompactWindow": 100_000,
		"env":               map[string]string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "20"},
		"hooks":             map[string]any{"PreCompact": hook("pre"), "PostCompact": hook("post")},
	})
	if err != nil {
		return "", err
	}
	for name, data := range map[string]string{
		"claude/settings.json": string(settings),
		"project/README.md":    "probe\n",
		"hook.sh": fmt.Sprintf("echo $1 >>'%[1]s'\nif [ $1 = pre ] && [ $(grep -c pre '%[1]s') -le %[2]d ]; then\n  echo '{\"decision\":\"block\"}'\nfi\nexit 0\n",
			log, probeBlocks),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			return "", err
		}
	}
	return log, nil
}

// probeModel answers as the Messages API does: tool calls that do nothing, each
// said to have filled the context to well above the threshold.
type probeModel struct {
	mu    sync.Mutex
	steps int
	small bool // after the summary the context is small
}

func (m *probeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":100}`)
		return
	}
	var req struct {
		Model  string            `json:"model"`
		Stream bool              `json:"stream"`
		Tools  []json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(body, &req) // an odd request gets an answer, too
	m.mu.Lock()
	tokens, work := 60_000, false
	switch {
	case bytes.Contains(body, []byte("create a detailed summary")):
		m.small = true
	case len(req.Tools) > 0 && m.steps < probeSteps:
		m.steps++
		work = true
	}
	if m.small || len(req.Tools) == 0 {
		tokens = 1_000
	}
	step := m.steps
	m.mu.Unlock()
	answer(w, req.Model, req.Stream, tokens, work, step)
}

// answer sends a tool call or a text, as events or as one object.
func answer(w http.ResponseWriter, model string, events bool, tokens int, work bool, step int) {
	type object = map[string]any
	stop, block := "end_turn", object{"type": "text", "text": "Done."}
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "Done."}
	if work {
		id := fmt.Sprintf("toolu_probe%02d", step)
		input := object{"command": "true", "description": "Do nothing"}
		args, _ := json.Marshal(input) // a map of strings
		stop, block = "tool_use", object{"type": "tool_use", "id": id, "name": "Bash", "input": input}
		start = object{"type": "tool_use", "id": id, "name": "Bash", "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(args)}
	}
	msg := object{
		"id": fmt.Sprintf("msg_probe%02d", step), "type": "message", "role": "assistant", "model": model,
		"content": []any{block}, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": tokens, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}
	if !events {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(msg)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields object) {
		fields["type"] = kind
		data, _ := json.Marshal(fields) // maps of plain values
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	msg["content"], msg["stop_reason"] = []any{}, nil
	send("message_start", object{"message": msg})
	send("content_block_start", object{"index": 0, "content_block": start})
	send("content_block_delta", object{"index": 0, "delta": delta})
	send("content_block_stop", object{"index": 0})
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 10}})
	send("message_stop", object{})
}
