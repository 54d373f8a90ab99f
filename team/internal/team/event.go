package team

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Event is one event of one machine, as the hub has it.
type Event struct {
	Machine, Session string
	Seq              uint64 // in its session, from 1
	Type             string
	// Line is a JSON object: ts, type, category, host, project and the fields that
	// may leave the machine; Full the whole line, of projects that are shared and
	// for those who hold the team's key.
	Line []byte
	Full []byte
	// At is when the hub got it, Pos where it stands in the hub's stream.
	At  time.Time
	Pos uint64

	mark string
}

// eventID is the event's name, the same each time it is published.
func eventID(machine, session string, seq uint64) string {
	return machine + "/" + session + "/" + strconv.FormatUint(seq, 10)
}

// Time is when it happened.
func (e Event) Time() time.Time {
	t, _ := time.Parse(time.RFC3339, gjson.GetBytes(e.Line, "ts").String())
	return t
}

// again marks an event that is published once more because another message took
// its id on the hub: the hub would drop it as a repeat.
const again = "/again"

const (
	idHeader   = "Nats-Msg-Id"
	markHeader = "Ovt-Mark" // by which a shipper without its cursor finds its place
)

// openFields are the fields of events that leave the machine in the open: names,
// numbers and states that Overtone itself chose. Texts (reason, error, hint,
// warning) are not among them.
var openFields = []string{
	"version", "source", "workflowType", "workflowId", "currentStage", "trigger", "n", "transcriptSize", "stage", "agent", "result",
	"id", "packet", "via", "chars", "verdict", "cause", "tier", "percentRemaining", "signals", "before", "after", "foreign",
	"stages", "failCount", "rejectCount", "crashCount", "willRetry", "barrierGroup", "group", "completedCount", "totalCount",
	"next", "severity", "missing", "members", "retryCount", "completedStages", "toolName", "responseLength", "clone", "provider",
	"messagesCompressed", "messagesFailed", "tokensRemoved", "iteration", "progress", "agentId", "agent_id", "toolUseId", "tool_use_id",
	"promptId", "prompt_id", "from", "to", "token",
}

// openValue reports whether a value may leave in the open: a number, a flag, a
// plain name, or a list of such. A field that holds anything else stays.
func openValue(v gjson.Result) bool {
	switch v.Type {
	case gjson.Number, gjson.True, gjson.False, gjson.Null:
		return true
	case gjson.String:
		return plainName(v.Str)
	}
	if !v.IsArray() {
		return false
	}
	list := v.Array()
	return len(list) <= 64 && !slices.ContainsFunc(list, func(x gjson.Result) bool { return x.IsArray() || x.IsObject() || !openValue(x) })
}

func plainName(s string) bool {
	if len(s) > 128 {
		return false
	}
	for _, c := range s {
		if !strings.ContainsRune(tokenBytes+".:+/@#[]()", c) {
			return false
		}
	}
	return !strings.Contains(s, "://") && !strings.HasPrefix(s, "/") && len(redact.Spans(s)) == 0
}

// origin is what is known of a session beside its timeline.
type origin struct {
	Host, Project string
	Shared        bool
}

// outbound makes the message of an entry.
func outbound(s Settings, session string, o store.Outgoing, from origin) (*nats.Msg, error) {
	typ := o.Type
	if _, known := message.EventLabel(typ); !known && !plainName(typ) {
		typ = "other"
	}
	var line store.Fields
	if !o.Time().IsZero() {
		line.AddText("ts", o.TS)
	}
	line.AddText("type", typ)
	line.AddText("category", message.EventCategory(typ))
	line.AddText("host", from.Host)
	line.AddText("project", from.Project)
	for _, f := range o.Data() {
		raw, _ := f.Value.(json.RawMessage)
		if slices.Contains(openFields, f.Key) && openValue(gjson.ParseBytes(raw)) {
			line = append(line, f)
		}
	}
	if from.Shared && len(s.Recipients) > 0 {
		sealed, err := s.sealBytes(transcript.MapStrings(o.Raw, redact.Clean))
		if err != nil {
			return nil, err
		}
		// What does not fit stays here; the rest of the event goes.
		if len(sealed) < maxSealed {
			line.Add("sealed", base64.StdEncoding.EncodeToString(sealed))
		}
	}
	m := nats.NewMsg(eventPrefix + s.Machine + "." + session + "." + subjectToken(typ))
	m.Data = store.EncodeJSON(line)
	m.Header.Set(idHeader, eventID(s.Machine, session, o.Mark.Seq))
	m.Header.Set(markHeader, o.Mark.Line+"."+o.Mark.Pair)
	return m, nil
}

// maxSealed keeps messages below the usual limit of a hub, one megabyte.
const maxSealed = 600 << 10

// subjectToken is a type as one token.
func subjectToken(typ string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '*' || r == '>' || r <= ' ' {
			return '_'
		}
		return r
	}, typ)
}

// inbound reads a message of the stream; false where it is none of ours: where its
// id and its subject disagree, somebody else wrote it.
func (s Settings) inbound(m stored) (Event, bool) {
	parts := strings.Split(strings.TrimPrefix(m.Subject, eventPrefix), ".")
	if len(parts) != 3 || m.relayed() || len(m.Header.Values(idHeader)) != 1 {
		return Event{}, false
	}
	e := Event{Machine: parts[0], Session: parts[1], At: m.Time, Pos: m.Seq, mark: m.Header.Get(markHeader)}
	id := strings.Split(m.Header.Get(idHeader), "/")
	if len(id) < 3 || id[0] != e.Machine || id[1] != e.Session || !store.ValidJSON(m.Data) {
		return Event{}, false
	}
	var err error
	if e.Seq, err = strconv.ParseUint(id[2], 10, 64); err != nil || e.Seq == 0 {
		return Event{}, false
	}
	line := gjson.ParseBytes(m.Data)
	e.Type = line.Get("type").String()
	if !line.IsObject() || subjectToken(e.Type) != parts[2] {
		return Event{}, false
	}
	e.Line = m.Data
	if sealed := line.Get("sealed"); sealed.Exists() && s.Identity != "" {
		if raw, err := base64.StdEncoding.DecodeString(sealed.String()); err == nil {
			if full, err := s.unsealBytes(raw, 1<<20); err == nil && store.ValidJSON(full) {
				e.Full = full
			}
		}
	}
	return e, true
}

// Shown is the event's line as it is shown: the whole one where it can be read.
func (e Event) Shown() store.Entry {
	raw := e.Line
	if e.Full != nil {
		raw = e.Full
	}
	return store.Entry{Raw: raw, TS: gjson.GetBytes(e.Line, "ts").String(), Type: e.Type}
}

// Readable is a line without the part that is encrypted.
func Readable(line []byte) []byte {
	var kept []string
	gjson.ParseBytes(line).ForEach(func(key, value gjson.Result) bool {
		if key.Str != "sealed" {
			kept = append(kept, key.Raw+":"+value.Raw)
		}
		return true
	})
	return []byte("{" + strings.Join(kept, ",") + "}")
}

// parseMark reads the header that [outbound] writes.
func parseMark(text string, seq uint64) (store.Mark, error) {
	line, pair, ok := strings.Cut(text, ".")
	if !ok {
		return store.Mark{}, fmt.Errorf("mark %q", text)
	}
	return store.Mark{Seq: seq, Line: line, Pair: pair}, nil
}
