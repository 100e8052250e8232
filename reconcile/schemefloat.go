package reconcile

import "slices"

// floatSchemes store weights as small floating-point numbers.
var floatSchemes = []scheme{
	// A scale for each block: DeepSeek-V3 and what transformers calls fine-grained.
	fineFP8("", ".weight_scale_inv", e4m3, false),
	fineFP8("scale", ".scale", e4m3, false),
	fineFP8("qscale", ".qscale_weight", e4m3, false),
	fineFP8("unconverted", ".weight_scale_inv", floats, true),
	{method: "fp8", form: "stacked", numbers: "float8", carrier: "", logical: "", dtypes: e4m3, grains: fine, stored: asItIs, inverse: carrierShape,
		parts: []part{scales("_scale_inv", floats|e8m0|u8), extra("_activation_scale", floats, scalars)}},
	// Routed experts of two to a byte beside FP8.
	packedFP4(".scale"), packedFP4(".weight_scale_inv"), packedFP4(".weight_scale"),

	{method: "modelopt", form: "nvfp4", numbers: "float4", carrier: ".weight", logical: ".weight", dtypes: u8, grains: by16, stored: halves, inverse: doubled,
		parts: append(staticScales(scalars, ".input_scale"), scales(".weight_scale", e4m3),
			part{suffix: ".weight_scale_2", dtypes: f32, shape: scalars}, preScale)},
	{method: "compressed-tensors", form: "nvfp4", formats: []string{"nvfp4-pack-quantized"}, numbers: "float4", carrier: ".weight_packed", logical: ".weight", dtypes: u8, grains: by16, stored: halves, inverse: doubled,
		parts: append(staticScales(single, ".input_global_scale"), scales(".weight_scale", e4m3),
			part{suffix: ".weight_global_scale", dtypes: f32, shape: single})},
	{method: "compressed-tensors", form: "mxfp4", formats: []string{"mxfp4-pack-quantized"}, numbers: "float4", carrier: ".weight_packed", logical: ".weight", dtypes: u8, grains: by32, stored: halves, inverse: doubled,
		parts: []part{scales(".weight_scale", u8|e8m0)}},
	{method: "compressed-tensors", form: "mxfp6", formats: []string{"mxfp6-pack-quantized"}, numbers: "float6", carrier: ".weight_packed", logical: ".weight", dtypes: u8, grains: by32, bits: []int64{6},
		stored:  func(w *weight) []int64 { return w.mat(w.o, cd(3*w.i, 4)) },
		inverse: func(b *bundle, _ params) []int64 { return lastTimes(b.carrier.shape, 4, 3) },
		parts:   []part{scales(".weight_scale", u8|e8m0)}},
	{method: "quark", form: "mxfp4", numbers: "float4", carrier: ".weight", logical: ".weight", dtypes: u8, grains: by32, stored: halves, inverse: doubled,
		parts: []part{scales(".weight_scale", u8|e8m0)}},
	{method: "mxfp4", numbers: "float4", carrier: "_blocks", logical: "", dtypes: u8, grains: by32,
		stored: func(w *weight) []int64 { return append(slices.Clone(w.lead), w.i, w.o/32, 16) },
		inverse: func(b *bundle, _ params) []int64 {
			s := b.carrier.shape
			if len(s) < 3 || s[len(s)-1] != 16 {
				return nil
			}
			r := len(s)
			return append(slices.Clone(s[:r-3]), s[r-2]*32, s[r-3])
		},
		parts: []part{{suffix: "_scales", dtypes: u8 | e8m0, shape: func(w *weight) []int64 { return append(slices.Clone(w.lead), w.i, w.o/32) }}}},

	// A scale for each row, the whole, a group or a block, in one of many writers'
	// spellings.
	{method: "fbgemm_fp8", numbers: "float8", carrier: ".weight", logical: ".weight", dtypes: e4m3, grains: channel, stored: asItIs,
		inverse: carrierShape, parts: append(staticScales(single, ".input_scale_ub"), scales(".weight_scale", floats))},
	{method: "compressed-tensors", form: "float", also: []string{"fp8"}, formats: []string{"float-quantized", "naive-quantized"}, numbers: "float8", model: true,
		carrier: ".weight", logical: ".weight", dtypes: e4m3, grains: any8, stored: asItIs,
		inverse: carrierShape, parts: append(staticScales(single, ".input_scale"), scales(".weight_scale", floats))},
	{method: "modelopt", form: "fp8", also: []string{"quark", "fp8"}, numbers: "float8", carrier: ".weight", logical: ".weight", dtypes: e4m3, grains: any8, stored: asItIs,
		inverse: carrierShape, parts: append(staticScales(scalars, ".input_scale", ".output_scale"), scales(".weight_scale", floats), preScale)},
	{method: "compressed-tensors", form: "mxfp8", also: []string{"modelopt", "mxfp8"}, formats: []string{"mxfp8-quantized"}, numbers: "float8", carrier: ".weight", logical: ".weight", dtypes: e4m3, grains: by32, stored: asItIs,
		inverse: carrierShape, parts: []part{scales(".weight_scale", u8|e8m0)}},

	{method: "torchao", form: "float8", formats: []string{"Float8Tensor", "MXTensor"}, numbers: "float8", carrier: "._weight_qdata", logical: ".weight", dtypes: fp8, grains: slices.Concat(channel, whole, blocks[:4]), stored: asItIs, inverse: carrierShape,
		parts: []part{scales("._weight_scale", floats|e8m0|u8)}},
	{method: "torchao", form: "nvfp4", formats: []string{"NVFP4Tensor"}, numbers: "float4", carrier: "._weight_qdata", logical: ".weight", dtypes: u8, grains: by16, stored: halves, inverse: doubled,
		parts: []part{{suffix: "._weight_scale", dtypes: e4m3, shape: swizzled, flat: true}, extra("._weight_per_tensor_scale", f32, scalars)}},
	{method: "torchao", form: "mxfp4", formats: []string{"MXTensor"}, numbers: "float4", carrier: "._weight_qdata", logical: ".weight", dtypes: u8, grains: by32, stored: halves, inverse: doubled,
		parts: []part{scales("._weight_scale", u8|e8m0)}},
	{method: "quanto", form: "float8", numbers: "float8", model: true, together: true, carrier: ".weight._data", logical: ".weight", dtypes: fp8, grains: slices.Concat(channel, whole), stored: asItIs, inverse: carrierShape,
		parts: append(staticScales(scalars, ".input_scale", ".output_scale"), scales(".weight._scale", floats))},
}

// preScale is what AWQ multiplies inputs with, where the norm before cannot take
// it up.
var preScale = part{suffix: ".pre_quant_scale", dtypes: floats, shape: byColumn, sparse: true}

func fineFP8(form, suffix string, carrier dtypes, stray bool) scheme {
	return scheme{method: "fp8", form: form, numbers: "float8", carrier: ".weight", logical: ".weight", dtypes: carrier, grains: fine, stored: asItIs, inverse: carrierShape, stray: stray,
		parts: append(staticScales(scalars, ".activation_scale", ".qscale_act"), scales(suffix, floats|e8m0|u8))}
}

// packedExperts is the layout of routed experts beside weights of eight bits: the
// config has no word on their groups.
const packedExperts = "fp4 experts"

func packedFP4(suffix string) scheme {
	return scheme{method: "fp8", form: packedExperts, also: []string{"deepseek_v4"}, carrier: ".weight", logical: ".weight", dtypes: i8, grains: by32, stored: halves, inverse: doubled,
		parts: []part{scales(suffix, e8m0)}}
}

// carrierShape is the inverse of schemes that store the weight's own shape.
func carrierShape(b *bundle, _ params) []int64 { return b.carrier.shape }

// doubled is the inverse of two weights in each element of a row.
func doubled(b *bundle, _ params) []int64 { return lastTimes(b.carrier.shape, 2, 1) }

// lastTimes multiplies the last dimension by a fraction.
func lastTimes(shape []int64, by, over int64) []int64 {
	r := len(shape)
	if r == 0 || shape[r-1] > mostElements/by {
		return nil
	}
	return append(slices.Clone(shape[:r-1]), shape[r-1]*by/over)
}

// swizzled is the layout that tensor cores want: tiles of 128 rows by 4 scales,
// padded.
func swizzled(w *weight) []int64 {
	return []int64{128 * cd(w.o, 128), 4 * cd(cd(w.i, 16), 4)}
}
