package estimator

import (
	"math/big"
	"slices"
)

// Two towers, one for images and one for text, whose vectors are compared.
var contrastiveFamily = []Arch{
	{"clip", "CLIPModel", clip},
	{"clip_text_model", "CLIPTextModel", clipTextAlone},
	{"clip_vision_model", "CLIPVisionModel", clipVisionAlone},
	{"siglip", "SiglipModel", siglip},
	{"siglip_vision_model", "SiglipVisionModel", func(c *Config) Model { return Model{Body: c.siglipVision(), ImageEach: true} }},
}

// clip is Radford et al. 2021, arXiv:2103.00020.
func clip(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	if c.Task == ImageClassification {
		return c.classifiedImages(vision, vision.clipVision(preLayrnorm), vision.image().With(1))
	}
	P := c.Size("P", "projection_dim")
	return c.contrastive(text.clipText(), vision.clipVision(preLayrnorm), vision.image(), P, Raw("logit_scale", Other),
		Linear("visual_projection", vision.D, P).On(PerSequence).As(Projector).Seeing(vision.image()),
		Linear("text_projection", text.D, P).On(PerSequence).As(Projector))
}

// siglip compares by sigmoids, and pools images by attention (Zhai et al. 2023,
// arXiv:2303.15343).
func siglip(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	if c.Task == ImageClassification {
		return c.classifiedImages(vision, vision.siglipVision(), vision.image())
	}
	return c.contrastive(text.siglipText(), vision.siglipVision(), vision.image(), vision.D,
		Raw("logit_scale", Other, Const(1)), Raw("logit_bias", Other, Const(1)))
}

// contrastive is the two towers, what stands beside them, and the product of all
// vectors of P features of one with all of the other.
func (c *Config) contrastive(text, vision []Block, view View, P Size, others ...Block) Model {
	body := append(others, Module("text_model", NoRole, text...).InTower("text"), Module("vision_model", NoRole, vision...).InTower("vision"))
	compare := Block{Name: "similarity", Extra: &Extra{Name: "similarity", Sizes: []Size{P}, FLOPs: func(p Pass) *big.Int {
		sum := new(big.Int)
		for _, images := range view.passes(p) {
			sum.Add(sum, product(2, p.Batch, images.Batch, P.Int()))
		}
		return sum
	}}}
	return Model{Body: append(body, compare), ImageEach: true}
}

// clipTextAlone and clipVisionAlone are the towers by themselves. With their
// projection they keep the names that they have side by side.
func clipTextAlone(c *Config) Model {
	model := Model{Body: c.clipText()}
	if c.Task == Projection {
		model.Prefix = "text_model"
		model.Head = []Block{Linear("text_projection", c.D, c.Size("P", "projection_dim")).On(PerSequence).As(Projector)}
	}
	return model
}

func clipVisionAlone(c *Config) Model {
	model := Model{Body: c.clipVision(preLayrnorm), ImageEach: true}
	if c.Task == Projection {
		model.Prefix = "vision_model"
		model.Head = []Block{Linear("visual_projection", c.D, c.Size("P", "projection_dim")).On(PerSequence).As(Projector).Seeing(c.image())}
	}
	return model
}

// classifiedImages is a tower for images with a classifier on the mean of its
// tokens.
func (c *Config) classifiedImages(vision *Config, tower []Block, view View) Model {
	classifier := Linear("classifier", vision.D, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier).Seeing(view)
	return Model{Body: []Block{Module("vision_model", NoRole, tower...)}, Head: []Block{classifier}, ImageEach: true}
}

func (c *Config) clipText() []Block {
	return slices.Concat([]Block{Token("embeddings.token_embedding", c.V, c.D), Position("embeddings.position_embedding", c.C, c.D)},
		c.clipLayers("encoder.layers"), []Block{LayerNorm("final_layer_norm", c.D)})
}

func (c *Config) siglipText() []Block {
	P := c.SizeOr("P", "projection_size", c.D)
	return append(c.clipText(), Linear("head", c.D, P).Bias(true).On(PerSequence).As(Projector))
}

// preLayrnorm is CLIP's name of its tower's first norm, as it is spelt there.
const preLayrnorm = "pre_layrnorm"

func (c *Config) clipVision(first string) []Block {
	view := c.image().With(1)
	return []Block{Module("", NoRole, slices.Concat(
		[]Block{Raw("embeddings.class_embedding", PositionEmbedding, c.D), c.patches("embeddings.patch_embedding"),
			Position("embeddings.position_embedding", c.patchCount().Plus(Const(1)), c.D), LayerNorm(first, c.D)},
		c.clipLayers("encoder.layers"), []Block{LayerNorm("post_layernorm", c.D)})...).Seeing(view)}
}

// siglipVision ends in attention of one learned query over all patches, where it
// has a head.
func (c *Config) siglipVision() []Block {
	return c.siglipTower(c.image(), c.patches("embeddings.patch_embedding").Bias(true), Position("embeddings.position_embedding", c.patchCount(), c.D))
}

func (c *Config) siglipTower(view View, embeddings ...Block) []Block {
	sub := slices.Concat(embeddings, c.clipLayers("encoder.layers"), []Block{LayerNorm("post_layernorm", c.D)})
	if c.BoolOr("vision_use_head", true) {
		sub = append(sub, c.attentionPool("head", view))
	}
	return []Block{Module("", NoRole, sub...).Seeing(view)}
}

// attentionPool makes one vector of an image: a learned query over its tokens.
func (c *Config) attentionPool(name string, view View) Block {
	scores := c.sightScores()
	scores.Cross = true
	attention := AttentionBlock("attention", scores, Raw("in_proj_weight", Attention, c.D.X(3), c.D), rawBias("in_proj_bias", c.D.X(3)),
		Product(c.D, c.D), Product(c.D, c.D.X(2)).On(PerMemory), Linear("out_proj", c.D, c.D).Bias(true))
	return Module(name, Pooler, Raw("probe", Pooler, Const(1), Const(1), c.D), attention,
		LayerNorm("layernorm", c.D), c.clipMLP("mlp")).Seeing(view.Asked(1))
}

// clipLayers are the layers of CLIP's and SigLIP's encoders.
func (c *Config) clipLayers(name string) []Block {
	return []Block{Stack(name, c.N, func(int) []Block {
		return []Block{LayerNorm("layer_norm1", c.D), c.clipAttention("self_attn"), LayerNorm("layer_norm2", c.D), c.clipMLP("mlp")}
	})}
}

func (c *Config) clipAttention(name string) Block {
	return AttentionBlock(name, c.sightScores(), Linear("q_proj", c.D, c.D).Bias(true), Linear("k_proj", c.D, c.D).Bias(true),
		Linear("v_proj", c.D, c.D).Bias(true), Linear("out_proj", c.D, c.D).Bias(true))
}

func (c *Config) clipMLP(name string) Block {
	return MLPBlock(name, Linear("fc1", c.D, c.F).Bias(true), Linear("fc2", c.F, c.D).Bias(true))
}
