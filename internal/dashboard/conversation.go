package dashboard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// piece is one thing that was said or done in a conversation.
type piece struct {
	Off  int64  `json:"off"` // where its line begins
	Time string `json:"ts,omitempty"`
	Kind string `json:"kind"`
	How  string `json:"how,omitempty"` // of the user's words
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"` // its beginning, without secrets
	Cut  int    `json:"cut,omitempty"`
	Bad  bool   `json:"bad,omitempty"` // a tool that failed or was refused
}

// conversation is a page of pieces, the oldest first. From is where it begins: what came
// before ends there. 0 is the beginning of the session.
type conversation struct {
	Schema int     `json:"schema"`
	From   int64   `json:"from"`
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
	transcript.Compacted: "compacted", transcript.Summarised: "summary", transcript.Interrupted: "interrupted",
}

var hows = map[transcript.How]string{
	transcript.Queued: "queued", transcript.Answered: "answered", transcript.Rejected: "rejected", transcript.WithCompact: "compact", transcript.Aimed: "goal", transcript.Approved: "plan",
}

// conversation answers with the pieces before an offset, or with all of the line at one.
func (s *Server) conversation(r *http.Request) (any, error) {
	q := r.URL.Query()
	sub, err := s.find(r.Context(), q.Get("id"))
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
	if at, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil && at >= 0 && at < info.Size() {
		c, err := read(r.Context(), sub.file.Path, at, at+1, maxShown)
		return c, err
	}
	end := info.Size()
	if before, err := strconv.ParseInt(q.Get("before"), 10, 64); err == nil && before >= 0 && before < end {
		end = before
	}
	for window := int64(windowSize); ; window *= 4 {
		start, err := lineAt(f, max(0, end-window))
		if err != nil {
			return nil, err
		}
		c := conversation{Schema: 1, Pieces: []piece{}}
		if start < end {
			if c, err = read(r.Context(), sub.file.Path, start, end, maxPiece); err != nil {
				return nil, err
			}
		}
		if start == 0 || end <= window || len(c.Pieces) >= 20 {
			return c, nil
		}
	}
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

// read takes the pieces of the lines from start to end, the newest of them.
func read(ctx context.Context, path string, start, end int64, most int) (conversation, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := conversation{Schema: 1, From: start, Pieces: []piece{}}
	err := transcript.EventsFrom(ctx, path, start, func(e *transcript.Event) {
		kind := kinds[e.Kind]
		switch {
		case e.Off >= end:
			stop()
			return
		case kind == "":
			return
		}
		text := e.Text()
		p := piece{Off: e.Off, Kind: kind, Tool: e.Tool, Text: message.Cut(redact.Start(text, most), most), Bad: e.Failed || e.Refused}
		if p.Kind == "user" {
			p.How = hows[e.How]
		}
		if e.Time > 0 {
			p.Time = workflow.Stamp(transcript.Time(e.Time))
		}
		if n := message.Units(text); n > most {
			p.Cut = n
		}
		c.Pieces = append(c.Pieces, p)
	})
	if errors.Is(err, context.Canceled) && len(c.Pieces) > 0 {
		err = nil // the page is full
	}
	// A page begins with a line, of which none of its pieces is left out.
	if n := len(c.Pieces) - maxPieces; n > 0 {
		for n > 0 && c.Pieces[n].Off == c.Pieces[n-1].Off {
			n--
		}
		c.From, c.Pieces = c.Pieces[n].Off, c.Pieces[n:]
	}
	return c, err
}
