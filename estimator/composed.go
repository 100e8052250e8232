package estimator

import (
	"slices"
	"strconv"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// inner is how a description comes by those of the models within it. It goes
// through a pointer, since the list of descriptions cannot refer to itself.
type inner struct {
	lookup  func(modelType string) (Arch, bool)
	unknown string // a type within that is not described
}

func newInner() *inner { return &inner{lookup: Lookup} }

// part returns the config of a field. A tower's symbols are marked: Dv is the
// width of the one in vision_config.
func (c *Config) part(field string) *Config {
	sub := c.Sub(field)
	if sub == nil {
		c.Fault(field, "missing")
		sub, _ = hfconfig.New([]byte("{}"), "")
	}
	mark := ""
	if field != "text_config" {
		mark = field[:1]
	}
	part := newPart(sub, "Model", mark)
	part.inner = c.inner
	return part
}

// partAs returns the config of a field whose type the outer class fixes, whatever
// the field says of it.
func (c *Config) partAs(field, modelType string) *Config {
	part := c.part(field)
	typed := newPart(part.As(modelType), "Model", part.mark)
	typed.inner = c.inner
	return typed
}

// textOr returns the language model's config: text_config, or the file itself
// where it is an older one that has no such field.
func (c *Config) textOr(modelType string) *Config {
	if c.Given("text_config") {
		return c.partAs("text_config", modelType)
	}
	text := newPart(c.As(modelType), "Model", "")
	text.inner = c.inner
	return text
}

// within returns the config of a field and the model that it describes, as the
// base class of its type has it.
func (c *Config) within(field string) (*Config, Model) {
	part := c.part(field)
	arch, ok := c.inner.lookup(part.ModelType())
	if !ok {
		c.inner.unknown = part.ModelType()
		return part, Model{}
	}
	return part, arch.Describe(part)
}

// languageModel is a model around the language model of a field: its body under
// the name, and what else there is. The head is the language model's, tied where
// the outer config says so.
func (c *Config) languageModel(field, prefix, name, head string, others func(text *Config) []Block) Model {
	text, inner := c.within(field)
	model := Model{Prefix: prefix, N: inner.N, D: inner.D, V: inner.V}
	model.Body = append(others(text), Module(name, NoRole, inner.Body...))
	if c.Task != BaseModel {
		embedding := join(prefix, name+".embed_tokens.weight")
		model.Head = []Block{Linear(head, text.D, text.V).On(PerLogit).TiedTo(embedding, c.tied()).As(Head)}
	}
	return model
}

// idle marks a block that is stored and does not run.
func (b Block) idle() Block {
	b.Idle = true
	return b
}

// flat names the tensors of a linear that are members of the module around it.
func (b Block) flat(weight, bias string) Block {
	b.Name, b.Params = "", slices.Clone(b.Params)
	for i := range b.Params {
		b.Params[i].Name = weight
		if b.Params[i].Bias {
			b.Params[i].Name = bias
		}
	}
	return b
}

func numbered(name string, i int) string { return name + "." + strconv.Itoa(i) }

// tower marks a module as one beside the language model: it runs on the tokens
// of its own input.
func (b Block) tower(name string) Block { return b.Throughout(PerMemory).InTower(name) }

// encoderScores are those of a tower's attention, which keeps no cache.
func (c *Config) encoderScores() Scores {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected, scores.Memory = true, true
	return scores
}
