package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/source"
)

const (
	llama8B = `"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
		"num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false`
	llama70B = `"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
		"num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256, "tie_word_embeddings": false`
	gptOSS = `"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64,
		"num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "vocab_size": 201088, "num_experts_per_tok": 4, "tie_word_embeddings": false,
		"attention_bias": true`
)

// quantiser writes the tensors of one weight, nil to leave it as it is.
type quantiser func(name string, shape []int64) []safetensorstest.Tensor

// quantise builds a repository of that config with its weights quantised.
func quantise(t *testing.T, config, plain string, q quantiser) source.Source {
	t.Helper()
	c, _, err := hfconfig.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(c, "")
	if err != nil {
		t.Fatal(err)
	}
	var tensors []safetensorstest.Tensor
	for _, one := range model.Tensors() {
		if one.TiedTo != "" {
			continue
		}
		for name := range one.Names {
			if list := q(name, one.Shape); list != nil {
				tensors = append(tensors, list...)
			} else {
				tensors = append(tensors, safetensorstest.T(name, plain, one.Shape...))
			}
		}
	}
	return unrecorded{safetensorstest.NewFolder(map[string]safetensorstest.Blob{
		"config.json": safetensorstest.Whole([]byte(config)), "model.safetensors": safetensorstest.Sparse(tensors...)})}
}

// unrecorded is a recording without values.
type unrecorded struct{ source.Source }

func (u unrecorded) Info() source.Info {
	info := u.Source.Info()
	info.Kind = source.Recording
	return info
}

// linear reports whether a name is a linear of a layer.
func linear(name string, shape []int64) (module string, ok bool) {
	module, weight := strings.CutSuffix(name, ".weight")
	return module, weight && len(shape) == 2 && strings.Contains(name, ".layers.") && strings.Contains(name, "_proj")
}

func gptqWithBiases(name string, shape []int64) []safetensorstest.Tensor {
	module, ok := linear(name, shape)
	if !ok {
		return nil
	}
	out, in, T := shape[0], shape[1], safetensorstest.T
	return []safetensorstest.Tensor{T(module+".qweight", "I32", in/8, out), T(module+".qzeros", "I32", in/128, out/8),
		T(module+".scales", "F16", in/128, out), T(module+".g_idx", "I32", in), T(module+".bias", "F16", out)}
}

func nf4Double(name string, shape []int64) []safetensorstest.Tensor {
	if _, ok := linear(name, shape); !ok {
		return nil
	}
	n, T := shape[0]*shape[1], safetensorstest.T
	return []safetensorstest.Tensor{T(name, "U8", n/2, 1), T(name+".absmax", "U8", n/64), T(name+".nested_absmax", "F32", (n/64+255)/256),
		T(name+".nested_quant_map", "F32", 256), T(name+".quant_map", "F32", 16), T(name+".quant_state.bitsandbytes__nf4", "U8", 170)}
}

func w4a16(name string, shape []int64) []safetensorstest.Tensor {
	module, ok := linear(name, shape)
	if !ok {
		return nil
	}
	T := safetensorstest.T
	return []safetensorstest.Tensor{T(module+".weight_packed", "I32", shape[0], shape[1]/8), T(module+".weight_scale", "BF16", shape[0], shape[1]/128),
		T(module+".weight_shape", "I64", 2)}
}

func mxfp4(name string, shape []int64) []safetensorstest.Tensor {
	if len(shape) != 3 {
		return nil
	}
	T := safetensorstest.T
	return []safetensorstest.Tensor{T(name+"_blocks", "U8", shape[0], shape[2], shape[1]/32, 16), T(name+"_scales", "U8", shape[0], shape[2], shape[1]/32)}
}

// TestQuantisedCounts meets published counts of well-known repositories.
func TestQuantisedCounts(t *testing.T) {
	const gptq = `"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": true, "sym": true}`
	const bnb = `"quantization_config": {"load_in_4bit": true, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true}`
	const ct = `"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ["lm_head"], "config_groups":
		{"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128, "strategy": "group", "type": "int", "symmetric": true}}}}`
	const mx = `"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}`
	tests := []struct {
		name, config, plain string
		quantiser           quantiser
		logical, unique     int64
		rows                map[string]int64
	}{
		{"gptq with biases", llama8B + "," + gptq, "F16", gptqWithBiases, 8_031_637_504, 8_030_261_248, map[string]int64{"quantiser_biases": 1_376_256}},
		{"nf4, double", llama8B + "," + bnb, "BF16", nf4Double, 8_030_261_248, 8_030_261_248, map[string]int64{"quantised_weights": -3_489_660_928}},
		{"w4a16 70B", llama70B + "," + ct, "BF16", w4a16, 70_553_706_496, 70_553_706_496, nil},
		{"gpt-oss-20b", gptOSS + `, "num_hidden_layers": 24, "num_local_experts": 32,` + mx, "BF16", mxfp4, 20_914_757_184, 20_914_757_184,
			map[string]int64{"quantisation_scales": 597_196_800, "quantised_weights": -9_555_148_800}},
		{"gpt-oss-120b", gptOSS + `, "num_hidden_layers": 36, "num_local_experts": 128,` + mx, "BF16", mxfp4, 116_829_156_672, 116_829_156_672,
			map[string]int64{"quantisation_scales": 3_583_180_800, "quantised_weights": -114_661_785_600 / 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, err := Inspect(context.Background(), quantise(t, "{"+test.config+"}", test.plain, test.quantiser), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if *in.Counts.LogicalParameters != test.logical || *in.Counts.UniqueParameters != test.unique {
				t.Errorf("logical %d, unique %d; want %d, %d", *in.Counts.LogicalParameters, *in.Counts.UniqueParameters, test.logical, test.unique)
			}
			if *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
				t.Errorf("unexplained %d: %q", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
			}
			for _, row := range in.Ledger.Rows {
				if want, ok := test.rows[row.Code]; ok && row.Elements != want {
					t.Errorf("%s: %d, want %d", row.Code, row.Elements, want)
				}
			}
			for _, f := range in.Findings {
				if f.Severity != finding.Note {
					t.Errorf("%s %s", f.Code, f.Message)
				}
			}
		})
	}
}

// TestPackedExperts: routed experts of two weights to a byte beside FP8, with
// exponent blocks and a table of routes; only the routed ones count twice.
func TestPackedExperts(t *testing.T) {
	T := safetensorstest.T
	var tensors []safetensorstest.Tensor
	for e := range 4 {
		for _, w := range []string{"w1", "w2", "w3"} {
			name := fmt.Sprintf("layers.0.ffn.experts.%d.%s", e, w)
			tensors = append(tensors, T(name+".weight", "I8", 128, 64), T(name+".scale", "F8_E8M0", 128, 4))
		}
	}
	for _, w := range []string{"w1", "w2", "w3"} {
		tensors = append(tensors, T("layers.0.ffn.shared_experts."+w+".weight", "F8_E4M3", 128, 128), T("layers.0.ffn.shared_experts."+w+".scale", "F8_E8M0", 1, 1))
	}
	tensors = append(tensors, T("layers.0.ffn.gate.tid2eid", "I64", 1000, 2), T("layers.0.ffn.gate.weight", "BF16", 4, 128))
	for _, config := range []string{
		`{"model_type": "unheard_of", "expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}}`,
		`{"model_type": "unheard_of", "quantization_config": {"quant_method": "fp8", "expert_dtype": "fp4", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}}`,
	} {
		in, err := Inspect(context.Background(), safetensorstest.NewFolder(map[string]safetensorstest.Blob{
			"config.json": safetensorstest.Whole([]byte(config)), "model.safetensors": safetensorstest.Sparse(tensors...)}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(4*3*128*128 + 3*128*128 + 4*128); *in.Counts.LogicalParameters != want {
			t.Errorf("logical %d, want %d", *in.Counts.LogicalParameters, want)
		}
		for _, f := range in.Findings {
			if f.Severity == finding.Error || f.Code[:4] == "HFI5" && f.Severity != finding.Note {
				t.Errorf("%s %s", f.Code, f.Message)
			}
		}
	}
}

// TestPackedExpertsDescribed: the same under a description.
func TestPackedExpertsDescribed(t *testing.T) {
	const config = `{"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "num_hidden_layers": 6, "n_routed_experts": 8,
		"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}}`
	T := safetensorstest.T
	src := quantise(t, config, "BF16", func(name string, shape []int64) []safetensorstest.Tensor {
		module, weight := strings.CutSuffix(name, ".weight")
		switch {
		case strings.HasSuffix(name, "tid2eid"):
			return []safetensorstest.Tensor{T(name, "I64", shape...)}
		case !weight || len(shape) != 2:
			return nil
		case strings.Contains(name, ".ffn.experts."):
			return []safetensorstest.Tensor{T(name, "I8", shape[0], shape[1]/2), T(module+".scale", "F8_E8M0", shape[0], shape[1]/32)}
		case strings.Contains(name, ".attn.w"), strings.Contains(name, ".shared_experts."):
			return []safetensorstest.Tensor{T(name, "F8_E4M3", shape...), T(module+".scale", "F8_E8M0", up(shape[0], 128), up(shape[1], 128))}
		}
		return nil
	})
	in, err := Inspect(context.Background(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters || *in.Counts.LogicalParameters != *in.Counts.EstimatedParameters {
		t.Errorf("unique %d, logical %d, estimated %d", *in.Counts.UniqueParameters, *in.Counts.LogicalParameters, *in.Counts.EstimatedParameters)
	}
	if *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
		t.Errorf("unexplained %d: %q", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
	}
	for _, f := range in.Findings {
		if f.Severity == finding.Error {
			t.Errorf("%s %s", f.Code, f.Message)
		}
	}
}
