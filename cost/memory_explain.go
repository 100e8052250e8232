package cost

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

func (p *planned) explain(mem *Memory) []Formula {
	var list []Formula
	add := func(name, symbols, numbers string, result *big.Int) {
		if result != nil {
			list = append(list, Formula{name, symbols, numbers, result, "bytes"})
		}
	}
	weights, numbers := "P · e", fmt.Sprintf("%d · %s", p.counts.Unique, decimal(p.DType.Bytes))
	switch {
	case p.Stored != nil:
		weights, numbers = "as stored", p.Stored.String()
	case p.Format != nil:
		matrices := sumElements(p.params, (*parameter).matrix)
		rest := new(big.Int).Sub(sumElements(p.params, nil), matrices)
		weights = "P of matrices · q + P of the rest · e"
		numbers = fmt.Sprintf("%d · %s + %d · %s", matrices, decimal(p.Format.Bytes), rest, decimal(p.DType.Bytes))
	}
	if p.LoRA > 0 {
		weights, numbers = weights+" + 4 · P of adapters", numbers+fmt.Sprintf(" + 4 · %d", mem.Trainable)
	}
	add("weights", weights+p.over(3), numbers, mem.Weights)
	add("kv", "batch · (tokens · bytes a token, windows capped + fixed states)", fmt.Sprintf("%d · %d tokens in %s", p.Batch, p.Seq, p.KVType.Name), mem.KV)
	if !p.Train {
		add("activations", "largest set of live tensors", mem.ActivationFormula, mem.Activations)
		return list
	}
	bytes, state := p.trainedBytes()
	gradient := p.GradientBytes
	if gradient == 0 {
		gradient = bytes
	}
	add("gradients", "P trained · bytes of a gradient"+p.over(2), fmt.Sprintf("%d · %d", mem.Trainable, gradient), mem.Gradients)
	symbols, numbers := p.Optimizer.Formula, fmt.Sprintf("P = %d, e = %d", mem.Trainable, state)
	if mem.Master.Sign() > 0 {
		symbols += " + 4P of 32-bit weights"
	}
	add("optimizer", symbols+p.over(1), numbers, mem.Optimizer)
	add("activations", mem.ActivationFormula, fmt.Sprintf("b = %d, s = %d", p.Batch, p.Seq), mem.Activations)
	return list
}

// trainedBytes are those of a trained weight and of an element of a state.
func (p *planned) trainedBytes() (weight, state int64) {
	_, weight = p.trained()
	if p.master(weight) {
		return weight, 4
	}
	return weight, weight
}

// over names the devices among which a figure is shared out.
func (p *planned) over(stage int64) string {
	var parts []string
	for _, axis := range []struct {
		name string
		size int64
		on   bool
	}{
		{"tensor", p.Parallel.Tensor, true}, {"pipeline", p.Parallel.Pipeline, true},
		{"data", p.Parallel.Data * p.Parallel.Context, p.Train && p.Parallel.Zero >= stage},
	} {
		if axis.on && axis.size > 1 {
			parts = append(parts, fmt.Sprintf("%s %d", axis.name, axis.size))
		}
	}
	if parts == nil {
		return ""
	}
	return ", over " + strings.Join(parts, " · ")
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(6), "0")
}

func (p *planned) assumptions(mem *Memory) []string {
	list := BeyondPositions(p.model, p.Seq)
	switch {
	case p.Stored != nil:
		list = append(list, "weights: what the class loads of the stored tensors, in their dtypes")
	case p.Format != nil:
		list = append(list, "weights: matrices of the layers in "+p.Format.Name+" ("+p.Format.Remark+"), the rest in "+p.DType.Name)
	default:
		list = append(list, "weights: every unique parameter in "+p.DType.Name+remark(p.DType))
	}
	if p.Train {
		list = append(list, p.trainingAssumptions(mem)...)
	} else {
		list = append(list, p.cacheAssumption(),
			"activations: by rule, not measured: the largest set of tensors that lives at once in "+p.prefilled()+", logits of one position")
	}
	if mem.Devices > 1 {
		list = append(list, "devices: the fullest stage of the pipeline; embeddings, heads and matrices are shared out by tensor parallelism, norms, biases and routers are not; no communication buffers")
	}
	if len(p.Accelerators) > 0 {
		list = append(list, "accelerators: a data sheet's GB of memory are GiB; a driver takes up to 1 % of it, and error correction a sixteenth of GDDR")
	}
	return append(list, fmt.Sprintf("overhead: %s bytes for context, libraries and fragmentation, beside the total", grouped(p.Overhead)))
}

func (p *planned) cacheAssumption() string {
	switch {
	case !Decodes(p.model):
		return "kv: an encoder keeps no cache"
	case p.KV.Library:
		return "kv: as the reference library's cache holds it, in " + p.KVType.Name + remark(p.KVType)
	case p.KV.Expanded:
		return "kv: latents expanded to full keys and values, in " + p.KVType.Name + remark(p.KVType)
	}
	return "kv: as serving engines store it, in " + p.KVType.Name + remark(p.KVType)
}

func remark(t ElementType) string {
	if t.Remark == "" {
		return ""
	}
	return " (" + t.Remark + ")"
}

func (p *planned) trainingAssumptions(mem *Memory) []string {
	list := activationAssumptions(p.model, p.savingUse())
	list = append(list, "optimizer: "+p.Optimizer.Name+", "+p.Optimizer.Formula+": "+p.Optimizer.Note)
	if p.LoRA > 0 {
		where := "every matrix of the layers that is no routed expert's"
		if p.LoRAAttention {
			where = "attention's matrices"
		}
		list = append(list, fmt.Sprintf("lora: rank %d beside %s, in 32 bits; activations as for full training, which is an upper bound", p.LoRA, where))
	}
	if mem.Master.Sign() > 0 {
		list = append(list, "optimizer: 32-bit weights are kept and updated, moments in 32 bits")
	}
	switch p.Recompute {
	case estimator.RecomputeScores:
		list = append(list, "recomputation: scores, softmax and dropout of attention")
	case estimator.RecomputeLayers:
		list = append(list, "recomputation: every layer from its input; the largest one's activations come on top while it is computed again")
	}
	if p.Parallel.Pipeline > 1 {
		list = append(list, fmt.Sprintf("pipeline: %s, %s micro-batches' activations on the first stage", p.Parallel.Schedule, decimal(p.Parallel.inFlight())))
	}
	return list
}

func (p *planned) prefilled() string {
	if batch, seq := p.pass(); batch != p.Batch || seq != p.Seq {
		return fmt.Sprintf("a prefill by %d tokens", seq)
	}
	return "a prefill of all sequences at once"
}
