package estimator

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Model is a described model: one architecture under one config.
type Model struct {
	Type  string // model_type
	Class string // class with its head, such as GPT2LMHeadModel

	Prefix string  // of the body's names in a checkpoint with a head: transformer, model
	Body   []Block // what the base class has
	Head   []Block // what stands beside it; names are whole

	// Sections are parts that a checkpoint may hold beside the model and that the
	// class does not load: prediction layers. They are no part of any estimate.
	Sections []Section

	// The symbols of the textbook formula; all zero where the model has no single
	// depth, width and vocabulary.
	N, D, V Size

	EncoderDecoder bool
	EncoderSeq     int64 // tokens that the encoder always sees; 0: as many as it is given

	// FLOPsByRule says that a pass may do matrix work that the blocks do not show,
	// or do it more or less often: its FLOPs were not measured.
	FLOPsByRule bool

	ImageEach bool  // an image goes with each sequence, unless a pass says otherwise
	Memory    *View // the images' tokens that cross-attention sees, one after another

	Positions int64 // that the config allows; 0: it names no limit

	Training Training
}

// Training is what the config says of training and no tensor shows.
type Training struct {
	ResidualDropout  float64 // after attention and feed-forward blocks
	AttentionDropout float64 // of attention weights
	Activation       string  // of the feed-forward blocks, as the config names it

	DropsResidual, DropsAttention bool // the class has such dropout, at whatever rate
}

// training reads it by whichever of the usual names the class has.
func training(c *hfconfig.Config) Training {
	first := func(fields ...string) (float64, bool) {
		for _, field := range fields {
			if c.Declares(field) || c.Given(field) {
				return c.Float(field, 0), true
			}
		}
		return 0, false
	}
	var t Training
	t.ResidualDropout, t.DropsResidual = first("resid_pdrop", "hidden_dropout_prob", "hidden_dropout", "residual_dropout", "dropout_rate", "dropout")
	t.AttentionDropout, t.DropsAttention = first("attn_pdrop", "attention_probs_dropout_prob", "attention_dropout", "dropout_rate")
	for _, field := range []string{"hidden_act", "activation_function", "hidden_activation", "activation", "feed_forward_proj", "dense_act_fn"} {
		if c.Value(field).Type == gjson.String {
			t.Activation = strings.TrimPrefix(c.String(field), "gated-")
			if c.String(field) == "gated-gelu" { // T5's own reading of its field
				t.Activation = "gelu_new"
			}
			break
		}
	}
	return t
}

// Section is an optional part of a checkpoint.
type Section struct {
	Name   string // such as multi_token_prediction
	Blocks []Block
	Beside bool // beside the body: names do not carry its prefix
}

// ErrNotDescribed is the error for a model type without a description.
var ErrNotDescribed = errors.New("architecture is not described")

// Describe returns the description of the config's model under the class. An
// empty class means the config's own architectures[0], else the type's default.
// A config that lacks a needed field, or holds one of the wrong type, gives an
// error that wraps *hfconfig.FieldError.
func Describe(config *hfconfig.Config, class string) (*Model, error) {
	arch, ok := Lookup(config.ModelType())
	if !ok {
		return nil, fmt.Errorf("model type %q: %w", config.ModelType(), ErrNotDescribed)
	}
	if class == "" {
		named := config.Architectures()
		if len(named) > 0 && arch.lacks(named[0]) {
			return nil, fmt.Errorf("class %s of model type %q: %w", named[0], arch.Type, ErrNotDescribed)
		}
		class = arch.class(named)
	}
	c := newConfig(config, class)
	c.inner = newInner()
	model := arch.Describe(c)
	model.Type, model.Class, model.Training = arch.Type, class, training(config)
	model.Positions = c.positions()
	if err := config.Err(); err != nil {
		return nil, err
	}
	if c.inner.unknown != "" {
		return nil, fmt.Errorf("model type %q within %q: %w", c.inner.unknown, arch.Type, ErrNotDescribed)
	}
	return &model, model.check()
}

// check finds what would make a walk over the model wrong: sizes that the config
// leaves open, and products beyond 64 bits.
func (m *Model) check() error {
	if err := unknownDepth(m.parts()); err != nil {
		return err
	}
	var missing *hfconfig.FieldError
	var over []string
	var sum Size
	m.walk(func(leaf *leaf) {
		for _, p := range leaf.block.Params {
			for _, s := range p.Shape {
				missing = cmp.Or(missing, s.missing)
			}
			total := leaf.elements(p)
			if total.over && len(over) == 0 {
				over = append(over, leaf.template(p))
			}
			sum = Size{value: sum.value, over: sum.over}.Plus(Size{value: total.value})
		}
	})
	switch {
	case missing != nil:
		return missing
	case len(over) > 0:
		return fmt.Errorf("tensor %s: number of elements is beyond 64 bits", over[0])
	case sum.over:
		return errors.New("the number of parameters is beyond 64 bits")
	}
	return tooDeep(m.parts())
}

// unknownDepth finds a stack of which the config does not tell the layers.
func unknownDepth(blocks []Block) error {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == StackKind && b.Count.missing != nil {
			return b.Count.missing
		}
		if err := unknownDepth(blocks[i].Sub); err != nil {
			return err
		}
	}
	return nil
}

// tooDeep finds a stack that asks for more layers than are described.
func tooDeep(blocks []Block) error {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == StackKind && b.Count.Int() > mostLayers {
			return fmt.Errorf("stack %s: %d layers, no model has more than %d", b.Name, b.Count.Int(), mostLayers)
		}
		if err := tooDeep(blocks[i].Sub); err != nil {
			return err
		}
	}
	return nil
}

// parts returns the trees of the model with the prefix that each one's names
// carry.
func (m *Model) parts() []Block {
	body := Block{Name: m.Prefix, Sub: m.Body}
	return append([]Block{body}, m.Head...)
}
