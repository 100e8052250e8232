package reconcile

import (
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// bundleOf builds what a scheme predicts for a weight, nil where it cannot store
// one of that shape.
func bundleOf(s *scheme, shape []int64, p params) *bundle {
	var carrier safetensors.DType
	for _, d := range safetensors.DTypes() {
		if s.dtypes.has(d) {
			carrier = d
			break
		}
	}
	w := newWeight(shape, p, int64(carrier.Bits()))
	one := func(suffix string, d safetensors.DType, shape []int64) set {
		tensor := &safetensors.Tensor{Name: "m" + suffix, DType: d, Shape: shape}
		g := &group{template: tensor.Name, name: tensor.Name, dtype: d, shape: shape}
		return set{group: g, suffix: suffix, members: []member{{tensor: tensor}}}
	}
	b := &bundle{stem: "m", carrier: one(s.carrier, carrier, s.stored(w))}
	for i := range s.parts {
		part := &s.parts[i]
		var d safetensors.DType
		for _, d = range safetensors.DTypes() {
			if part.dtypes.has(d) {
				break
			}
		}
		shape := []int64{7}
		if part.shape != nil {
			shape = part.shape(w)
		}
		if part.lengths != nil {
			shape[0], _ = part.lengths(w)
		}
		if product(shape) < 0 {
			return nil
		}
		b.parts = append(b.parts, one(part.suffix, d, shape))
	}
	if product(b.carrier.shape) < 0 {
		return nil
	}
	return b
}

// TestSchemesInvert: what a scheme predicts from a weight, it finds again, with
// the description and without; without groups packed words are a bound.
func TestSchemesInvert(t *testing.T) {
	for i := range schemes {
		s := &schemes[i]
		t.Run(s.method+" "+s.form+" "+s.carrier, func(t *testing.T) {
			tried := 0
			for _, shape := range [][]int64{{256, 128}, {128, 256}, {64, 512}, {512, 1024}} {
				for _, p := range exampleParams(s) {
					b := bundleOf(s, shape, p)
					if b == nil || p.cols > 0 && shape[1]%p.cols != 0 || s.form == "mxfp4" && s.carrier == "_blocks" {
						continue
					}
					tried++
					f := s.try(b, p, shape, nil)
					if f == nil || len(f.faults) > 0 {
						t.Fatalf("%v %+v: not what it predicts itself: %+v", shape, p, f)
					}
					if inverse := s.inverse(b, p); product(inverse) != product(shape) && s.method != "hqq" && !(s.carrier == ".weight_packed" && p.cols == 0 && product(inverse) > product(shape)) {
						t.Errorf("%v %+v: inverse %v", shape, p, inverse)
					}
				}
			}
			if tried == 0 && s.carrier != "_blocks" {
				t.Error("nothing tried")
			}
		})
	}
}

func exampleParams(s *scheme) []params {
	switch {
	case s.method == "aqlm":
		return []params{{books: [4]int64{2, 256, 1, 8}}, {books: [4]int64{1, 256, 1, 8}}}
	case s.method == "vptq" && s.form == "":
		return []params{{bits: 8, books: [4]int64{256, 0, 8}}}
	case s.method == "vptq":
		return []params{{bits: 16, books: [4]int64{256, 256, 8}}}
	case s.tune != nil:
		return []params{{books: [4]int64{4096}}}
	}
	return (&matching{}).candidates(s, nil, hfconfig.Scheme{})
}

// TestSuffixesSorted: each ending of a companion is looked for once.
func TestSuffixesSorted(t *testing.T) {
	if !slices.IsSorted(suffixes) || len(slices.Compact(slices.Clone(suffixes))) != len(suffixes) {
		t.Errorf("suffixes %q", suffixes)
	}
}

// FuzzQuantState: whatever a file says, the state is usable or an error, and
// comparing it with any tensors ends.
func FuzzQuantState(f *testing.F) {
	for _, seed := range []string{`{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [128, 256]}`,
		`{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [96, 200], "nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": 0.05}`,
		`{"shape": [0]}`, `{"shape": [-1, 5]}`, `{"shape": [9223372036854775807, 2]}`, `{"shape": [1e3]}`, `{"shape": null}`, `{"shape": [1]} `, `{"shape": [1]}x`,
		`{"shape": [1], "more": 1}`, `[`, ``, `{"shape":[1,1,1,1,1,1,1,1,1]}`, `{"shape": [72057594037927935], "blocksize": 9223372036854775807, "nested_blocksize": -1}`} {
		f.Add([]byte(seed), int64(300), int64(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, blocks, nested int64) {
		state, err := parseQuantState(data)
		if err == nil {
			if product(state.Shape) <= 0 || len(state.Shape) > mostRank {
				t.Errorf("%q: %v", data, state.Shape)
			}
			one := func(suffix string, shape ...int64) set {
				return set{group: &group{dtype: safetensors.U8, shape: shape}, suffix: suffix}
			}
			state.contradictions(&bundle{carrier: one(".weight", blocks, nested),
				parts: []set{one(".weight.absmax", blocks), one(".weight.nested_absmax", nested)}}, statePrefix+"nf4")
		}
		for _, d := range []safetensors.DType{safetensors.I64, safetensors.I32, safetensors.U8} {
			if list, err := integers(data, d); err == nil && len(list) > mostRank {
				t.Errorf("%q: %v", data, list)
			}
		}
	})
}

// TestStateLengths: the bounds hold what the library writes, and little else.
func TestStateLengths(t *testing.T) {
	for _, test := range []struct {
		state  string
		nested bool
		shape  []int64
	}{
		{`{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [128, 256]}`, false, []int64{128, 256}},
		{`{"quant_type": "nf4", "blocksize": 64, "dtype": "float16", "shape": [6, 33]}`, false, []int64{6, 33}},
		{`{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [96, 200]}`, false, []int64{19200}},
		{`{"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [96, 200], "nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": 0.05244791507720947}`, true, []int64{96, 200}},
	} {
		least, most := stateLengths("nf4", test.nested)(newWeight(test.shape, params{grain: grain{1, 64, 1}}, 8))
		if n := int64(len(test.state)); n < least || n > most || !test.nested && most > least+4 {
			t.Errorf("%s has %d bytes, want %d to %d", test.state, n, least, most)
		}
	}
}
