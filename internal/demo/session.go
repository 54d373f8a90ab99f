package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// The session that is compacted, and the one that is made smaller.
const (
	lostSession = "0de30000-0000-4000-8000-000000000001"
	oldSession  = "0de30000-0000-4000-8000-000000000002"
)

// writeSession makes a Claude Code session: turns of a question, a tool call with
// its result, and an answer. Of each call the tests' output is what takes the room.
// It gives what was said, by uuid.
func (d *play) writeSession(session string) (path string, texts map[string]string) {
	var b bytes.Buffer
	texts = map[string]string{}
	var parent any
	n := 0
	at := d.Now().Add(-48 * time.Hour)
	put := func(typ, text string, msg fields) {
		n++
		id := fmt.Sprintf("0de30000-0000-4000-8001-%012d", n)
		if typ == "assistant" {
			msg["id"], msg["type"], msg["model"] = fmt.Sprintf("msg_%03d", n), "message", "claude-sonnet-4-5"
			msg["usage"] = fields{"input_tokens": 12, "cache_read_input_tokens": b.Len() / 4, "output_tokens": 200}
		}
		msg["role"] = typ
		line, err := json.Marshal(fields{
			"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": d.project, "sessionId": session,
			"version": "2.1.197", "type": typ, "uuid": id, "timestamp": workflow.Stamp(at.Add(time.Duration(n) * time.Minute)), "message": msg,
		})
		d.failed(err)
		b.Write(append(line, '\n'))
		parent, texts[id] = id, text
	}
	for i, turn := range message.DemoTurns() {
		ask, tell, call := turn.Ask.In(d.Lang), turn.Tell.In(d.Lang), fmt.Sprintf("toolu_%03d", i)
		output := bytes.NewBufferString(turn.Output)
		for k := range 60 {
			fmt.Fprintf(output, "=== RUN   TestImport/orders.csv:%d\n--- PASS: TestImport/orders.csv:%d (0.0%ds)\n", 1200+400*i+k, 1200+400*i+k, k%10)
		}
		put("user", ask, fields{"content": ask})
		put("assistant", "", fields{"content": []fields{{"type": "tool_use", "id": call, "name": "Bash", "input": fields{"command": turn.Command}}}})
		put("user", "", fields{"content": []fields{{"type": "tool_result", "tool_use_id": call, "content": output.String()}}})
		put("assistant", tell, fields{"content": []fields{{"type": "text", "text": tell}}})
	}
	path = filepath.Join(filepath.Dir(d.transcript), session+".jsonl")
	d.failed(os.WriteFile(path, b.Bytes(), 0o600))
	return path, texts
}

// writeSummary adds to a session's file what Claude Code writes when it has compacted it.
func (d *play) writeSummary(path, summary string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if d.failed(err) {
		return
	}
	for _, line := range []fields{
		{"type": "system", "subtype": "compact_boundary", "uuid": "0de30000-0000-4000-8002-000000000001", "compactMetadata": fields{"trigger": "auto", "preTokens": 167_000}},
		{"type": "user", "isCompactSummary": true, "uuid": "0de30000-0000-4000-8002-000000000002", "parentUuid": "0de30000-0000-4000-8002-000000000001", "message": fields{"role": "user", "content": summary}},
	} {
		maps.Copy(line, fields{"isSidechain": false, "sessionId": lostSession, "cwd": d.project, "version": "2.1.197", "timestamp": workflow.Stamp(d.Now())})
		d.failed(json.NewEncoder(f).Encode(line))
	}
	d.failed(f.Close())
}
