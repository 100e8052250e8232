package inspect

import (
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// TestOddDTypes: a dtype of its own is doubted, unless parameters of that kind are
// known to be kept in 32 bits.
func TestOddDTypes(t *testing.T) {
	moe := `{"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
		"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,"num_local_experts":4}`
	mamba := `{"model_type":"mamba","architectures":["MambaForCausalLM"],"hidden_size":64,"num_hidden_layers":2,"vocab_size":256,"state_size":8}`
	t5 := `{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"d_model":64,"d_ff":128,"d_kv":16,"num_layers":2,"num_heads":4,"vocab_size":256}`
	dense := llama(64, 128, 2, 4, 2, 256, "")
	for _, c := range []struct {
		config, of, part, dtype string
		code                    string
	}{
		{dense, "BF16", "lm_head.", "F16", "HFI426"},
		{dense, "F16", "lm_head.", "BF16", "HFI426"},
		{dense, "BF16", "model.norm.", "F16", "HFI426"},
		{dense, "BF16", "norm.", "F64", "HFI426"},
		{dense, "BF16", "embed_tokens.", "F32", "HFI426"},
		{dense, "F32", "lm_head.", "BF16", "HFI426"},
		{dense, "BF16", "mlp.up_proj.", "F16", "HFI426"},
		{dense, "BF16", "layers.0.mlp.up_proj.", "F16", "HFI419"},
		{dense, "BF16", "layers.0.mlp.up_proj.", "F32", "HFI419"},
		{dense, "BF16", "norm.", "F32", ""},
		{moe, "BF16", "gate.", "F32", ""},
		{mamba, "BF16", "A_log", "F32", ""},
		{mamba, "BF16", ".D", "F32", ""},
		{t5, "F16", ".wo.", "F32", ""},
	} {
		list := edit(called(t, c.config, c.of), func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
			if strings.Contains(one.Name, c.part) {
				one.DType = c.dtype
			}
			return one
		})
		in := inspected(t, c.config, one(list...))
		if found(in, "HFI418") == nil {
			t.Errorf("%s of %s among %s: not named", c.part, c.dtype, c.of)
		}
		for _, code := range []string{"HFI419", "HFI426"} {
			doubted := found(in, code, strings.Trim(strings.TrimPrefix(c.part, "layers.0"), ".")) != nil
			if code == c.code && !doubted || c.code == "" && doubted {
				t.Errorf("%s of %s among %s: doubted %t as %s: %+v", c.part, c.dtype, c.of, doubted, code, in.Findings)
			}
		}
	}
}
