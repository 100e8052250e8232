package estimator

// Decoders in the mould of llama with blocks of their own.
var denseOddFamily = []Arch{
	{"diffllama", "DiffLlamaForCausalLM", diffllama},
}

// diffllama subtracts one attention map from another (Differential Transformer,
// arXiv:2410.05258): every head scores its keys once for each half of the values.
func diffllama(c *Config) Model {
	var lambdas []Block
	for _, name := range []string{"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"} {
		lambdas = append(lambdas, Raw(name, Attention, c.H))
	}
	d := Decoder{MLPBias: Off, Scored: lambdas, Answer: "transformer"}
	d.Attn = func(i int) Block {
		block := c.selfAttention(d, i)
		twice := *block.Scores
		twice.Heads = c.A.X(2)
		block.Scores = &twice
		return block
	}
	return decoder(c, d)
}
