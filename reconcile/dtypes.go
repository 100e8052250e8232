package reconcile

import (
	"fmt"
	"maps"
	"slices"

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
		if c.Logical == 0 || c.packed {
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

// mixedDTypes names the parameters that are not of the dtype of most elements.
func (m *matching) mixedDTypes(byDType map[safetensors.DType][]*claim) {
	if len(byDType) < 2 {
		return
	}
	sum := func(d safetensors.DType) (n int64) {
		for _, c := range byDType[d] {
			n += c.Logical
		}
		return n
	}
	dtypes := slices.SortedFunc(maps.Keys(byDType), func(a, b safetensors.DType) int {
		if x, y := sum(a), sum(b); x != y {
			return int(min(max(y-x, -1), 1))
		}
		return int(a) - int(b)
	})
	for _, d := range dtypes[1:] {
		var list []string
		for _, c := range byDType[d] {
			list = append(list, namesOf(c.Template, c.members))
		}
		m.find(finding.New("HFI418", fmt.Sprintf("%s parameters are %s, most others %s", finding.Number(sum(d)), d, dtypes[0])).About(list...))
	}
}

// neverParameter reports whether no parameter is kept in a dtype unless a
// quantisation explains it: integers, truth values, complex numbers, and bare
// exponents.
func neverParameter(d safetensors.DType) bool {
	return d.IsInteger() || d == safetensors.BOOL || d == safetensors.C64 || d == safetensors.F8E8M0
}
