package estimator

// An encoder of images before a decoder of text, of any two types.
var pairFamily = []Arch{
	{"vision-encoder-decoder", "VisionEncoderDecoderModel", visionEncoderDecoder},
}

// visionEncoderDecoder projects the encoder's tokens where the decoder is of
// another width (TrOCR: Li et al. 2021, arXiv:2109.10282).
func visionEncoderDecoder(c *Config) Model {
	encoder, inner := c.within("encoder")
	text, decoder, module := c.wholeAs("decoder", "decoder", CausalLM)
	view := lastView(inner.Body)
	body := []Block{Module("encoder", NoRole, inner.Body...).InTower("vision")}
	if _, given := text.Nullable("cross_attention_hidden_size"); !given && encoder.D.Int() != text.D.Int() {
		projection := Linear("enc_to_dec_proj", encoder.D, text.D).Bias(true).As(Projector)
		if view != nil {
			projection = projection.Seeing(*view)
		}
		body = append(body, projection)
	}
	return Model{Body: append(body, module), N: decoder.N, D: decoder.D, V: decoder.V, Memory: view, ImageEach: true}
}

// lastView is how the last of the blocks that sees images sees them.
func lastView(blocks []Block) *View {
	for i := len(blocks) - 1; i >= 0; i-- {
		if v := lastView(blocks[i].Sub); v != nil && blocks[i].View == nil {
			return v
		}
		if blocks[i].View != nil {
			return blocks[i].View
		}
	}
	return nil
}
