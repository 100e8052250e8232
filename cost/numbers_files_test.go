package cost

import (
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// TestFileSums: what files hold beside the unique parameters, by the headers on
// the Hub.
func TestFileSums(t *testing.T) {
	models := publishedModels(t)
	models["roberta-base"] = describe(t, []byte(`{"model_type":"roberta","architectures":["RobertaForMaskedLM"],"hidden_size":768,
		"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":50265,"max_position_embeddings":514,"type_vocab_size":1}`), "")
	models["all-MiniLM-L6-v2"] = describe(t, []byte(`{"model_type":"bert","architectures":["BertModel"],"hidden_size":384,
		"num_hidden_layers":6,"num_attention_heads":12,"intermediate_size":1536,"vocab_size":30522,"max_position_embeddings":512,"type_vocab_size":2}`), "")
	for _, c := range []struct {
		repo       string
		more, want int64
		reason     string
	}{
		{"openai-community/gpt2", 12 * 1024 * 1024, 137_022_720, "12 causal masks"},
		{"openai-community/gpt2-xl", 48 * 1024 * 1024, 1_607_942_848, "48 causal masks"},
		{"roberta-base", 514, 124_697_947, "position_ids"},
		{"all-MiniLM-L6-v2", 512, 22_713_728, "position_ids"},
		{"google/gemma-2-9b", 256_000 * 3584, 10_159_209_984, "a redundant head in re-saved files"},
		{"google-bert/bert-base-uncased", 590_592 + 1538, 110_106_428, "the pooler and the next-sentence head beside BertForMaskedLM"},
		{"deepseek-ai/DeepSeek-V3", 14_848 + 13_463_426_304 + 41_540_496, 684_531_386_000, "correction buffers, the prediction layer, scales"},
	} {
		if got := estimator.Count(models[c.repo].Tensors()).Unique + c.more; got != c.want {
			t.Errorf("%s and %s: %d elements, want %d", c.repo, c.reason, got, c.want)
		}
	}
	if bytes := 2 * estimator.Count(models["bigscience/bloom"].Tensors()).Unique; bytes != 352_494_542_848 {
		t.Errorf("BLOOM in 16 bits: %d bytes", bytes)
	}
	v3 := models["deepseek-ai/DeepSeek-V3"]
	var section int64
	for _, s := range v3.Sections {
		for _, tensor := range v3.SectionTensors(s) {
			section += tensor.Elements() // its correction buffer of 256 included
		}
	}
	if buffers := estimator.Count(v3.Tensors()).Buffers; section != 13_463_426_304 || buffers != 14_848 {
		t.Errorf("DeepSeek-V3: prediction layer %d, buffers %d", section, buffers)
	}
}
