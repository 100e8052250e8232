package safetensors

import "math"

// fields gathers what one entry says.
type fields struct {
	name   string
	nameAt int

	dtype   DType
	unnamed bool // the dtype is ""
	shape   []int64
	huge    []uint64 // the true shape where a dimension exceeds 63 bits
	offsets [2]uint64

	seen, good [3]bool // by field, in the order of fieldNames
}

const (
	fieldDType = iota
	fieldShape
	fieldOffsets
)

var fieldNames = [3]string{"dtype", "shape", "data_offsets"}

// entry reads an entry in any form that JSON allows.
func (p *parser) entry(name string, nameAt, i int) (int, *Error) {
	f := fields{name: name, nameAt: nameAt}
	var err *Error
	switch p.at(i) {
	case '{':
		i, err = p.objectEntry(&f, i)
	case '[':
		p.notice(NoticeArrayEntry, name, nameAt, "the entry is an array, not an object")
		i, err = p.arrayEntry(&f, i)
	default:
		at := i
		if i, err = p.skip(i, 1); err == nil {
			p.entryFault(KindEntry, name, at, "the entry is %s, not an object", p.kind(at))
			p.addOdd(Tensor{Name: name, At: p.fileAt(nameAt), Begin: -1, End: -1}, oddity{excluded: true, shapeOff: true})
			return i, nil
		}
	}
	if err != nil {
		return i, err
	}
	p.keep(&f)
	return i, nil
}

// objectEntry reads the fields of {"dtype": …, "shape": …, "data_offsets": …}.
func (p *parser) objectEntry(f *fields, i int) (int, *Error) {
	if i = p.space(i + 1); p.at(i) == '}' {
		return i + 1, nil
	}
	for {
		keyAt := i
		key, next, err := p.str(i)
		if err != nil {
			return next, err
		}
		if i, err = p.after(next, ':'); err != nil {
			return i, err
		}
		if i, err = p.namedField(f, key, keyAt, i); err != nil {
			return i, err
		}
		i = p.space(i)
		switch p.at(i) {
		case ',':
			i = p.space(i + 1)
		case '}':
			return i + 1, nil
		default:
			return i, p.fail(i, "expected ',' or '}'")
		}
	}
}

// namedField reads the value of one key of an entry.
func (p *parser) namedField(f *fields, key string, keyAt, i int) (int, *Error) {
	for field, name := range fieldNames {
		if key != name {
			continue
		}
		if f.seen[field] {
			p.entryFault(KindDuplicateField, f.name, keyAt, "field %s occurs twice; the last was taken", name)
		}
		return p.field(f, field, i)
	}
	p.notice(NoticeUnknownField, f.name, keyAt, "unknown field "+quoteShort(key))
	return p.skip(i, 2)
}

// arrayEntry reads the fields of ["F32", [1], [0, 4]].
func (p *parser) arrayEntry(f *fields, at int) (int, *Error) {
	i, count := p.space(at+1), 0
	if p.at(i) == ']' {
		i++
	} else {
		for {
			var err *Error
			if count < len(fieldNames) {
				i, err = p.field(f, count, i)
			} else {
				i, err = p.skip(i, 2)
			}
			if err != nil {
				return i, err
			}
			count++
			i = p.space(i)
			if p.at(i) == ']' {
				i++
				break
			}
			if p.at(i) != ',' {
				return i, p.fail(i, "expected ',' or ']'")
			}
			i = p.space(i + 1)
		}
	}
	if count > len(fieldNames) {
		p.entryFault(KindEntry, f.name, at, "parts of the entry: %d instead of 3", count)
	}
	return i, nil
}

// field reads the value of one of the three fields.
func (p *parser) field(f *fields, field, i int) (int, *Error) {
	f.seen[field], f.good[field] = true, false
	at := i
	i, err := p.skip(i, 2)
	if err != nil {
		return i, err
	}
	switch field {
	case fieldDType:
		p.readDType(f, at)
	case fieldShape:
		p.readShape(f, at)
	case fieldOffsets:
		p.readOffsets(f, at)
	}
	return i, nil
}

// readDType takes the dtype at i, whose syntax is known to be right.
func (p *parser) readDType(f *fields, i int) {
	value := i
	if p.at(i) == '{' {
		// {"F32": null} is how the reference's JSON library spells a variant in
		// full, and so it accepts it.
		if value = p.variant(i); value < 0 {
			p.entryFault(KindEntry, f.name, i, "dtype is an object, not a string")
			return
		}
	}
	if p.at(value) != '"' {
		p.entryFault(KindEntry, f.name, i, "dtype is %s, not a string", p.kind(i))
		return
	}
	spelling, _, _ := p.str(value)
	f.dtype, f.good[fieldDType] = ParseDType(spelling)
	f.unnamed = spelling == ""
	if !f.good[fieldDType] && !f.unnamed {
		p.entryFault(KindUnknownDType, f.name, i, "unknown dtype %s", quoteShort(spelling))
	}
}

// variant finds the key of an object {"key": null} at i, or -1.
func (p *parser) variant(i int) int {
	key := p.space(i + 1)
	_, end, err := p.str(key)
	if err != nil {
		return -1
	}
	i, err = p.after(end, ':')
	if err != nil || p.at(i) != 'n' || p.at(p.space(i+4)) != '}' {
		return -1
	}
	return key
}

// readShape takes the shape at i, whose syntax is known to be right.
func (p *parser) readShape(f *fields, at int) {
	f.huge = nil
	if p.at(at) != '[' {
		p.entryFault(KindEntry, f.name, at, "shape is %s, not an array", p.kind(at))
		return
	}
	first := len(p.dims)
	for i := p.space(at + 1); p.at(i) != ']'; {
		dim, next, ok := p.uint(i)
		if !ok {
			p.entryFault(KindEntry, f.name, i, "shape has the dimension %s, which is not a whole number from 0 to 2^64-1", p.excerpt(i))
			p.dims = p.dims[:first]
			return
		}
		if dim > math.MaxInt64 && f.huge == nil {
			f.huge = []uint64{}
			for _, small := range p.dims[first:] {
				f.huge = append(f.huge, uint64(small))
			}
		}
		if f.huge != nil {
			f.huge = append(f.huge, dim)
		}
		p.dims = append(p.dims, clamp(dim))
		i = p.nextItem(next)
	}
	f.shape, f.good[fieldShape] = p.dims[first:len(p.dims):len(p.dims)], true
}

// readOffsets takes the data offsets at i, whose syntax is known to be right.
func (p *parser) readOffsets(f *fields, at int) {
	if p.at(at) != '[' {
		p.entryFault(KindEntry, f.name, at, "data_offsets is %s, not an array", p.kind(at))
		return
	}
	count := 0
	for i := p.space(at + 1); p.at(i) != ']'; count++ {
		v, next, ok := p.uint(i)
		if !ok {
			p.entryFault(KindEntry, f.name, i, "data_offsets holds %s, which is not a whole number from 0 to 2^64-1", p.excerpt(i))
			return
		}
		if count < 2 {
			f.offsets[count] = v
		}
		i = p.nextItem(next)
	}
	if count != 2 {
		p.entryFault(KindEntry, f.name, at, "numbers in data_offsets: %d instead of 2", count)
		return
	}
	f.good[fieldOffsets] = true
}

// nextItem goes from the end of one item of an array to the next, or to the
// closing bracket.
func (p *parser) nextItem(i int) int {
	if i = p.space(i); p.at(i) == ',' {
		return p.space(i + 1)
	}
	return i
}

// keep files the tensor of an entry: counted where shape and dtype allow it.
func (p *parser) keep(f *fields) {
	t := Tensor{Name: f.name, DType: f.dtype, At: p.fileAt(f.nameAt), Shape: f.shape, Begin: -1, End: -1}
	odd := oddity{huge: f.huge}
	for field, name := range fieldNames {
		if !f.seen[field] {
			p.entryFault(KindEntry, f.name, f.nameAt, "the entry has no %s", name)
		}
	}
	if f.good[fieldOffsets] {
		t.Begin, t.End = clamp(f.offsets[0]), clamp(f.offsets[1])
	}
	if f.unnamed {
		p.emptyDType(f, &odd)
	}
	if !f.good[fieldShape] {
		odd.excluded, odd.shapeOff = true, true
	}
	if f.good == [3]bool{true, true, true} && f.huge == nil {
		if n, ok := product(t.Shape); ok && t.End < math.MaxInt64 {
			p.add(t, n)
			return
		}
	}
	p.addOdd(t, odd)
}

// emptyDType tells an entry that stands for a tensor which was not stored from
// one whose dtype is merely missing.
func (p *parser) emptyDType(f *fields, odd *oddity) {
	if f.good[fieldShape] && f.good[fieldOffsets] && len(f.shape) == 0 && f.offsets == [2]uint64{} {
		odd.excluded, odd.shapeOff = true, true
		p.entryFault(KindEmptyDescriptor, f.name, f.nameAt,
			"the entry has no dtype, no shape and no data: the tensor was not stored, and counts 0; save the checkpoint again without it")
		return
	}
	p.entryFault(KindUnknownDType, f.name, f.nameAt, "the dtype is empty")
}
