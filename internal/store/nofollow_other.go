//go:build !unix

package store

import (
	"errors"
	"fmt"
	"io"
)

// openFlags is empty where making a link takes privileges and open has no flag
// to refuse one.
const openFlags = 0

// readFile reads a plain file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("read %s: %w: over %d bytes", path, errTooLarge, limit)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return data[:n], nil
}
