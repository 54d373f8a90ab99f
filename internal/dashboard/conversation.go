package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// piece is one thing that was said or done in a conversation.
type piece struct {
	Off  int64  `json:"off"` // where its line begins
	N    int    `json:"n"`   // among the pieces of its line
	Time string `json:"ts,omitempty"`
	Kind string `json:"kind"`
	How  string `json:"how,omitempty"` // of the user's words
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"` // its beginning, without secrets
	Cut  int    `json:"cut,omitempty"`
	Bad  bool   `json:"bad,omitempty"` // a tool that failed or was refused
	// Of a compaction; empty where the file does not tell.
	Trigger string `json:"trigger,omitempty"`
	Before  int64  `json:"before,omitempty"`
	After   int64  `json:"after,omitempty"`

	end int64 // of its line
}

// conversation is a page of pieces, the oldest first. From is where it begins: what came
// before ends there, and 0 is the beginning of the session. What follows begins at To;
// More says that there is something. Total counts what a search found.
type conversation struct {
	Schema int     `json:"schema"`
	From   int64   `json:"from"`
	To     int64   `json:"to"`
	More   bool    `json:"more"`
	Total  int     `json:"total,omitempty"`
	Pieces []piece `json:"pieces"`
}

const (
	// maxPieces are on a page, maxPiece characters of each; the whole of one is asked for
	// by itself.
	maxPieces = 150
	maxPiece  = 3000
	// windowSize is how much of the file is read for a page, at first.
	windowSize = 256 << 10
)

var kinds = map[transcript.EventKind]string{
	transcript.UserSaid: "user", transcript.HostSaid: "host", transcript.AgentSaid: "agent", transcript.ToolBegan: "call", transcript.ToolEnded: "result",
	transcript.Compacted: "compacted", transcript.Summarised: "summary", transcript.Interrupted: "interrupted", transcript.Thought: "thought",
}

var hows = map[transcript.How]string{
	transcript.Queued: "queued", transcript.Answered: "answered", transcript.Rejected: "rejected", transcript.WithCompact: "compact", transcript.Aimed: "goal", transcript.Approved: "plan",
}

// conversation answers with the newest pieces, those before or from a place on, all of the
// line at one, or those that hold words.
func (s *Server) conversation(r *http.Request) (any, error) {
	sub, q, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	if sub.file == nil {
		return nil, errNotFound
	}
	f, err := os.Open(sub.file.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if words := strings.Fields(strings.ToLower(q.Get("q"))); len(words) > 0 {
		return search(r.Context(), sub.file.Path, words)
	}
	if at, ok := place(f, q.Get("at"), size); ok {
		end, err := lineAt(f, at+1)
		if err != nil {
			return nil, err
		}
		return read(r.Context(), sub.file.Path, at, end, maxShown, false)
	}
	from, forward := place(f, q.Get("from"), size)
	before, ok := place(f, q.Get("before"), size)
	if !ok {
		before = size
	}
	for window := int64(windowSize); ; window *= 4 {
		start, end := max(0, before-window), before
		if forward {
			start, end = from, min(size, from+window)
			end, err = lineAt(f, end)
		}
		if err == nil {
			start, err = lineAt(f, start)
		}
		if err != nil {
			return nil, err
		}
		c, err := read(r.Context(), sub.file.Path, start, end, maxPiece, !forward)
		c.More = c.More || end < size
		if err != nil || len(c.Pieces) >= 20 || forward && end >= size || !forward && start == 0 {
			return c, err
		}
	}
}

// place is an offset in a file, as an address names it: in bytes, or as a line, L1 the first.
func place(f *os.File, name string, size int64) (int64, bool) {
	if line, ok := strings.CutPrefix(name, "L"); ok {
		n, err := strconv.Atoi(line)
		in, off := bufio.NewReader(io.NewSectionReader(f, 0, size)), int64(0)
		for ; err == nil && n > 1; n-- {
			var part []byte
			for more := true; more; off += int64(len(part)) {
				part, err = in.ReadSlice('\n')
				more = errors.Is(err, bufio.ErrBufferFull)
			}
		}
		return off, err == nil && n == 1 && off < size
	}
	off, err := strconv.ParseInt(name, 10, 64)
	return off, err == nil && off >= 0 && off <= size
}

// lineAt is where the first line begins that does not begin before an offset.
func lineAt(f io.ReaderAt, off int64) (int64, error) {
	if off == 0 {
		return 0, nil
	}
	buf := make([]byte, 64<<10)
	for off--; ; {
		n, err := f.ReadAt(buf, off)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return off + int64(i) + 1, nil
		}
		if off += int64(n); errors.Is(err, io.EOF) {
			return off, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// read takes the pieces of the lines from start to end: where there are too many, the
// newest or the oldest of them.
func read(ctx context.Context, path string, start, end int64, most int, newest bool) (conversation, error) {
	c := conversation{Schema: 2, From: start, To: start, Pieces: []piece{}}
	if start >= end {
		return c, nil
	}
	err := transcript.EventsIn(ctx, path, start, end, transcript.Want{Thoughts: true}, func(e *transcript.Event) {
		if p, ok := pieceOf(e, most); ok {
			if n := len(c.Pieces); n > 0 && c.Pieces[n-1].Off == p.Off {
				p.N = c.Pieces[n-1].N + 1
			}
			c.Pieces = append(c.Pieces, p)
		}
	})
	// A page begins and ends with a line, of which none of its pieces is left out.
	if n := len(c.Pieces) - maxPieces; n > 0 {
		if !newest {
			n = maxPieces
		}
		for n > 0 && c.Pieces[n].Off == c.Pieces[n-1].Off {
			n--
		}
		if newest {
			c.From, c.Pieces = c.Pieces[n].Off, c.Pieces[n:]
		} else if n > 0 {
			c.Pieces, c.More = c.Pieces[:n], true
		}
	}
	if n := len(c.Pieces); n > 0 {
		c.To = c.Pieces[n-1].end
	}
	return c, err
}

// pieceOf is an event as it is shown, if it is; most bounds its text.
func pieceOf(e *transcript.Event, most int) (piece, bool) {
	kind, text := kinds[e.Kind], ""
	if kind != "" {
		text = e.Text()
	}
	if kind == "" || kind == "thought" && text == "" {
		return piece{}, false
	}
	p := piece{
		Off: e.Off, end: e.End, Kind: kind, Tool: e.Tool, Text: message.Cut(redact.Start(text, most), most), Bad: e.Failed || e.Refused,
		Trigger: e.Trigger, Before: e.Pre, After: e.Post,
	}
	if p.Kind == "user" {
		p.How = hows[e.How]
	}
	if e.Time > 0 {
		p.Time = workflow.Stamp(transcript.Time(e.Time))
	}
	if n := message.Units(text); n > most {
		p.Cut = n
	}
	return p, true
}

// search takes the newest pieces of a whole session that hold all words, which are in small
// letters, with what stands around the first of them.
func search(ctx context.Context, path string, words []string) (conversation, error) {
	c := conversation{Schema: 2, Pieces: []piece{}}
	line, n := int64(-1), 0
	err := transcript.EventsIn(ctx, path, 0, math.MaxInt64, transcript.Want{Thoughts: true}, func(e *transcript.Event) {
		text := e.Text()
		if kinds[e.Kind] == "" || e.Kind == transcript.Thought && text == "" {
			return
		}
		if n++; e.Off != line {
			line, n = e.Off, 0
		}
		text = strings.ToLower(e.Tool + "\n" + text)
		for _, w := range words {
			if !strings.Contains(text, w) {
				return
			}
		}
		if p, ok := pieceOf(e, maxShown); ok {
			at := strings.Index(strings.ToLower(p.Text), words[0])
			from := min(max(0, at-150), len(p.Text))
			p.Cut, p.Text = 0, message.Short(strings.ToValidUTF8(p.Text[from:], ""), 400)
			if from > 0 {
				p.Text = "…" + p.Text
			}
			c.Total++
			p.N = n
			c.Pieces = append(c.Pieces, p)
		}
		if len(c.Pieces) > maxPieces {
			c.Pieces = c.Pieces[1:]
		}
	})
	return c, err
}
