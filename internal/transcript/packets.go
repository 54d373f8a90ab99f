package transcript

import (
	"bytes"
	"context"
	"io"
)

// Packets finds the hand-overs that stand in a session's file. A file that grows is
// read on from where the last look ended.
type Packets struct {
	IDs map[string]bool

	read int64
}

// packetMark begins a hand-over, as it stands in JSON.
var packetMark = []byte(`<overtone-packet id=\"`)

// Read looks at what the file has gained. One that became shorter is another one and is
// read anew. Only whole lines count.
func (p *Packets) Read(ctx context.Context, path string) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size < p.read {
		*p = Packets{}
	}
	if _, err := hostIn(f); err != nil {
		return err
	}
	lr := newLineReader(io.NewSectionReader(f, p.read, size-p.read))
	lr.off = p.read
	for n := 0; ; n++ {
		if n&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ln, ok := lr.next()
		if !ok || !ln.newline {
			return lr.err
		}
		p.read = ln.off + ln.size
		for rest := ln.b; ; {
			i := bytes.Index(rest, packetMark)
			if i < 0 {
				break
			}
			rest = rest[i+len(packetMark):]
			if j := bytes.IndexByte(rest, '\\'); j > 0 && j < 128 {
				if p.IDs == nil {
					p.IDs = map[string]bool{}
				}
				p.IDs[string(rest[:j])] = true
			}
		}
	}
}
