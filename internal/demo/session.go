package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// turns is how long the session is that gets compressed.
const turns = 40

const oldSession = "0de30000-0000-4000-8000-000000000002"

// writeSession makes a Claude Code session: turns of a question, a tool call with
// its result, and an answer that says much and states a little.
func (d *play) writeSession() (string, error) {
	var b bytes.Buffer
	parent, n := "", 0
	at := d.Now().Add(-48 * time.Hour)
	put := func(typ string, msg fields) error {
		n++
		id := fmt.Sprintf("0de30000-0000-4000-8001-%012d", n)
		entry := fields{
			"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": d.project, "sessionId": oldSession,
			"version": "2.1.197", "type": typ, "uuid": id, "timestamp": workflow.Stamp(at.Add(time.Duration(n) * time.Minute)), "message": msg,
		}
		if parent != "" {
			entry["parentUuid"] = parent
		}
		parent = id
		line, err := json.Marshal(entry)
		b.Write(append(line, '\n'))
		return err
	}
	answer := func(content ...fields) fields {
		return fields{
			"id": fmt.Sprintf("msg_%03d", n), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
			"usage": fields{"input_tokens": 12, "cache_read_input_tokens": b.Len() / 4, "output_tokens": 200},
		}
	}
	for i := range turns {
		hash := sha256.Sum256([]byte{byte(i)})
		file, row, line := i%7, 1000+37*i, 40+3*i
		call := fmt.Sprintf("toolu_%03d", i)
		var output bytes.Buffer
		for k := range 30 {
			fmt.Fprintf(&output, "=== RUN   TestRow%d\n--- PASS: TestRow%d (0.0%ds)\n", row+k, row+k, k%10)
		}
		for _, m := range []struct {
			typ string
			msg fields
		}{
			{"user", fields{"role": "user", "content": message.DemoSessionAsk.Format(d.Lang, i+1, file, line)}},
			{"assistant", answer(fields{"type": "tool_use", "id": call, "name": "Bash", "input": fields{"command": fmt.Sprintf("go test ./internal/import -run TestRow%d", row)}})},
			{"user", fields{"role": "user", "content": []fields{{"type": "tool_result", "tool_use_id": call, "content": output.String()}}}},
			{"assistant", answer(fields{"type": "text", "text": message.DemoSessionTell.Format(d.Lang, file, row, line, 4096+64*i, hex.EncodeToString(hash[:4]))})},
		} {
			if err := put(m.typ, m.msg); err != nil {
				return "", err
			}
		}
	}
	path := filepath.Join(filepath.Dir(d.transcript), oldSession+".jsonl")
	return path, os.WriteFile(path, b.Bytes(), 0o600)
}
