package transcript

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Report is what a session file states about itself, read line by line without
// the index: the second opinion on a clone.
type Report struct {
	Lines      int
	Unreadable int
	IDs        map[string]int // session id → lines
	Duplicate  map[string]bool
	Dangling   map[string]string // uuid → the parent that is missing
	Unanswered map[string]bool   // tool calls without a result
	Orphaned   map[string]bool   // results without a call
	Incomplete map[string]string // uuid → the required field that is missing
	Empty      map[string]bool   // messages without content
	Kept       map[string]bool   // uuids that compactions name as kept and that are here
	Messages   int

	host Host
}

// Verify reads a session file and reports what a host would stumble over.
func Verify(ctx context.Context, path string) (*Report, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return verify(ctx, f, size)
}

// checker collects while a file is read.
type checker struct {
	rep     *Report
	host    Host
	parents map[key][]string // missing so far → uuids of the children
	seen    map[key]struct{}
	calls   map[string]bool
	results map[string]bool
	kept    map[string]bool
}

func verify(ctx context.Context, f *os.File, size int64) (*Report, error) {
	head := make([]byte, min(size, 256<<10))
	if n, err := f.ReadAt(head, 0); n < len(head) && err != nil && err != io.EOF {
		return nil, err
	}
	host, _ := Detect(head)
	c := checker{
		host: host,
		rep: &Report{
			host: host,
			IDs:  map[string]int{}, Duplicate: map[string]bool{}, Dangling: map[string]string{}, Unanswered: map[string]bool{},
			Orphaned: map[string]bool{}, Incomplete: map[string]string{}, Empty: map[string]bool{}, Kept: map[string]bool{},
		},
		parents: map[key][]string{}, seen: map[key]struct{}{}, calls: map[string]bool{}, results: map[string]bool{}, kept: map[string]bool{},
	}
	lr := newLineReader(io.NewSectionReader(f, 0, size))
	for {
		ln, ok := lr.next()
		if !ok {
			break
		}
		c.rep.Lines++
		if c.rep.Lines&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if ln.huge {
			c.rep.Unreadable++
			continue
		}
		b := ln.b
		if c.rep.Lines == 1 {
			b = []byte(strings.TrimPrefix(string(b), string(bom)))
		}
		for i := space(b, 0); i < len(b); i = space(b, i) {
			end := -1
			if b[i] == '{' {
				end = skip(b, i)
			}
			if end < 0 {
				c.rep.Unreadable++
				break
			}
			c.object(b[i:end])
			i = end
		}
	}
	if lr.err != nil {
		return nil, lr.err
	}
	c.finish()
	return c.rep, nil
}

func (c *checker) object(b []byte) {
	if c.host == Codex {
		c.codex(b)
		return
	}
	var typ, uuid, parent, time, sid string
	var msg, meta []byte
	cur := cursor{b: b}
	cur.open('{')
	for first := true; cur.more('}', &first); {
		name := cur.key()
		v := cur.raw()
		s, _ := content(v)
		switch string(name) {
		case "type":
			typ = string(s)
		case "uuid":
			uuid = string(s)
		case "parentUuid":
			parent = string(s)
		case "timestamp":
			time = string(s)
		case "sessionId":
			sid = string(s)
		case "message":
			msg = v
		case "compactMetadata":
			meta = v
		}
	}
	if sid != "" {
		c.rep.IDs[sid]++
	}
	switch typ {
	case "user", "assistant", "attachment", "system", "progress":
	default:
		return
	}
	if uuid == "" {
		return
	}
	k := keyOf([]byte(uuid))
	if _, dup := c.seen[k]; dup {
		c.rep.Duplicate[uuid] = true
	}
	c.seen[k] = struct{}{}
	delete(c.parents, k)
	if parent != "" {
		p := keyOf([]byte(parent))
		if _, ok := c.seen[p]; !ok || p == k {
			c.parents[p] = append(c.parents[p], uuid+" "+parent)
		}
	}
	if typ == "system" {
		c.keptIn(meta)
		return
	}
	if typ != "user" && typ != "assistant" {
		return
	}
	c.rep.Messages++
	c.message(typ, uuid, time, msg)
}

func (c *checker) message(typ, uuid, time string, msg []byte) {
	need := func(ok bool, what string) {
		if !ok && c.rep.Incomplete[uuid] == "" {
			c.rep.Incomplete[uuid] = what
		}
	}
	need(time != "", "timestamp")
	need(len(msg) > 0 && msg[0] == '{', "message")
	model, body := []byte(nil), []byte(nil)
	cur := cursor{b: msg}
	if cur.open('{') {
		for first := true; cur.more('}', &first); {
			switch string(cur.key()) {
			case "model":
				model, _ = cur.str()
			case "content":
				body = cur.raw()
			default:
				cur.value()
			}
		}
	}
	need(typ != "assistant" || len(model) > 0, "message.model")
	switch {
	case len(body) == 0:
		need(false, "message.content")
	case body[0] == '"':
		if len(body) == 2 {
			c.rep.Empty[uuid] = true
		}
	case body[0] == '[':
		blocks := 0
		list := cursor{b: body}
		list.open('[')
		for first := true; list.more(']', &first); {
			c.block(list.raw(), uuid)
			blocks++
		}
		if blocks == 0 {
			c.rep.Empty[uuid] = true
		}
	}
}

func (c *checker) block(b []byte, uuid string) {
	var typ, id, use string
	text := "x"
	cur := cursor{b: b}
	if !cur.open('{') {
		return
	}
	for first := true; cur.more('}', &first); {
		name := cur.key()
		s, is := cur.str()
		switch string(name) {
		case "type":
			typ = string(s)
		case "id":
			id = string(s)
		case "tool_use_id":
			use = string(s)
		case "text":
			if is {
				text = string(s)
			}
		}
	}
	switch typ {
	case "tool_use":
		c.calls[id] = true
	case "tool_result":
		c.results[use] = true
	case "text":
		if text == "" {
			c.rep.Empty[uuid] = true
		}
	}
}

func (c *checker) keptIn(meta []byte) {
	cur := cursor{b: meta}
	if !cur.open('{') {
		return
	}
	for first := true; cur.more('}', &first); {
		name := string(cur.key())
		if name != "preservedMessages" && name != "preservedSegment" || !cur.open('{') {
			cur.value()
			continue
		}
		for first := true; cur.more('}', &first); {
			cur.key()
			if !cur.open('[') {
				if s, ok := cur.str(); ok {
					c.kept[string(s)] = true
				}
				continue
			}
			for first := true; cur.more(']', &first); {
				if s, ok := cur.str(); ok {
					c.kept[string(s)] = true
				}
			}
		}
	}
}

func (c *checker) codex(b []byte) {
	typ := EntryType(b)
	item := b
	p := field(b, "payload")
	switch {
	case typ == "response_item":
		item = p
	case typ == "session_meta":
		if s, ok := content(field(p, "id")); ok {
			c.rep.IDs[string(s)]++
		}
		return
	case p != nil:
		return
	}
	call, _ := content(field(item, "call_id"))
	switch EntryType(item) {
	case "message":
		c.rep.Messages++
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		c.calls[string(call)] = true
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		c.results[string(call)] = true
	}
}

func (c *checker) finish() {
	for k, children := range c.parents {
		if _, ok := c.seen[k]; ok {
			for _, ch := range children {
				// Its own parent is the one thing that is seen and still wrong.
				if id, p, _ := strings.Cut(ch, " "); id == p {
					c.rep.Dangling[id] = p
				}
			}
			continue
		}
		for _, ch := range children {
			id, p, _ := strings.Cut(ch, " ")
			c.rep.Dangling[id] = p
		}
	}
	for id := range c.calls {
		if !c.results[id] {
			c.rep.Unanswered[id] = true
		}
	}
	for id := range c.results {
		if !c.calls[id] {
			c.rep.Orphaned[id] = true
		}
	}
	for id := range c.kept {
		if _, ok := c.seen[keyOf([]byte(id))]; ok {
			c.rep.Kept[id] = true
		}
	}
}

// VerifyClone checks a clone against the first size bytes of its source: what
// is wrong with the clone must have been wrong before.
func VerifyClone(ctx context.Context, source string, size int64, clone, id string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := verify(ctx, f, size)
	if err != nil {
		return err
	}
	after, err := Verify(ctx, clone)
	if err != nil {
		return err
	}
	return after.since(before, id)
}

// since lists what is newly wrong.
func (r *Report) since(before *Report, id string) error {
	var faults []string
	fault := func(what string, ids []string) {
		if len(ids) > 0 {
			slices.Sort(ids)
			faults = append(faults, fmt.Sprintf("%s: %s", what, strings.Join(ids[:min(len(ids), 3)], ", ")))
		}
	}
	fault("duplicate uuids", added(before.Duplicate, r.Duplicate))
	fault("tool calls without result", added(before.Unanswered, r.Unanswered))
	fault("tool results without call", added(before.Orphaned, r.Orphaned))
	fault("empty messages", added(before.Empty, r.Empty))
	fault("incomplete messages", added(before.Incomplete, r.Incomplete))
	fault("kept messages that are gone", added(r.Kept, before.Kept))
	missing := map[string]bool{}
	for _, p := range before.Dangling {
		missing[p] = true
	}
	var dangling []string
	for child, p := range r.Dangling {
		if !missing[p] {
			dangling = append(dangling, child)
		}
	}
	fault("parents that are gone", dangling)
	if r.Unreadable > before.Unreadable {
		faults = append(faults, fmt.Sprintf("%d unreadable lines, %d before", r.Unreadable, before.Unreadable))
	}
	if before.host != Codex {
		var foreign []string
		for old := range r.IDs {
			if old != id {
				foreign = append(foreign, old)
			}
		}
		fault("lines of another session id", foreign)
	} else if r.IDs[id] == 0 && len(before.IDs) > 0 {
		faults = append(faults, "the new id is missing")
	}
	if len(faults) > 0 {
		return fmt.Errorf("the clone does not verify: %s", strings.Join(faults, "; "))
	}
	return nil
}

func added[V any](before, after map[string]V) []string {
	var ids []string
	for id := range after {
		if _, ok := before[id]; !ok {
			ids = append(ids, id)
		}
	}
	return ids
}
