package estimator

import "strings"

// ViT is the mould of the Vision Transformer (Dosovitskiy et al. 2020,
// arXiv:2010.11929): patches of an image and a few tokens beside them, layers of
// attention and an MLP, each behind a norm, and a last norm. The zero value is
// ViT itself, under BERT's names; a family states its differences.
type ViT struct {
	Names  Names
	Prefix string // else the model type
	View   View   // else the image's patches and Beside
	Beside int64  // tokens beside the patches
	Embed  []Block
	Lead   []Block // between embeddings and layers

	Width     Size    // of the MLP, else F
	Bias      Setting // of queries, keys and values, else qkv_bias
	NoKeyBias bool
	OutBare   bool // no bias in attention's output
	MLPBare   bool
	FusedGate bool                            // the MLP's first projection is of gate and up
	Packed    bool                            // queries, keys and values as torch's own module stores them
	Norm      func(name string, d Size) Block // else LayerNorm
	Scales    [2]string                       // learned scales of what attention and MLP give
	Scores    *Scores                         // else those of all heads
	Within    func(i int) []Block             // what attention has besides its projections
	Window    func(i int) int64               // patches a side that attention of layer i sees; 0: all
	After     func(i int) []Block             // what stands behind the layer's MLP
	NoLast    bool
}

// vitNames are those that ViT took from BERT.
func vitNames() Names {
	return Names{Stack: "encoder.layer", Norm1: "layernorm_before", Attn: "attention", QKV: "attention.query attention.key attention.value", Out: "output.dense",
		Norm2: "layernorm_after", Up: "intermediate.dense", Down: "output.dense", Last: "layernorm"}
}

// timmNames are those of the library timm, and of most original code.
func timmNames() Names {
	return Names{Stack: "blocks", Norm1: "norm1", Attn: "attn", QKV: "qkv", Out: "proj", Norm2: "norm2", MLP: "mlp", Up: "fc1", Down: "fc2", Last: "norm"}
}

// vision is a model of images alone in the mould: body, and the head of the task.
func vision(c *Config, d ViT, heads ...Block) Model {
	d = c.patched(d)
	sub := append([]Block{Module("embeddings", NoRole, d.Embed...)}, c.vitBody(d)...)
	return Model{Prefix: c.under(or(d.Prefix, c.ModelType())), ImageEach: true, Body: []Block{Module("", NoRole, sub...).Seeing(d.View)}, Head: seen(d.View, heads)}
}

// seen makes all blocks see images in that way.
func seen(v View, blocks []Block) []Block {
	var list []Block
	for _, b := range blocks {
		if b.View == nil {
			b = b.Seeing(v)
		}
		list = append(list, b)
	}
	return list
}

// patched fills in what a family leaves to the mould.
func (c *Config) patched(d ViT) ViT {
	d.Names = d.Names.or(vitNames())
	if d.View == (View{}) {
		d.View = c.image().With(d.Beside)
	}
	if d.Width.IsZero() {
		d.Width = c.F
	}
	if d.Norm == nil {
		d.Norm = LayerNorm
	}
	if d.Scores == nil {
		scores := c.sightScores()
		d.Scores = &scores
	}
	return d
}

// vitBody is the layers and the last norm.
func (c *Config) vitBody(d ViT) []Block {
	d = c.patched(d)
	body := append(d.Lead, Stack(d.Names.Stack, c.N, func(i int) []Block { return c.vitLayer(d, i) }))
	if !d.NoLast {
		body = append(body, d.Norm(d.Names.Last, c.D))
	}
	return body
}

func (c *Config) vitLayer(d ViT, i int) []Block {
	n, bias := d.Names, c.setting(d.Bias, "qkv_bias")
	var sub []Block
	names := strings.Fields(n.QKV)
	if len(names) == 1 {
		fused := Linear(names[0], c.D, c.Q.Plus(c.U.X(2))).Bias(bias)
		if d.Packed {
			fused = fused.flat(names[0]+"_weight", names[0]+"_bias")
		}
		sub = append(sub, fused)
	}
	for k, width := range []Size{c.Q, c.U, c.U} {
		if len(names) == 3 {
			sub = append(sub, Linear(names[k], c.D, width).Bias(bias && !(k == 1 && d.NoKeyBias)))
		}
	}
	if d.Within != nil {
		sub = append(sub, d.Within(i)...)
	}
	attention := AttentionBlock(n.Attn, *d.Scores, append(sub, Linear(n.Out, c.Q, c.D).Bias(!d.OutBare))...)
	if d.Window != nil && d.Window(i) > 0 {
		attention = attention.Seeing(d.View.Within(d.Window(i)))
	}
	layer := append([]Block{d.Norm(n.Norm1, c.D), attention}, d.scale(c, 0)...)
	layer = append(layer, d.Norm(n.Norm2, c.D), d.mlp(c))
	layer = append(layer, d.scale(c, 1)...)
	if d.After != nil {
		layer = append(layer, d.After(i)...)
	}
	return layer
}

func (d *ViT) scale(c *Config, i int) []Block {
	if d.Scales[i] == "" {
		return nil
	}
	return []Block{Raw(d.Scales[i], [2]Role{Attention, MLP}[i], c.D)}
}

func (d *ViT) mlp(c *Config) Block {
	var sub []Block
	for _, name := range strings.Fields(d.Names.Up) {
		width := d.Width
		if d.FusedGate {
			width = width.X(2)
		}
		sub = append(sub, Linear(name, c.D, width).Bias(!d.MLPBare))
	}
	return MLPBlock(d.Names.MLP, append(sub, Linear(d.Names.Down, d.Width, c.D).Bias(!d.MLPBare))...)
}

// beside is n learned tokens beside the patches.
func (c *Config) beside(name string, n Size) Block {
	return Raw(name, PositionEmbedding, Const(1), n, c.D)
}

// places is a learned position of each of n tokens.
func (c *Config) places(n Size) Block { return c.beside("position_embeddings", n) }

// vitEmbeddings are a token of the class, positions and patches.
func (c *Config) vitEmbeddings(others ...Block) []Block {
	return append([]Block{c.beside("cls_token", Const(1)), c.places(c.patchCount().Plus(Const(1))), c.patches("patch_embeddings.projection").Bias(true)}, others...)
}

// labelled is a classifier of images, d features wide.
func (c *Config) labelled(name string, d Size) Block {
	return Linear(name, d, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier)
}

// classified is the classifier where the class has one.
func (c *Config) classified(d Size) []Block {
	if c.Task != ImageClassification {
		return nil
	}
	return []Block{c.labelled("classifier", d)}
}

// pooledFirst is BERT's pooler, which the base model has.
func (c *Config) pooledFirst() []Block {
	if c.Task != BaseModel {
		return nil
	}
	return []Block{Linear("pooler.dense", c.D, c.SizeOr("pooled", "pooler_output_size", c.D)).Bias(true).On(PerSequence).As(Pooler)}
}

// widened is the MLP's width where the config gives it as a multiple of D.
func (c *Config) widened() Size {
	return c.named("F", "mlp_ratio", int64(float64(c.D.Int())*c.Float("mlp_ratio", 4)))
}
