package inspect

import (
	"context"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

const (
	tinyLlama = `"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2,
		"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256, "vocab_size": 256, "tie_word_embeddings": false`
	tinyMixtral = `"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
		"num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 256, "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": false`
)

func up(a, b int64) int64 { return (a + b - 1) / b }

// members writes a linear's tensors, by their endings; others stay as they are.
func members(write func(o, i int64) map[string]safetensorstest.Tensor) quantiser {
	return func(name string, shape []int64) []safetensorstest.Tensor {
		module, ok := linear(name, shape)
		if !ok {
			return nil
		}
		var list []safetensorstest.Tensor
		for suffix, t := range write(shape[0], shape[1]) {
			t.Name = module + suffix
			list = append(list, t)
		}
		return list
	}
}

// TestQuantisedLayouts: layouts of which there is no recorded file here, by the
// formulas of their writers.
func TestQuantisedLayouts(t *testing.T) {
	type tensors = map[string]safetensorstest.Tensor
	T := func(dtype string, shape ...int64) safetensorstest.Tensor {
		return safetensorstest.T("", dtype, shape...)
	}
	tests := []struct {
		name, config string
		write        func(o, i int64) tensors
		warns        bool
	}{
		{"gptq marlin", `{"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"}`, func(o, i int64) tensors {
			return tensors{".B": T("I32", i/16, o*2), ".s": T("F16", up(i, 128), o)}
		}, false},
		{"awq gemv_fast", `{"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemv_fast"}`, func(o, i int64) tensors {
			zeros := 2 * up(up(i/64, 8), 2)
			return tensors{".qweight": T("I16", o/4, i), ".scales": T("F16", 8*zeros, o), ".qzeros": T("F16", 8*zeros, o)}
		}, true},
		{"hqq 3 bits", `{"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 3, "group_size": 64, "axis": 1}}}`, func(o, i int64) tensors {
			r := o * i / 64
			return tensors{".W_q": T("I32", up(r, 10), 64), ".scale": T("F16", r, 1), ".zero": T("F16", r, 1), ".shape": T("I64", 2), ".nbits": T("I32")}
		}, true},
		{"hqq axis 0", `{"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64, "axis": 0}}}`, func(o, i int64) tensors {
			r := o * i / 64
			return tensors{".W_q": T("U8", 32, r), ".scale": T("F16", 1, r), ".zero": T("F16", 1, r), ".shape": T("I64", 2)}
		}, true},
		{"torchao nvfp4", `{"quant_method": "torchao"}`, func(o, i int64) tensors {
			return tensors{"._weight_qdata": T("U8", o, i/2), "._weight_scale": T("F8_E4M3", 32*up(o, 128), 16*up(i/16, 4)), "._weight_per_tensor_scale": T("F32")}
		}, true},
		{"mxfp6", `{"quant_method": "compressed-tensors", "format": "mxfp6-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 6, "type": "float", "group_size": 32, "strategy": "group"}}}, "ignore": ["lm_head"]}`, func(o, i int64) tensors {
			return tensors{".weight_packed": T("U8", o, 3*i/4), ".weight_scale": T("U8", o, i/32)}
		}, false},
		{"nvfp4 with activations", `{"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16, "strategy": "tensor_group"}}}, "ignore": ["lm_head"]}`, func(o, i int64) tensors {
			return tensors{".weight_packed": T("U8", o, i/2), ".weight_scale": T("F8_E4M3", o, i/16), ".weight_global_scale": T("F32", 1), ".input_global_scale": T("F32", 1)}
		}, false},
		{"sparse 2:4", `{"quant_method": "compressed-tensors", "sparsity_config": {"format": "sparse-24-bitmask", "ignore": ["lm_head"], "targets": ["Linear"]}}`, func(o, i int64) tensors {
			return tensors{".compressed": T("BF16", o, i/2), ".bitmask": T("U8", o, i/8), ".shape": T("I64", 2, 1)}
		}, false},
		{"order of activations by group", `{"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group", "actorder": "group"}}}, "ignore": ["lm_head"]}`, func(o, i int64) tensors {
			return tensors{".weight_packed": T("I32", o, i/8), ".weight_scale": T("BF16", o, i/128), ".weight_shape": T("I64", 2), ".weight_g_idx": T("I32", i)}
		}, true},
		{"mlx mxfp4", `{"bits": 4, "group_size": 32, "mode": "mxfp4"}`, func(o, i int64) tensors {
			return tensors{".weight": T("U32", o, i/8), ".scales": T("U8", o, i/32)}
		}, false},
		{"mlx 6 bits", `{"bits": 6, "group_size": 64}`, func(o, i int64) tensors {
			return tensors{".weight": T("U32", o, i*6/32), ".scales": T("BF16", o, i/64), ".biases": T("BF16", o, i/64)}
		}, false},
		{"quark mxfp4", `{"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}}`, func(o, i int64) tensors {
			return tensors{".weight": T("U8", o, i/2), ".weight_scale": T("U8", o, i/32)}
		}, false},
		{"modelopt mxfp8", `{"quant_method": "modelopt", "quant_algo": "MXFP8"}`, func(o, i int64) tensors {
			return tensors{".weight": T("F8_E4M3", o, i), ".weight_scale": T("U8", o, i/32)}
		}, false},
		{"fp8, a scalar each", `{"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": null}`, func(o, i int64) tensors {
			return tensors{".weight": T("F8_E4M3", o, i), ".weight_scale_inv": T("F32"), ".activation_scale": T("F32")}
		}, false},
		{"fp8, scales of another name", `{"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": null}`, func(o, i int64) tensors {
			return tensors{".weight": T("F8_E4M3", o, i), ".qscale_weight": T("BF16"), ".qscale_act": T("BF16")}
		}, false},
		{"aqlm 16 bits", `{"quant_method": "aqlm", "nbits_per_codebook": 16, "num_codebooks": 1, "in_group_size": 8, "out_group_size": 1}`, func(o, i int64) tensors {
			return tensors{".codes": T("I16", o, i/8, 1), ".codebooks": T("F16", 1, 65536, 1, 8), ".scales": T("F16", o, 1, 1, 1)}
		}, false},
		{"higgs 3 bits", `{"quant_method": "higgs", "bits": 3, "group_size": 64}`, func(o, i int64) tensors {
			return tensors{".weight": T("I16", o*3/16, i), ".scales": T("F16", o, i/64), ".tables": T("F16", 8), ".tables2": T("F16", 8, 8, 2)}
		}, false},
		{"quanto int8", "", func(o, i int64) tensors {
			return tensors{".weight._data": T("I8", o, i), ".weight._scale": T("BF16", o, 1), ".input_scale": T("BF16"), ".output_scale": T("BF16")}
		}, true},
		{"scales of the cache in the projections", `{"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}`, func(o, i int64) tensors {
			return tensors{".weight": T("F8_E4M3", o, i), ".weight_scale": T("F32"), ".input_scale": T("F32")}
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := tinyLlama
			if test.config != "" {
				config += `, "quantization_config": ` + test.config
			}
			src := quantise(t, "{"+config+"}", "BF16", members(test.write))
			in, err := Inspect(context.Background(), src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			expectQuantised(t, in, 361_088, test.warns)
		})
	}
}

func expectQuantised(t *testing.T, in *Inspection, logical int64, warns bool) {
	t.Helper()
	if *in.Counts.LogicalParameters != logical || *in.Counts.UniqueParameters != logical {
		t.Errorf("logical %d, unique %d; want %d", *in.Counts.LogicalParameters, *in.Counts.UniqueParameters, logical)
	}
	if *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
		t.Errorf("unexplained %d: %q", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
	}
	for _, f := range in.Findings {
		if f.Severity != finding.Note && !warns {
			t.Errorf("%s %s", f.Code, f.Message)
		}
	}
}

// TestFusedScales: experts stored one by one whose scales are stacked.
func TestFusedScales(t *testing.T) {
	T := safetensorstest.T
	config := tinyMixtral + `, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}`
	src := quantise(t, "{"+config+"}", "BF16", func(name string, shape []int64) []safetensorstest.Tensor {
		switch module, ok := linear(name, shape); {
		case ok:
			return []safetensorstest.Tensor{T(name, "F8_E4M3", shape...), T(module+".weight_scale_inv", "F32", up(shape[0], 128), up(shape[1], 128))}
		case name == "model.layers.0.block_sparse_moe.gate.weight", name == "model.layers.1.block_sparse_moe.gate.weight":
			layer := name[:len("model.layers.0.")]
			return []safetensorstest.Tensor{T(name, "BF16", shape...), T(layer+"mlp.experts.gate_up_proj_scale_inv", "F32", 4, 2, 1), T(layer+"mlp.experts.down_proj_scale_inv", "F32", 4, 1, 1)}
		case len(shape) == 2 && name != "model.embed_tokens.weight" && name != "lm_head.weight":
			return []safetensorstest.Tensor{T(name, "F8_E4M3", shape...)}
		}
		return nil
	})
	in, err := Inspect(context.Background(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	expectQuantised(t, in, 205_632, false)
}
