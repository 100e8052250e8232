package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// channelsLast claims convolutions whose channels stand last, as MLX and
// TensorFlow have them: [out, kernel, in] for [out, in, kernel].
func (a *arrangement) channelsLast() {
	var about []string
	a.eachGroup(func(g *group) {
		if len(g.shape) < 3 || !strings.HasSuffix(g.name, ".weight") {
			return
		}
		var filled *slot
		taken := a.claimIf(g, Rearranged, "", g.each(), func(one *member) bool {
			s := a.free(g.name, one.number)
			if s == nil || filled != nil && s != filled || !slices.Equal(channelsBehind(s.Shape), g.shape) || !s.take(s.place(one)) {
				return false
			}
			filled = s
			a.load(s, s.Each())
			return true
		})
		if taken != nil {
			a.claims[len(a.claims)-1].Role = RoleName(filled.Tensor)
			about = append(about, namesOf(g.template, taken))
		}
	})
	if about != nil {
		a.find(finding.New("HFI716", fmt.Sprintf("%s: the channels stand last", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// channelsBehind moves the second dimension of a convolution behind the others.
func channelsBehind(shape []int64) []int64 {
	if len(shape) < 3 {
		return nil
	}
	return append(append(slices.Clone(shape[:1]), shape[2:]...), shape[1])
}
