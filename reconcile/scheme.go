package reconcile

import (
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// scheme is one way in which a quantiser stores a weight: a packed tensor and
// its companions. Every shape is predicted from the logical weight; what does
// not follow from it is no scheme of ours.
type scheme struct {
	method   string   // as configs name it
	form     string   // which of the method's layouts, for readers
	also     []string // other methods that write the same
	carrier  string   // ending of the packed tensor, below the module
	logical  string   // ending of the weight that it stands for
	dtypes   dtypes   // of the carrier
	bits     []int64  // of a packed element, likeliest first; nil where nothing is packed
	grains   []grain  // what may share a scale, likeliest first
	stored   shaper   // shape of the carrier
	parts    []part
	inverse  func(b *bundle, p params) []int64 // logical shape from the members alone
	tune     func(b *bundle) []params          // in place of bits × grains
	formats  []string                          // the config's or the metadata's words for the layout; nil where they have none
	numbers  string                            // the config's word for the weights' numbers, of floats with their bits
	model    bool                              // scales are of the model's dtype
	together bool                              // companions that can be missing are all there or none
	only     bool                              // only where the config names the method
	stray    bool                              // the carrier is not quantised after all
	lossy    bool                              // a layout that loses weights where sizes do not divide
}

// part is a companion of the packed tensor.
type part struct {
	suffix   string // below the module
	kind     partKind
	dtypes   dtypes
	shape    shaper
	lengths  func(w *weight) (least, most int64) // of a text; nil where anything short is possible
	optional bool                                // all of the file's modules have it, or none
	sparse   bool                                // some modules have it
	flat     bool                                // the number of elements is known, the shape is not
}

// shaper predicts a shape from the logical weight; nil means that the length is
// free.
type shaper func(w *weight) []int64

type partKind uint8

const (
	scalePart partKind = iota
	zeroPart
	indexPart
	codebookPart
	statePart
)

// partRows are the ledger's words for the kinds of companions.
var partRows = [...]struct{ code, reason string }{
	scalePart:    {"quantisation_scales", "scales of quantised weights"},
	zeroPart:     {"quantisation_zeros", "zero points of quantised weights"},
	indexPart:    {"quantisation_indices", "orders and places of quantised weights"},
	codebookPart: {"quantisation_codebooks", "codebooks of quantised weights"},
	statePart:    {"quantisation_state", "shapes and settings of quantised weights"},
}

// grain is the piece of a weight that shares a scale: so many rows and columns,
// 0 for all, and the rank with which its scales are stored.
type grain struct {
	rows, cols int64
	rank       int8
}

// params are what a scheme leaves open.
type params struct {
	bits int64
	grain
	books [4]int64 // of vector quantisation: codebooks, entries, rows and columns of an entry
}

// weight is a logical weight under given parameters.
type weight struct {
	params
	shape []int64 // logical
	lead  []int64 // experts stacked in one tensor
	o, i  int64   // rows and columns, of each
	n     int64   // elements
	unit  int64   // bits of a stored element of the carrier
}

func newWeight(shape []int64, p params, unit int64) *weight {
	w := &weight{params: p, unit: unit, shape: shape, n: product(shape)}
	switch r := len(shape); r {
	case 0:
		w.o, w.i = 1, 1
	case 1:
		w.o, w.i = 1, shape[0]
	default:
		w.lead, w.o, w.i = shape[:r-2], shape[r-2], shape[r-1]
	}
	return w
}

// mostElements bounds what a prediction is made for: a tensor of 2⁵⁶ weights
// does not exist, and the products below it stay within 64 bits.
const mostElements = 1 << 56

// product multiplies dimensions, −1 where one is not positive or the product is
// beyond any weight.
func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d <= 0 || d > mostElements/n {
			return -1
		}
		n *= d
	}
	return n
}

// cd divides, rounding up.
func cd(a, b int64) int64 { return (a + b - 1) / b }

// mat is a matrix for each of the stacked experts.
func (w *weight) mat(rows, cols int64) []int64 {
	return append(slices.Clone(w.lead), rows, cols)
}

// down and across are the numbers of scales along rows and columns.
func (w *weight) down() int64   { return pieces(w.o, w.rows) }
func (w *weight) across() int64 { return pieces(w.i, w.cols) }

func pieces(n, each int64) int64 {
	if each <= 0 {
		return 1
	}
	return cd(n, each)
}

// span is the number of columns that share a scale.
func (w *weight) span() int64 {
	if w.cols <= 0 {
		return w.i
	}
	return w.cols
}

// Shapes that several schemes have.
func asItIs(w *weight) []int64    { return w.mat(w.o, w.i) }
func swapped(w *weight) []int64   { return w.mat(w.i, w.o) }
func scalars(*weight) []int64     { return nil }
func single(*weight) []int64      { return []int64{1} }
func pair(*weight) []int64        { return []int64{2} }
func byRow(w *weight) []int64     { return []int64{w.o} }
func byColumn(w *weight) []int64  { return []int64{w.i} }
func halves(w *weight) []int64    { return w.mat(w.o, cd(w.i, 2)) }
func words(w *weight) []int64     { return w.mat(w.o, cd(w.i*w.bits, 32)) }
func groupsOut(w *weight) []int64 { return w.mat(w.across(), w.o) }

// scale is the table of scales under the grain.
func scale(w *weight) []int64 {
	switch w.rank {
	case 0:
		return w.lead
	case 1:
		return append(slices.Clone(w.lead), w.down()*w.across())
	}
	return w.mat(w.down(), w.across())
}

// dtypes is a set of element types.
type dtypes uint32

func oneOf(list ...safetensors.DType) dtypes {
	var set dtypes
	for _, d := range list {
		set |= 1 << d
	}
	return set
}

func (s dtypes) has(d safetensors.DType) bool { return s&(1<<d) != 0 }

// near reports whether a dtype is as wide as one of the set.
func (s dtypes) near(d safetensors.DType) bool {
	return slices.ContainsFunc(safetensors.DTypes(), func(other safetensors.DType) bool { return s.has(other) && other.Bits() == d.Bits() })
}

// String lists the set as a message needs it.
func (s dtypes) String() string {
	var names []string
	for _, d := range safetensors.DTypes() {
		if s.has(d) {
			names = append(names, d.String())
		}
	}
	return strings.Join(names, " or ")
}

// The sets of element types that schemes use.
var (
	floats = oneOf(safetensors.F16, safetensors.BF16, safetensors.F32)
	f32    = oneOf(safetensors.F32)

	f16      = oneOf(safetensors.F16)
	halves16 = oneOf(safetensors.F16, safetensors.BF16)
	fp8      = oneOf(safetensors.F8E4M3, safetensors.F8E5M2, safetensors.F8E4M3FNUZ, safetensors.F8E5M2FNUZ)
	e4m3     = oneOf(safetensors.F8E4M3)
	e8m0     = oneOf(safetensors.F8E8M0)
	u8       = oneOf(safetensors.U8)
	i8       = oneOf(safetensors.I8)
	i16      = oneOf(safetensors.I16)
	i32      = oneOf(safetensors.I32)
	u32      = oneOf(safetensors.U32)
	i64      = oneOf(safetensors.I64)
)
