package safetensors

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// fastEntry reads an entry written as the reference writes it, byte for byte:
//
//	{"dtype":"BF16","shape":[4096,4096],"data_offsets":[0,33554432]}
//
// ok is false for any other; nothing is changed then.
func (p *parser) fastEntry(name string, nameAt, i int) (next int, ok bool) {
	const head, mid, offsets = `{"dtype":"`, `","shape":[`, `],"data_offsets":[`
	b := p.b
	if len(b)-i < len(head)+len(mid)+len(offsets) || string(b[i:i+len(head)]) != head {
		return i, false
	}
	i += len(head)
	start := i
	for b[i] != '"' {
		if i++; i-start > 12 || i >= len(b) {
			return i, false
		}
	}
	dtype := lookupDType(b[start:i])
	if dtype == Unknown || len(b)-i < len(mid) || string(b[i:i+len(mid)]) != mid {
		return i, false
	}
	dims := len(p.dims)
	i, elements, ok := p.fastShape(i + len(mid))
	if !ok || len(b)-i < len(offsets) || string(b[i:i+len(offsets)]) != offsets {
		p.dims = p.dims[:dims]
		return i, false
	}
	begin, i, ok1 := fastUint(b, i+len(offsets))
	if !ok1 || i >= len(b) || b[i] != ',' {
		p.dims = p.dims[:dims]
		return i, false
	}
	end, i, ok2 := fastUint(b, i+1)
	if !ok2 || len(b)-i < 2 || b[i] != ']' || b[i+1] != '}' {
		p.dims = p.dims[:dims]
		return i, false
	}
	p.add(Tensor{Name: name, DType: dtype, At: p.fileAt(nameAt), Shape: p.dims[dims:len(p.dims):len(p.dims)],
		Begin: int64(begin), End: int64(end)}, elements)
	return i + 2, true
}

// fastShape reads dimensions up to the closing bracket and multiplies them;
// overflow fails, which leaves the entry to the slow path.
func (p *parser) fastShape(i int) (next int, elements uint64, ok bool) {
	b := p.b
	elements = 1
	if i < len(b) && b[i] == ']' {
		return i, 1, true
	}
	for {
		var dim uint64
		if dim, i, ok = fastUint(b, i); !ok || i >= len(b) {
			return i, 0, false
		}
		hi, lo := bits.Mul64(elements, dim)
		if hi != 0 {
			return i, 0, false
		}
		elements = lo
		p.dims = append(p.dims, int64(dim))
		switch b[i] {
		case ',':
			i++
		case ']':
			return i, elements, true
		default:
			return i, 0, false
		}
	}
}

// fastUint reads an integer of 1 to 16 digits without a leading zero, eight
// digits at a time.
func fastUint(b []byte, i int) (v uint64, next int, ok bool) {
	if i+17 > len(b) {
		return slowUint(b, i)
	}
	v, n := eightDigits(b[i:])
	first := b[i]
	i += n
	if n == 8 {
		var low uint64
		low, n = eightDigits(b[i:])
		v = v*powerOfTen[n] + low
		i += n
		n += 8
	}
	return v, i, (n == 1 || n > 1 && first != '0') && b[i]-'0' > 9
}

var powerOfTen = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// eightDigits is the value of the n digits at the start of b, at most eight.
func eightDigits(b []byte) (v uint64, n int) {
	w := binary.LittleEndian.Uint64(b) ^ ones*'0'
	// A byte over 9 carries into its high bit; the lowest such byte is exact.
	n = bits.TrailingZeros64((w|(w+ones*(0x80-10)))&highs) >> 3
	// Leading zeros fill up to eight digits, which fold pairwise to one number.
	w <<= 64 - 8*uint(n)
	w = w*10 + w>>8
	const pairs = 0x000000ff000000ff
	v = ((w&pairs)*(100+1000000<<32) + (w>>16&pairs)*(1+10000<<32)) >> 32
	return v, n
}

// slowUint is fastUint near the end of b.
func slowUint(b []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + uint64(b[i]-'0')
		i++
	}
	n := i - start
	return v, i, n == 1 || n > 1 && n <= 16 && b[start] != '0'
}

// add appends a tensor in good form whose shape multiplies to elements, and
// notes whether it continues a regular layout.
func (p *parser) add(t Tensor, elements uint64) {
	hi, total := bits.Mul64(elements, uint64(t.DType.Bits()))
	regular := hi == 0 && total%8 == 0 && t.Begin == p.next && t.End-t.Begin == int64(total/8)
	p.irregular = p.irregular || !regular
	if width := int64(t.DType.Bits()) / 8; width > 1 && t.Begin&(width-1) != 0 && total > 0 {
		p.unaligned++
	}
	p.next = t.End
	p.header.Tensors = append(p.header.Tensors, t)
}

// addOdd appends a tensor that needs a closer look.
func (p *parser) addOdd(t Tensor, odd oddity) {
	p.irregular = true
	*p.oddityOf(len(p.header.Tensors)) = odd
	p.header.Tensors = append(p.header.Tensors, t)
}

// fileAt is the offset in the file of position i, for [Tensor.At]; headers are
// shorter than 2^32 bytes.
func (p *parser) fileAt(i int) uint32 { return uint32(p.base) + uint32(i) }

// clamp is v, or 2^63-1 where v exceeds it.
func clamp(v uint64) int64 { return int64(min(v, math.MaxInt64)) }
