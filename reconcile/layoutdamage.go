package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// matchSlices claims tensors of the right names of which a distributed training
// saved a part only. That a file was saved so shows where a matrix has lost its
// second dimension, or is empty; vectors are told by the company.
func (m *matching) matchSlices() {
	if !m.hasSlices() {
		return
	}
	for _, empty := range []bool{true, false} {
		m.claimSlices(empty)
	}
}

// hasSlices reports whether a matrix is stored flat or empty.
func (m *matching) hasSlices() bool {
	found := false
	m.eachGroup(func(g *group) {
		s, at := m.slots.forMember(g.name, &g.members[0])
		if s == nil || !s.wanted() || s.found.has(at) || len(g.shape) != 1 {
			return
		}
		found = found || len(s.Shape) > 1 && g.shape[0] < s.Each() || g.shape[0] == 0 && s.Each() > 0
	})
	return found
}

func (m *matching) claimSlices(empty bool) {
	var lost int64
	var about, folded []string
	m.eachGroup(func(g *group) {
		if len(g.shape) != 1 || empty != (g.shape[0] == 0) {
			return
		}
		taken := m.claimIf(g, Mismatch, "", g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || !s.wanted() || g.each() >= s.Each() || !s.take(at) {
				return false
			}
			lost += s.Each() - g.each()
			m.load(s, g.each())
			return true
		})
		if taken == nil {
			return
		}
		s, _ := m.slots.forMember(g.name, &taken[0])
		m.claims[len(m.claims)-1].Role = RoleName(s.Tensor)
		about = append(about, names(taken)...)
		folded = append(folded, fmt.Sprintf("%s %s instead of %s", namesOf(g.template, taken), shapeText(g.shape), shapeText(s.Shape)))
	})
	if about == nil {
		return
	}
	code, reason := "HFI709", "elements that a flat slice of a sharded save lacks"
	if empty {
		code, reason = "HFI708", "elements of tensors that were saved empty"
	}
	m.addRow("sharded_save", reason, "", -lost, about)
	m.find(finding.New(code, fmt.Sprintf("%s: %s not in the file", strings.Join(finding.Names(folded), ", "), finding.Count(lost, "element"))).About(about...))
}

// matchOneRank claims tensors that all are the same fraction of what is expected
// along one dimension: one rank of a tensor-parallel save.
func (m *matching) matchOneRank() {
	ranks := m.oneRankOf()
	if ranks < 2 {
		return
	}
	var lost int64
	var about []string
	m.eachGroup(func(g *group) {
		taken := m.claimIf(g, Mismatch, "", g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || !s.wanted() || !isShare(g.shape, s.Shape, ranks) || !s.take(at) {
				return false
			}
			lost += s.Each() - g.each()
			m.load(s, g.each())
			return true
		})
		if taken != nil {
			s, _ := m.slots.forMember(g.name, &taken[0])
			m.claims[len(m.claims)-1].Role = RoleName(s.Tensor)
			about = append(about, names(taken)...)
		}
	})
	m.addRow("sharded_save", "elements that other ranks of a parallel save hold", "", -lost, about)
	m.find(finding.New("HFI710", fmt.Sprintf("tensors have 1/%d of their size along one dimension: the file is one rank of %d", ranks, ranks)).About(about...))
}

// splitRoles are the roles whose matrices tensor-parallel training always splits.
// Attention can have some that every rank holds: latents, and keys and values
// where there are fewer than ranks.
var splitRoles = []estimator.Role{estimator.MLP, estimator.RoutedExperts, estimator.SharedExperts, estimator.TokenEmbedding, estimator.Head}

// oneRankOf returns the number of ranks of which the file is one, 0 where it is
// none: where the matrices that are split have lost different shares or none, or
// a norm has, or all are split the same way.
func (m *matching) oneRankOf() int64 {
	var ranks int64
	split := make(map[*slot]bool)
	dims := make(map[int]bool)
	agree := true
	m.eachGroup(func(g *group) {
		s, at := m.slots.forMember(g.name, &g.members[0])
		if s == nil || !s.wanted() || s.found.has(at) {
			return
		}
		n, along := fraction(g.shape, s.Shape)
		agree = agree && n >= 2 && (ranks == 0 || n == ranks) && s.Role != estimator.Norm
		ranks, split[s] = n, true
		if len(s.Shape) == 2 && s.Role != estimator.TokenEmbedding && s.Role != estimator.Head {
			dims[along] = true
		}
	})
	if !agree || len(dims) != 2 {
		return 0
	}
	seen := make(map[estimator.Role]bool)
	var whole, shared int // matrices of attention
	for _, s := range m.slots.all {
		if s.section != "" || s.TiedTo != "" || s.Buffer || len(s.Shape) < 2 {
			continue
		}
		seen[s.Role] = seen[s.Role] || split[s]
		switch {
		case s.count > 0 && slices.Contains(splitRoles, s.Role):
			return 0
		case s.Role == estimator.Attention && split[s]:
			shared++
		case s.Role == estimator.Attention && s.count > 0:
			whole++
		}
	}
	if whole > shared || !seen[estimator.TokenEmbedding] || !seen[estimator.MLP] && !seen[estimator.RoutedExperts] {
		return 0
	}
	return ranks
}

// fraction returns how many times the shape fits into the whole along exactly
// one dimension, and which; 0 where it does not.
func fraction(shape, whole []int64) (n int64, along int) {
	if len(shape) != len(whole) {
		return 0, 0
	}
	for i, d := range shape {
		switch {
		case d == whole[i]:
		case n != 0 || d <= 0 || whole[i]%d != 0:
			return 0, 0
		default:
			n, along = whole[i]/d, i
		}
	}
	return n, along
}

// isShare reports whether the shape is one of so many parts of the whole.
func isShare(shape, whole []int64, ranks int64) bool {
	n, _ := fraction(shape, whole)
	return n == ranks
}

// matchAliases forgives missing tensors of which a file's metadata says that
// they share the storage of another one: save_model keeps one name of several.
func (m *matching) matchAliases() {
	shapes := make(map[string][]int64) // of the names that the metadata mention
	var aliases [][2]string
	for _, file := range m.in.Checkpoint.Files {
		if file.Header == nil {
			continue
		}
		for alias, kept := range file.Header.Metadata {
			if alias == "format" {
				continue // of the framework, in every file
			}
			shapes[alias], shapes[kept] = nil, nil
			aliases = append(aliases, [2]string{alias, kept})
		}
	}
	if len(aliases) == 0 {
		return
	}
	for _, tensor := range m.in.Checkpoint.All() {
		if _, mentioned := shapes[tensor.Name]; mentioned {
			shapes[tensor.Name] = append([]int64{}, tensor.Shape...)
		}
	}
	maps.DeleteFunc(shapes, func(_ string, shape []int64) bool { return shape == nil })
	m.forgiveAliases(aliases, shapes)
}

func (m *matching) forgiveAliases(aliases [][2]string, shapes map[string][]int64) {
	var about []string
	var elements int64
	sortPairs(aliases)
	for _, pair := range aliases {
		shape, stored := shapes[pair[1]]
		if _, there := shapes[pair[0]]; there || !stored {
			continue
		}
		about = append(about, pair[0])
		template, numbers := foldName(nil, pair[0])
		s, at := m.slots.forMember(string(template), &member{number: numbers})
		if s == nil || s.section != "" || s.Buffer || s.TiedTo != "" || product(shape) < s.Each() || !s.take(at) {
			continue
		}
		elements += s.Each()
	}
	if about == nil {
		return
	}
	if elements > 0 {
		m.addRow("shared_storage", "tensors that share the storage of another", "", -elements, about)
	}
	m.find(finding.New("HFI712", fmt.Sprintf("%s stored once with others of the same storage, as the file's metadata says", finding.Count(int64(len(about)), "tensor"))).About(about...))
}
