package estimator

import "slices"

// Models of text with parts of their own kind: whole numbers, regions, other
// models.
var textMoreFamily = []Arch{
	{"ibert", "IBertForMaskedLM", iBert},
	{"lxmert", "LxmertForPreTraining", lxmert},
	{"t5gemma2", "T5Gemma2ForConditionalGeneration", t5Gemma2},
	{"encoder-decoder", "EncoderDecoderModel", encoderDecoder},
	{"udop", "UdopForConditionalGeneration", udop},
}

// scaled are the range and the scale of an activation in whole numbers.
func scaled(name string) Block {
	one := Const(1)
	return Module(name, NoRole, Buffer("x_min", one), Buffer("x_max", one), Buffer("act_scaling_factor", one))
}

// inIntegers adds copies of a linear in whole numbers, and their scales.
func (b Block) inIntegers() Block {
	b.Params = append(slices.Clone(b.Params), Param{Name: "weight_integer", Shape: []Size{b.Out, b.In}, Buffer: true},
		Param{Name: "fc_scaling_factor", Shape: []Size{b.Out}, Buffer: true}, Param{Name: "bias_integer", Shape: []Size{b.Out}, Buffer: true})
	return b
}

// iBert is RoBERTa with what it takes to run in whole numbers (Kim et al. 2021,
// arXiv:2101.01321).
func iBert(c *Config) Model {
	c.evenHeads()
	one := Const(1)
	table := func(name string, rows Size) Block {
		return Module(name, NoRole, Buffer("weight_scaling_factor", one), Buffer("weight_integer", rows, c.D))
	}
	norm := func(name string) Block {
		return Block{Sub: []Block{LayerNorm(name, c.D), Buffer(name+".shift", one), scaled(name + ".activation")}}
	}
	linear := func(name string, in, out Size) Block { return Linear(name, in, out).Bias(true).inIntegers() }
	G := c.Size("G", "type_vocab_size")
	layer := []Block{AttentionBlock("attention", c.sightScores(), linear("self.query", c.D, c.Q), linear("self.key", c.D, c.Q), linear("self.value", c.D, c.Q),
		scaled("self.query_activation"), scaled("self.key_activation"), scaled("self.value_activation"), scaled("self.softmax.act"), scaled("self.output_activation"),
		linear("output.dense", c.D, c.D)), scaled("attention.output.ln_input_act"), norm("attention.output.LayerNorm"), scaled("attention.output.output_activation"),
		scaled("pre_intermediate_act"), MLPBlock("", linear("intermediate.dense", c.D, c.F), scaled("intermediate.output_activation"), scaled("pre_output_act"),
			linear("output.dense", c.F, c.D)), scaled("output.ln_input_act"), norm("output.LayerNorm"), scaled("output.output_activation")}
	return roberta(c, Encoder{Prefix: "ibert", NoEmbedNorm: true, Layer: func(int) []Block { return layer },
		Embed: []Block{table("word_embeddings", c.V), table("position_embeddings", c.C), table("token_type_embeddings", G), scaled("embeddings_act1"),
			scaled("embeddings_act2"), norm("LayerNorm"), scaled("output_activation")}})
}

// lxmert reads a sentence and the regions of an image, which each attend to
// themselves and to the others (Tan and Bansal 2019, arXiv:1908.07490). Regions
// are the encoder's tokens.
func lxmert(c *Config) Model {
	c.evenHeads()
	D, features, answers := c.D, c.Size("Dv", "visual_feat_dim"), c.Size("answers", "num_qa_labels")
	regions := func(blocks ...Block) Block { return Block{Sub: blocks}.tower("vision") }
	attention := func(name, part string, cross bool) []Block {
		scores := c.sightScores()
		scores.Cross = cross
		return []Block{AttentionBlock(name, scores, Linear(part+".query", D, c.Q).Bias(true), Linear(part+".key", D, c.Q).Bias(true), Linear(part+".value", D, c.Q).Bias(true),
			Linear("output.dense", D, D).Bias(true)), LayerNorm(name+".output.LayerNorm", D)}
	}
	feedForward := func(in, out string) []Block {
		return []Block{MLPBlock("", Linear(in+".dense", D, c.F).Bias(true), Linear(out+".dense", c.F, D).Bias(true)), LayerNorm(out+".LayerNorm", D)}
	}
	single := append(attention("attention", "self", false), feedForward("intermediate", "output")...)
	crossed := slices.Concat(attention("visual_attention", "att", true), attention("lang_self_att", "self", false),
		[]Block{regions(attention("visn_self_att", "self", false)...)}, feedForward("lang_inter", "lang_output"), []Block{regions(feedForward("visn_inter", "visn_output")...)})
	same := func(blocks []Block) func(int) []Block { return func(int) []Block { return blocks } }
	model := encoder(c, Encoder{Pooling: PoolEvery, Layers: func() []Block {
		return []Block{Stack("encoder.layer", c.Size("Nl", "l_layers"), same(single)),
			regions(Module("encoder.visn_fc", Projector, Linear("visn_fc", features, D).Bias(true), LayerNorm("visn_layer_norm", D),
				Linear("box_fc", c.Size("box", "visual_pos_dim"), D).Bias(true), LayerNorm("box_layer_norm", D)), Stack("encoder.r_layers", c.Size("Nr", "r_layers"), same(single))),
			Stack("encoder.x_layers", c.Size("Nx", "x_layers"), same(crossed))}
	}})
	answer := Module("answer_head.logit_fc", Classifier, Linear("0", D, D.X(2)).Bias(true), LayerNorm("2", D.X(2)), Linear("3", D.X(2), answers).Bias(true)).Throughout(PerSequence)
	switch c.Task {
	case QuestionAnswering:
		model.Head = []Block{answer}
	case PreTraining:
		model.Head = c.lxmertHeads(features, answer)
	}
	model.N, model.D, model.V, model.FLOPsByRule = Size{}, Size{}, Size{}, true
	return model
}

// lxmertHeads predict words, whether the sentence fits, regions and answers.
func (c *Config) lxmertHeads(features Size, answer Block) []Block {
	head := []Block{Module("cls.predictions", HeadLayers, Linear("transform.dense", c.D, c.D).Bias(true), LayerNorm("transform.LayerNorm", c.D), biasOf("bias", c.V).As(Head),
		Linear("decoder", c.D, c.V).TiedTo("lxmert.embeddings.word_embeddings.weight", c.tied()).As(Head)), Linear("cls.seq_relationship", c.D, Const(2)).Bias(true).On(PerSequence).As(Classifier)}
	if c.Bool("task_obj_predict") {
		regions := []Block{Linear("transform.dense", c.D, c.D).Bias(true), LayerNorm("transform.LayerNorm", c.D)}
		predict := func(field, name string, out Size) {
			if c.Bool(field) {
				regions = append(regions, Linear("decoder_dict."+name, c.D, out).Bias(true))
			}
		}
		predict("visual_obj_loss", "obj", c.Size("objects", "num_object_labels"))
		predict("visual_attr_loss", "attr", c.Size("attributes", "num_attr_labels"))
		predict("visual_feat_loss", "feat", features)
		head = append(head, Module("obj_predict_head", HeadLayers, regions...).tower("vision"))
	}
	if c.Bool("task_qa") {
		head = append(head, answer)
	}
	return head
}

// t5Gemma2 sees images in its encoder; its decoder attends to itself and to the
// encoder's tokens at once, by the same projections (Zhang et al. 2025,
// arXiv:2512.14856).
func t5Gemma2(c *Config) Model {
	enc, dec := c.part("encoder"), c.partAs("decoder", "t5gemma2_decoder")
	text, vision := enc.partAs("text_config", "t5gemma2_text"), enc.partAs("vision_config", "siglip_vision_model")
	pooled := vision.image()
	rows, columns := pooled.grid()
	pooled.Merge = max(1, rows*columns/max(1, enc.IntOr("mm_tokens_per_image", 256)))
	mould := func(h *Config) Decoder {
		return Decoder{QKNorm: PerHead, Window: h.sliding(every(6)...),
			Norms: Norms{"pre_self_attn_layernorm", "post_self_attn_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"}}
	}
	heard, d := mould(text), mould(dec)
	heard.Bidirected = true
	merged := GQA(dec.A, dec.K, dec.H, 0)
	merged.Cross = true
	d.Scored = []Block{AttentionBlock("", merged, Product(dec.D, dec.U).On(PerMemory), Product(dec.D, dec.U).On(PerMemory))}
	ending := Raw("embed_tokens.eoi_embedding", TokenEmbedding, text.D)
	encoder := append([]Block{ending}, decoder(text, heard).Body...)
	decoder := append([]Block{ending}, decoder(dec, d).Body...)
	model := Model{Prefix: c.under("model"), EncoderDecoder: true}
	shared := join(model.Prefix, "encoder.embed_tokens")
	decoder[0] = ending.tie("", shared+".eoi_embedding", true)
	decoder[1] = decoder[1].TiedTo(shared+".weight", true)
	model.Body = []Block{Module("encoder.vision_tower", NoRole, vision.siglipVision()...).InTower("vision"),
		Module("encoder.multi_modal_projector", Projector, Linear("mm_input_projection_weight", vision.D, text.D).Bare().Shaped(vision.D, text.D),
			RMSNorm("mm_soft_emb_norm", vision.D)).Seeing(pooled),
		Module("encoder", NoRole, encoder...).Hearing(0).InTower("encoder"), Module("decoder", NoRole, decoder...)}
	switch c.Task {
	case SequenceClassification, TokenClassification:
		model.Head = []Block{Linear("score.out_proj", dec.D, Named("labels", c.NumLabels())).Bias(true).As(Classifier)}
	case ConditionalGeneration:
		model.Head = []Block{Linear("lm_head.out_proj", dec.D, dec.V).On(PerLogit).TiedTo(shared+".weight", c.tied()).As(Head)}
	}
	return model
}

// encoderDecoder puts two models of any type side by side, the second of which
// attends to the first (Rothe et al. 2019, arXiv:1907.12461).
func encoderDecoder(c *Config) Model {
	enc, first := c.within("encoder")
	dec := c.part("decoder")
	arch, ok := c.inner.lookup(dec.ModelType())
	if !ok {
		c.inner.unknown = dec.ModelType()
		return Model{}
	}
	dec.Class, dec.Task = stemOf(arch.Class)+"ForCausalLM", CausalLM
	second := arch.Describe(dec)
	body := []Block{Module("encoder", NoRole, first.Body...).Hearing(0).InTower("encoder")}
	if enc.D.Int() != dec.D.Int() && !dec.Given("cross_attention_hidden_size") {
		body = append(body, Linear("enc_to_dec_proj", enc.D, dec.D).Bias(true).On(PerMemory).As(Projector))
	}
	within := append([]Block{Module(second.Prefix, NoRole, second.Body...)}, second.Head...)
	return Model{EncoderDecoder: true, Body: append(body, Module("decoder", NoRole, tiesWithin("decoder", within)...))}
}

// tiesWithin puts a prefix before the names of what tensors of the blocks share.
func tiesWithin(prefix string, blocks []Block) []Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		b := &blocks[i]
		b.Params, b.Sub = slices.Clone(b.Params), tiesWithin(prefix, b.Sub)
		for k := range b.Params {
			if b.Params[k].TiedTo != "" {
				b.Params[k].TiedTo = join(prefix, b.Params[k].TiedTo)
			}
		}
	}
	return blocks
}

// udop is T5 for pages: patches among the tokens where it is given the page, and
// a bias of the scores by where tokens stand (Tang et al. 2022, arXiv:2212.02623).
func udop(c *Config) Model {
	c.heads(c.A, c.A, "d_kv")
	model := t5With(c, T5{})
	one, patch := c.Size("channels", "num_channels"), c.Size("P", "patch_size")
	generates := c.Task != BaseModel && c.Task != EncoderOnly
	conv := func(name string) Block { return Conv(name, one, c.D, patch, patch).Bias(true).On(Elsewhere) }
	n2d, kinds := c.Size("C2", "max_2d_position_embeddings"), 3 // the class's own: along the sequence, across and down
	if c.Given("relative_bias_args") {
		kinds = len(c.Value("relative_bias_args").Array())
	}
	for i := range model.Body {
		half := &model.Body[i]
		if half.Name != "encoder" && half.Name != "decoder" {
			continue
		}
		var biases []Block
		for k := range kinds {
			b := Position(numbered("relative_bias.biases", k)+".relative_attention_bias", c.Size("B", "relative_attention_num_buckets"), c.A)
			biases = append(biases, b.TiedTo("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", k == 0 && generates))
		}
		half.Sub = append(slices.Clone(half.Sub), biases...)
		if half.Name == "encoder" {
			half.Sub = append(half.Sub, conv("embed_patches.proj").Like("patch_embed.proj", true), Position("cell_2d_embedding.x_position_embeddings", n2d, c.D),
				Position("cell_2d_embedding.y_position_embeddings", n2d, c.D))
		} else {
			half.Sub = append(half.Sub, conv("embed_patches.proj"))
		}
	}
	model.Body = append(model.Body, conv("patch_embed.proj"))
	model.FLOPsByRule = true
	return model
}
