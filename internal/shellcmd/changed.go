package shellcmd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Bounds of a look at a working tree.
const (
	maxIndex   = 16 << 20
	maxTracked = 50_000
)

// Changed lists the tracked files of the repository around dir that differ from
// its index and were written since a time: what commands, formatters and
// generators changed as well as tools. Git is not asked, its index is read: sizes
// and times are compared, not contents, as git itself does first. A large or
// unknown index, or one that takes longer than patience, gives what was found.
func Changed(dir string, since time.Time, patience time.Duration) []string {
	root, index, err := readIndex(dir)
	if err != nil {
		return nil
	}
	//nolint:forbidigo // how long a look at files takes is no part of what it sees
	deadline := time.Now().Add(patience)
	var files []string
	n := 0
	eachTracked(index, func(e tracked) bool {
		if n++; n > maxTracked || n%256 == 0 && time.Now().After(deadline) { //nolint:forbidigo // as above
			return false
		}
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(e.path)))
		if err != nil || !info.Mode().IsRegular() {
			return true
		}
		at := info.ModTime()
		same := uint32(info.Size()) == e.size && uint32(at.Unix()) == e.seconds && (e.nanos == 0 || uint32(at.Nanosecond()) == e.nanos)
		if !same && !at.Before(since) {
			files = append(files, filepath.Join(root, filepath.FromSlash(e.path)))
		}
		return true
	})
	return files
}

// readIndex finds the working tree around dir and reads its index.
func readIndex(dir string) (root string, index []byte, err error) {
	gitDir, err := findGitDir(dir)
	if err != nil {
		return "", nil, err
	}
	root = dir
	for {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", nil, errNoRepo
		}
		root = parent
	}
	index, err = readSmall(filepath.Join(gitDir, "index"), maxIndex)
	if err == nil && len(index) >= maxIndex {
		err = errors.ErrUnsupported
	}
	return root, index, err
}

// tracked is an entry of the index, as far as it is compared.
type tracked struct {
	path                 string
	seconds, nanos, size uint32
}

// eachTracked walks an index of version 2, 3 or 4 with SHA-1 names; anything else
// ends it.
func eachTracked(b []byte, fn func(tracked) bool) {
	const (
		header   = 12
		fixed    = 62 // up to and with the flags
		extended = 0x4000
	)
	if len(b) < header || string(b[:4]) != "DIRC" {
		return
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return
	}
	at, path := header, []byte(nil)
	for range count {
		if len(b) < at+fixed {
			return
		}
		e := b[at:]
		t := tracked{seconds: binary.BigEndian.Uint32(e[8:]), nanos: binary.BigEndian.Uint32(e[12:]), size: binary.BigEndian.Uint32(e[36:])}
		name := fixed
		if binary.BigEndian.Uint16(e[60:])&extended != 0 {
			name += 2
		}
		if name > len(e) {
			return
		}
		if version == 4 {
			strip, n := stripLength(e[name:])
			name += n
			if n == 0 || strip > len(path) {
				return
			}
			path = path[:len(path)-strip]
		} else {
			path = path[:0]
		}
		end := bytes.IndexByte(e[name:], 0)
		if end < 0 {
			return
		}
		path = append(path, e[name:name+end]...)
		if t.path = string(path); !fn(t) {
			return
		}
		at += name + end + 1
		if version < 4 {
			// Entries are padded with one to eight zeros.
			size := name + end
			at += (size/8+1)*8 - size - 1
		}
	}
}

// stripLength reads how much of the last path an entry of version 4 drops.
func stripLength(b []byte) (n, read int) {
	for read < len(b) && read < 5 {
		c := b[read]
		read++
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, read
		}
		n++
	}
	return 0, 0
}
