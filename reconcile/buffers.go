package reconcile

import (
	"fmt"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// matchBuffers claims the buffers that the description knows.
func (m *matching) matchBuffers() {
	m.eachGroup(func(g *group) {
		odd := false
		taken := m.claimIf(g, Buffer, "buffer", 0, func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || s.section != "" || !s.Buffer || !s.sameShape(g.shape) || !s.take(at) {
				return false
			}
			odd = odd || !bufferDTypes(s.DType).has(g.dtype)
			return true
		})
		switch {
		case taken == nil:
		case odd:
			m.addOddBuffers(g, taken, "buffers")
		default:
			m.addBuffers(g, taken, "buffers")
		}
	})
	for _, s := range m.slots.all {
		if s.Buffer && s.section == "" && s.missing() > 0 && m.in.Checkpoint.Complete {
			m.find(finding.New("HFI423", fmt.Sprintf("%s is not stored", s.Folded())).About(s.missingNames(finding.MostNames)...))
		}
	}
}

// bufferDTypes are the dtypes in which a described buffer can stand: whole
// numbers where the model fixes such a dtype, else floats.
func bufferDTypes(fixed string) dtypes {
	if d, ok := safetensors.ParseDType(fixed); ok && d.IsInteger() {
		return oneOf(safetensors.I64, safetensors.I32)
	}
	return floats
}

// addBuffers accounts for buffers.
func (m *matching) addBuffers(g *group, taken []member, reason string) {
	elements := m.bufferRow(g, taken, reason)
	m.find(finding.New("HFI406", fmt.Sprintf("%s: %s of %s in %s, no parameters", namesOf(g.template, taken), finding.Count(elements, "element"), reason, g.dtype)).
		About(names(taken)...))
}

// addOddBuffers accounts for tensors that have the name and the place of a
// buffer, and another dtype or shape.
func (m *matching) addOddBuffers(g *group, taken []member, reason string) {
	m.bufferRow(g, taken, reason)
	m.find(finding.New("HFI425", fmt.Sprintf("%s: %s are no %s %s", namesOf(g.template, taken), reason, g.dtype, shapeText(g.shape))).
		About(names(taken)...))
}

func (m *matching) bufferRow(g *group, taken []member, reason string) (elements int64) {
	elements = g.each() * int64(len(taken))
	m.addRow("buffers", reason, productText(g, taken), elements, names(taken))
	return elements
}
