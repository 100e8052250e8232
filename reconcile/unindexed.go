package reconcile

import (
	"fmt"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// setUnreadAside keeps tensors of the model, and companions of its weights, out
// of the matching where the index does not name their file: loaders that follow
// the index do not read it.
func (m *matching) setUnreadAside() {
	m.strays = make(map[string]bool)
	for _, d := range m.in.Checkpoint.Disagreements {
		if d.Kind == safetensors.UnusedShard && d.Counts {
			m.strays[d.Actual] = true
		}
	}
	if len(m.strays) == 0 {
		return
	}
	for _, g := range m.groups {
		if m.isStrange(g.name) {
			continue
		}
		aside := *g
		aside.members = g.split(func(one *member) bool {
			s, _ := m.slots.forMember(g.name, one)
			return m.strays[one.file.Path] && (s == nil || s.section == "" && s.TiedTo == "" && !s.Buffer)
		})
		if aside.members != nil {
			aside.size = len(aside.members)
			m.unread = append(m.unread, &aside)
		}
	}
}

// matchUnread claims what was set aside: tensors that no other file has are
// missing for the library. Those that are elsewhere too are left.
func (m *matching) matchUnread() {
	needed := make(map[string][]member) // by file
	var order []string
	var elements int64
	for _, g := range m.unread {
		taken := m.claimIf(g, Beyond, inferRole(g.name), g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			return s != nil && s.wanted() && s.sameShape(g.shape) && s.take(at)
		})
		for _, one := range taken {
			if needed[one.file.Path] == nil {
				order = append(order, one.file.Path)
			}
			needed[one.file.Path] = append(needed[one.file.Path], one)
		}
		elements += g.each() * int64(len(taken))
	}
	m.groups = append(m.groups, m.unread...)
	for _, file := range order {
		list := needed[file]
		m.addRow("unindexed_file", unindexedReason, "", sumOf(list), names(list))
		m.find(finding.New("HFI216", fmt.Sprintf("%s, which the index does not name, holds what the model needs: %s elements", file, finding.Number(sumOf(list)))).
			About(names(list)...).In(file))
	}
	if elements > 0 {
		m.addRow("not_read", "tensors that a loader which follows the index misses", "", -elements, nil)
	}
}

func sumOf(members []member) (elements int64) {
	for i := range members {
		elements += members[i].tensor.Elements()
	}
	return elements
}

const unindexedReason = "tensors of files that the index does not name"

// matchUnindexed claims what else is left of files that the index does not name:
// no part of the model.
func (m *matching) matchUnindexed() {
	if len(m.strays) == 0 {
		return
	}
	var elements int64
	var about []string
	m.eachGroup(func(g *group) {
		logical := g.each()
		if !m.isStrange(g.name) {
			logical = 0 // a companion of a quantised weight
		}
		taken := m.claimIf(g, Beyond, inferRole(g.name), logical, func(one *member) bool {
			s, _ := m.slots.forMember(g.name, one)
			return s == nil && m.strays[one.file.Path]
		})
		elements += g.each() * int64(len(taken))
		about = append(about, names(taken)...)
	})
	if elements > 0 {
		m.addRow("unindexed_file", unindexedReason, "", elements, about)
	}
}
