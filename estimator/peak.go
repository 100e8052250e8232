package estimator

// Peak is the largest set of tensors that lives at once in a forward pass
// without a backward one.
type Peak struct {
	Elements Size   // in the activations' dtype
	Split    Size   // the same, but shared out by tensor parallelism
	Wide     Size   // in 32 bits, shared out likewise: scores that plain attention writes out, logits
	Where    string // the block that needs it
	Logits   string // of what there are logits: one position, every token; "": there is no head
}

// Peak looks at every attention and feed-forward block and at the head: the
// residual stream, what the block takes, and what its projections make. It is a
// rule, not a measurement: allocators keep more, in-place kernels less.
func (m *Model) Peak(use SavingUse) Peak {
	use.EncoderSeq = m.complete(use.pass()).EncoderSeq
	r := newRecorder(m, use)
	var best Peak
	for _, part := range m.parts() {
		r.peak(&part, &best)
	}
	return best
}

func (r *recorder) peak(b *Block, best *Peak) {
	if b.Idle {
		return
	}
	if b.View != nil && *b.View != r.view {
		r.onImages(b, func() { r.peak(b, best) })
		return
	}
	var here Peak
	switch {
	case b.Kind == AttentionKind && b.Scores != nil:
		here = r.peakOf(b, "attention")
		s := b.Scores
		rows := r.b.Times(r.queries(s))
		here.Split = here.Split.Plus(rows.Times(s.Heads.Times(s.ValueDim)))
		if r.use.Kernel == Eager {
			pairs := rows.Times(s.Heads).Times(r.keys(s))
			here.Split, here.Wide = here.Split.Plus(pairs), pairs
		}
	case b.Kind == MLPKind:
		here = r.peakOf(b, "feed-forward")
	case b.Extra != nil || b.States != nil:
		here = r.peakOf(b, "mixer")
	case b.Role == Head && b.Kind == LinearKind:
		here = r.head(b)
		best.Logits = here.Logits
	case b.Role == Convolution && b.Kind == LinearKind:
		here = Peak{Elements: r.rows(b).Times(b.Out.Plus(b.Params[0].Shape[1])), Where: "convolution"}
	default:
		for i := range b.Sub {
			r.peak(&b.Sub[i], best)
		}
		return
	}
	if weigh(here) > weigh(*best) {
		here.Logits = best.Logits
		*best = here
	}
}

// head is the residual stream and the logits. Where one position of a sequence is
// enough the logits are in 32 bits besides, to choose the next token by.
func (r *recorder) head(b *Block) Peak {
	stream := r.b.Times(r.s).Times(b.In)
	if b.Rows == PerLogit {
		logits := r.b.Times(b.Out)
		return Peak{Elements: stream.Plus(logits), Wide: logits, Where: "head", Logits: "one position"}
	}
	return Peak{Elements: stream.Plus(r.rows(b).Times(b.Out)), Where: "head", Logits: "every token"}
}

// weigh compares peaks by bytes of 16-bit activations.
func weigh(p Peak) float64 {
	return 2*float64(p.Elements.Int()) + 2*float64(p.Split.Int()) + 4*float64(p.Wide.Int())
}

// peakOf is the residual stream, the block's input, and what its linears make.
func (r *recorder) peakOf(b *Block, where string) Peak {
	rows := r.b.Times(r.s)
	if b.Scores != nil {
		rows = r.b.Times(r.queries(b.Scores))
	}
	return Peak{Elements: rows.Times(r.model.width().X(2)), Split: r.made(b, rows), Where: where}
}

// made is what the linears of a block make, all experts that run together.
func (r *recorder) made(b *Block, rows Size) Size {
	var sum Size
	for _, sub := range flattened(b.Sub) {
		switch sub.Kind {
		case LinearKind, ConvKind:
			sum = sum.Plus(rows.Times(sub.Out))
		case StackedKind:
			if !sub.In.IsZero() {
				sum = sum.Plus(rows.Times(sub.Used).Times(sub.Out))
			}
		case ExpertsKind:
			sum = sum.Plus(r.made(sub, rows.Times(sub.Used)))
		case MLPKind:
			sum = sum.Plus(r.made(sub, rows))
		}
	}
	return sum
}

// width is the hidden size, or that of the first norm where the model as a whole
// has none.
func (m *Model) width() Size {
	if !m.D.IsZero() {
		return m.D
	}
	var width Size
	m.walk(func(l *leaf) {
		if width.IsZero() && l.block.Kind == NormKind && l.tower == "" {
			width = l.block.In
		}
	})
	return width
}
