package inspect

import (
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Architecture is one described model type.
type Architecture struct {
	ModelType string   `json:"model_type"`
	Class     string   `json:"class"`
	Confirmed bool     `json:"confirmed"` // by the reference library or by real files
	Evidence  Evidence `json:"evidence"`
}

// Architectures lists the described model types, sorted.
func Architectures() []Architecture {
	var list []Architecture
	for _, a := range estimator.Architectures() {
		list = append(list, Architecture{a.Type, a.Class, a.Confirmed(), evidence()[a.Type]})
	}
	return list
}

// ResolveType finds the described model type that a text means: the type itself
// in any spelling, or one of its classes. Else it returns those that resemble it.
func ResolveType(text string) (modelType string, similar []string) {
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
	}
	for _, a := range estimator.Architectures() {
		switch want, have := plain(text), plain(a.Type); {
		case a.Type == text || a.Class == text:
			return a.Type, nil
		case want == have:
			modelType = a.Type
		case len(want) > 2 && (strings.Contains(have, want) || strings.Contains(want, have)):
			similar = append(similar, a.Type)
		}
	}
	if modelType == "" {
		if t := hfconfig.TypeOfClass(text); t != "" {
			if _, ok := estimator.Lookup(t); ok {
				return t, nil
			}
		}
	}
	return modelType, similar
}

// Description is one architecture under its class's default config, for reading.
type Description struct {
	SchemaVersion string             `json:"schema_version"`
	ModelType     string             `json:"model_type"`
	Architecture  string             `json:"architecture"`
	Parameters    int64              `json:"unique_parameters"`
	Formula       string             `json:"formula"`
	Symbols       []estimator.Symbol `json:"symbols"`
	Tensors       []DescribedTensor  `json:"tensors"`
	Options       []string           `json:"options"` // config fields that were read
}

// DescribedTensor is a folded tensor with its shape in symbols and numbers.
type DescribedTensor struct {
	Name     string  `json:"name"`
	Symbolic string  `json:"symbolic_shape"`
	Shape    []int64 `json:"shape"`
	Role     string  `json:"role"`
	TiedTo   string  `json:"tied_to,omitempty"`
}

// DescribeType prints a description with the sizes of the class's defaults.
func DescribeType(modelType, class string) (*Description, error) {
	config, err := hfconfig.New([]byte("{}"), modelType)
	if err != nil {
		return nil, err
	}
	model, err := estimator.Describe(config, class)
	if err != nil {
		return nil, err
	}
	tensors := model.Tensors()
	f := model.Formula()
	d := &Description{SchemaVersion: SchemaVersion, ModelType: model.Type, Architecture: model.Class,
		Parameters: estimator.Count(tensors).Unique, Formula: f.Derived, Symbols: f.Symbols, Options: options(config)}
	for i := range tensors {
		t := &tensors[i]
		d.Tensors = append(d.Tensors, DescribedTensor{t.Folded(), t.Symbolic(), t.Shape, describedRole(t), t.TiedTo})
	}
	return d, nil
}

// options lists the fields that the description read and that have an effect in
// its class: those that the class declares, or all where no class is known.
func options(config *hfconfig.Config) []string {
	known := hfconfig.ClassOf(config.ModelType()) != nil
	var list []string
	for _, field := range config.Read() {
		nested := strings.Contains(field, ".")
		if field != "" && (nested || !known || config.Declares(field)) {
			list = append(list, field)
		}
	}
	return list
}

func describedRole(t *estimator.Tensor) string {
	switch {
	case t.Buffer:
		return "buffer"
	case t.Bias:
		return t.Role.String() + " bias"
	}
	return t.Role.String()
}
