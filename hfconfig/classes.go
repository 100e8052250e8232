package hfconfig

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// classesTable has one line a module of the reference library: its model types,
// and after a colon the classes of models that it has or that the library's
// automatic classes make of those types. Recorded from transformers 5.23.
//
//go:embed classes.txt
var classesTable string

var typesOfClasses = sync.OnceValue(func() map[string][]string {
	types := make(map[string][]string, 4096)
	for line := range strings.Lines(classesTable) {
		of, classes, _ := strings.Cut(line, ":")
		for class := range strings.FieldsSeq(classes) {
			types[class] = append(types[class], strings.Fields(of)...)
		}
	}
	return types
})

// TypesOfClass returns the model types among which a class of models belongs, nil
// where the reference library has no class of that name. Classes of TensorFlow
// and Flax go by their name without that.
func TypesOfClass(class string) []string {
	for _, framework := range []string{"", "TF", "Flax"} {
		if name, ok := strings.CutPrefix(class, framework); ok {
			if types := typesOfClasses()[name]; types != nil {
				return types
			}
		}
	}
	return nil
}

// formerClasses are names that published configs still have for a class that was
// renamed.
func formerClasses(class, modelType string) bool {
	return slices.Contains([]string{
		"llama LLaMAForCausalLM",
		"t5 T5WithLMHeadModel",
		"mt5 T5WithLMHeadModel",
	}, modelType+" "+class)
}

// ForeignClass says why the first class that the config names for its weights is
// none of its model type, "" where it is one: code of the repository's own, which
// auto_map names, can have any class.
func (c *Config) ForeignClass() string {
	names := c.Architectures()
	modelType := c.ModelType()
	if len(names) == 0 || ClassOf(modelType) == nil || formerClasses(names[0], modelType) || c.ownCode(names[0]) {
		return ""
	}
	switch types := TypesOfClass(names[0]); {
	case slices.Contains(types, modelType):
		return ""
	case len(types) > 0:
		return "is a class of model type " + cmp.Or(TypeOfClass(names[0]), types[0]) + ", the config says " + modelType
	case c.Given("auto_map"):
		return ""
	}
	return "is no class of model type " + modelType + ": the reference library goes by the type"
}

// ownCode reports whether the repository brings the class itself.
func (c *Config) ownCode(class string) (own bool) {
	for _, reference := range c.fields["auto_map"].Map() {
		for _, one := range append(reference.Array(), reference) {
			own = own || strings.HasSuffix(one.Str, "."+class)
		}
	}
	return own
}
