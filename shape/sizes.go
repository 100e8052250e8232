package shape

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Sizes are those of a decoder, as one would say them. Zero is the usual value
// of the kind.
type Sizes struct {
	Kind string `json:"kind"` // gpt2, llama, moe, mla; "": by the other sizes

	Hidden     int64 `json:"hidden_size"`
	Layers     int64 `json:"layers"`
	Heads      int64 `json:"heads"`
	KVHeads    int64 `json:"kv_heads"`
	HeadDim    int64 `json:"head_dim"`
	Width      int64 `json:"feed_forward"`
	Vocabulary int64 `json:"vocabulary"`
	Positions  int64 `json:"positions"`
	Window     int64 `json:"window,omitempty"`

	Experts       int64 `json:"experts,omitempty"`
	Used          int64 `json:"experts_per_token,omitempty"`
	ExpertWidth   int64 `json:"expert_feed_forward,omitempty"`
	SharedExperts int64 `json:"shared_experts,omitempty"`
	DenseLayers   int64 `json:"dense_layers,omitempty"` // that have no experts, the first ones

	QueryRank int64 `json:"query_rank,omitempty"` // of latent attention
	KVRank    int64 `json:"kv_rank,omitempty"`
	Rope      int64 `json:"rope_dim,omitempty"`
	Nope      int64 `json:"nope_dim,omitempty"`
	Value     int64 `json:"value_dim,omitempty"`

	Tied    *bool `json:"tied,omitempty"`
	Ungated bool  `json:"ungated,omitempty"` // two matrices in a feed-forward block
	Bias    bool  `json:"bias,omitempty"`    // in the projections of attention
}

// Kinds lists what Sizes.Kind can say.
var Kinds = []string{"gpt2", "llama", "moe", "mla"}

// most bounds every size: no model is larger, and products stay small enough to
// be refused in words.
const most = 1 << 40

// Complete fills in the usual values.
func (s Sizes) Complete() (Sizes, error) {
	if s.Hidden < 1 || s.Layers < 1 || s.Vocabulary < 1 {
		return s, errors.New("a shape needs at least a hidden size, layers and a vocabulary")
	}
	for _, n := range []int64{s.Hidden, s.Layers, s.Heads, s.KVHeads, s.HeadDim, s.Width, s.Vocabulary, s.Positions, s.Experts, s.Used,
		s.ExpertWidth, s.SharedExperts, s.DenseLayers, s.QueryRank, s.KVRank, s.Rope, s.Nope, s.Value, s.Window} {
		if n < 0 || n > most {
			return s, fmt.Errorf("%d is no size of a model", n)
		}
	}
	s.Kind = s.Implied()
	if err := s.heads(); err != nil {
		return s, err
	}
	s.widths()
	if s.Experts > 0 && s.Used > s.Experts {
		return s, fmt.Errorf("%d of %d experts cannot run", s.Used, s.Experts)
	}
	return s, nil
}

// KindRule says how the kind follows from the other sizes.
const KindRule = "mla with a latent size, else moe with experts, else llama with KV heads, head dim, window, " +
	"gate, attention biases or a feed-forward width that is not 4d, else gpt2"

// Implied is the kind that the sizes imply.
func (s Sizes) Implied() string {
	switch {
	case s.Kind != "":
		return s.Kind
	case s.KVRank > 0 || s.QueryRank > 0 || s.Rope > 0 || s.Nope > 0 || s.Value > 0:
		return "mla"
	case s.Experts > 0 || s.Used > 0 || s.ExpertWidth > 0 || s.SharedExperts > 0 || s.DenseLayers > 0:
		return "moe"
	case s.KVHeads > 0 || s.HeadDim > 0 || s.Window > 0 || s.Ungated || s.Bias || s.Width > 0 && s.Hidden > 0 && s.Width != 4*s.Hidden:
		return "llama"
	}
	return "gpt2"
}

func (s *Sizes) heads() error {
	if s.Heads == 0 {
		dim := s.HeadDim
		if dim == 0 {
			dim = 64
		}
		s.Heads = max(1, s.Hidden/dim)
	}
	if s.HeadDim == 0 {
		s.HeadDim = s.Hidden / s.Heads
	}
	if s.KVHeads == 0 {
		s.KVHeads = s.Heads
	}
	switch {
	case s.HeadDim == 0:
		return fmt.Errorf("%d heads do not share a hidden size of %d", s.Heads, s.Hidden)
	case s.Heads%s.KVHeads != 0:
		return fmt.Errorf("%d query heads do not share %d key and value heads", s.Heads, s.KVHeads)
	case s.Kind == "gpt2" && (s.HeadDim*s.Heads != s.Hidden || s.KVHeads != s.Heads):
		return errors.New("a GPT-2 has heads of hidden size / heads, as many for keys and values")
	}
	return nil
}

// widths: four times the hidden size for two matrices; for three, two thirds of
// that, rounded up to a multiple of 256 (LLaMA, arXiv:2302.13971).
func (s *Sizes) widths() {
	if s.Width == 0 {
		s.Width = 4 * s.Hidden
		if s.Kind != "gpt2" && !s.Ungated {
			s.Width = (8*s.Hidden/3 + 255) / 256 * 256
		}
	}
	if s.Positions == 0 {
		s.Positions = 1024
		if s.Kind != "gpt2" {
			s.Positions = 4096
		}
	}
	if s.Tied == nil {
		tied := s.Kind == "gpt2"
		s.Tied = &tied
	}
	if s.Experts > 0 {
		s.Used = max(1, s.Used)
		if s.ExpertWidth == 0 {
			s.ExpertWidth = s.Width
		}
	}
	if s.Kind == "mla" {
		for _, d := range []struct {
			size  *int64
			usual int64
		}{{&s.KVRank, 512}, {&s.Rope, 64}, {&s.Nope, 128}, {&s.Value, 128}} {
			if *d.size == 0 {
				*d.size = d.usual
			}
		}
	}
}

// Config returns a config.json of a described type with these sizes.
func (s Sizes) Config() ([]byte, error) {
	s, err := s.Complete()
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"hidden_size": s.Hidden, "num_hidden_layers": s.Layers, "num_attention_heads": s.Heads,
		"num_key_value_heads": s.KVHeads, "head_dim": s.HeadDim, "intermediate_size": s.Width, "vocab_size": s.Vocabulary,
		"max_position_embeddings": s.Positions, "tie_word_embeddings": *s.Tied, "attention_bias": s.Bias, "hidden_act": "silu"}
	build, ok := builders[s.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q is not one of %v", s.Kind, Kinds)
	}
	if err := build(s, fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// builders write what is particular to a kind.
var builders = map[string]func(Sizes, map[string]any) error{
	"gpt2":  gpt2,
	"llama": llama,
	"moe":   moe,
	"mla":   mla,
}

func named(fields map[string]any, modelType, class string) {
	fields["model_type"], fields["architectures"] = modelType, []string{class}
}

func gpt2(s Sizes, fields map[string]any) error {
	clear(fields)
	named(fields, "gpt2", "GPT2LMHeadModel")
	fields["n_embd"], fields["n_layer"], fields["n_head"] = s.Hidden, s.Layers, s.Heads
	fields["n_inner"], fields["vocab_size"], fields["n_positions"] = s.Width, s.Vocabulary, s.Positions
	fields["tie_word_embeddings"] = *s.Tied
	if s.Window > 0 || s.Experts > 0 {
		return errors.New("a GPT-2 has neither windows nor experts")
	}
	return nil
}

func llama(s Sizes, fields map[string]any) error {
	switch {
	case s.Ungated:
		named(fields, "arcee", "ArceeForCausalLM")
		fields["hidden_act"] = "relu2"
	case s.Window > 0:
		named(fields, "mistral", "MistralForCausalLM")
		fields["sliding_window"] = s.Window
	default:
		named(fields, "llama", "LlamaForCausalLM")
	}
	if s.Window > 0 && s.Ungated || s.Bias && s.Window > 0 {
		return errors.New("no described type has windows with two matrices or with biases in attention")
	}
	return nil
}

func moe(s Sizes, fields map[string]any) error {
	if s.Experts == 0 || s.Ungated || s.Bias {
		return errors.New("routed experts need --experts, and are gated and without biases")
	}
	if s.SharedExperts == 0 && s.DenseLayers == 0 {
		named(fields, "mixtral", "MixtralForCausalLM")
		fields["num_local_experts"], fields["num_experts_per_tok"], fields["intermediate_size"] = s.Experts, s.Used, s.ExpertWidth
		if s.Window > 0 {
			fields["sliding_window"] = s.Window
		}
		return nil
	}
	if s.Window > 0 {
		return errors.New("no described type has windows with shared experts")
	}
	named(fields, "glm4_moe", "Glm4MoeForCausalLM")
	fields["use_qk_norm"] = false
	routed(s, fields)
	return nil
}

func mla(s Sizes, fields map[string]any) error {
	if s.Ungated || s.Window > 0 {
		return errors.New("latent attention comes gated and without windows")
	}
	named(fields, "deepseek_v3", "DeepseekV3ForCausalLM")
	delete(fields, "head_dim")
	fields["kv_lora_rank"], fields["qk_rope_head_dim"], fields["qk_nope_head_dim"], fields["v_head_dim"] = s.KVRank, s.Rope, s.Nope, s.Value
	fields["num_key_value_heads"] = s.Heads
	fields["q_lora_rank"] = nil
	if s.QueryRank > 0 {
		fields["q_lora_rank"] = s.QueryRank
	}
	if s.Experts == 0 {
		s.Experts, s.Used, s.ExpertWidth, s.DenseLayers = 1, 1, s.Width, s.Layers
	}
	routed(s, fields)
	return nil
}

// routed are the fields of DeepSeek-V3's experts and of its descendants'.
func routed(s Sizes, fields map[string]any) {
	fields["n_routed_experts"], fields["num_experts_per_tok"], fields["moe_intermediate_size"] = s.Experts, s.Used, s.ExpertWidth
	fields["n_shared_experts"], fields["first_k_dense_replace"] = s.SharedExperts, s.DenseLayers
	fields["num_nextn_predict_layers"] = 0
}
