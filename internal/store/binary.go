package store

import "encoding/binary"

// Decoder reads the fields of a binary record one after the other. Bad is set once
// the record ends in the middle of one; what is read from then on is zero.
type Decoder struct {
	B   []byte
	Bad bool
}

func (d *Decoder) fail() { d.B, d.Bad = nil, true }

// Uvarint reads a number without a sign.
func (d *Decoder) Uvarint() uint64 {
	v, n := binary.Uvarint(d.B)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.B = d.B[n:]
	return v
}

// Varint reads a number; its sign is the lowest bit, as in [binary.PutVarint].
func (d *Decoder) Varint() int64 {
	v := d.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Take reads n bytes, in place.
func (d *Decoder) Take(n uint64) []byte {
	if n > uint64(len(d.B)) {
		d.fail()
		return nil
	}
	b := d.B[:n:n]
	d.B = d.B[n:]
	return b
}

// Bit is a flag as such a record holds it.
func Bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// AppendNumbers adds numbers that Uvarint reads.
func AppendNumbers(b []byte, list ...uint64) []byte {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}
