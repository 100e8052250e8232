package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// checkDTypes looks for dtypes that differ where one would expect them to be the
// same: among parameters, and among the layers of one parameter.
func (m *matching) checkDTypes() {
	byDType := make(map[safetensors.DType][]*claim)
	byTemplate := make(map[string]map[safetensors.DType]bool)
	for i := range m.claims {
		c := &m.claims[i]
		if c.Logical == 0 || c.packed || c.Loose || c.DType == safetensors.Unknown {
			continue
		}
		byDType[c.DType] = append(byDType[c.DType], c)
		if byTemplate[c.Template] == nil {
			byTemplate[c.Template] = make(map[safetensors.DType]bool)
		}
		byTemplate[c.Template][c.DType] = true
		if neverParameter(c.DType) && m.in.Model != nil {
			m.find(finding.New("HFI420", fmt.Sprintf("%s is stored as %s", namesOf(c.Template, c.members), c.DType)).About(names(c.members)...))
		}
	}
	for _, template := range slices.Sorted(maps.Keys(byTemplate)) {
		if len(byTemplate[template]) > 1 {
			m.find(finding.New("HFI419", fmt.Sprintf("%s has %d dtypes", template, len(byTemplate[template]))).About(template))
		}
	}
	m.mixedDTypes(byDType)
}

// mixedDTypes names the parameters that are not of the dtype of most elements,
// first those whose dtype no practice explains.
func (m *matching) mixedDTypes(byDType map[safetensors.DType][]*claim) {
	if len(byDType) < 2 {
		return
	}
	m.oddDTypes(byDType)
	dtypes := byElements(byDType)
	for _, d := range dtypes[1:] {
		var list []string
		for _, c := range byDType[d] {
			list = append(list, namesOf(c.Template, c.members))
		}
		m.find(finding.New("HFI418", fmt.Sprintf("%s in %s, most others in %s", finding.Count(parametersOf(byDType[d]), "parameter"), d, dtypes[0])).About(list...))
	}
}

func parametersOf(claims []*claim) (n int64) {
	for _, c := range claims {
		n += c.Logical
	}
	return n
}

// byElements sorts dtypes by how many parameters have them, most first.
func byElements(byDType map[safetensors.DType][]*claim) []safetensors.DType {
	sums := make(map[safetensors.DType]int64)
	for d, claims := range byDType {
		sums[d] = parametersOf(claims)
	}
	return slices.SortedFunc(maps.Keys(byDType), func(a, b safetensors.DType) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
}

// oddDTypes doubts parameters that are not of the dtype of their tower, unless
// they are of those that are known to be kept in 32 bits. It needs a description.
func (m *matching) oddDTypes(byDType map[safetensors.DType][]*claim) {
	if m.in.Model == nil {
		return
	}
	towers := make(map[string]map[safetensors.DType][]*claim)
	slotOf := make(map[*claim]*slot)
	for d, claims := range byDType {
		if d.Bits() < 16 || !d.IsFloat() {
			continue // quantised, or doubted as such
		}
		for _, c := range claims {
			s, _ := m.slots.forMember(c.Name, &c.members[0])
			if s == nil || s.section != "" || c.Status != Expected {
				continue
			}
			slotOf[c] = s
			if towers[s.Tower] == nil {
				towers[s.Tower] = make(map[safetensors.DType][]*claim)
			}
			towers[s.Tower][d] = append(towers[s.Tower][d], c)
		}
	}
	for _, tower := range slices.Sorted(maps.Keys(towers)) {
		dtypes := byElements(towers[tower])
		for _, d := range dtypes[1:] {
			var list []string
			for _, c := range towers[tower][d] {
				if !keptApart(slotOf[c], d, dtypes[0]) {
					list = append(list, namesOf(c.Template, c.members))
				}
			}
			if list != nil {
				m.find(finding.New("HFI426", fmt.Sprintf("%s: %s, where most others are %s", strings.Join(finding.Names(list), ", "), d, dtypes[0])).About(list...))
			}
		}
	}
}

// keptApart reports whether parameters are known to stand in 32 bits among
// others of fewer: vectors such as norms, biases and decays; routers and state
// spaces; a matrix that is so in every layer.
func keptApart(s *slot, d, most safetensors.DType) bool {
	if d != safetensors.F32 || most.Bits() >= d.Bits() {
		return false
	}
	switch s.Role {
	case estimator.Norm, estimator.Router, estimator.StateSpace, estimator.Convolution, estimator.Classifier:
		return true
	}
	return len(s.Shape) < 2 || s.Copies > 1
}

// neverParameter reports whether no parameter is kept in a dtype unless a
// quantisation explains it: integers, truth values, complex numbers, and bare
// exponents.
func neverParameter(d safetensors.DType) bool {
	return d.IsInteger() || d == safetensors.BOOL || d == safetensors.C64 || d == safetensors.F8E8M0
}
