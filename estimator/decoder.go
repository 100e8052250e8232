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
	QKVBias  Setting // else attention_bias
	OutBias  Setting // else attention_bias
	QKNorm   QKNorm
	QKNames  [2]string // else q_norm, k_norm
	FusedQKV string    // name of one projection for queries, keys and values
	Output   string    // else o_proj
	Scored   []Block   // attention's own between projections and output: sinks, inner norms

	MLPBias   Setting // else mlp_bias
	Ungated   bool    // two matrices, up and down, instead of three
	FusedGate string  // name of one projection for gate and up
	UpDown    [2]string
	Activated []Block // the feed-forward block's own before its last projection

	Rows  Size                            // of the token embedding, else the vocabulary
	Norm  func(name string, d Size) Block // else RMSNorm
	Norms Norms                           // else before attention and before feed-forward
	Final string                          // the last norm, else norm
	Attn  func(i int) Block               // else grouped-query attention
	FFN   func(i int) Block               // else a gated MLP
	// Layer arranges a layer; else norms, attention and feed-forward as in Norms.
	Layer func(i int, attention, feedForward Block) []Block

	Window     func(i int) int64 // else by the usual fields
	Bidirected bool              // an encoder: no mask but of windows, no cache
	Prefix     string            // else model

	Embedding string // the token embedding, else embed_tokens
	Answer    string // prefix under a question-answering head, where it differs
	Heads     Heads
}

// Norms names the norms of a layer: before and after attention, before and after
// feed-forward; "" where there is none. Without the third the two run in
// parallel or on bare input.
type Norms [4]string

// Arrangements of norms that several families share.
var (
	preNorms   = Norms{"input_layernorm", "", "post_attention_layernorm", ""}
	postNorms  = Norms{"", "post_attention_layernorm", "", "post_feedforward_layernorm"}
	sandwich   = Norms{"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"}
	singleNorm = Norms{"input_layernorm"} // attention and feed-forward in parallel
)

// QKNorm says whether queries and keys are normalised, and over what.
type QKNorm uint8

// The kinds of query-key norm.
const (
	NoQKNorm  QKNorm = iota
	PerHead          // over each head: weight of H
	AcrossAll        // over all heads together: weights of A·H and K·H
	HeadWise         // over each head with a weight for each: [A, H] and [K, H]
	HeadList         // over each head, as a list of norms without biases
)

func decoder(c *Config, d Decoder) Model {
	if d.Attn == nil {
		d.Attn = func(i int) Block { return c.selfAttention(d, i) }
	}
	if d.FFN == nil {
		d.FFN = func(int) Block { return c.feedForward(d, c.F) }
	}
	if d.Layer == nil {
		d.Layer = func(_ int, attention, feedForward Block) []Block { return c.between(d, attention, feedForward) }
	}
	if d.Rows.IsZero() {
		d.Rows = c.V
	}
	prefix := c.under(or(d.Prefix, "model"))
	if c.Task == QuestionAnswering && d.Answer != "" {
		prefix = d.Answer
	}
	embedding := or(d.Embedding, "embed_tokens")
	return Model{
		Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{
			Token(embedding, d.Rows, c.D),
			Stack("layers", c.N, func(i int) []Block { return d.Layer(i, d.Attn(i).upcast(c.H), d.FFN(i)) }),
			d.norm(or(d.Final, "norm"), c.D),
		},
		Head: c.head(join(prefix, embedding+".weight"), c.D, d.Heads),
	}
}

// norm is the family's kind of norm.
func (d *Decoder) norm(name string, size Size) Block {
	if d.Norm == nil {
		return RMSNorm(name, size)
	}
	return d.Norm(name, size)
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

// between arranges a layer's norms around attention and feed-forward.
func (c *Config) between(d Decoder, attention, feedForward Block) []Block {
	norms := d.Norms
	if norms == (Norms{}) {
		norms = preNorms
	}
	var layer []Block
	add := func(name string) {
		if name != "" {
			layer = append(layer, d.norm(name, c.D))
		}
	}
	add(norms[0])
	layer = append(layer, attention)
	add(norms[1])
	add(norms[2])
	layer = append(layer, feedForward)
	add(norms[3])
	return layer
}

// selfAttention is grouped-query attention with split or fused projections.
func (c *Config) selfAttention(d Decoder, i int) Block {
	out := Linear(or(d.Output, "o_proj"), c.Q, c.D).Bias(c.setting(d.OutBias, "attention_bias"))
	scores := GQA(c.A, c.K, c.H, c.windowOf(d, i))
	scores.Bidirected = d.Bidirected
	return AttentionBlock("self_attn", scores, append(c.queries(d), out)...)
}

// queries lists what stands before the output projection: queries, keys and
// values, their norms, and the family's own.
func (c *Config) queries(d Decoder) []Block {
	bias := c.setting(d.QKVBias, "attention_bias")
	sub := []Block{
		Linear("q_proj", c.D, c.Q).Bias(bias),
		Linear("k_proj", c.D, c.U).Bias(bias),
		Linear("v_proj", c.D, c.U).Bias(bias),
	}
	if d.FusedQKV != "" {
		sub = []Block{Linear(d.FusedQKV, c.D, c.Q.Plus(c.U.X(2))).Bias(bias)}
	}
	return append(append(sub, c.queryKeyNorms(d)...), d.Scored...)
}

func (c *Config) queryKeyNorms(d Decoder) []Block {
	q, k := or(d.QKNames[0], "q_norm"), or(d.QKNames[1], "k_norm")
	switch d.QKNorm {
	case PerHead:
		return []Block{d.norm(q, c.H), d.norm(k, c.H)}
	case AcrossAll:
		return []Block{d.norm(q, c.Q), d.norm(k, c.U)}
	case HeadWise:
		return []Block{RMSNorm(q, c.Q).Shaped(c.A, c.H), RMSNorm(k, c.U).Shaped(c.K, c.H)}
	case HeadList:
		each := func(int) []Block { return []Block{RMSNorm("", c.H)} }
		return []Block{Stack(join(q, "norms"), c.A, each), Stack(join(k, "norms"), c.K, each)}
	}
	return nil
}

// feedForward is the mould's feed-forward block of width f.
func (c *Config) feedForward(d Decoder, f Size) Block {
	bias := c.setting(d.MLPBias, "mlp_bias")
	sub := []Block{Linear(or(d.UpDown[0], "up_proj"), c.D, f).Bias(bias)}
	switch {
	case d.FusedGate != "":
		sub = []Block{Linear(d.FusedGate, c.D, f.X(2)).Bias(bias)}
	case !d.Ungated:
		sub = append([]Block{Linear("gate_proj", c.D, f).Bias(bias)}, sub...)
	}
	sub = append(sub, d.Activated...)
	return MLPBlock("mlp", append(sub, Linear(or(d.UpDown[1], "down_proj"), f, c.D).Bias(bias))...)
}

// mlp is a feed-forward block of width f: gate, up and down, or up and down.
func (c *Config) mlp(name string, f Size, ungated, bias bool) Block {
	sub := []Block{Linear("up_proj", c.D, f).Bias(bias), Linear("down_proj", f, c.D).Bias(bias)}
	if !ungated {
		sub = append([]Block{Linear("gate_proj", c.D, f).Bias(bias)}, sub...)
	}
	return MLPBlock(name, sub...)
}
