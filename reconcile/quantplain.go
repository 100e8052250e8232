package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// checkStray reports weights as they are with scales beside them: where the
// library expects a packed one, it would multiply the weight by them.
func (m *matching) checkStray() {
	odd := m.packsOddSizes()
	amiss := func(u *unpacked) bool {
		declared, ok := m.schemeFor(u.bundle)
		return u.scheme.stray && ok && m.compressed() && (odd || dividesInto(u.shape, declared))
	}
	m.every("HFI517", "hold weights as they are, the config has them quantised", amiss)
	m.every("HFI514", "hold weights as they are and have scales all the same", func(u *unpacked) bool { return u.scheme.stray && !amiss(u) })
}

// compressed reports whether the config says that weights are stored packed:
// compressed-tensors saves them unpacked too.
func (m *matching) compressed() bool {
	q := m.quant
	return q.Method != "compressed-tensors" || q.Format != "dense" && q.Fields.Raw("quantization_status").Str == "compressed"
}

// packsOddSizes reports whether the writer packs weights that have no whole
// groups or blocks too.
func (m *matching) packsOddSizes() bool {
	return m.quant != nil && m.quant.Method == "compressed-tensors" || slices.ContainsFunc(m.unpacked, func(u *unpacked) bool {
		declared, ok := m.schemeFor(u.bundle)
		return !u.scheme.stray && ok && !dividesInto(u.shape, declared)
	})
}

// checkLeftOut finds packed weights of modules that the config leaves alone.
func (m *matching) checkLeftOut() {
	if m.quant == nil || !m.quant.Known() {
		return
	}
	var list []string
	for _, u := range m.unpacked {
		for i := range u.carrier.members {
			if !u.scheme.stray && m.quant.LeavesOut(u.module(i)) && m.quant.LeavesOut(u.describedModule(i)) {
				list = append(list, u.carrier.members[i].tensor.Name)
			}
		}
	}
	if list != nil {
		m.find(finding.New("HFI516", some(list)+" are quantised, the config leaves them out").About(list...).Field(m.quant.Path))
	}
}

// checkPlain looks at the weights that no scheme explains: those in eight bits
// lack their scales, and the config may have others quantised.
func (m *matching) checkPlain() {
	var bare, plain, bareNames, plainNames []string
	for i := range m.claims {
		c := &m.claims[i]
		switch {
		case c.packed || c.Logical == 0 || m.hasFused(c):
		case fp8.has(c.DType):
			bare, bareNames = append(bare, namesOf(c.Template, c.members)), append(bareNames, names(c.members)...)
		case m.quant != nil && m.quantised() > 0 && m.shouldBe(c):
			plain, plainNames = append(plain, namesOf(c.Template, c.members)), append(plainNames, names(c.members)...)
		}
	}
	m.checkAmongPacked()
	if bare != nil {
		m.find(finding.New("HFI510", some(bare)+" are F8 and have no scales").About(bareNames...))
	}
	if plain != nil {
		m.find(finding.New("HFI512", some(plain)+" are not quantised, the config does not leave them out").About(plainNames...).Field(m.quant.Path))
	}
}

// checkAmongPacked finds plain weights of which the other layers' are packed,
// though the config makes no difference.
func (m *matching) checkAmongPacked() {
	packed := make(map[string]bool)
	for _, u := range m.unpacked {
		if !u.scheme.stray {
			packed[u.stem+u.scheme.logical] = true
		}
	}
	for i := range m.claims {
		if c := &m.claims[i]; !c.packed && packed[c.Name] && m.quant != nil && m.shouldBe(c) {
			m.find(finding.New("HFI508", fmt.Sprintf("%s is not quantised, in other layers it is", namesOf(c.Template, c.members))).About(names(c.members)...))
		}
	}
}

// hasFused reports whether a weight's scales are stacked with those of other
// experts.
func (m *matching) hasFused(c *claim) bool {
	return slices.ContainsFunc(m.fused, func(prefix string) bool { return strings.HasPrefix(c.Name, prefix) })
}

// shouldBe reports whether the config has a plain weight quantised: a linear of
// the layers whose rows can be divided into groups.
func (m *matching) shouldBe(c *claim) bool {
	if c.Status != Expected || len(c.Shape) != 2 || c.bias || !strings.Contains(c.Template, "*") || !strings.HasSuffix(c.Name, ".weight") {
		return false
	}
	if !slices.Contains([]string{"attention", "mlp", "routed_experts", "shared_experts"}, c.Role) {
		return false
	}
	for _, u := range m.unpacked {
		if u.scheme.stray && slices.ContainsFunc(u.carrier.members, func(one member) bool { return one.tensor == c.members[0].tensor }) {
			return false // said already
		}
	}
	s, ok := m.quant.For(strings.TrimSuffix(c.members[0].tensor.Name, ".weight"))
	return ok && dividesInto(c.Shape, s)
}

// dividesInto reports whether a weight has whole groups or blocks: writers leave
// others as they are.
func dividesInto(shape []int64, s hfconfig.Scheme) bool {
	w := newWeight(shape, params{}, 0)
	if len(s.Block) == 2 {
		return w.o%s.Block[0] == 0 && w.i%s.Block[1] == 0
	}
	return s.GroupSize <= 0 || w.i%s.GroupSize == 0
}
