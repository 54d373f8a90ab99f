package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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
		line, err := readLine(lines)
		if len(line) > 0 {
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

// readLine reads a line of any length up to what a call may send. A longer one is
// passed over.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) <= 2*maxInput {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
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
	b, _ := json.Marshal(answer) // two fields that can be encoded
	return b
}

func (e Env) answer(args []string, ask gjson.Result) (out []byte) {
	event, input := ask.Get("event").String(), []byte(ask.Get("input").Raw)
	if event == "hello" {
		out, _ = json.Marshal(host.OpencodeHello()) // texts
		return out
	}
	if info := ask.Get("session"); info.IsObject() {
		gap, err := e.mirror(info, transcript.OpencodeMessages(ask.Get("messages").Array(), ask.Get("settled").Bool()), ask.Get("all").Bool())
		switch {
		case gap:
			return []byte(`{"gap":true}`)
		case err != nil:
			fmt.Fprintln(e.Stderr, redact.Clean("[overtone/mirror] "+err.Error()))
		}
	}
	if path := e.mirrorOf(gjson.ParseBytes(input)); path != "" {
		input = store.SetJSON(input, "transcript_path", path)
	}
	var said bytes.Buffer
	e.Stdin, e.Stdout = bytes.NewReader(input), &said
	Main(append([]string{event}, args...), e)
	return said.Bytes()
}

// mirrors is the folder of the sessions' mirrors; "" where there is no home.
func (e Env) mirrors() string {
	folders, err := store.FindFolders(e.Getenv)
	if err != nil {
		return ""
	}
	return store.New(folders.Root, folders.Claude, e.Now).Mirrors()
}

func (e Env) mirror(info gjson.Result, messages []transcript.HostMessage, all bool) (gap bool, err error) {
	root := e.mirrors()
	if root == "" || !info.Get("id").Exists() {
		return false, nil
	}
	return transcript.OpencodeMirror(root, info).Add(messages, all)
}

// mirrorOf is the mirror of the session that a call is about.
func (e Env) mirrorOf(input gjson.Result) string {
	root, id := e.mirrors(), input.Get("session_id").String()
	if root == "" || id == "" {
		return ""
	}
	info := store.EncodeJSON(map[string]string{"id": id, "directory": input.Get("cwd").String()})
	return transcript.OpencodeMirror(root, gjson.ParseBytes(info)).Path
}
