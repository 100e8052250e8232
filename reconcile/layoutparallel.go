package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

func sortPairs(pairs [][2]string) {
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1])
	})
}

// matchParallel claims tensors of one name that stand in several files, each
// with its share: what tensor-parallel training saves, rank by rank. Those that
// every rank holds whole are counted once, and their copies are named.
func (m *matching) matchParallel() {
	ranks := m.parallelRanks()
	if ranks < 2 {
		return
	}
	var about []string
	m.eachGroup(func(g *group) {
		counts := countNumbers(g)
		taken := m.claimIf(g, Rearranged, "", g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || !s.wanted() && !s.found.has(at) || !isShare(g.shape, s.Shape, ranks) || counts[one.number] != ranks {
				return false
			}
			s.take(at)
			m.load(s, g.each())
			return true
		})
		if taken == nil {
			return
		}
		s, _ := m.slots.forMember(g.name, &taken[0])
		m.claims[len(m.claims)-1].Role = RoleName(s.Tensor)
		about = append(about, namesOf(g.template, taken))
	})
	copies := m.claimReplicas(ranks)
	m.find(finding.New("HFI711", fmt.Sprintf("%d files hold a share of each matrix (%s): %d ranks of a parallel save; %s elements are in every one",
		ranks, strings.Join(finding.Names(about), ", "), ranks, finding.Number(copies))).About(about...))
}

// parallelRanks returns the number of files among which expected tensors are
// split, 0 where they are not.
func (m *matching) parallelRanks() int64 {
	ranks := int64(0)
	m.eachGroup(func(g *group) {
		s, _ := m.slots.forMember(g.name, &g.members[0])
		if s == nil || !s.wanted() || int64(len(g.members)) < 2 {
			return
		}
		if n, _ := fraction(g.shape, s.Shape); n >= 2 && n == countNumbers(g)[g.members[0].number] && n == int64(len(m.in.Checkpoint.Files)) {
			ranks = n
		}
	})
	return ranks
}

// countNumbers counts the members of a group by their numbers: how often each
// name is stored.
func countNumbers(g *group) map[[mostNumbers]int32]int64 {
	counts := make(map[[mostNumbers]int32]int64)
	for i := range g.members {
		counts[g.members[i].number]++
	}
	return counts
}

// claimReplicas claims the copies of tensors that every rank holds.
func (m *matching) claimReplicas(ranks int64) int64 {
	var elements int64
	var about []string
	m.eachGroup(func(g *group) {
		counts := countNumbers(g)
		taken := m.claimIf(g, Duplicate, inferRole(g.name), g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			return s != nil && s.found.has(at) && s.sameShape(g.shape) && counts[one.number] == ranks-1
		})
		elements += g.each() * int64(len(taken))
		about = append(about, names(taken)...)
	})
	if elements > 0 {
		m.addRow("replicas", "tensors that every rank of a parallel save holds", "", elements, about)
	}
	return elements
}
