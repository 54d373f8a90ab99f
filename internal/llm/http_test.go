package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secret = "sk-test-9f8e7d6c5b4a"

var noon = time.Date(2025, 11, 20, 12, 0, 0, 0, time.UTC)

type ask func(Service, context.Context, string) (Answer, error)

var asks = map[string]ask{"chat": Service.chat, "messages": Service.messages}

const (
	chatOK     = `{"choices":[{"message":{"role":"assistant","content":"short"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":3}}`
	messagesOK = `{"content":[{"type":"text","text":"sho"},{"type":"text","text":"rt"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"cache_read_input_tokens":4,"output_tokens":3}}`
)

func okBody(name string) string {
	if name == "chat" {
		return chatOK
	}
	return messagesOK
}

// serve starts a service that answers with f.
func serve(t *testing.T, f http.HandlerFunc) Service {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return Service{URL: srv.URL, Model: "m", Key: secret, Now: func() time.Time { return noon }}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, do := range asks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, okBody(name)) })
			got, err := do(s, t.Context(), "text")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(Answer{"short", Usage{Input: 11, Output: 3}}, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	type request struct {
		Path, Auth, Key, Version string
		Body                     map[string]any
	}
	user := map[string]any{"role": "user", "content": "a < b & 中文"}
	tests := []struct {
		name, ask string
		edit      func(*Service)
		want      request
	}{
		{"chat", "chat", nil, request{Path: "/v1/chat/completions", Auth: "Bearer " + secret, Body: map[string]any{
			"model": "m", "messages": []any{user},
		}}},
		{"chat without a key", "chat", func(s *Service) { s.Key = "" }, request{Path: "/v1/chat/completions", Body: map[string]any{
			"model": "m", "messages": []any{user},
		}}},
		{"messages", "messages", func(s *Service) { s.Key += "\n" }, request{Path: "/v1/messages", Key: secret, Version: "2023-06-01", Body: map[string]any{
			"model": "m", "messages": []any{user}, "max_tokens": 8192.0,
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got request
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got = request{Path: r.URL.Path, Auth: r.Header.Get("Authorization"), Key: r.Header.Get("x-api-key"), Version: r.Header.Get("anthropic-version")}
				if err := json.NewDecoder(r.Body).Decode(&got.Body); err != nil {
					t.Error(err)
				}
				io.WriteString(w, okBody(tt.ask))
			})
			if tt.edit != nil {
				tt.edit(&s)
			}
			if _, err := asks[tt.ask](s, t.Context(), "a < b & 中文"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	const end = "/chat/completions"
	tests := map[string]string{
		"https://api.openai.com":                           "https://api.openai.com/v1/chat/completions",
		"https://api.openai.com/":                          "https://api.openai.com/v1/chat/completions",
		" https://api.openai.com/v1/ ":                     "https://api.openai.com/v1/chat/completions",
		"https://openrouter.ai/api":                        "https://openrouter.ai/api/v1/chat/completions",
		"https://openrouter.ai/api/v1":                     "https://openrouter.ai/api/v1/chat/completions",
		"http://localhost:11434/v1/chat/completions":       "http://localhost:11434/v1/chat/completions",
		"https://g.example/v1beta/openai":                  "https://g.example/v1beta/openai/chat/completions",
		"https://az.example/openai/v1?api-version=preview": "https://az.example/openai/v1/chat/completions?api-version=preview",
		"api.openai.com":                                   "", "": "", "ftp://x/y": "", "https://": "", "http://[::1": "",
	}
	for base, want := range tests {
		got, err := join(base, end)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("join(%q) = %q, %v, want %q", base, got, err, want)
		}
	}
	var e *Error
	if _, err := (Service{URL: "nonsense"}).chat(t.Context(), ""); !errors.As(err, &e) || e.Kind != BadRequest {
		t.Errorf("bad address: %v", err)
	}
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	body := func(m string) string { return `{"error":{"message":"` + m + `","type":"x"}}` }
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   Error
	}{
		{"429 in seconds", 429, map[string]string{"Retry-After": "7"}, body("slow down"), Error{Kind: RateLimited, RetryAfter: 7 * time.Second, Message: "slow down"}},
		{"429 in decimals", 429, map[string]string{"Retry-After": "0.5"}, "", Error{Kind: RateLimited, RetryAfter: 500 * time.Millisecond}},
		{"429 in milliseconds", 429, map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, "", Error{Kind: RateLimited, RetryAfter: 250 * time.Millisecond}},
		{"429 with a date", 429, map[string]string{"Retry-After": noon.Add(90 * time.Second).Format(http.TimeFormat)}, "", Error{Kind: RateLimited, RetryAfter: 90 * time.Second}},
		{"429 with a past date", 429, map[string]string{"Retry-After": noon.Add(-time.Hour).Format(http.TimeFormat)}, "", Error{Kind: RateLimited}},
		{"429 with nonsense", 429, map[string]string{"Retry-After": "soon"}, "", Error{Kind: RateLimited}},
		{"429 negative", 429, map[string]string{"Retry-After": "-5"}, "", Error{Kind: RateLimited}},
		{"429 for ever", 429, map[string]string{"Retry-After": "1e300"}, "", Error{Kind: RateLimited, RetryAfter: maxWait}},
		{"500", 500, nil, "boom", Error{Kind: Server, Message: "boom"}},
		{"503 asks to wait", 503, map[string]string{"Retry-After": "2"}, "", Error{Kind: Server, RetryAfter: 2 * time.Second}},
		{"529 overloaded", 529, nil, body("Overloaded"), Error{Kind: Server, Message: "Overloaded"}},
		{"502 HTML page", 502, nil, "<!DOCTYPE html><html><body>Bad gateway", Error{Kind: Server, Message: "the server sent an HTML page: is the address right?"}},
		{"401", 401, nil, body("bad key"), Error{Kind: Auth, Message: "bad key"}},
		{"403", 403, nil, `{"error":"forbidden here"}`, Error{Kind: Auth, Message: "forbidden here"}},
		{"402 out of credit", 402, nil, `{"message":"pay"}`, Error{Kind: Auth, Message: "pay"}},
		{"404", 404, nil, body("no such model"), Error{Kind: Missing, Message: "no such model"}},
		{"400", 400, nil, body("prompt\\n is   too long"), Error{Kind: BadRequest, Message: "prompt is too long"}},
		{"413", 413, nil, `{"detail":"large"}`, Error{Kind: BadRequest, Message: "large"}},
		{"408", 408, nil, "", Error{Kind: Timeout}},
		{"redirects are not followed", 307, map[string]string{"Location": "http://elsewhere.invalid/"}, "", Error{Kind: BadRequest}},
		{"the key in the answer", 400, nil, body("key " + secret + " is odd"), Error{Kind: BadRequest, Message: "key [key] is odd"}},
		{"200 that is a page", 200, nil, "<html>hello", Error{Kind: BadReply, Message: "the server sent an HTML page: is the address right?"}},
		{"200 that is half JSON", 200, nil, `{"choices":[{"mess`, Error{Kind: BadReply, Message: `{"choices":[{"mess`}},
		{"200 with nothing", 200, nil, `{}`, Error{Kind: BadReply}},
	}
	for _, tt := range tests {
		for name, do := range asks {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					for k, v := range tt.header {
						w.Header().Set(k, v)
					}
					w.WriteHeader(tt.status)
					io.WriteString(w, tt.body)
				})
				// As outside of tests: no redirects.
				_, err := do(s, t.Context(), "x")
				var got *Error
				if !errors.As(err, &got) {
					t.Fatalf("got %v", err)
				}
				want := tt.want
				if tt.status != 200 {
					want.Status = tt.status
				}
				if got.Kind != want.Kind || got.Status != want.Status || got.RetryAfter != want.RetryAfter || want.Message != "" && got.Message != want.Message {
					t.Errorf("got %+v, want %+v", *got, want)
				}
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the key is in %q", err)
				}
			})
		}
	}
}

func TestChatReplies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       Answer
		kind       Kind
	}{
		{"fenced, as it came", `{"choices":[{"message":{"content":"` + "```json\\n{\\\"text\\\":\\\"x\\\"}\\n```" + `"}}]}`, Answer{Text: "```json\n{\"text\":\"x\"}\n```"}, ""},
		{"parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}]}`, Answer{Text: "ab"}, ""},
		{"error inside", `{"error":{"code":429,"message":"busy"}}`, Answer{}, RateLimited},
		{"error inside a choice", `{"choices":[{"message":{"content":"half"},"error":{"code":502,"message":"gone"}}]}`, Answer{}, Server},
		{"error with a word as code", `{"error":{"code":"oops","message":"gone"}}`, Answer{}, Server},
		{"cut off", `{"choices":[{"message":{"content":"hal"},"finish_reason":"length"}],"usage":{"completion_tokens":9}}`, Answer{Text: "hal", Usage: Usage{Output: 9}}, BadReply},
		{"refused", `{"choices":[{"message":{"content":null,"refusal":"no"}}]}`, Answer{}, BadRequest},
		{"empty", `{"choices":[{"message":{"content":""}}]}`, Answer{}, BadReply},
		{"no choices", `{"choices":[]}`, Answer{}, BadReply},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, tt.body) })
			got, err := s.chat(t.Context(), "x")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			checkKind(t, err, tt.kind)
		})
	}
}

func checkKind(t *testing.T, err error, want Kind) {
	t.Helper()
	var e *Error
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v", err)
	case want != "" && (!errors.As(err, &e) || e.Kind != want):
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMessagesStops(t *testing.T) {
	t.Parallel()
	for reason, kind := range map[string]Kind{"end_turn": "", "max_tokens": BadReply, "refusal": BadRequest} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"content":[{"type":"text","text":"x"}],"stop_reason":%q}`, reason)
		})
		_, err := s.messages(t.Context(), "x")
		checkKind(t, err, kind)
	}
}

func TestTruncatedBody(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, chatOK)
	})
	_, err := s.chat(t.Context(), "x")
	checkKind(t, err, BadReply)
}

func TestHugeReplyIsBounded(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, chunk := 0, []byte(strings.Repeat(" ", 1<<16))
		for n < 4*maxReply {
			m, err := w.Write(chunk)
			if n += m; err != nil {
				break
			}
		}
		written <- n
	})
	_, err := s.chat(t.Context(), "x")
	checkKind(t, err, BadReply)
	if !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
	if n := <-written; n >= 4*maxReply {
		t.Errorf("all %d bytes were read", n)
	}
}

func TestCancelAbortsTheRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		early bool // before or after the headers of the answer
		end   func(context.Context) (context.Context, context.CancelFunc)
		kind  Kind
		is    error
	}{
		{"cancelled while waiting", true, nil, Canceled, context.Canceled},
		{"cancelled while reading", false, nil, Canceled, context.Canceled},
		{"deadline", true, func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, 30*time.Millisecond)
		}, Timeout, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			arrived, aborted := make(chan struct{}), make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if !tt.early {
					io.WriteString(w, `{"choices":`)
					w.(http.Flusher).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(aborted)
			})
			ctx, cancel := context.WithCancel(t.Context())
			if tt.end != nil {
				ctx, cancel = tt.end(t.Context())
			} else {
				go func() {
					<-arrived
					cancel()
				}()
			}
			defer cancel()
			_, err := s.chat(ctx, "x")
			checkKind(t, err, tt.kind)
			if !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			<-aborted
		})
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	_, err := s.chat(ctx, "x")
	checkKind(t, err, Canceled)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	address := "http://user:" + secret + "@" + strings.TrimPrefix(srv.URL, "http://")
	srv.Close()
	_, err := Service{URL: address, Key: secret}.chat(t.Context(), "x")
	checkKind(t, err, Network)
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the key is in %q", err)
	}
}
