package reconcile

import (
	"fmt"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// matchTies claims stored copies of tied tensors. A copy whose original is not
// in the file stands for it.
func (m *matching) matchTies() {
	m.eachGroup(func(g *group) {
		s := m.tiedSlot(g)
		if s == nil || !s.sameShape(g.shape) {
			return
		}
		if target := m.slotNamed(s.TiedTo); target != nil && target.missing() > 0 && target.sameShape(g.shape) {
			m.substitute(g, s, target)
			return
		}
		taken := m.claimIf(g, Tied, s.Role.String(), g.each(), func(one *member) bool {
			at := s.place(one)
			return at >= 0 && s.take(at)
		})
		if taken == nil {
			return
		}
		elements := g.each() * int64(len(taken))
		m.addRow("stored_ties", "tied tensors stored again", productText(g, taken), elements, names(taken))
		m.find(finding.New("HFI404", fmt.Sprintf("%s is a copy of %s: %s elements stored twice",
			namesOf(g.template, taken), s.TiedTo, finding.Number(elements))).About(names(taken)...).Field("tie_word_embeddings"))
	})
}

// substitute lets the stored alias of a tie stand for the tensor that is usually
// kept.
func (m *matching) substitute(g *group, alias, target *slot) {
	taken := m.claimIf(g, Expected, target.Role.String(), g.each(), func(one *member) bool {
		return alias.place(one) >= 0 && target.take(0)
	})
	if taken == nil {
		return
	}
	m.load(target, g.each()*int64(len(taken)))
	m.find(finding.New("HFI405", fmt.Sprintf("%s stands for %s, with which it is tied", taken[0].tensor.Name, target.Folded())).
		About(taken[0].tensor.Name))
}

func (m *matching) tiedSlot(g *group) *slot {
	for _, s := range m.slots.byTemplate[g.name] {
		if s.TiedTo != "" && s.section == "" {
			return s
		}
	}
	return nil
}

// slotNamed finds the slot of a full name.
func (m *matching) slotNamed(name string) *slot {
	template, numbers := foldName(nil, name)
	one := member{number: numbers}
	s, _ := m.slots.forMember(string(template), &one)
	return s
}

// matchVocabulary explains embeddings and heads whose rows are not the config's
// vocabulary: both were resized, or padded, together.
func (m *matching) matchVocabulary() {
	m.eachGroup(func(g *group) {
		one := &g.members[0]
		s, at := m.slots.forMember(g.name, one)
		if s == nil || len(g.members) != 1 || s.Copies != 1 || !vocabularyShaped(s, g.shape) {
			return
		}
		status, logical := Mismatch, g.each()
		if s.TiedTo != "" {
			status = Tied
		}
		taken := m.claimIf(g, status, s.Role.String(), logical, func(*member) bool { return s.take(at) })
		if taken == nil {
			return
		}
		if s.TiedTo != "" {
			m.addRow("stored_ties", "tied tensors stored again", productText(g, taken), g.each(), names(taken))
			m.find(vocabularyFinding(g, s, taken))
			return
		}
		m.load(s, g.each())
		m.addRow("vocabulary", vocabularyReason(g, s), fmt.Sprintf("%s %s instead of %s", taken[0].tensor.Name, shapeText(g.shape), shapeText(s.Shape)),
			g.each()-s.Each(), names(taken))
		m.find(vocabularyFinding(g, s, taken))
	})
}

func vocabularyReason(g *group, s *slot) string {
	if g.shape[0] < s.Shape[0] {
		return "rows of the vocabulary that are not stored"
	}
	return "rows of the vocabulary beyond the config's"
}

func vocabularyFinding(g *group, s *slot, taken []member) finding.Finding {
	code := "HFI411"
	if g.shape[0] < s.Shape[0] {
		code = "HFI412"
	}
	name := taken[0].tensor.Name
	return finding.New(code, fmt.Sprintf("%s has %s rows, the config's vocab_size is %s", name, finding.Number(g.shape[0]), finding.Number(s.Shape[0]))).
		About(name).Field("vocab_size")
}

// vocabularyShaped reports whether the shapes differ in the number of rows of a
// token table, a head or its bias, and in nothing else.
func vocabularyShaped(s *slot, shape []int64) bool {
	if s.Role != estimator.TokenEmbedding && s.Role != estimator.Head || len(shape) != len(s.Shape) || len(shape) == 0 {
		return false
	}
	for i := 1; i < len(shape); i++ {
		if shape[i] != s.Shape[i] {
			return false
		}
	}
	return shape[0] != s.Shape[0] && shape[0] > 0
}
