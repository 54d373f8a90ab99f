package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/mcp"
)

func serve(t *testing.T, lines ...string) []gjson.Result {
	t.Helper()
	s := mcp.Server{Name: "test", Version: "1", Instructions: "ask", Tools: []mcp.Tool{
		{Name: "echo", Description: "says it again", Schema: json.RawMessage(`{"type":"object"}`), Call: func(_ context.Context, args json.RawMessage) (string, error) { return string(args), nil }},
		{Name: "fail", Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such thing") }},
		{Name: "panic", Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, json.RawMessage) (string, error) { panic("boom") }},
	}}
	var out bytes.Buffer
	if err := s.Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var answers []gjson.Result
	for line := range strings.Lines(out.String()) {
		if !gjson.Valid(line) {
			t.Fatalf("not JSON: %s", line)
		}
		answers = append(answers, gjson.Parse(line))
	}
	return answers
}

func TestServe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send string
		want map[string]string // path → value of the one answer; none = no answer
	}{
		"begin":             {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}`, map[string]string{"id": "1", "result.protocolVersion": "2025-03-26", "result.serverInfo.name": "test", "result.instructions": "ask", "result.capabilities.tools": "{}"}},
		"an unknown time":   {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01"}}`, map[string]string{"result.protocolVersion": "2025-06-18"}},
		"a notification":    {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil},
		"ping":              {`{"jsonrpc":"2.0","id":"a","method":"ping"}`, map[string]string{"id": "a", "result": "{}"}},
		"list":              {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, map[string]string{"result.tools.#": "3", "result.tools.0.name": "echo", "result.tools.0.inputSchema.type": "object"}},
		"call":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`, map[string]string{"result.content.0.text": `{"a":1}`, "result.isError": "false"}},
		"without arguments": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, map[string]string{"result.content.0.text": `{}`}},
		"a tool fails":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`, map[string]string{"result.content.0.text": "no such thing", "result.isError": "true"}},
		"a tool panics":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`, map[string]string{"result.content.0.text": "panic: panic: boom", "result.isError": "true"}},
		"an unknown tool":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, map[string]string{"error.code": "-32602"}},
		"an unknown method": {`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, map[string]string{"error.code": "-32601"}},
		"garbage":           {`{broken`, map[string]string{"error.code": "-32700", "id": ""}},
		"a batch":           {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, map[string]string{"#": "2", "1.id": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := serve(t, c.send)
			if c.want == nil {
				if len(got) != 0 {
					t.Errorf("answered: %v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d answers", len(got))
			}
			for path, want := range c.want {
				if v := got[0].Get(path); v.String() != want {
					t.Errorf("%s is %q, want %q in %s", path, v.String(), want, got[0].Raw)
				}
			}
		})
	}
}

func TestServeGoesOn(t *testing.T) {
	t.Parallel()
	got := serve(t, "", "nonsense", `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	if len(got) != 2 || got[1].Get("id").Int() != 7 {
		t.Errorf("%v", got)
	}
}
