package hfconfig

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestQuantizedCheckpoints asks the config of each real checkpoint which
// modules it quantises, and the names in the file whether it is so.
func TestQuantizedCheckpoints(t *testing.T) {
	bits := map[string]int64{"2bit": 2, "3bit": 3, "4bit": 4, "5bit": 5, "8bit": 8, "1bit": 1,
		"nf4": 4, "fp4": 4, "int8": 8, "w3a16": 3, "w4": 4, "w4a16": 4, "w6a16": 6, "w8a16": 8, "w8a8": 8, "w4afp8": 4,
		"fp8": 8, "mxfp4": 4, "mxfp4a16": 4, "mxfp8": 8, "nvfp4": 4, "nvfp4a16": 4, "int4": 4, "int2": 2, "float8": 8,
		"8da4w": 4, "fp8wo": 8, "int8dyn": 8, "int8wo": 8, "intx4": 4, "gemm": 4, "gemv": 4, "transformers": 4}
	for line := range strings.Lines(string(readTestdata(t, "quantised.jsonl"))) {
		row := gjson.Parse(line)
		name := row.Get("name").Str
		t.Run(name, func(t *testing.T) {
			q := quantizationOf(t, row)
			if !q.Known() || strings.HasPrefix(name, "mlx") != q.Inferred && q.Method != "quanto" {
				t.Errorf("method %q, inferred %v", q.Method, q.Inferred)
			}
			for _, word := range strings.Split(name, "-")[1:] {
				if want := bits[word]; want != 0 && q.Bits != want && !strings.HasPrefix(name, "vptq") {
					t.Errorf("%d bits, want %d", q.Bits, want)
				} else if want != 0 {
					break
				}
			}
			checkModules(t, q, name, row)
		})
	}
}

func quantizationOf(t *testing.T, row gjson.Result) *Quantization {
	var q *Quantization
	var err error
	if file := row.Get("file").Str; file != "config.json" {
		q, _, err = ParseQuantization(file, []byte(row.Get("config").Raw))
	} else {
		q, err = mustParse(t, row.Get("config").Raw).Quantization()
	}
	if err != nil || q == nil {
		t.Fatalf("got %v, %v", q, err)
	}
	return q
}

func checkModules(t *testing.T, q *Quantization, name string, row gjson.Result) {
	if strings.HasPrefix(name, "vptq") { // its file has no .weight to tell by
		return
	}
	for _, module := range row.Get("quantised").Array() {
		scheme, ok := q.For(module.Str)
		if !ok || scheme.Bits == 0 && q.Format != "sparse-bitmask" {
			t.Errorf("%s is left alone by the config, quantised in the file", module.Str)
		}
	}
	for _, module := range row.Get("plain").Array() {
		switch {
		case strings.Contains(module.Str, "embed") && !q.TargetsClass("Embedding"):
			continue // an embedding is no linear layer
		case name == "bnb-nf4-mixtral" && strings.Contains(module.Str, "block_sparse_moe"):
			continue // stacked parameters and a router of its own in the library, no linear layers
		case name == "mlx-4bit-g32-h96" && strings.HasSuffix(module.Str, "down_proj"):
			continue // the group size does not divide it
		}
		if _, ok := q.For(module.Str); ok {
			t.Errorf("%s is quantised by the config, plain in the file", module.Str)
		}
	}
}

func TestQuantizationForms(t *testing.T) {
	tests := []struct {
		name, config string
		want         string // method, place, scheme
	}{
		{"top", `{"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}}`, "gptq 4-bit, groups of 128 at quantization_config"},
		{"nested", `{"text_config": {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 32}}}`, "awq 4-bit, groups of 32 at text_config.quantization_config"},
		{"nested twice", `{"thinker_config": {"text_config": {"quantization_config": {"quant_method": "fp8"}}}}`, "fp8 8-bit at thinker_config.text_config.quantization_config"},
		{"top before nested", `{"text_config": {"quantization_config": {"quant_method": "awq"}}, "quantization_config": {"quant_method": "fp8"}}`, "fp8 8-bit at quantization_config"},
		{"null before nested", `{"text_config": {"quantization_config": {"quant_method": "awq"}}, "quantization_config": null}`, "awq at text_config.quantization_config"},
		{"compression", `{"compression_config": {"config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128}}}, "format": "pack-quantized"}}`, "compressed-tensors 4-bit, groups of 128 at compression_config"},
		{"bnb without method", `{"quantization_config": {"load_in_8bit": true}}`, "bitsandbytes 8-bit at quantization_config"},
		{"bnb 4-bit first", `{"quantization_config": {"load_in_8bit": true, "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"}}`, "bitsandbytes 4-bit, groups of 64 at quantization_config"},
		{"mlx", `{"quantization": {"bits": 3, "group_size": 32}}`, "mlx 3-bit, groups of 32 at quantization"},
		{"mlx without group", `{"quantization": {"bits": 3}}`, "mlx 3-bit, groups of 64 at quantization"},
		{"other meaning", `{"quantization": "none"}`, "none"},
		{"gptq without method", `{"quantization_config": {"bits": 4, "group_size": 128, "sym": true}}`, "gptq 4-bit, groups of 128 at quantization_config"},
		{"modelopt without method", `{"quantization_config": {"quant_algo": "FP8"}}`, "modelopt 8-bit at quantization_config"},
		{"unknown", `{"quantization_config": {"quant_method": "nonesuch", "bits": 4}}`, "nonesuch 4-bit at quantization_config"},
		{"null", `{"quantization_config": null}`, "none"},
		{"absent", `{}`, "none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q, err := mustParse(t, test.config).Quantization()
			got := "none"
			if q != nil {
				got = q.String() + " at " + q.Path
			}
			if err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestQuantizationFaults(t *testing.T) {
	tests := []struct {
		config, want string
		usable       bool
	}{
		{`{"quantization_config": {}}`, "config field quantization_config: is empty", true},
		{`{"quantization_config": "gptq"}`, `config field quantization_config: is the text "gptq", want an object`, false},
		{`{"quantization_config": [4]}`, "config field quantization_config: is a list, want an object", false},
		{`{"quantization_config": {"x": 1}}`, "config field quantization_config.quant_method: missing", true},
		{`{"quantization_config": {"quant_method": 4}}`, "config field quantization_config.quant_method: is the number 4, want a text", false},
		{`{"quantization_config": {"quant_method": "gptq", "bits": "4"}}`, `config field quantization_config.bits: is the text "4", want a whole number`, false},
		{`{"quantization_config": {"quant_method": "fp8", "weight_block_size": [128]}}`, "config field quantization_config.weight_block_size: is [128], want two positive numbers", false},
		{`{"quantization_config": {"quant_method": "fp8", "weight_block_size": [0, 128]}}`, "config field quantization_config.weight_block_size: is [0, 128], want two positive numbers", false},
		{`{"text_config": {"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["a(", 4]}}}`, "config field text_config.quantization_config.modules_to_not_convert[1]: is the number 4, want a text", false},
		{`{"quantization_config": {"quant_method": "compressed-tensors", "ignore": ["re:a("]}}`, `config field quantization_config.ignore: pattern "^(?:a()" cannot be read: missing closing )`, true},
	}
	for _, test := range tests {
		_, err := mustParse(t, test.config).Quantization()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.config, err, test.want)
			continue
		}
		var e *FieldError
		if !errors.As(err, &e) || e.Usable != test.usable {
			t.Errorf("%s: usable %v, want %v", test.config, e.Usable, test.usable)
		}
	}
}

func TestSkips(t *testing.T) {
	tests := []struct {
		config string // of quantization_config
		skip   string
		take   string
	}{
		// transformers: from the start up to a dot, as an expression, or a suffix
		{`{"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "model.layers.1", "mlp.gate", "visual.*"]}`,
			"lm_head model.layers.1.mlp.up_proj model.layers.0.mlp.gate visual.blocks.0.attn.qkv xlm_head",
			"model.layers.11.mlp.up_proj model.layers.0.mlp.gate_proj"},
		{`{"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router"]}`,
			"model.layers.3.self_attn.q_proj model.layers.3.mlp.router",
			"model.layers.3.mlp.experts model.layers.3.self_attn_x lm_head"},
		{`{"quant_method": "bitsandbytes", "load_in_4bit": true}`, "lm_head", "model.layers.0.self_attn.q_proj"},
		{`{"quant_method": "bitsandbytes", "load_in_4bit": true, "llm_int8_skip_modules": ["model.vision_backbone"]}`,
			"model.vision_backbone.linear", "lm_head model.layers.0.self_attn.q_proj"},
		{`{"quant_method": "bitsandbytes", "load_in_4bit": true, "llm_int8_skip_modules": ["visual"]}`,
			"model.visual.block.0.fc", "model.visual_x.fc"},
		// awq: anywhere
		{`{"quant_method": "awq", "modules_to_not_convert": ["visual", "in_proj_a"]}`,
			"model.visual.blocks.0.attn lm_head x.in_proj_a", "model.layers.0.self_attn.q_proj"},
		// gptq: the head, and what dynamic says
		{`{"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*down_proj": {}, "+:.*\\.18\\..*gate.*": {"bits": 8}}}`,
			"lm_head model.layers.0.mlp.down_proj", "model.layers.18.mlp.gate_proj"},
		{`{"quant_method": "gptq", "bits": 4, "lm_head": true}`, "", "lm_head"},
		// compressed-tensors: names and re: patterns, nothing else
		{`{"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:.*mlp.gate$", "re:^(?!.*layers).*"], "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4}}}}`,
			"lm_head model.layers.0.mlp.gate vision.fc", "model.layers.0.mlp.gate_proj model.layers.0.lm_head"},
		// modelopt: shell patterns, and modules above
		{`{"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["model.layers.0*", "*.shared_experts.*", "vision_tower", "layers.[12].x"]}`,
			"model.layers.0.mlp.up model.layers.05 a.shared_experts.up vision_tower vision_tower.fc layers.1.x",
			"lm_head vision_towers.fc model.layers.1.mlp layers.3.x"},
		{`{"quant_method": "fp8", "quant_algo": "MIXED_PRECISION", "producer": {"name": "modelopt"}, "ignore": ["*.attn.*", "head"], "quantized_layers": {"layers.0.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16}}}`,
			"layers.0.attn.wq head", "layers.0.ffn.experts.0.w1 layers.0.ffn.w1"},
		{`{"bits": 4, "group_size": 64, "model.layers.0.mlp.gate": false}`, "model.layers.0.mlp.gate", "model.layers.0.mlp.up_proj lm_head"},
		{`{"quant_method": "auto-round", "bits": 4, "extra_config": {"model.layers.0.mlp.gate": {"bits": 16}, ".*q_proj": {"bits": 8}}}`,
			"model.layers.0.mlp.gate lm_head", "model.layers.0.self_attn.q_proj"},
		{`{"quant_method": "hqq", "quant_config": {"self_attn.q_proj": {"weight_quant_params": {"nbits": 4}}}, "skip_modules": ["lm_head"]}`,
			"lm_head", "model.layers.0.self_attn.q_proj"},
	}
	for _, test := range tests {
		q, err := mustParse(t, `{"quantization_config": `+test.config+`}`).Quantization()
		if err != nil {
			t.Errorf("%s: %v", test.config, err)
			continue
		}
		for _, module := range strings.Fields(test.skip) {
			if !q.Skips(module) {
				t.Errorf("%s: does not skip %s", test.config, module)
			}
		}
		for _, module := range strings.Fields(test.take) {
			if _, ok := q.For(module); !ok || q.Skips(module) {
				t.Errorf("%s: leaves %s alone", test.config, module)
			}
		}
	}
}

func TestOverrides(t *testing.T) {
	tests := []struct{ config, module, want string }{
		{`{"bits": 4, "group_size": 32, "a.b": {"bits": 8, "group_size": 64, "mode": "affine"}}`, "a.b", "8/64 true"},
		{`{"bits": 4, "group_size": 32, "a.b": {"bits": 8}}`, "a.b", "8/32 true"},
		{`{"bits": 4, "group_size": 32, "a.b": {"bits": 8}}`, "a.b.c", "4/32 true"},
		{`{"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {".*\\.1\\..*": {"bits": 8, "group_size": 64}, ".*gate": {"bits": 2}}}`, "l.1.gate", "8/64 true"},
		{`{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "W4A16_NVFP4", "group_size": 16}, "b": {"quant_algo": "FP8"}}}`, "a.x", "4/16 true"},
		{`{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "NVFP4"}, "b": {"quant_algo": "FP8"}}}`, "b", "8/0 true"},
		{`{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}`, "c", "0/0 false"},
		{`{"quant_method": "compressed-tensors", "config_groups": {"0": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8}}, "1": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 32}}}}`, "x.down_proj", "8/0 true"},
		{`{"quant_method": "compressed-tensors", "config_groups": {"0": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8}}, "1": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 32}}}}`, "x.up_proj", "4/32 true"},
		{`{"quant_method": "compressed-tensors", "config_groups": {"0": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8}}}}`, "x.up_proj", "0/0 false"},
		{`{"quant_method": "hqq", "quant_config": {"mlp.up_proj": {"nbits": 2, "group_size": 16}}}`, "model.layers.3.mlp.up_proj", "2/16 true"},
		{`{"quant_method": "hqq", "quant_config": {"mlp.up_proj": {"nbits": 2, "group_size": 16}}}`, "model.layers.3.mlp.down_proj", "0/0 false"},
		{`{"quant_method": "torchao", "quant_type": {"default": {"_type": "FqnToConfig", "_data": {"fqn_to_config": {"_default": {"_type": "Int8WeightOnlyConfig", "_data": {}}, "lm_head": null, "re:.*up": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 32}}}}}}}`, "a.up", "4/32 true"},
	}
	for _, test := range tests {
		q, err := mustParse(t, `{"quantization_config": `+test.config+`}`).Quantization()
		if err != nil {
			t.Errorf("%s: %v", test.config, err)
			continue
		}
		scheme, ok := q.For(test.module)
		if got := fmt.Sprintf("%d/%d %v", scheme.Bits, scheme.GroupSize, ok); got != test.want {
			t.Errorf("%s: %s is %s, want %s", test.config, test.module, got, test.want)
		}
	}
}

func TestSidecars(t *testing.T) {
	tests := []struct{ file, data, want string }{
		{"quantize_config.json", `{"bits": 3, "group_size": 128, "desc_act": false, "sym": true}`, "gptq 3-bit, groups of 128"},
		{"quant_config.json", `{"zero_point": true, "q_group_size": 128, "w_bit": 4, "version": "GEMM"}`, "awq 4-bit, groups of 128"},
		{"hf_quant_config.json", `{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}}`, "modelopt 4-bit, groups of 16"},
		{"quanto_qmap.json", `{"a.b": {"weights": "qint4", "activations": "none"}}`, "quanto 4-bit"},
	}
	for _, test := range tests {
		q, _, err := ParseQuantization(test.file, []byte(test.data))
		if err != nil || q.String() != test.want || !q.Inferred {
			t.Errorf("%s: got %v, %v, want %s", test.file, q, err, test.want)
		}
	}
	if _, _, err := ParseQuantization("quant_config.json", []byte("[")); err == nil {
		t.Error("no error")
	}
}
