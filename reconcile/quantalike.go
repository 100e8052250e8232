package reconcile

import (
	"fmt"
	"slices"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// likeness is what tensors of one name have in common in all modules of a family.
type likeness struct {
	dtype safetensors.DType
	rank  int // of companions, beyond that of the weight; 0 for packed tensors
}

// checkAlike finds companions, and packed tensors, that differ from most others
// of their name in dtype or rank.
func (m *matching) checkAlike() {
	type key struct{ family, suffix string }
	var order []likeness
	count := make(map[key]map[likeness]int)
	m.eachMember(func(u *unpacked, s *set, is likeness) {
		k := key{u.family(), s.suffix}
		if count[k] == nil {
			count[k] = make(map[likeness]int)
		}
		count[k][is]++
		if !slices.Contains(order, is) {
			order = append(order, is)
		}
	})
	m.eachMember(func(u *unpacked, s *set, is likeness) {
		of := count[key{u.family(), s.suffix}]
		for at, other := range order {
			if n := of[other]; n > of[is] || n == of[is] && at < slices.Index(order, is) {
				m.find(finding.New("HFI508", fmt.Sprintf("%s is %s %s, others are %s of rank %d", namesOf(s.template, s.members), s.dtype, shapeText(s.shape),
					other.dtype, other.rank+len(u.shape))).About(names(s.members)...))
				return
			}
		}
	})
}

// checkModelDType finds scales, and weights that were not packed, of 16 bits that
// are not of the dtype of the model, where the writer gives them that.
func (m *matching) checkModelDType() {
	of := m.modelDType()
	if !halves16.has(of) {
		return
	}
	var words, list []string
	odd := func(s *set) {
		if halves16.has(s.dtype) && s.dtype != of {
			words, list = append(words, namesOf(s.template, s.members)+" "+s.dtype.String()), append(list, names(s.members)...)
		}
	}
	for _, u := range m.unpacked {
		if u.scheme.stray || u.scheme.model {
			odd(&u.carrier)
		}
		for i := range u.parts {
			if s := &u.parts[i]; u.scheme.model && u.knows(s) && u.partOf(s).dtypes&floats == floats {
				odd(s)
			}
		}
	}
	if words != nil {
		m.find(finding.New("HFI508", fmt.Sprintf("%s: writers give these the dtype of the model, which is %s", some(words), of)).About(list...))
	}
}

// modelDType is that of most parameters that are stored as they are.
func (m *matching) modelDType() (most safetensors.DType) {
	sums := make(map[safetensors.DType]int64)
	for i := range m.claims {
		if c := &m.claims[i]; !c.packed && c.Logical > 0 {
			if sums[c.DType] += c.Logical; sums[c.DType] > sums[most] {
				most = c.DType
			}
		}
	}
	return most
}

func (m *matching) eachMember(use func(*unpacked, *set, likeness)) {
	for _, u := range m.unpacked {
		for i := range u.parts {
			s := &u.parts[i]
			use(u, s, likeness{s.dtype, len(s.shape) - len(u.shape)})
		}
		if !u.scheme.stray {
			use(u, &u.carrier, likeness{dtype: u.carrier.dtype})
		}
	}
}

// checkForms finds modules that are packed in another way than most others of the
// same numbers and bits.
func (m *matching) checkForms() {
	type packing struct {
		method, carrier, numbers string
		bits                     int64
	}
	of := func(u *unpacked) packing {
		return packing{u.scheme.method, u.carrier.suffix, u.scheme.numbers, u.params.bits}
	}
	count := make(map[packing]map[string]int64)
	for _, u := range m.unpacked {
		if count[of(u)] == nil {
			count[of(u)] = make(map[string]int64)
		}
		count[of(u)][u.scheme.form] += u.count()
	}
	for _, u := range m.unpacked {
		if u.params.bits == 0 || u.scheme.lossy {
			continue
		}
		for _, other := range schemes {
			if form := other.form; !other.lossy && other.method == u.scheme.method && count[of(u)][form] > count[of(u)][u.scheme.form] {
				m.find(finding.New("HFI508", fmt.Sprintf("%s is stored as %s, most others as %s", u.words(), u.scheme.form, form)).About(names(u.carrier.members)...))
				break
			}
		}
	}
}
