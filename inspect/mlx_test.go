package inspect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// asMLX gives the tensors that MLX stores for an expected one, by name.
func asMLX(name string, shape []int64) map[string][]int64 {
	switch {
	case strings.HasSuffix(name, "kv_b_proj.weight"): // 4 heads of 6 without position and 10 of values
		return map[string][]int64{strings.Replace(name, "kv_b_proj", "embed_q", 1): {4, shape[1], 6},
			strings.Replace(name, "kv_b_proj", "unembed_out", 1): {4, 10, shape[1]}}
	case strings.HasSuffix(name, "experts.gate_up_proj"):
		half := []int64{shape[0], shape[1] / 2, shape[2]}
		return map[string][]int64{strings.Replace(name, "experts.gate_up_proj", "switch_mlp.gate_proj.weight", 1): half,
			strings.Replace(name, "experts.gate_up_proj", "switch_mlp.up_proj.weight", 1): half}
	case strings.HasSuffix(name, "experts.down_proj"):
		return map[string][]int64{strings.Replace(name, "experts.down_proj", "switch_mlp.down_proj.weight", 1): shape}
	case strings.HasSuffix(name, "conv1d.weight"):
		return map[string][]int64{name: {shape[0], shape[2], shape[1]}}
	}
	return nil
}

// TestMLXLayouts stores small models as MLX does: the halves of the latent's
// matrix and each matrix of the experts apart, convolutions with their channels
// last. No mutation of what was moved closes the ledger.
func TestMLXLayouts(t *testing.T) {
	for code, config := range map[string]string{
		"HFI702": `{"model_type": "mistral4", "architectures": ["Mistral4ForCausalLM"], "hidden_size": 32, "num_hidden_layers": 2,
			"num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 8, "q_lora_rank": 16, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4,
			"v_head_dim": 10, "n_routed_experts": 4, "moe_intermediate_size": 12, "intermediate_size": 48, "vocab_size": 64}`,
		"HFI716": `{"model_type": "qwen3_5_text", "architectures": ["Qwen3_5ForCausalLM"], "hidden_size": 32, "num_hidden_layers": 4,
			"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 48, "vocab_size": 64, "linear_num_key_heads": 2,
			"linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_conv_kernel_dim": 4}`,
	} {
		t.Run(code, func(t *testing.T) {
			tensors, moved := storedAsMLX(t, config)
			in := inspectTensors(t, config, tensors)
			if !closes(in) || !slices.ContainsFunc(in.Findings, func(f finding.Finding) bool { return f.Code == code }) {
				t.Fatalf("unexplained %d: %v; %v", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors, in.Findings)
			}
			if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters || len(moved) == 0 {
				t.Errorf("loads %d of %d parameters, %d tensors moved", *in.Counts.UniqueParameters, *in.Counts.EstimatedParameters, len(moved))
			}
			for _, i := range moved {
				for _, mutant := range mutantsOf(tensors, i) {
					if closes(inspectTensors(t, config, mutant)) {
						t.Errorf("a mutation of %s closes the ledger", tensors[i].Name)
					}
				}
			}
		})
	}
}

func storedAsMLX(t *testing.T, config string) (tensors []safetensorstest.Tensor, moved []int) {
	t.Helper()
	parsed, _, err := hfconfig.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(parsed, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range model.Tensors() {
		if e.TiedTo != "" {
			continue
		}
		for name := range e.Names {
			parts := asMLX(name, e.Shape)
			if parts == nil {
				tensors = append(tensors, safetensorstest.T(name, "BF16", e.Shape...))
			}
			for name, shape := range parts {
				moved = append(moved, len(tensors))
				tensors = append(tensors, safetensorstest.T(name, "BF16", shape...))
			}
		}
	}
	return tensors, moved
}

func inspectTensors(t *testing.T, config string, tensors []safetensorstest.Tensor) *Inspection {
	t.Helper()
	in, err := Inspect(context.Background(), safetensorstest.NewFolder(map[string]safetensorstest.Blob{
		"config.json": safetensorstest.Whole([]byte(config)), "model.safetensors": safetensorstest.Sparse(tensors...)}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func closes(in *Inspection) bool {
	return *in.Ledger.Unexplained == 0 && len(in.Ledger.UnexplainedTensors) == 0
}

// mutantsOf drops, renames, grows and turns one tensor.
func mutantsOf(tensors []safetensorstest.Tensor, i int) [][]safetensorstest.Tensor {
	with := func(one safetensorstest.Tensor) []safetensorstest.Tensor {
		list := slices.Clone(tensors)
		list[i] = one
		return list
	}
	one := tensors[i]
	grown, turned := slices.Clone(one.Shape), slices.Clone(one.Shape)
	grown[1]++
	slices.Reverse(turned)
	return [][]safetensorstest.Tensor{
		slices.Delete(slices.Clone(tensors), i, i+1),
		with(safetensorstest.T(one.Name+"x", one.DType, one.Shape...)),
		with(safetensorstest.T(one.Name, one.DType, grown...)),
		with(safetensorstest.T(one.Name, one.DType, turned...)),
	}
}
