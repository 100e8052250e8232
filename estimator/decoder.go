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

// mla is multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section
// 2.1): keys and values are rebuilt from a latent of kv_lora_rank features and
// one rotary key that all heads share; both are what is cached. Queries pass a
// latent of their own unless q_lora_rank is null.
func (c *Config) mla() Block {
	r, rope := c.Size("R", "kv_lora_rank"), c.Size("P", "qk_rope_head_dim")
	nope, value := c.Size("Hn", "qk_nope_head_dim"), c.Size("Hv", "v_head_dim")
	key, bias := nope.Plus(rope), c.Switch("attention_bias")
	var sub []Block
	if _, low := c.Nullable("q_lora_rank"); low {
		q := c.Size("Rq", "q_lora_rank")
		sub = append(sub, Linear("q_a_proj", c.D, q).Bias(bias), RMSNorm("q_a_layernorm", q),
			Linear("q_b_proj", q, c.A.Times(key)))
	} else {
		sub = append(sub, Linear("q_proj", c.D, c.A.Times(key)))
	}
	sub = append(sub,
		Linear("kv_a_proj_with_mqa", c.D, r.Plus(rope)).Bias(bias),
		RMSNorm("kv_a_layernorm", r),
		Linear("kv_b_proj", r, c.A.Times(nope.Plus(value))).On(PerKey),
		Linear("o_proj", c.A.Times(value), c.D).Bias(bias))
	latent := r.Plus(rope)
	return AttentionBlock("self_attn", Scores{Heads: c.A, KVHeads: c.A, KeyDim: key, ValueDim: value,
		Cached: latent, CachedLibrary: latent, Expanded: c.A.Times(key.Plus(value))}, sub...)
}
