package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// matchSections claims the tensors of parts that stand beside the model:
// prediction layers.
func (m *matching) matchSections() {
	sizes := make(map[string]int64)
	listed := make(map[string][]string)
	m.eachGroup(func(g *group) {
		var section string
		taken := m.claimIf(g, Section, "", 0, func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || s.section == "" || !s.sameShape(g.shape) || !s.take(at) {
				return false
			}
			section = s.section
			return true
		})
		if taken == nil {
			return
		}
		c := &m.claims[len(m.claims)-1]
		c.Role = section
		if s, _ := m.slots.forMember(g.name, &taken[0]); !s.Buffer {
			c.Logical = g.each() * int64(len(taken))
		}
		sizes[section] += g.each() * int64(len(taken))
		listed[section] = append(listed[section], names(taken)...)
	})
	for _, section := range m.in.Model.Sections {
		m.closeSection(section.Name, sizes[section.Name], listed[section.Name])
	}
}

func (m *matching) closeSection(name string, elements int64, tensors []string) {
	words := strings.ReplaceAll(name, "_", " ")
	if elements == 0 {
		if m.in.Checkpoint.Complete {
			m.find(finding.New("HFI422", "the config promises "+words+" layers, the file holds none").Field("num_nextn_predict_layers"))
		}
		return
	}
	m.addRow(name, words+" layers", "", elements, tensors)
	m.find(finding.New("HFI414", fmt.Sprintf("%s layers: %s", words, finding.Count(elements, "element"))).About(tensors...))
	var missing []string
	for _, s := range m.slots.all {
		if s.section == name && s.missing() > 0 {
			missing = append(missing, s.missingNames(finding.MostNames)...)
		}
	}
	if len(missing) > 0 {
		m.find(finding.New("HFI401", fmt.Sprintf("the file lacks %s of the %s layers", finding.Count(int64(len(missing)), "tensor"), words)).About(missing...))
	}
}

// matchLayersBeyond claims whole layers after the config's last: tensors that the
// same config with more layers calls for, or that have the name and shape of a
// described layer's with a number beyond it.
func (m *matching) matchLayersBeyond() {
	last := m.lastLayer()
	have, deeper := m.deeper()
	if last < 0 && deeper == nil {
		return
	}
	var elements int64
	var tensors []string
	layers := make(map[int64]bool)
	m.eachGroup(func(g *group) {
		candidates := m.slots.byTemplate[g.name]
		if deeper != nil {
			candidates = append(deeper.byTemplate[g.name], candidates...)
		}
		if len(candidates) == 0 {
			return
		}
		taken := m.claimIf(g, Beyond, candidates[0].Role.String(), g.each(), func(one *member) bool {
			return slices.ContainsFunc(candidates, func(s *slot) bool {
				return s.sameShape(g.shape) && (beyond(s, one, last) || m.deepens(s, g.name, one))
			})
		})
		for i := range taken {
			layers[int64(taken[i].number[0])] = true
		}
		elements += g.each() * int64(len(taken))
		tensors = append(tensors, names(taken)...)
	})
	if elements == 0 {
		return
	}
	if deeper == nil {
		have = last + 1
	}
	stored := finding.Count(int64(len(layers)), "layer")
	m.addRow("layers_beyond_config", "layers beyond the config's", stored, elements, tensors)
	m.find(finding.New("HFI415", fmt.Sprintf("the file holds %s beyond the config's %d: %s", stored, have, finding.Count(elements, "element"))).
		About(tensors...).Field("num_hidden_layers"))
}

// deeper returns what the config calls for with as many layers as the file holds,
// and how many it has; nil where the file holds no more.
func (m *matching) deeper() (have int64, expected *slots) {
	if m.in.Config == nil || !m.anyUnknown() {
		return 0, nil
	}
	have, with, ok := m.in.Config.Layers()
	if !ok {
		return 0, nil
	}
	one, err := estimator.Describe(with(have+1), m.in.Model.Class)
	if err != nil {
		return 0, nil
	}
	next := newSlots()
	next.add(one.Tensors(), "")
	stored := int64(0)
	m.eachGroup(func(g *group) {
		if len(next.byTemplate[g.name]) == 0 {
			return
		}
		for i := range g.members {
			stored = max(stored, int64(g.members[i].number[0])+1)
		}
	})
	if stored <= have {
		return 0, nil
	}
	all, err := estimator.Describe(with(stored), m.in.Model.Class)
	if err != nil {
		return 0, nil
	}
	expected = newSlots()
	expected.add(all.Tensors(), "")
	return have, expected
}

// deepens reports whether a slot calls for a member that the config as it is does
// not.
func (m *matching) deepens(s *slot, name string, one *member) bool {
	if len(s.Index) == 0 || s.place(one) < 0 {
		return false
	}
	known, _ := m.slots.forMember(name, one)
	return known == nil
}

// lastLayer is the highest number at the first place of any expected name.
func (m *matching) lastLayer() int64 {
	last := int64(-1)
	for _, s := range m.slots.all {
		if len(s.Index) > 0 && s.section == "" {
			last = max(last, s.Index[0][len(s.Index[0])-1].Last)
		}
	}
	return last
}

// beyond reports whether a member would fill the slot but for a layer number
// after the last one.
func beyond(s *slot, one *member, last int64) bool {
	if len(s.Index) == 0 || int64(one.number[0]) <= last {
		return false
	}
	inner := *one
	inner.number[0] = int32(s.Index[0][0].First)
	return s.place(&inner) >= 0
}

// matchBiasesBeyond claims biases of linears that the config has without one.
func (m *matching) matchBiasesBeyond() {
	var elements int64
	var tensors []string
	m.eachGroup(func(g *group) {
		stem, ok := strings.CutSuffix(g.name, ".bias")
		if !ok || len(g.shape) != 1 {
			return
		}
		taken := m.claimIf(g, Beyond, "bias", g.each(), func(one *member) bool {
			s, _ := m.slots.forMember(stem+".weight", one)
			return s != nil && len(s.Shape) >= 2 && slices.Contains(s.Shape, g.shape[0])
		})
		elements += g.each() * int64(len(taken))
		tensors = append(tensors, names(taken)...)
	})
	if elements == 0 {
		return
	}
	m.addRow("biases_beyond_config", "biases that the config does not call for", "", elements, tensors)
	m.find(finding.New("HFI417", fmt.Sprintf("%s of biases that the config does not call for", finding.Count(elements, "element"))).About(tensors...))
}

// matchOtherHeads claims the weights of another head of the same body: those
// which a sibling class calls for.
func (m *matching) matchOtherHeads() {
	if m.in.Config == nil || !m.anyUnknown() {
		return
	}
	for _, class := range estimator.Siblings(m.in.Model) {
		sibling, err := estimator.Describe(m.in.Config, class)
		if err != nil {
			continue
		}
		m.claimHead(class, sibling)
	}
}

// anyUnknown reports whether something is left whose name nothing calls for: no
// part beside the model and no buffer.
func (m *matching) anyUnknown() bool {
	unknown := false
	m.eachGroup(func(g *group) {
		if former, _ := formerBufferOf(g.name, g.shape); !unknown && former == nil {
			unknown = slices.ContainsFunc(g.members, func(one member) bool {
				s, _ := m.slots.forMember(g.name, &one)
				return s == nil
			})
		}
	})
	return unknown
}

func (m *matching) claimHead(class string, sibling *estimator.Model) {
	head := newSlots()
	for _, t := range sibling.Tensors() {
		name := t.Template
		if sibling.Prefix == "" && m.in.Model.Prefix != "" { // the body alone
			t.Template = m.in.Model.Prefix + "." + name
		}
		if rest, ok := strings.CutPrefix(name, sibling.Prefix+"."); ok && sibling.Prefix != "" {
			t.Template = m.in.Model.Prefix + "." + rest
			if m.in.Model.Prefix == "" {
				t.Template = rest
			}
		}
		if m.slots.byTemplate[t.Template] == nil && !t.Buffer {
			head.add([]estimator.Tensor{t}, "")
		}
	}
	var elements int64
	var tensors []string
	m.eachGroup(func(g *group) {
		role := ""
		taken := m.claimIf(g, OtherHead, "", g.each(), func(one *member) bool {
			s, at := head.forMember(g.name, one)
			if s == nil || !s.sameShape(g.shape) && !labelShaped(s, g.shape) || !s.take(at) {
				return false
			}
			role = s.Role.String()
			return true
		})
		if taken == nil {
			return
		}
		m.claims[len(m.claims)-1].Role = role
		elements += g.each() * int64(len(taken))
		tensors = append(tensors, names(taken)...)
	})
	if elements == 0 {
		return
	}
	m.addRow("other_head", "head of "+class, "", elements, tensors)
	m.find(finding.New("HFI413", fmt.Sprintf("%s of the head of %s", finding.Count(elements, "element"), class)).About(tensors...))
}

// labelShaped lets a classifier have any number of labels: the config of another
// class does not tell it.
func labelShaped(s *slot, shape []int64) bool {
	return s.Role == estimator.Classifier && len(shape) == len(s.Shape) && len(shape) > 0 && slices.Equal(shape[1:], s.Shape[1:])
}
