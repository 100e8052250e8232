package reconcile

import "slices"

var (
	fourBits = []int64{4}
	allBits  = []int64{4, 8, 3, 2, 6, 5, 7}
)

// intSchemes store weights as small integers.
var intSchemes = []scheme{
	// GPTQ packs along the inputs. Older writers round sizes down and lose what
	// does not fill a word.
	gptq("", func(w *weight) (rows, zeros int64) { return cd(w.i*w.bits, 32), cd(w.o*w.bits, 32) }),
	gptq("floors", func(w *weight) (rows, zeros int64) { return w.i / 32 * w.bits, w.o / 32 * w.bits }),
	{method: "gptq", form: "marlin", also: []string{"marlin"}, formats: []string{"marlin"}, numbers: "int", carrier: ".B", logical: ".weight", dtypes: i32, bits: []int64{4, 8}, grains: groups,
		stored:  func(w *weight) []int64 { return []int64{w.i / 16, w.o * 16 * w.bits / 32} },
		inverse: func(b *bundle, p params) []int64 { return turned(rowsTimes(lastTimes(b.carrier.shape, 2, p.bits), 16)) },
		parts:   []part{{suffix: ".s", dtypes: floats, shape: groupsOut}}},

	// AWQ packs along the outputs.
	{method: "awq", form: "gemm", formats: []string{"gemm"}, numbers: "int", also: []string{"gptq", "auto-round"}, carrier: ".qweight", logical: ".weight", dtypes: i32, bits: fourBits, grains: groups,
		stored:  func(w *weight) []int64 { return w.mat(w.i, w.o*w.bits/32) },
		inverse: func(b *bundle, p params) []int64 { return turned(lastTimes(b.carrier.shape, 32, p.bits)) },
		parts: []part{{suffix: ".scales", dtypes: floats, shape: groupsOut},
			part{suffix: ".qzeros", dtypes: i32, shape: func(w *weight) []int64 { return w.mat(w.across(), w.o*w.bits/32) }}.as(zeroPart)}},
	{method: "awq", form: "gemv", formats: []string{"gemv"}, numbers: "int", carrier: ".qweight", logical: ".weight", dtypes: i32, bits: fourBits, grains: groups,
		stored:  func(w *weight) []int64 { return w.mat(w.o, w.i/8) },
		inverse: func(b *bundle, _ params) []int64 { return lastTimes(b.carrier.shape, 8, 1) },
		parts: []part{{suffix: ".scales", dtypes: floats, shape: func(w *weight) []int64 { return w.mat(w.o, 8*gemvWords(w)) }},
			part{suffix: ".qzeros", dtypes: i32, shape: func(w *weight) []int64 { return w.mat(w.o, gemvWords(w)) }}.as(zeroPart)}},
	{method: "awq", form: "gemv_fast", formats: []string{"gemv_fast"}, numbers: "int", carrier: ".qweight", logical: ".weight", dtypes: i16, bits: fourBits, grains: groups,
		stored:  func(w *weight) []int64 { return w.mat(w.o/4, w.i) },
		inverse: func(b *bundle, _ params) []int64 { return rowsTimes(b.carrier.shape, 4) },
		parts: []part{{suffix: ".scales", dtypes: floats, shape: func(w *weight) []int64 { return w.mat(8*gemvWords(w), w.o) }},
			part{suffix: ".qzeros", dtypes: floats | i16, shape: func(w *weight) []int64 { return w.mat(8*gemvWords(w), w.o) }}.as(zeroPart)}},

	// compressed-tensors: 0.20 packs words without gaps, 0.9 whole values to a word.
	packed("pack-quantized", words),
	packed(paddedWords, func(w *weight) []int64 { return w.mat(w.o, cd(w.i, 32/w.bits)) }),
	{method: "compressed-tensors", form: "int", also: []string{"modelopt", "quark"}, formats: []string{"int-quantized", "naive-quantized"}, numbers: "int", model: true,
		carrier: ".weight", logical: ".weight", dtypes: i8, grains: any8, stored: asItIs, inverse: carrierShape,
		parts: append(staticScales(single, ".input_scale"), scales(".weight_scale", floats), extra(".weight_zero_point", i8, scale).as(zeroPart),
			extra(".input_zero_point", i8, single).as(zeroPart))},
	{method: "compressed-tensors", form: "uncompressed", model: true, carrier: ".weight", logical: ".weight", dtypes: floats, grains: any8, stored: asItIs, inverse: carrierShape, only: true, stray: true,
		parts: append(staticScales(single, ".input_scale"), scales(".weight_scale", floats), extra(".weight_zero_point", i8, scale).as(zeroPart))},

	bitsAndBytes("nf4", false), bitsAndBytes("nf4", true), bitsAndBytes("fp4", false), bitsAndBytes("fp4", true),
	{method: "bitsandbytes", form: "int8", numbers: "int", carrier: ".weight", logical: ".weight", dtypes: i8, stored: asItIs, inverse: carrierShape,
		parts: []part{{suffix: ".SCB", dtypes: f32, shape: byRow}, extra(".weight_format", u8, scalars).as(statePart)}},

	// MLX and its relative keep a scale and, in the affine mode, a bias a group.
	mlx("mlx", "affine", ".biases", floats, allBits, groups),
	mlx("mlx", "nvfp4", "", u8, fourBits, by16),
	mlx("mlx", "mxfp4", "", u8, fourBits, by32),
	mlx("mlx", "mxfp8", "", u8, []int64{8}, by32),
	mlx("metal", "affine", ".qbiases", floats, allBits, groups),

	{method: "eetq", numbers: "int", carrier: ".weight", logical: ".weight", dtypes: i8, stored: swapped,
		inverse: func(b *bundle, _ params) []int64 { return turned(b.carrier.shape) },
		parts:   []part{{suffix: ".weight_scales", dtypes: f16, shape: byRow}}},
	{method: "torchao", form: "int8", formats: []string{"Int8Tensor", "IntxUnpackedToInt8Tensor"}, numbers: "int", model: true, carrier: "._weight_qdata", logical: ".weight", dtypes: i8, grains: any8, stored: asItIs, inverse: carrierShape,
		parts: []part{scales("._weight_scale", floats), extra("._weight_zero_point", i8, scale).as(zeroPart)}},
	{method: "torchao", form: "int4", formats: []string{"Int4Tensor"}, numbers: "int", carrier: "._weight_qdata", logical: ".weight", dtypes: u8 | i8, grains: groups, stored: halves, inverse: doubled,
		parts: []part{{suffix: "._weight_scale", dtypes: floats, shape: groupsOut}, extra("._weight_zero_point", floats|i8, groupsOut).as(zeroPart)}},
	{method: "torchao", form: "int4 tiles", formats: []string{"Int4TilePackedTo4dTensor"}, numbers: "int", carrier: "._weight_qdata", logical: ".weight", dtypes: i32, grains: groups,
		stored: func(w *weight) []int64 { return []int64{w.o / 8, w.i / 128, 32, 4} },
		inverse: func(b *bundle, _ params) []int64 {
			if s := b.carrier.shape; len(s) == 4 {
				return []int64{8 * s[0], 128 * s[1]}
			}
			return nil
		},
		parts: []part{{suffix: "._weight_scale_and_zero", dtypes: floats, shape: func(w *weight) []int64 { return []int64{w.across(), w.o, 2} }}}},

	{method: "modelopt", form: "int4", model: true, numbers: "int", carrier: ".weight", logical: ".weight", dtypes: u8, grains: groups,
		stored:  func(w *weight) []int64 { return w.mat(cd(w.o, 2), w.i) },
		inverse: func(b *bundle, _ params) []int64 { return rowsTimes(b.carrier.shape, 2) },
		parts:   append(staticScales(scalars, ".input_scale", ".weight_scale_2"), scales(".weight_scale", floats), preScale)},
	{method: "bitnet", model: true, carrier: ".weight", logical: ".weight", dtypes: u8,
		stored:  func(w *weight) []int64 { return w.mat(cd(w.o, 4), w.i) },
		inverse: func(b *bundle, _ params) []int64 { return rowsTimes(b.carrier.shape, 4) },
		parts:   []part{{suffix: ".weight_scale", dtypes: floats, shape: single}}},
	gemma(".weight", ".weight_scale", u8, []int64{4, 2}), gemma(".weight", ".weight_scale", i8, []int64{8}),
	gemma(".embedding_quantized", ".embedding_scale", u8, []int64{4, 2}), gemma(".embedding_quantized", ".embedding_scale", i8, []int64{8}),

	{method: "quanto", form: "int8", numbers: "int", model: true, together: true, carrier: ".weight._data", logical: ".weight", dtypes: i8, grains: slices.Concat(channel, whole), stored: asItIs, inverse: carrierShape,
		parts: append(staticScales(scalars, ".input_scale", ".output_scale"), scales(".weight._scale", floats))},
	{method: "quanto", form: "packed", numbers: "int", model: true, together: true, carrier: ".weight._data._data", logical: ".weight", dtypes: u8, bits: []int64{4, 2},
		stored:  func(w *weight) []int64 { rows, cols := quantoRows(w); return []int64{cd(rows*w.bits, 8), cols} },
		inverse: func(b *bundle, p params) []int64 { return rowsTimes(b.carrier.shape, 8/p.bits) },
		parts: append(staticScales(scalars, ".input_scale", ".output_scale"),
			part{suffix: ".weight._scale", dtypes: floats, shape: quantoScales},
			part{suffix: ".weight._shift", kind: zeroPart, dtypes: floats | i8 | u8, shape: quantoScales})},

	hqq(8, u8, 1), hqq(4, u8, 1), hqq(2, u8, 1), hqq(1, u8, 1), hqq(3, i32, 1),
	hqq(8, u8, 0), hqq(4, u8, 0), hqq(2, u8, 0), hqq(1, u8, 0), hqq(3, i32, 0),
}

func gptq(form string, sizes func(*weight) (rows, zeros int64)) scheme {
	return scheme{method: "gptq", form: form, also: []string{"auto-round"}, formats: []string{"gptq", "gptq_v2"}, numbers: "int", carrier: ".qweight", logical: ".weight", dtypes: i32, bits: allBits, grains: groups, lossy: form == "floors",
		stored: func(w *weight) []int64 { rows, _ := sizes(w); return w.mat(rows, w.o) },
		inverse: func(b *bundle, p params) []int64 {
			if order := b.shapeOf(".g_idx"); len(order) == 1 && len(b.carrier.shape) == 2 {
				return []int64{b.carrier.shape[1], order[0]}
			}
			return lastTimes(turned(b.carrier.shape), 32, p.bits)
		},
		parts: []part{{suffix: ".scales", dtypes: floats, shape: groupsOut},
			part{suffix: ".qzeros", dtypes: i32, shape: func(w *weight) []int64 { _, zeros := sizes(w); return w.mat(w.across(), zeros) }}.as(zeroPart),
			extra(".g_idx", i32, byColumn).as(indexPart)}}
}

// gemvWords is the number of words for the zero points of a row: one value for a
// group, eight to a word, padded to what the kernel reads at once.
func gemvWords(w *weight) int64 {
	multiple := int64(1)
	switch g := w.span(); {
	case g >= 128:
	case g == 64:
		multiple = 2
	case g == 32:
		multiple = 4
	default:
		return -1
	}
	return multiple * cd(cd(w.i/w.span(), 8), multiple)
}

// paddedWords is the layout with whole values to a word.
const paddedWords = "pack-quantized, padded"

func packed(form string, stored shaper) scheme {
	return scheme{method: "compressed-tensors", form: form, formats: []string{"pack-quantized"}, numbers: "int", model: true, carrier: ".weight_packed", logical: ".weight", dtypes: i32, bits: allBits, stored: stored,
		grains: slices.Concat(groups, whole),
		inverse: func(b *bundle, p params) []int64 {
			s, table := b.carrier.shape, b.shapeOf(".weight_scale")
			if len(s) < 2 {
				return nil
			}
			if p.cols > 0 && len(table) == len(s) { // whole groups only: the writer refuses others
				return lastTimes(table, p.cols, 1)
			}
			if form == "pack-quantized" {
				return lastTimes(s, 32, p.bits)
			}
			return lastTimes(s, 32/p.bits, 1)
		},
		parts: []part{scales(".weight_scale", floats), part{suffix: ".weight_shape", dtypes: i64 | i32, shape: pair}.as(statePart),
			extra(".weight_zero_point", i32, func(w *weight) []int64 { return w.mat(cd(w.o*w.bits, 32), w.across()) }).as(zeroPart),
			extra(".weight_g_idx", i32, byColumn).as(indexPart)}}
}

// bitsAndBytes packs the flattened weight, two to a byte, in words of any type.
func bitsAndBytes(kind string, nested bool) scheme {
	s := scheme{method: "bitsandbytes", form: kind, numbers: kind, carrier: ".weight", logical: ".weight", dtypes: floats | u8, bits: fourBits,
		grains: []grain{{1, 64, 1}, {1, 128, 1}, {1, 256, 1}, {1, 512, 1}, {1, 1024, 1}, {1, 2048, 1}, {1, 4096, 1}, {1, 32, 1}},
		stored: func(w *weight) []int64 { return []int64{cd(cd(w.n, 2)*8, w.unit), 1} },
		inverse: func(b *bundle, _ params) []int64 {
			return []int64{product(b.carrier.shape) * int64(b.carrier.dtype.Bits()) / 4}
		},
		parts: []part{
			{suffix: ".weight.absmax", dtypes: f32, shape: func(w *weight) []int64 { return []int64{cd(w.n, w.span())} }},
			part{suffix: ".weight.quant_map", dtypes: f32, shape: func(*weight) []int64 { return []int64{16} }}.as(codebookPart),
			part{suffix: statePrefix + kind, dtypes: u8, lengths: stateLengths(kind, nested)}.as(statePart)}}
	if nested {
		s.form += ", double"
		s.parts[0].dtypes = u8
		s.parts = append(s.parts,
			part{suffix: ".weight.nested_absmax", dtypes: f32, shape: func(w *weight) []int64 { return []int64{cd(cd(w.n, w.span()), 256)} }},
			part{suffix: ".weight.nested_quant_map", dtypes: f32, shape: func(*weight) []int64 { return []int64{256} }}.as(codebookPart))
	}
	return s
}

func mlx(method, mode, biases string, scale dtypes, bits []int64, g []grain) scheme {
	s := scheme{method: method, form: mode, numbers: mode, model: true, carrier: ".weight", logical: ".weight", dtypes: u32, bits: bits, grains: g, stored: words,
		inverse: func(b *bundle, p params) []int64 { return lastTimes(b.carrier.shape, 32, p.bits) },
		parts:   []part{scales(".scales", scale)}}
	if biases != "" {
		s.parts = append(s.parts, scales(biases, scale).as(zeroPart))
	}
	return s
}

func gemma(carrier, scale string, t dtypes, bits []int64) scheme {
	return scheme{method: "gemma", numbers: "int", carrier: carrier, logical: ".weight", dtypes: t, bits: bits, grains: channel,
		stored:  func(w *weight) []int64 { return w.mat(w.o, cd(w.i*w.bits, 8)) },
		inverse: func(b *bundle, p params) []int64 { return lastTimes(b.carrier.shape, 8, p.bits) },
		parts:   append(staticScales(scalars, ".input_activation_scale", ".output_activation_scale"), scales(scale, f32))}
}

// quantoRows is how quanto views a weight: in rows of the first of its group
// sizes that divides long ones.
func quantoRows(w *weight) (rows, cols int64) {
	if w.i > 128 {
		for _, g := range []int64{128, 96, 64, 32} {
			if w.i%g == 0 {
				return w.n / g, g
			}
		}
	}
	return w.o, w.i
}

func quantoScales(w *weight) []int64 {
	rows, _ := quantoRows(w)
	return []int64{rows, 1}
}

// hqq views a weight as groups, in rows or in columns, and packs it along the
// first dimension. The library stores the settings of each module beside it.
func hqq(bits int64, t dtypes, axis int) scheme {
	view := func(w *weight) (rows, cols int64) {
		g := w.span()
		if axis == 0 {
			return g, w.n / g
		}
		return w.n / g, g
	}
	per := map[int64]int64{8: 1, 4: 2, 2: 4, 1: 8, 3: 10}[bits]
	table := func(w *weight) []int64 {
		rows, cols := view(w)
		if axis == 0 {
			return []int64{1, cols}
		}
		return []int64{rows, 1}
	}
	s := scheme{method: "hqq", form: "axis 1", numbers: "int", together: true, carrier: ".W_q", logical: ".weight", dtypes: t, bits: []int64{bits}, grains: groups,
		stored:  func(w *weight) []int64 { rows, cols := view(w); return []int64{cd(rows, per), cols} },
		inverse: func(b *bundle, p params) []int64 { return hqqShape(b, p, axis) },
		parts: []part{{suffix: ".scale", dtypes: floats, shape: table}, part{suffix: ".zero", dtypes: floats, shape: table}.as(zeroPart),
			part{suffix: ".shape", dtypes: i64, shape: pair}.as(statePart)}}
	if axis == 0 {
		s.form = "axis 0"
	}
	for _, name := range []string{".axis", ".group_size", ".nbits"} {
		s.parts = append(s.parts, extra(name, i32|i64, scalars).as(statePart))
	}
	for _, name := range []string{".channel_wise", ".encoded_state_dict", ".offload_meta", ".optimize", ".quant_scale", ".quant_zero", ".round_zero", ".stores_quant_config", ".view_as_float"} {
		s.parts = append(s.parts, extra(name, u8, scalars).as(statePart))
	}
	for _, name := range []string{".compute_dtype", ".packing", ".unpack_view_dtype"} {
		s.parts = append(s.parts, extra(name, u8, nil).as(statePart))
	}
	return s
}

// hqqShape gives the number of weights: the view does not show rows and columns.
func hqqShape(b *bundle, p params, axis int) []int64 {
	s, table := b.carrier.shape, b.shapeOf(".scale")
	if len(s) != 2 || len(table) != 2 {
		return nil
	}
	if axis == 0 {
		return []int64{s[1], max(p.cols, 1)}
	}
	return []int64{table[0], s[1]}
}

// rowsTimes multiplies the rows of a matrix.
func rowsTimes(shape []int64, by int64) []int64 {
	r := len(shape)
	if r < 2 || shape[r-2] > mostElements/by {
		return nil
	}
	turned := slices.Clone(shape)
	turned[r-2] *= by
	return turned
}

// turned exchanges rows and columns.
func turned(shape []int64) []int64 {
	r := len(shape)
	if r < 2 {
		return nil
	}
	t := slices.Clone(shape)
	t[r-1], t[r-2] = t[r-2], t[r-1]
	return t
}
