package main

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/report"
)

// trainFlags are the flags of the train command.
type trainFlags struct {
	tokens, measured count
	gpu, dtype       string
	products         string // dtype of which the accelerator's peak is
	devices          float64
	efficiency       float64
	rate             float64
	peak             float64
	rule             string
	seq              length
	explain          bool
}

func newTrain(s *settings) *cobra.Command {
	var t trainFlags
	var shape shapeFlags
	cmd := &cobra.Command{
		Use:   "train MODEL|CONFIG",
		Short: "What a training run takes: FLOPs, time, price; or the utilisation of a measured one",
		Example: "  hf-inspect train Llama-2-7b --tokens 1T --devices 1000 --gpu A100 --efficiency 0.35 --rate 1.5\n" +
			"  hf-inspect train Llama-2-7b --tokens 1e12 --devices 1000 --gpu A100 --tokens-per-second 3.2e6\n" +
			"  hf-inspect train --d 4096 --layers 32 --heads 32 --ff 11008 --vocab 32000 --tokens 300B",
		Args: shape.orModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.train(cmd, shape.names(args)[0], &t, &shape)
		},
	}
	f := cmd.Flags()
	f.Var(&t.tokens, "tokens", "training tokens, such as 1.4e12 or 300B (default: compute-optimal)")
	f.StringVar(&t.gpu, "gpu", "", "accelerator, such as H100-SXM")
	f.StringVar(&t.dtype, "dtype", "bf16", "dtype of the matrix products: fp32, bf16, fp8")
	f.Float64Var(&t.devices, "devices", 1, "number of accelerators")
	f.Float64Var(&t.efficiency, "efficiency", 0.4, "share of the peak that the training FLOPs reach")
	f.Float64Var(&t.peak, "peak", 0, "peak of a device in TFLOP/s, instead of the table's")
	f.Float64Var(&t.rate, "rate", 0, "price of a device-hour, in any currency")
	f.Var(&t.measured, "tokens-per-second", "measured speed of all devices: gives the MFU")
	f.StringVar(&t.rule, "rule", "6PT", "FLOPs by: 6PT, exact (three forward passes), recompute (exact, layers recomputed)")
	f.Var(&t.seq, "seq", "tokens of a sequence (default 4096, or the config's positions if fewer)")
	addExplain(f, &t.explain)
	shape.add(f)
	return cmd
}

func (s *settings) train(cmd *cobra.Command, name string, t *trainFlags, shape *shapeFlags) error {
	budget, err := t.budget()
	if err != nil {
		return usageError{err}
	}
	e, err := s.estimateOr(cmd, name, shape)
	if err != nil {
		return err
	}
	seq := int64(t.seq)
	if seq == 0 {
		seq = usualSeq(e.Described, usualTokens)
	}
	t.describe(&budget, e, seq)
	run, err := cost.Train(budget)
	if err != nil {
		return usageError{err}
	}
	run.Assumptions = cost.BeyondPositions(e.Described, seq)
	s.note(cmd, 1, func(int) (string, []string) { return e.Source.Location, run.Assumptions })
	return report.Training(cmd.OutOrStdout(), s.format, report.ModelTraining{SchemaVersion: e.SchemaVersion, Model: e.Source.Location,
		Architecture: e.Model.Architecture, Device: t.gpu, Products: t.products, Training: run}, s.style(cmd.OutOrStdout()), t.explain)
}

func (t *trainFlags) budget() (cost.Budget, error) {
	b := cost.Budget{Devices: t.devices, Efficiency: t.efficiency, Rate: t.rate, Tokens: t.tokens.n, Measured: t.measured.n}
	if t.devices <= 0 || t.rate < 0 || t.seq < 0 || t.peak < 0 {
		return b, errors.New("--devices, --rate, --peak and --seq cannot be negative, and --devices not 0")
	}
	switch {
	case t.peak > 0:
		b.Peak = t.peak * 1e12
	case t.gpu != "":
		device, err := cost.FindAccelerator(t.gpu)
		if err != nil {
			return b, err
		}
		t.gpu, t.products = device.Name, device.Products(t.dtype)
		if b.Peak, err = device.Peak(t.dtype); err != nil {
			return b, err
		}
	}
	if b.Measured > 0 && b.Peak == 0 {
		return b, errors.New("an MFU needs --gpu or --peak")
	}
	if t.rule != "6PT" && t.rule != "exact" && t.rule != "recompute" {
		return b, fmt.Errorf("--rule is %q, want 6PT, exact or recompute", t.rule)
	}
	return b, nil
}

// describe adds what the model says to the budget.
func (t *trainFlags) describe(b *cost.Budget, e *inspect.Estimate, seq int64) {
	b.Parameters, b.Total = *e.Counts.ActiveParameters, *e.Counts.UniqueParameters
	b.Encoder = !cost.Decodes(e.Described)
	b.MFUAToken = cost.PaLM(e.Described, seq)
	if t.rule != "6PT" {
		f := cost.ForwardFLOPs(e.Described, estimator.Pass{Batch: 1, Seq: seq, EncoderSeq: seq}, cost.Options{Recompute: t.rule == "recompute"})
		b.FLOPsAToken = perToken(f.Training, seq)
		b.Rule = fmt.Sprintf("exact matrix products of a training step of %d tokens", seq)
		if t.rule == "recompute" {
			b.Rule += ", layers computed again"
		}
	}
}

func perToken(flops *big.Int, tokens int64) float64 {
	f, _ := new(big.Rat).SetFrac(flops, big.NewInt(tokens)).Float64()
	return f
}
