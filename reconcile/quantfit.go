package reconcile

import (
	"slices"
	"strconv"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// fit is a scheme under which a bundle is what it should be, or nearly.
type fit struct {
	scheme *scheme
	params params
	shape  []int64 // of the weight, as the description has it
	faults []fault
	others []params // under which it fits as well
	cost   int
}

// fault is a companion that is not what the scheme predicts.
type fault struct {
	part *part   // nil where it is the packed tensor itself
	set  *set    // nil where it is missing
	want []int64 // nil where the dtype is wrong
}

// What makes one fit worse than another.
const (
	faultCost   = 4
	strangeCost = 4 // a companion that the scheme does not know
	inverseCost = 6 // the weight is not of the described shape
	againstCost = 6 // the config names another layout or other numbers
	methodCost  = 5 // the config names another method: rather a packed tensor of another dtype
	paramCost   = 1 // the config names other bits or groups
)

// fit finds the scheme that explains a bundle best, nil if none does.
func (m *matching) fit(b *bundle) *fit {
	declared, _ := m.schemeFor(b)
	var best *fit
	for i := range schemes {
		s := &schemes[i]
		if s.carrier != b.carrier.suffix || !m.holds(s, b.carrier.dtype) || s.only && !s.named(m.quant) || !s.begins(b) {
			continue
		}
		for at, p := range m.candidates(s, b, declared) {
			for _, shape := range m.shapes(b, s, p) {
				f := s.try(b, p, shape, m.quant)
				if f != nil && at > 0 && m.declares(s, declared) {
					f.cost += paramCost
				}
				if f != nil && s.against(m.quant, declared) != "" {
					f.cost += againstCost
				}
				switch {
				case f == nil:
				case best == nil || f.cost < best.cost:
					best = f
				case best.scheme == s && f.cost == best.cost && slices.Equal(f.shape, best.shape):
					best.others = append(best.others, p)
				}
			}
		}
	}
	return best
}

// holds reports whether a packed tensor of that dtype may be the scheme's: where
// the config names the method, one that is as wide is, and at fault.
func (m *matching) holds(s *scheme, d safetensors.DType) bool {
	return s.dtypes.has(d) || !s.stray && s.dtypes.near(d) && (s.named(m.quant) || m.quant == nil && fp8.has(d))
}

// against says what the config, which names the method, has in place of the
// scheme's layout or numbers; "" where they agree, or it has no word.
func (s *scheme) against(q *hfconfig.Quantization, declared hfconfig.Scheme) string {
	if !s.named(q) || s.stray {
		return ""
	}
	if s.formats != nil && slices.Contains(allFormats, declared.Format) && !slices.Contains(s.formats, declared.Format) {
		return declared.Format
	}
	numbers := declared.Type
	if numbers == "float" {
		numbers += strconv.FormatInt(declared.Bits, 10)
	}
	if s.numbers != "" && slices.Contains(allNumbers, numbers) && s.numbers != numbers {
		return numbers
	}
	return ""
}

// named reports whether the config's method is one that writes the scheme.
func (s *scheme) named(q *hfconfig.Quantization) bool {
	return q != nil && (q.Method == s.method || slices.Contains(s.also, q.Method))
}

// begins reports whether a needed companion of the scheme is there.
func (s *scheme) begins(b *bundle) bool {
	return slices.ContainsFunc(s.parts, func(p part) bool { return !p.optional && !p.sparse && b.part(p.suffix) != nil })
}

// schemeFor returns what the config says of the bundle's first module.
func (m *matching) schemeFor(b *bundle) (hfconfig.Scheme, bool) {
	if m.quant == nil {
		return hfconfig.Scheme{}, false
	}
	return m.quant.For(b.module(0))
}

// module returns the full name of a module.
func (b *bundle) module(i int) string {
	name := b.carrier.members[i].tensor.Name
	return name[:max(len(name)-len(b.carrier.suffix), 0)]
}

// describedModule is the same under the description's names.
func (b *bundle) describedModule(i int) string {
	return estimator.Fill(b.stem, func(at int) string { return strconv.Itoa(int(b.carrier.members[i].number[min(at, mostNumbers-1)])) })
}

// candidates lists parameters to try, those that the config declares first.
func (m *matching) candidates(s *scheme, b *bundle, declared hfconfig.Scheme) []params {
	if s.tune != nil {
		return s.tune(b)
	}
	grains := s.grains
	if g, ok := m.declaredGrain(declared); ok && grains != nil {
		if g.rows != 0 {
			g.rank = grains[0].rank
		}
		grains = append([]grain{g}, grains...)
	}
	if grains == nil {
		grains = []grain{{}}
	}
	bits := s.bits
	if slices.Contains(bits, declared.Bits) {
		bits = append([]int64{declared.Bits}, bits...)
	}
	if bits == nil {
		bits = []int64{0}
	}
	var list []params
	for _, n := range bits {
		for _, g := range grains {
			if p := (params{bits: n, grain: g}); !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// declares reports whether the config has a word in the scheme's parameters: the
// first candidate follows it then.
func (m *matching) declares(s *scheme, declared hfconfig.Scheme) bool {
	_, ok := m.declaredGrain(declared)
	return ok && len(s.grains) > 1 || slices.Contains(s.bits, declared.Bits) && len(s.bits) > 1
}

// assumed reports whether groups or blocks are what the method usually has, and
// not in the config.
func (m *matching) assumed() bool {
	switch q := m.quant; q.Method {
	case "fp8":
		return !q.Fields.Given("weight_block_size")
	case "bitsandbytes":
		return true
	}
	return false
}

// declaredGrain is the config's group or block, or what its strategy names.
func (m *matching) declaredGrain(s hfconfig.Scheme) (grain, bool) {
	if m.quant == nil || m.assumed() {
		return grain{}, false
	}
	named := m.quant.Method == "compressed-tensors"
	switch {
	case len(s.Block) == 2:
		return grain{s.Block[0], s.Block[1], 2}, true
	case s.GroupSize > 0:
		return grain{1, s.GroupSize, 2}, true
	case s.GroupSize == -1, named && s.Strategy == "channel":
		return grain{1, 0, 2}, true
	case named && s.Strategy == "tensor":
		return grain{0, 0, 1}, true
	}
	return grain{}, false
}

// shapes lists the shapes that the weight may have: the described one, else
// those that the members themselves tell.
func (m *matching) shapes(b *bundle, s *scheme, p params) [][]int64 {
	var list [][]int64
	if b.slot != nil {
		list = append(list, b.slot.Shape)
	}
	if b.told != nil {
		list = append(list, b.told)
	}
	if shape := s.inverse(b, p); product(shape) > 0 {
		list = append(list, shape)
	}
	return list
}

// try holds a bundle against the scheme's prediction, nil where the carrier is
// not the predicted one.
func (s *scheme) try(b *bundle, p params, shape []int64, q *hfconfig.Quantization) *fit {
	if product(shape) <= 0 {
		return nil
	}
	unit := int64(b.carrier.dtype.Bits())
	w := newWeight(shape, p, unit)
	if !slices.Equal(s.stored(w), b.carrier.shape) {
		if !b.transposed() {
			return nil
		}
		w = newWeight(turned(shape), p, unit)
		if !slices.Equal(s.stored(w), b.carrier.shape) {
			return nil
		}
	}
	f := &fit{scheme: s, params: p, shape: shape}
	if !s.dtypes.has(b.carrier.dtype) {
		f.faults = append(f.faults, fault{set: &b.carrier})
	}
	met := f.check(b, w)
	if met == 0 {
		return nil
	}
	f.cost = faultCost*len(f.faults) + strangeCost*(len(b.parts)-met-f.misshaped())
	if b.part(biasSuffix) != nil {
		f.cost -= strangeCost
	}
	known := b.told
	if b.slot != nil {
		known = b.slot.Shape
	}
	if known != nil && !slices.Equal(shape, known) {
		f.cost += inverseCost
	}
	if q != nil && !s.named(q) {
		f.cost += methodCost
	}
	return f
}

// transposed reports whether the described weight is stored [in, out], as
// GPT-2's linears are: their bias is as long as a row.
func (b *bundle) transposed() bool {
	return b.slot != nil && len(b.slot.Shape) == 2 && b.conv
}

// check compares the companions with the prediction and returns how many are as
// predicted.
func (f *fit) check(b *bundle, w *weight) (met int) {
	for i := range f.scheme.parts {
		p := &f.scheme.parts[i]
		s := b.part(p.suffix)
		switch {
		case s == nil && (p.optional || p.sparse):
		case s == nil:
			f.faults = append(f.faults, fault{part: p})
		case !p.dtypes.has(s.dtype):
			f.faults = append(f.faults, fault{part: p, set: s})
		case p.fits(w, s.shape):
			met++
		default:
			f.faults = append(f.faults, fault{part: p, set: s, want: p.wanted(w)})
		}
	}
	return met
}

// mostFree bounds companions whose length no shape tells: texts.
const mostFree = 4096

func (p *part) fits(w *weight, shape []int64) bool {
	if p.lengths != nil {
		least, most := p.lengths(w)
		return len(shape) == 1 && least <= shape[0] && shape[0] <= most
	}
	if p.shape == nil {
		return len(shape) == 1 && (shape[0] <= mostFree || p.kind == indexPart && shape[0] <= w.n)
	}
	want := p.shape(w)
	if p.flat {
		return product(want) == product(shape)
	}
	return slices.Equal(want, shape)
}

func (p *part) wanted(w *weight) []int64 {
	if p.lengths != nil {
		least, _ := p.lengths(w)
		return []int64{least}
	}
	if p.shape == nil {
		return []int64{}
	}
	return append([]int64{}, p.shape(w)...)
}

// misshaped counts the faults of companions that are there.
func (f *fit) misshaped() (n int) {
	for _, one := range f.faults {
		if one.set != nil && one.part != nil {
			n++
		}
	}
	return n
}
