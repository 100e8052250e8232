package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// stacks are the names of tensors that hold a matrix of every expert, with those
// of the experts' own matrices: several side by side, in this order.
var stacks = []fusion{
	{"gate_up_proj", []string{"gate_proj", "up_proj"}},
	{"gate_up_proj", []string{"w1", "w3"}},
	{"down_proj", []string{"down_proj"}},
	{"down_proj", []string{"w2"}},
	{"gate_proj", []string{"gate_proj"}},
	{"up_proj", []string{"up_proj"}},
	{"w1", []string{"w1"}},
	{"w2", []string{"w2"}},
	{"w3", []string{"w3"}},
}

// mostExperts bounds the experts of one layer that are looked up one by one.
const mostExperts = 1 << 16

// stackedName reads the name of a stack: where the experts stand, which matrix,
// and what of it.
func stackedName(name string) (experts, matrix, ending string) {
	ending = "weight"
	for _, e := range []string{"weight", "bias"} {
		if rest, ok := strings.CutSuffix(name, "."+e); ok {
			name, ending = rest, e
		}
	}
	if rest, ok := strings.CutSuffix(name, "_bias"); ok { // gate_up_proj_bias, as the library has it
		name, ending = rest, "bias"
	}
	above, matrix := cutLast(name)
	block, list := cutLast(above)
	switch list {
	case "experts":
		return above, matrix, ending
	case "switch_mlp": // as MLX has it
		return joined(block, "experts"), matrix, ending
	}
	return "", "", ""
}

// stackExperts claims stored stacks of what the description has expert by
// expert.
func (a *arrangement) stackExperts() {
	var about, turned []string
	a.eachGroup(func(g *group) {
		experts, matrix, ending := stackedName(g.name)
		if experts == "" {
			return
		}
		for _, f := range stacks {
			if f.whole != matrix || len(g.members) == 0 {
				continue
			}
			folded, transposed := a.claimStack(g, experts, ending, f)
			switch {
			case folded == "":
			case transposed:
				turned = append(turned, folded)
			default:
				about = append(about, folded)
			}
		}
	})
	if about != nil {
		a.find(finding.New("HFI703", fmt.Sprintf("%s: the experts of a layer are stacked in one tensor", strings.Join(finding.Names(about), ", "))).About(about...))
	}
	if turned != nil {
		a.find(finding.New("HFI704", fmt.Sprintf("%s: the experts are stacked with rows and columns exchanged", strings.Join(finding.Names(turned), ", "))).About(turned...))
	}
}

// claimStack claims the members of a group that hold the matrices of all
// experts.
func (a *arrangement) claimStack(g *group, experts, ending string, f fusion) (folded string, transposed bool) {
	place := places(experts)
	if place >= mostNumbers || len(g.shape) < 2 || g.shape[0] > mostExperts {
		return "", false
	}
	var role string
	taken := a.claimIf(g, Rearranged, "", g.each(), func(one *member) bool {
		slots := a.expertSlots(one.number, place, g.shape[0], experts, ending, f)
		if slots == nil {
			return false
		}
		var shapes [][]int64
		for _, s := range slots {
			shapes = append(shapes, s.Shape)
		}
		whole := sideBySide(shapes, 0)
		switch {
		case slices.Equal(whole, g.shape[1:]):
		case len(whole) == 2 && slices.Equal([]int64{whole[1], whole[0]}, g.shape[1:]):
			transposed = true
		default:
			return false
		}
		for _, s := range slots {
			filled := *one
			for e := range g.shape[0] {
				filled.number[place] = int32(e)
				s.take(s.place(&filled))
			}
			a.load(s, s.Each()*g.shape[0])
		}
		role = RoleName(slots[0].Tensor)
		return true
	})
	if taken == nil {
		return "", false
	}
	a.claims[len(a.claims)-1].Role = role
	return namesOf(g.template, taken), transposed
}

// expertSlots returns the slots of a layer's experts, part by part, or nil where
// they are not exactly so many, or some are filled.
func (a *arrangement) expertSlots(number [mostNumbers]int32, place int, count int64, experts, ending string, f fusion) []*slot {
	var list []*slot
	for _, part := range f.parts {
		name := joined(experts, "*", part, ending)
		number[place] = 0
		s := a.free(name, number)
		if s == nil || place >= len(s.Index) || s.Index[place].Len() != count || s.Index[place].Rank(count-1) != count-1 {
			return nil
		}
		for e := range count {
			number[place] = int32(e)
			if s.found.has(s.place(&member{number: number})) {
				return nil
			}
		}
		list = append(list, s)
	}
	return list
}

// unstackExperts claims experts stored one by one of what the description has in
// one tensor.
func (a *arrangement) unstackExperts() {
	var about []string
	for _, s := range a.slots.all {
		experts, matrix, ending := stackedName(s.Template)
		if experts == "" || !s.wanted() || len(s.Shape) < 2 {
			continue
		}
		for _, f := range stacks {
			if f.whole == matrix {
				about = append(about, a.claimExperts(s, experts, ending, f)...)
			}
		}
	}
	if about != nil {
		a.find(finding.New("HFI705", fmt.Sprintf("%s: experts stand one by one that the class has in one tensor", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// claimExperts claims, for every missing copy of a stacked slot, the experts
// that make it up.
func (a *arrangement) claimExperts(s *slot, experts, ending string, f fusion) []string {
	place := places(experts)
	if place >= mostNumbers {
		return nil
	}
	picked := newPicks()
	for _, number := range inOrder(a.left[joined(experts, "*", f.parts[0], ending)]) {
		if number[place] != 0 {
			continue
		}
		at := s.place(&member{number: number})
		if at < 0 || s.found.has(at) {
			continue
		}
		if parts := a.allExperts(s, number, place, experts, ending, f); parts != nil && s.take(at) {
			picked.add(parts)
			a.load(s, s.Each())
		}
	}
	return a.claimPicked(picked, RoleName(s.Tensor))
}

func (a *arrangement) allExperts(s *slot, number [mostNumbers]int32, place int, experts, ending string, f fusion) []spare {
	var list []spare
	for e := range s.Shape[0] {
		number[place] = int32(e)
		var shapes [][]int64
		for _, part := range f.parts {
			g := a.left[joined(experts, "*", part, ending)][number]
			if g == nil {
				return nil
			}
			list = append(list, spare{g, number})
			shapes = append(shapes, g.shape)
		}
		whole := sideBySide(shapes, 0)
		turned := len(whole) == 2 && slices.Equal([]int64{whole[1], whole[0]}, s.Shape[1:])
		if len(whole) == 0 || len(shapes) == 2 && shapes[0][0] != shapes[1][0] || !slices.Equal(whole, s.Shape[1:]) && !turned {
			return nil
		}
	}
	return list
}
