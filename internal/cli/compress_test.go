package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

const serviceSession = "33333333-aaaa-4bbb-8ccc-000000000003"

// compressWorld is a home with one session of two long messages, one of which
// holds a key.
func compressWorld(t *testing.T, vars map[string]string) (cli.Env, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-w")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(n int, parent, typ, message string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"type":%q,"uuid":"u%d","timestamp":"2026-01-01T00:0%d:00.000Z","sessionId":%q,"message":%s}`, parent, typ, n, n, serviceSession, message)
	}
	text := strings.Repeat("the store keeps its lock while the file is written and never removes it ", 4)
	secret := "the key is sk-ant-api03-" + strings.Repeat("Ab3dEf6h", 11) + "AA and " + text
	q, _ := json.Marshal(secret)
	a, _ := json.Marshal(text)
	lines := line(1, "null", "user", fmt.Sprintf(`{"role":"user","content":%s}`, q)) + "\n" +
		line(2, `"u1"`, "assistant", fmt.Sprintf(`{"id":"m","model":"x","role":"assistant","content":[{"type":"text","text":%s}]}`, a)) + "\n"
	if err := os.WriteFile(filepath.Join(dir, serviceSession+".jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: home, Now: time.Now,
		IsTTY:   func(uintptr) bool { return false },
		Environ: func() []string { return nil },
		Getenv: func(k string) string {
			switch k {
			case "HOME":
				return home
			case "LANG":
				return "C"
			}
			return vars[k]
		},
	}
	return env, &out, &errs
}

// service answers like an OpenAI-compatible one.
type service struct {
	mu     sync.Mutex
	bodies []string
	auth   []string
	reply  func(n int, w http.ResponseWriter) bool // true when it answered itself
}

// calls is how often it was asked; one that was broken off may still be counted.
func (s *service) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func (s *service) start(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies = append(s.bodies, string(b))
		s.auth = append(s.auth, r.Header.Get("Authorization"))
		s.mu.Unlock()
		if s.reply != nil && s.reply(n, w) {
			return
		}
		answer := "```json\n{\"text\":\"the store keeps its lock\"}\n```"
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, answer)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func TestCompressThroughAService(t *testing.T) {
	t.Parallel()
	var s service
	url := s.start(t)
	env, out, errs := compressWorld(t, map[string]string{"OPENAI_API_KEY": "k-123"})
	if code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:compress", "--provider", "openai", "--model", "m1", "--base-url", url, "--json"}, env); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	doc := out.String()
	for path, want := range map[string]int64{
		"result.stats.messagesCompressed": 2, "result.stats.messagesFailed": 0, "result.inputTokens": 200, "result.outputTokens": 20,
	} {
		if got := gjson.Get(doc, path).Int(); got != want {
			t.Errorf("%s = %d, want %d\n%s", path, got, want, doc)
		}
	}
	if n := len(gjson.Get(doc, "result.redacted").Map()); n != 1 {
		t.Errorf("redacted %s", gjson.Get(doc, "result.redacted"))
	}
	for i, b := range s.bodies {
		if strings.Contains(b, "sk-ant-api03") || s.auth[i] != "Bearer k-123" || gjson.Get(b, "model").String() != "m1" {
			t.Errorf("sent %s with %q", b, s.auth[i])
		}
	}
	clone, err := os.ReadFile(gjson.Get(doc, "result.path").String())
	if err != nil || strings.Count(string(clone), "the store keeps its lock\"") != 2 {
		t.Errorf("clone %s, %v", clone, err)
	}
	// A second run finds everything in the cache, and asks nobody.
	out.Reset()
	calls := s.calls()
	if code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:compress", "--provider", "openai", "--model", "m1", "--base-url", url, "--json"}, env); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if s.calls() != calls || gjson.Get(out.String(), "result.cached").Int() != 2 {
		t.Errorf("%d more calls, cached %s", s.calls()-calls, gjson.Get(out.String(), "result.cached"))
	}
}

// A refused key ends the run at once, with the service's words and no clone.
func TestCompressRefusedKey(t *testing.T) {
	t.Parallel()
	s := service{reply: func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"no such key"}}`)
		return true
	}}
	url := s.start(t)
	env, _, errs := compressWorld(t, map[string]string{"OPENROUTER_API_KEY": "k-456"})
	code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:compress", "--provider", "openrouter", "--base-url", url}, env)
	if code != 1 || !strings.Contains(errs.String(), "no such key") || s.calls() > 2 {
		t.Errorf("exit %d after %d calls: %s", code, s.calls(), errs)
	}
	files, _ := filepath.Glob(filepath.Join(env.Dir, ".claude", "projects", "-w", "*"))
	if len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// The progress line is for terminals; a bar that is piped would be noise.
func TestCompressProgress(t *testing.T) {
	t.Parallel()
	env, _, _ := compressWorld(t, nil)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	env.Stderr, env.IsTTY = w, func(fd uintptr) bool { return fd == w.Fd() }
	code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:compress"}, env)
	w.Close()
	text, _ := io.ReadAll(r)
	if code != 0 || !strings.Contains(string(text), "2/2 · 0 failed") {
		t.Errorf("exit %d: %q", code, text)
	}
}

// Without a session a terminal gets a list to choose from.
func TestCompressPicker(t *testing.T) {
	t.Parallel()
	env, out, errs := compressWorld(t, nil)
	in, answer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	env.Stdin, env.IsTTY = in, func(fd uintptr) bool { return fd == in.Fd() }
	fmt.Fprintln(answer, "1")
	answer.Close()
	if code := cli.Main([]string{"compress", "--bands", "0-100:compress"}, env); code != 0 || !strings.Contains(out.String(), "claude --resume") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if !strings.Contains(errs.String(), "33333333-aaa") {
		t.Errorf("no list: %s", errs)
	}
}

// The original of a compressed message is found through the clone's reference,
// also when the host has cleaned the source away; without source and cache it
// is gone, and that is said.
func TestRecallFollowsTheClone(t *testing.T) {
	t.Parallel()
	env, out, errs := compressWorld(t, nil)
	if code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:heavy-compress", "--json"}, env); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	ref := gjson.Get(out.String(), "result.messages.1.ref").String()
	want := strings.Repeat("the store keeps its lock while the file is written and never removes it ", 4)
	source := filepath.Join(env.Dir, ".claude", "projects", "-w", serviceSession+".jsonl")
	cache := filepath.Join(env.Dir, ".overtone", "compress")
	for _, step := range []struct {
		name   string
		remove string
		code   int
	}{{"both", "", 0}, {"only the cache", source, 0}, {"nothing", cache, 1}} {
		if step.remove != "" {
			if err := os.RemoveAll(step.remove); err != nil {
				t.Fatal(err)
			}
		}
		out.Reset()
		if code := cli.Main([]string{"recall", ref}, env); code != step.code || code == 0 && out.String() != want {
			t.Errorf("with %s: exit %d, %q %s", step.name, code, out, errs)
		}
	}
	if !strings.Contains(errs.String(), "is gone") {
		t.Errorf("%s", errs)
	}
}

// With the cache gone the source still has it.
func TestRecallFromTheSource(t *testing.T) {
	t.Parallel()
	env, out, errs := compressWorld(t, nil)
	if code := cli.Main([]string{"compress", serviceSession, "--bands", "0-100:heavy-compress", "--json", "--no-cache"}, env); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	ref := gjson.Get(out.String(), "result.messages.1.ref").String()
	out.Reset()
	if code := cli.Main([]string{"recall", ref, "--json"}, env); code != 0 || gjson.Get(out.String(), "source").String() != serviceSession+"#u2" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
