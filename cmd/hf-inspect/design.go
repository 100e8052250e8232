package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
	"github.com/hf-inspect/hf-inspect/shape"
)

// designFlags are the flags of the design command.
type designFlags struct {
	params, budget count
	memory         size
	overhead       size
	gpu            string
	dtype          string
	batch, seq     length
	show           int64
	wish           shape.Wish
	training       bool
	explain        bool
}

func newDesign(s *settings) *cobra.Command {
	var d designFlags
	var sizes shapeFlags
	cmd := &cobra.Command{
		Use:   "design",
		Short: "Shapes that meet a number of parameters, a memory or a training budget",
		Example: "  hf-inspect design --params 7B --vocab 32000 --head-dim 128 --gqa 4\n" +
			"  hf-inspect design --gpu A100-80GB --vocab 128256 --kind llama --multiple 8\n" +
			"  hf-inspect design --memory 24GiB --train --vocab 50257\n" +
			"  hf-inspect design --flops 1e22 --vocab 50257 --kind gpt2",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if err := sizes.complete(); err != nil {
				return err
			}
			d.wish.Sizes = sizes.sizes
			return s.design(cmd, &d)
		},
	}
	f := cmd.Flags()
	f.Var(&d.params, "params", "parameters to aim at, such as 7B")
	f.Var(&d.memory, "memory", "what inference may take in all (with --train: a training step), such as 24GB or 24GiB")
	f.StringVar(&d.gpu, "gpu", "", "accelerator whose memory is that limit")
	_ = d.overhead.Set("1GB")
	f.Var(&d.overhead, "overhead", "of that limit, context and fragmentation: an assumption")
	f.Var(&d.budget, "flops", "training FLOPs, spent compute-optimally: 6·P·20P")
	f.BoolVar(&d.training, "train", false, "the memory is for training: 16 bytes a parameter, and activations")
	f.StringVar(&d.dtype, "dtype", "bf16", "dtype of weights and cache")
	d.batch = 1
	f.Var(&d.batch, "batch", "sequences, for FLOPs, cache and memory")
	f.Var(&d.seq, "seq", "tokens of each (default 4096, or --positions if fewer)")
	f.Int64Var(&d.show, "show", 8, "how many shapes")
	f.Int64Var(&d.wish.GQA, "gqa", 1, "query heads a key and value head")
	f.Float64Var(&d.wish.Aspect, "aspect", 100, "hidden size a layer to aim at")
	f.Float64Var(&d.wish.Width, "ff-ratio", 0, "feed-forward width by hidden size (default: as the kind)")
	f.Int64Var(&d.wish.Multiple, "multiple", 1, "heads and widths are multiples of this, for tensor parallelism")
	f.Float64Var(&d.wish.Tolerance, "tolerance", 0.05, "largest distance from the target, as a share")
	addExplain(f, &d.explain)
	sizes.add(f)
	return cmd
}

// target turns what was asked for into a number of parameters, or into a memory
// to fit in, and says how.
func (d *designFlags) target(dtype cost.ElementType) (report.DesignTarget, *shape.Limit, error) {
	given := 0
	for _, isGiven := range []bool{d.params.n > 0, d.memory.bytes != nil, d.gpu != "", d.budget.n > 0} {
		if isGiven {
			given++
		}
	}
	switch {
	case given != 1:
		return report.DesignTarget{}, nil, errors.New("give one of --params, --memory, --gpu, --flops")
	case d.params.n > 0:
		return report.DesignTarget{Parameters: d.params.n, From: "as asked for"}, nil, nil
	case d.budget.n > 0:
		return report.DesignTarget{Parameters: math.Sqrt(d.budget.n / 120), From: "by 6·P·T with T = 20P", Formula: "√(FLOPs / (6 · 20))",
			Numbers: fmt.Sprintf("√(%.6g / 120)", d.budget.n)}, nil, nil
	}
	memory, of := d.memory.bytes, d.memory.text
	if d.gpu != "" {
		a, err := cost.FindAccelerator(d.gpu)
		if err != nil {
			return report.DesignTarget{}, nil, err
		}
		memory, of = a.MemoryBytes(), a.Name
	}
	each, _ := dtype.Bytes.Float64()
	from := fmt.Sprintf("what fits in %s at %g bytes each", of, each)
	if d.training {
		each, from = 16, fmt.Sprintf("what fits in %s at 16 bytes each for training: 2 of weights, 2 of gradients, 12 of AdamW with 32-bit weights", of)
	}
	room, _ := new(big.Float).SetInt(new(big.Int).Sub(memory, d.overhead.bytes)).Float64()
	limit := &shape.Limit{Bytes: room, Each: each, Needs: func(f *shape.Found) (float64, error) { return d.needs(f, dtype) }}
	return report.DesignTarget{From: from, Formula: "(memory − overhead − cache and activations) / bytes each",
		Numbers: fmt.Sprintf("(%d − %d", memory, d.overhead.bytes)}, limit, nil
}

// search lists shapes and completes the target where it follows from a memory.
func (d *designFlags) search(w shape.Wish, target *report.DesignTarget, limit *shape.Limit) ([]shape.Found, error) {
	if limit == nil {
		w.Parameters = target.Parameters
		return shape.Search(w)
	}
	found, beside, err := shape.Within(w, *limit)
	target.Parameters = (limit.Bytes - beside) / limit.Each
	target.Numbers += fmt.Sprintf(" − %.0f) / %g", beside, limit.Each)
	return found, err
}

func (s *settings) design(cmd *cobra.Command, d *designFlags) error {
	dtype, err := cost.ParseElementType(d.dtype)
	if err != nil {
		return usageError{err}
	}
	if d.batch < 1 || d.seq < 0 || d.show < 1 {
		return usageError{errors.New("--batch, --seq and --show count from 1")}
	}
	w := d.wish
	target, limit, err := d.target(dtype)
	if err != nil {
		return usageError{err}
	}
	if w.Sizes.Vocabulary == 0 {
		w.Sizes.Vocabulary = 32000
	}
	found, err := d.search(w, &target, limit)
	if err != nil {
		return usageError{err}
	}
	target.Parameters, target.Batch, target.Seq, target.DType = math.Round(target.Parameters), int64(d.batch), d.tokens(found[0].Model), dtype.Name
	out := &report.Design{SchemaVersion: inspect.SchemaVersion, Shapes: []report.DesignedShape{},
		Target: target,
		Assumptions: []string{fmt.Sprintf("vocabulary %s; rank by distance from the target + 0.1·|ln(aspect ratio / %g)|", report.Thousands(w.Sizes.Vocabulary), w.Aspect),
			"counts are exact, of a described type under the config that the JSON holds",
			"inference: weights, cache and largest live tensors; training: AdamW with 32-bit weights, fused attention, no recomputation"}}
	if limit != nil {
		out.Assumptions = append(out.Assumptions, fmt.Sprintf("overhead: %s bytes for context, libraries and fragmentation; every shape fits with it", report.Big(d.overhead.bytes)))
	}
	for i, f := range found[:min(int64(len(found)), d.show)] {
		designed, err := d.cost(f, dtype)
		if err != nil {
			return err
		}
		designed.Rank = int64(i) + 1
		if i > 0 {
			designed.Formulas = nil
		}
		out.Shapes = append(out.Shapes, designed)
	}
	return report.Designs(cmd.OutOrStdout(), s.format, out, s.style(cmd.OutOrStdout()), d.explain)
}

// tokens of each sequence.
func (d *designFlags) tokens(m *estimator.Model) int64 {
	if d.seq > 0 {
		return int64(d.seq)
	}
	return usualSeq(m, usualTokens)
}

// memoryOf is what a shape takes for inference, or for a training step.
func (d *designFlags) memoryOf(m *estimator.Model, dtype cost.ElementType, train bool) (*cost.Memory, error) {
	plan := cost.MemoryPlan{Batch: int64(d.batch), Seq: d.tokens(m), DType: dtype, KVType: dtype, Kernel: estimator.Fused, Train: train, Master: train}
	if !train {
		return cost.MemoryOf(m, plan)
	}
	var err error
	if dtype.Bytes.Cmp(big.NewRat(2, 1)) < 0 {
		if plan.DType, err = cost.ParseElementType("bf16"); err != nil {
			return nil, err
		}
	}
	if plan.Optimizer, err = cost.FindOptimizer("adamw"); err != nil {
		return nil, err
	}
	return cost.MemoryOf(m, plan)
}

// needs is what a shape takes in all of a limit, in bytes.
func (d *designFlags) needs(f *shape.Found, dtype cost.ElementType) (float64, error) {
	memory, err := d.memoryOf(f.Model, dtype, d.training)
	if err != nil {
		return 0, err
	}
	total, _ := new(big.Float).SetInt(memory.Total).Float64()
	return total, nil
}

// cost is what a shape takes.
func (d *designFlags) cost(f shape.Found, dtype cost.ElementType) (report.DesignedShape, error) {
	flops := cost.ForwardFLOPs(f.Model, estimator.Pass{Batch: int64(d.batch), Seq: d.tokens(f.Model)}, cost.Options{})
	inference, err := d.memoryOf(f.Model, dtype, false)
	if err != nil {
		return report.DesignedShape{}, err
	}
	training, err := d.memoryOf(f.Model, dtype, true)
	if err != nil {
		return report.DesignedShape{}, err
	}
	return report.DesignedShape{Found: f, Config: json.RawMessage(f.Config), ActiveParameters: estimator.Count(f.Model.Tensors()).Active,
		Forward: flops.Forward, Training: flops.Training, KV: inference.KV, Weights: inference.Weights, Inference: inference.Total,
		TrainMemory: training.Total, Formulas: shapeFormulas(f.Model, &flops, inference, training)}, nil
}

// shapeFormulas are those of a shape's costs.
func shapeFormulas(m *estimator.Model, flops *cost.FLOPs, inference, training *cost.Memory) []cost.Formula {
	list := []cost.Formula{report.ParametersFormula(m)}
	list = append(list, flops.Formulas...)
	for _, memory := range []*cost.Memory{inference, training} {
		for _, f := range memory.Formulas {
			f.Name = memory.Mode + ", " + f.Name
			list = append(list, f)
		}
	}
	return list
}
