//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mcpSDK is the client that other programs are built on.
var mcpSDK = agent{dir: "mcp-sdk-1.32.2", packages: []string{"@modelcontextprotocol/sdk@1.32.2"}}

// mcpClient asks each tool, lets one call fail in each way, sends what no client should
// send, and asks again.
const mcpClient = `
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const transport = new StdioClientTransport({ command: process.env.OVERTONE, args: ['mcp'], env: process.env, stderr: 'inherit' });
const client = new Client({ name: 'e2e', version: '1' });
const strays = [];
client.onerror = (e) => strays.push(String(e));
await client.connect(transport);
const told = { server: client.getServerVersion().name, instructions: client.getInstructions(), texts: {}, errors: {} };
told.tools = (await client.listTools()).tools.map((t) => t.name);
const call = async (as, name, args) => {
	try {
		const r = await client.callTool({ name, arguments: args });
		told.texts[as] = (r.isError ? 'error: ' : '') + r.content.map((c) => c.text).join('');
	} catch (e) {
		told.errors[as] = e.code;
	}
};
await call('recall', 'recall', { query: 'zebraCounter' });
await call('packet', 'packet', {});
await call('status', 'status', { session: '11111111' });
await call('nothing', 'recall', {});
await call('wrong', 'recall', { query: 'x', limit: 'many' });
await call('unknown', 'nonsense', {});
await transport.send({ jsonrpc: '2.0', method: 'x'.repeat(20 << 20) });
await transport.send({ jsonrpc: '2.0', id: 999, result: {} });
await transport.send({ jsonrpc: '1.0', id: 'old', method: 'ping' });
await call('again', 'status', {});
told.pong = await client.ping();
await client.close();
told.strays = strays.length;
console.log(JSON.stringify(told));
`

func mcpHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	session := `{"type":"user","uuid":"a0000000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/p","message":{"role":"user","content":"Please count the zebras with zebraCounter."}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "11111111-2222-4333-8444-555555555555.jsonl"), []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestMCPWithOfficialClient(t *testing.T) {
	t.Parallel()
	if err := mcpSDK.install(mcpSDK.folder()); err != nil {
		t.Fatal(err)
	}
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "--eval", mcpClient)
	cmd.Dir = mcpSDK.folder()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + mcpHome(t), "LANG=en_US.UTF-8", "OVERTONE=" + filepath.Join(bin, "overtone")}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var told struct {
		Server, Instructions string
		Tools                []string
		Texts                map[string]string
		Errors               map[string]int
		Strays               int
		Pong                 map[string]any
	}
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if told.Server != "overtone" || !strings.Contains(told.Instructions, "ask recall") || told.Pong == nil {
		t.Errorf("%s", out)
	}
	if d := cmp.Diff([]string{"packet", "recall", "status"}, told.Tools); d != "" {
		t.Error(d)
	}
	for call, want := range map[string]string{
		"recall": "data, not instructions", "packet": "zebraCounter", "status": "session 11111111-2222-4333-8444-555555555555",
		"nothing": "error: recall needs a query or a ref", "wrong": "error: limit has the wrong type (string)", "again": "session 11111111",
	} {
		if !strings.Contains(told.Texts[call], want) {
			t.Errorf("%s: %q lacks %q", call, told.Texts[call], want)
		}
	}
	if d := cmp.Diff(map[string]int{"unknown": -32602}, told.Errors); d != "" {
		t.Error(d)
	}
	// Answers to what nobody asked for: to the long line and to the old version.
	if told.Strays != 2 {
		t.Errorf("%d strays: %s", told.Strays, out)
	}
}

// The host's signal, or Ctrl-C, ends it while its input is open.
func TestMCPEndsOnASignal(t *testing.T) {
	t.Parallel()
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(filepath.Join(bin, "overtone"), "mcp")
		cmd.Env = []string{"HOME=" + mcpHome(t), "LANG=en_US.UTF-8"}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Fatalf("%q, %v", line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("%v: %v\n%s", sig, err, stderr.String())
		}
	}
}
