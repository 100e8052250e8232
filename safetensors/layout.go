package safetensors

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// layout checks that the tensors tile the data: each begins where the one before
// ends and has the size of its shape and dtype, and the last ends with the file.
func (p *parser) layout(dataSize int64) []*Error {
	if p.unaligned > 0 {
		p.header.Notices = append(p.header.Notices, Notice{Kind: NoticeTensorUnaligned, Offset: -1, Count: p.unaligned,
			Detail: fmt.Sprintf("tensors that do not begin at a multiple of their element size: %d", p.unaligned)})
	}
	l := layouter{parser: p}
	end := p.next
	if p.irregular {
		end = l.irregular()
	}
	l.coverage(end, dataSize)
	return l.faults
}

// layouter gathers the faults of a layout.
type layouter struct {
	*parser
	faults   []*Error
	unplaced bool // a tensor's place is not known, so that a gap proves nothing
}

func (l *layouter) fault(kind Kind, t *Tensor, format string, args ...any) {
	if len(l.faults) >= maxFaults {
		l.header.Unlisted++
		return
	}
	l.faults = append(l.faults, &Error{Kind: kind, Tensor: t.Name, Offset: l.fileOffset(t.Begin), Detail: fmt.Sprintf(format, args...)})
}

// fileOffset is the place in the file of an offset into the data.
func (l *layouter) fileOffset(begin int64) int64 {
	if at := begin + prefixSize + l.header.Length; at >= 0 {
		return at
	}
	return -1
}

// irregular checks tensors in any order and returns where the data ends.
func (l *layouter) irregular() int64 {
	tensors := l.header.Tensors
	start := int64(0)
	for _, i := range l.order() {
		t := &tensors[i]
		l.place(t, start)
		l.size(i, t)
		start = max(start, t.End)
	}
	return start
}

// order lists the tensors that have a place by the beginning of their data.
func (l *layouter) order() []int32 {
	tensors := l.header.Tensors
	order := make([]int32, 0, len(tensors))
	sorted, previous := true, int64(0)
	for i := range tensors {
		if tensors[i].Begin < 0 {
			l.unplaced = true
			l.size(int32(i), &tensors[i])
			continue
		}
		sorted = sorted && tensors[i].Begin >= previous
		previous = tensors[i].Begin
		order = append(order, int32(i))
	}
	if !sorted {
		l.notice(NoticeOutOfOrder, "", 0, "the header does not list the tensors in the order of their data")
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &tensors[a], &tensors[b]
		return cmp.Or(cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.End, y.End))
	})
	return order
}

// place compares a tensor's beginning with the end of the one before.
func (l *layouter) place(t *Tensor, start int64) {
	switch {
	case t.End < t.Begin:
		l.fault(KindReversed, t, "data_offsets [%d,%d] end before they begin", t.Begin, t.End)
	case t.Begin < start:
		l.fault(KindOverlap, t, "data_offsets [%d,%d] overlap the data before, which ends at %d", t.Begin, t.End, start)
	case t.Begin > start && !l.unplaced:
		l.fault(KindHole, t, "data_offsets [%d,%d] leave a hole of %d bytes that belong to no tensor", t.Begin, t.End, t.Begin-start)
	}
}

// size compares a tensor's range with its shape and dtype. A shape that
// overflows cannot be counted.
func (l *layouter) size(i int32, t *Tensor) {
	odd := l.odd[int(i)]
	if odd != nil && odd.shapeOff {
		return
	}
	size, aligned, ok := byteSize(t.Shape, t.DType)
	if odd != nil && odd.huge != nil {
		if ok = hugeProductFits(odd.huge, t.DType); ok {
			l.notice(NoticeHugeDimension, t.Name, 0, "a dimension over 2^63-1 beside a dimension of 0 is shown as 2^63-1")
		}
	}
	switch {
	case !ok:
		l.oddityOf(int(i)).excluded = true
		l.fault(KindOverflow, t, "shape %v times %v does not fit 64 bits; the tensor is not counted", shortShape(t.Shape), t.DType)
	case t.DType == Unknown || t.Begin < 0 || t.End < t.Begin:
	case !aligned:
		l.fault(KindMisaligned, t, "%d elements of %v do not fill whole bytes", t.Elements(), t.DType)
	case t.End-t.Begin != size:
		l.fault(KindSizeMismatch, t, "data_offsets span %d bytes, but shape %v of %v takes %d", t.End-t.Begin, shortShape(t.Shape), t.DType, size)
	}
}

// coverage compares the end of the last tensor with the end of the file.
func (l *layouter) coverage(end, dataSize int64) {
	if dataSize < 0 {
		return
	}
	fileEnd := l.fileOffset(dataSize)
	switch {
	case end > dataSize:
		l.faults = append(l.faults, &Error{Kind: KindTruncated, Offset: fileEnd, Tensor: l.firstCut(dataSize),
			Detail: fmt.Sprintf("the file ends %d bytes before the data does; download it again", end-dataSize)})
	case end < dataSize && !l.unplaced:
		l.faults = append(l.faults, &Error{Kind: KindTrailingBytes, Offset: l.fileOffset(end),
			Detail: fmt.Sprintf("%d bytes after the last tensor belong to none", dataSize-end)})
	}
}

// firstCut names the first tensor in data order that a truncated file does not
// hold whole.
func (l *layouter) firstCut(dataSize int64) string {
	name, begin := "", int64(-1)
	for i := range l.header.Tensors {
		t := &l.header.Tensors[i]
		if t.End > dataSize && (begin < 0 || t.Begin < begin) {
			name, begin = t.Name, t.Begin
		}
	}
	return name
}

// hugeProductFits multiplies dimensions that may exceed 63 bits.
func hugeProductFits(shape []uint64, d DType) bool {
	n := uint64(1)
	for _, dim := range shape {
		hi, lo := bits.Mul64(n, dim)
		if hi != 0 {
			return false
		}
		n = lo
	}
	hi, _ := bits.Mul64(n, uint64(d.Bits()))
	return hi == 0 && n <= math.MaxInt64
}

// shortShape bounds how much of a shape a message repeats.
func shortShape(shape []int64) string {
	if len(shape) <= 8 {
		return fmt.Sprint(shape)
	}
	return fmt.Sprintf("%v… of %d dimensions", shape[:8], len(shape))
}
