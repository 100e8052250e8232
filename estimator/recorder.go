package estimator

// value is a tensor of the pass, rows times width. It is kept once.
type value struct {
	rows, width Size
	kept        bool
}

// recorder runs a model's blocks on shapes alone and notes what they keep.
type recorder struct {
	model *Model
	use   SavingUse
	b     Size // sequences
	s     Size // tokens of each
	e     Size // the encoder's tokens of each

	saved   []Saved
	largest []Saved

	current *value // what the next block takes
	before  *value // what the last attention or feed-forward block took, if no norm came since
	memory  *value // the encoder's output

	tower    string
	view     View // how the block at hand sees images
	layers   Indices
	copies   int64
	split    bool            // now within what tensor parallelism shares out
	embedded bool            // an embedding ran and no layer since
	lost     bool            // the loss is computed
	once     map[string]bool // what all layers share
	shared   map[string]bool // names of token embeddings that others use instead
}

func newRecorder(m *Model, use SavingUse) *recorder {
	r := &recorder{model: m, use: use, copies: 1, once: make(map[string]bool), shared: make(map[string]bool),
		b: Named("b", use.Batch), s: Named("s", use.Seq), e: Named("e", use.EncoderSeq)}
	if use.EncoderSeq == use.Seq {
		r.e = r.s
	}
	m.walk(func(l *leaf) {
		for _, p := range l.block.Params {
			if l.block.Role == TokenEmbedding && p.TiedTo != "" {
				r.shared[p.TiedTo] = true
			}
		}
	})
	return r
}

// keep notes that a value is needed again.
func (r *recorder) keep(v *value, part, what string) {
	if v.kept || r.use.Batch == 0 {
		return
	}
	v.kept = true
	r.add(part, what, v.rows.Times(v.width), r.use.ElementBytes)
}

// add notes storage that nothing else uses.
func (r *recorder) add(part, what string, elements Size, bytes int64) {
	if elements.IsZero() || bytes == 0 {
		return
	}
	r.saved = append(r.saved, Saved{What: what, Part: part, Tower: r.tower, Layers: r.layers, Copies: r.copies,
		Elements: elements, Bytes: bytes, Split: r.split})
}

// fresh is a result of so many features a row.
func fresh(rows, width Size) *value { return &value{rows: rows, width: width} }

// rows returns on how many rows a block runs.
func (r *recorder) rows(b *Block) Size {
	rows := r.b.Times(r.s)
	switch b.Rows {
	case PerSequence:
		rows = r.b
	case PerMemory:
		rows = r.b.Times(r.e)
	case PerCrossed:
		if r.e.IsZero() {
			return Size{}
		}
	case PerPosition:
		rows = r.s
	case PerModel:
		rows = Const(1)
	case Elsewhere:
		return Size{}
	}
	if b.Repeat > 1 {
		rows = rows.X(b.Repeat)
	}
	return rows
}

// dropout notes the mask of one dropout layer.
func (r *recorder) dropout(part string, elements Size) {
	r.add(part, "dropout masks", elements, r.use.MaskBytes)
}

func (r *recorder) dropsResidual() bool { return r.use.Dropout && r.model.Training.DropsResidual }

// block runs one block and all in it. Body says that names are below the
// model's prefix.
func (r *recorder) block(b *Block, body bool) {
	if b.Idle {
		return
	}
	if b.Tower != "" && b.Tower != r.tower {
		r.inTower(b)
		return
	}
	if b.View != nil && *b.View != r.view {
		r.onImages(b, func() { r.block(b, body) })
		return
	}
	if b.Span != nil {
		r.spanned(b, body)
		return
	}
	switch b.Kind {
	case EmbeddingKind:
		r.embedding(b)
	case NormKind:
		r.norm(b)
	case LinearKind:
		r.linear(b)
	case AttentionKind:
		r.sublayer(b, r.attention)
	case MLPKind, ExpertsKind, StackedKind:
		r.sublayer(b, r.feedForward)
	case StackKind:
		r.stack(b)
	default:
		if b.States != nil || b.Extra != nil {
			r.sublayer(b, r.mixer)
			return
		}
		for i := range b.Sub {
			r.block(&b.Sub[i], body)
		}
	}
}

// inTower runs a tower; what comes out of it waits for those who attend to it.
func (r *recorder) inTower(b *Block) {
	tower, current := r.tower, r.current
	r.tower, r.current, r.before = b.Tower, nil, nil
	inner := *b
	inner.Tower = ""
	r.block(&inner, false)
	r.memory = r.current
	r.tower, r.current, r.before = tower, current, nil
}

// onImages runs a block on images, those of one size after those of another.
func (r *recorder) onImages(b *Block, run func()) {
	sequences, tokens, memory, view := r.b, r.s, r.e, r.view
	for _, p := range b.View.passes(r.model.complete(r.use.pass())) {
		x := b.View.symbols(p)
		r.b, r.s, r.e, r.view = x.b, x.s, x.e, *b.View
		run()
	}
	r.b, r.s, r.e, r.view = sequences, tokens, memory, view
}

// spanned runs a block on positions of its own.
func (r *recorder) spanned(b *Block, body bool) {
	sequences, tokens, memory := r.b, r.s, r.e
	inner := *b
	inner.Span = nil
	for _, p := range b.Span.passes(Pass{Batch: r.b.Int(), Seq: r.s.Int(), EncoderSeq: r.e.Int()}) {
		if p.Batch != r.b.Int() {
			r.b = Named("c", p.Batch)
		}
		if p.Seq != r.s.Int() {
			r.s = Named("f", p.Seq)
		}
		if p.EncoderSeq != r.e.Int() {
			r.e = Named("f", p.EncoderSeq)
		}
		r.block(&inner, body)
	}
	r.b, r.s, r.e = sequences, tokens, memory
}

// pass is the forward pass whose values are kept.
func (u *SavingUse) pass() Pass {
	return Pass{Batch: u.Batch, Seq: u.Seq, EncoderSeq: u.EncoderSeq, Sight: u.Sight}
}

// input is what the next block takes, made up where nothing ran before it.
func (r *recorder) input(rows, width Size) *value {
	if r.current == nil || r.current.width.Int() != width.Int() || r.current.rows.Int() != rows.Int() {
		r.current = fresh(rows, width)
	}
	return r.current
}

// sublayer runs attention or a feed-forward block on the layer's value. Where no
// norm stands between two of them they run side by side on one value.
func (r *recorder) sublayer(b *Block, run func(*Block, *value)) {
	in := r.current
	if r.before != nil {
		in = r.before
	}
	if in == nil {
		in = fresh(r.rows(b), r.model.width())
	}
	run(b, in)
	if r.dropsResidual() {
		r.dropout(partOf(b), in.rows.Times(in.width))
	}
	r.current, r.before = fresh(in.rows, in.width), in
}

func partOf(b *Block) string {
	if b.Kind == AttentionKind {
		return "attention"
	}
	return "feed-forward"
}

// embedding keeps its indices, 64 bits each: one for each token, one for each
// position of the longest sequence.
func (r *recorder) embedding(b *Block) {
	if len(b.Params) > 0 && r.sharedTable(b) {
		return
	}
	rows, indices := r.rows(b), r.s
	if b.Role == TokenEmbedding {
		indices = rows
	}
	if !b.Saving.Buffered {
		r.add("embeddings", "indices", indices, 8)
	}
	r.current, r.before, r.embedded = fresh(rows, b.Out), nil, true
}

// sharedTable reports whether others look up in the table in its place.
func (r *recorder) sharedTable(b *Block) bool {
	return r.shared[join(r.model.Prefix, b.Name+"."+b.Params[0].Name)] || r.shared[b.Name+"."+b.Params[0].Name]
}

// norm runs on what came last.
func (r *recorder) norm(b *Block) {
	rows := r.rows(b)
	if r.current != nil {
		rows = r.current.rows
	}
	in := r.input(rows, b.In)
	r.normed(b, in, rows, "norms")
	r.current, r.before = fresh(rows, b.In), nil
	if b.Saving.Dropped && r.dropsResidual() {
		r.dropout("norms", rows.Times(b.In))
	}
}

// normed notes what a norm keeps, of so many vectors.
func (r *recorder) normed(b *Block, in *value, vectors Size, part string) {
	elements, e := in.rows.Times(in.width), r.use.ElementBytes
	style := b.normSaving()
	if style == FusedNorm {
		r.keep(in, part, "inputs of norms")
		stat := r.use.StatBytes
		if stat == 0 {
			stat = e
		}
		r.add(part, "means and deviations", vectors.X(2), stat)
		return
	}
	if e < 4 {
		r.add(part, "inputs of norms in 32 bits", elements, 4)
	}
	if e == 4 || style == MixedNorm {
		r.keep(in, part, "inputs of norms")
	}
	r.add(part, "normalised inputs", elements, e)
	r.add(part, "means and deviations", vectors, 4)
}

// stack runs each kind of layer once for all of its kind.
func (r *recorder) stack(b *Block) {
	if r.embedded && r.dropsResidual() && r.current != nil {
		r.dropout("embeddings", r.current.rows.Times(r.current.width))
	}
	r.embedded = false
	if r.use.Recompute == RecomputeLayers {
		r.recomputed(b)
		return
	}
	for i := range b.Sub {
		r.group(&b.Sub[i])
	}
}

// group runs the layers of one kind.
func (r *recorder) group(g *Block) {
	layers, copies := r.layers, r.copies
	if r.layers == nil {
		r.layers = g.Index
	}
	r.copies = copies * max(0, g.Count.Int())
	if r.current != nil {
		r.current = fresh(r.current.rows, r.current.width) // what came before keeps its own
	}
	for i := range g.Sub {
		r.block(&g.Sub[i], false)
	}
	r.layers, r.copies, r.before = layers, copies, nil
}

// recomputed keeps the inputs of the layers, and notes what the largest of them
// needs while it is computed again.
func (r *recorder) recomputed(b *Block) {
	for i := range b.Sub {
		g := &b.Sub[i]
		in := r.current
		switch {
		case in == nil && r.view.Patch == [2]int64{1, 1}:
			in = fresh(Size{}, Size{}) // the pixels, which are kept anyway
		case in == nil:
			in = fresh(r.b.Times(r.s), r.model.width())
		}
		whole := *r
		whole.saved, whole.copies, whole.use.Recompute = nil, 1, recomputeNotAtAll
		one := *g
		one.Count, one.Index = Const(1), g.Index
		kept := r.memory != nil && r.memory.kept
		whole.group(&one)
		if r.memory != nil && r.memory.kept && !kept {
			r.memory.kept = false
			r.keep(r.memory, "attention", "inputs of linears")
		}
		r.add("layers", "inputs of layers", in.rows.Times(in.width).Times(g.Count), r.use.ElementBytes)
		if TotalSaved(whole.saved).Cmp(TotalSaved(r.largest)) > 0 {
			r.largest = whole.saved
		}
		r.passed(g, b.Count)
		r.current = fresh(in.rows, in.width)
		if out := whole.current; out != nil {
			r.current = fresh(out.rows, out.width)
		}
	}
}

// passed are masks and biases of the scores that layers get as arguments.
func (r *recorder) passed(g *Block, layers Size) {
	for i := range g.Sub {
		b := &g.Sub[i]
		if s := b.Scores; s != nil {
			q, k := r.queries(s), r.keys(s)
			if s.Saving.PassedMask && r.use.Kernel == Eager && !r.once[r.tower+"mask"] {
				r.once[r.tower+"mask"] = true
				r.add("layers", "masks that layers take", r.b.Times(q).Times(k), r.use.ElementBytes)
			}
			name := r.tower + "bias" + s.KeyDim.String()
			if s.Cross {
				name += "cross"
			}
			if s.Saving.Bias != NoBias && layers.Int() > 1 && !r.once[name] {
				r.once[name] = true
				r.add("layers", "biases that layers take", s.Heads.Times(q).Times(k), r.use.ElementBytes)
			}
		}
		r.passed(b, layers)
	}
}
