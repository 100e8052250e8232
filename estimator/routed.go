package estimator

// Routed is the mould of routed feed-forward blocks: a router, a list of experts
// of which some run for each token, and experts that always run.
type Routed struct {
	Name        string // of the block: mlp
	Router      string // else gate
	RouterBias  string // correction bias of the router's scores, "" where there is none
	BiasIsParam bool   // the correction bias is a parameter; else a buffer

	Count, Used string // config fields: number of experts, and how many run
	Width       string // config field of an expert's width
	Matrices    [3]string
	Shared      func() []Block // experts that always run
	Expert      func(f Size) []Block
}

// routed returns the feed-forward block of each layer: experts where the layer
// is sparse, the dense block elsewhere.
func (c *Config) routed(r Routed) func(i int) Block {
	sparse := c.experts(r)
	return func(i int) Block {
		if c.sparse(i) {
			return sparse
		}
		return c.mlp(or(r.Name, "mlp"), c.F, false, c.Switch("mlp_bias"))
	}
}

// experts describes the sparse block itself.
func (c *Config) experts(r Routed) Block {
	count, used := c.Size("E", r.Count), c.Size("T", or(r.Used, "num_experts_per_tok"))
	width := c.F
	if r.Width != "" {
		width = c.Size("Fe", r.Width)
	}
	router := or(r.Router, "gate")
	sub := []Block{Linear(router, c.D, count).As(Router)}
	if r.RouterBias != "" {
		bias := Buffer(r.RouterBias, count)
		if r.BiasIsParam {
			bias = Raw(r.RouterBias, Router, count)
		}
		bias.Role = Router
		sub = append(sub, bias)
	}
	sub = append(sub, Experts("experts", count, used, c.expert(r, width)...))
	if r.Shared != nil {
		sub = append(sub, r.Shared()...)
	}
	return MLPBlock(or(r.Name, "mlp"), sub...)
}

// expert lists one expert's matrices: gate, up, down.
func (c *Config) expert(r Routed, f Size) []Block {
	if r.Expert != nil {
		return r.Expert(f)
	}
	names := r.Matrices
	if names == ([3]string{}) {
		names = [3]string{"gate_proj", "up_proj", "down_proj"}
	}
	return []Block{Linear(names[0], c.D, f), Linear(names[1], c.D, f), Linear(names[2], f, c.D)}
}

// sharedExperts is n experts' widths in one gated MLP.
func (c *Config) sharedExperts(name string, width Size) []Block {
	if width.IsZero() {
		return nil
	}
	return []Block{c.mlp(name, width, false, false).As(SharedExperts)}
}
