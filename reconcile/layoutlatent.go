package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// splitLatent claims the two halves of the matrix that unfolds a key-value
// latent, where they stand head by head for attention on the latent itself: the
// keys' half as [heads, rank, nope], to be multiplied into the queries, and the
// values' as [heads, value, rank]. MLX stores them so.
func (a *arrangement) splitLatent() {
	var about []string
	for _, s := range a.slots.all {
		above, module, ending := lastModule(s.Template)
		if module == "kv_b_proj" && ending == "weight" && len(s.Shape) == 2 && s.wanted() {
			about = append(about, a.claimHalves(s, above)...)
		}
	}
	if about != nil {
		a.find(finding.New("HFI702", fmt.Sprintf("%s: the halves of kv_b_proj stand apart, head by head", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// claimHalves claims, for every missing copy of a slot, the two halves of it.
func (a *arrangement) claimHalves(s *slot, above string) []string {
	picked := newPicks()
	values := a.left[joined(above, "unembed_out", "weight")]
	keys := a.left[joined(above, "embed_q", "weight")]
	for _, number := range inOrder(keys) {
		k, v := keys[number], values[number]
		at := s.place(&member{number: number})
		if v == nil || at < 0 || s.found.has(at) || !slices.Equal(unfolded(k.shape, v.shape), s.Shape) || !s.take(at) {
			continue
		}
		picked.add([]spare{{k, number}, {v, number}})
		a.load(s, s.Each())
	}
	return a.claimPicked(picked, RoleName(s.Tensor))
}

// unfolded is the shape of the whole matrix, nil where the halves do not fit.
func unfolded(keys, values []int64) []int64 {
	if len(keys) != 3 || len(values) != 3 || keys[0] != values[0] || keys[1] != values[2] {
		return nil
	}
	return []int64{keys[0] * (keys[2] + values[1]), keys[1]}
}
