package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/report"
)

// kvFlags are the flags of the kv command.
type kvFlags struct {
	batch, seq lengths
	encoder    length
	images     imageFlags
	block      length
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
	for _, list := range []lengths{k.batch, k.seq} {
		for _, n := range list {
			if n < 0 {
				return cost.KVOptions{}, usageError{errors.New("--batch and --seq cannot be negative")}
			}
		}
	}
	if k.block < 0 || k.encoder < 0 {
		return cost.KVOptions{}, usageError{errors.New("--block and --encoder-seq cannot be negative")}
	}
	return cost.KVOptions{Library: k.convention == "library", Expanded: k.mla == "expanded", Reserved: k.window == "reserved", Block: int64(k.block)}, nil
}

func newKV(s *settings) *cobra.Command {
	var k kvFlags
	var shape shapeFlags
	cmd := &cobra.Command{
		Use:   "kv MODEL|CONFIG...",
		Short: "Bytes that a model keeps between the steps of a generation",
		Example: "  hf-inspect kv Llama-3.1-8B --seq 8Ki,128Ki --dtype bf16,fp8\n  hf-inspect kv DeepSeek-V3 --mla expanded\n" +
			"  hf-inspect kv --d 4096 --layers 32 --heads 32 --kv-heads 8 --vocab 128256",
		Args: shape.orModels,
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
	k.batch = lengths{1}
	f.Var(&k.batch, "batch", "sequences; a list gives a table")
	f.Var(&k.seq, "seq", "cached tokens of each sequence; a list gives a table (default 4096, or the config's positions if fewer)")
	f.Var(&k.encoder, "encoder-seq", "encoder tokens that cross-attention keeps (default: as --seq)")
	k.images.add(f)
	f.StringVar(&k.dtype, "dtype", "bf16", "dtype of the cache: fp32, fp16, bf16, fp8, int8, int4; a list gives a table")
	k.addStorage(f)
	addExplain(f, &k.explain)
	shape.add(f)
	return cmd
}

// addStorage adds the flags that say whose cache is meant.
func (k *kvFlags) addStorage(f *pflag.FlagSet) {
	f.StringVar(&k.convention, "convention", "engine", "whose cache: engine, library")
	f.StringVar(&k.mla, "mla", "latent", "latent attention: latent, expanded")
	f.StringVar(&k.window, "window", "capped", "sliding windows: capped, reserved")
	f.Var(&k.block, "block", "tokens of a block of a paged cache")
}

func (s *settings) kv(cmd *cobra.Command, models []string, k *kvFlags, opts cost.KVOptions, shape *shapeFlags) error {
	dtypes, err := cost.ParseElementTypes(k.dtype)
	if err != nil {
		return usageError{err}
	}
	sight, err := k.images.sight()
	if err != nil {
		return err
	}
	var all []report.ModelKV
	for _, name := range shape.names(models) {
		e, err := s.estimateOr(cmd, name, shape)
		if err != nil {
			return err
		}
		for _, dtype := range dtypes {
			for _, batch := range k.batch {
				for _, seq := range k.seq.or(usualSeq(e.Described, usualTokens)) {
					pass := estimator.Pass{Batch: batch, Seq: seq, EncoderSeq: encoderSeq(e.Described, k.encoder, seq), Sight: sight}
					if err := e.Described.Check(pass); err != nil {
						return usageError{fmt.Errorf("%s: %w", name, err)}
					}
					all = append(all, report.ModelKV{SchemaVersion: e.SchemaVersion, Model: e.Source.Location, Architecture: e.Model.Architecture,
						KV: cost.KVCache(e.Described, batch, seq, e.Described.EncoderTokens(pass), dtype, opts)})
				}
			}
		}
	}
	s.note(cmd, len(all), func(i int) (string, []string) { return all[i].Model, all[i].Assumptions })
	return report.KVCaches(cmd.OutOrStdout(), s.format, all, s.style(cmd.OutOrStdout()), k.explain)
}
