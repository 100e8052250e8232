package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// checkBiases reports biases that the quantiser added, and modules that lack
// theirs.
func (m *matching) checkBiases() {
	if m.quantiserBiases == nil {
		return
	}
	var list []string
	var elements int64
	for _, s := range m.quantiserBiases {
		list = append(list, names(s.members)...)
		elements += s.each() * int64(len(s.members))
	}
	zero, filled := m.biasValues()
	m.find(finding.New("HFI511", fmt.Sprintf("%s of biases that the config does not call for, %s", finding.Count(elements, "element"), zero)).About(list...))
	if filled != nil {
		m.find(finding.New("HFI417", some(filled)+" are not zero and not loaded").About(filled...))
	}
	for _, u := range m.unpacked {
		if u.scheme.addsBias() && u.part(biasSuffix) == nil && !m.described(u.stem+biasSuffix) && strings.Contains(u.stem, "*") {
			m.find(finding.New("HFI508", fmt.Sprintf("%s has no bias, other modules have one from the quantiser", u.words())).About(names(u.carrier.members)...))
		}
	}
}

// biasValues says of the quantiser's biases whether they are zero, and names
// those that are not.
func (m *matching) biasValues() (words string, filled []string) {
	if m.in.Values == nil || !m.in.AllValues {
		return "their values not read", nil
	}
	unread := 0
	for _, s := range m.quantiserBiases {
		for i := range s.members {
			switch data := m.values(s, i); {
			case data == nil:
				unread++
			case !zeroFloats(data, s.dtype):
				filled = append(filled, s.members[i].tensor.Name)
			}
		}
	}
	switch {
	case unread > 0:
		return fmt.Sprintf("the values of %d not read", unread), filled
	case filled != nil:
		return fmt.Sprintf("%d of them not zero", len(filled)), filled
	}
	return "all zero", nil
}
