package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/report"
)

// kvFlags are the flags of the kv command.
type kvFlags struct {
	batch, seq []int64
	encoder    int64
	block      int64
	dtype      string
	convention string
	mla        string
	window     string
	explain    bool
}

func (k *kvFlags) options() (cost.KVOptions, error) {
	for _, c := range []struct{ flag, value, a, b string }{
		{"convention", k.convention, "engine", "library"},
		{"mla", k.mla, "latent", "expanded"},
		{"window", k.window, "capped", "reserved"},
	} {
		if c.value != c.a && c.value != c.b {
			return cost.KVOptions{}, usageError{fmt.Errorf("--%s is %q, want %s or %s", c.flag, c.value, c.a, c.b)}
		}
	}
	for _, list := range [][]int64{k.batch, k.seq} {
		for _, n := range list {
			if n < 0 {
				return cost.KVOptions{}, usageError{errors.New("--batch and --seq cannot be negative")}
			}
		}
	}
	if k.block < 0 || k.encoder < 0 {
		return cost.KVOptions{}, usageError{errors.New("--block and --encoder-seq cannot be negative")}
	}
	return cost.KVOptions{Library: k.convention == "library", Expanded: k.mla == "expanded", Reserved: k.window == "reserved", Block: k.block}, nil
}

func newKV(s *settings) *cobra.Command {
	var k kvFlags
	var shape shapeFlags
	cmd := &cobra.Command{
		Use:     "kv MODEL|CONFIG...",
		Short:   "Bytes that a model keeps between the steps of a generation",
		Example: "  hf-inspect kv Llama-3.1-8B --seq 8192,131072 --dtype bf16,fp8\n  hf-inspect kv DeepSeek-V3 --mla expanded",
		Args:    shape.orModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return err
			}
			opts, err := k.options()
			if err != nil {
				return err
			}
			return s.kv(cmd, args, &k, opts, &shape)
		},
	}
	f := cmd.Flags()
	f.Int64SliceVar(&k.batch, "batch", []int64{1}, "sequences; a list gives a table")
	f.Int64SliceVar(&k.seq, "seq", []int64{8192}, "cached tokens of each sequence; a list gives a table")
	f.Int64Var(&k.encoder, "encoder-seq", 0, "encoder tokens that cross-attention keeps (default: as --seq)")
	f.StringVar(&k.dtype, "dtype", "bf16", "dtype of the cache: fp32, fp16, bf16, fp8, int8, int4; a list gives a table")
	f.StringVar(&k.convention, "convention", "engine", "whose cache: engine, library")
	f.StringVar(&k.mla, "mla", "latent", "latent attention: latent, expanded")
	f.StringVar(&k.window, "window", "capped", "sliding windows: capped, reserved")
	f.Int64Var(&k.block, "block", 0, "tokens of a block of a paged cache")
	f.BoolVar(&k.explain, "explain", false, "show each figure's formula, its numbers and its result")
	shape.add(f)
	return cmd
}

func (s *settings) kv(cmd *cobra.Command, models []string, k *kvFlags, opts cost.KVOptions, shape *shapeFlags) error {
	dtypes, err := cost.ParseElementTypes(k.dtype)
	if err != nil {
		return usageError{err}
	}
	var all []report.ModelKV
	for _, name := range shape.names(models) {
		e, err := s.estimateOr(cmd, name, shape)
		if err != nil {
			return err
		}
		for _, dtype := range dtypes {
			for _, batch := range k.batch {
				for _, seq := range k.seq {
					encoder := k.encoder
					if encoder == 0 {
						encoder = seq
					}
					all = append(all, report.ModelKV{SchemaVersion: e.SchemaVersion, Model: e.Source.Location, Architecture: e.Model.Architecture,
						KV: cost.KVCache(e.Described, batch, seq, encoder, dtype, opts)})
				}
			}
		}
	}
	return report.KVCaches(cmd.OutOrStdout(), s.format, all, s.style(cmd.OutOrStdout()), k.explain)
}
