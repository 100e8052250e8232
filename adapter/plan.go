package adapter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Kind says what a tensor of an adapter is.
type Kind string

// The kinds that are not the method's own matrices. Those are named for the
// ends of their names: lora_A, hada_w1_a, boft_R.
const (
	SavedModule Kind = "saved_module"      // a module of the base, trained and stored whole
	BaseCopy    Kind = "base_copy"         // a tensor of the base that the adapter did not train
	TiedCopy    Kind = "tied_copy"         // a second copy of a saved module
	Projection  Kind = "shared_projection" // random matrices that all layers share
	Bias        Kind = "bias"              // a bias of the base, trained
	TokenRows   Kind = "token_rows"        // rows of an embedding, trained
	Prompt      Kind = "prompt"            // virtual tokens
)

// Counted reports whether tensors of the kind are the adapter's own parameters.
func (k Kind) Counted() bool { return k != BaseCopy && k != TiedCopy && k != Projection }

// Tensor is a tensor that an adapter's file holds.
type Tensor struct {
	estimator.Tensor
	Kind     Kind
	Also     []int64 // another shape that the same config gives, nil for none
	AnyRows  bool    // the config does not tell the first dimension
	Optional bool    // files of the method are seen without it
}

// Plan is what an adapter's file holds under its config and its base.
type Plan struct {
	Tensors   []Tensor
	Trainable int64    // parameters that training changes
	Modules   int64    // modules of the base that carry an adapter
	Names     []string // their last names, each once
	Ranks     []int64  // each once, lowest first
	Layers    estimator.Indices
}

// ErrNoBase says that the layout depends on the base model, which is not known.
var ErrNoBase = errors.New("the base model is not known")

// MethodError says that the method's layout is not described.
type MethodError struct{ Method string }

func (e *MethodError) Error() string {
	return fmt.Sprintf("adapter method %q is not described", e.Method)
}

// SizeError says that a method cannot be put on a module.
type SizeError struct{ Module, Reason string }

func (e *SizeError) Error() string { return e.Module + ": " + e.Reason }

// mostModules bounds what is unfolded: each module's name is held against the
// config's patterns.
const mostModules = 1 << 18

// mostFeatures bounds sizes that are searched for divisors, and ranks.
const mostFeatures = 1 << 24

// Describe predicts the tensors of an adapter. The base may be nil for methods
// that train virtual tokens only.
func Describe(config *hfconfig.Adapter, base *estimator.Model) (*Plan, error) {
	p := &planner{config: config, plan: &Plan{}}
	if config.IsPrompt() && config.Method != "ADAPTION_PROMPT" {
		if err := p.prompts(); err != nil {
			return nil, err
		}
		return p.finish(), nil
	}
	if !slices.Contains(Methods(), config.Method) {
		return nil, &MethodError{config.Method}
	}
	if base == nil {
		return nil, ErrNoBase
	}
	if err := p.unfold(base); err != nil {
		return nil, err
	}
	if err := p.adapt(); err != nil {
		return nil, err
	}
	return p.finish(), nil
}

// Stored returns the elements of the whole file.
func (p *Plan) Stored() int64 { return p.sum(func(Kind) bool { return true }) }

// Own returns the elements that are the adapter's own: without copies of the
// base and without shared projections.
func (p *Plan) Own() int64 { return p.sum(Kind.Counted) }

func (p *Plan) sum(of func(Kind) bool) int64 {
	var n int64
	for i := range p.Tensors {
		if t := &p.Tensors[i]; of(t.Kind) && !t.Optional {
			n += t.Elements()
		}
	}
	return n
}

// Prefix is what peft puts before the names of the base's modules.
func Prefix(config *hfconfig.Adapter) string {
	if config.IsPrompt() && config.Method != "ADAPTION_PROMPT" {
		return "base_model."
	}
	return "base_model.model."
}
