package estimator

// Setting is a choice that a family fixes or leaves to its config.
type Setting uint8

// The settings. Auto reads the field that is named beside the setting.
const (
	Auto Setting = iota
	On
	Off
)

// Decoder is the llama mould: token embedding, a stack of layers that each hold
// attention and a feed-forward block between norms, a last norm. The zero value
// is llama itself; a family states its differences.
type Decoder struct {
	QKVBias Setting // else attention_bias
	OutBias Setting // else attention_bias
	MLPBias Setting // else mlp_bias
	QKNorm  QKNorm
	Ungated bool // two matrices, up and down, instead of three

	Norm func(name string, d Size) Block // else RMSNorm
	Attn func(i int) Block               // else grouped-query attention
	FFN  func(i int) Block               // else a gated MLP
	// Layer arranges a layer; else input_layernorm, attention,
	// post_attention_layernorm, feed-forward.
	Layer func(i int, attention, feedForward Block) []Block

	Window func(i int) int64 // else by the usual fields
	Prefix string            // else model
	Answer string            // prefix under a question-answering head, where it differs
	Heads  Heads
}

// QKNorm says whether queries and keys are normalised, and over what.
type QKNorm uint8

// The kinds of query-key norm.
const (
	NoQKNorm  QKNorm = iota
	PerHead          // over each head: weight of H
	AcrossAll        // over all heads together: weights of A·H and K·H
)

func decoder(c *Config, d Decoder) Model {
	if d.Norm == nil {
		d.Norm = RMSNorm
	}
	if d.Attn == nil {
		d.Attn = func(i int) Block { return c.selfAttention(d, i) }
	}
	if d.FFN == nil {
		d.FFN = func(int) Block { return c.mlp("mlp", c.F, d.Ungated, c.setting(d.MLPBias, "mlp_bias")) }
	}
	if d.Layer == nil {
		d.Layer = func(_ int, attention, feedForward Block) []Block {
			return []Block{d.Norm("input_layernorm", c.D), attention,
				d.Norm("post_attention_layernorm", c.D), feedForward}
		}
	}
	prefix := c.under(or(d.Prefix, "model"))
	if c.Task == QuestionAnswering && d.Answer != "" {
		prefix = d.Answer
	}
	return Model{
		Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{
			Token("embed_tokens", c.V, c.D),
			Stack("layers", c.N, func(i int) []Block { return d.Layer(i, d.Attn(i), d.FFN(i)) }),
			d.Norm("norm", c.D),
		},
		Head: c.head(join(prefix, "embed_tokens.weight"), c.D, d.Heads),
	}
}

// setting resolves a family's choice against the config's field.
func (c *Config) setting(s Setting, field string) bool {
	if s == Auto {
		return c.Switch(field)
	}
	return s == On
}

// windowOf returns the window of layer i under the family's rule.
func (c *Config) windowOf(d Decoder, i int) int64 {
	if d.Window != nil {
		return d.Window(i)
	}
	return c.window(i)
}

// selfAttention is grouped-query attention with split projections.
func (c *Config) selfAttention(d Decoder, i int) Block {
	bias, outBias := c.setting(d.QKVBias, "attention_bias"), c.setting(d.OutBias, "attention_bias")
	sub := []Block{
		Linear("q_proj", c.D, c.Q).Bias(bias),
		Linear("k_proj", c.D, c.U).Bias(bias),
		Linear("v_proj", c.D, c.U).Bias(bias),
	}
	switch d.QKNorm {
	case PerHead:
		sub = append(sub, d.Norm("q_norm", c.H), d.Norm("k_norm", c.H))
	case AcrossAll:
		sub = append(sub, d.Norm("q_norm", c.Q), d.Norm("k_norm", c.U))
	}
	sub = append(sub, Linear("o_proj", c.Q, c.D).Bias(outBias))
	return AttentionBlock("self_attn", GQA(c.A, c.K, c.H, c.windowOf(d, i)), sub...)
}

// mlp is a feed-forward block of width f: gate, up and down, or up and down.
func (c *Config) mlp(name string, f Size, ungated, bias bool) Block {
	sub := []Block{Linear("up_proj", c.D, f).Bias(bias), Linear("down_proj", f, c.D).Bias(bias)}
	if !ungated {
		sub = append([]Block{Linear("gate_proj", c.D, f).Bias(bias)}, sub...)
	}
	return MLPBlock(name, sub...)
}
