package cost

import (
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// KorthikantiSum is the activations by the published rule instead of the walk,
// for a model whose layers are all alike.
type KorthikantiSum struct {
	LayerBytes  *big.Int `json:"layer_bytes"`
	OutputBytes *big.Int `json:"output_bytes"`
	TotalBytes  *big.Int `json:"total_bytes"` // the fullest stage's layers, as many micro-batches as it keeps
	Formula     string   `json:"formula"`
}

// training adds gradients, optimizer states and what is kept for the backward
// pass.
func (p *planned) training(mem *Memory) {
	trained, bytes := p.trained()
	mem.Trainable = sumElements(trained, nil)
	if p.LoRA > 0 { // the adapters lie beside the frozen weights
		mem.Weights = new(big.Int).Add(mem.Weights, ceil(weightBytes(trained, big.NewRat(bytes, 1), nil, p.zeroed(3))))
	}
	gradient := p.GradientBytes
	if gradient == 0 {
		gradient = bytes
	}
	mem.Gradients = ceil(weightBytes(trained, big.NewRat(gradient, 1), nil, p.zeroed(2)))
	state := bytes
	mem.Master = new(big.Int)
	if p.master(bytes) {
		state = 4
		mem.Master = ceil(weightBytes(trained, big.NewRat(4, 1), nil, p.zeroed(1)))
	}
	mem.Optimizer = new(big.Int).Add(mem.Master, p.states(trained, state))
	p.saved(mem)
}

// master reports whether 32-bit weights are kept beside those of so many bytes.
func (p *planned) master(bytes int64) bool { return p.Master && bytes < 4 }

// trained lists what is trained, and the bytes of one element: adapters are kept
// in 32 bits, as peft does.
func (p *planned) trained() ([]parameter, int64) {
	if p.LoRA > 0 {
		return lora(p.params, p.LoRA, p.LoRAAttention), 4
	}
	return p.params, max(1, ceil(p.DType.Bytes).Int64())
}

// zeroed is the share of a tensor on the device where ZeRO shares out states
// from the given stage on.
func (p *planned) zeroed(stage int64) func(*parameter) *big.Rat {
	if p.Parallel.Zero >= stage {
		return p.sharded
	}
	return p.share
}

// states are the optimizer's on the device: its rule holds for whole tensors,
// each of which is shared out.
func (p *planned) states(trained []parameter, bytes int64) *big.Int {
	share, sum := p.zeroed(1), new(big.Rat)
	for i := range trained {
		one := trained[i : i+1]
		part := new(big.Rat).SetInt(p.Optimizer.state(one, bytes))
		sum.Add(sum, part.Mul(part, share(&one[0])))
	}
	return ceil(sum)
}

func (p *planned) savingUse() estimator.SavingUse {
	bytes := int64(2)
	if p.DType.Bytes.Cmp(big.NewRat(4, 1)) == 0 {
		bytes = 4
	}
	return estimator.SavingUse{Batch: p.Batch, Seq: p.Seq, EncoderSeq: p.EncoderSeq, Sight: p.Sight, ElementBytes: bytes, Kernel: p.Kernel,
		Dropout: p.Dropout, MaskBytes: p.MaskBytes, Recompute: p.Recompute}
}

// saved adds the activations of the fullest stage.
func (p *planned) saved(mem *Memory) {
	use := p.savingUse()
	recorded := p.model.Activations(use)
	inFlight, layered := p.Parallel.inFlight(), p.Parallel.layerShare(p.layers)
	layers, first, last := new(big.Rat), new(big.Rat), new(big.Rat)
	for i := range recorded.Saved {
		s := &recorded.Saved[i]
		bytes := p.split(s)
		switch {
		case s.Layers != nil || s.Part == "layers":
			layers.Add(layers, bytes.Mul(bytes, layered))
		case s.Part == "embeddings" || s.Part == "attention":
			first.Add(first, bytes)
		default:
			last.Add(last, bytes)
		}
	}
	first.Add(first, layers)
	first.Mul(first, inFlight)
	if p.Parallel.Pipeline > 1 { // the last stage keeps one micro-batch, or all of them under GPipe
		last.Add(last, layers)
		if p.Parallel.Schedule == "gpipe" {
			last.Mul(last, inFlight)
		}
		if last.Cmp(first) > 0 {
			first = last
		}
	} else {
		first.Add(first, last)
	}
	mem.Activations = ceil(first)
	again := new(big.Rat)
	for i := range recorded.Layer {
		again.Add(again, p.split(&recorded.Layer[i]))
	}
	mem.Recomputed = ceil(again)
	a := SavedActivations(p.model, use)
	mem.ActivationParts, mem.ActivationFormula = a.Parts, a.Formula
	p.korthikanti(mem, inFlight, layered)
}

// split is what a device keeps: tensor parallelism shares out what lies between
// its matrices, sequence parallelism everything else, context parallelism the
// tokens.
func (p *planned) split(s *estimator.Saved) *big.Rat {
	bytes := new(big.Rat).SetInt(s.Total())
	if s.Split || p.Parallel.Sequence {
		bytes.Quo(bytes, big.NewRat(p.Parallel.Tensor, 1))
	}
	return bytes.Quo(bytes, big.NewRat(p.Parallel.Context, 1))
}

// korthikanti adds the published rule where the model's shape is the one that it
// is for.
func (p *planned) korthikanti(mem *Memory, inFlight, layered *big.Rat) {
	t, ok := transformerOf(p.model)
	if !ok {
		return
	}
	k := Korthikanti{Seq: p.Seq, Batch: p.Batch, Hidden: t.Hidden, Heads: t.Heads, Tensor: p.Parallel.Tensor,
		Sequence: p.Parallel.Sequence, Recompute: "none"}
	switch p.Recompute {
	case estimator.RecomputeScores:
		k.Recompute = "selective"
	case estimator.RecomputeLayers:
		k.Recompute = "full"
	}
	layer, output := k.LayerBytes(), k.OutputBytes(t.Vocabulary)
	layers := new(big.Rat).Mul(layer, big.NewRat(t.Layers, 1))
	layers.Mul(layers, layered).Mul(layers, inFlight)
	total := new(big.Rat).Set(layers)
	if p.Parallel.Pipeline == 1 {
		total.Add(total, output)
	}
	mem.Korthikanti = &KorthikantiSum{ceil(layer), ceil(output), ceil(total), k.Formula() + ", 4sbh(1 + v/h)/t for the output (arXiv:2205.05198)"}
}
