package estimator

// linear runs a linear outside attention and feed-forward blocks: a projection
// between widths, a pooler, a layer of a head, the output projection.
func (r *recorder) linear(b *Block) {
	rows := r.rows(b)
	if rows.IsZero() {
		return
	}
	in := r.current
	if in == nil || !b.overlaps() {
		in = r.input(rows, b.In)
	}
	part := "embeddings"
	switch b.Role {
	case Head, HeadLayers, Classifier, Pooler:
		part = "head"
	}
	r.keep(in, part, "inputs of linears")
	r.current, r.before = fresh(rows, b.Out), nil
	switch b.Role {
	case Head:
		r.loss(b, rows)
	case HeadLayers:
		r.current = r.activated(r.current, part)
	}
}

// loss is the cross entropy of the model's own classes. A causal language model
// computes it in 32 bits, on labels that are shifted: its own storage, one label
// longer where there is only one sequence.
func (r *recorder) loss(b *Block, rows Size) {
	if r.lost {
		return
	}
	r.lost = true
	labels, bytes := rows, r.use.ElementBytes
	if b.Rows == PerLogit {
		bytes = 4
		if r.use.Batch == 1 {
			labels = labels.Plus(Const(1))
		}
	}
	r.split = true
	r.add("loss", "log-probabilities", rows.Times(b.Out), bytes)
	r.split = false
	r.add("loss", "labels", labels, 8)
	r.add("loss", "sum of weights", Const(1), bytes)
}

// mixer is a token mixer without attention: what its linears, norms and
// convolution take is kept. What the scan itself keeps is not known here.
func (r *recorder) mixer(b *Block, in *value) {
	for _, sub := range flattened(b.Sub) {
		switch sub.Kind {
		case LinearKind:
			v := fresh(in.rows, sub.In)
			if sub.In.Int() == in.width.Int() {
				v = in
			}
			r.keep(v, "mixer", "inputs of linears")
		case ConvKind:
			r.keep(fresh(in.rows, sub.Out), "mixer", "inputs of convolutions")
			r.keep(fresh(in.rows, sub.Out), "mixer", "inputs of activations")
		case NormKind:
			r.normed(sub, fresh(in.rows, sub.In), in.rows, "mixer")
		case AttentionKind:
			r.attention(sub, in)
		}
	}
}

// flattened lists blocks without the groups around them.
func flattened(blocks []Block) []*Block {
	var list []*Block
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Idle:
		case b.Kind == Group && b.States == nil && b.Extra == nil:
			list = append(list, flattened(b.Sub)...)
		default:
			list = append(list, b)
		}
	}
	return list
}
