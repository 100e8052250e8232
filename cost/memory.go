package cost

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Memory is what a model takes on one device of those that it is shared out
// over; without parallelism that is the whole. A null figure does not exist in
// the mode.
type Memory struct {
	Mode  string `json:"mode"` // inference, training
	Batch int64  `json:"batch"`
	Seq   int64  `json:"seq"`
	Shown
	DType   string `json:"dtype"`
	KVDType string `json:"kv_dtype,omitempty"`

	Quantization string `json:"quantization,omitempty"` // format of the layers' matrices

	Positions  int64    `json:"positions,omitempty"`  // that the config allows; 0: it names no limit
	Parameters int64    `json:"parameters"`           // unique, of the whole model
	Trainable  *big.Int `json:"trainable_parameters"` // of the whole model; null for inference

	Weights     *big.Int `json:"weights_bytes"` // that are loaded
	KV          *big.Int `json:"kv_bytes"`
	Activations *big.Int `json:"activations_bytes"`
	Recomputed  *big.Int `json:"recomputed_layer_bytes"` // the layer that is just computed again
	Gradients   *big.Int `json:"gradients_bytes"`
	Optimizer   *big.Int `json:"optimizer_bytes"` // states, and 32-bit weights where they are kept
	Master      *big.Int `json:"master_weights_bytes"`
	Total       *big.Int `json:"total_bytes"`    // of the figures above; master weights are in the optimizer's
	Overhead    *big.Int `json:"overhead_bytes"` // an assumption, not in the total

	NotLoaded []NotLoaded `json:"not_loaded,omitempty"` // stored, and in no figure

	Devices  int64     `json:"devices"` // all figures are of one of these
	Parallel *Parallel `json:"parallel,omitempty"`

	ActivationParts   []ActivationPart `json:"activation_parts,omitempty"`
	ActivationFormula string           `json:"activations_formula,omitempty"`
	Korthikanti       *KorthikantiSum  `json:"korthikanti,omitempty"`

	Formulas    []Formula `json:"formulas"`
	Fits        []Fit     `json:"fits,omitempty"`
	Assumptions []string  `json:"assumptions"`
}

// NotLoaded are tensors of a checkpoint that the model's class does not load.
type NotLoaded struct {
	What  string   `json:"what"` // such as prediction layers
	Bytes *big.Int `json:"bytes"`
}

// MemoryPlan is the question.
type MemoryPlan struct {
	Train      bool
	Batch, Seq int64 // of a device: sequences of a micro-batch, tokens of each
	EncoderSeq int64
	estimator.Sight
	Chunk int64       // tokens of a prefill's pass at most; 0: all at once
	DType ElementType // of weights and activations

	Stored   *big.Int      // what is loaded of a checkpoint, in its dtypes, in place of parameters · dtype
	Beside   []NotLoaded   // what that checkpoint holds besides
	Format   *WeightFormat // of matrices; nil: as everything else
	KVType   ElementType
	KV       KVOptions
	Kernel   estimator.Kernel
	Overhead *big.Int

	Dropout       bool
	MaskBytes     int64 // 0: one
	Recompute     estimator.Recompute
	Optimizer     Optimizer
	Master        bool  // weights in 32 bits beside those of 16
	GradientBytes int64 // 0: as the weights
	LoRA          int64 // rank; 0: all parameters are trained
	LoRAAttention bool  // beside attention's matrices only
	Parallel      Parallel
	Accelerators  []Accelerator
}

func (plan *MemoryPlan) pass() estimator.Pass {
	return estimator.Pass{Batch: plan.Batch, Seq: plan.Seq, EncoderSeq: plan.EncoderSeq, Sight: plan.Sight}
}

// MemoryOf answers a plan.
func MemoryOf(m *estimator.Model, plan MemoryPlan) (*Memory, error) {
	if plan.Batch < 1 || plan.Seq < 1 {
		return nil, errors.New("batch and sequence count from 1")
	}
	pass := plan.pass()
	if err := m.Check(pass); err != nil {
		return nil, err
	}
	if m.OnlyImages() {
		pass = m.Seen(pass)
		plan.Batch, plan.Seq, plan.Images = pass.Batch, pass.Seq, pass.Images
	}
	plan.EncoderSeq = m.EncoderTokens(pass)
	if width := plan.DType.Bytes; plan.Train && (!width.IsInt() || width.Num().Int64() < 2) {
		return nil, fmt.Errorf("training computes in fp32, bf16 or fp16, not %s", plan.DType.Name)
	}
	if err := plan.Parallel.check(); err != nil {
		return nil, err
	}
	if err := plan.Parallel.sharesHeads(m); err != nil {
		return nil, err
	}
	if plan.Overhead == nil {
		plan.Overhead = new(big.Int)
	}
	if plan.MaskBytes == 0 {
		plan.MaskBytes = 1
	}
	p := newPlanned(m, plan)
	mem := p.memory()
	for _, a := range plan.Accelerators {
		fit := p.fit(a, mem)
		mem.Fits = append(mem.Fits, fit)
		mem.Formulas = append(mem.Formulas, p.explainFit(a, &fit, mem)...)
		if note := a.otherProducts(p.computedIn()); fit.Speed != nil && note != "" {
			mem.Assumptions = append(mem.Assumptions, note)
		}
	}
	return mem, nil
}

// planned is a plan with what all its answers need.
type planned struct {
	MemoryPlan
	model   *estimator.Model
	params  []parameter
	counts  estimator.Counts
	layers  int64
	share   func(*parameter) *big.Rat
	headful bool // the last stage is the fuller one
	live    live // of a prefill, once it was asked for
}

func newPlanned(m *estimator.Model, plan MemoryPlan) *planned {
	p := &planned{MemoryPlan: plan, model: m, params: parametersOf(m), counts: estimator.Count(m.Tensors()), layers: depth(m)}
	p.headful = heavyHead(p.params)
	p.share = p.Parallel.parameterShare(p.layers, p.headful)
	return p
}

func (p *planned) memory() *Memory {
	mem := &Memory{Mode: "inference", Batch: p.Batch, Seq: p.Seq, Shown: shown(p.model, p.MemoryPlan.pass()), DType: p.DType.Name, Positions: p.model.Positions, Parameters: p.counts.Unique,
		Overhead: p.Overhead, Devices: p.Parallel.Devices(), NotLoaded: p.Beside}
	if p.Format != nil {
		mem.Quantization = p.Format.Name
	}
	if mem.Devices > 1 {
		mem.Parallel = &p.Parallel
	}
	mem.Weights = p.weights()
	if p.Train {
		mem.Mode = "training"
		p.training(mem)
	} else {
		p.inference(mem)
	}
	mem.Total = mem.sum()
	mem.Formulas, mem.Assumptions = p.explain(mem), p.assumptions(mem)
	return mem
}

// MemoryPart is a figure of the total.
type MemoryPart struct {
	Name  string
	Bytes *big.Int
}

// Parts lists the figures that make up the total, in the order in which they are
// printed.
func (mem *Memory) Parts() []MemoryPart {
	all := []MemoryPart{{"weights", mem.Weights}, {"KV cache", mem.KV}, {"activations", mem.Activations}, {"layer computed again", mem.Recomputed},
		{"gradients", mem.Gradients}, {"optimizer", mem.Optimizer}}
	return slices.DeleteFunc(all, func(p MemoryPart) bool { return p.Bytes == nil })
}

func (mem *Memory) sum() *big.Int {
	total := new(big.Int)
	for _, part := range mem.Parts() {
		total.Add(total, part.Bytes)
	}
	return total
}

// weights are the parameters on the device, shared out further by ZeRO's third
// stage.
func (p *planned) weights() *big.Int {
	share := p.share
	if p.Train && p.Parallel.Zero >= 3 {
		share = p.sharded
	}
	if p.Stored == nil {
		return ceil(weightBytes(p.params, p.DType.Bytes, p.Format, share))
	}
	here := weightBytes(p.params, big.NewRat(1, 1), nil, share)
	here.Mul(here, new(big.Rat).SetInt(p.Stored))
	return ceil(here.Quo(here, new(big.Rat).SetInt(sumElements(p.params, nil))))
}

func (p *planned) sharded(t *parameter) *big.Rat {
	return new(big.Rat).Mul(p.share(t), p.Parallel.shards(t))
}
