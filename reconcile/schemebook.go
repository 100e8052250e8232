package reconcile

// bookSchemes store weights as places in codebooks, or as the few that are not
// zero.
var bookSchemes = []scheme{
	{method: "aqlm", carrier: ".codes", logical: ".weight", dtypes: i8 | i16, tune: aqlmBooks,
		stored: func(w *weight) []int64 { return []int64{w.o / w.books[2], w.i / w.books[3], w.books[0]} },
		inverse: func(b *bundle, p params) []int64 {
			if s := b.carrier.shape; len(s) == 3 {
				return []int64{s[0] * p.books[2], s[1] * p.books[3]}
			}
			return nil
		},
		parts: []part{
			part{suffix: ".codebooks", dtypes: floats, shape: func(w *weight) []int64 { return w.books[:] }}.as(codebookPart),
			{suffix: ".scales", dtypes: floats, shape: func(w *weight) []int64 { return []int64{w.o / w.books[2], 1, 1, 1} }}}},
	vptq(false), vptq(true),
	{method: "spqr", carrier: ".dense_weights", logical: ".weight", dtypes: i64,
		stored: func(w *weight) []int64 { return []int64{16 * cd(w.o, 16) * cd(w.i, 16)} },
		inverse: func(b *bundle, _ params) []int64 {
			rows, order := b.shapeOf(".row_offsets"), b.shapeOf(".in_perm")
			if len(rows) != 1 || len(order) != 1 {
				return nil
			}
			return []int64{rows[0] - 1, order[0]}
		},
		parts: []part{
			part{suffix: ".row_offsets", dtypes: i32, shape: func(w *weight) []int64 { return []int64{w.o + 1} }}.as(indexPart),
			part{suffix: ".col_vals", dtypes: i32}.as(indexPart),
			part{suffix: ".in_perm", dtypes: i32 | i64, shape: byColumn}.as(indexPart)}},
	{method: "higgs", carrier: ".weight", logical: ".weight", dtypes: i16, bits: []int64{4, 3, 2}, grains: groups,
		stored: func(w *weight) []int64 { return []int64{w.o * w.bits / 16, w.i} },
		inverse: func(b *bundle, _ params) []int64 {
			if s, table := b.carrier.shape, b.shapeOf(".scales"); len(s) == 2 && len(table) == 2 {
				return []int64{table[0], s[1]}
			}
			return nil
		},
		parts: []part{{suffix: ".scales", dtypes: floats, shape: scale},
			part{suffix: ".tables", dtypes: floats, shape: func(w *weight) []int64 { return []int64{1 << w.bits} }}.as(codebookPart),
			part{suffix: ".tables2", dtypes: floats, shape: func(w *weight) []int64 { return []int64{1 << w.bits, 1 << w.bits, 2} }}.as(codebookPart)}},

	{method: "compressed-tensors", form: "sparse-bitmask", formats: []string{"sparse-bitmask"}, model: true, carrier: ".compressed", logical: ".weight", dtypes: floats | fp8 | i8, tune: kept,
		stored:  func(w *weight) []int64 { return []int64{w.books[0]} },
		inverse: bitmaskShape,
		parts: append(sparseParts(pair),
			part{suffix: ".row_offsets", dtypes: i64, shape: byRow}.as(indexPart))},
	{method: "compressed-tensors", form: "sparse-24-bitmask", formats: []string{"sparse-24-bitmask"}, model: true, carrier: ".compressed", logical: ".weight", dtypes: floats | fp8 | i8,
		stored: halves, inverse: doubled,
		parts: append(sparseParts(func(*weight) []int64 { return []int64{2, 1} }), extra(".weight_scale", floats, func(w *weight) []int64 { return []int64{w.o, 1} }))},
}

// aqlmBooks reads the codebooks' own sizes.
func aqlmBooks(b *bundle) []params {
	s := b.shapeOf(".codebooks")
	if len(s) != 4 || product(s) < 0 || s[1]&(s[1]-1) != 0 || s[1] > 1<<16 {
		return nil
	}
	if wide := s[1] > 1<<8; wide != (b.carrier.dtype.Bits() == 16) {
		return nil
	}
	return []params{{books: [4]int64(s)}}
}

// vptq stores for each vector of rows the places in a codebook and, with a
// second one, of what remains.
func vptq(residual bool) scheme {
	s := scheme{method: "vptq", together: true, carrier: ".indices", logical: ".weight", dtypes: i32, tune: func(b *bundle) []params { return vptqBooks(b, residual) },
		stored: func(w *weight) []int64 { return []int64{1, w.o / w.books[2], cd(w.i*w.bits, 32)} },
		inverse: func(b *bundle, p params) []int64 {
			s, order := b.carrier.shape, b.shapeOf(".perm")
			if len(s) != 3 || len(order) != 1 {
				return nil
			}
			return []int64{s[1] * p.books[2], order[0]}
		},
		parts: []part{
			part{suffix: ".centroids.weight", dtypes: floats, shape: func(w *weight) []int64 { return []int64{1, w.books[0] * w.books[2]} }}.as(codebookPart),
			part{suffix: ".perm", dtypes: i16 | i32 | i64, shape: byColumn}.as(indexPart),
			extra(".weight_scale", floats, byColumn), extra(".weight_bias", floats, byColumn).as(zeroPart)}}
	if residual {
		s.form = "residual"
		s.parts = append(s.parts, part{suffix: ".res_centroids.weight", dtypes: floats, shape: func(w *weight) []int64 { return []int64{1, w.books[1] * w.books[2]} }}.as(codebookPart))
	}
	return s
}

// vptqBooks tries vector lengths: the codebooks' sizes are powers of two, and
// their exponents are the bits of an index.
func vptqBooks(b *bundle, residual bool) []params {
	main, rest, order := b.shapeOf(".centroids.weight"), b.shapeOf(".res_centroids.weight"), b.shapeOf(".perm")
	if len(main) != 2 || len(b.carrier.shape) != 3 || len(order) != 1 || residual != (len(rest) == 2) {
		return nil
	}
	var list []params
	for _, length := range []int64{8, 4, 6, 2, 10, 12, 16, 32} {
		k, bits := entries(main[1], length)
		var more, moreBits int64
		if residual {
			more, moreBits = entries(rest[1], length)
		}
		if k == 0 || residual && more == 0 {
			continue
		}
		list = append(list, params{bits: bits + moreBits, books: [4]int64{k, more, length}})
	}
	return list
}

// entries divides a codebook into vectors and returns their number, 0 where it
// is no power of two, and its exponent.
func entries(size, length int64) (n, bits int64) {
	n = size / length
	if n*length != size || n <= 0 || n&(n-1) != 0 {
		return 0, 0
	}
	for n>>bits > 1 {
		bits++
	}
	return n, bits
}

func sparseParts(shape shaper) []part {
	return []part{
		part{suffix: ".bitmask", dtypes: u8, shape: func(w *weight) []int64 { return w.mat(w.o, cd(w.i, 8)) }}.as(indexPart),
		part{suffix: ".shape", dtypes: i64, shape: shape}.as(statePart)}
}

// kept takes the number of weights that are not zero from the carrier: the
// values decide whether it is right.
func kept(b *bundle) []params {
	if s := b.carrier.shape; len(s) == 1 {
		return []params{{books: [4]int64{s[0]}}}
	}
	return nil
}

// bitmaskShape counts a bit a weight; rows are padded to bytes.
func bitmaskShape(b *bundle, _ params) []int64 {
	s := b.shapeOf(".bitmask")
	if shape := lastTimes(s, 8, 1); product(shape) >= b.carrier.shape[0] {
		return shape
	}
	return nil
}
