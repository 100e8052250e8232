package estimator

import (
	"slices"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Decoders that stand alone.
var oddFamily = []Arch{
	{"beam", "BeamForCausalLM", beam},
	{"blt", "BltForCausalLM", blt},
}

// beam slides in five layers of six and has a gate for every feature of the
// heads' output.
func beam(c *Config) Model {
	kind := c.kinds("layer_types", append(slices.Repeat([]string{slidingAttention}, 5), fullAttention)...)
	gate := Raw("gate_bias", Attention, c.A)
	gate.Params[0].Bias = true
	return decoder(c, Decoder{QKNorm: PerHead, Norms: sandwich, Scored: []Block{Linear("gate_proj", c.D, c.Q), gate},
		Window: func(i int) int64 {
			if kind(i) != slidingAttention || int64(i) == c.N.Int()-1 && !c.Given("layer_types") {
				return 0
			}
			return c.IntOr("sliding_window", 0)
		},
		FFN: c.routed(Routed{Count: "num_experts", Width: "moe_intermediate_size", RouterBias: "gate.e_score_correction_bias", Bias: Off,
			Sparse: c.sparseFrom(3)})})
}

// blt is the Byte Latent Transformer (arXiv:2412.09871, section 3): a small model
// cuts bytes into patches, a local encoder and decoder stand around a global
// transformer over patches. How many patches a text has is its own affair: work is
// counted as if each byte were one.
func blt(c *Config) Model {
	encoder, decoder := c.nested("encoder_config"), c.nested("decoder_config")
	global, patcher := c.nested("global_config"), c.nested("patcher_config")
	groups := int64(len(c.Ints("encoder_hash_byte_group_size")))
	if groups == 0 {
		groups = 6
	}
	hashes := c.Size("Vh", "encoder_hash_byte_group_vocab").X(c.Int("encoder_hash_byte_group_nb_functions") * groups)
	local, window := c.IntOr("local_attention_window_len", 0), patcher.IntOr("sliding_window", 0)
	k, crossed := encoder.Size("k", "cross_attn_k"), encoder.D.Times(c.Size("k", "cross_attn_k"))
	enter := []Block{}
	if crossed.Int() != global.D.Int() {
		enter = append(enter, Linear("token_embedding_projection", crossed, global.D).As(Projector))
	}
	body := []Block{Token("encoder_hash_tok_embedding", hashes, encoder.D)}
	if c.Bool("patch_in_forward") {
		body = append(body, Module("patcher", NoRole, Token("embed_tokens", patcher.V, patcher.D), patcher.byteLayers(window, true), RMSNorm("norm", patcher.D),
			Linear("lm_head", patcher.D, patcher.V).As(Other)))
	}
	prefix := c.under("model")
	body = append(body,
		Module("local_encoder", NoRole, Token("embed_tokens", encoder.V, encoder.D).TiedTo("lm_head.weight", c.tied() && c.Task != BaseModel),
			encoder.byteLayers(local, false), Linear("patch_embedding_projection", encoder.D, encoder.D.Times(k)).As(Projector), encoder.byteCross()),
		Module("global_transformer", NoRole, append(enter, global.byteLayers(0, true))...),
		Module("local_decoder", NoRole,
			Linear("patch_embedding_projection", decoder.Size("Dg", "hidden_size_global"), decoder.D.Times(decoder.Size("k", "cross_attn_k"))).As(Projector),
			decoder.byteCross(), decoder.byteLayers(local, false), RMSNorm("norm", decoder.D)))
	return Model{Prefix: prefix, Body: body, Head: c.head("", decoder.D, Heads{NeverTied: true})}
}

// nested is a config within this one, with its class's heads of D/A each.
func (c *Config) nested(field string) *Config {
	nested := c.Sub(field)
	if nested == nil {
		c.Fault(field, "missing")
		nested, _ = hfconfig.New([]byte("{}"), "")
	}
	sub := newConfig(nested, "")
	sub.evenHeads()
	return sub
}

// byteLayers is llama's layers, with or without a cache.
func (c *Config) byteLayers(window int64, uncached bool) Block {
	f := c.F
	if f.Int() == 0 {
		f = Named("F", c.D.Int()*8/3)
	}
	scores := GQA(c.A, c.K, c.H, window)
	scores.Bidirected = uncached
	return Stack("layers", c.N, func(int) []Block {
		return []Block{RMSNorm("input_layernorm", c.D),
			AttentionBlock("self_attn", scores, Linear("q_proj", c.D, c.Q), Linear("k_proj", c.D, c.U), Linear("v_proj", c.D, c.U), Linear("o_proj", c.Q, c.D)),
			RMSNorm("post_attention_layernorm", c.D), c.mlp("mlp", f, false, false)}
	})
}

// byteCross is attention between bytes and patches, in every layer or in one.
func (c *Config) byteCross() Block {
	n := Const(1)
	if c.Bool("cross_attn_all_layers") {
		n = c.N
	}
	scores := GQA(c.A, c.K, c.H, 0)
	scores.Bidirected = true
	return Stack("cross_attn_layers", n, func(int) []Block {
		return []Block{AttentionBlock("", scores, RMSNorm("q_norm", c.D), RMSNorm("k_norm", c.D),
			Linear("q_proj", c.D, c.Q), Linear("k_proj", c.D, c.U), Linear("v_proj", c.D, c.U), Linear("o_proj", c.Q, c.D))}
	})
}
