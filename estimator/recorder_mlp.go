package estimator

// activationSaving says which tensors of the block's width an activation
// function keeps: its input, results on the way, its own output.
type activationSaving struct {
	input  bool
	inner  int64
	output bool
}

// activationTable: functions of one kernel keep their input or their output;
// those written out in Python keep every operand of a product besides. "By rule"
// are those that no measurement covers.
var activationTable = map[string]activationSaving{
	"gelu":              {input: true},                          // one kernel: bert
	"gelu_pytorch_tanh": {input: true},                          // one kernel, by rule
	"silu":              {input: true},                          // one kernel: llama
	"swish":             {input: true},                          // the same
	"gelu_new":          {input: true, inner: 3, output: false}, // x, 0.5x, tanh(…), 1 + tanh(…): gpt2
	"gelu_fast":         {input: true, inner: 4},                // by rule
	"quick_gelu":        {input: true, inner: 1},                // x and its sigmoid, by rule
	"relu":              {output: true},                         // t5
	"relu2":             {output: true, inner: 0},               // the square keeps relu's output, by rule
	"relu_squared":      {output: true},                         // the same
	"tanh":              {output: true},
	"sigmoid":           {output: true},
}

func (r *recorder) activation() activationSaving {
	a, ok := activationTable[r.model.Training.Activation]
	if !ok {
		return activationSaving{input: true}
	}
	return a
}

// activated runs the activation function on a value.
func (r *recorder) activated(in *value, part string) *value {
	a := r.activation()
	if a.input {
		r.keep(in, part, "inputs of activations")
	}
	if a.inner > 0 {
		r.add(part, "within activations", in.rows.Times(in.width).X(a.inner), r.use.ElementBytes)
	}
	out := fresh(in.rows, in.width)
	if a.output {
		r.keep(out, part, "outputs of activations")
	}
	return out
}

// feedForward runs dense matrices, routed experts and shared ones on a value.
func (r *recorder) feedForward(b *Block, in *value) {
	subs := flattened(b.Sub)
	if b.Kind != MLPKind {
		subs = []*Block{b}
	}
	var dense, packed []*Block
	for _, sub := range subs {
		switch {
		case sub.Kind == LinearKind && sub.Role == Router:
			r.router(sub, in)
		case sub.Kind == ExpertsKind:
			r.routed(flattened(sub.Sub), in, sub.Used)
		case sub.Kind == StackedKind && !sub.In.IsZero():
			packed = append(packed, sub)
		case sub.Kind == MLPKind:
			r.feedForward(sub, in)
		case sub.Kind == LinearKind || sub.Kind == NormKind:
			dense = append(dense, sub)
		}
	}
	if len(packed) > 0 {
		r.routed(packed, in, packed[0].Used)
	}
	r.matrices(dense, in)
}

// router keeps the value and the probabilities of all experts, in 32 bits.
func (r *recorder) router(b *Block, in *value) {
	r.keep(in, "feed-forward", "inputs of linears")
	r.add("feed-forward", "router probabilities", in.rows.Times(b.Out), 4)
}

// routed runs the experts: each gets the rows that are routed to it, copied; its
// output and its weight are kept for their product.
func (r *recorder) routed(experts []*Block, in *value, used Size) {
	if used.IsZero() {
		return
	}
	rows := in.rows.Times(used)
	gathered := fresh(rows, in.width)
	r.matrices(experts, gathered)
	r.add("feed-forward", "outputs of experts", rows.Times(in.width), r.use.ElementBytes)
	r.add("feed-forward", "weights of experts", rows, r.use.ElementBytes)
}

// matrices runs one or two matrices up, the activation function, the gate's
// product, and the matrix down. Norms stand before the last.
func (r *recorder) matrices(blocks []*Block, in *value) {
	var up, norms []*Block
	var width Size
	for _, b := range blocks {
		switch {
		case b.Kind == NormKind:
			norms = append(norms, b)
		case b.In.Int() == in.width.Int() && b != blocks[len(blocks)-1] || len(up) == 0:
			up = append(up, b)
			width = width.Plus(b.Out)
		}
	}
	if len(up) == 0 {
		return
	}
	const part = "feed-forward"
	r.keep(in, part, "inputs of linears")
	down := blocks[len(blocks)-1]
	if down == up[len(up)-1] || down.Kind == NormKind { // a gate of its own, or one matrix
		return
	}
	r.split = true
	defer func() { r.split = false }()
	inner := fresh(in.rows, down.In)
	out := r.activated(inner, part)
	if width.Int() > down.In.Int() {
		r.keep(out, part, "outputs of activations")
		r.keep(fresh(in.rows, down.In), part, "gated values")
		out = fresh(in.rows, down.In)
	}
	for _, n := range norms {
		r.normed(n, out, out.rows, part)
		out = fresh(out.rows, n.In)
	}
	if up[len(up)-1].Saving.Dropped && r.dropsResidual() {
		r.dropout(part, out.rows.Times(out.width))
		out = fresh(out.rows, out.width)
	}
	r.keep(out, part, "inputs of linears")
}
