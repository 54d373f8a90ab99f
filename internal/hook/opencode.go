package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// serve runs `overtone-hook serve --host NAME` for a host that calls no programs: a
// plugin in it sends a line for each call, {"id","event","input"}, and gets a line for
// each, {"id","out"}. The calls are those of [Main], one after the other, until the
// host closes the pipe.
//
// With a call may come the newest messages of its session ("session", "messages",
// "all", and "settled" where the agent is at work on none of them), which go into the
// session's mirror before the call reads it. An answer {"gap":true} asks for all of them.
func serve(args []string, env Env) int {
	lines := bufio.NewReaderSize(env.Stdin, 64<<10)
	for {
		line, err := store.ReadLine(lines, 2*maxInput) // a longer one is no JSON
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out := env.reply(args, line)
			if _, err := fmt.Fprintf(env.Stdout, "%s\n", out); err != nil {
				return 0
			}
		}
		if err != nil {
			return 0
		}
	}
}

// reply answers one call.
func (e Env) reply(args []string, line []byte) []byte {
	answer := struct {
		ID  int64           `json:"id"`
		Out json.RawMessage `json:"out"`
	}{Out: json.RawMessage("{}")}
	if store.ValidJSON(line) {
		ask := gjson.ParseBytes(line)
		answer.ID = ask.Get("id").Int()
		if out := e.answer(args, ask); store.ValidJSON(out) {
			answer.Out = out
		}
	}
	return store.EncodeJSON(answer)
}

func (e Env) answer(args []string, ask gjson.Result) (out []byte) {
	event, input := ask.Get("event").String(), []byte(ask.Get("input").Raw)
	if event == "hello" {
		return store.EncodeJSON(host.OpencodeHello())
	}
	root := "" // of the sessions' mirrors; none where there is no home
	if folders, err := store.FindFolders(e.Getenv); err == nil {
		root = store.New(folders.Root, folders.Claude, e.Now).Mirrors()
	}
	if info := ask.Get("session"); root != "" && info.Get("id").Exists() {
		messages := transcript.OpencodeMessages(ask.Get("messages").Array(), ask.Get("settled").Bool())
		gap, err := transcript.OpencodeMirror(root, info).Add(messages, ask.Get("all").Bool())
		switch {
		case gap:
			return []byte(`{"gap":true}`)
		case err != nil:
			fmt.Fprintln(e.Stderr, redact.Clean("[overtone/mirror] "+err.Error()))
		}
	}
	if id := gjson.GetBytes(input, "session_id").String(); root != "" && id != "" {
		info := store.EncodeJSON(map[string]string{"id": id, "directory": gjson.GetBytes(input, "cwd").String()})
		input = store.SetJSON(input, "transcript_path", transcript.OpencodeMirror(root, gjson.ParseBytes(info)).Path)
	}
	var said bytes.Buffer
	e.Stdin, e.Stdout = bytes.NewReader(input), &said
	Main(append([]string{event}, args...), e)
	return said.Bytes()
}
