package estimator

import (
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// TestLibraryTakesItsConfigs: the library built every recorded case, so that no
// check of a config may find anything in one.
func TestLibraryTakesItsConfigs(t *testing.T) {
	cases := 0
	truthtable.Each(t, "testdata/params*.jsonl.gz", func(c *truthCase) {
		config, _, err := hfconfig.Parse(c.Config)
		if err != nil {
			t.Fatal(err)
		}
		config.Check()
		for _, fault := range config.Faults() {
			if strings.Contains(fault.Error(), "time_step_limit[1]: is null") {
				continue // Infinity in the file
			}
			t.Errorf("%s: %v", c.name(), fault)
		}
		if why := config.ForeignClass(); why != "" {
			t.Errorf("%s: %s %s", c.name(), config.Architectures()[0], why)
		}
		cases++
	})
	if cases < 2000 {
		t.Errorf("%d cases", cases)
	}
}

// TestGivenValuesAreNotReplaced: a value that cannot be used is a fault and never
// makes room for the class's default.
func TestGivenValuesAreNotReplaced(t *testing.T) {
	for _, test := range []struct{ config, says string }{
		{`{"model_type": "qwen2", "num_hidden_layers": [1, 2]}`, "field num_hidden_layers: is a list, want a whole number"},
		{`{"model_type": "qwen2", "num_hidden_layers": null}`, "field num_hidden_layers: is null, want a whole number"},
		{`{"model_type": "gpt2", "num_hidden_layers": [1, 2]}`, "field num_hidden_layers: is a list, want a whole number"},
		{`{"model_type": "mistral", "num_key_value_heads": ["x", "y"]}`, "field num_key_value_heads: is a list, want a whole number"},
		{`{"model_type": "llama", "head_dim": [64]}`, "field head_dim: is a list, want a whole number"},
		{`{"model_type": "gemma3", "text_config": {"num_hidden_layers": [2]}}`, "field text_config.num_hidden_layers: is a list, want a whole number"},
		{`{"model_type": "gemma3", "text_config": {"num_hidden_layers": null}}`, "field text_config.num_hidden_layers: is null, want a whole number"},
		{`{"model_type": "qwen3_moe", "decoder_sparse_step": [1]}`, "field decoder_sparse_step: is a list, want a whole number"},
		{`{"model_type": "gemma3n_text", "num_hidden_layers": 4, "intermediate_size": [8, 8]}`, "field intermediate_size: length 2, want 4: an entry for each layer"},
		{`{"model_type": "gemma3n_text", "num_hidden_layers": 2, "intermediate_size": [8, 8, 8]}`, "field intermediate_size: length 3, want 2: an entry for each layer"},
		{`{"model_type": "gpt_neo", "num_layers": 2}`, "field attention_types: length 24, want 2: an entry for each layer"},
		{`{"model_type": "gpt_neo", "num_layers": 2, "attention_types": [[["global", "x"], 1]]}`, `field attention_types[1]: is the text "x", want a kind of layer: global, local`},
		{`{"model_type": "recurrent_gemma", "block_types": ["recurrent", "x"]}`, `field block_types[1]: is the text "x", want a kind of layer: recurrent, attention`},
		{`{"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["x", "x"]}`, `field layer_types[0]: is the text "x", want a kind of layer: full_attention`},
	} {
		config, _, err := hfconfig.Parse([]byte(test.config))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Describe(config, ""); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s:\n got %v\nwant %s", test.config, err, test.says)
		}
	}
}
