package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Reason is one line of a hand-over with the records that it was written from. They are
// looked for in the session's file, independently of who wrote the line: one that finds
// none claims something that nobody has said. Lines of the frame have nil.
type Reason struct {
	Line     string     `json:"line"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a record of the session's file.
type Evidence struct {
	UUID string    `json:"uuid,omitempty"` // "" where the host's records have none
	Off  int64     `json:"offset"`         // where its line begins
	At   time.Time `json:"time,omitzero"`
	Kind string    `json:"kind"` // user, agent, call, result, interrupted
	Tool string    `json:"tool,omitempty"`
	Said string    `json:"said"`
}

// Why finds the evidence for each line of the hand-over.
func (s Survey) Why(ctx context.Context) ([]Reason, error) {
	var list []*claim
	for i, part := range s.Parts {
		if i > 0 {
			list = append(list, &claim{frame: true})
		}
		list = append(list, claims(part.Name, part.Text)...)
	}
	err := transcript.AllEvents(ctx, s.path, func(p *transcript.Event) {
		if p.Off < s.to {
			hear(list, p)
		}
	})
	out := make([]Reason, len(list))
	for i, c := range list {
		out[i] = Reason{c.line, c.evidence()}
	}
	return out, err
}

// claim is a line of a hand-over, and what has to stand in a record for it.
type claim struct {
	line    string
	frame   bool // it says nothing of the session
	needles []needle
	last    bool // the newest record is what it was written from
	newest  Evidence
}

// needle is a text that is looked for, with the newest record of each kind that has it.
type needle struct {
	text  string
	name  bool // a whole word
	order []transcript.EventKind
	found map[transcript.EventKind]Evidence
}

// claims are the lines of a section that say something of the session.
func claims(section, text string) []*claim {
	user := []transcript.EventKind{transcript.UserSaid, transcript.AgentSaid, transcript.ToolBegan, transcript.ToolEnded}
	agent := []transcript.EventKind{transcript.AgentSaid, transcript.ToolBegan, transcript.ToolEnded, transcript.UserSaid}
	tool := []transcript.EventKind{transcript.ToolBegan, transcript.ToolEnded, transcript.AgentSaid, transcript.UserSaid}
	order, known := map[string][]transcript.EventKind{"words": user, "state": agent, "directive": agent}[section]
	if !known {
		order = tool
	}
	var out []*claim
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		more := section == "words" && !strings.Contains(line, "“") // how many others there are
		c := &claim{line: line, frame: section == "header" || section == "recall" || line == "" || more || strings.HasPrefix(line, "## ")}
		if out = append(out, c); c.frame {
			continue
		}
		quotes, names := quotesIn(line), namesIn(line)
		c.last = section == "directive" || section == "state" && len(quotes) == 0
		switch {
		case section == "names":
			quotes, names = nil, names[:min(3, len(names))] // of a list, the best are enough
		case len(quotes) > 0 || section == "directive":
			names = nil
		}
		for _, q := range quotes {
			c.needles = append(c.needles, needle{text: q, order: order})
		}
		for _, name := range names {
			c.needles = append(c.needles, needle{text: name, name: true, order: tool})
		}
	}
	return out
}

// quotesIn are what stands in quotation marks and backticks in a line, without the marks
// of what was left out.
func quotesIn(line string) []string {
	var out []string
	for rest := line; ; {
		i := strings.IndexAny(rest, "“`")
		if i < 0 {
			return out
		}
		open, end := "“", "”"
		if rest[i] == '`' {
			open, end = "`", "`"
		}
		var q string
		q, rest, _ = strings.Cut(rest[i+len(open):], end)
		best := ""
		for piece := range strings.SplitSeq(strings.ReplaceAll(q, "[…]", "…"), "…") {
			if piece = strings.TrimSpace(piece); len(piece) > len(best) {
				best = piece
			}
		}
		if best != "" {
			out = append(out, plain(best))
		}
	}
}

// namesIn are the names of a line, the file's first.
func namesIn(line string) []string {
	var out []string
	scan := extract.NameScan{Text: []byte(line)}
	for n, ok := scan.Next(); ok; n, ok = scan.Next() {
		out = append(out, string(n.Base))
	}
	return out
}

// plain is a text as it is compared: hand-overs write on one line, without the marks that
// could close their quotes, and without emphasis.
func plain(text string) string {
	return message.OneLine(strings.NewReplacer("“", `"`, "”", `"`, "‹", "<", "**", "", "`", "'").Replace(text))
}

func hear(list []*claim, p *transcript.Event) {
	kind := p.Kind
	name, tells := map[transcript.EventKind]string{
		transcript.UserSaid: "user", transcript.AgentSaid: "agent", transcript.ToolBegan: "call", transcript.ToolEnded: "result", transcript.Interrupted: "interrupted",
	}[kind]
	if !tells {
		return
	}
	text := p.Text()
	if kind == transcript.AgentSaid {
		text = extract.Undirected(text)
	}
	text = plain(redact.Clean(text)) // as the hand-over has it
	e := Evidence{UUID: string(p.UUID), Off: p.Off, Kind: name, Tool: p.Tool}
	if p.Time > 0 {
		e.At = transcript.Time(p.Time).UTC()
	}
	for _, c := range list {
		for i := range c.needles {
			n := &c.needles[i]
			where := strings.Index(text, n.text)
			if where < 0 || !slices.Contains(n.order, kind) || n.name && !extract.States(text, n.text) {
				continue
			}
			if n.found == nil {
				n.found = map[transcript.EventKind]Evidence{}
			}
			e.Said = around(text, where, len(n.text))
			n.found[kind] = e
		}
		if c.last {
			c.newest, c.newest.Said = e, message.Tail(text, said)
		}
	}
}

// said is how much of a record is shown.
const said = 160

// around is a part of a text with what stands beside it.
func around(text string, at, size int) string {
	if size >= said {
		return message.Short(text[at:at+size], said)
	}
	return message.Tail(text[:at], 40) + message.Short(text[at:], said-40)
}

// evidence is one record for each thing that is looked for, each record once.
func (c *claim) evidence() []Evidence {
	if c.frame {
		return nil
	}
	out := []Evidence{}
	for _, n := range c.needles {
		for _, kind := range n.order {
			e, ok := n.found[kind]
			if !ok {
				continue
			}
			if !slices.ContainsFunc(out, func(o Evidence) bool { return o.Off == e.Off && o.Kind == e.Kind }) {
				out = append(out, e)
			}
			break
		}
	}
	if c.last && c.newest.Kind != "" && len(out) == 0 {
		out = append(out, c.newest)
	}
	return out
}
