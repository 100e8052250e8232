package hfconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestAdapterFiles asks the config of each real adapter which modules it
// touches and with which rank, and the names and shapes in the file whether it
// is so.
func TestAdapterFiles(t *testing.T) {
	for line := range strings.Lines(string(readTestdata(t, "adapters.jsonl"))) {
		row := gjson.Parse(line)
		name := row.Get("name").Str
		t.Run(name, func(t *testing.T) {
			a, notices, err := ParseAdapter([]byte(row.Get("config").Raw))
			if err != nil || len(notices) > 0 {
				t.Fatalf("%v, %v", notices, err)
			}
			if a.IsPrompt() {
				checkPrompt(t, a, row)
				return
			}
			checkAdapted(t, a, row)
		})
	}
}

func checkPrompt(t *testing.T, a *Adapter, row gjson.Result) {
	shape := row.Get("tensors.prompt_embeddings").Array()
	dim := a.Prompt.Dim
	if a.Method == "PREFIX_TUNING" {
		dim *= 2 * a.Prompt.Layers
	}
	if shape[0].Int() != a.Prompt.Tokens || shape[1].Int() != dim {
		t.Errorf("prompt of %+v, file has %v", a.Prompt, shape)
	}
}

func checkAdapted(t *testing.T, a *Adapter, row gjson.Result) {
	adapted := make(map[string]bool)
	row.Get("tensors").ForEach(func(key, shape gjson.Result) bool {
		module, kind := adapterTensor(key.Str)
		dims := shape.Array()
		switch kind {
		case "saved":
			if bias := strings.HasSuffix(module, ".bias") && a.Bias == "all"; !bias && !a.Saves(module) && !a.TieWeights {
				t.Errorf("%s is stored whole, the config does not say so", module)
			}
		case "parameter":
			if !a.TargetsParameter(module+".gate_up_proj") || !a.TargetsParameter(module+".down_proj") {
				t.Errorf("%s: parameters not targeted", module)
			}
		case "trainable_tokens_delta":
			if n := int64(len(a.TrainedTokens.Tokens)); dims[0].Int() != n {
				t.Errorf("%d tokens, file has %v", n, dims)
			}
		case "lora_A", "lora_embedding_A", "hada_w1_b":
			if rank := a.RankOf(module); dims[0].Int() != rank {
				t.Errorf("%s: rank %d, file has %v", module, rank, dims)
			}
			adapted[module] = true
		case "lora_B", "hada_w1_a", "lokr_w2_a":
			if rank := a.RankOf(module); dims[1].Int() != rank {
				t.Errorf("%s: rank %d, file has %v", module, rank, dims)
			}
			adapted[module] = true
		case "ia3_l":
			if a.IsFeedForward(module) != (dims[0].Int() == 1) {
				t.Errorf("%s: feed-forward %v, file has %v", module, a.IsFeedForward(module), dims)
			}
			adapted[module] = true
		case "shared":
		default:
			adapted[module] = true
		}
		return true
	})
	for _, module := range baseModules(row.Get("name").Str) {
		if a.Targets(module) != adapted[module] {
			t.Errorf("%s: targeted %v, in the file %v", module, a.Targets(module), adapted[module])
		}
		delete(adapted, module)
	}
	for module := range adapted {
		t.Errorf("%s is in the file and no module of the base", module)
	}
}

// adapterTensor splits a stored name into the base's module and what is stored
// of it.
func adapterTensor(name string) (module, kind string) {
	name, ok := strings.CutPrefix(name, "base_model.model.")
	if !ok {
		return "", "shared" // vera_A, vera_B
	}
	parts := strings.Split(strings.TrimSuffix(name, ".weight"), ".")
	for i, part := range parts {
		switch {
		case part == "experts":
			return strings.Join(parts[:i+1], "."), "parameter"
		case part == "base_layer":
			return strings.Join(parts[:i], "."), "base"
		case part == "token_adapter":
			return strings.Join(parts[:i], "."), parts[i+1]
		case hasPrefix(part, "lora_", "hada_", "lokr_", "ia3_", "vera_", "oft_", "boft_", "ln_tuning"):
			if parts[len(parts)-1] == "bias" {
				return strings.Join(parts[:i], "."), "bias"
			}
			return strings.Join(parts[:i], "."), part
		}
	}
	return strings.Join(parts, "."), "saved"
}

// baseModules lists the modules of an adapter's base by the folder's name.
func baseModules(folder string) []string {
	prefix, names := "model.layers.", strings.Fields("self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj input_layernorm post_attention_layernorm")
	outside := []string{"lm_head", "model.embed_tokens", "model.norm"}
	switch {
	case strings.Contains(folder, "gpt2"):
		prefix, names = "transformer.h.", strings.Fields("attn.c_attn attn.c_proj mlp.c_fc mlp.c_proj ln_1 ln_2")
		outside = []string{"lm_head", "transformer.wte", "transformer.wpe", "transformer.ln_f"}
	case strings.Contains(folder, "mixtral"):
		names = append(names, "mlp.gate")
	default:
		names = append(names, "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
	}
	modules := outside
	for _, layer := range []string{"0.", "1."} {
		for _, name := range names {
			modules = append(modules, prefix+layer+name)
		}
	}
	return modules
}

// TestAdapterTargets has verdicts of peft 0.21.2's check_target_module_exists.
func TestAdapterTargets(t *testing.T) {
	tests := []struct{ config, yes, no string }{
		{`"target_modules": ["q_proj", "mlp.up"]`, "q_proj a.q_proj l.0.mlp.up", "aq_proj q_proj.x up"},
		{`"target_modules": ".*attn\\.(q|k)_proj"`, "l.attn.q_proj", "l.attn.q_proj.x l.attn.v_proj"},
		{`"target_modules": "^(?!.*vision).*(?:q_proj|k_proj)$"`, "model.q_proj", "vision.q_proj model.v_proj"},
		{`"target_modules": "all-linear"`, "a.fc", "lm_head"},
		{`"target_modules": ["q"], "exclude_modules": ["0.q"]`, "l.1.q", "l.0.q"},
		{`"target_modules": ["q"], "exclude_modules": ".*\\.0\\.q"`, "l.1.q", "l.0.q"},
		{`"target_modules": ["q"], "modules_to_save": ["head"]`, "l.q heads.q", "head.q a.head.q"},
		{`"target_modules": ["q"], "layers_to_transform": [1]`, "m.layers.1.q m.layers.1.experts.0.q q", "m.layers.0.q m.layers.11.q layers.1.q"},
		{`"target_modules": ["q"], "layers_to_transform": 0`, "m.layers.0.q", "m.layers.1.q"},
		{`"target_modules": ["q"], "layers_to_transform": []`, "m.layers.0.q m.layers.1.q", "k"},
		{`"target_modules": ["q"], "layers_to_transform": [1], "layers_pattern": "h"`, "m.h.1.q h.1.q", "m.layers.1.q m.h.0.q"},
		{`"target_modules": null, "target_parameters": ["experts.down_proj"]`, "", "a.q experts.down_proj"},
	}
	for _, test := range tests {
		a, _, err := ParseAdapter([]byte(`{"peft_type": "LORA", ` + test.config + `}`))
		if err != nil {
			t.Errorf("%s: %v", test.config, err)
			continue
		}
		for _, module := range strings.Fields(test.yes) {
			if !a.Targets(module) {
				t.Errorf("%s: does not target %s", test.config, module)
			}
		}
		for _, module := range strings.Fields(test.no) {
			if a.Targets(module) {
				t.Errorf("%s: targets %s", test.config, module)
			}
		}
	}
}

func TestAdapterFields(t *testing.T) {
	const text = `{"peft_type": "lora", "base_model_name_or_path": "org/base", "r": 8, "lora_alpha": 16,
		"rank_pattern": {"0.q": 4, "q": 2}, "alpha_pattern": {"^model.k": 1.5}, "bias": "all", "use_dora": true,
		"trainable_token_indices": {"embed_tokens": [1, 2]}, "target_modules": ["q", "k"], "modules_to_save": null}`
	a, _, err := ParseAdapter([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if a.Method != "LORA" || a.Base != "org/base" || !a.DoRA || a.Bias != "all" || a.String() != "LORA of rank 8" || a.TargetsDefault {
		t.Errorf("got %+v", a)
	}
	if r0, r1, r := a.RankOf("l.0.q"), a.RankOf("l.1.q"), a.RankOf("l.0.k"); r0 != 4 || r1 != 2 || r != 8 {
		t.Errorf("ranks %d %d %d", r0, r1, r)
	}
	if k, x := a.AlphaOf("model.k"), a.AlphaOf("x.model.k"); k != 1.5 || x != 16 {
		t.Errorf("alphas %v %v", k, x)
	}
	if !slices.Equal(a.TrainedTokens.Modules["embed_tokens"], []int64{1, 2}) {
		t.Errorf("tokens %v", a.TrainedTokens)
	}
}

func TestAdapterFaults(t *testing.T) {
	tests := []struct{ config, want string }{
		{`{}`, "config field peft_type: missing"},
		{`{"peft_type": "LORA", "r": "8"}`, `config field r: is the text "8", want a whole number`},
		{`{"peft_type": "LORA", "r": -1}`, "config field r: -1 is no rank"},
		{`{"peft_type": "LORA", "r": 8, "target_modules": 5}`, "config field target_modules: is the number 5, want a list of texts"},
		{`{"peft_type": "LORA", "r": 8, "target_modules": "a("}`, "config field target_modules: pattern"},
		{`{"peft_type": "LORA", "r": 8, "rank_pattern": {"q": "x"}}`, `config field rank_pattern.q: is the text "x", want a number`},
		{`{"peft_type": "LORA", "r": 8, "rank_pattern": 4}`, "config field rank_pattern: is the number 4, want an object"},
		{`[]`, "file is a list, want an object"},
	}
	for _, test := range tests {
		if _, _, err := ParseAdapter([]byte(test.config)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.config, err, test.want)
		}
	}
}
