package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// fusion is a tensor that stands for several others side by side.
type fusion struct {
	whole string
	parts []string
}

// fusions are the names that checkpoints use for the same matrices, fused and
// split.
var fusions = []fusion{
	{"qkv_proj", []string{"q_proj", "k_proj", "v_proj"}},
	{"query_key_value", []string{"q_proj", "k_proj", "v_proj"}},
	{"query_key_value", []string{"query", "key", "value"}},
	{"Wqkv", []string{"q_proj", "k_proj", "v_proj"}},
	{"W_pack", []string{"q_proj", "k_proj", "v_proj"}},
	{"c_attn", []string{"q_proj", "k_proj", "v_proj"}},
	{"qkv", []string{"q_proj", "k_proj", "v_proj"}},
	{"qkv", []string{"query", "key", "value"}},
	{"qkv", []string{"q", "k", "v"}},
	{"wqkv", []string{"wq", "wk", "wv"}},
	{"wqkv", []string{"q_proj", "k_proj", "v_proj"}},
	{"kv_proj", []string{"k_proj", "v_proj"}},
	{"gate_up_proj", []string{"gate_proj", "up_proj"}},
	{"gate_up_proj", []string{"w1", "w3"}},
	{"gate_up", []string{"gate_proj", "up_proj"}},
	{"dense_h_to_4h", []string{"gate_proj", "up_proj"}},
	{"w13", []string{"w1", "w3"}},
	{"w12", []string{"w1", "w2"}},
}

// rearrange claims tensors that hold the expected elements in another
// arrangement: fused or split, stacked or one by one.
func (m *matching) rearrange() {
	if m.isMatched() {
		return
	}
	a := &arrangement{matching: m, left: m.remaining()}
	a.fuse()
	a.split()
	a.splitLatent()
	a.stackExperts()
	a.unstackExperts()
	a.splitStacks()
	a.joinConvolutions()
	a.channelsLast()
}

// isMatched reports whether nothing is left of either account.
func (m *matching) isMatched() bool {
	return !slices.ContainsFunc(m.groups, func(g *group) bool { return len(g.members) > 0 }) ||
		!slices.ContainsFunc(m.slots.all, func(s *slot) bool { return s.wanted() })
}

// wanted reports whether copies of the slot are missing that a file should hold.
func (s *slot) wanted() bool {
	return s.section == "" && s.TiedTo == "" && !s.Buffer && s.missing() > 0
}

// spare is a stored tensor that no step has claimed.
type spare struct {
	g      *group
	number [mostNumbers]int32
}

// remaining indexes what no step has claimed by name and numbers.
func (m *matching) remaining() map[string]map[[mostNumbers]int32]*group {
	left := make(map[string]map[[mostNumbers]int32]*group)
	m.eachGroup(func(g *group) {
		if left[g.name] == nil {
			left[g.name] = make(map[[mostNumbers]int32]*group)
		}
		for i := range g.members {
			left[g.name][g.members[i].number] = g
		}
	})
	return left
}

// arrangement is the search for rearranged tensors.
type arrangement struct {
	*matching
	left map[string]map[[mostNumbers]int32]*group
}

// lastModule splits X.q_proj.weight in X, q_proj and weight.
func lastModule(name string) (above, module, ending string) {
	head, ending := cutLast(name)
	above, module = cutLast(head)
	return above, module, ending
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ".")
}

// free returns the slot of a name and numbers that is not yet filled.
func (a *arrangement) free(name string, number [mostNumbers]int32) *slot {
	s, at := a.slots.forMember(name, &member{number: number})
	if s == nil || !s.wanted() || s.found.has(at) {
		return nil
	}
	return s
}

// fuse claims stored tensors that hold several expected ones side by side.
func (a *arrangement) fuse() {
	var about []string
	a.eachGroup(func(g *group) {
		above, module, ending := lastModule(g.name)
		for _, f := range fusions {
			if f.whole != module {
				continue
			}
			names := make([]string, len(f.parts))
			for i, part := range f.parts {
				names[i] = joined(above, part, ending)
			}
			if folded := a.claimWhole(g, names); folded != "" {
				about = append(about, folded)
			}
		}
	})
	if about != nil {
		a.find(finding.New("HFI701", fmt.Sprintf("%s: one tensor holds several projections, for each of which the class has one", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// claimWhole claims the members of a group that are the concatenation of the
// expected tensors of these names.
func (a *arrangement) claimWhole(g *group, names []string) string {
	var role string
	taken := a.claimIf(g, Rearranged, "", g.each(), func(one *member) bool {
		parts := make([]*slot, len(names))
		shapes := make([][]int64, len(names))
		for i, name := range names {
			if parts[i] = a.free(name, one.number); parts[i] == nil {
				return false
			}
			shapes[i] = parts[i].Shape
		}
		if !slices.Equal(sideBySide(shapes, 0), g.shape) && !(len(g.shape) == 2 && slices.Equal(sideBySide(shapes, 1), g.shape)) {
			return false
		}
		for _, s := range parts {
			s.take(s.place(one))
			a.load(s, s.Each())
		}
		role = RoleName(parts[0].Tensor)
		return true
	})
	if taken == nil {
		return ""
	}
	a.claims[len(a.claims)-1].Role = role
	return namesOf(g.template, taken)
}

// sideBySide is the shape of tensors that are concatenated along a dimension,
// nil where they do not fit.
func sideBySide(shapes [][]int64, along int) []int64 {
	whole := slices.Clone(shapes[0])
	if along >= len(whole) {
		return nil
	}
	for _, s := range shapes[1:] {
		if len(s) != len(whole) {
			return nil
		}
		for i := range s {
			switch {
			case i == along:
				whole[i] += s[i]
			case s[i] != whole[i]:
				return nil
			}
		}
	}
	return whole
}

// split claims stored tensors that lie side by side in an expected one.
func (a *arrangement) split() {
	var about []string
	for _, s := range a.slots.all {
		above, module, ending := lastModule(s.Template)
		for _, f := range fusions {
			if f.whole == module && s.wanted() && len(s.Shape) <= 2 {
				about = append(about, a.claimParts(s, above, ending, f)...)
			}
		}
	}
	if about != nil {
		a.find(finding.New("HFI702", fmt.Sprintf("%s: projections are split that the class has in one tensor", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// claimParts claims, for every missing copy of a slot, the stored tensors that
// make it up.
func (a *arrangement) claimParts(s *slot, above, ending string, f fusion) []string {
	picked := newPicks()
	for _, number := range inOrder(a.left[joined(above, f.parts[0], ending)]) {
		at := s.place(&member{number: number})
		if at < 0 || s.found.has(at) {
			continue
		}
		parts := make([]spare, 0, len(f.parts))
		var shapes [][]int64
		for _, part := range f.parts {
			if g := a.left[joined(above, part, ending)][number]; g != nil {
				parts = append(parts, spare{g, number})
				shapes = append(shapes, g.shape)
			}
		}
		if len(parts) == len(f.parts) && slices.Equal(sideBySide(shapes, 0), s.Shape) && alike(shapes) && s.take(at) {
			picked.add(parts)
			a.load(s, s.Each())
		}
	}
	return a.claimPicked(picked, RoleName(s.Tensor))
}

// inOrder returns the numbers of an index, lowest first.
func inOrder(index map[[mostNumbers]int32]*group) [][mostNumbers]int32 {
	return slices.SortedFunc(maps.Keys(index), func(x, y [mostNumbers]int32) int { return slices.Compare(x[:], y[:]) })
}

// alike reports whether parts have the proportions of what they are: gate and up
// the same rows, keys and values the same, and a whole number of query groups.
func alike(shapes [][]int64) bool {
	last := shapes[len(shapes)-1][0]
	if len(shapes) == 2 {
		return shapes[0][0] == last
	}
	return shapes[1][0] == last && last > 0 && shapes[0][0]%last == 0
}

// picks are stored tensors that were found to be parts of something.
type picks struct {
	order []*group
	of    map[*group]map[[mostNumbers]int32]bool
}

func newPicks() *picks { return &picks{of: make(map[*group]map[[mostNumbers]int32]bool)} }

func (p *picks) add(parts []spare) {
	for _, one := range parts {
		if p.of[one.g] == nil {
			p.of[one.g] = make(map[[mostNumbers]int32]bool)
			p.order = append(p.order, one.g)
		}
		p.of[one.g][one.number] = true
	}
}

// claimPicked claims them, and returns their folded names.
func (a *arrangement) claimPicked(p *picks, role string) []string {
	var folded []string
	for _, g := range p.order {
		seen := make(map[[mostNumbers]int32]bool) // a second tensor of the name stays a duplicate
		taken := a.claimIf(g, Rearranged, role, g.each(), func(one *member) bool {
			if !p.of[g][one.number] || seen[one.number] {
				return false
			}
			seen[one.number] = true
			return true
		})
		if taken != nil {
			folded = append(folded, namesOf(g.template, taken))
		}
	}
	return folded
}
