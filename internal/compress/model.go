package compress

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// maxStarts bounds in how many places an object is looked for: each try reads on
// to the end of what it finds, so on a reply of nothing but braces all of them
// would take time in the square of its length.
const maxStarts = 64

// parseReply takes the text out of a model's answer, which should be one JSON
// object with the key "text" but comes in fences, after a preamble, or with
// fences inside the text itself. The whole answer is tried first, then a
// fenced block, then every object that begins somewhere in it.
func parseReply(raw string) (string, error) {
	if t, ok := textObject(raw); ok {
		return t, nil
	}
	if t, ok := textObject(fenced(raw)); ok {
		return t, nil
	}
	rest := raw
	for range maxStarts {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		rest = rest[i:]
		// The decoder stops at the end of the object; what follows is chatter.
		var v map[string]any
		if json.NewDecoder(strings.NewReader(rest)).Decode(&v) == nil {
			if t, ok := v["text"].(string); ok {
				return t, nil
			}
		}
		rest = rest[1:]
	}
	head := []rune(strings.TrimSpace(raw))
	return "", &refusedError{reason: reasonFormat, Detail: string(head[:min(len(head), 100)])}
}

func textObject(s string) (string, bool) {
	var v map[string]any
	if json.Unmarshal([]byte(strings.TrimSpace(s)), &v) != nil {
		return "", false
	}
	t, ok := v["text"].(string)
	return t, ok
}

// fenced is the inside of an answer's outermost code fence.
func fenced(s string) string {
	_, s, ok := strings.Cut(s, "```")
	if !ok {
		return ""
	}
	end := strings.LastIndex(s, "```")
	if end < 0 {
		end = len(s)
	}
	s = s[:end]
	if line, rest, ok := strings.Cut(s, "\n"); ok && !strings.Contains(line, "{") {
		return rest
	}
	return s
}

// ask sends one prompt to a model and returns its answer as it came.
type ask func(ctx context.Context, prompt string, r Request) (Reply, error)

// viaModel makes a provider of a chat service: it writes the prompt and reads the
// answer.
func viaModel(name string, chat ask) Provider { return &model{name, chat} }

type model struct {
	name string
	chat ask
}

func (m *model) Name() string { return m.name }

func (m *model) Compress(ctx context.Context, r Request) (Reply, error) {
	reply, err := m.chat(ctx, prompt(r), r)
	if err != nil {
		return reply, err
	}
	if reply.Text, err = parseReply(reply.Text); err == nil && !extract.About(r.Text, reply.Text) {
		err = &refusedError{reason: reasonAside, Detail: message.Head(message.OneLine(reply.Text), 100)}
	}
	return reply, err
}
