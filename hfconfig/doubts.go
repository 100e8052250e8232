package hfconfig

import (
	"maps"
	"slices"
	"strings"
)

// sizes are the fields without which a config says little of its model.
var sizes = []string{"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}

// Defaulted returns the fields of the model's size that the file leaves to the
// class's defaults, in the class's own words. Published configs hold them all;
// one that does not describes the library's example model more than its own.
func (c *Config) Defaulted() []string {
	var left []string
	for _, field := range sizes {
		if _, _, ok := c.stored(field); !ok && !c.hasOldName(field) && c.class.fallback(field).Exists() && c.Declares(field) {
			left = append(left, c.path+c.class.names(field)[0])
		}
	}
	return append(left, c.defaultedText()...)
}

// defaultedText returns the sizes of the language model in a composed config that
// tells none of them. Such parts are published without the sizes that happen to be
// the class's, so that one left out is no sign of anything.
func (c *Config) defaultedText() []string {
	if _, nested := c.class.nestedType("text_config"); !nested || c.fields["text_config"].Exists() && !c.fields["text_config"].IsObject() {
		return nil
	}
	if older := !c.fields["text_config"].Exists() && slices.ContainsFunc(sizes, func(field string) bool { return c.fields[field].Exists() }); older {
		return nil // the language model's fields stand beside the tower's
	}
	text := c.Sub("text_config")
	if text == nil || slices.ContainsFunc(sizes, func(field string) bool { return text.Given(field) || text.hasOldName(field) }) {
		return nil
	}
	return text.Defaulted()
}

// hasOldName reports whether the file has a size under a name that classes took
// before they declared their fields.
func (c *Config) hasOldName(field string) bool {
	return field == "hidden_size" && (c.Given("n_embed") || c.Given("n_embd"))
}

// Misspelt returns the fields of the file that the class does not declare and
// that are a slip away from one which it declares and the file lacks.
func (c *Config) Misspelt() map[string]string {
	meant := make(map[string]string)
	if c.class == nil || len(c.class.defaults) == 0 {
		return meant
	}
	var lacking []string
	for _, declared := range slices.Sorted(maps.Keys(c.class.defaults)) {
		if declared[0] != '_' && !c.Given(declared) {
			lacking = append(lacking, declared)
		}
	}
	for field := range c.fields {
		if c.Declares(field) || commonFields[field] || len(field) < 6 || field[0] == '_' {
			continue
		}
		if at := slices.IndexFunc(lacking, func(declared string) bool { return slip(field, declared) }); at >= 0 {
			meant[field] = lacking[at]
		}
	}
	return meant
}

// commonFields stand in any config and are no slips.
var commonFields = map[string]bool{
	"architectures": true, "auto_map": true, "model_type": true, "torch_dtype": true, "dtype": true,
	"transformers_version": true, "quantization_config": true, "rope_theta": true, "rope_scaling": true, "num_labels": true,
}

// slip reports whether two names differ by one letter added, dropped or changed,
// or by two neighbours exchanged.
func slip(a, b string) bool {
	if a == b || len(a)-len(b) > 1 || len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	restA, restB := a[i:], b[i:]
	switch {
	case len(a) > len(b):
		return restA[1:] == restB
	case len(b) > len(a):
		return restB[1:] == restA
	case len(restA) >= 2 && restA[0] == restB[1] && restA[1] == restB[0] && restA[2:] == restB[2:]:
		return true
	}
	return restA[1:] == restB[1:]
}

// TypeOfClass returns the model type to which a class of models belongs by its
// name, "" where none does: MistralForCausalLM is of mistral.
func TypeOfClass(class string) string {
	stem := class
	for _, ending := range []string{"ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForSequenceClassification",
		"ForTokenClassification", "ForQuestionAnswering", "ForConditionalGeneration", "Model"} {
		if rest, ok := strings.CutSuffix(class, ending); ok {
			stem = rest
			break
		}
	}
	found := ""
	for modelType, line := range classLines() {
		if strings.Contains(line, `"class":"`+stem+`Config"`) && (found == "" || len(modelType) < len(found)) {
			found = modelType
		}
	}
	return found
}
