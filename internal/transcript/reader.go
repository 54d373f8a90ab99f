package transcript

import (
	"context"
	"os"
)

// Reader is a session with its file held open, for those who look at lines one
// by one.
type Reader struct {
	*Session
	file *os.File
}

// Open indexes a session and keeps its file open.
func Open(ctx context.Context, path string) (*Reader, error) {
	s, err := Read(ctx, path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Reader{s, f}, nil
}

// Line is the raw line of an entry.
func (r *Reader) Line(i int) ([]byte, error) { return r.Raw(r.file, i) }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }
