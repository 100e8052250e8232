package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// bufferNames are endings of tensors that models register as buffers; shape
// tells them from parameters of the same name.
var bufferNames = []struct {
	suffix, reason string
	fits           func(shape []int64) bool
}{
	{"attn.bias", "causal masks", squareMask},
	{"attention.bias", "causal masks", squareMask},
	{"attn.masked_bias", "mask values", scalar},
	{"attention.masked_bias", "mask values", scalar},
	{"inv_freq", "rotary frequencies", anyVector},
	{"rotary_pos_emb.inv_freq", "rotary frequencies", anyVector},
	{"position_ids", "position numbers", func(shape []int64) bool { return len(shape) <= 2 }},
	{"token_type_ids", "segment numbers", func(shape []int64) bool { return len(shape) == 2 }},
	{"num_batches_tracked", "batch-norm counters", scalar},
	{"running_mean", "batch-norm statistics", anyVector},
	{"running_var", "batch-norm statistics", anyVector},
	{"cos_cached", "rotary tables", anyShape},
	{"sin_cached", "rotary tables", anyShape},
}

// squareMask is [1, 1, C, C].
func squareMask(shape []int64) bool {
	return len(shape) == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3]
}

func scalar(shape []int64) bool    { return len(shape) == 0 || len(shape) == 1 && shape[0] == 1 }
func anyVector(shape []int64) bool { return len(shape) == 1 }
func anyShape([]int64) bool        { return true }

// bufferReason says what kind of buffer a name and shape are, "" for none.
func bufferReason(name string, shape []int64) string {
	for _, b := range bufferNames {
		if (strings.HasSuffix(name, "."+b.suffix) || name == b.suffix) && b.fits(shape) {
			return b.reason
		}
	}
	return ""
}

// matchBuffers claims buffers: those that the description knows, and those that
// older versions of the library stored.
func (m *matching) matchBuffers() {
	m.eachGroup(func(g *group) {
		reason := bufferReason(g.name, g.shape)
		taken := m.claimIf(g, Buffer, "buffer", 0, func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s != nil && s.section == "" {
				return s.Buffer && s.sameShape(g.shape) && s.take(at)
			}
			return reason != ""
		})
		if taken == nil {
			return
		}
		if reason == "" {
			reason = "buffers"
		}
		m.addBuffers(g, taken, reason)
	})
	for _, s := range m.slots.all {
		if s.Buffer && s.section == "" && s.missing() > 0 && m.in.Checkpoint.Complete {
			m.find(finding.New("HFI423", fmt.Sprintf("%s is not stored", s.Folded())).About(s.missingNames(finding.MostNames)...))
		}
	}
}

func (m *matching) addBuffers(g *group, taken []member, reason string) {
	elements := g.each() * int64(len(taken))
	m.addRow("buffers", reason, productText(g, taken), elements, names(taken))
	m.find(finding.New("HFI406", fmt.Sprintf("%s: %s elements of %s in %s, no parameters", namesOf(g.template, taken), finding.Number(elements), reason, g.dtype)).
		About(names(taken)...))
}
