package inspect

import (
	"fmt"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
)

// TestOtherNumberOfLayers gives the weights of three layers configs with fewer:
// one finding names the field, whatever kinds of layer the config then lacks.
func TestOtherNumberOfLayers(t *testing.T) {
	for name, config := range map[string]func(layers string) string{
		"dense": func(layers string) string {
			return fmt.Sprintf(`{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16, "num_hidden_layers": %s,
				"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 24, "vocab_size": 40}`, layers)
		},
		"experts after the first": func(layers string) string {
			return fmt.Sprintf(`{"model_type": "deepseek_v2", "architectures": ["DeepseekV2ForCausalLM"], "hidden_size": 16, "num_hidden_layers": %s,
				"num_attention_heads": 2, "num_key_value_heads": 2, "q_lora_rank": null, "kv_lora_rank": 4, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
				"v_head_dim": 4, "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
				"moe_intermediate_size": 8, "intermediate_size": 24, "vocab_size": 40}`, layers)
		},
		"within another": func(layers string) string {
			return fmt.Sprintf(`{"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"],
				"text_config": {"model_type": "qwen2_vl_text", "hidden_size": 16, "num_hidden_layers": %s, "num_attention_heads": 2,
				"num_key_value_heads": 1, "intermediate_size": 24, "vocab_size": 40},
				"vision_config": {"depth": 4, "embed_dim": 16, "hidden_size": 16, "num_heads": 2}}`, layers)
		},
	} {
		t.Run(name, func(t *testing.T) {
			stored := called(t, config("3"), "BF16")
			for _, layers := range []string{"0", "1", "2"} {
				in := inspected(t, config(layers), one(stored...))
				wantFound(t, in, "HFI415", finding.Warning, "beyond the config's "+layers)
				if *in.Ledger.Unexplained != 0 || len(in.Findings) != 1 || in.Findings[0].Fields[0] != "num_hidden_layers" {
					t.Errorf("%s layers: %d unexplained, %+v", layers, *in.Ledger.Unexplained, in.Findings)
				}
			}
			for _, layers := range []string{"null", "[3]", `"3"`, "-1"} {
				in := inspected(t, config(layers), one(stored...))
				wantFound(t, in, "HFI303", finding.Error, "num_hidden_layers")
				if *in.Ledger.Unexplained != 0 || len(in.Findings) != 1 || in.Model.Described {
					t.Errorf("%s layers: %d unexplained, %+v", layers, *in.Ledger.Unexplained, in.Findings)
				}
			}
		})
	}
}
