package estimator

import (
	"math"
	"slices"
)

// Decoders in the mould of llama with blocks of their own.
var denseOddFamily = []Arch{
	{"diffllama", "DiffLlamaForCausalLM", diffllama},
	{"doge", "DogeForCausalLM", doge},
	{"flint", "FlintForCausalLM", flint},
	{"hrm_text", "HrmTextForCausalLM", hrmText},
	{"mllama_text_model", "MllamaForCausalLM", mllamaText},
	{"modernbert-decoder", "ModernBertDecoderForCausalLM", modernBertDecoder},
}

// diffllama subtracts one attention map from another (Differential Transformer,
// arXiv:2410.05258): every head scores its keys once for each half of the values.
func diffllama(c *Config) Model {
	d := Decoder{MLPBias: Off, Answer: "transformer"}
	for _, name := range []string{"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"} {
		d.Scored = append(d.Scored, Raw(name, Attention, c.H))
	}
	d.Attn = func(i int) Block {
		block := c.selfAttention(d, i)
		twice := *block.Scores
		twice.Heads = c.A.X(2)
		block.Scores = &twice
		return block
	}
	return decoder(c, d)
}

// doge masks keys by what it reads off the values, and scales its residuals
// (arXiv:2412.11834).
func doge(c *Config) Model {
	d := Decoder{QKNorm: PerHead, Scored: []Block{Raw("A", Attention, c.K),
		Linear("dt_proj", c.U, c.K).Bias(c.Switch("attention_bias")).On(PerKey)}}
	if c.Bool("is_moe") {
		d.FFN = func(int) Block { return c.dogeExperts(d) }
	}
	d.Layer = func(_ int, attention, feedForward Block) []Block {
		return []Block{RMSNorm("input_layernorm", c.D), attention, Raw("input_residual", Other, c.D),
			RMSNorm("post_attention_layernorm", c.D), feedForward, Raw("post_attention_residual", Other, c.D)}
	}
	return decoder(c, d)
}

// dogeExperts adds to a dense block many experts of a single neuron, found by
// products of keys (PEER, arXiv:2407.04153).
func (c *Config) dogeExperts(d Decoder) Block {
	count, used := c.Size("E", "num_experts"), c.Size("T", "num_experts_per_tok")
	keys := Named("√E", int64(math.Sqrt(float64(count.Int()))))
	dense := c.feedForward(d, c.F)
	return MLPBlock(dense.Name, append([]Block{Linear("router_gate", c.D, keys.X(2)).As(Router),
		Neurons("down_embed", count, used, c.D), Neurons("up_embed", count, used, c.D)}, dense.As(SharedExperts).Sub...)...)
}

// flint keeps its first layers dense, and full attention in those, in every
// fourth and in the last.
func flint(c *Config) Model {
	return decoder(c, Decoder{QKNorm: PerHead, Scored: []Block{Raw("softmax_offset", Attention, c.A)},
		FFN: c.routed(Routed{Count: "num_experts", Width: "moe_intermediate_size",
			Shared: "shared_expert", SharedWidth: "shared_expert_intermediate_size",
			Sparse: func(i int) bool { return (i > 1 || c.Value("mlp_only_layers").IsArray()) && c.sparse(i) }}),
		Window: func(i int) int64 {
			if i < 2 || i == int(c.N.Int())-1 {
				return c.sliding(fullAttention)(i)
			}
			return c.sliding(slidingAttention, fullAttention, slidingAttention, slidingAttention)(i)
		}})
}

// hrmText runs two stacks in turn, the low one several times for each run of the
// high one (Hierarchical Reasoning Model, arXiv:2506.21734). Every run has a
// cache of its own.
func hrmText(c *Config) Model {
	c.heads(c.A, c.A, "head_dim")
	n := c.SizeOr("N", "num_layers_per_stack", c.N)
	high, low := c.IntOr("H_cycles", 1), c.IntOr("L_cycles", 1)
	body := []Block{Token("embed_tokens", c.V, c.D), Raw("z_L_init", Other, c.D)}
	stored := make(map[string]bool)
	for run := range min(high*(low+1), mostLayers) {
		name := "L_module"
		if run%(low+1) == low {
			name = "H_module"
		}
		block := Module(name, NoRole, Stack("layers", n, func(int) []Block { return c.hrmLayer() }))
		block.Shared = stored[name]
		stored[name] = true
		body = append(body, block)
	}
	prefix := c.under("model")
	return Model{Prefix: prefix, N: n.X(2), D: c.D, V: c.V, Body: body,
		Head: c.head(join(prefix, "embed_tokens.weight"), c.D, Heads{})}
}

// hrmLayer has norms without weights and a gate beside queries, keys and values.
// Files fuse the four weights and leave their biases apart.
func (c *Config) hrmLayer() []Block {
	bias, mlpBias := c.Switch("attention_bias"), c.Switch("mlp_bias")
	return []Block{
		Unweighted("input_layernorm", c.D),
		AttentionBlock("", GQA(c.A, c.A, c.H, c.window(0)),
			Linear("attn.gqkv_proj", c.D, c.Q.X(4)),
			Biases(bias, c.Q, "self_attn.gate_proj", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
			Linear("attn.o_proj", c.Q, c.D).Bias(bias)),
		Unweighted("post_attention_layernorm", c.D),
		MLPBlock("mlp", Linear("gate_up_proj", c.D, c.F.X(2)), Biases(mlpBias, c.F, "gate_proj", "up_proj"),
			Linear("down_proj", c.F, c.D).Bias(mlpBias)),
	}
}

// mllamaText attends to images in some of its layers, which text alone skips. Its
// embedding has eight rows more than its head.
func mllamaText(c *Config) Model {
	c.evenHeads()
	crossed := c.Ints("cross_attention_layers")
	if crossed == nil {
		crossed = []int64{3, 8, 13, 18, 23, 28, 33, 38}
	}
	images := GQA(c.A, c.K, c.H, 0)
	images.Cross = true
	cross := []Block{
		RMSNorm("input_layernorm", c.D),
		AttentionBlock("cross_attn", images, Linear("q_proj", c.D, c.Q), Linear("k_proj", c.D, c.U).On(PerMemory),
			Linear("v_proj", c.D, c.U).On(PerMemory), RMSNorm("q_norm", c.H), RMSNorm("k_norm", c.H), Linear("o_proj", c.Q, c.D)),
		Raw("cross_attn_attn_gate", Attention, Const(1)),
		RMSNorm("post_attention_layernorm", c.D), c.mlp("mlp", c.F, false, false), Raw("cross_attn_mlp_gate", MLP, Const(1)),
	}
	d := Decoder{QKVBias: Off, OutBias: Off, MLPBias: Off, Rows: c.V.Plus(Const(8)), Heads: Heads{NeverTied: true}}
	d.Layer = func(i int, attention, feedForward Block) []Block {
		if slices.Contains(crossed, int64(i)) {
			return []Block{Module("", NoRole, cross...).Throughout(PerCrossed)}
		}
		return c.between(d, attention, feedForward)
	}
	return decoder(c, d)
}

// modernBertDecoder is ModernBERT (arXiv:2412.13663) as a decoder. The first
// layer reads the embedding's norm.
func modernBertDecoder(c *Config) Model {
	c.heads(c.A, c.A, "")
	bias, mlpBias, window := c.Bool("attention_bias"), c.Bool("mlp_bias"), c.localWindow()
	norm := func(name string, d Size) Block { return RMSNorm(name, d).Bias(c.Bool("norm_bias")) }
	prefix := c.under("model")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{
			Module("embeddings", NoRole, Token("tok_embeddings", c.V, c.D), norm("norm", c.D)),
			Stack("layers", c.N, func(i int) []Block {
				layer := []Block{
					AttentionBlock("attn", GQA(c.A, c.A, c.H, window(i)), Linear("q_proj", c.D, c.Q).Bias(bias), Linear("k_proj", c.D, c.Q).Bias(bias),
						Linear("v_proj", c.D, c.Q).Bias(bias), Linear("Wo", c.D, c.D).Bias(bias)),
					norm("mlp_norm", c.D),
					MLPBlock("mlp", Linear("Wi", c.D, c.F.X(2)).Bias(mlpBias), Linear("Wo", c.F, c.D).Bias(mlpBias)),
				}
				if i > 0 {
					layer = append([]Block{norm("attn_norm", c.D)}, layer...)
				}
				return layer
			}),
			norm("final_norm", c.D)},
		Head: c.modernBertHead(join(prefix, "embeddings.tok_embeddings.weight"), norm)}
}

// localWindow is ModernBERT's rule: full attention in every n-th layer from the
// first, elsewhere a window of half of local_attention unless the file says.
func (c *Config) localWindow() func(i int) int64 {
	n := max(1, c.IntOr("global_attn_every_n_layers", 3))
	window := c.IntOr("local_attention", 0) / 2
	if w, ok := c.GivenInt("sliding_window"); ok {
		window = w
	}
	return func(i int) int64 {
		kind := slidingAttention
		if int64(i)%n == 0 {
			kind = fullAttention
		}
		if c.layerType("layer_types", i, kind) == fullAttention {
			return 0
		}
		return window
	}
}

func (c *Config) modernBertHead(embedding string, norm func(string, Size) Block) []Block {
	bias := c.Bool("classifier_bias")
	layers := func(name string) Block {
		return Module(name, HeadLayers, Linear("dense", c.D, c.D).Bias(bias), norm("norm", c.D))
	}
	switch c.Task {
	case BaseModel:
		return nil
	case SequenceClassification:
		return []Block{layers("head"), Linear("classifier", c.D, Named("labels", c.NumLabels())).Bias(bias).As(Classifier)}
	}
	return []Block{layers("lm_head"),
		Linear("decoder", c.D, c.V).Bias(c.BoolOr("decoder_bias", true)).On(PerLogit).TiedTo(embedding, c.tied()).As(Head)}
}
