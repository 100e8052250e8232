package estimator

import "slices"

// Families in the mould of llama, each told as its differences.
var llamaFamily = slices.Concat(denseFamily, gemmaFamily, denseOddFamily, []Arch{
	{"llama", "LlamaForCausalLM", func(c *Config) Model { return decoder(c, Decoder{Answer: "transformer"}) }},
	{"mistral", "MistralForCausalLM", func(c *Config) Model { return decoder(c, Decoder{}) }},
	{"qwen2", "Qwen2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKVBias: On, OutBias: Off, Answer: "transformer"})
	}},
	{"qwen3", "Qwen3ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: PerHead, Answer: "transformer"})
	}},
})
