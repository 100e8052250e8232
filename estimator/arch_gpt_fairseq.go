package estimator

// Families with the names of fairseq.
var fairseqFamily = []Arch{
	{"opt", "OPTForCausalLM", opt},
	{"biogpt", "BioGptForCausalLM", func(c *Config) Model {
		return gpt(c, GPT{Like: fairseqNames, Prefix: "biogpt", Width: "intermediate_size", Positions: c.C.Plus(Const(2)),
			Heads: Heads{Head: "output_projection"}})
	}},
	{"xglm", "XGLMForCausalLM", func(c *Config) Model { // its positions are sines
		return gpt(c, GPT{Like: fairseqNames, Prefix: "model", Width: "ffn_dim"})
	}},
}

// opt has two more rows of positions than the config says. The 350M model has
// its norms behind the blocks and a token embedding narrower than the layers.
func opt(c *Config) Model {
	d := GPT{Like: fairseqNames, Prefix: "model", Inner: "decoder", Width: "ffn_dim", Positions: c.C.Plus(Const(2)),
		E: c.SizeOr("E", "word_embed_proj_dim", c.D), Bias: c.by("enable_bias"),
		Names: Names{Last: "final_layer_norm"}}
	if !c.Bool("do_layer_norm_before") {
		d.Place = AfterEach
	}
	d.NoLast = c.Bool("_remove_final_layer_norm")
	if !c.Bool("layer_norm_elementwise_affine") {
		d.Norm = Unweighted
	}
	return gpt(c, d)
}
