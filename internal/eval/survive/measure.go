package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/eval/situation"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// compaction is one recorded compaction: the slice before it, what its host kept, and
// what the agent did after it.
type compaction struct {
	name  string
	of    samples.Session
	host  transcript.Host
	data  []byte
	from  int64 // the slice that was compacted: [from, to)
	to    int64
	after int64 // what followed: [after, end)
	end   int64

	hand   handover.Handover
	text   string // of hand
	kept   string // what can be read of what the host put in the slice's place
	known  int
	needed []need
	tail   string // the end of the slice's texts
	asked  string // what the user typed last
}

// need is a name that the agent used from memory.
type need struct {
	text string
	path bool
	own  bool // no session of another owner's projects holds it
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

// measure finds what was known before the compaction and needed after it.
func (c *compaction) measure() {
	known := map[string]bool{}
	var texts strings.Builder
	c.pieces(c.from, c.to, func(p *transcript.Event) {
		texts.WriteString(p.Text() + "\n")
		if p.Kind == transcript.UserSaid && p.How == transcript.Typed {
			c.asked = p.Text()
		}
		if p.Kind != transcript.HostSaid && p.Kind != transcript.Summarised { // those come anew
			p.Strings(func(_ string, inner transcript.Inner) {
				eachName(inner.Escaped(), func(n extract.Name) { known[string(n.Base)] = true })
			})
		}
	})
	all := texts.String()
	c.known, c.tail = len(known), all[max(0, len(all)-64<<10):]
	c.need(known)
}

// need collects the names that a tool's input used after the compaction without having
// been told them again, and without coining them.
func (c *compaction) need(known map[string]bool) {
	var told strings.Builder
	seen := map[string]bool{}
	c.pieces(c.after, c.end, func(p *transcript.Event) {
		switch p.Kind {
		case transcript.ToolBegan:
			before, text := "", p.Text() // what an edit replaces, or a patch leaves
			p.Strings(func(key string, inner transcript.Inner) {
				if key == "old_string" {
					before += string(inner.Escaped())
				}
			})
			patch := strings.Contains(text, "*** Begin Patch")
			if patch {
				before = unadded(text)
			}
			p.Strings(func(key string, whole transcript.Inner) {
				inner := whole.Escaped()
				writes := patch || key == "new_string" || key == "content" // a search for func readRows defines nothing
				eachName(inner, func(n extract.Name) {
					name := string(n.Base)
					if known[name] && !seen[name] && !extract.States(told.String(), name) &&
						!(writes && (n.Defined || assigned(inner[cap(inner)-cap(n.Base)+len(name):])) && !extract.States(before, name)) {
						c.needed = append(c.needed, need{text: name, path: n.Path})
					}
					seen[name] = true
				})
			})
			told.WriteString(text + "\n")
		case transcript.ToolEnded, transcript.UserSaid:
			told.WriteString(p.Text() + "\n")
		}
	})
}

// unadded is what a patch does not add.
func unadded(patch string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(patch, `\n`, "\n")) {
		if !strings.HasPrefix(line, "+") {
			b.WriteString(line)
		}
	}
	return b.String()
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

// floor is the last n characters that were said.
func (c *compaction) floor(n int) string { return c.tail[max(0, len(c.tail)-n):] }

// part is one section of the hand-over.
func (c *compaction) part(name string) string {
	for _, p := range c.hand.Parts() {
		if p.Name == name {
			return p.Text
		}
	}
	return ""
}

// index reads a session, and where its compactions are.
func index(dir string, of samples.Session, data []byte) (*situation.Session, *transcript.Session, error) {
	name := samples.Name(of.Path)
	s, err := situation.NewSession(dir, name, data)
	if err != nil {
		return nil, nil, err
	}
	read, err := transcript.Read(context.Background(), s.Path)
	return s, read, err
}

// recorded cuts a session at its compactions. Those at the start of a file have nothing
// to measure.
func recorded(dir string, of samples.Session, data []byte) (list []*compaction, err error) {
	s, read, err := index(dir, of, data)
	if err != nil {
		return nil, err
	}
	for i, k := range read.Compactions {
		c := &compaction{name: short(s.Name), of: of, host: read.Host, data: data, to: read.Entries[k.Entry].Off, after: k.End, end: int64(len(data))}
		if len(read.Compactions) > 1 {
			c.name += fmt.Sprintf(".%d", i+1)
		}
		if i > 0 {
			c.from = read.Compactions[i-1].End
		}
		if i+1 < len(read.Compactions) {
			c.end = read.Entries[read.Compactions[i+1].Entry].Off
		}
		c.hand = s.HandOver(c.to, true, message.EN)
		c.kept, c.text = c.hand.Summary+"\n"+c.hand.Kept, c.hand.Text()
		if c.measure(); c.known > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// cut makes cases of places where nothing was compacted: what the agent went on to use,
// without a summary. They are many, of more projects.
func cut(dir string, of samples.Session, data []byte) (list []*compaction, err error) {
	s, read, err := index(dir, of, data)
	if err != nil || len(read.Entries) == 0 {
		return nil, err
	}
	for _, share := range []int{40, 60, 80} {
		at := read.Entries[len(read.Entries)*share/100].Off
		c := &compaction{name: fmt.Sprintf("%s@%d", short(s.Name), share), of: of, host: read.Host, data: data, to: at, after: at, end: int64(len(data))}
		for _, k := range read.Compactions {
			if k.End <= at {
				c.from = k.End
			} else {
				c.end = min(c.end, read.Entries[k.Entry].Off)
			}
		}
		if c.to-c.from < 100<<10 {
			continue // too short to forget anything
		}
		c.hand = s.HandOver(at, false, message.EN)
		c.text = c.hand.Text()
		if c.measure(); len(c.needed) > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// claim tells the needed names that no other owner's sessions hold from what everybody
// uses: a language's library, the fields of a public API.
func claim(list []*compaction, sessions []samples.Session) error {
	owners := map[string]map[string]bool{}
	for _, c := range list {
		for _, n := range c.needed {
			owners[n.text] = map[string]bool{}
		}
	}
	for _, s := range sessions {
		data, err := samples.Read(s.Path)
		if err != nil {
			return err
		}
		eachName(data, func(n extract.Name) {
			if o := owners[string(n.Base)]; o != nil {
				o[owner(s)] = true
			}
		})
	}
	for _, c := range list {
		for i, n := range c.needed {
			o := owners[n.text]
			c.needed[i].own = len(o) == 0 || len(o) == 1 && o[owner(c.of)]
		}
	}
	return nil
}

func owner(s samples.Session) string { o, _, _ := strings.Cut(s.Project, "/"); return o }

// short is a session's name without its project and host.
func short(name string) string {
	name = name[strings.LastIndexByte(name, '_')+1:]
	return name[:min(8, len(name))]
}
