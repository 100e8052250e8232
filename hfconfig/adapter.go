package hfconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Adapter is a typed view of adapter_config.json as peft writes it. Fields that
// the method does not have are zero.
type Adapter struct {
	Method   string // peft_type in capitals: LORA, LOHA, IA3, PREFIX_TUNING, …
	TaskType string // CAUSAL_LM, SEQ_CLS, …
	Base     string // base_model_name_or_path, "" where it is not said
	Revision string // of the base
	Version  string // of peft

	Rank         int64 // r; for AdaLoRA init_r, which is what the file's matrices have at most
	Alpha        float64
	RankPattern  []Pattern // modules with another rank, in the file's order
	AlphaPattern []Pattern

	TargetModules    []string // names or ends of names; nil where TargetPattern is set
	TargetPattern    string   // an expression that a whole name has to match
	AllLinear        bool     // target_modules is "all-linear": every linear layer but the head
	TargetsDefault   bool     // the file names no target: peft falls back on a table by model type
	TargetParameters []string // parameters, not modules, such as mlp.experts.gate_up_proj
	ExcludeModules   []string
	ModulesToSave    []string // trained and stored whole
	FeedForward      []string // IA3: targets that are scaled at their input

	Layers         []int64  // layers_to_transform, nil for all
	LayersPattern  []string // names of the list of layers, nil for any
	TrainedTokens  TrainedTokens
	FanInFanOut    bool // the base's layers are transposed, as in GPT-2
	DoRA           bool
	RSLoRA         bool
	LoRABias       bool   // lora_B has a bias
	Bias           string // none, all, or the method's own: lora_only, vera_only, oft_only, boft_only
	TieWeights     bool   // ensure_weight_tying
	SaveProjection bool   // VeRA: the shared matrices are in the file

	Decompose Decompose
	Blocks    Blocks
	Prompt    Prompt

	Fields *Config // everything else in the file

	targets  moduleSet
	whole    *pattern
	excludes []*pattern
	saved    []*pattern
	layered  []*pattern
}

// Pattern gives the modules whose name ends in Key, an expression, a value of
// their own.
type Pattern struct {
	Key   string
	Value float64
	match *pattern
}

// TrainedTokens are rows of embeddings that are trained alone.
type TrainedTokens struct {
	Tokens  []int64            // of the input embedding
	Modules map[string][]int64 // of the embeddings that the file names
}

// Decompose holds what LoHa and LoKr say of their factors.
type Decompose struct {
	Factor        int64 // LoKr's decompose_factor, -1 for the most even one
	Both          bool  // LoKr: both factors are decomposed
	EffectiveConv bool  // use_effective_conv2d
}

// Blocks holds the sizes of OFT, BOFT and their kin.
type Blocks struct {
	Size     int64 // oft_block_size, boft_block_size; 0 where Count decides
	Count    int64 // OFT's r, BOFT's boft_block_num; 0 where Size decides
	Factors  int64 // BOFT's boft_n_butterfly_factor
	Shared   bool  // OFT's block_share
	Frequent int64 // FourierFT's n_frequency
}

// Prompt holds the sizes of prompt, prefix and p-tuning.
type Prompt struct {
	Tokens         int64  // num_virtual_tokens
	Dim            int64  // token_dim
	Layers         int64  // num_layers
	Heads          int64  // num_attention_heads, after peft's correction for grouped heads
	Submodules     int64  // num_transformer_submodules: 2 in encoder-decoders
	Hidden         int64  // encoder_hidden_size
	EncoderLayers  int64  // encoder_num_layers
	Encoder        string // encoder_reparameterization_type: MLP or LSTM
	Projection     bool   // prefix_projection
	Init           string // prompt_tuning_init
	TokenizerModel string // tokenizer_name_or_path
}

// ParseAdapter reads adapter_config.json. With an error that is not a
// *ParseError, the view beside it holds what could be read.
func ParseAdapter(data []byte) (*Adapter, []Notice, error) {
	object, notices, err := normalise(data)
	if err != nil {
		return nil, nil, err
	}
	a := readAdapter(newConfig(object, "", "", newFaults()))
	return a, notices, errors.Join(a.Fields.Faults()...)
}

func readAdapter(f *Config) *Adapter {
	a := &Adapter{
		Method:   strings.ToUpper(f.text("peft_type")),
		TaskType: strings.ToUpper(f.text("task_type")),
		Base:     f.String("base_model_name_or_path"),
		Revision: f.text("revision"),
		Version:  f.text("peft_version"),
		Fields:   f,
	}
	if a.Method == "" {
		f.fault("peft_type", "missing, want the method, such as LORA")
	}
	a.readTargets(f)
	a.readRanks(f)
	a.readSwitches(f)
	a.readTokens(f)
	a.Decompose = Decompose{
		Factor:        f.IntOr("decompose_factor", -1),
		Both:          f.Bool("decompose_both"),
		EffectiveConv: f.Bool("use_effective_conv2d"),
	}
	a.readBlocks(f)
	if a.IsPrompt() {
		a.readPrompt(f)
	}
	return a
}

// IsPrompt reports whether the method trains virtual tokens instead of layers.
func (a *Adapter) IsPrompt() bool {
	switch a.Method {
	case "PROMPT_TUNING", "MULTITASK_PROMPT_TUNING", "PREFIX_TUNING", "P_TUNING", "CPT", "ADAPTION_PROMPT", "CARTRIDGE":
		return true
	}
	return false
}

// readRanks reads r and alpha under each method's names. The defaults are
// those of peft 0.21.
func (a *Adapter) readRanks(f *Config) {
	switch a.Method {
	case "ADALORA":
		a.Rank = f.IntOr("init_r", 12)
	case "VERA":
		a.Rank = f.IntOr("r", 256)
	case "IA3", "LN_TUNING", "OFT", "BOFT", "FOURIERFT", "TRAINABLE_TOKENS":
	default:
		if !a.IsPrompt() {
			a.Rank = f.IntOr("r", 8)
		}
	}
	if a.Rank < 0 || a.Rank > mostSize {
		f.fault("r", "%d is no rank", a.Rank)
		a.Rank = 0
	}
	switch a.Method {
	case "LORA", "ADALORA":
		a.Alpha = f.Float("lora_alpha", 8)
	case "LOHA", "LOKR":
		a.Alpha = f.Float("alpha", 8)
	}
	if a.Method != "ADALORA" { // there it is what training left, not a rule
		a.RankPattern = f.patterns("rank_pattern")
	}
	a.AlphaPattern = f.patterns("alpha_pattern")
}

// patterns reads an object of expressions and numbers.
func (c *Config) patterns(field string) []Pattern {
	v := c.fields[field]
	if !v.Exists() || v.Type == gjson.Null {
		return nil
	}
	if !v.IsObject() {
		c.fault(field, "is %s, want an object", describe(v))
		return nil
	}
	object := c.Sub(field)
	var list []Pattern
	for _, key := range object.order() {
		value := object.fields[key]
		if value.Type != gjson.Number {
			object.fault(key, "is %s, want a number", describe(value))
			continue
		}
		// Python's rule is re.match(rf"(.*\.)?({key})$", name)
		match, err := compilePattern(`(?:.*\.)?(?:` + key + `)$`)
		if err != nil {
			object.fault(key, "%s", err)
			continue
		}
		list = append(list, Pattern{Key: key, Value: value.Num, match: match})
	}
	return list
}

func (a *Adapter) readSwitches(f *Config) {
	a.FanInFanOut = f.Bool("fan_in_fan_out")
	a.DoRA = f.Bool("use_dora")
	a.RSLoRA = f.Bool("use_rslora")
	a.LoRABias = f.Bool("lora_bias")
	a.TieWeights = f.Bool("ensure_weight_tying")
	a.SaveProjection = f.BoolOr("save_projection", true)
	if a.Bias = f.text("bias"); a.Bias == "" {
		a.Bias = "none"
	}
}

// readTokens reads trainable_token_indices, a list of token ids or an object of
// such lists, and the token_indices of the method that is nothing else.
func (a *Adapter) readTokens(f *Config) {
	field := "trainable_token_indices"
	if a.Method == "TRAINABLE_TOKENS" {
		field = "token_indices"
	}
	v := f.fields[field]
	if !v.IsObject() {
		a.TrainedTokens.Tokens = f.Ints(field)
		return
	}
	object := f.Sub(field)
	a.TrainedTokens.Modules = make(map[string][]int64)
	for _, module := range object.order() {
		a.TrainedTokens.Modules[module] = object.Ints(module)
	}
}

func (a *Adapter) readBlocks(f *Config) {
	switch a.Method {
	case "OFT":
		a.Blocks = Blocks{Size: f.IntOr("oft_block_size", 32), Count: f.IntOr("r", 0), Shared: f.Bool("block_share")}
	case "BOFT":
		a.Blocks = Blocks{Size: f.IntOr("boft_block_size", 4), Count: f.IntOr("boft_block_num", 0),
			Factors: f.IntOr("boft_n_butterfly_factor", 1)}
	case "FOURIERFT":
		a.Blocks = Blocks{Frequent: f.IntOr("n_frequency", 1000)}
	}
}

func (a *Adapter) readPrompt(f *Config) {
	a.Prompt = Prompt{
		Tokens:         f.IntOr("num_virtual_tokens", 0),
		Dim:            f.IntOr("token_dim", 0),
		Layers:         f.IntOr("num_layers", 0),
		Heads:          f.IntOr("num_attention_heads", 0),
		Submodules:     f.IntOr("num_transformer_submodules", 1),
		Hidden:         f.IntOr("encoder_hidden_size", 0),
		EncoderLayers:  f.IntOr("encoder_num_layers", 2),
		Encoder:        f.text("encoder_reparameterization_type"),
		Projection:     f.Bool("prefix_projection"),
		Init:           f.text("prompt_tuning_init"),
		TokenizerModel: f.text("tokenizer_name_or_path"),
	}
}

// String names the method and its rank in short, such as "LORA of rank 16".
func (a *Adapter) String() string {
	if a.Rank > 0 {
		return fmt.Sprintf("%s of rank %d", a.Method, a.Rank)
	}
	return a.Method
}
