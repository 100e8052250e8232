package estimator

import "math/big"

// Token mixers that keep a state of fixed size instead of keys and values. All
// of one mixer, its projections and short convolution included, has the role
// StateSpace.

// States that every mixer below keeps: the last inputs of its convolution, in
// the cache's dtype, and the recurrence itself, in 32 bits.
func mixerStates(channels, kernel, recurrent Size) []State {
	return []State{{Name: "convolution", Elements: channels.Times(kernel)}, {Name: "recurrent", Elements: recurrent, Bytes: 4}}
}

// Mamba is the selective state-space mixer (arXiv:2312.00752, figure 3).
type Mamba struct {
	Inner, State, Rank, Kernel Size
	Bias, ConvBias             bool
	Norms                      bool // of the step, B and C (Jamba, arXiv:2403.19887)
	Heads                      Size // projections of x in so many separate heads (Zamba); else one
}

func (m Mamba) block(name string, D Size) Block {
	low := m.Rank.Plus(m.State.X(2))
	sub := []Block{Linear("in_proj", D, m.Inner.X(2)).Bias(m.Bias), DepthConv("conv1d", m.Inner, m.Kernel, m.ConvBias)}
	if m.Heads.IsZero() {
		sub = append(sub, Linear("x_proj", m.Inner, low))
		if m.Norms {
			sub = append(sub, RMSNorm("dt_layernorm", m.Rank), RMSNorm("b_layernorm", m.State), RMSNorm("c_layernorm", m.State))
		}
		sub = append(sub, Linear("dt_proj", m.Rank, m.Inner).Bias(true),
			Raw("A_log", StateSpace, m.Inner, m.State), Raw("D", StateSpace, m.Inner))
	} else {
		head := Named("P", m.Inner.Int()/max(1, m.Heads.Int()))
		bias := Raw("dt_proj_bias", StateSpace, m.Heads, head)
		bias.Params[0].Bias = true
		sub = append(sub, BlockDiagonal("x_proj_weight", m.Heads, head, low), BlockDiagonal("dt_proj_weight", m.Heads, m.Rank, head), bias,
			Raw("A_log", StateSpace, m.Heads, head, m.State), Raw("D", StateSpace, m.Heads, head))
	}
	b := Module(name, StateSpace, append(sub, Linear("out_proj", m.Inner, D).Bias(m.Bias))...)
	b.States = mixerStates(m.Inner, m.Kernel, m.Inner.Times(m.State))
	b.Extra = &Extra{Name: "scan", Sizes: []Size{m.Inner, m.State}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, m.Inner.Int(), m.State.Int()) // the state read out by C
	}}
	return b
}

// SSD is the mixer of Mamba-2, a state-space dual (arXiv:2405.21060, section 7).
type SSD struct {
	Inner, Heads, Groups, State, Kernel Size
	Chunk                               int64
	Bias, OutBias, ConvBias             bool
	Bare                                bool // no norm before the output projection
}

func (m SSD) block(name string, D Size) Block {
	groups := m.Groups.Times(m.State).X(2)
	channels := m.Inner.Plus(groups)
	sub := []Block{
		Linear("in_proj", D, m.Inner.Plus(channels).Plus(m.Heads)).Bias(m.Bias),
		DepthConv("conv1d", channels, m.Kernel, m.ConvBias),
		Raw("dt_bias", StateSpace, m.Heads), Raw("A_log", StateSpace, m.Heads), Raw("D", StateSpace, m.Heads)}
	if !m.Bare {
		sub = append(sub, RMSNorm("norm", m.Inner))
	}
	b := Module(name, StateSpace, append(sub, Linear("out_proj", m.Inner, D).Bias(m.OutBias))...)
	b.States = mixerStates(channels, m.Kernel, m.Inner.Times(m.State))
	b.Extra = &Extra{Name: "scan", Sizes: []Size{m.Inner, m.Heads, m.State, Const(m.Chunk)}, FLOPs: m.scan}
	return b
}

// scan is the work of the recurrence: chunk by chunk (arXiv:2405.21060, listing
// 1), the last chunk padded to the full length, or one step that reads the
// state.
func (m SSD) scan(p Pass) *big.Int {
	N := m.State.Int()
	if p.step() {
		return product(2, p.Batch, m.Inner.Int(), N)
	}
	P, c := m.Inner.Int()/max(1, m.Heads.Int()), chunks(p.Seq, m.Chunk)
	within := product(c, m.Chunk, m.Chunk, N+P)
	states := product(2, c, m.Chunk, N, P)
	between := product(c+1, c+1, P, N)
	sum := within.Add(within, states).Add(within, between)
	return sum.Mul(sum, product(2, p.Batch, m.Heads.Int()))
}

// GatedDelta is the gated delta rule (arXiv:2412.06464): keys of Key features in
// KeyHeads heads write values of Value features in ValueHeads heads.
type GatedDelta struct {
	KeyHeads, ValueHeads, Key, Value, Kernel Size
}

func (m GatedDelta) keys() Size     { return m.KeyHeads.Times(m.Key) }
func (m GatedDelta) values() Size   { return m.ValueHeads.Times(m.Value) }
func (m GatedDelta) channels() Size { return m.keys().X(2).Plus(m.values()) }

// of completes a mixer from its blocks.
func (m GatedDelta) of(name string, sub ...Block) Block {
	b := Module(name, StateSpace, sub...)
	b.States = mixerStates(m.channels(), m.Kernel, m.ValueHeads.Times(m.Key).Times(m.Value))
	b.Extra = &Extra{Name: "delta rule", Sizes: []Size{m.ValueHeads, m.Key, m.Value}, FLOPs: m.rule}
	return b
}

// rule is the work of the chunked form, 64 tokens a chunk; the triangular solve
// and the recurrence of a single step are no matrix products.
func (m GatedDelta) rule(p Pass) *big.Int {
	const chunk = 64
	if p.step() {
		return new(big.Int)
	}
	K, V := m.Key.Int(), m.Value.Int()
	sum := product(chunk, chunk, 2*K+V)
	sum.Add(sum, product(3, chunk, K, V))
	return sum.Mul(sum, product(2, p.Batch, m.ValueHeads.Int(), chunks(p.Seq, chunk)))
}

// MatrixMemory is the mLSTM cell (arXiv:2405.04517, section 2.3): keys write
// values into a matrix that queries read, under exponential gates.
type MatrixMemory struct {
	Heads, Keys, Values Size // Keys and Values of all heads together
	Chunk               int64
}

func (m MatrixMemory) block(name string, D Size, fused, bias bool) Block {
	in := []Block{Linear("q", D, m.Keys).Bias(bias), Linear("k", D, m.Keys).Bias(bias), Linear("v", D, m.Values).Bias(bias),
		Linear("ogate_preact", D, m.Values).Bias(bias), Linear("igate_preact", D, m.Heads).Bias(true), Linear("fgate_preact", D, m.Heads).Bias(true)}
	if fused {
		in = []Block{Linear("qkv_opreact", D, m.Keys.Plus(m.Values).X(2)).Bias(bias), Linear("ifgate_preact", D, m.Heads.X(2)).Bias(true)}
	}
	b := Module(name, StateSpace, append(in, RMSNorm("multihead_norm", m.Values).Bias(bias), Linear("out_proj", m.Values, D).Bias(bias))...)
	heads := max(1, m.Heads.Int())
	memory := Named("memory", m.Keys.Int()/heads*m.Values.Int())
	b.States = []State{{Name: "memory", Elements: memory}, {Name: "normaliser", Elements: m.Keys}, {Name: "maximum", Elements: m.Heads}}
	b.Extra = &Extra{Name: "memory", Sizes: []Size{m.Heads, m.Keys, m.Values, Const(m.Chunk)}, FLOPs: m.work}
	return b
}

// work is whole chunks in parallel, what is left over token by token.
func (m MatrixMemory) work(p Pass) *big.Int {
	heads := max(1, m.Heads.Int())
	K, V, Q := m.Keys.Int()/heads, m.Values.Int()/heads, max(1, m.Chunk)
	whole, single := p.Seq/Q, p.Seq%Q
	if p.Seq == 1 {
		whole, single = 0, 1
	}
	sum := product(whole, Q, Q, K+V)
	sum.Add(sum, product(whole, Q, K, 2*V+1))
	sum.Add(sum, product(single, K, 2*V+1))
	return sum.Mul(sum, product(2, p.Batch, heads))
}

// convOver is a convolution over time that runs over other positions than
// DepthConv does.
func convOver(name string, channels, kernel Size, bias bool, positions func(Pass) int64) Block {
	b := DepthConv(name, channels, kernel, bias)
	b.Kind = RawKind
	b.Extra = &Extra{Name: "convolution", Sizes: []Size{channels, kernel}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, channels.Int(), kernel.Int(), positions(p))
	}}
	return b
}

// shortConv is the gated convolution of LFM2 (arXiv:2511.23404, section 2.1): a
// product of two gates and a short filter over time.
func shortConv(name string, D, kernel Size, bias bool) Block {
	b := Module(name, Convolution, Linear("in_proj", D, D.X(3)).Bias(bias), DepthConv("conv", D, kernel, bias),
		Linear("out_proj", D, D).Bias(bias))
	b.States = []State{{Name: "convolution", Elements: D.Times(kernel)}}
	return b
}

// chunks returns how many chunks of the given length hold the tokens.
func chunks(tokens, length int64) int64 {
	if length <= 0 {
		return 0
	}
	return (tokens + length - 1) / length
}

// step reports whether the pass is one token beside a state.
func (p Pass) step() bool { return p.Past > 0 && p.Seq == 1 }
