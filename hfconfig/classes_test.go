package hfconfig

import (
	"strings"
	"testing"
)

func TestForeignClass(t *testing.T) {
	for _, test := range []struct{ config, why string }{
		{`{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}`, ""},
		{`{"model_type": "llama", "architectures": ["LlamaForTokenClassification"]}`, ""},
		{`{"model_type": "llama", "architectures": ["LLaMAForCausalLM"]}`, ""},
		{`{"model_type": "llama"}`, ""},
		{`{"model_type": "bert", "architectures": ["TFBertForMaskedLM"]}`, ""},
		{`{"model_type": "gemma3_text", "architectures": ["Gemma3ForConditionalGeneration"]}`, ""},
		{`{"model_type": "gpt2", "architectures": ["GPT2DoubleHeadsModel"]}`, ""},
		{`{"model_type": "llama", "architectures": ["FooForCausalLM"]}`, "is no class of model type llama"},
		{`{"model_type": "qwen2", "architectures": ["LlamaForCausalLM"]}`, "is a class of model type llama, the config says qwen2"},
		{`{"model_type": "llama", "architectures": ["MistralForCausalLM"]}`, "is a class of model type mistral, the config says llama"},
		{`{"model_type": "llama", "architectures": ["FooForCausalLM"], "auto_map": {"AutoModelForCausalLM": "modeling_foo.FooForCausalLM"}}`, ""},
		{`{"model_type": "llama", "architectures": ["FooForCausalLM"], "auto_map": {"AutoConfig": "configuration_foo.FooConfig"}}`, ""},
		{`{"model_type": "llama", "architectures": ["MistralForCausalLM"], "auto_map": {"AutoModel": "modeling.MistralForCausalLM"}}`, ""},
		{`{"model_type": "llama", "architectures": ["MistralForCausalLM"], "auto_map": {"AutoConfig": "configuration_foo.FooConfig"}}`, "is a class of model type mistral"},
		{`{"model_type": "foo", "architectures": ["FooForCausalLM"]}`, ""},
	} {
		why := mustParse(t, test.config).ForeignClass()
		if !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
			t.Errorf("%s: %q, want %q", test.config, why, test.why)
		}
	}
}
