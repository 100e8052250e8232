package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/report"
)

// passFlags are the flags that say what is run.
type passFlags struct {
	batch, seq lengths
	past, keep length
	encoder    length
	text, shot length // batches of a contrastive model
	images     imageFlags
	attention  string
	recompute  string
	explain    bool
	gpu, dtype string
}

func (p *passFlags) check() error {
	for _, list := range []lengths{p.batch, p.seq} {
		for _, n := range list {
			if n < 1 {
				return usageError{fmt.Errorf("--batch and --seq count from 1, not %d", n)}
			}
		}
	}
	switch {
	case p.past < 0 || p.keep < 0 || p.encoder < 0 || p.text < 0 || p.shot < 0:
		return usageError{errors.New("--past, --logits-to-keep, --encoder-seq, --text-batch and --image-batch cannot be negative")}
	case p.attention != "eager" && p.attention != "fused":
		return usageError{fmt.Errorf("--attention is %q, want eager or fused", p.attention)}
	case p.recompute != "none" && p.recompute != "full":
		return usageError{fmt.Errorf("--recompute is %q, want none or full", p.recompute)}
	}
	return nil
}

func newFLOPs(s *settings) *cobra.Command {
	var p passFlags
	var shape shapeFlags
	cmd := &cobra.Command{
		Use:   "flops MODEL|CONFIG...",
		Short: "FLOPs of a forward pass, a decode step or a training step, exact and by named conventions",
		Example: "  hf-inspect flops gpt2 gpt2-medium gpt2-large gpt2-xl --seq 1024,16Ki\n" +
			"  hf-inspect flops Llama-3.1-8B --seq 1 --past 8191    # one decode step\n" +
			"  hf-inspect flops --d 1600 --layers 48 --heads 25 --vocab 50257 --gpu A100",
		Args: shape.orModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if err := p.check(); err != nil {
				return err
			}
			return s.flops(cmd, args, &p, &shape)
		},
	}
	f := cmd.Flags()
	p.batch = lengths{1}
	f.Var(&p.batch, "batch", "sequences; a list gives a table")
	f.Var(&p.seq, "seq", "new tokens of each sequence, those of images among them; a list gives a table (default 1024, or the config's positions if fewer)")
	f.Var(&p.past, "past", "cached tokens of each sequence")
	f.Var(&p.keep, "logits-to-keep", "positions that get logits; 0 is all")
	f.Var(&p.encoder, "encoder-seq", "tokens of the encoder (default: as --seq)")
	p.images.add(f)
	f.Var(&p.text, "text-batch", "texts of a model that compares them with images (default: as --batch)")
	f.Var(&p.shot, "image-batch", "images of such a model (default: as --batch)")
	f.StringVar(&p.attention, "attention", "eager", "attention kernel, for backward and training: eager, fused")
	f.StringVar(&p.recompute, "recompute", "none", "layers computed again for their backward pass: none, full")
	addExplain(f, &p.explain)
	f.StringVar(&p.gpu, "gpu", "", "accelerators whose peak bounds the time, such as A100,H100-SXM")
	f.StringVar(&p.dtype, "dtype", "bf16", "dtype of the products on them: fp32, bf16, fp16, fp8, int8")
	shape.add(f)
	return cmd
}

func (s *settings) flops(cmd *cobra.Command, models []string, p *passFlags, shape *shapeFlags) error {
	devices, err := accelerators(p.gpu)
	if err != nil {
		return usageError{err}
	}
	var all []report.ModelFLOPs
	for _, name := range shape.names(models) {
		e, err := s.estimateOr(cmd, name, shape)
		if err != nil {
			return err
		}
		passes, err := p.passes(e.Described)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, pass := range passes {
			f := cost.ForwardFLOPs(e.Described, pass, cost.Options{Fused: p.attention == "fused", Recompute: p.recompute == "full"})
			for _, device := range devices {
				bound, err := f.BoundOn(device, p.dtype)
				if err != nil {
					return usageError{err}
				}
				f.Bounds = append(f.Bounds, bound)
			}
			all = append(all, report.ModelFLOPs{SchemaVersion: e.SchemaVersion, Model: e.Source.Location, Architecture: e.Model.Architecture, FLOPs: f})
		}
	}
	s.note(cmd, len(all), func(i int) (string, []string) { return all[i].Model, all[i].Assumptions })
	return report.FLOPs(cmd.OutOrStdout(), s.format, all, s.style(cmd.OutOrStdout()), p.explain)
}

// passes are one for each batch and sequence.
func (p *passFlags) passes(m *estimator.Model) ([]estimator.Pass, error) {
	images := p.images
	if p.text > 0 || p.shot > 0 {
		if !m.ImageEach || m.OnlyImages() {
			return nil, usageError{errors.New("--text-batch and --image-batch are of models that compare texts with images")}
		}
		if p.shot > 0 && images.images > 0 {
			return nil, usageError{errors.New("--image-batch and --images say the same")}
		}
		images.images = max(images.images, p.shot)
	}
	sight, err := images.sight()
	if err != nil {
		return nil, err
	}
	var list []estimator.Pass
	for _, batch := range p.batch {
		if p.text > 0 {
			batch = int64(p.text)
		}
		for _, seq := range p.seq.or(usualSeq(m, 1024)) {
			pass := estimator.Pass{Batch: batch, Seq: seq, Past: int64(p.past), LogitsToKeep: int64(p.keep), EncoderSeq: encoderSeq(m, p.encoder, seq), Sight: sight}
			if err := m.Check(pass); err != nil {
				return nil, usageError{err}
			}
			list = append(list, pass)
		}
	}
	return list, nil
}
