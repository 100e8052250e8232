package estimator

import "slices"

// Step is a convolution over time. Of n positions it leaves
// (n + Pad − Kernel)/Stride + 1.
type Step struct{ Kernel, Stride, Pad int64 } // Pad is that of both sides together

// Span says on how many positions a block runs where it stands among n tokens: a
// front end of convolutions runs on more than it leaves, what follows one with a
// stride on fewer. Spans add up from the outermost block on.
type Span struct {
	Heard   bool   // on the tokens of the encoder, in a pass of their own: none after the first step
	Clip    int64  // cut into clips of so many tokens, the last one padded; 0: whole
	Window  int64  // cut into windows of so many tokens, the last one shorter; 0: whole
	Length  int64  // on so many positions instead; 0: as many as there are
	Before  []Step // on what these take to leave the tokens: the shortest that does, or what they leave where they are transposed
	After   []Step // on what these leave of the tokens
	Plus    int64  // and so many positions more
	Queries int64  // so many learned queries attend to the positions, in their place
	Memory  bool   // not the block's own tokens, but those of the encoder that it attends to
}

// back returns the shortest input of which a step leaves n positions.
func (s Step) back(n int64) int64 { return (n-1)*s.Stride + s.Kernel - s.Pad }

// leaves returns how many positions a step leaves of n.
func (s Step) leaves(n int64) int64 { return max(0, n+s.Pad-s.Kernel)/max(1, s.Stride) + 1 }

func (s *Span) length(n int64) int64 {
	if n <= 0 {
		return n
	}
	if s.Length > 0 {
		n = s.Length
	}
	for _, step := range slices.Backward(s.Before) {
		n = step.back(n)
	}
	for _, step := range s.After {
		n = step.leaves(n)
	}
	return max(0, n+s.Plus)
}

// passes are the pass on the block's positions.
func (s *Span) passes(p Pass) []Pass {
	switch {
	case s.Heard && (p.Past > 0 || p.EncoderSeq == 0):
		return nil
	case s.Heard:
		p = Pass{Batch: p.Batch, Seq: p.EncoderSeq, Sight: p.Sight, seen: true}
	case s.Memory:
		p.EncoderSeq = s.length(p.EncoderSeq)
		return []Pass{p}
	}
	if s.Clip > 0 {
		p.Batch, p.Seq = p.Batch*((p.Seq+s.Clip-1)/s.Clip), s.Clip
	}
	if s.Window > 0 {
		return windowed(p, s.Window)
	}
	if p.Seq = s.length(p.Seq); s.Queries > 0 {
		p.Seq, p.EncoderSeq = s.Queries, p.Seq
	}
	return []Pass{p}
}

// windowed cuts the sequences of a pass into windows, and what is left.
func windowed(p Pass, window int64) []Pass {
	whole, rest := p, p
	whole.Batch, whole.Seq, rest.Seq = p.Batch*(p.Seq/window), window, p.Seq%window
	switch {
	case rest.Seq == 0:
		return []Pass{whole}
	case whole.Batch == 0:
		return []Pass{rest}
	}
	return []Pass{whole, rest}
}

// Spanning makes the block and all in it run on other positions.
func (b Block) Spanning(s Span) Block {
	if b.Span != nil { // the outer one goes around it
		return Block{Sub: []Block{b}, Span: &s}
	}
	b.Span = &s
	return b
}

// Hearing makes the block and all in it run on the encoder's tokens, in clips of
// so many where clip is not 0.
func (b Block) Hearing(clip int64) Block { return b.Spanning(Span{Heard: true, Clip: clip}) }

// FrontEnd is convolutions one after another, which end in the block's tokens.
// The function describes the one of step i.
func FrontEnd(name string, steps []Step, layer func(i int) []Block) Block {
	return Stack(name, Const(int64(len(steps))), func(i int) []Block {
		return []Block{Block{Sub: layer(i)}.Spanning(Span{Before: steps[i+1:]})}
	})
}

// GroupedConv is a convolution over time within each of so many groups of
// channels, without a bias.
func GroupedConv(name string, in, out Size, groups int64, kernel Size) Block {
	return Conv(name, Named("Cg", in.Int()/max(1, groups)), out, kernel)
}

// withinAs returns the config of a field and the model that it describes, with
// the head for a task.
func (c *Config) withinAs(field string, task Task) (*Config, Model) {
	part := c.part(field)
	part.Task = task
	arch, ok := c.inner.lookup(part.ModelType())
	if !ok {
		c.inner.unknown = part.ModelType()
		return part, Model{}
	}
	return part, arch.Describe(part)
}

// under makes a module of a whole model, its head included.
func (m Model) under(name string) Block {
	whole := Module(name, NoRole, append([]Block{{Name: m.Prefix, Sub: m.Body}}, m.Head...)...)
	return whole.retied(name)
}

// retied puts a prefix before the names of what tensors share.
func (b Block) retied(prefix string) Block {
	b.Params, b.Sub = slices.Clone(b.Params), slices.Clone(b.Sub)
	for i := range b.Params {
		if b.Params[i].TiedTo != "" {
			b.Params[i].TiedTo = join(prefix, b.Params[i].TiedTo)
		}
	}
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].retied(prefix)
	}
	return b
}
