package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// fewestRenamed is how many different names a part of a model must have for a
// rename of the whole part to be believed. Fewer could be tensors that somebody
// renamed.
const fewestRenamed = 4

// mostRenamed bounds the different names that are searched for a rename; real
// parts have some hundreds.
const mostRenamed = 1 << 14

// renameParts exchanges the prefix of a whole part of a composed model, such as
// vision_tower.vision_model for vision_tower: names of towers changed between
// versions of the library, which knows both.
func (m *matching) renameParts() {
	for range 4 {
		e, ok := m.partExchange()
		if !ok {
			return
		}
		for _, g := range m.groups {
			g.name = e.apply(g.name)
		}
		m.renameHead()
		m.find(finding.New("HFI424", fmt.Sprintf("names of a part begin with %q instead of %q", e.stored, e.expected)))
	}
}

// renameHead lets the output projection follow a part that was renamed: it stands
// within the language model in some versions of the library, beside the parts in
// others.
func (m *matching) renameHead() {
	for _, s := range m.slots.all {
		if s.Role != estimator.Head || s.section != "" || len(s.Index) > 0 {
			continue
		}
		if slices.ContainsFunc(m.groups, func(g *group) bool { return g.name == s.Template }) {
			continue
		}
		for _, g := range m.groups {
			apart := strings.HasSuffix(s.Template, "."+g.name) || strings.HasSuffix(g.name, "."+s.Template)
			if apart && m.slots.byTemplate[g.name] == nil && slices.Equal(g.shape, s.Shape) {
				g.name = s.Template
				break
			}
		}
	}
}

// partExchange finds an exchange under which every stored name that has its
// prefix, and none that was expected before, is an expected one.
func (m *matching) partExchange() (exchange, bool) {
	unknown := make(map[string]bool)
	for _, g := range m.groups {
		if m.slots.byTemplate[g.name] == nil && len(g.members) > 0 {
			unknown[g.name] = true
		}
	}
	if len(unknown) < fewestRenamed || len(unknown) > mostRenamed {
		return exchange{}, false
	}
	endings := m.endingsOfMissing()
	tally := make(map[exchange]int)
	for name := range unknown {
		for rest, depth := name, 0; depth < deepestPrefix; depth++ {
			_, after, ok := strings.Cut(rest, ".")
			if !ok {
				break
			}
			rest = after
			for _, prefix := range endings[rest] {
				tally[exchange{strings.TrimSuffix(name, rest), prefix}]++
			}
		}
	}
	best, most := exchange{}, fewestRenamed-1
	for e, n := range tally {
		if n > most || n == most && len(e.stored)+len(e.expected) < len(best.stored)+len(best.expected) {
			if m.holdsForAll(e) {
				best, most = e, n
			}
		}
	}
	return best, most >= fewestRenamed
}

// endingsOfMissing lists, for every ending of an expected name that is not
// stored, the prefixes that go before it.
func (m *matching) endingsOfMissing() map[string][]string {
	stored := make(map[string]bool)
	for _, g := range m.groups {
		stored[g.name] = true
	}
	endings := make(map[string][]string)
	for _, s := range m.slots.all {
		if s.section != "" || stored[s.Template] {
			continue
		}
		for rest := s.Template; ; {
			_, after, ok := strings.Cut(rest, ".")
			if !ok {
				break
			}
			rest = after
			prefix := strings.TrimSuffix(s.Template, rest)
			if !slices.Contains(endings[rest], prefix) {
				endings[rest] = append(endings[rest], prefix)
			}
		}
	}
	return endings
}

// holdsForAll reports whether every stored name with the prefix becomes an
// expected one.
func (m *matching) holdsForAll(e exchange) bool {
	for _, g := range m.groups {
		if rest, ok := strings.CutPrefix(g.name, e.stored); ok && m.slots.byTemplate[e.expected+rest] == nil {
			return false
		}
	}
	return true
}
