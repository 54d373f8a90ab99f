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
