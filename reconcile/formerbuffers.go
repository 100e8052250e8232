package reconcile

import (
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/tidwall/gjson"
)

// formerBuffer is a tensor that older versions of the reference library saved
// beside the parameters. Newer ones compute it and ignore the file's.
type formerBuffer struct {
	ending string // of the name, below the module that owns it
	reason string
	dtypes dtypes
	least  int // dimensions
	most   int
	owned  func(*bufferOwner) bool
	fits   func(o *bufferOwner, shape []int64) bool
}

var (
	maskTypes  = oneOf(safetensors.BOOL, safetensors.U8) | floats
	placeTypes = oneOf(safetensors.I64, safetensors.I32)
)

// formerBuffers are those of transformers up to 4.30. Of attention and position
// embeddings the library has many; which ones had a buffer, their modules' names
// tell.
var formerBuffers = []formerBuffer{
	{"bias", "causal masks", maskTypes, 4, 4, (*bufferOwner).masks, (*bufferOwner).isMask},
	{"causal_mask", "causal masks", maskTypes, 4, 4, (*bufferOwner).masks, (*bufferOwner).isMask},
	{"masked_bias", "mask values", floats, 0, 1, (*bufferOwner).masks, scalar},
	{"rotary_emb.inv_freq", "rotary frequencies", floats, 1, 1, (*bufferOwner).rotates, (*bufferOwner).isFrequencies},
	{"rotary_pos_emb.inv_freq", "rotary frequencies", floats, 1, 1, (*bufferOwner).rotates, (*bufferOwner).isFrequencies},
	{"rotary_embeddings.inv_freq", "rotary frequencies", floats, 1, 1, (*bufferOwner).rotates, (*bufferOwner).isFrequencies},
	{"maybe_rotary.inv_freq", "rotary frequencies", floats, 1, 1, (*bufferOwner).rotates, (*bufferOwner).isFrequencies},
	{"rotary_emb.cos_cached", "rotary tables", floats, 2, 4, (*bufferOwner).rotates, (*bufferOwner).isTable},
	{"rotary_emb.sin_cached", "rotary tables", floats, 2, 4, (*bufferOwner).rotates, (*bufferOwner).isTable},
	{"position_ids", "position numbers", placeTypes, 1, 2, (*bufferOwner).places, (*bufferOwner).isPlaces},
	{"token_type_ids", "segment numbers", placeTypes, 1, 2, (*bufferOwner).places, (*bufferOwner).isPlaces},
}

// bufferOwner is a described module to which former buffers can belong.
type bufferOwner struct {
	name      string // its last segment
	index     []estimator.Indices
	stored    map[[mostNumbers]int32]bool // further copies that the file holds
	causal    bool
	rows      int64   // of its position embedding
	rotary    []int64 // features of a head that are rotated: none, or as the config can be read
	positions int64
}

func (o *bufferOwner) masks() bool {
	return o.causal && (o.name == "attn" || o.name == "attention")
}
func (o *bufferOwner) rotates() bool { return len(o.rotary) > 0 }
func (o *bufferOwner) places() bool  { return o.rows > 0 }

// isMask is [1, 1, C, C].
func (o *bufferOwner) isMask(shape []int64) bool {
	return slices.Equal(shape, []int64{1, 1, o.positions, o.positions})
}

// isFrequencies is one number for each pair of rotated features.
func (o *bufferOwner) isFrequencies(shape []int64) bool { return slices.Contains(o.rotary, 2*shape[0]) }

// isTable is [C, R], whatever ones stand before it.
func (o *bufferOwner) isTable(shape []int64) bool {
	n := len(shape)
	return slices.Contains(o.rotary, shape[n-1]) && shape[n-2] == o.positions && product(shape[:n-2]) == 1
}

// isPlaces is [P] or [1, P], P the rows of the position embedding.
func (o *bufferOwner) isPlaces(shape []int64) bool {
	n := len(shape)
	return shape[n-1] == o.rows && product(shape[:n-1]) == 1
}

func scalar(_ *bufferOwner, shape []int64) bool { return product(shape) == 1 }

// holds reports whether the module exists under a member's numbers.
func (o *bufferOwner) holds(one *member) bool {
	if o.stored[one.leading(len(o.index))] {
		return true
	}
	for i, set := range o.index {
		if i >= mostNumbers || set.Rank(int64(one.number[i])) < 0 {
			return false
		}
	}
	return true
}

// leading returns the first n numbers of a name.
func (m *member) leading(n int) (numbers [mostNumbers]int32) {
	copy(numbers[:min(n, mostNumbers)], m.number[:])
	return numbers
}

// formerBufferOf finds what a name and shape would be, with the module that
// would own it.
func formerBufferOf(name string, shape []int64) (f *formerBuffer, module string) {
	for i := range formerBuffers {
		f := &formerBuffers[i]
		module, ok := strings.CutSuffix(name, f.ending)
		if ok && (module == "" || strings.HasSuffix(module, ".")) && f.least <= len(shape) && len(shape) <= f.most {
			return f, strings.TrimSuffix(module, ".")
		}
	}
	return nil, ""
}

// matchFormerBuffers claims buffers that older versions of the library stored,
// each below a module that the model has.
func (m *matching) matchFormerBuffers() {
	wanted := make(map[string]bool)
	m.eachGroup(func(g *group) {
		if f, module := formerBufferOf(g.name, g.shape); f != nil {
			wanted[module] = true
		}
	})
	if len(wanted) == 0 {
		return
	}
	owners := m.bufferOwners(wanted)
	seen := make(map[bufferName]string)
	m.eachGroup(func(g *group) {
		if f, module := formerBufferOf(g.name, g.shape); f != nil {
			m.claimFormer(g, f, owners[module], seen)
		}
	})
}

// bufferName is the name of a buffer after the renames, with its numbers.
type bufferName struct {
	name   string
	number [mostNumbers]int32
}

// claimFormer claims the members of a group that have an owner: first those that
// are as it has them, then the odd ones. A buffer that was seen under another
// spelling of its name is not claimed again.
func (m *matching) claimFormer(g *group, f *formerBuffer, owners []*bufferOwner, seen map[bufferName]string) {
	for _, odd := range []bool{false, true} {
		if !odd && !f.dtypes.has(g.dtype) || len(g.members) == 0 {
			continue
		}
		taken := m.claimIf(g, Buffer, "buffer", 0, func(one *member) bool {
			if !slices.ContainsFunc(owners, func(o *bufferOwner) bool { return f.owned(o) && (odd || f.fits(o, g.shape)) && o.holds(one) }) {
				return false
			}
			at := bufferName{g.name, one.number}
			if first, again := seen[at]; again && first != g.template {
				return false
			}
			seen[at] = g.template
			return true
		})
		switch {
		case taken == nil:
		case odd:
			m.addOddBuffers(g, taken, f.reason)
		default:
			m.addBuffers(g, taken, f.reason)
		}
	}
}

// bufferOwners lists the described modules of these names that attend, that
// embed positions, or that hold the layers that attend.
func (m *matching) bufferOwners(wanted map[string]bool) map[string][]*bufferOwner {
	owners := make(map[string][]*bufferOwner)
	stored := m.storedModules(wanted)
	add := func(module string, o bufferOwner) {
		if wanted[module] {
			_, o.name = cutLast(module)
			o.positions, o.stored = m.in.Model.Positions, stored[module]
			owners[module] = append(owners[module], &o)
		}
	}
	for _, a := range m.in.Model.AttentionPlaces() {
		rotary := rotaryFeatures(m.in.Config, a)
		add(a.Template, bufferOwner{index: a.Index, causal: a.Causal, rotary: rotary})
		if stack, _, ok := strings.Cut(a.Template, ".*"); ok {
			body, _ := cutLast(stack)
			add(body, bufferOwner{rotary: rotary})
		}
	}
	for _, s := range m.slots.all {
		if above, module, _ := lastModule(s.Template); strings.HasPrefix(module, "position_embedding") && s.Role == estimator.PositionEmbedding && len(s.Shape) == 2 {
			add(above, bufferOwner{index: s.Index, rows: s.Shape[0]})
		}
	}
	return owners
}

// storedModules lists the numbers of modules that are there beyond the config:
// such layers have their buffers too.
func (m *matching) storedModules(wanted map[string]bool) map[string]map[[mostNumbers]int32]bool {
	stored := make(map[string]map[[mostNumbers]int32]bool)
	for i := range m.claims {
		c := &m.claims[i]
		if c.Status != Beyond {
			continue
		}
		for module, _ := cutLast(c.Name); module != ""; module, _ = cutLast(module) {
			if !wanted[module] {
				continue
			}
			if stored[module] == nil {
				stored[module] = make(map[[mostNumbers]int32]bool)
			}
			for j := range c.members {
				stored[module][c.members[j].leading(places(module))] = true
			}
		}
	}
	return stored
}

// rotaryFields are fields of configs whose models have rotary positions.
var rotaryFields = []string{"rope_theta", "rope_parameters", "rope_scaling", "rotary_emb_base", "rotary_embedding_base", "rotary_dim", "rotary_pct"}

// rotaryFeatures returns how many features of a head are rotated; none where
// neither description nor config says anything of rotary positions. A share of
// them can stand for some layers alone.
func rotaryFeatures(config *hfconfig.Config, a estimator.AttentionPlace) []int64 {
	if config == nil {
		return nil
	}
	if config.Raw("text_config").IsObject() {
		config = config.Sub("text_config")
	}
	if !a.Rotary && !slices.ContainsFunc(rotaryFields, func(field string) bool { return config.Given(field) || config.Declares(field) }) {
		return nil
	}
	for _, field := range []string{"qk_rope_head_dim", "rotary_dim"} {
		if n := config.Value(field).Int(); n > 0 {
			return []int64{n}
		}
	}
	parameters := config.Value("rope_parameters")
	for _, share := range []gjson.Result{config.Value("partial_rotary_factor"), config.Value("rotary_pct"), parameters.Get("partial_rotary_factor")} {
		if n := share.Float(); n > 0 && n < 1 {
			return []int64{int64(float64(a.KeyDim) * n)}
		}
	}
	list := []int64{a.KeyDim}
	parameters.ForEach(func(_, kind gjson.Result) bool { // one set for each kind of layer
		if n := kind.Get("partial_rotary_factor").Float(); n > 0 && n < 1 {
			list = append(list, int64(float64(a.KeyDim)*n))
		}
		return true
	})
	return list
}
