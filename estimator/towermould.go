package estimator

import "strings"

// Tower is the mould of encoders of images beside a language model: a convolution
// that makes a token of each patch, and layers of attention and a feed-forward
// block, each behind a norm (Dosovitskiy et al. 2020, arXiv:2010.11929). The zero
// value has CLIP's names and biases everywhere; a family states its differences.
type Tower struct {
	Names     Names   // what is called otherwise; two names under Up are a gate and a projection up
	Patch     string  // the convolution, else embeddings.patch_embedding
	Flat      bool    // patches come flattened: a linear instead of a convolution
	BarePatch bool    // without a bias
	Embed     []Block // between the patches and the layers: positions, norms
	Width     Size    // of the feed-forward block, else F

	QKVBias, KeyBias, OutBias, MLPBias Setting                         // else on; of keys, else as queries
	Norm                               func(name string, d Size) Block // else LayerNorm
	QKNorm                             QKNorm                          // RMS norms of queries and keys
	QKBy                               func(name string, d Size) Block // else RMSNorm
	Scales                             [2]string                       // learned scales behind attention and the feed-forward block

	View   View             // how it sees an image, else one token a patch
	Layers func(i int) View // where a layer sees it otherwise
	After  []Block          // behind the layers, besides the last norm
}

// clipNames are those of CLIP's encoder of images.
func clipNames() Names {
	return Names{Stack: "encoder.layers", Norm1: "layer_norm1", Attn: "self_attn", QKV: "q_proj k_proj v_proj", Out: "out_proj",
		Norm2: "layer_norm2", MLP: "mlp", Up: "fc1", Down: "fc2"}
}

// blockNames are those of Qwen2-VL's encoder, which many took.
func blockNames() Names {
	return Names{Stack: "blocks", Norm1: "norm1", Attn: "attn", QKV: "qkv", Out: "proj", Norm2: "norm2", MLP: "mlp", Up: "gate_proj up_proj", Down: "down_proj"}
}

// tower returns the blocks of an encoder of images.
func (c *Config) towerBlocks(d Tower) []Block {
	c.evenHeads()
	if c.K.Int() == c.A.Int() {
		c.Q, c.U = c.D, c.D
	}
	d.Names = d.Names.or(clipNames())
	if d.Norm == nil {
		d.Norm = LayerNorm
	}
	if d.QKBy == nil {
		d.QKBy = RMSNorm
	}
	if d.View == (View{}) {
		d.View = c.image()
	}
	if d.KeyBias == Auto {
		d.KeyBias = d.QKVBias
	}
	sub := append([]Block{c.patchEmbedding(d)}, d.Embed...)
	sub = append(sub, Stack(d.Names.Stack, c.N, func(i int) []Block {
		layer := c.towerLayer(d)
		if d.Layers != nil {
			return []Block{Module("", NoRole, layer...).Seeing(d.Layers(i))}
		}
		return layer
	}))
	if d.Names.Last != "" {
		sub = append(sub, d.Norm(d.Names.Last, c.D))
	}
	return []Block{Module("", NoRole, append(sub, d.After...)...).Seeing(d.View)}
}

// patchEmbedding is a convolution over patches, of several frames where the config
// has such, or a linear map of them as they are.
func (c *Config) patchEmbedding(d Tower) Block {
	name, sides := or(d.Patch, "embeddings.patch_embedding"), c.sides("patch_size")
	channels, rows, columns := c.firstOr("channels", Const(3), "num_channels", "in_channels"), c.named("P", "patch_size", sides[0]), c.named("P", "patch_size", sides[1])
	kernel := []Size{rows, columns}
	if n := c.sides("temporal_patch_size"); n[0] > 0 {
		kernel = append([]Size{c.named("frames", "temporal_patch_size", n[0])}, kernel...)
	}
	patch := Conv(name, channels, c.D, kernel...)
	if d.Flat {
		patch = patch.Shaped(c.D, patch.In)
	}
	view := d.View
	view.Beside = 0
	return patch.Bias(!d.BarePatch).pixels().Seeing(view)
}

func (c *Config) towerLayer(d Tower) []Block {
	n, scores := d.Names, c.sightScores()
	scores.KVHeads = c.K
	if n.Attn == Nameless {
		n.Attn = ""
	}
	attention := AttentionBlock(n.Attn, scores, c.towerQueries(d)...)
	up, width := strings.Fields(n.Up), orSize(d.Width, c.F)
	var feed []Block
	for _, name := range up {
		feed = append(feed, Linear(name, c.D, width).Bias(d.MLPBias != Off))
	}
	feedForward := MLPBlock(n.MLP, append(feed, Linear(n.Down, width, c.D).Bias(d.MLPBias != Off))...)
	layer := []Block{d.Norm(n.Norm1, c.D), attention}
	if d.Scales[0] != "" {
		layer = append(layer, Raw(d.Scales[0], Other, c.D))
	}
	layer = append(layer, d.Norm(n.Norm2, c.D), feedForward)
	if d.Scales[1] != "" {
		layer = append(layer, Raw(d.Scales[1], Other, c.D))
	}
	return layer
}

// towerQueries lists what attention in a tower has: projections split or in one,
// norms of queries and keys, and the way back.
func (c *Config) towerQueries(d Tower) []Block {
	names, bias := strings.Fields(d.Names.QKV), d.QKVBias != Off
	sub := []Block{Linear(names[0], c.D, c.Q.Plus(c.U.X(2))).Bias(bias)}
	if len(names) == 3 {
		sub = []Block{Linear(names[0], c.D, c.Q).Bias(bias), Linear(names[1], c.D, c.U).Bias(d.KeyBias != Off), Linear(names[2], c.D, c.U).Bias(bias)}
	}
	switch d.QKNorm {
	case PerHead:
		sub = append(sub, d.QKBy("q_norm", c.H), d.QKBy("k_norm", c.H))
	case AcrossAll:
		sub = append(sub, d.QKBy("q_norm", c.Q), d.QKBy("k_norm", c.U))
	}
	return append(sub, Linear(d.Names.Out, c.Q, c.D).Bias(d.OutBias != Off))
}
