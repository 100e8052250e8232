package hfconfig

import (
	"maps"
	"slices"
	"testing"
)

func TestDoubts(t *testing.T) {
	for _, c := range []struct {
		config    string
		defaulted []string
		misspelt  map[string]string
	}{
		{`{"model_type":"llama","hidden_size":1,"num_hidden_layers":1,"num_attention_heads":1,"intermediate_size":1,"vocab_size":1}`, nil, nil},
		{`{"model_type":"llama","hiden_size":1,"num_hidden_layer":1,"num_attention_heads":1,"intermediate_size":1,"vocab_szie":1}`,
			[]string{"hidden_size", "num_hidden_layers", "vocab_size"},
			map[string]string{"hiden_size": "hidden_size", "num_hidden_layer": "num_hidden_layers", "vocab_szie": "vocab_size"}},
		// Fields that the class has never heard of and that resemble none are no slips.
		{`{"model_type":"gpt2","n_embd":1,"n_layer":1,"n_head":1,"vocab_size":1,"_num_labels":3,"a_field_of_mine":1}`, nil, nil},
		{`{"model_type":"bloom","n_embed":8,"n_layer":1,"n_head":1,"vocab_size":1}`, nil, nil},
		{`{"model_type":"nonesuch","hiden_size":1}`, nil, nil},
		{`{"model_type":"gemma3","text_config":{}}`, []string{"text_config.hidden_size", "text_config.num_hidden_layers",
			"text_config.num_attention_heads", "text_config.intermediate_size", "text_config.vocab_size"}, nil},
		{`{"model_type":"gemma3","text_config":{"hidden_size":2560,"num_hidden_layers":34}}`, nil, nil},
	} {
		config, _, err := Parse([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Defaulted(); !slices.Equal(got, c.defaulted) {
			t.Errorf("%s: defaulted %v, want %v", c.config, got, c.defaulted)
		}
		if got := config.Misspelt(); !maps.Equal(got, c.misspelt) {
			t.Errorf("%s: misspelt %v, want %v", c.config, got, c.misspelt)
		}
	}
}

func TestTypeOfClass(t *testing.T) {
	for class, want := range map[string]string{
		"LlamaForCausalLM": "llama", "MistralForSequenceClassification": "mistral", "GPT2LMHeadModel": "gpt2", "BertModel": "bert", "NoSuchForCausalLM": "",
	} {
		if got := TypeOfClass(class); got != want {
			t.Errorf("%s is of %q, want %q", class, got, want)
		}
	}
}
