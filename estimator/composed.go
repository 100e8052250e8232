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

// Layout names the parts of a composed model: the prefix of all but the base class,
// the language model below it, and the head.
type Layout struct{ Prefix, Name, Head string }

// Layouts that many families share: what version 5 of the library writes for
// models that are new to it, and what LLaVA's files have.
var (
	newLayout   = Layout{"model", "language_model", "lm_head"}
	llavaLayout = Layout{"", "language_model.model", "language_model.lm_head"}
)

// Composed is a model around a language model.
type Composed struct {
	Layout   Layout
	Text     string                     // type of the language model, where not its config's own
	Inner    func(text *Config) Model   // its description, where not that of its type
	Parts    func(text *Config) []Block // what stands before it: towers, projectors
	Renamed  map[string]string          // what modules of the language model are called otherwise
	TextTies bool                       // its own config may tie the embeddings too
	TiedBy   string                     // config field that overrules the usual one
	Untied   bool                       // never tied
	Outer    bool                       // a head of its own has the width and the vocabulary of the outer config
}

// composed describes it. The head is the language model's, tied where the outer
// config says so.
func (c *Config) composed(d Composed) Model {
	text, inner := c.language(d)
	prefix := c.under(d.Layout.Prefix)
	model := Model{Prefix: prefix, N: inner.N, D: inner.D, V: inner.V}
	model.Body = append(d.Parts(text), Module(d.Layout.Name, NoRole, renamed(inner.Body, d.Renamed)...))
	for _, section := range inner.Sections {
		if !section.Beside {
			section.Blocks = []Block{Module(d.Layout.Name, NoRole, section.Blocks...)}
		}
		model.Sections = append(model.Sections, section)
	}
	width, rows := text.D, text.V
	if d.Outer && !c.tied() {
		width, rows = c.D, c.V
	}
	model.Head = c.head(join(prefix, join(d.Layout.Name, "embed_tokens.weight")), width, Heads{Head: d.Layout.Head, Rows: rows,
		NeverTied: d.Untied, TiedBy: d.TiedBy, Tied: d.TextTies && text.BoolOr("tie_word_embeddings", false)})
	return model
}

// renamed gives modules other names, wherever they stand in the blocks.
func renamed(blocks []Block, names map[string]string) []Block {
	if len(names) == 0 {
		return blocks
	}
	blocks = slices.Clone(blocks)
	for i := range blocks {
		blocks[i].Name = or(names[blocks[i].Name], blocks[i].Name)
		blocks[i].Sub = renamed(blocks[i].Sub, names)
	}
	return blocks
}

// language is the language model of a composed one, and its config: text_config,
// or the file itself where the type is fixed and it is an older file.
func (c *Config) language(d Composed) (*Config, Model) {
	if d.Text == "" && d.Inner == nil {
		return c.within("text_config")
	}
	text := c.textOr(d.Text)
	if d.Inner != nil {
		return text, d.Inner(text)
	}
	arch, _ := c.inner.lookup(d.Text)
	return text, arch.Describe(text)
}

// languageModel is a model around the language model of a field: its body under
// the name, and what else there is. The head is the language model's, tied where
// the outer config says so.
func (c *Config) languageModel(field, prefix, name, head string, others func(text *Config) []Block) Model {
	return c.composed(Composed{Layout: Layout{prefix, name, head}, Parts: others})
}

// whole returns the config of a field and the whole model that it describes, with
// the head of its type's usual class, as a module.
func (c *Config) whole(field, name string) (*Config, Model, Block) {
	return c.wholeAs(field, name, OtherTask)
}

// wholeAs is the same with a head for a task, where it is no other one.
func (c *Config) wholeAs(field, name string, task Task) (*Config, Model, Block) {
	part := c.part(field)
	arch, ok := c.inner.lookup(part.ModelType())
	if !ok {
		c.inner.unknown = part.ModelType()
		return part, Model{}, Block{}
	}
	part.Class, part.Task = arch.Class, taskOf(arch.Class)
	if task != OtherTask {
		part.Task = task
	}
	model := arch.Describe(part)
	block := Module(name, NoRole, append([]Block{{Name: model.Prefix, Sub: model.Body}}, model.Head...)...)
	return part, model, block.tiedBelow(name)
}

// tiedBelow puts a name before those of the tensors that others in the block share.
func (b Block) tiedBelow(name string) Block {
	b.Params, b.Sub = slices.Clone(b.Params), slices.Clone(b.Sub)
	for i, p := range b.Params {
		if p.TiedTo != "" {
			b.Params[i].TiedTo = join(name, p.TiedTo)
		}
	}
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].tiedBelow(name)
	}
	return b
}

// idle marks a block that is stored and does not run.
func (b Block) idle() Block {
	b.Idle = true
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
