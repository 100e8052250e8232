package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// fusedScales claims the scales of experts that are stored one by one while
// their scales are stacked, gate and up together: transformers writes them so.
func (m *matching) fusedScales(index map[string][]*group) {
	for _, g := range m.groups {
		for _, one := range fusedNames {
			stem, ok := strings.CutSuffix(g.name, ".experts."+one.stacked+"_scale_inv")
			if !ok || len(g.members) == 0 || !(floats | e8m0).has(g.dtype) {
				continue
			}
			layer := stem[:strings.LastIndexByte(stem, '.')+1] // the module can have another name than that of the experts
			if prefix, experts := expertsOf(index, layer, one.single); experts != nil && fusedFits(g.shape, experts) {
				m.claimScales(g, "routed_experts")
				m.fused = append(m.fused, prefix)
				break
			}
		}
	}
}

// fusedNames are stacked projections with the single ones that they stand for.
var fusedNames = []struct {
	stacked string
	single  []string
}{
	{"gate_up_proj", []string{"gate_proj", "up_proj"}}, {"down_proj", []string{"down_proj"}},
	{"gate_up_proj", []string{"w1", "w3"}}, {"down_proj", []string{"w2"}},
}

// expertsOf finds one expert's projections, which are all of one shape, in a
// layer.
func expertsOf(index map[string][]*group, layer string, projections []string) (prefix string, list []*group) {
	for name := range index {
		rest, ok := strings.CutPrefix(name, layer)
		if head, last, found := strings.Cut(rest, ".experts.*."); ok && found && last == projections[0]+".weight" {
			prefix = layer + head + ".experts.*."
		}
	}
	for _, p := range projections {
		found := index[prefix+p+".weight"]
		if prefix == "" || len(found) != 1 || !(fp8 | floats).has(found[0].dtype) || len(found[0].shape) != 2 {
			return "", nil
		}
		list = append(list, found[0])
	}
	return prefix, list
}

// fusedFits predicts the stacked scales: of each expert, blocks of the
// projections one above the other, at least one of each.
func fusedFits(shape []int64, experts []*group) bool {
	first := experts[0]
	layers := make(map[int32]bool)
	for i := range first.members {
		layers[first.members[i].number[0]] = true
	}
	count, halves := int64(len(first.members)/max(len(layers), 1)), int64(len(experts))
	for _, b := range blocks {
		var rows, height int64
		for _, g := range experts {
			rows += cd(g.shape[0], b.rows)
			height += g.shape[0]
		}
		for _, rows := range []int64{rows, max(cd(height, b.rows), halves)} {
			if slices.Equal(shape, []int64{count, rows, cd(first.shape[1], b.cols)}) {
				return true
			}
		}
	}
	return false
}

func (m *matching) claimScales(g *group, serves string) {
	members := g.members
	g.members = nil
	m.claimAs(g, members, Quantisation, "quantisation", 0, serves)
	row := partRows[scalePart]
	m.addRow(row.code, row.reason, "", g.each()*int64(len(members)), names(members))
}

// cacheSuffixes are scales of a quantised key-value cache, each with its
// partner.
var cacheSuffixes = [][2]string{
	{".k_proj.k_scale", ".v_proj.v_scale"}, {".k_proj.output_scale", ".v_proj.output_scale"},
	{".k_scale", ".v_scale"}, {".kv_scale", ".kv_scale"}, {".attn.k_scale", ".attn.v_scale"},
}

// cacheScales claims the scales of keys and values: one for each attention, of
// keys and of values alike.
func (m *matching) cacheScales() {
	for _, pair := range cacheSuffixes {
		for _, g := range slices.Clone(m.groups) {
			for side, suffix := range pair {
				stem, ok := strings.CutSuffix(g.name, suffix)
				if !ok || len(g.members) == 0 || m.described(g.name) || !floats.has(g.dtype) || g.each() != 1 || len(g.shape) > 1 {
					continue
				}
				m.checkPartner(g, stem, pair[1-side])
				m.claimScales(g, "attention")
			}
		}
	}
}

// checkPartner reports cache scales of which the other half, or that of some
// layers, is missing.
func (m *matching) checkPartner(g *group, stem, partner string) {
	var others int64
	for _, other := range m.groups {
		if other.name == stem+partner && slices.Equal(other.shape, g.shape) && other.dtype == g.dtype {
			others += max(int64(len(other.members)), other.claimed)
		}
	}
	g.claimed = int64(len(g.members))
	if others != g.claimed {
		m.find(finding.New("HFI504", fmt.Sprintf("%s has %s of the cache, %s has %d", namesOf(g.template, g.members), finding.Count(int64(len(g.members)), "scale"), stem+partner, others)).
			About(names(g.members)...))
		return
	}
	for _, s := range m.slots.all {
		if s.section == "" && !s.Bias && strings.HasPrefix(s.Template, stem+".") && s.Role.String() == "attention" && s.Copies != g.claimed && m.in.Checkpoint.Complete {
			m.find(finding.New("HFI504", fmt.Sprintf("%s: %d of %d layers have scales of the cache", g.name, len(g.members), s.Copies)).About(names(g.members)...))
			return
		}
	}
}

// generic are endings of companions that other tensors have too.
var generic = []string{".scale", ".zero", ".shape", ".scales", ".biases", ".perm", ".axis", ".s", ".B", ".codes", ".tables", ".tables2", ".indices", ".optimize",
	".packing", ".input_scale", ".output_scale", ".weight_scale", ".weight_bias", ".compressed", "_scales", "_blocks", ".group_size", ".nbits", ".compute_dtype"}

// orphans lists companions whose weight is not in the file.
func (m *matching) orphans() {
	m.eachGroup(func(g *group) {
		if g.packed != nil || m.described(g.name) || !orphaned(g) {
			return
		}
		members := g.members
		g.members = nil
		elements := g.each() * int64(len(members))
		m.claimAs(g, members, Quantisation, "quantisation", 0, "")
		if !m.in.Checkpoint.Complete { // the weight may be in a shard that is not here
			row := partRows[scalePart]
			m.addRow(row.code, row.reason, "", elements, names(members))
			return
		}
		m.unexplained += elements
		m.unexplainedNames = append(m.unexplainedNames, names(members)...)
		m.find(finding.New("HFI509", fmt.Sprintf("%s %s %s belongs to no weight of the file that fits it", namesOf(g.template, members), g.dtype, shapeText(g.shape))).
			About(names(members)...))
	})
}

// orphaned reports whether a tensor can be nothing but a companion. An exponent
// block is never a weight.
func orphaned(g *group) bool {
	if g.dtype == safetensors.F8E8M0 {
		return true
	}
	return slices.ContainsFunc(suffixes, func(suffix string) bool {
		return strings.HasSuffix(g.name, suffix) && !slices.Contains(generic, suffix) && !strings.HasSuffix(suffix, ".weight")
	})
}
