package reconcile

import (
	"encoding/binary"
	"encoding/json"
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
	for i := range s.members {
		var shape []int64
		if i == 0 || m.in.AllValues {
			shape = m.shapeValue(s, i)
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
		case s.suffix == ".weight_shape", s.suffix == ".shape", strings.Contains(s.suffix, ".quant_state."):
			return s
		}
	}
	return nil
}

// shapeValue reads the shape out of one tensor's values.
func (m *matching) shapeValue(s *set, i int) []int64 {
	if m.valuesRead >= fewValues && !m.in.AllValues {
		return nil
	}
	m.valuesRead++
	t := s.members[i].tensor
	data, err := m.in.Values(t.Name)
	if err != nil || allZero(data) {
		return nil // a recording has no values, a copy may have empty ones
	}
	var shape []int64
	if strings.Contains(s.suffix, ".quant_state.") {
		shape, err = quantStateShape(data)
	} else {
		shape, err = integers(data, t.DType)
	}
	if err == nil && int64(len(data)) != t.Bytes() {
		err = fmt.Errorf("%d bytes of data, want %d", len(data), t.Bytes())
	}
	if err == nil && product(shape) <= 0 {
		err = fmt.Errorf("no shape: %v", shape)
	}
	if err != nil {
		m.find(finding.New("HFI506", fmt.Sprintf("%s: %v", t.Name, err)).About(t.Name))
		return nil
	}
	return shape
}

// mostRank bounds shapes in values.
const mostRank = 8

// quantStateShape reads the shape out of bitsandbytes' JSON.
func quantStateShape(data []byte) ([]int64, error) {
	var state struct {
		Shape []int64 `json:"shape"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return nil, fmt.Errorf("not the JSON of a quantisation state: %w", err)
	}
	if len(state.Shape) == 0 || len(state.Shape) > mostRank || product(state.Shape) <= 0 {
		return nil, fmt.Errorf("quantisation state has no usable shape: %v", state.Shape[:min(len(state.Shape), mostRank)])
	}
	return state.Shape, nil
}

// integers reads a short vector of integers.
func integers(data []byte, d safetensors.DType) ([]int64, error) {
	size := d.Bits() / 8
	if size != 4 && size != 8 || len(data)%size != 0 || len(data)/size > mostRank {
		return nil, fmt.Errorf("%d bytes of %s are no shape", len(data), d)
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
