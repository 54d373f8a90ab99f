package transcript

import (
	"io"
	"os"
	"sync"
)

// growing is a file that others read while it is written.
type growing struct {
	file *os.File
	more *sync.Cond
	size int64
	err  error // io.EOF once it is whole
}

func newGrowing(f *os.File) *growing { return &growing{file: f, more: sync.NewCond(new(sync.Mutex))} }

func (g *growing) Write(b []byte) (int, error) {
	n, err := g.file.Write(b)
	g.more.L.Lock()
	g.size += int64(n)
	g.more.L.Unlock()
	g.more.Broadcast()
	return n, err
}

// end tells the readers that nothing follows, or why nothing can.
func (g *growing) end(err error) {
	if err == nil {
		err = io.EOF
	}
	g.more.L.Lock()
	g.err = err
	g.more.L.Unlock()
	g.more.Broadcast()
}

// reader reads from the beginning, and waits for what is not there yet.
func (g *growing) reader() io.Reader { return &follower{g: g} }

type follower struct {
	g   *growing
	off int64
}

func (f *follower) Read(b []byte) (int, error) {
	f.g.more.L.Lock()
	for f.off == f.g.size && f.g.err == nil {
		f.g.more.Wait()
	}
	n, err := int(min(int64(len(b)), f.g.size-f.off)), f.g.err
	f.g.more.L.Unlock()
	if n == 0 {
		return 0, err
	}
	n, err = f.g.file.ReadAt(b[:n], f.off)
	f.off += int64(n)
	return n, err
}
