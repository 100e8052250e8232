package adapter

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

const (
	llamaBase = `{"model_type":"llama","hidden_size":128,"intermediate_size":256,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
		"vocab_size":256,"tie_word_embeddings":false}`
	tiedBase = `{"model_type":"llama","hidden_size":128,"intermediate_size":256,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
		"vocab_size":256,"tie_word_embeddings":true}`
	mixtralBase = `{"model_type":"mixtral","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
		"vocab_size":256,"num_local_experts":4,"tie_word_embeddings":false}`
	gptOSSBase = `{"model_type":"gpt_oss","hidden_size":64,"intermediate_size":32,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,
		"head_dim":16,"vocab_size":256,"num_local_experts":4,"tie_word_embeddings":false}`
)

func describe(t testing.TB, adapter, base, class string) (*Plan, error) {
	t.Helper()
	config, _, err := hfconfig.ParseAdapter([]byte(adapter))
	if err != nil {
		t.Fatal(err)
	}
	if base == "" {
		return Describe(config, nil)
	}
	baseConfig, _, err := hfconfig.Parse([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(baseConfig, class)
	if err != nil {
		t.Fatal(err)
	}
	return Describe(config, model)
}

// TestDescribe holds layouts that the recorded adapters do not show to what
// peft 0.21's code makes.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		name, adapter, base, class string
		want                       []string
		trainable                  int64
	}{
		{"experts of Mixtral as all-linear converts them", `{"peft_type":"LORA","r":4,"rank_pattern":{".*\\.gate_up_proj":8},"target_modules":["o_proj"],
			"target_parameters":["gate.weight","gate_up_proj","down_proj"]}`, mixtralBase, "", []string{
			"base_model.model.model.layers.{0..1}.self_attn.o_proj.lora_A.weight [4 64]", "base_model.model.model.layers.{0..1}.self_attn.o_proj.lora_B.weight [64 4]",
			"base_model.model.model.layers.{0..1}.mlp.gate.lora_A.weight [4 64]", "base_model.model.model.layers.{0..1}.mlp.gate.lora_B.weight [4 4]",
			"base_model.model.model.layers.{0..1}.mlp.experts.base_layer.lora_A.weight [32 64]", "base_model.model.model.layers.{0..1}.mlp.experts.base_layer.lora_B.weight [192 32]",
			"base_model.model.model.layers.{0..1}.mlp.experts.lora_A.weight [16 96]", "base_model.model.model.layers.{0..1}.mlp.experts.lora_B.weight [64 16]"},
			2 * (512 + 256 + 16 + 2048 + 6144 + 1536 + 1024)},
		{"experts stored one by one", `{"peft_type":"LORA","r":2,"target_modules":["w2"]}`, mixtralBase, "", []string{
			"base_model.model.model.layers.{0..1}.block_sparse_moe.experts.{0..3}.w2.lora_A.weight [2 96]",
			"base_model.model.model.layers.{0..1}.block_sparse_moe.experts.{0..3}.w2.lora_B.weight [64 2]"}, 8 * 320},
		{"experts of gpt-oss, stored input first", `{"peft_type":"LORA","r":2,"target_modules":["q_proj"],"target_parameters":["mlp.experts.down_proj"]}`, gptOSSBase, "", []string{
			"base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_A.weight [2 64]", "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_B.weight [64 2]",
			"base_model.model.model.layers.{0..1}.mlp.experts.lora_A.weight [8 32]", "base_model.model.model.layers.{0..1}.mlp.experts.lora_B.weight [64 8]"}, 2 * (256 + 256 + 512)},
		{"head", `{"peft_type":"LORA","r":2,"target_modules":["lm_head"]}`, llamaBase, "", []string{
			"base_model.model.lm_head.lora_A.weight [2 128]", "base_model.model.lm_head.lora_B.weight [256 2]", "base_model.model.lm_head.base_layer.weight [256 128]"}, 768},
		{"classifier", `{"peft_type":"LORA","task_type":"SEQ_CLS","r":2,"target_modules":["q_proj"],"modules_to_save":["classifier","score"]}`, llamaBase, "LlamaForSequenceClassification", []string{
			"base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_A.weight [2 128]", "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_B.weight [128 2]",
			"base_model.model.score.weight [2 128]"}, 1024 + 256},
		{"layers", `{"peft_type":"LORA","r":2,"target_modules":["q_proj"],"layers_to_transform":[1]}`, llamaBase, "", []string{
			"base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight [2 128]", "base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight [128 2]"}, 512},
		{"all linear layers", `{"peft_type":"LORA","r":1,"target_modules":"all-linear","exclude_modules":["k_proj","v_proj","gate_proj","up_proj","down_proj","o_proj"]}`, llamaBase, "", []string{
			"base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_A.weight [1 128]", "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_B.weight [128 1]"}, 512},
		{"both tied tables", `{"peft_type":"LORA","r":2,"target_modules":["q_proj"],"modules_to_save":["embed_tokens","lm_head"]}`, tiedBase, "", []string{
			"base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_A.weight [2 128]", "base_model.model.model.layers.{0..1}.self_attn.q_proj.lora_B.weight [128 2]",
			"base_model.model.model.embed_tokens.weight [256 128]", "base_model.model.lm_head.weight [256 128]"}, 1024 + 2*32768},
		{"tokens alone", `{"peft_type":"TRAINABLE_TOKENS","token_indices":[1,2,3]}`, llamaBase, "", []string{
			"base_model.model.model.embed_tokens.trainable_tokens_delta [3 128]"}, 384},
		{"DoRA on an embedding", `{"peft_type":"LORA","r":2,"use_dora":true,"target_modules":["model.embed_tokens"]}`, llamaBase, "", []string{
			"base_model.model.model.embed_tokens.lora_embedding_A [2 256]", "base_model.model.model.embed_tokens.lora_embedding_B [128 2]",
			"base_model.model.model.embed_tokens.lora_magnitude_vector [128]"}, 512 + 256 + 128},
		{"Householder", `{"peft_type":"HRA","r":2,"target_modules":["down_proj"]}`, llamaBase, "", []string{"base_model.model.model.layers.{0..1}.mlp.down_proj.hra_u [256 2]"}, 1024},
		{"Fourier", `{"peft_type":"FOURIERFT","n_frequency":10,"target_modules":["down_proj"]}`, llamaBase, "", []string{"base_model.model.model.layers.{0..1}.mlp.down_proj.fourierft_spectrum [10]"}, 20},
		{"pruned ranks", `{"peft_type":"ADALORA","init_r":4,"target_modules":["q_proj"],"rank_pattern":{"model.layers.0.self_attn.q_proj.lora_E":[true,false,false,true]}}`, llamaBase, "", []string{
			"base_model.model.model.layers.0.self_attn.q_proj.lora_A [2 128]", "base_model.model.model.layers.0.self_attn.q_proj.lora_B [128 2]", "base_model.model.model.layers.0.self_attn.q_proj.lora_E [2 1]",
			"base_model.model.model.layers.1.self_attn.q_proj.lora_A [4 128]", "base_model.model.model.layers.1.self_attn.q_proj.lora_B [128 4]", "base_model.model.model.layers.1.self_attn.q_proj.lora_E [4 1]"}, 514 + 1028},
		{"adaption prompt", `{"peft_type":"ADAPTION_PROMPT","adapter_len":10,"adapter_layers":1}`, llamaBase, "", []string{
			"base_model.model.model.layers.1.self_attn.adaption_prompt [1 10 128]", "base_model.model.model.layers.1.self_attn.adaption_gate [1]"}, 1281},
		{"virtual tokens of an LSTM", `{"peft_type":"P_TUNING","num_virtual_tokens":4,"token_dim":8,"encoder_hidden_size":8,"encoder_num_layers":1,
			"encoder_reparameterization_type":"LSTM"}`, "", "", []string{"prompt_embeddings [4 8]"}, 32 + 2*4*8*(8+8+2) + 272 + 136},
		{"virtual tokens of both stacks", `{"peft_type":"PROMPT_TUNING","num_virtual_tokens":4,"token_dim":8,"num_transformer_submodules":2}`, "", "", []string{"prompt_embeddings [8 8]"}, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := describe(t, c.adapter, c.base, c.class)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range plan.Tensors {
				got = append(got, fmt.Sprint(plan.Tensors[i].Folded(), " ", plan.Tensors[i].Shape))
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if plan.Trainable != c.trainable {
				t.Errorf("trainable %d, want %d", plan.Trainable, c.trainable)
			}
		})
	}
}

// TestRefused: configs that cannot be put on their base.
func TestRefused(t *testing.T) {
	var size *SizeError
	var method *MethodError
	for adapter, want := range map[string]any{
		`{"peft_type":"LORA","r":0,"target_modules":["q_proj"]}`:                                         &size,
		`{"peft_type":"LORA","rank_pattern":{"q_proj":-3},"target_modules":["q_proj"]}`:                  &size,
		`{"peft_type":"OFT","r":2,"oft_block_size":2,"target_modules":["q_proj"]}`:                       &size,
		`{"peft_type":"BOFT","boft_block_size":7,"target_modules":["q_proj"]}`:                           &size,
		`{"peft_type":"PREFIX_TUNING","num_virtual_tokens":9000000000000000000,"token_dim":2}`:           &size,
		`{"peft_type":"SOMETHING","target_modules":["q_proj"]}`:                                          &method,
		`{"peft_type":"HRA","r":1000000000000,"target_modules":["q_proj"]}`:                              nil,
		`{"peft_type":"VERA","r":1099511627776,"target_modules":["q_proj"]}`:                             nil,
		`{"peft_type":"FOURIERFT","n_frequency":9223372036854775807,"target_modules":["q_proj"]}`:        &size,
		`{"peft_type":"LORA","r":16777216,"target_parameters":["q_proj.weight"],"target_modules":["x"]}`: nil,
	} {
		plan, err := describe(t, adapter, llamaBase, "")
		switch {
		case want == nil && (err != nil || plan.Stored() <= 0):
			t.Errorf("%s: %v", adapter, err)
		case want != nil && !errors.As(err, want):
			t.Errorf("%s: %v", adapter, err)
		}
	}
}

// TestFactorize is the table in peft's own documentation, and primes.
func TestFactorize(t *testing.T) {
	for _, c := range [][4]int64{{256, -1, 16, 16}, {128, -1, 8, 16}, {127, -1, 1, 127}, {128, 4, 4, 32}, {14, -1, 2, 7}, {12, 5, 3, 4}, {1, -1, 1, 1}} {
		if a, b := factorize(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("factorize(%d, %d) = %d, %d", c[0], c[1], a, b)
		}
	}
}
