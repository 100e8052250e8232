package estimator

// queries and keys are how many each sequence has.
func (r *recorder) queries(s *Scores) Size {
	if s.Memory {
		return r.e
	}
	return r.s
}

func (r *recorder) keys(s *Scores) Size {
	if s.Memory || s.Cross {
		return r.e
	}
	return r.s
}

// attention keeps what its projections take, queries, keys and values as they
// are multiplied, what the kernel needs, and what the output projection takes.
func (r *recorder) attention(b *Block, in *value) {
	s := b.Scores
	if s.Cross && r.e.IsZero() {
		return
	}
	r.projections(b, in)
	r.split = true
	defer func() { r.split = false }()
	r.operands(s)
	r.kernel(s)
	width := s.Heads.Times(s.ValueDim)
	if out := lastLinear(b); out != nil {
		width = out.In
	}
	r.keep(fresh(r.b.Times(r.queries(s)), width), "attention", "inputs of linears")
}

// projections are all linears and norms but the output projection.
func (r *recorder) projections(b *Block, in *value) {
	s, last := b.Scores, lastLinear(b)
	var latent *value // what a norm within made
	perHead := s.Heads
	for _, sub := range flattened(b.Sub) {
		switch {
		case sub == last:
		case sub.Kind == LinearKind:
			r.keep(r.operand(sub, in, latent), "attention", "inputs of linears")
			latent = nil
		case sub.Kind == NormKind:
			rows, vectors := in.rows, in.rows
			v := fresh(rows, sub.In)
			if sub.In.Int() == s.KeyDim.Int() { // of each head; queries stand first
				v.width, vectors = perHead.Times(sub.In), rows.Times(perHead)
				perHead = s.KVHeads
			} else if len(sub.Params) > 0 && len(sub.Params[0].Shape) == 2 {
				vectors = rows.Times(sub.Params[0].Shape[0])
			}
			r.split = v.width.Int() != sub.In.Int()
			r.normed(sub, v, vectors, "attention")
			r.split = false
			latent = fresh(rows, sub.In)
		case sub.Kind == EmbeddingKind: // a bias of the scores by bucket of distance
			r.add("attention", "buckets of distance", r.queries(s).Times(r.keys(s)), 8)
		}
	}
}

// operand is what a projection takes: the encoder's output, the latent that was
// just normalised, or what all projections take.
func (r *recorder) operand(linear *Block, in, latent *value) *value {
	switch {
	case linear.Rows == PerMemory && r.tower == "" && r.memory != nil && r.memory.width.Int() == linear.In.Int():
		return r.memory
	case latent != nil && latent.width.Int() == linear.In.Int():
		return latent
	case in.width.Int() == linear.In.Int():
		return in
	}
	return fresh(in.rows, linear.In)
}

// kernelOf is how the attention is computed: a learned bias is beyond the fused
// kernel.
func (r *recorder) kernelOf(s *Scores) Kernel {
	if r.use.Kernel == Fused && s.Saving.Bias == LearnedBias {
		return Math
	}
	return r.use.Kernel
}

// operands are queries, keys and values. Plain products take keys and values
// repeated for all query heads.
func (r *recorder) operands(s *Scores) {
	kernel, bytes := r.kernelOf(s), r.use.ElementBytes
	heads := s.Heads
	switch kernel {
	case Fused:
		heads = s.KVHeads
	case Math:
		bytes = 4
	}
	r.rotary(s)
	r.add("attention", "queries", r.b.Times(r.queries(s)).Times(s.Heads.Times(s.KeyDim)), bytes)
	if s.Borrowed && heads.Int() == s.KVHeads.Int() {
		return
	}
	r.add("attention", "keys", r.b.Times(r.keys(s)).Times(heads.Times(s.KeyDim)), bytes)
	r.add("attention", "values", r.b.Times(r.keys(s)).Times(heads.Times(s.ValueDim)), bytes)
}

// rotary tables are cosines and sines for each position, once for all layers.
func (r *recorder) rotary(s *Scores) {
	name := r.tower + "rotary" + s.Saving.Rotary.String()
	if s.Saving.Rotary.IsZero() || r.once[name] || r.use.Recompute == recomputeNotAtAll {
		return
	}
	r.once[name] = true
	r.outside(func() {
		r.add("attention", "rotary tables", r.queries(s).Times(s.Saving.Rotary).X(2), r.use.ElementBytes)
	})
}

// kernel notes what the attention itself keeps.
func (r *recorder) kernel(s *Scores) {
	q, k := r.queries(s), r.keys(s)
	if r.use.Recompute == RecomputeScores {
		return
	}
	pairs := r.b.Times(s.Heads).Times(q).Times(k)
	drops := r.use.Dropout && r.model.Training.DropsAttention
	switch e := r.use.ElementBytes; r.kernelOf(s) {
	case Fused:
		r.add("attention", "logarithms of sums", r.b.Times(s.Heads).Times(q), 4)
		if s.Saving.Bias == ZeroBias && !r.once[r.tower+"zeros"] {
			r.once[r.tower+"zeros"] = true
			r.outside(func() { r.add("attention", "bias of zeros", s.Heads.Times(q).Times(k), e) })
		}
	case Math:
		r.add("attention", "softmax", pairs, 4)
		if drops {
			r.add("attention", "dropout masks", pairs, 4)
			r.add("attention", "attention weights", pairs, 4)
		}
		if s.Saving.PassedMask && s.Saving.Bias != NoBias {
			r.add("attention", "masks", q.Times(k), 1)
		}
	default:
		softmax := e
		if s.Saving.Upcast {
			softmax = 4
		}
		r.add("attention", "softmax", pairs, softmax)
		if drops {
			r.add("attention", "dropout masks", pairs, r.use.MaskBytes)
		}
		if drops || softmax != e {
			r.add("attention", "attention weights", pairs, e)
		}
	}
}

// outside notes what is kept once for all layers.
func (r *recorder) outside(note func()) {
	layers, copies, split := r.layers, r.copies, r.split
	r.layers, r.copies, r.split = nil, 1, false
	note()
	r.layers, r.copies, r.split = layers, copies, split
}
