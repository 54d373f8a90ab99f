package store

import (
	"bytes"
	"errors"
	"io/fs"
)

// A journal holds versions of one small document, a line each; the last whole
// line counts. To append is a third of the cost of replacing a file, because the
// file system need not bring a new one into being, and hooks write on every step
// of a session. A killed process leaves the old or the new version: a line
// without its end is passed over.

// journalKeep is how many bytes, or how many times the newest line, a journal may
// hold before it is replaced by that line alone.
const (
	journalKeep  = 32 << 10
	journalLines = 8
)

// AppendVersion makes doc, which must hold no newline, the newest version in the
// journal of that name. It does not wait for the disk.
func (tx *Tx) AppendVersion(name string, doc []byte) error {
	if err := checkWritable(name); err != nil {
		return err
	}
	if bytes.IndexByte(doc, '\n') >= 0 {
		return errors.New("a version must be one line")
	}
	path := tx.s.path(name)
	line := append(bytes.Clone(tx.Clean(name, doc)), '\n')
	f, info, err := tx.s.home.openDerived(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size := info.Size()
	if size > max(journalKeep, journalLines*int64(len(line))) {
		return writeLoose(path, line)
	}
	_, err = appendWhole(f, size, line)
	return err
}

// Version returns the newest version in a journal; none is [fs.ErrNotExist]. A
// journal that cannot be read is set aside.
func (tx *Tx) Version(name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	data, err := lastVersion(tx.s.home.readDerived(tx.s.path(name), maxFile))
	if err == nil {
		tx.know(name, data)
	}
	return data, err
}

// Version returns the newest version in a journal without taking the lock; none
// is [fs.ErrNotExist].
func (s *Session) Version(name string) ([]byte, error) {
	return lastVersion(s.Read(name))
}

func lastVersion(data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 {
		return nil, fs.ErrNotExist
	}
	return data[bytes.LastIndexByte(data[:end], '\n')+1 : end], nil
}
