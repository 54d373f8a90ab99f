package recall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

type file struct {
	path, host, id string
	folder         string // the project's folder, as the host names it
	parent         string // of a sub-agent: the session that started it
	cwd            string
	source         string // of a clone: the session it was made from
	agent          bool
	number         uint32 // of its documents; another one after it was rewritten
	size, mtime    int64  // as last seen
	inode          uint64
	done           int64  // what is indexed: whole lines
	lines          uint32 // in it
	tail           uint32 // checksum of the last bytes of it
	boundary       int64  // the last compaction stands here; 0 for none
}

type segmentInfo struct {
	number, size uint64
	docs         uint64
}

// manifest is what the index consists of. It is replaced as a whole, after the
// segments that it names are in place.
type manifest struct {
	files    []file
	segments []segmentInfo
	next     uint32 // number of the next file
	nextSeg  uint64
	complete bool // once every file was read to its end
}

const (
	manifestFile  = "manifest"
	manifestMagic = "overtone recall 8\n"
	lockFile      = "lock"
)

func (m *manifest) encode() []byte {
	b := []byte(manifestMagic)
	b = store.AppendNumbers(b, store.Bit(m.complete), uint64(m.next), m.nextSeg, uint64(len(m.segments)))
	for _, s := range m.segments {
		b = store.AppendNumbers(b, s.number, s.size, s.docs)
	}
	b = store.AppendNumbers(b, uint64(len(m.files)))
	prev := ""
	for i := range m.files {
		f := &m.files[i]
		// Paths are most of it, and neighbours share most of theirs.
		b = appendShared(b, prev, f.path)
		prev = f.path
		for _, s := range [...]string{f.host, f.id, f.folder, f.parent, f.cwd, f.source} {
			b = appendShared(b, "", s)
		}
		b = store.AppendNumbers(b, store.Bit(f.agent), uint64(f.number), uint64(f.size), uint64(f.mtime), f.inode, uint64(f.done), uint64(f.lines), uint64(f.tail), uint64(f.boundary))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func decodeManifest(b []byte) (*manifest, error) {
	n := len(b) - 4
	if n < len(manifestMagic) || string(b[:len(manifestMagic)]) != manifestMagic || crc32.ChecksumIEEE(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, errDamaged
	}
	r := reader{store.Decoder{B: b[len(manifestMagic):n]}}
	m := &manifest{complete: r.Uvarint() != 0, next: uint32(r.Uvarint()), nextSeg: r.Uvarint()}
	for range r.Uvarint() {
		m.segments = append(m.segments, segmentInfo{r.Uvarint(), r.Uvarint(), r.Uvarint()})
		if r.Bad {
			return nil, errDamaged
		}
	}
	count := r.Uvarint()
	if count > uint64(n) {
		return nil, errDamaged
	}
	m.files = make([]file, count)
	var path []byte
	for i := range m.files {
		f := &m.files[i]
		path = r.shared(path)
		f.path = string(path)
		for _, s := range [...]*string{&f.host, &f.id, &f.folder, &f.parent, &f.cwd, &f.source} {
			*s = string(r.shared(nil))
		}
		f.agent = r.Uvarint() != 0
		f.number, f.size, f.mtime, f.inode = uint32(r.Uvarint()), int64(r.Uvarint()), int64(r.Uvarint()), r.Uvarint()
		f.done, f.lines, f.tail, f.boundary = int64(r.Uvarint()), uint32(r.Uvarint()), uint32(r.Uvarint()), int64(r.Uvarint())
	}
	if r.Bad {
		return nil, errDamaged
	}
	return m, nil
}

// load reads the manifest; none, or one that another version wrote or that is
// damaged, is an empty index.
func (x *Index) load() (*manifest, error) {
	b, err := os.ReadFile(filepath.Join(x.dir, manifestFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m, err := decodeManifest(b); err == nil {
		return m, nil
	}
	return &manifest{next: 1}, nil
}

func (x *Index) save(m *manifest) error {
	return store.LooseWrite(filepath.Join(x.dir, manifestFile), m.encode(), 0o600)
}

func (x *Index) segmentPath(n uint64) string {
	return filepath.Join(x.dir, fmt.Sprintf("%08x.seg", n))
}

// sweep removes what no manifest names: the leftovers of merges and of processes
// that died.
func (x *Index) sweep(m *manifest) {
	keep := map[string]bool{}
	for _, s := range m.segments {
		keep[filepath.Base(x.segmentPath(s.number))] = true
	}
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); (ext == ".seg" || ext == ".tmp") && !keep[e.Name()] {
			// A reader that still has it open keeps it; where the system forbids
			// that, the next sweep takes it.
			os.Remove(filepath.Join(x.dir, e.Name()))
		}
	}
}

// hostOf is the host of a file; files of unknown hosts are not listed.
func hostOf(f *file) host.Name { return host.Name(f.host) }
