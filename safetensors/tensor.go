package safetensors

import (
	"math"
	"math/bits"
)

// Tensor is one entry of a header. In [Header.Tensors] the product of the shape
// always fits 63 bits.
type Tensor struct {
	Name string // as in the header, escapes resolved; any characters at all, so quote it before printing

	DType DType
	At    uint32  // byte offset of the entry in the file; 0 where the header came by another way
	Shape []int64 // empty for a scalar; shared backing array, do not append

	// Begin and End delimit the data in bytes from the end of the header; End is
	// exclusive. Both are -1 where the header does not say.
	Begin, End int64
}

// Elements is the number of elements: the product of the shape, 1 for a scalar,
// 0 if a dimension is 0.
func (t *Tensor) Elements() int64 {
	n, ok := product(t.Shape)
	if !ok || n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// Bytes is the size of the data in bytes: shape times dtype, rounded up to whole
// bytes. Where the dtype is Unknown it is the range that the header claims.
func (t *Tensor) Bytes() int64 {
	if t.DType == Unknown {
		return max(t.End-t.Begin, 0)
	}
	size, _, ok := byteSize(t.Shape, t.DType)
	if !ok {
		return math.MaxInt64
	}
	return size
}

// product multiplies from left to right, as the reference does: [2^63, 4, 0]
// overflows, [0, 2^63, 4] is 0.
func product(shape []int64) (uint64, bool) {
	n := uint64(1)
	for _, dim := range shape {
		hi, lo := bits.Mul64(n, uint64(dim))
		if hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// byteSize is the size of a tensor in bytes, rounded up; aligned is false where
// its bits do not fill the last byte. ok is false on overflow of 64 bits.
func byteSize(shape []int64, d DType) (size int64, aligned, ok bool) {
	n, ok := product(shape)
	if !ok {
		return 0, false, false
	}
	hi, total := bits.Mul64(n, uint64(d.Bits()))
	if hi != 0 || n > math.MaxInt64 { // the second for Unknown, which has no width
		return 0, false, false
	}
	size = int64(total / 8)
	if total%8 != 0 {
		return size + 1, false, true
	}
	return size, true, true
}

// Header is what one safetensors file says about its tensors.
type Header struct {
	// Length is the number of bytes of JSON, padding included, as the first eight
	// bytes of the file say; the data begins at byte 8 + Length. It is -1 where
	// the header came by another way than from the file.
	Length int64

	Tensors  []Tensor          // every tensor that can be counted, in header order
	Metadata map[string]string // __metadata__; nil when absent

	// Excluded holds tensors that the header names but that cannot be counted (a
	// shape that overflows or is missing, an empty descriptor). Each has a fault.
	Excluded []Tensor

	Faults  []*Error // what the reference refuses although it can be counted, first reason first
	Notices []Notice // what the reference accepts and an auditor should know

	Unlisted int // faults and notices beyond the first 100,000 of each
}

// Err returns the fault for which the reference implementation would refuse the
// file, or nil if it would accept it.
func (h *Header) Err() error {
	if len(h.Faults) == 0 {
		return nil
	}
	return h.Faults[0]
}

// DataStart is the byte offset of the data in the file, -1 where it is not known.
func (h *Header) DataStart() int64 {
	if h.Length < 0 {
		return -1
	}
	return prefixSize + h.Length
}

// DataEnd is the largest end of a tensor, in bytes from the end of the header.
func (h *Header) DataEnd() int64 {
	var end int64
	for i := range h.Tensors {
		end = max(end, h.Tensors[i].End)
	}
	return end
}
