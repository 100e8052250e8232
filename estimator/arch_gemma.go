package estimator

// The Gemma families.
var gemmaFamily = []Arch{
	{"gemma", "GemmaForCausalLM", func(c *Config) Model { return decoder(c, Decoder{}) }},
	{"gemma2", "Gemma2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norms: sandwich, Window: c.sliding(every(2)...)})
	}},
	{"gemma3_text", "Gemma3ForCausalLM", gemma3Text},
	{"vaultgemma", "VaultGemmaForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norms: Norms{"input_layernorm", "", "pre_feedforward_layernorm", ""}, Window: c.sliding(every(2)...)})
	}},
}

// gemma3Text looks to both sides in its embedding models; a window then reaches
// half as far to each.
func gemma3Text(c *Config) Model {
	window := c.sliding(every(c.IntOr("sliding_window_pattern", 6))...)
	return decoder(c, Decoder{QKNorm: PerHead, Norms: sandwich, Window: func(i int) int64 {
		w := window(i)
		if w > 0 && c.Bool("use_bidirectional_attention") {
			return w/2 + 1
		}
		return w
	}})
}
