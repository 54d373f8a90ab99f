package transcript

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// OpencodeMirror is where a session of opencode is mirrored below root, by what the
// host tells of it: {"id","parentID","directory","version","title"}.
func OpencodeMirror(root string, info gjson.Result) Mirror {
	m := Mirror{
		Host: Opencode, Session: filepath.Base(info.Get("id").String()), CWD: info.Get("directory").String(),
		Version: info.Get("version").String(), Title: info.Get("title").String(),
	}
	m.Path = host.Of(Opencode).SessionPath(root, m.CWD, m.Session+".jsonl")
	if parent := info.Get("parentID").String(); parent != "" {
		m.Agent = true
		m.Path = filepath.Join(filepath.Dir(m.Path), filepath.Base(parent), m.Session+".jsonl")
	}
	return m
}

// OpencodeMessages reads messages as the host's server and its database tell them:
// {"info":{…},"parts":[…]}, oldest first. An answer without an end was cut, by a signal
// or a crash; only the last one may be what the agent is at work on, unless settled says
// that it is at none, and the list ends before it.
func OpencodeMessages(messages []gjson.Result, settled bool) []HostMessage {
	answer := func(m gjson.Result) bool { return m.Get("info.role").String() == "assistant" }
	last := len(messages)
	for last--; last >= 0 && (settled || !answer(messages[last])); last-- {
	}
	var list []HostMessage
	trigger, pre := "", int64(0)
	for i, m := range messages {
		info := m.Get("info")
		t := HostMessage{ID: info.Get("id").String(), Time: info.Get("time.created").Int(), Agent: answer(m)}
		ended := info.Get("time.completed").Exists() || info.Get("error").Exists()
		if i == last && !ended {
			break
		}
		if t.ID == "" {
			continue // none of the host's
		}
		var put []HostBlock // by the host, or a plugin, into a user's message
		m.Get("parts").ForEach(func(_, p gjson.Result) bool {
			switch p.Get("type").String() {
			case "text":
				b := HostBlock{ID: p.Get("id").String(), Text: p.Get("text").String()}
				switch {
				case p.Get("ignored").Bool():
				case p.Get("synthetic").Bool() && !t.Agent:
					put = append(put, b)
				default:
					t.Blocks = append(t.Blocks, b)
				}
			case "reasoning":
				t.Blocks = append(t.Blocks, HostBlock{ID: p.Get("id").String(), Thought: p.Get("text").String()})
			case "tool":
				t.Blocks = append(t.Blocks, opencodeCall(p))
			case "compaction":
				trigger = "manual"
				if p.Get("auto").Bool() {
					trigger = "auto"
				}
			}
			return true
		})
		if t.Agent {
			t.Model = info.Get("modelID").String()
			u := opencodeUsage(info.Get("tokens"))
			t.Usage = &u
			t.Stopped = info.Get("error.name").String() == host.OpencodeAborted
			t.Failed = info.Get("error").Exists() && !t.Stopped
			if t.Summary = info.Get("summary").Bool(); t.Summary {
				t.Trigger, t.Pre = trigger, pre
			} else {
				pre = u.Tokens()
			}
			if t.Summary && (t.Failed || t.Stopped || !ended) {
				continue // nothing was compacted
			}
			if t.Failed {
				t.Blocks = append(t.Blocks, HostBlock{Text: info.Get("error.data.message").String()})
			}
		}
		if len(put) == 0 || len(t.Blocks) > 0 {
			list = append(list, t)
		}
		if t.Blocks, t.Meta = put, true; len(put) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// opencodeCall is a tool's call. How a command ended stands beside its output; here
// it stands before it, as in Claude Code's files.
func opencodeCall(p gjson.Result) HostBlock {
	state := p.Get("state")
	b := HostBlock{ID: p.Get("id").String(), Tool: p.Get("tool").String(), Input: json.RawMessage(state.Get("input").Raw)}
	switch state.Get("status").String() {
	case "completed":
		b.Answered, b.Answer = true, state.Get("output").String()
		if exit := state.Get("metadata.exit"); exit.Type == gjson.Number && exit.Int() != 0 {
			b.Failed, b.Answer = true, exitPrefix+strconv.FormatInt(exit.Int(), 10)+"\n"+b.Answer
		}
	case "error":
		b.Answered, b.Failed, b.Answer = true, true, state.Get("error").String()
	case "pending", "running": // its message has ended, so it was cut with it; the host's own words for that
		b.Answered, b.Failed, b.Answer = true, true, "[Tool execution was interrupted]"
	}
	return b
}

const exitPrefix = "Exit code "

// WithoutExit is a command's output without the line that a mirror has before it.
func WithoutExit(text string) string {
	if rest, ok := strings.CutPrefix(text, exitPrefix); ok {
		_, text, _ = strings.Cut(rest, "\n")
	}
	return text
}

func opencodeUsage(t gjson.Result) Usage {
	return Usage{
		Input: t.Get("input").Int(), CacheRead: t.Get("cache.read").Int(), CacheCreation: t.Get("cache.write").Int(),
		Output: t.Get("output").Int() + t.Get("reasoning").Int(),
	}
}
