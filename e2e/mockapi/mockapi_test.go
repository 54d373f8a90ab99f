package mockapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

func post(t *testing.T, s *mockapi.Server, path, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

const mainSystem = `"system":[{"type":"text","text":"You are an interactive agent that helps users"}],"tools":[{"name":"Agent"}]`

func TestStream(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(*mockapi.Request) mockapi.Reply {
		return mockapi.Calls(mockapi.Block{Text: "look"}, mockapi.Delegate("p:a", "work")).Tokens(7)
	}, nil)
	defer s.Close()
	resp, body := post(t, s, "/v1/messages?beta=true", `{"model":"m","stream":true,`+mainSystem+`,"messages":[{"role":"user","content":"hi"}]}`)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	var kinds []string
	var input strings.Builder
	sc := bufio.NewScanner(strings.NewReader(body))
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Type)
		input.WriteString(e.Delta.PartialJSON)
		if e.Type == "message_delta" && e.Delta.StopReason != "tool_use" {
			t.Errorf("stop reason %q", e.Delta.StopReason)
		}
	}
	want := []string{
		"message_start",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := input.String(); !strings.Contains(got, `"subagent_type":"p:a"`) {
		t.Errorf("input %s", got)
	}
	if !strings.Contains(body, `"input_tokens":7`) {
		t.Errorf("usage is missing: %s", body)
	}
}

func TestErrorAndOther(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(*mockapi.Request) mockapi.Reply { return mockapi.Fail(429, "slow down") }, nil)
	defer s.Close()
	resp, body := post(t, s, "/v1/messages", `{"messages":[]}`)
	if resp.StatusCode != 429 || !strings.Contains(body, `"rate_limit_error"`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if _, body := post(t, s, "/v1/messages/count_tokens", `{}`); !strings.Contains(body, "input_tokens") {
		t.Errorf("count_tokens: %s", body)
	}
	if diff := cmp.Diff([]string{"POST /v1/messages/count_tokens"}, s.Other()); diff != "" {
		t.Errorf("other calls (-want +got):\n%s", diff)
	}
	if resp, _ := post(t, s, "/v1/messages", `{`); resp.StatusCode != 400 {
		t.Errorf("broken body: %d", resp.StatusCode)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests kept", n)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(*mockapi.Request) mockapi.Reply { return mockapi.Text("x") }, map[string]string{"dev": "You are the developer"})
	defer s.Close()
	const conversation = `"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"out"},{"type":"text","text":"more"}]},{"type":"text","text":"new text"}]}]`
	for _, c := range []struct {
		name, body string
		kind       mockapi.Kind
		agent      string
	}{
		{"main", `{` + mainSystem + `,` + conversation + `}`, mockapi.Main, ""},
		{"sub-agent", `{"system":"You are the developer of it","tools":[{"name":"Read"}],` + conversation + `}`, mockapi.Subagent, "dev"},
		{"unknown sub-agent", `{"system":"You are someone","tools":[{"name":"Read"}],` + conversation + `}`, mockapi.Subagent, ""},
		{"no tools", `{"system":"Make a title",` + conversation + `}`, mockapi.Side, ""},
		{"summary", `{` + mainSystem + `,"messages":[{"role":"user","content":"Your task is to create a detailed summary of the conversation"}]}`, mockapi.Summary, ""},
	} {
		post(t, s, "/v1/messages", c.body)
		all := s.Requests()
		r := all[len(all)-1]
		if r.Kind != c.kind || r.Agent != c.agent {
			t.Errorf("%s: %s %q", c.name, r.Kind, r.Agent)
		}
	}
	r := s.Requests()[0]
	if got := r.Last(); got != "out\nmore\nnew text" {
		t.Errorf("Last: %q", got)
	}
	if got := r.Results(); len(got) != 1 || got[0].ID != "t1" || got[0].Text != "out\nmore" {
		t.Errorf("Results: %+v", got)
	}
	if r.Count("o") != 3 || !r.Has(`"ls"`) || r.Prompt() != "hi" {
		t.Errorf("Count %d, Prompt %q", r.Count("o"), r.Prompt())
	}
}
