package estimator

import "slices"

// Families with routed experts, in several files.
var routedFamily = slices.Concat([]Arch{
	{"mixtral", "MixtralForCausalLM", mixtral},
	{"deepseek_v3", "DeepseekV3ForCausalLM", deepseekV3},
}, moeFamily, moeLatentFamily, moePackedFamily, moeStreamFamily, moeConvFamily)

func mixtral(c *Config) Model {
	return decoder(c, Decoder{FFN: c.routed(Routed{Name: "block_sparse_moe", Count: "num_local_experts",
		Matrices: [3]string{"w1", "w3", "w2"}})})
}

// deepseekExperts is the routed block of DeepSeek-V3 (arXiv:2412.19437, section
// 2.1.2), which many families share: experts of a width of their own, of which
// the scores are corrected by a bias that is no parameter, and shared ones.
func deepseekExperts() Routed {
	return Routed{Count: "n_routed_experts", Width: "moe_intermediate_size", RouterBias: "gate.e_score_correction_bias",
		Shared: "shared_experts", SharedCount: "n_shared_experts", Bias: Off}
}

func deepseekV3(c *Config) Model {
	return withPrediction(c, Decoder{Attn: same(c.mla()), FFN: c.routed(deepseekExperts())})
}

// withPrediction adds the prediction layers that the files have beside the model.
func withPrediction(c *Config, d Decoder) Model {
	model := decoder(c, d)
	if d.Attn == nil {
		d.Attn = func(i int) Block { return c.selfAttention(d, i) }
	}
	model.Sections = c.predictionLayers(d)
	return model
}

// predictionLayers describes multi-token-prediction layers (DeepSeek-V3,
// arXiv:2412.19437, section 2.2) as files hold them: numbered on after the last
// layer, each a decoder layer with a projection of hidden state and embedding,
// its own last norm, and copies of embedding and head.
func (c *Config) predictionLayers(d Decoder) []Section {
	n := c.N.Int()
	var blocks []Block
	for k := range c.predictions(0).Int() {
		layer := append([]Block{
			Token("embed_tokens", c.V, c.D), RMSNorm("enorm", c.D), RMSNorm("hnorm", c.D),
			Linear("eh_proj", c.D.X(2), c.D).As(Projector),
			RMSNorm("input_layernorm", c.D), d.Attn(int(n + k)), RMSNorm("post_attention_layernorm", c.D), d.FFN(int(n + k)),
		}, Module("shared_head", Head, RMSNorm("norm", c.D), Linear("head", c.D, c.V)))
		blocks = append(blocks, Block{Name: "layers", Index: Only(n + k), Count: Const(1), Sub: layer})
	}
	if blocks == nil {
		return nil
	}
	return []Section{{Name: "multi_token_prediction", Blocks: blocks}}
}

// predictionBeside describes prediction layers as the files of some families hold
// them, under mtp, beside the body: one projection and one last norm for all.
func (c *Config) predictionBeside(n Size, layer func(k int) []Block) []Section {
	if n.IsZero() {
		return nil
	}
	return []Section{{Name: "multi_token_prediction", Beside: true, Blocks: []Block{Module("mtp", NoRole,
		RMSNorm("pre_fc_norm_embedding", c.D), RMSNorm("pre_fc_norm_hidden", c.D), Linear("fc", c.D.X(2), c.D).As(Projector),
		Stack("layers", n, layer), RMSNorm("norm", c.D))}}}
}

// predictions is the number of prediction layers; published models have at most
// three.
func (c *Config) predictions(otherwise int64) Size {
	return Named("Nm", max(0, min(c.IntOr("num_nextn_predict_layers", otherwise), 64)))
}
