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
	lost int // uuids that compactions name as kept and that are not here
}

// clean reports that nothing is wrong, so that there is nothing to compare.
func (r *Report) clean() bool {
	return r.Unreadable+r.lost+len(r.Duplicate)+len(r.Dangling)+len(r.Unanswered)+len(r.Orphaned)+len(r.Incomplete)+len(r.Empty) == 0
}

// Verify reads a session file and reports what a host would stumble over.
func Verify(ctx context.Context, path string) (*Report, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return verify(ctx, io.NewSectionReader(f, 0, size), size)
}

// checker collects while a file is read.
type checker struct {
	rep      *Report
	host     Host
	parents  map[key][]string // missing so far → uuids of the children
	seen     table
	kept     map[string]bool
	answered table       // calls whose result was seen
	ids      [2][][]byte // room for one entry's calls and results
}

// verify reads to the end; size is about how much that is.
func verify(ctx context.Context, r io.Reader, size int64) (*Report, error) {
	host, _, r, err := hostOf(interruptible{ctx, r}, size)
	if err != nil {
		return nil, err
	}
	c := checker{
		host: host,
		rep: &Report{
			host: host,
			IDs:  map[string]int{}, Duplicate: map[string]bool{}, Dangling: map[string]string{}, Unanswered: map[string]bool{},
			Orphaned: map[string]bool{}, Incomplete: map[string]string{}, Empty: map[string]bool{}, Kept: map[string]bool{},
		},
		parents: map[key][]string{}, kept: map[string]bool{},
	}
	c.seen.reserve(int(size / 2048))
	lr := newLineReader(r)
	for {
		ln, ok := lr.next()
		if !ok {
			break
		}
		c.rep.Lines++
		if ln.huge {
			c.rep.Unreadable++
			continue
		}
		b := ln.b
		if c.rep.Lines == 1 {
			b = []byte(strings.TrimPrefix(string(b), string(bom)))
		}
		for i := space(b, 0); i < len(b); i = space(b, i) {
			cur := cursor{b: b, i: i}
			if c.object(&cur); cur.bad {
				c.rep.Unreadable++
				break
			}
			i = cur.i
		}
	}
	if lr.err != nil {
		return nil, lr.err
	}
	c.finish()
	return c.rep, nil
}

// checked is what is looked at of one entry. It is filled in one walk over the
// bytes and judged afterwards, for keys come in any order.
type checked struct {
	typ, uuid, parent, time, sid []byte
	model                        []byte
	meta                         []byte
	message, content, empty      bool
	calls, results               [][]byte
}

func (c *checker) object(cur *cursor) {
	if c.host == Codex {
		if cur.peek() == '{' {
			c.codex(cur.raw())
		} else {
			cur.bad = true
		}
		return
	}
	if !cur.open('{') {
		cur.bad = true
		return
	}
	m := checked{calls: c.ids[0][:0], results: c.ids[1][:0]}
	for first := true; cur.more('}', &first); {
		switch string(cur.key()) {
		case "type":
			m.typ, _ = cur.str()
		case "uuid":
			m.uuid, _ = cur.str()
		case "parentUuid":
			m.parent, _ = cur.str()
		case "timestamp":
			m.time, _ = cur.str()
		case "sessionId":
			m.sid, _ = cur.str()
		case "compactMetadata":
			m.meta = cur.raw()
		case "message":
			m.readMessage(cur)
		default:
			cur.value()
		}
	}
	c.ids = [2][][]byte{m.calls, m.results}
	if !cur.bad {
		c.judge(&m)
	}
}

func (m *checked) readMessage(cur *cursor) {
	if cur.peek() != '{' {
		cur.value()
		return
	}
	cur.open('{')
	m.message = true
	for first := true; cur.more('}', &first); {
		switch string(cur.key()) {
		case "model":
			m.model, _ = cur.str()
		case "content":
			m.readContent(cur)
		default:
			cur.value()
		}
	}
}

func (m *checked) readContent(cur *cursor) {
	switch cur.peek() {
	case '"':
		s, _ := cur.str()
		m.content, m.empty = true, len(s) == 0
	case '[':
		cur.open('[')
		m.content, m.empty = true, true
		for first := true; cur.more(']', &first); {
			m.empty = false
			if cur.peek() != '{' {
				cur.value()
				continue
			}
			m.readBlock(cur)
		}
	default:
		cur.value()
	}
}

func (m *checked) readBlock(cur *cursor) {
	var typ, id, use, text []byte
	cur.open('{')
	cur.read(str("type", &typ), str("id", &id), str("tool_use_id", &use), raw("text", &text))
	switch string(typ) {
	case "tool_use":
		m.calls = append(m.calls, id)
	case "tool_result":
		m.results = append(m.results, use)
	case "text":
		m.empty = m.empty || string(text) == `""`
	}
}

func (c *checker) has(k key) bool { return c.seen.find(k) >= 0 }

func (c *checker) judge(m *checked) {
	if len(m.sid) > 0 {
		if n, ok := c.rep.IDs[string(m.sid)]; ok || len(c.rep.IDs) < 1000 {
			c.rep.IDs[string(m.sid)] = n + 1
		}
	}
	message := false
	switch string(m.typ) {
	case "user", "assistant":
		message = true
	case "attachment", "system", "progress":
	default:
		return
	}
	if len(m.uuid) == 0 {
		return
	}
	k := keyOf(m.uuid)
	if _, dup := c.seen.add(k); dup {
		c.rep.Duplicate[string(m.uuid)] = true
	}
	if len(c.parents) > 0 {
		delete(c.parents, k)
	}
	if len(m.parent) > 0 {
		p := keyOf(m.parent)
		if p == k || !c.has(p) {
			c.parents[p] = append(c.parents[p], string(m.uuid)+" "+string(m.parent))
		}
	}
	if m.meta != nil {
		c.keptIn(m.meta)
	}
	if !message {
		return
	}
	c.rep.Messages++
	missing := ""
	switch {
	case len(m.time) == 0:
		missing = "timestamp"
	case !m.message:
		missing = "message"
	case string(m.typ) == "assistant" && len(m.model) == 0:
		missing = "message.model"
	case !m.content:
		missing = "message.content"
	}
	if missing != "" {
		c.rep.Incomplete[string(m.uuid)] = missing
	}
	if m.empty {
		c.rep.Empty[string(m.uuid)] = true
	}
	for _, id := range m.calls {
		c.call(id)
	}
	for _, id := range m.results {
		c.result(id)
	}
}

// call and result keep only what is still open: calls are answered soon after.
func (c *checker) call(id []byte) {
	k := keyOf(id)
	if c.answered.find(k) >= 0 {
		return
	}
	if _, early := c.rep.Orphaned[string(id)]; early {
		delete(c.rep.Orphaned, string(id))
		c.answered.add(k)
		return
	}
	c.rep.Unanswered[string(id)] = true
}

func (c *checker) result(id []byte) {
	k := keyOf(id)
	if c.answered.find(k) >= 0 {
		return
	}
	if c.rep.Unanswered[string(id)] {
		delete(c.rep.Unanswered, string(id))
		c.answered.add(k)
		return
	}
	c.rep.Orphaned[string(id)] = true
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
		c.call(call)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		c.result(call)
	}
}

func (c *checker) finish() {
	for k, children := range c.parents {
		if c.has(k) {
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
	for id := range c.kept {
		if c.has(keyOf([]byte(id))) {
			c.rep.Kept[id] = true
		} else {
			c.rep.lost++
		}
	}
}

// verifyClone checks a clone against the first size bytes of its source: what
// is wrong with the clone must have been wrong before.
func verifyClone(ctx context.Context, source string, size int64, clone io.Reader, id string) error {
	after, err := verify(ctx, clone, size)
	if err != nil {
		return err
	}
	before := &Report{host: after.host, IDs: after.IDs}
	if !after.clean() {
		f, err := os.Open(source)
		if err != nil {
			return err
		}
		defer f.Close()
		if before, err = verify(ctx, io.NewSectionReader(f, 0, size), size); err != nil {
			return err
		}
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
