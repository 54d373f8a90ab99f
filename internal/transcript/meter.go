package transcript

import (
	"bytes"
	"context"
	"io"
)

// Point is one request of the main thread: when it was answered, and what it used.
type Point struct {
	Time int64 // Unix milliseconds, 0 when absent
	Usage
}

// Meter follows how full the context of a session was over time. A file that grows
// is read on from where the last look ended.
type Meter struct {
	Host Host
	// Points are the requests in the order of the file; the lines of one message
	// are one request.
	Points []Point
	// Compactions are those of the main thread; Entry and Line are not filled in.
	// At says how many points stand before each of them.
	Compactions []Compaction
	At          []int
	// Packets are the ids of hand-overs that stand in the file.
	Packets map[string]bool

	read    int64
	message key // of the last point
}

// packetMark begins a hand-over, as it stands in JSON.
var packetMark = []byte(`<overtone-packet id=\"`)

// Read brings the meter up to date with the file. One that became shorter is
// another one and is read anew. Only whole lines count.
func (m *Meter) Read(ctx context.Context, path string) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size < m.read {
		*m = Meter{}
	}
	if m.Host == "" {
		if m.Host, err = hostIn(f); err != nil {
			return err
		}
	}
	lr := newLineReader(io.NewSectionReader(f, m.read, size-m.read))
	lr.off = m.read
	var r record
	for n := 0; ; n++ {
		if n&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ln, ok := lr.next()
		if !ok || !ln.newline {
			return lr.err
		}
		m.read = ln.off + ln.size
		m.line(&r, ln)
	}
}

func (m *Meter) line(r *record, ln line) {
	for rest := ln.b; ; {
		i := bytes.Index(rest, packetMark)
		if i < 0 {
			break
		}
		rest = rest[i+len(packetMark):]
		if j := bytes.IndexByte(rest, '\\'); j > 0 && j < 128 {
			if m.Packets == nil {
				m.Packets = map[string]bool{}
			}
			m.Packets[string(rest[:j])] = true
		}
	}
	if !bytes.Contains(ln.b, []byte(`"usage"`)) && !bytes.Contains(ln.b, []byte(`"token_count"`)) &&
		!bytes.Contains(ln.b, []byte(`"isCompactSummary"`)) && !compactLine(ln.b) {
		return
	}
	if !r.parse(bytes.TrimPrefix(bytes.TrimSuffix(ln.b, []byte("\r")), bom), m.Host) || r.has(Sidechain) {
		return
	}
	switch {
	case r.kind == Boundary, r.kind == User && r.has(Summary) && len(r.parent) == 0:
		m.Compactions = append(m.Compactions, Compaction{Time: r.Time, End: m.read, Trigger: r.Trigger, PreTokens: r.Pre})
		m.At = append(m.At, len(m.Points))
		m.message = key{}
	default:
		u, ok := r.size()
		if !ok {
			return
		}
		id := key{}
		if len(r.msgID) > 0 {
			id = keyOf(r.msgID)
		}
		if n := len(m.Points); n > 0 && id != (key{}) && id == m.message {
			m.Points[n-1].Usage = u
			return
		}
		m.message = id
		m.Points = append(m.Points, Point{Time: r.Time, Usage: u})
	}
}
