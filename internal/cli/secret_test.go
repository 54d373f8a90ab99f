package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// No command that tells of a session shows what is secret in it, and none keeps it,
// except to give back the very text of a message to who asks for that message.
func TestCommandsKeepNoSecret(t *testing.T) {
	t.Parallel()
	home, _ := newHome(t)
	const id = "0b7e1d8a-5a4e-4c39-9d0f-3c6d0c3e6f02"
	secrets := []string{"q7Rk2mZx9LbV4tNw", "ghp" + "_Zk3v9Qm2Xr7Lb4Tn8Wc1Yd6Hf5Js0Pa3Ge2U", "Vd8Kq2Zm4Xw7Rb9TnL3c", "J4vN7sQ2xK9mB6tR", strings.Repeat("Qm8Zk2Vx7Rb4Tn9W", 4)}
	text := fmt.Sprintf("資料庫密碼：%s and GITHUB_TOKEN=%s\nmachine h login me password %s\nmysql -u root -p%s app\n     1→-----BEGIN PRIVATE "+"KEY-----\n     2→%s\n     3→-----END PRIVATE "+"KEY-----\n", secrets[0], secrets[1], secrets[2], secrets[3], secrets[4])
	quote := func(s string) string {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	n := 0
	line := func(kind, message string) string {
		n++
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":"u%d","sessionId":"`+id+`","cwd":%s,"timestamp":"2026-03-01T08:00:%02d.000Z","message":%s}`+"\n", kind, n, n-1, quote(home), n, message)
	}
	slice := line("user", `{"role":"user","content":`+quote("Please make the importer fast. "+text)+`}`) +
		line("assistant", `{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":`+quote("We decided to use the pool. "+text)+`},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":`+quote("make "+text)+`}}],"usage":{"input_tokens":9,"output_tokens":9}}`) +
		line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":`+quote("Exit code 2\n"+text)+`}]}`) +
		line("assistant", `{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":`+quote(strings.Repeat("The importer keeps every row, and that is why it is slow. ", 30)+text)+`}],"usage":{"input_tokens":9,"output_tokens":9}}`)
	dir := filepath.Join(home, ".claude", "projects", "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"sessionId":"` + id + `","timestamp":"2026-03-01T08:01:00.000Z","compactMetadata":{"trigger":"manual","preTokens":9}}` + "\n" +
		`{"type":"user","isCompactSummary":true,"uuid":"s1","parentUuid":"b1","sessionId":"` + id + `","timestamp":"2026-03-01T08:01:01.000Z","message":{"role":"user","content":` + quote("The importer is half done. "+text) + "}}\n"
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(slice+boundary+slice), 0o600); err != nil {
		t.Fatal(err)
	}
	leak := func(text string) string {
		for _, s := range secrets {
			if strings.Contains(text, s[:12]) {
				return s
			}
		}
		return ""
	}
	tool := func(name, args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + "}}\n"
	}
	calls := tool("recall", `{"query":"importer"}`) + tool("recall", `{"ref":"`+id+`#u1"}`) + tool("recall", `{"ref":`+quote(secrets[1])+`}`) + tool("recall", `{"query":`+quote(text)+`}`) +
		tool("packet", `{"session":"`+id+`"}`) + tool("status", `{"session":"`+id+`"}`) + tool("packet", `{"session":`+quote(secrets[1])+`}`)
	for _, args := range [][]string{
		{"compact", "packet", "--session", id},
		{"compact", "packet", "--session", id, "--compaction", "1"},
		{"recall", "importer"},
		{"recall", "importer", "keeps"},
		{"recall", "password"},
		{"sessions"},
		{"mcp"},
		{"compact", "explain", "--session", id},
		{"compress", id, "--dry-run"},
		{"compress", id, "--bands", "0-100:compress"},
		{"audit"},
	} {
		for _, extra := range [][]string{nil, {"--json"}} {
			var stdout, stderr bytes.Buffer
			cli.Main(append(append([]string{}, args...), extra...), cli.Env{
				Stdin: strings.NewReader(calls), Stdout: &stdout, Stderr: &stderr, Dir: home, Now: time.Now,
				Getenv:  func(key string) string { return map[string]string{"HOME": home, "LANG": "en"}[key] },
				Environ: func() []string { return nil },
				IsTTY:   func(uintptr) bool { return false },
			})
			if s := leak(stdout.String() + stderr.String()); s != "" {
				t.Errorf("%v %v shows %s: %s%s", args, extra, s, stdout.String(), stderr.String())
			}
			if args[0] != "audit" && stdout.Len() == 0 {
				t.Errorf("%v %v: nothing: %s", args, extra, stderr.String())
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(home, ".overtone"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "compress" {
				return fs.SkipDir // originals, for who asks for the very text
			}
			return err
		}
		data, err := os.ReadFile(path)
		if s := leak(string(data)); s != "" {
			t.Errorf("%s keeps %s", strings.TrimPrefix(path, home), s)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
