package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/mcp"
)

func server(more ...mcp.Tool) mcp.Server {
	object := json.RawMessage(`{"type":"object"}`)
	return mcp.Server{Name: "test", Version: "1", Instructions: "ask", Clean: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }, Tools: append([]mcp.Tool{
		{Name: "echo", Description: "says it again", Schema: object, Call: func(_ context.Context, args json.RawMessage) (string, error) { return string(args), nil }},
		{Name: "fail", Schema: object, Call: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such secret") }},
		{Name: "panic", Schema: object, Call: func(context.Context, json.RawMessage) (string, error) { panic("boom") }},
	}, more...)}
}

const begin = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// serve gives the answers to lines, by their ids.
func serve(t *testing.T, lines ...string) map[string]gjson.Result {
	t.Helper()
	var out bytes.Buffer
	if err := server().Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	answers := map[string]gjson.Result{}
	for line := range strings.Lines(out.String()) {
		if !gjson.Valid(line) || gjson.Get(line, "jsonrpc").Str != "2.0" {
			t.Fatalf("not a message: %s", line)
		}
		id := gjson.Get(line, "id").String()
		if _, twice := answers[id]; twice {
			t.Fatalf("two answers to %q:\n%s", id, out.String())
		}
		answers[id] = gjson.Parse(line)
	}
	return answers
}

func TestServe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send string
		want map[string]string // path → value of the answer to 1; none = no answer
	}{
		"ping":               {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, map[string]string{"result": "{}"}},
		"a notification":     {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil},
		"list":               {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, map[string]string{"result.tools.#": "3", "result.tools.0.name": "echo", "result.tools.0.description": "says it again", "result.tools.0.inputSchema": `{"type":"object"}`, "result.tools.0.annotations.readOnlyHint": "true"}},
		"call":               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`, map[string]string{"result.content.0.type": "text", "result.content.0.text": `{"a":1}`, "result.isError": ""}},
		"a text is cleaned":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"secret"}}}`, map[string]string{"result.content.0.text": `{"a":"***"}`}},
		"without arguments":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, map[string]string{"result.content.0.text": `{}`}},
		"a tool fails":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`, map[string]string{"result.content.0.text": "no such ***", "result.isError": "true"}},
		"a tool panics":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`, map[string]string{"result.content.0.text": "panic: panic: boom", "result.isError": "true"}},
		"an unknown tool":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, map[string]string{"error.code": "-32602", "error.message": `unknown tool "x"`}},
		"an unknown method":  {`{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, map[string]string{"error.code": "-32601", "error.message": "method not found"}},
		"a second beginning": {strings.Replace(begin, `"begin"`, "1", 1), map[string]string{"error.code": "-32600", "error.message": `duplicate "initialize" received`}},
		"parameters no tool": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, map[string]string{"error.code": "-32602", "error.message": "invalid params"}},
		"parameters a list":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, map[string]string{"error.code": "-32602", "error.message": "invalid params"}},
		"no parameters":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, map[string]string{"error.code": "-32600", "error.message": "invalid request"}},
		"another version":    {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, map[string]string{"error.code": "-32600", "error.message": "invalid request"}},
		"no version":         {`{"id":1,"method":"ping"}`, map[string]string{"error.code": "-32600", "error.message": "invalid request"}},
		"a stray response":   {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil},
		"a stray error":      {`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`, nil},
		"an error of a sort": {`{"jsonrpc":"2.0","id":1,"error":"x"}`, nil},
		"an old response":    {`{"id":1,"result":{}}`, nil},
		"a batch":            {`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, map[string]string{"result": "{}"}},
		"a cancellation":     {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := serve(t, begin, c.send, `{"jsonrpc":"2.0","id":"end","method":"ping"}`)
			if all["begin"].Get("result.capabilities").Raw != `{"tools":{}}` || all["begin"].Get("result.instructions").Str != "ask" || all["begin"].Get("result.serverInfo").Raw != `{"name":"test","version":"1"}` {
				t.Errorf("it begins with %s", all["begin"].Raw)
			}
			if all["end"].Get("result").Raw != "{}" {
				t.Errorf("it ends with %q", all["end"].Raw)
			}
			got, answered := all["1"]
			if answered != (c.want != nil) || len(all) > 3 {
				t.Fatalf("answers: %v", all)
			}
			for path, want := range c.want {
				if v := got.Get(path); v.String() != want {
					t.Errorf("%s is %q, want %q in %s", path, v.String(), want, got.Raw)
				}
			}
		})
	}
}

// A line that is no message at all is answered without an id, and the next one is read.
func TestServeGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ send, code string }{
		"nonsense":       {"nonsense", "-32700"},
		"torn":           {`{"jsonrpc":"2.0","id":7,`, "-32700"},
		"deep":           {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "-32700"},
		"nested":         {strings.Repeat("[", 2_000) + strings.Repeat("]", 2_000), "-32600"},
		"a number":       {"5", "-32600"},
		"half an id":     {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "-32600"},
		"an id too long": {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "-32600"},
		"a huge id":      {`{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, "-32600"},
		"no method":      {`{"jsonrpc":"2.0"}`, "-32600"},
		"no batch":       {"[]", "-32600"},
		"an odd id":      {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "-32600"},
		"20 MB":          {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 20<<20) + `"}`, "-32600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := serve(t, "", " \r", begin+"\r", c.send, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
			if len(all) != 3 || all[""].Get("error.code").String() != c.code || all["8"].Get("result").Raw != "{}" {
				t.Errorf("%v", all)
			}
		})
	}
}

// The version is the client's where it is known, else the newest that begins so.
func TestServeVersions(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2099-01-01": "2025-11-25"} {
		if got := serve(t, strings.Replace(begin, "2025-06-18", asked, 1))["begin"].Get("result.protocolVersion").Str; got != want {
			t.Errorf("asked for %s: %q", asked, got)
		}
	}
}

// A call before the beginning is the caller's error.
func TestServeTooEarly(t *testing.T) {
	t.Parallel()
	all := serve(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if all["1"].Get("error.code").Int() != -32600 {
		t.Errorf("%v", all)
	}
}

// What was asked before the input ended is answered, also where tools take longer than
// the reading.
func TestServeAnswersAll(t *testing.T) {
	t.Parallel()
	in, input := io.Pipe()
	ended := make(chan struct{})
	slow := mcp.Tool{Name: "slow", Schema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ json.RawMessage) (string, error) {
		<-ended
		return "late", ctx.Err()
	}}
	go func() {
		defer close(ended)
		defer input.Close()
		_, _ = io.WriteString(input, begin+"\n")
		for i := range 20 {
			_, _ = io.WriteString(input, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":"tools/call","params":{"name":"slow"}}`+"\n")
		}
	}()
	var out bytes.Buffer
	if err := server(slow).Serve(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"text":"late"`); n != 20 {
		t.Errorf("%d answers:\n%s", n, out.String())
	}
}

// The end of the context ends the server and the tools that run, whether or not
// anybody writes or closes its input.
func TestServeIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	in, input := io.Pipe()
	defer input.Close()
	told := make(chan error, 1)
	waits := mcp.Tool{Name: "waits", Schema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ json.RawMessage) (string, error) {
		interrupt()
		<-ctx.Done()
		told <- ctx.Err()
		return "", ctx.Err()
	}}
	go func() {
		_, _ = io.WriteString(input, begin+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}`+"\n")
	}()
	if err := server(waits).Serve(ctx, in, io.Discard); err != nil {
		t.Error(err)
	}
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Nobody reads any more: the server ends and says so.
func TestServeWithoutReader(t *testing.T) {
	t.Parallel()
	in, input := io.Pipe()
	defer input.Close()
	out, output := io.Pipe()
	out.Close()
	go func() { _, _ = io.WriteString(input, begin+"\n") }()
	if err := server().Serve(t.Context(), in, output); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
