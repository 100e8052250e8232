package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// splitStacks claims stacks of experts that hold one matrix each where the
// description has two side by side, and stacks under another name: MLX stores
// switch_mlp.gate_proj and switch_mlp.up_proj for experts.gate_up_proj.
func (a *arrangement) splitStacks() {
	var about []string
	for _, s := range a.slots.all {
		experts, matrix, ending := stackedName(s.Template)
		if experts == "" || !s.wanted() || len(s.Shape) < 2 {
			continue
		}
		for _, f := range stacks {
			if f.whole == matrix {
				about = append(about, a.claimStacks(s, experts, ending, f)...)
			}
		}
	}
	if about != nil {
		a.find(finding.New("HFI702", fmt.Sprintf("%s: each matrix of the experts has a stack of its own", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// claimStacks claims, for every missing copy of a slot, the stacks that make it
// up.
func (a *arrangement) claimStacks(s *slot, experts, ending string, f fusion) []string {
	block, _ := cutLast(experts)
	picked := newPicks()
	for _, list := range []string{experts, joined(block, "switch_mlp")} {
		for _, number := range inOrder(a.left[joined(list, f.parts[0], ending)]) {
			at := s.place(&member{number: number})
			parts, shapes := a.partsOf(list, ending, f, number)
			if at < 0 || s.found.has(at) || len(parts) < len(f.parts) || !slices.Equal(sideBySide(shapes, 1), s.Shape) || !evenly(shapes) || !s.take(at) {
				continue
			}
			picked.add(parts)
			a.load(s, s.Each())
		}
	}
	return a.claimPicked(picked, RoleName(s.Tensor))
}

// partsOf finds the stored parts of a fusion.
func (a *arrangement) partsOf(above, ending string, f fusion, number [mostNumbers]int32) (parts []spare, shapes [][]int64) {
	for _, part := range f.parts {
		if g := a.left[joined(above, part, ending)][number]; g != nil {
			parts = append(parts, spare{g, number})
			shapes = append(shapes, g.shape)
		}
	}
	return parts, shapes
}

// evenly reports whether all parts have one shape.
func evenly(shapes [][]int64) bool {
	return !slices.ContainsFunc(shapes, func(s []int64) bool { return !slices.Equal(s, shapes[0]) })
}
