package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// compaction is one recorded compaction: the slice before it, its summary, and
// what the agent did after it.
type compaction struct {
	name    string
	host    transcript.Host
	cwd     string
	data    []byte
	from    int64 // the slice that was compacted: [from, to)
	to      int64
	after   int64 // what followed: [after, end)
	end     int64
	summary string

	known  int
	needed []need
	rec    *handover.Record
	crude  []string
	tail   string // the end of the slice's texts
	asked  string // what the user typed last
	files  string // the five files that were read last
}

// need is a name that the agent used from memory.
type need struct {
	text    string
	path    bool
	library bool // it is no name of the project
	coined  bool // the edit that uses it defines it
}

// remembered are the names of the project that the agent had to know: those of libraries
// every model knows, and maxRows := 100 can be written without a memory of maxRows.
func remembered(n need) bool { return !n.library && !n.coined }

// libraryNames are what libraries export: Go's own, taken from its list of its interface;
// cobra, pflag, testify, lipgloss and a few small ones, taken from their source; and, in
// the last paragraph, some names of go-git, bubbletea, bubbles, huh and posthog-go. That
// paragraph was written by hand with the needed names of half 1 known, and without a look
// at those of half 2. The product's list is shorter.
//
//go:embed libraries.txt
var libraryNames string

var libraries = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(libraryNames) {
		out[name] = true
	}
	return out
})

// library reports a name of a library that the project has not given to something of
// its own as well.
func (c *compaction) library(name string) bool {
	if !libraries()[name] && !extract.Library(name) {
		return false
	}
	i := c.rec.Name([]byte(name))
	return i < 0 || !c.rec.Own(i)
}

// pieces walks a part of the session.
func (c *compaction) pieces(from, to int64, fn func(p *transcript.Event)) {
	_, err := transcript.Events(context.Background(), bytes.NewReader(c.data[from:to]), from, c.host, transcript.Want{}, fn)
	if err != nil {
		panic(err) // bytes in memory
	}
}

func eachName(raw []byte, fn func(extract.Name)) {
	s := extract.NameScan{Text: raw, Escaped: true}
	for n, ok := s.Next(); ok; n, ok = s.Next() {
		fn(n)
	}
}

// tally is how often a name stood in tool inputs and elsewhere, and where last.
type tally struct {
	typed, heard int
	last         int64
}

// measure finds what was known before the compaction and needed after it, and
// reads the slice for the texts that are compared.
func (c *compaction) measure() {
	known := map[string]*tally{}
	var texts strings.Builder
	var order []string
	read := map[transcript.CallID]string{}
	content := map[string]string{}
	c.rec = handover.NewRecord(c.cwd)
	c.pieces(c.from, c.to, func(p *transcript.Event) {
		c.rec.Add(p, p.Off-c.from)
		text := p.Text()
		texts.WriteString(text + "\n")
		if p.Kind == transcript.UserSaid && p.How == transcript.Typed {
			c.asked = text
		}
		if p.Kind == transcript.ToolBegan {
			if d := host.Recorded(p.Tool, p.Raw); d.Kind == host.ReadDeed && len(d.Files) == 1 {
				read[p.ID] = d.Files[0]
			}
		} else if f := read[p.ID]; p.Kind == transcript.ToolEnded && f != "" {
			order = append(slices.DeleteFunc(order, func(o string) bool { return o == f }), f)
			content[f] = text
		}
		seen := map[string]bool{}
		p.Strings(func(_ string, inner transcript.Inner) {
			eachName(inner.Escaped(), func(n extract.Name) {
				name := string(n.Base)
				t := known[name]
				if t == nil {
					t = &tally{}
					known[name] = t
				}
				t.last = p.Off
				if !seen[name] {
					seen[name] = true
					if p.Kind == transcript.ToolBegan {
						t.typed++
					} else {
						t.heard++
					}
				}
			})
		})
	})
	all := texts.String()
	c.known, c.tail = len(known), all[max(0, len(all)-64<<10):]
	for _, f := range order[max(0, len(order)-5):] {
		c.files += content[f] + "\n"
	}
	c.rank(known)
	c.need(known)
}

// rank orders the names that the summary lacks by the crude rule: (3 × uses in
// tool inputs + mentions) × recency.
func (c *compaction) rank(known map[string]*tally) {
	score := func(n string) float64 {
		t := known[n]
		recency := (1 + 2*float64(t.last-c.from)/float64(max(1, c.to-c.from))) / 3
		return float64(3*t.typed+t.heard) * recency
	}
	for n := range known {
		if !extract.States(c.summary, n) {
			c.crude = append(c.crude, n)
		}
	}
	slices.SortFunc(c.crude, func(a, b string) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), strings.Compare(a, b))
	})
}

// need collects the names that a tool input used after the compaction without
// having been told them again.
func (c *compaction) need(known map[string]*tally) {
	var told strings.Builder
	seen := map[string]bool{}
	c.pieces(c.after, c.end, func(p *transcript.Event) {
		switch p.Kind {
		case transcript.ToolBegan:
			before := "" // what an edit replaces
			p.Strings(func(key string, inner transcript.Inner) {
				if key == "old_string" {
					before += string(inner.Escaped())
				}
			})
			p.Strings(func(key string, whole transcript.Inner) {
				inner := whole.Escaped()
				writes := key == "new_string" || key == "content" // a search for func readRows defines nothing
				eachName(inner, func(n extract.Name) {
					name := string(n.Base)
					if known[name] != nil && !seen[name] && !extract.States(told.String(), name) {
						coined := writes && (n.Defined || assigned(inner[cap(inner)-cap(n.Base)+len(name):])) && !extract.States(before, name)
						c.needed = append(c.needed, need{name, n.Path, c.library(name), coined})
					}
					seen[name] = true
				})
			})
			told.WriteString(p.Text() + "\n")
		case transcript.ToolEnded, transcript.UserSaid:
			told.WriteString(p.Text() + "\n")
		}
	})
}

// assigned reports whether the name before this text gets a value for the first time.
func assigned(rest []byte) bool {
	line, _, _ := strings.Cut(string(rest), `\n`)
	others, _, ok := strings.Cut(line, ":=")
	others = strings.TrimSpace(others)
	return ok && (others == "" || others[0] == ',' && !strings.ContainsAny(others, "({["))
}

// covered counts the needed names that one of the texts states literally.
func (c *compaction) covered(kind func(need) bool, texts ...string) (n, of int) {
	for _, name := range c.needed {
		if kind != nil && !kind(name) {
			continue
		}
		of++
		if slices.ContainsFunc(texts, func(t string) bool { return extract.States(t, name.text) }) {
			n++
		}
	}
	return n, of
}

// crudeList is the crude list, cut at n characters.
func (c *compaction) crudeList(n int) string {
	var b strings.Builder
	for _, name := range c.crude {
		if b.Len()+len(name)+2 > n {
			break
		}
		b.WriteString(name + ", ")
	}
	return b.String()
}

// floor is the last n characters that were said.
func (c *compaction) floor(n int) string { return c.tail[max(0, len(c.tail)-n):] }

// handover is ours, written as the product writes it.
func (c *compaction) handover(room int) handover.Handover {
	return handover.Handover{
		ID: compact.PacketID(c.name, 1), Session: c.name, Record: c.rec, Work: c.rec.Work(),
		Summary: c.summary, Room: room, Lang: message.EN,
	}
}

// part is one section of it.
func (c *compaction) part(name string) string {
	for _, p := range c.handover(0).Parts() {
		if p.Name == name {
			return p.Text
		}
	}
	return ""
}

// index reads a session's compactions.
func index(name string, data []byte) (*transcript.Session, error) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, err
	}
	return transcript.Read(context.Background(), file)
}

// recorded cuts a session at its compactions. Those without a summary that can
// be read, and those at the start of a file, have nothing to measure.
func recorded(name string, data []byte) ([]*compaction, error) {
	s, err := index(name, data)
	if err != nil {
		return nil, err
	}
	var list []*compaction
	for i, k := range s.Compactions {
		c := &compaction{name: short(name), host: s.Host, cwd: s.CWD, data: data, to: s.Entries[k.Entry].Off, after: k.End, end: int64(len(data))}
		if len(s.Compactions) > 1 {
			c.name += fmt.Sprintf(".%d", i+1)
		}
		if i > 0 {
			c.from = s.Compactions[i-1].End
		}
		if i+1 < len(s.Compactions) {
			c.end = s.Entries[s.Compactions[i+1].Entry].Off
		}
		c.pieces(c.after, c.end, func(p *transcript.Event) {
			if c.summary == "" && p.Kind == transcript.Summarised {
				c.summary = p.Text()
			}
		})
		if c.from == c.to || c.summary == "" {
			continue
		}
		if c.measure(); c.known > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// cut makes cases of places where nothing was compacted: what the agent went on
// to use, without a summary. They are many, of many projects and both hosts.
func cut(name string, data []byte) ([]*compaction, error) {
	s, err := index(name, data)
	if err != nil || len(s.Entries) == 0 {
		return nil, err
	}
	var list []*compaction
	for _, share := range []int{40, 60, 80} {
		at := s.Entries[len(s.Entries)*share/100].Off
		c := &compaction{name: fmt.Sprintf("%s@%d", short(name), share), host: s.Host, cwd: s.CWD, data: data, to: at, after: at, end: int64(len(data))}
		for _, k := range s.Compactions {
			if k.End <= at {
				c.from = k.End
			} else {
				c.end = min(c.end, s.Entries[k.Entry].Off)
			}
		}
		if c.to-c.from < 100<<10 {
			continue // too short to forget anything
		}
		c.measure()
		if len(c.needed) > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

func short(name string) string { return name[:min(9, len(name))] }
