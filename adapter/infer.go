package adapter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Stored is a tensor of a file by its name.
type Stored struct {
	Name  string
	Shape []int64
}

// endings are what methods append to the name of a module, longest first.
var endings = []string{
	"token_adapter.trainable_tokens_delta", "trainable_tokens_delta", "lora_magnitude_vector", "lora_embedding_A", "lora_embedding_B",
	"lora_A.weight", "lora_B.weight", "lora_B.bias", "lora_A", "lora_B", "lora_E", "hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b",
	"hada_t1", "hada_t2", "lokr_w1_a", "lokr_w1_b", "lokr_w2_a", "lokr_w2_b", "lokr_w1", "lokr_w2", "lokr_t2", "ia3_l", "vera_lambda_b",
	"vera_lambda_d", "oft_R.weight", "oft_R", "boft_R", "boft_s", "hra_u", "fourierft_spectrum", "ln_tuning_layers.weight",
	"ln_tuning_layers.bias", "adaption_prompt", "adaption_gate",
}

// Split takes what a method appended off the name of a tensor. The ending is ""
// where there is nothing of a method in the name.
func Split(name string) (module, ending string) {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(name, "."+e); ok {
			return rest, e
		}
	}
	return name, ""
}

// Infer predicts the tensors of a file from themselves, where the base is not
// known: the members of one module have to agree on its sizes, on the config's
// rank, and have to be all there. What modules there should be, it cannot tell.
func Infer(config *hfconfig.Adapter, stored []Stored) *Plan {
	p := &planner{config: config, plan: &Plan{}, adapted: make(map[string]bool), saved: make(map[string]bool)}
	put := methods[config.Method]
	members := make(map[string]map[string][]int64)
	var order []string
	for _, s := range stored {
		name, ending := Split(strings.TrimPrefix(s.Name, Prefix(config)))
		if ending == "" || put == nil || strings.HasSuffix(ending, "tokens_delta") {
			p.inferOther(s)
			continue
		}
		if members[name] == nil {
			members[name] = make(map[string][]int64)
			order = append(order, name)
		}
		members[name][ending] = s.Shape
	}
	for _, name := range order {
		p.inferModule(name, members[name], put)
	}
	if config.TieWeights {
		p.inferTied(stored)
	}
	return p.finish()
}

// inferTied accepts, beside modules that are stored whole, others of their shape:
// those with which they share their weight.
func (p *planner) inferTied(stored []Stored) {
	known := make(map[string]bool)
	saved := make(map[string]bool)
	for i := range p.pieces {
		one := &p.pieces[i]
		known[one.template] = true
		if one.kind == SavedModule {
			saved[fmt.Sprint(one.shape)] = true
		}
	}
	for _, s := range stored {
		if !known[s.Name] && saved[fmt.Sprint(s.Shape)] {
			p.add(s.Name, nil, TiedCopy, slices.Clone(s.Shape)...)
		}
	}
}

// inferModule predicts a module's tensors from the sizes that they show.
func (p *planner) inferModule(name string, members map[string][]int64, put func(*planner, *module) error) {
	described := &estimator.NamedModule{Template: name, Kind: estimator.LinearKind}
	if members["lora_embedding_A"] != nil || members["lora_embedding_B"] != nil {
		described.Kind = estimator.EmbeddingKind
	}
	in, out := sizes(members)
	described.In, described.Out = in, out
	shape := []int64{out, in}
	if a := members["lora_A.weight"]; len(a) > 2 {
		shape = append([]int64{out}, a[1:]...)
	}
	if described.Kind == estimator.EmbeddingKind {
		shape = []int64{in, out}
	}
	described.Tensors = []estimator.ModuleTensor{{Name: "weight", Shape: shape}}
	if p.config.Method == "LN_TUNING" {
		described.Tensors = nil
		for _, part := range []string{"weight", "bias"} {
			if s := members["ln_tuning_layers."+part]; s != nil {
				described.Tensors = append(described.Tensors, estimator.ModuleTensor{Name: part, Shape: s, Bias: part == "bias"})
			}
		}
	}
	before := len(p.pieces)
	m := &module{NamedModule: described, name: strings.TrimSuffix(strings.ReplaceAll(name, ".base_layer", ""), ".")}
	if err := put(p, m); err != nil {
		p.pieces = p.pieces[:before]
		return
	}
	p.stacked(members, p.pieces[before:])
	for i := range p.pieces[before:] {
		shape := p.pieces[before+i].shape
		for j := range shape {
			shape[j] = max(shape[j], 0) // what nothing shows
		}
	}
}

// stacked widens the prediction where experts have their ranks side by side: a
// whole number of them.
func (p *planner) stacked(members map[string][]int64, pieces []piece) {
	a := members["lora_A.weight"]
	if p.config.TargetParameters == nil || len(a) != 2 || len(pieces) != 2 {
		return
	}
	r := pieces[0].shape[0]
	if r > 0 && a[0]%r == 0 {
		pieces[0].shape = []int64{a[0], pieces[0].shape[1]}
		pieces[1].shape = []int64{pieces[1].shape[0], a[0]}
	}
}

// sizes reads the features of a module off its adapter's tensors; −1 where they
// do not show them.
func sizes(members map[string][]int64) (in, out int64) {
	at := func(place int, names ...string) int64 {
		for _, name := range names {
			if s := members[name]; place < len(s) {
				return s[place]
			}
		}
		return -1
	}
	times := func(a, b int64) int64 {
		if a <= 0 || b <= 0 || a > (1<<56)/b {
			return -1
		}
		return a * b
	}
	switch {
	case members["lora_embedding_A"] != nil || members["lora_embedding_B"] != nil:
		return at(1, "lora_embedding_A"), at(0, "lora_embedding_B", "lora_magnitude_vector")
	case anyOf(members, "lora_"):
		return at(1, "lora_A.weight", "lora_A"), at(0, "lora_B.weight", "lora_B", "lora_magnitude_vector", "lora_B.bias")
	case anyOf(members, "hada_"):
		return at(1, "hada_w1_b", "hada_w2_b"), at(0, "hada_w1_a", "hada_w2_a")
	case anyOf(members, "lokr_"):
		return times(at(1, "lokr_w1", "lokr_w1_b"), at(1, "lokr_w2", "lokr_w2_b")), times(at(0, "lokr_w1", "lokr_w1_a"), at(0, "lokr_w2", "lokr_w2_a"))
	case anyOf(members, "vera_"):
		return 1, at(0, "vera_lambda_b")
	case anyOf(members, "ia3_"):
		return at(1, "ia3_l"), at(0, "ia3_l")
	case anyOf(members, "boft_"):
		return times(at(1, "boft_R"), at(2, "boft_R")), at(0, "boft_s")
	case anyOf(members, "hra_"):
		return at(0, "hra_u"), 1
	case anyOf(members, "oft_"):
		return oftFeatures(at(0, "oft_R.weight"), at(1, "oft_R.weight")), 1
	}
	return 1, 1
}

func anyOf(members map[string][]int64, prefix string) bool {
	for name := range members {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// oftFeatures solves size·(size−1)/2 for the size of a block.
func oftFeatures(count, triangle int64) int64 {
	if triangle > 1<<26 || count > mostFeatures {
		return -1
	}
	for size := int64(1); size*(size-1)/2 <= triangle; size++ {
		if size*(size-1)/2 == triangle && size > 1 {
			return count * size
		}
	}
	return -1
}

// inferOther accepts what the config says is stored besides the method's own
// tensors.
func (p *planner) inferOther(s Stored) {
	bare := strings.TrimPrefix(s.Name, Prefix(p.config))
	above, last := cut(bare)
	shape := slices.Clone(s.Shape)
	rows := p.config.TrainedTokens.Tokens
	for _, list := range p.config.TrainedTokens.Modules {
		rows = list
	}
	switch {
	case s.Name == "base_model.vera_A" && len(shape) == 2 && p.config.SaveProjection:
		p.add(s.Name, nil, Projection, p.config.Rank, shape[1])
	case s.Name == "base_model.vera_B" && len(shape) == 2 && p.config.SaveProjection:
		p.add(s.Name, nil, Projection, shape[0], p.config.Rank)
	case strings.HasSuffix(bare, "trainable_tokens_delta") && len(shape) == 2 && len(rows) > 0:
		shape[0] = int64(len(rows))
		p.add(s.Name, nil, TokenRows, shape...)
	case p.config.Saves(above):
		p.add(s.Name, nil, SavedModule, shape...)
	case last == "bias" && p.config.Bias != "none":
		p.add(s.Name, nil, Bias, shape...)
	case strings.HasSuffix(above, ".base_layer") && len(shape) == 2:
		p.add(s.Name, nil, BaseCopy, shape...)
	}
}
