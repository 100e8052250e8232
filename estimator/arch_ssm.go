package estimator

// State-space models, alone and beside attention.
var ssmFamily = []Arch{
	{"mamba", "MambaForCausalLM", mamba},
	{"falcon_mamba", "FalconMambaForCausalLM", mamba},
	{"mamba2", "Mamba2ForCausalLM", mamba2},
	{"jamba", "JambaForCausalLM", jamba},
	{"bamba", "BambaForCausalLM", bamba},
	{"falcon_h1", "FalconH1ForCausalLM", falconH1},
	{"granitemoehybrid", "GraniteMoeHybridForCausalLM", graniteMoeHybrid},
	{"nemotron_h", "NemotronHForCausalLM", nemotronH},
}

// mambaStack is the mould of models whose layers are a norm and a mixer.
func (c *Config) mambaStack(list, last string, layer func(i int) []Block, heads Heads) Model {
	prefix := c.under("backbone")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("embeddings", c.V, c.D), Stack(list, c.N, layer), RMSNorm(last, c.D)},
		Head: c.head(join(prefix, "embeddings.weight"), c.D, heads)}
}

// lowRank is the rank of the time step: a sixteenth of the width unless given.
func (c *Config) lowRank(field string) Size {
	return c.SizeAuto("R", field, Named("R", (c.D.Int()+15)/16))
}

func mamba(c *Config) Model {
	m := Mamba{Inner: c.SizeOr("I", "intermediate_size", c.D.Times(c.Size("X", "expand"))), State: c.Size("S", "state_size"),
		Rank: c.lowRank("time_step_rank"), Kernel: c.Size("W", "conv_kernel"), Bias: c.Bool("use_bias"), ConvBias: c.Bool("use_conv_bias")}
	return c.mambaStack("layers", "norm_f", func(int) []Block { return []Block{RMSNorm("norm", c.D), m.block("mixer", c.D)} }, Heads{})
}

func mamba2(c *Config) Model {
	bias := c.Bool("use_bias")
	m := SSD{Inner: c.D.Times(c.Size("X", "expand")), Heads: c.Size("A", "num_heads"), Groups: c.Size("G", "n_groups"),
		State: c.Size("S", "state_size"), Kernel: c.Size("W", "conv_kernel"), Chunk: c.Int("chunk_size"),
		Bias: bias, OutBias: bias, ConvBias: c.Bool("use_conv_bias")}
	return c.mambaStack("layers", "norm_f", func(int) []Block { return []Block{RMSNorm("norm", c.D), m.block("mixer", c.D)} }, Heads{})
}

// mambaBy reads a selective state-space mixer from the fields that hybrids use.
func (c *Config) mambaBy() Mamba {
	return Mamba{Inner: c.D.Times(c.Size("X", "mamba_expand")), State: c.Size("S", "mamba_d_state"), Rank: c.lowRank("mamba_dt_rank"),
		Kernel: c.Size("W", "mamba_d_conv"), Bias: c.Bool("mamba_proj_bias"), ConvBias: c.Bool("mamba_conv_bias")}
}

// ssdBy reads a Mamba-2 mixer from the same.
func (c *Config) ssdBy() SSD {
	bias := c.Bool("mamba_proj_bias")
	return SSD{Inner: c.D.Times(c.Size("X", "mamba_expand")), Heads: c.Size("Am", "mamba_n_heads"), Groups: c.Size("G", "mamba_n_groups"),
		State: c.Size("S", "mamba_d_state"), Kernel: c.Size("W", "mamba_d_conv"), Chunk: c.Int("mamba_chunk_size"),
		Bias: bias, OutBias: bias, ConvBias: c.Bool("mamba_conv_bias")}
}

// preFF is the arrangement of norms in Jamba and what descends from it.
var preFF = Norms{"input_layernorm", "", "pre_ff_layernorm", ""}

// every reports whether layer i is the one of each period that the offset names.
func (c *Config) every(i int, period, offset string) bool {
	n := c.Int(period)
	return n > 0 && int64(i)%n == c.Int(offset)
}

// jamba has attention in one layer of a period, routed experts in one of another.
func jamba(c *Config) Model {
	mixer := c.mambaBy()
	mixer.Norms = true
	return decoder(c, Decoder{Norms: preFF, Final: "final_layernorm",
		Attn: func(i int) Block {
			if c.every(i, "attn_layer_period", "attn_layer_offset") {
				return c.selfAttention(Decoder{QKVBias: Off, OutBias: Off, Norm: RMSNorm}, i)
			}
			return mixer.block("mamba", c.D)
		},
		FFN: c.routed(Routed{Name: "feed_forward", Router: "router", Count: "num_experts", Bias: Off,
			Sparse: func(i int) bool {
				return c.Int("num_experts") > 1 && c.every(i, "expert_layer_period", "expert_layer_offset")
			}})})
}

func bamba(c *Config) Model {
	mixer, attends := c.ssdBy(), among(c.Ints("attn_layer_indices"))
	return decoder(c, Decoder{Norms: preFF, Final: "final_layernorm",
		Attn: func(i int) Block {
			if attends(int64(i)) {
				return c.selfAttention(Decoder{Norm: RMSNorm}, i)
			}
			return mixer.block("mamba", c.D)
		},
		FFN: func(int) Block { return c.mlp("feed_forward", c.F, false, c.Bool("mlp_bias")) }})
}

// falconH1 runs a mixer and attention side by side in every layer.
func falconH1(c *Config) Model {
	mixer := c.ssdBy()
	mixer.Inner = c.SizeOr("I", "mamba_d_ssm", mixer.Inner)
	mixer.OutBias, mixer.Bare = c.Bool("projectors_bias"), !c.Bool("mamba_rms_norm")
	return decoder(c, Decoder{Norms: preFF, Final: "final_layernorm",
		Attn: func(i int) Block {
			return Block{Sub: []Block{mixer.block("mamba", c.D), c.selfAttention(Decoder{Norm: RMSNorm}, i)}}
		},
		FFN: func(int) Block { return c.mlp("feed_forward", c.F, false, c.Bool("mlp_bias")) }})
}

// graniteMoeHybrid has a gated block that always runs and, unless the model is
// dense, routed experts beside it.
func graniteMoeHybrid(c *Config) Model {
	mixer, kind := c.ssdBy(), c.kinds("layer_types", linearAttention)
	shared, role := c.Size("Fs", "shared_intermediate_size"), SharedExperts
	experts := c.Size("E", "num_local_experts")
	if experts.IsZero() {
		role = MLP
	}
	return decoder(c, Decoder{
		Attn: func(i int) Block {
			if kind(i) == linearAttention {
				return mixer.block("mamba", c.D)
			}
			return c.selfAttention(Decoder{Norm: RMSNorm}, i)
		},
		FFN: func(int) Block {
			gated := MLPBlock("shared_mlp", Linear("input_linear", c.D, shared.X(2)), Linear("output_linear", shared, c.D)).As(role)
			if experts.IsZero() {
				return gated
			}
			routed := Routed{Name: "block_sparse_moe", Router: "router.layer", Packed: c.packed("input_linear.weight", "output_linear.weight")}
			return Block{Sub: []Block{c.experts(routed, experts, c.Size("T", "num_experts_per_tok")), gated}}
		}})
}

// nemotronH has one module a layer: a mixer, attention, an MLP of two matrices,
// or routed experts, which may work in a narrower latent space. A pattern of
// letters may list the layers.
func nemotronH(c *Config) Model {
	bias, heads := c.Bool("use_bias"), c.Size("Am", "mamba_num_heads")
	mixer := SSD{Inner: heads.Times(c.Size("P", "mamba_head_dim")), Heads: heads, Groups: c.first("G", "mamba_n_groups", "n_groups"),
		State: c.Size("S", "ssm_state_size"), Kernel: c.first("W", "mamba_d_conv", "conv_kernel"),
		Chunk: c.first("Q", "mamba_chunk_size", "chunk_size").Int(), Bias: bias, OutBias: bias,
		ConvBias: c.BoolOr("mamba_conv_bias", c.Bool("use_conv_bias"))}
	layers := c.letters("layers_block_type", "hybrid_override_pattern", "ME*-")
	c.N = Named("N", int64(len(layers)))
	module := map[string]Block{linearAttention: mixer.block("mixer", c.D), "moe": c.latentExperts(),
		fullAttention: c.selfAttention(Decoder{QKVBias: Off, OutBias: Off, Norm: RMSNorm}, 0).Called("mixer"),
		"mlp":         c.mlp("mixer", c.F, true, c.Bool("mlp_bias"))}
	return c.mambaStack("layers", "norm_f", func(i int) []Block {
		block, ok := module[layers[i]]
		if !ok {
			c.Fault("layers_block_type", "%q is no kind of layer", layers[i])
		}
		return []Block{RMSNorm("norm", c.D), block}
	}, Heads{NeverTied: true})
}

// latentExperts is routed experts of two matrices that may work between two
// projections, into a latent space and out of it.
func (c *Config) latentExperts() Block {
	count, bias, latent := c.Size("E", "n_routed_experts"), c.Bool("mlp_bias"), c.SizeOr("L", "moe_latent_size", c.D)
	F := c.Size("Fe", "moe_intermediate_size")
	experts := Experts("experts", count, c.Size("T", "num_experts_per_tok"), Linear("up_proj", latent, F), Linear("down_proj", F, latent))
	router := []Block{Linear("gate", c.D, count).As(Router), Buffer("gate.e_score_correction_bias", count).As(Router)}
	shared := c.mlp("shared_experts", c.Size("Fs", "moe_shared_expert_intermediate_size"), true, bias).As(SharedExperts)
	if _, ok := c.Nullable("moe_latent_size"); !ok {
		return MLPBlock("mixer", append(router, experts, shared)...)
	}
	in, out := Linear("fc1_latent_proj", c.D, latent).Bias(bias), Linear("fc2_latent_proj", latent, c.D).Bias(bias)
	return MLPBlock("mixer", append(router, in.As(RoutedExperts), experts, out.As(RoutedExperts), shared)...)
}

// letters lists the kinds of layers by a list of names, else by a pattern of
// letters: M for a mixer, E for experts, * for attention, - for an MLP.
func (c *Config) letters(list, pattern, otherwise string) []string {
	if kinds := c.modernKinds(list); kinds != nil {
		return kinds
	}
	var kinds []string
	for _, letter := range or(c.String(pattern), otherwise) {
		kind, ok := map[rune]string{'M': linearAttention, 'E': "moe", '*': fullAttention, '-': "mlp"}[letter]
		if !ok {
			c.Fault(pattern, "%q is no kind of layer, want M, E, * or -", letter)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
