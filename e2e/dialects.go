//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// dialects is a model on loopback that speaks the chat completions of opencode's usual
// providers and Gemini's generateContent.
type dialects struct {
	http   *httptest.Server
	answer func(*heard) spoken

	mu    sync.Mutex
	heard []*heard
	other []string
}

// heard is one request.
type heard struct {
	Body string
	// Texts are all texts of the conversation, in order, with what tools answered.
	Texts []string
	// Bare: it offers no tools, as requests for titles and summaries do.
	Bare bool
}

// Last is the newest text.
func (h *heard) Last() string { return h.Texts[len(h.Texts)-1] }

// Has reports whether a text stands anywhere in the conversation.
func (h *heard) Has(text string) bool { return h.Count(text) > 0 }

// Count counts a text in the conversation.
func (h *heard) Count(text string) (n int) {
	for _, t := range h.Texts {
		n += strings.Count(t, text)
	}
	return n
}

// spoken is the model's answer: a text, or calls of tools, and what it has used.
type spoken struct {
	Text   string
	Calls  []map[string]any // {"name","args"}
	Tokens int
	Until  <-chan struct{} // it comes when this is closed
	Status int             // an error of the server's, whose message is the text; chat only
}

func speak(text string, tokens int) spoken { return spoken{Text: text, Tokens: tokens} }

func callTool(name string, args map[string]any, tokens int) spoken {
	return spoken{Calls: []map[string]any{{"name": name, "args": args}}, Tokens: tokens}
}

func newDialects(t *testing.T, answer func(*heard) spoken) *dialects {
	d := &dialects{answer: answer}
	d.http = httptest.NewServer(d)
	t.Cleanup(func() {
		d.http.CloseClientConnections()
		d.http.Close()
		if t.Failed() {
			for i, h := range d.requests() {
				t.Logf("request %d: %.1500q", i, h.Last())
			}
			t.Logf("other calls: %v", d.other)
		}
	})
	return d
}

// requests are those with tools: a turn's own.
func (d *dialects) requests() (list []*heard) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.heard {
		if !h.Bare {
			list = append(list, h)
		}
	}
	return list
}

// last is the newest of them.
func (d *dialects) last() *heard {
	list := d.requests()
	return list[len(list)-1]
}

// count is the number of all requests.
func (d *dialects) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.heard)
}

func (d *dialects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	chat := strings.HasSuffix(r.URL.Path, "/chat/completions")
	if !chat && !strings.Contains(r.URL.Path, "enerateContent") {
		d.mu.Lock()
		d.other = append(d.other, r.Method+" "+r.URL.Path)
		d.mu.Unlock()
		fmt.Fprint(w, `{"totalTokens":1000}`)
		return
	}
	h := &heard{Body: string(body)}
	if chat {
		h.chat(gjson.ParseBytes(body))
	} else {
		h.gemini(gjson.ParseBytes(body))
	}
	h.Texts = append([]string{""}, h.Texts...)
	d.mu.Lock()
	d.heard = append(d.heard, h)
	n := len(d.heard)
	said := d.answer(h)
	d.mu.Unlock()
	if said.Until != nil {
		select {
		case <-said.Until:
		case <-r.Context().Done():
			return
		}
	}
	if said.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(said.Status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, said.Text)
		return
	}
	if chat {
		said.chat(w, n)
	} else {
		said.gemini(w, n, strings.Contains(r.URL.Path, "stream"))
	}
}

func (h *heard) chat(body gjson.Result) {
	h.Bare = len(body.Get("tools").Array()) == 0
	body.Get("messages").ForEach(func(_, m gjson.Result) bool {
		if c := m.Get("content"); c.IsArray() {
			c.ForEach(func(_, p gjson.Result) bool {
				h.Texts = append(h.Texts, p.Get("text").String())
				return true
			})
		} else {
			h.Texts = append(h.Texts, c.String())
		}
		return true
	})
}

func (h *heard) gemini(body gjson.Result) {
	h.Bare = len(body.Get("tools").Array()) == 0
	for _, key := range []string{"systemInstruction.parts", "contents.#.parts"} {
		for _, parts := range body.Get(key).Array() {
			list := parts.Array()
			if !parts.IsArray() {
				list = []gjson.Result{parts}
			}
			for _, p := range list {
				switch {
				case p.Get("text").Exists():
					h.Texts = append(h.Texts, p.Get("text").String())
				case p.Get("functionResponse").Exists():
					h.Texts = append(h.Texts, p.Get("functionResponse.response").String())
				}
			}
		}
	}
}

func (s spoken) chat(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v map[string]any) {
		v["id"], v["object"], v["created"], v["model"] = fmt.Sprint("c", n), "chat.completion.chunk", 1, "m1"
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	choice := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	finish := "stop"
	if s.Text != "" {
		send(choice(map[string]any{"role": "assistant", "content": s.Text}, nil))
	}
	for i, c := range s.Calls {
		finish = "tool_calls"
		args, _ := json.Marshal(c["args"])
		send(choice(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": map[string]any{"name": c["name"], "arguments": string(args)},
		}}}, nil))
	}
	send(choice(map[string]any{}, finish))
	send(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": s.Tokens, "completion_tokens": 20, "total_tokens": s.Tokens + 20}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (s spoken) gemini(w http.ResponseWriter, n int, stream bool) {
	var parts []any
	if s.Text != "" {
		parts = append(parts, map[string]any{"text": s.Text})
	}
	for i, c := range s.Calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": c["name"], "args": c["args"], "id": fmt.Sprintf("call_%d_%d", n, i)}})
	}
	b, _ := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": parts}}},
		"usageMetadata": map[string]any{"promptTokenCount": s.Tokens, "candidatesTokenCount": 20, "totalTokenCount": s.Tokens + 20},
		"modelVersion":  "gemini-2.5-pro",
	})
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", b)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(b)
}
