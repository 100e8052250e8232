package estimator

import (
	"fmt"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// TestFormulaClosesOnEveryCase checks that the way from the textbook to the
// unique parameters leaves nothing over, for every config at hand.
func TestFormulaClosesOnEveryCase(t *testing.T) {
	forEachType(t, func(t *testing.T, cases []*truthCase) {
		for _, c := range cases {
			config, err := hfconfig.New(c.Config, c.ModelType)
			if err != nil {
				t.Fatal(err)
			}
			model, err := Describe(config, c.Class)
			if err != nil {
				t.Errorf("%s: %v", c.name(), err)
				continue
			}
			f := model.Formula()
			sum := f.TextbookValue
			for _, row := range f.Rows {
				sum += row.Elements
			}
			if unique := Count(model.Tensors()).Unique; sum != unique || f.DerivedValue != unique {
				t.Errorf("%s: rows sum to %d, derived formula %s gives %d, unique parameters %d", c.name(), sum, f.Derived, f.DerivedValue, unique)
			}
		}
	})
}

func ExampleModel_Formula() {
	config, _ := hfconfig.New([]byte(`{"model_type":"gpt2","n_embd":1600,"n_layer":48,"n_head":25}`), "")
	model, _ := Describe(config, "")
	f := model.Formula()
	fmt.Println(f.TextbookValue)
	for _, row := range f.Rows {
		fmt.Println(row.Elements, row.Reason, row.Formula)
	}
	fmt.Println(f.DerivedValue, f.Derived)
	// Output:
	// 1554971200
	// 1638400 position embeddings CD
	// 691200 biases 9ND
	// 310400 norms 4ND + 2D
	// 1557611200 N(12D² + 13D) + VD + CD + 2D
}
