package transcript

import (
	"bytes"
	"context"
	"io"

	"github.com/seed-6d03985f/overtone/internal/store"
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
	lines, done := store.ReadLines(interruptible{ctx, io.NewSectionReader(f, p.read, size-p.read)}, p.read)
	defer done()
	for {
		ln, ok := lines.Next()
		if !ok || !ln.Ended {
			return lines.Err
		}
		p.read = lines.Off
		for rest := ln.B; ; {
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
