package cost

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// explain gives each figure; on several devices those are of one of them, and
// the formula says among how many it is shared out.
func (p *planned) explain(mem *Memory) []Formula {
	list := []Formula{p.explainWeights(mem)}
	if p.Train {
		list = append(list, p.explainStates(mem)...)
	} else {
		list = append(list, p.explainKV(mem)...)
	}
	list = append(list, p.explainActivations(mem)...)
	var parts []*big.Int
	var names []string
	for _, part := range mem.Parts() {
		if part.Bytes.Sign() > 0 {
			parts, names = append(parts, part.Bytes), append(names, part.Name)
		}
	}
	return append(list, sumOf("total", strings.Join(names, " + "), parts, mem.Total, "bytes"))
}

func (p *planned) explainWeights(mem *Memory) Formula {
	weights, numbers := "parameters · bytes of one", fmt.Sprintf("%d · %s", p.counts.Unique, decimal(p.DType.Bytes))
	switch {
	case p.Stored != nil:
		weights, numbers = "as stored", grouped(p.Stored)
	case p.Format != nil:
		matrices := sumElements(p.params, (*parameter).matrix)
		rest := new(big.Int).Sub(sumElements(p.params, nil), matrices)
		weights = "parameters in matrices · bytes of one + the rest · bytes of one"
		numbers = fmt.Sprintf("%d · %s + %d · %s", matrices, decimal(p.Format.Bytes), rest, decimal(p.DType.Bytes))
	}
	if p.LoRA > 0 {
		weights, numbers = weights+" + 4 · parameters of adapters", numbers+fmt.Sprintf(" + 4 · %d", mem.Trainable)
	}
	return Formula{"weights", weights + p.over(3), p.inAll(numbers), mem.Weights, "bytes", nil}
}

func (p *planned) explainKV(mem *Memory) []Formula {
	if !Decodes(p.model) {
		return nil
	}
	encoder := p.EncoderSeq
	if encoder == 0 {
		encoder = p.Seq
	}
	whole := KVCache(p.model, p.Batch, p.Seq, encoder, p.KVType, p.KV)
	if mem.Devices == 1 {
		return whole.Formulas
	}
	var shares []string
	for _, axis := range []struct {
		name string
		size int64
	}{{"heads over tensor", p.Parallel.Tensor}, {"layers over pipeline", p.Parallel.Pipeline}, {"tokens over context", p.Parallel.Context}} {
		if axis.size > 1 {
			shares = append(shares, fmt.Sprintf("%s %d", axis.name, axis.size))
		}
	}
	return append(whole.Formulas, Formula{"KV cache of a device", strings.Join(append([]string{"the cache"}, shares...), ", "), p.inAll(grouped(whole.TotalBytes)),
		mem.KV, "bytes", nil})
}

// explainStates is what training keeps of each parameter.
func (p *planned) explainStates(mem *Memory) []Formula {
	trained, bytes := p.trained()
	state, gradient := bytes, p.GradientBytes
	if gradient == 0 {
		gradient = bytes
	}
	if p.master(bytes) {
		state = 4
	}
	var tensors int64
	for i := range trained {
		tensors += trained[i].copies
	}
	symbols := p.Optimizer.Formula
	numbers := grouped(new(big.Int).Sub(mem.Optimizer, mem.Master)) // the states have rules of their own
	if mem.Master.Sign() > 0 {
		symbols, numbers = symbols+" + 4P of 32-bit weights", numbers+" + "+grouped(mem.Master)
	}
	symbols += ", of P parameters in m tensors, e bytes of a state"
	letters := []estimator.Symbol{{Name: "e", Value: state}, {Name: "m", Value: tensors}}
	if mem.Trainable.IsInt64() {
		letters = append([]estimator.Symbol{{Name: "P", Value: mem.Trainable.Int64()}}, letters...)
	}
	return []Formula{
		{"gradients", "trained parameters · bytes of a gradient" + p.over(2), p.inAll(fmt.Sprintf("%d · %d", mem.Trainable, gradient)), mem.Gradients, "bytes", nil},
		{"optimizer", symbols + p.over(1), numbers, mem.Optimizer, "bytes", letters},
	}
}

func (p *planned) explainActivations(mem *Memory) []Formula {
	f := Formula{Name: "activations", Result: mem.Activations, Unit: "bytes"}
	if !p.Train {
		f.Symbols, f.Numbers, f.Letters = p.live.explain(p.activationBytes(), p.Parallel.Tensor)
		f.Symbols += ", in " + p.live.Where
		return []Formula{f}
	}
	recorded := p.model.Activations(p.savingUse())
	p.explainSaved(&f, recorded.Saved)
	if mem.Devices > 1 {
		f.Symbols += fmt.Sprintf("; a device of the fullest stage keeps its share of %s micro-batches", decimal(p.Parallel.inFlight()))
	}
	if mem.Recomputed.Sign() == 0 {
		return []Formula{f}
	}
	again := Formula{Name: "layer computed again", Result: mem.Recomputed, Unit: "bytes"}
	p.explainSaved(&again, recorded.Layer)
	return []Formula{f, again}
}

// explainSaved adds up what is kept for the backward pass.
func (p *planned) explainSaved(f *Formula, kept []estimator.Saved) {
	f.Symbols, f.Numbers = activationFormula(kept, estimator.Size.String), p.inAll(activationFormula(kept, estimator.Size.Numbers))
	var sum estimator.Size
	for i := range kept {
		sum = sum.Plus(kept[i].Elements)
	}
	f.Letters = sum.Symbols()
}

// inAll marks numbers of the whole model, where the result is a device's share.
func (p *planned) inAll(numbers string) string {
	if p.Parallel.Devices() > 1 {
		return numbers + " in all"
	}
	return numbers
}

// explainFit gives what an accelerator answers.
func (p *planned) explainFit(a Accelerator, f *Fit, mem *Memory) []Formula {
	var list []Formula
	add := func(name, symbols, numbers string, result any, unit string) {
		list = append(list, Formula{name + " on " + a.Name, symbols, numbers, result, unit, nil})
	}
	if f.Devices != nil && mem.Devices == 1 {
		add("devices needed", "⌈total / (memory − overhead)⌉", fmt.Sprintf("⌈%s / (%s − %s)⌉", grouped(mem.Total), grouped(f.MemoryBytes), grouped(p.Overhead)),
			big.NewInt(*f.Devices), "")
	}
	if f.Speed == nil {
		return list
	}
	bound := func(name string, flops, bytes *big.Int, seconds float64) {
		add(name, "max(FLOPs / peak, bytes read / bandwidth) / devices",
			fmt.Sprintf("max(%s / %.6g, %s / %.6g) / %d", grouped(flops), f.PeakFLOPs, grouped(bytes), a.BandwidthGBs*1e9, mem.Devices), seconds, "seconds")
	}
	if f.Decode == nil {
		bound("forward pass", f.PrefillFLOPs, f.PrefillBytes, f.PrefillSeconds)
		return list
	}
	bound("prefill", f.PrefillFLOPs, f.PrefillBytes, f.PrefillSeconds)
	bound("decode step", f.DecodeFLOPs, f.DecodeBytes, f.DecodeSeconds)
	add("tokens per second", "batch / decode step", fmt.Sprintf("%d / %.6g", p.Batch, f.DecodeSeconds), f.TokensPerSecond, "tokens a second")
	return list
}

// live is the largest set of tensors of a pass without a backward one.
type live struct{ estimator.Peak }

func (l live) explain(width *big.Rat, tensor int64) (symbols, numbers string, letters []estimator.Symbol) {
	for _, part := range []struct {
		size  estimator.Size
		bytes string
		split bool
	}{{l.Elements, decimal(width), false}, {l.Split, decimal(width), true}, {l.Wide, "4", true}} {
		if part.size.IsZero() {
			continue
		}
		over := ""
		if part.split && tensor > 1 {
			over = fmt.Sprintf(" / %d", tensor)
		}
		symbols = joined(symbols, "("+part.size.String()+") · "+part.bytes+" bytes"+over)
		numbers = joined(numbers, "("+part.size.Numbers()+") · "+part.bytes+over)
		letters = append(letters, part.size.Symbols()...)
	}
	return symbols, numbers, letters
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
		list = append(list, "weights: what the class loads of the stored tensors, in their dtypes; computed in "+p.computedIn())
	case p.Format != nil:
		list = append(list, "weights: matrices of the layers in "+p.Format.Name+" ("+p.Format.Remark+"), the rest in "+p.DType.Name)
	default:
		list = append(list, "weights: every unique parameter in "+p.DType.Name+remark(p.DType))
	}
	if p.Train {
		list = append(list, p.trainingAssumptions(mem)...)
	} else {
		list = append(list, p.cacheAssumption(),
			"activations: by rule, not measured: the largest set of tensors that lives at once in "+p.prefilled())
	}
	if mem.Devices > 1 {
		list = append(list, "devices: the fullest stage of the pipeline; embeddings, heads and matrices are shared out by tensor parallelism, norms, biases and routers are not; no communication buffers")
	}
	if len(p.Accelerators) > 0 {
		list = append(list, "accelerators: a data sheet's GB of memory are GiB; a driver takes up to 1 % of it, and error correction a sixteenth of GDDR")
	}
	return append(list, fmt.Sprintf("overhead: %s bytes for context, libraries and fragmentation, beside the total", grouped(p.Overhead)))
}

// computedIn is the dtype of activations: 16 bits for weights of fewer.
func (p *planned) computedIn() string {
	if p.DType.Bytes.Cmp(big.NewRat(2, 1)) < 0 {
		return "bf16"
	}
	return p.DType.Name
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

// prefilled says what passes of a prefill are, and what of them gets logits.
func (p *planned) prefilled() string {
	pass, taken := "a forward pass", "sequences"
	if Decodes(p.model) {
		pass = "a prefill"
	}
	if p.model.OnlyImages() {
		taken = "images"
	}
	if batch, seq := p.pass(); batch != p.Batch || seq != p.Seq {
		pass += fmt.Sprintf(" by %d tokens", seq)
	} else {
		pass += " of all " + taken + " at once"
	}
	if of := p.live.Logits; of != "" {
		pass += ", logits of " + of
	}
	return pass
}
