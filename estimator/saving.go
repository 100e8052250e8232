package estimator

import "slices"

// Saving is what a block's kind does not say of what a training step keeps of
// it for the backward pass.
type Saving struct {
	Norm     NormSaving
	Dropped  bool // its output passes dropout, besides those of whole attention and feed-forward blocks
	Buffered bool // a look-up by indices that the class keeps as a buffer
}

// NormSaving says how a norm computes.
type NormSaving uint8

// The ways of norms. Auto is one kernel where there is a bias, else plain
// operations with an input in 32 bits, as in llama.
const (
	AutoNorm  NormSaving = iota
	FusedNorm            // one kernel: keeps input, mean and deviation
	PlainNorm            // plain operations: keeps the input in 32 bits, the normalised one, the deviation
	MixedNorm            // as plain, and the input as it came besides (T5)
)

// ScoresSaving is the same for attention.
type ScoresSaving struct {
	Upcast     bool // softmax in 32 bits, its result also as the values need it
	Rotary     Size // features of a head that the rotary tables cover; zero: none
	Bias       ScoresBias
	PassedMask bool // a layer gets its mask by position, which full recomputation keeps
}

// ScoresBias says what is added to the scores.
type ScoresBias uint8

// The kinds of bias. All layers share it.
const (
	NoBias      ScoresBias = iota
	LearnedBias            // by bucket of distance: a fused kernel gives no gradient for it
	ZeroBias               // zeros in the place of a learned one
)

// normSaving resolves AutoNorm.
func (b *Block) normSaving() NormSaving {
	if b.Saving.Norm != AutoNorm {
		return b.Saving.Norm
	}
	if slices.ContainsFunc(b.Params, func(p Param) bool { return p.Bias || p.Name == "bias" }) {
		return FusedNorm
	}
	return PlainNorm
}

// mixed marks a norm that keeps its input twice.
func (b Block) mixed() Block {
	b.Saving.Norm = MixedNorm
	return b
}

// dropped marks a block whose output passes dropout.
func (b Block) dropped(on bool) Block {
	b.Saving.Dropped = on
	return b
}

// buffered marks a look-up by indices that the class keeps.
func (b Block) buffered() Block {
	b.Saving.Buffered = true
	return b
}

// upcast marks attention as that of the llama mould: rotary positions on heads
// of H features, softmax in 32 bits.
func (b Block) upcast(H Size) Block {
	if b.Scores == nil {
		return b
	}
	scores := *b.Scores
	scores.Saving.Upcast, scores.Saving.Rotary = true, H
	b.Scores = &scores
	return b
}
