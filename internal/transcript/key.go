package transcript

import (
	"encoding/binary"
	"math/bits"
)

// key is a 128-bit stand-in for an id, so that an index of a million ids needs
// no strings. Chance is the only enemy, and 128 bits are enough against it.
type key struct{ hi, lo uint64 }

// Odd constants without structure (digits of π).
const (
	mix0 = 0x243f6a8885a308d3
	mix1 = 0x13198a2e03707345
	mix2 = 0xa4093822299f31d1
	mix3 = 0x082efa98ec4e6c89
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// keyOf hashes an id sixteen bytes at a time, in two lanes with different
// constants.
func keyOf(id []byte) key {
	k := key{mix0 ^ uint64(len(id)), mix2 + uint64(len(id))}
	for len(id) >= 16 {
		a, b := binary.LittleEndian.Uint64(id), binary.LittleEndian.Uint64(id[8:])
		k.hi = fold(a^mix1, b^k.hi)
		k.lo = fold(b^mix3, a^k.lo)
		id = id[16:]
	}
	var rest [16]byte
	copy(rest[:], id)
	a, b := binary.LittleEndian.Uint64(rest[:]), binary.LittleEndian.Uint64(rest[8:])
	k.hi = fold(a^mix1, b^k.hi)
	k.lo = fold(b^mix3, a^k.lo)
	return key{fold(k.hi, mix2), fold(k.lo, mix0)}
}

// table maps keys to numbers from 0 on, in order of arrival. It is a hash table
// with open addressing; Go's map costs twice the memory and, with a lookup and
// an insertion per line, a fifth of the time of a whole pass.
type table struct {
	keys  []key
	slots []int32 // number + 1, 0 for free
	last  int32   // most lines ask for what came just before
}

// add returns the number of k, and whether it was there before.
func (t *table) add(k key) (n int32, known bool) {
	if len(t.keys) > 0 && t.keys[t.last] == k {
		return t.last, true
	}
	if 4*(len(t.keys)+1) > 3*len(t.slots) {
		t.resize(2 * len(t.slots))
	}
	i := t.slot(k)
	if t.slots[i] != 0 {
		t.last = t.slots[i] - 1
		return t.last, true
	}
	n = int32(len(t.keys))
	t.keys = append(t.keys, k)
	t.slots[i] = n + 1
	t.last = n
	return n, false
}

// find returns the number of k, or -1.
func (t *table) find(k key) int32 {
	if len(t.keys) == 0 {
		return -1
	}
	if t.keys[t.last] == k {
		return t.last
	}
	return t.slots[t.slot(k)] - 1
}

func (t *table) slot(k key) uint32 {
	mask := uint32(len(t.slots) - 1)
	i := uint32(k.lo) & mask
	for t.slots[i] != 0 && t.keys[t.slots[i]-1] != k {
		i = (i + 1) & mask
	}
	return i
}

func (t *table) reserve(n int) {
	t.keys = make([]key, 0, n)
	t.resize(1 << bits.Len(uint(n+n/2)))
}

func (t *table) resize(size int) {
	t.slots = make([]int32, max(1024, size))
	for n, k := range t.keys {
		t.slots[t.slot(k)] = int32(n) + 1
	}
}
