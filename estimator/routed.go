package estimator

// Routed is the mould of routed feed-forward blocks: a router, a list of experts
// of which some run for each token, and experts that always run.
type Routed struct {
	Name        string                          // of the block: mlp
	Router      string                          // else gate
	Gate        func(i int, count Size) []Block // the whole router of layer i, where it is more than one linear
	RouterBias  string                          // correction bias of the router's scores, "" where there is none
	BiasIsParam bool                            // the correction bias is a parameter; else a buffer

	Sparse func(i int) bool // which layers have experts; else by the usual fields
	Dense  string           // config field of the other layers' width; else the usual one

	Count, Used string    // config fields, one number or one for each layer: experts, and how many run
	Runs        Size      // how many run, where no field decides it
	Width       string    // config field of an expert's width; else as dense layers
	Matrices    [3]string // names of an expert's matrices; else gate_proj, up_proj, down_proj
	// Packed lists the tensors of all experts together, where they are not a list
	// of modules.
	Packed func(count, used, f Size) []Block

	// Experts that always run, as one block under this name: config fields of how
	// many they are, else one, and of the width of each, else as the others. A gate
	// of one feature may weigh them.
	Shared, SharedCount, SharedWidth, SharedGate string

	MLP  func(name string, f Size) Block // of dense layers and shared experts; else gated
	Bias Setting                         // of the same; else mlp_bias
}

// routed returns the feed-forward block of each layer: experts where the layer
// is sparse, the dense block elsewhere.
func (c *Config) routed(r Routed) func(i int) Block {
	if r.Sparse == nil {
		r.Sparse = c.sparse
	}
	if r.MLP == nil {
		bias := c.setting(r.Bias, "mlp_bias")
		r.MLP = func(name string, f Size) Block { return c.mlp(name, f, false, bias) }
	}
	dense := r.MLP(or(r.Name, "mlp"), c.SizeOr("F", or(r.Dense, "intermediate_size"), c.F))
	sparse := func(i int) Block {
		used := r.Runs
		if used.IsZero() {
			used = c.SizeAt("T", or(r.Used, "num_experts_per_tok"), i)
		}
		return c.expertsAt(r, i, c.SizeAt("E", r.Count, i), used)
	}
	if r.Gate == nil && !c.Value(r.Count).IsArray() && !c.Value(or(r.Used, "num_experts_per_tok")).IsArray() {
		sparse = same(sparse(0))
	}
	return func(i int) Block {
		if r.Sparse(i) && !c.SizeAt("E", r.Count, i).IsZero() {
			return sparse(i)
		}
		return dense
	}
}

// same is one block for all layers.
func same(b Block) func(i int) Block { return func(int) Block { return b } }

// experts describes a sparse block that is the same in all layers.
func (c *Config) experts(r Routed, count, used Size) Block { return c.expertsAt(r, 0, count, used) }

// expertsAt describes the sparse block of layer i.
func (c *Config) expertsAt(r Routed, i int, count, used Size) Block {
	width := c.F
	if r.Width != "" {
		width = c.Size("Fe", r.Width)
	}
	sub := []Block{Linear(or(r.Router, "gate"), c.D, count).As(Router)}
	if r.Gate != nil {
		sub = r.Gate(i, count)
	}
	if r.RouterBias != "" {
		bias := Buffer(r.RouterBias, count)
		if r.BiasIsParam {
			bias = Raw(r.RouterBias, Router, count)
		}
		bias.Role = Router
		sub = append(sub, bias)
	}
	if r.Packed != nil {
		sub = append(sub, r.Packed(count, used, width)...)
	} else {
		gate, up, down := or(r.Matrices[0], "gate_proj"), or(r.Matrices[1], "up_proj"), or(r.Matrices[2], "down_proj")
		sub = append(sub, Experts("experts", count, used, Linear(gate, c.D, width), Linear(up, c.D, width), Linear(down, width, c.D)))
	}
	return MLPBlock(or(r.Name, "mlp"), append(sub, c.sharedExperts(r, width)...)...)
}

func (c *Config) sharedExperts(r Routed, width Size) []Block {
	if r.Shared == "" {
		return nil
	}
	if r.SharedWidth != "" {
		width = c.first("Fs", r.SharedWidth)
	}
	if r.SharedCount != "" {
		width = width.Times(c.SizeOr("S", r.SharedCount, Size{}))
	}
	if width.IsZero() {
		return nil
	}
	shared := []Block{r.MLP(r.Shared, width).As(SharedExperts)}
	if r.SharedGate != "" {
		shared = append(shared, Linear(r.SharedGate, c.D, Const(1)).As(SharedExperts))
	}
	return shared
}

// packed is all experts in two tensors, gate and up side by side, and down:
// stored output first, as linears are.
func (c *Config) packed(up, down string) func(count, used, f Size) []Block {
	return func(count, used, f Size) []Block {
		return []Block{
			Stacked(up, count, used, c.D, f.X(2)).Shaped(count, f.X(2), c.D),
			Stacked(down, count, used, f, c.D).Shaped(count, c.D, f)}
	}
}

// packedInOut is the same, stored input first.
func (c *Config) packedInOut(up, down string) func(count, used, f Size) []Block {
	return func(count, used, f Size) []Block {
		return []Block{Stacked(up, count, used, c.D, f.X(2)), Stacked(down, count, used, f, c.D)}
	}
}

// sparseFrom is the rule of classes in which the first k layers are dense unless
// mlp_layer_types says otherwise.
func (c *Config) sparseFrom(k int64) func(i int) bool {
	return func(i int) bool {
		if types := c.Strings("mlp_layer_types"); c.Declares("mlp_layer_types") && i < len(types) {
			return types[i] != "dense"
		}
		return int64(i) >= k
	}
}

// cycle repeats a period up to n layers.
func cycle(period []string, n int64) []string {
	kinds := make([]string, 0, max(0, min(n, mostLayers)))
	for i := range cap(kinds) {
		kinds = append(kinds, period[i%len(period)])
	}
	return kinds
}
