package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// checkLost reports layouts that round down, and how many weights that costs.
func (m *matching) checkLost() {
	var lost int64
	m.every("HFI513", "round sizes down to whole words", func(u *unpacked) bool {
		w := newWeight(u.shape, u.params, 0)
		if !u.scheme.lossy || w.i%32 == 0 && w.o%32 == 0 {
			return false
		}
		lost += w.i % 32 * w.o * u.count()
		return true
	})
	if lost > 0 {
		last := &m.findings[len(m.findings)-1]
		last.Message += fmt.Sprintf(" (%s not in the file)", finding.Count(lost, "weight"))
	}
}

// refusals are layouts that the reference library does not load.
var refusals = []struct {
	text string
	is   func(u *unpacked) bool
}{
	{"are in AWQ's gemv layout, for which the reference library has no linear", func(u *unpacked) bool { return u.scheme.method == "awq" && strings.HasPrefix(u.scheme.form, "gemv") }},
	{"are HQQ's own state, of which the reference library takes no tensor: it would fill the weights with random values", func(u *unpacked) bool { return u.scheme.method == "hqq" }},
	{"are packed with gaps, as compressed-tensors before 0.10 wrote them", func(u *unpacked) bool { return u.scheme.form == paddedWords }},
	{"have packed zero points for each group, which the reference library expects unpacked", func(u *unpacked) bool {
		return u.part(".weight_zero_point") != nil && u.carrier.suffix == ".weight_packed" && newWeight(u.shape, u.params, 0).across() > 1
	}},
	{"are reordered by groups, which compressed-tensors no longer reads", func(u *unpacked) bool { return u.part(".weight_g_idx") != nil }},
	{"are packed embeddings, which the reference library cannot unpack", func(u *unpacked) bool {
		return u.carrier.suffix == ".weight_packed" && u.slot != nil && u.slot.Role == estimator.TokenEmbedding
	}},
}

func (m *matching) checkRefused() {
	for _, r := range refusals {
		m.every("HFI515", r.text, r.is)
	}
}
