package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Report is what a session file states about itself, read without the index: the
// second opinion on a clone.
type Report struct {
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
	return verify(ctx, io.NewSectionReader(f, 0, size))
}

type checker struct {
	rep      *Report
	parents  map[key][]string // missing so far → uuids of the children
	seen     map[key]bool
	kept     map[string]bool
	answered map[key]bool // calls whose result was seen
}

func verify(ctx context.Context, r *io.SectionReader) (*Report, error) {
	host, err := hostOf(r)
	if err != nil && !errors.Is(err, ErrUnknown) {
		return nil, err
	}
	c := checker{
		rep: &Report{
			host: host,
			IDs:  map[string]int{}, Duplicate: map[string]bool{}, Dangling: map[string]string{}, Unanswered: map[string]bool{},
			Orphaned: map[string]bool{}, Incomplete: map[string]string{}, Empty: map[string]bool{}, Kept: map[string]bool{},
		},
		parents: map[key][]string{}, seen: make(map[key]bool, r.Size()/2048), kept: map[string]bool{}, answered: map[key]bool{},
	}
	lines, done := store.ReadLines(interruptible{ctx, r}, 0)
	defer done()
	var rec record
	for ln, ok := lines.Next(); ok; ln, ok = lines.Next() {
		if !rec.objects(ln, host, func(int, int) { c.judge(&rec) }) {
			c.rep.Unreadable++
		}
	}
	if lines.Err != nil {
		return nil, lines.Err
	}
	c.finish()
	return c.rep, nil
}

func (c *checker) judge(r *record) {
	if len(r.Session) > 0 {
		if n, ok := c.rep.IDs[string(r.Session)]; ok || len(c.rep.IDs) < 1000 {
			c.rep.IDs[string(r.Session)] = n + 1
		}
	}
	if chained(c.rep.host) {
		if !r.has(Node) {
			return
		}
		c.node(r)
	}
	message := r.kind == User || r.kind == Assistant
	if message || c.rep.host == Codex && r.kind == System {
		c.rep.Messages++
	}
	if message && chained(c.rep.host) {
		c.message(r)
	}
	if message || c.rep.host == Codex {
		for i := range r.parts {
			switch p := &r.parts[i]; {
			case p.served:
			case p.kind == ToolBegan:
				c.pair(p.id, c.rep.Unanswered, c.rep.Orphaned)
			case p.kind == ToolEnded:
				c.pair(p.id, c.rep.Orphaned, c.rep.Unanswered)
			}
		}
	}
}

func (c *checker) node(r *record) {
	k := keyOf(r.UUID)
	if c.seen[k] {
		c.rep.Duplicate[string(r.UUID)] = true
	}
	c.seen[k] = true
	if len(c.parents) > 0 {
		delete(c.parents, k)
	}
	switch p := keyOf(r.parent); {
	case len(r.parent) == 0:
	case p == k:
		c.rep.Dangling[string(r.UUID)] = string(r.parent)
	case !c.seen[p]:
		c.parents[p] = append(c.parents[p], string(r.UUID)+" "+string(r.parent))
	}
	for _, list := range [...]string{"preservedMessages", "preservedSegment"} {
		eachString(field(r.compact, list), false, func(_ string, id Inner) { c.kept[string(id.raw)] = true })
	}
}

func (c *checker) message(r *record) {
	missing := ""
	switch {
	case len(r.timestamp) == 0:
		missing = "timestamp"
	case !r.hasMessage:
		missing = "message"
	case r.kind == Assistant && len(r.model) == 0:
		missing = "message.model"
	case r.blocks == noContent:
		missing = "message.content"
	}
	if missing != "" {
		c.rep.Incomplete[string(r.UUID)] = missing
	}
	if r.blocks == 0 || slices.ContainsFunc(r.parts, func(p piece) bool { return p.kind == AgentSaid && string(p.raw) == `""` }) {
		c.rep.Empty[string(r.UUID)] = true
	}
}

// pair takes a call or a result, and keeps only what is still open: calls are answered
// soon after.
func (c *checker) pair(id []byte, own, other map[string]bool) {
	switch k := keyOf(id); {
	case c.answered[k]:
	case other[string(id)]:
		delete(other, string(id))
		c.answered[k] = true
	default:
		own[string(id)] = true
	}
}

func (c *checker) finish() {
	for _, children := range c.parents {
		for _, child := range children {
			id, parent, _ := strings.Cut(child, " ")
			c.rep.Dangling[id] = parent
		}
	}
	for id := range c.kept {
		if c.seen[keyOf([]byte(id))] {
			c.rep.Kept[id] = true
		} else {
			c.rep.lost++
		}
	}
}

// verifyClone checks a clone against the first size bytes of its source: what
// is wrong with the clone must have been wrong before.
func verifyClone(ctx context.Context, source string, size int64, clone *io.SectionReader, id string) (err error) {
	defer Catch(source, &err)
	after, err := verify(ctx, clone)
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
		if before, err = verify(ctx, io.NewSectionReader(f, 0, size)); err != nil {
			return err
		}
	}
	return after.since(before, id)
}

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
