package reconcile

import (
	"slices"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// StoredPart is a tensor that a quantiser writes for a weight.
type StoredPart struct {
	Suffix  string // below the module: .weight, .scales
	DTypes  []safetensors.DType
	Shape   []int64
	Free    bool  // the length is the writer's own: the text of a state, of which Shape has the least
	Most    int64 // of such a text, the most
	Carrier bool  // holds the weights themselves
	Maybe   bool  // not every writer has it
}

// Predict returns what a storage scheme keeps of a weight of that shape, with so
// many bits an element and so many elements in a row to a scale; 0 takes the
// scheme's own. It returns nil for an unknown scheme and for weights that the
// scheme cannot hold.
func Predict(method, form string, bits, group int64, shape []int64) []StoredPart {
	for i := range schemes {
		s := &schemes[i]
		if s.method == method && s.form == form && s.tune == nil && product(shape) > 0 {
			return s.predict(s.setting(bits, group), shape)
		}
	}
	return nil
}

func (s *scheme) setting(bits, group int64) params {
	p := params{bits: bits}
	if bits == 0 && s.bits != nil {
		p.bits = s.bits[0]
	}
	if s.grains != nil {
		p.grain = s.grains[0]
	}
	if group > 0 {
		p.cols = group
	}
	return p
}

func (s *scheme) predict(p params, shape []int64) []StoredPart {
	carrier := s.dtypes.list()
	w := newWeight(shape, p, int64(carrier[0].Bits()))
	list := []StoredPart{{Suffix: s.carrier, DTypes: carrier[:1], Shape: s.stored(w), Carrier: true}}
	for _, one := range s.parts {
		part := StoredPart{Suffix: one.suffix, DTypes: one.dtypes.list(), Free: one.shape == nil, Maybe: one.optional || one.sparse}
		if !part.Free {
			part.Shape = one.shape(w)
		}
		if one.lengths != nil {
			var least int64
			least, part.Most = one.lengths(w)
			part.Shape = []int64{least}
		}
		list = append(list, part)
	}
	return list
}

// list returns the set's members, likeliest first: packed weights are unsigned
// integers where there is a choice, and shapes long ones.
func (s dtypes) list() []safetensors.DType {
	var list []safetensors.DType
	for _, d := range []safetensors.DType{safetensors.U8, safetensors.U32, safetensors.I64} {
		if s.has(d) {
			list = append(list, d)
		}
	}
	for _, d := range safetensors.DTypes() {
		if s.has(d) && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}
