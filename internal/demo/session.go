package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

const oldSession = "0de30000-0000-4000-8000-000000000002"

// writeSession makes a Claude Code session: turns of a question, a tool call with
// its result, and an answer. Of each call the tests' output is what takes the room.
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
	for i, turn := range message.DemoTurns() {
		call := fmt.Sprintf("toolu_%03d", i)
		output := bytes.NewBufferString(turn.Output)
		for k := range 60 {
			fmt.Fprintf(output, "=== RUN   TestImport/orders.csv:%d\n--- PASS: TestImport/orders.csv:%d (0.0%ds)\n", 1200+400*i+k, 1200+400*i+k, k%10)
		}
		for _, m := range []struct {
			typ string
			msg fields
		}{
			{"user", fields{"role": "user", "content": turn.Ask.In(d.Lang)}},
			{"assistant", answer(fields{"type": "tool_use", "id": call, "name": "Bash", "input": fields{"command": turn.Command}})},
			{"user", fields{"role": "user", "content": []fields{{"type": "tool_result", "tool_use_id": call, "content": output.String()}}}},
			{"assistant", answer(fields{"type": "text", "text": turn.Tell.In(d.Lang)})},
		} {
			if err := put(m.typ, m.msg); err != nil {
				return "", err
			}
		}
	}
	path := filepath.Join(filepath.Dir(d.transcript), oldSession+".jsonl")
	return path, os.WriteFile(path, b.Bytes(), 0o600)
}
