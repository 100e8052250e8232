package reconcile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// fewValues is how many tensors are read where each costs a request: of each
// bundle one.
const fewValues = 8

// readShapes reads what the values of companions say about the shape of each
// weight, and splits the bundle where they differ. Where only some modules were
// read, the others are taken to be alike.
func (m *matching) readShapes(b *bundle) []*bundle {
	s := b.shapeHolder()
	if s == nil || m.in.Values == nil {
		return []*bundle{b}
	}
	var list []*bundle
	var faults saying
	for i := range s.members {
		var shape []int64
		if i == 0 || m.in.AllValues {
			var err error
			if shape, err = m.shapeValue(s, i); err != nil {
				faults.add(err.Error(), s.members[i])
			}
		} else {
			shape = list[0].told
		}
		at := slices.IndexFunc(list, func(one *bundle) bool { return slices.Equal(one.told, shape) })
		if at < 0 {
			at = len(list)
			one := b.empty(b.slot)
			one.told, one.conv = shape, b.conv
			list = append(list, one)
		}
		list[at].add(b, i)
	}
	m.findEach("HFI506", s.template, &faults)
	for _, one := range list {
		m.compareTold(one, s.suffix)
	}
	return list
}

// compareTold reports values that contradict the description.
func (m *matching) compareTold(b *bundle, suffix string) {
	if b.slot == nil || b.told == nil || slices.Equal(b.told, b.slot.Shape) || b.conv && slices.Equal(turned(b.told), b.slot.Shape) {
		return
	}
	if product(b.told) > 0 && product(b.told) != product(b.slot.Shape) {
		b.slot = nil // of another size: the later steps say what that means
	}
	m.find(finding.New("HFI506", fmt.Sprintf("%s%s says that the weight is %s", namesOf(b.stem, b.carrier.members), suffix, shapeText(b.told))).
		About(names(b.part(suffix).members)...))
}

// shapeHolder is the companion whose values are the weight's shape.
func (b *bundle) shapeHolder() *set {
	for i := range b.parts {
		switch s := &b.parts[i]; {
		case s.suffix == ".weight_shape", s.suffix == ".shape", strings.HasPrefix(s.suffix, statePrefix):
			return s
		}
	}
	return nil
}

// shapeValue reads the shape out of one tensor's values.
func (m *matching) shapeValue(s *set, i int) ([]int64, error) {
	if m.valuesRead >= fewValues && !m.in.AllValues {
		return nil, nil
	}
	m.valuesRead++
	t := s.members[i].tensor
	data, err := m.in.Values(t.Name)
	if err != nil || allZero(data) && !m.in.AllValues {
		return nil, nil // a recording has no values
	}
	var shape []int64
	if strings.HasPrefix(s.suffix, statePrefix) {
		var state *quantState
		if state, err = parseQuantState(data); err == nil {
			shape, m.states[t.Name] = state.Shape, state
		}
	} else {
		shape, err = integers(data, t.DType)
	}
	if err == nil && int64(len(data)) != t.Bytes() {
		err = fmt.Errorf("has %d bytes of data, want %d", len(data), t.Bytes())
	}
	if err == nil && product(shape) <= 0 {
		err = fmt.Errorf("holds no shape: %v", shape)
	}
	if err != nil {
		return nil, err
	}
	return shape, nil
}

// mostRank bounds shapes in values.
const mostRank = 8

// integers reads a short vector of integers.
func integers(data []byte, d safetensors.DType) ([]int64, error) {
	size := d.Bits() / 8
	if size != 4 && size != 8 || len(data)%size != 0 || len(data)/size > mostRank {
		return nil, fmt.Errorf("has %d bytes of %s, which are no shape", len(data), d)
	}
	var list []int64
	for ; len(data) > 0; data = data[size:] {
		if size == 4 {
			list = append(list, int64(int32(binary.LittleEndian.Uint32(data))))
		} else {
			list = append(list, int64(binary.LittleEndian.Uint64(data)))
		}
	}
	return list, nil
}
