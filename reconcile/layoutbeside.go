package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// predictionNames begin the names of layers that predict further tokens, in
// models whose description has none.
var predictionNames = []struct{ prefix, section, words string }{
	{"mtp.", "multi_token_prediction", "multi token prediction layers"},
	{"model.mtp.", "multi_token_prediction", "multi token prediction layers"},
	{"mtp_layers.", "multi_token_prediction", "multi token prediction layers"},
	{"model.mtp_layers.", "multi_token_prediction", "multi token prediction layers"},
	{"medusa_head.", "speculative_heads", "speculative heads"},
	{"medusa_heads.", "speculative_heads", "speculative heads"},
	{"eagle.", "speculative_heads", "speculative heads"},
	{"eagle_module.", "speculative_heads", "speculative heads"},
}

// matchPrediction claims prediction layers that no section describes. They are
// made of the model's own layers: a tensor with the ending of one of the model's
// has to have its shape, and others the model's width.
func (m *matching) matchPrediction() {
	for _, p := range predictionNames {
		var elements int64
		var about []string
		m.eachGroup(func(g *group) {
			if !strings.HasPrefix(g.name, p.prefix) && !strings.HasPrefix(g.template, p.prefix) {
				return
			}
			taken := m.claimIf(g, Section, p.section, g.each(), func(one *member) bool {
				s, _ := m.slots.forMember(g.name, one)
				return s == nil && m.fitsModel(g)
			})
			elements += g.each() * int64(len(taken))
			about = append(about, names(taken)...)
		})
		if elements == 0 {
			continue
		}
		m.addRow(p.section, p.words, "", elements, about)
		m.find(finding.New("HFI414", fmt.Sprintf("%s: %s", p.words, finding.Count(elements, "element"))).About(about...))
	}
}

// fitsModel reports whether a tensor can stand in a layer of the model beside
// the described ones.
func (m *matching) fitsModel(g *group) bool {
	ending := lastSegments(g.name)
	if places(g.name) > 0 {
		known := false
		for _, s := range m.slots.all {
			if s.section == "" && strings.HasSuffix(s.Template, strings.TrimPrefix(ending, "*")) && len(s.Index) > 0 {
				if s.sameShape(g.shape) {
					return true
				}
				known = true
			}
		}
		if known {
			return false
		}
	}
	D, V := m.in.Model.D.Int(), m.in.Model.V.Int()
	if D == 0 {
		return false
	}
	for _, shape := range [][]int64{{D}, {D, D}, {D, 2 * D}, {V, D}} {
		if slices.Equal(shape, g.shape) {
			return true
		}
	}
	return false
}
