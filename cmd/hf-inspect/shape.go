package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/shape"
)

// shapeFlags describe a model by its sizes instead of a config.
type shapeFlags struct {
	sizes shape.Sizes
	tied  string
	gated bool
	set   *pflag.FlagSet
}

// sizeFlags are the names of the flags, in the order in which they are shown.
func (f *shapeFlags) sizeFlags() []struct {
	name, usage string
	value       *int64
} {
	s := &f.sizes
	return []struct {
		name, usage string
		value       *int64
	}{
		{"d", "hidden size", &s.Hidden},
		{"layers", "layers", &s.Layers},
		{"heads", "query heads", &s.Heads},
		{"kv-heads", "key and value heads (default: as many)", &s.KVHeads},
		{"head-dim", "features of a head (default: d / heads)", &s.HeadDim},
		{"ff", "feed-forward width (default: 4d, with a gate 8d/3 rounded up to 256)", &s.Width},
		{"vocab", "vocabulary", &s.Vocabulary},
		{"positions", "longest sequence; a table of positions in kind gpt2", &s.Positions},
		{"sliding-window", "tokens that attention sees", &s.Window},
		{"experts", "routed experts of a layer", &s.Experts},
		{"top-k", "experts that run for a token", &s.Used},
		{"expert-ff", "width of an expert (default: as --ff)", &s.ExpertWidth},
		{"shared-experts", "experts that always run", &s.SharedExperts},
		{"dense-layers", "first layers without experts", &s.DenseLayers},
		{"q-rank", "width of the queries' latent", &s.QueryRank},
		{"kv-rank", "width of the keys' and values' latent", &s.KVRank},
		{"rope-dim", "rotated features of a head, with a latent", &s.Rope},
		{"nope-dim", "other features of a head's keys, with a latent", &s.Nope},
		{"value-dim", "features of a head's values, with a latent", &s.Value},
	}
}

func (f *shapeFlags) add(flags *pflag.FlagSet) {
	f.set = flags
	for _, size := range f.sizeFlags() {
		flags.Int64Var(size.value, size.name, 0, size.usage)
	}
	flags.StringVar(&f.sizes.Kind, "kind", "", strings.Join(shape.Kinds, ", ")+" (default: "+shape.KindRule+")")
	flags.StringVar(&f.tied, "tied", "", "one matrix for embedding and head, yes or no (default: as the kind)")
	flags.BoolVar(&f.gated, "gated", false, "three matrices in a feed-forward block")
	flags.BoolVar(&f.sizes.Ungated, "ungated", false, "two matrices, without biases and positions")
	flags.BoolVar(&f.sizes.Bias, "attention-bias", false, "biases in the projections of attention")
}

// given reports whether a model is described by flags.
func (f *shapeFlags) given() bool {
	for _, size := range f.sizeFlags() {
		if f.set.Changed(size.name) {
			return true
		}
	}
	return false
}

// orModels wants a shape or models, not both.
func (f *shapeFlags) orModels(cmd *cobra.Command, args []string) error {
	switch {
	case f.given() && len(args) > 0:
		return usageError{errors.New("name a MODEL or give its sizes, not both")}
	case f.given():
		return f.complete()
	}
	return atLeastOne(cmd, args)
}

// orModel wants a shape or one model.
func (f *shapeFlags) orModel(cmd *cobra.Command, args []string) error {
	if f.given() {
		return f.orModels(cmd, args)
	}
	return exactlyOne(cmd, args)
}

// complete reads the flags that are no sizes.
func (f *shapeFlags) complete() error {
	switch f.tied {
	case "":
	case "yes", "no":
		tied := f.tied == "yes"
		f.sizes.Tied = &tied
	default:
		return usageError{fmt.Errorf("--tied is %q, want yes or no", f.tied)}
	}
	if f.gated && f.sizes.Ungated {
		return usageError{errors.New("--gated and --ungated contradict each other")}
	}
	if f.gated && f.sizes.Kind == "" && f.sizes.Experts == 0 && f.sizes.KVRank == 0 {
		f.sizes.Kind = "llama"
	}
	return nil
}

// names are the models, or a name for the shape.
func (f *shapeFlags) names(models []string) []string {
	if !f.given() {
		return models
	}
	var parts []string
	for _, size := range f.sizeFlags() {
		if f.set.Changed(size.name) {
			parts = append(parts, fmt.Sprintf("%s %d", size.name, *size.value))
		}
	}
	return []string{strings.Join(append(parts, "kind "+f.sizes.Implied()), ", ")}
}

// estimateOr estimates a model, or what the flags describe.
func (s *settings) estimateOr(cmd *cobra.Command, name string, f *shapeFlags) (*inspect.Estimate, error) {
	if !f.given() {
		return s.estimate(cmd, name)
	}
	data, err := f.sizes.Config()
	if err != nil {
		return nil, usageError{err}
	}
	return inspect.EstimateJSON(name, data, inspect.Options{Class: s.class})
}
