package reconcile

import (
	"fmt"

	"github.com/hf-inspect/hf-inspect/finding"
)

// claimLoose counts the tensors whose names are too many to be looked at one by
// one: as inferred where there is no description, else as unexpected.
func (m *matching) claimLoose(status Status) {
	for _, g := range m.loose {
		c := claim{Claim: Claim{Status: status, Role: "other", DType: g.dtype, Loose: true, members: g.members}}
		elements := sumOf(g.members)
		c.Logical = elements
		if status == Inferred && wholeNumbers.has(g.dtype) {
			c.Status, c.Role, c.Logical = Buffer, "buffer", 0
		}
		m.claims = append(m.claims, c)
		text := fmt.Sprintf("%s further %s tensors of many names or shapes", finding.Number(int64(len(g.members))), g.dtype)
		if status == Inferred {
			m.addRow(c.Role, "inferred from names", text, elements, names(g.members))
			continue
		}
		m.unexplained += elements
		m.unexplainedNames = append(m.unexplainedNames, names(g.members)...)
		m.find(finding.New("HFI402", text+" are not of this architecture").About(names(g.members)...))
	}
}
